// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/megatron_names.h"

#include "model/format.h"
#include "model/pairing/assembled_source.h"
#include "model/pairing/assembly_rules.h"
#include "model/pairing/parameter_names.h"
#include "model/pairing/rank_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

constexpr std::string_view Shard = "/shard_", Extra = "_extra_state", Layers = "layers.";
constexpr std::string_view CommonStep = "common_step";

/// A tensor of `below` under another name, or a stretch of it.
AssembledSource::Item itemOf(const TensorRef &tensor, const AssembledPiece &piece, KeyPath path,
                             std::string reason)
{
    AssembledSource::Item item;
    item.tensor.path = std::move(path);
    item.tensor.dtype = tensor.dtype;
    item.tensor.shape = tensor.shape;
    item.tensor.stateClass = tensor.stateClass;
    item.tensor.unreadable = tensor.unreadable;
    item.tensor.fileOrder = tensor.fileOrder;
    item.plan = AssemblyPlan{};
    item.plan->pieces.push_back(piece);
    item.plan->reason = std::move(reason);
    return item;
}

/// Collects the tensors of a source seen otherwise.
class Renaming
{
public:
    explicit Renaming(std::shared_ptr<const TensorSource> below)
        : m_below(std::move(below)),
          m_frame(AssembledSource::frameOf(m_below->catalog()))
    {
    }

    Catalog &frame() { return m_frame; }
    void keep(TensorIndex index)
    {
        m_items.push_back({m_below->catalog().tensors[index], index, std::nullopt});
    }
    void rename(TensorIndex index, KeyPath path, std::string reason)
    {
        const TensorRef &tensor = m_below->catalog().tensors[index];
        add(itemOf(tensor, {{index}, 0, tensor.bytes}, std::move(path), std::move(reason)));
    }
    void add(AssembledSource::Item item)
    {
        m_items.push_back(std::move(item));
        m_changed = true;
    }
    void move(ValueRef &value, KeyPath path)
    {
        value.path = std::move(path);
        m_changed = true;
    }
    void note(Finding finding)
    {
        m_frame.findings.push_back(std::move(finding));
        m_changed = true;
    }

    /// The source itself where nothing was renamed.
    std::shared_ptr<const TensorSource> take()
    {
        if (!m_changed)
            return std::move(m_below);
        // Numbers of an optimizer are told by the order of its file.
        std::stable_sort(m_items.begin(), m_items.end(), [](const auto &left, const auto &right) {
            return left.tensor.fileOrder < right.tensor.fileOrder;
        });
        return std::make_shared<AssembledSource>(std::move(m_below), std::move(m_frame),
                                                 std::move(m_items));
    }

private:
    std::shared_ptr<const TensorSource> m_below;
    Catalog m_frame;
    std::vector<AssembledSource::Item> m_items;
    bool m_changed = false;
};

/// First keys of the items that lie in sharded objects: "rng_state/shard_0.1_1.2".
std::set<std::string_view> objectsOf(const Catalog &catalog)
{
    std::set<std::string_view> objects;
    const auto add = [&](const KeyPath &path) {
        if (!path.keys.empty() && path.keys[0].text.find(Shard) != std::string::npos)
            objects.insert(path.keys[0].text);
    };
    for (const TensorRef &tensor : catalog.tensors)
        add(tensor.path);
    for (const ValueRef &value : catalog.values)
        add(value.path);
    return objects;
}

/// The buckets of the other side that hold what one gathered buffer does; false where they do not.
bool addBuckets(Renaming &renaming, const Catalog &below, TensorIndex index, const Catalog &other,
                const std::string &stem)
{
    const TensorRef &whole = below.tensors[index];
    const std::string slot = whole.path.keys.back().toString();
    std::vector<AssembledSource::Item> items;
    std::uint64_t at = 0;
    while (true) {
        const std::string name = stem + std::to_string(items.size()) + "." + slot;
        const auto bucket = other.findTensor(name);
        if (!bucket)
            break;
        const TensorRef &there = other.tensors[*bucket];
        if (there.dtype != whole.dtype || there.bytes > whole.bytes - at)
            return false;
        AssembledPiece piece{{index}, at, there.bytes};
        items.push_back(itemOf(whole, piece, there.path,
                               "a bucket of '" + whole.name + "', which gathers them"));
        items.back().tensor.shape = there.shape;
        at += there.bytes;
    }
    if (items.empty() || at != whole.bytes)
        return false;
    for (AssembledSource::Item &item : items)
        renaming.add(std::move(item));
    return true;
}

/// Extra states of layers that torch_dist keeps one by one, with how many there are.
using Stacks = std::map<std::string, std::string, std::less<>>;

Stacks stacksOf(const std::set<std::string_view> &objects)
{
    Stacks stacks;
    for (const std::string_view object : objects) {
        const std::string_view key = object.substr(0, object.find(Shard));
        if (key.ends_with(Extra))
            stacks.emplace(key, object.substr(object.rfind('_') + 1));
    }
    return stacks;
}

/// Where torch_dist has the extra state at that path of a whole model; nothing where it has none.
std::optional<KeyPath> stackedPath(const KeyPath &path, const Stacks &stacks,
                                   const std::set<std::string_view> &objects)
{
    if (path.keys.size() < 2 || !path.keys[1].text.ends_with(Extra))
        return std::nullopt;
    std::string key = path.keys[1].text, number = "0";
    if (const auto layer = numberedBehind(key, Layers);
        layer && !stacks.contains(key) && !layer->after.empty()) {
        key = layer->before + layer->after.substr(1);
        number = std::to_string(layer->number);
    }
    const auto stack = stacks.find(key);
    if (stack == stacks.end())
        return std::nullopt;
    std::string object = key + std::string(Shard) + number + "_" + stack->second;
    if (!objects.contains(object))
        return std::nullopt;
    KeyPath result{{Key::of(std::move(object)), Key::at(0)}};
    result.keys.insert(result.keys.end(), path.keys.begin() + 2, path.keys.end());
    return result;
}

bool isExtraState(const KeyPath &path)
{
    return path.keys.size() == 2 && path.keys[1].text.ends_with(Extra);
}

/// The tensor with the step of all parameters; nothing where there is none.
std::optional<TensorIndex> commonStepOf(const Catalog &catalog)
{
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        if (!tensor.path.keys.empty() && tensor.path.keys.back().text == CommonStep
            && tensor.shape.rank() == 0)
            return i;
    }
    return std::nullopt;
}

/// Parameters of which an optimizer holds anything but the step, as the side itself names them.
std::set<std::string> parametersOf(const Catalog &catalog, std::string_view before)
{
    std::set<std::string> parameters;
    for (const TensorRef &tensor : catalog.tensors) {
        const std::string_view name = tensor.name;
        const ParameterName read = ParameterNames::instance().read(name);
        if (read.slot.empty() || !name.starts_with(before))
            continue;
        const std::string_view rest = name.substr(before.size());
        if (rest.starts_with(read.slot + "."))
            parameters.emplace(rest.substr(read.slot.size() + 1));
    }
    return parameters;
}

/// Whether a side keeps a step of each parameter.
bool hasOwnSteps(const Catalog &catalog)
{
    return std::any_of(catalog.tensors.begin(), catalog.tensors.end(), [](const TensorRef &tensor) {
        return tensor.shape.rank() == 0
            && ParameterNames::instance().read(tensor.name).slot == "step";
    });
}

/// Whether any item is of a rank's folder or a distributed optimizer: of other checkpoints, which may
/// have very many tensors, nothing is copied.
bool mayBeRenamed(const Catalog &catalog)
{
    const auto isOfRanks = [](const auto &item) {
        return !item.path.keys.empty()
            && (item.path.keys[0].text.starts_with("mp_rank_")
                || item.path.keys[0].text.starts_with("optimizer.distributed."));
    };
    return std::any_of(catalog.tensors.begin(), catalog.tensors.end(), isOfRanks)
        || std::any_of(catalog.values.begin(), catalog.values.end(), isOfRanks);
}

/// Settings of a distributed optimizer of one group of ranks stand in an object, or beside its state.
bool isSettings(const KeyPath &path)
{
    return path.keys.size() > 2
        && path.keys[0].text == "optimizer.distributed.dp_group_idx_0.optimizer/shard_0_1";
}

KeyPath plainSettings(const KeyPath &path)
{
    KeyPath plain{{Key::of("optimizer"), Key::of("optimizer")}};
    plain.keys.insert(plain.keys.end(), path.keys.begin() + 2, path.keys.end());
    return plain;
}

bool hasPlainSettings(const Catalog &catalog)
{
    return std::any_of(catalog.values.begin(), catalog.values.end(), [](const ValueRef &value) {
        const auto &keys = value.path.keys;
        return keys.size() > 2 && keys[0].text == "optimizer" && keys[1].text == "optimizer"
            && keys[2].text == "param_groups";
    });
}

} // namespace

std::shared_ptr<const TensorSource> withSharedNames(std::shared_ptr<const TensorSource> ranks,
                                                    const Catalog &other)
{
    const Catalog &catalog = ranks->catalog();
    if (!mayBeRenamed(catalog))
        return ranks;
    const RankNames names(catalog, objectsOf(other));
    Renaming renaming(ranks);
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        if (auto found = names.find(tensor.path))
            renaming.rename(i, std::move(found->path), "'" + tensor.name + "': " + found->reason);
        else if (const std::string stem = names.bucketsOf(tensor.path);
                 stem.empty() || !addBuckets(renaming, catalog, i, other, stem))
            renaming.keep(i);
    }
    const bool isPlain = hasPlainSettings(other);
    for (ValueRef &value : renaming.frame().values) {
        if (auto found = names.find(value.path))
            renaming.move(value, std::move(found->path));
        else if (isPlain && isSettings(value.path))
            renaming.move(value, plainSettings(value.path));
    }
    return renaming.take();
}

std::shared_ptr<const TensorSource> withStackedStates(std::shared_ptr<const TensorSource> wholes,
                                                      const Catalog &other)
{
    const Catalog &catalog = wholes->catalog();
    const std::set<std::string_view> objects = objectsOf(other);
    const Stacks stacks = stacksOf(objects);
    Renaming renaming(wholes);
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        if (auto path = stackedPath(catalog.tensors[i].path, stacks, objects))
            renaming.rename(i, std::move(*path), "the extra state of one layer of a stack");
        else
            renaming.keep(i);
    }
    Finding empty{"empty-extra-state", Certainty::Is, Severity::Note, {}, {}};
    for (ValueRef &value : renaming.frame().values) {
        if (auto path = stackedPath(value.path, stacks, objects)) {
            renaming.move(value, std::move(*path));
        } else if (!objects.empty() && isExtraState(value.path)
                   && value.value.type == ValueType::None) {
            value.stateClass = StateClass::Container;
            empty.where.push_back(value.path.keys[1].text);
        }
    }
    if (!empty.where.empty()) {
        empty.text = counted(empty.where.size(), "extra state is", "extra states are")
            + " empty and not written by the other side's format: " + empty.where.front()
            + (empty.where.size() > 1 ? ", ..." : "") + "; nothing is compared there";
        renaming.note(std::move(empty));
    }
    return renaming.take();
}

std::shared_ptr<const TensorSource> withStepsApart(std::shared_ptr<const TensorSource> source,
                                                   const Catalog &other)
{
    const Catalog &catalog = source->catalog();
    const auto common = commonStepOf(catalog);
    if (!common || commonStepOf(other) || !hasOwnSteps(other))
        return source;
    const TensorRef &step = catalog.tensors[*common];
    const std::string before = step.name.substr(0, step.name.size() - CommonStep.size());
    const std::set<std::string> parameters = parametersOf(catalog, before);
    Renaming renaming(source);
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        if (i != *common || parameters.empty())
            renaming.keep(i);
    }
    for (const std::string &parameter : parameters)
        renaming.rename(*common, {{Key::of(before + "step." + parameter)}},
                        "'" + step.name + "', one step of all parameters");
    return renaming.take();
}

} // namespace forkpoint
