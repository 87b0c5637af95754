// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// What a search for other layouts may cost, whatever the names and bytes are, and what it left out
/// for that reason.
class LayoutSearch
{
public:
    /// At most so many bytes are read.
    LayoutSearch(std::uint64_t bytes, std::stop_token stop)
        : m_bytes(bytes),
          m_stop(std::move(stop))
    {
    }

    /// All of a tensor; nothing where it is too large, cannot be read or the search has ended.
    std::optional<std::vector<std::byte>> read(const TensorSource &source, TensorIndex tensor);
    /// Work of about as many bytes that are looked at. False where the search has ended.
    bool spend(std::uint64_t work);
    bool isStopped() const { return m_stop.stop_requested(); }

    void leaveOut(const std::string &tensor) { m_leftOut.push_back(tensor); }
    const std::vector<std::string> &leftOut() const { return m_leftOut; }

private:
    /// Some seconds: each byte that may be read is looked at a few times.
    static constexpr std::uint64_t Work = std::uint64_t(8) << 30;

    std::uint64_t m_bytes;
    std::uint64_t m_work = Work;
    std::stop_token m_stop;
    std::vector<std::string> m_leftOut;
};

} // namespace forkpoint
