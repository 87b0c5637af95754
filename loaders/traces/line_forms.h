// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/record_form.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forkpoint {

/// Scalars of a line that its record takes as they are, and on which nothing else of it depends.
struct LineSlot
{
    enum class Kind : std::uint8_t {
        Iteration,
        Sequence,
        Call,
        Digest, ///< lower-case hexadecimal digits between quotes
    };
    Kind kind = Kind::Digest;
    std::size_t begin = 0, size = 0; ///< in the line, without quotes
    bool isOutput = false;           ///< a digest's list
    std::size_t observation = 0;     ///< and its place in it
};

/// What a line says beside its record: of the file it is in.
struct LineRemarks
{
    std::vector<TraceFact> facts;
    std::optional<std::int64_t> rank;
};

/// A line as a form: what stands between its slots must stand between those of another byte for byte,
/// so that the other is as well formed as this one, and its record the same but for the slots.
class LineForm : public RecordForm
{
public:
    /// `slots`: of `line`, which is one line of JSON in ASCII and made `record`. `reader`: whose line
    /// it is; readers of one name make the same record of a line.
    LineForm(std::string_view line, std::vector<LineSlot> slots, TraceRecord record,
             LineRemarks remarks, std::string_view reader);

    /// Whether a line is of this form: then `into` is what it says, but for its place. `own` keeps
    /// the digests.
    bool match(std::string_view line, FormedRecord &into, std::string &own) const;

    const LineRemarks &remarks() const { return m_remarks; }
    std::size_t bytes() const;

private:
    friend class LineForms;
    void noteStated();
    struct Part
    {
        std::uint32_t begin = 0, size = 0; ///< of the line, up to the slot
        LineSlot::Kind kind = LineSlot::Kind::Digest;
        std::uint32_t digits = 0;
    };
    /// Forms that came next, the last one first.
    static constexpr std::size_t MostNext = 8;

    std::string m_line;
    std::vector<Part> m_parts;
    std::size_t m_tail = 0; ///< where the text behind the last slot begins
    LineRemarks m_remarks;
    std::array<LineForm *, MostNext> m_next{};
    mutable std::uint64_t m_metIn = 0; ///< LineForms::m_lending
};

/// The forms of one trace, as far as there is room for them: of a line that is like none the general
/// parser decides. For one reader at a time.
class LineForms
{
public:
    /// The form of a line, looked for among those that came next before; nullptr: none of these.
    const LineForm *match(std::string_view line, FormedRecord &into);
    /// A line that matched none.
    void learn(LineForm form);
    /// Whether a form is met for the first time since they were lent.
    bool isNewHere(const LineForm &form) const
    {
        return std::exchange(form.m_metIn, m_lending) != m_lending;
    }
    /// For another reader.
    void startOver()
    {
        m_last = nullptr;
        ++m_lending;
    }

private:
    void follow(LineForm *form);

    std::vector<std::unique_ptr<LineForm>> m_forms;
    std::unordered_multimap<std::uint64_t, LineForm *> m_byFixed;
    std::size_t m_bytes = 0;
    LineForm *m_last = nullptr;
    std::uint64_t m_lending = 1;
    LineForm m_start{{}, {}, {}, {}, {}}; ///< before the first line
    std::string m_digests;
};

/// Lends forms to readers, so that what one of them learnt serves the next.
class LineFormPool
{
public:
    std::unique_ptr<LineForms> take();
    void give(std::unique_ptr<LineForms> forms);

private:
    std::mutex m_lock;
    std::vector<std::unique_ptr<LineForms>> m_free;
};

} // namespace forkpoint
