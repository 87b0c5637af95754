// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/line_forms.h"

#include "loaders/limits.h"
#include "model/traces/trace_alignment.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace forkpoint {

namespace {

/// Digits of a number that fits into 63 bits whatever it is.
constexpr std::size_t MostDigits = 18;

constexpr std::array<char, 256> NoLowerHex = [] {
    std::array<char, 256> table{};
    table.fill(1);
    for (const char c : std::string_view("0123456789abcdef"))
        table[std::uint8_t(c)] = 0;
    return table;
}();

bool isLowerHex(const char *text, std::size_t size)
{
    char wrong = 0;
    for (std::size_t i = 0; i < size; ++i)
        wrong |= NoLowerHex[std::uint8_t(text[i])];
    return wrong == 0;
}

/// A number as JSON spells it, at `at`, which moves behind it.
std::optional<std::uint64_t> numberAt(const char *&at, const char *end)
{
    const char *const begin = at;
    std::uint64_t number = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
        if (std::size_t(at - begin) == MostDigits)
            return std::nullopt;
        number = number * 10 + std::uint64_t(*at - '0');
    }
    const bool isPadded = at - begin > 1 && *begin == '0';
    return at == begin || isPadded ? std::nullopt : std::optional(number);
}

void takeNumber(LineSlot::Kind kind, std::uint64_t number, FormedRecord &into)
{
    switch (kind) {
    case LineSlot::Kind::Iteration: into.iteration = std::int64_t(number); break;
    case LineSlot::Kind::Sequence: into.sequence = number; break;
    case LineSlot::Kind::Call: into.call = number; break;
    case LineSlot::Kind::Digest: break;
    }
}

} // namespace

LineForm::LineForm(std::string_view line, std::vector<LineSlot> slots, TraceRecord made,
                   LineRemarks remarks, std::string_view reader)
    : m_line(line),
      m_remarks(std::move(remarks))
{
    record = std::move(made);
    keyHash = hashOfKey(record.key);
    fixed = reader;
    std::sort(slots.begin(), slots.end(),
              [](const LineSlot &x, const LineSlot &y) { return x.begin < y.begin; });
    std::size_t at = 0;
    std::uint32_t digestsEnd = 0;
    for (const LineSlot &slot : slots) {
        const auto size = std::uint32_t(slot.size);
        m_parts.push_back({std::uint32_t(at), std::uint32_t(slot.begin - at), slot.kind, size});
        fixed.append("\n").append(line.substr(at, slot.begin - at)).append("\n");
        fixed += char('0' + int(slot.kind));
        at = slot.begin + slot.size;
        if (slot.kind != LineSlot::Kind::Digest)
            continue;
        fixed += std::to_string(size);
        digests.push_back({slot.isOutput, std::uint32_t(slot.observation), digestsEnd, size});
        digestsEnd += size;
    }
    noteStated();
    fixed.append("\n").append(line.substr(at));
    fixedHash = std::hash<std::string>()(fixed);
    m_tail = at;
}

void LineForm::noteStated()
{
    std::array<std::vector<bool>, 2> isOwn{std::vector<bool>(record.inputs.size()),
                                           std::vector<bool>(record.outputs.size())};
    for (const Digest &own : digests)
        isOwn[own.isOutput ? 1 : 0][own.observation] = true;
    for (const bool isOutput : {false, true}) {
        const auto &list = isOutput ? record.outputs : record.inputs;
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            if (!isOwn[isOutput ? 1 : 0][i] && list[i].absence == Absence::Recorded)
                stated.emplace_back(isOutput, i);
        }
    }
}

bool LineForm::match(std::string_view line, FormedRecord &into, std::string &own) const
{
    const char *at = line.data();
    const char *const end = at + line.size();
    const auto passes = [&](std::string_view text) {
        if (std::size_t(end - at) < text.size() || std::memcmp(at, text.data(), text.size()) != 0)
            return false;
        at += text.size();
        return true;
    };
    own.clear();
    into.iteration = record.iteration;
    into.sequence = record.sequence;
    into.call = record.call;
    for (const Part &part : m_parts) {
        if (!passes({m_line.data() + part.begin, part.size}))
            return false;
        if (part.kind == LineSlot::Kind::Digest) {
            if (std::size_t(end - at) < part.digits || !isLowerHex(at, part.digits))
                return false;
            own.append(at, part.digits);
            at += part.digits;
            continue;
        }
        const auto number = numberAt(at, end);
        if (!number)
            return false;
        takeNumber(part.kind, *number, into);
    }
    if (!passes(std::string_view(m_line).substr(m_tail)) || at != end)
        return false;
    into.form = this;
    into.digests = own;
    return true;
}

std::size_t LineForm::bytes() const
{
    // The record holds the texts of the line, its observations more than that.
    return sizeof *this + 4 * m_line.size() + fixed.size()
        + (record.inputs.size() + record.outputs.size()) * 2 * sizeof(Observation);
}

const LineForm *LineForms::match(std::string_view line, FormedRecord &into)
{
    for (LineForm *next : (m_last ? m_last : &m_start)->m_next) {
        if (!next)
            break;
        if (next->match(line, into, m_digests)) {
            follow(next);
            return next;
        }
    }
    return nullptr;
}

/// It came next, and is the first to be tried there when that is asked again.
void LineForms::follow(LineForm *form)
{
    auto &next = (m_last ? m_last : &m_start)->m_next;
    const auto known = std::find(next.begin(), next.end() - 1, form);
    std::move_backward(next.begin(), known, known + 1);
    next.front() = form;
    m_last = form;
}

void LineForms::learn(LineForm form)
{
    const auto [begin, end] = m_byFixed.equal_range(form.fixedHash);
    const auto known =
        std::find_if(begin, end, [&](const auto &each) { return each.second->isLike(form); });
    if (known != end)
        return follow(known->second);
    const std::size_t bytes = form.bytes();
    if (m_bytes + bytes > limits::TraceFormBytes) {
        m_last = nullptr;
        return;
    }
    m_bytes += bytes;
    m_forms.push_back(std::make_unique<LineForm>(std::move(form)));
    m_byFixed.emplace(m_forms.back()->fixedHash, m_forms.back().get());
    follow(m_forms.back().get());
}

std::unique_ptr<LineForms> LineFormPool::take()
{
    const std::lock_guard guard(m_lock);
    if (m_free.empty())
        return std::make_unique<LineForms>();
    auto forms = std::move(m_free.back());
    m_free.pop_back();
    return forms;
}

void LineFormPool::give(std::unique_ptr<LineForms> forms)
{
    forms->startOver();
    const std::lock_guard guard(m_lock);
    m_free.push_back(std::move(forms));
}

} // namespace forkpoint
