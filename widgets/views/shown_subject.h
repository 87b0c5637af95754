// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/run.h"
#include "widgets/display_text.h"

namespace forkpoint {

/// What a page is of. Unlike for another tensor, for another step, and for a tensor that was alone
/// while one side was open and now has a partner: what was asked for of the one is not of the other.
inline QString shownSubject(Step step, const TensorRow &row)
{
    const QString sides = row.a && row.b ? QStringLiteral("AB") : QString(row.a ? u'A' : u'B');
    return QStringLiteral("%1/%2/%3").arg(sides).arg(step).arg(displayText(row.name));
}

} // namespace forkpoint
