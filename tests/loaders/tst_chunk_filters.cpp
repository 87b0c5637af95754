// SPDX-License-Identifier: GPL-3.0-or-later
// Filters of HDF5 chunks with bytes that no writer leaves, and what is kept of chunks that were decoded.
#include "loaders/hdf5/chunk_cache.h"
#include "loaders/hdf5/chunk_filters.h"
#include "loaders/hdf5/hdf5_client.h"
#include "tests/support/loaded_file.h"

using namespace forkpoint;
using namespace forkpoint::test;

class TestChunkFilters : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    /// A frame with two layers "b2nd", each of a whole chunk: sound but for the second one.
    void refusesASecondLayerOfBlocks()
    {
        const auto layer = QByteArray::fromHex("c6000000009500019"
                                               "1d30000000000000004"
                                               "91d20000000491d200000004");
        QByteArray frame = QByteArray::fromHex("9ea8") + QByteArray("b2frame\0", 8)
            + QByteArray::fromHex("d200000100") + QByteArray(23, '\0')
            + QByteArray::fromHex("d30000000000000000d200000001") + QByteArray(35, '\0')
            + QByteArray::fromHex("93000000de0002");
        const auto place = char(frame.size() + 2 * 10);
        for (int i = 0; i < 2; ++i)
            frame += QByteArray("\xa4"
                                "b2nd\xd2\0\0\0",
                                9)
                + place;
        frame += layer;
        frame.resize(256);
        const auto &filters = chunkFilters();
        const auto blosc2 = std::find_if(filters.begin(), filters.end(),
                                         [](const ChunkFilter &each) { return each.id == 32026; });
        QVERIFY(blosc2 != filters.end());
        const auto twice = blosc2->undo(toBytes(frame), {}, 4);
        QVERIFY(!twice.ok());
        QVERIFY2(twice.error().text.find("must be a frame") != std::string::npos,
                 twice.error().text.c_str());
        frame[frame.indexOf("b2nd") + 3] = 'x';
        const auto once = blosc2->undo(toBytes(frame), {}, 4);
        QVERIFY(!once.ok());
        QVERIFY2(once.error().text.find("must be a frame") == std::string::npos,
                 once.error().text.c_str());
    }

    /// Whatever the bytes: an answer or an error, and never more than asked for.
    void decodesNothingBeyondTheChunk()
    {
        std::uint32_t state = 7;
        const auto next = [&state] { return state = state * 1664525 + 1013904223; };
        for (const ChunkFilter &filter : chunkFilters()) {
            if (!filter.whyNot.empty())
                continue;
            for (int round = 0; round < 300; ++round) {
                std::vector<std::byte> stored(next() >> 24);
                for (std::byte &byte : stored)
                    byte = std::byte(next() >> 24 & (round % 2 == 0 ? 0xff : 0x1f));
                const std::vector<std::uint32_t> parameters = {2, 0, 16, 0, 4, 1, 0, 0, 0, 0,
                                                               0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
                const auto decoded = filter.undo(stored, parameters, 1000);
                QVERIFY(!decoded.ok() || decoded->size() <= 1000);
            }
        }
    }

    void forgetsChunksUsedLongAgo()
    {
        ChunkCache cache(10);
        int decoded = 0;
        const auto get = [&](std::uint64_t chunk) {
            return cache.get(
                this, chunk, [] { return Result<ChunkCache::Stored>(ChunkCache::Stored()); },
                [&](const ChunkCache::Stored &) -> Result<std::vector<std::byte>> {
                    ++decoded;
                    return std::vector<std::byte>(4);
                });
        };
        QVERIFY(get(1).ok() && get(2).ok() && get(1).ok());
        QCOMPARE(decoded, 2);
        QVERIFY(get(3).ok()); // 2 goes
        QVERIFY(get(1).ok());
        QCOMPARE(decoded, 3);
        QVERIFY(get(2).ok());
        QCOMPARE(decoded, 4);
        cache.forget(this);
        QVERIFY(get(2).ok());
        QCOMPARE(decoded, 5);
    }

    /// Two files that are equal: what is stored alike and undone alike is decoded once.
    void decodesEqualChunksOnce()
    {
        ChunkCache cache(1000);
        int decoded = 0;
        const auto get = [&](const void *owner, int stored, const char *filters) {
            return cache
                .get(
                    owner, 0,
                    [&] {
                        return Result<ChunkCache::Stored>(ChunkCache::Stored{
                            std::vector<std::byte>(3, std::byte(stored)), filters});
                    },
                    [&](const ChunkCache::Stored &own) -> Result<std::vector<std::byte>> {
                        ++decoded;
                        return std::vector<std::byte>(4, own.bytes[0]);
                    })
                .value();
        };
        const int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
        const auto first = get(&a, 7, "deflate");
        QVERIFY(get(&b, 7, "deflate") == first);
        QCOMPARE(decoded, 1);
        QVERIFY(get(&c, 8, "deflate") != first);
        QVERIFY(get(&d, 7, "shuffle") != first);
        QCOMPARE(decoded, 3);
        cache.forget(&a);
        cache.forget(&b);
        QCOMPARE((*get(&e, 7, "deflate"))[0], std::byte(7));
        QCOMPARE(decoded, 4);
        QCOMPARE((*get(&f, 7, ""))[0], std::byte(7)); // no filter: nothing to spare
        QCOMPARE(decoded, 5);
    }
};

QTEST_GUILESS_MAIN(TestChunkFilters)
#include "tst_chunk_filters.moc"
