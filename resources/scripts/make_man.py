#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""resources/man/forkpoint-cli.1 from the program's own help: make_man.py CLI [--check]

With --check nothing is written; the exit status is 1 where the page is not what the program says.
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "man" / "forkpoint-cli.1"


def help_of(cli: str, *command: str) -> str:
    return subprocess.run([cli, *command, "--help"], capture_output=True, check=True, text=True).stdout.strip("\n")


def roff(text: str) -> str:
    lines = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").split("\n")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in lines)


def page(cli: str) -> str:
    program = help_of(cli)
    commands = re.findall(r"^  (\w+) ", program.split("Subcommands:")[1].split("\n\n")[0], re.M)
    out = ['.\\" SPDX-License-Identifier: GPL-3.0-or-later', '.\\" made by resources/scripts/make_man.py',
           '.TH FORKPOINT\\-CLI 1 "" "Forkpoint" "User Commands"', ".SH NAME",
           "forkpoint\\-cli \\- find where two training runs part", ".SH SYNOPSIS", ".B forkpoint\\-cli", ".I COMMAND",
           "[options]", ".SH DESCRIPTION", ".EX", roff(program), ".EE", ".SH COMMANDS"]
    for command in commands:
        out += [f".SS {command}", ".EX", roff(help_of(cli, command)), ".EE"]
    out += [".SH SEE ALSO", ".BR forkpoint (1)", ""]
    return "\n".join(out)


def main() -> int:
    text = page(sys.argv[1])
    if "--check" in sys.argv[2:]:
        if PAGE.read_text(encoding="utf-8") == text:
            print("the manual page is what the program says")
            return 0
        print(f"{PAGE.name} is not what the program says; make it anew: resources/scripts/make_man.py {sys.argv[1]}")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
