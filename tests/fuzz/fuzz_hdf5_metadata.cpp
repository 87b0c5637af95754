// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/btree2.h"
#include "app/h5worker/chunk_index.h"
#include "app/h5worker/dense_attributes.h"
#include "app/h5worker/fractal_heap.h"
#include "app/h5worker/global_heap.h"
#include "app/h5worker/newer_datatype.h"
#include "app/h5worker/newer_header.h"
#include "app/h5worker/selection.h"
#include "app/h5worker/virtual_layout.h"
#include "tests/support/parent_memory.h"

namespace {

using namespace forkpoint;

void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

/// Chunks of an index, for a grid whose dimensions follow it.
void readIndex(NewerChunkIndex::Kind kind, std::uint64_t address, MetadataNumbers &numbers)
{
    ChunkGrid grid;
    grid.count = 1;
    for (std::uint64_t rank = 1 + numbers.next(1) % 3; rank > 0; --rank) {
        grid.dims.push_back(1 + numbers.next(1) % 40);
        grid.most.push_back(std::max(grid.dims.back(), numbers.next(1)));
        grid.count *= grid.dims.back();
    }
    if (kind == NewerChunkIndex::Kind::ExtensibleArray)
        grid.most.back() = UndefinedAddress;
    const auto chunks = readChunkIndex({kind, address}, grid);
    if (!chunks.ok())
        return;
    for (std::size_t i = 0; i < chunks->size(); ++i) {
        require((*chunks)[i].number < grid.count);
        require(i == 0 || (*chunks)[i - 1].number < (*chunks)[i].number);
    }
}

void readSelection(ByteView bytes)
{
    MetadataNumbers numbers(bytes);
    const auto selection = decodeSelection(numbers);
    if (!selection.ok())
        return;
    require(numbers.isWhole());
    (void)toText(*selection);
    for (const Hdf5Selection::Steps &steps : selection->grid)
        require(!steps.isUnlimited || (steps.block > 0 && steps.stride >= steps.block));
}

} // namespace

/// The first bytes choose what is read, how wide addresses and lengths are, and where it begins; all of it is the file.
/// Checksums are right, whatever was changed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    constexpr std::size_t Head = 16, Widths[] = {2, 4, 8};
    if (size < Head)
        return 0;
    const auto *const bytes = reinterpret_cast<const std::byte *>(data);
    test::openParentMemory({bytes, bytes + size}, true);
    const std::vector<std::byte> head(bytes, bytes + Head);
    MetadataNumbers numbers(head);
    const std::uint64_t what = numbers.next(1), widths = numbers.next(1);
    setMetadataWidths({Widths[widths % 3], Widths[widths / 3 % 3]});
    const std::uint64_t address = numbers.next(4);
    const ByteView rest = ByteView(bytes, size).subspan(Head);
    const auto seen = [](ByteView) { return Status(); };
    switch (what % 10) {
    case 0: readSelection(rest); break;
    case 1: (void)readGlobalHeap({address, numbers.next(2)}, 1 << 16).ok(); break;
    case 2: (void)readVirtualLayout({address, numbers.next(2)}).ok(); break;
    case 3: (void)walkBTree2(address, {numbers.next(1), 1 + numbers.next(1)}, seen).ok(); break;
    case 4:
        if (const auto heap = FractalHeap::open(address); heap.ok()) {
            if (const auto block = heap->blockAt(numbers.next(4)); block.ok())
                (void)heap->read(*block).ok();
        }
        break;
    case 5: adaptDenseAttributes({address, numbers.next(4)}); break;
    case 6: (void)adaptNewerHeader(address); break;
    case 7:
        for (const std::size_t at : newerAttributeVersions(rest))
            require(at < rest.size());
        for (const std::size_t at : newerDatatypeVersions(rest))
            require(at < rest.size());
        break;
    default: {
        constexpr std::uint64_t First = 3, Kinds = 3;
        const std::uint64_t kind = First + numbers.next(1) % Kinds;
        readIndex(NewerChunkIndex::Kind(kind), address, numbers);
    }
    }
    return 0;
}
