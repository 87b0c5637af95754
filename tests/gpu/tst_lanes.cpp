// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels as a device runs them, on emulated warps: the bits are to be those of the host team
// and of every instruction set.
#include "gpu/cpu_backend.h"
#include "gpu/cpu_kernels.h"
#include "tests/gpu/emulated_team.h"

#include <QTest>

#include <cstring>
#include <random>

using namespace forkpoint;
using namespace forkpoint::kernels;

namespace {

/// One block's figures, with the counters of a histogram.
struct Figures
{
    DiffRecord record;
    BlockSums sums;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint8_t> rows;

    bool operator==(const Figures &other) const
    {
        const auto sameBits = [](const auto &a, const auto &b) {
            return std::memcmp(&a, &b, sizeof a) == 0;
        };
        return sameBits(record, other.record) && sameBits(sums, other.sums)
            && counts == other.counts && rows == other.rows;
    }
};

template <class Team, class Policy>
Figures floatFigures(Team team, const Policy &policy, const BlockView &block)
{
    const std::size_t bins =
        std::size_t(powerLimit(policy.format) - lowestPower(policy.format)) + 2;
    Figures figures;
    figures.counts.resize(bins * (2 + UlpColumns));
    figures.rows.resize(bins);
    Histograms view;
    view.absA = figures.counts.data();
    view.absB = view.absA + bins;
    view.joint = view.absB + bins;
    view.rows = figures.rows.data();
    view.lowest = lowestPower(policy.format);
    locateDifferences(team, policy, block, {true, true, 0.01, 0.0, true, 2}, figures.record);
    figures.sums = diffFloats(team, policy, block, view, figures.record);
    return figures;
}

template <class Team, class Policy>
Figures integerFigures(Team team, const Policy &policy, const BlockView &block)
{
    Figures figures;
    figures.counts.resize(3 * 66);
    Histograms view;
    view.absA = figures.counts.data();
    view.absB = view.absA + 66;
    view.absDifference = view.absB + 66;
    locateDifferences(team, policy, block, {}, figures.record);
    figures.sums = diffIntegers(team, policy, block, view, figures.record);
    return figures;
}

using Bytes = std::vector<std::uint8_t>;

/// Bits at random, near ones, equal ones; the first bytes of all of them.
std::pair<Bytes, Bytes> blockData(int kind, std::mt19937_64 &random)
{
    Bytes a(kernels::BlockParts * 8), b;
    for (std::uint8_t &byte : a)
        byte = std::uint8_t(random());
    b = a;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (kind == 0)
            b[i] = std::uint8_t(random());
        else if (kind == 1 && i % 8 == 0)
            b[i] ^= std::uint8_t(random() % 16);
        else if (kind == 2 && random() % 900 == 0)
            b[i] ^= 1;
    }
    return {a, b};
}

} // namespace

class TestLanes : public QObject
{
    Q_OBJECT

private slots:
    void floats_data();
    void floats();
    void integers();
    void instructionSets();
    void hashes();

private:
    template <class Policy>
    void compareFloats(const Policy &policy);
    template <class Policy>
    void compareKernel(BlockKernel kernel, const Policy &policy);
    std::mt19937_64 m_random{2024};
};

template <class Policy>
void TestLanes::compareFloats(const Policy &policy)
{
    for (int kind = 0; kind < 4; ++kind) {
        for (const int parts :
             {1, 31, 32, 33, 1000, kernels::BlockParts - 2, kernels::BlockParts}) {
            for (const int perElement : {1, 2}) {
                const auto [a, b] = blockData(kind, m_random);
                const BlockView block{a.data(), b.data(), parts / perElement * perElement, 4096,
                                      perElement};
                const Figures host = floatFigures(HostTeam(), policy, block);
                for (int order = 0; order < 3; ++order)
                    QVERIFY(floatFigures(emulated::Team(m_random), policy, block) == host);
            }
        }
    }
}

void TestLanes::floats_data()
{
    QTest::addColumn<QString>("type");
    for (const DType &dtype : allDTypes()) {
        if (dtype.kind == ElementKind::Float)
            QTest::newRow(dtype.name.c_str()) << QString::fromStdString(dtype.name);
    }
}

void TestLanes::floats()
{
    QFETCH(QString, type);
    const DType dtype = *dtypeByName(type.toStdString());
    const RuntimeFormat format{dtype.layout.exponentBits, dtype.layout.mantissaBits,
                               dtype.layout.bias, static_cast<Special>(dtype.layout.special),
                               dtype.layout.hasSign};
    switch (dtype.bits) {
    case 64: compareFloats(Float64Policy<PlainParts<std::uint64_t>>{}); break;
    case 32:
        compareFloats(FloatPolicy<RuntimeFormat, PlainParts<std::uint32_t>>{format, {}});
        break;
    case 16:
        compareFloats(FloatPolicy<RuntimeFormat, PlainParts<std::uint16_t>>{format, {}});
        break;
    case 8: compareFloats(FloatPolicy<RuntimeFormat, PlainParts<std::uint8_t>>{format, {}}); break;
    default:
        compareFloats(FloatPolicy<RuntimeFormat, PackedParts>{format, {int(dtype.bits)}});
        break;
    }
}

void TestLanes::integers()
{
    for (int kind = 0; kind < 4; ++kind) {
        const auto [a, b] = blockData(kind, m_random);
        const BlockView block{a.data(), b.data(), kernels::BlockParts, 0, 1};
        const IntegerPolicy<PlainParts<std::uint64_t>> wide{{}, 64, true, false};
        const IntegerPolicy<PlainParts<std::uint32_t>> middle{{}, 32, false, false};
        const IntegerPolicy<PlainParts<std::uint8_t>> boolean{{}, 8, false, true};
        QVERIFY(integerFigures(emulated::Team(m_random), wide, block)
                == integerFigures(HostTeam(), wide, block));
        QVERIFY(integerFigures(emulated::Team(m_random), middle, block)
                == integerFigures(HostTeam(), middle, block));
        QVERIFY(integerFigures(emulated::Team(m_random), boolean, block)
                == integerFigures(HostTeam(), boolean, block));
    }
}

/// A block kernel of this processor against emulated lanes.
template <class Policy>
void TestLanes::compareKernel(BlockKernel kernel, const Policy &policy)
{
    const auto scratch = std::make_unique<BlockScratch>();
    const std::size_t bins =
        std::size_t(powerLimit(policy.format) - lowestPower(policy.format)) + 2;
    std::vector<std::uint64_t> joint(bins * UlpColumns);
    std::vector<std::uint8_t> rows(bins);
    Histograms view;
    view.joint = joint.data();
    view.rows = rows.data();
    view.lowest = lowestPower(policy.format);
    int done = 0;
    for (int round = 0; round < 200; ++round) {
        auto [a, b] = blockData(round % 4, m_random);
        for (Bytes *side : {&a, &b}) { // exponents of float64 near 1 in half of the rounds
            for (std::size_t i = 7; round % 8 < 4 && i < side->size(); i += 8) {
                (*side)[i] = std::uint8_t(0x3F | ((*side)[i] & 0x80));
                (*side)[i - 1] |= 0x80;
            }
        }
        const BlockView block{a.data(), b.data(), kernels::BlockParts, 0, 1};
        DiffRecord record;
        BlockSums sums;
        if (!kernel(block, {DiffRecord(), view, *scratch}, record, sums))
            continue;
        ++done;
        const Figures lanes = floatFigures(emulated::Team(m_random), policy, block);
        record.beyondTolerance = lanes.record.beyondTolerance; // the definition's
        QVERIFY(std::memcmp(&record, &lanes.record, sizeof record) == 0);
        QVERIFY(std::memcmp(&sums, &lanes.sums, sizeof sums) == 0);
    }
    QVERIFY(done >= 100);
}

void TestLanes::instructionSets()
{
    const CpuKernels &fast = bestKernels();
    if (fast.float32 == nullptr)
        QSKIP("this processor has no block kernels");
    compareKernel(fast.float64, Float64Policy<PlainParts<std::uint64_t>>{});
    compareKernel(fast.float32, FloatPolicy<Float32, PlainParts<std::uint32_t>>{});
    compareKernel(fast.bfloat16, FloatPolicy<BFloat16, PlainParts<std::uint16_t>>{});
    compareKernel(fast.float16, FloatPolicy<Float16, PlainParts<std::uint16_t>>{});
}

void TestLanes::hashes()
{
    const Bytes data = blockData(0, m_random).first;
    HostHashTeam host;
    emulated::HashTeam lanes(m_random);
    for (const std::size_t size : {241UL, 512UL, 1023UL, 1024UL, 1025UL, 4096UL, 16000UL}) {
        const Hash128 expected = xxh3(host, data.data(), size);
        const Hash128 found = xxh3(lanes, data.data(), size);
        QVERIFY(found.low == expected.low && found.high == expected.high);
    }
}

QTEST_GUILESS_MAIN(TestLanes)
#include "tst_lanes.moc"
