// SPDX-License-Identifier: GPL-3.0-or-later
// Random layouts against a naive model that computes each byte of the logical stream by itself.
#include "loaders/elements/extent_reader.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace forkpoint;

namespace {

using Files = std::vector<std::shared_ptr<const ByteSource>>;

/// Counts reads and remembers the largest.
class CountingSource final : public ByteSource
{
public:
    explicit CountingSource(std::vector<std::byte> bytes) : m_bytes(std::move(bytes)) {}
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_bytes.size(); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        ++reads;
        largest = std::max(largest, out.size());
        total += out.size();
        if (offset > m_bytes.size() || out.size() > m_bytes.size() - offset)
            return Error{ErrorCode::Truncated, m_name, {}, "outside"};
        std::copy_n(m_bytes.begin() + std::ptrdiff_t(offset), out.size(), out.begin());
        return {};
    }
    const std::vector<std::byte> &bytes() const { return m_bytes; }
    mutable std::size_t reads = 0;
    mutable std::size_t largest = 0;
    mutable std::size_t total = 0;

private:
    std::vector<std::byte> m_bytes;
    std::string m_name = "counted";
};

std::mt19937_64 random64(20261129);

std::uint64_t upTo(std::uint64_t most)
{
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random64);
}

std::vector<std::byte> randomBytes(std::size_t count)
{
    std::vector<std::byte> bytes(count);
    for (std::byte &byte : bytes)
        byte = std::byte(random64() & 0xff);
    return bytes;
}

DType typeNamed(const char *name)
{
    return dtypeByName(name).value();
}

/// What one stored element means, written without the code under test.
std::vector<std::byte> resolved(const TensorRef &tensor, std::vector<std::byte> element, bool big)
{
    const bool complex = tensor.dtype.kind == ElementKind::Complex;
    const std::size_t part = element.size() / (complex ? 2 : 1);
    if (big && tensor.dtype.kind != ElementKind::Opaque) {
        for (std::size_t begin = 0; begin < element.size(); begin += part)
            std::reverse(element.begin() + std::ptrdiff_t(begin),
                         element.begin() + std::ptrdiff_t(begin + part));
    }
    if (tensor.negate && tensor.dtype.isFloating()) {
        for (std::size_t begin = 0; begin < element.size(); begin += part)
            element[begin + part - 1] ^= std::byte(0x80);
    }
    if (tensor.negate
        && (tensor.dtype.kind == ElementKind::SignedInt
            || tensor.dtype.kind == ElementKind::UnsignedInt)) {
        std::uint64_t value = 0;
        std::memcpy(&value, element.data(), element.size());
        value = std::uint64_t(0) - value;
        std::memcpy(element.data(), &value, element.size());
    }
    if (tensor.conjugate && complex)
        element.back() ^= std::byte(0x80);
    return element;
}

/// The whole logical stream, element by element.
std::vector<std::byte> model(const TensorRef &tensor, const Files &files)
{
    const std::size_t width = tensor.dtype.positionBits() / 8;
    const Index count = tensor.shape.count().value();
    std::vector<std::byte> stream(count * width);
    for (Index i = 0; i < count; ++i) {
        const std::vector<Index> at = coordinatesOf(i, tensor.shape);
        for (const Extent &extent : tensor.extents) {
            std::vector<std::byte> element;
            if (extent.fills == Extent::Fills::FlatRange) {
                if (i < extent.flatBegin || i >= extent.flatBegin + extent.flatCount)
                    continue;
                element.resize(width);
                (void)files[extent.file]
                    ->read(extent.offset + (i - extent.flatBegin) * width, element)
                    .ok();
            } else {
                std::int64_t place = std::int64_t(extent.firstElement);
                bool inside = true;
                for (std::size_t d = 0; d < at.size(); ++d) {
                    inside = inside && at[d] >= extent.box.origin[d]
                        && at[d] < extent.box.origin[d] + extent.box.size[d];
                    if (inside && !extent.strides.empty())
                        place += std::int64_t(at[d] - extent.box.origin[d]) * extent.strides[d];
                }
                if (!inside)
                    continue;
                element = extent.fill;
                if (extent.fills == Extent::Fills::Box) {
                    element.resize(width);
                    (void)files[extent.file]
                        ->read(extent.offset + std::uint64_t(place) * width, element)
                        .ok();
                }
            }
            element = resolved(tensor, element, extent.order == ByteOrder::Big);
            std::copy(element.begin(), element.end(), stream.begin() + std::ptrdiff_t(i * width));
        }
    }
    return stream;
}

/// A storage of random bytes behind a few others, long enough for the strides of the extent.
void addStorage(Extent &extent, std::size_t width, Files &files)
{
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    for (std::size_t d = 0; d < extent.strides.size(); ++d) {
        const std::int64_t reach = std::int64_t(extent.box.size[d] - 1) * extent.strides[d];
        (reach < 0 ? lowest : highest) += reach;
    }
    const std::uint64_t spare = upTo(3);
    extent.firstElement = std::uint64_t(-lowest) + spare;
    extent.offset = upTo(20);
    extent.length = (std::uint64_t(highest - lowest) + 1 + spare + upTo(2)) * width;
    extent.file = FileIndex(files.size());
    files.push_back(
        std::make_shared<CountingSource>(randomBytes(extent.offset + extent.length + upTo(5))));
}

/// Strides of a random permutation, padded, repeated, overlapping or backward.
std::vector<std::int64_t> randomStrides(const std::vector<Index> &size)
{
    std::vector<std::size_t> order(size.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    if (upTo(2) > 0)
        std::shuffle(order.begin(), order.end(), random64);
    else
        std::reverse(order.begin(), order.end());
    std::vector<std::int64_t> strides(size.size());
    std::int64_t step = upTo(4) == 0 ? 3 : 1;
    for (const std::size_t d : order) {
        strides[d] = step;
        step *= std::int64_t(size[d] + (upTo(4) == 0 ? 2 : 0));
        if (upTo(7) == 0)
            strides[d] = 0;
        else if (upTo(7) == 0)
            strides[d] = 1;
        else if (upTo(9) == 0)
            strides[d] = -strides[d];
    }
    return strides;
}

Extent boxExtent(std::vector<Index> origin, std::vector<Index> size)
{
    Extent extent;
    extent.box = {std::move(origin), std::move(size)};
    return extent;
}

/// Splits a box along random dimensions into a few.
std::vector<Box> split(const Box &whole)
{
    std::vector<Box> boxes = {whole};
    for (std::uint64_t cuts = upTo(4); cuts > 0 && !whole.size.empty(); --cuts) {
        const std::size_t which = upTo(boxes.size() - 1);
        const std::size_t dim = upTo(whole.size.size() - 1);
        if (boxes[which].size[dim] < 2)
            continue;
        Box second = boxes[which];
        const Index at = 1 + upTo(second.size[dim] - 2);
        boxes[which].size[dim] = at;
        second.origin[dim] += at;
        second.size[dim] -= at;
        boxes.push_back(second);
    }
    return boxes;
}

TensorRef randomTensor(Files &files)
{
    static const char *const names[] = {"uint8",      "int16",     "bfloat16", "float32",
                                        "float64",    "complex64", "bool",     "int64",
                                        "complex128", "complex32", "int8",     "float4_e2m1fn_x2"};
    TensorRef tensor;
    const std::uint64_t choice = upTo(std::size(names) + 1);
    if (choice < std::size(names))
        tensor.dtype = typeNamed(names[choice]);
    else
        tensor.dtype = namedOpaqueDType("structured", choice % 2 == 0 ? 19 : 3);
    const std::size_t width = tensor.dtype.positionBits() / 8;
    for (std::uint64_t rank = upTo(4); rank > 0; --rank)
        tensor.shape.dims.push_back(1 + upTo(6));
    tensor.negate = tensor.dtype.packing == 1 && upTo(3) == 0;
    tensor.conjugate = upTo(3) == 0;
    const Index count = tensor.shape.count().value();
    if (upTo(4) == 0) {
        const Index middle = upTo(count);
        for (const auto &[from, to] : {std::pair<Index, Index>(0, middle), {middle, count}}) {
            Extent extent;
            extent.fills = Extent::Fills::FlatRange;
            extent.flatBegin = from;
            extent.flatCount = to - from;
            addStorage(extent, (to - from) * width, files);
            extent.firstElement = 0;
            tensor.extents.push_back(extent);
        }
        return tensor;
    }
    const Box whole{std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims};
    for (const Box &box : split(whole)) {
        Extent extent = boxExtent(box.origin, box.size);
        if (upTo(6) == 0) {
            extent.fills = Extent::Fills::FillValue;
            extent.fill = randomBytes(width);
        } else {
            extent.strides =
                upTo(3) == 0 ? Shape{box.size}.rowMajorStrides() : randomStrides(box.size);
            extent.order = upTo(2) == 0 ? ByteOrder::Big : ByteOrder::Little;
            addStorage(extent, width, files);
        }
        tensor.extents.push_back(extent);
    }
    return tensor;
}

TensorRef plainTensor(const char *dtype, std::vector<Index> dims, std::vector<std::int64_t> strides,
                      std::uint64_t bytes)
{
    TensorRef tensor;
    tensor.dtype = typeNamed(dtype);
    tensor.shape.dims = std::move(dims);
    Extent extent = boxExtent(std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims);
    extent.strides = std::move(strides);
    extent.length = bytes;
    tensor.extents = {extent};
    return tensor;
}

QString problemOf(const TensorRef &tensor, std::uint64_t fileBytes)
{
    const Files files = {std::make_shared<CountingSource>(std::vector<std::byte>(fileBytes))};
    const Status status = validateExtents(tensor, files);
    return status.ok() ? QString() : QString::fromStdString(status.error().message());
}

} // namespace

class TestExtentReader : public QObject
{
    Q_OBJECT

private slots:
    void randomLayoutsReadAsTheModelSays()
    {
        std::size_t windows = 0;
        for (int round = 0; round < 3000; ++round) {
            Files files;
            const TensorRef tensor = randomTensor(files);
            const Status valid = validateExtents(tensor, files);
            QVERIFY2(valid.ok(), valid.ok() ? "" : valid.error().message().c_str());
            const std::vector<std::byte> expected = model(tensor, files);
            for (int i = 0; i < 6; ++i) {
                const std::uint64_t first = i == 0 ? 0 : upTo(expected.size());
                const std::uint64_t size = i == 0 ? expected.size() : upTo(expected.size() - first);
                std::vector<std::byte> got(size, std::byte(0xA5));
                QVERIFY(readExtents(tensor, files, first, got).ok());
                QVERIFY2(
                    std::equal(got.begin(), got.end(), expected.begin() + std::ptrdiff_t(first)),
                    qPrintable(QString("round %1, window %2+%3 of %4")
                                   .arg(round)
                                   .arg(first)
                                   .arg(size)
                                   .arg(expected.size())));
                ++windows;
            }
        }
        QCOMPARE(windows, std::size_t(18000));
    }

    void contiguousWindowsAreOneRead()
    {
        const auto source = std::make_shared<CountingSource>(randomBytes(40000));
        const TensorRef tensor = plainTensor("float32", {100, 100}, {100, 1}, 40000);
        std::vector<std::byte> out(12345);
        QVERIFY(readExtents(tensor, Files{source}, 4, out).ok());
        // One for the whole elements, one for the element that the window cuts.
        QCOMPARE(source->reads, std::size_t(2));
        QVERIFY(std::equal(out.begin(), out.end(), source->bytes().begin() + 4));
    }

    void transposingDoesNotReadElementByElement()
    {
        const Index n = 1024;
        const auto source = std::make_shared<CountingSource>(randomBytes(n * n * 4));
        const TensorRef tensor = plainTensor("float32", {n, n}, {1, std::int64_t(n)}, n * n * 4);
        std::vector<std::byte> out(n * n * 4);
        QVERIFY(readExtents(tensor, Files{source}, 0, out).ok());
        QVERIFY2(source->reads <= 16, qPrintable(QString::number(source->reads)));
        QVERIFY(source->largest <= (std::size_t(1) << 20));
        for (const auto &[row, column] : {std::pair<Index, Index>(0, 1), {1023, 5}, {77, 1000}}) {
            QVERIFY(std::equal(out.begin() + std::ptrdiff_t((row * n + column) * 4),
                               out.begin() + std::ptrdiff_t((row * n + column + 1) * 4),
                               source->bytes().begin() + std::ptrdiff_t((column * n + row) * 4)));
        }
    }

    void widelySpacedRunsAreNotReadAlong()
    {
        // One column of 16 elements whose rows are 1 MiB apart: 16 small reads, not 16 MiB.
        const auto source = std::make_shared<CountingSource>(randomBytes((15u << 20) + 4));
        const TensorRef tensor =
            plainTensor("float32", {16}, {std::int64_t(1) << 18}, (15u << 20) + 4);
        std::vector<std::byte> out(64);
        QVERIFY(readExtents(tensor, Files{source}, 0, out).ok());
        QCOMPARE(source->reads, std::size_t(16));
        QCOMPARE(source->total, std::size_t(64));
    }

    void expandedViewsCostWhatTheWindowCosts()
    {
        const auto source = std::make_shared<CountingSource>(randomBytes(4));
        const TensorRef tensor =
            plainTensor("float32", {Index(1) << 20, 1 << 10}, {0, 0}, 4); // 4 GiB of 4 bytes
        std::vector<std::byte> out(1 << 20);
        QVERIFY(readExtents(tensor, Files{source}, (std::uint64_t(1) << 31) + 2, out).ok());
        QVERIFY2(source->total < 4096, qPrintable(QString::number(source->total)));
        QCOMPARE(out[0], source->bytes()[2]);
        QCOMPARE(out.back(), source->bytes()[1]);
    }

    void packedElementsAreReadAsBytes()
    {
        const auto source = std::make_shared<CountingSource>(randomBytes(24));
        TensorRef tensor = plainTensor("float6_e2m3", {2, 16}, {16, 1}, 24);
        QVERIFY(validateExtents(tensor, Files{source}).ok());
        std::vector<std::byte> out(7);
        QVERIFY(readExtents(tensor, Files{source}, 5, out).ok());
        QVERIFY(std::equal(out.begin(), out.end(), source->bytes().begin() + 5));
        tensor.extents[0].strides = {1, 2};
        QVERIFY(problemOf(tensor, 24).contains("must be contiguous"));
        QVERIFY(problemOf(plainTensor("float6_e2m3", {3}, {1}, 3), 24).contains("no whole number"));
    }

    void readsOutsideTheTensorAreRefused()
    {
        const Files files = {std::make_shared<CountingSource>(randomBytes(8))};
        const TensorRef tensor = plainTensor("float32", {2}, {1}, 8);
        std::vector<std::byte> out(5);
        QVERIFY(readExtents(tensor, files, 4, out).error().code == ErrorCode::Usage);
        QVERIFY(readExtents(tensor, files, ~std::uint64_t(0), out).error().code
                == ErrorCode::Usage);
        QVERIFY(readExtents(tensor, files, 8, {}).ok());
    }

    void validationFindsEveryLie_data()
    {
        QTest::addColumn<QString>("words");
        for (const char *words :
             {"needs 9 bytes from here", "reaches element 4 of a storage of 4", "strides lead out",
              "negative", "rank", "number of strides", "leaves the shape", "overlap",
              "stored nowhere", "dimensions", "more elements than 64 bits", "another width",
              "at most 68719476736 bytes", "longer than its bytes", "a file", "flat range leaves",
              "gap", "flat overlap"})
            QTest::newRow(words) << QString(words);
    }

    void validationFindsEveryLie()
    {
        QFETCH(const QString, words);
        TensorRef tensor = plainTensor("uint8", {4}, {1}, 4);
        Extent &extent = tensor.extents[0];
        QString expected = words;
        constexpr std::int64_t Most = std::numeric_limits<std::int64_t>::max();
        const auto flat = [](Index begin, Index count, std::uint64_t length) {
            Extent result;
            result.fills = Extent::Fills::FlatRange;
            result.flatBegin = begin;
            result.flatCount = count;
            result.length = length;
            return result;
        };
        if (words.startsWith("needs")) {
            extent.length = 9;
        } else if (words.startsWith("reaches")) {
            extent.firstElement = 1;
        } else if (words == "strides lead out") {
            tensor = plainTensor("uint8", {4, 4}, {Most, Most}, 4);
        } else if (words == "negative") {
            extent.strides = {-1};
            expected = "strides lead out";
        } else if (words == "rank") {
            extent.box.size = {2, 2};
        } else if (words == "number of strides") {
            extent.strides.clear();
        } else if (words == "leaves the shape") {
            extent.box.origin = {~Index(0)};
        } else if (words == "overlap") {
            extent.box.size = {3};
            tensor.extents.push_back(extent);
        } else if (words == "stored nowhere") {
            extent.box.size = {3};
        } else if (words == "dimensions") {
            tensor = plainTensor("uint8", std::vector<Index>(65, 1),
                                 std::vector<std::int64_t>(65, 1), 4);
        } else if (words.startsWith("more elements")) {
            tensor = plainTensor("uint8", {Index(1) << 33, Index(1) << 33}, {0, 0}, 4);
        } else if (words == "another width") {
            extent.fills = Extent::Fills::FillValue;
            extent.fill.resize(2);
        } else if (words.startsWith("at most")) {
            tensor = plainTensor("uint8", {Index(1) << 37}, {0}, 4);
        } else if (words.startsWith("longer")) {
            tensor.extents = {flat(0, 4, 3)};
        } else if (words == "a file") {
            extent.file = 1;
            expected = "names a file that is not there";
        } else if (words == "flat range leaves") {
            tensor.extents = {flat(2, ~Index(0), 4)};
            expected = "a range of elements leaves the shape";
        } else if (words == "gap") {
            tensor.extents = {flat(0, 1, 1), flat(2, 2, 2)};
            expected = "element 1 is stored nowhere";
        } else {
            tensor.extents = {flat(0, 3, 3), flat(2, 2, 2)};
            expected = "overlap";
        }
        const QString problem = problemOf(tensor, 8);
        QVERIFY2(problem.contains(expected), qPrintable("'" + problem + "'"));
    }

    void overlapsAreFoundInAnyDimension()
    {
        // A grid of boxes is sound; one of them moved by one is not, although sizes still add up.
        TensorRef tensor = plainTensor("uint8", {6, 6}, {6, 1}, 36);
        tensor.extents.clear();
        for (Index row = 0; row < 6; row += 2) {
            for (Index column = 0; column < 6; column += 2) {
                Extent extent = boxExtent({row, column}, {2, 2});
                extent.strides = {2, 1};
                extent.length = 4;
                tensor.extents.push_back(extent);
            }
        }
        QVERIFY(problemOf(tensor, 36).isEmpty());
        tensor.extents[4].box.origin = {2, 3};
        QVERIFY(problemOf(tensor, 36).contains("overlap"));
        tensor.extents[4].box.origin = {3, 2};
        QVERIFY(problemOf(tensor, 36).contains("overlap"));
    }

    void emptyTensorsNeedNothing()
    {
        TensorRef tensor =
            plainTensor("float32", {0, Index(1) << 62, Index(1) << 62}, {0, 0, 0}, 0);
        QVERIFY(problemOf(tensor, 0).isEmpty());
        tensor.extents.clear();
        QVERIFY(problemOf(tensor, 0).isEmpty());
    }
};

QTEST_APPLESS_MAIN(TestExtentReader)
#include "tst_extent_reader.moc"
