// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/digest_check.h"

#include "loaders/running_digest.h"
#include "loaders/tensor_digest.h"
#include "model/format.h"

#include <algorithm>
#include <span>

namespace forkpoint {

namespace {

constexpr std::uint64_t Piece = 1u << 20;
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

/// "optimizer0/group0/layers.0.weight/main_param" and "model.layers.0.weight" meet by the words that
/// the shorter ends with.
bool isNamedLike(std::string_view recorded, std::string_view tensor)
{
    if (recorded == tensor)
        return true;
    const auto endsWith = [](std::string_view whole, std::string_view end) {
        return whole.size() > end.size() && whole.ends_with(end)
            && whole[whole.size() - end.size() - 1] == '.';
    };
    return endsWith(recorded, tensor) || endsWith(tensor, recorded);
}

/// The one tensor of the checkpoint with that name, type and shape.
std::optional<TensorIndex> tensorOf(const Catalog &catalog, const TraceRecord &record)
{
    const Observation &seen = record.outputs.front();
    std::optional<TensorIndex> found;
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        const bool isSame = tensor.dtype.name == seen.dtype
            && (!seen.shape || tensor.shape.dims == *seen.shape)
            && isNamedLike(record.name, tensor.name);
        if (isSame && found)
            return std::nullopt; // which of them is meant nobody says
        if (isSame)
            found = TensorIndex(i);
    }
    return found;
}

/// What RankLocalTrace (pull request 6610) hashes before the bytes: sorted keys, no spaces, then NUL.
std::string headerOf(const TensorRef &tensor)
{
    std::string shape;
    for (const Index dimension : tensor.shape.dims)
        shape += (shape.empty() ? "" : ",") + std::to_string(dimension);
    return "{\"dtype\":\"" + tensor.dtype.name + "\",\"mode\":\"full\",\"schema_version\":1,"
        + "\"shape\":[" + shape + "]}" + std::string(1, '\0');
}

Result<std::string> digestOf(const TensorSource &source, TensorIndex index, DigestKind kind,
                             const std::stop_token &stop)
{
    const TensorRef &tensor = source.catalog().tensors[std::size_t(index)];
    if (tensor.unreadable)
        return *tensor.unreadable;
    FP_TRY(const auto digest, makeTensorDigest(digestNameOf(kind), tensor.dtype));
    if (kind == DigestKind::Sha256Header)
        digest->update(asBytes(headerOf(tensor)));
    std::vector<std::byte> buffer(std::size_t(std::min(Piece, tensor.bytes)));
    for (std::uint64_t first = 0; first < tensor.bytes; first += Piece) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        const auto window =
            std::span(buffer).first(std::size_t(std::min(Piece, tensor.bytes - first)));
        FP_CHECK(source.read(index, first, window));
        digest->update(window);
    }
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
    Checker(const TensorSource &source, std::uint64_t mostBytes, std::stop_token stop)
        : m_source(source),
          m_bytesLeft(mostBytes),
          m_stop(std::move(stop))
    {
    }

    void check(const TraceRecord &record)
    {
        const Observation &seen = record.outputs.front();
        const auto index = tensorOf(m_source.catalog(), record);
        if (!index) {
            ++m_result.notAtHand;
            return;
        }
        const std::uint64_t bytes = m_source.catalog().tensors[std::size_t(*index)].bytes;
        if (digestNameOf(seen.kind).empty())
            return leave(std::string(toString(seen.kind)) + " is not computed here");
        if (bytes > m_bytesLeft)
            return leave("more than " + byteSize(MostBytes) + " of tensors are not read again");
        m_bytesLeft -= bytes;
        const auto digest = digestOf(m_source, *index, seen.kind, m_stop);
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

    const TensorSource &m_source;
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
    const auto source = trace ? tensorsOf(run, step, stop) : nullptr;
    if (!source)
        return std::nullopt;
    Checker checker(*source, mostBytes, stop);
    for (std::size_t stream = 0; stream < trace->streams().size(); ++stream) {
        // What cannot be read of a trace was told when it was compared.
        if (!checkStream(*trace, stream, step, checker, stop).ok())
            break;
    }
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
