// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/parameter_sizes.h"

#include "model/pairing/assembly_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace forkpoint {

namespace {

constexpr std::string_view Folder = "mp_rank_", Model = "model";

std::int64_t rankOn(const OwnerCoordinate &owner, std::string_view axis)
{
    for (const auto &[name, number] : owner.axes) {
        if (name == axis)
            return number;
    }
    return 0;
}

/// A weight in the folder of one rank; nullptr for anything else.
const OwnerCoordinate *rankOf(const TensorRef &tensor, const Catalog &catalog)
{
    const auto &keys = tensor.path.keys;
    const bool isModels = tensor.stateClass == StateClass::Weights && keys.size() > 2
        && keys[0].text.starts_with(Folder) && keys[1].text.starts_with(Model);
    return isModels && tensor.owner < catalog.owners.size() ? &catalog.owners[tensor.owner]
                                                            : nullptr;
}

std::map<std::string, ParameterSizes> sizesOfRanks(const Catalog &catalog)
{
    std::int64_t tensorRanks = 1;
    for (const TensorRef &tensor : catalog.tensors) {
        if (const OwnerCoordinate *rank = rankOf(tensor, catalog))
            tensorRanks = std::max(tensorRanks, rankOn(*rank, "tp") + 1);
    }
    std::map<std::string, ParameterSizes> sizes;
    for (const TensorRef &tensor : catalog.tensors) {
        const OwnerCoordinate *rank = rankOf(tensor, catalog);
        if (!rank)
            continue;
        const std::int64_t group = rankOn(*rank, "tp") + rankOn(*rank, "pp") * tensorRanks;
        sizes[std::to_string(group)][tensor.dtype.name].push_back(tensor.elements);
    }
    return sizes;
}

std::size_t tensorRanksOf(const Catalog &catalog)
{
    for (const ValueRef &value : catalog.values) {
        const auto &keys = value.path.keys;
        const bool isNamed = keys.size() > 1 && keys[keys.size() - 2].text == "args"
            && keys.back().text == "tensor_model_parallel_size";
        const auto *number = isNamed ? std::get_if<std::int64_t>(&value.value.data) : nullptr;
        if (number && *number > 0 && *number < 1'000'000)
            return std::size_t(*number);
    }
    return 1;
}

/// Elements of the chunks of one weight, and how many of them make a layer; nothing where a chunk
/// reaches over layers or is no box.
struct Chunks
{
    std::vector<Index> sizes;
    Index layers = 1, layer = 0; ///< how many, and elements of each
};

std::optional<Chunks> chunksOf(const TensorRef &weight)
{
    Chunks chunks;
    const bool isStack = !withLayer(weight.name, 0).empty() && weight.shape.rank() > 1;
    chunks.layers = isStack ? std::max(weight.shape.dims[0], Index(1)) : 1;
    chunks.layer = weight.elements / chunks.layers;
    for (const Extent &extent : weight.extents) {
        const auto &size = extent.box.size;
        if (extent.fills != Extent::Fills::Box || (isStack && (size.empty() || size[0] != 1)))
            return std::nullopt;
        Index elements = 1;
        for (const Index each : size)
            elements *= each;
        chunks.sizes.push_back(elements);
    }
    if (weight.extents.empty())
        chunks.sizes.assign(chunks.layers, chunks.layer);
    return chunks;
}

/// Whether each rank holds two chunks of each layer, its gates and its ups.
bool areGated(const TensorRef &weight, const Chunks &chunks, std::size_t tensorRanks)
{
    const AssemblyRule *rule = assemblyRuleFor(weight.name);
    return rule && rule->how == AssemblyRule::How::Gated
        && chunks.sizes.size() == 2 * chunks.layers * tensorRanks
        && std::set<Index>(chunks.sizes.begin(), chunks.sizes.end()).size() == 1;
}

std::map<std::string, ParameterSizes> sizesOfChunks(const Catalog &catalog)
{
    const std::size_t tensorRanks = tensorRanksOf(catalog);
    ParameterSizes sizes;
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.stateClass != StateClass::Weights || tensor.unreadable)
            continue;
        auto chunks = chunksOf(tensor);
        if (!chunks)
            return {};
        if (areGated(tensor, *chunks, tensorRanks))
            chunks->sizes.assign(chunks->sizes.size() / 2, chunks->sizes.front() * 2);
        std::vector<Index> &all = sizes[tensor.dtype.name];
        for (const Index size : chunks->sizes)
            all.insert(all.end(), size == chunks->layer ? tensorRanks : 1, size);
    }
    return {{std::string(), std::move(sizes)}};
}

} // namespace

std::map<std::string, ParameterSizes> parameterSizes(const Catalog &catalog)
{
    auto sizes = sizesOfRanks(catalog);
    return sizes.empty() ? sizesOfChunks(catalog) : sizes;
}

} // namespace forkpoint
