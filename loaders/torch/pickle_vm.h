// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "loaders/storage/byte_source.h"
#include "loaders/torch/pickle_graph.h"
#include "model/result.h"

#include <memory>
#include <stop_token>

namespace forkpoint {

/// Reads one pickle of protocol 0 to 5 from byte `at` of `input` into a graph. Nothing is
/// imported, resolved, called or built: names stay symbols, calls stay nodes. Work and memory are
/// linear in the bytes read, within the caps of limits.h.
///
/// Refused, as Python refuses it: a pickle without STOP, an unknown opcode, a short stack, a memo
/// entry never put, numbers and strings that are none, text that is not UTF-8, items for what
/// cannot hold them, keys that cannot be hashed, frames that end inside an opcode. Refused beyond
/// that: extension codes and out-of-band buffers, which name things outside the file, and text
/// persistent ids, which no writer of checkpoints uses.
///
/// Truncated means that more bytes may be missing; every other error is final.
/// Source: CPython Lib/pickle.py and Lib/pickletools.py.
Result<std::shared_ptr<const PickleGraph>>
readPickle(std::shared_ptr<const std::vector<std::byte>> input, std::uint64_t at,
           std::stop_token stop, std::size_t maxNodes = limits::PickleNodes);

/// The same from byte `at` of a source that holds other things behind the pickle: reads as many
/// bytes as the pickle turns out to need, up to limits::PickleBytes. graph.end counts from `at`.
Result<std::shared_ptr<const PickleGraph>> readPickle(const ByteSource &source, std::uint64_t at,
                                                      std::stop_token stop);

} // namespace forkpoint
