// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/megatron_legacy_loader.h"

#include "loaders/elements/replica_check.h"
#include "loaders/sharded/rank_part.h"
#include "model/key_path.h"
#include "model/pairing/assembly_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace forkpoint {

namespace {

/// The file whose items stand directly below the folder's name.
constexpr std::string_view ModelFile = "model_optim_rng.pt";
/// Beside it where the optimizer is distributed, unless no optimizer was saved.
constexpr std::string_view BuffersFile = "distrib_optim.pt";

/// Beyond, what lost ranks are called is not listed.
constexpr std::int64_t MostRanks = 1 << 20;

/// "mp_rank_01_003": the numbers behind it.
std::optional<std::vector<std::int64_t>> parseFolder(std::string_view name)
{
    constexpr std::string_view Word = "mp_rank_";
    if (!name.starts_with(Word))
        return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (std::size_t at = Word.size();; ++at) {
        const auto number = takeNumber(name, at);
        if (!number || numbers.size() == 3)
            return std::nullopt;
        numbers.push_back(*number);
        if (at == name.size())
            return numbers;
        if (name[at] != '_')
            return std::nullopt;
    }
}

std::optional<std::int64_t> argument(const RankPart &part, std::string_view name)
{
    const Value *value = part.value({{Key::of("args"), Key::of(std::string(name))}});
    const auto *number = value ? std::get_if<std::int64_t>(&value->data) : nullptr;
    return number && *number > 0 && *number < 1'000'000 ? std::optional(*number) : std::nullopt;
}

/// How many ranks there were in each direction, from the arguments of the run.
struct Sizes
{
    std::int64_t tensor = 1, pipeline = 1, expert = 1;
    bool hasBuffers = false; ///< every rank wrote BuffersFile, too
};

bool saysBuffers(const RankPart &part)
{
    const Value *said = part.value({{Key::of("args"), Key::of("use_distributed_optimizer")}});
    const bool *isUsed = said ? std::get_if<bool>(&said->data) : nullptr;
    return isUsed && *isUsed
        && std::any_of(part.values.begin(), part.values.end(), [](const ValueRef &value) {
               return !value.path.keys.empty() && value.path.keys[0].text == "optimizer";
           });
}

Sizes sizesOf(const RankPart &part)
{
    return {argument(part, "tensor_model_parallel_size").value_or(1),
            argument(part, "pipeline_model_parallel_size").value_or(1),
            argument(part, "expert_model_parallel_size").value_or(1), saysBuffers(part)};
}

/// A single number behind the tensor rank is the pipeline's where there is one, else the expert's.
OwnerCoordinate ownerOf(const std::vector<std::int64_t> &numbers, const Sizes &sizes)
{
    OwnerCoordinate owner{{{"tp", numbers[0]}}};
    if (numbers.size() == 2)
        owner.axes.emplace_back(sizes.pipeline == 1 && sizes.expert > 1 ? "ep" : "pp", numbers[1]);
    if (numbers.size() == 3) {
        owner.axes.emplace_back("pp", numbers[1]);
        owner.axes.emplace_back("ep", numbers[2]);
    }
    return owner;
}

/// Pipeline rank, expert rank of an expert's parameter, and the path within the folder.
using CopyKey = std::tuple<std::int64_t, std::int64_t, KeyPath>;

/// Of a parameter that a rule says ranks hold alike, whichever of them holds it.
std::optional<CopyKey> copyKeyOf(const TensorRef &tensor, const Catalog &catalog)
{
    // Folder, model, name; versions before 2023 nest dictionaries, so that a name has several keys.
    const auto &keys = tensor.path.keys;
    if (keys.size() < 3 || !keys[1].text.starts_with("model") || tensor.unreadable
        || tensor.owner >= catalog.owners.size())
        return std::nullopt;
    KeyPath inModel{{keys.begin() + 1, keys.end()}};
    const std::string name = inModel.toString();
    const AssemblyRule *rule = assemblyRuleFor(name);
    if (!rule || rule->how != AssemblyRule::How::Same)
        return std::nullopt;
    std::int64_t stage = 0, expert = 0;
    for (const auto &[axis, number] : catalog.owners[tensor.owner].axes) {
        stage = axis == "pp" ? number : stage;
        expert = axis == "ep" ? number : expert;
    }
    const bool isExperts = name.find(".experts.") != std::string::npos;
    return CopyKey{stage, isExperts ? expert : 0, std::move(inModel)};
}

Finding unlikeCopies(const TensorRef &one, const TensorRef &other)
{
    const auto described = [](const TensorRef &tensor) {
        return escapeInvalidUtf8(tensor.path.toString()) + " is " + tensor.dtype.name + " "
            + tensor.shape.toString();
    };
    return {"replicas-differ",
            Certainty::Is,
            Severity::Warning,
            "ranks that should hold the same do not: " + described(one) + ", " + described(other),
            {escapeInvalidUtf8(one.path.toString()), escapeInvalidUtf8(other.path.toString())}};
}

/// Those parameters, each with the copies of the other ranks as its replicas; `unlike`: those that
/// cannot be equal, having another shape or type.
std::vector<TensorRef> copiesOf(const Catalog &catalog, std::vector<Finding> &unlike)
{
    std::map<CopyKey, TensorRef> groups;
    for (const TensorRef &tensor : catalog.tensors) {
        const auto key = copyKeyOf(tensor, catalog);
        if (!key)
            continue;
        const auto [found, isFirst] = groups.emplace(*key, tensor);
        TensorRef &whole = found->second;
        if (isFirst)
            continue;
        if (whole.shape == tensor.shape && whole.dtype == tensor.dtype)
            whole.replicas.push_back({tensor.owner, tensor.extents});
        else
            unlike.push_back(unlikeCopies(whole, tensor));
    }
    std::vector<TensorRef> copies;
    for (auto &[key, whole] : groups) {
        if (!whole.replicas.empty())
            copies.push_back(std::move(whole));
    }
    return copies;
}

class MegatronLegacyLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "megatron-legacy"; }
    std::string_view description() const override
    {
        return "Megatron-LM's folders mp_rank_XX, listed by rank";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        const auto &entries = view.listing.entries;
        return {std::any_of(entries.begin(), entries.end(), isRankFolder), {}};
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = name();
        std::map<std::string, std::set<std::string>> folders; ///< the files of each
        std::size_t opened = 0;
        std::optional<Sizes> sizes;
        std::optional<Error> first;
        for (const DirectoryEntry &entry : view.listing.entries) {
            if (!isRankFolder(entry))
                continue;
            std::set<std::string> &names = folders[entry.name];
            auto files = listDirectory(view.directory / entry.name, view.prefix + entry.name);
            if (!files.ok()) {
                tellLostPart(files.error(), view.prefix + entry.name, loaded.builder);
                continue;
            }
            for (const DirectoryEntry &file : files->entries) {
                if (file.kind != EntryKind::File || !file.name.ends_with(".pt"))
                    continue;
                names.insert(file.name);
                Status status =
                    addFile(view, entry.name, file.name, options, stop, sizes, loaded.builder);
                if (status.ok()) {
                    ++opened;
                    continue;
                }
                first = first.value_or(status.error());
                tellLostPart(std::move(status).error(), view.prefix + entry.name + "/" + file.name,
                             loaded.builder);
            }
        }
        if (opened == 0)
            return first.value_or(Error{
                ErrorCode::NotFound, view.prefix, {}, "its mp_rank folders hold no .pt file"});
        tellLostFiles(view, folders, sizes && sizes->hasBuffers, loaded.builder);
        std::vector<Finding> unlike;
        checkReplicas(copiesOf(loaded.builder.catalog(), unlike), loaded.builder, stop);
        for (Finding &finding : unlike)
            loaded.builder.addFinding(std::move(finding));
        if (sizes)
            checkRanks(view, *sizes, folders, loaded.builder);
        return loaded;
    }

private:
    static bool isRankFolder(const DirectoryEntry &entry)
    {
        return entry.kind == EntryKind::Directory && parseFolder(entry.name).has_value();
    }

    static Status addFile(const DirectoryView &view, const std::string &folder,
                          const std::string &name, const OpenOptions &options,
                          const std::stop_token &stop, std::optional<Sizes> &sizes,
                          CheckpointBuilder &builder)
    {
        FP_TRY(RankPart part, loadRankPart(view, folder + "/" + name, {}, options, stop, builder));
        if (!sizes && name == ModelFile)
            sizes = sizesOf(part);
        const std::vector<std::int64_t> numbers = *parseFolder(folder);
        const OwnerIndex owner = builder.addOwner(ownerOf(numbers, sizes.value_or(Sizes())));
        KeyPath prefix{{Key::of(folder)}};
        if (name != ModelFile)
            prefix.keys.push_back(Key::of(name.substr(0, name.rfind('.'))));
        const auto place = [&prefix](KeyPath &path) {
            path.keys.insert(path.keys.begin(), prefix.keys.begin(), prefix.keys.end());
        };
        for (TensorRef &tensor : part.tensors) {
            place(tensor.path);
            tensor.owner = owner;
            for (Extent &extent : tensor.extents)
                extent.owner = owner;
            builder.addTensor(std::move(tensor));
        }
        for (ValueRef &value : part.values) {
            place(value.path);
            builder.addValue(std::move(value));
        }
        return {};
    }

    /// Every rank writes the model's file, and that of the buffers where others do or `hasBuffers`.
    /// Of any other, such as a copy that someone kept, nobody knows whose it should be.
    static void tellLostFiles(const DirectoryView &view,
                              const std::map<std::string, std::set<std::string>> &folders,
                              bool hasBuffers, CheckpointBuilder &builder)
    {
        std::set<std::string> all{std::string(ModelFile)};
        for (const auto &[folder, files] : folders)
            all.insert(files.begin(), files.end());
        if (hasBuffers)
            all.emplace(BuffersFile);
        for (const auto &[folder, files] : folders) {
            for (const std::string &file : all) {
                if (files.contains(file))
                    continue;
                const std::string place = view.prefix + folder + "/" + file;
                if (file == ModelFile || file == BuffersFile)
                    tellLostPart(
                        {ErrorCode::NotFound, {}, {}, "is not there, but each rank writes it"},
                        place, builder);
                else
                    builder.addDiagnostic({Severity::Note,
                                           "unlike-folders",
                                           place,
                                           {},
                                           "is not there, but in the folder of another rank"});
            }
        }
    }

    /// All ranks of the run, although the folders of some are lost; `numbers`: in a folder's name.
    static void addRanks(const Sizes &sizes, std::size_t numbers, CheckpointBuilder &builder)
    {
        const std::int64_t behind = numbers == 1 ? 1 : sizes.pipeline * sizes.expert;
        for (std::int64_t i = 0; i < sizes.tensor * behind && i < MostRanks; ++i) {
            const std::int64_t tensor = i / behind, next = i % behind;
            std::vector<std::int64_t> place{tensor};
            if (numbers == 2)
                place.push_back(next);
            if (numbers == 3)
                place = {tensor, next / sizes.expert, next % sizes.expert};
            builder.addOwner(ownerOf(place, sizes));
        }
    }

    static void checkRanks(const DirectoryView &view, const Sizes &sizes,
                           const std::map<std::string, std::set<std::string>> &folders,
                           CheckpointBuilder &builder)
    {
        const std::int64_t most = sizes.tensor * sizes.pipeline * sizes.expert;
        const std::int64_t least = sizes.tensor * sizes.pipeline;
        const auto count = std::int64_t(folders.size());
        if (count == most || count == least)
            return;
        addRanks(sizes, parseFolder(folders.begin()->first)->size(), builder);
        builder.addDiagnostic({Severity::Error,
                               "incomplete",
                               view.prefix,
                               {},
                               "the run had " + std::to_string(most)
                                   + " model-parallel ranks, folders of " + std::to_string(count)
                                   + " are here"});
        builder.setIncomplete();
    }
};

} // namespace

const DirectoryLoader &megatronLegacyLoader()
{
    static const MegatronLegacyLoader loader;
    return loader;
}

} // namespace forkpoint
