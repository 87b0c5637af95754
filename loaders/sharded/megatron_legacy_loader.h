// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

namespace forkpoint {

/// Megatron-LM before torch_dist: a folder mp_rank_TT[_PPP][_EEE] for each model-parallel rank with
/// files of torch.save. What each rank holds is listed under its folder; nothing is put together.
/// Source: megatron/training/checkpointing.py.
const DirectoryLoader &megatronLegacyLoader();

} // namespace forkpoint
