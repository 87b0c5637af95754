// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/dcp_metadata.h"

#include "loaders/limits.h"
#include "loaders/torch/distributed_tensor.h"
#include "loaders/torch/pickle_numpy.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/torch_rebuild.h"
#include "model/bytes.h"

#include <algorithm>
#include <unordered_map>

namespace forkpoint {

namespace {

/// Diagnostics of one kind: the rest is counted.
constexpr std::size_t SaidOfAKind = 20;

std::string inQuotes(std::string_view name)
{
    return "'" + escapeInvalidUtf8(name.substr(0, 200)) + "'";
}

/// The name of the class that an object is of, whatever module it has moved to.
std::string_view className(const PickleGraph &graph, NodeId node)
{
    const PickleGlobal *callee = graph.calleeOf(node);
    return callee ? std::string_view(callee->name) : std::string_view();
}

/// Keys and values in turn of a dict or an OrderedDict.
std::span<const NodeId> pairsOf(const PickleGraph &graph, NodeId node)
{
    if (graph.known(node) == KnownGlobal::Dict)
        return graph.more(*graph.object(node)).dictItems;
    return graph.is(node, PickleKind::Dict) ? graph.items(node) : std::span<const NodeId>();
}

class Reader
{
public:
    Reader(const PickleGraph &graph, const std::string &file) : m_graph(graph), m_file(file) {}

    Result<DcpMetadata> read()
    {
        const NodeId entries = stateMember(m_graph, m_graph.root, "state_dict_metadata");
        if (entries == NoNode) {
            return Error{ErrorCode::Malformed,
                         m_file,
                         {},
                         "must be the metadata of a distributed checkpoint, has no "
                         "state_dict_metadata"};
        }
        readPaths(stateMember(m_graph, m_graph.root, "planner_data"));
        readFormerShapes(stateMember(m_graph, m_graph.root, "mcore_data"));
        const auto pairs = pairsOf(m_graph, entries);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
            readEntry(pairs[i], pairs[i + 1]);
        readStorage(stateMember(m_graph, m_graph.root, "storage_data"));
        readFacts();
        for (const auto &[kind, count] : m_said) {
            if (count > SaidOfAKind)
                push(kind, {}, std::to_string(count - SaidOfAKind) + " more of this kind");
        }
        return std::move(m_result);
    }

private:
    void push(std::string_view code, std::string place, std::string text)
    {
        m_result.diagnostics.push_back(
            {Severity::Error, std::string(code), m_file, std::move(place), std::move(text)});
    }
    void complain(std::string_view code, std::string_view name, std::string text)
    {
        if (++m_said[code] <= SaidOfAKind)
            push(code, inQuotes(name), std::move(text));
    }

    /// planner_data: the keys from which each name was joined.
    void readPaths(NodeId planner)
    {
        const auto pairs = pairsOf(m_graph, planner);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            KeyPath path;
            for (const NodeId key : m_graph.items(pairs[i + 1]))
                path.keys.push_back(pickledKey(m_graph, key, m_digests));
            if (!path.keys.empty() && m_graph.is(pairs[i], PickleKind::Text))
                m_paths.emplace(m_graph.text(pairs[i]), std::move(path));
        }
    }

    void readFormerShapes(NodeId data)
    {
        const auto pairs = pairsOf(m_graph, data);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            const NodeId shape = m_graph.find(pairs[i + 1], "nd_reformulated_orig_global_shape");
            if (auto found = pickledShape(m_graph, shape))
                m_formerShapes.emplace(m_graph.text(pairs[i]), std::move(*found));
        }
    }

    KeyPath pathOf(std::string_view fqn) const
    {
        const auto found = m_paths.find(fqn);
        return found == m_paths.end() ? KeyPath{{Key::of(std::string(fqn))}} : found->second;
    }

    void readEntry(NodeId key, NodeId entry)
    {
        const std::string_view fqn = m_graph.text(key);
        const std::string_view kind = className(m_graph, entry);
        if (kind == "BytesStorageMetadata") {
            m_objects.emplace(fqn, m_result.objects.size());
            m_result.objects.push_back({std::string(fqn), pathOf(fqn), {}});
        } else if (kind == "TensorStorageMetadata") {
            readTensor(fqn, entry);
        } else {
            complain("unsupported", fqn,
                     "is neither a tensor nor an object, but " + inQuotes(kind));
        }
    }

    void readTensor(std::string_view fqn, NodeId entry)
    {
        const auto shape = pickledShape(m_graph, stateMember(m_graph, entry, "size"));
        if (!shape || !shape->count() || shape->rank() > limits::Rank)
            return complain("malformed", fqn, "has no size that a tensor can have");
        DcpTensor tensor;
        tensor.fqn = fqn;
        tensor.path = pathOf(fqn);
        tensor.shape = *shape;
        const NodeId properties = stateMember(m_graph, entry, "properties");
        if (const PickleObject *object = m_graph.object(properties)) {
            const NodeId state = m_graph.more(*object).lastState();
            const auto parts = m_graph.items(state);
            const NodeId dtype = m_graph.is(state, PickleKind::Dict) ? m_graph.find(state, "dtype")
                : parts.empty()                                      ? NoNode
                                                                     : parts.front();
            tensor.dtype = torchDTypeName(m_graph, dtype);
        }
        if (const auto former = m_formerShapes.find(fqn); former != m_formerShapes.end())
            tensor.unflattened = former->second;
        for (const NodeId chunk : m_graph.items(stateMember(m_graph, entry, "chunks")))
            readChunk(chunk, tensor);
        m_tensors.emplace(fqn, m_result.tensors.size());
        m_result.tensors.push_back(std::move(tensor));
    }

    void readChunk(NodeId node, DcpTensor &tensor)
    {
        auto offsets = pickledShape(m_graph, stateMember(m_graph, node, "offsets"));
        auto sizes = pickledShape(m_graph, stateMember(m_graph, node, "sizes"));
        const std::size_t rank = tensor.shape.rank();
        if (!offsets || !sizes || offsets->rank() != rank || sizes->rank() != rank)
            return complain("malformed", tensor.fqn, "a piece of another rank than its tensor");
        for (std::size_t i = 0; i < rank; ++i) {
            const auto end = checkedAdd(offsets->dims[i], sizes->dims[i]);
            if (!end || *end > tensor.shape.dims[i]) {
                return complain("malformed", tensor.fqn,
                                "a piece at " + offsets->toString() + " of " + sizes->toString()
                                    + " leaves the shape " + tensor.shape.toString());
            }
        }
        tensor.boxes.insert(tensor.boxes.end(), offsets->dims.begin(), offsets->dims.end());
        tensor.boxes.insert(tensor.boxes.end(), sizes->dims.begin(), sizes->dims.end());
        tensor.chunks.emplace_back();
    }

    // --- storage_data

    void readStorage(NodeId storage)
    {
        const auto pairs = pairsOf(m_graph, storage);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            const std::string_view fqn = m_graph.text(stateMember(m_graph, pairs[i], "fqn"));
            auto item = readItem(pairs[i + 1]);
            if (!item) {
                complain("malformed", fqn, "its place in the files is not described");
                continue;
            }
            place(fqn, pairs[i], std::move(*item));
        }
    }

    void place(std::string_view fqn, NodeId index, DcpItem item)
    {
        if (const auto object = m_objects.find(fqn); object != m_objects.end()) {
            m_result.objects[object->second].item = std::move(item);
            return;
        }
        const auto tensor = m_tensors.find(fqn);
        if (tensor == m_tensors.end())
            return complain("mismatch", fqn, "is stored, but the list of tensors does not name it");
        DcpTensor &found = m_result.tensors[tensor->second];
        const auto chunk = chunkOf(found, index, tensor->second);
        if (!chunk)
            return complain("mismatch", fqn, "a piece is stored that its tensor does not have");
        if (found.chunks[*chunk])
            return complain("mismatch", fqn, "a piece is stored twice; the first place is taken");
        found.chunks[*chunk] = std::move(item);
    }

    std::optional<std::size_t> chunkOf(const DcpTensor &tensor, NodeId index, std::size_t number)
    {
        const auto offsets = pickledShape(m_graph, stateMember(m_graph, index, "offset"));
        if (!offsets) // what is not cut may have no offset
            return tensor.chunks.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
        const auto isThere = [&](std::size_t chunk) {
            return std::ranges::equal(tensor.offsets(chunk), offsets->dims);
        };
        const auto hint = pickledInteger(m_graph, stateMember(m_graph, index, "index"));
        if (hint && *hint >= 0 && std::size_t(*hint) < tensor.chunks.size()
            && isThere(std::size_t(*hint)))
            return std::size_t(*hint);
        const std::vector<std::uint32_t> &order = orderOf(tensor, number);
        auto at = std::lower_bound(order.begin(), order.end(), offsets->dims,
                                   [&](std::uint32_t chunk, const std::vector<Index> &wanted) {
                                       return std::ranges::lexicographical_compare(
                                           tensor.offsets(chunk), wanted);
                                   });
        for (; at != order.end() && isThere(*at); ++at) {
            if (!tensor.chunks[*at] || std::next(at) == order.end())
                return *at;
        }
        return std::nullopt;
    }

    /// Chunks by their offsets, sorted once a tensor.
    const std::vector<std::uint32_t> &orderOf(const DcpTensor &tensor, std::size_t number)
    {
        std::vector<std::uint32_t> &order = m_orders[number];
        if (order.size() == tensor.chunks.size())
            return order;
        order.resize(tensor.chunks.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = std::uint32_t(i);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::ranges::lexicographical_compare(tensor.offsets(a), tensor.offsets(b));
        });
        return order;
    }

    std::optional<DcpItem> readItem(NodeId node)
    {
        const NodeId path = stateMember(m_graph, node, "relative_path");
        const auto offset = pickledInteger(m_graph, stateMember(m_graph, node, "offset"));
        const auto length = pickledInteger(m_graph, stateMember(m_graph, node, "length"));
        if (!m_graph.is(path, PickleKind::Text) || !offset || !length || *offset < 0 || *length < 0)
            return std::nullopt;
        DcpItem item{
            fileOf(m_graph.text(path)), std::uint64_t(*offset), std::uint64_t(*length), {}};
        for (const NodeId name : m_graph.items(stateMember(m_graph, node, "transform_descriptors")))
            item.transforms.push_back(pickledText(m_graph, name).value_or("?"));
        return item;
    }

    std::uint32_t fileOf(std::string_view path)
    {
        const auto [known, isNew] = m_files.try_emplace(path, std::uint32_t(m_result.files.size()));
        if (isNew)
            m_result.files.emplace_back(path);
        return known->second;
    }

    // --- the rest

    void readFacts()
    {
        const NodeId meta = stateMember(m_graph, m_graph.root, "storage_meta");
        for (const char *name : {"checkpoint_id", "save_id", "load_id"})
            addFact(name, stateMember(m_graph, meta, name));
        addFact("version", stateMember(m_graph, m_graph.root, "version"));
    }

    void addFact(const char *name, NodeId node)
    {
        if (node == NoNode || m_graph.is(node, PickleKind::None))
            return;
        if (const auto text = pickledText(m_graph, node)) {
            m_result.facts.emplace_back(name, Value::text(*text));
            return;
        }
        PrintedPickle printed = printPickle(m_graph, node, limits::PrintedText);
        Value value = Value::opaque(std::move(printed.text));
        if (!printed.complete)
            value.digest = m_digests.hex(node);
        m_result.facts.emplace_back(name, std::move(value));
    }

    const PickleGraph &m_graph;
    PickleDigests m_digests{m_graph};
    const std::string &m_file;
    DcpMetadata m_result;
    std::unordered_map<std::string_view, KeyPath> m_paths;
    std::unordered_map<std::string_view, Shape> m_formerShapes;
    std::unordered_map<std::string_view, std::size_t> m_tensors, m_objects;
    std::unordered_map<std::string_view, std::uint32_t> m_files;
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> m_orders;
    std::unordered_map<std::string_view, std::size_t> m_said;
};

} // namespace

Result<DcpMetadata> readDcpMetadata(const PickleGraph &graph, const std::string &file)
{
    return Reader(graph, file).read();
}

std::optional<std::int64_t> rankOfDcpFile(std::string_view name)
{
    name = name.substr(name.rfind('/') + 1);
    const std::size_t begin = name.rfind("__");
    if (begin == std::string_view::npos)
        return std::nullopt;
    std::int64_t rank = 0;
    std::size_t at = begin + 2;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && at < begin + 12; ++at)
        rank = rank * 10 + (name[at] - '0');
    const bool isRank = at > begin + 2 && at < name.size() && (name[at] == '_' || name[at] == '.');
    return isRank ? std::optional(rank) : std::nullopt;
}

} // namespace forkpoint
