// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/pickle_vm.h"

#include "loaders/limits.h"
#include "loaders/pickle_text.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace forkpoint {

namespace {

using pickle::isUtf8;

/// First read of a pickle whose length is unknown; doubled until the pickle fits.
constexpr std::uint64_t FirstRead = 64u << 10;

class Machine
{
public:
    Machine(std::shared_ptr<const std::vector<std::byte>> input, std::uint64_t at)
        : m_graph(std::make_shared<PickleGraph>()),
          m_in(asText(*input)),
          m_start(std::size_t(at)),
          m_at(std::size_t(at))
    {
        m_graph->input = std::move(input);
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
    PickleAdditions &additionsOf(NodeId object);

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

    std::shared_ptr<PickleGraph> m_graph;
    std::string_view m_in;
    std::size_t m_start, m_at, m_opcodeAt = 0;
    std::size_t m_frameEnd = std::numeric_limits<std::size_t>::max();
    std::vector<NodeId> m_stack;
    std::vector<std::size_t> m_marks; // stack heights
    std::vector<NodeId> m_memo;
    std::unordered_map<std::string, NodeId> m_globalNodes;
    bool m_stopped = false;
};

// --- arguments ----------------------------------------------------------------------------------

Result<std::string_view> Machine::take(std::uint64_t count)
{
    if (count > m_in.size() - m_at)
        return error(ErrorCode::Truncated,
                     "needs " + std::to_string(count) + " more bytes, "
                         + std::to_string(m_in.size() - m_at) + " are left");
    const std::string_view taken = m_in.substr(m_at, std::size_t(count));
    m_at += std::size_t(count);
    return taken;
}

template <class T>
Result<T> Machine::number()
{
    FP_TRY(const std::string_view bytes, take(sizeof(T)));
    return loadLittle<T>(asBytes(bytes).data());
}

Result<std::string_view> Machine::line()
{
    const std::size_t end = m_in.find('\n', m_at);
    if (end == std::string_view::npos)
        return error(ErrorCode::Truncated, "a text argument has no end of line");
    const std::string_view text = m_in.substr(m_at, end - m_at);
    m_at = end + 1;
    return text;
}

template <class Length>
Result<std::string_view> Machine::counted()
{
    FP_TRY(const Length length, number<Length>());
    if constexpr (std::is_signed_v<Length>) {
        if (length < 0)
            return malformed("a negative length");
    }
    return take(std::uint64_t(length));
}

// --- nodes --------------------------------------------------------------------------------------

Result<NodeId> Machine::add(PickleNode node)
{
    if (m_graph->nodes.size() >= limits::PickleNodes)
        return error(ErrorCode::Limit,
                     "more than " + std::to_string(limits::PickleNodes) + " objects");
    m_graph->nodes.push_back(node);
    return NodeId(m_graph->nodes.size() - 1);
}

Status Machine::pushId(NodeId id)
{
    if (m_stack.size() >= limits::PickleNodes)
        return error(ErrorCode::Limit, "the stack grows beyond every real pickle");
    m_stack.push_back(id);
    return {};
}

Status Machine::push(PickleNode node)
{
    FP_TRY(const NodeId id, add(node));
    return pushId(id);
}

Status Machine::pushSlice(PickleKind kind, std::string_view text, bool flag)
{
    PickleNode node;
    node.kind = kind;
    node.flag = flag;
    node.data = text.data();
    node.length = text.size();
    return push(node);
}

Status Machine::pushOwned(PickleKind kind, std::string text, bool flag)
{
    m_graph->texts.push_back(std::move(text));
    return pushSlice(kind, m_graph->texts.back(), flag);
}

Status Machine::pushInteger(std::int64_t value)
{
    PickleNode node;
    node.kind = PickleKind::Int;
    node.integer = value;
    return push(node);
}

Status Machine::pushContainer(PickleKind kind, std::vector<NodeId> items, bool flag)
{
    PickleNode node;
    node.kind = kind;
    node.flag = flag;
    node.ref = std::uint32_t(m_graph->containers.size());
    m_graph->containers.push_back(std::move(items));
    return push(node);
}

Status Machine::pushTuple(std::span<const NodeId> items)
{
    PickleNode node;
    node.kind = PickleKind::Tuple;
    node.ref = std::uint32_t(m_graph->tupleItems.size());
    node.length = items.size();
    if (m_graph->tupleItems.size() + items.size() > 8 * limits::PickleNodes)
        return error(ErrorCode::Limit, "tuples hold more than every real pickle");
    m_graph->tupleItems.insert(m_graph->tupleItems.end(), items.begin(), items.end());
    return push(node);
}

Status Machine::pushGlobal(std::string_view module, std::string_view name)
{
    if (!isUtf8(module) || !isUtf8(name))
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

void Machine::markCalled(NodeId callee)
{
    if (m_graph->is(callee, PickleKind::Global))
        m_graph->globals[m_graph->nodes[callee].ref].called = true;
}

Status Machine::pushObject(PickleObject object)
{
    markCalled(object.callee);
    PickleNode node;
    node.kind = PickleKind::Object;
    node.ref = std::uint32_t(m_graph->objects.size());
    m_graph->objects.push_back(object);
    return push(node);
}

PickleAdditions &Machine::additionsOf(NodeId id)
{
    PickleObject &object = m_graph->objects[m_graph->nodes[id].ref];
    if (object.more == NoNode) {
        object.more = std::uint32_t(m_graph->additions.size());
        m_graph->additions.emplace_back();
    }
    return m_graph->additions[object.more];
}

// --- stack --------------------------------------------------------------------------------------

Result<NodeId> Machine::top() const
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor)
        return shortStack();
    return m_stack.back();
}

Result<NodeId> Machine::pop()
{
    FP_TRY(const NodeId id, top());
    m_stack.pop_back();
    return id;
}

Result<std::span<const NodeId>> Machine::itemsAboveMark()
{
    if (m_marks.empty())
        return malformed("needs a MARK, and there is none");
    const std::size_t from = m_marks.back();
    m_marks.pop_back();
    return std::span<const NodeId>(m_stack).subspan(from);
}

// --- numbers ------------------------------------------------------------------------------------

Status Machine::bigInteger(std::string_view bytes)
{
    // Trim what only repeats the sign, so that every value has one form.
    while (bytes.size() > 1) {
        const auto last = std::uint8_t(bytes.back()),
                   before = std::uint8_t(bytes[bytes.size() - 2]);
        const bool redundant = (last == 0 && before < 0x80) || (last == 0xff && before >= 0x80);
        if (!redundant)
            break;
        bytes.remove_suffix(1);
    }
    if (bytes.size() > sizeof(std::int64_t))
        return pushSlice(PickleKind::BigInt, bytes, false);
    std::uint64_t value = !bytes.empty() && std::uint8_t(bytes.back()) >= 0x80 ? ~0ull : 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::uint8_t(bytes[i]);
    return pushInteger(std::int64_t(value));
}

Status Machine::integerLine(bool isLong)
{
    FP_TRY(std::string_view text, line());
    if (!isLong && (text == "00" || text == "01")) {
        PickleNode node;
        node.kind = PickleKind::Bool;
        node.integer = text == "01";
        return push(node);
    }
    if (isLong && !text.empty() && text.back() == 'L')
        text.remove_suffix(1);
    auto digits = pickle::normalDecimal(text);
    if (!digits)
        return malformed("an integer of other characters than digits");
    if (const auto value = pickle::toInt64(*digits))
        return pushInteger(*value);
    return pushOwned(PickleKind::BigInt, std::move(*digits), true);
}

Status Machine::stepNumber(char opcode)
{
    PickleNode node;
    switch (opcode) {
    case 'N': return push(node);
    case '\x88':
    case '\x89':
        node.kind = PickleKind::Bool;
        node.integer = opcode == '\x88';
        return push(node);
    case 'I':
    case 'L': return integerLine(opcode == 'L');
    case 'J': {
        FP_TRY(const std::int32_t value, number<std::int32_t>());
        return pushInteger(value);
    }
    case 'K': {
        FP_TRY(const std::uint8_t value, number<std::uint8_t>());
        return pushInteger(value);
    }
    case 'M': {
        FP_TRY(const std::uint16_t value, number<std::uint16_t>());
        return pushInteger(value);
    }
    case '\x8a': {
        FP_TRY(const std::string_view bytes, counted<std::uint8_t>());
        return bigInteger(bytes);
    }
    case '\x8b': {
        FP_TRY(const std::string_view bytes, counted<std::int32_t>());
        return bigInteger(bytes);
    }
    case 'F': {
        FP_TRY(const std::string_view text, line());
        const auto value = pickle::toDouble(text);
        if (!value)
            return malformed("a float that is none");
        node.kind = PickleKind::Float;
        node.real = *value;
        return push(node);
    }
    default: { // 'G'
        FP_TRY(const std::string_view bytes, take(8));
        node.kind = PickleKind::Float;
        node.real = loadBig<double>(asBytes(bytes).data());
        return push(node);
    }
    }
}

// --- strings ------------------------------------------------------------------------------------

Status Machine::stepText(char opcode)
{
    std::string_view text;
    switch (opcode) {
    case 'S': {
        FP_TRY(const std::string_view literal, line());
        auto value = pickle::unquote(literal);
        if (!value)
            return malformed("a string without its quotes or with a bad escape");
        return pushOwned(PickleKind::Text, std::move(*value), true);
    }
    case 'V': {
        FP_TRY(const std::string_view escaped, line());
        auto value = pickle::fromRawUnicodeEscape(escaped);
        if (!value)
            return malformed("a unicode string with a bad escape");
        return pushOwned(PickleKind::Text, std::move(*value), false);
    }
    case 'T': {
        FP_TRY(text, counted<std::int32_t>());
        return pushSlice(PickleKind::Text, text, true);
    }
    case 'U': {
        FP_TRY(text, counted<std::uint8_t>());
        return pushSlice(PickleKind::Text, text, true);
    }
    case 'B': {
        FP_TRY(text, counted<std::uint32_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case 'C': {
        FP_TRY(text, counted<std::uint8_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case '\x8e': {
        FP_TRY(text, counted<std::uint64_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case '\x96': {
        FP_TRY(text, counted<std::uint64_t>());
        return pushSlice(PickleKind::Bytes, text, true);
    }
    case 'X': {
        FP_TRY(text, counted<std::uint32_t>());
        break;
    }
    case '\x8c': {
        FP_TRY(text, counted<std::uint8_t>());
        break;
    }
    default: { // '\x8d'
        FP_TRY(text, counted<std::uint64_t>());
        break;
    }
    }
    if (!isUtf8(text))
        return malformed("a string that is not UTF-8");
    return pushSlice(PickleKind::Text, text, false);
}

// --- containers ---------------------------------------------------------------------------------

Status Machine::checkHashable(std::span<const NodeId> items, std::size_t stride) const
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

Status Machine::append(NodeId target, std::span<const NodeId> items)
{
    if (m_graph->is(target, PickleKind::List)) {
        auto &list = m_graph->containers[m_graph->nodes[target].ref];
        list.insert(list.end(), items.begin(), items.end());
        return {};
    }
    if (!m_graph->is(target, PickleKind::Object))
        return malformed("appends to something that is no list");
    auto &list = additionsOf(target).items;
    list.insert(list.end(), items.begin(), items.end());
    return {};
}

Status Machine::setItems(NodeId target, std::span<const NodeId> pairs)
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
    auto &dict = additionsOf(target).dictItems;
    dict.insert(dict.end(), pairs.begin(), pairs.end());
    return {};
}

Status Machine::addItems(NodeId target, std::span<const NodeId> items)
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

Status Machine::lastToTuple(std::size_t count)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() - floor < count)
        return shortStack();
    const std::vector<NodeId> items(m_stack.end() - std::ptrdiff_t(count), m_stack.end());
    m_stack.resize(m_stack.size() - count);
    return pushTuple(items);
}

Status Machine::markToContainer(char opcode)
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

Status Machine::stepContainer(char opcode)
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

Status Machine::put(std::uint64_t index)
{
    FP_TRY(const NodeId id, top());
    if (index >= limits::PickleNodes)
        return error(ErrorCode::Limit,
                     "memo index " + std::to_string(index) + " is beyond every real pickle");
    if (index >= m_memo.size())
        m_memo.resize(std::size_t(index) + 1, NoNode);
    m_memo[std::size_t(index)] = id;
    return {};
}

Status Machine::get(std::uint64_t index)
{
    if (index >= m_memo.size() || m_memo[std::size_t(index)] == NoNode)
        return malformed("reads memo " + std::to_string(index) + ", which was never put");
    return pushId(m_memo[std::size_t(index)]);
}

Status Machine::stepMemo(char opcode)
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

Status Machine::reduce()
{
    PickleObject object;
    FP_TRY(object.arguments, pop());
    FP_TRY(object.callee, pop());
    if (!m_graph->is(object.arguments, PickleKind::Tuple))
        return malformed("calls with something that is no tuple");
    return pushObject(object);
}

Status Machine::newObject(bool withKeywords)
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

Status Machine::instance()
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

Status Machine::objectOpcode()
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

Status Machine::build()
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
    additionsOf(target).state = state;
    return {};
}

Status Machine::stackGlobal()
{
    FP_TRY(const NodeId name, pop());
    FP_TRY(const NodeId module, pop());
    if (!m_graph->is(name, PickleKind::Text) || !m_graph->is(module, PickleKind::Text))
        return malformed("a global's name that is no text");
    return pushGlobal(m_graph->text(module), m_graph->text(name));
}

Status Machine::stepObject(char opcode)
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

// --- the rest -----------------------------------------------------------------------------------

Status Machine::frame()
{
    FP_TRY(const std::uint64_t length, number<std::uint64_t>());
    if (length > m_in.size() - m_at)
        return error(ErrorCode::Truncated,
                     "a frame of " + std::to_string(length) + " bytes, "
                         + std::to_string(m_in.size() - m_at) + " are left");
    m_frameEnd = m_at + std::size_t(length);
    return {};
}

Status Machine::stepOther(char opcode)
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
        if (m_marks.size() >= limits::PickleNodes)
            return error(ErrorCode::Limit, "more marks than every real pickle");
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

Status Machine::step(char opcode)
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

Result<std::shared_ptr<const PickleGraph>> Machine::run(std::stop_token stop)
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
        FP_CHECK(step(opcode));
        if (m_opcodeAt < m_frameEnd && m_at > m_frameEnd)
            return malformed("a frame ends inside an opcode");
    }
    m_graph->end = m_at - m_start;
    return std::shared_ptr<const PickleGraph>(std::move(m_graph));
}

} // namespace

Result<std::shared_ptr<const PickleGraph>>
readPickle(std::shared_ptr<const std::vector<std::byte>> input, std::uint64_t at,
           std::stop_token stop)
{
    if (at > input->size())
        return Error{ErrorCode::Truncated, {}, "byte " + std::to_string(at), "no pickle is left"};
    return Machine(std::move(input), at).run(std::move(stop));
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
