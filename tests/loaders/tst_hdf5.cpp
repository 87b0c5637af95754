// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 files of h5py, hdf5plugin and Keras against what was in memory when they were written, and
// the worker that looks through them: ended, stopped, starved, and talking nonsense.
#include "loaders/chunk_cache.h"
#include "loaders/chunk_filters.h"
#include "loaders/hdf5_client.h"
#include "loaders/hdf5_protocol.h"
#include "tests/support/hdf5_files.h"

#include <atomic>

#include <QElapsedTimer>
#include <QJsonObject>
#include <QMap>
#include <QTemporaryDir>
#include <QTest>

#include <signal.h>
#include <unistd.h>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString &Folder = Hdf5Folder;

QString shapeOf(const TensorRef &tensor)
{
    return QString::fromStdString(tensor.shape.toString());
}

/// The children of this process's main thread: the worker that runs right now.
pid_t childProcess()
{
    const QByteArray list = fileBytes(QStringLiteral("/proc/self/task/%1/children").arg(getpid()));
    return pid_t(list.split(' ').value(0).toInt());
}

/// A file that does something to the worker when it asks for the n-th range.
class TrapSource final : public ByteSource
{
public:
    TrapSource(const QByteArray &bytes, int reads, int signal)
        : m_bytes(toBytes(bytes)),
          m_reads(reads),
          m_signal(signal)
    {
    }
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_bytes.size(); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        if (--m_reads == 0 && childProcess() > 0)
            kill(childProcess(), m_signal);
        FP_CHECK(checkRange(m_name, offset, out.size(), size()));
        std::copy_n(m_bytes.begin() + std::ptrdiff_t(offset), out.size(), out.begin());
        return {};
    }

private:
    std::vector<std::byte> m_bytes;
    mutable int m_reads;
    int m_signal;
    std::string m_name = "trap.h5";
};

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

Hdf5Dataset exampleDataset()
{
    Hdf5Dataset dataset;
    dataset.path = {"a", "b\xff"};
    dataset.object = 96;
    dataset.dims = {3, 4};
    dataset.elementSize = 12;
    Hdf5Field field;
    field.path = {"x"};
    field.offset = 4;
    field.loops = {{2, 4}};
    field.scalar = {Hdf5Scalar::Kind::Float, 4, true, 32, 0, 31, 23, 8, 0, 23, 127, true, "float"};
    dataset.fields = {field};
    dataset.declaredType = "bfloat16";
    dataset.fill = {std::byte(1), std::byte(2)};
    dataset.layout = Hdf5Dataset::Layout::Chunked;
    dataset.bytes = {std::byte(9)};
    dataset.chunkDims = {2, 2};
    dataset.filters = {{1, {6}}, {32001, {1, 2, 3}}};
    dataset.mappings = {{"other.h5", "/x", {0, 1}, {3, 2}, {4}, {6}}};
    dataset.problem = "why";
    return dataset;
}

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
              "expected_newest.txt", "expected_newest_values.txt"}) {
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
        QTest::newRow("missing") << QByteArray("its data lie in another file ('none.h5')");
        QTest::newRow("nothing") << QByteArray("has no such dataset");
        QTest::newRow("too_small") << QByteArray("shows a box [3, 4] of 'a' as a box [9, 4]");
        QTest::newRow("other_type") << QByteArray("which is of another type");
        QTest::newRow("overlapping") << QByteArray("shows two sources at one place");
        QTest::newRow("of_virtual") << QByteArray("which is virtual itself");
    }
    void refusesWhatVirtualDatasetsMayNotShow()
    {
        QFETCH(QByteArray, reason);
        const Loaded loaded = openHdf5("virtual/whole.h5");
        const std::string why = whyUnreadable(loaded, QTest::currentDataTag());
        QVERIFY2(why.find(reason.toStdString()) != std::string::npos, why.c_str());
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

    /// A frame with two layers "b2nd", each of a whole chunk: sound but for the second one.
    void refusesASecondLayerOfBlocks()
    {
        const auto layer = QByteArray::fromHex("c6000000009500019"
                                               "1d30000000000000004"
                                               "91d20000000491d200000004");
        QByteArray frame = QByteArray::fromHex("9ea8") + QByteArray("b2frame\0", 8)
            + QByteArray::fromHex("d200000100") + QByteArray(23, '\0')
            + QByteArray::fromHex("d30000000000000000d200000001") + QByteArray(35, '\0')
            + QByteArray::fromHex("93000000de0002");
        const auto place = char(frame.size() + 2 * 10);
        for (int i = 0; i < 2; ++i)
            frame += QByteArray("\xa4"
                                "b2nd\xd2\0\0\0",
                                9)
                + place;
        frame += layer;
        frame.resize(256);
        const auto &filters = chunkFilters();
        const auto blosc2 = std::find_if(filters.begin(), filters.end(),
                                         [](const ChunkFilter &each) { return each.id == 32026; });
        QVERIFY(blosc2 != filters.end());
        const auto twice = blosc2->undo(toBytes(frame), {}, 4);
        QVERIFY(!twice.ok());
        QVERIFY2(twice.error().text.find("must be a frame") != std::string::npos,
                 twice.error().text.c_str());
        frame[frame.indexOf("b2nd") + 3] = 'x';
        const auto once = blosc2->undo(toBytes(frame), {}, 4);
        QVERIFY(!once.ok());
        QVERIFY2(once.error().text.find("must be a frame") == std::string::npos,
                 once.error().text.c_str());
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

    void survivesAWorkerThatIsEnded()
    {
        for (const int reads : {1, 2}) {
            const auto source =
                std::make_shared<TrapSource>(fileBytes(Folder + "chunks.h5"), reads, SIGKILL);
            const Loaded loaded = load(hdf5Loader(), source);
            const std::string told = loaded.status.ok() ? "" : loaded.status.error().message();
            QVERIFY2(told.find("signal 9") != std::string::npos || loaded.tells("signal 9"),
                     told.c_str());
        }
        QVERIFY(openHdf5("user_block.h5").status.ok());
    }

    void survivesAWorkerThatHangs()
    {
        OpenOptions options;
        options.hdf5Worker.patience = std::chrono::milliseconds(300);
        const auto source =
            std::make_shared<TrapSource>(fileBytes(Folder + "types.h5"), 1, SIGSTOP);
        QElapsedTimer timer;
        timer.start();
        const Loaded loaded = load(hdf5Loader(), source, options);
        QVERIFY(!loaded.status.ok());
        QVERIFY(loaded.status.error().text.find("no progress in 300 ms") != std::string::npos);
        QVERIFY(timer.elapsed() < 10'000);
        QCOMPARE(childProcess(), 0);
    }

    void survivesAWorkerWithoutMemory()
    {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("sanitizers need the address space");
#endif
        OpenOptions options;
        options.hdf5Worker.memoryBytes = 1u << 20;
        const Loaded loaded = openHdf5("chunks.h5", options);
        QVERIFY(!loaded.status.ok() || !loaded.catalog().complete);
        QVERIFY(openHdf5("chunks.h5").status.ok());
    }

    /// The dataset whose chunks were being told, and none that was told wholly.
    void blamesTheDatasetThatWasNotToldWholly_data()
    {
        QTest::addColumn<bool>("isWhole");
        QTest::newRow("told") << true;
        QTest::newRow("being told") << false;
    }
    void blamesTheDatasetThatWasNotToldWholly()
    {
        QFETCH(bool, isWhole);
        Hdf5Dataset dataset = exampleDataset();
        dataset.path = {"a"};
        dataset.dims = dataset.chunkDims = {2};
        dataset.elementSize = 4;
        dataset.fields.front().path.clear();
        dataset.fields.front().offset = 0;
        dataset.fields.front().loops.clear();
        dataset.filters.clear();
        dataset.mappings.clear();
        dataset.bytes.clear();
        dataset.fill.assign(4, std::byte(0));
        dataset.declaredType.clear();
        const QTemporaryDir folder;
        QFile frames(folder.filePath("frames"));
        QVERIFY(frames.open(QIODevice::WriteOnly));
        const auto write = [&frames](const std::vector<std::byte> &frame) {
            frames.write(reinterpret_cast<const char *>(frame.data()), qint64(frame.size()));
        };
        write(hdf5Frame(dataset));
        write(hdf5Frame(std::vector<Hdf5Chunk>{{0, 0, 8, 0}}));
        if (isWhole)
            write(hdf5Frame(std::vector<Hdf5Chunk>()));
        frames.close();
        QFile program(folder.filePath("worker"));
        QVERIFY(program.open(QIODevice::WriteOnly));
        program.write("#!/bin/sh\ncat '" + frames.fileName().toUtf8() + "' >&0\nkill -11 $$\n");
        program.close();
        program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        OpenOptions options;
        options.hdf5Worker.program = program.fileName().toStdString();
        const Loaded loaded = openHdf5("types.h5", options);
        QVERIFY(loaded.status.ok());
        QVERIFY(loaded.tells("signal 11"));
        QVERIFY(!loaded.catalog().complete);
        QVERIFY(named(loaded, "a"));
        QCOMPARE(whyUnreadable(loaded, "a").empty(), isWhole);
    }

    void survivesAnyOtherProgram_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QByteArray>("told");
        QTest::newRow("ends") << QByteArray("exit 3") << QByteArray("ended with status 3");
        QTest::newRow("is killed") << QByteArray("kill -11 $$") << QByteArray("signal 11");
        QTest::newRow("talks nonsense")
            << QByteArray("printf 'nonsense, as it were' >&0") << QByteArray("must be a frame");
        QTest::newRow("announces much")
            << QByteArray("printf '\\377\\377\\377\\377A' >&0") << QByteArray("must be a frame");
        QTest::newRow("unknown kind")
            << QByteArray("printf '\\0\\0\\0\\0\\310' >&0") << QByteArray("unknown kind");
        // 64 KiB at byte 0, again and again, of which it takes nothing.
        QTest::newRow("asks for ever")
            << QByteArray("while :; do printf '\\14\\0\\0\\0@\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0'"
                          " >&0; done")
            << QByteArray("no progress");
        QTest::newRow("says nothing")
            << QByteArray("while :; do :; done") << QByteArray("no progress");
    }
    void survivesAnyOtherProgram()
    {
        QFETCH(QByteArray, script);
        QFETCH(QByteArray, told);
        const QTemporaryDir folder;
        QFile program(folder.filePath("worker"));
        QVERIFY(program.open(QIODevice::WriteOnly));
        program.write("#!/bin/sh\n" + script + "\n");
        program.close();
        program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        OpenOptions options;
        options.hdf5Worker.program = program.fileName().toStdString();
        options.hdf5Worker.patience =
            std::chrono::milliseconds(script.contains("while") ? 300 : 10'000);
        const Loaded loaded = openHdf5("types.h5", options);
        QVERIFY(!loaded.status.ok());
        QVERIFY2(loaded.status.error().text.find(told.toStdString()) != std::string::npos,
                 loaded.status.error().text.c_str());
    }

    void takesAMessageApart()
    {
        const Hdf5Dataset dataset = exampleDataset();
        checkMessage(dataset, parseHdf5Dataset);
        checkMessage(std::vector<Hdf5Chunk>{{1, 2, 3, 4}, {5, 6, 7, 8}}, parseHdf5Chunks);
        checkMessage(Hdf5Open{1, 2, 3, 4}, parseHdf5Open);
        checkMessage(Hdf5Read{5, 6}, parseHdf5Read);
        checkMessage(Hdf5Decode{{{1, {6}}, {2, {}}}, {1, 2, 3, 4}, 5}, parseHdf5Decode);
        checkMessage(Hdf5Problem{Severity::Warning, ErrorCode::Refused, {"p"}, true, false, "t"},
                     parseHdf5Problem);
        checkMessage(Hdf5Value{{"v"}, false, Hdf5Value::Nothing{}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, false, Hdf5Value::Link{"/x"}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, false, Hdf5Value::Opaque{"x", {std::byte(3)}}},
                     parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, true, std::vector<std::string>{"a", ""}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, true, std::vector<std::int64_t>{-1, 2}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, true, std::vector<double>{-0.0, 1e300}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, true, std::vector<bool>{true, false}}, parseHdf5Value);
    }

    /// Whatever the bytes: an answer or an error, and never more than asked for.
    void decodesNothingBeyondTheChunk()
    {
        std::uint32_t state = 7;
        const auto next = [&state] { return state = state * 1664525 + 1013904223; };
        for (const ChunkFilter &filter : chunkFilters()) {
            if (!filter.whyNot.empty())
                continue;
            for (int round = 0; round < 300; ++round) {
                std::vector<std::byte> stored(next() >> 24);
                for (std::byte &byte : stored)
                    byte = std::byte(next() >> 24 & (round % 2 == 0 ? 0xff : 0x1f));
                const std::vector<std::uint32_t> parameters = {2, 0, 16, 0, 4, 1, 0, 0, 0, 0,
                                                               0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
                const auto decoded = filter.undo(stored, parameters, 1000);
                QVERIFY(!decoded.ok() || decoded->size() <= 1000);
            }
        }
    }

    void forgetsChunksUsedLongAgo()
    {
        ChunkCache cache(10);
        int decoded = 0;
        const auto get = [&](std::uint64_t chunk) {
            return cache.get(
                this, chunk, [] { return Result<ChunkCache::Stored>(ChunkCache::Stored()); },
                [&](const ChunkCache::Stored &) -> Result<std::vector<std::byte>> {
                    ++decoded;
                    return std::vector<std::byte>(4);
                });
        };
        QVERIFY(get(1).ok() && get(2).ok() && get(1).ok());
        QCOMPARE(decoded, 2);
        QVERIFY(get(3).ok()); // 2 goes
        QVERIFY(get(1).ok());
        QCOMPARE(decoded, 3);
        QVERIFY(get(2).ok());
        QCOMPARE(decoded, 4);
        cache.forget(this);
        QVERIFY(get(2).ok());
        QCOMPARE(decoded, 5);
    }

    /// Two files that are equal: what is stored alike and undone alike is decoded once.
    void decodesEqualChunksOnce()
    {
        ChunkCache cache(1000);
        int decoded = 0;
        const auto get = [&](const void *owner, int stored, const char *filters) {
            return cache
                .get(
                    owner, 0,
                    [&] {
                        return Result<ChunkCache::Stored>(ChunkCache::Stored{
                            std::vector<std::byte>(3, std::byte(stored)), filters});
                    },
                    [&](const ChunkCache::Stored &own) -> Result<std::vector<std::byte>> {
                        ++decoded;
                        return std::vector<std::byte>(4, own.bytes[0]);
                    })
                .value();
        };
        const int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
        const auto first = get(&a, 7, "deflate");
        QVERIFY(get(&b, 7, "deflate") == first);
        QCOMPARE(decoded, 1);
        QVERIFY(get(&c, 8, "deflate") != first);
        QVERIFY(get(&d, 7, "shuffle") != first);
        QCOMPARE(decoded, 3);
        cache.forget(&a);
        cache.forget(&b);
        QCOMPARE((*get(&e, 7, "deflate"))[0], std::byte(7));
        QCOMPARE(decoded, 4);
        QCOMPARE((*get(&f, 7, ""))[0], std::byte(7)); // no filter: nothing to spare
        QCOMPARE(decoded, 5);
    }

private:
    QMap<QString, Loaded> m_opened; ///< each file once, for all its rows

    template <class Message, class Parse>
    static void checkMessage(const Message &message, Parse parse)
    {
        const std::vector<std::byte> frame = hdf5Frame(message);
        const ByteView payload = ByteView(frame).subspan(Hdf5FrameHeader);
        const auto head = parseHdf5FrameHead(ByteView(frame).first(Hdf5FrameHeader));
        QVERIFY(head.ok());
        QCOMPARE(std::size_t(head->size), payload.size());
        const auto parsed = parse(payload);
        QVERIFY(parsed.ok());
        QVERIFY(*parsed == message);
        for (std::size_t length = 0; length < payload.size(); ++length)
            QVERIFY(!parse(payload.first(length)).ok());
        std::vector<std::byte> longer(payload.begin(), payload.end());
        longer.push_back(std::byte(0));
        QVERIFY(!parse(longer).ok());
    }

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
