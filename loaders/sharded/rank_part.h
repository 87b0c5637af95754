// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What one file of a checkpoint of many holds, before it is decided where that goes. Files and
/// owners are numbered as in the builder that loaded it.
struct RankPart
{
    std::string file; ///< as errors name it
    std::vector<TensorRef> tensors;
    std::vector<ValueRef> values;

    const TensorRef *tensor(const KeyPath &path) const;
    const Value *value(const KeyPath &path) const;
    void index(); ///< for the look-ups; loadRankPart() has called it

private:
    std::map<KeyPath, std::size_t> m_tensors, m_values;
};

/// Loads `relative` into `builder`, except for its tensors and values, which are given back with
/// `owner` on them.
Result<RankPart> loadRankPart(const DirectoryView &view, const std::string &relative,
                              const OwnerCoordinate &owner, const OpenOptions &options,
                              std::stop_token stop, CheckpointBuilder &builder);

/// Says why a file of a rank could not be loaded; the checkpoint is then incomplete.
void tellLostPart(Error error, const std::string &file, CheckpointBuilder &builder);

/// Whether `path` is `prefix` or lies below it.
bool isBelow(const KeyPath &path, const KeyPath &prefix);

/// Decimal digits at `at` of a name, at most nine of them; moves `at` behind them.
std::optional<std::int64_t> takeNumber(std::string_view name, std::size_t &at);

} // namespace forkpoint
