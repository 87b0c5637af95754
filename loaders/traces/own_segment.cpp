// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/own_segment.h"

#include "loaders/elements/tensor_bytes.h"
#include "loaders/hdf5/hdf5_loader.h"
#include "loaders/limits.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

constexpr std::uint64_t Version = 1;
constexpr std::string_view FormatName = "forkpoint-trace";
constexpr std::string_view FingerprintName = "forkpoint-1";
/// Records between two marks.
constexpr std::uint64_t MarkEvery = 4096;
constexpr std::size_t LeafDigestBytes = 16;
constexpr std::size_t KnownStringBytes = std::size_t(8) << 20;

enum class Table { Facts, Records, Tensors, Values };

struct ColumnRule
{
    OwnColumn column;
    Table table;
    std::string_view group, name, dtype;
    std::size_t width;
    bool isOptional = false;
};

constexpr ColumnRule Rules[] = {
    {OwnColumn::FactRole, Table::Facts, "facts", "role", "uint8", 1},
    {OwnColumn::FactName, Table::Facts, "facts", "name", "uint32", 4},
    {OwnColumn::FactValue, Table::Facts, "facts", "value", "uint32", 4},
    {OwnColumn::Role, Table::Records, "records", "role", "uint8", 1},
    {OwnColumn::Step, Table::Records, "records", "step", "int64", 8},
    {OwnColumn::MicroBatch, Table::Records, "records", "micro_batch", "int32", 4},
    {OwnColumn::Sequence, Table::Records, "records", "sequence", "uint64", 8},
    {OwnColumn::Stage, Table::Records, "records", "stage", "uint32", 4},
    {OwnColumn::Name, Table::Records, "records", "name", "uint32", 4},
    {OwnColumn::Scope, Table::Records, "records", "scope", "uint32", 4},
    {OwnColumn::Call, Table::Records, "records", "call", "uint32", 4},
    {OwnColumn::Flags, Table::Records, "records", "flags", "uint8", 1},
    {OwnColumn::Inputs, Table::Records, "records", "inputs", "uint32", 4},
    {OwnColumn::Outputs, Table::Records, "records", "outputs", "uint32", 4},
    {OwnColumn::Values, Table::Records, "records", "values", "uint32", 4},
    {OwnColumn::Group, Table::Records, "records", "group", "uint32", 4, true},
    {OwnColumn::Caller, Table::Records, "records", "caller", "uint32", 4, true},
    {OwnColumn::Path, Table::Tensors, "tensors", "path", "uint32", 4},
    {OwnColumn::DType, Table::Tensors, "tensors", "dtype", "uint32", 4},
    {OwnColumn::Rank, Table::Tensors, "tensors", "rank", "uint8", 1},
    {OwnColumn::Bytes, Table::Tensors, "tensors", "bytes", "uint64", 8},
    {OwnColumn::Absence, Table::Tensors, "tensors", "absence", "uint8", 1},
    {OwnColumn::Content, Table::Tensors, "tensors", "content", "uint8", 16},
    {OwnColumn::Tensor, Table::Tensors, "tensors", "tensor", "uint8", 16, true},
    {OwnColumn::Note, Table::Tensors, "tensors", "note", "uint32", 4},
    {OwnColumn::Payload, Table::Tensors, "tensors", "payload", "int64", 8},
    {OwnColumn::Leaves, Table::Tensors, "tensors", "leaves", "int64", 8},
    {OwnColumn::AbsMax, Table::Tensors, "tensors", "abs_max", "float64", 8},
    {OwnColumn::L2, Table::Tensors, "tensors", "l2", "float64", 8},
    {OwnColumn::Nan, Table::Tensors, "tensors", "nan", "uint64", 8},
    {OwnColumn::Inf, Table::Tensors, "tensors", "inf", "uint64", 8},
    {OwnColumn::Zero, Table::Tensors, "tensors", "zero", "uint64", 8},
    {OwnColumn::ValueName, Table::Values, "values", "name", "uint32", 4},
    {OwnColumn::ValueText, Table::Values, "values", "value", "uint32", 4},
};

Error malformed(std::string place, std::string text)
{
    return {ErrorCode::Malformed, {}, std::move(place), std::move(text)};
}

const Value *attribute(const Catalog &catalog, std::string_view name)
{
    for (const ValueRef &value : catalog.values) {
        if (value.path.keys.size() == 1 && value.path.keys[0].text == name)
            return &value.value;
    }
    return nullptr;
}

bool isAt(const TensorRef &tensor, std::string_view group, std::string_view name)
{
    const auto &keys = tensor.path.keys;
    const std::size_t depth = group.empty() ? 1 : 2;
    return keys.size() == depth && keys.back().text == name
        && (group.empty() || keys.front().text == group);
}

/// "pp=0 tp=1": false where it is something else.
bool parseAxes(std::string_view text, TraceCoordinate &coordinate)
{
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t equals = word.find('=');
        std::int64_t place = 0;
        if (equals == 0 || equals == std::string_view::npos)
            return false;
        const char *const last = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data() + equals + 1, last, place);
        if (error != std::errc() || stop != last)
            return false;
        coordinate.axes.emplace_back(word.substr(0, equals), place);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

TraceFact factOf(std::uint64_t role, std::string name, std::string value)
{
    using Role = TraceFact::Role;
    switch (role) {
    case 0: return {Role::Schema, std::move(name), std::move(value)};
    case 1: return {Role::Parallel, std::move(name), std::move(value)};
    case 3: return {Role::Placement, std::move(name), std::move(value)};
    case 4: return {Role::Runtime, "recipe." + name, std::move(value)};
    case 5: return {Role::Placement, "policy." + name, std::move(value)};
    default: return {Role::Runtime, std::move(name), std::move(value)};
    }
}

} // namespace

Result<std::shared_ptr<const OwnSegment>> OwnSegment::open(std::shared_ptr<const ByteSource> source)
{
    CheckpointBuilder builder;
    FP_CHECK(hdf5Loader().load(source, {}, {}, builder));
    return of(builder.build(std::string(FormatName)), source->name(), source->size());
}

Result<std::shared_ptr<const OwnSegment>> OwnSegment::of(std::shared_ptr<const TensorSource> file,
                                                         const std::string &name,
                                                         std::uint64_t fileBytes)
{
    const std::shared_ptr<OwnSegment> segment(new OwnSegment());
    segment->m_file = std::move(file);
    segment->m_part.file = name;
    FP_CHECK(segment->readHeader());
    if (!segment->m_part.isEnd) {
        FP_CHECK(segment->findColumns(fileBytes));
        FP_CHECK(segment->findOthers());
        FP_CHECK(segment->readFacts());
        FP_CHECK(segment->markStarts());
    }
    return std::shared_ptr<const OwnSegment>(segment);
}

std::string OwnSegment::textOf(std::string_view name) const
{
    const Value *const value = attribute(m_file->catalog(), name);
    const auto *const text = value ? std::get_if<std::string>(&value->data) : nullptr;
    return text && value->type == ValueType::Text ? *text : std::string();
}

Result<std::int64_t> OwnSegment::integer(std::string_view name) const
{
    const Value *const value = attribute(m_file->catalog(), name);
    if (value && std::holds_alternative<std::int64_t>(value->data))
        return std::get<std::int64_t>(value->data);
    return malformed("attribute '" + std::string(name) + "'", "must be an integer");
}

Result<std::uint64_t> OwnSegment::count(std::string_view name) const
{
    FP_TRY(const std::int64_t number, integer(name));
    if (number < 0)
        return malformed("attribute '" + std::string(name) + "'",
                         "must not be negative, is " + std::to_string(number));
    return std::uint64_t(number);
}

Status OwnSegment::readHeader()
{
    if (textOf("format") != FormatName)
        return Error{ErrorCode::Unsupported,
                     {},
                     std::string(FormatPlace),
                     "must be '" + std::string(FormatName) + "', is '" + textOf("format") + "'"};
    FP_TRY(const std::uint64_t version, count("version"));
    if (version != Version)
        return Error{ErrorCode::Unsupported,
                     {},
                     "attribute 'version'",
                     "must be " + std::to_string(Version) + ", is " + std::to_string(version)};
    if (textOf("fingerprint") != FingerprintName)
        return Error{ErrorCode::Unsupported,
                     {},
                     "attribute 'fingerprint'",
                     "must be '" + std::string(FingerprintName) + "', is '" + textOf("fingerprint")
                         + "'"};
    m_part.isEnd = textOf("kind") == "end";
    if (!m_part.isEnd && textOf("kind") != "segment")
        return malformed("attribute 'kind'",
                         "must be 'segment' or 'end', is '" + textOf("kind") + "'");
    m_part.run = textOf("run");
    FP_TRY(const std::uint64_t rank, count("rank"));
    m_part.coordinate.rank = std::int64_t(rank);
    if (!parseAxes(textOf("axes"), m_part.coordinate))
        return malformed("attribute 'axes'",
                         "must be words such as 'tp=0', is '" + textOf("axes") + "'");
    FP_TRY(m_worldSize, count("world_size"));
    FP_TRY(m_part.records, count("records"));
    FP_TRY(m_part.tensors, count("tensors"));
    FP_TRY(m_part.values, count("values"));
    if (m_part.isEnd) {
        FP_TRY(m_part.segments, count("segments"));
        m_part.reason = textOf("reason");
        m_part.payloadLeftOut = count("payload_left_out").ok() ? *count("payload_left_out") : 0;
        return {};
    }
    FP_TRY(m_part.number, count("segment"));
    FP_TRY(m_part.firstStep, integer("first_step"));
    FP_TRY(m_part.lastStep, integer("last_step"));
    if (m_part.firstStep > m_part.lastStep)
        return malformed("attribute 'last_step'",
                         "must not be below first_step " + std::to_string(m_part.firstStep)
                             + ", is " + std::to_string(m_part.lastStep));
    return {};
}

/// The dataset of that place: its rows, if its type is as it must be.
Result<NumberColumn> OwnSegment::dataset(std::string_view group, std::string_view name,
                                         std::string_view dtype, std::size_t width) const
{
    const auto &tensors = m_file->catalog().tensors;
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TensorRef &tensor) {
        return isAt(tensor, group, name);
    });
    const std::string place =
        "dataset '" + (group.empty() ? "" : std::string(group) + "/") + std::string(name) + "'";
    if (found == tensors.end())
        return Error{ErrorCode::NotFound, {}, place, "is not there"};
    if (found->unreadable)
        return malformed(place, found->unreadable->text);
    const bool isMatrix = dtype == "uint8" && width > 1;
    const bool isShaped =
        found->shape.rank() == (isMatrix ? 2u : 1u) && (!isMatrix || found->shape.dims[1] == width);
    if (found->dtype.name != dtype || !isShaped)
        return malformed(
            place,
            "must be " + std::string(dtype)
                + (isMatrix ? " in rows of " + std::to_string(width) : " of one dimension")
                + ", is " + found->dtype.name + " " + found->shape.toString());
    return NumberColumn(m_file, TensorIndex(found - tensors.begin()), width);
}

Status OwnSegment::findColumns(std::uint64_t fileBytes)
{
    // A few bytes must not stand for billions of records that take hours.
    const std::uint64_t most = std::min(limits::TraceRows, fileBytes * limits::TraceRowsPerByte);
    for (const auto &[what, number] :
         {std::pair{"records", m_part.records}, std::pair{"tensors", m_part.tensors},
          std::pair{"values", m_part.values}}) {
        if (number > most)
            return Error{ErrorCode::Limit,
                         {},
                         "attribute '" + std::string(what) + "'",
                         "may be at most " + std::to_string(most) + " for a file of this size, is "
                             + std::to_string(number)};
    }
    for (const ColumnRule &rule : Rules) {
        auto column = dataset(rule.group, rule.name, rule.dtype, rule.width);
        if (!column.ok() && rule.isOptional && column.error().code == ErrorCode::NotFound)
            continue;
        if (!column.ok())
            return column.error();
        const std::uint64_t rows = rule.table == Table::Records ? m_part.records
            : rule.table == Table::Tensors                      ? m_part.tensors
            : rule.table == Table::Values                       ? m_part.values
                                          : this->column(OwnColumn::FactRole).rows();
        const bool isFirstOfFacts = rule.column == OwnColumn::FactRole;
        if (!isFirstOfFacts && column->rows() != rows)
            return malformed("dataset '" + std::string(rule.group) + "/" + std::string(rule.name)
                                 + "'",
                             "must have " + std::to_string(rows) + " rows, has "
                                 + std::to_string(column->rows()));
        m_columns[std::size_t(rule.column)] = std::move(*column);
    }
    return {};
}

Status OwnSegment::findOthers()
{
    FP_TRY(m_dimensions, dataset("tensors", "dims", "uint64", 8));
    FP_TRY(m_stringBytes, dataset("strings", "bytes", "uint8", 1));
    FP_TRY(m_stringEnds, dataset("strings", "end", "uint64", 8));
    const auto payload = dataset("", "payload", "uint8", 1);
    if (payload.ok()) {
        const auto &tensors = m_file->catalog().tensors;
        const auto found =
            std::find_if(tensors.begin(), tensors.end(),
                         [](const TensorRef &tensor) { return isAt(tensor, "", "payload"); });
        m_payload = std::make_shared<TensorBytes>(m_file, TensorIndex(found - tensors.begin()),
                                                  m_part.file);
    } else if (payload.error().code != ErrorCode::NotFound) {
        return payload.error();
    }
    auto leaves = dataset("", "leaves", "uint8", LeafDigestBytes);
    if (!leaves.ok() && leaves.error().code != ErrorCode::NotFound)
        return leaves.error();
    if (leaves.ok())
        m_leaves = std::move(*leaves);
    return {};
}

Status OwnSegment::readFacts()
{
    NumberColumn roles = column(OwnColumn::FactRole), names = column(OwnColumn::FactName),
                 values = column(OwnColumn::FactValue);
    OwnStrings strings(*this);
    if (roles.rows() > limits::TraceFacts)
        return Error{ErrorCode::Limit,
                     {},
                     "dataset 'facts/role'",
                     "may have at most " + std::to_string(limits::TraceFacts) + " rows, has "
                         + std::to_string(roles.rows())};
    constexpr std::uint64_t KnownRoles = 6;
    for (std::uint64_t row = 0; row < roles.rows(); ++row) {
        FP_TRY(const std::uint64_t role, roles.number(row));
        if (role >= KnownRoles)
            continue;
        FP_TRY(const std::uint64_t name, names.number(row));
        FP_TRY(const std::uint64_t value, values.number(row));
        FP_TRY(std::string nameText, strings.text(name));
        FP_TRY(std::string valueText, strings.text(value));
        m_facts.push_back(factOf(role, std::move(nameText), std::move(valueText)));
    }
    return {};
}

/// Sums of the counts up to every few thousand records; in the end they must be those of the tables.
Status OwnSegment::markStarts()
{
    NumberColumn inputs = column(OwnColumn::Inputs), outputs = column(OwnColumn::Outputs),
                 values = column(OwnColumn::Values), ranks = column(OwnColumn::Rank);
    OwnStart at;
    for (; at.record < m_part.records; ++at.record) {
        if (at.record % MarkEvery == 0)
            m_starts.push_back(at);
        FP_TRY(const std::uint64_t in, inputs.number(at.record));
        FP_TRY(const std::uint64_t out, outputs.number(at.record));
        FP_TRY(const std::uint64_t own, values.number(at.record));
        const std::string place = "record " + std::to_string(at.record + 1);
        if (in > limits::TraceObservations || out > limits::TraceObservations
            || own > limits::TraceObservations)
            return Error{ErrorCode::Limit,
                         {},
                         place,
                         "may have at most " + std::to_string(limits::TraceObservations)
                             + " inputs, outputs or values"};
        if (in + out > m_part.tensors - at.tensor || own > m_part.values - at.value)
            return malformed(place, "has tensors or values beyond the end of their table");
        for (const std::uint64_t end = at.tensor + in + out; at.tensor < end; ++at.tensor) {
            FP_TRY(const std::uint64_t rank, ranks.number(at.tensor));
            at.dimension += rank;
        }
        at.value += own;
    }
    if (at.tensor != m_part.tensors || at.value != m_part.values)
        return malformed({}, "has tensors or values that belong to no record");
    if (at.dimension != m_dimensions.rows())
        return malformed("dataset 'tensors/dims'",
                         "must have " + std::to_string(at.dimension) + " rows, has "
                             + std::to_string(m_dimensions.rows()));
    return {};
}

OwnStart OwnSegment::startBefore(std::uint64_t record) const
{
    if (m_starts.empty())
        return {};
    return m_starts[std::size_t(std::min<std::uint64_t>(record / MarkEvery, m_starts.size() - 1))];
}

NumberColumn OwnSegment::column(OwnColumn column) const
{
    return m_columns[std::size_t(column)];
}

NumberColumn OwnSegment::dimensions() const
{
    return m_dimensions;
}

Status OwnSegment::leafDigests(std::uint64_t row, MutableByteView into) const
{
    NumberColumn leaves = m_leaves; // of the caller's own: columns keep what they read
    for (; !into.empty(); into = into.subspan(LeafDigestBytes), ++row) {
        FP_TRY(const ByteView digest, leaves.bytes(row));
        std::copy(digest.begin(), digest.end(), into.begin());
    }
    return {};
}

NumberColumn OwnSegment::stringBytes() const
{
    return m_stringBytes;
}

NumberColumn OwnSegment::stringEnds() const
{
    return m_stringEnds;
}

Result<std::string> OwnStrings::text(std::uint64_t number)
{
    const auto known = m_known.find(number);
    if (known != m_known.end())
        return known->second;
    const std::string place = "string " + std::to_string(number);
    if (number >= m_ends.rows())
        return malformed(place, "is not among the " + std::to_string(m_ends.rows()));
    std::uint64_t begin = 0;
    if (number > 0) {
        FP_TRY(begin, m_ends.number(number - 1));
    }
    FP_TRY(const std::uint64_t end, m_ends.number(number));
    if (begin > end || end > m_bytes.rows())
        return malformed(place,
                         "ends at byte " + std::to_string(end) + ", begins at "
                             + std::to_string(begin) + " of " + std::to_string(m_bytes.rows()));
    if (end - begin > limits::TraceTextBytes)
        return Error{ErrorCode::Limit,
                     {},
                     place,
                     "may have at most " + std::to_string(limits::TraceTextBytes) + " bytes, has "
                         + std::to_string(end - begin)};
    FP_TRY(std::string text, m_bytes.text(begin, std::size_t(end - begin)));
    if (m_knownBytes > KnownStringBytes) {
        m_known.clear();
        m_knownBytes = 0;
    }
    constexpr std::size_t Entry = 64; // beside the text
    m_knownBytes += text.size() + Entry;
    m_known.emplace(number, text);
    return text;
}

} // namespace forkpoint
