// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_html.h"

#include "model/format.h"
#include "model/report/report_svg.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace forkpoint {

namespace resources {
extern const std::string_view reportStyleSheet;
}

namespace {

std::string_view classOf(ReportTone tone)
{
    switch (tone) {
    case ReportTone::Plain: return "";
    case ReportTone::Equal: return "equal";
    case ReportTone::Different: return "different";
    case ReportTone::Unknown: return "unknown";
    case ReportTone::OneSided: return "onesided";
    }
    return "";
}

/// The sign and the text; the sign alone is coloured.
std::string toned(ReportTone tone, const std::string &markup)
{
    if (tone == ReportTone::Plain)
        return markup;
    return "<span class=\"" + std::string(classOf(tone)) + "\"><span class=\"sign\">"
        + std::string(signOf(tone)) + "</span>&nbsp;" + markup + "</span>";
}

std::string element(std::string_view tag, std::string_view style, const std::string &markup)
{
    std::string open = "<" + std::string(tag);
    if (!style.empty())
        open += " class=\"" + std::string(style) + "\"";
    return open + ">" + markup + "</" + std::string(tag) + ">";
}

std::string percent(double share)
{
    std::array<char, 400> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                   std::clamp(share, 0.0, 1.0) * 100, std::chars_format::fixed, 1);
    return {buffer.data(), end.ptr};
}

/// A long name breaks after its dots and strokes, where people would break it; a number does not.
std::string breakable(const std::string &markup)
{
    const auto isDigit = [&](std::size_t at) {
        return at < markup.size() && markup[at] >= '0' && markup[at] <= '9';
    };
    std::string result;
    for (std::size_t i = 0; i < markup.size(); ++i) {
        result += markup[i];
        const bool point = markup[i] == '.' && !(i > 0 && isDigit(i - 1) && isDigit(i + 1));
        if (point || markup[i] == '/')
            result += "<wbr>";
    }
    return result;
}

/// What is read as one word: "[128, 24]", a number with its sign, a short name.
bool staysWhole(const ReportCell &cell)
{
    constexpr std::size_t Short = 24;
    return cell.text.size() <= Short && (cell.verbatim || cell.text.starts_with('['));
}

std::string cellMarkup(const ReportCell &cell)
{
    const bool whole = staysWhole(cell);
    std::string markup = whole ? markupText(cell.text) : breakable(markupText(cell.text));
    if (!markup.empty() && (cell.verbatim || whole))
        markup = element(cell.verbatim ? "bdi" : "span",
                         !whole              ? "verbatim"
                             : cell.verbatim ? "verbatim whole"
                                             : "whole",
                         markup);
    // "2,304 (99.9 %)" may break before the bracket, not within it.
    if (const std::size_t sign = markup.find(" %"); cell.share && sign != std::string::npos)
        markup.replace(sign, 1, "&nbsp;");
    markup = toned(cell.tone, markup);
    if (cell.share)
        markup +=
            "<span class=\"bar\"><i style=\"width:" + percent(*cell.share) + "%\"></i></span>";
    return markup;
}

class HtmlBlocks
{
public:
    void operator()(const ReportText &block)
    {
        out += element("p", {}, toned(block.tone, markupText(block.text))) + "\n";
    }

    void operator()(const ReportFacts &block)
    {
        out += "<dl>\n";
        for (const auto &[name, cell] : block.facts)
            out += element("dt", {}, nameMarkup(name)) + element("dd", {}, cellMarkup(cell)) + "\n";
        out += "</dl>\n";
    }

    void operator()(const ReportTable &block)
    {
        out += "<table>\n<thead><tr>";
        for (const ReportColumn &column : block.columns)
            out += element("th", column.number ? "number" : "", nameMarkup(column.title));
        out += "</tr></thead>\n<tbody>\n";
        for (const auto &row : block.rows) {
            out += "<tr>";
            for (std::size_t i = 0; i < row.size(); ++i)
                out += element("td", block.columns[i].number ? "number" : "", cellMarkup(row[i]));
            out += "</tr>\n";
        }
        out += "</tbody>\n</table>\n";
        if (block.total > block.rows.size())
            out += element("p", "cut",
                           "The first " + grouped(block.rows.size()) + " of " + grouped(block.total)
                               + " rows; all of them are in the CSV file of the same name beside "
                                 "this report.")
                + "\n";
    }

    void operator()(const ReportCommand &block)
    {
        out += "<pre><code>" + markupText(block.line) + "</code></pre>\n";
    }

    void operator()(const StepsPlot &block)
    {
        out += "<figure>" + svgOf(block)
            + element("figcaption", {},
                      "The steps that were compared"
                          + (block.shown ? "; framed: step " + std::to_string(*block.shown)
                                     + ", of which classes and tensors are listed."
                                         : std::string(".")))
            + "</figure>\n";
    }

    void operator()(const MetricPlot &block)
    {
        out += "<figure>" + element("figcaption", {}, markupText(describe(block)))
            + svgOfCurves(block) + (block.hasDifference() ? svgOf(block) : std::string())
            + "</figure>\n";
    }

    void operator()(const TensorPlot &block)
    {
        out += "<figure>"
            + element("figcaption", {},
                      element("bdi", "verbatim", markupText(block.name)) + ": "
                          + markupText(block.caption) + ".")
            + "<div class=\"pair\">\n" + svgOfMagnitudes(block)
            + (block.ulp ? svgOfUlp(block) : std::string()) + "</div></figure>\n";
    }

    std::string out;

private:
    /// The sides keep their colours, also where they head a column.
    static std::string nameMarkup(const std::string &name)
    {
        if (name == "A" || name == "B")
            return element("span", name == "A" ? "side-a" : "side-b", name);
        return markupText(name);
    }
};

std::string head(const ReportDocument &document)
{
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"generator\" content=\"Forkpoint\">\n<title>"
        + markupText(document.title + ": " + document.outcome) + "</title>\n<style>\n"
        + std::string(reportStyle()) + "</style>\n</head>\n";
}

std::string banner(const ReportDocument &document)
{
    std::string out = "<p class=\"subject\">Forkpoint report: <bdi>" + markupText(document.title)
        + "</bdi></p>\n<header class=\"verdict " + std::string(classOf(document.tone)) + "\">\n<h1>"
        + std::string(signOf(document.tone)) + " " + markupText(document.outcome) + "</h1>\n"
        + element("p", {}, markupText(document.sentence)) + "\n";
    for (const std::string &line : {document.divergence, document.suspect}) {
        if (!line.empty())
            out += element("p", {}, markupText(line)) + "\n";
    }
    out += "<nav>";
    for (const ReportSection &section : document.sections)
        out += "<a href=\"#" + section.id + "\">" + markupText(section.title) + "</a> ";
    return out + "</nav>\n</header>\n";
}

} // namespace

std::string_view reportStyle()
{
    return resources::reportStyleSheet;
}

std::string reportHtml(const ReportDocument &document)
{
    HtmlBlocks blocks;
    blocks.out = head(document) + "<body>\n" + banner(document) + "<main>\n";
    for (const ReportSection &section : document.sections) {
        blocks.out += "<section id=\"" + section.id + "\">\n"
            + element("h2", {}, markupText(section.title)) + "\n";
        for (const ReportBlock &block : section.blocks)
            std::visit(blocks, block);
        blocks.out += "</section>\n";
    }
    return std::move(blocks.out) + "</main>\n</body>\n</html>\n";
}

} // namespace forkpoint
