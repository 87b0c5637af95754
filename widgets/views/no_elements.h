// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

namespace forkpoint {

class StyledText;

/// Whether a side is a fingerprint file: digests of tensors, and no element.
bool isFingerprintFile(const SideState &side);

/// Stands in for the pages of elements where every side that has the selected tensor is a
/// fingerprint file: says so once, and what is known instead.
class NoElements : public QWidget
{
    Q_OBJECT

public:
    explicit NoElements(ViewContext *context, QWidget *parent = nullptr);

    /// Whether that is so of the tensor.
    static bool standsInFor(const ViewContext &context, const TensorRow &row);
    void setTensor(const TensorRow &row);
    QString text() const;

Q_SIGNALS:
    void factsRequested();
    void openRequested(forkpoint::Side side);

private:
    ViewContext *m_context;
    StyledText *m_text;
};

} // namespace forkpoint
