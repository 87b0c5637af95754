// SPDX-License-Identifier: GPL-3.0-or-later
// Files in the newest format of HDF5, of which the worker reads parts itself, when they are damaged:
// with checksums that show it and with checksums that are right.
#include "app/h5worker/metadata_checksum.h"
#include "loaders/hdf5/hdf5_client.h"
#include "tests/support/hdf5_files.h"

#include <random>

#include <QElapsedTimer>
#include <QMap>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr qsizetype ChecksumBytes = 4;

/// A block of metadata: where it begins, how long it is, and where in it its checksum is.
struct Block
{
    qsizetype at = 0, size = 0, checksumAt = 0;
};

std::uint32_t storedChecksum(const QByteArray &bytes, const Block &block)
{
    return loadLittle<std::uint32_t>(
        reinterpret_cast<const std::byte *>(bytes.constData() + block.at + block.checksumAt));
}

std::uint32_t checksum(const QByteArray &bytes, const Block &block)
{
    QByteArray covered = bytes.mid(block.at, block.size);
    if (block.checksumAt == block.size - ChecksumBytes)
        covered.chop(ChecksumBytes);
    else
        covered.replace(block.checksumAt, ChecksumBytes, QByteArray(ChecksumBytes, '\0'));
    return metadataChecksum(toBytes(covered));
}

void sign(QByteArray &bytes, const Block &block)
{
    const std::uint32_t right = checksum(bytes, block);
    for (qsizetype i = 0; i < ChecksumBytes; ++i)
        bytes[block.at + block.checksumAt + i] = char(right >> (8 * i));
}

/// The length of a block is wherever its checksum is right; of a direct block of a fractal heap, whose
/// checksum stands in front, a power of two.
std::optional<Block> blockAt(const QByteArray &bytes, qsizetype at)
{
    constexpr qsizetype Most = 4096, DirectChecksumAt = 18;
    const bool isDirect = bytes.mid(at, 4) == "FHDB";
    for (qsizetype size = isDirect ? 512 : 8; at + size <= bytes.size() && size <= 16 * Most;
         size = isDirect ? 2 * size : size + 1) {
        const Block block{at, size, isDirect ? DirectChecksumAt : size - ChecksumBytes};
        if (!isDirect && size > Most)
            break;
        if (checksum(bytes, block) == storedChecksum(bytes, block))
            return block;
    }
    return std::nullopt;
}

/// The objects of all global heaps: each behind a head of 16 bytes.
QList<Block> heapObjects(const QByteArray &bytes)
{
    constexpr qsizetype Head = 16, SizeAt = 8;
    const auto number = [&](qsizetype at) {
        return qsizetype(
            loadLittle<std::uint64_t>(reinterpret_cast<const std::byte *>(bytes.constData() + at)));
    };
    QList<Block> objects;
    for (qsizetype heap = bytes.indexOf("GCOL"); heap >= 0;
         heap = bytes.indexOf("GCOL", heap + 4)) {
        const qsizetype end = heap + number(heap + SizeAt);
        for (qsizetype at = heap + Head; at < end && bytes[at] != '\0';) {
            const qsizetype size = number(at + SizeAt);
            objects.append({at + Head, size, size - ChecksumBytes});
            at += Head + (size + 7) / 8 * 8;
        }
    }
    return objects;
}

/// A few blocks of each kind.
QList<Block> blocksOf(const QByteArray &bytes, const QList<QByteArray> &signatures)
{
    constexpr int OfAKind = 4;
    QList<Block> blocks;
    for (const QByteArray &signature : signatures) {
        qsizetype at = bytes.indexOf(signature);
        for (int count = 0; count < OfAKind && at >= 0; at = bytes.indexOf(signature, at + 4)) {
            if (const auto block = blockAt(bytes, at)) {
                blocks.append(*block);
                ++count;
            }
        }
    }
    return blocks;
}

/// Signature, version and type of what a B-tree holds.
QByteArray tree(const char *signature, char type)
{
    return QByteArray(signature) + '\0' + type;
}

/// What libhdf5 reads as well may end the worker by a signal.
void addFiles()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QList<QByteArray>>("signatures");
    QTest::addColumn<bool>("isReadHereAlone");
    QTest::newRow("arrays of chunks")
        << "layout5.h5" << QList<QByteArray>{"FAHD", "FADB", "EAHD", "EAIB", "EASB", "EADB"}
        << true;
    constexpr char Chunks = 11, Names = 8, Huge = 1;
    QTest::newRow("trees of chunks")
        << "layout5.h5"
        << QList<QByteArray>{tree("BTHD", Chunks), tree("BTIN", Chunks), tree("BTLF", Chunks)}
        << true;
    QTest::newRow("headers") << "layout5.h5" << QList<QByteArray>{"OHDR"} << false;
    QTest::newRow("dense attributes") << "dense_latest.h5"
                                      << QList<QByteArray>{"FRHP",
                                                           "FHIB",
                                                           "FHDB",
                                                           "OHDR",
                                                           tree("BTHD", Names),
                                                           tree("BTIN", Names),
                                                           tree("BTLF", Names),
                                                           tree("BTHD", Huge),
                                                           tree("BTLF", Huge)}
                                      << false;
}

/// What of a damaged file is told as if it were sound, is.
void compare(const Loaded &damaged, const Loaded &sound)
{
    const Catalog &catalog = damaged.catalog();
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        const auto was = named(sound, tensor.name);
        if (!tensor.unreadable && was)
            QVERIFY2(damaged.digest(i) == sound.digest(*was), tensor.name.c_str());
    }
    QMap<QString, const Value *> values;
    for (const ValueRef &value : sound.catalog().values)
        values[QString::fromStdString(value.name)] = &value.value;
    for (const ValueRef &value : catalog.values) {
        const Value *const was = values.value(QString::fromStdString(value.name));
        QVERIFY2(was != nullptr && was->identicalTo(value.value), value.name.c_str());
    }
    if (catalog.values.size() < sound.catalog().values.size())
        QVERIFY(!catalog.complete);
}

} // namespace

class TestHdf5Newest : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    /// Text in filtered chunks, which the worker reads itself.
    void refusesTextInChunks_data()
    {
        QTest::addColumn<QByteArray>("reason");
        QTest::newRow("filled") << QByteArray("may have elements that were never written");
        QTest::newRow("long_chunks") << QByteArray("has chunks of more than 4194304 bytes");
    }
    void refusesTextInChunks()
    {
        QFETCH(QByteArray, reason);
        const std::string why =
            whyUnreadable(openHdf5("filtered_texts.h5"), QTest::currentDataTag());
        QVERIFY2(why.find(reason.toStdString()) != std::string::npos, why.c_str());
    }

    /// Of lengths of 4 bytes libhdf5 1.10 knows none without a limit.
    void endlessDimensionsInNarrowFilesAreTold()
    {
        const std::string why = whyUnreadable(openHdf5("narrow/indexes.h5"), "extensible");
        QVERIFY2(why.empty() || why.find("libhdf5") != std::string::npos,
                 why.c_str()); // newer ones do
    }

    /// Numbers that cannot be, under checksums that are right.
    void impossibleNumbersCostTheirDatasetAlone_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("array") << "bent_array.h5";
        QTest::newRow("continuation") << "bent_continuation.h5";
    }
    void impossibleNumbersCostTheirDatasetAlone()
    {
        QFETCH(QString, file);
#if defined(__SANITIZE_ADDRESS__)
        if (file == "bent_continuation.h5")
            QSKIP("the sanitizer ends a process that asks for 2^64 bytes, as libhdf5 does");
#endif
        const Loaded loaded = openHdf5(file);
        for (const char *const name : {"a", "b", "c"}) {
            const auto index = named(loaded, name);
            QVERIFY2(index, name);
            QCOMPARE(loaded.catalog().tensors[*index].unreadable.has_value(), *name == 'b');
        }
    }

    /// Two blocks, each listed twice, stand in the rows and columns of the four that are a grid.
    void repeatedBlocksAreNoGrid()
    {
        QByteArray bytes = fileBytes(Hdf5Folder + "regions_earliest.h5");
        const auto list = [](std::initializer_list<char> numbers) {
            QByteArray stored;
            for (const char number : numbers)
                stored += QByteArray(1, number) + QByteArray(3, '\0');
            return stored;
        };
        const QByteArray four = list({0, 1, 1, 3, 0, 5, 1, 7, 3, 1, 4, 3, 3, 5, 4, 7});
        QCOMPARE(bytes.count(four), 1);
        bytes.replace(four, list({0, 1, 1, 3, 0, 1, 1, 3, 3, 5, 4, 7, 3, 5, 4, 7}));
        const Loaded loaded = load(hdf5Loader(), memory(bytes, "repeated.h5"));
        QVERIFY(loaded.status.ok());
        std::string told;
        for (const ValueRef &value : loaded.catalog().values) {
            if (value.name == "blocks")
                told = value.value.toDisplay();
        }
        QVERIFY2(told.find("/g/y [0:2, 1:4] [3:5, 5:8]") != std::string::npos, told.c_str());
    }

    /// Text of a fill value is not read: it is needed where a chunk is not stored alone.
    void fillOfTextCostsWhatWasNotWritten()
    {
        const Loaded loaded = openHdf5("filled_table.h5");
        const auto whole = named(loaded, "whole.v"), want = named(loaded, "want");
        QVERIFY(whole && want);
        QVERIFY(!loaded.catalog().tensors[*whole].unreadable);
        QVERIFY(loaded.digest(*whole) == loaded.digest(*want));
        const std::string why = whyUnreadable(loaded, "gaps.v");
        QVERIFY2(why.find("never written") != std::string::npos, why.c_str());
    }

    /// A bit changed anywhere: told, or nothing changed; never other elements or values.
    void damageIsTold_data()
    {
        addFiles();
    }
    void damageIsTold()
    {
        QFETCH(QString, file);
        QFETCH(QList<QByteArray>, signatures);
        const Loaded sound = openHdf5(file);
        const QByteArray bytes = fileBytes(Hdf5Folder + file);
        std::mt19937 random(3);
        const QList<Block> blocks = blocksOf(bytes, signatures);
        QVERIFY(blocks.size() >= signatures.size());
        for (const Block &block : blocks) {
            QByteArray damaged = bytes;
            damaged[block.at + 4 + qsizetype(random() % (block.size - 4))] ^=
                char(1 << random() % 8);
            const Loaded loaded = load(hdf5Loader(), memory(damaged, "damaged.h5"));
            if (loaded.status.ok())
                compare(loaded, sound);
        }
    }

    /// The same under a checksum that is right: whoever reads the block has to see it, or reads what the
    /// file then says. Always an answer, and soon.
    void signedDamageEndsWell_data()
    {
        addFiles();
    }
    void signedDamageEndsWell()
    {
        QFETCH(QString, file);
        QFETCH(QList<QByteArray>, signatures);
        QFETCH(bool, isReadHereAlone);
        const QByteArray bytes = fileBytes(Hdf5Folder + file);
        std::mt19937 random(5);
        const QList<Block> blocks = blocksOf(bytes, signatures);
        QVERIFY(blocks.size() >= signatures.size());
        for (int round = 0; round < 2; ++round) {
            for (const Block &block : blocks) {
                QByteArray damaged = bytes;
                // Most of what leads elsewhere stands first.
                const qsizetype first = std::min<qsizetype>(block.size - 4, 60);
                damaged[block.at + 4 + qsizetype(random() % first)] ^= char(1 << random() % 8);
                sign(damaged, block);
                QElapsedTimer timer;
                timer.start();
                const Loaded loaded = load(hdf5Loader(), memory(damaged, "damaged.h5"));
                QVERIFY2(timer.elapsed() < 10'000, bytes.mid(block.at, 4).constData());
                const std::string why = loaded.status.ok() ? "" : loaded.status.error().text;
                const bool isCrash = why.find("signal") != std::string::npos
                    || (loaded.status.ok() && loaded.tells("signal"));
                QVERIFY2(!isCrash || !isReadHereAlone, bytes.mid(block.at, 4).constData());
            }
        }
    }

    /// Lists of sources and selections lie in global heaps; the lists alone have checksums.
    void bentGlobalHeapsEndWell_data()
    {
        QTest::addColumn<QString>("file");
        for (const char *const file :
             {"virtual/newest.h5", "virtual/old_header.h5", "narrow/virtual.h5",
              "regions_latest.h5", "regions_earliest.h5", "filtered_texts.h5"})
            QTest::newRow(file) << file;
    }
    void bentGlobalHeapsEndWell()
    {
        QFETCH(QString, file);
        const QByteArray bytes = fileBytes(Hdf5Folder + file);
        std::mt19937 random(7);
        int signedOnes = 0;
        for (const Block &object : heapObjects(bytes)) {
            const bool isSigned =
                object.size > 8 && checksum(bytes, object) == storedChecksum(bytes, object);
            signedOnes += isSigned;
            for (qsizetype at = -16; at < object.size; at += 1 + qsizetype(random() % 32)) {
                QByteArray damaged = bytes;
                damaged[object.at + at] ^= char(1 << random() % 8);
                if (isSigned)
                    sign(damaged, object);
                // libhdf5 reads the text of other files, and walks over the heads of all objects,
                // over some for ever: it is stopped then.
                const bool mayCrash = at < 0 || (file.startsWith("virtual") && !isSigned);
                OpenOptions options;
                if (mayCrash)
                    options.hdf5Worker.patience = std::chrono::seconds(3);
                QElapsedTimer timer;
                timer.start();
                const Loaded loaded = load(hdf5Loader(), memory(damaged, "damaged.h5"), options);
                QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(object.at + at)));
                QVERIFY2(mayCrash || (loaded.status.ok() && !loaded.tells("signal")),
                         qPrintable(QString::number(object.at + at)));
            }
        }
        QCOMPARE(signedOnes > 3, file.startsWith("virtual"));
    }

    void cutFilesAreRefused()
    {
        const QByteArray bytes = fileBytes(Hdf5Folder + "dense_latest.h5");
        for (int part = 0; part < 24; ++part) {
            const Loaded loaded =
                load(hdf5Loader(), memory(bytes.first(bytes.size() * part / 24), "cut.h5"));
            QVERIFY2(!loaded.status.ok(), qPrintable(QString::number(part)));
        }
    }
};

QTEST_GUILESS_MAIN(TestHdf5Newest)
#include "tst_hdf5_newest.moc"
