// SPDX-License-Identifier: GPL-3.0-or-later
// Folders step/rank/name with one tensor a file: a trace. What only looks like one is a checkpoint.
#include "loaders/traces/trace_tensor_tree.h"

#include "model/compare/run_comparison.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/trace_files.h"

#include <QCryptographicHash>
#include <QtTest>

#include <cstring>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

std::string bytesOf(const std::vector<float> &values)
{
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// As numpy.save writes a vector of float32.
std::string npy(const std::vector<float> &values)
{
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': ("
        + std::to_string(values.size()) + ",), }";
    header += std::string(63 - (10 + header.size()) % 64, ' ') + '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + char(header.size() % 256)
        + char(header.size() / 256) + header + bytesOf(values);
}

std::string safetensors(const std::vector<std::string> &names, const std::vector<float> &values)
{
    const std::size_t size = values.size() * sizeof(float);
    std::string header = "{";
    for (std::size_t i = 0; i < names.size(); ++i)
        header += (i > 0 ? "," : "") + std::string("\"") + names[i]
            + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(values.size())
            + "],\"data_offsets\":[" + std::to_string(i * size) + ","
            + std::to_string((i + 1) * size) + "]}";
    header += "}";
    std::string text(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
        text[i] = char(header.size() >> (8 * i));
    text += header;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += bytesOf(values);
    return text;
}

std::string sha256(const std::vector<float> &values)
{
    const std::string bytes = bytesOf(values);
    return QCryptographicHash::hash(QByteArray(bytes.data(), qsizetype(bytes.size())),
                                    QCryptographicHash::Sha256)
        .toHex()
        .toStdString();
}

/// Three tensors of a rank in the order of execution: by name the last would be the first.
void writeRank(const Folder &folder, const std::string &place, float loss)
{
    folder.write(place + "/0001_forward.z.mb1.npy", npy({1, 2, 3}));
    folder.write(place + "/0002_loss.npy", npy({loss}));
    folder.write(place + "/0003_a.weight.grad.safetensors", safetensors({"data"}, {loss, 5}));
}

} // namespace

class TensorTreeTest : public QObject
{
    Q_OBJECT

private slots:
    void foldersOfTensorsAreATrace()
    {
        Folder folder;
        for (const char *place :
             {"step_9/rank_0", "step_9/rank_1", "step_10/rank_0", "step_10/rank_1"})
            writeRank(folder, place, 7);
        const auto trace = folder.trace();
        QVERIFY(trace);
        QCOMPARE(trace->dialect(), std::string("tensor-tree"));
        QVERIFY(trace->complete());
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QCOMPARE(trace->streams()[1].coordinate.rank, std::optional<std::int64_t>(1));
        const auto records = recordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(6));
        QCOMPARE(records[0].iteration, std::optional<std::int64_t>(9));
        QCOMPARE(records[0].name, std::string("0001_forward.z.mb1"));
        QCOMPARE(records[0].stage, std::string("forward"));
        QCOMPARE(records[0].microBatch, std::optional<std::int64_t>(1));
        QCOMPARE(records[0].outputs[0].digest, sha256({1, 2, 3}));
        QCOMPARE(*records[0].outputs[0].shape, std::vector<std::uint64_t>{3});
        QCOMPARE(records[1].stage, std::string("loss"));
        QCOMPARE(records[2].stage, std::string("grad"));
        QCOMPARE(records[2].outputs[0].digest, sha256({7, 5}));
        QCOMPARE(records[2].sequence, std::optional<std::uint64_t>(3));
        QCOMPARE(records[3].iteration, std::optional<std::int64_t>(10));
        // Whole tensors: of a step they can be opened like a checkpoint.
        QCOMPARE(trace->keptIterations().size(), std::size_t(2));
        const auto kept = trace->kept(9, {});
        QVERIFY(kept.ok());
        QCOMPARE((*kept)->catalog().tensors.size(), std::size_t(6));
    }

    void torchFilesToo()
    {
        QFile file(FORKPOINT_TEST_DATA "/torch/root_tensor.pt");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string bytes = file.readAll().toStdString();
        Folder folder;
        for (const char *name : {"0_loss", "1_backward", "2_grad"})
            folder.write(std::string("step_1/rank_0/") + name + ".pt", bytes);
        const auto trace = folder.trace();
        QVERIFY(trace);
        // By torch: tests/data/torch/expected.txt.
        QCOMPARE(recordsOf(*trace)[0].outputs[0].digest,
                 std::string("4f86974c350686b8eed79d1581ab084c1386e5f428ecc34d0cff0b9c3e5edd41"));
    }

    void theFirstIsFirstInExecution()
    {
        Folder a, b;
        writeRank(a, "iter3/rank0", 7);
        writeRank(b, "iter3/rank0", 8);
        const auto left = a.trace(), right = b.trace();
        QVERIFY(left && right);
        TraceComparer comparer(left, right, {});
        while (comparer.advance({}))
            ;
        const auto &first = comparer.result().ranks[0].first;
        QVERIFY(first);
        QCOMPARE(first->record.name,
                 std::string("0002_loss")); // by name without its number: a.weight.grad
        QVERIFY(decide(comparer.result().facts).outcome == Outcome::Different);
    }

    // A batch of rank 1 that differs: its loss with it, and the gradients of both, which are reduced.
    static void writeParted(const Folder &folder, bool isNumbered, float batch)
    {
        for (int rank = 0; rank < 2; ++rank) {
            const float own = rank == 1 ? batch : 0;
            int number = 0;
            for (const auto &[name, value] : std::vector<std::pair<std::string, float>>{
                     {"tokens", own}, {"hidden", own}, {"loss", own}, {"grad.w", batch}})
                folder.write("step_2/rank" + std::to_string(rank) + "/"
                                 + (isNumbered ? "000" + std::to_string(number++) + "_" : "") + name
                                 + ".npy",
                             npy({value}));
        }
    }

    static TraceComparison parted(bool isNumbered)
    {
        Folder a, b;
        writeParted(a, isNumbered, 1);
        writeParted(b, isNumbered, 2);
        TraceComparer comparer(a.trace(), b.trace(), {});
        while (comparer.advance({}))
            ;
        return comparer.result();
    }

    void numbersTellTheRankThatPartsFirst() // a gradient of rank 0 has a stage, the batch has none
    {
        const auto first = firstDivergenceIn(parted(true));
        QVERIFY(first);
        QCOMPARE(first->name, std::string("0000_tokens"));
        QCOMPARE(first->rank, std::optional<std::int64_t>(1));
        QVERIFY(first->sentence.find("not known") == std::string::npos);
        QVERIFY(holesBefore({{2, "batch"}}, *first).empty());
    }

    void withoutNumbersNothingIsCalledTheFirst()
    {
        const TraceComparison result = parted(false);
        const auto first = firstDivergenceIn(result);
        QVERIFY(first);
        QCOMPARE(first->name, std::string("loss")); // the first by the chain, and on the rank
        QCOMPARE(first->rank, std::optional<std::int64_t>(1));
        QVERIFY(!first->provenEqualBefore);
        QVERIFY2(first->sentence.find(
                     "one of 3 records that differ and of which the order is not known: "
                     "beside it hidden on rank 1, tokens on rank 1")
                     != std::string::npos,
                 first->sentence.c_str());
        QVERIFY(first->sentence.find("differs first") == std::string::npos);
        QVERIFY(std::any_of(result.findings.begin(), result.findings.end(),
                            [](const Finding &each) { return each.id == "first-order-unknown"; }));
    }

    /// Records that A alone has, without numbers: they have no partner, and do not "differ".
    void loneRecordsOfUnknownOrderAreCalledSo()
    {
        Folder a, b;
        for (const std::string step : {"step_1", "step_2"}) {
            for (const std::string name : {"p", "q", "x", "y", "z"}) {
                const std::string path = step + "/rank0/" + name + ".npy";
                a.write(path, npy({1}));
                if (step == "step_1" || (name != "x" && name != "y"))
                    b.write(path, npy({1}));
            }
        }
        const auto left = a.trace(), right = b.trace();
        QVERIFY(left && right);
        TraceComparer comparer(left, right, {});
        while (comparer.advance({}))
            ;
        const auto first = firstDivergenceIn(comparer.result());
        QVERIFY(first);
        const std::string &sentence = first->sentence;
        QVERIFY2(sentence.find("is one that only A has, and whether it is the first is not known: "
                               "it is one of 2 records that differ or have no partner")
                     != std::string::npos,
                 sentence.c_str());
        QVERIFY(sentence.find("beside it  ") == std::string::npos);
        QVERIFY(sentence.find("(record) differs") == std::string::npos);
    }

    void namesWithoutNumbersTellNoOrder()
    {
        Folder folder;
        for (const char *name : {"loss", "forward", "grad"})
            folder.write(std::string("12/rank=0/") + name + ".npy", npy({1}));
        const auto trace = folder.trace();
        QVERIFY(trace);
        QVERIFY(std::any_of(trace->diagnostics().begin(), trace->diagnostics().end(),
                            [](const Diagnostic &d) { return d.code == "no-order"; }));
        QVERIFY(trace->complete());
    }

    void placesSayNothingWhereASideTellsNoOrder()
    {
        Folder numbered, plain, other;
        for (const char *name : {"0001_loss", "0002_forward", "0003_grad"})
            numbered.write(std::string("12/rank0/") + name + ".npy", npy({1}));
        for (const char *name : {"loss", "forward", "grad"})
            plain.write(std::string("12/rank0/") + name + ".npy", npy({1}));
        for (const char *name : {"0001_grad", "0002_loss", "0003_forward"})
            other.write(std::string("12/rank0/") + name + ".npy", npy({1}));
        const auto outcome = [](const Folder &a, const Folder &b) {
            TraceComparer comparer(a.trace(), b.trace(), {});
            while (comparer.advance({}))
                ;
            return decide(comparer.result().facts).outcome;
        };
        QVERIFY(outcome(numbered, plain) == Outcome::Identical);
        QVERIFY(outcome(plain, numbered) == Outcome::Identical);
        QVERIFY(outcome(numbered, other) == Outcome::Different);
    }

    void aTornTensorLeavesTheTraceIncomplete()
    {
        Folder folder;
        writeRank(folder, "step1/rank0", 7);
        folder.write("step1/rank0/0004_late.npy", npy({1, 2, 3}).substr(0, 131));
        const auto trace = folder.trace();
        QVERIFY(trace);
        QVERIFY(!trace->complete());
        QCOMPARE(recordsOf(*trace).size(), std::size_t(3));
    }

    void checkpointsOfRanksAreNone_data()
    {
        QTest::addColumn<QStringList>("files");
        QTest::newRow("several tensors a file") << QStringList{
            "step_4/rank_0/model.safetensors*", "step_4/rank_0/optimizer.safetensors*",
            "step_4/rank_0/rng.safetensors*"};
        QTest::newRow("state of generators beside a model")
            << QStringList{"step_4/model.safetensors*", "step_4/rank_0/cpu.npy",
                           "step_4/rank_0/cuda.npy", "step_4/rank_0/numpy.npy"};
        QTest::newRow("few") << QStringList{"step_4/rank_0/cpu.npy", "step_4/rank_0/cuda.npy"};
        QTest::newRow("a checkpoint by its name") << QStringList{
            "checkpoint-4/rank_0/a.npy", "checkpoint-4/rank_0/b.npy", "checkpoint-4/rank_0/c.npy"};
        QTest::newRow("ranks above steps")
            << QStringList{"rank_0/step_4/a.npy", "rank_0/step_4/b.npy", "rank_0/step_4/c.npy"};
        QTest::newRow("no rank") << QStringList{"step_4/a.npy", "step_4/b.npy", "step_4/c.npy"};
    }

    void checkpointsOfRanksAreNone()
    {
        QFETCH(const QStringList, files);
        Folder folder;
        for (QString file : files) {
            const bool hasMany = file.endsWith('*');
            file.remove('*');
            folder.write(file.toStdString(),
                         file.endsWith(".npy")
                             ? npy({1, 2})
                             : safetensors(hasMany ? std::vector<std::string>{"a", "b"}
                                                   : std::vector<std::string>{"a"},
                                           {1, 2}));
        }
        const auto run = openRun(folder.path(), {}, {});
        QVERIFY(!run.ok() || !(*run)->trace());
    }
};

QTEST_APPLESS_MAIN(TensorTreeTest)
#include "tst_tensor_tree.moc"
