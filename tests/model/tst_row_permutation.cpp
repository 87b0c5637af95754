// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts made by hand with the index arithmetic that frameworks use.
#include "model/pairing/row_permutation.h"

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/pairing/layout_findings.h"
#include "tests/support/memory_source.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <numeric>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;
using Kind = PermutationForm::Kind;

namespace {

std::vector<float> matrix(Index rows, Index columns)
{
    std::mt19937 random(5);
    std::vector<float> elements(std::size_t(rows * columns));
    for (float &element : elements)
        element = float(random()) / 4096.0F;
    return elements;
}

/// Row j of the result is row map[j].
std::vector<float> reordered(const std::vector<float> &elements, Index columns,
                             const std::vector<Index> &map)
{
    std::vector<float> result;
    for (const Index row : map)
        result.insert(result.end(), elements.begin() + std::ptrdiff_t(row * columns),
                      elements.begin() + std::ptrdiff_t((row + 1) * columns));
    return result;
}

std::vector<Index> identity(Index rows)
{
    std::vector<Index> map(rows);
    std::iota(map.begin(), map.end(), Index(0));
    return map;
}

/// view(a, b, c).transpose(0, 1): rows of [a][b] blocks of c in [b][a] order.
std::vector<Index> swapped(Index a, Index b, Index c)
{
    std::vector<Index> map;
    for (Index j = 0; j < b; ++j)
        for (Index i = 0; i < a; ++i)
            for (Index k = 0; k < c; ++k)
                map.push_back((i * b + j) * c + k);
    return map;
}

/// Megatron's grouped queries: of each group its queries, its key, its value, heads of `d` rows.
std::vector<Index> byGroup(Index groups, Index queries, Index d)
{
    std::vector<Index> map;
    const auto head = [&](Index number) {
        for (Index k = 0; k < d; ++k)
            map.push_back(number * d + k);
    };
    for (Index g = 0; g < groups; ++g) {
        for (Index q = 0; q < queries; ++q)
            head(g * queries + q);
        head(groups * queries + g);
        head(groups * queries + groups + g);
    }
    return map;
}

std::vector<Index> inverseOf(const std::vector<Index> &map)
{
    std::vector<Index> result(map.size());
    for (Index i = 0; i < map.size(); ++i)
        result[map[i]] = i;
    return result;
}

using Matrix = std::pair<std::vector<Index>, std::vector<float>>;

std::vector<Finding> findings(const std::vector<std::pair<std::string, Matrix>> &a,
                              const std::vector<std::pair<std::string, Matrix>> &b)
{
    SourcePtr sources[2];
    for (int side = 0; side < 2; ++side) {
        sources[side] = std::make_shared<MemorySource>();
        sources[side]->addFloats("model.common.weight", {1, 2});
        for (const auto &[name, tensor] : side == 0 ? a : b)
            sources[side]->add(MemorySource::pathOf(name), "float32", tensor.first, tensor.second);
        sources[side]->finish();
    }
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(sources[0], sources[1], {}, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot().findings;
}

std::string textOf(const std::vector<Finding> &all, std::string_view id)
{
    for (const Finding &finding : all) {
        if (finding.id == id)
            return finding.text;
    }
    return {};
}

std::string layoutOf(const std::string &name, Index rows, const std::vector<Index> &map)
{
    const std::vector<float> elements = matrix(rows, 4);
    return textOf(findings({{name, {{rows, 4}, elements}}},
                           {{name, {{rows, 4}, reordered(elements, 4, map)}}}),
                  "same-rows-permuted");
}

bool has(const std::string &text, const char *part)
{
    if (text.find(part) != std::string::npos)
        return true;
    qWarning("'%s' is not in '%s'", part, text.c_str());
    return false;
}

PermutationSearch searched(const std::vector<float> &a, const std::vector<float> &b,
                           std::size_t rowBytes)
{
    LayoutSearch search(0, {});
    return rowPermutation(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), rowBytes,
                          search);
}

} // namespace

class RowPermutationTest : public QObject
{
    Q_OBJECT

private slots:
    void findsAnyPermutation()
    {
        std::mt19937 random(9);
        for (int round = 0; round < 200; ++round) {
            const Index rows = 1 + random() % 20;
            std::vector<Index> map = identity(rows);
            std::shuffle(map.begin(), map.end(), random);
            const std::vector<float> a = matrix(rows, 3), b = reordered(a, 3, map);
            QVERIFY(searched(a, b, 12).map == map);
            std::vector<float> other = b;
            other[random() % other.size()] += 1;
            QVERIFY(!searched(a, other, 12).map && !searched(a, other, 12).isLeftOut);
        }
    }

    void equalRowsAreTakenOnce()
    {
        const std::vector<float> a{1, 1, 2, 1}, b{1, 2, 1, 1}, c{1, 2, 2, 1};
        QVERIFY(searched(a, b, 4).map == (std::vector<Index>{0, 2, 1, 3}));
        QVERIFY(!searched(a, c, 4).map);
    }

    /// Rows that are the same, and too many to be sorted: that is not known, and no "no".
    void tooManyRowsAreLeftOut()
    {
        std::vector<float> a((1u << 21) + 1), b;
        for (std::size_t i = 0; i < a.size(); ++i)
            a[i] = float(i);
        b = a;
        std::reverse(b.begin(), b.end());
        QVERIFY(searched(a, b, 4).isLeftOut);
        b[7] += 1;
        QVERIFY(!searched(a, b, 4).isLeftOut && !searched(a, b, 4).map);
    }

    void aSearchThatEndsSaysSo()
    {
        const std::vector<float> elements = matrix(64, 4);
        SourcePtr sources[2];
        for (SourcePtr &source : sources) {
            source = std::make_shared<MemorySource>();
            for (const char *name : {"model.a.weight", "model.b.weight"})
                source->add(MemorySource::pathOf(name), "float32", {64, 4},
                            source == sources[0] ? elements
                                                 : reordered(elements, 4, swapped(4, 4, 4)));
            source->finish();
        }
        const CpuBackend backend;
        SerialExecutor serial;
        CheckpointComparer comparer(sources[0], sources[1], {}, backend, serial);
        while (comparer.advance({})) {}
        const CheckpointComparison comparison = comparer.snapshot();
        // 2,048 bytes a pair: enough for one of the two.
        const auto found = layoutFindings(comparison, *sources[0], *sources[1], 3000, {});
        QCOMPARE(found.size(), std::size_t(2));
        QCOMPARE(found[1].id, std::string("layout-not-searched"));
        QCOMPARE(found[1].where, std::vector<std::string>{"model.b.weight"});
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(
            layoutFindings(comparison, *sources[0], *sources[1], 3000, stop.get_token()).empty());
    }

    /// Names that are all numbers between dots: what they might count has no end.
    void longNamesCostNoMoreThanTheirLength()
    {
        std::string hostile;
        for (int i = 0; i < 100'000; ++i)
            hostile += std::to_string(i % 10) + ".";
        std::vector<std::pair<std::string, Matrix>> a, b;
        for (int i = 0; i < 20; ++i)
            a.push_back({hostile + std::to_string(i) + "x", {{2, 3}, matrix(2, 3)}});
        b.push_back({"model.experts.w1.weight", {{2, 2, 3}, matrix(4, 3)}});
        QElapsedTimer timer;
        timer.start();
        QVERIFY(textOf(findings(a, b), "stacked").empty());
        QVERIFY2(timer.elapsed() < 20'000, "is linear, or it takes minutes and all memory");
    }

    void knowsItsForms()
    {
        QVERIFY(formOf(identity(12)).kind == Kind::Identity);
        for (Index a = 2; a < 6; ++a) {
            for (Index b = 2; b < 6; ++b) {
                for (Index c = 1; c < 4; ++c) {
                    const PermutationForm form = formOf(swapped(a, b, c));
                    QVERIFY(form.kind == Kind::Regrouped);
                    QCOMPARE(form.outer, a);
                    QCOMPARE(form.inner, b);
                    QCOMPARE(form.block, c);
                    QCOMPARE(form.period, a * b * c);
                }
            }
        }
        for (Index groups = 2; groups < 5; ++groups) {
            for (Index queries = 2; queries < 5; ++queries) {
                const PermutationForm there = formOf(byGroup(groups, queries, 4));
                QVERIFY(there.kind == Kind::Grouped);
                QCOMPARE(there.outer, groups);
                QCOMPARE(there.inner, queries);
                const PermutationForm back = formOf(inverseOf(byGroup(groups, queries, 4)));
                QVERIFY(back.kind == Kind::Ungrouped);
                QCOMPARE(back.block, Index(4));
            }
        }
        std::vector<Index> reverse = identity(8);
        std::reverse(reverse.begin(), reverse.end());
        QVERIFY(formOf(reverse).kind == Kind::Other);
    }

    void writesRuns()
    {
        QCOMPARE(rowRuns({0, 1, 2, 8, 9, 5}, 8), std::string("0-2, 8-9, 5"));
        QCOMPARE(rowRuns({0, 1, 2, 8, 9, 5}, 2), std::string("0-2, 8-9, ..."));
        QCOMPARE(rowRuns({}, 2), std::string());
    }

    void saysWhatALayoutIs()
    {
        QVERIFY(has(layoutOf("model.attn.qkv.weight", 48, swapped(3, 4, 4)),
                    "queries, keys and values in blocks in A, by head in B: 4 heads of 4 rows"));
        QVERIFY(has(layoutOf("model.attn.qkv.weight", 48, swapped(4, 3, 4)),
                    "queries, keys and values by head in A, in blocks in B: 4 heads of 4 rows"));
        QVERIFY(has(layoutOf("model.linear_qkv.weight", 32, byGroup(2, 2, 4)),
                    "by group of heads in B: 2 groups of 2 queries, heads of 4 rows"));
        QVERIFY(has(layoutOf("model.mlp.linear_fc1.weight", 64, swapped(2, 4, 8)),
                    "gate and up one after the other in A, by shard in B: 4 shards of 8 rows"));
        // Pairs (0 1)(2 3)... against halves, in each head of 8.
        std::vector<Index> rotary;
        for (const Index row : swapped(4, 2, 1))
            rotary.push_back(row);
        for (const Index row : swapped(4, 2, 1))
            rotary.push_back(row + 8);
        QVERIFY(has(layoutOf("model.q_proj.weight", 16, rotary),
                    "rotary embedding in pairs in A, in halves in B, heads of 8 rows"));
        std::vector<Index> reverse = identity(8);
        std::reverse(reverse.begin(), reverse.end());
        QVERIFY(has(layoutOf("model.w.weight", 8, reverse), "the same rows in another order"));
    }

    void seesColumnsAndTransposes()
    {
        const std::vector<float> elements = matrix(6, 4);
        std::vector<float> columns, turned;
        for (Index row = 0; row < 6; ++row)
            for (const Index column : {2, 0, 3, 1})
                columns.push_back(elements[row * 4 + Index(column)]);
        for (Index column = 0; column < 4; ++column)
            for (Index row = 0; row < 6; ++row)
                turned.push_back(elements[row * 4 + column]);
        QVERIFY(has(textOf(findings({{"model.w.weight", {{6, 4}, elements}}},
                                    {{"model.w.weight", {{6, 4}, columns}}}),
                           "same-columns-permuted"),
                    "B's columns are A's 2, 0, 3, 1"));
        QVERIFY(has(textOf(findings({{"model.w.weight", {{6, 4}, elements}}},
                                    {{"model.w.weight", {{4, 6}, turned}}}),
                           "same-values-transposed"),
                    "B is A transposed, bit for bit"));
        turned[3] += 1;
        QVERIFY(textOf(findings({{"model.w.weight", {{6, 4}, elements}}},
                                {{"model.w.weight", {{4, 6}, turned}}}),
                       "same-values-transposed")
                    .empty());
    }

    void seesPaddingAndStacks()
    {
        const std::vector<float> elements = matrix(5, 3);
        std::vector<float> padded = elements;
        padded.resize(24, 0);
        QVERIFY(has(textOf(findings({{"model.embed.weight", {{5, 3}, elements}}},
                                    {{"model.embed.weight", {{8, 3}, padded}}}),
                           "padded-rows"),
                    "the first 5 rows are equal bit for bit; B has 3 rows more, all zero"));
        const std::vector<float> first = matrix(2, 3), second = matrix(4, 3);
        const std::vector<float> other(second.begin() + 6, second.end());
        std::vector<float> both = first;
        both.insert(both.end(), other.begin(), other.end());
        const auto stacked = findings({{"model.experts.0.w1.weight", {{2, 3}, first}},
                                       {"model.experts.1.w1.weight", {{2, 3}, other}}},
                                      {{"model.experts.w1.weight", {{2, 2, 3}, both}}});
        QVERIFY(has(textOf(stacked, "stacked"), "is 2 tensors of A stacked, bit for bit"));
        std::swap(both[0], both[1]);
        QVERIFY(textOf(findings({{"model.experts.0.w1.weight", {{2, 3}, first}},
                                 {"model.experts.1.w1.weight", {{2, 3}, other}}},
                                {{"model.experts.w1.weight", {{2, 2, 3}, both}}}),
                       "stacked")
                    .empty());
    }
};

QTEST_APPLESS_MAIN(RowPermutationTest)
#include "tst_row_permutation.moc"
