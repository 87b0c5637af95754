// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"

#include <QTest>

#include <limits>

using namespace forkpoint;

class TestFormat : public QObject
{
    Q_OBJECT

private slots:
    void shortestNumbers();
    void sizesAndCounts();
};

/// As Python's repr writes them.
void TestFormat::shortestNumbers()
{
    const std::pair<double, std::string> cases[] = {{1.0, "1.0"},
                                                    {-0.0, "-0.0"},
                                                    {0.1, "0.1"},
                                                    {1e-8, "1e-08"},
                                                    {100000.0, "100000.0"},
                                                    {1e16, "1e+16"},
                                                    {123456789012345.0, "123456789012345.0"},
                                                    {5e-324, "5e-324"},
                                                    {0.0001, "0.0001"},
                                                    {0.00001, "1e-05"},
                                                    {1e22, "1e+22"},
                                                    {0.1 + 0.2, "0.30000000000000004"}};
    for (const auto &[value, text] : cases)
        QCOMPARE(shortest(value), text);
    QCOMPARE(shortest(0.1F), std::string("0.1"));
    QCOMPARE(shortest(std::numeric_limits<double>::quiet_NaN()), std::string("nan"));
    QCOMPARE(shortest(-std::numeric_limits<double>::infinity()), std::string("-inf"));
    QCOMPARE(significant(3.14159, 3), std::string("3.14"));
    QCOMPARE(significant(1234567.0, 3), std::string("1.23e+06"));
}

void TestFormat::sizesAndCounts()
{
    QCOMPARE(byteSize(999), std::string("999 B"));
    QCOMPARE(byteSize(1100000), std::string("1.1 MB"));
    QCOMPARE(byteSize(999950), std::string("1.0 MB"));
    QCOMPARE(byteSize(4000000000000), std::string("4.0 TB"));
    QCOMPARE(byteSize(~std::uint64_t(0)), std::string("18.4 EB"));
    QCOMPARE(grouped(1234567), std::string("1,234,567"));
    QCOMPARE(grouped(999), std::string("999"));
    QCOMPARE(percentage(274, 1000), std::string("27.4 %"));
    QCOMPARE(percentage(1, 1000000), std::string("< 0.1 %"));
    QCOMPARE(percentage(999999, 1000000), std::string("> 99.9 %"));
    QCOMPARE(percentage(3, 3), std::string("100 %"));
    QCOMPARE(counted(1, "tensor", "tensors"), std::string("1 tensor"));
    QCOMPARE(counted(0, "tensor", "tensors"), std::string("0 tensors"));
}

QTEST_APPLESS_MAIN(TestFormat)
#include "tst_format.moc"
