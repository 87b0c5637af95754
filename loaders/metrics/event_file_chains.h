// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Event files of one writer, and of those that went on after it: a restart begins a file once the one
/// before has its last event.
struct EventFileChain
{
    /// How surely another run's file of that label is its counterpart.
    enum class Telling {
        Suffix, ///< the user named the files apart
        Place,  ///< host or folder, which another run may have others of
        Nothing ///< process and time alone: another run's file has no such name
    };
    std::vector<std::shared_ptr<const ByteSource>> files; ///< in the order in which they were begun
    /// What tells them from the other chains: "host node0", "suffix .rank1", "folder train", where
    /// need be "file NAME"; empty of the only chain.
    std::string label;
    Telling telling = Telling::Suffix;
};

/// Files that were written at the same time are of processes that ran side by side, such as ranks,
/// and no restart: these are chains of their own. The times of the events inside decide.
Result<std::vector<EventFileChain>>
eventFileChains(std::vector<std::shared_ptr<const ByteSource>> files, const std::stop_token &stop);

/// What the name of an event file tells: "events.out.tfevents.TIME.HOST.PID.NUMBER" and a suffix of
/// the user's, as TensorBoard's and PyTorch's writers make it; older ones end after the host.
struct EventFileName
{
    std::string folder, host, suffix;
};
EventFileName eventFileName(std::string_view path);

} // namespace forkpoint
