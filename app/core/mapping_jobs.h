// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"
#include "model/traces/mapping_trial.h"

namespace forkpoint {

/// Lines that a trial of a mapping sheet shows.
constexpr std::size_t TriedLines = 300;

/// Tries the text of a mapping sheet on the first lines of what a path holds. Where the sheet is
/// wrong, or understands none of them, the lines are shown as they are.
MappingTrial tryMapping(const std::string &path, const std::string &sheet,
                        const std::stop_token &stop);

JobBatch mappingTrialBatch(std::string path, std::string sheet,
                           Deliver<std::shared_ptr<const MappingTrial>> deliver);
/// The text of a sheet to be edited, at most limits::MappingBytes.
JobBatch sheetTextBatch(std::string path, Deliver<std::shared_ptr<const std::string>> deliver);
/// Writes a sheet, though over none of the inputs, and delivers what the file holds then.
JobBatch writeSheetBatch(std::vector<std::string> inputs, std::string path, std::string sheet,
                         Deliver<std::shared_ptr<const std::string>> deliver);

} // namespace forkpoint
