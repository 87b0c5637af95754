// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/side_chips.h"

#include "widgets/views/side_chip.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace forkpoint {

SideChips::SideChips(ViewContext *context, QWidget *parent) : QWidget(parent), m_context(context)
{
    setObjectName(QStringLiteral("sideChips"));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    m_swap = new QToolButton(this);
    m_swap->setText(QStringLiteral("⇄"));
    m_swap->setToolTip(tr("Swap A and B"));
    m_swap->setAccessibleName(tr("Swap A and B"));
    m_swap->setFocusPolicy(Qt::StrongFocus);
    for (Side side : {Side::A, Side::B}) {
        auto *chip = new SideChip(side, this);
        chip->setObjectName(side == Side::A ? QStringLiteral("chipA") : QStringLiteral("chipB"));
        m_chips[int(side)] = chip;
        connect(chip, &SideChip::clicked, this, [this, side] { Q_EMIT openRequested(side); });
        connect(chip, &SideChip::pathDropped, this,
                [this, side](const QString &path) { m_context->openSide(side, path); });
    }
    layout->addWidget(m_chips[0]);
    layout->addWidget(m_swap);
    layout->addWidget(m_chips[1]);
    layout->addStretch(1);
    connect(m_swap, &QToolButton::clicked, this, [this] { m_context->swapSides(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    refresh();
}

void SideChips::refresh()
{
    bool any = false;
    for (Side side : {Side::A, Side::B}) {
        const SideState state = m_context->side(side);
        const Side other = side == Side::A ? Side::B : Side::A;
        m_chips[int(side)]->setState(state, m_context->side(other).path);
        any = any || state.phase != SideState::Phase::Empty;
    }
    m_swap->setEnabled(any);
}

} // namespace forkpoint
