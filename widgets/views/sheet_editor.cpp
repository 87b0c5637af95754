// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/sheet_editor.h"

#include "widgets/theme.h"

#include <QPainter>
#include <QTextBlock>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int Margin = 6;

} // namespace

SheetEditor::SheetEditor(QWidget *parent) : QPlainTextEdit(parent), m_numbers(new QWidget(this))
{
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setTabChangesFocus(true);
    setFont(monospaced(font()));
    m_numbers->installEventFilter(this);
    connect(this, &QPlainTextEdit::blockCountChanged, this, &SheetEditor::makeRoom);
    connect(this, &QPlainTextEdit::updateRequest, m_numbers, qOverload<>(&QWidget::update));
    makeRoom();
}

QString SheetEditor::text() const
{
    return document()->toRawText().replace(QChar::ParagraphSeparator, u'\n');
}

void SheetEditor::setMarkedLines(std::vector<std::size_t> lines)
{
    m_marked = std::move(lines);
    markLines();
    m_numbers->update();
}

void SheetEditor::markLines()
{
    const Theme theme = Theme::of(palette());
    QList<QTextEdit::ExtraSelection> marks;
    for (const std::size_t line : m_marked) {
        const QTextBlock block = document()->findBlockByNumber(int(line) - 1);
        if (!block.isValid())
            continue;
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        mark.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(theme.difference);
        marks += mark;
    }
    setExtraSelections(marks);
}

void SheetEditor::makeRoom()
{
    const int digits = std::max(2, int(QString::number(blockCount()).size()));
    const int width = fontMetrics().horizontalAdvance(QString(digits, u'0')) + 2 * Margin;
    setViewportMargins(width, 0, 0, 0);
    const QRect inside = contentsRect();
    m_numbers->setGeometry(inside.left(), inside.top(), width, inside.height());
}

void SheetEditor::resizeEvent(QResizeEvent *event)
{
    QPlainTextEdit::resizeEvent(event);
    makeRoom();
}

void SheetEditor::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        makeRoom();
    if (event->type() == QEvent::PaletteChange)
        markLines();
}

bool SheetEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_numbers || event->type() != QEvent::Paint)
        return QPlainTextEdit::eventFilter(watched, event);
    paintNumbers();
    return true;
}

void SheetEditor::paintNumbers()
{
    const Theme theme = Theme::of(palette());
    QPainter painter(m_numbers);
    painter.fillRect(m_numbers->rect(), theme.header);
    painter.setFont(font());
    const int height = fontMetrics().height();
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const qreal top = blockBoundingGeometry(block).translated(contentOffset()).top();
        if (top > m_numbers->height())
            break;
        const auto number = std::size_t(block.blockNumber()) + 1;
        const bool isMarked = std::find(m_marked.begin(), m_marked.end(), number) != m_marked.end();
        painter.setPen(isMarked ? theme.difference : theme.muted);
        painter.drawText(QRectF(0, top, m_numbers->width() - Margin, height),
                         Qt::AlignRight | Qt::AlignTop, QString::number(number));
    }
}

} // namespace forkpoint
