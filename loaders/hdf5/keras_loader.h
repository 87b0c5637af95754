// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// Keras' .keras: a zip of config.json, metadata.json and model.weights.h5 (or .npz). The
/// configuration is text: the code of a Lambda layer is shown and never run.
const Loader &kerasLoader();

} // namespace forkpoint
