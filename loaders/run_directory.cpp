// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/run_directory.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/format_probe.h"
#include "loaders/latest_pointer.h"
#include "loaders/step_name.h"
#include "loaders/storage/file_source.h"
#include "loaders/storage/zip_reader.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Entries whose names agree but for their numbers.
struct Group
{
    std::string pattern;
    StepWord word = StepWord::Bare;
    bool isDirectory = false;
    std::vector<SeriesEntry> entries;
};

/// What an entry turned out to be when it was looked at.
struct Look
{
    std::string format;        ///< empty: not recognised
    std::string trouble;       ///< why it is no complete checkpoint
    bool unreadable = false;   ///< something is there and cannot be read; else it is unfinished
    bool emptyFolders = false; ///< nothing but folders, and no tensor was found in them
};

class SeriesPlanner
{
public:
    SeriesPlanner(const std::filesystem::path &directory, const DirectoryListing &listing,
                  const std::string &prefix, const std::stop_token &stop)
        : m_directory(directory),
          m_listing(listing),
          m_prefix(prefix),
          m_stop(stop)
    {
        for (const DirectoryEntry &entry : listing.entries)
            m_names.insert(entry.name);
    }

    std::optional<SeriesPlan> plan()
    {
        group();
        std::vector<Group> groups = ordered();
        const auto chosen = std::find_if(groups.begin(), groups.end(),
                                         [this](const Group &g) { return isPlausible(g); });
        if (chosen == groups.end())
            return std::nullopt;
        m_plan.pattern = chosen->pattern;
        m_plan.entries = std::move(chosen->entries);
        joinRepeatedSteps();
        markIncomplete();
        describeSteps();
        for (Group &group : groups) {
            if (&group != &*chosen)
                describeOther(group);
        }
        describeIgnored();
        return std::move(m_plan);
    }

private:
    void note(Severity severity, std::string_view code, const std::string &name, std::string text)
    {
        m_plan.diagnostics.push_back(
            {severity, std::string(code), m_prefix + name, {}, std::move(text)});
    }

    void group()
    {
        for (const DirectoryEntry &entry : m_listing.entries) {
            if (entry.name.starts_with('.'))
                continue;
            const bool usable = entry.kind == EntryKind::File || entry.kind == EntryKind::LinkToFile
                || entry.kind == EntryKind::Directory;
            if (!usable)
                (entry.kind == EntryKind::Link ? m_links : m_special).push_back(entry.name);
            else if (!addToGroup(entry))
                m_ignored.push_back(entry.name);
        }
    }

    bool addToGroup(const DirectoryEntry &entry)
    {
        const auto finished = finishedName(entry.name);
        const auto name = parseStepName(finished.value_or(entry.name));
        if (!name || (!name->withoutNumber.empty() && m_names.count(name->withoutNumber) > 0))
            return false;
        if (finished && m_names.count(*finished) > 0) {
            m_interrupted["an interrupted save beside the finished one; ignored"].push_back(
                entry.name);
            return true;
        }
        const bool isDirectory = entry.kind == EntryKind::Directory;
        Group &group = m_groups[{name->pattern, isDirectory}];
        group.pattern = name->pattern;
        group.word = name->word;
        group.isDirectory = isDirectory;
        group.entries.push_back({name->step, entry.name, isDirectory, !finished});
        if (finished)
            m_interrupted["its name says that the save was not finished"].push_back(entry.name);
        return true;
    }

    /// Bare numbers are steps where several names agree, and most of their kind do: not in a
    /// collection of files of which two happen to end in numbers. `__0_0.distcp` is a DCP item.
    bool isBareSeries(const Group &group) const
    {
        const fs::path extension = fs::path(group.pattern).extension();
        const auto alike = std::count_if(
            m_listing.entries.begin(), m_listing.entries.end(), [&](const DirectoryEntry &entry) {
                return (entry.kind == EntryKind::Directory) == group.isDirectory
                    && fs::path(entry.name).extension() == extension;
            });
        return group.entries.size() >= 2 && group.entries.size() * 2 >= std::size_t(alike)
            && extension != ".distcp";
    }

    /// The surest first; bare numbers only where several names agree.
    std::vector<Group> ordered()
    {
        std::vector<Group> groups;
        const bool isTrainer = m_names.count("trainer_state.json") > 0;
        for (auto &[key, group] : m_groups) {
            // In a Trainer's own checkpoint, global_step4/ and optimizer_0/ are parts of it.
            const bool isPart = (isTrainer && group.word != StepWord::Checkpoint)
                || (group.word == StepWord::Bare && !isBareSeries(group));
            if (!isPart) {
                groups.push_back(std::move(group));
                continue;
            }
            for (const SeriesEntry &entry : group.entries)
                m_ignored.push_back(entry.name);
        }
        std::stable_sort(groups.begin(), groups.end(), [](const Group &left, const Group &right) {
            if (left.word != right.word)
                return left.word > right.word;
            return left.entries.size() > right.entries.size();
        });
        return groups;
    }

    Look lookAt(const SeriesEntry &entry) const
    {
        return entry.isDirectory ? lookAtDirectory(entry) : lookAtFile(entry);
    }

    Look lookAtFile(const SeriesEntry &entry) const
    {
        const std::string shown = m_prefix + entry.name;
        const auto file = FileSource::openBeneath(m_directory, entry.name, shown);
        if (!file.ok())
            return {{}, file.error().text, true};
        if ((*file)->size() == 0)
            return {{}, "is empty", true};
        const FormatGuess guess = probeFormat(**file);
        if (guess.confidence == Confidence::No)
            return {{}, "begins like no format that is opened", true};
        // A zip's directory is written last: without it the save was cut.
        std::array<std::byte, 4> magic = {};
        const bool isZip =
            (*file)->read(0, magic).ok() && asText(magic) == std::string_view("PK\x03\x04", 4);
        if (isZip && !ZipArchive::open(*file).ok())
            return {std::string(guess.format), "its archive has no end, the file was cut", true};
        return {std::string(guess.format), {}};
    }

    Look lookAtDirectory(const SeriesEntry &entry) const
    {
        const std::string shown = m_prefix + entry.name + "/";
        const auto contents = examineDirectory(m_directory / entry.name, shown, false, m_stop);
        if (!contents.ok())
            return {{}, contents.error().text, true};
        Look look;
        look.format = contents->format();
        look.trouble = contents->interrupted;
        const bool hasFolders =
            std::any_of(contents->diagnostics.begin(), contents->diagnostics.end(),
                        [](const Diagnostic &d) { return d.text.starts_with("folders"); });
        if (look.format.empty() && contents->indexes.empty() && look.trouble.empty())
            look.trouble = hasFolders ? "holds folders only" : "holds no file with tensors";
        const bool hasTensors = !contents->indexes.empty()
            || std::any_of(contents->diagnostics.begin(), contents->diagnostics.end(),
                           [](const Diagnostic &d) { return d.code == "folder"; });
        look.emptyFolders = look.format.empty() && hasFolders && !hasTensors;
        if (look.format.empty() && (hasFolders || !contents->indexes.empty()))
            look.format = "directories";
        return look;
    }

    /// Some entry of the group, the first, middle or last, must be something that can be opened.
    bool isPlausible(const Group &group) const
    {
        const std::size_t count = group.entries.size();
        for (const std::size_t i : {std::size_t(0), count / 2, count - 1}) {
            if (!lookAt(group.entries[i]).format.empty())
                return true;
        }
        return false;
    }

    /// step_4.pt beside step_000004.pt: one of them where the others are no whole checkpoints.
    void joinRepeatedSteps()
    {
        auto &entries = m_plan.entries;
        std::stable_sort(entries.begin(), entries.end(), [](const auto &left, const auto &right) {
            return left.step < right.step;
        });
        std::vector<SeriesEntry> joined;
        for (auto first = entries.begin(); first != entries.end();) {
            const auto end = std::find_if(first, entries.end(), [&](const SeriesEntry &entry) {
                return entry.step != first->step;
            });
            joined.push_back(end - first == 1 ? std::move(*first) : oneOf(first, end));
            first = end;
        }
        entries = std::move(joined);
    }

    /// The first whole entry of a step, with the other whole ones as its rivals.
    SeriesEntry oneOf(std::vector<SeriesEntry>::iterator first,
                      std::vector<SeriesEntry>::iterator end)
    {
        for (auto entry = first; entry != end; ++entry)
            markTrouble(*entry);
        std::stable_sort(first, end, [](const auto &left, const auto &right) {
            return left.complete > right.complete;
        });
        SeriesEntry taken = std::move(*first);
        for (auto entry = std::next(first); entry != end; ++entry) {
            (entry->complete ? m_repeated : m_passedOver).push_back(entry->name);
            if (entry->complete)
                taken.rivals.push_back(std::move(entry->name));
        }
        return taken;
    }

    /// Looks at an entry whose name says nothing against it; false if something else does.
    bool markTrouble(SeriesEntry &entry)
    {
        if (!entry.complete || m_stop.stop_requested())
            return false;
        const Look look = lookAt(entry);
        if (look.trouble.empty() || look.trouble == "holds folders only") {
            m_plan.format = look.format;
            return true;
        }
        entry.complete = false;
        if (look.unreadable)
            entry.unreadable = look.trouble;
        (look.unreadable ? m_unreadable : m_incomplete)[look.trouble].push_back(entry.name);
        return false;
    }

    void markIncomplete()
    {
        for (auto entry = m_plan.entries.rbegin(); entry != m_plan.entries.rend(); ++entry) {
            if (m_stop.stop_requested() || markTrouble(*entry))
                return;
        }
    }

    /// The first few of a kind by name, then how many more there are.
    void describe(Severity severity, std::string_view code, const std::vector<std::string> &names,
                  const std::string &text)
    {
        constexpr std::size_t Shown = 5;
        for (std::size_t i = 0; i < std::min(names.size(), Shown); ++i)
            note(severity, code, names[i], text);
        if (names.size() > Shown)
            note(severity, code, {},
                 std::to_string(names.size() - Shown) + " more like '" + names.front()
                     + "': " + text);
    }

    void describeSteps()
    {
        for (const auto &[trouble, names] : m_incomplete)
            describe(Severity::Warning, "incomplete", names, trouble);
        for (const auto &[trouble, names] : m_unreadable)
            describe(Severity::Error, "unreadable-step", names, trouble);
        for (const auto &[text, names] : m_interrupted)
            describe(Severity::Warning, "interrupted-save", names, text);
        describe(Severity::Warning, "repeated-step", m_passedOver,
                 "another entry has the same step and was taken");
        describe(Severity::Warning, "repeated-step", m_repeated,
                 "another entry has the same step; it opens only where their bytes are equal");
    }

    void describeOther(const Group &group)
    {
        std::vector<std::string> names;
        for (const SeriesEntry &entry : group.entries)
            names.push_back(entry.name);
        const bool holdsTensors = isPlausible(group);
        m_plan.complete = m_plan.complete && !holdsTensors;
        note(holdsTensors ? Severity::Warning : Severity::Note, "ignored", {},
             "the series is '" + m_plan.pattern + "', not a part of it: " + listNames(names));
    }

    /// Whether an entry outside the series holds tensors: it is not compared then.
    bool holdsTensors(const std::string &name) const
    {
        const auto &entries = m_listing.entries; // sorted by name
        const auto entry =
            std::lower_bound(entries.begin(), entries.end(), name,
                             [](const DirectoryEntry &each, const std::string &wanted) {
                                 return each.name < wanted;
                             });
        const bool isDirectory =
            entry != entries.end() && entry->name == name && entry->kind == EntryKind::Directory;
        const Look look = lookAt({0, name, isDirectory, true});
        return !look.format.empty() && !look.emptyFolders;
    }

    void describeIgnored()
    {
        std::erase_if(m_ignored, [](const std::string &name) {
            return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".csv");
        });
        m_plan.complete = m_plan.complete && m_links.empty() && m_special.empty()
            && std::none_of(m_ignored.begin(), m_ignored.end(),
                            [this](const std::string &name) { return holdsTensors(name); });
        // What these say of the series is told where it is wrong (loaders/latest_pointer.h).
        std::erase_if(m_ignored, [this](const std::string &name) {
            return isLatestPointer(name) && !holdsTensors(name);
        });
        if (!m_links.empty())
            note(Severity::Warning, "link", {},
                 "symbolic links to anything but a file in here are not followed: "
                     + listNames(m_links));
        if (!m_special.empty())
            note(Severity::Warning, "special-file", {},
                 "no regular files, not opened: " + listNames(m_special));
        if (!m_ignored.empty())
            note(Severity::Note, "ignored", {},
                 "the series is '" + m_plan.pattern
                     + "', not a part of it: " + listNames(m_ignored));
    }

    const std::filesystem::path &m_directory;
    const DirectoryListing &m_listing;
    const std::string &m_prefix;
    const std::stop_token &m_stop;
    std::set<std::string, std::less<>> m_names;
    std::map<std::pair<std::string, bool>, Group> m_groups;
    std::vector<std::string> m_links, m_special, m_ignored, m_repeated, m_passedOver;
    /// By reason.
    std::map<std::string, std::vector<std::string>> m_incomplete, m_unreadable, m_interrupted;
    SeriesPlan m_plan;
};

} // namespace

std::optional<SeriesPlan> planSeries(const std::filesystem::path &directory,
                                     const DirectoryListing &listing, const std::string &prefix,
                                     const std::stop_token &stop)
{
    return SeriesPlanner(directory, listing, prefix, stop).plan();
}

} // namespace forkpoint
