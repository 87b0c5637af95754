// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/optimizer_forms.h"

#include <string_view>

namespace forkpoint {

OptimizerForms::OptimizerForms(const Catalog &a, const Catalog &b)
    : m_a(formsOf(a)),
      m_b(formsOf(b))
{
    for (const std::set<Form> *side : {&m_a, &m_b})
        m_anyBuffers =
            m_anyBuffers || side->contains(Form::Buckets) || side->contains(Form::Gathered);
}

OptimizerForms::Form OptimizerForms::formOf(const TensorRef &tensor)
{
    const std::string_view name = tensor.name;
    if (tensor.stateClass != StateClass::Optimizer)
        return Form::None;
    if (name.starts_with("optimizer.distributed."))
        return name.find(".bucket_idx_") != name.npos ? Form::Buckets
            : name.find(".param_state/") != name.npos ? Form::Gathered
                                                      : Form::None;
    if (name.starts_with("mp_rank_") && name.find(".distrib_optim.") != name.npos)
        return Form::Gathered;
    return name.starts_with("optimizer.state.") ? Form::Parameters : Form::None;
}

std::set<OptimizerForms::Form> OptimizerForms::formsOf(const Catalog &catalog)
{
    std::set<Form> forms;
    for (const TensorRef &tensor : catalog.tensors)
        forms.insert(formOf(tensor));
    forms.erase(Form::None);
    return forms;
}

std::string OptimizerForms::whyNoPartner(const TensorRef &tensor, bool isA) const
{
    if (!m_anyBuffers)
        return {};
    const std::set<Form> &others = isA ? m_b : m_a;
    const Form form = formOf(tensor);
    if (form == Form::None || others.empty() || others.contains(form))
        return {};
    return std::string(isA ? "B" : "A")
        + " keeps the optimizer's state in another form (buffers, or by parameter), and no file "
          "says "
          "which part of a buffer is which parameter's";
}

} // namespace forkpoint
