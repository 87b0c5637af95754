// SPDX-License-Identifier: GPL-3.0-or-later
// Two checkpoints in memory against what was put into them.
#include "tests/support/checkpoints_in_memory.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr float Inf = std::numeric_limits<float>::infinity();
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

} // namespace

class TestComparer : public QObject
{
    Q_OBJECT

private slots:
    void equalAndDifferent();
    void oneSided();
    void shapesAndTypes();
    void widened();
    void roundingIsWork();
    void notFinite();
    void unreadable();
    void ambiguousNames();
    void stateOfUnlikeRanks();
    void tolerances_data();
    void tolerances();
    void specialNumbersAndTolerance();
    void contentAcrossNames();
    void findings();
};

void TestComparer::equalAndDifferent()
{
    const auto a = source(), b = source();
    std::vector<float> same = {1, 2, 3}, changed = same;
    changed[1] = 2.5f;
    for (const auto &[side, values] : {std::pair{a, same}, std::pair{b, changed}}) {
        side->addFloats("equal", same);
        side->addFloats("other", values);
        side->addFloats("none", {});
        side->addFloats("nan", {NaN});
        side->addValue("lr", Value::real(0.1));
        side->finish();
    }
    const CheckpointComparison comparison = compare(a, b);
    QVERIFY(comparison.finished);
    QVERIFY(rowOf(comparison, "equal").status == ItemStatus::Identical);
    QVERIFY(rowOf(comparison, "none").status == ItemStatus::Identical);
    QVERIFY(rowOf(comparison, "nan").status == ItemStatus::Identical); // by bits
    const TensorRow &row = rowOf(comparison, "other");
    QVERIFY(row.status == ItemStatus::Different);
    QCOMPARE(row.stats->differentElements, Index(1));
    QCOMPARE(row.stats->firstIndex, Index(1));
    QCOMPARE(row.stats->maxAbs, 0.5);
    QVERIFY(row.valueEqual == false);
    QVERIFY(!(row.fingerprintA == row.fingerprintB));
    QVERIFY(rowOf(comparison, "equal").fingerprintA == rowOf(comparison, "equal").fingerprintB);
    QVERIFY(!rowOf(comparison, "equal").stats);
    QCOMPARE(comparison.counts.identical, std::uint64_t(3));
    QCOMPARE(comparison.counts.different, std::uint64_t(1));
    QVERIFY(comparison.verdict.outcome == Outcome::Different);
    QVERIFY(comparison.verdict.strength == Strength::Bytes);
    QCOMPARE(comparison.verdict.coverage.bytesTotal, std::uint64_t(2 * 4 * 7));
    QCOMPARE(comparison.verdict.coverage.bytesCompared, std::uint64_t(2 * 4 * 7));
    QVERIFY(compare(a, a).verdict.outcome == Outcome::Identical);

    CompareOptions full;
    full.full = true;
    QVERIFY(rowOf(compare(a, b, full), "equal").stats);
    const auto empty = source();
    empty->finish();
    QVERIFY(compare(empty, empty).verdict.outcome == Outcome::Undecided);
}

void TestComparer::oneSided()
{
    const auto a = floats({1, 2}), b = source();
    b->addFloats("w", {1, 2});
    b->addFloats("extra", {3});
    b->finish();
    QVERIFY(compare(a, b).verdict.outcome == Outcome::Different);
    QVERIFY(rowOf(compare(a, b), "extra").status == ItemStatus::OnlyInB);
    for (const SourcePtr &cut : {a, b}) {
        cut->editCatalog().complete = false; // a shard is missing: it may be there
        QVERIFY(compare(a, b).verdict.outcome == Outcome::Undecided);
        QVERIFY(compare(b, a).verdict.outcome == Outcome::Undecided);
        cut->editCatalog().complete = true;
    }
    const auto stranger = source();
    stranger->addFloats("x", {1, 2});
    stranger->finish();
    stranger->editCatalog().complete = false;
    QVERIFY(compare(a, stranger).verdict.outcome == Outcome::Different); // no name in common
    QVERIFY(compare(a, stranger).facts.noNameInCommon);
}

void TestComparer::shapesAndTypes()
{
    const auto a = source(), b = source();
    a->add<float>(MemorySource::pathOf("shape"), "float32", {2, 3}, std::vector<float>(6));
    b->add<float>(MemorySource::pathOf("shape"), "float32", {3, 2}, std::vector<float>(6));
    a->add<float>(MemorySource::pathOf("type"), "float32", {2}, {1, 2});
    b->add<std::int32_t>(MemorySource::pathOf("type"), "int32", {2}, {1, 2});
    // As many positions, but two elements in each of A's.
    a->add<std::uint8_t>(MemorySource::pathOf("packed"), "float4_e2m1fn_x2", {2}, {0x11, 0x22});
    b->add<float>(MemorySource::pathOf("packed"), "float32", {2}, {0.5f, 1.0f});
    a->finish();
    b->finish();
    const CheckpointComparison comparison = compare(a, b);
    for (const char *name : {"shape", "type", "packed"}) {
        QVERIFY2(rowOf(comparison, name).status == ItemStatus::Different, name);
        QVERIFY2(!rowOf(comparison, name).reason.empty(), name);
        QVERIFY2(!rowOf(comparison, name).stats, name);
    }
    QVERIFY(has(rowOf(comparison, "shape").reason, "[2, 3] against [3, 2]"));
    QVERIFY(has(rowOf(comparison, "type").reason, "float32 against int32"));
    QVERIFY(comparison.diagnostics.empty());
    QVERIFY(comparison.facts.shapeOrDtypeDiffers && !comparison.facts.bitsDiffer);
    // Only to recognise the same values in another layout is anything read.
    a->bytesRead = b->bytesRead = 0;
    CompareOptions verdictOnly;
    verdictOnly.verdictOnly = true;
    QVERIFY(compare(a, b, verdictOnly).facts.shapeOrDtypeDiffers);
    QCOMPARE(a->bytesRead.load() + b->bytesRead.load(), std::uint64_t(0));
}

void TestComparer::widened()
{
    const std::vector<float> wide = {1.0f, -2.5f, 1.00390625f, NaN};
    // The upper halves; 1 + 2^-8 is a tie in bfloat16 and goes to the even 1.0.
    const std::vector<std::uint16_t> narrow = {0x3f80, 0xc020, 0x3f80, 0x7fc0};
    const auto a = source(), b = source();
    a->add(MemorySource::pathOf("equal"), "float32", {2}, std::vector<float>{1.0f, -2.5f});
    b->add(MemorySource::pathOf("equal"), "bfloat16", {2},
           std::vector<std::uint16_t>{0x3f80, 0xc020});
    a->add(MemorySource::pathOf("rounded"), "float32", {4}, wide);
    b->add(MemorySource::pathOf("rounded"), "bfloat16", {4}, narrow);
    a->addBytes(MemorySource::pathOf("void"), opaqueDType(2), {1},
                {std::byte(0x80), std::byte(0x3f)});
    b->add(MemorySource::pathOf("void"), "bfloat16", {1}, std::vector<std::uint16_t>{0x3f80});
    a->finish();
    b->finish();
    for (const bool swapped : {false, true}) {
        const CheckpointComparison comparison = swapped ? compare(b, a) : compare(a, b);
        const TensorRow &equal = rowOf(comparison, "equal"),
                        &rounded = rowOf(comparison, "rounded");
        QVERIFY(equal.status == ItemStatus::Different); // the bits are
        QCOMPARE(equal.comparedAs, std::string("float32"));
        QVERIFY(equal.valueEqual == true);
        QVERIFY(rounded.valueEqual == false);
        QCOMPARE(rounded.stats->maxAbs, 0x1p-8);
        QCOMPARE(rounded.stats->maxAbsIndex, Index(2));
        QVERIFY(rowOf(comparison, "void").status == ItemStatus::Identical);
        QVERIFY(has(rowOf(comparison, "void").reason, "bfloat16"));
        const auto found = std::find_if(
            comparison.findings.begin(), comparison.findings.end(),
            [](const Finding &finding) { return finding.id == "rounded-to-narrower"; });
        QVERIFY(found != comparison.findings.end());
        QCOMPARE(found->where.size(), std::size_t(2));
        QVERIFY(has(found->text,
                    swapped ? "A equals B rounded to bfloat16, ties to even"
                            : "B equals A rounded to bfloat16, ties to even"));
    }
}

/// Looking for rounded copies reads both sides again: that counts as work, and can be stopped.
void TestComparer::roundingIsWork()
{
    constexpr Index Elements = 3'000'000;
    const std::vector<float> wide(Elements, 1.00390625f);
    const std::vector<std::uint16_t> narrow(Elements, 0x3f80);
    const auto a = source(), b = source();
    a->add(MemorySource::pathOf("w"), "float32", {Elements}, wide);
    b->add(MemorySource::pathOf("w"), "bfloat16", {Elements}, narrow);
    a->finish();
    b->finish();
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, {}, backend, serial);
    while (comparer.progress().phase != "looking for rounded copies")
        QVERIFY(comparer.advance({}));
    const Progress before = comparer.progress();
    QCOMPARE(before.bytesTotal - before.bytesDone, Elements * 6);
    std::stop_source stop;
    stop.request_stop();
    const std::uint64_t readBefore = a->bytesRead.load();
    QVERIFY(comparer.advance(stop.get_token()));
    QCOMPARE(comparer.progress().bytesDone, before.bytesDone);
    QCOMPARE(a->bytesRead.load(), readBefore);
    while (comparer.advance({})) {}
    QCOMPARE(comparer.progress().bytesDone, before.bytesTotal);
    const auto &findings = comparer.snapshot().findings;
    QVERIFY(std::any_of(findings.begin(), findings.end(), [](const Finding &finding) {
        return finding.id == "rounded-to-narrower";
    }));
}

void TestComparer::notFinite()
{
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    const auto idsOf = [](const CheckpointComparison &comparison) {
        std::vector<std::string> found;
        for (const Finding &finding : comparison.findings) {
            if (finding.id == "not-finite")
                found.push_back(finding.text);
        }
        return found;
    };
    const auto found = idsOf(compare(floats({1, 2}), floats({1, nan})));
    QCOMPARE(found.size(), std::size_t(1));
    QVERIFY(has(found[0], "in B where A has none") && has(found[0], "first w"));
    QVERIFY(has(idsOf(compare(floats({inf, 2}), floats({1, 3}))).at(0), "in A where B has none"));
    QVERIFY(idsOf(compare(floats({nan, 2}), floats({1, nan}))).empty()); // both have some
    QVERIFY(idsOf(compare(floats({nan, 2}), floats({nan, 2}))).empty());
}

void TestComparer::unreadable()
{
    const auto build = [] {
        const auto result = source();
        for (const char *name : {"one", "three", "two"})
            result->add<float>(MemorySource::pathOf(name), "float32", {100'000},
                               std::vector<float>(100'000));
        result->finish();
        return result;
    };
    const auto a = build(), b = build();
    b->breakTensor(MemorySource::pathOf("two"), 300'000);
    for (const bool swapped : {false, true}) {
        const CheckpointComparison comparison = swapped ? compare(b, a) : compare(a, b);
        QVERIFY(comparison.verdict.outcome == Outcome::Undecided);
        const TensorRow &row = rowOf(comparison, "two");
        QVERIFY(row.status == ItemStatus::NotCompared);
        QVERIFY(has(row.reason, "a test says so") && has(row.reason, swapped ? "of A" : "of B"));
        QVERIFY(!row.fingerprintA && !row.fingerprintB);
        QCOMPARE(comparison.counts.identical, std::uint64_t(2)); // what is sound stays readable
        QCOMPARE(comparison.diagnostics.size(), std::size_t(1));
        QVERIFY(comparison.diagnostics[0].severity == Severity::Error);
        QVERIFY(has(comparison.diagnostics[0].place, "tensor 'two'"));
        QCOMPARE(comparison.verdict.coverage.tensorsCompared, std::uint64_t(2));
    }
    // Known beforehand: not even tried.
    const auto c = build();
    c->editCatalog().tensors[0].unreadable = Error{ErrorCode::Truncated, "c", {}, "is cut"};
    const CheckpointComparison comparison = compare(a, c);
    QVERIFY(rowOf(comparison, "one").status == ItemStatus::NotCompared);
    QVERIFY(has(rowOf(comparison, "one").reason, "is cut"));
    QVERIFY(comparison.verdict.outcome == Outcome::Undecided);
    // A file that changed meanwhile proves nothing.
    const auto f = build();
    f->change();
    QVERIFY(compare(a, f).verdict.outcome == Outcome::Undecided);
    QCOMPARE(compare(f, a).diagnostics.size(), std::size_t(1));
    // A difference that was seen stays one, whatever cannot be read after it.
    const auto large = [](float first) {
        const auto result = source();
        std::vector<float> elements(1'500'000); // more than one read
        elements[0] = first;
        result->add<float>(MemorySource::pathOf("w"), "float32", {1'500'000}, elements);
        result->finish();
        return result;
    };
    const auto g = large(1);
    g->breakTensor(MemorySource::pathOf("w"), 5'000'000);
    const CheckpointComparison broken = compare(large(0), g);
    QVERIFY(broken.verdict.outcome == Outcome::Different);
    const TensorRow &cut = rowOf(broken, "w");
    QVERIFY(cut.status == ItemStatus::Different && cut.partlyRead);
    QVERIFY(has(cut.reason, "a test says so"));
    QCOMPARE(broken.verdict.coverage.tensorsCompared, std::uint64_t(0));
    QVERIFY(compare(large(1), g).verdict.outcome == Outcome::Undecided);
    // Where only a name is known, the placeholders of its layout are no difference.
    const auto h = build();
    TensorRef &missing = h->editCatalog().tensors[0];
    missing.shape = Shape{{0}};
    missing.layoutKnown = false;
    missing.unreadable = Error{ErrorCode::NotFound, "shard", {}, "is missing"};
    for (const bool swapped : {false, true}) {
        const CheckpointComparison placeholder = swapped ? compare(h, a) : compare(a, h);
        QVERIFY(placeholder.verdict.outcome == Outcome::Undecided);
        QVERIFY(rowOf(placeholder, "one").status == ItemStatus::NotCompared);
        QVERIFY(has(rowOf(placeholder, "one").reason, "is missing"));
    }
    // A difference elsewhere is still a difference.
    const auto d = source();
    d->addFloats("one", {1});
    d->finish();
    const auto e = source();
    e->addFloats("one", {2});
    e->addFloats("two", {2});
    e->finish();
    e->breakTensor(MemorySource::pathOf("two"));
    QVERIFY(compare(d, e).verdict.outcome == Outcome::Different);
}

/// Two items of each side under one name: equal bytes prove nothing about who should have met whom.
void TestComparer::ambiguousNames()
{
    const auto a = source(), b = source();
    for (const char *name : {"p.w", "q.w"})
        a->addFloats(name, {1, 2, 3});
    for (const char *name : {"r.w", "s.w"})
        b->addFloats(name, {1, 2, 3});
    a->finish();
    b->finish();
    CompareOptions options;
    for (const char *rule : {"s/p.w/w/", "s/q.w/w/", "s/r.w/w/", "s/s.w/w/"})
        options.pairing.renames.push_back(*RenameRule::parse(rule));
    const CheckpointComparison guessed = compare(a, b, options);
    QCOMPARE(guessed.counts.identical, std::uint64_t(2));
    QVERIFY(guessed.verdict.outcome == Outcome::Undecided);
    QVERIFY(guessed.facts.ambiguous && has(guessed.verdict.reason, "ambiguous"));
    QVERIFY(has(guessed.tensors[0].pairedReason, "guess"));

    // One of each is no guess.
    options.pairing.renames = {*RenameRule::parse("s/p./x./"), *RenameRule::parse("s/r./x./"),
                               *RenameRule::parse("s/q./y./"), *RenameRule::parse("s/s./y./")};
    QVERIFY(compare(a, b, options).verdict.outcome == Outcome::Identical);
}

void TestComparer::stateOfUnlikeRanks()
{
    const auto make = [](std::initializer_list<std::int64_t> ranks) {
        const auto result = source();
        result->addFloats("model.w", {1, 2, 3});
        for (const std::int64_t rank : ranks) {
            Catalog &catalog = result->editCatalog();
            catalog.owners.push_back({{{"rank", rank}}});
            TensorRef &tensor =
                result->addFloats("rank_" + std::to_string(rank) + ".rng.state", {4, 5});
            tensor.owner = OwnerIndex(catalog.owners.size() - 1);
        }
        result->finish();
        return result;
    };
    const CheckpointComparison unlike = compare(make({0, 1}), make({0, 1, 2, 3}));
    QCOMPARE(unlike.counts.identical, std::uint64_t(1));
    QCOMPARE(unlike.counts.notCompared, std::uint64_t(4));
    QVERIFY(unlike.verdict.outcome == Outcome::Undecided);
    QVERIFY(unlike.facts.notComparable && !unlike.facts.unreadable);
    QVERIFY(has(unlike.tensors.back().reason, "unlike ranks"));
    QVERIFY(compare(make({0, 1}), make({0, 1})).verdict.outcome == Outcome::Identical);
}

void TestComparer::tolerances_data()
{
    QTest::addColumn<double>("rtol");
    QTest::addColumn<double>("atol");
    QTest::addColumn<qint64>("maxUlp"); // negative: not asked for
    QTest::newRow("absolute") << -1.0 << 0.01 << qint64(-1);
    QTest::newRow("relative") << 0.01 << -1.0 << qint64(-1);
    QTest::newRow("both") << 0.001 << 0.001 << qint64(-1);
    QTest::newRow("ulp") << -1.0 << -1.0 << qint64(4);
    QTest::newRow("all") << 0.001 << 0.0 << qint64(1);
    QTest::newRow("nothing allowed") << 0.0 << 0.0 << qint64(0);
}

/// |a - b| <= atol + rtol * max(|a|, |b|), or ULP distance <= maxUlp, whichever were asked for.
void TestComparer::tolerances()
{
    QFETCH(double, rtol);
    QFETCH(double, atol);
    QFETCH(qint64, maxUlp);
    CompareOptions options;
    if (rtol >= 0)
        options.tolerance.rtol = rtol;
    if (atol >= 0)
        options.tolerance.atol = atol;
    if (maxUlp >= 0)
        options.tolerance.maxUlp = std::uint64_t(maxUlp);
    const auto ordered = [](float x) { // sign-magnitude to signed
        const auto bits = std::bit_cast<std::int32_t>(x);
        return bits < 0 ? -std::int64_t(bits & 0x7fffffff) : std::int64_t(bits);
    };
    constexpr unsigned Seed = 31;
    std::mt19937 random(Seed);
    std::normal_distribution<float> normal;
    int allWithin = 0;
    for (int round = 0; round < 300; ++round) {
        const float spread = std::ldexp(1.0f, -int(random() % 25));
        std::vector<float> a(1 + random() % 4), b;
        Index beyond = 0, different = 0;
        for (float &x : a) {
            x = normal(random);
            float y = x;
            switch (random() % 3) {
            case 0: y += spread * normal(random); break;
            case 1: y = std::nextafter(std::nextafter(x, Inf), random() % 2 ? Inf : x); break;
            default: break;
            }
            b.push_back(y);
            const double wide = x, other = y;
            const bool close = (rtol >= 0 || atol >= 0)
                && std::fabs(wide - other) <= std::max(atol, 0.0)
                        + std::max(rtol, 0.0) * std::max(std::fabs(wide), std::fabs(other));
            const bool near = maxUlp >= 0 && std::abs(ordered(x) - ordered(y)) <= maxUlp;
            different += std::bit_cast<std::uint32_t>(x) != std::bit_cast<std::uint32_t>(y);
            beyond += x != y && !close && !near;
        }
        const Outcome expected = different == 0 ? Outcome::Identical
            : beyond == 0                       ? Outcome::WithinTolerance
                                                : Outcome::Different;
        allWithin += expected == Outcome::WithinTolerance;
        const CheckpointComparison comparison = compare(floats(a), floats(b), options);
        QVERIFY2(comparison.verdict.outcome == expected, qPrintable(QString::number(round)));
        QVERIFY2(compare(floats(b), floats(a), options).verdict.outcome == expected, "mirrored");
        if (different > 0)
            QCOMPARE(rowOf(comparison, "w").stats->beyondTolerance, beyond);
    }
    QVERIFY(allWithin > 20 || rtol == 0.0);
}

void TestComparer::specialNumbersAndTolerance()
{
    CompareOptions options;
    options.tolerance.rtol = 1.0;
    options.tolerance.atol = std::numeric_limits<double>::max();
    options.tolerance.maxUlp = ~std::uint64_t(0);
    const float otherNaN = std::bit_cast<float>(0xffc00001u);
    const auto outcome = [&](float a, float b) {
        return compare(floats({a}), floats({b}), options).verdict.outcome;
    };
    QVERIFY(outcome(NaN, otherNaN) == Outcome::WithinTolerance);
    QVERIFY(outcome(0.0f, -0.0f) == Outcome::WithinTolerance);
    QVERIFY(outcome(NaN, 1.0f) == Outcome::Different);
    QVERIFY(outcome(Inf, 1.0f) == Outcome::Different);
    QVERIFY(outcome(Inf, -Inf) == Outcome::Different);
    QVERIFY(outcome(Inf, NaN) == Outcome::Different);
    // A counter, a permutation or a generator's state is equal or it is not.
    const auto integers = [](const std::vector<std::int64_t> &values) {
        const auto made = source();
        made->add<std::int64_t>(MemorySource::pathOf("n"), "int64", {Index(values.size())}, values);
        made->finish();
        return made;
    };
    const auto counters = compare(integers({2000, 7}), integers({2001, 7}), options);
    QVERIFY(counters.verdict.outcome == Outcome::Different);
    QVERIFY(!rowOf(counters, "n").withinTolerance);
    QVERIFY2(counters.verdict.sentence.find("no tolerance is applied") != std::string::npos,
             counters.verdict.sentence.c_str());
    // One item beyond is enough, wherever it is; shapes have no tolerance.
    QVERIFY(compare(floats({1, 2}), floats({1}), options).verdict.outcome == Outcome::Different);
}

void TestComparer::contentAcrossNames()
{
    const auto a = source(), b = source();
    std::vector<float> moved(16), small(15);
    std::iota(moved.begin(), moved.end(), 1.0f);
    a->addFloats("old", moved);
    b->addFloats("new", moved);
    a->addFloats("w", {1});
    b->addFloats("w", {1});
    a->finish();
    b->finish();
    const CheckpointComparison comparison = compare(a, b);
    QVERIFY(comparison.verdict.outcome == Outcome::Identical);
    const TensorRow &row = rowOf(comparison, "old");
    QVERIFY(row.pairedBy == PairedBy::Content && row.status == ItemStatus::Identical);
    QCOMPARE(row.nameB, std::string("new"));
    QCOMPARE(comparison.tensors.size(), std::size_t(2));
    CompareOptions strict;
    strict.pairing.strict = true;
    QVERIFY(compare(a, b, strict).verdict.outcome == Outcome::Different);
    // Nothing else in common: content alone is a name in common too.
    const auto c = source(), d = source();
    c->addFloats("old", moved);
    d->addFloats("new", moved);
    c->finish();
    d->finish();
    QVERIFY(compare(c, d).verdict.outcome == Outcome::Identical);
    const auto e = source(), f = source();
    e->addFloats("old", small);
    f->addFloats("new", small);
    e->finish();
    f->finish();
    QVERIFY(compare(e, f).verdict.outcome == Outcome::Different);
}

void TestComparer::findings()
{
    const auto a = source(), b = source();
    a->addValue("args.lr", Value::real(0.1));
    b->addValue("args.lr", Value::real(0.2));
    b->addValue("args.seed", Value::integer(1));
    a->addFloats("head", {1, 2, 3});
    b->addFloats("head", {1, 2, 3});
    b->addFloats("tied", {1, 2, 3}); // stored twice, on one side only
    b->editCatalog().findings.push_back(
        {"pickle-runs-code", Certainty::Is, Severity::Error, "this file would run code", {}});
    a->finish();
    b->finish();
    const CheckpointComparison comparison = compare(a, b);
    std::vector<std::string> ids;
    for (const Finding &finding : comparison.findings)
        ids.push_back(finding.id);
    // Worst first.
    QCOMPARE(ids,
             (std::vector<std::string>{"pickle-runs-code", "recipe-differs", "same-bytes-as"}));
    QCOMPARE(comparison.findings[0].where, (std::vector<std::string>{"B"}));
    QVERIFY(has(comparison.findings[1].text, "2 recipe differences"));
    QVERIFY(has(comparison.findings[1].text, "args.lr 0.1 → 0.2"));
    QVERIFY(has(comparison.findings[1].text, "args.seed absent → 1"));
    QVERIFY(has(comparison.findings[2].text, "tied is only in B"));
}

QTEST_APPLESS_MAIN(TestComparer)
#include "tst_comparer.moc"
