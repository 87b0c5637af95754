// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded digests, computed again from the tensors they speak of.
#include "app/core/digest_check.h"
#include "tests/support/fake_trace.h"
#include "tests/support/memory_source.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// A checkpoint of step 1 with float32 w = [1, 2], and what a trace recorded of it.
class TracedRun final : public Run
{
public:
    explicit TracedRun(std::vector<TraceRecord> records)
    {
        m_trace = std::make_shared<FakeTrace>();
        m_trace->rank(0, std::move(records));
        m_source = std::make_shared<MemorySource>();
        m_source->addFloats("model.w", {1, 2});
        m_source->finish();
        m_steps.push_back({1, "step 1"});
    }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_path; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    std::shared_ptr<const Trace> trace() const override { return m_trace; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return true; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t, std::stop_token) const override
    {
        return std::shared_ptr<const TensorSource>(m_source);
    }

private:
    std::string m_path = "memory";
    std::shared_ptr<FakeTrace> m_trace;
    std::shared_ptr<MemorySource> m_source;
    std::vector<RunStep> m_steps;
    std::vector<MetricSeries> m_metrics;
    Diagnostics m_diagnostics;
};

TraceRecord weight(std::string digest, DigestKind kind, std::string name = "w")
{
    TraceRecord record = call(std::move(name), 0, {}, {seen(std::move(digest), kind)});
    record.role = RecordRole::Tensor;
    record.stage = "weight";
    return record;
}

std::optional<DigestCheck> checked(TraceRecord record)
{
    const TracedRun run({std::move(record)});
    return checkDigests(run, 1, 1000, {});
}

} // namespace

class DigestCheckTest : public QObject
{
    Q_OBJECT

private slots:
    void eachKindIsComputedAgain_data()
    {
        // Of float32 [1, 2]: the sums as their source defines them, SHA-256 by hashlib, the XOR of the
        // two doubles 3ff0... and 4000....
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("digest");
        QTest::newRow("megatron-128")
            << int(DigestKind::Megatron128) << "184cd7fb013afc3369a4b986aa057698";
        QTest::newRow("sha256")
            << int(DigestKind::Sha256)
            << "b9c80b5adeca450753a16950c3cc655d271f7bef7a485bc83f112b72fef21d37";
        QTest::newRow("sha256 with header")
            << int(DigestKind::Sha256Header)
            << "1190c2ff6137a974acc4e1dcb9e7752a66901d1d258d8d72079d3a34608b01a3";
        QTest::newRow("xor") << int(DigestKind::XorLanes) << "7ff0000000000000";
        // By xxhash: up to 64 KiB the content digest is XXH3-128 of the bytes (fingerprint.md).
        QTest::newRow("our own") << int(DigestKind::Fingerprint)
                                 << "4533ce61c4655ba3c3e077b25dd1d769";
    }
    void eachKindIsComputedAgain()
    {
        QFETCH(const int, kind);
        QFETCH(const QString, digest);
        const auto found = checked(weight(digest.toStdString(), DigestKind(kind)));
        QVERIFY(found.has_value());
        QCOMPARE(found->match, std::uint64_t(1));
        std::string other = digest.toStdString();
        other.front() = other.front() == '0' ? '1' : '0';
        const auto wrong = checked(weight(other, DigestKind(kind)));
        QCOMPARE(wrong->mismatch, std::uint64_t(1));
        QCOMPARE(wrong->mismatched, (std::vector<std::string>{"w"}));
    }

    void whatCannotBeComputedIsNoMatch()
    {
        const auto sampled = checked(weight("ab", DigestKind::Sampled));
        QCOMPARE(sampled->notRecomputable, std::uint64_t(1));
        QCOMPARE(sampled->match, std::uint64_t(0));
        const TracedRun run({weight("ab", DigestKind::Sha256)});
        QCOMPARE(checkDigests(run, 1, 4, {})->notRecomputable, std::uint64_t(1)); // over the limit
    }

    void anotherThingIsNotCompared()
    {
        QVERIFY(!checked(weight("ab", DigestKind::Sha256, "raw"))); // no tensor of that name
        TraceRecord gradient = weight("ab", DigestKind::Sha256);
        gradient.stage = "grad"; // a checkpoint holds none
        QVERIFY(!checked(std::move(gradient)));
        TraceRecord half = weight("ab", DigestKind::Sha256);
        half.outputs[0].dtype = "float16";
        QVERIFY(!checked(std::move(half)));
        const TracedRun run({weight("ab", DigestKind::Sha256)});
        QVERIFY(!checkDigests(run, 2, 1000, {})); // no such step
    }
};

QTEST_APPLESS_MAIN(DigestCheckTest)
#include "tst_digest_check.moc"
