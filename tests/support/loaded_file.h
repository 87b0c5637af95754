// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

#include <algorithm>

#include <QByteArray>
#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QList>
#include <QString>
#include <QStringList>
#include <QTest>

namespace forkpoint::test {

inline std::vector<std::byte> toBytes(const QByteArray &bytes)
{
    const auto view = asBytes({bytes.constData(), std::size_t(bytes.size())});
    return {view.begin(), view.end()};
}

inline std::shared_ptr<const ByteSource> memory(const QByteArray &bytes,
                                                const std::string &name = "memory")
{
    return std::make_shared<MemorySource>(name, toBytes(bytes));
}

inline QByteArray fileBytes(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline QByteArray sha256(ByteView bytes)
{
    const QByteArray data(reinterpret_cast<const char *>(bytes.data()), qsizetype(bytes.size()));
    return QCryptographicHash::hash(data, QCryptographicHash::Sha256).toHex();
}

/// What a loader made of a file.
struct Loaded
{
    Status status;
    std::shared_ptr<const Checkpoint> checkpoint;

    const Catalog &catalog() const { return checkpoint->catalog(); }
    /// The tensor whose path is this one key.
    std::optional<TensorIndex> find(const std::string &key) const
    {
        for (TensorIndex i = 0; i < catalog().tensors.size(); ++i) {
            const auto &keys = catalog().tensors[i].path.keys;
            if (keys.size() == 1 && keys[0].text == key)
                return i;
        }
        return std::nullopt;
    }
    bool hasUnreadable() const
    {
        return std::any_of(catalog().tensors.begin(), catalog().tensors.end(),
                           [](const TensorRef &tensor) { return tensor.unreadable.has_value(); });
    }
    bool tells(std::string_view words) const
    {
        return std::any_of(catalog().diagnostics.begin(), catalog().diagnostics.end(),
                           [words](const Diagnostic &diagnostic) {
                               return (diagnostic.code + ' ' + diagnostic.text).find(words)
                                   != std::string::npos;
                           });
    }
    /// SHA-256 of the logical stream; empty where it cannot be read.
    QByteArray digest(TensorIndex index) const
    {
        std::vector<std::byte> bytes(catalog().tensors[index].bytes);
        return checkpoint->read(index, 0, bytes).ok() ? sha256(bytes) : QByteArray();
    }
};

inline Loaded load(const Loader &loader, const std::shared_ptr<const ByteSource> &source,
                   const OpenOptions &options = {})
{
    CheckpointBuilder builder;
    Status status = loader.load(source, options, {}, builder);
    return {std::move(status), builder.build(std::string(loader.name()))};
}

/// "refuse", "open", "open partly", as the corpus counts: partly is what exits with 2.
inline QString outcomeOf(const Loaded &loaded)
{
    if (!loaded.status.ok())
        return QStringLiteral("refuse");
    for (TensorIndex i = 0; i < loaded.catalog().tensors.size(); ++i) {
        if (loaded.digest(i).isEmpty())
            return QStringLiteral("open partly");
    }
    return QStringLiteral("open");
}

/// Lines of an expected.txt, split at tabs.
inline QList<QStringList> readTable(const QString &path)
{
    QList<QStringList> rows;
    const QStringList lines = QString::fromUtf8(fileBytes(path)).split('\n', Qt::SkipEmptyParts);
    for (const QString &line : lines)
        rows.append(line.split('\t'));
    return rows;
}

/// The rows of a `_data` function: each bent file of `folder` by name, with what may come of opening
/// it, separated by "|" (see outcomeOf).
inline void addBentFiles(const QString &folder)
{
    QTest::addColumn<QString>("outcomes");
    for (const QStringList &row : readTable(folder + "expected.txt")) {
        if (row[1] == "must")
            QTest::newRow(qPrintable(row[0])) << row[2];
    }
}

inline QByteArray fromJsonText(const QString &text)
{
    const QByteArray array = '[' + text.toUtf8() + ']';
    return QJsonDocument::fromJson(array).array().at(0).toString().toUtf8();
}

} // namespace forkpoint::test
