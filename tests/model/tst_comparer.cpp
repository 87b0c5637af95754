// SPDX-License-Identifier: GPL-3.0-or-later
// Two checkpoints in memory against what was put into them.
#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/compare/value_comparison.h"
#include "model/report/report_json.h"
#include "tests/support/memory_source.h"
#include "tests/support/stats_bits.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr float Inf = std::numeric_limits<float>::infinity();
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

/// Work in the worst order.
class BackwardExecutor final : public Executor
{
public:
    std::size_t threadCount() const override { return 1; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        while (count > 0)
            work(--count);
    }
};

class ThreadsExecutor final : public Executor
{
public:
    std::size_t threadCount() const override { return 3; }
    void forEach(std::size_t count, const std::function<void(std::size_t)> &work) override
    {
        std::atomic<std::size_t> next = 0;
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                for (std::size_t item = next++; item < count; item = next++)
                    work(item);
            });
    }
};

CheckpointComparison compare(const SourcePtr &a, const SourcePtr &b,
                             const CompareOptions &options = {}, Executor *executor = nullptr)
{
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, options, backend, executor ? *executor : serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

std::string reportOf(CheckpointComparison comparison)
{
    RunComparison run;
    run.verdict = comparison.verdict;
    run.findings = comparison.findings;
    run.diagnostics = comparison.diagnostics;
    run.shown = std::move(comparison);
    ReportOptions options;
    options.histograms = true;
    return reportJson(run, options);
}

const TensorRow &rowOf(const CheckpointComparison &comparison, std::string_view name)
{
    const auto found = std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                                    [&](const TensorRow &row) { return row.name == name; });
    if (found == comparison.tensors.end())
        qFatal("no such row");
    return *found;
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

SourcePtr source()
{
    return std::make_shared<MemorySource>();
}

SourcePtr floats(const std::vector<float> &elements)
{
    const auto result = source();
    result->addFloats("w", elements);
    result->finish();
    return result;
}

ItemStatus statusOf(const Value &a, const Value &b, const Tolerance &tolerance = {},
                    bool strict = false, bool *within = nullptr)
{
    const auto left = source(), right = source();
    left->addValue("v", a);
    right->addValue("v", b);
    left->finish();
    right->finish();
    ValuePair pair;
    pair.a = pair.b = 0;
    const auto rows = compareValues(left->catalog(), right->catalog(), {pair},
                                    {left->catalog(), right->catalog()}, strict, tolerance);
    if (within)
        *within = rows[0].withinTolerance;
    return rows[0].status;
}

bool within(const Value &a, const Value &b, const Tolerance &tolerance)
{
    bool forth = false, back = false;
    statusOf(a, b, tolerance, false, &forth);
    statusOf(b, a, tolerance, false, &back);
    if (forth != back)
        qFatal("a tolerance is symmetric");
    return forth;
}

} // namespace

class TestComparer : public QObject
{
    Q_OBJECT

private slots:
    void valuesOfEqualMeaning();
    void valuesWithinTolerance();
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
    void verdictOnlyAgrees();
    void everyOrderGivesTheSameBytes();
    void readsOnce_data();
    void readsOnce();
    void goesOnAfterAStop();
    void mirrored();
    void findings();
};

void TestComparer::valuesOfEqualMeaning()
{
    using enum ItemStatus;
    const auto same = [](const Value &a, const Value &b, bool strict = false) {
        const bool forth = statusOf(a, b, {}, strict) == Identical;
        if (forth != (statusOf(b, a, {}, strict) == Identical))
            qFatal("not symmetric");
        return forth;
    };
    QVERIFY(same(Value::integer(1), Value::real(1.0)));
    QVERIFY(!same(Value::integer(1), Value::real(1.0), true));
    QVERIFY(!same(Value::integer(1), Value::real(1.5)));
    QVERIFY(!same(Value::boolean(true), Value::integer(1)));
    QVERIFY(!same(Value::none(), Value::text("None")));
    // A double cannot hold 2^53 + 1; that it rounds there is no equality.
    QVERIFY(!same(Value::integer((1ll << 53) + 1), Value::real(0x1p53)));
    QVERIFY(same(Value::integer(1ll << 53), Value::real(0x1p53)));
    QVERIFY(!same(Value::real(0.0), Value::real(-0.0)));
    QVERIFY(same(Value::real(std::nan("")), Value::real(std::nan(""))));
    QVERIFY(same(Value::empty("[]"), Value::empty("()")));
    QVERIFY(!same(Value::empty("[]"), Value::empty("()"), true));
    QVERIFY(!same(Value::empty("[]"), Value::empty("{}")));
    QVERIFY(!same(Value::text("[]"), Value::empty("[]")));

    const auto a = source(), b = source();
    a->addValue("only", Value::none());
    a->finish();
    b->finish();
    const CheckpointComparison comparison = compare(a, b);
    QVERIFY(comparison.values[0].status == OnlyInA);
    QVERIFY(comparison.values[0].valueA && !comparison.values[0].valueB);
}

void TestComparer::valuesWithinTolerance()
{
    Tolerance absolute, relative, ulp;
    absolute.atol = 0.5;
    relative.rtol = 0.1;
    ulp.maxUlp = 2;
    QVERIFY(within(Value::real(1.0), Value::real(1.5), absolute));
    QVERIFY(!within(Value::real(1.0), Value::real(1.6), absolute));
    QVERIFY(within(Value::real(100.0), Value::real(110.0), relative)); // of the larger
    QVERIFY(!within(Value::real(100.0), Value::real(112.0), relative));
    QVERIFY(within(Value::real(0.0), Value::real(-0.0), absolute));
    QVERIFY(within(Value::integer(1), Value::real(1.25), absolute));
    // Counters, flags and texts are exact.
    QVERIFY(!within(Value::integer(100), Value::integer(101), relative));
    QVERIFY(!within(Value::boolean(true), Value::real(1.1), absolute));
    QVERIFY(!within(Value::text("1.0"), Value::text("1.1"), absolute));
    // Infinity is within nothing, not even its own tenth.
    const double inf = std::numeric_limits<double>::infinity();
    for (const Tolerance &tolerance : {absolute, relative, ulp}) {
        QVERIFY(!within(Value::real(inf), Value::real(1.0), tolerance));
        QVERIFY(!within(Value::real(inf), Value::real(-inf), tolerance));
        QVERIFY(!within(Value::real(inf), Value::real(std::nan("")), tolerance));
        QVERIFY(!within(Value::real(1.0), Value::real(std::nan("")), tolerance));
        QVERIFY(within(Value::real(std::nan("1")), Value::real(std::nan("2")), tolerance));
    }
    const double next = std::nextafter(0.001, 1.0),
                 third = std::nextafter(std::nextafter(next, 1), 1);
    QVERIFY(within(Value::real(0.001), Value::real(next), ulp));
    QVERIFY(!within(Value::real(0.001), Value::real(third), ulp));
    const double tiny = std::numeric_limits<double>::denorm_min();
    QVERIFY(within(Value::real(tiny), Value::real(-tiny), ulp));
    QVERIFY(!within(Value::real(2 * tiny), Value::real(-tiny), ulp));
    QVERIFY(!within(Value::real(1.0), Value::real(next), {}));
}

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

namespace {

/// Checkpoints of few names, so that most things that can happen do.
std::pair<SourcePtr, SourcePtr> randomPair(std::mt19937 &random)
{
    const auto a = source(), b = source();
    for (const char *name : {"model.w", "model.v", "optimizer.m", "rng", "args.table", "x"}) {
        const unsigned fate = unsigned(random() % 36);
        std::vector<float> left(random() % 40), right;
        for (float &value : left)
            value = float(random() % 5);
        right = left;
        if (fate < 2 && !right.empty())
            right[random() % right.size()] += 1.0f;
        if (fate == 2)
            right.push_back(1);
        if (fate != 3)
            a->addFloats(name, left);
        if (fate != 4)
            b->addFloats(name, right);
        if (fate == 5)
            b->breakTensor(MemorySource::pathOf(name));
        if (fate == 6)
            a->addValue(std::string("lr.") + name, Value::real(0.5));
        if (fate >= 6 && fate < 9)
            b->addValue(std::string("lr.") + name, Value::real(0.5));
        if (fate == 8)
            a->addValue(std::string("lr.") + name, Value::real(0.25));
    }
    a->finish();
    b->finish();
    a->editCatalog().complete = random() % 4 != 0;
    return {a, b};
}

} // namespace

void TestComparer::verdictOnlyAgrees()
{
    constexpr unsigned Seed = 8;
    std::mt19937 random(Seed);
    std::set<Outcome> seen;
    for (int round = 0; round < 400; ++round) {
        const auto [a, b] = randomPair(random);
        CompareOptions quick, plain;
        quick.verdictOnly = true;
        quick.pairing.strict = plain.pairing.strict = round % 2 == 0;
        const Outcome expected = compare(a, b, plain).verdict.outcome;
        QVERIFY2(compare(a, b, quick).verdict.outcome == expected,
                 qPrintable(QString::number(round)));
        CompareOptions bare = plain;
        bare.measure = false;
        bare.fingerprints = !plain.pairing.strict; // without them nothing is joined by content
        QVERIFY2(compare(a, b, bare).verdict.outcome == expected, "without digests");
        seen.insert(expected);
    }
    QVERIFY(seen.size() >= 3);
}

void TestComparer::everyOrderGivesTheSameBytes()
{
    // Over a batch (64 MiB) and over the pieces of one thread (8 MiB), with a difference in each.
    constexpr std::size_t Large = 36u << 20;
    const auto a = source(), b = source();
    std::vector<std::uint8_t> bytes(Large);
    for (std::size_t i = 0; i < Large; i += 4096)
        bytes[i] = std::uint8_t(i >> 12);
    a->add(MemorySource::pathOf("large"), "uint8", {Large}, bytes);
    bytes[Large - 1] ^= 1;
    bytes[17u << 20] ^= 128;
    b->add(MemorySource::pathOf("large"), "uint8", {Large}, bytes);
    std::vector<float> sums(300'000);
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = std::sin(float(i));
    a->addFloats("sums", sums);
    for (float &x : sums)
        x *= 1.0001f;
    b->addFloats("sums", sums);
    a->finish();
    b->finish();
    CompareOptions options;
    options.full = true;
    const CheckpointComparison serial = compare(a, b, options);
    const TensorRow &row = rowOf(serial, "large");
    QCOMPARE(row.stats->differentElements, Index(2));
    QCOMPARE(row.stats->firstIndex, Index(17u << 20));
    QCOMPARE(row.stats->lastIndex, Index(Large - 1));
    QCOMPARE(row.stats->maxAbsInteger, std::uint64_t(128));
    const std::string expected = reportOf(serial);
    BackwardExecutor backward;
    QVERIFY(reportOf(compare(a, b, options, &backward)) == expected);
    ThreadsExecutor threads;
    QVERIFY(reportOf(compare(a, b, options, &threads)) == expected);
}

/// A comparison that was stopped says so, and ends like any other when its owner goes on.
void TestComparer::readsOnce_data()
{
    QTest::addColumn<int>("firstDifference"); // element
    QTest::addColumn<int>("every");
    QTest::newRow("everything differs") << 0 << 1;
    QTest::newRow("from the first unit on") << 5 << 1000;
    QTest::newRow("inside a unit") << (3 << 20) + 700'000 << 77;
    QTest::newRow("in the second batch") << (9 << 20) + 5 << 1;
    QTest::newRow("the last element alone") << (10 << 20) + 12344 << (20 << 20);
    QTest::newRow("nothing") << (20 << 20) << 1;
}

/// What differs is measured while it is read, and what was equal before is read again from A only;
/// the statistics are those of one call over both tensors.
void TestComparer::readsOnce()
{
    QFETCH(int, firstDifference);
    QFETCH(int, every);
    constexpr std::size_t Elements = (10 << 20) + 12345; // 80 MiB of both: more than a batch
    std::vector<float> first(Elements), second;
    for (std::size_t i = 0; i < Elements; ++i)
        first[i] = 1.0f + float(i % 8191) * 0.001f;
    second = first;
    for (std::size_t i = std::size_t(firstDifference); i < Elements; i += std::size_t(every))
        second[i] *= 1.5f;
    const auto a = floats(first), b = floats(second);
    ThreadsExecutor threads;
    const CheckpointComparison comparison = compare(a, b, {}, &threads);
    const TensorRow &row = rowOf(comparison, "w");
    const std::uint64_t bytes = Elements * sizeof(float);
    QCOMPARE(b->bytesRead.load(), bytes);
    const std::size_t equal = std::min(std::size_t(firstDifference), Elements);
    QVERIFY(a->bytesRead.load() <= bytes + (equal < Elements ? equal * sizeof(float) : 0));
    QCOMPARE(row.status == ItemStatus::Identical, equal == Elements);
    QCOMPARE(row.stats == nullptr, equal == Elements);
    if (!row.stats)
        return;
    DiffStats whole;
    CpuBackend().diff(*dtypeByName("float32"), std::as_bytes(std::span(first)),
                      std::as_bytes(std::span(second)), 0, Elements, {}, whole);
    QCOMPARE(statsBits(*row.stats), statsBits(whole));
    SerialExecutor serial;
    QCOMPARE(statsBits(*rowOf(compare(a, b, {}, &serial), "w").stats), statsBits(whole));
}

void TestComparer::goesOnAfterAStop()
{
    constexpr unsigned Seed = 12;
    std::mt19937 random(Seed);
    for (int round = 0; round < 60; ++round) {
        const auto [a, b] = randomPair(random);
        const std::string expected = reportOf(compare(a, b));
        unsigned until = unsigned(random() % 20);
        std::stop_source stop;
        a->onRead([&] {
            if (until-- == 0)
                stop.request_stop();
        });
        const CpuBackend backend;
        SerialExecutor serial;
        CheckpointComparer comparer(a, b, {}, backend, serial);
        while (!stop.stop_requested() && comparer.advance(stop.get_token())) {}
        if (stop.stop_requested()) {
            const CheckpointComparison halted = comparer.snapshot();
            QVERIFY(!halted.finished);
            QVERIFY(halted.verdict.outcome == Outcome::Undecided
                    || halted.verdict.outcome == Outcome::Different);
        }
        a->onRead({});
        while (comparer.advance({})) {}
        QVERIFY2(reportOf(comparer.snapshot()) == expected, qPrintable(QString::number(round)));
        QCOMPARE(comparer.progress().bytesDone, comparer.progress().bytesTotal);
    }
}

void TestComparer::mirrored()
{
    constexpr unsigned Seed = 9;
    std::mt19937 random(Seed);
    for (int round = 0; round < 400; ++round) {
        const auto [a, b] = randomPair(random);
        const CheckpointComparison forth = compare(a, b), back = compare(b, a);
        const QByteArray where = "seed 9, round " + QByteArray::number(round);
        QVERIFY2(forth.verdict.outcome == back.verdict.outcome, where);
        QVERIFY2(forth.verdict.sentence == back.verdict.sentence, where);
        QCOMPARE(forth.counts.identical, back.counts.identical);
        QCOMPARE(forth.counts.different, back.counts.different);
        QCOMPARE(forth.counts.notCompared, back.counts.notCompared);
        QCOMPARE(forth.counts.onlyInA, back.counts.onlyInB);
        QCOMPARE(forth.counts.onlyInB, back.counts.onlyInA);
        QCOMPARE(forth.byClass.size(), back.byClass.size());
        for (const auto &[stateClass, summary] : forth.byClass)
            QVERIFY2(back.byClass.at(stateClass).outcome == summary.outcome, where);
    }
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
