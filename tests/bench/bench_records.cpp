// SPDX-License-Identifier: GPL-3.0-or-later
// Rate of comparing records that are parsed already: bench_records A B [ROUNDS]. Both traces are opened, which
// reads and packs their records, and then compared, on one thread and on two. Prints one JSON object a line:
// threads, records of both sides, seconds by the clock and millions of records a second, medians of the
// rounds. Not a test: nothing passes or fails.
#include "app/core/thread_pool.h"
#include "loaders/open_run.h"
#include "model/traces/trace_comparer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace forkpoint;

namespace {

std::shared_ptr<const Trace> traceAt(const char *path)
{
    const auto run = openRun(path, {}, {});
    return run.ok() ? (*run)->trace() : nullptr;
}

std::uint64_t recordsOf(const Trace &trace)
{
    std::uint64_t records = 0;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceSegment &segment : stream.segments)
            records += segment.records;
    }
    return records;
}

double secondsOf(const std::shared_ptr<const Trace> &a, const std::shared_ptr<const Trace> &b,
                 Executor &executor)
{
    const auto begin = std::chrono::steady_clock::now();
    TraceComparer comparer(a, b, {}, &executor);
    while (comparer.advance({}))
        ;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main(int count, char **arguments)
{
    if (count < 3) {
        std::fprintf(stderr, "bench_records A B [ROUNDS]\n");
        return 2;
    }
    const auto a = traceAt(arguments[1]), b = traceAt(arguments[2]);
    if (!a || !b) {
        std::fprintf(stderr, "bench_records: both must be traces\n");
        return 2;
    }
    const std::size_t rounds = count > 3 ? std::size_t(std::max(1, std::atoi(arguments[3]))) : 5;
    const double records = double(recordsOf(*a) + recordsOf(*b));
    for (const std::size_t threads : {std::size_t(1), std::size_t(2)}) {
        ThreadPool pool(threads);
        std::vector<double> seconds;
        for (std::size_t round = 0; round < rounds; ++round)
            seconds.push_back(secondsOf(a, b, pool));
        std::sort(seconds.begin(), seconds.end());
        const double median = seconds[rounds / 2];
        std::printf("{\"threads\": %zu, \"records\": %.0f, \"seconds\": %.3f, \"least\": %.3f, "
                    "\"millions_a_second\": %.2f}\n",
                    threads, records, median, seconds.front(), records / median / 1e6);
    }
}
