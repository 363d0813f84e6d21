# SPDX-License-Identifier: Apache-2.0
"""List every op of the dialects and the parts of the toolchain that support it.

inference  result types need not be given: they follow from operands and attributes, or there are none
lowering   the op of the next dialect that it becomes, or "rule" where that depends on its operands and attributes
kernel     the simulated library computes it (ttnn)
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module

from .output import print_json, table

DIALECTS = ("ttir", "ttnn", "stablehlo", "chlo")


@dataclass(frozen=True)
class OpRow:
    """One op. lowering: the op it becomes, or "rule"; None when no conversion takes it."""

    name: str
    inference: bool
    lowering: str | None
    kernel: bool


EXAMPLES = """
ttrt ops --dialect ttir
ttrt ops --missing
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialect", choices=DIALECTS, action="append", help="only this dialect. Can be repeated")
    parser.add_argument("--missing", action="store_true", help="only ops without inference, lowering or kernel")
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of a table")


def registry(dialects: tuple[str, ...] = DIALECTS) -> Iterator[OpRow]:
    """Yields the rows of all ops, by dialect and name, as the compiler and the runtime register them."""
    from _ttmlir_runtime import runtime
    from builder.ops.op_infos import op_infos
    from ttmlir import util
    from ttmlir.ir import Context

    kernels, context = set(runtime.list_ops()), Context()
    for dialect in DIALECTS:
        context.get_dialect_descriptor(dialect)  # loads it
    for dialect in dialects:
        infos = op_infos(import_module(f"ttmlir.dialects.{dialect}"))
        for info in sorted(infos, key=lambda info: info.name):
            infers = info.infers or not info.results
            yield OpRow(info.name, infers, util.lowering(info.name, context), info.name in kernels)


def has_gap(row: OpRow) -> bool:
    """Returns whether something is missing: a lowering above TTNN, inference of TTIR, a kernel of TTNN."""
    if row.name.startswith("ttnn."):
        return not row.kernel
    return not row.lowering or (row.name.startswith("ttir.") and not row.inference)


def run(args: argparse.Namespace) -> int:
    rows = [row for row in registry(tuple(args.dialect or DIALECTS)) if not args.missing or has_gap(row)]
    if args.json:
        print_json([asdict(row) for row in rows])
        return 0
    yes = {True: "yes", False: "-"}
    table(
        "",
        ("op", "inference", "lowering", "kernel"),
        [
            (r.name, yes[r.inference], r.lowering or "-", yes[r.kernel] if r.name.startswith("ttnn.") else "")
            for r in rows
        ],
    )
    print(f"{len(rows)} ops")
    return 0
