// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/tensor_jobs.h"

#include "app/core/growing.h"
#include "app/core/step_pair.h"
#include "model/compare/compare_rows.h"
#include "model/compare/owner_differences.h"
#include "model/compare/pair_reading.h"
#include "model/pairing/widened_source.h"

#include <algorithm>
#include <array>
#include <map>

namespace forkpoint {

namespace {

bool lists(const std::shared_ptr<const TensorSource> &source, std::optional<TensorIndex> tensor)
{
    return source && tensor && *tensor < source->catalog().tensors.size();
}

/// The catalogue's table of files, by which extents go, does not come along: they go by the tensor's
/// own files instead.
void takeFilesOf(const Catalog &catalog, TensorRef &tensor)
{
    std::map<FileIndex, FileIndex> own;
    std::vector<std::string> files;
    for (Extent &extent : tensor.extents) {
        if (extent.fills == Extent::Fills::FillValue || extent.file >= catalog.files.size())
            continue; // of no file
        const auto [entry, isNew] = own.emplace(extent.file, FileIndex(files.size()));
        if (isNew)
            files.push_back(catalog.files[extent.file]);
        extent.file = entry->second;
    }
    if (!files.empty())
        tensor.files = std::move(files);
    tensor.replicas.clear(); // would go by the table, and nobody asks for them
}

std::shared_ptr<const TensorRef> refOf(const std::shared_ptr<const TensorSource> &source,
                                       std::optional<TensorIndex> tensor)
{
    if (!lists(source, tensor))
        return nullptr;
    auto ref = std::make_shared<TensorRef>(source->catalog().tensors[*tensor]);
    takeFilesOf(source->catalog(), *ref);
    return ref;
}

/// The tensor of the one side that has it, beside itself.
Result<TensorPairRef> loneTensor(const OpenedPair &opened, const PairAddress &address)
{
    const auto &source = address.a ? opened.a : opened.b;
    const std::optional<TensorIndex> tensor = address.a ? address.a : address.b;
    if (!lists(source, tensor))
        return Error{ErrorCode::Changed, {}, {}, "the file lists other tensors than before"};
    return TensorPairRef{source, source, *tensor, *tensor};
}

/// The sides that an address names; the other one may be unreadable.
Result<OpenedPair> openAddressed(const SessionInputs &inputs, const PairAddress &address,
                                 const std::stop_token &stop)
{
    FP_TRY(OpenedPair opened, openWhatIsThere(inputs, address.step, stop));
    if (address.a && opened.errorA)
        return *opened.errorA;
    if (address.b && opened.errorB)
        return *opened.errorB;
    return opened;
}

/// Both sides of an address, where elements can be set against each other, or the one that is there.
Result<TensorPairRef> pairRefOf(const SessionInputs &inputs, const PairAddress &address,
                                const std::stop_token &stop)
{
    FP_TRY(const OpenedPair opened, openAddressed(inputs, address, stop));
    if (!address.a || !address.b)
        return loneTensor(opened, address);
    if (!lists(opened.a, address.a) || !lists(opened.b, address.b))
        return Error{ErrorCode::Changed, {}, {}, "the files list other tensors than before"};
    TensorPairRef pair = asOneType({opened.a, opened.b, *address.a, *address.b});
    if (!(pair.tensorA().dtype == pair.tensorB().dtype)
        || !(pair.tensorA().shape == pair.tensorB().shape))
        return Error{
            ErrorCode::Usage, {}, {}, "elements need the same shape, and a dtype that holds both"};
    return pair;
}

/// The addresses of the two sides of a pair, each by itself.
std::array<PairAddress, 2> sidesOf(const PairAddress &address)
{
    return {PairAddress{address.step, address.a, {}}, PairAddress{address.step, {}, address.b}};
}

/// Of a pair that could not be read, the side that can be by itself; nothing where both can, or
/// neither: then it is the pair's own error that tells.
template <class CanRead>
std::optional<PairAddress> readableSide(const PairAddress &address, const CanRead &canRead)
{
    if (!address.a || !address.b)
        return std::nullopt;
    const auto [a, b] = sidesOf(address);
    const bool hasA = canRead(a), hasB = canRead(b);
    if (hasA == hasB)
        return std::nullopt;
    return hasA ? a : b;
}

/// Nothing of one side by itself is shown in its place: the request is dropped, or the file is
/// another one than that which was compared.
bool isFinal(const Error &error)
{
    return error.code == ErrorCode::Cancelled || error.code == ErrorCode::Changed;
}

/// Statistics of a pair, a unit of about 8 MiB a batch.
struct Measuring
{
    SessionInputs inputs;
    PairFacts facts;
    Deliver<PairFacts> deliver;
    std::optional<TensorPairRef> pair;
    std::optional<MeasuredAs> as;
    Index next = 0;
    DiffStats stats;

    OpenedPair opened;

    const TensorRef &shown() const { return facts.measured.a ? *facts.a : *facts.b; }
    PairAddress whatIsListed() const;
    Status take(const PairAddress &what);
    Result<Batch> begin(JobControl &control);
    Result<DiffStats> unit(JobControl &control) const;
    bool goOnAlone(JobControl &control);
    Result<Batch> measureNext(JobControl &control);
    void hand(JobControl &control) const
    {
        control.post([to = deliver, known = facts] { to(known); });
    }
};

/// Without a side that lacks the tensor, or whose catalogue says that it cannot be read.
PairAddress Measuring::whatIsListed() const
{
    PairAddress listed{facts.address.step, {}, {}};
    if (facts.a && !facts.a->unreadable)
        listed.a = facts.address.a;
    if (facts.b && !facts.b->unreadable)
        listed.b = facts.address.b;
    return listed;
}

/// Measures that from the first element; without a type for both sides nothing is measured.
Status Measuring::take(const PairAddress &what)
{
    facts.measured = what;
    next = 0;
    stats = {};
    pair.reset();
    as.reset();
    const bool isPair = what.a && what.b;
    if ((!what.a && !what.b) || (isPair && facts.a->shape != facts.b->shape))
        return {};
    as = commonType(shown().dtype, isPair ? facts.b->dtype : shown().dtype);
    if (!as)
        return {};
    if (isPair) {
        pair = TensorPairRef{opened.a, opened.b, *what.a, *what.b};
        return {};
    }
    FP_TRY(pair, loneTensor(opened, what));
    return {};
}

Result<Batch> Measuring::begin(JobControl &control)
{
    FP_TRY(opened, openAddressed(inputs, facts.address, control.stop()));
    facts.a = refOf(opened.a, facts.address.a);
    facts.b = refOf(opened.b, facts.address.b);
    hand(control);
    if (facts.stats && facts.stats->magnitudes)
        return Batch::Done;
    FP_CHECK(take(whatIsListed()));
    return pair ? Batch::More : Batch::Done;
}

Result<DiffStats> Measuring::unit(JobControl &control) const
{
    const Index count = std::min(unitElements(as->dtype), shown().elements - next);
    const PairOfTensors tensors{SourcedTensor{pair->sourceA.get(), pair->a},
                                SourcedTensor{pair->sourceB.get(), pair->b}};
    return measure(tensors, *as, next, count, {inputs.options.tolerance, true},
                   inputs.engine->backend(), control.stop());
}

/// What could not be read of both may be of one side.
bool Measuring::goOnAlone(JobControl &control)
{
    const Index at = next;
    const auto side = readableSide(facts.measured, [&](const PairAddress &alone) {
        Measuring probe = *this;
        if (!probe.take(alone).ok() || !probe.pair)
            return false;
        probe.next = at;
        return probe.unit(control).ok();
    });
    return side && !control.stop().stop_requested() && take(*side).ok() && pair;
}

Result<Batch> Measuring::measureNext(JobControl &control)
{
    Result<DiffStats> measured = unit(control);
    if (!measured && !isFinal(measured.error()) && goOnAlone(control))
        return Batch::More;
    FP_TRY(const DiffStats more, std::move(measured));
    stats.append(more);
    const Index elements = shown().elements;
    next += std::min(unitElements(as->dtype), elements - next);
    if (next < elements) {
        control.report(
            {"measuring", shown().name, shown().bytes / elements * next, shown().bytes, 0, 0});
        return Batch::More;
    }
    FP_CHECK(holdersUnchanged(*pair));
    facts.stats = std::make_shared<const DiffStats>(std::move(stats));
    hand(control);
    return Batch::Done;
}

} // namespace

JobBatch pairFactsBatch(SessionInputs inputs, PairAddress address,
                        std::shared_ptr<const DiffStats> known, Deliver<PairFacts> deliver)
{
    auto work = std::make_shared<Measuring>();
    work->inputs = std::move(inputs);
    work->facts.address = address;
    work->facts.stats = std::move(known);
    work->deliver = std::move(deliver);
    return [work](JobControl &control) {
        return work->pair ? work->measureNext(control) : work->begin(control);
    };
}

namespace {

Result<ElementPage> readPage(const SessionInputs &inputs, const PairAddress &address,
                             const ElementQuery &query, JobControl &control)
{
    FP_TRY(const TensorPairRef pair, pairRefOf(inputs, address, control.stop()));
    FP_TRY(ElementPage page,
           readElements(pair, query, control.stop(),
                        [&](const Progress &progress) { control.report(progress); }));
    FP_CHECK(holdersUnchanged(pair));
    addPlaces(page, pair);
    return page;
}

/// Of a pair that cannot be read, what one side has: its rows by index, without bits of the other. The
/// error where neither side can be read, or each by itself.
Result<ElementPage> readWhatIsThere(const SessionInputs &inputs, const PairAddress &address,
                                    const ElementQuery &query, JobControl &control)
{
    Result<ElementPage> both = readPage(inputs, address, query, control);
    if (both || isFinal(both.error()))
        return both;
    const ElementQuery byIndex{ElementOrder::ByIndex, query.offset, query.count, query.filter};
    std::optional<ElementPage> page;
    const auto side = readableSide(address, [&](const PairAddress &alone) {
        Result<ElementPage> read = readPage(inputs, alone, byIndex, control);
        if (read)
            page = std::move(*read);
        return read.ok();
    });
    if (!side)
        return both;
    for (ElementRow &row : page->rows)
        (side->a ? row.bitsB : row.bitsA).clear();
    return std::move(*page);
}

/// A map that grows, of a pair or of the side that can be read.
struct MapWork
{
    SessionInputs inputs;
    PairAddress address;
    MapQuery query;
    Growing<MapBuilder> growing;

    Result<bool> advance(JobControl &control);
    Result<bool> begin(const PairAddress &what, const MapQuery &asked, JobControl &control);
};

Result<bool> MapWork::begin(const PairAddress &what, const MapQuery &asked, JobControl &control)
{
    FP_TRY(TensorPairRef pair, pairRefOf(inputs, what, control.stop()));
    growing.builder.emplace(std::move(pair), asked);
    return growing.builder->advance(control.stop());
}

Result<bool> MapWork::advance(JobControl &control)
{
    Result<bool> more =
        growing.builder ? growing.builder->advance(control.stop()) : begin(address, query, control);
    if (more || isFinal(more.error()))
        return more;
    const auto ownQuery = [&](const PairAddress &alone) {
        MapQuery own = query;
        own.quantity = alone.a ? MapQuantity::A : MapQuantity::B;
        return own;
    };
    const auto side = readableSide(address, [&](const PairAddress &alone) {
        return begin(alone, ownQuery(alone), control).ok();
    });
    if (!side)
        return more;
    address = *side;
    query = ownQuery(*side);
    return begin(address, query, control);
}

} // namespace

JobBatch elementsBatch(SessionInputs inputs, PairAddress address, ElementQuery query,
                       Deliver<std::shared_ptr<const ElementPage>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(ElementPage page, readWhatIsThere(inputs, address, query, control));
        control.post([deliver, page = std::make_shared<const ElementPage>(std::move(page))] {
            deliver(page);
        });
        return Batch::Done;
    };
}

JobBatch nextDifferenceBatch(SessionInputs inputs, PairAddress address, Index from, bool backward,
                             Deliver<std::optional<Index>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const TensorPairRef pair, pairRefOf(inputs, address, control.stop()));
        FP_TRY(const std::optional<Index> index,
               nextDifference(pair, from, backward, control.stop()));
        FP_CHECK(holdersUnchanged(pair));
        control.post([deliver, index] { deliver(index); });
        return Batch::Done;
    };
}

JobBatch layoutBatch(SessionInputs inputs, PairAddress address,
                     Deliver<std::shared_ptr<const PairLayout>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const OpenedPair opened, openStepOfBoth(inputs, address.step, control.stop()));
        if (!lists(opened.a, address.a) || !lists(opened.b, address.b))
            return Error{ErrorCode::Changed, {}, {}, "the files list other tensors than before"};
        control.post([deliver,
                      layout = std::make_shared<const PairLayout>(pairLayout(
                          {opened.a, opened.b, *address.a, *address.b}, control.stop()))] {
            deliver(layout);
        });
        return Batch::Done;
    };
}

JobBatch mapBatch(SessionInputs inputs, PairAddress address, MapQuery query,
                  Deliver<std::shared_ptr<const ElementMap>> deliver)
{
    auto work = std::make_shared<MapWork>();
    work->inputs = std::move(inputs);
    work->address = address;
    work->query = std::move(query);
    return [work, deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const bool more, work->advance(control));
        if (work->growing.hands(more))
            FP_CHECK(holdersUnchanged(work->growing.builder->pair()));
        return work->growing.hand(more, work->growing.builder->map(), deliver, control);
    };
}

JobBatch historyBatch(SessionInputs inputs, std::string nameA, std::string nameB,
                      Deliver<std::shared_ptr<const TensorHistory>> deliver)
{
    auto work = std::make_shared<Growing<HistoryBuilder>>();
    work->builder.emplace(inputs.a, inputs.b, std::move(nameA), std::move(nameB));
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const bool more, work->builder->advance(inputs.engine->backend(), control.stop()));
        return work->hand(more, work->builder->history(), deliver, control);
    };
}

JobBatch nonFiniteBatch(SessionInputs inputs, std::optional<Step> step,
                        std::shared_ptr<const CheckpointComparison> comparison,
                        Deliver<std::shared_ptr<const NonFiniteFindings>> deliver)
{
    auto work = std::make_shared<Growing<NonFiniteSearch>>();
    return [=, inputs = std::move(inputs), comparison = std::move(comparison),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        if (!work->builder) {
            FP_TRY(OpenedPair opened, openStepOfBoth(inputs, step, control.stop()));
            if (!opened.a || !opened.b)
                return Error{ErrorCode::Usage, {}, {}, "needs the step on both sides"};
            work->builder.emplace(std::move(opened.a), std::move(opened.b), comparison);
        }
        FP_TRY(const bool more, work->builder->advance(inputs.engine->backend(), control.stop()));
        if (!more)
            FP_CHECK(work->builder->unchanged());
        return work->hand(more, work->builder->findings(), deliver, control);
    };
}

} // namespace forkpoint
