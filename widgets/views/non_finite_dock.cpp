// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/non_finite_dock.h"

#include "widgets/display_text.h"

#include <QLabel>
#include <QVBoxLayout>

namespace forkpoint {

NonFiniteDock::NonFiniteDock(ViewContext *context, QWidget *parent)
    : QDockWidget(tr("NaN and Inf"), parent),
      m_context(context),
      m_table(new RemarkTable(
          context, tr("Tensors with NaN or Inf"),
          {tr("tensor"), tr("NaN in A"), tr("NaN in B"), tr("Inf in A"), tr("Inf in B")},
          {2, 0, 14, 14, 14, 14}, this)),
      m_summary(new QLabel(this))
{
    setObjectName(QStringLiteral("nonFinite"));
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setIndent(8);
    auto *content = new QWidget(this);
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->addWidget(m_summary);
    layout->addWidget(m_table, 1);
    setWidget(content);
    describe(tr("Not searched yet: Go > Search NaN and Inf in all tensors."));
    connect(m_table, &RemarkTable::itemRequested, this, &NonFiniteDock::itemRequested);
    connect(context, &ViewContext::nonFiniteReady, this,
            [this](quint64 id, const std::shared_ptr<const NonFiniteFindings> &findings) {
                if (id == m_askedId)
                    show(*findings);
            });
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id == m_askedId)
            describe(tr("The search did not finish: %1").arg(displayText(error)));
    });
    connect(context, &ViewContext::comparisonChanged, this, [this] {
        if (m_context->comparison() || m_askedId == 0)
            return;
        m_askedId = 0; // of runs that are gone
        m_table->setRows({});
        describe(tr("Not searched yet: Go > Search NaN and Inf in all tensors."));
    });
}

void NonFiniteDock::describe(const QString &text)
{
    m_summary->setText(text);
}

void NonFiniteDock::search()
{
    m_table->setRows({});
    const auto step = m_context->selectedStep();
    m_step = step ? tr("step %1: ").arg(*step) : QString();
    describe(tr("Searching…"));
    m_askedId = m_context->nextRequestId();
    m_context->searchNonFinite(m_askedId);
}

void NonFiniteDock::show(const NonFiniteFindings &findings)
{
    std::vector<Remark> rows;
    const auto number = [](Index count) {
        return count == 0 ? QStringLiteral("0") : groupedText(count);
    };
    for (const NonFiniteTensor &tensor : findings.tensors) {
        const QString name = displayText(tensor.name);
        rows.push_back({Severity::Warning,
                        {name, number(tensor.nanA), number(tensor.nanB), number(tensor.infA),
                         number(tensor.infB)},
                        name,
                        {name}});
    }
    for (const std::string &unread : findings.unread)
        rows.push_back(
            {Severity::Error,
             {displayText(unread), tr("not read"), tr("not read"), tr("not read"), tr("not read")},
             displayText(unread),
             {}});
    m_table->setRows(std::move(rows));
    QString text = m_step
        + tr("%1 of floating types looked at, %2 with NaN or Inf")
              .arg(countedText(findings.looked, "tensor", "tensors"),
                   groupedText(findings.tensors.size()));
    if (!findings.unread.empty())
        text += tr(", %1 not read").arg(groupedText(findings.unread.size()));
    describe(text + (findings.complete ? QStringLiteral(".") : tr("; still searching…")));
}

} // namespace forkpoint
