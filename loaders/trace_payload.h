// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/trace_dialect.h"
#include "model/trace_record.h"

#include <cstdint>
#include <optional>
#include <string>

namespace forkpoint {

/// A whole tensor that a dump keeps in a file of its own: its layout, the SHA-256 of its elements and
/// where it is. `name`: of the tensor in that file; empty: the only one. A file that cannot be read
/// is an error, and no observation.
Result<Observation> observePayload(const TraceFile &trace, const std::string &relative,
                                   const std::string &name);

/// Bytes of a tensor's elements, by its shape and type; nothing where the type is not known or there
/// are more than 64 bits count.
std::optional<std::uint64_t> payloadBytes(const Observation &tensor);
/// SHA-256 of the elements of a tensor that lie raw in a file, from `offset`.
Result<std::string> digestOfSlice(const ByteSource &file, std::uint64_t offset,
                                  std::uint64_t bytes);

} // namespace forkpoint
