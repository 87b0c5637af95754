// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_tree.h"
#include "loaders/torch/torch_storage.h"
#include "model/result.h"

#include <memory>
#include <string>

/// The containers of torch.save, each listing into a TreeContext, so that one may hold another.
namespace forkpoint {

/// First bytes of torch.save's stream before 1.6: the pickle of its magic number.
bool isLegacyStream(ByteView head);
/// PROTO with a known protocol and an opcode behind it.
bool isBinaryPickle(ByteView head);
bool isZip(ByteView head);

Status listTorchZip(const std::shared_ptr<const ByteSource> &source, const TreeContext &context);
Status listTorchLegacy(const std::shared_ptr<const ByteSource> &source, const TreeContext &context);
Status listBarePickle(const std::shared_ptr<const ByteSource> &source, const TreeContext &context);

/// Whichever of the three these bytes are. Refuses what is nested too deep.
Status listNestedSave(std::string bytes, const TreeContext &context);

/// The one storage that torch.storage._load_from_bytes would return of a legacy stream.
Result<StorageSlot> storageOfBytes(std::string bytes, const TreeContext &context);

} // namespace forkpoint
