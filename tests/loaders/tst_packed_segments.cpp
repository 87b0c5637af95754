// SPDX-License-Identifier: GPL-3.0-or-later
// Segments whose records are kept packed, held to a reader that reads every line the general way. The lines
// have the form of those of Megatron-Bridge; what is read again is counted.
#include "loaders/traces/open_trace.h"
#include "loaders/traces/trace_bridge.h"
#include "tests/support/record_text.h"
#include "tests/support/trace_files.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// Says how many bytes were read of it.
class CountedSource final : public ByteSource
{
public:
    explicit CountedSource(std::string text) : m_text(std::move(text)) {}
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_text.size(); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        FP_CHECK(checkRange(m_name, offset, out.size(), size()));
        const ByteView bytes = asBytes(m_text).subspan(std::size_t(offset), out.size());
        std::copy(bytes.begin(), bytes.end(), out.begin());
        bytesRead += out.size();
        return {};
    }
    mutable std::uint64_t bytesRead = 0;

private:
    std::string m_name = "trace", m_text;
};

struct Line
{
    std::uint64_t window = 1, sequence = 0, call = 0;
    std::string digest = "3ff8000000000000";
    std::string scope = "null";
    std::string end = "\n";
};

std::string written(const Line &line)
{
    return R"({"seq_id": )" + std::to_string(line.sequence) + R"(, "window": )"
        + std::to_string(line.window)
        + R"(, "op": "aten.mul.Tensor", "group": "aten", "align_idx": )" + std::to_string(line.call)
        + R"(, "scope": )" + line.scope
        + R"(, "caller": null, "input": [null], "output": [{"shape": [2, 4], "dtype": "torch.float32", "digest": ")"
        + line.digest + R"(", "numel": 8}]})" + line.end;
}

struct Opened
{
    std::shared_ptr<CountedSource> source;
    std::shared_ptr<const Trace> trace;
};

Opened opened(const std::string &text)
{
    const auto source = std::make_shared<CountedSource>(text);
    TraceFiles files;
    files.files.push_back({source, "trace", {}, 0});
    files.dialect = &bridgeDialect();
    return {source, indexTrace(std::move(files), {}).value()};
}

/// Of all segments, as they lie in the file.
QStringList recordsOf(const Opened &opened, bool byForms)
{
    QStringList records;
    const auto &segments = opened.trace->streams().at(0).segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto cursor = opened.trace->open(0, i).value();
        const auto forms = byForms ? dynamic_cast<FormedCursor *>(cursor.get()) : nullptr;
        FoundRecord found;
        while (readNext(*cursor, forms, found).value())
            records += textOf(found.take());
    }
    return records;
}

QStringList generalRecordsOf(const std::string &text)
{
    TraceFile file;
    file.source = sourceOf(text);
    const auto reader = bridgeDialect().open(file, {}).value();
    QStringList records;
    while (const auto record = reader->next().value())
        records += textOf(*record);
    return records;
}

} // namespace

class PackedSegmentsTest : public QObject
{
    Q_OBJECT

private slots:
    void theyAreWhatTheFileSays_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("isKept");
        const auto row = [](const char *name, const std::vector<Line> &lines, bool isKept = true) {
            std::string text(Header);
            // What is learnt of the first two lines serves the others.
            for (const Line &line : {Line{.window = 0}, Line{.window = 0, .sequence = 1}})
                text += written(line);
            for (const Line &line : lines)
                text += written(line);
            QTest::newRow(name) << QString::fromStdString(text) << isKept;
        };
        row("rising", {{.sequence = 0, .call = 1}, {.sequence = 1, .call = 2}});
        row("as the first one", {{}, {.window = 2}, {.window = 3}});
        row("numbers of all sizes",
            {{.sequence = 127, .call = 128},
             {.sequence = 126, .call = 0},
             {.sequence = 999'999'999'999'999'999, .call = 999'999'999'999'999'999},
             {.sequence = 0, .call = 16'384},
             {.window = 999'999'999'999'999'999}});
        row("digests",
            {{.digest = "0000000000000000"},
             {.digest = "ffffffffffffffff"},
             {.digest = "0123456789abcdef"}});
        row("two bytes at the ends of lines", {{.end = "\r\n"}, {.end = "\r\n"}, {}});
        // What follows these is read the general way.
        row("blank lines", {{.end = "\n\n\n"}, {.end = "\n \t\n"}, {}}, false);
        row("lines that are none", {{.end = "\n{\n"}, {.end = "\n" + std::string(Header)}, {}},
            false);
        row("torn", {{}, {.end = ""}});
    }

    void theyAreWhatTheFileSays()
    {
        QFETCH(const QString, text);
        QFETCH(const bool, isKept);
        const std::string bytes = text.toStdString();
        const Opened trace = opened(bytes);
        const std::uint64_t before = trace.source->bytesRead;
        const QStringList general = generalRecordsOf(bytes);
        QVERIFY(general.size() > 2);
        QCOMPARE(recordsOf(trace, true), general);
        const std::uint64_t again = trace.source->bytesRead - before;
        // The first segment, of which the form was learnt, is read again.
        QCOMPARE(again < trace.trace->streams().at(0).segments.at(0).end, isKept);
        QCOMPARE(recordsOf(trace, false), general);
    }

    /// What has no form is read from the file, and the segments around it are not.
    void oneRecordWithoutAForm()
    {
        std::string text(Header);
        std::vector<std::size_t> begins;
        for (std::uint64_t window = 0; window < 6; ++window) {
            begins.push_back(text.size());
            for (std::uint64_t i = 0; i < 3; ++i) {
                const bool isOther = window == 3 && i == 1;
                text += written(Line{.window = window,
                                     .sequence = i,
                                     .call = i,
                                     .scope = isOther ? "\"\xc3\xa4\"" : "null"});
            }
        }
        const Opened trace = opened(text);
        QCOMPARE(trace.trace->streams().at(0).segments.size(), std::size_t(6));
        for (std::size_t i = 0; i < 6; ++i) {
            const std::uint64_t before = trace.source->bytesRead;
            const auto cursor = trace.trace->open(0, i).value();
            while (cursor->next().value())
                ;
            QCOMPARE(trace.source->bytesRead > before, i == 0 || i == 3);
        }
        QCOMPARE(recordsOf(trace, true), generalRecordsOf(text));
    }
};

QTEST_APPLESS_MAIN(PackedSegmentsTest)
#include "tst_packed_segments.moc"
