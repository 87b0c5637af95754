// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/open_side.h"
#include "app/core/tensor_digests.h"
#include "model/compare/finding.h"
#include "model/resume/resume_fact.h"

#include <string>
#include <vector>

namespace forkpoint {

/// What a path holds, ready to be written: the document "forkpoint.inspect/1".
struct InspectDocument
{
    std::string path;
    std::optional<ChosenCheckpoint> chosen; ///< nothing: could not be opened, or no checkpoint
    std::shared_ptr<const Trace> trace;     ///< where the path holds one
    std::vector<ResumeFact> resume;
    std::vector<Finding> findings;      ///< of the file, and of what it needs to resume
    std::vector<TensorDigests> digests; ///< parallel to the tensors, or empty
    Diagnostics diagnostics;            ///< of the run, the checkpoint and the reading

    /// Every listed item's bytes are there as far as they were looked at.
    bool allRead() const;
    bool complete() const;
};

InspectDocument inspect(const std::string &path, const OpenOptions &options,
                        std::optional<Step> step, const std::vector<std::string> &digests,
                        Executor &executor, std::stop_token stop,
                        const std::function<void(const Progress &)> &progress);

std::string inspectJson(const InspectDocument &document);
/// For people: one line an item, differences in spelling made visible.
std::string inspectText(const InspectDocument &document);

} // namespace forkpoint
