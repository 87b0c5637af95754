// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

namespace forkpoint {

/// Where a step has rivals: that they hold the same bytes as its file `name`, all of them in
/// `directory`. Reads what is of equal size. Mismatch, naming the entries, where they differ or are
/// folders (`name` is empty then), of which no comparison is made: nothing says which one is meant.
Status checkOneStep(const RunStep &step, const std::filesystem::path &directory,
                    const std::string &name, const std::stop_token &stop);

/// The same for the steps of a run, of each of which the rivals are read once: a step is opened for
/// each look at it. Thread-safe.
class RepeatedSteps
{
public:
    /// `index`: the number of the step in its run.
    Status check(std::size_t index, const RunStep &step, const std::filesystem::path &directory,
                 const std::string &name, const std::stop_token &stop);

private:
    std::mutex m_mutex;
    std::map<std::size_t, Status> m_answers; ///< by index; guarded by m_mutex
};

} // namespace forkpoint
