// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that are read by the form of an earlier one, held to the general way of the same reader: whatever
// byte of a line is another one, both make the same records, and say the same of the file. The lines are by
// the real writers (tests/data/traces/make_traces.py).
#include "tests/support/record_text.h"
#include "tests/support/trace_files.h"

#include "loaders/traces/trace_dialect.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// All that a reader made of a file.
struct Reading
{
    QStringList records, said;
    int formed = 0;
    bool operator==(const Reading &other) const
    {
        return records == other.records && said == other.said;
    }
};

/// `pool`: nullptr for the general way.
Reading readingOf(const TraceDialect &dialect, std::string_view text,
                  const std::shared_ptr<LineFormPool> &pool)
{
    TraceFile file;
    file.source = sourceOf(text);
    file.name = "file";
    file.forms = pool;
    const auto reader = dialect.open(file, {}).value();
    Reading reading;
    FoundRecord found;
    const auto forms = pool ? dynamic_cast<FormedCursor *>(reader.get()) : nullptr;
    while (readNext(*reader, forms, found).value()) {
        reading.formed += found.formed.form ? 1 : 0;
        reading.records += textOf(found.take());
    }
    for (const Diagnostic &each : reader->takeDiagnostics())
        reading.said += QString::fromStdString(std::string(toString(each.severity)) + each.code
                                               + each.place + each.text);
    for (const TraceFact &fact : reader->facts())
        reading.said += QString::fromStdString(fact.name + "=" + fact.value);
    reading.said += QString::fromStdString(reader->coordinate().toText());
    return reading;
}

const TraceDialect &dialectCalled(std::string_view name)
{
    const auto &all = allTraceDialects();
    return **std::find_if(all.begin(), all.end(),
                          [&](const TraceDialect *dialect) { return dialect->name() == name; });
}

std::vector<std::string> linesOf(const QString &name)
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/traces/") + name);
    std::vector<std::string> lines;
    if (file.open(QIODevice::ReadOnly)) {
        for (const QByteArray &line : file.readAll().split('\n')) {
            if (!line.isEmpty())
                lines.push_back(line.toStdString());
        }
    }
    return lines;
}

/// A line with that byte taken away, and with others in its place or before it.
std::vector<std::string> bent(const std::string &line, std::size_t at)
{
    std::vector<std::string> all{line.substr(0, at) + line.substr(at + 1)};
    for (const char byte : std::string_view("0a9AG\",}- .e\\\x80"))
        all.push_back(line.substr(0, at) + byte + line.substr(at + 1));
    for (const char byte : std::string_view("01 -\""))
        all.push_back(line.substr(0, at) + byte + line.substr(at));
    return all;
}

} // namespace

class LineFormsTest : public QObject
{
    Q_OBJECT

private slots:
    void everyByte_data()
    {
        QTest::addColumn<QString>("dialect");
        QTest::addColumn<QString>("file");
        QTest::newRow("bridge") << "megatron-bridge"
                                << "bridge/A/stream_pp0_tp0_cp0_dp0.fp";
        QTest::newRow("sketch") << "megatron-sketch"
                                << "sketch/A/rank00000_iter000001.jsonl";
        QTest::newRow("rank trace") << "megatron-rank-trace"
                                    << "pr6610/A/rank_000000.jsonl";
        QTest::newRow("typed") << "megatron-typed"
                               << "typed/A/iter_0000001/rank_00000.jsonl";
    }

    /// A line, itself, itself bent, and itself again: what the second and the last are read by.
    void everyByte()
    {
        QFETCH(const QString, dialect);
        QFETCH(const QString, file);
        const TraceDialect &reader = dialectCalled(dialect.toStdString());
        const auto pool = std::make_shared<LineFormPool>();
        const std::vector<std::string> lines = linesOf(file);
        QVERIFY(lines.size() > 4);
        int formed = 0;
        for (const std::size_t i : {std::size_t(1), lines.size() / 2, lines.size() * 2 / 3}) {
            for (std::size_t at = 0; at < lines[i].size(); ++at) {
                for (const std::string &other : bent(lines[i], at)) {
                    std::string text = lines[0];
                    for (const std::string &line : {lines[i], lines[i], other, lines[i]})
                        text += "\n" + line;
                    text += "\n";
                    const Reading one = readingOf(reader, text, pool);
                    const Reading general = readingOf(reader, text, nullptr);
                    if (!(one == general))
                        QFAIL((other + "\n").c_str());
                    formed += one.formed;
                }
            }
        }
        QVERIFY(formed > 0);
    }

    /// What a file says of itself is said of each file, though the forms are those of an earlier one.
    void factsOfEachFile()
    {
        const TraceDialect &typed = dialectCalled("megatron-typed");
        const auto pool = std::make_shared<LineFormPool>();
        std::string text;
        for (const std::string &line : linesOf("typed/A/iter_0000001/rank_00000.jsonl"))
            text += line + "\n";
        const Reading first = readingOf(typed, text, pool);
        const Reading second = readingOf(typed, text, pool);
        QCOMPARE(second.said, first.said);
        QCOMPARE(second.records, first.records);
        QCOMPARE(second.formed, int(second.records.size()));
    }

    /// A rank is another one's although every byte around it is known.
    void anotherRank()
    {
        const TraceDialect &typed = dialectCalled("megatron-typed");
        const auto pool = std::make_shared<LineFormPool>();
        std::string zero, one, mixed;
        for (const std::string &line : linesOf("typed/A/iter_0000001/rank_00000.jsonl"))
            zero += line + "\n";
        for (const std::string &line : linesOf("typed/A/iter_0000001/rank_00001.jsonl"))
            one += line + "\n";
        mixed = zero + one;
        (void)readingOf(typed, one, pool);
        (void)readingOf(typed, zero, pool);
        const Reading found = readingOf(typed, mixed, pool);
        QVERIFY(found == readingOf(typed, mixed, nullptr));
        QVERIFY(found.formed > 0);
        QVERIFY(found.said.join(u' ').contains(QStringLiteral("mixed-ranks")));
    }
};

QTEST_APPLESS_MAIN(LineFormsTest)
#include "tst_line_forms.moc"
