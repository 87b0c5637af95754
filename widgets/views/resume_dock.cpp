// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/resume_dock.h"

#include "widgets/display_text.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace forkpoint {

namespace {

QString equalText(const ResumeFact &fact)
{
    if (!fact.relation.empty())
        return displayText(fact.relation);
    if (!fact.equal)
        return {};
    return *fact.equal ? ResumeDock::tr("equal") : ResumeDock::tr("differs");
}

QString checkText(const SelfCheck &check)
{
    const QString reason = displayText(check.reason);
    if (!check.holds)
        return reason;
    return (*check.holds ? ResumeDock::tr("yes: %1") : ResumeDock::tr("no: %1")).arg(reason);
}

QString checkText(const ResumeFact &fact)
{
    const QString a = checkText(fact.checkA), b = checkText(fact.checkB);
    if (a == b)
        return a;
    QStringList sides;
    if (!a.isEmpty())
        sides += ResumeDock::tr("A %1").arg(a);
    if (!b.isEmpty())
        sides += ResumeDock::tr("B %1").arg(b);
    return sides.join(QStringLiteral("; "));
}

Severity severityOf(const ResumeFact &fact)
{
    return fact.isTelling() ? Severity::Warning : Severity::Note;
}

} // namespace

ResumeDock::ResumeDock(ViewContext *context, QWidget *parent)
    : QDockWidget(tr("Resume"), parent),
      m_context(context),
      m_table(new RemarkTable(
          context, tr("What a resume needs"),
          {tr("state"), tr("name"), tr("A"), tr("B"), tr("equal?"), tr("consistent?")},
          {2, 14, 24, 24, 24, 24, 24}, this)),
      m_summary(new QLabel(this))
{
    setObjectName(QStringLiteral("resume"));
    m_table->fitColumns({3, 4}); // A and B: whether they are equal is what is looked for
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setIndent(8);
    auto *content = new QWidget(this);
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->addWidget(m_summary);
    layout->addWidget(m_table, 1);
    setWidget(content);
    connect(m_table, &RemarkTable::itemRequested, this, &ResumeDock::itemRequested);
    connect(context, &ViewContext::stepComparisonChanged, this, &ResumeDock::refresh);
    refresh();
}

void ResumeDock::refresh()
{
    const auto comparison = m_context->stepComparison();
    if (comparison && comparison == m_shown)
        return;
    m_shown = comparison;
    std::vector<Remark> rows;
    std::size_t differing = 0, contradicting = 0;
    if (comparison) {
        for (const ResumeFact &fact : comparison->resume) {
            differing += fact.equal == false ? 1u : 0u;
            contradicting += fact.contradicts() ? 1u : 0u;
            const QString name = displayText(fact.name);
            rows.push_back({severityOf(fact),
                            {displayText(fact.state), name, displayText(fact.a),
                             displayText(fact.b), equalText(fact), checkText(fact)},
                            checkText(fact),
                            name.isEmpty() ? QStringList() : QStringList{name}});
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Remark &left, const Remark &right) {
        return int(left.severity) > int(right.severity);
    });
    if (!comparison || !comparison->finished)
        m_summary->setText(tr("Shown when the step has been compared."));
    else if (rows.empty())
        m_summary->setText(tr("These files hold nothing that a resume needs beyond tensors."));
    else
        m_summary->setText(
            tr("%1, %2 differ, %3 contradict their own checkpoint. Consistent: a checkpoint agrees "
               "with itself.")
                .arg(countedText(rows.size(), "fact", "facts"), groupedText(differing),
                     groupedText(contradicting)));
    m_table->setRows(std::move(rows));
}

} // namespace forkpoint
