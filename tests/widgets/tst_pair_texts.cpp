// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of paths in one line: what tells them apart is always to be seen. The texts were written by hand.
#include "widget_test_main.h"
#include "widgets/pair_texts.h"

#include <QSet>
#include <QTest>

using namespace forkpoint;

namespace {

QString pair(const QString &a, const QString &b)
{
    return a + u'\n' + b;
}

QStringList linesOf(const QStringList &pairs, int room)
{
    QStringList lines;
    for (const PairText &text : pairTexts(pairs, room))
        lines += text.a + QStringLiteral(" | ") + text.b;
    return lines;
}

} // namespace

class TestPairTexts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void showsShortPathsWhole()
    {
        QCOMPARE(linesOf({pair("/runs/a", "/runs/b"), pair("/runs/a", "/runs/c")}, 20),
                 QStringList({"/runs/a | /runs/b", "/runs/a | /runs/c"}));
    }

    void keepsTheFolderInWhichThePathsDiffer()
    {
        const QString a = "/scratch/team/project/seed_1/checkpoints/iteration_0000100/weights.pt";
        QCOMPARE(linesOf({pair(a, QString(a).replace("seed_1", "seed_2"))}, 30),
                 QStringList{"…/seed_1/…/weights.pt | …/seed_2/…/weights.pt"});
    }

    void keepsWhatTellsEntriesApart()
    {
        const QString a = "/scratch/team/project/monday/checkpoints/iteration_0000100/seed_1",
                      b = "/scratch/team/project/monday/checkpoints/iteration_0000100/seed_2";
        const QStringList pairs{
            pair(a, b), pair(QString(a).replace("monday", "tuesday"), b),
            pair(QString(a).replace("100", "200"), QString(b).replace("100", "200"))};
        QCOMPARE(linesOf(pairs, 16),
                 QStringList({"…/iteration_0000100/seed_1 | …/iteration_0000100/seed_2",
                              "…/tuesday/…/seed_1 | …/monday/…/seed_2",
                              "…/iteration_0000200/seed_1 | …/iteration_0000200/seed_2"}));
    }

    void fillsTheRoomFromTheEnd()
    {
        QCOMPARE(linesOf({pair("/first/second/third/a", "/first/second/third/b")}, 15),
                 QStringList{"…/third/a | …/third/b"});
    }

    void showsWhereNamesOfFourThousandCharactersDiffer()
    {
        const QString start(2000, u'x'), end(2095, u'y');
        const QStringList lines =
            linesOf({pair("/runs/" + start + "1" + end, "/runs/" + start + "2" + end)}, 40);
        QVERIFY(lines.front().size() < 120);
        const QStringList sides = lines.front().split(QStringLiteral(" | "));
        QVERIFY2(sides[0].contains("xxxx1yyyy"), qPrintable(sides[0]));
        QVERIFY2(sides[1].contains("xxxx2yyyy"), qPrintable(sides[1]));
    }

    void entriesNeverLookAlike()
    {
        QStringList pairs;
        for (const char *user : {"anna", "bert"}) {
            for (const char *day : {"01", "02", "03"}) {
                const QString run = QStringLiteral("/home/%1/experiments/2026-05-%2/megatron/out")
                                        .arg(QLatin1String(user), QLatin1String(day));
                pairs += pair(run + "/run_a/iter_0000010", run + "/run_b/iter_0000010");
            }
        }
        for (const int room : {8, 24, 40}) {
            const QStringList lines = linesOf(pairs, room);
            QCOMPARE(QSet<QString>(lines.begin(), lines.end()).size(), pairs.size());
        }
    }

    void samePathsAndOddOnesAreNoTrouble()
    {
        QCOMPARE(linesOf({pair("/a/very/long/path/of/a/run", "/a/very/long/path/of/a/run")}, 10),
                 QStringList{"…/of/a/run | …/of/a/run"});
        QCOMPARE(linesOf({pair("/", "")}, 10), QStringList{"/ | "});
        QCOMPARE(linesOf({pair("/run/", "/run")}, 10), QStringList{"/run/ | /run"});
        QVERIFY(linesOf({pair(QStringLiteral("/r\u202eun"), "/run")}, 20)
                    .front()
                    .startsWith("/r\\u202eun"));
    }
};

FP_WIDGET_TEST_MAIN(TestPairTexts)
#include "tst_pair_texts.moc"
