// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/tied_tensors.h"

#include "model/borrowed_source.h"
#include "model/compare/element_reader.h"
#include "model/pairing/parameter_names.h"

#include <map>
#include <optional>
#include <string>

namespace forkpoint {

namespace {

/// Whether that is the last key of a setting's path: "untie_word_embeddings" ends with another's name.
bool isCalled(std::string_view name, std::string_view key)
{
    return name == key || (name.ends_with(key) && name[name.size() - key.size() - 1] == '.');
}

/// Which setting ties them; empty where none does, or settings contradict each other.
std::string tieOf(const Catalog &catalog)
{
    std::string tie;
    for (const ValueRef &value : catalog.values) {
        const bool ties = isCalled(value.name, "tie_word_embeddings");
        const bool unties = isCalled(value.name, "untie_embeddings_and_output_weights");
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

Finding unreadNote(const TensorRef &words, const TensorRef &head, const std::string &by,
                   const std::string &why)
{
    Finding note = findingOf(words, head, by + "; whether they are equal " + why, Severity::Note);
    note.id = "tied-tensors-unread";
    return note;
}

/// By what is known of both; nothing where it does not say.
std::optional<bool> areEqual(const Ends &ends, const KnownTensors &known)
{
    const auto words = known.contents.find(*ends.words), head = known.contents.find(*ends.head);
    if (words == known.contents.end() || head == known.contents.end())
        return std::nullopt;
    return words->second == head->second;
}

std::optional<Finding> findingFor(const TensorSource &source, const Ends &ends,
                                  const std::string &by, const KnownTensors &known,
                                  std::uint64_t &budget, const std::stop_token &stop)
{
    const TensorRef &words = source.catalog().tensors[*ends.words];
    const TensorRef &head = source.catalog().tensors[*ends.head];
    if (words.dtype != head.dtype || words.shape != head.shape)
        return findingOf(words, head, by + ", and have unlike shapes or types", Severity::Warning);
    const auto equal = areEqual(ends, known);
    if (equal && *equal)
        return std::nullopt;
    const auto withoutPlace = [&](const std::string &why) {
        return equal
            ? findingOf(words, head, by + ", and differ by their digests", Severity::Warning)
            : unreadNote(words, head, by, why);
    };
    if (known.unread.contains(*ends.words) || known.unread.contains(*ends.head)
        || words.bytes + head.bytes > budget)
        return withoutPlace("was not read");
    budget -= words.bytes + head.bytes;
    const auto shared = borrowed(source);
    const auto next = nextDifference({shared, shared, *ends.words, *ends.head}, 0, false, stop);
    if (!next.ok())
        return withoutPlace("could not be read: " + next.error().message());
    if (!*next)
        return std::nullopt;
    return findingOf(words, head,
                     by + ", and differ from element " + std::to_string(**next) + " on",
                     Severity::Warning);
}

} // namespace

std::vector<Finding> tiedFindings(const TensorSource &source, std::uint64_t budget,
                                  std::stop_token stop, const KnownTensors &known)
{
    const Catalog &catalog = source.catalog();
    std::vector<Finding> findings;
    const std::string tie = tieOf(catalog);
    if (tie.empty())
        return findings;
    for (const auto &[owner, ends] : endsOf(catalog)) {
        if (!ends.words || !ends.head)
            continue;
        auto finding = findingFor(source, ends, "as " + tie + " says", known, budget, stop);
        if (finding)
            findings.push_back(std::move(*finding));
    }
    return findings;
}

} // namespace forkpoint
