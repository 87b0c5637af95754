// SPDX-License-Identifier: GPL-3.0-or-later
// Logs alone with the real forkpoint-cli: steps that were asked for, steps that are counted apart, and
// what a sentence may say of recorded values.
#include "tests/support/cli_process.h"

#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>

using namespace forkpoint::test;

class MetricStepsCliTest : public QObject
{
    Q_OBJECT

private slots:
    void stepsThatWereAskedFor()
    {
        const QString a = write("a.jsonl", rows(12, 0)), b = write("b.jsonl", rows(12, 0, 7));
        QCOMPARE(run({"compare", a, b, "--json"}).outcome(), QStringLiteral("different"));
        QCOMPARE(run({"compare", a, b, "--json", "--steps", "1:6"}).outcome(),
                 QStringLiteral("identical"));
        QCOMPARE(run({"compare", a, b, "--json", "--step", "6"}).outcome(),
                 QStringLiteral("identical"));
        const Ended seventh = run({"compare", a, b, "--json", "--step", "7"});
        QCOMPARE(seventh.outcome(), QStringLiteral("different"));
        QVERIFY(sentence(seventh).contains("This is of step 7 alone"));
        QCOMPARE(seventh.json()["first_divergence"]["step"].toInt(), 7);
        const Ended none = run({"compare", a, b, "--json", "--step", "40"});
        QCOMPARE(none.status, 2);
        QVERIFY(sentence(none).contains("A logs nothing at step 40"));
        const Ended unlike = run({"compare", a, b, "--json", "--step", "5:6"});
        QCOMPARE(unlike.status, 2);
        QVERIFY(sentence(unlike).contains("meet at equal steps"));
        QVERIFY(unlike.json()["first_divergence"].isNull());
    }

    /// B logs no steps 6 to 10: a hole, whether what is asked for goes on behind it or not.
    void aHoleAtTheEdgeOfWhatIsAskedFor()
    {
        const QString a = write("a.jsonl", rows(20, 0));
        QByteArray lines;
        const QList<QByteArray> all = rows(20, 0).split('\n');
        for (int i = 0; i < 20; ++i)
            lines += i >= 5 && i < 10 ? QByteArray() : all[i] + '\n';
        const QString b = write("b.jsonl", lines);
        for (const char *steps : {"1:20", "1:10", "1:7", "8:20"})
            QCOMPARE(run({"compare", a, b, "--json", "--steps", steps}).outcome(),
                     QStringLiteral("undecided"));
        for (const char *steps : {"1:5", "11:20"})
            QCOMPARE(run({"compare", a, b, "--json", "--steps", steps}).outcome(),
                     QStringLiteral("identical"));
    }

    /// One curve of 250 steps an epoch, logged every 2 and every 3 steps: printed epochs meet here and
    /// there, their rows do not.
    void epochsOfUnlikeSpacings()
    {
        const QString two = write("two.log", consoleRows(2)),
                      three = write("three.log", consoleRows(3));
        const Ended ended = run({"compare", two, three, "--json"});
        QCOMPARE(ended.outcome(), QStringLiteral("undecided"));
        QVERIFY(ended.json()["first_divergence"].isNull());
        QCOMPARE(run({"compare", two, two, "--json"}).json()["first_divergence"].isNull(), true);
    }

    void stepsThatAreCountedApart()
    {
        const QString a = write("a.jsonl", rows(12, 0)), late = write("late.jsonl", rows(12, 1));
        const Ended ended = run({"compare", a, late, "--json"});
        QCOMPARE(ended.outcome(), QStringLiteral("different"));
        const QJsonObject hint = finding(ended, "metric-shifted");
        QCOMPARE(hint["certainty"].toString(), QStringLiteral("consistent-with"));
        QVERIFY(hint["text"].toString().contains("B at step n+1 equals A at step n for 12 steps"));
        QVERIFY(finding(run({"compare", late, a, "--json"}), "metric-shifted")["text"]
                    .toString()
                    .contains("B at step n-1 equals"));
        // Not of equal runs, of a difference alone, or of a number that never changes.
        const QString other = write("other.jsonl", rows(12, 1, 7));
        for (const QString &log : {a, other})
            QVERIFY(finding(run({"compare", a, log, "--json"}), "metric-shifted").isEmpty());
        const QString flat = write("flat.jsonl", flatRows(1)), step = write("b.jsonl", flatRows(2));
        QVERIFY(finding(run({"compare", flat, step, "--json"}), "metric-shifted").isEmpty());
    }

    /// 1 and 1.0 are one value and other bytes.
    void valuesAreNoBytes()
    {
        const QString sheet = write("s.map",
                                    "mapping 1\nname t\nkey step step\nkey name what\n"
                                    "key value v\nset stage loss\nset digest_kind value\n");
        const QByteArray row = "{\"step\": 1, \"what\": \"loss\", \"v\": 1}\n";
        const QString a = write("a.jsonl", row);
        const QString same = write("same.jsonl", QByteArray(row).replace("1}", "1.0}"));
        const QString other = write("other.jsonl", QByteArray(row).replace("1}", "1.5}"));
        const Ended equal = run({"compare", a, same, "--json", "--mapping", sheet});
        QCOMPARE(equal.outcome(), QStringLiteral("identical"));
        const Ended apart = run({"compare", a, other, "--json", "--mapping", sheet});
        QCOMPARE(apart.outcome(), QStringLiteral("different"));
        for (const Ended &ended : {equal, apart}) {
            QVERIFY(sentence(ended).contains("recorded value"));
            QVERIFY2(!sentence(ended).contains("byte"), qPrintable(sentence(ended)));
        }
        QVERIFY(!apart.json()["first_divergence"]["sentence"].toString().contains("byte"));
    }

private:
    /// Losses of which the n-th has every digit; `shift` is added to their steps, and the loss of step
    /// `changed` is another.
    static QByteArray rows(int count, int shift, int changed = 0)
    {
        QByteArray text;
        for (int i = 1; i <= count; ++i)
            text += "{\"step\": " + QByteArray::number(i + shift) + ", \"loss\": "
                + QByteArray::number(5.123456789012345 / i + (i + shift == changed ? 1e-9 : 0), 'g',
                                     17)
                + "}\n";
        return text;
    }
    /// As the Trainer of transformers prints them.
    static QByteArray consoleRows(int every)
    {
        QByteArray text;
        for (int step = every; step <= 100; step += every)
            text += "{'loss': " + QByteArray::number(5.0 / (step + 1), 'f', 4)
                + ", 'learning_rate': 0.001, 'epoch': " + QByteArray::number(step / 250.0, 'f', 2)
                + "}\n";
        return text;
    }
    static QByteArray flatRows(double at5)
    {
        QByteArray text;
        for (int i = 1; i <= 9; ++i)
            text += "{\"step\": " + QByteArray::number(i) + ", \"loss\": "
                + QByteArray::number(i == 5 ? at5 : 0.123456789012345678, 'g', 17) + "}\n";
        return text;
    }

    QString write(const char *name, const QByteArray &text)
    {
        QFile file(m_directory.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(text);
        return file.fileName();
    }
    static QString sentence(const Ended &ended)
    {
        return ended.json()["verdict"]["sentence"].toString();
    }
    static QJsonObject finding(const Ended &ended, const char *id)
    {
        for (const QJsonValue &each : ended.json()["findings"].toArray()) {
            if (each["id"].toString() == QLatin1String(id))
                return each.toObject();
        }
        return {};
    }

    QTemporaryDir m_directory;
};

QTEST_GUILESS_MAIN(MetricStepsCliTest)
#include "tst_metric_steps_cli.moc"
