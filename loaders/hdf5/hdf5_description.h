// SPDX-License-Identifier: GPL-3.0-or-later
// What the worker found in an HDF5 file, in plain numbers and text: no type of libhdf5 leaves the
// worker's process.
#pragma once

#include "loaders/hdf5/hdf5_selection.h"
#include "model/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace forkpoint {

/// One number, or bits without a numeric meaning, as it is stored.
struct Hdf5Scalar
{
    enum class Kind : std::uint8_t { Signed, Unsigned, Bool, Float, Complex, Opaque };
    Kind kind = Kind::Opaque;
    std::uint32_t size = 0; ///< bytes; of both parts of a complex number
    bool bigEndian = false;
    std::uint32_t precision = 0, bitOffset = 0; ///< significant bits, and where they begin
    // Of a Float and of each part of a Complex: bit positions count from the lowest.
    std::uint32_t signPosition = 0, exponentPosition = 0, exponentBits = 0;
    std::uint32_t mantissaPosition = 0, mantissaBits = 0;
    std::uint64_t bias = 0;
    bool impliedBit = true; ///< the usual normalisation: the leading one is not stored
    std::string name;       ///< of an Opaque: "|S8", a tag, what it is
    static constexpr const char *VariableText = "variable-length text"; ///< a name of an Opaque

    bool operator==(const Hdf5Scalar &) const = default;
};

/// A scalar member of the elements of a dataset; a plain dataset has one, without a path.
struct Hdf5Field
{
    struct Loop ///< a dimension of an array type: outermost first
    {
        std::uint64_t count = 0, stride = 0; ///< stride in bytes
        bool operator==(const Loop &) const = default;
    };
    std::vector<std::string> path; ///< names of the members that lead to it
    std::uint64_t offset = 0;      ///< bytes from the begin of the element
    std::vector<Loop> loops;
    Hdf5Scalar scalar;

    /// Text of any length is told as values, whatever else the elements have.
    bool isText() const
    {
        return scalar.kind == Hdf5Scalar::Kind::Opaque && scalar.name == Hdf5Scalar::VariableText
            && loops.empty();
    }
    bool operator==(const Hdf5Field &) const = default;
};

struct Hdf5Filter
{
    std::uint32_t id = 0;
    std::vector<std::uint32_t> parameters;

    bool operator==(const Hdf5Filter &) const = default;
};

struct Hdf5Chunk
{
    std::uint64_t number = 0; ///< row-major in the grid of chunks
    std::uint64_t offset = 0; ///< byte of the file
    std::uint32_t size = 0;   ///< bytes stored
    std::uint32_t mask = 0;   ///< bit i: filter i was skipped

    bool operator==(const Hdf5Chunk &) const = default;
};

/// Elements of a virtual dataset, and those of another one that it shows there, in their order. Where both grow,
/// they go on as far as the source does; where the virtual one alone does, it shows numbered sources.
struct Hdf5Mapping
{
    std::string file; ///< relative to the folder of the virtual one; ".": the same file
    std::string
        dataset; ///< "/group/name"; in both names "%b" is the number of a source, "%%" a sign
    Hdf5Selection own, source;

    bool operator==(const Hdf5Mapping &) const = default;
};

struct Hdf5Dataset
{
    enum class Layout : std::uint8_t {
        Unallocated, ///< every element has the fill value
        Contiguous,
        Compact, ///< the bytes came with the description
        Chunked,
        Unreadable, ///< `problem` says why its bytes are not read
        Virtual,    ///< `mappings` say where the elements are; the others have the fill value
    };
    std::vector<std::string> path;
    std::uint64_t object = 0; ///< address of the object: equal for hard links to one dataset
    std::vector<std::uint64_t> dims;
    std::uint64_t elementSize = 0;
    std::vector<Hdf5Field> fields;
    std::string declaredType;    ///< text of an attribute `dtype`, as Keras leaves it
    std::vector<std::byte> fill; ///< one element as stored; empty where it is not known
    // Of a virtual one that shows text, lists or references; others of these are told as values.
    std::string valueType;               ///< as Hdf5Value::Elements::type; empty: it shows numbers
    std::optional<std::string> fillText; ///< of what no source shows, of members that are text too

    Layout layout = Layout::Unallocated;
    std::uint64_t offset = 0, length = 0; ///< Contiguous
    std::vector<std::byte> bytes;         ///< Compact
    std::vector<std::uint64_t> chunkDims; ///< Chunked
    std::vector<Hdf5Filter> filters;      ///< in the order in which the writer applied them
    std::vector<Hdf5Chunk> chunks;     ///< by number; those that are not there have the fill value
    std::vector<Hdf5Mapping> mappings; ///< Virtual
    ErrorCode problemCode = ErrorCode::Unsupported;
    std::string problem;

    bool operator==(const Hdf5Dataset &) const = default;
};

/// An attribute, a string, a reference, a link: what is no tensor.
struct Hdf5Value
{
    struct Nothing ///< a null dataspace
    {
        bool operator==(const Nothing &) const = default;
    };
    struct Link
    {
        std::string target;
        bool operator==(const Link &) const = default;
    };
    struct Opaque ///< elements without a plain value
    {
        std::string text;             ///< what they are
        std::vector<std::byte> bytes; ///< what tells two of them apart
        bool operator==(const Opaque &) const = default;
    };
    /// What virtual datasets need to know to show a part of them.
    struct Elements
    {
        std::vector<std::uint64_t> dims;
        std::string type; ///< equal for equal types
        bool operator==(const Elements &) const = default;
    };
    static constexpr const char *Reference = "reference"; ///< begin of the types of references

    std::vector<std::string> path;
    std::optional<Elements> elements; ///< of a dataset, or of members of its elements
    bool isList = false; ///< of rank 1 and above: each element is at its position; rows follow rows
    /// All elements; one where it is no list.
    std::variant<Nothing, Link, Opaque, std::vector<std::string>, std::vector<std::int64_t>,
                 std::vector<std::uint64_t>, std::vector<double>, std::vector<bool>>
        data;

    bool operator==(const Hdf5Value &) const = default;
};

/// What was damaged, refused or left out.
struct Hdf5Problem
{
    Severity severity = Severity::Error;
    ErrorCode code = ErrorCode::Malformed;
    std::vector<std::string> path;
    bool isDataset = false; ///< the name is a dataset's, of which nothing more is known
    bool isPartial = false; ///< things may exist that are not listed
    std::string text;

    bool operator==(const Hdf5Problem &) const = default;
};

struct Hdf5Contents
{
    std::vector<Hdf5Dataset> datasets;
    std::vector<Hdf5Value> values;
    std::vector<Hdf5Problem> problems;
};

} // namespace forkpoint
