// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/file_source.h"

#include "loaders/limits.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

namespace forkpoint {

namespace {

using Handle = std::shared_ptr<const Descriptor>;

/// The open files of this process, the most recently used first. A file that is being read while
/// it falls out closes when that read ends.
class OpenFiles
{
public:
    static OpenFiles &ofThisProcess()
    {
        static OpenFiles files;
        return files;
    }

    Handle find(const void *owner)
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_places.find(owner);
        if (known == m_places.end())
            return nullptr;
        m_files.splice(m_files.begin(), m_files, known->second);
        return known->second->handle;
    }

    void insert(const void *owner, Handle handle)
    {
        Handle closing; // outside the lock: closing a file of a network may take time
        const std::lock_guard lock(m_mutex);
        const auto [place, isNew] = m_places.try_emplace(owner);
        if (!isNew) {
            place->second->handle.swap(handle);
            closing = std::move(handle);
            return;
        }
        m_files.push_front({owner, std::move(handle)});
        place->second = m_files.begin();
        if (m_files.size() <= m_capacity)
            return;
        closing = std::move(m_files.back().handle);
        m_places.erase(m_files.back().owner);
        m_files.pop_back();
    }

    void forget(const void *owner)
    {
        Handle closing;
        const std::lock_guard lock(m_mutex);
        const auto known = m_places.find(owner);
        if (known == m_places.end())
            return;
        closing = std::move(known->second->handle);
        m_files.erase(known->second);
        m_places.erase(known);
    }

private:
    struct File
    {
        const void *owner;
        Handle handle;
    };

    std::mutex m_mutex;
    const std::size_t m_capacity = std::min(limits::OpenFiles, openFilesGranted());
    std::list<File> m_files;
    std::unordered_map<const void *, std::list<File>::iterator> m_places;
};

/// What is known of files that do not answer, whoever opened them: opening one again, as the piece of work
/// does that another thread begins anew, must not lead into the same read.
class AnswersOfFiles
{
public:
    static AnswersOfFiles &ofThisProcess()
    {
        static AnswersOfFiles answers;
        return answers;
    }

    Stalled of(const FileState &file)
    {
        const std::lock_guard lock(m_mutex);
        std::weak_ptr<std::atomic<bool>> &known = m_known[{file.device, file.inode}];
        Stalled answer = known.lock();
        if (!answer) {
            answer = std::make_shared<std::atomic<bool>>(false);
            known = answer;
        }
        return answer;
    }

    void forget(const FileState &file)
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_known.find({file.device, file.inode});
        if (known != m_known.end() && known->second.expired())
            m_known.erase(known);
    }

private:
    std::mutex m_mutex;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<std::atomic<bool>>> m_known;
};

} // namespace

Result<std::shared_ptr<const FileSource>> FileSource::open(const std::filesystem::path &path,
                                                           std::string displayName)
{
    return openAt({path, {}}, std::move(displayName));
}

Result<std::shared_ptr<const FileSource>>
FileSource::openBeneath(const std::filesystem::path &directory, const std::string &relative,
                        std::string displayName)
{
    return openAt({directory, relative}, std::move(displayName));
}

Result<std::shared_ptr<const FileSource>> FileSource::openBeside(const std::string &relative,
                                                                 std::string displayName) const
{
    namespace fs = std::filesystem;
    if (!m_location.relative)
        return Error{ErrorCode::Refused,
                     std::move(displayName),
                     {},
                     "this file alone was opened; open its folder"};
    const fs::path folder = fs::path(*m_location.relative).parent_path();
    return openBeneath(m_location.directory, (folder / relative).string(), std::move(displayName));
}

Result<std::shared_ptr<const FileSource>> FileSource::openAt(Location location, std::string name)
{
    const std::shared_ptr<FileSource> file(new FileSource(std::move(location), std::move(name)));
    FP_TRY(Descriptor descriptor, file->openHere());
    FP_TRY(FileState state, identify(descriptor, file->m_name));
    state.path = file->path();
    file->m_stalled = AnswersOfFiles::ofThisProcess().of(state);
    file->m_state = std::make_shared<const FileState>(std::move(state));
    OpenFiles::ofThisProcess().insert(file.get(),
                                      std::make_shared<const Descriptor>(std::move(descriptor)));
    return std::shared_ptr<const FileSource>(file);
}

FileSource::~FileSource()
{
    OpenFiles::ofThisProcess().forget(this);
    m_stalled = nullptr;
    if (m_state)
        AnswersOfFiles::ofThisProcess().forget(*m_state);
}

std::string FileSource::path() const
{
    std::filesystem::path path = m_location.directory;
    if (m_location.relative)
        path /= *m_location.relative;
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return error ? path.string() : absolute.string();
}

Result<Descriptor> FileSource::openHere() const
{
    if (m_location.relative)
        return forkpoint::openBeneath(m_location.directory, *m_location.relative, m_name);
    return openNamed(m_location.directory, m_name);
}

Result<Handle> FileSource::descriptor() const
{
    if (auto open = OpenFiles::ofThisProcess().find(this))
        return open;
    FP_TRY(Descriptor reopened, openHere());
    FP_TRY(const FileState now, identify(reopened, m_name));
    FP_CHECK(isStill(now));
    auto handle = std::make_shared<const Descriptor>(std::move(reopened));
    OpenFiles::ofThisProcess().insert(this, handle);
    return handle;
}

Status FileSource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), size()));
    FP_CHECK(checkAnswers());
    FP_TRY(const Handle file, descriptor());
    Status status = readAt(*file, offset, out, m_name, m_stalled);
    if (!status.ok() && status.error().code == ErrorCode::Changed) {
        Error error = std::move(status).error();
        error.text = "had " + std::to_string(size()) + " bytes when opened, " + error.text;
        return error;
    }
    return status;
}

void FileSource::willRead(std::uint64_t offset, std::uint64_t size) const
{
    if (*m_stalled)
        return;
    if (const auto file = descriptor(); file.ok())
        fetchAhead(**file, offset, size);
}

Status FileSource::checkAnswers() const
{
    if (!*m_stalled)
        return {};
    return Error{ErrorCode::Io,
                 m_name,
                 {},
                 "does not answer: a read of it did not come back, and was given up"};
}

Status FileSource::unchanged() const
{
    FP_CHECK(checkAnswers());
    FP_TRY(const Handle file, descriptor());
    FP_TRY(const FileState now, identify(*file, m_name));
    FP_CHECK(isStill(now));
    // A writer that renames a new file into place leaves the one that is open as it was.
    const Result<Descriptor> there = openHere();
    if (!there)
        return {}; // taken away: what was read is what it held
    FP_TRY(const FileState current, identify(*there, m_name));
    return isStill(current);
}

Status FileSource::isStill(const FileState &now) const
{
    if (now.sameButChangedTime(*m_state))
        return {};
    std::string text = "changed after it was opened";
    if (now.size != size()) {
        text += ": had " + std::to_string(size()) + " bytes, has " + std::to_string(now.size);
    }
    return Error{ErrorCode::Changed, m_name, {}, std::move(text)};
}

} // namespace forkpoint
