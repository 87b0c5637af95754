// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of texts that are no run: what they lack, and how they can be read all the same.
#include "loaders/open_run.h"

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>

using namespace forkpoint;
namespace fs = std::filesystem;

namespace {

void write(const fs::path &path, const std::string &bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

QString errorOf(const fs::path &path)
{
    const auto run = openRun(path, {}, {});
    return run.ok() ? QString() : QString::fromStdString(run.error().text);
}

} // namespace

class UnreadTextTest : public QObject
{
    Q_OBJECT

private slots:
    void textsSayWhatTheyLack_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("said");
        QTest::newRow("half steps") << QByteArray("{\"step\": 0.5, \"loss\": 1.5}\n")
                                    << "'step' of its first line is no whole number";
        QTest::newRow("no step") << QByteArray("{\"event\": \"layer\", \"sum\": 1.5}\n")
                                 << "its first line is JSON without a whole number 'step'";
        QTest::newRow("own log") << QByteArray("rank=0 layer=x sum=0x12\n")
                                 << "a text that begins 'rank=0 layer=x sum=0x12'";
    }

    void textsSayWhatTheyLack()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QString, said);
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        write(root / "own" / "seen.jsonl", text.toStdString());
        for (const fs::path &path : {root / "own", root / "own" / "seen.jsonl"}) {
            const QString error = errorOf(path);
            QVERIFY2(error.contains(said), qPrintable(error));
            QVERIFY2(error.contains("--mapping"), qPrintable(error));
        }
    }

    void packedFilesAreNamed_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("said");
        QTest::newRow("gzip") << QByteArray("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10)
                              << "by gzip: unpack";
        QTest::newRow("GGUF") << QByteArray("GGUF\3\0\0\0", 8) << "GGUF file";
        QTest::newRow("no step in CSV")
            << QByteArray("epoch,loss\n1,0.5\n") << "names no column 'step'";
        QTest::newRow("one document") << QByteArray("[{\"step\": 1}]\n") << "not one object a line";
    }

    void packedFilesAreNamed()
    {
        QFETCH(const QByteArray, bytes);
        QFETCH(const QString, said);
        QTemporaryDir folder;
        const fs::path file = fs::path(folder.path().toStdString()) / "given.csv";
        write(file, bytes.toStdString());
        QVERIFY2(errorOf(file).contains(said), qPrintable(errorOf(file)));
    }

    void bytesAreNoText()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        write(root / "x.log", std::string("\x01\x02\xff\n", 4));
        for (const fs::path &path : {root, root / "x.log"}) {
            QVERIFY(!errorOf(path).isEmpty());
            QVERIFY2(!errorOf(path).contains("--mapping"), qPrintable(errorOf(path)));
        }
    }

    /// Too few for a tree of tensors, and no checkpoint either.
    void oneTensorOfARank()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        std::string npy("\x93NUMPY\x01\x00\x76\x00", 10);
        npy += "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
        npy.resize(127, ' ');
        write(root / "step_1" / "rank_0" / "loss.npy", npy + "\n\x07");
        const auto run = openRun(root, {}, {});
        QVERIFY(run.ok());
        const auto step = (*run)->open(0, {});
        QVERIFY(!step.ok());
        QVERIFY2(step.error().text.find("not opened: rank_0") != std::string::npos,
                 step.error().text.c_str());
    }

    void folderOfRanksNeedsAStep()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        for (const char *rank : {"rank_0", "rank_1"})
            write(root / rank / "notes.md", "text");
        QVERIFY2(errorOf(root).contains("step_1/rank_0/"), qPrintable(errorOf(root)));
    }
};

QTEST_APPLESS_MAIN(UnreadTextTest)
#include "tst_unread_text.moc"
