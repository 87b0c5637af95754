// SPDX-License-Identifier: GPL-3.0-or-later
// Fingerprint files that are cut, bent or made to harm. What a sound one holds is compared with an
// independent reading in tests/app/fpx_oracle.py.
#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_run.h"
#include "loaders/storage/zstd_source.h"
#include "model/folded_numbers.h"

#include <QTest>

#include <algorithm>

using namespace forkpoint;

namespace {

using Bytes = std::vector<std::byte>;

std::shared_ptr<const ByteSource> memory(Bytes bytes)
{
    return std::make_shared<MemorySource>("a.fpx", std::move(bytes));
}

void put(Bytes &bytes, std::size_t at, std::uint64_t value, std::size_t width)
{
    for (std::size_t i = 0; i < width; ++i)
        bytes[at + i] = std::byte(value >> (8 * i));
}

TensorRef tensor(std::string name, Index elements)
{
    TensorRef tensor;
    tensor.path = {{Key::of("model"), Key::at(3), Key::printed("(2, 'x')"), Key::of(name)}};
    tensor.name = std::move(name);
    tensor.dtype = *dtypeByName("float32");
    tensor.shape = {{elements}};
    tensor.elements = elements;
    tensor.bytes = 4 * elements;
    tensor.files = {"part.safetensors"};
    tensor.note = "a note";
    return tensor;
}

/// Something of everything.
FpxDocument document()
{
    FpxCheckpoint checkpoint;
    checkpoint.step = {Step(8), "step_8.pt", true, {}};
    Catalog &catalog = checkpoint.catalog;
    catalog.format = "torch";
    catalog.owners = {OwnerCoordinate{{{"rank", 3}}}};
    catalog.tensors = {tensor("a", 40000), tensor("b", 2), tensor("c", 2)};
    catalog.tensors[1].owner = 0;
    catalog.tensors[2].unreadable = Error{ErrorCode::Truncated, "f", "byte 8", "ends there"};
    checkpoint.digests.resize(3);
    checkpoint.digests[0] =
        RecordedDigests{{1, 2}, 0, {{3, 4}, {5, 6}, {7, 8}}, RecordedFacts{39998, 1, 1, 0.5}};
    checkpoint.digests[1] = RecordedDigests{{9, 10}, 0, {}, {}};
    const auto value = [&](std::string name, Value data) {
        catalog.values.push_back(
            {{{Key::of(name)}}, name, StateClass::Recipe, std::move(data), "f"});
    };
    value("a", Value::none());
    value("b", Value::boolean(true));
    value("c", Value::integer(-7));
    value("d", Value::unsignedInteger(~std::uint64_t(0)));
    value("e", Value::bigInteger("123456789012345678901234567890"));
    value("f", Value::real(-0.0));
    value("g", Value::text("tau \xcf\x84"));
    value("h", Value::empty("[]"));
    value("i", {ValueType::Numbers, FoldedNumbers{"float", "of integers"}.toData(), 65, "abc"});
    catalog.diagnostics = {{Severity::Warning, "odd", "f", "byte 1", "something"}};
    FpxDocument document;
    document.format = "series of torch";
    document.checkpoints = {checkpoint, checkpoint};
    document.checkpoints[1].step.step = Step(12);
    return document;
}

/// The same with its body stored and its checksum made anew: what damage a reader itself must see.
Bytes sealed(const Bytes &body)
{
    Bytes file(FpxHeaderBytes);
    const ByteView magic = asBytes(FpxMagic);
    std::copy(magic.begin(), magic.end(), file.begin());
    put(file, 8, FpxVersion, 4);
    put(file, 12, FpxStored, 4);
    put(file, 16, body.size(), 8);
    put(file, 24, body.size(), 8);
    const auto checksum = fpxChecksum(ByteView(file).first(32), body);
    std::copy(checksum.begin(), checksum.end(), file.begin() + 32);
    file.insert(file.end(), body.begin(), body.end());
    return file;
}

Bytes bodyOf(const Bytes &file)
{
    const Bytes stored(file.begin() + FpxHeaderBytes, file.end());
    if (file[12] == std::byte(FpxStored))
        return stored;
    const auto source = openZstd(memory(stored), 1u << 20, "a.fpx");
    return *readAll(**source, 0, (*source)->size(), 1u << 20);
}

ErrorCode refusal(Bytes file)
{
    const auto decoded = decodeFpx(memory(std::move(file)));
    return decoded.ok() ? ErrorCode::Usage : decoded.error().code;
}

} // namespace

class TestFpx : public QObject
{
    Q_OBJECT

private slots:
    /// Each tensor names a file by four bytes that stand for a megabyte.
    void namesAreNotRepeatedWithoutEnd()
    {
        constexpr std::string_view Short = "short name";
        for (const int tensors : {40, 100}) {
            FpxCheckpoint checkpoint;
            for (int i = 0; i < tensors; ++i) {
                checkpoint.catalog.tensors.push_back(tensor("t" + std::to_string(1000 + i), 2));
                checkpoint.catalog.tensors.back().files = {std::string(Short)};
                checkpoint.digests.push_back(RecordedDigests{{9, 10}, 0, {}, {}});
            }
            FpxDocument hostile;
            hostile.checkpoints = {checkpoint};
            Bytes body = bodyOf(encodeFpx(hostile));
            const ByteView name = asBytes(Short);
            const auto at = std::search(body.begin(), body.end(), name.begin(), name.end());
            constexpr std::size_t Long = 1u << 20;
            put(body, std::size_t(at - body.begin()) - 4, Short.size() + Long, 4);
            body.insert(at, Long, std::byte('f'));
            const auto decoded = decodeFpx(memory(sealed(body)));
            QCOMPARE(decoded.ok(), tensors == 40);
            if (decoded.ok())
                continue;
            QVERIFY(decoded.error().code == ErrorCode::Limit);
            QVERIFY(decoded.error().place.ends_with("of the body"));
            // 64 MiB and 16 bytes for each of the body.
            const std::size_t most = (64u << 20) + 16 * body.size();
            QCOMPARE(decoded.error().text,
                     "names of files may have at most " + std::to_string(most)
                         + " bytes, as often as items repeat them");
        }
    }

    void comesBackAsItWas()
    {
        const FpxDocument expected = document();
        const auto decoded = decodeFpx(memory(encodeFpx(expected)));
        QVERIFY(decoded.ok());
        QCOMPARE(decoded->format, expected.format);
        QCOMPARE(decoded->checkpoints.size(), std::size_t(2));
        const FpxCheckpoint &got = decoded->checkpoints[1];
        const FpxCheckpoint &wanted = expected.checkpoints[1];
        QCOMPARE(*got.step.step, Step(12));
        QVERIFY(got.catalog.owners == wanted.catalog.owners);
        QVERIFY(got.catalog.diagnostics == wanted.catalog.diagnostics);
        QCOMPARE(got.catalog.tensors.size(), std::size_t(3));
        for (std::size_t i = 0; i < 3; ++i) {
            const TensorRef &a = got.catalog.tensors[i], &b = wanted.catalog.tensors[i];
            QVERIFY(a.path == b.path && a.name == b.name && a.dtype == b.dtype);
            QVERIFY(a.shape == b.shape && a.bytes == b.bytes && a.elements == b.elements);
            QVERIFY(a.files == b.files && a.note == b.note && a.owner == b.owner);
            QCOMPARE(got.digests[i].has_value(), wanted.digests[i].has_value());
            if (!got.digests[i])
                continue;
            QVERIFY(got.digests[i]->content == wanted.digests[i]->content);
            QVERIFY(got.digests[i]->nodes == wanted.digests[i]->nodes);
            QVERIFY(got.digests[i]->facts == wanted.digests[i]->facts);
        }
        QCOMPARE(got.catalog.tensors[2].unreadable->message(),
                 wanted.catalog.tensors[2].unreadable->message());
        QCOMPARE(got.catalog.values.size(), wanted.catalog.values.size());
        for (std::size_t i = 0; i < wanted.catalog.values.size(); ++i) {
            QVERIFY(got.catalog.values[i].path == wanted.catalog.values[i].path);
            QVERIFY(got.catalog.values[i].value.identicalTo(wanted.catalog.values[i].value));
        }
    }

    void everyCutIsRefused()
    {
        const Bytes file = encodeFpx(document());
        for (std::size_t size = 0; size < file.size(); ++size)
            QVERIFY(!decodeFpx(memory({file.begin(), file.begin() + std::ptrdiff_t(size)})).ok());
        Bytes longer = file;
        longer.push_back(std::byte(0));
        QVERIFY(refusal(longer) == ErrorCode::Truncated);
    }

    /// Of a stored body: a zstd frame has bits that mean nothing.
    void everyBentByteIsRefused()
    {
        const Bytes file = sealed(bodyOf(encodeFpx(document())));
        for (std::size_t at = 0; at < file.size(); ++at) {
            Bytes bent = file;
            bent[at] ^= std::byte(0x10);
            QVERIFY2(!decodeFpx(memory(bent)).ok(), qPrintable(QString::number(at)));
        }
    }

    /// With the checksum made anew: either refused, or something that can be walked.
    void everySealedBendIsSafe()
    {
        const Bytes body = bodyOf(encodeFpx(document()));
        for (std::size_t at = 0; at < body.size(); ++at) {
            for (const int bit : {0x01, 0x80, 0xff}) {
                Bytes bent = body;
                bent[at] ^= std::byte(bit);
                const auto run = openFpx(memory(sealed(bent)), "a.fpx");
                for (std::size_t i = 0; run.ok() && i < (*run)->steps().size(); ++i) {
                    const auto source = (*run)->open(i, {});
                    QVERIFY(source.ok());
                    const std::size_t tensors = (*source)->catalog().tensors.size();
                    for (TensorIndex t = 0; t < tensors; ++t)
                        QVERIFY((*source)->recorded(t)
                                || (*source)->catalog().tensors[t].unreadable);
                }
            }
        }
        for (std::size_t size = 0; size < body.size(); ++size)
            QVERIFY(!decodeFpx(memory(sealed({body.begin(), body.begin() + std::ptrdiff_t(size)})))
                         .ok());
    }

    void refusals()
    {
        const Bytes body = bodyOf(encodeFpx(document()));
        Bytes file = sealed(body);
        for (const std::uint32_t version : {FpxVersion - 1, FpxVersion + 1}) {
            put(file, 8, version, 4);
            QVERIFY(refusal(file) == ErrorCode::Unsupported);
        }
        file = sealed(body);
        put(file, 12, 2, 4);
        QVERIFY(refusal(file) == ErrorCode::Unsupported); // another compression
        file = sealed(body);
        put(file, 24, std::uint64_t(1) << 40, 8);
        QVERIFY(refusal(file) == ErrorCode::Malformed); // stored bytes are as long as the body
        put(file, 12, FpxZstd, 4);
        QVERIFY(refusal(file) == ErrorCode::Limit); // a bomb is not even begun
        file = sealed(body);
        file[40] ^= std::byte(1);
        QVERIFY(refusal(file) == ErrorCode::Mismatch); // the checksum
        Bytes other = body;
        put(other, 0, 7, 4);
        QVERIFY(refusal(sealed(other)) == ErrorCode::Unsupported); // other fingerprints

        FpxDocument bent = document();
        bent.checkpoints[0].digests[0]->nodes.pop_back();
        QVERIFY(refusal(encodeFpx(bent)) == ErrorCode::Malformed);
        bent = document();
        std::swap(bent.checkpoints[0].catalog.tensors[0], bent.checkpoints[0].catalog.tensors[1]);
        std::swap(bent.checkpoints[0].digests[0], bent.checkpoints[0].digests[1]);
        QVERIFY(refusal(encodeFpx(bent)) == ErrorCode::Malformed); // names fall
        bent = document();
        bent.checkpoints[1].step.step = Step(8);
        QVERIFY(refusal(encodeFpx(bent)) == ErrorCode::Malformed); // steps do not rise
        bent = document();
        bent.checkpoints[0].catalog.tensors[1].owner = 1;
        QVERIFY(refusal(encodeFpx(bent)) == ErrorCode::Malformed); // of nobody
        bent = document();
        bent.checkpoints[0].catalog.tensors[0].shape = {{~Index(0), 3}};
        QVERIFY(refusal(encodeFpx(bent)) == ErrorCode::Malformed); // beyond 64 bits
    }

    void withoutZstdItIsSaidInWords()
    {
        if (whyNoZstd().empty())
            QSKIP("this build has zstd");
        Bytes file = sealed(bodyOf(encodeFpx(document())));
        put(file, 12, FpxZstd, 4);
        QVERIFY(refusal(file) == ErrorCode::Unsupported);
    }

    void elementsAreRefused()
    {
        const auto run = openFpx(memory(encodeFpx(document())), "a.fpx");
        QVERIFY(run.ok());
        QCOMPARE((*run)->format(), std::string("fpx of series of torch"));
        QVERIFY((*run)->isSeries());
        const auto source = *(*run)->open(0, {});
        Bytes out(4);
        const Status status = source->read(0, 0, out);
        QVERIFY(!status.ok());
        QVERIFY(status.error().code == ErrorCode::Unsupported);
    }
};

QTEST_APPLESS_MAIN(TestFpx)
#include "tst_fpx.moc"
