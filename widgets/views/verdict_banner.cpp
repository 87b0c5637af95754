// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/verdict_banner.h"

#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/styled_text.h"

#include <QEvent>
#include <QVBoxLayout>

namespace forkpoint {

VerdictBanner::VerdictBanner(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_full{new StyledText(this), new StyledText(this)},
      m_brief{new StyledText(this), new StyledText(this)}
{
    setObjectName(QStringLiteral("verdictBanner"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 8, 12, 8);
    layout->setSpacing(6);
    for (StyledText *text : {m_full.sentence, m_full.classes, m_brief.sentence, m_brief.classes}) {
        layout->addWidget(text);
        connect(text, &StyledText::linkActivated, this, &VerdictBanner::follow);
    }
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(context, &ViewContext::changedFilesChanged, this, [this] { refresh(); });
    connect(&context->notes(), &PairNotes::changed, this, [this] { refresh(); });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::jobChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    refresh();
}

QString VerdictBanner::plainText() const
{
    QString text = m_full.sentence->plainText() + u'\n' + m_full.classes->plainText();
    return text.replace(QChar(QChar::Nbsp), u' ');
}

void VerdictBanner::follow(const QString &link)
{
    if (link == QLatin1String("recipe"))
        Q_EMIT recipeRequested();
    else if (link.startsWith(QLatin1String("step:")))
        m_context->selectStep(Step(link.mid(5).toLongLong()));
    else if (link.startsWith(QLatin1String("item:")))
        Q_EMIT itemRequested(link.mid(5));
    else if (link.startsWith(QLatin1String("metric:")))
        Q_EMIT metricRequested(link.mid(7));
    else if (link == QLatin1String("more") || link == QLatin1String("less"))
        holdOpen(link == QLatin1String("more"));
    else if (link == QLatin1String("findings"))
        Q_EMIT findingsRequested();
    else if (link == QLatin1String("problems"))
        Q_EMIT problemsRequested();
    else if (link == QLatin1String("verify"))
        m_context->verifyByReading();
    else if (link == QLatin1String("reload"))
        m_context->reload();
    else if (link.startsWith(QLatin1String("open:")))
        Q_EMIT openRequested(link.endsWith(u'A') ? Side::A : Side::B);
    else if (link.startsWith(QLatin1String("mapping:")))
        Q_EMIT mappingRequested(link.endsWith(u'A') ? Side::A : Side::B);
    else if (link.startsWith(QLatin1String("class:"))) {
        if (const auto stateClass = stateClassByName(link.mid(6).toStdString()))
            Q_EMIT classRequested(*stateClass);
    } else if (link.startsWith(QLatin1String("place:"))) {
        const QStringList parts = link.split(u':');
        Q_EMIT placeRequested(parts[1].toLongLong(), parts[2].toStdString());
    }
}

void VerdictBanner::refresh()
{
    const Theme theme = Theme::of(palette());
    VerdictText full = verdictText(*m_context, Detail::Full, theme);
    VerdictText brief = verdictText(*m_context, Detail::Brief, theme);
    m_stripe = full.stripe;
    brief.sentence.push_back({QStringLiteral(" · "), theme.muted});
    brief.sentence.push_back({tr("more"), theme.muted, false, false, QStringLiteral("more")});
    if (m_isHeldOpen) {
        full.sentence.push_back({QStringLiteral(" · "), theme.muted});
        full.sentence.push_back({tr("less"), theme.muted, false, false, QStringLiteral("less")});
    }
    m_full.set(std::move(full));
    m_brief.set(std::move(brief));
    showTexts(m_isBrief);
    updateGeometry();
    update();
}

void VerdictBanner::Texts::set(VerdictText text)
{
    hasClasses = !text.classes.empty();
    sentence->setSegments(std::move(text.sentence));
    classes->setSegments(std::move(text.classes));
}

int VerdictBanner::heightFor(int width, bool brief) const
{
    const Texts &texts = brief ? m_brief : m_full;
    const QMargins margins = layout()->contentsMargins();
    const int inner = width - margins.left() - margins.right();
    int height = margins.top() + margins.bottom() + texts.sentence->heightForWidth(inner);
    if (texts.hasClasses)
        height += layout()->spacing() + texts.classes->heightForWidth(inner);
    return height;
}

void VerdictBanner::setBrief(bool brief)
{
    if (brief != m_isBrief)
        showTexts(brief);
}

void VerdictBanner::showTexts(bool brief)
{
    m_isBrief = brief;
    for (const auto &[texts, isShown] : {std::pair{&m_full, !brief}, std::pair{&m_brief, brief}}) {
        texts->sentence->setVisible(isShown);
        texts->classes->setVisible(isShown && texts->hasClasses);
    }
}

/// As the user wants it, while there is too little room for all.
void VerdictBanner::holdOpen(bool open)
{
    m_isHeldOpen = open;
    refresh();
}

void VerdictBanner::paintEvent(QPaintEvent *)
{
    paintCard(this, m_stripe);
}

void VerdictBanner::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refresh();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
