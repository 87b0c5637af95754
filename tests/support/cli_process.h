// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCryptographicHash>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStringList>
#include <QtTest>

#include <vector>

namespace forkpoint::test {

/// How the real forkpoint-cli ended.
struct Ended
{
    int status = -1;
    QByteArray out, err;

    const QJsonObject json() const
    {
        QJsonParseError error;
        const auto document = QJsonDocument::fromJson(out, &error);
        if (error.error != QJsonParseError::NoError)
            qWarning() << "no JSON:" << error.errorString() << out.left(200);
        return document.object();
    }
    QString outcome() const { return json()["verdict"]["outcome"].toString(); }
};

/// Runs the program among the bundled runs: "A" and "C" are paths there.
inline Ended run(const QStringList &arguments)
{
    QProcess process;
    process.setWorkingDirectory(QStringLiteral(FORKPOINT_SAMPLES));
    process.start(QStringLiteral(FORKPOINT_CLI), arguments);
    if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit)
        return {-1, {}, process.errorString().toUtf8()};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

template <class T>
QByteArray bytesOf(const std::vector<T> &values)
{
    return {reinterpret_cast<const char *>(values.data()), qsizetype(values.size() * sizeof(T))};
}

inline QByteArray littleEndian(quint64 value, int bytes)
{
    QByteArray text;
    for (int i = 0; i < bytes; ++i)
        text += char(value >> (8 * i));
    return text;
}

inline QByteArray safetensors(const QByteArray &header, const QByteArray &data)
{
    return littleEndian(quint64(header.size()), 8) + header + data;
}

inline QByteArray oneTensor(const QByteArray &dtype, int elements, const QByteArray &data,
                            const QByteArray &name = "w")
{
    return safetensors("{\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":["
                           + QByteArray::number(elements) + "],\"data_offsets\":[0,"
                           + QByteArray::number(data.size()) + "]}}",
                       data);
}

} // namespace forkpoint::test
