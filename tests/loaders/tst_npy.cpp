// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays of numpy 2.4.6 against what was in memory when they were written, and bent ones.
#include "loaders/arrays/npy_loader.h"
#include "loaders/arrays/numpy_dtype.h"
#include "loaders/open_run.h"
#include "tests/support/loaded_file.h"

#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/npy/");

Loaded open(const QString &file, const OpenOptions &options = {})
{
    return load(npyLoader(), memory(fileBytes(Folder + file), file.toStdString()), options);
}

QByteArray makeFile(const QByteArray &header, const QByteArray &data = {})
{
    QByteArray file("\x93NUMPY\x01\x00", 8);
    file += char(header.size() & 0xff);
    file += char(header.size() >> 8);
    return file + header + data;
}

} // namespace

class TestNpy : public QObject
{
    Q_OBJECT

private slots:
    void showsWhatWasWritten_data()
    {
        QTest::addColumn<QStringList>("row");
        for (const QStringList &row : readTable(Folder + "expected.txt")) {
            if (row[1] == "tensor")
                QTest::newRow(qPrintable(row[0])) << row;
        }
    }

    void showsWhatWasWritten()
    {
        QFETCH(const QStringList, row);
        const Loaded loaded = open(row[0]);
        QVERIFY2(loaded.status.ok(),
                 loaded.status.ok() ? "" : loaded.status.error().message().c_str());
        QCOMPARE(loaded.catalog().tensors.size(), std::size_t(1));
        const TensorRef &tensor = loaded.catalog().tensors[0];
        QCOMPARE(QString::fromStdString(tensor.name), row[0].section('.', 0, 0));
        QVERIFY(tensor.path.keys.empty());
        QCOMPARE(QString::fromStdString(tensor.shape.toString()), row[4]);
        QCOMPARE(QString::fromLatin1(loaded.digest(0)), row[5]);
        if (row[3] != "-")
            QCOMPARE(QString::fromStdString(tensor.dtype.name), row[3]);
        else
            QVERIFY(tensor.dtype.kind == ElementKind::Opaque);
    }

    void bentFiles_data() { addBentFiles(Folder); }

    void bentFiles()
    {
        QFETCH(const QString, outcomes);
        const Loaded loaded = open(QTest::currentDataTag());
        QVERIFY2(outcomes.split('|').contains(outcomeOf(loaded)), qPrintable(outcomeOf(loaded)));
    }

    void eachRefusalSaysWhy_data()
    {
        QTest::addColumn<QString>("words");
        const auto row = [](const char *file, const char *words) {
            QTest::newRow(file) << QString(words);
        };
        row("npy_cut_in_header", "header: ends at byte");
        row("npy_cut_in_data", "data needs");
        row("npy_version_9", "version must be 1.0, 2.0 or 3.0, is 9.0");
        row("npy_header_length_4g", "ends at byte");
        row("npy_run", "must be");
        row("npy_object_run", "object array holds a pickle, which is never run");
        row("npy_shape_overflow", "overflows 64 bits");
        row("npy_shape_wraps_to_6", "must be an integer of 64 bits");
        row("npy_shape_huge", "overflows 64 bits");
        row("npy_shape_digits", "integer of 64 bits");
        row("npy_negative", "a dimension must be an integer from 0 on, is -");
        row("npy_shape_float", "must be an integer");
        row("npy_shape_bool", "a dimension must be an integer from 0 on, is True");
        row("npy_shape_int", "shape must be a tuple");
        row("npy_rank_1000", "at most 64 dimensions, has 1001");
        row("npy_descr_f3", "must be a numpy type such as '<f4', is '<f3'");
        row("npy_descr_number", "must be text or a list of fields");
        row("npy_descr_field_bomb", "the shape of a field must be small");
        row("npy_descr_nested", "at most 32 levels");
        row("npy_descr_duplicate_field", "twice");
        row("npy_missing_key", "must be a dictionary of descr, fortran_order and shape");
        row("npy_extra_key", "must be a dictionary of descr, fortran_order and shape");
        row("npy_duplicate_key", "has the key 'descr' twice");
        row("npy_order_number", "fortran_order must be True or False");
        row("npy_deep", "at most 32 levels");
        row("npy_list_root", "must be a dictionary");
        row("npy_two_dicts", "must end after one literal");
        row("npy_zero_itemsize", "elements must have bytes");
    }

    void eachRefusalSaysWhy()
    {
        QFETCH(const QString, words);
        const Loaded loaded = open(QString(QTest::currentDataTag()) + ".npy");
        QVERIFY(!loaded.status.ok());
        const QString message = QString::fromStdString(loaded.status.error().message());
        QVERIFY2(message.contains(words), qPrintable(message));
        QVERIFY2(message.startsWith(QTest::currentDataTag()), qPrintable(message));
    }

    void everyCutIsAnError()
    {
        for (const char *file : {"fortran_3d.npy", "structured.npy", "v3.npy"}) {
            const QByteArray whole = fileBytes(Folder + file);
            QVERIFY(!whole.isEmpty());
            for (qsizetype length = 0; length < whole.size(); length += length < 200 ? 1 : 97)
                QVERIFY(!load(npyLoader(), memory(whole.left(length))).status.ok());
        }
    }

    void longHeadersAreRefused()
    {
        const QByteArray header = "{'descr': '<f4', 'fortran_order': False, 'shape': ()}";
        QVERIFY(load(npyLoader(), memory(makeFile(header, "abcd"))).status.ok());
        const QByteArray padded = header + QByteArray(10001 - header.size(), ' ');
        QVERIFY(load(npyLoader(), memory(makeFile(padded, "abcd"))).status.error().code
                == ErrorCode::Limit);
    }

    void bytesBehindTheArrayAreTold()
    {
        QVERIFY(open("two_in_one.npy").tells("trailing-bytes 160 bytes follow the array"));
        QVERIFY(open("npy_trailing.npy").tells("trailing-bytes 3 bytes follow the array"));
        QVERIFY(!open("two_in_one.npy").catalog().complete);
        QVERIFY(!open("npy_trailing.npy").catalog().complete);
        QVERIFY(open("scalar.npy").catalog().diagnostics.empty());
        QVERIFY(open("scalar.npy").catalog().complete);
    }

    void voidElementsGetATypeOnlyFromNameOrUser()
    {
        const QByteArray bytes = fileBytes(Folder + "dtype_bfloat16.npy");
        const auto dtypeOf = [&](const char *name, const OpenOptions &options) {
            const Loaded loaded = load(npyLoader(), memory(bytes, name), options);
            return QString::fromStdString(loaded.catalog().tensors[0].dtype.name);
        };
        OpenOptions wish;
        wish.dtypes = {{"other*", *dtypeByName("float16")},
                       {"w*", *dtypeByName("float32")}, // another width: does not fit
                       {"w*", *dtypeByName("bfloat16")}};
        QCOMPARE(dtypeOf("weights.npy", {}), QString("void16"));
        QCOMPARE(dtypeOf("weights.npy", wish), QString("bfloat16"));
        QCOMPARE(dtypeOf("weights.bfloat16.npy", {}), QString("bfloat16"));
        QCOMPARE(dtypeOf("notbfloat16.npy", {}), QString("void16"));
        QCOMPARE(dtypeOf("w_float32.npy", {}), QString("void16"));
        QVERIFY(
            load(npyLoader(), memory(bytes, "a-bfloat16.npy")).tells("void16 is read as bfloat16"));
    }

    /// A type that a file states is not read as another; who asked for it is told.
    void wishesThatChangeNothingAreTold()
    {
        const auto told = [](const char *file, const std::vector<DTypeOverride> &wishes) {
            OpenOptions options;
            options.dtypes = wishes;
            const auto run = openRun((Folder + file).toStdString(), options, {});
            const auto source = run.ok() ? (*run)->open(0, {}) : run.error();
            QStringList lines;
            for (const Diagnostic &diagnostic : (*source)->catalog().diagnostics) {
                if (diagnostic.code == "as-ignored")
                    lines << QString::fromStdString(diagnostic.place + ": " + diagnostic.text);
            }
            return lines;
        };
        const DType bfloat16 = *dtypeByName("bfloat16"), float32 = *dtypeByName("float32");
        QCOMPARE(told("dtype_bfloat16.npy", {{"*", bfloat16}}), QStringList());
        QCOMPARE(told("f4.npy", {}), QStringList());
        QCOMPARE(told("f4.npy", {{"*", bfloat16}}),
                 QStringList("--as *=bfloat16: has no effect: 1 tensor has another type already: "
                             "'f4' is float32"));
        QCOMPARE(told("dtype_bfloat16.npy", {{"*", float32}, {"*", bfloat16}}).size(), 1);
        QCOMPARE(
            told("f4.npy", {{"other", bfloat16}}),
            QStringList("--as other=bfloat16: has no effect: no tensor of that name has a type "
                        "that its file leaves open"));
    }

    void descriptions_data()
    {
        QTest::addColumn<QString>("descr");
        QTest::addColumn<QString>("name"); // empty: refused
        QTest::addColumn<int>("bytes");
        QTest::addColumn<bool>("big");
        const auto row = [](const char *descr, const char *name, int bytes, bool big = false) {
            QTest::newRow(descr) << QString(descr) << QString(name) << bytes << big;
        };
        // numpy.dtype(descr).itemsize of numpy 2.4.6
        row("|b1", "bool", 1);
        row("<i8", "int64", 8);
        row(">u2", "uint16", 2, true);
        row("=f4", "float32", 4);
        row("f8", "float64", 8);
        row(">c16", "complex128", 16, true);
        row("float32", "float32", 4);
        row("complex64", "complex64", 8);
        row("<float32", "", 0);
        row("<f16", "<f16", 16);
        row("|S5", "|S5", 5);
        row("<U3", "<U3", 12);
        row(">U2", ">U2", 8);
        row("<M8[ns]", "<M8[ns]", 8);
        row("<m8[25us]", "<m8[25us]", 8);
        row("|V2", "void16", 2);
        row("<f1", "void8", 1);
        row("|O", "", 0);
        row("<f3", "", 0);
        row("<i16", "", 0);
        row("", "", 0);
        row("<", "", 0);
        row("S", "", 0);
        row("S-1", "", 0);
        row("<M8[ns", "", 0);
        row("|V99999999999999999999", "", 0);
        row("<U4611686018427387905", "", 0);
    }

    void descriptions()
    {
        QFETCH(const QString, descr);
        QFETCH(const QString, name);
        QFETCH(const int, bytes);
        QFETCH(const bool, big);
        const auto type = numpyDescription(std::string_view(descr.toStdString()));
        QCOMPARE(type.ok(), !name.isEmpty());
        if (!type.ok())
            return;
        QCOMPARE(QString::fromStdString(type->dtype.name), name);
        QCOMPARE(type->bytes, std::uint64_t(bytes));
        QCOMPARE(type->order == ByteOrder::Big, big);
    }

    void literals_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("printed"); // repr of Python; empty: refused
        const auto row = [](const char *text, const char *printed) {
            QTest::newRow(text) << QByteArray(text) << QString(printed);
        };
        row("(1,)", "(1,)");
        row("(1)", "1");
        row("()", "()");
        row("[1, 'a', \"b'c\", None, True]", "[1, 'a', 'b\\'c', None, True]");
        row("{'a': (2L, -3), 'b': {}}", "{'a': (2, -3), 'b': {}}");
        row(" 7 ", "7");
        row("(,)", "");
        row("1 2", "");
        row("1.5", "");
        row("0x10", "");
        row("[1", "");
        row("'a", "");
        row("{1: 2}", "");
        row("{'a': 1, 'a': 1}", "");
        row("{'a' 1}", "");
        row("'\\x41'", "");
        row("f()", "");
        row("9223372036854775808", "");
        row("--1", "");
        row("", "");
    }

    void literals()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QString, printed);
        const auto literal = parsePythonLiteral({text.constData(), std::size_t(text.size())}, 32);
        QCOMPARE(literal.ok(), !printed.isEmpty());
        if (literal.ok())
            QCOMPARE(QString::fromStdString(literal->toString()), printed);
    }
};

QTEST_APPLESS_MAIN(TestNpy)
#include "tst_npy.moc"
