// SPDX-License-Identifier: GPL-3.0-or-later
// What one side is of the other in every element. Rounding is done here by the arithmetic on bits that
// PyTorch documents for bfloat16, scaling by std::ldexp.
#include "model/compare/exact_relations.h"

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// More than a piece that is read at once.
constexpr Index Elements = 70'000;

std::vector<float> numbers()
{
    std::mt19937 random(11);
    std::vector<float> elements(Elements);
    for (float &element : elements)
        element = (float(random()) / 2147483648.0F - 1.0F) * 0.02F;
    return elements;
}

template <class Change>
std::vector<float> changed(std::vector<float> elements, Change change)
{
    for (float &element : elements)
        element = change(element);
    return elements;
}

float toBfloat16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000U);
}

float cutToBfloat16(float value)
{
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
}

std::vector<Finding> relationsOf(const SourcePtr &a, const SourcePtr &b,
                                 std::uint64_t budget = std::uint64_t(1) << 30)
{
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, {}, backend, serial);
    while (comparer.advance({})) {}
    return exactRelations(comparer.snapshot(), *a, *b, budget, {});
}

std::vector<Finding> relations(const std::vector<float> &a, const std::vector<float> &b,
                               std::uint64_t budget = std::uint64_t(1) << 30)
{
    SourcePtr sources[2];
    for (int side = 0; side < 2; ++side) {
        sources[side] = std::make_shared<MemorySource>();
        const std::vector<float> &elements = side == 0 ? a : b;
        sources[side]->addFloats("common", {1, 2});
        sources[side]->add(MemorySource::pathOf("w"), "float32", {Index(elements.size() / 10), 10},
                           elements);
        sources[side]->finish();
    }
    return relationsOf(sources[0], sources[1], budget);
}

QString textOf(const std::vector<Finding> &findings)
{
    return findings.empty() ? QString() : QString::fromStdString(findings.front().text);
}

} // namespace

class TestExactRelations : public QObject
{
    Q_OBJECT

private slots:
    void sayWhatOneSideIsOfTheOther_data();
    void sayWhatOneSideIsOfTheOther();
    void aSingleElementThatIsNotSoRefutes();
    void oneBitIsNamed();
    void fewElementsProveNothing();
    void theBudgetIsKept();
};

void TestExactRelations::sayWhatOneSideIsOfTheOther_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("text");
    QTest::addColumn<std::vector<float>>("a");
    QTest::addColumn<std::vector<float>>("b");
    const std::vector<float> a = numbers();
    const auto row = [&](const char *id, const char *text, const std::vector<float> &left,
                         const std::vector<float> &right) {
        QTest::newRow(text) << QString::fromLatin1(id)
                            << QLatin1String(text)
                + QStringLiteral(", bit for bit, in 1 tensor, first w")
                            << left << right;
    };
    const char *inPlace = "rounded-in-place";
    row(inPlace, "B equals A rounded to bfloat16, ties to even, kept as float32", a,
        changed(a, toBfloat16));
    row(inPlace, "A equals B rounded to bfloat16, ties to even, kept as float32",
        changed(a, toBfloat16), a);
    row(inPlace, "B equals A cut to bfloat16, kept as float32", a, changed(a, cutToBfloat16));
    row("times-power-of-two", "B equals A times 2^3", a,
        changed(a, [](float x) { return std::ldexp(x, 3); }));
    row("times-power-of-two", "B equals A times 2^-1", a,
        changed(a, [](float x) { return std::ldexp(x, -1); }));
    row("negated", "B equals A with every sign changed", a, changed(a, [](float x) { return -x; }));
    row("all-zero", "B is zero throughout where A is not", a,
        changed(a, [](float) { return 0.0F; }));
    row("all-zero", "A is zero throughout where B is not", changed(a, [](float) { return 0.0F; }),
        a);
}

void TestExactRelations::sayWhatOneSideIsOfTheOther()
{
    QFETCH(QString, id);
    QFETCH(QString, text);
    QFETCH(std::vector<float>, a);
    QFETCH(std::vector<float>, b);
    const auto found = relations(a, b);
    QCOMPARE(textOf(found), text);
    QCOMPARE(QString::fromStdString(found.front().id), id);
    QVERIFY(found.front().certainty == Certainty::Is);
    QCOMPARE(found.front().where, std::vector<std::string>{"w"});
}

void TestExactRelations::aSingleElementThatIsNotSoRefutes()
{
    const std::vector<float> a = numbers();
    for (const auto &change : {&toBfloat16, &cutToBfloat16}) {
        std::vector<float> b = changed(a, change);
        b.back() = std::nextafter(b.back(), 1.0F);
        QCOMPARE(textOf(relations(a, b)), QString());
    }
    std::vector<float> twice = changed(a, [](float x) { return 2 * x; });
    twice[Elements / 2] = std::nextafter(twice[Elements / 2], 1.0F);
    QCOMPARE(textOf(relations(a, twice)), QString());
    // A product that was rounded is none: half of the least subnormal number is zero.
    std::vector<float> small = a;
    small[3] = std::numeric_limits<float>::denorm_min();
    QCOMPARE(textOf(relations(small, changed(small, [](float x) { return std::ldexp(x, -1); }))),
             QString());
    // The same numbers times three are no power of two.
    QCOMPARE(textOf(relations(a, changed(a, [](float x) { return 3 * x; }))), QString());
}

void TestExactRelations::oneBitIsNamed()
{
    const std::vector<float> a = numbers();
    const auto flipped = [&](int bit) {
        std::vector<float> b = a;
        b[1234] =
            std::bit_cast<float>(std::bit_cast<std::uint32_t>(b[1234]) ^ (std::uint32_t(1) << bit));
        return textOf(relations(a, b));
    };
    QCOMPARE(flipped(3),
             QStringLiteral("one bit differs: bit 3 (of its mantissa) of element [123, 4] of w"));
    QCOMPARE(flipped(25),
             QStringLiteral("one bit differs: bit 25 (of its exponent) of element [123, 4] of w"));
    QCOMPARE(flipped(31),
             QStringLiteral("one bit differs: bit 31 (its sign) of element [123, 4] of w"));
    // Where another tensor differs too, it is no finding.
    const auto source = [](const std::vector<float> &elements, float other) {
        auto result = std::make_shared<MemorySource>();
        result->addFloats("other", {other});
        result->add(MemorySource::pathOf("w"), "float32", {Elements / 10, 10}, elements);
        result->finish();
        return result;
    };
    std::vector<float> b = a;
    b[7] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(b[7]) ^ 1U);
    QCOMPARE(textOf(relationsOf(source(a, 1), source(b, 1))).left(16),
             QStringLiteral("one bit differs:"));
    QCOMPARE(textOf(relationsOf(source(a, 1), source(b, 2))), QString());
    std::vector<float> two = a;
    two[1234] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(two[1234]) ^ 3U);
    QCOMPARE(textOf(relations(a, two)), QString());
}

// A counter that is twice the other one is no tensor that was scaled.
void TestExactRelations::fewElementsProveNothing()
{
    std::vector<float> a = numbers(), b = a;
    for (std::size_t i = 0; i < 7; ++i)
        b[i] = toBfloat16(b[i]);
    QCOMPARE(textOf(relations(a, b)), QString());
    std::vector<float> counter(10, 100.0F);
    QVERIFY(
        textOf(relations(counter, std::vector<float>(10, 200.0F))).contains(QStringLiteral("2^1")));
    counter.assign(10, 0.0F);
    std::vector<float> other = counter;
    counter[0] = 100.0F;
    other[0] = 200.0F;
    QCOMPARE(textOf(relations(counter, other)), QString());
}

void TestExactRelations::theBudgetIsKept()
{
    const std::vector<float> a = numbers(), b = changed(a, toBfloat16);
    const std::uint64_t bytes = 2 * 4 * Elements;
    QCOMPARE(textOf(relations(a, b, bytes - 1)), QString());
    QVERIFY(!textOf(relations(a, b, bytes)).isEmpty());
}

QTEST_GUILESS_MAIN(TestExactRelations)
#include "tst_exact_relations.moc"
