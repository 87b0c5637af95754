// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_rules.h"

#include "model/format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace forkpoint {

namespace {

/// "aten.slice.Tensor", "aten::slice", "aten:aten.slice.Tensor" and "slice" as "slice".
std::string_view bareName(std::string_view operation)
{
    for (const std::string_view prefix : {"aten::", "aten:", "aten.", "torch."}) {
        if (operation.starts_with(prefix))
            operation.remove_prefix(prefix.size());
    }
    return operation.substr(0, operation.find_first_of(".:"));
}

/// Whether a word stands in a path or name by itself: "fla" is in "layers.0.fla", not in "flash_attn".
bool hasWord(std::string_view text, std::string_view word)
{
    const auto isLetter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !isLetter(text[at - 1])) && (end == text.size() || !isLetter(text[end])))
            return true;
    }
    return false;
}

/// Elements of a count that is copied to the host, such as tokens for each expert.
constexpr std::uint64_t MostCounts = 1024;

bool areStillInputs(const TraceRecord &record)
{
    return !record.inputs.empty() && record.inputs.size() == record.outputs.size()
        && std::equal(record.inputs.begin(), record.inputs.end(), record.outputs.begin(),
                      [](const Observation &in, const Observation &out) {
                          return in.absence == Absence::Recorded && in.kind == out.kind
                              && in.digest == out.digest && in.shape == out.shape;
                      });
}

bool isCountOfZero(const TraceRecord &record)
{
    const auto isZero = [](const Observation &out) {
        return out.dtype == "int64" && out.count && *out.count <= MostCounts
            && out.kind == DigestKind::XorLanes && out.absence == Absence::Recorded
            && out.digest.find_first_not_of('0') == std::string::npos;
    };
    return record.role == RecordRole::Op && bareName(record.name) == "_to_copy"
        && record.outputs.size() == 1 && isZero(record.outputs[0]);
}

bool isTakenTooEarly(const TraceRecord &a, const TraceRecord &b, const EvidenceSum &inputs)
{
    if (a.role == RecordRole::Collective)
        return areStillInputs(a) != areStillInputs(b);
    return inputs.evidence == Evidence::Equal && isCountOfZero(a) != isCountOfZero(b);
}

std::string usualProducer(const TraceRecord &record)
{
    const std::string producer = unseenProducer(record);
    return producer.empty() ? producer : "; in this place it is usually " + producer;
}

/// Tensors that differ may share norms, statistics and samples: such inputs are not known to be equal.
bool isWeak(const EvidenceSum &inputs)
{
    return inputs.weakestEqual < Strength::Xor;
}

/// What inputs say that agree, in digests that other inputs may share; nothing where they are enough.
std::optional<Classification> judgeDigests(const TraceRecord &record, const EvidenceSum &inputs)
{
    if (inputs.fewestBits && *inputs.fewestBits < EnoughBits) {
        return Classification{DivergenceClass::Unclassified,
                              "its inputs agree in a digest of only "
                                  + std::to_string(*inputs.fewestBits) + " effective bits",
                              "record bytes or a second digest of the inputs of " + record.name};
    }
    if (isWeak(inputs)) {
        return Classification{DivergenceClass::Unclassified,
                              "its inputs agree by " + std::string(toString(inputs.weakestEqual))
                                  + " alone, which tensors that differ may share",
                              "record bytes or a digest of the inputs of " + record.name};
    }
    return std::nullopt;
}

/// The inputs of a module are never all that enters it.
Classification judgeModule(const TraceRecord &record, const EvidenceSum &inputs)
{
    if (inputs.nothing > 0 || inputs.notComparable > 0)
        return {DivergenceClass::Unclassified, "not every input of it can be compared",
                "record every input of " + record.name};
    if (auto found = judgeDigests(record, inputs))
        return std::move(*found);
    return {DivergenceClass::Unclassified,
            "no difference was seen in its inputs, but its weights, its buffers and the "
            "generator that it may draw from are not among them",
            "record the weights, the buffers and the states of the generators right before "
                + record.name};
}

} // namespace

std::string_view toString(DivergenceClass divergenceClass)
{
    switch (divergenceClass) {
    case DivergenceClass::Origin: return "origin";
    case DivergenceClass::Receiver: return "receiver";
    case DivergenceClass::Unclassified: return "unclassified";
    }
    return "unclassified";
}

bool cannotVary(std::string_view operation)
{
    static constexpr std::array<std::string_view, 49> Names = {"slice",
                                                               "view",
                                                               "_unsafe_view",
                                                               "reshape",
                                                               "cat",
                                                               "stack",
                                                               "select",
                                                               "transpose",
                                                               "t",
                                                               "permute",
                                                               "expand",
                                                               "split",
                                                               "chunk",
                                                               "narrow",
                                                               "unsqueeze",
                                                               "squeeze",
                                                               "alias",
                                                               "detach",
                                                               "clone",
                                                               "copy_",
                                                               "_to_copy",
                                                               "lift_fresh",
                                                               "contiguous",
                                                               "unbind",
                                                               "as_strided",
                                                               "index_select",
                                                               "gather",
                                                               "add",
                                                               "add_",
                                                               "sub",
                                                               "mul",
                                                               "mul_",
                                                               "div",
                                                               "div_",
                                                               "neg",
                                                               "relu",
                                                               "abs",
                                                               "where",
                                                               "masked_fill",
                                                               "fill_",
                                                               "zero_",
                                                               "zeros",
                                                               "zeros_like",
                                                               "ones",
                                                               "ones_like",
                                                               "threshold_backward",
                                                               "slice_backward",
                                                               "select_backward",
                                                               "full"};
    return std::find(Names.begin(), Names.end(), bareName(operation)) != Names.end();
}

std::string differingValues(const TraceRecord &a, const TraceRecord &b)
{
    constexpr std::size_t MostBytes = 60; // of a value, which may be a long list
    const auto shown = [&](const std::string &value) {
        std::size_t end = std::min(value.size(), MostBytes);
        while (end < value.size() && (std::uint8_t(value[end]) & 0xc0) == 0x80)
            --end; // not inside a character
        return end == value.size() ? value : value.substr(0, end) + "...";
    };
    std::string text;
    std::uint64_t more = 0;
    const auto look = [&](const std::vector<Observation> &left,
                          const std::vector<Observation> &right) {
        for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
            const Observation &x = left[i], &y = right[i];
            const bool tells = x.kind == DigestKind::Value && y.kind == DigestKind::Value
                && x.path == y.path && x.digest != y.digest;
            if (tells && text.empty())
                text = (x.path.empty() ? std::string("it") : x.path) + " is " + shown(x.digest)
                    + " in A and " + shown(y.digest) + " in B";
            else if (tells)
                ++more;
        }
    };
    look(a.inputs, b.inputs);
    look(a.outputs, b.outputs);
    look(fieldsOf(a), fieldsOf(b));
    if (more > 0)
        text += ", and " + counted(more, "more value differs", "more values differ");
    return text;
}

bool isArtifact(const TraceRecord &call)
{
    return call.role == RecordRole::Op
        && (bareName(call.name).starts_with("empty") || call.name.starts_with("c10d"));
}

RecordEvidence evidenceOf(const TraceRecord &a, const TraceRecord &b)
{
    RecordEvidence evidence = compareRecords(a, b);
    if (isTakenTooEarly(a, b, evidence.inputs)) {
        evidence.outputs = noEvidence(a.outputs.size(), Absence::Unfinished);
        evidence.outputsTooEarly = true;
    }
    return evidence;
}

bool mayBeTooEarly(const TraceRecord &record)
{
    return record.role == RecordRole::Collective || bareName(record.name) == "_to_copy";
}

std::string unseenProducer(const TraceRecord &record)
{
    struct Fused
    {
        std::vector<std::string_view> scopes;     ///< words in the scope or the name
        std::vector<std::string_view> operations; ///< bare names; none: any
        std::string_view producer;
    };
    // The first that fits counts: from the narrow place to the wide one.
    static const std::vector<Fused> Table = {
        {{"rope", "rotary"},
         {"slice", "slice_backward", "select", "split", "cat"},
         "the backward of fused attention: record its gradients of query, key and value"},
        {{"dispatch", "token_dispatcher", "deepep", "hybridep", "all_to_all"},
         {},
         "the dispatch of DeepEP or HybridEP: record the tokens that it hands out, with a digest "
         "of each row"},
        {{"main_grad", "grad_reduce", "reduce_scatter", "param_and_grad_buffer"},
         {},
         "the weight gradient that is accumulated into main_grad inside the matrix product: record "
         "the gradients at the entry of the optimizer and the products with accumulation"},
        {{"mamba", "mixer", "ssm", "conv1d", "fla", "gated_delta"},
         {},
         "a Triton kernel: record its launches"},
        {{"core_attention", "self_attention", "cross_attention", "attn"},
         {},
         "fused attention: record its inputs and its output"},
        {{"linear", "proj", "qkv", "fc1", "fc2", "mlp", "experts"},
         {},
         "general_gemm of TransformerEngine: record its operands and its result"}};
    const auto isIn = [&](std::string_view word) {
        return hasWord(record.scope, word) || hasWord(record.name, word)
            || hasWord(record.caller, word);
    };
    const std::string_view operation = bareName(record.name);
    for (const Fused &fused : Table) {
        const auto &names = fused.operations;
        if (std::any_of(fused.scopes.begin(), fused.scopes.end(), isIn)
            && (names.empty() || std::find(names.begin(), names.end(), operation) != names.end()))
            return std::string(fused.producer);
    }
    return {};
}

Classification classify(const TraceRecord &record, const EvidenceSum &inputs,
                        const EvidenceSum &outputs)
{
    using enum DivergenceClass;
    if (inputs.evidence == Evidence::Different)
        return {Receiver, "its own inputs differ already", {}};
    if (record.role == RecordRole::Tensor && inputs.compared > 0)
        return judgeModule(record, inputs);
    if (record.role == RecordRole::Tensor && !record.inputs.empty())
        return {Unclassified, "none of its inputs has a value that both sides recorded",
                "record the inputs of " + record.name};
    if (record.role == RecordRole::Tensor || record.role == RecordRole::Values)
        return {Unclassified, "a value at a boundary has no inputs to judge by", {}};
    const bool hasElements = std::any_of(record.inputs.begin(), record.inputs.end(),
                                         [](const Observation &input) { return !input.isEmpty(); });
    if (inputs.compared > 0 && !record.inputs.empty() && !hasElements)
        return {Unclassified, "its inputs have no elements", {}};
    if (inputs.compared == 0)
        return {Unclassified, "no input of it was recorded", "record the inputs of " + record.name};
    if (inputs.nothing > 0 || inputs.notComparable > 0)
        return {Unclassified, "not every input of it can be compared", {}};
    if (outputs.layoutDiffers && cannotVary(record.name))
        return {Unclassified,
                "it was called with other arguments, such as a size, which are not recorded",
                "record the arguments of " + record.name};
    if (outputs.layoutDiffers && !isWeak(inputs))
        return {Origin, "equal inputs gave outputs of another shape or type", {}};
    if (cannotVary(record.name)) {
        return {Unclassified,
                "it cannot make a difference of equal inputs: what produced them is not recorded, "
                "or their digests do not show how they differ",
                "probe the producer of the inputs of " + record.name
                    + ", with bytes or a second digest" + usualProducer(record)};
    }
    if (auto found = judgeDigests(record, inputs))
        return std::move(*found);
    if (inputs.weakestEqual == Strength::Xor)
        return {Origin,
                "inputs equal as far as XOR tells, which is blind to order, gave other outputs",
                {}};
    return {Origin, "equal inputs gave other outputs", {}};
}

void judgeReceived(Classification &found, const TraceRecord &a, const TraceRecord &b,
                   const std::function<bool(const Observation &)> &isKnown)
{
    bool areKnown = true;
    for (const TraceRecord *side : {&a, &b}) {
        for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
            const bool differs = a.inputs[i].digest != b.inputs[i].digest;
            areKnown = areKnown && (!differs || isKnown(side->inputs[i]));
        }
    }
    if (areKnown) {
        found.why =
            "it received another value of the same step: what either side took was produced "
            "alike on both, so the order in which values are taken up changed, and no "
            "operation is guilty";
        return;
    }
    found.why += "; no record before it produced them: their producer is not instrumented";
    found.probe = "probe the producer of the inputs of " + a.name + usualProducer(a);
}

std::vector<std::string_view> groupAxes(const TraceCoordinate &coordinate, std::string_view group)
{
    const auto isAxis = [&](std::string_view word) {
        return std::any_of(coordinate.axes.begin(), coordinate.axes.end(),
                           [&](const auto &entry) { return entry.first == word; });
    };
    if (isAxis(group))
        return {group};
    std::vector<std::string_view> axes; // "dp_cp" joins what stands alike on all other axes
    while (!group.empty()) {
        const std::size_t end = std::min(group.find_first_of("_-"), group.size());
        axes.push_back(group.substr(0, end));
        if (!isAxis(axes.back()))
            return {};
        group.remove_prefix(std::min(end + 1, group.size()));
    }
    return axes;
}

bool areGroupPeers(const TraceCoordinate &a, const TraceCoordinate &b, std::string_view group)
{
    const std::vector<std::string_view> along = groupAxes(a, group);
    if (a.axes.size() != b.axes.size() || along.empty())
        return true;
    for (std::size_t i = 0; i < a.axes.size(); ++i) {
        const bool isAlong = std::find(along.begin(), along.end(), a.axes[i].first) != along.end();
        if (!isAlong && a.axes[i] != b.axes[i])
            return false;
    }
    return true;
}

} // namespace forkpoint
