// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <vector>

namespace forkpoint {

/// A ViewContext whose answers a test sets by hand, and which records what views ask for. Nothing
/// is answered by itself: tests decide when and what.
class FakeViewContext : public ViewContext
{
    Q_OBJECT

public:
    using ViewContext::ViewContext;

    // What views see.
    SideState sides[2];
    std::shared_ptr<const RunComparison> runComparison;
    std::shared_ptr<const CheckpointComparison> checkpointComparison;
    std::optional<Step> step;
    std::optional<std::size_t> tensor;
    std::shared_ptr<const DiffStats> stats;
    std::shared_ptr<const TensorRef> refs[2];
    JobState jobState;
    CompareOptions compareOptions;
    QString deviceText = QStringLiteral("CPU, scalar, 2 threads");
    QList<SamplePair> samplePairs;
    QStringList recent;

    // What views asked for.
    std::vector<ElementRequest> elementRequests;
    struct DifferenceRequest
    {
        std::uint64_t id;
        Index from;
        bool backward;
    };
    std::vector<DifferenceRequest> differenceRequests;
    std::vector<std::pair<std::uint64_t, MapQuery>> mapRequests;
    std::vector<std::pair<std::uint64_t, RecordQuery>> recordRequests;
    std::vector<std::pair<std::uint64_t, RecordPlaces>> recordTextRequests;
    std::vector<std::pair<std::uint64_t, DriftQuery>> driftRequests;
    std::vector<std::uint64_t> historyRequests, nonFiniteRequests;
    std::vector<std::pair<std::uint64_t, QString>> folderRequests;
    std::vector<std::pair<QString, QByteArray>> saved;
    QString report, folder = QStringLiteral("/home/user");
    QString changedText;
    QStringList calls; ///< "openSide A /x", "swapSides", "selectStep 8", "cancelJob"

    void setRuns(std::shared_ptr<const RunComparison> comparison);
    void setStep(std::shared_ptr<const CheckpointComparison> comparison, std::optional<Step> at);
    void setSide(Side side, SideState state);
    void setJob(JobState state);
    void answer(std::uint64_t id, ElementPage page);

    SideState side(Side side) const override { return sides[int(side)]; }
    void openSide(Side side, const QString &path) override;
    void openPair(const QString &pathA, const QString &pathB) override;
    void swapSides() override { calls += QStringLiteral("swapSides"); }
    void closeAll() override { calls += QStringLiteral("closeAll"); }
    void reload() override { calls += QStringLiteral("reload"); }
    void checkFiles() override { calls += QStringLiteral("checkFiles"); }
    QString changedFiles() const override { return changedText; }
    std::shared_ptr<const RunComparison> comparison() const override { return runComparison; }
    CompareOptions options() const override { return compareOptions; }
    void setOptions(const CompareOptions &options) override { compareOptions = options; }
    std::optional<Step> selectedStep() const override { return step; }
    void selectStep(std::optional<Step> selected) override;
    std::shared_ptr<const CheckpointComparison> stepComparison() const override
    {
        return checkpointComparison;
    }
    std::optional<std::size_t> selectedTensor() const override { return tensor; }
    void selectTensor(std::optional<std::size_t> row) override;
    void selectPlace(std::optional<Step> selected, const std::string &name) override
    {
        calls += QStringLiteral("selectPlace %1 %2")
                     .arg(selected.value_or(-1))
                     .arg(QString::fromStdString(name));
    }
    std::shared_ptr<const DiffStats> selectedStats() const override { return stats; }
    std::shared_ptr<const TensorRef> selectedTensorRef(Side side) const override
    {
        return refs[int(side)];
    }
    void requestElements(const ElementRequest &request) override
    {
        elementRequests.push_back(request);
    }
    void requestNextDifference(std::uint64_t id, Index from, bool backward) override
    {
        differenceRequests.push_back({id, from, backward});
    }
    void requestMap(std::uint64_t id, const MapQuery &query) override
    {
        mapRequests.emplace_back(id, query);
    }
    void requestHistory(std::uint64_t id) override { historyRequests.push_back(id); }
    void searchNonFinite(std::uint64_t id) override { nonFiniteRequests.push_back(id); }
    void requestRecords(std::uint64_t id, const RecordQuery &query) override
    {
        recordRequests.emplace_back(id, query);
    }
    void requestRecordText(std::uint64_t id, const RecordPlaces &places) override
    {
        recordTextRequests.emplace_back(id, places);
    }
    void requestDrift(std::uint64_t id, const DriftQuery &query) override
    {
        driftRequests.emplace_back(id, query);
    }
    JobState job() const override { return jobState; }
    void cancelJob() override { calls += QStringLiteral("cancelJob"); }
    QString device() const override { return deviceText; }
    QString formats() const override { return QStringLiteral("safetensors, torch, npy"); }
    QList<SamplePair> samples() const override { return samplePairs; }
    QStringList recentPairs() const override { return recent; }
    QString commandLine() const override { return QStringLiteral("forkpoint-cli compare A B"); }
    QString reportCommand(const QString &path) const override
    {
        return commandLine() + QStringLiteral(" --report ") + path;
    }
    QString elementsCommand(const std::string &name, ElementOrder) const override
    {
        return QStringLiteral("forkpoint-cli elements A B --tensor ")
            + QString::fromStdString(name);
    }
    void exportReport(const QString &path) override
    {
        calls += QStringLiteral("exportReport ") + path;
    }
    QString reportFile() const override { return report; }
    ReportOptions reportOptions() const override { return {}; }
    void saveFile(const QString &path, const QByteArray &bytes) override
    {
        saved.emplace_back(path, bytes);
    }
    void listFolder(std::uint64_t id, const QString &path) override
    {
        folderRequests.emplace_back(id, path);
    }
    void stopListing() override { calls += QStringLiteral("stopListing"); }
    QString lastFolder(FolderUse) const override { return folder; }
    void setLastFolder(FolderUse, const QString &path) override { folder = path; }
};

// --- comparisons made by hand, with known numbers

/// A float32 pair of `elements` elements of which `different` differ, by at most maxAbs and maxUlp.
TensorRow differingRow(const std::string &name, Shape shape, Index different, double maxAbs,
                       std::uint64_t maxUlp);
TensorRow identicalRow(const std::string &name, Shape shape);
ValueRow valueRow(const std::string &name, StateClass stateClass, std::optional<Value> a,
                  std::optional<Value> b);
/// Sorts rows, counts them and summarises the classes.
std::shared_ptr<CheckpointComparison>
makeComparison(std::vector<TensorRow> tensors, std::vector<ValueRow> values, bool finished = true);
/// One float32 pair from the two numbers.
ElementRow floatRow(Index index, float a, float b);

/// Fills a context with two runs of three checkpoints, like the bundled runs A and C.
void fillLikeSamples(FakeViewContext &context);

} // namespace forkpoint
