// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "model/text/json_writer.h"

#include <optional>
#include <vector>

namespace forkpoint {

// Members of the report about where two runs part; a list that is empty is left out.

void writeDivergence(JsonWriter &json, const std::optional<FirstDivergence> &divergence);
void writeChain(JsonWriter &json, const std::vector<ChainLink> &chain);
void writeRanks(JsonWriter &json, const std::vector<RankSummary> &ranks);
void writeNextCapture(JsonWriter &json, const std::optional<NextCapture> &capture);

} // namespace forkpoint
