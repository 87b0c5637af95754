// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/byte_source.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace forkpoint;

class TestByteSource : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_directory;

    std::string path(const char *name) const
    {
        return m_directory.filePath(QString::fromUtf8(name)).toStdString();
    }
    void write(const char *name, const QByteArray &bytes) const
    {
        QFile file(QString::fromStdString(path(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), bytes.size());
    }
    static ErrorCode codeOf(const Status &status)
    {
        return status.ok() ? ErrorCode::Usage : status.error().code;
    }
    ErrorCode openingFails(const char *name) const
    {
        const auto file = FileSource::open(path(name), name);
        return file.ok() ? ErrorCode::Usage : file.error().code;
    }
    ErrorCode beneathFails(const std::string &relative) const
    {
        const auto file = FileSource::openBeneath(path("inside"), relative, relative);
        return file.ok() ? ErrorCode::Usage : file.error().code;
    }

private slots:
    void initTestCase()
    {
        QVERIFY(m_directory.isValid());
        QVERIFY(QDir(m_directory.path()).mkpath("inside/deep"));
        write("digits", "0123456789");
        write("inside/deep/file", "deep");
        write("outside", "outside");
        QCOMPARE(::symlink("deep", path("inside/within").c_str()), 0);
        QCOMPARE(::symlink("../outside", path("inside/escape").c_str()), 0);
        QCOMPARE(::symlink("..", path("inside/up").c_str()), 0);
        QCOMPARE(::symlink("digits", path("link").c_str()), 0);
        QCOMPARE(::mkfifo(path("fifo").c_str(), 0600), 0);
    }

    void readsAtAnyPlace()
    {
        const auto file = FileSource::open(path("digits"), "shown");
        QVERIFY(file.ok());
        QCOMPARE((*file)->size(), std::uint64_t(10));
        QCOMPARE((*file)->name(), std::string("shown"));
        std::vector<std::byte> bytes(4);
        QVERIFY((*file)->read(3, bytes).ok());
        QCOMPARE(asText(bytes), std::string_view("3456"));
        QVERIFY((*file)->read(10, {}).ok());
    }

    void followsALinkThatTheUserNamed()
    {
        const auto file = FileSource::open(path("link"), "link");
        QVERIFY(file.ok());
        QCOMPARE((*file)->size(), std::uint64_t(10));
    }

    void readsPastTheEndAreTruncated()
    {
        const auto file = FileSource::open(path("digits"), "digits");
        QVERIFY(file.ok());
        std::vector<std::byte> bytes(4);
        const Status status = (*file)->read(7, bytes);
        QVERIFY(codeOf(status) == ErrorCode::Truncated);
        QCOMPARE(QString::fromStdString(status.error().message()),
                 QString("digits: byte 7: needs 4 bytes from here, ends at byte 10"));
        QVERIFY(codeOf((*file)->read(~std::uint64_t(0), bytes)) == ErrorCode::Truncated);
    }

    void refusesWhatIsNoRegularFile()
    {
        QVERIFY(openingFails("fifo") == ErrorCode::Refused); // and does not wait for a writer
        QVERIFY(openingFails("inside") == ErrorCode::Refused);
        QVERIFY(openingFails("not-there") == ErrorCode::NotFound);
        QVERIFY(!FileSource::open("/dev/zero", "zero").ok());
    }

    void noticesAShrunkFile()
    {
        write("shrinking", QByteArray(5000, 'x'));
        const auto file = FileSource::open(path("shrinking"), "shrinking");
        QVERIFY(file.ok());
        QVERIFY((*file)->unchanged().ok());
        QCOMPARE(::truncate(path("shrinking").c_str(), 100), 0);
        std::vector<std::byte> bytes(5000);
        QVERIFY(codeOf((*file)->read(0, bytes)) == ErrorCode::Changed);
        QVERIFY(codeOf((*file)->unchanged()) == ErrorCode::Changed);
    }

    void noticesARewrittenFile()
    {
        write("rewritten", "before");
        const auto file = FileSource::open(path("rewritten"), "rewritten");
        QVERIFY(file.ok());
        const timespec times[2] = {{1, 0}, {1, 0}};
        QCOMPARE(::utimensat(AT_FDCWD, path("rewritten").c_str(), times, 0), 0);
        QVERIFY(codeOf((*file)->unchanged()) == ErrorCode::Changed);
    }

    void staysBeneathADirectory()
    {
        const auto file = FileSource::openBeneath(path("inside"), "deep/file", "file");
        QVERIFY(file.ok());
        QCOMPARE((*file)->size(), std::uint64_t(4));
        QVERIFY(beneathFails("escape") == ErrorCode::Refused);
        QVERIFY(beneathFails("up/outside") == ErrorCode::Refused);
        QVERIFY(beneathFails("../outside") == ErrorCode::Refused);
        QVERIFY(beneathFails("deep/../../outside") == ErrorCode::Refused);
        QVERIFY(beneathFails(path("outside")) == ErrorCode::Refused);
        QVERIFY(beneathFails("") == ErrorCode::Refused);
        QVERIFY(beneathFails(".") == ErrorCode::Refused);
        QVERIFY(beneathFails(std::string("deep/file\0x", 11)) == ErrorCode::Refused);
        QVERIFY(beneathFails("deep") == ErrorCode::Refused); // a directory
        QVERIFY(beneathFails("deep/nothing") == ErrorCode::NotFound);
    }

    void windowsStayInside()
    {
        const auto text = asBytes("0123456789");
        const std::shared_ptr<const ByteSource> base = std::make_shared<MemorySource>(
            "base", std::vector<std::byte>(text.begin(), text.end()));
        const auto window = WindowSource::make(base, 2, 5, "window");
        QVERIFY(window.ok());
        std::vector<std::byte> bytes(5);
        QVERIFY((*window)->read(0, bytes).ok());
        QCOMPARE(asText(bytes), std::string_view("23456"));
        QVERIFY(codeOf((*window)->read(1, bytes)) == ErrorCode::Truncated);
        QVERIFY(!WindowSource::make(base, 6, 5, "window").ok());
        QVERIFY(!WindowSource::make(base, ~std::uint64_t(0), 2, "window").ok());
    }

    void readAllKeepsItsCap()
    {
        const MemorySource source("memory", std::vector<std::byte>(100));
        QVERIFY(readAll(source, 0, 100, 100).ok());
        QVERIFY(readAll(source, 0, 100, 99).error().code == ErrorCode::Limit);
        QVERIFY(readAll(source, 50, 51, 1000).error().code == ErrorCode::Truncated);
        QVERIFY(readAll(source, 0, std::uint64_t(1) << 62, ~std::uint64_t(0)).error().code
                == ErrorCode::Truncated);
    }
};

QTEST_APPLESS_MAIN(TestByteSource)
#include "tst_byte_source.moc"
