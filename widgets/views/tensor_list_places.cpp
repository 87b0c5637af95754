// SPDX-License-Identifier: GPL-3.0-or-later
// Where links, the menus and the start lead to in the lists.
#include "widgets/display_text.h"
#include "widgets/models/tensor_table_model.h"
#include "widgets/models/value_table_model.h"
#include "widgets/models/value_tree_model.h"
#include "widgets/views/pairing_page.h"
#include "widgets/views/tensor_list.h"

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTabBar>
#include <QTreeView>

#include <algorithm>

namespace forkpoint {

bool TensorList::hasPage(Page page) const
{
    return m_tabs->isTabVisible(int(page));
}

void TensorList::showPage(Page shown)
{
    m_tabs->setCurrentIndex(int(shown));
    // The stack hands the focus on from the placeholder, but not from a view that is hidden.
    const bool waits = m_stack->currentWidget() == m_placeholder;
    (waits ? static_cast<QWidget *>(m_placeholder) : currentView())->setFocus();
}

void TensorList::showRecipe()
{
    clearFilter();
    m_onlyClass = StateClass::Recipe;
    m_onlyDiffering->setChecked(true);
    applyFilter();
    showPage(Page::Values);
}

void TensorList::showClass(StateClass stateClass)
{
    const auto comparison = m_context->stepComparison();
    if (!comparison)
        return;
    const auto &tensors = comparison->tensors;
    const bool any = std::any_of(tensors.begin(), tensors.end(), [&](const TensorRow &row) {
        return row.stateClass == stateClass;
    });
    clearFilter();
    m_onlyClass = stateClass;
    applyFilter();
    showPage(any ? Page::Tensors : Page::Values);
}

void TensorList::setFilterText(const QString &text)
{
    m_filter->setText(text);
}

void TensorList::previewRename(const QString &rules)
{
    showPage(Page::Pairing);
    m_pairing->setRenameRules(rules);
}

bool TensorList::showItem(const QString &name)
{
    const auto comparison = m_table->comparison();
    if (!comparison)
        return false;
    const auto isNamed = [&](const auto &row) { return displayText(row.name) == name; };
    const auto &tensors = comparison->tensors;
    const auto &values = comparison->values;
    const auto tensor = std::find_if(tensors.begin(), tensors.end(), isNamed);
    const auto value = std::find_if(values.begin(), values.end(), isNamed);
    if (tensor == tensors.end() && value == values.end())
        return false;
    clearFilter();
    applyFilter();
    if (tensor != tensors.end()) {
        showPage(Page::Tensors);
        m_context->selectTensor(std::size_t(tensor - tensors.begin()));
        selectFromContext();
    } else {
        showPage(Page::Values);
        const int row = m_values->rowOf(std::size_t(value - values.begin()));
        if (isTree())
            m_valueTreeView->setCurrentIndex(
                m_valueTree->indexOf(std::size_t(value - values.begin())));
        else
            m_valueView->setCurrentIndex(m_values->index(row, 1));
    }
    return true;
}

} // namespace forkpoint
