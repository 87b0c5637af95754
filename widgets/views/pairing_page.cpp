// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/pairing_page.h"

#include "widgets/display_text.h"
#include "widgets/models/pairing_table_model.h"
#include "widgets/pairing_advice.h"
#include "widgets/views/view_setup.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <array>
#include <map>

namespace forkpoint {

namespace {

QLabel *wrappingLabel(QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QString countsText(const CheckpointComparison &comparison)
{
    std::map<PairedBy, std::uint64_t> counts;
    std::uint64_t onlyA = 0, onlyB = 0;
    for (const TensorRow &row : comparison.tensors) {
        if (row.pairedBy != PairedBy::Unpaired)
            ++counts[row.pairedBy];
        else
            ++(row.a ? onlyA : onlyB);
    }
    QStringList parts;
    std::uint64_t paired = 0;
    for (const auto &[by, count] : counts) {
        paired += count;
        parts += PairingPage::tr("%1 by %2").arg(groupedText(count), pairedByText(by));
    }
    QString text = PairingPage::tr("%1 of %2 tensors matched")
                       .arg(groupedText(paired), groupedText(comparison.tensors.size()));
    if (!parts.isEmpty())
        text += QStringLiteral(": ") + parts.join(QStringLiteral(", "));
    if (onlyA + onlyB > 0)
        text += PairingPage::tr(" · %1 only in A, %2 only in B")
                    .arg(groupedText(onlyA), groupedText(onlyB));
    return text + u'.';
}

QString rulesText(const std::vector<RenameRule> &rules)
{
    QStringList texts;
    for (const RenameRule &rule : rules)
        texts += QStringLiteral("s/%1%2%3/%4/")
                     .arg(rule.atStart ? QStringLiteral("^") : QString(), qs(rule.from),
                          rule.atEnd ? QStringLiteral("$") : QString(), qs(rule.to));
    return texts.join(u' ');
}

} // namespace

PairingPage::PairingPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_model(new PairingTableModel(this)),
      m_view(makeTable(m_model, tr("Pairing"), this)),
      m_summary(wrappingLabel(this)),
      m_preview(wrappingLabel(this)),
      m_rename(new QLineEdit(this)),
      m_strict(new QCheckBox(tr("exact names only"), this)),
      m_apply(new QPushButton(tr("Compare anew"), this)),
      m_suggest(new QPushButton(this))
{
    m_view->setObjectName(QStringLiteral("pairingTable"));
    setColumnWidths(m_view, std::array{2, 0, 0, 9, 11});
    m_view->header()->setSortIndicator(int(PairingTableModel::Column::A), Qt::AscendingOrder);
    m_view->setSortingEnabled(true);
    addCopyRows(m_view);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_rename->setPlaceholderText(tr("rename rules: s/^module.// s/old/new/"));
    m_rename->setAccessibleName(tr("Rename rules"));
    m_rename->setToolTip(tr("Applied in order to the names of both sides; ^ and $ anchor. As "
                            "forkpoint-cli --rename takes them."));
    m_strict->setToolTip(tr("Pair equal paths and rename rules alone, no affixes and no contents"));
    m_suggest->setAccessibleName(tr("Try the likely rename rule"));
    m_preview->setForegroundRole(QPalette::PlaceholderText);

    auto *rules = new QHBoxLayout;
    rules->addWidget(m_rename, 1);
    rules->addWidget(m_strict);
    rules->addWidget(m_apply);
    auto *help = new QHBoxLayout;
    help->addWidget(m_preview, 1);
    help->addWidget(m_suggest);
    auto *top = new QVBoxLayout;
    top->setContentsMargins(10, 2, 10, 2);
    top->addWidget(m_summary);
    top->addLayout(rules);
    top->addLayout(help);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(top);
    layout->addWidget(m_view, 1);

    connect(m_rename, &QLineEdit::textChanged, this, &PairingPage::preview);
    connect(m_rename, &QLineEdit::returnPressed, this, &PairingPage::apply);
    connect(m_strict, &QCheckBox::toggled, this, &PairingPage::preview);
    connect(m_apply, &QPushButton::clicked, this, &PairingPage::apply);
    connect(m_suggest, &QPushButton::clicked, this,
            [this] { m_rename->setText(m_suggest->property("rule").toString()); });
    connect(m_model, &RowTableModel::rowsChanged, this, &PairingPage::rowsChanged);
    connect(context, &ViewContext::stepComparisonChanged, this, &PairingPage::refresh);
    const PairingOptions pairing = context->options().pairing;
    m_rename->setText(rulesText(pairing.renames));
    m_strict->setChecked(pairing.strict);
    refresh();
}

void PairingPage::setFilter(const RowFilter &filter)
{
    m_model->setFilter(filter);
}

QString PairingPage::summary() const
{
    return m_summary->text() + u'\n' + m_preview->text();
}

void PairingPage::refresh()
{
    const auto comparison = m_context->stepComparison();
    m_model->setComparison(comparison);
    m_summary->setText(comparison ? countsText(*comparison) : QString());
    const std::optional<std::string> likely =
        comparison && comparison->finished ? likelyRename(*comparison) : std::nullopt;
    m_suggest->setVisible(likely.has_value());
    if (likely) {
        const QString rule = displayText(*likely);
        m_suggest->setText(tr("Try %1").arg(elidedMiddle(rule, 40)));
        m_suggest->setProperty("rule", rule);
    }
    preview();
}

std::optional<std::vector<RenameRule>> PairingPage::typedRules(QString &problem) const
{
    std::vector<RenameRule> rules;
    for (const QString &word : m_rename->text().split(u' ', Qt::SkipEmptyParts)) {
        Result<RenameRule> rule = RenameRule::parse(word.toStdString());
        if (!rule.ok()) {
            problem =
                displayText(word) + QStringLiteral(": ") + displayText(rule.error().message());
            return std::nullopt;
        }
        rules.push_back(std::move(rule).value());
    }
    return rules;
}

/// What the typed rules would do, before anything is compared anew.
void PairingPage::preview()
{
    QString problem;
    const auto rules = typedRules(problem);
    const PairingOptions now = m_context->options().pairing;
    const bool other = rules
        && (m_strict->isChecked() != now.strict || rulesText(*rules) != rulesText(now.renames));
    m_apply->setEnabled(other);
    const auto comparison = m_context->stepComparison();
    if (!rules) {
        m_preview->setText(problem);
        return;
    }
    if (!comparison || !other || rules->empty()) {
        m_preview->setText(m_suggest->isVisibleTo(this)
                               ? tr("Names that met nobody end alike on both sides.")
                               : QString());
        return;
    }
    const RenamePreview preview = previewRenames(*comparison, *rules);
    QString text = tr("Would pair %1 more; %2 renamed.")
                       .arg(countedText(preview.matches, "tensor", "tensors"),
                            countedText(preview.renamed, "name is", "names are"));
    for (const auto &[a, b] : preview.examples)
        text += u'\n' + elidedMiddle(displayText(a), 60) + QStringLiteral("  ⇄  ")
            + elidedMiddle(displayText(b), 60);
    m_preview->setText(text);
}

void PairingPage::apply()
{
    QString problem;
    const auto rules = typedRules(problem);
    if (!rules || !m_apply->isEnabled())
        return;
    CompareOptions options = m_context->options();
    options.pairing.renames = *rules;
    options.pairing.strict = m_strict->isChecked();
    m_context->setOptions(options);
    preview();
}

} // namespace forkpoint
