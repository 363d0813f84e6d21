#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every tracked source file names its licence in its first lines; --fix adds the line where it is missing.

usage: scripts/spdx.py [--fix]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = "SPDX-License-Identifier: Apache-2.0"
# Suffix or name -> how a comment begins.
COMMENTS = dict.fromkeys((".cpp", ".h", ".hpp", ".td", ".def", ".fbs"), "//") | dict.fromkeys(
    (".py", ".pyi", ".sh", ".cmake", "CMakeLists.txt"), "#"
)
# Lines that stay the first ones.
HEADERS = ("#!", "//===-")
WITHIN = 3
# What the compiler writes, as it writes it.
EMITTED = {"examples/emitted/classifier.cpp"}


def sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name and name not in EMITTED]
    return [p for p in paths if comment_of(p) and p.is_file() and p.stat().st_size]


def comment_of(path: Path) -> str | None:
    return COMMENTS.get(path.name) or COMMENTS.get(path.suffix)


def has_licence(path: Path) -> bool:
    with path.open(encoding="utf-8") as file:
        return any(TEXT in line for _, line in zip(range(WITHIN), file, strict=False))


def add(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(1 if lines[0].startswith(HEADERS) else 0, f"{comment_of(path)} {TEXT}\n")
    path.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if arguments not in ([], ["--fix"]):
        print(f"spdx: unknown arguments {' '.join(arguments)}; known: --fix", file=sys.stderr)
        return 2
    missing = [path for path in sources() if not has_licence(path)]
    if arguments:
        for path in missing:
            add(path)
        return 0
    for path in missing:
        print(f"{path.relative_to(ROOT)}:1: no line '{TEXT}' among the first {WITHIN}; scripts/lint.sh --fix adds it")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
