// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_facts.h"

#include "model/compare/row_stats.h"
#include "model/format.h"
#include "widgets/display_text.h"
#include "widgets/theme.h"

#include <QCoreApplication>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("TensorFacts", text);
}

class FactList
{
public:
    void section(const QString &name) { m_facts.push_back({name, {}, {}, true}); }
    void both(const QString &name, const QString &value) { m_facts.push_back({name, value, {}}); }
    void sides(const QString &name, const QString &a, const QString &b)
    {
        m_facts.push_back({name, a, b});
    }
    std::vector<Fact> take() { return std::move(m_facts); }

private:
    std::vector<Fact> m_facts;
};

QString number(std::optional<double> value)
{
    return value ? qs(shortest(*value)) : tr("no finite pair");
}

QString elementText(Index index, const Shape &shape)
{
    QString place = QString::number(index);
    if (shape.rank() > 1) {
        QStringList parts;
        for (Index coordinate : coordinatesOf(index, shape))
            parts += QString::number(coordinate);
        place += QStringLiteral(" = [%1]").arg(parts.join(QStringLiteral(", ")));
    }
    return tr("element ") + place;
}

void addIdentity(FactList &facts, const TensorRow &row)
{
    const QString absent = tr("not there");
    facts.section(tr("What it is"));
    facts.both(tr("name"), displayText(row.name));
    facts.sides(tr("name in the file"), row.a ? displayText(row.nameA) : absent,
                row.b ? displayText(row.nameB) : absent);
    const auto layout = [&](bool there, bool isKnown, const QString &text) {
        return there ? layoutText(isKnown, text) : absent;
    };
    const bool inA = row.a.has_value(), inB = row.b.has_value();
    facts.sides(tr("dtype"), layout(inA, row.layoutKnownA, displayText(row.dtypeA.name)),
                layout(inB, row.layoutKnownB, displayText(row.dtypeB.name)));
    facts.sides(tr("shape"), layout(inA, row.layoutKnownA, qs(row.shapeA.toString())),
                layout(inB, row.layoutKnownB, qs(row.shapeB.toString())));
    facts.both(tr("elements"), groupedText(row.elements));
    facts.both(tr("bytes of both sides"), bytesText(row.bytes));
    facts.both(tr("status"),
               describe(row.status)
                   + (row.reason.empty()
                          ? QString()
                          : QString(u':' + QString(u' ') + displayText(row.reason))));
    if (!row.comparedAs.empty())
        facts.both(tr("compared as"), displayText(row.comparedAs));
    const std::string_view pairedBy = toString(row.pairedBy);
    facts.both(tr("paired by"), pairedBy.empty() ? tr("not paired") : qs(pairedBy));
    if (!row.pairedReason.empty())
        facts.both(tr("pairing reason"), displayText(row.pairedReason));
    const StateClassRule *rule = StateClassRules::builtin().match(row.name, true);
    facts.both(tr("class"), qs(toString(row.stateClass)));
    facts.both(tr("class by rule"),
               rule ? displayText(rule->pattern + ": " + rule->reason)
                    : tr("no rule matches the name"));
}

void addDifference(FactList &facts, const TensorRow &row, const DiffStats &stats)
{
    const Shape &shape = row.shapeA;
    facts.section(tr("How it differs"));
    facts.both(tr("different elements"),
               tr("%1 of %2 (%3)")
                   .arg(groupedText(stats.differentElements), groupedText(stats.elements),
                        percentText(stats.differentElements, stats.elements)));
    facts.both(tr("equal as values"), stats.valueEqual() ? tr("yes") : tr("no"));
    if (stats.differentElements > 0) {
        facts.both(tr("first difference"), elementText(stats.firstIndex, shape));
        facts.both(tr("last difference"), elementText(stats.lastIndex, shape));
    }
    // Values and places apart: neither is cut off at the width of a column.
    const auto largest = [&](const QString &name, const QString &value, Index index) {
        facts.both(name, value);
        if (index != NoIndex)
            facts.both(tr("%1 is at").arg(name), elementText(index, shape));
    };
    largest(tr("max |B−A|"),
            measuredType(row).isInteger() ? groupedText(stats.maxAbsInteger)
                                          : qs(shortest(stats.maxAbs)),
            stats.maxAbsIndex);
    if (measuredType(row).isFloating()) {
        largest(tr("max ULP"), groupedText(stats.maxUlp), stats.maxUlpIndex);
        facts.both(tr("median ULP of all pairs"), ulpRangeText(ulpPercentile(stats, 50)));
        facts.both(tr("99th percentile of ULP"), ulpRangeText(ulpPercentile(stats, 99)));
    }
    facts.both(tr("mean |B−A|"), number(stats.meanAbs()));
    facts.both(tr("RMS of B−A"), number(stats.rms()));
    facts.both(tr("relative L2: RMS of B−A / RMS of A"), number(relativeDifference(stats)));
    facts.sides(tr("RMS"), number(stats.rmsA()), number(stats.rmsB()));
    facts.both(tr("cosine"), number(stats.cosine()));
    facts.both(tr("pairs with two finite sides"), groupedText(stats.finitePairs));
    facts.sides(tr("NaN"), groupedText(stats.nanA), groupedText(stats.nanB));
    facts.sides(tr("Inf"), groupedText(stats.infA), groupedText(stats.infB));
    facts.both(tr("NaN with other payloads only"), groupedText(stats.nanPayloadOnly));
    facts.both(tr("+0 against −0 only"), groupedText(stats.signedZeroOnly));
    facts.both(tr("sign flips"), groupedText(stats.signFlips));
}

QString placeOf(const TensorRef &ref, std::size_t extent)
{
    const Extent &e = ref.extents[extent];
    if (e.fills == Extent::Fills::FillValue)
        return tr("a fill value");
    const QString file =
        e.file < ref.files.size() ? displayText(ref.files[e.file]) : tr("file %1").arg(e.file);
    return tr("%1: bytes %2 to %3")
        .arg(file, groupedText(e.offset), groupedText(e.offset + e.length));
}

void addPlaces(FactList &facts, const TensorRef *a, const TensorRef *b)
{
    constexpr std::size_t MostPlaces = 50;
    facts.section(tr("Where its bytes are"));
    if (!a && !b) {
        facts.both(tr("files"), tr("not known yet"));
        return;
    }
    const std::size_t places = std::max(a ? a->extents.size() : 0, b ? b->extents.size() : 0);
    for (std::size_t i = 0; i < std::min(places, MostPlaces); ++i) {
        const QString none;
        facts.sides(tr("stored at"), a && i < a->extents.size() ? placeOf(*a, i) : none,
                    b && i < b->extents.size() ? placeOf(*b, i) : none);
    }
    if (places > MostPlaces)
        facts.both(tr("stored at"),
                   tr("… and %1 more places").arg(groupedText(places - MostPlaces)));
    const auto note = [](const TensorRef *ref) {
        if (!ref)
            return tr("not there");
        if (ref->unreadable)
            return displayText(ref->unreadable->message());
        return ref->note.empty() ? QStringLiteral("–") : displayText(ref->note);
    };
    facts.sides(tr("note"), note(a), note(b));
}

} // namespace

std::vector<Fact> tensorFacts(const TensorRow &row, const DiffStats *stats, const TensorRef *a,
                              const TensorRef *b)
{
    FactList facts;
    addIdentity(facts, row);
    if (stats)
        addDifference(facts, row, *stats);
    facts.section(tr("Fingerprints"));
    const auto digest = [](const std::optional<TensorFingerprint> &fingerprint,
                           Digest128 TensorFingerprint::*part) {
        return fingerprint ? qs((*fingerprint.*part).toHex()) : tr("not computed");
    };
    facts.sides(tr("content"), digest(row.fingerprintA, &TensorFingerprint::content),
                digest(row.fingerprintB, &TensorFingerprint::content));
    facts.sides(tr("tensor"), digest(row.fingerprintA, &TensorFingerprint::tensor),
                digest(row.fingerprintB, &TensorFingerprint::tensor));
    addPlaces(facts, a, b);
    return facts.take();
}

} // namespace forkpoint
