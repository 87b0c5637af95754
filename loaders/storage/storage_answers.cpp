// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/storage_answers.h"

namespace forkpoint {

StorageAnswers &StorageAnswers::ofThisProcess()
{
    static StorageAnswers answers;
    return answers;
}

std::string StorageAnswers::keyOf(const FileState &file)
{
    return std::to_string(file.device) + ':'
        + std::to_string(file.inode); // no path begins like this
}

Stalled StorageAnswers::of(const std::string &key)
{
    const std::lock_guard lock(m_mutex);
    std::weak_ptr<std::atomic<int>> &known = m_known[key];
    Stalled answer = known.lock();
    if (!answer) {
        answer = std::make_shared<std::atomic<int>>(0);
        known = answer;
    }
    return answer;
}

void StorageAnswers::forget(const std::string &key)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_known.find(key);
    if (known != m_known.end() && known->second.expired())
        m_known.erase(known);
}

Error doesNotAnswer(const std::string &displayName, std::string_view call)
{
    return {ErrorCode::Io,
            displayName,
            {},
            "does not answer: " + std::string(call) + " did not come back, and was given up"};
}

} // namespace forkpoint
