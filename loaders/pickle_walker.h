// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/distributed_tensor.h"
#include "loaders/pickle_numpy.h"
#include "loaders/pickle_tree.h"
#include "loaders/torch_rebuild.h"

#include <unordered_map>

namespace forkpoint {

/// An item of a container that is still to be listed.
struct PickleChild
{
    Key key;
    NodeId node = NoNode;
    bool bookkeeping = false; ///< says nothing about the run's state
};
using PickleChildren = std::vector<PickleChild>;

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
          m_open(graph.nodes.size(), false)
    {
    }

    Status run();

private:
    void visit(const PickleChild &child);
    void expand(NodeId node, PickleChildren &children, int wrappers);
    void expandList(std::span<const NodeId> items, const char *empty, PickleChildren &children);
    void expandPairs(std::span<const NodeId> pairs, PickleChildren &children);
    void expandObject(NodeId node, PickleChildren &children, int wrappers);
    bool expandPython(NodeId node, PickleChildren &children, int wrappers);
    bool expandTorchValue(NodeId node, PickleChildren &children, int wrappers);
    bool expandTensor(KnownGlobal known, std::span<const NodeId> arguments,
                      PickleChildren &children, int wrappers);
    bool expandNumpy(NodeId node, PickleChildren &children);
    void expandDict(NodeId node, PickleChildren &children);
    void expandGeneric(NodeId node, PickleChildren &children);
    void expandSparse(std::span<const NodeId> arguments, PickleChildren &children);
    void expandQuantized(std::span<const NodeId> arguments, PickleChildren &children);
    void expandFromType(std::span<const NodeId> arguments, PickleChildren &children, int wrappers);
    void expandWrapper(const std::string &path, std::span<const NodeId> given, NodeId state,
                       PickleChildren &children);
    void expandShards(std::span<const NodeId> state, const Shape &global, PickleChildren &children);
    void expandBytesIO(NodeId node);
    void addState(NodeId state, PickleChildren &children, bool bookkeeping);
    void addNamed(const char *name, NodeId node, PickleChildren &children)
    {
        children.push_back({Key::of(name), node, false});
    }

    void leaf(NodeId node);
    void bytesValue(std::string bytes);
    void emit(Value value);
    void emitOpaque(std::string text);
    void emitTensor(TensorRef tensor);
    void strided(NodeId storage, const StridedDescription &description, std::string note);
    void numpyArray(const NumpyArray &array, PickleChildren &children);
    StorageSlot slotOf(NodeId storage);
    bool nested(std::string bytes);
    bool isPlain(NodeId node, int &left) const;
    std::string placeText(std::uint32_t place) const;
    std::string here() const { return m_path.toString(); }
    bool spend();
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
    std::unordered_map<NodeId, StorageSlot> m_slots;     // of _load_from_bytes
    NodeId m_current = NoNode;
    std::string m_subclass;
    std::size_t m_printed = 0;
    bool m_bookkeeping = false, m_repeated = false, m_saidDeep = false;
};

} // namespace forkpoint
