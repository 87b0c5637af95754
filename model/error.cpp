// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/error.h"

namespace forkpoint {

std::string_view toString(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Io: return "io";
    case ErrorCode::NotFound: return "not-found";
    case ErrorCode::Truncated: return "truncated";
    case ErrorCode::Malformed: return "malformed";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Limit: return "limit";
    case ErrorCode::Refused: return "refused";
    case ErrorCode::Mismatch: return "mismatch";
    case ErrorCode::Changed: return "changed";
    case ErrorCode::Cancelled: return "cancelled";
    case ErrorCode::Usage: return "usage";
    }
    return "malformed";
}

std::string Error::message() const
{
    std::string result;
    for (const std::string *part : {&file, &place, &text}) {
        if (part->empty())
            continue;
        if (!result.empty())
            result += ": ";
        result += *part;
    }
    return result;
}

} // namespace forkpoint
