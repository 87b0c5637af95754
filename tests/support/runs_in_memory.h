// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_backend.h"
#include "model/compare/run_comparer.h"
#include "model/report/report_json.h"
#include "tests/support/memory_source.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Runs in memory, and their comparison to the end.
namespace forkpoint::test {

using RunPtr = std::shared_ptr<MemoryRun>;
using Steps = std::vector<Step>;

/// A weight and its moment, whose second elements are \a weight, and a learning rate.
inline SourcePtr checkpoint(float weight, double lr = 0.1)
{
    auto source = std::make_shared<MemorySource>();
    source->addFloats("model.weight", {1, weight});
    source->addFloats("optimizer.m", {2, weight});
    source->addValue("args.lr", Value::real(lr));
    source->finish();
    return source;
}

/// At each step a checkpoint whose weight is the step.
inline RunPtr series(const std::string &path, const Steps &steps)
{
    auto run = std::make_shared<MemoryRun>(path);
    for (const Step step : steps)
        run->addStep(step, checkpoint(float(step)));
    return run;
}

inline RunPtr single(const SourcePtr &source, std::optional<Step> step = {})
{
    auto run = std::make_shared<MemoryRun>("single");
    run->addStep(step, source);
    return run;
}

inline RunComparison compare(const RunPtr &a, const RunPtr &b, const StepSelection &selection = {},
                             const CompareOptions &options = {})
{
    const CpuBackend backend;
    SerialExecutor serial;
    RunComparer comparer(a, b, selection, options, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

inline StepSelection only(Step a, Step b)
{
    StepSelection selection;
    selection.only = StepSelection::Pair{a, b};
    return selection;
}

inline StepSelection range(Step from, Step to)
{
    StepSelection selection;
    selection.range = {from, to};
    return selection;
}

inline bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// The JSON report of a comparison, as Qt reads it.
inline QJsonObject reportOf(const RunComparison &comparison, const ReportOptions &options = {})
{
    const std::string text = reportJson(comparison, options);
    QJsonParseError error;
    const auto document = QJsonDocument::fromJson(QByteArray::fromStdString(text), &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qPrintable(error.errorString()));
    return document.object();
}

} // namespace forkpoint::test
