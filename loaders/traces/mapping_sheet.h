// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/line_pattern.h"
#include "loaders/traces/mapping_fields.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a mapping sheet says of a line.
struct MappedLine
{
    enum class Use {
        Record,        ///< `texts` has its fields
        Skipped,       ///< a rule says that it is no record
        NotUnderstood, ///< `problem` says why: a record may be missing
    };
    Use use = Use::NotUnderstood;
    MappedTexts texts;
    std::string problem;
    std::size_t rule = 0; ///< line of the sheet whose expression decided; 0: none, or keys
};

/// How the lines of a trace that no dialect knows are read: by regular expressions with named groups,
/// or by keys of JSON objects. The format of a sheet is in resources/docs/mapping.md; a sheet that is
/// not of that format is an error with its line and what is expected there.
class MappingSheet
{
public:
    /// `file`: as errors name the sheet.
    static Result<std::shared_ptr<const MappingSheet>> parse(std::string_view text,
                                                             const std::string &file);
    /// Every rule that is wrong, in the order of the sheet; empty where parse() succeeds.
    static std::vector<Error> problems(std::string_view text, const std::string &file);
    static Result<std::shared_ptr<const MappingSheet>> read(const std::filesystem::path &path);

    const std::string &name() const { return m_name; }     ///< of what it reads
    const std::string &path() const { return m_path; }     ///< as it was given
    const std::string &digest() const { return m_digest; } ///< SHA-256 of its rules
    /// Whether it says by names which files are to be read, and whether one of them is this:
    /// "run.jsonl" takes run.jsonl.gz too.
    bool choosesFiles() const { return !m_files.empty(); }
    bool choosesFile(std::string_view name) const;

    /// What holds for all lines of a file of that name.
    MappedTexts textsOfFile(std::string_view name) const;
    MappedLine take(std::string_view line, const MappedTexts &ofFile) const;

private:
    friend class MappingSheetParser;
    MappingSheet() = default;
    MappedLine takeJson(std::string_view line) const;
    MappedLine takeText(std::string_view line) const;

    std::string m_name = "sheet", m_path, m_digest;
    std::vector<std::string> m_files;
    struct Rule
    {
        LinePattern pattern;
        std::size_t line = 0; ///< of the sheet, from 1
    };
    std::vector<Rule> m_skips, m_lines, m_paths;
    std::vector<std::pair<MappingField, std::string>> m_keys;
    MappedTexts m_constants;
};

/// What a file of a sheet holds, at most limits::MappingBytes.
Result<std::string> sheetText(const std::filesystem::path &path);

} // namespace forkpoint
