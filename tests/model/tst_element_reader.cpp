// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of elements against a walk over everything.
#include "model/compare/element_reader.h"
#include "model/compute_backend.h"
#include "model/pairing/widened_source.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

template <class T>
TensorPairRef pairOf(std::string_view dtype, const std::vector<T> &a, const std::vector<T> &b,
                     Index elements = 0)
{
    const auto left = std::make_shared<MemorySource>(), right = std::make_shared<MemorySource>();
    const std::vector<Index> shape = {elements ? elements : a.size()};
    left->add(MemorySource::pathOf("w"), dtype, shape, a);
    right->add(MemorySource::pathOf("w"), dtype, shape, b);
    left->finish();
    right->finish();
    return {left, right, 0, 0};
}

std::vector<Index> indicesOf(const ElementPage &page)
{
    std::vector<Index> indices;
    for (const ElementRow &row : page.rows)
        indices.push_back(row.index);
    return indices;
}

ElementPage read(const TensorPairRef &pair, const ElementQuery &query)
{
    auto page = readElements(pair, query, {}, {});
    if (!page)
        qFatal("%s", page.error().message().c_str());
    return std::move(page).value();
}

std::vector<Index> slice(const std::vector<Index> &all, Index offset, std::size_t count)
{
    const auto begin = std::min<std::size_t>(std::size_t(offset), all.size());
    const auto end = std::min(begin + count, all.size());
    return {all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(end)};
}

/// All three orders and both directions, against the expected lists.
void checkPages(const TensorPairRef &pair, const std::vector<Index> &differing,
                const std::vector<Index> &largest, std::mt19937 &random)
{
    const Index total = pair.tensorA().elements;
    for (int i = 0; i < 12; ++i) {
        const Index offset = random() % (differing.size() + 3);
        const std::size_t count = random() % (differing.size() + 3);
        for (const auto &[order, all] : {std::pair{ElementOrder::Differing, &differing},
                                         std::pair{ElementOrder::Largest, &largest}}) {
            const ElementPage page = read(pair, {order, offset, count});
            QCOMPARE(indicesOf(page), slice(*all, offset, count));
            QCOMPARE(page.differentElements, Index(all->size()));
            QCOMPARE(page.complete, offset + count >= all->size());
        }
        const Index from = random() % (total + 2);
        const auto next = nextDifference(pair, from, false, {});
        const auto after = std::lower_bound(differing.begin(), differing.end(), from);
        QVERIFY(next.ok());
        QVERIFY(*next == (after == differing.end() ? std::nullopt : std::optional(*after)));
        const auto previous = nextDifference(pair, from, true, {});
        QVERIFY(*previous
                == (after == differing.begin() ? std::nullopt : std::optional(*(after - 1))));
        const ElementPage window = read(pair, {ElementOrder::ByIndex, from, count});
        std::vector<Index> expected;
        for (Index index = from; index < total && expected.size() < count; ++index)
            expected.push_back(index);
        QCOMPARE(indicesOf(window), expected);
        QCOMPARE(window.complete, from + count >= total);
        for (const ElementRow &row : window.rows)
            QCOMPARE(row.differs,
                     std::binary_search(differing.begin(), differing.end(), row.index));
    }
}

} // namespace

class TestElementReader : public QObject
{
    Q_OBJECT

private slots:
    void floats();
    void integersBeyondDoubles();
    void notFinite();
    void complexNumbers();
    void nibbles();
    void acrossPieces();
    void rows();
    void refusals();
    void unlikeTypesAreReadAsTheWiderOne();
    void stops();
};

void TestElementReader::floats()
{
    constexpr unsigned Seed = 3;
    std::mt19937 random(Seed);
    for (int round = 0; round < 60; ++round) {
        std::vector<double> a(1 + random() % 50), b;
        std::vector<Index> differing;
        for (std::size_t i = 0; i < a.size(); ++i) {
            a[i] = double(int(random() % 9) - 4);
            b.push_back(random() % 2 ? a[i] : double(int(random() % 9) - 4));
            if (a[i] != b[i])
                differing.push_back(i);
        }
        std::vector<Index> largest = differing;
        std::stable_sort(largest.begin(), largest.end(), [&](Index i, Index j) {
            return std::fabs(a[i] - b[i]) > std::fabs(a[j] - b[j]);
        });
        checkPages(pairOf("float64", a, b), differing, largest, random);
    }
}

/// Differences of 64-bit integers take 65 bits; doubles would mix up neighbours and lose the ends.
void TestElementReader::integersBeyondDoubles()
{
    constexpr unsigned Seed = 4;
    std::mt19937_64 wide(Seed);
    std::mt19937 random(Seed);
    constexpr std::int64_t Low = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t High = std::numeric_limits<std::int64_t>::max();
    for (int round = 0; round < 40; ++round) {
        std::vector<std::int64_t> a, b;
        for (int i = 0; i < 30; ++i) {
            const std::int64_t ends[] = {Low, High, Low + 1, High - 1, 0, std::int64_t(wide())};
            a.push_back(ends[random() % 6]);
            b.push_back(random() % 4 ? ends[random() % 6] : a.back());
        }
        std::vector<std::uint64_t> ua(a.begin(), a.end()), ub(b.begin(), b.end());
        const auto sorted = [&](auto magnitude) {
            std::vector<Index> indices;
            for (Index i = 0; i < a.size(); ++i) {
                if (a[i] != b[i])
                    indices.push_back(i);
            }
            std::stable_sort(indices.begin(), indices.end(),
                             [&](Index i, Index j) { return magnitude(i) > magnitude(j); });
            return indices;
        };
        const auto none = sorted([](Index) { return 0; });
        __extension__ using Wide = __int128;
        const auto distance = [](Wide x, Wide y) { return x > y ? x - y : y - x; };
        checkPages(pairOf("int64", a, b), none,
                   sorted([&](Index i) { return distance(a[i], b[i]); }), random);
        checkPages(pairOf("uint64", ua, ub), none,
                   sorted([&](Index i) { return distance(ua[i], ub[i]); }), random);
    }
}

void TestElementReader::notFinite()
{
    constexpr double Inf = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double Max = std::numeric_limits<double>::max();
    const std::vector<double> a = {Inf, 0.0, NaN, 1.0, Max, 5.0, 0.0, Inf};
    const std::vector<double> b = {1.0, 1.0, 2.0, NaN, -Max, 5.0, -0.0, Inf};
    // Numbers by difference (one that overflows is the largest), the signed zeros being 0 apart;
    // then the pairs that have no difference.
    std::mt19937 random(1);
    checkPages(pairOf("float64", a, b), {0, 1, 2, 3, 4, 6}, {4, 1, 6, 0, 2, 3}, random);
}

void TestElementReader::complexNumbers()
{
    // (real, imaginary): the larger part counts.
    const std::vector<float> a = {0, 0, 0, 0, 0, 0, 1, 1};
    const std::vector<float> b = {1, 0, 0, 3, 2, -2, 1, 1};
    std::mt19937 random(1);
    checkPages(pairOf("complex64", a, b, 4), {0, 1, 2}, {1, 2, 0}, random);
}

void TestElementReader::nibbles()
{
    constexpr unsigned Seed = 6;
    std::mt19937 random(Seed);
    for (int round = 0; round < 60; ++round) {
        const Index elements = 1 + random() % 70;
        std::vector<std::uint8_t> a((elements + 1) / 2), b;
        for (std::uint8_t &byte : a)
            byte = std::uint8_t(random());
        b = a;
        if (elements % 2)
            a.back() &= 15, b.back() &= 15;
        for (unsigned n = unsigned(random() % 6); n > 0; --n) {
            const Index at = random() % elements; // low nibble first
            b[at / 2] = std::uint8_t(b[at / 2] ^ ((1 + random() % 15) << (at % 2 ? 4 : 0)));
        }
        const auto nibble = [](const std::vector<std::uint8_t> &data, Index i) {
            return (data[i / 2] >> (i % 2 ? 4 : 0)) & 15;
        };
        std::vector<Index> differing;
        for (Index i = 0; i < elements; ++i) {
            if (nibble(a, i) != nibble(b, i))
                differing.push_back(i);
        }
        std::vector<Index> largest = differing;
        std::stable_sort(largest.begin(), largest.end(), [&](Index i, Index j) {
            return std::abs(nibble(a, i) - nibble(b, i)) > std::abs(nibble(a, j) - nibble(b, j));
        });
        checkPages(pairOf("uint4", a, b, elements), differing, largest, random);
    }
}

/// Tensors of several pieces, with differences at the seams.
void TestElementReader::acrossPieces()
{
    const Index piece = unitElements(*dtypeByName("uint8")) / 8;
    const Index elements = 3 * piece + 77;
    std::vector<std::uint8_t> a(elements), b(elements);
    const std::vector<Index> differing = {0,         1,         piece - 1,     piece,
                                          piece + 1, 2 * piece, 3 * piece - 1, elements - 1};
    for (std::size_t i = 0; i < differing.size(); ++i)
        b[differing[i]] = std::uint8_t(i + 1);
    const std::vector<Index> largest(differing.rbegin(), differing.rend());
    const TensorPairRef pair = pairOf("uint8", a, b);
    QCOMPARE(indicesOf(read(pair, {})), differing);
    QCOMPARE(indicesOf(read(pair, {ElementOrder::Largest, 0, 3})), slice(largest, 0, 3));
    for (std::size_t i = 0; i + 1 < differing.size(); ++i) {
        QVERIFY(*nextDifference(pair, differing[i] + 1, false, {}) == differing[i + 1]);
        QVERIFY(*nextDifference(pair, differing[i + 1], true, {}) == differing[i]);
    }
    const ElementPage seam = read(pair, {ElementOrder::ByIndex, piece - 2, 4});
    QCOMPARE(seam.rows.size(), std::size_t(4));
    QVERIFY(!seam.rows[0].differs && seam.rows[1].differs && seam.rows[3].differs);
    QVERIFY(!seam.complete);
    // A window costs its own bytes, not the tensor's.
    const auto &source = static_cast<const MemorySource &>(*pair.sourceA);
    const std::uint64_t before = source.bytesRead;
    read(pair, {ElementOrder::ByIndex, 2 * piece, 100});
    QCOMPARE(source.bytesRead - before, std::uint64_t(100));
}

void TestElementReader::rows()
{
    const ElementPage page =
        read(pairOf("float32", std::vector<float>{1.0f}, std::vector<float>{1.5f}), {});
    const ElementRow &row = page.rows[0];
    QCOMPARE(std::get<double>(row.a.real), 1.0);
    QCOMPARE(std::get<double>(row.difference.real), 0.5); // b - a
    QCOMPARE(bitsToHex(*dtypeByName("float32"), row.bitsA), std::string("3f800000"));
    QCOMPARE(bitsToHex(*dtypeByName("float32"), row.bitsB), std::string("3fc00000"));
    QVERIFY(row.ulp == std::uint64_t(1) << 22);
    QVERIFY(row.differs);
}

void TestElementReader::refusals()
{
    const std::vector<float> some(6);
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    a->add(MemorySource::pathOf("w"), "float32", {2, 3}, some);
    b->add(MemorySource::pathOf("w"), "float32", {3, 2}, some);
    b->add(MemorySource::pathOf("x"), "int32", {2, 3}, some);
    a->finish();
    b->finish();
    for (const TensorIndex other : {0, 1}) {
        const auto refused = readElements({a, b, 0, other}, {}, {}, {});
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::Mismatch);
        QVERIFY(!nextDifference({a, b, 0, other}, 0, false, {}).ok());
    }
    const TensorPairRef good{a, a, 0, 0};
    QVERIFY(!readElements(good, {ElementOrder::Differing, 0, MaxElementRows + 1}, {}, {}).ok());
    QVERIFY(!readElements(good, {ElementOrder::Largest, MaxElementRows + 1, 1}, {}, {}).ok());
    QVERIFY(read(good, {ElementOrder::ByIndex, ~Index(0), MaxElementRows}).rows.empty());
    a->breakTensor(MemorySource::pathOf("w"), 8);
    QVERIFY(readElements(good, {}, {}, {}).error().code == ErrorCode::Io);
    QCOMPARE(read(good, {ElementOrder::ByIndex, 0, 2}).rows.size(), std::size_t(2));
}

void TestElementReader::unlikeTypesAreReadAsTheWiderOne()
{
    // A bfloat16 is the upper half of the float32 of the same value.
    std::mt19937 random(5);
    std::vector<std::uint16_t> narrow;
    std::vector<float> wide;
    std::vector<Index> differing;
    for (Index i = 0; i < 200'000; ++i) { // more than is widened at once
        const auto code = std::uint16_t(0x3f80 + random() % 256);
        float value = std::bit_cast<float>(std::uint32_t(code) << 16);
        if (random() % 1000 == 0) {
            value += 1.0F;
            differing.push_back(i);
        }
        narrow.push_back(code);
        wide.push_back(value);
    }
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    a->add(MemorySource::pathOf("w"), "bfloat16", {narrow.size()}, narrow);
    b->add(MemorySource::pathOf("w"), "float32", {wide.size()}, wide);
    a->finish();
    b->finish();
    for (const bool swapped : {false, true}) {
        const TensorPairRef pair = swapped ? asOneType({b, a, 0, 0}) : asOneType({a, b, 0, 0});
        QVERIFY(pair.tensorA().dtype == *dtypeByName("float32"));
        QVERIFY(pair.tensorB().dtype == *dtypeByName("float32"));
        const ElementPage page = read(pair, {ElementOrder::Differing, 0, 100'000});
        QCOMPARE(indicesOf(page), differing);
        for (const ElementRow &row : page.rows)
            QCOMPARE(std::get<double>(row.difference.real), swapped ? -1.0 : 1.0);
    }
    // Any place of the stream, whatever its alignment.
    const TensorPairRef pair = asOneType({a, b, 0, 0});
    std::vector<std::byte> part(70'001);
    QVERIFY(pair.sourceA->read(pair.a, 3, part).ok());
    std::vector<float> expected;
    for (const std::uint16_t code : narrow)
        expected.push_back(std::bit_cast<float>(std::uint32_t(code) << 16));
    QVERIFY(
        std::memcmp(part.data(), reinterpret_cast<const char *>(expected.data()) + 3, part.size())
        == 0);
    // Types of which neither holds the other stay as they are, and are refused.
    const auto c = std::make_shared<MemorySource>();
    c->add(MemorySource::pathOf("w"), "float16", {narrow.size()}, narrow);
    c->finish();
    const TensorPairRef unlike = asOneType({a, c, 0, 0});
    QVERIFY(unlike.tensorA().dtype != unlike.tensorB().dtype);
    QVERIFY(!readElements(unlike, {}, {}, {}).ok());
}

void TestElementReader::stops()
{
    const std::vector<std::uint8_t> data(1 << 22);
    const TensorPairRef pair = pairOf("uint8", data, data);
    std::stop_source stop;
    int calls = 0;
    std::uint64_t last = 0;
    const auto stopped = readElements(pair, {}, stop.get_token(), [&](const Progress &progress) {
        ++calls;
        last = progress.bytesDone;
        stop.request_stop();
    });
    QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Cancelled);
    QCOMPARE(calls, 1);
    QVERIFY(last > 0 && last < 2 * data.size());
    QVERIFY(nextDifference(pair, 9, true, stop.get_token()).error().code == ErrorCode::Cancelled);
}

QTEST_APPLESS_MAIN(TestElementReader)
#include "tst_element_reader.moc"
