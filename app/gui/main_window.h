// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/settings.h"
#include "widgets/view_context.h"

#include <QMainWindow>

class QActionGroup;
class QSplitter;
class QStackedWidget;

namespace forkpoint {

class JobStatus;
class RemarkDock;
class SideChips;
class StepStrip;
class TensorDetail;
class TensorList;
class VerdictBanner;
class Welcome;

/// The one window: the welcome, and the investigation from top to bottom.
class MainWindow final : public QMainWindow
{
    Q_OBJECT

public:
    enum class Memory { On, Off }; ///< whether geometry is remembered

    MainWindow(ViewContext &context, Settings &settings, Memory memory, QWidget *parent = nullptr);

    /// Of this run only; the menu's choice is remembered.
    void applyTheme(ThemeChoice theme);

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    QWidget *buildInvestigation();
    void buildToolBar();
    void buildDocks();
    void buildStatusLine();
    void buildFileMenu();
    void buildViewMenu();
    void buildThemeMenu(QMenu *menu);
    void buildGoMenu();
    void buildHelpMenu();
    void fillRecent();
    void connectViews();
    void restoreWindow();

    QAction *addTo(QMenu *menu, const QString &text, const QKeySequence &shortcut,
                   std::function<void()> action);
    void chooseSide(Side side);
    void choosePair();
    void chooseReport();
    void copyCommand();
    void showPage();
    void refreshActions();
    void refreshJob();

    ViewContext &m_context;
    Settings &m_settings;
    Memory m_memory;

    QStackedWidget *m_pages;
    Welcome *m_welcome;
    QWidget *m_investigation;
    VerdictBanner *m_banner;
    StepStrip *m_strip;
    QSplitter *m_splitter;
    TensorList *m_list;
    TensorDetail *m_detail;
    SideChips *m_chips;
    RemarkDock *m_findings, *m_problems;
    JobStatus *m_status;
    QMenu *m_recent = nullptr;
    QAction *m_export = nullptr, *m_swap = nullptr, *m_close = nullptr, *m_cancel = nullptr;
    QAction *m_copyCommand = nullptr;
};

} // namespace forkpoint
