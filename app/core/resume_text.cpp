// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/resume_text.h"

#include "model/format.h"
#include "model/text/printable.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t WidestColumn = 44;

std::string equalText(const ResumeFact &fact)
{
    std::string text = !fact.equal ? "" : *fact.equal ? "yes" : "NO";
    if (!fact.relation.empty())
        text += (text.empty() ? "" : ", ") + fact.relation;
    return text;
}

std::string checkText(const SelfCheck &check)
{
    if (!check.holds)
        return check.reason;
    return (*check.holds ? "yes, " : "NO, ") + check.reason;
}

std::string checkText(const ResumeFact &fact, bool pair)
{
    const std::string a = checkText(fact.checkA), b = checkText(fact.checkB);
    if (!pair || (a.empty() && b.empty()))
        return a;
    if (a == b)
        return a;
    return (a.empty() ? "" : "A: " + a) + (a.empty() || b.empty() ? "" : "; ")
        + (b.empty() ? "" : "B: " + b);
}

std::vector<std::string> cellsOf(const ResumeFact &fact, bool pair)
{
    const std::string state = fact.name.empty() ? fact.state : fact.state + " " + fact.name;
    std::vector<std::string> cells{state, fact.a};
    if (pair) {
        cells.push_back(fact.b);
        cells.push_back(equalText(fact));
    }
    cells.push_back(checkText(fact, pair));
    for (std::string &cell : cells)
        cell = printable(cell);
    return cells;
}

std::string lineOf(const std::vector<std::string> &cells, const std::vector<std::size_t> &widths)
{
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += " " + cells[i];
        if (i + 1 < cells.size() && cells[i].size() < widths[i])
            line.append(widths[i] - cells[i].size(), ' ');
        line += i + 1 < cells.size() ? " " : "";
    }
    while (line.ends_with(' '))
        line.pop_back();
    return line + "\n";
}

} // namespace

std::string resumeText(const std::vector<ResumeFact> &facts, bool pair, std::size_t most)
{
    if (facts.empty())
        return {};
    std::vector<const ResumeFact *> shown;
    for (const ResumeFact &fact : facts)
        shown.push_back(&fact);
    if (shown.size() > most) {
        std::stable_partition(shown.begin(), shown.end(),
                              [](const ResumeFact *fact) { return fact->isTelling(); });
        shown.resize(most);
    }
    std::vector<std::vector<std::string>> lines;
    lines.push_back(pair ? std::vector<std::string>{"state", "A", "B", "equal?", "consistent?"}
                         : std::vector<std::string>{"state", "is", "consistent?"});
    for (const ResumeFact *fact : shown)
        lines.push_back(cellsOf(*fact, pair));
    std::vector<std::size_t> widths(lines.front().size(), 0);
    for (const auto &cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], std::min(cells[i].size(), WidestColumn));
    }
    std::string text = "to resume:\n";
    for (const auto &cells : lines)
        text += lineOf(cells, widths);
    if (facts.size() > shown.size())
        text += "  ... and " + grouped(facts.size() - shown.size()) + " more; --json lists them\n";
    return text;
}

} // namespace forkpoint
