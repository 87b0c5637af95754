// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

namespace forkpoint {

/// A line that is never too narrow for its placeholder; a button that clears shows beside a text only.
class HintedLineEdit final : public QLineEdit
{
public:
    using QLineEdit::QLineEdit;

    QSize sizeHint() const override { return withPlaceholder(QLineEdit::sizeHint()); }
    QSize minimumSizeHint() const override { return withPlaceholder(QLineEdit::minimumSizeHint()); }

private:
    QSize withPlaceholder(QSize size) const
    {
        const int padding = 2 * fontMetrics().averageCharWidth() + 8;
        return {fontMetrics().horizontalAdvance(placeholderText()) + padding, size.height()};
    }
};

} // namespace forkpoint
