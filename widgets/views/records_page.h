// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QStackedWidget;
class QToolButton;
class QTreeView;

namespace forkpoint {

class CellTableModel;

/// The records of both traces side by side, of one rank and step, in execution order: it opens at
/// the first divergence. Of a trace that nothing is set against, its own records. A bounded window of them is held; more are asked for while it is seen.
class RecordsPage : public QWidget
{
    Q_OBJECT

public:
    explicit RecordsPage(ViewContext *context, QWidget *parent = nullptr);

    QTreeView *view() const { return m_view; }
    bool hasTraces() const; ///< whether there is something to show
    const RecordWindow *window() const { return m_window.get(); }
    const RecordRow *row() const; ///< the current one, or nullptr
    std::size_t rank() const { return m_query.rank; }
    QString summary() const; ///< counts, or why nothing is listed
    /// Whether what is listed is one trace alone, set against nothing.
    bool isAlone() const { return m_of != RecordQuery::Of::Both; }

    /// The first difference of a rank in that step; without one, in the step where it parts.
    void showRank(std::size_t rank, std::optional<std::int64_t> step = {});
    /// A step, at the first difference of what is sought, else at the first such record.
    void showPlace(std::optional<std::int64_t> step, RecordQuery::Sought sought);
    /// The current record as it can be asked for again; nothing while none is listed.
    std::optional<RecordQuery> place() const;
    void showQuery(RecordQuery query);
    void goToDifference(bool backward);
    /// For a record without a partner: the next of its name that the other side has.
    void goToNamesake();
    /// The tensor of the current record, if it was kept.
    void openTensor();

Q_SIGNALS:
    void rowChanged();
    void message(const QString &text);
    void tensorRequested(); ///< it was selected: show it

protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void buildBar();
    void buildActions();
    void refresh();
    void refreshAlone();
    void startAlone(RecordQuery::Of of);
    void forget();
    std::vector<Side> sidesAlone() const;
    std::size_t rankCount() const;
    QString rankText(std::size_t rank) const;
    void followStep();
    void fillCombos();
    void start();
    void ask(RecordQuery query);
    void receive(quint64 id, std::shared_ptr<const RecordWindow> window);
    void fail(const QString &problem);
    void take(std::shared_ptr<const RecordWindow> window, bool isNew);
    void askForMore(bool earlier);
    void continueInStep(bool backward);
    void centre();
    void describe();
    void makeRoom();
    const TraceComparison *trace() const;

    ViewContext *m_context;
    CellTableModel *m_model;
    QTreeView *m_view;
    QComboBox *m_side, *m_step, *m_rank, *m_stage;
    QToolButton *m_next, *m_previous, *m_earlier, *m_later;
    QLabel *m_counts, *m_instead;
    QStackedWidget *m_stack;
    QAction *m_namesake, *m_openTensor;
    RecordQuery::Of m_of = RecordQuery::Of::Both;
    std::shared_ptr<const TraceComparison> m_trace;
    std::shared_ptr<const TraceOutline> m_outline; ///< of the trace that is listed alone
    std::vector<std::int64_t> m_steps;             ///< of the combo box
    RecordQuery m_query;
    std::shared_ptr<const RecordWindow> m_window;
    std::uint64_t m_askedId = 0;
    bool m_isNew = false;     ///< no answer to the latest request has been shown
    bool m_isPending = false; ///< ask as soon as it is seen
    bool m_steered = false;   ///< the user chose a step
};

} // namespace forkpoint
