// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/folded_numbers.h"

#include "model/bytes.h"

namespace forkpoint {

std::vector<std::int64_t> foldedIntegers(const Value &value)
{
    const auto *bytes = std::get_if<std::string>(&value.data);
    std::vector<std::int64_t> integers;
    if (value.type != ValueType::Numbers || !bytes)
        return integers;
    const ByteView view = asBytes(*bytes);
    integers.reserve(view.size() / 8);
    for (std::size_t at = 0; at + 8 <= view.size(); at += 8)
        integers.push_back(loadLittle<std::int64_t>(view.data() + at));
    return integers;
}

} // namespace forkpoint
