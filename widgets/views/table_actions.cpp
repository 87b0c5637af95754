// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/table_actions.h"

#include "widgets/display_text.h"
#include "widgets/roles.h"
#include "widgets/views/saving.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QClipboard>
#include <QDesktopServices>
#include <QDir>
#include <QGuiApplication>
#include <QTreeView>
#include <QUrl>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("TableActions", text);
}

using Message = std::function<void(const QString &)>;

void copyText(const QString &text, const Message &message)
{
    if (text.isEmpty())
        return;
    QGuiApplication::clipboard()->setText(text);
    if (message)
        message(tr("Copied: %1").arg(elidedMiddle(displayText(text), 80)));
}

void saveTable(QTreeView *view, ViewContext *context, const QString &file, const Message &message)
{
    const auto write = [view, context, message](const QString &path) {
        writeTable(view, [context, path, message](const QByteArray &csv) {
            if (!csv.isEmpty())
                context->saveFile(path, csv);
            else if (message)
                message(tr("Not saved: the table changed meanwhile"));
        });
    };
    askWhereToSave(context, view, tr("Save table"), file,
                   {{QStringLiteral("CSV"), QStringLiteral("csv")}}, write);
}

} // namespace

void addTableActions(QTreeView *view, ViewContext *context, const QString &file,
                     std::function<void(const QString &)> message)
{
    addCopyRows(view, [message](std::uint64_t rows) {
        if (message)
            message(tr("Copied %1").arg(countedText(rows, "row", "rows")));
    });
    const auto add = [view](const QString &text, auto done) {
        auto *action = new QAction(text, view);
        view->addAction(action);
        QObject::connect(action, &QAction::triggered, view, done);
    };
    add(tr("Copy cell"), [view, message] {
        copyText(view->currentIndex().data(Qt::DisplayRole).toString(), message);
    });
    add(tr("Copy name"),
        [view, message] { copyText(view->currentIndex().data(NameRole).toString(), message); });
    add(tr("Copy forkpoint-cli compare command"),
        [context, message] { copyText(context->commandLine(), message); });
    add(tr("Save table as CSV…"),
        [view, context, file, message] { saveTable(view, context, file, message); });
    add(tr("Open the folder of A"), [context] { openFolderOf(*context, Side::A); });
    add(tr("Open the folder of B"), [context] { openFolderOf(*context, Side::B); });
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
}

QUrl folderUrl(const ViewContext &context, Side side)
{
    const SideState state = context.side(side);
    if (state.path.isEmpty())
        return {};
    const QString path =
        QDir::isAbsolutePath(state.path) ? state.path : QDir::currentPath() + u'/' + state.path;
    const bool isFolder = state.steps.size() > 1;
    return QUrl::fromLocalFile(QDir::cleanPath(isFolder ? path : path + QStringLiteral("/..")));
}

void openFolderOf(const ViewContext &context, Side side)
{
    const QUrl folder = folderUrl(context, side);
    if (!folder.isEmpty())
        QDesktopServices::openUrl(folder);
}

} // namespace forkpoint
