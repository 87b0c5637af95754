// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/rank_part.h"

#include <algorithm>
#include <iterator>

namespace forkpoint {

const TensorRef *RankPart::tensor(const KeyPath &path) const
{
    const auto found = m_tensors.find(path);
    return found == m_tensors.end() ? nullptr : &tensors[found->second];
}

const Value *RankPart::value(const KeyPath &path) const
{
    const auto found = m_values.find(path);
    return found == m_values.end() ? nullptr : &values[found->second].value;
}

void RankPart::index()
{
    m_tensors.clear();
    m_values.clear();
    for (std::size_t i = 0; i < tensors.size(); ++i)
        m_tensors.emplace(tensors[i].path, i);
    for (std::size_t i = 0; i < values.size(); ++i)
        m_values.emplace(values[i].path, i);
}

Result<RankPart> loadRankPart(const DirectoryView &view, const std::string &relative,
                              const OwnerCoordinate &owner, const OpenOptions &options,
                              std::stop_token stop, CheckpointBuilder &builder)
{
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, view.prefix + relative, {}, "cancelled"};
    FP_TRY(auto file, view.open(relative));
    RankPart part;
    part.file = file->name();
    FP_TRY(auto loaded, loadFile(std::move(file), options, std::move(stop)));
    Catalog &catalog = builder.mutableCatalog();
    const auto tensors = std::ptrdiff_t(catalog.tensors.size());
    const auto values = std::ptrdiff_t(catalog.values.size());
    builder.merge(std::move(loaded.builder), {});
    std::move(catalog.tensors.begin() + tensors, catalog.tensors.end(),
              std::back_inserter(part.tensors));
    std::move(catalog.values.begin() + values, catalog.values.end(),
              std::back_inserter(part.values));
    catalog.tensors.resize(std::size_t(tensors));
    catalog.values.resize(std::size_t(values));
    const OwnerIndex index = owner.axes.empty() ? NoOwner : builder.addOwner(owner);
    for (TensorRef &tensor : part.tensors) {
        tensor.owner = index;
        for (Extent &extent : tensor.extents)
            extent.owner = index;
    }
    part.index();
    return part;
}

void tellLostPart(Error error, const std::string &file, CheckpointBuilder &builder)
{
    builder.addDiagnostic(std::move(error).inFile(file), Severity::Error);
    builder.setIncomplete();
}

bool isBelow(const KeyPath &path, const KeyPath &prefix)
{
    return path.keys.size() >= prefix.keys.size()
        && std::equal(prefix.keys.begin(), prefix.keys.end(), path.keys.begin());
}

std::optional<std::int64_t> takeNumber(std::string_view name, std::size_t &at)
{
    constexpr std::size_t MostDigits = 9;
    std::int64_t number = 0;
    const std::size_t begin = at;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
        if (at - begin == MostDigits)
            return std::nullopt;
        number = number * 10 + (name[at++] - '0');
    }
    return at == begin ? std::nullopt : std::optional(number);
}

} // namespace forkpoint
