// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/metric_pairs.h"
#include "widgets/roles.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace forkpoint {

/// One metric of two runs, a row per step that either logged: at most MostRows of them, from a
/// little before the first that differs.
class MetricStepModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    static constexpr std::size_t MostRows = 100'000;
    enum class Column { Sign, AtStep, A, B, Difference, Count };

    using QAbstractTableModel::QAbstractTableModel;

    void setPair(const MetricPair *pair); ///< copies what it shows; null: nothing
    std::optional<int> rowOf(std::int64_t step) const;
    std::size_t steps() const { return m_steps; } ///< that there are, shown or not

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row
    {
        std::int64_t step = 0;
        QString a, b, difference;
        Look look;
    };
    static Row rowOf(const MetricPair &pair, std::int64_t step);
    QString text(const Row &row, Column column) const;

    std::vector<Row> m_rows;
    std::size_t m_steps = 0;
};

} // namespace forkpoint
