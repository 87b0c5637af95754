// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the rules of a mapping sheet, and says line by line what is wrong with them.
#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/storage/file_source.h"
#include "loaders/text/ascii.h"
#include "loaders/traces/mapping_sheet.h"
#include "model/rule_table.h"

#include <set>

namespace forkpoint {

namespace {

std::string fieldNames()
{
    std::string names;
    for (const MappingField field : allMappingFields())
        names += (names.empty() ? "" : ", ") + std::string(toString(field));
    return names;
}

} // namespace

class MappingSheetParser
{
public:
    explicit MappingSheetParser(std::string file) : m_file(std::move(file)) {}

    /// All that is wrong; the sheet is whole where nothing is.
    std::vector<Error> read(std::string_view text)
    {
        m_sheet.m_path = m_file;
        std::vector<Error> problems;
        const auto note = [&](const Status &status) {
            if (!status)
                problems.push_back(status.error());
        };
        std::string rules;
        for (const RuleLine &rule : ruleLines(text)) {
            m_line = rule.number;
            std::string_view rest = rule.text;
            const std::string_view word = takeWord(rest);
            rest = trimmed(rest);
            note(m_hasVersion ? takeRule(word, rest) : takeVersion(word, rest));
            // What belongs to no version known, or to too many rules, says nothing more.
            if (!m_hasVersion || m_rules > limits::MappingRules)
                return problems;
            rules += std::string(word) + ' ' + std::string(rest) + '\n';
        }
        if (!m_hasVersion)
            note(wrong("the sheet to begin with 'mapping 1', got nothing"));
        else if (problems.empty())
            note(checkWhole());
        m_sheet.m_digest = sha256Hex(asBytes(rules));
        return problems;
    }

    std::shared_ptr<const MappingSheet> take()
    {
        return std::make_shared<MappingSheet>(std::move(m_sheet));
    }

private:
    Error wrong(std::string expectation, ErrorCode code = ErrorCode::Malformed) const
    {
        return {code, m_file, m_line == 0 ? std::string() : "line " + std::to_string(m_line),
                "expected " + std::move(expectation)};
    }

    Status takeVersion(std::string_view word, std::string_view rest)
    {
        if (word != "mapping" || rest != "1")
            return wrong("the sheet to begin with 'mapping 1', got '" + std::string(word) + "'");
        m_hasVersion = true;
        return {};
    }

    Status takeRule(std::string_view word, std::string_view rest)
    {
        if (++m_rules > limits::MappingRules)
            return wrong("at most " + std::to_string(limits::MappingRules) + " rules",
                         ErrorCode::Limit);
        if (rest.empty())
            return wrong("something behind '" + std::string(word) + "'");
        if (word == "name") {
            m_sheet.m_name = rest;
        } else if (word == "files") {
            m_sheet.m_files.emplace_back(rest);
        } else if (word == "skip") {
            return takePattern(rest, false, m_sheet.m_skips);
        } else if (word == "path") {
            return takePattern(rest, true, m_sheet.m_paths);
        } else if (word == "line") {
            return takePattern(rest, true, m_sheet.m_lines);
        } else if (word == "key" || word == "set") {
            return takeField(word == "key", rest);
        } else {
            return wrong("one of name, files, skip, path, line, key, set, got '" + std::string(word)
                         + "'");
        }
        return {};
    }

    Status takePattern(std::string_view text, bool hasFields,
                       std::vector<MappingSheet::Rule> &patterns)
    {
        auto pattern = LinePattern::compile(std::string(text));
        if (!pattern.ok()) {
            Error error = pattern.error();
            error.file = m_file;
            error.place = "line " + std::to_string(m_line);
            return error;
        }
        for (const std::string &group : pattern->groups()) {
            if (!mappingFieldByName(group))
                return wrong("groups named after a field (" + fieldNames() + "), got '" + group
                             + "'");
        }
        if (hasFields && pattern->groups().empty())
            return wrong("a group such as (?P<name>...) in the expression");
        patterns.push_back({std::move(pattern).value(), m_line});
        return {};
    }

    Status takeField(bool isKey, std::string_view rest)
    {
        const std::string_view word = takeWord(rest);
        const std::string_view value = trimmed(rest);
        const auto field = mappingFieldByName(word);
        if (!field)
            return wrong("a field (" + fieldNames() + "), got '" + std::string(word) + "'");
        if (value.empty())
            return wrong((isKey ? "a key behind '" : "a text behind '") + std::string(word) + "'");
        if (!(isKey ? m_keyed : m_set).insert(*field).second)
            return wrong("one rule for " + std::string(word) + ", got a second");
        if (isKey) {
            m_sheet.m_keys.emplace_back(*field, value);
            return {};
        }
        if (*field == MappingField::Kind && !mappedDigestKind(value))
            return wrong("one of " + mappedDigestKinds() + ", got '" + std::string(value) + "'");
        m_sheet.m_constants[*field] = value;
        return {};
    }

    /// That every record can have a name, and a digest its kind.
    Status checkWhole()
    {
        m_line = 0;
        if (m_sheet.m_lines.empty() == m_sheet.m_keys.empty())
            return wrong("either line rules or key rules, got "
                         + std::string(m_sheet.m_lines.empty() ? "none" : "both"));
        std::set<MappingField> common = m_set;
        for (const MappingSheet::Rule &path : m_sheet.m_paths)
            common.merge(fieldsOf(path.pattern));
        if (!m_sheet.m_keys.empty()) {
            common.insert(m_keyed.begin(), m_keyed.end());
            return checkFields(common);
        }
        for (const MappingSheet::Rule &rule : m_sheet.m_lines) {
            std::set<MappingField> own = fieldsOf(rule.pattern);
            own.insert(common.begin(), common.end());
            m_line = rule.line;
            FP_CHECK(checkFields(own));
        }
        return {};
    }

    static std::set<MappingField> fieldsOf(const LinePattern &pattern)
    {
        std::set<MappingField> fields;
        for (const std::string &group : pattern.groups())
            fields.insert(*mappingFieldByName(group));
        return fields;
    }

    Status checkFields(const std::set<MappingField> &fields) const
    {
        if (fields.count(MappingField::Name) == 0)
            return wrong("a rule that gives the name of a record");
        if (fields.count(MappingField::Digest) > 0 && fields.count(MappingField::Kind) == 0)
            return wrong("the kind of the digest, such as 'set digest_kind sha256'");
        if (fields.count(MappingField::Digest) + fields.count(MappingField::Value)
                + fields.count(MappingField::Shape) + fields.count(MappingField::DType)
            == 0)
            return wrong("a rule for something to compare: digest, value, shape or dtype");
        return {};
    }

    std::string m_file;
    MappingSheet m_sheet;
    std::size_t m_line = 1, m_rules = 0; ///< m_line 0: of the whole
    bool m_hasVersion = false;
    std::set<MappingField> m_keyed, m_set;
};

Result<std::shared_ptr<const MappingSheet>> MappingSheet::parse(std::string_view text,
                                                                const std::string &file)
{
    MappingSheetParser parser(file);
    const std::vector<Error> problems = parser.read(text);
    if (!problems.empty())
        return problems.front();
    return parser.take();
}

std::vector<Error> MappingSheet::problems(std::string_view text, const std::string &file)
{
    return MappingSheetParser(file).read(text);
}

Result<std::string> sheetText(const std::filesystem::path &path)
{
    const std::string name = path.string();
    FP_TRY(const auto file, FileSource::open(path, name));
    if (file->size() > limits::MappingBytes)
        return Error{ErrorCode::Limit,
                     name,
                     {},
                     "a sheet has at most " + std::to_string(limits::MappingBytes) + " bytes"};
    std::string text(std::size_t(file->size()), '\0');
    FP_CHECK(file->read(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
    return text;
}

Result<std::shared_ptr<const MappingSheet>> MappingSheet::read(const std::filesystem::path &path)
{
    FP_TRY(const std::string text, sheetText(path));
    return parse(text, path.string());
}

} // namespace forkpoint
