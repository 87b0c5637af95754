// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/limits.h"
#include "loaders/torch/pickle_vm.h"
#include "loaders/torch/torch_container.h"
#include "loaders/torch/torch_loaders.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// What pickle.dump wrote behind the first object: "pickle 2" and so on. Unpicklers do not look
/// there, so that code can hide in it, and state.
Status listFurther(const std::shared_ptr<const std::vector<std::byte>> &input, std::uint64_t at,
                   const TreeContext &context)
{
    for (int number = 2; at < input->size() && !context.budget->full; ++number) {
        const std::string place = "pickle at byte " + std::to_string(at);
        const auto graph = readPickle(input, at, context.stop);
        if (!graph.ok() && graph.error().code == ErrorCode::Cancelled)
            return graph.error();
        if (!graph.ok()) {
            context.builder.addDiagnostic(
                {Severity::Error, "trailing-bytes", context.file, "byte " + std::to_string(at),
                 std::to_string(input->size() - at)
                     + " bytes behind the end of the pickle are not listed"});
            context.builder.setIncomplete();
            return {};
        }
        reportDangerousGlobals(*graph.value(), context, place);
        TreeContext further = context;
        further.prefix = context.prefix.child(Key::printed("pickle " + std::to_string(number)));
        FP_CHECK(listPickle(*graph.value(), nullptr, further));
        at += graph.value()->end;
    }
    return {};
}

class PickleLoader final : public Loader
{
public:
    std::string_view name() const override { return "pickle"; }
    std::string_view description() const override
    {
        return "Python pickle, protocols 0 to 5, never executed";
    }
    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (isLegacyStream(head))
            return Confidence::No;
        if (isBinaryPickle(head))
            return Confidence::Yes;
        if (head.empty())
            return Confidence::No;
        // Protocols 0 and 1 have no magic: text that the machine accepts as far as it is here.
        auto input = std::make_shared<const std::vector<std::byte>>(head.begin(), head.end());
        const auto graph = readPickle(std::move(input), 0, {});
        if (graph.ok())
            return Confidence::Maybe;
        const bool mayGoOn =
            graph.error().code == ErrorCode::Truncated && head.size() < source.size();
        return mayGoOn ? Confidence::Maybe : Confidence::No;
    }
    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &, std::stop_token stop,
                CheckpointBuilder &builder) const override
    {
        TreeContext context{builder, source->name(), {}, 0, stop};
        auto status = listBarePickle(source, context);
        return status.ok() ? Status() : Status(std::move(status).error().inFile(source->name()));
    }
};

} // namespace

bool isBinaryPickle(ByteView head)
{
    // Third byte: an opcode, which tells a pickle from the length in front of a safetensors header.
    static constexpr std::string_view opcodes = "(.012FGIJKLMNPQRSTUVX]abcdeghijlopqrstu})"
                                                "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b"
                                                "\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97"
                                                "\x98"
                                                "BC";
    return head.size() >= 3 && head[0] == std::byte(0x80) && head[1] <= std::byte(5)
        && opcodes.find(char(head[2])) != std::string_view::npos;
}

Status listBarePickle(const std::shared_ptr<const ByteSource> &source, const TreeContext &context)
{
    FP_TRY(auto bytes, readAll(*source, 0, source->size(), limits::PickleBytes));
    auto input = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    FP_TRY(const auto graph, readPickle(input, 0, context.stop));
    reportDangerousGlobals(*graph, context, {});
    FP_CHECK(listPickle(*graph, nullptr, context));
    return listFurther(input, graph->end, context);
}

Status listNestedSave(std::string bytes, const TreeContext &context)
{
    if (context.nesting > limits::NestedPickles)
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "more than " + std::to_string(limits::NestedPickles)
                         + " saves inside each other"};
    const auto data = asBytes(bytes);
    const auto source = std::make_shared<MemorySource>(
        context.file, std::vector<std::byte>(data.begin(), data.end()));
    if (isZip(data))
        return listTorchZip(source, context);
    if (isLegacyStream(data))
        return listTorchLegacy(source, context);
    return listBarePickle(source, context);
}

const Loader &pickleLoader()
{
    static const PickleLoader loader;
    return loader;
}

} // namespace forkpoint
