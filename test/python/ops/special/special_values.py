# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops of the op table over special values: zeros of both signs, infinities, NaN, ties, ends of the range.

An op of the table is here without a line of its own: what its golden makes of permuted operands tells that it is
elementwise. Results must have NaN and infinities where the golden has them, zeros of the same sign, and numbers within
the tolerance of the dtype.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.builder_apis import build_module
from builder.ops.op_infos import has_fact
from golden.mapping import find_op
from golden.op import TensorSpec
from golden.tensor import GoldenMapTensor
from op_cases import HOST, TABLE, attribute_values, execute, lowered, method_name, tagged
from ttmlir.passes import ttir_to_ttmetal_pipeline, ttmetal_to_flatbuffer_bin, ttnn_to_flatbuffer_bin

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
# Bits of the mantissa, and the largest relative error of a result.
MANTISSA = {"f32": 23, "bf16": 7, "f16": 10}
RELATIVE = {"f32": 2e-5, "bf16": 2**-7, "f16": 2**-9}
BITS = {2: torch.int16, 4: torch.int32}

# Zeros of extremes have the order of IEEE 754-2019 (docs/numerics.md), which test_order.py is about.
OF_ORDER = frozenset(["maximum", "minimum", "relu", "relu6", "clamp", "clamp_scalar", "clamp_tensor"])


@functools.cache
def numbers(dtype: str) -> torch.Tensor:
    """The table of special values."""
    kind, info = DTYPES[dtype], torch.finfo(DTYPES[dtype])
    tie = 2.0 ** MANTISSA[dtype]
    positive = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 6.0, 7.0, 20.0, 100.0, 0.49999997, math.inf, math.nan]
    positive += [info.smallest_normal, info.smallest_normal / 2, info.max, tie - 0.5, tie, tie + 1, tie / 2 + 0.5]
    half = torch.tensor(positive, dtype=torch.float64).to(kind)
    smallest = torch.ones(1, dtype=BITS[kind.itemsize]).view(kind)
    half = torch.cat([half, smallest])
    return torch.cat([half, -half])  # of NaN, too


FEW = (0.0, -0.0, 1.0, -1.0, 2.5, -3.0, math.inf, -math.inf, math.nan)


def arguments(dtype: str, count: int) -> list[torch.Tensor]:
    """Every combination: of all special values for one and two operands, of a few of them for more."""
    values = numbers(dtype) if count < 3 else torch.tensor(FEW).to(DTYPES[dtype])
    grid = torch.meshgrid(*[values] * count, indexing="ij")
    return [part.reshape(-1).contiguous() for part in grid]


def expected(
    name: str, operands: Sequence[torch.Tensor], attributes: dict[str, Any], wide: torch.dtype = torch.float64
) -> torch.Tensor:
    """Returns the golden's result, computed in `wide` and rounded to the dtype of the operands."""
    row = find_op(name)
    assert row is not None
    kind = operands[-1].dtype
    widened = operands if row.exact_types else [x.to(wide) for x in operands]
    result = row(*widened, **attributes, out=TensorSpec(tuple(operands[0].shape), kind))
    if not isinstance(result, torch.Tensor):
        raise TypeError(f"{name} has several results")
    return result.to(kind) if result.is_floating_point() else result


def is_elementwise(name: str) -> bool:
    """Whether a row takes and gives floats of one shape, and its golden makes each element of those at its place."""
    created = TABLE[name]
    case, row = created.cases[0], find_op(name)
    shapes = [operand for _, operand in case.items()]
    if (
        row is None
        or row.mesh
        or (has_fact(name, "moves_values") and len(shapes) == 1)
        or created.mesh != (1, 1)
        or "f32" not in created.dtypes
        or created.result
        or created.fixed
    ):
        return False
    if not shapes or not all(isinstance(s, tuple) and len(s) == 2 for s in shapes):
        return False
    generator = torch.Generator().manual_seed(1)
    operands = [torch.rand(6, 6, generator=generator) * 0.8 + 0.1 for _ in shapes]
    others = [x.index_put((torch.tensor([5]), torch.tensor([5])), torch.tensor(0.95)) for x in operands]
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    try:
        attributes = attribute_values(case, "f32")
        result, other, turned = (
            expected(name, x, attributes) for x in (operands, others, [x[order][:, order] for x in operands])
        )
    except (TypeError, ValueError, RuntimeError, IndexError, KeyError, AttributeError):
        return False  # of other shapes than these
    if result.shape != (6, 6):
        return False
    result, other, turned = result.float(), other.float(), turned.float()
    alone = torch.allclose(result.flatten()[:-1], other.flatten()[:-1])
    return alone and torch.allclose(result[order][:, order], turned)


ELEMENTWISE = sorted(name for name in TABLE if is_elementwise(name))


# ---------------------------------------------------------------------- places where an op is computed


def module_of(name: str, dtype: str, values: Sequence[Sequence[torch.Tensor]], place: str) -> Any:
    """A module with an op on each list of values.

    chained: between other ops that change nothing, so that all are one pass over the elements. constant: values are
    constants, so that the op is folded or computed ahead of time.
    """
    created, kind = TABLE[name], DTYPES[dtype]
    attributes = attribute_values(created.cases[0], "f32")
    count = len(values[0])

    def call(builder: Any, given: Sequence[Any]) -> Any:
        return getattr(builder, method_name(name))(*given, **attributes)

    def module(builder: Any) -> None:
        if place == "constant":

            def function(x: Any, b: Any) -> Any:
                return tuple([x, *(call(b, [b.constant(x) for x in operands]) for operands in values)])

            builder.func([(1,)], [kind])(function)
            return

        def of_arguments(*given: Any) -> Any:
            operands, b = list(given[:count]), given[-1]
            if place == "chained":
                operands[0] = b.add(operands[0], given[count])
            result = call(b, operands)
            return b.multiply(result, given[count + 1]) if place == "chained" and has_dtype(b, result) else result

        def has_dtype(builder: Any, value: Any) -> bool:
            return str(value.type.element_type) == dtype

        shapes = [tuple(x.shape) for x in values[0]] + [tuple(values[0][0].shape)] * 2 * (place == "chained")
        builder.func(shapes, [kind] * len(shapes))(of_arguments)

    return build_module(module, name.partition(".")[0])[0]


@dataclass(frozen=True)
class Prepared:
    """A compiled call of an op on special values, and what its golden makes of them."""

    name: str
    dtype: str
    place: str
    operands: list[torch.Tensor]
    binary: Any
    inputs: list[torch.Tensor]

    def found(self) -> torch.Tensor:
        """Runs the program: the op's results in the order of its operands."""
        results = execute(self.binary, 0, [GoldenMapTensor({0: x}, (1, 1)) for x in self.inputs], (1, 1))
        return torch.cat([shards[0] for shards in results[1:]]) if self.place == "constant" else results[0][0]

    def check(self) -> int:
        """Returns how many results agree with the golden: all, or there is an AssertionError."""
        attributes = attribute_values(TABLE[self.name].cases[0], "f32")
        got, want = self.found(), expected(self.name, self.operands, attributes)
        bad = differing(self.name, self.dtype, got, want)
        # PyTorch's loops over vectors and over single elements differ, and so do double and float where one of them
        # underflows: each is right.
        for i, wide in itertools.product(bad.nonzero().flatten().tolist(), (torch.float64, torch.float32)):
            alone = expected(self.name, [x[i : i + 1] for x in self.operands], attributes, wide)
            bad[i] &= bool(differing(self.name, self.dtype, got[i : i + 1], alone))
        examples = [
            f"{[x[i].item() for x in self.operands]} gives {got[i].item()}, expected {want[i].item()}"
            for i in bad.nonzero().flatten()[:5].tolist()
        ]
        what = f"{self.name} of {self.dtype}, {self.place}"
        assert not examples, f"{what}: {int(bad.sum())} of {len(want)} differ: {'; '.join(examples)}"
        return len(want)


def prepared(name: str, dtype: str, place: str) -> Prepared:
    count = len(TABLE[name].cases[0].operands)
    if place == "constant":
        grid = torch.meshgrid(*[torch.tensor(FEW).to(DTYPES[dtype])] * count, indexing="ij")
        operands = [x.reshape(-1)[:: 1 if count < 3 else 7].contiguous() for x in grid]
        calls = [[x[i : i + 1] for x in operands] for i in range(len(operands[0]))]
        inputs = [operands[0][:1]]
    else:
        operands = arguments(dtype, count)
        calls = [operands]
        unchanged = [torch.full_like(operands[0], number) for number in (-0.0, 1.0)]
        inputs = [*operands, *unchanged] if place == "chained" else operands
    module = module_of(name, dtype, calls, place)
    if place == "host":
        module = tagged(module, lambda op: op.name == name)
    if place == "cores":
        ttir_to_ttmetal_pipeline(module)
        data = ttmetal_to_flatbuffer_bin(module)
    else:
        data = ttnn_to_flatbuffer_bin(lowered(module, (1, 1)))
    binary = rt.binary.load_binary_from_bytes(data, allow_native=True)
    return Prepared(name, dtype, place, operands, binary, inputs)


def differing(name: str, dtype: str, got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    if not want.is_floating_point() or not got.is_floating_point():
        return got.float() != want.float()
    got, want = got.float(), want.float()
    info = torch.finfo(DTYPES[dtype])
    near = (got - want).abs() <= RELATIVE[dtype] * want.abs() + info.smallest_normal
    same = (got == want) | near & got.isfinite() & want.isfinite() | got.isnan() & want.isnan()
    if name.partition(".")[2] not in OF_ORDER:
        same &= ~((got == 0) & (want == 0) & (got.signbit() != want.signbit()))
    return ~same


TILE_OPS = (Path(__file__).resolve().parents[4] / "include/ttmlir/Target/TTMetal/TileOps.def").read_text()
PLACES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("plain", "chained", "constant"), frozenset(ELEMENTWISE)),
    "host": HOST,
    "cores": frozenset(f"ttir.{name}" for name in re.findall(r"^TT_TILE_OP\((\w+),", TILE_OPS, re.MULTILINE)),
}


def cases() -> list[tuple[str, str, str]]:
    """(op, dtype, place) of the table."""
    return [
        (name, dtype, place)
        for name, dtype, place in itertools.product(ELEMENTWISE, DTYPES, PLACES)
        if name in PLACES[place] and (place, dtype) != ("cores", "f16")  # whose tiles hold no f16
    ]
