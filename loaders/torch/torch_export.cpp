// SPDX-License-Identifier: GPL-3.0-or-later
// torch.export archives (.pt2): raw weights beside a JSON table of their layout.
// Source: torch/export/pt2_archive/_package.py, torch/_export/serde/schema.py.
#include "loaders/limits.h"
#include "loaders/torch/torch_container.h"
#include "loaders/torch/torch_records.h"

#include <nlohmann/json.hpp>

#include <array>

namespace forkpoint {

namespace {

using nlohmann::json;

/// Characters of a model's name: it stands in the path of each of its weights.
constexpr std::size_t ModelName = 1000;

/// ScalarType of the schema; its own numbering, not that of c10.
std::string_view dtypeOf(std::int64_t code)
{
    static constexpr std::array<std::string_view, 14> first = {
        "",        "uint8",   "int8",      "int16",     "int32",      "int64", "float16",
        "float32", "float64", "complex32", "complex64", "complex128", "bool",  "bfloat16"};
    static constexpr std::array<std::string_view, 5> later = {
        "uint16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"};
    if (code > 0 && code < std::int64_t(first.size()))
        return first[std::size_t(code)];
    if (code >= 28 && code < 28 + std::int64_t(later.size()))
        return later[std::size_t(code - 28)];
    return {};
}

/// Nesting of brackets outside strings, before the text is parsed.
std::size_t jsonDepth(std::string_view text)
{
    std::size_t depth = 0, deepest = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (inString) {
            if (text[i] == '\\')
                ++i;
            else
                inString = text[i] != '"';
        } else if (text[i] == '"') {
            inString = true;
        } else if (text[i] == '{' || text[i] == '[') {
            deepest = std::max(deepest, ++depth);
        } else if ((text[i] == '}' || text[i] == ']') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

/// A size or stride: {"as_int": 3}. Symbolic ones are not what a saved weight has.
std::optional<std::int64_t> symbolicInteger(const json &value)
{
    const json *number = value.is_object() && value.contains("as_int") ? &value["as_int"] : &value;
    return number->is_number_integer() ? std::optional(number->get<std::int64_t>()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers(const json &meta, const char *key)
{
    std::vector<std::int64_t> all;
    if (!meta.contains(key) || !meta[key].is_array())
        return std::nullopt;
    for (const json &item : meta[key]) {
        const auto value = symbolicInteger(item);
        if (!value || *value < 0)
            return std::nullopt;
        all.push_back(*value);
    }
    return all;
}

TensorRef weight(const json &meta, const StorageSlot &slot)
{
    TensorRef tensor;
    tensor.shape = Shape{{0}};
    tensor.dtype = opaqueDType(1);
    tensor.storage = slot.identity;
    const auto sizes = integers(meta, "sizes"), strides = integers(meta, "strides");
    const auto offset = meta.contains("storage_offset") ? symbolicInteger(meta["storage_offset"])
                                                        : std::optional<std::int64_t>(0);
    const auto code = meta.contains("dtype") ? symbolicInteger(meta["dtype"]) : std::nullopt;
    const auto dtype = dtypeByName(dtypeOf(code.value_or(0)));
    const bool sound = sizes && strides && sizes->size() == strides->size() && offset
        && *offset >= 0 && sizes->size() <= limits::Rank && dtype;
    if (!sound) {
        tensor.layoutKnown = false;
        tensor.unreadable = Error{ErrorCode::Malformed, {}, {}, "its layout is not described"};
        return tensor;
    }
    tensor.dtype = *dtype;
    const Shape shape{{sizes->begin(), sizes->end()}};
    if (!shape.count()) {
        tensor.layoutKnown = false;
        tensor.unreadable = Error{ErrorCode::Malformed, {}, {}, "too many elements to count"};
        return tensor;
    }
    tensor.shape = shape;
    tensor.unreadable = slot.problem;
    Extent extent;
    extent.file = slot.file;
    extent.offset = slot.offset;
    extent.length = slot.length;
    extent.order = slot.order;
    extent.box = {std::vector<Index>(shape.rank(), 0), shape.dims};
    extent.strides = *strides;
    extent.firstElement = std::uint64_t(*offset);
    tensor.extents = {std::move(extent)};
    return tensor;
}

/// One `*_config.json`: name -> {path_name, use_pickle, tensor_meta}.
Status listConfig(TorchRecords &records, const std::string &folder, const std::string &config,
                  const TreeContext &context)
{
    FP_TRY(const auto bytes, records.read(folder + config, limits::JsonBytes));
    if (jsonDepth(asText(bytes)) > limits::JsonDepth)
        return Error{ErrorCode::Limit, {}, "record '" + folder + config + "'", "nested too deep"};
    const json document = json::parse(asText(bytes), nullptr, false);
    if (!document.is_object() || !document.contains("config") || !document["config"].is_object())
        return Error{ErrorCode::Malformed,
                     {},
                     "record '" + folder + config + "'",
                     "is no JSON object with a member 'config'"};
    for (const auto &[name, entry] : document["config"].items()) {
        TensorRef tensor;
        tensor.dtype = opaqueDType(1);
        tensor.shape = Shape{{0}};
        tensor.layoutKnown = false;
        if (!entry.is_object() || !entry.contains("path_name") || !entry["path_name"].is_string()
            || !entry.contains("tensor_meta") || !entry["tensor_meta"].is_object())
            tensor.unreadable = Error{ErrorCode::Malformed, {}, {}, "its layout is not described"};
        else if (entry.contains("use_pickle") && entry["use_pickle"] == true)
            tensor.unreadable = Error{ErrorCode::Unsupported, {}, {}, "is stored as a pickle"};
        else
            tensor = weight(entry["tensor_meta"],
                            records.storage(folder + entry["path_name"].get<std::string>()));
        tensor.path = context.prefix.child(Key::of(name));
        tensor.files = {context.file};
        if (tensor.unreadable) {
            Error error = *tensor.unreadable;
            tensor.unreadable.reset();
            context.builder.addUnreadable(std::move(tensor), std::move(error));
        } else {
            context.builder.addTensor(std::move(tensor));
        }
    }
    return {};
}

/// Every configuration of a folder; that of a model other than "model" below its name.
void listFolder(TorchRecords &records, const std::string &folder, const std::string &suffix,
                const TreeContext &context)
{
    const std::string start = records.directory() + folder;
    for (const ZipEntry &entry : records.archive().entries()) {
        if (!entry.name.starts_with(start) || !entry.name.ends_with(suffix))
            continue;
        const std::string config = entry.name.substr(start.size());
        const std::string model = config.substr(0, config.size() - suffix.size());
        TreeContext below = context;
        if (model != "model")
            below.prefix = context.prefix.child(Key::of(model));
        const Status status = model.size() <= ModelName
            ? listConfig(records, folder, config, below)
            : Status(Error{ErrorCode::Limit, context.file,
                           "record '" + escapeInvalidUtf8(model.substr(0, 80)) + "'",
                           "a model of too long a name"});
        if (status.ok())
            continue;
        context.builder.addDiagnostic(status.error(), Severity::Error);
        context.builder.setIncomplete();
    }
}

void listSamples(TorchRecords &records, const TreeContext &context)
{
    const ZipEntry *entry = records.find("data/sample_inputs/model.pt");
    if (!entry)
        return;
    TreeContext below = context;
    below.prefix = context.prefix.child(Key::of("sample_inputs"));
    below.nesting = context.nesting + 1;
    Status status;
    if (below.nesting > limits::NestedPickles)
        status = Error{ErrorCode::Limit, {}, "sample_inputs", "saves nested too deep"};
    else if (auto source = records.archive().openEntry(*entry); source.ok())
        status = listTorchZip(source.value(), below);
    else
        status = source.error();
    if (status.ok())
        return;
    context.builder.addDiagnostic(status.error(), Severity::Error);
    context.builder.setIncomplete();
}

} // namespace

bool isTorchExport(const TorchRecords &records)
{
    return !records.find("data.pkl")
        && (records.find("data/weights/model_weights_config.json")
            || records.find("models/model.json"));
}

Status listTorchExport(TorchRecords &records, const TreeContext &context)
{
    listFolder(records, "data/weights/", "_weights_config.json", context);
    TreeContext constants = context;
    constants.prefix = context.prefix.child(Key::of("constants"));
    listFolder(records, "data/constants/", "_constants_config.json", constants);
    listSamples(records, context);
    context.builder.addDiagnostic({Severity::Note,
                                   "torch-export",
                                   context.file,
                                   {},
                                   "a torch.export archive: its program is not looked at"});
    return {};
}

} // namespace forkpoint
