// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of many files by their real writers (tests/data/FAMILY/CASE), against what the
// processes held when they saved (expected.json beside them).
#include "loaders/open_run.h"
#include "loaders/storage/zstd_source.h"

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/loaded_file.h"

using namespace forkpoint;
namespace fs = std::filesystem;

namespace {

const QString Data = QStringLiteral(FORKPOINT_TEST_DATA);

struct Opened
{
    explicit Opened(const fs::path &path)
    {
        auto opened = openRun(path, {}, {});
        if (!opened.ok()) {
            error = opened.error().message();
            return;
        }
        run = *opened;
        auto newest = run->open(run->steps().size() - 1, {});
        if (newest.ok())
            source = *newest;
        else
            error = newest.error().message();
    }

    QByteArray digest(TensorIndex index) const
    {
        std::vector<std::byte> bytes(source->catalog().tensors[index].bytes);
        return source->read(index, 0, bytes).ok() ? test::sha256(bytes) : QByteArray();
    }
    bool tells(std::string_view words) const
    {
        const auto &all = source->catalog().diagnostics;
        return std::any_of(all.begin(), all.end(), [&](const Diagnostic &diagnostic) {
            return (diagnostic.code + ' ' + diagnostic.file + ' ' + diagnostic.text).find(words)
                != std::string::npos;
        });
    }

    std::shared_ptr<const Run> run;
    std::shared_ptr<const TensorSource> source;
    std::string error;
};

/// A copy that may be damaged.
class Copy
{
public:
    explicit Copy(const QString &of)
    {
        fs::copy(of.toStdString(), path(), fs::copy_options::recursive);
    }
    fs::path path() const { return fs::path(m_directory.path().toStdString()) / "case"; }

private:
    QTemporaryDir m_directory;
};

QJsonObject expectations(const QString &family)
{
    const auto text = test::fileBytes(Data + '/' + family + "/expected.json");
    return QJsonDocument::fromJson(text).object();
}

/// A plain value as JSON has it.
QJsonValue toJson(const Value &value)
{
    if (const auto *text = std::get_if<std::string>(&value.data))
        return QString::fromStdString(*text);
    if (const auto *real = std::get_if<double>(&value.data))
        return *real;
    if (const auto *integer = std::get_if<std::int64_t>(&value.data))
        return qint64(*integer);
    if (const auto *flag = std::get_if<bool>(&value.data))
        return *flag;
    return QJsonValue::Null;
}

} // namespace

class DistributedTest : public QObject
{
    Q_OBJECT

private slots:
    void holdsWhatWasSaved_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QJsonObject>("expected");
        for (const char *name : {"dcp", "ranks", "nemo", "deepspeed"}) {
            const QString family = QString::fromLatin1(name);
            const QJsonObject cases = expectations(family);
            QVERIFY2(!cases.isEmpty(), qPrintable(family));
            for (auto at = cases.begin(); at != cases.end(); ++at) {
                QTest::newRow(qPrintable(family + '/' + at.key()))
                    << Data + '/' + family + '/' + at.key() << at.value().toObject();
            }
        }
    }

    void holdsWhatWasSaved()
    {
        QFETCH(QString, path);
        QFETCH(QJsonObject, expected);
        if (path.endsWith("zstd") && !whyNoZstd().empty())
            QSKIP("built without zstd");
        const Opened opened(path.toStdString());
        QVERIFY2(opened.source, opened.error.c_str());
        const Catalog &catalog = opened.source->catalog();
        const QJsonObject tensors = expected["tensors"].toObject();
        QCOMPARE(qsizetype(catalog.tensors.size()), qsizetype(tensors.size()));
        for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
            const TensorRef &tensor = catalog.tensors[i];
            const QJsonObject want = tensors[QString::fromStdString(tensor.name)].toObject();
            QVERIFY2(!want.isEmpty(), tensor.name.c_str());
            QCOMPARE(QString::fromStdString(tensor.dtype.name), want["dtype"].toString());
            const auto shape =
                QJsonDocument(want["shape"].toArray()).toJson(QJsonDocument::Compact);
            QCOMPARE(QString::fromStdString(tensor.shape.toString()).remove(' '), QString(shape));
            QCOMPARE(QString(opened.digest(i)), want["sha256"].toString());
        }
        const QJsonObject values = expected["values"].toObject();
        for (auto at = values.begin(); at != values.end(); ++at) {
            const auto found = std::find_if(
                catalog.values.begin(), catalog.values.end(),
                [&](const ValueRef &value) { return value.name == at.key().toStdString(); });
            QVERIFY2(found != catalog.values.end(), qPrintable(at.key()));
            QCOMPARE(toJson(found->value), at.value());
        }
        QVERIFY(catalog.complete);
    }

    void knowsTheOwnerOfEveryPart()
    {
        const Opened opened((Data + "/dcp/mesh").toStdString());
        const Catalog &catalog = opened.source->catalog();
        const TensorRef &both = catalog.tensors[*catalog.findTensor("model.both")];
        QCOMPARE(both.extents.size(), std::size_t(4));
        std::set<std::string> owners;
        for (const Extent &extent : both.extents)
            owners.insert(catalog.owners[extent.owner].toString());
        QCOMPARE(owners, (std::set<std::string>{"rank 0", "rank 1", "rank 2", "rank 3"}));
    }

    void replicasThatDifferAreFound()
    {
        const Copy copy(Data + "/ranks/dtensor");
        const Opened sound(copy.path());
        QVERIFY2(sound.source, sound.error.c_str());
        QVERIFY(sound.source->catalog().findings.empty());
        const TensorRef &whole =
            sound.source->catalog().tensors[*sound.source->catalog().findTensor("model.whole")];
        QCOMPARE(whole.replicas.size(), std::size_t(3));
        const Extent &second = whole.replicas[1].extents.front(); // of rank 2
        QFile file(QString::fromStdString((copy.path() / "rank_2.pt").string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(qint64(second.offset)));
        QVERIFY(file.putChar(char(0x55)));
        file.close();
        const Opened damaged(copy.path());
        const auto &findings = damaged.source->catalog().findings;
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].id, std::string("replicas-differ"));
        QVERIFY(findings[0].text.ends_with("rank 0; rank 1; rank 3 | rank 2"));
    }

    /// The mesh of the DTensors was made of 4 ranks, and no file has a higher number than 2.
    void theMeshTellsOfTheLastRank()
    {
        const Copy copy(Data + "/ranks/dtensor");
        fs::remove(copy.path() / "rank_3.pt");
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(!opened.source->catalog().complete);
        QVERIFY(opened.tells("files of 1 of at least 4 ranks are not there"));
    }

    void copiesOfTensorRanksAreCompared_data()
    {
        QTest::addColumn<QString>("family");
        QTest::addColumn<QString>("copy");
        QTest::newRow("flat") << "megatron"
                              << "mp_rank_01.model.final_layernorm.weight";
        const QString nested = "mp_rank_01.model.language_model.";
        QTest::newRow("nested norm")
            << "nested" << nested + "encoder.layers.0.input_layernorm.weight";
        QTest::newRow("nested positions")
            << "nested" << nested + "embedding.position_embeddings.weight";
    }

    /// A norm is held alike by all tensor-parallel ranks, although each lists its own.
    void copiesOfTensorRanksAreCompared()
    {
        QFETCH(QString, family);
        QFETCH(QString, copy);
        const Copy copied(Data + "/ranks/" + family);
        const Opened sound(copied.path());
        QVERIFY2(sound.source, sound.error.c_str());
        const Catalog &catalog = sound.source->catalog();
        QVERIFY(catalog.findings.empty());
        const TensorRef &norm = catalog.tensors[*catalog.findTensor(copy.toStdString())];
        QFile file(QString::fromStdString((copied.path() / norm.files.front()).string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(qint64(norm.extents.front().offset)));
        QVERIFY(file.putChar(char(0x55)));
        file.close();
        const Opened damaged(copied.path());
        const auto &findings = damaged.source->catalog().findings;
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].id, std::string("replicas-differ"));
        QVERIFY(findings[0].text.find("tp 0") != std::string::npos
                && findings[0].text.find("tp 1") != std::string::npos);
    }

    void copiesOfAnotherShapeAreToldApart()
    {
        const Copy copy(Data + "/ranks/megatron");
        fs::copy_file((Data + "/ranks/unlike_norm.pt").toStdString(),
                      copy.path() / "mp_rank_01" / "model_optim_rng.pt",
                      fs::copy_options::overwrite_existing);
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        const auto &findings = opened.source->catalog().findings;
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].id, std::string("replicas-differ"));
        QVERIFY2(findings[0].text.find("[2]") != std::string::npos
                     && findings[0].text.find("[4]") != std::string::npos,
                 findings[0].text.c_str());
    }

    /// A range that does not begin with the torch.save that lies in it is no stream of bytes.
    void aContainerWithoutItsBeginningIsTold()
    {
        const QByteArray Begin("PK\x03\x04");
        const QString path = Data + "/dcp/one";
        int damaged = 0;
        for (const auto &entry : fs::directory_iterator(path.toStdString())) {
            if (entry.path().extension() != ".distcp")
                continue;
            const QByteArray bytes = test::fileBytes(QString::fromStdString(entry.path().string()));
            for (auto at = bytes.indexOf(Begin); at >= 0; at = bytes.indexOf(Begin, at + 1)) {
                if (!bytes.mid(at + 30, 60).contains("/data.pkl"))
                    continue; // another record of the same container
                const Copy copy(path);
                QByteArray changed = bytes;
                changed[at] = 'X';
                QFile file(
                    QString::fromStdString((copy.path() / entry.path().filename()).string()));
                QVERIFY(file.open(QIODevice::WriteOnly) && file.write(changed) == changed.size());
                file.close();
                const Opened opened(copy.path());
                QVERIFY(opened.source);
                const Catalog &catalog = opened.source->catalog();
                QVERIFY(!catalog.diagnostics.empty());
                QVERIFY(std::none_of(
                    catalog.values.begin(), catalog.values.end(),
                    [](const ValueRef &value) { return value.value.type == ValueType::Bytes; }));
                ++damaged;
            }
        }
        QVERIFY(damaged > 2);
    }

    void noFileIsLostInSilence_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("file");
        for (const char *name :
             {"dcp/mesh", "dcp/one", "ranks/dtensor", "ranks/sharded", "ranks/megatron",
              "deepspeed/zero1", "deepspeed/zero2", "deepspeed/zero3"}) {
            const QString path = Data + '/' + QString::fromLatin1(name);
            for (const auto &entry : fs::recursive_directory_iterator(path.toStdString())) {
                const auto ending = entry.path().extension();
                if (ending != ".pt" && ending != ".distcp")
                    continue;
                const auto file =
                    QString::fromStdString(fs::relative(entry.path(), path.toStdString()).string());
                QTest::newRow(qPrintable(QString::fromLatin1(name) + ' ' + file)) << path << file;
            }
        }
    }

    /// Any one of the files of ranks is gone, its folder is not: the others open, and the whole is never complete.
    void noFileIsLostInSilence()
    {
        QFETCH(QString, path);
        QFETCH(QString, file);
        const Copy copy(path);
        fs::remove(copy.path() / file.toStdString());
        const Opened opened(copy.path());
        if (!opened.source)
            return; // nothing else was there
        const auto &tensors = opened.source->catalog().tensors;
        QVERIFY(!opened.source->catalog().complete
                || std::any_of(tensors.begin(), tensors.end(), [](const TensorRef &tensor) {
                       return tensor.unreadable.has_value();
                   }));
    }

    /// Arguments, iteration and schedule of a Megatron save lie in a file of their own, or in an object.
    void whatIsCommonToAllRanksIsMissed()
    {
        const Copy copy(Data + "/dcp/one");
        std::ofstream(copy.path() / "metadata.json") << R"({"name": "of another tool"})";
        QVERIFY(Opened(copy.path()).source->catalog().complete);
        std::ofstream(copy.path() / "metadata.json") << R"({"sharded_backend": "torch_dist"})";
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(!opened.source->catalog().complete);
        QVERIFY(opened.tells("common.pt is not here"));
    }

    void optimizerStatesOfNoRank()
    {
        const Copy copy(Data + "/deepspeed/zero2");
        for (const char *rank : {"0", "1", "2"})
            fs::remove(
                copy.path() / "global_step2"
                / ("bf16_zero_pp_rank_" + std::string(rank) + "_mp_rank_00_optim_states.pt"));
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(!opened.source->catalog().complete);
        QVERIFY(opened.tells("no file of optimizer states is here"));
    }

    void missingRankFile()
    {
        const Copy copy(Data + "/ranks/dtensor");
        fs::remove(copy.path() / "rank_1.pt");
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(!opened.source->catalog().complete);
        const Catalog &catalog = opened.source->catalog();
        QVERIFY(catalog.tensors[*catalog.findTensor("model.both")].unreadable);
        QVERIFY(!catalog.tensors[*catalog.findTensor("model.whole")].unreadable);
    }

    void archivesCutAnywhereAreRefusedOrPartly()
    {
        const QByteArray whole = test::fileBytes(Data + "/nemo/ranks.nemo");
        for (qsizetype size = 0; size < whole.size(); size += 97) {
            CheckpointBuilder builder;
            (void)loadFile(test::memory(whole.left(size)), {}, {}).ok();
        }
    }

    void missingFileOfARank()
    {
        const Copy copy(Data + "/dcp/mesh");
        fs::remove(copy.path() / "__1_0.distcp");
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        const Catalog &catalog = opened.source->catalog();
        QVERIFY(!catalog.complete);
        QVERIFY(opened.tells("__1_0.distcp"));
        QVERIFY(catalog.tensors[*catalog.findTensor("model.both")].unreadable);
        QCOMPARE(catalog.tensors.size(), std::size_t(9));
    }

    void cutFileOfARank()
    {
        const Copy copy(Data + "/dcp/mesh");
        fs::resize_file(copy.path() / "__0_0.distcp", 2000);
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(opened.tells("__0_0.distcp"));
    }

    void cutMetadataAtEveryByte()
    {
        const Copy copy(Data + "/dcp/one");
        const QByteArray whole = test::fileBytes(Data + "/dcp/one/.metadata");
        for (qsizetype size = 0; size < whole.size(); ++size) {
            fs::resize_file(copy.path() / ".metadata", std::uintmax_t(size));
            const Opened opened(copy.path());
            QVERIFY(!opened.source);
            QFile file(QString::fromStdString((copy.path() / ".metadata").string()));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(whole);
        }
    }

    /// Of a file that no writer writes nobody expects that each rank has it.
    void aStrayFileOfOneRankIsNoLoss()
    {
        const Copy copy(Data + "/ranks/megatron");
        const fs::path folder = copy.path() / "mp_rank_00";
        fs::copy_file(folder / "model_optim_rng.pt", folder / "backup.pt");
        const Opened stray(copy.path());
        QVERIFY2(stray.source, stray.error.c_str());
        QVERIFY(stray.source->catalog().complete);
        const auto &told = stray.source->catalog().diagnostics;
        QVERIFY(std::any_of(told.begin(), told.end(), [](const Diagnostic &each) {
            return each.severity == Severity::Note && each.code == "unlike-folders";
        }));
        // The buffers of an optimizer that another rank has are missing.
        fs::remove(folder / "distrib_optim.pt");
        const Opened lost(copy.path());
        QVERIFY(lost.source && !lost.source->catalog().complete);
    }

    /// Megatron's common.pt is written before anything else.
    void aSaveThatHasJustBegun()
    {
        QTemporaryDir directory;
        const fs::path path(directory.path().toStdString());
        fs::copy_file((Data + "/ranks/megatron/mp_rank_00/model_optim_rng.pt").toStdString(),
                      path / "common.pt");
        const Opened opened(path);
        QVERIFY(!opened.source);
        QVERIFY2(opened.error.find("unfinished") != std::string::npos, opened.error.c_str());
    }

    void withoutMetadata()
    {
        const Copy copy(Data + "/dcp/one");
        fs::remove(copy.path() / ".metadata");
        const Opened opened(copy.path());
        QVERIFY(!opened.source);
        QVERIFY(opened.error.find("unfinished") != std::string::npos);
    }

    void pathsOutOfTheDirectoryAreRefused()
    {
        const Copy copy(Data + "/dcp/one");
        QFile file(QString::fromStdString((copy.path() / ".metadata").string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        QVERIFY(text.contains("__0_0.distcp"));
        text.replace("__0_0.distcp", "../../../etc");
        file.seek(0);
        file.write(text);
        file.close();
        const Opened opened(copy.path());
        QVERIFY2(opened.source, opened.error.c_str());
        QVERIFY(opened.tells("refused"));
        QVERIFY(!opened.source->catalog().complete);
    }
};

QTEST_APPLESS_MAIN(DistributedTest)
#include "tst_distributed.moc"
