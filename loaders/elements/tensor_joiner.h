// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"

#include <map>
#include <string>
#include <vector>

namespace forkpoint {

/// Joins the parts of tensors that several files of one checkpoint hold. Parts meet by path. Where
/// they have equal boxes they are replicas: the first is taken, the others are kept beside it. What
/// remains uncovered or overlaps is found when the checkpoint is built.
class TensorJoiner
{
public:
    /// A part whose extents and owner are those of the builder that finish() gets. `origin` is where
    /// it begins; `global` the whole shape, or nothing where no file says so: then the parts' ends.
    void add(TensorRef part, std::vector<Index> origin, std::optional<Shape> global);
    /// Adds the joined tensors, in the order in which they were first met.
    void finish(CheckpointBuilder &builder);

private:
    struct Joined
    {
        TensorRef tensor; ///< shape: the largest end so far in each dimension, unless known
        bool isShapeKnown = false;
        std::map<std::pair<std::vector<Index>, std::vector<Index>>, OwnerIndex> boxes;
        std::optional<Error> problem;
        bool isProblemTold = false; ///< of a part, whose loader has made a diagnostic of it
    };

    static void reach(Joined &joined, const TensorRef &part, const std::vector<Index> &origin);

    std::vector<Joined> m_tensors;
    std::map<KeyPath, std::size_t> m_byPath;
};

} // namespace forkpoint
