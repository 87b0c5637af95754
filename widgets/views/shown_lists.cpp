// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/shown_lists.h"

#include "widgets/display_text.h"
#include "widgets/status_look.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace forkpoint {

namespace {

Remark remarkOf(const Finding &finding)
{
    Remark remark;
    remark.severity = finding.severity;
    for (const std::string &name : finding.where)
        remark.names += displayText(name);
    const QString text = displayText(finding.text);
    const QString where = remark.names.join(QStringLiteral(", "));
    const QString certainty = displayText(toString(finding.certainty));
    remark.cells = {certainty, text, where};
    remark.whole = where.isEmpty() ? text : QString(text + u'\n' + where);
    return remark;
}

Remark remarkOf(const Diagnostic &diagnostic)
{
    Remark remark;
    remark.severity = diagnostic.severity;
    remark.cells = {displayText(diagnostic.file), displayText(diagnostic.place),
                    displayText(diagnostic.text)};
    QStringList parts{describe(diagnostic.severity)};
    for (const QString &cell : remark.cells) {
        if (!cell.isEmpty())
            parts += cell;
    }
    remark.whole = parts.join(QStringLiteral(": "));
    return remark;
}

} // namespace

std::vector<Remark> shownFindings(const ViewContext &context)
{
    std::vector<Remark> result;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const std::vector<Finding> &findings) {
        for (const Finding &finding : findings) {
            if (seen.emplace(finding.id, finding.text).second)
                result.push_back(remarkOf(finding));
        }
    };
    if (const auto comparison = context.comparison()) {
        add(comparison->findings);
        add(comparison->shown.findings);
    }
    if (const auto step = context.stepComparison())
        add(step->findings);
    return result;
}

std::vector<Remark> shownProblems(const ViewContext &context)
{
    std::vector<Remark> result;
    std::set<std::tuple<std::string, std::string, std::string>> seen;
    const auto add = [&](const Diagnostics &diagnostics) {
        for (const Diagnostic &diagnostic : diagnostics) {
            if (seen.emplace(diagnostic.file, diagnostic.place, diagnostic.text).second)
                result.push_back(remarkOf(diagnostic));
        }
    };
    for (Side side : {Side::A, Side::B}) {
        const char *name = side == Side::A ? "A" : "B";
        const SideState state = context.side(side);
        Diagnostics own;
        if (state.phase == SideState::Phase::Failed)
            own.push_back(ofSide(name,
                                 {Severity::Error,
                                  "not-opened",
                                  {},
                                  {},
                                  "could not be opened: " + state.error.toStdString()}));
        for (const Diagnostic &diagnostic : state.diagnostics)
            own.push_back(ofSide(name, diagnostic));
        add(own);
    }
    if (const auto comparison = context.comparison()) {
        add(comparison->diagnostics);
        add(comparison->shown.diagnostics);
    }
    if (const auto step = context.stepComparison())
        add(step->diagnostics);
    return result;
}

bool isOneSideAlone(const ViewContext &context)
{
    const auto isOpen = [&](Side side) {
        return context.side(side).phase == SideState::Phase::Open;
    };
    return isOpen(Side::A) != isOpen(Side::B);
}

} // namespace forkpoint
