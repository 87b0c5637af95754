// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

namespace forkpoint {

/// NeMo's .nemo: a tar, gzipped in old versions, of a model's configuration, its weights and
/// artifacts. Nothing is unpacked to disk; the configuration is text. Source:
/// nemo/core/connectors/save_restore_connector.py.
const Loader &nemoLoader();

} // namespace forkpoint
