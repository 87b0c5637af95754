// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QString>

#include <vector>

namespace forkpoint {

/// One line of the facts page; a section title has neither A nor B.
struct Fact
{
    QString name, a, b;
    bool isSection = false;
};

/// All that is known of one pair: what it is, how it differs, its fingerprints, where its bytes
/// are, why it was paired and why it has its class. What is unknown is said.
std::vector<Fact> tensorFacts(const TensorRow &row, const DiffStats *stats, const TensorRef *a,
                              const TensorRef *b);

} // namespace forkpoint
