// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace forkpoint {

/// A file that the user asked for. A regular file appears whole or not at all: the bytes go beside
/// it first and take its name in commit(); what was there stays until then. A link is followed; a
/// FIFO, a device or a terminal is written as it is.
class OutputFile
{
public:
    static Result<OutputFile> create(const std::string &path);
    OutputFile(OutputFile &&) = default;
    OutputFile &operator=(OutputFile &&) = delete;
    ~OutputFile();

    Status write(ByteView bytes);
    /// Call once, after the last write.
    Status commit();

private:
    struct CloseFile
    {
        void operator()(std::FILE *file) const { std::fclose(file); }
    };
    OutputFile(std::string path, std::string target, std::string part);

    std::string m_path;   ///< as the user wrote it, for errors
    std::string m_target; ///< links resolved
    std::string m_part;   ///< beside the target; empty where it is written as it is
    std::unique_ptr<std::FILE, CloseFile> m_file;
};

/// Whether `path` can be written, asked before work that may take hours: its folder is there, and it
/// is no file of what is read (`inputs`: files, or folders with all that is in them), under any
/// name. Refused, NotFound or Io otherwise. An empty path is standard output.
Status checkOutput(const std::string &path, std::span<const std::string> inputs);

/// Refused where two of them are one file, under any name: the later would replace the earlier.
Status checkOutputsApart(std::span<const std::string> paths);

/// An OutputFile of one text.
Status writeTextFile(const std::string &path, std::string_view text);

} // namespace forkpoint
