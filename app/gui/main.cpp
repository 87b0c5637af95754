// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/output_file.h"
#include "app/gui/arguments.h"
#include "app/gui/main_window.h"
#include "app/gui/samples.h"
#include "app/gui/session_context.h"
#include "app/gui/settings.h"
#include "app/gui/starting_view.h"
#include "loaders/traces/mapping_sheet.h"

#include <QApplication>
#include <QFile>

#include <cstdio>
#include <unistd.h>

using namespace forkpoint;

namespace {

/// How long quitting may wait for a read that does not come back.
constexpr std::chrono::milliseconds QuitPatience{1500};

QStringList wordsOf(int argc, char **argv)
{
    QStringList words;
    for (int i = 1; i < argc; ++i)
        words.append(QFile::decodeName(argv[i]));
    return words;
}

/// What needs no display: the exit status, or nothing.
std::optional<int> answerInTerminal(const Arguments &arguments)
{
    switch (arguments.mode) {
    case Arguments::Mode::Help: std::fputs(qPrintable(Arguments::help()), stdout); return 0;
    case Arguments::Mode::Version: std::puts("forkpoint " FORKPOINT_VERSION); return 0;
    case Arguments::Mode::Wrong:
        std::fprintf(stderr, "forkpoint: %s\n\n%s", qPrintable(arguments.problem),
                     qPrintable(Arguments::help()));
        return 2;
    case Arguments::Mode::Show: break;
    }
    return std::nullopt;
}

/// None where none is asked for.
Result<std::shared_ptr<const MappingSheet>> sheetOf(const Arguments &arguments)
{
    if (arguments.mapping.isEmpty())
        return std::shared_ptr<const MappingSheet>();
    return MappingSheet::read(QFile::encodeName(arguments.mapping).toStdString());
}

/// A picture must not replace what is shown in it.
Status checkScreenshot(const Arguments &arguments)
{
    if (arguments.screenshot.isEmpty())
        return {};
    std::vector<std::string> inputs;
    QStringList read = arguments.paths;
    if (!arguments.mapping.isEmpty())
        read += arguments.mapping;
    for (const QString &path : std::as_const(read))
        inputs.push_back(QFile::encodeName(path).toStdString());
    return checkOutput(QFile::encodeName(arguments.screenshot).toStdString(), inputs);
}

/// Qt would end with an abort where there is none.
bool hasDisplay()
{
    for (const char *name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        if (!qEnvironmentVariableIsEmpty(name))
            return true;
    }
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    const Arguments arguments = Arguments::parse(wordsOf(argc, argv));
    if (const std::optional<int> status = answerInTerminal(arguments))
        return *status;

    const Result<std::shared_ptr<const MappingSheet>> sheet = sheetOf(arguments);
    if (!sheet.ok()) {
        std::fprintf(stderr, "forkpoint: %s\nTry: forkpoint --help\n",
                     sheet.error().message().c_str());
        return 2;
    }
    if (const Status writable = checkScreenshot(arguments); !writable) {
        std::fprintf(stderr, "forkpoint: --screenshot: %s\n", writable.error().message().c_str());
        return 2;
    }
    if (!hasDisplay()) {
        std::fputs("forkpoint: there is no display; forkpoint-cli does the same in a terminal\n",
                   stderr);
        return 2;
    }
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("Forkpoint"));
    QApplication::setApplicationName(QStringLiteral("Forkpoint"));
    QApplication::setApplicationVersion(QStringLiteral(FORKPOINT_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("org.forkpoint.Forkpoint"));

    const bool forDocument = !arguments.screenshot.isEmpty();
    Settings settings;
    const Memory memory = forDocument ? Memory::Off : Memory::On;
    SessionEnvironment environment = SessionEnvironment::standard();
    if (arguments.noIndex || forDocument)
        environment.makeIndex = nullptr;
    SessionContext context(std::move(environment), settings, bundledSamples(), memory);
    int status = 0;
    {
        MainWindow window(context, settings, memory);
        if (arguments.theme)
            window.applyTheme(*arguments.theme);
        if (arguments.fontPoints > 0)
            window.applyFont(arguments.fontPoints);
        if (forDocument)
            window.resize(arguments.size);
        window.show();
        context.openPaths(arguments.paths, *sheet);
        std::optional<StartingView> start;
        if (forDocument || arguments.leadsSomewhere())
            start.emplace(arguments, context, window);
        status = QApplication::exec();
    }
    settings.sync();
    if (!context.shutdown(QuitPatience)) {
        // A read is stuck in a mount that does not answer: its thread cannot be joined.
        std::fflush(nullptr);
        ::_exit(status);
    }
    return status;
}
