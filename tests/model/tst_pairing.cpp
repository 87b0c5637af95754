// SPDX-License-Identifier: GPL-3.0-or-later
// Who meets whom: by path, by name, by a prefix, by the user's rule, by content.
#include "model/pairing/content_join.h"
#include "model/pairing/pairing.h"
#include "tests/support/memory_source.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <random>
#include <tuple>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Names = std::vector<std::string>;

SourcePtr sourceOf(const Names &tensors, const Names &values = {})
{
    auto source = std::make_shared<MemorySource>();
    for (const std::string &name : tensors)
        source->addFloats(name, {1});
    for (const std::string &name : values)
        source->addValue(name, Value::integer(1));
    source->finish();
    return source;
}

/// "A-name|B-name" per pair in the order of the result, "-" where a side lacks it.
Names tensorsOf(const Pairing &pairing, const MemorySource &a, const MemorySource &b)
{
    Names result;
    for (const TensorPair &pair : pairing.tensors)
        result.push_back((pair.a ? a.catalog().tensors[*pair.a].name : "-") + "|"
                         + (pair.b ? b.catalog().tensors[*pair.b].name : "-"));
    return result;
}

Names paired(const Names &a, const Names &b, const PairingOptions &options = {})
{
    const auto left = sourceOf(a), right = sourceOf(b);
    return tensorsOf(pairCatalogs(left->catalog(), right->catalog(), options), *left, *right);
}

PairingOptions renaming(const std::vector<std::string> &rules)
{
    PairingOptions options;
    for (const std::string &rule : rules)
        options.renames.push_back(*RenameRule::parse(rule));
    return options;
}

/// What does not depend on the order in which a file lists its items: paths, rule, class.
using Fact = std::tuple<KeyPath, KeyPath, PairedBy, StateClass>;

template <class Pair, class Item>
std::vector<Fact> factsOf(const std::vector<Pair> &pairs, const std::vector<Item> &a,
                          const std::vector<Item> &b, bool mirrored = false)
{
    std::vector<Fact> facts;
    for (const Pair &pair : pairs) {
        KeyPath pathA = pair.a ? a[*pair.a].path : KeyPath{};
        KeyPath pathB = pair.b ? b[*pair.b].path : KeyPath{};
        if (mirrored)
            std::swap(pathA, pathB);
        facts.emplace_back(pathA, pathB, pair.by, pair.stateClass);
    }
    std::sort(facts.begin(), facts.end());
    return facts;
}

/// A few names of a small alphabet, so that prefixes and collisions are frequent.
Names randomNames(std::mt19937 &random)
{
    static const Names words = {"m", "model", "module", "w", "v", "optimizer", "0"};
    std::set<std::string> names;
    for (unsigned count = unsigned(random() % 7); count > 0; --count) {
        std::string name = words[random() % words.size()];
        for (unsigned depth = unsigned(random() % 3); depth > 0; --depth)
            name += "." + words[random() % words.size()];
        names.insert(name);
    }
    Names result(names.begin(), names.end());
    std::shuffle(result.begin(), result.end(), random);
    return result;
}

} // namespace

class TestPairing : public QObject
{
    Q_OBJECT

private slots:
    void byName();
    void byPathBeforeName();
    void affix();
    void affixThatTwoBear();
    void idleRulesAndScope();
    void affixNeverAgainstExactNames();
    void affixOnBothSides();
    void classOfAPair();
    void anEmptyFileIsNoState();
    void strict();
    void renames();
    void renameRules();
    void renameLikeRegularExpressions();
    void onlyOnes();
    void selection();
    void nameInCommon();
    void randomCatalogs();
    void joinsByContent();
};

void TestPairing::byName()
{
    QCOMPARE(paired({"b", "a", "c"}, {"c", "d", "b"}), (Names{"a|-", "b|b", "c|c", "-|d"}));
    QCOMPARE(paired({}, {}), Names{});
    QCOMPARE(paired({"w"}, {}), (Names{"w|-"}));
    const auto a = sourceOf({"w"}, {"lr", "step"}), b = sourceOf({"w"}, {"step"});
    const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
    QVERIFY(pairing.tensors[0].by == PairedBy::Exact);
    QCOMPARE(pairing.tensors[0].name, std::string("w"));
    QCOMPARE(pairing.values.size(), std::size_t(2));
    QVERIFY(pairing.values[0].by == PairedBy::Unpaired && pairing.values[0].a
            && !pairing.values[0].b);
    QVERIFY(pairing.values[1].by == PairedBy::Exact);
    QCOMPARE(toString(PairedBy::OnlyOne), std::string_view("only-one"));
}

/// ["a", 1], ["a", "1"] and ["a.1"] are three items, though all are shown as a.1; a file that lists
/// them in another order numbers the names otherwise.
void TestPairing::byPathBeforeName()
{
    std::vector<KeyPath> paths = {
        {{Key::of("a"), Key::at(1)}}, {{Key::of("a"), Key::of("1")}}, {{Key::of("a.1")}}};
    std::sort(paths.begin(), paths.end());
    const auto build = [](const std::vector<KeyPath> &order) {
        auto source = std::make_shared<MemorySource>();
        for (const KeyPath &path : order) {
            source->add<float>(path, "float32", {1}, {0});
            source->addValue(path.child(Key::of("v")), Value::none());
        }
        source->finish();
        return source;
    };
    const auto a = build(paths);
    std::vector<KeyPath> order = paths;
    do {
        const auto b = build(order);
        const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
        QCOMPARE(pairing.tensors.size(), std::size_t(3));
        QCOMPARE(pairing.values.size(), std::size_t(3));
        std::set<std::string> names;
        for (const TensorPair &pair : pairing.tensors) {
            QVERIFY(pair.a && pair.b && pair.by == PairedBy::Exact);
            QVERIFY(a->catalog().tensors[*pair.a].path == b->catalog().tensors[*pair.b].path);
            names.insert(pair.name);
        }
        QCOMPARE(names.size(), std::size_t(3));
        for (const ValuePair &pair : pairing.values)
            QVERIFY(pair.a && pair.b
                    && a->catalog().values[*pair.a].path == b->catalog().values[*pair.b].path);
    } while (std::next_permutation(order.begin(), order.end()));
    // A flat file still meets a nested one by name.
    const auto nested = build({paths[0]}), flat = build({paths[2]});
    const Pairing loose = pairCatalogs(nested->catalog(), flat->catalog(), {});
    QCOMPARE(loose.tensors.size(), std::size_t(1));
    QVERIFY(loose.tensors[0].by == PairedBy::Name); // told apart from one path
    PairingOptions strict;
    strict.strict = true;
    QCOMPARE(pairCatalogs(nested->catalog(), flat->catalog(), strict).tensors.size(),
             std::size_t(2));
    QCOMPARE(pairCatalogs(nested->catalog(), nested->catalog(), strict).tensors.size(),
             std::size_t(1));
}

void TestPairing::affix()
{
    const auto a = sourceOf({"module.w", "module.v", "extra"}, {"module.step"});
    const auto b = sourceOf({"w", "v", "u"}, {"step"});
    const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
    QCOMPARE(pairing.affixA, std::string("module."));
    QCOMPARE(pairing.affixB, std::string());
    QCOMPARE(tensorsOf(pairing, *a, *b), (Names{"extra|-", "-|u", "module.v|v", "module.w|w"}));
    QVERIFY(pairing.tensors[2].by == PairedBy::Affix);
    QCOMPARE(pairing.tensors[2].name, std::string("v"));
    QVERIFY(pairing.tensors[2].reason.find("module.") != std::string::npos);
    QVERIFY(pairing.values[0].a && pairing.values[0].b); // values follow the tensors
    const Pairing mirror = pairCatalogs(b->catalog(), a->catalog(), {});
    QCOMPARE(mirror.affixB, std::string("module."));
    // The unpaired items of that side lose the prefix too.
    const auto more = sourceOf({"module.w", "module.v", "module.x"});
    const Pairing rest = pairCatalogs(more->catalog(), b->catalog(), {});
    QVERIFY(std::any_of(rest.tensors.begin(), rest.tensors.end(), [](const TensorPair &pair) {
        return pair.name == "x" && pair.a && !pair.b;
    }));
    // The longest prefix that pairs, and of two that pair alike the shorter.
    QCOMPARE(paired({"a.b.w", "a.b.v"}, {"w", "v"}), (Names{"a.b.v|v", "a.b.w|w"}));
    QCOMPARE(paired({"a.b.w", "a.v"}, {"b.w", "w"}), (Names{"a.b.w|b.w", "a.v|-", "-|w"}));
}

/// Averaged weights beside the model's, under the same names.
void TestPairing::affixThatTwoBear()
{
    const auto plain = sourceOf({"v", "w"}),
               both = sourceOf({"ema.v", "ema.w", "model.v", "model.w"});
    const Pairing model = pairCatalogs(plain->catalog(), both->catalog(), {});
    QCOMPARE(model.affixB, std::string("model."));
    QVERIFY(model.otherAffix.empty());
    const auto twins = sourceOf({"left.v", "left.w", "right.v", "right.w"});
    for (const bool mirrored : {false, true}) {
        const Pairing guess = mirrored ? pairCatalogs(twins->catalog(), plain->catalog(), {})
                                       : pairCatalogs(plain->catalog(), twins->catalog(), {});
        QCOMPARE(mirrored ? guess.affixA : guess.affixB, std::string("left."));
        QCOMPARE(guess.otherAffix, std::string("right."));
        for (const TensorPair &pair : guess.tensors)
            QCOMPARE(pair.ambiguous, pair.a && pair.b);
    }
}

void TestPairing::idleRulesAndScope()
{
    const auto a = sourceOf({"module.w"}), b = sourceOf({"w"});
    const Pairing idle = pairCatalogs(a->catalog(), b->catalog(),
                                      renaming({"s/^module\\.//", "s/^module.//", "s/module/x/"}));
    QCOMPARE(idle.idleRenames, (Names{"s/^module\\.//", "s/module/x/"}));
    QCOMPARE(RenameRule::parse("s|a/b|c|")->toString(), std::string("s|a/b|c|"));
    PairingOptions globs;
    globs.include = {"*", "modul.*"};
    globs.exclude = {"w", "x?"}; // the logical name is w
    QCOMPARE(pairCatalogs(a->catalog(), b->catalog(), globs).idleGlobs, (Names{"modul.*", "x?"}));
    PairingOptions options;
    options.scope = {StateClass::Weights};
    const auto odd = sourceOf({"qqq", "zzz"});
    QCOMPARE(pairCatalogs(odd->catalog(), odd->catalog(), options).unclassifiedLeftOut,
             std::size_t(2));
    QCOMPARE(pairCatalogs(odd->catalog(), odd->catalog(), {}).unclassifiedLeftOut, std::size_t(0));
}

void TestPairing::affixNeverAgainstExactNames()
{
    // As many by plain names as by the prefix: no prefix.
    QCOMPARE(paired({"w", "m.v"}, {"w", "v"}), (Names{"m.v|-", "-|v", "w|w"}));
    // Where the prefix pairs more, an item of the very name still comes first.
    QCOMPARE(paired({"m.w", "m.v", "m.u", "w"}, {"w", "v", "u"}),
             (Names{"m.u|u", "m.v|v", "w|w", "m.w|-"}));
    const auto a = sourceOf({"m.w", "m.v", "m.u", "w"}), b = sourceOf({"w", "v", "u"});
    std::set<std::string> names;
    for (const TensorPair &pair : pairCatalogs(a->catalog(), b->catalog(), {}).tensors)
        names.insert(pair.name);
    QCOMPARE(names.size(), std::size_t(4)); // names are unique within a document
}

void TestPairing::affixOnBothSides()
{
    const Names expected = {"v|m.v", "m.w|w"};
    QCOMPARE(paired({"m.w", "v"}, {"w", "m.v"}), expected);
    QCOMPARE(paired({"w", "m.v"}, {"m.w", "v"}), (Names{"m.v|v", "w|m.w"}));
}

void TestPairing::classOfAPair()
{
    const auto classOf = [](StateClass ofA, StateClass ofB) {
        auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
        a->addFloats("name", {1}).stateClass = ofA;
        b->addFloats("name", {1}).stateClass = ofB;
        a->finish();
        b->finish();
        return pairCatalogs(a->catalog(), b->catalog(), {}).tensors[0].stateClass;
    };
    for (const StateClass x : allStateClasses()) {
        QVERIFY(classOf(x, x) == x);
        for (const StateClass y : allStateClasses()) {
            QVERIFY(classOf(x, y) == classOf(y, x));
            // No difference is overlooked because one side's name looks like context.
            QCOMPARE(isContext(classOf(x, y)), isContext(x) && isContext(y));
        }
    }
    QVERIFY(classOf(StateClass::Unknown, StateClass::Rng) == StateClass::Rng);
}

/// An empty pickle says {} of itself, an empty safetensors nothing.
void TestPairing::anEmptyFileIsNoState()
{
    const auto holding = [](const KeyPath &path) {
        auto source = std::make_shared<MemorySource>();
        source->addValue(path, Value::empty("{}"));
        source->finish();
        return source;
    };
    const auto nothing = sourceOf({}), whole = holding({}),
               part = holding(MemorySource::pathOf("state"));
    const auto classOf = [](const SourcePtr &a, const SourcePtr &b) {
        return pairCatalogs(a->catalog(), b->catalog(), {}).values.front().stateClass;
    };
    QVERIFY(classOf(whole, nothing) == StateClass::Container);
    QVERIFY(classOf(nothing, whole) == StateClass::Container);
    QVERIFY(classOf(whole, whole) == StateClass::Unknown);
    QVERIFY(classOf(part, nothing) == StateClass::Unknown);
}

void TestPairing::strict()
{
    PairingOptions options;
    options.strict = true;
    QCOMPARE(paired({"m.w", "m.v"}, {"w", "v"}, options), (Names{"m.v|-", "m.w|-", "-|v", "-|w"}));
    options.renames = renaming({"s/m.//"}).renames;
    QCOMPARE(paired({"m.w", "m.v"}, {"w", "v"}, options), (Names{"m.v|v", "m.w|w"}));
}

void TestPairing::renames()
{
    const auto a = sourceOf({"enc.w", "enc.v"}), b = sourceOf({"encoder.w", "x"});
    const Pairing pairing =
        pairCatalogs(a->catalog(), b->catalog(), renaming({"s/^enc./encoder./"}));
    QCOMPARE(tensorsOf(pairing, *a, *b), (Names{"enc.v|-", "enc.w|encoder.w", "-|x"}));
    QVERIFY(pairing.tensors[1].by == PairedBy::Rename);
    QCOMPARE(pairing.tensors[1].name, std::string("encoder.w"));
    QCOMPARE(pairing.tensors[0].name, std::string("encoder.v")); // unpaired, renamed all the same
    // Rules act in order, each on what the one before made.
    QCOMPARE(paired({"a"}, {"c"}, renaming({"s/a/b/", "s/b/c/"})), (Names{"a|c"}));
    QCOMPARE(paired({"a"}, {"c"}, renaming({"s/b/c/", "s/a/b/"})), (Names{"a|-", "-|c"}));
    // Two items that a rule gives one name stay two, and equal paths still meet.
    QCOMPARE(paired({"a", "b"}, {"a", "b"}, renaming({"s/a/b/"})).size(), std::size_t(2));
    for (const std::string &pair : paired({"a", "b"}, {"a", "b"}, renaming({"s/a/b/"})))
        QVERIFY2(pair == "a|a" || pair == "b|b", pair.c_str());
}

void TestPairing::renameRules()
{
    for (const char *wrong : {"", "s", "s/", "s/a", "s/a/b", "a/b/c/", "s/a/b/c", "s/a/b/c/",
                              "s//b/", "y/a/b/", "sxaxbx ", "/a/b/"})
        QVERIFY2(!RenameRule::parse(wrong).ok(), wrong);
    QVERIFY(RenameRule::parse("nonsense").error().code == ErrorCode::Usage);
    QCOMPARE(RenameRule::parse("s/a//")->apply("banana"), std::string("bnana"));
    QCOMPARE(RenameRule::parse("s|a/b|c|")->apply("x/a/b"), std::string("x/c"));
    QCOMPARE(RenameRule::parse("s,.,/,")->apply("a.b.c"), std::string("a/b.c")); // literal, once
    QCOMPARE(RenameRule::parse("s/^/model./")->apply("w"), std::string("model.w"));
    QCOMPARE(RenameRule::parse("s/$/.w/")->apply("a"), std::string("a.w"));
    QCOMPARE(RenameRule::parse("s/^$/all/")->apply(""), std::string("all"));
    QCOMPARE(RenameRule::parse("s/^$/all/")->apply("a"), std::string("a"));
}

/// The same replacement by a regular expression of the quoted text.
void TestPairing::renameLikeRegularExpressions()
{
    constexpr unsigned Seed = 99;
    std::mt19937 random(Seed);
    int changed = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto word = [&](unsigned longest) {
            QString text;
            for (unsigned n = unsigned(random() % (longest + 1)); n > 0; --n)
                text += QLatin1Char("ab."[random() % 3]);
            return text;
        };
        const QString name = word(8), to = word(3), from = word(3);
        const bool start = random() % 3 == 0, end = random() % 3 == 0;
        if (from.isEmpty() && !start && !end)
            continue;
        const QString rule = QLatin1String("s/") + (start ? "^" : "") + from + (end ? "$" : "")
            + QLatin1Char('/') + to + QLatin1Char('/');
        const QRegularExpression expression((start ? "\\A" : "") + QRegularExpression::escape(from)
                                            + (end ? "\\z" : ""));
        QString expected = name;
        const auto match = expression.match(name);
        if (match.hasMatch())
            expected.replace(match.capturedStart(), match.capturedLength(), to);
        const auto parsed = RenameRule::parse(rule.toStdString());
        QVERIFY2(parsed.ok(), qPrintable(rule));
        const QString found = QString::fromStdString(parsed->apply(name.toStdString()));
        QVERIFY2(found == expected, qPrintable(rule + " on " + name + " gives " + found));
        changed += found != name;
    }
    QVERIFY(changed > 2000);
}

void TestPairing::onlyOnes()
{
    const auto unnamed = [](const std::string &file) {
        auto source = std::make_shared<MemorySource>();
        source->add<float>({}, "float32", {1}, {1}).name = file;
        source->finish();
        return source;
    };
    const auto a = unnamed("before"), b = unnamed("after"), named = sourceOf({"w"});
    const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
    QCOMPARE(pairing.tensors.size(), std::size_t(1));
    QVERIFY(pairing.tensors[0].by == PairedBy::OnlyOne);
    QVERIFY(pairing.anyNameInCommon);
    // A name of its own is a name: it does not meet just any array.
    QCOMPARE(pairCatalogs(a->catalog(), named->catalog(), {}).tensors.size(), std::size_t(2));
    const auto same = unnamed("before");
    QVERIFY(pairCatalogs(a->catalog(), same->catalog(), {}).tensors[0].by == PairedBy::Exact);
}

void TestPairing::selection()
{
    const Names names = {"model.w", "model.v", "optimizer.s", "other"};
    PairingOptions options;
    options.include = {"model.*", "oth?r"};
    QCOMPARE(paired(names, names, options),
             (Names{"model.v|model.v", "model.w|model.w", "other|other"}));
    options.exclude = {"*.w"};
    QCOMPARE(paired(names, names, options), (Names{"model.v|model.v", "other|other"}));
    options.include.clear();
    QCOMPARE(paired(names, names, options),
             (Names{"model.v|model.v", "optimizer.s|optimizer.s", "other|other"}));
    options = {};
    options.scope = {StateClass::Weights, StateClass::Unknown};
    QCOMPARE(paired(names, names, options),
             (Names{"model.v|model.v", "model.w|model.w", "other|other"}));
    options.scope = std::vector<StateClass>();
    QCOMPARE(paired(names, names, options), Names{});
    // Globs see logical names.
    options = renaming({"s/model/net/"});
    options.include = {"net.*"};
    QCOMPARE(paired(names, names, options), (Names{"model.v|model.v", "model.w|model.w"}));

    options = {};
    options.tensorsOnly = true;
    const auto a = sourceOf({"w"}, {"step"});
    QVERIFY(pairCatalogs(a->catalog(), a->catalog(), options).values.empty());
}

void TestPairing::nameInCommon()
{
    const auto common = [](const Names &a, const Names &b, const PairingOptions &options = {}) {
        const auto left = sourceOf(a), right = sourceOf(b);
        return pairCatalogs(left->catalog(), right->catalog(), options).anyNameInCommon;
    };
    QVERIFY(common({"a", "b"}, {"b", "c"}));
    QVERIFY(!common({"a"}, {"b"}));
    QVERIFY(common({"a"}, {}) && common({}, {"b"}) && common({}, {}));
    PairingOptions options;
    options.exclude = {"b"};
    QVERIFY(!common({"a", "b"}, {"b", "c"}, options)); // of what is in scope
}

void TestPairing::randomCatalogs()
{
    constexpr unsigned Seed = 4242;
    std::mt19937 random(Seed);
    int pairs = 0, affixes = 0;
    for (int round = 0; round < 4000; ++round) {
        const Names tensorsA = randomNames(random), tensorsB = randomNames(random);
        const Names valuesA = randomNames(random), valuesB = randomNames(random);
        PairingOptions options;
        options.strict = random() % 4 == 0;
        if (random() % 4 == 0)
            options.renames.push_back(*RenameRule::parse("s/module/m/"));
        const auto a = sourceOf(tensorsA, valuesA), b = sourceOf(tensorsB, valuesB);
        const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), options);
        const QByteArray where = "seed 4242, round " + QByteArray::number(round);

        // Every item once, every logical name once, sorted by it.
        std::multiset<std::size_t> fromA, fromB;
        std::set<std::string> names;
        for (const TensorPair &pair : pairing.tensors) {
            if (pair.a)
                fromA.insert(*pair.a);
            if (pair.b)
                fromB.insert(*pair.b);
            QVERIFY2((pair.a && pair.b) == (pair.by != PairedBy::Unpaired), where);
            QVERIFY2(names.insert(pair.name).second, where);
            QVERIFY2(*names.rbegin() == pair.name, where);
            pairs += pair.a && pair.b;
        }
        for (std::size_t i = 0; i < std::max(tensorsA.size(), tensorsB.size()); ++i) {
            QVERIFY2(fromA.count(i) == (i < tensorsA.size()), where);
            QVERIFY2(fromB.count(i) == (i < tensorsB.size()), where);
        }
        affixes += !pairing.affixA.empty() || !pairing.affixB.empty();

        // The order in a file means nothing.
        Names shuffled = tensorsA, shuffledValues = valuesA;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        std::shuffle(shuffledValues.begin(), shuffledValues.end(), random);
        const auto a2 = sourceOf(shuffled, shuffledValues);
        const Pairing again = pairCatalogs(a2->catalog(), b->catalog(), options);
        const auto facts = factsOf(pairing.tensors, a->catalog().tensors, b->catalog().tensors);
        const auto valueFacts = factsOf(pairing.values, a->catalog().values, b->catalog().values);
        QVERIFY2(factsOf(again.tensors, a2->catalog().tensors, b->catalog().tensors) == facts,
                 where);
        QVERIFY2(factsOf(again.values, a2->catalog().values, b->catalog().values) == valueFacts,
                 where);

        // Nor does it which side is called A.
        const Pairing mirror = pairCatalogs(b->catalog(), a->catalog(), options);
        QVERIFY2(factsOf(mirror.tensors, b->catalog().tensors, a->catalog().tensors, true) == facts,
                 where);
        QVERIFY2(factsOf(mirror.values, b->catalog().values, a->catalog().values, true)
                     == valueFacts,
                 where);
        QVERIFY2(mirror.anyNameInCommon == pairing.anyNameInCommon, where);
    }
    QVERIFY(pairs > 1000 && affixes > 100);
}

void TestPairing::joinsByContent()
{
    // Digests as names of contents: equal number, equal dtype, shape and bytes.
    const auto print = [](std::uint64_t content) {
        return TensorFingerprint{{0, content}, {1, content}};
    };
    struct Spec
    {
        const char *name;
        char side;
        std::uint64_t content;
        Index elements;
    };
    const std::vector<Spec> specs = {
        {"a1", 'A', 1, 16}, {"a2", 'A', 2, 16}, {"a3", 'A', 3, 99}, {"a3bis", 'A', 3, 99},
        {"a4", 'A', 4, 15}, {"b1", 'B', 1, 16}, {"b2", 'B', 2, 16}, {"b2bis", 'B', 2, 16},
        {"b3", 'B', 3, 99}, {"b4", 'B', 4, 15}, {"b5", 'B', 5, 16}};
    std::vector<TensorRow> rows;
    auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    for (const Spec &spec : specs)
        (spec.side == 'A' ? a : b)->addFloats(spec.name, std::vector<float>(spec.elements));
    a->finish();
    b->finish();
    for (const Spec &spec : specs) {
        TensorRow row;
        row.name = (spec.side == 'A' ? row.nameA : row.nameB) = spec.name;
        row.elements = spec.elements;
        row.bytes = 4 * spec.elements;
        if (spec.side == 'A') {
            row.a = a->catalog().findTensor(spec.name);
            row.fingerprintA = print(spec.content);
            row.status = ItemStatus::OnlyInA;
        } else {
            row.b = b->catalog().findTensor(spec.name);
            row.fingerprintB = print(spec.content);
            row.status = ItemStatus::OnlyInB;
        }
        rows.push_back(std::move(row));
    }
    // A pair that is paired already takes no part, whatever it holds.
    TensorRow pairedRow = rows.front();
    pairedRow.name = "paired";
    pairedRow.b = 0;
    pairedRow.fingerprintB = print(9);
    pairedRow.status = ItemStatus::Different;
    rows.push_back(pairedRow);

    const JoinedRows joined = joinByContent(rows, a->catalog(), b->catalog());
    QCOMPARE(joined.pairs, std::size_t(1)); // 2 and 3 are not unique, 4 is small, 5 is alone
    QCOMPARE(rows.size(), specs.size());    // one row less, one was added
    const TensorRow &row = rows.front();
    QCOMPARE(row.name, std::string("a1"));
    QCOMPARE(row.nameB, std::string("b1"));
    QVERIFY(row.status == ItemStatus::Identical && row.pairedBy == PairedBy::Content);
    QCOMPARE(row.bytes, std::uint64_t(128));
    QVERIFY(row.valueEqual == true && row.fingerprintB);
    for (const TensorRow &other : rows) {
        QVERIFY(other.name != "b1");
        QCOMPARE(other.reason.empty(), other.name != "a4" && other.name != "b4");
        if (other.name == "b4")
            QVERIFY(other.reason.starts_with("has dtype, shape and bytes of 'a4' of A, but fewer"));
    }
    QVERIFY(rows.back().status == ItemStatus::Different);
}

QTEST_APPLESS_MAIN(TestPairing)
#include "tst_pairing.moc"
