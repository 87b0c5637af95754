// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/hf_index.h"

#include "loaders/limits.h"
#include "loaders/storage/file_source.h"
#include "loaders/text/json.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace forkpoint {

namespace {

std::string inQuotes(const std::string &name)
{
    return "'" + escapeInvalidUtf8(name) + "'";
}

Error malformed(const ByteSource &source, std::string place, std::string text)
{
    return {ErrorCode::Malformed, source.name(), std::move(place), std::move(text)};
}

/// Shards by tensor name; a name that comes twice is told, and its last shard counts, as it does
/// for json.load.
Result<std::map<std::string, std::string>>
readWeightMap(const JsonValue &map, const ByteSource &source, Diagnostics &diagnostics)
{
    if (!map.isObject()) {
        return malformed(source, "weight_map",
                         "must be an object of shard names by tensor name, is "
                             + std::string(map.kindName()));
    }
    std::map<std::string, std::string> shardOf;
    for (const JsonValue &member : map.children()) {
        std::string tensor(member.key());
        if (member.kind() != JsonValue::Kind::Text) {
            return malformed(source, "weight_map " + inQuotes(tensor),
                             "must be the name of a shard, is " + std::string(member.kindName()));
        }
        std::string shard(member.text().value_or(""));
        const auto [at, isNew] = shardOf.try_emplace(std::move(tensor), shard);
        if (isNew || at->second == shard)
            continue;
        at->second = std::move(shard);
        diagnostics.push_back({Severity::Warning, "repeated-name", source.name(),
                               "weight_map " + inQuotes(at->first),
                               "is named twice with different shards; the last counts"});
    }
    return shardOf;
}

std::optional<std::uint64_t> totalSize(const JsonValue &metadata)
{
    const auto size = metadata.find("total_size");
    if (!size)
        return std::nullopt;
    // Some writers sum in floats: 4096.0.
    const double real = size->real().value_or(-1);
    if (real >= 0 && real < 9007199254740992.0)
        return std::uint64_t(real);
    return size->unsignedInteger();
}

/// One shard's part of the work.
class ShardOpener
{
public:
    ShardOpener(const HfIndex &index, const std::string &indexName,
                const std::filesystem::path &directory, const std::string &prefix,
                const OpenOptions &options, std::stop_token stop)
        : m_index(index),
          m_indexName(indexName),
          m_directory(directory),
          m_prefix(prefix),
          m_options(options),
          m_stop(std::move(stop))
    {
        for (const auto &[shard, names] : m_index.shards) {
            for (const std::string &name : names)
                m_shardOf.emplace(name, &shard);
        }
    }

    HfSharded openAll()
    {
        for (const auto &[shard, names] : m_index.shards)
            openShard(shard, names);
        checkTotalSize();
        for (const std::string &format : m_formats)
            m_result.format += (m_result.format.empty() ? "" : ", ") + format;
        return std::move(m_result);
    }

private:
    void openShard(const std::string &shard, const std::vector<std::string> &names)
    {
        auto loaded = load(shard);
        if (!loaded.ok()) {
            listUnreadable(shard, names, loaded.error());
            return;
        }
        m_formats.insert(loaded->format);
        dropRepeatedValues(loaded->builder);
        const auto missing = checkTensors(shard, names, loaded->builder);
        m_result.builder.merge(std::move(loaded->builder), {});
        if (!missing.empty()) {
            listUnreadable(shard, missing,
                           Error{ErrorCode::Mismatch,
                                 m_prefix + shard,
                                 {},
                                 "does not hold what the index says it holds"});
        }
    }

    Result<LoadedFile> load(const std::string &shard) const
    {
        if (m_stop.stop_requested())
            return Error{ErrorCode::Cancelled, m_prefix + shard, {}, "cancelled"};
        if (const auto why = whyNoShardName(shard))
            return Error{ErrorCode::Refused, m_indexName, "shard " + inQuotes(shard), *why};
        FP_TRY(auto source, FileSource::openBeneath(m_directory, shard, m_prefix + shard));
        return loadFile(std::move(source), m_options, m_stop);
    }

    /// The names stay visible; one diagnostic a shard, not one a tensor.
    void listUnreadable(const std::string &shard, const std::vector<std::string> &names,
                        const Error &why)
    {
        Diagnostic diagnostic = toDiagnostic(why, Severity::Error);
        diagnostic.text += "; not readable: " + inQuotes(names.front());
        if (names.size() > 1)
            diagnostic.text += " and " + std::to_string(names.size() - 1) + " more tensors";
        m_result.builder.addDiagnostic(std::move(diagnostic));
        m_result.builder.setIncomplete();
        for (const std::string &name : names) {
            TensorRef tensor;
            tensor.path.keys.push_back(Key::of(name));
            tensor.dtype = opaqueDType(1);
            tensor.shape = Shape{{0}};
            tensor.layoutKnown = false;
            tensor.files.push_back(m_prefix + shard);
            tensor.unreadable = why;
            m_result.builder.addTensor(std::move(tensor));
        }
    }

    /// Removes tensors that the index places elsewhere, warns of tensors that it does not name, and
    /// returns the names that are not there.
    std::vector<std::string> checkTensors(const std::string &shard,
                                          const std::vector<std::string> &names,
                                          CheckpointBuilder &part)
    {
        std::set<std::string> missing(names.begin(), names.end());
        std::vector<std::string> elsewhere, unnamed;
        std::erase_if(part.mutableCatalog().tensors, [&](const TensorRef &tensor) {
            const std::string name = tensor.path.toString();
            missing.erase(name);
            const auto owner = m_shardOf.find(name);
            const bool isElsewhere = owner != m_shardOf.end() && *owner->second != shard;
            if (isElsewhere)
                elsewhere.push_back(name);
            if (owner == m_shardOf.end())
                unnamed.push_back(name);
            return isElsewhere;
        });
        warn(shard, elsewhere, "holds tensors that the index places in other shards; left out");
        warn(shard, unnamed, "holds tensors that the index does not name");
        return {missing.begin(), missing.end()};
    }

    void warn(const std::string &shard, const std::vector<std::string> &names,
              const std::string &text)
    {
        if (names.empty())
            return;
        std::string list = inQuotes(names.front());
        if (names.size() > 1)
            list += " and " + std::to_string(names.size() - 1) + " more";
        m_result.builder.addDiagnostic({Severity::Warning,
                                        std::string(toString(ErrorCode::Mismatch)),
                                        m_prefix + shard,
                                        {},
                                        text + ": " + list});
    }

    /// Every shard repeats the metadata of its format; equal ones are listed once.
    void dropRepeatedValues(CheckpointBuilder &part)
    {
        std::erase_if(part.mutableCatalog().values, [this](const ValueRef &value) {
            const auto [known, isNew] = m_values.try_emplace(value.path, value.value);
            return !isNew && known->second.identicalTo(value.value);
        });
    }

    void checkTotalSize()
    {
        if (!m_index.totalSize || !m_result.builder.catalog().complete)
            return;
        std::uint64_t sum = 0;
        for (const TensorRef &tensor : m_result.builder.catalog().tensors) {
            const auto positions = tensor.shape.count();
            const auto bits =
                checkedMul(positions.value_or(0), tensor.dtype.positionBits()).value_or(0);
            sum += bits / 8;
        }
        if (sum == *m_index.totalSize)
            return;
        m_result.builder.addDiagnostic({Severity::Note, std::string(toString(ErrorCode::Mismatch)),
                                        m_indexName, "metadata.total_size",
                                        "says " + std::to_string(*m_index.totalSize)
                                            + " bytes, the tensors have " + std::to_string(sum)});
    }

    const HfIndex &m_index;
    const std::string &m_indexName;
    const std::filesystem::path &m_directory;
    const std::string &m_prefix;
    const OpenOptions &m_options;
    std::stop_token m_stop;
    std::unordered_map<std::string, const std::string *> m_shardOf;
    std::set<std::string> m_formats;
    std::map<KeyPath, Value> m_values; ///< the first of each path
    HfSharded m_result;
};

} // namespace

bool isHfIndex(const ByteSource &source)
{
    const std::uint64_t head = std::min<std::uint64_t>(source.size(), limits::ProbeBytes);
    auto bytes = readAll(source, 0, head, limits::ProbeBytes);
    if (!bytes.ok())
        return false;
    const std::size_t first = asText(*bytes).find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || asText(*bytes)[first] != '{')
        return false;
    constexpr std::string_view Member = "\"weight_map\"";
    if (asText(*bytes).find(Member) != std::string_view::npos || head == source.size())
        return asText(*bytes).find(Member) != std::string_view::npos;
    const auto whole = readAll(source, 0, source.size(), limits::JsonBytes);
    return whole.ok() && asText(*whole).find(Member) != std::string_view::npos;
}

Result<HfIndex> readHfIndex(const ByteSource &source)
{
    FP_TRY(const auto bytes, readAll(source, 0, source.size(), limits::JsonBytes));
    auto document = JsonDocument::parse(asText(bytes), RepeatedKeys::Keep);
    if (!document.ok())
        return std::move(document).error().inFile(source.name());
    const JsonValue root = document->root();
    if (!root.isObject()) {
        return malformed(source, {}, "must be a JSON object, is " + std::string(root.kindName()));
    }
    const auto map = root.find("weight_map");
    if (!map)
        return malformed(source, {}, "must have a weight_map");
    HfIndex index;
    FP_TRY(const auto shardOf, readWeightMap(*map, source, index.diagnostics));
    const std::string own = std::filesystem::path(source.name()).filename().string();
    for (const auto &[tensor, shard] : shardOf) {
        if (shard == own) {
            return Error{ErrorCode::Refused, source.name(), "weight_map " + inQuotes(tensor),
                         "must name a shard, names the index itself"};
        }
        index.shards[shard].push_back(tensor);
    }
    if (const auto metadata = root.find("metadata"))
        index.totalSize = totalSize(*metadata);
    return index;
}

std::optional<std::string> whyNoShardName(const std::string &name)
{
    const std::string expected = "must be a plain file name, ";
    if (name.empty())
        return expected + "is empty";
    if (name.find('\0') != std::string::npos)
        return expected + "holds a NUL";
    if (name.find('/') != std::string::npos || name.find('\\') != std::string::npos)
        return expected + "holds a path separator";
    if (name == "." || name == "..")
        return expected + "names a directory";
    if (name.find(':') != std::string::npos)
        return expected + "holds a drive or a scheme";
    return std::nullopt;
}

HfSharded openHfSharded(const HfIndex &index, const std::string &indexName,
                        const std::filesystem::path &directory, const std::string &prefix,
                        const OpenOptions &options, std::stop_token stop)
{
    HfSharded result =
        ShardOpener(index, indexName, directory, prefix, options, std::move(stop)).openAll();
    for (const Diagnostic &diagnostic : index.diagnostics)
        result.builder.addDiagnostic(diagnostic);
    return result;
}

} // namespace forkpoint
