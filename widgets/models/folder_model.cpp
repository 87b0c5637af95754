// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/folder_model.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/theme.h"

#include <QFile>

#include <algorithm>

namespace forkpoint {

void FolderModel::setListing(std::shared_ptr<const FolderListing> listing)
{
    beginResetModel();
    m_listing = std::move(listing);
    endResetModel();
}

const FolderEntry *FolderModel::at(int row) const
{
    return row >= 0 && row < rowCount() ? &m_listing->entries[std::size_t(row)] : nullptr;
}

const FolderEntry *FolderModel::named(const QString &name) const
{
    if (!m_listing)
        return nullptr;
    const std::string wanted = QFile::encodeName(name).toStdString();
    const auto &entries = m_listing->entries;
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const FolderEntry &e) { return e.name == wanted; });
    return found == entries.end() ? nullptr : &*found;
}

int FolderModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_listing ? 0 : int(m_listing->entries.size());
}

int FolderModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(Column::Count);
}

QVariant FolderModel::data(const QModelIndex &index, int role) const
{
    const FolderEntry *entry = index.isValid() ? at(index.row()) : nullptr;
    if (!entry)
        return {};
    const bool isName = index.column() == int(Column::Name);
    const QString name = displayText(entry->name) + (entry->isFolder ? u"/" : u"");
    switch (role) {
    case Qt::DisplayRole:
        return isName ? name : entry->isFolder ? QString() : bytesText(entry->bytes);
    case Qt::ToolTipRole: return plainToolTip(name);
    case Qt::TextAlignmentRole:
        return int((isName ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case NameRole: return displayText(entry->name);
    default: return {};
    }
}

QVariant FolderModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == int(Column::Name) ? tr("name") : tr("size");
}

} // namespace forkpoint
