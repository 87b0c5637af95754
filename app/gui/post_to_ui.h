// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>

#include <utility>

namespace forkpoint {

/// Runs `function` on the UI thread, in the order of posting, unless `guard` is gone by then. From
/// any thread; the guard is made and looked at on the UI thread only.
template <class Function>
void postToUi(const QPointer<QObject> &guard, Function function)
{
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [guard, function = std::move(function)]() mutable {
            if (guard)
                function();
        },
        Qt::QueuedConnection);
}

} // namespace forkpoint
