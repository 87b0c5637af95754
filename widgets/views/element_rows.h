// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/one_sided.h"
#include "widgets/view_context.h"

#include <map>
#include <vector>

namespace forkpoint {

/// The elements of the selected tensor in one order: windows of rows, asked for as they come into
/// view. Rows are numbered with 64 bits; what is on its way or could not be read is told apart.
class ElementRows : public QObject
{
    Q_OBJECT

public:
    ElementRows(ViewContext *context, QObject *parent);

    void setOrder(ElementOrder order);
    ElementOrder chosenOrder() const { return m_order; } ///< of pairs that differ
    /// Always by index where nothing differs, or one side alone has the tensor.
    ElementOrder order() const { return hasNoDifference() ? ElementOrder::ByIndex : m_order; }
    bool hasNoDifference() const { return tensor() && (m_readSide || m_differing == Index(0)); }
    /// Whose values alone there are: the other lacks the tensor, or could not be read.
    std::optional<Side> onlySide() const;
    /// Whether that is because the other could not be read.
    bool isOtherUnreadable() const { return m_readSide.has_value(); }
    bool isOneSided() const { return onlySide().has_value(); }
    void setFilter(const ElementFilter &filter);
    const ElementFilter &filter() const { return m_filter; }

    const TensorRow *tensor() const; ///< that is selected; null for none
    const DType &dtype() const { return m_dtype; }
    const forkpoint::Shape &shape() const { return m_shape; } ///< of the decoded elements
    Index elements() const { return m_elements; }
    /// Row numbers are indices: every element is a row.
    bool rowsAreIndices() const { return order() == ElementOrder::ByIndex && m_filter.isEmpty(); }
    bool anyDiffers() const { return m_elements > 0 && m_differing.value_or(1) > 0; }

    std::uint64_t count() const;
    bool capped() const; ///< largest first reaches no deeper
    const ElementRow *at(std::uint64_t row) const;
    bool hasNone() const { return m_pages.empty(); } ///< nothing has arrived yet
    /// Why no row has data, where none could be read; empty otherwise.
    QString errorOfAll() const
    {
        return m_pages.empty() && m_failedCount > 0 ? m_error : QString();
    }
    /// Why a row has no data; empty while it is on its way.
    QString errorOf(std::uint64_t row) const;
    /// Asks for what is missing of these rows.
    void need(std::uint64_t first, std::uint64_t last);

    /// Rows whether they were ever in view or not: answered by collected() or message().
    void collect(std::uint64_t first, std::uint64_t count);
    void findDifference(Index from, bool backward); ///< answered by found()

Q_SIGNALS:
    void restarted(bool samePair); ///< other rows, or the same with other knowledge
    void arrived(const std::vector<forkpoint::ElementRow> &rows);
    void failed();
    void collected(const std::vector<forkpoint::ElementRow> &rows);
    void found(std::optional<forkpoint::Index> index);
    void message(const QString &text);

private:
    static constexpr std::uint64_t PageRows = 256;
    static constexpr std::size_t MaximumPages = 64;

    void restart(bool forget);
    void request(std::uint64_t offset, std::uint64_t count);
    void receive(quint64 id, const std::shared_ptr<const ElementPage> &page);
    void fail(quint64 id, const QString &error);

    ViewContext *m_context;
    ElementOrder m_order = ElementOrder::Largest;
    ElementFilter m_filter;
    std::shared_ptr<const CheckpointComparison> m_comparison; ///< keeps tensor() alive
    std::optional<std::size_t> m_tensor;
    QString m_pair; ///< step and name of what the pages are of
    DType m_dtype;
    forkpoint::Shape m_shape;
    Index m_elements = 0;
    std::optional<Index> m_differing; ///< of the whole tensor
    std::optional<Index> m_accepted;  ///< by the filter, once a page told
    std::optional<Side> m_readSide;   ///< of a pair of which one side cannot be read

    std::map<std::uint64_t, std::vector<ElementRow>> m_pages; ///< by page number
    std::optional<std::uint64_t> m_end;                       ///< rows, once a last page told
    std::uint64_t m_pendingId = 0, m_pendingOffset = 0, m_pendingCount = 0;
    std::uint64_t m_findId = 0, m_collectId = 0;
    std::uint64_t m_failedOffset = 0, m_failedCount = 0;
    QString m_error;
};

} // namespace forkpoint
