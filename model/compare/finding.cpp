// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/finding.h"

namespace forkpoint {

std::string_view toString(Certainty certainty)
{
    return certainty == Certainty::Is ? "is" : "consistent-with";
}

} // namespace forkpoint
