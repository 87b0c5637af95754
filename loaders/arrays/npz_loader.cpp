// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npz_loader.h"

#include "loaders/arrays/npy_array.h"
#include "loaders/storage/zip_reader.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::string_view Suffix = ".npy";
constexpr std::string_view LocalHeader("PK\x03\x04", 4);
constexpr std::string_view EmptyArchive("PK\x05\x06", 4);
// Decoding is what costs, so both sizes count.
constexpr std::uint64_t CheckedBytes = std::uint64_t(1) << 20;
// More entries than this are not looked at one by one only to tell what a file is.
constexpr std::size_t ProbedEntries = 1000;

class Reader
{
public:
    Reader(const std::shared_ptr<const ByteSource> &source, const ZipArchive &archive,
           const OpenOptions &options, CheckpointBuilder &builder)
        : m_source(source),
          m_archive(archive),
          m_options(options),
          m_builder(builder)
    {
    }

    Status load(std::stop_token stop)
    {
        for (const Diagnostic &diagnostic : m_archive.diagnostics())
            m_builder.addDiagnostic(diagnostic);
        if (m_archive.entries().empty()) {
            m_builder.addDiagnostic({Severity::Note,
                                     "empty-archive",
                                     m_source->name(),
                                     {},
                                     "the archive holds no arrays"});
        }
        for (const ZipEntry &entry : m_archive.entries()) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_source->name(), {}, "stopped"};
            addMember(entry);
        }
        return {};
    }

private:
    void addMember(const ZipEntry &entry)
    {
        const bool isArray = entry.name.ends_with(Suffix);
        const std::string name =
            isArray ? entry.name.substr(0, entry.name.size() - Suffix.size()) : entry.name;
        Result<TensorRef> tensor = open(entry, name);
        if (tensor.ok()) {
            m_builder.addTensor(named(std::move(*tensor), name));
            return;
        }
        TensorRef listed;
        listed.dtype = namedOpaqueDType("unknown", 1);
        listed.shape.dims = {0};
        listed.layoutKnown = false;
        m_builder.addUnreadable(named(std::move(listed), name), std::move(tensor).error());
    }

    TensorRef named(TensorRef tensor, const std::string &name) const
    {
        tensor.path.keys = {Key::of(name)};
        tensor.files = {m_source->name()};
        return tensor;
    }

    Result<TensorRef> open(const ZipEntry &entry, const std::string &name)
    {
        if (m_archive.isRepeated(entry.name)) {
            return Error{ErrorCode::Mismatch,
                         m_source->name(),
                         {},
                         "the archive has this name more than once: readers disagree which counts"};
        }
        FP_TRY(const auto member, m_archive.openEntry(entry));
        FP_TRY(TensorRef tensor, npyTensor(member, name, m_options, m_builder));
        if (std::max(entry.size, entry.compressedSize) <= CheckedBytes)
            FP_CHECK(checkCrc(entry));
        return tensor;
    }

    /// A wrong checksum is evidence, not a reason to hide the bytes; a broken stream is one.
    Status checkCrc(const ZipEntry &entry)
    {
        Status status = m_archive.checkCrc(entry, {});
        if (status.ok() || status.error().code != ErrorCode::Mismatch)
            return status;
        m_builder.addDiagnostic(status.error(), Severity::Warning);
        return {};
    }

    const std::shared_ptr<const ByteSource> &m_source;
    const ZipArchive &m_archive;
    const OpenOptions &m_options;
    CheckpointBuilder &m_builder;
};

class NpzLoader final : public Loader
{
public:
    std::string_view name() const override { return "npz"; }
    std::string_view description() const override { return "zip of numpy arrays (.npz)"; }

    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        const std::string_view text = asText(head);
        if (text.starts_with(EmptyArchive))
            return Confidence::Yes;
        if (!text.starts_with(LocalHeader))
            return Confidence::No;
        // Shared ownership of a source that the caller owns for longer than this call.
        const std::shared_ptr<const ByteSource> borrowed(std::shared_ptr<void>(), &source);
        const auto archive = ZipArchive::open(borrowed);
        if (!archive.ok())
            return Confidence::Maybe;
        const auto &entries = archive->entries();
        const std::size_t looked = std::min(entries.size(), ProbedEntries);
        const auto arrays =
            std::count_if(entries.begin(), entries.begin() + std::ptrdiff_t(looked),
                          [](const ZipEntry &entry) { return entry.name.ends_with(Suffix); });
        if (arrays == 0)
            return Confidence::No;
        return std::size_t(arrays) == looked ? Confidence::Yes : Confidence::Maybe;
    }

    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                std::stop_token stop, CheckpointBuilder &builder) const override
    {
        FP_TRY(const ZipArchive archive, ZipArchive::open(source));
        return Reader(source, archive, options, builder).load(std::move(stop));
    }
};

} // namespace

const Loader &npzLoader()
{
    static const NpzLoader loader;
    return loader;
}

} // namespace forkpoint
