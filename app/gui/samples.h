// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

namespace forkpoint {

/// The bundled pairs, as resources/samples/samples.json describes them; none where it is missing.
QList<SamplePair> bundledSamples();

} // namespace forkpoint
