// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/whole_tensors.h"

#include "model/pairing/assembly_rules.h"
#include "model/pairing/optimizer_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

constexpr std::string_view Folder = "mp_rank_", Model = "model";
constexpr std::string_view Layers = "layers.", Experts = "local_experts.";

std::string_view folderOf(const KeyPath &path)
{
    const bool isRanks = path.keys.size() > 2 && path.keys[0].kind == Key::Kind::Text
        && path.keys[0].text.starts_with(Folder);
    return isRanks ? std::string_view(path.keys[0].text) : std::string_view();
}

/// "model" is chunk 0, "model2" chunk 2 of a virtual pipeline; nothing for other keys.
std::optional<std::int64_t> chunkOf(std::string_view key)
{
    if (!key.starts_with(Model) || key.size() > Model.size() + 3)
        return std::nullopt;
    std::int64_t chunk = 0;
    for (const char c : key.substr(Model.size())) {
        if (c < '0' || c > '9')
            return std::nullopt;
        chunk = chunk * 10 + (c - '0');
    }
    return chunk;
}

/// Where a rank stands.
struct Stand
{
    std::int64_t tensor = 0, pipeline = 0, expert = 0, chunk = 0;
};

/// One rank's part of a parameter, or of what an optimizer holds of it.
struct Part
{
    TensorIndex tensor = 0;
    Stand stand;
    std::string name, slot; ///< "decoder.layers.0.mlp.linear_fc1.weight", "exp_avg"
};

struct WholeName
{
    std::string slot, name;
    auto operator<=>(const WholeName &) const = default;
};

/// By tensor-parallel rank, the copies.
using Group = std::map<std::int64_t, std::vector<TensorIndex>>;

class Ranks
{
public:
    explicit Ranks(std::shared_ptr<const TensorSource> source)
        : m_source(std::move(source)),
          m_catalog(m_source->catalog()),
          m_optimizers(optimizerNames(m_catalog))
    {
        for (TensorIndex i = 0; i < m_catalog.tensors.size(); ++i) {
            const auto part = partOf(i);
            if (!part)
                continue;
            m_tensorRanks = std::max(m_tensorRanks, part->stand.tensor + 1);
            m_expertRanks = std::max(m_expertRanks, part->stand.expert + 1);
            m_stands.emplace(folderOf(m_catalog.tensors[i].path), part->stand);
            if (const auto layer = numberedBehind(part->name, Layers))
                count(m_layers[layer->before][stageOf(part->stand)], layer->number);
            if (const auto expert = numberedBehind(part->name, Experts))
                count(m_experts, expert->number);
            m_parts.push_back(*part);
        }
        for (const Part &part : m_parts) {
            if (const auto name = wholeName(part.name, part.stand))
                m_groups[{part.slot, *name}][part.stand.tensor].push_back(part.tensor);
        }
    }

    std::shared_ptr<const TensorSource> assembled()
    {
        std::vector<AssembledSource::Item> items;
        std::vector<bool> taken(m_catalog.tensors.size(), false);
        for (const auto &[name, group] : m_groups) {
            auto item = itemOf(name, group);
            if (!item)
                continue;
            items.push_back(std::move(*item));
            for (const auto &[rank, copies] : group) {
                for (const TensorIndex tensor : copies)
                    taken[tensor] = true;
            }
        }
        for (TensorIndex i = 0; i < m_catalog.tensors.size(); ++i) {
            if (!taken[i])
                items.push_back({m_catalog.tensors[i], i, std::nullopt});
        }
        Catalog frame = AssembledSource::frameOf(m_catalog);
        frame.values = valuesOfAll();
        return std::make_shared<AssembledSource>(m_source, std::move(frame), std::move(items));
    }

private:
    using Stage = std::pair<std::int64_t, std::int64_t>; ///< chunk, pipeline rank
    using Stages = std::map<Stage, std::int64_t>;        ///< how many layers it has

    static Stage stageOf(const Stand &stand) { return {stand.chunk, stand.pipeline}; }
    static void count(std::int64_t &many, std::int64_t number)
    {
        many = std::max(many, number + 1);
    }

    std::optional<Part> partOf(TensorIndex index) const
    {
        const TensorRef &tensor = m_catalog.tensors[index];
        const std::string_view folder = folderOf(tensor.path);
        if (folder.empty() || tensor.owner >= m_catalog.owners.size() || tensor.unreadable)
            return std::nullopt;
        Part part;
        part.tensor = index;
        for (const auto &[axis, number] : m_catalog.owners[tensor.owner].axes) {
            if (axis != "tp" && axis != "pp" && axis != "ep")
                return std::nullopt;
            (axis == "tp"       ? part.stand.tensor
                 : axis == "pp" ? part.stand.pipeline
                                : part.stand.expert) = number;
        }
        std::string name = tensor.path.toString();
        if (!chunkOf(tensor.path.keys[1].toString())) {
            name = parameterOf(tensor.path, m_optimizers);
            part.slot = tensor.path.keys.back().toString();
        }
        if (name.size() <= folder.size() + 1 || !name.starts_with(folder))
            return std::nullopt;
        name.erase(0, folder.size() + 1);
        const auto dot = std::min(name.find('.'), name.size());
        const auto chunk = chunkOf(std::string_view(name).substr(0, dot));
        if (!chunk || dot == name.size())
            return std::nullopt;
        part.stand.chunk = *chunk;
        part.name = name.substr(dot + 1);
        return part;
    }

    /// With layers counted on from the stages before, chunk by chunk through the pipeline, and experts
    /// from the ranks before. Nothing where experts have no numbers to tell them by.
    std::optional<std::string> wholeName(std::string name, const Stand &stand) const
    {
        if (const auto layer = numberedBehind(name, Layers)) {
            std::int64_t number = layer->number;
            const auto stages = m_layers.find(layer->before);
            for (const auto &[stage, layers] : stages == m_layers.end() ? Stages() : stages->second)
                number += stage < stageOf(stand) ? layers : 0;
            name = layer->with(number);
        }
        if (const auto expert = numberedBehind(name, Experts))
            return expert->with(expert->number + stand.expert * m_experts);
        const bool isSpread = m_expertRanks > 1 && name.find(".experts.") != std::string::npos;
        return isSpread ? std::nullopt : std::optional(name);
    }

    std::optional<AssembledSource::Item> itemOf(const WholeName &name, const Group &group) const
    {
        const TensorRef &first = m_catalog.tensors[group.begin()->second.front()];
        // What one rank holds, and what has no axis, was not cut.
        static const AssemblyRule uncut;
        const AssemblyRule *rule =
            m_tensorRanks == 1 || first.shape.rank() == 0 ? &uncut : assemblyRuleFor(name.name);
        if (!rule || std::int64_t(group.size()) != m_tensorRanks || !fitsTogether(group))
            return std::nullopt;
        auto how = rule->how;
        if (how == AssemblyRule::How::Gated) {
            const auto isGated = gated(name.name, *rule);
            if (!isGated)
                return std::nullopt;
            how = *isGated ? how : AssemblyRule::How::Axis0;
        }
        AssembledSource::Item item;
        item.tensor.dtype = first.dtype;
        item.tensor.stateClass = first.stateClass;
        item.tensor.path = name.slot.empty()
            ? KeyPath{{Key::of(std::string(Model)), Key::of(name.name)}}
            : KeyPath{
                {Key::of("optimizer"), Key::of("state"), Key::of(name.name), Key::of(name.slot)}};
        item.plan = planOf(group, how, item.tensor);
        if (!item.plan)
            return std::nullopt;
        item.plan->reason = reasonOf(group, *item.plan, *rule, how);
        return item;
    }

    /// Whole bytes, one type, and equal shapes of what is to be equal.
    bool fitsTogether(const Group &group) const
    {
        const DType &dtype = m_catalog.tensors[group.begin()->second.front()].dtype;
        return std::all_of(group.begin(), group.end(), [&](const auto &entry) {
            const Shape &shape = m_catalog.tensors[entry.second.front()].shape;
            return std::all_of(entry.second.begin(), entry.second.end(), [&](TensorIndex copy) {
                const TensorRef &tensor = m_catalog.tensors[copy];
                return tensor.dtype == dtype && tensor.shape == shape && dtype.bits % 8 == 0;
            });
        });
    }

    /// Whether each part is gate over up: twice the features that the next layer takes in.
    std::optional<bool> gated(const std::string &name, const AssemblyRule &rule) const
    {
        std::string weight = name.substr(0, name.rfind('.')) + ".weight", next = weight;
        next.replace(next.rfind(rule.layer), rule.layer.size(), rule.next);
        const auto here = m_groups.find({"", weight}), there = m_groups.find({"", next});
        if (here == m_groups.end() || there == m_groups.end())
            return std::nullopt;
        const Shape &out = m_catalog.tensors[here->second.begin()->second.front()].shape;
        const Shape &in = m_catalog.tensors[there->second.begin()->second.front()].shape;
        if (out.rank() != 2 || in.rank() != 2 || out.dims[0] == 0)
            return std::nullopt;
        return out.dims[0] == in.dims[1]    ? std::optional(false)
            : out.dims[0] == 2 * in.dims[1] ? std::optional(true)
                                            : std::nullopt;
    }

    /// The shape of the whole goes into `whole`; nothing where the parts' shapes do not fit.
    std::optional<AssemblyPlan> planOf(const Group &group, AssemblyRule::How how,
                                       TensorRef &whole) const
    {
        using How = AssemblyRule::How;
        const std::size_t axis = how == How::Axis1 ? 1 : 0;
        AssemblyPlan plan;
        Shape shape;
        AssembledPiece all;
        for (const auto &[rank, copies] : group) {
            const TensorRef &part = m_catalog.tensors[copies.front()];
            if (how == How::Same && !all.copies.empty() && part.shape != shape)
                return std::nullopt;
            if (how != How::Same && !joinShape(shape, part.shape, axis))
                return std::nullopt;
            if (how == How::Same) {
                shape = part.shape;
                all.copies.insert(all.copies.end(), copies.begin(), copies.end());
                all.size = part.bytes;
            } else {
                plan.pieces.push_back({copies, 0, part.bytes});
            }
        }
        if (how == How::Same)
            plan.pieces.push_back(std::move(all));
        if (how == How::Axis1 && shape.rank() == 2 && shape.dims[0] > 0) {
            plan.how = AssemblyPlan::How::Rows;
            plan.rows = shape.dims[0];
        } else if (how == How::Axis1) {
            return std::nullopt;
        }
        if (how == How::Gated) {
            auto cut = halves(plan.pieces);
            if (!cut)
                return std::nullopt;
            plan.pieces = std::move(*cut);
        }
        whole.shape = std::move(shape);
        return plan;
    }

    static std::string reasonOf(const Group &group, const AssemblyPlan &plan,
                                const AssemblyRule &rule, AssemblyRule::How how)
    {
        using How = AssemblyRule::How;
        const std::size_t copies = plan.pieces.front().copies.size();
        if (how == How::Same)
            return copies == 1 ? "held whole by one rank"
                               : "held alike by " + std::to_string(copies) + " ranks";
        return std::to_string(group.size()) + " parts along axis " + (how == How::Axis1 ? "1" : "0")
            + (how == How::Gated ? ", gates before ups: " : ": ") + rule.reason;
    }

    static bool joinShape(Shape &whole, const Shape &part, std::size_t axis)
    {
        if (part.rank() <= axis)
            return false;
        if (whole.rank() == 0) {
            whole = part;
            return true;
        }
        Shape other = part;
        if (other.rank() != whole.rank())
            return false;
        other.dims[axis] = whole.dims[axis];
        const bool fits = other == whole;
        whole.dims[axis] += part.dims[axis];
        return fits;
    }

    /// The first half of the rows of every piece, then the second; nothing where they have no halves.
    std::optional<std::vector<AssembledPiece>>
    halves(const std::vector<AssembledPiece> &pieces) const
    {
        std::vector<AssembledPiece> result;
        for (const AssembledPiece &piece : pieces) {
            const Shape &shape = m_catalog.tensors[piece.copies.front()].shape;
            if (shape.rank() == 0 || shape.dims[0] % 2 != 0)
                return std::nullopt;
        }
        for (const bool second : {false, true}) {
            for (const AssembledPiece &piece : pieces)
                result.push_back({piece.copies, second ? piece.size / 2 : 0, piece.size / 2});
        }
        return result;
    }

    /// Once what every rank that ought to have it holds alike; the others as they are.
    std::vector<ValueRef> valuesOfAll() const
    {
        std::map<KeyPath, std::vector<const ValueRef *>> groups;
        for (const ValueRef &value : m_catalog.values)
            groups[wholePath(value.path)].push_back(&value);
        std::vector<ValueRef> result;
        for (const auto &[path, values] : groups) {
            const auto &first = values.front()->value;
            const bool alike = isHeldByAll(values)
                && std::all_of(values.begin(), values.end(), [&](const ValueRef *value) {
                                   return value->value.identicalTo(first);
                               });
            for (const ValueRef *value : values) {
                result.push_back(*value);
                if (isOwnNumber(value->path))
                    result.back().stateClass = StateClass::Bookkeeping;
                if (alike) {
                    result.back().path = path;
                    break;
                }
            }
        }
        return result;
    }

    /// By every rank; what belongs to a model's stage, by every rank of the stages that have it.
    bool isHeldByAll(const std::vector<const ValueRef *> &values) const
    {
        std::set<std::string_view> holders;
        std::set<std::int64_t> stages;
        bool isModels = false;
        for (const ValueRef *value : values) {
            const auto &keys = value->path.keys;
            const auto stand = keys.empty() ? m_stands.end() : m_stands.find(keys[0].text);
            if (stand == m_stands.end())
                continue; // of no rank
            holders.insert(stand->first);
            stages.insert(stand->second.pipeline);
            isModels = isModels || (keys.size() > 2 && chunkOf(keys[1].text));
        }
        if (holders.empty())
            return true;
        return std::all_of(m_stands.begin(), m_stands.end(), [&](const auto &each) {
            return holders.contains(each.first)
                || (isModels && !stages.contains(each.second.pipeline));
        });
    }

    /// A rank's own number of a parameter, whose state goes by the parameter's name here.
    bool isOwnNumber(const KeyPath &path) const
    {
        const std::size_t size = path.keys.size();
        if (size < 5 || path.keys[size - 2].text != "params"
            || path.keys[size - 4].text != "param_groups")
            return false;
        const KeyPath root{{path.keys.begin(), path.keys.end() - 4}};
        return std::any_of(m_optimizers.begin(), m_optimizers.end(),
                           [&](const OptimizerNames &names) { return names.root == root; });
    }

    /// Without the rank's folder, and with layers counted on.
    KeyPath wholePath(const KeyPath &path) const
    {
        const bool isRanks = !path.keys.empty() && path.keys[0].text.starts_with(Folder);
        if (!isRanks)
            return path;
        KeyPath whole{{path.keys.begin() + 1, path.keys.end()}};
        const auto stand = m_stands.find(path.keys[0].text);
        if (whole.keys.size() == 2 && stand != m_stands.end() && chunkOf(whole.keys[0].text)) {
            Stand here = stand->second;
            here.chunk = *chunkOf(whole.keys[0].text);
            if (const auto name = wholeName(whole.keys[1].text, here))
                whole = {{Key::of(std::string(Model)), Key::of(*name)}};
        }
        return whole;
    }

    std::shared_ptr<const TensorSource> m_source;
    const Catalog &m_catalog;
    std::vector<OptimizerNames> m_optimizers;
    std::vector<Part> m_parts;
    std::map<WholeName, Group> m_groups;
    std::int64_t m_tensorRanks = 1, m_expertRanks = 1, m_experts = 0;
    std::map<std::string, Stages> m_layers;             ///< by what stands before the number
    std::map<std::string, Stand, std::less<>> m_stands; ///< by folder
};

} // namespace

bool listsModelParallelRanks(const Catalog &catalog)
{
    return std::any_of(catalog.tensors.begin(), catalog.tensors.end(),
                       [](const TensorRef &tensor) { return !folderOf(tensor.path).empty(); });
}

std::shared_ptr<const TensorSource> withWholeTensors(std::shared_ptr<const TensorSource> ranks)
{
    return Ranks(std::move(ranks)).assembled();
}

} // namespace forkpoint
