// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"
#include "widgets/views/tensor_columns.h"

#include <QWidget>

class QAbstractItemModel;
class QAction;
class QCheckBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QTabBar;
class QToolButton;
class QModelIndex;
class QTreeView;

namespace forkpoint {

class MetricsPage;
class PairingPage;
class RecordsPage;
class RowFilter;
class TensorTableModel;
class TensorTreeModel;
class ValueTableModel;
class ValueTreeModel;

/// What differs at the selected step: tensors and values, flat or as trees, who met whom, and the
/// records of traces; and the metrics of all steps.
class TensorList : public QWidget
{
    Q_OBJECT

public:
    enum class Page { Tensors, Values, Pairing, Records, Metrics };

    explicit TensorList(ViewContext *context, QWidget *parent = nullptr);

    QAction *filterAction() const { return m_filterAction; }               ///< Ctrl+F
    QAction *treeAction() const { return m_treeAction; }                   ///< Ctrl+T, checkable
    QAction *onlyDifferingAction() const { return m_onlyDifferingAction; } ///< Ctrl+D, checkable
    bool hasPage(Page page) const; ///< false for records and metrics where there are none
    void showPage(Page page);
    Page page() const;
    RecordsPage *records() const { return m_records; }
    MetricsPage *metrics() const { return m_metrics; }
    /// The values page, reduced to the recipe differences.
    void showRecipe();
    /// Everything of one class, on the page that has some of it.
    void showClass(StateClass stateClass);
    void setFilterText(const QString &text);
    /// The pairing page with rename rules typed in, not yet applied.
    void previewRename(const QString &rules);
    /// Selects the tensor or value of that name, taking off a filter that hides it.
    bool showItem(const QString &name);

Q_SIGNALS:
    void message(const QString &text); ///< for the status line: "copied 3 rows"
    void pageChanged();
    void tensorActivated(); ///< the selected one, by Return or a double click

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void buildBar();
    void buildShowMenu(QToolButton *button);
    QTreeView *buildView(QAbstractItemModel *model, const QString &objectName, const QString &name);
    void connectModels();
    void refresh();
    RowFilter rowFilter() const;
    void applyFilter();
    void clearFilter();
    void updateHeader();
    void updatePlaceholder();
    void fillTree();
    void selectFromContext();
    void showSelection();
    void makeRoom();
    void selectFromView(const QModelIndex &current);
    void showMenu(const QPoint &position);
    QTreeView *currentView() const;
    void showControls();
    bool isTree() const;

    ViewContext *m_context;
    TensorTableModel *m_table;
    TensorTreeModel *m_tree;
    ValueTableModel *m_values;
    ValueTreeModel *m_valueTree;
    QAction *m_filterAction, *m_treeAction, *m_onlyDifferingAction;
    QAction *m_onlyPinned, *m_withoutExpected;
    QTabBar *m_tabs;
    QLineEdit *m_filter;
    QCheckBox *m_onlyDiffering;
    QToolButton *m_treeButton, *m_show;
    QLabel *m_counts;
    QStackedWidget *m_stack;
    QTreeView *m_tableView, *m_treeView, *m_valueView, *m_valueTreeView;
    PairingPage *m_pairing;
    RecordsPage *m_records;
    MetricsPage *m_metrics;
    QLabel *m_placeholder;
    std::optional<ColumnRoom> m_room; ///< by which columns were shown last
    std::optional<StateClass> m_onlyClass;
    bool m_selecting = false;
};

} // namespace forkpoint
