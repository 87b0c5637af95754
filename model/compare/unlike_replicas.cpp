// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/unlike_replicas.h"

#include <algorithm>

namespace forkpoint {

std::vector<std::string_view> unlikePartsOf(const TensorRef &tensor, const Catalog &catalog)
{
    std::vector<std::string_view> texts;
    if (tensor.replicas.empty()) // those that are tensors of their own are compared one by one
        return texts;
    for (const Finding &finding : catalog.findings) {
        if (finding.id == "replicas-differ" && !finding.where.empty()
            && finding.where.front() == tensor.name)
            texts.push_back(finding.text);
    }
    return texts;
}

std::string_view unlikeReplicasOf(const TensorRef &tensor, const Catalog &catalog)
{
    const std::vector<std::string_view> texts = unlikePartsOf(tensor, catalog);
    return texts.empty() ? std::string_view() : texts.front();
}

bool namesHolder(std::string_view finding, std::string_view holder)
{
    const auto colon = finding.rfind(": ");
    std::string_view rest = colon == finding.npos ? finding : finding.substr(colon + 2);
    while (!rest.empty()) {
        const auto end = rest.find_first_of(";|");
        std::string_view name = rest.substr(0, end);
        while (name.ends_with(' '))
            name.remove_suffix(1);
        if (!holder.empty() && name == holder)
            return true;
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
        while (rest.starts_with(' '))
            rest.remove_prefix(1);
    }
    return false;
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
