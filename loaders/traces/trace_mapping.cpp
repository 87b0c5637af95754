// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_mapping.h"

#include "loaders/traces/trace_lines.h"
#include "model/format.h"

namespace forkpoint {

namespace {

class MappedReader final : public TraceLineReader
{
public:
    MappedReader(std::shared_ptr<const MappingSheet> sheet, const TraceFile &file,
                 const TracePlace &from)
        : TraceLineReader(file, from),
          m_sheet(std::move(sheet)),
          m_ofFile(m_sheet->textsOfFile(file.name)),
          m_index(file.index)
    {
        addFact(TraceFact::Role::Schema, "mapping", m_sheet->digest());
    }

    std::optional<std::int64_t> rankOfRecord() const override { return m_rank; }

private:
    Use take(std::string_view line, TraceRecord &record, std::string &problem) override
    {
        ++m_lines;
        MappedLine taken = m_sheet->take(line, m_ofFile);
        if (taken.use == MappedLine::Use::Skipped)
            return Use::Other;
        m_rank.reset();
        problem = taken.use == MappedLine::Use::Record ? fillRecord(taken.texts, record, m_rank)
                                                       : std::move(taken.problem);
        if (!problem.empty()) {
            ++m_notUnderstood;
            return Use::Bad;
        }
        return Use::Record;
    }

    void atEnd() override
    {
        if (m_notUnderstood > 0)
            addProblem({m_index, 0, 0, 0, 0}, "not-understood",
                       counted(m_notUnderstood, "line", "lines") + " of " + std::to_string(m_lines)
                           + " not understood by the sheet");
    }

    std::shared_ptr<const MappingSheet> m_sheet;
    MappedTexts m_ofFile;
    std::uint32_t m_index;
    std::optional<std::int64_t> m_rank; ///< of the record read last
    std::uint64_t m_lines = 0, m_notUnderstood = 0;
};

class Mapped final : public TraceDialect
{
public:
    explicit Mapped(std::shared_ptr<const MappingSheet> sheet)
        : m_sheet(std::move(sheet)),
          m_name("mapping " + m_sheet->name())
    {
    }

    std::string_view name() const override { return m_name; }
    std::string_view description() const override { return "lines as a mapping sheet reads them"; }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &file, std::string_view head) const override
    {
        if (m_sheet->choosesFiles())
            return m_sheet->choosesFile(file.name) ? Confidence::Yes : Confidence::No;
        const MappedTexts ofFile = m_sheet->textsOfFile(file.name);
        while (!head.empty()) {
            const std::size_t end = std::min(head.find('\n'), head.size());
            std::string_view line = head.substr(0, end);
            head.remove_prefix(std::min(end + 1, head.size()));
            if (line.ends_with('\r'))
                line.remove_suffix(1);
            if (m_sheet->take(line, ofFile).use == MappedLine::Use::Record)
                return Confidence::Yes;
        }
        return Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<MappedReader>(m_sheet, file, from));
    }

private:
    std::shared_ptr<const MappingSheet> m_sheet;
    std::string m_name;
};

} // namespace

std::shared_ptr<const TraceDialect> mappingDialect(std::shared_ptr<const MappingSheet> sheet)
{
    return std::make_shared<Mapped>(std::move(sheet));
}

} // namespace forkpoint
