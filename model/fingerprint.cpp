// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/fingerprint.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

namespace {

// resources/docs/fingerprint.md says what each input consists of. Twelve bytes of ASCII and the
// version begin every input that is not a leaf, so that no level can be taken for another.
constexpr std::string_view NodeTag = "forkpoint-nd";
constexpr std::string_view TensorTag = "forkpoint-tn";
constexpr std::string_view NamedTag = "forkpoint-nm";
constexpr std::string_view ContentsTag = "forkpoint-ct";

/// Collects the input of one digest.
class Input
{
public:
    explicit Input(std::string_view tag)
    {
        text(tag);
        number32(FingerprintVersion);
    }

    void number32(std::uint64_t value) { number(value, 4); }
    void number64(std::uint64_t value) { number(value, 8); }
    void text(std::string_view text)
    {
        const ByteView bytes = asBytes(text);
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    void digest(const Digest128 &digest)
    {
        const auto bytes = digest.canonical();
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }
    Digest128 hash(const ComputeBackend &backend) const { return backend.hash(m_bytes); }

private:
    void number(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            m_bytes.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xFF));
    }

    std::vector<std::byte> m_bytes;
};

} // namespace

namespace {

/// The node of level + 1 over these of `level`.
Digest128 nodeOf(const ComputeBackend &backend, std::size_t level,
                 std::span<const Digest128> children)
{
    Input input(NodeTag);
    input.number32(level + 1);
    input.number32(children.size());
    for (const Digest128 &child : children)
        input.digest(child);
    return input.hash(backend);
}

} // namespace

std::vector<Digest128> foldNodes(const ComputeBackend &backend, std::size_t level,
                                 std::span<const Digest128> nodes)
{
    std::vector<Digest128> above;
    for (std::size_t first = 0; first < nodes.size(); first += FingerprintFanOut) {
        const std::size_t count = std::min(FingerprintFanOut, nodes.size() - first);
        above.push_back(nodeOf(backend, level, nodes.subspan(first, count)));
    }
    return above;
}

void FingerprintTree::push(const Digest128 &leaf)
{
    ++m_leaves;
    pushAt(0, leaf);
}

void FingerprintTree::pushAt(std::size_t level, const Digest128 &digest)
{
    Digest128 node = digest;
    for (;; ++level) {
        if (level == m_levels.size())
            m_levels.emplace_back();
        m_levels[level].push_back(node);
        if (level == m_keptLevel)
            m_kept.push_back(node);
        if (m_levels[level].size() < FingerprintFanOut)
            return;
        node = nodeOf(m_backend, level, m_levels[level]);
        m_levels[level].clear();
    }
}

Digest128 FingerprintTree::finish()
{
    if (m_leaves == 0)
        return m_backend.hash({});
    for (std::size_t level = 0;; ++level) {
        const std::vector<Digest128> children = std::move(m_levels[level]);
        m_levels[level].clear();
        if (level + 1 == m_levels.size() && children.size() == 1) {
            m_levels.clear();
            m_leaves = 0;
            return children.front();
        }
        if (!children.empty())
            pushAt(level + 1, nodeOf(m_backend, level, children));
    }
}

std::vector<Digest128> FingerprintTree::takeKept()
{
    std::vector<Digest128> kept = std::move(m_kept);
    m_kept.clear();
    if (kept.size() < 2)
        kept.clear();
    return kept;
}

TensorHasher::TensorHasher(const ComputeBackend &backend) : m_backend(backend), m_tree(backend) {}

void TensorHasher::add(ByteView bytes)
{
    if (!m_partial.empty()) {
        const std::size_t missing =
            std::min<std::size_t>(LeafBytes - m_partial.size(), bytes.size());
        m_partial.insert(m_partial.end(), bytes.begin(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(missing));
        bytes = bytes.subspan(missing);
        if (m_partial.size() < LeafBytes)
            return;
        m_tree.push(m_backend.hash(m_partial));
        m_partial.clear();
    }
    for (; bytes.size() >= LeafBytes; bytes = bytes.subspan(LeafBytes))
        m_tree.push(m_backend.hash(bytes.first(LeafBytes)));
    m_partial.assign(bytes.begin(), bytes.end());
}

Digest128 TensorHasher::finish()
{
    if (!m_partial.empty())
        m_tree.push(m_backend.hash(m_partial));
    m_partial.clear();
    return m_tree.finish();
}

Digest128 tensorDigest(const ComputeBackend &backend, const TensorRef &tensor,
                       const Digest128 &content)
{
    Input input(TensorTag);
    input.number32(tensor.dtype.name.size());
    input.text(tensor.dtype.name);
    input.number32(tensor.shape.dims.size());
    for (const Index size : tensor.shape.dims)
        input.number64(size);
    input.number64(tensor.bytes);
    input.digest(content);
    return input.hash(backend);
}

CheckpointFingerprint
checkpointFingerprint(const ComputeBackend &backend,
                      std::vector<std::pair<std::string, TensorFingerprint>> tensors)
{
    // std::string compares as unsigned bytes.
    std::ranges::sort(tensors, [](const auto &a, const auto &b) {
        return std::tie(a.first, a.second.tensor) < std::tie(b.first, b.second.tensor);
    });
    Input named(NamedTag);
    named.number64(tensors.size());
    std::vector<Digest128> digests;
    digests.reserve(tensors.size());
    for (const auto &[name, fingerprint] : tensors) {
        named.number64(name.size());
        named.text(name);
        named.digest(fingerprint.tensor);
        digests.push_back(fingerprint.tensor);
    }
    std::ranges::sort(digests);
    Input contents(ContentsTag);
    contents.number64(digests.size());
    for (const Digest128 &digest : digests)
        contents.digest(digest);
    return {named.hash(backend), contents.hash(backend)};
}

} // namespace forkpoint
