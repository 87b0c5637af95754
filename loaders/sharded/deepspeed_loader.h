// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// The folder of one DeepSpeed save: model states, and the optimizer's partitions of ZeRO 1 to 3
/// joined into `fp32.NAME`, `exp_avg.NAME` and so on beside `module.NAME`. Source:
/// deepspeed/utils/zero_to_fp32.py, deepspeed/runtime/zero; resources/docs/formats/deepspeed.md.
const DirectoryLoader &deepspeedLoader();

} // namespace forkpoint
