// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QStackedWidget;
class QTabWidget;

namespace forkpoint {

class ElementsPage;
class ElementView;
class FactsView;
class StepsPage;
class StyledText;
class WherePage;

/// The one tensor that is selected, on linked pages: its elements, where they differ, how the pair
/// fares over the steps, all facts, and which rank holds which part.
class TensorDetail : public QWidget
{
    Q_OBJECT

public:
    enum class Page { Elements, Where, Steps, Facts, Layout };

    explicit TensorDetail(ViewContext *context, QWidget *parent = nullptr);

    ElementView *elementView() const;
    WherePage *wherePage() const { return m_where; }
    QString summary() const; ///< the header, or why there is nothing, as plain text
    Page page() const;
    void showPage(Page page);
    void goTo(const QString &index); ///< as typed into the field for it

Q_SIGNALS:
    void message(const QString &text); ///< for the status line
    void pageChanged();
    void openRequested(forkpoint::Side side);

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QWidget *orNoElements(QWidget *page);
    void linkPages();
    void refreshNoElements();
    void refreshTensor();
    void refreshStats();
    void refreshHeader();
    QString whyEmpty() const;
    const TensorRow *row() const;
    const DiffStats *stats() const;
    std::optional<Side> loneSide() const;

    ViewContext *m_context;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    std::shared_ptr<const DiffStats> m_stats;
    QStackedWidget *m_stack;
    QLabel *m_placeholder;
    std::vector<QStackedWidget *> m_elementPages; ///< a page of elements, or why there are none
    StyledText *m_header;
    QTabWidget *m_tabs;
    ElementsPage *m_elements;
    WherePage *m_where, *m_beside; ///< a page of its own, and one beside the histogram
    StepsPage *m_steps;
    FactsView *m_facts;
};

} // namespace forkpoint
