// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/formats.h"

#include "loaders/directory_loader.h"
#include "loaders/loader.h"
#include "loaders/storage/zstd_source.h"
#include "loaders/text/line_pattern.h"
#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

std::vector<FormatInfo> listFormats()
{
    std::vector<FormatInfo> formats;
    for (const Loader *loader : allLoaders()) {
        std::string reason = loader->whyNot();
        formats.push_back({std::string(loader->name()), std::string(loader->description()),
                           reason.empty(), reason});
    }
    for (const DirectoryLoader *loader : allDirectoryLoaders())
        formats.push_back(
            {std::string(loader->name()), std::string(loader->description()), true, {}});
    for (const TraceDialect *dialect : allTraceDialects())
        formats.push_back(
            {std::string(dialect->name()), std::string(dialect->description()), true, {}});
    const std::string noPatterns(whyNoPatterns());
    formats.push_back({"mapping", "lines of any text, read by the rules of a mapping sheet", true,
                       noPatterns.empty() ? noPatterns : "by JSON keys alone: " + noPatterns});
    const std::string noZstd(whyNoZstd());
    formats.push_back({"zstd",
                       "compressed items of distributed checkpoints, compressed fingerprint files",
                       noZstd.empty(), noZstd});
    formats.push_back({"fpx", "fingerprint files (fingerprint --out)", true, {}});
    formats.push_back({"hf-index", "sharded checkpoints with an index (*.index.json)", true, {}});
    formats.push_back({"series", "a directory of checkpoints by step", true, {}});
    formats.push_back({"metrics", "JSON lines and CSV of logged numbers by step", true, {}});
    formats.push_back({"tensorboard", "TensorBoard event files: scalars", true, {}});
    formats.push_back({"wandb", "wandb runs kept offline (.wandb)", true, {}});
    formats.push_back({"mlflow", "a run of MLflow's file store", true, {}});
    formats.push_back(
        {"trainer-state", "trainer_state.json of the Hugging Face Trainer", true, {}});
    formats.push_back(
        {"console-log", "logs of Megatron-LM, torchtitan and the Hugging Face Trainer", true, {}});
    // Known by name, so that a user who asks is told rather than left to guess.
    const std::pair<const char *, const char *> absent[] = {
        {"orbax", "Orbax, zarr and OCDBT"},
        {"gguf", "GGUF"},
    };
    for (const auto &[name, description] : absent)
        formats.push_back({name, description, false, "not in this version"});
    return formats;
}

} // namespace forkpoint
