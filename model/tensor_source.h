// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/catalog.h"
#include "model/recorded_digests.h"
#include "model/result.h"
#include "model/tensor_origin.h"

#include <memory>
#include <optional>
#include <vector>

namespace forkpoint {

/// One opened checkpoint. Immutable after opening; every function may be called from any thread.
class TensorSource
{
public:
    virtual ~TensorSource() = default;
    TensorSource(const TensorSource &) = delete;
    TensorSource &operator=(const TensorSource &) = delete;

    virtual const Catalog &catalog() const = 0;

    /// Fills `out` with the bytes [firstByte, firstByte + out.size()) of the tensor's logical
    /// stream: its row-major elements, little-endian, conjugate and negative views resolved,
    /// packed types as packed. An error leaves `out` unspecified. Memory use is bounded by a
    /// constant beside `out`, whatever the layout.
    virtual Status read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const = 0;

    /// Those bytes will be read soon: a storage that can may fetch them ahead. Errors are left to
    /// read().
    virtual void willRead(TensorIndex, std::uint64_t firstByte, std::uint64_t size) const
    {
        static_cast<void>(firstByte);
        static_cast<void>(size);
    }

    /// After a pass over the data: whether any file changed since it was opened, by identity,
    /// size or modification time. The first such change is the error.
    virtual Status unchanged() const = 0;

    /// After a look at one tensor: as unchanged(), of the files that hold it alone where they are known.
    virtual Status holdersUnchanged(TensorIndex) const { return unchanged(); }

    /// The files as they were when they were opened, as far as the bytes come from such.
    virtual std::vector<std::shared_ptr<const FileState>> fileStates() const { return {}; }

    /// Where the bytes of that tensor come from; nothing where that cannot be told.
    virtual std::optional<TensorOrigin> origin(TensorIndex) const { return std::nullopt; }

    /// Of a fingerprint file: what it has in place of that tensor's bytes, which read() refuses.
    virtual const RecordedDigests *recorded(TensorIndex) const { return nullptr; }

protected:
    TensorSource() = default;
};

} // namespace forkpoint
