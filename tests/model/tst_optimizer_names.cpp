// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as torch.optim gives them: over the groups in turn, each in the model's order.
#include "model/pairing/optimizer_names.h"

#include "model/folded_numbers.h"
#include "model/pairing/pairing.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

struct Parameter
{
    std::string name;
    std::vector<Index> shape;
    std::size_t group = 0;
};

KeyPath stateOf(Index number, const std::string &slot)
{
    return {{Key::of("optimizer"), Key::of("state"), Key::at(std::int64_t(number)), Key::of(slot)}};
}

/// Numbers as loaders list them: more than 64 are one value, with the members as int64.
void addNumbers(MemorySource &source, const KeyPath &path, const std::vector<std::int64_t> &numbers)
{
    constexpr std::size_t Folded = 64;
    if (numbers.size() > Folded) {
        const auto bytes = std::as_bytes(std::span(numbers));
        source.addValue(path,
                        {ValueType::Numbers, FoldedNumbers{"int", "-"}.toData(asText(bytes)),
                         numbers.size(), "-"});
        return;
    }
    std::int64_t position = 0;
    for (const std::int64_t number : numbers)
        source.addValue(path.child(Key::at(position++)), Value::integer(number));
}

/// A model and its optimizer in one file.
SourcePtr checkpoint(const std::vector<Parameter> &parameters, std::size_t groups,
                     std::map<std::string, Index> *numbers = nullptr)
{
    auto source = std::make_shared<MemorySource>();
    const auto add = [&](const KeyPath &path, const std::vector<Index> &shape) {
        Index count = 1;
        for (const Index dim : shape)
            count *= dim;
        TensorRef &ref =
            source->add(path, "float32", shape, std::vector<float>(std::size_t(count)));
        ref.files = {"file.pt"};
    };
    for (const Parameter &parameter : parameters)
        add(MemorySource::pathOf("model." + parameter.name), parameter.shape);
    Index number = 0;
    for (std::size_t group = 0; group < groups; ++group) {
        std::vector<std::int64_t> members;
        for (const Parameter &parameter : parameters) {
            if (parameter.group != group)
                continue;
            if (numbers)
                (*numbers)[parameter.name] = number;
            members.push_back(std::int64_t(number));
            add(stateOf(number, "step"), {});
            add(stateOf(number++, "exp_avg"), parameter.shape);
        }
        addNumbers(*source,
                   {{Key::of("optimizer"), Key::of("param_groups"), Key::at(std::int64_t(group)),
                     Key::of("params")}},
                   members);
    }
    source->finish();
    return source;
}

const std::vector<Parameter> Model = {{"a.weight", {4, 2}, 0}, {"a.bias", {4}, 1},
                                      {"b.weight", {2, 4}, 0}, {"b.bias", {2}, 1},
                                      {"c.weight", {4, 2}, 0}, {"c.bias", {4}, 1}};

} // namespace

class OptimizerNamesTest : public QObject
{
    Q_OBJECT

private slots:
    void numbersGoOverTheGroups()
    {
        std::map<std::string, Index> numbers;
        const SourcePtr source = checkpoint(Model, 2, &numbers);
        const auto names = optimizerNames(source->catalog());
        QCOMPARE(names.size(), std::size_t(1));
        QCOMPARE(names[0].parameters.size(), Model.size());
        for (const auto &[name, number] : numbers)
            QCOMPARE(names[0].parameters.at(std::int64_t(number)), name);
        QCOMPARE(parameterOf(stateOf(3, "exp_avg"), names), std::string("model.a.bias"));
        QCOMPARE(parameterOf(MemorySource::pathOf("model.a.weight"), names), std::string());
    }

    /// Random models: what is named is right, and only one assignment fits.
    void namesOnlyWhatIsBeyondDoubt()
    {
        std::mt19937 random(13);
        std::size_t named = 0, left = 0;
        for (int round = 0; round < 300; ++round) {
            std::vector<Parameter> model;
            for (std::size_t i = 0; i < 1 + random() % 6; ++i)
                model.push_back({"p" + std::to_string(i) + ".weight",
                                 {1 + random() % 2, 2},
                                 std::size_t(random() % 2)});
            std::map<std::string, Index> numbers;
            const SourcePtr source = checkpoint(model, 2, &numbers);
            const auto names = optimizerNames(source->catalog());
            // All assignments of groups that give each group its shapes in order.
            std::size_t fitting = 0;
            std::vector<std::vector<Index>> wanted[2];
            for (const Parameter &parameter : model)
                wanted[parameter.group].push_back({parameter.shape});
            for (std::size_t mask = 0; mask < (std::size_t(1) << model.size()); ++mask) {
                std::vector<std::vector<Index>> given[2];
                for (std::size_t i = 0; i < model.size(); ++i)
                    given[(mask >> i) & 1].push_back({model[i].shape});
                fitting += given[0] == wanted[0] && given[1] == wanted[1] ? 1u : 0u;
            }
            QCOMPARE(names.size(), std::size_t(fitting == 1 ? 1 : 0));
            (fitting == 1 ? named : left) += 1;
            for (const auto &[name, number] : numbers) {
                if (fitting == 1)
                    QCOMPARE(names[0].parameters.at(std::int64_t(number)), name);
            }
        }
        QVERIFY(named > 50 && left > 50);
    }

    void modelsOfAnotherFileAreNotTaken()
    {
        const SourcePtr source = checkpoint(Model, 2);
        for (TensorRef &tensor : source->editCatalog().tensors) {
            if (tensor.name.starts_with("model."))
                tensor.files = {"model.safetensors"};
        }
        QVERIFY(optimizerNames(source->catalog()).empty());
    }

    void groupsThatNameTheirParametersAreBelieved()
    {
        auto source = std::make_shared<MemorySource>();
        source->add(stateOf(0, "exp_avg"), "float32", {1}, std::vector<float>{1});
        for (const char *key : {"params", "param_names"})
            source->addValue({{Key::of("optimizer"), Key::of("param_groups"), Key::at(0),
                               Key::of(key), Key::at(0)}},
                             std::string_view(key) == "params" ? Value::integer(0)
                                                               : Value::text("w"));
        source->finish();
        QCOMPARE(parameterOf(stateOf(0, "exp_avg"), optimizerNames(source->catalog())),
                 std::string("w"));
    }

    /// One run decays its biases, the other does not: the numbers mean other parameters. Real models
    /// have more parameters than a list may have to be listed number by number.
    void pairsAcrossARenumbering_data()
    {
        QTest::addColumn<int>("blocks");
        QTest::newRow("6 parameters") << 1;
        QTest::newRow("300 parameters") << 50;
        QTest::newRow("3000 parameters") << 500;
    }

    void pairsAcrossARenumbering()
    {
        QFETCH(const int, blocks);
        std::vector<Parameter> model;
        for (int block = 0; block < blocks; ++block) {
            for (const Parameter &parameter : Model)
                model.push_back({"layers." + std::to_string(block) + "." + parameter.name,
                                 parameter.shape, parameter.group});
        }
        std::vector<Parameter> oneGroup = model;
        for (Parameter &parameter : oneGroup)
            parameter.group = 0;
        std::map<std::string, Index> numbersA, numbersB;
        const SourcePtr a = checkpoint(model, 2, &numbersA);
        const SourcePtr b = checkpoint(oneGroup, 1, &numbersB);
        std::map<std::int64_t, std::string> parameterInA, parameterInB;
        for (const auto &[name, number] : numbersA)
            parameterInA[std::int64_t(number)] = name;
        for (const auto &[name, number] : numbersB)
            parameterInB[std::int64_t(number)] = name;
        const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
        std::size_t met = 0;
        for (const TensorPair &pair : pairing.tensors) {
            QVERIFY(pair.a && pair.b);
            const auto stateA = numberedState(a->catalog().tensors[*pair.a].path,
                                              MemorySource::pathOf("optimizer"));
            const auto stateB = numberedState(b->catalog().tensors[*pair.b].path,
                                              MemorySource::pathOf("optimizer"));
            QCOMPARE(stateA.has_value(), stateB.has_value());
            if (!stateA)
                continue;
            ++met;
            QCOMPARE(stateA->slot, stateB->slot);
            QCOMPARE(parameterInB.at(stateB->number), parameterInA.at(stateA->number));
            QVERIFY(pair.by == PairedBy::Parameter || pair.by == PairedBy::Exact);
        }
        QCOMPARE(met, 2 * model.size());
        PairingOptions strict;
        strict.strict = true;
        for (const TensorPair &pair : pairCatalogs(a->catalog(), b->catalog(), strict).tensors)
            QVERIFY(pair.by != PairedBy::Parameter);
    }
};

QTEST_APPLESS_MAIN(OptimizerNamesTest)
#include "tst_optimizer_names.moc"
