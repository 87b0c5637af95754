// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace forkpoint {

/// Why something could not be done. The name of a code (see toString) is what diagnostics carry in
/// their "code" member, so it is part of the JSON contract: append, never rename.
enum class ErrorCode {
    Io,          ///< the operating system refused a read (EIO, ESTALE, permission)
    NotFound,    ///< a path or a name is not there
    Truncated,   ///< the file ends before what it announces
    Malformed,   ///< bytes that contradict the format
    Unsupported, ///< legal, but not something this version decodes
    Limit,       ///< legal, but over a cap of loaders/limits.h
    Refused,     ///< would be unsafe: path escapes, links out of a directory, code
    Mismatch,    ///< two sources of truth disagree (index and shard, CRC and data)
    Changed,     ///< the file changed while it was read
    Cancelled,   ///< the user stopped the job
    Usage,       ///< the caller asked for something that makes no sense
};

std::string_view toString(ErrorCode code);

/// An error a user can act on: which file, which place in it, what was expected and found.
/// Grammar of text: lower case, no full stop, expectation first ("ends at byte 90, file has 80").
struct Error
{
    ErrorCode code = ErrorCode::Malformed;
    std::string file;  ///< path as the user would recognise it; empty where no file is concerned
    std::string place; ///< "byte 80", "tensor 'w'", "opcode 17"; empty for the file as a whole
    std::string text;

    /// "FILE: PLACE: text", leaving out what is empty.
    std::string message() const;

    /// Fills in what a lower layer could not know; never overwrites. By value, so that assigning
    /// the result to the same error is no self-move.
    Error inFile(std::string_view name) &&
    {
        if (file.empty())
            file = name;
        return std::move(*this);
    }
    /// Prefixes an outer place: "tensor 'w'" before "byte 80".
    Error atPlace(std::string_view outer) &&
    {
        place = place.empty() ? std::string(outer) : std::string(outer) + ", " + place;
        return std::move(*this);
    }
};

} // namespace forkpoint
