// SPDX-License-Identifier: GPL-3.0-or-later
// What a path is: files, checkpoints in directories, series by step, hostile trees.
#include "loaders/open_run.h"
#include "loaders/run_directory.h"
#include "loaders/storage/platform_directory.h"

#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace forkpoint;
namespace fs = std::filesystem;

namespace {

/// A safetensors file of one float32 tensor, written by hand after the format's description.
std::string safetensors(const std::string &name, float value)
{
    const std::string header =
        "{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    std::string file(8, '\0');
    file[0] = char(header.size());
    file += header;
    file.append(reinterpret_cast<const char *>(&value), 4);
    return file;
}

/// A directory that is filled by the test.
class Tree
{
public:
    fs::path path(const std::string &name = {}) const
    {
        const fs::path root = m_directory.path().toStdString();
        return name.empty() ? root : root / name;
    }
    const Tree &file(const std::string &name, const std::string &bytes) const
    {
        fs::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << bytes;
        return *this;
    }
    const Tree &tensor(const std::string &name, const std::string &tensor = "w",
                       float value = 1) const
    {
        return file(name, safetensors(tensor, value));
    }
    const Tree &folder(const std::string &name) const
    {
        fs::create_directories(path(name));
        return *this;
    }
    const Tree &link(const std::string &name, const std::string &target) const
    {
        fs::create_symlink(target, path(name));
        return *this;
    }

private:
    QTemporaryDir m_directory;
};

using RunPtr = std::shared_ptr<const Run>;
using Source = std::shared_ptr<const TensorSource>;

Result<RunPtr> tryRun(const fs::path &path, OpenOptions options = {})
{
    return openRun(path, options, {});
}

std::vector<Step> stepsOf(const Run &run, bool complete = true)
{
    std::vector<Step> steps;
    for (const RunStep &step : run.steps()) {
        if (step.complete == complete)
            steps.push_back(step.step.value_or(-1));
    }
    return steps;
}

std::vector<std::string> namesOf(const TensorSource &source)
{
    std::vector<std::string> names;
    for (const TensorRef &tensor : source.catalog().tensors)
        names.push_back(tensor.name);
    return names;
}

const Diagnostic *find(const Diagnostics &diagnostics, std::string_view code,
                       std::string_view file = {})
{
    for (const Diagnostic &diagnostic : diagnostics) {
        if (diagnostic.code == code && (file.empty() || diagnostic.file == file))
            return &diagnostic;
    }
    return nullptr;
}

bool mentions(const Diagnostics &diagnostics, std::string_view text)
{
    return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic &d) {
        return d.text.find(text) != std::string::npos || d.file.find(text) != std::string::npos;
    });
}

std::optional<std::vector<std::byte>> bytesOf(const TensorSource &source, TensorIndex index)
{
    std::vector<std::byte> bytes(source.catalog().tensors[index].bytes);
    if (!source.read(index, 0, bytes).ok())
        return std::nullopt;
    return bytes;
}

std::optional<float> floatOf(const TensorSource &source, const std::string &name)
{
    const auto index = source.catalog().findTensor(name);
    const auto bytes = index ? bytesOf(source, *index) : std::nullopt;
    if (!bytes || bytes->size() != 4)
        return std::nullopt;
    float value = 0;
    std::memcpy(&value, bytes->data(), 4);
    return value;
}

/// Opens what must open, and its last step.
struct Opened
{
    explicit Opened(const fs::path &path, OpenOptions options = {})
    {
        auto result = tryRun(path, options);
        if (!result.ok()) {
            error = result.error().message();
            return;
        }
        run = *result;
        auto last =
            run->steps().empty() ? Result<Source>(Error{}) : run->open(run->steps().size() - 1, {});
        if (last.ok())
            source = *last;
        else
            error = last.error().message();
    }
    std::string error;
    RunPtr run;
    Source source;
};

using Names = std::vector<std::string>;
using Steps = std::vector<Step>;

} // namespace

class OpenRunTest : public QObject
{
    Q_OBJECT

private slots:
    void bundledSeries()
    {
        const Opened a(fs::path(FORKPOINT_SAMPLES) / "A");
        QVERIFY2(a.source, a.error.c_str());
        QCOMPARE(stepsOf(*a.run), (Steps{4, 8, 12}));
        QCOMPARE(a.run->format(), "series of torch");
        QCOMPARE(a.run->steps()[0].path, "step_000004.pt");
        QVERIFY(a.run->isSeries());
        QVERIFY(a.source->catalog().findTensor("model.lm_head.weight"));
        const auto &metrics = a.run->metrics();
        const auto loss = std::find_if(metrics.begin(), metrics.end(),
                                       [](const MetricSeries &m) { return m.name == "loss"; });
        QVERIFY(loss != metrics.end());
        QCOMPARE(loss->file, "metrics.jsonl");
        QCOMPARE(loss->points.front().value, 5.035615921020508);
        QVERIFY(a.run->diagnostics().empty());
    }

    /// SHA-256 of every tensor as safetensors and torch themselves read them.
    void realShards_data()
    {
        QTest::addColumn<QString>("open");
        QTest::addColumn<QString>("expected");
        QTest::newRow("safetensors") << "sharded"
                                     << "sharded";
        QTest::newRow("index") << "sharded/model.safetensors.index.json"
                               << "sharded";
        QTest::newRow("bin") << "bin_sharded"
                             << "bin_sharded";
    }

    void realShards()
    {
        QFETCH(QString, open);
        QFETCH(QString, expected);
        const QString folder = FORKPOINT_TEST_DATA "/hf/";
        QFile file(folder + "expected.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject want =
            QJsonDocument::fromJson(file.readAll()).object()[expected].toObject();
        const Opened hf((folder + open).toStdString());
        QVERIFY2(hf.source, hf.error.c_str());
        const auto &tensors = hf.source->catalog().tensors;
        QCOMPARE(tensors.size(), std::size_t(want.size()));
        QVERIFY(hf.source->catalog().complete);
        for (TensorIndex i = 0; i < tensors.size(); ++i) {
            const auto bytes = bytesOf(*hf.source, i);
            QVERIFY2(bytes, tensors[i].name.c_str());
            const QByteArrayView view(reinterpret_cast<const char *>(bytes->data()),
                                      qsizetype(bytes->size()));
            const auto digest =
                QCryptographicHash::hash(view.toByteArray(), QCryptographicHash::Sha256);
            QCOMPARE(QString::fromUtf8(digest.toHex()),
                     want[QString::fromStdString(tensors[i].name)].toString());
            QVERIFY(tensors[i].files.front().find('/') == std::string::npos);
        }
        for (const Diagnostic &diagnostic : hf.source->catalog().diagnostics)
            QVERIFY2(diagnostic.severity == Severity::Note, diagnostic.text.c_str());
    }

    void indexOfHostileShards_data()
    {
        QTest::addColumn<QString>("shard");
        QTest::addColumn<QString>("code");
        QTest::newRow("traversal") << "../outside.safetensors"
                                   << "refused";
        QTest::newRow("absolute") << "/etc/passwd"
                                  << "refused";
        QTest::newRow("backslash") << "..\\\\outside.safetensors"
                                   << "refused";
        QTest::newRow("nul") << "a\\u0000b"
                             << "refused";
        QTest::newRow("link out") << "out.safetensors"
                                  << "refused";
        QTest::newRow("loop") << "loop.safetensors"
                              << "refused";
        QTest::newRow("missing") << "gone.safetensors"
                                 << "not-found";
        QTest::newRow("fifo") << "fifo"
                              << "refused";
        QTest::newRow("folder") << "folder"
                                << "refused";
        QTest::newRow("garbage") << "garbage"
                                 << "unsupported";
        QTest::newRow("wrong") << "wrong.safetensors"
                               << "mismatch";
    }

    void indexOfHostileShards()
    {
        QFETCH(QString, shard);
        QFETCH(QString, code);
        Tree tree;
        tree.tensor("outside.safetensors", "b").tensor("d/m.safetensors", "a");
        tree.tensor("d/wrong.safetensors", "other").file("d/garbage", "garbage").folder("d/folder");
        tree.link("d/out.safetensors", "../outside.safetensors");
        tree.link("d/loop.safetensors", "loop.safetensors");
        QCOMPARE(::mkfifo(tree.path("d/fifo").c_str(), 0600), 0);
        tree.file("d/model.safetensors.index.json",
                  "{\"weight_map\": {\"a\": \"m.safetensors\", \"b\": \"" + shard.toStdString()
                      + "\"}}");
        const Opened hf(tree.path("d"));
        QVERIFY2(hf.source, hf.error.c_str());
        const Catalog &catalog = hf.source->catalog();
        QCOMPARE(floatOf(*hf.source, "a"), std::optional(1.0f));
        const auto b = catalog.findTensor("b");
        QVERIFY(b && catalog.tensors[*b].unreadable);
        QVERIFY(!catalog.complete);
        QCOMPARE(QString::fromUtf8(toString(catalog.tensors[*b].unreadable->code).data()), code);
        const Diagnostic *told = find(catalog.diagnostics, code.toStdString());
        QVERIFY(told);
        QVERIFY(mentions(catalog.diagnostics, "not readable: 'b'"));
        QVERIFY(!hf.source->read(*b, 0, {}).ok());
    }

    void tensorIsNotTakenFromAnotherShard()
    {
        Tree tree;
        tree.tensor("m.safetensors", "a", 1).tensor("n.safetensors", "a", 2);
        tree.tensor("unlisted.safetensors", "c");
        tree.file("model.safetensors.index.json",
                  R"({"weight_map": {"a": "n.safetensors", "b": "m.safetensors"}})");
        const Opened hf(tree.path());
        QVERIFY2(hf.source, hf.error.c_str());
        QCOMPARE(namesOf(*hf.source), (Names{"a", "b", "unlisted.c"})); // a part of its own
        QCOMPARE(floatOf(*hf.source, "a"), std::optional(2.0f));
        const Diagnostics &said = hf.source->catalog().diagnostics;
        QVERIFY(find(said, "mismatch", "m.safetensors"));
        QVERIFY(find(said, "part", "unlisted.safetensors"));
    }

    void unnamedTensorIsListed()
    {
        Tree tree;
        tree.tensor("m.safetensors", "extra").tensor("n.safetensors", "a");
        tree.file("model.safetensors.index.json",
                  R"({"metadata": {"total_size": 5},
                      "weight_map": {"a": "n.safetensors", "x": "m.safetensors"}})");
        const Opened hf(tree.path());
        QVERIFY2(hf.source, hf.error.c_str());
        QCOMPARE(namesOf(*hf.source), (Names{"a", "extra", "x"}));
        QVERIFY(mentions(hf.source->catalog().diagnostics, "does not name"));
    }

    void totalSizeIsANote()
    {
        Tree tree;
        tree.tensor("n.safetensors", "a")
            .file("model.safetensors.index.json",
                  R"({"metadata": {"total_size": 5}, "weight_map": {"a": "n.safetensors"}})");
        const Opened hf(tree.path());
        QVERIFY2(hf.source, hf.error.c_str());
        const Diagnostic *told = find(hf.source->catalog().diagnostics, "mismatch");
        QVERIFY(told && told->severity == Severity::Note);
        QVERIFY(told->text.find("says 5 bytes, the tensors have 4") != std::string::npos);
    }

    void indexItselfIsRefused()
    {
        Tree tree;
        tree.file("model.safetensors.index.json",
                  R"({"weight_map": {"a": "model.safetensors.index.json"}})");
        QVERIFY(!Opened(tree.path()).source);
        QVERIFY(!Opened(tree.path("model.safetensors.index.json")).source);
    }

    void partsWithPrefixes()
    {
        Tree tree;
        tree.tensor("model.safetensors", "w", 1).tensor("optimizer.pt", "m", 2);
        tree.tensor("pytorch_model.bin", "w", 3).file("README.md", "text");
        tree.file("trainer_state.json", R"({"global_step": 4, "log_history": [{"loss": 0.5}],
                                            "none": null, "list": []})");
        tree.file("config.json", "{\"a\": 1, \"a\": 2}").file("torn.pt", "");
        const Opened parts(tree.path());
        QVERIFY2(parts.source, parts.error.c_str());
        QVERIFY(!parts.run->isSeries());
        QCOMPARE(namesOf(*parts.source), (Names{"optimizer.m", "w"}));
        QCOMPARE(floatOf(*parts.source, "w"), std::optional(1.0f));
        const Catalog &catalog = parts.source->catalog();
        Names values;
        for (const ValueRef &value : catalog.values)
            values.push_back(value.name + "=" + value.value.toDisplay());
        QVERIFY(std::count(values.begin(), values.end(), "trainer_state.global_step=4"));
        QVERIFY(std::count(values.begin(), values.end(), "trainer_state.log_history.0.loss=0.5"));
        QVERIFY(mentions(catalog.diagnostics, "README.md"));
        QVERIFY(mentions(catalog.diagnostics, "torn.pt"));
        QVERIFY(find(catalog.diagnostics, "ignored", "pytorch_model.bin"));
        QVERIFY(find(catalog.diagnostics, "malformed", "config.json"));
    }

    void longListsOfJsonAreFolded()
    {
        std::string list = "0";
        for (int i = 1; i < 65; ++i)
            list += "," + std::to_string(i);
        Tree tree;
        tree.tensor("model.safetensors").file("config.json", "{\"l\": [" + list + "]}");
        const Opened opened(tree.path());
        QVERIFY2(opened.source, opened.error.c_str());
        const auto &values = opened.source->catalog().values;
        QCOMPARE(values.size(), std::size_t(1));
        QCOMPARE(values[0].value.count, quint64(65));
        // hashlib.sha256(struct.pack('<65q', *range(65))).hexdigest()
        QCOMPARE(values[0].value.digest,
                 "7bb4b16bbdc1c6ef40694d9ec165b4c114ae0bf0d9b863130560fa99163585f9");
    }

    void onlyTensorFileIsTheModel()
    {
        Tree tree;
        tree.tensor("anything.xyz", "w").file("notes.txt", "text");
        const Opened one(tree.path());
        QVERIFY2(one.source, one.error.c_str());
        QCOMPARE(namesOf(*one.source), (Names{"w"}));
    }

    void shardsWithoutIndex()
    {
        Tree tree;
        tree.tensor("model-00001-of-00003.safetensors", "a");
        tree.tensor("model-00003-of-00003.safetensors", "c");
        const Opened shards(tree.path());
        QVERIFY2(shards.source, shards.error.c_str());
        QCOMPARE(namesOf(*shards.source), (Names{"a", "c"}));
        QVERIFY(!shards.source->catalog().complete);
        QVERIFY(mentions(shards.source->catalog().diagnostics, "2 of 3"));
    }

    void rawListsFilesAsTheyAre()
    {
        const QString folder = FORKPOINT_TEST_DATA "/hf/sharded";
        const Opened raw(folder.toStdString(), {true, {}});
        QVERIFY2(raw.source, raw.error.c_str());
        for (const std::string &name : namesOf(*raw.source))
            QVERIFY(name.starts_with("model-0000"));
    }

    void seriesBySteps()
    {
        Tree tree;
        for (const char *name :
             {"step_2.safetensors", "step_10.safetensors", "step_9.safetensors",
              "step_000009.safetensors", "step_12.safetensors.tmp", "step_10.safetensors.tmp",
              "last.safetensors", "epoch_1.safetensors"})
            tree.tensor(name);
        tree.file("step_11.safetensors", "");
        const Opened series(tree.path());
        QVERIFY(series.run);
        QCOMPARE(stepsOf(*series.run), (Steps{2, 9, 10}));
        QCOMPARE(stepsOf(*series.run, false), (Steps{11, 12}));
        QCOMPARE(series.run->format(), "series of safetensors");
        const Diagnostics &said = series.run->diagnostics();
        QVERIFY(find(said, "repeated-step", "step_9.safetensors"));
        QVERIFY(series.run->open(1, {}).ok()); // two entries, one content
        QVERIFY(find(said, "interrupted-save", "step_12.safetensors.tmp"));
        QVERIFY(find(said, "interrupted-save", "step_10.safetensors.tmp"));
        const Diagnostic *empty = find(said, "unreadable-step", "step_11.safetensors");
        QVERIFY(empty && empty->severity == Severity::Error);
        QVERIFY(!series.run->steps()[3].isUnfinished() && series.run->steps()[4].isUnfinished());
        QVERIFY(mentions(said, "last.safetensors"));
        QVERIFY(mentions(said, "epoch_1.safetensors"));
        // A step that cannot be opened does not stop the others.
        QVERIFY(!series.run->open(3, {}).ok());
        QVERIFY(series.run->open(0, {}).ok());
        QVERIFY(!series.run->open(99, {}).ok());
    }

    /// Which of two unlike entries of one step is meant nobody knows.
    void entriesOfOneStep()
    {
        Tree tree;
        tree.tensor("step_4.safetensors", "w", 1).tensor("step_04.safetensors", "w", 2);
        tree.tensor("step_8.safetensors").file("step_008.safetensors", "cut");
        const Opened series(tree.path());
        QVERIFY(series.run);
        QCOMPARE(stepsOf(*series.run), (Steps{4, 8}));
        const auto four = series.run->open(0, {});
        QVERIFY(!four.ok() && four.error().code == ErrorCode::Mismatch);
        for (const char *part : {"step_04.safetensors", "step_4.safetensors", "bytes differ"})
            QVERIFY2(four.error().message().find(part) != std::string::npos, part);
        QVERIFY(series.run->open(1, {}).ok()); // the other one is no checkpoint
        QVERIFY(find(series.run->diagnostics(), "unreadable-step", "step_008.safetensors"));
        QVERIFY(series.run->complete());

        // Unlike entries stay so for this run, equal ones too: neither is read for each look.
        tree.tensor("step_04.safetensors", "w", 1);
        QVERIFY(!series.run->open(0, {}).ok());
        const Opened again(tree.path());
        QVERIFY(again.run->open(0, {}).ok());
        tree.tensor("step_04.safetensors", "w", 2);
        QVERIFY(again.run->open(0, {}).ok());

        // A stop is heeded before all entries were looked at, and no run comes of it.
        std::stop_source stopped;
        stopped.request_stop();
        const auto listing = listDirectory(tree.path(), "tree");
        QVERIFY(listing.ok());
        const auto plan = planSeries(tree.path(), *listing, {}, stopped.get_token());
        QVERIFY(plan && !find(plan->diagnostics, "unreadable-step", "step_008.safetensors"));
        const auto run = openRun(tree.path().string(), {}, stopped.get_token());
        QVERIFY(!run.ok() && run.error().code == ErrorCode::Cancelled);

        Tree folders;
        folders.tensor("checkpoint-4/model.safetensors").tensor("checkpoint-04/model.safetensors");
        const Opened two(folders.path());
        QVERIFY(two.run && two.run->steps().size() == 1);
        QVERIFY(!two.run->open(0, {}).ok());
    }

    void seriesOfDirectories()
    {
        Tree tree;
        tree.tensor("checkpoint-2/model.safetensors").tensor("checkpoint-10/model.safetensors");
        tree.tensor("checkpoint-2/optimizer.pt", "m").folder("checkpoint-12");
        tree.tensor("model.safetensors").file("trainer_state.json", "{}");
        tree.tensor("tmp-checkpoint-14/model.safetensors");
        const Opened series(tree.path());
        QVERIFY(series.run);
        QCOMPARE(stepsOf(*series.run), (Steps{2, 10}));
        QCOMPARE(stepsOf(*series.run, false), (Steps{12, 14}));
        const auto first = series.run->open(0, {});
        QVERIFY(first.ok());
        QCOMPARE(namesOf(**first), (Names{"optimizer.m", "w"}));
        QCOMPARE((*first)->catalog().tensors[1].files.front(), "checkpoint-2/model.safetensors");
        QVERIFY(mentions(series.run->diagnostics(), "model.safetensors"));
    }

    void pointersToTheLatest()
    {
        Tree tree;
        tree.tensor("iter_0000002/model.safetensors").tensor("iter_0000004/model.safetensors");
        tree.file("latest_checkpointed_iteration.txt", "4").file("notes.txt", "x");
        const Opened right(tree.path());
        QVERIFY(right.run && right.run->steps().size() == 2);
        QVERIFY(!mentions(right.run->diagnostics(), "latest"));
        QVERIFY(mentions(right.run->diagnostics(), "notes.txt"));
        tree.file("latest_checkpointed_iteration.txt", "2");
        const Opened older(tree.path());
        QVERIFY(
            mentions(older.run->diagnostics(), "names step 2, the newest complete one here is 4"));
        Tree holding;
        holding.tensor("iter_0000002/model.safetensors").tensor("iter_0000004/model.safetensors");
        holding.tensor("latest");
        const Opened tensors(holding.path());
        QVERIFY(mentions(tensors.run->diagnostics(), "not a part of it: latest"));
    }

    void numberedModelsOfOneCheckpoint()
    {
        Tree tree;
        tree.tensor("model.safetensors", "a").tensor("model_1.safetensors", "b");
        tree.tensor("model_2.safetensors", "c");
        const Opened parts(tree.path());
        QVERIFY2(parts.source, parts.error.c_str());
        QVERIFY(!parts.run->isSeries());
        QCOMPARE(namesOf(*parts.source), (Names{"a", "model_1.b", "model_2.c"}));
    }

    /// best beside last is no checkpoint of two parts; what numbers or names tell apart is.
    void filesOfTheSameTensors()
    {
        Tree two, parts, models, some;
        const Opened best(two.tensor("best.safetensors").tensor("last.safetensors", "w", 2).path());
        QVERIFY(!best.source);
        for (const char *part : {"holds 2", "best.safetensors, last.safetensors", "--raw"})
            QVERIFY2(best.error.find(part) != std::string::npos, best.error.c_str());
        QCOMPARE(namesOf(*Opened(two.path(), {true, {}}).source),
                 (Names{"best.safetensors.w", "last.safetensors.w"}));

        const Opened joined(parts.tensor("p.safetensors", "a").tensor("q.safetensors", "b").path());
        QCOMPARE(namesOf(*joined.source), (Names{"p.a", "q.b"}));
        QVERIFY(joined.source->catalog().complete);
        models.tensor("model.safetensors").tensor("ema.safetensors").tensor("net_1.safetensors");
        models.tensor("net_2.safetensors");
        QVERIFY(Opened(models.path()).source->catalog().complete);

        some.tensor("a.safetensors").tensor("b.safetensors").tensor("c.safetensors", "other");
        const Opened overlap(some.path());
        QVERIFY(overlap.source && !overlap.source->catalog().complete);
        const Diagnostic *said = find(overlap.source->catalog().diagnostics, "several-checkpoints");
        QVERIFY(said && said->text.find("a.safetensors and b.safetensors") != std::string::npos);
    }

    void bareNumbersAgree()
    {
        Tree tree;
        tree.tensor("model_0002.safetensors").tensor("model_0010.safetensors");
        QCOMPARE(stepsOf(*Opened(tree.path()).run), (Steps{2, 10}));
        // A collection of files is no series because two of them end in numbers.
        for (const char *name : {"a.safetensors", "b.safetensors", "c.safetensors"})
            tree.tensor(name);
        const Opened collection(tree.path());
        QVERIFY2(collection.source, collection.error.c_str());
        QVERIFY(!collection.run->isSeries());
    }

    void manyIncompleteStepsAreSaidOnce()
    {
        Tree tree;
        tree.tensor("step_1.st");
        for (int i = 2; i < 100; ++i)
            tree.file("step_" + std::to_string(i) + ".st", "");
        const Opened run(tree.path());
        QVERIFY2(run.run, run.error.c_str());
        QCOMPARE(stepsOf(*run.run), (Steps{1}));
        QCOMPARE(run.run->diagnostics().size(), std::size_t(6));
        QVERIFY(mentions(run.run->diagnostics(), "93 more"));
    }

    void distributedItemsAreNoSteps()
    {
        Tree tree;
        for (int i = 0; i < 4; ++i)
            tree.tensor("__0_" + std::to_string(i) + ".distcp");
        tree.file(".metadata", "x");
        const Opened dcp(tree.path());
        QVERIFY(dcp.run && !dcp.run->isSeries());
        QVERIFY(dcp.error.find(".metadata") != std::string::npos);
    }

    void modelsOfOneStemAreNoCopies()
    {
        Tree tree;
        tree.tensor("model.pdopt", "a").tensor("model.pdparams", "b");
        const Opened parts(tree.path());
        QVERIFY2(parts.source, parts.error.c_str());
        QCOMPARE(parts.source->catalog().tensors.size(), std::size_t(2));
    }

    void checkpointsInASubfolder()
    {
        Tree tree;
        tree.tensor("checkpoints/step_1.st").tensor("checkpoints/step_2.st").folder("logs");
        tree.file("log.jsonl", "{\"step\": 1, \"loss\": 2}\n");
        const Opened run(tree.path());
        QVERIFY2(run.source, run.error.c_str());
        QCOMPARE(stepsOf(*run.run), (Steps{1, 2}));
        QCOMPARE(run.run->steps()[0].path, "checkpoints/step_1.st");
        QCOMPARE(run.run->metrics().size(), std::size_t(1));
        QVERIFY(find(run.run->diagnostics(), "subfolder"));
    }

    void linksAndSpecialFiles()
    {
        Tree tree;
        tree.tensor("out/step_9.st").tensor("run/step_1.st").link("run/step_2.st", "step_1.st");
        tree.link("run/step_3.st", "../out/step_9.st").link("run/step_4.st", "step_4.st");
        tree.link("run/step_5", ".").link("run/loop", "..");
        QCOMPARE(::mkfifo(tree.path("run/step_6.st").c_str(), 0600), 0);
        const Opened run(tree.path("run"));
        QVERIFY2(run.source, run.error.c_str());
        QCOMPARE(stepsOf(*run.run), (Steps{1, 2}));
        QVERIFY(find(run.run->diagnostics(), "link"));
        QVERIFY(find(run.run->diagnostics(), "special-file"));
        QVERIFY(!tryRun(tree.path("run/step_6.st")).ok()); // and does not wait for a writer
    }

    void nothingThere()
    {
        Tree tree;
        tree.folder("empty").file("text/readme.txt", "text").file("garbage", "garbage");
        for (const char *name : {"empty", "text", "garbage", "gone"}) {
            const auto run = tryRun(tree.path(name));
            QVERIFY2(!run.ok(), name);
            QVERIFY(!run.error().text.empty());
            QVERIFY(run.error().file.find(name) != std::string::npos);
        }
        QVERIFY(tryRun(tree.path("text")).error().text.find("readme.txt") != std::string::npos);
    }

    void unreadableDirectory()
    {
        if (::geteuid() == 0)
            QSKIP("permissions mean nothing to root");
        Tree tree;
        tree.folder("locked");
        fs::permissions(tree.path("locked"), fs::perms::none);
        QVERIFY(!tryRun(tree.path("locked")).ok());
        fs::permissions(tree.path("locked"), fs::perms::owner_all);
    }

    void foreignDirectoriesAreNamed()
    {
        Tree tree;
        tree.file(".metadata", "x").file("__0_0.distcp", "x");
        const Opened dcp(tree.path());
        QVERIFY(!dcp.source);
        QVERIFY(dcp.error.find(".metadata") != std::string::npos);
    }

    /// What was not opened although it may hold state must keep a comparison from saying "equal".
    void whatIsLeftOutIsNoPass_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<bool>("complete");
        int row = 0;
        for (const auto &[name, complete] : {std::pair{"nothing left out", true},
                                             {"text and configuration", true},
                                             {"an empty file named like tensors", false},
                                             {"garbage named like tensors", false},
                                             {"a link out of it", false},
                                             {"a folder with tensors", false},
                                             {"a deeper folder with tensors", false},
                                             {"a folder with texts", true},
                                             {"a damaged part", false},
                                             {"shards without an index, one missing", false},
                                             {"two series", false},
                                             {"one step twice, equal", true},
                                             {"a file beside a series", false},
                                             {"a text beside a series", true},
                                             {"two folders of checkpoints", false},
                                             {"a whole model beside its index", false},
                                             {"a model in two formats", true}})
            QTest::newRow(name) << row++ << complete;
    }

    void whatIsLeftOutIsNoPass()
    {
        QFETCH(int, what);
        QFETCH(bool, complete);
        Tree tree, outside;
        outside.tensor("x.safetensors");
        const auto one = [&]() -> const Tree & { return tree.tensor("model.safetensors"); };
        const auto series = [&](const std::string &folder) {
            tree.tensor(folder + "step_4.safetensors").tensor(folder + "step_8.safetensors");
        };
        switch (what) {
        case 0: one(); break;
        case 1: one().file("README.md", "words").file("config.json", "{}"); break;
        case 2: one().file("optimizer.pt", ""); break;
        case 3: one().file("optimizer.pt", "garbage, long enough to be something"); break;
        case 4: one().link("optimizer.safetensors", outside.path("x.safetensors")); break;
        case 5: one().tensor("unet/part.safetensors"); break;
        case 6: one().tensor("a/b/part.safetensors"); break;
        case 7: one().file("a/b/readme.txt", "words"); break;
        case 8: one().file("other.safetensors", safetensors("w", 1).substr(0, 20)); break;
        case 9: tree.tensor("model-00001-of-00002.safetensors"); break;
        case 10:
            for (const std::string step : {"4", "8"})
                tree.tensor("model_step_" + step + ".pt").tensor("optim_step_" + step + ".pt");
            break;
        case 11:
            series({});
            tree.tensor("step_000004.safetensors");
            break;
        case 12:
            series({});
            tree.tensor("final.safetensors");
            break;
        case 13:
            series({});
            tree.file("notes.txt", "words");
            break;
        case 14:
            series("checkpoints/");
            series("weights/");
            break;
        case 15:
            one().tensor("model-00001-of-00001.safetensors");
            tree.file("model.safetensors.index.json",
                      R"({"weight_map": {"w": "model-00001-of-00001.safetensors"}})");
            break;
        case 16: one().tensor("pytorch_model.bin"); break;
        }
        const Opened opened(tree.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QCOMPARE(opened.run->complete() && opened.source->catalog().complete, complete);
        if (!complete) {
            QVERIFY(!opened.run->diagnostics().empty()
                    || !opened.source->catalog().diagnostics.empty());
        }
    }

    void metricsAlone()
    {
        Tree tree;
        tree.file("m.csv", "step,loss\n1,2.5\n");
        for (const fs::path &path : {tree.path(), tree.path("m.csv")}) {
            const Opened run(path);
            QVERIFY(run.run && run.run->hasOnlyMetrics());
            QCOMPARE(run.run->metrics().size(), std::size_t(1));
            QCOMPARE(run.run->metrics()[0].points[0].value, 2.5);
        }
    }

    void manyEntries()
    {
        Tree tree;
        const fs::path one = tree.tensor("one.st").path("one.st");
        for (int i = 0; i < 20000; ++i)
            fs::create_hard_link(one, tree.path("step_" + std::to_string(i) + ".st"));
        const Opened run(tree.path());
        QVERIFY(run.run);
        QCOMPARE(run.run->steps().size(), std::size_t(20000));
        const auto capped = listDirectory(tree.path(), "x", 100);
        QVERIFY(capped.ok() && !capped->complete);
        QCOMPARE(capped->entries.size(), std::size_t(100));
    }

    void cancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto run = openRun(fs::path(FORKPOINT_SAMPLES) / "A", {}, stop.get_token());
        QVERIFY(!run.ok());
        QVERIFY(run.error().code == ErrorCode::Cancelled);
    }
};

QTEST_APPLESS_MAIN(OpenRunTest)
#include "tst_open_run.moc"
