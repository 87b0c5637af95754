// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run.h"
#include "model/traces/record_window.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What was looked at: a page of the lists, and what was selected there.
struct Place
{
    std::optional<Step> step; ///< of lists of a checkpoint
    std::string tensor;       ///< logical name; empty for none
    TensorList::Page list = TensorList::Page::Tensors;
    TensorDetail::Page detail = TensorDetail::Page::Elements;
    std::optional<RecordQuery> record = {}; ///< on the page of records
    QString metric = {};                    ///< as it is displayed, on that of metrics

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
