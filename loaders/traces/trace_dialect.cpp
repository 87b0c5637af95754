// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_dialect.h"

#include "loaders/storage/file_source.h"
#include "loaders/traces/trace_blocks.h"
#include "loaders/traces/trace_bridge.h"
#include "loaders/traces/trace_debugmode.h"
#include "loaders/traces/trace_inventory.h"
#include "loaders/traces/trace_msprobe.h"
#include "loaders/traces/trace_nvdlfw.h"
#include "loaders/traces/trace_own.h"
#include "loaders/traces/trace_pr6610.h"
#include "loaders/traces/trace_router.h"
#include "loaders/traces/trace_sglang.h"
#include "loaders/traces/trace_sketch.h"
#include "loaders/traces/trace_tensor_tree.h"
#include "loaders/traces/trace_typed.h"

#include <algorithm>
#include <utility>

namespace forkpoint {

Diagnostics TraceReader::takeDiagnostics()
{
    return std::exchange(m_diagnostics, {});
}

void TraceReader::addProblem(const TracePlace &place, std::string code, std::string text)
{
    add(Severity::Warning, place, std::move(code), std::move(text));
}

void TraceReader::addNote(const TracePlace &place, std::string code, std::string text)
{
    add(Severity::Note, place, std::move(code), std::move(text));
}

void TraceReader::add(Severity severity, const TracePlace &place, std::string code,
                      std::string text)
{
    m_diagnostics.push_back({severity, std::move(code), {}, place.toText(), std::move(text)});
}

void TraceReader::takeRank(std::int64_t rank, const TracePlace &place)
{
    if (m_remarks)
        m_remarks->rank = rank;
    if (!m_coordinate.rank)
        m_coordinate.rank = rank;
    else if (m_coordinate.rank != rank)
        addProblem(place, "mixed-ranks",
                   "is of rank " + std::to_string(rank) + ", the file is of rank "
                       + std::to_string(*m_coordinate.rank));
}

void TraceReader::addFact(TraceFact::Role role, std::string_view name, std::string_view value)
{
    if (m_remarks)
        m_remarks->facts.push_back({role, std::string(name), std::string(value)});
    const auto isThis = [&](const TraceFact &fact) {
        return fact.role == role && fact.name == name && fact.value == value;
    };
    if (m_facts.size() < MostFacts && std::none_of(m_facts.begin(), m_facts.end(), isThis))
        m_facts.push_back({role, std::string(name), std::string(value)});
}

Result<std::shared_ptr<const ByteSource>> TraceDialect::payloads(const TraceFile &file,
                                                                 const std::string &payload) const
{
    FP_TRY(auto source, FileSource::openBeneath(file.directory, payload, payload));
    return std::shared_ptr<const ByteSource>(std::move(source));
}

Status TraceDialect::leafDigests(const TraceFile &file, std::uint64_t, MutableByteView) const
{
    return Error{ErrorCode::NotFound, file.name, {}, "keeps no digests of leaves"};
}

const std::vector<const TraceDialect *> &allTraceDialects()
{
    static const std::vector<const TraceDialect *> all = {
        &bridgeDialect(),        &pr6610Dialect(),
        &typedDialect(),         &sketchDialect(),
        &debugModeLogsDialect(), &debugModeDumpDialect(),
        &torchtitanDialect(),    &msprobeDialect(),
        &sglangDialect(),        &nvdlfwDialect(),
        &debugModeTextDialect(), &ownDialect(),
        &inventoryDialect(),     &collectiveCaptureDialect(),
        &evidenceDialect(),      &routerDialect(),
        &tensorTreeDialect()};
    return all;
}

} // namespace forkpoint
