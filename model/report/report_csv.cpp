// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_csv.h"

#include "model/compare/row_stats.h"
#include "model/format.h"
#include "model/text/printable.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 46> Columns = {
    "kind",
    "name",
    "class",
    "status",
    "reason",
    "step",
    "paired_by",
    "name_a",
    "name_b",
    "dtype_a",
    "dtype_b",
    "shape_a",
    "shape_b",
    "compared_as",
    "value_equal",
    "within_tolerance",
    "elements",
    "different_elements",
    "finite_pairs",
    "first_index",
    "last_index",
    "max_abs",
    "max_abs_index",
    "max_ulp",
    "max_ulp_index",
    "mean_abs",
    "rms",
    "rms_a",
    "rms_b",
    "cosine",
    "nan_a",
    "nan_b",
    "inf_a",
    "inf_b",
    "nan_payload_only",
    "signed_zero_only",
    "sign_flips",
    "first_place_a",
    "first_place_b",
    "fingerprint_a",
    "fingerprint_b",
    "type_a",
    "type_b",
    "a",
    "b",
    "where",
};

std::string headerLine()
{
    std::string line;
    for (const std::string_view column : Columns)
        line += (line.empty() ? "" : ",") + std::string(column);
    return line + "\n";
}

std::string quoted(const std::string &text)
{
    if (text.find_first_of(",\"") == std::string::npos && !text.starts_with(' ')
        && !text.ends_with(' '))
        return text;
    std::string result = "\"";
    for (const char c : text)
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

/// A text of ours or of a file; never a formula, never more than one line.
std::string inert(std::string_view text)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string shown = printable(text);
    if (!shown.empty() && std::string_view("=+-@").find(shown[0]) != std::string_view::npos) {
        const auto byte = static_cast<unsigned char>(shown[0]);
        const std::string escaped{'\\', 'x', Digits[byte >> 4], Digits[byte & 15]};
        shown.replace(0, 1, escaped);
    }
    return shown;
}

/// One line, filled column by column in any order.
class Line
{
public:
    explicit Line(std::string_view kind) { number("kind", std::string(kind)); }

    void text(std::string_view column, std::string_view value) { number(column, inert(value)); }
    /// What needs no escaping: figures, fixed words.
    void number(std::string_view column, std::string value)
    {
        const auto found = std::find(Columns.begin(), Columns.end(), column);
        m_cells[std::size_t(found - Columns.begin())] = std::move(value);
    }
    void flag(std::string_view column, bool value) { number(column, value ? "true" : "false"); }

    std::string take() const
    {
        std::string line;
        for (std::size_t i = 0; i < Columns.size(); ++i)
            line += (i == 0 ? "" : ",") + quoted(m_cells[i]);
        return line + "\n";
    }

private:
    std::array<std::string, Columns.size() + 1> m_cells; // the last takes what has no column
};

std::string numberText(const std::variant<std::uint64_t, double> &number)
{
    if (const auto *integer = std::get_if<std::uint64_t>(&number))
        return std::to_string(*integer);
    return shortest(std::get<double>(number));
}

std::string tensorLine(const TensorRow &row)
{
    Line line("tensor");
    line.text("name", row.name);
    line.text("class", toString(row.stateClass));
    line.text("status", toString(row.status));
    line.text("reason", row.reason);
    line.text("paired_by", toString(row.pairedBy));
    if (row.a) {
        line.text("name_a", row.nameA);
        if (row.layoutKnownA) {
            line.text("dtype_a", row.dtypeA.name);
            line.text("shape_a", row.shapeA.toString());
        }
    }
    if (row.b) {
        line.text("name_b", row.nameB);
        if (row.layoutKnownB) {
            line.text("dtype_b", row.dtypeB.name);
            line.text("shape_b", row.shapeB.toString());
        }
    }
    line.text("compared_as", row.comparedAs);
    if (row.valueEqual)
        line.flag("value_equal", *row.valueEqual);
    if (row.withinTolerance)
        line.flag("within_tolerance", true);
    line.number("elements", std::to_string(row.elements));
    for (const auto &[name, number] : statsOf(row))
        line.number(name, numberText(number));
    if (row.firstPlaces && row.firstPlaces->a)
        line.text("first_place_a", row.firstPlaces->a->toString());
    if (row.firstPlaces && row.firstPlaces->b)
        line.text("first_place_b", row.firstPlaces->b->toString());
    if (row.fingerprintA)
        line.number("fingerprint_a", row.fingerprintA->tensor.toHex());
    if (row.fingerprintB)
        line.number("fingerprint_b", row.fingerprintB->tensor.toHex());
    return line.take();
}

void addValue(Line &line, const std::optional<Value> &value, std::string_view column,
              std::string_view type)
{
    if (!value)
        return;
    line.text(type, toString(value->type));
    const bool figure = value->type == ValueType::Int || value->type == ValueType::Float;
    if (figure)
        line.number(column, value->toDisplay());
    else
        line.text(column, value->toDisplay());
}

std::string valueLine(const ValueRow &row)
{
    Line line("value");
    line.text("name", row.name);
    line.text("class", toString(row.stateClass));
    line.text("status", toString(row.status));
    line.text("reason", row.reason);
    if (row.withinTolerance)
        line.flag("within_tolerance", true);
    addValue(line, row.valueA, "a", "type_a");
    addValue(line, row.valueB, "b", "type_b");
    return line.take();
}

std::string verdictLine(const RunComparison &comparison)
{
    Line line("verdict");
    line.text("name", toString(comparison.verdict.strength));
    line.text("status", toString(comparison.verdict.outcome));
    line.text("reason", comparison.verdict.sentence);
    line.text("name_a", comparison.pathA);
    line.text("name_b", comparison.pathB);
    if (comparison.shownStep)
        line.number("step", std::to_string(*comparison.shownStep));
    return line.take();
}

std::string stepLine(const StepMark &mark)
{
    Line line("step");
    line.text("status", toString(mark.status));
    line.text("reason", mark.reason);
    line.number("step", std::to_string(mark.step));
    return line.take();
}

std::string chainLine(const ChainLink &link)
{
    Line line("chain");
    line.text("name", link.stage);
    line.text("status", toString(link.status));
    if (link.strength != Strength::None)
        line.text("reason", toString(link.strength));
    if (link.step)
        line.number("step", std::to_string(*link.step));
    line.number("elements", std::to_string(link.compared));
    line.number("different_elements", std::to_string(link.different));
    return line.take();
}

std::string rankLine(const RankSummary &rank)
{
    Line line("rank");
    line.text("name", rank.coordinate.toText());
    line.text("class", rank.divergenceClass);
    line.text("status", rank.first ? "different" : "");
    line.text("reason", !rank.first && rank.why.empty() ? "no difference seen" : rank.why);
    line.number("elements", std::to_string(rank.records));
    line.number("different_elements", std::to_string(rank.different));
    if (!rank.first)
        return line.take();
    const RankSummary::First &first = *rank.first;
    if (first.step)
        line.number("step", std::to_string(*first.step));
    std::string record = first.stage + ": " + first.name;
    if (first.microBatch)
        record += ", micro-batch " + std::to_string(*first.microBatch);
    if (first.call > 0)
        record += ", number " + std::to_string(first.call);
    line.text("where", record);
    line.text("first_place_a", first.sourceA);
    line.text("first_place_b", first.sourceB);
    return line.take();
}

std::string metricLine(const MetricComparison &metric)
{
    Line line("metric");
    line.text("name", metric.name);
    line.text("status",
              metric.firstProvenDifference ? "different"
                  : metric.bitsKnown       ? "identical"
                                           : "undecided");
    line.number("elements", std::to_string(metric.commonSteps));
    line.number("different_elements", std::to_string(metric.differentSteps));
    if (metric.firstProvenDifference)
        line.number("step", std::to_string(*metric.firstProvenDifference));
    return line.take();
}

std::string resumeLine(const ResumeFact &fact)
{
    Line line("resume");
    line.text("name", fact.name.empty() ? fact.state : fact.state + ": " + fact.name);
    if (fact.equal)
        line.text("status", *fact.equal ? "identical" : "different");
    line.text("a", fact.a);
    line.text("b", fact.b);
    std::string reason = fact.relation;
    for (const auto &[side, check] : {std::pair{"A", &fact.checkA}, std::pair{"B", &fact.checkB}}) {
        if (!check->reason.empty())
            reason += (reason.empty() ? "" : "; ") + std::string(side) + ": " + check->reason;
    }
    line.text("reason", reason);
    return line.take();
}

std::string findingLine(const Finding &finding)
{
    Line line("finding");
    line.text("name", finding.id);
    line.text("status", toString(finding.certainty));
    line.text("reason", finding.text);
    std::string where;
    for (const std::string &place : finding.where)
        where += (where.empty() ? "" : "; ") + place;
    line.text("where", where);
    return line.take();
}

std::string diagnosticLine(const Diagnostic &diagnostic)
{
    Line line("diagnostic");
    line.text("name", diagnostic.code);
    line.text("status", toString(diagnostic.severity));
    line.text("reason", diagnostic.text);
    std::string where = diagnostic.file;
    if (!diagnostic.place.empty())
        where += (where.empty() ? "" : ": ") + diagnostic.place;
    line.text("where", where);
    return line.take();
}

} // namespace

std::string_view reportCsvHeader()
{
    static const std::string header = headerLine();
    return header;
}

std::string reportCsv(const RunComparison &comparison)
{
    std::string out(reportCsvHeader());
    out += verdictLine(comparison);
    for (const StepMark &mark : comparison.steps)
        out += stepLine(mark);
    for (const ChainLink &link : comparison.chain)
        out += chainLine(link);
    for (const RankSummary &rank : comparison.ranks)
        out += rankLine(rank);
    for (const TensorRow &row : comparison.shown.tensors)
        out += tensorLine(row);
    for (const ValueRow &row : comparison.shown.values)
        out += valueLine(row);
    for (const MetricComparison &metric : comparison.metrics)
        out += metricLine(metric);
    for (const ResumeFact &fact : comparison.shown.resume)
        out += resumeLine(fact);
    for (const Finding &finding : comparison.findings)
        out += findingLine(finding);
    for (const Diagnostic &diagnostic : comparison.diagnostics)
        out += diagnosticLine(diagnostic);
    return out;
}

} // namespace forkpoint
