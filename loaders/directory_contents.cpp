// SPDX-License-Identifier: GPL-3.0-or-later
// What a directory holds that could make it one checkpoint.
#include "loaders/checkpoint_directory.h"
#include "loaders/format_probe.h"
#include "loaders/metrics/metrics_files.h"
#include "loaders/sharded/hf_index.h"
#include "loaders/storage/file_source.h"

#include <algorithm>
#include <array>
#include <set>

namespace forkpoint {

namespace {

/// Folders of a checkpoint are looked into this deep for tensors: "unet/", "runs/DATE/".
constexpr int FolderLevels = 2;

constexpr std::array<std::string_view, 5> ValueFiles = {
    "config.json", "generation_config.json", "trainer_state.json", "params.json", "args.json"};

/// Files that say that a directory is a checkpoint of a kind which is not opened yet.
struct Marker
{
    std::string_view name;
    std::string_view what;
};
constexpr std::array<Marker, 8> Markers = {{
    {"manifest.ocdbt", "an Orbax checkpoint"},
    {"_METADATA", "an Orbax checkpoint"},
    {"_CHECKPOINT_METADATA", "an Orbax checkpoint"},
    {"orbax.checkpoint", "an Orbax checkpoint"},
    {"zarr.json", "a zarr store"},
    {".zarray", "a zarr store"},
    {".zgroup", "a zarr store"},
    {"saved_model.pb", "a TensorFlow SavedModel"},
}};

bool isTensorExtension(const std::string &name)
{
    constexpr std::array<std::string_view, 8> Extensions = {".safetensors", ".pt",  ".pth", ".bin",
                                                            ".ckpt",        ".npz", ".npy", ".pkl"};
    return std::any_of(Extensions.begin(), Extensions.end(),
                       [&](std::string_view extension) { return name.ends_with(extension); });
}

/// Sorts the entries of a listing into a DirectoryContents.
class Examiner
{
public:
    /// `folderLevels`: how deep folders are looked into for tensors.
    Examiner(const std::filesystem::path &directory, const std::string &prefix, int folderLevels)
        : m_directory(directory),
          m_prefix(prefix),
          m_folderLevels(folderLevels)
    {
    }

    /// What was read as a trace is not left out, though it is no part of the checkpoint.
    void sayNothingOf(const std::vector<std::string> &traced)
    {
        m_traced.insert(traced.begin(), traced.end());
    }

    Status examine(const DirectoryListing &listing, bool raw, const std::stop_token &stop)
    {
        if (!listing.complete)
            leaveOut(toString(ErrorCode::Limit), "holds more entries than are looked at");
        if (!raw) {
            m_contents.loader =
                claimDirectory({m_directory, m_prefix, listing}, m_contents.interrupted);
        }
        if (m_contents.loader) // its files are its own business
            return {};
        lookForMarkers(listing);
        for (const DirectoryEntry &entry : listing.entries) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_prefix, {}, "cancelled"};
            add(entry);
        }
        std::stable_sort(m_contents.indexes.begin(), m_contents.indexes.end(), preferIndex);
        FP_CHECK(sortFolders(stop));
        describeSkipped();
        if (listing.entries.empty())
            m_contents.interrupted = "is empty";
        return {};
    }

    DirectoryContents take() { return std::move(m_contents); }

private:
    /// safetensors before pickles; plain names before variants ("model.safetensors.index.fp16.json").
    static bool preferIndex(const std::string &left, const std::string &right)
    {
        const auto rank = [](const std::string &name) {
            return (name.find("safetensors") == std::string::npos ? 2 : 0)
                + (name.ends_with(".index.json") ? 0 : 1);
        };
        return rank(left) < rank(right);
    }

    void warn(std::string_view code, std::string text, Severity severity = Severity::Warning)
    {
        m_contents.diagnostics.push_back(
            {severity, std::string(code), directoryName(), {}, std::move(text)});
    }

    /// Something that may hold state is not opened: whoever compares must know.
    void leaveOut(std::string_view code, std::string text)
    {
        m_contents.complete = false;
        warn(code, std::move(text));
    }

    std::string directoryName() const
    {
        return m_prefix.empty() ? std::string() : m_prefix.substr(0, m_prefix.size() - 1);
    }

    void lookForMarkers(const DirectoryListing &listing)
    {
        for (const DirectoryEntry &entry : listing.entries) {
            for (const Marker &marker : Markers) {
                if (entry.name == marker.name && m_contents.foreign.empty())
                    m_contents.foreign = marker.what;
            }
        }
    }

    void add(const DirectoryEntry &entry)
    {
        switch (entry.kind) {
        case EntryKind::Directory: m_folders.push_back(entry.name); return;
        case EntryKind::Link: m_links.push_back(entry.name); return;
        case EntryKind::Special: m_special.push_back(entry.name); return;
        case EntryKind::File:
        case EntryKind::LinkToFile: break;
        }
        if (!entry.name.starts_with('.') && !isMetricsName(entry.name))
            addFile(entry.name);
    }

    void addFile(const std::string &name)
    {
        const auto file = FileSource::openBeneath(m_directory, name, m_prefix + name);
        if (!file.ok()) {
            m_contents.diagnostics.push_back(toDiagnostic(file.error(), Severity::Warning));
            m_contents.complete = false;
            return;
        }
        if (name.ends_with(".json")) {
            addJson(name, **file);
            return;
        }
        const FormatGuess guess = probeFormat(**file);
        if (guess.confidence != Confidence::No) {
            m_contents.parts.push_back(
                {name, std::string(guess.format), guess.confidence == Confidence::Yes});
        } else {
            (isTensorExtension(name) ? m_suspicious : m_others).push_back(name);
        }
    }

    void addJson(const std::string &name, const ByteSource &file)
    {
        const bool isKnown =
            std::find(ValueFiles.begin(), ValueFiles.end(), name) != ValueFiles.end();
        const bool isIndexName =
            name.find("index") != std::string::npos || name.ends_with(".weights.json");
        if (isIndexName && isHfIndex(file))
            m_contents.indexes.push_back(name);
        else if (isKnown)
            m_contents.jsonFiles.push_back(name);
        else
            m_others.push_back(name);
    }

    /// The folders that hold tensors, and the others, which are no part of a checkpoint.
    Status sortFolders(const std::stop_token &stop)
    {
        std::vector<std::string> plain;
        const bool isCheckpoint = !m_contents.parts.empty() || !m_contents.indexes.empty();
        for (std::string &name : m_folders) {
            if (const DirectoryLoader *loader = isCheckpoint ? loaderOf(name) : nullptr) {
                // Shards of ranks beside whole files are the same model a second time.
                const bool isCopy = loader->name() == "safetensors-shards";
                (isCopy ? plain : m_contents.folders).push_back(std::move(name));
                continue;
            }
            bool holdsTensors = m_folderLevels > 0 && !name.starts_with('.');
            if (holdsTensors) {
                FP_TRY(holdsTensors, folderHoldsTensors(name, stop));
            }
            (holdsTensors ? m_tensorFolders : plain).push_back(std::move(name));
        }
        m_folders = std::move(plain);
        return {};
    }

    /// Whose a folder as a whole is: a distributed checkpoint beside files is a part of theirs.
    const DirectoryLoader *loaderOf(const std::string &name) const
    {
        const std::string prefix = m_prefix + name + "/";
        const std::filesystem::path folder = m_directory / name;
        const auto listing = listDirectory(folder, prefix);
        std::string interrupted;
        return listing.ok() ? claimDirectory({folder, prefix, *listing}, interrupted) : nullptr;
    }

    Result<bool> folderHoldsTensors(const std::string &name, const std::stop_token &stop) const
    {
        const std::string prefix = m_prefix + name + "/";
        const std::filesystem::path folder = m_directory / name;
        const auto listing = listDirectory(folder, prefix);
        if (!listing.ok())
            return true; // who knows
        Examiner examiner(folder, prefix, m_folderLevels - 1);
        FP_CHECK(examiner.examine(*listing, false, stop));
        const DirectoryContents contents = examiner.take();
        return contents.hasCheckpoint() || !contents.foreign.empty()
            || !examiner.m_tensorFolders.empty();
    }

    void describeSkipped()
    {
        if (!m_links.empty())
            leaveOut("link",
                     "symbolic links to anything but a file in here are not followed: "
                         + listNames(m_links));
        if (!m_special.empty())
            leaveOut("special-file", "no regular files, not opened: " + listNames(m_special));
        if (!m_suspicious.empty())
            leaveOut("unrecognised",
                     "begin like no format that is opened: " + listNames(m_suspicious));
        if (!m_tensorFolders.empty())
            leaveOut("folder", "folders with tensors, not opened: " + listNames(m_tensorFolders));
        std::erase_if(m_others,
                      [&](const std::string &name) { return m_traced.count(m_prefix + name) > 0; });
        if (!m_others.empty())
            warn("ignored", "not opened: " + listNames(m_others), Severity::Note);
        if (!m_folders.empty())
            warn("ignored", "folders, not looked into: " + listNames(m_folders), Severity::Note);
    }

    const std::filesystem::path &m_directory;
    const std::string &m_prefix;
    const int m_folderLevels;
    DirectoryContents m_contents;
    std::vector<std::string> m_links, m_special, m_suspicious, m_others, m_folders, m_tensorFolders;
    std::set<std::string> m_traced;
};

} // namespace

std::string listNames(const std::vector<std::string> &names)
{
    constexpr std::size_t Shown = 5;
    std::string result;
    for (std::size_t i = 0; i < std::min(names.size(), Shown); ++i)
        result += (i == 0 ? "" : ", ") + escapeInvalidUtf8(names[i]);
    if (names.size() > Shown)
        result += " and " + std::to_string(names.size() - Shown) + " more";
    return result;
}

std::string DirectoryContents::format() const
{
    if (loader)
        return std::string(loader->name());
    if (!indexes.empty())
        return "sharded";
    return parts.empty() ? foreign : parts.front().format;
}

Result<DirectoryContents> examineDirectory(const std::filesystem::path &directory,
                                           const std::string &prefix, bool raw,
                                           std::stop_token stop,
                                           const std::vector<std::string> &traced)
{
    FP_TRY(const DirectoryListing listing, listDirectory(directory, prefix));
    Examiner examiner(directory, prefix, FolderLevels);
    examiner.sayNothingOf(traced);
    FP_CHECK(examiner.examine(listing, raw, stop));
    return examiner.take();
}

} // namespace forkpoint
