// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/record_view.h"

#include "model/traces/kept_path.h"
#include "widgets/display_text.h"
#include "widgets/models/record_cells.h"
#include "widgets/theme.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <array>

namespace forkpoint {

namespace {

/// Characters of a line that are laid out; copying takes all that was read.
constexpr int MostShown = 20'000;
constexpr int Indent = 12;

std::optional<ListedRecord> RecordRow::*sideOf(Side side)
{
    return side == Side::A ? &RecordRow::a : &RecordRow::b;
}

const std::optional<RecordText::Side> &textOf(const RecordText &text, Side side)
{
    return side == Side::A ? text.a : text.b;
}

/// Line by line, so that line ends survive what makes hostile text inert.
QString shownLines(const std::string &text)
{
    QStringList lines;
    qsizetype left = MostShown;
    for (const QByteArray &line : QByteArray::fromStdString(text).split('\n')) {
        QString shown = displayText(std::string_view(line.data(), std::size_t(line.size())));
        if (shown.size() > left)
            shown = shown.left(left)
                + RecordView::tr("… %1 in all").arg(countedText(text.size(), "byte", "bytes"));
        left -= shown.size();
        lines += shown;
        if (left <= 0)
            break;
    }
    return lines.join(u'\n');
}

QString originText(const RecordText::Side &side, const TracePlace &place)
{
    QString text = displayText(side.file);
    if (place.row > 0)
        return text + RecordView::tr(", record %1").arg(groupedText(place.row));
    if (place.line > 0)
        return text + u':' + QString::number(place.line);
    return text + RecordView::tr(", byte %1").arg(groupedText(place.byte));
}

} // namespace

RecordView::RecordView(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_header(new StyledText(this)),
      m_tensors(new CellTableModel(observationTitles(), {}, this))
{
    setObjectName(QStringLiteral("recordView"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->setSpacing(4);
    auto *head = new QHBoxLayout;
    head->setContentsMargins(Indent, 0, Indent, 0);
    head->addWidget(m_header, 1);
    m_open = new QToolButton(this);
    m_open->setText(tr("Open tensor"));
    m_open->setToolTip(
        tr("The whole tensor of both sides: elements, histogram, where they differ"));
    m_namesake = new QToolButton(this);
    m_namesake->setToolTip(tr("Looks through the step behind this record"));
    for (QToolButton *each : {m_open, m_namesake})
        head->addWidget(each, 0, Qt::AlignTop);
    connect(m_open, &QToolButton::clicked, this, &RecordView::tensorRequested);
    connect(m_namesake, &QToolButton::clicked, this, &RecordView::namesakeRequested);
    layout->addLayout(head);

    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    auto *upper = new QWidget(splitter);
    auto *upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    m_view = makeTable(m_tensors, tr("Tensors of the record"), upper);
    m_view->setObjectName(QStringLiteral("observationTable"));
    setColumnWidths(m_view, std::array{2, 11, 14, 0, 0, 13});
    addTableActions(m_view, context, QStringLiteral("record"),
                    [this](const QString &text) { Q_EMIT message(text); });
    m_nothing = new QLabel(tr("The record marks a place in the order; it has no value."), upper);
    m_nothing->setTextFormat(Qt::PlainText);
    m_nothing->setWordWrap(true);
    m_nothing->setAlignment(Qt::AlignCenter);
    m_nothing->setMargin(24);
    m_nothing->setForegroundRole(QPalette::PlaceholderText);
    for (QWidget *each : {static_cast<QWidget *>(m_view), static_cast<QWidget *>(m_nothing)})
        upperLayout->addWidget(each);
    splitter->addWidget(upper);
    m_sources = new QWidget(splitter);
    auto *sourcesLayout = new QVBoxLayout(m_sources);
    sourcesLayout->setContentsMargins(0, 0, 0, 0);
    sourcesLayout->setSpacing(2);
    for (const Side side : {Side::A, Side::B})
        sourcesLayout->addWidget(buildLines(side));
    splitter->addWidget(m_sources);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    layout->addWidget(splitter, 1);

    connect(context, &ViewContext::recordTextReady, this, &RecordView::receive);
    connect(context, &ViewContext::comparisonChanged, this, [this] {
        if (!m_row)
            refreshHeader();
    });
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != 0 && id == m_askedId)
            showLines(tr("Not read: %1").arg(displayText(error)));
    });
    setRow(nullptr);
}

QWidget *RecordView::buildLines(Side side)
{
    const int i = int(side);
    auto *box = new QWidget(this);
    auto *layout = new QVBoxLayout(box);
    layout->setContentsMargins(Indent, 0, Indent, 2);
    layout->setSpacing(0);
    auto *head = new QHBoxLayout;
    m_origins[i] = new QLabel(box);
    m_origins[i]->setTextFormat(Qt::PlainText);
    m_origins[i]->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_copy[i] = new QToolButton(box);
    m_copy[i]->setText(tr("Copy"));
    m_copy[i]->setToolTip(side == Side::A ? tr("Copy the lines of A as they are in the file")
                                          : tr("Copy the lines of B as they are in the file"));
    m_copy[i]->setAutoRaise(true);
    m_copy[i]->setFocusPolicy(Qt::TabFocus);
    head->addWidget(m_origins[i], 1);
    head->addWidget(m_copy[i]);
    layout->addLayout(head);
    m_lines[i] = new QPlainTextEdit(box);
    m_lines[i]->setObjectName(side == Side::A ? QStringLiteral("linesA")
                                              : QStringLiteral("linesB"));
    m_lines[i]->setReadOnly(true);
    m_lines[i]->setFrameShape(QFrame::NoFrame);
    m_lines[i]->setWordWrapMode(QTextOption::WrapAnywhere);
    m_lines[i]->setAccessibleName(side == Side::A ? tr("Lines of A") : tr("Lines of B"));
    m_lines[i]->setTabChangesFocus(true);
    layout->addWidget(m_lines[i], 1);
    connect(m_copy[i], &QToolButton::clicked, this, [this, side] { copyLines(side); });
    return box;
}

QString RecordView::summary() const
{
    return m_header->plainText();
}

QString RecordView::lines(Side side) const
{
    return m_lines[int(side)]->toPlainText();
}

void RecordView::setRow(const RecordRow *row)
{
    const bool isSame = row && m_row && row->number == m_row->number && row->status == m_row->status
        && row->record().place == m_row->record().place && row->record().key == m_row->record().key;
    if (isSame)
        return;
    m_row = row ? std::optional(*row) : std::nullopt;
    m_text.reset();
    refreshTable();
    m_sources->setVisible(m_row.has_value());
    m_open->setVisible(m_row && isKept(*m_row));
    m_namesake->setVisible(m_row && m_row->status != RecordStatus::NotCompared
                           && (!m_row->a || !m_row->b));
    m_namesake->setText(m_row && m_row->a ? tr("Next of B by this name")
                                          : tr("Next of A by this name"));
    refreshHeader();
    showLines({});
    m_askedId = 0;
    m_isPending = m_row.has_value();
    ask();
}

/// Of one trace alone there is no other side, and nothing that evidence would be of.
void RecordView::refreshTable()
{
    m_tensors->setRows(m_row ? observationRows(*m_row) : std::vector<CellRow>());
    const bool isEmpty = m_row && m_tensors->rowCount() == 0;
    m_view->setVisible(m_row && !isEmpty);
    m_nothing->setVisible(isEmpty);
    const bool isAlone =
        m_row && m_row->status == RecordStatus::NotCompared && !(m_row->a && m_row->b);
    m_view->setColumnHidden(int(ObservationColumn::A), isAlone && !m_row->a);
    m_view->setColumnHidden(int(ObservationColumn::B), isAlone && !m_row->b);
    m_view->setColumnHidden(int(ObservationColumn::Evidence), isAlone);
}

/// Shapes, which the tool tip has, give way to what is set against each other.
void RecordView::makeRoom()
{
    constexpr int Characters = 76;
    m_view->setColumnHidden(int(ObservationColumn::Shape),
                            width() < columnWidth(m_view, Characters));
}

void RecordView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    makeRoom();
}

void RecordView::refreshHeader()
{
    if (!m_row) {
        m_header->setSegments({{tr("Select a record to see its tensors and its lines.")}});
        return;
    }
    const Theme theme = Theme::of(palette());
    const Look shown = look(m_row->status);
    std::vector<StyledText::Segment> segments = {
        {shown.sign + u' ', theme.color(shown.color), true},
        {recordNameText(m_row->record()), theme.text, true},
        {QStringLiteral("  ") + shown.words, theme.color(shown.color)},
        {u'\n' + recordPlaceText(m_row->record()), theme.muted}};
    for (const Side side : {Side::A, Side::B}) {
        const auto &record = (*m_row).*sideOf(side);
        if (record && !record->record.caller.empty()) {
            segments.push_back({side == Side::A ? tr("\nA called from ") : tr("\nB called from "),
                                theme.color(side)});
            segments.push_back({displayText(record->record.caller), theme.text, false, true});
        }
    }
    if (m_row->moved)
        segments.push_back({tr("\nThe records stand at other places of the order."), theme.text});
    if (m_row->afterSlip)
        segments.push_back({tr("\nCall %1 in A is call %2 in B: there is a record more or less "
                               "before them.")
                                .arg(m_row->a->record.call)
                                .arg(m_row->b->record.call),
                            theme.text});
    if (m_text) {
        for (const LeafDifference &each : m_text->where) {
            QString words = displayText(leafWords(each));
            words[0] = words[0].toUpper();
            segments.push_back({u'\n' + words + u'.', theme.text});
        }
        if (!m_text->whyNowhere.empty())
            segments.push_back(
                {tr("\nWhere they differ is not known: %1.").arg(displayText(m_text->whyNowhere)),
                 theme.text});
    }
    m_header->setSegments(std::move(segments));
}

void RecordView::ask()
{
    if (!m_isPending || !isVisible() || !m_row)
        return;
    m_isPending = false;
    RecordPlaces places;
    if (m_row->a)
        places.a = m_row->a->record.place;
    if (m_row->b)
        places.b = m_row->b->record.place;
    if (m_row->a && m_row->b)
        places.leaves = leafPairs(m_row->a->record, m_row->b->record);
    m_askedId = m_context->nextRequestId();
    m_context->requestRecordText(m_askedId, places);
}

void RecordView::receive(quint64 id, std::shared_ptr<const RecordText> text)
{
    if (id == 0 || id != m_askedId)
        return;
    m_text = std::move(text);
    refreshHeader();
    showLines({});
}

void RecordView::showLines(const QString &instead)
{
    const Theme theme = Theme::of(palette());
    for (const Side side : {Side::A, Side::B}) {
        const int i = int(side);
        const QString name = side == Side::A ? tr("A") : tr("B");
        QPalette coloured = palette();
        coloured.setColor(QPalette::WindowText, theme.color(side));
        m_origins[i]->setPalette(coloured);
        m_lines[i]->setFont(monospaced(font()));
        const std::optional<RecordText::Side> none;
        const auto &read = m_text ? textOf(*m_text, side) : none;
        m_copy[i]->setEnabled(read && !read->text.empty());
        const bool isThere = m_row && ((*m_row).*sideOf(side)).has_value();
        m_origins[i]->setText(name);
        QString lines = isThere ? instead
            : m_row && m_row->status != RecordStatus::NotCompared
            ? tr("%1 has no such record.").arg(name)
            : QString();
        m_origins[i]->setVisible(isThere || !lines.isEmpty());
        if (read && isThere) {
            const TracePlace &place = ((*m_row).*sideOf(side))->record.place;
            m_origins[i]->setText(name + QStringLiteral("  ") + originText(*read, place));
            if (place.row > 0)
                m_origins[i]->setText(m_origins[i]->text() + tr(": a table, not lines of text"));
            lines = shownLines(read->text);
            if (read->isCut)
                lines += tr("\n… the file has more of it: %1")
                             .arg(countedText(place.size, "byte", "bytes"));
        }
        m_lines[i]->setPlainText(lines);
        m_lines[i]->setVisible(!lines.isEmpty());
        m_copy[i]->setVisible(!lines.isEmpty());
    }
    const bool isText = !m_lines[0]->isHidden() || !m_lines[1]->isHidden();
    m_sources->setMaximumHeight(isText ? QWIDGETSIZE_MAX : 4 * fontMetrics().height());
}

void RecordView::copyLines(Side side)
{
    if (!m_text || !textOf(*m_text, side))
        return;
    const std::string &text = textOf(*m_text, side)->text;
    QGuiApplication::clipboard()->setText(QString::fromUtf8(text.data(), qsizetype(text.size())));
    Q_EMIT message(tr("Copied %1").arg(countedText(text.size(), "byte", "bytes")));
}

void RecordView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void RecordView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        makeRoom();
        refreshHeader();
        showLines({});
    }
    QWidget::changeEvent(event);
}

} // namespace forkpoint
