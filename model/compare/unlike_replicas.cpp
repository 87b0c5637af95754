// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/unlike_replicas.h"

#include <algorithm>

namespace forkpoint {

std::string_view unlikeReplicasOf(const TensorRef &tensor, const Catalog &catalog)
{
    if (tensor.replicas.empty()) // those that are tensors of their own are compared one by one
        return {};
    const auto found =
        std::find_if(catalog.findings.begin(), catalog.findings.end(), [&](const Finding &finding) {
            return finding.id == "replicas-differ" && !finding.where.empty()
                && finding.where.front() == tensor.name;
        });
    return found == catalog.findings.end() ? std::string_view() : found->text;
}

void doubtUnlikeReplicas(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b)
{
    for (TensorRow &row : rows) {
        if (row.status != ItemStatus::Identical || !row.a || !row.b)
            continue;
        const std::string_view inA = unlikeReplicasOf(a.tensors[*row.a], a),
                               inB = unlikeReplicasOf(b.tensors[*row.b], b);
        if (inA.empty() && inB.empty())
            continue;
        row.status = ItemStatus::NotCompared;
        row.notComparable = true;
        row.reason = "one copy is equal";
        if (!inA.empty())
            row.reason += "; A: " + std::string(inA);
        if (!inB.empty())
            row.reason += "; B: " + std::string(inB);
    }
}

} // namespace forkpoint
