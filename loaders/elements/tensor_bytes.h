// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/tensor_source.h"

namespace forkpoint {

/// The logical stream of a tensor as bytes of their own: a dataset that is a container.
class TensorBytes final : public ByteSource
{
public:
    TensorBytes(std::shared_ptr<const TensorSource> file, TensorIndex tensor, std::string name)
        : m_file(std::move(file)),
          m_tensor(tensor),
          m_name(std::move(name))
    {
    }

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_file->catalog().tensors[m_tensor].bytes; }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        FP_CHECK(checkRange(m_name, offset, out.size(), size()));
        return m_file->read(m_tensor, offset, out);
    }
    void willRead(std::uint64_t offset, std::uint64_t size) const override
    {
        m_file->willRead(m_tensor, offset, size);
    }
    Status unchanged() const override { return m_file->unchanged(); }
    std::optional<ByteOrigin> origin() const override
    {
        const auto origin = m_file->origin(m_tensor);
        if (!origin || origin->files.size() != 1)
            return std::nullopt;
        return ByteOrigin{origin->files.front(), origin->layout + "; "};
    }

private:
    std::shared_ptr<const TensorSource> m_file;
    TensorIndex m_tensor;
    std::string m_name;
};

} // namespace forkpoint
