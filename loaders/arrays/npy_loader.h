// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// One numpy array (.npy). It has no name of its own: it is displayed by the file's.
const Loader &npyLoader();

} // namespace forkpoint
