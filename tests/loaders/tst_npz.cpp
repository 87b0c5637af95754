// SPDX-License-Identifier: GPL-3.0-or-later
// Archives of numpy 2.4.6 against what was in memory when they were written, and bent ones.
#include "loaders/arrays/npz_loader.h"
#include "tests/support/deflated.h"
#include "tests/support/loaded_file.h"

#include <QTest>
#include <QtEndian>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/npz/");

Loaded open(const QString &file)
{
    return load(npzLoader(), memory(fileBytes(Folder + file), file.toStdString()));
}

void append(QByteArray &to, quint64 value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        to += char(value >> (8 * i));
}

/// An archive of one deflated member, with whatever decoded size it is to announce.
QByteArray deflatedArchive(const QByteArray &name, const QByteArray &stream, quint32 announced)
{
    QByteArray common; // version, flags, method, time, date, crc 0, sizes
    append(common, 20, 2);
    append(common, 0, 2);
    append(common, 8, 2);
    append(common, 0, 4);
    append(common, 0, 4);
    append(common, quint64(stream.size()), 4);
    append(common, announced, 4);
    append(common, quint64(name.size()), 2);
    QByteArray file = "PK\x03\x04" + common + QByteArray(2, '\0') + name + stream;
    const auto directory = quint64(file.size());
    const QByteArray entry =
        "PK\x01\x02" + QByteArray(2, '\0') + common + QByteArray(16, '\0') + name;
    file += entry + "PK\x05\x06" + QByteArray(4, '\0');
    append(file, 1, 2);
    append(file, 1, 2);
    append(file, quint64(entry.size()), 4);
    append(file, directory, 4);
    append(file, 0, 2);
    return file;
}

const QByteArray ArrayHead = [] {
    QByteArray header = "{'descr': '|u1', 'fortran_order': False, 'shape': (50000000,)}";
    header = header.leftJustified(117, ' ') + '\n';
    return QByteArray("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header;
}();

/// Counts how much of it is read.
class CountingSource final : public ByteSource
{
public:
    explicit CountingSource(QByteArray bytes) : m_bytes(std::move(bytes)) {}
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return std::uint64_t(m_bytes.size()); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        bytesRead += out.size();
        std::memcpy(out.data(), m_bytes.constData() + offset, out.size());
        return {};
    }
    mutable std::atomic<std::uint64_t> bytesRead = 0;

private:
    QByteArray m_bytes;
    std::string m_name = "counted";
};

} // namespace

class TestNpz : public QObject
{
    Q_OBJECT

private slots:
    void showsWhatWasWritten_data()
    {
        QTest::addColumn<QString>("file");
        for (const char *file : {"names.npz", "model_compressed.npz", "empty.npz"})
            QTest::newRow(file) << QString(file);
    }

    void showsWhatWasWritten()
    {
        QFETCH(const QString, file);
        const Loaded loaded = open(file);
        QVERIFY(loaded.status.ok());
        std::size_t tensors = 0;
        for (const QStringList &row : readTable(Folder + "expected.txt")) {
            if (row[0] != file)
                continue;
            ++tensors;
            const auto index = loaded.find(fromJsonText(row[2]).toStdString());
            QVERIFY2(index, qPrintable(row[2]));
            const TensorRef &tensor = loaded.catalog().tensors[*index];
            QCOMPARE(tensor.unreadable.has_value(), row[1] == "damaged");
            if (tensor.unreadable)
                continue;
            QCOMPARE(QString::fromLatin1(loaded.digest(*index)), row[5]);
            QCOMPARE(QString::fromStdString(tensor.shape.toString()), row[4]);
            if (row[3] != "-" && tensor.dtype.name != "void16")
                QCOMPARE(QString::fromStdString(tensor.dtype.name), row[3]);
        }
        QCOMPARE(loaded.catalog().tensors.size(), tensors);
        QCOMPARE(tensors > 0, file != "empty.npz");
    }

    void bentFiles_data() { addBentFiles(Folder); }

    void bentFiles()
    {
        QFETCH(const QString, outcomes);
        const Loaded loaded = open(QTest::currentDataTag());
        QVERIFY2(outcomes.split('|').contains(outcomeOf(loaded)), qPrintable(outcomeOf(loaded)));
        QVERIFY(!loaded.status.ok() || !loaded.catalog().diagnostics.empty()
                || QString(QTest::currentDataTag()) == "npz_slip.npz");
    }

    void soundMembersStayReadableBesideDamage()
    {
        const Loaded cut = open("npz_deflate_cut.npz");
        QVERIFY(cut.catalog().tensors[*cut.find("a")].unreadable);
        QVERIFY(!cut.digest(*cut.find("b")).isEmpty());
        const Loaded mixed = open("npz_not_npy.npz");
        QVERIFY(mixed.hasUnreadable());
        QVERIFY(std::any_of(mixed.catalog().tensors.begin(), mixed.catalog().tensors.end(),
                            [](const TensorRef &tensor) { return !tensor.unreadable; }));
        const Loaded twice = open("npz_same_name.npz");
        QVERIFY(twice.catalog().tensors[0].unreadable);
        QVERIFY(open("npz_crc_wrong.npz").tells("disagree with the recorded CRC-32"));
    }

    void everyCutIsRefused()
    {
        const QByteArray whole = fileBytes(Folder + "names.npz");
        for (qsizetype length = 0; length < whole.size(); ++length)
            QVERIFY(!load(npzLoader(), memory(whole.left(length))).status.ok());
    }

    void listingDoesNotDecodeTheData()
    {
        const qsizetype zeros = 50'000'000;
        const QByteArray stream = deflated(ArrayHead + QByteArray(zeros, '\0'), 9);
        const auto source = std::make_shared<CountingSource>(
            deflatedArchive("zeros.npy", stream, quint32(ArrayHead.size() + zeros)));
        const Loaded loaded = load(npzLoader(), source);
        QVERIFY(loaded.status.ok());
        QVERIFY(!loaded.catalog().tensors[0].unreadable);
        QCOMPARE(loaded.catalog().tensors[0].bytes, std::uint64_t(zeros));
        // The tail, a header, and one or few pieces of input of a decoder.
        QVERIFY2(source->bytesRead < source->size() + 400'000,
                 qPrintable(QString::number(source->bytesRead)));
        std::vector<std::byte> last(1, std::byte(1));
        QVERIFY(loaded.checkpoint->read(0, std::uint64_t(zeros) - 1, last).ok());
        QCOMPARE(last[0], std::byte(0));
    }

    void announcedSizesThatCannotBeAreRefused()
    {
        const QByteArray stream = deflated(ArrayHead + QByteArray(1000, '\0'), 9);
        const Loaded bomb =
            load(npzLoader(), memory(deflatedArchive("bomb.npy", stream, 0xfffffff0u)));
        QVERIFY(bomb.status.ok());
        QVERIFY(bomb.catalog().tensors[0].unreadable);
        QVERIFY(bomb.tells("deflated bytes can hold"));
        // Announces 152 bytes and inflates to more: what is announced is all that is ever decoded.
        const Loaded liar = load(npzLoader(), memory(deflatedArchive("liar.npy", stream, 152)));
        QVERIFY(liar.catalog().tensors[0].unreadable);
    }

    void probesByContent()
    {
        const auto probe = [](const QByteArray &bytes) {
            const auto source = memory(bytes);
            const auto head = toBytes(bytes.left(4096));
            return npzLoader().probe(head, *source);
        };
        QCOMPARE(probe(fileBytes(Folder + "names.npz")), Confidence::Yes);
        QCOMPARE(probe(fileBytes(Folder + "empty.npz")), Confidence::Yes);
        QCOMPARE(probe(fileBytes(QStringLiteral(FORKPOINT_TEST_DATA "/zip/torch_hand_zip.pt"))),
                 Confidence::No);
        QCOMPARE(probe("nothing of the kind"), Confidence::No);
        QCOMPARE(probe({}), Confidence::No);
    }
};

QTEST_APPLESS_MAIN(TestNpz)
#include "tst_npz.moc"
