// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options.h"

#include "app/cli/help_text.h"
#include "app/cli/option_hints.h"
#include "app/cli/option_values.h"
#include "loaders/limits.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace forkpoint {

namespace {

void addCommon(CLI::App &command, Options &options)
{
    command.add_flag("--json", options.json, "One JSON document on standard output");
    command
        .add_option("-o", options.output, "Write to FILE instead of standard output, which is -")
        ->type_name("FILE")
        ->transform([](const std::string &file) { return file == "-" ? std::string() : file; });
    command.add_option("--device", options.device, "auto, cpu or cuda[:N]")->capture_default_str();
    // CLI11 wraps a negative number around into a huge unsigned one.
    command.add_option("--threads", options.threads, "How many threads (0: all cores)")
        ->capture_default_str()
        ->check(CLI::Range(0, 1024));
    command
        .add_option(
            "--stall-after", options.stallAfter,
            "Give up a file when one call for it (reading, opening) takes longer than SECONDS")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->check(CLI::Range(0.1, 1e6));
    command.add_flag("--quiet", options.quiet, "No progress, no diagnostics on standard error");
}

void addOpening(CLI::App &command, RawOptions &raw)
{
    command.add_flag("--raw", raw.options.open.raw, "List each file as it is, no assembly");
    command
        .add_option("--as", raw.overrides,
                    "Read opaque elements as a type: GLOB=DTYPE (repeatable)")
        ->type_name("GLOB=DTYPE")
        ->allow_extra_args(false);
    command.add_option("--step", raw.step, "The step N of a series; N:M compares A's N with B's M")
        ->type_name("N[:M]");
}

void addMapping(CLI::App &command, RawOptions &raw)
{
    command
        .add_option("--mapping", raw.mapping,
                    "Read the lines of a trace that no dialect knows by the rules of SHEET")
        ->type_name("SHEET");
}

void addPairing(CLI::App &command, RawOptions &raw)
{
    command
        .add_option("--pair", raw.pair,
                    "strict: by path only; auto: also by name, prefix and content")
        ->capture_default_str();
    command
        .add_option("--rename", raw.renames,
                    "Rename before pairing: the first occurrence of a literal text, ^ and $ "
                    "anchor it (repeatable)")
        ->type_name("s/old/new/")
        ->allow_extra_args(false);
}

void addReports(CLI::App &command, RawOptions &raw)
{
    command
        .add_option("--report", raw.options.reports,
                    "Write a report: .html, .json, .csv or .md (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

void addIndex(CLI::App &command, Options &options)
{
    command.add_flag("--no-index", options.noIndex,
                     "Neither use nor write the index of fingerprints");
    command.add_flag("--verify", options.verify, "Read all bytes, although they were read before");
}

void addCompare(CLI::App &command, RawOptions &raw)
{
    Options &options = raw.options;
    PairingOptions &pairing = options.compare.pairing;
    command.add_option("A", options.pathA, "A checkpoint or a series")->required();
    command.add_option("B", options.pathB, "What to compare it with")->required();
    addOpening(command, raw);
    addMapping(command, raw);
    addPairing(command, raw);
    command.add_option("--steps", raw.steps, "Only the steps FROM to TO")->type_name("FROM:TO");
    command.add_flag("--bisect", options.steps.bisect,
                     "Find the first differing step by halves; the others are inferred");
    addReports(command, raw);
    command
        .add_option("--include", pairing.include,
                    "Only items whose name matches; * is any text, ? one character (repeatable)")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    command.add_option("--exclude", pairing.exclude, "Leave out items whose name matches")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    raw.hasScope =
        command.add_option("--scope", raw.scope, "Only these classes: weights,optimizer,...");
    command.add_flag("--tensors-only", pairing.tensorsOnly, "Leave out everything but tensors");
    command.add_flag("--strict-values", options.compare.strictValues,
                     "1 and 1.0, an empty list and an empty tuple are different");
    raw.hasRtol = command.add_option("--rtol", raw.rtol, "Relative tolerance, of floats alone");
    raw.hasAtol = command.add_option("--atol", raw.atol, "Absolute tolerance, of floats alone");
    raw.hasMaxUlp =
        command.add_option("--max-ulp", raw.maxUlp, "Tolerance in ULP, of floats alone")
            ->check(wholeNumberProblem, "NONNEGATIVE");
    command
        .add_option("--repeat", options.repeats,
                    "Another run of A's recipe: how far repeats differ (repeatable)")
        ->type_name("RUN")
        ->allow_extra_args(false);
    command
        .add_option("--control", options.controls,
                    "A run that must differ from A, or nothing is proven (repeatable)")
        ->type_name("RUN")
        ->allow_extra_args(false);
    addIndex(command, options);
    command.add_flag("--verdict-only", options.compare.verdictOnly,
                     "Stop reading a tensor at its first difference");
    command.add_flag("--full", options.compare.full,
                     "All statistics, also where a digest already decided");
    command.add_flag("--environment", options.environment,
                     "Put device and versions into the report");
    command.add_option("--max-rate", raw.maxRate, "Read at most BYTES a second (K, M, G)")
        ->type_name("BYTES");
}

void addReport(CLI::App &command, RawOptions &raw)
{
    command.add_option("REPORT", raw.options.pathA, "A .json report of compare")->required();
    addReports(command, raw);
}

void addInspect(CLI::App &command, RawOptions &raw)
{
    command.add_option("PATH", raw.options.pathA, "What to look into")->required();
    addOpening(command, raw);
    addMapping(command, raw);
    command
        .add_option("--preview", raw.options.preview,
                    "Show how the first N lines are understood by --mapping, and open nothing")
        ->type_name("N")
        ->check(CLI::Range(std::uint64_t(1), limits::PreviewLines));
    command.add_option("--digest", raw.digests, "Digests of each tensor: " + digestNames());
}

void addFingerprint(CLI::App &command, RawOptions &raw)
{
    command.add_option("PATH", raw.options.pathA, "What to fingerprint")->required();
    addOpening(command, raw);
    command
        .add_option("--out", raw.options.fingerprintFile,
                    "Write a fingerprint file (.fpx) of every step, or of --step")
        ->type_name("FILE");
    addIndex(command, raw.options);
    command.add_option("--with", raw.digests,
                       "Also digests that other tools record: " + digestNames());
}

void addElements(CLI::App &command, RawOptions &raw)
{
    Options &options = raw.options;
    command.add_option("A", options.pathA, "A checkpoint or a series")->required();
    command.add_option("B", options.pathB, "What to compare it with")->required();
    command.add_option("--tensor", options.tensor, "Which tensor")->required();
    addOpening(command, raw);
    addPairing(command, raw);
    command.add_option("--order", raw.order, "index, or largest: by |B-A|, pairs with NaN last")
        ->capture_default_str();
    command.add_option("--offset", options.query.offset, "Skip so many")
        ->capture_default_str()
        ->check(wholeNumberProblem, "NONNEGATIVE");
    command.add_option("--count", options.query.count, "Show so many")
        ->capture_default_str()
        ->check(wholeNumberProblem, "NONNEGATIVE");
}

void addExtract(CLI::App &command, RawOptions &raw)
{
    Options &options = raw.options;
    command.add_option("PATH", options.pathA, "Where the tensor is")->required();
    command.add_option("--tensor", options.tensor, "Which tensor")->required();
    addOpening(command, raw);
    command
        .add_option("--format", options.extractFormat,
                    "raw: little-endian row-major bytes; npy: a .npy file (default by -o's name)")
        ->check(CLI::IsMember({"raw", "npy"}));
}

void addIndexCommand(CLI::App &command, RawOptions &raw)
{
    command.add_flag("--clear", raw.options.clear, "Remove all of it");
}

void addSelftest(CLI::App &command, RawOptions &raw)
{
    command.add_flag("--deep", raw.options.deep, "More data, and the rates of this machine");
}

/// CLI11 names them in the order in which it takes them apart, the last first.
std::string unexpectedBy(const CLI::App &app)
{
    std::vector<KnownOption> known;
    for (const CLI::App *command : app.get_subcommands()) {
        for (const CLI::Option *option : command->get_options()) {
            for (const std::string &name : option->get_lnames())
                known.push_back({"--" + name, option->get_description()});
        }
    }
    return unexpectedText(app.remaining(true), known);
}

bool saysJson(int count, char **arguments)
{
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--json") == 0)
            return true;
    }
    return false;
}

struct Command
{
    const char *name, *description;
    void (*add)(CLI::App &, RawOptions &);
};

constexpr Command Commands[] = {
    {"compare", "Compare two checkpoints or series; ends with the verdict", addCompare},
    {"report", "Read a .json report back and write it as .html, .csv or .md", addReport},
    {"inspect", "What is in it: tensors, values, steps, what could not be read", addInspect},
    {"fingerprint", "Fingerprints of tensors and of the whole", addFingerprint},
    {"elements", "Differing elements of one tensor", addElements},
    {"extract", "Elements of one tensor as bytes or .npy", addExtract},
    {"index", "What the index of fingerprints holds", addIndexCommand},
    {"formats", "What can be opened", nullptr},
    {"devices", "What can compute, and why something cannot", nullptr},
    {"selftest", "Check the arithmetic of this machine", addSelftest},
};

void addCommands(CLI::App &app, RawOptions &raw)
{
    const std::string version = std::string("forkpoint-cli ") + FORKPOINT_VERSION;
    app.footer(std::string(helpFooter("")));
    app.set_version_flag("--version", version);
    app.require_subcommand(1);
    for (const Command &command : Commands) {
        CLI::App *subcommand = app.add_subcommand(command.name, command.description);
        addCommon(*subcommand, raw.options);
        subcommand->set_version_flag("--version", version);
        subcommand->footer(std::string(helpFooter(command.name)));
        if (command.add)
            command.add(*subcommand, raw);
        subcommand->callback([&raw, name = command.name] { raw.options.command = name; });
    }
}

/// What CLI11 asked for by throwing, when help or the version was; what is wrong, else.
void takeError(const CLI::ParseError &error, const CLI::App &app, ParsedArguments &result)
{
    if (error.get_exit_code() == 0) {
        const bool isHelp = error.get_name() == "CallForHelp";
        result.text = (isHelp ? app.help() : std::string(error.what())) + "\n";
        for (const CLI::App *subcommand : app.get_subcommands()) {
            if (isHelp)
                result.text = subcommand->help() + "\n";
        }
        return;
    }
    result.status = 2;
    const bool isUnexpected = error.get_exit_code() == int(CLI::ExitCodes::ExtrasError);
    result.error = isUnexpected ? unexpectedBy(app) : error.what();
    const bool known = std::any_of(std::begin(Commands), std::end(Commands),
                                   [&](const Command &c) { return result.command == c.name; });
    if (result.command != "error" && !known)
        result.error = "no command '" + result.command + "'";
}

} // namespace

ParsedArguments parseArguments(int count, char **arguments)
{
    RawOptions raw;
    CLI::App app("Finds where two training runs part.", "forkpoint-cli");
    addCommands(app, raw);
    ParsedArguments result;
    result.json = saysJson(count, arguments);
    // Options alone name no command, and no document is called after them.
    result.command = count > 1 && arguments[1][0] != '-' ? arguments[1] : "error";
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError &error) {
        takeError(error, app, result);
        return result;
    }
    auto options = finishOptions(std::move(raw));
    if (!options) {
        result.status = 2;
        result.error = options.error().message();
        return result;
    }
    result.options = std::move(options).value();
    return result;
}

} // namespace forkpoint
