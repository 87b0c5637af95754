// SPDX-License-Identifier: GPL-3.0-or-later
// Wholes that are cut by the index arithmetic of tensor parallelism, and put together again.
#include "model/rank_assembly.h"

#include "tests/support/memory_source.h"

#include <QTest>

#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr std::uint64_t Plenty = 1u << 24;
constexpr Index Hidden = 4, Features = 8, Layers = 4;

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

struct Runs
{
    SourcePtr ranks, whole;
};

/// Two tensor and two pipeline ranks of a model of four layers; the whole with layers stacked.
Runs runs(bool gated, bool oneBitOff)
{
    std::mt19937 random(21);
    const auto elements = [&](Index count) {
        Elements result(count);
        for (float &element : result)
            element = float(random() % 1000);
        return result;
    };
    Runs made{std::make_shared<MemorySource>(), std::make_shared<MemorySource>()};
    Catalog &catalog = made.ranks->editCatalog();
    for (std::int64_t tp = 0; tp < 2; ++tp)
        for (std::int64_t pp = 0; pp < 2; ++pp)
            catalog.owners.push_back({{{"tp", tp}, {"pp", pp}}});
    const auto addPart = [&](Index tp, Index pp, const std::string &name, std::vector<Index> shape,
                             const Elements &part) {
        const std::string folder = "mp_rank_0" + std::to_string(tp) + "_00" + std::to_string(pp);
        KeyPath path{{Key::of(folder), Key::of("model"), Key::of(name)}};
        made.ranks->add(path, "float32", std::move(shape), part).owner = OwnerIndex(tp * 2 + pp);
    };
    Elements fc1, fc2, norm;
    for (Index layer = 0; layer < Layers; ++layer) {
        const Elements one = elements(Features * Hidden), two = elements(Hidden * Features);
        const Elements same = elements(Hidden);
        const std::string before = "decoder.layers." + std::to_string(layer % 2) + ".";
        for (Index tp = 0; tp < 2; ++tp) {
            Elements part = cut(one, Hidden, tp * 4, tp * 4 + 4, 0, Hidden);
            if (gated) { // two rows of the gate, two of the up
                part = cut(one, Hidden, tp * 2, tp * 2 + 2, 0, Hidden);
                const Elements up = cut(one, Hidden, 4 + tp * 2, 6 + tp * 2, 0, Hidden);
                part.insert(part.end(), up.begin(), up.end());
            }
            addPart(tp, layer / 2, before + "mlp.linear_fc1.weight", {4, Hidden}, part);
            addPart(tp, layer / 2, before + "mlp.linear_fc2.weight", {Hidden, 4},
                    cut(two, Features, 0, Hidden, tp * 4, tp * 4 + 4));
            addPart(tp, layer / 2, before + "norm.weight", {Hidden}, same);
        }
        fc1.insert(fc1.end(), one.begin(), one.end());
        fc2.insert(fc2.end(), two.begin(), two.end());
        norm.insert(norm.end(), same.begin(), same.end());
    }
    const Elements words = elements(6 * Hidden);
    for (Index tp = 0; tp < 2; ++tp)
        addPart(tp, 0, "embedding.word_embeddings.weight", {3, Hidden},
                cut(words, Hidden, tp * 3, tp * 3 + 3, 0, Hidden));
    if (oneBitOff)
        fc2.back() += 1;
    const auto addWhole = [&](const char *name, std::vector<Index> shape, const Elements &data) {
        made.whole->add({{Key::of(name)}}, "float32", std::move(shape), data);
    };
    addWhole("decoder.layers.mlp.linear_fc1.weight", {Layers, Features, Hidden}, fc1);
    addWhole("decoder.layers.mlp.linear_fc2.weight", {Layers, Hidden, Features}, fc2);
    addWhole("decoder.layers.norm.weight", {Layers, Hidden}, norm);
    addWhole("embedding.word_embeddings.weight", {5, Hidden}, // without the padding
             Elements(words.begin(), words.begin() + std::ptrdiff_t(5 * Hidden)));
    made.ranks->finish();
    made.whole->finish();
    return made;
}

} // namespace

class RankAssemblyTest : public QObject
{
    Q_OBJECT

private slots:
    void theTableIsWellFormed()
    {
        QVERIFY(assemblyRules().size() > 5);
        QVERIFY(!parseAssemblyRules("2 pattern reason").ok());
        QVERIFY(!parseAssemblyRules("0 pattern").ok());
    }

    void partsMakeTheWhole()
    {
        for (const bool gated : {false, true}) {
            const Runs made = runs(gated, false);
            const auto found = assemblyFindings(*made.ranks, *made.whole, Plenty, {});
            QCOMPARE(found.size(), std::size_t(1));
            QVERIFY2(
                found[0].text.starts_with("put together by rule, parts of A's ranks are 12 "
                                          "tensors of B bit for bit; of 1 tensor only the rows "
                                          "that both have are equal, first "
                                          "embedding.word_embeddings.weight ("),
                found[0].text.c_str());
            const auto mirrored = assemblyFindings(*made.whole, *made.ranks, Plenty, {});
            QVERIFY(
                mirrored[0].text.starts_with("put together by rule, parts of B's ranks are 12"));
        }
    }

    void whatIsNotTheWholeIsNamed()
    {
        const Runs made = runs(false, true);
        const auto found = assemblyFindings(*made.ranks, *made.whole, Plenty, {});
        QVERIFY(found[0].severity == Severity::Warning);
        // The padded vocabulary is named too, behind it.
        QCOMPARE(found[0].where,
                 (std::vector<std::string>{"decoder.layers.mlp.linear_fc2.weight",
                                           "embedding.word_embeddings.weight"}));
    }

    /// Bytes in a row are no proof: shape, type and every byte count.
    void aCommonBeginningIsNoEquality()
    {
        for (const int what : {0, 1, 2, 3}) {
            SourcePtr ranks = std::make_shared<MemorySource>();
            SourcePtr whole = std::make_shared<MemorySource>();
            for (std::int64_t tp = 0; tp < 2; ++tp)
                ranks->editCatalog().owners.push_back({{{"tp", tp}}});
            const std::string name = "decoder.linear_qkv.weight";
            for (Index tp = 0; tp < 2; ++tp) {
                if (what == 3 && tp == 1)
                    continue; // its file is missing
                KeyPath path{
                    {Key::of("mp_rank_0" + std::to_string(tp)), Key::of("model"), Key::of(name)}};
                const Elements part{1, 2, 3, float(4 + tp)};
                ranks->add(path, "float32", {2, 2}, part).owner = OwnerIndex(tp);
            }
            const Elements all{1, 2, 3, 4, 1, 2, 3, 5};
            if (what == 0)
                whole->add({{Key::of(name)}}, "float32", {4, 2}, all);
            else if (what == 1)
                whole->add({{Key::of(name)}}, "float32", {2, 4}, all);
            else if (what == 2)
                whole->add({{Key::of(name)}}, "int32", {4, 2}, all);
            else
                whole->add({{Key::of(name)}}, "float32", {4, 2}, all);
            ranks->finish();
            whole->finish();
            const std::string text = assemblyFindings(*ranks, *whole, Plenty, {}).at(0).text;
            const char *const expected[] = {
                "are 1 tensor of B bit for bit (",
                "are 0 tensors of B bit for bit; 1 tensor is not, first",
                "are 0 tensors of B bit for bit; 1 tensor is not, first",
                "are 0 tensors of B bit for bit; of 1 tensor only the rows that both have",
            };
            QVERIFY2(text.find(expected[what]) != std::string::npos, text.c_str());
        }
    }

    void nothingIsSaidOfOtherPairs()
    {
        const Runs made = runs(false, false);
        QVERIFY(assemblyFindings(*made.ranks, *made.ranks, Plenty, {}).empty());
        QVERIFY(assemblyFindings(*made.whole, *made.whole, Plenty, {}).empty());
    }
};

QTEST_APPLESS_MAIN(RankAssemblyTest)
#include "tst_rank_assembly.moc"
