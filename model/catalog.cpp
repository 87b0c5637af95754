// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/catalog.h"

#include <algorithm>
#include <numeric>

namespace forkpoint {

namespace {

void deriveNames(Catalog &catalog, std::string_view separator)
{
    std::vector<std::string *> names;
    for (TensorRef &tensor : catalog.tensors) {
        // An array without a name of its own (an .npy file) keeps the name its loader gave it.
        if (!tensor.path.keys.empty() || tensor.name.empty())
            tensor.name = tensor.path.toString(separator);
        names.push_back(&tensor.name);
    }
    for (ValueRef &value : catalog.values) {
        value.name = value.path.toString(separator);
        names.push_back(&value.name);
    }
    makeNamesUnique(std::move(names));
}

void measure(TensorRef &tensor)
{
    const auto positions = tensor.shape.count();
    const auto elements = positions ? checkedMul(*positions, tensor.dtype.packing) : std::nullopt;
    const auto bits = elements ? checkedMul(*elements, tensor.dtype.bits) : std::nullopt;
    if (!bits || *bits > ~std::uint64_t(0) - 7) {
        tensor.unreadable = Error{ErrorCode::Limit,
                                  {},
                                  "tensor '" + tensor.name + "'",
                                  "shape " + tensor.shape.toString() + " exceeds 64 bits"};
        return;
    }
    tensor.elements = *elements;
    tensor.bytes = (*bits + 7) / 8;
}

/// Sorts numbers, then moves each item to its place: items are large, and there may be millions.
template <class Item>
void sortByName(std::vector<Item> &items)
{
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto isBefore = [&](std::size_t left, std::size_t right) {
        return items[left].name < items[right].name;
    };
    if (std::is_sorted(order.begin(), order.end(), isBefore))
        return;
    std::stable_sort(order.begin(), order.end(), isBefore);
    for (std::size_t begin = 0; begin < order.size(); ++begin) {
        if (order[begin] == begin)
            continue;
        Item first = std::move(items[begin]); // of a cycle of places
        std::size_t to = begin;
        for (std::size_t from = order[to]; from != begin; from = order[to]) {
            items[to] = std::move(items[from]);
            order[to] = to;
            to = from;
        }
        items[to] = std::move(first);
        order[to] = to;
    }
}

} // namespace

void Catalog::finish(const StateClassRules &rules, std::string_view separator)
{
    deriveNames(*this, separator);
    for (TensorRef &tensor : tensors) {
        measure(tensor);
        // What was seen in passing is of the class that its stage says: rules know names of states.
        if (tensor.stateClass == StateClass::Unknown && !tensor.recorded)
            tensor.stateClass = rules.classify(tensor.name, true);
    }
    for (ValueRef &value : values) {
        if (value.stateClass == StateClass::Unknown)
            value.stateClass = rules.classify(value.name, false);
    }
    sortByName(tensors);
    sortByName(values);
}

std::optional<TensorIndex> Catalog::findTensor(std::string_view name) const
{
    const auto found = std::lower_bound(
        tensors.begin(), tensors.end(), name,
        [](const TensorRef &tensor, std::string_view wanted) { return tensor.name < wanted; });
    if (found == tensors.end() || found->name != name)
        return std::nullopt;
    return TensorIndex(found - tensors.begin());
}

} // namespace forkpoint
