// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/optimizer_buffers.h"

#include "model/format.h"
#include "model/pairing/assembled_source.h"
#include "model/pairing/parameter_sizes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

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

/// Behind a parameter of so many elements, up to where the next may begin.
Index gapBehind(Index elements)
{
    return (Alignment - elements % Alignment) % Alignment;
}

/// First element and how many.
using Stretch = std::pair<Index, Index>;

/// What the chunks of one bucket say of where its parameters lie.
struct BucketLayout
{
    Index elements = 0;
    std::vector<Stretch> gaps; ///< that begin and end as padding does, rising
    /// The same where the share of a rank ends, which may be within a parameter.
    std::vector<Stretch> open;

    BufferRuns runs() const
    {
        BufferRuns runs;
        Index at = 0;
        for (const auto &[first, count] : gaps) {
            if (first > at)
                runs.emplace_back(at, first - at);
            at = first + count;
        }
        if (at < elements)
            runs.emplace_back(at, elements - at);
        return runs;
    }
};

using BucketLayouts = std::map<KeyPath, BucketLayout>;

struct Chunk
{
    Index first = 0, count = 0;
    OwnerIndex owner = NoOwner;

    Index end() const { return first + count; }
    auto operator<=>(const Chunk &) const = default;
};

/// Rising; empty where they do not cover the bucket.
std::vector<Chunk> chunksOf(const TensorRef &bucket)
{
    std::vector<Chunk> chunks;
    for (const Extent &extent : bucket.extents) {
        const bool isRange = extent.fills == Extent::Fills::FlatRange;
        if (!isRange && extent.box.origin.size() != 1)
            return {};
        const Chunk chunk{isRange ? extent.flatBegin : extent.box.origin[0],
                          isRange ? extent.flatCount : extent.box.size[0], extent.owner};
        if (chunk.count > 0)
            chunks.push_back(chunk);
    }
    std::sort(chunks.begin(), chunks.end());
    Index at = 0;
    for (const Chunk &chunk : chunks) {
        if (chunk.first != at)
            return {};
        at = chunk.end();
    }
    return at == bucket.elements ? chunks : std::vector<Chunk>();
}

/// Nothing where chunks do not cover the bucket.
std::optional<BucketLayout> layoutOf(const TensorRef &bucket)
{
    const std::vector<Chunk> chunks = chunksOf(bucket);
    if (chunks.empty())
        return std::nullopt;
    BucketLayout layout;
    layout.elements = bucket.elements;
    for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
        const Index first = chunks[i].end(), end = first + gapBehind(first);
        const bool isWithinGap =
            !layout.gaps.empty() && first < layout.gaps.back().first + layout.gaps.back().second;
        std::size_t last = i + 1; // a share may end within the gap, too
        while (last + 1 < chunks.size() && chunks[last].end() < end)
            ++last;
        const bool endsThere = chunks[last].end() == end;
        if (first == end || isWithinGap || !endsThere)
            continue;
        if (chunks[i].owner != chunks[i + 1].owner) {
            layout.open.emplace_back(first, end - first);
            continue;
        }
        // A parameter that ends here did not end before.
        if (!layout.open.empty() && layout.open.back().first + layout.open.back().second == end)
            layout.open.pop_back();
        layout.gaps.emplace_back(first, end - first);
    }
    return layout;
}

/// Nothing where a bucket has no chunks that cover it.
BucketLayouts layoutsIn(const Catalog &catalog)
{
    BucketLayouts layouts;
    for (const TensorRef &tensor : catalog.tensors) {
        if (!isBucket(tensor))
            continue;
        auto layout = layoutOf(tensor);
        if (!layout)
            return {};
        layouts.emplace(tensor.path, std::move(*layout));
    }
    return layouts;
}

/// What weights say that buckets hold of the parameters of one type: elements, and how many each
/// stretch of padding has.
struct Held
{
    Index elements = 0;
    std::multiset<Index> gaps;

    bool takeGap(Index count)
    {
        const auto found = gaps.find(count);
        if (found != gaps.end())
            gaps.erase(found);
        return found != gaps.end();
    }
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

/// Decides of the buckets that hold one slot of all parameters of one type whether their open
/// stretches are gaps. False where the weights do not say just that.
bool settle(const std::vector<BucketLayout *> &buckets, Held weights)
{
    std::map<Index, std::size_t> open; ///< by how many elements
    Index elements = 0;
    for (const BucketLayout *bucket : buckets) {
        elements += bucket->elements;
        for (const auto &[first, count] : bucket->gaps) {
            elements -= count;
            if (!weights.takeGap(count))
                return false;
        }
        // Behind the last parameter, where the bucket is cut off.
        if (const Index last = gapBehind(bucket->elements); last != 0 && !weights.takeGap(last))
            return false;
        for (const auto &[first, count] : bucket->open)
            ++open[count];
    }
    for (const auto &[count, many] : open) {
        const std::size_t wanted = weights.gaps.erase(count);
        if (wanted != 0 && wanted != many)
            return false; // which of them?
        elements -= wanted * count;
        open[count] = wanted;
    }
    if (!weights.gaps.empty() || elements != weights.elements)
        return false;
    for (BucketLayout *bucket : buckets) {
        for (const Stretch &stretch : bucket->open) {
            if (open[stretch.second] != 0)
                bucket->gaps.push_back(stretch);
        }
        bucket->open.clear();
        std::sort(bucket->gaps.begin(), bucket->gaps.end());
    }
    return true;
}

/// Decides by the sizes of the catalogue's weights what is padding; nothing where they leave a doubt.
BucketLayouts settled(BucketLayouts layouts, const Catalog &catalog)
{
    const auto sizes = parameterSizes(catalog);
    const bool isByGroup = !sizes.contains(std::string());
    using Key = std::tuple<std::string, std::string, std::string>; // group, type, slot
    std::map<Key, std::vector<BucketLayout *>> buckets;
    for (auto &[path, layout] : layouts) {
        const std::string name = path.toString();
        const std::string group(isByGroup ? groupOf(name) : std::string_view());
        buckets[{group, std::string(parameterType(name)), name.substr(name.rfind('.'))}].push_back(
            &layout);
    }
    for (const auto &[key, held] : buckets) {
        const auto &[group, type, slot] = key;
        const auto ofGroup = sizes.find(group);
        if (ofGroup == sizes.end() || !ofGroup->second.contains(type)
            || !settle(held, heldBy(ofGroup->second.at(type))))
            return {};
    }
    return layouts;
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
        if (layout != layouts.end() && layout->second.elements == tensor.elements)
            shared.insert(*layout);
    }
    return shared;
}

Index elementsOf(const BufferRuns &runs)
{
    Index count = 0;
    for (const auto &[first, size] : runs)
        count += size;
    return count;
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
    for (const auto &[path, layout] : settled(layoutsIn(catalog), catalog))
        runs.emplace(path, layout.runs());
    return runs;
}

void dropPadding(std::shared_ptr<const TensorSource> &a, std::shared_ptr<const TensorSource> &b,
                 const Catalog &storedA, const Catalog &storedB)
{
    BucketLayouts ofA = settled(layoutsIn(storedA), storedA);
    BucketLayouts ofB = settled(layoutsIn(storedB), storedB);
    if (ofA.empty())
        ofA = settled(sharedBy(a->catalog(), storedA, ofB), storedA);
    else if (ofB.empty())
        ofB = settled(sharedBy(b->catalog(), storedB, ofA), storedB);
    if (ofA.empty() || ofB.empty())
        return;
    // Digests that were recorded are of the whole.
    std::set<KeyPath> recorded = recordedIn(*a);
    recorded.merge(recordedIn(*b));
    std::map<KeyPath, BufferRuns> runs;
    for (const TensorRef &tensor : a->catalog().tensors) {
        const auto inA = ofA.find(tensor.path), inB = ofB.find(tensor.path);
        if (inA == ofA.end() || inB == ofB.end() || recorded.contains(tensor.path))
            continue;
        BufferRuns own = inA->second.runs();
        if (own == inB->second.runs() && !isWhole(tensor, own))
            runs.emplace(tensor.path, std::move(own));
    }
    a = cutTo(std::move(a), runs);
    b = cutTo(std::move(b), runs);
}

} // namespace forkpoint
