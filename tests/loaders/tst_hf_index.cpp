// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/hf_index.h"

#include <QtTest>

using namespace forkpoint;

namespace {

MemorySource sourceOf(std::string_view text)
{
    const ByteView bytes = asBytes(text);
    return {"m.index.json", {bytes.begin(), bytes.end()}};
}

Result<HfIndex> parse(std::string_view text)
{
    return readHfIndex(sourceOf(text));
}

} // namespace

class HfIndexTest : public QObject
{
    Q_OBJECT

private slots:
    void groupsNamesByShard()
    {
        const auto index = parse(R"({"metadata": {"total_size": 12, "x": [1, {"y": 2}]},
            "weight_map": {"b": "1", "a": "2", "c": "1"}, "more": {"weight_map": 3}})");
        QVERIFY(index.ok());
        QCOMPARE(index->totalSize.value_or(0), quint64(12));
        QCOMPARE(index->shards.size(), std::size_t(2));
        QCOMPARE(index->shards.at("1"), (std::vector<std::string>{"b", "c"}));
        QVERIFY(index->diagnostics.empty());
    }

    void saysRepeatedNames()
    {
        const auto index = parse(R"({"weight_map": {"a": "1", "a": "2"}})");
        QVERIFY(index.ok());
        QCOMPARE(index->diagnostics.size(), std::size_t(1));
        QCOMPARE(index->shards.count("2"), std::size_t(1)); // as Python's json.load
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        const auto row = [](const char *name, QByteArray text, const char *code) {
            QTest::newRow(name) << text << code;
        };
        row("list", R"({"weight_map": ["a"]})", "malformed");
        row("text", R"({"weight_map": "a"})", "malformed");
        row("number for a shard", R"({"weight_map": {"a": 1}})", "malformed");
        row("object for a shard", R"({"weight_map": {"a": {"b": "c"}}})", "malformed");
        row("list for a shard", R"({"weight_map": {"a": ["c"]}})", "malformed");
        row("no weight_map", R"({"metadata": {}})", "malformed");
        row("no object", R"([{"weight_map": {}}])", "malformed");
        row("cut", R"({"weight_map": {"a": "b")", "malformed");
        row("empty", "", "malformed");
        row("itself", R"({"weight_map": {"a": "m.index.json"}})", "refused");
        row("deep", "{\"x\": " + QByteArray(100000, '['), "limit");
        row("deep weight_map", "{\"weight_map\": {\"a\": " + QByteArray(100000, '{'), "malformed");
    }

    void refuses()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        const auto index = parse(text.toStdString());
        QVERIFY(!index.ok());
        QCOMPARE(QString::fromUtf8(toString(index.error().code).data()), code);
        QCOMPARE(index.error().file, "m.index.json");
    }

    void everyPrefixIsAnError()
    {
        const std::string text = R"({"metadata": {"total_size": 1.0}, "weight_map": {"a": "b"}})";
        QVERIFY(parse(text).ok());
        for (std::size_t length = 0; length < text.size(); ++length)
            QVERIFY(!parse(std::string_view(text).substr(0, length)).ok());
    }

    void recognisesByContent()
    {
        QVERIFY(isHfIndex(sourceOf(" {\"weight_map\": {}}")));
        QVERIFY(!isHfIndex(sourceOf("weight_map")));
        QVERIFY(!isHfIndex(sourceOf("{\"a\": 1}")));
        const std::string late =
            "{\"metadata\": \"" + std::string(10000, 'x') + "\", \"weight_map\": {}}";
        QVERIFY(isHfIndex(sourceOf(late)));
    }

    void shardNames_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<bool>("plain");
        QTest::newRow("plain") << QByteArray("model-00001-of-00002.safetensors") << true;
        QTest::newRow("dots") << QByteArray("a..b") << true;
        QTest::newRow("up") << QByteArray("../x") << false;
        QTest::newRow("parent") << QByteArray("..") << false;
        QTest::newRow("here") << QByteArray(".") << false;
        QTest::newRow("absolute") << QByteArray("/etc/passwd") << false;
        QTest::newRow("backslash") << QByteArray("..\\x") << false;
        QTest::newRow("below") << QByteArray("a/b") << false;
        QTest::newRow("nul") << QByteArray("a\0b", 3) << false;
        QTest::newRow("drive") << QByteArray("C:x") << false;
        QTest::newRow("scheme") << QByteArray("file:x") << false;
        QTest::newRow("empty") << QByteArray() << false;
    }

    void shardNames()
    {
        QFETCH(QByteArray, name);
        QFETCH(bool, plain);
        QCOMPARE(!whyNoShardName(name.toStdString()).has_value(), plain);
    }
};

QTEST_APPLESS_MAIN(HfIndexTest)
#include "tst_hf_index.moc"
