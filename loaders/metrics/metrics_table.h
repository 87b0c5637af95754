// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "model/diagnostic.h"
#include "model/metrics/metric_series.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Metrics of one file while it is read: points by metric name, what was odd, and the caps.
///
/// Numbers that come as text keep what the text tells. Of a metric whose texts all look rounded,
/// the bits are not known: they are where a text has 15 digits or more, where all are whole numbers
/// or binary fractions too many to be so by chance, and, for a constant that is no loss, where another metric of the
/// file is written in full; never where one ends in zeros as formats of fixed digits print them
/// ("1.000"), for those round. Where a whole number is more than a float64 holds, they are if all are
/// integers of at most PrintedDecimal::KeptDigits digits: the digits are compared then.
class MetricsTable
{
public:
    explicit MetricsTable(std::string file, std::size_t maxPoints = limits::MetricsPoints)
        : m_file(std::move(file)),
          m_maxPoints(maxPoints)
    {
    }

    /// False once the cap is reached: stop reading.
    bool add(std::string_view metric, std::int64_t step, double value);
    bool addFloat32(std::string_view metric, std::int64_t step, float value);
    bool addText(std::string_view metric, std::int64_t step, const DecimalText &number);
    /// A mean over so many steps, the last of which is `step`.
    bool addMean(std::string_view metric, std::int64_t step, const DecimalText &number,
                 std::int64_t window);
    /// How many steps that mean is over turned out to be unknown.
    void forgetWindow(std::string_view metric, std::int64_t step);
    /// What rows of all kinds say of their step, such as an epoch: the same once more is no repetition.
    bool addOfStep(std::string_view metric, std::int64_t step, const DecimalText &number);
    /// A row that is there for the step and leaves the number open (JSON null, an empty cell).
    bool addBlank(std::string_view metric, std::int64_t step);

    /// What is added from now on stands in a row of its own, which says by `label` (RowLabel) whose it
    /// is; only of formats with rows. Where one step has rows of several labels, each makes metrics of
    /// its own, "NAME [rank 0]". Rows of one step that follow each other in more steps than one, and
    /// that nothing tells apart, are no attempts of a restarted run: they become "NAME [row 2]".
    void beginRow(std::int64_t step, std::string_view label);
    /// A text that is a digest: where another follows under that name, the rows are of a trace, and what
    /// is compared of them says little.
    void leaveOutDigest(std::string_view name, std::string_view digest);

    /// A run went on from a step before these: the points of a metric, or of all, from `step` on
    /// belong to an attempt that was given up.
    void supersede(std::string_view metric, std::int64_t step);
    void supersedeAll(std::int64_t step);

    /// Of all metrics; stated, if not said otherwise.
    void setSteps(MetricSeries::Steps steps) { m_steps = steps; }

    /// A line that holds no points though it should; only the first is named, all are counted.
    /// `part` names the file where the table is made of several.
    void addBadLine(std::uint64_t line, std::string_view why, std::string_view part = {});
    /// Something that is there and is no point of a metric: told once for each kind, with the number
    /// of its names. Numbers of a kind that is not read are a gap; texts are none.
    enum class LeftOut { Gap, Mention };
    void leaveOut(std::string_view kind, std::string_view name, LeftOut how = LeftOut::Gap);
    void addNote(std::string code, std::string place, std::string text);
    /// Something that is there was not read, or not wholly: equal numbers are no equal files.
    void addGap(Severity severity, std::string code, std::string place, std::string text);
    bool isEmpty() const { return m_columns.empty(); }
    bool complete() const { return m_complete && m_badLines == 0 && !m_full; }

    /// Series sorted by name, their points by step; of a step logged twice the later line counts,
    /// and a note says so.
    std::vector<MetricSeries> takeSeries();
    /// What was said so far, the summary of bad lines and the caps included. Call it last.
    Diagnostics takeDiagnostics();

    const std::string &file() const { return m_file; }

private:
    /// Points before `index` went if they are of that step or later.
    struct Restart
    {
        std::size_t index = 0;
        std::int64_t step = 0;
    };
    /// How many restarts of the whole table were before the points from `index` on.
    struct Attempt
    {
        std::size_t index = 0, restarts = 0;
    };
    using LowestStep = std::optional<std::int64_t>;

    struct Blank
    {
        std::int64_t step = 0;
        std::uint32_t label = 0;
    };

    struct Column
    {
        std::vector<MetricPoint> points;
        std::vector<PrintedDecimal> printed; ///< parallel to the points; empty if none is a text
        std::vector<std::uint32_t>
            labels; ///< parallel to the points, by place in m_labels; if rows
        std::vector<Blank> blanks;
        std::vector<MetricPoint> superseded;
        std::vector<Restart> restarts; ///< of this metric alone
        std::vector<Attempt> attempts;
        std::uint64_t repeated = 0;
        bool text = false, float32 = false;
        bool full = false;      ///< a text is too long to be rounded for people
        bool whole = true;      ///< all texts are whole numbers
        bool wide = false;      ///< one of them has neighbours that are no float64
        bool lossy = false;     ///< a whole number is no float64
        bool integers = true;   ///< all texts are integers of which every digit is kept
        bool dyadic = true;     ///< all texts are binary fractions
        int dyadicDecimals = 0; ///< decimals of these, where the value changed
        bool padded = false;    ///< a text ends in zeros that a shortest one has not
        bool constant = true;
        std::map<std::int64_t, std::int64_t> windows; ///< by step, of means
    };

    Column *columnFor(std::string_view metric);
    void append(Column &column, std::int64_t step, double value, const PrintedDecimal *printed);
    std::vector<LowestStep> lowestRestarts() const;
    void dropSuperseded(Column &column, const std::vector<LowestStep> &lowest);
    bool bitsKnown(std::string_view name, const Column &column) const;
    void separateLabels();
    void separateRows();
    void sortPoints(const std::string &name, Column &column);
    void compareAttempts(const std::string &name, const Column &column);
    void repeats(const std::string &name, const MetricPoint &old, const MetricPoint &kept);
    void describeLeftOut();

    struct Names
    {
        LeftOut how = LeftOut::Gap;
        std::set<std::string> names;
    };

    std::string m_file;
    std::size_t m_maxPoints;
    std::size_t m_count = 0;
    using Columns = std::map<std::string, Column, std::less<>>;
    template <class NameOf>
    static void distribute(Column column, Columns &into, NameOf nameOf);

    Columns m_columns;
    std::map<std::string, std::uint32_t, std::less<>> m_labels; ///< of rows, in the order met
    std::map<std::int64_t, std::uint32_t> m_labelOfStep;        ///< of its first row that has one
    std::uint32_t m_label = 0;                                  ///< of the row at hand
    std::optional<std::int64_t> m_stepOfRow;                    ///< of the row at hand
    bool m_severalLabels = false;                               ///< some step has
    std::map<std::string, std::string, std::less<>> m_digests;  ///< the first by name
    std::vector<std::int64_t> m_restarts;                ///< of the whole table: from which step
    std::map<std::string, Names, std::less<>> m_leftOut; ///< by kind
    std::uint64_t m_badLines = 0;
    std::string m_firstBadPlace, m_firstBadReason;
    std::uint64_t m_repeated = 0;
    std::uint64_t m_superseded = 0;
    /// Where a number that was logged twice first differs, and which.
    std::optional<std::pair<std::int64_t, std::string>> m_attemptsDiffer;
    MetricSeries::Steps m_steps = MetricSeries::Steps::Stated;
    bool m_anyFull = false;
    bool m_full = false;
    bool m_complete = true;
    Diagnostics m_notes;
};

/// Where a line is, for people; `part` as above.
std::string placeOfLine(std::uint64_t line, std::string_view part = {});

} // namespace forkpoint
