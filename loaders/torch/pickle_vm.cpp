// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_vm.h"

#include "loaders/limits.h"
#include "loaders/torch/pickle_machine.h"
#include "loaders/torch/pickle_text.h"

#include <algorithm>
#include <utility>

namespace forkpoint {

namespace {

/// First read of a pickle whose length is unknown; doubled until the pickle fits.
constexpr std::uint64_t FirstRead = 64u << 10;

} // namespace

// --- arguments ----------------------------------------------------------------------------------

Result<std::string_view> PickleMachine::line()
{
    const std::size_t end = m_in.find('\n', m_at);
    if (end == std::string_view::npos)
        return error(ErrorCode::Truncated, "a text argument has no end of line");
    const std::string_view text = m_in.substr(m_at, end - m_at);
    m_at = end + 1;
    return text;
}

// --- nodes --------------------------------------------------------------------------------------

Status PickleMachine::pushSlice(PickleKind kind, std::string_view text, bool flag)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max())
        return error(ErrorCode::Limit, "a text of more than 4 GiB");
    PickleNode node;
    node.kind = kind;
    node.flag = flag;
    node.data = text.data();
    node.ref = std::uint32_t(text.size());
    return push(node);
}

Status PickleMachine::pushOwned(PickleKind kind, std::string text, bool flag)
{
    m_graph->texts.push_back(std::move(text));
    return pushSlice(kind, m_graph->texts.back(), flag);
}

Status PickleMachine::pushInteger(std::int64_t value)
{
    const bool isSmall = value >= 0 && std::size_t(value) < m_smallIntegers.size();
    if (isSmall && m_smallIntegers[std::size_t(value)] != NoNode)
        return pushId(m_smallIntegers[std::size_t(value)]);
    PickleNode node;
    node.kind = PickleKind::Int;
    node.integer = value;
    FP_CHECK(push(node));
    if (isSmall)
        m_smallIntegers[std::size_t(value)] = m_stack.back();
    return {};
}

Status PickleMachine::pushContainer(PickleKind kind, std::vector<NodeId> items, bool flag)
{
    // One byte of a file makes one, which takes some hundred here; other nodes take 16.
    if (m_graph->containers.size() >= m_maxNodes / 4)
        return error(ErrorCode::Limit,
                     "may hold at most " + std::to_string(m_maxNodes / 4)
                         + " lists, dictionaries and sets");
    PickleNode node;
    node.kind = kind;
    node.flag = flag;
    node.ref = std::uint32_t(m_graph->containers.size());
    m_graph->containers.push_back(std::move(items));
    return push(node);
}

Status PickleMachine::pushTuple(std::span<const NodeId> items)
{
    if (items.empty() && m_emptyTuple != NoNode)
        return pushId(m_emptyTuple);
    PickleNode node;
    node.kind = PickleKind::Tuple;
    node.ref = std::uint32_t(m_graph->tupleItems.size());
    node.bits = items.size();
    if (m_graph->tupleItems.size() + items.size() > 8 * m_maxNodes)
        return error(ErrorCode::Limit, "tuples hold more than every real pickle");
    m_graph->tupleItems.insert(m_graph->tupleItems.end(), items.begin(), items.end());
    FP_CHECK(push(node));
    if (items.empty())
        m_emptyTuple = m_stack.back();
    return {};
}

Status PickleMachine::pushGlobal(std::string_view module, std::string_view name)
{
    if (!pickle::isUtf8(module) || !pickle::isUtf8(name))
        return malformed("a global's name is not UTF-8");
    std::string key = std::string(module) + '\n' + std::string(name);
    if (const auto seen = m_globalNodes.find(key); seen != m_globalNodes.end())
        return pushId(seen->second);
    PickleGlobal global;
    global.module = module;
    global.name = name;
    global.known = knownGlobal(module, name);
    global.dangerous = isDangerousGlobal(module, name);
    global.opcodeAt = m_opcodeAt - m_start;
    PickleNode node;
    node.kind = PickleKind::Global;
    node.ref = std::uint32_t(m_graph->globals.size());
    m_graph->globals.push_back(std::move(global));
    FP_TRY(const NodeId id, add(node));
    m_globalNodes.emplace(std::move(key), id);
    return pushId(id);
}

void PickleMachine::markCalled(NodeId callee)
{
    if (m_graph->is(callee, PickleKind::Global))
        m_graph->globals[m_graph->nodes[callee].ref].called = true;
}

Status PickleMachine::pushObject(PickleObject object)
{
    markCalled(object.callee);
    PickleNode node;
    node.kind = PickleKind::Object;
    node.ref = std::uint32_t(m_graph->objects.size());
    m_graph->objects.push_back(object);
    return push(node);
}

PickleGrowth &PickleMachine::growthOf(NodeId id)
{
    PickleObject &object = m_graph->objects[m_graph->nodes[id].ref];
    if (object.more == NoNode) {
        object.more = std::uint32_t(m_graph->growths.size());
        PickleGrowth &growth = m_graph->growths.emplace_back();
        if (const NodeId state = std::exchange(object.state, NoNode); state != NoNode)
            growth.states.push_back(state);
    }
    return m_graph->growths[object.more];
}

// --- stack --------------------------------------------------------------------------------------

Result<std::span<const NodeId>> PickleMachine::itemsAboveMark()
{
    if (m_marks.empty())
        return malformed("needs a MARK, and there is none");
    const std::size_t from = m_marks.back();
    m_marks.pop_back();
    return std::span<const NodeId>(m_stack).subspan(from);
}

// --- the rest -----------------------------------------------------------------------------------

Status PickleMachine::frame()
{
    FP_TRY(const std::uint64_t length, number<std::uint64_t>());
    if (length > m_in.size() - m_at)
        return error(ErrorCode::Truncated,
                     "a frame of " + std::to_string(length) + " bytes, "
                         + std::to_string(m_in.size() - m_at) + " are left");
    m_frameEnd = m_at + std::size_t(length);
    return {};
}

Status PickleMachine::stepOther(char opcode)
{
    switch (opcode) {
    case '\x80': {
        FP_TRY(const std::uint8_t protocol, number<std::uint8_t>());
        if (protocol > 5)
            return error(ErrorCode::Unsupported,
                         "protocol " + std::to_string(protocol) + ", known are 0 to 5");
        return {};
    }
    case '\x95': return frame();
    case '(':
        if (m_marks.size() >= limits::PickleMarks)
            return error(ErrorCode::Limit,
                         "more than " + std::to_string(limits::PickleMarks) + " open marks");
        m_marks.push_back(m_stack.size());
        return {};
    case '0': // POP takes an item, or a mark where that is on top
        if (!m_marks.empty() && m_marks.back() == m_stack.size()) {
            m_marks.pop_back();
            return {};
        }
        if (m_stack.empty())
            return shortStack();
        m_stack.pop_back();
        return {};
    case '1': {
        FP_TRY(const std::span<const NodeId> items, itemsAboveMark());
        dropItems(items);
        return {};
    }
    case '2': {
        FP_TRY(const NodeId id, top());
        return pushId(id);
    }
    case '.': {
        FP_TRY(m_graph->root, pop());
        m_stopped = true;
        return {};
    }
    case '\x82':
    case '\x83':
    case '\x84':
        return error(ErrorCode::Refused, "an extension code: it names nothing in the file");
    case '\x97':
    case '\x98': return error(ErrorCode::Refused, "an out-of-band buffer: its bytes are elsewhere");
    case 'P': return error(ErrorCode::Refused, "a persistent id in text form");
    default: break;
    }
    static constexpr char digits[] = "0123456789abcdef";
    const auto code = std::uint8_t(opcode);
    return malformed(std::string("unknown opcode 0x") + digits[code >> 4] + digits[code & 15]);
}

Status PickleMachine::step(char opcode)
{
    switch (opcode) {
    case 'N':
    case '\x88':
    case '\x89':
    case 'I':
    case 'L':
    case 'J':
    case 'K':
    case 'M':
    case '\x8a':
    case '\x8b':
    case 'F':
    case 'G': return stepNumber(opcode);
    case 'S':
    case 'V':
    case 'T':
    case 'U':
    case 'B':
    case 'C':
    case '\x8e':
    case '\x96':
    case 'X':
    case '\x8c':
    case '\x8d': return stepText(opcode);
    case ')':
    case ']':
    case '}':
    case '\x8f':
    case '\x85':
    case '\x86':
    case '\x87':
    case 't':
    case 'l':
    case 'd':
    case '\x91':
    case 'a':
    case 's':
    case 'e':
    case 'u':
    case '\x90': return stepContainer(opcode);
    case 'p':
    case 'g':
    case 'q':
    case 'h':
    case 'r':
    case 'j':
    case '\x94': return stepMemo(opcode);
    case 'c':
    case '\x93':
    case 'R':
    case '\x81':
    case '\x92':
    case 'i':
    case 'o':
    case 'b':
    case 'Q': return stepObject(opcode);
    default: return stepOther(opcode);
    }
}

Result<std::shared_ptr<const PickleGraph>> PickleMachine::run(std::stop_token stop)
{
    for (std::uint64_t count = 0; !m_stopped; ++count) {
        m_opcodeAt = m_at;
        if ((count & 0xffff) == 0 && stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "stopped"};
        if (m_at == m_in.size())
            return error(ErrorCode::Truncated, "the pickle has no STOP");
        if (m_at >= m_frameEnd)
            m_frameEnd = std::numeric_limits<std::size_t>::max();
        const char opcode = m_in[m_at++];
        constexpr char Memoize = '\x94'; // every third
        FP_CHECK(opcode == Memoize ? put(m_memo.size()) : step(opcode));
        if (m_opcodeAt < m_frameEnd && m_at > m_frameEnd)
            return malformed("a frame ends inside an opcode");
    }
    m_graph->end = m_at - m_start;
    return std::shared_ptr<const PickleGraph>(std::move(m_graph));
}

Result<std::shared_ptr<const PickleGraph>>
readPickle(std::shared_ptr<const std::vector<std::byte>> input, std::uint64_t at,
           std::stop_token stop, std::size_t maxNodes)
{
    if (at > input->size())
        return Error{ErrorCode::Truncated, {}, "byte " + std::to_string(at), "no pickle is left"};
    return PickleMachine(std::move(input), at, maxNodes).run(std::move(stop));
}

Result<std::shared_ptr<const PickleGraph>> readPickle(const ByteSource &source, std::uint64_t at,
                                                      std::stop_token stop)
{
    const std::uint64_t left = source.size() - std::min(at, source.size());
    for (std::uint64_t size = FirstRead;; size *= 4) {
        const std::uint64_t now = std::min({size, left, limits::PickleBytes});
        FP_TRY(auto bytes, readAll(source, at, now, limits::PickleBytes));
        auto input = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        auto graph = readPickle(std::move(input), 0, stop);
        if (graph.ok() || graph.error().code != ErrorCode::Truncated || now == left)
            return graph;
        if (now == limits::PickleBytes)
            return Error{ErrorCode::Limit,
                         source.name(),
                         {},
                         "a pickle of more than " + std::to_string(now) + " bytes"};
    }
}

} // namespace forkpoint
