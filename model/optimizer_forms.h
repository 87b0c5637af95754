// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <set>
#include <string>

namespace forkpoint {

/// In which of Megatron-Core's forms each of two checkpoints keeps the state of its optimizer:
/// buckets or gathered buffers of a distributed optimizer, or a tensor of each parameter. Which part
/// of a buffer belongs to which parameter is in no file, so that what one side keeps in a form that
/// the other lacks has no partner there, equal or not.
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

    std::set<Form> m_a, m_b;
    bool m_anyBuffers = false;
};

} // namespace forkpoint
