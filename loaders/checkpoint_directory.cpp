// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/checkpoint_directory.h"

#include "loaders/hdf5/keras_index.h"
#include "loaders/sharded/hf_index.h"
#include "loaders/sharded/part_names.h"
#include "loaders/storage/file_source.h"
#include "loaders/text/json_values.h"

#include <algorithm>
#include <array>
#include <set>

namespace forkpoint {

namespace {

/// More than this in one checkpoint, without an index, is a collection of something else.
constexpr std::size_t MaxParts = 512;

/// Stems under which a directory keeps its model, the first being taken where there are several.
constexpr std::array<std::string_view, 5> ModelStems = {"model", "pytorch_model", "adapter_model",
                                                        "diffusion_pytorch_model", "consolidated"};

std::string stemOf(const std::string &name)
{
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

bool isSafetensors(const std::string &name)
{
    return name.find(".safetensors") != std::string::npos;
}

std::size_t modelRank(const std::string &name)
{
    const auto found = std::find(ModelStems.begin(), ModelStems.end(), stemOf(name));
    return std::size_t(found - ModelStems.begin());
}

/// "model-00001-of-00003.safetensors": the stem before the numbers and how many there should be.
struct ShardName
{
    std::string stem;
    unsigned long count = 0;
};

std::optional<ShardName> parseShardName(const std::string &name)
{
    const std::string stem = stemOf(name);
    const std::size_t of = stem.rfind("-of-");
    if (of == std::string::npos || of + 4 == stem.size() || stem.size() - of - 4 > 9)
        return std::nullopt;
    const std::size_t dash = stem.rfind('-', of - 1);
    const auto isNumber = [&](std::size_t begin, std::size_t end) {
        return begin < end
            && stem.find_first_not_of("0123456789", begin) >= std::min(end, stem.size());
    };
    if (of == 0 || dash == std::string::npos || !isNumber(dash + 1, of)
        || !isNumber(of + 4, stem.size()))
        return std::nullopt;
    return ShardName{stem.substr(0, dash), std::stoul(stem.substr(of + 4))};
}

/// Merges the parts of a directory.
class Assembler
{
public:
    Assembler(const std::filesystem::path &directory, const std::string &prefix,
              const OpenOptions &options, std::stop_token stop)
        : m_directory(directory),
          m_prefix(prefix),
          m_options(options),
          m_stop(std::move(stop))
    {
    }

    Result<LoadedFile> assemble(DirectoryContents contents)
    {
        if (contents.parts.size() > MaxParts && contents.indexes.empty() && !m_options.raw)
            return tooMany(contents.parts.size());
        std::string seen; // what lies there instead
        for (Diagnostic &diagnostic : contents.diagnostics) {
            seen += "; " + diagnostic.text;
            m_builder.addDiagnostic(std::move(diagnostic));
        }
        if (!contents.complete)
            m_builder.setIncomplete();
        if (m_options.raw)
            addRaw(contents.parts);
        else if (!contents.indexes.empty())
            FP_CHECK(addSharded(contents));
        else
            FP_CHECK(addParts(std::move(contents.parts)));
        if (!m_options.raw)
            addFolders(contents.folders);
        if (m_opened == 0)
            return m_firstError.value_or(
                Error{ErrorCode::NotFound, m_prefix, {}, "holds no file with tensors" + seen});
        if (!m_options.raw)
            addValueFiles(contents.jsonFiles);
        return LoadedFile{std::move(m_builder), formatName()};
    }

    Status addIndex(const std::string &name)
    {
        FP_TRY(const auto file, FileSource::openBeneath(m_directory, name, m_prefix + name));
        if (isKerasIndex(*file))
            return addKerasIndex(*file);
        FP_TRY(const HfIndex index, readHfIndex(*file));
        for (const auto &[shard, names] : index.shards)
            m_shards.insert(shard);
        HfSharded sharded =
            openHfSharded(index, m_prefix + name, m_directory, m_prefix, m_options, m_stop);
        m_builder.merge(std::move(sharded.builder), {});
        m_formats.insert(sharded.format.empty() ? "sharded" : sharded.format);
        ++m_opened;
        return {};
    }

    Result<LoadedFile> finish() { return LoadedFile{std::move(m_builder), formatName()}; }

private:
    Status addKerasIndex(const ByteSource &file)
    {
        FP_TRY(const auto shards, readKerasIndex(file));
        m_shards.insert(shards.begin(), shards.end());
        m_builder.merge(openKerasShards(shards, m_directory, m_prefix, m_options, m_stop), {});
        m_formats.insert("hdf5");
        ++m_opened;
        return {};
    }

    Error tooMany(std::size_t count) const
    {
        return {ErrorCode::Limit,
                m_prefix,
                {},
                "may hold at most " + std::to_string(MaxParts)
                    + " files with tensors unless their names carry steps, holds "
                    + std::to_string(count)};
    }

    std::string formatName() const
    {
        std::string result;
        for (const std::string &format : m_formats)
            result += (result.empty() ? "" : ", ") + format;
        return result;
    }

    void note(const std::string &name, std::string text, Severity severity = Severity::Warning)
    {
        m_builder.addDiagnostic({severity, "ignored", m_prefix + name, {}, std::move(text)});
    }

    /// A second candidate for the same checkpoint, which another program may take: a comparison must
    /// not pass by it.
    void leaveOut(const std::string &name, std::string text)
    {
        note(name, std::move(text));
        m_builder.setIncomplete();
    }

    void load(const DirectoryContents::Part &part, const KeyPath &path)
    {
        auto loaded = open(part.name);
        if (!loaded.ok()) {
            m_builder.addDiagnostic(loaded.error(),
                                    part.sure ? Severity::Error : Severity::Warning);
            m_builder.setIncomplete();
            if (!m_firstError)
                m_firstError = loaded.error();
            return;
        }
        if (!path.keys.empty())
            m_names.add(part.name, loaded->builder.catalog());
        nameBareArrays(loaded->builder, path);
        m_builder.merge(std::move(loaded->builder), path);
        m_formats.insert(loaded->format);
        ++m_opened;
    }

    Result<LoadedFile> open(const std::string &name) const
    {
        FP_TRY(auto file, FileSource::openBeneath(m_directory, name, m_prefix + name));
        return loadFile(std::move(file), m_options, m_stop);
    }

    /// An .npy file among parts: the prefix is the only name it has.
    static void nameBareArrays(CheckpointBuilder &part, const KeyPath &path)
    {
        for (TensorRef &tensor : part.mutableCatalog().tensors) {
            if (tensor.path.keys.empty() && !path.keys.empty())
                tensor.name.clear();
        }
    }

    void addRaw(const std::vector<DirectoryContents::Part> &parts)
    {
        for (const auto &part : parts)
            load(part, {{Key::of(part.name)}});
    }

    Status addSharded(const DirectoryContents &contents)
    {
        FP_CHECK(addIndex(contents.indexes.front()));
        for (std::size_t i = 1; i < contents.indexes.size(); ++i)
            note(contents.indexes[i], "another index, not followed: the first was taken");
        for (const auto &part : contents.parts) {
            if (m_shards.count(part.name) > 0)
                continue;
            if (parseShardName(part.name)) {
                note(part.name, "holds tensors, but the index does not name it; not opened");
                continue;
            }
            if (modelRank(part.name) < 2) {
                const std::string taken = "another copy of the model, not opened: '"
                    + contents.indexes.front() + "' was taken";
                if (isSafetensors(part.name) == isSafetensors(contents.indexes.front()))
                    leaveOut(part.name, taken + ", and what loads models may take this one");
                else
                    note(part.name, taken);
                continue;
            }
            m_builder.addDiagnostic({Severity::Note,
                                     "part",
                                     m_prefix + part.name,
                                     {},
                                     "the index does not name it; opened as a part of its own"});
            load(part, prefixOf(part.name));
        }
        return {};
    }

    Status addParts(std::vector<DirectoryContents::Part> parts)
    {
        const std::size_t model = findModel(parts);
        const auto shard = model < parts.size() ? parseShardName(parts[model].name) : std::nullopt;
        std::size_t shards = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto other = parseShardName(parts[i].name);
            const bool sibling = shard && other && other->stem == shard->stem;
            shards += sibling ? 1 : 0;
            if (i == model || sibling)
                load(parts[i], {});
            else if (model < parts.size() && isCopy(parts[i].name, parts[model].name))
                note(parts[i].name,
                     "another copy of the model, not opened: '" + parts[model].name
                         + "' was taken");
            else
                load(parts[i], prefixOf(parts[i].name));
        }
        if (shard)
            describeShardsWithoutIndex(*shard, shards);
        return model < parts.size() ? Status() : checkNames();
    }

    /// No file is the model by its name: their tensors tell whether they are parts of one checkpoint.
    Status checkNames()
    {
        FP_CHECK(m_names.checkOneCheckpoint(m_prefix));
        const std::vector<std::string> overlaps = m_names.overlaps();
        if (overlaps.empty())
            return {};
        m_builder.setIncomplete();
        m_builder.addDiagnostic(
            {Severity::Warning,
             "several-checkpoints",
             m_prefix,
             {},
             "files that share most of their tensors may be checkpoints of their own, which "
             "--raw takes as they are: "
                 + listNames(overlaps)});
        return {};
    }

    /// pytorch_model.bin beside model.safetensors; not model.pdopt beside model.pdparams.
    static bool isCopy(const std::string &name, const std::string &model)
    {
        return modelRank(name) < 2 && modelRank(model) < 2 && modelRank(name) != modelRank(model);
    }

    void describeShardsWithoutIndex(const ShardName &shard, std::size_t present)
    {
        const bool isMissing = present < shard.count; // its tensors' bytes are not read then
        note(shard.stem,
             "shards without an index: " + std::to_string(present) + " of "
                 + std::to_string(shard.count) + " are here",
             isMissing ? Severity::Error : Severity::Warning);
        if (isMissing)
            m_builder.setIncomplete();
    }

    /// The part whose names stay unprefixed: the only one, the best by name, or a set of shards.
    static std::size_t findModel(const std::vector<DirectoryContents::Part> &parts)
    {
        if (parts.size() == 1)
            return 0;
        std::size_t best = parts.size(), bestRank = ModelStems.size();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto shard = parseShardName(parts[i].name);
            const std::size_t rank = modelRank(shard ? shard->stem + "." : parts[i].name);
            if (rank < bestRank) {
                best = i;
                bestRank = rank;
            }
        }
        return best;
    }

    /// The stem; the whole name where another part already has that stem.
    KeyPath prefixOf(const std::string &name)
    {
        const std::string stem = stemOf(name);
        return {{Key::of(m_prefixes.insert(stem).second ? stem : name)}};
    }

    /// Folders that are distributed checkpoints of their own: a Trainer keeps sharded models and
    /// optimizers so, and what DeepSpeed saved.
    void addFolders(const std::vector<std::string> &names)
    {
        for (const std::string &name : names) {
            const std::filesystem::path folder = m_directory / name;
            const std::string prefix = m_prefix + name + "/";
            const auto listing = listDirectory(folder, prefix);
            std::string interrupted;
            const DirectoryLoader *loader =
                listing.ok() ? claimDirectory({folder, prefix, *listing}, interrupted) : nullptr;
            if (loader)
                addFolder(name, loader->load({folder, prefix, *listing}, m_options, m_stop));
        }
    }

    void addFolder(const std::string &name, Result<LoadedFile> loaded)
    {
        if (!loaded.ok()) {
            m_builder.addDiagnostic(loaded.error(), Severity::Error);
            m_builder.setIncomplete();
            return;
        }
        // Their own names say which is which; numbers in names of folders count steps or models.
        const bool hasNames = name.starts_with("pytorch_model") || name.starts_with("optimizer")
            || name.starts_with("model") || name.starts_with("global_step");
        m_builder.merge(std::move(loaded->builder), hasNames ? KeyPath() : prefixOf(name));
        m_formats.insert(loaded->format);
        ++m_opened;
    }

    void addValueFiles(const std::vector<std::string> &names)
    {
        for (const std::string &name : names) {
            const auto file = FileSource::openBeneath(m_directory, name, m_prefix + name);
            const Status status = file.ok()
                ? addJsonValues(**file, {{Key::of(stemOf(name))}}, m_builder)
                : Status(file.error());
            if (!status.ok())
                m_builder.addDiagnostic(status.error(), Severity::Warning);
        }
    }

    const std::filesystem::path &m_directory;
    const std::string &m_prefix;
    const OpenOptions &m_options;
    std::stop_token m_stop;
    CheckpointBuilder m_builder;
    std::set<std::string> m_formats, m_shards, m_prefixes;
    PartNames m_names; ///< of parts that are not the model
    std::size_t m_opened = 0;
    std::optional<Error> m_firstError;
};

} // namespace

Result<LoadedFile> loadDirectory(const std::filesystem::path &directory, const std::string &prefix,
                                 const OpenOptions &options, std::stop_token stop,
                                 const std::vector<std::string> &traced)
{
    FP_TRY(DirectoryContents contents,
           examineDirectory(directory, prefix, options.raw, stop, traced));
    if (contents.loader) {
        FP_TRY(const DirectoryListing listing, listDirectory(directory, prefix));
        return contents.loader->load({directory, prefix, listing}, options, std::move(stop));
    }
    if (!contents.foreign.empty() && contents.indexes.empty() && !options.raw) {
        return Error{ErrorCode::Unsupported,
                     prefix,
                     {},
                     "is " + contents.foreign + ", which this version does not open"};
    }
    return Assembler(directory, prefix, options, stop).assemble(std::move(contents));
}

Result<LoadedFile> loadIndexFile(const std::filesystem::path &directory, const std::string &name,
                                 const std::string &prefix, const OpenOptions &options,
                                 std::stop_token stop)
{
    Assembler assembler(directory, prefix, options, stop);
    FP_CHECK(assembler.addIndex(name));
    return assembler.finish();
}

} // namespace forkpoint
