# SPDX-License-Identifier: Apache-2.0
"""Command lines of the Python tools: one line for a mistake, with a suggestion; version and shell completion."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

SHELLS = ("bash", "zsh", "fish", "tcsh")


def version() -> str:
    """Returns the version of the installed package; in a checkout, what pyproject.toml says."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file() and (found := re.search(r'^version = "(.*)"$', project.read_text(), re.M)):
        return f"{found[1]} (checkout)"
    from importlib import metadata  # a quarter of the time in which a command starts

    try:
        return metadata.version("ttmlir")
    except metadata.PackageNotFoundError:
        return "of unknown version"


class ShowVersion(argparse.Action):
    """Prints the version, which is looked up on request."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, help: str | None = "show program's version number and exit"
    ) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(f"{parser.prog} {version()}")
        parser.exit()


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line and suggest what was meant."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = re.compile(r"-[.\d]")  # values, also those like -1:1

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = [option for action in self._actions for option in action.option_strings]
            name = unknown[0].partition("=")[0]
            hint = did_you_mean(name, known) if name.startswith("-") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found, unknown

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if arg_strings == ["--"] and action.option_strings:  # which argparse takes for no value at all
            raise argparse.ArgumentError(action, "expected one argument")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        hint = did_you_mean(str(value), map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(
                None, f"no command {value!r}{hint or '; there are ' + ', '.join(action.choices)}"
            )
        raise argparse.ArgumentError(action, f"{value!r} is none of {', '.join(map(str, action.choices))}{hint}")


class PrintCompletion(argparse.Action):
    """Prints the completion script of a shell, by the package shtab."""

    def __init__(self, *args: Any, tool: argparse.ArgumentParser, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tool = tool

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, value: Any, option: str | None = None) -> None:
        try:
            import shtab
        except ImportError:
            self.tool.error(f"{option} needs the package shtab: pip install 'ttmlir[completion]'")
        complete_paths(self.tool, shtab.FILE, shtab.DIRECTORY)
        print(shtab.complete(self.tool, value))
        parser.exit(0)


def complete_paths(parser: argparse.ArgumentParser, file: Any, folder: Any) -> None:
    """Says which arguments are paths, by their names in the help."""
    for action in parser._actions:
        name = str(action.metavar or action.dest).partition(".")[0]
        if name in ("FILE", "A", "B", "DIR", "filename", "dirname"):
            vars(action)["complete"] = folder if name in ("DIR", "dirname") else file
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                complete_paths(command, file, folder)


def add_common(parser: Parser) -> None:
    """Adds --version and --print-completion."""
    parser.add_argument("-V", "--version", action=ShowVersion)
    add_completion(parser)


def add_completion(parser: Parser) -> None:
    """Adds --print-completion."""
    parser.add_argument(
        "--print-completion", action=PrintCompletion, tool=parser, choices=SHELLS, metavar="SHELL",
        help=f"print a script for the shell that completes command lines of {parser.prog}: {', '.join(SHELLS)}",
    )  # fmt: skip
