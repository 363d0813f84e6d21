# SPDX-License-Identifier: Apache-2.0
"""Inputs on the command line: --inputs, --init and --seed. inputs.py creates them, and needs numpy."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.bounds import LARGEST

from .errors import InputError
from .file import is_onnx

if TYPE_CHECKING:
    from .file import File, Program, Tensor

READS = (".npz", ".npy", ".safetensors", ".pt", ".pth")
WRITES = (".npz", ".pt", ".pth")


def check_written(path: str) -> None:
    """Checks before the work is done that its results can be written."""
    if Path(path).suffix not in WRITES:
        raise InputError(f"{path}: expected a {', '.join(WRITES[:-1])} or {WRITES[-1]} file")


DOMAIN = "domain"
INITIALIZERS = (DOMAIN, "rand", "randn", "normal", "zeros", "ones", "arange")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
HELP = (
    "generate values: random ones that the ops accept (domain, the default), uniform from 0 to 1 (rand), normal "
    "(randn or normal), zeros, ones, 0, 1, 2, … (arange), LOW:HIGH for uniform values from LOW to below HIGH, or a "
    ".npy or .pt file. NAME= selects an input by name or index. Can be repeated"
)


@dataclass(frozen=True)
class Init:
    """One --init. name: of an input, None for all that are not named; what: as it was written."""

    what: str
    name: str | None = None
    interval: tuple[float, float] | None = None

    @property
    def is_file(self) -> bool:
        return Path(self.what).suffix in READS

    def __str__(self) -> str:
        return f"--init {self.name}={self.what}" if self.name is not None else f"--init {self.what}"


def init(text: str) -> Init:
    """Returns [NAME=]WHAT of the command line."""
    name, equals, rest = text.partition("=")
    if equals and not name:
        raise argparse.ArgumentTypeError(f"{text!r} names no input before the =")
    what, of = (rest, name) if equals else (text, None)
    if found := re.fullmatch(f"({NUMBER}):({NUMBER})", what):
        low, high = float(found[1]), float(found[2])
        if not (math.isfinite(low) and math.isfinite(high)):
            raise argparse.ArgumentTypeError(f"{what!r} is no range: its ends are no numbers that float64 holds")
        if not low < high:
            raise argparse.ArgumentTypeError(f"{what!r} is no range: {found[1]} is not below {found[2]}")
        return Init(what, of, (low, high))
    result = Init(what, of)
    if what in INITIALIZERS or (result.is_file and of is not None):
        return result
    if result.is_file:
        raise argparse.ArgumentTypeError(f"{what!r} is a file: say for which input, as in NAME={what}")
    near = difflib.get_close_matches(what, INITIALIZERS, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    known = f"{', '.join(INITIALIZERS)}, LOW:HIGH or a file"
    raise argparse.ArgumentTypeError(f"{what!r} is no way to make inputs; expected {known}{hint}")


def sizes(text: str) -> dict[str, int]:
    """Reads "batch=4,length=128"."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if not name or not number.isdecimal() or name in found:
            raise argparse.ArgumentTypeError(f"{part!r} is no size; expected NAME=N, and each name once")
        digits = number.lstrip("0") or "0"
        if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
            raise argparse.ArgumentTypeError(f"{part!r} is no size; a size is at most {LARGEST}")
        found[name] = int(digits)
    return found


def sized(file: File, args: argparse.Namespace) -> File:
    """Returns the file for the values of its open sizes that `args` gives.

    Raises:
        InputError: the sizes are for one program, and there are several.
        _ttmlir_runtime.Error: a name that the file does not have, or a value out of bounds; names both.
    """
    if not args.sizes or is_onnx(file.path):  # the latter was compiled for them
        return file
    programs = file.chosen(args.program)
    if len(programs) != 1:
        names = ", ".join(p.name for p in programs)
        raise InputError(f"--sizes are for one program; choose one of {names} by --program")
    return dataclasses.replace(file, binary=file.binary.bound_to(programs[0].index, args.sizes))


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--inputs", metavar="FILE", help="tensors for the inputs: .npz, .npy, .safetensors, .pt; for one program"
    )
    group.add_argument(
        "--weights", metavar="FILE", help="tensors for the inputs that the file names; --init generates the others"
    )
    group.add_argument("--init", type=init, action="append", default=[], metavar="[NAME=]WHAT", help=HELP)
    group.add_argument(
        "--sizes",
        type=sizes,
        default={},
        metavar="NAME=N,...",
        help="values of the sizes that the file leaves open (`ttrt read` lists them)",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of random inputs (default: %(default)s)")


def check(args: argparse.Namespace, programs: Sequence[Program]) -> None:
    """Checks that the options make sense together and for these programs.

    Raises:
        InputError: says which do not.
    """
    if args.inputs and args.weights:
        raise InputError("--inputs gives all values and --weights some; give one of them")
    if args.inputs and args.init:
        raise InputError("--inputs gives values and --init makes them; give one of them")
    if args.inputs and len(programs) > 1:
        names = ", ".join(p.name for p in programs)
        raise InputError(f"--inputs are for one program; choose one of {names} by --program")
    seen: set[str | None] = set()
    for entry in args.init:
        if entry.name in seen:
            what = "all inputs" if entry.name is None else f"the input {entry.name}"
            raise InputError(f"{entry}: another --init makes {what}; give one of them")
        seen.add(entry.name)
        if entry.name is None:
            continue
        if not any(entry.name in names_of(t, i) for p in programs for i, t in enumerate(p.inputs)):
            of = "; ".join(f'"{p.name}" takes: {takes(p)}' for p in programs)
            near = difflib.get_close_matches(entry.name, [t.name for p in programs for t in p.inputs if t.name], n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f'{entry}: no input named "{entry.name}"{hint}; the program {of}')


def names_of(tensor: Tensor, index: int) -> list[str]:
    """Returns what an input may be called in a file of tensors, and by --init."""
    names = (tensor.name, f"input_{index}", f"arg{index}", f"arr_{index}", str(index))
    return list(dict.fromkeys(name for name in names if name))


def takes(program: Program) -> str:
    return ", ".join(f"{t.name or f'input_{i}'} {t.type}" for i, t in enumerate(program.inputs)) or "no inputs"
