// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include <vector>

namespace forkpoint {

/// A plain text in the fixed-pitch face with its line numbers, some of which are marked.
class SheetEditor final : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit SheetEditor(QWidget *parent = nullptr);

    /// As it is: toPlainText() makes no-break spaces others.
    QString text() const;
    /// Lines from 1; others are no longer marked.
    void setMarkedLines(std::vector<std::size_t> lines);
    const std::vector<std::size_t> &markedLines() const { return m_marked; }

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void makeRoom();
    void markLines();
    void paintNumbers();

    QWidget *m_numbers;
    std::vector<std::size_t> m_marked;
};

} // namespace forkpoint
