// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/rank_assembly.h"

#include "model/format.h"
#include "model/rule_table.h"
#include "model/state_class.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace forkpoint {

namespace resources {
extern const std::string_view rankAssemblyRules;
}

namespace {

using How = AssemblyRule::How;

constexpr std::uint64_t MostBytes = 32u << 20; ///< of one whole tensor, held in memory
constexpr std::string_view Layers = "layers.";

std::optional<How> howOf(std::string_view text)
{
    if (text == "0")
        return How::Axis0;
    if (text == "1")
        return How::Axis1;
    if (text == "gated")
        return How::Gated;
    if (text == "same")
        return How::Same;
    return std::nullopt;
}

/// Part of one rank: what it is of, and where the rank stands.
struct Part
{
    std::int64_t tp = 0, pp = 0;
    std::string name; ///< without the rank's folder: "decoder.layers.0.mlp.linear_fc1.weight"
    TensorIndex tensor = 0;
};

std::optional<Part> partOf(const Catalog &catalog, TensorIndex index)
{
    const TensorRef &tensor = catalog.tensors[index];
    const auto model = tensor.name.find(".model.");
    if (!tensor.name.starts_with("mp_rank_") || model == std::string::npos
        || tensor.owner >= catalog.owners.size())
        return std::nullopt;
    Part part;
    part.tensor = index;
    part.name = tensor.name.substr(model + 7);
    for (const auto &[axis, number] : catalog.owners[tensor.owner].axes) {
        if (axis == "tp")
            part.tp = number;
        else if (axis == "pp")
            part.pp = number;
        else
            return std::nullopt; // experts spread over ranks: another rule
    }
    return part;
}

/// "decoder.layers.3.x" as prefix "decoder.layers.", 3, "x".
struct LayerName
{
    std::string before, after;
    std::int64_t layer = 0;
};

std::optional<LayerName> layerOf(const std::string &name)
{
    const auto at = name.find(Layers);
    if (at == std::string::npos)
        return std::nullopt;
    const std::size_t begin = at + Layers.size();
    const auto end = name.find('.', begin);
    if (end == std::string::npos || end == begin || end - begin > 6)
        return std::nullopt;
    LayerName result{name.substr(0, begin), name.substr(end + 1), 0};
    for (std::size_t i = begin; i < end; ++i) {
        if (name[i] < '0' || name[i] > '9')
            return std::nullopt;
        result.layer = result.layer * 10 + (name[i] - '0');
    }
    return result;
}

/// Parts of one shape along `axis` 0 or 1, as one row-major block.
std::vector<std::byte> joined(const std::vector<std::vector<std::byte>> &parts,
                              std::size_t rowsOfPart, int axis)
{
    std::vector<std::byte> whole;
    if (axis == 0 || rowsOfPart == 0) {
        for (const auto &part : parts)
            whole.insert(whole.end(), part.begin(), part.end());
        return whole;
    }
    for (std::size_t row = 0; row < rowsOfPart; ++row) {
        for (const auto &part : parts) {
            const std::size_t width = part.size() / rowsOfPart;
            const auto begin = part.begin() + std::ptrdiff_t(row * width);
            whole.insert(whole.end(), begin, begin + std::ptrdiff_t(width));
        }
    }
    return whole;
}

/// Gate over up in each part: all gates, then all ups.
std::vector<std::byte> joinedHalves(const std::vector<std::vector<std::byte>> &parts)
{
    std::vector<std::byte> whole;
    for (const bool second : {false, true}) {
        for (const auto &part : parts) {
            const auto middle = part.begin() + std::ptrdiff_t(part.size() / 2);
            whole.insert(whole.end(), second ? middle : part.begin(), second ? part.end() : middle);
        }
    }
    return whole;
}

/// The shape of parts that follow each other along `axis`; nothing where they do not fit together.
std::optional<Shape> joinedShape(const std::vector<const TensorRef *> &parts, std::size_t axis)
{
    Shape whole = parts.front()->shape;
    if (axis >= whole.rank())
        return std::nullopt;
    whole.dims[axis] = 0;
    for (const TensorRef *part : parts) {
        Shape other = part->shape;
        if (other.rank() != whole.rank() || part->dtype != parts.front()->dtype)
            return std::nullopt;
        whole.dims[axis] += other.dims[axis];
        other.dims[axis] = whole.dims[axis];
        if (other != whole)
            return std::nullopt;
    }
    return whole;
}

/// The shape of what the parts make by a rule.
std::optional<Shape> wholeShape(const std::vector<const TensorRef *> &parts, How how)
{
    if (how == How::Axis0 || how == How::Gated)
        return joinedShape(parts, 0);
    if (how == How::Axis1)
        return joinedShape(parts, 1);
    const bool alike = std::all_of(parts.begin(), parts.end(), [&](const TensorRef *part) {
        return part->shape == parts.front()->shape && part->dtype == parts.front()->dtype;
    });
    return alike ? std::optional(parts.front()->shape) : std::nullopt;
}

/// How much of a whole its parts are.
enum class Match {
    None,
    All,
    FirstRows, ///< every row that both have is equal, and one of them has more
};

Match matchOf(const std::vector<std::byte> &made, const Shape &madeShape,
              const std::vector<std::byte> &whole, const Shape &wholeShape)
{
    if (madeShape == wholeShape)
        return made == whole ? Match::All : Match::None;
    const bool rowsAlike = madeShape.rank() > 0 && madeShape.rank() == wholeShape.rank()
        && std::equal(madeShape.dims.begin() + 1, madeShape.dims.end(),
                      wholeShape.dims.begin() + 1);
    const std::size_t common = std::min(made.size(), whole.size());
    return rowsAlike && common > 0 && std::memcmp(made.data(), whole.data(), common) == 0
        ? Match::FirstRows
        : Match::None;
}

class Assembly
{
public:
    Assembly(const TensorSource &parts, const TensorSource &whole, std::uint64_t budget,
             std::stop_token stop)
        : m_parts(parts),
          m_whole(whole),
          m_budget(budget),
          m_stop(std::move(stop))
    {
    }

    void look()
    {
        std::map<std::pair<std::int64_t, std::string>, std::map<std::int64_t, Part>> groups;
        for (TensorIndex i = 0; i < m_parts.catalog().tensors.size(); ++i) {
            if (auto part = partOf(m_parts.catalog(), i)) {
                if (const auto layer = layerOf(part->name)) {
                    std::int64_t &count = m_layers[part->pp];
                    count = std::max(count, layer->layer + 1);
                }
                groups[{part->pp, part->name}].emplace(part->tp, *part);
            }
        }
        for (const auto &[key, parts] : groups) {
            std::vector<TensorIndex> tensors;
            for (const auto &[tp, part] : parts)
                tensors.push_back(part.tensor);
            lookAt(key.second, key.first, tensors);
        }
    }

    std::optional<Finding> finding(bool partsInA) const
    {
        if (m_equal + m_unlike.size() + m_longer.size() == 0)
            return std::nullopt;
        const std::string side = partsInA ? "A" : "B", other = partsInA ? "B" : "A";
        std::string text = "put together by rule, parts of " + side + "'s ranks are "
            + counted(m_equal, "tensor", "tensors") + " of " + other + " bit for bit";
        if (!m_unlike.empty())
            text += "; " + counted(m_unlike.size(), "tensor is", "tensors are") + " not, first "
                + m_unlike.front();
        if (!m_longer.empty())
            text += "; of " + counted(m_longer.size(), "tensor", "tensors")
                + " only the rows that both have are equal, first " + m_longer.front();
        if (m_skipped > 0)
            text += "; " + grouped(m_skipped) + " were not read";
        text += m_reasons.empty() ? "" : " (" + m_reasons + ")";
        std::vector<std::string> where = m_unlike;
        where.insert(where.end(), m_longer.begin(), m_longer.end());
        return Finding{"assembled-from-ranks", Certainty::Is,
                       m_unlike.empty() ? Severity::Note : Severity::Warning, text,
                       std::move(where)};
    }

private:
    /// The other side's tensor, and which part of it where layers are stacked.
    struct Target
    {
        TensorIndex tensor = 0;
        std::optional<std::uint64_t> slice;
    };

    std::optional<Target> targetOf(const std::string &name, std::int64_t pp) const
    {
        const auto layer = layerOf(name);
        std::int64_t number = layer ? layer->layer : 0;
        for (const auto &[rank, count] : m_layers)
            number += rank < pp ? count : 0;
        for (const std::string_view prefix : {"", "model.", "module."}) {
            const std::string own = std::string(prefix)
                + (layer ? layer->before + std::to_string(number) + "." + layer->after : name);
            if (const auto found = m_whole.catalog().findTensor(own))
                return Target{*found, std::nullopt};
            if (!layer)
                continue;
            const auto stacked =
                m_whole.catalog().findTensor(std::string(prefix) + layer->before + layer->after);
            if (stacked)
                return Target{*stacked, std::uint64_t(number)};
        }
        return std::nullopt;
    }

    std::optional<std::vector<std::byte>> read(const TensorSource &source, TensorIndex index,
                                               std::uint64_t first, std::uint64_t bytes)
    {
        if (bytes > MostBytes || bytes > m_budget || m_stop.stop_requested())
            return std::nullopt;
        m_budget -= bytes;
        std::vector<std::byte> data(std::size_t(bytes), std::byte(0));
        if (!source.read(index, first, data))
            return std::nullopt;
        return data;
    }

    /// Of a layer, where layers are stacked.
    Shape shapeOf(const Target &target) const
    {
        Shape shape = m_whole.catalog().tensors[target.tensor].shape;
        if (target.slice && shape.rank() > 0)
            shape.dims.erase(shape.dims.begin());
        return shape;
    }

    std::optional<std::vector<std::byte>> readTarget(const Target &target)
    {
        const TensorRef &tensor = m_whole.catalog().tensors[target.tensor];
        if (!target.slice)
            return read(m_whole, target.tensor, 0, tensor.bytes);
        const Index layers = tensor.shape.rank() > 0 ? tensor.shape.dims[0] : 0;
        if (*target.slice >= layers)
            return std::nullopt;
        const std::uint64_t bytes = tensor.bytes / layers;
        return read(m_whole, target.tensor, *target.slice * bytes, bytes);
    }

    void lookAt(const std::string &name, std::int64_t pp, const std::vector<TensorIndex> &tensors)
    {
        const auto target = targetOf(name, pp);
        if (!target)
            return;
        const auto rule =
            std::find_if(assemblyRules().begin(), assemblyRules().end(),
                         [&](const AssemblyRule &each) { return globMatches(each.pattern, name); });
        if (rule == assemblyRules().end())
            return;
        std::vector<std::vector<std::byte>> parts;
        std::vector<const TensorRef *> refs;
        for (const TensorIndex tensor : tensors) {
            refs.push_back(&m_parts.catalog().tensors[tensor]);
            auto data = read(m_parts, tensor, 0, refs.back()->bytes);
            if (!data)
                return void(++m_skipped);
            parts.push_back(std::move(*data));
        }
        const auto whole = readTarget(*target);
        if (!whole)
            return void(++m_skipped);
        const TensorRef &wanted = m_whole.catalog().tensors[target->tensor];
        const Match match = wanted.dtype == refs.front()->dtype
            ? matchByRule(parts, refs, *whole, shapeOf(*target), rule->how)
            : Match::None;
        if (match == Match::None)
            return m_unlike.push_back(wanted.name);
        if (match == Match::All)
            ++m_equal;
        else
            m_longer.push_back(wanted.name);
        addReason(*rule);
    }

    static Match matchByRule(const std::vector<std::vector<std::byte>> &parts,
                             const std::vector<const TensorRef *> &refs,
                             const std::vector<std::byte> &whole, const Shape &shape, How how)
    {
        const auto made = wholeShape(refs, how);
        if (!made)
            return Match::None;
        const std::size_t rows = made->rank() > 0 ? std::size_t(refs.front()->shape.dims[0]) : 0;
        const auto all = [](bool equal) { return equal ? Match::All : Match::None; };
        switch (how) {
        case How::Same:
            return all(*made == shape
                       && std::all_of(parts.begin(), parts.end(),
                                      [&](const auto &part) { return part == whole; }));
        case How::Axis0: return matchOf(joined(parts, rows, 0), *made, whole, shape);
        case How::Axis1: return all(*made == shape && joined(parts, rows, 1) == whole);
        case How::Gated:
            return all(*made == shape
                       && (joined(parts, rows, 0) == whole || joinedHalves(parts) == whole));
        }
        return Match::None;
    }

    void addReason(const AssemblyRule &rule)
    {
        if (m_reasons.find(rule.reason) == std::string::npos)
            m_reasons += (m_reasons.empty() ? "" : "; ") + rule.reason;
    }

    const TensorSource &m_parts, &m_whole;
    std::uint64_t m_budget;
    std::stop_token m_stop;
    std::map<std::int64_t, std::int64_t> m_layers; ///< of each pipeline rank
    std::uint64_t m_equal = 0, m_skipped = 0;
    std::vector<std::string> m_unlike, m_longer;
    std::string m_reasons;
};

bool listsRanks(const Catalog &catalog)
{
    return std::any_of(catalog.tensors.begin(), catalog.tensors.end(),
                       [](const TensorRef &tensor) { return tensor.name.starts_with("mp_rank_"); });
}

} // namespace

Result<std::vector<AssemblyRule>> parseAssemblyRules(std::string_view text)
{
    std::vector<AssemblyRule> rules;
    for (auto [line, number] : ruleLines(text)) {
        const auto how = howOf(takeWord(line));
        const std::string_view pattern = takeWord(line);
        const auto reason = std::min(line.find_first_not_of(" \t"), line.size());
        if (!how || pattern.empty() || reason == line.size())
            return Error{ErrorCode::Malformed,
                         {},
                         "line " + std::to_string(number),
                         "expected how, a pattern and a reason"};
        rules.push_back({*how, std::string(pattern), std::string(line.substr(reason))});
    }
    return rules;
}

const std::vector<AssemblyRule> &assemblyRules()
{
    // The embedded table is checked by a test; a broken one would put nothing together.
    static const std::vector<AssemblyRule> rules = [] {
        auto parsed = parseAssemblyRules(resources::rankAssemblyRules);
        return parsed ? std::move(parsed).value() : std::vector<AssemblyRule>();
    }();
    return rules;
}

std::vector<Finding> assemblyFindings(const TensorSource &a, const TensorSource &b,
                                      std::uint64_t budget, std::stop_token stop)
{
    const bool partsInA = listsRanks(a.catalog()), partsInB = listsRanks(b.catalog());
    if (partsInA == partsInB)
        return {};
    Assembly assembly(partsInA ? a : b, partsInA ? b : a, budget, std::move(stop));
    assembly.look();
    const auto finding = assembly.finding(partsInA);
    return finding ? std::vector<Finding>{*finding} : std::vector<Finding>();
}

} // namespace forkpoint
