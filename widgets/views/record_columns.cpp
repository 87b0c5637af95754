// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/record_columns.h"

#include "widgets/models/record_cells.h"
#include "widgets/views/view_setup.h"

#include <QStyle>
#include <QTreeView>

#include <algorithm>

namespace forkpoint {

namespace {

/// Widths in characters; the name's is what is left.
constexpr int Widths[int(RecordColumn::Count)] = {2, 9, 5, 9, 0, 4, 9, 12, 12, 9};
constexpr int NameCharacters = 18, DigestCharacters = 34;
/// Who gives way to names first, while there is little room.
constexpr RecordColumn GivingWay[] = {RecordColumn::Evidence,   RecordColumn::Shape,
                                      RecordColumn::Call,       RecordColumn::What,
                                      RecordColumn::MicroBatch, RecordColumn::Stage};

} // namespace

void setRecordColumnWidths(QTreeView *view)
{
    setColumnWidths(view, Widths);
}

void fitRecordColumns(QTreeView *view, RecordQuery::Of of, int width)
{
    int needed =
        columnWidth(view, NameCharacters) + view->style()->pixelMetric(QStyle::PM_ScrollBarExtent);
    for (const int characters : Widths)
        needed += characters > 0 ? columnWidth(view, characters) : 0;
    const auto hide = [&](RecordColumn column, bool isHidden) {
        view->setColumnHidden(int(column), isHidden);
        needed -= isHidden ? columnWidth(view, Widths[int(column)]) : 0;
    };
    const bool isOfA = of == RecordQuery::Of::A, isOfB = of == RecordQuery::Of::B;
    hide(RecordColumn::A, isOfB);
    hide(RecordColumn::B, isOfA);
    hide(RecordColumn::What, isOfA || isOfB);
    for (const RecordColumn column : GivingWay) {
        if (column != RecordColumn::What || !(isOfA || isOfB))
            hide(column, needed > width);
    }
    const int least = columnWidth(view, Widths[int(RecordColumn::A)]);
    const int most = columnWidth(view, DigestCharacters);
    const int each = std::clamp(least + (width - needed) / 3, least, most);
    for (const RecordColumn column : {RecordColumn::A, RecordColumn::B})
        view->setColumnWidth(int(column), each);
}

} // namespace forkpoint
