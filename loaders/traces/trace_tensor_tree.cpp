// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_tensor_tree.h"

#include "loaders/loader.h"
#include "loaders/step_name.h"
#include "loaders/storage/file_source.h"
#include "loaders/storage/platform_directory.h"
#include "loaders/traces/trace_payload.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace forkpoint {

namespace {

/// Tensors that a rank's folder must have: fewer are parts of a checkpoint, such as the state of a
/// generator or two.
constexpr std::size_t FewestTensors = 3;
/// Entries of a folder that are looked at.
constexpr std::size_t FolderEntries = 256;
/// Files of that folder that are opened where the one at hand is damaged.
constexpr std::size_t FilesAsked = 8;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool isWhole = !text.empty() && isDigit(text[0]) && error == std::errc() && stop == end;
    return isWhole ? std::optional(value) : std::nullopt;
}

/// "step_12", "iter0000012" or "12"; a folder that is called a checkpoint is one.
std::optional<std::int64_t> stepOf(std::string_view folder)
{
    if (const auto bare = wholeNumber(folder))
        return bare;
    const auto name = parseStepName(folder);
    return name && name->word == StepWord::Iteration ? std::optional(name->step) : std::nullopt;
}

/// "rank3", "rank_3", "rank-3" or "rank=3".
std::optional<std::int64_t> rankOf(std::string_view folder)
{
    constexpr std::string_view Word = "rank";
    if (!folder.starts_with(Word))
        return std::nullopt;
    folder.remove_prefix(Word.size());
    if (!folder.empty() && !isDigit(folder[0]))
        folder.remove_prefix(1);
    return wholeNumber(folder);
}

/// The name without the ending of a tensor file; nothing for other files.
std::optional<std::string_view> stemOf(std::string_view file)
{
    for (const std::string_view ending : {".pt", ".npy", ".safetensors"}) {
        if (file.size() > ending.size() && file.ends_with(ending))
            return file.substr(0, file.size() - ending.size());
    }
    return std::nullopt;
}

struct TreePlace
{
    std::int64_t step = 0, rank = 0;
    std::string_view stem;       ///< of the file
    std::string_view rankFolder; ///< relative
    std::string_view stepFolder; ///< likewise
};

std::optional<TreePlace> placeOf(std::string_view name)
{
    TreePlace place;
    const std::size_t file = name.rfind('/');
    if (file == std::string_view::npos)
        return std::nullopt;
    place.rankFolder = name.substr(0, file);
    const std::size_t rank = place.rankFolder.rfind('/');
    if (rank == std::string_view::npos)
        return std::nullopt;
    place.stepFolder = place.rankFolder.substr(0, rank);
    const auto stem = stemOf(name.substr(file + 1));
    const auto number = rankOf(place.rankFolder.substr(rank + 1));
    const auto step = stepOf(place.stepFolder.substr(place.stepFolder.rfind('/') + 1));
    if (!stem || !number || !step)
        return std::nullopt;
    place.stem = *stem;
    place.rank = *number;
    place.step = *step;
    return place;
}

/// Files of tensors that lie in a folder itself, as far as it is looked at.
std::vector<std::string> listTensorFiles(const std::filesystem::path &directory,
                                         std::string_view folder)
{
    std::vector<std::string> names;
    const auto listing = listDirectory(directory / folder, std::string(folder), FolderEntries);
    if (!listing.ok())
        return names;
    for (const DirectoryEntry &entry : listing->entries) {
        if (entry.kind == EntryKind::File && stemOf(entry.name))
            names.push_back(std::string(folder) + '/' + entry.name);
    }
    return names;
}

enum class Holds { OneTensor, Other, Unreadable };

Holds contentOf(const TraceFile &file, const std::string &name)
{
    auto source = FileSource::openBeneath(file.directory, name, name);
    if (!source.ok())
        return Holds::Unreadable;
    auto loaded = loadFile(std::move(source).value(), {}, file.stop);
    if (!loaded.ok())
        return Holds::Unreadable;
    const bool isOne = loaded->builder.build(loaded->format)->catalog().tensors.size() == 1;
    return isOne ? Holds::OneTensor : Holds::Other;
}

/// Whether a file is one of a tree's. A damaged one is, among others that are: it is missed then.
bool isTreeFile(const TraceFile &file, const std::vector<std::string> &siblings)
{
    const Holds own = contentOf(file, file.name);
    if (own != Holds::Unreadable)
        return own == Holds::OneTensor;
    return std::any_of(
        siblings.begin(), siblings.begin() + std::ptrdiff_t(std::min(siblings.size(), FilesAsked)),
        [&](const std::string &name) { return contentOf(file, name) == Holds::OneTensor; });
}

/// Words of a name: "forward.layers.0_mb1" has four.
std::vector<std::string_view> wordsOf(std::string_view name)
{
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("._-"), name.size());
        if (end > 0)
            words.push_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return words;
}

/// The stage that a word of the name is; a gradient of a weight is a gradient.
std::string stageOf(const std::vector<std::string_view> &words)
{
    std::string first;
    for (const std::string_view word : words) {
        std::string stage = stageByWord(word);
        if (stage == "grad")
            return stage;
        if (first.empty() && causalPlace(stage) <= causalPlace("weight"))
            first = std::move(stage);
    }
    return first;
}

std::optional<std::int64_t> microBatchOf(const std::vector<std::string_view> &words)
{
    for (const std::string_view word : words) {
        for (const std::string_view prefix : {"microbatch", "mb"}) {
            if (!word.starts_with(prefix))
                continue;
            if (const auto number = wholeNumber(word.substr(prefix.size())))
                return number;
        }
    }
    return std::nullopt;
}

class FileReader final : public TraceReader
{
public:
    explicit FileReader(const TraceFile &file) : m_file(file) {}

    Result<std::optional<TraceRecord>> next() override
    {
        const auto place = placeOf(m_file.name);
        if (m_ended || !place)
            return std::optional<TraceRecord>();
        m_ended = true;
        m_coordinate.rank = place->rank;
        TraceRecord record;
        record.place = {m_file.index, 0, 0, m_file.source->size()};
        record.iteration = place->step;
        record.role = RecordRole::Tensor;
        record.name = place->stem;
        takeNumber(record);
        const std::vector<std::string_view> words = wordsOf(record.key);
        record.stage = stageOf(words);
        record.microBatch = microBatchOf(words);
        auto observation = observePayload(m_file, m_file.name, {});
        if (!observation.ok()) {
            if (observation.error().code == ErrorCode::Cancelled)
                return observation.error();
            addProblem(record.place, "no-payload", observation.error().message());
            return std::optional<TraceRecord>();
        }
        record.outputs.push_back(std::move(observation).value());
        return std::optional(std::move(record));
    }

private:
    /// "0012_loss" is the twelfth: a number in front is the order of execution, and no part of what
    /// the tensor is.
    void takeNumber(TraceRecord &record)
    {
        const std::size_t end = record.name.find_first_not_of("0123456789");
        record.key = record.name;
        if (end != 0 && end != std::string::npos && end + 1 < record.name.size()
            && (record.name[end] == '_' || record.name[end] == '-' || record.name[end] == '.')) {
            record.sequence = std::uint64_t(
                wholeNumber(std::string_view(record.name).substr(0, end)).value_or(0));
            record.key = record.name.substr(end + 1);
            return;
        }
        record.isPlaced = false;
        if (m_file.index == 0) {
            addNote(record.place, "no-order",
                    "names without a number in front (0007_loss.npy) do not tell the order of "
                    "execution: within a step the stages that names tell decide, and of records of "
                    "one stage or of none no order is known");
        }
    }

    TraceFile m_file;
    bool m_ended = false;
};

class TensorTree final : public TraceDialect
{
public:
    std::string_view name() const override { return "tensor-tree"; }
    std::string_view description() const override
    {
        return "folders of tensors, step/rank/name.{pt,npy,safetensors}, one tensor a file";
    }
    bool claimsBinary(std::string_view fileName) const override
    {
        return placeOf(fileName).has_value();
    }
    /// Many files of one tensor each, and none beside the folders of the ranks: anything else under
    /// such names is a checkpoint of many ranks.
    Confidence probe(const TraceFile &file, std::string_view) const override
    {
        const auto place = placeOf(file.name);
        TreeFolders own;
        TreeFolders &folders = file.treeFolders ? *file.treeFolders : own;
        if (!place || !folders.ofStep(file.directory, place->stepFolder).empty())
            return Confidence::No;
        const auto &siblings = folders.ofRank(file.directory, place->rankFolder);
        return siblings.size() >= FewestTensors && isTreeFile(file, siblings) ? Confidence::Yes
                                                                              : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<FileReader>(file));
    }
};

} // namespace

const std::vector<std::string> &
TreeFolders::take(Listed &last, const std::filesystem::path &directory, std::string_view folder)
{
    if (!last.isThere || last.folder != folder)
        last = {true, std::string(folder), listTensorFiles(directory, folder)};
    return last.files;
}

const TraceDialect &tensorTreeDialect()
{
    static const TensorTree dialect;
    return dialect;
}

} // namespace forkpoint
