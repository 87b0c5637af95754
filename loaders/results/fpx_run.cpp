// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/fpx_run.h"

#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"

namespace forkpoint {

namespace {

class FpxSource final : public TensorSource
{
public:
    FpxSource(std::shared_ptr<const ByteSource> file, std::shared_ptr<const FpxDocument> document,
              std::size_t index)
        : m_file(std::move(file)),
          m_document(std::move(document)),
          m_checkpoint(m_document->checkpoints[index])
    {
    }

    const Catalog &catalog() const override { return m_checkpoint.catalog; }
    Status read(TensorIndex tensor, std::uint64_t, MutableByteView) const override
    {
        const std::vector<TensorRef> &tensors = catalog().tensors;
        const std::string name = tensor < tensors.size() ? tensors[tensor].name : std::string();
        return Error{ErrorCode::Unsupported, m_file->name(), "tensor '" + name + "'",
                     "a fingerprint file has no elements"};
    }
    Status unchanged() const override { return m_file->unchanged(); }
    const RecordedDigests *recorded(TensorIndex tensor) const override
    {
        const auto &digests = m_checkpoint.digests;
        return tensor < digests.size() && digests[tensor] ? &*digests[tensor] : nullptr;
    }

private:
    std::shared_ptr<const ByteSource> m_file;
    std::shared_ptr<const FpxDocument> m_document;
    const FpxCheckpoint &m_checkpoint; ///< of m_document
};

class FpxRun final : public Run
{
public:
    FpxRun(std::shared_ptr<const ByteSource> file, std::string path, FpxDocument document)
        : m_file(std::move(file)),
          m_path(std::move(path)),
          m_document(std::make_shared<const FpxDocument>(std::move(document))),
          m_format("fpx of " + m_document->format)
    {
        for (const FpxCheckpoint &checkpoint : m_document->checkpoints)
            m_steps.push_back(checkpoint.step);
    }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_format; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    const Diagnostics &diagnostics() const override { return m_document->diagnostics; }
    bool complete() const override { return m_document->complete; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token) const override
    {
        if (index >= m_steps.size())
            return Error{ErrorCode::Usage, m_path, {}, "there is no checkpoint of that number"};
        return std::shared_ptr<const TensorSource>(
            std::make_shared<FpxSource>(m_file, m_document, index));
    }

private:
    std::shared_ptr<const ByteSource> m_file;
    std::string m_path;
    std::shared_ptr<const FpxDocument> m_document;
    std::string m_format;
    std::vector<RunStep> m_steps;
    std::vector<MetricSeries> m_metrics; ///< none are recorded
};

} // namespace

bool beginsAsFpx(const ByteSource &file)
{
    const auto head = file.size() < FpxMagic.size()
        ? Result<std::vector<std::byte>>(std::vector<std::byte>())
        : readAll(file, 0, FpxMagic.size(), FpxMagic.size());
    return head.ok() && isFpx(*head);
}

Result<std::shared_ptr<const Run>> openFpx(std::shared_ptr<const ByteSource> file, std::string path)
{
    FP_TRY(FpxDocument document, decodeFpx(file));
    return std::shared_ptr<const Run>(
        std::make_shared<FpxRun>(std::move(file), std::move(path), std::move(document)));
}

} // namespace forkpoint
