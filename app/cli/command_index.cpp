// SPDX-License-Identifier: GPL-3.0-or-later
// The index of fingerprints: what it holds, and its end.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/fingerprint_index.h"
#include "gpu/backend_registry.h"
#include "model/format.h"
#include "model/text/json_writer.h"
#include "model/text/printable.h"

namespace forkpoint {

namespace {

struct Row
{
    std::string file; ///< empty: an entry that cannot be read
    std::uint64_t tensors = 0, bytes = 0;
};

std::vector<Row> rowsOf(const IndexFolder &folder, const ComputeBackend &backend)
{
    std::vector<Row> rows;
    for (const IndexFolder::Stored &stored : folder.list()) {
        Row row{{}, 0, stored.bytes};
        if (const auto entry = decodeIndexEntry(backend, folder.read(stored.name))) {
            row.file = entry->state.path;
            row.tensors = entry->known.size();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string json(const IndexFolder &folder, const std::vector<Row> &rows)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.index/1");
    json.key("directory").text(folder.directory().string());
    json.key("limit").number(folder.limit());
    json.key("entries").beginArray();
    for (const Row &row : rows) {
        json.beginObject();
        if (!row.file.empty())
            json.key("file").text(row.file);
        json.key("tensors").number(row.tensors);
        json.key("bytes").number(row.bytes);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.take();
}

std::string text(const IndexFolder &folder, const std::vector<Row> &rows)
{
    std::string text;
    std::uint64_t bytes = 0;
    for (const Row &row : rows) {
        bytes += row.bytes;
        text += counted(row.tensors, "tensor", "tensors") + "  "
            + (row.file.empty() ? "an entry that cannot be read" : printable(row.file)) + "\n";
    }
    return text + counted(rows.size(), "file", "files") + ", " + grouped(bytes)
        + " bytes of at most " + grouped(folder.limit()) + ", in "
        + printable(folder.directory().string()) + "\n";
}

} // namespace

int runIndex(const Options &options)
{
    const auto directory = indexDirectory();
    const auto backend = makeBackend(options.device);
    if (!directory || !backend) {
        const Error error = backend
            ? Error{ErrorCode::NotFound, {}, {}, "neither XDG_CACHE_HOME nor HOME names a folder"}
            : backend.error();
        printError(error);
        if (options.json)
            writeOutput(options, refusalDocument("index", error.message()));
        return 2;
    }
    const IndexFolder folder(*directory);
    if (options.clear) {
        if (const auto cleared = folder.clear(); !cleared) {
            printError(cleared.error());
            if (options.json)
                writeOutput(options, refusalDocument("index", cleared.error().message()));
            return 2;
        }
    }
    const std::vector<Row> rows = rowsOf(folder, **backend);
    return writeOutput(options, options.json ? json(folder, rows) : text(folder, rows)) ? 0 : 2;
}

} // namespace forkpoint
