// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/hdf5/hdf5_worker_options.h"
#include "loaders/storage/byte_source.h"
#include "model/result.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// "These opaque elements are bfloat16": what the user says of tensors whose file does not.
struct DTypeOverride
{
    std::string glob;
    DType dtype;
};

class MappingSheet;

/// What the caller of a loader wants and allows.
struct OpenOptions
{
    bool raw = false; ///< list each file as it is, no assembly
    std::vector<DTypeOverride> dtypes;
    Hdf5WorkerOptions hdf5Worker = {};
    /// How lines are read that no dialect knows; then no dialect of traces is asked.
    std::shared_ptr<const MappingSheet> mapping = {};
};

/// How sure a loader is that a file is its own, by content alone. The extension is never looked at.
enum class Confidence { No, Maybe, Yes };

/// One single-file format.
class Loader
{
public:
    virtual ~Loader() = default;

    virtual std::string_view name() const = 0;        ///< "safetensors"
    virtual std::string_view description() const = 0; ///< one line for `formats`
    virtual std::string whyNot() const { return {}; } ///< why this build cannot open it, if so
    /// `head` holds the first bytes (up to ProbeBytes) of `source`.
    virtual Confidence probe(ByteView head, const ByteSource &source) const = 0;
    /// Adds what the file holds to `builder`. An error means nothing could be opened; what is
    /// damaged in part becomes diagnostics and unreadable tensors.
    virtual Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                        std::stop_token stop, CheckpointBuilder &builder) const = 0;
};

/// The explicit table of formats, in the order in which they are asked.
const std::vector<const Loader *> &allLoaders();

struct LoadedFile
{
    CheckpointBuilder builder;
    std::string format;
};

/// Loads one file by the loader most sure of it. Where none is, the error lists what each expected.
Result<LoadedFile> loadFile(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                            std::stop_token stop);

} // namespace forkpoint
