// SPDX-License-Identifier: GPL-3.0-or-later
// Archives of Python's zipfile (tests/data/zip/make_zip.py) and bent ones.
#include "loaders/storage/inflate_source.h"
#include "loaders/storage/zip_reader.h"
#include "tests/support/deflated.h"
#include "tests/support/loaded_file.h"

#include <QRandomGenerator>
#include <QTest>
#include <QtEndian>

#include <thread>

#include <unistd.h>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/zip/");

/// Compressible, but never the same twice, so that a wrong place shows.
QByteArray longText(qsizetype bytes)
{
    QByteArray text;
    for (int i = 0; text.size() < bytes; ++i)
        text += QByteArray::number(quint64(i) * 2654435761u) + " loss\n";
    text.truncate(bytes);
    return text;
}

qint64 residentBytes()
{
    const QList<QByteArray> pages = fileBytes("/proc/self/statm").split(' ');
    return pages.value(1).toLongLong() * sysconf(_SC_PAGESIZE);
}

QByteArray readFrom(const ByteSource &source, quint64 offset, quint64 size)
{
    std::vector<std::byte> bytes(size);
    if (!source.read(offset, bytes).ok())
        return "unreadable";
    return QByteArray(reinterpret_cast<const char *>(bytes.data()), qsizetype(size));
}

/// "refuse", "open partly" if a record is damaged or cannot be decoded, else "open".
QString zipOutcome(const QByteArray &bytes)
{
    const auto archive = ZipArchive::open(memory(bytes));
    if (!archive.ok())
        return "refuse";
    for (const ZipEntry &entry : archive->entries()) {
        if (!archive->readEntry(entry, 1 << 20).ok())
            return "open partly";
    }
    return "open";
}

} // namespace

class TestZipReader : public QObject
{
    Q_OBJECT

private slots:
    void readsWhatPythonWrote()
    {
        QMap<QString, std::size_t> numbers;
        const auto rows = readTable(Folder + "members.txt");
        QCOMPARE(rows.size(), 12);
        for (const QStringList &row : rows) {
            const auto archive = ZipArchive::open(memory(fileBytes(Folder + row[0])));
            QVERIFY(archive.ok());
            QVERIFY(archive->diagnostics().empty());
            QCOMPARE(archive->entries().size(), std::size_t(6));
            const ZipEntry &entry = archive->entries()[numbers[row[0]]++];
            QCOMPARE(QString::fromStdString(entry.name), row[1]);
            QCOMPARE(QString::number(entry.method), row[2]);
            QCOMPARE(QString::number(entry.size), row[3]);
            QVERIFY(!entry.damage);
            const auto bytes = archive->readEntry(entry, entry.size);
            QVERIFY(bytes.ok());
            QCOMPARE(QString::fromLatin1(sha256(*bytes)), row[4]);
            QVERIFY(archive->checkCrc(entry, {}).ok());
            QCOMPARE(archive->find(row[1].toStdString()), &entry);
            QVERIFY(!archive->isRepeated(entry.name));
            if (entry.size > 0)
                QVERIFY(archive->readEntry(entry, entry.size - 1).error().code == ErrorCode::Limit);
        }
    }

    void everyCutIsRefused()
    {
        const QByteArray whole = fileBytes(Folder + "mixed.zip");
        QVERIFY(whole.size() > 1000);
        for (qsizetype length = 0; length < whole.size(); ++length)
            QVERIFY(!ZipArchive::open(memory(whole.left(length))).ok());
    }

    void noFlippedByteCrashes()
    {
        const QByteArray whole = fileBytes(Folder + "torch_hand_zip.pt");
        QCOMPARE(zipOutcome(whole), QString("open"));
        for (qsizetype i = 0; i < whole.size(); ++i) {
            for (const char flip : {char(0x01), char(0x80), char(0xff)}) {
                QByteArray bent = whole;
                bent[i] = char(bent[i] ^ flip);
                const QString outcome = zipOutcome(bent);
                QVERIFY(!outcome.isEmpty());
            }
        }
    }

    void bentArchives_data()
    {
        QTest::addColumn<QString>("outcomes");
        for (const QStringList &row : readTable(Folder + "expected.txt"))
            QTest::newRow(qPrintable(row[0])) << row[2];
    }

    void bentArchives()
    {
        QFETCH(const QString, outcomes);
        const QString outcome = zipOutcome(fileBytes(Folder + QTest::currentDataTag()));
        QVERIFY2(outcomes.split('|').contains(outcome), qPrintable(outcome));
    }

    void eachDamageSaysWhy_data()
    {
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("words");
        const auto row = [](const char *file, const char *code, const char *words) {
            QTest::newRow(file) << QString(code) << QString(words);
        };
        row("torch_size_lies.pt", "malformed", "must end before the directory");
        row("torch_size_huge.pt", "malformed", "must end before the directory");
        row("torch_offset_past_end.pt", "malformed", "must lie before the directory");
        row("torch_offset_wraps.pt", "malformed", "must lie before the directory");
        row("torch_overlap.pt", "mismatch", "another name");
        row("torch_local_name_differs.pt", "mismatch", "another name");
        row("torch_encrypted.pt", "unsupported", "is encrypted");
        row("torch_method_99.pt", "unsupported", "method 99");
    }

    void eachDamageSaysWhy()
    {
        QFETCH(const QString, code);
        QFETCH(const QString, words);
        const auto archive = ZipArchive::open(memory(fileBytes(Folder + QTest::currentDataTag())));
        QVERIFY(archive.ok());
        QStringList damages;
        for (const ZipEntry &entry : archive->entries()) {
            if (!entry.damage)
                continue;
            QVERIFY(!archive->openEntry(entry).ok());
            damages.append(QString::fromUtf8(toString(entry.damage->code).data()) + " "
                           + QString::fromStdString(entry.damage->message()));
        }
        QCOMPARE(damages.size(), 1); // the others stay readable
        QVERIFY2(damages[0].startsWith(code) && damages[0].contains(words), qPrintable(damages[0]));
    }

    void aRecordThatRunsIntoTheNextIsDamaged()
    {
        QByteArray bytes = fileBytes(Folder + "torch_hand_zip.pt");
        const qsizetype entry = bytes.indexOf("PK\x01\x02");
        for (const qsizetype field : {entry + 20, entry + 24}) { // both sizes of the first record
            const auto size = qFromLittleEndian<quint32>(bytes.constData() + field);
            qToLittleEndian<quint32>(size + 1, bytes.data() + field);
        }
        const auto archive = ZipArchive::open(memory(bytes));
        QVERIFY(archive.ok());
        QVERIFY(archive->entries().size() > 2);
        QVERIFY(archive->entries()[0].damage);
        QVERIFY(archive->entries()[0].damage->text.starts_with("runs into the record at byte"));
        QVERIFY(!archive->entries()[1].damage);
    }

    void recordsOnOneHeaderAreAllDamaged()
    {
        // The first directory entry once more, in place of the second: same name, same header.
        const QByteArray whole = fileBytes(Folder + "torch_hand_zip.pt");
        const qsizetype first = whole.indexOf("PK\x01\x02");
        const qsizetype second = whole.indexOf("PK\x01\x02", first + 4);
        const qsizetype end = whole.indexOf("PK\x05\x06");
        const QByteArray entry = whole.mid(first, second - first);
        QByteArray bytes = whole.left(first) + entry.repeated(3) + whole.mid(end);
        char *const record = bytes.data() + first + 3 * entry.size();
        qToLittleEndian<quint16>(3, record + 8);
        qToLittleEndian<quint16>(3, record + 10);
        qToLittleEndian<quint32>(quint32(3 * entry.size()), record + 12);
        const auto archive = ZipArchive::open(memory(bytes));
        QVERIFY(archive.ok());
        QCOMPARE(archive->entries().size(), std::size_t(3));
        for (const ZipEntry &damaged : archive->entries())
            QCOMPARE(damaged.damage->text, std::string("another record has the same local header"));
    }

    void odditiesAreTold_data()
    {
        QTest::addColumn<QString>("code");
        QTest::newRow("torch_trailing.pt") << "trailing-bytes";
        QTest::newRow("torch_comment.pt") << "second-end-record";
    }

    void odditiesAreTold()
    {
        QFETCH(const QString, code);
        const auto archive = ZipArchive::open(memory(fileBytes(Folder + QTest::currentDataTag())));
        QVERIFY(archive.ok());
        QCOMPARE(QString::fromStdString(archive->diagnostics().front().code), code);
        QVERIFY(archive->entries().size() > 2);
    }

    void wrongChecksumsAreFound()
    {
        for (const char *file : {"torch_crc_wrong.pt", "torch_bit_flip.pt"}) {
            const auto archive = ZipArchive::open(memory(fileBytes(Folder + file)));
            QVERIFY(archive.ok());
            int wrong = 0;
            for (const ZipEntry &entry : archive->entries()) {
                const Status status = archive->checkCrc(entry, {});
                if (!status.ok()) {
                    QVERIFY(status.error().code == ErrorCode::Mismatch);
                    QVERIFY(entry.name.ends_with("data/0"));
                    ++wrong;
                }
            }
            QCOMPARE(wrong, 1);
        }
    }

    void repeatedNamesAreTold()
    {
        const auto archive = ZipArchive::open(
            memory(fileBytes(QStringLiteral(FORKPOINT_TEST_DATA "/npz/npz_same_name.npz"))));
        QVERIFY(archive.ok());
        QVERIFY(archive->isRepeated("a.npy"));
        QCOMPARE(archive->find("a.npy"), &archive->entries()[0]);
        QCOMPARE(archive->diagnostics().front().code, std::string("repeated-name"));
    }

    void entryCountsAreCheckedBeforeMemoryIsTaken()
    {
        // A zip64 end record that announces 2^40 entries in a directory of 2^60 bytes.
        QByteArray record("PK\x06\x06", 4);
        const auto number = [&record](quint64 value, int bytes) {
            for (int i = 0; i < bytes; ++i)
                record += i < 8 ? char(value >> (8 * i)) : char(0);
        };
        number(44, 8);
        number(0, 12);
        number(quint64(1) << 40, 8);
        number(quint64(1) << 40, 8);
        number(0, 8);
        number(0, 8);
        record += QByteArray("PK\x06\x07", 4) + QByteArray(16, '\0') + QByteArray("PK\x05\x06", 4)
            + QByteArray(4, '\0') + QByteArray(12, '\xff') + QByteArray(2, '\0');
        record[56 + 16] = 1;
        const auto archive = ZipArchive::open(memory(record));
        QVERIFY(!archive.ok());
        QVERIFY(archive.error().code == ErrorCode::Limit);
    }

    void inflatesAtAnyPlace()
    {
        const QByteArray text = longText(24 << 20);
        const InflateSource source(memory(deflated(text)), quint64(text.size()), "deflated");
        QRandomGenerator random(11);
        for (int i = 0; i < 60; ++i) {
            const quint64 offset = random.bounded(quint64(text.size()));
            const quint64 size =
                std::min<quint64>(random.bounded(200000u), quint64(text.size()) - offset);
            QVERIFY(readFrom(source, offset, size) == text.mid(qsizetype(offset), qsizetype(size)));
        }
        QVERIFY(readFrom(source, quint64(text.size()) - 5, 5) == text.right(5));
        QVERIFY(readFrom(source, 0, 5) == text.left(5));
    }

    void inflatesFromSeveralThreads()
    {
        const QByteArray text = longText(6 << 20);
        const InflateSource source(memory(deflated(text)), quint64(text.size()), "deflated");
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 10; ++i) {
                    const int offset = (t * 1337 + i * 599999) % (5 << 20);
                    if (readFrom(source, quint64(offset), 1000) != text.mid(offset, 1000))
                        ++wrong;
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        QCOMPARE(wrong.load(), 0);
    }

    void manySourcesShareAFewDecoders()
    {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("the sanitizer keeps freed memory");
#endif
        // 4000 decoders with their input would be 400 MB.
        const QByteArray text = longText(300000);
        const auto stream = memory(deflated(text));
        const qint64 before = residentBytes();
        std::vector<std::unique_ptr<InflateSource>> sources;
        for (int i = 0; i < 4000; ++i) {
            sources.push_back(std::make_unique<InflateSource>(stream, quint64(text.size()), "x"));
            QVERIFY(readFrom(*sources.back(), 1000, 10) == text.mid(1000, 10));
        }
        for (const auto &source : sources) // however long ago: a new decoder reads the same
            QVERIFY(readFrom(*source, 500, 10) == text.mid(500, 10));
        QVERIFY2(residentBytes() - before < (100 << 20),
                 qPrintable(QString::number(residentBytes() - before)));
    }

    void aLyingOrCutStreamIsAnErrorWhereItBreaks()
    {
        const QByteArray text = longText(300000);
        const QByteArray stream = deflated(text);
        const auto error = [](const ByteSource &source, quint64 offset, quint64 size) {
            std::vector<std::byte> bytes(size);
            const Status status = source.read(offset, bytes);
            return status.ok() ? QString() : QString::fromStdString(status.error().message());
        };
        const InflateSource longer(memory(stream), 300001, "x");
        QVERIFY(readFrom(longer, 0, 300000) == text);
        QVERIFY(error(longer, 0, 300001).contains("announced are 300001"));
        const InflateSource shorter(memory(stream), 299999, "x");
        QVERIFY(readFrom(shorter, 0, 299998) == text.left(299998));
        QVERIFY(error(shorter, 299998, 1).contains("goes on"));
        const InflateSource cut(memory(stream.left(stream.size() / 2)), 300000, "x");
        QVERIFY(readFrom(cut, 0, 1000) == text.left(1000));
        QVERIFY(error(cut, 0, 300000).contains("is cut here"));
        QVERIFY(readFrom(cut, 500, 1000) == text.mid(500, 1000)); // what precedes stays readable
        const InflateSource noise(memory(QByteArray(100, '\xff')), 1000, "x");
        QVERIFY(error(noise, 0, 10).contains("no deflate stream"));
        QVERIFY(error(longer, 300000, 2).contains("ends at byte 300001"));
    }
};

QTEST_APPLESS_MAIN(TestZipReader)
#include "tst_zip_reader.moc"
