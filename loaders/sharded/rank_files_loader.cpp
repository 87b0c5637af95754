// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/rank_files_loader.h"

#include "loaders/elements/copy_guess.h"
#include "loaders/elements/replica_check.h"
#include "loaders/elements/tensor_joiner.h"
#include "loaders/limits.h"
#include "loaders/sharded/rank_part.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

/// "model_world_size_8_rank_3.pt": the rank, and what the files of all ranks have in common.
struct RankName
{
    std::int64_t rank = 0;
    std::string group; ///< "model_world_size_8_rank_#.pt"
    std::string stem;  ///< "model_world_size_8"
};

std::optional<RankName> parseName(const std::string &name)
{
    const bool isTensorFile = name.ends_with(".pt") || name.ends_with(".pth")
        || name.ends_with(".bin") || name.ends_with(".ckpt");
    const std::size_t word = name.rfind("rank");
    if (!isTensorFile || word == std::string::npos)
        return std::nullopt;
    std::size_t at = word + 4;
    if (at < name.size() && (name[at] == '_' || name[at] == '-'))
        ++at;
    const std::size_t begin = at;
    const auto rank = takeNumber(name, at);
    if (!rank || at >= name.size() || name[at] != '.')
        return std::nullopt;
    std::string stem = name.substr(0, word);
    while (!stem.empty() && (stem.back() == '_' || stem.back() == '-' || stem.back() == '.'))
        stem.pop_back();
    return RankName{*rank, name.substr(0, begin) + "#" + name.substr(at), std::move(stem)};
}

/// Files by group and rank; nothing where a file with tensors is of no rank.
using Groups = std::map<std::string, std::map<std::int64_t, std::string>>;
std::optional<Groups> groupsOf(const DirectoryListing &listing)
{
    Groups groups;
    for (const DirectoryEntry &entry : listing.entries) {
        const bool isFile = entry.kind == EntryKind::File || entry.kind == EntryKind::LinkToFile;
        if (!isFile || entry.name.starts_with('.'))
            continue;
        if (const auto name = parseName(entry.name))
            groups[name->group][name->rank] = entry.name;
        else if (entry.name.ends_with(".safetensors") || entry.name.ends_with(".pt")
                 || entry.name.ends_with(".bin") || entry.name.ends_with(".pth"))
            return std::nullopt;
    }
    return groups.empty() ? std::nullopt : std::optional(std::move(groups));
}

/// The path of the distributed tensor of which `part` is the local one.
KeyPath wholePath(const TensorRef &part)
{
    KeyPath path = part.path;
    if (path.keys.back().text == "_local_tensor") { // DTensor
        path.keys.pop_back();
    } else if (path.keys.back().text == "tensor" && path.keys.size() > 2) { // shard 0 of one
        path.keys.pop_back();
        path.keys.pop_back();
    }
    return path;
}

/// How many ranks a DTensor's mesh has, where that is what `tensor` lists: a tensor of their numbers
/// ("_rank_map" of torch 2.10 and newer, "mesh" before). Source: torch/distributed/device_mesh.py.
std::int64_t ranksOfMesh(const TensorRef &tensor)
{
    const auto &keys = tensor.path.keys;
    const bool isList = keys.size() > 1 && keys[keys.size() - 2].text == "mesh"
        && (keys.back().text == "_rank_map" || keys.back().text == "mesh"
            || keys.back().text == "_mesh")
        && tensor.dtype.name.starts_with("int");
    const Index count = isList ? tensor.shape.count().value_or(0) : 0;
    return count <= limits::DirectoryEntries ? std::int64_t(count) : 0;
}

/// Joins the files of one group.
class GroupJoiner
{
public:
    GroupJoiner(std::map<std::int64_t, RankPart> parts, CheckpointBuilder &builder,
                std::stop_token stop)
        : m_parts(std::move(parts)),
          m_builder(builder),
          m_guess(std::move(stop))
    {
    }

    void join()
    {
        for (auto &[rank, part] : m_parts) {
            for (TensorRef &tensor : part.tensors)
                sort(rank, std::move(tensor));
        }
        dropDescriptions();
        for (auto &[path, held] : m_plain)
            addPlain(path, held);
        m_joiner.finish(m_builder);
        addValues();
    }

private:
    using Held = std::vector<std::pair<std::int64_t, TensorRef>>;

    static KeyPath ofRank(std::int64_t rank, const KeyPath &path)
    {
        KeyPath result{{Key::of("rank_" + std::to_string(rank))}};
        result.keys.insert(result.keys.end(), path.keys.begin(), path.keys.end());
        return result;
    }

    void sort(std::int64_t rank, TensorRef tensor)
    {
        if (!tensor.globalShape) {
            m_plain[tensor.path].emplace_back(rank, std::move(tensor));
            return;
        }
        KeyPath whole = wholePath(tensor);
        m_wholes.insert(whole);
        const bool hasPlace = tensor.globalOrigin.size() == tensor.globalShape->rank();
        if (!hasPlace || !tensor.partialSumGroup.empty()) { // cannot be put together
            tensor.path = ofRank(rank, whole);
            m_builder.addTensor(std::move(tensor));
            return;
        }
        tensor.path = std::move(whole);
        const std::vector<Index> origin = tensor.globalOrigin;
        const Shape global = *tensor.globalShape;
        m_joiner.add(std::move(tensor), origin, global);
    }

    /// Meshes, placements and metadata below distributed tensors are what the parts were read by.
    void dropDescriptions()
    {
        std::erase_if(m_plain, [this](const auto &item) { return isOfWhole(item.first); });
        for (auto &[rank, part] : m_parts) {
            std::erase_if(part.values,
                          [this](const ValueRef &value) { return isOfWhole(value.path); });
            part.index(); // the others have moved up
        }
    }

    bool isOfWhole(const KeyPath &path) const
    {
        auto next = m_wholes.upper_bound(path);
        return next != m_wholes.begin() && isBelow(path, *std::prev(next));
    }

    /// Tensors that are not distributed: once where all ranks hold the same, else by rank. Copies too
    /// large to be read to their end are one until they are read: see checkReplicas().
    void addPlain(const KeyPath &path, Held &held)
    {
        const bool isAlike = std::all_of(held.begin() + 1, held.end(), [&](const auto &other) {
            return m_guess.mayBeCopies(held.front().second, other.second, m_builder.files());
        });
        for (auto &[rank, tensor] : held) {
            if (!isAlike) {
                tensor.path = ofRank(rank, path);
                m_builder.addTensor(std::move(tensor));
                continue;
            }
            const Shape shape = tensor.shape;
            m_joiner.add(std::move(tensor), std::vector<Index>(shape.rank(), 0), shape);
        }
    }

    void addValues()
    {
        for (const auto &[rank, part] : m_parts) {
            for (const ValueRef &value : part.values) {
                if (!isEverywhere(value)) {
                    ValueRef own = value;
                    own.path = ofRank(rank, value.path);
                    m_builder.addValue(std::move(own));
                } else if (rank == m_parts.begin()->first) {
                    m_builder.addValue(value);
                }
            }
        }
    }

    bool isEverywhere(const ValueRef &value) const
    {
        return std::all_of(m_parts.begin(), m_parts.end(), [&](const auto &item) {
            const Value *other = item.second.value(value.path);
            return other && other->identicalTo(value.value);
        });
    }

    std::map<std::int64_t, RankPart> m_parts;
    CheckpointBuilder &m_builder;
    TensorJoiner m_joiner;
    std::map<KeyPath, Held> m_plain;
    std::set<KeyPath> m_wholes;
    CopyGuess m_guess;
};

class RankFilesLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "torch-ranks"; }
    std::string_view description() const override
    {
        return "a torch.save of each rank: FSDP1 sharded and local, DTensors";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        const auto groups = groupsOf(view.listing);
        if (!groups)
            return {};
        for (const auto &[group, ranks] : *groups) {
            const auto last = ranks.rbegin()->first;
            if (std::size_t(last) + 1 != ranks.size())
                return {true, "files of some ranks are not there"};
        }
        return {true, {}};
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = name();
        const Groups groups = groupsOf(view.listing).value_or(Groups());
        std::size_t opened = 0;
        std::optional<Error> first;
        for (const auto &[group, ranks] : groups) {
            CheckpointBuilder builder;
            std::map<std::int64_t, RankPart> parts;
            for (const auto &[rank, file] : ranks) {
                auto part = loadRankPart(view, file, {{{"rank", rank}}}, options, stop, builder);
                if (part.ok()) {
                    parts.emplace(rank, std::move(part).value());
                    continue;
                }
                first = first.value_or(part.error());
                tellLostPart(std::move(part).error(), view.prefix + file, builder);
            }
            opened += parts.size();
            tellMissing(view, group, ranks, expectedRanks(ranks, parts), builder);
            GroupJoiner(std::move(parts), builder, stop).join();
            loaded.builder.merge(std::move(builder),
                                 prefixOf(ranks.begin()->second, groups.size()));
        }
        if (opened == 0)
            return first.value_or(Error{ErrorCode::NotFound, view.prefix, {}, "holds no files"});
        checkReplicas(loaded.builder, stop);
        return loaded;
    }

private:
    /// The only group, or the model's, has no prefix.
    static KeyPath prefixOf(const std::string &file, std::size_t groups)
    {
        const auto name = parseName(file);
        if (groups == 1 || !name || name->stem.empty() || name->stem.starts_with("model"))
            return {};
        return {{Key::of(name->stem)}};
    }

    /// By the highest number of a file, and by the meshes of what they hold.
    static std::int64_t expectedRanks(const std::map<std::int64_t, std::string> &ranks,
                                      const std::map<std::int64_t, RankPart> &parts)
    {
        std::int64_t expected = ranks.rbegin()->first + 1;
        for (const auto &[rank, part] : parts) {
            for (const TensorRef &tensor : part.tensors)
                expected = std::max(expected, ranksOfMesh(tensor));
        }
        return expected;
    }

    static void tellMissing(const DirectoryView &view, const std::string &group,
                            const std::map<std::int64_t, std::string> &ranks, std::int64_t expected,
                            CheckpointBuilder &builder)
    {
        if (std::int64_t(ranks.size()) == expected)
            return;
        for (std::int64_t rank = 0;
             rank < expected && expected <= std::int64_t(limits::DirectoryEntries); ++rank)
            builder.addOwner({{{"rank", rank}}}); // those that wrote, although some files are lost
        builder.addDiagnostic({Severity::Error,
                               "incomplete",
                               view.prefix + group,
                               {},
                               "files of " + std::to_string(expected - std::int64_t(ranks.size()))
                                   + " of at least " + std::to_string(expected)
                                   + " ranks are not there"});
        builder.setIncomplete();
    }
};

} // namespace

const DirectoryLoader &rankFilesLoader()
{
    static const RankFilesLoader loader;
    return loader;
}

} // namespace forkpoint
