// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <memory>
#include <string>
#include <vector>

namespace forkpoint {

/// Bytes of one part of an assembled tensor, held by one rank or, equal, by several.
struct AssembledPiece
{
    std::vector<TensorIndex> copies; ///< of the source below; at least one
    std::uint64_t first = 0, size = 0;
};

/// How the bytes of a tensor lie in tensors of another source.
struct AssemblyPlan
{
    enum class How {
        InTurn, ///< one piece after the other
        Rows,   ///< of each piece one row in turn: parts side by side along the second axis
    };
    How how = How::InTurn;
    std::vector<AssembledPiece> pieces;
    std::uint64_t rows = 1; ///< Rows: of every piece
    std::string reason;     ///< "2 parts along axis 0: column-parallel: ..."
};

/// A checkpoint seen with other tensors: some of its own, and some put together from them.
/// Copies are all read, and where they differ, reading is an error that names them.
class AssembledSource final : public TensorSource
{
public:
    struct Item
    {
        TensorRef tensor;         ///< of `below`, or new: then its places come from the plan
        TensorIndex original = 0; ///< of `below`, without a plan
        std::optional<AssemblyPlan> plan;
    };

    /// `frame` is the catalogue without tensors; the items' order is the file order. A tensor whose
    /// parts are not as many bytes as its shape asks for is listed as unreadable.
    AssembledSource(std::shared_ptr<const TensorSource> below, Catalog frame,
                    std::vector<Item> items);

    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const override;
    void willRead(TensorIndex tensor, std::uint64_t firstByte, std::uint64_t size) const override;
    Status unchanged() const override { return m_below->unchanged(); }
    Status holdersUnchanged(TensorIndex tensor) const override;
    std::optional<TensorOrigin> origin(TensorIndex tensor) const override;
    const RecordedDigests *recorded(TensorIndex tensor) const override;

    /// By which rule a tensor was put together, here or below; nullptr for one of the files' own.
    const std::string *assembledBy(TensorIndex tensor) const;

    /// A catalogue like that one, but for its tensors.
    static Catalog frameOf(const Catalog &catalog);

private:
    /// Some rows of one piece among those that lie side by side. In bytes, but for rows.
    struct Window
    {
        std::uint64_t first;      ///< of the whole, that is asked for
        std::uint64_t row, count; ///< which rows
        std::uint64_t width;      ///< of a row of the whole
        std::uint64_t column;     ///< where the piece begins in it
        std::uint64_t part;       ///< of a row of the piece
    };

    Status readPiece(const AssembledPiece &piece, std::uint64_t first, MutableByteView out) const;
    Status readInTurn(const AssemblyPlan &plan, std::uint64_t first, MutableByteView out) const;
    Status readRows(const AssemblyPlan &plan, std::uint64_t first, MutableByteView out) const;
    Status readWhole(const AssembledPiece &piece, const Window &window, MutableByteView out) const;
    Status readWithin(const AssembledPiece &piece, const Window &window, MutableByteView out) const;

    std::shared_ptr<const TensorSource> m_below;
    Catalog m_catalog;
    std::vector<TensorIndex> m_original; ///< by tensor
    std::vector<std::optional<AssemblyPlan>> m_plans;
};

} // namespace forkpoint
