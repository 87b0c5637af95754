// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <set>
#include <string>

namespace forkpoint {

/// In which of Megatron-Core's forms each of two checkpoints keeps the state of its optimizer:
/// buckets or gathered buffers of a distributed optimizer, or a tensor of each parameter. Which part
/// of a buffer belongs to which parameter is in no file, so that of two
/// without a form in common what one side keeps has no partner there, equal or not. Where they have
/// one in common, what a side keeps beyond it is a difference.
class OptimizerForms
{
public:
    OptimizerForms(const Catalog &a, const Catalog &b);

    /// Of a tensor of one side only: why that is no difference; empty where it may be one.
    std::string whyNoPartner(const TensorRef &tensor, bool isA) const;

private:
    enum class Form { None, Buckets, Gathered, Parameters };
    static Form formOf(const TensorRef &tensor);
    static std::set<Form> formsOf(const Catalog &catalog);

    bool m_areUnlike = false; ///< both have state, in no form that the other has, too
};

} // namespace forkpoint
