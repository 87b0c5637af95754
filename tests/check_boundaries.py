#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may include what, and which folders there are: python3 tests/check_boundaries.py [--self-test]

There is one include root, so any file could reach any folder; this script is the fence. It reads every source file of
the tree (not build output) and prints one line per violation: file:line: what, and what is allowed there. Exit status 1
if there is one. The rules are the table RULES; --self-test plants violations and expects each to be found.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FOLDERS = {"app", "model", "loaders", "gpu", "widgets", "resources", "tests"}
ROOT_FILES = {"CMakeLists.txt", "CMakePresets.json", "README.md", "HACKING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE",
              "run", "test"}
CPP = {".cpp", ".h", ".cu", ".cuh"}
SPDX = "SPDX-License-Identifier: GPL-3.0-or-later"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Headers by kind. A standard header is an angle include without suffix and folder that is not Qt's.
STANDARD = re.compile(r"^<[a-z_0-9]+>$")
QT = re.compile(r"^<(Q[A-Za-z0-9]+(/[A-Za-z0-9_]+)?|q(?!customplot)[a-z0-9]+\.h)>$")
QCUSTOMPLOT = re.compile(r'^[<"]qcustomplot\.h[>"]$')
SYSTEM = re.compile(r"^<(sys/[a-z_]+\.h|linux/[a-z0-9_]+\.h|(unistd|fcntl|dirent|poll|signal|spawn|pthread|errno|dlfcn|termios)\.h)>$")
INTRINSICS = re.compile(r"^<([a-z]?mmintrin|immintrin|x86intrin|cpuid|arm_neon)\.h>$")
CUDA = re.compile(r'^[<"](cuda_runtime_api|cuda_runtime|cuda)\.h[>"]$')
ZLIB = re.compile(r"^<zlib\.h>$")
ZSTD = re.compile(r"^<zstd\.h>$")
RE2 = re.compile(r"^<re2/re2\.h>$")
CODEC = re.compile(r"^<(zlib|bzlib|szlib)\.h>$")
HDF5 = re.compile(r"^<hdf5\.h>$")
OPENSSL = re.compile(r"^<openssl/[a-z0-9_]+\.h>$")
JSON = re.compile(r"^<nlohmann/json(_fwd)?\.hpp>$")
CLI11 = re.compile(r"^<CLI/[A-Za-z]+\.hpp>$")
KERNEL_STANDARD = re.compile(r"^<(cstdint|cstddef)>$")


def own(*folders: str) -> re.Pattern:
    """Our own headers of these folders, as quoted includes from the root."""
    return re.compile(r'^"(%s)/[a-z0-9_/]+\.h"$' % "|".join(re.escape(f) for f in folders))


@dataclass(frozen=True)
class Rule:
    files: str                     # regular expression over the path from the root
    allowed: tuple[re.Pattern, ...]
    words: str                     # what is allowed, for the message


ANYTHING = re.compile(r"")
# The first rule that a path matches is the one that holds.
RULES = (
    Rule(r"model/", (STANDARD, own("model")), "the standard library and model/"),
    Rule(r"loaders/(\w+/)?platform_\w+\.cpp", (STANDARD, SYSTEM, own("model", "loaders")),
         "the standard library, system headers, model/ and loaders/"),
    Rule(r"loaders/(\w+/)?codec_\w+\.cpp", (STANDARD, CODEC, own("model", "loaders")),
         "the standard library, a decompressor, model/ and loaders/"),
    Rule(r"loaders/(\w+/)?zstd_\w+\.cpp", (STANDARD, ZSTD, own("model", "loaders")),
         "the standard library, zstd, model/ and loaders/"),
    Rule(r"loaders/text/line_pattern\.cpp", (STANDARD, RE2, own("model", "loaders")),
         "the standard library, RE2, model/ and loaders/"),
    Rule(r"loaders/", (STANDARD, ZLIB, OPENSSL, JSON, own("model", "loaders")),
         "the standard library, model/, loaders/; JSON; zlib in four units (decoding, gzip, chunks, checksums), OpenSSL in one; system headers only in "
         "platform_*.cpp"),
    Rule(r"gpu/kernels/", (KERNEL_STANDARD, own("gpu/kernels")), "<cstdint>, <cstddef> and gpu/kernels/"),
    Rule(r"gpu/cuda_table\.cpp", (STANDARD, CUDA, own("model", "gpu")),
         "the standard library, the CUDA runtime, model/ and gpu/"),
    Rule(r"gpu/cuda_kernels\.(h|cu)", (KERNEL_STANDARD, own("gpu")), "<cstdint>, <cstddef> and gpu/"),
    Rule(r"gpu/", (STANDARD, INTRINSICS, own("model", "gpu")), "the standard library, model/ and gpu/"),
    Rule(r"widgets/plot/\w+\.cpp", (STANDARD, QT, QCUSTOMPLOT, own("model", "widgets")),
         "Qt, qcustomplot.h, model/ and widgets/"),
    Rule(r"widgets/", (STANDARD, QT, own("model", "widgets")),
         "Qt, model/ and widgets/ (qcustomplot.h only in widgets/plot/*.cpp)"),
    Rule(r"app/core/", (STANDARD, SYSTEM, OPENSSL, own("model", "loaders", "gpu", "app/core")),
         "the standard library, model/, loaders/, gpu/ and app/core/"),
    Rule(r"app/cli/", (STANDARD, SYSTEM, CLI11, own("model", "loaders", "gpu", "app/core", "app/cli")),
         "the standard library, CLI11, model/, loaders/, gpu/, app/core/ and app/cli/"),
    Rule(r"app/h5worker/hdf5_\w+\.(cpp|h)", (STANDARD, HDF5, own("model", "loaders", "app/h5worker")),
         "the standard library, hdf5.h, model/, loaders/ and app/h5worker/"),
    Rule(r"app/h5worker/", (STANDARD, SYSTEM, own("model", "loaders", "app/h5worker")),
         "the standard library, system headers, model/, loaders/ and app/h5worker/ (hdf5.h only in hdf5_*)"),
    Rule(r"app/gui/", (STANDARD, SYSTEM, QT, re.compile(r'^"[a-z0-9_]+\.moc"$'),
                       own("model", "loaders", "gpu", "widgets", "app/core", "app/gui")),
         "everything of ours but app/cli/, and Qt"),
    Rule(r"tests/", (ANYTHING,), "anything"),
)

# A foreign library is seen by few files, so that replacing it or fencing it in stays possible.
ONE_PLACE = (
    (ZLIB, r"loaders/", 4, "zlib.h"),
    (re.compile(r"^<bzlib\.h>$"), r"loaders/", 1, "bzlib.h"),
    (re.compile(r"^<szlib\.h>$"), r"loaders/", 1, "szlib.h"),
    (re.compile(r"^<re2/re2\.h>$"), r"loaders/", 1, "re2.h"),
    (OPENSSL, r"(loaders|app/core)/", 1, "OpenSSL"),
)


def tree_files(root: Path) -> list[PurePosixPath]:
    """Tracked and new files; without git every file outside build folders and dot folders other than .ci."""
    git = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=False)
    top = subprocess.run(["git", "-C", str(root), "rev-parse", "--show-toplevel"], capture_output=True, check=False, text=True)
    if git.returncode == 0 and top.returncode == 0 and Path(top.stdout.strip()).resolve() == root.resolve():
        names = [PurePosixPath(n.decode()) for n in git.stdout.split(b"\0") if n]
        return sorted(n for n in names if (root / n).is_file())
    found = (PurePosixPath(p.relative_to(root).as_posix()) for p in root.rglob("*") if p.is_file())
    return sorted(p for p in found if not re.match(r"build|\.(?!ci/|clang)|.*__pycache__", str(p)))


def check_layout(files: list[PurePosixPath]) -> list[str]:
    problems = []
    for path in files:
        first = path.parts[0]
        if len(path.parts) == 1:
            if first not in ROOT_FILES and not first.startswith("."):
                problems.append(f"{path}:1: no file of this name belongs at the root")
        elif first not in FOLDERS and first != ".ci":
            problems.append(f"{path}:1: top-level folder {first}/ is not one of {', '.join(sorted(FOLDERS))}")
        elif first in FOLDERS - {"resources", "tests"} and path.suffix not in CPP and path.name != "CMakeLists.txt":
            problems.append(f"{path}:1: only C++ and CMakeLists.txt live in {first}/")
    return problems


def check_licence(path: PurePosixPath, lines: list[str]) -> list[str]:
    if path.suffix not in CPP | {".py", ".sh"}:
        return []
    at = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) > at and lines[at].strip().lstrip("/# ") == SPDX:
        return []
    return [f"{path}:{at + 1}: the first line is to be {SPDX}"]


def includes_of(lines: list[str]) -> list[tuple[int, str]]:
    found = []
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match[1] + match[2] + (">" if match[1] == "<" else '"')))
    return found


def check_includes(path: PurePosixPath, lines: list[str]) -> list[str]:
    rule = next((r for r in RULES if re.match(r.files, str(path))), None)
    if rule is None:
        return [f"{path}:1: no rule says what this file may include"]
    return [f"{path}:{number}: includes {what}; allowed here: {rule.words}"
            for number, what in includes_of(lines) if not any(p.match(what) for p in rule.allowed)]


def check_one_place(includes: dict[PurePosixPath, list[tuple[int, str]]]) -> list[str]:
    problems = []
    for pattern, folder, most, name in ONE_PLACE:
        per_folder: dict[str, list[PurePosixPath]] = {}
        for path, found in includes.items():
            if re.match(folder, str(path)) and any(pattern.match(what) for _, what in found):
                per_folder.setdefault(str(path.parent), []).append(path)
        for where, users in sorted(per_folder.items()):
            units = {u.with_suffix("") for u in users}
            if len(units) > most:
                problems.append(f"{users[most]}:1: {name} is to be seen by {most} unit of {where}/, not by "
                                + ", ".join(str(u) for u in sorted(units)))
    return problems


def check(root: Path) -> list[str]:
    files = tree_files(root)
    problems = check_layout(files)
    includes = {}
    for path in files:
        if path.suffix not in CPP | {".py", ".sh"}:
            continue
        lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        problems += check_licence(path, lines)
        if path.suffix in CPP:
            includes[path] = includes_of(lines)
            problems += check_includes(path, lines)
    return problems + check_one_place(includes)


# path, text after the licence line, and a part of the complaint that must come ("" for none)
PLANTED = (
    ("model/good.h", '#include <cstdint>\n#include "model/digest.h"\n', ""),
    ("model/qt.h", "#include <QString>\n", "model/qt.h:2: includes <QString>"),
    ("model/c_header.h", "#include <math.h>\n", "model/c_header.h:2"),
    ("model/up.cpp", '#include "loaders/loader.h"\n', "model/up.cpp:2"),
    ("model/near.cpp", '#include "near.h"\n', "model/near.cpp:2"),
    ("model/indented.cpp", '  #  include <zlib.h>\n', "model/indented.cpp:2"),
    ("model/notes.txt", "", "only C++ and CMakeLists.txt"),
    ("loaders/storage/platform_file.cpp", "#include <unistd.h>\n#include <sys/stat.h>\n", ""),
    ("loaders/platform_linux.cpp", "#include <fcntl.h>\n", ""),
    ("loaders/zip.cpp", "#include <fcntl.h>\n", "loaders/zip.cpp:2"),
    ("loaders/widget.cpp", '#include "widgets/roles.h"\n', "loaders/widget.cpp:2"),
    ("loaders/gpu.cpp", '#include "gpu/cpu_backend.h"\n', "loaders/gpu.cpp:2"),
    ("loaders/hdf.cpp", "#include <hdf5.h>\n", "loaders/hdf.cpp:2"),
    ("loaders/a.cpp", "#include <zlib.h>\n", ""),
    ("loaders/b.cpp", "#include <zlib.h>\n", ""),
    ("loaders/ba.cpp", "#include <zlib.h>\n", ""),
    ("loaders/codec_c.cpp", "#include <zlib.h>\n", ""),
    ("loaders/d.cpp", "#include <zlib.h>\n", "zlib.h is to be seen by 4 unit"),
    ("loaders/e.cpp", "#include <bzlib.h>\n", "loaders/e.cpp:2"),
    ("app/h5worker/hdf5_walk.cpp", "#include <hdf5.h>\n", ""),
    ("app/h5worker/worker_link.cpp", "#include <hdf5.h>\n", "app/h5worker/worker_link.cpp:2"),
    ("loaders/sha256.cpp", "#include <openssl/evp.h>\n", ""),
    ("gpu/kernels/good.h", '#include <cstdint>\n#include "gpu/kernels/hd.h"\n', ""),
    ("gpu/kernels/math.h", "#include <cmath>\n", "gpu/kernels/math.h:2"),
    ("gpu/kernels/model.h", '#include "model/digest.h"\n', "gpu/kernels/model.h:2"),
    ("gpu/cpu_backend.cpp", "#include <cuda_runtime_api.h>\n", "gpu/cpu_backend.cpp:2"),
    ("gpu/cuda_table.cpp", "#include <cuda_runtime_api.h>\n", ""),
    ("gpu/cuda_backend.cpp", "#include <cuda_runtime_api.h>\n", "gpu/cuda_backend.cpp:2"),
    ("gpu/cuda_kernels.cu", "#include <vector>\n", "gpu/cuda_kernels.cu:2"),
    ("widgets/views/list.cpp", '#include <QTreeView>\n#include "model/run.h"\n', ""),
    ("widgets/views/plot.cpp", "#include <qcustomplot.h>\n", "widgets/views/plot.cpp:2"),
    ("widgets/plot/timeline.cpp", "#include <qcustomplot.h>\n", ""),
    ("widgets/plot/timeline.h", "#include <qcustomplot.h>\n", "widgets/plot/timeline.h:2"),
    ("widgets/views/session.cpp", '#include "app/core/session.h"\n', "widgets/views/session.cpp:2"),
    ("widgets/views/loader.cpp", '#include "loaders/loader.h"\n', "widgets/views/loader.cpp:2"),
    ("app/core/session.cpp", "#include <QObject>\n", "app/core/session.cpp:2"),
    ("app/core/view.cpp", '#include "widgets/roles.h"\n', "app/core/view.cpp:2"),
    ("app/cli/main.cpp", '#include <CLI/CLI.hpp>\n#include "app/core/session.h"\n', ""),
    ("app/cli/window.cpp", "#include <QtCore/QString>\n", "app/cli/window.cpp:2"),
    ("app/gui/main.cpp", '#include <QApplication>\n#include "widgets/roles.h"\n', ""),
    ("app/gui/device.cpp", "#include <cuda_runtime.h>\n", "app/gui/device.cpp:2"),
    ("app/other/main.cpp", "", "no rule says"),
    ("tests/app/tst_any.cpp", "#include <hdf5.h>\n", ""),
    ("src/main.cpp", "", "top-level folder src/"),
    ("notes.md", "", "no file of this name belongs at the root"),
)
UNLICENSED = (("model/bare.h", "#pragma once\n", "model/bare.h:1: the first line"),
              ("tests/late.py", "#!/usr/bin/env python3\nimport sys\n", "tests/late.py:2: the first line"),
              ("tests/fine.py", f"#!/usr/bin/env python3\n# {SPDX}\n", ""))


def self_test() -> int:
    planted = [(p, f"// {SPDX}\n" + text if Path(p).suffix in CPP else text, want) for p, text, want in PLANTED]
    planted += UNLICENSED
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text, _ in planted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        problems = check(root)
    failed = [f"not found: {want}" for _, _, want in planted if want and not any(want in p for p in problems)]
    guilty = {p for p, _, want in planted if want}
    failed += [f"false alarm: {p}" for p in problems if p.split(":")[0] not in guilty]
    for line in failed:
        print(line)
    print(f"{len(planted) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="plant violations and expect each to be found")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    problems = check(options.root)
    for line in problems:
        print(line)
    if not problems:
        print("boundaries hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
