// SPDX-License-Identifier: GPL-3.0-or-later
// One state of a model as Megatron-Core writes it in several forms (tests/data/megatron): they are the same, whatever the memory
// held between parameters, and one changed element is named where it lies.
#include "loaders/open_run.h"
#include "model/layout.h"
#include "tests/support/cli_process.h"
#include "tests/support/loaded_file.h"

#include <QJsonArray>
#include <QTemporaryDir>

#include <filesystem>

using namespace forkpoint;
using namespace forkpoint::test;
namespace fs = std::filesystem;

namespace {

const QString Data = QStringLiteral(FORKPOINT_TEST_DATA "/megatron/");

QJsonObject expectations()
{
    return QJsonDocument::fromJson(fileBytes(Data + "expected.json")).object();
}

QJsonObject expected(const QString &name)
{
    return expectations()[name].toObject();
}

/// Where the element that the generator marked lies in one form.
QJsonObject markedIn(const QString &name, const QString &form)
{
    return expected(name)["element"].toObject()[form].toObject();
}

std::shared_ptr<const TensorSource> opened(const QString &path)
{
    const auto run = openRun(fs::path(path.toStdString()), {}, {});
    if (!run.ok())
        return nullptr;
    auto source = (*run)->open(0, {});
    return source.ok() ? *source : nullptr;
}

/// A copy of one form, to be damaged.
class Copy
{
public:
    explicit Copy(const QString &form)
    {
        fs::copy((Data + form).toStdString(), path().toStdString(), fs::copy_options::recursive);
    }
    QString path() const { return m_directory.path() + "/copy"; }
    void write(const QString &file, quint64 at, const QByteArray &bytes) const
    {
        QFile opened(path() + '/' + file);
        QVERIFY(opened.open(QIODevice::ReadWrite));
        QVERIFY(opened.seek(qint64(at)));
        QCOMPARE(opened.write(bytes), qint64(bytes.size()));
    }
    /// Another number in place of the element of expected.json.
    void changeElement(const QJsonObject &place) const
    {
        write(place["file"].toString(), quint64(place["byte"].toInteger()),
              bytesOf(std::vector<float>{8.5F}));
    }

private:
    QTemporaryDir m_directory;
};

QJsonArray rowsOf(const Ended &compared, const char *status)
{
    QJsonArray rows;
    for (const QJsonValue &row : compared.json()["tensors"].toArray()) {
        if (row["status"].toString() == QLatin1String(status))
            rows.append(row);
    }
    return rows;
}

/// Chunks of buckets that lie between parameters: shorter than 64 elements, up to a multiple of 64.
bool isBetween(const Extent &chunk)
{
    const Index first = chunk.box.origin[0], count = chunk.box.size[0];
    return first % 64 != 0 && (first + count) % 64 == 0 && count < 64;
}

} // namespace

class MegatronFormsTest : public QObject
{
    Q_OBJECT

private slots:
    void holdWhatTheProcessesHeld_data();
    void holdWhatTheProcessesHeld();
    void areOneState_data();
    void areOneState();
    void oneElementIsNamedWhereItLies_data();
    void oneElementIsNamedWhereItLies();
    void whatLiesBetweenParametersDecidesNothing_data();
    void whatLiesBetweenParametersDecidesNothing();
    void aMomentInABufferDecides_data();
    void aMomentInABufferDecides();
    void elementsSayWhatTheirIndicesCount();
};

void MegatronFormsTest::holdWhatTheProcessesHeld_data()
{
    QTest::addColumn<QString>("name");
    for (const QString &name : expectations().keys())
        QTest::newRow(qPrintable(name)) << name;
}

void MegatronFormsTest::holdWhatTheProcessesHeld()
{
    QFETCH(QString, name);
    const auto source = opened(Data + name + "/dist");
    QVERIFY(source);
    const QJsonObject tensors = expected(name)["tensors"].toObject();
    QVERIFY(tensors.size() > 10);
    for (auto at = tensors.begin(); at != tensors.end(); ++at) {
        const auto index = source->catalog().findTensor(at.key().toStdString());
        QVERIFY2(index, qPrintable(at.key()));
        const TensorRef &tensor = source->catalog().tensors[*index];
        const QJsonObject held = at.value().toObject();
        QCOMPARE(QString::fromStdString(tensor.dtype.name), held["dtype"].toString());
        std::vector<std::byte> bytes(tensor.bytes);
        QVERIFY(source->read(*index, 0, bytes).ok());
        QCOMPARE(QString(sha256(bytes)), held["sha256"].toString());
    }
}

void MegatronFormsTest::areOneState_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    for (const QString name : {"tp2_pp2", "dp2", "tp2_dp2"}) {
        QTest::newRow(qPrintable(name)) << name + "/dist" << name + "/ranks";
        QTest::newRow(qPrintable(name + " backwards")) << name + "/ranks" << name + "/dist";
    }
}

void MegatronFormsTest::areOneState()
{
    QFETCH(QString, a);
    QFETCH(QString, b);
    const Ended compared = run({"compare", Data + a, Data + b, "--json"});
    QCOMPARE(compared.outcome(), "identical");
    QCOMPARE(compared.status, 0);
    const QJsonObject coverage = compared.json()["verdict"]["coverage"].toObject();
    QCOMPARE(coverage["tensors_compared"], coverage["tensors_total"]);
    for (const QJsonValue &finding : compared.json()["findings"].toArray())
        QVERIFY2(finding["severity"].toString() != "warning",
                 qPrintable(finding["text"].toString()));
}

void MegatronFormsTest::oneElementIsNamedWhereItLies_data()
{
    QTest::addColumn<QString>("changed");
    QTest::addColumn<QString>("other");
    QTest::addColumn<QJsonObject>("owner");
    QTest::addColumn<int>("index"); // of [3, 10 + 4] of 8 x 20, in the second of two layers
    const QJsonObject rank{{"tp", 1}, {"pp", 1}}, process{{"rank", 3}};
    QTest::newRow("ranks, dist") << "ranks"
                                 << "dist" << rank << 3 * 20 + 14;
    QTest::newRow("dist, ranks") << "dist"
                                 << "ranks" << process << 3 * 20 + 14;
    QTest::newRow("dist, dist") << "dist"
                                << "dist" << process << 160 + 3 * 20 + 14;
    QTest::newRow("ranks, ranks") << "ranks"
                                  << "ranks" << rank << 3 * 10 + 4;
}

void MegatronFormsTest::oneElementIsNamedWhereItLies()
{
    QFETCH(QString, changed);
    QFETCH(QString, other);
    QFETCH(QJsonObject, owner);
    QFETCH(int, index);
    const Copy copy("tp2_pp2/" + changed);
    const QJsonObject place = markedIn("tp2_pp2", changed);
    copy.changeElement(place);
    const Ended compared = run({"compare", Data + "tp2_pp2/" + other, copy.path(), "--json"});
    QCOMPARE(compared.outcome(), "different");
    const QJsonArray rows = rowsOf(compared, "different");
    QCOMPARE(rows.size(), 1);
    QVERIFY(rows[0]["name"].toString().endsWith("mlp.linear_fc2.weight"));
    QCOMPARE(rows[0]["different_elements"].toInt(), 1);
    QCOMPARE(rows[0]["first_index"].toInt(), index);
    const QJsonObject found = rows[0]["first_place_b"].toObject();
    QCOMPARE(found["owner"].toObject(), owner);
    QCOMPARE(found["file"], place["file"]);
    QCOMPARE(found["offset"], place["byte"]);
}

void MegatronFormsTest::whatLiesBetweenParametersDecidesNothing_data()
{
    QTest::addColumn<QString>("name");
    QTest::newRow("one group of ranks") << "dp2";
    QTest::newRow("two groups, gates and ups") << "tp2_dp2";
}

void MegatronFormsTest::whatLiesBetweenParametersDecidesNothing()
{
    QFETCH(QString, name);
    const Copy copy(name + "/dist");
    const auto source = opened(copy.path());
    QVERIFY(source);
    int changed = 0;
    for (const TensorRef &tensor : source->catalog().tensors) {
        if (tensor.name.find(".bucket_idx_") == std::string::npos)
            continue;
        for (const Extent &chunk : tensor.extents) {
            if (!isBetween(chunk))
                continue;
            const auto place = placeOfElement(source->catalog(), tensor, chunk.box.origin[0]);
            QVERIFY(place);
            copy.write(QString::fromStdString(place->file), place->offset,
                       bytesOf(std::vector<float>(chunk.box.size[0], 7)));
            ++changed;
        }
    }
    QVERIFY(changed > 10);
    QCOMPARE(run({"compare", Data + name + "/dist", copy.path(), "--json"}).outcome(), "identical");
    QCOMPARE(run({"compare", copy.path(), Data + name + "/ranks", "--json"}).outcome(),
             "identical");
}

void MegatronFormsTest::aMomentInABufferDecides_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("changed");
    QTest::addColumn<QString>("other");
    for (const QString name : {"dp2", "tp2_dp2"}) {
        QTest::newRow(qPrintable(name + ", dist")) << name << "dist"
                                                   << "dist";
        QTest::newRow(qPrintable(name + ", ranks and dist")) << name << "ranks"
                                                             << "dist";
        QTest::newRow(qPrintable(name + ", dist and ranks")) << name << "dist"
                                                             << "ranks";
    }
}

void MegatronFormsTest::aMomentInABufferDecides()
{
    QFETCH(QString, name);
    QFETCH(QString, changed);
    QFETCH(QString, other);
    const Copy copy(name + '/' + changed);
    const QJsonObject place = markedIn(name, changed);
    copy.changeElement(place);
    const Ended compared = run({"compare", Data + name + '/' + other, copy.path(), "--json"});
    QCOMPARE(compared.outcome(), "different");
    const QJsonArray rows = rowsOf(compared, "different");
    QCOMPARE(rows.size(), 1);
    QVERIFY(rows[0]["name"].toString().endsWith("exp_avg"));
    QCOMPARE(rows[0]["different_elements"].toInt(), 1);
    QCOMPARE(rows[0]["first_place_b"]["file"], place["file"]);
    QCOMPARE(rows[0]["first_place_b"]["offset"], place["byte"]);
}

/// Behind ten parameters of 8 elements 56 are padding, behind four of 160 32.
void MegatronFormsTest::elementsSayWhatTheirIndicesCount()
{
    const Copy copy("dp2/dist");
    copy.changeElement(markedIn("dp2", "dist"));
    QStringList arguments{"elements", Data + "dp2/dist", copy.path(), "--tensor",
                          "optimizer.distributed.dp_group_idx_0.gbuf_idx_0.dtype_(torch.bfloat16, "
                          "torch.float32).bucket_idx_0.exp_avg"};
    const QByteArray said = "688 elements between parameters are padding and left out";
    QVERIFY(run(arguments).out.contains("; indices are of what is compared (A's: " + said));
    const QJsonObject found = run(arguments << "--json").json();
    QVERIFY(found["assembled_a"].toString().contains(said));
    QVERIFY(found["assembled_b"].toString().contains(said));
    const int whole = expected("dp2")["element"].toObject()["element"].toInt();
    QCOMPARE(found["rows"][0]["index"].toInt(), whole - 688);
    // What is of the files' own says nothing of the kind.
    const QStringList weight{"elements", Data + "dp2/dist", copy.path(), "--tensor",
                             "output_layer.weight"};
    QVERIFY(!run(weight).out.contains("indices are of"));
}

QTEST_APPLESS_MAIN(MegatronFormsTest)
#include "tst_megatron_forms.moc"
