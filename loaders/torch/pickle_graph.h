// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_globals.h"
#include "model/bytes.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A node of a pickle's object graph, by number. The graph may have cycles; nothing owns anything
/// but the arena, so that neither reading nor freeing recurses.
using NodeId = std::uint32_t;
constexpr NodeId NoNode = 0xffffffffu;

enum class PickleKind : std::uint8_t {
    None,
    Bool,
    Int,
    BigInt, ///< beyond 64 bits: two's complement little-endian, or decimal digits (isDecimal)
    Float,
    Text,  ///< str; UTF-8, lone surrogates kept (raw bytes of Python 2 where isRaw)
    Bytes, ///< bytes, and bytearray where isMutable
    List,
    Tuple,
    Dict,         ///< items alternate: key, value
    Set,          ///< frozenset where !isMutable
    Global,       ///< a name of a module: a symbol, never resolved
    Object,       ///< what a call would have made: see PickleObject
    PersistentId, ///< a reference out of the pickle
};

/// Of 16 bytes: a .metadata of 10^6 pieces has twenty million.
struct PickleNode
{
    PickleKind kind = PickleKind::None;
    bool flag = false; ///< isRaw, isMutable or isDecimal
    /// First tuple item, container, global, object, or node of the id; bytes of a text.
    std::uint32_t ref = 0;
    union {
        std::int64_t integer;
        double real;
        const char *data;
        std::uint64_t bits = 0; ///< items of a tuple
    };
};

struct PickleGlobal
{
    std::string module, name;
    KnownGlobal known = KnownGlobal::None; ///< what we read it as
    bool dangerous = false;
    bool called = false;        ///< some opcode would have called it
    std::uint64_t opcodeAt = 0; ///< byte of the pickle that first names it

    std::string path() const { return module + "." + name; } ///< as written
};

/// What REDUCE, NEWOBJ, INST, OBJ or BUILD would have made, kept as data.
struct PickleObject
{
    enum class How : std::uint8_t { Reduce, NewObject, Instance };
    How how = How::Reduce;
    NodeId callee = NoNode;
    NodeId arguments = NoNode; ///< a tuple, or NoNode
    NodeId keywords = NoNode;  ///< a dict, or NoNode
    NodeId state = NoNode;     ///< the only thing that was added, if that is one BUILD
    std::uint32_t more = NoNode;
};

/// What later opcodes added to an object, where that is more than one state.
struct PickleGrowth
{
    std::vector<NodeId> items, dictItems, states;
};

/// What later opcodes added to an object; most have nothing.
struct PickleAdditions
{
    std::span<const NodeId> items;     ///< APPEND, ADDITEMS
    std::span<const NodeId> dictItems; ///< SETITEM: keys and values in turn
    std::span<const NodeId> states;    ///< BUILD; Python applies them one after another
    NodeId lastState() const { return states.empty() ? NoNode : states.back(); }
};

/// Everything one pickle builds.
class PickleGraph
{
public:
    NodeId root = NoNode;
    std::uint64_t end = 0; ///< bytes up to and including STOP
    std::vector<PickleNode> nodes;
    std::vector<NodeId> tupleItems;
    std::vector<std::vector<NodeId>> containers;
    std::vector<PickleGlobal> globals;
    std::vector<PickleObject> objects;
    std::vector<PickleGrowth> growths; ///< by PickleObject::more
    std::vector<NodeId> persistentIds;
    std::deque<std::string> texts; ///< decoded strings that are no slice of `input`
    std::shared_ptr<const std::vector<std::byte>> input;

    const PickleNode &operator[](NodeId id) const { return nodes[id]; }
    PickleKind kind(NodeId id) const
    {
        return id < nodes.size() ? nodes[id].kind : PickleKind::None;
    }
    bool is(NodeId id, PickleKind wanted) const
    {
        return id < nodes.size() && nodes[id].kind == wanted;
    }
    /// The characters of a Text, Bytes or BigInt; empty for others.
    std::string_view text(NodeId id) const;
    /// Items of a List, Tuple, Set or Dict; empty for others.
    std::span<const NodeId> items(NodeId id) const;
    /// The object of an Object node, else nullptr.
    const PickleObject *object(NodeId id) const;
    PickleAdditions more(const PickleObject &object) const;
    /// The global of a Global node, else nullptr.
    const PickleGlobal *global(NodeId id) const;
    /// The global that an Object calls, else nullptr.
    const PickleGlobal *calleeOf(NodeId id) const;
    /// What an Object calls or a Global is; None for anything else.
    KnownGlobal known(NodeId id) const;
    /// Arguments of an Object's call; empty where there are none.
    std::span<const NodeId> arguments(NodeId id) const;
    /// Value of the text key `key` of a Dict, the last one where repeated; NoNode if absent.
    NodeId find(NodeId dict, std::string_view key) const;
};

} // namespace forkpoint
