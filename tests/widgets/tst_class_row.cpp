// SPDX-License-Identifier: GPL-3.0-or-later
// The row of classes: records of traces, and checkpoints beside them that may show more.
#include "widget_test_main.h"
#include "widgets/views/class_row.h"

#include <QTest>

using namespace forkpoint;

namespace {

RunComparison traced(LinkStatus rng, std::uint64_t different)
{
    RunComparison comparison;
    comparison.finished = true;
    comparison.verdict.coverage.recordsTotal = 9;
    comparison.chain = {{1, "rng", rng, 3, different, Strength::Bytes}};
    comparison.firstDivergence.emplace();
    comparison.firstDivergence->step = 1;
    return comparison;
}

ClassSummary summary(Outcome outcome, std::uint64_t identical, std::uint64_t different)
{
    ClassSummary result;
    result.outcome = outcome;
    result.counts.identical = identical;
    result.counts.different = different;
    return result;
}

QString textOf(const RunComparison &comparison, const CheckpointComparison &shown,
               bool brief = false)
{
    QString text;
    for (const auto &segment : classRow(comparison, shown, brief, Theme::of({})))
        text += segment.text;
    return text.remove(QChar(0x2060)).replace(QChar(QChar::Nbsp), u' ').simplified();
}

} // namespace

class ClassRowTest : public QObject
{
    Q_OBJECT

private slots:
    void recordsSayMoreThanTheTensorsThatWereKept()
    {
        CheckpointComparison shown;
        shown.byClass[StateClass::Rng] = summary(Outcome::Different, 0, 1);
        const QString text = textOf(traced(LinkStatus::Different, 2), shown);
        QVERIFY2(text.contains(u"≠ rng 2 of 3 recorded values differ"), qPrintable(text));
        QVERIFY2(text.contains(u"– weights not recorded"), qPrintable(text));
    }

    void whileItRunsNothingIsCalledEqual()
    {
        CheckpointComparison shown;
        shown.byClass[StateClass::Weights] = summary(Outcome::Identical, 3, 0);
        shown.byClass[StateClass::Optimizer] = summary(Outcome::Different, 3, 1);
        RunComparison comparison = traced(LinkStatus::Equal, 0);
        QVERIFY(textOf(comparison, shown).contains(u"= weights equal"));
        comparison.finished = false;
        const QString text = textOf(comparison, shown);
        QVERIFY2(text.contains(u"… weights no difference so far"), qPrintable(text));
        QVERIFY2(text.contains(u"… rng no difference so far"), qPrintable(text));
        QVERIFY2(text.contains(u"≠ optimizer 1 of 4 differ"), qPrintable(text));
        QVERIFY(!text.contains(u'='));
    }

    void inBriefClassesOfWhichTheSameIsSaidStandTogether()
    {
        CheckpointComparison shown;
        shown.byClass[StateClass::Weights] = summary(Outcome::Different, 2, 1);
        shown.byClass[StateClass::Optimizer] = summary(Outcome::Different, 2, 1);
        shown.byClass[StateClass::Counter] = summary(Outcome::Identical, 1, 0);
        const QString text = textOf(traced(LinkStatus::Equal, 0), shown, true);
        QCOMPARE(text,
                 QStringLiteral("≠ weights 1 of 3 differ ≠ optimizer 1 of 3 differ "
                                "– scheduler, data not recorded = counter, rng equal"));
    }

    void whatIsOfNoClassIsNotUnknownTwice()
    {
        RunComparison comparison;
        comparison.finished = true;
        CheckpointComparison shown;
        shown.byClass[StateClass::Unknown] = summary(Outcome::Undecided, 0, 0);
        shown.byClass[StateClass::Unknown].counts.notCompared = 1;
        const QString text = textOf(comparison, shown);
        QVERIFY2(text.endsWith(u"? unknown class undecided"), qPrintable(text));
        for (const auto &segment : classRow(comparison, shown, false, Theme::of({}))) {
            if (segment.text == QLatin1String("unknown class"))
                QCOMPARE(segment.link, QStringLiteral("class:unknown"));
        }
    }

    void aCheckpointThatDiffersIsNotCalledEqual()
    {
        CheckpointComparison shown;
        shown.byClass[StateClass::Rng] = summary(Outcome::Different, 1, 1);
        const QString text = textOf(traced(LinkStatus::Equal, 0), shown);
        QVERIFY2(text.contains(u"≠ rng 1 of 2 differ"), qPrintable(text));
        shown.byClass[StateClass::Rng] = summary(Outcome::Undecided, 0, 0);
        shown.byClass[StateClass::Rng].counts.notCompared = 1;
        QVERIFY(textOf(traced(LinkStatus::Equal, 0), shown).contains(u"? rng unknown"));
    }
};

FP_WIDGET_TEST_MAIN(ClassRowTest)
#include "tst_class_row.moc"
