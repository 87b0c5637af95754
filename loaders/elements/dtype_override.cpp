// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/dtype_override.h"

#include "model/format.h"
#include "model/state_class.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Tensors that a rule names and that are read as their file says.
struct LeftAsTheyAre
{
    std::uint64_t count = 0;
    std::string first; ///< "'w' is float32"
};

LeftAsTheyAre leftBy(const DTypeOverride &rule, const std::vector<TensorRef> &tensors)
{
    LeftAsTheyAre left;
    for (const TensorRef &tensor : tensors) {
        // A lone array goes by its file's name.
        const std::string name = tensor.path.keys.empty() ? tensor.name : tensor.path.toString();
        if (tensor.dtype != rule.dtype && globMatches(rule.glob, name) && ++left.count == 1)
            left.first = "'" + name + "' is " + tensor.dtype.name;
    }
    return left;
}

bool isApplied(const DTypeOverride &rule, const Catalog &catalog)
{
    const std::string said = rule.dtype.name + ", " + askedForText(rule);
    const auto says = [&](const std::string &text) { return text.find(said) != std::string::npos; };
    return std::any_of(catalog.tensors.begin(), catalog.tensors.end(),
                       [&](const TensorRef &tensor) { return says(tensor.note); })
        || std::any_of(catalog.diagnostics.begin(), catalog.diagnostics.end(),
                       [&](const Diagnostic &diagnostic) { return says(diagnostic.text); });
}

} // namespace

std::string askedForText(const DTypeOverride &rule)
{
    return "as asked for by '" + rule.glob + "'";
}

void reportIdleOverrides(const std::vector<DTypeOverride> &rules, CheckpointBuilder &builder)
{
    for (const DTypeOverride &rule : rules) {
        const LeftAsTheyAre left = leftBy(rule, builder.catalog().tensors);
        const bool applied = isApplied(rule, builder.catalog());
        if (applied && left.count == 0)
            continue;
        const std::string what = left.count == 0
            ? std::string("no tensor of that name has a type that its file leaves open")
            : counted(left.count, "tensor has", "tensors have")
                + " another type already: " + left.first + (left.count > 1 ? ", ..." : "");
        builder.addDiagnostic({applied ? Severity::Note : Severity::Warning,
                               "as-ignored",
                               {},
                               "--as " + rule.glob + "=" + rule.dtype.name,
                               (applied ? "" : "has no effect: ") + what});
    }
}

} // namespace forkpoint
