// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/pair_layout.h"
#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QTreeWidget;

namespace forkpoint {

class LayoutView;

/// Which rank holds which part of the selected tensor on both sides, and in whose parts it differs:
/// two pictures over a table of the parts. Asks for its facts while it is seen.
class LayoutPage : public QWidget
{
    Q_OBJECT

public:
    explicit LayoutPage(ViewContext *context, QWidget *parent = nullptr);

    QString description() const; ///< "Only rank 3 differs, ..."

protected:
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void ask();
    void receive(quint64 id, std::shared_ptr<const PairLayout> layout);
    void showInstead(const QString &problem);
    void fillTable();
    void choose(const QString &owner);

    ViewContext *m_context;
    QLabel *m_description;
    QWidget *m_pictures;
    QLabel *m_titles[2];
    LayoutView *m_views[2];
    QTreeWidget *m_table;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    std::shared_ptr<const PairLayout> m_layout;
    QString m_pair;
    std::uint64_t m_askedId = 0;
};

} // namespace forkpoint
