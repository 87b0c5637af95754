// SPDX-License-Identifier: GPL-3.0-or-later
// The menus of the window, and what they set by themselves.
#include "app/gui/help_dialogs.h"
#include "app/gui/main_window.h"
#include "app/gui/system_theme.h"
#include "widgets/display_text.h"
#include "widgets/outlined_style.h"
#include "widgets/pair_texts.h"
#include "widgets/views/element_view.h"
#include "widgets/views/non_finite_dock.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/resume_dock.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/welcome.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QMenuBar>
#include <QStyle>
#include <QStyleFactory>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int SmallestFont = 9, LargestFont = 16;

} // namespace

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
    addTo(menu, tr("Open pa&ir…"), tr("Ctrl+Alt+O"), [this] { choosePair(); });
    addTo(menu, tr("Open re&port…"), tr("Ctrl+R"), [this] { chooseRecorded(); });
    addTo(menu, tr("Read by a &mapping sheet…"), tr("Ctrl+M"), [this] { chooseMapping(); });
    m_recent = menu->addMenu(tr("&Recent pairs"));
    connect(m_recent, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    QMenu *samples = menu->addMenu(tr("&Samples"));
    for (const SamplePair &sample : m_context.samples())
        addTo(samples, displayText(sample.title), {}, [this, sample] {
            m_context.openPair(sample.pathA, sample.pathB);
        })->setToolTip(plainToolTip(sample.sentence));
    samples->setEnabled(!samples->isEmpty());
    menu->addSeparator();
    m_reload = addTo(menu, tr("&Reload"), QKeySequence::Refresh, [this] { m_context.reload(); });
    m_verify = addTo(menu, tr("&Verify by reading"), tr("Ctrl+Shift+V"),
                     [this] { m_context.verifyByReading(); });
    m_useIndex = addTo(menu, tr("Use the inde&x of fingerprints"), {},
                       [this] { m_context.setUsesIndex(m_useIndex->isChecked()); });
    m_useIndex->setCheckable(true);
    m_useIndex->setChecked(m_context.usesIndex());
    m_useIndex->setEnabled(m_context.hasIndex());
    m_swap =
        addTo(menu, tr("S&wap A and B"), tr("Ctrl+Shift+S"), [this] { m_context.swapSides(); });
    m_export->setShortcut(tr("Ctrl+E"));
    connect(m_export, &QAction::triggered, this, &MainWindow::chooseReport);
    menu->addAction(m_export);
    m_print = addTo(menu, tr("&Print report…"), QKeySequence::Print, [this] { print(); });
    m_copyCommand =
        addTo(menu, tr("&Copy as command"), tr("Ctrl+Shift+C"), [this] { copyCommand(); });
    for (const Side side : {Side::A, Side::B}) {
        const QString text =
            side == Side::A ? tr("Open the folder of A") : tr("Open the folder of B");
        m_openFolder[int(side)] =
            addTo(menu, text, {}, [this, side] { openFolderOf(m_context, side); });
    }
    m_cancel = addTo(menu, tr("Ca&ncel"), tr("Ctrl+."), [this] { m_context.cancelJob(); });
    menu->addSeparator();
    m_close = addTo(menu, tr("C&lose"), tr("Ctrl+W"), [this] { m_context.closeAll(); });
    addTo(menu, tr("&Quit"), tr("Ctrl+Q"), [this] { close(); });
}

void MainWindow::fillRecent()
{
    m_recent->clear();
    const QStringList pairs = m_context.recentPairs();
    const QList<PairText> texts = pairTexts(pairs, 48);
    m_recent->setToolTipsVisible(true);
    for (qsizetype i = 0; i < pairs.size(); ++i) {
        const QString a = pairs[i].section(u'\n', 0, 0), b = pairs[i].section(u'\n', 1, 1);
        QString text = texts[i].a + QStringLiteral("  ≟  ") + texts[i].b;
        text.replace(u'&', QLatin1String("&&"));
        addTo(m_recent, text, {}, [this, a, b] {
            m_context.openPair(a, b);
        })->setToolTip(plainToolTip(tr("A  %1\nB  %2").arg(displayText(a), displayText(b))));
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
    menu->addMenu(m_strip->rowsMenu());
    menu->addSeparator();
    QAction *findings = m_findings->toggleViewAction();
    findings->setShortcut(tr("Ctrl+Shift+F"));
    QAction *problems = m_problems->toggleViewAction();
    problems->setShortcut(tr("Ctrl+Shift+P"));
    QAction *resume = m_resume->toggleViewAction();
    resume->setShortcut(tr("Ctrl+Shift+R"));
    menu->addActions({findings, problems, resume, m_nonFinite->toggleViewAction()});
    menu->addSeparator();
    const std::pair<QString, TensorDetail::Page> pages[] = {
        {tr("&Elements"), TensorDetail::Page::Elements},
        {tr("&Where"), TensorDetail::Page::Where},
        {tr("&Over steps"), TensorDetail::Page::Steps},
        {tr("Fac&ts"), TensorDetail::Page::Facts},
        {tr("&Layout"), TensorDetail::Page::Layout}};
    for (int i = 0; const auto &[text, page] : pages)
        addTo(menu, text, QKeySequence(tr("Alt+%1").arg(++i)),
              [this, page = page] { m_detail->showPage(page); });
    addTo(menu, tr("&Records of traces"), tr("Alt+6"),
          [this] { showRecordPart(QStringLiteral("records")); });
    addTo(menu, tr("Ra&nks of traces"), tr("Alt+7"),
          [this] { showRecordPart(QStringLiteral("ranks")); });
    addTo(menu, tr("Record o&ver steps"), tr("Alt+8"),
          [this] { showRecordPart(QStringLiteral("drift")); });
    addTo(menu, tr("&Metrics"), tr("Alt+9"), [this] { showPart(QStringLiteral("metrics")); });
    menu->addSeparator();
    buildThemeMenu(menu->addMenu(tr("&Theme")));
    buildFontMenu(menu->addMenu(tr("Font &size")));
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

void MainWindow::buildFontMenu(QMenu *menu)
{
    auto *group = new QActionGroup(this);
    const auto add = [&](const QString &text, int points) {
        QAction *entry = addTo(menu, text, {}, [this, points] { setFontPoints(points); });
        entry->setCheckable(true);
        entry->setChecked(points == m_settings.fontPoints());
        group->addAction(entry);
    };
    add(tr("&System"), 0);
    for (int points = SmallestFont; points <= LargestFont; ++points)
        add(tr("%1 pt").arg(points), points);
    menu->addSeparator();
    const auto step = [this](int by) {
        setFontPoints(std::clamp(QApplication::font().pointSize() + by, SmallestFont, LargestFont));
    };
    addTo(menu, tr("&Larger"), QKeySequence::ZoomIn, [step] { step(1); });
    addTo(menu, tr("S&maller"), QKeySequence::ZoomOut, [step] { step(-1); });
}

void MainWindow::setFontPoints(int points)
{
    m_settings.setFontPoints(points);
    applyFont(points);
}

void MainWindow::applyFont(int points)
{
    static const QFont systemFont = QApplication::font();
    QFont font = systemFont;
    if (points > 0)
        font.setPointSize(points);
    QApplication::setFont(font);
}

void MainWindow::buildGoMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&Go"));
    m_back = addTo(menu, tr("&Back"), QKeySequence::Back, [this] { go(m_places.back()); });
    m_forward =
        addTo(menu, tr("&Forward"), QKeySequence::Forward, [this] { go(m_places.forward()); });
    menu->addSeparator();
    menu->addAction(m_strip->nextDifferenceAction());
    menu->addAction(m_strip->previousDifferenceAction());
    menu->addSeparator();
    menu->addAction(m_detail->elementView()->nextDifferenceAction());
    menu->addAction(m_detail->elementView()->previousDifferenceAction());
    menu->addSeparator();
    m_searchNonFinite =
        addTo(menu, tr("Search &NaN and Inf in all tensors"), tr("Ctrl+Shift+N"), [this] {
            raise(m_nonFinite);
            m_nonFinite->search();
        });
}

/// What the menu of its row does too, from wherever the keyboard is.
void MainWindow::buildTensorMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&Tensor"));
    m_pin = addTo(menu, tr("&Pinned ★"), tr("Ctrl+B"),
                  [this] { mark(&PairNotes::setPinned, m_pin->isChecked()); });
    m_expect = addTo(menu, tr("Difference is &expected ✓"), tr("Ctrl+Shift+E"),
                     [this] { mark(&PairNotes::setExpected, m_expect->isChecked()); });
    m_pin->setCheckable(true);
    m_expect->setCheckable(true);
    m_copyElements = addTo(menu, tr("&Copy its elements as command"), tr("Ctrl+Alt+C"), [this] {
        const std::optional<Place> place = currentPlace();
        if (!place)
            return;
        const QString command =
            m_context.elementsCommand(place->tensor, m_detail->elementView()->chosenOrder());
        QApplication::clipboard()->setText(command);
        showMessage(tr("copied: %1").arg(displayText(command)));
    });
    connect(&m_context, &ViewContext::selectedTensorChanged, this, &MainWindow::refreshTensorMenu);
    connect(&m_context, &ViewContext::stepComparisonChanged, this, &MainWindow::refreshTensorMenu);
    connect(&m_context.notes(), &PairNotes::changed, this, &MainWindow::refreshTensorMenu);
    refreshTensorMenu();
}

void MainWindow::refreshTensorMenu()
{
    const std::optional<Place> place = currentPlace();
    for (QAction *action : {m_pin, m_expect, m_copyElements})
        action->setEnabled(place.has_value());
    m_pin->setChecked(place && m_context.notes().isPinned(place->tensor));
    m_expect->setChecked(place && m_context.notes().isExpected(place->tensor));
}

void MainWindow::buildHelpMenu()
{
    QMenu *menu = menuBar()->addMenu(tr("&Help"));
    addTo(menu, tr("&Shortcuts"), QKeySequence::HelpContents, [this] { showShortcuts(this); });
    addTo(menu, tr("&About Forkpoint"), {}, [this] { showAbout(this); });
}

void MainWindow::applyTheme(ThemeChoice theme)
{
    // The style and lightness that the desktop chose, before any theme replaced them.
    const auto use = [](const QString &name) {
        const bool isFusion = name.compare(QLatin1String("fusion"), Qt::CaseInsensitive) == 0;
        if (isFusion)
            QApplication::setStyle(new OutlinedStyle);
        else if (QStyle *style = QStyleFactory::create(name))
            QApplication::setStyle(style);
    };
    static const QString systemStyle = QApplication::style()->name();
    static const bool systemIsDark =
        QApplication::palette().color(QPalette::Base).lightness() < 128;
    m_theme = theme;
    if (theme == ThemeChoice::System) {
        const SystemTheme::Scheme scheme = m_systemTheme->scheme();
        const bool dark = scheme == SystemTheme::Scheme::Dark && !systemIsDark;
        const bool light = scheme == SystemTheme::Scheme::Light && systemIsDark;
        if (!dark && !light) {
            use(systemStyle);
            QApplication::setPalette(QPalette());
            QApplication::setPalette(quietSelection(QApplication::palette()));
            return;
        }
        theme = dark ? ThemeChoice::Dark : ThemeChoice::Light; // the portal knows better
    }
    use(QStringLiteral("fusion")); // other styles draw with colours of their own
    QApplication::setPalette(theme == ThemeChoice::Dark ? darkPalette() : lightPalette());
}

} // namespace forkpoint
