// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/noted_cells.h"

#include <QCoreApplication>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("Notes", text);
}

} // namespace

QVariant notedName(const PairNotes *notes, std::string_view name, int role, const QVariant &cell)
{
    if (!notes || !notes->isPinned(name))
        return cell;
    if (role == Qt::DisplayRole)
        return QString(QStringLiteral("★ ") + cell.toString());
    if (role == Qt::AccessibleTextRole)
        return QString(cell.toString() + tr(", pinned"));
    return cell;
}

QVariant notedSign(const PairNotes *notes, std::string_view name, int role, const QVariant &cell)
{
    if (!notes || !notes->isExpected(name))
        return cell;
    if (role == Qt::DisplayRole)
        return QString(cell.toString() + QStringLiteral("✓"));
    if (role == Qt::AccessibleTextRole)
        return QString(cell.toString() + tr(", expected"));
    return cell;
}

} // namespace forkpoint
