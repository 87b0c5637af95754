// SPDX-License-Identifier: GPL-3.0-or-later
// torch.save since 1.6, TorchScript and torch.export: records in a zip archive, under one directory.
// Source: torch/serialization.py, caffe2/serialize/inline_container.cc.
#include "loaders/limits.h"
#include "loaders/torch/pickle_text.h"
#include "loaders/torch/pickle_vm.h"
#include "loaders/torch/torch_container.h"
#include "loaders/torch/torch_loaders.h"
#include "loaders/torch/torch_records.h"

namespace forkpoint {

namespace {

/// The newest format that this reader was written against: torch 2.x writes 3, TorchScript 10.
constexpr std::int64_t NewestVersion = 12;
/// Bytes of records like `byteorder` and `version`.
constexpr std::uint64_t SmallRecord = 4096;

/// The directory that holds the archive: the first entry's, or the only one with a data.pkl.
std::string directoryOf(const ZipArchive &archive)
{
    if (archive.entries().empty())
        return {};
    const std::string &first = archive.entries().front().name;
    const std::string top = first.substr(0, first.find('/') + 1);
    for (const char *record : {"data.pkl", "models/model.json"}) {
        if (archive.find(top + record))
            return top;
    }
    std::string found;
    for (const ZipEntry &entry : archive.entries()) {
        if (entry.name != "data.pkl" && !entry.name.ends_with("/data.pkl"))
            continue;
        const std::string directory = entry.name.substr(0, entry.name.size() - 8);
        if (!found.empty() && directory != found)
            return top;
        found = directory;
    }
    return found.empty() ? top : found;
}

bool isTorchArchive(const ZipArchive &archive)
{
    const std::string directory = directoryOf(archive);
    return archive.find(directory + "data.pkl")
        || archive.find(directory + "data/weights/model_weights_config.json")
        || archive.find(directory + "models/model.json");
}

Status readByteOrder(TorchRecords &records)
{
    if (!records.find("byteorder"))
        return {}; // before torch 2.1: little-endian
    FP_TRY(const auto bytes, records.read("byteorder", SmallRecord));
    const std::string_view text = asText(bytes);
    if (text != "little" && text != "big")
        return Error{
            ErrorCode::Malformed, {}, "record 'byteorder'", "is neither 'little' nor 'big'"};
    records.order = text == "big" ? ByteOrder::Big : ByteOrder::Little;
    return {};
}

void readVersion(TorchRecords &records, const TreeContext &context)
{
    const char *record = records.find(".data/version") ? ".data/version" : "version";
    if (!records.find(record))
        return;
    const auto bytes = records.read(record, SmallRecord);
    std::string text = bytes.ok() ? std::string(asText(bytes.value())) : std::string();
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    const auto version = pickle::toInt64(text);
    if (version && *version >= 1 && *version <= NewestVersion)
        return;
    context.builder.addDiagnostic({Severity::Warning, "unsupported", context.file,
                                   std::string("record '") + record + "'",
                                   "format version '" + escapeInvalidUtf8(text.substr(0, 40))
                                       + "', known are 1 to " + std::to_string(NewestVersion)});
}

void tellOddities(const TorchRecords &records, const TreeContext &context)
{
    for (Diagnostic diagnostic : records.archive().diagnostics()) {
        if (diagnostic.file.empty())
            diagnostic.file = context.file;
        context.builder.addDiagnostic(std::move(diagnostic));
    }
    const std::string &first = records.archive().entries().front().name;
    if (records.directory() != first.substr(0, first.find('/') + 1))
        context.builder.addDiagnostic({Severity::Warning,
                                       "malformed",
                                       context.file,
                                       {},
                                       "the archive lies in '"
                                           + escapeInvalidUtf8(records.directory())
                                           + "', not in the directory of the first record"});
    std::size_t outside = 0;
    for (const ZipEntry &entry : records.archive().entries())
        outside += entry.name.starts_with(records.directory()) ? 0 : 1;
    if (outside > 0)
        context.builder.addDiagnostic(
            {Severity::Warning,
             "malformed",
             context.file,
             {},
             std::to_string(outside) + " records outside the archive's directory '"
                 + escapeInvalidUtf8(records.directory()) + "' are ignored"});
}

Status listRecord(TorchRecords &records, const std::string &record, const std::string &folder,
                  const TreeContext &context)
{
    FP_TRY(auto bytes, records.read(record, limits::PickleBytes));
    auto input = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    auto read = readPickle(input, 0, context.stop);
    if (!read.ok())
        return std::move(read).error().atPlace("record '" + record + "'");
    const PickleGraph &graph = *read.value();
    reportDangerousGlobals(graph, context, {});
    if (graph.end < input->size()) {
        context.builder.addDiagnostic({Severity::Error, "trailing-bytes", context.file,
                                       "record '" + record + "'",
                                       std::to_string(input->size() - graph.end)
                                           + " bytes behind the end of the pickle are not listed"});
        context.builder.setIncomplete();
    }
    RecordTable table(records, folder, folder == "traced_inputs/", context);
    return listPickle(graph, &table, context);
}

/// Constants and example inputs of TorchScript; damage there leaves the module readable.
void listScriptParts(TorchRecords &records, const TreeContext &context)
{
    for (const char *part : {"constants", "traced_inputs"}) {
        const std::string record = std::string(part) + ".pkl";
        if (!records.find(record))
            continue;
        TreeContext below = context;
        below.prefix = context.prefix.child(Key::of(part));
        const Status status = listRecord(records, record, std::string(part) + "/", below);
        if (status.ok())
            continue;
        context.builder.addDiagnostic(status.error(), Severity::Error);
        context.builder.setIncomplete();
    }
    context.builder.addDiagnostic({Severity::Note,
                                   "torchscript",
                                   context.file,
                                   {},
                                   "a TorchScript archive: its code is not looked at"});
}

class ZipLoader final : public Loader
{
public:
    std::string_view name() const override { return "torch"; }
    std::string_view description() const override
    {
        return "torch.save (zip, torch 1.6 and newer), TorchScript, torch.export";
    }
    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (!isZip(head))
            return Confidence::No;
        // The probe owns nothing: a source that does not outlive this call.
        const std::shared_ptr<const ByteSource> borrowed(std::shared_ptr<void>(), &source);
        const auto archive = ZipArchive::open(borrowed);
        if (!archive.ok()) // cut or damaged: the error of load() says how
            return Confidence::Maybe;
        return isTorchArchive(archive.value()) ? Confidence::Yes : Confidence::No;
    }
    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &, std::stop_token stop,
                CheckpointBuilder &builder) const override
    {
        TreeContext context{builder, source->name(), {}, 0, stop};
        auto status = listTorchZip(source, context);
        return status.ok() ? Status() : Status(std::move(status).error().inFile(source->name()));
    }
};

} // namespace

bool isZip(ByteView head)
{
    return head.size() >= 4 && head[0] == std::byte('P') && head[1] == std::byte('K')
        && head[2] == std::byte(3) && head[3] == std::byte(4);
}

Status listTorchZip(const std::shared_ptr<const ByteSource> &source, const TreeContext &context)
{
    FP_TRY(ZipArchive archive, ZipArchive::open(source));
    if (archive.entries().empty())
        return Error{ErrorCode::Malformed, {}, {}, "the archive has no records"};
    std::string directory = directoryOf(archive);
    TorchRecords records(std::move(archive), std::move(directory), context);
    tellOddities(records, context);
    FP_CHECK(readByteOrder(records));
    readVersion(records, context);
    if (isTorchExport(records))
        return listTorchExport(records, context);
    FP_CHECK(listRecord(records, "data.pkl", "data/", context));
    if (records.find("constants.pkl"))
        listScriptParts(records, context);
    return {};
}

const Loader &torchZipLoader()
{
    static const ZipLoader loader;
    return loader;
}

} // namespace forkpoint
