// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/places.h"
#include "app/gui/settings.h"
#include "widgets/view_context.h"

#include <QElapsedTimer>
#include <QMainWindow>

class QSplitter;
class QStackedWidget;
class QTimer;

namespace forkpoint {

class JobStatus;
class MetricDetail;
class NonFiniteDock;
class RecordDetail;
class ReportPrinter;
class ResumeDock;
class RemarkDock;
class SideChips;
class StepStrip;
class SystemTheme;
class TensorDetail;
class TensorList;
class VerdictBanner;
class Welcome;

/// The one window: the welcome, and the investigation from top to bottom.
class MainWindow final : public QMainWindow
{
    Q_OBJECT

public:
    /// With memory, geometry is kept beyond this run.
    MainWindow(ViewContext &context, Settings &settings, Memory memory, QWidget *parent = nullptr);

    /// Of this run only; the menu's choice is remembered.
    void applyTheme(ThemeChoice theme);
    void applyFont(int points); ///< 0: the system's
    /// A page, dock or state by name: "where", "values", "findings". False for none of that name.
    bool showPart(const QString &word);
    void showMessage(const QString &text); ///< in the status line
    /// The ending of the name decides the format, as on the command line; .pdf is a print.
    void exportReport(const QString &path);

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QWidget *buildInvestigation();
    QStackedWidget *buildRight();
    void buildToolBar();
    void buildDocks();
    void buildStatusLine();
    void buildFileMenu();
    void buildViewMenu();
    void buildThemeMenu(QMenu *menu);
    void buildFontMenu(QMenu *menu);
    void buildGoMenu();
    void buildTensorMenu();
    void refreshTensorMenu();
    void buildHelpMenu();
    void fillRecent();
    void connectViews();
    void connectRecords();
    bool showRecordPart(const QString &word);
    bool fillPart(const QString &word);
    void mark(void (PairNotes::*set)(const std::string &, bool), bool on);
    void showItem(const QString &name);
    void leadToRecords();
    void leadToValues();
    void leadToMetrics();
    void connectMetrics();
    void showMetric(const QString &name);
    void restoreWindow();

    QAction *addTo(QMenu *menu, const QString &text, const QKeySequence &shortcut,
                   std::function<void()> action);
    void chooseSide(Side side);
    void choosePair();
    void chooseRecorded();
    void chooseReport();
    void chooseMapping(const QString &sheet = {});
    void editMapping(Side side, const QString &path, const QString &sheet = {});
    void print();
    void copyCommand();
    void setFontPoints(int points);
    void raise(QDockWidget *dock);
    void giveRoom(QDockWidget *dock, bool opens);
    void connectPlaces();
    std::optional<Place> currentPlace() const;
    void rememberPlace();
    void refreshPlaces();
    void go(const Place &place);
    void keepPlace();
    void returnToPlace();
    void showPage();
    void refreshActions();
    void refreshJob();

    ViewContext &m_context;
    Settings &m_settings;
    Memory m_memory;
    SystemTheme *m_systemTheme;
    ThemeChoice m_theme = ThemeChoice::System;

    QStackedWidget *m_pages;
    Welcome *m_welcome;
    QWidget *m_investigation;
    VerdictBanner *m_banner;
    StepStrip *m_strip;
    QSplitter *m_splitter;
    TensorList *m_list;
    TensorDetail *m_detail;
    RecordDetail *m_recordDetail;
    MetricDetail *m_metricDetail;
    QStackedWidget *m_right; ///< of the tensor, of the record or of the metric
    bool m_ledToRecords = false;
    bool m_ledToValues = false;
    bool m_ledToMetrics = false;
    SideChips *m_chips;
    RemarkDock *m_findings, *m_problems;
    NonFiniteDock *m_nonFinite;
    ResumeDock *m_resume;
    JobStatus *m_status;
    ReportPrinter *m_printer;
    QMenu *m_recent = nullptr;
    QAction *m_export = nullptr, *m_print = nullptr, *m_swap = nullptr, *m_close = nullptr,
            *m_cancel = nullptr;
    QAction *m_verify = nullptr, *m_useIndex = nullptr;
    QAction *m_copyCommand = nullptr, *m_reload = nullptr, *m_searchNonFinite = nullptr;
    QAction *m_back = nullptr, *m_forward = nullptr;
    QAction *m_pin = nullptr, *m_expect = nullptr,
            *m_copyElements = nullptr; ///< of the selected tensor
    QAction *m_openFolder[2] = {nullptr, nullptr};
    QTimer *m_arrival = nullptr;
    std::optional<Place> m_going; ///< until back or forward has arrived
    QElapsedTimer m_goingSince;
    std::optional<Place> m_reloaded; ///< what was looked at, until both sides were read anew
    Places m_places;
};

} // namespace forkpoint
