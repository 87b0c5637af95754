// SPDX-License-Identifier: GPL-3.0-or-later
// The verdict against the table "Verdict and exit status" of the command line's documentation,
// written down here once more, and against what a verdict must be whatever the table says.
#include "model/compare/comparison_verdict.h"
#include "model/compare/verdict.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace forkpoint;

namespace {

using Fact = bool VerdictFacts::*;

const std::vector<Fact> RefusedFacts = {&VerdictFacts::refused};
const std::vector<Fact> DifferentFacts = {
    &VerdictFacts::bitsDiffer, &VerdictFacts::shapeOrDtypeDiffers, &VerdictFacts::oneSidedComplete,
    &VerdictFacts::noNameInCommon};
const std::vector<Fact> UndecidedFacts = {
    &VerdictFacts::unreadable,    &VerdictFacts::ambiguous,
    &VerdictFacts::notComparable, &VerdictFacts::oneSidedIncomplete,
    &VerdictFacts::hole,          &VerdictFacts::nothingInScope,
    &VerdictFacts::partial,       &VerdictFacts::incomplete};

const std::vector<Strength> AllStrengths = {
    Strength::None,      Strength::Metadata, Strength::Printed, Strength::Norm,
    Strength::Sampled,   Strength::Xor,      Strength::Crc,     Strength::Megatron128,
    Strength::Xxh3Index, Strength::Xxh3,     Strength::Sha256,  Strength::Bytes};
const std::vector<Strength> EnoughForEqual = {Strength::Xxh3Index, Strength::Xxh3, Strength::Sha256,
                                              Strength::Bytes};

/// The bad facts, then the two about tolerances.
std::vector<Fact> allFacts()
{
    std::vector<Fact> facts;
    for (const auto *row : {&RefusedFacts, &DifferentFacts, &UndecidedFacts})
        facts.insert(facts.end(), row->begin(), row->end());
    return facts;
}

bool anyOf(const VerdictFacts &facts, const std::vector<Fact> &wanted)
{
    return std::any_of(wanted.begin(), wanted.end(), [&](Fact fact) { return facts.*fact; });
}

/// The table, top row first: outcome as the JSON spells it, and the exit status.
std::pair<std::string, int> expected(const VerdictFacts &facts)
{
    if (anyOf(facts, RefusedFacts))
        return {"not-compared", 2};
    if (anyOf(facts, DifferentFacts))
        return {"different", 1};
    const bool enough = std::find(EnoughForEqual.begin(), EnoughForEqual.end(), facts.strength)
        != EnoughForEqual.end();
    if (anyOf(facts, UndecidedFacts) || !enough)
        return {"undecided", 3};
    if (facts.toleranceAsked && facts.differsWithinTolerance)
        return {"within-tolerance", 0};
    return {"identical", 0};
}

VerdictFacts factsOf(unsigned bits, Strength strength)
{
    VerdictFacts facts;
    facts.strength = strength;
    for (const Fact fact : allFacts()) {
        facts.*fact = bits & 1;
        bits >>= 1;
    }
    facts.toleranceAsked = bits & 1;
    facts.differsWithinTolerance = (bits & 3) == 3; // nothing is within what was not asked
    if (facts.refused)
        facts.refusedReason = "a reason";
    return facts;
}

/// From the best thing that can be said to the worst.
int badness(const VerdictFacts &facts)
{
    switch (decide(facts).outcome) {
    case Outcome::Identical: return 0;
    case Outcome::WithinTolerance: return 1;
    case Outcome::Undecided: return 2;
    case Outcome::Different: return 3;
    case Outcome::NotCompared: break;
    }
    return 4;
}

VerdictFacts randomFacts(std::mt19937 &random)
{
    unsigned bits = 0; // few facts at a time, or nearly everything is refused
    for (unsigned bit = 0; bit < 14; ++bit)
        bits |= unsigned(random() % 8 == 0) << bit;
    VerdictFacts facts = factsOf(bits, AllStrengths[random() % AllStrengths.size()]);
    facts.coverage = {random() % 9, random() % 9, random() % 99, random() % 99, random() % 3};
    facts.coverage.stepsUnfinished = random() % 3;
    facts.coverage.stepsInferred = random() % 3;
    facts.coverage.stepsOneSided = random() % 3;
    facts.beyondTolerance = facts.bitsDiffer && random() % 2 == 0;
    facts.acrossTypes = random() % 3;
    facts.byOtherKeys = random() % 3;
    return facts;
}

auto everything(const VerdictFacts &f)
{
    return std::tuple(f.refused, f.bitsDiffer, f.shapeOrDtypeDiffers, f.oneSidedComplete,
                      f.noNameInCommon, f.unreadable, f.ambiguous, f.notComparable,
                      f.oneSidedIncomplete, f.hole, f.nothingInScope, f.partial, f.toleranceAsked,
                      f.differsWithinTolerance, f.strength, f.coverage.tensorsCompared,
                      f.coverage.tensorsTotal, f.coverage.bytesCompared, f.coverage.bytesTotal,
                      f.coverage.stepsUnread, f.beyondTolerance, f.acrossTypes, f.byOtherKeys,
                      f.coverage.stepsUnfinished, f.coverage.stepsInferred,
                      f.coverage.stepsOneSided);
}

bool has(const std::string &text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

class TestVerdict : public QObject
{
    Q_OBJECT

private slots:
    void likeTheTable();
    void neverBetterForABadFact();
    void strengthsAreALadder();
    void mergedFacts();
    void words();
    void rowsBecomeFacts();
    void strengthIsOfWhatWasRead();
    void contextDecidesOnlyWhenAskedFor();
};

void TestVerdict::likeTheTable()
{
    const unsigned count = 1u << (allFacts().size() + 2);
    QCOMPARE(count, 1u << 15);
    std::set<std::string> seen;
    for (const Strength strength : AllStrengths) {
        for (unsigned bits = 0; bits < count; ++bits) {
            const VerdictFacts facts = factsOf(bits, strength);
            const Verdict verdict = decide(facts);
            const auto [outcome, status] = expected(facts);
            const std::string found(toString(verdict.outcome));
            if (found != outcome || exitStatus(verdict.outcome) != status)
                QFAIL(qPrintable(QStringLiteral("facts %1 strength %2: %3")
                                     .arg(bits, 0, 2)
                                     .arg(int(strength))
                                     .arg(found.c_str())));
            const bool mustExplain = status >= 2;
            if (verdict.sentence.empty() || verdict.reason.empty() == mustExplain)
                QFAIL(qPrintable(QStringLiteral("facts %1: no words").arg(bits, 0, 2)));
            seen.insert(outcome);
        }
    }
    QCOMPARE(seen.size(), std::size_t(5));
}

void TestVerdict::neverBetterForABadFact()
{
    const unsigned facts = unsigned(allFacts().size());
    for (const Strength strength : {Strength::None, Strength::Crc, Strength::Bytes}) {
        for (unsigned bits = 0; bits < (1u << (facts + 2)); ++bits) {
            const int before = badness(factsOf(bits, strength));
            for (unsigned fact = 0; fact < facts; ++fact) {
                const int after = badness(factsOf(bits | (1u << fact), strength));
                QVERIFY2(after >= before, qPrintable(QString::number(bits, 2)));
            }
            // A difference within the tolerance is no better than none.
            const unsigned asked = bits | (1u << facts);
            QVERIFY(badness(factsOf(asked | (2u << facts), strength))
                    >= badness(factsOf(asked & ~(2u << facts), strength)));
        }
    }
}

void TestVerdict::strengthsAreALadder()
{
    VerdictFacts facts;
    int before = 4;
    for (const Strength strength : AllStrengths) { // weakest first
        facts.strength = strength;
        QVERIFY(badness(facts) <= before);
        before = badness(facts);
        const bool enough = std::find(EnoughForEqual.begin(), EnoughForEqual.end(), strength)
            != EnoughForEqual.end();
        QCOMPARE(provesEquality(strength), enough);
    }
    QCOMPARE(before, 0);
    QCOMPARE(toString(Strength::Xxh3), std::string_view("xxh3-128"));
    QCOMPARE(toString(Strength::Xxh3Index), std::string_view("xxh3-128-index"));
    QCOMPARE(toString(Strength::Bytes), std::string_view("bytes"));
}

void TestVerdict::mergedFacts()
{
    constexpr unsigned Seed = 20231;
    std::mt19937 random(Seed);
    for (int i = 0; i < 20'000; ++i) {
        const VerdictFacts a = randomFacts(random), b = randomFacts(random);
        const VerdictFacts c = randomFacts(random);
        VerdictFacts ab = a, ba = b, abThenC = a, bc = b;
        merge(ab, b);
        merge(ba, a);
        QVERIFY2(everything(ab) == everything(ba), qPrintable(QString::number(i)));
        merge(abThenC, b);
        merge(abThenC, c);
        merge(bc, c);
        VerdictFacts aThenBc = a;
        merge(aThenBc, bc);
        QVERIFY2(everything(abThenC) == everything(aThenBc), qPrintable(QString::number(i)));
        // No part hides what another one knows.
        QVERIFY2(badness(ab) >= std::max(badness(a), badness(b)), qPrintable(QString::number(i)));
    }
}

void TestVerdict::words()
{
    VerdictFacts facts;
    facts.strength = Strength::Bytes;
    facts.coverage = {3, 3, 120, 120};
    QVERIFY(has(decide(facts).sentence, "Identical"));
    QVERIFY(has(decide(facts).sentence, "proven on bytes"));
    QVERIFY(has(decide(facts).sentence, "all 3 tensors"));
    facts.equalAsNumbers = 2;
    facts.equalElsewhere = 1;
    QVERIFY(has(decide(facts).sentence, "equal, 1 tensor under another name, 2 values as numbers"));
    facts.equalAsNumbers = facts.equalElsewhere = 0;
    facts.byOtherKeys = 1;
    QVERIFY(has(decide(facts).sentence, "equal, 1 item by name, under unlike keys"));
    facts.byOtherKeys = 0;
    facts.coverage.stepsOneSided = 7;
    QVERIFY(has(decide(facts).sentence, "; 3 tensors compared, but 7 steps are on one side only)"));
    facts.coverage.stepsOneSided = 0;
    facts.incomplete = true;
    QVERIFY(!has(decide(facts).sentence, "all 3 tensors"));
    facts.incomplete = false;
    facts.toleranceAsked = facts.bitsDiffer = true;
    facts.differenceStrength = Strength::Bytes;
    QVERIFY(has(decide(facts).sentence, "in what no tolerance is applied to"));
    facts.beyondTolerance = true;
    QVERIFY(has(decide(facts).sentence, "Different: beyond the tolerance asked for"));
    VerdictFacts values;
    values.strength = Strength::Bytes;
    QVERIFY(has(decide(values).sentence, "(proven on bytes; values alone, no tensor in scope)"));
    values.coverage.tensorsTotal = values.coverage.tensorsCompared = 1;
    QVERIFY(has(decide(values).sentence, "(proven on bytes; the only tensor compared)"));
    values.strength = Strength::None;
    values.coverage = {};
    QVERIFY(has(decide(values).sentence, "(no tensor in scope)"));
    VerdictFacts traces;
    traces.toleranceAsked = traces.bitsDiffer = true;
    traces.coverage.recordsTotal = traces.coverage.recordsCompared = 2;
    QVERIFY(has(decide(traces).sentence,
                "Different: recorded values differ; tolerances are not applied to the records"));
    facts.bitsDiffer = facts.beyondTolerance = false;
    facts.differsWithinTolerance = true;
    facts.acrossTypes = 1;
    QVERIFY(has(decide(facts).sentence, "asked for, 1 tensor in unlike element types ("));
    facts.toleranceAsked = facts.differsWithinTolerance = false;
    facts.acrossTypes = 0;
    facts.strength = Strength::Xxh3;
    QVERIFY(has(decide(facts).sentence, "XXH3-128"));
    QVERIFY(has(decide(facts).sentence, "not against forgery"));

    facts.strength = Strength::Bytes;
    facts.coverage.tensorsCompared = 2;
    facts.unreadable = true;
    QVERIFY(has(decide(facts).sentence, "Undecided"));
    QVERIFY(has(decide(facts).sentence, "2 of 3 tensors"));
    QVERIFY(has(decide(facts).reason, "could not be read"));
    facts.hole = true;
    QVERIFY(has(decide(facts).reason, "could not be read"));
    QVERIFY(has(decide(facts).reason, "missing inside the overlap"));

    facts.refused = true;
    facts.refusedReason = "B: 'x' is not there";
    QCOMPARE(decide(facts).reason, facts.refusedReason);
    QVERIFY(has(decide(facts).sentence, "'x' is not there"));
}

namespace {

QString text(Outcome outcome)
{
    return QString::fromUtf8(toString(outcome).data());
}

TensorRow tensorRow(ItemStatus status, StateClass stateClass = StateClass::Weights)
{
    TensorRow row;
    row.stateClass = stateClass;
    row.status = status;
    row.bytes = 10;
    if (status != ItemStatus::OnlyInB)
        row.a = 0;
    if (status != ItemStatus::OnlyInA)
        row.b = 0;
    return row;
}

ValueRow valueRow(ItemStatus status, StateClass stateClass)
{
    ValueRow row;
    row.stateClass = stateClass;
    row.status = status;
    return row;
}

QString outcomeOf(std::vector<TensorRow> tensors, const ComparisonContext &context = {},
                  std::vector<ValueRow> values = {})
{
    CheckpointComparison comparison;
    comparison.tensors = std::move(tensors);
    comparison.values = std::move(values);
    summarise(comparison, context);
    return text(comparison.verdict.outcome);
}

} // namespace

void TestVerdict::rowsBecomeFacts()
{
    using enum ItemStatus;
    ComparisonContext incomplete;
    incomplete.complete = false;
    QCOMPARE(outcomeOf({tensorRow(Identical)}), text(Outcome::Identical));
    QCOMPARE(outcomeOf({tensorRow(Identical), tensorRow(Different)}), text(Outcome::Different));
    QCOMPARE(outcomeOf({tensorRow(Identical), tensorRow(NotCompared)}), text(Outcome::Undecided));
    QCOMPARE(outcomeOf({tensorRow(NotCompared), tensorRow(Different)}), text(Outcome::Different));
    for (const ItemStatus side : {OnlyInA, OnlyInB}) {
        QCOMPARE(outcomeOf({tensorRow(Identical), tensorRow(side)}), text(Outcome::Different));
        QCOMPARE(outcomeOf({tensorRow(Identical), tensorRow(side)}, incomplete),
                 text(Outcome::Undecided));
        QCOMPARE(outcomeOf({}, {}, {valueRow(side, StateClass::Rng)}), text(Outcome::Different));
    }
    QCOMPARE(outcomeOf({}), text(Outcome::Undecided)); // nothing in scope
    QCOMPARE(outcomeOf({tensorRow(NotCompared)}), text(Outcome::Undecided));
    QCOMPARE(outcomeOf({tensorRow(Identical, StateClass::Unknown)}), text(Outcome::Identical));
    QCOMPARE(outcomeOf({tensorRow(Different, StateClass::Unknown)}), text(Outcome::Different));

    TensorRow within = tensorRow(Different);
    within.withinTolerance = true;
    ComparisonContext tolerance;
    tolerance.toleranceAsked = true;
    QCOMPARE(outcomeOf({within, tensorRow(Identical)}, tolerance), text(Outcome::WithinTolerance));
    QCOMPARE(outcomeOf({within, tensorRow(Different)}, tolerance), text(Outcome::Different));
    QCOMPARE(outcomeOf({tensorRow(Identical)}, tolerance), text(Outcome::Identical));

    CheckpointComparison comparison;
    TensorRow reshaped = tensorRow(Different);
    reshaped.shapeA.dims = {2};
    reshaped.shapeB.dims = {3};
    comparison.tensors = {tensorRow(Identical), tensorRow(NotCompared), tensorRow(OnlyInA),
                          reshaped};
    summarise(comparison, {});
    QVERIFY(comparison.facts.shapeOrDtypeDiffers && !comparison.facts.bitsDiffer);
    QCOMPARE(comparison.verdict.coverage.tensorsCompared, std::uint64_t(2));
    QCOMPARE(comparison.verdict.coverage.tensorsTotal, std::uint64_t(4));
    QCOMPARE(comparison.verdict.coverage.bytesCompared, std::uint64_t(10));
    QCOMPARE(comparison.verdict.coverage.bytesTotal, std::uint64_t(40));
    QCOMPARE(comparison.counts.matched(), std::uint64_t(3));
    QVERIFY(comparison.facts.strength == Strength::Bytes);

    // Two incomplete catalogues prove nothing equal, but a difference all the same.
    QCOMPARE(outcomeOf({tensorRow(Identical)}, incomplete), text(Outcome::Undecided));
    QCOMPARE(outcomeOf({tensorRow(Different)}, incomplete), text(Outcome::Different));
    QCOMPARE(outcomeOf({within}, incomplete), text(Outcome::Undecided));
}

void TestVerdict::strengthIsOfWhatWasRead()
{
    using enum ItemStatus;
    const auto strengthOf = [](std::vector<TensorRow> rows) {
        CheckpointComparison comparison;
        comparison.tensors = std::move(rows);
        summarise(comparison, {});
        return comparison.verdict.strength;
    };
    TensorRow reshaped = tensorRow(Different), joined = tensorRow(Identical);
    reshaped.shapeA.dims = {2};
    reshaped.shapeB.dims = {3};
    joined.pairedBy = PairedBy::Content;
    QVERIFY(strengthOf({tensorRow(NotCompared)}) == Strength::None);
    QVERIFY(strengthOf({tensorRow(OnlyInA)}) == Strength::Metadata);
    QVERIFY(strengthOf({reshaped}) == Strength::Metadata); // no byte was read
    QVERIFY(strengthOf({reshaped, tensorRow(Identical)}) == Strength::Metadata);
    QVERIFY(strengthOf({reshaped, tensorRow(Different)}) == Strength::Bytes);
    QVERIFY(strengthOf({tensorRow(Identical)}) == Strength::Bytes);
    QVERIFY(strengthOf({tensorRow(Identical), joined}) == Strength::Xxh3); // by fingerprints
    QVERIFY(strengthOf({tensorRow(Different), joined}) == Strength::Bytes);
}

void TestVerdict::contextDecidesOnlyWhenAskedFor()
{
    using enum ItemStatus;
    for (const StateClass stateClass : {StateClass::Recipe, StateClass::Topology,
                                        StateClass::Container, StateClass::Bookkeeping}) {
        const std::vector<ValueRow> values = {valueRow(Different, stateClass)};
        QCOMPARE(outcomeOf({tensorRow(Identical)}, {}, values), text(Outcome::Identical));
        QCOMPARE(outcomeOf({}, {}, values),
                 text(Outcome::Undecided)); // only context: nothing in scope
        ComparisonContext asked;
        asked.contextInScope = true;
        QCOMPARE(outcomeOf({tensorRow(Identical)}, asked, values), text(Outcome::Different));
    }
    CheckpointComparison comparison;
    comparison.tensors = {tensorRow(Identical)};
    comparison.values = {valueRow(Different, StateClass::Recipe),
                         valueRow(OnlyInB, StateClass::Recipe)};
    summarise(comparison, {});
    const ClassSummary &recipe = comparison.byClass.at(StateClass::Recipe);
    QCOMPARE(text(recipe.outcome), text(Outcome::Different));
    QCOMPARE(recipe.counts.different, std::uint64_t(1));
    QCOMPARE(recipe.counts.onlyInB, std::uint64_t(1));
    QCOMPARE(text(comparison.byClass.at(StateClass::Weights).outcome), text(Outcome::Identical));
    QCOMPARE(text(comparison.verdict.outcome), text(Outcome::Identical));
}

QTEST_APPLESS_MAIN(TestVerdict)
#include "tst_verdict.moc"
