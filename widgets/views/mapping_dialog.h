// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/mapping_trial.h"
#include "widgets/view_context.h"

#include <QDialog>

#include <functional>

class QCheckBox;
class QLabel;
class QPushButton;
class QTimer;
class QTreeView;

namespace forkpoint {

class CellTableModel;
class SheetEditor;

/// A mapping sheet that is written while a table shows how it understands the first lines of the
/// user's own file. Everything is read by the session; typing is answered a moment later. Deletes
/// itself; show it with open().
class MappingDialog final : public QDialog
{
    Q_OBJECT

public:
    /// For a file or folder of text that is, or becomes, that side.
    MappingDialog(ViewContext *context, Side side, const QString &path, QWidget *parent);

    SheetEditor *editor() const { return m_editor; }
    const CellTableModel *lines() const { return m_lines; }
    QString summary() const; ///< what is wrong with the sheet, and the counts
    void openSheet(const QString &path);
    /// Writes the sheet there, and goes on when it is written.
    void saveSheet(const QString &path, std::function<void()> then = {});

public Q_SLOTS:
    void reject() override; ///< asks first where rules would be lost

private:
    QWidget *buildPreview();
    QWidget *buildButtons();
    void ask();
    void receive(quint64 id, std::shared_ptr<const MappingTrial> trial);
    void receiveSheet(quint64 id, const QString &text);
    void receiveError(quint64 id, const QString &error);
    bool isTried() const; ///< else the lines are shown as they are
    void showLines();
    void showSummary();
    void chooseSheet();
    void saveAs(std::function<void()> then);
    void unlessUnsaved(std::function<void()> then);
    void use();

    ViewContext *m_context;
    Side m_side;
    QString m_path, m_sheetPath; ///< the sheet's is empty until it has one
    QString m_askedPath;         ///< of the sheet that is being read or written
    bool m_isSaved = false;      ///< what is written there is what the editor shows
    std::function<void()> m_afterSaving;
    SheetEditor *m_editor;
    QLabel *m_problems, *m_counts;
    QCheckBox *m_onlyLost;
    CellTableModel *m_lines;
    QTreeView *m_view;
    QPushButton *m_use = nullptr;
    QTimer *m_pause; ///< while one types
    std::shared_ptr<const MappingTrial> m_trial;
    std::uint64_t m_askedId = 0, m_readId = 0, m_saveId = 0;
};

} // namespace forkpoint
