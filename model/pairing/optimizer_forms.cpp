// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/optimizer_forms.h"

#include <algorithm>
#include <string_view>

namespace forkpoint {

OptimizerForms::OptimizerForms(const Catalog &a, const Catalog &b)
{
    const std::set<Form> ofA = formsOf(a), ofB = formsOf(b);
    m_areUnlike = !ofA.empty() && !ofB.empty()
        && std::none_of(ofA.begin(), ofA.end(), [&](Form form) { return ofB.contains(form); });
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
    if (!m_areUnlike || formOf(tensor) == Form::None)
        return {};
    return std::string(isA ? "B" : "A")
        + " keeps the optimizer's state in another form (buffers, or by parameter), and no file "
          "says "
          "which part of a buffer is which parameter's";
}

} // namespace forkpoint
