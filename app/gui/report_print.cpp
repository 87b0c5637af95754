// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_print.h"

#include "model/format.h"
#include "model/report/report_html.h"
#include "model/report/report_svg.h"

#include <QHash>
#include <QImage>
#include <QPagedPaintDevice>
#include <QPainter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>

namespace forkpoint {

namespace {

constexpr int PlotPixels = 3;  ///< of a picture, per pixel of the plot: fine enough for paper
constexpr int PageWidth = 620; ///< between the margins of A4
constexpr int NameWidth = 118, NoteWidth = 104; ///< of it, in a wide table

QString qs(const std::string &text)
{
    return QString::fromStdString(text);
}

/// The rules of the page that speak of plots, with the colours of paper in place of their names.
QString plotStyle()
{
    const QString style = QString::fromUtf8(reportStyle().data(), qsizetype(reportStyle().size()));
    QString rules;
    for (const QString &line : style.split(u'\n')) {
        if (line.startsWith(QLatin1String("svg ")) && line[4] != u'{')
            rules += line.mid(4).replace(QLatin1String(", svg "), QLatin1String(", ")) + u'\n';
    }
    // The first definition of a name is that of the light page.
    static const QRegularExpression definition(QStringLiteral("(--[a-z-]+): (#[0-9a-f]{6})"));
    QHash<QString, QString> colours;
    for (auto match = definition.globalMatch(style); match.hasNext();) {
        const QRegularExpressionMatch found = match.next();
        if (!colours.contains(found.captured(1)))
            colours.insert(found.captured(1), found.captured(2));
    }
    for (auto colour = colours.cbegin(); colour != colours.cend(); ++colour)
        rules.replace(QLatin1String("var(") + colour.key() + u')', colour.value());
    return rules;
}

class PaperBlocks
{
public:
    explicit PaperBlocks(QTextDocument &document) : m_document(document) {}

    void operator()(const ReportText &block)
    {
        html += QLatin1String("<p>") + toned(block.tone, block.text) + QLatin1String("</p>");
    }

    void operator()(const ReportFacts &block)
    {
        html += QLatin1String("<table cellspacing=\"0\" cellpadding=\"2\">");
        for (const auto &[name, cell] : block.facts)
            html += QLatin1String("<tr><td>") + escaped(name)
                + QLatin1String("&nbsp;&nbsp;</td><td>") + cellText(cell)
                + QLatin1String("</td></tr>");
        html += QLatin1String("</table>");
    }

    void operator()(const ReportTable &block)
    {
        html +=
            QLatin1String("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\"><thead><tr>");
        // Names and notes at the ends of a wide table get what its numbers do not need.
        const std::size_t last = std::max<std::size_t>(block.columns.size(), 1) - 1;
        for (std::size_t i = 0; i < block.columns.size(); ++i) {
            const ReportColumn &column = block.columns[i];
            const bool isText = last > 6 && !column.number;
            const int width = !isText ? 0 : i == 0 ? NameWidth : i == last ? NoteWidth : 0;
            html += opened("th", column.number, false, width) + escaped(column.title)
                + gapBehind(block, i) + QLatin1String("</th>");
        }
        html += QLatin1String("</tr></thead>");
        for (const auto &row : block.rows) {
            html += QLatin1String("<tr>");
            for (std::size_t i = 0; i < row.size(); ++i) {
                const bool number = block.columns[i].number;
                html += opened("td", number, number || isShort(row[i])) + cellText(row[i])
                    + gapBehind(block, i) + QLatin1String("</td>");
            }
            html += QLatin1String("</tr>");
        }
        html += QLatin1String("</table>");
        if (block.total > block.rows.size())
            html += QLatin1String("<p><b>")
                + escaped("The first " + grouped(block.rows.size()) + " of " + grouped(block.total)
                          + " rows; all of them are in an exported .csv report.")
                + QLatin1String("</b></p>");
    }

    void operator()(const ReportCommand &block)
    {
        html += QLatin1String("<p><code>") + escaped(block.line) + QLatin1String("</code></p>");
    }

    void operator()(const StepsPlot &block) { html += picture(svgOf(block), PageWidth); }
    void operator()(const MetricPlot &block)
    {
        const std::string curves = svgOfCurves(block);
        html += QLatin1String("<p>") + escaped(describe(block)) + QLatin1String("</p>");
        if (!curves.empty())
            html += picture(curves, PageWidth);
        if (block.hasDifference())
            html += picture(svgOf(block), PageWidth);
    }
    void operator()(const TensorPlot &block)
    {
        html += QLatin1String("<p>") + escaped(describe(block))
            + QLatin1String("</p><table><tr><td>") + picture(svgOfMagnitudes(block), PageWidth / 2)
            + QLatin1String("</td><td>")
            + (block.ulp ? picture(svgOfUlp(block), PageWidth / 2) : QString())
            + QLatin1String("</td></tr></table>");
    }

    QString html;

private:
    /// A number at its right edge would touch the text of the next column.
    static QString gapBehind(const ReportTable &table, std::size_t column)
    {
        const bool meetsText = table.columns[column].number && column + 1 < table.columns.size()
            && !table.columns[column + 1].number;
        return meetsText ? QStringLiteral("&nbsp;&nbsp;&nbsp;") : QString();
    }

    /// A cell with a line below it.
    static QString opened(const char *tag, bool right, bool whole, int width = 0)
    {
        return QStringLiteral("<%1 align=\"%2\" width=\"%3\" style=\"font-size: 7pt; "
                              "border-bottom: 1px solid #d5d8dc%4\">")
            .arg(QLatin1String(tag), right ? QLatin1String("right") : QLatin1String("left"),
                 width > 0 ? QString::number(width) : QString(),
                 whole ? QLatin1String("; white-space: nowrap") : QLatin1String(""));
    }

    /// A shape, a number, a word: it breaks nowhere.
    static bool isShort(const ReportCell &cell) { return cell.text.size() <= 12; }

    static QString escaped(std::string_view text) { return qs(markupText(text)); }

    static QString toned(ReportTone tone, const std::string &text)
    {
        const QString sign = qs(std::string(signOf(tone)));
        return sign.isEmpty()
            ? escaped(text)
            : QLatin1String("<b>") + sign + QLatin1String("</b> ") + escaped(text);
    }

    static QString cellText(const ReportCell &cell)
    {
        // A place to break after each dot, so that a long name does not push the table off the page;
        // a number stays whole.
        static const QRegularExpression dot(QStringLiteral("\\.(?!(?<=[0-9]\\.)[0-9])"));
        QString text = escaped(cell.text);
        if (!isShort(cell))
            text.replace(dot, QStringLiteral(".\u200b"));
        const QString sign = qs(std::string(signOf(cell.tone)));
        return sign.isEmpty() ? text : QLatin1String("<b>") + sign + QLatin1String("</b> ") + text;
    }

    QString picture(const std::string &svg, int width)
    {
        static const QString style = plotStyle();
        QString text = qs(svg);
        text.replace(QLatin1String("<svg "),
                     QLatin1String("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
        text.insert(text.indexOf(u'>') + 1,
                    QLatin1String("<style type=\"text/css\">") + style + QLatin1String("</style>"));
        QSvgRenderer renderer(text.toUtf8());
        const QSize size = renderer.defaultSize();
        QImage image(size * PlotPixels, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        renderer.render(&painter);
        painter.end();
        const QString name = QStringLiteral("plot:%1").arg(m_plots++);
        m_document.addResource(QTextDocument::ImageResource, QUrl(name), image);
        return QStringLiteral("<img src=\"%1\" width=\"%2\" height=\"%3\">")
            .arg(name)
            .arg(width)
            .arg(width * size.height() / size.width());
    }

    QTextDocument &m_document;
    int m_plots = 0;
};

} // namespace

void layOutReport(const ReportDocument &report, QTextDocument &document)
{
    document.setDefaultFont(QFont(QStringLiteral("sans-serif"), 8));
    PaperBlocks blocks(document);
    const auto line = [&](const char *tag, const std::string &text) {
        if (!text.empty())
            blocks.html +=
                QStringLiteral("<%1>%2</%1>").arg(QLatin1String(tag), qs(markupText(text)));
    };
    line("p", "Forkpoint report: " + report.title);
    line("h1", std::string(signOf(report.tone)) + " " + report.outcome);
    line("p", report.sentence);
    line("p", report.divergence);
    line("p", report.suspect);
    for (const ReportSection &section : report.sections) {
        line("h2", section.title);
        for (const ReportBlock &block : section.blocks)
            std::visit(blocks, block);
    }
    document.setHtml(blocks.html);
}

void printReport(const ReportDocument &report, QPagedPaintDevice &device)
{
    QTextDocument document;
    layOutReport(report, document);
    document.print(&device);
}

} // namespace forkpoint
