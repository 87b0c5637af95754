// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/line_pattern.h"

#ifdef FORKPOINT_HAVE_RE2
#include "loaders/limits.h"

#include <re2/re2.h>
#endif

namespace forkpoint {

#ifdef FORKPOINT_HAVE_RE2

struct LinePattern::Compiled
{
    Compiled(const std::string &pattern, const re2::RE2::Options &options)
        : expression(pattern, options)
    {
    }

    re2::RE2 expression;
    std::vector<std::string> names;
    std::vector<std::size_t> numbers; ///< of the groups of these names
};

std::string_view whyNoPatterns()
{
    return {};
}

Result<LinePattern> LinePattern::compile(const std::string &pattern)
{
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t(limits::PatternBytes));
    const auto compiled = std::make_shared<Compiled>(pattern, options);
    if (!compiled->expression.ok())
        return Error{ErrorCode::Malformed,
                     {},
                     {},
                     "expected a regular expression of RE2: " + compiled->expression.error()};
    for (const auto &[number, name] : compiled->expression.CapturingGroupNames()) {
        compiled->names.push_back(name);
        compiled->numbers.push_back(std::size_t(number));
    }
    return LinePattern(compiled);
}

const std::vector<std::string> &LinePattern::groups() const
{
    return m_compiled->names;
}

bool LinePattern::match(std::string_view line, std::vector<Group> &found) const
{
    std::vector<re2::StringPiece> parts(
        m_compiled->numbers.empty() ? 0 : m_compiled->numbers.back() + 1);
    const re2::StringPiece text(line.data(), line.size());
    if (!m_compiled->expression.Match(text, 0, line.size(), re2::RE2::UNANCHORED, parts.data(),
                                      int(parts.size())))
        return false;
    for (std::size_t i = 0; i < m_compiled->names.size(); ++i) {
        const re2::StringPiece &part = parts[m_compiled->numbers[i]];
        if (part.data() != nullptr) // else an alternative that was not taken
            found.push_back({m_compiled->names[i], {part.data(), part.size()}});
    }
    return true;
}

#else

struct LinePattern::Compiled
{
    std::vector<std::string> names;
};

std::string_view whyNoPatterns()
{
    return "built without RE2";
}

Result<LinePattern> LinePattern::compile(const std::string &)
{
    return Error{ErrorCode::Unsupported,
                 {},
                 {},
                 "regular expressions need RE2, and this program was built without it"};
}

const std::vector<std::string> &LinePattern::groups() const
{
    return m_compiled->names;
}

bool LinePattern::match(std::string_view, std::vector<Group> &) const
{
    return false;
}

#endif

} // namespace forkpoint
