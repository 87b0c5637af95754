// SPDX-License-Identifier: GPL-3.0-or-later
// What Megatron's determinism tools and its router tracer leave (tests/data/traces, tools.json): digests
// as numpy and hashlib give them, payloads that are damaged, documents that are not whole.
#include "loaders/open_run.h"
#include "loaders/traces/open_trace.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/trace_records.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <fstream>

using namespace forkpoint;
using forkpoint::test::allRecordsOf;

namespace {

namespace fs = std::filesystem;
const fs::path Data = fs::path(FORKPOINT_TEST_DATA) / "traces";

std::shared_ptr<const Trace> opened(const fs::path &path)
{
    const auto run = openRun(path, {}, {});
    return run.ok() ? (*run)->trace() : nullptr;
}

bool says(const Trace &trace, std::string_view code)
{
    return std::any_of(trace.diagnostics().begin(), trace.diagnostics().end(),
                       [&](const Diagnostic &diagnostic) { return diagnostic.code == code; });
}

std::string expected(const std::string &key)
{
    QFile file(QString::fromStdString((Data / "tools.json").string()));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll())
        .object()[QString::fromStdString(key)]
        .toString()
        .toStdString();
}

std::string fact(const Trace &trace, std::string_view name)
{
    for (const TraceFact &each : trace.streams()[0].facts) {
        if (each.name == name)
            return each.value;
    }
    return {};
}

struct Compared
{
    std::optional<FirstDivergence> first;
    Outcome outcome = Outcome::NotCompared;

    Compared(const fs::path &a, const fs::path &b)
    {
        TraceComparer comparer(opened(a), opened(b), {});
        while (comparer.advance({}))
            ;
        first = firstDivergenceIn(comparer.result());
        outcome = decide(comparer.result().facts).outcome;
    }
};

/// A copy that a test may damage.
class Copy
{
public:
    explicit Copy(const fs::path &source) : path(fs::path(m_folder.path().toStdString()) / "copy")
    {
        fs::copy(source, path, fs::copy_options::recursive);
    }

    void replace(const std::string &file, std::string_view from, std::string_view to) const
    {
        std::string text = read(file);
        const std::size_t at = text.find(from);
        QVERIFY(at != std::string::npos);
        write(file, text.replace(at, from.size(), to));
    }
    std::string read(const std::string &file) const
    {
        std::ifstream in(path / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(const std::string &file, const std::string &bytes) const
    {
        std::ofstream(path / file, std::ios::binary | std::ios::trunc) << bytes;
    }

private:
    QTemporaryDir m_folder;

public:
    fs::path path;
};

const std::string Manifest = "rank-1/manifest.json";

} // namespace

class TraceToolsTest : public QObject
{
    Q_OBJECT

private slots:
    void inventoryRecords()
    {
        const auto trace = opened(Data / "inventory/A");
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->dialect(), std::string("megatron-inventory"));
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QCOMPARE(fact(*trace, "world_size"), std::string("2"));
        QCOMPARE(fact(*trace, "runtime.tf32"), std::string("false"));
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(4));
        QCOMPARE(records[1].name, std::string("attention"));
        QCOMPARE(records[1].stage, std::string("backward"));
        QCOMPARE(records[1].caller, std::string("layers:attention"));
        QCOMPARE(records[1].inputs.size(), std::size_t(3));
        QVERIFY(records[1].inputs[0].absence == Absence::Metadata);
        QVERIFY((records[1].inputs[0].shape == std::vector<std::uint64_t>{2, 1, 4}));
        QCOMPARE(records[1].fields[0].second, std::string("2"));
    }

    void inventoriesProveNothingEqual()
    {
        QVERIFY(Compared(Data / "inventory/A", Data / "inventory/A").outcome == Outcome::Undecided);
        const Compared compared(Data / "inventory/A", Data / "inventory/B");
        QVERIFY(compared.outcome == Outcome::Different);
        QCOMPARE(compared.first->name, std::string("attention"));
        QVERIFY(compared.first->rank == 1);
    }

    void documentsThatAreNotWhole()
    {
        const struct
        {
            const char *from, *to, *code;
        } cases[] = {
            {"\"complete\": true", "\"complete\": false", "not-complete"},
            {"\"truncated\": false", "\"truncated\": true", "truncated"},
            {"\"capture_issues\": []", "\"capture_issues\": [\"x\"]", "capture-issue"},
            {"\"context_after\": {\n    \"revision\": \"0",
             "\"context_after\": {\n    \"revision\": \"1", "context-changed"},
            {"\"calls\": 3", "\"calls\": -3", "bad-entry"},
            {"\"phase\": \"forward\"", "\"phase\": \"sideways\"", "bad-entry"},
            {"\"shape\": [", "\"shape\": [-1,", "bad-entry"},
            {"\"rank\": 0", "\"rank\": \"0\"", "bad-entry"},
        };
        for (const auto &each : cases) {
            const Copy copy(Data / "inventory/A");
            copy.replace("rank-0.json", each.from, each.to);
            const auto trace = opened(copy.path);
            QVERIFY2(trace && !trace->complete() && says(*trace, each.code), each.code);
        }
    }

    void documentsCutAnywhere()
    {
        const Copy copy(Data / "collectives/A");
        const std::string whole = copy.read(Manifest);
        for (std::size_t size = 1500; size < whole.size() - 1; size += 97) {
            copy.write(Manifest, whole.substr(0, size));
            const auto trace = opened(copy.path / Manifest);
            QVERIFY(trace && !trace->complete() && says(*trace, "torn-document"));
        }
    }

    void collectiveInputs()
    {
        const auto trace = opened(Data / "collectives/A");
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->dialect(), std::string("megatron-collectives"));
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(6));
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const std::string of = "A/" + std::to_string(rank) + "/";
            const TraceRecord *own = &records[3 * rank];
            QCOMPARE(own[0].name, std::string("tensor_parallel_mappings.reduce"));
            QCOMPARE(own[0].group, std::string("ranks 0,1"));
            QCOMPARE(own[0].inputs[0].digest, expected(of + "reduce"));
            QCOMPARE(own[1].inputs[0].digest, expected(of + "gather_last"));
            QCOMPARE(own[1].call, std::uint64_t(1));
            QCOMPARE(own[2].stage, std::string("backward"));
            QCOMPARE(own[2].call, std::uint64_t(0));
            QCOMPARE(own[2].inputs[1].path, std::string("gradient"));
            QCOMPARE(own[2].inputs[1].digest, expected(of + "gradient"));
            QVERIFY(own[2].inputs[1].kind == DigestKind::Sha256);
            QVERIFY(own[2].inputs[1].payloadOffset == std::uint64_t(0));
        }
    }

    void collectiveWhoseInputDiffers()
    {
        QVERIFY(Compared(Data / "collectives/A", Data / "collectives/A").outcome
                == Outcome::Identical);
        const Compared compared(Data / "collectives/A", Data / "collectives/B");
        QVERIFY(compared.outcome == Outcome::Different);
        QCOMPARE(compared.first->name, std::string("tensor_parallel_mappings.gather_last"));
        QVERIFY(compared.first->rank == 1);
        QVERIFY(compared.first->divergenceClass == "receiver");
    }

    void collectiveElements()
    {
        const auto run = openRun(Data / "collectives/B", {}, {});
        QVERIFY(run.ok());
        QCOMPARE((*run)->steps().size(), std::size_t(1));
        QVERIFY(!(*run)->steps()[0].step && (*run)->steps()[0].isKept);
        const auto kept = (*run)->open(0, {});
        QVERIFY(kept.ok());
        QCOMPARE((*kept)->catalog().tensors.size(), std::size_t(8));
        std::optional<TensorIndex> found;
        for (TensorIndex i = 0; i < 8; ++i) {
            const TensorRef &tensor = (*kept)->catalog().tensors[i];
            if (tensor.dtype.name == "float32" && tensor.recorded->rank == 1)
                found = i;
        }
        QVERIFY(found);
        std::array<float, 6> values{};
        QVERIFY((*kept)->read(*found, 0, std::as_writable_bytes(std::span(values))).ok());
        QCOMPARE(values[4], std::nextafter(10.0F, 100.0F));
        QCOMPARE(values[5], 12.0F);
    }

    void damagedBlobs()
    {
        const std::string blob = "rank-1/" + expected("A/1/gather_last") + ".bin";
        for (int how = 0; how < 3; ++how) {
            const Copy copy(Data / "collectives/A");
            const std::string bytes = copy.read(blob);
            if (how == 0)
                fs::remove(copy.path / blob);
            else
                copy.write(blob, how == 1 ? bytes.substr(1) : bytes.substr(0, 23) + 'x');
            const auto trace = opened(copy.path);
            QVERIFY(trace && !trace->complete() && says(*trace, "bad-payload"));
            const auto records = allRecordsOf(*trace);
            QCOMPARE(records[4].inputs[0].digest, expected("A/1/gather_last"));
            QVERIFY(!records[4].inputs[0].payloadOffset && records[4].inputs[0].payload.empty());
            QVERIFY(records[3].inputs[0].payloadOffset);
        }
    }

    void digestsThatAreNone()
    {
        const Copy copy(Data / "collectives/A");
        copy.replace(Manifest, expected("A/1/reduce"), "../../etc/passwd");
        const auto trace = opened(copy.path);
        QVERIFY(trace && !trace->complete() && says(*trace, "bad-digest"));
        QVERIFY(allRecordsOf(*trace)[3].inputs[0].payload.empty());
    }

    /// `kind` stands behind a context that may be longer than what a probe sees.
    void captureWithALongContext()
    {
        const Copy copy(Data / "collectives/A");
        copy.replace(Manifest, "GPU0", std::string(10'000, 'g'));
        const auto trace = opened(copy.path);
        QVERIFY(trace);
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QVERIFY(trace->files().size() == 2);
    }

    void evidenceCases()
    {
        const auto trace = opened(Data / "evidence/A");
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->dialect(), std::string("megatron-evidence"));
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(4));
        QCOMPARE(records[0].name, std::string("kernels/test_swiglu.py::test_replay[bf16]"));
        QCOMPARE(records[0].fields[2].second, std::string("verified_deterministic"));
        QVERIFY(Compared(Data / "evidence/A", Data / "evidence/A").outcome == Outcome::Undecided);
        const Compared compared(Data / "evidence/A", Data / "evidence/B");
        QVERIFY(compared.outcome == Outcome::Different);
        QCOMPARE(compared.first->name, records[0].name);
    }

    void evidenceOfASessionThatBroke()
    {
        for (const auto &[from, to, code] :
             {std::tuple{"\"exit_status\": 0", "\"exit_status\": 2", "exit-status"},
              std::tuple{"verified_deterministic", "fine", "bad-entry"}}) {
            const Copy copy(Data / "evidence/A");
            copy.replace("rank-1-102.json", from, to);
            const auto trace = opened(copy.path);
            QVERIFY2(trace && !trace->complete() && says(*trace, code), code);
        }
    }

    void routerRecords()
    {
        const auto trace = opened(Data / "router/A");
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->dialect(), std::string("megatron-router"));
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(6));
        QVERIFY(records[0].iteration == 5 && records[5].iteration == 6);
        QCOMPARE(records[5].name, std::string("mtp.0.1"));
        for (const TraceRecord &record : records) {
            const std::string of =
                "A/" + std::to_string(*record.iteration) + "/" + record.name + "/";
            QCOMPARE(record.inputs[0].digest, expected(of + "hidden_states"));
            QCOMPARE(record.outputs[0].digest, expected(of + "logits"));
            QCOMPARE(record.outputs[1].digest, expected(of + "top_indices"));
            QVERIFY(record.outputs[1].kind == DigestKind::Sha256);
        }
    }

    void routerThatPartsInItsSecondStep()
    {
        const Compared compared(Data / "router/A", Data / "router/B");
        QVERIFY(compared.outcome == Outcome::Different);
        QVERIFY(compared.first->step == 6);
        QCOMPARE(compared.first->name, std::string("decoder.2"));
        QVERIFY(compared.first->divergenceClass == "origin");
        const auto run = openRun(Data / "router/A", {}, {});
        QCOMPARE((*run)->steps().size(), std::size_t(2));
        const auto kept = (*run)->open(0, {});
        QVERIFY(kept.ok());
        QCOMPARE((*kept)->catalog().tensors.size(), std::size_t(6));
        std::array<std::byte, 2> first{};
        QVERIFY((*kept)->read(0, 2, first).ok()); // the second element: (1 + layer 1) * step 5
        QVERIFY(first[0] == std::byte(0x20) && first[1] == std::byte(0x41)); // bfloat16 10
    }

    void routerLinesThatAreWrong()
    {
        const char *const file = "router_trace_rank0.jsonl";
        const struct
        {
            const char *from, *to, *code;
        } cases[] = {
            {"\"num_tokens\": 3", "\"num_tokens\": 4", "bad-line"},
            {"[0, 1]", "[0]", "bad-line"},
            {"[0, 1]", "[0, 4294967296]", "bad-line"},
            {"[0, 1]", "3", "bad-line"},
            {"\"hs_bytes\": 24", "\"hs_bytes\": 22", "bad-payload"},
            {"\"hs_offset\": 0", "\"hs_offset\": 18446744073709551615", "bad-payload"},
            {"\"logit_shape\": [3, 4]", "\"logit_shape\": \"x\"", "bad-line"},
            {"\"rank\": 0", "\"rank\": 7", "mixed-ranks"},
        };
        for (const auto &each : cases) {
            const Copy copy(Data / "router/A");
            copy.replace(file, each.from, each.to);
            const auto trace = opened(copy.path);
            QVERIFY2(trace && !trace->complete() && says(*trace, each.code), each.from);
        }
    }

    void routerSidecarThatIsShort()
    {
        const Copy copy(Data / "router/A");
        const std::string file = "logits_rank0.bin";
        copy.write(file, copy.read(file).substr(0, 100));
        const auto trace = opened(copy.path);
        QVERIFY(trace && !trace->complete() && says(*trace, "bad-payload"));
        const auto records = allRecordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(6));
        QVERIFY(records[3].outputs[0].payloadOffset);
        QVERIFY(records[4].outputs[0].absence == Absence::Null
                && !records[4].outputs[0].payloadOffset);
    }

    void routersThatRecordedUnlike()
    {
        const Copy copy(Data / "router/A");
        for (int i = 0; i < 6; ++i)
            copy.replace("router_trace_rank0.jsonl", "logit_offset", "left_out");
        QVERIFY(Compared(copy.path, Data / "router/A").outcome == Outcome::NotCompared);
    }
};

QTEST_APPLESS_MAIN(TraceToolsTest)
#include "tst_trace_tools.moc"
