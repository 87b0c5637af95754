// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_digest.h"

#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_print.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Characters that are digested in place; longer ones once, however often they are referred to.
constexpr std::size_t SmallText = 64;
/// Arguments that are digested in place, so that a call of protocol 0 may have them elsewhere.
constexpr std::size_t FewArguments = 8;

std::string number(std::uint64_t value)
{
    std::string bytes;
    for (int shift = 0; shift < 64; shift += 8)
        bytes += char(value >> shift & 0xff);
    return bytes;
}

std::array<char, 64> inPlace(const std::string &hex)
{
    std::array<char, 64> result{};
    std::copy_n(hex.begin(), result.size(), result.begin());
    return result;
}

std::array<char, 64> sha256(std::string_view head, std::string_view text)
{
    RunningDigest digest("sha256");
    digest.update(asBytes(head));
    digest.update(asBytes(text));
    return inPlace(digest.finish());
}

bool isMutableBytes(const PickleGraph &graph, NodeId node)
{
    return graph.is(node, PickleKind::Bytes) ? graph[node].flag
                                             : graph.known(node) == KnownGlobal::ByteArray;
}

char tagOf(const PickleGraph &graph, NodeId node)
{
    switch (graph.kind(node)) {
    case PickleKind::Text: return 'u';
    case PickleKind::BigInt: return 'n';
    case PickleKind::Global: return 'g';
    default: return isMutableBytes(graph, node) ? 'y' : 'b';
    }
}

} // namespace

void PickleDigests::Gathered::add(std::string_view text)
{
    constexpr std::size_t Gather = 4096;
    m_text += text;
    if (m_text.size() < Gather)
        return;
    if (!m_digest)
        m_digest.emplace("sha256");
    m_digest->update(asBytes(m_text));
    m_text.clear();
}

PickleDigests::Digest PickleDigests::Gathered::finish()
{
    if (!m_digest)
        return inPlace(sha256Hex(asBytes(m_text)));
    m_digest->update(asBytes(m_text));
    return inPlace(m_digest->finish());
}

bool PickleDigests::isSmall(NodeId node) const
{
    switch (m_graph.kind(node)) {
    case PickleKind::None:
    case PickleKind::Bool:
    case PickleKind::Int:
    case PickleKind::Float: return true;
    case PickleKind::Text: return m_graph.text(node).size() <= SmallText;
    default: return false;
    }
}

std::string PickleDigests::ofSmall(NodeId node) const
{
    switch (m_graph.kind(node)) {
    case PickleKind::Bool: return m_graph[node].integer ? "T" : "F";
    case PickleKind::Int: return 'i' + number(std::uint64_t(m_graph[node].integer));
    case PickleKind::Float: return 'r' + number(std::bit_cast<std::uint64_t>(m_graph[node].real));
    case PickleKind::Text:
        return 'u' + number(m_graph.text(node).size()) + std::string(m_graph.text(node));
    default: return "N";
    }
}

const PickleDigests::Digest &PickleDigests::ofLarge(NodeId node)
{
    const auto known = m_known.find(node);
    if (known != m_known.end())
        return known->second;
    const std::string head(1, tagOf(m_graph, node));
    Digest digest{};
    if (m_graph.is(node, PickleKind::Text)) {
        digest = sha256(head, m_graph.text(node));
    } else if (m_graph.is(node, PickleKind::BigInt)) {
        digest = sha256(head, bigIntegerText(m_graph, node));
    } else if (const PickleGlobal *global = m_graph.global(node)) {
        digest = sha256(head, classPath(*global));
    } else if (const auto data = pickledData(m_graph, node)) {
        // Many calls may make bytes of one text.
        const auto [content, isNew] = m_contents.try_emplace(data->node);
        if (isNew)
            content->second = sha256({}, bytesOf(m_graph, *data).value_or("not Latin-1"));
        digest = sha256(head, {content->second.data(), content->second.size()});
    }
    return m_known.emplace(node, digest).first->second;
}

std::optional<NodeId> PickleDigests::holderOf(NodeId node) const
{
    const auto members = pickledMembers(m_graph, node);
    if (!members)
        return std::nullopt;
    if (members->empty())
        return NoNode;
    return m_graph.is(node, PickleKind::Set) ? node : m_graph.arguments(node)[0];
}

void PickleDigests::openObject(NodeId node, Frame &frame) const
{
    const PickleObject &object = *m_graph.object(node);
    const PickleAdditions more = m_graph.more(object);
    const PlainCall call = plainCall(m_graph, node);
    const auto add = [&](std::span<const NodeId> nodes) {
        frame.parts.insert(frame.parts.end(), nodes.begin(), nodes.end());
    };
    frame.parts.push_back(call.callee);
    if (call.arguments.size() <= FewArguments)
        add(call.arguments);
    else // many objects may share them
        frame.parts.push_back(object.arguments);
    if (object.keywords != NoNode)
        frame.parts.push_back(object.keywords);
    add(more.items);
    add(more.dictItems);
    add(more.states);
    const std::string head = "o" + number(call.arguments.size()) + number(object.keywords != NoNode)
        + number(more.items.size()) + number(more.dictItems.size()) + number(more.states.size());
    frame.digest.add(head);
}

void PickleDigests::openContainer(NodeId node, Frame &frame) const
{
    const PickleKind kind = m_graph.kind(node);
    if (kind == PickleKind::PersistentId)
        frame.parts.push_back(m_graph[node].ref);
    const std::span<const NodeId> items = m_graph.items(node);
    frame.parts.insert(frame.parts.end(), items.begin(), items.end());
    const char tag = kind == PickleKind::List ? 'l'
        : kind == PickleKind::Tuple           ? 't'
        : kind == PickleKind::Dict            ? 'd'
                                              : 'p';
    // Members of a set are counted when those that occur twice are gone.
    if (!frame.unordered)
        frame.digest.add(tag + number(frame.parts.size()));
}

void PickleDigests::open(NodeId node)
{
    Frame frame;
    const auto holder = holderOf(node);
    frame.node = holder.value_or(node);
    frame.unordered = holder.has_value();
    if (m_graph.is(frame.node, PickleKind::Object))
        openObject(frame.node, frame);
    else
        openContainer(frame.node, frame);
    m_frames.push_back(std::move(frame));
    m_open.emplace(m_frames.back().node, m_frames.size());
}

bool PickleDigests::add(Frame &frame, NodeId part)
{
    std::string text;
    const auto holder = holderOf(part);
    if (holder)
        text = m_graph.is(part, PickleKind::Set)      ? (m_graph[part].flag ? "s" : "z")
            : m_graph.known(part) == KnownGlobal::Set ? "s"
                                                      : "z";
    const NodeId node = holder.value_or(part);
    if (isSmall(node)) { // an empty set has no holder: "N"
        text += ofSmall(node);
    } else if (const auto open = m_open.find(node); open != m_open.end()) {
        const std::size_t met = m_numbers.try_emplace(node, m_numbers.size()).first->second;
        text += 'k' + number(m_frames.size() - open->second) + number(met);
    } else {
        const PickleKind kind = m_graph.kind(node);
        const bool isLarge = kind == PickleKind::Text || kind == PickleKind::Bytes
            || kind == PickleKind::BigInt || kind == PickleKind::Global
            || (kind == PickleKind::Object && pickledData(m_graph, node));
        const auto &map = holder ? m_members : m_known;
        const auto known = map.find(node);
        if (!isLarge && known == map.end())
            return false;
        const Digest &digest = isLarge ? ofLarge(node) : known->second;
        text += 'h' + std::string(digest.data(), digest.size());
    }
    if (frame.unordered)
        frame.members.push_back(std::move(text));
    else
        frame.digest.add(text);
    return true;
}

PickleDigests::Digest PickleDigests::finished(Frame &frame) const
{
    auto &members = frame.members;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (frame.unordered)
        frame.digest.add(number(members.size()));
    for (const std::string &member : members)
        frame.digest.add(member);
    return frame.digest.finish();
}

void PickleDigests::compute(NodeId root)
{
    open(root);
    while (!m_frames.empty()) {
        Frame &frame = m_frames.back();
        if (frame.next == frame.parts.size()) {
            (frame.unordered ? m_members : m_known).insert_or_assign(frame.node, finished(frame));
            m_open.erase(frame.node);
            m_frames.pop_back();
        } else if (const NodeId part = frame.parts[frame.next]; add(frame, part)) {
            ++frame.next;
        } else {
            open(part);
        }
    }
}

std::string PickleDigests::hex(std::span<const NodeId> nodes)
{
    Frame whole;
    for (const NodeId node : nodes) {
        while (!add(whole, node))
            compute(node);
    }
    const Digest digest = whole.digest.finish();
    return {digest.begin(), digest.end()};
}

} // namespace forkpoint
