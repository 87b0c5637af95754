// SPDX-License-Identifier: GPL-3.0-or-later
// Heads that are to be the embedding, stored once more.
#include "model/pairing/tied_tensors.h"

#include "tests/support/memory_source.h"

#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Elements = std::vector<float>;

SourcePtr model(const Elements &head, std::optional<bool> tied)
{
    const auto source = std::make_shared<MemorySource>();
    source->add({{Key::of("model.embed_tokens.weight")}}, "float32", {3, 2},
                Elements{1, 2, 3, 4, 5, 6});
    source->add({{Key::of("lm_head.weight")}}, "float32", {head.size() / 2, 2}, head);
    if (tied)
        source->addValue("config.tie_word_embeddings", Value::boolean(*tied));
    source->finish();
    return source;
}

/// Two pipeline stages of two tensor-parallel ranks; `last`: of rank 1's head.
SourcePtr stages(float last)
{
    const auto source = std::make_shared<MemorySource>();
    for (int tp = 0; tp < 2; ++tp) {
        for (int pp = 0; pp < 2; ++pp) {
            const std::string folder =
                "mp_rank_0" + std::to_string(tp) + "_00" + std::to_string(pp);
            const auto owner = OwnerIndex(source->editCatalog().owners.size());
            source->editCatalog().owners.push_back({{{"tp", tp}, {"pp", pp}}});
            const char *name = pp == 0 ? "embedding.word_embeddings.weight" : "output_layer.weight";
            const Elements part{1, float(tp), 3, tp == 1 && pp == 1 ? last : 4};
            source
                ->add({{Key::of(folder), Key::of("model"), Key::of(name)}}, "float32", {2, 2}, part)
                .owner = owner;
            source->addValue({{Key::of(folder), Key::of("args"),
                               Key::of("untie_embeddings_and_output_weights")}},
                             Value::boolean(false));
        }
    }
    source->finish();
    return source;
}

} // namespace

class TiedTensorsTest : public QObject
{
    Q_OBJECT

private slots:
    void whatIsTiedIsCompared()
    {
        const Elements same{1, 2, 3, 4, 5, 6}, other{1, 2, 3, 4, 5, 7};
        QVERIFY(tiedFindings(*model(same, true), TiedBytes, {}).empty());
        QVERIFY(tiedFindings(*model(other, false), TiedBytes, {}).empty());
        QVERIFY(tiedFindings(*model(other, std::nullopt), TiedBytes, {}).empty());
        const auto differ = tiedFindings(*model(other, true), TiedBytes, {});
        QCOMPARE(differ.size(), std::size_t(1));
        QCOMPARE(differ[0].id, std::string("tied-tensors-differ"));
        QVERIFY2(differ[0].text.find("from element 5 on") != std::string::npos,
                 differ[0].text.c_str());
        const auto longer = tiedFindings(*model({1, 2, 3, 4, 5, 6, 7, 8}, true), TiedBytes, {});
        QCOMPARE(longer.size(), std::size_t(1));
        QVERIFY(longer[0].text.find("unlike shapes") != std::string::npos);
        const auto unread = tiedFindings(*model(other, true), 47, {});
        QCOMPARE(unread.size(), std::size_t(1));
        QCOMPARE(unread[0].id, std::string("tied-tensors-unread"));
    }

    /// Three settings: two of them end as the one does that ties.
    void onlyTheSettingItselfTies()
    {
        const Elements other{1, 2, 3, 4, 5, 7};
        const std::pair<const char *, bool> settings[] = {
            {"config.untie_word_embeddings", true},
            {"untie_word_embeddings", true},
            {"config.no_untie_embeddings_and_output_weights", false}};
        for (const auto &[name, value] : settings) {
            const SourcePtr source = model(other, std::nullopt);
            source->addValue(name, Value::boolean(value));
            source->finish();
            QVERIFY2(tiedFindings(*source, TiedBytes, {}).empty(), name);
        }
    }

    /// What a comparison knows is not read again, and what it left to the index is not read at all.
    void whatIsKnownIsNotRead()
    {
        const SourcePtr source = model({1, 2, 3, 4, 5, 7}, true);
        const Digest128 one{1, 2}, two{1, 3};
        QVERIFY(tiedFindings(*source, 0, {}, {{{0, one}, {1, one}}, {0, 1}}).empty());
        const auto differ = tiedFindings(*source, 0, {}, {{{0, one}, {1, two}}, {}});
        QCOMPARE(differ.size(), std::size_t(1));
        QCOMPARE(differ[0].id, std::string("tied-tensors-differ"));
        const auto placed = tiedFindings(*source, TiedBytes, {}, {{{0, one}, {1, two}}, {}});
        QVERIFY(placed.size() == 1 && placed[0].text.find("element 5") != std::string::npos);
        const auto unread = tiedFindings(*source, TiedBytes, {}, {{{0, one}}, {1}});
        QCOMPARE(unread.size(), std::size_t(1));
        QCOMPARE(unread[0].id, std::string("tied-tensors-unread"));
    }

    void aTieThatCannotBeReadSaysSo()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto told =
            tiedFindings(*model({1, 2, 3, 4, 5, 6}, true), TiedBytes, stop.get_token());
        QCOMPARE(told.size(), std::size_t(1));
        QCOMPARE(told[0].id, std::string("tied-tensors-unread"));
    }

    void stagesAreTiedByTensorRank()
    {
        QVERIFY(tiedFindings(*stages(4), TiedBytes, {}).empty());
        const auto differ = tiedFindings(*stages(9), TiedBytes, {});
        QCOMPARE(differ.size(), std::size_t(1));
        QCOMPARE(differ[0].where.front(), std::string("mp_rank_01_001.model.output_layer.weight"));
        QVERIFY(differ[0].text.find("from element 3 on") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TiedTensorsTest)
#include "tst_tied_tensors.moc"
