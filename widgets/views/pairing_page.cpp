// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/pairing_page.h"

#include "widgets/display_text.h"
#include "widgets/models/pairing_table_model.h"
#include "widgets/pairing_advice.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/hinted_line_edit.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
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
        const QString how =
            by == PairedBy::Exact ? PairingPage::tr("exact name") : pairedByText(by);
        parts += PairingPage::tr("%1 by %2").arg(groupedText(count), how);
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

/// Its sides were never set against each other.
bool isRefused(const CheckpointComparison &comparison)
{
    return comparison.verdict.outcome == Outcome::NotCompared && !comparison.verdict.reason.empty()
        && std::all_of(comparison.tensors.begin(), comparison.tensors.end(),
                       [](const TensorRow &row) { return row.pairedBy == PairedBy::Unpaired; });
}

QString refusedText(const CheckpointComparison &comparison)
{
    const auto ofA =
        std::uint64_t(std::count_if(comparison.tensors.begin(), comparison.tensors.end(),
                                    [](const TensorRow &row) { return bool(row.a); }));
    return PairingPage::tr("Nothing was paired: %1. %2 of A and %3 of B are listed, each side for "
                           "itself.")
        .arg(displayText(comparison.verdict.reason), countedText(ofA, "tensor", "tensors"),
             groupedText(comparison.tensors.size() - ofA));
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
      m_rename(new HintedLineEdit(this)),
      m_include(new HintedLineEdit(this)),
      m_exclude(new HintedLineEdit(this)),
      m_scope(new QToolButton(this)),
      m_strict(new QCheckBox(tr("exact names only"), this)),
      m_apply(new QPushButton(tr("Compare anew"), this)),
      m_suggest(new QPushButton(this))
{
    m_view->setObjectName(QStringLiteral("pairingTable"));
    setColumnWidths(m_view, std::array{2, 0, 0, 9, 11});
    m_view->header()->setSortIndicator(int(PairingTableModel::Column::A), Qt::AscendingOrder);
    m_view->setSortingEnabled(true);
    addTableActions(m_view, context, QStringLiteral("pairing"));
    m_rename->setPlaceholderText(tr("rename: s/^module.// s/old/new/"));
    m_rename->setAccessibleName(tr("Rename rules"));
    m_rename->setToolTip(tr("Applied in order to the names of both sides; ^ and $ anchor. As "
                            "forkpoint-cli --rename takes them."));
    m_strict->setToolTip(tr("Pair equal paths and rename rules alone, no affixes and no contents"));
    m_suggest->setAccessibleName(tr("Try the likely rename rule"));
    m_preview->setForegroundRole(QPalette::PlaceholderText);
    m_include->setPlaceholderText(tr("only: model.* *.weight"));
    m_include->setAccessibleName(tr("Only names that match"));
    m_include->setToolTip(tr("Globs over logical names, separated by spaces: * any text, ? one "
                             "character. As forkpoint-cli --include takes them."));
    m_exclude->setPlaceholderText(tr("without: *.bias"));
    m_exclude->setAccessibleName(tr("Without names that match"));
    m_exclude->setToolTip(tr("Globs, as forkpoint-cli --exclude takes them"));
    buildScope();

    auto *rules = new FlowLayout;
    rules->setSpacing(6);
    for (QWidget *control : std::initializer_list<QWidget *>{m_rename, m_include, m_exclude,
                                                             m_scope, m_strict, m_apply})
        rules->addWidget(control);
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

    for (QLineEdit *edit : {m_rename, m_include, m_exclude}) {
        connect(edit, &QLineEdit::textChanged, this, &PairingPage::preview);
        connect(edit, &QLineEdit::returnPressed, this, &PairingPage::apply);
    }
    connect(m_strict, &QCheckBox::toggled, this, &PairingPage::preview);
    connect(m_apply, &QPushButton::clicked, this, &PairingPage::apply);
    connect(m_suggest, &QPushButton::clicked, this,
            [this] { m_rename->setText(m_suggest->property("rule").toString()); });
    connect(m_model, &RowTableModel::rowsChanged, this, &PairingPage::rowsChanged);
    connect(context, &ViewContext::stepComparisonChanged, this, &PairingPage::refresh);
    showOptions(context->options().pairing);
    refresh();
}

void PairingPage::buildScope()
{
    m_scope->setPopupMode(QToolButton::InstantPopup);
    m_scope->setFocusPolicy(Qt::TabFocus);
    m_scope->setAccessibleName(tr("Classes that are compared"));
    m_scope->setToolTip(
        tr("Which classes are compared and decide; none chosen: all, of which state "
           "decides. As forkpoint-cli --scope takes them."));
    auto *menu = new QMenu(m_scope);
    for (const StateClass stateClass : allStateClasses()) {
        QAction *action = menu->addAction(qs(toString(stateClass)));
        action->setCheckable(true);
        action->setData(int(stateClass));
        connect(action, &QAction::toggled, this, &PairingPage::preview);
    }
    m_scope->setMenu(menu);
}

void PairingPage::setRenameRules(const QString &rules)
{
    m_rename->setText(rules);
}

void PairingPage::showOptions(const PairingOptions &options)
{
    const auto globs = [](const std::vector<std::string> &texts) {
        QStringList words;
        for (const std::string &text : texts)
            words += qs(text);
        return words.join(u' ');
    };
    m_rename->setText(rulesText(options.renames));
    m_include->setText(globs(options.include));
    m_exclude->setText(globs(options.exclude));
    m_strict->setChecked(options.strict);
    for (QAction *action : m_scope->menu()->actions()) {
        const auto stateClass = StateClass(action->data().toInt());
        const auto &scope = options.scope;
        action->setChecked(scope
                           && std::find(scope->begin(), scope->end(), stateClass) != scope->end());
    }
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
    // Reasons are few: without any the names have the room.
    const bool hasReasons = comparison
        && std::any_of(comparison->tensors.begin(), comparison->tensors.end(),
                       [](const TensorRow &row) { return !row.pairedReason.empty(); });
    m_view->setColumnHidden(int(PairingTableModel::Column::Reason), !hasReasons);
    const bool both = comparison && !isOneSideAlone(*m_context);
    const bool refused = both && isRefused(*comparison);
    m_summary->setText(refused    ? refusedText(*comparison)
                           : both ? countsText(*comparison)
                                  : tr("Open both sides to see who meets whom."));
    const std::optional<std::string> likely =
        both && !refused && comparison->finished ? likelyRename(*comparison) : std::nullopt;
    m_suggest->setVisible(likely.has_value());
    if (likely) {
        const QString rule = displayText(*likely);
        m_suggest->setText(tr("Try %1").arg(elidedMiddle(rule, 40)));
        m_suggest->setProperty("rule", rule);
    }
    preview();
}

std::optional<PairingOptions> PairingPage::typed(QString &problem) const
{
    PairingOptions options = m_context->options().pairing;
    options.strict = m_strict->isChecked();
    options.renames.clear();
    for (const QString &word : m_rename->text().split(u' ', Qt::SkipEmptyParts)) {
        Result<RenameRule> rule = RenameRule::parse(word.toStdString());
        if (!rule.ok()) {
            problem =
                displayText(word) + QStringLiteral(": ") + displayText(rule.error().message());
            return std::nullopt;
        }
        options.renames.push_back(std::move(rule).value());
    }
    const auto globs = [](const QLineEdit *edit) {
        std::vector<std::string> words;
        for (const QString &word : edit->text().split(u' ', Qt::SkipEmptyParts))
            words.push_back(word.toStdString());
        return words;
    };
    options.include = globs(m_include);
    options.exclude = globs(m_exclude);
    options.scope.reset();
    for (const QAction *action : m_scope->menu()->actions()) {
        if (!action->isChecked())
            continue;
        if (!options.scope)
            options.scope.emplace();
        options.scope->push_back(StateClass(action->data().toInt()));
    }
    return options;
}

/// How many of the tensors that are listed would not be compared any more.
QString PairingPage::leftOut(const PairingOptions &options) const
{
    const auto comparison = m_context->stepComparison();
    if (!comparison || (options.include.empty() && options.exclude.empty() && !options.scope))
        return {};
    const auto any = [](const std::vector<std::string> &globs, const std::string &name) {
        return std::any_of(globs.begin(), globs.end(),
                           [&](const std::string &glob) { return globMatches(glob, name); });
    };
    std::uint64_t out = 0;
    for (const TensorRow &row : comparison->tensors) {
        const bool scoped = !options.scope
            || std::find(options.scope->begin(), options.scope->end(), row.stateClass)
                != options.scope->end();
        const bool included = options.include.empty() || any(options.include, row.name);
        out += scoped && included && !any(options.exclude, row.name) ? 0 : 1;
    }
    return tr("Would leave out %1 of %2 that are listed.")
        .arg(groupedText(out), countedText(comparison->tensors.size(), "tensor", "tensors"));
}

/// What the typed options would do, before anything is compared anew.
void PairingPage::preview()
{
    QString problem;
    const auto options = typed(problem);
    const PairingOptions now = m_context->options().pairing;
    const QString scope = m_scope->menu()->actions().isEmpty() || !options || !options->scope
        ? tr("all classes")
        : countedText(options->scope->size(), "class", "classes");
    m_scope->setText(scope);
    const bool other = options
        && (options->strict != now.strict || rulesText(options->renames) != rulesText(now.renames)
            || options->include != now.include || options->exclude != now.exclude
            || options->scope != now.scope);
    m_apply->setEnabled(other && !m_context->isReport());
    const auto comparison = m_context->stepComparison();
    if (!options) {
        setPreview(problem);
        return;
    }
    if (other && m_context->isReport()) {
        setPreview(tr("A report cannot be compared anew: open the paths that it names."));
        return;
    }
    if (!comparison || !other) {
        setPreview(m_suggest->isVisibleTo(this)
                       ? tr("Names that met nobody end alike on both sides.")
                       : QString());
        return;
    }
    QStringList lines;
    if (!options->renames.empty()) {
        const RenamePreview preview = previewRenames(*comparison, options->renames);
        lines += tr("Would pair %1 more; %2 renamed.")
                     .arg(countedText(preview.matches, "tensor", "tensors"),
                          countedText(preview.renamed, "name is", "names are"));
        for (const auto &[a, b] : preview.examples)
            lines += elidedMiddle(displayText(a), 60) + QStringLiteral("  ⇄  ")
                + elidedMiddle(displayText(b), 60);
    }
    lines += leftOut(*options);
    lines.removeAll(QString());
    setPreview(lines.join(u'\n'));
}

void PairingPage::setPreview(const QString &text)
{
    m_preview->setText(text);
    m_preview->setVisible(!text.isEmpty());
}

void PairingPage::apply()
{
    QString problem;
    const auto pairing = typed(problem);
    if (!pairing || !m_apply->isEnabled())
        return;
    CompareOptions options = m_context->options();
    options.pairing = *pairing;
    m_context->setOptions(options);
    preview();
}

} // namespace forkpoint
