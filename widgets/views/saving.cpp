// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/saving.h"

#include "widgets/display_text.h"

#include <QElapsedTimer>
#include <QPointer>
#include <QRegularExpression>
#include <QTimer>
#include <QTreeView>

namespace forkpoint {

namespace {

/// Any text as a name of a file that no system objects to.
QString fileName(QString text)
{
    constexpr int Longest = 100;
    static const QRegularExpression odd(QStringLiteral("[^A-Za-z0-9_.-]+"));
    return text.replace(odd, QStringLiteral("_")).left(Longest);
}

/// Takes rows from a view while the event loop has nothing better to do.
class TableWriter final : public QObject
{
public:
    TableWriter(QTreeView *view, std::function<void(const QByteArray &)> written)
        : QObject(view),
          m_view(view),
          m_written(std::move(written)),
          m_next(view->model()->index(0, 0))
    {
        const QAbstractItemModel *model = view->model();
        QStringList titles;
        for (int column = 0; column < model->columnCount(); ++column) {
            const QString title = model->headerData(column, Qt::Horizontal).toString();
            titles += csvCell(title.isEmpty() ? QStringLiteral("sign") : title);
        }
        m_text = titles.join(u',').toUtf8() + '\n';
        const auto stop = [this] { end({}); };
        connect(model, &QAbstractItemModel::modelReset, this, stop);
        connect(model, &QAbstractItemModel::layoutChanged, this, stop);
        connect(model, &QAbstractItemModel::rowsRemoved, this, stop);
        connect(model, &QAbstractItemModel::rowsInserted, this, stop);
        connect(&m_timer, &QTimer::timeout, this, &TableWriter::takeRows);
        m_timer.start(0);
    }

private:
    void takeRows()
    {
        constexpr int MostMs = 5;
        QElapsedTimer timer;
        timer.start();
        for (; m_next.isValid() && timer.elapsed() < MostMs; m_next = m_view->indexBelow(m_next)) {
            QStringList cells;
            for (int column = 0; column < m_view->model()->columnCount(); ++column)
                cells += csvCell(m_next.siblingAtColumn(column).data().toString());
            m_text += cells.join(u',').toUtf8() + '\n';
        }
        if (!m_next.isValid())
            end(m_text);
    }

    void end(const QByteArray &csv)
    {
        m_timer.stop();
        disconnect(m_view->model(), nullptr, this, nullptr);
        m_written(csv);
        deleteLater();
    }

    QTreeView *m_view;
    std::function<void(const QByteArray &)> m_written;
    QModelIndex m_next; ///< valid as long as the model says nothing
    QByteArray m_text;
    QTimer m_timer;
};

} // namespace

void askWhereToSave(ViewContext *context, QWidget *parent, const QString &title,
                    const QString &name, std::vector<PathDialog::Kind> kinds,
                    std::function<void(const QString &path)> save)
{
    auto *dialog = new PathDialog(context, PathDialog::Mode::Save, title, parent->window());
    dialog->suggest(fileName(name), std::move(kinds));
    QObject::connect(dialog, &PathDialog::pathChosen, parent, std::move(save));
    dialog->open();
}

void askToSavePicture(ViewContext *context, QWidget *parent, const QString &name,
                      std::function<QByteArray(const QString &suffix)> picture)
{
    askWhereToSave(context, parent, QObject::tr("Save picture"), name,
                   {{QStringLiteral("PNG"), QStringLiteral("png")},
                    {QStringLiteral("SVG"), QStringLiteral("svg")}},
                   [context, picture = std::move(picture)](const QString &path) {
                       const bool svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
                       context->saveFile(
                           path, picture(svg ? QStringLiteral("svg") : QStringLiteral("png")));
                   });
}

QString csvCell(QString text)
{
    bool isNumber = false;
    text.toDouble(&isNumber);
    if (!isNumber && !text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text.front()))
        text = QStringLiteral("\\x%1").arg(text.front().unicode(), 2, 16, QLatin1Char('0'))
            + text.mid(1);
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n'))
        return text;
    return u'"' + text.replace(u'"', QLatin1String("\"\"")) + u'"';
}

void writeTable(QTreeView *view, std::function<void(const QByteArray &csv)> written)
{
    new TableWriter(view, std::move(written)); // deletes itself
}

} // namespace forkpoint
