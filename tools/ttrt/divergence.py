# SPDX-License-Identifier: Apache-2.0
"""Comparison of two evaluations: values are matched, and the first that differ are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from builder.base.builder_utils import is_tensor
from builder.execution.verdicts import Verdict, checked
from builder.goldens.evaluation import Producer
from builder.ops.structure import location_text, number_ops
from golden import Comparison, GoldenMapTensor
from golden.metrics import TOLERANCES
from golden.optional import torch
from ttmlir import ir, util

from . import machine
from .errors import InputError
from .flatbuffer_goldens import Source, constants_of
from .inputs import given, random_inputs
from .values import NotEvaluated, Value, Values, evaluated, formats_of, lowered, on_device, run_binary

# Number formats from the most to the least precise, with (atol, rtol). In block formats, elements share the exponent of
# the largest of 16, so that what is small compared with it has few bits left.
PRECISIONS = TOLERANCES | {
    "bfp8": (0.1, 0.1),
    "bfp4": (0.5, 0.25),
    "bfp2": (1.0, 0.5),
}


@dataclass(frozen=True)
class Judge:
    """The rule by which two numbers count as equal.

    pcc: least correlation. atol, rtol: largest |a - b| <= atol + rtol * |a|; None for those of the coarsest number
    format that either side has, atol in units of the values' root mean square where that is above 1.
    """

    pcc: float = 0.99
    atol: float | None = None
    rtol: float | None = None

    def verdict(self, golden: torch.Tensor, precision: str) -> Verdict:
        if not golden.dtype.is_floating_point:
            return Verdict(self.pcc, self.atol or 0.0, self.rtol or 0.0, check_atol=True, check_rtol=True)
        atol, rtol = PRECISIONS[precision]
        spread = 0.0
        if golden.numel():
            finite = torch.nan_to_num(golden.to(torch.float64), nan=0.0, posinf=0.0, neginf=0.0)
            atol *= max(1.0, float(finite.square().mean().sqrt()))
            spread = float(finite.std(correction=0))
        atol, rtol = (atol if self.atol is None else self.atol), (rtol if self.rtol is None else self.rtol)
        # Values that differ by less than the tolerance correlate by chance only.
        return Verdict(self.pcc, atol, rtol, check_pcc=spread > atol, check_atol=True, check_rtol=True)


@dataclass(frozen=True)
class Pair:
    """A value of both sides. name: of the op, or output_0 and so on; ours, theirs: the elements that differ most."""

    kind: str
    program: str
    key: str
    name: str
    other: str
    location: str
    shape: tuple[int, ...]
    dtype: str
    comparison: Comparison
    identical: bool
    tolerance: tuple[float, float]
    passed: bool
    ours: float | None = None
    theirs: float | None = None

    def describe(self) -> str:
        """Returns where, and how far apart."""
        what = f"{self.name} at {self.location}" if self.kind == "op" else f"{self.name} of @{self.program}"
        other = f", now {self.other}" if self.kind == "op" and self.other != self.name else ""
        c = self.comparison
        if c.problem:
            return f"{what}{other}: {c.problem}"
        at = f" at {list(c.worst)} ({self.ours:.6g}, now {self.theirs:.6g})" if self.ours is not None else ""
        return (
            f"{what}{other}: PCC {c.pcc:.6f}, largest error {c.max_abs:.4g}{at}, largest relative error {c.max_rel:.4g}"
        )


@dataclass(frozen=True)
class Comparing:
    """The result of comparing two evaluations. unmatched: ops of the first without a value in the second."""

    pairs: tuple[Pair, ...]
    unmatched: int

    @property
    def ops(self) -> list[Pair]:
        return [p for p in self.pairs if p.kind == "op"]

    @property
    def parted(self) -> list[Pair]:
        return [p for p in self.pairs if not p.passed]

    @property
    def outputs_agree(self) -> bool:
        return all(p.passed for p in self.pairs if p.kind == "output")

    @property
    def worst(self) -> Pair | None:
        return min(self.pairs, key=lambda p: (p.passed, p.comparison.pcc, -p.comparison.max_abs), default=None)


# ---------------------------------------------------------------------- which op is which


@dataclass(frozen=True)
class Ops:
    """The ops of a module by which values are matched; the module has numbers."""

    module: Any
    had_numbers: bool
    tokens: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # number -> name and shapes
    places: Mapping[str, str] = field(default_factory=dict)  # number -> location that the text states


def ops_of(module: Any, had_numbers: bool, file: str) -> Ops:
    """Returns ops. file: locations in it are those of the text itself, and say nothing about another file."""
    tokens, places = {}, {}
    for op in number_ops(module.operation):
        number = util.source_path(op.location)
        if not number:
            continue
        shapes = tuple(tuple(ir.RankedTensorType(r.type).shape) for r in op.results if is_tensor(r.type))
        tokens[number] = (op.name.partition(".")[2], shapes)
        where = location_text(op)
        if where != "unknown" and file not in where:
            places[number] = where
    return Ops(module, had_numbers, tokens, places)


def correspondence(a: Ops, b: Ops) -> tuple[dict[str, str], str]:
    """Returns number in `b` -> number in `a`, and by what the ops were recognised.

    By numbers when both files came with them; by locations when the texts state them, each for one op; else by the
    order of the ops, their names and shapes.
    """
    if a.had_numbers and b.had_numbers:
        return {number: number for number in b.tokens if number in a.tokens}, "number"
    theirs = unique(a.places)
    found = {number: theirs[where] for where, number in unique(b.places).items() if where in theirs}
    if len(found) * 2 > len(b.tokens):
        return found, "location"
    ours, others = list(a.tokens), list(b.tokens)
    blocks = SequenceMatcher(None, [a.tokens[n] for n in ours], [b.tokens[n] for n in others], autojunk=False)
    pairs = {}
    for kind, i, j, k, end in blocks.get_opcodes():
        if kind == "equal" or (kind == "replace" and j - i == end - k):
            for m, n in zip(ours[i:j], others[k:end], strict=True):
                if a.tokens[m][1] == b.tokens[n][1]:  # an op that was replaced has the same shape
                    pairs[n] = m
    return pairs, "order"


def unique(places: Mapping[str, str]) -> dict[str, str]:
    """Returns location -> number, of locations that one op has."""
    counts: dict[str, list[str]] = {}
    for number, where in places.items():
        counts.setdefault(where, []).append(number)
    return {where: numbers[0] for where, numbers in counts.items() if len(numbers) == 1}


def renamed(values: Values, numbers: Mapping[str, str]) -> Values:
    """Returns ops with the keys of the other side; ops that have none there lose theirs."""

    def key(text: str) -> str:
        path = [numbers.get(part, "") for part in text.split("/")]
        return "/".join(path) if all(path) else ""

    moved = [Value(key(v.key) if v.key else "", v.program, v.op, v.location, v.results) for v in values.values]
    return Values(values.by, tuple(moved), values.outputs, values.formats)


def programs_matched(a: Values, b: Values) -> dict[str, str]:
    """Returns program of `a` -> program of `b`: by name, or in order when no name is in both."""
    if a.outputs.keys() & b.outputs.keys():
        missing = [name for name in a.outputs if name not in b.outputs]
        if missing:
            raise InputError(f"no program @{missing[0]} in the second module; it has {', '.join(b.outputs)}")
        return {name: name for name in a.outputs}
    return dict(zip(a.outputs, b.outputs, strict=True))


# ---------------------------------------------------------------------- values


def precision_of(*sides: Values) -> str:
    """Returns the coarsest number format of any value."""
    return next((f for f in reversed(PRECISIONS) if any(f in side.formats for side in sides)), "float64")


def compared(a: Values, b: Values, judge: Judge) -> Comparing:
    """Returns every value that both sides have, in the order of the first; the last op of a number has its value."""
    precision = precision_of(a, b)
    found = {v.key: v for v in b.values if v.key}
    programs = programs_matched(a, b)
    pairs: list[Pair] = []
    unmatched = 0
    last = {v.key: v for v in a.values}
    for program, results in a.outputs.items():
        for value in a.values:
            if value.program != program or last[value.key] is not value:
                continue
            other = found.get(value.key) if value.key else None
            if other is None or not comparable(value, other):
                unmatched += 1
                continue
            for i, (ours, theirs) in enumerate(zip(value.results, other.results, strict=True)):
                name = value.op if len(value.results) == 1 else f"{value.op}#{i}"
                pairs.append(pair("op", program, value.key, name, other.op, value.location, ours, theirs, judge,
                                  precision, a.producers.get((program, value.key, i))))  # fmt: skip
        others = b.outputs[programs[program]]
        if len(others) != len(results):
            raise InputError(f"@{program} has {len(results)} outputs in one module, {len(others)} in the other")
        for i, (ours, theirs) in enumerate(zip(results, others, strict=True)):
            producer = a.producers.get((program, "", i))
            pairs.append(pair("output", program, "", f"output_{i}", "", "", ours, theirs, judge, precision, producer))
    return Comparing(tuple(pairs), unmatched)


def comparable(a: Value, b: Value) -> bool:
    """Returns False when a pass gave an op's number to something else, like a part of it."""
    sizes = [[r.shape.numel() for r in v.results] for v in (a, b)]
    return sizes[0] == sizes[1]


def pair(
    kind: str,
    program: str,
    key: str,
    name: str,
    other: str,
    location: str,
    ours: GoldenMapTensor,
    theirs: GoldenMapTensor,
    judge: Judge,
    precision: str,
    producer: Producer | None = None,
) -> Pair:
    """Compares shard by shard; the one that differs most counts. producer: of `ours`, when it is a golden."""
    found = []
    for device in sorted(ours.shard_map.keys() | theirs.shard_map.keys()):
        a, b = ours.shard_at(device), theirs.shard_at(device)
        verdict = judge.verdict(a, precision)
        # Inside of a program a pass may choose another rank; what a program gives must keep its shape.
        alike = kind == "op" or a.shape == b.shape
        comparison = checked(a, b, verdict, False, producer, device) if alike else verdict.compare(a, b)
        same = not comparison.problem and comparison.max_abs == 0
        at: tuple[float | None, float | None] = (None, None)
        if comparison.worst and not comparison.problem:
            at = (float(a[comparison.worst]), float(b.reshape(a.shape)[comparison.worst]))
        found.append(Pair(kind, program, key, name, other, location, tuple(a.shape), dtype_text(a, b), comparison, same,
                          (verdict.atol or 0.0, verdict.rtol or 0.0), verdict.accepts(comparison), *at))  # fmt: skip
    return min(found, key=lambda p: (p.passed, p.comparison.pcc, -p.comparison.max_abs))


def dtype_text(a: torch.Tensor, b: torch.Tensor) -> str:
    names = [str(t.dtype).removeprefix("torch.") for t in (a, b)]
    return names[0] if names[0] == names[1] else " -> ".join(names)


# ---------------------------------------------------------------------- a program with three arithmetics


@dataclass(frozen=True)
class Arithmetics:
    """A value compared with its golden, computed in both ways (None: it has none), and one way compared with the other.

    share: of the elements that differ between the two; rms: of their differences, in units of the values' own.
    """

    pair: Pair
    default: Pair | None
    exact: Pair | None
    share: float
    rms: float

    def to_dict(self) -> dict[str, Any]:
        def errors(p: Pair | None) -> dict[str, Any] | None:
            return None if p is None else p.comparison.to_dict() | {"passed": p.passed}

        return {
            "kind": self.pair.kind, "program": self.pair.program, "source": self.pair.key, "name": self.pair.name,
            "location": self.pair.location, "shape": list(self.pair.shape), "dtype": self.pair.dtype,
            "default": errors(self.default), "exact": errors(self.exact),
            "differing_share": self.share, "relative_rms": self.rms,
        }  # fmt: skip


def three_ways(subject: Any, seed: int, path: str | None) -> tuple[Values, Values, Values]:
    """Returns the values of a `Subject`: goldens, the device's by default, and its exact ones. path: of a file of
    inputs."""
    try:
        if subject.file is None:
            inputs = subject.inputs(seed, path)
            # The goldens of what runs: a pass before it may have made other ops of the source's.
            module = lowered(subject.module, subject.mesh)
            golden = evaluated(module, inputs, subject.mesh, "goldens", seed)
            return (
                golden,
                on_device(module, inputs, subject.mesh),
                on_device(module, inputs, subject.mesh, exact=True),
            )
        programs = subject.programs()
        if path and len(programs) != 1:
            names = ", ".join(p.name for p in programs)
            raise InputError(f"--inputs are for one program; {subject.path} has {names}")
        shards = {p.name: given(path, p) if path else random_inputs(subject.file, p, seed) for p in programs}
        golden = file_goldens(subject, shards, seed)
        known = {name: [value.golden() for value in values] for name, values in shards.items()}
        binary = subject.file.binary
        return golden, run_binary(binary, known), run_binary(binary, known, exact=True)
    except NotEvaluated as error:
        raise InputError(f"{subject.path}: {error}") from error


def file_goldens(subject: Any, inputs: dict[str, Any], seed: int) -> Values:
    """Returns the goldens of the MLIR that a flatbuffer carries."""
    file = subject.file
    assert file is not None
    source = Source(file)
    values: list[Value] = []
    outputs, producers = {}, {}
    with machine.opened(machine.DEFAULT_ARCH, subject.mesh) as device:
        for program in subject.programs():
            given_inputs = inputs[program.name]
            constants = constants_of(device, file, program, given_inputs)
            found = source.goldens(file, program, given_inputs, constants, seed)
            outputs[program.name] = tuple(found.outputs)
            for number, record in found.ops.items():
                values.append(Value(number, program.name, record.op, record.location, tuple(record.results)))
            for name, producer in found.producers.items():
                number, _, place = name.partition("#")
                if name.startswith("output_"):
                    producers[program.name, "", int(name.removeprefix("output_"))] = producer
                else:
                    producers[program.name, number, int(place or 0)] = producer
    return Values("goldens", tuple(values), outputs, formats_of(outputs, values, file.binary.as_json()), producers)


def rows_of(golden: Values, default: Values, exact: Values, judge: Judge) -> Iterable[Arithmetics]:
    """Returns rows in the order in which the device computes."""

    def by_key(pairs: Iterable[Pair]) -> dict[tuple[str, str, str, str], Pair]:
        return {key_of(p): p for p in pairs}

    first, second = by_key(compared(golden, default, judge).pairs), by_key(compared(golden, exact, judge).pairs)
    places = {(v.program, v.key): v for v in exact.values}
    for pair in compared(default, exact, judge).pairs:
        ours, theirs = shards_of(default, exact, places, pair)
        key = key_of(pair)
        yield Arithmetics(pair, first.get(key), second.get(key), *distance(ours, theirs))


def key_of(pair: Pair) -> tuple[str, str, str, str]:
    """Returns names of ops may differ between goldens and the device; their place among results does not."""
    place = pair.name.partition("#")[2] if pair.kind == "op" else pair.name
    return pair.kind, pair.program, pair.key, place


def shards_of(default: Values, exact: Values, places: dict[tuple[str, str], Value], pair: Pair) -> tuple[Any, Any]:
    place = key_of(pair)[3]
    if pair.kind == "output":
        index = int(place.removeprefix("output_"))
        sides = default.outputs[pair.program][index], exact.outputs[pair.program][index]
    else:
        mine = next(v for v in reversed(default.values) if (v.program, v.key) == (pair.program, pair.key))
        sides = mine.results[int(place or 0)], places[pair.program, pair.key].results[int(place or 0)]
    return sides


def distance(ours: Any, theirs: Any) -> tuple[float, float]:
    """Returns the share of elements that differ, and the root mean square of differences relative to that of the
    first."""
    differing = elements = 0
    squares = own = 0.0
    for device in ours.shard_map:
        a, b = ours.shard_at(device).to(torch.float64), theirs.shard_at(device).to(torch.float64)
        differing += int(((a != b) & ~(a.isnan() & b.isnan())).sum())
        elements += a.numel()
        both = a.isfinite() & b.isfinite()
        squares += float((a - b)[both].square().sum())
        own += float(a[both].square().sum())
    return differing / max(1, elements), (squares / own) ** 0.5 if own else 0.0
