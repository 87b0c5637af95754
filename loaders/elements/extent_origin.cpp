// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/extent_origin.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Numbers and texts, written so that no two sequences of them look alike.
class LayoutText
{
public:
    template <class T>
    LayoutText &number(T value)
    {
        m_text += std::to_string(value);
        m_text += ' ';
        return *this;
    }
    template <class List>
    LayoutText &numbers(const List &list)
    {
        number(list.size());
        for (const auto value : list)
            number(value);
        return *this;
    }
    LayoutText &text(std::string_view text)
    {
        number(text.size());
        m_text += text;
        return *this;
    }
    std::string take() { return std::move(m_text); }

private:
    std::string m_text;
};

void describe(const Extent &extent, LayoutText &layout)
{
    layout.number(int(extent.fills)).number(extent.offset).number(extent.length);
    layout.number(int(extent.order)).numbers(extent.box.origin).numbers(extent.box.size);
    layout.numbers(extent.strides).number(extent.firstElement);
    layout.number(extent.flatBegin).number(extent.flatCount);
    layout.text({reinterpret_cast<const char *>(extent.fill.data()), extent.fill.size()});
}

} // namespace

std::optional<TensorOrigin> originOf(const TensorRef &tensor,
                                     std::span<const std::shared_ptr<const ByteSource>> files)
{
    TensorOrigin origin;
    LayoutText layout;
    layout.text(tensor.dtype.name).number(tensor.dtype.bits).number(tensor.dtype.packing);
    layout.numbers(tensor.shape.dims).number(int(tensor.conjugate)).number(int(tensor.negate));
    for (const Extent &extent : tensor.extents) {
        if (extent.fills == Extent::Fills::FillValue) {
            describe(extent, layout);
            continue;
        }
        if (extent.file >= files.size())
            return std::nullopt;
        std::optional<ByteOrigin> bytes = files[extent.file]->origin();
        if (!bytes)
            return std::nullopt;
        auto known = std::find(origin.files.begin(), origin.files.end(), bytes->file);
        const auto number = known - origin.files.begin();
        if (known == origin.files.end())
            origin.files.push_back(std::move(bytes->file));
        layout.number(number).text(bytes->derivation);
        describe(extent, layout);
    }
    if (origin.files.empty())
        return std::nullopt;
    origin.layout = layout.take();
    return origin;
}

} // namespace forkpoint
