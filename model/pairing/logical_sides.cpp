// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/logical_sides.h"

#include "model/pairing/assembly_rules.h"
#include "model/pairing/megatron_names.h"
#include "model/pairing/name_pairing.h"
#include "model/pairing/optimizer_buffers.h"
#include "model/pairing/whole_tensors.h"

#include <set>
#include <tuple>

namespace forkpoint {

namespace {

/// More layers than any model has are none: each becomes a tensor.
constexpr Index MostLayers = 4096;

std::set<OwnerCoordinate> ranksOf(const Catalog &catalog)
{
    std::set<OwnerCoordinate> ranks;
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.owner < catalog.owners.size())
            ranks.insert(catalog.owners[tensor.owner]);
    }
    return ranks;
}

/// Those whose files are lost with them.
std::set<OwnerCoordinate> allOwners(const Catalog &catalog)
{
    return {catalog.owners.begin(), catalog.owners.end()};
}

std::shared_ptr<const TensorSource> wholeIfRanks(std::shared_ptr<const TensorSource> source,
                                                 const Catalog &other)
{
    if (!source->catalog().complete)
        return source;
    const bool areRanks = listsModelParallelRanks(source->catalog());
    source = withSharedNames(std::move(source), other);
    if (!areRanks)
        return source;
    auto whole = withWholeTensors(std::move(source));
    return withStackedStates(std::move(whole), other);
}

using Said = std::tuple<std::string, std::string>; ///< slot, and what the name says

/// What the names of a side say, by any of the ways in which a name can meet another.
std::set<Said> saidBy(const Catalog &catalog)
{
    std::set<Said> said;
    for (const ParameterName &name : parameterNamesOf(catalog)) {
        said.emplace(name.slot, name.bare);
        if (!name.meaning.empty())
            said.emplace(name.slot, name.meaning);
    }
    return said;
}

bool isSaid(const std::set<Said> &said, const std::string &name)
{
    const ParameterNames &table = ParameterNames::instance();
    const ParameterName read = table.read(name);
    if (said.contains({read.slot, read.bare}) || said.contains({read.slot, read.meaning}))
        return true;
    for (const std::string &part : table.partsOf(read.meaning)) {
        if (said.contains({read.slot, part}))
            return true;
    }
    return false;
}

/// How many layers a tensor stacks that the other side has, all of them, one by one; 0: none.
Index layersIn(const TensorRef &tensor, const std::set<Said> &there)
{
    const Index layers = tensor.shape.rank() > 0 ? tensor.shape.dims[0] : 0;
    if (layers == 0 || layers > MostLayers || tensor.unreadable || tensor.bytes == 0
        || tensor.bytes % layers != 0 || (tensor.bytes / layers * 8) % tensor.dtype.bits != 0)
        return 0;
    for (Index layer = 0; layer < layers; ++layer) {
        const std::string name = withLayer(tensor.name, layer);
        if (name.empty() || !isSaid(there, name))
            return 0;
    }
    return layers;
}

AssembledSource::Item layerOf(const TensorRef &stack, TensorIndex index, Index layer)
{
    AssembledSource::Item item;
    item.tensor.path.keys = {Key::of(withLayer(stack.name, layer))};
    item.tensor.dtype = stack.dtype;
    item.tensor.shape = stack.shape;
    item.tensor.shape.dims.erase(item.tensor.shape.dims.begin());
    item.tensor.stateClass = stack.stateClass;
    item.tensor.files = stack.files;
    const std::uint64_t size = stack.bytes / stack.shape.dims[0];
    item.plan = AssemblyPlan{};
    item.plan->pieces.push_back({{index}, layer * size, size});
    item.plan->reason = "layer " + std::to_string(layer) + " of '" + stack.name + "'";
    return item;
}

std::shared_ptr<const TensorSource> withLayersApart(std::shared_ptr<const TensorSource> source,
                                                    const Catalog &other)
{
    const Catalog &catalog = source->catalog();
    bool any = false;
    for (const TensorRef &tensor : catalog.tensors)
        any = any || !withLayer(tensor.name, 0).empty();
    if (!any)
        return source;
    const std::set<Said> there = saidBy(other);
    std::vector<AssembledSource::Item> items;
    any = false;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const Index layers = layersIn(catalog.tensors[i], there);
        any = any || layers > 0;
        for (Index layer = 0; layer < layers; ++layer)
            items.push_back(layerOf(catalog.tensors[i], i, layer));
        if (layers == 0)
            items.push_back({catalog.tensors[i], i, std::nullopt});
    }
    if (!any)
        return source;
    Catalog frame = AssembledSource::frameOf(catalog);
    return std::make_shared<AssembledSource>(std::move(source), std::move(frame), std::move(items));
}

} // namespace

LogicalSides logicalSides(std::shared_ptr<const TensorSource> a,
                          std::shared_ptr<const TensorSource> b, const PairingOptions &options)
{
    if (!a || !b || options.strict || options.raw)
        return {std::move(a), std::move(b)};
    const bool sameRanks = listsModelParallelRanks(a->catalog())
        && listsModelParallelRanks(b->catalog())
        && (ranksOf(a->catalog()) == ranksOf(b->catalog())
            || allOwners(a->catalog()) == allOwners(b->catalog()));
    if (sameRanks)
        return {std::move(a), std::move(b)};
    const auto storedA = a, storedB = b;
    a = wholeIfRanks(std::move(a), b->catalog());
    b = wholeIfRanks(std::move(b), a->catalog());
    auto apart = withLayersApart(a, b->catalog());
    b = withLayersApart(std::move(b), a->catalog());
    a = withStepsApart(std::move(apart), b->catalog());
    b = withStepsApart(std::move(b), a->catalog());
    dropPadding(a, b, storedA->catalog(), storedB->catalog());
    return {std::move(a), std::move(b)};
}

void tellAssembled(std::vector<TensorPair> &pairs, const TensorSource &a, const TensorSource &b)
{
    const auto *fromA = dynamic_cast<const AssembledSource *>(&a);
    const auto *fromB = dynamic_cast<const AssembledSource *>(&b);
    for (TensorPair &pair : pairs) {
        const std::string *ofA = fromA && pair.a ? fromA->assembledBy(*pair.a) : nullptr;
        const std::string *ofB = fromB && pair.b ? fromB->assembledBy(*pair.b) : nullptr;
        if ((!ofA && !ofB) || !pair.a || !pair.b)
            continue;
        std::string reason = ofA ? "A's: " + *ofA : "";
        if (ofB)
            reason += (ofA ? "; B's: " : "B's: ") + *ofB;
        pair.by = PairedBy::Assembled;
        pair.reason = reason + (pair.reason.empty() ? "" : "; ") + pair.reason;
    }
}

} // namespace forkpoint
