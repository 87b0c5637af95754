// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare_command.h"

#include "loaders/traces/mapping_sheet.h"
#include "model/compare/divergence_row.h"
#include "model/format.h"
#include "model/text/shell_word.h"
#include "model/text/text.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// A path that begins with a dash is no option.
std::string pathWord(const std::string &path)
{
    return shellWord(path.starts_with('-') ? "./" + path : path);
}

std::string option(std::string_view name, std::string_view value)
{
    return " " + std::string(name) + " " + shellWord(value);
}

/// The rule as --rename takes it, with a separator that occurs in neither text.
std::string ruleText(const RenameRule &rule)
{
    std::string separator = "/";
    for (const char candidate : std::string_view("/|#,:;!~")) {
        if ((rule.from + rule.to).find(candidate) == std::string::npos) {
            separator = candidate;
            break;
        }
    }
    return "s" + separator + (rule.atStart ? "^" : "") + rule.from + (rule.atEnd ? "$" : "")
        + separator + rule.to + separator;
}

std::string classNames(const std::vector<StateClass> &classes)
{
    std::string names;
    for (const StateClass stateClass : classes)
        names += (names.empty() ? "" : ",") + std::string(toString(stateClass));
    return names;
}

std::string pairingWords(const PairingOptions &pairing)
{
    std::string line;
    if (pairing.strict)
        line += " --pair strict";
    for (const RenameRule &rule : pairing.renames)
        line += option("--rename", ruleText(rule));
    for (const std::string &glob : pairing.include)
        line += option("--include", glob);
    for (const std::string &glob : pairing.exclude)
        line += option("--exclude", glob);
    if (pairing.scope)
        line += option("--scope", classNames(*pairing.scope));
    if (pairing.tensorsOnly)
        line += " --tensors-only";
    return line;
}

std::string toleranceWords(const Tolerance &tolerance)
{
    std::string line;
    if (tolerance.rtol)
        line += " --rtol " + shortest(*tolerance.rtol);
    if (tolerance.atol)
        line += " --atol " + shortest(*tolerance.atol);
    if (tolerance.maxUlp)
        line += " --max-ulp " + std::to_string(*tolerance.maxUlp);
    return line;
}

std::string stepWords(const StepSelection &steps)
{
    if (steps.only) {
        const std::string first = std::to_string(steps.only->a);
        return " --step " + first
            + (steps.only->a == steps.only->b ? "" : ":" + std::to_string(steps.only->b));
    }
    const std::string bisect = steps.bisect ? " --bisect" : "";
    if (steps.range)
        return bisect + " --steps " + std::to_string(steps.range->first) + ":"
            + std::to_string(steps.range->second);
    return bisect;
}

std::string openWords(const OpenOptions &open)
{
    std::string line = open.raw ? " --raw" : "";
    for (const DTypeOverride &rule : open.dtypes)
        line += option("--as", rule.glob + "=" + rule.dtype.name);
    return line;
}

/// The command that lists the elements of the first tensor that differs, if one was measured.
std::string elementsLine(const CompareCommand &command, const RunComparison &comparison)
{
    const auto &rows = comparison.shown.tensors;
    const auto isMeasured = [](const TensorRow *row) {
        return row && row->stats && row->stats->differentElements > 0;
    };
    const auto rowOf = [&](const std::optional<FirstDivergence> &divergence) {
        return divergence ? rowOfDivergence(rows, *divergence) : nullptr;
    };
    const TensorRow *first = rowOf(comparison.firstDivergence);
    // Of a logged number, or a record that was not kept, the first of the step shown.
    if (!isMeasured(first))
        first = rowOf(firstDivergenceIn(comparison.shown));
    if (!isMeasured(first))
        return {};
    CompareCommand atStep = command;
    if (!atStep.steps.only && comparison.shownStep)
        atStep.steps.only = StepSelection::Pair{*comparison.shownStep, *comparison.shownStep};
    return elementsCommand(atStep, first->name, ElementOrder::Largest) + " --count 20";
}

} // namespace

std::string commandLine(const CompareCommand &command)
{
    const CompareOptions &options = command.options;
    return "forkpoint-cli compare " + pathWord(command.pathA) + " " + pathWord(command.pathB)
        + stepWords(command.steps) + pairingWords(options.pairing)
        + toleranceWords(options.tolerance) + openWords(command.open)
        + (command.open.mapping ? option("--mapping", command.open.mapping->path()) : "")
        + (options.strictValues ? " --strict-values" : "")
        + (options.verdictOnly ? " --verdict-only" : "") + (options.full ? " --full" : "");
}

std::string elementsCommand(const CompareCommand &command, const std::string &tensor,
                            ElementOrder order)
{
    std::string line = "forkpoint-cli elements " + pathWord(command.pathA) + " "
        + pathWord(command.pathB) + option("--tensor", tensor);
    if (command.steps.only)
        line += stepWords(command.steps);
    if (command.options.pairing.strict)
        line += " --pair strict";
    for (const RenameRule &rule : command.options.pairing.renames)
        line += option("--rename", ruleText(rule));
    return line + openWords(command.open)
        + (order == ElementOrder::Largest ? " --order largest" : " --order index");
}

ReportRequest reportRequest(const CompareCommand &command, const RunComparison &comparison)
{
    const PairingOptions &pairing = command.options.pairing;
    const Tolerance &tolerance = command.options.tolerance;
    ReportRequest request{commandLine(command), elementsLine(command, comparison), {}};
    const auto limit = [&](bool applies, std::string text) {
        if (applies)
            request.limits.push_back(std::move(text));
    };
    limit(command.steps.only.has_value(), "one step only:" + stepWords(command.steps));
    limit(command.steps.range.has_value(), "some steps only:" + stepWords(command.steps));
    if (pairing.scope)
        limit(true, "only items of the classes " + classNames(*pairing.scope) + " (--scope)");
    limit(pairing.tensorsOnly, "only tensors; every other value is left out (--tensors-only)");
    limit(!pairing.include.empty(),
          "only items whose name matches " + listed(pairing.include) + " (--include)");
    limit(!pairing.exclude.empty(),
          "items whose name matches " + listed(pairing.exclude) + " are left out (--exclude)");
    limit(tolerance.asked(), "differences are forgiven up to" + toleranceWords(tolerance));
    limit(command.options.verdictOnly,
          "a tensor is not read beyond its first difference (--verdict-only)");
    return request;
}

} // namespace forkpoint
