// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/tensor_facts.h"

#include <QTreeWidget>

namespace forkpoint {

/// All that is known of one pair, line by line; lines can be copied.
class FactsView : public QTreeWidget
{
    Q_OBJECT

public:
    explicit FactsView(ViewContext *context, QWidget *parent = nullptr);

    void setFacts(const std::vector<Fact> &facts);
};

} // namespace forkpoint
