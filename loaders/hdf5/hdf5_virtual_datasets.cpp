// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_virtual_datasets.h"

#include "loaders/hdf5/hdf5_virtual.h"
#include "loaders/limits.h"
#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Boxes that the sources of one dataset are cut into, and its sources.
constexpr std::size_t MostBoxes = 8192;
/// Extents of sources that are looked at for one tensor.
constexpr std::size_t MostPlacements = 1'000'000;
/// Virtual datasets that show virtual datasets.
constexpr int MostDepth = 16;
/// Elements that are told as values, and bytes of their text: as of other datasets.
constexpr std::uint64_t MostTexts = 200'000, MostTextBytes = std::uint64_t(2) << 20;

Error bad(ErrorCode code, std::string text)
{
    return {code, {}, {}, std::move(text)};
}

std::string nameOf(const Hdf5Mapping &mapping)
{
    return "'" + mapping.dataset + "' of '" + mapping.file + "'";
}

Error ofSource(const Hdf5VirtualDatasets::Shown &shown, const Error &error)
{
    return bad(error.code, "shows " + shown.name + ", which " + error.text);
}

/// Numbers of one kind in either byte order: an extent says its own.
bool isSameType(Hdf5Field own, const Hdf5Field &source)
{
    if (own.scalar.kind != Hdf5Scalar::Kind::Opaque)
        own.scalar.bigEndian = source.scalar.bigEndian;
    return own.scalar == source.scalar
        && std::equal(own.loops.begin(), own.loops.end(), source.loops.begin(), source.loops.end(),
                      [](const auto &a, const auto &b) { return a.count == b.count; });
}

/// The dimensions of array types follow those of the dataset, whole on both sides.
BoxPair withArrays(BoxPair pair, const Hdf5Field &field)
{
    for (Box *const box : {&pair.own, &pair.source}) {
        for (const Hdf5Field::Loop &loop : field.loops) {
            box->origin.push_back(0);
            box->size.push_back(loop.count);
        }
    }
    return pair;
}

/// Row-major numbers of the elements of a box, in their order.
template <class Each>
void forElements(const Box &box, const Shape &shape, Each each)
{
    const std::vector<std::int64_t> strides = shape.rowMajorStrides();
    std::vector<Index> at(box.size.size(), 0);
    const Index count = Shape{box.size}.count().value_or(0);
    for (Index i = 0; i < count; ++i) {
        Index number = 0;
        for (std::size_t d = 0; d < at.size(); ++d)
            number += (box.origin[d] + at[d]) * Index(strides[d]);
        each(number);
        for (std::size_t d = at.size(); d-- > 0 && ++at[d] == box.size[d];)
            at[d] = 0;
    }
}

/// Of the elements of a dataset that are told as values, or of such a member; empty where it has none.
std::string typeOf(const Hdf5Dataset &dataset, const std::vector<std::string> &member)
{
    if (member.empty())
        return dataset.valueType;
    const bool isText =
        std::any_of(dataset.fields.begin(), dataset.fields.end(),
                    [&](const Hdf5Field &field) { return field.path == member && field.isText(); });
    return isText ? Hdf5Scalar::VariableText : std::string();
}

/// Where a selection that does not grow along a dimension ends there.
std::uint64_t endOfLimited(const Hdf5Selection &selection, std::size_t dimension)
{
    std::uint64_t end = 0;
    if (selection.kind == Hdf5Selection::Kind::Grid && dimension < selection.grid.size()) {
        const Hdf5Selection::Steps &steps = selection.grid[dimension];
        if (steps.count > 0)
            end = steps.start + (steps.count - 1) * steps.stride + steps.block;
    }
    for (const Hdf5Selection::Block &block : selection.blocks) {
        if (dimension < block.end.size())
            end = std::max(end, block.end[dimension]);
    }
    return end;
}

} // namespace

/// A selection of a source and where it is shown; of growing ones so many elements.
struct Hdf5VirtualDatasets::Part
{
    const Hdf5Mapping *mapping;
    Hdf5Sources::Found from;
    Hdf5Selection own;
    std::uint64_t elements = 0;
    std::uint64_t reach = 0; ///< where what grows ends
};

/// While this lives, a virtual dataset within a virtual one is looked at.
class Hdf5VirtualDatasets::Nested
{
public:
    explicit Nested(int &depth) : m_depth(++depth) {}
    Nested(const Nested &) = delete;
    Nested &operator=(const Nested &) = delete;
    ~Nested() { --m_depth; }

private:
    int &m_depth;
};

Result<const Hdf5VirtualDatasets::Resolved *>
Hdf5VirtualDatasets::resolve(const Hdf5Dataset &dataset, const Hdf5Sources::File &file)
{
    auto known = m_resolved.find(&dataset);
    if (known == m_resolved.end()) {
        known = m_resolved.emplace(&dataset, bad(ErrorCode::Malformed, "shows itself")).first;
        const Nested nested(m_depth);
        known->second = m_depth > MostDepth
            ? bad(ErrorCode::Limit,
                  "shows virtual datasets more than " + std::to_string(MostDepth) + " deep")
            : make(dataset, file);
    }
    if (!known->second.ok())
        return known->second.error();
    return &known->second.value();
}

Result<Hdf5VirtualDatasets::Resolved> Hdf5VirtualDatasets::make(const Hdf5Dataset &dataset,
                                                                const Hdf5Sources::File &file)
{
    Resolved resolved{dataset.dims, {}, {}};
    std::vector<Part> parts;
    std::vector<std::optional<std::uint64_t>> reach(dataset.dims.size());
    for (const Hdf5Mapping &mapping : dataset.mappings) {
        const auto growing = growingDimension(mapping.own);
        if (growing && *growing >= reach.size())
            return bad(ErrorCode::Malformed, "maps elements of another rank than its own");
        FP_TRY(std::vector<Part> some, partsOf(mapping, file, resolved));
        for (Part &part : some) {
            if (growing)
                reach[*growing] = std::max(reach[*growing].value_or(0), part.reach);
            parts.push_back(std::move(part));
        }
        if (growing && !reach[*growing])
            reach[*growing] = 0;
        if (parts.size() > MostBoxes)
            return bad(ErrorCode::Limit,
                       "may have at most " + std::to_string(MostBoxes) + " sources");
    }
    for (std::size_t i = 0; i < reach.size(); ++i) {
        if (!reach[i])
            continue;
        resolved.dims[i] = *reach[i];
        for (const Hdf5Mapping &mapping : dataset.mappings)
            resolved.dims[i] = std::max(resolved.dims[i], endOfLimited(mapping.own, i));
    }
    const Shape shape{resolved.dims};
    if (!shape.count())
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    std::size_t boxes = 0;
    for (const Part &part : parts) {
        if (!part.from.isThere())
            continue;
        FP_TRY(const Shape source, shapeOfSource(part.from));
        auto pairs =
            matchSelections({part.own, shape, part.elements},
                            {part.mapping->source, source, part.elements}, MostBoxes - boxes);
        if (!pairs.ok())
            return bad(pairs.error().code,
                       "shows " + nameOf(*part.mapping) + ": " + pairs.error().text);
        boxes += pairs->size();
        resolved.shown.push_back({nameOf(*part.mapping), part.from, std::move(*pairs)});
    }
    return resolved;
}

/// One, or one for each of numbered sources.
Result<std::vector<Hdf5VirtualDatasets::Part>>
Hdf5VirtualDatasets::partsOf(const Hdf5Mapping &mapping, const Hdf5Sources::File &file,
                             Resolved &resolved)
{
    const auto growing = growingDimension(mapping.own);
    const bool isListed = growing && !growingDimension(mapping.source);
    const auto find = [&](std::uint64_t number) -> Result<Hdf5Sources::Found> {
        const auto name = numberedName(mapping.file, number);
        const auto dataset = numberedName(mapping.dataset, number);
        if (!name || !dataset)
            return bad(ErrorCode::Malformed,
                       "has a name that is no name of sources: " + nameOf(mapping));
        return m_sources.find(file, *name, *dataset);
    };
    if (isListed != (isNumbered(mapping.file) || isNumbered(mapping.dataset)))
        return bad(ErrorCode::Malformed,
                   "shows " + nameOf(mapping)
                       + ", which should be numbered where it alone does not grow");
    std::vector<Part> parts;
    if (!isListed) {
        FP_TRY(const Hdf5Sources::Found from, find(0));
        if (!from.isThere())
            resolved.missing.push_back(nameOf(mapping));
        if (growing) {
            FP_TRY(Part part, growingPart(mapping, from));
            return std::vector<Part>{std::move(part)};
        }
        return std::vector<Part>{{&mapping, from, mapping.own}};
    }
    const Hdf5Selection::Steps &steps = mapping.own.grid[*growing];
    for (std::uint64_t number = 0; number <= MostBoxes; ++number) {
        FP_TRY(const Hdf5Sources::Found from, find(number));
        if (!from.isThere())
            break;
        const auto offset = checkedMul(number, steps.stride);
        const auto begin = offset ? checkedAdd(*offset, steps.start) : std::nullopt;
        const auto end = begin ? checkedAdd(*begin, steps.block) : std::nullopt;
        if (!end)
            return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
        Part part{&mapping, from, mapping.own, 0, *end};
        part.own.grid[*growing] = {*begin, 1, 1, steps.block};
        parts.push_back(std::move(part));
    }
    return parts;
}

Result<Hdf5VirtualDatasets::Part> Hdf5VirtualDatasets::growingPart(const Hdf5Mapping &mapping,
                                                                   Hdf5Sources::Found from)
{
    Part part{&mapping, from, mapping.own};
    if (!from.isThere())
        return part;
    const std::size_t own = *growingDimension(mapping.own);
    const std::size_t other = *growingDimension(mapping.source);
    FP_TRY(const Shape shape, shapeOfSource(from));
    if (other >= shape.rank())
        return bad(ErrorCode::Malformed, "shows " + nameOf(mapping) + " of another rank");
    const auto elements = elementsWithin(mapping.source.grid[other], shape.dims[other]);
    const auto end = elements ? endOf(mapping.own.grid[own], *elements) : std::nullopt;
    if (!end)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    part.elements = *elements;
    part.reach = *end;
    return part;
}

Result<Shape> Hdf5VirtualDatasets::shapeOfSource(const Hdf5Sources::Found &from)
{
    if (from.dataset == nullptr)
        return Shape{from.value->elements->dims};
    if (from.dataset->layout != Hdf5Dataset::Layout::Virtual)
        return Shape{from.dataset->dims};
    FP_TRY(const Resolved *const nested, resolve(*from.dataset, *from.file));
    // libhdf5 shows of it what was there when its own dataset was made: nobody knows what is meant.
    if (nested->dims != from.dataset->dims)
        return bad(ErrorCode::Unsupported, "shows a virtual dataset that has grown");
    return Shape{nested->dims};
}

/// What its sources show of a field, and the fill value everywhere else.
Result<std::vector<Extent>> Hdf5VirtualDatasets::extents(const Hdf5Dataset &dataset,
                                                         const Hdf5Sources::File &file,
                                                         std::size_t number)
{
    const Hdf5Field &field = dataset.fields[number];
    FP_TRY(const Resolved *const resolved, resolve(dataset, file));
    const Shape shape = shapeOf(resolved->dims, field);
    const auto count = shape.count();
    const auto needed = count ? checkedMul(*count, field.scalar.size) : std::nullopt;
    if (!needed)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    Mosaic mosaic(shape);
    std::size_t placements = 0;
    for (std::size_t i = resolved->shown.size(); i-- > 0;) {
        const Shown &shown = resolved->shown[i];
        const auto found = sourceExtents(shown.from, field);
        if (!found.ok())
            return ofSource(shown, found.error());
        const std::vector<Extent> *const from = *found;
        placements += shown.pairs.size() * from->size();
        if (placements > MostPlacements)
            return bad(ErrorCode::Limit, "falls into too many pieces");
        for (const BoxPair &pair : shown.pairs) {
            for (const Extent &extent : *from) {
                if (const auto part = placed(extent, withArrays(pair, field)))
                    FP_CHECK(mosaic.addBelow(*part));
            }
        }
    }
    const std::vector<Box> open = mosaic.open();
    std::vector<Extent> extents = mosaic.take();
    std::uint64_t shown = 0;
    for (const Extent &extent : extents)
        shown += Shape{extent.box.size}.count().value_or(0) * field.scalar.size;
    if (*needed > limits::SparseBytes && shown < *needed / limits::SparseRatio)
        return bad(ErrorCode::Limit,
                   "shows less than a thousandth of its " + std::to_string(*needed) + " bytes");
    const auto isSet = [](std::byte each) { return each != std::byte(0); };
    const bool isTold = dataset.fill.size() >= field.offset + field.scalar.size
        && (field.loops.empty() || std::none_of(dataset.fill.begin(), dataset.fill.end(), isSet));
    if (!open.empty() && !isTold)
        return bad(ErrorCode::Unsupported, "has a fill value that is not known or an array");
    for (const Box &box : open) {
        Extent extent;
        extent.fills = Extent::Fills::FillValue;
        extent.box = box;
        extent.fill.assign(dataset.fill.begin() + std::ptrdiff_t(field.offset),
                           dataset.fill.begin() + std::ptrdiff_t(field.offset + field.scalar.size));
        if (field.scalar.bigEndian)
            std::reverse(extent.fill.begin(), extent.fill.end());
        extents.push_back(std::move(extent));
    }
    return extents;
}

/// Of the member of a source that has the same name and type.
Result<const std::vector<Extent> *>
Hdf5VirtualDatasets::sourceExtents(const Hdf5Sources::Found &from, const Hdf5Field &field)
{
    const Error otherType = bad(ErrorCode::Unsupported, "is of another type");
    if (from.dataset == nullptr || !from.dataset->valueType.empty())
        return otherType;
    const Hdf5Dataset &source = *from.dataset;
    const auto own = std::find_if(source.fields.begin(), source.fields.end(),
                                  [&](const Hdf5Field &each) { return each.path == field.path; });
    if (own == source.fields.end() || !isSameType(field, *own))
        return otherType;
    const auto number = std::size_t(own - source.fields.begin());
    if (const auto known = m_extents.find({&source, number}); known != m_extents.end())
        return &known->second;
    std::vector<Extent> all;
    if (source.layout == Hdf5Dataset::Layout::Virtual) {
        FP_TRY(all, extents(source, *from.file, number));
    } else {
        FP_TRY(const Hdf5Bytes::Stored stored, Hdf5Bytes::storedBytes(source, from.file->source));
        FP_TRY(Extent whole, m_bytes.extentOf(source, *own, shapeOf(source.dims, *own), stored));
        all = {std::move(whole)};
    }
    return &m_extents.emplace(std::pair(&source, number), std::move(all)).first->second;
}

Result<std::vector<std::string>> Hdf5VirtualDatasets::texts(const Hdf5Dataset &dataset,
                                                            const Hdf5Sources::File &file,
                                                            const std::vector<std::string> &member)
{
    FP_TRY(const Resolved *const resolved, resolve(dataset, file));
    const Shape shape{resolved->dims};
    const std::uint64_t count = *shape.count();
    if (count > MostTexts)
        return bad(ErrorCode::Limit,
                   "holds " + std::to_string(count)
                       + " elements of text or other values, too many to list");
    std::vector<std::optional<std::string>> shown(count, dataset.fillText);
    for (const Shown &part : resolved->shown) {
        const auto found = sourceTexts(part.from, file, typeOf(dataset, member), member);
        if (!found.ok())
            return ofSource(part, found.error());
        const std::vector<std::string> *const from = *found;
        FP_TRY(const Shape source, shapeOfSource(part.from));
        for (const BoxPair &pair : part.pairs) {
            std::vector<Index> places;
            forElements(pair.source, source, [&](Index at) { places.push_back(at); });
            auto place = places.begin();
            forElements(pair.own, shape, [&](Index at) {
                if (place != places.end() && *place < from->size())
                    shown[at] = (*from)[*place++];
            });
        }
    }
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (std::optional<std::string> &text : shown) {
        if (!text)
            return bad(ErrorCode::Unsupported,
                       "has a fill value of text or lists, which is not read");
        bytes += text->size();
        if (bytes > MostTextBytes)
            return bad(ErrorCode::Limit, "holds more text than is listed");
        texts.push_back(std::move(*text));
    }
    return texts;
}

/// References say where something lies in their own file: elsewhere they would lead astray.
Result<const std::vector<std::string> *>
Hdf5VirtualDatasets::sourceTexts(const Hdf5Sources::Found &from, const Hdf5Sources::File &file,
                                 const std::string &type, const std::vector<std::string> &member)
{
    const Error otherType = bad(ErrorCode::Unsupported, "is of another type");
    const Hdf5Dataset *const source = from.dataset;
    if (type.starts_with(Hdf5Value::Reference) && from.file != &file)
        return bad(ErrorCode::Unsupported, "has references, which lead into its own file");
    if (source != nullptr && source->layout == Hdf5Dataset::Layout::Virtual) {
        if (typeOf(*source, member) != type)
            return otherType;
        auto known = m_texts.find({source, member});
        if (known == m_texts.end()) {
            FP_TRY(auto all, texts(*source, *from.file, member));
            known = m_texts.emplace(std::pair(source, member), std::move(all)).first;
        }
        return &known->second;
    }
    const Hdf5Value *const value =
        source != nullptr && !member.empty() ? m_sources.member(from, member) : from.value;
    if (value == nullptr || value->elements->type != type)
        return otherType;
    const auto *const texts = std::get_if<std::vector<std::string>>(&value->data);
    if (texts == nullptr)
        return bad(ErrorCode::Unsupported, "has elements without a plain text");
    return texts;
}

} // namespace forkpoint
