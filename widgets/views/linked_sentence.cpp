// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/linked_sentence.h"

#include "model/state_class.h"
#include "widgets/display_text.h"

#include <algorithm>

namespace forkpoint {

namespace {

using Segment = StyledText::Segment;

/// Rows are sorted by name.
template <class Row>
bool holds(const std::vector<Row> &rows, const std::string &name)
{
    const auto found = std::lower_bound(
        rows.begin(), rows.end(), name,
        [](const Row &row, const std::string &wanted) { return row.name < wanted; });
    return found != rows.end() && found->name == name;
}

Segment linked(const Segment &plain, const QString &text, const QString &link)
{
    Segment segment = plain;
    segment.text = text;
    segment.link = link;
    return segment;
}

/// A word of a sentence without the punctuation around it: [first, end) of the text.
struct Word
{
    qsizetype first = 0, end = 0;
    bool inBrackets = false;
};

Word nextWord(const QString &text, qsizetype from)
{
    Word word;
    while (from < text.size() && text[from].isSpace())
        ++from;
    word.first = from;
    while (from < text.size() && !text[from].isSpace())
        ++from;
    word.end = from;
    word.inBrackets = word.first < word.end && text[word.first] == u'(';
    if (word.inBrackets)
        ++word.first;
    while (word.end > word.first && QStringLiteral(".,;:)").contains(text[word.end - 1]))
        --word.end;
    return word;
}

} // namespace

LinkedSentence::LinkedSentence(const RunComparison &runs, const CheckpointComparison &shown)
    : m_runs(runs),
      m_shown(shown)
{
}

/// The name of what differs first may hold anything, spaces too: it is sought as a whole.
void LinkedSentence::append(std::vector<Segment> &segments, const QString &text,
                            const Segment &plain) const
{
    const QString first =
        m_runs.firstDivergence ? displayText(m_runs.firstDivergence->name) : QString();
    const qsizetype at = first.contains(u' ') ? text.indexOf(first) : -1;
    if (at < 0) {
        appendWords(segments, text, plain);
        return;
    }
    appendWords(segments, text.left(at), plain);
    segments.push_back(linked(plain, first, QStringLiteral("item:") + first));
    appendWords(segments, text.mid(at + first.size()), plain);
}

void LinkedSentence::appendWords(std::vector<Segment> &segments, const QString &text,
                                 const Segment &plain) const
{
    qsizetype written = 0, stepAt = 0;
    QString before;
    for (Word word = nextWord(text, 0); word.first < text.size(); word = nextWord(text, word.end)) {
        if (word.end == word.first) { // punctuation alone
            ++word.end;
            continue;
        }
        const QString name = text.mid(word.first, word.end - word.first);
        const bool isNamed = text.mid(word.end, 2) == QLatin1String(" (");
        const QString link = linkOf(name, before, word.inBrackets, isNamed);
        if (!link.isEmpty()) {
            // A step is called by its word, too.
            const qsizetype begin =
                link.startsWith(QLatin1String("step:")) ? std::max(stepAt, written) : word.first;
            if (begin > written)
                segments.push_back(linked(plain, text.mid(written, begin - written), {}));
            segments.push_back(linked(plain, text.mid(begin, word.end - begin), link));
            written = word.end;
        }
        before = name;
        stepAt = word.first;
    }
    if (written < text.size())
        segments.push_back(linked(plain, text.mid(written), {}));
}

/// Items may be called like words of prose ("step", "loss"): such a word is one where it `isNamed`,
/// its class behind it in brackets.
QString LinkedSentence::linkOf(const QString &word, const QString &before, bool inBrackets,
                               bool isNamed) const
{
    if (inBrackets)
        return linkOfPlace(word);
    if (before == QLatin1String("step"))
        return linkOfStep(word);
    const std::string name = word.toStdString();
    const auto &first = m_runs.firstDivergence;
    const auto isMetric = std::any_of(m_runs.metrics.begin(), m_runs.metrics.end(),
                                      [&](const auto &metric) { return metric.name == name; });
    const bool isProse =
        std::all_of(word.begin(), word.end(), [](QChar c) { return c.isLetter(); });
    const bool isItem = (isNamed || !isProse)
        && (holds(m_shown.tensors, name) || holds(m_shown.values, name)
            || (first && word == displayText(first->name)));
    if (isItem)
        return QStringLiteral("item:") + word;
    return isMetric ? QStringLiteral("metric:") + word : QString();
}

QString LinkedSentence::linkOfStep(const QString &number) const
{
    bool valid = false;
    const Step step = number.toLongLong(&valid);
    const auto &marks = m_runs.steps;
    const bool isShown = valid
        && std::any_of(marks.begin(), marks.end(),
                       [&](const StepMark &mark) { return mark.step == step; });
    return isShown ? QStringLiteral("step:") + number : QString();
}

/// Of a class its rows, of a stage its records.
QString LinkedSentence::linkOfPlace(const QString &word) const
{
    const std::string name = word.toStdString();
    if (const auto &first = m_runs.firstDivergence; m_runs.trace && first && first->step) {
        const bool isStage =
            std::any_of(m_runs.chain.begin(), m_runs.chain.end(), [&](const ChainLink &link) {
                return link.step == first->step && link.stage == name;
            });
        if (isStage)
            return QStringLiteral("place:%1:%2").arg(*first->step).arg(word);
    }
    const auto stateClass = stateClassByName(name);
    return stateClass && m_shown.byClass.contains(*stateClass) ? QStringLiteral("class:") + word
                                                               : QString();
}

} // namespace forkpoint
