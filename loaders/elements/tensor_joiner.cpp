// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/tensor_joiner.h"

#include "loaders/elements/extent_geometry.h"
#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

Error mismatch(std::string text)
{
    return {ErrorCode::Mismatch, {}, {}, std::move(text)};
}

/// The extents of a part as boxes of the whole.
std::vector<Extent> moved(const TensorRef &part, const std::vector<Index> &origin)
{
    std::vector<Extent> extents = part.extents;
    for (Extent &extent : extents) {
        if (extent.fills == Extent::Fills::FlatRange) { // the whole part, row-major
            extent.fills = Extent::Fills::Box;
            extent.box = {std::vector<Index>(origin.size(), 0), part.shape.dims};
            extent.strides = part.shape.rowMajorStrides();
            extent.flatBegin = extent.flatCount = 0;
        }
        for (std::size_t i = 0; i < origin.size() && i < extent.box.origin.size(); ++i)
            extent.box.origin[i] += origin[i];
        if (extent.owner == NoOwner)
            extent.owner = part.owner;
    }
    return extents;
}

/// Whether a part's one flat range, if any, is all of it.
bool isMovable(const TensorRef &part)
{
    return std::all_of(part.extents.begin(), part.extents.end(), [&](const Extent &extent) {
        return extent.fills != Extent::Fills::FlatRange
            || (part.extents.size() == 1 && part.dtype.positionBits() % 8 == 0
                && extent.flatCount == part.shape.count());
    });
}

} // namespace

/// Parts that cannot be read reach as far as others: what the whole is, their layout tells.
void TensorJoiner::reach(Joined &joined, const TensorRef &part, const std::vector<Index> &origin)
{
    std::vector<Index> &dims = joined.tensor.shape.dims;
    if (joined.isShapeKnown || part.shape.rank() != dims.size() || origin.size() != dims.size())
        return;
    joined.tensor.layoutKnown = joined.tensor.layoutKnown && part.layoutKnown;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const auto end = checkedAdd(origin[i], part.shape.dims[i]);
        if (!end) {
            joined.problem = mismatch("a part ends beyond what 64 bits can count");
            joined.isProblemTold = false;
            return;
        }
        dims[i] = std::max(dims[i], *end);
    }
}

void TensorJoiner::add(TensorRef part, std::vector<Index> origin, std::optional<Shape> global)
{
    const auto [at, isNew] = m_byPath.try_emplace(part.path, m_tensors.size());
    if (isNew) {
        Joined first;
        first.tensor = part;
        first.tensor.extents.clear();
        first.tensor.files.clear();
        first.tensor.note.clear();
        first.tensor.owner = NoOwner;
        first.tensor.globalShape.reset();
        first.tensor.globalOrigin.clear();
        first.tensor.shape = global.value_or(Shape{std::vector<Index>(part.shape.rank(), 0)});
        first.isShapeKnown = global.has_value();
        m_tensors.push_back(std::move(first));
    }
    Joined &joined = m_tensors[at->second];
    TensorRef &tensor = joined.tensor;
    for (std::string &file : part.files) {
        if (std::find(tensor.files.begin(), tensor.files.end(), file) == tensor.files.end())
            tensor.files.push_back(std::move(file));
    }
    reach(joined, part, origin);
    if (joined.problem)
        return;
    if (part.unreadable)
        joined.problem = part.unreadable;
    else if (part.dtype.name != tensor.dtype.name || part.shape.rank() != tensor.shape.rank()
             || origin.size() != tensor.shape.rank() || part.conjugate != tensor.conjugate
             || part.negate != tensor.negate || !isMovable(part))
        joined.problem = mismatch("its parts are of different kinds");
    else if (global && joined.isShapeKnown && *global != tensor.shape)
        joined.problem = mismatch("its parts disagree about its shape");
    joined.isProblemTold = part.unreadable.has_value();
    if (joined.problem)
        return;
    if (part.shape.count().value_or(0) == 0)
        return;
    std::vector<Extent> extents = moved(part, origin);
    const bool isFirst =
        joined.boxes.try_emplace({std::move(origin), part.shape.dims}, part.owner).second;
    if (isFirst)
        std::move(extents.begin(), extents.end(), std::back_inserter(tensor.extents));
    else
        tensor.replicas.push_back({part.owner, std::move(extents)});
}

void TensorJoiner::finish(CheckpointBuilder &builder)
{
    for (Joined &joined : m_tensors) {
        if (joined.problem && !joined.isProblemTold) {
            builder.addUnreadable(std::move(joined.tensor), std::move(*joined.problem));
            continue;
        }
        joined.tensor.unreadable = std::move(joined.problem);
        builder.addTensor(std::move(joined.tensor));
    }
    m_tensors.clear();
    m_byPath.clear();
}

} // namespace forkpoint
