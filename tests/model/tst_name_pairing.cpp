// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the real classes (tests/data/names), and wholes cut and ordered as Megatron-Core documents it.
#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/pairing/name_pairing.h"
#include "tests/support/memory_source.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <random>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Elements = std::vector<float>;

QJsonObject realNames()
{
    QFile file(FORKPOINT_TEST_DATA "/names/names.json");
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                          : QJsonObject();
}

std::string meaningOf(const std::string &name)
{
    return ParameterNames::instance().read(name).meaning;
}

/// What one family's names of a model of two layers mean.
std::set<std::string> meaningsOf(const QJsonObject &family)
{
    std::set<std::string> meanings;
    for (const QString &name : family.keys())
        meanings.insert(meaningOf(name.toStdString()));
    return meanings;
}

Elements randomElements(Index count)
{
    static std::mt19937 random(5);
    Elements elements(count);
    for (float &element : elements)
        element = float(random() % 100000);
    return elements;
}

Elements rowsOf(const Elements &whole, Index columns, Index first, Index count)
{
    return {whole.begin() + std::ptrdiff_t(first * columns),
            whole.begin() + std::ptrdiff_t((first + count) * columns)};
}

void append(Elements &to, const Elements &more)
{
    to.insert(to.end(), more.begin(), more.end());
}

void add(const SourcePtr &source, const std::string &name, std::vector<Index> shape,
         const Elements &elements)
{
    source->add(MemorySource::pathOf(name), "float32", std::move(shape), elements);
}

CheckpointComparison compared(const SourcePtr &a, const SourcePtr &b,
                              const CompareOptions &options = {})
{
    a->finish();
    b->finish();
    CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, options, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

const TensorRow *rowOf(const CheckpointComparison &comparison, const std::string &nameA)
{
    for (const TensorRow &row : comparison.tensors) {
        if (row.nameA == nameA)
            return &row;
    }
    return nullptr;
}

std::string textOf(const CheckpointComparison &comparison, const std::string &id)
{
    std::string text;
    for (const Finding &finding : comparison.findings) {
        if (finding.id == id)
            text += finding.text + "\n";
    }
    return text;
}

} // namespace

class NamePairingTest : public QObject
{
    Q_OBJECT

private slots:
    void theTableIsSound();
    void badTablesAreRefused_data();
    void badTablesAreRefused();
    void everyRealNameIsKnown();
    void familiesMeanTheSame();
    void llamaMeetsMegatron();
    void fusedTensorsAreOfferedNotApplied();
    void gpt2MeetsMegatron();
    void wrappersAreTakenOut();
    void optimizerStateMeets();
    void whatIsThereTwiceMeetsNobody();
    void strictTakesNoTable();
    void whatHasAPartnerCounts();
    void subByteRowsAreNotTold();
};

void NamePairingTest::theTableIsSound()
{
    QFile file(FORKPOINT_TEST_DATA "/../../resources/rules/parameter_names.txt");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto names = ParameterNames::parse(file.readAll().toStdString());
    QVERIFY2(names.ok(), names ? "" : names.error().message().c_str());
}

void NamePairingTest::badTablesAreRefused_data()
{
    QTest::addColumn<QByteArray>("table");
    QTest::newRow("kind") << QByteArray("nome llama a.* b.*");
    QTest::newRow("words") << QByteArray("name llama a.*");
    QTest::newRow("numbers") << QByteArray("name llama a.#.* b.*");
    QTest::newRow("leaf") << QByteArray("name llama a.* b");
    QTest::newRow("twice") << QByteArray("name x a.* b.*\nname y a.* c.*");
    QTest::newRow("slot") << QByteArray("slot exp_avg. exp_avg");
    QTest::newRow("fused") << QByteArray("fused a.#.* b.#.* c.*");
}

void NamePairingTest::badTablesAreRefused()
{
    QFETCH(QByteArray, table);
    const auto names = ParameterNames::parse(table.toStdString());
    QVERIFY(!names.ok());
    QVERIFY(names.error().message().find("line ") != std::string::npos);
}

void NamePairingTest::everyRealNameIsKnown()
{
    const QJsonObject families = realNames();
    QCOMPARE(families.size(), 7);
    for (const QString &family : families.keys()) {
        const QJsonObject names = families[family].toObject();
        std::set<std::string> meanings;
        for (const QString &name : names.keys()) {
            const std::string meaning = meaningOf(name.toStdString());
            QVERIFY2(!meaning.empty(), qPrintable(family + ": " + name));
            QVERIFY2(meanings.insert(meaning).second, qPrintable(family + ": " + name));
        }
    }
}

/// The two moe families and the dense ones hold the same things under other words; shapes tell.
void NamePairingTest::familiesMeanTheSame()
{
    const QJsonObject families = realNames();
    const std::set<std::string> llama = meaningsOf(families["llama"].toObject());
    const std::set<std::string> mixtral = meaningsOf(families["mixtral"].toObject());
    for (const std::string meaning :
         {"embedding.words.weight", "head.weight", "final_norm.weight",
          "layer.1.attention.output.weight", "layer.0.attention_norm.weight",
          "layer.0.mlp_norm.weight", "layer.1.attention.key.weight"}) {
        QVERIFY2(llama.contains(meaning), meaning.c_str());
        QVERIFY2(mixtral.contains(meaning), meaning.c_str());
    }
    const auto shape = [&](const char *family, const char *name) {
        return families[family].toObject()[name].toArray();
    };
    QCOMPARE(meaningOf("model.layers.1.block_sparse_moe.experts.0.w2.weight"),
             meaningOf("model.layers.1.mlp.experts.0.down_proj.weight"));
    QCOMPARE(shape("mixtral", "model.layers.1.block_sparse_moe.experts.0.w2.weight"),
             QJsonArray({8, 16})); // to hidden: down
    QCOMPARE(meaningOf("gpt_neox.layers.1.mlp.dense_4h_to_h.bias"),
             meaningOf("transformer.h.1.mlp.c_proj.bias"));
    QCOMPARE(meaningOf("gpt_neox.embed_in.weight"), meaningOf("transformer.wte.weight"));
    QCOMPARE(meaningOf("tok_embeddings.weight"), meaningOf("model.embed_tokens.weight"));
    QCOMPARE(meaningOf("layers.0.feed_forward.w3.weight"),
             meaningOf("model.layers.0.mlp.up_proj.weight"));
    // Flax's leaves, in one table of names.
    QCOMPARE(meaningOf("params.model.layers.0.self_attn.o_proj.kernel"),
             meaningOf("model.layers.0.self_attn.o_proj.weight"));
    QVERIFY(meaningOf("model.layers.0.self_attn.q_proj.scale").ends_with("query.scale"));
    QCOMPARE(meaningOf("params.transformer.h.0.ln_1.scale"),
             meaningOf("transformer.h.0.ln_1.weight"));
    QVERIFY(meaningOf("model.layers.0.something_else.weight").empty());
    QVERIFY(meaningOf("model.encoder.norm.weight").empty());
}

namespace {

constexpr Index Hidden = 8, Heads = 4, Groups = 2, HeadRows = 2, Features = 6, Layers = 2;

/// One model as transformers' Llama and as Megatron-Core hold it: queries of each group, its key and
/// its value in turn; gate over up.
void addLlamaAndMegatron(const SourcePtr &llama, const SourcePtr &megatron)
{
    const auto both = [&](const std::string &a, const std::string &b, std::vector<Index> shape) {
        Index count = 1;
        for (const Index size : shape)
            count *= size;
        const Elements elements = randomElements(count);
        add(llama, a, shape, elements);
        add(megatron, b, shape, elements);
    };
    both("model.embed_tokens.weight", "embedding.word_embeddings.weight", {10, Hidden});
    both("model.norm.weight", "decoder.final_layernorm.weight", {Hidden});
    both("lm_head.weight", "output_layer.weight", {10, Hidden});
    for (Index layer = 0; layer < Layers; ++layer) {
        const std::string l = "model.layers." + std::to_string(layer) + ".";
        const std::string m = "decoder.layers." + std::to_string(layer) + ".";
        both(l + "input_layernorm.weight", m + "self_attention.linear_qkv.layer_norm_weight",
             {Hidden});
        both(l + "post_attention_layernorm.weight", m + "mlp.linear_fc1.layer_norm_weight",
             {Hidden});
        both(l + "self_attn.o_proj.weight", m + "self_attention.linear_proj.weight",
             {Hidden, Heads * HeadRows});
        both(l + "mlp.down_proj.weight", m + "mlp.linear_fc2.weight", {Hidden, Features});
        const Elements q = randomElements(Heads * HeadRows * Hidden);
        const Elements k = randomElements(Groups * HeadRows * Hidden);
        const Elements v = randomElements(Groups * HeadRows * Hidden);
        const Elements gate = randomElements(Features * Hidden);
        const Elements up = randomElements(Features * Hidden);
        add(llama, l + "self_attn.q_proj.weight", {Heads * HeadRows, Hidden}, q);
        add(llama, l + "self_attn.k_proj.weight", {Groups * HeadRows, Hidden}, k);
        add(llama, l + "self_attn.v_proj.weight", {Groups * HeadRows, Hidden}, v);
        add(llama, l + "mlp.gate_proj.weight", {Features, Hidden}, gate);
        add(llama, l + "mlp.up_proj.weight", {Features, Hidden}, up);
        Elements qkv, in = gate;
        append(in, up);
        const Index queries = Heads / Groups * HeadRows;
        for (Index group = 0; group < Groups; ++group) {
            append(qkv, rowsOf(q, Hidden, group * queries, queries));
            append(qkv, rowsOf(k, Hidden, group * HeadRows, HeadRows));
            append(qkv, rowsOf(v, Hidden, group * HeadRows, HeadRows));
        }
        add(megatron, m + "self_attention.linear_qkv.weight",
            {(Heads + 2 * Groups) * HeadRows, Hidden}, qkv);
        add(megatron, m + "mlp.linear_fc1.weight", {2 * Features, Hidden}, in);
    }
}

} // namespace

void NamePairingTest::llamaMeetsMegatron()
{
    const auto llama = std::make_shared<MemorySource>(),
               megatron = std::make_shared<MemorySource>();
    addLlamaAndMegatron(llama, megatron);
    const CheckpointComparison comparison = compared(llama, megatron);
    const TensorRow *row = rowOf(comparison, "model.layers.1.self_attn.o_proj.weight");
    QVERIFY(row);
    QCOMPARE(row->nameB, std::string("decoder.layers.1.self_attention.linear_proj.weight"));
    QVERIFY(row->pairedBy == PairedBy::Table);
    QVERIFY(row->status == ItemStatus::Identical);
    QCOMPARE(row->pairedReason,
             std::string("both are 'layer.1.attention.output.weight': llama's name in A, "
                         "megatron-core's in B"));
    row = rowOf(comparison, "model.layers.0.input_layernorm.weight");
    QVERIFY(row && row->status == ItemStatus::Identical);
    QCOMPARE(row->nameB,
             std::string("decoder.layers.0.self_attention.linear_qkv.layer_norm_weight"));
    QCOMPARE(comparison.counts.identical, std::uint64_t(3 + 4 * Layers));
    QCOMPARE(comparison.counts.different, std::uint64_t(0));
}

/// What is fused on one side is one-sided, and the two are not equal by rule; the finding says what
/// they hold.
void NamePairingTest::fusedTensorsAreOfferedNotApplied()
{
    for (const bool swapped : {false, true}) {
        const auto llama = std::make_shared<MemorySource>(),
                   megatron = std::make_shared<MemorySource>();
        addLlamaAndMegatron(llama, megatron);
        const CheckpointComparison comparison =
            swapped ? compared(megatron, llama) : compared(llama, megatron);
        QVERIFY(comparison.verdict.outcome == Outcome::Different);
        QCOMPARE(comparison.counts.onlyInA, std::uint64_t((swapped ? 2 : 5) * Layers));
        const std::string text = textOf(comparison, "same-rows-fused");
        QVERIFY2(text.find("decoder.layers.0.self_attention.linear_qkv.weight")
                     != std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("2 groups of 2 queries, heads of 2 rows") != std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("model.layers.1.mlp.gate_proj.weight, model.layers.1.mlp.up_proj.weight")
                     != std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("one after the other") != std::string::npos, text.c_str());
    }
    const auto llama = std::make_shared<MemorySource>(),
               megatron = std::make_shared<MemorySource>();
    addLlamaAndMegatron(llama, megatron);
    add(llama, "model.layers.7.mlp.gate_proj.weight", {2, 2}, {1, 2, 3, 4});
    add(llama, "model.layers.7.mlp.up_proj.weight", {2, 2}, {5, 6, 7, 8});
    add(megatron, "decoder.layers.7.mlp.linear_fc1.weight", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 9});
    QVERIFY(textOf(compared(llama, megatron), "same-rows-fused").find("layers.7")
            == std::string::npos);
}

/// GPT-2 keeps its linear layers as [in, out], and queries, keys and values in blocks.
void NamePairingTest::gpt2MeetsMegatron()
{
    const auto gpt2 = std::make_shared<MemorySource>(), megatron = std::make_shared<MemorySource>();
    constexpr Index In = 6, HeadCount = 3, Rows = 2;
    const Elements out = randomElements(In * In);     // [out, in]
    const Elements qkv = randomElements(3 * In * In); // blocks
    const auto turned = [](const Elements &matrix, Index rows, Index columns) {
        Elements result(matrix.size());
        for (Index row = 0; row < rows; ++row)
            for (Index column = 0; column < columns; ++column)
                result[column * rows + row] = matrix[row * columns + column];
        return result;
    };
    Elements byHead;
    for (Index head = 0; head < HeadCount; ++head)
        for (Index which = 0; which < 3; ++which)
            append(byHead, rowsOf(qkv, In, which * In + head * Rows, Rows));
    add(gpt2, "transformer.h.0.attn.c_proj.weight", {In, In}, turned(out, In, In));
    add(gpt2, "transformer.h.0.attn.c_attn.weight", {In, 3 * In}, turned(qkv, 3 * In, In));
    add(megatron, "decoder.layers.0.self_attention.linear_proj.weight", {In, In}, out);
    add(megatron, "decoder.layers.0.self_attention.linear_qkv.weight", {3 * In, In}, byHead);
    const CheckpointComparison comparison = compared(gpt2, megatron);
    const TensorRow *row = rowOf(comparison, "transformer.h.0.attn.c_proj.weight");
    QVERIFY(row && row->pairedBy == PairedBy::Table && row->status == ItemStatus::Different);
    QVERIFY(textOf(comparison, "same-values-transposed").find("c_proj") != std::string::npos);
    const std::string text = textOf(comparison, "same-rows-permuted");
    QVERIFY2(text.find("A transposed, queries, keys and values in blocks in A, by head in B: "
                       "3 heads of 2 rows")
                 != std::string::npos,
             text.c_str());
}

void NamePairingTest::wrappersAreTakenOut()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    add(a, "layers.0.block.w", {2}, {1, 2});
    add(a, "layers.1.block.w", {2}, {3, 4});
    add(b, "_orig_mod.layers.0._fsdp_wrapped_module._checkpoint_wrapped_module.block.w", {2},
        {1, 2});
    add(b, "_orig_mod.layers.1._fsdp_wrapped_module.block._orig_mod.w", {2}, {3, 5});
    const CheckpointComparison comparison = compared(a, b);
    const TensorRow *row = rowOf(comparison, "layers.0.block.w");
    QVERIFY(row && row->pairedBy == PairedBy::Affix && row->status == ItemStatus::Identical);
    QCOMPARE(row->pairedReason,
             std::string("both are 'layers.0.block.w' without wrappers and prefixes"));
    row = rowOf(comparison, "layers.1.block.w");
    QVERIFY(row && row->status == ItemStatus::Different);
    const std::string text = textOf(comparison, "paired-without-wrappers");
    QVERIFY2(text.starts_with("2 tensors have another name on the other side"), text.c_str());
    QVERIFY2(text.find("layers.0._fsdp_wrapped_module.") != std::string::npos, text.c_str());
    QCOMPARE(textOf(comparison, "names-differ-by-prefix"), std::string()); // there is none
}

/// torchtitan's DCP names a moment behind the parameter, Megatron's fully_reshardable before it.
void NamePairingTest::optimizerStateMeets()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    add(a, "optimizer.state.layers.0.attention.wo.weight.exp_avg", {2}, {1, 2});
    add(a, "optimizer.state.layers.0.attention.wo.weight.exp_avg_sq", {2}, {3, 4});
    add(a, "layers.0.attention.wo.weight", {2}, {5, 6});
    add(b, "optimizer.state.exp_avg.decoder.layers.0.self_attention.linear_proj.weight", {2},
        {1, 2});
    add(b, "optimizer.state.exp_avg_sq.decoder.layers.0.self_attention.linear_proj.weight", {2},
        {3, 4});
    add(b, "decoder.layers.0.self_attention.linear_proj.weight", {2}, {5, 6});
    const CheckpointComparison comparison = compared(a, b);
    QCOMPARE(comparison.counts.identical, std::uint64_t(3));
    QVERIFY(comparison.verdict.outcome == Outcome::Identical);
    QVERIFY(comparison.verdict.sentence.find("3 tensors under another name") != std::string::npos);
    QVERIFY(textOf(comparison, "paired-by-table").starts_with("3 tensors have another name"));
    const TensorRow *row =
        rowOf(comparison, "optimizer.state.layers.0.attention.wo.weight.exp_avg");
    QVERIFY(row && row->nameB.find(".exp_avg.") != std::string::npos);
}

void NamePairingTest::whatIsThereTwiceMeetsNobody()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    add(a, "model.norm.weight", {2}, {1, 2});
    add(a, "module.language_model.norm.weight", {2}, {1, 2});
    add(b, "decoder.final_layernorm.weight", {2}, {1, 2});
    const CheckpointComparison comparison = compared(a, b);
    QCOMPARE(comparison.counts.matched(), std::uint64_t(0));
}

void NamePairingTest::strictTakesNoTable()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    add(a, "model.norm.weight", {2}, {1, 2});
    add(b, "decoder.final_layernorm.weight", {2}, {1, 2});
    CompareOptions options;
    options.pairing.strict = true;
    QCOMPARE(compared(a, b, options).counts.matched(), std::uint64_t(0));
}

/// B's other tensor of the meaning has a partner by its name: A's second would meet it by accident.
void NamePairingTest::whatHasAPartnerCounts()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    add(a, "model.embed_tokens.weight", {2}, {1, 2});
    add(b, "model.embed_tokens.weight", {2}, {1, 2});
    add(a, "module.transformer.embed_tokens.weight", {2}, {3, 4});
    add(b, "embedding.word_embeddings.weight", {2}, {3, 5});
    const CheckpointComparison comparison = compared(a, b);
    const TensorRow *row = rowOf(comparison, "module.transformer.embed_tokens.weight");
    QVERIFY(row && row->status == ItemStatus::OnlyInA);
}

/// Rows of twelve bits: what the bytes hold in another order is no row.
void NamePairingTest::subByteRowsAreNotTold()
{
    const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
    const std::vector<std::uint8_t> all = {0, 1, 2, 3, 4, 5}, first = {5, 4, 3}, second = {2, 1, 0};
    const std::string before = "model.layers.0.mlp.";
    a->add(MemorySource::pathOf("decoder.layers.0.mlp.linear_fc1.weight"), "float6_e2m3", {4, 2},
           all);
    b->add(MemorySource::pathOf(before + "gate_proj.weight"), "float6_e2m3", {2, 2}, first);
    b->add(MemorySource::pathOf(before + "up_proj.weight"), "float6_e2m3", {2, 2}, second);
    QCOMPARE(textOf(compared(a, b), "same-rows-fused"), std::string());
}

QTEST_GUILESS_MAIN(NamePairingTest)
#include "tst_name_pairing.moc"
