// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/row_stats.h"

namespace forkpoint {

namespace {

void addMaxima(const DiffStats &stats, const DType &dtype, std::vector<RowStat> &result)
{
    if (stats.maxAbsIndex != NoIndex) {
        if (dtype.isFloating())
            result.emplace_back("max_abs", stats.maxAbs);
        else
            result.emplace_back("max_abs", stats.maxAbsInteger);
        result.emplace_back("max_abs_index", stats.maxAbsIndex);
    }
    if (dtype.isFloating() && stats.maxUlpIndex != NoIndex) {
        result.emplace_back("max_ulp", stats.maxUlp);
        result.emplace_back("max_ulp_index", stats.maxUlpIndex);
    }
}

void addMeans(const DiffStats &stats, std::vector<RowStat> &result)
{
    const std::pair<std::string_view, std::optional<double>> means[] = {
        {"mean_abs", stats.meanAbs()}, {"rms", stats.rms()},       {"rms_a", stats.rmsA()},
        {"rms_b", stats.rmsB()},       {"cosine", stats.cosine()},
    };
    for (const auto &[name, value] : means) {
        if (value)
            result.emplace_back(name, *value);
    }
}

} // namespace

const DType &measuredType(const TensorRow &row)
{
    return row.comparedAs.empty() || row.comparedAs == row.dtypeA.name ? row.dtypeA : row.dtypeB;
}

std::vector<RowStat> statsOf(const TensorRow &row)
{
    std::vector<RowStat> result;
    if (!row.stats) {
        if (row.status == ItemStatus::Identical)
            result.emplace_back("different_elements", std::uint64_t(0));
        return result;
    }
    const DiffStats &stats = *row.stats;
    const DType &dtype = measuredType(row);
    const bool numbers = dtype.kind != ElementKind::Opaque;
    result.emplace_back("different_elements", stats.differentElements);
    if (numbers)
        result.emplace_back("finite_pairs", stats.finitePairs);
    if (stats.differentElements > 0) {
        result.emplace_back("first_index", stats.firstIndex);
        result.emplace_back("last_index", stats.lastIndex);
    }
    if (!numbers)
        return result;
    addMaxima(stats, dtype, result);
    addMeans(stats, result);
    if (dtype.kind == ElementKind::SignedInt)
        result.emplace_back("sign_flips", stats.signFlips);
    if (!dtype.isFloating())
        return result;
    const std::pair<std::string_view, Index> counts[] = {
        {"nan_a", stats.nanA},
        {"nan_b", stats.nanB},
        {"inf_a", stats.infA},
        {"inf_b", stats.infB},
        {"nan_payload_only", stats.nanPayloadOnly},
        {"signed_zero_only", stats.signedZeroOnly},
        {"sign_flips", stats.signFlips},
    };
    result.insert(result.end(), std::begin(counts), std::end(counts));
    return result;
}

bool hasElementPairs(const TensorRow &row)
{
    const bool oneType = row.dtypeA == row.dtypeB || !row.comparedAs.empty();
    return row.a && row.b && row.layoutKnownA && row.layoutKnownB && oneType
        && row.shapeA == row.shapeB;
}

std::optional<double> relativeDifference(const DiffStats &stats)
{
    const std::optional<double> rms = stats.rms(), base = stats.rmsA();
    if (!rms || !base || *base == 0.0)
        return std::nullopt;
    return *rms / *base;
}

} // namespace forkpoint
