// SPDX-License-Identifier: GPL-3.0-or-later
// What the HDF5 worker reads beside libhdf5, part by part: bytes put together by hand from the file format, and
// blocks of files whose contents their generators (tests/data/hdf5/make_*.py) say.
#include "app/h5worker/btree2.h"
#include "app/h5worker/chunk_index.h"
#include "app/h5worker/dense_attributes.h"
#include "app/h5worker/fractal_heap.h"
#include "app/h5worker/global_heap.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/newer_datatype.h"
#include "app/h5worker/newer_header.h"
#include "app/h5worker/selection.h"
#include "app/h5worker/virtual_layout.h"
#include "tests/support/loaded_file.h"
#include "tests/support/parent_memory.h"

#include <QMap>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr std::uint64_t Ever = ~std::uint64_t(0);

/// Numbers and text, lowest bytes first.
class Bytes
{
public:
    Bytes &put(std::uint64_t number, std::size_t width)
    {
        for (std::size_t i = 0; i < width; ++i)
            m_bytes.push_back(i < sizeof number ? std::byte(number >> (8 * i)) : std::byte(0));
        return *this;
    }
    Bytes &all(std::initializer_list<std::uint64_t> numbers, std::size_t width)
    {
        for (const std::uint64_t number : numbers)
            put(number, width);
        return *this;
    }
    Bytes &text(std::string_view text)
    {
        for (const char c : text)
            put(std::uint8_t(c), 1);
        return *this;
    }
    Bytes &add(const Bytes &other)
    {
        m_bytes.insert(m_bytes.end(), other.m_bytes.begin(), other.m_bytes.end());
        return *this;
    }
    Bytes &pad(std::size_t multiple)
    {
        while (m_bytes.size() % multiple != 0)
            put(0, 1);
        return *this;
    }
    Bytes &sign() { return put(metadataChecksum(m_bytes), 4); }

    const std::vector<std::byte> &bytes() const { return m_bytes; }
    std::size_t size() const { return m_bytes.size(); }

private:
    std::vector<std::byte> m_bytes;
};

/// A dataspace selection: kind (0 none, 1 points, 2 boxes, 3 all), version, then what its version has.
Bytes selection(std::uint64_t kind, std::uint64_t version)
{
    return Bytes().all({kind, version}, 4);
}

Bytes all()
{
    return selection(3, 1).put(0, 8);
}

/// Version 3: flags, width of numbers, rank, then start, stride, count, block of each dimension.
Bytes grid(std::initializer_list<std::uint64_t> numbers, std::size_t width = 8)
{
    return selection(2, 3).put(1, 1).put(width, 1).put(numbers.size() / 4, 4).all(numbers, width);
}

Result<Hdf5Selection> decoded(const Bytes &bytes)
{
    MetadataNumbers numbers(bytes.bytes());
    return decodeSelection(numbers);
}

/// A global heap of one collection at address 0, with these objects from number 1 on.
std::vector<std::byte> heapOf(const std::vector<Bytes> &objects)
{
    Bytes body;
    std::uint64_t number = 0;
    for (const Bytes &object : objects)
        body.put(++number, 2).put(1, 2).put(0, 4).put(object.size(), 8).add(object).pad(8);
    body.put(0, 16);
    return Bytes().text("GCOL").put(1, 4).put(16 + body.size(), 8).add(body).bytes();
}

/// Where blocks of that signature begin, in the files of tests/data/hdf5.
std::vector<std::uint64_t> placesOf(const QByteArray &bytes, const QByteArray &signature)
{
    std::vector<std::uint64_t> places;
    for (qsizetype at = bytes.indexOf(signature); at >= 0; at = bytes.indexOf(signature, at + 1))
        places.push_back(std::uint64_t(at));
    return places;
}

QByteArray open(const char *file)
{
    const QByteArray bytes = fileBytes(QStringLiteral(FORKPOINT_TEST_DATA "/hdf5/") + file);
    openParentMemory(toBytes(bytes));
    return bytes;
}

} // namespace

class TestHdf5Metadata : public QObject
{
    Q_OBJECT

private slots:
    void selectionsOfEveryVersion_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("bytes");
        const auto row = [](const char *name, const char *text, const Bytes &bytes) {
            QTest::newRow(name) << QByteArray(text)
                                << QByteArray(reinterpret_cast<const char *>(bytes.bytes().data()),
                                              qsizetype(bytes.size()));
        };
        row("nothing", "[]", selection(0, 1).put(0, 8));
        row("all", "[...]", all());
        row("points 1", "(1, 2) (0, 5)", selection(1, 1).put(0, 8).all({2, 2, 1, 2, 0, 5}, 4));
        row("points 2", "(258) (3)", selection(1, 2).put(2, 1).put(1, 4).all({2, 258, 3}, 2));
        row("no points", "[]", selection(1, 2).put(4, 1).put(1, 4).put(0, 4));
        row("blocks 1", "[0:2, 0:2] [3:4, 4:7]",
            selection(2, 1).put(0, 8).put(2, 4).put(2, 4).all({0, 0, 1, 1, 3, 4, 3, 6}, 4));
        row("blocks 1 that are a grid", "[0:4:3, 1:3]",
            selection(2, 1).put(0, 8).put(2, 4).put(2, 4).all({3, 1, 3, 2, 0, 1, 0, 2}, 4));
        row("blocks 3", "[5:7]", selection(2, 3).put(0, 1).put(8, 1).put(1, 4).all({1, 5, 6}, 8));
        row("grid 2", "[1:8:3]",
            selection(2, 2).put(1, 1).put(0, 4).put(1, 4).all({1, 3, 3, 1}, 8));
        row("grid 3", "[2:9:5:2, 0:4]", grid({2, 5, 2, 2, 0, 1, 4, 1}, 2));
        row("blocks that touch", "[0:6]", grid({0, 2, 3, 2}, 4));
        row("grows", "[1::4:2]", grid({1, 4, 0xffff, 2}, 2));
        row("grows in one block", "[3::1:1]", grid({3, 1, 1, Ever}, 8));
    }
    void selectionsOfEveryVersion()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, bytes);
        const std::vector<std::byte> stored = toBytes(bytes);
        MetadataNumbers numbers(stored);
        const auto selection = decodeSelection(numbers);
        QVERIFY2(selection.ok(), selection.ok() ? "" : selection.error().text.c_str());
        QCOMPARE(QByteArray(toText(*selection).c_str()), text);
        QCOMPARE(numbers.at(), stored.size());
        for (std::size_t size = 0; size < stored.size(); ++size) {
            MetadataNumbers cut(ByteView(stored).first(size));
            QVERIFY(!decodeSelection(cut).ok());
        }
    }

    void selectionsThatCannotBe()
    {
        const auto why = [](const Bytes &bytes) {
            const auto selection = decoded(bytes);
            return selection.ok() ? std::string() : selection.error().text;
        };
        const auto tells = [&](const Bytes &bytes, const char *text) {
            return why(bytes).find(text) != std::string::npos;
        };
        QVERIFY(tells(selection(4, 1).put(0, 8), "is of an unknown kind"));
        QVERIFY(tells(selection(3, 2).put(0, 8), "version 2 of a selection of all or nothing"));
        QVERIFY(tells(selection(1, 3).put(0, 64), "version 3 of a selection of points"));
        QVERIFY(tells(selection(2, 4).put(0, 64), "version 4 of a selection of blocks"));
        QVERIFY(tells(selection(1, 2).put(3, 1).put(0, 64), "has numbers of 3 bytes"));
        QVERIFY(tells(selection(1, 2).put(4, 1).put(0, 64), "has 0 dimensions"));
        QVERIFY(tells(selection(1, 2).put(4, 1).put(33, 4).put(0, 64), "has 33 dimensions"));
        QVERIFY(tells(selection(1, 2).put(4, 1).put(1, 4).put(2'000'000, 4), "too many to list"));
        QVERIFY(tells(grid({0, 1, 3, 2}), "has blocks that overlap"));
        QVERIFY(tells(grid({0, Ever, 3, 2}), "ends behind 64 bits"));
        QVERIFY(tells(grid({0, 0, Ever, 1}), "grows without elements, or over itself"));
        QVERIFY(tells(grid({0, 1, Ever, 0}), "grows without elements, or over itself"));
        QVERIFY(tells(selection(2, 3).put(0, 1).put(4, 1).put(1, 4).all({1, 5, 4}, 4),
                      "ends before it begins"));
    }

    void objectsOfGlobalHeaps()
    {
        openParentMemory(heapOf({Bytes().text("first"), Bytes(), Bytes().text("third one")}));
        const auto read = [](std::uint64_t number) {
            const auto bytes = readGlobalHeap({0, number}, 9);
            return bytes.ok() ? std::string(asText(*bytes)) : "! " + bytes.error().text;
        };
        QCOMPARE(read(1), std::string("first"));
        QCOMPARE(read(2), std::string());
        QCOMPARE(read(3), std::string("third one"));
        QCOMPARE(read(4), std::string("! the global heap at byte 0 has no object 4"));
        const auto large = readGlobalHeap({0, 3}, 8);
        QVERIFY(!large.ok() && large.error().code == ErrorCode::Limit);
        QVERIFY(!readGlobalHeap({8, 1}, 9).ok());
        QVERIFY(!readGlobalHeap({Ever - 3, 1}, 9).ok());
    }

    /// A heap that is kept costs one walk; another file has its own.
    void globalHeapsAreOfOneFile()
    {
        openParentMemory(heapOf({Bytes().text("old")}));
        QVERIFY(readGlobalHeap({0, 1}, 9).ok());
        openParentMemory(heapOf({Bytes().text("newer")}));
        QCOMPARE(readGlobalHeap({0, 1}, 9)->size(), std::size_t(5));
    }

    void heapsOfNarrowFiles()
    {
        openParentMemory({});
        setMetadataWidths({4, 4});
        const Bytes id = Bytes().put(0xffffffff, 4).put(7, 4);
        QCOMPARE(GlobalHeapId::bytes(), id.size());
        QCOMPARE(globalHeapId(id.bytes()).address, UndefinedAddress);
        QCOMPARE(globalHeapId(id.bytes()).number, std::uint64_t(7));
        setMetadataWidths({});
        QCOMPARE(GlobalHeapId::bytes(), std::size_t(12));
    }

    void listsOfSources()
    {
        Bytes old = Bytes().put(0, 1).put(2, 8);
        old.text("a.h5").put(0, 1).text("/x").put(0, 1).add(grid({0, 1, 4, 1})).add(all());
        old.text(".").put(0, 1).text("y").put(0, 1).add(selection(0, 1).put(0, 8)).add(all());
        Bytes newer = Bytes().put(1, 1).put(3, 8);
        newer.put(0, 1).text("a%b").put(0, 1).text("/x").put(0, 1).add(all()).add(all());
        newer.put(3, 1).put(0, 8).put(0, 8).add(all()).add(grid({0, 2, Ever, 1})); // both shared
        newer.put(4, 1).text("/z").put(0, 1).add(all()).add(all());                // the same file
        openParentMemory(heapOf({old.sign(), newer.sign()}));
        const auto first = readVirtualLayout({0, 1});
        QVERIFY2(first.ok(), first.ok() ? "" : first.error().text.c_str());
        QCOMPARE(first->size(), std::size_t(1)); // nothing of y is shown
        QVERIFY(first->front().file == "a.h5" && first->front().dataset == "/x");
        QVERIFY(first->front().own.kind == Hdf5Selection::Kind::All);
        QVERIFY((first->front().source.grid == std::vector<Hdf5Selection::Steps>{{0, 1, 1, 4}}));
        const auto second = readVirtualLayout({0, 2});
        QVERIFY2(second.ok(), second.ok() ? "" : second.error().text.c_str());
        QCOMPARE(second->size(), std::size_t(3));
        QVERIFY(second->at(1).file == "a%b" && second->at(1).dataset == "/x");
        QVERIFY(second->at(1).own.grid.front().isUnlimited);
        QVERIFY(second->at(2).file == "." && second->at(2).dataset == "/z");
    }

    void listsOfSourcesThatCannotBe()
    {
        const auto why = [](Bytes list, bool isSigned = true) {
            openParentMemory(heapOf({isSigned ? list.sign() : list}));
            const auto read = readVirtualLayout({0, 1});
            return read.ok() ? std::string() : read.error().text;
        };
        const auto has = [](const std::string &text, const char *part) {
            return text.find(part) != std::string::npos;
        };
        const Bytes points = selection(1, 2).put(2, 1).put(1, 4).all({1, 3}, 2);
        QVERIFY(has(why(Bytes().put(2, 1).put(1, 8)), "of version 2, which is not known"));
        QVERIFY(has(why(Bytes().put(0, 1).put(9000, 8)), "at most 8192 sources, has 9000"));
        QVERIFY(has(why(Bytes().put(0, 1).put(1, 8).text("no end")), "without a name of usual"));
        QVERIFY(has(why(Bytes().put(1, 1).put(1, 8).put(1, 1).put(0, 8)), "stand before it"));
        QVERIFY(has(
            why(Bytes().put(0, 1).put(1, 8).text("a").put(0, 1).text("b").put(0, 1).add(points).add(
                all())),
            "maps single points"));
        QVERIFY(has(why(Bytes().put(0, 1).put(0, 8).put(7, 4), false), "another checksum"));
        QVERIFY(readVirtualLayout({UndefinedAddress, 0})->empty()); // shows nothing
    }

    /// 2,400 chunks of one element each: make_newest.py, "btree_two".
    void treesHaveTheirRecords()
    {
        const QByteArray bytes = open("layout5.h5");
        constexpr char Chunks = 11;
        QMap<std::uint64_t, int> trees;
        for (const std::uint64_t at : placesOf(bytes, QByteArray("BTHD") + '\0' + Chunks)) {
            std::uint64_t count = 0;
            const Status status = walkBTree2(at, {Chunks, 20 + 8 * 2}, [&](ByteView record) {
                count += record.size() == 36;
                return Status();
            });
            QVERIFY2(status.ok(), status.ok() ? "" : status.error().text.c_str());
            ++trees[count];
            QVERIFY(!walkBTree2(at, {Chunks, 20 + 8 * 3}, [](ByteView) { return Status(); }).ok());
            QVERIFY(!walkBTree2(at, {10, 36}, [](ByteView) { return Status(); }).ok());
        }
        // btree_leaf (6 x 6 in 2 x 3), btree_one (17 x 15), btree_two (40 x 60)
        const QMap<std::uint64_t, int> want{{3 * 2, 1}, {17 * 15, 1}, {40 * 60, 1}};
        QCOMPARE(trees, want);
    }

    /// Datasets of make_newest.py by how they are indexed, and the chunks that were written of two of them.
    void headersSayWhereChunksAre()
    {
        const QByteArray bytes = open("layout5.h5");
        QMap<int, int> kinds;
        int whole = 0;
        for (const std::uint64_t at : placesOf(bytes, "OHDR")) {
            openParentMemory(toBytes(bytes));
            const AdaptedHeader header = adaptNewerHeader(at);
            if (!header.index)
                continue;
            ++kinds[int(header.index->kind)];
            // 9 x 7 in 2 x 3: 5 x 3 chunks, all written; other datasets have other grids.
            ChunkGrid grid{{5, 3}, {5, 3}, 15};
            if (header.index->kind == NewerChunkIndex::Kind::ExtensibleArray)
                grid.most[0] = UndefinedAddress;
            const auto chunks = readChunkIndex(*header.index, grid);
            whole += chunks.ok() && chunks->size() == 15 && chunks->front().number == 0
                && chunks->back().number == 14;
        }
        // fixed, fixed_may_grow, fixed_paged, fixed_paged_may_grow, never_written, masked
        const QMap<int, int> want{{3, 6}, {4, 4}, {5, 3}};
        QCOMPARE(kinds, want);
        QVERIFY(whole >= 2); // fixed and extensible
    }

    /// Behind the end there are zeros, also where one begins behind it.
    void numbersEndWithTheirBytes()
    {
        const Bytes two = Bytes().put(0x0201, 2);
        MetadataNumbers inside(two.bytes(), 1), outside(two.bytes(), 3);
        QCOMPARE(inside.next(1), std::uint64_t(2));
        QCOMPARE(inside.next(1), std::uint64_t(0));
        QVERIFY(!inside.isWhole() && !outside.isWhole());
        QCOMPARE(outside.next(1), std::uint64_t(0));
        QCOMPARE(outside.at(), two.size());
    }

    /// An old header with a message about attributes (0x15) of no bytes.
    void emptyMessagesAreNone()
    {
        Bytes header = Bytes().put(1, 1).put(0, 1).put(1, 2).put(1, 4).put(8, 4).put(0, 4);
        openParentMemory(header.put(0x15, 2).put(0, 2).put(0, 4).bytes());
        QVERIFY(!adaptNewerHeader(0).index);
    }

    /// HDF5 file format, "Attribute Message": the name "ab" is padded in version 1 alone.
    void datatypesOfAttributes()
    {
        const Bytes type = Bytes().put(0x47, 1).put(0x12, 3).put(18, 4); // a reference of HDF5 1.12
        const auto attribute = [&](std::uint64_t version, std::size_t padding) {
            Bytes message = Bytes().put(version, 1).put(0, 1).all({3, type.size(), 4}, 2);
            message.put(0, version == 3 ? 1 : 0).text("ab").put(0, 1 + padding);
            return newerAttributeVersions(message.add(type).bytes());
        };
        QVERIFY((attribute(1, 5) == std::vector<std::size_t>{16}));
        QVERIFY((attribute(2, 0) == std::vector<std::size_t>{11}));
        QVERIFY((attribute(3, 0) == std::vector<std::size_t>{12}));
        QVERIFY(attribute(4, 0).empty());
    }

    /// A header whose checksum is wrong is left as it is.
    void damagedHeadersAreLeftAlone()
    {
        QByteArray bytes = open("layout5.h5");
        for (const std::uint64_t at : placesOf(bytes, "OHDR"))
            bytes[qsizetype(at) + 8] = char(bytes[qsizetype(at) + 8] ^ 1);
        openParentMemory(toBytes(bytes));
        for (const std::uint64_t at : placesOf(bytes, "OHDR"))
            QVERIFY(!adaptNewerHeader(at).index);
        QVERIFY(parentMemory() == toBytes(bytes));
    }

    /// What is shown of newer types are older ones, and every block that changed is signed anew.
    void denseAttributesAreAdapted()
    {
        const QByteArray bytes = open("dense_latest.h5");
        int changed = 0;
        for (const std::uint64_t at : placesOf(bytes, "OHDR"))
            static_cast<void>(adaptNewerHeader(at));
        for (qsizetype i = 0; i < bytes.size(); ++i)
            changed += std::byte(bytes[i]) != parentMemory()[std::size_t(i)];
        QVERIFY(changed > 0);
        for (const std::uint64_t at : placesOf(bytes, "FRHP")) {
            const auto heap = FractalHeap::open(at);
            QVERIFY2(heap.ok(), heap.ok() ? "" : heap.error().text.c_str());
            const auto block = heap->blockAt(0);
            if (block.ok())
                QVERIFY(heap->read(*block).ok()); // its checksum is right
            QVERIFY(!heap->blockAt(std::uint64_t(1) << 40).ok());
        }
    }

    /// HDF5 file format, "Datatype Message": an integer of version 5, and one in a compound of version 4.
    void datatypesOfNewerVersions()
    {
        const Bytes integer = Bytes().put(0x50, 1).put(8, 3).put(4, 4).all({0, 32}, 2);
        QVERIFY((newerDatatypeVersions(integer.bytes()) == std::vector<std::size_t>{0}));
        QVERIFY(inKnownVersion(std::byte(0x50)) == std::byte(0x30));
        const Bytes old = Bytes().put(0x10, 1).put(8, 3).put(4, 4).all({0, 32}, 2);
        QVERIFY(newerDatatypeVersions(old.bytes()).empty());
        Bytes compound = Bytes().put(0x46, 1).put(1, 3).put(4, 4).text("x").put(0, 1).put(0, 1);
        compound.add(integer);
        QVERIFY((newerDatatypeVersions(compound.bytes()) == std::vector<std::size_t>{0, 11}));
        for (std::size_t size = 0; size < compound.size(); ++size)
            QVERIFY(newerDatatypeVersions(ByteView(compound.bytes()).first(size)).empty());
    }
};

QTEST_GUILESS_MAIN(TestHdf5Metadata)
#include "tst_hdf5_metadata.moc"
