// SPDX-License-Identifier: GPL-3.0-or-later
// Names of files as Qt has them and as the rest of the program does: bytes.
#pragma once

#include <QFile>

#include <string>

namespace forkpoint {

inline std::string encoded(const QString &path)
{
    return QFile::encodeName(path).toStdString();
}

inline QString decoded(const std::string &path)
{
    return QFile::decodeName(QByteArray::fromStdString(path));
}

} // namespace forkpoint
