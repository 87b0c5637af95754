// SPDX-License-Identifier: GPL-3.0-or-later
// What the index of fingerprints believes, over sources whose files are only said to be there.
// tests/app/check_index.py holds the same against real files.
#include "app/core/fingerprint_index.h"
#include "gpu/backend_registry.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>

using namespace forkpoint;

namespace {

class SaidSource final : public TensorSource
{
public:
    explicit SaidSource(std::vector<FileState> files, std::string layout = "all")
    {
        m_catalog.tensors.resize(1);
        m_catalog.tensors[0].name = "w";
        m_origin.layout = std::move(layout);
        for (FileState &file : files)
            m_origin.files.push_back(std::make_shared<const FileState>(std::move(file)));
    }

    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex, std::uint64_t, MutableByteView) const override { return {}; }
    Status unchanged() const override { return {}; }
    std::optional<TensorOrigin> origin(TensorIndex) const override { return m_origin; }

private:
    Catalog m_catalog;
    TensorOrigin m_origin;
};

FileState state()
{
    FileState state;
    state.path = "/data/w.safetensors";
    state.device = 7;
    state.inode = 8;
    state.size = 1u << 20;
    state.modifiedSeconds = 100;
    state.modifiedNanoseconds = 5;
    state.changedSeconds = 200;
    state.changedNanoseconds = 6;
    state.settled = true;
    return state;
}

constexpr Digest128 Content{11, 12};

} // namespace

class TestFingerprintIndex : public QObject
{
    Q_OBJECT

    const std::unique_ptr<ComputeBackend> m_backend = std::move(makeBackend("cpu")).value();
    std::unique_ptr<QTemporaryDir> m_folder;

    IndexFolder folder(std::uint64_t limit = IndexFolder::DefaultLimit) const
    {
        return IndexFolder(m_folder->filePath("index").toStdString(), limit);
    }
    FingerprintIndex index(bool believe = true) const
    {
        return FingerprintIndex(folder(), *m_backend, believe);
    }
    Diagnostics learn(const TensorSource &source, Digest128 content = Content)
    {
        FingerprintIndex index = this->index();
        return index.learn(source, {{0, content}});
    }
    std::optional<Digest128> find(const TensorSource &source, bool believe = true)
    {
        FingerprintIndex index = this->index(believe);
        return index.find(source, 0);
    }

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void remembers()
    {
        const SaidSource source({state()});
        QVERIFY(!find(source));
        QVERIFY(learn(source).empty());
        QVERIFY(find(source) == Content);
        QVERIFY(!find(source, false)); // --verify
        FileState moved = state();
        moved.path = "/elsewhere"; // a name is not a state
        QVERIFY(find(SaidSource({moved})) == Content);
    }

    void anyChangeForgets()
    {
        const SaidSource before({state()});
        const auto changed = [](auto change) {
            FileState other = state();
            change(other);
            return other;
        };
        const FileState others[] = {
            changed([](FileState &s) { ++s.device; }),
            changed([](FileState &s) { ++s.inode; }),
            changed([](FileState &s) { ++s.size; }),
            changed([](FileState &s) { ++s.modifiedSeconds; }),
            changed([](FileState &s) { ++s.modifiedNanoseconds; }),
            changed([](FileState &s) { ++s.changedSeconds; }),
            changed([](FileState &s) { ++s.changedNanoseconds; }),
        };
        for (const FileState &other : others) {
            learn(before);
            QVERIFY(find(before) == Content);
            const SaidSource after({other});
            QVERIFY(!find(after));
            // The new state takes the place of the old one, or stands beside it.
            learn(after, {1, 2});
            QVERIFY((find(after) == Digest128{1, 2}));
            QVERIFY(find(before) != (Digest128{1, 2}));
        }
        QVERIFY(!find(SaidSource({state()}, "another part")));
        // Of two files the second counts as well.
        FileState second = state();
        second.inode = 9;
        const SaidSource both({state(), second});
        learn(both);
        QVERIFY(find(both) == Content);
        ++second.changedNanoseconds;
        QVERIFY(!find(SaidSource({state(), second})));
    }

    void youngAndSmallFilesAreNotKept()
    {
        FileState young = state();
        young.settled = false;
        learn(SaidSource({young}));
        QVERIFY(folder().list().empty());
        learn(SaidSource({state()}));
        QVERIFY(!find(SaidSource({young})));
        FileState small = state();
        small.size = 1000;
        small.inode = 77;
        learn(SaidSource({small}));
        QCOMPARE(folder().list().size(), std::size_t(1));
    }

    void anotherDigestOfTheSameStateIsSaid()
    {
        const SaidSource source({state()});
        learn(source);
        QVERIFY(learn(source).empty());
        const Diagnostics news = learn(source, {1, 2});
        QCOMPARE(news.size(), std::size_t(1));
        QVERIFY(news[0].severity == Severity::Warning);
        QVERIFY((find(source) == Digest128{1, 2}));
    }

    void everyCutAndBentByteIsNoticed()
    {
        IndexEntry entry{state(), {{{5, 6}, {7, 8}}, {{1, 2}, {3, 4}}}};
        entry.sort();
        const std::vector<std::byte> bytes = encodeIndexEntry(*m_backend, entry);
        const auto decoded = decodeIndexEntry(*m_backend, bytes);
        QVERIFY(decoded && decoded->state.sameState(entry.state));
        QCOMPARE(decoded->state.path, entry.state.path);
        QVERIFY((decoded->find({5, 6}) == Digest128{7, 8}));
        QVERIFY((decoded->find({1, 2}) == Digest128{3, 4}));
        QVERIFY(!decoded->find({5, 7}));
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY(!decodeIndexEntry(*m_backend, ByteView(bytes).first(size)));
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            std::vector<std::byte> bent = bytes;
            bent[at] ^= std::byte(1);
            QVERIFY(!decodeIndexEntry(*m_backend, bent));
        }
    }

    void whatIsTooMuchGoesOldestFirst()
    {
        const IndexFolder limited = folder(10'000);
        const std::vector<std::byte> entry(1000);
        for (int i = 0; i < 14; ++i) {
            const std::string name = "e" + std::to_string(i + 10);
            limited.write(name, entry);
            const auto age = std::chrono::hours(100 - i);
            std::filesystem::last_write_time(limited.directory() / (name + ".fpi"),
                                             std::filesystem::file_time_type::clock::now() - age);
        }
        limited.touch("e10");
        limited.trim();
        const auto left = limited.list();
        QCOMPARE(left.size(), std::size_t(7));
        QCOMPARE(left.front().name, std::string("e10"));
        QCOMPARE(left[1].name, std::string("e18"));
        QCOMPARE(left.back().name, std::string("e23"));
        limited.write("huge", std::vector<std::byte>(6000)); // more than half of all: not kept
        QVERIFY(limited.read("huge").empty());
    }

    void unfinishedEntriesAreNone()
    {
        const IndexFolder all = folder();
        all.write("a", std::vector<std::byte>(10));
        QFile half(m_folder->filePath("index/b.fpi.part0"));
        QVERIFY(half.open(QIODevice::WriteOnly));
        half.write("half");
        half.close();
        QCOMPARE(all.list().size(), std::size_t(1));
        all.trim();
        QVERIFY(half.exists()); // somebody may be writing it
        std::filesystem::last_write_time(half.fileName().toStdString(),
                                         std::filesystem::file_time_type::clock::now()
                                             - std::chrono::hours(1));
        all.trim();
        QVERIFY(!half.exists());
        const auto cleared = all.clear();
        QVERIFY(cleared.ok());
        QCOMPARE(*cleared, std::size_t(1));
        QVERIFY(all.list().empty());
        QVERIFY(folder().clear().ok()); // also where there is nothing
    }
};

QTEST_APPLESS_MAIN(TestFingerprintIndex)
#include "tst_fingerprint_index.moc"
