// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Every cap on what a file may ask of us, each with its reason. Over a cap is ErrorCode::Limit.
namespace forkpoint::limits {

/// First bytes handed to probes: enough for every magic, a tar header and an HDF5 user block start.
constexpr std::size_t ProbeBytes = 4096;

/// safetensors: the reference refuses more than this, on reading and on writing.
constexpr std::uint64_t SafetensorsHeaderBytes = 100'000'000;

/// JSON documents (index files, metadata): a 10^6-tensor index is about 100 MB.
constexpr std::uint64_t JsonBytes = 256u << 20;
/// Nesting of JSON. Real ones stay below 10; the parser's own stack is iterative.
constexpr std::size_t JsonDepth = 64;

/// Dimensions of a tensor. torch allows 64, numpy 64 (32 before 2.0); more is an attack on loops.
constexpr std::size_t Rank = 64;

/// Logical bytes of a view that a file expands by zero strides. Beyond it a tensor is listed, and
/// compared through its storage by whoever asks, but never walked element by element.
constexpr std::uint64_t ExpandedBytes = std::uint64_t(1) << 36;

/// Entries of a zip directory: torch writes one a storage; 10^6 storages are beyond any real file.
constexpr std::uint64_t ZipEntries = 4'000'000;
/// Bytes of a zip directory.
constexpr std::uint64_t ZipDirectoryBytes = 512u << 20;

/// Bytes of one pickle. Megatron's largest known is a few hundred MB of .metadata.
constexpr std::uint64_t PickleBytes = std::uint64_t(1) << 30;
/// Nodes a pickle may create (objects, containers, strings).
constexpr std::size_t PickleNodes = 8'000'000;
/// Nodes of a distributed checkpoint's .metadata: some 20 a piece, which 10^6 pieces need.
constexpr std::size_t MetadataNodes = 32'000'000;
/// Items the tree of a pickle may list once shared parts are unfolded: stops memo bombs.
constexpr std::size_t TreeItems = 4'000'000;
/// Nesting of a pickle's tree.
constexpr std::size_t PickleDepth = 2000;
/// Marks that are open at one time: one for each container that is being built, which Python's own
/// recursion limit keeps at some thousands. A file of marks alone would cost hundreds of bytes each.
constexpr std::size_t PickleMarks = 100'000;
/// Pickles inside pickles (BytesIO, _load_from_bytes, nested torch.save).
constexpr int NestedPickles = 4;
/// Characters of an opaque object's or other derived text; longer ones are cut with a digest.
constexpr std::size_t PrintedText = 4096;
/// Lists of plain numbers longer than this are one value.
constexpr std::size_t FoldedNumbers = 64;

/// numpy refuses longer headers of .npy files by default.
constexpr std::uint64_t NpyHeaderBytes = 10'000;
/// Nesting of the Python literal in a .npy header (structured types).
constexpr std::size_t NpyDepth = 32;

/// Pieces of a sharded checkpoint whose containers are looked at when it is opened; those of larger
/// ones when they are read.
constexpr std::size_t EagerPieces = 50'000;
/// What a compressed object may decode to beyond the bytes of its tensor, or in all for an object
/// that is none: pickles of trainers are small.
constexpr std::uint64_t DecodedObjectBytes = 64u << 20;

/// The decoded body of a fingerprint file: some 100 bytes a tensor, 64 MiB of digests; that of a run
/// of many steps has the catalogue of each.
constexpr std::uint64_t FingerprintFileBytes = 512u << 20;

/// Bytes of what several ranks hold alike that are compared when a checkpoint is opened.
constexpr std::uint64_t ReplicaBytes = std::uint64_t(1) << 30;
/// Members of a tar archive.
constexpr std::size_t TarMembers = 100'000;

/// Entries looked at in one directory.
constexpr std::size_t DirectoryEntries = 1'000'000;
/// Directory levels looked into below what the user named.
constexpr int DirectoryDepth = 4;

/// Files kept open at once; others are opened again when they are read.
constexpr std::size_t OpenFiles = 1024;

/// One line of a trace: an operation with some thousand tensors is about 1 MB.
constexpr std::size_t TraceLineBytes = std::size_t(16) << 20;
/// Lines of a trace that are kept because others are like them, and what is known of these, of each reader.
constexpr std::size_t TraceFormBytes = std::size_t(16) << 20;
/// Records of all open traces together that are kept packed, so that their lines need not be read again: some
/// six million. Others are read again.
constexpr std::size_t TracePackedBytes = std::size_t(128) << 20;
/// Inputs or outputs of one record.
constexpr std::size_t TraceObservations = 65'536;
/// Bytes and rules of a mapping sheet: people write it.
constexpr std::uint64_t MappingBytes = 256u << 10;
constexpr std::size_t MappingRules = 200;
/// Memory of one compiled expression of a sheet; the library's own default.
constexpr std::size_t PatternBytes = std::size_t(8) << 20;
/// Lines that a preview of a mapping sheet shows.
constexpr std::uint64_t PreviewLines = 1'000'000;
/// Rows of a table of our own trace, in one file and for each of its bytes: a record of values alone,
/// repeated, compresses to a fraction of a byte.
constexpr std::uint64_t TraceRows = 50'000'000;
constexpr std::uint64_t TraceRowsPerByte = 64;
/// One string of it: a whole configuration may be one.
constexpr std::uint64_t TraceTextBytes = 1u << 20;
/// Facts of it.
constexpr std::uint64_t TraceFacts = 10'000;
/// Leaves of one tensor whose digests are kept: it may have 1 TiB.
constexpr std::uint64_t TraceLeaves = std::uint64_t(1) << 24;
/// Files of one trace: a day of thousands of ranks.
constexpr std::size_t TraceFiles = 200'000;
/// Runs of records of one iteration in one file; more are an attack on memory.
constexpr std::size_t TraceSegments = 2'000'000;
/// What a compressed trace may decode to.
constexpr std::uint64_t GzipBytes = std::uint64_t(1) << 38;

/// One line of a metrics file.
constexpr std::size_t MetricsLineBytes = 1u << 20;
/// One record of a log of events. Scalars take below 200 bytes; graphs and images some megabytes.
constexpr std::uint64_t LogRecordBytes = 64u << 20;
/// How far a text beside a checkpoint is looked into for a line of metrics.
constexpr std::uint64_t ConsoleProbeBytes = 1u << 20;
/// Points of one metric.
constexpr std::size_t MetricsPoints = 20'000'000;

/// Datasets, values and problems of an HDF5 file, and the bytes of their descriptions.
constexpr std::uint64_t Hdf5Items = 4'000'000;
constexpr std::uint64_t Hdf5DescriptionBytes = std::uint64_t(1) << 30;
/// Chunks of all datasets of an HDF5 file: 24 bytes each are kept.
constexpr std::uint64_t Hdf5Chunks = 16'000'000;
/// Decoded bytes of one chunk of an array. Two threads may hold one each.
constexpr std::uint64_t ChunkBytes = 512u << 20;
/// Decoded chunks of all files kept for the next read: a row of chunks of a large matrix.
constexpr std::uint64_t ChunkCacheBytes = 256u << 20;
/// Logical bytes up to which an array may consist of fill values alone; beyond, its stored bytes
/// must be a thousandth of them.
constexpr std::uint64_t SparseBytes = std::uint64_t(4) << 30;
constexpr std::uint64_t SparseRatio = 1000;
/// Bytes of an element of a compound type.
constexpr std::uint64_t RecordBytes = 1u << 20;

} // namespace forkpoint::limits
