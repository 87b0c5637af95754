// SPDX-License-Identifier: GPL-3.0-or-later
// Names, values and classes: what a catalogue makes of what a loader found.
#include "model/catalog.h"
#include "model/text/json_values.h"
#include "tests/support/memory_source.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

class TestCatalog : public QObject
{
    Q_OBJECT

private slots:
    void keyPaths();
    void invalidUtf8();
    void uniqueNames();
    void uniqueNamesOfRandomLists();
    void manyEqualNamesAreQuick();
    void values();
    void globs();
    void globsLikeTheDefinition();
    void classNames();
    void classRules();
    void builtinRules();
    void finished();
    void sortsAnyOrderByName();
    void hugeShapes();
};

void TestCatalog::keyPaths()
{
    const KeyPath position{{Key::of("a"), Key::at(1)}};
    const KeyPath text{{Key::of("a"), Key::of("1")}};
    const KeyPath flat{{Key::of("a.1")}};
    const KeyPath python{{Key::of("a"), Key::printed("1")}};
    // One display name, four places.
    for (const KeyPath *path : {&position, &text, &flat, &python})
        QCOMPARE(path->toString(), std::string("a.1"));
    QCOMPARE((std::set<KeyPath>{position, text, flat, python}.size()), std::size_t(4));
    QCOMPARE(text.toString("/"), std::string("a/1"));
    QCOMPARE(KeyPath{}.toString(), std::string());
    QCOMPARE(position.child(Key::printed("(2, 'x')")).toString(), std::string("a.1.(2, 'x')"));
    QCOMPARE(Key::at(-7).toString(), std::string("-7"));
    const Key beyond{Key::Kind::Integer, "123456789012345678901234567890", 0};
    QCOMPARE(beyond.toString(), std::string("123456789012345678901234567890"));

    const auto json = [](const KeyPath &path) {
        JsonWriter writer(0);
        writePath(writer, path);
        return writer.take();
    };
    QCOMPARE(json(position), std::string("[\"a\",1]\n"));
    QCOMPARE(json(text), std::string("[\"a\",\"1\"]\n"));
    QCOMPARE(json(flat), std::string("[\"a.1\"]\n"));
    QCOMPARE(json(python), std::string("[\"a\",{\"python\":\"1\"}]\n"));
}

void TestCatalog::invalidUtf8()
{
    // What Python's bytes.decode('utf-8', 'backslashreplace') gives.
    QCOMPARE(escapeInvalidUtf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d"),
             std::string("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d"));
    QCOMPARE(escapeInvalidUtf8("a\xff"
                               "b"),
             std::string("a\\xffb"));
    QCOMPARE(escapeInvalidUtf8("\xc3"), std::string("\\xc3"));                   // cut
    QCOMPARE(escapeInvalidUtf8("\xc0\xaf"), std::string("\\xc0\\xaf"));          // overlong
    QCOMPARE(escapeInvalidUtf8("\xed\xa0\x80"), std::string("\\xed\\xa0\\x80")); // surrogate
    QCOMPARE(escapeInvalidUtf8("\xf4\x90\x80\x80"),
             std::string("\\xf4\\x90\\x80\\x80")); // above U+10FFFF
}

void TestCatalog::uniqueNames()
{
    const auto unique = [](std::vector<std::string> names) {
        std::vector<std::string *> pointers;
        for (std::string &name : names)
            pointers.push_back(&name);
        makeNamesUnique(pointers);
        return names;
    };
    QCOMPARE(unique({"a", "b", "a", "a"}), (std::vector<std::string>{"a", "b", "a#2", "a#3"}));
    // A name that is there already is not taken again, wherever it stands.
    QCOMPARE(unique({"a", "a", "a#2"}), (std::vector<std::string>{"a", "a#3", "a#2"}));
    QCOMPARE(unique({"a#2", "a", "a", "a#2"}),
             (std::vector<std::string>{"a#2", "a", "a#3", "a#2#2"}));
    QCOMPARE(unique({}), std::vector<std::string>{});
}

void TestCatalog::uniqueNamesOfRandomLists()
{
    constexpr unsigned Seed = 5;
    std::mt19937 random(Seed);
    const std::vector<std::string> pool = {"a", "a#2", "a#3", "a#2#2", "b"};
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> names(random() % 12);
        for (std::string &name : names)
            name = pool[random() % pool.size()];
        const std::vector<std::string> before = names;
        std::vector<std::string *> pointers;
        for (std::string &name : names)
            pointers.push_back(&name);
        makeNamesUnique(pointers);
        QCOMPARE((std::set<std::string>(names.begin(), names.end()).size()), names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool first =
                std::find(before.begin(), before.begin() + std::ptrdiff_t(i), before[i])
                == before.begin() + std::ptrdiff_t(i);
            QVERIFY(names[i].starts_with(before[i]));
            QCOMPARE(names[i] == before[i], first); // the first one keeps its name, only that
        }
    }
}

void TestCatalog::manyEqualNamesAreQuick()
{
    std::vector<std::string> names(200'000, "a");
    names.push_back("a#7");
    std::vector<std::string *> pointers;
    for (std::string &name : names)
        pointers.push_back(&name);
    QElapsedTimer timer;
    timer.start();
    makeNamesUnique(pointers);
    QVERIFY(timer.elapsed() < 20'000); // one by one from 2 it is 2 * 10^10 tries
    QCOMPARE(names[0], std::string("a"));
    QCOMPARE(names[5], std::string("a#6"));
    QCOMPARE(names[6], std::string("a#8")); // #7 was there before
    QCOMPARE(names[199'999], std::string("a#200001"));
    QCOMPARE(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

void TestCatalog::values()
{
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(Value::real(NaN).identicalTo(Value::real(NaN)));
    QVERIFY(!Value::real(0.0).identicalTo(Value::real(-0.0)));
    QVERIFY(!Value::real(1.0).identicalTo(Value::integer(1)));
    QVERIFY(!Value::boolean(true).identicalTo(Value::integer(1)));
    QVERIFY(!Value::text("[]").identicalTo(Value::empty("[]")));
    QVERIFY(!Value::none().identicalTo(Value::text("")));
    // Below 2^63 there is one way to hold an integer.
    QVERIFY(Value::unsignedInteger(7).identicalTo(Value::integer(7)));
    QVERIFY(!Value::unsignedInteger(1ull << 63)
                 .identicalTo(Value::integer(std::numeric_limits<std::int64_t>::min())));
    Value bytes{ValueType::Bytes, {}, 3, "abc"}, other = bytes;
    QVERIFY(bytes.identicalTo(other));
    other.digest = "abd";
    QVERIFY(!bytes.identicalTo(other));
    other = bytes;
    other.count = 4;
    QVERIFY(!bytes.identicalTo(other));

    QCOMPARE(Value::real(0.1).toDisplay(), std::string("0.1"));
    QCOMPARE(Value::real(1.0).toDisplay(), std::string("1.0"));
    QCOMPARE(Value::boolean(false).toDisplay(), std::string("False"));
    QCOMPARE(Value::unsignedInteger(~0ull).toDisplay(), std::string("18446744073709551615"));
    QCOMPARE(Value::bigInteger("36893488147419103232").toDisplay(),
             std::string("36893488147419103232"));
    QCOMPARE(toString(ValueType::Text), std::string_view("str"));
}

void TestCatalog::globs()
{
    QVERIFY(globMatches("*", ""));
    QVERIFY(globMatches("", ""));
    QVERIFY(!globMatches("", "a"));
    QVERIFY(!globMatches("?", ""));
    QVERIFY(globMatches("model.*.weight", "model.layers.0.weight")); // dots too
    QVERIFY(!globMatches("model.*.weight", "model.weight"));
    QVERIFY(!globMatches("Model.*", "model.w")); // case matters
    QVERIFY(globMatches("a[0]", "a[0]"));        // no character classes
    QVERIFY(!globMatches("a[0]", "a0"));
    // Linear in the product of the lengths: an exponential matcher would never end here.
    std::string pattern;
    for (int i = 0; i < 200; ++i)
        pattern += "a*";
    QVERIFY(!globMatches(pattern + "b", std::string(5000, 'a')));
}

/// Straight from the definition, without a thought for time.
static bool matchesByDefinition(std::string_view pattern, std::string_view text)
{
    if (pattern.empty())
        return text.empty();
    if (pattern[0] == '*')
        return matchesByDefinition(pattern.substr(1), text)
            || (!text.empty() && matchesByDefinition(pattern, text.substr(1)));
    return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0])
        && matchesByDefinition(pattern.substr(1), text.substr(1));
}

void TestCatalog::globsLikeTheDefinition()
{
    constexpr unsigned Seed = 77;
    std::mt19937 random(Seed);
    int matches = 0;
    for (int i = 0; i < 100'000; ++i) {
        std::string pattern(random() % 7, ' '), text(random() % 9, ' ');
        for (char &c : pattern)
            c = "ab*?*."[random() % 6];
        for (char &c : text)
            c = "ab."[random() % 3];
        const bool expected = matchesByDefinition(pattern, text);
        matches += expected;
        QVERIFY2(globMatches(pattern, text) == expected, (pattern + " on " + text).c_str());
    }
    QVERIFY(matches > 5000);
}

void TestCatalog::classNames()
{
    const std::vector<std::string> names = {"weights",  "optimizer", "scheduler",   "counter",
                                            "rng",      "data",      "scaler",      "recipe",
                                            "topology", "container", "bookkeeping", "unknown"};
    const std::set<std::string> context = {"recipe", "topology", "container", "bookkeeping"};
    QCOMPARE(allStateClasses().size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const StateClass stateClass = allStateClasses()[i];
        QCOMPARE(std::string(toString(stateClass)), names[i]);
        QVERIFY(stateClassByName(names[i]) == stateClass);
        QCOMPARE(isContext(stateClass), context.contains(names[i]));
    }
    QVERIFY(!stateClassByName("Weights"));
    QVERIFY(!stateClassByName(""));
}

void TestCatalog::classRules()
{
    const auto rules = StateClassRules::parse("# a comment\n\n"
                                              "rng    any     *rng*      a generator\n"
                                              "recipe value   lr         the first row decides\n"
                                              "optimizer any  lr\n"
                                              "weights tensor w*\r\n");
    QVERIFY(rules.ok());
    QVERIFY(rules->classify("np_rng.0", false) == StateClass::Rng);
    QVERIFY(rules->classify("lr", false) == StateClass::Recipe);
    QVERIFY(rules->classify("lr", true) == StateClass::Optimizer);
    QVERIFY(rules->classify("w.1", false) == StateClass::Unknown);
    QCOMPARE(rules->match("x_rng", true)->reason, std::string("a generator"));
    QVERIFY(rules->match("nothing", true) == nullptr);
    QVERIFY(StateClassRules::parse("")->match("w", true) == nullptr);

    for (const char *wrong : {"weight any w", "weights all w", "weights any", "weights"}) {
        const auto refused = StateClassRules::parse(std::string("rng any x\n") + wrong);
        QVERIFY2(!refused.ok(), wrong);
        QCOMPARE(refused.error().place, std::string("line 2"));
    }
}

void TestCatalog::builtinRules()
{
    QVERIFY(StateClassRules::builtin().match("__metadata__.x", false) != nullptr); // it parses
    const struct
    {
        const char *name;
        bool tensor;
        StateClass expected;
    } cases[] = {
        {"model.lm_head.weight", true, StateClass::Weights},
        {"module.transformer.h.0.attn.c_attn.bias", true, StateClass::Weights},
        {"optimizer.state.0.exp_avg", true, StateClass::Optimizer},
        {"optimizer.param_groups.0.lr", false, StateClass::Optimizer},
        {"lr_scheduler.last_epoch", false, StateClass::Scheduler},
        {"down_blocks.0.downsamplers.0.conv.weight", true, StateClass::Weights},
        {"generator.conv.weight", true, StateClass::Weights},
        {"resampler.proj.bias", true, StateClass::Weights},
        {"dataset_embedding.weight", true, StateClass::Weights},
        {"exp_avg.down.sampler.weight", true, StateClass::Optimizer},
        {"fp32.generator.weight", true, StateClass::Optimizer},
        {"grad.sampler.weight", true, StateClass::Optimizer},
        {"config.optimizer.lr", false, StateClass::Recipe},
        {"sampler.state", true, StateClass::Data},
        {"backbone.layers.0.mixer.A_log", true, StateClass::Weights},
        {"args.out", false, StateClass::Bookkeeping},
        {"rng_state", true, StateClass::Rng},
        {"rng.cuda.0", true, StateClass::Rng},
        {"global_step", false, StateClass::Counter},
        {"iteration", false, StateClass::Counter},
        {"grad_scaler.scale", false, StateClass::Scaler},
        {"args.micro_batch_size", false, StateClass::Recipe},
        {"config.hidden_size", false, StateClass::Recipe},
        {"world_size", false, StateClass::Topology},
        {"__metadata__.format", false, StateClass::Container},
        {"transformers_version", false, StateClass::Bookkeeping},
        {"something.else", false, StateClass::Unknown},
        // in a model's container, whatever words the names of its layers hold
        {"state_dict.resampler.query", true, StateClass::Weights},
        {"state_dict.generator.pos_embed", true, StateClass::Weights},
        {"state_dict.class_labels", true, StateClass::Weights},
        {"state_dict.noise_scheduler.alphas_cumprod", true, StateClass::Weights},
        {"model.vae.optim.w", true, StateClass::Weights},
        {"module.moe.batch.gate", true, StateClass::Weights},
        {"mp_rank_00.model.generator.scale", true, StateClass::Weights},
        {"generator.pos_embed", true, StateClass::Weights},
        {"generator.running_mean", true, StateClass::Weights},
        {"generator.num_batches_tracked", true, StateClass::Weights},
        {"resampler.query", true, StateClass::Unknown},
        {"noise_scheduler.alphas_cumprod", true, StateClass::Unknown},
        {"app.optim.state.0.exp_avg", true, StateClass::Optimizer},
        {"app.optim.state.0.max", true, StateClass::Optimizer},
        {"model.optimizer.state.0.max", true, StateClass::Optimizer},
        // generators, however they are kept
        {"generator", true, StateClass::Rng},
        {"generator.cuda.0", true, StateClass::Rng},
        {"generators.0", true, StateClass::Rng},
        {"dataloader.generator", true, StateClass::Rng},
        {"loader_generator", true, StateClass::Rng},
        {"loader_rng", true, StateClass::Rng},
        {"generator_state_1", true, StateClass::Rng},
        {"generator.bit_generator", false, StateClass::Rng},
        // state, although it is kept among settings
        {"args.consumed_train_samples", false, StateClass::Data},
        {"common.args.consumed_valid_samples", false, StateClass::Data},
        {"args.global_batch_size", false, StateClass::Recipe},
        {"model.layers.0._extra_state.config.scale", false, StateClass::Weights},
        {"optimizer.args.m", false, StateClass::Optimizer},
        {"sampler.args.position", false, StateClass::Data},
        {"loader.world_size_position", false, StateClass::Unknown},
        {"train_metadata.epoch", false, StateClass::Counter},
        {"_metadata.version", false, StateClass::Bookkeeping},
        {"model._metadata.layers.0.version", false, StateClass::Bookkeeping},
        {"model.emb.weight._has_been_cloned", false, StateClass::Bookkeeping},
        // how HDF5 joins datasets, although a member of it is named "dataset"
        {"time.REFERENCE_LIST.dataset.0", false, StateClass::Container},
        {"loss.DIMENSION_LIST.0", false, StateClass::Container},
    };
    for (const auto &each : cases) {
        const StateClass found = StateClassRules::builtin().classify(each.name, each.tensor);
        QVERIFY2(found == each.expected,
                 (std::string(each.name) + " is " + std::string(toString(found))).c_str());
    }
}

void TestCatalog::finished()
{
    MemorySource source;
    source.addFloats("model.b.weight", {1, 2, 3});
    source.add<float>({{Key::of("model.b.weight")}}, "float32", {1}, {4});
    source.add<std::uint8_t>(MemorySource::pathOf("packed"), "float4_e2m1fn_x2", {2, 3},
                             {1, 2, 3, 4, 5, 6});
    source.add<float>(MemorySource::pathOf("a"), "float32", {}, {1});
    source.addFloats("kept", {}).stateClass = StateClass::Data;
    source.addValue("step", Value::integer(3));
    source.addValue("a", Value::integer(1)); // the name of a tensor
    source.finish();
    const Catalog &catalog = source.catalog();
    std::vector<std::string> names;
    for (const TensorRef &tensor : catalog.tensors)
        names.push_back(tensor.name);
    QCOMPARE(
        names,
        (std::vector<std::string>{"a", "kept", "model.b.weight", "model.b.weight#2", "packed"}));
    QCOMPARE(catalog.values[0].name, std::string("a#2"));
    QCOMPARE(catalog.values[1].name, std::string("step"));
    QVERIFY(catalog.values[1].stateClass == StateClass::Counter);
    QVERIFY(catalog.tensors[1].stateClass == StateClass::Data);
    QVERIFY(catalog.tensors[2].stateClass == StateClass::Weights);
    QCOMPARE(catalog.tensors[0].elements, Index(1)); // rank 0
    QCOMPARE(catalog.tensors[1].bytes, std::uint64_t(0));
    QCOMPARE(catalog.tensors[4].elements, Index(12)); // two to a byte
    QCOMPARE(catalog.tensors[4].bytes, std::uint64_t(6));
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i)
        QVERIFY(catalog.findTensor(catalog.tensors[i].name) == i);
    QVERIFY(!catalog.findTensor("step"));
    QVERIFY(!catalog.findTensor(""));
}

/// Every item is at the place of its name, whatever the cycles of the order they came in.
void TestCatalog::sortsAnyOrderByName()
{
    std::mt19937 random(7);
    for (const std::size_t count : {0, 1, 2, 3, 7, 100}) {
        std::vector<std::uint64_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        for (int turn = 0; turn < 20; ++turn) {
            Catalog catalog;
            for (const std::uint64_t number : numbers) {
                TensorRef tensor;
                tensor.path.keys = {Key::of(std::to_string(1000 + number))};
                tensor.dtype = *dtypeByName("uint8");
                tensor.fileOrder = number;
                catalog.tensors.push_back(std::move(tensor));
            }
            catalog.finish(StateClassRules::builtin());
            for (std::uint64_t i = 0; i < count; ++i) {
                QCOMPARE(catalog.tensors[i].fileOrder, i);
                QCOMPARE(catalog.tensors[i].name, std::to_string(1000 + i));
                QCOMPARE(catalog.tensors[i].path.toString(), catalog.tensors[i].name);
            }
            std::shuffle(numbers.begin(), numbers.end(), random);
        }
    }
}

void TestCatalog::hugeShapes()
{
    constexpr Index Huge = Index(1) << 62;
    MemorySource source;
    source.addBytes(MemorySource::pathOf("count"), *dtypeByName("int8"), {Huge, 4}, {});
    source.addBytes(MemorySource::pathOf("bits"), *dtypeByName("int8"), {Huge}, {});
    source.addBytes(MemorySource::pathOf("zero"), *dtypeByName("int8"), {Huge, Huge, 0}, {});
    source.finish();
    const auto &tensors = source.catalog().tensors; // bits, count, zero
    QVERIFY(tensors[0].unreadable && tensors[1].unreadable);
    QVERIFY(tensors[0].unreadable->code == ErrorCode::Limit);
    QVERIFY(!tensors[2].unreadable);
    QCOMPARE(tensors[2].bytes, std::uint64_t(0));
}

QTEST_APPLESS_MAIN(TestCatalog)
#include "tst_catalog.moc"
