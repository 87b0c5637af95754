// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npy_loader.h"
#include "loaders/arrays/npz_loader.h"
#include "loaders/arrays/safetensors_loader.h"
#include "loaders/hdf5/hdf5_loader.h"
#include "loaders/hdf5/keras_loader.h"
#include "loaders/limits.h"
#include "loaders/loader.h"
#include "loaders/sharded/nemo_loader.h"
#include "loaders/torch/torch_loaders.h"

#include <algorithm>

namespace forkpoint {

const std::vector<const Loader *> &allLoaders()
{
    static const std::vector<const Loader *> loaders = {
        &torchZipLoader(), &torchLegacyLoader(), &torchTarLoader(), &kerasLoader(),
        &npzLoader(),      &hdf5Loader(),        &npyLoader(),      &nemoLoader(),
        &pickleLoader(),   &safetensorsLoader(),
    };
    return loaders;
}

Result<LoadedFile> loadFile(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                            std::stop_token stop)
{
    const std::uint64_t size = std::min<std::uint64_t>(source->size(), limits::ProbeBytes);
    FP_TRY(const auto head, readAll(*source, 0, size, limits::ProbeBytes));
    const Loader *best = nullptr;
    Confidence confidence = Confidence::No;
    for (const Loader *loader : allLoaders()) {
        const Confidence own = loader->probe(head, *source);
        if (own > confidence) {
            best = loader;
            confidence = own;
        }
    }
    if (best == nullptr) {
        std::string expected, last;
        for (const Loader *loader : allLoaders()) {
            if (last == loader->name())
                continue; // several containers of one format follow each other
            last = loader->name();
            expected += (expected.empty() ? "" : ", ") + last;
        }
        return Error{ErrorCode::Unsupported,
                     source->name(),
                     {},
                     size == 0 ? "is empty" : "must be one of " + expected + "; looks like none"};
    }
    LoadedFile loaded;
    loaded.format = best->name();
    FP_CHECK(best->load(std::move(source), options, std::move(stop), loaded.builder));
    return loaded;
}

} // namespace forkpoint
