// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/run.h"

#include <memory>
#include <string>

namespace forkpoint {

bool beginsAsFpx(const ByteSource &file);

/// A fingerprint file as the run that it was made of: its steps, its tensors, its values. Elements
/// cannot be read; TensorSource::recorded() has what stands for them.
Result<std::shared_ptr<const Run>> openFpx(std::shared_ptr<const ByteSource> file,
                                           std::string path);

} // namespace forkpoint
