// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/status_look.h"

namespace forkpoint {

Look look(ItemStatus status)
{
    switch (status) {
    case ItemStatus::Identical:
        return {QStringLiteral("="), QStringLiteral("identical"), ThemeColor::Equal};
    case ItemStatus::Different:
        return {QStringLiteral("≠"), QStringLiteral("different"), ThemeColor::Difference};
    case ItemStatus::OnlyInA:
        return {QStringLiteral("◐"), QStringLiteral("only in A"), ThemeColor::A};
    case ItemStatus::OnlyInB:
        return {QStringLiteral("◑"), QStringLiteral("only in B"), ThemeColor::B};
    case ItemStatus::NotCompared: break;
    }
    return {QStringLiteral("?"), QStringLiteral("not compared"), ThemeColor::Unknown};
}

Look look(StepStatus status)
{
    switch (status) {
    case StepStatus::Identical: return look(ItemStatus::Identical);
    case StepStatus::Different: return look(ItemStatus::Different);
    case StepStatus::OnlyInA: return look(ItemStatus::OnlyInA);
    case StepStatus::OnlyInB: return look(ItemStatus::OnlyInB);
    case StepStatus::Undecided:
        return {QStringLiteral("?"), QStringLiteral("undecided"), ThemeColor::Unknown};
    case StepStatus::Pending: break;
    }
    return {QStringLiteral("…"), QStringLiteral("not compared yet"), ThemeColor::Muted};
}

Look look(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Equal: return look(ItemStatus::Identical);
    case LinkStatus::Different: return look(ItemStatus::Different);
    case LinkStatus::Undecided:
        return {QStringLiteral("?"), QStringLiteral("undecided"), ThemeColor::Unknown};
    case LinkStatus::NotRecorded: break;
    }
    return {QStringLiteral("–"), QStringLiteral("not recorded"), ThemeColor::Muted};
}

Look look(RecordStatus status)
{
    switch (status) {
    case RecordStatus::Equal:
        return {QStringLiteral("="), QStringLiteral("equal"), ThemeColor::Equal};
    case RecordStatus::NoneSeen:
        return {QStringLiteral("?"), QStringLiteral("none seen"), ThemeColor::Unknown};
    case RecordStatus::Different: return look(ItemStatus::Different);
    case RecordStatus::Moved:
        return {QStringLiteral("⇅"), QStringLiteral("moved"), ThemeColor::Difference};
    case RecordStatus::OnlyA: return look(ItemStatus::OnlyInA);
    case RecordStatus::OnlyB: return look(ItemStatus::OnlyInB);
    case RecordStatus::NotComparable:
        return {QStringLiteral("?"), QStringLiteral("not comparable"), ThemeColor::Unknown};
    case RecordStatus::NoValue:
        return {QStringLiteral("·"), QStringLiteral("no value"), ThemeColor::Muted};
    case RecordStatus::Artifact:
        return {QStringLiteral("·"), QStringLiteral("left out"), ThemeColor::Muted};
    case RecordStatus::NotCompared: return look(ItemStatus::NotCompared);
    case RecordStatus::Open: break;
    }
    return {QStringLiteral("…"), QStringLiteral("no partner yet"), ThemeColor::Muted};
}

Look look(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical:
        return {QStringLiteral("="), QStringLiteral("Identical"), ThemeColor::Equal};
    case Outcome::WithinTolerance:
        return {QStringLiteral("≈"), QStringLiteral("Within tolerance"), ThemeColor::Equal};
    case Outcome::Different:
        return {QStringLiteral("≠"), QStringLiteral("Different"), ThemeColor::Difference};
    case Outcome::Undecided:
        return {QStringLiteral("?"), QStringLiteral("Undecided"), ThemeColor::Unknown};
    case Outcome::NotCompared: break;
    }
    return {QStringLiteral("?"), QStringLiteral("Not compared"), ThemeColor::Unknown};
}

Look look(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return {QStringLiteral("✖"), QStringLiteral("error"), ThemeColor::Difference};
    case Severity::Warning:
        return {QStringLiteral("▲"), QStringLiteral("warning"), ThemeColor::Unknown};
    case Severity::Note: break;
    }
    return {QStringLiteral("•"), QStringLiteral("note"), ThemeColor::Muted};
}

} // namespace forkpoint
