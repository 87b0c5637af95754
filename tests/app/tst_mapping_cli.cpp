// SPDX-License-Identifier: GPL-3.0-or-later
// The example of resources/docs/mapping.md with the real forkpoint-cli: its sheets, its lines, and what
// the document says that the program prints.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

struct Ended
{
    int status = -1;
    QByteArray out, err;

    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

/// The indented blocks of the document, in their order.
QList<QByteArray> blocks()
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/../../resources/docs/mapping.md"));
    QList<QByteArray> found;
    bool inside = false;
    if (!file.open(QIODevice::ReadOnly))
        return found;
    for (const QByteArray &line : file.readAll().split('\n')) {
        const bool isCode = line.startsWith("    ");
        if (isCode && !inside)
            found.append(QByteArray());
        if (isCode)
            found.last() += line.mid(4) + '\n';
        inside = isCode;
    }
    return found;
}

} // namespace

class MappingCliTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        const QList<QByteArray> all = blocks();
        QCOMPARE(all.size(), 5);
        m_preview = all[3];
        write("our.map", all[1]);
        write("json.map", all[4]);
        write("run_a.log", all[2]);
        const QByteArray saved = "it=1 rank=0 checkpoint saved\n";
        write("whole_a.log", QByteArray(all[2]).replace(saved, ""));
        write("whole_b.log", QByteArray(all[2]).replace(saved, "").replace("2.4375", "2.4376"));
        if (run({"formats"}).out.contains("without RE2"))
            QSKIP("without RE2");
    }

    void previewIsAsTheDocumentSays()
    {
        const Ended ended =
            run({"inspect", "run_a.log", "--mapping", "our.map", "--preview", "20"});
        QCOMPARE(ended.status, 2);
        QCOMPARE(ended.out, m_preview);
        QCOMPARE(run({"inspect", "run_a.log", "--mapping", "our.map", "--preview", "3"}).status, 0);
    }

    void previewAsJson()
    {
        const Ended ended =
            run({"inspect", "run_a.log", "--mapping", "our.map", "--preview", "20", "--json"});
        QCOMPARE(ended.status, 2);
        const QJsonObject document = ended.json();
        QCOMPARE(document["schema"].toString(), QStringLiteral("forkpoint.mapping/1"));
        QCOMPARE(document["counts"]["not_understood"].toInt(), 1);
        const QJsonArray lines = document["lines"].toArray();
        QCOMPARE(lines.size(), 4);
        QCOMPARE(lines[1]["use"].toString(), QStringLiteral("record"));
        QCOMPARE(lines[1]["stage"].toString(), QStringLiteral("forward"));
        QCOMPARE(lines[1]["shape"].toArray(), QJsonArray({2, 4}));
        QCOMPARE(lines[2]["stage"].toString(), QStringLiteral("loss"));
        QVERIFY(lines[3]["problem"].toString().startsWith("matches no line"));
    }

    void compared()
    {
        const Ended ended = run({"compare", "whole_a.log", "whole_b.log", "--mapping", "our.map",
                                 "--json", "--no-index"});
        QCOMPARE(ended.status, 1);
        const QJsonObject document = ended.json();
        QCOMPARE(document["first_divergence"]["name"].toString(), QStringLiteral("loss"));
        QCOMPARE(document["first_divergence"]["step"].toInt(), 1);
        QCOMPARE(document["first_divergence"]["stage"].toString(), QStringLiteral("loss"));
        QCOMPARE(document["a"]["format"].toString(), QStringLiteral("mapping our-logger"));
        QVERIFY(document["request"]["command"].toString().contains("--mapping our.map"));
        // A line that is not understood may hide anything.
        QCOMPARE(run({"compare", "run_a.log", "run_a.log", "--mapping", "our.map"}).status, 3);
    }

    void inspected()
    {
        const Ended ended = run({"inspect", "run_a.log", "--mapping", "our.map", "--json"});
        QVERIFY(!ended.json()["complete"].toBool(true));
        QVERIFY(ended.err.contains("line 4, byte "));
        QVERIFY(ended.err.contains("1 line of 4 not understood by the sheet"));
    }

    void sheetsAndOptionsThatAreWrong()
    {
        write("bad.map", "mapping 1\n\nline (?P<name>\n");
        const Ended ended =
            run({"compare", "whole_a.log", "whole_b.log", "--mapping", "bad.map", "--json"});
        QCOMPARE(ended.status, 2);
        QVERIFY(ended.err.contains("bad.map: line 3: expected a regular expression"));
        const QJsonObject refused = ended.json();
        QCOMPARE(refused["verdict"]["outcome"].toString(), QStringLiteral("not-compared"));
        for (const QStringList &arguments :
             {QStringList{"inspect", "run_a.log", "--preview", "3"},
              {"inspect", "run_a.log", "--mapping", "our.map", "--preview", "0"},
              {"inspect", "run_a.log", "--mapping", "our.map", "--raw"},
              {"inspect", "run_a.log", "--mapping", "nothing.map"},
              {"inspect", "nothing.log", "--mapping", "our.map"},
              {"inspect", "nothing.log", "--mapping", "our.map", "--preview", "3"},
              {"compare", "json.map", "json.map", "--mapping", "json.map"}})
            QVERIFY2(run(arguments).status != 0, qPrintable(arguments.join(' ')));
    }

    /// That no file is called so is another matter than lines that no rule understands.
    void filesOfNoSuchName()
    {
        QVERIFY(QDir(m_folder.path()).mkpath("many"));
        write("many/run.log", "nothing of that kind\n");
        const QByteArray sheet = QList<QByteArray>(blocks())[1];
        write("none.map", sheet + "files *.txt\n");
        const Ended none = run({"compare", "many", "many", "--mapping", "none.map"});
        QCOMPARE(none.status, 2);
        QVERIFY(none.err.contains("has no text file of a name that 'files' of the sheet"));
        write("any.map", sheet);
        const Ended any = run({"compare", "many", "many", "--mapping", "any.map"});
        QVERIFY(any.err.contains("has no line that the sheet any.map understands"));
    }

    void sheetIsNotOverwritten()
    {
        QCOMPARE(run({"inspect", "whole_a.log", "--mapping", "our.map", "-o", "our.map"}).status,
                 2);
        QCOMPARE(run({"inspect", "whole_a.log", "--mapping", "our.map"}).status, 0);
    }

private:
    void write(const char *name, const QByteArray &bytes)
    {
        QFile file(m_folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }

    Ended run(const QStringList &arguments) const
    {
        QProcess process;
        process.setWorkingDirectory(m_folder.path());
        process.start(QStringLiteral(FORKPOINT_CLI), arguments);
        if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit)
            return {};
        return {process.exitCode(), process.readAllStandardOutput(),
                process.readAllStandardError()};
    }

    QTemporaryDir m_folder;
    QByteArray m_preview;
};

QTEST_GUILESS_MAIN(MappingCliTest)
#include "tst_mapping_cli.moc"
