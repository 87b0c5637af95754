// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/distributed_tensor.h"
#include "loaders/torch/pickle_digest.h"
#include "loaders/torch/pickle_numpy.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_tree.h"
#include "loaders/torch/torch_rebuild.h"

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

namespace forkpoint {

/// An item of a container that is still to be listed.
struct PickleChild
{
    Key key;
    NodeId node = NoNode;
    bool bookkeeping = false; ///< says nothing about the run's state
};

/// What a container holds. The items of a list are not copied: a short file may refer to one list
/// of millions from many places.
class PickleChildren
{
public:
    void push_back(PickleChild child) { m_named.push_back(std::move(child)); }
    /// Items that come behind all others, by their positions.
    void setItems(std::span<const NodeId> items) { m_items = items; }
    std::size_t size() const { return m_named.size() + m_items.size(); }
    bool empty() const { return size() == 0; }
    std::vector<PickleChild> &named() { return m_named; }
    PickleChild take(std::size_t i)
    {
        if (i < m_named.size())
            return std::move(m_named[i]);
        i -= m_named.size();
        return {Key::at(std::int64_t(i)), m_items[i], false};
    }

private:
    std::vector<PickleChild> m_named;
    std::span<const NodeId> m_items;
};

/// What is known of bytes in the pickle: many objects may refer to them.
struct PickleContent
{
    bool isBytes = true; ///< false: text that a call cannot encode
    std::uint64_t count = 0;
    std::string digest; ///< once asked for
    std::optional<FileIndex> file;
    std::optional<StorageSlot> storage;  ///< of _load_from_bytes
    std::optional<std::string> listedAt; ///< a save inside, listed there
    bool noSave = false;                 ///< no save inside, or an unsound one
};

constexpr std::uint32_t NoPlace = 0xffffffffu;

/// One opened container on the way from the root, for the paths of links.
struct PicklePlace
{
    std::uint32_t parent = NoPlace;
    Key key;
};

struct PickleFrame
{
    NodeId node = NoNode;
    PickleChildren children;
    std::size_t next = 0;
    std::uint32_t place = NoPlace;
    bool bookkeeping = false, repeated = false;
};

class PickleWalker
{
public:
    PickleWalker(const PickleGraph &graph, StorageTable *storages, const TreeContext &context)
        : m_graph(graph),
          m_storages(storages),
          m_context(context),
          m_budget(*context.budget),
          m_path(context.prefix),
          m_placeOf(graph.nodes.size(), NoPlace),
          m_open(graph.nodes.size(), false),
          m_digests(graph)
    {
        m_budget.textLimit += 2 * graph.end;
    }

    Status run();

private:
    void visit(const PickleChild &child);
    void expand(NodeId node, PickleChildren &children, int wrappers);
    void expandList(std::span<const NodeId> items, const char *empty, PickleChildren &children);
    void expandItems(std::span<const NodeId> items, PickleChildren &children);
    void expandPairs(std::span<const NodeId> pairs, PickleChildren &children);
    void expandObject(NodeId node, PickleChildren &children, int wrappers);
    bool expandPython(NodeId node, PickleChildren &children);
    bool expandTorchValue(NodeId node, PickleChildren &children, int wrappers);
    bool expandTensor(KnownGlobal known, std::span<const NodeId> arguments,
                      PickleChildren &children, int wrappers);
    bool expandNumpy(NodeId node, PickleChildren &children);
    bool expandDict(NodeId node, PickleChildren &children);
    bool expandCounter(NodeId node, PickleChildren &children);
    bool expandSequence(NodeId node, PickleChildren &children);
    void expandReconstructed(NodeId node, PickleChildren &children);
    void expandAdditions(NodeId node, PickleChildren &children);
    void expandGeneric(NodeId node, PickleChildren &children);
    bool expandSparse(std::span<const NodeId> arguments, PickleChildren &children);
    void emitLayout(PrintedPickle layout, NodeId layoutNode, NodeId size, PickleChildren &children);
    bool expandGenerator(NodeId node, PickleChildren &children);
    void expandQuantized(std::span<const NodeId> arguments, PickleChildren &children);
    void expandFromType(std::span<const NodeId> arguments, PickleChildren &children, int wrappers);
    void expandWrapper(const std::string &path, std::span<const NodeId> given, NodeId state,
                       PickleChildren &children);
    void expandShards(std::span<const NodeId> state, const Shape &global, PickleChildren &children);
    bool expandBytesIO(NodeId node);
    void addStates(std::span<const NodeId> states, PickleChildren &children, bool bookkeeping);
    void addNamed(const char *name, NodeId node, PickleChildren &children)
    {
        children.push_back({Key::of(name), node, false});
    }

    void leaf(NodeId node);
    bool bytesValue(NodeId node);
    void setValue(NodeId node, std::span<const NodeId> members);
    Value bigInteger(NodeId node) const;
    void emit(Value value);
    void emitOpaque(std::string text);
    Value opaque(PrintedPickle printed, std::initializer_list<NodeId> nodes);
    void emitPrinted(PrintedPickle printed, std::initializer_list<NodeId> nodes);
    void emitUnlisted(NodeId node, const char *why, std::string text);
    void emitTensor(TensorRef tensor);
    std::optional<TensorRef> tensorOfId(NodeId node);
    void strided(NodeId storage, const StridedDescription &description, std::string note);
    void numpyArray(const NumpyArray &array, PickleChildren &children);
    TensorRef numpyTensor(const NumpyArray &array, const DType &dtype, ByteOrder order,
                          NodeId data);
    Value numpyValue(NodeId node);
    StorageSlot slotOf(NodeId storage);
    PickleContent *contentOf(NodeId node);
    FileIndex fileOf(PickleContent &content, NodeId node);
    bool nested(NodeId node);
    void reportOwed();
    std::size_t room() const;
    bool isPlain(NodeId node, int &left) const;
    std::string placeText(std::uint32_t place) const;
    std::string here() const { return m_path.toString(); }
    bool spend(std::size_t textBytes);
    TreeContext below() const;
    void warn(std::string code, std::string text, Severity severity = Severity::Warning);

    const PickleGraph &m_graph;
    StorageTable *m_storages;
    const TreeContext &m_context;
    TreeBudget &m_budget;
    KeyPath m_path;
    std::vector<PickleFrame> m_frames;
    std::vector<PicklePlace> m_places;
    std::vector<std::uint32_t> m_placeOf;
    std::vector<bool> m_open;
    std::unordered_map<NodeId, DistributedPart> m_parts; ///< by node of the local tensor
    PickleDigests m_digests;
    std::unordered_map<NodeId, PickleContent> m_contents; // by the node that has the characters
    std::unordered_map<NodeId, Value> m_values;           // of leaves that take time
    std::unordered_set<NodeId> m_storagesListed;          // persistent ids
    std::vector<NodeId> m_owed; // shown as text: storages below them must be listed elsewhere
    NodeId m_current = NoNode;
    std::string m_subclass;
    bool m_bookkeeping = false, m_repeated = false;
};

} // namespace forkpoint
