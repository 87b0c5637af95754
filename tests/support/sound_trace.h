// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of our own trace share: a small sound trace that can be bent, and its comparison.
#pragma once

#include "tests/support/own_trace_writer.h"

#include "gpu/cpu_backend.h"
#include "loaders/open_run.h"
#include "model/compare/run_comparer.h"
#include "model/executor.h"

#include <algorithm>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace forkpoint::test {

namespace fs = std::filesystem;

inline std::shared_ptr<const Trace> traceAt(const fs::path &path)
{
    const auto run = openRun(path, {}, {});
    return run.ok() ? (*run)->trace() : nullptr;
}

inline bool says(const Trace &trace, std::string_view code, std::string_view text = {})
{
    return std::any_of(trace.diagnostics().begin(), trace.diagnostics().end(),
                       [&](const Diagnostic &each) {
                           return each.code == code && each.text.find(text) != std::string::npos;
                       });
}

inline RunComparison compared(const fs::path &a, const fs::path &b)
{
    static const CpuBackend backend;
    static SerialExecutor executor;
    RunComparer comparer(openRun(a, {}, {}).value(), openRun(b, {}, {}).value(), {}, {}, backend,
                         executor);
    while (comparer.advance({}))
        ;
    return comparer.snapshot();
}

inline QByteArray bytesOf(const fs::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline void put(const fs::path &path, const QByteArray &bytes)
{
    fs::create_directories(path.parent_path());
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
}

inline WrittenRecord mark(std::uint8_t role, std::int64_t step, std::uint64_t sequence)
{
    WrittenRecord record;
    record.role = role;
    record.step = step;
    record.sequence = sequence;
    return record;
}

inline WrittenTensor tensor(std::uint8_t digest, bool isKept = false)
{
    WrittenTensor tensor;
    tensor.shape = {2};
    tensor.stream.resize(8);
    tensor.content.fill(digest);
    tensor.tensor.fill(digest);
    tensor.isKept = isKept;
    return tensor;
}

/// Begin, `count` records of one tensor each, end.
inline std::vector<WrittenRecord> stepOf(std::int64_t step, std::uint64_t count = 2)
{
    std::vector<WrittenRecord> records{mark(4, step, 0)};
    for (std::uint64_t i = 0; i < count; ++i) {
        WrittenRecord record = mark(0, step, i + 1);
        record.stage = "forward";
        record.name = "layer." + std::to_string(i % 1000);
        record.call = std::uint32_t(i / 1000);
        record.microBatch = 0;
        record.outputs = {tensor(std::uint8_t(i % 250 + 1))};
        records.push_back(std::move(record));
    }
    records.push_back(mark(5, step, count + 1));
    return records;
}

/// A sound trace of two segments, a step each, and an end marker; to be bent.
struct Sound
{
    QTemporaryDir folder;
    WrittenHeader first, second, end;
    std::vector<WrittenRecord> one = stepOf(1), two = stepOf(2);

    Sound()
    {
        second.segment = 1;
        second.firstStep = second.lastStep = 2;
        end.segments = 2;
        end.records = 8;
        end.tensors = 4;
        end.values = 0;
    }
    fs::path root() const { return folder.path().toStdString(); }
    fs::path rank() const { return root() / "rank_0"; }
    bool write() const
    {
        return writeSegment(rank() / "steps_1-1.h5", first, one)
            && writeSegment(rank() / "steps_2-2.h5", second, two)
            && writeEnd(rank() / "end.h5", end);
    }
};

} // namespace forkpoint::test
