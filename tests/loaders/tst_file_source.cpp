// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/file_source.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace forkpoint;

class TestFileSource : public QObject
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
        rlimit limit = {};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = 64; // before the first file, so that few may stay open
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &limit), 0);
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

    void noticesAFileRenamedIntoItsPlace()
    {
        write("place", "as it was");
        const auto file = FileSource::open(path("place"), "place");
        QVERIFY(file.ok());
        write("beside", "of another");
        std::filesystem::rename(path("beside"), path("place"));
        QVERIFY(codeOf((*file)->unchanged()) == ErrorCode::Changed);
        std::byte first{};
        QVERIFY((*file)->read(0, {&first, 1}).ok()); // what was opened is still there
        QVERIFY(first == std::byte('a'));
        std::filesystem::remove(path("place"));
        QVERIFY((*file)->unchanged().ok()); // and nothing took its place
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

    void opensMoreFilesThanAProcessMayKeepOpen()
    {
        std::vector<std::shared_ptr<const FileSource>> files;
        for (int i = 0; i < 300; ++i) {
            const std::string name = "many-" + std::to_string(i);
            write(name.c_str(), QByteArray::number(1000 + i));
            auto file = FileSource::open(path(name.c_str()), name);
            QVERIFY2(file.ok(), name.c_str());
            files.push_back(*file);
        }
        for (int i = 0; i < 300; ++i) {
            std::vector<std::byte> bytes(4);
            QVERIFY(files[std::size_t(i)]->read(0, bytes).ok());
            QCOMPARE(asText(bytes), std::string_view(std::to_string(1000 + i)));
        }
    }

    void aFileOpenedAgainMustBeTheSame()
    {
        write("first", "before");
        const auto first = FileSource::open(path("first"), "first");
        QVERIFY(first.ok());
        write("other", "after!");
        QCOMPARE(::rename(path("other").c_str(), path("first").c_str()), 0);
        std::vector<std::byte> bytes(6);
        QVERIFY((*first)->read(0, bytes).ok()); // still open: the bytes that were there
        QCOMPARE(asText(bytes), std::string_view("before"));
        std::vector<std::shared_ptr<const FileSource>> others;
        for (int i = 0; i < 64; ++i)
            others.push_back(*FileSource::open(path("digits"), "digits"));
        QVERIFY(codeOf((*first)->read(0, bytes)) == ErrorCode::Changed);
        QVERIFY(codeOf((*first)->unchanged()) == ErrorCode::Changed);
    }

    void followsTheLinksOfAHubCache()
    {
        QVERIFY(QDir(m_directory.path()).mkpath("models--a--b/snapshots/0f/unet"));
        QVERIFY(QDir(m_directory.path()).mkpath("models--a--b/blobs"));
        write("models--a--b/blobs/5a5a", "blob");
        write("models--a--b/secret", "secret");
        const std::string snapshot = path("models--a--b/snapshots/0f");
        const auto link = [&](const char *target, const std::string &name) {
            QCOMPARE(::symlink(target, (snapshot + "/" + name).c_str()), 0);
        };
        link("../../blobs/5a5a", "model");
        link("../../../blobs/5a5a", "unet/model");
        link("../../secret", "secret");
        link("../../blobs/../secret", "around");
        link("../../blobs/gone", "gone");
        link((path("models--a--b/blobs/5a5a")).c_str(), "absolute");
        const auto opens = [&](const std::string &name) {
            const auto file = FileSource::openBeneath(snapshot, name, name);
            return file.ok() && (*file)->size() == 4;
        };
        QVERIFY(opens("model"));
        QVERIFY(opens("unet/model"));
        QVERIFY(!opens("secret"));
        QVERIFY(!opens("around"));
        QVERIFY(!opens("gone"));
        QVERIFY(!opens("absolute"));
    }
};

QTEST_APPLESS_MAIN(TestFileSource)
#include "tst_file_source.moc"
