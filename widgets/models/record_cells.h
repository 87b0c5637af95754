// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/record_drift.h"
#include "model/traces/record_window.h"
#include "model/traces/trace_comparison.h"
#include "widgets/models/cell_table_model.h"

namespace forkpoint {

/// Columns of the list of records.
enum class RecordColumn { Sign, What, MicroBatch, Stage, Name, Call, Shape, A, B, Evidence, Count };

QStringList recordTitles();
QStringList recordTitleTips();
CellRow recordCells(const RecordRow &row);

/// The tensors and values of one record of both sides.
enum class ObservationColumn { Sign, What, Shape, A, B, Evidence, Count };

QStringList observationTitles();
std::vector<CellRow> observationRows(const RecordRow &row);

/// Ranks of two traces and their first mismatches.
enum class RankColumn { Sign, Rank, Class, Place, Differ, Why, Count };

QStringList rankTitles();
CellRow rankCells(const RankComparison &rank);
/// One that has no partner on the other side.
CellRow loneRankCells(const TraceCoordinate &rank, bool isA);

/// One record over the steps.
enum class DriftColumn { Sign, AtStep, What, Statistic, A, B, Relative, Evidence, Count };

QStringList driftTitles();
CellRow driftCells(const DriftPoint &point, const std::string &statistic);

/// "step 7, forward, mlp.fc1, micro-batch 0, call 2"
QString recordPlaceText(const TraceRecord &record);
/// As the trace spells it; of a mark what it marks.
QString recordNameText(const TraceRecord &record);
/// "7.0": step and micro-batch.
QString recordStepText(const TraceRecord &record);
/// What an equality or a difference rests on: "xxh3-128", "xor (33 bits)".
QString evidenceText(const EvidenceSum &evidence);

} // namespace forkpoint
