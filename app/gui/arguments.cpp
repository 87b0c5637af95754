// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/arguments.h"

namespace forkpoint {

namespace {

/// Parts between commas; an index has commas of its own ("goto=1,2").
QStringList shownParts(const QString &value)
{
    QStringList parts;
    for (const QString &part : value.split(u',', Qt::SkipEmptyParts)) {
        bool isNumber = false;
        part.trimmed().toULongLong(&isNumber);
        if (isNumber && !parts.isEmpty() && parts.last().startsWith(QLatin1String("goto=")))
            parts.last() += u',' + part;
        else
            parts += part;
    }
    return parts;
}

/// Takes the option's value into `arguments`; false when it makes no sense.
bool takeOption(Arguments &arguments, const QString &option, const QString &value)
{
    if (option == QLatin1String("--screenshot")) {
        arguments.screenshot = value;
        return !value.isEmpty();
    }
    if (option == QLatin1String("--mapping")) {
        arguments.mapping = value;
        return !value.isEmpty();
    }
    if (option == QLatin1String("--show")) {
        arguments.show = shownParts(value);
        return !arguments.show.isEmpty();
    }
    if (option == QLatin1String("--font")) {
        arguments.fontPoints = value.toInt();
        return arguments.fontPoints >= 6 && arguments.fontPoints <= 32;
    }
    if (option == QLatin1String("--state")) {
        arguments.early = value == QLatin1String("loading");
        arguments.cancel = value == QLatin1String("cancelled");
        return arguments.early || arguments.cancel;
    }
    if (option == QLatin1String("--select")) {
        arguments.select = value;
        return !value.isEmpty();
    }
    if (option == QLatin1String("--step")) {
        bool valid = false;
        arguments.step = value.toLongLong(&valid);
        return valid;
    }
    if (option == QLatin1String("--theme")) {
        if (value == QLatin1String("light"))
            arguments.theme = ThemeChoice::Light;
        else if (value == QLatin1String("dark"))
            arguments.theme = ThemeChoice::Dark;
        return arguments.theme.has_value();
    }
    const QStringList sides = value.split(u'x');
    if (sides.size() == 2)
        arguments.size = QSize(sides[0].toInt(), sides[1].toInt());
    constexpr QSize Least(100, 100), Most(8192, 8192);
    return sides.size() == 2 && arguments.size.expandedTo(Least) == arguments.size
        && arguments.size.boundedTo(Most) == arguments.size;
}

Arguments wrong(const QString &problem)
{
    Arguments arguments;
    arguments.mode = Arguments::Mode::Wrong;
    arguments.problem = problem;
    return arguments;
}

} // namespace

Arguments Arguments::parse(const QStringList &words)
{
    static const QStringList valued{
        QStringLiteral("--screenshot"), QStringLiteral("--size"), QStringLiteral("--theme"),
        QStringLiteral("--select"),     QStringLiteral("--step"), QStringLiteral("--show"),
        QStringLiteral("--state"),      QStringLiteral("--font"), QStringLiteral("--mapping")};
    Arguments arguments;
    bool optionsOver = false;
    for (qsizetype i = 0; i < words.size(); ++i) {
        const QString &word = words[i];
        if (optionsOver || !word.startsWith(u'-') || word.size() == 1) {
            arguments.paths.append(word);
        } else if (word == QLatin1String("--")) {
            optionsOver = true;
        } else if (word == QLatin1String("--help") || word == QLatin1String("-h")) {
            arguments.mode = Mode::Help;
            return arguments;
        } else if (word == QLatin1String("--version")) {
            arguments.mode = Mode::Version;
            return arguments;
        } else if (word == QLatin1String("--no-index")) {
            arguments.noIndex = true;
        } else if (!valued.contains(word)) {
            return wrong(word + QLatin1String(": no such option"));
        } else if (i + 1 == words.size()) {
            return wrong(word + QLatin1String(": needs a value"));
        } else if (!takeOption(arguments, word, words[++i])) {
            return wrong(word + QLatin1String(": cannot be ") + words[i]);
        }
    }
    if (arguments.paths.size() > 2)
        return wrong(QStringLiteral("at most two paths can be compared"));
    if (!arguments.mapping.isEmpty() && arguments.paths.isEmpty())
        return wrong(
            QStringLiteral("--mapping SHEET says how A and B are read, and neither is given"));
    return arguments;
}

QString Arguments::help()
{
    return QStringLiteral(
        "forkpoint [A [B]]\n"
        "\n"
        "Shows where two training runs part. A and B: a checkpoint, or a directory with a series\n"
        "of them. With both, they are compared at once; without, the window asks. A report that\n"
        "forkpoint-cli wrote (.json) is shown as it was recorded.\n"
        "\n"
        "  -h, --help            this text\n"
        "      --version         the version\n"
        "      --mapping SHEET   read the lines of a trace that no dialect knows by the rules of "
        "SHEET\n"
        "      --no-index        neither use nor write the index of fingerprints\n"
        "      --step N          selects a step\n"
        "      --select NAME     selects a tensor\n"
        "      --show A,B,...    pages and docks: tensors, modules, values, recipe, pairing,\n"
        "                        differing, elements, where, steps, facts, layout, findings,\n"
        "                        problems, resume, nonfinite, of traces records, ranks, drift,\n"
        "                        rank-rows, micro-batch-rows (of the timeline);\n"
        "                        pin and expect mark the selected tensor, filter=TEXT,\n"
        "                        rename=RULE, goto=INDEX and mapping=SHEET fill in what they\n"
        "                        name;\n"
        "                        dialogs: open, export, print, mapping, shortcuts\n"
        "\n"
        "For documents and tests:\n"
        "      --screenshot FILE writes the window to a PNG once the comparison has finished,\n"
        "                        and quits: 0 written, 2 not\n"
        "      --size WxH        size of the window, 1280x800\n"
        "      --theme NAME      light or dark\n"
        "      --state NAME      loading: at once; cancelled: after a cancel\n"
        "      --font POINTS     size of the font\n"
        "\n"
        "The same comparison without a display: forkpoint-cli compare A B\n");
}

} // namespace forkpoint
