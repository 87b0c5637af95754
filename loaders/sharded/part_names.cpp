// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/part_names.h"

#include "loaders/checkpoint_directory.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::string withoutNumbers(const std::string &file)
{
    std::string kind = file.substr(0, file.rfind('.'));
    std::erase_if(
        kind, [](char c) { return (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.'; });
    return kind;
}

bool isNumbered(const KeyPath &path)
{
    return std::any_of(path.keys.begin(), path.keys.end(),
                       [](const Key &key) { return key.kind == Key::Kind::Integer; });
}

} // namespace

void PartNames::add(const std::string &file, const Catalog &catalog)
{
    Part part{file, withoutNumbers(file), {}};
    for (const TensorRef &tensor : catalog.tensors) {
        if (!tensor.path.keys.empty() && !isNumbered(tensor.path))
            part.tensors.insert(tensor.path.toString() + ' ' + tensor.dtype.name
                                + tensor.shape.toString());
    }
    m_parts.push_back(std::move(part));
}

Status PartNames::checkOneCheckpoint(const std::string &directory) const
{
    if (m_parts.size() < 2 || m_parts.front().tensors.empty())
        return {};
    std::vector<std::string> files;
    std::set<std::string> kinds;
    for (const Part &part : m_parts) {
        if (part.tensors != m_parts.front().tensors || !kinds.insert(part.kind).second)
            return {};
        files.push_back(part.file);
    }
    return Error{ErrorCode::Mismatch,
                 directory,
                 {},
                 "a directory may be one checkpoint, this holds " + std::to_string(files.size())
                     + " with the same tensors: " + listNames(files)
                     + "; name one of them, or take each file as it is with --raw"};
}

std::vector<std::string> PartNames::overlaps() const
{
    std::vector<std::string> found;
    for (auto a = m_parts.begin(); a != m_parts.end(); ++a) {
        for (auto b = std::next(a); b != m_parts.end(); ++b) {
            if (a->kind == b->kind)
                continue;
            const auto common =
                std::count_if(a->tensors.begin(), a->tensors.end(), [&](const std::string &tensor) {
                    return b->tensors.count(tensor) > 0;
                });
            const std::size_t smaller = std::min(a->tensors.size(), b->tensors.size());
            if (common > 0 && std::size_t(common) * 2 >= smaller)
                found.push_back(a->file + " and " + b->file);
        }
    }
    return found;
}

} // namespace forkpoint
