// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "widgets/views/styled_text.h"

#include <vector>

namespace forkpoint {

/// Makes links of what a sentence about a comparison names: "item:NAME" of tensors, values and of
/// what differs first, "metric:NAME", "step:N" of steps that can be shown, in brackets "class:NAME"
/// of classes and "place:STEP:STAGE" of stages of the causal chain. NAME is as displayText() gives
/// it. Both comparisons outlive it.
class LinkedSentence
{
public:
    LinkedSentence(const RunComparison &runs, const CheckpointComparison &shown);

    /// Adds `text` in the style of `plain`, cut into segments where a link begins or ends.
    void append(std::vector<StyledText::Segment> &segments, const QString &text,
                const StyledText::Segment &plain) const;

private:
    void appendWords(std::vector<StyledText::Segment> &segments, const QString &text,
                     const StyledText::Segment &plain) const;
    QString linkOf(const QString &word, const QString &before, bool inBrackets, bool isNamed) const;
    QString linkOfStep(const QString &number) const;
    QString linkOfPlace(const QString &word) const;

    const RunComparison &m_runs;
    const CheckpointComparison &m_shown;
};

} // namespace forkpoint
