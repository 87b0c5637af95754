// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/option_values.h"

#include "app/core/report_file.h"
#include "loaders/elements/tensor_digest.h"
#include "loaders/traces/mapping_sheet.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace forkpoint {

namespace {

Error usage(std::string text)
{
    return {ErrorCode::Usage, {}, {}, std::move(text)};
}

Result<std::int64_t> parseInteger(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return usage("'" + std::string(text) + "' is not a whole number");
    return value;
}

/// "8", "8:4".
Result<std::pair<Step, Step>> parsePairOfSteps(std::string_view text)
{
    const auto colon = text.find(':');
    FP_TRY(const Step first, parseInteger(text.substr(0, colon)));
    if (colon == std::string_view::npos)
        return std::pair(first, first);
    FP_TRY(const Step second, parseInteger(text.substr(colon + 1)));
    return std::pair(first, second);
}

/// "500M", "1G", "123456".
Result<std::uint64_t> parseRate(std::string text)
{
    std::uint64_t factor = 1;
    const std::string units = "KMGT";
    if (!text.empty() && units.find(text.back()) != std::string::npos) {
        for (std::size_t i = 0; i <= units.find(text.back()); ++i)
            factor *= 1000;
        text.pop_back();
    }
    FP_TRY(const std::int64_t number, parseInteger(text));
    if (number <= 0)
        return usage("--max-rate must be positive");
    return std::uint64_t(number) * factor;
}

Result<std::vector<StateClass>> parseScope(const std::string &text)
{
    std::vector<StateClass> classes;
    for (const std::string &name : CLI::detail::split(text, ',')) {
        const auto stateClass = stateClassByName(name);
        if (!stateClass) {
            std::string known;
            for (const StateClass each : allStateClasses())
                known += " " + std::string(toString(each));
            return usage("--scope: '" + name + "' is no class; there are" + known);
        }
        classes.push_back(*stateClass);
    }
    return classes;
}

Result<DTypeOverride> parseOverride(const std::string &text)
{
    const auto equals = text.rfind('=');
    const auto dtype =
        equals == std::string::npos ? std::nullopt : dtypeByName(text.substr(equals + 1));
    if (!dtype)
        return usage("--as expects GLOB=DTYPE, got '" + text + "'");
    return DTypeOverride{text.substr(0, equals), *dtype};
}

bool isDrawn(std::string_view report)
{
    return report.ends_with(".html") || report.ends_with(".md");
}

Status checkReports(const std::vector<std::string> &reports)
{
    for (const std::string &file : reports) {
        if (const auto format = reportFormatOf(file); !format)
            return Error(format.error()).atPlace("--report");
    }
    return {};
}

Status finishTolerance(const RawOptions &raw, Tolerance &tolerance)
{
    if (*raw.hasRtol)
        tolerance.rtol = raw.rtol;
    if (*raw.hasAtol)
        tolerance.atol = raw.atol;
    if (*raw.hasMaxUlp)
        tolerance.maxUlp = raw.maxUlp;
    for (const auto &[option, value] : {std::pair("--rtol", raw.rtol), {"--atol", raw.atol}}) {
        if (!(value >= 0) || !std::isfinite(value))
            return usage(std::string(option)
                         + ": must be a finite float64 that is not negative, is "
                         + (std::isnan(value)       ? "no number"
                                : std::isinf(value) ? "beyond float64"
                                                    : "negative"));
    }
    return {};
}

Status finishSteps(const RawOptions &raw, StepSelection &steps)
{
    if (!raw.step.empty() && !raw.steps.empty())
        return usage("--step and --steps exclude each other");
    if (!raw.step.empty() && steps.bisect)
        return usage("--step and --bisect exclude each other");
    if (!raw.step.empty()) {
        FP_TRY(const auto pair, parsePairOfSteps(raw.step));
        steps.only = StepSelection::Pair{pair.first, pair.second};
    }
    if (!raw.steps.empty()) {
        if (raw.steps.find(':') == std::string::npos)
            return usage("--steps expects FROM:TO");
        FP_TRY(steps.range, parsePairOfSteps(raw.steps));
        if (steps.range->first > steps.range->second)
            return usage("--steps expects FROM:TO with FROM not after TO, got '" + raw.steps + "'");
    }
    return {};
}

Status finishMapping(const std::string &path, Options &options)
{
    if (options.preview > 0 && path.empty())
        return usage("--preview shows how --mapping SHEET understands lines, and none is given");
    if (path.empty())
        return {};
    if (options.open.raw)
        return usage("--raw and --mapping exclude each other");
    FP_TRY(options.open.mapping, MappingSheet::read(path));
    return {};
}

} // namespace

std::string wholeNumberProblem(const std::string &text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size())
        return {};
    return "must be a whole number from 0 to 18446744073709551615 (2^64-1), got '" + text + "'";
}

std::string digestNames()
{
    std::string names;
    for (const TensorDigestInfo &kind : tensorDigestInfos())
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

Result<Options> finishOptions(RawOptions raw)
{
    Options options = std::move(raw.options);
    PairingOptions &pairing = options.compare.pairing;
    if (raw.pair != "auto" && raw.pair != "strict")
        return usage("--pair is strict or auto");
    pairing.strict = raw.pair == "strict";
    pairing.raw = options.open.raw;
    for (const std::string &text : raw.renames) {
        FP_TRY(RenameRule rule, RenameRule::parse(text));
        pairing.renames.push_back(std::move(rule));
    }
    for (const std::string &text : raw.overrides) {
        FP_TRY(DTypeOverride rule, parseOverride(text));
        options.open.dtypes.push_back(std::move(rule));
    }
    if (*raw.hasScope) {
        FP_TRY(pairing.scope, parseScope(raw.scope));
    }
    for (const std::string &list : raw.digests) {
        for (const std::string &name : CLI::detail::split(list, ',')) {
            if (tensorDigestInfo(name) == nullptr)
                return usage("'" + name + "' is no known digest: " + digestNames());
            options.digests.push_back(name);
        }
    }
    if (!raw.maxRate.empty()) {
        FP_TRY(options.maxRate, parseRate(raw.maxRate));
    }
    FP_CHECK(finishMapping(raw.mapping, options));
    if (raw.order != "index" && raw.order != "largest")
        return usage("--order is index or largest");
    options.query.order = raw.order == "largest" ? ElementOrder::Largest : ElementOrder::Differing;
    FP_CHECK(finishTolerance(raw, options.compare.tolerance));
    FP_CHECK(finishSteps(raw, options.steps));
    if (options.pathB.empty() && options.steps.only
        && options.steps.only->a != options.steps.only->b)
        return usage("--step N:M is for two sides, " + options.command + " looks at one");
    FP_CHECK(checkReports(options.reports));
    // Only these draw |a| and |b|; counting them costs as much again as all other statistics.
    options.compare.magnitudes = options.compare.full
        || std::any_of(options.reports.begin(), options.reports.end(), isDrawn);
    return options;
}

} // namespace forkpoint
