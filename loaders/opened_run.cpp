// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/opened_run.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/elements/dtype_override.h"
#include "loaders/storage/file_source.h"
#include "loaders/traces/trace_mapping.h"

#include <algorithm>

namespace forkpoint {

Result<std::shared_ptr<const TensorSource>> OpenedRun::open(std::size_t index,
                                                            std::stop_token stop) const
{
    if (index >= m_places.size())
        return Error{ErrorCode::Usage, m_path, {}, "there is no checkpoint of that number"};
    const StepPlace &place = m_places[index];
    if (place.kind == StepPlace::Kind::Values)
        return m_values;
    if (place.kind == StepPlace::Kind::Kept)
        return m_trace->kept(m_steps[index].step, std::move(stop));
    FP_CHECK(m_repeated.check(index, m_steps[index], place.directory, place.name, stop));
    auto loaded = load(place, std::move(stop));
    if (!loaded.ok())
        return std::move(loaded).error().inFile(m_steps[index].path);
    reportIdleOverrides(m_options.dtypes, loaded->builder);
    return std::shared_ptr<const TensorSource>(loaded->builder.build(std::move(loaded->format)));
}

Result<LoadedFile> OpenedRun::load(const StepPlace &place, std::stop_token stop) const
{
    switch (place.kind) {
    case StepPlace::Kind::Directory:
        return loadDirectory(place.directory, place.prefix, m_options, std::move(stop),
                             m_trace ? m_trace->files() : std::vector<std::string>());
    case StepPlace::Kind::IndexFile:
        return loadIndexFile(place.directory, place.name, place.prefix, m_options, std::move(stop));
    case StepPlace::Kind::Values:
    case StepPlace::Kind::Kept:
    case StepPlace::Kind::File: break;
    }
    FP_TRY(auto file,
           place.named
               ? FileSource::open(place.directory / place.name, place.name)
               : FileSource::openBeneath(place.directory, place.name, place.prefix + place.name));
    return loadFile(std::move(file), m_options, std::move(stop));
}

std::shared_ptr<const TraceDialect> OpenedRun::mapping() const
{
    return m_options.mapping ? mappingDialect(m_options.mapping) : nullptr;
}

void OpenedRun::tell(const Diagnostics &diagnostics)
{
    m_diagnostics.insert(m_diagnostics.end(), diagnostics.begin(), diagnostics.end());
}

void OpenedRun::add(RunStep step, StepPlace place)
{
    m_steps.push_back(std::move(step));
    m_places.push_back(std::move(place));
}

/// In the order of the numbers; steps without one come first.
void OpenedRun::addKept(std::optional<Step> number)
{
    RunStep step{number, m_path};
    step.isKept = true;
    const auto place = std::upper_bound(
        m_steps.begin(), m_steps.end(), number,
        [](std::optional<Step> wanted, const RunStep &each) { return wanted < each.step; });
    m_places.insert(m_places.begin() + (place - m_steps.begin()),
                    {StepPlace::Kind::Kept, {}, {}, {}, false});
    m_steps.insert(place, std::move(step));
}

void OpenedRun::forgetSteps(const Diagnostics &before, bool complete)
{
    m_steps.clear();
    m_places.clear();
    m_diagnostics = before;
    m_complete = complete;
}

void OpenedRun::takeMetrics(FoundMetrics found, Severity mostSevere)
{
    m_metrics = std::move(found.series);
    for (Diagnostic &diagnostic : found.diagnostics) {
        if (diagnostic.severity == Severity::Error)
            diagnostic.severity = mostSevere;
        tell(std::move(diagnostic));
    }
}

void OpenedRun::addMetrics(FoundMetrics found)
{
    takeMetrics(std::move(found), Severity::Warning);
}

void OpenedRun::addMetricsAlone(FoundMetrics found)
{
    m_format = found.format;
    m_complete = m_complete && found.complete;
    m_values = found.values.build(found.format);
    takeMetrics(std::move(found), Severity::Error);
    RunStep step{std::nullopt, m_path};
    step.metricsOnly = true;
    add(std::move(step), {StepPlace::Kind::Values, {}, {}, {}, false});
}

Status OpenedRun::addTrace(TraceFiles files, const std::stop_token &stop)
{
    if (!files.dialect && m_options.mapping && m_options.mapping->choosesFiles()
        && !files.directory.empty())
        return Error{ErrorCode::NotFound,
                     {},
                     {},
                     "has no text file of a name that 'files' of the sheet "
                         + m_options.mapping->path() + " takes" + files.whyNone()};
    if (!files.dialect && m_options.mapping)
        return Error{ErrorCode::NotFound,
                     {},
                     {},
                     "has no line that the sheet " + m_options.mapping->path() + " understands"
                         + files.whyNone()};
    if (!files.dialect)
        return {};
    FP_TRY(m_trace, indexTrace(std::move(files), stop));
    m_format = m_trace->dialect();
    tell(m_trace->diagnostics());
    return {};
}

void OpenedRun::addKeptSteps()
{
    if (!m_trace)
        return;
    for (const std::optional<Step> iteration : m_trace->keptIterations()) {
        if (std::none_of(m_steps.begin(), m_steps.end(),
                         [&](const RunStep &step) { return step.step == iteration; }))
            addKept(iteration);
    }
}

} // namespace forkpoint
