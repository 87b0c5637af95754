// SPDX-License-Identifier: GPL-3.0-or-later
// What of a verdict's sentence leads somewhere: items, steps, classes; and no word of prose.
#include "widgets/views/linked_sentence.h"

#include <QTest>

using namespace forkpoint;

class TestLinkedSentence : public QObject
{
    Q_OBJECT

private slots:
    /// A checkpoint that has a value called "step", as most have.
    void itemsCalledLikeWordsOfProseAreLinkedWhereTheyAreNamed()
    {
        RunComparison runs;
        runs.steps = {{5, StepStatus::Identical, 0, {}}, {6, StepStatus::Different, 1, {}}};
        CheckpointComparison shown;
        shown.tensors.resize(1);
        shown.tensors[0].name = "model.fc1.weight";
        shown.values.resize(1);
        shown.values[0].name = "step";
        const LinkedSentence sentence(runs, shown);
        QCOMPARE(linksOf(sentence,
                         "Between step 5 (equal) and step 6 (different): model.fc1.weight "
                         "(weight) differs first."),
                 (QStringList{"step 5 -> step:5", "step 6 -> step:6",
                              "model.fc1.weight -> item:model.fc1.weight"}));
        QCOMPARE(linksOf(sentence, "In step 6, step (counter) differs; no earlier step is common."),
                 (QStringList{"step 6 -> step:6", "step -> item:step"}));
    }

private:
    static QStringList linksOf(const LinkedSentence &sentence, const char *text)
    {
        std::vector<StyledText::Segment> segments;
        sentence.append(segments, QString::fromLatin1(text), {});
        QStringList links;
        QString whole;
        for (const StyledText::Segment &segment : segments) {
            whole += segment.text;
            if (!segment.link.isEmpty())
                links += segment.text + QStringLiteral(" -> ") + segment.link;
        }
        if (whole != QLatin1String(text))
            links += QStringLiteral("the text became: ") + whole;
        return links;
    }
};

QTEST_APPLESS_MAIN(TestLinkedSentence)
#include "tst_linked_sentence.moc"
