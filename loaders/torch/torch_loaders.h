// SPDX-License-Identifier: GPL-3.0-or-later
// Everything torch.save ever wrote, and bare pickles. Nothing in them is imported, resolved or run.
// Source: torch/serialization.py and caffe2/serialize/inline_container.cc; what is read, and its
// limits: resources/docs/formats/torch.md.
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

const Loader &torchZipLoader();    // zip container of torch.save since 1.6, TorchScript, .pt2
const Loader &torchLegacyLoader(); // the five pickles of torch.save 0.1.10 to 1.5
const Loader &torchTarLoader();    // the tar archive before 0.1.10
const Loader &pickleLoader();      // one bare pickle, protocols 0 to 5

} // namespace forkpoint
