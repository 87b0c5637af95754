// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_loader.h"
#include "loaders/hdf5/keras_loader.h"
#include "loaders/storage/file_source.h"
#include "tests/support/loaded_file.h"

namespace forkpoint::test {

inline const QString Hdf5Folder = QStringLiteral(FORKPOINT_TEST_DATA "/hdf5/");

/// A file of tests/data/hdf5; those of its folder `virtual` may show the files beside them.
inline Loaded openHdf5(const QString &file, const OpenOptions &options = {})
{
    const Loader &loader = file.endsWith(".keras") ? kerasLoader() : hdf5Loader();
    if (file.startsWith("virtual/"))
        return load(loader,
                    FileSource::openBeneath((Hdf5Folder + "virtual").toStdString(),
                                            file.mid(8).toStdString(), file.toStdString())
                        .value(),
                    options);
    return load(loader, memory(fileBytes(Hdf5Folder + file), file.toStdString()), options);
}

inline std::optional<TensorIndex> named(const Loaded &loaded, const std::string &name)
{
    return loaded.catalog().findTensor(name);
}

/// Why a tensor cannot be read; empty where it can, or is not there.
inline std::string whyUnreadable(const Loaded &loaded, const std::string &name)
{
    const auto index = named(loaded, name);
    const auto *const error = index ? &loaded.catalog().tensors[*index].unreadable : nullptr;
    return error != nullptr && *error ? (*error)->text : std::string();
}

} // namespace forkpoint::test
