// SPDX-License-Identifier: GPL-3.0-or-later
// The controls above the lists.
#include "widgets/views/flow_layout.h"
#include "widgets/views/hinted_line_edit.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QCheckBox>
#include <QLabel>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace forkpoint {

void TensorList::buildBar()
{
    auto *bar = new FlowLayout;
    bar->setContentsMargins(6, 0, 4, 0);
    bar->setSpacing(5); // with the page Records it is one line of a window of 1280 pixels
    bar->setFirstAlone(true);
    m_tabs = new QTabBar(this);
    m_tabs->setDocumentMode(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false);
    m_tabs->addTab(tr("Tensors"));
    m_tabs->addTab(tr("Values"));
    m_tabs->addTab(tr("Pairing"));
    m_tabs->addTab(tr("Records"));
    m_tabs->addTab(tr("Metrics"));
    m_tabs->setAccessibleName(tr("Tensors, values, pairing, records or metrics"));
    m_filter = new HintedLineEdit(this);
    m_filter->setPlaceholderText(tr("Filter…"));
    m_filter->setToolTip(tr("Only names that contain this text (Ctrl+F)"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter by name"));
    m_onlyDiffering = new QCheckBox(tr("only differing"), this);
    m_onlyDiffering->setToolTip(tr("Hide what is identical (Ctrl+D)"));
    m_treeButton = new QToolButton(this);

    m_filterAction = makeAction(this, tr("Filter tensors and values"), QKeySequence::Find);
    m_treeAction = makeAction(this, tr("As a tree"), Qt::CTRL | Qt::Key_T);
    m_treeAction->setIconText(tr("Tree"));
    m_treeAction->setCheckable(true);
    m_onlyDifferingAction = makeAction(this, tr("Only differing"), Qt::CTRL | Qt::Key_D);
    m_onlyDifferingAction->setCheckable(true);
    m_treeButton->setDefaultAction(m_treeAction);
    m_treeButton->setAutoRaise(true);
    m_treeButton->setFocusPolicy(Qt::TabFocus);

    bar->addWidget(m_tabs);
    bar->addWidget(m_filter);
    bar->addWidget(m_onlyDiffering);
    bar->addWidget(m_treeButton);
    m_show = new QToolButton(this);
    buildShowMenu(m_show);
    bar->addWidget(m_show);
    static_cast<QVBoxLayout *>(layout())->addLayout(bar);
    m_counts = new QLabel(this);
    m_counts->setTextFormat(Qt::PlainText);
    m_counts->setForegroundRole(QPalette::PlaceholderText);
    m_counts->setIndent(10);
    layout()->addWidget(m_counts);

    connect(m_tabs, &QTabBar::currentChanged, this, [this] {
        showControls();
        m_onlyDiffering->setText(page() == Page::Pairing ? tr("only unpaired")
                                                         : tr("only differing"));
        fillTree();
        updateHeader();
        updatePlaceholder();
        selectFromContext();
        Q_EMIT pageChanged();
    });
    connect(m_filter, &QLineEdit::textChanged, this, [this] { applyFilter(); });
    connect(m_onlyDiffering, &QCheckBox::toggled, m_onlyDifferingAction, &QAction::setChecked);
    connect(m_onlyDifferingAction, &QAction::toggled, m_onlyDiffering, &QCheckBox::setChecked);
    connect(m_onlyDiffering, &QCheckBox::toggled, this, [this] { applyFilter(); });
    connect(m_treeAction, &QAction::toggled, this, [this] {
        fillTree();
        updatePlaceholder();
        selectFromContext();
    });
    connect(m_filterAction, &QAction::triggered, this, [this] {
        m_filter->setFocus(Qt::ShortcutFocusReason);
        m_filter->selectAll();
    });
}

/// What the check boxes do not say: notes.
void TensorList::buildShowMenu(QToolButton *button)
{
    button->setText(tr("Show"));
    button->setAccessibleName(tr("What is shown"));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    auto *menu = new QMenu(button);
    const auto add = [&](const QString &text) {
        QAction *action = menu->addAction(text);
        action->setCheckable(true);
        connect(action, &QAction::toggled, this, [this] { applyFilter(); });
        return action;
    };
    m_onlyPinned = add(tr("Only pinned ★"));
    m_withoutExpected = add(tr("Leave out expected differences ✓"));
    menu->addSeparator();
    connect(menu->addAction(tr("Everything")), &QAction::triggered, this, [this] {
        clearFilter();
        applyFilter();
    });
    button->setMenu(menu);
}

} // namespace forkpoint
