// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/stored_elements.h"

#include <algorithm>
#include <optional>

namespace forkpoint {

namespace {

using Numbers = std::vector<std::uint64_t>;

std::optional<std::uint64_t> product(const Numbers &dims, std::uint64_t of)
{
    std::optional<std::uint64_t> all = of;
    for (const std::uint64_t length : dims)
        all = all ? checkedMul(*all, length) : std::nullopt;
    return all;
}

Error tooLarge(const char *what, std::uint64_t most)
{
    return {ErrorCode::Limit,
            {},
            {},
            std::string("has ") + what + " of more than " + std::to_string(most)
                + " bytes that are text, lists or references"};
}

/// First element of a chunk.
Numbers cornerOf(const Hdf5Dataset &dataset, std::uint64_t number)
{
    Numbers at(dataset.dims.size());
    for (std::size_t i = at.size(); i-- > 0;) {
        const std::uint64_t chunk = dataset.chunkDims[i];
        const std::uint64_t along = dataset.dims[i] / chunk + (dataset.dims[i] % chunk != 0);
        at[i] = number % along * chunk;
        number /= along;
    }
    return at;
}

/// What of a chunk lies in the shape, row by row.
void place(const Hdf5Dataset &dataset, const Numbers &corner, ByteView chunk,
           std::vector<std::byte> &all)
{
    const std::size_t rank = dataset.dims.size();
    Numbers size(rank), row(rank, 0); // `row`: from the corner on; its last number stays 0
    for (std::size_t i = 0; i < rank; ++i)
        size[i] = std::min(dataset.chunkDims[i], dataset.dims[i] - corner[i]);
    const std::size_t rowBytes = size.back() * dataset.elementSize;
    for (bool isDone = false; !isDone;) {
        std::uint64_t from = 0, to = 0;
        for (std::size_t i = 0; i < rank; ++i) {
            from = from * dataset.chunkDims[i] + row[i];
            to = to * dataset.dims[i] + corner[i] + row[i];
        }
        const ByteView bytes = chunk.subspan(from * dataset.elementSize, rowBytes);
        std::copy(bytes.begin(), bytes.end(), &all[to * dataset.elementSize]);
        std::size_t i = rank - 1;
        while (i > 0 && ++row[i - 1] == size[i - 1])
            row[--i] = 0;
        isDone = i == 0;
    }
}

} // namespace

Result<std::vector<std::byte>> readStoredElements(WorkerLink &link, const Hdf5Dataset &dataset,
                                                  const std::vector<Hdf5Chunk> &chunks)
{
    const auto bytes = product(dataset.dims, dataset.elementSize);
    const auto chunkBytes = product(dataset.chunkDims, dataset.elementSize);
    if (!bytes || *bytes > MostElementBytes)
        return tooLarge("elements", MostElementBytes);
    if (!chunkBytes || *chunkBytes > Hdf5FrameBytes)
        return tooLarge("chunks", Hdf5FrameBytes);
    std::vector<std::byte> all(*bytes);
    for (std::size_t at = 0; at < all.size() && !dataset.fill.empty(); at += dataset.fill.size())
        std::copy(dataset.fill.begin(), dataset.fill.end(), &all[at]);
    for (const Hdf5Chunk &chunk : chunks) {
        if (chunk.size > 2 * Hdf5FrameBytes)
            return tooLarge("chunks", Hdf5FrameBytes);
        FP_TRY(const auto decoded,
               link.decode({dataset.filters, chunk, std::uint32_t(*chunkBytes)}));
        place(dataset, cornerOf(dataset, chunk.number), decoded, all);
    }
    return all;
}

} // namespace forkpoint
