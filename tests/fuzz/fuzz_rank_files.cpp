// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of several torch.saves, one a rank: DeepSpeed's partitions, Megatron-LM's folders, ShardedTensors and DTensors.
// The first byte chooses which; then files follow, each as its length (four bytes, little-endian) and its bytes.
// tests/fuzz/rank_files_seeds.py writes inputs to begin with.
#include "loaders/directory_loader.h"
#include "model/pairing/whole_tensors.h"
#include "tests/fuzz/fuzzed.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace forkpoint;

constexpr std::size_t MostFiles = 4;

/// In memory where the system has a folder for that.
const fs::path &folder()
{
    static const fs::path path = [] {
        std::string name =
            fs::exists("/dev/shm") ? "/dev/shm/fuzz_ranks_XXXXXX" : "fuzz_ranks_XXXXXX";
        return fs::path(::mkdtemp(name.data()) ? name : std::string());
    }();
    return path;
}

std::string nameOf(unsigned kind, std::size_t file)
{
    const std::string number = std::to_string(file);
    switch (kind % 4) {
    case 0:
        return file == 0
            ? "mp_rank_00_model_states.pt"
            : "zero_pp_rank_" + std::to_string(file - 1) + "_mp_rank_00_optim_states.pt";
    case 1:
        return "zero_pp_rank_" + std::to_string(file / 2) + "_mp_rank_00_"
            + (file % 2 == 0 ? "model_states.pt" : "optim_states.pt");
    case 2:
        return "mp_rank_0" + std::to_string(file / 2)
            + (file % 2 == 0 ? "/model_optim_rng.pt" : "/distrib_optim.pt");
    default: return "rank_" + number + ".pt";
    }
}

void load()
{
    const auto listing = listDirectory(folder(), "");
    if (!listing.ok())
        return;
    const std::string prefix;
    const DirectoryView view{folder(), prefix, *listing};
    std::string interrupted;
    const DirectoryLoader *loader = claimDirectory(view, interrupted);
    auto loaded = loader ? loader->load(view, {}, {})
                         : Result<LoadedFile>(Error{ErrorCode::NotFound, {}, {}, "nobody's"});
    if (!loaded.ok())
        return;
    const std::shared_ptr<const Checkpoint> checkpoint = loaded->builder.build(loaded->format);
    fuzz::readSome(*checkpoint);
    if (!listsModelParallelRanks(checkpoint->catalog()))
        return;
    const auto wholes = withWholeTensors(checkpoint);
    std::array<std::byte, 64> some{};
    const auto &tensors = wholes->catalog().tensors;
    for (std::size_t i = 0; i < std::min<std::size_t>(tensors.size(), 32); ++i)
        (void)wholes
            ->read(i, 0, std::span(some).first(std::min<std::uint64_t>(tensors[i].bytes, 64)))
            .ok();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0 || folder().empty())
        return 0;
    const unsigned kind = data[0];
    std::size_t at = 1;
    for (std::size_t file = 0; file < MostFiles && size - at > 4; ++file) {
        const std::size_t length = std::size_t(data[at]) | std::size_t(data[at + 1]) << 8
            | std::size_t(data[at + 2]) << 16 | std::size_t(data[at + 3]) << 24;
        at += 4;
        const std::size_t held = std::min(length, size - at);
        const fs::path path = folder() / nameOf(kind, file);
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(data + at), std::streamsize(held));
        at += held;
    }
    load();
    for (const auto &entry : fs::directory_iterator(folder()))
        fs::remove_all(entry.path());
    return 0;
}
