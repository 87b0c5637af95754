// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QDialog>

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;
class QTreeView;
class QVBoxLayout;

namespace forkpoint {

class FolderModel;

/// Chooses what to open, a file or a folder alike, or where to save. Folders are listed by the
/// session: a mount that does not answer holds up nothing here. Deletes itself; show it with open().
class PathDialog final : public QDialog
{
    Q_OBJECT

public:
    enum class Mode { Open, Save };
    /// A kind of file that can be saved.
    struct Kind
    {
        QString title, suffix; ///< "Web page", "html"
    };

    PathDialog(ViewContext *context, Mode mode, const QString &title, QWidget *parent);

    /// To save: a name without its suffix, and the kinds there are, the first one chosen.
    void suggest(const QString &name, std::vector<Kind> kinds);
    void showFolder(const QString &path);
    QString absolute(const QString &path) const;
    void goToTyped();
    void openTyped();
    QString folder() const { return m_folder; } ///< that is shown, or on its way

Q_SIGNALS:
    void pathChosen(const QString &path);

public Q_SLOTS:
    void done(int result) override;

private:
    void buildTop(QVBoxLayout *layout);
    void buildBottom(QVBoxLayout *layout);
    void fillPlaces();
    void receive(quint64 id, std::shared_ptr<const FolderListing> listing);
    void enter(const QModelIndex &index);
    void refresh();
    void chooseKind();
    QString chosen() const;
    bool wentToTypedFolder();
    void choose();

    ViewContext *m_context;
    Mode m_mode;
    FolderModel *m_model;
    QString m_typed;        ///< by Return, until the folder above is listed
    bool m_isWhole = false; ///< all of the folder is listed
    QString m_folder;
    std::uint64_t m_askedId = 0;
    std::vector<Kind> m_kinds;
    QLineEdit *m_path, *m_name;
    QToolButton *m_places;
    QComboBox *m_kind;
    QTreeView *m_view;
    QLabel *m_state;
    QPushButton *m_accept = nullptr;
};

} // namespace forkpoint
