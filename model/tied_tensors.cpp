// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tied_tensors.h"

#include "model/element_reader.h"
#include "model/parameter_names.h"

#include <map>
#include <optional>
#include <string>

namespace forkpoint {

namespace {

/// Which setting ties them; empty where none does, or settings contradict each other.
std::string tieOf(const Catalog &catalog)
{
    std::string tie;
    for (const ValueRef &value : catalog.values) {
        const bool ties = value.name.ends_with("tie_word_embeddings");
        const bool unties = value.name.ends_with("untie_embeddings_and_output_weights");
        const bool *said = std::get_if<bool>(&value.value.data);
        if (!said || value.value.type != ValueType::Bool || !(ties || unties))
            continue;
        if (*said == unties)
            return {};
        tie = value.name;
    }
    return tie;
}

/// What a rank's part is one of: the ranks of a pipeline hold the two ends of one model.
OwnerCoordinate withoutStage(const TensorRef &tensor, const Catalog &catalog)
{
    OwnerCoordinate owner;
    if (tensor.owner < catalog.owners.size())
        owner = catalog.owners[tensor.owner];
    std::erase_if(owner.axes, [](const auto &axis) { return axis.first == "pp"; });
    return owner;
}

struct Ends
{
    std::optional<TensorIndex> words, head;
};

std::map<OwnerCoordinate, Ends> endsOf(const Catalog &catalog)
{
    std::map<OwnerCoordinate, Ends> ends;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        if (tensor.stateClass != StateClass::Weights || tensor.unreadable
            || tensor.shape.rank() != 2)
            continue;
        ParameterName name = ParameterNames::instance().read(tensor.name);
        if (name.meaning.empty() && !tensor.path.keys.empty()) // behind a rank's folder
            name = ParameterNames::instance().read(tensor.path.keys.back().toString());
        const bool isWords = name.meaning == "embedding.words.weight";
        if (!name.slot.empty() || !(isWords || name.meaning == "head.weight"))
            continue;
        Ends &end = ends[withoutStage(tensor, catalog)];
        auto &place = isWords ? end.words : end.head;
        place = place ? place : std::optional(i);
    }
    return ends;
}

Finding findingOf(const TensorRef &words, const TensorRef &head, std::string text,
                  Severity severity)
{
    return {"tied-tensors-differ",
            Certainty::Is,
            severity,
            head.name + " and " + words.name + " are tied, " + std::move(text),
            {head.name, words.name}};
}

} // namespace

std::vector<Finding> tiedFindings(const TensorSource &source, std::uint64_t budget,
                                  std::stop_token stop)
{
    const Catalog &catalog = source.catalog();
    std::vector<Finding> findings;
    const std::string tie = tieOf(catalog);
    if (tie.empty())
        return findings;
    const std::shared_ptr<const TensorSource> borrowed(std::shared_ptr<const TensorSource>(),
                                                       &source);
    for (const auto &[owner, ends] : endsOf(catalog)) {
        if (!ends.words || !ends.head)
            continue;
        const TensorRef &words = catalog.tensors[*ends.words], &head = catalog.tensors[*ends.head];
        const std::string by = "as " + tie + " says";
        if (words.dtype != head.dtype || words.shape != head.shape) {
            findings.push_back(findingOf(words, head, by + ", and have unlike shapes or types",
                                         Severity::Warning));
            continue;
        }
        if (words.bytes + head.bytes > budget) {
            auto &note = findings.emplace_back(findingOf(
                words, head, by + "; whether they are equal was not read", Severity::Note));
            note.id = "tied-tensors-unread";
            continue;
        }
        budget -= words.bytes + head.bytes;
        const auto next =
            nextDifference({borrowed, borrowed, *ends.words, *ends.head}, 0, false, stop);
        if (next && *next)
            findings.push_back(findingOf(
                words, head, by + ", and differ from element " + std::to_string(**next) + " on",
                Severity::Warning));
    }
    return findings;
}

} // namespace forkpoint
