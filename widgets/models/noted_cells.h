// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "widgets/pair_notes.h"

#include <QVariant>

namespace forkpoint {

/// Which notes the user made on an item, as tables show them: ★ before a pinned name, ✓ after the
/// sign of a difference that is expected. Copied names stay as they are.
QVariant notedName(const PairNotes *notes, std::string_view name, int role, const QVariant &cell);
QVariant notedSign(const PairNotes *notes, std::string_view name, int role, const QVariant &cell);

} // namespace forkpoint
