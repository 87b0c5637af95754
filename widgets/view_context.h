// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element_reader.h"
#include "model/progress.h"
#include "model/run_comparison.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>

namespace forkpoint {

enum class Side { A, B };

/// What a chip shows of one side.
struct SideState
{
    enum class Phase { Empty, Opening, Open, Failed };
    Phase phase = Phase::Empty;
    QString path;
    QString format;             ///< what was recognised, when Open
    std::vector<RunStep> steps; ///< when Open
    std::vector<MetricSeries> metrics;
    Diagnostics diagnostics;
    QString error; ///< when Failed
};

/// The one job that is running or was the last to end. Every start has exactly one end.
struct JobState
{
    enum class Phase { Idle, Running, Finished, Failed, Cancelled };
    Phase phase = Phase::Idle;
    QString title; ///< "Comparing runs/A with runs/C"
    Progress progress;
    double bytesPerSecond = 0.0;
    QString error;
};

/// One bundled pair for the welcome page.
struct SamplePair
{
    QString title, sentence;
    QString pathA, pathB;
};

/// A request for rows of the element table; a newer request drops older queued ones.
struct ElementRequest
{
    std::uint64_t id = 0; ///< chosen by the view; comes back with the answer
    std::size_t row = 0;  ///< of the shown step's tensors
    ElementQuery query;
};

/// What pages may ask for and hear. Nothing here blocks: every request returns at once and is
/// answered by a signal on the UI thread. Results are immutable and shared. Implemented over a
/// session by the application, and by a fake in tests.
class ViewContext : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    // --- the two sides
    virtual SideState side(Side side) const = 0;
    virtual void openSide(Side side, const QString &path) = 0;
    virtual void openPair(const QString &pathA, const QString &pathB) = 0;
    virtual void swapSides() = 0;
    virtual void closeAll() = 0;

    // --- the comparison of the runs (step strip, banner)
    virtual std::shared_ptr<const RunComparison> comparison() const = 0; ///< null before the first
    virtual CompareOptions options() const = 0;
    virtual void setOptions(const CompareOptions &options) = 0; ///< compares anew

    // --- the selected step (tables)
    virtual std::optional<Step> selectedStep() const = 0;
    virtual void selectStep(std::optional<Step> step) = 0;
    /// The comparison at the selected step; null until there is a first batch.
    virtual std::shared_ptr<const CheckpointComparison> stepComparison() const = 0;

    // --- the selected tensor (detail); a row number into stepComparison()->tensors
    virtual std::optional<std::size_t> selectedTensor() const = 0;
    virtual void selectTensor(std::optional<std::size_t> row) = 0;
    /// Statistics of the selected pair, computed on demand for identical pairs; null meanwhile.
    virtual std::shared_ptr<const DiffStats> selectedStats() const = 0;
    /// What the catalogue of one side says of the selected tensor (files, offsets, notes); null
    /// where that side lacks it or while it is not known.
    virtual std::shared_ptr<const TensorRef> selectedTensorRef(Side) const { return nullptr; }
    virtual void requestElements(const ElementRequest &request) = 0;
    virtual void requestNextDifference(std::uint64_t id, Index from, bool backward) = 0;

    // --- jobs, device, export
    virtual JobState job() const = 0;
    virtual void cancelJob() = 0;
    virtual QString device() const = 0; ///< "CPU, scalar, 2 threads"
    virtual QList<SamplePair> samples() const = 0;
    virtual QStringList recentPairs() const = 0; ///< "A\nB" each, newest first
    /// The forkpoint-cli command that reproduces what is shown.
    virtual QString commandLine() const = 0;
    /// Writes the report; ends with a jobChanged.
    virtual void exportReport(const QString &path) = 0;

Q_SIGNALS:
    void sideChanged(forkpoint::Side side);
    void comparisonChanged(); ///< comparison(): new snapshot, final or not
    void selectedStepChanged();
    void stepComparisonChanged();
    void selectedTensorChanged();
    void selectedStatsChanged();
    void elementsReady(quint64 id, std::shared_ptr<const forkpoint::ElementPage> page);
    void elementsFailed(quint64 id, const QString &error);
    void nextDifferenceReady(quint64 id, std::optional<forkpoint::Index> index);
    void jobChanged();
};

} // namespace forkpoint

Q_DECLARE_METATYPE(forkpoint::Side)
