// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/welcome.h"

#include "widgets/display_text.h"
#include "widgets/pair_texts.h"
#include "widgets/theme.h"
#include "widgets/views/drop_target.h"
#include "widgets/views/pair_button.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

constexpr int PathRoom = 50; ///< characters of a path among the recent pairs

QLabel *title(const QString &text, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    return label;
}

void clear(QVBoxLayout *layout)
{
    while (QLayoutItem *item = layout->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

QLabel *note(const QString &text)
{
    auto *label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

/// A button that shows a path as it is: an ampersand is no shortcut.
QToolButton *makeButton(QString text)
{
    auto *button = new QToolButton;
    button->setText(text.replace(u'&', QLatin1String("&&")));
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    button->setMinimumHeight(button->fontMetrics().height() + 12);
    return button;
}

/// What one side alone says of itself, and what it still waits for.
QString missingText(const SideState &side, const QString &name, const QString &other)
{
    const QString path = displayText(side.path);
    switch (side.phase) {
    case SideState::Phase::Opening:
        return Welcome::tr("%1 is being opened. Choose %2 to compare it with.").arg(name, other);
    case SideState::Phase::Failed:
        return Welcome::tr("%1 could not be opened; choose it again. %2 is still missing.")
            .arg(name, other);
    case SideState::Phase::Open: break;
    case SideState::Phase::Recorded:
    case SideState::Phase::Empty: return {};
    }
    const QString steps = side.steps.size() > 1
        ? Welcome::tr(", %1").arg(countedText(side.steps.size(), "step", "steps"))
        : QString();
    return Welcome::tr("%1 is open: %2%3. %4 is still missing: choose what to compare it with.")
        .arg(name, path, steps, other);
}

} // namespace

Welcome::Welcome(ViewContext *context, QWidget *parent) : QWidget(parent), m_context(context)
{
    setObjectName(QStringLiteral("welcome"));
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(48, 32, 48, 24);
    outer->setSpacing(16);
    m_heading = title(tr("Where do two training runs part?"), this);
    enlargeHeading();
    outer->addWidget(m_heading);
    outer->addWidget(
        note(tr("Open two checkpoints, two folders of checkpoints, or two traces. Files "
                "are only read, and nothing in them is ever executed. What a file is, "
                "its contents decide: %1; or a report (.json) that Forkpoint wrote.")
                 .arg(displayText(context->formats()))));
    auto *targets = new QHBoxLayout;
    targets->setSpacing(16);
    for (Side side : {Side::A, Side::B}) {
        auto *target = new DropTarget(side, this);
        m_targets[int(side)] = target;
        targets->addWidget(target, 1);
        connect(target, &DropTarget::clicked, this, [this, side] { Q_EMIT openRequested(side); });
        connect(target, &DropTarget::pathDropped, this,
                [this, side](const QString &path) { m_context->openSide(side, path); });
    }
    outer->addLayout(targets, 1);
    m_missing = note({});
    m_missing->setForegroundRole(QPalette::WindowText);
    outer->addWidget(m_missing);
    auto *columns = new QHBoxLayout;
    columns->setSpacing(32);
    auto *samples = new QVBoxLayout, *recent = new QVBoxLayout;
    samples->addWidget(title(tr("Try the bundled runs"), this));
    recent->addWidget(title(tr("Recent pairs"), this));
    m_samples = new QVBoxLayout;
    m_recent = new QVBoxLayout;
    for (QVBoxLayout *list : {samples, recent, m_samples, m_recent})
        list->setSpacing(6);
    samples->addLayout(m_samples);
    recent->addLayout(m_recent);
    samples->addStretch(1);
    recent->addStretch(1);
    columns->addLayout(samples, 1);
    columns->addLayout(recent, 1);
    outer->addLayout(columns, 2);
    connect(context, &ViewContext::sideChanged, this, [this] { refreshSides(); });
    refresh();
}

void Welcome::enlargeHeading()
{
    QFont large = font();
    large.setBold(true);
    large.setPointSizeF(large.pointSizeF() * 1.6);
    m_heading->setFont(large);
}

void Welcome::changeEvent(QEvent *event)
{
    if (m_heading && event->type() == QEvent::FontChange)
        enlargeHeading();
    QWidget::changeEvent(event);
}

void Welcome::refresh()
{
    refreshSides();
    fillRecent();
    fillSamples();
}

void Welcome::showEvent(QShowEvent *event)
{
    refresh();
    QWidget::showEvent(event);
}

void Welcome::refreshSides()
{
    for (Side side : {Side::A, Side::B})
        m_targets[int(side)]->setState(m_context->side(side));
    const SideState a = m_context->side(Side::A), b = m_context->side(Side::B);
    const bool onlyA = a.phase != SideState::Phase::Empty && b.phase == SideState::Phase::Empty;
    const bool onlyB = b.phase != SideState::Phase::Empty && a.phase == SideState::Phase::Empty;
    m_missing->setVisible(onlyA || onlyB);
    m_missing->setText(onlyA ? missingText(a, tr("A"), tr("B")) : missingText(b, tr("B"), tr("A")));
}

void Welcome::fillRecent()
{
    clear(m_recent);
    const QStringList pairs = m_context->recentPairs();
    const QList<PairText> texts = pairTexts(pairs, PathRoom);
    for (qsizetype i = 0; i < pairs.size(); ++i) {
        const QString a = pairs[i].section(u'\n', 0, 0), b = pairs[i].section(u'\n', 1);
        auto *button = new PairButton(texts[i]);
        button->setToolTip(plainToolTip(tr("A  %1\nB  %2").arg(displayText(a), displayText(b))));
        button->setAccessibleName(tr("Open %1 and %2").arg(displayText(a), displayText(b)));
        m_recent->addWidget(button);
        connect(button, &QToolButton::clicked, this, [this, a, b] { m_context->openPair(a, b); });
    }
    if (pairs.isEmpty())
        m_recent->addWidget(note(tr("Pairs that you open are remembered here.")));
}

void Welcome::fillSamples()
{
    clear(m_samples);
    const QList<SamplePair> samples = m_context->samples();
    for (const SamplePair &sample : samples) {
        auto *button = makeButton(displayText(sample.title));
        button->setAccessibleDescription(displayText(sample.sentence));
        m_samples->addWidget(button, 0, Qt::AlignLeft);
        m_samples->addWidget(note(displayText(sample.sentence)));
        connect(button, &QToolButton::clicked, this,
                [this, sample] { m_context->openPair(sample.pathA, sample.pathB); });
    }
    if (samples.isEmpty())
        m_samples->addWidget(note(tr("The bundled runs are not installed.")));
}

} // namespace forkpoint
