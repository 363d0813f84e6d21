#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks words: those that docs/glossary.md refuses, first words of docstrings, and subjects of commits.

usage: scripts/words.py [FILE...]

Without arguments it checks every tracked file, and the subjects of the last commits.

* A word of the table "Words to avoid" in docs/glossary.md is an error in names, comments, messages, pages and file
names.
  A row in lower case applies to every part of a name (`isWanted`, `WANTED`); one that begins with a capital applies to
  that spelling only (the type `Finally`, not the adverb). The last column has what stays allowed.
* A construction of the table "Constructions to avoid" is an error in pages, in Python files of FOLDERS, in .td files
  and in .cpp files of SOURCES.
* The docstring of a public function in FOLDERS begins with a verb in the third person, as "Returns". VERBS has them; a
  verb that is not there yet is added.
* Other docstrings of Python, and blocks of `///` in COMMENTED, do not begin with a word of OPENERS. Texts of .td files
  (summaries of ops, attributes, enums, passes and options) do not, nor with one of QUESTIONS.
* A subject of a commit has at most 72 characters.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = "docs/glossary.md"
# Titles of the tables, and whether a table is for the files of `is_prose` only.
TABLES = {"## Words to avoid": False, "## Constructions to avoid": True}
# Parts of names: `isWanted` -> is, Wanted; `HTTPServer` -> HTTP, Server.
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Files that hold words as data.
DATA = (GLOSSARY, "scripts/words.py", "test/python/installing/test_words.py")
BINARY = (".png", ".safetensors", ".npz", ".npy", ".gz", ".bc", ".mlirbc", ".ttnn", ".ttm", ".bin", ".onnx", ".pt")
COMMITS, LONGEST = 20, 72

# Folders whose public functions have docstrings that begin with a verb.
FOLDERS = ("frontends/", "python/", "scripts/", "tools/")
# Folders whose C++ files have no constructions that read as translated.
SOURCES = ("lib/", "runtime/")
# Folders whose comments of declarations begin with a noun or a verb, and first words that begin neither.
COMMENTED = ("include/", "lib/", "plugin/", "runtime/")
OPENERS = frozenset(("Of", "That", "Those", "What", "Which", "Who", "Whoever", "Whom", "Whose"))
QUESTIONS = frozenset(("How", "Where", "Whether", "Why"))
COMMENT = re.compile(r"\s*///<? (\S+)")
DESCRIBED = re.compile(r'"(\w+) [^"]*"')
TEXT = """
Adds Allocates Answers Applies Asks Assigns Begins Brings Builds Calls Captures Casts Changes Checks Clamps Clears
Closes Collects Combines Compares Compiles Computes Concatenates Connects Continues Converts Convolves Copies Counts
Creates Cuts Declares Decorates Describes Divides Does Downloads Draws Drops Emits Empties Ends Enters Erases Evaluates
Expands Extends Fills Finds Folds Forgets Forks Frees Fuses Gathers Gets Gives Goes Handles Has Holds Imports Inserts
Installs Joins Keeps Learns Leaves Lets Lists Loads Lowers Makes Maps Marks Merges Moves Multiplies Names Normalizes
Notes Numbers Opens Orders Packs Pads Parses Passes Places Plots Prepares Presses Prints Puts Quantizes Queues Raises
Reads Records Reduces Refuses Registers Removes Renames Repeats Replaces Requires Resets Resizes Restores Restricts
Returns Rounds Runs Saves Says Searches Selects Sends Sets Shifts Shows Slices Sorts Splits Stacks Stands Starts Steps
Stops Stores Submits Sums Swaps Takes Tells Tests Traces Trains Transfers Turns Updates Verifies Visits Waits Warns
Wraps Writes Yields
"""
VERBS = frozenset(TEXT.split())


@dataclass(frozen=True)
class Rule:
    """One row of a table.

    parts: the word, or words that follow each other, split as names are. exact: whether capitals count. instead: the
    words of the field. allowed: texts in which the word may stand. prose: whether the row is for the files of
    `is_prose` only.
    """

    word: str
    parts: tuple[str, ...]
    exact: bool
    instead: tuple[str, ...]
    allowed: tuple[str, ...]
    prose: bool = False

    def is_at(self, parts: Sequence[str], place: int) -> bool:
        found = parts[place : place + len(self.parts)]
        return tuple(found if self.exact else (part.lower() for part in found)) == self.parts


def rules() -> list[Rule]:
    """Returns the rows of the tables in the glossary."""
    text = (ROOT / GLOSSARY).read_text(encoding="utf-8")
    found = []
    for title, prose in TABLES.items():
        rows = []
        for line in text.partition(title + "\n")[2].partition("\n## ")[0].splitlines():
            cells = [re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")]
            if len(cells) != 3 or not cells[0]:
                continue
            for word in cells[0]:
                parts = tuple(PARTS.findall(word))
                rows.append(Rule(word, parts, word != word.lower(), tuple(cells[1]), tuple(cells[2]), prose))
        if not rows:
            raise SystemExit(f"words: {GLOSSARY} has no table under {title!r}")
        found += rows
    return found


def is_prose(path: str) -> bool:
    """Returns whether a file is checked for constructions, too."""
    return (
        path.endswith((".md", ".td"))
        or (path.endswith(".py") and path.startswith(FOLDERS))
        or (path.endswith(".cpp") and path.startswith(SOURCES))
    )


def wrong_words(path: str, text: str, table: Sequence[Rule]) -> Iterator[str]:
    """Yields an error for each place of a word of the tables, in the name of the file or its text."""
    if not is_prose(path):
        table = [rule for rule in table if not rule.prose]
    quick = re.compile("|".join(sorted({rule.parts[0] for rule in table})), re.I)
    for number, line in enumerate([path, *text.splitlines()]):
        if not quick.search(line):
            continue
        for rule in table:
            left = line
            for allowed in rule.allowed:
                left = left.replace(allowed, "")
            parts = PARTS.findall(left)
            if any(rule.is_at(parts, place) for place in range(len(parts))):
                where = f"{path}:{number}" if number else f"{path}: the file's name"
                yield f"{where}: {rule.word!r}: say {' or '.join(map(repr, rule.instead))} ({GLOSSARY})"


def opens_badly(text: str) -> bool:
    """Returns whether a comment begins with a word that begins no sentence."""
    return bool(text) and text.split(None, 1)[0].rstrip(".,:") in OPENERS


def wrong_descriptions(path: str, text: str) -> Iterator[str]:
    """Yields an error for each text of a .td file that begins with a word of OPENERS or QUESTIONS."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in DESCRIBED.finditer(line):
            if found[1] in OPENERS | QUESTIONS:
                yield (
                    f"{path}:{number}: the text begins with {found[1]!r}; expected a noun or a verb, as 'The layout' "
                    f"or 'Returns': {found[0]}"
                )


def wrong_comments(path: str, text: str) -> Iterator[str]:
    """Yields an error for each comment of a declaration in C++ that begins with a word of OPENERS."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        found = COMMENT.match(line)
        if found and not inside and opens_badly(found[1]):
            yield (
                f"{path}:{number}: the comment begins with {found[1]!r}; expected a noun or a verb, as 'The' or "
                f"'Returns' ({GLOSSARY})"
            )
        inside = line.lstrip().startswith("///")


def wrong_docstrings(path: str, text: str) -> Iterator[str]:
    """Yields an error for each docstring that begins with a word of OPENERS, and for each of a public function in
    FOLDERS whose first word is no verb."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            if opens_badly(docstring):
                yield (
                    f"{path}:{node.body[0].lineno}: the docstring begins with {docstring.split(None, 1)[0]!r}; "
                    f"expected a noun or a verb ({GLOSSARY})"
                )
    if not path.startswith(FOLDERS):
        return

    def walk(node: ast.AST) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if child.name.startswith("_"):
                    continue
                first = (ast.get_docstring(child) or "").split(None, 1)[:1]
                if not isinstance(child, ast.ClassDef):
                    if first and first[0].rstrip(".,:") not in VERBS:
                        yield (
                            f"{path}:{child.body[0].lineno}: the docstring of {child.name} begins with {first[0]!r}; "
                            "expected a verb, as 'Returns' (VERBS in scripts/words.py has them)"
                        )
                    continue
            if isinstance(child, ast.ClassDef | ast.If | ast.Try | ast.With):
                yield from walk(child)

    yield from walk(tree)


def wrong_subjects() -> Iterator[str]:
    """Yields an error for each of the last commits whose subject is too long."""
    log = git("log", f"-{COMMITS}", "--no-merges", "--format=%h %s")
    for commit, _, subject in (line.partition(" ") for line in log.splitlines()):
        if len(subject) > LONGEST:
            yield f"commit {commit}: the subject has {len(subject)} characters; expected at most {LONGEST}: {subject}"


def git(*arguments: str) -> str:
    """Returns what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def errors(paths: Sequence[str]) -> Iterator[str]:
    """Yields the errors of files, which are named from the root of the checkout."""
    table = rules()
    for path in paths:
        if path in DATA or path.endswith(BINARY) or not (ROOT / path).is_file():
            continue
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:  # no text
            continue
        yield from wrong_words(path, text, table)
        if path.endswith((".h", ".cpp", ".td", ".def")) and path.startswith(COMMENTED):
            yield from wrong_comments(path, text)
        if path.endswith(".td"):
            yield from wrong_descriptions(path, text)
        if path.endswith(".py"):
            yield from wrong_docstrings(path, text)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    paths = [str(Path(name).resolve().relative_to(ROOT)) for name in arguments]
    found = list(errors(paths or git("ls-files").splitlines()))
    if not arguments:
        found += wrong_subjects()
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
