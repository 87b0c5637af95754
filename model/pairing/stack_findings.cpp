// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/stack_findings.h"

#include "model/format.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace forkpoint {

namespace {

// A name may be of any length and hold any number of numbers; those that count something are short.
constexpr std::size_t LongestName = 512;
constexpr std::size_t MostNumbers = 8;
constexpr std::size_t MostFamilyText = 64u << 20; ///< of all families' names together

/// Calls visit(name with # in place of the number, number) for every number between dots.
template <class Visit>
void forEachNumber(const std::string &name, Visit visit)
{
    if (name.size() > LongestName)
        return;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool begins = name[i] >= '0' && name[i] <= '9' && (i == 0 || name[i - 1] == '.');
        if (!begins)
            continue;
        std::size_t end = i;
        while (end < name.size() && name[end] >= '0' && name[end] <= '9')
            ++end;
        if (end - i > 6 || (end < name.size() && name[end] != '.'))
            continue;
        if (++numbers > MostNumbers)
            return;
        visit(name.substr(0, i) + "#" + name.substr(end), std::stoull(name.substr(i, end - i)));
    }
}

/// The last word of a name, "weight" apart: what a stack and its parts have in common.
std::string lastWord(std::string_view name)
{
    constexpr std::string_view Weight = ".weight";
    if (name.ends_with(Weight))
        name.remove_suffix(Weight.size());
    return std::string(name.substr(name.rfind('.') + 1));
}

/// The last words are alike: "experts.#.w1.weight" and "experts.w1".
bool related(const std::string &stack, const std::string &family)
{
    std::string without = family;
    if (const auto at = without.find("#."); at != std::string::npos)
        without.erase(at, 2);
    return stack == without || stack.ends_with("." + without) || without.ends_with("." + stack)
        || without == stack + ".weight" || without.ends_with("." + stack + ".weight");
}

using Members = std::map<Index, const TensorRow *>;

class StackSearch
{
public:
    StackSearch(const CheckpointComparison &comparison, const TensorSource &stacks,
                const TensorSource &parts, bool stackInA, LayoutSearch &search)
        : m_comparison(comparison),
          m_stacks(stacks),
          m_parts(parts),
          m_stackInA(stackInA),
          m_search(search)
    {
    }

    std::vector<Finding> take()
    {
        gather();
        const ItemStatus ofStack = m_stackInA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
        for (const TensorRow &row : m_comparison.tensors) {
            const Shape &shape = m_stackInA ? row.shapeA : row.shapeB;
            if (row.status == ofStack && shape.rank() >= 2 && shape.dims[0] >= 2)
                lookFor(row, shape);
        }
        return std::move(m_findings);
    }

private:
    /// Families that may make a stack: of one last word, size and shape.
    using Kind = std::tuple<std::string, std::size_t, std::vector<Index>>;
    using Family = std::pair<std::string, std::vector<Index>>;

    void gather()
    {
        const ItemStatus ofParts = m_stackInA ? ItemStatus::OnlyInB : ItemStatus::OnlyInA;
        std::size_t text = 0;
        for (const TensorRow &row : m_comparison.tensors) {
            if (row.status != ofParts)
                continue;
            const Shape &shape = m_stackInA ? row.shapeB : row.shapeA;
            forEachNumber(row.name, [&](std::string family, Index number) {
                text += family.size();
                if (text > MostFamilyText && text - family.size() <= MostFamilyText)
                    m_search.leaveOut(row.name); // and those that follow
                if (text <= MostFamilyText)
                    m_families[{std::move(family), shape.dims}].emplace(number, &row);
            });
        }
        for (const auto &family : m_families)
            m_kinds[{lastWord(family.first.first), family.second.size(), family.first.second}]
                .push_back(&family);
    }

    void lookFor(const TensorRow &row, const Shape &shape)
    {
        const std::vector<Index> part(shape.dims.begin() + 1, shape.dims.end());
        const auto kind = m_kinds.find({lastWord(row.name), std::size_t(shape.dims[0]), part});
        if (kind == m_kinds.end() || row.name.size() > LongestName)
            return;
        for (const auto *family : kind->second) {
            if (!m_search.spend(row.name.size() + family->first.first.size()))
                return m_search.leaveOut(row.name);
            if (related(row.name, family->first.first) && lookAt(row, family->second))
                return;
        }
    }

    /// True where it was decided.
    bool lookAt(const TensorRow &row, const Members &members)
    {
        const bool oneType = std::all_of(members.begin(), members.end(), [&](const auto &member) {
            return m_stackInA ? member.second->dtypeB == row.dtypeA
                              : member.second->dtypeA == row.dtypeB;
        });
        if (!oneType)
            return false;
        const auto stack = m_search.read(m_stacks, m_stackInA ? *row.a : *row.b);
        if (!stack) {
            m_search.leaveOut(row.name);
            return true;
        }
        if (stack->empty())
            return false;
        const std::size_t part = stack->size() / members.size();
        std::size_t at = 0;
        for (const auto &[number, member] : members) {
            const auto data = m_search.read(m_parts, m_stackInA ? *member->b : *member->a);
            if (!data) {
                m_search.leaveOut(row.name);
                return true;
            }
            if (data->size() != part || std::memcmp(stack->data() + at, data->data(), part) != 0)
                return false;
            at += part;
        }
        add(row, members);
        return true;
    }

    void add(const TensorRow &row, const Members &members)
    {
        Finding finding{"stacked",
                        Certainty::Is,
                        Severity::Note,
                        row.name + " of " + (m_stackInA ? "A" : "B") + " is "
                            + counted(members.size(), "tensor", "tensors") + " of "
                            + (m_stackInA ? "B" : "A")
                            + " stacked, bit for bit: " + members.begin()->second->name + " to "
                            + members.rbegin()->second->name,
                        {row.name}};
        for (const auto &[number, member] : members)
            finding.where.push_back(member->name);
        m_findings.push_back(std::move(finding));
    }

    const CheckpointComparison &m_comparison;
    const TensorSource &m_stacks, &m_parts;
    bool m_stackInA;
    LayoutSearch &m_search;
    std::map<Family, Members> m_families;
    std::map<Kind, std::vector<const std::pair<const Family, Members> *>> m_kinds;
    std::vector<Finding> m_findings;
};

} // namespace

std::vector<Finding> stackFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                   const TensorSource &b, LayoutSearch &search)
{
    std::vector<Finding> findings = StackSearch(comparison, a, b, true, search).take();
    for (Finding &finding : StackSearch(comparison, b, a, false, search).take())
        findings.push_back(std::move(finding));
    return findings;
}

} // namespace forkpoint
