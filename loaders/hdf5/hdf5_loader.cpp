// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_loader.h"

#include "loaders/elements/running_digest.h"
#include "loaders/hdf5/hdf5_client.h"
#include "loaders/hdf5/hdf5_tensors.h"
#include "loaders/limits.h"
#include "loaders/text/json_values.h"
#include "loaders/text/number_fold.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

constexpr std::string_view Signature("\x89HDF\r\n\x1a\n", 8);
constexpr std::uint64_t FirstUserBlock = 512;
/// Larger user blocks are not looked for: every unknown file would be read at all of these places.
constexpr std::uint64_t LastUserBlock = 1u << 20;

bool isSignatureAt(std::uint64_t offset, ByteView head, const ByteSource &source)
{
    if (offset + Signature.size() > source.size())
        return false;
    if (offset + Signature.size() <= head.size())
        return asText(head.subspan(offset, Signature.size())) == Signature;
    std::array<std::byte, Signature.size()> bytes;
    return source.read(offset, bytes).ok() && asText(bytes) == Signature;
}

KeyPath keysOf(const std::vector<std::string> &names)
{
    KeyPath path;
    for (const std::string &name : names)
        path.keys.push_back(Key::of(name));
    return path;
}

std::string placeOf(const std::vector<std::string> &names)
{
    return names.empty() ? std::string()
                         : "'" + escapeInvalidUtf8(keysOf(names).toString("/")) + "'";
}

Value valueOf(const std::string &text)
{
    return Value::text(text);
}
Value valueOf(std::int64_t number)
{
    return Value::integer(number);
}
Value valueOf(std::uint64_t number)
{
    return Value::unsignedInteger(number);
}
Value valueOf(double number)
{
    return Value::real(number);
}
Value valueOf(bool flag)
{
    return Value::boolean(flag);
}

/// A long list of numbers as one value; nothing for what is no list of plain numbers.
template <class T>
std::optional<Value> folded(const std::vector<T> &items)
{
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
        return std::nullopt;
    } else {
        NumberFold fold;
        for (const T item : items) {
            if constexpr (std::is_same_v<T, double>)
                fold.addReal(item);
            else if (std::is_same_v<T, std::uint64_t> && std::int64_t(item) < 0)
                return std::nullopt;
            else
                fold.addInteger(std::int64_t(item));
        }
        return fold.value();
    }
}

class Values
{
public:
    Values(const ByteSource &file, CheckpointBuilder &builder) : m_file(file), m_builder(builder) {}

    void add(const Hdf5Value &value)
    {
        const KeyPath path = keysOf(value.path);
        std::visit([&](const auto &data) { addData(path, value.isList, data); }, value.data);
    }

private:
    void put(KeyPath path, Value value)
    {
        m_builder.addValue(
            {std::move(path), {}, StateClass::Unknown, std::move(value), m_file.name()});
    }

    void addData(const KeyPath &path, bool, const Hdf5Value::Nothing &)
    {
        put(path, Value::none());
    }
    void addData(const KeyPath &path, bool, const Hdf5Value::Link &link)
    {
        put(path, Value::link(link.target));
    }
    void addData(const KeyPath &path, bool, const Hdf5Value::Opaque &opaque)
    {
        Value value = Value::opaque(opaque.text);
        value.digest = sha256Hex(opaque.bytes);
        put(path, std::move(value));
    }
    template <class T>
    void addData(const KeyPath &path, bool isList, const std::vector<T> &items)
    {
        if (!isList && items.size() == 1) {
            if (!addConfiguration(path, items.front()))
                put(path, valueOf(items.front()));
            return;
        }
        if (items.empty())
            return put(path, Value::empty("[]"));
        if (items.size() > limits::FoldedNumbers) {
            if (auto value = folded(items))
                return put(path, std::move(*value));
        }
        std::int64_t position = 0;
        for (const auto &item : items)
            put(path.child(Key::at(position++)), valueOf(item));
    }

    template <class T>
    bool addConfiguration(const KeyPath &, const T &)
    {
        return false;
    }
    /// Keras keeps its configurations as JSON in attributes of the root: settings, one by one.
    bool addConfiguration(const KeyPath &path, const std::string &text)
    {
        const bool isKeras = path.keys.size() == 1
            && (path.keys[0].text == "model_config" || path.keys[0].text == "training_config");
        if (!isKeras)
            return false;
        const auto bytes = asBytes(text);
        const MemorySource document(m_file.name(), {bytes.begin(), bytes.end()});
        return addJsonValues(document, path, m_builder).ok();
    }

    const ByteSource &m_file;
    CheckpointBuilder &m_builder;
};

void addProblem(const Hdf5Problem &problem, const ByteSource &file, CheckpointBuilder &builder)
{
    if (problem.isPartial)
        builder.setIncomplete();
    Error error{problem.code, file.name(), placeOf(problem.path), problem.text};
    if (!problem.isDataset)
        return builder.addDiagnostic(error, problem.severity);
    TensorRef tensor;
    tensor.path = keysOf(problem.path);
    tensor.dtype = opaqueDType(1);
    tensor.shape.dims = {0};
    tensor.layoutKnown = false;
    tensor.files = {file.name()};
    error.place.clear();
    builder.addUnreadable(std::move(tensor), std::move(error));
}

class Hdf5Loader final : public Loader
{
public:
    std::string_view name() const override { return "hdf5"; }
    std::string_view description() const override
    {
        return "HDF5 files, Keras' .h5 and .weights.h5 among them";
    }
    std::string whyNot() const override { return whyNoHdf5(); }

    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (isSignatureAt(0, head, source))
            return Confidence::Yes;
        return hasHdf5Signature(head, source) ? Confidence::Maybe : Confidence::No;
    }

    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                std::stop_token stop, CheckpointBuilder &builder) const override
    {
        FP_TRY(const Hdf5Contents contents, describeHdf5(*source, options.hdf5Worker, stop));
        const Hdf5Contents shown =
            Hdf5Tensors(source, contents, options, std::move(stop), builder).addAll();
        Values values(*source, builder);
        for (const Hdf5Contents *const some : {&contents, &shown}) {
            for (const Hdf5Value &value : some->values)
                values.add(value);
            for (const Hdf5Problem &problem : some->problems)
                addProblem(problem, *source, builder);
        }
        return {};
    }
};

} // namespace

bool hasHdf5Signature(ByteView head, const ByteSource &source)
{
    if (isSignatureAt(0, head, source))
        return true;
    for (std::uint64_t block = FirstUserBlock; block <= LastUserBlock; block *= 2) {
        if (isSignatureAt(block, head, source))
            return true;
    }
    return false;
}

const Loader &hdf5Loader()
{
    static const Hdf5Loader loader;
    return loader;
}

} // namespace forkpoint
