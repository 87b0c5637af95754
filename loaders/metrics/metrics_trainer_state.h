// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <stop_token>

namespace forkpoint {

/// `log_history` of a Hugging Face trainer_state.json: each entry's numbers, by its `step`. Before
/// version 5 the Trainer rounded the loss to four decimals; the table notices.
Status readTrainerState(const ByteSource &source, MetricsTable &table, std::stop_token stop);

/// Whether the document begins as a trainer_state.json does.
bool isTrainerState(const ByteSource &source);

} // namespace forkpoint
