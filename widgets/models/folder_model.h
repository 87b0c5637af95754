// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/folder_listing.h"

#include <QAbstractTableModel>

#include <memory>

namespace forkpoint {

/// The entries of a folder, folders first.
class FolderModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum class Column { Name, Size, Count };

    using QAbstractTableModel::QAbstractTableModel;

    void setListing(std::shared_ptr<const FolderListing> listing);
    const FolderEntry *at(int row) const; ///< null where there is no such row
    const FolderEntry *named(const QString &name) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

private:
    std::shared_ptr<const FolderListing> m_listing;
};

} // namespace forkpoint
