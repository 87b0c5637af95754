// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_bytes.h"
#include "loaders/hdf5/hdf5_mapping.h"
#include "loaders/hdf5/hdf5_sources.h"

#include <map>
#include <string>
#include <vector>

namespace forkpoint {

/// What virtual datasets show, as libhdf5 shows it unless it is told otherwise: those that grow reach as far as
/// the source that reaches furthest, numbered sources end before the first one that is not there, what no source
/// shows has the fill value, and where two do it is the later one.
class Hdf5VirtualDatasets
{
public:
    Hdf5VirtualDatasets(Hdf5Sources &sources, Hdf5Bytes &bytes) : m_sources(sources), m_bytes(bytes)
    {
    }

    /// What one of its sources shows.
    struct Shown
    {
        std::string name; ///< "'a' of 'file.h5'"
        Hdf5Sources::Found from;
        std::vector<BoxPair> pairs;
    };
    struct Resolved
    {
        std::vector<std::uint64_t> dims;
        std::vector<Shown> shown;         ///< in the order of the file
        std::vector<std::string> missing; ///< as Shown::name
    };

    /// Refused or NotFound for sources outside of the folder, Limit, Malformed; the result lives as long as this.
    Result<const Resolved *> resolve(const Hdf5Dataset &dataset, const Hdf5Sources::File &file);
    /// Where the elements of a member of a dataset that was resolved lie.
    Result<std::vector<Extent>> extents(const Hdf5Dataset &dataset, const Hdf5Sources::File &file,
                                        std::size_t field);
    /// The elements of a dataset, or of that member, which are text, lists or references.
    Result<std::vector<std::string>> texts(const Hdf5Dataset &dataset,
                                           const Hdf5Sources::File &file,
                                           const std::vector<std::string> &member);

private:
    struct Part;
    class Nested;

    Result<Resolved> make(const Hdf5Dataset &dataset, const Hdf5Sources::File &file);
    Result<std::vector<Part>> partsOf(const Hdf5Mapping &mapping, const Hdf5Sources::File &file,
                                      Resolved &resolved);
    Result<Part> growingPart(const Hdf5Mapping &mapping, Hdf5Sources::Found from);
    Result<Shape> shapeOfSource(const Hdf5Sources::Found &from);
    Result<const std::vector<Extent> *> sourceExtents(const Hdf5Sources::Found &from,
                                                      const Hdf5Field &field);
    Result<const std::vector<std::string> *> sourceTexts(const Hdf5Sources::Found &from,
                                                         const Hdf5Sources::File &file,
                                                         const std::string &type,
                                                         const std::vector<std::string> &member);

    Hdf5Sources &m_sources;
    Hdf5Bytes &m_bytes;
    int m_depth = 0;
    std::map<const Hdf5Dataset *, Result<Resolved>> m_resolved;
    std::map<std::pair<const Hdf5Dataset *, std::size_t>, std::vector<Extent>> m_extents;
    std::map<std::pair<const Hdf5Dataset *, std::vector<std::string>>, std::vector<std::string>>
        m_texts;
};

} // namespace forkpoint
