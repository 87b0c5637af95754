// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/job_status.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/shown_lists.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

#include <algorithm>

namespace forkpoint {

namespace {

/// One line that shows by an ellipsis that it goes on; all of it is in the tool tip.
class ElidedLabel final : public QLabel
{
public:
    using QLabel::QLabel;

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setPen(palette().color(foregroundRole()));
        painter.drawText(rect(), int(Qt::AlignLeft | Qt::AlignVCenter),
                         fontMetrics().elidedText(text(), Qt::ElideMiddle, width()));
    }
};

QLabel *plainLabel(QWidget *parent)
{
    auto *label = new ElidedLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

/// What failed must not look like what is said in passing.
void emphasise(QLabel &label, bool isFailure)
{
    label.setForegroundRole(isFailure ? QPalette::WindowText : QPalette::PlaceholderText);
    QFont font = label.font();
    font.setBold(isFailure);
    label.setFont(font);
}

QToolButton *plainButton(QWidget *parent, const QString &name)
{
    auto *button = new QToolButton(parent);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setObjectName(name);
    return button;
}

QString runningText(const JobState &job)
{
    const Progress &progress = job.progress;
    QStringList parts;
    if (!progress.phase.empty())
        parts += displayText(progress.phase);
    if (!progress.item.empty())
        parts += elidedMiddle(displayText(progress.item), 60);
    if (progress.bytesTotal > 0) {
        parts += JobStatus::tr("%1 of %2")
                     .arg(bytesText(progress.bytesDone), bytesText(progress.bytesTotal));
    } else if (progress.bytesDone > 0) {
        parts += bytesText(progress.bytesDone);
    }
    if (job.bytesPerSecond > 0)
        parts += JobStatus::tr("%1/s").arg(bytesText(std::uint64_t(job.bytesPerSecond)));
    return parts.join(QStringLiteral(" · "));
}

QString jobText(const JobState &job)
{
    const QString title = displayText(job.title);
    switch (job.phase) {
    case JobState::Phase::Idle: return {};
    case JobState::Phase::Running: return runningText(job);
    // How much was compared the banner says; what was seen last of a job is less than all of it.
    case JobState::Phase::Finished: return JobStatus::tr("%1: done").arg(title);
    case JobState::Phase::Failed:
        return JobStatus::tr("✖ %1 failed: %2").arg(title, displayText(job.error));
    case JobState::Phase::Cancelled: return JobStatus::tr("%1: cancelled").arg(title);
    }
    return {};
}

} // namespace

JobStatus::JobStatus(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_device(plainLabel(this)),
      m_text(plainLabel(this)),
      m_progress(new QProgressBar(this)),
      m_cancel(plainButton(this, QStringLiteral("cancel"))),
      m_findings(plainButton(this, QStringLiteral("findings"))),
      m_problems(plainButton(this, QStringLiteral("problems"))),
      m_messageTimer(new QTimer(this))
{
    setObjectName(QStringLiteral("jobStatus"));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(8, 2, 8, 2);
    layout->setSpacing(12);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(120, 10);
    m_progress->setAccessibleName(tr("Progress"));
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_cancel->setText(tr("Cancel"));
    m_cancel->setToolTip(tr("Stop the running job; what is known stays"));
    m_findings->setToolTip(tr("What a person should know about this comparison"));
    m_problems->setToolTip(tr("What was skipped, refused or odd"));
    layout->addWidget(m_device);
    layout->addWidget(m_progress);
    layout->addWidget(m_cancel);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_findings);
    layout->addWidget(m_problems);
    m_messageTimer->setSingleShot(true);
    connect(m_messageTimer, &QTimer::timeout, this, [this] { refreshJob(); });
    connect(m_cancel, &QToolButton::clicked, this, [this] { m_context->cancelJob(); });
    connect(m_findings, &QToolButton::clicked, this, &JobStatus::findingsRequested);
    connect(m_problems, &QToolButton::clicked, this, &JobStatus::problemsRequested);
    connect(context, &ViewContext::jobChanged, this, [this] { refreshJob(); });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refreshCounts(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refreshCounts(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refreshCounts(); });
    refreshJob();
    refreshCounts();
}

void JobStatus::showMessage(const QString &text)
{
    constexpr int Shown = 5000;
    m_text->setText(text);
    m_text->setToolTip(plainToolTip(text));
    m_messageTimer->start(Shown);
}

void JobStatus::refreshJob()
{
    const JobState job = m_context->job();
    const bool running = job.phase == JobState::Phase::Running;
    m_device->setText(m_context->device());
    m_progress->setVisible(running);
    m_cancel->setVisible(running);
    if (job.progress.bytesTotal > 0) {
        const double share = double(job.progress.bytesDone) / double(job.progress.bytesTotal);
        m_progress->setRange(0, 1000);
        m_progress->setValue(int(std::clamp(share, 0.0, 1.0) * 1000.0));
    } else {
        m_progress->setRange(0, 0); // busy: the size is not known
    }
    const bool failed = job.phase == JobState::Phase::Failed;
    emphasise(*m_text, failed);
    if (m_messageTimer->isActive() && !running && !failed)
        return;
    const QString text = jobText(job);
    m_text->setText(text);
    m_text->setToolTip(plainToolTip(text));
}

void JobStatus::refreshCounts()
{
    const std::size_t findings = shownFindings(*m_context).size();
    const std::size_t problems = shownProblems(*m_context).size();
    m_findings->setText(countedText(findings, "finding", "findings"));
    m_problems->setText(countedText(problems, "problem", "problems"));
}

} // namespace forkpoint
