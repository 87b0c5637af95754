// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/crc32c.h"
#include "loaders/metrics/metrics_console.h"
#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_tensorboard.h"
#include "loaders/metrics/metrics_trainer_state.h"
#include "loaders/metrics/metrics_wandb.h"
#include "loaders/metrics/proto_reader.h"
#include "loaders/open_run.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <bit>
#include <cmath>

using namespace forkpoint;

namespace {

namespace fs = std::filesystem;
const fs::path Data = fs::path(FORKPOINT_TEST_DATA) / "metrics";

using Curve = std::map<std::int64_t, double>;

/// A metric of a bundled run, by Qt's parser: what every file beside the generator was made from.
Curve truth(const char *run, const char *metric)
{
    QFile file(QString(FORKPOINT_SAMPLES) + "/" + run + "/metrics.jsonl");
    Curve curve;
    if (!file.open(QIODevice::ReadOnly))
        return curve;
    for (const QByteArray &line : file.readAll().split('\n')) {
        const QJsonObject row = QJsonDocument::fromJson(line).object();
        if (!row.isEmpty())
            curve[row["step"].toInteger()] = row[metric].toDouble();
    }
    return curve;
}

Curve asFloat32(Curve curve)
{
    for (auto &[step, value] : curve)
        value = double(float(value));
    return curve;
}

Curve curveOf(const MetricSeries *series)
{
    Curve curve;
    if (!series)
        return curve;
    for (const MetricPoint &point : series->points)
        curve[point.step] = point.value;
    return curve;
}

struct Opened
{
    std::shared_ptr<const Run> run;
    std::shared_ptr<const TensorSource> source;
    std::string error;

    explicit Opened(const fs::path &path)
    {
        auto opened = openRun(path, {}, {});
        if (!opened.ok()) {
            error = opened.error().message();
            return;
        }
        run = *opened;
        if (run->hasOnlyMetrics())
            source = run->open(0, {}).value();
    }
    const MetricSeries *find(std::string_view name) const
    {
        if (!run)
            return nullptr;
        for (const MetricSeries &series : run->metrics()) {
            if (series.name == name)
                return &series;
        }
        return nullptr;
    }
    const Diagnostic *says(std::string_view code) const
    {
        for (const Diagnostic &diagnostic : run->diagnostics()) {
            if (diagnostic.code == code)
                return &diagnostic;
        }
        return nullptr;
    }
    std::string value(std::string_view name) const
    {
        for (const ValueRef &value : source->catalog().values) {
            if (value.name == name)
                return value.value.toDisplay();
        }
        return "absent";
    }
};

std::vector<std::byte> bytesOf(const fs::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray bytes = file.readAll();
    const auto *begin = reinterpret_cast<const std::byte *>(bytes.data());
    return {begin, begin + bytes.size()};
}

struct Read
{
    std::vector<MetricSeries> series;
    Diagnostics diagnostics;
    bool ok = false, complete = false;
    std::size_t points = 0;

    bool says(std::string_view code, std::string_view place) const
    {
        return std::any_of(diagnostics.begin(), diagnostics.end(),
                           [&](const Diagnostic &d) { return d.code == code && d.place == place; });
    }
    const MetricSeries *find(std::string_view name) const
    {
        for (const MetricSeries &one : series) {
            if (one.name == name)
                return &one;
        }
        return nullptr;
    }
};

Read finish(MetricsTable &table, const Status &status)
{
    Read result;
    result.ok = status.ok();
    result.complete = table.complete();
    result.series = table.takeSeries();
    result.diagnostics = table.takeDiagnostics();
    for (const MetricSeries &series : result.series)
        result.points += series.points.size();
    return result;
}

Read readEvents(std::vector<std::byte> bytes)
{
    MetricsTable table("events");
    const auto file = std::make_shared<MemorySource>("events", std::move(bytes));
    return finish(table, readTensorBoard({file}, table, {}));
}

Read readRun(std::vector<std::byte> bytes)
{
    MetricsTable table("run");
    const MemorySource file("run", std::move(bytes));
    CheckpointBuilder values;
    return finish(table, readWandb(file, table, values, {}));
}

Read readConsole(std::string_view text)
{
    MetricsTable table("log");
    const ByteView bytes = asBytes(text);
    return finish(table,
                  readConsoleMetrics(MemorySource("log", {bytes.begin(), bytes.end()}), table, {}));
}

/// Where the records of an event file end, by their lengths alone.
std::vector<std::size_t> recordEnds(const std::vector<std::byte> &bytes)
{
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at + 16 <= bytes.size();) {
        at += 16 + std::size_t(loadLittle<std::uint64_t>(bytes.data() + at));
        ends.push_back(at);
    }
    return ends;
}

} // namespace

class MetricLogsTest : public QObject
{
    Q_OBJECT

private slots:
    void checksums()
    {
        // RFC 3720, B.4, and the check value of the CRC catalogue.
        QCOMPARE(crc32c(asBytes("123456789")), std::uint32_t(0xE3069283));
        QCOMPARE(crc32c(std::vector<std::byte>(32)), std::uint32_t(0x8A9136AA));
    }

    void protoFields()
    {
        const auto next = [](std::string_view bytes) {
            ProtoReader reader(asBytes(bytes));
            const auto field = reader.next();
            return std::pair(field, reader.malformed());
        };
        using namespace std::string_view_literals;
        QCOMPARE(next("\x08\x96\x01"sv).first->value, std::uint64_t(150)); // the manual's example
        QCOMPARE(next("\x12\x07testing"sv).first->text(), "testing"sv);
        QCOMPARE(next("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv).first->value,
                 ~std::uint64_t(0));
        QVERIFY(!next(""sv).second);
        for (const std::string_view bad :
             {"\x08"sv, "\x08\xff"sv, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv,
              "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "\x12\x07test"sv, "\x00\x00"sv,
              "\x0b\x0c"sv, "\x0d\x00"sv, "\x09\x00\x00"sv, "\x0f"sv,
              "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv})
            QVERIFY(next(bad).second && !next(bad).first);
    }

    void tensorBoardKeepsBits()
    {
        for (const char *folder : {"A", "tensors"}) {
            const Opened run(Data / "tensorboard" / folder);
            QVERIFY2(run.run, run.error.c_str());
            QCOMPARE(run.run->format(), std::string("tensorboard"));
            const MetricSeries *loss = run.find("train/loss");
            QVERIFY(loss && loss->float32 && loss->bitsKnown);
            QCOMPARE(curveOf(loss), asFloat32(truth("A", "loss")));
            QCOMPARE(curveOf(run.find("train/grad_norm")), asFloat32(truth("A", "grad_norm")));
            QVERIFY(run.run->complete() && run.run->diagnostics().empty());
        }
    }

    void restartsCount()
    {
        Curve expected = asFloat32(truth("A", "loss"));
        expected.erase(expected.upper_bound(4), expected.end());
        for (const auto &[step, value] : asFloat32(truth("D", "loss"))) {
            if (step <= 6)
                expected[step] = value;
        }
        for (const char *folder : {"purged", "not-purged"}) {
            const Opened run(Data / "tensorboard" / folder);
            QCOMPARE(curveOf(run.find("train/loss")), expected); // step 7 was given up
            const Diagnostic *note = run.says("restarted");
            QVERIFY(note && note->severity == Severity::Note);
            QVERIFY(note->text.find("first differ at step 5") != std::string::npos);
        }
    }

    void whatIsNotReadIsSaid()
    {
        const Opened run(Data / "tensorboard" / "histogram");
        const Diagnostic *note = run.says("not-read");
        QVERIFY(note && note->text.find("histograms") != std::string::npos);
        QVERIFY(note->text.find("weight") != std::string::npos);
        QVERIFY(!run.run->complete());
    }

    void eventsCutAnywhere()
    {
        const auto whole = bytesOf(Data / "tensorboard/A/events.out.tfevents.1.node0");
        const auto ends = recordEnds(whole);
        QCOMPARE(ends.back(), whole.size());
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const Read read = readEvents({whole.begin(), whole.begin() + std::ptrdiff_t(size)});
            const auto records =
                std::size_t(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
            QVERIFY(read.ok);
            QCOMPARE(read.points, records > 0 ? records - 1 : 0);
            const std::size_t end = records > 0 ? ends[records - 1] : 0;
            const bool torn = size != end;
            QCOMPARE(read.complete, !torn);
            QCOMPARE(read.says("torn-tail", "byte " + std::to_string(end)), torn);
        }
    }

    void eventsBentAnywhere()
    {
        const auto whole = bytesOf(Data / "tensorboard/A/events.out.tfevents.1.node0");
        const auto ends = recordEnds(whole);
        const std::size_t begin = ends[4], end = ends[5];
        for (std::size_t at = begin; at < end; ++at) {
            auto bent = whole;
            bent[at] ^= std::byte(0x40);
            const Read read = readEvents(bent);
            const bool inFrame = at < begin + 12;
            QVERIFY(read.ok && !read.complete);
            QVERIFY(read.says("damaged", "byte " + std::to_string(begin)));
            QCOMPARE(read.points, inFrame ? std::size_t(4) : ends.size() - 2);
        }
    }

    void wandbRun()
    {
        const Opened run(Data / "wandb" / "A.wandb");
        QVERIFY2(run.run, run.error.c_str());
        QCOMPARE(run.run->format(), std::string("wandb"));
        const MetricSeries *loss = run.find("loss");
        QVERIFY(loss && loss->bitsKnown && !loss->float32);
        QCOMPARE(curveOf(loss), truth("A", "loss"));
        QCOMPARE(curveOf(run.find("grad_norm")), truth("A", "grad_norm"));
        QCOMPARE(curveOf(run.find("nested.accuracy")), (Curve{{13, 0.5}}));
        QVERIFY(std::isnan(run.find("bad")->points.at(0).value));
        QVERIFY(!run.find("note") && !run.find("_step"));
        QCOMPARE(run.value("config.accumulate"), std::string("forward"));
        QCOMPARE(run.value("config.lr"), std::string("0.003"));
        QCOMPARE(run.value("config.betas.1"), std::string("0.95"));
        QCOMPARE(run.value("config.model.width"), std::string("24"));
        QCOMPARE(run.value("summary.tokens"), std::string("3072"));
        QVERIFY(run.run->complete());
    }

    void wandbCutAndBent()
    {
        const auto whole = bytesOf(Data / "wandb" / "A.wandb");
        const std::size_t all = readRun(whole).points;
        QVERIFY(all > 40);
        std::size_t before = 0;
        for (std::size_t size = 7; size < whole.size(); size += 3) {
            const Read read = readRun({whole.begin(), whole.begin() + std::ptrdiff_t(size)});
            QVERIFY(read.ok && read.points >= before && read.points <= all);
            before = read.points;
        }
        for (std::size_t at = 7; at < whole.size(); at += 11) {
            auto bent = whole;
            bent[at] ^= std::byte(0x01);
            const Read read = readRun(bent);
            QVERIFY(read.ok && !read.complete && read.points <= all);
        }
    }

    void mlflowRun()
    {
        const Opened run(Data / "mlruns" / "A");
        QVERIFY2(run.run, run.error.c_str());
        QCOMPARE(run.run->format(), std::string("mlflow"));
        QVERIFY(run.find("loss")->bitsKnown);
        QCOMPARE(curveOf(run.find("loss")), truth("A", "loss"));
        QCOMPARE(curveOf(run.find("eval/grad_norm")), truth("A", "grad_norm"));
        QCOMPARE(run.value("params.accumulate"), std::string("forward"));
        // Two runs in one store: which was meant?
        const Opened both(Data / "mlruns");
        QVERIFY(!both.run && both.error.find("several runs") != std::string::npos);
    }

    void trainerStates()
    {
        const Opened run(Data / "hugging-face/D/trainer_state.json");
        QVERIFY2(run.run, run.error.c_str());
        QCOMPARE(run.run->format(), std::string("trainer-state"));
        QCOMPARE(curveOf(run.find("loss")), truth("D", "loss"));
        QVERIFY(run.find("loss")->bitsKnown);
        QCOMPARE(curveOf(run.find("learning_rate")), truth("D", "lr"));
    }

    void trainerStateOddities()
    {
        MetricsTable table("state");
        const std::string text =
            "{\"global_step\": 2, \"x\": [{\"step\": 9, \"y\": 1}], "
            "\"log_history\": [{\"step\": 1, \"loss\": NaN, \"n\": {\"z\": 1}}, "
            "{\"loss\": 2.5}, {\"step\": 2, \"loss\": 5.0356}], \"step\": 1";
        const ByteView bytes = asBytes(text);
        const Read read = finish(
            table,
            readTrainerState(MemorySource("state", {bytes.begin(), bytes.end()}), table, {}));
        QVERIFY(read.ok && !read.complete); // it ends inside of the document
        QCOMPARE(read.series.size(), std::size_t(1));
        QCOMPARE(read.points, std::size_t(2));
        QVERIFY(!read.find("loss")->bitsKnown); // the Trainer before version 5 rounds
        QVERIFY(read.says("bad-line", "line 2"));
    }

    /// Version 4 rounds the loss alone; a resumed run is told by its epochs.
    void huggingFaceConsoles()
    {
        for (const char *name : {"v4.log", "v5.log"}) {
            for (const char *which : {"A", "D"}) {
                const Opened run(Data / "hugging-face" / which / name);
                QVERIFY2(run.run, run.error.c_str());
                QCOMPARE(run.run->format(), std::string("console-log"));
                const MetricSeries *loss = run.find("loss");
                QVERIFY(loss && !loss->bitsKnown);
                const Curve expected = truth(which, "loss");
                QCOMPARE(loss->points.size(), expected.size());
                for (std::size_t i = 0; i < loss->points.size(); ++i) {
                    const auto found = expected.find(loss->points[i].step);
                    QVERIFY(found != expected.end());
                    const DecimalRange range = rangeOf(loss->printed[i]);
                    QVERIFY(range.low <= found->second && found->second <= range.high);
                }
                QCOMPARE(run.find("grad_norm")->bitsKnown, name[1] == '4');
                QVERIFY(run.says("no-steps")->severity == Severity::Note);
            }
        }
    }

    void megatronAndTorchtitan()
    {
        const Opened megatron(Data / "console" / "megatron-A.log");
        const MetricSeries *loss = megatron.find("lm loss");
        QVERIFY(loss && !loss->bitsKnown && loss->points.size() == 12);
        QCOMPARE(loss->printed[0].mantissa, std::int64_t(5035616));
        QCOMPARE(loss->printed[0].exponent, -6);
        QCOMPARE(megatron.find("grad norm")->printed[4].mantissa, std::int64_t(660));
        QVERIFY(megatron.find("consumed samples")->bitsKnown);
        const Opened titan(Data / "console" / "torchtitan-A.log");
        QCOMPARE(titan.find("loss")->printed[3].mantissa, std::int64_t(488730));
        QCOMPARE(titan.find("tps")->points[0].value, 20066.0);
        QVERIFY(!titan.find("mfu") && !titan.find("memory"));
    }

    void consoleOddities()
    {
        const Read read = readConsole(
            "no metrics here: 5\r\n"
            "[rank0]: iteration       10/     100 | lm loss: nan | x: | loss scale: 1.0 |\r\n"
            " validation loss at iteration 10 | lm loss value: 4.5E+00 | lm loss PPL: 9.0E+01 |\n"
            "iteration 11 of something | lm loss: 1.0 |\n"
            "step: 12  loss: 4.5\xff\n"
            "\x1b[32mvalidate step: 12  loss:  4.25000  tps: 1,234\x1b[39m\n"
            "a step: x  loss: 4\n"
            "iteration       12/     100 | lm loss: 4.0");
        QVERIFY(read.ok && !read.complete);
        QCOMPARE(read.find("lm loss")->points.size(), std::size_t(1));
        QVERIFY(std::isnan(read.find("lm loss")->points[0].value));
        QCOMPARE(read.find("validation lm loss value")->points[0].step, std::int64_t(10));
        QCOMPARE(read.find("validate loss")->points[0].value, 4.25);
        QVERIFY(!read.find("loss"));
        QVERIFY(read.says("torn-line", "line 8"));
        const Read python =
            readConsole("{'loss': 1.5, 'x': \n{'loss': '2.5'}\n{'a': 1}\n{'loss': 3");
        QCOMPARE(python.points, std::size_t(1));
        QVERIFY(!python.complete); // no epoch tells which step that is
        QVERIFY(readConsole(std::string(3 << 20, 'x') + "\n{'loss': 2.5}\n").points == 1);
    }

    /// What was written in full, and what only looks like a number.
    void roundedColumns()
    {
        const auto knownIn = [](std::string_view text, std::string_view metric) {
            MetricsTable table("m");
            const ByteView bytes = asBytes(text);
            const Read read = finish(
                table,
                readJsonlMetrics(MemorySource("m", {bytes.begin(), bytes.end()}), table, {}));
            return read.find(metric)->bitsKnown;
        };
        const std::string full = "{\"step\": 1, \"lr\": 0.001, \"l\": 5.035615921020508}\n"
                                 "{\"step\": 2, \"lr\": 0.001, \"l\": 4.5}\n";
        QVERIFY(knownIn(full, "l") && knownIn(full, "lr")); // a constant goes with its file
        const std::string rounded = "{\"step\": 1, \"lr\": 0.001, \"l\": 5.0356, \"n\": 256}\n"
                                    "{\"step\": 2, \"lr\": 0.002, \"l\": 4.9835, \"n\": 512}\n";
        QVERIFY(!knownIn(rounded, "l") && !knownIn(rounded, "lr") && knownIn(rounded, "n"));
        // bfloat16 losses: binary fractions all, too many for chance.
        QVERIFY(knownIn("{\"step\": 1, \"l\": 5.03125}\n{\"step\": 2, \"l\": 4.96875}\n"
                        "{\"step\": 3, \"l\": 4.9375}\n",
                        "l"));
        QVERIFY(!knownIn("{\"step\": 1, \"l\": 0.5}\n{\"step\": 2, \"l\": 0.25}\n", "l"));
    }

    void besideCheckpoints()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        for (const char *step : {"step_000004.pt", "step_000008.pt"})
            fs::copy_file(fs::path(FORKPOINT_SAMPLES) / "A" / step, root / step);
        fs::create_directories(root / "runs/today");
        fs::copy(Data / "tensorboard/A", root / "runs/today");
        fs::copy_file(Data / "console/megatron-A.log", root / "train.log");
        const Opened run(root);
        QVERIFY2(run.run, run.error.c_str());
        QVERIFY(!run.run->hasOnlyMetrics() && run.run->isSeries());
        QCOMPARE(curveOf(run.find("train/loss")), asFloat32(truth("A", "loss")));
        QVERIFY(run.find("lm loss"));
        QVERIFY(run.run->complete());
    }

    void severalLogsOfOneRun()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        // The exacter of two counts.
        fs::copy_file(Data / "hugging-face/A/v5.log", root / "out.log");
        fs::copy_file(Data / "hugging-face/A/trainer_state.json", root / "trainer_state.json");
        const Opened one(root);
        QVERIFY2(one.run, one.error.c_str());
        QCOMPARE(curveOf(one.find("loss")), truth("A", "loss"));
        QVERIFY(one.find("loss")->bitsKnown && one.says("metrics-twice"));
        // Two runs in one folder: nobody can say which was meant.
        const Opened many(Data / "console");
        QVERIFY(!many.run && many.error.find("several runs") != std::string::npos);
        const Opened folders(Data / "tensorboard");
        QVERIFY(!folders.run && folders.error.find("several runs") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(MetricLogsTest)
#include "tst_metric_logs.moc"
