// SPDX-License-Identifier: GPL-3.0-or-later
// One training state as folders of ranks and as torch_dist keep it, written down by hand after what Megatron-Core 0.16.1
// writes: what stands under a name of its own in each of the two.
#include "model/pairing/megatron_names.h"

#include "model/pairing/rank_names.h"
#include "tests/support/compared_sides.h"

#include <QTest>

#include <algorithm>
#include <set>

namespace forkpoint::resources {
extern const std::string_view rankNameRules;
}

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Elements = std::vector<float>;
using Keys = std::vector<Key>;

constexpr Index Layers = 2, Stages = 2, Hidden = 4;

Key text(std::string key)
{
    return Key::of(std::move(key));
}

Key bucketType()
{
    return Key::printed("(torch.bfloat16, torch.float32)");
}

std::string folderOf(Index stage)
{
    return "mp_rank_00_00" + std::to_string(stage);
}

/// State of the optimizer, by the number that the rank gives the parameter.
void addOptimizer(const SourcePtr &source, Index stage, const std::string &name, Index number,
                  float step)
{
    const std::string folder = folderOf(stage), file = folder + "/model_optim_rng.pt";
    const auto add = [&](Keys keys, std::vector<Index> shape, const Elements &elements) {
        TensorRef &tensor = source->add({std::move(keys)}, "float32", std::move(shape), elements);
        tensor.owner = OwnerIndex(stage);
        tensor.files = {file};
    };
    const Elements elements{float(stage), 1, 2, 3};
    add({text(folder), text("model"), text(name)}, {Hidden}, elements);
    const Keys state{text(folder), text("optimizer"), text("state"), Key::at(std::int64_t(number))};
    for (const auto &[slot, shape] :
         {std::pair("exp_avg", std::vector<Index>{Hidden}), {"step", {}}}) {
        Keys keys = state;
        keys.push_back(text(slot));
        add(keys, shape, shape.empty() ? Elements{step} : elements);
    }
    source
        ->addValue({{text(folder), text("optimizer"), text("param_groups"), Key::at(0),
                     text("params"), Key::at(std::int64_t(number))}},
                   Value::integer(std::int64_t(number)))
        .file = file;
}

/// A layer a stage; both call theirs 0.
SourcePtr ranks(float step = 4)
{
    const auto source = std::make_shared<MemorySource>();
    for (Index stage = 0; stage < Stages; ++stage) {
        const std::string folder = folderOf(stage);
        source->editCatalog().owners.push_back({{{"tp", 0}, {"pp", std::int64_t(stage)}}});
        addOptimizer(source, stage, "decoder.layers.0.mlp.linear_fc2.bias", 0, step);
        source
            ->add({{text(folder), text("rng_state"), Key::at(0), text("torch_rng_state")}}, "uint8",
                  {3}, std::vector<std::uint8_t>{1, 2, std::uint8_t(stage)})
            .owner = OwnerIndex(stage);
        source->addValue(
            {{text(folder), text("rng_state"), Key::at(0), text("random_rng_state"), Key::at(0)}},
            Value::integer(3));
        source->addValue(
            {{text(folder), text("model"), text("decoder.layers.0.mlp.linear_fc2._extra_state")}},
            Value::none());
    }
    source->addValue({{text(folderOf(1)), text("model"), text("output_layer._extra_state")}},
                     Value::none());
    return source;
}

/// `stages`: how many pipeline ranks wrote the generators.
SourcePtr distributed(Index stages = Stages, std::uint8_t last = 1)
{
    const auto source = std::make_shared<MemorySource>();
    const Elements both{0, 1, 2, 3, 1, 1, 2, 3};
    source->add({{text("decoder.layers.mlp.linear_fc2.bias")}}, "float32", {Layers, Hidden}, both);
    source->add({{text("optimizer.state.exp_avg.decoder.layers.mlp.linear_fc2.bias")}}, "float32",
                {Layers, Hidden}, both);
    source->add({{text("optimizer"), text("state"), text("common_step")}}, "float32", {},
                Elements{4});
    for (Index stage = 0; stage < stages; ++stage) {
        const Key object = text("rng_state/shard_" + std::to_string(stage) + ".0_"
                                + std::to_string(stages) + ".1");
        const std::uint8_t drawn = stage + 1 == stages ? last : std::uint8_t(stage);
        source->add({{object, Key::at(0), Key::at(0), text("torch_rng_state")}}, "uint8", {3},
                    std::vector<std::uint8_t>{1, 2, drawn});
        source->addValue({{object, Key::at(0), Key::at(0), text("random_rng_state"), Key::at(0)}},
                         Value::integer(3));
    }
    for (Index layer = 0; layer < Layers; ++layer)
        source->addValue({{text("decoder.layers.mlp.linear_fc2._extra_state/shard_"
                                + std::to_string(layer) + "_2"),
                           Key::at(0)}},
                         Value::none());
    return source;
}

const TensorRow *rowOf(const CheckpointComparison &comparison, const std::string &name)
{
    const auto found = std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                                    [&](const TensorRow &row) { return row.name == name; });
    return found == comparison.tensors.end() ? nullptr : &*found;
}

std::string told(const CheckpointComparison &comparison)
{
    std::string text = comparison.verdict.sentence;
    for (const TensorRow &row : comparison.tensors)
        text += "\n" + row.name + ": " + std::string(toString(row.status)) + " " + row.reason;
    for (const ValueRow &row : comparison.values)
        text += "\n" + row.name + ": " + std::string(toString(row.status)) + " " + row.reason;
    return text;
}

std::vector<std::string> findingsOf(const CheckpointComparison &comparison, const std::string &id)
{
    for (const Finding &finding : comparison.findings) {
        if (finding.id == id)
            return finding.where;
    }
    return {};
}

/// Two parameters' buffer of one rank, gathered or as it lies in buckets.
SourcePtr gathered(float last)
{
    const auto source = std::make_shared<MemorySource>();
    source->editCatalog().owners.push_back({{{"tp", 0}}});
    source
        ->add({{text("mp_rank_00"), text("distrib_optim"), Key::at(0), bucketType(),
                text("exp_avg")}},
              "float32", {5}, Elements{1, 2, 3, 4, last})
        .owner = 0;
    source->addValue({{text("mp_rank_00"), text("optimizer"), text("optimizer"),
                       text("param_groups"), Key::at(0), text("lr")}},
                     Value::real(0.5));
    source->addValue({{text("mp_rank_00"), text("distrib_optim"), text("buckets_coalesced")}},
                     Value::boolean(true));
    return source;
}

SourcePtr buckets(std::initializer_list<Elements> all)
{
    const auto source = std::make_shared<MemorySource>();
    const std::string stem = "optimizer.distributed.dp_group_idx_0.";
    std::size_t number = 0;
    for (const Elements &elements : all)
        source->add({{text(stem + "gbuf_idx_0.dtype_(torch.bfloat16, torch.float32).bucket_idx_"
                           + std::to_string(number++) + ".exp_avg")}},
                    "float32", {elements.size()}, elements);
    source->addValue({{text(stem + "optimizer/shard_0_1"), Key::at(0), text("param_groups"),
                       Key::at(0), text("lr")}},
                     Value::real(0.5));
    source->addValue({{text("optimizer"), text("param_state_sharding_type")}},
                     Value::text("dp_reshardable"));
    return source;
}

} // namespace

class MegatronNamesTest : public QObject
{
    Q_OBJECT

private slots:
    void theTableIsWellFormed()
    {
        QVERIFY(!parseRankNameRules("rng_state").ok());
        QVERIFY(!parseRankNameRules("rng_state rng_state/shard_{tp}").ok());
        const auto rules = parseRankNameRules("a.b  c/{tp}  why it is so");
        QVERIFY(rules.ok() && rules->size() == 1);
        QCOMPARE(rules->front().keys, (std::vector<std::string>{"a", "b"}));
        QCOMPARE(rules->front().reason, std::string("why it is so"));
    }

    /// A row that cannot be read would leave all names alone, in silence.
    void theEmbeddedTableIsRead()
    {
        const auto rules = parseRankNameRules(resources::rankNameRules);
        QVERIFY2(rules.ok(), rules.ok() ? "" : rules.error().message().c_str());
        const auto rows =
            std::count_if(resources::rankNameRules.begin(), resources::rankNameRules.end(),
                          [previous = '\n'](char c) mutable {
                              const bool beginsRow = previous == '\n' && c != '#' && c != '\n';
                              previous = c;
                              return beginsRow;
                          });
        QCOMPARE(rules->size(), std::size_t(rows));
        std::set<std::vector<std::string>> keys;
        for (const RankNameRule &rule : *rules)
            keys.insert(rule.keys);
        QCOMPARE(keys,
                 (std::set<std::vector<std::string>>{
                     {"distrib_optim"}, {"optimizer", "optimizer"}, {"rng_state"}}));
    }

    void oneStateInBothForms()
    {
        for (const bool swapped : {false, true}) {
            const CheckpointComparison comparison = swapped ? comparedSides(distributed(), ranks())
                                                            : comparedSides(ranks(), distributed());
            QVERIFY2(comparison.verdict.outcome == Outcome::Identical, told(comparison).c_str());
            // Two biases, two moments, two steps, two generators; nothing stands on one side only.
            QCOMPARE(comparison.counts.identical, std::uint64_t(8));
            QCOMPARE(comparison.tensors.size(), std::size_t(8));
            const TensorRow *row = rowOf(comparison, "rng_state/shard_1.0_2.1.0.0.torch_rng_state");
            QVERIFY2(row && row->pairedBy == PairedBy::Assembled, told(comparison).c_str());
            QVERIFY(row->pairedReason.find("mp_rank_00_001.rng_state.0.torch_rng_state")
                    != std::string::npos);
            QCOMPARE(findingsOf(comparison, "empty-extra-state"),
                     (std::vector<std::string>{swapped ? "B" : "A", "output_layer._extra_state"}));
        }
    }

    /// A step is not bookkeeping: another one is another state.
    void anotherStepIsADifference()
    {
        const CheckpointComparison comparison = comparedSides(ranks(5), distributed());
        QVERIFY2(comparison.verdict.outcome == Outcome::Different, told(comparison).c_str());
        QCOMPARE(comparison.counts.different, std::uint64_t(2));
    }

    void anotherDrawIsADifference()
    {
        const CheckpointComparison comparison = comparedSides(ranks(), distributed(Stages, 9));
        QVERIFY2(comparison.verdict.outcome == Outcome::Different, told(comparison).c_str());
        QCOMPARE(comparison.counts.different, std::uint64_t(1));
    }

    /// The generators of one stage say nothing of those of two.
    void otherRanksAreUndecided()
    {
        const CheckpointComparison comparison = comparedSides(ranks(), distributed(1, 0));
        QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, told(comparison).c_str());
        QCOMPARE(comparison.counts.different, std::uint64_t(0));
        QCOMPARE(comparison.counts.onlyInA + comparison.counts.onlyInB, std::uint64_t(0));
    }

    void anExtraStateThatIsNotEmptyIsADifference()
    {
        const SourcePtr full = ranks();
        full->add({{text(folderOf(0)), text("model"), text("decoder.extra._extra_state")}}, "uint8",
                  {2}, std::vector<std::uint8_t>{1, 2})
            .owner = 0;
        const CheckpointComparison comparison = comparedSides(full, distributed());
        QVERIFY2(comparison.verdict.outcome == Outcome::Different, told(comparison).c_str());
        QCOMPARE(comparison.counts.onlyInA, std::uint64_t(1));
    }

    /// A parameter of which the other side has no state keeps its step, on that side alone.
    void aStepWithoutAPartnerStays()
    {
        const SourcePtr more = distributed();
        more->add({{text("optimizer.state.exp_avg.output_layer.weight")}}, "float32", {1},
                  Elements{1});
        const CheckpointComparison comparison = comparedSides(ranks(), more);
        QVERIFY2(comparison.verdict.outcome == Outcome::Different, told(comparison).c_str());
        QVERIFY(rowOf(comparison, "optimizer.state.step.output_layer.weight"));
        QCOMPARE(comparison.counts.onlyInB, std::uint64_t(2));
    }

    void gatheredBuffersMeetBuckets()
    {
        const CheckpointComparison same = comparedSides(gathered(5), buckets({{1, 2}, {3, 4, 5}}));
        QVERIFY2(same.verdict.outcome == Outcome::Identical, told(same).c_str());
        QCOMPARE(same.counts.identical, std::uint64_t(2));
        const CheckpointComparison other = comparedSides(gathered(6), buckets({{1, 2}, {3, 4, 5}}));
        QVERIFY2(other.verdict.outcome == Outcome::Different, told(other).c_str());
        QCOMPARE(other.counts.different, std::uint64_t(1));
        // Not as long together: no bucket is taken out of the buffer.
        const CheckpointComparison longer =
            comparedSides(gathered(5), buckets({{1, 2}, {3, 4, 5, 6}}));
        QVERIFY2(longer.verdict.outcome != Outcome::Identical, told(longer).c_str());
        QCOMPARE(longer.counts.identical, std::uint64_t(0));
    }
};

QTEST_APPLESS_MAIN(MegatronNamesTest)
#include "tst_megatron_names.moc"
