// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/no_elements.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/styled_text.h"

#include <QScrollArea>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

using Segments = std::vector<StyledText::Segment>;

/// What the digests say of a pair.
QString proofText(const TensorRow &row)
{
    if (row.status == ItemStatus::Identical)
        return NoElements::tr("The digests of all bytes (xxh3-128) are equal: equal bytes, though "
                              "no proof against forgery.");
    if (row.status == ItemStatus::Different && row.strength == Strength::Xxh3)
        return NoElements::tr("The digests of all bytes (xxh3-128) are unlike: the bytes differ.");
    return displayText(row.reason);
}

/// What else was recorded, a line each: where the leaf digests differ, and what was counted.
QStringList recordedLines(const TensorRow &row)
{
    QStringList lines = displayText(row.reason).split(QStringLiteral("; "));
    lines.removeFirst(); // what proofText() says
    for (QString &line : lines) {
        if (!line.isEmpty())
            line[0] = line[0].toUpper();
    }
    return lines;
}

void addDigest(Segments &segments, const Theme &theme, Side side, const TensorRow &row)
{
    const auto &fingerprint = side == Side::A ? row.fingerprintA : row.fingerprintB;
    if (!fingerprint)
        return;
    segments.push_back({side == Side::A ? NoElements::tr("\nA  ") : NoElements::tr("\nB  "),
                        theme.color(side), true});
    segments.push_back({qs(fingerprint->content.toHex()), theme.color(side), false, true});
}

} // namespace

bool isFingerprintFile(const SideState &side)
{
    return side.phase == SideState::Phase::Open && side.format.startsWith(QLatin1String("fpx of "));
}

NoElements::NoElements(ViewContext *context, QWidget *parent) : QWidget(parent), m_context(context)
{
    auto *page = new QWidget;
    m_text = new StyledText(page);
    auto *pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(24, 24, 24, 24);
    pageLayout->addWidget(m_text);
    pageLayout->addStretch(1);
    auto *area = new QScrollArea(this);
    area->setWidget(page);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    page->setAutoFillBackground(false); // the card's shows through
    area->viewport()->setAutoFillBackground(false);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(area);
    connect(m_text, &StyledText::linkActivated, this, [this](const QString &link) {
        if (link == QLatin1String("facts"))
            Q_EMIT factsRequested();
        else
            Q_EMIT openRequested(link == QLatin1String("A") ? Side::A : Side::B);
    });
}

bool NoElements::standsInFor(const ViewContext &context, const TensorRow &row)
{
    const auto lacksThem = [&](Side side, bool isThere) {
        return !isThere || isFingerprintFile(context.side(side));
    };
    return !context.isReport() && lacksThem(Side::A, row.a.has_value())
        && lacksThem(Side::B, row.b.has_value());
}

void NoElements::setTensor(const TensorRow &row)
{
    const Theme theme = Theme::of(palette());
    const bool isPair = row.a && row.b;
    Segments segments{
        {tr("Digests, no elements\n"), theme.text, true},
        {tr("A fingerprint file has the digests of a tensor and not its numbers: none "
            "can be listed, drawn or followed over the steps.\n\n"),
         theme.muted},
        {isPair ? proofText(row) : tr("The digest of all bytes (xxh3-128):"), theme.text}};
    addDigest(segments, theme, Side::A, row);
    addDigest(segments, theme, Side::B, row);
    if (isPair && row.status == ItemStatus::Different) {
        for (const QString &line : recordedLines(row))
            segments.push_back({u'\n' + line, theme.text});
    }
    segments.push_back({QStringLiteral("\n\n")});
    segments.push_back({tr("All facts"), theme.text, false, false, QStringLiteral("facts")});
    segments.push_back({tr("  ·  To see numbers, open the run itself: "), theme.muted});
    if (row.a)
        segments.push_back({tr("Open A…"), theme.a, false, false, QStringLiteral("A")});
    if (isPair)
        segments.push_back({QStringLiteral("  ")});
    if (row.b)
        segments.push_back({tr("Open B…"), theme.b, false, false, QStringLiteral("B")});
    m_text->setSegments(std::move(segments));
}

QString NoElements::text() const
{
    return m_text->plainText();
}

} // namespace forkpoint
