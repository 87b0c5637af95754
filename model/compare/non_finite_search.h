// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compute_backend.h"
#include "model/progress.h"
#include "model/tensor_source.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// One tensor that holds NaN or infinities on either side.
struct NonFiniteTensor
{
    std::string name; ///< the logical name
    Index nanA = 0, nanB = 0, infA = 0, infB = 0;
};

struct NonFiniteFindings
{
    std::vector<NonFiniteTensor> tensors; ///< first those measured before, then as they are read
    std::uint64_t looked = 0;             ///< tensors of floating types, or sides of them
    std::vector<std::string> unread;      ///< names that could not be read, with the reason
    bool complete = false;
};

/// Looks for NaN and infinities in every tensor of a comparison, equal ones and one-sided ones too;
/// what the comparison has measured is not read again.
class NonFiniteSearch
{
public:
    NonFiniteSearch(std::shared_ptr<const TensorSource> a, std::shared_ptr<const TensorSource> b,
                    std::shared_ptr<const CheckpointComparison> comparison);

    /// Looks at one tensor, or at one unit of a large one. False when none is left.
    Result<bool> advance(const ComputeBackend &backend, std::stop_token stop);
    Progress progress() const;
    /// At the end: whether what was read is still what was compared.
    Status unchanged() const;
    const NonFiniteFindings &findings() const { return m_findings; }

private:
    /// One reading of a row: both sides together where they are alike, else one side.
    struct Part
    {
        std::size_t row = 0;
        bool a = false, b = false;
    };

    void enter(std::size_t row);
    void count(std::size_t row, const DiffStats &stats, bool a, bool b);

    std::shared_ptr<const TensorSource> m_a, m_b;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    NonFiniteFindings m_findings;
    std::vector<Part> m_parts;
    std::size_t m_next = 0;
    Index m_element = 0; ///< of the part that is being read
};

} // namespace forkpoint
