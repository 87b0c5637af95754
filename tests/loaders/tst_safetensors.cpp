// SPDX-License-Identifier: GPL-3.0-or-later
// Files of safetensors 0.8.0 against what was in memory when they were written, and bent ones.
#include "loaders/arrays/safetensors_loader.h"
#include "tests/support/loaded_file.h"

#include <QJsonArray>
#include <QSet>
#include <QTest>
#include <QtEndian>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const QString Folder = QStringLiteral(FORKPOINT_TEST_DATA "/safetensors/");

QByteArray makeFile(const QByteArray &header, const QByteArray &data)
{
    QByteArray length(8, '\0');
    qToLittleEndian<quint64>(quint64(header.size()), length.data());
    return length + header + data;
}

} // namespace

class TestSafetensors : public QObject
{
    Q_OBJECT

private slots:
    void showsWhatWasWritten_data()
    {
        QTest::addColumn<QString>("file");
        QSet<QString> files;
        for (const QStringList &row : readTable(Folder + "expected.txt")) {
            if (row[1] == "tensor" || row[1] == "value")
                files.insert(row[0]);
        }
        QVERIFY(files.size() >= 8);
        for (const QString &file : files)
            QTest::newRow(qPrintable(file)) << file;
    }

    void showsWhatWasWritten()
    {
        QFETCH(const QString, file);
        const Loaded loaded =
            load(safetensorsLoader(), memory(fileBytes(Folder + file), file.toStdString()));
        QVERIFY(loaded.status.ok());
        std::size_t tensors = 0;
        for (const QStringList &row : readTable(Folder + "expected.txt")) {
            if (row[0] != file)
                continue;
            const std::string name = row[1] == "must" ? "" : fromJsonText(row[2]).toStdString();
            if (row[1] == "tensor") {
                ++tensors;
                checkTensor(loaded, name, row);
            } else if (row[1] == "damaged") {
                ++tensors;
                const auto index = loaded.find(name);
                QVERIFY(index && loaded.catalog().tensors[*index].unreadable);
                QVERIFY(loaded.digest(*index).isEmpty());
            } else if (row[1] == "value") {
                checkValue(loaded, name, fromJsonText(row[3]));
            }
        }
        QCOMPARE(loaded.catalog().tensors.size(), tensors);
    }

    void bentFiles_data() { addBentFiles(Folder); }

    void bentFiles()
    {
        QFETCH(const QString, outcomes);
        const QString file = QTest::currentDataTag();
        const Loaded loaded = load(safetensorsLoader(), memory(fileBytes(Folder + file)));
        QVERIFY2(outcomes.split('|').contains(outcomeOf(loaded)), qPrintable(outcomeOf(loaded)));
        if (!loaded.status.ok()) {
            QCOMPARE(loaded.status.error().file, std::string("memory"));
            QVERIFY(!loaded.status.error().text.empty());
        }
    }

    void eachRefusalSaysWhy_data()
    {
        QTest::addColumn<QString>("words");
        const auto row = [](const char *file, const char *words) {
            QTest::newRow(file) << QString::fromUtf8(words);
        };
        row("st_seven_bytes", "must begin with 8 bytes");
        row("st_length_over_cap", "at most 100000000 bytes, announces 100000001");
        row("st_length_past_end", "header ends at byte 4008");
        row("st_overlap", "belong to another tensor too");
        row("st_same_range", "belong to another tensor too");
        row("st_gap", "bytes between belong to no tensor");
        row("st_first_not_zero", "must begin at 0, begins at 8");
        row("st_reversed", "ends before");
        row("st_negative_offset", "a negative integer");
        row("st_float_offset", "a float");
        row("st_text_offset", "is text");
        row("st_three_offsets", "two integers");
        row("st_offset_wraps", "beyond 64 bits");
        row("st_offset_digits", "number overflow");
        row("st_negative_shape", "a dimension must be an integer");
        row("st_shape_overflow", "overflows 64 bits");
        row("st_shape_overflow_to_right_size", "overflows 64 bits");
        row("st_shape_mismatch", "needs 10 bytes, has 8");
        row("st_dtype_number", "dtype must be text");
        row("st_missing_dtype", "lacks dtype");
        row("st_missing_offsets", "lacks data_offsets");
        row("st_entry_null", "must be an object, is null");
        row("st_duplicate_name", "twice");
        row("st_duplicate_by_escape", "twice");
        row("st_duplicate_metadata", "'__metadata__' twice");
        row("st_metadata_is_tensor", "is a tensor");
        row("st_json_root_list", "must be an object, is a list");
        row("st_nul_in_header", "has a NUL");
        row("st_f4_odd", "F4 needs an even last dimension");
        row("st_trailing", "5 bytes more that no tensor covers");
    }

    void eachRefusalSaysWhy()
    {
        QFETCH(const QString, words);
        const QString file = Folder + QTest::currentDataTag() + ".safetensors";
        QVERIFY(QFile::exists(file));
        const Loaded loaded = load(safetensorsLoader(), memory(fileBytes(file)));
        QVERIFY(!loaded.status.ok());
        const QString message = QString::fromStdString(loaded.status.error().message());
        QVERIFY2(message.contains(words), qPrintable(message));
    }

    void deepHeadersAndRanksAreRefused()
    {
        const auto refused = [](const QByteArray &header) {
            return load(safetensorsLoader(), memory(makeFile(header, {}))).status.error().code;
        };
        QVERIFY(refused(QByteArray(60000, '[')) == ErrorCode::Limit);
        QVERIFY(refused(QByteArray("{\"a\":").repeated(20000)) == ErrorCode::Limit);
        QVERIFY(refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[0" + QByteArray(",1").repeated(64)
                        + "],\"data_offsets\":[0,0]}}")
                == ErrorCode::Limit);
    }

    void cutFilesOpenTheirWholeTensors()
    {
        const QByteArray whole = fileBytes(Folder + "empty_and_scalar.safetensors");
        const quint64 dataBegin = 8 + qFromLittleEndian<quint64>(whole.constData());
        const Loaded reference = load(safetensorsLoader(), memory(whole));
        QVERIFY(reference.status.ok());
        for (qsizetype length = 0; length < whole.size(); ++length) {
            const Loaded loaded = load(safetensorsLoader(), memory(whole.left(length)));
            if (quint64(length) < dataBegin) {
                QVERIFY(!loaded.status.ok());
                continue;
            }
            QVERIFY(loaded.status.ok());
            QVERIFY(loaded.hasUnreadable());
            QCOMPARE(loaded.catalog().tensors.size(), reference.catalog().tensors.size());
            for (TensorIndex i = 0; i < loaded.catalog().tensors.size(); ++i) {
                const bool readable = !loaded.catalog().tensors[i].unreadable;
                QCOMPARE(loaded.digest(i), readable ? reference.digest(i) : QByteArray());
            }
        }
    }

    void executionOrderComesFromTheMetadata()
    {
        const QByteArray entries = "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                                   "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}";
        const auto opened = [&](const QByteArray &order) {
            return load(safetensorsLoader(),
                        memory(makeFile(
                            "{\"__metadata__\":{\"order\":\"" + order + "\"}," + entries, "xy")));
        };
        const Loaded ordered = opened("b,a");
        QVERIFY(ordered.status.ok());
        QCOMPARE(ordered.catalog().tensors[0].executionOrder, std::uint64_t(1));
        QCOMPARE(ordered.catalog().tensors[1].executionOrder, std::uint64_t(0));
        QCOMPARE(opened("b,nobody").catalog().tensors[1].executionOrder, NoOrder);
    }

    void tellsAnExtraMemberOnce()
    {
        const QByteArray header = "{\"__metadata__\":{\"a\":\"b\"},"
                                  "\"w\":{\"dtype\":\"U8\",\"shape\":[1],"
                                  "\"data_offsets\":[0,1],\"x\":1}}";
        const QByteArray length = QByteArray(1, char(header.size())) + QByteArray(7, '\0');
        const Loaded loaded = load(safetensorsLoader(), memory(length + header + "?"));
        QVERIFY(loaded.status.ok());
        const Diagnostics &told = loaded.catalog().diagnostics;
        QCOMPARE(std::count_if(told.begin(), told.end(),
                               [](const Diagnostic &each) { return each.code == "extra-member"; }),
                 1);
    }

    void tellsTiesExtraMembersAndOddMetadata()
    {
        const Loaded tied =
            load(safetensorsLoader(), memory(fileBytes(Folder + "tied.safetensors")));
        QVERIFY(tied.tells("tied was saved as"));
        const Loaded extra = load(safetensorsLoader(),
                                  memory(fileBytes(Folder + "escapes_extra_members.safetensors")));
        QVERIFY(extra.tells("extra-member"));
        const Loaded odd = load(safetensorsLoader(),
                                memory(fileBytes(Folder + "st_metadata_not_text.safetensors")));
        QVERIFY(odd.status.ok());
        QVERIFY(odd.tells("metadata must be text"));
    }

private:
    static void checkTensor(const Loaded &loaded, const std::string &name, const QStringList &row)
    {
        const auto index = loaded.find(name);
        QVERIFY2(index, name.c_str());
        const TensorRef &tensor = loaded.catalog().tensors[*index];
        QCOMPARE(QString::fromStdString(tensor.dtype.name), row[3]);
        QCOMPARE(QString::fromStdString(tensor.shape.toString()), row[4]);
        QCOMPARE(QString::fromLatin1(loaded.digest(*index)), row[5]);
    }

    static void checkValue(const Loaded &loaded, const std::string &name, const QByteArray &text)
    {
        const auto &values = loaded.catalog().values;
        const auto found = std::find_if(values.begin(), values.end(),
                                        [&](const ValueRef &value) { return value.name == name; });
        QVERIFY2(found != values.end(), name.c_str());
        QCOMPARE(std::get<std::string>(found->value.data), text.toStdString());
        QCOMPARE(found->path.keys.size(), std::size_t(2));
    }
};

QTEST_APPLESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
