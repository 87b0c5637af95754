// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_trainer_state.h"

#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_lines.h"
#include "loaders/metrics/metrics_step.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace forkpoint {

namespace {

/// Rows out of root.log_history; everything else is walked over.
class HistoryWalker final : public nlohmann::json_sax<nlohmann::json>
{
public:
    explicit HistoryWalker(MetricsTable &table) : m_table(table) {}

    bool found = false;
    bool full = false;
    std::size_t errorAt = 0;

    bool null() override { return true; }
    bool boolean(bool value) override { return addText(value ? "1" : "0"); }
    bool number_integer(number_integer_t value) override
    {
        return addNumber(std::to_string(value));
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        return addNumber(std::to_string(value));
    }
    bool number_float(number_float_t, const string_t &text) override { return addNumber(text); }
    bool string(string_t &text) override
    {
        if (nonFiniteByName(text))
            return addText(text);
        if (m_inHistory)
            m_table.leaveOut("texts", m_key, MetricsTable::LeftOut::Mention);
        return true;
    }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override { return enter(); }
    bool key(string_t &text) override
    {
        m_key = std::move(text);
        return true;
    }
    bool end_object() override
    {
        if (--m_depth == EntryDepth - 1 && m_inHistory)
            flush();
        return !full;
    }
    bool start_array(std::size_t) override
    {
        if (m_depth == 1 && m_key == "log_history")
            m_inHistory = found = true;
        return enter();
    }
    bool end_array() override
    {
        if (--m_depth == 1)
            m_inHistory = false;
        return true;
    }
    bool parse_error(std::size_t at, const std::string &,
                     const nlohmann::json::exception &) override
    {
        errorAt = at;
        return false;
    }

    /// Of a single loss nothing but the settings says over how many steps it is a mean.
    void finish()
    {
        if (m_loggingSteps == m_first.step)
            return;
        for (const std::string &name : m_first.means)
            m_table.forgetWindow(name, m_first.step);
    }

private:
    static constexpr std::size_t EntryDepth = 3; ///< root, list, entry

    bool enter() { return ++m_depth <= limits::JsonDepth; }

    bool addNumber(const std::string &text)
    {
        if (m_inHistory && m_depth == EntryDepth && m_key == "step")
            m_step = wholeStep(text);
        if (m_depth == 1 && m_key == "logging_steps")
            m_loggingSteps = wholeStep(text);
        return addText(text);
    }

    bool addText(const std::string &text)
    {
        const auto number = parseDecimal(text);
        if (!m_inHistory || (m_depth == EntryDepth && m_key == "step"))
            return true;
        if (m_depth != EntryDepth)
            m_table.leaveOut("numbers inside of lists and objects", m_key);
        else if (!number)
            m_table.leaveOut("numbers beyond float64", m_key);
        else
            m_row.emplace_back(m_key, *number);
        return true;
    }

    bool has(std::string_view name) const
    {
        return std::any_of(m_row.begin(), m_row.end(),
                           [&](const auto &number) { return number.first == name; });
    }

    /// What the Trainer logs as it is at the step. It divides the loss by the steps since it last
    /// logged; what trainers built on it add beside the loss is averaged the same way.
    static bool isOfTheStep(std::string_view name)
    {
        return name == "grad_norm" || name == "learning_rate" || name == "total_flos"
            || name == "num_input_tokens_seen";
    }

    bool add(const std::string &name, const DecimalText &number)
    {
        if (name == "epoch")
            return m_table.addOfStep(name, *m_step, number);
        // The last entry has the sum of all losses as they were logged, which rounds by their number.
        const bool isMean = (has("loss") && !isOfTheStep(name)) || name == "train_loss";
        if (isMean && m_first.step == *m_step)
            m_first.means.push_back(name);
        return isMean ? m_table.addMean(name, *m_step, number, m_window)
                      : m_table.addText(name, *m_step, number);
    }

    /// Of an entry with a loss. The first one's window is all steps before it, unless the history
    /// begins later than it is spaced: then a part of it was dropped.
    void takeWindow()
    {
        m_window = *m_step - std::exchange(m_logged, *m_step);
        if (m_first.step == 0)
            m_first.step = *m_step;
        else if (m_first.step > m_window)
            for (const std::string &name : m_first.means)
                m_table.forgetWindow(name, m_first.step);
        if (m_first.step != *m_step)
            m_first.means.clear();
    }

    void flush()
    {
        ++m_entry;
        if (!m_step && !m_row.empty())
            m_table.addBadLine(m_entry, "entry of log_history has no whole number 'step'");
        if (m_step && has("loss") && *m_step > m_logged)
            takeWindow();
        for (const auto &[name, number] : m_row)
            full = full || (m_step && !add(name, number));
        m_row.clear();
        m_step.reset();
    }

    MetricsTable &m_table;
    std::size_t m_depth = 0;
    bool m_inHistory = false;
    std::string m_key;
    std::uint64_t m_entry = 0;
    std::vector<std::pair<std::string, DecimalText>> m_row;
    std::optional<std::int64_t> m_step, m_loggingSteps;
    std::int64_t m_logged = 0; ///< the last step with a loss
    std::int64_t m_window = 0; ///< steps that the latest loss is the mean of
    struct
    {
        std::int64_t step = 0;
        std::vector<std::string> means;
    } m_first; ///< entry with a loss, until the second
};

} // namespace

Status readTrainerState(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    FP_TRY(const auto bytes, readAll(source, 0, source.size(), limits::JsonBytes));
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, source.name(), {}, "cancelled"};
    const std::string text = quoteNonFinite(withoutByteOrderMark(asText(bytes)));
    HistoryWalker walker(table);
    const bool sound = nlohmann::json::sax_parse(text.begin(), text.end(), &walker);
    if (!sound && !walker.full)
        table.addGap(Severity::Error, "malformed", "byte " + std::to_string(walker.errorAt),
                     "is no JSON from here on; entries before it were read");
    walker.finish();
    if (!walker.found)
        return Error{ErrorCode::Malformed, source.name(), {}, "must have a list 'log_history'"};
    return {};
}

bool isTrainerState(const ByteSource &source)
{
    const auto size = std::min<std::uint64_t>(source.size(), limits::ProbeBytes);
    const auto head = readAll(source, 0, size, limits::ProbeBytes);
    if (!head.ok())
        return false;
    const std::string_view text = withoutByteOrderMark(asText(*head));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{'
        && text.find("\"global_step\"") != std::string_view::npos
        && (text.find("\"log_history\"") != std::string_view::npos
            || text.find("\"is_world_process_zero\"") != std::string_view::npos);
}

} // namespace forkpoint
