// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_entries.h"
#include "loaders/traces/hash_leaves.h"
#include "loaders/traces/open_trace.h"
#include "loaders/traces/trace_path.h"
#include "loaders/traces/trace_payload.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

using namespace forkpoint;

namespace {

namespace fs = std::filesystem;
const fs::path Data = fs::path(FORKPOINT_TEST_DATA) / "dumps";

struct Dump
{
    std::shared_ptr<const Trace> trace;
    std::vector<TraceRecord> records;
    std::string error;

    explicit Dump(const fs::path &path)
    {
        const bool isFolder = fs::is_directory(path);
        auto opened = indexTrace(isFolder ? findTraceFiles(path, {}) : traceFileAt(path, {}), {});
        if (!opened.ok()) {
            error = opened.error().message();
            return;
        }
        trace = *opened;
        for (std::size_t s = 0; s < trace->streams().size(); ++s) {
            for (std::size_t g = 0; g < trace->streams()[s].segments.size(); ++g) {
                auto cursor = trace->open(s, g);
                for (;;) {
                    auto record = (*cursor)->next();
                    if (!record.ok() || !*record)
                        break;
                    records.push_back(std::move(**record));
                }
            }
        }
    }

    const Observation &output(std::size_t record) const { return records.at(record).outputs.at(0); }
    bool says(std::string_view code) const
    {
        return std::any_of(trace->diagnostics().begin(), trace->diagnostics().end(),
                           [&](const Diagnostic &d) { return d.code == code; });
    }
};

std::string text(const fs::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

Dump cut(const QTemporaryDir &folder, const std::string &name, const std::string &bytes)
{
    const fs::path path = fs::path(folder.path().toStdString()) / name;
    QFile file(QString::fromStdString(path.string()));
    if (file.open(QIODevice::WriteOnly | QIODevice::Truncate))
        file.write(bytes.data(), qint64(bytes.size()));
    file.close();
    return Dump(path);
}

QJsonObject expected()
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(text(Data / "expected.json")))
        .object();
}

} // namespace

class TraceDumpsTest : public QObject
{
    Q_OBJECT

private slots:
    void jsonEntries()
    {
        const auto walk = [](std::string_view json, std::size_t cap) {
            const ByteView bytes = asBytes(json);
            const auto source = std::make_shared<forkpoint::MemorySource>(
                "j", std::vector(bytes.begin(), bytes.end()));
            JsonEntryReader reader(*source, "data", 0, cap);
            std::vector<std::string> seen;
            for (;;) {
                auto entry = reader.next();
                if (!entry.ok()) {
                    seen.push_back("error");
                    return seen;
                }
                if (!*entry)
                    return seen;
                seen.push_back(((*entry)->inContainer ? "+" : "") + (*entry)->key + "="
                               + ((*entry)->tooLong ? "long" : (*entry)->text));
            }
        };
        using Seen = std::vector<std::string>;
        QCOMPARE(walk("{\"a\": 1, \"data\": {\"x\": [1, \"}\"], \"y\\\"\": {} } , \"b\":2}", 99),
                 (Seen{"a=1", "+x=[1, \"}\"]", "+y\\\"={}", "b=2"}));
        QCOMPARE(walk("{\"data\": [{\"k\": 1}, 2 ,[]]}", 99),
                 (Seen{"+={\"k\": 1}", "+=2", "+=[]"}));
        QCOMPARE(walk("{\"data\": []}", 99), Seen{});
        QCOMPARE(walk("{\"data\": [\"123456789\", 1]}", 5), (Seen{"+=long", "+=1"}));
        for (const char *bad :
             {"", "[1]", "{\"data\": [1", "{\"data\" [1]}", "{\"a\": \"x", "{a: 1}"})
            QCOMPARE(walk(bad, 99).back(), std::string("error"));
    }

    void pythonTrees()
    {
        const auto leaves = leavesOf(std::string_view("((51, None, [7, 2.5]), {'alpha': nan})"));
        QVERIFY(leaves);
        QCOMPARE(leaves->size(), std::size_t(4));
        QCOMPARE((*leaves)[2].path, std::string("[0][2][1]"));
        QVERIFY((*leaves)[1].integer && !(*leaves)[2].integer);
        QCOMPARE((*leaves)[3].path, std::string("[1]['alpha']"));
        for (const std::string_view bad : {"(1", "1)", "(1]", "", "'x'"})
            QVERIFY2(!leavesOf(bad), std::string(bad).c_str());
        QVERIFY(!leavesOf(std::string_view(std::string(100000, '('))));
        const auto layouts = layoutsOf("t$4: f32[1, 8], [t: i64[2]], dt: bf16[]| S(0), at: x[1]");
        QCOMPARE(layouts.size(), std::size_t(3));
        QCOMPARE(layouts[0].count, std::uint64_t(8));
        QCOMPARE(layouts[2].dtype, std::string("bfloat16"));
    }

    void numbersInPaths()
    {
        const auto of = [](const char *directory, const char *name) {
            return numbersInPath({nullptr, name, directory, 0});
        };
        QVERIFY(of("x", "step3/rank1/dump.json").step == 3);
        QVERIFY(of("step7", "rank_12_activations.log").rank == 12);
        QVERIFY(of("step7", "rank_12_activations.log").step == 7);
        QVERIFY(of("x", "a/nvdlfw_inspect_globalrank-5.log").rank == 5);
        QVERIFY(!of("x", "logs.json").step && !of("x", "logs.json").rank);
    }

    void debugModeInBothForms()
    {
        const Dump logs(Data / "debugmode/both/logs.json");
        const Dump lines(Data / "debugmode/both/debug_string.txt");
        QVERIFY2(logs.trace && lines.trace, (logs.error + lines.error).c_str());
        QCOMPARE(logs.trace->dialect(), std::string("torch-debugmode"));
        QVERIFY(logs.records.size() > 40);
        QCOMPARE(lines.records.size(), logs.records.size());
        for (std::size_t i = 0; i < logs.records.size(); ++i) {
            const TraceRecord &a = logs.records[i], &b = lines.records[i];
            QCOMPARE(a.name, b.name);
            QCOMPARE(a.scope, b.scope);
            for (auto side : {&TraceRecord::inputs, &TraceRecord::outputs}) {
                QCOMPARE((a.*side).size(), (b.*side).size());
                for (std::size_t k = 0; k < (a.*side).size(); ++k) {
                    QCOMPARE((a.*side)[k].digest, (b.*side)[k].digest);
                    QCOMPARE((a.*side)[k].path, (b.*side)[k].path);
                    QVERIFY((a.*side)[k].shape == (b.*side)[k].shape);
                }
            }
        }
        QCOMPARE(logs.records[0].name, std::string("aten::lift_fresh"));
        QCOMPARE(logs.output(0).digest, std::string("0000000000000033")); // 51
        QCOMPARE(logs.output(0).dtype, std::string("int64"));
        const auto source = logs.trace->sourceText(logs.records[0].place, 1000);
        QVERIFY(source.ok() && source->starts_with("{\"call_depth\""));
    }

    void debugModeKinds()
    {
        const Dump hash(Data / "debugmode/two-elements-swapped/A-hash_tensor.json");
        QVERIFY(hash.output(0).kind == DigestKind::XorLanes);
        QCOMPARE(hash.output(0).digest, std::string("7fec000000000000"));
        const Dump norm(Data / "debugmode/two-elements-swapped/A-norm.json");
        QVERIFY(norm.output(0).kind == DigestKind::Norm);
        const Dump nan(Data / "debugmode/the-same-with-a-nan/A-norm.json");
        QVERIFY(nan.output(0).digest.find("nan") != std::string::npos);
    }

    void debugModeDump()
    {
        QTemporaryDir folder;
        const std::string dump = "Total captured tensor hash ops: 2\n" + std::string(80, '=')
            + "\n\n[decoder.layers.0/op_0_aten::mm]\n"
              "  Call type: torch op\n  Call index: 14\n  Call depth: 3\n"
              "  Input hashes: [0][0]=13822780554648485888, [0][1]=46\n"
              "  Output hashes: <root>=18446744073709551615\n\n"
              "[<none>/op_0_aten::sum]\n  Call type: torch op\n"
              "  Input hashes: \n  Output hashes: <root>=\"NaN\"\n";
        const Dump whole = cut(folder, "hashes.txt", dump);
        QVERIFY2(whole.trace, whole.error.c_str());
        QCOMPARE(whole.records.size(), std::size_t(2));
        QCOMPARE(whole.records[0].scope, std::string("decoder.layers.0"));
        QCOMPARE(whole.output(0).digest, std::string("ffffffffffffffff"));
        QCOMPARE(whole.records[0].inputs[0].digest, std::string("bfd461ada0000000"));
        QVERIFY(whole.records[1].scope.empty() && whole.trace->complete());
        const Dump torn = cut(folder, "torn.txt", dump.substr(0, dump.size() - 5));
        QCOMPARE(torn.records.size(), std::size_t(1));
        QVERIFY(torn.says("torn-line") && torn.says("missing-records"));
    }

    void msprobeKinds()
    {
        const auto of = [](const char *kind) { return Dump(Data / "msprobe" / kind); };
        const Dump statistics = of("statistics"), crc = of("md5"), xored = of("xor");
        QVERIFY2(statistics.trace, statistics.error.c_str());
        QCOMPARE(statistics.trace->dialect(), std::string("msprobe"));
        QCOMPARE(statistics.records.size(), std::size_t(2));
        QCOMPARE(statistics.records[0].name, std::string("Torch.mul.0.forward"));
        QVERIFY(statistics.records[0].iteration == 0 && statistics.records[1].iteration == 1);
        QVERIFY(statistics.trace->streams()[0].coordinate.rank == 0);
        QVERIFY(statistics.output(0).kind == DigestKind::Norm);
        QCOMPARE(statistics.output(0).digest, statistics.output(1).digest); // swapped: not seen
        QVERIFY(crc.output(0).kind == DigestKind::Crc32);
        QVERIFY(crc.output(0).digest != crc.output(1).digest);
        QVERIFY(xored.output(0).kind == DigestKind::XorBytes);
        QCOMPARE(xored.output(0).digest, std::string("40c000003fa00000"));
        QCOMPARE(xored.output(0).digest, xored.output(1).digest); // swapped: not seen
        QVERIFY(xored.records[0].inputs[1].kind == DigestKind::Value);
    }

    /// construct.json and stack.json lie beside every dump.json: what they are is said once.
    void msprobeCompanions()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        for (const char *step : {"step0", "step1"}) {
            const fs::path rank = root / step / "rank0";
            fs::create_directories(rank);
            fs::copy_file(Data / "msprobe/md5" / step / "rank0/dump.json", rank / "dump.json");
            for (const char *name : {"construct.json", "stack.json", "times.json"}) {
                QFile file(QString::fromStdString((rank / name).string()));
                QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{}") == 2);
            }
        }
        const Dump dump(root);
        QVERIFY(dump.says("not-read"));
        std::size_t unknown = 0;
        for (const Diagnostic &said : dump.trace->diagnostics()) {
            QVERIFY(said.text.find("dialect") == std::string::npos
                    || said.file.ends_with("times.json"));
            unknown += said.code == "not-recognised" ? 1 : 0;
            if (said.code == "not-read") {
                QVERIFY(said.severity == Severity::Note);
                QVERIFY(said.text.find("stack.json") != std::string::npos);
                QVERIFY(said.text.ends_with(": 4 files"));
            }
        }
        QCOMPARE(unknown, std::size_t(2)); // the two times.json
    }

    void msprobeTensors()
    {
        const Dump dump(Data / "msprobe/tensor");
        const QJsonObject sha = expected();
        std::size_t seen = 0;
        for (const TraceRecord &record : dump.records) {
            for (const auto *side : {&record.inputs, &record.outputs}) {
                for (const Observation &tensor : *side) {
                    QVERIFY(tensor.kind == DigestKind::Sha256);
                    const QString file = QString::fromStdString("msprobe/tensor/" + tensor.payload);
                    QCOMPARE(QString::fromStdString(tensor.digest), sha[file].toString());
                    ++seen;
                }
            }
        }
        QCOMPARE(seen, std::size_t(6));
    }

    void msprobeCutAnywhere()
    {
        QTemporaryDir folder;
        const std::string whole = text(Data / "msprobe/md5/step0/rank0/dump.json");
        for (std::size_t size = 100; size < whole.size(); size += 7) {
            const Dump dump = cut(folder, "dump.json", whole.substr(0, size));
            if (dump.trace) // else it ends before it says what it is
                QVERIFY(!dump.trace->complete() && dump.records.size() <= 1);
        }
    }

    void sglangFiles()
    {
        const Dump dump(Data / "sglang/A");
        QVERIFY2(dump.trace, dump.error.c_str());
        QCOMPARE(dump.trace->dialect(), std::string("sglang"));
        QCOMPARE(dump.records.size(), std::size_t(3));
        QCOMPARE(dump.records[0].name, std::string("embed_tokens"));
        QCOMPARE(dump.records[1].name, std::string("layers_0"));
        QVERIFY(dump.records[2].iteration == 1 && dump.records[0].iteration == 0);
        const QJsonObject sha = expected();
        for (const TraceRecord &record : dump.records) {
            const Observation &tensor = record.outputs.at(0);
            QCOMPARE(QString::fromStdString(tensor.digest),
                     sha[QString::fromStdString("sglang/A/" + tensor.payload)].toString());
        }
    }

    void aPayloadIsReadOnceAndItsReadingStops()
    {
        const std::string name =
            "step=0___rank=0___dump_index=1___name=embed_tokens___recompute_status=disabled.pt";
        std::stop_source stopped;
        stopped.request_stop();
        TraceFile file{nullptr, name, Data / "sglang/A"};
        file.stop = stopped.get_token();
        const auto cancelled = observePayload(file, name, "value");
        QVERIFY(!cancelled.ok() && cancelled.error().code == ErrorCode::Cancelled);
        // What is known needs no reading that could be stopped.
        file.payloads = std::make_shared<PayloadDigests>();
        file.stop = {};
        const auto first = observePayload(file, name, "value");
        file.stop = stopped.get_token();
        const auto second = observePayload(file, name, "value");
        QVERIFY(first.ok() && second.ok());
        QCOMPARE(QString::fromStdString(second->digest),
                 expected()[QString::fromStdString("sglang/A/" + name)].toString());
        // Another tensor of the file is another one.
        QVERIFY(!observePayload(file, name, "other").ok());
        // A trace that was indexed knows them all; the index itself can be stopped.
        QVERIFY(!indexTrace(findTraceFiles(Data / "sglang/A", {}), stopped.get_token()).ok());
    }

    void aPayloadThatChangedIsReadAgain()
    {
        QTemporaryDir folder;
        const fs::path copy = fs::path(folder.path().toStdString()) / "a.pt";
        fs::copy_file(Data
                          / "sglang/A/step=0___rank=0___dump_index=1___name=embed_tokens___"
                            "recompute_status=disabled.pt",
                      copy);
        TraceFile file{nullptr, "a.pt", copy.parent_path()};
        file.payloads = std::make_shared<PayloadDigests>();
        const auto before = observePayload(file, "a.pt", "value");
        fs::remove(copy);
        fs::copy_file(Data
                          / "sglang/A/step=1___rank=0___dump_index=10___name=embed_tokens___"
                            "recompute_status=disabled.pt",
                      copy);
        const auto after = observePayload(file, "a.pt", "value");
        QVERIFY(before.ok() && after.ok());
        QVERIFY(before->digest != after->digest);
    }

    void tooManyInputHashes()
    {
        std::string whole = text(Data / "torchtitan/A/rank_0_activations.log");
        const std::string few = "8.119748e+02, 7.440000e+02";
        std::string many = "1.0e+00";
        for (int i = 0; i < 65'536; ++i)
            many += ", 1.0e+00";
        whole.replace(whole.find(few), few.size(), many);
        QTemporaryDir folder;
        const Dump dump = cut(folder, "rank_0_activations.log", whole);
        QVERIFY(dump.trace && dump.says("limit"));
        QCOMPARE(dump.records.at(0).inputs.size(), std::size_t(65'536));
    }

    void torchtitanBlocks()
    {
        const Dump dump(Data / "torchtitan/A");
        QVERIFY2(dump.trace, dump.error.c_str());
        QCOMPARE(dump.trace->dialect(), std::string("torchtitan-numerics"));
        QCOMPARE(dump.records.size(), std::size_t(8));
        QVERIFY(dump.trace->complete());
        const TraceRecord &first = dump.records[0];
        QCOMPARE(first.name, std::string("embed_tokens/op_0_embedding"));
        QCOMPARE(first.scope, std::string("embed_tokens"));
        QCOMPARE(first.stage, std::string("forward"));
        QVERIFY(first.outputs[0].kind == DigestKind::Printed);
        QVERIFY(first.outputs[0].digest.find("L2 norm 7.916663e+00") != std::string::npos);
        QVERIFY((first.outputs[0].shape == std::vector<std::uint64_t>{1, 8, 8}));
        QCOMPARE(first.inputs.size(), std::size_t(2));
        const auto source = dump.trace->sourceText(first.place, 10000);
        QVERIFY(source.ok() && source->starts_with("[embed_tokens") && source->ends_with(":81"));
    }

    void nvdlfwLines()
    {
        const Dump a(Data / "nvdlfw/A"), c(Data / "nvdlfw/C");
        QVERIFY2(a.trace, a.error.c_str());
        QCOMPARE(a.trace->dialect(), std::string("nvdlfw-inspect"));
        QCOMPARE(a.records.size(), std::size_t(24));
        QCOMPARE(a.records[0].name, std::string("layers.0.qkv_activation_min"));
        QCOMPARE(a.output(0).digest, std::string("-1.6860"));
        QVERIFY(a.records[0].iteration == 1);
        QVERIFY(a.trace->streams()[0].coordinate.rank == 0);
        QCOMPARE(c.records.size(), a.records.size());
    }
};

QTEST_APPLESS_MAIN(TraceDumpsTest)
#include "tst_trace_dumps.moc"
