// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/folder_listing.h"
#include "model/result.h"

#include <stop_token>

namespace forkpoint {

/// Lists a folder for a person to choose from; nothing in it is opened.
Result<FolderListing> listFolder(const std::string &path, std::stop_token stop);

} // namespace forkpoint
