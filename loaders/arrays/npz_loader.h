// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// A zip of numpy arrays (.npz), named by the members without ".npy". Data are decoded when they
/// are read, never to list them. CRCs of records up to 1 MiB are checked on opening; those of
/// larger ones by whoever reads them (ZipArchive::checkCrc).
const Loader &npzLoader();

} // namespace forkpoint
