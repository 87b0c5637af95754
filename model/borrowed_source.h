// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <memory>

namespace forkpoint {

/// A source that somebody else keeps alive, for calls that want to share one.
inline std::shared_ptr<const TensorSource> borrowed(const TensorSource &source)
{
    return {std::shared_ptr<const TensorSource>(), &source};
}

} // namespace forkpoint
