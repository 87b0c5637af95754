// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/byte_source.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// TensorBoard event files of one run, one after the other (event_file_chains.h). Scalars are float32
/// as `simple_value`, or tensors of one element, and keep their bits. A session that starts at a step
/// takes back what was logged from that step on; so does a later file that logs a tag from a step
/// that an earlier one had. Histograms, images and the like are named and not read. Damage is told
/// with its byte; a torn tail is a note.
Status readTensorBoard(const std::vector<std::shared_ptr<const ByteSource>> &files,
                       MetricsTable &table, std::stop_token stop);

/// Whether the file begins with the record that opens an event file.
bool isTensorBoard(const ByteSource &source);

} // namespace forkpoint
