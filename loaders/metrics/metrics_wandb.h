// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <stop_token>

namespace forkpoint {

/// A run that wandb keeps offline (`run-ID.wandb`): its history as metrics, by its own steps, and its
/// configuration and summary as values `config.*` and `summary.*`. Numbers are JSON text written in
/// full. Damage is told with its byte; a torn tail is a note.
Status readWandb(const ByteSource &source, MetricsTable &table, CheckpointBuilder &values,
                 std::stop_token stop);

bool isWandb(const ByteSource &source);

} // namespace forkpoint
