// SPDX-License-Identifier: GPL-3.0-or-later
// Expected values come from torch, numpy and Python: tests/data/rng/make_rng.py.
#include "model/resume/generator_state.h"

#include <QtTest>

#include <zlib.h>

using namespace forkpoint;

namespace {

constexpr std::uint64_t Limit = 100;

std::vector<std::byte> fileBytes(const char *name)
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/rng/") + QLatin1String(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray data = file.readAll();
    const auto *first = reinterpret_cast<const std::byte *>(data.constData());
    return {first, first + data.size()};
}

std::uint32_t checksumOf(const TwisterBlock &block)
{
    std::vector<unsigned char> bytes;
    for (const std::uint32_t word : block.words) {
        for (int shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<unsigned char>(word >> shift));
    }
    return std::uint32_t(crc32(0, bytes.data(), uInt(bytes.size())));
}

/// A state as torch saves it, of a block and a position.
GeneratorState stateOf(GeneratorState::Kind kind, std::uint64_t seed, std::uint64_t blocks,
                       std::uint32_t position)
{
    GeneratorState state;
    state.kind = kind;
    state.position = position;
    const std::array<std::uint32_t, 2> key{std::uint32_t(seed), std::uint32_t(seed >> 32)};
    state.block = kind == GeneratorState::Kind::Python
        ? seededByArray(std::span(key).first(seed > 0xffffffffu ? 2 : 1))
        : seededBlock(std::uint32_t(seed));
    for (std::uint64_t i = 0; i < blocks; ++i)
        advance(state.block);
    if (kind == GeneratorState::Kind::TorchCpu)
        state.seed = seed;
    trySeed(state, seed, Limit);
    return state;
}

} // namespace

class GeneratorStateTest : public QObject
{
    Q_OBJECT

private slots:
    void everyStateOfTheWritersIsReached()
    {
        QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/rng/generators.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int cases = 0;
        while (!file.atEnd()) {
            const QList<QByteArray> words = file.readLine().trimmed().split(' ');
            QCOMPARE(words.size(), 5);
            const auto kind = words[0] == "torch" ? GeneratorState::Kind::TorchCpu
                : words[0] == "numpy"             ? GeneratorState::Kind::Numpy
                                                  : GeneratorState::Kind::Python;
            const quint64 seed = words[1].toULongLong(), draws = words[2].toULongLong();
            // The first draw makes a block, and every 624 more another.
            const quint64 blocks = draws == 0 ? 0 : (draws + 623) / 624;
            const bool atEnd = draws == 0 && kind == GeneratorState::Kind::TorchCpu;
            const auto position = atEnd ? 624u : words[3].toUInt();
            const GeneratorState state = stateOf(kind, seed, blocks, position);
            QCOMPARE(checksumOf(state.block), words[4].toUInt());
            QVERIFY2(state.draws() == draws, words.join(' ').constData());
            QCOMPARE(state.seed.value_or(0), seed);
            ++cases;
        }
        QCOMPARE(cases, 66);
    }

    void readsWhatTorchSaves()
    {
        const std::vector<std::byte> bytes = fileBytes("torch.state");
        QCOMPARE(bytes.size(), std::size_t(5056));
        auto state = decodeTorchCpu(bytes);
        QVERIFY(state);
        QCOMPARE(trySeed(*state, *state->seed, Limit), quint64(1));
        QCOMPARE(state->toString(), std::string("seed 7, 4 draws, a normal variate kept"));
        std::vector<std::byte> broken = bytes;
        broken[8] = std::byte(5); // left and next no longer add up
        QVERIFY(!decodeTorchCpu(broken));
        broken = bytes;
        broken[28] = std::byte(1); // a word beyond 32 bits
        QVERIFY(!decodeTorchCpu(broken));
        QVERIFY(!decodeTorchCpu(ByteView(bytes).first(5055)));
    }

    void readsWhatNumpyAndPythonSave()
    {
        const std::vector<std::byte> numpy = fileBytes("numpy.state");
        const auto position = loadLittle<std::uint32_t>(numpy.data() + 2496);
        auto state = decodeNumpy(ByteView(numpy).first(2496), position, true);
        QVERIFY(state);
        QVERIFY(!state->draws()); // its seed is nowhere in the state
        trySeed(*state, 7, Limit);
        QCOMPARE(state->draws().value_or(0), quint64(position));
        QVERIFY(!decodeNumpy(ByteView(numpy).first(2496), 625, false));
        QVERIFY(!decodeNumpy(ByteView(numpy).first(2496), -1, false));

        const std::vector<std::byte> python = fileBytes("python.state");
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < 625; ++i)
            numbers.push_back(loadLittle<std::uint32_t>(python.data() + 4 * i));
        auto ofPython = decodePython(numbers);
        QVERIFY(ofPython);
        QCOMPARE(ofPython->toString(), std::string("position 5 of its block"));
        trySeed(*ofPython, (1ull << 40) + 3, Limit);
        QCOMPARE(ofPython->toString(), std::string("seed 1099511627779, 5 draws"));
        numbers[3] = -1;
        QVERIFY(!decodePython(numbers));
    }

    /// Over all pairs of places of one stream: how far B is ahead is the difference of the draws.
    void saysHowFarOneIsAhead()
    {
        using enum GeneratorState::Kind;
        const std::pair<std::uint64_t, std::uint32_t> places[] = {
            {1, 1}, {1, 2}, {1, 624}, {2, 1}, {3, 400}};
        for (const auto kind : {TorchCpu, Numpy, Python}) {
            for (const auto &[blocksA, positionA] : places) {
                for (const auto &[blocksB, positionB] : places) {
                    GeneratorState a = stateOf(kind, 99, blocksA, positionA);
                    GeneratorState b = stateOf(kind, 99, blocksB, positionB);
                    const auto words = qint64(*b.draws()) - qint64(*a.draws());
                    const std::string expected = words == 0
                        ? ""
                        : "B is " + std::to_string(std::abs(words))
                            + (std::abs(words) == 1 ? " draw" : " draws")
                            + (words > 0 ? " ahead" : " behind");
                    const auto plain = [](std::string text) {
                        std::erase(text, ',');
                        return text;
                    };
                    QCOMPARE(plain(relationOf(a, b, Limit)), expected);
                    if (kind == TorchCpu)
                        continue;
                    a.seed.reset(); // the stream alone tells as much
                    a.blocks.reset();
                    b.seed.reset();
                    b.blocks.reset();
                    QCOMPARE(plain(relationOf(a, b, Limit)), expected);
                }
            }
        }
    }

    void saysWhatElseSetsThemApart()
    {
        using enum GeneratorState::Kind;
        const GeneratorState drawn = stateOf(TorchCpu, 99, 1, 10);
        const GeneratorState fresh = stateOf(TorchCpu, 99, 0, 624);
        // One block of 624 words lies between, and 10 words of it were drawn.
        QCOMPARE(relationOf(drawn, fresh, Limit),
                 std::string("B is 10 draws behind; B is as seeded, never drawn"));
        QCOMPARE(relationOf(fresh, drawn, Limit),
                 std::string("B is 10 draws ahead; A is as seeded, never drawn"));
        QCOMPARE(relationOf(drawn, stateOf(TorchCpu, 5, 1, 10), Limit),
                 std::string("seed 99 against 5"));
        GeneratorState far = stateOf(Numpy, 99, 300, 7);
        far.seed.reset();
        QCOMPARE(relationOf(stateOf(Numpy, 99, 1, 7), far, Limit),
                 std::string("other streams, or more than 62,400 draws apart"));
        GeneratorState kept = drawn;
        kept.keptNormal = true;
        QCOMPARE(relationOf(drawn, kept, Limit), std::string("a normal variate is kept in B only"));
    }

    void readsPhilox()
    {
        std::vector<std::byte> bytes(16);
        bytes[0] = std::byte(9);
        const auto fresh = decodePhilox(bytes);
        bytes[9] = std::byte(16);
        const auto drawn = decodePhilox(bytes);
        QCOMPARE(drawn->toString(), std::string("seed 9, offset 4096"));
        QCOMPARE(relationOf(*drawn, *fresh, Limit),
                 std::string("B's offset is 4,096 behind; B is as seeded, never drawn"));
        bytes[8] = std::byte(4);
        QCOMPARE(relationOf(*drawn, *decodePhilox(bytes), Limit),
                 std::string("B's offset is 4 ahead"));
        bytes[0] = std::byte(8);
        QCOMPARE(relationOf(*drawn, *decodePhilox(bytes), Limit), std::string("seed 9 against 8"));
        QVERIFY(!decodePhilox(ByteView(bytes).first(15)));
    }
};

QTEST_APPLESS_MAIN(GeneratorStateTest)
#include "tst_generator_state.moc"
