// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_detail.h"

#include "model/compare/one_sided.h"
#include "model/compare/row_stats.h"
#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/element_view.h"
#include "widgets/views/elements_page.h"
#include "widgets/views/facts_view.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/layout_page.h"
#include "widgets/views/no_elements.h"
#include "widgets/views/steps_page.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/where_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

QString typeText(const DType &dtype, const forkpoint::Shape &shape)
{
    return displayText(dtype.name) + u' ' + qs(shape.toString());
}

QString specials(const DiffStats &stats)
{
    const std::uint64_t nan = stats.nanA + stats.nanB, inf = stats.infA + stats.infB;
    if (nan == 0 && inf == 0)
        return TensorDetail::tr("no\u00a0NaN, no\u00a0Inf");
    return TensorDetail::tr("NaN %1 | %2 · Inf %3 | %4")
        .arg(groupedText(stats.nanA), groupedText(stats.nanB), groupedText(stats.infA),
             groupedText(stats.infB));
}

/// Of a tensor of which one side's elements alone are there.
QString loneNumbers(const TensorRow &row, const DiffStats *stats, Side side)
{
    QString text = describe(row.status);
    if (!row.reason.empty())
        text += QStringLiteral(": ") + displayText(row.reason);
    const bool isA = side == Side::A;
    if (!stats || !(isA ? row.dtypeA : row.dtypeB).isFloating())
        return text;
    if (!isOneSided(row))
        text += isA ? TensorDetail::tr(" · A alone:") : TensorDetail::tr(" · B alone:");
    else
        text += QStringLiteral(" ·");
    if (const auto rms = isA ? stats->rmsA() : stats->rmsB())
        text += TensorDetail::tr(" rms %1 ·").arg(QString::number(*rms, 'g', 4));
    return text
        + TensorDetail::tr(" NaN %1 · Inf %2")
              .arg(groupedText(isA ? stats->nanA : stats->nanB),
                   groupedText(isA ? stats->infA : stats->infB));
}

QString numbersLine(const TensorRow &row, const DiffStats *stats, std::optional<Side> lone)
{
    if (lone)
        return loneNumbers(row, stats, *lone);
    if (!stats && !row.reason.empty())
        return describe(row.status) + QStringLiteral(": ") + displayText(row.reason);
    if (!stats) {
        if (row.status == ItemStatus::Identical)
            return TensorDetail::tr("Identical; statistics are being computed…");
        return TensorDetail::tr("Not measured yet.");
    }
    // What was counted of a row that is not compared is of one copy of several.
    QString text = row.status == ItemStatus::NotCompared && !row.reason.empty()
        ? describe(row.status) + QStringLiteral(": ") + displayText(row.reason)
            + TensorDetail::tr(" · counted: ")
        : QString();
    text += TensorDetail::tr("%1 of %2 elements differ (%3)")
                .arg(groupedText(stats->differentElements), groupedText(stats->elements),
                     percentText(stats->differentElements, stats->elements));
    if (measuredType(row).isFloating()) {
        const bool hasSpecials = stats->nanA + stats->nanB + stats->infA + stats->infB > 0;
        // Where NaN and infinities alone differ the largest distance is of elements that are equal.
        if (stats->differentElements > 0 && hasSpecials && stats->maxAbs == 0 && stats->maxUlp == 0)
            text += TensorDetail::tr(" · 0 apart where both are finite");
        else
            text += TensorDetail::tr(" · max |B−A| %1 · max ULP %2")
                        .arg(QString::number(stats->maxAbs, 'g', 4), groupedText(stats->maxUlp));
        if (const auto relative = relativeDifference(*stats))
            text += TensorDetail::tr(" · relative L2 %1").arg(QString::number(*relative, 'g', 3));
        text += QStringLiteral(" · ") + specials(*stats);
    } else if (measuredType(row).isInteger()) {
        text += TensorDetail::tr(" · max |B−A| %1").arg(groupedText(stats->maxAbsInteger));
    }
    if (!row.comparedAs.empty())
        text += TensorDetail::tr(" · both read as %1").arg(displayText(row.comparedAs));
    return text;
}

} // namespace

TensorDetail::TensorDetail(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context)
{
    setObjectName(QStringLiteral("tensorDetail"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);
    m_stack = new QStackedWidget(this);
    layout->addWidget(m_stack);
    m_placeholder = new QLabel(m_stack);
    m_placeholder->setTextFormat(Qt::PlainText);
    m_placeholder->setAlignment(Qt::AlignCenter);
    m_placeholder->setWordWrap(true);
    m_placeholder->setMargin(24);
    m_placeholder->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_placeholder);

    auto *page = new QWidget(m_stack);
    auto *pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(0, 8, 0, 0);
    pageLayout->setSpacing(6);
    auto *headerBox = new QHBoxLayout;
    headerBox->setContentsMargins(12, 0, 12, 0);
    m_header = new StyledText(page);
    headerBox->addWidget(m_header);
    pageLayout->addLayout(headerBox);
    m_tabs = new QTabWidget(page);
    m_tabs->setDocumentMode(true);
    pageLayout->addWidget(m_tabs, 1);
    m_stack->addWidget(page);

    m_elements = new ElementsPage(context, m_tabs);
    m_where = new WherePage(context, m_tabs);
    m_beside = new WherePage(context, m_elements);
    m_elements->setBeside(m_beside);
    m_steps = new StepsPage(context, m_tabs);
    m_facts = new FactsView(context, m_tabs);
    m_tabs->addTab(orNoElements(m_elements), tr("Elements"));
    m_tabs->addTab(orNoElements(m_where), tr("Where"));
    m_tabs->addTab(orNoElements(m_steps), tr("Over steps"));
    m_tabs->addTab(m_facts, tr("Facts"));
    m_tabs->addTab(new LayoutPage(context, m_tabs), tr("Layout"));
    linkPages();

    connect(context, &ViewContext::selectedTensorChanged, this, [this] { refreshTensor(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refreshTensor(); });
    connect(context, &ViewContext::selectedStatsChanged, this, [this] { refreshStats(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refreshTensor(); });
    connect(context, &ViewContext::jobChanged, this,
            [this] { m_placeholder->setText(whyEmpty()); });
    refreshTensor();
}

QWidget *TensorDetail::orNoElements(QWidget *page)
{
    auto *stack = new QStackedWidget(m_tabs);
    auto *instead = new NoElements(m_context, stack);
    stack->addWidget(page);
    stack->addWidget(instead);
    m_elementPages.push_back(stack);
    connect(instead, &NoElements::factsRequested, this, [this] { showPage(Page::Facts); });
    connect(instead, &NoElements::openRequested, this, &TensorDetail::openRequested);
    return stack;
}

void TensorDetail::refreshNoElements()
{
    const TensorRow *tensor = row();
    const bool isInstead = tensor && NoElements::standsInFor(*m_context, *tensor);
    for (QStackedWidget *stack : m_elementPages) {
        if (isInstead)
            static_cast<NoElements *>(stack->widget(1))->setTensor(*tensor);
        stack->setCurrentIndex(isInstead ? 1 : 0);
    }
}

void TensorDetail::linkPages()
{
    for (WherePage *where : {m_where, m_beside}) {
        connect(where, &WherePage::partSelected, m_elements, &ElementsPage::setPart);
        connect(m_elements, &ElementsPage::partCleared, where,
                [where] { where->view()->clearBox(); });
        connect(where, &WherePage::elementActivated, this, [this](Index index) {
            showPage(Page::Elements);
            elementView()->goToIndex(index);
        });
        connect(elementView(), &ElementView::currentChanged, where,
                [this, where] { where->setMarked(elementView()->currentIndex()); });
    }
    connect(m_tabs, &QTabWidget::currentChanged, this, &TensorDetail::pageChanged);
    connect(m_elements, &ElementsPage::message, this, &TensorDetail::message);
}

ElementView *TensorDetail::elementView() const
{
    return m_elements->elements();
}

TensorDetail::Page TensorDetail::page() const
{
    return Page(m_tabs->currentIndex());
}

void TensorDetail::showPage(Page page)
{
    m_tabs->setCurrentIndex(int(page));
}

void TensorDetail::goTo(const QString &index)
{
    showPage(Page::Elements);
    m_elements->goTo(index);
}

const TensorRow *TensorDetail::row() const
{
    const auto selected = m_context->selectedTensor();
    if (!m_comparison || !selected || *selected >= m_comparison->tensors.size())
        return nullptr;
    return &m_comparison->tensors[*selected];
}

const DiffStats *TensorDetail::stats() const
{
    // What was measured on demand tells more: a comparison may leave out magnitudes.
    const TensorRow *tensor = row();
    const bool partial = tensor && tensor->stats
        && (!(m_stats && m_stats->magnitudes) || m_context->selectedStatsSide());
    return partial ? &*tensor->stats : m_stats.get();
}

/// Whose elements alone are there: the other lacks the tensor, or cannot be read.
std::optional<Side> TensorDetail::loneSide() const
{
    const TensorRow *tensor = row();
    if (tensor && isOneSided(*tensor))
        return tensor->a ? Side::A : Side::B;
    return m_stats && stats() == m_stats.get() ? m_context->selectedStatsSide() : std::nullopt;
}

QString TensorDetail::summary() const
{
    return row() ? m_header->plainText() : m_placeholder->text();
}

QString TensorDetail::whyEmpty() const
{
    if (m_comparison && !m_comparison->tensors.empty())
        return tr("Select a tensor to see how it differs.");
    if (const auto runs = m_context->comparison(); runs && m_comparison) {
        if (runs->trace)
            return tr("These traces kept no tensors to look into. The lanes above show which of "
                      "their records differ.");
        const std::string &ofStep = m_comparison->verdict.reason;
        const std::string &reason = ofStep.empty() ? runs->verdict.reason : ofStep;
        return reason.empty() ? tr("There are no tensors.")
                              : tr("Nothing to show: %1").arg(displayText(reason));
    }
    if (m_context->job().phase == JobState::Phase::Cancelled)
        return tr("Cancelled before anything was compared. F5 reads both sides again.");
    QStringList failures;
    for (const Side side : {Side::A, Side::B}) {
        const SideState state = m_context->side(side);
        if (state.phase == SideState::Phase::Failed)
            failures += tr("%1 could not be opened: %2")
                            .arg(side == Side::A ? tr("A") : tr("B"), displayText(state.error));
    }
    if (!failures.isEmpty())
        return failures.join(u'\n');
    const JobState job = m_context->job();
    if (job.phase == JobState::Phase::Failed)
        return tr("Not compared: %1").arg(displayText(job.error));
    return tr("The selected tensor appears here.");
}

void TensorDetail::refreshTensor()
{
    m_comparison = m_context->stepComparison();
    m_placeholder->setText(whyEmpty());
    m_stack->setCurrentIndex(row() ? 1 : 0);
    refreshStats();
}

void TensorDetail::refreshStats()
{
    m_stats = m_context->selectedStats();
    refreshHeader();
    refreshNoElements();
    const TensorRow *tensor = row();
    const std::optional<Side> lone = loneSide();
    m_elements->showStats(tensor, stats(), lone);
    const auto refA = m_context->selectedTensorRef(Side::A);
    const auto refB = m_context->selectedTensorRef(Side::B);
    // What was counted of one side alone is no comparison.
    const DiffStats *compared = lone ? nullptr : stats();
    m_facts->setFacts(tensor ? tensorFacts(*tensor, compared, refA.get(), refB.get())
                             : std::vector<Fact>());
}

void TensorDetail::refreshHeader()
{
    const TensorRow *tensor = row();
    if (!tensor) {
        m_header->setSegments({});
        return;
    }
    const Theme theme = Theme::of(palette());
    const QString a = layoutText(tensor->layoutKnownA, typeText(tensor->dtypeA, tensor->shapeA));
    const QString b = layoutText(tensor->layoutKnownB, typeText(tensor->dtypeB, tensor->shapeB));
    QString what = tensor->a ? a : b;
    if (tensor->a && tensor->b && a != b)
        what += QStringLiteral(" → ") + b;
    if (const auto step = m_context->selectedStep())
        what += tr(" · step %1").arg(*step);
    const bool isShownOnce = NoElements::standsInFor(*m_context, *tensor); // by the pages
    m_header->setSegments(
        {{sign(tensor->status) + u' ', theme.color(tensor->status), true},
         {displayText(tensor->name), theme.text, true},
         {u' ' + what, theme.muted},
         {QStringLiteral("\n")},
         {isShownOnce ? describe(tensor->status) : numbersLine(*tensor, stats(), loneSide()),
          theme.text}});
}

void TensorDetail::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

void TensorDetail::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refreshStats();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
