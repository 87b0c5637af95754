// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QFont>
#include <QLocale>
#include <QStyleFactory>
#include <QTest>

#include "widgets/theme.h"

#include <atomic>

namespace forkpoint {

/// Warnings that Qt's own plugins print offscreen; any other one fails the test program.
inline bool isExpectedWarning(const QString &text)
{
    return text.contains(QLatin1String("propagateSizeHints"))
        || text.contains(QLatin1String("XDG_RUNTIME_DIR"));
}

inline std::atomic<int> unexpectedWarnings = 0;
inline QtMessageHandler previousHandler = nullptr;

inline void countWarnings(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    if ((type == QtWarningMsg || type == QtCriticalMsg) && !isExpectedWarning(text))
        ++unexpectedWarnings;
    if (previousHandler)
        previousHandler(type, context, text);
}

/// Fixed platform, style, font, palette and locale, whatever the machine has.
template <class Test>
int runWidgetTest(int argc, char **argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QLocale::setDefault(QLocale::c());
    QApplication application(argc, argv);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9));
    QApplication::setPalette(lightPalette());
    previousHandler = qInstallMessageHandler(countWarnings);
    Test test;
    const int failed = QTest::qExec(&test, argc, argv);
    if (unexpectedWarnings > 0)
        std::fprintf(stderr, "%d unexpected warnings\n", unexpectedWarnings.load());
    return failed + unexpectedWarnings;
}

} // namespace forkpoint

#define FP_WIDGET_TEST_MAIN(Test)                          \
    int main(int argc, char **argv)                        \
    {                                                      \
        return forkpoint::runWidgetTest<Test>(argc, argv); \
    }
