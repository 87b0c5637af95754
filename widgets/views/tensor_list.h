// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

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

class TensorTableModel;
class TensorTreeModel;
class ValueTableModel;

/// What differs at the selected step: tensors, flat or as module tree, and values.
class TensorList : public QWidget
{
    Q_OBJECT

public:
    enum class Page { Tensors, Values };

    explicit TensorList(ViewContext *context, QWidget *parent = nullptr);

    QAction *filterAction() const { return m_filterAction; }               ///< Ctrl+F
    QAction *treeAction() const { return m_treeAction; }                   ///< Ctrl+T, checkable
    QAction *onlyDifferingAction() const { return m_onlyDifferingAction; } ///< Ctrl+D, checkable
    void showPage(Page page);
    /// The values page, reduced to the recipe differences.
    void showRecipe();
    /// Selects the tensor or value of that name, taking off a filter that hides it.
    bool showItem(const QString &name);

Q_SIGNALS:
    void message(const QString &text); ///< for the status line: "copied 3 rows"

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void buildBar();
    QTreeView *buildView(QAbstractItemModel *model, const QString &name);
    void refresh();
    void applyFilter();
    void updateHeader();
    void updatePlaceholder();
    void setTree(bool tree);
    void selectFromContext();
    void showSelection();
    void makeRoomForNames();
    void selectFromView(const QModelIndex &current);
    void showMenu(const QPoint &position);
    QTreeView *currentView() const;
    Page page() const;

    ViewContext *m_context;
    TensorTableModel *m_table;
    TensorTreeModel *m_tree;
    ValueTableModel *m_values;
    QAction *m_filterAction, *m_treeAction, *m_onlyDifferingAction;
    QTabBar *m_tabs;
    QLineEdit *m_filter;
    QCheckBox *m_onlyDiffering;
    QToolButton *m_treeButton;
    QLabel *m_counts;
    QStackedWidget *m_stack;
    QTreeView *m_tableView, *m_treeView, *m_valueView;
    QLabel *m_placeholder;
    std::size_t m_columnsHidden = 0; ///< of those that give way to names
    bool m_recipeOnly = false;
    bool m_selecting = false;
};

} // namespace forkpoint
