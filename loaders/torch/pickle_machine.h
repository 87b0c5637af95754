// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_vm.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

namespace forkpoint {

/// The interpreter behind readPickle(): a stack, a memo and the graph that grows.
class PickleMachine
{
public:
    PickleMachine(std::shared_ptr<const std::vector<std::byte>> input, std::uint64_t at,
                  std::size_t maxNodes)
        : m_graph(std::make_shared<PickleGraph>()),
          m_in(asText(*input)),
          m_start(std::size_t(at)),
          m_at(std::size_t(at)),
          m_maxNodes(maxNodes)
    {
        m_graph->input = std::move(input);
        // Growing in place: room that is not used costs nothing, a copy of half the nodes does.
        m_graph->nodes.reserve(std::min(maxNodes, (m_in.size() - m_start) / BytesANode));
    }

    Result<std::shared_ptr<const PickleGraph>> run(std::stop_token stop);

private:
    // --- errors
    Error error(ErrorCode code, std::string text) const
    {
        return {code, {}, "byte " + std::to_string(m_opcodeAt - m_start), std::move(text)};
    }
    Error malformed(std::string text) const { return error(ErrorCode::Malformed, std::move(text)); }
    Error cut() const { return error(ErrorCode::Truncated, "the pickle ends inside an opcode"); }
    Error shortStack() const { return malformed("takes more than the stack holds"); }

    // --- arguments
    Result<std::string_view> take(std::uint64_t count);
    template <class T>
    Result<T> number();
    Result<std::string_view> line();
    template <class Length>
    Result<std::string_view> counted();

    // --- nodes
    Result<NodeId> add(PickleNode node);
    Status push(PickleNode node);
    Status pushId(NodeId id);
    Status pushSlice(PickleKind kind, std::string_view text, bool flag);
    Status pushOwned(PickleKind kind, std::string text, bool flag);
    Status pushInteger(std::int64_t value);
    Status pushContainer(PickleKind kind, std::vector<NodeId> items, bool flag);
    Status pushTuple(std::span<const NodeId> items);
    Status pushGlobal(std::string_view module, std::string_view name);
    Status pushObject(PickleObject object);
    PickleGrowth &growthOf(NodeId object);

    // --- stack
    Result<NodeId> pop();
    Result<NodeId> top() const;
    /// Items above the last mark; the mark goes, the items stay until dropItems().
    Result<std::span<const NodeId>> itemsAboveMark();
    void dropItems(std::span<const NodeId> items) { m_stack.resize(m_stack.size() - items.size()); }

    // --- opcodes
    Status step(char opcode);
    Status stepNumber(char opcode);
    Status stepText(char opcode);
    Status stepContainer(char opcode);
    Status stepMemo(char opcode);
    Status stepObject(char opcode);
    Status stepOther(char opcode);
    Status integerLine(bool isLong);
    Status bigInteger(std::string_view bytes);
    Status lastToTuple(std::size_t count);
    Status markToContainer(char opcode);
    Status append(NodeId target, std::span<const NodeId> items);
    Status setItems(NodeId target, std::span<const NodeId> pairs);
    Status addItems(NodeId target, std::span<const NodeId> items);
    Status checkHashable(std::span<const NodeId> pairs, std::size_t stride) const;
    Status put(std::uint64_t index);
    Status get(std::uint64_t index);
    Status reduce();
    Status newObject(bool withKeywords);
    Status instance();
    Status objectOpcode();
    Status build();
    Status stackGlobal();
    Status frame();
    void markCalled(NodeId callee);

    /// Fewer than real pickles need.
    static constexpr std::size_t BytesANode = 4;

    std::shared_ptr<PickleGraph> m_graph;
    std::string_view m_in;
    std::size_t m_start, m_at, m_opcodeAt = 0;
    std::size_t m_frameEnd = std::numeric_limits<std::size_t>::max();
    std::vector<NodeId> m_stack;
    std::vector<std::size_t> m_marks; // stack heights
    std::vector<NodeId> m_memo;
    std::unordered_map<std::string, NodeId> m_globalNodes;
    bool m_stopped = false;
    std::size_t m_maxNodes;
    /// Small integers and the empty tuple are what most nodes would be: one node each.
    std::array<NodeId, 256> m_smallIntegers = filledWithNone();
    NodeId m_emptyTuple = NoNode;

    static std::array<NodeId, 256> filledWithNone()
    {
        std::array<NodeId, 256> none{};
        none.fill(NoNode);
        return none;
    }
};

// What nearly every opcode calls is inline: a .metadata of 10^6 pieces has 50 million opcodes.

inline Result<std::string_view> PickleMachine::take(std::uint64_t count)
{
    if (count > m_in.size() - m_at)
        return error(ErrorCode::Truncated,
                     "needs " + std::to_string(count) + " more bytes, "
                         + std::to_string(m_in.size() - m_at) + " are left");
    const std::string_view taken = m_in.substr(m_at, std::size_t(count));
    m_at += std::size_t(count);
    return taken;
}

inline Result<NodeId> PickleMachine::add(PickleNode node)
{
    if (m_graph->nodes.size() >= m_maxNodes)
        return error(ErrorCode::Limit, "more than " + std::to_string(m_maxNodes) + " objects");
    m_graph->nodes.push_back(node);
    return NodeId(m_graph->nodes.size() - 1);
}

inline Status PickleMachine::pushId(NodeId id)
{
    if (m_stack.size() >= m_maxNodes)
        return error(ErrorCode::Limit, "the stack grows beyond every real pickle");
    m_stack.push_back(id);
    return {};
}

inline Status PickleMachine::push(PickleNode node)
{
    FP_TRY(const NodeId id, add(node));
    return pushId(id);
}

inline Result<NodeId> PickleMachine::top() const
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor)
        return shortStack();
    return m_stack.back();
}

inline Result<NodeId> PickleMachine::pop()
{
    FP_TRY(const NodeId id, top());
    m_stack.pop_back();
    return id;
}

inline Status PickleMachine::put(std::uint64_t index)
{
    FP_TRY(const NodeId id, top());
    if (index >= m_maxNodes)
        return error(ErrorCode::Limit,
                     "memo index " + std::to_string(index) + " is beyond every real pickle");
    if (index >= m_memo.size())
        m_memo.resize(std::size_t(index) + 1, NoNode);
    m_memo[std::size_t(index)] = id;
    return {};
}

inline Status PickleMachine::get(std::uint64_t index)
{
    if (index >= m_memo.size() || m_memo[std::size_t(index)] == NoNode)
        return malformed("reads memo " + std::to_string(index) + ", which was never put");
    return pushId(m_memo[std::size_t(index)]);
}

template <class T>
Result<T> PickleMachine::number()
{
    FP_TRY(const std::string_view bytes, take(sizeof(T)));
    return loadLittle<T>(asBytes(bytes).data());
}

template <class Length>
Result<std::string_view> PickleMachine::counted()
{
    FP_TRY(const Length length, number<Length>());
    if constexpr (std::is_signed_v<Length>) {
        if (length < 0)
            return malformed("a negative length");
    }
    return take(std::uint64_t(length));
}

} // namespace forkpoint
