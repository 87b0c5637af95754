// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/step_bisection.h"

#include <QTest>

#include <bit>
#include <random>

using namespace forkpoint;
using Answer = StepBisection::Answer;

namespace {

/// Looks as long as it is asked to; how often.
std::size_t search(StepBisection &bisection, const std::vector<Answer> &truth)
{
    std::size_t looks = 0;
    while (const auto step = bisection.next()) {
        bisection.tell(*step, truth[*step]);
        if (++looks > truth.size())
            return looks; // it asked for one of them twice
    }
    return looks;
}

} // namespace

class StepBisectionTest : public QObject
{
    Q_OBJECT

private slots:
    void findsEveryForkInFewLooks()
    {
        for (std::size_t count = 1; count <= 40; ++count) {
            for (std::size_t fork = 0; fork <= count; ++fork) {
                std::vector<Answer> truth(count, Answer::Equal);
                std::fill(truth.begin() + std::ptrdiff_t(fork), truth.end(), Answer::Different);
                StepBisection bisection(count);
                const std::size_t looks = search(bisection, truth);
                QVERIFY(looks <= std::size_t(std::bit_width(count)) + 2);
                const std::vector<Answer> all = bisection.inferred();
                for (std::size_t i = 0; i < count; ++i) {
                    QVERIFY(all[i] == truth[i] || i == fork || i + 1 == fork
                            || (fork == count && (i == 0 || i + 1 == count)) || i == 0);
                }
            }
        }
    }

    void tenThousandStepsTakeSixteenLooks()
    {
        std::vector<Answer> truth(10'000, Answer::Different);
        std::fill(truth.begin(), truth.begin() + 7'321, Answer::Equal);
        StepBisection bisection(truth.size());
        QVERIFY(search(bisection, truth) <= 16);
        QVERIFY(bisection.inferred()[7'000] == Answer::Equal);
        QVERIFY(bisection.inferred()[7'322] == Answer::Different);
    }

    void looksAtAllWhereRunsMeetAgain()
    {
        const std::vector<Answer> truth = {Answer::Different, Answer::Equal, Answer::Different,
                                           Answer::Equal, Answer::Equal};
        StepBisection bisection(5);
        QCOMPARE(search(bisection, truth), std::size_t(5));
        QVERIFY(bisection.inferred()[2] == Answer::Unknown);
    }

    /// What could not be decided never hides the fork from where it could be, and is never guessed
    /// next to it.
    void passesOverTheUndecided()
    {
        std::mt19937 random(11);
        for (int round = 0; round < 2000; ++round) {
            const std::size_t count = 1 + random() % 30, fork = random() % (count + 1);
            std::vector<Answer> truth(count, Answer::Unknown);
            std::optional<std::size_t> first, before;
            for (std::size_t i = 0; i < count; ++i) {
                if (random() % 4 == 0)
                    continue;
                truth[i] = i < fork ? Answer::Equal : Answer::Different;
                if (i < fork)
                    before = i;
                else if (!first)
                    first = i;
            }
            StepBisection bisection(count);
            QVERIFY(search(bisection, truth) <= count);
            const std::vector<Answer> all = bisection.inferred();
            for (std::size_t i = 0; i < count; ++i) {
                const Answer inferred = all[i];
                if (before && first && i > *before && i < *first)
                    QVERIFY(inferred == Answer::Unknown);
                if (first && i > *first)
                    QVERIFY(inferred == Answer::Different);
            }
        }
    }
};

QTEST_APPLESS_MAIN(StepBisectionTest)
#include "tst_step_bisection.moc"
