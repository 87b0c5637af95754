// SPDX-License-Identifier: GPL-3.0-or-later
// Which of several jobs a person is told about. The expected sequences are written down by hand.
#include "app/core/job_watch.h"

#include <QStringList>
#include <QTest>

using namespace forkpoint;
using namespace std::chrono_literals;

class TestJobWatch : public QObject
{
    Q_OBJECT

private:
    QStringList m_told;
    JobWatch m_watch = watch();

    JobWatch watch()
    {
        return JobWatch([this](const JobSnapshot &job) {
            static constexpr const char *Phases[] = {"idle", "starts", "finished", "failed",
                                                     "cancelled"};
            m_told += QString::fromStdString(job.title) + ' ' + Phases[int(job.phase)];
        });
    }

    static std::vector<RunningJob> running(JobId id, const std::string &title)
    {
        RunningJob job;
        job.id = id;
        job.title = title;
        job.age = 400ms; // long enough for a minor job to be shown
        return {job};
    }

private slots:
    void init()
    {
        m_told.clear();
        m_watch = watch();
    }

    void aMajorJobIsToldAtOnce()
    {
        m_watch.added(1, "open", JobWatch::Kind::Major);
        m_watch.ended(1, "open", JobWatch::Kind::Major, JobEnd::Cancelled, nullptr);
        QCOMPARE(m_told, (QStringList{"open starts", "open cancelled"}));
    }

    void aShortMinorJobIsNotTold()
    {
        m_watch.added(1, "device", JobWatch::Kind::Minor);
        m_watch.ended(1, "device", JobWatch::Kind::Minor, JobEnd::Finished, nullptr);
        QVERIFY(m_told.isEmpty());
    }

    void aCancelBehindAMinorJobIsTold()
    {
        m_watch.added(1, "device", JobWatch::Kind::Minor);
        m_watch.sample(running(1, "device"));
        m_watch.added(2, "open A", JobWatch::Kind::Major);
        m_watch.added(3, "open B", JobWatch::Kind::Major);
        m_watch.ended(2, "open A", JobWatch::Kind::Major, JobEnd::Cancelled, nullptr);
        m_watch.ended(3, "open B", JobWatch::Kind::Major, JobEnd::Cancelled, nullptr);
        m_watch.ended(1, "device", JobWatch::Kind::Minor, JobEnd::Finished, nullptr);
        QCOMPARE(m_told,
                 (QStringList{"device starts", "device finished", "open A starts",
                              "open A cancelled", "open B starts", "open B cancelled"}));
    }

    void waitingJobsThatEndWithTheShownOneAreToldOnce()
    {
        m_watch.added(1, "compare", JobWatch::Kind::Major);
        m_watch.added(2, "export", JobWatch::Kind::Major);
        m_watch.ended(2, "export", JobWatch::Kind::Major, JobEnd::Cancelled, nullptr);
        m_watch.ended(1, "compare", JobWatch::Kind::Major, JobEnd::Cancelled, nullptr);
        QCOMPARE(m_told, (QStringList{"compare starts", "compare cancelled"}));
    }
};

QTEST_APPLESS_MAIN(TestJobWatch)
#include "tst_job_watch.moc"
