// SPDX-License-Identifier: GPL-3.0-or-later
// The pickle machine: what it refuses, what it accepts, and that it never resolves a name. Expected
// numbers and texts are Python's own (see each row); the accepted pickles were written by it.
#include "loaders/torch/pickle_globals.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_text.h"
#include "loaders/torch/pickle_vm.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTest>

using namespace forkpoint;

namespace {

/// A literal with whatever NULs are in it.
template <std::size_t Size>
QByteArray raw(const char (&literal)[Size])
{
    return QByteArray(literal, qsizetype(Size - 1));
}

Result<std::shared_ptr<const PickleGraph>> readBytes(const QByteArray &bytes)
{
    const auto data = asBytes({bytes.constData(), std::size_t(bytes.size())});
    return readPickle(std::make_shared<const std::vector<std::byte>>(data.begin(), data.end()), 0,
                      {});
}

QByteArray fileBytes(const char *name)
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/torch/") + QLatin1String(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QString printed(const QByteArray &pickle)
{
    const auto graph = readBytes(pickle);
    if (!graph.ok())
        return QStringLiteral("error: ") + QString::fromStdString(graph.error().message());
    return QString::fromStdString(printPickle(*graph.value(), graph.value()->root, 10000).text);
}

} // namespace

class TestPickleVm : public QObject
{
    Q_OBJECT

private slots:
    void refuses_data();
    void refuses();
    void prints_data();
    void prints();
    void hugeIntegerIsQuick();
    void everyCutIsRefused_data();
    void everyCutIsRefused();
    void garbledNeverCrashes();
    void deepNestingNeedsNoStack();
    void cyclesAreNodes();
    void namesStaySymbols();
    void dangerousNames_data();
    void dangerousNames();
    void growsToTheLengthOfAPickle();
    void utf8_data();
    void utf8();
};

void TestPickleVm::refuses_data()
{
    QTest::addColumn<QByteArray>("pickle");
    QTest::addColumn<int>("code");
    const auto row = [](const char *name, const QByteArray &pickle, ErrorCode code) {
        QTest::newRow(name) << pickle << int(code);
    };
    const QByteArray four("\0\0\0\0", 4);
    row("nothing", "", ErrorCode::Truncated);
    row("no STOP", "N", ErrorCode::Truncated);
    row("STOP on an empty stack", ".", ErrorCode::Malformed);
    row("unknown opcode", "\xff.", ErrorCode::Malformed);
    row("protocol 6", "\x80\x06N.", ErrorCode::Unsupported);
    row("POP of nothing", "0N.", ErrorCode::Malformed);
    row("DUP of nothing", "2.", ErrorCode::Malformed);
    row("POP_MARK without MARK", "1N.", ErrorCode::Malformed);
    row("REDUCE of nothing", "R.", ErrorCode::Malformed);
    row("REDUCE with a list", "cos\nsystem\n]R.", ErrorCode::Malformed);
    row("REDUCE across a MARK", "cos\nsystem\n()R.", ErrorCode::Malformed);
    row("NEWOBJ of nothing", "\x81.", ErrorCode::Malformed);
    row("NEWOBJ_EX without dict", "ca\nb\n))\x92.", ErrorCode::Malformed);
    row("OBJ without class", "(o.", ErrorCode::Malformed);
    row("INST without MARK", "ia\nb\n.", ErrorCode::Malformed);
    row("BUILD on an int", "K\x01}b.", ErrorCode::Malformed);
    row("BUILD on a dict", "}}b.", ErrorCode::Malformed);
    row("TUPLE without MARK", "Nt.", ErrorCode::Malformed);
    row("TUPLE3 of two", "NN\x87.", ErrorCode::Malformed);
    row("DICT of three", "(NNNd.", ErrorCode::Malformed);
    row("SETITEM on a list", "]NNs.", ErrorCode::Malformed);
    row("SETITEMS of three", "}(NNNu.", ErrorCode::Malformed);
    row("APPEND on a dict", "}Na.", ErrorCode::Malformed);
    row("APPEND on a tuple", ")Na.", ErrorCode::Malformed);
    row("ADDITEMS on a list", "](N\x90.", ErrorCode::Malformed);
    row("APPENDS without a list", "(Ne.", ErrorCode::Malformed);
    row("list as key", "}]Ns.", ErrorCode::Malformed);
    row("dict in a set", "\x8f(}\x90.", ErrorCode::Malformed);
    row("GET never put", "h\x05.", ErrorCode::Malformed);
    row("GET of text", "gx\n.", ErrorCode::Malformed);
    row("GET of a negative", "g-1\n.", ErrorCode::Malformed);
    row("PUT of nothing", "q\x01N.", ErrorCode::Malformed);
    row("PUT at 2^32 - 1", QByteArray("Nr\xff\xff\xff\xff."), ErrorCode::Limit);
    row("2,000,001 lists", '(' + QByteArray(2'000'001, ']') + "t.", ErrorCode::Limit);
    row("200,000 open marks", QByteArray(200'000, '(') + '.', ErrorCode::Limit);
    row("PUT of 20 digits", "Np99999999999999999999\n.", ErrorCode::Malformed);
    row("INT without digits", "Ix\n.", ErrorCode::Malformed);
    row("LONG without digits", "LL\n.", ErrorCode::Malformed);
    row("FLOAT that is none", "Fx\n.", ErrorCode::Malformed);
    row("FLOAT with a tail", "F1.5x\n.", ErrorCode::Malformed);
    row("STRING unquoted", "Sab\n.", ErrorCode::Malformed);
    row("STRING with one quote", "S'\n.", ErrorCode::Malformed);
    row("STRING with a bad escape", "S'\\xg0'\n.", ErrorCode::Malformed);
    row("UNICODE with a bad escape", "V\\u12\n.", ErrorCode::Malformed);
    row("no end of line", "I1", ErrorCode::Truncated);
    row("BINUNICODE not UTF-8", raw("X\x01\0\0\0\xff."), ErrorCode::Malformed);
    row("BINUNICODE overlong", raw("X\x02\0\0\0\xc0\x80."), ErrorCode::Malformed);
    row("GLOBAL not UTF-8", "c\xff\nb\n.", ErrorCode::Malformed);
    row("STACK_GLOBAL of ints", "K\x01K\x02\x93.", ErrorCode::Malformed);
    row("BININT cut", "J\x01\x02", ErrorCode::Truncated);
    row("BINFLOAT cut", "G\x01\x02.", ErrorCode::Truncated);
    row("BINSTRING negative", "T\xff\xff\xff\xff.", ErrorCode::Malformed);
    row("BINBYTES of 4 GiB", raw("B\xff\xff\xff\xff...."), ErrorCode::Truncated);
    row("BINBYTES8 of 2^64-1", raw("\x8e\xff\xff\xff\xff\xff\xff\xff\xff."), ErrorCode::Truncated);
    row("BINUNICODE8 of 2^63", "\x8d" + four + raw("\0\0\0\x80."), ErrorCode::Truncated);
    row("BYTEARRAY8 of 2^62", "\x96" + four + raw("\0\0\0\x40."), ErrorCode::Truncated);
    row("LONG4 negative", "\x8b\xff\xff\xff\xff.", ErrorCode::Malformed);
    row("LONG4 of 2 GiB", raw("\x8b\xff\xff\xff\x7f."), ErrorCode::Truncated);
    row("FRAME past the end", raw("\x80\x04\x95\xff\0\0\0\0\0\0\0N."), ErrorCode::Truncated);
    row("FRAME inside an opcode", raw("\x80\x04\x95\x02\0\0\0\0\0\0\0J\1\0\0\0."),
        ErrorCode::Malformed);
    row("EXT1", "\x82\x01.", ErrorCode::Refused);
    row("EXT2", "\x83\x01\x01.", ErrorCode::Refused);
    row("EXT4", "\x84\x01\x01\x01\x01.", ErrorCode::Refused);
    row("NEXT_BUFFER", "\x97.", ErrorCode::Refused);
    row("READONLY_BUFFER", "N\x98.", ErrorCode::Refused);
    row("PERSID", "Pabc\n.", ErrorCode::Refused);
}

void TestPickleVm::refuses()
{
    QFETCH(QByteArray, pickle);
    QFETCH(int, code);
    const auto graph = readBytes(pickle);
    QVERIFY(!graph.ok());
    QCOMPARE(int(graph.error().code), code);
    QVERIFY(!graph.error().place.empty());
}

void TestPickleVm::prints_data()
{
    // Left: pickle.dumps(x, protocol) of CPython 3.11; right: repr(x).
    QTest::addColumn<QByteArray>("pickle");
    QTest::addColumn<QString>("text");
    const auto row = [](const char *name, const QByteArray &pickle, const char *text) {
        QTest::newRow(name) << pickle << QString::fromUtf8(text);
    };
    row("None", "\x80\x02N.", "None");
    row("True, protocol 0", "I01\n.", "True");
    row("-7, protocol 0", "I-7\n.", "-7");
    row("2**70, protocol 0", "L1180591620717411303424L\n.", "1180591620717411303424");
    row("0.1, protocol 0", "F0.1\n.", "0.1");
    row("str, protocol 0", "V\\u20ac\xe9\np0\n.", "'\u20ac\u00e9'");
    row("Python 2 str", "S'a\\n\\x41\\101'\n.", "'a\\nAA'");
    row("BININT", "J\xfe\xff\xff\xff.", "-2");
    row("BININT2", raw("M\x00\x01."), "256");
    row("LONG1 empty", raw("\x8a\x00."), "0");
    row("LONG1 -1", "\x8a\x01\xff.", "-1");
    row("LONG1 255", raw("\x8a\x02\xff\x00."), "255");
    row("LONG1 -2**63", raw("\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808");
    row("LONG1 2**64-1", raw("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."),
        "18446744073709551615");
    row("LONG1 -2**64", raw("\x8a\x09\0\0\0\0\0\0\0\0\xff."), "-18446744073709551616");
    row("LONG1 needlessly long", raw("\x8a\x0a\x05\0\0\0\0\0\0\0\0\0."), "5");
    row("BINFLOAT", raw("G\xbf\xf8\0\0\0\0\0\0."), "-1.5");
    row("bytes",
        raw("\x80\x03"
            "C\x02\x00\xff."),
        "b'\\x00\\xff'");
    row("nested", "(lp0\nI1\na(I2\nI3\ntp1\na.", "[1, (2, 3)]");
    row("dict", raw("\x80\x02}q\x00X\x01\0\0\0aK\x01s."), "{'a': 1}");
    row("one-tuple", "K\x01\x85.", "(1,)");
    row("empty tuple", ").", "()");
    row("POP of a MARK", "N(0.", "None");
    row("quotes", raw("X\x03\0\0\0a'b."), "\"a'b\"");
    row("bytes of protocol 2",
        raw("\x80\x02"
            "c_codecs\nencode\nX\x02\0\0\0\xc3\xbfX\x06\0\0\0latin1\x86R."),
        "b'\\xff'");
    row("complex",
        raw("\x80\x02"
            "c__builtin__\ncomplex\nG?\xf0\0\0\0\0\0\0G\xc0\0\0\0\0\0\0\0\x86R."),
        "(1.0-2.0j)");
}

void TestPickleVm::prints()
{
    QFETCH(QByteArray, pickle);
    QFETCH(QString, text);
    QCOMPARE(printed(pickle), text);
}

void TestPickleVm::hugeIntegerIsQuick()
{
    const int size = 100'000; // 800 000 bits
    QByteArray pickle("\x8b");
    for (int i = 0; i < 4; ++i)
        pickle += char(size >> (8 * i) & 0xff);
    pickle += QByteArray(size, '\x11') + ".";
    QElapsedTimer timer;
    timer.start();
    const QString text = printed(pickle);
    QVERIFY(timer.elapsed() < 1000);
    QVERIFY(text.startsWith(QLatin1String("0x11111111")));
}

void TestPickleVm::everyCutIsRefused_data()
{
    QTest::addColumn<QByteArray>("pickle");
    for (const char *name : {"plain_p0.pkl", "plain_p2.pkl", "plain_p4.pkl", "plain_p5.pkl"})
        QTest::newRow(name) << fileBytes(name);
}

void TestPickleVm::everyCutIsRefused()
{
    QFETCH(QByteArray, pickle);
    QVERIFY(!pickle.isEmpty());
    const auto whole = readBytes(pickle);
    QVERIFY(whole.ok());
    QCOMPARE(whole.value()->end, std::uint64_t(pickle.size()));
    for (int size = 0; size < pickle.size(); ++size)
        QVERIFY2(!readBytes(pickle.left(size)).ok(), qPrintable(QString::number(size)));
}

void TestPickleVm::garbledNeverCrashes()
{
    const QByteArray whole = fileBytes("plain_p4.pkl");
    for (int at = 0; at < whole.size(); ++at) {
        for (const char bits : {'\x01', '\x80', '\xff'}) {
            QByteArray pickle = whole;
            pickle[at] = char(pickle[at] ^ bits);
            const auto graph = readBytes(pickle);
            if (graph.ok())
                QVERIFY(printPickle(*graph.value(), graph.value()->root, 1000).text.size() <= 1003);
        }
    }
}

void TestPickleVm::deepNestingNeedsNoStack()
{
    const int depth = 200'000;
    QByteArray pickle(depth, ']');
    pickle += QByteArray(depth - 1, 'a') + ".";
    const auto graph = readBytes(pickle);
    QVERIFY(graph.ok());
    QCOMPARE(graph.value()->nodes.size(), std::size_t(depth));
    QVERIFY(printPickle(*graph.value(), graph.value()->root, 1000).text.size() < 1004);
}

void TestPickleVm::cyclesAreNodes()
{
    const auto graph = readBytes("]q\x01h\x01"
                                 "a."); // a list that holds itself
    QVERIFY(graph.ok());
    const PickleGraph &g = *graph.value();
    QCOMPARE(g.items(g.root).size(), std::size_t(1));
    QCOMPARE(g.items(g.root)[0], g.root);
}

void TestPickleVm::namesStaySymbols()
{
    const auto graph = readBytes("cos\nsystem\n(S'true'\ntR.");
    QVERIFY(graph.ok());
    const PickleGraph &g = *graph.value();
    QVERIFY(g.kind(g.root) == PickleKind::Object);
    QCOMPARE(g.globals.size(), std::size_t(1));
    QVERIFY(g.globals[0].dangerous);
    QVERIFY(g.globals[0].called);
    QCOMPARE(printed("cos\nsystem\n(S'true'\ntR."), QStringLiteral("os.system('true')"));
}

void TestPickleVm::dangerousNames_data()
{
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("dangerous");
    const auto row = [](const char *module, const char *name, bool dangerous) {
        QTest::addRow("%s %s", module, name)
            << QString::fromLatin1(module) << QString::fromLatin1(name) << dangerous;
    };
    row("os", "system", true);
    row("posix", "system", true);
    row("nt", "system", true);
    row("subprocess", "Popen", true);
    row("builtins", "eval", true);
    row("__builtin__", "eval", true);
    row("__builtin__", "__import__", true);
    row("runpy", "_run_code", true);
    row("importlib", "import_module", true);
    row("importlib.util", "find_spec", true);
    row("pkgutil", "resolve_name", true);
    row("operator", "attrgetter", true);
    row("pickle", "loads", true);
    row("_pickle", "loads", true);
    row("webbrowser", "open", true);
    row("pty", "spawn", true);
    row("sys", "modules", true);
    row("torch.serialization", "os.system", true);
    row("torch.hub", "load", true);
    row("collections", "OrderedDict", false);
    row("osmium", "system", false);
    row("torch._utils", "_rebuild_tensor_v2", false);
    row("builtins", "getattr", false);
    row("argparse", "Namespace", false);
    row("pathlib", "PosixPath", false);
    row("numpy.core.multiarray", "_reconstruct", false);
}

void TestPickleVm::dangerousNames()
{
    QFETCH(QString, module);
    QFETCH(QString, name);
    QFETCH(bool, dangerous);
    QCOMPARE(isDangerousGlobal(module.toStdString(), name.toStdString()), dangerous);
}

void TestPickleVm::growsToTheLengthOfAPickle()
{
    // A pickle longer than the first read, in the middle of other bytes.
    QByteArray pickle("\x80\x02]");
    for (int i = 0; i < 60'000; ++i)
        pickle += "K\x07"
                  "a";
    pickle += ".";
    const QByteArray bytes = "xxx" + pickle + QByteArray(1'000'000, 'y');
    const auto data = asBytes({bytes.constData(), std::size_t(bytes.size())});
    const MemorySource source("m", {data.begin(), data.end()});
    const auto graph = readPickle(source, 3, {});
    QVERIFY(graph.ok());
    QCOMPARE(graph.value()->end, std::uint64_t(pickle.size()));
    QCOMPARE(graph.value()->items(graph.value()->root).size(), std::size_t(60'000));
}

void TestPickleVm::utf8_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<bool>("valid");
    QTest::newRow("empty") << QByteArray() << true;
    QTest::newRow("NUL") << raw("\0") << true;
    QTest::newRow("four bytes") << QByteArray("\xf0\x9f\x98\x80") << true;
    QTest::newRow("lone surrogate") << QByteArray("\xed\xa0\x80") << true;
    QTest::newRow("last code point") << QByteArray("\xf4\x8f\xbf\xbf") << true;
    QTest::newRow("beyond it") << QByteArray("\xf4\x90\x80\x80") << false;
    QTest::newRow("overlong 2") << QByteArray("\xc1\xbf") << false;
    QTest::newRow("overlong 3") << QByteArray("\xe0\x9f\xbf") << false;
    QTest::newRow("overlong 4") << QByteArray("\xf0\x8f\xbf\xbf") << false;
    QTest::newRow("continuation alone") << QByteArray("\x80") << false;
    QTest::newRow("cut") << QByteArray("\xe2\x82") << false;
}

void TestPickleVm::utf8()
{
    QFETCH(QByteArray, bytes);
    QFETCH(bool, valid);
    QCOMPARE(pickle::isUtf8({bytes.constData(), std::size_t(bytes.size())}), valid);
}

QTEST_APPLESS_MAIN(TestPickleVm)
#include "tst_pickle_vm.moc"
