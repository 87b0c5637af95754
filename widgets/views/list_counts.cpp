// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/list_counts.h"

#include "widgets/display_text.h"

#include <QCoreApplication>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("TensorList", text);
}

/// Of the tensors, or, since classes count both, of the values.
StatusCounts countsOf(const CheckpointComparison &comparison, bool values)
{
    if (!values)
        return comparison.counts;
    StatusCounts counts;
    for (const ValueRow &row : comparison.values)
        counts.count(row.status);
    return counts;
}

} // namespace

QString differingText(const StatusCounts &counts, std::uint64_t total)
{
    const std::uint64_t oneSided = counts.onlyInA + counts.onlyInB;
    if (oneSided == 0)
        return tr("%1 of %2 differ").arg(groupedText(counts.different), groupedText(total));
    if (counts.different == 0)
        return tr("%1 of %2 on one side only").arg(groupedText(oneSided), groupedText(total));
    return tr("%1 of %2 differ, %3 on one side only")
        .arg(groupedText(counts.different), groupedText(total), groupedText(oneSided));
}

QString countsText(const CheckpointComparison &comparison, bool values, const PairNotes &notes,
                   std::size_t shown, std::optional<StateClass> onlyClass)
{
    const StatusCounts counts = countsOf(comparison, values);
    const std::size_t total = values ? comparison.values.size() : comparison.tensors.size();
    if (total == 0)
        return tr("none");
    QString text = differingText(counts, total);
    std::uint64_t expected = 0;
    const auto count = [&](const auto &rows) {
        for (const auto &row : rows)
            expected += row.status == ItemStatus::Different && notes.isExpected(row.name) ? 1 : 0;
    };
    if (!notes.expected().empty() && values)
        count(comparison.values);
    else if (!notes.expected().empty())
        count(comparison.tensors);
    if (expected > 0)
        text += tr(" · %1 of them expected ✓").arg(groupedText(expected));
    if (counts.notCompared > 0) {
        text += comparison.finished
            ? tr(" · %1 not compared").arg(groupedText(counts.notCompared))
            : tr(" · %1 not compared yet").arg(groupedText(counts.notCompared));
    }
    if (shown != total)
        text += tr(" · %1 shown").arg(groupedText(shown));
    if (onlyClass)
        text += tr(" (%1 only; Esc shows all)").arg(qs(toString(*onlyClass)));
    return text;
}

QString listedText(const CheckpointComparison &listing, bool values, std::size_t shown)
{
    const std::size_t total = values ? listing.values.size() : listing.tensors.size();
    return tr("%1 of %2 shown, none compared").arg(groupedText(shown), groupedText(total));
}

QString failedSidesText(const ViewContext &context)
{
    const bool a = context.side(Side::A).phase == SideState::Phase::Failed;
    const bool b = context.side(Side::B).phase == SideState::Phase::Failed;
    return a && b ? tr("A and B") : a ? tr("A") : b ? tr("B") : QString();
}

} // namespace forkpoint
