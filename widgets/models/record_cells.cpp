// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/record_cells.h"

#include "widgets/display_text.h"
#include "widgets/models/record_texts.h"

#include <algorithm>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("RecordCells", text);
}

const QString Nothing = QStringLiteral("–");

/// The observation that tells most of a record: the first that differs from its partner, else the
/// first output, else the first input.
const Observation *tellingOf(const std::optional<ListedRecord> &own,
                             const std::optional<ListedRecord> &other)
{
    if (!own)
        return nullptr;
    const auto differing = [](const std::vector<Observation> &mine,
                              const std::vector<Observation> &theirs) -> const Observation * {
        for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
            if (compareObservations({&mine[i], 1}, {&theirs[i], 1}).evidence == Evidence::Different)
                return &mine[i];
        }
        return nullptr;
    };
    const TraceRecord &record = own->record;
    if (other) {
        for (const auto &[mine, theirs] : {std::pair{&record.outputs, &other->record.outputs},
                                           std::pair{&record.inputs, &other->record.inputs}}) {
            if (const Observation *found = differing(*mine, *theirs))
                return found;
        }
    }
    if (!record.outputs.empty())
        return &record.outputs.front();
    return record.inputs.empty() ? nullptr : &record.inputs.front();
}

/// The digest that tells most, and how many more there are.
QString digestCell(const std::optional<ListedRecord> &own, const std::optional<ListedRecord> &other)
{
    if (!own)
        return Nothing;
    const Observation *telling = tellingOf(own, other);
    if (!telling) {
        if (own->record.fields.empty())
            return Nothing;
        const auto &[name, value] = own->record.fields.front();
        return displayText(name) + u'=' + displayText(value);
    }
    return observedText(*telling);
}

QString shapeCell(const RecordRow &row)
{
    const Observation *a = tellingOf(row.a, row.b), *b = tellingOf(row.b, row.a);
    const Observation *shown = a ? a : b;
    return shown && shown->shape ? shapeText({*shown->shape}) : QString();
}

ThemeColor sideColor(const RecordRow &row, ThemeColor side)
{
    const bool differs = isDifference(row.status) && row.status != RecordStatus::Moved;
    return differs || row.status == RecordStatus::NotCompared ? side : ThemeColor::Muted;
}

QString recordTip(const RecordRow &row)
{
    QStringList lines = {describe(row.status) + QStringLiteral(": ")
                         + recordPlaceText(row.record())};
    if (row.moved)
        lines += tr("The records stand at other places: %1 in A, %2 in B")
                     .arg(qs(row.a->record.place.toText()), qs(row.b->record.place.toText()));
    if (row.afterSlip)
        lines += tr("call %1 in A, call %2 in B: a record more or less before them")
                     .arg(row.a->record.call)
                     .arg(row.b->record.call);
    for (const auto &[name, side] : {std::pair{tr("A: "), &row.a}, std::pair{tr("B: "), &row.b}}) {
        if (*side && !(*side)->record.caller.empty())
            lines += name + displayText((*side)->record.caller);
    }
    return lines.join(u'\n');
}

} // namespace

QString recordNameText(const TraceRecord &record)
{
    if (!record.name.empty())
        return displayText(record.name);
    switch (record.role) {
    case RecordRole::IterationBegin: return tr("begin of the step");
    case RecordRole::IterationEnd: return tr("end of the step");
    case RecordRole::Runtime: return tr("the process");
    case RecordRole::Failure: return tr("failure");
    case RecordRole::Truncated: return tr("recording ended");
    default: return tr("without a name");
    }
}

QString recordStepText(const TraceRecord &record)
{
    QString text = record.iteration ? QString::number(*record.iteration) : Nothing;
    if (record.microBatch)
        text += u'.' + QString::number(*record.microBatch);
    return text;
}

QString recordPlaceText(const TraceRecord &record)
{
    QStringList parts;
    if (record.iteration)
        parts += tr("step %1").arg(*record.iteration);
    if (!record.stage.empty())
        parts += displayText(record.stage);
    parts += recordNameText(record);
    if (!record.scope.empty() && record.scope != record.name)
        parts += tr("in %1").arg(displayText(record.scope));
    if (record.microBatch)
        parts += tr("micro-batch %1").arg(*record.microBatch);
    parts += tr("call %1").arg(record.call);
    if (!record.group.empty())
        parts += tr("group %1").arg(displayText(record.group));
    return parts.join(QStringLiteral(", "));
}

QString evidenceText(const EvidenceSum &evidence)
{
    if (evidence.evidence == Evidence::Different)
        return qs(toString(evidence.strongestDifferent));
    if (evidence.compared == 0)
        return Nothing;
    QString text = qs(toString(evidence.weakestEqual));
    if (evidence.fewestBits)
        text += tr(" (%1 bits)").arg(*evidence.fewestBits);
    return text;
}

// --- the list ------------------------------------------------------------------------------------

QStringList recordTitles()
{
    return {QString(),  QString(),   tr("step"), tr("stage"), tr("record"),
            tr("call"), tr("shape"), tr("A"),    tr("B"),     tr("evidence")};
}

QStringList recordTitleTips()
{
    return {QString(),
            QString(),
            tr("step and micro-batch"),
            tr("of the causal chain"),
            tr("as the trace spells it"),
            tr("number among those of one kind"),
            tr("of the tensor whose digest is shown"),
            tr("the first digest that differs, else the first output's"),
            tr("the first digest that differs, else the first output's"),
            tr("what a difference rests on, or how far an equality reaches")};
}

CellRow recordCells(const RecordRow &row)
{
    const TraceRecord &record = row.record();
    const Look shown = look(row.status);
    CellRow cells;
    cells.name = recordNameText(record);
    cells.toolTip = recordTip(row);
    const QString what =
        row.moved && row.status == RecordStatus::Different ? tr("different, moved") : shown.words;
    cells.cells = {Cell::sign(shown),
                   {what, shown.color},
                   {recordStepText(record), ThemeColor::Muted, true},
                   {record.stage.empty() ? Nothing : displayText(record.stage)},
                   {cells.name},
                   {QString::number(record.call), ThemeColor::Muted, true},
                   {shapeCell(row), ThemeColor::Muted, true},
                   {digestCell(row.a, row.b), sideColor(row, ThemeColor::A), true},
                   {digestCell(row.b, row.a), sideColor(row, ThemeColor::B), true},
                   {evidenceText(row.evidence.all()), ThemeColor::Muted}};
    return cells;
}

// --- one record -----------------------------------------------------------------------------------

QStringList observationTitles()
{
    return {QString(), tr("tensor"), tr("shape and type"), tr("A"), tr("B"), tr("evidence")};
}

namespace {

Look lookOf(const EvidenceSum &evidence)
{
    switch (evidence.evidence) {
    case Evidence::Different: return look(RecordStatus::Different);
    case Evidence::NotComparable: return look(RecordStatus::NotComparable);
    case Evidence::Equal:
        return look(provesEquality(evidence.weakestEqual) ? RecordStatus::Equal
                                                          : RecordStatus::NoneSeen);
    case Evidence::Nothing: break;
    }
    return look(RecordStatus::NoValue);
}

/// `alone`: how one stands that has no partner.
CellRow observationCells(const QString &which, const Observation *a, const Observation *b,
                         RecordStatus alone)
{
    Look shown = look(alone);
    QString evidence = Nothing;
    bool differs = true;
    if (a && b) {
        const EvidenceSum sum = compareObservations({a, 1}, {b, 1});
        shown = lookOf(sum);
        differs = sum.evidence == Evidence::Different;
        evidence = evidenceText(sum);
        if (sum.metadataDiffers)
            evidence += tr(", metadata differ");
    }
    const QString layoutA = a ? observedLayout(*a) : QString(),
                  layoutB = b ? observedLayout(*b) : QString();
    QString layout = a ? layoutA : layoutB;
    if (a && b && layoutA != layoutB)
        layout += QStringLiteral(" → ") + layoutB;
    CellRow row;
    row.name = which;
    row.toolTip = shown.words + QStringLiteral("\nA: ") + (a ? observedWhole(*a) : Nothing)
        + QStringLiteral("\nB: ") + (b ? observedWhole(*b) : Nothing);
    row.cells = {
        Cell::sign(shown),
        {which},
        {layout, ThemeColor::Muted},
        {a ? observedText(*a) : Nothing, differs ? ThemeColor::A : ThemeColor::Muted, true},
        {b ? observedText(*b) : Nothing, differs ? ThemeColor::B : ThemeColor::Muted, true},
        {evidence, ThemeColor::Muted}};
    return row;
}

/// Numbers that a tool wrote beside the digest: for people, and no evidence.
void addStatistics(const Observation *a, const Observation *b, std::vector<CellRow> &rows)
{
    const auto valueIn = [](const Observation *side, const std::string &name) {
        if (side) {
            for (const auto &[known, value] : side->statistics) {
                if (known == name)
                    return displayText(value);
            }
        }
        return Nothing;
    };
    for (const auto &[name, value] : (a ? a : b)->statistics) {
        CellRow row;
        row.name = displayText(name);
        const QString left = valueIn(a, name), right = valueIn(b, name);
        const bool differs = left != right;
        row.toolTip = tr("written beside the digest: for people, no evidence");
        row.cells = {{},
                     {QStringLiteral("   ") + row.name, ThemeColor::Muted},
                     {},
                     {left, differs ? ThemeColor::A : ThemeColor::Muted, true},
                     {right, differs ? ThemeColor::B : ThemeColor::Muted, true},
                     {}};
        rows.push_back(std::move(row));
    }
}

void addObservations(const char *kind, const std::vector<Observation> &a,
                     const std::vector<Observation> &b, bool isCompared, std::vector<CellRow> &rows)
{
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const Observation *left = i < a.size() ? &a[i] : nullptr,
                          *right = i < b.size() ? &b[i] : nullptr;
        const std::string &path = (left ? left : right)->path;
        const QString which =
            tr(kind) + u' ' + (path.empty() ? QString::number(i) : displayText(path));
        rows.push_back(observationCells(which, left, right,
                                        !isCompared ? RecordStatus::NotCompared
                                            : left  ? RecordStatus::OnlyA
                                                    : RecordStatus::OnlyB));
        addStatistics(left, right, rows);
    }
}

void addLeftOut(const char *kind, std::uint64_t all, std::size_t shown, std::vector<CellRow> &rows)
{
    if (all <= shown)
        return;
    CellRow row;
    row.name = tr("%1 more %2s are not listed, but compared").arg(all - shown).arg(tr(kind));
    row.toolTip = row.name;
    row.cells = {{QStringLiteral("…"), ThemeColor::Muted}, {row.name, ThemeColor::Muted}};
    rows.push_back(std::move(row));
}

} // namespace

std::vector<CellRow> observationRows(const RecordRow &row)
{
    static const TraceRecord None;
    const TraceRecord &a = row.a ? row.a->record : None, &b = row.b ? row.b->record : None;
    const auto most = [&](auto count) {
        return std::max(row.a ? (*row.a).*count : 0, row.b ? (*row.b).*count : 0);
    };
    const bool isCompared = row.status != RecordStatus::NotCompared;
    std::vector<CellRow> rows;
    addObservations("input", a.inputs, b.inputs, isCompared, rows);
    addLeftOut("input", most(&ListedRecord::inputs), std::max(a.inputs.size(), b.inputs.size()),
               rows);
    addObservations("output", a.outputs, b.outputs, isCompared, rows);
    addLeftOut("output", most(&ListedRecord::outputs), std::max(a.outputs.size(), b.outputs.size()),
               rows);
    addObservations("value", fieldsOf(a), fieldsOf(b), isCompared, rows);
    addLeftOut("value", most(&ListedRecord::fields), std::max(a.fields.size(), b.fields.size()),
               rows);
    return rows;
}

// --- ranks ----------------------------------------------------------------------------------------

QStringList rankTitles()
{
    return {QString(), tr("rank"), tr("class"), tr("first mismatch"), tr("differ"), tr("why")};
}

CellRow rankCells(const RankComparison &rank)
{
    CellRow row;
    row.name = displayText(rank.coordinate.toText());
    const QString counts =
        QStringLiteral("%1/%2").arg(groupedText(rank.different), groupedText(rank.records));
    if (!rank.first) {
        row.toolTip = tr("%1: no record differs, of %2")
                          .arg(row.name, countedText(rank.records, "record", "records"));
        row.cells = {Cell::sign(look(RecordStatus::NoneSeen)), {row.name},
                     {tr("none differs"), ThemeColor::Muted},  {Nothing, ThemeColor::Muted},
                     {counts, ThemeColor::Muted, true},        {}};
        return row;
    }
    const RankDivergence &first = *rank.first;
    const RecordName &record = first.record;
    QStringList place;
    if (record.iteration)
        place += tr("step %1").arg(*record.iteration);
    if (!record.stage.empty())
        place += displayText(record.stage);
    place += displayText(record.name);
    if (record.microBatch)
        place += tr("micro-batch %1").arg(*record.microBatch);
    const QString at = place.join(QStringLiteral(", "));
    const QString kind = displayText(toString(first.kind));
    const QString why = displayText(first.classification.why);
    row.toolTip = tr("%1: %2\n%3, by %4\n%5 equal before it")
                      .arg(at, why, kind, qs(toString(first.strength)),
                           countedText(first.equalBefore, "record is", "records are"));
    if (!first.classification.probe.empty())
        row.toolTip += tr("\nrecord next: %1").arg(displayText(first.classification.probe));
    row.cells = {Cell::sign(look(RecordStatus::Different)),
                 {row.name},
                 {qs(toString(first.classification.divergenceClass)), ThemeColor::Difference},
                 {at},
                 {counts, ThemeColor::Text, true},
                 {why}};
    return row;
}

CellRow loneRankCells(const TraceCoordinate &rank, bool isA)
{
    CellRow row;
    row.name = displayText(rank.toText());
    const QString why = isA ? tr("only in A: nothing of it is compared")
                            : tr("only in B: nothing of it is compared");
    row.toolTip = row.name + QStringLiteral(": ") + why;
    row.cells = {Cell::sign(look(isA ? RecordStatus::OnlyA : RecordStatus::OnlyB)),
                 {row.name},
                 {tr("not compared"), ThemeColor::Unknown},
                 {Nothing, ThemeColor::Muted},
                 {Nothing, ThemeColor::Muted, true},
                 {why}};
    return row;
}

// --- over the steps -------------------------------------------------------------------------------

QStringList driftTitles()
{
    return {QString(), tr("step"), QString(),       tr("number"),
            tr("A"),   tr("B"),    tr("|B−A|/|A|"), tr("evidence")};
}

CellRow driftCells(const DriftPoint &point, const std::string &statistic)
{
    const Look shown = look(point.status);
    const auto found =
        std::find_if(point.statistics.begin(), point.statistics.end(),
                     [&](const DriftPoint::Statistic &each) { return each.name == statistic; });
    const DriftPoint::Statistic *numbers = found == point.statistics.end() ? nullptr : &*found;
    const auto number = [](std::optional<double> value) {
        return value ? QString::number(*value, 'g', 9) : Nothing;
    };
    QString what = shown.words;
    if (point.status == RecordStatus::OnlyA && !point.inB)
        what = tr("B has no such step");
    if (point.status == RecordStatus::OnlyB && !point.inA)
        what = tr("A has no such step");
    const std::optional<double> relative = numbers ? numbers->relative() : std::nullopt;
    CellRow row;
    row.name = point.iteration ? QString::number(*point.iteration) : Nothing;
    row.toolTip = tr("step %1: %2").arg(row.name, what);
    row.cells = {
        Cell::sign(shown),
        {row.name, ThemeColor::Text, true},
        {what, shown.color},
        {numbers ? displayText(numbers->name) : tr("no number recorded"), ThemeColor::Muted},
        {numbers ? number(numbers->a) : Nothing, ThemeColor::A, true},
        {numbers ? number(numbers->b) : Nothing, ThemeColor::B, true},
        {relative ? magnitudeText(*relative) : Nothing, ThemeColor::Text, true},
        {evidenceText(point.evidence), ThemeColor::Muted}};
    return row;
}

} // namespace forkpoint
