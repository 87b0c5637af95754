// SPDX-License-Identifier: GPL-3.0-or-later
// Real files of torch 2.15.0 against what torch itself held in memory when it wrote them
// (tests/data/torch/make_expectations.py), and the same files cut and bent.
#include "loaders/limits.h"
#include "loaders/torch/torch_loaders.h"
#include "model/format.h"

#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <cmath>
#include <map>
#include <set>

using namespace forkpoint;

namespace {

/// A literal with whatever NULs are in it.
template <std::size_t Size>
QByteArray raw(const char (&literal)[Size])
{
    return QByteArray(literal, qsizetype(Size - 1));
}

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/torch/");

QByteArray fileBytes(const QString &name)
{
    QFile file(Folder + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

struct Opened
{
    const Loader *loader = nullptr;
    Status status = Error{ErrorCode::Unsupported, {}, {}, "no loader"};
    std::shared_ptr<const Checkpoint> checkpoint;
};

Opened openBytes(const QString &name, const QByteArray &bytes)
{
    const auto data = asBytes({bytes.constData(), std::size_t(bytes.size())});
    const auto source = std::make_shared<MemorySource>(
        name.toStdString(), std::vector<std::byte>(data.begin(), data.end()));
    Opened opened;
    Confidence best = Confidence::No;
    const ByteView head = data.first(std::min(data.size(), limits::ProbeBytes));
    for (const Loader *loader :
         {&torchZipLoader(), &torchLegacyLoader(), &torchTarLoader(), &pickleLoader()}) {
        const Confidence confidence = loader->probe(head, *source);
        if (confidence > best) {
            best = confidence;
            opened.loader = loader;
        }
    }
    CheckpointBuilder builder;
    if (opened.loader)
        opened.status = opened.loader->load(source, {}, {}, builder);
    opened.checkpoint = builder.build("test");
    return opened;
}

const TensorRef *findTensor(const Catalog &catalog, const QString &name, TensorIndex &index)
{
    const auto found = catalog.findTensor(name.toStdString());
    index = found.value_or(0);
    return found ? &catalog.tensors[*found] : nullptr;
}

/// SHA-256 of the logical stream, or empty where it cannot be read.
QByteArray digestOf(const Checkpoint &checkpoint, TensorIndex index)
{
    const TensorRef &tensor = checkpoint.catalog().tensors[index];
    QByteArray bytes(qsizetype(tensor.bytes), '\0');
    const MutableByteView out(reinterpret_cast<std::byte *>(bytes.data()),
                              std::size_t(bytes.size()));
    if (tensor.unreadable || !checkpoint.read(index, 0, out).ok())
        return {};
    return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
}

QString jsonOf(const Value &value)
{
    switch (value.type) {
    case ValueType::None: return QStringLiteral("null");
    case ValueType::Bool: return std::get<bool>(value.data) ? "true" : "false";
    case ValueType::Float: {
        const double number = std::get<double>(value.data);
        const QString text = QString::fromStdString(shortest(number));
        return std::isfinite(number) ? text : '"' + text + '"';
    }
    case ValueType::Int:
        if (const auto *small = std::get_if<std::int64_t>(&value.data))
            return QString::number(*small);
        if (const auto *large = std::get_if<std::uint64_t>(&value.data))
            return QString::number(*large);
        return QString::fromStdString(std::get<std::string>(value.data));
    case ValueType::Text: return QString::fromStdString(std::get<std::string>(value.data));
    default: return QStringLiteral("?");
    }
}

/// A JSON string's text, or the JSON itself for other things (numbers of any size).
QString plainJson(const QString &json, const Value &value)
{
    if (value.type != ValueType::Text)
        return json;
    return QJsonDocument::fromJson('[' + json.toUtf8() + ']').array().at(0).toString();
}

QList<QStringList> expectations()
{
    QList<QStringList> rows;
    for (const QString &line : QString::fromUtf8(fileBytes("expected.txt")).split('\n'))
        if (!line.isEmpty())
            rows << line.split('\t');
    return rows;
}

bool tells(const Catalog &catalog, const char *code)
{
    return std::any_of(catalog.diagnostics.begin(), catalog.diagnostics.end(),
                       [&](const Diagnostic &d) { return d.code == code; });
}

} // namespace

class TestTorchFiles : public QObject
{
    Q_OBJECT

private slots:
    void holdsWhatTorchHeld_data();
    void holdsWhatTorchHeld();
    void rootTensorIsNamedByItsFile();
    void tiesAreSeen();
    void hugeViewIsListedNotRead();
    void metaTensorIsAValue();
    void rankLocalPartIsLabelled();
    void objectsAreOpaque();
    void scriptedClassesHaveNoNumbers();
    void cyclesAreLinks();
    void bigEndianIsResolved();
    void cutFilesNeverLie_data();
    void cutFilesNeverLie();
    void bentFilesNeverCrash_data();
    void bentFilesNeverCrash();
    void flippedStorageIsTold();
    void unknownStorageHasNoType();
    void longRecordLeavesItIncomplete();
    void codeIsToldAndNotRun_data();
    void codeIsToldAndNotRun();
    void memoBombIsShownOnce();
    void deepNestingIsCapped();
    void longNumberListIsFolded();
    void brokenPartsLeaveItIncomplete_data();
    void brokenPartsLeaveItIncomplete();
};

void TestTorchFiles::holdsWhatTorchHeld_data()
{
    QTest::addColumn<QStringList>("files");
    QStringList files;
    for (const QStringList &row : expectations())
        if (!files.contains(row[0]))
            files << row[0];
    QVERIFY(files.size() >= 25);
    for (const QString &file : files)
        QTest::newRow(qPrintable(file)) << QStringList{file};
}

void TestTorchFiles::holdsWhatTorchHeld()
{
    QFETCH(QStringList, files);
    const Opened opened = openBytes(files[0], fileBytes(files[0]));
    QVERIFY2(opened.status.ok(), opened.status.ok() ? "" : opened.status.error().message().c_str());
    const Catalog &catalog = opened.checkpoint->catalog();
    for (const QStringList &row : expectations()) {
        if (row[0] != files[0])
            continue;
        if (row[1] == "tensor") {
            TensorIndex index = 0;
            const TensorRef *tensor = findTensor(catalog, row[2], index);
            QVERIFY2(tensor, qPrintable(row[2]));
            if (row[3] != "-")
                QCOMPARE(QString::fromStdString(tensor->dtype.name), row[3]);
            QCOMPARE(QString::fromStdString(tensor->shape.toString()), row[4]);
            QCOMPARE(QString::fromLatin1(digestOf(*opened.checkpoint, index)), row[5]);
            continue;
        }
        const auto value =
            std::find_if(catalog.values.begin(), catalog.values.end(), [&](const ValueRef &v) {
                return QString::fromStdString(v.name) == row[2];
            });
        QVERIFY2(value != catalog.values.end(), qPrintable(row[2]));
        QCOMPARE(jsonOf(value->value), plainJson(row[3], value->value));
    }
}

void TestTorchFiles::rootTensorIsNamedByItsFile()
{
    const Opened opened = openBytes("runs/runA.v1.pt", fileBytes("root_tensor.pt"));
    const auto &tensors = opened.checkpoint->catalog().tensors;
    QCOMPARE(tensors.size(), std::size_t(1));
    QVERIFY(tensors[0].path.keys.empty()); // so that it pairs with that of another file
    QCOMPARE(tensors[0].name, std::string("runA.v1"));
}

void TestTorchFiles::tiesAreSeen()
{
    const Opened opened = openBytes("tied.pt", fileBytes("tied.pt"));
    TensorIndex i = 0;
    const Catalog &catalog = opened.checkpoint->catalog();
    const auto storage = [&](const char *name) { return findTensor(catalog, name, i)->storage; };
    QVERIFY(storage("a.weight") != NoStorage);
    QCOMPARE(storage("a.weight"), storage("b.weight"));
    QVERIFY(storage("a.bias") != storage("b.bias"));
}

void TestTorchFiles::hugeViewIsListedNotRead()
{
    const Opened opened = openBytes("expanded_huge.pt", fileBytes("expanded_huge.pt"));
    TensorIndex i = 0;
    const TensorRef *huge = findTensor(opened.checkpoint->catalog(), "huge", i);
    QVERIFY(huge && huge->unreadable);
    QVERIFY(huge->unreadable->code == ErrorCode::Limit);
    QVERIFY(huge->unreadable->text.starts_with("an expanded view of 4.4 TB"));
    QCOMPARE(huge->shape.toString(), std::string("[1048576, 1048576]"));
    QVERIFY(!findTensor(opened.checkpoint->catalog(), "small", i)->unreadable);
}

void TestTorchFiles::metaTensorIsAValue()
{
    const Opened opened = openBytes("meta.pt", fileBytes("meta.pt"));
    const auto &values = opened.checkpoint->catalog().values;
    QCOMPARE(values.size(), std::size_t(1));
    QCOMPARE(std::get<std::string>(values[0].value.data),
             std::string("meta tensor bfloat16 [3, 4], no data"));
}

void TestTorchFiles::rankLocalPartIsLabelled()
{
    const Opened opened = openBytes("dtensor_rank1.pt", fileBytes("dtensor_rank1.pt"));
    TensorIndex i = 0;
    const TensorRef *local = findTensor(opened.checkpoint->catalog(), "d._local_tensor", i);
    QVERIFY(local && local->globalShape);
    QCOMPARE(local->globalShape->toString(), std::string("[8, 4]"));
    QCOMPARE(local->note, std::string("rank-local part of [8, 4]"));
}

void TestTorchFiles::objectsAreOpaque()
{
    // Class paths as make_base.py defines and imports them.
    const std::pair<const char *, const char *> classes[] = {
        {"settings", "make_base.Settings"}, {"namespace", "argparse.Namespace"},
        {"custom", "make_base.Custom"},     {"slots", "make_base.Slots"},
        {"colour", "make_base.Colour"},     {"level", "make_base.Level"},
        {"datetime", "datetime.datetime"},  {"partial", "functools.partial"},
        {"path", "pathlib.PurePosixPath"},  {"deque", "collections.deque"},
        {"counter", "collections.Counter"}, {"fraction", "fractions.Fraction"}};
    for (const char *file : {"objects_p2.pt", "objects_p4.pt"}) {
        const Opened opened = openBytes(file, fileBytes(file));
        for (const auto &[name, path] : classes) {
            const auto &values = opened.checkpoint->catalog().values;
            const auto value = std::find_if(values.begin(), values.end(),
                                            [n = name](const ValueRef &v) { return v.name == n; });
            QVERIFY2(value != values.end(), name);
            QVERIFY(value->value.type == ValueType::Opaque);
            QVERIFY(std::get<std::string>(value->value.data).starts_with(path));
        }
    }
}

// traced.pt was traced after scripted.pt by one process, so torch gave its classes numbers; both are of
// torch.nn.Linear, and of a class Scripted.
void TestTorchFiles::scriptedClassesHaveNoNumbers()
{
    QVERIFY(fileBytes("traced.pt").contains("___torch_mangle_"));
    for (const char *file : {"scripted.pt", "traced.pt"}) {
        const Opened opened = openBytes(file, fileBytes(file));
        std::map<std::string, std::string> classes;
        for (const ValueRef &value : opened.checkpoint->catalog().values) {
            if (value.value.type == ValueType::Opaque)
                classes[value.name] = std::get<std::string>(value.value.data);
        }
        QCOMPARE(classes[""], std::string("__torch__.Scripted"));
        QCOMPARE(classes["lin"], std::string("__torch__.torch.nn.modules.linear.Linear"));
    }
}

void TestTorchFiles::cyclesAreLinks()
{
    const Opened opened = openBytes("objects_p4.pt", fileBytes("objects_p4.pt"));
    int links = 0;
    for (const ValueRef &value : opened.checkpoint->catalog().values) {
        if (value.value.type != ValueType::Link)
            continue;
        ++links;
        QCOMPARE(value.name.substr(0, value.name.find('.')),
                 std::get<std::string>(value.value.data));
    }
    QCOMPARE(links, 2); // loop.2 and cyclic.self
}

void TestTorchFiles::bigEndianIsResolved()
{
    const Opened opened = openBytes("big_endian.pt", fileBytes("big_endian.pt"));
    TensorIndex i = 0;
    QVERIFY(findTensor(opened.checkpoint->catalog(), "i8", i));
    std::array<std::byte, 16> bytes{};
    QVERIFY(opened.checkpoint->read(i, 0, bytes).ok());
    QCOMPARE(loadLittle<std::int64_t>(bytes.data()), std::int64_t(1));
    QCOMPARE(loadLittle<std::int64_t>(bytes.data() + 8), std::int64_t(-2));
}

void TestTorchFiles::cutFilesNeverLie_data()
{
    QTest::addColumn<QString>("file");
    for (const char *file : {"protocol_2.pt", "root_none.pt", "legacy_many.pt", "plain_p0.pkl",
                             "plain_p2.pkl", "plain_p5.pkl"})
        QTest::newRow(file) << QString::fromLatin1(file);
}

/// Whatever opens of a cut file has the contents of the whole one.
void TestTorchFiles::cutFilesNeverLie()
{
    QFETCH(QString, file);
    const QByteArray whole = fileBytes(file);
    const Opened sound = openBytes(file, whole);
    std::set<QByteArray> digests;
    for (TensorIndex i = 0; i < sound.checkpoint->catalog().tensors.size(); ++i)
        digests.insert(digestOf(*sound.checkpoint, i));
    for (qsizetype size = 0; size < whole.size(); ++size) {
        const Opened cut = openBytes(file, whole.left(size));
        const Catalog &catalog = cut.checkpoint->catalog();
        const bool told = !cut.status.ok()
            || std::any_of(catalog.diagnostics.begin(), catalog.diagnostics.end(),
                           [](const Diagnostic &d) { return d.severity == Severity::Error; });
        QVERIFY2(told, qPrintable(QString::number(size)));
        for (TensorIndex i = 0; cut.status.ok() && i < catalog.tensors.size(); ++i) {
            const QByteArray digest = digestOf(*cut.checkpoint, i);
            QVERIFY2(digest.isEmpty() || digests.contains(digest),
                     qPrintable(QString::number(size)));
        }
    }
}

void TestTorchFiles::bentFilesNeverCrash_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("step");
    QTest::newRow("zip") << QStringLiteral("protocol_2.pt") << 1;
    QTest::newRow("stream") << QStringLiteral("legacy_many.pt") << 1;
    QTest::newRow("tar") << QStringLiteral("legacy_tar.pt") << 3;
    QTest::newRow("pickle") << QStringLiteral("plain_p0.pkl") << 1;
    QTest::newRow("sparse") << QStringLiteral("sparse.pt") << 7;
    QTest::newRow("numpy") << QStringLiteral("numpy_inside_p5.pt") << 31;
    QTest::newRow("export") << QStringLiteral("exported.pt2") << 17;
}

void TestTorchFiles::bentFilesNeverCrash()
{
    QFETCH(QString, file);
    QFETCH(int, step);
    const QByteArray whole = fileBytes(file);
    QVERIFY(!whole.isEmpty());
    for (qsizetype at = 0; at < whole.size(); at += step) {
        for (const char bits : {'\x01', '\x40', '\xff'}) {
            QByteArray bent = whole;
            bent[at] = char(bent[at] ^ bits);
            const Opened opened = openBytes(file, bent);
            const auto &tensors = opened.checkpoint->catalog().tensors;
            for (TensorIndex i = 0; i < tensors.size(); ++i) {
                if (tensors[i].bytes < 1'000'000)
                    (void)digestOf(*opened.checkpoint, i);
            }
        }
    }
}

void TestTorchFiles::flippedStorageIsTold()
{
    QByteArray bytes = fileBytes("aligned_1.pt");
    const Opened sound = openBytes("f", bytes);
    QVERIFY(!tells(sound.checkpoint->catalog(), "crc-mismatch"));
    const Extent &extent = sound.checkpoint->catalog().tensors[0].extents[0];
    bytes[qsizetype(extent.offset)] = char(bytes[qsizetype(extent.offset)] ^ 1);
    const Opened flipped = openBytes("f", bytes);
    QVERIFY(flipped.status.ok());
    QVERIFY(tells(flipped.checkpoint->catalog(), "crc-mismatch"));
    QVERIFY(!flipped.checkpoint->catalog().tensors[0].unreadable);
}

/// Where nothing tells a type none is made up, so that no difference is found in it.
void TestTorchFiles::unknownStorageHasNoType()
{
    QByteArray bytes = fileBytes("protocol_2.pt");
    const Opened opened = openBytes("f", bytes.replace("FloatStorage", "FlowtStorage"));
    QVERIFY(opened.status.ok());
    const TensorRef &tensor = opened.checkpoint->catalog().tensors.at(0);
    QVERIFY(tensor.unreadable);
    QVERIFY(!tensor.layoutKnown);
    QVERIFY2(tensor.unreadable->text.find("torch.FlowtStorage") != std::string::npos,
             tensor.unreadable->text.c_str());
}

/// torch 2.15 refuses such a file, "record size does not match": what is not read is no pass.
void TestTorchFiles::longRecordLeavesItIncomplete()
{
    QByteArray bytes = fileBytes("protocol_2.pt");
    QVERIFY(openBytes("f", bytes).checkpoint->catalog().complete);
    const QByteArray announced = raw("K\x10tq\x07QK\0K\x10\x85"),
                     fewer = raw("K\x0ftq\x07QK\0K\x0f\x85");
    QVERIFY(bytes.contains(announced));
    const Opened opened = openBytes("f", bytes.replace(announced, fewer));
    QVERIFY(opened.status.ok());
    const Catalog &catalog = opened.checkpoint->catalog();
    QVERIFY(tells(catalog, "mismatch"));
    QVERIFY(!catalog.complete);
    QVERIFY(!catalog.tensors.at(0).unreadable);
    QCOMPARE(catalog.tensors.at(0).elements, Index(15));
}

void TestTorchFiles::codeIsToldAndNotRun_data()
{
    QTest::addColumn<QByteArray>("pickle");
    const QByteArray command("touch forkpoint_pwned");
    const QByteArray text = raw("X\x15\0\0\0") + command;
    QTest::newRow("os.system") << QByteArray("\x80\x02"
                                             "cos\nsystem\n"
                                             + text + "\x85R.");
    QTest::newRow("inst") << QByteArray("(S'" + command + "'\nios\nsystem\n.");
    QTest::newRow("hidden behind STOP") << QByteArray("\x80\x02N.\x80\x02"
                                                      "cos\nsystem\n"
                                                      + text + "\x85R.");
    QTest::newRow("thrown away") << QByteArray("\x80\x02"
                                               "cos\nsystem\n"
                                               + text + "\x85R0N.");
    const QByteArray inner = QByteArray("\x80\x02"
                                        "cos\nsystem\n"
                                        + text + "\x85R.");
    QTest::newRow("in bytes") << QByteArray("\x80\x03"
                                            "C")
            + char(inner.size()) + inner + ".";
    QTest::newRow("as state") << QByteArray("\x80\x02"
                                            "ca\nB\n)\x81"
                                            "cos\nsystem\nb.");
}

void TestTorchFiles::codeIsToldAndNotRun()
{
    QFETCH(QByteArray, pickle);
    const Opened opened = openBytes("evil.pkl", pickle);
    QVERIFY(opened.status.ok());
    const Catalog &catalog = opened.checkpoint->catalog();
    QCOMPARE(catalog.findings.size(), std::size_t(1));
    QCOMPARE(catalog.findings[0].id, std::string("pickle-runs-code"));
    QVERIFY(catalog.findings[0].text.find("os.system") != std::string::npos);
    QVERIFY(tells(catalog, "dangerous-global"));
    QVERIFY(!QFile::exists("forkpoint_pwned"));
}

void TestTorchFiles::memoBombIsShownOnce()
{
    // 63 lists that hold the one before twice: 2^63 leaves as a tree.
    QByteArray pickle("\x80\x02]q\x01K\x07"
                      "a");
    for (int i = 2; i < 65; ++i) {
        const char before = char(i - 1), now = char(i);
        pickle += QByteArray("]q") + now + "(h" + before + "h" + before + "e";
    }
    QElapsedTimer timer;
    timer.start();
    const Opened opened = openBytes("bomb.pkl", pickle + ".");
    QVERIFY(opened.status.ok());
    QVERIFY(timer.elapsed() < 10'000);
    QVERIFY(tells(opened.checkpoint->catalog(), "limit"));
    QVERIFY(opened.checkpoint->catalog().values.size() < 100'000);
}

void TestTorchFiles::deepNestingIsCapped()
{
    const QByteArray pickle = QByteArray(50'000, ']') + QByteArray(49'999, 'a') + ".";
    const Opened opened = openBytes("deep.pkl", pickle);
    QVERIFY(opened.status.ok());
    QCOMPARE(opened.checkpoint->catalog().values.size(), std::size_t(1));
    QCOMPARE(opened.checkpoint->catalog().values[0].path.keys.size(), limits::PickleDepth);
}

void TestTorchFiles::longNumberListIsFolded()
{
    // hashlib.sha256(struct.pack("<65q", *range(65))).hexdigest(), and with a float: "<65d".
    QByteArray ints("\x80\x02](");
    for (int i = 0; i < 64; ++i)
        ints += QByteArray("K") + char(i);
    const auto valueOf = [](const QByteArray &pickle) {
        return openBytes("n", pickle).checkpoint->catalog().values[0].value;
    };
    const Value folded = valueOf(ints
                                 + "K\x40"
                                   "e.");
    QVERIFY(folded.type == ValueType::Numbers);
    QCOMPARE(folded.count, std::uint64_t(65));
    QCOMPARE(folded.digest,
             std::string("7bb4b16bbdc1c6ef40694d9ec165b4c114ae0bf0d9b863130560fa99163585f9"));
    // The same with a float in front and 2**53 + 1 or 2**53 behind: no float holds the former.
    const QByteArray half = raw("\x80\x02](G?\xe0\0\0\0\0\0\0");
    QByteArray many;
    for (int i = 0; i < 64; ++i)
        many += QByteArray("K") + char(i);
    const QByteArray exact = raw("\x8a\x07\0\0\0\0\0\0\x20"
                                 "e.");
    const QByteArray inexact = raw("\x8a\x07\1\0\0\0\0\0\x20"
                                   "e.");
    // hashlib.sha256(struct.pack("<66d", 0.5, *range(64), 2**53)).hexdigest()
    QCOMPARE(valueOf(half + many + exact).digest,
             std::string("280957050f2a4c3b20f09e193933bb1c831b3aa936ace1e1f1698dd619d021a6"));
    const Opened apart = openBytes("n", half + many + inexact);
    QCOMPARE(apart.checkpoint->catalog().values.size(), std::size_t(66));
    const auto &items = apart.checkpoint->catalog().values;
    QVERIFY(std::any_of(items.begin(), items.end(), [](const ValueRef &item) {
        return item.value.identicalTo(Value::integer((std::int64_t(1) << 53) + 1));
    }));
    const Value floats = valueOf(ints + raw("G\x40\x50\0\0\0\0\0\0") + "e.");
    QCOMPARE(floats.digest,
             std::string("a2c297b161f5e61a7e16c45d19feb53ec8f2ae0103d1a97d7c91756ccfccba51"));
    QCOMPARE(openBytes("n", ints + "e.").checkpoint->catalog().values.size(), std::size_t(64));
}

void TestTorchFiles::brokenPartsLeaveItIncomplete_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("record");
    const auto row = [](const char *file, const char *record) {
        QTest::newRow(record) << QString::fromLatin1(file) << QByteArray(record);
    };
    row("scripted.pt", "constants.pkl");
    row("exported.pt2", "model_weights_config.json");
    row("exported.pt2", "model_constants_config.json");
    row("exported.pt2", "sample_inputs/model.pt");
}

/// Parts of an archive without which the rest still opens.
void TestTorchFiles::brokenPartsLeaveItIncomplete()
{
    QFETCH(QString, file);
    QFETCH(QByteArray, record);
    QByteArray bytes = fileBytes(file);
    QVERIFY(openBytes(file, bytes).checkpoint->catalog().complete);
    // Its stored data follow the name and the extra field of the local header.
    const qsizetype name = bytes.indexOf(record);
    QVERIFY(name > 30);
    const qsizetype header = bytes.lastIndexOf("PK\x03\x04", name);
    const auto size = [&](qsizetype at) {
        return qsizetype(std::uint8_t(bytes[at]) | std::uint8_t(bytes[at + 1]) << 8);
    };
    bytes[header + 30 + size(header + 26) + size(header + 28)] = char(0xff);
    const Opened opened = openBytes(file, bytes);
    QVERIFY(opened.status.ok());
    const Catalog &catalog = opened.checkpoint->catalog();
    QVERIFY(!catalog.complete);
    QVERIFY(std::any_of(catalog.diagnostics.begin(), catalog.diagnostics.end(),
                        [](const Diagnostic &d) { return d.severity == Severity::Error; }));
}

QTEST_APPLESS_MAIN(TestTorchFiles)
#include "tst_torch_files.moc"
