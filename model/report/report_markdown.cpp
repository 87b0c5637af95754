// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_markdown.h"

#include "model/format.h"
#include "model/text/printable.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Prose: every character that means something to Markdown, or to what GitHub makes of text, loses
/// its meaning.
std::string prose(std::string_view text)
{
    static constexpr std::string_view Special = "\\`*_[]<>&|#!~@$";
    std::string result;
    const std::string shown = printable(text);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::string_view rest = std::string_view(shown).substr(i);
        const bool link = rest.starts_with("://")
            || (rest.starts_with('.') && i >= 3 && (shown[i - 1] == 'w' || shown[i - 1] == 'W'));
        const bool begins = i == 0 && std::string_view("-+=").find(shown[i]) != std::string::npos;
        if (Special.find(shown[i]) != std::string_view::npos || link || begins)
            result += '\\';
        result += shown[i];
    }
    return result;
}

/// A span of code with a fence that the text does not have; in a table the bar is escaped too.
std::string code(std::string_view text, bool inTable)
{
    const std::string shown = printable(text);
    if (shown.empty())
        return {};
    std::size_t longest = 0, run = 0;
    for (const char c : shown) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    const bool pad = shown.starts_with('`') || shown.ends_with('`') || shown.starts_with(' ');
    std::string inner;
    for (const char c : shown)
        inner += inTable && c == '|' ? std::string("\\|") : std::string(1, c);
    return fence + (pad ? " " : "") + inner + (pad ? " " : "") + fence;
}

std::string withSign(ReportTone tone, const std::string &markup)
{
    return tone == ReportTone::Plain ? markup : std::string(signOf(tone)) + " " + markup;
}

std::string cellMarkup(const ReportCell &cell, bool inTable)
{
    return withSign(cell.tone, cell.verbatim ? code(cell.text, inTable) : prose(cell.text));
}

class MarkdownBlocks
{
public:
    void operator()(const ReportText &block)
    {
        out += withSign(block.tone, prose(block.text)) + "\n\n";
    }

    void operator()(const ReportFacts &block)
    {
        for (const auto &[name, cell] : block.facts)
            out += "- " + prose(name) + ": " + cellMarkup(cell, false) + "\n";
        out += "\n";
    }

    void operator()(const ReportTable &block)
    {
        std::string rule = "|";
        out += "|";
        for (const ReportColumn &column : block.columns) {
            out += " " + prose(column.title) + " |";
            rule += column.number ? " ---: |" : " --- |";
        }
        out += "\n" + rule + "\n";
        for (const auto &row : block.rows) {
            out += "|";
            for (const ReportCell &cell : row)
                out += " " + cellMarkup(cell, true) + " |";
            out += "\n";
        }
        out += "\n";
        if (block.total > block.rows.size())
            out += "**The first " + grouped(block.rows.size()) + " of " + grouped(block.total)
                + " rows; all of them are in the CSV file of the same name beside this "
                  "report.**\n\n";
    }

    void operator()(const ReportCommand &block) { out += code(block.line, false) + "\n\n"; }
    void operator()(const StepsPlot &block) { out += prose(describe(block)) + "\n\n"; }
    void operator()(const MetricPlot &block) { out += prose(describe(block)) + "\n\n"; }
    void operator()(const TensorPlot &block) { out += "- " + prose(describe(block)) + "\n\n"; }

    std::string out;
};

} // namespace

std::string reportMarkdown(const ReportDocument &document)
{
    MarkdownBlocks blocks;
    blocks.out = "# " + std::string(signOf(document.tone)) + " " + prose(document.title) + ": "
        + prose(document.outcome) + "\n\n**" + prose(document.sentence) + "**\n\n";
    for (const std::string &line : {document.divergence, document.suspect}) {
        if (!line.empty())
            blocks.out += prose(line) + "\n\n";
    }
    for (const ReportSection &section : document.sections) {
        blocks.out += "## " + prose(section.title) + "\n\n";
        for (const ReportBlock &block : section.blocks)
            std::visit(blocks, block);
    }
    return std::move(blocks.out);
}

} // namespace forkpoint
