// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "model/traces/timeline.h"
#include "widgets/step_axis.h"

#include <QFontMetrics>
#include <QPalette>
#include <QRect>
#include <QString>

#include <optional>
#include <string>
#include <utility>
#include <vector>

class QPainter;

namespace forkpoint {

/// Stages by steps, or ranks or micro-batches by steps, as lanes of the step strip: a row for each, a
/// cell for each step with the share of its records that differ. Where steps stand closer than a cell is wide, a
/// column of pixels shows the most telling of its cells.
class TimelineLanes
{
public:
    struct Place
    {
        std::int64_t step = 0;
        std::string row; ///< its name
        bool operator==(const Place &) const = default;
    };

    /// A step that the trace of one side has alone.
    struct Alone
    {
        std::int64_t step = 0;
        StepStatus status = StepStatus::OnlyInA; ///< or OnlyInB
    };

    /// `alone` by step, rising: a frame behind all rows says whose they are.
    void setTimeline(Timeline timeline, std::optional<Place> divergence,
                     std::vector<Alone> alone = {});
    const Timeline &timeline() const { return m_timeline; }
    bool isEmpty() const { return m_timeline.isEmpty(); }

    static int rowHeight(const QFontMetrics &metrics);
    int height(const QFontMetrics &metrics) const;
    int labelWidth(const QFontMetrics &metrics) const;

    /// Into `area`, whose columns are the axis'; the labels stand left of it. `selected`: a step.
    void paint(QPainter &painter, const QRect &area, const StepAxis &axis, const QPalette &palette,
               std::optional<std::int64_t> selected) const;
    /// The cell under a point; where several share it, the most telling.
    std::optional<Place> placeAt(const QPoint &point, const QRect &area,
                                 const StepAxis &axis) const;
    /// The row in which the runs part; nothing where none of them is.
    QRect rowOfDivergence(const QRect &area) const;
    /// "step 7, forward: 84 of 88 values differ, by sha256"; "step 2: only in A"
    QString toolTipAt(const QPoint &point, const QRect &area, const StepAxis &axis) const;

private:
    /// A row's stretch of columns that shares a column of pixels.
    struct Stretch
    {
        int x = 0;
        std::size_t first = 0, end = 0;
    };
    std::vector<Stretch> stretches(const QRect &area, const StepAxis &axis) const;
    /// Those in sight, one for a column of pixels, with its place.
    std::vector<std::pair<int, StepStatus>> aloneIn(const QRect &area, const StepAxis &axis) const;
    std::vector<Alone>::const_iterator aloneFrom(double step) const;
    /// How far neighbours stand apart at the least, in pixels.
    static double pitch(const std::vector<Stretch> &shown,
                        const std::vector<std::pair<int, StepStatus>> &alone, const StepAxis &axis);
    static void paintAlone(QPainter &painter, const QRect &column, StepStatus status, bool hasText,
                           const QPalette &palette);
    QRect rowRect(std::size_t row, const QRect &area) const;
    void paintCell(QPainter &painter, const QRect &cell, const Timeline::Cell &content,
                   bool hasText, const QPalette &palette) const;
    void paintOutlines(QPainter &painter, const QRect &area, const StepAxis &axis, int width,
                       const QPalette &palette, std::optional<std::int64_t> selected) const;

    Timeline m_timeline;
    std::optional<Place> m_divergence;
    std::vector<Alone> m_alone;
};

} // namespace forkpoint
