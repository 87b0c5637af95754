// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npy_loader.h"

#include "loaders/arrays/npy_array.h"

#include <filesystem>

namespace forkpoint {

namespace {

class NpyLoader final : public Loader
{
public:
    std::string_view name() const override { return "npy"; }
    std::string_view description() const override { return "numpy array (.npy)"; }

    Confidence probe(ByteView head, const ByteSource &) const override
    {
        return hasNpyMagic(head) ? Confidence::Yes : Confidence::No;
    }

    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                std::stop_token, CheckpointBuilder &builder) const override
    {
        const std::string stem = std::filesystem::path(source->name()).stem().string();
        FP_TRY(TensorRef tensor, npyTensor(source, stem, options, builder));
        tensor.name = stem;
        tensor.files = {source->name()};
        builder.addTensor(std::move(tensor));
        return {};
    }
};

} // namespace

const Loader &npyLoader()
{
    static const NpyLoader loader;
    return loader;
}

} // namespace forkpoint
