// SPDX-License-Identifier: GPL-3.0-or-later
// The real forkpoint-cli on the bundled runs and on small files written here. The figures of the
// bundled runs are those of tests/data/cli/sample_facts.py, which shares no code with us.
#include "tests/support/cli_process.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

using namespace forkpoint::test;

namespace {

QByteArray sha256(const QByteArray &data)
{
    return QCryptographicHash::hash(data, QCryptographicHash::Sha256).toHex();
}

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QJsonObject named(const QJsonArray &rows, const char *name)
{
    for (const QJsonValue &row : rows) {
        if (row["name"].toString() == QLatin1String(name))
            return row.toObject();
    }
    return {};
}

} // namespace

class TestCli : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void outcomes_data();
    void outcomes();
    void bundledRuns();
    void resumedRun();
    void mirrored();
    void threadsGiveTheSameBytes();
    void reportsEqualTheStandardOutput();
    void unknownCommandIsNamed();
    void unknownOptionsAreCompared_data();
    void unknownOptionsAreCompared();
    void optionsWithoutEffectAreNamed();
    void bothSidesThatDoNotOpenAreTold();
    void refusalsAreDocuments_data();
    void refusalsAreDocuments();
    void helpAndVersion();
    void inspected();
    void damaged();
    void namesCannotSteerATerminal();
    void longValuesAreFolded();
    void fingerprints();
    void elements();
    void elementsEndLikeCompare();
    void extracted();
    void outputsNeverReplaceWhatIsRead();
    void outputsKeepLinksAndPipes();
    void everyRefusalIsOneDocument();
    void extractedAsNpy();
    void extractedTypesOfNumpy();
    void elementsOfWideIntegers();
    void aboutTheProgram();

private:
    static void refusesAGpu(const QByteArray &reason);
    QString write(const QString &name, const QByteArray &data)
    {
        const QString path = m_folder.filePath(name);
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(data) != data.size())
            qFatal("cannot write test data");
        return path;
    }

    QTemporaryDir m_folder;
    QString m_one, m_next, m_half, m_int, m_cut, m_junk, m_other, m_two;
};

void TestCli::initTestCase()
{
    QVERIFY(m_folder.isValid());
    const QByteArray one = bytesOf<float>({1.0f, -2.0f, 3.0f});
    m_one = write("one.safetensors", oneTensor("F32", 3, one));
    m_next = write("next.safetensors",
                   oneTensor("F32", 3, bytesOf<float>({1.0f, -2.0f, 3.0000002384185791f})));
    m_half =
        write("half.safetensors", oneTensor("BF16", 3, bytesOf<quint16>({0x3f80, 0xc000, 0x4040})));
    m_int = write("int.safetensors", oneTensor("I32", 3, bytesOf<qint32>({1, -2, 3})));
    m_cut = write("cut.safetensors", oneTensor("F32", 3, one).chopped(2));
    m_junk = write("junk.safetensors", QByteArray("this is no checkpoint of any kind"));
    m_other = write("other.safetensors", oneTensor("F32", 3, one, "x"));
    m_two = write("two.safetensors",
                  safetensors("{\"v\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
                              "\"w\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[12,24]}}",
                              one + one));
}

void TestCli::outcomes_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("outcome");
    QTest::addColumn<int>("status");
    const auto row = [](const char *name, QStringList arguments, const char *outcome, int status) {
        QTest::newRow(name) << arguments << QString::fromLatin1(outcome) << status;
    };
    row("itself", {"@one", "@one"}, "identical", 0);
    row("one bit", {"@one", "@next"}, "different", 1);
    row("one ULP allowed", {"@one", "@next", "--max-ulp", "1"}, "within-tolerance", 0);
    row("no ULP allowed", {"@one", "@next", "--max-ulp", "0"}, "different", 1);
    row("small difference", {"@one", "@next", "--atol", "1e-6"}, "within-tolerance", 0);
    row("too small a tolerance", {"@one", "@next", "--atol", "1e-7"}, "different", 1);
    row("tolerance without need", {"@one", "@one", "--rtol", "0.1"}, "identical", 0);
    row("embedding type", {"@one", "@half"}, "different", 1);
    row("another type", {"@one", "@int"}, "different", 1);
    row("cut", {"@one", "@cut"}, "undecided", 3);
    row("cut on both sides", {"@cut", "@cut"}, "undecided", 3);
    row("no name in common, strict", {"@one", "@other", "--pair", "strict"}, "different", 1);
    row("renamed", {"@one", "@other", "--rename", "s/x/w/"}, "identical", 0);
    row("one more", {"@one", "@two"}, "different", 1);
    row("one more, left out", {"@one", "@two", "--exclude", "v"}, "identical", 0);
    row("only what is common", {"@one", "@two", "--include", "w"}, "identical", 0);
    row("nothing in scope", {"@one", "@one", "--include", "nothing"}, "undecided", 3);
    row("no metric in scope", {"A/metrics.jsonl", "A/metrics.jsonl", "--include", "nothing"},
        "undecided", 3);
    row("one metric", {"A/metrics.jsonl", "A/metrics.jsonl", "--include", "loss"}, "identical", 0);
    row("no class in scope", {"@one", "@next", "--scope", "rng"}, "undecided", 3);
    row("no checkpoint", {"@one", "@junk"}, "not-compared", 2);
    row("not there", {"@missing", "@one"}, "not-compared", 2);
    row("run", {"A", "A"}, "identical", 0);
    row("weights only", {"A", "C", "--scope", "weights", "--rtol", "1e-2", "--atol", "1e-3"},
        "within-tolerance", 0);
    row("another step", {"A", "A", "--step", "8:4"}, "different", 1);
    row("the same step", {"A", "A", "--step", "8"}, "identical", 0);
    row("step of a single file", {"A", "A/step_000008.pt", "--step", "8"}, "identical", 0);
    row("step in a file's name", {"A/step_000004.pt", "A"}, "identical", 0);
    row("step for no series", {"@one", "@one", "--step", "8"}, "not-compared", 2);
    row("no such step", {"A", "C", "--step", "5"}, "not-compared", 2);
    row("no step in common", {"A", "C", "--steps", "5:7"}, "not-compared", 2);
    row("device that is not", {"@one", "@one", "--device", "cuda:99"}, "not-compared", 2);
}

void TestCli::outcomes()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, outcome);
    QFETCH(int, status);
    for (QString &argument : arguments) {
        if (argument.startsWith('@'))
            argument = m_folder.filePath(argument.mid(1) + ".safetensors");
    }
    const Ended text = run(QStringList{"compare"} + arguments);
    QCOMPARE(text.status, status);
    QVERIFY(!text.out.isEmpty());
    const Ended ended = run(QStringList{"compare", "--json"} + arguments);
    QCOMPARE(ended.outcome(), outcome);
    QCOMPARE(ended.status, status);
    const QJsonObject verdict = ended.json()["verdict"].toObject();
    QVERIFY(!verdict["sentence"].toString().isEmpty());
    QCOMPARE(verdict.contains("reason"), status >= 2);
    // Reading less does not change what is said.
    if (status < 2)
        QCOMPARE(run(QStringList{"compare", "--json", "--verdict-only"} + arguments).outcome(),
                 outcome);
}

void TestCli::bundledRuns()
{
    const QJsonObject report = run({"compare", "A", "C", "--json"}).json();
    QCOMPARE(report["schema"].toString(), QStringLiteral("forkpoint.report/1"));
    QCOMPARE(report["step"].toInt(), 4);
    QCOMPARE(report["counts"]["matched"].toInt(), 118);
    QCOMPARE(report["counts"]["different"].toInt(), 82);
    QCOMPARE(report["first_divergence"]["step"].toInt(), 4);
    QCOMPARE(report["first_divergence"]["proven_equal_before"].toBool(true), false);
    for (const QJsonValue &step : report["steps"].toArray())
        QCOMPARE(step["status"].toString(), QStringLiteral("different"));
    for (const QJsonValue &metric : report["metrics"].toArray()) {
        if (metric["name"].toString() == "loss") // the samples' point: not one bit of it differs
            QVERIFY(!metric.toObject().contains("first_bit_difference"));
        if (metric["name"].toString() == "grad_norm")
            QCOMPARE(metric["first_bit_difference"].toInt(), 5);
    }
    // What differs by less than was asked for is not shown as equal.
    const Ended within =
        run({"compare", "A", "C", "--scope", "weights", "--rtol", "1e-2", "--atol", "1e-3"});
    QVERIFY2(within.out.contains("steps: 4~, 8~, 12~; ~: within the tolerance\n"),
             within.out.left(600).constData());
    QVERIFY(within.out.contains("; within the tolerance\n"));
    const QString page = m_folder.filePath("within.md");
    run({"compare", "A", "C", "--scope", "weights", "--rtol", "1e-2", "--atol", "1e-3", "--report",
         page});
    QVERIFY(
        contentOf(page).contains("3 steps of those shown as equal differ within the tolerance"));
    const QJsonObject late = run({"compare", "A", "C", "--step", "12", "--json"}).json();
    QCOMPARE(late["counts"]["different"].toInt(), 86);
    const QJsonObject head = named(late["tensors"].toArray(), "model.lm_head.weight");
    QCOMPARE(head["different_elements"].toInt(), 624);
    QCOMPARE(head["first_index"].toInt(), 8);
    QCOMPARE(head["last_index"].toInt(), 3070);
    const QJsonObject embedding = named(late["tensors"].toArray(), "model.embed_tokens.weight");
    QCOMPARE(embedding["different_elements"].toInt(), 62);
}

void TestCli::resumedRun()
{
    const QJsonObject report = run({"compare", "A", "D", "--json"}).json();
    QCOMPARE(report["step"].toInt(), 8);
    QCOMPARE(report["counts"]["different"].toInt(), 88);
    QCOMPARE(report["steps"].toArray().at(0)["status"].toString(), QStringLiteral("only-in-a"));
    // The loss parts at 5, before the first checkpoint that both have.
    QCOMPARE(report["first_divergence"]["step"].toInt(), 5);
    QCOMPARE(report["first_divergence"]["stage"].toString(), QStringLiteral("loss"));
    for (const QJsonValue &metric : report["metrics"].toArray()) {
        if (metric["name"].toString() == "loss")
            QCOMPARE(metric["first_bit_difference"].toInt(), 5);
    }
}

void TestCli::mirrored()
{
    for (const auto &[a, b] : {std::pair{"A", "C"}, std::pair{"A", "D"}}) {
        const QJsonObject forth = run({"compare", a, b, "--json"}).json();
        const QJsonObject back = run({"compare", b, a, "--json"}).json();
        QCOMPARE(forth["verdict"], back["verdict"]);
        QCOMPARE(forth["first_divergence"], back["first_divergence"]);
        for (const char *count : {"matched", "identical", "different", "not_compared"})
            QCOMPARE(forth["counts"][QLatin1String(count)], back["counts"][QLatin1String(count)]);
        const QJsonArray rowsForth = forth["tensors"].toArray(),
                         rowsBack = back["tensors"].toArray();
        QCOMPARE(rowsForth.size(), rowsBack.size());
        for (qsizetype i = 0; i < rowsForth.size(); ++i) {
            const QJsonValue x = rowsForth[i], y = rowsBack[i];
            for (const char *same : {"name", "status", "different_elements", "first_index",
                                     "max_abs", "max_ulp", "mean_abs", "rms", "cosine"})
                QCOMPARE(x[QLatin1String(same)], y[QLatin1String(same)]);
            QCOMPARE(x["fingerprint_a"], y["fingerprint_b"]);
            QCOMPARE(x["rms_a"], y["rms_b"]);
        }
    }
}

void TestCli::threadsGiveTheSameBytes()
{
    const QStringList compare = {"compare", "A", "C", "--json", "--full", "--no-index"};
    const Ended one = run(compare + QStringList{"--threads", "1"});
    QVERIFY(one.out.size() > 10'000);
    QCOMPARE(run(compare + QStringList{"--threads", "2"}).out, one.out);
    QCOMPARE(run(compare + QStringList{"--device", "cpu"}).out, one.out);
    for (const char *command : {"inspect", "fingerprint"}) {
        const QStringList look = {command, "A", "--json"};
        QCOMPARE(run(look + QStringList{"--threads", "2"}).out,
                 run(look + QStringList{"--threads", "1"}).out);
    }
}

void TestCli::reportsEqualTheStandardOutput()
{
    const QString first = m_folder.filePath("first.json"),
                  second = m_folder.filePath("second.json");
    const Ended ended = run({"compare", "A", "C", "--json", "--report", first, "--report", second});
    QCOMPARE(ended.status, 1);
    QVERIFY(!ended.out.isEmpty());
    QCOMPARE(contentOf(first), ended.out);
    QCOMPARE(contentOf(second), ended.out);
    // -o instead of standard output, and then nothing there.
    const QString third = m_folder.filePath("third.json");
    const Ended redirected = run({"compare", "A", "C", "--json", "-o", third});
    QCOMPARE(contentOf(third), ended.out);
    QVERIFY(redirected.out.isEmpty());
    // A report of a refusal is one too.
    const Ended refused = run({"compare", "A", "nothing", "--json", "--report", first});
    QCOMPARE(refused.status, 2);
    QCOMPARE(contentOf(first), refused.out);
    // What cannot be written is not silently lost.
    QCOMPARE(run({"compare", "A", "A", "--report", "/nonexistent/x.json"}).status, 2);
    QVERIFY(!run({"compare", "A", "A", "--report", "/nonexistent/x.json"}).err.isEmpty());
}

void TestCli::unknownCommandIsNamed()
{
    const Ended ran = run({"compair", "A", "C"});
    QCOMPARE(ran.status, 2);
    QVERIFY(ran.err.contains("no command 'compair'"));
}

void TestCli::unknownOptionsAreCompared_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QByteArray>("hint");
    const auto row = [](const char *name, QStringList words, const char *hint) {
        QTest::newRow(name) << words << QByteArray(hint);
    };
    row("described by the word", {"--tolerance", "1"},
        "no option '--tolerance'; did you mean --rtol, --atol, --max-ulp?");
    row("a letter missing", {"--no-indx"}, "no option '--no-indx'; did you mean --no-index?");
    row("with its value", {"--exlude=x"}, "no option '--exlude'; did you mean --exclude?");
    row("nothing like it", {"--zzzzzzz"}, "no option '--zzzzzzz'\n");
    row("a path too many", {"D"}, "not expected: D\n");
}

void TestCli::unknownOptionsAreCompared()
{
    QFETCH(QStringList, words);
    QFETCH(QByteArray, hint);
    const Ended ended = run(QStringList{"compare", "A", "C"} + words);
    QCOMPARE(ended.status, 2);
    QVERIFY2(ended.err.startsWith("forkpoint-cli: " + hint), ended.err);
}

void TestCli::optionsWithoutEffectAreNamed()
{
    const QString file = m_folder.filePath("one.safetensors");
    const Ended ended = run({"compare", file, file, "--bisect"});
    QCOMPARE(ended.status, 0);
    QVERIFY2(ended.err.contains("--bisect: note: has no effect"), ended.err);
    QVERIFY(!run({"compare", "A", "C", "--bisect"}).err.contains("no effect"));
    QVERIFY(run({"compare", file, file, "--rtol", "1e999"})
                .err.contains("--rtol: must be a finite float64 that is not negative"));
    const Ended misspelt =
        run({"compare", file, file, "--exclude", "weigth*", "--include", "w", "--include", "*"});
    QVERIFY(misspelt.out.contains("'weigth*' of --include or --exclude matches no name"));
    QCOMPARE(misspelt.out.count("matches no name"), 1);
    const QString log = QStringLiteral("A/metrics.jsonl");
    QVERIFY(!run({"compare", log, log, "--include", "loss"}).out.contains("matches no name"));
}

void TestCli::bothSidesThatDoNotOpenAreTold()
{
    const Ended ended = run({"compare", "nothing-a", "nothing-b", "--json"});
    QCOMPARE(ended.status, 2);
    QCOMPARE(ended.outcome(), QStringLiteral("not-compared"));
    QVERIFY2(ended.err.contains("nothing-a: error: ") && ended.err.contains("nothing-b: error: "),
             ended.err);
}

void TestCli::refusalsAreDocuments_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char *name, QStringList arguments) {
        QTest::newRow(name) << arguments;
    };
    row("unknown option", {"compare", "A", "C", "--no-such-option"});
    row("one path", {"compare", "A"});
    row("three paths", {"compare", "A", "C", "D"});
    row("threads", {"compare", "A", "C", "--threads", "two"});
    row("negative tolerance", {"compare", "A", "C", "--atol", "-1"});
    row("tolerance that is no number", {"compare", "A", "C", "--rtol", "nan"});
    row("negative ULP", {"compare", "A", "C", "--max-ulp", "-1"});
    row("ULP beyond 64 bits", {"compare", "A", "C", "--max-ulp", "18446744073709551616"});
    row("no class", {"compare", "A", "C", "--scope", ""});
    row("one file for two reports",
        {"compare", "A", "C", "--report", "twice.json", "--report", "./twice.json"});
    row("a report where the output goes",
        {"compare", "A", "C", "--report", "twice.json", "-o", "twice.json"});
    row("negative count",
        {"elements", "A", "C", "--tensor", "model.lm_head.weight", "--count", "-5"});
    row("too many threads", {"compare", "A", "C", "--threads", "99999999999999999"});
    row("negative threads", {"compare", "A", "C", "--threads", "-1"});
    row("pairing", {"compare", "A", "C", "--pair", "loose"});
    row("rename", {"compare", "A", "C", "--rename", "x/y"});
    row("scope", {"compare", "A", "C", "--scope", "weights,weight"});
    row("report", {"compare", "A", "C", "--report", "x.pdf"});
    row("step", {"compare", "A", "C", "--step", "4:x"});
    row("steps", {"compare", "A", "C", "--steps", "4"});
    row("step and steps", {"compare", "A", "C", "--steps", "4:8", "--step", "4"});
    row("rate", {"compare", "A", "C", "--max-rate", "0"});
    row("digest", {"inspect", "A", "--digest", "crc99"});
    row("no tensor", {"elements", "A", "C"});
    row("order", {"elements", "A", "C", "--tensor", "w", "--order", "random"});
    row("no such tensor", {"elements", "A", "C", "--tensor", "w"});
    row("nothing there", {"inspect", "nothing"});
    row("nothing to fingerprint", {"fingerprint", "nothing"});
}

void TestCli::refusalsAreDocuments()
{
    QFETCH(QStringList, arguments);
    const Ended plain = run(arguments);
    QCOMPARE(plain.status, 2);
    QVERIFY2(plain.err.startsWith("forkpoint-cli: "), plain.err);
    const Ended ended = run(arguments + QStringList{"--json"});
    QCOMPARE(ended.status, 2);
    const QJsonObject document = ended.json();
    const QString kind = arguments[0] == "compare" ? "report" : arguments[0];
    QCOMPARE(document["schema"].toString(), "forkpoint." + kind + "/1");
    QVERIFY(!document["diagnostics"].toArray().isEmpty());
    if (arguments[0] == "compare") {
        QCOMPARE(ended.outcome(), QStringLiteral("not-compared"));
        QVERIFY(!document["verdict"]["reason"].toString().isEmpty());
    }
}

void TestCli::helpAndVersion()
{
    QCOMPARE(run({}).status, 2);
    QCOMPARE(run({"nonsense"}).status, 2);
    for (const QStringList &arguments : {QStringList{"--help"},
                                         {"--version"},
                                         {"compare", "--help"},
                                         {"report", "--help"},
                                         {"extract", "--help"}}) {
        const Ended ended = run(arguments);
        QCOMPARE(ended.status, 0);
        QVERIFY(!ended.out.isEmpty() && ended.err.isEmpty());
    }
    QVERIFY(run({"compare", "--help"}).out.contains("--max-ulp"));
    const Ended quiet = run({"compare", m_one, m_cut, "--quiet"});
    QCOMPARE(quiet.status, 3);
    QVERIFY(quiet.err.isEmpty());
    QVERIFY(!run({"compare", m_one, m_cut}).err.isEmpty());
}

void TestCli::inspected()
{
    const QJsonObject document = run({"inspect", "A", "--json", "--digest", "sha256"}).json();
    QCOMPARE(document["schema"].toString(), QStringLiteral("forkpoint.inspect/1"));
    QCOMPARE(document["path"].toString(), QStringLiteral("A"));
    QCOMPARE(document["step"].toInt(), 12);
    QCOMPARE(document["steps"].toArray(), (QJsonArray{4, 8, 12}));
    QCOMPARE(document["tensors"].toArray().size(), 118);
    const QJsonObject head = named(document["tensors"].toArray(), "model.lm_head.weight");
    QCOMPARE(head["sha256"].toString(),
             QStringLiteral("2852b26d74edccc5d098dd8a332c2e96754abe811090c0c6ddce7d46c3a604b6"));
    QCOMPARE(head["shape"].toArray(), (QJsonArray{128, 24}));
    QCOMPARE(head["elements"].toInt(), 3072);
    QCOMPARE(head["bytes"].toInt(), 12288);
    QCOMPARE(head["class"].toString(), QStringLiteral("weights"));
    QCOMPARE(head["files"].toArray(), (QJsonArray{"step_000012.pt"}));
    const QJsonObject early = run({"inspect", "A", "--json", "--step", "4"}).json();
    QCOMPARE(early["step"].toInt(), 4);
    QCOMPARE(run({"inspect", "A", "--step", "5"}).status, 2);
}

void TestCli::damaged()
{
    const Ended cut = run({"inspect", m_cut, "--json"});
    QCOMPARE(cut.status, 2);
    QCOMPARE(cut.json()["tensors"].toArray().size(), 1); // listed all the same
    QVERIFY(!cut.json()["diagnostics"].toArray().isEmpty());
    QVERIFY(cut.err.contains("cut.safetensors"));
    QCOMPARE(run({"fingerprint", m_cut, "--json"}).status, 2);
    const QString target = m_folder.filePath("never.bin");
    QCOMPARE(run({"extract", m_cut, "--tensor", "w", "-o", target}).status, 2);
    QVERIFY(!QFile::exists(target));
}

/// A name is what a file says; an escape in it must not reach a terminal, and must reach the JSON.
void TestCli::namesCannotSteerATerminal()
{
    const QByteArray data = bytesOf<float>({1.0f, -2.0f, 3.0f});
    const QByteArray whole = oneTensor("F32", 3, data, "w\\u001b[31mred");
    const QString good = write("escape.safetensors", whole);
    const QString cut = write("escape_cut.safetensors", whole.chopped(2));
    for (const QStringList &arguments : {QStringList{"inspect", good},
                                         {"inspect", cut},
                                         {"compare", good, good},
                                         {"compare", good, cut},
                                         {"compare", good, m_one},
                                         {"fingerprint", good}}) {
        const Ended ended = run(arguments);
        QVERIFY(ended.status >= 0);
        QVERIFY2(!ended.out.contains('\x1b'), ended.out);
        QVERIFY2(!ended.err.contains('\x1b'), ended.err);
    }
    const QJsonObject tensor =
        run({"inspect", good, "--json"}).json()["tensors"].toArray()[0].toObject();
    QCOMPARE(tensor["name"].toString(), QStringLiteral("w\x1b[31mred"));
    // The name as it is shown chooses the tensor, too.
    const QString shown = QStringLiteral("w\\x1b[31mred");
    QCOMPARE(run({"extract", good, "--tensor", shown}).out, data);
    QCOMPARE(run({"elements", good, good, "--tensor", shown}).status, 0);
    // Not where two are: an escape before its spelling, and behind it.
    const QByteArray head = R"({"\u001b\\x1b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("\\x1b\u001b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    const QString alike = write("alike.safetensors", safetensors(head, "xy"));
    const QString both = QStringLiteral("\\x1b\\x1b");
    for (const QStringList &arguments : {QStringList{"extract", alike, "--tensor", both},
                                         {"elements", alike, alike, "--tensor", both}}) {
        const Ended ended = run(arguments);
        QVERIFY(ended.status >= 2);
        QVERIFY2(ended.err.contains("is how several tensors are shown"), ended.err);
    }
    QCOMPARE(run({"extract", alike, "--tensor", "\x1b\\x1b"}).out, QByteArray("x"));
}

void TestCli::longValuesAreFolded()
{
    const auto noted = [&](const QString &name, const QByteArray &note) {
        return write(name, safetensors("{\"__metadata__\":{\"note\":\"" + note + "\"}}", {}));
    };
    const QByteArray text(100'000, 'y');
    const QString a = noted("long_a.safetensors", text + "first");
    const QString b = noted("long_b.safetensors", text + "other");
    const Ended shown = run({"inspect", a});
    QVERIFY(shown.out.size() < 1000);
    QVERIFY(shown.out.contains("yyy... (100,005 bytes in all)"));
    const Ended compared = run({"compare", a, b});
    QVERIFY2(compared.out.contains("yyfirst (100,005 bytes in all) → ...yy"), compared.out);
    QVERIFY(compared.out.contains("yyother (100,005 bytes in all)"));
    QVERIFY(run({"inspect", a, "--json"}).out.contains(text + "first"));
}

void TestCli::fingerprints()
{
    const Ended ended = run({"fingerprint", "A/step_000012.pt", "--json", "--with", "sha256"});
    QCOMPARE(ended.status, 0);
    const QJsonArray tensors = ended.json()["tensors"].toArray();
    // One leaf, so the content digest is what `xxhsum -H2` prints for the bytes.
    const QJsonObject head = named(tensors, "model.lm_head.weight");
    QCOMPARE(head["content"].toString(), QStringLiteral("e2e2619bd7592d86185c144d47e1d109"));
    QCOMPARE(head["with"]["sha256"].toString(),
             QStringLiteral("2852b26d74edccc5d098dd8a332c2e96754abe811090c0c6ddce7d46c3a604b6"));
    QCOMPARE(named(tensors, "model.embed_tokens.weight")["content"].toString(),
             QStringLiteral("dbe8787660b3fe4627251f2bb15f8e2f"));
    QCOMPARE(head["path"].toArray(), (QJsonArray{"model", "lm_head.weight"}));
    // A series is fingerprinted at the step that is shown.
    QCOMPARE(run({"fingerprint", "A", "--json"}).json()["checkpoint"],
             run({"fingerprint", "A/step_000012.pt", "--json"}).json()["checkpoint"]);
    // Names do not matter to the one, and do to the other.
    const QJsonObject one = run({"fingerprint", m_one, "--json"}).json()["checkpoint"].toObject();
    const QJsonObject x = run({"fingerprint", m_other, "--json"}).json()["checkpoint"].toObject();
    QCOMPARE(one["contents"], x["contents"]);
    QVERIFY(one["named"] != x["named"]);
}

void TestCli::elements()
{
    const QStringList command = {"elements", "A",      "C",        "--step",
                                 "12",       "--json", "--tensor", "model.lm_head.weight"};
    const Ended ended = run(command);
    QCOMPARE(ended.status, 1);
    const QJsonObject document = ended.json();
    QCOMPARE(document["schema"].toString(), QStringLiteral("forkpoint.elements/1"));
    QCOMPARE(document["different_elements"].toInt(), 624);
    QCOMPARE(document["complete"].toBool(true), false);
    const QJsonArray rows = document["rows"].toArray();
    QCOMPARE(rows.size(), 100);
    QCOMPARE(rows[0]["index"].toInt(), 8);
    QCOMPARE(rows[0]["coordinates"].toArray(), (QJsonArray{0, 8}));
    QCOMPARE(rows[0]["bits_a"].toString(), QStringLiteral("bd70e7c9"));
    QCOMPARE(rows[0]["bits_b"].toString(), QStringLiteral("bd70e7c8"));
    QCOMPARE(rows[0]["ulp"].toInt(), 1);
    QCOMPARE(rows[0]["difference"].toDouble(), rows[0]["b"].toDouble() - rows[0]["a"].toDouble());
    QCOMPARE(document["step_a"].toInt(), 12);
    // Without a step, the one that compare speaks of: this tensor parts at 4.
    const QJsonObject first =
        run({"elements", "A", "C", "--json", "--tensor", "model.layers.0.qkv.bias"}).json();
    const QJsonObject compared = run({"compare", "A", "C", "--json"}).json();
    QCOMPARE(first["step_a"].toInt(), 4);
    QCOMPARE(first["step_b"].toInt(), compared["step"].toInt());
    QCOMPARE(first["different_elements"],
             named(compared["tensors"].toArray(), "model.layers.0.qkv.bias")["different_elements"]);
    const QJsonObject last = run(command + QStringList{"--offset", "623"}).json();
    QCOMPARE(last["rows"].toArray().size(), 1);
    QCOMPARE(last["rows"].toArray().at(0)["index"].toInt(), 3070);
    QCOMPARE(last["complete"].toBool(), true);
    const QJsonArray largest =
        run(command + QStringList{"--order", "largest", "--count", "700"}).json()["rows"].toArray();
    QCOMPARE(largest.size(), 624);
    for (qsizetype i = 1; i < largest.size(); ++i)
        QVERIFY(qAbs(largest[i - 1]["difference"].toDouble())
                >= qAbs(largest[i]["difference"].toDouble()));
}

void TestCli::elementsEndLikeCompare()
{
    const auto status = [](const QString &a, const QString &b, const QString &tensor) {
        return run({"elements", a, b, "--tensor", tensor, "--json"}).status;
    };
    QCOMPARE(status(m_one, m_one, "w"), 0);
    QCOMPARE(status(m_one, m_next, "w"), 1);
    QCOMPARE(status(m_one, m_int, "w"), 1);  // another type
    QCOMPARE(status(m_one, m_two, "v"), 1);  // on one side only
    QCOMPARE(status(m_one, m_cut, "w"), 3);  // not readable
    QCOMPARE(status(m_one, m_two, "no"), 2); // on neither side
    QCOMPARE(status(m_one, m_junk, "w"), 2);
}

void TestCli::extracted()
{
    const Ended ended = run({"extract", "A", "--tensor", "model.lm_head.weight"});
    QCOMPARE(ended.status, 0);
    QCOMPARE(ended.out.size(), 12288);
    QCOMPARE(sha256(ended.out),
             QByteArray("2852b26d74edccc5d098dd8a332c2e96754abe811090c0c6ddce7d46c3a604b6"));
    const QString file = m_folder.filePath("raw.bin");
    const Ended to = run({"extract", "A", "--tensor", "model.lm_head.weight", "-o", file});
    QVERIFY(to.status == 0 && to.out.isEmpty());
    QCOMPARE(contentOf(file), ended.out);
    QCOMPARE(run({"extract", "A", "--tensor", "model.lm_head.weight", "-o", "-"}).out, ended.out);
    const Ended unknown = run({"extract", "A", "--tensor", "nothing"});
    QCOMPARE(unknown.status, 2);
    QVERIFY2(unknown.err.contains("is not in this checkpoint"), unknown.err.constData());
    const Ended value = run({"extract", "A", "--step", "4", "--tensor", "consumed_samples"});
    QVERIFY(value.status == 2 && value.out.isEmpty());
    QVERIFY2(
        value.err.contains("'consumed_samples': is a value without elements: inspect shows it"),
        value.err.constData());
}

void TestCli::outputsNeverReplaceWhatIsRead()
{
    const QString own = m_folder.filePath("own.safetensors"), hard = m_folder.filePath("hard.st"),
                  soft = m_folder.filePath("soft.st");
    const QByteArray before = oneTensor("F32", 1, QByteArray(4, 'x'));
    QFile file(own);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(before) == before.size());
    file.close();
    QVERIFY(::link(own.toUtf8(), hard.toUtf8()) == 0
            && ::symlink("own.safetensors", soft.toUtf8()) == 0);
    for (const QString &out : {own, hard, soft}) {
        for (const QStringList &command : {QStringList{"extract", own, "--tensor", "w"},
                                           {"inspect", own},
                                           {"compare", own, own},
                                           {"compare", "A", own},
                                           {"fingerprint", own}}) {
            const Ended ended = run(command + QStringList{"-o", out});
            QCOMPARE(ended.status, 2);
            QVERIFY2(ended.err.contains("would overwrite what is read"), ended.err);
        }
        QCOMPARE(contentOf(own), before);
    }
    const Ended report = run({"compare", own, own, "--report", m_folder.filePath("none/x.json")});
    QCOMPARE(report.status, 2);
    QVERIFY2(report.err.contains("its folder is not there"), report.err);
}

void TestCli::outputsKeepLinksAndPipes()
{
    const QString target = m_folder.filePath("target.txt"), link = m_folder.filePath("link.txt"),
                  pipe = m_folder.filePath("pipe"), copy = m_folder.filePath("copy.txt");
    QVERIFY(::symlink("target.txt", link.toUtf8()) == 0); // dangling as yet
    const QByteArray text = run({"inspect", m_one}).out;
    for (int i = 0; i < 2; ++i) {
        QCOMPARE(run({"inspect", m_one, "-o", link}).status, 0);
        QVERIFY(QFileInfo(link).isSymLink() && !QFileInfo(target).isSymLink());
        QCOMPARE(contentOf(target), text);
    }
    QVERIFY(::mkfifo(pipe.toUtf8(), 0600) == 0);
    QProcess reader;
    reader.setStandardOutputFile(copy);
    reader.start("cat", {pipe});
    QCOMPARE(run({"inspect", m_one, "-o", pipe}).status, 0);
    QVERIFY(reader.waitForFinished(10'000));
    QCOMPARE(contentOf(copy), text);
    struct stat status = {};
    QVERIFY(::stat(pipe.toUtf8(), &status) == 0 && S_ISFIFO(status.st_mode));
    QCOMPARE(QDir(m_folder.path()).entryList({"*.part*"}).size(), 0);
}

void TestCli::everyRefusalIsOneDocument()
{
    for (const QStringList &command : {QStringList{"extract", "nothing", "--tensor", "w"},
                                       {"extract", "A", "--tensor", "w"},
                                       {"selftest", "--device", "cuda:99"},
                                       {"compre", "A", "B"},
                                       {}}) {
        const Ended ended = run(command + QStringList{"--json"});
        QCOMPARE(ended.status, 2);
        QVERIFY(ended.json()["schema"].toString().startsWith("forkpoint."));
        QVERIFY(!ended.json()["schema"].toString().contains("--"));
        QCOMPARE(ended.json()["diagnostics"].toArray().size(), 1);
    }
}

void TestCli::extractedAsNpy()
{
    const QString file = m_folder.filePath("head.npy");
    QCOMPARE(run({"extract", "A", "--tensor", "model.lm_head.weight", "-o", file}).status, 0);
    const QByteArray npy = contentOf(file);
    QVERIFY(npy.startsWith(QByteArray("\x93NUMPY\x01\x00", 8)));
    const int length = quint8(npy[8]) | quint8(npy[9]) << 8;
    QCOMPARE((10 + length) % 64, 0); // numpy's own alignment
    const QByteArray header = npy.mid(10, length);
    QVERIFY2(header.startsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (128, 24), }"),
             header);
    QVERIFY(header.endsWith('\n'));
    QCOMPARE(sha256(npy.mid(10 + length)),
             QByteArray("2852b26d74edccc5d098dd8a332c2e96754abe811090c0c6ddce7d46c3a604b6"));
    // And what we write we read: the same elements, so the same digest.
    const QJsonObject back = run({"inspect", file, "--json", "--digest", "sha256"})
                                 .json()["tensors"]
                                 .toArray()[0]
                                 .toObject();
    QCOMPARE(back["dtype"].toString(), QStringLiteral("float32"));
    QCOMPARE(back["shape"].toArray(), (QJsonArray{128, 24}));
    QCOMPARE(back["sha256"].toString().toLatin1(), sha256(npy.mid(10 + length)));
    // Types that numpy lacks keep their bytes.
    const QString half = m_folder.filePath("half.npy");
    QCOMPARE(run({"extract", m_half, "--tensor", "w", "-o", half}).status, 0);
    QVERIFY(contentOf(half).contains("V2'"));
    QVERIFY(contentOf(half).endsWith(bytesOf<quint16>({0x3f80, 0xc000, 0x4040})));
    QVERIFY(run({"extract", m_half, "--tensor", "w", "--format", "npy"}).out == contentOf(half));
}

/// What numpy wrote comes out as numpy wrote it, but for the spaces with which it leaves room.
void TestCli::extractedTypesOfNumpy()
{
    const auto parts = [](const QByteArray &npy) {
        const int first = npy.at(6) == 1 ? 10 : 12;
        const int length = quint8(npy.at(8)) | quint8(npy.at(9)) << 8;
        return QByteArrayList{npy.left(8), npy.mid(first, length).trimmed(),
                              npy.mid(first + length)};
    };
    for (const char *name : {"bytes", "datetime", "structured", "structured_padded",
                             "structured_unicode", "unicode", "one", "rank_32", "scalar"}) {
        const QString file =
            QStringLiteral(FORKPOINT_TEST_DATA "/npy/%1.npy").arg(QLatin1String(name));
        const auto tensors = run({"inspect", file, "--json"}).json()["tensors"].toArray();
        const Ended ended =
            run({"extract", file, "--tensor", tensors[0]["name"].toString(), "--format", "npy"});
        QVERIFY2(!ended.out.isEmpty() && parts(ended.out) == parts(contentOf(file)), name);
    }
}

/// The largest differences of 64-bit integers need 65 bits.
void TestCli::elementsOfWideIntegers()
{
    const QString low =
        write("low.safetensors", oneTensor("I64", 3, bytesOf<qint64>({INT64_MIN, -1, 0})));
    const QString high =
        write("high.safetensors", oneTensor("I64", 3, bytesOf<qint64>({INT64_MAX, INT64_MAX, 7})));
    const auto differences = [](const QString &a, const QString &b) {
        QByteArrayList texts;
        for (const QByteArray &line :
             run({"elements", a, b, "--tensor", "w"}).out.split('\n').mid(2, 3))
            texts += line.split('\t').value(4);
        return texts;
    };
    QCOMPARE(differences(low, high),
             (QByteArrayList{"18446744073709551615", "9223372036854775808", "7"}));
    QCOMPARE(differences(high, low),
             (QByteArrayList{"-18446744073709551615", "-9223372036854775808", "-7"}));
    const Ended document = run({"elements", high, low, "--tensor", "w", "--json"});
    QVERIFY(document.out.contains("\"difference\": \"-18446744073709551615\""));
    QVERIFY(document.out.contains("\"difference\": -9223372036854775808"));
}

void TestCli::aboutTheProgram()
{
    const auto list = [](const char *command) {
        const Ended ended = run({command, "--json"});
        return ended.status == 0 ? QJsonDocument::fromJson(ended.out).array() : QJsonArray();
    };
    QCOMPARE(named(list("formats"), "safetensors")["available"].toBool(), true);
    QCOMPARE(named(list("devices"), "cpu")["available"].toBool(), true);
    for (const QJsonValue &row : list("devices")) // what is not there says why
        QVERIFY(row["available"].toBool() || !row["reason"].toString().isEmpty());
    const Ended selftest = run({"selftest", "--device", "cpu", "--json"});
    QCOMPARE(selftest.status, 0);
    const QJsonObject told = QJsonDocument::fromJson(selftest.out).object();
    QCOMPARE(told["schema"].toString(), QStringLiteral("forkpoint.selftest/1"));
    QVERIFY(told["passed"].toInt() > 0 && told["failed"].toInt(-1) == 0);
    const QJsonObject gpu = list("devices")[1].toObject();
    if (!gpu["available"].toBool())
        refusesAGpu(gpu["reason"].toString().toUtf8());
}

/// Asked for a device that is not there: the reason that `devices` gives, and no comparison.
void TestCli::refusesAGpu(const QByteArray &reason)
{
    const Ended compared = run({"compare", "A", "C", "--device", "cuda", "--json"});
    QCOMPARE(compared.status, 2);
    QCOMPARE(compared.outcome(), QStringLiteral("not-compared"));
    QVERIFY(compared.out.contains(reason));
    for (const QStringList &command : {QStringList{"fingerprint", "A"}, {"selftest"}}) {
        const Ended refused = run(command + QStringList{"--device", "cuda:0"});
        QCOMPARE(refused.status, 2);
        QVERIFY(refused.err.contains(reason));
        QVERIFY(refused.out.isEmpty());
    }
    QVERIFY(run({"selftest"}).out.contains("not run: cuda: " + reason));
    // Which leaves the processor, and nothing to say about it.
    QCOMPARE(run({"compare", "A", "C", "--device", "auto"}).err, QByteArray());
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
