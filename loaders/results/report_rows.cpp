// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/report_rows.h"

#include "loaders/limits.h"
#include "model/compare/row_stats.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace forkpoint {

namespace {

StateClass classOf(const JsonFields &fields)
{
    const auto stateClass = stateClassByName(fields.text("class"));
    if (!stateClass)
        fields.problem("class", "is not a class of this version");
    return stateClass.value_or(StateClass::Unknown);
}

ItemStatus statusOf(const JsonFields &fields)
{
    return fields.wordOf("status",
                         {ItemStatus::NotCompared, ItemStatus::Identical, ItemStatus::Different,
                          ItemStatus::OnlyInA, ItemStatus::OnlyInB});
}

Shape shapeOf(const JsonFields &fields, std::string_view key)
{
    Shape shape;
    for (const JsonValue &value : fields.arrayIf(key)) {
        const auto dim = value.unsignedInteger();
        if (!dim || shape.rank() == limits::Rank) {
            fields.problem(key,
                           "expected at most " + std::to_string(limits::Rank)
                               + " whole numbers from 0 on");
            return {};
        }
        shape.dims.push_back(*dim);
    }
    return shape;
}

/// Types that the table lacks are named by the file: opaque, of a width that a report does not say.
DType dtypeOf(const JsonFields &fields, std::string_view key)
{
    const std::string name = fields.text(key);
    if (const auto known = dtypeByName(name))
        return *known;
    return namedOpaqueDType(name, 1);
}

/// Logical bytes of one side; nothing that a shape of a hostile report could overflow.
std::uint64_t bytesOf(const DType &dtype, const Shape &shape)
{
    const auto positions = shape.count();
    const std::uint64_t bits = dtype.positionBits();
    if (!positions || bits == 0 || *positions > (~std::uint64_t(0) >> 1) / bits)
        return 0;
    return (*positions * bits + 7) / 8;
}

PowerHistogram histogramOf(const JsonFields &fields)
{
    PowerHistogram histogram;
    for (const JsonValue &member : fields.members()) {
        const auto count = member.unsignedInteger();
        const bool zero = member.key() == "zero";
        const auto power = smallNumber(member.key());
        const bool known = zero
            || (power && *power >= PowerHistogram::Lowest && *power <= PowerHistogram::Highest);
        if (!count || !known) {
            fields.problem(member.key(), "expected \"zero\" or a power of two, and a count");
            return {};
        }
        if (zero)
            histogram.addZeros(*count);
        else
            histogram.add(*power, *count);
    }
    return histogram;
}

void readMaxima(const JsonFields &fields, const DType &dtype, DiffStats &stats)
{
    if (const auto index = fields.countIf("max_abs_index")) {
        stats.maxAbsIndex = *index;
        if (dtype.isFloating()) {
            stats.maxAbs = fields.realIf("max_abs").value_or(0);
        } else {
            stats.maxAbsInteger = fields.count("max_abs");
            stats.maxAbs = double(stats.maxAbsInteger);
        }
    }
    if (const auto index = fields.countIf("max_ulp_index")) {
        stats.maxUlpIndex = *index;
        stats.maxUlp = fields.count("max_ulp");
    }
}

DiffStats statsOf(const JsonFields &fields, const TensorRow &row)
{
    DiffStats stats;
    const auto number = [&](std::string_view key) { return fields.countIf(key).value_or(0); };
    stats.elements = row.elements;
    stats.differentElements = fields.count("different_elements");
    stats.finitePairs = number("finite_pairs");
    stats.firstIndex = fields.countIf("first_index").value_or(NoIndex);
    stats.lastIndex = fields.countIf("last_index").value_or(NoIndex);
    readMaxima(fields, measuredType(row), stats);
    stats.nanA = number("nan_a");
    stats.nanB = number("nan_b");
    stats.infA = number("inf_a");
    stats.infB = number("inf_b");
    stats.nanPayloadOnly = number("nan_payload_only");
    stats.signedZeroOnly = number("signed_zero_only");
    stats.signFlips = number("sign_flips");
    stats.recorded =
        DerivedStats{fields.realIf("mean_abs"), fields.realIf("rms"), fields.realIf("rms_a"),
                     fields.realIf("rms_b"), fields.realIf("cosine")};
    if (stats.differentElements > row.elements)
        fields.problem("different_elements", "expected at most as many as there are elements");
    if (row.valueEqual && !*row.valueEqual)
        stats.valueDifferent = stats.differentElements;
    stats.magnitudes = fields.has("histogram");
    if (const auto histogram = fields.objectIf("histogram")) {
        stats.absA = histogramOf(histogram->object("abs_a"));
        stats.absB = histogramOf(histogram->object("abs_b"));
        stats.absDifference = histogramOf(histogram->object("abs_difference"));
        if (const auto ulp = histogram->objectIf("ulp"))
            stats.ulp = histogramOf(*ulp);
    }
    return stats;
}

std::optional<TensorFingerprint> fingerprintOf(const JsonFields &fields, std::string_view key)
{
    if (!fields.has(key))
        return std::nullopt;
    const auto digest = Digest128::fromHex(fields.text(key));
    if (!digest)
        fields.problem(key, "expected 32 hexadecimal digits");
    return TensorFingerprint{{}, digest.value_or(Digest128{})};
}

std::optional<ElementPlace> placeOf(const JsonFields &fields, std::string_view key)
{
    const auto object = fields.objectIf(key);
    if (!object)
        return std::nullopt;
    ElementPlace place;
    if (const auto owner = object->objectIf("owner")) {
        for (const JsonValue &member : owner->members()) {
            const auto number = integerOf(member);
            if (!number)
                owner->problem(member.key(), "expected the number of a rank");
            place.owner.axes.emplace_back(member.key(), number.value_or(0));
        }
    }
    place.file = object->text("file");
    place.offset = object->count("offset");
    return place;
}

std::optional<Value> numberValue(const JsonFields &fields, std::string_view key, ValueType type)
{
    const auto value = fields.find(key);
    if (!value)
        return std::nullopt;
    if (type == ValueType::Float) {
        const auto real = realOf(*value);
        return real ? std::optional(Value::real(*real)) : std::nullopt;
    }
    if (const auto negative = value->negative())
        return Value::integer(*negative);
    if (const auto number = value->unsignedInteger())
        return Value::unsignedInteger(*number);
    const auto digits = value->text(); // beyond 64 bits
    const bool whole = digits && !digits->empty()
        && digits->find_first_not_of("0123456789", digits->starts_with('-') ? 1 : 0)
            == std::string_view::npos;
    return whole ? std::optional(Value::bigInteger(std::string(*digits))) : std::nullopt;
}

std::optional<Value> valueOf(const JsonFields &fields, const std::string &key)
{
    const std::string typeKey = "type_" + key;
    if (!fields.has(typeKey))
        return std::nullopt;
    const ValueType type =
        fields.wordOf(typeKey,
                      {ValueType::None, ValueType::Bool, ValueType::Int, ValueType::Float,
                       ValueType::Text, ValueType::Bytes, ValueType::Numbers, ValueType::Opaque,
                       ValueType::Empty, ValueType::Link});
    Value result;
    result.type = type;
    switch (type) {
    case ValueType::None: break;
    case ValueType::Bool: result.data = fields.flagIf(key).value_or(false); break;
    case ValueType::Int:
    case ValueType::Float: {
        const auto number = numberValue(fields, key, type);
        if (!number)
            fields.problem(key, "expected a number");
        result = number.value_or(Value::real(0));
        break;
    }
    case ValueType::Bytes:
    case ValueType::Numbers: result.count = fields.count("count_" + key); break;
    case ValueType::Text:
    case ValueType::Opaque:
    case ValueType::Empty:
    case ValueType::Link: result.data = fields.text(key); break;
    }
    result.digest = fields.textOr("sha256_" + key);
    return result;
}

/// Numbers the present sides of rows in the order of the side's own names.
template <class Rows, class Name, class Position>
void numberSide(Rows &rows, Name name, Position position)
{
    std::vector<std::pair<std::string_view, std::size_t>> order;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (position(rows[i]))
            order.emplace_back(name(rows[i]), i);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i)
        position(rows[order[i].second]) = i;
}

/// What a row says of one side; `suffix` is "_a" or "_b". The bytes are of both sides together.
void readSide(const JsonFields &fields, const std::string &suffix, TensorRow &row,
              std::optional<TensorIndex> &index, std::string &name, DType &dtype, Shape &shape,
              bool &layoutKnown)
{
    if (!fields.has("name" + suffix))
        return;
    index = 0;
    name = fields.text("name" + suffix);
    layoutKnown = fields.has("dtype" + suffix);
    if (!layoutKnown)
        return;
    dtype = dtypeOf(fields, "dtype" + suffix);
    shape = shapeOf(fields, "shape" + suffix);
    row.bytes += bytesOf(dtype, shape);
}

} // namespace

TensorRow tensorRowOf(const JsonFields &fields, bool &histograms)
{
    TensorRow row;
    row.name = fields.text("name");
    row.stateClass = classOf(fields);
    row.status = statusOf(fields);
    row.reason = fields.textOr("reason");
    row.pairedReason = fields.textOr("paired_reason");
    if (fields.has("paired_by"))
        row.pairedBy = fields.wordOf("paired_by",
                                     {PairedBy::Exact, PairedBy::Name, PairedBy::Rename,
                                      PairedBy::Affix, PairedBy::Table, PairedBy::Parameter,
                                      PairedBy::Assembled, PairedBy::Content, PairedBy::OnlyOne});
    row.parameter = fields.textOr("parameter");
    row.ambiguous = fields.flagIf("ambiguous").value_or(false);
    row.notComparable = fields.flagIf("not_comparable").value_or(false);
    readSide(fields, "_a", row, row.a, row.nameA, row.dtypeA, row.shapeA, row.layoutKnownA);
    readSide(fields, "_b", row, row.b, row.nameB, row.dtypeB, row.shapeB, row.layoutKnownB);
    const bool onA = row.status != ItemStatus::OnlyInB, onB = row.status != ItemStatus::OnlyInA;
    if (row.status != ItemStatus::NotCompared
        && (row.a.has_value() != onA || row.b.has_value() != onB))
        fields.problem("status", "expected the sides that the row has names of");
    row.elements = fields.count("elements");
    row.valueEqual = fields.flagIf("value_equal");
    row.comparedAs = fields.textOr("compared_as");
    row.withinTolerance = fields.flagIf("within_tolerance").value_or(false);
    row.stoppedEarly = fields.flagIf("stopped_early").value_or(false);
    row.partlyRead = fields.flagIf("partly_read").value_or(false);
    // An identical pair that was not measured has this one number all the same.
    if (fields.has("different_elements")
        && (row.status != ItemStatus::Identical || fields.has("finite_pairs")
            || fields.has("histogram")))
        row.stats = std::make_shared<const DiffStats>(statsOf(fields, row));
    histograms |= fields.has("histogram");
    ElementPlaces places{placeOf(fields, "first_place_a"), placeOf(fields, "first_place_b")};
    if (places.a || places.b)
        row.firstPlaces = std::make_shared<const ElementPlaces>(std::move(places));
    row.fingerprintA = fingerprintOf(fields, "fingerprint_a");
    row.fingerprintB = fingerprintOf(fields, "fingerprint_b");
    return row;
}

ValueRow valueRowOf(const JsonFields &fields)
{
    ValueRow row;
    row.name = fields.text("name");
    row.stateClass = classOf(fields);
    row.status = statusOf(fields);
    row.reason = fields.textOr("reason");
    row.ambiguous = fields.flagIf("ambiguous").value_or(false);
    row.notComparable = fields.flagIf("not_comparable").value_or(false);
    row.valueA = valueOf(fields, "a");
    row.valueB = valueOf(fields, "b");
    if (row.valueA)
        row.a = 0;
    if (row.valueB)
        row.b = 0;
    row.withinTolerance = fields.flagIf("within_tolerance").value_or(false);
    return row;
}

StatusCounts countsOf(const JsonFields &fields)
{
    return {fields.count("identical"), fields.count("different"), fields.count("only_in_a"),
            fields.count("only_in_b"), fields.count("not_compared")};
}

void numberPositions(CheckpointComparison &comparison)
{
    numberSide(
        comparison.tensors, [](const TensorRow &row) { return std::string_view(row.nameA); },
        [](TensorRow & row) -> auto & { return row.a; });
    numberSide(
        comparison.tensors, [](const TensorRow &row) { return std::string_view(row.nameB); },
        [](TensorRow & row) -> auto & { return row.b; });
    numberSide(
        comparison.values, [](const ValueRow &row) { return std::string_view(row.name); },
        [](ValueRow & row) -> auto & { return row.a; });
    numberSide(
        comparison.values, [](const ValueRow &row) { return std::string_view(row.name); },
        [](ValueRow & row) -> auto & { return row.b; });
}

std::optional<int> smallNumber(std::string_view text)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || text.size() > 5 || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace forkpoint
