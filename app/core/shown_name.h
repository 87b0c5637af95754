// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/text/printable.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// What was found of a name, which may be spelled as texts show it (printable).
struct ShownName
{
    std::optional<std::size_t> index; ///< of the one that is meant
    bool isAmbiguous = false;         ///< nothing has the very name, and several are shown so
};

inline constexpr const char *SeveralShownSo =
    "is how several tensors are shown, and none has that very name";

using NameTest = std::function<bool(const std::string &)>;

/// Of `count` items the first that has the name, else the one that is shown so. `bears(i, test)`:
/// whether a name of item i passes the test.
template <class Bears>
ShownName findShown(std::size_t count, const std::string &name, const Bears &bears)
{
    const NameTest isName = [&](const std::string &own) { return own == name; };
    for (std::size_t i = 0; i < count; ++i) {
        if (bears(i, isName))
            return {i, false};
    }
    const NameTest isShown = [&](const std::string &own) { return printable(own) == name; };
    ShownName found;
    for (std::size_t i = 0; i < count; ++i) {
        if (!bears(i, isShown))
            continue;
        if (found.index)
            return {std::nullopt, true};
        found.index = i;
    }
    return found;
}

/// Whether a value, of which there are no elements, has that name or is shown so.
inline bool isValueOf(const Catalog &catalog, const std::string &name)
{
    return std::any_of(catalog.values.begin(), catalog.values.end(), [&](const ValueRef &value) {
        return value.name == name || printable(value.name) == name;
    });
}

} // namespace forkpoint
