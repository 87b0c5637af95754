// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_map.h"
#include "model/compare/element_reader.h"
#include "model/compare/non_finite_search.h"
#include "model/compare/pair_layout.h"
#include "model/compare/run_comparison.h"
#include "model/compare/tensor_history.h"
#include "model/folder_listing.h"
#include "model/progress.h"
#include "model/report/report_json.h"
#include "model/traces/mapping_trial.h"
#include "model/traces/record_drift.h"
#include "model/traces/record_window.h"
#include "model/traces/trace_outline.h"
#include "widgets/pair_notes.h"

#include <QByteArray>
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
    /// Recorded: known from a report alone, nothing can be read.
    enum class Phase { Empty, Opening, Open, Failed, Recorded };
    Phase phase = Phase::Empty;
    QString path;
    QString format;             ///< what was recognised, when Open or Recorded
    std::vector<RunStep> steps; ///< when Open
    std::vector<MetricSeries> metrics;
    std::shared_ptr<const TraceOutline> trace; ///< when Open and it has one
    Diagnostics diagnostics;
    QString error;          ///< when Failed
    bool isUnknown = false; ///< when Failed: nothing known is there, though perhaps lines of text
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

/// Whose folder a dialog begins in.
enum class FolderUse { Open, Save };

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

    /// Tells requests of all views apart.
    std::uint64_t nextRequestId() { return ++m_lastRequestId; }

    // --- the two sides
    virtual SideState side(Side side) const = 0;
    virtual void openSide(Side side, const QString &path) = 0;
    virtual void openPair(const QString &pathA, const QString &pathB) = 0;
    virtual void swapSides() = 0;
    virtual void closeAll() = 0;
    virtual void reload() = 0;     ///< opens both sides anew; step and tensor stay selected
    virtual void checkFiles() = 0; ///< answered by changedFilesChanged(), if so
    /// What changed in the files since they were read; empty: nothing known to have.
    virtual QString changedFiles() const = 0;
    /// The file of the report that is shown, or nothing. A report is a result to look at: it cannot
    /// be compared anew, and nothing can be read.
    virtual QString reportFile() const { return {}; }
    bool isReport() const { return !reportFile().isEmpty(); }
    PairNotes &notes() { return m_notes; }
    const PairNotes &notes() const { return m_notes; }

    // --- the comparison of the runs (step strip, banner)
    virtual std::shared_ptr<const RunComparison> comparison() const = 0; ///< null before the first
    virtual CompareOptions options() const = 0;
    virtual void setOptions(const CompareOptions &options) = 0; ///< compares anew

    /// Whether digests of files that were read before and are unchanged may stand for their bytes.
    virtual bool usesIndex() const { return false; }
    virtual bool hasIndex() const { return false; } ///< there is one to use
    virtual void setUsesIndex(bool) {}              ///< compares anew
    /// Compares anew, from the bytes: until a side is opened nothing that is remembered counts.
    virtual void verifyByReading() {}

    // --- the selected step (tables)
    virtual std::optional<Step> selectedStep() const = 0;
    virtual void selectStep(std::optional<Step> step) = 0;
    /// The comparison at the selected step; null until there is a first batch.
    virtual std::shared_ptr<const CheckpointComparison> stepComparison() const = 0;

    // --- the selected tensor (detail); a row number into stepComparison()->tensors
    virtual std::optional<std::size_t> selectedTensor() const = 0;
    virtual void selectTensor(std::optional<std::size_t> row) = 0;
    /// A step and a tensor by its logical name, whether or not the step has been compared.
    virtual void selectPlace(std::optional<Step> step, const std::string &tensor) = 0;
    /// Statistics of the selected pair, computed on demand for identical pairs; null meanwhile.
    virtual std::shared_ptr<const DiffStats> selectedStats() const = 0;
    /// Whose elements alone they count, where the other side has the tensor and cannot be read.
    virtual std::optional<Side> selectedStatsSide() const { return std::nullopt; }
    /// What the catalogue of one side says of the selected tensor (files, offsets, notes); null
    /// where that side lacks it or while it is not known.
    virtual std::shared_ptr<const TensorRef> selectedTensorRef(Side) const { return nullptr; }
    virtual void requestElements(const ElementRequest &request) = 0;
    virtual void requestNextDifference(std::uint64_t id, Index from, bool backward) = 0;
    virtual void requestMap(std::uint64_t id, const MapQuery &query) = 0;
    virtual void requestHistory(std::uint64_t id) = 0;
    /// Who holds which part of the selected pair; a context without a session has no answer.
    virtual void requestLayout(std::uint64_t) {}
    /// Over all tensors of the selected step.
    virtual void searchNonFinite(std::uint64_t id) = 0;

    // --- records of the two traces, where both sides have one; a context without has no answer
    virtual void requestRecords(std::uint64_t, const RecordQuery &) {}
    virtual void requestRecordText(std::uint64_t, const RecordPlaces &) {}
    virtual void requestDrift(std::uint64_t, const DriftQuery &) {}

    // --- mapping sheets (resources/docs/mapping.md); a context without a session has no answer
    /// Tries the text of a sheet on the first lines of what the path holds.
    virtual void tryMapping(std::uint64_t, const QString &, const QString &) {}
    virtual void readSheet(std::uint64_t, const QString &) {} ///< a file that holds a sheet
    /// Writes a sheet for the text at `path`, over neither that nor a side; answered by sheetRead().
    virtual void saveSheet(std::uint64_t, const QString & /*path*/, const QString & /*sheet*/,
                           const QString & /*sheetPath*/)
    {
    }
    /// Opens the path on that side, and the other side anew, by the rules of a sheet that was saved
    /// at `sheetPath`; until other runs are opened.
    virtual void useMapping(Side, const QString &, const QString & /*sheet*/,
                            const QString & /*sheetPath*/)
    {
    }
    virtual QString mappingSheet() const { return {}; } ///< path of the one in use

    // --- jobs, device, export
    virtual JobState job() const = 0;
    virtual void cancelJob() = 0;
    virtual QString device() const = 0;  ///< "CPU, scalar, 2 threads"
    virtual QString formats() const = 0; ///< what this build opens: "safetensors, torch, npy"
    virtual QList<SamplePair> samples() const = 0;
    virtual QStringList recentPairs() const = 0; ///< "A\nB" each, newest first
    /// The forkpoint-cli command that reproduces the comparison that is shown.
    virtual QString commandLine() const = 0;
    /// The one that writes the same report as exportReport().
    virtual QString reportCommand(const QString &path) const = 0;
    /// The one that lists elements of a tensor, by its logical name.
    virtual QString elementsCommand(const std::string &tensor, ElementOrder order) const = 0;
    /// Writes the report; ends with a jobChanged.
    virtual void exportReport(const QString &path) = 0;
    /// What exportReport() writes beside the comparison itself.
    virtual ReportOptions reportOptions() const = 0;
    /// Writes a picture or a table; ends with a jobChanged.
    virtual void saveFile(const QString &path, const QByteArray &bytes) = 0;

    // --- folders, for dialogs
    virtual void listFolder(std::uint64_t id, const QString &path) = 0;
    virtual void stopListing() = 0;
    virtual QString lastFolder(FolderUse use) const = 0; ///< absolute; never looked at by this
    virtual void setLastFolder(FolderUse use, const QString &path) = 0;

Q_SIGNALS:
    void reloading(); ///< before both sides are opened anew
    void sideChanged(forkpoint::Side side);
    void comparisonChanged(); ///< comparison(): new snapshot, final or not
    void selectedStepChanged();
    void stepComparisonChanged();
    void selectedTensorChanged();
    void selectedStatsChanged();
    void elementsReady(quint64 id, std::shared_ptr<const forkpoint::ElementPage> page);
    void nextDifferenceReady(quint64 id, std::optional<forkpoint::Index> index);
    /// Answers that grow: several of one id may come, the last of them complete.
    void mapReady(quint64 id, std::shared_ptr<const forkpoint::ElementMap> map);
    void layoutReady(quint64 id, std::shared_ptr<const forkpoint::PairLayout> layout);
    void historyReady(quint64 id, std::shared_ptr<const forkpoint::TensorHistory> history);
    void nonFiniteReady(quint64 id, std::shared_ptr<const forkpoint::NonFiniteFindings> findings);
    void recordsReady(quint64 id, std::shared_ptr<const forkpoint::RecordWindow> window);
    void recordTextReady(quint64 id, std::shared_ptr<const forkpoint::RecordText> text);
    void driftReady(quint64 id, std::shared_ptr<const forkpoint::RecordDrift> drift);
    void mappingTried(quint64 id, std::shared_ptr<const forkpoint::MappingTrial> trial);
    void sheetRead(quint64 id, const QString &text);
    void folderListed(quint64 id, std::shared_ptr<const forkpoint::FolderListing> listing);
    void requestFailed(quint64 id, const QString &error); ///< any of the requests with an id
    void changedFilesChanged();
    void jobChanged();

private:
    std::uint64_t m_lastRequestId = 0;
    PairNotes m_notes;
};

} // namespace forkpoint

Q_DECLARE_METATYPE(forkpoint::Side)
