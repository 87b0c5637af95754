// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/json_writer.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace forkpoint;

class TestJsonWriter : public QObject
{
    Q_OBJECT

private slots:
    void jsonText();
    void jsonNumbers();
};

void TestJsonWriter::jsonText()
{
    JsonWriter json(0);
    json.beginObject();
    json.key("a\"b\\").text("line\n\ttab\r\x01\x7f \xc3\xa9 \xff");
    json.key("list").beginArray().boolean(true).null().beginArray().endArray().endArray();
    json.key("object").beginObject().endObject();
    json.endObject();
    QCOMPARE(json.take(),
             std::string("{\"a\\\"b\\\\\":\"line\\n\\ttab\\r\\u0001\\u007f \xc3\xa9 \\\\xff\","
                         "\"list\":[true,null,[]],\"object\":{}}\n"));
    JsonWriter indented;
    indented.beginObject();
    indented.key("a").beginArray().number(std::int64_t(-1)).number(std::uint64_t(2)).endArray();
    indented.endObject();
    QCOMPARE(indented.take(), std::string("{\n \"a\": [\n  -1,\n  2\n ]\n}\n"));
}

void TestJsonWriter::jsonNumbers()
{
    const auto text = [](auto number) {
        JsonWriter json(0);
        json.number(number);
        return QByteArray::fromStdString(json.take()).trimmed();
    };
    QCOMPARE(text(1.0), QByteArray("1.0"));
    QCOMPARE(text(-0.0), QByteArray("-0.0"));
    QCOMPARE(text(0.1), QByteArray("0.1"));
    QCOMPARE(text(std::numeric_limits<double>::quiet_NaN()), QByteArray("\"nan\""));
    QCOMPARE(text(std::numeric_limits<double>::infinity()), QByteArray("\"inf\""));
    QCOMPARE(text(-std::numeric_limits<double>::infinity()), QByteArray("\"-inf\""));
    QCOMPARE(text(std::numeric_limits<std::int64_t>::min()), QByteArray("-9223372036854775808"));
    QCOMPARE(text(~std::uint64_t(0)), QByteArray("18446744073709551615"));
    constexpr unsigned Seed = 1;
    std::mt19937_64 random(Seed);
    for (int i = 0; i < 50'000; ++i) {
        const double value = std::bit_cast<double>(std::uint64_t(random()));
        if (!std::isfinite(value))
            continue;
        const QByteArray written = text(value);
        QVERIFY2(written.contains('.') || written.contains('e'), written);
        QVERIFY2(std::bit_cast<std::uint64_t>(written.toDouble())
                     == std::bit_cast<std::uint64_t>(value),
                 written);
    }
}

QTEST_APPLESS_MAIN(TestJsonWriter)
#include "tst_json_writer.moc"
