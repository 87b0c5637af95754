// SPDX-License-Identifier: GPL-3.0-or-later
// Containers, memo and objects of the pickle machine.
#include "loaders/limits.h"
#include "loaders/torch/pickle_machine.h"
#include "loaders/torch/pickle_text.h"

#include <algorithm>

namespace forkpoint {

// --- containers ---------------------------------------------------------------------------------

Status PickleMachine::checkHashable(std::span<const NodeId> items, std::size_t stride) const
{
    for (std::size_t i = 0; i < items.size(); i += stride) {
        const PickleNode &node = m_graph->nodes[items[i]];
        const bool isMutable = node.kind == PickleKind::List || node.kind == PickleKind::Dict
            || ((node.kind == PickleKind::Set || node.kind == PickleKind::Bytes) && node.flag);
        if (isMutable)
            return malformed("a key or set member that cannot be hashed");
    }
    return {};
}

Status PickleMachine::append(NodeId target, std::span<const NodeId> items)
{
    if (m_graph->is(target, PickleKind::List)) {
        auto &list = m_graph->containers[m_graph->nodes[target].ref];
        list.insert(list.end(), items.begin(), items.end());
        return {};
    }
    if (!m_graph->is(target, PickleKind::Object))
        return malformed("appends to something that is no list");
    auto &list = growthOf(target).items;
    list.insert(list.end(), items.begin(), items.end());
    return {};
}

Status PickleMachine::setItems(NodeId target, std::span<const NodeId> pairs)
{
    if (pairs.size() % 2 != 0)
        return malformed("a key without a value");
    FP_CHECK(checkHashable(pairs, 2));
    if (m_graph->is(target, PickleKind::Dict)) {
        auto &dict = m_graph->containers[m_graph->nodes[target].ref];
        dict.insert(dict.end(), pairs.begin(), pairs.end());
        return {};
    }
    if (!m_graph->is(target, PickleKind::Object))
        return malformed("sets an item of something that is no dictionary");
    auto &dict = growthOf(target).dictItems;
    dict.insert(dict.end(), pairs.begin(), pairs.end());
    return {};
}

Status PickleMachine::addItems(NodeId target, std::span<const NodeId> items)
{
    FP_CHECK(checkHashable(items, 1));
    if (m_graph->is(target, PickleKind::Set) && m_graph->nodes[target].flag) {
        auto &set = m_graph->containers[m_graph->nodes[target].ref];
        set.insert(set.end(), items.begin(), items.end());
        return {};
    }
    if (!m_graph->is(target, PickleKind::Object))
        return malformed("adds to something that is no set");
    return append(target, items);
}

Status PickleMachine::lastToTuple(std::size_t count)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() - floor < count)
        return shortStack();
    std::array<NodeId, 3> items{};
    std::copy_n(m_stack.end() - std::ptrdiff_t(count), count, items.begin());
    m_stack.resize(m_stack.size() - count);
    return pushTuple(std::span(items).first(count));
}

Status PickleMachine::markToContainer(char opcode)
{
    FP_TRY(const std::span<const NodeId> above, itemsAboveMark());
    std::vector<NodeId> items(above.begin(), above.end());
    dropItems(above);
    switch (opcode) {
    case 't': return pushTuple(items);
    case 'l': return pushContainer(PickleKind::List, std::move(items), false);
    case '\x91':
        FP_CHECK(checkHashable(items, 1));
        return pushContainer(PickleKind::Set, std::move(items), false);
    default: { // 'd'
        if (items.size() % 2 != 0)
            return malformed("a dictionary with a key without a value");
        FP_CHECK(checkHashable(items, 2));
        return pushContainer(PickleKind::Dict, std::move(items), false);
    }
    }
}

Status PickleMachine::stepContainer(char opcode)
{
    switch (opcode) {
    case ')': return pushTuple({});
    case ']': return pushContainer(PickleKind::List, {}, false);
    case '}': return pushContainer(PickleKind::Dict, {}, false);
    case '\x8f': return pushContainer(PickleKind::Set, {}, true);
    case '\x85': return lastToTuple(1);
    case '\x86': return lastToTuple(2);
    case '\x87': return lastToTuple(3);
    case 't':
    case 'l':
    case 'd':
    case '\x91': return markToContainer(opcode);
    case 'a': {
        FP_TRY(const NodeId item, pop());
        FP_TRY(const NodeId target, top());
        return append(target, std::span(&item, 1));
    }
    case 's': {
        FP_TRY(const NodeId value, pop());
        FP_TRY(const NodeId key, pop());
        FP_TRY(const NodeId target, top());
        const NodeId pair[] = {key, value};
        return setItems(target, pair);
    }
    default: { // 'e', 'u', '\x90'
        FP_TRY(const std::span<const NodeId> items, itemsAboveMark());
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() - items.size() <= floor)
            return shortStack();
        const NodeId target = m_stack[m_stack.size() - items.size() - 1];
        FP_CHECK(opcode == 'e'       ? append(target, items)
                     : opcode == 'u' ? setItems(target, items)
                                     : addItems(target, items));
        dropItems(items);
        return {};
    }
    }
}

// --- memo ---------------------------------------------------------------------------------------

Status PickleMachine::stepMemo(char opcode)
{
    switch (opcode) {
    case 'p':
    case 'g': {
        FP_TRY(const std::string_view text, line());
        const auto index = pickle::toInt64(text);
        if (!index || *index < 0)
            return malformed("a memo index that is no small number");
        return opcode == 'p' ? put(std::uint64_t(*index)) : get(std::uint64_t(*index));
    }
    case 'q':
    case 'h': {
        FP_TRY(const std::uint8_t index, number<std::uint8_t>());
        return opcode == 'q' ? put(index) : get(index);
    }
    case 'r':
    case 'j': {
        FP_TRY(const std::uint32_t index, number<std::uint32_t>());
        return opcode == 'r' ? put(index) : get(index);
    }
    default: return put(m_memo.size()); // '\x94'
    }
}

// --- objects ------------------------------------------------------------------------------------

Status PickleMachine::reduce()
{
    PickleObject object;
    FP_TRY(object.arguments, pop());
    FP_TRY(object.callee, pop());
    if (!m_graph->is(object.arguments, PickleKind::Tuple))
        return malformed("calls with something that is no tuple");
    return pushObject(object);
}

Status PickleMachine::newObject(bool withKeywords)
{
    PickleObject object;
    object.how = PickleObject::How::NewObject;
    if (withKeywords) {
        FP_TRY(object.keywords, pop());
        if (!m_graph->is(object.keywords, PickleKind::Dict))
            return malformed("keyword arguments that are no dictionary");
    }
    FP_TRY(object.arguments, pop());
    FP_TRY(object.callee, pop());
    if (!m_graph->is(object.arguments, PickleKind::Tuple))
        return malformed("constructs with something that is no tuple");
    return pushObject(object);
}

Status PickleMachine::instance()
{
    FP_TRY(const std::string_view module, line());
    FP_TRY(const std::string_view name, line());
    FP_TRY(const std::span<const NodeId> above, itemsAboveMark());
    const std::vector<NodeId> items(above.begin(), above.end());
    dropItems(above);
    PickleObject object;
    object.how = PickleObject::How::Instance;
    FP_CHECK(pushGlobal(module, name));
    FP_TRY(object.callee, pop());
    FP_CHECK(pushTuple(items));
    FP_TRY(object.arguments, pop());
    return pushObject(object);
}

Status PickleMachine::objectOpcode()
{
    FP_TRY(const std::span<const NodeId> above, itemsAboveMark());
    if (above.empty())
        return shortStack();
    const std::vector<NodeId> items(above.begin(), above.end());
    dropItems(above);
    PickleObject object;
    object.how = PickleObject::How::Instance;
    object.callee = items.front();
    FP_CHECK(pushTuple(std::span(items).subspan(1)));
    FP_TRY(object.arguments, pop());
    return pushObject(object);
}

Status PickleMachine::build()
{
    FP_TRY(const NodeId state, pop());
    FP_TRY(NodeId target, top());
    if (m_graph->is(target, PickleKind::Global)) { // would write into a class
        PickleObject object;
        object.callee = target;
        m_stack.pop_back();
        FP_CHECK(pushObject(object));
        target = m_stack.back();
    }
    if (!m_graph->is(target, PickleKind::Object))
        return malformed("sets the state of something that has none");
    PickleObject &object = m_graph->objects[m_graph->nodes[target].ref];
    if (object.more == NoNode && object.state == NoNode)
        object.state = state;
    else
        growthOf(target).states.push_back(state);
    return {};
}

Status PickleMachine::stackGlobal()
{
    FP_TRY(const NodeId name, pop());
    FP_TRY(const NodeId module, pop());
    if (!m_graph->is(name, PickleKind::Text) || !m_graph->is(module, PickleKind::Text))
        return malformed("a global's name that is no text");
    return pushGlobal(m_graph->text(module), m_graph->text(name));
}

Status PickleMachine::stepObject(char opcode)
{
    switch (opcode) {
    case 'c': {
        FP_TRY(const std::string_view module, line());
        FP_TRY(const std::string_view name, line());
        return pushGlobal(module, name);
    }
    case '\x93': return stackGlobal();
    case 'R': return reduce();
    case '\x81': return newObject(false);
    case '\x92': return newObject(true);
    case 'i': return instance();
    case 'o': return objectOpcode();
    case 'b': return build();
    default: { // 'Q'
        PickleNode node;
        node.kind = PickleKind::PersistentId;
        FP_TRY(node.ref, pop());
        FP_CHECK(push(node));
        m_graph->persistentIds.push_back(m_stack.back());
        return {};
    }
    }
}

} // namespace forkpoint
