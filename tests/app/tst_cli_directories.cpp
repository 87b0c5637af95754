// SPDX-License-Identifier: GPL-3.0-or-later
// What the real forkpoint-cli makes of directories in which it is not clear what is meant.
#include "loaders/open_run.h"
#include "tests/support/cli_process.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <filesystem>

using namespace forkpoint::test;

/// One of two files of ranks with eight elements of "w" and `rows` of "v", all 1.
static QByteArray shardOf(int shard, int rows)
{
    const auto entry = [](const QByteArray &name, int count, int begin) {
        return '"' + name + "\":{\"dtype\":\"F32\",\"shape\":[" + QByteArray::number(count)
            + "],\"data_offsets\":[" + QByteArray::number(begin) + ','
            + QByteArray::number(begin + 4 * count) + "]}";
    };
    const auto offset = [shard](const QByteArray &name, int count) {
        return "\\\"" + name + "\\\":{\\\"saved_offsets\\\":[" + QByteArray::number(shard * count)
            + "]}";
    };
    return safetensors("{\"__metadata__\":{\"DCP_SHARDING_INFO\":\"{" + offset("w", 8) + ','
                           + offset("v", rows) + "}\"}," + entry("w", 8, 0) + ','
                           + entry("v", rows, 32) + '}',
                       bytesOf<float>(std::vector<float>(std::size_t(8 + rows), 1)));
}

class CliDirectoriesTest : public QObject
{
    Q_OBJECT

private slots:
    /// Neither the first nor the last of two entries of one step: undecided, unless they are equal.
    void twoEntriesOfOneStep()
    {
        tensor("twice/step_4.safetensors", 1);
        tensor("twice/step_04.safetensors", 2);
        tensor("one/step_4.safetensors", 1);
        const Ended compared = run({"compare", path("twice"), path("one"), "--json"});
        QCOMPARE(compared.outcome(), "undecided");
        QCOMPARE(compared.status, 3);
        QVERIFY(compared.err.contains("step_04.safetensors"));
        QCOMPARE(run({"compare", path("one/step_4.safetensors"), path("twice")}).status, 3);
        QCOMPARE(run({"compare", path("one"), path("twice"), "--step", "4"}).status, 3);
        QCOMPARE(run({"elements", path("one"), path("twice"), "--tensor", "w"}).status, 3);
        QCOMPARE(run({"inspect", path("twice")}).status, 2);
        QCOMPARE(run({"compare", path("twice/step_4.safetensors"), path("one")}).status, 0);

        tensor("same/step_4.safetensors", 1);
        tensor("same/step_04.safetensors", 1);
        QCOMPARE(run({"compare", path("same"), path("one")}).status, 0);
    }

    /// The newest step that can be read is shown; that a newer one cannot is no success.
    void unreadableStep()
    {
        tensor("cut/step_4.safetensors", 1);
        write("cut/step_8.safetensors", {});
        const Ended shown = run({"inspect", path("cut"), "--json"});
        QCOMPARE(shown.status, 2);
        QCOMPARE(shown.json()["step"].toInt(), 4);
        QVERIFY(shown.err.contains("step_8.safetensors: error: is empty"));
        QVERIFY(run({"inspect", path("cut")}).out.contains("8 (unreadable)"));
        QCOMPARE(run({"inspect", path("cut"), "--step", "8"}).status, 2);

        tensor("whole/step_4.safetensors", 1);
        tensor("whole/step_8.safetensors", 1);
        const Ended compared = run({"compare", path("cut"), path("whole"), "--json"});
        QCOMPARE(compared.status, 3);
        const QJsonObject coverage = compared.json()["verdict"]["coverage"].toObject();
        QCOMPARE(coverage["steps_unread"].toInt(), 1);
        QVERIFY(!coverage.contains("steps_unfinished"));
        QCOMPARE(run({"compare", path("cut"), path("whole/step_4.safetensors")}).status, 0);
        QCOMPARE(run({"compare", path("whole/step_8.safetensors"), path("cut")}).status, 2);
    }

    /// One tensor alone meets whom it meets in a comparison of the whole.
    void elementsMeetByContent()
    {
        const QByteArray sixteen = bytesOf<float>(std::vector<float>(16, 1.5F));
        const auto file = [&](const char *name, const QByteArrayList &tensors) {
            QByteArrayList members;
            for (qsizetype i = 0; i < tensors.size(); ++i)
                members << '"' + tensors[i]
                        + "\":{\"dtype\":\"F32\",\"shape\":[16],\"data_offsets\":["
                        + QByteArray::number(64 * i) + ',' + QByteArray::number(64 * i + 64) + "]}";
            write(name,
                  safetensors('{' + members.join(',') + '}', sixteen.repeated(tensors.size())));
        };
        file("own.safetensors", {"x"});
        file("other.safetensors", {"y"});
        file("twice.safetensors", {"y", "z"});
        for (const char *tensor : {"x", "y"})
            QCOMPARE(run({"elements", path("own.safetensors"), path("other.safetensors"),
                          "--tensor", tensor})
                         .status,
                     0);
        for (const char *other : {"twice.safetensors", "other.safetensors"}) {
            const QStringList both = {path("own.safetensors"), path(other), "--pair",
                                      *other == 't' ? "auto" : "strict"};
            QCOMPARE(run(QStringList{"compare"} + both).status, 1);
            QCOMPARE(run(QStringList{"elements", "--tensor", "x"} + both).status, 1);
        }
    }

    /// A header that ends too early is seen when the step is opened.
    void damagedNewestStep()
    {
        tensor("torn/step_4.safetensors", 1);
        write("torn/step_8.safetensors", oneTensor("F32", 1, bytesOf<float>({1})).left(20));
        const Ended shown = run({"inspect", path("torn")});
        QCOMPARE(shown.status, 2);
        QVERIFY2(shown.err.contains("; this is step 8, the newest of 2: --step N opens another"),
                 shown.err);
        QCOMPARE(run({"inspect", path("torn"), "--step", "4"}).status, 0);
        QVERIFY(!run({"inspect", path("torn"), "--step", "8"}).err.contains("opens another"));
        write("alone/step_8.safetensors", oneTensor("F32", 1, bytesOf<float>({1})).left(20));
        QVERIFY(!run({"inspect", path("alone")}).err.contains("opens another"));
    }

    /// torch's files of ranks for Hugging Face store no whole shape: without the last of them tensors
    /// look shorter, which no file can tell from shorter tensors.
    void aLostLastShardIsNoOtherShape()
    {
        const QString whole = QStringLiteral(FORKPOINT_TEST_DATA "/dcp/hf");
        const QDir shards(whole);
        QDir().mkpath(path("lost"));
        for (const QString &name : shards.entryList({"shard-0000[123]-*"}, QDir::Files))
            QVERIFY(QFile::copy(shards.filePath(name), path("lost") + '/' + name));
        for (const bool swapped : {false, true}) {
            const Ended compared = run({"compare", swapped ? path("lost") : whole,
                                        swapped ? whole : path("lost"), "--json"});
            QCOMPARE(compared.outcome(), "undecided");
            QCOMPARE(compared.status, 3);
            int named = 0;
            for (const QJsonValue &row : compared.json()["tensors"].toArray()) {
                QVERIFY(row["status"].toString() != "different");
                named += row["reason"].toString().contains(
                    "shard-00004-model-00001-of-00002.safetensors may be missing");
            }
            QCOMPARE(named, 3); // bf16, columns, rows; of both a corner is stored nowhere
        }
    }

    /// One copy of model.whole is compared, and rank 2's is another: neither equal nor different.
    void aCopyThatDiffersIsNotEqual()
    {
        const QString sound = QStringLiteral(FORKPOINT_TEST_DATA "/ranks/dtensor");
        QDir().mkpath(path("copies"));
        for (const QString &name : QDir(sound).entryList(QDir::Files))
            QVERIFY(QFile::copy(sound + '/' + name, path("copies") + '/' + name));
        const auto run = forkpoint::openRun(sound.toStdString(), {}, {});
        QVERIFY(run.ok());
        const auto source = (*run)->open(0, {});
        QVERIFY(source.ok());
        const forkpoint::Catalog &catalog = (*source)->catalog();
        const auto whole = catalog.findTensor("model.whole");
        QVERIFY(whole && catalog.tensors[*whole].replicas.size() == 3);
        QFile file(path("copies/rank_2.pt"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(qint64(catalog.tensors[*whole].replicas[1].extents.front().offset)));
        QVERIFY(file.putChar(char(0x55)));
        file.close();
        for (const bool swapped : {false, true}) {
            const Ended compared =
                forkpoint::test::run({"compare", swapped ? path("copies") : sound,
                                      swapped ? sound : path("copies"), "--json"});
            QCOMPARE(compared.outcome(), "undecided");
            for (const QJsonValue &row : compared.json()["tensors"].toArray()) {
                if (row["name"] != "model.whole")
                    continue;
                QCOMPARE(row["status"].toString(), "not-compared");
                QVERIFY(row["reason"].toString().contains("rank 0; rank 1; rank 3"));
            }
        }
        QCOMPARE(forkpoint::test::run({"compare", sound, sound}).status, 0);

        // Another rank's copy in the other side: each is told.
        QDir().mkpath(path("others"));
        for (const QString &name : QDir(sound).entryList(QDir::Files))
            QVERIFY(QFile::copy(sound + '/' + name, path("others") + '/' + name));
        QFile other(path("others/rank_1.pt"));
        QVERIFY(other.open(QIODevice::ReadWrite));
        QVERIFY(other.seek(qint64(catalog.tensors[*whole].replicas[0].extents.front().offset)));
        QVERIFY(other.putChar(char(0x55)));
        other.close();
        const Ended both =
            forkpoint::test::run({"compare", path("copies"), path("others"), "--json"});
        QCOMPARE(both.outcome(), "undecided");
        for (const QJsonValue &row : both.json()["tensors"].toArray()) {
            if (row["name"] != "model.whole")
                continue;
            const QString reason = row["reason"].toString();
            QVERIFY2(reason.contains("| rank 2; B: ") && reason.endsWith("| rank 1"),
                     qPrintable(reason));
        }
    }

    /// The second of two shards is lost: what the first holds is compared, and the rest is not.
    void theRowsThatBothSidesHaveAreCompared()
    {
        const QByteArray first = "/shard-00001-model-00001-of-00001.safetensors";
        const QByteArray second = "/shard-00002-model-00001-of-00001.safetensors";
        write("both" + first, shardOf(0, 6));
        write("both" + second, shardOf(1, 6));
        write("first" + first, shardOf(0, 6));
        QByteArray unlike = shardOf(0, 6);
        unlike[unlike.size() - 1] = char(unlike[unlike.size() - 1] ^ 1); // the last element of v
        write("unlike" + first, unlike);
        const auto reasonOf = [](const Ended &ended, const char *name, const char *status) {
            for (const QJsonValue &row : ended.json()["tensors"].toArray()) {
                if (row["name"].toString() == name && row["status"].toString() == status)
                    return row["reason"].toString();
            }
            return QString();
        };
        for (const bool swapped : {false, true}) {
            const auto sides = [&](const char *shorter, std::initializer_list<QString> more) {
                QStringList arguments{"compare", path(swapped ? shorter : "both"),
                                      path(swapped ? "both" : shorter), "--json"};
                arguments.append(more);
                return run(arguments);
            };
            const Ended equal = sides("first", {});
            QCOMPARE(equal.status, 3);
            for (const char *name : {"v", "w"})
                QVERIFY(
                    reasonOf(equal, name, "not-compared").endsWith("both sides have are equal"));
            const Ended different = sides("unlike", {});
            QCOMPARE(different.status, 1);
            QVERIFY(different.json()["verdict"]["sentence"].toString().contains("bits differ"));
            QVERIFY(reasonOf(different, "v", "different").startsWith("the rows that both sides"));
            QVERIFY(reasonOf(different, "w", "not-compared").endsWith("have are equal"));
            QCOMPARE(sides("unlike", {"--atol", "10"}).status, 3); // may be within it
        }
    }

    /// Of w every shard holds a part, and a third would have held one: v is another tensor.
    void aShorterTensorOfAllShardsIsDifferent()
    {
        const auto shards = [this](const char *folder, int rows) {
            for (const int shard : {0, 1}) {
                const QByteArray name = QByteArray(folder) + "/shard-0000"
                    + QByteArray::number(shard + 1) + "-model-00001-of-00001.safetensors";
                write(name.constData(), shardOf(shard, rows));
            }
        };
        shards("long", 6);
        shards("short", 4);
        const Ended compared = run({"compare", path("long"), path("short"), "--json"});
        QCOMPARE(compared.outcome(), "different");
        for (const QJsonValue &row : compared.json()["tensors"].toArray())
            QCOMPARE(row["status"].toString(), row["name"] == "w" ? "identical" : "different");
    }

    /// The whole reaches as far as the part that cannot be read: [12] on both sides, told once.
    void aCutShardIsUnreadable()
    {
        for (const char *folder : {"sound", "cutshard"}) {
            for (const int shard : {0, 1}) {
                const QByteArray file = QByteArray(folder) + "/shard-0000"
                    + QByteArray::number(shard + 1) + "-model-00001-of-00001.safetensors";
                QByteArray data = shardOf(shard, 6);
                if (shard == 1 && folder == QByteArray("cutshard"))
                    data.chop(4); // of "v"
                write(file.constData(), data);
            }
        }
        const Ended compared = run({"compare", path("sound"), path("cutshard"), "--json"});
        QCOMPARE(compared.outcome(), "undecided");
        QCOMPARE(compared.err.count("tensor 'v'"), 1);
        const Ended shown = run({"inspect", path("cutshard")});
        QVERIFY2(shown.out.contains("v  float32 [12]"), shown.out.constData());
    }

    /// args say that there were two tensor-parallel ranks: what the one that is left holds is compared
    /// with the same rank's of the other side.
    void aLostRankLeavesTheOthersComparable()
    {
        namespace fs = std::filesystem;
        const std::string whole = FORKPOINT_TEST_DATA "/ranks/megatron";
        const std::string left = path("left").toStdString();
        fs::copy(whole, left, fs::copy_options::recursive);
        fs::remove_all(left + "/mp_rank_01");
        const Ended equal = run({"compare", QString::fromStdString(whole), path("left"), "--json"});
        QCOMPARE(equal.outcome(), "undecided");
        const auto counted = [](const Ended &ended, const char *status) {
            int count = 0;
            for (const QJsonValue &row : ended.json()["tensors"].toArray())
                count +=
                    row["name"].toString().startsWith("mp_rank_00.") && row["status"] == status;
            return count;
        };
        QCOMPARE(counted(equal, "identical"), 3);

        const QString name = path("left/mp_rank_00/model_optim_rng.pt");
        QFile file(name);
        QVERIFY(file.open(QIODevice::ReadWrite));
        const QByteArray data = file.readAll();
        const auto at = data.indexOf(bytesOf<float>({0, 1, 2, 3, 4, 5})); // fc1.weight of rank 0
        QVERIFY(at > 0 && file.seek(at) && file.putChar(1));
        file.close();
        const Ended other = run({"compare", QString::fromStdString(whole), path("left"), "--json"});
        QCOMPARE(other.outcome(), "different");
        QCOMPARE(counted(other, "different"), 1);
    }

    /// All ranks of one side hold one thing, one of the other's holds another; also when a file is lost.
    void ranksThatDisagree()
    {
        QFile saved(QStringLiteral(FORKPOINT_TEST_DATA "/ranks/unlike_norm.pt"));
        QVERIFY(saved.open(QIODevice::ReadOnly));
        const QByteArray data = saved.readAll();
        QByteArray unlike = data;
        const auto at = unlike.indexOf(bytesOf<float>({6, 7, 8, 9, 10, 11})); // fc1.weight
        QVERIFY(at > 0);
        unlike[at] = 1;
        for (const char *rank : {"rank_0.pt", "rank_1.pt", "rank_2.pt"}) {
            write((QByteArray("ranksalike/") + rank).constData(), data);
            write((QByteArray("ranksunlike/") + rank).constData(),
                  rank == QByteArray("rank_1.pt") ? unlike : data);
        }
        const auto told = [&] {
            const Ended compared =
                run({"compare", path("ranksalike"), path("ranksunlike"), "--json"});
            QStringList texts{compared.outcome()};
            for (const QJsonValue &finding : compared.json()["findings"].toArray()) {
                if (finding["id"] == "ranks-unlike")
                    texts << finding["text"].toString();
            }
            return texts;
        };
        const QString head =
            "model.fc1.weight is one for all ranks of A, those of B do not agree: ";
        QCOMPARE(
            told(),
            (QStringList{"different", head + "ranks 0 and 2 have what A has, rank 1 has not"}));
        QVERIFY(QFile::remove(path("ranksunlike/rank_0.pt")));
        QCOMPARE(told(),
                 (QStringList{"different", head + "rank 2 has what A has, rank 1 has not"}));
        const Ended text = run({"compare", path("ranksalike"), path("ranksunlike")});
        QCOMPARE(text.status, 1);
        QVERIFY2(!text.out.contains("may have lost"), text.out.constData());
    }

private:
    QString path(const char *name) const { return m_folder.filePath(QString::fromLatin1(name)); }
    void write(const char *name, const QByteArray &data)
    {
        const QFileInfo info(path(name));
        QFile file(info.filePath());
        if (!QDir().mkpath(info.path()) || !file.open(QIODevice::WriteOnly)
            || file.write(data) != data.size())
            qFatal("cannot write test data");
    }
    void tensor(const char *name, float value)
    {
        write(name, oneTensor("F32", 1, bytesOf<float>({value})));
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(CliDirectoriesTest)
#include "tst_cli_directories.moc"
