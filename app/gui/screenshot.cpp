// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/screenshot.h"

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

Screenshot::Screenshot(const Arguments &arguments, ViewContext &context, MainWindow &window)
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
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_quiet.start();
    m_since.start();
    m_timer.start(arguments.early ? 0 : LookEveryMs);
    if (arguments.cancel)
        context.cancelJob();
}

bool Screenshot::busy() const
{
    return m_context.job().phase == JobState::Phase::Running || m_quiet.elapsed() < QuietMs;
}

void Screenshot::look()
{
    if (m_since.elapsed() > GiveUpMs) {
        std::fputs("forkpoint: --screenshot: the comparison did not finish in time\n", stderr);
        QCoreApplication::exit(2);
        return;
    }
    if (m_arguments.early && m_context.side(Side::A).phase != SideState::Phase::Empty) {
        write();
        return;
    }
    if (busy())
        return;
    m_quiet.restart();
    switch (m_stage) {
    case Stage::Comparing:
        if (m_arguments.step)
            m_context.selectStep(*m_arguments.step);
        m_stage = Stage::Selecting;
        break;
    case Stage::Selecting:
        select();
        m_stage = Stage::Showing;
        break;
    case Stage::Showing:
        for (const QString &part : m_arguments.show) {
            if (!m_window.showPart(part)) {
                m_missing = true;
                std::fprintf(stderr, "forkpoint: --show: no part '%s'\n", qPrintable(part));
            }
        }
        m_stage = Stage::Settling;
        break;
    case Stage::Settling: write(); break;
    }
}

void Screenshot::select()
{
    const auto comparison = m_context.stepComparison();
    if (m_arguments.select.isEmpty() || !comparison)
        return;
    m_missing = true;
    for (std::size_t row = 0; row < comparison->tensors.size(); ++row) {
        if (qs(comparison->tensors[row].name) != m_arguments.select)
            continue;
        m_context.selectTensor(row);
        m_missing = false;
    }
    if (m_missing)
        std::fprintf(stderr, "forkpoint: --select: no tensor '%s'\n",
                     qPrintable(m_arguments.select));
}

void Screenshot::write()
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
