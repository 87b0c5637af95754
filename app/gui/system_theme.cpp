// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/system_theme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>

namespace forkpoint {

namespace {

const QString Service = QStringLiteral("org.freedesktop.portal.Desktop");
const QString Path = QStringLiteral("/org/freedesktop/portal/desktop");
const QString Interface = QStringLiteral("org.freedesktop.portal.Settings");
const QString Group = QStringLiteral("org.freedesktop.appearance");
const QString Key = QStringLiteral("color-scheme");

} // namespace

SystemTheme::SystemTheme(QObject *parent) : QObject(parent)
{
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS"))
        return; // without a session nothing is launched to ask
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(Service, Path, Interface, QStringLiteral("SettingChanged"), this,
                SLOT(take(QString, QString, QDBusVariant)));
    QDBusMessage question =
        QDBusMessage::createMethodCall(Service, Path, Interface, QStringLiteral("Read"));
    question << Group << Key;
    auto *answer = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        const QDBusPendingReply<QDBusVariant> reply = *answer;
        if (!reply.isError())
            set(schemeOf(reply.value().variant()));
        answer->deleteLater();
    });
}

SystemTheme::Scheme SystemTheme::schemeOf(const QVariant &value)
{
    // Read() wraps the value in a variant once more.
    const QVariant inner =
        value.canConvert<QDBusVariant>() ? value.value<QDBusVariant>().variant() : value;
    switch (inner.toUInt()) {
    case 1: return Scheme::Dark;
    case 2: return Scheme::Light;
    default: return Scheme::Unknown;
    }
}

void SystemTheme::take(const QString &group, const QString &key, const QDBusVariant &value)
{
    if (group == Group && key == Key)
        set(schemeOf(value.variant()));
}

void SystemTheme::set(Scheme scheme)
{
    if (scheme == m_scheme)
        return;
    m_scheme = scheme;
    Q_EMIT changed();
}

} // namespace forkpoint
