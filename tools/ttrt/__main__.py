# SPDX-License-Identifier: Apache-2.0
"""The command line: `ttrt COMMAND …` or `python -m ttrt COMMAND …`."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import textwrap
import traceback
from collections.abc import Sequence
from importlib import import_module

from .errors import InputError, known_errors, one_line
from .machine import rank
from .usage import Parser, add_common

# Subcommand -> what it is for. Each is a module with `arguments(parser)`, EXAMPLES and `run(args) -> exit code`.
COMMANDS = {
    "query": "describe a simulated machine",
    "read": "show what a flatbuffer holds",
    "run": "run a flatbuffer's programs, and compare with goldens",
    "perf": "show the time, cycles and bytes of every op",
    "compare": "find the first op, or the first pass, after which two modules compute different values",
    "check": "tell whether a flatbuffer fits a machine and its memories",
    "ops": "list every op and the parts of the toolchain that support it",
}
EPILOG = "exit codes: 0 done; 1 the input is wrong or results differ from their goldens; 2 wrong usage"


def parser() -> Parser:
    top = Parser(
        prog="ttrt",
        description="Inspect TTNN flatbuffers and run them on simulated chips.",
        epilog="""examples:
  ttrt run model.ttnn --golden          run it, and compare its outputs with their goldens
  ttrt run --help                       options of a command, with examples
  source <(ttrt --print-completion bash)

"""
        + EPILOG,
    )
    add_common(top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, purpose in COMMANDS.items():
        module = import_module(f".{name}", __package__)
        epilog = f"examples:\n{textwrap.indent(module.EXAMPLES.strip(), '  ')}\n\n{EPILOG}"
        command = commands.add_parser(name, help=purpose, description=module.__doc__, epilog=epilog)
        module.arguments(command)
        command.add_argument("--debug", action="store_true", help="print a stack trace with an error")
        command.set_defaults(run=module.run)
    return top


def why(error: OSError, path: str) -> str:
    """Returns why a file cannot be written."""
    if error.filename == path:
        return "expected a file, not a folder" if isinstance(error, IsADirectoryError) else str(error.strerror)
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {error.filename}"
    return f"the folder {error.filename} is not writable"


# Options that name a file to write.
OUTPUTS = ("json", "html", "result_file", "save", "save_outputs")


def check_outputs(args: argparse.Namespace) -> None:
    """Checks before the work is done that files can be written where they shall be.

    Raises:
        InputError: one cannot; names it.
    """
    for name in OUTPUTS:
        path = getattr(args, name, None)
        if not isinstance(path, str) or path == "-":
            continue
        from ttmlir.files import check_writable

        try:
            check_writable(path)
        except OSError as error:
            raise InputError(f"--{name.replace('_', '-')} {path or repr(path)}: {why(error, path)}") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool; returns the exit code (wrong usage leaves by SystemExit(2), as argparse does)."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        parser().print_help(sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of files need not be text of the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    args = parser().parse_args(argv)
    try:
        check_outputs(args)
        # Processes that share a mesh do the same, and the first one tells of it.
        with contextlib.nullcontext() if rank() == 0 else contextlib.redirect_stdout(io.StringIO()):
            code = args.run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output went away ("ttrt read … | head"): nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"ttrt {args.command}: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        known = isinstance(error, known_errors())
        hint = "" if known or args.debug else " (not foreseen; --debug shows where)"
        kind = "" if known else f"{type(error).__name__}: "
        print(f"ttrt {args.command}: {kind}{one_line(error)}{hint}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
