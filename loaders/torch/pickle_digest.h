// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/elements/running_digest.h"
#include "loaders/torch/pickle_graph.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// SHA-256 of what nodes stand for, uncut: equal digests, equal contents. The form is canonical: it
/// is the same for every protocol, for what is shared and what is repeated, and for every order of
/// the members of a set; arguments, keywords, items, entries and states of objects are in it. A
/// node is digested once (so shared parts cost nothing again), without recursion. A reference to
/// something around it counts as its distance and the number at which that was first met.
class PickleDigests
{
public:
    explicit PickleDigests(const PickleGraph &graph) : m_graph(graph) {}

    std::string hex(NodeId node) { return hex(std::span(&node, 1)); }
    /// Of several nodes in this order: another digest than that of a tuple of them.
    std::string hex(std::span<const NodeId> nodes);

private:
    using Digest = std::array<char, 64>;

    /// A digest of few bytes mostly: a file may open millions of nodes before it ends the first.
    class Gathered
    {
    public:
        void add(std::string_view text);
        Digest finish();

    private:
        std::string m_text; ///< not digested yet
        std::optional<RunningDigest> m_digest;
    };

    /// A node whose parts are being digested.
    struct Frame
    {
        NodeId node = NoNode;
        std::vector<NodeId> parts;
        std::size_t next = 0;
        bool unordered = false; ///< the members of a set
        std::vector<std::string> members;
        Gathered digest;
    };

    /// What has the members of a set: the set, or the list that a call makes one of.
    std::optional<NodeId> holderOf(NodeId node) const;
    void open(NodeId node);
    void compute(NodeId node);
    bool add(Frame &frame, NodeId part); ///< false: the part has to be digested before
    bool isSmall(NodeId node) const;
    std::string ofSmall(NodeId node) const;
    const Digest &ofLarge(NodeId node); ///< names, bytes, long text and numbers
    void openContainer(NodeId node, Frame &frame) const;
    void openObject(NodeId node, Frame &frame) const;
    Digest finished(Frame &frame) const;

    const PickleGraph &m_graph;
    std::unordered_map<NodeId, Digest> m_known;
    std::unordered_map<NodeId, Digest> m_members;      ///< of sets, by what holds the members
    std::unordered_map<NodeId, Digest> m_contents;     ///< of bytes, by the node that has them
    std::unordered_map<NodeId, std::size_t> m_open;    ///< depth
    std::unordered_map<NodeId, std::size_t> m_numbers; ///< of what was referred to while open
    std::vector<Frame> m_frames;
};

} // namespace forkpoint
