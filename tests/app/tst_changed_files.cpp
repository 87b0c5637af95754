// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session.h"
#include "tests/support/session_ear.h"

#include <QDateTime>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <map>

using namespace forkpoint;

namespace {

/// Hears what was answered, what failed, and what was said of the files.
struct Heard
{
    std::shared_ptr<const RunComparison> comparison;
    std::shared_ptr<const DiffStats> stats;
    std::map<std::uint64_t, bool> answered; ///< by request: true, or false where it failed
    std::map<std::uint64_t, std::string> failures;
    std::shared_ptr<const TensorHistory> history;
    std::uint64_t lastHistory = 0;
    int changes = 0;
};

class Ear final : public SessionEar<Heard>
{
public:
    void comparisonChanged(std::shared_ptr<const RunComparison> comparison) override
    {
        set([&](Heard &h) { h.comparison = std::move(comparison); });
    }
    void factsChanged(const PairFacts &facts) override
    {
        set([&](Heard &h) { h.stats = facts.stats; });
    }
    void elementsReady(std::uint64_t id, std::shared_ptr<const ElementPage>) override
    {
        set([&](Heard &h) { h.answered[id] = true; });
    }
    void nextDifferenceReady(std::uint64_t id, std::optional<Index>) override
    {
        set([&](Heard &h) { h.answered[id] = true; });
    }
    void mapReady(std::uint64_t id, std::shared_ptr<const ElementMap> map) override
    {
        if (map->complete)
            set([&](Heard &h) { h.answered[id] = true; });
    }
    void historyReady(std::uint64_t id, std::shared_ptr<const TensorHistory> history) override
    {
        set([&](Heard &h) {
            h.history = std::move(history);
            h.lastHistory = id;
        });
    }
    void nonFiniteReady(std::uint64_t id, std::shared_ptr<const NonFiniteFindings> found) override
    {
        if (found->complete)
            set([&](Heard &h) { h.answered[id] = true; });
    }
    void requestFailed(std::uint64_t id, const Error &error) override
    {
        set([&](Heard &h) {
            h.answered[id] = false;
            h.failures[id] = error.message();
        });
    }
    void filesChecked(const std::optional<Error> &change) override
    {
        set([&](Heard &h) { h.changes += change.has_value(); });
    }
};

constexpr int Elements = 64;

/// A safetensors file of one float32 tensor "w" whose elements are all that number.
QByteArray fileOf(float value)
{
    QByteArray header = R"({"w":{"dtype":"F32","shape":[8,8],"data_offsets":[0,256]}})";
    header = header.leftJustified((header.size() + 7) / 8 * 8, ' ');
    QByteArray bytes;
    const quint64 size = quint64(header.size());
    for (int i = 0; i < 8; ++i)
        bytes += char(size >> (8 * i) & 0xff);
    bytes += header;
    for (int i = 0; i < Elements; ++i) {
        char element[sizeof value];
        std::memcpy(element, &value, sizeof value);
        bytes.append(element, sizeof value);
    }
    return bytes;
}

void write(const QString &path, float value)
{
    QFile file(path); // in place: the same file for who has it open
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(fileOf(value)) > 0 && file.flush());
    // As far apart as a clock of any grain tells.
    const QDateTime time = QDateTime::fromSecsSinceEpoch(1'700'000'000 + qint64(value));
    QVERIFY(file.setFileTime(time, QFileDevice::FileModificationTime));
}

const PairAddress Pair{std::nullopt, TensorIndex(0), TensorIndex(0)};

using Request = std::function<void(Session &)>;
constexpr std::uint64_t Id = 7;

/// Everything that reads elements and answers.
const std::map<std::string, Request> Requests = {
    {"window",
     [](Session &s) {
         s.requestElements(Id, Pair, {ElementOrder::ByIndex, 0, 4, {}});
     }},
    {"differing",
     [](Session &s) {
         s.requestElements(Id, Pair, {ElementOrder::Differing, 0, 4, {}});
     }},
    {"largest",
     [](Session &s) {
         s.requestElements(Id, Pair, {ElementOrder::Largest, 0, 4, {}});
     }},
    {"next", [](Session &s) { s.requestNextDifference(Id, Pair, 0, false); }},
    {"map", [](Session &s) { s.requestMap(Id, Pair, {}); }},
};

/// Two files that were compared, before anything of them is looked at.
struct Compared
{
    QTemporaryDir folder;
    QString a = folder.filePath(QStringLiteral("a.safetensors"));
    QString b = folder.filePath(QStringLiteral("b.safetensors"));
    Ear ear;
    std::optional<Session> session;

    Compared()
    {
        write(a, 1.0f);
        write(b, 2.0f);
        session.emplace(SessionEnvironment::standard(), ear);
        session->openPair(a.toStdString(), b.toStdString());
    }
    bool finished() const
    {
        const auto comparison = ear.heard().comparison;
        return comparison && comparison->finished;
    }
};

/// A run of more steps than are kept open.
struct Series
{
    static constexpr int Steps = 8;
    QTemporaryDir folder;

    explicit Series(float value)
    {
        for (int step = 0; step < Steps; ++step)
            write(pathOf(step), value);
    }
    QString pathOf(int step) const
    {
        return folder.filePath(QStringLiteral("step_%1.safetensors").arg(step));
    }
};

} // namespace

/// What a file holds now is not shown as what was compared.
class TestChangedFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void looks_data();
    void looks();
    void measures();
    void followsOverSteps();
    void looksForNaN();
};

void TestChangedFiles::looks_data()
{
    QTest::addColumn<QString>("request");
    QTest::addColumn<bool>("rewritten");
    for (const auto &[name, request] : Requests)
        for (const bool rewritten : {false, true})
            QTest::addRow("%s %s", name.c_str(), rewritten ? "rewritten" : "as it was")
                << QString::fromStdString(name) << rewritten;
}

void TestChangedFiles::looks()
{
    QFETCH(QString, request);
    QFETCH(bool, rewritten);
    Compared compared;
    QTRY_VERIFY(compared.finished());
    if (rewritten)
        write(compared.b, 3.0f);
    Requests.at(request.toStdString())(*compared.session);
    QTRY_VERIFY(compared.ear.heard().answered.contains(Id));
    QTRY_COMPARE(compared.ear.heard().changes, rewritten ? 1 : 0);
    const Heard heard = compared.ear.heard();
    QCOMPARE(heard.answered.at(Id), !rewritten);
    if (rewritten) {
        const std::string &why = heard.failures.at(Id);
        QVERIFY2(why.find("b.safetensors") != std::string::npos
                     && why.find("changed after it was opened") != std::string::npos,
                 why.c_str());
    }
}

void TestChangedFiles::measures()
{
    Compared compared;
    QTRY_VERIFY(compared.finished());
    write(compared.a, 3.0f);
    compared.session->requestFacts(Pair, nullptr);
    QTRY_COMPARE(compared.ear.heard().changes, 1);
    QVERIFY(!compared.ear.heard().stats);
}

void TestChangedFiles::followsOverSteps()
{
    const Series a(1.0f), b(2.0f);
    Ear ear;
    Session session(SessionEnvironment::standard(), ear);
    session.openPair(a.folder.path().toStdString(), b.folder.path().toStdString());
    QTRY_VERIFY(ear.heard().comparison && ear.heard().comparison->finished);
    const auto reasons = [&] {
        std::vector<std::string> told;
        for (const HistoryPoint &point : ear.heard().history->points)
            told.push_back(point.difference ? "" : point.reason);
        return told;
    };
    const auto follow = [&](std::uint64_t id) {
        session.requestHistory(id, "w", "w");
        QTRY_VERIFY(ear.heard().lastHistory == id && ear.heard().history->complete);
    };
    follow(1);
    QCOMPARE(reasons(), std::vector<std::string>(Series::Steps));
    write(b.pathOf(2), 3.0f); // of a step that is no longer kept open
    follow(2);
    const std::vector<std::string> told = reasons();
    for (int step = 0; step < Series::Steps; ++step) {
        const bool says =
            told[std::size_t(step)].find("changed after it was opened") != std::string::npos;
        QCOMPARE(says, step == 2);
    }
}

void TestChangedFiles::looksForNaN()
{
    for (const bool rewritten : {false, true}) {
        Compared compared;
        QTRY_VERIFY(compared.finished());
        if (rewritten)
            write(compared.a, 3.0f);
        compared.session->searchNonFinite(Id);
        QTRY_VERIFY(compared.ear.heard().answered.contains(Id));
        QCOMPARE(compared.ear.heard().answered.at(Id), !rewritten);
    }
}

QTEST_GUILESS_MAIN(TestChangedFiles)
#include "tst_changed_files.moc"
