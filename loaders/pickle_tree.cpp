// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/pickle_tree.h"

#include "loaders/limits.h"
#include "loaders/pickle_numpy.h"
#include "loaders/pickle_print.h"
#include "loaders/pickle_vm.h"
#include "loaders/running_digest.h"
#include "loaders/torch_container.h"
#include "loaders/torch_rebuild.h"

#include <algorithm>
#include <unordered_map>

namespace forkpoint {

namespace {

using K = KnownGlobal;

/// Keys in all listed paths together: bounds the memory that deep trees can ask for.
constexpr std::size_t TreeKeys = 8'000'000;
/// Of these, below objects that occur more than once: real sharing stays far below, bombs do not.
constexpr std::size_t RepeatedKeys = 1'000'000;
/// Wrappers around one item (Parameter of a tensor of a device copy ...).
constexpr int Wrappers = 16;
/// Nodes of arguments that are printed as one text rather than listed.
constexpr int PlainNodes = 48;

struct Child
{
    Key key;
    NodeId node = NoNode;
    bool bookkeeping = false; ///< says nothing about the run's state
};
using Children = std::vector<Child>;

constexpr std::uint32_t NoPlace = 0xffffffffu;

/// One opened container on the way from the root, for the paths of links.
struct Place
{
    std::uint32_t parent = NoPlace;
    Key key;
};

struct Frame
{
    NodeId node = NoNode;
    Children children;
    std::size_t next = 0;
    std::uint32_t place = NoPlace;
    bool bookkeeping = false, repeated = false;
};

class Tree
{
public:
    Tree(const PickleGraph &graph, StorageTable *storages, const TreeContext &context)
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
    void visit(const Child &child);
    void expand(NodeId node, Children &children, int wrappers);
    void expandList(std::span<const NodeId> items, const char *empty, Children &children);
    void expandPairs(std::span<const NodeId> pairs, Children &children);
    void expandObject(NodeId node, Children &children, int wrappers);
    bool expandPython(NodeId node, Children &children, int wrappers);
    bool expandTorchValue(NodeId node, Children &children, int wrappers);
    bool expandTensor(K known, std::span<const NodeId> arguments, Children &children, int wrappers);
    bool expandNumpy(NodeId node, Children &children);
    void expandDict(NodeId node, Children &children);
    void expandGeneric(NodeId node, Children &children);
    void expandSparse(std::span<const NodeId> arguments, Children &children);
    void expandQuantized(std::span<const NodeId> arguments, Children &children);
    void expandFromType(std::span<const NodeId> arguments, Children &children, int wrappers);
    void expandBytesIO(NodeId node);
    void addState(NodeId state, Children &children, bool bookkeeping);
    void addNamed(const char *name, NodeId node, Children &children)
    {
        children.push_back({Key::of(name), node, false});
    }

    void leaf(NodeId node);
    void bytesValue(std::string bytes);
    void emit(Value value);
    void emitOpaque(std::string text);
    void emitTensor(TensorRef tensor);
    void strided(NodeId storage, const StridedDescription &description, std::string note);
    void numpyArray(const NumpyArray &array, Children &children);
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
    std::vector<Frame> m_frames;
    std::vector<Place> m_places;
    std::vector<std::uint32_t> m_placeOf;
    std::vector<bool> m_open;
    std::unordered_map<NodeId, Shape> m_globalShapes; // local tensors of DTensors
    std::unordered_map<NodeId, StorageSlot> m_slots;  // of _load_from_bytes
    NodeId m_current = NoNode;
    std::string m_subclass;
    std::size_t m_printed = 0;
    bool m_bookkeeping = false, m_repeated = false, m_saidDeep = false;
};

// --- the walk -----------------------------------------------------------------------------------

Status Tree::run()
{
    visit({Key(), m_graph.root, false});
    std::uint64_t count = 0;
    while (!m_frames.empty()) {
        if ((++count & 0xfff) == 0 && m_context.stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "stopped"};
        Frame &frame = m_frames.back();
        if (frame.next == frame.children.size() || m_budget.full) {
            m_open[frame.node] = false;
            m_frames.pop_back();
            if (!m_frames.empty())
                m_path.keys.pop_back();
            continue;
        }
        const Child child = std::move(frame.children[frame.next++]);
        m_path.keys.push_back(child.key);
        const std::size_t depth = m_frames.size();
        visit(child);
        if (m_frames.size() == depth)
            m_path.keys.pop_back();
    }
    return {};
}

void Tree::visit(const Child &child)
{
    const NodeId node = child.node;
    m_current = node;
    m_subclass.clear();
    m_bookkeeping = child.bookkeeping || (!m_frames.empty() && m_frames.back().bookkeeping);
    m_repeated = !m_frames.empty() && m_frames.back().repeated;
    const PickleKind kind = m_graph.kind(node);
    const bool branches = kind == PickleKind::List || kind == PickleKind::Tuple
        || kind == PickleKind::Dict || kind == PickleKind::Object;
    if (!branches)
        return leaf(node);
    if (m_open[node])
        return emit(Value::link(placeText(m_placeOf[node])));
    const bool seen = m_placeOf[node] != NoPlace;
    if (seen && m_budget.repeatedKeys > RepeatedKeys) {
        if (!std::exchange(m_budget.saidRepeated, true))
            warn("limit", "what occurs again and again is shown once, then as links");
        return emit(Value::link(placeText(m_placeOf[node])));
    }
    if (m_frames.size() >= limits::PickleDepth) {
        if (!std::exchange(m_saidDeep, true))
            warn("limit",
                 "nested deeper than " + std::to_string(limits::PickleDepth)
                     + " levels, the rest is not listed");
        return emitOpaque("... nested deeper");
    }
    m_repeated = m_repeated || seen;
    Frame frame;
    frame.node = node;
    frame.bookkeeping = m_bookkeeping;
    frame.repeated = m_repeated;
    expand(node, frame.children, 0);
    if (frame.children.empty())
        return;
    if (m_repeated)
        m_budget.repeatedKeys += m_path.keys.size();
    frame.place = m_placeOf[node];
    if (!seen) {
        frame.place = std::uint32_t(m_places.size());
        m_places.push_back({m_frames.empty() ? NoPlace : m_frames.back().place, child.key});
        m_placeOf[node] = frame.place;
    }
    m_open[node] = true;
    m_frames.push_back(std::move(frame));
}

std::string Tree::placeText(std::uint32_t place) const
{
    std::vector<Key> keys;
    for (; place != NoPlace && m_places[place].parent != NoPlace; place = m_places[place].parent)
        keys.push_back(m_places[place].key);
    KeyPath path = m_context.prefix;
    path.keys.insert(path.keys.end(), keys.rbegin(), keys.rend());
    const std::string text = path.toString();
    return text.empty() ? "." : text;
}

bool Tree::spend()
{
    if (m_budget.full)
        return false;
    ++m_budget.items;
    m_budget.keys += m_path.keys.size();
    if (m_repeated)
        m_budget.repeatedKeys += m_path.keys.size();
    if (m_budget.items <= limits::TreeItems && m_budget.keys <= TreeKeys)
        return true;
    m_budget.full = true;
    warn("limit", "more items than are listed of one file", Severity::Error);
    m_context.builder.setIncomplete();
    return false;
}

void Tree::warn(std::string code, std::string text, Severity severity)
{
    m_context.builder.addDiagnostic(
        {severity, std::move(code), m_context.file, here(), std::move(text)});
}

TreeContext Tree::below() const
{
    return {m_context.builder,     m_context.file, m_path,
            m_context.nesting + 1, m_context.stop, m_context.budget};
}

// --- values -------------------------------------------------------------------------------------

void Tree::emit(Value value)
{
    if (!spend())
        return;
    ValueRef ref;
    ref.path = m_path;
    ref.value = std::move(value);
    ref.file = m_context.file;
    if (m_bookkeeping)
        ref.stateClass = StateClass::Bookkeeping;
    m_context.builder.addValue(std::move(ref));
}

void Tree::emitOpaque(std::string text)
{
    Value value = Value::opaque({});
    m_printed += text.size();
    if (text.size() > limits::PrintedText) {
        value.digest = sha256Hex(asBytes(text));
        text.resize(limits::PrintedText);
        text += "...";
    }
    value.data = std::move(text);
    emit(std::move(value));
}

void Tree::bytesValue(std::string bytes)
{
    if (isBinaryPickle(asBytes(bytes)) && m_context.nesting < limits::NestedPickles) {
        // Bytes that are a pickle: not unfolded, nothing says that anyone loads them, but looked at.
        const auto data = asBytes(bytes);
        auto input = std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
        if (const auto graph = readPickle(std::move(input), 0, m_context.stop); graph.ok())
            reportDangerousGlobals(*graph.value(), m_context, here());
    }
    Value value;
    value.type = ValueType::Bytes;
    value.count = bytes.size();
    value.digest = sha256Hex(asBytes(bytes));
    emit(std::move(value));
}

void Tree::leaf(NodeId node)
{
    switch (m_graph.kind(node)) {
    case PickleKind::None: return emit(Value::none());
    case PickleKind::Bool: return emit(Value::boolean(m_graph[node].integer != 0));
    case PickleKind::Int: return emit(Value::integer(m_graph[node].integer));
    case PickleKind::Float: return emit(Value::real(m_graph[node].real));
    case PickleKind::Text: return emit(Value::text(std::string(m_graph.text(node))));
    case PickleKind::Bytes: return bytesValue(std::string(m_graph.text(node)));
    case PickleKind::Global: return emitOpaque(classPath(*m_graph.global(node)));
    case PickleKind::BigInt: {
        std::string digits = bigIntegerText(m_graph, node);
        Value value = Value::bigInteger({});
        if (digits.size() > limits::PrintedText) {
            value.digest = sha256Hex(asBytes(digits));
            digits.resize(limits::PrintedText);
            digits += "...";
        } else if (digits.size() <= 20 && digits.front() != '-' && digits < "18446744073709551616"
                   && digits.size() == 20) {
            return emit(Value::unsignedInteger(std::stoull(digits)));
        } else if (digits.size() < 20 && digits.front() != '-') {
            return emit(Value::unsignedInteger(std::stoull(digits)));
        }
        value.data = std::move(digits);
        return emit(std::move(value));
    }
    case PickleKind::Set: { // sorted: the order of a set differs from run to run
        std::vector<std::string> members;
        for (const NodeId item : m_graph.items(node)) {
            members.push_back(printedPickle(m_graph, item, 256));
            m_printed += members.back().size();
        }
        std::sort(members.begin(), members.end());
        std::string text;
        for (const std::string &member : members)
            text += (text.empty() ? "" : ", ") + member;
        return members.empty() ? emit(Value::empty("set()")) : emitOpaque("{" + text + "}");
    }
    case PickleKind::PersistentId: {
        if (m_storages) {
            if (auto tensor = m_storages->tensor(m_graph, node))
                return emitTensor(std::move(*tensor));
            if (const auto id = storageId(m_graph, node); id.ok()) { // a storage by itself
                const StorageSlot slot = m_storages->slot(m_graph, node);
                TensorRef tensor;
                tensor.dtype = dtypeByName(slot.held.dtype).value_or(opaqueDType(1));
                tensor.storage = slot.identity;
                tensor.unreadable = slot.problem;
                const Index count = slot.length / id.value().held.itemBytes;
                tensor.shape = Shape{{count}};
                Extent extent;
                extent.fills = Extent::Fills::FlatRange;
                extent.file = slot.file;
                extent.offset = slot.offset;
                extent.length = slot.length;
                extent.order = slot.order;
                extent.flatCount = count;
                tensor.extents = {std::move(extent)};
                tensor.note = "a storage";
                return emitTensor(std::move(tensor));
            }
        }
        return emitOpaque(printedPickle(m_graph, node, limits::PrintedText));
    }
    default: return emitOpaque("?");
    }
}

// --- containers ---------------------------------------------------------------------------------

/// The items as one value where they are many plain numbers.
std::optional<Value> foldedNumbers(const PickleGraph &graph, std::span<const NodeId> items)
{
    if (items.size() <= limits::FoldedNumbers)
        return std::nullopt;
    bool anyFloat = false;
    for (const NodeId item : items) {
        const PickleKind kind = graph.kind(item);
        if (kind != PickleKind::Int && kind != PickleKind::Float)
            return std::nullopt;
        anyFloat = anyFloat || kind == PickleKind::Float;
    }
    std::vector<std::byte> bytes;
    bytes.reserve(items.size() * 8);
    for (const NodeId item : items) {
        std::uint64_t bits = graph[item].bits;
        if (anyFloat && graph.is(item, PickleKind::Int))
            bits = std::bit_cast<std::uint64_t>(double(graph[item].integer));
        for (int i = 0; i < 8; ++i)
            bytes.push_back(std::byte(bits >> (8 * i)));
    }
    Value value;
    value.type = ValueType::Numbers;
    value.count = items.size();
    value.digest = sha256Hex(bytes);
    return value;
}

void Tree::expandList(std::span<const NodeId> items, const char *empty, Children &children)
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

void Tree::expandPairs(std::span<const NodeId> pairs, Children &children)
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

void Tree::expand(NodeId node, Children &children, int wrappers)
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

void Tree::expandObject(NodeId node, Children &children, int wrappers)
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

void Tree::addState(NodeId state, Children &children, bool bookkeeping)
{
    if (state == NoNode || m_graph.is(state, PickleKind::None))
        return;
    const std::span<const NodeId> parts = m_graph.items(state);
    const auto isDictOrNone = [&](NodeId part) {
        return m_graph.is(part, PickleKind::Dict) || m_graph.is(part, PickleKind::None);
    };
    const bool withSlots = m_graph.is(state, PickleKind::Tuple) && parts.size() == 2
        && isDictOrNone(parts[0]) && m_graph.is(parts[1], PickleKind::Dict);
    Children members;
    if (withSlots) {
        expandPairs(m_graph.items(parts[0]), members);
        expandPairs(m_graph.items(parts[1]), members);
    } else if (m_graph.is(state, PickleKind::Dict)) {
        expandPairs(parts, members);
    } else {
        members.push_back({Key::of("state"), state, false});
    }
    for (Child &member : members) {
        member.bookkeeping = member.bookkeeping || bookkeeping;
        children.push_back(std::move(member));
    }
}

void Tree::expandDict(NodeId node, Children &children)
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

void Tree::expandBytesIO(NodeId node)
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
bool Tree::nested(std::string bytes)
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

bool Tree::expandPython(NodeId node, Children &children, int wrappers)
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
bool Tree::isPlain(NodeId node, int &left) const
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
void Tree::expandGeneric(NodeId node, Children &children)
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

// --- torch --------------------------------------------------------------------------------------

bool Tree::expandTorchValue(NodeId node, Children &children, int wrappers)
{
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const K known = m_graph.known(node);
    if (known == K::TorchGetLayout || known == K::GetAttr) {
        emitOpaque(printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    if (arguments.empty())
        return false;
    switch (known) {
    case K::TorchSize:
    case K::JitList:
    case K::JitTypeTag: expand(arguments[0], children, wrappers + 1); return true;
    case K::TorchDevice: {
        std::string text = "device(type=" + printedPickle(m_graph, arguments[0], 64);
        if (arguments.size() > 1)
            text += ", index=" + printedPickle(m_graph, arguments[1], 64);
        emitOpaque(text + ")");
        return true;
    }
    case K::TorchGenerator: {
        emitOpaque("torch.Generator");
        const auto state = m_graph.items(m_graph.more(*m_graph.object(node)).state);
        static constexpr const char *names[] = {"seed", "offset", "state"};
        for (std::size_t i = 0; i < state.size() && i < 3; ++i)
            addNamed(names[i], state[i], children);
        return true;
    }
    case K::LoadFromBytes: {
        auto bytes = pickledBytes(m_graph, arguments[0]);
        if (!bytes)
            return false;
        if (nested(*bytes))
            return true;
        bytesValue(std::move(*bytes));
        return true;
    }
    default: return false;
    }
}

StorageSlot Tree::slotOf(NodeId storage)
{
    if (m_graph.is(storage, PickleKind::PersistentId) && m_storages)
        return m_storages->slot(m_graph, storage);
    StorageSlot slot;
    if (m_graph.known(storage) != K::LoadFromBytes || m_graph.arguments(storage).empty()) {
        slot.problem = Error{ErrorCode::Malformed, {}, {}, "its storage is not described"};
        return slot;
    }
    if (const auto seen = m_slots.find(storage); seen != m_slots.end())
        return seen->second;
    auto bytes = pickledBytes(m_graph, m_graph.arguments(storage)[0]);
    auto found = storageOfBytes(std::move(bytes).value_or(""), below());
    if (found.ok())
        slot = std::move(found).value();
    else
        slot.problem = std::move(found).error();
    m_slots.emplace(storage, slot);
    return slot;
}

void Tree::emitTensor(TensorRef tensor)
{
    if (!spend())
        return;
    tensor.path = m_path;
    if (tensor.path.keys.empty()) { // named by its file
        const std::string last = m_context.file.substr(m_context.file.find_last_of('/') + 1);
        tensor.path.keys.push_back(Key::of(last.substr(0, last.find_last_of('.'))));
    }
    tensor.files = {m_context.file};
    if (const auto global = m_globalShapes.find(m_current); global != m_globalShapes.end()) {
        tensor.globalShape = global->second;
        tensor.note = "rank-local part of " + global->second.toString();
    }
    if (!m_subclass.empty())
        tensor.note += (tensor.note.empty() ? "" : ", ") + m_subclass;
    if (m_bookkeeping)
        tensor.stateClass = StateClass::Bookkeeping;
    if (!tensor.unreadable)
        return m_context.builder.addTensor(std::move(tensor));
    Error error = *tensor.unreadable;
    tensor.unreadable.reset();
    m_context.builder.addUnreadable(std::move(tensor), std::move(error));
}

void Tree::strided(NodeId storage, const StridedDescription &description, std::string note)
{
    const StorageSlot slot = slotOf(storage);
    TensorRef tensor = stridedTensor(m_graph, slot, description);
    if (slot.leftOut)
        return emitOpaque("tensor " + tensor.dtype.name + " " + tensor.shape.toString()
                          + ", no data");
    if (!note.empty())
        tensor.note += (tensor.note.empty() ? "" : ", ") + note;
    emitTensor(std::move(tensor));
}

void Tree::expandQuantized(std::span<const NodeId> arguments, Children &children)
{
    const std::span<const NodeId> quantizer = m_graph.items(arguments[4]);
    const std::string scheme = quantizer.empty() ? "" : printedPickle(m_graph, quantizer[0], 128);
    strided(arguments[0], {arguments[1], arguments[2], arguments[3], NoNode, NoNode}, scheme);
    const bool perChannel = quantizer.size() > 3;
    if (quantizer.size() < 3)
        return;
    addNamed(perChannel ? "scales" : "scale", quantizer[1], children);
    addNamed(perChannel ? "zero_points" : "zero_point", quantizer[2], children);
    if (perChannel)
        addNamed("axis", quantizer[3], children);
}

void Tree::expandSparse(std::span<const NodeId> arguments, Children &children)
{
    const std::string layout = printedPickle(m_graph, arguments[0], 64);
    const std::span<const NodeId> parts = m_graph.items(arguments[1]);
    const bool coo = layout == "torch.sparse_coo";
    const std::size_t sizeAt = coo ? 2 : 3;
    const auto shape = parts.size() > sizeAt ? pickledShape(m_graph, parts[sizeAt]) : std::nullopt;
    emitOpaque(layout + (shape ? " " + shape->toString() : ""));
    if (coo && parts.size() >= 2) {
        addNamed("indices", parts[0], children);
        addNamed("values", parts[1], children);
        if (parts.size() > 3)
            addNamed("is_coalesced", parts[3], children);
    } else if (parts.size() >= 3) {
        const bool rows = layout == "torch.sparse_csr" || layout == "torch.sparse_bsr";
        addNamed(rows ? "crow_indices" : "ccol_indices", parts[0], children);
        addNamed(rows ? "col_indices" : "row_indices", parts[1], children);
        addNamed("values", parts[2], children);
    }
}

/// _rebuild_from_type_v2(function, class, arguments, state)
void Tree::expandFromType(std::span<const NodeId> arguments, Children &children, int wrappers)
{
    const K inner =
        m_graph.is(arguments[0], PickleKind::Global) ? m_graph.known(arguments[0]) : K::None;
    const std::string path = printedPickle(m_graph, arguments[1], 256);
    const std::span<const NodeId> given = m_graph.items(arguments[2]);
    const NodeId state = arguments.size() > 3 ? arguments[3] : NoNode;
    m_subclass = path == "torch.Tensor" || path == "torch.nn.parameter.Parameter" ? "" : path;
    if (inner == K::RebuildWrapperSubclass && given.size() > 3) {
        const auto shape = pickledShape(m_graph, given[2]);
        emitOpaque(path + " " + torchDTypeName(m_graph, given[1])
                   + (shape ? " " + shape->toString() : ""));
        const NodeId slots = m_graph.items(state).size() == 2 ? m_graph.items(state)[1] : state;
        for (const NodeId dict : {state, slots}) {
            const NodeId local = m_graph.find(dict, "_local_tensor");
            if (local != NoNode && shape)
                m_globalShapes[local] = *shape;
        }
    } else if (inner == K::RebuildFromType || !expandTensor(inner, given, children, wrappers + 1)) {
        emitOpaque(path);
        if (state == NoNode || m_graph.is(state, PickleKind::None))
            expandList(given, "()", children);
    }
    addState(state, children, false);
}

bool Tree::expandTensor(K known, std::span<const NodeId> a, Children &children, int wrappers)
{
    const auto optional = [&](std::size_t i) { return i < a.size() ? a[i] : NoNode; };
    switch (known) {
    case K::RebuildTensor:
        if (a.size() < 4)
            return false;
        strided(a[0], {a[1], a[2], a[3], NoNode, optional(6)}, {});
        return true;
    case K::RebuildTensorV3:
        if (a.size() < 7)
            return false;
        strided(a[0], {a[1], a[2], a[3], a[6], optional(7)}, {});
        return true;
    case K::RebuildParameter:
    case K::RebuildParameterWithState:
    case K::RebuildFromNumpy:
    case K::RebuildFromCpu:
        if (a.empty())
            return false;
        expand(a[0], children, wrappers + 1);
        if (known == K::RebuildParameterWithState)
            addState(optional(3), children, false);
        return true;
    case K::RebuildQuantized:
        if (a.size() < 5)
            return false;
        expandQuantized(a, children);
        return true;
    case K::RebuildSparse:
        if (a.size() < 2)
            return false;
        expandSparse(a, children);
        return true;
    case K::RebuildSparseCsr:
        if (a.size() < 4)
            return false;
        emitOpaque("torch.sparse_csr");
        addNamed("crow_indices", a[0], children);
        addNamed("col_indices", a[1], children);
        addNamed("values", a[2], children);
        return true;
    case K::RebuildMeta: {
        if (a.size() < 2)
            return false;
        const auto shape = pickledShape(m_graph, a[1]);
        emitOpaque("meta tensor " + torchDTypeName(m_graph, a[0])
                   + (shape ? " " + shape->toString() : "") + ", no data");
        return true;
    }
    case K::RebuildNested: {
        static constexpr const char *names[] = {"buffer", "sizes", "strides", "offsets"};
        emitOpaque("nested tensor");
        for (std::size_t i = 0; i < a.size() && i < 4; ++i)
            addNamed(names[i], a[i], children);
        return true;
    }
    case K::RebuildFromType:
        if (a.size() < 3)
            return false;
        expandFromType(a, children, wrappers);
        return true;
    default: return false;
    }
}

// --- numpy --------------------------------------------------------------------------------------

void Tree::numpyArray(const NumpyArray &array, Children &children)
{
    if (array.type.isObject)
        return expandList(m_graph.items(array.objects), "[]", children);
    const auto add = [&](const DType &dtype, ByteOrder order, const std::string &bytes) {
        TensorRef tensor;
        tensor.dtype = dtype;
        tensor.shape = array.shape;
        const auto count = array.shape.count();
        const auto size = count ? checkedMul(*count, dtype.positionBits() / 8) : std::nullopt;
        const auto data = asBytes(bytes);
        Extent extent;
        extent.length = bytes.size();
        extent.order = order;
        extent.box = {std::vector<Index>(array.shape.rank(), 0), array.shape.dims};
        if (array.shape.rank() > limits::Rank) {
            tensor.shape = Shape{{0}};
            tensor.unreadable = Error{ErrorCode::Limit, {}, {}, "too many dimensions"};
        } else if (!size || *size != bytes.size()) {
            tensor.unreadable =
                Error{ErrorCode::Malformed, {}, {}, "its bytes do not fill its shape"};
            tensor.shape = count ? array.shape : Shape{{0}};
        } else {
            extent.strides =
                array.fortran ? fortranStrides(array.shape) : array.shape.rowMajorStrides();
            extent.file = m_context.builder.addFile(std::make_shared<MemorySource>(
                m_context.file, std::vector<std::byte>(data.begin(), data.end())));
            tensor.extents = {std::move(extent)};
        }
        emitTensor(std::move(tensor));
    };
    if (!array.mask)
        return add(array.type.dtype, array.type.order, array.bytes);
    emitOpaque("numpy.ma.MaskedArray");
    m_path.keys.push_back(Key::of("data"));
    add(array.type.dtype, array.type.order, array.bytes);
    m_path.keys.back() = Key::of("mask");
    add(*dtypeByName("bool"), ByteOrder::Little, *array.mask);
    m_path.keys.pop_back();
}

bool Tree::expandNumpy(NodeId node, Children &children)
{
    switch (m_graph.known(node)) {
    case K::NumpyReconstruct:
    case K::NumpyFromBuffer:
    case K::NumpyMaskedReconstruct: {
        const auto array = pickledNumpyArray(m_graph, node);
        if (array.ok()) {
            numpyArray(array.value(), children);
        } else {
            TensorRef tensor;
            tensor.dtype = opaqueDType(1);
            tensor.shape = Shape{{0}};
            tensor.unreadable = array.error();
            emitTensor(std::move(tensor));
        }
        return true;
    }
    case K::NumpyScalar: {
        auto value = pickledNumpyScalar(m_graph, node);
        value.ok() ? emit(std::move(value).value())
                   : emitOpaque(printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    case K::NumpyDType: {
        const auto type = pickledNumpyType(m_graph, node);
        emitOpaque(type.ok() ? "dtype('" + type.value().spelling + "')"
                             : printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    default: return false;
    }
}

} // namespace

Status listPickle(const PickleGraph &graph, StorageTable *storages, const TreeContext &context)
{
    return Tree(graph, storages, context).run();
}

void reportDangerousGlobals(const PickleGraph &graph, const TreeContext &context,
                            const std::string &where)
{
    for (const PickleGlobal &global : graph.globals) {
        if (!global.dangerous)
            continue;
        const std::string path = global.path().substr(0, 200);
        const std::string text = global.called ? "this file would run " + path + " when loaded"
                                               : "this file names " + path;
        const Severity severity = global.called ? Severity::Error : Severity::Warning;
        Finding finding{"pickle-runs-code", Certainty::Is, severity, text, {context.file}};
        if (!where.empty())
            finding.where.insert(finding.where.begin(), where);
        context.builder.addFinding(std::move(finding));
        const std::string place = "byte " + std::to_string(global.opcodeAt);
        context.builder.addDiagnostic({Severity::Warning, "dangerous-global", context.file,
                                       where.empty() ? place : where + ", " + place,
                                       text + "; nothing is run here"});
    }
}

} // namespace forkpoint
