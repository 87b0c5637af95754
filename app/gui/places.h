// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What was looked at: a tensor at a step.
struct Place
{
    std::optional<Step> step;
    std::string tensor; ///< logical name; empty for none

    bool operator==(const Place &) const = default;
};

/// The way that was gone, for back and forward. Going somewhere else forgets what lay ahead.
class Places
{
public:
    static constexpr std::size_t Most = 200;

    void visit(const Place &place);
    void clear();
    bool canGoBack() const { return m_at > 0; }
    bool canGoForward() const { return m_at + 1 < m_places.size(); }
    const Place &back();    ///< only if canGoBack()
    const Place &forward(); ///< only if canGoForward()

private:
    std::vector<Place> m_places;
    std::size_t m_at = 0;
};

} // namespace forkpoint
