// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint {

/// The modules around a call, told by entries that come before what is inside, one level deeper.
class ModuleStack
{
public:
    void enter(std::uint64_t depth, std::string module)
    {
        leave(depth);
        constexpr std::size_t Most = 1000;
        if (m_open.size() < Most)
            m_open.emplace_back(depth, std::move(module));
    }

    /// The innermost module of a call at that depth; empty outside of all.
    std::string around(std::uint64_t depth)
    {
        leave(depth);
        return m_open.empty() ? std::string() : m_open.back().second;
    }

private:
    void leave(std::uint64_t depth)
    {
        while (!m_open.empty() && m_open.back().first >= depth)
            m_open.pop_back();
    }

    std::vector<std::pair<std::uint64_t, std::string>> m_open;
};

} // namespace forkpoint
