// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/record_window.h"

class QTreeView;

namespace forkpoint {

void setRecordColumnWidths(QTreeView *view);

/// Columns of the list of records give way to names where `width` pixels are too few; the tool tip
/// and the page of the record have them. What is left over goes to the digests too. Of one trace
/// alone there is no other side, and one word for all rows.
void fitRecordColumns(QTreeView *view, RecordQuery::Of of, int width);

} // namespace forkpoint
