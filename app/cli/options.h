// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "model/compare/comparison.h"
#include "model/compare/element_reader.h"
#include "model/step_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Everything a command line can say, parsed and checked.
struct Options
{
    std::string command;
    std::string pathA, pathB;

    // common
    bool json = false;
    bool quiet = false;
    std::string output; ///< -o; empty: standard output
    std::string device = "auto";
    std::size_t threads = 0; ///< 0: as many as the machine has
    double stallAfter = 120; ///< seconds that one call of the file system may take
    OpenOptions open;
    CompareOptions compare;
    std::vector<std::string> reports;
    std::vector<std::string> repeats;  ///< of A: they must not differ from it
    std::vector<std::string> controls; ///< they must differ from A
    StepSelection steps;
    bool environment = false;
    bool noIndex = false;      ///< neither use nor write the fingerprint index
    bool verify = false;       ///< believe nothing that was read earlier
    std::uint64_t maxRate = 0; ///< bytes a second; 0: as fast as it goes

    // inspect, fingerprint
    std::vector<std::string> digests;
    std::string fingerprintFile; ///< --out
    std::size_t preview = 0;     ///< lines that a mapping sheet is tried out on; 0: none
    bool clear = false;          ///< index

    // elements, extract
    std::string tensor;
    ElementQuery query;
    bool deep = false;         ///< selftest
    std::string extractFormat; ///< "raw", "npy" or empty: by the name of the output
};

/// Either options to run with, or what to print and the status to end with.
struct ParsedArguments
{
    std::optional<Options> options;
    int status = 0;
    std::string text;  ///< help or version, for standard output
    std::string error; ///< usage error, for standard error (and the JSON document)
    bool json = false; ///< --json was among the arguments
    std::string command;
};

ParsedArguments parseArguments(int count, char **arguments);

} // namespace forkpoint
