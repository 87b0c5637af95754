// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare_command.h"
#include "app/core/session.h"
#include "app/gui/settings.h"
#include "widgets/view_context.h"

#include <chrono>

namespace forkpoint {

/// The Qt face of a session: what it heard last, on the UI thread.
class SessionContext final : public ViewContext
{
    Q_OBJECT

public:
    /// With memory, recent pairs and notes are kept beyond this run.
    SessionContext(SessionEnvironment environment, Settings &settings, QList<SamplePair> samples,
                   Memory memory = Memory::On, QObject *parent = nullptr);
    ~SessionContext() override;

    SideState side(Side side) const override { return m_sides[std::size_t(side)]; }
    void openSide(Side side, const QString &path) override;
    void openPair(const QString &pathA, const QString &pathB) override;
    /// One path or two, as the command line names them; read by `sheet`, where there is one.
    void openPaths(const QStringList &paths, std::shared_ptr<const MappingSheet> sheet);
    void swapSides() override;
    void closeAll() override;
    void reload() override;
    QString changedFiles() const override { return m_changedFiles; }
    void checkFiles() override;

    std::shared_ptr<const RunComparison> comparison() const override { return m_comparison; }
    CompareOptions options() const override { return m_options; }
    void setOptions(const CompareOptions &options) override;

    bool usesIndex() const override { return m_hasIndex && m_settings.usesIndex(); }
    bool hasIndex() const override { return m_hasIndex; }
    void setUsesIndex(bool use) override;
    void verifyByReading() override;

    std::optional<Step> selectedStep() const override { return m_step; }
    void selectStep(std::optional<Step> step) override;
    std::shared_ptr<const CheckpointComparison> stepComparison() const override
    {
        return m_stepComparison;
    }

    std::optional<std::size_t> selectedTensor() const override { return m_row; }
    void selectTensor(std::optional<std::size_t> row) override;
    void selectPlace(std::optional<Step> step, const std::string &tensor) override;
    std::shared_ptr<const DiffStats> selectedStats() const override { return m_facts.stats; }
    std::optional<Side> selectedStatsSide() const override;
    std::shared_ptr<const TensorRef> selectedTensorRef(Side side) const override;
    void requestElements(const ElementRequest &request) override;
    void requestNextDifference(std::uint64_t id, Index from, bool backward) override;

    void requestMap(std::uint64_t id, const MapQuery &query) override;
    void requestHistory(std::uint64_t id) override;
    void requestLayout(std::uint64_t id) override;
    void searchNonFinite(std::uint64_t id) override;
    void requestRecords(std::uint64_t id, const RecordQuery &query) override;
    void requestRecordText(std::uint64_t id, const RecordPlaces &places) override;
    void requestDrift(std::uint64_t id, const DriftQuery &query) override;

    void tryMapping(std::uint64_t id, const QString &path, const QString &sheet) override;
    void readSheet(std::uint64_t id, const QString &path) override;
    void saveSheet(std::uint64_t id, const QString &path, const QString &sheet,
                   const QString &sheetPath) override;
    void useMapping(Side side, const QString &path, const QString &sheet,
                    const QString &sheetPath) override;
    QString mappingSheet() const override;

    JobState job() const override { return m_job; }
    void cancelJob() override;
    QString device() const override { return m_device; }
    QString formats() const override;
    QList<SamplePair> samples() const override { return m_samples; }
    QStringList recentPairs() const override { return m_settings.recentPairs(); }
    QString commandLine() const override;
    QString reportCommand(const QString &path) const override;
    QString elementsCommand(const std::string &tensor, ElementOrder order) const override;
    void exportReport(const QString &path) override;
    QString reportFile() const override { return m_report ? m_reportFile : QString(); }
    ReportOptions reportOptions() const override;
    void saveFile(const QString &path, const QByteArray &bytes) override;
    void listFolder(std::uint64_t id, const QString &path) override;
    void stopListing() override;
    QString lastFolder(FolderUse use) const override;
    void setLastFolder(FolderUse use, const QString &path) override;

    /// As Session::shutdown().
    bool shutdown(std::chrono::milliseconds timeout) { return m_session.shutdown(timeout); }

private:
    class Relay;

    void takeSide(Side side, const SideSnapshot &snapshot);
    void takeComparison(std::shared_ptr<const RunComparison> comparison);
    void takeStep(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void takeFacts(const PairFacts &facts);
    void takeJob(const JobSnapshot &job);
    void takeReport(const std::string &file, std::shared_ptr<const RecordedReport> report);

    void takeFileChange(const std::optional<Error> &change);
    QString pairKey() const;
    void rememberPair();
    void forgetSelection();
    std::optional<std::size_t> rowNamed(const std::string &name) const;
    std::optional<std::size_t> rowWorthShowing() const;
    void suggestRow();
    void setRow(std::optional<std::size_t> row);
    void refreshFacts();
    PairAddress addressOf(std::size_t row) const;
    CompareCommand command(std::optional<Step> step) const;

    Settings &m_settings;
    Memory m_memory;
    bool m_hasIndex;
    QString m_changedFiles;
    std::shared_ptr<const RecordedReport> m_report; ///< until a side is opened
    QString m_reportFile;
    QString m_folders[2]; ///< of this run, by use
    QList<SamplePair> m_samples;
    SideState m_sides[2];
    CompareOptions m_options;
    std::shared_ptr<const MappingSheet> m_mapping; ///< sides are read by it
    std::shared_ptr<const RunComparison> m_comparison;
    std::optional<Step> m_step;
    std::shared_ptr<const CheckpointComparison> m_stepComparison;
    std::optional<std::size_t> m_row;
    std::string m_rowName; ///< keeps the selection when rows move or the step changes
    bool m_userChose = false;
    bool m_suggested = false; ///< the row was suggested by a comparison that has finished
    PairFacts m_facts;        ///< of the selected row
    JobState m_job;
    QString m_device;

    std::unique_ptr<Relay> m_relay; ///< outlives the session
    Session m_session;
};

} // namespace forkpoint
