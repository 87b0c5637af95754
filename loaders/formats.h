// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace forkpoint {

/// One line of `forkpoint-cli formats`: what can be opened, and what cannot yet.
struct FormatInfo
{
    std::string name, description;
    bool available = false;
    std::string reason; ///< why it is not available
};

std::vector<FormatInfo> listFormats();

} // namespace forkpoint
