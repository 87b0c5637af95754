// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 files of h5py, hdf5plugin and Keras against what was in memory when they were written.
#include "loaders/hdf5/hdf5_client.h"
#include "tests/support/hdf5_files.h"

#include <atomic>

#include <QJsonObject>
#include <QMap>
#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString &Folder = Hdf5Folder;

QString shapeOf(const TensorRef &tensor)
{
    return QString::fromStdString(tensor.shape.toString());
}

/// Counts the ranges read from a file.
class CountingSource final : public ByteSource
{
public:
    explicit CountingSource(const QByteArray &bytes) : m_bytes(toBytes(bytes)) {}
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_bytes.size(); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        ++reads;
        FP_CHECK(checkRange(m_name, offset, out.size(), size()));
        std::copy_n(m_bytes.begin() + std::ptrdiff_t(offset), out.size(), out.begin());
        return {};
    }
    mutable std::atomic<int> reads = 0;

private:
    std::vector<std::byte> m_bytes;
    std::string m_name = "counted.h5";
};

QByteArray text(const QString &value)
{
    return value.toUtf8();
}

} // namespace

class TestHdf5 : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    void readsWhatWasWritten_data()
    {
        QTest::addColumn<QStringList>("row");
        for (const char *const table :
             {"expected.txt", "expected_others.txt", "expected_attributes.txt",
              "expected_newest.txt", "expected_newest_values.txt", "expected_virtual.txt",
              "expected_narrow.txt", "expected_references.txt", "expected_links.txt"}) {
            for (const QStringList &row : readTable(Folder + table))
                QTest::newRow(qPrintable(row[0] + ' ' + row[2])) << row;
        }
    }
    void readsWhatWasWritten()
    {
        QFETCH(QStringList, row);
        if (!m_opened.contains(row[0]))
            m_opened[row[0]] = openHdf5(row[0]);
        const Loaded &loaded = m_opened[row[0]];
        QVERIFY2(loaded.status.ok(),
                 loaded.status.ok() ? "" : loaded.status.error().message().c_str());
        if (row[1] == "value")
            return checkValue(loaded, row);
        const auto index = named(loaded, row[2].toStdString());
        QVERIFY(index);
        const TensorRef &tensor = loaded.catalog().tensors[*index];
        QVERIFY2(!tensor.unreadable, tensor.unreadable ? tensor.unreadable->message().c_str() : "");
        if (!row[3].startsWith('|'))
            QCOMPARE(QString::fromStdString(tensor.dtype.name), row[3]);
        QCOMPARE(shapeOf(tensor), row[4]);
        QCOMPARE(loaded.digest(*index), text(row[5]));
    }

    void listsNothingElse()
    {
        QMap<QString, std::size_t> counts;
        for (const QStringList &row : readTable(Folder + "expected.txt"))
            counts[row[0]] += row[1] == "tensor" ? 1 : 0;
        for (const char *const file :
             {"types.h5", "chunks.h5", "values.h5", "user_block.h5", "odd.h5"})
            QCOMPARE(openHdf5(file).catalog().tensors.size(), counts[file]);
    }

    void sharesTheStorageOfHardLinks()
    {
        const Loaded loaded = openHdf5("values.h5");
        const auto &tensors = loaded.catalog().tensors;
        QCOMPARE(tensors[*named(loaded, "hard")].storage, tensors[*named(loaded, "g.x")].storage);
        QVERIFY(loaded.tells("an external link"));
        QVERIFY(!loaded.hasUnreadable());
    }

    void refusesWhatVirtualDatasetsMayNotShow_data()
    {
        QTest::addColumn<QByteArray>("reason");
        QTest::newRow("outside") << QByteArray("must lie inside its directory, the path has '..'");
        QTest::newRow("absolute") << QByteArray("must lie inside its directory");
        QTest::newRow("too_small")
            << QByteArray("shows another number of elements than its source");
        QTest::newRow("other_type")
            << QByteArray("shows 'a' of 'parts.h5', which is of another type");
    }
    void refusesWhatVirtualDatasetsMayNotShow()
    {
        QFETCH(QByteArray, reason);
        const Loaded loaded = openHdf5("virtual/whole.h5");
        const std::string why = whyUnreadable(loaded, QTest::currentDataTag());
        QVERIFY2(why.find(reason.toStdString()) != std::string::npos, why.c_str());
    }

    void refusesWhatNoLibraryShows_data()
    {
        QTest::addColumn<QByteArray>("reason");
        QTest::newRow("of_a_link_outside") << QByteArray("an external link ('part0.h5:/a')");
        QTest::newRow("of_other_numbers") << QByteArray("which is of another type");
        QTest::newRow("too_few") << QByteArray("shows another number of elements than its source");
        QTest::newRow("itself") << QByteArray("shows itself");
        QTest::newRow("of_growing") << QByteArray("shows a virtual dataset that has grown");
        QTest::newRow("above") << QByteArray("must lie inside its directory, the path has '..'");
    }
    void refusesWhatNoLibraryShows()
    {
        QFETCH(QByteArray, reason);
        for (const char *const file : {"virtual/every_latest.h5", "virtual/every_earliest.h5"}) {
            const Loaded loaded = openHdf5(file);
            const std::string why = whyUnreadable(loaded, QTest::currentDataTag());
            QVERIFY2(why.find(reason.toStdString()) != std::string::npos, why.c_str());
            QVERIFY(!loaded.catalog().complete); // text of another length
            QVERIFY(loaded.tells("shows 'code' of 'series/part0.h5', which is of another type"));
        }
    }

    /// libhdf5 fills up what is not there without a word.
    void tellsMissingSources()
    {
        const Loaded loaded = openHdf5("virtual/every_latest.h5");
        QVERIFY(loaded.tells("shows 'a' of 'series/none.h5', which is not there: its elements have "
                             "the fill value"));
        QVERIFY(loaded.tells("shows 'z' of 'series/part0.h5', which is not there"));
        QVERIFY(!loaded.tells("no%b"));
    }

    /// Who opened one file did not open those beside it.
    void fileAloneShowsItselfAlone()
    {
        const Loaded loaded =
            load(hdf5Loader(),
                 FileSource::open((Folder + "virtual/whole.h5").toStdString(), "whole.h5").value());
        const TensorRef &tensor = loaded.catalog().tensors[*named(loaded, "of_below")];
        QVERIFY(tensor.unreadable);
        QVERIFY(tensor.unreadable->text.find("this file alone was opened") != std::string::npos);
    }

    void refusesWhatLiesElsewhere_data()
    {
        QTest::addColumn<QByteArray>("reason");
        QTest::newRow("stored_outside") << QByteArray("external storage");
        QTest::newRow("virtual") << QByteArray("virtual dataset");
        QTest::newRow("filtered") << QByteArray("needs filter 65000");
        QTest::newRow("petabytes") << QByteArray("must be stored");
    }
    void refusesWhatLiesElsewhere()
    {
        QFETCH(QByteArray, reason);
        const Loaded loaded = openHdf5("elsewhere.h5");
        QVERIFY(loaded.status.ok());
        const auto index = named(loaded, QTest::currentDataTag());
        QVERIFY(index);
        const auto &unreadable = loaded.catalog().tensors[*index].unreadable;
        QVERIFY(unreadable);
        QVERIFY2(unreadable->text.find(reason.toStdString()) != std::string::npos,
                 unreadable->text.c_str());
        QVERIFY(!loaded.digest(*named(loaded, "sound")).isEmpty());
    }

    void readsNothingOfBrokenChunks()
    {
        const Loaded loaded = openHdf5("elsewhere.h5");
        for (const char *const name : {"broken", "too_long"}) {
            std::vector<std::byte> bytes(256);
            const Status status = loaded.checkpoint->read(*named(loaded, name), 0, bytes);
            QVERIFY(!status.ok());
            QVERIFY(status.error().text.find("deflate") != std::string::npos);
            QVERIFY(status.error().place.find("chunk at byte") != std::string::npos);
        }
    }

    /// Row by row through chunks that hold many rows: each chunk is read and decoded once.
    void decodesChunksOnceForRows()
    {
        const auto source = std::make_shared<CountingSource>(fileBytes(Folder + "chunks.h5"));
        const Loaded loaded = load(hdf5Loader(), source);
        const TensorIndex index = *named(loaded, "all");
        const int before = source->reads;
        std::vector<std::byte> row(23 * 4);
        for (std::uint64_t i = 0; i < 37; ++i)
            QVERIFY(loaded.checkpoint->read(index, i * row.size(), row).ok());
        QCOMPARE(source->reads - before, 4 * 3); // chunks of 10 x 9 in 37 x 23
    }

    void readsAnyWindow()
    {
        const Loaded loaded = openHdf5("types.h5");
        for (const char *const name : {"compound.part.m", "compound_chunked.x", "array"}) {
            const TensorIndex index = *named(loaded, name);
            std::vector<std::byte> whole(loaded.catalog().tensors[index].bytes);
            QVERIFY(loaded.checkpoint->read(index, 0, whole).ok());
            for (std::size_t from = 0; from < whole.size(); from += 5) {
                std::vector<std::byte> part(std::min<std::size_t>(7, whole.size() - from));
                QVERIFY(loaded.checkpoint->read(index, from, part).ok());
                QVERIFY(std::equal(part.begin(), part.end(), whole.begin() + std::ptrdiff_t(from)));
            }
        }
    }

    /// What is not read is said, and is never taken for equal.
    void saysWhatIsNotRead()
    {
        const Loaded loaded = openHdf5("regions.h5");
        QVERIFY(loaded.status.ok());
        QVERIFY(!loaded.catalog().complete);
        QVERIFY(loaded.tells("lists of text of any length"));
    }

    /// Of a committed type the bytes count: without them two unlike ones would look alike.
    void tellsCommittedTypesApart()
    {
        const Loaded loaded = openHdf5("attributes.h5");
        const Value type = valueNamed(loaded, "committed");
        QCOMPARE(type.digest.size(), std::size_t(64));
        QVERIFY(type.identicalTo(valueNamed(loaded, "committed_again")));
        QVERIFY(!type.identicalTo(valueNamed(loaded, "committed_other")));
    }

    /// In Blosc 2 such elements are whatever was in memory.
    void refusesElementsThatWereNeverSet()
    {
        const Loaded loaded = openHdf5("special.h5");
        std::vector<std::byte> bytes(20 * 30 * 4);
        const Status status = loaded.checkpoint->read(*named(loaded, "never_set"), 0, bytes);
        QVERIFY(!status.ok());
        QVERIFY2(status.error().text.find("holds elements that were never set")
                     != std::string::npos,
                 status.error().text.c_str());
    }

    void refusesCutFiles()
    {
        const QByteArray bytes = fileBytes(Folder + "user_block.h5");
        for (qsizetype length = 0; length < bytes.size(); length += 211) {
            const Loaded loaded = load(hdf5Loader(), memory(bytes.first(length), "cut.h5"));
            QVERIFY2(!loaded.status.ok(), qPrintable(QString::number(length)));
            QCOMPARE(QByteArray(loaded.status.error().file.c_str()), QByteArray("cut.h5"));
        }
    }

private:
    QMap<QString, Loaded> m_opened; ///< each file once, for all its rows

    /// Opaque and empty where there is none.
    static Value valueNamed(const Loaded &loaded, const std::string &name)
    {
        for (const ValueRef &value : loaded.catalog().values) {
            if (value.name == name)
                return value.value;
        }
        return Value::opaque("is not there");
    }

    static void checkValue(const Loaded &loaded, const QStringList &row)
    {
        const Value value = valueNamed(loaded, row[2].toStdString());
        QVERIFY(!value.identicalTo(Value::opaque("is not there")));
        const QJsonValue want = QJsonDocument::fromJson('[' + row[3].toUtf8() + ']').array().at(0);
        if (want.isNull()) {
            QCOMPARE(int(value.type), int(ValueType::None));
            return;
        }
        if (want.isObject()) {
            QCOMPARE(value.count, std::uint64_t(want.toObject()["numbers"].toInt()));
            QCOMPARE(QByteArray(value.digest.c_str()), text(want.toObject()["sha256"].toString()));
            return;
        }
        if (want.isBool()) {
            QCOMPARE(std::get<bool>(value.data), want.toBool());
            return;
        }
        if (want.isString()) {
            QCOMPARE(QByteArray(std::get<std::string>(value.data).c_str()), text(want.toString()));
            return;
        }
        const auto *const integer = std::get_if<std::int64_t>(&value.data);
        QCOMPARE(integer != nullptr ? double(*integer) : std::get<double>(value.data),
                 want.toDouble());
    }
};

QTEST_GUILESS_MAIN(TestHdf5)
#include "tst_hdf5.moc"
