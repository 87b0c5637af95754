// SPDX-License-Identifier: GPL-3.0-or-later
// The window over a tensor of 10^10 elements, in a file that is all holes but for three numbers.
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/views/element_view.h"
#include "widgets/views/tensor_detail.h"

#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

using namespace forkpoint;

namespace {

constexpr Index TenBillion = 10'000'000'000ULL;

/// Of the calling thread alone, in ms: others measure the tensor meanwhile.
double processorTime()
{
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

class TestTenBillionElements : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyPlaceIsAFrameAway();

private:
    bool write(const QString &path) const;

    QTemporaryDir m_folder;
};

/// float32 [100000, 100000]; 1, 1.5 and 2 at the end.
bool TestTenBillionElements::write(const QString &path) const
{
    const QByteArray header = R"({"big":{"dtype":"F32","shape":[100000,100000],)"
                              R"("data_offsets":[0,40000000000]}})";
    const std::uint64_t size = std::uint64_t(header.size());
    const std::array<float, 3> last{1.0F, 1.5F, 2.0F};
    QFile file(path);
    const qint64 end = qint64(sizeof size) + header.size() + qint64(TenBillion * sizeof(float));
    return file.open(QIODevice::WriteOnly)
        && file.write(reinterpret_cast<const char *>(&size), sizeof size) == sizeof size
        && file.write(header) == header.size() && file.resize(end)
        && file.seek(end - qint64(sizeof last))
        && file.write(reinterpret_cast<const char *>(last.data()), sizeof last) == sizeof last;
}

void TestTenBillionElements::everyPlaceIsAFrameAway()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    const QString path = m_folder.filePath(QStringLiteral("big.safetensors"));
    if (!write(path))
        QSKIP("this file system has no files of 40 GB with holes");
    Viewer viewer;
    viewer.context.openSide(Side::A, path);
    ElementView *view = viewer.find<TensorDetail>()->elementView();
    QTRY_COMPARE_WITH_TIMEOUT(view->rowCount(), std::uint64_t(TenBillion), Patience);
    const auto isThere = [&](Index row) { return view->rowTexts(row).size() > 1; };
    QTRY_VERIFY_WITH_TIMEOUT(isThere(0), Patience);
    QImage canvas(view->size(), QImage::Format_ARGB32_Premultiplied);
    view->render(&canvas); // loads fonts

    constexpr int Jumps = 50;
    std::vector<double> frames, arrivals;
    for (int i = 1; i <= Jumps; ++i) {
        const Index index = TenBillion / Jumps * Index(i) - 1;
        const double start = processorTime();
        view->goToIndex(index);
        view->render(&canvas);
        double frame = processorTime() - start;
        QElapsedTimer clock;
        clock.start();
        while (!isThere(index) && clock.elapsed() < Patience)
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
        QVERIFY(isThere(index));
        arrivals.push_back(double(clock.nsecsElapsed()) * 1e-6);
        const double again = processorTime();
        view->render(&canvas);
        frame = std::max(frame, processorTime() - again);
        frames.push_back(frame);
    }
    const double worst = *std::max_element(frames.begin(), frames.end());
    qInfo("a jump within 10^10 elements: the frame %.1f ms of processor time, worst %.1f ms; the "
          "rows after %.0f ms by the clock, worst %.0f ms",
          median(frames), worst, median(arrivals),
          *std::max_element(arrivals.begin(), arrivals.end()));
    QVERIFY(median(frames) < 80); // five times what a frame may take, for slow machines
    QCOMPARE(view->rowTexts(TenBillion - 1).mid(0, 2),
             (QStringList{QStringLiteral("[99999, 99999]"), QStringLiteral("2")}));
    QCOMPARE(view->rowTexts(TenBillion - 3).mid(1, 1), QStringList{QStringLiteral("1")});
    QCOMPARE(view->rowTexts(TenBillion - 4).mid(1, 1), QStringList{QStringLiteral("0")});
}

FP_WIDGET_TEST_MAIN(TestTenBillionElements)
#include "tst_ten_billion_elements.moc"
