// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/zero_partitions.h"

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

const Key State = Key::of("optimizer_state_dict");

KeyPath below(std::initializer_list<Key> keys)
{
    KeyPath path{{State}};
    path.keys.insert(path.keys.end(), keys.begin(), keys.end());
    return path;
}

std::optional<Index> numberOf(const Value *value)
{
    const auto *number = value ? std::get_if<std::int64_t>(&value->data) : nullptr;
    return number && *number >= 0 ? std::optional(Index(*number)) : std::nullopt;
}

Index lengthOf(const TensorRef *partition)
{
    return partition ? partition->shape.count().value_or(0) : 0;
}

/// "optimizer_state_dict.base_optimizer_state.state.GROUP.KEY", or stage 3's.
KeyPath statePath(std::int64_t stage, std::size_t group, const std::string &key)
{
    const Key holder = Key::of(stage >= 3 ? "optimizer_state_dict" : "base_optimizer_state");
    return below({holder, Key::of("state"), Key::at(std::int64_t(group)), Key::of(key)});
}

void addFile(const TensorRef &from, TensorRef &tensor)
{
    for (const std::string &file : from.files) {
        if (std::find(tensor.files.begin(), tensor.files.end(), file) == tensor.files.end())
            tensor.files.push_back(file);
    }
}

} // namespace

std::vector<ZeroParameter> readZeroShapes(const RankPart &model, const KeyPath &prefix)
{
    std::vector<ZeroParameter> parameters;
    for (const ValueRef &value : model.values) {
        const std::size_t depth = prefix.keys.size();
        if (value.path.keys.size() <= depth || !isBelow(value.path, prefix))
            continue;
        const std::string &name = value.path.keys[depth].text;
        if (parameters.empty() || parameters.back().name != name)
            parameters.push_back({name, {}});
        if (const auto dim = numberOf(&value.value)) // "()" of a scalar has none
            parameters.back().shape.dims.push_back(*dim);
    }
    return parameters;
}

ZeroGroups readZeroGroups(const RankPart &model, std::string_view key)
{
    ZeroGroups groups;
    for (std::int64_t group = 0;; ++group) {
        auto parameters = readZeroShapes(model, {{Key::of(std::string(key)), Key::at(group)}});
        if (parameters.empty())
            return groups;
        groups.push_back(std::move(parameters));
    }
}

void addFlatRange(const TensorRef &partition, Index begin, Index count, Index at, TensorRef &tensor)
{
    const std::uint64_t width = partition.dtype.positionBits() / 8;
    if (count == 0)
        return;
    addFile(partition, tensor);
    if (!isContiguous(partition) || partition.unreadable
        || partition.dtype.name != tensor.dtype.name || begin > lengthOf(&partition)
        || count > lengthOf(&partition) - begin) {
        tensor.unreadable = partition.unreadable.value_or(Error{
            ErrorCode::Mismatch, {}, {}, "a partition is not as long as its parameters need"});
        return;
    }
    const Extent &stored = partition.extents.front();
    Extent extent;
    extent.fills = Extent::Fills::FlatRange;
    extent.file = stored.file;
    extent.owner = stored.owner;
    extent.order = stored.order;
    extent.offset = stored.offset + (stored.firstElement + begin) * width;
    extent.length = count * width;
    extent.flatBegin = at;
    extent.flatCount = count;
    tensor.extents.push_back(std::move(extent));
}

ZeroPartitions::ZeroPartitions(std::vector<const RankPart *> parts, ZeroGroups groups)
    : m_parts(std::move(parts)),
      m_groups(std::move(groups))
{
    const auto first = std::find_if(m_parts.begin(), m_parts.end(),
                                    [](const RankPart *part) { return part != nullptr; });
    if (first == m_parts.end())
        return;
    if ((*first)->tensor(below({Key::of("fp32_flat_groups"), Key::at(0)})))
        m_stage = 3;
    m_hasMappings =
        std::any_of((*first)->values.begin(), (*first)->values.end(), [](const ValueRef &value) {
            return isBelow(value.path, below({Key::of("param_slice_mappings")}));
        });
    Index begin = 0;
    for (const auto &group : m_groups) {
        if (!isStage3())
            begin = 0;
        m_begins.emplace_back();
        for (const ZeroParameter &parameter : group) {
            m_begins.back().push_back(begin);
            const Index count = parameter.shape.count().value_or(0);
            const Index each = count / m_parts.size() + (count % m_parts.size() != 0 ? 1 : 0);
            begin += isStage3() ? each : count;
        }
    }
}

const TensorRef *ZeroPartitions::partition(const RankPart &part, const std::string &quantity,
                                           std::size_t group) const
{
    if (quantity != "fp32")
        return part.tensor(statePath(m_stage, group, quantity));
    const Key holder = Key::of(isStage3() ? "fp32_flat_groups" : "single_partition_of_fp32_groups");
    return part.tensor(below({holder, Key::at(std::int64_t(group))}));
}

std::vector<std::string> ZeroPartitions::quantities() const
{
    std::vector<std::string> names;
    const KeyPath group = statePath(m_stage, 0, {});
    for (const RankPart *part : m_parts) {
        if (!part)
            continue;
        if (partition(*part, "fp32", 0))
            names.push_back("fp32");
        for (const TensorRef &tensor : part->tensors) {
            const bool isState = tensor.path.keys.size() == group.keys.size()
                && std::equal(group.keys.begin(), group.keys.end() - 1, tensor.path.keys.begin());
            if (isState)
                names.push_back(tensor.path.keys.back().text);
        }
        break;
    }
    return names;
}

const TensorRef *ZeroPartitions::scalar(const std::string &quantity, std::size_t group) const
{
    for (const RankPart *part : m_parts) {
        const TensorRef *found = part ? partition(*part, quantity, group) : nullptr;
        if (found)
            return found->shape.rank() == 0 ? found : nullptr;
    }
    return nullptr;
}

std::optional<ZeroPartitions::Fragment>
ZeroPartitions::mapped(const RankPart &part, std::size_t group, const std::string &name) const
{
    const KeyPath place =
        below({Key::of("param_slice_mappings"), Key::at(std::int64_t(group)), Key::of(name)});
    const auto start = numberOf(part.value(place.child(Key::of("start"))));
    const auto count = numberOf(part.value(place.child(Key::of("numel"))));
    return start && count ? std::optional(Fragment{*start, *count}) : std::nullopt;
}

/// Each rank says which part of the parameter it has, in the order of the ranks.
void ZeroPartitions::joinMapped(const std::string &quantity, std::size_t group, std::size_t index,
                                TensorRef &tensor) const
{
    const ZeroParameter &parameter = m_groups[group][index];
    Index at = 0;
    for (const RankPart *part : m_parts) {
        const auto fragment = part ? mapped(*part, group, parameter.name) : std::nullopt;
        const TensorRef *flat = part ? partition(*part, quantity, group) : nullptr;
        if (!fragment)
            continue; // nothing of it, or a rank that is missing: then elements stay uncovered
        if (!flat || fragment->count > parameter.shape.count().value_or(0) - at) {
            tensor.unreadable =
                Error{ErrorCode::Mismatch, {}, {}, "the partitions do not fit its shape"};
            return;
        }
        addFlatRange(*flat, fragment->start, fragment->count, at, tensor);
        at += fragment->count;
    }
}

/// The partitions of all ranks in a row are the parameters in a row; at the end is padding.
void ZeroPartitions::joinFlat(const std::string &quantity, std::size_t group, std::size_t index,
                              TensorRef &tensor) const
{
    Index length = 0; // of every rank's part but the last one, which may lack its padding
    for (const RankPart *part : m_parts)
        length = std::max(length, part ? lengthOf(partition(*part, quantity, group)) : 0);
    const Index begin = m_begins[group][index];
    const Index end = begin + m_groups[group][index].shape.count().value_or(0);
    for (std::size_t rank = 0; rank < m_parts.size() && length > 0; ++rank) {
        const TensorRef *flat =
            m_parts[rank] ? partition(*m_parts[rank], quantity, group) : nullptr;
        const Index from = std::max(begin, Index(rank) * length);
        const Index to = std::min(end, Index(rank + 1) * length);
        if (flat && from < to)
            addFlatRange(*flat, from - Index(rank) * length, to - from, from - begin, tensor);
    }
}

/// Stage 3: each rank has an equal part of each parameter, its groups one behind the other.
void ZeroPartitions::joinEach(const std::string &quantity, std::size_t group, std::size_t index,
                              TensorRef &tensor) const
{
    const Index count = m_groups[group][index].shape.count().value_or(0);
    const Index each = count / m_parts.size() + (count % m_parts.size() != 0 ? 1 : 0);
    for (std::size_t rank = 0; rank < m_parts.size(); ++rank) {
        const Index at = std::min(Index(rank) * each, count);
        const Index end = std::min(at + each, count);
        Index groupBegin = 0; // of the flat group among those of the rank
        for (std::size_t flatGroup = 0; m_parts[rank] && at < end; ++flatGroup) {
            const TensorRef *flat = partition(*m_parts[rank], quantity, flatGroup);
            if (!flat)
                break;
            const Index from = std::max(m_begins[group][index], groupBegin);
            const Index to =
                std::min(m_begins[group][index] + (end - at), groupBegin + lengthOf(flat));
            if (from < to) {
                addFlatRange(*flat, from - groupBegin, to - from,
                             at + (from - m_begins[group][index]), tensor);
            }
            groupBegin += lengthOf(flat);
        }
    }
}

TensorRef ZeroPartitions::join(const std::string &quantity, std::size_t group,
                               std::size_t index) const
{
    const ZeroParameter &parameter = m_groups[group][index];
    TensorRef tensor;
    tensor.path = {{Key::of(quantity), Key::of(parameter.name)}};
    tensor.shape = parameter.shape;
    tensor.dtype = *dtypeByName("float32");
    for (const RankPart *part : m_parts) {
        if (const TensorRef *flat = part ? partition(*part, quantity, group) : nullptr) {
            tensor.dtype = flat->dtype;
            break;
        }
    }
    if (!parameter.shape.count() || tensor.dtype.positionBits() % 8 != 0)
        tensor.unreadable = Error{ErrorCode::Malformed, {}, {}, "an impossible shape or type"};
    else if (isStage3())
        joinEach(quantity, group, index, tensor);
    else if (m_hasMappings)
        joinMapped(quantity, group, index, tensor);
    else
        joinFlat(quantity, group, index, tensor);
    return tensor;
}

bool ZeroPartitions::isLayout(const KeyPath &path)
{
    static const std::vector<std::string> names = {"single_partition_of_fp32_groups",
                                                   "fp32_flat_groups",
                                                   "param_slice_mappings",
                                                   "group_paddings",
                                                   "param_alignment_paddings",
                                                   "partition_count",
                                                   "ds_zero_partition_groups"};
    if (path.keys.size() < 2 || path.keys[0] != State)
        return false;
    const std::string &key = path.keys[1].text;
    const bool isState = path.keys.size() > 2 && path.keys[2].text == "state"
        && (key == "base_optimizer_state" || key == "optimizer_state_dict");
    return isState || std::find(names.begin(), names.end(), key) != names.end();
}

} // namespace forkpoint
