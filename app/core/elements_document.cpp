// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/elements_document.h"

#include "app/core/content_partner.h"
#include "app/core/elements_search.h"
#include "app/core/shown_name.h"
#include "model/compare/element_difference.h"
#include "model/compare/element_plane.h"
#include "model/format.h"
#include "model/layout.h"
#include "model/pairing/assembled_source.h"
#include "model/text/json_values.h"
#include "model/text/printable.h"

namespace forkpoint {

namespace {

void writeScalar(JsonWriter &json, const Scalar &scalar)
{
    if (const auto *flag = std::get_if<bool>(&scalar))
        json.boolean(*flag);
    else if (const auto *i = std::get_if<std::int64_t>(&scalar))
        json.number(*i);
    else if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        json.number(*u);
    else if (const auto *d = std::get_if<double>(&scalar))
        json.number(*d);
    else
        json.null();
}

/// A number, or [real, imaginary]; opaque elements have bits only.
void writeElement(JsonWriter &json, std::string_view key, const ElementValue &value)
{
    if (std::holds_alternative<std::monostate>(value.real))
        return;
    json.key(key);
    if (std::holds_alternative<std::monostate>(value.imaginary)) {
        writeScalar(json, value.real);
        return;
    }
    json.beginArray();
    writeScalar(json, value.real);
    writeScalar(json, value.imaginary);
    json.endArray();
}

std::string scalarText(const Scalar &scalar, bool narrow)
{
    if (const auto *flag = std::get_if<bool>(&scalar))
        return *flag ? "True" : "False";
    if (const auto *i = std::get_if<std::int64_t>(&scalar))
        return std::to_string(*i);
    if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        return std::to_string(*u);
    if (const auto *d = std::get_if<double>(&scalar))
        return narrow ? shortest(float(*d)) : shortest(*d);
    return "-";
}

std::string elementText(const ElementValue &value, bool narrow)
{
    std::string text = scalarText(value.real, narrow);
    if (!std::holds_alternative<std::monostate>(value.imaginary))
        text = "(" + text + ", " + scalarText(value.imaginary, narrow) + ")";
    return text;
}

std::string coordinatesText(Index index, const Shape &shape)
{
    return Shape{coordinatesOf(index, shape)}.toString();
}

std::string stepsText(const FoundElements &found)
{
    if (!found.stepA && !found.stepB)
        return {};
    if (found.stepA == found.stepB || !found.stepA || !found.stepB)
        return ", step " + std::to_string(found.stepA ? *found.stepA : *found.stepB);
    return ", step " + std::to_string(*found.stepA) + " of A against "
        + std::to_string(*found.stepB) + " of B";
}

/// Read, at most, to find whom a tensor meets by its contents.
constexpr std::uint64_t ContentBytes = std::uint64_t(16) << 30;

std::string whyNoTensor(const Catalog &a, const Catalog &b, const std::string &name)
{
    const bool inA = isValueOf(a, name), inB = isValueOf(b, name);
    if (!inA && !inB)
        return "is on neither side";
    return std::string("is a value without elements")
        + (inA && inB ? ""
               : inA  ? " of A"
                      : " of B")
        + ": inspect shows it, and compare both sides of it";
}

/// By which rule a side's tensor was put together, whose elements the indices count; nullptr for one
/// of its files' own.
const std::string *assembledBy(const TensorSource &source, TensorIndex tensor)
{
    const auto *assembled = dynamic_cast<const AssembledSource *>(&source);
    return assembled ? assembled->assembledBy(tensor) : nullptr;
}

/// "; indices are of what is compared (A's: 688 elements between parameters are padding and left out)"
std::string assembledText(const TensorPairRef &pair)
{
    const std::string *a = assembledBy(*pair.sourceA, pair.a);
    const std::string *b = assembledBy(*pair.sourceB, pair.b);
    if (!a && !b)
        return {};
    return "; indices are of what is compared (" + (a ? "A's: " + *a : std::string())
        + (a && b ? "; " : "") + (b ? "B's: " + *b : std::string()) + ")";
}

} // namespace

Result<MeetingTensors> findPair(std::shared_ptr<const TensorSource> a,
                                std::shared_ptr<const TensorSource> b,
                                const PairingOptions &options, const std::string &name,
                                std::stop_token stop)
{
    const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), options);
    const auto &tensors = pairing.tensors;
    const ShownName shown = findShown(tensors.size(), name, [&](std::size_t i, const NameTest &is) {
        return is(tensors[i].name) || (tensors[i].a && is(a->catalog().tensors[*tensors[i].a].name))
            || (tensors[i].b && is(b->catalog().tensors[*tensors[i].b].name));
    });
    if (!shown.index)
        return Error{ErrorCode::NotFound,
                     {},
                     "tensor '" + name + "'",
                     shown.isAmbiguous ? std::string(SeveralShownSo)
                                       : whyNoTensor(a->catalog(), b->catalog(), name)};
    const TensorPair *const found = &tensors[*shown.index];
    const RankStates ranks(a->catalog(), b->catalog(), options.strict);
    std::string nothing = ranks.whyNothing(found->a ? &a->catalog().tensors[*found->a] : nullptr,
                                           found->b ? &b->catalog().tensors[*found->b] : nullptr);
    if (found->a && found->b)
        return MeetingTensors{{std::move(a), std::move(b), *found->a, *found->b},
                              std::move(nothing)};
    const std::string place = "tensor '" + name + "'";
    if (!nothing.empty())
        return Error{ErrorCode::Unsupported, {}, place, std::move(nothing)};
    if (!options.strict) {
        auto partner = partnerByContent(a, b, pairing, *shown.index, ranks, ContentBytes, stop);
        if (!partner)
            return Error(std::move(partner).error()).atPlace(place);
        if (*partner)
            return MeetingTensors{**std::move(partner), {}};
    }
    return Error{
        ErrorCode::Mismatch, {}, place, std::string("is only in ") + (found->a ? "A" : "B")};
}

std::string elementsJson(const FoundElements &found)
{
    const ElementPage &page = *found.page;
    const TensorRef &tensor = found.pair->tensorA();
    const Shape shape = elementShape(tensor.shape, tensor.elements);
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.elements/1");
    json.key("tensor").text(tensor.name);
    json.key("dtype").text(tensor.dtype.name);
    if (found.stepA)
        json.key("step_a").number(*found.stepA);
    if (found.stepB)
        json.key("step_b").number(*found.stepB);
    if (const std::string *by = assembledBy(*found.pair->sourceA, found.pair->a))
        json.key("assembled_a").text(*by);
    if (const std::string *by = assembledBy(*found.pair->sourceB, found.pair->b))
        json.key("assembled_b").text(*by);
    json.key("different_elements").number(page.differentElements);
    json.key("rows").beginArray();
    for (const ElementRow &row : page.rows) {
        json.beginObject();
        json.key("index").number(row.index);
        json.key("coordinates").beginArray();
        for (const Index coordinate : coordinatesOf(row.index, shape))
            json.number(coordinate);
        json.endArray();
        writeElement(json, "a", row.a);
        writeElement(json, "b", row.b);
        json.key("bits_a").text(bitsToHex(tensor.dtype, row.bitsA));
        json.key("bits_b").text(bitsToHex(tensor.dtype, row.bitsB));
        if (const auto digits = wideDifference(row))
            json.key("difference").text(*digits);
        else
            writeElement(json, "difference", row.difference);
        if (row.ulp)
            json.key("ulp").number(*row.ulp);
        if (row.places && row.places->a)
            writePlace(json, "place_a", *row.places->a);
        if (row.places && row.places->b)
            writePlace(json, "place_b", *row.places->b);
        json.endObject();
    }
    json.endArray();
    json.key("complete").boolean(page.complete);
    json.endObject();
    return json.take();
}

std::string elementsText(const FoundElements &found)
{
    const ElementPage &page = *found.page;
    const TensorRef &tensor = found.pair->tensorA();
    const Shape shape = elementShape(tensor.shape, tensor.elements);
    const bool narrow = tensor.dtype.kind == ElementKind::Float && tensor.dtype.bits <= 32;
    std::string text = printable(tensor.name) + " " + printable(tensor.dtype.name) + " "
        + tensor.shape.toString() + stepsText(found) + ": " + grouped(page.differentElements)
        + " of " + grouped(tensor.elements) + " elements differ"
        + printable(assembledText(*found.pair)) + "\n";
    const bool placed = !page.rows.empty() && page.rows.front().places;
    if (!page.rows.empty())
        text += std::string("index\tcoordinates\tA\tB\tB-A\tULP\tbits A\tbits B")
            + (placed ? "\tlies in\n" : "\n");
    for (const ElementRow &row : page.rows) {
        text += std::to_string(row.index) + "\t" + coordinatesText(row.index, shape) + "\t"
            + elementText(row.a, narrow) + "\t" + elementText(row.b, narrow) + "\t"
            + wideDifference(row).value_or(elementText(row.difference, false)) + "\t"
            + (row.ulp ? std::to_string(*row.ulp) : std::string("-")) + "\t"
            + bitsToHex(tensor.dtype, row.bitsA) + "\t" + bitsToHex(tensor.dtype, row.bitsB)
            + (row.places ? "\t" + printable(row.places->toString()) : std::string()) + "\n";
    }
    if (!page.complete)
        text += "... more follow: --offset and --count show them\n";
    return text;
}

} // namespace forkpoint
