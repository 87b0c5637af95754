// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// safetensors files of ranks as torch's HuggingFaceStorageWriter leaves them: offsets of the parts
/// in the metadata of each file, no index, no whole shape. Source:
/// torch/distributed/checkpoint/hf_storage.py and _hf_utils.py.
const DirectoryLoader &hfShardsLoader();

} // namespace forkpoint
