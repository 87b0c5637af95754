// SPDX-License-Identifier: GPL-3.0-or-later
// The worker that looks through HDF5 files: ended, stopped, starved, and talking nonsense; and the messages
// that it and its parent exchange.
#include "loaders/hdf5/hdf5_client.h"
#include "loaders/hdf5/hdf5_protocol.h"
#include "tests/support/hdf5_files.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <signal.h>
#include <unistd.h>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

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
    const Hdf5Selection::Steps growing{1, 4, 0, 2, true}, six{3, 1, 1, 6};
    dataset.mappings = {{"other%b.h5",
                         "/x",
                         {Hdf5Selection::Kind::Grid, {growing, six}, {}, {}},
                         {Hdf5Selection::Kind::Blocks, {}, {}, {{{0, 1}, {3, 2}}}}}};
    dataset.valueType = "text of 4 bytes";
    dataset.fillText = "none";
    dataset.problem = "why";
    return dataset;
}

} // namespace

class TestHdf5Worker : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    void survivesAWorkerThatIsEnded()
    {
        for (const int reads : {1, 2}) {
            const auto source =
                std::make_shared<TrapSource>(fileBytes(Hdf5Folder + "chunks.h5"), reads, SIGKILL);
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
            std::make_shared<TrapSource>(fileBytes(Hdf5Folder + "types.h5"), 1, SIGSTOP);
        QElapsedTimer timer;
        timer.start();
        const Loaded loaded = load(hdf5Loader(), source, options);
        QVERIFY(!loaded.status.ok());
        QVERIFY(loaded.status.error().text.find("told of nothing new for 300 ms")
                != std::string::npos);
        QVERIFY(timer.elapsed() < 10'000);
        QCOMPARE(childProcess(), 0);
    }

    /// A global heap whose first object has a size that leads back to it; other libraries may see that.
    void survivesAFileThatLeadsInACircle()
    {
        constexpr qsizetype CollectionHead = 16, SizeAt = 8;
        QByteArray bytes = fileBytes(Hdf5Folder + "odd.h5");
        const qsizetype heap = bytes.indexOf("GCOL");
        QVERIFY(heap > 0);
        const qsizetype at = heap + CollectionHead + SizeAt;
        bytes.replace(at, 8, QByteArray(1, '\xf0') + QByteArray(7, '\xff'));
        OpenOptions options;
        options.hdf5Worker.patience = std::chrono::seconds(1);
        const Loaded loaded = load(hdf5Loader(), memory(bytes, "circle.h5"), options);
        QVERIFY(loaded.status.ok() && !loaded.catalog().complete);
        QVERIFY(!loaded.digest(*named(loaded, "slash/name")).isEmpty()); // told before
        QVERIFY(
            loaded.tells("was stopped: it told of nothing new for 1 s after 'slash/name', as where "
                         "damage leads libhdf5 in a circle")
            || loaded.tells("libhdf5"));
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
            << QByteArray("told of nothing new for");
        QTest::newRow("says nothing")
            << QByteArray("while :; do :; done") << QByteArray("told of nothing new for");
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
        checkMessage(Hdf5Value{{"v"}, {}, false, Hdf5Value::Nothing{}}, parseHdf5Value);
        checkMessage(
            Hdf5Value{
                {"v"}, Hdf5Value::Elements{{2, 3}, "list"}, true, std::vector<std::string>{"a"}},
            parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, false, Hdf5Value::Link{"/x"}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, false, Hdf5Value::Opaque{"x", {std::byte(3)}}},
                     parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, true, std::vector<std::string>{"a", ""}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, true, std::vector<std::int64_t>{-1, 2}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, true, std::vector<double>{-0.0, 1e300}}, parseHdf5Value);
        checkMessage(Hdf5Value{{"v"}, {}, true, std::vector<bool>{true, false}}, parseHdf5Value);
    }

private:
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
};

QTEST_GUILESS_MAIN(TestHdf5Worker)
#include "tst_hdf5_worker.moc"
