// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/help_dialogs.h"
#include "app/gui/path_dialog.h"
#include "widgets/display_text.h"
#include "widgets/views/element_view.h"
#include "widgets/views/job_status.h"
#include "widgets/views/path_button.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/side_chips.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QMenuBar>
#include <QMimeData>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyle>
#include <QStyleFactory>
#include <QToolBar>
#include <QVBoxLayout>

namespace forkpoint {

MainWindow::MainWindow(ViewContext &context, Settings &settings, Memory memory, QWidget *parent)
    : QMainWindow(parent),
      m_context(context),
      m_settings(settings),
      m_memory(memory),
      m_pages(new QStackedWidget),
      m_welcome(new Welcome(&context)),
      m_investigation(buildInvestigation())
{
    setWindowTitle(QStringLiteral("Forkpoint"));
    setAcceptDrops(true);
    setMinimumSize(640, 400);
    applyTheme(settings.theme());
    m_pages->addWidget(m_welcome);
    m_pages->addWidget(m_investigation);
    setCentralWidget(m_pages);
    buildToolBar();
    buildDocks();
    buildStatusLine();
    buildFileMenu();
    buildViewMenu();
    buildGoMenu();
    buildHelpMenu();
    connectViews();
    resize(1280, 800);
    restoreWindow();
    showPage();
    refreshActions();
}

// --- layout -------------------------------------------------------------------------------------

QWidget *MainWindow::buildInvestigation()
{
    m_banner = new VerdictBanner(&m_context);
    m_strip = new StepStrip(&m_context);
    m_list = new TensorList(&m_context);
    m_detail = new TensorDetail(&m_context);
    m_splitter = new QSplitter(Qt::Horizontal);
    m_splitter->addWidget(m_list);
    m_splitter->addWidget(m_detail);
    m_splitter->setStretchFactor(0, 560);
    m_splitter->setStretchFactor(1, 700);
    m_splitter->setSizes({560, 700}); // a proportion: the layout scales it
    m_splitter->setChildrenCollapsible(false);

    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    const int space = fontMetrics().height() / 2;
    layout->setContentsMargins(space, space, space, 0);
    layout->setSpacing(space);
    layout->addWidget(m_banner);
    layout->addWidget(m_strip);
    layout->addWidget(m_splitter, 1);
    return page;
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
    tabifyDockWidget(m_findings, m_problems);
    m_findings->hide();
    m_problems->hide();
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
    const bool both = used(Side::A) && used(Side::B);
    QWidget *page = both ? m_investigation : static_cast<QWidget *>(m_welcome);
    if (m_pages->currentWidget() == page)
        return;
    if (!both)
        m_welcome->refresh();
    m_pages->setCurrentWidget(page);
}

// --- menus --------------------------------------------------------------------------------------

QAction *MainWindow::addTo(QMenu *menu, const QString &text, const QKeySequence &shortcut,
                           std::function<void()> action)
{
    QAction *entry = menu->addAction(text);
    entry->setShortcut(shortcut);
    connect(entry, &QAction::triggered, this, std::move(action));
    return entry;
}

void MainWindow::buildFileMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&File"));
    addTo(menu, tr("Open &A…"), QKeySequence::Open, [this] { chooseSide(Side::A); });
    addTo(menu, tr("Open &B…"), tr("Ctrl+Shift+O"), [this] { chooseSide(Side::B); });
    addTo(menu, tr("Open &pair…"), tr("Ctrl+Alt+O"), [this] { choosePair(); });
    m_recent = menu->addMenu(tr("&Recent pairs"));
    connect(m_recent, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    QMenu *samples = menu->addMenu(tr("&Samples"));
    for (const SamplePair &sample : m_context.samples())
        addTo(samples, displayText(sample.title), {}, [this, sample] {
            m_context.openPair(sample.pathA, sample.pathB);
        })->setToolTip(plainToolTip(sample.sentence));
    samples->setEnabled(!samples->isEmpty());
    menu->addSeparator();
    m_swap =
        addTo(menu, tr("S&wap A and B"), tr("Ctrl+Shift+S"), [this] { m_context.swapSides(); });
    m_export->setShortcut(tr("Ctrl+E"));
    connect(m_export, &QAction::triggered, this, &MainWindow::chooseReport);
    menu->addAction(m_export);
    m_copyCommand =
        addTo(menu, tr("&Copy as command"), tr("Ctrl+Shift+C"), [this] { copyCommand(); });
    m_cancel = addTo(menu, tr("Ca&ncel"), tr("Ctrl+."), [this] { m_context.cancelJob(); });
    menu->addSeparator();
    m_close = addTo(menu, tr("C&lose"), QKeySequence::Close, [this] { m_context.closeAll(); });
    addTo(menu, tr("&Quit"), tr("Ctrl+Q"), [this] { close(); });
}

void MainWindow::fillRecent()
{
    m_recent->clear();
    for (const QString &pair : m_context.recentPairs()) {
        const QString a = pair.section(u'\n', 0, 0);
        const QString b = pair.section(u'\n', 1, 1);
        QString text = elidedMiddle(displayText(a), 60) + QStringLiteral("  ≟  ")
            + elidedMiddle(displayText(b), 60);
        text.replace(u'&', QLatin1String("&&"));
        addTo(m_recent, text, {}, [this, a, b] { m_context.openPair(a, b); });
    }
    if (m_recent->isEmpty()) {
        m_recent->addAction(tr("None yet"))->setEnabled(false);
        return;
    }
    m_recent->addSeparator();
    addTo(m_recent, tr("&Forget them"), {}, [this] {
        m_settings.clearRecentPairs();
        m_welcome->refresh();
    });
}

void MainWindow::buildViewMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&View"));
    menu->addAction(m_list->filterAction());
    menu->addAction(m_list->treeAction());
    menu->addAction(m_list->onlyDifferingAction());
    menu->addAction(m_strip->zoomToFitAction());
    menu->addSeparator();
    QAction *findings = m_findings->toggleViewAction();
    findings->setShortcut(tr("Ctrl+Shift+F"));
    QAction *problems = m_problems->toggleViewAction();
    problems->setShortcut(tr("Ctrl+Shift+P"));
    menu->addActions({findings, problems});
    menu->addSeparator();
    buildThemeMenu(menu->addMenu(tr("&Theme")));
}

void MainWindow::buildThemeMenu(QMenu *menu)
{
    auto *group = new QActionGroup(this);
    const auto add = [&](const QString &text, ThemeChoice choice) {
        QAction *entry = addTo(menu, text, {}, [this, choice] {
            m_settings.setTheme(choice);
            applyTheme(choice);
        });
        entry->setCheckable(true);
        entry->setChecked(choice == m_settings.theme());
        group->addAction(entry);
    };
    add(tr("&System"), ThemeChoice::System);
    add(tr("&Light"), ThemeChoice::Light);
    add(tr("&Dark"), ThemeChoice::Dark);
}

void MainWindow::buildGoMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&Go"));
    menu->addAction(m_strip->nextDifferenceAction());
    menu->addAction(m_strip->previousDifferenceAction());
    menu->addSeparator();
    menu->addAction(m_detail->elementView()->nextDifferenceAction());
    menu->addAction(m_detail->elementView()->previousDifferenceAction());
}

void MainWindow::buildHelpMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&Help"));
    addTo(menu, tr("&Shortcuts"), QKeySequence::HelpContents, [this] { showShortcuts(this); });
    addTo(menu, tr("&About Forkpoint"), {}, [this] { showAbout(this); });
}

void MainWindow::applyTheme(ThemeChoice theme)
{
    // The style that the desktop chose, before any theme replaced it.
    static const QString systemStyle = QApplication::style()->name();
    if (theme == ThemeChoice::System) {
        if (QApplication::style()->name() != systemStyle)
            QApplication::setStyle(systemStyle);
        QApplication::setPalette(QPalette());
        return;
    }
    if (QStyle *fusion = QStyleFactory::create(QStringLiteral("Fusion")))
        QApplication::setStyle(fusion); // other styles draw with colours of their own
    QApplication::setPalette(theme == ThemeChoice::Dark ? darkPalette() : lightPalette());
}

// --- what the views want ------------------------------------------------------------------------

void MainWindow::connectViews()
{
    connect(m_chips, &SideChips::openRequested, this, &MainWindow::chooseSide);
    connect(m_welcome, &Welcome::openRequested, this, &MainWindow::chooseSide);
    connect(m_findings, &RemarkDock::itemRequested, m_list, &TensorList::showItem);
    connect(m_banner, &VerdictBanner::recipeRequested, m_list, &TensorList::showRecipe);
    connect(m_list, &TensorList::message, m_status, &JobStatus::showMessage);
    connect(m_detail, &TensorDetail::message, m_status, &JobStatus::showMessage);
    const auto raise = [](QDockWidget *dock) {
        dock->show();
        dock->raise();
    };
    connect(m_status, &JobStatus::findingsRequested, this, [=, this] { raise(m_findings); });
    connect(m_status, &JobStatus::problemsRequested, this, [=, this] { raise(m_problems); });
    connect(&m_context, &ViewContext::sideChanged, this, [this] {
        showPage();
        refreshActions();
    });
    connect(&m_context, &ViewContext::comparisonChanged, this, &MainWindow::refreshActions);
    connect(&m_context, &ViewContext::jobChanged, this, &MainWindow::refreshJob);
}

void MainWindow::refreshActions()
{
    const SideState a = m_context.side(Side::A);
    const SideState b = m_context.side(Side::B);
    const bool some = a.phase != SideState::Phase::Empty || b.phase != SideState::Phase::Empty;
    const bool compared = m_context.comparison() != nullptr;
    m_close->setEnabled(some);
    m_swap->setEnabled(some);
    m_export->setEnabled(compared);
    m_copyCommand->setEnabled(compared);
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
    auto *dialog = new PathDialog(side == Side::A ? tr("Open A") : tr("Open B"), this);
    connect(dialog, &PathDialog::pathChosen, this,
            [this, side](const QString &path) { m_context.openSide(side, path); });
    dialog->open();
}

void MainWindow::choosePair()
{
    auto *first = new PathDialog(tr("Open A of the pair"), this);
    connect(first, &PathDialog::pathChosen, this, [this](const QString &pathA) {
        auto *second = new PathDialog(tr("Open B of the pair"), this);
        connect(second, &PathDialog::pathChosen, this,
                [this, pathA](const QString &pathB) { m_context.openPair(pathA, pathB); });
        second->open();
    });
    first->open();
}

void MainWindow::chooseReport()
{
    auto *dialog = new QFileDialog(this, tr("Export report"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilter(tr("JSON report (*.json)"));
    dialog->setDefaultSuffix(QStringLiteral("json"));
    dialog->selectFile(QStringLiteral("forkpoint-report.json"));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this](const QString &path) { m_context.exportReport(path); });
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
