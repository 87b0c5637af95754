// SPDX-License-Identifier: GPL-3.0-or-later
// Containers and objects of Python in the tree of a pickle.
#include "loaders/limits.h"
#include "loaders/text/number_fold.h"
#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_walker.h"
#include "loaders/torch/torch_container.h"

#include <algorithm>

namespace forkpoint {

namespace {

using K = KnownGlobal;

/// Wrappers around one item (Parameter of a tensor of a device copy ...).
constexpr int Wrappers = 16;
/// Characters of a key that are not worth a place in a table of nodes.
constexpr std::size_t LongKey = 64;
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

/// The items of a list or tuple of the graph.
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
    children.setItems(items);
}

/// Items beside other children.
void PickleWalker::expandItems(std::span<const NodeId> items, PickleChildren &children)
{
    for (std::size_t i = 0; i < items.size() && children.size() < room(); ++i)
        children.push_back({Key::at(std::int64_t(i)), items[i], false});
}

void PickleWalker::expandPairs(std::span<const NodeId> pairs, PickleChildren &children)
{
    // A repeated key keeps its place and takes the last value, as in Python.
    std::unordered_map<std::string, std::size_t> places;
    std::unordered_map<NodeId, std::size_t> placesOfLong; // many pairs may refer to one long key
    for (std::size_t i = 0; i + 1 < pairs.size() && children.size() < room(); i += 2) {
        const auto again = placesOfLong.find(pairs[i]);
        if (again != placesOfLong.end()) {
            children.named()[again->second].node = pairs[i + 1];
            continue;
        }
        Key key = pickledKey(m_graph, pairs[i], m_digests);
        if (key.kind == Key::Kind::Other && m_storages && !m_graph.persistentIds.empty())
            m_owed.push_back(pairs[i]);
        const std::string name = char('0' + int(key.kind))
            + (key.kind == Key::Kind::Integer && key.text.empty() ? std::to_string(key.number)
                                                                  : key.text);
        const auto [place, isNew] = places.emplace(name, children.named().size());
        if (name.size() > LongKey || key.kind == Key::Kind::Other)
            placesOfLong.emplace(pairs[i], place->second);
        if (isNew)
            children.push_back({std::move(key), pairs[i + 1], false});
        else
            children.named()[place->second].node = pairs[i + 1];
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
        return emitUnlisted(node, "wrapped too deep, the rest is not listed", "... wrapped deeper");
    if (expandPython(node, children) || expandTorchValue(node, children, wrappers)
        || expandNumpy(node, children))
        return;
    if (expandTensor(m_graph.known(node), m_graph.arguments(node), children, wrappers)) {
        addStates(m_graph.more(*m_graph.object(node)).states, children, false);
        return;
    }
    expandGeneric(node, children);
}

// --- Python objects -----------------------------------------------------------------------------

/// What BUILD would set, one state after another: a later one replaces the keys that it has too.
void PickleWalker::addStates(std::span<const NodeId> states, PickleChildren &children,
                             bool bookkeeping)
{
    std::vector<NodeId> dicts;
    PickleChildren members;
    for (const NodeId state : states) {
        const std::span<const NodeId> parts = m_graph.items(state);
        const auto isDictOrNone = [&](NodeId part) {
            return m_graph.is(part, PickleKind::Dict) || m_graph.is(part, PickleKind::None);
        };
        const bool withSlots = m_graph.is(state, PickleKind::Tuple) && parts.size() == 2
            && isDictOrNone(parts[0]) && m_graph.is(parts[1], PickleKind::Dict);
        if (withSlots)
            dicts.insert(dicts.end(), parts.begin(), parts.end());
        else if (m_graph.is(state, PickleKind::Dict))
            dicts.push_back(state);
        else if (state != NoNode && !m_graph.is(state, PickleKind::None) && members.size() < room())
            members.push_back({Key::of("state"), state, false});
    }
    // Of a dictionary that is applied several times, the last time counts.
    std::unordered_set<NodeId> later;
    std::vector<NodeId> effective;
    for (std::size_t i = dicts.size(); i-- > 0;) {
        if (later.insert(dicts[i]).second)
            effective.push_back(dicts[i]);
    }
    std::vector<NodeId> pairs;
    for (std::size_t i = effective.size(); i-- > 0;) {
        const std::span<const NodeId> items = m_graph.items(effective[i]);
        pairs.insert(pairs.end(), items.begin(), items.end());
    }
    expandPairs(pairs, members);
    for (PickleChild &member : members.named()) {
        member.bookkeeping = member.bookkeeping || bookkeeping;
        children.push_back(std::move(member));
    }
}

/// dict, OrderedDict, defaultdict. False where something else than entries is in it.
bool PickleWalker::expandDict(NodeId node, PickleChildren &children)
{
    const PickleAdditions more = m_graph.more(*m_graph.object(node));
    std::vector<NodeId> pairs;
    NodeId factory = NoNode;
    if (m_graph.arguments(node).size() > 2)
        return false;
    for (const NodeId argument : m_graph.arguments(node)) {
        const std::span<const NodeId> items = m_graph.items(argument);
        if (m_graph.is(argument, PickleKind::Dict)) {
            pairs.insert(pairs.end(), items.begin(), items.end());
        } else if (m_graph.is(argument, PickleKind::List)
                   || m_graph.is(argument, PickleKind::Tuple)) {
            for (const NodeId item : items) { // Python 2's OrderedDict: [[k, v], ...]
                const std::span<const NodeId> pair = m_graph.items(item);
                if (pair.size() != 2)
                    return false;
                pairs.insert(pairs.end(), pair.begin(), pair.end());
            }
        } else if (!m_graph.is(argument, PickleKind::Global)
                   && !m_graph.is(argument, PickleKind::None)) {
            factory = argument; // of a defaultdict; a plain name is part of its type
        }
    }
    if (!more.items.empty() || m_graph.object(node)->keywords != NoNode)
        return false;
    pairs.insert(pairs.end(), more.dictItems.begin(), more.dictItems.end());
    expandPairs(pairs, children);
    if (factory != NoNode)
        addNamed("default_factory", factory, children);
    if (children.empty())
        emit(Value::empty("{}"));
    // _metadata of a module's state_dict: version numbers of classes.
    addStates(more.states, children, true);
    return true;
}

bool PickleWalker::expandCounter(NodeId node, PickleChildren &children)
{
    const PickleAdditions more = m_graph.more(*m_graph.object(node));
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const bool isCounts =
        arguments.empty() || (arguments.size() == 1 && m_graph.is(arguments[0], PickleKind::Dict));
    if (!isCounts || !more.items.empty() || m_graph.object(node)->keywords != NoNode)
        return false;
    emitOpaque("collections.Counter");
    std::vector<NodeId> pairs;
    for (const std::span<const NodeId> some :
         {arguments.empty() ? arguments : m_graph.items(arguments[0]),
          std::span<const NodeId>(more.dictItems)})
        pairs.insert(pairs.end(), some.begin(), some.end());
    expandPairs(pairs, children);
    addStates(more.states, children, false);
    return true;
}

/// list(items) and tuple(items)
bool PickleWalker::expandSequence(NodeId node, PickleChildren &children)
{
    const PickleAdditions more = m_graph.more(*m_graph.object(node));
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const bool isPlain = arguments.empty()
        || (arguments.size() == 1
            && (m_graph.is(arguments[0], PickleKind::List)
                || m_graph.is(arguments[0], PickleKind::Tuple)));
    if (!isPlain || !more.dictItems.empty() || !more.states.empty()
        || m_graph.object(node)->keywords != NoNode)
        return false;
    const std::span<const NodeId> given =
        arguments.empty() ? std::span<const NodeId>() : m_graph.items(arguments[0]);
    if (more.items.empty()) {
        expandList(given, m_graph.known(node) == K::List ? "[]" : "()", children);
        return true;
    }
    std::vector<NodeId> items(given.begin(), given.end());
    items.insert(items.end(), more.items.begin(), more.items.end());
    expandItems(items, children);
    return true;
}

bool PickleWalker::expandBytesIO(NodeId node)
{
    const PickleObject &object = *m_graph.object(node);
    const std::span<const NodeId> state = m_graph.items(m_graph.more(object).lastState());
    const NodeId held = !state.empty()     ? state[0]
        : !m_graph.arguments(node).empty() ? m_graph.arguments(node)[0]
                                           : NoNode;
    if (!contentOf(held))
        return false;
    const bool again = contentOf(held)->listedAt.has_value();
    if (!nested(held))
        bytesValue(held);
    else if (!again) // else there is a link
        emitOpaque("_io.BytesIO");
    return true;
}

/// Lists a save inside the bytes of a node below this path, once; false where there is none, or an
/// unsound one.
bool PickleWalker::nested(NodeId node)
{
    PickleContent &content = *contentOf(node);
    if (content.noSave)
        return false;
    if (content.listedAt) {
        emit(Value::link(*content.listedAt));
        return true;
    }
    std::string bytes = pickledBytes(m_graph, node).value_or("");
    const auto head = asBytes(bytes);
    content.noSave = !isZip(head) && !isBinaryPickle(head);
    if (content.noSave)
        return false;
    const Status status = listNestedSave(std::move(bytes), below());
    if (!status.ok())
        warn(std::string(toString(status.error().code)),
             "a save inside it is not listed: " + status.error().text);
    content.noSave = !status.ok();
    if (status.ok())
        content.listedAt = here();
    return status.ok();
}

bool PickleWalker::expandPython(NodeId node, PickleChildren &children)
{
    if (const auto members = pickledMembers(m_graph, node)) {
        setValue(node, *members);
        return true;
    }
    switch (m_graph.known(node)) {
    case K::Dict: return expandDict(node, children);
    case K::Counter: return expandCounter(node, children);
    case K::List:
    case K::Tuple: return expandSequence(node, children);
    case K::Bytes:
    case K::ByteArray:
    case K::EncodeText: return bytesValue(node);
    case K::Complex:
        if (hasAdditions(m_graph, node))
            return false;
        emitPrinted(printPickle(m_graph, node, limits::PrintedText), {node});
        return true;
    case K::BytesIO: return expandBytesIO(node);
    case K::Reconstructor:
        if (m_graph.arguments(node).size() != 3)
            return false;
        expandReconstructed(node, children);
        return true;
    default: return false;
    }
}

/// copyreg._reconstructor(class, base, what the base holds), listed as later protocols have it.
void PickleWalker::expandReconstructed(NodeId node, PickleChildren &children)
{
    const PlainCall call = plainCall(m_graph, node);
    emitPrinted(printPickle(m_graph, call.callee, limits::PrintedText), {call.callee});
    const NodeId held = call.arguments.empty() ? NoNode : call.arguments[0];
    if (m_graph.is(held, PickleKind::Dict))
        expandPairs(m_graph.items(held), children);
    else if (m_graph.is(held, PickleKind::List))
        expandItems(m_graph.items(held), children);
    else if (held != NoNode)
        children.push_back({Key::at(0), held, false});
    expandAdditions(node, children);
}

/// Whether repr() of the node is a good, short and complete text.
bool PickleWalker::isPlain(NodeId node, int &left) const
{
    if (--left < 0)
        return false;
    const PickleKind kind = m_graph.kind(node);
    if (kind == PickleKind::Object) {
        const PickleObject &object = *m_graph.object(node);
        return !hasAdditions(m_graph, node) && isPlain(object.callee, left)
            && isPlain(object.arguments, left);
    }
    if (kind == PickleKind::Tuple || kind == PickleKind::List) {
        const auto items = m_graph.items(node);
        return std::all_of(items.begin(), items.end(),
                           [&](NodeId item) { return isPlain(item, left); });
    }
    return kind != PickleKind::Dict && kind != PickleKind::Set && kind != PickleKind::PersistentId;
}

void PickleWalker::expandAdditions(NodeId node, PickleChildren &children)
{
    const PickleObject &object = *m_graph.object(node);
    const PickleAdditions more = m_graph.more(object);
    expandPairs(m_graph.items(object.keywords), children);
    expandItems(more.items, children);
    expandPairs(more.dictItems, children);
    addStates(more.states, children, false);
}

/// An object of a class we only name: its class, then what it was made of and its state.
void PickleWalker::expandGeneric(NodeId node, PickleChildren &children)
{
    const PickleObject &object = *m_graph.object(node);
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    int left = PlainNodes;
    const bool inText = object.how == PickleObject::How::Reduce && !arguments.empty()
        && isPlain(object.arguments, left);
    const PrintedPickle callee = printPickle(m_graph, object.callee, limits::PrintedText);
    if (inText)
        emitPrinted(printPickledCall(m_graph, object.callee, arguments, limits::PrintedText),
                    {object.callee, object.arguments});
    else
        emitPrinted(callee, {object.callee});
    if (!inText) {
        const bool apart = !m_graph.more(object).items.empty();
        for (std::size_t i = 0; i < arguments.size() && children.size() < room(); ++i) {
            Key key = Key::at(std::int64_t(i));
            if (apart)
                key = Key::of("args." + std::to_string(i));
            children.push_back({std::move(key), arguments[i], false});
        }
    }
    const std::size_t first = children.size();
    expandAdditions(node, children);
    // Hashes and threads of a mesh differ between identical runs.
    const bool ofMesh = callee.text == "torch.distributed.device_mesh.DeviceMesh";
    for (std::size_t i = first; ofMesh && i < children.size(); ++i) {
        PickleChild &child = children.named()[i];
        child.bookkeeping = child.key.text == "_hash" || child.key.text == "_thread_id";
    }
}

} // namespace forkpoint
