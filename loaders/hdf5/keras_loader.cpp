// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/keras_loader.h"

#include "loaders/hdf5/hdf5_loader.h"
#include "loaders/storage/zip_reader.h"
#include "loaders/text/json_values.h"

#include <array>

namespace forkpoint {

namespace {

constexpr std::string_view LocalHeader("PK\x03\x04", 4);
constexpr const char *Config = "config.json", *Metadata = "metadata.json";
constexpr std::array<const char *, 2> Weights = {"model.weights.h5", "model.weights.npz"};

const ZipEntry *weightsOf(const ZipArchive &archive)
{
    for (const char *const name : Weights) {
        if (const ZipEntry *const entry = archive.find(name))
            return entry;
    }
    return nullptr;
}

Result<std::shared_ptr<const ByteSource>> open(const ZipArchive &archive, const ZipEntry &entry)
{
    if (archive.isRepeated(entry.name)) {
        return Error{ErrorCode::Mismatch, archive.source()->name(), "'" + entry.name + "'",
                     "the archive has this name more than once: readers disagree which counts"};
    }
    return archive.openEntry(entry);
}

/// The settings in a member, under `prefix`; a document that cannot be read is told.
void addDocument(const ZipArchive &archive, const char *name, const KeyPath &prefix,
                 StateClass stateClass, CheckpointBuilder &builder)
{
    const ZipEntry *const entry = archive.find(name);
    if (entry == nullptr)
        return;
    CheckpointBuilder part;
    const auto source = open(archive, *entry);
    const Status status =
        source.ok() ? addJsonValues(**source, prefix, part) : Status(source.error());
    if (!status.ok())
        return builder.addDiagnostic(Error(status.error()).atPlace("'" + std::string(name) + "'"),
                                     Severity::Warning);
    for (ValueRef &value : part.mutableCatalog().values)
        value.stateClass = stateClass;
    builder.merge(std::move(part), {});
}

class KerasLoader final : public Loader
{
public:
    std::string_view name() const override { return "keras"; }
    std::string_view description() const override { return "Keras 3 models (.keras)"; }
    std::string whyNot() const override { return hdf5Loader().whyNot(); }

    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (!asText(head).starts_with(LocalHeader))
            return Confidence::No;
        // Shared ownership of a source that the caller owns for longer than this call.
        const std::shared_ptr<const ByteSource> borrowed(std::shared_ptr<void>(), &source);
        const auto archive = ZipArchive::open(borrowed);
        const bool isKeras = archive.ok() && archive->find(Config) != nullptr
            && archive->find(Metadata) != nullptr && weightsOf(*archive) != nullptr;
        return isKeras ? Confidence::Yes : Confidence::No;
    }

    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                std::stop_token stop, CheckpointBuilder &builder) const override
    {
        FP_TRY(const ZipArchive archive, ZipArchive::open(source));
        for (const Diagnostic &diagnostic : archive.diagnostics())
            builder.addDiagnostic(diagnostic);
        const ZipEntry *const weights = weightsOf(archive);
        if (weights == nullptr)
            return Error{ErrorCode::NotFound, source->name(), {}, "holds no weights"};
        FP_TRY(auto member, open(archive, *weights));
        FP_TRY(LoadedFile loaded, loadFile(std::move(member), options, stop));
        builder.merge(std::move(loaded.builder), {});
        addDocument(archive, Config, {{Key::of("config")}}, StateClass::Recipe, builder);
        addDocument(archive, Metadata, {{Key::of("metadata")}}, StateClass::Container, builder);
        return {};
    }
};

} // namespace

const Loader &kerasLoader()
{
    static const KerasLoader loader;
    return loader;
}

} // namespace forkpoint
