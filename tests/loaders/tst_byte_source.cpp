// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/byte_source.h"

#include <QTest>

using namespace forkpoint;

class TestByteSource : public QObject
{
    Q_OBJECT

private:
    static ErrorCode codeOf(const Status &status)
    {
        return status.ok() ? ErrorCode::Usage : status.error().code;
    }

private slots:
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
