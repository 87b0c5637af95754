// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_protocol.h"

/// The first byte chooses the message; what is parsed must be written as it was read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    if (size == 0)
        return 0;
    const ByteView payload(reinterpret_cast<const std::byte *>(data) + 1, size - 1);
    const auto again = [&](const auto &parsed) {
        if (!parsed.ok())
            return;
        const auto frame = hdf5Frame(*parsed);
        const ByteView written = ByteView(frame).subspan(Hdf5FrameHeader);
        if (!std::equal(written.begin(), written.end(), payload.begin(), payload.end()))
            __builtin_trap();
    };
    switch (data[0] % 7) {
    case 0: (void)parseHdf5FrameHead(payload).ok(); break;
    case 1: again(parseHdf5Read(payload)); break;
    case 2: again(parseHdf5Dataset(payload)); break;
    case 3: again(parseHdf5Chunks(payload)); break;
    case 4: again(parseHdf5Problem(payload)); break;
    case 5: again(parseHdf5Decode(payload)); break;
    default: (void)parseHdf5Value(payload).ok(); // truth values are written as 0 and 1
    }
    return 0;
}
