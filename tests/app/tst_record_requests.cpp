// SPDX-License-Identifier: GPL-3.0-or-later
// What a session answers about the records of two traces: real files, whose lines are read here by
// hand beside it; every request ends exactly once.
#include "app/core/session.h"
#include "gpu/cpu_backend.h"
#include "tests/support/session_ear.h"

#include <QFile>
#include <QTest>

#include <map>

using namespace forkpoint;

namespace {

struct Heard
{
    bool compared = false, opened = false;
    std::map<std::uint64_t, int> ends; ///< by request
    std::map<std::uint64_t, std::shared_ptr<const RecordWindow>> windows;
    std::map<std::uint64_t, std::shared_ptr<const RecordText>> texts;
    std::map<std::uint64_t, std::shared_ptr<const RecordDrift>> drifts;
    std::map<std::uint64_t, std::string> failures;
};

class Ear final : public SessionEar<Heard>
{
public:
    bool waitForEnd(std::uint64_t id)
    {
        return waitFor([id](const Heard &h) {
            const auto found = h.ends.find(id);
            return found != h.ends.end() && found->second > 0;
        });
    }

    void sideChanged(SessionSide, const SideSnapshot &side) override
    {
        set([&](Heard &h) { h.opened |= side.phase == SideSnapshot::Phase::Open; });
    }
    void comparisonChanged(std::shared_ptr<const RunComparison> comparison) override
    {
        set([&](Heard &h) { h.compared = comparison && comparison->finished; });
    }
    void recordsReady(std::uint64_t id, std::shared_ptr<const RecordWindow> window) override
    {
        set([&](Heard &h) {
            h.ends[id] += window->complete ? 1 : 0;
            h.windows[id] = std::move(window);
        });
    }
    void recordTextReady(std::uint64_t id, std::shared_ptr<const RecordText> text) override
    {
        set([&](Heard &h) {
            ++h.ends[id];
            h.texts[id] = std::move(text);
        });
    }
    void driftReady(std::uint64_t id, std::shared_ptr<const RecordDrift> drift) override
    {
        set([&](Heard &h) {
            h.ends[id] += drift->complete ? 1 : 0;
            h.drifts[id] = std::move(drift);
        });
    }
    void requestFailed(std::uint64_t id, const Error &error) override
    {
        set([&](Heard &h) {
            ++h.ends[id];
            h.failures[id] = error.message();
        });
    }
};

SessionEnvironment environment()
{
    SessionEnvironment environment = SessionEnvironment::standard();
    environment.threads = 1;
    return environment;
}

std::string path(const char *name)
{
    return std::string(FORKPOINT_TEST_DATA) + '/' + name;
}

QByteArray lineOf(const std::string &file, std::uint64_t number)
{
    QFile data(QString::fromStdString(file));
    if (!data.open(QIODevice::ReadOnly))
        return {};
    return data.readAll().split('\n').value(qsizetype(number) - 1);
}

} // namespace

class RecordRequestsTest : public QObject
{
    Q_OBJECT

private slots:
    void everyRowLeadsToItsLines();
    void aNewerRequestEndsTheOlder();
    void aRecordOverTheSteps();
    void sidesWithoutATraceFail();
    void aTraceAloneListsItsRecords_data();
    void aTraceAloneListsItsRecords();
};

void RecordRequestsTest::everyRowLeadsToItsLines()
{
    Ear ear;
    Session session(environment(), ear);
    session.openPair(path("traces/bridge/A"), path("traces/bridge/C"));
    QVERIFY(ear.waitFor([](const Heard &h) { return h.compared; }));
    RecordQuery query;
    query.rank = 1;
    query.iteration = 1;
    session.requestRecords(1, query);
    QVERIFY(ear.waitForEnd(1));
    const auto window = ear.heard().windows[1];
    QVERIFY(window && window->found && !window->rows.empty());
    QCOMPARE(QString::fromStdString(window->rank.toText()),
             QStringLiteral("pp 0, tp 0, cp 0, dp 1"));
    std::uint64_t id = 1;
    for (const RecordRow &row : window->rows) {
        QVERIFY(row.a && row.b);
        session.requestRecordText(++id, {row.a->record.place, row.b->record.place, {}});
        QVERIFY(ear.waitForEnd(id));
        const auto text = ear.heard().texts[id];
        QVERIFY(text && text->a && text->b);
        const QByteArray a =
            lineOf(path("traces/bridge/A/") + text->a->file, row.a->record.place.line);
        QCOMPARE(QByteArray::fromStdString(text->a->text), a);
        QVERIFY(!a.isEmpty() && !text->a->isCut);
        // The lines are the proof: equal ones are never told as different, and the other way round.
        const bool same = text->a->text == text->b->text;
        QCOMPARE(row.status == RecordStatus::Different, !same);
    }
    for (const auto &[request, ends] : ear.heard().ends)
        QCOMPARE(ends, 1);
}

void RecordRequestsTest::aNewerRequestEndsTheOlder()
{
    Ear ear;
    Session session(environment(), ear);
    session.openPair(path("traces/bridge/A"), path("traces/bridge/C"));
    QVERIFY(ear.waitFor([](const Heard &h) { return h.compared; }));
    RecordQuery query;
    query.iteration = 1;
    constexpr std::uint64_t Count = 20;
    for (std::uint64_t id = 1; id <= Count; ++id)
        session.requestRecords(id, query);
    for (std::uint64_t id = 1; id <= Count; ++id)
        QVERIFY(ear.waitForEnd(id));
    const Heard heard = ear.heard();
    for (const auto &[id, ends] : heard.ends)
        QCOMPARE(ends, 1);
    QVERIFY(heard.failures.count(Count) == 0);
}

void RecordRequestsTest::aRecordOverTheSteps()
{
    Ear ear;
    Session session(environment(), ear);
    session.openPair(path("traces/bridge/A"), path("traces/bridge/C"));
    QVERIFY(ear.waitFor([](const Heard &h) { return h.compared; }));
    RecordQuery query;
    query.iteration = 1;
    session.requestRecords(1, query);
    QVERIFY(ear.waitForEnd(1));
    const auto window = ear.heard().windows[1];
    const RecordRow &row = window->rows[window->found.value_or(0)];
    session.requestDrift(2, {0, row.a->identity});
    QVERIFY(ear.waitForEnd(2));
    const auto drift = ear.heard().drifts[2];
    QVERIFY(drift && !drift->points.empty());
    QVERIFY(drift->points[0].a == row.a->record.place);
    QVERIFY(drift->points[0].status == row.status);
}

void RecordRequestsTest::aTraceAloneListsItsRecords_data()
{
    QTest::addColumn<bool>("isA");
    QTest::addColumn<bool>("isRefused");
    QTest::newRow("A") << true << false;
    QTest::newRow("B") << false << false;
    QTest::newRow("beside a checkpoint") << true << true;
}

// Every line of the file is a record of this rank and step, or none: each is listed once, in order.
void RecordRequestsTest::aTraceAloneListsItsRecords()
{
    QFETCH(bool, isA);
    QFETCH(bool, isRefused);
    Ear ear;
    Session session(environment(), ear);
    if (isRefused)
        session.openPair(path("traces/bridge/A"), path("npy"));
    else
        session.openSide(isA ? SessionSide::A : SessionSide::B, path("traces/bridge/A"));
    QVERIFY(ear.waitFor([&](const Heard &h) { return isRefused ? h.compared : h.opened; }));
    RecordQuery query;
    query.of = isA ? RecordQuery::Of::A : RecordQuery::Of::B;
    query.rank = 1;
    query.iteration = 1;
    session.requestRecords(1, query);
    QVERIFY(ear.waitForEnd(1));
    const auto window = ear.heard().windows[1];
    QVERIFY(window && window->complete && !window->rows.empty());
    QCOMPARE(window->counts.differences(), std::uint64_t(0));
    std::uint64_t id = 1, line = 0;
    for (const RecordRow &row : window->rows) {
        QVERIFY(row.status == RecordStatus::NotCompared);
        QCOMPARE(row.a.has_value(), isA);
        QCOMPARE(row.b.has_value(), !isA);
        const TracePlace place = row.record().place;
        QVERIFY(place.line > line);
        line = place.line;
        RecordPlaces places;
        (isA ? places.a : places.b) = place;
        session.requestRecordText(++id, places);
        QVERIFY(ear.waitForEnd(id));
        const auto text = ear.heard().texts[id];
        QVERIFY(text);
        const auto &side = isA ? text->a : text->b;
        QVERIFY(side);
        QCOMPARE(QByteArray::fromStdString(side->text),
                 lineOf(path("traces/bridge/A/") + side->file, line));
    }
    query.rank = 99;
    session.requestRecords(++id, query);
    QVERIFY(ear.waitForEnd(id));
    QVERIFY(ear.heard().failures.count(id) == 1);
}

void RecordRequestsTest::sidesWithoutATraceFail()
{
    Ear ear;
    Session session(environment(), ear);
    session.requestRecords(1, {});
    QVERIFY(ear.waitForEnd(1));
    session.openPair(path("npy"), path("npy"));
    session.requestRecordText(2, {});
    session.requestDrift(3, {});
    QVERIFY(ear.waitForEnd(2) && ear.waitForEnd(3));
    QCOMPARE(ear.heard().failures.size(), std::size_t(3));
    QVERIFY(ear.heard().ends == (std::map<std::uint64_t, int>{{1, 1}, {2, 1}, {3, 1}}));
    // A session that goes while it opens gives its thread up, which would outlive the program.
    QVERIFY(ear.waitFor([](const Heard &h) { return h.compared; }));
}

QTEST_APPLESS_MAIN(RecordRequestsTest)
#include "tst_record_requests.moc"
