// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/optimizer_buffers.h"

#include "model/assembled_source.h"
#include "model/format.h"
#include "model/parameter_sizes.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace forkpoint {

namespace {

constexpr std::string_view Group = "optimizer.distributed.dp_group_idx_", Dtype = ".dtype_(torch.",
                           Bucket = ".bucket_idx_";
constexpr Index Alignment = 64; ///< of a parameter in a buffer, in elements

bool isBucket(const TensorRef &tensor)
{
    return tensor.shape.rank() == 1 && tensor.name.starts_with(Group)
        && tensor.name.find(Bucket) != std::string::npos && tensor.dtype.bits % 8 == 0;
}

/// "0" of "optimizer.distributed.dp_group_idx_0.gbuf_idx_0...".
std::string_view groupOf(std::string_view name)
{
    name.remove_prefix(Group.size());
    return name.substr(0, name.find('.'));
}

/// "bfloat16" of "...dtype_(torch.bfloat16, torch.float32)...": of the parameters.
std::string_view parameterType(std::string_view name)
{
    const auto at = name.find(Dtype);
    name.remove_prefix(at == name.npos ? name.size() : at + Dtype.size());
    return name.substr(0, name.find(','));
}

/// How many elements each stretch of padding has, in no order.
using Gaps = std::multiset<Index>;

/// Behind a parameter of so many elements, up to where the next may begin.
Index gapBehind(Index elements)
{
    return (Alignment - elements % Alignment) % Alignment;
}

/// Chunks of the bucket but those that begin and end as padding does, which are `gaps`; empty where
/// chunks do not cover it. A rank's share that begins within a parameter makes such a chunk, too:
/// whether all of them are padding, the weights must tell.
BufferRuns runsOf(const TensorRef &bucket, Gaps &gaps)
{
    std::vector<std::pair<Index, Index>> chunks;
    for (const Extent &extent : bucket.extents) {
        const bool isRange = extent.fills == Extent::Fills::FlatRange;
        if (!isRange && extent.box.origin.size() != 1)
            return {};
        chunks.emplace_back(isRange ? extent.flatBegin : extent.box.origin[0],
                            isRange ? extent.flatCount : extent.box.size[0]);
    }
    std::sort(chunks.begin(), chunks.end());
    BufferRuns runs;
    Index at = 0;
    for (const auto &[first, count] : chunks) {
        if (first != at)
            return {};
        at += count;
        if (count == 0)
            continue;
        if (first % Alignment != 0 && at % Alignment == 0 && count < Alignment)
            gaps.insert(count);
        else if (!runs.empty() && runs.back().first + runs.back().second == first)
            runs.back().second += count;
        else
            runs.emplace_back(first, count);
    }
    if (gapBehind(at) != 0) // behind the last parameter, where the bucket is cut off
        gaps.insert(gapBehind(at));
    return at == bucket.elements ? runs : BufferRuns();
}

Index elementsOf(const BufferRuns &runs)
{
    Index count = 0;
    for (const auto &[first, size] : runs)
        count += size;
    return count;
}

/// What buckets hold of the parameters of one type, or what the weights say that they hold.
struct Held
{
    Index elements = 0;
    Gaps gaps;

    bool operator==(const Held &) const = default;
};

Held heldBy(const std::vector<Index> &parameters)
{
    Held held;
    for (const Index elements : parameters) {
        held.elements += elements;
        if (gapBehind(elements) != 0)
            held.gaps.insert(gapBehind(elements));
    }
    return held;
}

/// Where the parameters of one bucket lie, unless its chunks look so by chance.
struct BucketLayout
{
    BufferRuns runs;
    Gaps gaps;
};

using BucketLayouts = std::map<KeyPath, BucketLayout>;

/// Nothing where a bucket has no chunks that cover it.
BucketLayouts layoutsIn(const Catalog &catalog)
{
    BucketLayouts layouts;
    for (const TensorRef &tensor : catalog.tensors) {
        if (!isBucket(tensor))
            continue;
        BucketLayout layout;
        layout.runs = runsOf(tensor, layout.gaps);
        if (layout.runs.empty())
            return {};
        layouts.emplace(tensor.path, std::move(layout));
    }
    return layouts;
}

/// Whether weights of the sizes that the catalogue has lie so in buckets.
bool isTold(const BucketLayouts &layouts, const Catalog &catalog)
{
    const auto sizes = parameterSizes(catalog);
    const bool isByGroup = !sizes.contains(std::string());
    std::map<std::pair<std::string, std::string>, Held> held; ///< by group and type
    for (const auto &[group, types] : sizes) {
        for (const auto &[type, parameters] : types)
            held[{group, type}] = heldBy(parameters);
    }
    std::map<std::pair<std::string, std::string>, std::map<std::string, Held>> found; ///< by slot
    for (const auto &[path, layout] : layouts) {
        const std::string name = path.toString();
        const std::string group(isByGroup ? groupOf(name) : std::string_view());
        Held &all = found[{group, std::string(parameterType(name))}][name.substr(name.rfind('.'))];
        all.elements += elementsOf(layout.runs);
        all.gaps.insert(layout.gaps.begin(), layout.gaps.end());
    }
    return std::all_of(found.begin(), found.end(), [&](const auto &entry) {
        const auto weights = held.find(entry.first);
        return weights != held.end()
            && std::all_of(entry.second.begin(), entry.second.end(),
                           [&](const auto &slot) { return slot.second == weights->second; });
    });
}

/// Of those layouts the ones whose buckets a side has under that name, as long; nothing where it has
/// chunks of its own.
BucketLayouts sharedBy(const Catalog &catalog, const Catalog &stored, const BucketLayouts &layouts)
{
    if (std::any_of(stored.tensors.begin(), stored.tensors.end(), isBucket))
        return {};
    BucketLayouts shared;
    for (const TensorRef &tensor : catalog.tensors) {
        const auto layout = isBucket(tensor) ? layouts.find(tensor.path) : layouts.end();
        if (layout == layouts.end())
            continue;
        const auto &[first, count] = layout->second.runs.back();
        if (first + count <= tensor.elements && tensor.elements - first - count < Alignment)
            shared.insert(*layout);
    }
    return shared;
}

bool isWhole(const TensorRef &bucket, const BufferRuns &runs)
{
    return runs == BufferRuns{{0, bucket.elements}};
}

std::set<KeyPath> recordedIn(const TensorSource &source)
{
    std::set<KeyPath> recorded;
    const auto &tensors = source.catalog().tensors;
    for (TensorIndex i = 0; i < tensors.size(); ++i) {
        if (isBucket(tensors[i]) && source.recorded(i))
            recorded.insert(tensors[i].path);
    }
    return recorded;
}

std::shared_ptr<const TensorSource> cutTo(std::shared_ptr<const TensorSource> source,
                                          const std::map<KeyPath, BufferRuns> &runs)
{
    const Catalog &catalog = source->catalog();
    std::vector<AssembledSource::Item> items;
    bool any = false;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        const auto found = runs.find(tensor.path);
        if (found == runs.end()) {
            items.push_back({tensor, i, std::nullopt});
            continue;
        }
        const std::uint64_t width = tensor.dtype.bits / 8;
        AssembledSource::Item item;
        item.tensor.path = tensor.path;
        item.tensor.dtype = tensor.dtype;
        item.tensor.shape.dims = {elementsOf(found->second)};
        item.tensor.stateClass = tensor.stateClass;
        item.tensor.unreadable = tensor.unreadable;
        item.plan = AssemblyPlan{};
        for (const auto &[first, count] : found->second)
            item.plan->pieces.push_back({{i}, first * width, count * width});
        item.plan->reason =
            counted(tensor.elements - item.tensor.shape.dims[0], "element", "elements")
            + " between parameters are padding and left out";
        items.push_back(std::move(item));
        any = true;
    }
    if (!any)
        return source;
    Catalog frame = AssembledSource::frameOf(catalog);
    return std::make_shared<AssembledSource>(std::move(source), std::move(frame), std::move(items));
}

} // namespace

std::map<KeyPath, BufferRuns> parameterRuns(const Catalog &catalog)
{
    std::map<KeyPath, BufferRuns> runs;
    const BucketLayouts layouts = layoutsIn(catalog);
    if (!isTold(layouts, catalog))
        return runs;
    for (const auto &[path, layout] : layouts)
        runs.emplace(path, layout.runs);
    return runs;
}

void dropPadding(std::shared_ptr<const TensorSource> &a, std::shared_ptr<const TensorSource> &b,
                 const Catalog &storedA, const Catalog &storedB)
{
    BucketLayouts ofA = layoutsIn(storedA), ofB = layoutsIn(storedB);
    if (ofA.empty() && ofB.empty())
        return;
    if (ofA.empty())
        ofA = sharedBy(a->catalog(), storedA, ofB);
    else if (ofB.empty())
        ofB = sharedBy(b->catalog(), storedB, ofA);
    if (ofA.empty() || ofB.empty() || !isTold(ofA, storedA) || !isTold(ofB, storedB))
        return;
    // Digests that were recorded are of the whole.
    std::set<KeyPath> recorded = recordedIn(*a);
    recorded.merge(recordedIn(*b));
    std::map<KeyPath, BufferRuns> runs;
    for (const TensorRef &tensor : a->catalog().tensors) {
        const auto inA = ofA.find(tensor.path), inB = ofB.find(tensor.path);
        if (inA != ofA.end() && inB != ofB.end() && inA->second.runs == inB->second.runs
            && !isWhole(tensor, inA->second.runs) && !recorded.contains(tensor.path))
            runs.emplace(tensor.path, inA->second.runs);
    }
    a = cutTo(std::move(a), runs);
    b = cutTo(std::move(b), runs);
}

} // namespace forkpoint
