// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusVariant>
#include <QObject>

namespace forkpoint {

/// Whether the desktop prefers dark, as its portal says; Qt 6.4 alone only sees the palette. Asks
/// without waiting, and says nothing where there is no portal.
class SystemTheme final : public QObject
{
    Q_OBJECT

public:
    enum class Scheme { Unknown, Dark, Light };

    explicit SystemTheme(QObject *parent = nullptr);

    Scheme scheme() const { return m_scheme; }
    /// The portal's number: 1 prefers dark, 2 light, anything else nothing.
    static Scheme schemeOf(const QVariant &value);

Q_SIGNALS:
    void changed();

private Q_SLOTS:
    void take(const QString &group, const QString &key, const QDBusVariant &value);

private:
    void set(Scheme scheme);

    Scheme m_scheme = Scheme::Unknown;
};

} // namespace forkpoint
