// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_graph.h"
#include "model/dtype.h"
#include "model/result.h"
#include "model/tensor_ref.h"
#include "model/value.h"

#include <optional>
#include <string>

namespace forkpoint {

/// A numpy.dtype as its pickle describes it.
struct NumpyType
{
    DType dtype;
    ByteOrder order = ByteOrder::Little;
    std::uint64_t itemBytes = 0;
    bool isObject = false;
    std::string spelling; ///< "<f4", "|S2", "[('a', '<i4')]"
};

Result<NumpyType> pickledNumpyType(const PickleGraph &graph, NodeId node);

/// An array inside a pickle, of `_reconstruct` with its BUILD or of `_frombuffer`.
struct NumpyArray
{
    NumpyType type;
    Shape shape;
    bool fortran = false;
    NodeId data = NoNode; ///< bytes, or a list where type.isObject
    NodeId mask = NoNode; ///< of a masked array: bytes, one an element
    NodeId fill = NoNode; ///< what a masked array shows for masked elements
};

/// The array that an Object node makes; the error says what is wrong with it.
Result<NumpyArray> pickledNumpyArray(const PickleGraph &graph, NodeId node);

/// A numpy scalar as a value: numbers, booleans and text as such, others as Python prints them.
Result<Value> pickledNumpyScalar(const PickleGraph &graph, NodeId node);

/// Sizes of a tuple, list or torch.Size. Nothing where an item is no integer >= 0.
std::optional<Shape> pickledShape(const PickleGraph &graph, NodeId node);

/// Strides in elements of an array in Fortran order.
std::vector<std::int64_t> fortranStrides(const Shape &shape);

} // namespace forkpoint
