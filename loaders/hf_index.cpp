// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hf_index.h"

#include "loaders/limits.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace forkpoint {

namespace {

using Json = nlohmann::json;

/// Streams the document past; keeps weight_map and metadata.total_size only.
class IndexCollector final : public nlohmann::json_sax<Json>
{
public:
    explicit IndexCollector(std::string file) : m_file(std::move(file)) {}

    std::map<std::string, std::string> weightMap;
    std::optional<std::uint64_t> totalSize;
    std::vector<std::string> repeated;
    bool hasWeightMap = false;
    std::optional<Error> error;

    bool null() override { return scalar("null"); }
    bool boolean(bool) override { return scalar("a boolean"); }
    bool number_integer(number_integer_t) override { return scalar("a number"); }
    bool number_unsigned(number_unsigned_t value) override
    {
        if (m_depth == 2 && m_section == "metadata" && m_key == "total_size")
            totalSize = value;
        return scalar("a number");
    }
    bool number_float(number_float_t value, const string_t &) override
    {
        // Some writers sum in floats: 4096.0.
        if (m_depth == 2 && m_section == "metadata" && m_key == "total_size" && value >= 0
            && value < 9007199254740992.0)
            totalSize = std::uint64_t(value);
        return scalar("a number");
    }
    bool string(string_t &text) override
    {
        if (m_depth != 2 || m_section != "weight_map")
            return scalar("a string");
        const auto [at, isNew] = weightMap.try_emplace(m_key, text);
        if (!isNew && at->second != text)
            repeated.push_back(m_key);
        at->second = std::move(text); // json.load keeps the last
        return true;
    }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override
    {
        if (m_depth == 0)
            m_isObject = true;
        if (m_depth == 1 && m_section == "weight_map")
            hasWeightMap = true;
        return nest("an object");
    }
    bool start_array(std::size_t) override { return nest("a list"); }
    bool end_object() override { return unnest(); }
    bool end_array() override { return unnest(); }
    bool key(string_t &text) override
    {
        (m_depth == 1 ? m_section : m_key) = std::move(text);
        return true;
    }
    bool parse_error(std::size_t position, const std::string &, const Json::exception &) override
    {
        return fail(ErrorCode::Malformed, "byte " + std::to_string(position), "is not JSON");
    }

private:
    bool fail(ErrorCode code, std::string place, std::string text)
    {
        error = Error{code, m_file, std::move(place), std::move(text)};
        return false;
    }

    /// Whatever is no object where weight_map is due, and no string where a shard's name is due.
    bool scalar(std::string_view what)
    {
        if (m_depth == 0)
            return fail(ErrorCode::Malformed, {}, "must be a JSON object, is " + std::string(what));
        if (m_depth == 1 && m_section == "weight_map")
            return fail(ErrorCode::Malformed, "weight_map",
                        "must be an object of shard names by tensor name, is " + std::string(what));
        if (m_depth == 2 && m_section == "weight_map")
            return fail(ErrorCode::Malformed, "weight_map '" + m_key + "'",
                        "must be the name of a shard, is " + std::string(what));
        return true;
    }
    bool nest(std::string_view what)
    {
        const bool legal = m_depth == 0 ? m_isObject
            : m_depth == 1              ? m_section != "weight_map" || hasWeightMap
                                        : m_depth > 2 || m_section != "weight_map";
        if (!legal)
            return scalar(what);
        if (++m_depth > limits::JsonDepth)
            return fail(ErrorCode::Limit, {},
                        "is nested deeper than " + std::to_string(limits::JsonDepth) + " levels");
        return true;
    }
    bool unnest()
    {
        --m_depth;
        return true;
    }

    std::string m_file;
    std::size_t m_depth = 0;
    bool m_isObject = false;
    std::string m_section; ///< key at depth 1
    std::string m_key;     ///< key below
};

std::string quoted(const std::string &name)
{
    return "'" + escapeInvalidUtf8(name) + "'";
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
            return Error{ErrorCode::Refused, m_indexName, "shard " + quoted(shard), *why};
        FP_TRY(auto source, FileSource::openBeneath(m_directory, shard, m_prefix + shard));
        return loadFile(std::move(source), m_options, m_stop);
    }

    /// The names stay visible; one diagnostic a shard, not one a tensor.
    void listUnreadable(const std::string &shard, const std::vector<std::string> &names,
                        const Error &why)
    {
        Diagnostic diagnostic = toDiagnostic(why, Severity::Error);
        diagnostic.text += "; not readable: " + quoted(names.front());
        if (names.size() > 1)
            diagnostic.text += " and " + std::to_string(names.size() - 1) + " more tensors";
        m_result.builder.addDiagnostic(std::move(diagnostic));
        m_result.builder.setIncomplete();
        for (const std::string &name : names) {
            TensorRef tensor;
            tensor.path.keys.push_back(Key::of(name));
            tensor.dtype = opaqueDType(1);
            tensor.shape = Shape{{0}};
            tensor.note = "type and shape unknown";
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
        std::string list = quoted(names.front());
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
    IndexCollector collector(source.name());
    const std::string_view text = asText(bytes);
    if (!Json::sax_parse(text.begin(), text.end(), &collector)) {
        return collector.error.value_or(
            Error{ErrorCode::Malformed, source.name(), {}, "is not JSON"});
    }
    if (!collector.hasWeightMap)
        return Error{ErrorCode::Malformed, source.name(), {}, "must have a weight_map"};
    const std::string own = std::filesystem::path(source.name()).filename().string();
    HfIndex index;
    for (auto &[tensor, shard] : collector.weightMap) {
        if (shard == own) {
            return Error{ErrorCode::Refused, source.name(), "weight_map " + quoted(tensor),
                         "must name a shard, names the index itself"};
        }
        index.shards[shard].push_back(tensor);
    }
    index.totalSize = collector.totalSize;
    for (const std::string &name : collector.repeated) {
        index.diagnostics.push_back({Severity::Warning, "repeated-name", source.name(),
                                     "weight_map " + quoted(name),
                                     "is named twice with different shards; the last counts"});
    }
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
