// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace forkpoint {

/// False only where no two names are equal. By their hashes, 8 bytes a name: a set of a million names has
/// much more. `nameOf`: gives the name of an item, which stays where it is.
template <class Items, class NameOf>
bool mayRepeatNames(const Items &items, NameOf nameOf)
{
    std::vector<std::size_t> hashes;
    hashes.reserve(items.size());
    for (const auto &item : items)
        hashes.push_back(std::hash<std::string_view>()(nameOf(item)));
    std::sort(hashes.begin(), hashes.end());
    return std::adjacent_find(hashes.begin(), hashes.end()) != hashes.end();
}

} // namespace forkpoint
