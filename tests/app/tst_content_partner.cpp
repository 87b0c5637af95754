// SPDX-License-Identifier: GPL-3.0-or-later
// Whom one tensor meets by its contents: what a comparison of the whole leaves out is nobody's partner here either.
#include "app/core/content_partner.h"

#include "app/core/elements_document.h"
#include "tests/support/memory_source.h"

#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr std::uint64_t Plenty = 1u << 30;

std::shared_ptr<MemorySource> holding(std::initializer_list<const char *> names)
{
    const auto source = std::make_shared<MemorySource>();
    for (const char *name : names)
        source->add({{Key::of(name)}}, "float32", {16}, std::vector<float>(16, 1.5F));
    source->finish();
    return source;
}

struct Sought
{
    std::shared_ptr<MemorySource> a, b;

    Result<std::optional<TensorPairRef>> find(std::uint64_t budget = Plenty,
                                              std::stop_token stop = {}) const
    {
        const RankStates ranks(a->catalog(), b->catalog());
        const Pairing pairing = pairCatalogs(a->catalog(), b->catalog(), {});
        for (std::size_t row = 0; row < pairing.tensors.size(); ++row) {
            if (pairing.tensors[row].name == "mine")
                return partnerByContent(a, b, pairing, row, ranks, budget, stop);
        }
        return Error{ErrorCode::NotFound, {}, {}, "no such row"};
    }
};

} // namespace

class ContentPartnerTest : public QObject
{
    Q_OBJECT

private slots:
    void theOnlyOneIsMet()
    {
        const auto found = Sought{holding({"mine"}), holding({"yours"})}.find();
        QVERIFY(found.ok() && *found);
        QCOMPARE((*found)->tensorB().name, std::string("yours"));
    }

    /// The generators of rank 1 have those bytes, too; A has no such rank.
    void stateOfOtherRanksIsNobody()
    {
        const Sought sought{
            holding({"mine", "rng_state_0.cpu"}),
            holding({"yours", "rng_state_0.cpu", "rng_state_1.cpu", "rng_state_2.cpu"})};
        const auto found = sought.find();
        QVERIFY(found.ok() && *found);
        QCOMPARE((*found)->tensorB().name, std::string("yours"));
        // Asked for itself it is no difference, and says why.
        const auto rank = findPair(sought.a, sought.b, {}, "rng_state_1.cpu", {});
        QVERIFY(!rank.ok() && rank.error().code == ErrorCode::Unsupported);
        QVERIFY(rank.error().text.find("unlike ranks") != std::string::npos);
        const auto both = findPair(sought.a, sought.b, {}, "rng_state_0.cpu", {});
        QVERIFY(both.ok() && !both->saysNothing.empty());
    }

    void readingHasItsEnd()
    {
        // Two candidates of 64 bytes a side; the second is not read for 100 bytes.
        const Sought sought{holding({"mine"}), holding({"yours", "also"})};
        QVERIFY(sought.find().ok() && !*sought.find());
        const auto limited = sought.find(100);
        QVERIFY(!limited.ok() && limited.error().code == ErrorCode::Limit);
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = sought.find(Plenty, stop.get_token());
        QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Cancelled);
    }
};

QTEST_APPLESS_MAIN(ContentPartnerTest)
#include "tst_content_partner.moc"
