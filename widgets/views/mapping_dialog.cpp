// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/mapping_dialog.h"

#include "widgets/display_text.h"
#include "widgets/models/cell_table_model.h"
#include "widgets/views/saving.h"
#include "widgets/views/sheet_editor.h"
#include "widgets/views/view_setup.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSplitter>
#include <QTimer>
#include <QTreeView>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

using Line = MappingTrial::Line;

constexpr int PauseMs = 250;
constexpr double MostOfWindow = 0.95;
/// Columns of what a rule says of a line: none does before lines are tried.
constexpr int FirstField = 2, LastField = 9;
/// Problems that are told in full; the others are marked in the text and counted.
constexpr std::size_t ToldProblems = 4;

/// What one who has never written a sheet begins with.
constexpr const char *FirstSheet =
    "mapping 1\n"
    "name  my-logger\n"
    "# Say by a regular expression what stands where in a line; the table shows what comes of it:\n"
    "# line  ^step=(?P<step>\\d+) rank=(?P<rank>\\d+) (?P<name>\\S+) (?P<digest>[0-9a-f]+)$\n"
    "# set   digest_kind sha256\n"
    "# or by the keys of JSON lines:\n"
    "# key   step iteration\n"
    "# key   name tensor\n"
    "# key   value loss\n"
    "# Lines that are no records:\n"
    "# skip  ^\\[INFO\\]\n";

QString numberText(const std::optional<std::int64_t> &number)
{
    return number ? QString::number(*number) : QStringLiteral("–");
}

QString orDash(const std::string &text)
{
    return text.empty() ? QStringLiteral("–") : cellText(displayText(text));
}

Cell signOf(const Line &line)
{
    switch (line.use) {
    case Line::Use::Record:
        return {QStringLiteral("✓"), ThemeColor::Equal, false, MappingDialog::tr("record")};
    case Line::Use::Skipped:
        return {QStringLiteral("·"), ThemeColor::Muted, false, MappingDialog::tr("skipped")};
    case Line::Use::NotUnderstood:
        return {QStringLiteral("?"), ThemeColor::Unknown, false,
                MappingDialog::tr("not understood")};
    case Line::Use::Untried: break;
    }
    return {};
}

/// The fields of a record; of another line why it is none.
CellRow rowOf(const Line &line)
{
    const bool isRecord = line.use == Line::Use::Record;
    const ThemeColor color = isRecord ? ThemeColor::Text : ThemeColor::Muted;
    const QString problem = displayText(line.problem);
    const QString text = displayText(line.text);
    const std::string digest =
        line.digest.empty() ? std::string() : line.digestKind + ' ' + line.digest;
    CellRow row;
    row.cells = {signOf(line),
                 {QString::number(line.number), ThemeColor::Muted, true},
                 {line.rule ? QString::number(line.rule) : QStringLiteral("–"), color, true},
                 {isRecord ? numberText(line.step) : QString(), color, true},
                 {isRecord ? numberText(line.rank) : QString(), color, true},
                 {isRecord ? orDash(line.stage) : QString(), color},
                 {isRecord ? orDash(line.name) : cellText(problem),
                  isRecord ? ThemeColor::Text : ThemeColor::Unknown},
                 {isRecord ? numberText(line.microBatch) : QString(), color},
                 {isRecord ? orDash(digest) : QString(), color},
                 {isRecord ? orDash(line.tensor) : QString(), color},
                 {cellText(text), color}};
    row.name = text;
    row.toolTip = displayText(line.file) + u':' + QString::number(line.number) + u'\n' + text;
    if (!digest.empty())
        row.toolTip += u'\n' + displayText(digest);
    if (!problem.isEmpty())
        row.toolTip += u'\n' + problem;
    return row;
}

QLabel *wrappedLabel(QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

} // namespace

MappingDialog::MappingDialog(ViewContext *context, Side side, const QString &path, QWidget *parent)
    : QDialog(parent),
      m_context(context),
      m_side(side),
      m_path(path),
      m_editor(new SheetEditor(this)),
      m_lines(new CellTableModel(
          {QString(), tr("line"), tr("rule"), tr("step"), tr("rank"), tr("stage"), tr("name"),
           tr("micro-batch"), tr("digest or value"), tr("tensor"), tr("text")},
          {QString(), QString(), tr("The line of the sheet whose expression decided")}, this)),
      m_pause(new QTimer(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Mapping sheet"));
    m_editor->setAccessibleName(tr("Rules of the sheet"));
    m_editor->setPlainText(QString::fromLatin1(FirstSheet));
    auto *layout = new QVBoxLayout(this);
    QLabel *what = wrappedLabel(this);
    what->setText(tr("The rules by which the lines of %1 are read, and what comes of its first "
                     "lines. Nothing in the file is changed.")
                      .arg(elidedMiddle(displayText(path), 100)));
    what->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(what);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_editor);
    splitter->addWidget(buildPreview());
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    layout->addWidget(splitter, 1);
    layout->addWidget(buildButtons());
    const QSize most = parent->window()->size() * MostOfWindow;
    resize(
        QSize(fontMetrics().averageCharWidth() * 210, fontMetrics().height() * 54).boundedTo(most));

    m_pause->setSingleShot(true);
    m_pause->setInterval(PauseMs);
    connect(m_pause, &QTimer::timeout, this, &MappingDialog::ask);
    connect(m_editor, &QPlainTextEdit::textChanged, this, [this] {
        m_isSaved = false;
        m_use->setEnabled(false); // until this text has been tried
        m_pause->start();
    });
    connect(context, &ViewContext::mappingTried, this, &MappingDialog::receive);
    connect(context, &ViewContext::sheetRead, this, &MappingDialog::receiveSheet);
    connect(context, &ViewContext::requestFailed, this, &MappingDialog::receiveError);
    ask();
    if (!context->mappingSheet().isEmpty())
        openSheet(context->mappingSheet());
}

QWidget *MappingDialog::buildPreview()
{
    auto *page = new QWidget(this);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    m_problems = wrappedLabel(page);
    m_counts = wrappedLabel(page);
    m_onlyLost = new QCheckBox(tr("only what is not understood"), page);
    connect(m_onlyLost, &QCheckBox::toggled, this, &MappingDialog::showLines);
    auto *bar = new QHBoxLayout;
    bar->addWidget(m_counts, 1);
    bar->addWidget(m_onlyLost);
    layout->addWidget(m_problems);
    layout->addLayout(bar);
    m_view = makeTable(m_lines, tr("How lines are understood"), page);
    setColumnWidths(m_view, std::array{2, 6, 5, 6, 5, 9, 26, 11, 22, 18, 0});
    m_view->setTextElideMode(Qt::ElideRight); // rules are written from the beginning of a line
    addCopyRows(m_view);
    layout->addWidget(m_view, 1);
    return page;
}

QWidget *MappingDialog::buildButtons()
{
    auto *box = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto *open = box->addButton(tr("Open sheet…"), QDialogButtonBox::ActionRole);
    auto *save = box->addButton(tr("Save as…"), QDialogButtonBox::ActionRole);
    m_use = box->addButton(tr("Use"), QDialogButtonBox::AcceptRole);
    m_use->setToolTip(tr("Saves the sheet where that is still to be done, and reads the run by it, "
                         "and the other side too, as forkpoint-cli --mapping does"));
    m_use->setEnabled(false);
    for (QPushButton *button : {open, save, m_use})
        button->setAutoDefault(false);
    connect(open, &QPushButton::clicked, this,
            [this] { unlessUnsaved([this] { chooseSheet(); }); });
    connect(save, &QPushButton::clicked, this, [this] { saveAs([] {}); });
    connect(m_use, &QPushButton::clicked, this, &MappingDialog::use);
    connect(box, &QDialogButtonBox::rejected, this, &QDialog::reject);
    return box;
}

void MappingDialog::ask()
{
    m_askedId = m_context->nextRequestId();
    m_context->tryMapping(m_askedId, m_path, m_editor->text());
}

void MappingDialog::receive(quint64 id, std::shared_ptr<const MappingTrial> trial)
{
    if (id != m_askedId)
        return;
    m_trial = std::move(trial);
    std::vector<std::size_t> wrong;
    for (const MappingTrial::Problem &problem : m_trial->problems)
        wrong.push_back(problem.line);
    m_editor->setMarkedLines(std::move(wrong));
    m_use->setEnabled(m_trial->count(Line::Use::Record) > 0 && !m_pause->isActive());
    showLines();
    showSummary();
}

bool MappingDialog::isTried() const
{
    return m_trial->problems.empty() && m_trial->trouble.empty();
}

void MappingDialog::showLines()
{
    if (!m_trial)
        return;
    for (int column = FirstField; column <= LastField; ++column)
        m_view->setColumnHidden(column, !isTried());
    m_onlyLost->setEnabled(isTried());
    std::vector<CellRow> rows;
    for (const Line &line : m_trial->lines) {
        if (!m_onlyLost->isChecked() || !isTried() || line.use == Line::Use::NotUnderstood)
            rows.push_back(rowOf(line));
    }
    m_lines->setRows(std::move(rows));
}

void MappingDialog::showSummary()
{
    QStringList wrong;
    for (const MappingTrial::Problem &problem : m_trial->problems) {
        const QString text = displayText(problem.text);
        if (std::size_t(wrong.size()) < ToldProblems)
            wrong += problem.line ? tr("Line %1: %2").arg(problem.line).arg(text) : text;
    }
    if (m_trial->problems.size() > ToldProblems)
        wrong += tr("and %1 more").arg(m_trial->problems.size() - ToldProblems);
    if (!m_trial->trouble.empty())
        wrong += displayText(m_trial->trouble);
    m_problems->setText(wrong.join(u'\n'));
    m_problems->setVisible(!wrong.isEmpty());
    m_counts->setText(
        isTried() ? tr("%1: %2, %3 skipped, %4 not understood")
                        .arg(countedText(m_trial->lines.size(), "line", "lines"),
                             countedText(m_trial->count(Line::Use::Record), "record", "records"),
                             groupedText(m_trial->count(Line::Use::Skipped)),
                             groupedText(m_trial->count(Line::Use::NotUnderstood)))
                  : tr("The first lines as they are: no rule has read them"));
}

QString MappingDialog::summary() const
{
    return m_problems->text() + u'\n' + m_counts->text();
}

void MappingDialog::openSheet(const QString &path)
{
    m_askedPath = path;
    m_readId = m_context->nextRequestId();
    m_context->readSheet(m_readId, path);
}

void MappingDialog::chooseSheet()
{
    auto *dialog =
        new PathDialog(m_context, PathDialog::Mode::Open, tr("Open a mapping sheet"), this);
    connect(dialog, &PathDialog::pathChosen, this, &MappingDialog::openSheet);
    dialog->open();
}

void MappingDialog::saveSheet(const QString &path, std::function<void()> then)
{
    m_askedPath = path;
    m_afterSaving = std::move(then);
    m_saveId = m_context->nextRequestId();
    m_context->saveSheet(m_saveId, m_path, m_editor->text(), path);
}

void MappingDialog::receiveSheet(quint64 id, const QString &text)
{
    if (id != m_readId && id != m_saveId)
        return;
    m_sheetPath = m_askedPath;
    if (id == m_readId) {
        m_editor->setPlainText(text);
        m_pause->stop();
        ask();
    }
    m_isSaved = text == m_editor->text();
    m_editor->document()->setModified(!m_isSaved);
    const auto then = std::exchange(m_afterSaving, {});
    if (id == m_saveId && m_isSaved && then)
        then();
}

void MappingDialog::receiveError(quint64 id, const QString &error)
{
    if (id != m_askedId && id != m_readId && id != m_saveId)
        return;
    m_problems->setText(error);
    m_problems->show();
}

void MappingDialog::saveAs(std::function<void()> then)
{
    const QString name = QFileInfo(m_sheetPath).completeBaseName();
    askWhereToSave(m_context, this, tr("Save the mapping sheet"),
                   name.isEmpty() ? QStringLiteral("our") : name,
                   {{tr("Mapping sheet"), QStringLiteral("map")}},
                   [this, then = std::move(then)](const QString &path) { saveSheet(path, then); });
}

void MappingDialog::unlessUnsaved(std::function<void()> then)
{
    if (!m_editor->document()->isModified()) {
        then();
        return;
    }
    auto *box = new QMessageBox(
        QMessageBox::Question, windowTitle(), tr("The rules have changes that are not saved."),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::buttonClicked, this,
            [this, box, then = std::move(then)](QAbstractButton *button) {
                const auto chosen = box->standardButton(button);
                if (chosen == QMessageBox::Save)
                    saveAs(then);
                else if (chosen == QMessageBox::Discard)
                    then();
            });
    box->open();
}

void MappingDialog::reject()
{
    unlessUnsaved([this] { QDialog::reject(); });
}

/// A sheet without a file could not be named by the command that does the same.
void MappingDialog::use()
{
    if (!m_isSaved) {
        saveAs([this] { use(); });
        return;
    }
    m_context->useMapping(m_side, m_path, m_editor->text(), m_sheetPath);
    accept();
}

} // namespace forkpoint
