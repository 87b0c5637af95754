// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/unlike_replicas.h"

#include <map>
#include <string_view>

namespace forkpoint {

namespace {

/// What is said of the copies of each tensor, by its name.
std::map<std::string_view, std::string_view> saidOf(const Catalog &catalog)
{
    std::map<std::string_view, std::string_view> said;
    for (const Finding &finding : catalog.findings) {
        if (finding.id == "replicas-differ" && !finding.where.empty())
            said.emplace(finding.where.front(), finding.text);
    }
    return said;
}

/// Empty where the copies of that tensor are alike, or are tensors of their own.
std::string_view saidOf(const std::map<std::string_view, std::string_view> &said,
                        const TensorRef &tensor)
{
    const auto found = tensor.replicas.empty() ? said.end() : said.find(tensor.name);
    return found == said.end() ? std::string_view() : found->second;
}

} // namespace

void doubtUnlikeReplicas(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b)
{
    const auto ofA = saidOf(a), ofB = saidOf(b);
    if (ofA.empty() && ofB.empty())
        return;
    for (TensorRow &row : rows) {
        if (row.status != ItemStatus::Identical || !row.a || !row.b)
            continue;
        const std::string_view inA = saidOf(ofA, a.tensors[*row.a]),
                               inB = saidOf(ofB, b.tensors[*row.b]);
        if (inA.empty() && inB.empty())
            continue;
        row.status = ItemStatus::NotCompared;
        row.notComparable = true;
        row.reason = "one copy is equal; " + std::string(inB.empty() ? "A: " : "B: ")
            + std::string(inB.empty() ? inA : inB);
    }
}

} // namespace forkpoint
