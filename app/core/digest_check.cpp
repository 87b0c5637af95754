// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/digest_check.h"

#include "app/core/tensor_digests.h"
#include "gpu/cpu_backend.h"
#include "loaders/elements/running_digest.h"
#include "loaders/elements/tensor_digest.h"
#include "model/fingerprint.h"
#include "model/format.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forkpoint {

namespace {

/// Tensors of each side that are read once more; reading all of a large run is for `fingerprint`.
constexpr std::uint64_t MostBytes = std::uint64_t(4) << 30;
/// Mismatches that are named one by one.
constexpr std::size_t MostNamed = 8;

/// The digest of `fingerprint --with` that a kind is; empty where none computes it.
std::string_view digestNameOf(DigestKind kind)
{
    switch (kind) {
    case DigestKind::XorLanes: return "hash_tensor";
    case DigestKind::XorBytes: return "xor64";
    case DigestKind::Crc32: return "crc32";
    case DigestKind::Megatron128: return "megatron128";
    case DigestKind::Sha256:
    case DigestKind::Sha256Header: return "sha256";
    default: return {};
    }
}

/// State as it is when the step has ended, which is what a checkpoint of that step holds.
bool isState(const TraceRecord &record)
{
    const bool isStage = record.stage == "weight" || record.stage == "optimizer";
    return isStage && record.inputs.empty() && record.outputs.size() == 1;
}

bool hasDigest(const Observation &observation)
{
    return observation.absence == Absence::Recorded && observation.kind != DigestKind::None
        && observation.kind != DigestKind::Value && observation.kind != DigestKind::Printed
        && observation.kind != DigestKind::Norm;
}

/// The tensors of a checkpoint by their names. A record and a tensor meet by the words that the
/// shorter name ends with: "model.layers.0.weight" and "layers.0.weight".
class TensorsByName
{
public:
    explicit TensorsByName(const Catalog &catalog) : m_catalog(catalog)
    {
        for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
            forEachEnd(catalog.tensors[i].name,
                       [&](std::string_view end) { m_byEnd[end].push_back(i); });
        }
    }

    /// The one tensor of that name, type and shape.
    std::optional<TensorIndex> find(const TraceRecord &record) const
    {
        std::vector<TensorIndex> found;
        const auto take = [&](TensorIndex index) {
            const TensorRef &tensor = m_catalog.tensors[index];
            const Observation &seen = record.outputs.front();
            // A trace may have kept the gradient of what the record has the weight of.
            const bool isOther = tensor.recorded && tensor.recorded->stage != record.stage;
            if (!isOther && tensor.dtype.name == seen.dtype
                && (!seen.shape || tensor.shape.dims == *seen.shape))
                found.push_back(index);
        };
        forEachEnd(record.name, [&](std::string_view end) {
            const auto same = m_byEnd.find(end);
            for (const TensorIndex index :
                 same == m_byEnd.end() ? std::span<const TensorIndex>() : same->second) {
                // Of an end of the record's name: only tensors that are called so and no more.
                if (end.size() == record.name.size() || end == m_catalog.tensors[index].name)
                    take(index);
            }
        });
        // Which of several is meant nobody says.
        return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
    }

private:
    /// "a.b.c", "b.c", "c".
    template <class Take>
    static void forEachEnd(std::string_view name, const Take &take)
    {
        take(name);
        for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
            name.remove_prefix(dot + 1);
            take(name);
        }
    }

    const Catalog &m_catalog;
    std::unordered_map<std::string_view, std::vector<TensorIndex>> m_byEnd;
};

/// What RankLocalTrace (pull request 6610) hashes before the bytes: sorted keys, no spaces, then NUL.
std::string headerOf(const TensorRef &tensor)
{
    std::string shape;
    for (const Index dimension : tensor.shape.dims)
        shape += (shape.empty() ? "" : ",") + std::to_string(dimension);
    return "{\"dtype\":\"" + tensor.dtype.name + "\",\"mode\":\"full\",\"schema_version\":1,"
        + "\"shape\":[" + shape + "]}" + std::string(1, '\0');
}

/// What our own traces record.
Result<std::string> contentDigestOf(const TensorSource &source, TensorIndex index,
                                    const std::stop_token &stop)
{
    const CpuBackend backend;
    TensorHasher hasher(backend);
    FP_CHECK(readPieces(source, index, stop, [&](ByteView piece) { hasher.add(piece); }));
    return hasher.finish().toHex();
}

bool canCompute(DigestKind kind)
{
    return kind == DigestKind::Fingerprint || !digestNameOf(kind).empty();
}

Result<std::string> digestOf(const TensorSource &source, TensorIndex index, DigestKind kind,
                             const std::stop_token &stop)
{
    const TensorRef &tensor = source.catalog().tensors[std::size_t(index)];
    if (tensor.unreadable)
        return *tensor.unreadable;
    if (kind == DigestKind::Fingerprint)
        return contentDigestOf(source, index, stop);
    FP_TRY(const auto digest, makeTensorDigest(digestNameOf(kind), tensor.dtype));
    if (kind == DigestKind::Sha256Header)
        digest->update(asBytes(headerOf(tensor)));
    FP_CHECK(readPieces(source, index, stop, [&](ByteView piece) { digest->update(piece); }));
    return digest->finish();
}

/// The checkpoint of that step, else the tensors that the trace kept of it.
std::shared_ptr<const TensorSource> tensorsOf(const Run &run, Step step,
                                              const std::stop_token &stop)
{
    for (std::size_t i = 0; i < run.steps().size(); ++i) {
        const RunStep &at = run.steps()[i];
        if (at.metricsOnly || (at.step ? at.step : at.namedStep) != step)
            continue;
        auto source = run.open(i, stop);
        return source ? std::move(source).value() : nullptr;
    }
    return nullptr;
}

class Checker
{
public:
    /// `open`: the tensors, once the first record is there that speaks of one; nullptr: none.
    Checker(std::function<std::shared_ptr<const TensorSource>()> open, std::uint64_t mostBytes,
            std::stop_token stop)
        : m_open(std::move(open)),
          m_mostBytes(mostBytes),
          m_bytesLeft(mostBytes),
          m_stop(std::move(stop))
    {
    }

    void check(const TraceRecord &record)
    {
        if (m_open) {
            m_source = std::exchange(m_open, nullptr)();
            if (m_source)
                m_tensors.emplace(m_source->catalog());
        }
        if (!m_source)
            return;
        const Observation &seen = record.outputs.front();
        const auto index = m_tensors->find(record);
        if (!index) {
            ++m_result.notAtHand;
            return;
        }
        const std::uint64_t bytes = m_source->catalog().tensors[std::size_t(*index)].bytes;
        if (!canCompute(seen.kind))
            return leave(std::string(toString(seen.kind)) + " is not computed here");
        if (bytes > m_bytesLeft)
            return leave("more than " + byteSize(m_mostBytes) + " of tensors are not read again");
        m_bytesLeft -= bytes;
        const auto digest = digestOf(*m_source, *index, seen.kind, m_stop);
        if (!digest)
            return leave(digest.error().message());
        if (isSameDigest(*digest, seen.digest)) {
            ++m_result.match;
            return;
        }
        ++m_result.mismatch;
        if (m_result.mismatched.size() < MostNamed)
            m_result.mismatched.push_back(record.name);
    }

    const DigestCheck &result() const { return m_result; }

private:
    void leave(std::string why)
    {
        ++m_result.notRecomputable;
        if (m_result.why.empty())
            m_result.why = std::move(why);
    }

    /// Tools differ in the prefix of a hexadecimal number.
    static bool isSameDigest(const std::string &own, const std::string &recorded)
    {
        return own == recorded || own == "0x" + recorded || "0x" + own == recorded;
    }

    std::function<std::shared_ptr<const TensorSource>()> m_open; ///< nullptr once it was called
    std::shared_ptr<const TensorSource> m_source;
    std::optional<TensorsByName> m_tensors; ///< of m_source
    std::uint64_t m_mostBytes;
    std::uint64_t m_bytesLeft;
    std::stop_token m_stop;
    DigestCheck m_result;
};

Status checkStream(const Trace &trace, std::size_t stream, Step step, Checker &checker,
                   const std::stop_token &stop)
{
    const auto &segments = trace.streams()[stream].segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (segments[i].iteration != step)
            continue;
        FP_TRY(const auto cursor, trace.open(stream, i));
        for (;;) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
            FP_TRY(const auto record, cursor->next());
            if (!record)
                break;
            if (isState(*record) && hasDigest(record->outputs.front()))
                checker.check(*record);
        }
    }
    return {};
}

Finding findingOf(const DigestCheck &check, const std::string &side, Step step)
{
    const bool isBad = check.mismatch > 0;
    Finding finding{isBad ? "recorded-digest-mismatch" : "recorded-digests",
                    Certainty::Is,
                    isBad ? Severity::Warning : Severity::Note,
                    {},
                    check.mismatched};
    finding.text = side + "'s recorded digests of step " + std::to_string(step)
        + ", computed again from its tensors: " + grouped(check.match) + " match, "
        + grouped(check.mismatch) + " do not, " + grouped(check.notRecomputable)
        + " cannot be recomputed" + (check.why.empty() ? std::string() : " (" + check.why + ")")
        + ", of " + grouped(check.notAtHand) + " no tensor is at hand";
    if (isBad)
        finding.text += ": record and tensor are not of one moment, or one of them was changed";
    return finding;
}

} // namespace

std::optional<DigestCheck> checkDigests(const Run &run, Step step, std::uint64_t mostBytes,
                                        std::stop_token stop)
{
    const auto trace = run.trace();
    if (!trace)
        return std::nullopt;
    Checker checker([&] { return tensorsOf(run, step, stop); }, mostBytes, stop);
    for (std::size_t stream = 0; stream < trace->streams().size(); ++stream) {
        // What cannot be read of a trace was told when it was compared.
        if (!checkStream(*trace, stream, step, checker, stop).ok())
            break;
    }
    if (stop.stop_requested()) // what was checked up to there would look like all
        return std::nullopt;
    const DigestCheck &result = checker.result();
    if (result.match + result.mismatch + result.notRecomputable == 0)
        return std::nullopt;
    return result;
}

void addDigestFindings(RunComparison &comparison, const Run &a, const Run &b, std::stop_token stop)
{
    if (!comparison.shownStep)
        return;
    for (const auto &[side, run] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        const auto check = checkDigests(*run, *comparison.shownStep, MostBytes, stop);
        // Digests of kinds that are not computed here are no news.
        if (check && check->match + check->mismatch > 0)
            comparison.findings.push_back(findingOf(*check, side, *comparison.shownStep));
    }
}

} // namespace forkpoint
