// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// safetensors (huggingface/safetensors, safetensors/src/tensor.rs): all checks of the reference
/// reader, each with its own message; in addition duplicate names are refused by name. A file that
/// is cut within its data lists all names and opens the tensors that are whole. Unknown element
/// types are listed and never decoded.
const Loader &safetensorsLoader();

} // namespace forkpoint
