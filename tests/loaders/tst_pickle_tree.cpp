// SPDX-License-Identifier: GPL-3.0-or-later
// That the tree of a pickle cuts and drops nothing unseen: pairs that Python's pickle module and
// numpy wrote (tests/data/pickle/make_pickles.py), and hostile ones made here.
#include "loaders/limits.h"
#include "loaders/torch/torch_loaders.h"
#include "model/compare/value_comparison.h"
#include "model/text/utf8.h"
#include "tests/support/loaded_file.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <bit>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/pickle/");

/// A literal with whatever NULs are in it.
template <std::size_t Size>
QByteArray raw(const char (&literal)[Size])
{
    return QByteArray(literal, qsizetype(Size - 1));
}

/// A number of `bytes` bytes, little-endian.
QByteArray little(quint64 number, int bytes)
{
    QByteArray text;
    for (int i = 0; i < bytes; ++i)
        text += char(number >> (8 * i) & 0xff);
    return text;
}

QByteArray text(const QByteArray &characters)
{
    return "X" + little(quint64(characters.size()), 4) + characters;
}

Loaded open(const QByteArray &pickle)
{
    return load(pickleLoader(), memory(pickle, "file.pkl"));
}

/// Whether two files hold the same, by everything that a comparison looks at.
bool sameContents(const Loaded &a, const Loaded &b)
{
    const Catalog &left = a.catalog(), &right = b.catalog();
    if (left.values.size() != right.values.size() || left.tensors.size() != right.tensors.size())
        return false;
    for (std::size_t i = 0; i < left.values.size(); ++i) {
        if (left.values[i].path != right.values[i].path
            || !left.values[i].value.identicalTo(right.values[i].value))
            return false;
    }
    for (std::size_t i = 0; i < left.tensors.size(); ++i) {
        const TensorRef &one = left.tensors[i], &other = right.tensors[i];
        if (one.path != other.path || one.dtype != other.dtype || one.shape != other.shape
            || a.digest(i) != b.digest(i))
            return false;
    }
    return true;
}

void addPairs(const QString &folder)
{
    QTest::addColumn<QByteArray>("a");
    QTest::addColumn<QByteArray>("b");
    for (const QString &name : QDir(Folder + folder).entryList({"*.a.pkl"})) {
        const QString stem = Folder + folder + '/' + name.chopped(6);
        QTest::newRow(qPrintable(name.chopped(6)))
            << fileBytes(stem + ".a.pkl") << fileBytes(stem + ".b.pkl");
    }
}

} // namespace

class TestPickleTree : public QObject
{
    Q_OBJECT

private slots:
    void tellsApart_data()
    {
        addPairs(QStringLiteral("different"));
        // A call with 2 MiB of bytes, the last of which differs.
        const QByteArray head = raw("\x80\x04}\x8c\x03tokc__main__\nBlob\nB") + little(2 << 20, 4)
            + QByteArray((2 << 20) - 1, 'a');
        QTest::newRow("long bytes") << head + "x\x85Rs." << head + "y\x85Rs.";
    }
    void tellsApart()
    {
        QFETCH(QByteArray, a);
        QFETCH(QByteArray, b);
        QVERIFY(!a.isEmpty());
        const Loaded one = open(a), other = open(b);
        QVERIFY(one.status.ok() && other.status.ok());
        QVERIFY(one.catalog().complete && other.catalog().complete);
        QVERIFY(sameContents(one, open(a)));
        QVERIFY(!sameContents(one, other));
    }

    void isTheSameInEveryProtocol_data() { addPairs(QStringLiteral("same")); }
    void isTheSameInEveryProtocol()
    {
        QFETCH(QByteArray, a);
        QFETCH(QByteArray, b);
        QVERIFY(a != b);
        const Loaded one = open(a), other = open(b);
        QVERIFY(one.status.ok() && other.status.ok());
        for (std::size_t i = 0; i < one.catalog().values.size(); ++i) {
            const ValueRef &left = one.catalog().values[i], &right = other.catalog().values.at(i);
            QCOMPARE(left.path.toString(), right.path.toString());
            QCOMPARE(left.value.toDisplay(), right.value.toDisplay());
        }
        QVERIFY(sameContents(one, other));
    }

    void everyKeyKeepsItsEntry()
    {
        const Loaded loaded = open(fileBytes(Folder + "different/object_keys_p4.a.pkl"));
        QList<std::int64_t> numbers; // {K(1): 9, K(2): 5}
        for (const ValueRef &value : loaded.catalog().values)
            numbers << std::get<std::int64_t>(value.value.data);
        std::sort(numbers.begin(), numbers.end());
        QCOMPARE(numbers, (QList<std::int64_t>{5, 9}));
    }

    void furtherPicklesAreListed()
    {
        const QByteArray bytes = fileBytes(Folder + "different/second_pickle.b.pkl");
        const Loaded loaded = open(bytes);
        QVERIFY(loaded.catalog().complete);
        QCOMPARE(loaded.catalog().values.size(), std::size_t(2));
        const auto &values = loaded.catalog().values;
        QVERIFY(std::any_of(values.begin(), values.end(), [](const ValueRef &value) {
            return value.name == "pickle 2.step" && value.value.identicalTo(Value::integer(2));
        }));
        const Loaded padded = open(bytes + QByteArray(3, '\0'));
        QVERIFY(padded.status.ok());
        QVERIFY(!padded.catalog().complete);
        QVERIFY(padded.tells("trailing-bytes 3 bytes"));
    }

    void whatIsNotListedLeavesItIncomplete_data()
    {
        QTest::addColumn<QByteArray>("pickle");
        QTest::newRow("deep lists") << QByteArray(2500, ']') + QByteArray(2499, 'a') + ".";
        QByteArray wrapped;
        for (int i = 0; i < 20; ++i)
            wrapped += "ctorch._utils\n_rebuild_parameter\n";
        wrapped += "K\x01";
        for (int i = 0; i < 20; ++i)
            wrapped += "\x85R";
        QTest::newRow("wrappers") << "\x80\x02" + wrapped + ".";
    }
    void whatIsNotListedLeavesItIncomplete()
    {
        QFETCH(QByteArray, pickle);
        const Loaded loaded = open(pickle);
        QVERIFY(loaded.status.ok());
        QVERIFY(!loaded.catalog().complete);
        const Diagnostics &told = loaded.catalog().diagnostics;
        QVERIFY(std::any_of(told.begin(), told.end(), [](const Diagnostic &each) {
            return each.severity == Severity::Error && each.code == "limit";
        }));
    }

    void placesAreCutBetweenCharacters()
    {
        for (const int first : {1, 2, 3, 4}) {
            // {"x": {"éé": {"éé": ...}}}, deeper than is listed
            QByteArray pickle = "\x80\x02}" + text(QByteArray(first, 'x'));
            for (int i = 0; i < 2'100; ++i)
                pickle += "}" + text("\xc3\xa9\xc3\xa9");
            const Loaded loaded = open(pickle + "N" + QByteArray(2'101, 's') + ".");
            QVERIFY(loaded.status.ok());
            QVERIFY(loaded.tells("limit"));
            for (const Diagnostic &each : loaded.catalog().diagnostics) {
                QVERIFY(each.place.size() < 300);
                QVERIFY2(isValidUtf8(each.place), each.place.c_str());
            }
        }
    }

    void storagesThatOnlyTextsReferTo_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("complete");
        QTest::newRow("key") << QStringLiteral("only_a_key") << false;
        QTest::newRow("member") << QStringLiteral("only_a_member") << false;
        QTest::newRow("listed elsewhere") << QStringLiteral("key_and_item") << true;
    }
    void storagesThatOnlyTextsReferTo()
    {
        QFETCH(QString, file);
        QFETCH(bool, complete);
        const Loaded loaded = load(
            torchZipLoader(), memory(fileBytes(Folder + "storages/" + file + ".pt"), "file.pt"));
        QVERIFY(loaded.status.ok());
        QCOMPARE(loaded.catalog().complete, complete);
        QCOMPARE(loaded.tells("not-listed"), !complete);
        QCOMPARE(loaded.catalog().tensors.size(), std::size_t(complete ? 1 : 0));
    }

    void textThatIsRepeatedIsBounded()
    {
        // 64 KiB referred to 20 000 times: 1.3 GB.
        const QByteArray pickle = "\x80\x02](" + text(QByteArray(65536, 'x')) + "q\x01"
            + QByteArray("h\x01").repeated(20'000) + "e.";
        const Loaded loaded = open(pickle);
        QVERIFY(loaded.status.ok());
        QVERIFY(!loaded.catalog().complete);
        std::size_t characters = 0;
        for (const ValueRef &value : loaded.catalog().values)
            characters += std::get<std::string>(value.value.data).size();
        QVERIFY(characters < (300u << 20));
        QVERIFY(characters > (200u << 20));
    }

    void repeatedBytesAreLookedAtOnce_data()
    {
        QTest::addColumn<QByteArray>("pickle");
        QByteArray inner = "\x80\x02](";
        for (int i = 0; i < 60'000; ++i)
            inner += "J" + little(quint64(100'000 + i), 4);
        inner += "e.";
        const QByteArray bytes = "B" + little(quint64(inner.size()), 4) + inner + "q\x01";
        const QByteArray many = QByteArray("h\x01").repeated(20'000);
        QTest::newRow("bytes") << "\x80\x03](" + bytes + many + "e.";
        const QByteArray load = "ctorch.storage\n_load_from_bytes\nq\x02";
        QTest::newRow("calls") << "\x80\x03(" + bytes + load
                + QByteArray("h\x02h\x01\x85R").repeated(5'000) + "l.";
        const QByteArray encode = "c_codecs\nencode\nq\x02" + text("latin1") + "q\x03";
        QTest::newRow("encoded") << "\x80\x02(" + text(QByteArray(1 << 20, 'x')) + "q\x01" + encode
                + QByteArray("h\x02h\x01h\x03\x86R").repeated(10'000) + "l.";
        QByteArray members = "\x80\x04\x8f(";
        for (int i = 0; i < 200'000; ++i)
            members += "J" + little(quint64(i), 4);
        QTest::newRow("sets") << "\x80\x04](" + members.mid(2) + "\x90q\x01"
                + QByteArray("h\x01").repeated(5'000) + "e.";
        // One list that many calls make a set of, a long key of many pairs, a state of many BUILDs.
        QByteArray list = "(" + members.mid(4);
        QTest::newRow("calls of a set") << "\x80\x02(" + list + "lq\x01"
                + "c__builtin__\nfrozenset\nq\x02" + QByteArray("h\x02h\x01\x85R").repeated(6'000)
                + "l.";
        QTest::newRow("keys with a set") << "\x80\x02" + list + "lq\x01"
                + "c__builtin__\nfrozenset\nq\x02" + "h\x02h\x01\x85Rq\x03" + "0}(" +
                [] {
                    QByteArray pairs;
                    for (int i = 0; i < 6'000; ++i)
                        pairs += "h\x03M" + little(quint64(i), 2) + "\x86N";
                    return pairs;
                }()
                + "u.";
        QByteArray states = "\x80\x02(c__main__\nK\n)\x81}(";
        for (int i = 0; i < 6'000; ++i)
            states += "J" + little(quint64(i), 4) + "N";
        QTest::newRow("states") << states + "uq\x01" + "b"
                + QByteArray("h\x01"
                             "b")
                      .repeated(200'000)
                + "l.";
        QTest::newRow("long keys") << "\x80\x02(" + text(QByteArray(65536, 'k')) + "q\x01" + "0}("
                + QByteArray("h\x01N").repeated(500'000) + "u" + QByteArray("N").repeated(5'000)
                + "l.";
        const QByteArray number = "\x8b" + little(500, 4) + QByteArray(500, '\x11') + "q\x01";
        QTest::newRow("numbers") << "\x80\x02](" + number + QByteArray("h\x01").repeated(50'000)
                + "e.";
    }
    void repeatedBytesAreLookedAtOnce()
    {
        QFETCH(QByteArray, pickle);
        QElapsedTimer timer;
        timer.start();
        const Loaded loaded = open(pickle);
        QVERIFY(loaded.status.ok());
        QVERIFY2(timer.elapsed() < 8'000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(loaded.catalog().values.size() >= 5'000);
    }

    void arraysShareTheirBytes()
    {
        // 500 arrays over one MB: (_reconstruct, ndarray) with state (1, (N,), |u1, False, bytes).
        QByteArray pickle = "\x80\x03(B" + little(1 << 20, 4) + QByteArray(1 << 20, 'x') + "q\x01";
        pickle += "cnumpy.core.multiarray\n_reconstruct\nq\x02"
                  "cnumpy\nndarray\nq\x03";
        pickle += "cnumpy\ndtype\n" + text("u1") + "\x89\x88\x87R(K\x03" + text("|")
            + raw("NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tbq\x04");
        const QByteArray one = raw("h\x02h\x03K\0\x85"
                                   "C\x01"
                                   "b\x87R(K\x01J\0\0\x10\0\x85h\x04\x89h\x01tb");
        const Loaded loaded = open(pickle + one.repeated(500) + "l.");
        QVERIFY(loaded.status.ok());
        QCOMPARE(loaded.catalog().tensors.size(), std::size_t(500));
        QCOMPARE(loaded.catalog().files.size(), std::size_t(1));
        QCOMPARE(loaded.digest(499), sha256(asBytes(std::string(1 << 20, 'x'))));
    }

    void fieldsOfFieldsAreBounded()
    {
        // Six levels of 100 fields, all of the type of the level below: 10^12 of them.
        QByteArray type = "cnumpy\ndtype\nq\x01" + text("u1") + "\x89\x88\x87Rq\x02";
        for (int level = 0; level < 6; ++level) {
            QByteArray names, fields;
            for (int i = 0; i < 100; ++i) {
                const QByteArray name = text("f" + QByteArray::number(i));
                names += name;
                fields += name + "h\x02K" + char(i) + "\x86";
            }
            type += "0h\x01" + text("V100") + "\x89\x88\x87R(K\x03" + text("|") + "N(" + names
                + "t}(" + fields + "uKdK\x01K\x10tbq\x02";
        }
        const Loaded loaded = open("\x80\x02" + type + ".");
        QVERIFY(loaded.status.ok());
        QCOMPARE(loaded.catalog().values.size(), std::size_t(1));
        QVERIFY(loaded.catalog().values[0].value.toDisplay().size() < 10'000);
    }

    void elementsWithoutBytesAreRefused()
    {
        const QByteArray pickle = raw("\x80\x02}X\x01\0\0\0wcnumpy.core.multiarray\n_reconstruct\n"
                                      "cnumpy\nndarray\nK\0\x85"
                                      "C\x01"
                                      "b\x87R(K\x01\x8a\x08")
            + little(quint64(1) << 60, 8)
            + raw("\x85"
                  "cnumpy\ndtype\nX\x02\0\0\0V0\x89\x88\x87R(K\x03X\x01\0\0\0|NNNK\0K\x01K\0tb"
                  "\x89"
                  "C\0tbs.");
        const Loaded loaded = open(pickle);
        QVERIFY(loaded.status.ok());
        QCOMPARE(loaded.catalog().tensors.size(), std::size_t(1));
        QVERIFY(loaded.catalog().tensors[0].unreadable);
        QVERIFY(loaded.catalog().tensors[0].unreadable->code == ErrorCode::Unsupported);
        QCOMPARE(loaded.catalog().tensors[0].elements, std::uint64_t(0));
    }

    /// Long lists are one value each, and equal by value where short ones are.
    void integersAgainstFloats()
    {
        const auto listOf = [](int count, bool real, double last) {
            QByteArray text = raw("\x80\x02](");
            for (int i = 0; i < count; ++i) {
                const double number = i + 1 == count ? last : i;
                QByteArray bits = little(std::bit_cast<quint64>(number), 8);
                std::reverse(bits.begin(), bits.end());
                const bool isInteger = !real && number == i;
                text += isInteger ? 'K' + little(quint64(i), 1) : 'G' + bits;
            }
            return text + "e.";
        };
        const auto compared = [](const QByteArray &a, const QByteArray &b, bool strict) {
            const Loaded left = load(pickleLoader(), memory(a)),
                         right = load(pickleLoader(), memory(b));
            std::vector<ValuePair> pairs;
            for (std::size_t i = 0; i < left.catalog().values.size(); ++i) {
                pairs.emplace_back();
                pairs.back().a = pairs.back().b = i;
            }
            const auto rows = compareValues(left.catalog(), right.catalog(), pairs,
                                            {left.catalog(), right.catalog()}, strict, Tolerance());
            return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const ValueRow &row) {
                return row.status == ItemStatus::Identical;
            });
        };
        for (const int count : {3, 64, 65, 200}) {
            const double last = count - 1;
            QVERIFY(compared(listOf(count, false, last), listOf(count, true, last), false));
            QVERIFY(!compared(listOf(count, false, last), listOf(count, true, last), true));
            QVERIFY(!compared(listOf(count, false, last), listOf(count, true, last + 0.5), false));
            QVERIFY(!compared(listOf(count, true, 0.0), listOf(count, true, -0.0), false));
        }
        const auto repeated = [](const QByteArray &item, int count) {
            return "\x80\x02](" + item.repeated(count) + "e.";
        };
        // struct.pack("<q", 0x3FF0000000000000) == struct.pack("<d", 1.0)
        const QByteArray one = raw("G\x3f\xf0\0\0\0\0\0\0"),
                         bits = raw("\x8a\x08\0\0\0\0\0\0\xf0\x3f"), two = raw("G@\0\0\0\0\0\0\0");
        for (const int count : {100, 70'000}) {
            for (const bool strict : {false, true})
                QVERIFY(!compared(repeated(bits, count), repeated(one, count), strict));
            QVERIFY(compared(repeated("K\x01", count), repeated(one, count), false));
            QVERIFY(!compared(repeated("K\x01", count), repeated(one, count), true));
        }
        // Of mixed lists the digest is that of floats.
        const QByteArray mixed = repeated("K\x01", 99).chopped(2) + two + "e.",
                         other = repeated("K\x01", 98).chopped(2) + one + "K\x02" + "e.",
                         floats = repeated(one, 99).chopped(2) + two + "e.";
        for (const QByteArray &each : {other, floats}) {
            QVERIFY(compared(mixed, each, false));
            QVERIFY(!compared(mixed, each, true));
        }
        QVERIFY(compared(mixed, mixed, true));
    }
};

QTEST_APPLESS_MAIN(TestPickleTree)
#include "tst_pickle_tree.moc"
