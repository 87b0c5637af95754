// SPDX-License-Identifier: GPL-3.0-or-later
// The report on paper, from what the command line recorded of the bundled runs.
#include "app/gui/report_print.h"
#include "loaders/results/report_reader.h"
#include "widget_test_main.h"

#include <QBuffer>
#include <QImage>
#include <QPdfWriter>
#include <QProcess>
#include <QTextBlock>
#include <QTextDocument>
#include <QUrl>

#include <set>

using namespace forkpoint;

class TestReportPrint : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void saysWhatTheReportSays();
    void namesStayText();
    void fillsPages();

private:
    ReportDocument m_report;
};

void TestReportPrint::initTestCase()
{
    QProcess process;
    process.setWorkingDirectory(QStringLiteral(FORKPOINT_SAMPLES));
    process.start(QStringLiteral(FORKPOINT_CLI), {"compare", "A", "D", "--full", "--json"});
    QVERIFY(process.waitForFinished(60'000));
    const QByteArray json = process.readAllStandardOutput();
    const auto recorded = readReport(std::string_view(json.constData(), std::size_t(json.size())));
    QVERIFY(recorded.ok());
    m_report = makeReport(recorded->comparison, recorded->options);
}

void TestReportPrint::saysWhatTheReportSays()
{
    QTextDocument document;
    layOutReport(m_report, document);
    const QString text = document.toPlainText();
    QVERIFY(text.contains(QString::fromStdString(m_report.sentence)));
    QVERIFY(text.contains(QString::fromStdString(m_report.divergence)));
    for (const ReportSection &section : m_report.sections)
        QVERIFY2(text.contains(QString::fromStdString(section.title)), section.title.c_str());
    QVERIFY(text.contains("forkpoint-cli compare A D --full"));

    // Numbers break nowhere: with their signs, groups and shares they are read as one.
    int numbers = 0;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (!block.text().endsWith(QLatin1String("%)")))
            continue;
        ++numbers;
        QVERIFY2(block.blockFormat().nonBreakableLines(), qPrintable(block.text()));
    }
    QVERIFY(numbers > 80); // a row each of the 88 tensors that differ, as long as they are counted

    // Every plot is a picture, and none of them is blank: the colours of all marks are there.
    int plots = 0;
    std::set<int> curves; // of these plots: those that show A itself
    for (const ReportSection &section : m_report.sections) {
        for (const ReportBlock &block : section.blocks) {
            plots += std::holds_alternative<StepsPlot>(block) ? 1 : 0;
            if (const auto *metric = std::get_if<MetricPlot>(&block)) {
                curves.insert(plots);
                plots += metric->hasDifference() ? 2 : 1;
            }
            if (const auto *tensor = std::get_if<TensorPlot>(&block))
                plots += tensor->ulp ? 2 : 1;
        }
    }
    QVERIFY(plots >= 6);
    QVERIFY(!curves.empty());
    for (int i = 0; i < plots; ++i) {
        const QUrl name(QStringLiteral("plot:%1").arg(i));
        const auto image = document.resource(QTextDocument::ImageResource, name).value<QImage>();
        QVERIFY2(!image.isNull(), qPrintable(name.toString()));
        const QColor wanted(curves.contains(i) ? "#0072b2" : "#cc79a7");
        int seen = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                seen += image.pixelColor(x, y) == wanted ? 1 : 0;
        }
        QVERIFY2(seen > 100, qPrintable(name.toString()));
    }
}

void TestReportPrint::namesStayText()
{
    RunComparison comparison;
    comparison.pathA = "<img src=\"file:///etc/hostname\"><b>a";
    comparison.pathB = "b\u202e";
    comparison.verdict.sentence = "Not compared: <table>.";
    QTextDocument document;
    layOutReport(makeReport(comparison, {}), document);
    const QString text = document.toPlainText();
    QVERIFY(text.contains("<img src=\"file:///etc/hostname\"><b>a"));
    QVERIFY(text.contains("b\\xe2\\x80\\xae")); // and no mark that turns the text
    QVERIFY(text.contains("Not compared: <table>."));
    QVERIFY(!text.contains(QChar::ObjectReplacementCharacter)); // no picture
}

void TestReportPrint::fillsPages()
{
    QBuffer buffer;
    QVERIFY(buffer.open(QIODevice::WriteOnly));
    {
        QPdfWriter writer(&buffer);
        writer.setPageSize(QPageSize(QPageSize::A4));
        printReport(m_report, writer);
    }
    QVERIFY(buffer.data().startsWith("%PDF-"));
    // 88 tensors in rows, 8 plots and the rest do not fit on two pages, nor need they fifteen.
    const qsizetype pages = buffer.data().count("/Type /Page\n");
    QVERIFY2(pages > 2 && pages < 15, qPrintable(QString::number(pages)));
}

FP_WIDGET_TEST_MAIN(TestReportPrint)
#include "tst_report_print.moc"
