// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_tree.h"

#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_vm.h"
#include "loaders/torch/pickle_walker.h"
#include "loaders/torch/torch_container.h"
#include "model/text/utf8.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Keys in all listed paths together: bounds the memory that deep trees can ask for.
constexpr std::size_t TreeKeys = 8'000'000;
/// Of these, below objects that occur more than once: real sharing stays far below, bombs do not.
constexpr std::size_t RepeatedKeys = 1'000'000;

} // namespace

// --- the walk -----------------------------------------------------------------------------------

Status PickleWalker::run()
{
    visit({Key(), m_graph.root, false});
    std::uint64_t count = 0;
    while (!m_frames.empty()) {
        if ((++count & 0xff) == 0 && m_context.stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "stopped"};
        PickleFrame &frame = m_frames.back();
        if (frame.next == frame.children.size() || m_budget.full) {
            m_open[frame.node] = false;
            m_frames.pop_back();
            if (!m_frames.empty())
                m_path.keys.pop_back();
            continue;
        }
        const PickleChild child = frame.children.take(frame.next++);
        m_path.keys.push_back(child.key);
        const std::size_t depth = m_frames.size();
        visit(child);
        if (m_frames.size() == depth)
            m_path.keys.pop_back();
    }
    reportOwed();
    return {};
}

/// Storages that only texts refer to: their bytes are compared by nobody.
void PickleWalker::reportOwed()
{
    std::unordered_set<NodeId> seen(m_owed.begin(), m_owed.end());
    while (!m_owed.empty()) {
        const NodeId node = m_owed.back();
        m_owed.pop_back();
        if (m_graph.is(node, PickleKind::PersistentId) && !m_storagesListed.contains(node)) {
            warn("not-listed",
                 "keys, set members or arguments refer to storages that are not listed",
                 Severity::Error);
            m_context.builder.setIncomplete();
            return;
        }
        for (const NodeId part : pickledParts(m_graph, node)) {
            if (seen.insert(part).second)
                m_owed.push_back(part);
        }
    }
}

/// An item of which only a text is shown.
void PickleWalker::emitUnlisted(NodeId node, const char *why, std::string text)
{
    if (!std::exchange(m_budget.saidUnlisted, true))
        warn("limit", why, Severity::Error);
    m_context.builder.setIncomplete();
    emitPrinted({std::move(text), false}, {node});
}

void PickleWalker::visit(const PickleChild &child)
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
    if (m_frames.size() >= limits::PickleDepth)
        return emitUnlisted(node, "nested too deep, the rest is not listed", "... nested deeper");
    m_repeated = m_repeated || seen;
    PickleFrame frame;
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

std::string PickleWalker::placeText(std::uint32_t place) const
{
    std::vector<Key> keys;
    for (; place != NoPlace && m_places[place].parent != NoPlace; place = m_places[place].parent)
        keys.push_back(m_places[place].key);
    KeyPath path = m_context.prefix;
    path.keys.insert(path.keys.end(), keys.rbegin(), keys.rend());
    const std::string text = path.toString();
    return text.empty() ? "." : text;
}

/// Children that are worth gathering: one more than may be listed, which then says so.
std::size_t PickleWalker::room() const
{
    return m_budget.full ? 0 : limits::TreeItems + 1 - m_budget.items;
}

bool PickleWalker::spend(std::size_t textBytes)
{
    if (m_budget.full)
        return false;
    ++m_budget.items;
    m_budget.keys += m_path.keys.size();
    if (m_repeated)
        m_budget.repeatedKeys += m_path.keys.size();
    m_budget.text += textBytes;
    for (const Key &key : m_path.keys)
        m_budget.text += key.text.size();
    if (m_budget.items <= limits::TreeItems && m_budget.keys <= TreeKeys
        && m_budget.text <= m_budget.textLimit)
        return true;
    m_budget.full = true;
    warn("limit", "more items or longer text than is listed of one file", Severity::Error);
    m_context.builder.setIncomplete();
    return false;
}

void PickleWalker::warn(std::string code, std::string text, Severity severity)
{
    constexpr std::size_t Ends = 80;
    std::string place = here();
    if (place.size() > 3 * Ends)
        place = place.substr(0, characterAt(place, Ends)) + "..."
            + place.substr(characterAt(place, place.size() - Ends));
    m_context.builder.addDiagnostic(
        {severity, std::move(code), m_context.file, std::move(place), std::move(text)});
}

TreeContext PickleWalker::below() const
{
    return {m_context.builder,     m_context.file, m_path,
            m_context.nesting + 1, m_context.stop, m_context.budget};
}

// --- values -------------------------------------------------------------------------------------

void PickleWalker::emit(Value value)
{
    const auto *text = std::get_if<std::string>(&value.data);
    if (!spend(text ? text->size() : 0))
        return;
    ValueRef ref;
    ref.path = m_path;
    ref.value = std::move(value);
    ref.file = m_context.file;
    if (m_bookkeeping)
        ref.stateClass = StateClass::Bookkeeping;
    m_context.builder.addValue(std::move(ref));
}

/// A text that says everything.
void PickleWalker::emitOpaque(std::string text)
{
    Value value = Value::opaque({});
    if (text.size() > limits::PrintedText) {
        value.digest = sha256Hex(asBytes(text));
        text.resize(limits::PrintedText);
        text += "...";
    }
    value.data = std::move(text);
    emit(std::move(value));
}

/// A text for `nodes`, with their digest where it does not say everything.
Value PickleWalker::opaque(PrintedPickle printed, std::initializer_list<NodeId> nodes)
{
    if (m_storages && !m_graph.persistentIds.empty())
        m_owed.insert(m_owed.end(), nodes);
    Value value = Value::opaque(std::move(printed.text));
    if (!printed.complete)
        value.digest = m_digests.hex(std::span(nodes.begin(), nodes.size()));
    return value;
}

void PickleWalker::emitPrinted(PrintedPickle printed, std::initializer_list<NodeId> nodes)
{
    emit(opaque(std::move(printed), nodes));
}

/// What is known of the bytes of a node; nullptr where it has none.
PickleContent *PickleWalker::contentOf(NodeId node)
{
    const auto data = pickledData(m_graph, node);
    if (!data)
        return nullptr;
    const auto [place, isNew] = m_contents.try_emplace(data->node);
    PickleContent &content = place->second;
    if (!isNew)
        return content.isBytes ? &content : nullptr;
    const auto size = sizeOf(m_graph, *data);
    content.isBytes = size.has_value();
    content.count = size.value_or(0);
    return content.isBytes ? &content : nullptr;
}

FileIndex PickleWalker::fileOf(PickleContent &content, NodeId node)
{
    if (!content.file) {
        const std::string bytes = pickledBytes(m_graph, node).value_or("");
        const ByteView data = asBytes(bytes);
        content.file = m_context.builder.addFile(std::make_shared<MemorySource>(
            m_context.file, std::vector<std::byte>(data.begin(), data.end())));
    }
    return *content.file;
}

/// False where the node has no bytes.
bool PickleWalker::bytesValue(NodeId node)
{
    PickleContent *const content = contentOf(node);
    if (!content)
        return false;
    if (content->digest.empty()) {
        const std::string bytes = pickledBytes(m_graph, node).value_or("");
        const ByteView data = asBytes(bytes);
        content->digest = sha256Hex(data);
        // Bytes that are a pickle: not unfolded, nothing says that anyone loads them, but looked at.
        if (isBinaryPickle(data) && m_context.nesting < limits::NestedPickles) {
            auto input = std::make_shared<const std::vector<std::byte>>(data.begin(), data.end());
            if (const auto graph = readPickle(std::move(input), 0, m_context.stop); graph.ok())
                reportDangerousGlobals(*graph.value(), m_context, here());
        }
    }
    emit({ValueType::Bytes, {}, content->count, content->digest});
    return true;
}

void PickleWalker::setValue(NodeId node, std::span<const NodeId> members)
{
    if (members.empty())
        return emit(Value::empty("set()"));
    const auto known = m_values.find(node);
    if (known != m_values.end())
        return emit(known->second);
    Value value = opaque(printPickle(m_graph, node, limits::PrintedText), {node});
    emit(m_values.emplace(node, std::move(value)).first->second);
}

Value PickleWalker::bigInteger(NodeId node) const
{
    std::string digits = bigIntegerText(m_graph, node);
    constexpr std::string_view Last64 = "18446744073709551615";
    const bool is64 = digits.front() != '-'
        && (digits.size() < Last64.size() || (digits.size() == Last64.size() && digits <= Last64));
    if (is64)
        return Value::unsignedInteger(std::stoull(digits));
    Value value = Value::bigInteger({});
    if (digits.size() > limits::PrintedText) {
        value.digest = sha256Hex(asBytes(digits));
        digits.resize(limits::PrintedText);
        digits += "...";
    }
    value.data = std::move(digits);
    return value;
}

void PickleWalker::leaf(NodeId node)
{
    switch (m_graph.kind(node)) {
    case PickleKind::None: return emit(Value::none());
    case PickleKind::Bool: return emit(Value::boolean(m_graph[node].integer != 0));
    case PickleKind::Int: return emit(Value::integer(m_graph[node].integer));
    case PickleKind::Float: return emit(Value::real(m_graph[node].real));
    case PickleKind::Text: return emit(Value::text(std::string(m_graph.text(node))));
    case PickleKind::Bytes: bytesValue(node); return;
    case PickleKind::Global: return emitOpaque(classPath(*m_graph.global(node)));
    case PickleKind::Set: return setValue(node, m_graph.items(node));
    case PickleKind::BigInt: {
        const auto known = m_values.find(node);
        return emit(known != m_values.end()
                        ? known->second
                        : m_values.emplace(node, bigInteger(node)).first->second);
    }
    case PickleKind::PersistentId: {
        if (auto tensor = tensorOfId(node))
            return emitTensor(std::move(*tensor));
        return emitPrinted(printPickle(m_graph, node, limits::PrintedText), {node});
    }
    default: return emitOpaque("?");
    }
}

/// A tensor by its id, or a storage by itself.
std::optional<TensorRef> PickleWalker::tensorOfId(NodeId node)
{
    if (!m_storages)
        return std::nullopt;
    m_storagesListed.insert(node);
    if (auto tensor = m_storages->tensor(m_graph, node))
        return tensor;
    const auto id = storageId(m_graph, node);
    if (!id.ok())
        return std::nullopt;
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
    return tensor;
}

Status listPickle(const PickleGraph &graph, StorageTable *storages, const TreeContext &context)
{
    return PickleWalker(graph, storages, context).run();
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
