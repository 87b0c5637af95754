// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers of distributed optimizers, laid out by hand as Megatron-Core lays them out: parameters begin at multiples of 64
// elements, and what lies between them is whatever the memory held.
#include "model/pairing/optimizer_buffers.h"

#include "tests/support/compared_sides.h"

#include <QTest>

#include <algorithm>
#include <numeric>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Elements = std::vector<float>;

constexpr Index First = 70, Second = 64, Third = 10; ///< elements of three parameters
constexpr Index Gap = 58;                            ///< behind the first: up to 128
constexpr Index Buffer = First + Gap + Second + Third;

std::string bucketName(const std::string &group = "0")
{
    return "optimizer.distributed.dp_group_idx_" + group
        + ".gbuf_idx_0.dtype_(torch.bfloat16, torch.float32).bucket_idx_0.exp_avg";
}

/// `garbage`: between the parameters; `cut`: where ranks share the first parameter.
TensorRef &addBucket(MemorySource &source, const std::string &name, float garbage, Index cut)
{
    Elements elements(Buffer);
    std::iota(elements.begin(), elements.end(), 1.0F);
    std::fill_n(elements.begin() + First, Gap, garbage);
    TensorRef &tensor = source.add({{Key::of(name)}}, "float32", {Buffer}, elements);
    tensor.stateClass = StateClass::Optimizer;
    Index at = 0;
    for (const Index count : {cut, First - cut, Gap, Second, Third}) {
        Extent chunk;
        chunk.box = {{at}, {count}};
        chunk.strides = {1};
        chunk.length = count * 4;
        tensor.extents.push_back(chunk);
        at += count;
    }
    return tensor;
}

void addWeights(MemorySource &source, const std::vector<Index> &sizes)
{
    for (const Index size : sizes) {
        source
            .add({{Key::of("decoder.weight" + std::to_string(size))}}, "bfloat16", {size},
                 std::vector<std::uint16_t>(size, 1))
            .stateClass = StateClass::Weights;
    }
}

SourcePtr checkpoint(float garbage, Index cut = 35,
                     const std::vector<Index> &weights = {First, Second, Third})
{
    const auto source = std::make_shared<MemorySource>();
    addBucket(*source, bucketName(), garbage, cut);
    addWeights(*source, weights);
    return source;
}

constexpr Index Share = 176; ///< of each rank

/// A bucket whose chunks end at `cuts` and where the share of a rank does; `owned`: ranks are known.
SourcePtr cutAt(std::set<Index> cuts, Elements elements, const std::vector<Index> &weights,
                bool owned)
{
    const auto source = std::make_shared<MemorySource>();
    const Index all = elements.size();
    TensorRef &tensor = source->add({{Key::of(bucketName())}}, "float32", {all}, elements);
    tensor.stateClass = StateClass::Optimizer;
    for (Index at = Share; at < all; at += Share)
        cuts.insert(at);
    cuts.insert(all);
    for (std::int64_t rank = 0; rank <= std::int64_t(all / Share); ++rank)
        source->editCatalog().owners.push_back({{{"rank", rank}}});
    Index at = 0;
    for (const Index end : cuts) {
        Extent chunk;
        chunk.box = {{at}, {end - at}};
        chunk.strides = {1};
        chunk.length = (end - at) * 4;
        chunk.owner = owned ? OwnerIndex(at / Share) : NoOwner;
        tensor.extents.push_back(chunk);
        at = end;
    }
    addWeights(*source, weights);
    return source;
}

/// Parameters at [0, 192), [192, 336) and [384, 1408): the second share's first chunk ends where a
/// parameter does, and looks like padding; the share ends within padding.
SourcePtr sharedOut(float secondShare, bool owned = false)
{
    Elements elements(1408, 1);
    std::fill(elements.begin() + Share, elements.begin() + 192, secondShare);
    return cutAt({192, 336, 384}, elements, {192, 144, 1024}, owned);
}

} // namespace

class OptimizerBuffersTest : public QObject
{
    Q_OBJECT

private slots:
    void whatLiesBetweenParametersDecidesNothing()
    {
        // The two are shared out over ranks at unlike places.
        const CheckpointComparison comparison = comparedSides(checkpoint(-1), checkpoint(-2, 20));
        QVERIFY2(comparison.verdict.outcome == Outcome::Identical,
                 comparison.verdict.sentence.c_str());
        const auto row = std::find_if(
            comparison.tensors.begin(), comparison.tensors.end(),
            [](const TensorRow &each) { return each.stateClass == StateClass::Optimizer; });
        QVERIFY(row != comparison.tensors.end());
        QCOMPARE(row->shapeA.toString(), std::string("[144]"));
        QVERIFY2(row->pairedReason.find("58 elements between parameters are padding")
                     != std::string::npos,
                 row->pairedReason.c_str());
    }

    void aParameterStillDecides()
    {
        const SourcePtr changed = std::make_shared<MemorySource>();
        TensorRef &tensor = addBucket(*changed, bucketName(), -1, 35);
        const std::vector<Extent> extents = tensor.extents;
        changed->editCatalog().tensors.clear();
        Elements elements(Buffer);
        std::iota(elements.begin(), elements.end(), 1.0F);
        elements.back() += 1;
        TensorRef &again = changed->add({{Key::of(bucketName())}}, "float32", {Buffer}, elements);
        again.stateClass = StateClass::Optimizer;
        again.extents = extents;
        addWeights(*changed, {First, Second, Third});
        const CheckpointComparison comparison = comparedSides(checkpoint(-1), changed);
        QVERIFY2(comparison.verdict.outcome == Outcome::Different,
                 comparison.verdict.sentence.c_str());
        const auto row = std::find_if(
            comparison.tensors.begin(), comparison.tensors.end(),
            [](const TensorRow &each) { return each.status == ItemStatus::Different; });
        QVERIFY(row != comparison.tensors.end() && row->stats);
        QCOMPARE(row->stats->differentElements, Index(1));
        QCOMPARE(row->stats->firstIndex, First + Second + Third - 1);
    }

    /// What cannot be told apart for certain stays in.
    void paddingIsLeftOutOnlyWhereItIsCertain()
    {
        // The weights have another number of elements than lie in the buffer.
        QVERIFY(comparedSides(checkpoint(-1, 35, {99}), checkpoint(-2, 35, {99})).verdict.outcome
                == Outcome::Different);
        // Two groups of ranks, whose shares of the model nobody knows.
        const SourcePtr a = checkpoint(-1), b = checkpoint(-2);
        for (const SourcePtr &each : {a, b})
            addBucket(*each, bucketName("1"), 0, 35);
        QVERIFY(comparedSides(a, b).verdict.outcome == Outcome::Different);
        // Chunks that do not cover the buffer.
        const SourcePtr hole = checkpoint(-1);
        hole->editCatalog().tensors.front().extents.pop_back();
        hole->finish();
        QVERIFY(parameterRuns(hole->catalog()).empty());
        const SourcePtr sound = checkpoint(-1);
        sound->finish();
        const auto runs = parameterRuns(sound->catalog());
        QCOMPARE(runs.size(), std::size_t(1));
        QCOMPARE(runs.begin()->second, (BufferRuns{{0, First}, {First + Gap, Second + Third}}));
    }

    void aShareWithinAParameterIsNoPadding()
    {
        const SourcePtr shared = sharedOut(1);
        shared->finish();
        QVERIFY(parameterRuns(shared->catalog()).empty());
        const CheckpointComparison comparison = comparedSides(sharedOut(1), sharedOut(777));
        QVERIFY2(comparison.verdict.outcome == Outcome::Different,
                 comparison.verdict.sentence.c_str());
    }

    /// Where chunks are known to be of two ranks, the weights decide whether a parameter ends there.
    void theEndOfAShareIsToldByTheWeights()
    {
        const SourcePtr within = sharedOut(1, true);
        within->finish();
        const auto runs = parameterRuns(within->catalog());
        QCOMPARE(runs.size(), std::size_t(1));
        QCOMPARE(runs.begin()->second, (BufferRuns{{0, 336}, {384, 1024}}));
        QVERIFY(comparedSides(sharedOut(1, true), sharedOut(777, true)).verdict.outcome
                == Outcome::Different);
        // Parameters end where shares do: at 176 and at 352.
        const SourcePtr ends = cutAt({192, 384}, Elements(400, 1), {176, 160, 16}, true);
        ends->finish();
        QCOMPARE(parameterRuns(ends->catalog()).begin()->second,
                 (BufferRuns{{0, 176}, {192, 160}, {384, 16}}));
        // Behind 176 or behind 880: 16 elements are padding, and nobody knows which.
        const SourcePtr doubt = cutAt({192, 896}, Elements(928, 1), {176, 704, 32}, true);
        doubt->finish();
        QVERIFY(parameterRuns(doubt->catalog()).empty());
    }

    /// What one side tells says nothing of the other, and without padding nothing is cut.
    void bucketsStayWholeWhereNothingIsToBeLeftOut()
    {
        const SourcePtr untold = checkpoint(-1);
        untold->editCatalog().tensors.front().extents.clear();
        QVERIFY(comparedSides(checkpoint(-1), untold).tensors.front().pairedBy
                != PairedBy::Assembled);
        QVERIFY(comparedSides(checkpoint(-1), untold).verdict.outcome == Outcome::Identical);
        const SourcePtr a = sharedOut(1), b = sharedOut(1);
        for (const SourcePtr &each : {a, b}) { // one parameter is all of it
            TensorRef &tensor = each->editCatalog().tensors.front();
            tensor.extents.assign(1, tensor.extents.front());
            tensor.extents[0].box.size = {tensor.shape.dims[0]};
            tensor.extents[0].length = tensor.shape.dims[0] * 4;
            each->editCatalog().tensors.resize(1);
            addWeights(*each, {1408});
        }
        const CheckpointComparison comparison = comparedSides(a, b);
        QCOMPARE(parameterRuns(a->catalog()).size(), std::size_t(1));
        for (const TensorRow &row : comparison.tensors)
            QVERIFY(row.pairedBy != PairedBy::Assembled);
    }

    /// No file says which part of a buffer is which parameter's: neither equal nor different.
    void unlikeFormsAreUndecided()
    {
        const SourcePtr byParameter = std::make_shared<MemorySource>();
        addWeights(*byParameter, {First, Second, Third});
        byParameter->add({{Key::of("optimizer.state.exp_avg.decoder.weight")}}, "float32", {144},
                         Elements(144, 1));
        const CheckpointComparison comparison = comparedSides(checkpoint(-1), byParameter);
        QVERIFY2(comparison.verdict.outcome == Outcome::Undecided,
                 comparison.verdict.sentence.c_str());
        for (const TensorRow &row : comparison.tensors) {
            if (row.stateClass != StateClass::Weights)
                QVERIFY(row.notComparable && row.reason.find("another form") != std::string::npos);
        }
        // Without any state of an optimizer it is missing, and that is a difference.
        const SourcePtr none = std::make_shared<MemorySource>();
        addWeights(*none, {First, Second, Third});
        QVERIFY(comparedSides(checkpoint(-1), none).verdict.outcome == Outcome::Different);
        // Who asks for names alone gets what names alone tell.
        CompareOptions strict;
        strict.pairing.strict = true;
        QVERIFY(comparedSides(checkpoint(-1), byParameter, strict).verdict.outcome
                == Outcome::Different);
        // One side has both forms: what it has more is a difference.
        const SourcePtr both = checkpoint(-1);
        both->add({{Key::of("optimizer.state.exp_avg.decoder.weight")}}, "float32", {144},
                  Elements(144, 1));
        QVERIFY(comparedSides(checkpoint(-1), both).verdict.outcome == Outcome::Different);
        QVERIFY(comparedSides(both, byParameter).verdict.outcome == Outcome::Different);
    }
};

QTEST_APPLESS_MAIN(OptimizerBuffersTest)
#include "tst_optimizer_buffers.moc"
