// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/recorded_report.h"

#include "loaders/storage/file_source.h"

#include <algorithm>
#include <array>

namespace forkpoint {

Result<std::optional<RecordedReport>> reportIn(const std::string &path)
{
    constexpr std::string_view Schema = "\"forkpoint.report/";
    std::array<char, 256> head{};
    const auto source = FileSource::open(path, path);
    if (!source)
        return std::optional<RecordedReport>(); // whoever opens it says why
    const auto size = std::size_t(std::min<std::uint64_t>((*source)->size(), head.size()));
    if (!(*source)->read(0, std::as_writable_bytes(std::span(head.data(), size))))
        return std::optional<RecordedReport>();
    if (std::string_view(head.data(), size).find(Schema) == std::string_view::npos)
        return std::optional<RecordedReport>();
    FP_TRY(RecordedReport report, readReport(**source));
    return std::optional(std::move(report));
}

} // namespace forkpoint
