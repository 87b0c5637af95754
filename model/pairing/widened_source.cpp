// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/widened_source.h"

#include "model/compare/compare_rows.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Opaque bytes read as a type of the same width.
bool isRelabelled(const DType &own, const DType &as)
{
    return own.kind == ElementKind::Opaque && own.bits == as.bits;
}

/// One tensor of a source, as another type.
class WidenedSource final : public TensorSource
{
public:
    WidenedSource(std::shared_ptr<const TensorSource> source, TensorIndex tensor, const DType &as)
        : m_source(std::move(source)),
          m_tensor(tensor),
          m_own(m_source->catalog().tensors[tensor].dtype),
          m_as(as)
    {
        m_catalog.format = m_source->catalog().format;
        m_catalog.files = m_source->catalog().files;
        TensorRef ref = m_source->catalog().tensors[tensor];
        ref.dtype = as;
        ref.bytes = ref.elements * (as.bits / 8);
        ref.extents.clear(); // they describe the other type's bytes
        m_catalog.tensors.push_back(std::move(ref));
    }

    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex tensor, std::uint64_t first, MutableByteView out) const override;
    Status unchanged() const override { return m_source->unchanged(); }
    Status holdersUnchanged(TensorIndex) const override
    {
        return m_source->holdersUnchanged(m_tensor);
    }

private:
    std::shared_ptr<const TensorSource> m_source;
    TensorIndex m_tensor;
    DType m_own, m_as;
    Catalog m_catalog;
};

Status WidenedSource::read(TensorIndex tensor, std::uint64_t first, MutableByteView out) const
{
    constexpr std::uint64_t ElementsAtOnce = 1 << 16;
    if (tensor != 0)
        return Error{ErrorCode::Usage, {}, {}, "there is no tensor of that number"};
    const std::uint64_t own = m_own.bits / 8, wide = m_as.bits / 8;
    std::vector<std::byte> narrow, widened;
    while (!out.empty()) {
        const std::uint64_t element = first / wide, skipped = first % wide;
        const std::uint64_t count =
            std::min(ElementsAtOnce, (skipped + out.size() + wide - 1) / wide);
        narrow.resize(count * own);
        FP_CHECK(m_source->read(m_tensor, element * own, narrow));
        if (isRelabelled(m_own, m_as))
            widened = narrow;
        else
            widenElements(m_own, m_as, narrow, widened);
        const auto taken = std::size_t(std::min<std::uint64_t>(count * wide - skipped, out.size()));
        std::copy_n(widened.begin() + std::ptrdiff_t(skipped), taken, out.begin());
        out = out.subspan(taken);
        first += taken;
    }
    return {};
}

} // namespace

TensorPairRef asOneType(TensorPairRef pair)
{
    const DType a = pair.tensorA().dtype, b = pair.tensorB().dtype;
    const std::optional<MeasuredAs> as = commonType(a, b);
    const auto wholeBytes = [](const DType &dtype) { return dtype.bits % 8 == 0; };
    if (!as || a == b || !wholeBytes(a) || !wholeBytes(b))
        return pair;
    if (as->widenA || isRelabelled(a, as->dtype)) {
        pair.sourceA = std::make_shared<const WidenedSource>(pair.sourceA, pair.a, as->dtype);
        pair.a = 0;
    }
    if (as->widenB || isRelabelled(b, as->dtype)) {
        pair.sourceB = std::make_shared<const WidenedSource>(pair.sourceB, pair.b, as->dtype);
        pair.b = 0;
    }
    return pair;
}

} // namespace forkpoint
