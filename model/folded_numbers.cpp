// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/folded_numbers.h"

#include "model/bytes.h"

namespace forkpoint {

namespace {

struct Parts
{
    std::string_view kinds, asIntegers, integers;
};

Parts partsOf(const Value &value)
{
    const auto *data = std::get_if<std::string>(&value.data);
    if (value.type != ValueType::Numbers || !data)
        return {};
    const std::string_view text = *data;
    const std::size_t first = text.find('\n');
    const std::size_t second = first == std::string_view::npos ? first : text.find('\n', first + 1);
    if (second == std::string_view::npos)
        return {};
    return {text.substr(0, first), text.substr(first + 1, second - first - 1),
            text.substr(second + 1)};
}

} // namespace

std::string FoldedNumbers::toData(std::string_view integers) const
{
    return kinds + '\n' + asIntegers + '\n' + std::string(integers);
}

std::string_view foldedKinds(const Value &value)
{
    return partsOf(value).kinds;
}

std::string_view foldedAsIntegers(const Value &value)
{
    return partsOf(value).asIntegers;
}

std::string_view foldedFacts(const Value &value)
{
    const Parts parts = partsOf(value);
    if (parts.kinds.empty())
        return {};
    return std::string_view(std::get<std::string>(value.data))
        .substr(0, parts.kinds.size() + parts.asIntegers.size() + 2);
}

std::vector<std::int64_t> foldedIntegers(const Value &value)
{
    const ByteView view = asBytes(partsOf(value).integers);
    std::vector<std::int64_t> integers;
    integers.reserve(view.size() / 8);
    for (std::size_t at = 0; at + 8 <= view.size(); at += 8)
        integers.push_back(loadLittle<std::int64_t>(view.data() + at));
    return integers;
}

} // namespace forkpoint
