// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/help_text.h"

#include <algorithm>
#include <iterator>

namespace forkpoint {

namespace {

constexpr std::string_view Program =
    R"(A and B are anything that can be opened: a file, a checkpoint in a directory, or a directory with one
checkpoint a step. Contents decide what a file is, never its name. `forkpoint-cli COMMAND --help` shows
the options of a command and examples.

Start here:
  forkpoint-cli compare run_a run_b                   where do two runs part?
  forkpoint-cli compare run_a run_b --report r.html   the same, as a page to pass on
  forkpoint-cli inspect model.safetensors             what is in it?

Exit status: 0 identical, or within the tolerance asked for; 1 different; 2 not compared, not read, or a
usage error; 3 undecided. A comparison that was refused or is partial never ends with 0.)";

constexpr std::string_view Compare = R"(Examples:
  forkpoint-cli compare run_a run_b
      every step that both have, in order; the first that differs is shown in full
  forkpoint-cli compare run_a run_b --report r.html --report r.json
      a page for people and a document for scripts
  forkpoint-cli compare run_a run_b --step 8:4
      step 8 of A with step 4 of B, for series that count differently
  forkpoint-cli compare a.safetensors b.pt --rename 's/^module.//' --scope weights
      only weights, after taking "module." off the front of names
  forkpoint-cli compare a.log b.log --mapping our.map
      lines of a format of one's own, read by the rules of a mapping sheet
  forkpoint-cli compare a.pt b.pt --max-ulp 1
      neighbouring numbers pass; the outcome is then within-tolerance, not identical

Bits decide: there is no hidden tolerance. -0.0 and 0.0 differ, and so do NaN of unlike payloads.
State (weights, optimizer, scheduler, counter, rng, data, scaler) decides the outcome; context (recipe,
topology, container, bookkeeping) is listed and never does, but a differing recipe is the first suspect.

What was read is remembered by its fingerprint in the user's cache directory (`forkpoint-cli index`), as
long as its files stay in the very same state; equal tensors are then not read again, and the strength of
the verdict is xxh3-128-index. --verify reads them all the same. A fingerprint file (.fpx) stands for a run
that lies elsewhere: what differs is said to differ, without statistics.

A report is written in full or not at all. Tables of .html and .md hold the first 1,000 rows; more go to
the .csv file of the same name beside it. Exit status: 0 identical or within tolerance, 1 different,
2 not compared, 3 undecided.)";

constexpr std::string_view Report = R"(Examples:
  forkpoint-cli report r.json --report r.html
      the page that compare would have written
  forkpoint-cli report r.json
      the summary on standard output

A report whose figures contradict its rows is refused. Histograms are there where compare was given
--full. Exit status: 0 read and written, 2 not; the outcome is in the report.)";

constexpr std::string_view Inspect = R"(Examples:
  forkpoint-cli inspect run_a                          the newest complete step of a series
  forkpoint-cli inspect run_a --step 4 --json          one step, for scripts
  forkpoint-cli inspect model.safetensors --digest sha256
  forkpoint-cli inspect a.log --mapping our.map --preview 20
      how the first 20 lines are understood by a mapping sheet, and which are not

Exit status: 0 everything listed can be read, 2 something cannot; what was read is printed all the same.)";

constexpr std::string_view Fingerprint = R"(Examples:
  forkpoint-cli fingerprint model.safetensors --json
  forkpoint-cli fingerprint run_a --step 8 --with sha256,crc32
  forkpoint-cli fingerprint run_a --out a.fpx          every step, to be compared elsewhere
  forkpoint-cli compare a.fpx b.fpx

--out has names, types, values and digests, but no element; interrupted, the same command goes on. With
--with each digest says how many of its bits such elements can set, and what it cannot see: two equal ones
are no proof of more than that. hash_tensor is torch.hash_tensor's xor, megatron128 Megatron Core's
position-weighted sums, xor64 the xor of raw 64-bit words (msprobe), crc32 zlib's.

"named" covers names and contents; "contents" leaves names out, so it finds the same tensors again under
other names or in another format. XXH3-128 tells accidents apart, not forgeries: --with sha256 does.)";

constexpr std::string_view Index = R"(Examples:
  forkpoint-cli index                                  which files it knows
  forkpoint-cli index --clear

The index lies in $XDG_CACHE_HOME/forkpoint/index, else in ~/.cache. It knows files of 1 MiB and more by
device, inode, size, modified and changed time, and holds at most 256 MiB: what was not used for the longest
time goes first. compare and fingerprint use it; --no-index does without, --verify believes nothing in it.)";

constexpr std::string_view Elements = R"(Examples:
  forkpoint-cli elements run_a run_b --tensor model.wte.weight --step 12
      the first 100 elements that differ
  forkpoint-cli elements run_a run_b --tensor model.wte.weight --order largest --count 5
      the five largest differences

Differences are B-A. ULP counts the representable numbers between two values. Exit status as compare's,
for that one tensor.)";

constexpr std::string_view Extract = R"(Examples:
  forkpoint-cli extract run_a --step 4 --tensor model.wte.weight -o w.npy
  forkpoint-cli extract model.pt --tensor wte.weight | sha256sum

Raw bytes are row-major and little-endian, whatever the file's order was.)";

constexpr std::string_view Formats = R"(Examples:
  forkpoint-cli formats
  forkpoint-cli formats --json                         with the reason where one is not available

Exit status: 0.)";

constexpr std::string_view Devices = R"(Examples:
  forkpoint-cli devices
  forkpoint-cli compare A B --device cuda:0            on one of them; refused where it cannot be used

What computes changes no bit of a result. "auto" measures and takes the fastest, the copy included.)";

constexpr std::string_view Selftest = R"(Examples:
  forkpoint-cli selftest                               everything that can compute here
  forkpoint-cli selftest --device cuda:0 --deep        one device, more data, and its rates

Each device is held against known vectors and against the scalar definition, bit for bit. Exit status:
0 all passed, 2 something failed or nothing could be checked; "not run" names what could not, and why.)";

struct Footer
{
    std::string_view command, text;
};

constexpr Footer Footers[] = {
    {"", Program},
    {"compare", Compare},
    {"report", Report},
    {"inspect", Inspect},
    {"fingerprint", Fingerprint},
    {"elements", Elements},
    {"extract", Extract},
    {"index", Index},
    {"formats", Formats},
    {"devices", Devices},
    {"selftest", Selftest},
};

} // namespace

std::string_view helpFooter(std::string_view command)
{
    const auto found =
        std::find_if(std::begin(Footers), std::end(Footers),
                     [&](const Footer &footer) { return footer.command == command; });
    return found == std::end(Footers) ? std::string_view() : found->text;
}

} // namespace forkpoint
