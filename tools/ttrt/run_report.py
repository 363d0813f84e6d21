# SPDX-License-Identifier: Apache-2.0
"""Checks of a run's outputs, and their report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .arrays import to_torch

if TYPE_CHECKING:  # comparing needs torch, and a run that compares nothing does not
    import torch
    from builder.execution.verdicts import Verdict
    from builder.goldens.evaluation import Producer
    from golden import Comparison, GoldenMapTensor

    from .execution import Execution
    from .flatbuffer_goldens import ProgramGoldens


@dataclass(frozen=True)
class Row:
    """One value compared with its golden; the shard that differs most counts. topk: the elements that differ most."""

    name: str
    op: str
    location: str
    type: str
    shards: int
    comparison: Comparison | None
    problem: str | None
    topk: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        c = self.comparison
        about = {"op": self.op, "location": self.location} if self.op else {}
        differing = {"largest_differences": list(self.topk)} if self.topk else {}
        return {
            "name": self.name,
            **about,
            "type": self.type,
            "shards": self.shards,
            "pcc": None if c is None else c.pcc,
            "max_abs_error": None if c is None else c.max_abs,
            "note": c.note if c is not None else "",
            "passed": self.problem is None,
            "problem": self.problem,
            **differing,
        }


def verdict_of(args: argparse.Namespace) -> Verdict:
    from builder.execution.verdicts import Verdict

    return Verdict(args.pcc, args.atol, args.rtol, check_atol=args.atol is not None, check_rtol=args.rtol is not None)


def judged(
    name: str, type_: str, golden: GoldenMapTensor, shards: Sequence[torch.Tensor], args: argparse.Namespace,
    dtype_matters: bool = True, op: str = "", location: str = "", producer: Producer | None = None,
) -> Row:  # fmt: skip
    """Returns a value compared with its golden as the command line says."""
    from builder.execution.verdicts import compare_shards

    verdict = verdict_of(args)
    compared = compare_shards(golden, shards, verdict, dtype_matters, producer)
    device, value, worst = min(compared, key=lambda c: (verdict.accepts(c[2]), c[2].pcc))
    problem: str | None = None
    topk: tuple[dict[str, Any], ...] = ()
    if not verdict.accepts(worst):
        problem = worst.problem or (
            f"PCC {worst.pcc:.6f}, expected {args.pcc} or more"
            if not (worst.note or worst.agrees(args.pcc))
            else f"largest error {worst.max_abs:.4g} at {list(worst.worst)}, outside of the tolerance"
            + (f" ({worst.note})" if worst.note else "")
        )
        if len(compared) > 1:
            wrong = [d for d, _, c in compared if not verdict.accepts(c)]
            problem += f", on chip {device}" + (f" (wrong on chips {wrong})" if len(wrong) > 1 else "")
        topk = tuple(largest_differences(golden.shard_at(device), value, args.topk))
    return Row(name, op, location, type_, len(shards), worst, problem, topk)


def largest_differences(golden: torch.Tensor, found: torch.Tensor, count: int) -> Iterator[dict[str, Any]]:
    """Returns place, golden and value of the elements that differ most; NaN differs from everything."""
    import torch

    if golden.numel() != found.numel() or not golden.numel():
        return
    a, b = golden.to(torch.float64).flatten(), found.to(torch.float64).flatten()
    error = torch.nan_to_num((a - b).abs(), nan=float("inf"))
    error[(a == b) | (a.isnan() & b.isnan())] = 0.0
    values, places = error.topk(min(count, error.numel()))
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        if value > 0:
            where = [int(i) for i in torch.unravel_index(torch.tensor(place), golden.shape)]
            yield {"at": where, "golden": float(a[place]), "found": float(b[place])}


def output_rows(args: argparse.Namespace, run: Execution, goldens: ProgramGoldens | None) -> Iterator[Row]:
    """Yields each output, checked as the command line asks: by golden, for identity with the input, for being
    non-zero."""
    for i, (shards, expected) in enumerate(zip(run.found, run.program.outputs, strict=True)):
        name = f"output_{i}"
        row = Row(name, "", "", expected.type, len(shards), None, None)
        if goldens is not None:
            given = [to_torch(shard) for shard in shards]
            row = judged(name, expected.type, goldens.outputs[i], given, args, producer=goldens.producers.get(name))
        elif args.identity:
            if i >= len(run.inputs):
                row = Row(name, "", "", expected.type, len(shards), None, f"there is no input {i} to be identical with")
            else:
                row = judged(name, expected.type, run.inputs[i].golden(), [to_torch(shard) for shard in shards], args)
        if args.non_zero and row.problem is None and not any(bool((shard != 0).any()) for shard in shards):
            row = Row(name, "", "", expected.type, len(shards), row.comparison, "all elements are zero")
        yield row


def op_rows(args: argparse.Namespace, run: Execution, goldens: ProgramGoldens) -> Iterator[Row]:
    """Yields each op whose value is known, in the order of execution."""
    for source, results in run.values.items():
        golden = goldens.ops.get(source)
        if golden is None:
            continue
        for i, (expected, shards) in enumerate(zip(golden.results, results, strict=False)):
            name = source if len(golden.results) == 1 else f"{source}#{i}"
            type_ = "x".join(map(str, shards[0].shape)) + f" {str(shards[0].dtype).removeprefix('torch.')}"
            producer = goldens.producers.get(name)
            yield judged(name, type_, expected, shards, args, False, golden.op, golden.location, producer)
