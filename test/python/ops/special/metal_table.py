# SPDX-License-Identifier: Apache-2.0
"""The table of target ttmetal: TTIR ops by data type and grid of cores, compared with goldens.

`PYTHONPATH=test/python/ops python test/python/ops/special/metal_table.py` prints it. Its options are a pattern of names
(`--ops 'ttir.conv*'`), `--dtypes f32` and `--grids 8x8`.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.builder_apis import build_module
from builder.execution.verdicts import Verdict, compare_shards
from op_cases import TABLE, called, clone, execute, lowered, operand_types
from op_rows import Case
from ttmlir import passes
from ttmlir.ir import MLIRError

DTYPES = ("f32", "bf16", "bfp8", "i32", "u32", "u16", "u8", "i1")
BLOCKS = "bfp8"  # ops of f32, with all floats in blocks: compared with target ttnn, which rounds the same operands
INTEGERS = ("i32", "u32", "u16", "u8", "i1")  # of ops that have i32
NOT_OF_BOOLEANS = {"ttir.arange"}  # its cases have numbers above 1
GRIDS = {
    "1x1": "1,1",
    "1x8": "1,8",
    "8x8": "8,8",
    "harvested": "7,8",
    "dram": "8,8 force-spill-to-dram-if-legal=true",
}
# In addition to the shapes of the op table: rank 5, no elements, and prime numbers of tiles.
SHAPES = ((2, 1, 3, 2, 5), (0, 7), (3, 0), (340, 5), (20, 430))
# Entries that differ from what they are compared with, and the reason.
TIES = dict.fromkeys(
    ("sdpa_fw_2_bf16", "sdpa_fw_2_bfp8"),
    "of two equal scores, the golden's f32 finds log(sum) in the largest one: 1 in place of the 1/2 of both targets",
) | {
    "topk_router_gpt_0_bfp8": "the golden, whose operands are not rounded to blocks, has two scores in the other order "
    "that differ by less than this rounding"
}
FILE = 40  # entries of one program file
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

    @property
    def given(self) -> str:
        """The data type of the program's operands."""
        return "f32" if self.dtype == BLOCKS else self.dtype


def options(dtype: str, grid: str) -> str:
    blocks = "global-data-format-target=bfp_bf8" if dtype == BLOCKS else ""
    return f"override-device-shape={GRIDS[grid]} {blocks}".strip()


def entries(op: str, dtype: str) -> list[Entry]:
    made = TABLE[op]
    if ("f32" if dtype == BLOCKS else "i32" if dtype in INTEGERS else dtype) not in made.dtypes:
        return []
    if dtype == "i1" and op in NOT_OF_BOOLEANS:
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
            shapes, dtypes = operand_types(made, entry.case, entry.given)

            def f(*arguments: Any, entry: Entry = entry, made: Any = made) -> Any:
                results = called(arguments[-1], entry.op, made, entry.case, list(arguments[:-1]), entry.given)
                return results[0] if len(results) == 1 else tuple(results)

            f.__name__ = entry.name
            builder.func(shapes, dtypes)(f)

    return build_module(module, "ttir")


def refusal(entry: Entry, grid: str) -> str | None:
    """Why the pipeline refuses an entry, or None."""
    module, _ = built([entry])
    try:
        passes.ttir_to_ttmetal_pipeline(module, options(entry.dtype, grid))
    except MLIRError as error:
        text = " ".join(str(error).split())
        found = re.search(r"'(ttir\.\w+|func\.func)' is not lowered to D2M[;:] (.*?)(?= note:|$)", text)
        return f"{found[1]}: {found[2]}" if found else text
    return None


def problems(several: Sequence[Entry], grid: str) -> Iterator[tuple[Entry, str]]:
    """Runs entries of a data type as one program file: results that are not those of the goldens, or are too far from
    them."""
    dtype = several[0].dtype
    module, builder = built(several)
    metal: Any = clone(module)
    passes.ttir_to_ttmetal_pipeline(metal, options(dtype, grid))
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    library = None
    if dtype == BLOCKS:
        library = rt.binary.load_binary_from_bytes(
            passes.ttnn_to_flatbuffer_bin(lowered(module, (1, 1), "target-format=bfp_bf8"))
        )
    for index, goldens in builder.golden_map[0].items():
        entry = several[index]
        atol, rtol = TABLE[entry.op].tolerance.get(entry.dtype, (None, None))
        verdict = Verdict(atol=atol, rtol=rtol, check_atol=True, check_rtol=True)
        try:
            found = execute(binary, index, goldens.inputs, (1, 1))
        except RuntimeError as error:
            yield entry, str(error)
            continue
        if library is not None:
            try:
                expected = execute(library, index, goldens.inputs, (1, 1))
            except RuntimeError:  # it writes to its operands, and elements of blocks are not written alone
                expected = [[golden.shard_at(0)] for golden in goldens.outputs]
            exact = [golden.shard_at(0) for golden in goldens.outputs]
            yield from ((entry, problem) for problem in apart(found, expected, exact))
            continue
        for golden, shards in zip(goldens.outputs, found, strict=True):
            for _, _, comparison in compare_shards(golden, shards, verdict, True):
                if comparison.problem or not comparison.within:
                    yield entry, str(comparison)


def judged(several: Sequence[Entry], grid: str) -> tuple[dict[Entry, str], list[tuple[Entry, str]]]:
    """(entries that are refused, and why; the problems of the others)."""
    try:
        return {}, list(problems(several, grid)) if several else []
    except MLIRError:
        refused = {entry: reason for entry in several if (reason := refusal(entry, grid))}
        accepted = [entry for entry in several if entry not in refused]
        return refused, list(problems(accepted, grid)) if accepted else []


def apart(
    found: Sequence[Sequence[torch.Tensor]], expected: Sequence[Sequence[torch.Tensor]], exact: Sequence[torch.Tensor]
) -> Iterator[str]:
    """Results that are further from those of target ttnn than two roundings to a block, and further from the golden.

    The library rounds between the steps of some ops, which cores compute in f32.
    """
    for one, other, golden in zip(found, expected, exact, strict=True):
        for a, b in zip(one, other, strict=True):
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                yield f"{tuple(a.shape)} {a.dtype}; target ttnn has {tuple(b.shape)} {b.dtype}"
            elif a.is_floating_point():
                largest = float(b[b.isfinite()].abs().max()) if b.isfinite().any() else 0.0
                near = torch.allclose(a, b, rtol=2**-6, atol=2**-6 * largest, equal_nan=True)
                if not near and not (a - golden).abs().max() <= (b - golden).abs().max():
                    yield f"is {float((a - b).abs().max()):g} from target ttnn's; the largest is {largest:g}"
            elif not torch.equal(a, b):
                yield f"{int((a != b).sum())} of {a.numel()} are not those of target ttnn"


def table(ops: Sequence[str], dtypes: Sequence[str], grids: Sequence[str]) -> Iterator[str]:
    """Lines: of each op and data type what runs on every grid, then why the rest is refused."""
    reasons: list[str] = []
    yield f"| op | dtype | {' | '.join(grids)} |"
    yield "|---|---|" + "---|" * len(grids)
    for dtype in dtypes:
        cells: dict[str, dict[str, str]] = {}
        for grid in grids:
            refusals: Counter[str] = Counter()
            failures: Counter[str] = Counter()
            several = [entry for op in ops for entry in entries(op, dtype)]
            for first in range(0, len(several), FILE):
                refused, wrong = judged(several[first : first + FILE], grid)
                reasons += [f"{entry.name}: {reason}" for entry, reason in refused.items()]
                reasons += [
                    f"{entry.name} on {grid}: {problem}" + ("; " + TIES[entry.name] if entry.name in TIES else "")
                    for entry, problem in wrong
                ]
                refusals.update(entry.op for entry in refused)
                failures.update(entry.op for entry, _ in wrong if entry.name not in TIES)
            counts = Counter(entry.op for entry in several)
            for op, count in counts.items():
                accepted = count - refusals[op]
                cell = f"{accepted} of {count}" if accepted else "refused"
                cells.setdefault(op, {})[grid] = "WRONG" if failures[op] else cell
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
