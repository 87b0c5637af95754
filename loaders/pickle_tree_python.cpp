// SPDX-License-Identifier: GPL-3.0-or-later
// Containers and objects of Python in the tree of a pickle.
#include "loaders/limits.h"
#include "loaders/number_fold.h"
#include "loaders/pickle_print.h"
#include "loaders/pickle_walker.h"
#include "loaders/torch_container.h"

#include <algorithm>

namespace forkpoint {

namespace {

using K = KnownGlobal;

/// Wrappers around one item (Parameter of a tensor of a device copy ...).
constexpr int Wrappers = 16;
/// Nodes of arguments that are printed as one text rather than listed.
constexpr int PlainNodes = 48;

/// The items as one value where they are many plain numbers.
std::optional<Value> foldedNumbers(const PickleGraph &graph, std::span<const NodeId> items)
{
    if (items.size() <= limits::FoldedNumbers)
        return std::nullopt;
    NumberFold fold;
    for (const NodeId item : items) {
        if (graph.is(item, PickleKind::Float))
            fold.addReal(graph[item].real);
        else if (graph.is(item, PickleKind::Int))
            fold.addInteger(graph[item].integer);
        else
            return std::nullopt;
    }
    return fold.value();
}

} // namespace

// --- containers ---------------------------------------------------------------------------------

void PickleWalker::expandList(std::span<const NodeId> items, const char *empty,
                              PickleChildren &children)
{
    if (items.empty())
        return emit(Value::empty(empty));
    if (auto numbers = foldedNumbers(m_graph, items)) {
        if (m_repeated)
            m_budget.repeatedKeys += items.size() / 16;
        return emit(std::move(*numbers));
    }
    for (std::size_t i = 0; i < items.size(); ++i)
        children.push_back({Key::at(std::int64_t(i)), items[i], false});
}

void PickleWalker::expandPairs(std::span<const NodeId> pairs, PickleChildren &children)
{
    // A repeated key keeps its place and takes the last value, as in Python.
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        Key key = pickledKey(m_graph, pairs[i]);
        const std::string name = char('0' + int(key.kind))
            + (key.kind == Key::Kind::Integer && key.text.empty() ? std::to_string(key.number)
                                                                  : key.text);
        const auto [place, isNew] = places.emplace(name, children.size());
        if (isNew || name.size() > 500)
            children.push_back({std::move(key), pairs[i + 1], false});
        else
            children[place->second].node = pairs[i + 1];
    }
}

void PickleWalker::expand(NodeId node, PickleChildren &children, int wrappers)
{
    switch (m_graph.kind(node)) {
    case PickleKind::List: return expandList(m_graph.items(node), "[]", children);
    case PickleKind::Tuple: return expandList(m_graph.items(node), "()", children);
    case PickleKind::Dict:
        expandPairs(m_graph.items(node), children);
        return children.empty() ? emit(Value::empty("{}")) : void();
    case PickleKind::Object: return expandObject(node, children, wrappers);
    default: return leaf(node);
    }
}

void PickleWalker::expandObject(NodeId node, PickleChildren &children, int wrappers)
{
    if (wrappers > Wrappers)
        return emitOpaque("... wrapped deeper");
    if (expandPython(node, children, wrappers) || expandTorchValue(node, children, wrappers)
        || expandNumpy(node, children))
        return;
    if (expandTensor(m_graph.known(node), m_graph.arguments(node), children, wrappers)) {
        addState(m_graph.more(*m_graph.object(node)).state, children, false);
        return;
    }
    expandGeneric(node, children);
}

// --- Python objects -----------------------------------------------------------------------------

void PickleWalker::addState(NodeId state, PickleChildren &children, bool bookkeeping)
{
    if (state == NoNode || m_graph.is(state, PickleKind::None))
        return;
    const std::span<const NodeId> parts = m_graph.items(state);
    const auto isDictOrNone = [&](NodeId part) {
        return m_graph.is(part, PickleKind::Dict) || m_graph.is(part, PickleKind::None);
    };
    const bool withSlots = m_graph.is(state, PickleKind::Tuple) && parts.size() == 2
        && isDictOrNone(parts[0]) && m_graph.is(parts[1], PickleKind::Dict);
    PickleChildren members;
    if (withSlots) {
        expandPairs(m_graph.items(parts[0]), members);
        expandPairs(m_graph.items(parts[1]), members);
    } else if (m_graph.is(state, PickleKind::Dict)) {
        expandPairs(parts, members);
    } else {
        members.push_back({Key::of("state"), state, false});
    }
    for (PickleChild &member : members) {
        member.bookkeeping = member.bookkeeping || bookkeeping;
        children.push_back(std::move(member));
    }
}

void PickleWalker::expandDict(NodeId node, PickleChildren &children)
{
    const PickleAdditions &more = m_graph.more(*m_graph.object(node));
    std::vector<NodeId> pairs;
    for (const NodeId argument : m_graph.arguments(node)) {
        const std::span<const NodeId> items = m_graph.items(argument);
        if (m_graph.is(argument, PickleKind::Dict)) {
            pairs.insert(pairs.end(), items.begin(), items.end());
        } else if (m_graph.is(argument,
                              PickleKind::List)) { // Python 2's OrderedDict: [[k, v], ...]
            for (const NodeId item : items) {
                const std::span<const NodeId> pair = m_graph.items(item);
                if (pair.size() == 2)
                    pairs.insert(pairs.end(), pair.begin(), pair.end());
            }
        }
    }
    pairs.insert(pairs.end(), more.dictItems.begin(), more.dictItems.end());
    expandPairs(pairs, children);
    if (children.empty())
        emit(Value::empty("{}"));
    // _metadata of a module's state_dict: version numbers of classes.
    addState(more.state, children, true);
}

void PickleWalker::expandBytesIO(NodeId node)
{
    const std::span<const NodeId> state = m_graph.items(m_graph.more(*m_graph.object(node)).state);
    const NodeId held = !state.empty()     ? state[0]
        : !m_graph.arguments(node).empty() ? m_graph.arguments(node)[0]
                                           : NoNode;
    std::string bytes = pickledBytes(m_graph, held).value_or("");
    if (nested(bytes))
        return emitOpaque("_io.BytesIO");
    bytesValue(std::move(bytes));
}

/// Lists a save inside `bytes` below this path; false where they are none, or unsound.
bool PickleWalker::nested(std::string bytes)
{
    const auto head = asBytes(bytes);
    if (!isZip(head) && !isBinaryPickle(head))
        return false;
    const Status status = listNestedSave(std::move(bytes), below());
    if (!status.ok())
        warn(std::string(toString(status.error().code)),
             "a save inside it is not listed: " + status.error().text);
    return status.ok();
}

bool PickleWalker::expandPython(NodeId node, PickleChildren &children, int wrappers)
{
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const PickleAdditions &more = m_graph.more(*m_graph.object(node));
    switch (m_graph.known(node)) {
    case K::Dict: expandDict(node, children); return true;
    case K::Counter:
        emitOpaque("collections.Counter");
        for (const NodeId argument : arguments)
            expandPairs(m_graph.items(argument), children);
        expandPairs(more.dictItems, children);
        return true;
    case K::List:
    case K::Tuple: {
        std::vector<NodeId> items;
        if (!arguments.empty()) {
            const auto given = m_graph.items(arguments[0]);
            items.assign(given.begin(), given.end());
        }
        items.insert(items.end(), more.items.begin(), more.items.end());
        expandList(items, m_graph.known(node) == K::List ? "[]" : "()", children);
        return true;
    }
    case K::Set:
    case K::FrozenSet: {
        std::vector<std::string> members;
        const NodeId given = arguments.empty() ? NoNode : arguments[0];
        for (const NodeId item : m_graph.items(given))
            members.push_back(printedPickle(m_graph, item, 256));
        std::sort(members.begin(), members.end());
        std::string text;
        for (const std::string &member : members)
            text += (text.empty() ? "" : ", ") + member;
        members.empty() ? emit(Value::empty("set()")) : emitOpaque("{" + text + "}");
        return true;
    }
    case K::Bytes:
    case K::ByteArray:
    case K::EncodeText:
        if (auto bytes = pickledBytes(m_graph, node)) {
            bytesValue(std::move(*bytes));
            return true;
        }
        return false;
    case K::Complex: emitOpaque(printedPickle(m_graph, node, 256)); return true;
    case K::BytesIO: expandBytesIO(node); return true;
    case K::Reconstructor: // (class, base, state of the base)
        emitOpaque(arguments.empty() ? "object"
                                     : printedPickle(m_graph, arguments[0], limits::PrintedText));
        addState(more.state, children, false);
        return true;
    default: (void)wrappers; return false;
    }
}

/// Whether repr() of the node is a good, short and complete text.
bool PickleWalker::isPlain(NodeId node, int &left) const
{
    if (--left < 0)
        return false;
    const PickleKind kind = m_graph.kind(node);
    if (kind == PickleKind::Object) {
        const PickleObject &object = *m_graph.object(node);
        return object.more == NoNode && isPlain(object.callee, left)
            && isPlain(object.arguments, left);
    }
    if (kind == PickleKind::Tuple || kind == PickleKind::List) {
        const auto items = m_graph.items(node);
        return std::all_of(items.begin(), items.end(),
                           [&](NodeId item) { return isPlain(item, left); });
    }
    return kind != PickleKind::Dict && kind != PickleKind::Set && kind != PickleKind::PersistentId;
}

/// An object of a class we only name: its class, then what it was made of and its state.
void PickleWalker::expandGeneric(NodeId node, PickleChildren &children)
{
    /// Characters of printed arguments in all before they are shown short.
    constexpr std::size_t Printed = 64u << 20;
    const PickleObject &object = *m_graph.object(node);
    const PickleAdditions &more = m_graph.more(object);
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const std::size_t cap = m_printed > Printed ? 256 : 1u << 20;
    int left = PlainNodes;
    const bool inText = object.how == PickleObject::How::Reduce && !arguments.empty()
        && isPlain(object.arguments, left);
    std::string text = printedPickle(m_graph, object.callee, cap);
    if (inText) {
        const std::string shown = printedPickle(m_graph, object.arguments, cap);
        text += arguments.size() == 1 && shown.ends_with(",)")
            ? shown.substr(0, shown.size() - 2) + ")"
            : shown;
    }
    const bool ofMesh = text == "torch.distributed.device_mesh.DeviceMesh";
    emitOpaque(std::move(text));
    if (!inText) {
        const bool apart = !more.items.empty();
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            Key key = Key::at(std::int64_t(i));
            if (apart)
                key = Key::of("args." + std::to_string(i));
            children.push_back({std::move(key), arguments[i], false});
        }
    }
    expandPairs(m_graph.items(object.keywords), children);
    for (std::size_t i = 0; i < more.items.size(); ++i)
        children.push_back({Key::at(std::int64_t(i)), more.items[i], false});
    expandPairs(more.dictItems, children);
    // Hashes and threads of a mesh differ between identical runs.
    const std::size_t first = children.size();
    addState(more.state, children, false);
    for (std::size_t i = first; ofMesh && i < children.size(); ++i)
        children[i].bookkeeping =
            children[i].key.text == "_hash" || children[i].key.text == "_thread_id";
}

} // namespace forkpoint
