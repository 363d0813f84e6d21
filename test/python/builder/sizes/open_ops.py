# SPDX-License-Identifier: Apache-2.0
"""Dimensions of the first operand of each op that can stay open: rows of the op table, compiled for open sizes.

Each dimension of the first operand of a case is varied: alone, or with all dimensions of this size, or also with
attributes of this size, whichever the op takes. The open program is compared with those that are compiled for sizes.

    python open_ops.py --write          write docs/sizes-ops.md
    python open_ops.py ttir.matmul      what is found for ops
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[4]
    folders = ("tools", "build/python_packages", "test/python/ops", "test/python/random_programs")
    sys.path[:0] = [str(root / folder) for folder in folders]

import _ttmlir_runtime as tt
from builder.base.errors import TTBuilderCompileException
from op_cases import TABLE, build_cases, execute, lowered
from op_gaps import GAPS
from op_rows import Case, Row
from random_open import bits
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.sizes import OpenSizeError, Size, open_flatbuffer

DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "sizes-ops.md"
PROBES = (37, 92)  # an op that takes both takes any, as far as its shapes tell
RUNS = (2, 3, 17, 33, 70)  # sizes, or multiples of the size


@dataclass(frozen=True)
class Found:
    """The result for a dimension. reason: why it cannot stay open, "" if it does."""

    dimension: int
    reason: str


def first_operand(case: Case) -> tuple[int, ...] | None:
    for _, operand in case.items():
        first = operand[0] if isinstance(operand, list) and operand else operand
        if isinstance(first, tuple):
            return first
    return None


def chosen_case(row: Row) -> Case | None:
    """The case whose first operand has most dimensions above 1."""
    shaped = [(case, first_operand(case)) for case in row.cases]
    known = [(sum(s > 1 for s in shape), -i) for i, (_, shape) in enumerate(shaped) if shape]
    return row.cases[-max(known)[1]] if known and max(known)[0] else None


def varied(case: Case, dimension: int, tied: str, attributes: bool, scaled: bool = False) -> Callable[[int], Case]:
    """The case with another size in the dimension. tied: also where operands have this size, "everywhere" or in the
    "same" dimension; attributes: these, too; scaled: with multiples of the size.
    """
    shape = first_operand(case)
    assert shape is not None
    old = shape[dimension]

    def at(size: int) -> Case:
        places = iter(range(1 << 20))
        n = old * size if scaled else size

        def sized(operand: tuple[int, ...]) -> tuple[int, ...]:
            is_first = next(places) == 0
            return tuple(
                n
                if each == old and (tied == "everywhere" or (d == dimension and (is_first or tied == "same")))
                else each
                for d, each in enumerate(operand)
            )

        def changed(operand: Any) -> Any:
            if isinstance(operand, list):
                return [changed(each) for each in operand]
            return sized(operand) if isinstance(operand, tuple) else operand

        def number(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(number(each) for each in value)
            if not isinstance(value, int) or isinstance(value, bool):
                return value
            if scaled and value > 1 and value % old == 0:
                return value * size
            return n if value == old else value

        pairs = [(key, changed(operand)) for key, operand in case.items()]
        operands = dict(pairs) if isinstance(case.operands, Mapping) else [operand for _, operand in pairs]
        values = {k: number(v) for k, v in case.attributes.items()} if attributes else case.attributes
        return replace(case, operands=operands, attributes=values)

    return at


def variants(case: Case, dimension: int) -> Iterator[Callable[[int], Case]]:
    for scaled in (False, True):
        for attributes in (False, True):
            for tied in ("alone", "same", "everywhere"):
                yield varied(case, dimension, tied, attributes, scaled)


def summary(error: BaseException) -> str:
    """The first diagnostic, without its place and numbers that vary."""
    diagnostics = getattr(error, "diagnostics", None)
    text = diagnostics[0].message if diagnostics else str(error).partition("\n")[0]
    text = re.sub(r" at loc\(.*?\)(?=:)", "", text)
    return text.removesuffix(", so that the sizes cannot stay open").replace("|", "/")


def found_for(name: str) -> list[Found]:
    """Each dimension of the first operand of an op's case that is larger than 1."""
    row = TABLE[name]
    case = chosen_case(row)
    if case is None or row.mesh != (1, 1):
        return []
    shape = first_operand(case)
    assert shape is not None
    return [Found(d, reason_of(name, row, case, d)) for d, size in enumerate(shape) if size > 1]


def reason_of(name: str, row: Row, case: Case, dimension: int) -> str:
    dtype = row.dtypes[0]
    refused: list[str] = []
    shape = first_operand(case)
    assert shape is not None
    alike = [
        other
        for other in row.cases
        if (of := first_operand(other)) and len(of) == len(shape) and of[dimension] > 1 and other is not case
    ]
    for at in (at for each in [case, *alike] for at in variants(each, dimension)):
        try:
            for n in PROBES:
                lowered(build_cases(name, row, [at(n)], dtype)[0], row.mesh, "open-sizes=true")
        except Exception as error:
            refused.append(summary(error))
            continue
        try:
            check(name, row, at, dtype)
        except (OpenSizeError, ir.MLIRError) as error:  # constants of large sizes do not fit in a file
            refused.append(summary(error))
            continue
        return ""
    return refused[0]


def check(name: str, row: Row, at: Callable[[int], Case], dtype: str) -> None:
    """
    Raises:
        OpenSizeError: the dimension cannot stay open.
        AssertionError: the open program computes something else than one for the size.
    """
    load = tt.binary.load_binary_from_bytes

    def lower_at(point: tuple[int, ...]) -> Any:
        try:
            return lowered(build_cases(name, row, [at(point[0])], dtype)[0], row.mesh, "open-sizes=true")
        except TTBuilderCompileException as error:
            raise OpenSizeError(summary(error)) from error

    binary = load(open_flatbuffer(lower_at, [Size("n")]))
    ((_, least, most),) = binary.open_sizes
    for n in {max(least, n) for n in RUNS if n <= most}:
        module, builder = build_cases(name, row, [at(n)], dtype)
        inputs = builder.golden_map[0][0].inputs
        fixed = load(ttnn_to_flatbuffer_bin(lowered(module, row.mesh)))
        try:
            expected = execute(fixed, 0, inputs, row.mesh)
        except tt.Error:  # random values are none for this size
            continue
        found = execute(binary, 0, inputs, row.mesh)
        for a, b in zip(expected, found, strict=True):
            same = a[0].shape == b[0].shape and a[0].dtype == b[0].dtype and torch.equal(bits(a[0]), bits(b[0]))
            assert same, f"{name}: another result with {n} in the dimension"


def names() -> list[str]:
    return sorted(name for name in TABLE if name not in GAPS)


def table(found: Mapping[str, list[Found]]) -> str:
    lines = ["| op | dimension | why |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {f.dimension} | {f.reason} |" for name, each in found.items() for f in each if f.reason]
    return "\n".join(lines) + "\n"


def stated() -> dict[str, dict[int, str]]:
    """The table of the document."""
    rows: dict[str, dict[int, str]] = {}
    for name, dimension, why in re.findall(r"^\| `(\S+)` \| (\d+) \| (.*) \|$", DOCUMENT.read_text(), re.M):
        rows.setdefault(name, {})[int(dimension)] = why
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/sizes-ops.md")
    parser.add_argument("ops", nargs="*", help="names of ops (default: all)")
    args = parser.parse_args()
    found: dict[str, list[Found]] = {}
    for name in args.ops or names():
        try:
            found[name] = found_for(name)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    text = table(found)
    count = sum(len(each) for each in found.values())
    opened = sum(not f.reason for each in found.values() for f in each)
    print(text, f"{opened} of {count} dimensions of {len(found)} ops stay open", sep="\n")
    if args.write:
        head = DOCUMENT.read_text().partition("| op |")[0]
        DOCUMENT.write_text(head + text)


if __name__ == "__main__":
    main()
