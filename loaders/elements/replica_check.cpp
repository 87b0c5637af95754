// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/replica_check.h"

#include "loaders/elements/copies_read.h"
#include "loaders/elements/extent_reader.h"
#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"

#include <algorithm>
#include <map>

namespace forkpoint {

namespace {

/// The part of `tensor` that `extents` hold, as a tensor of its own.
TensorRef partOf(const TensorRef &tensor, std::vector<Extent> extents, const Box &box)
{
    TensorRef part;
    part.dtype = tensor.dtype;
    part.shape = Shape{box.size};
    part.conjugate = tensor.conjugate;
    part.negate = tensor.negate;
    for (Extent &extent : extents) {
        for (std::size_t i = 0; i < box.origin.size(); ++i)
            extent.box.origin[i] -= box.origin[i];
    }
    part.extents = std::move(extents);
    return part;
}

class Checker
{
public:
    Checker(CheckpointBuilder &builder, std::stop_token stop, std::uint64_t mostBytes)
        : m_builder(builder),
          m_stop(std::move(stop)),
          m_left(mostBytes)
    {
    }

    /// False where some of its copies were not compared.
    bool check(const TensorRef &tensor)
    {
        bool isWhole = true;
        // Of each box the copies: the one that was taken, then its replicas.
        std::map<std::pair<std::vector<Index>, std::vector<Index>>, std::vector<TensorRef>> boxes;
        for (const Replica &replica : tensor.replicas) {
            const auto box = boxOf(replica.extents);
            if (!box) {
                isWhole = false;
                continue;
            }
            auto &copies = boxes[{box->origin, box->size}];
            if (copies.empty())
                copies.push_back(taken(tensor, *box));
            copies.push_back(partOf(tensor, replica.extents, *box));
            copies.back().owner = replica.owner;
        }
        for (auto &[box, copies] : boxes)
            isWhole = compare(tensor, copies) && isWhole;
        return isWhole;
    }

private:
    static TensorRef taken(const TensorRef &tensor, const Box &box)
    {
        std::vector<Extent> extents;
        for (const Extent &extent : tensor.extents) {
            if (extent.fills == Extent::Fills::Box && isInside(extent.box, box))
                extents.push_back(extent);
        }
        const OwnerIndex owner = extents.empty() ? NoOwner : extents.front().owner;
        TensorRef part = partOf(tensor, std::move(extents), box);
        part.owner = owner;
        return part;
    }

    bool compare(const TensorRef &tensor, const std::vector<TensorRef> &copies)
    {
        std::vector<std::pair<std::string, std::string>> groups; // digest, who holds that
        for (const TensorRef &copy : copies) {
            const auto digest = digestOf(copy);
            if (!digest)
                return false;
            const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto &known) {
                return known.first == *digest;
            });
            if (group == groups.end())
                groups.emplace_back(*digest, nameOf(copy.owner));
            else
                group->second += "; " + nameOf(copy.owner);
        }
        if (groups.size() < 2)
            return true;
        std::string text;
        for (const auto &[digest, names] : groups)
            text += (text.empty() ? "" : " | ") + names;
        const std::string name = escapeInvalidUtf8(tensor.path.toString());
        m_builder.addFinding({"replicas-differ",
                              Certainty::Is,
                              Severity::Warning,
                              name + ": ranks that should hold the same do not: " + text,
                              {name}});
        return true;
    }

    std::string nameOf(OwnerIndex owner) const
    {
        const auto &owners = m_builder.catalog().owners;
        return owner < owners.size() ? owners[owner].toString() : std::string("a rank");
    }

    std::optional<std::string> digestOf(const TensorRef &copy)
    {
        constexpr std::uint64_t Step = std::uint64_t(1) << 20;
        const std::uint64_t bytes =
            copy.shape.count().value_or(0) * (copy.dtype.positionBits() / 8);
        const auto files = m_builder.files();
        if (copy.dtype.positionBits() % 8 != 0 || bytes > m_left
            || !validateExtents(copy, files).ok())
            return std::nullopt;
        m_left -= bytes;
        RunningDigest digest("sha256");
        std::vector<std::byte> buffer;
        for (std::uint64_t at = 0; at < bytes; at += Step) {
            buffer.resize(std::size_t(std::min(Step, bytes - at)));
            if (m_stop.stop_requested() || !readExtents(copy, files, at, buffer).ok())
                return std::nullopt;
            digest.update(buffer);
        }
        return digest.finish();
    }

    CheckpointBuilder &m_builder;
    std::stop_token m_stop;
    std::uint64_t m_left; ///< bytes that may still be read
};

void tellSkipped(std::size_t tensors, std::string_view what, CheckpointBuilder &builder)
{
    if (tensors > 0)
        builder.addDiagnostic({Severity::Note,
                               "replicas",
                               {},
                               {},
                               "copies that ranks hold alike of " + std::to_string(tensors)
                                   + " tensors " + std::string(what)});
}

} // namespace

void checkReplicas(CheckpointBuilder &builder, std::stop_token stop, std::uint64_t mostBytes)
{
    Checker checker(builder, std::move(stop), mostBytes);
    std::vector<KeyPath> left;
    for (const TensorRef &tensor : builder.catalog().tensors) {
        if (!tensor.unreadable && !tensor.replicas.empty() && !checker.check(tensor))
            left.push_back(tensor.path);
    }
    tellSkipped(left.size(), "are compared whenever these are read", builder);
    for (KeyPath &path : left)
        builder.compareCopiesOf(std::move(path));
}

void checkReplicas(const std::vector<TensorRef> &tensors, CheckpointBuilder &builder,
                   std::stop_token stop)
{
    Checker checker(builder, std::move(stop), limits::ReplicaBytes);
    std::size_t skipped = 0;
    for (const TensorRef &tensor : tensors) {
        if (!tensor.unreadable && !tensor.replicas.empty())
            skipped += checker.check(tensor) ? 0 : 1;
    }
    tellSkipped(skipped, "were not compared with each other", builder);
}

} // namespace forkpoint
