// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/file_source.h"
#include "loaders/traces/trace_dialect.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace forkpoint {

/// What was found in the payload files of a trace when it was indexed, so that comparing it does not
/// read them again. A file in another state than then is read again. Thread-safe.
class PayloadDigests
{
public:
    using Key = std::pair<std::string, std::string>; ///< file, name of the tensor in it

    std::optional<Observation> find(const Key &key, const FileState &state) const;
    void keep(Key key, const FileState &state, const Observation &observation);

private:
    static constexpr std::size_t Most = 1'000'000; ///< some 500 bytes each

    mutable std::mutex m_mutex;
    std::map<Key, std::pair<FileState, Observation>> m_found;
};

/// A whole tensor that a dump keeps in a file of its own: its layout, the SHA-256 of its elements and
/// where it is. `name`: of the tensor in that file; empty: the only one. A file that cannot be read
/// is an error, and no observation; ErrorCode::Cancelled once `trace.stop` was requested.
Result<Observation> observePayload(const TraceFile &trace, const std::string &relative,
                                   const std::string &name);

/// Bytes of a tensor's elements, by its shape and type; nothing where the type is not known or 64
/// bits do not suffice.
std::optional<std::uint64_t> payloadBytes(const Observation &tensor);
/// SHA-256 of the elements of a tensor that lie raw in a file, from `offset`; read once in a trace, as
/// long as the file stays in its state.
Result<std::string> digestOfSlice(const TraceFile &trace, const FileSource &file,
                                  std::uint64_t offset, std::uint64_t bytes);

} // namespace forkpoint
