// SPDX-License-Identifier: GPL-3.0-or-later
// The functions behind the table of chunk_filters.cpp: each undoes one filter, see ChunkFilter.
#pragma once

#include "loaders/hdf5/chunk_filters.h"

namespace forkpoint {

FilterResult undoDeflate(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoShuffle(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoFletcher32(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoSzip(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoNbit(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoScaleOffset(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoBzip2(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoLzf(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoBlosc(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoLz4(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoBitshuffle(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoZstd(ByteView stored, FilterParameters parameters, std::size_t cap);
FilterResult undoBlosc2(ByteView stored, FilterParameters parameters, std::size_t cap);

/// Elements that Blosc 2 names and does not store, `bytes` in all: zeros, the NaN of C, or `value`
/// over and over ("special values" of README_CHUNK_FORMAT.rst of c-blosc2). Refuses elements that
/// were never set. The caller bounds `bytes`.
FilterResult fillBloscSpecial(unsigned kind, std::size_t element, std::size_t bytes,
                              ByteView value);

// Why this build cannot undo a filter that needs a library; empty where it can.
std::string_view whyNoSzip();
std::string_view whyNoBzip2();

/// "must decode to at most N bytes, does to more": what every codec says of a bomb.
Error overCap(std::size_t cap);
/// "ends too early", "is damaged": what a codec says of bytes that it cannot follow.
Error damaged(std::string text);

} // namespace forkpoint
