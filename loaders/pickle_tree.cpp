// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/pickle_tree.h"

#include "loaders/limits.h"
#include "loaders/pickle_print.h"
#include "loaders/pickle_vm.h"
#include "loaders/pickle_walker.h"
#include "loaders/running_digest.h"
#include "loaders/torch_container.h"

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
        if ((++count & 0xfff) == 0 && m_context.stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "stopped"};
        PickleFrame &frame = m_frames.back();
        if (frame.next == frame.children.size() || m_budget.full) {
            m_open[frame.node] = false;
            m_frames.pop_back();
            if (!m_frames.empty())
                m_path.keys.pop_back();
            continue;
        }
        const PickleChild child = std::move(frame.children[frame.next++]);
        m_path.keys.push_back(child.key);
        const std::size_t depth = m_frames.size();
        visit(child);
        if (m_frames.size() == depth)
            m_path.keys.pop_back();
    }
    return {};
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
    if (m_frames.size() >= limits::PickleDepth) {
        if (!std::exchange(m_saidDeep, true))
            warn("limit",
                 "nested deeper than " + std::to_string(limits::PickleDepth)
                     + " levels, the rest is not listed");
        return emitOpaque("... nested deeper");
    }
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

bool PickleWalker::spend()
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

void PickleWalker::warn(std::string code, std::string text, Severity severity)
{
    m_context.builder.addDiagnostic(
        {severity, std::move(code), m_context.file, here(), std::move(text)});
}

TreeContext PickleWalker::below() const
{
    return {m_context.builder,     m_context.file, m_path,
            m_context.nesting + 1, m_context.stop, m_context.budget};
}

// --- values -------------------------------------------------------------------------------------

void PickleWalker::emit(Value value)
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

void PickleWalker::emitOpaque(std::string text)
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

void PickleWalker::bytesValue(std::string bytes)
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

void PickleWalker::leaf(NodeId node)
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
