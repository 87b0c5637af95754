// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/worker_link.h"

#include <algorithm>
#include <array>

#include <errno.h>
#include <unistd.h>

namespace forkpoint {

namespace {

constexpr int Socket = 0;                        ///< standard input
constexpr int ParentGone = 3, ParentUnknown = 4; ///< exit statuses

void receiveAll(MutableByteView out)
{
    while (!out.empty()) {
        const ssize_t got = read(Socket, out.data(), out.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(ParentGone);
        out = out.subspan(std::size_t(got));
    }
}

} // namespace

void WorkerLink::send(const std::vector<std::byte> &frame)
{
    ByteView bytes = frame;
    while (!bytes.empty()) {
        const ssize_t sent = write(Socket, bytes.data(), bytes.size());
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            _exit(ParentGone);
        bytes = bytes.subspan(std::size_t(sent));
    }
}

Hdf5Message WorkerLink::receive(std::vector<std::byte> &payload)
{
    std::array<std::byte, Hdf5FrameHeader> bytes;
    receiveAll(bytes);
    const auto head = parseHdf5FrameHead(bytes);
    if (!head.ok())
        _exit(ParentUnknown);
    payload.resize(head->size);
    receiveAll(payload);
    return head->kind;
}

Hdf5Open WorkerLink::receiveOpen()
{
    std::vector<std::byte> payload;
    const Hdf5Message kind = receive(payload);
    const auto open = parseHdf5Open(payload);
    if (kind != Hdf5Message::Open || !open.ok() || open->version != Hdf5ProtocolVersion)
        _exit(ParentUnknown);
    return *open;
}

bool WorkerLink::readFile(std::uint64_t offset, MutableByteView out)
{
    std::vector<std::byte> payload;
    while (!out.empty()) {
        const auto now = std::uint32_t(std::min<std::size_t>(out.size(), Hdf5ReadBytes));
        tell(Hdf5Read{offset, now});
        if (receive(payload) != Hdf5Message::Bytes || payload.size() != now)
            return false;
        std::copy(payload.begin(), payload.end(), out.begin());
        offset += now;
        out = out.subspan(now);
    }
    return true;
}

Result<std::vector<std::byte>> WorkerLink::decode(const Hdf5Decode &request)
{
    tell(request);
    std::vector<std::byte> payload;
    if (receive(payload) == Hdf5Message::Bytes && payload.size() == request.bytes)
        return payload;
    return Error{ErrorCode::Malformed,
                 {},
                 {},
                 "chunk at byte " + std::to_string(request.chunk.offset) + ": "
                     + std::string(asText(payload))};
}

} // namespace forkpoint
