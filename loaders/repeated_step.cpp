// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/repeated_step.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/storage/file_source.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = std::size_t(1) << 20;

Result<bool> haveSameBytes(const ByteSource &a, const ByteSource &b, const std::stop_token &stop)
{
    if (a.size() != b.size())
        return false;
    std::vector<std::byte> blockA(std::min<std::uint64_t>(BlockBytes, a.size()));
    std::vector<std::byte> blockB(blockA.size());
    for (std::uint64_t offset = 0; offset < a.size(); offset += blockA.size()) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, a.name(), {}, "cancelled"};
        const std::size_t count = std::min<std::uint64_t>(blockA.size(), a.size() - offset);
        FP_CHECK(a.read(offset, MutableByteView(blockA).first(count)));
        FP_CHECK(b.read(offset, MutableByteView(blockB).first(count)));
        if (!std::equal(blockA.begin(), blockA.begin() + std::ptrdiff_t(count), blockB.begin()))
            return false;
    }
    return true;
}

} // namespace

Status checkOneStep(const RunStep &step, const std::filesystem::path &directory,
                    const std::string &name, const std::stop_token &stop)
{
    bool areEqual = step.rivals.empty() || !name.empty();
    for (std::size_t i = 0; areEqual && i < step.rivals.size(); ++i) {
        const std::string &rival = step.rivals[i];
        FP_TRY(const auto taken, FileSource::openBeneath(directory, name, step.path));
        FP_TRY(const auto other, FileSource::openBeneath(directory, rival, rival));
        FP_TRY(areEqual, haveSameBytes(*taken, *other, stop));
    }
    if (areEqual)
        return {};
    return Error{ErrorCode::Mismatch,
                 step.path,
                 {},
                 "one entry of a series may be a step, this one has the number of "
                     + listNames(step.rivals) + (name.empty() ? "" : ", whose bytes differ")
                     + "; name the one that is meant"};
}

Status RepeatedSteps::check(std::size_t index, const RunStep &step,
                            const std::filesystem::path &directory, const std::string &name,
                            const std::stop_token &stop)
{
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_answers.find(index);
        if (known != m_answers.end())
            return known->second;
    }
    Status answer = checkOneStep(step, directory, name, stop);
    // What could not be read, or was cancelled, may be read the next time.
    if (answer.ok() || answer.error().code == ErrorCode::Mismatch) {
        const std::lock_guard lock(m_mutex);
        m_answers.insert_or_assign(index, answer);
    }
    return answer;
}

} // namespace forkpoint
