// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json.h"

#include "loaders/limits.h"
#include "loaders/text/json_values.h"
#include "tests/support/json_documents.h"
#include "tests/support/loaded_file.h"

#include <QTest>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

using namespace forkpoint;

namespace {

std::size_t allocations = 0; // of this thread: the test has no other
}

void *operator new(std::size_t size)
{
    ++allocations;
    if (void *const memory = std::malloc(size == 0 ? 1 : size))
        return memory;
    throw std::bad_alloc();
}
// std::stable_sort takes its buffer from this one; were it left out, a sanitizer's own would meet the delete below.
void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

class TestJson : public QObject
{
    Q_OBJECT

private slots:
    void findingAllocatesNothing()
    {
        const auto parsed =
            JsonDocument::parse(R"({"a": [1, 2], "b": {"a": 3}, "c": "x", "d": null, "e": 5})");
        QVERIFY(parsed.ok());
        const JsonValue root = parsed->root();
        const std::size_t before = allocations;
        const auto last = root.find("e");
        const auto missing = root.find("f");
        QCOMPARE(allocations, before);
        QCOMPARE(*last->unsignedInteger(), std::uint64_t(5));
        QVERIFY(!missing);
    }

    void keepsOrderAndExactIntegers()
    {
        const auto parsed = JsonDocument::parse(
            " {\"b\": 18446744073709551615, \"a\": -9223372036854775808,\n\"c\": [1.5, true, null,"
            " \"x\\u00e9\\ud83d\\ude00\", {}], \"d\": 100000000000000000000} ");
        QVERIFY(parsed.ok());
        const auto members = parsed->root().children();
        QCOMPARE(members.size(), std::size_t(4));
        QCOMPARE(members[0].key(), std::string_view("b"));
        QCOMPARE(*members[0].unsignedInteger(), ~std::uint64_t(0));
        QCOMPARE(*members[1].negative(), std::numeric_limits<std::int64_t>::min());
        QVERIFY(!members[1].unsignedInteger());
        const auto items = members[2].children();
        QCOMPARE(items.size(), std::size_t(5));
        QCOMPARE(*items[0].real(), 1.5);
        QCOMPARE(*items[1].boolean(), true);
        QVERIFY(items[2].kind() == JsonValue::Kind::Null);
        QCOMPARE(*items[3].text(), std::string_view("x\xC3\xA9\xF0\x9F\x98\x80"));
        QVERIFY(items[4].isObject());
        QVERIFY(members[3].kind() == JsonValue::Kind::Digits);
        QVERIFY(!members[3].unsignedInteger());
        QVERIFY(parsed->root().find("c").has_value());
        QVERIFY(!parsed->root().find("e").has_value());
    }

    /// What Python's json.dumps writes for floats that are none; the second text is not plain.
    void takesBareNonFiniteNumbersWhereAsked()
    {
        for (const std::string_view end : {"\"c\"", "\"\u00e9\""}) {
            const std::string text =
                "{\"NaN\": NaN, \"b\": [Infinity, -Infinity,NaN], \"d\": " + std::string(end) + "}";
            QVERIFY(!JsonDocument::parse(text).ok());
            const auto parsed = JsonDocument::parse(text, RepeatedKeys::Refuse, NonFinite::Take);
            QVERIFY2(parsed.ok(), text.c_str());
            QVERIFY(parsed->hasNonFinite());
            const auto members = parsed->root().children();
            QVERIFY(std::isnan(*members[0].real()));
            QCOMPARE(members[0].key(), std::string_view("NaN"));
            const auto items = members[1].children();
            QCOMPARE(*items[0].real(), std::numeric_limits<double>::infinity());
            QCOMPARE(*items[1].real(), -std::numeric_limits<double>::infinity());
            QVERIFY(std::isnan(*items[2].real()));
        }
        const auto taken = [](std::string_view text) {
            return JsonDocument::parse(text, RepeatedKeys::Refuse, NonFinite::Take);
        };
        for (const std::string_view bad :
             {"[1NaN]", "[NaN5]", "[nan]", "[-NaN]", "[+Infinity]", "[Infinityx]", "[--Infinity]",
              "[NaN\xff]", "{NaN: 1}", "NaN5", "[0.0NaN]"})
            QVERIFY2(!taken(bad).ok(), std::string(bad).c_str());
        const auto lone = taken("NaN");
        QVERIFY(std::isnan(*lone->root().real()));
        QVERIFY(!taken("[\"NaN\", 0.0]")->hasNonFinite());
        const auto mixed = taken("[NaN,0.0,0.0,\"\u00e9\"]");
        QCOMPARE(*mixed->root().children()[1].real(), 0.0);
        QVERIFY(!taken("[0.0]")->hasNonFinite());
        QCOMPARE(taken("[NaN, \"\u00e9\", x]").error().place, std::string("byte 12"));
        JsonDocument again; // the structure of the line before, and other scalars
        QVERIFY(again.reparse("[1.5, 2]", RepeatedKeys::Refuse, NonFinite::Take).ok());
        QVERIFY(again.reparse("[NaN, 2]", RepeatedKeys::Refuse, NonFinite::Take).ok());
        QVERIFY(again.hasNonFinite());
        QVERIFY(again.reparse("[2.5, 2]", RepeatedKeys::Refuse, NonFinite::Take).ok());
        QVERIFY(!again.hasNonFinite() && *again.root().children()[0].real() == 2.5);
    }

    void keepsRepeatedKeysWhereAsked()
    {
        const auto parsed =
            JsonDocument::parse("{\"k\": 1, \"l\": 2, \"k\": 3}", RepeatedKeys::Keep);
        QVERIFY(parsed.ok());
        QCOMPARE(parsed->root().childCount(), std::size_t(3));
        QCOMPARE(*parsed->root().find("k")->unsignedInteger(), std::uint64_t(3));
    }

    void foldsOnlyNumbersThatOneTypeHolds()
    {
        const auto valuesOf = [](const QByteArray &last) {
            QByteArray text = "[0.5";
            for (int i = 0; i < 64; ++i)
                text += ", 7";
            text += ", " + last + "]";
            CheckpointBuilder builder;
            (void)addJsonValues(*test::memory(text), {}, builder).ok();
            return builder.build("json")->catalog().values;
        };
        // hashlib.sha256(struct.pack("<66d", 0.5, *[7] * 64, 2**53)).hexdigest()
        const auto folded = valuesOf("9007199254740992");
        QCOMPARE(folded.size(), std::size_t(1));
        QCOMPARE(folded[0].value.digest,
                 std::string("521f04f684dff6cb679c6b487e7fb6771bba9d5b92fc203f805f395f6b2bcce0"));
        QCOMPARE(valuesOf("9007199254740993").size(), std::size_t(66)); // 2**53 + 1
        QCOMPARE(valuesOf("-9223372036854775808").size(), std::size_t(1));
        QCOMPARE(valuesOf("9223372036854775807").size(), std::size_t(66));
    }

    void longKeysAboveManyValuesAreRefused()
    {
        // 64 KiB of a key in 20 000 paths: 1.3 GB.
        const QByteArray text = "{\"" + QByteArray(65536, 'k') + "\": ["
            + QByteArray("null,").repeated(20'000) + "null]}";
        CheckpointBuilder builder;
        const Status status = addJsonValues(*test::memory(text), {}, builder);
        QVERIFY(!status.ok());
        QVERIFY(status.error().code == ErrorCode::Limit);
        QVERIFY(status.error().place.size() < 1000);
        QVERIFY(builder.catalog().values.empty());
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("words");
        QTest::newRow("empty") << QByteArray() << "";
        QTest::newRow("comma") << QByteArray("{\"a\": 1,}") << "";
        QTest::newRow("trailing") << QByteArray("{} {}") << "byte 3";
        QTest::newRow("NUL padding")
            << QByteArray("{}\0\0", 4) << "byte 2: must be JSON, has a NUL";
        QTest::newRow("comment") << QByteArray("{} // x") << "";
        QTest::newRow("NaN") << QByteArray("[NaN]") << "";
        QTest::newRow("infinity") << QByteArray("[1e999]") << "";
        QTest::newRow("BOM") << QByteArray("\xEF\xBB\xBF{}") << "byte order mark";
        QTest::newRow("overlong") << QByteArray("[\"\xC0\xAF\"]") << "";
        QTest::newRow("bad UTF-8") << QByteArray("[\"\xFF\"]") << "";
        QTest::newRow("surrogate bytes") << QByteArray("[\"\xED\xA0\x80\"]") << "";
        QTest::newRow("lone surrogate") << QByteArray("[\"\\ud800\"]") << "";
        QTest::newRow("control") << QByteArray("[\"a\nb\"]") << "";
        QTest::newRow("duplicate") << QByteArray("{\"k\": 1, \"l\": 2, \"k\": 1}") << "'k' twice";
        QTest::newRow("duplicate by escape")
            << QByteArray("{\"k\": 1, \"\\u006b\": 1}") << "'k' twice";
        QTest::newRow("nested duplicate")
            << QByteArray("[{\"a\": {\"x\": 1, \"x\": 2}}]") << "'x' twice";
        QTest::newRow("deep") << QByteArray(30000, '[') << "at most 64 levels";
        QTest::newRow("deep objects")
            << QByteArray("{\"a\":").repeated(20000) << "at most 64 levels";
        QTest::newRow("unclosed") << QByteArray("{\"a\": [1") << "";
        QTest::newRow("leading zero") << QByteArray("[01]") << "";
    }

    void refuses()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QString, words);
        const auto parsed = JsonDocument::parse({text.constData(), std::size_t(text.size())});
        QVERIFY(!parsed.ok());
        const QString message = QString::fromStdString(parsed.error().message());
        QVERIFY2(message.startsWith("byte "), qPrintable(message));
        QVERIFY2(message.contains(words), qPrintable(message));
    }

    void bothParsersAgree_data()
    {
        QTest::addColumn<QByteArray>("text");
        const std::pair<const char *, const char *> texts[] = {
            {"members", R"({"a": 1, "b": [], "c": {}, "d": [1, [2], {"e": [3]}], "f": null})"},
            {"tight", R"({"a":1,"b":[true,false,null],"c":""})"},
            {"space", " \t\r\n{ \"a\" :\n[ 1 , 2 ]\t}\r\n "},
            {"scalars", "7"},
            {"text alone", "\"x\""},
            {"integers",
             "[0, -0, 18446744073709551615, 18446744073709551616, -9223372036854775808,"
             " -9223372036854775809, 123456789012345678901234567890]"},
            {"floats",
             "[0.1, -0.0, 1e22, 1E+22, 1e-7, 4.9e-324, 2.4703282292062327e-324, 1e-400, "
             "1.7976931348623157e308, 1.0000000000000002, 9007199254740993.0, 5e-320]"},
            {"too large", "[1.8e308]"},
            {"not numbers", "[.5]"},
            {"no fraction", "[1.]"},
            {"no exponent", "[1e]"},
            {"no digits", "[-]"},
            {"plus", "[+1]"},
            {"hexadecimal", "[0x10]"},
            {"leading zeros", "[-01]"},
            {"words", "[nul]"},
            {"longer words", "[nulls]"},
            {"escapes", R"(["\n\u0041", {"\u0061": 1, "b": 2}])"},
            {"UTF-8", "[\"\xC3\xA9\", \"\x7F\"]"},
            {"wrong marks", "[1}"},
            {"wrong marks of objects", R"({"a": 1])"},
            {"no comma", "[1 2]"},
            {"two commas", "[1,,2]"},
            {"comma first", "[,1]"},
            {"comma last", "[1,]"},
            {"comma last in an object", R"({"a": 1,})"},
            {"no colon", R"({"a" 1})"},
            {"no key", "{1: 2}"},
            {"no value", R"({"a":})"},
            {"two values", "1 2"},
            {"open", "[[1, 2]"},
            {"closed too often", "[1]]"},
            {"repeated", R"({"a": 1, "b": 2, "a": 3})"},
            {"repeated below", R"([{"x": {"k": 1, "k": 1}}, {"k": 1}, {"k": 2}])"},
            {"keys of one kind", R"({"ab": 1, "ba": 2, "aab": 3, "": 4, " ": 5})"},
        };
        for (const auto &[name, text] : texts)
            QTest::newRow(name) << QByteArray(text);
        QByteArray many = "{";
        for (int i = 0; i < 200; ++i)
            many += "\"key" + QByteArray::number(i) + "\": " + QByteArray::number(i) + ", ";
        QTest::newRow("many keys") << many + "\"last\": 0}";
        QTest::newRow("many keys, one twice") << many + "\"key7\": 0}";
        const int depth = int(limits::JsonDepth);
        QTest::newRow("deepest") << QByteArray(depth, '[') + QByteArray(depth, ']');
        QTest::newRow("too deep") << QByteArray(depth + 1, '[') + QByteArray(depth + 1, ']');
    }

    /// The short way for plain texts is held to the general parser: values, order, and errors.
    void bothParsersAgree()
    {
        QFETCH(const QByteArray, text);
        for (qsizetype length = 0; length <= text.size(); ++length) {
            const std::string_view prefix(text.constData(), std::size_t(length));
            QVERIFY2(test::bothParseAlike(prefix), qPrintable(QString::number(length)));
            QVERIFY(test::bothParseAlike(prefix, RepeatedKeys::Keep));
            QVERIFY(test::membersAreAlike(prefix));
        }
    }

    void membersOfPlainObjectsAreMetOneByOne()
    {
        const std::string text = " { \"a\" : {\"x\": [1, 2]} ,\"b\":{\"x\":[3,4]},\"\": 5}\n";
        JsonMembers members(text);
        std::vector<std::string> keys;
        std::vector<std::uint64_t> numbers;
        while (members.next() == JsonMembers::Step::Member) {
            keys.emplace_back(members.key());
            const auto list = members.value().find("x");
            numbers.push_back(*(list ? list->children()[1] : members.value()).unsignedInteger());
        }
        QVERIFY(members.next() == JsonMembers::Step::End);
        QCOMPARE(keys, (std::vector<std::string>{"a", "b", ""}));
        QCOMPARE(numbers, (std::vector<std::uint64_t>{2, 4, 5}));
        for (const char *odd : {"", "7", "[]", "{", "{} x", "{\"\\u0061\": 1}", "{\"a\": 1,}"}) {
            JsonMembers cannot(odd);
            while (cannot.next() == JsonMembers::Step::Member) {}
            QVERIFY2(cannot.next() == JsonMembers::Step::CannotTell, odd);
        }
    }

    void aDocumentIsUsedAgain()
    {
        JsonDocument document;
        QVERIFY(document.reparse("{\"a\": [1, 2, 3], \"b\": \"long enough to need memory\"}").ok());
        const std::size_t before = allocations;
        QVERIFY(document.reparse("{\"a\": [4], \"b\": \"shorter\"}").ok());
        QCOMPARE(allocations, before);
        QCOMPARE(*document.root().find("b")->text(), std::string_view("shorter"));
        QVERIFY(!document.reparse("{\"a\": [4}").ok());
        QVERIFY(document.reparse("[\"\\u0041\"]").ok());
        QCOMPARE(*document.root().children()[0].text(), std::string_view("A"));
    }

    /// A line after a line is read by what the first was like: the same as by itself, whatever differs.
    void linesAreReadAsEachByItself()
    {
        const std::string line =
            R"({"n": 12, "": [1, [], {}], "t": "abc", "o": {"x": null, "y": [true, -3.5e1]}})";
        std::vector<std::string> lines = {
            line,
            R"({"n": 3, "": [222, [], {}], "t": "", "o": {"x": false, "y": [null, "z"]}})",
            R"({"n": "12", "": [-1, [], {}], "t": 7, "o": {"x": 1.5, "y": [0, 18446744073709551616]}})",
            R"({"n": [12], "": [1, [], {}], "t": {"a": 1}, "o": {"x": null, "y": [true, 1]}})",
            R"({"m": 12, "": [1, [], {}], "t": "abc", "o": {"m": null, "y": [true, 1]}})",
            "7",
            "\"\"",
            "[]",
            "{}",
            "",
            " [1]",
            "[1] "};
        for (std::size_t at = 0; at < line.size(); ++at) {
            for (const char c : std::string_view("0\"}],\\:x")) {
                lines.push_back(line);
                lines.back()[at] = c;
            }
            lines.push_back(line.substr(0, at));
            lines.push_back(line.substr(0, at) + ' ' + line.substr(at));
        }
        for (const RepeatedKeys repeated : {RepeatedKeys::Refuse, RepeatedKeys::Keep}) {
            for (std::size_t i = 0; i < lines.size(); ++i) {
                for (const std::size_t first : {std::size_t(0), i / 2, i}) {
                    JsonDocument document;
                    static_cast<void>(document.reparse(lines[first], repeated));
                    const bool read = document.reparse(lines[i], repeated).ok();
                    const auto alone = JsonDocument::parseGeneral(lines[i], repeated);
                    QVERIFY2(read == alone.ok(), lines[i].c_str());
                    QVERIFY2(!read || test::sameJson(document.root(), alone->root()),
                             lines[i].c_str());
                }
            }
        }
    }

    /// Members asked for in any order, and those that are not there.
    void findsNearTheLast()
    {
        const std::string text = R"({"a": {"b": 1, "z": 2}, "b": [3], "aa": 4, "": 5, "c": 6})";
        const auto document = JsonDocument::parse(text);
        QVERIFY(document.ok());
        const std::array<std::string_view, 6> keys = {"a", "b", "aa", "", "c", "z"};
        for (const JsonValue &object : {document->root(), *document->root().find("a")}) {
            for (const std::string_view first : keys) {
                for (const std::string_view second : keys) {
                    std::uint32_t last = 0;
                    static_cast<void>(object.find(first, last));
                    const auto found = object.find(second, last), expected = object.find(second);
                    QCOMPARE(found.has_value(), expected.has_value());
                    QVERIFY(!found || test::sameJson(*found, *expected));
                }
            }
        }
    }

    void allowsWhatIsAtTheLimit()
    {
        const int depth = int(limits::JsonDepth);
        const std::string text =
            std::string(std::size_t(depth), '[') + std::string(std::size_t(depth), ']');
        QVERIFY(JsonDocument::parse(text).ok());
        QVERIFY(!JsonDocument::parse('[' + text + ']').ok());
    }

    void everyPrefixIsRefusedOrWhole()
    {
        const std::string text = "{\"a\": [1, -2, 3.5e1, \"\\u00e9\"], \"b\": {\"c\": null}}";
        for (std::size_t length = 0; length < text.size(); ++length)
            QVERIFY(!JsonDocument::parse(std::string_view(text).substr(0, length)).ok());
        QVERIFY(JsonDocument::parse(text).ok());
    }
};

QTEST_APPLESS_MAIN(TestJson)
#include "tst_json.moc"
