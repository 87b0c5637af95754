// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// The first thing that was not as expected; later ones are not looked for.
struct JsonProblem
{
    std::optional<Error> error;

    void note(std::string place, std::string text)
    {
        if (!error)
            error = Error{ErrorCode::Malformed, {}, std::move(place), std::move(text)};
    }
};

/// Members of one object, read by kind. A member that is missing or of another kind is noted as a
/// problem and reads as nothing, so that a reader may go on and look once, at the end.
class JsonFields
{
public:
    /// `place` names the object in errors; a value that is no object is a problem.
    JsonFields(const JsonValue &value, std::string place, JsonProblem &problem);

    bool has(std::string_view key) const;
    const std::string &place() const { return m_place; }
    void problem(std::string_view key, const std::string &text) const;

    // Members that must be there.
    std::string text(std::string_view key) const;
    std::string_view view(std::string_view key) const; ///< the same text, as long as the document
    std::uint64_t count(std::string_view key) const;
    std::int64_t integer(std::string_view key) const;
    JsonFields object(std::string_view key) const;

    // Members that may be absent.
    std::string textOr(std::string_view key) const;
    std::optional<std::uint64_t> countIf(std::string_view key) const;
    std::optional<std::int64_t> integerIf(std::string_view key) const;
    std::optional<double> realIf(std::string_view key) const; ///< also "nan", "inf", "-inf"
    std::optional<bool> flagIf(std::string_view key) const;
    std::optional<JsonFields> objectIf(std::string_view key) const;
    std::vector<JsonValue> arrayIf(std::string_view key) const;
    JsonChildren elementsIf(std::string_view key) const; ///< the same, for a loop
    std::vector<std::string> textsIf(std::string_view key) const;
    std::optional<JsonValue> find(std::string_view key) const;
    std::vector<JsonValue> members() const;

    /// The one of `all` whose toString() is the text of the member.
    template <class Word>
    Word wordOf(std::string_view key, std::initializer_list<Word> all) const
    {
        const std::string wanted = text(key);
        for (const Word word : all) {
            if (toString(word) == wanted)
                return word;
        }
        problem(key, "'" + wanted + "' is not a word of this version");
        return *all.begin();
    }

private:
    std::string_view textOf(const std::optional<JsonValue> &value, std::string_view key) const;

    std::optional<JsonValue> m_value; ///< nothing: was no object
    mutable std::uint32_t m_last = 0; ///< member that was found last
    std::string m_place;
    JsonProblem *m_problem;
};

std::optional<std::int64_t> integerOf(const JsonValue &value);
std::optional<double> realOf(const JsonValue &value);

} // namespace forkpoint
