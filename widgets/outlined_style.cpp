// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/outlined_style.h"

#include "widgets/theme.h"

#include <QPainter>
#include <QStyleOption>

namespace forkpoint {

OutlinedStyle::OutlinedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void OutlinedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption *option,
                                  QPainter *painter, const QWidget *widget) const
{
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool isBox = element == PE_IndicatorCheckBox;
    const bool isRadio = element == PE_IndicatorRadioButton;
    if (!isBox && !isRadio && element != PE_FrameLineEdit)
        return;
    constexpr qreal Radius = 2;
    const Theme theme = Theme::of(option->palette);
    const bool isEnabled = option->state & State_Enabled;
    const bool hasKeyboard = option->state & State_HasFocus;
    const QRectF area = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(!isEnabled ? theme.border : hasKeyboard ? theme.a : theme.outline);
    painter->setBrush(Qt::NoBrush);
    if (isRadio)
        painter->drawEllipse(area);
    else
        painter->drawRoundedRect(area, isBox ? 1 : Radius, isBox ? 1 : Radius);
    painter->restore();
}

namespace {

constexpr int Gap = 3; ///< more at both ends of a cell, and of its title, than Fusion has

} // namespace

int OutlinedStyle::pixelMetric(PixelMetric metric, const QStyleOption *option,
                               const QWidget *widget) const
{
    return QProxyStyle::pixelMetric(metric, option, widget)
        + (metric == PM_FocusFrameHMargin ? Gap : 0);
}

void OutlinedStyle::drawControl(ControlElement element, const QStyleOption *option,
                                QPainter *painter, const QWidget *widget) const
{
    const auto *title = qstyleoption_cast<const QStyleOptionHeader *>(option);
    if (element != CE_HeaderLabel || !title) {
        QProxyStyle::drawControl(element, option, painter, widget);
        return;
    }
    QStyleOptionHeader inner = *title;
    inner.rect.adjust(Gap, 0, -Gap, 0);
    QProxyStyle::drawControl(element, &inner, painter, widget);
}

} // namespace forkpoint
