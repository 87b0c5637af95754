// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// An option that a command knows.
struct KnownOption
{
    std::string name; ///< "--rtol"
    std::string description;
};

/// What to say of words that a command did not expect. For an unknown option it names the options
/// that are spelled nearly so, else those whose description has its words.
std::string unexpectedText(const std::vector<std::string> &words,
                           const std::vector<KnownOption> &known);

} // namespace forkpoint
