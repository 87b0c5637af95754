// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/starting_view.h"

#include "app/gui/main_window.h"
#include "widgets/display_text.h"

#include <QApplication>
#include <QDialog>
#include <QPixmap>

#include <cstdio>

namespace forkpoint {

namespace {

constexpr int LookEveryMs = 50;
constexpr int QuietMs = 600;
constexpr int GiveUpMs = 120'000;

} // namespace

StartingView::StartingView(const Arguments &arguments, ViewContext &context, MainWindow &window)
    : m_arguments(arguments),
      m_context(context),
      m_window(window)
{
    const auto stir = [this] { m_quiet.restart(); };
    connect(&context, &ViewContext::sideChanged, this, stir);
    connect(&context, &ViewContext::comparisonChanged, this, stir);
    connect(&context, &ViewContext::stepComparisonChanged, this, stir);
    connect(&context, &ViewContext::selectedStatsChanged, this, stir);
    connect(&context, &ViewContext::elementsReady, this, stir);
    connect(&context, &ViewContext::mapReady, this, stir);
    connect(&context, &ViewContext::historyReady, this, stir);
    connect(&context, &ViewContext::recordsReady, this, stir);
    connect(&context, &ViewContext::recordTextReady, this, stir);
    connect(&context, &ViewContext::driftReady, this, stir);
    connect(&context, &ViewContext::jobChanged, this, stir);
    connect(&m_timer, &QTimer::timeout, this, &StartingView::look);
    m_quiet.start();
    m_since.start();
    m_timer.start(arguments.early ? 0 : LookEveryMs);
    if (arguments.cancel)
        context.cancelJob();
}

bool StartingView::isReady() const
{
    if (isPicture())
        return m_context.job().phase != JobState::Phase::Running && m_quiet.elapsed() >= QuietMs;
    const auto isOpening = [this](Side side) {
        return m_context.side(side).phase == SideState::Phase::Opening;
    };
    if (isOpening(Side::A) || isOpening(Side::B))
        return false;
    const auto shown = m_context.stepComparison();
    return m_stage != Stage::Selecting || m_arguments.select.isEmpty()
        || (shown && shown->finished);
}

bool StartingView::hasFailed() const
{
    return m_context.side(Side::A).phase == SideState::Phase::Failed
        || m_context.side(Side::B).phase == SideState::Phase::Failed;
}

void StartingView::look()
{
    if (isPicture() && m_since.elapsed() > GiveUpMs) {
        std::fputs("forkpoint: --screenshot: the comparison did not finish in time\n", stderr);
        QCoreApplication::exit(2);
        return;
    }
    if (m_arguments.early && m_context.side(Side::A).phase != SideState::Phase::Empty) {
        write();
        return;
    }
    if (!isPicture() && (hasFailed() || m_since.elapsed() > GiveUpMs)) {
        m_timer.stop(); // whatever comes later is the user's own
        return;
    }
    if (!isReady())
        return;
    m_quiet.restart();
    switch (m_stage) {
    case Stage::Opening:
        if (m_arguments.step)
            m_context.selectStep(*m_arguments.step);
        m_stage = Stage::Selecting;
        break;
    case Stage::Selecting:
        select();
        m_stage = Stage::Showing;
        break;
    case Stage::Showing:
        show();
        m_stage = Stage::Settling;
        break;
    case Stage::Settling:
        m_timer.stop();
        if (isPicture())
            write();
        break;
    }
}

void StartingView::miss(const QString &option, const QString &text)
{
    m_missing = true;
    std::fprintf(stderr, "forkpoint: %s: %s\n", qPrintable(option), qPrintable(text));
    m_window.showMessage(text);
}

void StartingView::select()
{
    const auto comparison = m_context.stepComparison();
    if (m_arguments.step && comparison && comparison->tensors.empty()
        && comparison->values.empty()) {
        miss(QStringLiteral("--step"),
             displayText(comparison->verdict.reason.empty() ? "nothing is at that step"
                                                            : comparison->verdict.reason));
        return;
    }
    if (m_arguments.select.isEmpty() || !comparison)
        return;
    for (std::size_t row = 0; row < comparison->tensors.size(); ++row) {
        if (qs(comparison->tensors[row].name) != m_arguments.select)
            continue;
        m_context.selectTensor(row);
        return;
    }
    miss(QStringLiteral("--select"), tr("no tensor '%1'").arg(displayText(m_arguments.select)));
}

void StartingView::show()
{
    for (const QString &part : m_arguments.show) {
        if (!m_window.showPart(part))
            miss(QStringLiteral("--show"), tr("no part '%1'").arg(displayText(part)));
    }
}

void StartingView::write()
{
    m_timer.stop();
    auto *dialog = m_window.findChild<QDialog *>(QString(), Qt::FindDirectChildrenOnly);
    QWidget *shown = &m_window;
    if (dialog && dialog->isVisible())
        shown = dialog;
    // Layouts that a change has only asked for until now.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    const bool written = shown->grab().save(m_arguments.screenshot, "PNG");
    if (!written)
        std::fputs("forkpoint: --screenshot: the file cannot be written\n", stderr);
    QCoreApplication::exit(written && !m_missing ? 0 : 2);
}

} // namespace forkpoint
