// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_filters.h"

#include "loaders/hdf5/chunk_codecs.h"
#include "loaders/storage/zstd_source.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// What a step that is not the last may have beyond the chunk: checksums, headers.
constexpr std::size_t StepSlack = 1u << 16;

const ChunkFilter *findFilter(std::uint32_t id)
{
    const auto all = chunkFilters();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [id](const ChunkFilter &each) { return each.id == id; });
    return found == all.end() ? nullptr : &*found;
}

} // namespace

std::span<const ChunkFilter> chunkFilters()
{
    static const ChunkFilter all[] = {
        {1, "deflate", {}, undoDeflate},
        {2, "shuffle", {}, undoShuffle},
        {3, "fletcher32", {}, undoFletcher32},
        {4, "szip", whyNoSzip(), undoSzip},
        {5, "nbit", {}, undoNbit},
        {6, "scale-offset", {}, undoScaleOffset},
        {307, "bzip2", whyNoBzip2(), undoBzip2},
        {32000, "lzf", {}, undoLzf},
        {32001, "blosc", {}, undoBlosc},
        {32004, "lz4", {}, undoLz4},
        {32008, "bitshuffle", {}, undoBitshuffle},
        {32015, "zstd", whyNoZstd(), undoZstd},
        {32026, "blosc2", {}, undoBlosc2},
    };
    return all;
}

Error overCap(std::size_t cap)
{
    return {ErrorCode::Malformed,
            {},
            {},
            "must decode to at most " + std::to_string(cap) + " bytes, does to more"};
}

Error damaged(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

std::string whyNoFilter(std::uint32_t id)
{
    const ChunkFilter *const filter = findFilter(id);
    const std::string needs = "needs filter " + std::to_string(id);
    if (filter == nullptr)
        return needs;
    if (filter->whyNot.empty())
        return {};
    return needs + " (" + std::string(filter->name) + "): " + std::string(filter->whyNot);
}

FilterResult undoFilters(std::span<const Hdf5Filter> filters, std::uint32_t mask,
                         std::vector<std::byte> stored, std::size_t chunkBytes)
{
    for (std::size_t i = filters.size(); i-- > 0;) {
        if (i < 32 && ((mask >> i) & 1) != 0)
            continue;
        const ChunkFilter *const filter = findFilter(filters[i].id);
        if (filter == nullptr || filter->undo == nullptr)
            return Error{ErrorCode::Unsupported, {}, {}, whyNoFilter(filters[i].id)};
        const std::size_t cap = chunkBytes + (i == 0 ? 0 : chunkBytes / 8 + StepSlack);
        auto undone = filter->undo(stored, filters[i].parameters, cap);
        if (!undone.ok()) {
            Error error = std::move(undone).error();
            error.text = std::string(filter->name) + ": " + error.text;
            return error;
        }
        stored = std::move(*undone);
    }
    if (stored.size() == chunkBytes)
        return stored;
    return Error{ErrorCode::Malformed,
                 {},
                 {},
                 "must decode to " + std::to_string(chunkBytes) + " bytes, decodes to "
                     + std::to_string(stored.size())};
}

} // namespace forkpoint
