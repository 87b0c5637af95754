// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the window by name, as the command line and tests ask for them.
#include "app/gui/help_dialogs.h"
#include "app/gui/main_window.h"
#include "widgets/views/non_finite_dock.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/resume_dock.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"

#include <QAction>

namespace forkpoint {

bool MainWindow::showPart(const QString &word)
{
    const auto page = [&](TensorDetail::Page shown) { m_detail->showPage(shown); };
    const std::pair<QString, std::function<void()>> parts[] = {
        {QStringLiteral("tensors"), [&] { m_list->showPage(TensorList::Page::Tensors); }},
        {QStringLiteral("modules"), [&] { m_list->treeAction()->setChecked(true); }},
        {QStringLiteral("values"), [&] { m_list->showPage(TensorList::Page::Values); }},
        {QStringLiteral("recipe"), [&] { m_list->showRecipe(); }},
        {QStringLiteral("metrics"), [&] { m_list->showPage(TensorList::Page::Metrics); }},
        {QStringLiteral("pairing"), [&] { m_list->showPage(TensorList::Page::Pairing); }},
        {QStringLiteral("differing"), [&] { m_list->onlyDifferingAction()->setChecked(true); }},
        {QStringLiteral("elements"), [&] { page(TensorDetail::Page::Elements); }},
        {QStringLiteral("where"), [&] { page(TensorDetail::Page::Where); }},
        {QStringLiteral("steps"), [&] { page(TensorDetail::Page::Steps); }},
        {QStringLiteral("facts"), [&] { page(TensorDetail::Page::Facts); }},
        {QStringLiteral("layout"), [&] { page(TensorDetail::Page::Layout); }},
        {QStringLiteral("resume"), [&] { raise(m_resume); }},
        {QStringLiteral("findings"), [&] { raise(m_findings); }},
        {QStringLiteral("problems"), [&] { raise(m_problems); }},
        {QStringLiteral("nonfinite"), [&] { m_searchNonFinite->trigger(); }},
        {QStringLiteral("open"), [&] { chooseSide(Side::A); }},
        {QStringLiteral("export"), [&] { chooseReport(); }},
        {QStringLiteral("print"), [&] { m_print->trigger(); }},
        {QStringLiteral("mapping"), [&] { chooseMapping(); }},
        {QStringLiteral("shortcuts"), [&] { showShortcuts(this); }},
    };
    for (const auto &[name, show] : parts) {
        if (name != word)
            continue;
        show();
        return true;
    }
    return showRecordPart(word) || fillPart(word);
}

/// "filter=TEXT" and the like: what a person would type.
bool MainWindow::fillPart(const QString &word)
{
    const QString name = word.section(u'=', 0, 0), text = word.section(u'=', 1);
    const std::pair<QString, std::function<void()>> parts[] = {
        {QStringLiteral("filter"), [&] { m_list->setFilterText(text); }},
        {QStringLiteral("rename"), [&] { m_list->previewRename(text); }},
        {QStringLiteral("goto"), [&] { m_detail->goTo(text); }},
        {QStringLiteral("mapping"), [&] { chooseMapping(text); }},
        {QStringLiteral("pin"), [&] { mark(&PairNotes::setPinned, true); }},
        {QStringLiteral("expect"), [&] { mark(&PairNotes::setExpected, true); }}};
    for (const auto &[known, fill] : parts) {
        if (known != name)
            continue;
        fill();
        return true;
    }
    return false;
}

/// The selected tensor.
void MainWindow::mark(void (PairNotes::*set)(const std::string &, bool), bool on)
{
    if (const std::optional<Place> place = currentPlace())
        (m_context.notes().*set)(place->tensor, on);
}

} // namespace forkpoint
