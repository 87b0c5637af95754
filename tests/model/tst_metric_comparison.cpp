// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_comparison.h"
#include "model/metrics/metric_findings.h"
#include "model/metrics/metric_kind.h"
#include "model/metrics/printed_decimal.h"
#include "model/traces/trace_stage.h"

#include <QtTest>

#include <bit>
#include <cstdio>
#include <limits>
#include <random>

using namespace forkpoint;

namespace {

DecimalText decimal(std::string_view text)
{
    const auto parsed = parseDecimal(text);
    return parsed.value_or(DecimalText());
}

std::string printed(const char *format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

MetricSeries known(std::string name, std::vector<MetricPoint> points)
{
    return {std::move(name), "log", true, std::move(points)};
}

/// Steps 1, 2, ... as they were printed.
MetricSeries rounded(std::string name, const std::vector<std::string_view> &texts)
{
    MetricSeries series{std::move(name), "log", false, {}};
    for (const std::string_view text : texts) {
        series.points.push_back({std::int64_t(series.points.size() + 1), decimal(text).value});
        series.printed.push_back(decimal(text).printed);
    }
    return series;
}

Verdict verdictOf(const std::vector<MetricSeries> &a, const std::vector<MetricSeries> &b)
{
    return decide(metricFacts(a, b, compareMetrics(a, b)));
}

} // namespace

class MetricComparisonTest : public QObject
{
    Q_OBJECT

private slots:
    void decimals()
    {
        const auto check = [](std::string_view text, std::int64_t mantissa, int exponent,
                              int digits) {
            const auto parsed = parseDecimal(text);
            QVERIFY2(parsed, std::string(text).c_str());
            QVERIFY(parsed->printed.mantissa == mantissa);
            QCOMPARE(parsed->printed.exponent, exponent);
            QCOMPARE(parsed->significantDigits, digits);
            QCOMPARE(parsed->value, std::strtod(std::string(text).c_str(), nullptr));
        };
        check("5.0356", 50356, -4, 5);
        check("-0.00120", -120, -5, 3);
        check("5.035616E+00", 5035616, -6, 7);
        check("1e-05", 1, -5, 1);
        check("12", 12, 0, 2);
        check("2.50e3", 250, 1, 3);
        check("0.0", 0, -1, 0);
        QVERIFY(decimal("12").wholeNumber && !decimal("12").printed.exact);
        QVERIFY(!decimal("12.0").wholeNumber);
        QVERIFY(decimal("-0.0000").printed.negativeZero);
        QVERIFY(decimal("nan").value != decimal("nan").value && decimal("nan").printed.exact);
        QVERIFY(decimal("9007199254740992").wholeNumber);
        QVERIFY(!decimal("9007199254740993").wholeNumber && decimal("9007199254740993").lossy);
        QVERIFY(decimal("9007199254740994").wholeNumber);     // even: a float64 has it
        QVERIFY(decimal("-1152921504606846976").wholeNumber); // -2^60
        QVERIFY(decimal("18446744073709551615").lossy && decimal("18446744073709551616").lossy);
        QVERIFY(!decimal("9007199254740993.0").lossy && !decimal("5.5").lossy);
        for (const std::string_view bad : {"", ".", "-", "1e", "0x10", "1,000", "1 ", " 1", "1e400",
                                           "1.2.3", "nanx", "--1", "+-1", "1e+-5"})
            QVERIFY2(!parseDecimal(bad), std::string(bad).c_str());
        // Python's float() takes these words in any case.
        for (const std::string_view word : {"nan", "-NaN", "+inf", "INFINITY", "-Inf"})
            QVERIFY2(decimal(word).printed.exact, std::string(word).c_str());
        QVERIFY(decimal("-Infinity").value < 0 && decimal("+inf").value > 0);
        for (const std::string_view beyond : {"1.5e400", "+1e400", "-1E-5000"})
            QVERIFY2(isDecimalBeyondFloat64(beyond), std::string(beyond).c_str());
        for (const std::string_view other : {"1.5", "nan", "", "x", "1e400x", "2025-01-01", "0x1"})
            QVERIFY2(!isDecimalBeyondFloat64(other), std::string(other).c_str());
        // A text of any length; zeros in front or behind are no digits too many.
        QVERIFY(parseDecimal("0." + std::string(300, '0') + "1"));
        QVERIFY(!parseDecimal("0." + std::string(5000, '0') + "1"));
        QVERIFY(parseDecimal(std::string(300, '1')));
    }

    void binaryFractions()
    {
        QVERIFY(decimal("0.5").dyadic && decimal("5.03125").dyadic && decimal("0.0").dyadic);
        QVERIFY(!decimal("0.1").dyadic && !decimal("5.0356").dyadic);
    }

    /// Rounding is a function: two texts are apart only if the values are, and the range of a text
    /// holds every value that prints so.
    void intervalsHoldWhatPrintsSo()
    {
        std::mt19937_64 random(7);
        for (int i = 0; i < 20000; ++i) {
            const double x = std::ldexp(double(random()), int(random() % 80) - 100);
            const double y =
                random() % 2 ? std::nextafter(x, 1e300) : x * (1 + double(random() % 100) * 1e-6);
            for (const char *format : {"%.4f", "%.6E", "%.4g", "%.2f"}) {
                const auto a = decimal(printed(format, x)), b = decimal(printed(format, y));
                const DecimalRange range = rangeOf(a.printed);
                QVERIFY(range.low <= x && x <= range.high);
                if (a.printed.exponent == b.printed.exponent)
                    QCOMPARE(surelyDifferent(a.printed, b.printed),
                             printed(format, x) != printed(format, y));
                // Of other formats the same value is never apart.
                const auto other = decimal(printed("%.5f", x));
                QVERIFY(!surelyDifferent(a.printed, other.printed));
                QVERIFY(!surelyDifferent(other.printed, a.printed));
            }
        }
        // Mantissas of all kept digits, whose bounds Python's integers and Fraction give.
        const auto holds = [](std::string_view text, double low, double high) {
            const DecimalRange range = rangeOf(decimal(text).printed);
            QCOMPARE(range.low, low);
            QCOMPARE(range.high, high);
        };
        holds("850000000000000000000000000000000001", 8.5e+35, 8.5e+35);
        holds("950000000000000000000000000000000001", 9.5e+35, 9.5e+35);
        holds("-950000000000000000000000000000000001", -9.5e+35, -9.5e+35);
        holds("999999999999999999999999999999999999", 1e+36, 1e+36);
        holds("9999999999999999999999999999999999996", 1e+37, 1e+37);
        holds("0.950000000000000000000000000000000001", 0.95, 0.95);
        holds("-9.22337203685477580800000000000000001", -9.223372036854776, -9.223372036854776);
        QVERIFY(surelyDifferent(decimal("5.036").printed, decimal("5.0354").printed));
        QVERIFY(!surelyDifferent(decimal("5.036").printed, decimal("5.0355").printed)); // touch
        QVERIFY(surelyDifferent(decimal("1e300").printed, decimal("1e-300").printed));
        QVERIFY(surelyDifferent(decimal("-1e-300").printed, decimal("1e300").printed));
        QVERIFY(surelyDifferent(decimal("0.0000").printed, decimal("-0.0000").printed));
    }

    void digitsThatAgreeProveNothing()
    {
        const auto a = rounded("loss", {"5.0356", "4.9835"}), b = a;
        const Verdict verdict = verdictOf({a}, {b});
        QVERIFY(verdict.outcome == Outcome::Undecided);
        QVERIFY(verdict.strength == Strength::Printed);
        const auto metric = compareMetrics({a}, {b}).front();
        QVERIFY(!metric.bitsKnown && !metric.firstBitDifference && !metric.firstProvenDifference);
        QVERIFY(metricFindings({metric}, false).front().text.find("not known")
                != std::string::npos);
    }

    void disjointIntervalsProveADifference()
    {
        const auto a = rounded("loss", {"5.0356", "4.9835", "4.9423"});
        const auto b = rounded("loss", {"5.0356", "4.9836", "4.9423"});
        const auto metric = compareMetrics({a}, {b}).front();
        QVERIFY(metric.firstProvenDifference == 2);
        QVERIFY(!metric.firstBitDifference); // it may be earlier
        QCOMPARE(metric.firstPrintedDifference.at(4), std::int64_t(2));
        QVERIFY(metric.firstPrintedDifference.count(6) == 0); // nobody knows six digits
        QCOMPARE(metric.differentSteps, std::uint64_t(1));
        const Verdict verdict = verdictOf({a}, {b});
        QVERIFY(verdict.outcome == Outcome::Different && verdict.strength == Strength::Printed);
        // Fewer digits on one side.
        QVERIFY(verdictOf({a}, {rounded("loss", {"5.04", "4.98", "4.94"})}).outcome
                == Outcome::Undecided);
        QVERIFY(verdictOf({a}, {rounded("loss", {"5.04", "4.99", "4.94"})}).outcome
                == Outcome::Different);
    }

    void printedAgainstKnown()
    {
        const auto text = rounded("loss", {"5.0356"});
        QVERIFY(verdictOf({text}, {known("loss", {{1, 5.035615921020508}})}).outcome
                == Outcome::Undecided);
        QVERIFY(verdictOf({text}, {known("loss", {{1, 5.0357}})}).outcome == Outcome::Different);
    }

    void float32AgainstFloat64()
    {
        MetricSeries narrow = known("loss", {{1, double(0.1f)}});
        narrow.float32 = true;
        const auto same = compareMetrics({narrow}, {narrow}).front();
        QVERIFY(same.bitsKnown && !same.firstProvenDifference);
        QVERIFY(verdictOf({narrow}, {narrow}).outcome == Outcome::Identical);
        // 0.1 rounds to that float32; its own bits are not in the other file.
        QVERIFY(verdictOf({narrow}, {known("loss", {{1, 0.1}})}).outcome == Outcome::Undecided);
        QVERIFY(verdictOf({narrow}, {known("loss", {{1, 0.1001}})}).outcome == Outcome::Different);
    }

    void bitsDecide()
    {
        const auto a = known("loss", {{1, 0.5}, {2, 0.25}});
        QVERIFY(verdictOf({a}, {a}).outcome == Outcome::Identical);
        const auto later = known("loss", {{1, 0.5}, {2, std::nextafter(0.25, 1.0)}});
        QVERIFY(verdictOf({a}, {later}).outcome == Outcome::Different);
        // Outside of the overlap: a note at most; inside, a hole.
        QVERIFY(verdictOf({a}, {known("loss", {{2, 0.25}, {3, 0.1}})}).outcome
                == Outcome::Identical);
        QVERIFY(verdictOf({known("loss", {{1, 0.5}, {2, 0.25}, {3, 0.1}})},
                          {known("loss", {{1, 0.5}, {3, 0.1}})})
                    .outcome
                == Outcome::Undecided);
        QVERIFY(verdictOf({a, known("x", {{1, 1.0}})}, {a}).outcome == Outcome::Undecided);
        QVERIFY(verdictOf({a}, {known("x", {{1, 1.0}})}).outcome == Outcome::Undecided);
    }

    /// NaN on one side is no matter of rounding, and the finding says it.
    void oneSideIsNoNumber()
    {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const auto a = known("loss", {{1, 0.5}, {2, 0.25}, {3, nan}, {4, 2.0}});
        const auto b = known("loss", {{1, 0.5}, {2, nan}, {3, nan}, {4, nan}});
        const auto compared = compareMetrics({a}, {b});
        QCOMPARE(compared[0].nonFiniteSteps, std::uint64_t(2));
        QVERIFY(compared[0].firstNonFinite == 2 && !compared[0].isNonFiniteInA);
        const std::string text = metricFindings(compared, false)[0].text;
        QVERIFY2(
            text.ends_with("; at step 2 B is NaN or infinite and A is not (one side alone at 2 "
                           "steps)"),
            text.c_str());
        QVERIFY(!compareMetrics({a}, {a})[0].firstNonFinite);
        QVERIFY(compareMetrics({b}, {a})[0].isNonFiniteInA);
    }

    void machineMetricsDecideNothing()
    {
        const auto a = known("loss", {{1, 0.5}});
        const auto fast = known("tps", {{1, 100.0}}), slow = known("tps", {{1, 90.0}});
        QVERIFY(verdictOf({a, fast}, {a, slow}).outcome == Outcome::Identical);
        QVERIFY(compareMetrics({fast}, {slow}).front().context);
        QVERIFY(verdictOf({fast}, {slow}).outcome == Outcome::Undecided);
        for (const char *name : {"elapsed time per iteration (ms)", "train/tokens_per_sec",
                                 "_timestamp", "_runtime", "perf/mfu", "gpu_memory"})
            QVERIFY2(isBookkeepingMetric(name), name);
        for (const char *name : {"loss", "lm loss", "grad norm", "sentiment", "loss/timestep 5",
                                 "learning rate", "consumed samples"})
            QVERIFY2(!isBookkeepingMetric(name), name);
    }

    void firstInCausalOrder()
    {
        const auto a = {known("grad_norm", {{1, 1.0}, {2, 1.0}}), known("a_metric", {{2, 1.0}}),
                        known("loss", {{1, 1.0}, {2, 1.0}})};
        const auto b = {known("grad_norm", {{1, 1.0}, {2, 2.0}}), known("a_metric", {{2, 2.0}}),
                        known("loss", {{1, 1.0}, {2, 2.0}})};
        const auto compared = compareMetrics(a, b);
        QCOMPARE(firstToPart(compared)->name, std::string("loss"));
        QVERIFY(!firstToPart(compareMetrics(a, a)));
        // The chain of traces is the only order: the rate acts in the step that computes the loss.
        const auto rateA = {known("loss", {{1, 1.0}}), known("train/lr", {{1, 0.5}})};
        const auto rateB = {known("loss", {{1, 2.0}}), known("train/lr", {{1, 0.25}})};
        QCOMPARE(firstToPart(compareMetrics(rateA, rateB))->name, std::string("train/lr"));
        QVERIFY(causalPlace(metricStage("train/lr")) < causalPlace(metricStage("loss")));
        QCOMPARE(stageOfMetric("train/lr"), std::string_view("scheduler"));
        QVERIFY(stageOfMetric("tokens").empty() && stageOfMetric("accuracy").empty());
    }

    /// The sentence claims what was compared and no more.
    void identicalSaysOfWhat()
    {
        const auto sentence = [](const std::vector<MetricSeries> &a,
                                 const std::vector<MetricSeries> &b) {
            const Verdict verdict = verdictOf(a, b);
            return verdict.outcome == Outcome::Identical ? verdict.sentence : std::string("other");
        };
        const auto says = [](const std::string &text, std::string_view words) {
            return text.find(words) != std::string::npos;
        };
        const auto a = known("loss", {{1, 0.5}, {2, 0.25}});
        QVERIFY(says(sentence({a}, {a}), "every logged number is equal ("));
        auto again = a;
        again.passedOver = 3;
        QVERIFY(!says(sentence({a}, {again}), "every"));
        QVERIFY(says(sentence({a}, {again}), "3 numbers"));
        const auto fast = known("tps", {{1, 100.0}}), slow = known("tps", {{1, 90.0}});
        QVERIFY(says(sentence({a, fast}, {a, slow}), "times, rates and memory apart"));
        QVERIFY(says(sentence({a}, {known("loss", {{1, 0.5}})}), "at the steps that both logged"));
    }

    /// Of a metric that mixes texts and binary numbers the latter are points, not intervals.
    void exactPointsAmongRounded()
    {
        MetricSeries mixed = known("loss", {{1, 0.5}});
        mixed.bitsKnown = false;
        mixed.printed = {PrintedDecimal{0, 0, false, true, false}};
        MetricSeries other = mixed;
        other.points[0].value = 0.25;
        QVERIFY(verdictOf({mixed}, {other}).outcome == Outcome::Different);
        QVERIFY(verdictOf({mixed}, {mixed}).outcome == Outcome::Undecided);
    }
};

QTEST_APPLESS_MAIN(MetricComparisonTest)
#include "tst_metric_comparison.moc"
