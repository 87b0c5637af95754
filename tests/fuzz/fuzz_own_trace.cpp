// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of our own trace with any bytes in them: what is behind libhdf5, which runs elsewhere.
#include "loaders/traces/own_record.h"
#include "loaders/traces/trace_part.h"
#include "tests/fuzz/fuzzed.h"

#include <array>
#include <string_view>

namespace {

using namespace forkpoint;

struct Column
{
    const char *group, *name, *dtype;
    std::uint8_t width;
    char table; ///< r, t, v: as many rows as that table has; *: as many as its own byte says
};

constexpr Column Columns[] = {
    {"facts", "role", "uint8", 1, 'f'},        {"facts", "name", "uint32", 4, 'f'},
    {"facts", "value", "uint32", 4, 'f'},      {"records", "role", "uint8", 1, 'r'},
    {"records", "step", "int64", 8, 'r'},      {"records", "micro_batch", "int32", 4, 'r'},
    {"records", "sequence", "uint64", 8, 'r'}, {"records", "stage", "uint32", 4, 'r'},
    {"records", "name", "uint32", 4, 'r'},     {"records", "scope", "uint32", 4, 'r'},
    {"records", "call", "uint32", 4, 'r'},     {"records", "flags", "uint8", 1, 'r'},
    {"records", "inputs", "uint32", 4, 'r'},   {"records", "outputs", "uint32", 4, 'r'},
    {"records", "values", "uint32", 4, 'r'},   {"records", "group", "uint32", 4, 'r'},
    {"tensors", "path", "uint32", 4, 't'},     {"tensors", "dtype", "uint32", 4, 't'},
    {"tensors", "rank", "uint8", 1, 't'},      {"tensors", "bytes", "uint64", 8, 't'},
    {"tensors", "absence", "uint8", 1, 't'},   {"tensors", "content", "uint8", 16, 't'},
    {"tensors", "note", "uint32", 4, 't'},     {"tensors", "payload", "int64", 8, 't'},
    {"tensors", "leaves", "int64", 8, 't'},    {"tensors", "abs_max", "float64", 8, 't'},
    {"tensors", "l2", "float64", 8, 't'},      {"tensors", "nan", "uint64", 8, 't'},
    {"tensors", "inf", "uint64", 8, 't'},      {"tensors", "zero", "uint64", 8, 't'},
    {"values", "name", "uint32", 4, 'v'},      {"values", "value", "uint32", 4, 'v'},
    {"tensors", "dims", "uint64", 8, '*'},     {"strings", "bytes", "uint8", 1, '*'},
    {"strings", "end", "uint64", 8, '*'},      {nullptr, "payload", "uint8", 1, '*'},
    {nullptr, "leaves", "uint8", 16, '*'}};

/// Takes what it needs of the input; zeros behind its end.
class Input
{
public:
    Input(const std::uint8_t *data, std::size_t size) : m_data(data), m_left(size) {}

    std::uint8_t byte()
    {
        if (m_left == 0)
            return 0;
        --m_left;
        return *m_data++;
    }
    std::vector<std::byte> bytes(std::size_t count)
    {
        std::vector<std::byte> taken(count);
        for (std::byte &each : taken)
            each = std::byte(byte());
        return taken;
    }

private:
    const std::uint8_t *m_data;
    std::size_t m_left;
};

void addTensor(CheckpointBuilder &builder, const Column &column, std::size_t rows, Input &input)
{
    TensorRef tensor;
    if (column.group)
        tensor.path.keys.push_back(Key::of(column.group));
    tensor.path.keys.push_back(Key::of(column.name));
    tensor.dtype = *dtypeByName(column.dtype);
    tensor.shape.dims = {rows};
    if (column.width == 16)
        tensor.shape.dims.push_back(16);
    Extent extent;
    extent.length = rows * column.width;
    extent.box = {std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims};
    extent.strides = tensor.shape.rowMajorStrides();
    extent.file = builder.addFile(
        std::make_shared<MemorySource>("column", input.bytes(std::size_t(extent.length))));
    tensor.extents = {std::move(extent)};
    builder.addTensor(std::move(tensor));
}

void addAttribute(CheckpointBuilder &builder, std::string_view name, Value value)
{
    builder.addValue(
        {{{Key::of(std::string(name))}}, {}, StateClass::Unknown, std::move(value), {}});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    Input input(data, size);
    const std::size_t records = input.byte() % 16, tensors = input.byte() % 32,
                      values = input.byte() % 8, facts = input.byte() % 4;
    CheckpointBuilder builder;
    for (const Column &column : Columns) {
        std::size_t rows = 0;
        switch (column.table) {
        case 'f': rows = facts; break;
        case 'r': rows = records; break;
        case 't': rows = tensors; break;
        case 'v': rows = values; break;
        default: rows = input.byte(); break;
        }
        addTensor(builder, column, rows, input);
    }
    for (const auto &[name, text] : {std::pair{"format", "forkpoint-trace"},
                                     {"kind", "segment"},
                                     {"fingerprint", "forkpoint-1"},
                                     {"axes", "tp=1 pp=0"}})
        addAttribute(builder, name, Value::text(text));
    for (const auto &[name, number] : {std::pair{"version", 1},
                                       {"rank", 0},
                                       {"world_size", 1},
                                       {"segment", 0},
                                       {"first_step", 0},
                                       {"last_step", 3},
                                       {"records", int(records)},
                                       {"tensors", int(tensors)},
                                       {"values", int(values)}})
        addAttribute(builder, name, Value::integer(number));
    const auto segment = OwnSegment::of(builder.build("fuzz"), "fuzz", size + 100);
    if (!segment.ok())
        return 0;
    for (const std::uint64_t first : {std::uint64_t(0), std::uint64_t(records / 2)}) {
        OwnRecords reader(*segment, "fuzz", first);
        while (!reader.atEnd()) {
            TraceRecord record;
            if (!reader.read(record).ok())
                break;
        }
    }
    return 0;
}
