// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/fused_findings.h"

#include "model/pairing/name_pairing.h"
#include "model/pairing/permutation_text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace forkpoint {

namespace {

using Place = std::pair<std::string, std::string>; ///< slot and meaning

/// The tensors of one side that met nobody, by what they are; nothing for what is there twice.
using Lonely = std::map<Place, std::optional<TensorIndex>>;

/// A fused tensor and what it is made of, if its rows are those of its parts.
struct Fusion
{
    std::string whole, parts;
    std::vector<std::byte> wholeBytes, partBytes;
    std::size_t rowBytes = 0;
};

class FusedSearch
{
public:
    FusedSearch(const TensorSource &whole, const TensorSource &apart, bool wholeInA,
                LayoutSearch &search)
        : m_whole(whole),
          m_apart(apart),
          m_wholeInA(wholeInA),
          m_search(search)
    {
    }

    void look(const Lonely &wholes, const Lonely &apart, std::vector<Finding> &findings)
    {
        for (const auto &[place, whole] : wholes) {
            std::vector<TensorIndex> parts;
            for (const std::string &part : ParameterNames::instance().partsOf(place.second)) {
                const auto found = apart.find({place.first, part});
                if (found != apart.end() && found->second)
                    parts.push_back(*found->second);
            }
            if (!whole || parts.size() < 2 || m_search.isStopped())
                continue;
            if (const auto fusion = fusionOf(*whole, parts))
                addFinding(*fusion, place.second, findings);
        }
    }

private:
    /// Nothing where dtypes or row lengths do not fit, a row is no whole number of bytes, or the search has ended.
    std::optional<Fusion> fusionOf(TensorIndex whole, const std::vector<TensorIndex> &parts)
    {
        const TensorRef &fused = m_whole.catalog().tensors[whole];
        if (fused.shape.rank() == 0 || fused.shape.dims[0] == 0 || fused.bytes == 0
            || fused.dtype.positionBits() % 8 != 0 || fused.bytes % fused.shape.dims[0] != 0)
            return std::nullopt;
        Fusion fusion;
        fusion.whole = fused.name;
        fusion.rowBytes = std::size_t(fused.bytes / fused.shape.dims[0]);
        Shape rows = fused.shape;
        rows.dims[0] = 0;
        for (const TensorIndex part : parts) {
            const TensorRef &tensor = m_apart.catalog().tensors[part];
            Shape expected = fused.shape;
            expected.dims[0] = tensor.shape.rank() > 0 ? tensor.shape.dims[0] : 0;
            if (tensor.dtype != fused.dtype || tensor.shape != expected)
                return std::nullopt;
            rows.dims[0] += expected.dims[0];
            fusion.parts += (fusion.parts.empty() ? "" : ", ") + tensor.name;
        }
        return rows == fused.shape && read(fusion, whole, parts) ? std::optional(std::move(fusion))
                                                                 : std::nullopt;
    }

    bool read(Fusion &fusion, TensorIndex whole, const std::vector<TensorIndex> &parts)
    {
        auto bytes = m_search.read(m_whole, whole);
        for (const TensorIndex part : parts) {
            const auto more = bytes ? m_search.read(m_apart, part) : std::nullopt;
            if (!more) {
                m_search.leaveOut(fusion.whole);
                return false;
            }
            fusion.partBytes.insert(fusion.partBytes.end(), more->begin(), more->end());
        }
        fusion.wholeBytes = std::move(*bytes);
        return true;
    }

    void addFinding(const Fusion &fusion, const std::string &meaning,
                    std::vector<Finding> &findings)
    {
        const auto &a = m_wholeInA ? fusion.wholeBytes : fusion.partBytes;
        const auto &b = m_wholeInA ? fusion.partBytes : fusion.wholeBytes;
        const PermutationSearch rows = rowPermutation(a, b, fusion.rowBytes, m_search);
        if (rows.isLeftOut)
            return m_search.leaveOut(fusion.whole);
        if (!rows.map)
            return;
        const bool attention = meaning.find("attention.qkv") != std::string::npos;
        const PermutationForm form = formOf(*rows.map);
        const std::string order = form.kind == PermutationForm::Kind::Identity
            ? "one after the other"
            : permutationMeaning(attention ? "qkv" : "gate_up", form, rows.map->size()) + "; "
                + permutationMapText(*rows.map, form, "rows");
        findings.push_back({"same-rows-fused",
                            Certainty::Is,
                            Severity::Note,
                            fusion.whole + " of " + (m_wholeInA ? "A" : "B") + " holds the rows of "
                                + fusion.parts + " of " + (m_wholeInA ? "B" : "A")
                                + ", bit for bit: " + order,
                            {fusion.whole}});
    }

    const TensorSource &m_whole, &m_apart;
    bool m_wholeInA;
    LayoutSearch &m_search;
};

Lonely lonelyOf(const CheckpointComparison &comparison, const TensorSource &source, bool sideA)
{
    Lonely lonely;
    const std::vector<ParameterName> names = parameterNamesOf(source.catalog());
    for (const TensorRow &row : comparison.tensors) {
        const auto &index = sideA ? row.a : row.b;
        if (row.status != (sideA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB)
            || names[*index].meaning.empty())
            continue;
        const auto [place, isNew] =
            lonely.emplace(Place{names[*index].slot, names[*index].meaning}, *index);
        if (!isNew)
            place->second.reset();
    }
    return lonely;
}

} // namespace

std::vector<Finding> fusedFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, LayoutSearch &search)
{
    std::vector<Finding> findings;
    const auto lonely = [&](ItemStatus status) {
        return std::any_of(comparison.tensors.begin(), comparison.tensors.end(),
                           [&](const TensorRow &row) { return row.status == status; });
    };
    if (!lonely(ItemStatus::OnlyInA) || !lonely(ItemStatus::OnlyInB))
        return findings;
    const Lonely ofA = lonelyOf(comparison, a, true), ofB = lonelyOf(comparison, b, false);
    FusedSearch(a, b, true, search).look(ofA, ofB, findings);
    FusedSearch(b, a, false, search).look(ofB, ofA, findings);
    return findings;
}

} // namespace forkpoint
