// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "model/traces/record_row.h"
#include "widgets/roles.h"

#include <QString>

namespace forkpoint {

/// How a status is shown everywhere: a sign, so that colour never stands alone, the words for
/// tooltips and screen readers, and the colour.
struct Look
{
    QString sign, words;
    ThemeColor color;
};

Look look(ItemStatus status); ///< = ≠ ? ◐ ◑
Look look(StepStatus status); ///< the same, … while pending
Look look(LinkStatus status);
Look look(RecordStatus status);
Look look(Outcome outcome);
Look look(Severity severity);

template <class Status>
QString sign(Status status)
{
    return look(status).sign;
}

template <class Status>
QString describe(Status status)
{
    return look(status).words;
}

} // namespace forkpoint
