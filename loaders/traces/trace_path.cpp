// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_path.h"

#include <charconv>

namespace forkpoint {

namespace {

/// The number behind the last such word in a name: "step3", "step=3", "step_0003".
std::optional<std::int64_t> numberAfter(std::string_view name, std::string_view word)
{
    for (std::size_t at = name.rfind(word); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : name.rfind(word, at - 1)) {
        std::string_view rest = name.substr(at + word.size());
        if (rest.starts_with('_') || rest.starts_with('=') || rest.starts_with('-'))
            rest.remove_prefix(1);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (error == std::errc() && end != rest.data())
            return number;
    }
    return std::nullopt;
}

} // namespace

PathNumbers numbersInPath(const TraceFile &file)
{
    PathNumbers found;
    const std::string all = file.directory.filename().string() + "/" + file.name;
    for (std::size_t end = all.size(); end != std::string::npos;) {
        const std::size_t slash = end == 0 ? std::string::npos : all.rfind('/', end - 1);
        const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
        const std::string_view part = std::string_view(all).substr(begin, end - begin);
        for (const std::string_view word : {"step", "iteration", "iter"}) {
            if (!found.step)
                found.step = numberAfter(part, word);
        }
        if (!found.rank)
            found.rank = numberAfter(part, "rank");
        end = slash;
    }
    return found;
}

} // namespace forkpoint
