// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/file_source.h"

#include "loaders/limits.h"
#include "loaders/storage/platform_close.h"
#include "loaders/storage/storage_answers.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

namespace forkpoint {

namespace {

using Handle = std::shared_ptr<const Descriptor>;

constexpr std::string_view ReadOfIt = "a read of it";

/// What is read aside at once.
constexpr std::size_t AsideBytes = std::size_t(1) << 20;

/// Closed aside by who lets go of it last.
Handle kept(Descriptor file)
{
    return {new Descriptor(std::move(file)), [](Descriptor *last) {
                closeAside(last->release());
                delete last;
            }};
}

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

/// An open file and its state when it was opened.
struct FileSource::Opened
{
    Handle file;
    FileState state;
};

Result<std::shared_ptr<const FileSource>> FileSource::openAt(Location location, std::string name)
{
    const std::shared_ptr<FileSource> source(new FileSource(std::move(location), std::move(name)));
    const std::filesystem::path path = source->absolutePath();
    StorageAnswers &answers = StorageAnswers::ofThisProcess();
    source->m_folderStalled = answers.ofFolder(path.parent_path());
    FP_TRY(Opened opened, source->openHere());
    opened.state.path = path.string();
    source->m_stalled = answers.ofFile(opened.state);
    source->m_state = std::make_shared<const FileState>(std::move(opened.state));
    OpenFiles::ofThisProcess().insert(source.get(), std::move(opened.file));
    return std::shared_ptr<const FileSource>(source);
}

FileSource::~FileSource()
{
    OpenFiles::ofThisProcess().forget(this);
    m_stalled = m_folderStalled = nullptr;
    StorageAnswers &answers = StorageAnswers::ofThisProcess();
    if (m_state)
        answers.forgetFile(*m_state);
    answers.forgetFolder(absolutePath().parent_path());
}

std::filesystem::path FileSource::absolutePath() const
{
    std::filesystem::path path = m_location.directory;
    if (m_location.relative)
        path /= *m_location.relative;
    std::error_code error;
    std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute;
}

Result<FileSource::Opened> FileSource::openHere() const
{
    const auto open = [location = m_location, name = m_name]() -> Result<Opened> {
        FP_TRY(Descriptor file,
               location.relative
                   ? forkpoint::openBeneath(location.directory, *location.relative, name)
                   : openNamed(location.directory, name));
        FP_TRY(FileState state, identify(file, name));
        return Opened{kept(std::move(file)), std::move(state)};
    };
    return askStorage<Result<Opened>>(m_folderStalled, m_name, "opening it", open);
}

Result<Handle> FileSource::descriptor() const
{
    if (auto open = OpenFiles::ofThisProcess().find(this))
        return open;
    FP_TRY(Opened reopened, openHere());
    FP_CHECK(isStill(reopened.state));
    OpenFiles::ofThisProcess().insert(this, reopened.file);
    return std::move(reopened.file);
}

Status FileSource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), size()));
    FP_CHECK(checkAnswers());
    FP_TRY(const Handle file, descriptor());
    Status status = ReadWait::ofThisThread()->mayBeGivenUp()
        ? readAt(*file, offset, out, m_name, m_stalled)
        : readAside(file, offset, out);
    if (!status.ok() && status.error().code == ErrorCode::Changed) {
        Error error = std::move(status).error();
        error.text = "had " + std::to_string(size()) + " bytes when opened, " + error.text;
        return error;
    }
    return status;
}

Status FileSource::readAside(const Handle &file, std::uint64_t offset, MutableByteView out) const
{
    // Of the call: `out` may be gone when it comes back. Kept from one call to the next, for fresh memory
    // costs as much as the read; one that does not come back keeps its own.
    thread_local std::shared_ptr<std::byte[]> buffer;
    while (!out.empty()) {
        if (!buffer)
            buffer = std::make_shared_for_overwrite<std::byte[]>(AsideBytes);
        const std::size_t size = std::min(out.size(), AsideBytes);
        const auto status = callAside<Status>(
            [file, offset, size, name = m_name, bytes = buffer] {
                return readAt(*file, offset, {bytes.get(), size}, name);
            },
            m_stalled);
        if (!status) { // it may have come back since: what was asked for is not there all the same
            buffer = nullptr;
            return doesNotAnswer(m_name, ReadOfIt);
        }
        FP_CHECK(*status);
        std::copy_n(buffer.get(), size, out.data());
        offset += size;
        out = out.subspan(size);
    }
    return {};
}

void FileSource::willRead(std::uint64_t offset, std::uint64_t size) const
{
    if (*m_stalled > 0)
        return;
    const auto file = descriptor();
    if (!file.ok())
        return;
    const auto fetch = [file = *file, offset, size] {
        fetchAhead(*file, offset, size);
        return true;
    };
    static_cast<void>(watchedCall<bool>(fetch, m_stalled));
}

Status FileSource::checkAnswers() const
{
    return *m_stalled > 0 ? doesNotAnswer(m_name, ReadOfIt) : Status();
}

Status FileSource::unchanged() const
{
    FP_CHECK(checkAnswers());
    FP_TRY(const Handle file, descriptor());
    auto state = watchedCall<Result<FileState>>(
        [file, name = m_name] { return identify(*file, name); }, m_stalled);
    if (!state)
        return doesNotAnswer(m_name, ReadOfIt);
    FP_TRY(const FileState now, *std::move(state));
    FP_CHECK(isStill(now));
    // A writer that renames a new file into place leaves the one that is open as it was.
    const Result<Opened> there = openHere();
    if (!there && there.error().code == ErrorCode::NotFound)
        return {}; // taken away: what was read is what it held
    return there ? isStill(there->state) : Status(there.error());
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
