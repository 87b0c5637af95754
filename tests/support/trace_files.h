// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/open_run.h"
#include "tests/support/trace_records.h"

#include <QFile>
#include <QTemporaryDir>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

namespace forkpoint::test {

/// A trace of Megatron-Bridge as text: its first line, and lines of an operation that was called for
/// the `number`th time.
inline constexpr std::string_view Header =
    R"({"_header": true, "coords": {"global_rank": 0, "pp": 0, "tp": 0, "cp": 0, "dp": 0}, "config": {"world_size": 1}})"
    "\n";

inline std::string record(int number, std::string_view digest = "3ff8000000000000")
{
    return R"({"seq_id": )" + std::to_string(number)
        + R"(, "window": 1, "op": "aten.mul.Tensor", "group": "aten", "align_idx": )"
        + std::to_string(number)
        + R"(, "scope": null, "caller": null, "input": [null], "output": [{"shape": [2, 4], "dtype": "torch.float32", "digest": ")"
        + std::string(digest) + R"(", "numel": 8}]})" + "\n";
}

inline bool says(const Trace &trace, std::string_view code, std::string_view place)
{
    return std::any_of(trace.diagnostics().begin(), trace.diagnostics().end(),
                       [&](const Diagnostic &diagnostic) {
                           return diagnostic.code == code && diagnostic.place == place;
                       });
}

inline bool saysOf(const Trace &trace, Severity severity, std::string_view file)
{
    return std::any_of(trace.diagnostics().begin(), trace.diagnostics().end(),
                       [&](const Diagnostic &diagnostic) {
                           return diagnostic.severity == severity && diagnostic.file == file;
                       });
}

inline std::shared_ptr<const ByteSource> sourceOf(std::string_view text)
{
    const ByteView bytes = asBytes(text);
    return std::make_shared<MemorySource>("bytes",
                                          std::vector<std::byte>(bytes.begin(), bytes.end()));
}

/// One gzip member, by zlib.
inline std::string gzipped(std::string text)
{
    z_stream z = {};
    if (deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string packed(deflateBound(&z, uLong(text.size())) + 32, '\0');
    z.next_in = reinterpret_cast<Bytef *>(text.data());
    z.avail_in = uInt(text.size());
    z.next_out = reinterpret_cast<Bytef *>(packed.data());
    z.avail_out = uInt(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return packed;
}

/// A folder of files to open as a run.
class Folder
{
public:
    std::filesystem::path path() const { return m_folder.path().toStdString(); }
    void write(const std::string &name, const std::string &bytes) const
    {
        std::filesystem::create_directories((path() / name).parent_path());
        QFile file(QString::fromStdString((path() / name).string()));
        if (file.open(QIODevice::WriteOnly))
            file.write(bytes.data(), qint64(bytes.size()));
    }
    std::shared_ptr<const Trace> trace() const
    {
        const auto run = openRun(path(), {}, {});
        return run.ok() ? (*run)->trace() : nullptr;
    }

private:
    QTemporaryDir m_folder;
};

} // namespace forkpoint::test
