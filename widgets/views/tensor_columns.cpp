// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_columns.h"

#include "widgets/models/tensor_table_model.h"
#include "widgets/views/view_setup.h"

#include <QStyle>
#include <QTreeView>

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

/// Characters of a name that stay legible before any other column is shown.
constexpr int NameCharacters = 24;
/// Widths of the columns of tensors in characters; the name's is what is left. A ULP distance of
/// float32 has up to 10 digits in groups.
constexpr int TensorWidths[int(TensorColumn::Count)] = {4, 0, 9, 8, 14, 17, 8, 9};
/// Who gives way to names first, while there is little room.
constexpr TensorColumn GivingWay[] = {TensorColumn::Class, TensorColumn::DType,
                                      TensorColumn::MaxUlp, TensorColumn::Shape,
                                      TensorColumn::Differs};
constexpr TensorColumn OfDifferences[] = {TensorColumn::Differs, TensorColumn::MaxUlp,
                                          TensorColumn::MaxAbs};

enum ValueColumn { Sign, Name, ValueA, ValueB, Class };
constexpr std::array ValueWidths{4, 0, 13, 13, 11};
constexpr int LongName = 44; ///< characters, beyond which room goes to the values
constexpr int LongValue = 40;

bool isOfDifferences(TensorColumn column)
{
    return std::find(std::begin(OfDifferences), std::end(OfDifferences), column)
        != std::end(OfDifferences);
}

int scrollBar(const QTreeView *view)
{
    return view->style()->pixelMetric(QStyle::PM_ScrollBarExtent);
}

} // namespace

void setTensorColumnWidths(QTreeView *view)
{
    setColumnWidths(view, TensorWidths);
}

ColumnRoom tensorColumnRoom(const QTreeView *view, int width, bool isAlone)
{
    const auto room = [&](TensorColumn column) {
        const int characters = TensorWidths[int(column)];
        const bool isLeftOut = isAlone && isOfDifferences(column);
        return characters > 0 && !isLeftOut ? columnWidth(view, characters) : 0;
    };
    int needed = columnWidth(view, NameCharacters) + scrollBar(view);
    for (int column = 0; column < int(TensorColumn::Count); ++column)
        needed += room(TensorColumn(column));
    ColumnRoom result{0, isAlone};
    while (result.givenWay < std::size(GivingWay) && needed > width)
        needed -= room(GivingWay[result.givenWay++]);
    return result;
}

void showTensorColumns(QTreeView *view, const ColumnRoom &room)
{
    for (const TensorColumn column : OfDifferences)
        view->setColumnHidden(int(column), room.isAlone);
    for (std::size_t i = 0; i < std::size(GivingWay); ++i) {
        const bool isLeftOut = room.isAlone && isOfDifferences(GivingWay[i]);
        view->setColumnHidden(int(GivingWay[i]), i < room.givenWay || isLeftOut);
    }
}

void setValueColumnWidths(QTreeView *view)
{
    setColumnWidths(view, ValueWidths);
}

void fitValueColumns(QTreeView *view, int width)
{
    int needed = columnWidth(view, LongName) + scrollBar(view);
    for (const int characters : ValueWidths)
        needed += characters > 0 ? columnWidth(view, characters) : 0;
    const int least = columnWidth(view, ValueWidths[ValueA]);
    const int most = columnWidth(view, LongValue);
    const int each = std::clamp(least + (width - needed) / 2, least, most);
    for (const int column : {int(ValueA), int(ValueB)})
        view->setColumnWidth(column, each);
}

} // namespace forkpoint
