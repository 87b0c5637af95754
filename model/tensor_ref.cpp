// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tensor_ref.h"

namespace forkpoint {

std::string OwnerCoordinate::toString() const
{
    std::string text;
    for (const auto &[axis, number] : axes)
        text += (text.empty() ? "" : ", ") + axis + " " + std::to_string(number);
    return text;
}

bool isContiguous(const TensorRef &tensor)
{
    if (tensor.extents.size() != 1)
        return false;
    const Extent &extent = tensor.extents.front();
    if (extent.fills == Extent::Fills::FlatRange)
        return true;
    if (extent.fills != Extent::Fills::Box || !tensor.shape.count())
        return false;
    const std::vector<std::int64_t> rowMajor = tensor.shape.rowMajorStrides();
    for (std::size_t i = 0; i < rowMajor.size() && i < extent.strides.size(); ++i) {
        if (tensor.shape.dims[i] > 1 && extent.strides[i] != rowMajor[i])
            return false;
    }
    return true;
}

} // namespace forkpoint
