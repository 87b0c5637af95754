// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/path_dialog.h"

#include "widgets/display_text.h"
#include "widgets/models/folder_model.h"
#include "widgets/views/view_setup.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <array>
#include <utility>

namespace forkpoint {

namespace {

/// By the text of the path alone.
QString parentOf(const QString &folder)
{
    return QDir::cleanPath(folder + QStringLiteral("/.."));
}

QString joined(const QString &folder, const QString &name)
{
    return folder.endsWith(u'/') ? QString(folder + name) : QString(folder + u'/' + name);
}

QString nameOf(const FolderEntry &entry)
{
    return QFile::decodeName(QByteArray::fromStdString(entry.name));
}

} // namespace

PathDialog::PathDialog(ViewContext *context, Mode mode, const QString &title, QWidget *parent)
    : QDialog(parent),
      m_context(context),
      m_mode(mode),
      m_model(new FolderModel(this)),
      m_path(new QLineEdit(this)),
      m_name(new QLineEdit(this)),
      m_places(new QToolButton(this)),
      m_kind(new QComboBox(this)),
      m_view(makeTable(m_model, tr("What is in the folder"), this)),
      m_state(new QLabel(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    auto *layout = new QVBoxLayout(this);
    buildTop(layout);
    setColumnWidths(m_view, std::array{0, 12});
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setFrameShape(QFrame::StyledPanel);
    layout->addWidget(m_view, 1);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setWordWrap(true);
    m_state->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(m_state);
    buildBottom(layout);
    connect(m_view, &QTreeView::activated, this, &PathDialog::enter);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const FolderEntry *entry = m_model->at(m_view->currentIndex().row());
        if (m_mode == Mode::Save && entry && !entry->isFolder)
            m_name->setText(nameOf(*entry));
        refresh();
    });
    connect(context, &ViewContext::folderListed, this, &PathDialog::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != m_askedId)
            return;
        m_typed.clear();
        m_model->setListing(nullptr);
        m_state->setText(error);
        refresh();
    });
    resize(fontMetrics().averageCharWidth() * 90, fontMetrics().height() * 30);
    showFolder(m_context->lastFolder(mode == Mode::Save ? FolderUse::Save : FolderUse::Open));
    (mode == Mode::Save ? m_name : m_path)->setFocus();
    m_path->selectAll();
}

void PathDialog::buildTop(QVBoxLayout *layout)
{
    auto *top = new QHBoxLayout;
    auto *up = new QToolButton(this);
    up->setText(QStringLiteral("↑"));
    up->setAccessibleName(tr("The folder above"));
    up->setShortcut(Qt::ALT | Qt::Key_Up);
    up->setToolTip(tr("The folder above (Alt+Up)"));
    m_path->setAccessibleName(tr("Folder, or path of a file"));
    m_path->setToolTip(tr("Type or paste a path; Return shows a folder and opens a file"));
    m_places->setText(tr("Places"));
    m_places->setPopupMode(QToolButton::InstantPopup);
    fillPlaces();
    for (QToolButton *button : {up, m_places})
        button->setFocusPolicy(Qt::StrongFocus);
    top->addWidget(up);
    top->addWidget(m_path, 1);
    top->addWidget(m_places);
    layout->addLayout(top);
    connect(up, &QToolButton::clicked, this, [this] { showFolder(parentOf(m_folder)); });
    connect(m_path, &QLineEdit::returnPressed, this, &PathDialog::goToTyped);
    connect(m_path, &QLineEdit::textEdited, this, &PathDialog::refresh);
}

void PathDialog::buildBottom(QVBoxLayout *layout)
{
    auto *row = new QHBoxLayout;
    m_name->setAccessibleName(tr("Name"));
    m_name->setPlaceholderText(tr("name"));
    m_kind->setAccessibleName(tr("Kind"));
    row->addWidget(m_name, 1);
    row->addWidget(m_kind);
    layout->addLayout(row);
    const bool saves = m_mode == Mode::Save;
    m_name->setVisible(saves);
    m_kind->setVisible(saves);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_accept = buttons->addButton(saves ? tr("Save") : tr("Open"), QDialogButtonBox::ActionRole);
    m_accept->setAutoDefault(false); // Return in the path shows a folder
    buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_accept, &QPushButton::clicked, this, &PathDialog::choose);
    connect(m_name, &QLineEdit::returnPressed, this, &PathDialog::choose);
    connect(m_name, &QLineEdit::textChanged, this, &PathDialog::refresh);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &PathDialog::chooseKind);
}

void PathDialog::fillPlaces()
{
    auto *menu = new QMenu(m_places);
    QStringList places{QDir::homePath(), QDir::currentPath()};
    for (const QString &pair : m_context->recentPairs())
        for (const QString &path : pair.split(u'\n'))
            places += parentOf(path);
    places.removeDuplicates();
    for (const QString &place : places)
        connect(menu->addAction(
                    elidedMiddle(displayText(place), 80).replace(u'&', QLatin1String("&&"))),
                &QAction::triggered, this, [this, place] { showFolder(place); });
    m_places->setMenu(menu);
}

void PathDialog::suggest(const QString &name, std::vector<Kind> kinds)
{
    m_kinds = std::move(kinds);
    const QSignalBlocker blocker(m_kind);
    m_kind->clear();
    for (const Kind &kind : m_kinds)
        m_kind->addItem(QStringLiteral("%1 (.%2)").arg(kind.title, kind.suffix));
    m_kind->setVisible(m_kinds.size() > 1);
    m_name->setText(m_kinds.empty() ? name : name + u'.' + m_kinds.front().suffix);
    m_name->setSelection(0, int(name.size()));
}

/// The suffix decides what is written, so it follows the kind.
void PathDialog::chooseKind()
{
    QString name = m_name->text();
    for (const Kind &kind : m_kinds) {
        if (name.endsWith(u'.' + kind.suffix))
            name.chop(kind.suffix.size() + 1);
    }
    m_name->setText(name + u'.' + m_kinds[std::size_t(m_kind->currentIndex())].suffix);
}

QString PathDialog::absolute(const QString &path) const
{
    return QDir::cleanPath(QDir::isAbsolutePath(path)
                               ? path
                               : joined(m_folder.isEmpty() ? QDir::currentPath() : m_folder, path));
}

/// The folder above says whether it is a file, which is opened, or a folder, which is shown.
void PathDialog::goToTyped()
{
    const QString typed = absolute(m_path->text());
    if (m_mode == Mode::Save || typed == m_folder || parentOf(typed) == typed) {
        showFolder(typed);
        return;
    }
    showFolder(parentOf(typed));
    m_path->setText(typed);
    m_typed = typed;
    refresh();
}

void PathDialog::openTyped()
{
    const QString typed = std::exchange(m_typed, {});
    if (typed.isEmpty() || m_path->text() != typed)
        return; // typed on meanwhile
    const FolderEntry *there = m_model->named(typed.section(u'/', -1));
    if (there ? !there->isFolder : !m_isWhole)
        choose(); // a folder too large to be listed whole may have it
    else
        showFolder(typed);
}

void PathDialog::showFolder(const QString &path)
{
    const QString wanted = absolute(path);
    m_typed.clear();
    m_folder = wanted;
    m_path->setText(wanted);
    m_model->setListing(nullptr);
    m_state->setText(tr("Listing the folder…"));
    m_askedId = m_context->nextRequestId();
    m_context->listFolder(m_askedId, wanted);
    refresh();
}

void PathDialog::receive(quint64 id, std::shared_ptr<const FolderListing> listing)
{
    if (id == 0 || id != m_askedId)
        return;
    QString text = countedText(listing->entries.size(), "entry", "entries");
    if (!listing->complete)
        text += tr("; there are more, which a typed path reaches");
    m_state->setText(text);
    m_isWhole = listing->complete;
    m_model->setListing(std::move(listing));
    refresh();
    openTyped();
}

void PathDialog::enter(const QModelIndex &index)
{
    const FolderEntry *entry = m_model->at(index.row());
    if (entry && entry->isFolder)
        showFolder(joined(m_folder, nameOf(*entry)));
    else if (entry) {
        m_view->setCurrentIndex(index);
        choose();
    }
}

/// What the button would take.
QString PathDialog::chosen() const
{
    if (m_mode == Mode::Save)
        return m_name->text().isEmpty() ? QString() : joined(m_folder, m_name->text());
    if (m_path->text() != m_folder)
        return m_path->text();
    const QModelIndexList rows = m_view->selectionModel()->selectedRows();
    const FolderEntry *entry = rows.isEmpty() ? nullptr : m_model->at(rows.first().row());
    return entry ? joined(m_folder, nameOf(*entry)) : m_folder;
}

void PathDialog::refresh()
{
    const QString path = chosen();
    m_accept->setEnabled(!path.isEmpty());
    if (m_mode == Mode::Save) {
        const FolderEntry *there = m_model->named(m_name->text());
        m_accept->setText(there && !there->isFolder ? tr("Replace") : tr("Save"));
        m_accept->setEnabled(!path.isEmpty() && !(there && there->isFolder));
        return;
    }
    const bool shown = path == m_folder;
    m_accept->setText(shown ? tr("Open this &folder") : tr("&Open"));
    m_accept->setToolTip(plainToolTip(displayText(path)));
}

/// A name that was typed with folders in front: those are shown first, so that what lies there is seen before
/// it would be replaced.
bool PathDialog::wentToTypedFolder()
{
    const qsizetype slash = m_mode == Mode::Save ? m_name->text().lastIndexOf(u'/') : -1;
    if (slash < 0)
        return false;
    const QString typed = m_name->text();
    m_name->setText(typed.mid(slash + 1));
    showFolder(typed.left(std::max<qsizetype>(slash, 1)));
    return true;
}

void PathDialog::choose()
{
    if (!m_accept->isEnabled() || wentToTypedFolder())
        return;
    const QString path = chosen();
    const FolderUse use = m_mode == Mode::Save ? FolderUse::Save : FolderUse::Open;
    m_context->setLastFolder(use, m_mode == Mode::Save ? m_folder : parentOf(path));
    accept();
    Q_EMIT pathChosen(path);
}

/// A listing that nobody waits for any more must not hold up what comes next.
void PathDialog::done(int result)
{
    m_askedId = 0;
    m_context->stopListing();
    QDialog::done(result);
}

} // namespace forkpoint
