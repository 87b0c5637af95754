// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/latest_pointer.h"

#include "loaders/step_name.h"
#include "loaders/text/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace forkpoint {

namespace {

constexpr std::string_view DeepspeedPointer = "latest";
constexpr std::string_view MegatronPointer = "latest_checkpointed_iteration.txt";
constexpr std::uint64_t PointerBytes = 4096;

std::optional<Step> wholeNumber(std::string_view text)
{
    Step step = 0;
    const char *const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, step);
    return error == std::errc() && after == end && step >= 0 ? std::optional(step) : std::nullopt;
}

class PointerCheck
{
public:
    PointerCheck(const DirectoryView &view, std::string_view pointer,
                 const std::vector<RunStep> &steps, Diagnostics &diagnostics)
        : m_view(view),
          m_pointer(pointer),
          m_steps(steps),
          m_diagnostics(diagnostics)
    {
    }

    void check()
    {
        const auto file = m_view.open(std::string(m_pointer));
        const auto bytes = file.ok() ? readAll(**file, 0, (*file)->size(), PointerBytes)
                                     : Result<std::vector<std::byte>>(file.error());
        if (!bytes.ok())
            return tell(Severity::Warning, toString(bytes.error().code), bytes.error().text);
        const std::string_view target = trimmed(asText(*bytes), " \t\r\n");
        if (m_pointer == MegatronPointer)
            checkIteration(target);
        else
            checkName(target);
    }

private:
    void tell(Severity severity, std::string_view code, std::string text)
    {
        m_diagnostics.push_back({severity,
                                 std::string(code),
                                 m_view.prefix + std::string(m_pointer),
                                 {},
                                 std::move(text)});
    }

    static std::string shown(std::string_view target)
    {
        return "'" + escapeInvalidUtf8(target.substr(0, 100)) + "'";
    }

    void checkIteration(std::string_view target)
    {
        if (target == "release")
            return;
        const auto step = wholeNumber(target);
        if (!step) {
            return tell(Severity::Error, "malformed",
                        "must be an iteration or 'release', is " + shown(target));
        }
        checkStep(*step);
    }

    void checkName(std::string_view target)
    {
        const bool leadsAway = target.empty() || target == "." || target == ".."
            || target.find('/') != std::string_view::npos
            || target.find('\\') != std::string_view::npos
            || target.find('\0') != std::string_view::npos;
        if (leadsAway) {
            return tell(Severity::Error, "refused",
                        "must name a folder beside it, is " + shown(target));
        }
        if (!m_view.hasFolder(target) && !m_view.hasFile(target))
            return tell(Severity::Warning, "not-found",
                        "names " + shown(target) + ", which is not there");
        if (const auto name = parseStepName(target))
            checkStep(name->step);
    }

    /// The newest complete step should be the one that is named.
    void checkStep(Step step)
    {
        const auto newest =
            std::find_if(m_steps.rbegin(), m_steps.rend(),
                         [](const RunStep &found) { return found.complete && found.step; });
        if (newest == m_steps.rend() || *newest->step == step)
            return;
        tell(Severity::Note, "latest",
             "names step " + std::to_string(step) + ", the newest complete one here is "
                 + std::to_string(*newest->step));
    }

    const DirectoryView &m_view;
    std::string_view m_pointer;
    const std::vector<RunStep> &m_steps;
    Diagnostics &m_diagnostics;
};

} // namespace

bool isLatestPointer(std::string_view name)
{
    return name == DeepspeedPointer || name == MegatronPointer;
}

Diagnostics checkLatestPointers(const DirectoryView &view, const std::vector<RunStep> &steps)
{
    Diagnostics diagnostics;
    for (const std::string_view pointer : {DeepspeedPointer, MegatronPointer}) {
        if (view.hasFile(pointer))
            PointerCheck(view, pointer, steps, diagnostics).check();
    }
    return diagnostics;
}

} // namespace forkpoint
