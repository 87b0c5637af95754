// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session.h"

#include "app/core/fingerprint_index.h"
#include "app/core/session_core.h"
#include "gpu/backend_registry.h"
#include "loaders/open_run.h"

namespace forkpoint {

using std::chrono::milliseconds;

SessionEnvironment SessionEnvironment::standard()
{
    SessionEnvironment environment;
    environment.openRun = [](const std::string &path, std::stop_token stop) {
        return forkpoint::openRun(path, OpenOptions{}, std::move(stop));
    };
    environment.openMapped = [](const std::string &path, std::shared_ptr<const MappingSheet> sheet,
                                std::stop_token stop) {
        OpenOptions options;
        options.mapping = std::move(sheet);
        return forkpoint::openRun(path, options, std::move(stop));
    };
    environment.reportIn = &forkpoint::reportIn;
    environment.makeBackend = [] {
        Result<std::unique_ptr<ComputeBackend>> best = forkpoint::makeBackend("auto");
        if (!best.ok())
            best = forkpoint::makeBackend("cpu"); // which every build has
        return std::shared_ptr<const ComputeBackend>(std::move(best).value());
    };
    environment.makeIndex = [](const ComputeBackend &backend, bool believe) {
        return userIndex(true, believe, backend);
    };
    return environment;
}

Session::Session(SessionEnvironment environment, SessionListener &listener)
    : m_core(std::make_unique<Core>(std::move(environment), listener))
{
    m_core->loop().post([core = m_core.get()] { core->findDevice(); });
}

Session::~Session()
{
    shutdown(milliseconds(0));
}

void Session::openSide(SessionSide side, std::string path,
                       std::shared_ptr<const MappingSheet> sheet)
{
    m_core->loop().post(
        [core = m_core.get(), side, path = std::move(path), sheet = std::move(sheet)]() mutable {
            core->openSide(std::size_t(side), std::move(path), std::move(sheet));
        });
}

void Session::tryMapping(std::uint64_t id, std::string path, std::string sheet)
{
    m_core->loop().post(
        [core = m_core.get(), id, path = std::move(path), sheet = std::move(sheet)]() mutable {
            core->tryMapping(id, std::move(path), std::move(sheet));
        });
}

void Session::readSheet(std::uint64_t id, std::string path)
{
    m_core->loop().post([core = m_core.get(), id, path = std::move(path)]() mutable {
        core->readSheet(id, std::move(path));
    });
}

void Session::saveSheet(std::uint64_t id, std::string path, std::string sheet,
                        std::string sheetPath)
{
    m_core->loop().post([core = m_core.get(), id, path = std::move(path), sheet = std::move(sheet),
                         sheetPath = std::move(sheetPath)]() mutable {
        core->saveSheet(id, std::move(path), std::move(sheet), std::move(sheetPath));
    });
}

void Session::useMapping(SessionSide side, std::string path, std::string sheet,
                         std::string sheetPath)
{
    m_core->loop().post([core = m_core.get(), side, path = std::move(path),
                         sheet = std::move(sheet), sheetPath = std::move(sheetPath)]() mutable {
        core->useMapping(std::size_t(side), std::move(path), sheet, sheetPath);
    });
}

void Session::openPair(std::string pathA, std::string pathB,
                       std::shared_ptr<const MappingSheet> sheet)
{
    m_core->loop().post([core = m_core.get(), a = std::move(pathA), b = std::move(pathB),
                         sheet = std::move(sheet)]() mutable {
        core->openPair(std::move(a), std::move(b), std::move(sheet));
    });
}

void Session::swapSides()
{
    m_core->loop().post([core = m_core.get()] { core->swapSides(); });
}

void Session::closeAll()
{
    m_core->loop().post([core = m_core.get()] { core->closeAll(); });
}

void Session::setOptions(CompareOptions options)
{
    m_core->loop().post([core = m_core.get(), options = std::move(options)]() mutable {
        core->setOptions(std::move(options));
    });
}

void Session::setIndexUse(IndexUse use)
{
    m_core->loop().post([core = m_core.get(), use] { core->setIndexUse(use); });
}

void Session::selectStep(std::optional<Step> step)
{
    m_core->loop().post([core = m_core.get(), step] { core->selectStep(step); });
}

void Session::requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known)
{
    m_core->loop().post([core = m_core.get(), pair, known = std::move(known)]() mutable {
        core->requestFacts(pair, std::move(known));
    });
}

void Session::requestElements(std::uint64_t id, PairAddress pair, ElementQuery query)
{
    m_core->loop().post(
        [core = m_core.get(), id, pair, query] { core->requestElements(id, pair, query); });
}

void Session::requestNextDifference(std::uint64_t id, PairAddress pair, Index from, bool backward)
{
    m_core->loop().post([core = m_core.get(), id, pair, from, backward] {
        core->requestNext(id, pair, from, backward);
    });
}

void Session::requestMap(std::uint64_t id, PairAddress pair, MapQuery query)
{
    m_core->loop().post([core = m_core.get(), id, pair, query = std::move(query)]() mutable {
        core->requestMap(id, pair, std::move(query));
    });
}

void Session::requestLayout(std::uint64_t id, PairAddress pair)
{
    m_core->loop().post([core = m_core.get(), id, pair] { core->requestLayout(id, pair); });
}

void Session::requestHistory(std::uint64_t id, std::string nameA, std::string nameB)
{
    m_core->loop().post(
        [core = m_core.get(), id, a = std::move(nameA), b = std::move(nameB)]() mutable {
            core->requestHistory(id, std::move(a), std::move(b));
        });
}

void Session::searchNonFinite(std::uint64_t id)
{
    m_core->loop().post([core = m_core.get(), id] { core->searchNonFinite(id); });
}

void Session::requestRecords(std::uint64_t id, RecordQuery query)
{
    m_core->loop().post([core = m_core.get(), id, query = std::move(query)]() mutable {
        core->requestRecords(id, std::move(query));
    });
}

void Session::requestRecordText(std::uint64_t id, RecordPlaces places)
{
    m_core->loop().post([core = m_core.get(), id, places] { core->requestRecordText(id, places); });
}

void Session::requestDrift(std::uint64_t id, DriftQuery query)
{
    m_core->loop().post([core = m_core.get(), id, query] { core->requestDrift(id, query); });
}

void Session::listFolder(std::uint64_t id, std::string path)
{
    m_core->loop().post([core = m_core.get(), id, path = std::move(path)]() mutable {
        core->listFolder(id, std::move(path));
    });
}

void Session::stopListing()
{
    m_core->loop().post([core = m_core.get()] { core->stopListing(); });
}

void Session::checkFiles()
{
    m_core->loop().post([core = m_core.get()] { core->checkFiles(); });
}

void Session::reload()
{
    m_core->loop().post([core = m_core.get()] { core->reload(); });
}

void Session::exportReport(std::string path)
{
    m_core->loop().post([core = m_core.get(), path = std::move(path)]() mutable {
        core->exportReport(std::move(path));
    });
}

void Session::saveFile(std::string path, std::string bytes)
{
    m_core->loop().post(
        [core = m_core.get(), path = std::move(path), bytes = std::move(bytes)]() mutable {
            core->saveFile(std::move(path), std::move(bytes));
        });
}

void Session::cancel()
{
    m_core->loop().post([core = m_core.get()] { core->cancel(); });
}

bool Session::shutdown(milliseconds timeout)
{
    const bool rested = m_core->queue().shutdown(timeout);
    m_core->loop().quit();
    return rested;
}

} // namespace forkpoint
