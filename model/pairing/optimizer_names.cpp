// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/optimizer_names.h"

#include "model/folded_numbers.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

/// Assignments in progress at most: more means that shapes tell too little.
constexpr std::size_t MostStates = 4096;
constexpr std::size_t MostStatesInAll = 1u << 18; ///< all are kept, for the way back
constexpr std::size_t MostParameters = 1u << 16;
constexpr std::size_t MostOptimizers = 256; ///< each is a walk through the catalogue

bool isText(const Key &key, std::string_view text)
{
    return key.kind == Key::Kind::Text && key.text == text;
}

std::optional<std::int64_t> numberOf(const Key &key)
{
    if (key.kind == Key::Kind::Integer && key.text.empty())
        return key.number;
    // A flattened state dict has its numbers as texts.
    if (key.kind != Key::Kind::Text || key.text.empty() || key.text.size() > 9
        || !std::all_of(key.text.begin(), key.text.end(),
                        [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    return std::stoll(key.text);
}

bool startsWith(const KeyPath &path, const KeyPath &root)
{
    return path.keys.size() > root.keys.size()
        && std::equal(root.keys.begin(), root.keys.end(), path.keys.begin());
}

/// Whether a path leads into the numbered state below `root`.
bool isNumbered(const KeyPath &path, const KeyPath &root)
{
    const std::size_t depth = root.keys.size();
    return path.keys.size() >= depth + 3 && isText(path.keys[depth], "state")
        && startsWith(path, root) && numberOf(path.keys[depth + 1]).has_value();
}

/// What stands before "state" in a path that has a number behind it.
std::optional<KeyPath> rootOf(const KeyPath &path)
{
    for (std::size_t i = 0; i + 2 < path.keys.size(); ++i) {
        if (isText(path.keys[i], "state") && numberOf(path.keys[i + 1]))
            return KeyPath{{path.keys.begin(), path.keys.begin() + std::ptrdiff_t(i)}};
    }
    return std::nullopt;
}

/// The numbers of each group in its order, and names where the groups have them.
struct Groups
{
    std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> numbers;
    std::map<std::int64_t, std::map<std::int64_t, std::string>> names;
};

/// A long list of numbers is one value.
void addFolded(const Value &list, std::map<std::int64_t, std::int64_t> &numbers)
{
    std::int64_t position = 0;
    for (const std::int64_t number : foldedIntegers(list))
        numbers.emplace_hint(numbers.end(), position++, number);
}

Groups groupsOf(const Catalog &catalog, const KeyPath &root)
{
    Groups groups;
    const std::size_t depth = root.keys.size();
    for (const ValueRef &value : catalog.values) {
        const auto &keys = value.path.keys;
        if (!startsWith(value.path, root) || keys.size() < depth + 3 || keys.size() > depth + 4
            || !isText(keys[depth], "param_groups"))
            continue;
        const auto group = numberOf(keys[depth + 1]);
        if (group && keys.size() == depth + 3 && isText(keys[depth + 2], "params")) {
            addFolded(value.value, groups.numbers[*group]);
            continue;
        }
        const auto position = keys.size() == depth + 4 ? numberOf(keys[depth + 3]) : std::nullopt;
        if (!group || !position)
            continue;
        if (const auto *number = std::get_if<std::int64_t>(&value.value.data);
            number && isText(keys[depth + 2], "params"))
            groups.numbers[*group][*position] = *number;
        if (const auto *name = std::get_if<std::string>(&value.value.data);
            name && isText(keys[depth + 2], "param_names"))
            groups.names[*group][*position] = *name;
    }
    return groups;
}

/// Shape of a parameter's state, by number.
std::map<std::int64_t, Shape> shapesOf(const Catalog &catalog, const KeyPath &root)
{
    std::map<std::int64_t, Shape> shapes;
    for (const TensorRef &tensor : catalog.tensors) {
        const auto state = numberedState(tensor.path, root);
        if (state && state->slot != "step")
            shapes.emplace(state->number, tensor.shape);
    }
    return shapes;
}

bool isBuffer(std::string_view name)
{
    return name.ends_with("running_mean") || name.ends_with("running_var")
        || name.ends_with("num_batches_tracked") || name.ends_with("_extra_state")
        || name.ends_with("inv_freq");
}

struct Parameter
{
    std::string name;
    Shape shape;
};

/// The parameters of the model that lies in the optimizer's file, in the file's order. Of tensors
/// that share a storage the first counts, as it does for the optimizer.
std::vector<Parameter> modelBeside(const Catalog &catalog, const KeyPath &root, std::string &prefix)
{
    std::string file;
    for (const TensorRef &tensor : catalog.tensors) {
        if (!isNumbered(tensor.path, root) || tensor.files.size() != 1)
            continue;
        if (!file.empty() && tensor.files.front() != file)
            return {}; // spread over files: no order to go by
        file = tensor.files.front();
    }
    std::vector<const TensorRef *> found;
    std::vector<Key> above = root.keys;
    if (!above.empty())
        above.pop_back(); // "model" beside "optimizer"
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.stateClass == StateClass::Weights && tensor.files.size() == 1
            && tensor.files.front() == file && startsWith(tensor.path, KeyPath{above})
            && tensor.path.keys.size() > above.size() + 1 && !isBuffer(tensor.name))
            found.push_back(&tensor);
    }
    std::sort(found.begin(), found.end(), [](const TensorRef *left, const TensorRef *right) {
        return left->fileOrder < right->fileOrder;
    });
    std::vector<Parameter> parameters;
    std::set<std::uint64_t> storages;
    std::set<Key> models;
    for (const TensorRef *tensor : found) {
        if (tensor->storage != NoStorage && !storages.insert(tensor->storage).second)
            continue;
        KeyPath below{{tensor->path.keys.begin() + std::ptrdiff_t(above.size()) + 1,
                       tensor->path.keys.end()}};
        models.insert(tensor->path.keys[above.size()]);
        KeyPath before{{tensor->path.keys.begin(),
                        tensor->path.keys.begin() + std::ptrdiff_t(above.size()) + 1}};
        prefix = before.toString() + ".";
        parameters.push_back({below.toString(), tensor->shape});
    }
    return models.size() == 1 ? parameters : std::vector<Parameter>();
}

/// Deals the parameters, in order, to the groups, each of which wants shapes in its order. The group
/// of each, if there is one way only.
std::optional<std::vector<std::size_t>> deal(const std::vector<Parameter> &parameters,
                                             const std::vector<std::vector<Shape>> &groups)
{
    struct Way
    {
        std::size_t count = 0;           ///< ways to get here, 2 standing for more
        std::size_t group = 0;           ///< that took the last parameter, and
        std::vector<std::size_t> before; ///< from where
    };
    using Taken = std::vector<std::size_t>; ///< of each group
    std::vector<std::map<Taken, Way>> levels(1);
    std::size_t states = 0;
    levels[0][Taken(groups.size(), 0)].count = 1;
    for (const Parameter &parameter : parameters) {
        std::map<Taken, Way> next;
        for (const auto &[taken, way] : levels.back()) {
            for (std::size_t g = 0; g < groups.size(); ++g) {
                if (taken[g] == groups[g].size() || groups[g][taken[g]] != parameter.shape)
                    continue;
                Taken after = taken;
                ++after[g];
                Way &reached = next[after];
                reached.count = std::min<std::size_t>(2, reached.count + way.count);
                reached.group = g;
                reached.before = taken;
            }
        }
        states += next.size();
        if (next.empty() || next.size() > MostStates || states > MostStatesInAll)
            return std::nullopt;
        levels.push_back(std::move(next));
    }
    if (levels.back().size() != 1 || levels.back().begin()->second.count != 1)
        return std::nullopt;
    std::vector<std::size_t> result(parameters.size());
    Taken at = levels.back().begin()->first;
    for (std::size_t i = parameters.size(); i-- > 0;) {
        const Way &way = levels[i + 1].at(at);
        result[i] = way.group;
        at = way.before;
    }
    return result;
}

bool nameByGroups(const Groups &groups, OptimizerNames &names)
{
    for (const auto &[group, numbers] : groups.numbers) {
        const auto named = groups.names.find(group);
        for (const auto &[position, number] : numbers) {
            if (named == groups.names.end() || !named->second.contains(position))
                return false;
            names.parameters[number] = named->second.at(position);
        }
    }
    names.reason = "named by its parameter groups";
    return !names.parameters.empty();
}

bool nameByOrder(const Catalog &catalog, const Groups &groups, OptimizerNames &names)
{
    const std::map<std::int64_t, Shape> shapes = shapesOf(catalog, names.root);
    std::vector<std::vector<Shape>> wanted;
    std::vector<std::vector<std::int64_t>> numbers;
    std::size_t count = 0;
    for (const auto &[group, members] : groups.numbers) {
        wanted.emplace_back();
        numbers.emplace_back();
        for (const auto &[position, number] : members) {
            const auto shape = shapes.find(number);
            if (shape == shapes.end() || ++count > MostParameters)
                return false; // a parameter without state: nothing to hold it against
            wanted.back().push_back(shape->second);
            numbers.back().push_back(number);
        }
    }
    const std::vector<Parameter> parameters = modelBeside(catalog, names.root, names.model);
    if (count == 0 || parameters.size() != count)
        return false;
    const auto dealt = deal(parameters, wanted);
    if (!dealt)
        return false;
    std::vector<std::size_t> taken(wanted.size(), 0);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::size_t group = (*dealt)[i];
        names.parameters[numbers[group][taken[group]++]] = parameters[i].name;
    }
    names.reason = "by order, shape and count";
    return true;
}

} // namespace

std::optional<NumberedState> numberedState(const KeyPath &path, const KeyPath &root)
{
    if (!isNumbered(path, root))
        return std::nullopt;
    const std::size_t depth = root.keys.size();
    const KeyPath slot{{path.keys.begin() + std::ptrdiff_t(depth) + 2, path.keys.end()}};
    return NumberedState{*numberOf(path.keys[depth + 1]), slot.toString()};
}

std::vector<OptimizerNames> optimizerNames(const Catalog &catalog)
{
    std::set<KeyPath> roots;
    for (const TensorRef &tensor : catalog.tensors) {
        // Sorted by name, neighbours are mostly of one optimizer.
        if (tensor.stateClass != StateClass::Optimizer
            || (!roots.empty() && isNumbered(tensor.path, *roots.rbegin())))
            continue;
        if (auto root = rootOf(tensor.path))
            roots.insert(std::move(*root));
    }
    std::vector<OptimizerNames> result;
    for (const KeyPath &root : roots) {
        if (result.size() == MostOptimizers)
            break;
        const Groups groups = groupsOf(catalog, root);
        OptimizerNames names;
        names.root = root;
        if (nameByGroups(groups, names) || nameByOrder(catalog, groups, names))
            result.push_back(std::move(names));
    }
    return result;
}

std::string parameterOf(const KeyPath &path, const std::vector<OptimizerNames> &optimizers)
{
    for (const OptimizerNames &names : optimizers) {
        const auto state = numberedState(path, names.root);
        if (!state)
            continue;
        const auto found = names.parameters.find(state->number);
        return found == names.parameters.end() ? std::string() : names.model + found->second;
    }
    return {};
}

} // namespace forkpoint
