// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/pairing_advice.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace forkpoint {

namespace {

constexpr std::size_t Examples = 3;
constexpr std::size_t NamesLookedAt = 2000; ///< of each side: affixes show in the first ones

struct Unpaired
{
    std::vector<std::string> a, b;
};

Unpaired unpairedOf(const CheckpointComparison &comparison, std::size_t most)
{
    Unpaired names;
    for (const TensorRow &row : comparison.tensors) {
        if (row.pairedBy != PairedBy::Unpaired)
            continue;
        if (row.a && !row.b && names.a.size() < most)
            names.a.push_back(row.nameA);
        if (row.b && !row.a && names.b.size() < most)
            names.b.push_back(row.nameB);
    }
    return names;
}

std::string renamed(std::string name, const std::vector<RenameRule> &rules)
{
    for (const RenameRule &rule : rules)
        name = rule.apply(name);
    return name;
}

/// The longest common ending that begins after a dot in both, or at the start of one.
std::size_t commonEnding(std::string_view a, std::string_view b)
{
    std::size_t common = 0, best = 0;
    while (common < a.size() && common < b.size()
           && a[a.size() - 1 - common] == b[b.size() - 1 - common]) {
        ++common;
        const auto begins = [common](std::string_view name) {
            return common == name.size() || name[name.size() - 1 - common] == '.';
        };
        if (begins(a) && begins(b))
            best = common;
    }
    return best;
}

} // namespace

RenamePreview previewRenames(const CheckpointComparison &comparison,
                             const std::vector<RenameRule> &rules)
{
    const Unpaired names = unpairedOf(comparison, comparison.tensors.size());
    RenamePreview preview;
    std::unordered_map<std::string, std::string> ofB; // renamed -> as it is
    for (const std::string &name : names.b) {
        std::string now = renamed(name, rules);
        preview.renamed += now != name ? 1 : 0;
        ofB.emplace(std::move(now), name);
    }
    for (const std::string &name : names.a) {
        const std::string now = renamed(name, rules);
        preview.renamed += now != name ? 1 : 0;
        const auto met = ofB.find(now);
        if (met == ofB.end())
            continue;
        ++preview.matches;
        if (preview.examples.size() < Examples)
            preview.examples.emplace_back(name, met->second);
        ofB.erase(met);
    }
    return preview;
}

std::optional<std::string> likelyRename(const CheckpointComparison &comparison)
{
    const Unpaired names = unpairedOf(comparison, NamesLookedAt);
    // By last part: only those can end alike.
    std::unordered_multimap<std::string, const std::string *> byLast;
    const auto lastOf = [](const std::string &name) { return name.substr(name.rfind('.') + 1); };
    for (const std::string &name : names.b)
        byLast.emplace(lastOf(name), &name);
    std::map<std::pair<std::string, std::string>, std::size_t> votes;
    for (const std::string &name : names.a) {
        const auto [first, last] = byLast.equal_range(lastOf(name));
        std::size_t longest = 0;
        const std::string *best = nullptr;
        std::size_t looked = 0;
        for (auto at = first; at != last && looked < 200; ++at, ++looked) {
            const std::size_t common = commonEnding(name, *at->second);
            if (common > longest) {
                longest = common;
                best = at->second;
            }
        }
        if (best)
            ++votes[{name.substr(0, name.size() - longest),
                     best->substr(0, best->size() - longest)}];
    }
    std::optional<std::string> likely;
    std::size_t most = 0;
    for (const auto &[affixes, count] : votes) {
        const auto &[from, to] = affixes;
        const bool plain = from.find('/') == std::string::npos && to.find('/') == std::string::npos;
        if (count <= most || !plain || from == to)
            continue;
        most = count;
        // What A has more is taken off, what B has more is replaced: rules apply to both sides.
        likely = from.empty() ? "s/^" + to + "//" : "s/^" + from + "/" + to + "/";
    }
    return likely;
}

} // namespace forkpoint
