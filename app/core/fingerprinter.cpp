// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprinter.h"

#include "model/compare/pair_reading.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t RangeBytes = 8u << 20; ///< a multiple of the leaf

struct Range
{
    TensorIndex tensor = 0;
    ByteRange bytes;
    Index firstElement = 0, elements = 0; ///< to be counted; none where facts are not wanted
    bool last = false;
};

struct RangeReading
{
    LeafReading leaves;
    std::optional<DiffStats> counted;
};

/// A tensor in the making.
struct Pending
{
    explicit Pending(const ComputeBackend &backend) : tree(backend) {}

    FingerprintTree tree;
    std::optional<DiffStats> counted;
};

RecordedFacts factsOf(const DiffStats &stats)
{
    return {stats.finitePairs, stats.nanA, stats.infA, stats.rmsA()};
}

class Fingerprinter
{
public:
    Fingerprinter(const TensorSource &source, const FingerprintWork &work,
                  const ComputeBackend &backend, Executor &executor)
        : m_source(source),
          m_work(work),
          m_backend(backend),
          m_executor(executor)
    {
    }

    Fingerprints run(std::stop_token stop, const std::function<void(const Progress &)> &progress)
    {
        const std::vector<TensorRef> &tensors = m_source.catalog().tensors;
        m_result.tensors.resize(tensors.size());
        m_pending.resize(tensors.size());
        for (TensorIndex i = 0; i < tensors.size(); ++i) {
            if (!tensors[i].unreadable && !takeKnown(i))
                plan(i);
        }
        Progress now{"fingerprinting", {}, 0, 0, 0, tensors.size()};
        for (const Range &range : m_ranges)
            now.bytesTotal += range.bytes.size;
        for (std::size_t first = 0; first < m_ranges.size() && !stop.stop_requested();) {
            const std::span batch = batchFrom(first);
            readBatch(batch, now, stop);
            first += batch.size();
            if (progress)
                progress(now);
        }
        m_result.finished = !stop.stop_requested();
        return std::move(m_result);
    }

private:
    bool takeKnown(TensorIndex tensor)
    {
        std::optional<RecordedDigests> &place = m_result.tensors[tensor];
        if (const RecordedDigests *recorded = m_source.recorded(tensor)) {
            place = *recorded;
        } else if (m_work.journal) {
            place = m_work.journal->find(m_source, tensor);
            m_result.resumed += place.has_value();
        } else if (m_work.known && !m_work.keptLevel) {
            if (const auto content = m_work.known->find(m_source, tensor)) {
                place = RecordedDigests{*content, 0, {}, {}};
                m_result.strength = Strength::Xxh3Index;
            }
        }
        return place.has_value();
    }

    void plan(TensorIndex index)
    {
        const TensorRef &tensor = m_source.catalog().tensors[index];
        m_pending[index] = std::make_unique<Pending>(m_backend);
        if (m_work.keptLevel)
            m_pending[index]->tree.keep(*m_work.keptLevel);
        std::uint64_t width = RangeBytes;
        Index elements = 0;
        if (m_work.keptLevel && tensor.dtype.isFloating()) {
            elements = unitElements(tensor.dtype);
            width = elements * tensor.dtype.bits / 8;
            if (width % LeafBytes != 0) { // no such type today
                elements = 0;
                width = RangeBytes;
            }
        }
        if (elements > 0)
            m_pending[index]->counted.emplace();
        // An empty tensor has one empty range, so that it is finished like any other.
        std::uint64_t first = 0;
        do {
            const std::uint64_t size = std::min(width, tensor.bytes - first);
            const Index begin = elements > 0 ? first / width * elements : 0;
            m_ranges.push_back({index,
                                {first, size},
                                begin,
                                std::min(elements, tensor.elements - begin),
                                first + size == tensor.bytes});
            first += size;
        } while (first < tensor.bytes);
    }

    RangeReading read(const Range &range, std::stop_token stop) const
    {
        const PairOfTensors one{SourcedTensor{&m_source, range.tensor}, std::nullopt};
        RangeReading reading{readLeaves(one, range.bytes, m_backend, true, stop), {}};
        if (range.elements == 0 || reading.leaves.errorA)
            return reading;
        const DType &dtype = m_source.catalog().tensors[range.tensor].dtype;
        auto counted = measure(one, MeasuredAs{dtype}, range.firstElement, range.elements,
                               {{}, false}, m_backend, stop);
        if (counted)
            reading.counted = std::move(counted).value();
        else
            reading.leaves.errorA = std::move(counted).error();
        return reading;
    }

    /// Some ranges for each thread, whether large or small ones.
    std::span<const Range> batchFrom(std::size_t first) const
    {
        constexpr std::size_t Ranges = 4096;
        const std::uint64_t most = 4 * m_executor.threadCount() * RangeBytes;
        std::uint64_t bytes = 0;
        std::size_t end = first;
        while (end < m_ranges.size() && end - first < Ranges && bytes < most)
            bytes += m_ranges[end++].bytes.size;
        return std::span(m_ranges).subspan(first, end - first);
    }

    void readBatch(std::span<const Range> ranges, Progress &now, std::stop_token stop)
    {
        std::vector<RangeReading> readings(ranges.size());
        m_executor.forEach(ranges.size(), [&](std::size_t i) {
            if (m_pending[ranges[i].tensor])
                readings[i] = read(ranges[i], stop);
        });
        if (stop.stop_requested())
            return;
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            now.bytesDone += ranges[i].bytes.size;
            now.item = m_source.catalog().tensors[ranges[i].tensor].name;
            if (m_pending[ranges[i].tensor])
                take(ranges[i], std::move(readings[i]));
        }
    }

    void take(const Range &range, RangeReading reading)
    {
        std::unique_ptr<Pending> &pending = m_pending[range.tensor];
        if (reading.leaves.errorA) {
            const std::string &name = m_source.catalog().tensors[range.tensor].name;
            m_result.diagnostics.push_back(
                toDiagnostic(std::move(*reading.leaves.errorA).atPlace("tensor '" + name + "'"),
                             Severity::Error));
            pending.reset();
            return;
        }
        for (const Digest128 &leaf : reading.leaves.leavesA)
            pending->tree.push(leaf);
        if (reading.counted) {
            reading.counted->leaves.clear(); // of pairs; here there are none
            pending->counted->append(*reading.counted);
        }
        if (range.last)
            finish(range.tensor, pending);
    }

    void finish(TensorIndex tensor, std::unique_ptr<Pending> &pending)
    {
        RecordedDigests digests;
        digests.content = pending->tree.finish();
        digests.level = m_work.keptLevel.value_or(0);
        digests.nodes = pending->tree.takeKept();
        if (pending->counted)
            digests.facts = factsOf(*pending->counted);
        pending.reset();
        if (m_work.journal)
            m_work.journal->add(m_source, tensor, digests);
        m_result.tensors[tensor] = std::move(digests);
    }

    const TensorSource &m_source;
    const FingerprintWork &m_work;
    const ComputeBackend &m_backend;
    Executor &m_executor;
    std::vector<Range> m_ranges;
    std::vector<std::unique_ptr<Pending>> m_pending; ///< null: done, failed or never begun
    Fingerprints m_result;
};

} // namespace

Fingerprints fingerprintTensors(const TensorSource &source, const FingerprintWork &work,
                                const ComputeBackend &backend, Executor &executor,
                                std::stop_token stop,
                                const std::function<void(const Progress &)> &progress)
{
    return Fingerprinter(source, work, backend, executor).run(stop, progress);
}

} // namespace forkpoint
