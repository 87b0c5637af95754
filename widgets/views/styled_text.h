// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextLayout>
#include <QWidget>

#include <vector>

namespace forkpoint {

/// Text in several styles that wraps and is never interpreted as markup, so that names from hostile
/// files stay inert. Segments with a link are reached by mouse and keyboard. A segment of more than
/// 400 characters is shown with its middle counted rather than written; copying gives all of it.
class StyledText : public QWidget
{
    Q_OBJECT

public:
    struct Segment
    {
        QString text;
        QColor color = {}; ///< invalid: the palette's text
        bool bold = false;
        bool mono = false;
        QString link = {};
    };

    explicit StyledText(QWidget *parent = nullptr);

    void setSegments(std::vector<Segment> segments);
    QString plainText() const { return m_text; }
    QStringList links() const;

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void linkActivated(const QString &link);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void relayout();
    QList<QTextLayout::FormatRange> formats() const;
    qreal layOut(QTextLayout &layout, qreal width) const;
    int segmentAt(const QPointF &position) const;
    void copy() const;

    std::vector<Segment> m_segments;
    QString m_text;
    QString m_shown;        ///< m_text with long segments elided
    int m_currentLink = -1; ///< segment that the keyboard is on
};

} // namespace forkpoint
