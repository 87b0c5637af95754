// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_protocol.h"

namespace forkpoint {

/// The worker's side of the socket to its parent. A parent that is gone ends the process.
class WorkerLink
{
public:
    /// The first message; the process ends where it is no request of this version.
    Hdf5Open receiveOpen();
    /// Bytes of the file, through the parent; false where they cannot be had.
    bool readFile(std::uint64_t offset, MutableByteView out);
    /// A chunk without its filters, of exactly the bytes asked for, undone by the parent.
    Result<std::vector<std::byte>> decode(const Hdf5Decode &request);

    template <class Message>
    void tell(const Message &message)
    {
        send(hdf5Frame(message));
    }
    void tell(Hdf5Message kind, std::string_view text) { send(hdf5Frame(kind, asBytes(text))); }

private:
    void send(const std::vector<std::byte> &frame);
    Hdf5Message receive(std::vector<std::byte> &payload);
};

} // namespace forkpoint
