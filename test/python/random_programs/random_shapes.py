# SPDX-License-Identifier: Apache-2.0
"""Ops on many shapes, compiled, under every cap of vector units that this CPU has.

    .venv/bin/python test/python/random_programs/random_shapes.py --count 2000
    .venv/bin/python test/python/random_programs/random_shapes.py --count 2000 --family kernels

Sizes lie around those of tiles, vectors and panels, in every dimension. Values of products and convolutions are
quarters, whose sums are exact in f32 in any order: results are the double's, rounded once, to the bit. Operands are
inputs of the program, or constants. Memory that nobody wrote holds NaN (TTRT_POISON). Prints what differs; exit code 1
then.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "test/python"
sys.path[:0] = [str(path) for path in (TESTS / "ops", TESTS, ROOT, ROOT / "tools", ROOT / "build/python_packages")]
os.environ["TTRT_POISON"] = "1"

import _ttmlir_runtime as rt  # noqa: E402
import torch  # noqa: E402
from builder.base.builder_apis import build_module  # noqa: E402
from golden import GoldenMapTensor  # noqa: E402
from op_cases import execute, lowered  # noqa: E402
from random_kernels import kernel  # noqa: E402
from run_under_units import CAPS, forked  # noqa: E402
from shape_cases import DTYPES, MOST_WORK, Case, Draw  # noqa: E402
from torch.nn import functional  # noqa: E402
from ttmlir.passes import ttnn_to_flatbuffer_bin  # noqa: E402

TOGETHER = 40  # functions of a module


def product(draw: Draw, dtype: torch.dtype) -> Case:
    m, n, k = (draw.size() for _ in range(3))
    batch: tuple[int, ...] = ()
    for _ in range(draw.choice.randrange(3)):
        batch += (draw.size(MOST_WORK // (m * n * k * math.prod(batch))),)
    ta, tb = draw.chance(2), draw.chance(2)
    a, b = (*batch, *((k, m) if ta else (m, k))), (*batch, *((n, k) if tb else (k, n)))
    if draw.chance(3):
        b = b[-2:]
    operands = [draw.values(a, dtype), draw.values(b, dtype)]
    left, right = (x.double() for x in operands)
    expected = (left.mT if ta else left) @ (right.mT if tb else right)
    biased = draw.chance(3)
    if biased:
        operands.append(draw.values(draw.choice.choice([(n,), (1, n)]), dtype))
        expected = expected + operands[-1].double()

    def build(builder: Any, given: list[Any]) -> Any:
        call = builder.linear if biased else builder.matmul
        return call(*given, transpose_a=ta, transpose_b=tb)

    text = f"{'linear' if biased else 'matmul'} transpose_a={ta} transpose_b={tb}"
    return Case(text, operands, [draw.chance(4), draw.chance(2), draw.chance(2)], build, expected)


def convolution(draw: Draw, dtype: torch.dtype) -> Case:
    rank = draw.choice.choice([1, 2, 2, 3])
    transposed, pixels = rank == 2 and draw.chance(4), draw.chance(3)
    batch = draw.size(3)
    image: list[int] = []
    for _ in range(rank):
        image.append(draw.size(1000 // (batch * math.prod(image))))
    pads = [0 if pixels else draw.choice.randrange(3) for _ in image]
    kernel = [
        1 if pixels else min(draw.choice.choice([1, 2, 3, 5, n]), n + 2 * p) for n, p in zip(image, pads, strict=True)
    ]
    strides = [draw.choice.choice([1, 1, 2, 3]) for _ in image]
    if transposed:
        kernel = [max(min(k, 5), 2 * p + 1) for k, p in zip(kernel, pads, strict=True)]
    work = MOST_WORK // (math.prod(kernel) * math.prod(image) * batch)
    channels = draw.size(work)
    out = draw.size(work // channels)
    groups = 1
    if draw.chance(6):
        out = groups = channels
    x = draw.values((batch, *image, channels), dtype)
    filters = (channels, out // groups, *kernel) if transposed else (out, channels // groups, *kernel)
    w = draw.values(filters, dtype)
    bias = draw.values((1,) * (rank + 1) + (out,), dtype) if draw.chance(2) else None
    function = getattr(functional, f"conv{'_transpose' if transposed else ''}{rank}d")
    added = None if bias is None else bias.double().flatten()
    exact = function(x.double().movedim(-1, 1), w.double(), added, stride=strides, padding=pads, groups=groups)
    attributes: dict[str, Any] = {"stride": strides, "padding": pads, "groups": groups}
    if rank == 1:
        attributes |= {"stride": strides[0], "padding": pads[0], "dilation": 1}
    elif rank == 2:
        attributes |= {"dilation": [1, 1]} | ({"output_padding": [0, 0]} if transposed else {})

    def build(builder: Any, given: list[Any]) -> Any:
        call = getattr(builder, f"conv_transpose{rank}d" if transposed else f"conv{rank}d")
        return call(given[0], given[1], given[2] if len(given) > 2 else None, **attributes)

    operands = [x, w] if bias is None else [x, w, bias]
    text = f"{'transposed ' if transposed else ''}convolution {attributes}"
    return Case(text, operands, [draw.chance(4), draw.chance(2), draw.chance(2)], build, exact.movedim(1, -1))


FAMILIES = {"products": (product, convolution), "kernels": (kernel,)}


def drawn(number: int, family: str) -> Case:
    result = FAMILIES[family]
    return result[number % len(result)](Draw(number), DTYPES[number // len(result) % 3])


@dataclass
class Compiled:
    cases: list[tuple[int, Case]]
    binary: Any


def compiled(numbers: range, family: str = "products") -> Compiled:
    """A module with a function for each case."""
    cases = [(number, drawn(number, family)) for number in numbers]

    def module(builder: Any) -> None:
        for number, case in cases:
            given = [x for x, fixed in zip(case.operands, case.is_constant, strict=False) if not fixed]

            def function(*arguments: Any, case: Case = case) -> Any:
                inputs = list(arguments[:-1])
                operands = [
                    arguments[-1].constant(x) if fixed else inputs.pop(0)
                    for x, fixed in zip(case.operands, case.is_constant, strict=False)
                ]
                return case.build(arguments[-1], operands)

            function.__name__ = f"case{number}"
            builder.func([tuple(x.shape) for x in given], [x.dtype for x in given])(function)

    result, _ = build_module(module, "ttir")
    data = ttnn_to_flatbuffer_bin(lowered(result, (1, 1)))
    return Compiled(cases, rt.binary.load_binary_from_bytes(data))


def checked(result: Compiled) -> int:
    """How many results are right: all, or an AssertionError that names those that are not."""
    wrong = []
    names = {result.binary.get_program_name(i): i for i in range(result.binary.get_num_programs())}
    for number, case in result.cases:
        given = [x for x, fixed in zip(case.operands, case.is_constant, strict=False) if not fixed]
        inputs = [GoldenMapTensor({0: x}, (1, 1)) for x in given]
        found = execute(result.binary, names[f"case{number}"], inputs, (1, 1))[0][0]
        floats = {x.dtype for x in case.operands if x.is_floating_point()}
        assert found.dtype in floats | {torch.int32}, f"case {number}: {found.dtype}, expected {floats}"
        expected = case.expected.to(found.dtype).double()
        error = (found.reshape(expected.shape).double() - expected).abs()
        differs = int((~(error <= case.tolerance * expected.abs().clamp(min=1))).sum())  # also where it is NaN
        if differs:
            shapes = ", ".join(
                f"{'constant ' if fixed else ''}{x.dtype} {tuple(x.shape)}"
                for x, fixed in zip(case.operands, case.is_constant, strict=False)
            )
            wrong.append(f"case {number}: {differs} of {expected.numel()} values differ: {case.text} of {shapes}")
    assert not wrong, "\n".join(wrong)
    return len(result.cases)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="products", choices=FAMILIES, help="default: %(default)s, convolutions")
    parser.add_argument("--count", type=int, default=120, help="of cases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first one (default: %(default)s)")
    parser.add_argument("--caps", nargs="+", default=CAPS, choices=CAPS, help="default: all")
    args = parser.parse_args()
    torch.set_num_threads(1)  # a fork would leave its other threads behind
    last, agree = args.seed + args.count, True
    for first in range(args.seed, last, 10 * TOGETHER):
        work = []
        for start in range(first, min(last, first + 10 * TOGETHER), TOGETHER):
            result = compiled(range(start, min(last, start + TOGETHER)), args.family)
            work.append((f"cases from {start} on", lambda result=result: checked(result)))
        for cap in args.caps:
            if cap in rt.runtime.get_available_units():
                agree &= forked(cap, work)
    return int(not agree)


if __name__ == "__main__":
    sys.exit(main())
