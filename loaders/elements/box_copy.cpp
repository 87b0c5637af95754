// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/box_copy.h"

#include "loaders/elements/element_transform.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace forkpoint {

namespace {

// Bytes read at once into the buffer between source and target.
constexpr std::uint64_t BufferBytes = std::uint64_t(1) << 20;
// A gap up to this is read along: a separate read of a warm file costs about as much (1 us a call
// against 8 to 16 GB/s).
constexpr std::uint64_t GapBytes = std::uint64_t(1) << 14;
// Contiguous runs from this size on are read straight to their place.
constexpr std::uint64_t DirectBytes = std::uint64_t(1) << 16;

/// A loop in bytes, its source stride not negative.
struct ByteLoop
{
    std::uint64_t count = 0;
    std::uint64_t source = 0;
    std::int64_t target = 0;
};

/// Drops loops of one step, turns the backward ones around, orders by source stride (innermost
/// first) and joins loops that continue each other.
class Plan
{
public:
    explicit Plan(const BoxCopy &copy) : source(copy.source), target(std::int64_t(copy.target))
    {
        const auto width = std::int64_t(copy.width);
        unit = copy.width;
        if (unit > MaxTransformedWidth || (unit & (unit - 1)) != 0) {
            loops.push_back({unit, 1, 1});
            unit = 1;
        }
        for (const BoxCopy::Loop &loop : copy.loops) {
            if (loop.count > 1)
                add(loop.count, loop.sourceStride * width, loop.targetStride * width);
        }
        std::sort(loops.begin(), loops.end(), [](const ByteLoop &a, const ByteLoop &b) {
            return a.source != b.source ? a.source < b.source : a.target < b.target;
        });
        join();
    }

    std::uint64_t unit = 1; ///< bytes moved together: a power of two up to 16
    std::uint64_t source;
    std::int64_t target;
    std::vector<ByteLoop> loops;

private:
    void add(std::uint64_t count, std::int64_t from, std::int64_t to)
    {
        if (from < 0) {
            source += (count - 1) * std::uint64_t(from); // modulo 2^64: towards the lowest byte
            target += std::int64_t(count - 1) * to;
            from = -from;
            to = -to;
        }
        loops.push_back({count, std::uint64_t(from), to});
    }

    void join()
    {
        std::vector<ByteLoop> joined;
        for (const ByteLoop &loop : loops) {
            if (!joined.empty()) {
                ByteLoop &inner = joined.back();
                const bool continues = loop.source == inner.source * inner.count
                    && loop.target == inner.target * std::int64_t(inner.count);
                if (continues) {
                    inner.count *= loop.count;
                    continue;
                }
            }
            joined.push_back(loop);
        }
        loops = std::move(joined);
    }
};

template <std::size_t Unit>
void moveUnits(const std::byte *from, std::uint64_t fromStep, std::byte *to, std::int64_t toStep,
               std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(to, from, Unit);
        from += fromStep;
        to += toStep;
    }
}

void moveRow(std::uint64_t unit, const std::byte *from, std::uint64_t fromStep, std::byte *to,
             std::int64_t toStep, std::uint64_t count)
{
    if (fromStep == unit && toStep == std::int64_t(unit)) {
        std::memcpy(to, from, unit * count);
        return;
    }
    switch (unit) {
    case 1: return moveUnits<1>(from, fromStep, to, toStep, count);
    case 2: return moveUnits<2>(from, fromStep, to, toStep, count);
    case 4: return moveUnits<4>(from, fromStep, to, toStep, count);
    case 8: return moveUnits<8>(from, fromStep, to, toStep, count);
    default: return moveUnits<16>(from, fromStep, to, toStep, count);
    }
}

/// Runs `visit(sourceOffset, targetOffset)` for every combination of the loops, the last outermost.
template <class Visit>
Status forEach(std::span<const ByteLoop> loops, Visit visit)
{
    std::vector<std::uint64_t> step(loops.size(), 0);
    std::uint64_t source = 0;
    std::int64_t target = 0;
    while (true) {
        FP_CHECK(visit(source, target));
        std::size_t i = 0;
        for (; i < loops.size(); ++i) {
            source += loops[i].source;
            target += loops[i].target;
            if (++step[i] < loops[i].count)
                break;
            source -= loops[i].source * loops[i].count;
            target -= loops[i].target * std::int64_t(loops[i].count);
            step[i] = 0;
        }
        if (i == loops.size())
            return {};
    }
}

class Copier
{
public:
    Copier(const Plan &plan, const ByteSource &source, const DType *swapped, MutableByteView out)
        : m_plan(plan),
          m_source(source),
          m_swapped(swapped),
          m_out(out)
    {
        chooseBlock();
    }

    Status run()
    {
        const auto outer = std::span(m_plan.loops).subspan(m_blockLoops);
        return forEach(outer, [this](std::uint64_t source, std::int64_t target) {
            return copyBlocks(m_plan.source + source, m_plan.target + target);
        });
    }

private:
    /// The innermost loops that one buffered read serves, the outermost of them in pieces.
    void chooseBlock()
    {
        std::uint64_t span = m_plan.unit;
        for (const ByteLoop &loop : m_plan.loops) {
            const std::uint64_t gap = loop.source > span ? loop.source - span : 0;
            if (gap > GapBytes)
                break;
            ++m_blockLoops;
            // Without a source stride, or with a small one, all steps share what is read.
            const std::uint64_t room = BufferBytes > span ? BufferBytes - span : 0;
            const std::uint64_t fitting = loop.source == 0 ? loop.count : room / loop.source + 1;
            m_piece = std::min(loop.count, fitting);
            if (m_piece < loop.count)
                break;
            span += (loop.count - 1) * loop.source;
        }
        const bool contiguous = m_blockLoops > 0 && m_plan.loops[0].source == m_plan.unit
            && m_plan.loops[0].target == std::int64_t(m_plan.unit);
        m_direct =
            contiguous && (m_blockLoops == 1 || m_plan.loops[0].count * m_plan.unit >= DirectBytes);
        if (m_direct)
            m_blockLoops = 1;
    }

    Status copyBlocks(std::uint64_t source, std::int64_t target)
    {
        if (m_direct)
            return readDirectly(source, target);
        if (m_blockLoops == 0)
            return copyPiece(source, target, {});
        std::vector<ByteLoop> block(m_plan.loops.begin(),
                                    m_plan.loops.begin() + std::ptrdiff_t(m_blockLoops));
        const ByteLoop split = block.back();
        for (std::uint64_t done = 0; done < split.count; done += m_piece) {
            block.back().count = std::min(m_piece, split.count - done);
            FP_CHECK(copyPiece(source + done * split.source,
                               target + std::int64_t(done) * split.target, block));
        }
        return {};
    }

    Status readDirectly(std::uint64_t source, std::int64_t target)
    {
        const auto run = m_out.subspan(std::size_t(target), m_plan.loops[0].count * m_plan.unit);
        FP_CHECK(m_source.read(source, run));
        swap(run);
        return {};
    }

    Status copyPiece(std::uint64_t source, std::int64_t target, std::span<const ByteLoop> block)
    {
        std::uint64_t span = m_plan.unit;
        for (const ByteLoop &loop : block)
            span += (loop.count - 1) * loop.source;
        if (m_buffer.size() < span)
            m_buffer.resize(span);
        const auto bytes = MutableByteView(m_buffer).first(span);
        FP_CHECK(m_source.read(source, bytes));
        swap(bytes);
        const ByteLoop row = block.empty() ? ByteLoop{1, 0, 0} : block.front();
        return forEach(block.empty() ? block : block.subspan(1),
                       [&](std::uint64_t from, std::int64_t to) -> Status {
                           moveRow(m_plan.unit, bytes.data() + from, row.source,
                                   m_out.data() + target + to, row.target, row.count);
                           return {};
                       });
    }

    void swap(MutableByteView bytes) const
    {
        if (m_swapped != nullptr)
            swapBytes(*m_swapped, bytes);
    }

    const Plan &m_plan;
    const ByteSource &m_source;
    const DType *m_swapped;
    MutableByteView m_out;
    std::size_t m_blockLoops = 0;
    std::uint64_t m_piece = 1;
    bool m_direct = false;
    std::vector<std::byte> m_buffer;
};

} // namespace

Status copyBox(const BoxCopy &copy, const ByteSource &source, const DType *swapped)
{
    const Plan plan(copy);
    return Copier(plan, source, swapped, copy.out).run();
}

} // namespace forkpoint
