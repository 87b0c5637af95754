// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/discriminator_table.h"

#include "model/format.h"
#include "model/text/text.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace forkpoint {

namespace {

/// Unlike calls of one family; what comes beyond them is counted.
constexpr std::size_t MostRows = 4096;
/// Axes and values that a sentence names.
constexpr std::size_t MostNamed = 6;

std::string shapeText(const Observation &observation)
{
    if (!observation.shape)
        return "?";
    std::string text;
    for (const std::uint64_t dimension : *observation.shape)
        text += (text.empty() ? "" : "x") + std::to_string(dimension);
    return text;
}

std::string joined(const std::vector<Observation> &observations, const auto &textOf)
{
    std::string text;
    for (const Observation &observation : observations)
        text += (text.empty() ? "" : ",") + textOf(observation);
    return text;
}

/// "acc0" is the axis "acc" with 0; "NN", a layout of a product, has no name of its own.
void addNamePart(std::map<std::string, std::string> &axes, std::string_view part,
                 std::size_t position)
{
    constexpr std::array<std::string_view, 4> Layouts = {"NN", "NT", "TN", "TT"};
    if (std::find(Layouts.begin(), Layouts.end(), part) != Layouts.end()) {
        axes["layout"] = part;
        return;
    }
    std::size_t digits = part.size();
    while (digits > 0 && isDigit(part[digits - 1]))
        --digits;
    const bool isNamed = digits > 0 && digits < part.size();
    axes[isNamed ? std::string(part.substr(0, digits)) : "part " + std::to_string(position)] =
        isNamed ? part.substr(digits) : part;
}

/// The first number among the words of a module's or a record's name: its layer.
std::optional<std::string> layerOf(std::string_view words)
{
    std::size_t begin = 0;
    while (begin < words.size()) {
        const std::size_t end = std::min(words.find_first_of("./", begin), words.size());
        const std::string_view word = words.substr(begin, end - begin);
        if (!word.empty() && std::all_of(word.begin(), word.end(), isDigit))
            return std::string(word);
        begin = end + 1;
    }
    return std::nullopt;
}

std::string cellText(const DiscriminatorTable::Cell &cell)
{
    return grouped(cell.divergent) + " of " + grouped(cell.divergent + cell.clean) + " diverge";
}

std::string valuesText(const DiscriminatorTable::Axis &axis)
{
    std::string text;
    std::size_t named = 0;
    for (const auto &[value, cell] : axis.values) {
        if (++named > MostNamed)
            return text + ", ...";
        text += (text.empty() ? "" : ", ") + value + ": " + cellText(cell);
    }
    return text;
}

bool splitsPerfectly(const DiscriminatorTable::Axis &axis)
{
    bool anyClean = false, anyDivergent = false;
    for (const auto &[value, cell] : axis.values) {
        if ((cell.clean > 0 && cell.divergent > 0) || cell.unclassified > 0)
            return false;
        anyClean |= cell.clean > 0;
        anyDivergent |= cell.divergent > 0;
    }
    return anyClean && anyDivergent;
}

void addCell(DiscriminatorTable::Cell &into, const DiscriminatorTable::Cell &cell)
{
    into.clean += cell.clean;
    into.divergent += cell.divergent;
    into.unclassified += cell.unclassified;
}

} // namespace

std::string callFamily(std::string_view name)
{
    if (name.starts_with("aten."))
        return std::string(name.substr(0, name.find('.', 5)));
    const std::size_t begin = name.starts_with("aten::") ? 6 : 0;
    return std::string(name.substr(0, name.find_first_of(":.", begin)));
}

std::map<std::string, std::string> callAxes(const TraceRecord &record,
                                            std::optional<std::int64_t> rank)
{
    std::map<std::string, std::string> axes;
    const std::string family = callFamily(record.name);
    std::string_view rest = std::string_view(record.name).substr(family.size());
    for (std::size_t position = 1; !rest.empty(); ++position) {
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find_first_of(":."), rest.size());
        addNamePart(axes, rest.substr(0, end), position);
        rest.remove_prefix(end);
    }
    const auto dtype = [](const Observation &observation) { return observation.dtype; };
    axes["in dtype"] = joined(record.inputs, dtype);
    axes["out dtype"] = joined(record.outputs, dtype);
    axes["in shape"] = joined(record.inputs, shapeText);
    axes["stage"] = record.stage;
    if (const auto layer = layerOf(record.scope.empty() ? record.name : record.scope))
        axes["layer"] = *layer;
    if (rank)
        axes["rank"] = std::to_string(*rank);
    return axes;
}

void DiscriminatorTable::see(const TraceRecord &a, const TraceRecord &b,
                             std::optional<std::int64_t> rank)
{
    if (callFamily(a.name) != m_family)
        return;
    const RecordEvidence evidence = compareRecords(a, b);
    const Classification found = classify(a, evidence.inputs, evidence.outputs);
    Row row = callAxes(a, rank);
    const bool isOver = m_rows.size() >= MostRows && !m_rows.contains(row);
    if (evidence.inputs.evidence == Evidence::Different || isOver) {
        ++m_leftOut;
        return;
    }
    Cell &cell = m_rows[std::move(row)];
    // What classify() finds at a difference holds of the inputs alone.
    const bool isKnown = found.divergenceClass == DivergenceClass::Origin;
    if (isKnown && evidence.outputs.evidence == Evidence::Different)
        ++cell.divergent;
    else if (isKnown && evidence.outputs.evidence == Evidence::Equal)
        ++cell.clean;
    else
        ++cell.unclassified;
}

/// Two divergent calls that differ in this axis alone.
bool DiscriminatorTable::isRuledOut(const std::string &axis) const
{
    std::map<Row, std::string> seen; // the other axes -> one value of this one
    for (const auto &[row, cell] : m_rows) {
        const auto own = row.find(axis);
        if (cell.divergent == 0 || own == row.end())
            continue;
        Row others = row;
        others.erase(axis);
        const auto [place, isNew] = seen.emplace(std::move(others), own->second);
        if (!isNew && place->second != own->second)
            return true;
    }
    return false;
}

std::vector<DiscriminatorTable::Axis> DiscriminatorTable::axes() const
{
    std::map<std::string, std::map<std::string, Cell>> table;
    for (const auto &[row, cell] : m_rows) {
        for (const auto &[axis, value] : row)
            addCell(table[axis][value], cell);
    }
    std::vector<Axis> axes;
    for (auto &[name, values] : table) {
        if (values.size() < 2)
            continue;
        Axis axis{name, Role::Undecided, std::move(values)};
        if (isRuledOut(name))
            axis.role = Role::RuledOut;
        else if (splitsPerfectly(axis))
            axis.role = Role::Discriminator;
        axes.push_back(std::move(axis));
    }
    return axes;
}

DiscriminatorTable::Cross DiscriminatorTable::cross(const std::string &across,
                                                    const std::string &down) const
{
    Cross result{across, down, {}};
    for (const auto &[row, cell] : m_rows) {
        const auto x = row.find(across), y = row.find(down);
        if (x != row.end() && y != row.end())
            addCell(result.cells[{x->second, y->second}], cell);
    }
    return result;
}

/// The axes that split, and how the first of them stands against another that could explain it.
Finding DiscriminatorTable::summary(const std::vector<Axis> &axes) const
{
    Finding finding{"discriminator", Certainty::ConsistentWith, Severity::Note, {}, {}};
    std::vector<const Axis *> splitting;
    for (const Axis &axis : axes) {
        if (axis.role == Role::Discriminator)
            splitting.push_back(&axis);
    }
    if (splitting.empty()) {
        finding.text = "calls of " + m_family
            + " with equal inputs: no property of the call splits those that differ from the rest";
        return finding;
    }
    finding.text = "calls of " + m_family + " with equal inputs differ by ";
    for (std::size_t i = 0; i < std::min(splitting.size(), MostNamed); ++i) {
        finding.text +=
            (i > 0 ? "; or by " : "") + splitting[i]->name + " (" + valuesText(*splitting[i]) + ")";
        finding.where.push_back(splitting[i]->name);
    }
    if (splitting.size() < 2)
        return finding;
    const Cross both = cross(splitting[0]->name, splitting[1]->name);
    finding.text += "; crossed:";
    for (const auto &[values, cell] : both.cells)
        finding.text += " " + values.first + " with " + values.second + " " + cellText(cell) + ",";
    finding.text.back() = ';';
    finding.text += " a call with another combination of the two tells which of them it is";
    return finding;
}

std::vector<Finding> DiscriminatorTable::findings() const
{
    Cell all;
    for (const auto &[row, cell] : m_rows)
        addCell(all, cell);
    if (all.divergent == 0 || all.divergent + all.clean < 2)
        return {};
    const std::vector<Axis> found = axes();
    std::vector<Finding> findings = {summary(found)};
    findings.front().text += " (" + grouped(all.clean) + " clean, " + grouped(all.divergent)
        + " divergent, " + grouped(all.unclassified) + " unclassified; "
        + counted(m_leftOut, "call is", "calls are") + " left out, their inputs differ)";
    Finding ruledOut{"ruled-out-axis", Certainty::ConsistentWith, Severity::Note, {}, {}};
    for (const Axis &axis : found) {
        if (axis.role == Role::RuledOut)
            ruledOut.where.push_back(axis.name);
    }
    if (ruledOut.where.empty())
        return findings;
    ruledOut.text = "ruled out, since calls of " + m_family
        + " that differ in it alone both diverge: " + listed(ruledOut.where);
    findings.push_back(std::move(ruledOut));
    return findings;
}

} // namespace forkpoint
