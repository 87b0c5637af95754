// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/result.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// What a folder of a rank holds under one name and torch_dist under another.
struct RankNameRule
{
    std::vector<std::string> keys; ///< behind the folder: {"optimizer", "optimizer"}
    std::string object, reason;    ///< "rng_state/shard_{pp}.{tp}_{pps}.{tps}"
};

/// The table resources/rules/megatron_names.txt: "keys  object  reason", '#' begins a comment.
Result<std::vector<RankNameRule>> parseRankNameRules(std::string_view text);

/// The names that torch_dist gives to what folders mp_rank_XX_YYY hold. No names where ranks stand
/// on other axes than "tp" and "pp".
class RankNames
{
public:
    /// `objects`: first keys of what the other side holds; nothing else is a name here. They are
    /// looked at in the constructor alone.
    RankNames(const Catalog &ranks, const std::set<std::string_view> &objects);

    struct Found
    {
        KeyPath path;
        std::string reason;
    };
    std::optional<Found> find(const KeyPath &path) const;
    /// What a gathered buffer's buckets are called, without their number; empty for other paths.
    /// Gathered are those in folders of ranks and those in objects of torch_dist.
    std::string bucketsOf(const KeyPath &path) const;

private:
    struct Renamed
    {
        const RankNameRule *rule;
        std::string object;
    };
    void addFolders(const Catalog &ranks);

    std::map<std::string, OwnerCoordinate, std::less<>> m_folders;
    std::map<std::string, std::vector<Renamed>, std::less<>> m_renamed; ///< by folder
    std::map<std::string, std::int64_t, std::less<>> m_groups; ///< by folder: tp + pp x tps
};

} // namespace forkpoint
