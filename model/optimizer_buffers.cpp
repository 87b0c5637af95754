// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/optimizer_buffers.h"

#include "model/assembled_source.h"
#include "model/format.h"

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

Held heldByWeights(const Catalog &catalog, std::string_view dtype)
{
    Held held;
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.stateClass != StateClass::Weights || tensor.dtype.name != dtype)
            continue;
        held.elements += tensor.elements;
        if (gapBehind(tensor.elements) != 0)
            held.gaps.insert(gapBehind(tensor.elements));
    }
    return held;
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
    std::set<std::string_view> groups;
    std::map<std::pair<std::string_view, std::string>, Held> held; ///< by type and what is held
    for (const TensorRef &tensor : catalog.tensors) {
        if (!isBucket(tensor))
            continue;
        groups.insert(groupOf(tensor.name));
        const std::string slot = tensor.name.substr(tensor.name.rfind('.'));
        Held &all = held[{parameterType(tensor.name), slot}];
        BufferRuns own = runsOf(tensor, all.gaps);
        if (own.empty())
            return {};
        all.elements += elementsOf(own);
        runs.emplace(tensor.path, std::move(own));
    }
    const bool isTold =
        groups.size() == 1 && std::all_of(held.begin(), held.end(), [&](const auto &entry) {
            return entry.second == heldByWeights(catalog, entry.first.first);
        });
    return isTold ? runs : std::map<KeyPath, BufferRuns>();
}

void dropPadding(std::shared_ptr<const TensorSource> &a, std::shared_ptr<const TensorSource> &b)
{
    const auto ofA = parameterRuns(a->catalog()), ofB = parameterRuns(b->catalog());
    if (ofA.empty() || ofB.empty())
        return;
    // Digests that were recorded are of the whole.
    std::set<KeyPath> recorded = recordedIn(*a);
    recorded.merge(recordedIn(*b));
    std::map<KeyPath, BufferRuns> runs;
    for (const TensorRef &tensor : a->catalog().tensors) {
        const auto inA = ofA.find(tensor.path), inB = ofB.find(tensor.path);
        if (inA != ofA.end() && inB != ofB.end() && inA->second == inB->second
            && !isWhole(tensor, inA->second) && !recorded.contains(tensor.path))
            runs.emplace(tensor.path, inA->second);
    }
    a = cutTo(std::move(a), runs);
    b = cutTo(std::move(b), runs);
}

} // namespace forkpoint
