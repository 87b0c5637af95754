// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/help_dialogs.h"
#include "app/gui/investigation_page.h"
#include "app/gui/menu_keys.h"
#include "app/gui/report_printer.h"
#include "app/gui/system_theme.h"
#include "widgets/display_text.h"
#include "widgets/views/element_view.h"
#include "widgets/views/job_status.h"
#include "widgets/views/non_finite_dock.h"
#include "widgets/views/path_button.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/remark_table.h"
#include "widgets/views/resume_dock.h"
#include "widgets/views/saving.h"
#include "widgets/views/side_chips.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QPrintDialog>
#include <QPrinter>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QVBoxLayout>

#include <algorithm>

namespace forkpoint {

namespace {

/// A page that scrolls where a small screen or a large font leaves no room for it.
QScrollArea *scrolled(QWidget *page)
{
    auto *area = new QScrollArea;
    area->setWidget(page);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    return area;
}

} // namespace

MainWindow::MainWindow(ViewContext &context, Settings &settings, Memory memory, QWidget *parent)
    : QMainWindow(parent),
      m_context(context),
      m_settings(settings),
      m_memory(memory),
      m_systemTheme(new SystemTheme(this)),
      m_pages(new QStackedWidget),
      m_welcome(new Welcome(&context)),
      m_investigation(buildInvestigation()),
      m_printer(new ReportPrinter(this))
{
    setWindowTitle(QStringLiteral("Forkpoint"));
    setAcceptDrops(true);
    setMinimumSize(640, 400);
    applyTheme(settings.theme());
    connect(m_systemTheme, &SystemTheme::changed, this, [this] { applyTheme(m_theme); });
    applyFont(settings.fontPoints());
    for (QWidget *page : {static_cast<QWidget *>(m_welcome), m_investigation})
        m_pages->addWidget(scrolled(page));
    setCentralWidget(m_pages);
    buildToolBar();
    buildDocks();
    buildStatusLine();
    buildFileMenu();
    buildViewMenu();
    buildGoMenu();
    buildTensorMenu();
    buildHelpMenu();
    connectViews();
    new MenuKeys(this);
    resize(1280, 800);
    restoreWindow();
    showPage();
    refreshActions();
    rememberPlace();
}

// --- layout -------------------------------------------------------------------------------------

QWidget *MainWindow::buildInvestigation()
{
    m_banner = new VerdictBanner(&m_context);
    m_strip = new StepStrip(&m_context);
    m_list = new TensorList(&m_context);
    m_right = buildRight();
    m_splitter = new QSplitter(Qt::Horizontal);
    m_splitter->addWidget(m_list);
    m_splitter->addWidget(m_right);
    m_splitter->setStretchFactor(0, 560);
    m_splitter->setStretchFactor(1, 700);
    m_splitter->setSizes({560, 700}); // a proportion: the layout scales it
    m_splitter->setChildrenCollapsible(false);
    return new InvestigationPage(m_banner, m_strip, m_splitter);
}

void MainWindow::buildToolBar()
{
    QToolBar *bar = addToolBar(tr("Who is compared"));
    bar->setObjectName(QStringLiteral("sides"));
    bar->setMovable(false);
    bar->toggleViewAction()->setEnabled(false); // nothing else says what is compared
    m_chips = new SideChips(&m_context);
    m_chips->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(m_chips);
    m_export = bar->addAction(tr("Export report…"));
}

void MainWindow::buildDocks()
{
    m_findings = RemarkDock::findings(&m_context, this);
    m_problems = RemarkDock::problems(&m_context, this);
    addDockWidget(Qt::BottomDockWidgetArea, m_findings);
    addDockWidget(Qt::BottomDockWidgetArea, m_problems);
    m_nonFinite = new NonFiniteDock(&m_context, this);
    addDockWidget(Qt::BottomDockWidgetArea, m_nonFinite);
    tabifyDockWidget(m_findings, m_problems);
    tabifyDockWidget(m_problems, m_nonFinite);
    m_resume = new ResumeDock(&m_context, this);
    addDockWidget(Qt::BottomDockWidgetArea, m_resume);
    tabifyDockWidget(m_nonFinite, m_resume);
    for (QDockWidget *dock :
         std::initializer_list<QDockWidget *>{m_findings, m_problems, m_nonFinite, m_resume}) {
        dock->hide();
        if (auto *table = dock->findChild<RemarkTable *>())
            connect(table, &RemarkTable::roomChanged, this,
                    [this, dock] { giveRoom(dock, false); });
    }
}

void MainWindow::buildStatusLine()
{
    m_status = new JobStatus(&m_context);
    statusBar()->addWidget(m_status, 1);
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::restoreWindow()
{
    if (m_memory == Memory::Off)
        return;
    restoreGeometry(m_settings.geometry());
    restoreState(m_settings.windowState());
    m_splitter->restoreState(m_settings.splitterState());
}

void MainWindow::showPage()
{
    const auto used = [this](Side side) {
        return m_context.side(side).phase != SideState::Phase::Empty;
    };
    // One side alone shows what it holds, or why it does not open.
    const auto failed = [this](Side side) {
        return m_context.side(side).phase == SideState::Phase::Failed;
    };
    const bool some = (used(Side::A) && used(Side::B)) || failed(Side::A) || failed(Side::B)
        || m_context.stepComparison();
    if (m_pages->currentIndex() == int(some))
        return;
    if (!some)
        m_welcome->refresh();
    m_pages->setCurrentIndex(int(some));
    if (!some)
        return;
    m_list->showPage(TensorList::Page::Tensors); // which is where the keyboard goes first
    leadToRecords();
    leadToValues();
    m_ledToMetrics = false;
    leadToMetrics();
}

// --- what the views want ------------------------------------------------------------------------

void MainWindow::connectViews()
{
    connect(m_chips, &SideChips::openRequested, this, &MainWindow::chooseSide);
    connect(m_welcome, &Welcome::openRequested, this, &MainWindow::chooseSide);
    connect(m_findings, &RemarkDock::itemRequested, m_list, &TensorList::showItem);
    connect(m_banner, &VerdictBanner::recipeRequested, m_list, &TensorList::showRecipe);
    connect(m_list, &TensorList::message, m_status, &JobStatus::showMessage);
    connect(m_list, &TensorList::tensorActivated, this, [this] {
        m_detail->showPage(TensorDetail::Page::Elements);
        m_detail->elementView()->setFocus();
    });
    connect(m_detail, &TensorDetail::message, m_status, &JobStatus::showMessage);
    connect(m_nonFinite, &NonFiniteDock::itemRequested, m_list, &TensorList::showItem);
    connect(m_resume, &ResumeDock::itemRequested, m_list, &TensorList::showItem);
    connect(m_banner, &VerdictBanner::itemRequested, this, &MainWindow::showItem);
    connectRecords();
    connectMetrics();
    connect(m_banner, &VerdictBanner::mappingRequested, this,
            [this](Side side) { editMapping(side, m_context.side(side).path); });
    connect(m_banner, &VerdictBanner::classRequested, m_list, &TensorList::showClass);
    connect(m_banner, &VerdictBanner::openRequested, this, &MainWindow::chooseSide);
    connect(m_detail, &TensorDetail::openRequested, this, &MainWindow::chooseSide);
    connect(m_printer, &ReportPrinter::printed, this,
            [this] { m_status->showMessage(tr("The report was handed to the printer")); });
    connect(m_banner, &VerdictBanner::findingsRequested, this, [this] { raise(m_findings); });
    connect(m_banner, &VerdictBanner::problemsRequested, this, [this] { raise(m_problems); });
    connect(m_status, &JobStatus::findingsRequested, this, [this] { raise(m_findings); });
    connect(m_status, &JobStatus::problemsRequested, this, [this] { raise(m_problems); });
    connectPlaces();
    connect(&m_context, &ViewContext::sideChanged, this, [this] {
        showPage();
        refreshActions();
    });
    connect(&m_context, &ViewContext::comparisonChanged, this, &MainWindow::refreshActions);
    connect(&m_context, &ViewContext::stepComparisonChanged, this, [this] {
        showPage();
        leadToValues();
    });
    connect(&m_context, &ViewContext::jobChanged, this, &MainWindow::refreshJob);
}

void MainWindow::raise(QDockWidget *dock)
{
    const bool opens = dock->isHidden();
    dock->show();
    dock->raise();
    if (opens) // and has its place among the others, which takes until then
        QTimer::singleShot(0, this, [this, dock] { giveRoom(dock, true); });
}

/// An empty dock takes its line, one with rows what it had or as much as it asks for; of a small
/// window, or with large letters, the lists keep the most.
void MainWindow::giveRoom(QDockWidget *dock, bool opens)
{
    const auto *table = dock->findChild<RemarkTable *>();
    if (dock->isHidden() || dock->isFloating() || !table)
        return;
    const QList<QDockWidget *> others = tabifiedDockWidgets(dock);
    const bool isAlone = std::all_of(others.begin(), others.end(),
                                     [](const QDockWidget *other) { return other->isHidden(); });
    const int asked = dock->sizeHint().height();
    const int wanted = std::max(dock->minimumSizeHint().height(), std::min(asked, height() / 4));
    if (table->isEmpty() ? isAlone
                         : dock->height() < wanted || (opens && wanted < asked && isAlone))
        resizeDocks({dock}, {table->isEmpty() ? asked : wanted}, Qt::Vertical);
}

void MainWindow::showMessage(const QString &text)
{
    m_status->showMessage(text);
}

void MainWindow::refreshActions()
{
    const SideState a = m_context.side(Side::A);
    const SideState b = m_context.side(Side::B);
    const bool some = a.phase != SideState::Phase::Empty || b.phase != SideState::Phase::Empty;
    const bool compared = m_context.comparison() != nullptr;
    m_close->setEnabled(some);
    m_swap->setEnabled(some && !m_context.isReport());
    m_export->setEnabled(compared);
    m_print->setEnabled(compared && m_context.comparison()->finished);
    m_copyCommand->setEnabled(compared);
    m_verify->setEnabled(compared && m_context.usesIndex() && !m_context.isReport());
    m_searchNonFinite->setEnabled(compared && m_context.comparison()->finished
                                  && !m_context.isReport());
    for (const Side side : {Side::A, Side::B})
        m_openFolder[int(side)]->setEnabled(m_context.side(side).phase != SideState::Phase::Empty);
    m_reload->setEnabled(some);
    refreshJob();
    const QString title = displayText(a.path.section(u'/', -1, -1, QString::SectionSkipEmpty))
        + QStringLiteral(" ≟ ")
        + displayText(b.path.section(u'/', -1, -1, QString::SectionSkipEmpty));
    setWindowTitle(compared ? title + QStringLiteral(" – Forkpoint") : QStringLiteral("Forkpoint"));
}

void MainWindow::refreshJob()
{
    m_cancel->setEnabled(m_context.job().phase == JobState::Phase::Running);
}

void MainWindow::chooseSide(Side side)
{
    auto *dialog = new PathDialog(&m_context, PathDialog::Mode::Open,
                                  side == Side::A ? tr("Open A") : tr("Open B"), this);
    connect(dialog, &PathDialog::pathChosen, this,
            [this, side](const QString &path) { m_context.openSide(side, path); });
    dialog->open();
}

void MainWindow::choosePair()
{
    auto *first =
        new PathDialog(&m_context, PathDialog::Mode::Open, tr("Open A of the pair"), this);
    connect(first, &PathDialog::pathChosen, this, [this](const QString &pathA) {
        auto *second =
            new PathDialog(&m_context, PathDialog::Mode::Open, tr("Open B of the pair"), this);
        connect(second, &PathDialog::pathChosen, this,
                [this, pathA](const QString &pathB) { m_context.openPair(pathA, pathB); });
        second->open();
    });
    first->open();
}

/// A report is known by its contents, wherever it is opened.
void MainWindow::chooseRecorded()
{
    auto *dialog =
        new PathDialog(&m_context, PathDialog::Mode::Open, tr("Open a report (.json)"), this);
    connect(dialog, &PathDialog::pathChosen, this,
            [this](const QString &path) { m_context.openSide(Side::A, path); });
    dialog->open();
}

void MainWindow::chooseReport()
{
    askWhereToSave(&m_context, this, tr("Export report"), QStringLiteral("forkpoint-report"),
                   {{tr("Web page"), QStringLiteral("html")},
                    {tr("JSON"), QStringLiteral("json")},
                    {tr("Markdown"), QStringLiteral("md")},
                    {tr("Tables"), QStringLiteral("csv")},
                    {tr("PDF"), QStringLiteral("pdf")}},
                   [this](const QString &path) { exportReport(path); });
}

void MainWindow::exportReport(const QString &path)
{
    if (path.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        m_status->showMessage(tr("The report is being laid out…"));
        m_printer->makePdf(m_context.comparison(), m_context.reportOptions(),
                           [this, path](const QByteArray &pdf) { m_context.saveFile(path, pdf); });
        return;
    }
    m_context.exportReport(path);
    m_status->showMessage(tr("the same bytes: %1").arg(m_context.reportCommand(path)));
}

void MainWindow::print()
{
    const auto printer = std::make_shared<QPrinter>(QPrinter::HighResolution);
    printer->setDocName(windowTitle());
    auto *dialog = new QPrintDialog(printer.get(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, qOverload<>(&QDialog::accepted), this, [this, printer] {
        m_status->showMessage(tr("Printing…"));
        m_printer->print(m_context.comparison(), m_context.reportOptions(), printer);
    });
    // The dialog refers to the printer for as long as it lives.
    connect(dialog, &QObject::destroyed, this, [printer] {});
    dialog->open();
}

void MainWindow::copyCommand()
{
    QApplication::clipboard()->setText(m_context.commandLine());
    m_status->showMessage(tr("copied: %1").arg(displayText(m_context.commandLine())));
}

// --- events -------------------------------------------------------------------------------------

void MainWindow::closeEvent(QCloseEvent *event)
{
    if (m_memory == Memory::On) {
        m_settings.setGeometry(saveGeometry());
        m_settings.setWindowState(saveState());
        m_settings.setSplitterState(m_splitter->saveState());
        m_settings.sync();
    }
    event->accept();
}

/// Files may have changed while one looked elsewhere.
void MainWindow::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::ActivationChange && isActiveWindow())
        m_context.checkFiles();
    QMainWindow::changeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    const qsizetype paths = droppedPaths(event->mimeData()).size();
    if (paths == 1 || paths == 2)
        event->acceptProposedAction();
}

/// Two paths are a pair; one goes to the side that is empty, A first.
void MainWindow::dropEvent(QDropEvent *event)
{
    const QStringList paths = droppedPaths(event->mimeData());
    if (paths.size() == 2)
        m_context.openPair(paths[0], paths[1]);
    else if (paths.size() == 1)
        m_context.openSide(
            m_context.side(Side::A).phase == SideState::Phase::Empty ? Side::A : Side::B, paths[0]);
    event->acceptProposedAction();
}

} // namespace forkpoint
