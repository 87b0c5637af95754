// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/result.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace forkpoint {

/// Tells parts of one checkpoint (a model, its optimizer) from several checkpoints that lie side by
/// side (best.pt, last.pt), by what the files name. Tensors are the same thing where path, type and
/// shape are equal; numbered ones (state.0.exp_avg) and arrays without a name say nothing. Files
/// that differ in a number alone (model.bin, model_1.bin) are parts, whatever they name.
class PartNames
{
public:
    void add(const std::string &file, const Catalog &catalog);

    /// Every file holds the same tensors: the error that asks for one of them.
    Status checkOneCheckpoint(const std::string &directory) const;
    /// Files that share at least half of the tensors of one of them: "a.pt and b.pt"; empty if none.
    std::vector<std::string> overlaps() const;

private:
    struct Part
    {
        std::string file, kind; ///< kind: the stem without numbers
        std::set<std::string> tensors;
    };

    std::vector<Part> m_parts;
};

} // namespace forkpoint
