// SPDX-License-Identifier: GPL-3.0-or-later
// Mapping sheets: what their rules make of lines, what is wrong with a sheet, what is not understood.
#include "loaders/open_run.h"
#include "loaders/traces/mapping_sheet.h"
#include "loaders/traces/trace_mapping.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/trace_records.h"

#include <QtTest>

#include <fstream>

using namespace forkpoint;
using forkpoint::test::allRecordsOf;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view JsonSheet = R"(# a comment
mapping 1
name    our-hashes
key     step         it
key     rank         meta.rank
key     micro_batch  mb
key     stage        phase
key     name         tensor
key     call         n
key     digest       hash
key     shape        shape
key     dtype        dtype
set     digest_kind  sha256
)";

constexpr std::string_view TextSheet = R"(mapping 1
files  *.log
path   rank(?P<rank>\d+)
skip   ^(INFO|DEBUG)
line   ^step (?P<step>\d+) (?P<stage>\w+) (?P<name>\S+) (?P<dtype>\w+)(?P<shape>\[[^\]]*\]) (?P<digest_kind>[\w-]+):(?P<digest>\w+)$
line   ^step (?P<step>\d+) (?P<name>\w+) = (?P<value>\S+)$
)";

std::shared_ptr<const MappingSheet> sheetOf(std::string_view text)
{
    const auto sheet = MappingSheet::parse(text, "x.map");
    return sheet.ok() ? *sheet : nullptr;
}

std::string errorOf(std::string_view text)
{
    const auto sheet = MappingSheet::parse(text, "x.map");
    return sheet.ok() ? std::string() : sheet.error().message();
}

class Folder
{
public:
    fs::path path(const std::string &name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }
    fs::path write(const std::string &name, std::string_view text) const
    {
        fs::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

private:
    QTemporaryDir m_folder;
};

std::shared_ptr<const Trace> opened(const fs::path &path, std::string_view sheet)
{
    OpenOptions options;
    options.mapping = sheetOf(sheet);
    const auto run = openRun(path, options, {});
    return run.ok() ? (*run)->trace() : nullptr;
}

bool says(const Trace &trace, std::string_view code, std::string_view part)
{
    return std::any_of(
        trace.diagnostics().begin(), trace.diagnostics().end(), [&](const Diagnostic &diagnostic) {
            return diagnostic.code == code && diagnostic.text.find(part) != std::string::npos;
        });
}

std::string jsonLine(int step, const char *name, char digit)
{
    return R"({"it": )" + std::to_string(step)
        + R"(, "meta": {"rank": 3}, "mb": 1, "phase": "bwd", "tensor": ")" + name
        + R"(", "n": 2, "hash": ")" + std::string(64, digit)
        + R"(", "shape": [2, 4], "dtype": "torch.float32"})" + "\n";
}

} // namespace

class MappingTest : public QObject
{
    Q_OBJECT

private slots:
    /// A file may have been compressed after the sheet was written.
    void namesOfCompressedFiles()
    {
        const auto sheet = sheetOf(TextSheet);
        QVERIFY(sheet && sheet->choosesFiles());
        QVERIFY(sheet->choosesFile("a/run.log") && sheet->choosesFile("a/run.log.gz"));
        QVERIFY(!sheet->choosesFile("run.txt.gz") && !sheet->choosesFile("run.log.xz"));
        QVERIFY(!sheet->choosesFile(".gz"));
    }

    void jsonKeys()
    {
        const Folder folder;
        const auto trace = opened(folder.write("t.jsonl", jsonLine(7, "w", 'a')), JsonSheet);
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->dialect(), std::string("mapping our-hashes"));
        QVERIFY(trace->streams()[0].coordinate.rank == 3);
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(1));
        QVERIFY(records[0].iteration == 7 && records[0].microBatch == 1);
        QCOMPARE(records[0].stage, std::string("backward"));
        QCOMPARE(records[0].name, std::string("w"));
        QVERIFY(records[0].callIsStated && records[0].call == 2);
        const Observation &tensor = records[0].outputs.at(0);
        QVERIFY(tensor.kind == DigestKind::Sha256);
        QCOMPARE(tensor.digest, std::string(64, 'a'));
        QCOMPARE(tensor.dtype, std::string("float32"));
        QVERIFY((tensor.shape == std::vector<std::uint64_t>{2, 4}));
    }

    void linesByExpressions()
    {
        if (!whyNoPatterns().empty())
            QSKIP("without RE2");
        const Folder folder;
        folder.write("rank4/run.log",
                     "INFO begins\nstep 1 fwd l.0 bf16[2x4] xor-64:0x00000000000000Ff\r\n"
                     "step 1 loss = 2.5\n");
        folder.write("rank5/run.log", "step 1 loss = nan\n");
        folder.write("rank5/run.txt", "step 1 loss = 3\n");
        const auto trace = opened(folder.path(""), TextSheet);
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QVERIFY(trace->streams()[1].coordinate.rank == 5);
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(3));
        QVERIFY(records[0].outputs[0].kind == DigestKind::XorLanes);
        QCOMPARE(records[0].outputs[0].digest, std::string("00000000000000ff"));
        QCOMPARE(records[0].place.line, std::uint64_t(2));
        QVERIFY(records[1].outputs[0].kind == DigestKind::Printed);
        QVERIFY(strengthOf(records[1].outputs[0].kind) == Strength::Printed); // and no norm
        QCOMPARE(records[1].outputs[0].digest, std::string("2.5"));
        QCOMPARE(records[2].outputs[0].digest, std::string("nan"));
    }

    void firstThatDiffers()
    {
        const Folder folder;
        const auto a = folder.write("a", jsonLine(7, "w", 'a') + jsonLine(8, "w", 'a'));
        const auto b = folder.write("b", jsonLine(7, "w", 'a') + jsonLine(8, "w", 'b'));
        TraceComparer comparer(opened(a, JsonSheet), opened(b, JsonSheet), {});
        while (comparer.advance({}))
            ;
        const auto first = firstDivergenceIn(comparer.result());
        QVERIFY(first && first->step == 8 && first->rank == 3);
        QCOMPARE(first->name, std::string("w"));
        TraceComparer same(opened(a, JsonSheet), opened(a, JsonSheet), {});
        while (same.advance({}))
            ;
        QVERIFY(decide(same.result().facts).outcome == Outcome::Identical);
    }

    void linesThatAreNotUnderstood()
    {
        const Folder folder;
        std::string text = jsonLine(7, "w", 'a') + "{\"other\": 1}\nnot json\n[1]\n";
        text += jsonLine(7, "v", 'x');
        text += R"({"it": "seven", "tensor": "u"})"
                "\n";
        text += jsonLine(7, "z", 'c').substr(0, 40);
        const auto trace = opened(folder.write("t", text), JsonSheet);
        QVERIFY(trace && !trace->complete());
        QCOMPARE(allRecordsOf(*trace).size(), std::size_t(1));
        QVERIFY(says(*trace, "bad-line", "has none of the keys of the sheet"));
        QVERIFY(says(*trace, "bad-line", "expected an object, got a list"));
        QVERIFY(says(*trace, "bad-line", "digest: expected 64 hexadecimal digits for sha256"));
        QVERIFY(says(*trace, "bad-line", "step: expected an integer, got 'seven'"));
        QVERIFY(says(*trace, "torn-line", "torn"));
        QVERIFY(says(*trace, "not-understood", "6 lines of 7"));
    }

    /// Lines of two ranks in turn: each rank keeps its own order.
    void mixedRanks()
    {
        const Folder folder;
        const auto ofRank = [](int rank, const char *name) {
            std::string line = jsonLine(7, name, 'a');
            return line.replace(line.find("\"rank\": 3"), 9, "\"rank\": " + std::to_string(rank));
        };
        const auto trace = opened(folder.write("t",
                                               ofRank(4, "u") + ofRank(3, "v") + ofRank(4, "w")
                                                   + ofRank(4, "x") + ofRank(3, "y")),
                                  JsonSheet);
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QVERIFY(trace->streams()[0].coordinate.rank == 3
                && trace->streams()[1].coordinate.rank == 4);
        QCOMPARE(trace->streams()[1].segments.size(), std::size_t(2));
        std::string names;
        for (const TraceRecord &record : allRecordsOf(*trace))
            names += record.name;
        QCOMPARE(names, std::string("vyuwx"));
    }

    void fieldsOfEveryForm()
    {
        const auto fill = [](MappingField field, const char *text, TraceRecord &record) {
            MappedTexts texts;
            texts[MappingField::Name] = "n";
            texts[MappingField::Digest] = "00ff00ff";
            texts[MappingField::Kind] = "crc32";
            texts[field] = text;
            std::optional<std::int64_t> rank;
            return fillRecord(texts, record, rank);
        };
        for (const char *shape : {"[2, 4]", "(2, 4)", "2x4", "torch.Size([2, 4])", "2,4"}) {
            TraceRecord record;
            QCOMPARE(fill(MappingField::Shape, shape, record), std::string());
            QVERIFY((record.outputs[0].shape == std::vector<std::uint64_t>{2, 4}));
        }
        TraceRecord scalar;
        QCOMPARE(fill(MappingField::Shape, "[]", scalar), std::string());
        QVERIFY(scalar.outputs[0].shape && scalar.outputs[0].shape->empty());
        const std::pair<MappingField, const char *> bad[] = {
            {MappingField::Shape, "[2, -4]"},
            {MappingField::Shape, "[18446744073709551616]"},
            {MappingField::Iteration, "9223372036854775808"},
            {MappingField::Iteration, "1.5"},
            {MappingField::Rank, ""},
            {MappingField::Call, "-1"},
            {MappingField::Name, ""},
            {MappingField::Digest, "00ff00f"},
            {MappingField::Digest, "00ff00fg"},
            {MappingField::Kind, "md17"},
        };
        for (const auto &[field, text] : bad) {
            TraceRecord record;
            const std::string problem = fill(field, text, record);
            QVERIFY2(problem.find(": expected ") != std::string::npos, text);
        }
    }

    void errorsOfSheets_data()
    {
        QTest::addColumn<QByteArray>("sheet");
        QTest::addColumn<QByteArray>("error");
        const auto row = [](const char *name, const char *sheet, const char *error) {
            QTest::newRow(name) << QByteArray(sheet) << QByteArray(error);
        };
        row("empty", "",
            "x.map: line 1: expected the sheet to begin with 'mapping 1', got nothing");
        row("no version", "# c\n\nname x\n",
            "line 3: expected the sheet to begin with 'mapping 1', got 'name'");
        row("version 2", "mapping 2\n", "line 1: expected the sheet to begin");
        row("word", "mapping 1\nnome x\n", "line 2: expected one of name, files, skip");
        row("nothing behind", "mapping 1\nkey\n", "line 2: expected something behind 'key'");
        row("field", "mapping 1\nkey stepp a\n", "line 2: expected a field (step, rank");
        row("key", "mapping 1\nkey step\n", "line 2: expected a key behind 'step'");
        row("twice", "mapping 1\nkey step a\nkey step b\n",
            "line 3: expected one rule for step, got a second");
        row("kind", "mapping 1\nset digest_kind md5\n", "line 2: expected one of sha256,");
        row("no rules", "mapping 1\nname x\n", "expected either line rules or key rules, got none");
        row("no name", "mapping 1\nkey digest h\nset digest_kind sha256\n",
            "expected a rule that gives the name");
        row("no kind", "mapping 1\nkey name n\nkey digest h\n", "expected the kind of the digest");
        row("nothing to compare", "mapping 1\nkey name n\nkey step s\n",
            "expected a rule for something to compare");
    }
    void errorsOfSheets()
    {
        QFETCH(QByteArray, sheet);
        QFETCH(QByteArray, error);
        const std::string found = errorOf(sheet.toStdString());
        QVERIFY2(found.find(error.toStdString()) != std::string::npos, found.c_str());
    }

    void errorsOfExpressions()
    {
        const std::string bad = errorOf("mapping 1\nline (?P<name>a\n");
        if (!whyNoPatterns().empty()) {
            QVERIFY(bad.find("line 2: regular expressions need RE2") != std::string::npos);
            QSKIP("without RE2");
        }
        QVERIFY2(bad.find("x.map: line 2: expected a regular expression of RE2: missing )") == 0,
                 bad.c_str());
        QVERIFY(errorOf("mapping 1\nline (?P<foo>a)\n").find("groups named after a field")
                != std::string::npos);
        QVERIFY(errorOf("mapping 1\nline abc\n").find("a group such as") != std::string::npos);
        QVERIFY(errorOf("mapping 1\nline (?P<name>a) (?P<value>b)\nline (?P<name>a)\n")
                    .find("line 3: expected a rule for something to compare")
                != std::string::npos);
        QVERIFY(errorOf("mapping 1\nline (?P<name>a)(?P<value>b)\nkey name a\n").find("got both")
                != std::string::npos);
        QVERIFY(errorOf("mapping 1\nline (?P<name>a{1000}{1000})(?P<value>b)\n")
                    .find("line 2: expected a regular expression")
                != std::string::npos);
    }

    void everyRuleThatIsWrong()
    {
        const auto problems = MappingSheet::problems("mapping 1\n# comment\nkey step\nkey name t\n"
                                                     "set digest_kind md6\nkey value v\n",
                                                     "x.map");
        QCOMPARE(problems.size(), std::size_t(2));
        QCOMPARE(problems[0].place, std::string("line 3"));
        QCOMPARE(problems[1].place, std::string("line 5"));
        // Of the whole only where no rule is wrong by itself.
        QCOMPARE(MappingSheet::problems("mapping 1\nkey step s\n", "x.map").size(), std::size_t(1));
        QCOMPARE(MappingSheet::problems("mapping 7\nkey\nkey\n", "x.map").size(), std::size_t(1));
        QVERIFY(MappingSheet::problems(JsonSheet, "x.map").empty());
    }

    void theRuleThatDecided()
    {
        if (!whyNoPatterns().empty())
            QSKIP("this build knows no regular expressions");
        const auto sheet = sheetOf(TextSheet);
        QVERIFY(sheet);
        QCOMPARE(sheet->take("INFO x", {}).rule, std::size_t(4));
        QCOMPARE(sheet->take("step 1 forward a f32[2] crc32:0a0b0c0d", {}).rule, std::size_t(5));
        QCOMPARE(sheet->take("step 1 loss = 2.5", {}).rule, std::size_t(6));
        QCOMPARE(sheet->take("else", {}).rule, std::size_t(0));
    }

    /// What makes a backtracking matcher stand still for years.
    void expressionsThatAreHostile()
    {
        if (!whyNoPatterns().empty())
            QSKIP("without RE2");
        const auto sheet = sheetOf("mapping 1\nline ^(?P<name>(a+)+)(?P<value>b)$\n");
        QVERIFY(sheet);
        QElapsedTimer timer;
        timer.start();
        QVERIFY(sheet->take(std::string(100'000, 'a'), {}).use == MappedLine::Use::NotUnderstood);
        QVERIFY(timer.elapsed() < 5000);
    }

    void withoutASingleRecord()
    {
        const Folder folder;
        folder.write("a.txt", "nothing here\n");
        OpenOptions options;
        options.mapping = sheetOf(JsonSheet);
        const auto run = openRun(folder.path(""), options, {});
        QVERIFY(!run.ok());
        QVERIFY(run.error().message().find("sheet") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(MappingTest)
#include "tst_mapping.moc"
