// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/traces/trace_rules.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// The family of a call, the part of its name that its variants share: "gemm:NT:acc0:grad1" and
/// "gemm:NN:acc1:grad1" are "gemm", "aten.mm.default" is "aten.mm".
std::string callFamily(std::string_view name);

/// The axes along which calls of one family may differ: parts of the name ("acc" 0, "grad" 1), what
/// the signature says (types, shapes), the layer, the rank. Axis -> value.
std::map<std::string, std::string> callAxes(const TraceRecord &record,
                                            std::optional<std::int64_t> rank);

/// Rule M24: which property of a call decides whether it differs, looked up among the records at hand
/// rather than found by another run. Only calls whose inputs are equal count.
class DiscriminatorTable
{
public:
    struct Cell
    {
        std::uint64_t clean = 0, divergent = 0;
        std::uint64_t unclassified = 0; ///< inputs equal in too little, or outputs not told
    };
    enum class Role : std::uint8_t {
        Undecided,
        RuledOut,      ///< two calls that differ in it alone both diverge
        Discriminator, ///< each of its values is all clean or all divergent, and both occur
    };
    struct Axis
    {
        std::string name;
        Role role = Role::Undecided;
        std::map<std::string, Cell> values;
    };
    /// Two axes against each other.
    struct Cross
    {
        std::string across, down;
        std::map<std::pair<std::string, std::string>, Cell> cells; ///< (across, down)
    };

    explicit DiscriminatorTable(std::string family) : m_family(std::move(family)) {}

    void see(const TraceRecord &a, const TraceRecord &b, std::optional<std::int64_t> rank);
    /// Those with more than one value, by name.
    std::vector<Axis> axes() const;
    /// Of two axes that have more than one value.
    Cross cross(const std::string &across, const std::string &down) const;
    std::vector<Finding> findings() const;

private:
    using Row = std::map<std::string, std::string>;

    bool isRuledOut(const std::string &axis) const;
    Finding summary(const std::vector<Axis> &axes) const;

    std::string m_family;
    std::map<Row, Cell> m_rows;
    /// Calls of the family whose inputs differ already, or over the limit.
    std::uint64_t m_leftOut = 0;
};

} // namespace forkpoint
