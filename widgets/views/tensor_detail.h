// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QTabWidget;
class QTreeWidget;

namespace forkpoint {

class ElementView;
class HistogramPlot;
class StyledText;

/// The one tensor that is selected: what it is, how it differs, its elements and all facts.
class TensorDetail : public QWidget
{
    Q_OBJECT

public:
    explicit TensorDetail(ViewContext *context, QWidget *parent = nullptr);

    ElementView *elementView() const { return m_elements; }
    QString summary() const; ///< the header, as plain text

Q_SIGNALS:
    void message(const QString &text); ///< for the status line

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QWidget *buildElementsPage();
    QWidget *buildElementBar();
    void refreshTensor();
    void refreshStats();
    void refreshHeader();
    void refreshPlot();
    void refreshFacts();
    void goToIndex();
    const TensorRow *row() const;
    const DiffStats *stats() const;

    ViewContext *m_context;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    std::shared_ptr<const DiffStats> m_stats;
    QString m_shownName;
    QStackedWidget *m_stack;
    QLabel *m_placeholder;
    StyledText *m_header;
    QTabWidget *m_tabs;
    HistogramPlot *m_plot;
    QComboBox *m_plotKind, *m_order;
    QLineEdit *m_goTo;
    ElementView *m_elements;
    QTreeWidget *m_facts;
};

} // namespace forkpoint
