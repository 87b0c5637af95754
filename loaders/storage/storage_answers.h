// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/call_aside.h"
#include "model/result.h"
#include "model/tensor_origin.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace forkpoint {

/// What is known of files and folders that do not answer, whoever asked them: opening a file again, as the
/// piece of work does that another thread begins anew, must not lead into the same call.
class StorageAnswers
{
public:
    static StorageAnswers &ofThisProcess();

    Stalled ofFile(const FileState &file) { return of(keyOf(file)); }
    Stalled ofFolder(const std::filesystem::path &folder) { return of(folder.string()); }
    /// To be called by who let go of an answer.
    void forgetFile(const FileState &file) { forget(keyOf(file)); }
    void forgetFolder(const std::filesystem::path &folder) { forget(folder.string()); }

private:
    static std::string keyOf(const FileState &file);
    Stalled of(const std::string &key);
    void forget(const std::string &key);

    std::mutex m_mutex;
    std::map<std::string, std::weak_ptr<std::atomic<int>>> m_known;
};

/// The Io error of a call that was given up: "does not answer: `call` did not come back, and was given up".
Error doesNotAnswer(const std::string &displayName, std::string_view call);

/// A watchedCall(); an error at once while an earlier one has not come back.
template <typename Result_>
Result_ askStorage(const Stalled &stalled, const std::string &displayName, std::string_view what,
                   std::function<Result_()> call)
{
    std::optional<Result_> result;
    if (*stalled == 0)
        result = watchedCall<Result_>(std::move(call), stalled);
    if (!result)
        return doesNotAnswer(displayName, what);
    return *std::move(result);
}

/// The same for a call that asks for something in a folder.
template <typename Result_>
Result_ askFolder(const std::filesystem::path &folder, const std::string &displayName,
                  std::string_view what, std::function<Result_()> call)
{
    StorageAnswers &answers = StorageAnswers::ofThisProcess();
    Result_ result =
        askStorage<Result_>(answers.ofFolder(folder), displayName, what, std::move(call));
    answers.forgetFolder(folder);
    return result;
}

} // namespace forkpoint
