// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace forkpoint {

namespace {

constexpr qint64 DescriptionBytes = 1 << 20;

/// Beside an installed program; of the source tree for one that lies where it was built.
QString samplesFolder()
{
    const QString folder = QCoreApplication::applicationDirPath();
    const QString buildTree = QStringLiteral(FORKPOINT_BUILD_TREE);
    if (folder == buildTree || folder.startsWith(buildTree + u'/'))
        return QStringLiteral(FORKPOINT_SAMPLES);
    return QDir::cleanPath(folder + u'/' + QStringLiteral(FORKPOINT_INSTALLED_SAMPLES));
}

} // namespace

QList<SamplePair> bundledSamples()
{
    const QString folder = samplesFolder();
    QFile file(folder + QLatin1String("/samples.json"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QJsonDocument document = QJsonDocument::fromJson(file.read(DescriptionBytes));
    QList<SamplePair> samples;
    for (const QJsonValue &entry : document.array()) {
        const QJsonObject object = entry.toObject();
        const auto text = [&](QLatin1String key) { return object.value(key).toString(); };
        samples.append({text(QLatin1String("title")), text(QLatin1String("sentence")),
                        folder + u'/' + text(QLatin1String("a")),
                        folder + u'/' + text(QLatin1String("b"))});
    }
    return samples;
}

} // namespace forkpoint
