// SPDX-License-Identifier: GPL-3.0-or-later
// A sheet up to the first NUL byte, and the trace behind it that is read by it. Where the sheet is none,
// a good one reads all of the input.
#include "loaders/traces/mapping_sheet.h"
#include "loaders/traces/open_trace.h"
#include "loaders/traces/trace_mapping.h"
#include "tests/fuzz/fuzzed.h"

namespace {

using namespace forkpoint;

constexpr std::string_view Good = R"(mapping 1
path  rank(?P<rank>\d+)
skip  ^#
line  ^(?P<step>-?\d+) (?P<name>\S+) (?P<shape>\[.*\]) (?P<digest_kind>\S+) (?P<digest>\S+)
line  ^(?P<name>\w+)=(?P<value>.*)
)";

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::uint8_t *const end = std::find(data, data + size, std::uint8_t(0));
    const std::string_view text(reinterpret_cast<const char *>(data), std::size_t(end - data));
    auto sheet = MappingSheet::parse(text, "fuzz");
    const std::uint8_t *lines = sheet.ok() && end != data + size ? end + 1 : data;
    if (!sheet.ok())
        sheet = MappingSheet::parse(Good, "good");
    if (!sheet.ok())
        return 0;
    const auto dialect = mappingDialect(*sheet);
    TraceFiles files;
    files.dialect = dialect.get();
    files.mapped = dialect;
    files.files.push_back(
        {fuzz::sourceOf(lines, std::size_t(data + size - lines)), "rank3/fuzz", {}, 0});
    const auto trace = indexTrace(std::move(files), {});
    if (!trace.ok())
        return 0;
    for (std::size_t s = 0; s < (*trace)->streams().size(); ++s) {
        for (std::size_t i = 0; i < (*trace)->streams()[s].segments.size(); ++i) {
            const auto cursor = (*trace)->open(s, i);
            while (cursor.ok()) {
                const auto record = (*cursor)->next();
                if (!record.ok() || !*record)
                    break;
            }
        }
    }
    return 0;
}
