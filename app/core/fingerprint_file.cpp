// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprint_file.h"

#include "app/core/fingerprint_journal.h"
#include "app/core/output_file.h"
#include "loaders/results/fpx_format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Everything that a catalogue lists, without where its bytes are.
Catalog withoutExtents(const Catalog &catalog)
{
    Catalog copy = catalog;
    for (TensorRef &tensor : copy.tensors) {
        tensor.extents.clear();
        tensor.replicas.clear();
    }
    return copy;
}

std::uint64_t bytesOf(const Catalog &catalog)
{
    std::uint64_t bytes = 0;
    for (const TensorRef &tensor : catalog.tensors)
        bytes += tensor.unreadable ? 0 : tensor.bytes;
    return bytes;
}

class FileMaker
{
public:
    FileMaker(const FingerprintRequest &request, const std::string &out, bool believe,
              const ComputeBackend &backend, Executor &executor, std::stop_token stop,
              const std::function<void(const Progress &)> &progress)
        : m_request(request),
          m_out(out),
          m_believe(believe),
          m_backend(backend),
          m_executor(executor),
          m_stop(std::move(stop)),
          m_progress(progress)
    {
    }

    FingerprintFile make()
    {
        m_file.shown.path = m_request.path;
        if (Status status = addSteps(); !status)
            m_file.shown.diagnostics.push_back(toDiagnostic(status.error(), Severity::Error));
        return std::move(m_file);
    }

private:
    Status addSteps()
    {
        FP_TRY(ChosenCheckpoint chosen,
               openCheckpoint(m_request.path, m_request.open, m_request.step, m_stop));
        const Run &run = *chosen.run;
        const std::size_t first = m_request.step ? chosen.index : 0;
        const std::size_t end = m_request.step ? chosen.index + 1 : run.steps().size();
        m_level = fpxLevel(bytesOf(chosen.source->catalog()) * (end - first));
        FP_TRY(m_journal, FileJournal::open(m_out, m_level, m_believe, m_backend));
        m_document.format = run.format();
        m_document.complete = run.complete();
        m_document.diagnostics = run.diagnostics();
        m_file.allRead = run.complete();
        m_file.shown.chosen = chosen;
        if (run.hasOnlyMetrics())
            return Error{ErrorCode::Unsupported,
                         m_request.path,
                         {},
                         "holds numbers of steps and no tensors, which a fingerprint file does not "
                         "carry: keep the log itself"};
        leaveOutTrace(run);
        for (std::size_t index = first; index < end; ++index) {
            if (index == chosen.index)
                addStep(run, index, *chosen.source, true);
            else if (auto source = run.open(index, m_stop))
                addStep(run, index, **source, false);
            else
                missing(source.error());
        }
        if (m_stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        FP_TRY(OutputFile output, OutputFile::create(m_out));
        FP_CHECK(output.write(encodeFpx(m_document)));
        FP_CHECK(output.commit());
        m_journal->remove();
        m_file.written = true;
        return {};
    }

    /// Tensors that a trace kept are carried, its records are not: nobody is to take one for the other.
    void leaveOutTrace(const Run &run)
    {
        if (!run.trace())
            return;
        Diagnostic left{
            Severity::Warning,
            "trace-left-out",
            m_request.path,
            {},
            "has a trace, whose records a fingerprint file does not carry: it is marked "
            "as incomplete; compare the trace itself"};
        m_document.complete = false;
        m_document.diagnostics.push_back(left);
        m_file.shown.diagnostics.push_back(std::move(left));
    }

    void addStep(const Run &run, std::size_t index, const TensorSource &source, bool shown)
    {
        const FingerprintWork work{m_level, nullptr, m_journal.get()};
        Fingerprints prints =
            fingerprintTensors(source, work, m_backend, m_executor, m_stop, m_progress);
        m_file.wentOn += prints.resumed;
        bool unchanged = false;
        if (shown) {
            FingerprintDocument &document = m_file.shown;
            takeFingerprints(document, m_request, prints, m_backend, m_executor, m_stop,
                             m_progress);
            unchanged = source.unchanged().ok();
        } else {
            Diagnostics &diagnostics = m_file.shown.diagnostics;
            diagnostics.insert(diagnostics.end(), prints.diagnostics.begin(),
                               prints.diagnostics.end());
            unchanged =
                checkUnchanged(source, prints, m_request.known.get(), m_executor, diagnostics);
        }
        FpxCheckpoint checkpoint{run.steps()[index], withoutExtents(source.catalog()),
                                 std::move(prints.tensors)};
        m_file.allRead &= checkpoint.catalog.complete && unchanged;
        if (!unchanged) // of which state a digest is cannot be said
            checkpoint.digests.assign(checkpoint.digests.size(), std::nullopt);
        for (const auto &digests : checkpoint.digests)
            m_file.allRead &= digests.has_value();
        m_document.checkpoints.push_back(std::move(checkpoint));
    }

    /// A step that cannot be opened is no step of the file, which then is incomplete.
    void missing(const Error &error)
    {
        m_file.allRead = false;
        m_document.complete = false;
        m_document.diagnostics.push_back(toDiagnostic(error, Severity::Error));
        m_file.shown.diagnostics.push_back(m_document.diagnostics.back());
    }

    const FingerprintRequest &m_request;
    const std::string &m_out;
    bool m_believe;
    const ComputeBackend &m_backend;
    Executor &m_executor;
    std::stop_token m_stop;
    const std::function<void(const Progress &)> &m_progress;
    std::uint32_t m_level = 0;
    std::unique_ptr<FileJournal> m_journal;
    FpxDocument m_document;
    FingerprintFile m_file;
};

} // namespace

std::uint32_t fpxLevel(std::uint64_t bytes)
{
    constexpr std::uint64_t LeavesUpTo = std::uint64_t(256) << 30;
    return bytes <= LeavesUpTo ? 0 : 1;
}

FingerprintFile fingerprintToFile(const FingerprintRequest &request, const std::string &out,
                                  bool believe, const ComputeBackend &backend, Executor &executor,
                                  std::stop_token stop,
                                  const std::function<void(const Progress &)> &progress)
{
    return FileMaker(request, out, believe, backend, executor, std::move(stop), progress).make();
}

} // namespace forkpoint
