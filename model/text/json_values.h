// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/diagnostic.h"
#include "model/key_path.h"
#include "model/layout.h"
#include "model/resume/resume_fact.h"
#include "model/shape.h"
#include "model/text/json_writer.h"
#include "model/value.h"

#include <string_view>

namespace forkpoint {

// Pieces that every JSON document of the command line has in common.

void writeShape(JsonWriter &json, const Shape &shape);
/// A list of keys with their types: text, number, or {"python": "(2, 'x')"}.
void writePath(JsonWriter &json, const KeyPath &path);
/// The member `key` with the plain value; where the content is a digest, "count" and "sha256"
/// (with `suffix`) instead.
void writeValue(JsonWriter &json, const Value &value, std::string_view key,
                std::string_view suffix);
/// {"owner": {"rank": 3}, "file": ..., "offset": ...} under `key`.
void writePlace(JsonWriter &json, std::string_view key, const ElementPlace &place);
/// "resume": [...], of a pair or of a checkpoint alone.
void writeResume(JsonWriter &json, const std::vector<ResumeFact> &facts, bool pair);
/// The members "findings" and "diagnostics".
void writeFindings(JsonWriter &json, const std::vector<Finding> &findings);
void writeDiagnostics(JsonWriter &json, const Diagnostics &diagnostics);

} // namespace forkpoint
