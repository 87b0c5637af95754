// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/exact_relations.h"

#include "model/bytes.h"
#include "model/float_codec.h"
#include "model/format.h"
#include "model/shape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

namespace forkpoint {

namespace {

constexpr Index PieceElements = 1u << 16;

/// Of random numbers each element differs by half a unit in the last place of the narrower type at most,
/// which is 2^-8 of bfloat16; tensors further apart are not read again.
constexpr double FurthestRounded = 0x1p-8;
/// Of fewer elements that differ a relation holds by chance: a counter of 200 is one of 100 times two.
constexpr Index LeastElements = 8;
/// Sums of squares are rounded; what is nearly a power of two is looked at bit by bit.
constexpr double NearlyOne = 1e-6;

struct Words
{
    std::uint64_t a = 0, b = 0;
};
using Holds = std::function<bool(const Words &)>;

struct Relation
{
    std::string id, text; ///< "B equals A times 2^3"
    Holds holds;          ///< of each pair of elements
};

bool isCandidate(const TensorRow &row)
{
    const DType &type = row.dtypeA;
    const bool isWord = type.bits == 16 || type.bits == 32 || type.bits == 64;
    return row.status == ItemStatus::Different && row.a && row.b && row.stats && !row.partlyRead
        && !row.stoppedEarly && row.comparedAs.empty() && row.shapeA == row.shapeB
        && row.dtypeB == type && type.kind == ElementKind::Float && isWord && type.packing == 1
        && type.layout.special == SpecialValues::Ieee && row.elements > 0;
}

std::uint64_t signBit(const DType &type)
{
    return std::uint64_t(1) << (type.bits - 1);
}

std::uint64_t roundedInPlace(const DType &wide, const DType &narrow, std::uint64_t bits)
{
    return widenFloat(narrow.layout, wide.layout, roundFloat(wide.layout, narrow.layout, bits));
}

/// Types that weights and moments are rounded to on their way through a file.
std::vector<DType> narrowerTypes(const DType &wide)
{
    std::vector<DType> types;
    for (const char *name : {"bfloat16", "float16", "float32"}) {
        const auto type = dtypeByName(name);
        if (type && type->bits < wide.bits)
            types.push_back(*type);
    }
    return types;
}

/// One side is the other one rounded to `narrow`, or cut to it where that only clears bits.
void addRounded(const DType &wide, const DType &narrow, std::vector<Relation> &relations)
{
    const std::string kept = ", kept as " + wide.name;
    for (const bool ofA : {true, false}) {
        const std::string sides = ofA ? "B equals A " : "A equals B ";
        const auto ends = [ofA](const Words &words) {
            return ofA ? words : Words{words.b, words.a};
        };
        relations.push_back({"rounded-in-place",
                             sides + "rounded to " + narrow.name + ", ties to even" + kept,
                             [=](const Words &words) {
                                 const Words from = ends(words);
                                 return roundedInPlace(wide, narrow, from.a) == from.b;
                             }});
        if (wide.layout.exponentBits != narrow.layout.exponentBits)
            continue;
        const std::uint64_t cut =
            (std::uint64_t(1) << (wide.layout.mantissaBits - narrow.layout.mantissaBits)) - 1;
        relations.push_back(
            {"rounded-in-place", sides + "cut to " + narrow.name + kept, [=](const Words &words) {
                 const Words from = ends(words);
                 return (from.a & ~cut) == from.b;
             }});
    }
}

void addScaled(const DType &type, double ratio, std::vector<Relation> &relations)
{
    const int power = int(std::lround(std::log2(ratio)));
    if (power == 0 || std::abs(ratio / std::ldexp(1.0, power) - 1.0) > NearlyOne)
        return;
    relations.push_back({"times-power-of-two", "B equals A times 2^" + std::to_string(power),
                         [=](const Words &words) {
                             const double a = decodeFloat(type.layout, words.a);
                             const double b = decodeFloat(type.layout, words.b);
                             if (a == 0.0 || !std::isfinite(a))
                                 return words.a == words.b;
                             // Back again: a product that was rounded or overflowed is none.
                             return b == std::ldexp(a, power) && std::ldexp(b, -power) == a;
                         }});
}

/// What the statistics of a pair do not rule out.
std::vector<Relation> relationsOf(const TensorRow &row)
{
    const DType &type = row.dtypeA;
    const DiffStats &stats = *row.stats;
    std::vector<Relation> relations;
    const double rmsA = stats.rmsA().value_or(0.0), rmsB = stats.rmsB().value_or(0.0);
    const double apart = stats.rms().value_or(0.0);
    if ((rmsA == 0.0) != (rmsB == 0.0)) {
        const auto isZero = [](std::uint64_t bits) { return bits == 0; };
        if (rmsB == 0.0)
            relations.push_back({"all-zero", "B is zero throughout where A is not",
                                 [=](const Words &words) { return isZero(words.b); }});
        else
            relations.push_back({"all-zero", "A is zero throughout where B is not",
                                 [=](const Words &words) { return isZero(words.a); }});
        return relations;
    }
    if (rmsA == 0.0 || stats.differentElements < LeastElements)
        return relations;
    if (apart <= FurthestRounded * std::max(rmsA, rmsB)) {
        for (const DType &narrow : narrowerTypes(type))
            addRounded(type, narrow, relations);
    }
    addScaled(type, rmsB / rmsA, relations);
    if (stats.cosine().value_or(1.0) < NearlyOne - 1.0)
        relations.push_back(
            {"negated", "B equals A with every sign changed",
             [sign = signBit(type)](const Words &w) { return (w.a ^ sign) == w.b; }});
    return relations;
}

std::uint64_t wordAt(const std::vector<std::byte> &data, Index element, std::size_t width)
{
    const std::byte *at = data.data() + element * width;
    switch (width) {
    case 2: return loadLittle<std::uint16_t>(at);
    case 4: return loadLittle<std::uint32_t>(at);
    default: return loadLittle<std::uint64_t>(at);
    }
}

/// Reads the elements of a pair side by side.
class PairWords
{
public:
    PairWords(const TensorRow &row, const TensorSource &a, const TensorSource &b)
        : m_row(row),
          m_a(a),
          m_b(b)
    {
    }

    std::size_t width() const { return m_row.dtypeA.bits / 8; }

    /// False where a side cannot be read.
    bool read(Index first, Index count)
    {
        m_dataA.resize(std::size_t(count) * width());
        m_dataB.resize(m_dataA.size());
        return m_a.read(*m_row.a, first * width(), m_dataA).ok()
            && m_b.read(*m_row.b, first * width(), m_dataB).ok();
    }

    /// Of what was read.
    Words at(Index element) const
    {
        return {wordAt(m_dataA, element, width()), wordAt(m_dataB, element, width())};
    }

private:
    const TensorRow &m_row;
    const TensorSource &m_a, &m_b;
    std::vector<std::byte> m_dataA, m_dataB;
};

/// The first of the relations that holds in every element; nothing where none does, where a side cannot
/// be read, or where the budget is spent.
std::optional<Relation> provenRelation(const TensorRow &row, PairWords &words,
                                       std::uint64_t &budget, const std::stop_token &stop)
{
    std::vector<Relation> open = relationsOf(row);
    for (Index first = 0; first < row.elements && !open.empty(); first += PieceElements) {
        const Index count = std::min(PieceElements, row.elements - first);
        const std::uint64_t bytes = 2 * count * words.width();
        if (bytes > budget || stop.stop_requested() || !words.read(first, count))
            return std::nullopt;
        budget -= bytes;
        std::erase_if(open, [&](const Relation &relation) {
            for (Index i = 0; i < count; ++i) {
                if (!relation.holds(words.at(i)))
                    return true;
            }
            return false;
        });
    }
    return open.empty() ? std::nullopt : std::optional(std::move(open.front()));
}

std::string partOfBit(const DType &type, int bit)
{
    return bit == int(type.bits) - 1           ? "its sign"
        : bit >= int(type.layout.mantissaBits) ? "of its exponent"
                                               : "of its mantissa";
}

/// "bit 27 (of its exponent) of element [3, 5]"; empty unless one bit of one element is all that differs.
std::string oneBit(const TensorRow &row, PairWords &words)
{
    if (row.stats->differentElements != 1 || !words.read(row.stats->firstIndex, 1))
        return {};
    const Words pair = words.at(0);
    const std::uint64_t changed = pair.a ^ pair.b;
    if (std::popcount(changed) != 1)
        return {};
    const int bit = std::countr_zero(changed);
    std::string place;
    for (const Index at : coordinatesOf(row.stats->firstIndex, row.shapeA))
        place += (place.empty() ? "" : ", ") + std::to_string(at);
    const std::string element = place.empty() ? std::string() : " of element [" + place + "]";
    return "bit " + std::to_string(bit) + " (" + partOfBit(row.dtypeA, bit) + ")" + element;
}

} // namespace

std::vector<Finding> exactRelations(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t budget,
                                    std::stop_token stop)
{
    std::vector<Finding> findings;
    const auto add = [&](std::string id, std::string text, const std::string &name) {
        auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding &finding) {
            return finding.id == id && finding.text == text;
        });
        if (known == findings.end())
            known = findings.insert(
                findings.end(),
                {std::move(id), Certainty::Is, Severity::Warning, std::move(text), {}});
        known->where.push_back(name);
    };
    // Among many differences one bit of a tensor is rounding like the rest.
    const bool isAlone =
        std::count_if(comparison.tensors.begin(), comparison.tensors.end(),
                      [](const TensorRow &row) { return row.status == ItemStatus::Different; })
        == 1;
    for (const TensorRow &row : comparison.tensors) {
        if (!isCandidate(row) || stop.stop_requested())
            continue;
        PairWords words(row, a, b);
        if (const std::string bit = isAlone ? oneBit(row, words) : std::string(); !bit.empty())
            add("one-bit", "one bit differs: " + bit, row.name);
        else if (auto relation = provenRelation(row, words, budget, stop))
            add(std::move(relation->id), std::move(relation->text), row.name);
    }
    for (Finding &finding : findings)
        finding.text += finding.id == "one-bit"
            ? " of " + finding.where.front()
            : ", bit for bit, in " + counted(finding.where.size(), "tensor", "tensors") + ", first "
                + finding.where.front();
    return findings;
}

} // namespace forkpoint
