// SPDX-License-Identifier: GPL-3.0-or-later
// How DeepSpeed's ZeRO cuts parameters: flat groups over data-parallel ranks (stages 1 and 2), or
// each parameter by itself (stage 3). Source: deepspeed/utils/zero_to_fp32.py,
// deepspeed/utils/tensor_fragment.py, deepspeed/runtime/zero/stage_1_and_2.py and stage3.py.
#pragma once

#include "loaders/sharded/rank_part.h"

#include <string>
#include <vector>

namespace forkpoint {

struct ZeroParameter
{
    std::string name;
    Shape shape;
};

/// The parameters of each group of the optimizer, in the order in which they lie in its partitions.
using ZeroGroups = std::vector<std::vector<ZeroParameter>>;

/// From values `KEY.GROUP.NAME.DIM` of the model states, which keep the order of the file.
ZeroGroups readZeroGroups(const RankPart &model, std::string_view key);
/// The same without groups: `frozen_param_shapes.NAME.DIM`.
std::vector<ZeroParameter> readZeroShapes(const RankPart &model, const KeyPath &prefix);

/// The flat partitions of one quantity (fp32, exp_avg, ...) by rank and group, and how to find a
/// parameter in them.
class ZeroPartitions
{
public:
    /// `parts` by data-parallel rank; one that is missing is nullptr, what it held is stored
    /// nowhere then.
    ZeroPartitions(std::vector<const RankPart *> parts, ZeroGroups groups);

    bool isStage3() const { return m_stage >= 3; }
    std::size_t ranks() const { return m_parts.size(); }
    const ZeroGroups &groups() const { return m_groups; }
    /// Names of the quantities: "fp32", then those of the optimizer's state.
    std::vector<std::string> quantities() const;
    /// Joins a parameter of group `group`, number `index` of it.
    TensorRef join(const std::string &quantity, std::size_t group, std::size_t index) const;
    /// The scalar of a group ("step") as the first rank has it; nullptr where it is no tensor.
    const TensorRef *scalar(const std::string &quantity, std::size_t group) const;
    /// Whether an item of an optimizer file describes or is a partition: listed joined instead.
    static bool isLayout(const KeyPath &path);

private:
    struct Fragment
    {
        Index start = 0, count = 0; ///< in the partition of one rank
    };
    const TensorRef *partition(const RankPart &part, const std::string &quantity,
                               std::size_t group) const;
    std::optional<Fragment> mapped(const RankPart &part, std::size_t group,
                                   const std::string &name) const;
    void joinFlat(const std::string &quantity, std::size_t group, std::size_t index,
                  TensorRef &tensor) const;
    void joinMapped(const std::string &quantity, std::size_t group, std::size_t index,
                    TensorRef &tensor) const;
    void joinEach(const std::string &quantity, std::size_t group, std::size_t index,
                  TensorRef &tensor) const;

    std::vector<const RankPart *> m_parts;
    ZeroGroups m_groups;
    std::int64_t m_stage = 1;
    std::vector<std::vector<Index>>
        m_begins; ///< of each parameter: in its group, or stage 3: in all
    bool m_hasMappings = false;
};

/// Elements [begin, begin + count) of a flat partition as elements of `tensor` from `at` on.
void addFlatRange(const TensorRef &partition, Index begin, Index count, Index at,
                  TensorRef &tensor);

} // namespace forkpoint
