# SPDX-License-Identifier: Apache-2.0
"""The table of target ttmetal: TTIR ops by data type and grid of cores, compared with goldens.

`PYTHONPATH=test/python/ops python test/python/ops/special/metal_table.py` prints it. Its options are a pattern of names
(`--ops 'ttir.conv*'`), `--dtypes f32` and `--grids 8x8`.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
from builder.base.builder_apis import build_module
from builder.execution.verdicts import Verdict, compare_shards
from op_cases import TABLE, called, clone, execute, operand_types
from op_rows import Case
from ttmlir import passes
from ttmlir.ir import MLIRError

DTYPES = ("f32", "bf16", "i32")
GRIDS = {
    "1x1": "1,1",
    "1x8": "1,8",
    "8x8": "8,8",
    "harvested": "7,8",
    "dram": "8,8 force-spill-to-dram-if-legal=true",
}
# In addition to the shapes of the op table: rank 5, no elements, and prime numbers of tiles.
SHAPES = ((2, 1, 3, 2, 5), (0, 7), (3, 0), (340, 5), (20, 430))
OPS = [name for name, made in sorted(TABLE.items()) if name.startswith("ttir.") and made.mesh == (1, 1)]


@dataclass(frozen=True, eq=False)
class Entry:
    """A case of an op in a data type."""

    op: str
    number: int
    case: Case
    dtype: str

    @property
    def name(self) -> str:
        return f"{self.op.partition('.')[2]}_{self.number}_{self.dtype}"


def entries(op: str, dtype: str) -> list[Entry]:
    made = TABLE[op]
    if dtype not in made.dtypes:
        return []
    cases = list(made.cases)
    if made.is_unary and all(isinstance(each.operands, tuple) for each in cases):
        attributes = cases[0].attributes
        if not attributes:  # else they depend on the shape
            cases += [Case((shape,)) for shape in SHAPES if made.cases[0].operands == ((64, 128),)]
    return [Entry(op, number, each, dtype) for number, each in enumerate(cases)]


def built(several: Sequence[Entry]) -> tuple[Any, Any]:
    """(module, builder) with a function for each entry."""

    def module(builder: Any) -> None:
        for entry in several:
            made = TABLE[entry.op]
            shapes, dtypes = operand_types(made, entry.case, entry.dtype)

            def f(*arguments: Any, entry: Entry = entry, made: Any = made) -> Any:
                results = called(arguments[-1], entry.op, made, entry.case, list(arguments[:-1]), entry.dtype)
                return results[0] if len(results) == 1 else tuple(results)

            f.__name__ = entry.name
            builder.func(shapes, dtypes)(f)

    return build_module(module, "ttir")


def refusal(entry: Entry, grid: str) -> str | None:
    """Why the pipeline refuses an entry, or None."""
    module, _ = built([entry])
    try:
        passes.ttir_to_ttmetal_pipeline(module, f"override-device-shape={GRIDS[grid]}")
    except MLIRError as error:
        text = " ".join(str(error).split())
        found = re.search(r"'(ttir\.\w+|func\.func)' is not lowered to D2M[;:] (.*?)(?= note:|$)", text)
        return f"{found[1]}: {found[2]}" if found else text
    return None


def problems(several: Sequence[Entry], grid: str) -> Iterator[tuple[Entry, str]]:
    """Runs entries as one program file: results that are not those of the goldens, or are too far from them."""
    module, builder = built(several)
    metal: Any = clone(module)
    passes.ttir_to_ttmetal_pipeline(metal, f"override-device-shape={GRIDS[grid]}")
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    for index, goldens in builder.golden_map[0].items():
        entry = several[index]
        atol, rtol = TABLE[entry.op].tolerance.get(entry.dtype, (None, None))
        verdict = Verdict(atol=atol, rtol=rtol, check_atol=True, check_rtol=True)
        try:
            found = execute(binary, index, goldens.inputs, (1, 1))
        except RuntimeError as error:
            yield entry, str(error)
            continue
        for golden, shards in zip(goldens.outputs, found, strict=True):
            for _, _, comparison in compare_shards(golden, shards, verdict, True):
                if comparison.problem or not comparison.within:
                    yield entry, str(comparison)


def table(ops: Sequence[str], dtypes: Sequence[str], grids: Sequence[str]) -> Iterator[str]:
    """Lines: of each op and data type what runs on every grid, then why the rest is refused."""
    reasons: list[str] = []
    yield f"| op | dtype | {' | '.join(grids)} |"
    yield "|---|---|" + "---|" * len(grids)
    for dtype in dtypes:
        cells: dict[str, dict[str, str]] = {}
        for grid in grids:
            run: list[Entry] = []
            for op in ops:
                several = entries(op, dtype)
                refused = {entry: reason for entry in several if (reason := refusal(entry, grid))}
                reasons += [f"{entry.name}: {reason}" for entry, reason in refused.items()]
                accepted = [entry for entry in several if entry not in refused]
                if several:
                    cells.setdefault(op, {})[grid] = f"{len(accepted)} of {len(several)}" if accepted else "refused"
                run += accepted
            wrong = list(problems(run, grid)) if run else []
            for entry, problem in wrong:
                cells[entry.op][grid] = "WRONG"
                reasons.append(f"{entry.name} on {grid}: {problem}")
        for op, row in cells.items():
            yield f"| {op} | {dtype} | {' | '.join(row.values())} |"
    yield ""
    yield from sorted(set(reasons))


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints which TTIR ops run on cores.")
    parser.add_argument("--ops", default="*", help="a pattern of names")
    parser.add_argument("--dtypes", nargs="*", default=DTYPES)
    parser.add_argument("--grids", nargs="*", default=tuple(GRIDS))
    arguments = parser.parse_args()
    for line in table(fnmatch.filter(OPS, arguments.ops), arguments.dtypes, arguments.grids):
        print(line)


if __name__ == "__main__":
    main()
