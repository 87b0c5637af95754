// SPDX-License-Identifier: GPL-3.0-or-later
// Both halves of the input as traces of the dialect that takes the first, indexed and compared.
#include "loaders/storage/gzip_source.h"
#include "loaders/storage/tar_directory.h"
#include "loaders/traces/open_trace.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/fuzz/fuzzed.h"

namespace {

using namespace forkpoint;

std::shared_ptr<const Trace> traceOf(std::shared_ptr<const ByteSource> source)
{
    std::array<std::byte, 4096> buffer{};
    auto head = MutableByteView(buffer).first(
        std::size_t(std::min<std::uint64_t>(buffer.size(), source->size())));
    (void)source->read(0, head).ok();
    if (isGzip(head)) {
        auto gzip = openMeasuredGzip(source);
        if (!gzip.ok())
            return nullptr;
        source = gzip->decoded;
        head = MutableByteView(buffer).first(
            std::size_t(std::min<std::uint64_t>(buffer.size(), source->size())));
        (void)source->read(0, head).ok();
    }
    TraceFiles files;
    files.files.push_back({source, "fuzz", {}, 0});
    for (const TraceDialect *dialect : allTraceDialects()) {
        if (!files.dialect && dialect->probe(files.files[0], asText(head)) == Confidence::Yes)
            files.dialect = dialect;
    }
    auto trace = indexTrace(std::move(files), {});
    return trace.ok() ? *trace : nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::size_t half = size / 2;
    const auto a = traceOf(fuzz::sourceOf(data, half));
    const auto b = traceOf(fuzz::sourceOf(data + half, size - half));
    if (!a || !b)
        return 0;
    TraceComparer comparer(a, b, {});
    while (comparer.advance({}))
        ;
    const auto divergence = firstDivergenceIn(comparer.result());
    (void)nextCapture(comparer.result(), divergence, decide(comparer.result().facts));
    return 0;
}
