// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forkpoint {

enum class Outcome { Identical, WithinTolerance, Different, Undecided, NotCompared };

std::string_view toString(Outcome outcome);
/// How the sentence of a verdict begins: "Identical: ".
std::string sentenceHead(Outcome outcome);
/// 0 identical, within-tolerance; 1 different; 2 not-compared; 3 undecided.
int exitStatus(Outcome outcome);

/// What an outcome rests on, weakest first: equality on its weakest item in scope, a difference on
/// the strongest item that differs.
enum class Strength {
    None,     ///< nothing was compared
    Metadata, ///< shapes and types only
    Printed,  ///< rounded numbers of a log
    Norm,
    Sampled,
    Xor,
    Crc,
    Megatron128,
    Xxh3Index, ///< our fingerprint, from the index
    Xxh3,      ///< our fingerprint over all bytes; not against forgery
    Sha256,
    Bytes, ///< all bytes of both sides were read and compared
};

std::string_view toString(Strength strength);
/// From our own fingerprint on, equality may be said.
bool provesEquality(Strength strength);

/// What was compared, of what there was in scope.
struct Coverage
{
    std::uint64_t tensorsCompared = 0, tensorsTotal = 0;
    std::uint64_t bytesCompared = 0, bytesTotal = 0; ///< logical bytes of both sides together
    std::uint64_t stepsUnread = 0; ///< common steps, one side of which could not be opened
    std::uint64_t recordsCompared = 0, recordsTotal = 0; ///< of traces
    /// Of runs without checkpoints: metrics that decide.
    std::uint64_t metricsCompared = 0, metricsTotal = 0;
    std::uint64_t stepsUnfinished = 0; ///< common steps, a save of which was not finished
    std::uint64_t stepsInferred = 0;   ///< common steps told from others, not read
    std::uint64_t stepsOneSided = 0;   ///< steps that one series alone has
};

/// "1 step could not be opened, 7 steps are on one side only"; empty where every step was compared.
std::string stepsLeftOut(const Coverage &coverage);

/// The only things a verdict may depend on, over what is in scope.
struct VerdictFacts
{
    bool refused = false; ///< a side did not open, or the request made no sense
    std::string refusedReason;

    bool bitsDiffer = false; ///< of any item, beyond the tolerances asked for, if any
    bool shapeOrDtypeDiffers = false;
    bool oneSidedComplete = false; ///< an item on one side only, both catalogues complete
    bool noNameInCommon = false;
    bool orderDiffers = false; ///< records of two traces are equal and come in another order

    bool unreadable = false, ambiguous = false, notComparable = false;
    bool changed = false;            ///< a file, while it was read
    bool oneSidedIncomplete = false; ///< an item on one side only, a catalogue incomplete
    bool incomplete = false; ///< something there is was not listed: skipped, damaged, over a limit
    bool hole = false;       ///< a step missing inside the overlap of two series
    bool valuesMissing = false; ///< records of traces that tell no value
    bool nothingInScope = false;
    bool partial = false; ///< cancelled or stopped early: not everything was looked at

    bool toleranceAsked = false;
    bool beyondTolerance = false; ///< some of bitsDiffer was held against the tolerances
    bool differsWithinTolerance = false;

    /// Of what is equal or within a tolerance, told in the sentence: values equal as numbers of
    /// unlike types (1 and 1.0), tensors that are the same under another name, items that met by
    /// their displayed name although their keys differ (1 and "1"), tensors of two dtypes.
    std::uint64_t equalAsNumbers = 0, equalElsewhere = 0, byOtherKeys = 0, acrossTypes = 0;
    /// Of logged numbers, told in the sentence: points that do not count since their steps were
    /// logged again, metrics of the machine, and steps that only one side has.
    std::uint64_t pointsPassedOver = 0;
    bool metricsOfMachine = false, stepsOfOneSide = false;

    Strength strength = Strength::None;           ///< of what is equal: its weakest item
    Strength differenceStrength = Strength::None; ///< of what differs: its strongest item
    Coverage coverage;
};

/// The facts of two parts of one question taken together: of equality the weaker strength counts,
/// of a difference the stronger.
void merge(VerdictFacts &into, const VerdictFacts &part);

struct Verdict
{
    Outcome outcome = Outcome::NotCompared;
    Strength strength = Strength::None;
    Coverage coverage;
    std::string sentence;
    std::string reason; ///< with NotCompared and Undecided: why
};

/// The one pure function: the table "Verdict and exit status" of the command line's documentation,
/// top row first. The sentence states outcome, proof and what was not looked at.
Verdict decide(const VerdictFacts &facts);

} // namespace forkpoint
