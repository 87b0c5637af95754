// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of CheckpointComparer, for the units that make it up.
#pragma once

#include "model/compare/checkpoint_comparer.h"
#include "model/compare/comparison_verdict.h"
#include "model/compare/row_evidence.h"
#include "model/compare/shared_rows.h"
#include "model/pairing/rounded_rows.h"
#include "model/pairing/row_reading.h"

#include <optional>
#include <vector>

namespace forkpoint {

enum class ComparerPhase { Reading, Measuring, Rounding, Finished };

/// One piece of work of a thread.
struct ReadTask
{
    enum class Kind { Leaves, Unit };

    std::size_t row = 0;
    Kind kind = Kind::Leaves;
    bool sideA = false, sideB = false;
    std::uint64_t first = 0, size = 0; ///< bytes of leaves, elements of a unit
    std::uint64_t bytes = 0;           ///< of both sides
};

/// A unit that was equal before its row was known to differ, or one of a row that had to be read
/// whole before.
struct MeasureTask
{
    std::size_t row = 0;
    std::size_t unit = 0;
    Index first = 0, count = 0;
    bool equal = false; ///< A stands for both sides
    std::uint64_t bytes = 0;
};

MeasureWhen measuringOf(const CompareOptions &options);

struct CheckpointComparer::State
{
    std::shared_ptr<const TensorSource> a, b;
    CompareOptions options;
    const ComputeBackend &backend;
    Executor &executor;
    MeasureWhen measuring;

    CheckpointComparison result;
    Pairing pairing;
    std::vector<std::optional<MeasuredAs>> measuredAs; ///< per row; nothing: no common type
    std::vector<RowEvidence> evidence;                 ///< per row, of what is not read
    std::vector<RowReading> readings;
    std::vector<std::size_t> tasksLeft; ///< of reading, per row
    std::vector<ReadTask> readTasks;
    std::vector<MeasureTask> measureTasks;
    std::size_t nextTask = 0;
    std::size_t nextMeasure = 0;
    bool changed = false; ///< a file did, while it was read
    bool unread = false;  ///< whether one did could not be found out
    std::vector<std::pair<TensorIndex, Digest128>> readOfA, readOfB; ///< whole, and their contents
    SharedRows shared;
    RoundedRows rounded;
    ComparerPhase phase = ComparerPhase::Reading;
    Progress progress;

    State(std::shared_ptr<const TensorSource> sourceA, std::shared_ptr<const TensorSource> sourceB,
          CompareOptions compareOptions, const ComputeBackend &computeBackend,
          Executor &workExecutor)
        : a(std::move(sourceA)),
          b(std::move(sourceB)),
          options(std::move(compareOptions)),
          backend(computeBackend),
          executor(workExecutor),
          measuring(measuringOf(options)),
          shared(*a, *b, backend),
          rounded(*a, *b)
    {
    }

    void prepare();
    void planReading();
    void planRow(std::size_t row);
    void planPair(std::size_t row);
    void planWithoutBytes(std::size_t row);
    void planUnits(std::size_t row);
    void planLeaves(std::size_t row, bool sideA, bool sideB, std::uint64_t bytes);

    bool endsEarly(std::size_t row) const;
    void readBatch(std::stop_token stop);
    UnitReading runTask(const ReadTask &task, std::stop_token stop) const;
    void announce(const ReadTask &task) const;
    void takeReading(const ReadTask &task, UnitReading reading);
    void planMissing(std::size_t row);
    void planMeasuringOf(std::size_t row);
    void fail(std::size_t row, const Error &error);
    void endTask(std::size_t row);
    void decideRow(std::size_t row);
    void finishReading();
    void planMeasuring();
    bool measureBatch(std::stop_token stop);
    void takeMeasured(const MeasureTask &task, Result<DiffStats> stats);
    void planRounding();
    bool roundBatch(std::stop_token stop);
    void finish(std::stop_token stop);

    PairOfTensors tensorsOf(const TensorRow &row, bool sideA = true, bool sideB = true) const;
    ComparisonContext context() const;
};

} // namespace forkpoint
