// SPDX-License-Identifier: GPL-3.0-or-later
// What a resume needs, of checkpoints whose contents are known.
#include "model/resume/resume_facts.h"

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/resume/resume_rules.h"
#include "tests/support/memory_source.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <algorithm>
#include <bit>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr std::uint64_t Plenty = 1u << 20;

struct Counts
{
    double step = 100, iteration = 100, lastEpoch = 100, samples = 800, rate = 0.5, lastRate = 0.5;
};

SourcePtr checkpoint(const Counts &counts)
{
    auto source = std::make_shared<MemorySource>();
    source->addFloats("model.w.weight", {1, 2});
    source->addFloats("model.b.bias", {3});
    for (const char *name : {"optimizer.state.0", "optimizer.state.1"}) {
        source->addFloats(std::string(name) + ".exp_avg", {1});
        source->addFloats(std::string(name) + ".step", {float(counts.step)});
    }
    source->addValue("iteration", Value::integer(std::int64_t(counts.iteration)));
    source->addValue("scheduler.last_epoch", Value::integer(std::int64_t(counts.lastEpoch)));
    source->addValue("scheduler._last_lr.0", Value::real(counts.lastRate));
    source->addValue("optimizer.param_groups.0.lr", Value::real(counts.rate));
    source->addValue("consumed_samples", Value::integer(std::int64_t(counts.samples)));
    source->addValue("args.global_batch_size", Value::integer(8));
    source->finish();
    return source;
}

CheckpointComparison compare(const SourcePtr &a, const SourcePtr &b)
{
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, {}, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

const ResumeFact *find(const std::vector<ResumeFact> &facts, std::string_view state,
                       std::string_view name = {})
{
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const ResumeFact &fact) {
        return fact.state == state && fact.name == name;
    });
    return found == facts.end() ? nullptr : &*found;
}

std::optional<bool> holds(const SourcePtr &source, std::string_view state,
                          std::string_view name = {})
{
    const auto facts = resumeFacts(*source, Plenty, {});
    const ResumeFact *fact = find(facts, state, name);
    return fact ? fact->checkA.holds : std::nullopt;
}

/// To bfloat16, to nearest, ties to even, by the integer of the bits.
std::uint16_t rounded(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

SourcePtr withMasters(bool truncated)
{
    std::mt19937 random(7);
    std::vector<float> masters;
    std::vector<std::uint16_t> weights;
    for (int i = 0; i < 1000; ++i) {
        // Any finite float: exponents below 255.
        const std::uint32_t bits = std::uint32_t(random()) & 0xbfffffffu;
        masters.push_back(std::bit_cast<float>(bits));
        weights.push_back(truncated ? std::uint16_t(bits >> 16) : rounded(masters.back()));
    }
    auto source = std::make_shared<MemorySource>();
    source->add(MemorySource::pathOf("module.w.weight"), "bfloat16", {1000}, weights);
    source->addFloats("fp32.w.weight", masters);
    source->finish();
    return source;
}

} // namespace

class ResumeFactsTest : public QObject
{
    Q_OBJECT

private slots:
    void theTableIsWellFormed()
    {
        QVERIFY(!ResumeRules::builtin().matches(ResumeRole::Iteration, "iteration").empty());
        QVERIFY(!ResumeRules::parse("iteration only-a-pattern").ok());
        QVERIFY(!ResumeRules::parse("no-such-role a b").ok());
        QVERIFY(ResumeRules::parse("# only a comment\n\n").ok());
    }

    void patternsKeepTheirParts()
    {
        const auto parts = matchParts("rng_state/shard_{pp}.{tp}_*", "rng_state/shard_1.12_2.2.x");
        QVERIFY(parts);
        QCOMPARE(fillParts("{tp} of {pp}, {x}", *parts), std::string("12 of 1, {x}"));
        QVERIFY(!matchParts("shard_{pp}.x", "shard_a.x"));
        const auto master = matchParts("optimizer.state.{x}.master_param",
                                       "optimizer.state.a.b.weight.master_param");
        QVERIFY(master);
        QCOMPARE(fillParts("model.{x}", *master), std::string("model.a.b.weight"));
        QCOMPARE(ResumeRules::builtin().ranksOf("mp_rank_01_003.rng_state.0.x").toString(),
                 std::string("tp 1, pp 3"));
        QCOMPARE(ResumeRules::builtin().withoutRanks("mp_rank_01_003.rng_state.0.x"),
                 ResumeRules::builtin().withoutRanks("mp_rank_00_000.rng_state.0.x"));
    }

    void whatAgreesIsConsistent()
    {
        const SourcePtr source = checkpoint({});
        QCOMPARE(holds(source, "optimizer step"), std::optional(true));
        QCOMPARE(holds(source, "schedule", "scheduler.last_epoch"), std::optional(true));
        QCOMPARE(holds(source, "data position", "consumed_samples"), std::optional(true));
        QCOMPARE(holds(source, "learning rate", "optimizer.param_groups.0.lr"),
                 std::optional(true));
        QVERIFY(resumeFindings(resumeFacts(*source, Plenty, {}), false).empty());
    }

    void eachCounterIsHeldAgainstTheIteration()
    {
        Counts counts;
        counts.lastEpoch = 101;
        QCOMPARE(holds(checkpoint(counts), "schedule", "scheduler.last_epoch"),
                 std::optional(false));
        counts = {};
        counts.step = 99;
        QCOMPARE(holds(checkpoint(counts), "optimizer step"), std::optional(false));
        counts = {};
        counts.samples = 792;
        QCOMPARE(holds(checkpoint(counts), "data position", "consumed_samples"),
                 std::optional(false));
        counts = {};
        counts.rate = 0.25;
        QCOMPARE(holds(checkpoint(counts), "learning rate", "optimizer.param_groups.0.lr"),
                 std::optional(false));
    }

    /// accelerate 1.15.0 steps the schedule once for each process, and each leaves its generators.
    void theScheduleMayCountForEachProcess()
    {
        const auto holdsWith = [](double lastEpoch, int processes) {
            Counts counts;
            counts.lastEpoch = lastEpoch;
            const SourcePtr source = checkpoint(counts);
            for (int i = 0; i < processes; ++i)
                source->addValue("random_states_" + std::to_string(i) + ".step", Value::integer(0));
            source->finish();
            return holds(source, "schedule", "scheduler.last_epoch");
        };
        QCOMPARE(holdsWith(200, 2), std::optional(true));
        QCOMPARE(holdsWith(200, 1), std::optional(false));
        QCOMPARE(holdsWith(200, 4), std::optional(false));
        QCOMPARE(holdsWith(201, 2), std::optional(false));
        QCOMPARE(holdsWith(300, 2), std::optional<bool>()); // the third one's file may be lost
    }

    /// The words of a generator are one item, its position and a kept variate are others.
    void equalWordsAreNoEqualGenerator_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("number");
        QTest::addColumn<std::optional<bool>>("expected");
        const std::optional<bool> differ = false, equal = true;
        QTest::newRow("position") << "rng_state.numpy.1"
                                  << "rng_state.numpy.2" << differ;
        QTest::newRow("kept") << "rng_state.numpy.1"
                              << "rng_state.numpy.4" << differ;
        QTest::newRow("Python's kept") << "rng_state.python.1"
                                       << "rng_state.python.2" << differ;
        QTest::newRow("key") << "rng_state.np.state.key"
                             << "rng_state.np.state.pos" << differ;
        QTest::newRow("gauss") << "rng_state.np.state.key"
                               << "rng_state.np.gauss" << differ;
        QTest::newRow("another's") << "rng_state.numpy.1"
                                   << "rng_state.python.2" << equal;
        QTest::newRow("no tuple") << "rng_state.cpu"
                                  << "rng_state.draws" << equal;
    }

    void equalWordsAreNoEqualGenerator()
    {
        QFETCH(QString, words);
        QFETCH(QString, number);
        QFETCH(std::optional<bool>, expected);
        const auto with = [&](std::int64_t value) {
            auto source = std::make_shared<MemorySource>();
            source->add(MemorySource::pathOf(words.toStdString()), "uint32", {624},
                        std::vector<std::uint32_t>(624, 5));
            source->addValue(number.toStdString(), Value::integer(value));
            source->finish();
            return source;
        };
        const SourcePtr a = with(700), b = with(701); // no position that a state can have
        const auto facts = resumeFacts(compare(a, b), *a, *b, Plenty, {});
        const ResumeFact *fact = find(facts, "generator", words.toStdString());
        QVERIFY(fact);
        QCOMPARE(fact->equal, expected);
        QCOMPARE(fact->relation, expected == false ? number.toStdString() + " differs" : "");
    }

    /// Two processes against one: that rank 0 draws otherwise is told, and judged no difference.
    void generatorsOfUnlikeRanksAreNotJudged()
    {
        QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/rng/torch.state"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray state = file.readAll();
        QByteArray other = state;
        other[24 + 8 * 10] = char(other[24 + 8 * 10] ^ 1); // one of its 624 words: another stream
        const auto with = [](const QByteArrayList &states) {
            auto source = std::make_shared<MemorySource>();
            source->addFloats("w", {1});
            for (qsizetype i = 0; i < states.size(); ++i) {
                source->add(MemorySource::pathOf("random_states_" + std::to_string(i) + ".torch"),
                            "uint8", {Index(states[i].size())},
                            std::vector<std::uint8_t>(states[i].begin(), states[i].end()));
            }
            source->finish();
            return source;
        };
        const auto factsOf = [&](const SourcePtr &a, const SourcePtr &b) {
            return resumeFacts(compare(a, b), *a, *b, Plenty, {});
        };
        const auto unlike = factsOf(with({state, state}), with({other}));
        const ResumeFact *fact = find(unlike, "generator", "random_states_0.torch");
        QVERIFY(fact && !fact->equal && !fact->relation.empty());
        QVERIFY(resumeFindings(unlike, true).empty());
        const auto alike = factsOf(with({state, state}), with({other, state}));
        fact = find(alike, "generator", "random_states_0.torch");
        QVERIFY(fact && fact->equal == false);
        QCOMPARE(resumeFindings(alike, true).front().id, std::string("generators-apart"));
    }

    void whatWasLoggedIsNoPosition()
    {
        const SourcePtr source = checkpoint({});
        source->addValue("trainer_state.epoch", Value::real(0.5));
        source->addValue("trainer_state.log_history.0.epoch", Value::real(0.25));
        source->finish();
        const auto facts = resumeFacts(*source, Plenty, {});
        QVERIFY(find(facts, "epoch", "trainer_state.epoch"));
        QVERIFY(!find(facts, "epoch", "trainer_state.log_history.0.epoch"));
    }

    void aPairTellsWhatIsAheadAndWhoContradictsItself()
    {
        Counts counts;
        counts.lastEpoch = 101;
        const CheckpointComparison comparison = compare(checkpoint({}), checkpoint(counts));
        const ResumeFact *schedule = find(comparison.resume, "schedule", "scheduler.last_epoch");
        QVERIFY(schedule);
        QCOMPARE(schedule->a, std::string("100"));
        QCOMPARE(schedule->b, std::string("101"));
        QCOMPARE(schedule->equal, std::optional(false));
        QCOMPARE(schedule->relation, std::string("B is 1 ahead"));
        QCOMPARE(schedule->checkA.holds, std::optional(true));
        QCOMPARE(schedule->checkB.holds, std::optional(false));
        QCOMPARE(find(comparison.resume, "weights")->equal, std::optional(true));
        QCOMPARE(find(comparison.resume, "moments")->equal, std::optional(true));
        QVERIFY(contradictionOfOneSide(comparison.resume)
                    .starts_with(" B contradicts itself, and A does not: "));
        const CheckpointComparison alike = compare(checkpoint(counts), checkpoint(counts));
        QCOMPARE(contradictionOfOneSide(alike.resume), std::string());
        const auto findings = std::count_if(
            comparison.findings.begin(), comparison.findings.end(),
            [](const Finding &finding) { return finding.id == "checkpoint-contradicts-itself"; });
        QCOMPARE(findings, 1);
    }

    /// A parameter called "exp" is of no known class: a bare "weights: equal" would pass over it.
    void tensorsOfNoKnownClassAreTold()
    {
        const auto with = [](float last) {
            const SourcePtr source = checkpoint({});
            source->addFloats("exp", {1, last});
            source->finish();
            return source;
        };
        const CheckpointComparison comparison = compare(with(2), with(3));
        QCOMPARE(find(comparison.resume, "weights")->equal, std::optional(true));
        const ResumeFact *others = find(comparison.resume, "tensors of no known class");
        QVERIFY(others);
        QCOMPARE(others->equal, std::optional(false));
        QCOMPARE(others->relation, std::string("1 of 1 differ"));
    }

    void mastersAreHeldAgainstTheirWeights()
    {
        QCOMPARE(holds(withMasters(false), "masters"), std::optional(true));
        QCOMPARE(holds(withMasters(true), "masters"), std::optional(false));
        const auto unread = resumeFacts(*withMasters(true), 100, {});
        QCOMPARE(find(unread, "masters")->checkA.holds, std::optional<bool>());
        QVERIFY(find(unread, "masters")->checkA.reason.starts_with("1 master was not read"));
    }

    /// As Lightning writes them: the generator is updated at each batch, the critic `critic` times;
    /// the step counts the updates of both, one schedule is the generator's.
    static SourcePtr twoOptimizers(std::int64_t generator, std::int64_t critic, std::int64_t step,
                                   double criticRate)
    {
        auto source = std::make_shared<MemorySource>();
        for (const auto &[number, updates] : {std::pair{0, generator}, std::pair{1, critic}}) {
            const std::string optimizer = "optimizer_states." + std::to_string(number);
            for (int parameter = 0; parameter < 2; ++parameter) {
                const std::string state = optimizer + ".state." + std::to_string(parameter);
                source->addFloats(state + ".exp_avg", {1});
                source->addFloats(state + ".step", {float(updates)});
            }
            source->addValue(optimizer + ".param_groups.0.lr",
                             Value::real(number == 0 ? 0.25 : criticRate));
        }
        source->addValue("lr_schedulers.0.last_epoch", Value::integer(generator));
        source->addValue("lr_schedulers.0._last_lr.0", Value::real(0.25));
        source->addValue("global_step", Value::integer(step));
        source->addValue("epoch", Value::integer(0));
        source->finish();
        return source;
    }

    void optimizersAreHeldAgainstTheIterationEachAlone()
    {
        const SourcePtr sound = twoOptimizers(4, 8, 12, 0.5);
        const auto facts = resumeFacts(*sound, Plenty, {});
        QVERIFY(resumeFindings(facts, false).empty());
        const ResumeFact *generator = find(facts, "optimizer step", "optimizer_states.0");
        const ResumeFact *critic = find(facts, "optimizer step", "optimizer_states.1");
        QVERIFY(generator && critic);
        QCOMPARE(generator->a, std::string("4 (of 2 parameters)"));
        QCOMPARE(critic->a, std::string("8 (of 2 parameters)"));
        QCOMPARE(critic->checkA.holds, std::optional(true));
        QCOMPARE(critic->checkA.reason,
                 std::string("8 of iteration 12, which counts the updates of 2 optimizers"));
        QCOMPARE(holds(sound, "schedule", "lr_schedulers.0.last_epoch"), std::optional(true));
        QCOMPARE(holds(sound, "learning rate", "optimizer_states.0.param_groups.0.lr"),
                 std::optional(true));
        QCOMPARE(holds(sound, "learning rate", "optimizer_states.1.param_groups.0.lr"),
                 std::optional<bool>());
        // A loop that counts its batches: how they take turns is its own affair.
        const auto batches = resumeFacts(*twoOptimizers(4, 8, 10, 0.5), Plenty, {});
        QVERIFY(resumeFindings(batches, false).empty());
        QCOMPARE(find(batches, "optimizer step", "optimizer_states.1")->checkA.holds,
                 std::optional<bool>());
        // One that is behind in a pair is told by its name.
        const CheckpointComparison comparison = compare(sound, twoOptimizers(4, 7, 11, 0.5));
        QCOMPARE(find(comparison.resume, "optimizer step", "optimizer_states.1")->relation,
                 std::string("B is 1 behind"));
        QCOMPARE(find(comparison.resume, "optimizer step", "optimizer_states.0")->relation,
                 std::string());
    }

    void parametersWithoutAGradientAreNoContradiction()
    {
        auto source = std::make_shared<MemorySource>();
        source->addFloats("optimizer.state.0.step", {10});
        source->addFloats("optimizer.state.1.step", {7});
        source->addValue("iteration", Value::integer(10));
        source->finish();
        const auto facts = resumeFacts(*source, Plenty, {});
        QCOMPARE(find(facts, "optimizer step")->a, std::string("7 to 10 (of 2 parameters)"));
        QCOMPARE(find(facts, "optimizer step")->checkA.holds, std::optional<bool>());
        QVERIFY(resumeFindings(facts, false).empty());
    }

    void schedulesInARowCountFromTheirTurn()
    {
        auto source = std::make_shared<MemorySource>();
        source->addValue("iteration", Value::integer(100));
        source->addValue("scheduler.last_epoch", Value::integer(100));
        source->addValue("scheduler._last_lr.0", Value::real(0.5));
        source->addValue("scheduler._schedulers.1.last_epoch", Value::integer(60));
        source->addValue("scheduler._schedulers.0._last_lr.0", Value::real(0.75));
        source->addValue("optimizer.param_groups.0.lr", Value::real(0.5));
        source->finish();
        QVERIFY(resumeFindings(resumeFacts(*source, Plenty, {}), false).empty());
        QCOMPARE(holds(source, "schedule", "scheduler.last_epoch"), std::optional(true));
        QCOMPARE(holds(source, "learning rate", "optimizer.param_groups.0.lr"),
                 std::optional(true));
    }

    /// What a cut file does not list is not known to differ.
    void ofMissingPartsNothingIsSaid()
    {
        const auto make = [](float last, bool cut) {
            auto source = std::make_shared<MemorySource>();
            for (int i = 0; i < (cut ? 2 : 4); ++i)
                source->addFloats("model.w" + std::to_string(i) + ".weight", {1, 2});
            source->addFloats("model.w9.weight", {last});
            source->editCatalog().complete = !cut;
            source->finish();
            return source;
        };
        const auto weights = [&](float last, bool cut) {
            return *find(compare(make(1, false), make(last, cut)).resume, "weights");
        };
        QCOMPARE(weights(1, true).equal, std::optional<bool>());
        QCOMPARE(weights(1, true).relation,
                 std::string("3 of 5 compared, all equal; whether the rest is equal is not known"));
        QCOMPARE(weights(2, true).equal, std::optional(false));
        QCOMPARE(weights(2, true).relation,
                 std::string("3 of 5 compared, 1 differs; whether the rest is equal is not known"));
        QCOMPARE(weights(1, false).equal, std::optional(true));
        QCOMPARE(weights(1, false).relation, std::string());
        QCOMPARE(weights(2, false).relation, std::string("1 of 5 differ"));
    }

    void manyGroupsTakeTheirTime()
    {
        auto source = std::make_shared<MemorySource>();
        constexpr int Groups = 20'000;
        for (int i = 0; i < Groups; ++i) {
            const std::string number = std::to_string(i);
            source->addValue("optimizer.param_groups." + number + ".lr", Value::real(i));
            source->addValue("scheduler._last_lr." + number, Value::real(i));
        }
        source->finish();
        QElapsedTimer timer;
        timer.start();
        const auto facts = resumeFacts(*source, Plenty, {});
        QVERIFY2(timer.elapsed() < 20'000, "is linear, or it takes minutes");
        const auto held = std::count_if(facts.begin(), facts.end(), [](const ResumeFact &fact) {
            return fact.state == "learning rate" && fact.checkA.holds == true;
        });
        QCOMPARE(held, std::ptrdiff_t(Groups));
    }

    void theDataPositionMayBeCountedByReplicas()
    {
        auto source = std::make_shared<MemorySource>();
        source->addValue("iteration", Value::integer(10));
        source->addValue("recipe.micro_batch_size", Value::integer(2));
        source->addValue("recipe.micro_batches", Value::integer(3));
        source->addValue("consumed_samples", Value::integer(240)); // of four replicas
        source->finish();
        const auto facts = resumeFacts(*source, Plenty, {});
        const ResumeFact *position = find(facts, "data position", "consumed_samples");
        QVERIFY(position && !position->checkA.holds);
        QCOMPARE(position->checkA.reason, std::string("4 x (iteration 10 x 6 samples)"));
    }
};

QTEST_APPLESS_MAIN(ResumeFactsTest)
#include "tst_resume_facts.moc"
