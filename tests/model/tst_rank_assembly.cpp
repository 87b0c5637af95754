// SPDX-License-Identifier: GPL-3.0-or-later
// Wholes that are cut by the index arithmetic of tensor, pipeline and expert parallelism, and put together again.
#include "model/pairing/assembly_rules.h"

#include "model/pairing/logical_sides.h"
#include "model/pairing/whole_tensors.h"
#include "tests/support/compared_sides.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr Index Hidden = 4, Heads = 4, Features = 8, Vocabulary = 8, Layers = 4;

using Elements = std::vector<float>;

/// Rows [from, to) and columns [left, right) of a matrix.
Elements cut(const Elements &whole, Index columns, Index from, Index to, Index left, Index right)
{
    Elements result;
    for (Index row = from; row < to; ++row)
        for (Index column = left; column < right; ++column)
            result.push_back(whole[row * columns + column]);
    return result;
}

Elements elementsOf(Index count, unsigned seed)
{
    std::mt19937 random(seed);
    Elements result(count);
    for (float &element : result)
        element = float(random() % 100000);
    return result;
}

struct Topology
{
    Index tensor = 1, pipeline = 1;
    bool gated = false;
};

std::string folderOf(const Topology &topology, Index tp, Index pp)
{
    return "mp_rank_0" + std::to_string(tp)
        + (topology.pipeline > 1 ? "_00" + std::to_string(pp) : std::string());
}

TensorRef &addPart(const SourcePtr &source, const std::string &folder, OwnerIndex owner,
                   const std::string &name, std::vector<Index> shape, const Elements &part)
{
    TensorRef &tensor = source->add({{Key::of(folder), Key::of("model"), Key::of(name)}}, "float32",
                                    std::move(shape), part);
    tensor.owner = owner;
    return tensor;
}

Elements append(Elements to, const Elements &more)
{
    to.insert(to.end(), more.begin(), more.end());
    return to;
}

/// One rank's parts of a layer whose elements `seed` decides.
void addLayer(const SourcePtr &source, const Topology &topology, Index tp, Index pp, Index own,
              unsigned seed)
{
    const auto add = [&](const std::string &name, std::vector<Index> shape, const Elements &part) {
        addPart(source, folderOf(topology, tp, pp), OwnerIndex(tp * topology.pipeline + pp),
                "decoder.layers." + std::to_string(own) + "." + name, std::move(shape), part);
    };
    const Index parts = topology.tensor, heads = 3 * Heads / parts, in = Features / parts;
    const Elements qkv = elementsOf(3 * Heads * Hidden, seed);
    add("self_attention.linear_qkv.weight", {heads, Hidden},
        cut(qkv, Hidden, tp * heads, (tp + 1) * heads, 0, Hidden));
    const Elements down = elementsOf(Hidden * Features, seed + 1);
    add("mlp.linear_fc2.weight", {Hidden, in},
        cut(down, Features, 0, Hidden, tp * in, (tp + 1) * in));
    const Elements up = elementsOf(2 * Features * Hidden, seed + 2); // gates, then ups
    Elements mine = cut(up, Hidden, tp * in, (tp + 1) * in, 0, Hidden);
    if (topology.gated)
        mine =
            append(mine, cut(up, Hidden, Features + tp * in, Features + (tp + 1) * in, 0, Hidden));
    add("mlp.linear_fc1.weight", {topology.gated ? 2 * in : in, Hidden}, mine);
    add("input_layernorm.weight", {Hidden}, elementsOf(Hidden, seed + 3));
}

SourcePtr ranks(const Topology &topology)
{
    const auto source = std::make_shared<MemorySource>();
    const Index each = Layers / topology.pipeline, words = Vocabulary / topology.tensor;
    const Elements table = elementsOf(Vocabulary * Hidden, 1);
    for (Index tp = 0; tp < topology.tensor; ++tp) {
        for (Index pp = 0; pp < topology.pipeline; ++pp) {
            source->editCatalog().owners.push_back(
                {{{"tp", std::int64_t(tp)}, {"pp", std::int64_t(pp)}}});
            for (Index own = 0; own < each; ++own)
                addLayer(source, topology, tp, pp, own, unsigned(100 * (pp * each + own + 1)));
            const std::string folder = folderOf(topology, tp, pp);
            source->addValue({{Key::of(folder), Key::of("iteration")}}, Value::integer(4));
            if (pp == 0)
                addPart(source, folder, OwnerIndex(tp * topology.pipeline),
                        "embedding.word_embeddings.weight", {words, Hidden},
                        cut(table, Hidden, tp * words, (tp + 1) * words, 0, Hidden));
        }
    }
    return source;
}

/// The whole as torch_dist holds it: layers stacked in one tensor, no padding of the vocabulary.
SourcePtr whole(bool gated, Index vocabulary = Vocabulary)
{
    const auto source = std::make_shared<MemorySource>();
    const auto stack = [&](const char *name, std::vector<Index> shape, unsigned more) {
        Index count = 1;
        for (const Index size : shape)
            count *= size;
        Elements all;
        for (Index layer = 0; layer < Layers; ++layer) {
            const Index drawn = more == 2 ? 2 * Features * Hidden : count;
            Elements one = elementsOf(drawn, unsigned(100 * (layer + 1)) + more);
            one.resize(count);
            all = append(all, one);
        }
        shape.insert(shape.begin(), Layers);
        source->add({{Key::of(name)}}, "float32", std::move(shape), all);
    };
    stack("decoder.layers.self_attention.linear_qkv.weight", {3 * Heads, Hidden}, 0);
    stack("decoder.layers.mlp.linear_fc2.weight", {Hidden, Features}, 1);
    stack("decoder.layers.mlp.linear_fc1.weight", {gated ? 2 * Features : Features, Hidden}, 2);
    stack("decoder.layers.input_layernorm.weight", {Hidden}, 3);
    Elements words = elementsOf(Vocabulary * Hidden, 1);
    words.resize(vocabulary * Hidden);
    source->add({{Key::of("embedding.word_embeddings.weight")}}, "float32", {vocabulary, Hidden},
                words);
    source->addValue("iteration", Value::integer(4));
    return source;
}

const TensorRow *rowOf(const CheckpointComparison &comparison, const std::string &ending)
{
    const auto found =
        std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                     [&](const TensorRow &row) { return row.name.ends_with(ending); });
    return found == comparison.tensors.end() ? nullptr : &*found;
}

std::string outcomeOf(const CheckpointComparison &comparison)
{
    return std::string(toString(comparison.verdict.outcome)) + ": " + comparison.verdict.sentence;
}

} // namespace

class RankAssemblyTest : public QObject
{
    Q_OBJECT

private slots:
    void theTableIsWellFormed();
    void partsMakeTheWhole_data();
    void partsMakeTheWhole();
    void topologiesMeet();
    void oneBitIsOneDifference();
    void anyRangeIsReadAlike();
    void paddingStaysADifference();
    void aMissingRankLeavesPartsApart();
    void copiesMustBeEqual();
    void expertsAreCountedOn();
    void optimizerStateGoesByItsParameter();
    void whatIsNotKnownIsNotAssembled();
    void equalRanksAreLeftAlone();
    void oddFeaturesHaveNoGates();
    void partsThatDoNotCoverAreUnreadable();
    void strictAndRawLeaveSidesAlone();
    void aValueOfSomeRanksStaysTheirs();
    void weightsOfNoRuleStayApart();
    void layersAreNamedByTheOtherSide_data();
    void layersAreNamedByTheOtherSide();
    void longRowsAreReadByColumns();
    void otherAxesAreNotAssembled();
};

void RankAssemblyTest::theTableIsWellFormed()
{
    QVERIFY(assemblyRuleFor("decoder.layers.0.mlp.linear_fc2.weight"));
    QVERIFY(assemblyRuleFor("x.linear_fc1.bias")->how == AssemblyRule::How::Gated);
    QCOMPARE(assemblyRuleFor("x.linear_fc1.bias")->next, std::string("linear_fc2"));
    QVERIFY(!parseAssemblyRules("2 pattern reason").ok());
    QVERIFY(!parseAssemblyRules("0 pattern").ok());
    QVERIFY(!parseAssemblyRules("gated:one pattern reason").ok());
}

void RankAssemblyTest::partsMakeTheWhole_data()
{
    QTest::addColumn<int>("tensor");
    QTest::addColumn<int>("pipeline");
    QTest::addColumn<bool>("gated");
    for (const int tensor : {1, 2, 4})
        for (const int pipeline : {1, 2, 4})
            for (const bool gated : {false, true})
                QTest::addRow("tp%d pp%d%s", tensor, pipeline, gated ? " gated" : "")
                    << tensor << pipeline << gated;
}

void RankAssemblyTest::partsMakeTheWhole()
{
    QFETCH(int, tensor);
    QFETCH(int, pipeline);
    QFETCH(bool, gated);
    const Topology topology{Index(tensor), Index(pipeline), gated};
    for (const bool swapped : {false, true}) {
        const CheckpointComparison comparison = swapped
            ? comparedSides(whole(gated), ranks(topology))
            : comparedSides(ranks(topology), whole(gated));
        QVERIFY2(comparison.verdict.outcome == Outcome::Identical, outcomeOf(comparison).c_str());
        QCOMPARE(comparison.counts.identical, std::uint64_t(4 * Layers + 1));
        const TensorRow *row = rowOf(comparison, "layers.3.mlp.linear_fc1.weight");
        QVERIFY(row && row->pairedBy == PairedBy::Assembled);
        const std::string expected = tensor == 1 ? "held whole by one rank"
                                                 : std::to_string(tensor) + " parts along axis 0"
                + (gated ? ", gates before ups: " : ": ") + "column-parallel";
        QVERIFY2(row->pairedReason.find(expected) != std::string::npos, row->pairedReason.c_str());
    }
}

void RankAssemblyTest::topologiesMeet()
{
    for (const bool gated : {false, true}) {
        const CheckpointComparison comparison =
            comparedSides(ranks({4, 1, gated}), ranks({2, 2, gated}));
        QVERIFY2(comparison.verdict.outcome == Outcome::Identical, outcomeOf(comparison).c_str());
        QCOMPARE(comparison.counts.identical, std::uint64_t(4 * Layers + 1));
    }
}

void RankAssemblyTest::oneBitIsOneDifference()
{
    const SourcePtr other = ranks({2, 2, true});
    const SourcePtr changed = ranks({1, 1, true});
    // The last element of the last layer's linear_fc2: column 7 of row 3.
    Elements down = elementsOf(Hidden * Features, 100 * Layers + 1);
    down.back() += 1;
    for (TensorRef &tensor : changed->editCatalog().tensors) {
        if (tensor.path.keys[2].text == "decoder.layers.3.mlp.linear_fc2.weight")
            tensor.path.keys[2].text = "replaced";
    }
    addPart(changed, "mp_rank_00", 0, "decoder.layers.3.mlp.linear_fc2.weight", {Hidden, Features},
            down);
    std::erase_if(changed->editCatalog().tensors,
                  [](const TensorRef &tensor) { return tensor.path.keys[2].text == "replaced"; });
    const CheckpointComparison comparison = comparedSides(changed, other);
    QCOMPARE(comparison.counts.different, std::uint64_t(1));
    const TensorRow *row = rowOf(comparison, "layers.3.mlp.linear_fc2.weight");
    QVERIFY(row && row->status == ItemStatus::Different && row->stats);
    QCOMPARE(row->stats->differentElements, Index(1));
    QCOMPARE(row->stats->firstIndex, Index(Hidden * Features - 1));
}

/// Every beginning and length of what is cut by columns gives the bytes of the whole.
void RankAssemblyTest::anyRangeIsReadAlike()
{
    const SourcePtr parts = ranks({4, 2, true});
    parts->finish();
    const auto source = withWholeTensors(parts);
    for (const auto &[name, seed] :
         {std::pair("model.decoder.layers.2.mlp.linear_fc2.weight", 301u),
          {"model.decoder.layers.2.mlp.linear_fc1.weight", 302u}}) {
        const auto index = source->catalog().findTensor(name);
        QVERIFY(index);
        const std::size_t bytes = std::size_t(source->catalog().tensors[*index].bytes);
        const Elements expected = elementsOf(bytes / 4, seed);
        const auto raw = std::as_bytes(std::span(expected));
        for (std::size_t first = 0; first < bytes; ++first) {
            for (std::size_t size = 0; first + size <= bytes; size += 3) {
                std::vector<std::byte> read(size);
                QVERIFY(source->read(*index, first, read).ok());
                QVERIFY(std::equal(read.begin(), read.end(), raw.begin() + std::ptrdiff_t(first)));
            }
        }
    }
}

void RankAssemblyTest::paddingStaysADifference()
{
    const CheckpointComparison comparison = comparedSides(ranks({2, 1, false}), whole(false, 6));
    QVERIFY(comparison.verdict.outcome == Outcome::Different);
    QCOMPARE(comparison.counts.different, std::uint64_t(1));
    QVERIFY(std::any_of(comparison.findings.begin(), comparison.findings.end(),
                        [](const Finding &finding) { return finding.id == "padded-rows"; }));
}

/// Rank 1's part of one tensor is gone: what rank 0 holds is not the whole.
void RankAssemblyTest::aMissingRankLeavesPartsApart()
{
    const SourcePtr parts = ranks({2, 1, false});
    std::erase_if(parts->editCatalog().tensors, [](const TensorRef &tensor) {
        return tensor.path.keys[0].text == "mp_rank_01"
            && tensor.path.keys[2].text == "decoder.layers.0.self_attention.linear_qkv.weight";
    });
    const CheckpointComparison comparison = comparedSides(parts, whole(false));
    QVERIFY(comparison.verdict.outcome != Outcome::Identical);
    const TensorRow *row = rowOf(comparison,
                                 "mp_rank_00.model.decoder.layers.0.self_attention."
                                 "linear_qkv.weight");
    QVERIFY(row && row->status == ItemStatus::NotCompared);
    const SourcePtr cutOff = ranks({2, 1, false});
    cutOff->editCatalog().complete = false;
    QCOMPARE(comparedSides(cutOff, whole(false)).counts.identical, std::uint64_t(0));
}

void RankAssemblyTest::copiesMustBeEqual()
{
    const SourcePtr parts = ranks({2, 1, false});
    std::erase_if(parts->editCatalog().tensors, [](const TensorRef &tensor) {
        return tensor.path.keys[0].text == "mp_rank_01"
            && tensor.path.keys[2].text == "decoder.layers.1.input_layernorm.weight";
    });
    addPart(parts, "mp_rank_01", 1, "decoder.layers.1.input_layernorm.weight", {Hidden},
            {1, 2, 3, 4});
    const CheckpointComparison comparison = comparedSides(parts, whole(false));
    QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, outcomeOf(comparison).c_str());
    const TensorRow *row = rowOf(comparison, "layers.1.input_layernorm.weight");
    QVERIFY(row && row->status == ItemStatus::NotCompared);
    QVERIFY2(row->reason.find("ranks that hold one thing hold it unlike") != std::string::npos
                 && row->reason.find("mp_rank_01") != std::string::npos,
             row->reason.c_str());
}

/// Two expert-parallel ranks of two experts each; the router is a copy on both.
void RankAssemblyTest::expertsAreCountedOn()
{
    const SourcePtr parts = std::make_shared<MemorySource>();
    const SourcePtr wholes = std::make_shared<MemorySource>();
    const auto expert = [](Index number) {
        return "decoder.layers.0.mlp.experts.local_experts." + std::to_string(number)
            + ".linear_fc2.weight";
    };
    for (Index ep = 0; ep < 2; ++ep) {
        parts->editCatalog().owners.push_back({{{"tp", 0}, {"ep", std::int64_t(ep)}}});
        const std::string folder = "mp_rank_00_00" + std::to_string(ep);
        for (Index own = 0; own < 2; ++own)
            addPart(parts, folder, OwnerIndex(ep), expert(own), {4, 5},
                    elementsOf(20, unsigned(10 + ep * 2 + own)));
        addPart(parts, folder, OwnerIndex(ep), "decoder.layers.0.mlp.router.weight", {4, 5},
                elementsOf(20, 5));
    }
    for (Index number = 0; number < 4; ++number)
        wholes->add({{Key::of(expert(number))}}, "float32", {4, 5},
                    elementsOf(20, unsigned(10 + number)));
    wholes->add({{Key::of("decoder.layers.0.mlp.router.weight")}}, "float32", {4, 5},
                elementsOf(20, 5));
    const CheckpointComparison comparison = comparedSides(parts, wholes);
    QVERIFY2(comparison.verdict.outcome == Outcome::Identical, outcomeOf(comparison).c_str());
    QCOMPARE(comparison.counts.identical, std::uint64_t(5));
}

/// Numbers of an optimizer count a rank's own parameters.
void RankAssemblyTest::optimizerStateGoesByItsParameter()
{
    const SourcePtr parts = std::make_shared<MemorySource>();
    const SourcePtr wholes = std::make_shared<MemorySource>();
    const Elements weight = elementsOf(20, 1), moment = elementsOf(20, 2);
    const std::string name = "decoder.layers.0.self_attention.linear_proj.weight";
    for (Index tp = 0; tp < 2; ++tp) {
        parts->editCatalog().owners.push_back({{{"tp", std::int64_t(tp)}}});
        const std::string folder = "mp_rank_0" + std::to_string(tp);
        const std::vector<std::string> file = {folder + "/model_optim_rng.pt"};
        addPart(parts, folder, OwnerIndex(tp), name, {5, 2},
                cut(weight, 4, 0, 5, tp * 2, tp * 2 + 2))
            .files = file;
        const Key optimizer = Key::of("optimizer"), state = Key::of("state");
        TensorRef &part =
            parts->add({{Key::of(folder), optimizer, state, Key::at(0), Key::of("exp_avg")}},
                       "float32", {5, 2}, cut(moment, 4, 0, 5, tp * 2, tp * 2 + 2));
        part.owner = OwnerIndex(tp);
        part.files = file;
        parts
            ->addValue({{Key::of(folder), optimizer, Key::of("param_groups"), Key::at(0),
                         Key::of("params"), Key::at(0)}},
                       Value::integer(0))
            .file = file.front();
    }
    wholes->add({{Key::of(name)}}, "float32", {5, 4}, weight);
    wholes->add({{Key::of("optimizer.state.exp_avg." + name)}}, "float32", {5, 4}, moment);
    const CheckpointComparison comparison = comparedSides(parts, wholes);
    QVERIFY2(comparison.verdict.outcome == Outcome::Identical, outcomeOf(comparison).c_str());
    QCOMPARE(comparison.counts.identical, std::uint64_t(2));
}

/// Without linear_fc2 nothing tells whether linear_fc1 is gated.
void RankAssemblyTest::whatIsNotKnownIsNotAssembled()
{
    const SourcePtr parts = ranks({2, 1, true});
    std::erase_if(parts->editCatalog().tensors, [](const TensorRef &tensor) {
        return tensor.path.keys[2].text.ends_with("linear_fc2.weight");
    });
    const CheckpointComparison comparison = comparedSides(parts, whole(true));
    const TensorRow *row =
        rowOf(comparison, "mp_rank_00.model.decoder.layers.0.mlp.linear_fc1.weight");
    QVERIFY(row && row->status == ItemStatus::NotCompared);
    QVERIFY(comparison.verdict.outcome != Outcome::Identical);
}

void RankAssemblyTest::equalRanksAreLeftAlone()
{
    const SourcePtr a = ranks({2, 2, false}), b = ranks({2, 2, false});
    a->finish();
    b->finish();
    const LogicalSides sides = logicalSides(a, b, {});
    QVERIFY(sides.a == a && sides.b == b);
    const LogicalSides alone = logicalSides(a, nullptr, {});
    QVERIFY(alone.a == a && !alone.b);
}

/// The third feature of a rank is neither gate nor up: what the whole would hold, nobody can say.
void RankAssemblyTest::oddFeaturesHaveNoGates()
{
    const SourcePtr parts = ranks({2, 1, true});
    const std::string name = "decoder.layers.0.mlp.linear_fc1.bias";
    for (Index tp = 0; tp < 2; ++tp) {
        TensorRef &part = parts->add(
            {{Key::of("mp_rank_0" + std::to_string(tp)), Key::of("model"), Key::of(name)}}, "uint8",
            {3}, std::vector<std::uint8_t>{1, 2, 3});
        part.owner = OwnerIndex(tp);
    }
    const SourcePtr wholes = whole(true);
    wholes->add({{Key::of(name)}}, "uint8", {6}, std::vector<std::uint8_t>{1, 1, 2, 2, 0, 0});
    const CheckpointComparison comparison = comparedSides(parts, wholes);
    QVERIFY2(comparison.verdict.outcome != Outcome::Identical, outcomeOf(comparison).c_str());
    QVERIFY(rowOf(comparison, "mp_rank_00.model." + name));
    QVERIFY(rowOf(comparison, "mp_rank_01.model." + name));
    QVERIFY(std::none_of(comparison.tensors.begin(), comparison.tensors.end(),
                         [&](const TensorRow &row) { return row.nameA == "model." + name; }));
}

void RankAssemblyTest::partsThatDoNotCoverAreUnreadable()
{
    const auto below = std::make_shared<MemorySource>();
    below->addFloats("part", {1, 2});
    below->finish();
    for (const auto how : {AssemblyPlan::How::InTurn, AssemblyPlan::How::Rows}) {
        AssembledSource::Item item;
        item.tensor.path = MemorySource::pathOf("whole");
        item.tensor.dtype = *dtypeByName("float32");
        item.tensor.shape.dims = {1, 3};
        item.plan = AssemblyPlan{how, {{{0}, 0, 8}}, 1, "a part"};
        const AssembledSource source(below, AssembledSource::frameOf(below->catalog()), {item});
        QVERIFY(source.catalog().tensors[0].unreadable);
        std::vector<std::byte> bytes(12);
        QVERIFY(!source.read(0, 0, bytes).ok());
        QVERIFY(!source.read(0, 8, std::span(bytes).first(4)).ok());
    }
}

void RankAssemblyTest::strictAndRawLeaveSidesAlone()
{
    const SourcePtr a = ranks({2, 2, false}), b = whole(false);
    a->finish();
    b->finish();
    PairingOptions strict, raw;
    strict.strict = true;
    raw.raw = true;
    for (const PairingOptions &options : {strict, raw}) {
        const LogicalSides sides = logicalSides(a, b, options);
        QVERIFY(sides.a == a && sides.b == b);
    }
}

/// What rank 1 lacks is not what every rank holds; that it lacks it is no difference either.
void RankAssemblyTest::aValueOfSomeRanksStaysTheirs()
{
    const SourcePtr parts = ranks({2, 1, false}), wholes = whole(false);
    parts->addValue({{Key::of("mp_rank_00"), Key::of("consumed")}}, Value::integer(7));
    wholes->addValue("consumed", Value::integer(7));
    const CheckpointComparison comparison = comparedSides(parts, wholes);
    QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, outcomeOf(comparison).c_str());
    for (const std::string name : {"mp_rank_00.consumed", "consumed"}) {
        const auto row = std::find_if(comparison.values.begin(), comparison.values.end(),
                                      [&](const ValueRow &each) { return each.name == name; });
        QVERIFY(row != comparison.values.end());
        QVERIFY(row->status == ItemStatus::NotCompared && row->notComparable);
        QVERIFY(!row->reason.empty());
    }
}

/// Parts are not copies because no rule says how they are cut; those of a rule are put together.
void RankAssemblyTest::weightsOfNoRuleStayApart()
{
    const std::string unknown = "decoder.layers.0.mixer.in_proj.weight";
    const std::string known = "decoder.layers.0.self_attention.linear_q_up_proj.weight";
    const SourcePtr parts = ranks({2, 1, false}), wholes = whole(false);
    const Elements all = elementsOf(8 * Hidden, 7);
    for (const std::string &name : {unknown, known}) {
        for (Index tp = 0; tp < 2; ++tp)
            addPart(parts, "mp_rank_0" + std::to_string(tp), OwnerIndex(tp), name, {4, Hidden},
                    cut(all, Hidden, tp * 4, tp * 4 + 4, 0, Hidden));
        wholes->add({{Key::of(name)}}, "float32", {8, Hidden}, all);
    }
    const CheckpointComparison comparison = comparedSides(parts, wholes);
    const TensorRow *row = rowOf(comparison, known);
    QVERIFY(row && row->status == ItemStatus::Identical);
    row = rowOf(comparison, "mp_rank_01.model." + unknown);
    QVERIFY(row && row->status == ItemStatus::NotCompared);
    QVERIFY2(comparison.verdict.outcome == Outcome::Undecided, outcomeOf(comparison).c_str());
}

void RankAssemblyTest::layersAreNamedByTheOtherSide_data()
{
    QTest::addColumn<quint64>("layers");
    QTest::addColumn<quint64>("size");
    QTest::addColumn<quint64>("gap");
    QTest::addColumn<bool>("apart");
    QTest::newRow("all named") << quint64(3) << quint64(1) << quint64(9) << true;
    QTest::newRow("one missing") << quint64(3) << quint64(1) << quint64(1) << false;
    QTest::newRow("empty") << quint64(3) << quint64(0) << quint64(9) << false;
    QTest::newRow("too many") << quint64(4097) << quint64(1) << quint64(5000) << false;
}

void RankAssemblyTest::layersAreNamedByTheOtherSide()
{
    QFETCH(quint64, layers);
    QFETCH(quint64, size);
    QFETCH(quint64, gap);
    QFETCH(bool, apart);
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    a->add({{Key::of("decoder.layers.w")}}, "float32", {layers, size}, Elements(layers * size, 1));
    for (Index layer = 0; layer < layers; ++layer) {
        if (layer != gap)
            b->add({{Key::of("decoder.layers." + std::to_string(layer) + ".w")}}, "float32", {size},
                   Elements(size, 1));
    }
    a->finish();
    b->finish();
    const LogicalSides sides = logicalSides(a, b, {});
    QCOMPARE(sides.a != a, apart);
    QCOMPARE(sides.a->catalog().tensors.size(), std::size_t(apart ? layers : 1));
}

/// Rows of 2.4 MB, cut in two, are longer than what is read at once.
void RankAssemblyTest::longRowsAreReadByColumns()
{
    constexpr Index Part = 300000;
    const auto source = std::make_shared<MemorySource>();
    const Elements all = elementsOf(2 * 2 * Part, 9);
    for (Index tp = 0; tp < 2; ++tp) {
        source->editCatalog().owners.push_back({{{"tp", std::int64_t(tp)}}});
        addPart(source, "mp_rank_0" + std::to_string(tp), OwnerIndex(tp),
                "decoder.layers.0.mlp.linear_fc2.weight", {2, Part},
                cut(all, 2 * Part, 0, 2, tp * Part, (tp + 1) * Part));
    }
    source->finish();
    const auto wholes = withWholeTensors(source);
    QCOMPARE(wholes->catalog().tensors.size(), std::size_t(1));
    const auto raw = std::as_bytes(std::span(all));
    for (const auto &[first, size] : {std::pair<std::size_t, std::size_t>(0, raw.size()),
                                      {Part * 4 - 3, 7},
                                      {Part * 8 - 3, 5},
                                      {Part * 2, Part * 10}}) {
        std::vector<std::byte> read(size);
        QVERIFY(wholes->read(0, first, read).ok());
        QVERIFY(std::equal(read.begin(), read.end(), raw.begin() + std::ptrdiff_t(first)));
    }
}

/// DeepSpeed's folders bear the same name; what its axes say is not known here.
void RankAssemblyTest::otherAxesAreNotAssembled()
{
    const auto source = std::make_shared<MemorySource>();
    source->editCatalog().owners.push_back({{{"dp", 0}, {"mp", 0}}});
    addPart(source, "mp_rank_00", 0, "decoder.final_layernorm.weight", {2}, {1, 2});
    source->finish();
    QCOMPARE(withWholeTensors(source)->catalog().tensors[0].name,
             std::string("mp_rank_00.model.decoder.final_layernorm.weight"));
}

QTEST_APPLESS_MAIN(RankAssemblyTest)
#include "tst_rank_assembly.moc"
