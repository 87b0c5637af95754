// SPDX-License-Identifier: GPL-3.0-or-later
// The backend for GPUs on devices of the test's own: the same bits as the processor for every type,
// and whatever goes wrong.
#include "gpu/backend_registry.h"
#include "gpu/cpu_kernels.h"
#include "gpu/cuda_backend.h"
#include "gpu/cuda_slot.h"
#include "gpu/device_rate.h"
#include "gpu/selftest.h"
#include "gpu/selftest_parity.h"
#include "model/compare/pair_reading.h"
#include "tests/gpu/fake_cuda.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <thread>

using namespace forkpoint;

namespace {

/// Every piece goes to a device, however small.
CudaOptions everything()
{
    CudaOptions options;
    options.leastBytes = 0;
    options.slotsPerDevice = 2;
    return options;
}

std::unique_ptr<CudaBackend> openAll(const CudaRuntime &table,
                                     const CudaOptions &options = everything())
{
    auto opened = CudaBackend::open(table, findCudaDevices(table).devices, options);
    return opened ? std::move(opened).value() : nullptr;
}

struct Answer
{
    DiffStats stats;
    std::vector<Digest128> leavesA, leavesB;

    bool operator==(const Answer &other) const
    {
        return sameBits(stats, other.stats) && leavesA == other.leavesA && leavesB == other.leavesB;
    }
};

Answer ask(const ComputeBackend &backend, const DType &dtype, const MadeUpPair &pair,
           Index elements, const DiffOptions &options = {})
{
    Answer answer;
    answer.leavesA.resize((pair.a.size() + LeafBytes - 1) / LeafBytes);
    answer.leavesB = answer.leavesA;
    backend.hashAndDiff({dtype, pair.a, pair.b, 0, elements}, options, answer.leavesA,
                        answer.leavesB, answer.stats);
    return answer;
}

/// A float32 pair of a leaf and a half.
struct SmallCase
{
    const DType dtype = *dtypeByName("float32");
    static constexpr Index Elements = 24'000;
    const MadeUpPair pair = makeUp(dtype, Elements, MadeUp::Random, 3);
    const Answer expected = ask(CpuBackend(portableKernels()), dtype, pair, Elements);

    bool holds(const ComputeBackend &backend) const
    {
        return ask(backend, dtype, pair, Elements) == expected;
    }
};

} // namespace

class TestCudaBackend : public QObject
{
    Q_OBJECT

private slots:
    void sameBits_data();
    void sameBits();
    void piecesLargerThanASlot();
    void continuesAUnit();
    void unitsOfTensors();
    void smallPiecesStayHere();
    void everyCallFails_data();
    void everyCallFails();
    void unfinishedWorkIsNotBelieved();
    void oneOfTwoDevicesIsLost();
    void memoryBudget();
    void lentMemory();
    void manyThreads();
    void selftest();
    void whyNot_data();
    void whyNot();
    void namesOfDevices();
    void automaticChoice();
};

void TestCudaBackend::sameBits_data()
{
    QTest::addColumn<QString>("type");
    for (const DType &dtype : allDTypes())
        QTest::newRow(dtype.name.c_str()) << QString::fromStdString(dtype.name);
}

void TestCudaBackend::sameBits()
{
    QFETCH(QString, type);
    const DType dtype = *dtypeByName(type.toStdString());
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    QVERIFY(backend);
    DiffOptions tolerant{{0.01, 1e-3, 3}, false};
    std::uint64_t pieces = 0;
    for (const MadeUp kind : {MadeUp::Equal, MadeUp::Near, MadeUp::Few, MadeUp::Random}) {
        for (const Index elements : {8UL, 2048UL, 8200UL, 17'000UL}) {
            const MadeUpPair pair = makeUp(dtype, elements, kind, elements);
            for (const DiffOptions &options : {DiffOptions(), tolerant}) {
                const Answer defined =
                    ask(CpuBackend(portableKernels()), dtype, pair, elements, options);
                QVERIFY(ask(*backend, dtype, pair, elements, options) == defined);
                QVERIFY(ask(CpuBackend(), dtype, pair, elements, options) == defined);
                ++pieces;
            }
        }
    }
    QVERIFY(backend->incidents().empty());
    QCOMPARE(backend->devicePieces(), dtype.kind == ElementKind::Opaque ? 0 : pieces);
}

void TestCudaBackend::piecesLargerThanASlot()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    const auto holds = [&](const char *type, std::size_t sideBytes) {
        const DType dtype = *dtypeByName(type);
        const Index elements = sideBytes * 8 / dtype.bits;
        const MadeUpPair pair = makeUp(dtype, elements, MadeUp::Few, 5);
        return ask(*backend, dtype, pair, elements) == ask(CpuBackend(), dtype, pair, elements);
    };
    QVERIFY(holds("float64", 2 * CudaSlot::SideBytes + 8008));
    QCOMPARE(backend->devicePieces(), 3);
    QVERIFY(holds("uint4", CudaSlot::SideBytes + 4096));
    QCOMPARE(backend->devicePieces(), 5);
    std::vector<Digest128> found(2 * CudaSlot::SideBytes / LeafBytes + 1), expected = found;
    const MadeUpPair bytes =
        makeUp(*dtypeByName("uint8"), 2 * CudaSlot::SideBytes + 1, MadeUp::Random, 6);
    backend->hashLeaves(bytes.a, found);
    CpuBackend().hashLeaves(bytes.a, expected);
    QVERIFY(found == expected);
    QVERIFY(backend->incidents().empty());
}

/// Statistics go on where the unit's earlier pieces ended.
void TestCudaBackend::continuesAUnit()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    const DType dtype = *dtypeByName("bfloat16");
    const Index leaf = leafElements(dtype);
    const MadeUpPair pair = makeUp(dtype, 3 * leaf, MadeUp::Random, 8);
    const auto fed = [&](const ComputeBackend &first, const ComputeBackend &second) {
        DiffStats stats;
        const ByteView a = pair.a, b = pair.b;
        first.diff(dtype, a.first(2 * leaf * 2), b.first(2 * leaf * 2), 0, 2 * leaf, {}, stats);
        second.diff(dtype, a.subspan(2 * leaf * 2), b.subspan(2 * leaf * 2), 2 * leaf, leaf, {},
                    stats);
        return stats;
    };
    const CpuBackend processor;
    const DiffStats expected = fed(processor, processor);
    QVERIFY(forkpoint::sameBits(fed(*backend, *backend), expected));
    QVERIFY(forkpoint::sameBits(fed(processor, *backend), expected));
    QVERIFY(forkpoint::sameBits(fed(*backend, processor), expected));
}

/// What a comparison does: units are read into the backend's memory, hashed and measured at once; a
/// unit that first differs late; a pair of two types.
void TestCudaBackend::unitsOfTensors()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    const DType wide = *dtypeByName("float32"), narrow = *dtypeByName("bfloat16");
    const Index elements = 3 * CudaSlot::SideBytes / 8 + 1000; // a unit and a half
    MadeUpPair pair = makeUp(wide, elements, MadeUp::Equal, 1);
    pair.b[pair.b.size() - 5] ^= std::byte(1);
    test::MemorySource source;
    const auto add = [&](const char *name, const DType &dtype,
                         const std::vector<std::byte> &bytes) {
        source.addBytes(test::MemorySource::pathOf(name), dtype, {bytes.size() * 8 / dtype.bits},
                        bytes);
    };
    add("a", wide, pair.a);
    add("b", wide, pair.b);
    add("c", narrow, makeUp(narrow, elements, MadeUp::Near, 2).a);
    source.finish();
    const auto reading = [&](TensorIndex a, TensorIndex b, const ComputeBackend &on) {
        const bool sameType = source.catalog().tensors[b].dtype == wide;
        UnitRequest request;
        request.count = elements;
        return readUnit({SourcedTensor{&source, a}, SourcedTensor{&source, b}},
                        {wide, false, !sameType}, request, on, {});
    };
    for (const TensorIndex b : {TensorIndex(1), TensorIndex(2)}) {
        const UnitReading found = reading(0, b, *backend), expected = reading(0, b, CpuBackend());
        QVERIFY(!found.errorA && !found.errorB && found.differs);
        QVERIFY(found.leavesA == expected.leavesA && found.leavesB == expected.leavesB);
        QVERIFY(forkpoint::sameBits(*found.stats, *expected.stats));
        QCOMPARE(found.stats->elements, elements);
    }
    QVERIFY(backend->devicePieces() >= 4);
    QVERIFY(backend->incidents().empty());
}

void TestCudaBackend::smallPiecesStayHere()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table, {});
    QVERIFY(SmallCase().holds(*backend));
    QCOMPARE(backend->devicePieces(), 0);
    QCOMPARE(backend->pieceBytes(), CudaSlot::SideBytes);
    QCOMPARE(backend->waitingThreads(), 4);
}

void TestCudaBackend::everyCallFails_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("out of memory") << 0;
    QTest::newRow("a lost device") << 1;
    QTest::newRow("a late error") << 2;
}

/// A fault at each call, from the first one on: the answers stay the same, and it is told.
void TestCudaBackend::everyCallFails()
{
    QFETCH(int, kind);
    const SmallCase small;
    std::uint64_t calls = 0;
    for (std::uint64_t failing = 0; failing == 0 || failing < calls; ++failing) {
        FakeCuda cuda;
        if (kind == 2)
            cuda.failLateAt(failing);
        else
            cuda.failAt(failing, kind == 0 ? CudaFault::OutOfMemory : CudaFault::Failed);
        const CudaRuntime table = cuda.table();
        auto opened = CudaBackend::open(table, findCudaDevices(table).devices, everything());
        if (!opened) {
            QVERIFY(opened.error().code == ErrorCode::Unsupported);
            QVERIFY(!opened.error().text.empty());
            calls = std::max(calls, failing + 2);
            continue;
        }
        std::unique_ptr<CudaBackend> backend = std::move(opened).value();
        const std::uint64_t before = cuda.calls();
        for (int round = 0; round < 3; ++round)
            QVERIFY(small.holds(*backend));
        calls = std::max(calls, cuda.calls());
        const bool reached = failing >= before && failing < cuda.calls();
        QCOMPARE(!backend->incidents().empty(), reached);
        if (kind != 0 && reached) {
            QVERIFY(backend->incidents()[0].find("cuda:0") == 0);
            QVERIFY(backend->incidents()[0].find("not used any more") != std::string::npos);
            QVERIFY(backend->description().find("CPU") == 0);
            QVERIFY(backend->description().find("; cuda:0 was lost") != std::string::npos);
        }
        if (kind == 0)
            QVERIFY(backend->devicePieces() >= 2); // one slot goes on
        backend.reset();
        QCOMPARE(cuda.liveHandles(), 0);
    }
    QVERIFY(calls > 40);
}

void TestCudaBackend::unfinishedWorkIsNotBelieved()
{
    const SmallCase small;
    for (std::uint64_t launch = 1; launch <= 6; ++launch) { // launch 0 probes the arithmetic
        FakeCuda cuda;
        cuda.swallowLaunch(launch);
        const CudaRuntime table = cuda.table();
        const auto backend = openAll(table);
        QVERIFY(small.holds(*backend));
        QVERIFY(small.holds(*backend));
        QCOMPARE(backend->incidents().size(), 1);
        QVERIFY(backend->incidents()[0].find("not all of its work") != std::string::npos);
    }
}

void TestCudaBackend::oneOfTwoDevicesIsLost()
{
    const SmallCase small;
    FakeCuda cuda({.devices = 2});
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    QCOMPARE(backend->waitingThreads(), 4);
    QVERIFY(backend->description().find("cuda:0") != std::string::npos);
    cuda.lose(0);
    for (int round = 0; round < 4; ++round)
        QVERIFY(small.holds(*backend));
    QCOMPARE(backend->incidents().size(), 1);
    QCOMPARE(backend->devicePieces(), 3);
    QCOMPARE(backend->waitingThreads(), 2);
    QVERIFY(backend->description().find("CUDA, Fake GPU (cuda:1), and CPU") == 0);
    QVERIFY(backend->description().find("; cuda:0 was lost") != std::string::npos);
}

void TestCudaBackend::memoryBudget()
{
    const auto slotsWith = [](std::uint64_t budget, std::uint64_t free) {
        FakeCuda cuda({.freeMemory = free});
        const CudaRuntime table = cuda.table();
        CudaOptions options = everything();
        options.memoryBudget = budget;
        options.slotsPerDevice = 100;
        const auto backend = openAll(table, options);
        if (cuda.mostDeviceMemory() > std::min(budget, free / 2))
            return -1;
        return backend ? int(backend->waitingThreads()) : 0;
    };
    const std::uint64_t slot = CudaSlot::deviceBytes();
    QCOMPARE(slotsWith(3 * slot + 5, 1U << 30), 3);
    QCOMPARE(slotsWith(1U << 30, 5 * slot), 2);
    QCOMPARE(slotsWith(1U << 30, slot), 0);
    QCOMPARE(slotsWith(slot - 1, 1U << 30), 0);
}

void TestCudaBackend::lentMemory()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    CudaOptions options = everything();
    options.memoryBudget = 2 * CudaSlot::deviceBytes(); // 5 buffers of a side
    const auto backend = openAll(table, options);
    const std::uint64_t before = cuda.pinnedBuffers();
    for (int round = 0; round < 2; ++round) {
        std::vector<HostBuffer> lent;
        for (int i = 0; i < 7; ++i) {
            lent.push_back(backend->hostBuffer(CudaSlot::SideBytes));
            std::memset(lent.back().get(), i, CudaSlot::SideBytes); // the others are memory too
        }
        QCOMPARE(cuda.pinnedBuffers() - before, 5);
    }
    (void)backend->hostBuffer(100);
    QCOMPARE(cuda.pinnedBuffers() - before, 5);
}

void TestCudaBackend::manyThreads()
{
    const SmallCase small;
    FakeCuda cuda({.devices = 2});
    const CudaRuntime table = cuda.table();
    const auto backend = openAll(table);
    std::atomic<int> good = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i) // more than there are slots
            threads.emplace_back([&] {
                for (int round = 0; round < 5; ++round) {
                    good += small.holds(*backend);
                    if (round == 2)
                        cuda.lose(1);
                }
            });
    }
    QCOMPARE(good.load(), 30);
}

void TestCudaBackend::selftest()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto chosen = chooseDevice({"cuda:0", 1, true}, table);
    QVERIFY(chosen.ok());
    const SelftestReport good = runSelftest(*chosen->backend);
    QVERIFY2(good.failed == 0, good.failures.empty() ? "" : good.failures[0].c_str());
    QVERIFY(good.passed > 100);
    // What the processor makes good is no success of the device.
    cuda.lose(0);
    const SelftestReport bad = runSelftest(*chosen->backend);
    QCOMPARE(bad.failed, 1);
    QVERIFY(bad.failures[0].find("fell off the bus") != std::string::npos);
}

void TestCudaBackend::whyNot_data()
{
    QTest::addColumn<int>("devices");
    QTest::addColumn<int>("driver");
    QTest::addColumn<int>("capability");
    QTest::addColumn<unsigned>("faults");
    QTest::addColumn<QString>("listed");
    QTest::addColumn<QString>("refused");
    const QString driver = "no NVIDIA driver is installed";
    QTest::newRow("no driver") << 1 << 0 << 90 << 0U << driver << driver;
    const QString old =
        "the NVIDIA driver is too old: it supports CUDA 12.4, this build needs 13.0";
    QTest::newRow("old driver") << 1 << 12040 << 90 << 0U << old << old;
    const QString none = "the driver finds no NVIDIA GPU";
    QTest::newRow("no device") << 0 << 13000 << 90 << 0U << none << none;
    const QString small = "compute capability 6.1; this build has kernels for 7.5, 8.0, 9.0";
    QTest::newRow("old device") << 1 << 13000 << 61 << 0U << small << small;
    const QString future = "compute capability 10.0; this build has kernels for 7.5, 8.0, 9.0";
    QTest::newRow("new device") << 1 << 13000 << 100 << 0U << future << future;
    QTest::newRow("flushing device") << 1 << 13000 << 90 << unsigned(kernels::FlushesResults) << ""
                                     << "it flushes subnormal numbers to zero";
    QTest::newRow("good device") << 1 << 14010 << 89 << 0U << ""
                                 << "";
}

void TestCudaBackend::whyNot()
{
    QFETCH(int, devices);
    QFETCH(int, driver);
    QFETCH(int, capability);
    QFETCH(unsigned, faults);
    QFETCH(QString, listed);
    QFETCH(QString, refused);
    FakeCuda cuda({devices, 1U << 30, driver, capability / 10, capability % 10, faults});
    const CudaRuntime table = cuda.table();
    const std::vector<DeviceInfo> list = listDevices(table);
    QCOMPARE(list.size(), 2);
    QVERIFY(list[0].name == "cpu" && list[0].available);
    QCOMPARE(list[1].available, listed.isEmpty());
    QCOMPARE(QString::fromStdString(list[1].reason), listed);
    const auto chosen = chooseDevice({"cuda", 1, false}, table);
    QCOMPARE(chosen.ok(), refused.isEmpty());
    if (!chosen) {
        QVERIFY(chosen.error().code == ErrorCode::Unsupported);
        QVERIFY(chosen.error().message().find(refused.toStdString()) != std::string::npos);
    }
    // Whatever is wrong with it, there is always the processor.
    const auto automatic = chooseDevice({"auto", 1, false}, table);
    QVERIFY(automatic.ok());
    if (!refused.isEmpty() && devices == 1 && driver == 13000)
        QVERIFY(automatic->reason.find(refused.toStdString()) != std::string::npos);
}

void TestCudaBackend::namesOfDevices()
{
    FakeCuda cuda({.devices = 2});
    const CudaRuntime table = cuda.table();
    const auto described = [&](const char *name) {
        const auto chosen = chooseDevice({name, 1, false}, table);
        return chosen ? chosen->backend->description() : chosen.error().message();
    };
    QVERIFY(described("cuda").find("CUDA, Fake GPU (cuda:0, cuda:1), and CPU") == 0);
    QVERIFY(described("cuda:1").find("CUDA, Fake GPU (cuda:1), and CPU") == 0);
    QVERIFY(described("cpu").find("CPU") == 0);
    QVERIFY(described("cuda:2") == "device 'cuda:2': the last one here is cuda:1");
    for (const char *name : {"", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda1", "tpu", "CPU"}) {
        const auto refused = chooseDevice({name, 1, false}, table);
        QVERIFY(!refused && refused.error().code == ErrorCode::Usage);
    }
    const CudaRuntime absent{"built without CUDA"};
    QVERIFY(chooseDevice({"cuda", 1, false}, absent).error().text == "built without CUDA");
    QVERIFY(chooseDevice({"auto", 1, false}, absent)->reason.empty());
    QVERIFY(listDevices(absent)[1].reason == "built without CUDA");
}

void TestCudaBackend::automaticChoice()
{
    FakeCuda cuda;
    const CudaRuntime table = cuda.table();
    const auto chosen = chooseDevice({"auto", 1, false}, table);
    QVERIFY(chosen.ok());
    QVERIFY(chosen->backend->description().find("CPU") == 0); // emulation is slow
    QVERIFY(chosen->reason.find("cuda:0, the copying included") != std::string::npos);
    QVERIFY(SmallCase().holds(*chosen->backend));
    chosen->backend->hash({});
}

QTEST_GUILESS_MAIN(TestCudaBackend)
#include "tst_cuda_backend.moc"
