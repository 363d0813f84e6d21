# SPDX-License-Identifier: Apache-2.0
"""Functions of the scalar table (ttmlir/scalars) on special values, in kernels, in folders and in evaluated constants.

References share no code with the table: PyTorch for floats, integers of Python that are wrapped for integers.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttnn
from golden.mapping import find_op
from golden.op import TensorSpec
from scalar_rows import (
    ATTRIBUTES,
    FOLDED_FLOATS,
    FOLDED_INTEGERS,
    HAVE_FLOATS,
    HAVE_INTEGERS,
    OPS,
    ROOT,
    ROWS,
    SOURCE,
    TTIR_NAMES,
)
from ttmlir import ir
from ttmlir.passmanager import PassManager

Function = Callable[..., Any]


def away(x: torch.Tensor) -> torch.Tensor:
    """Rounds ties away from zero; in f64, where a number below a half stays below one."""
    wide = x.double()
    return torch.where(wide.abs() < 2**52, torch.copysign((wide.abs() + 0.5).floor(), wide), wide).to(x.dtype)


# Of functions that are no ops. Ops have goldens, which are PyTorch's functions.
OTHERS: dict[str, Function] = {
    "gelu_bw_tanh": lambda slope, x: torch.ops.aten.gelu_backward(slope, x, approximate="tanh"),
    "gelu_tanh": functools.partial(F.gelu, approximate="tanh"),
    "round": away,
    "round_even": torch.round,
    "sign_or_self": lambda x: torch.where((x == 0) | x.isnan(), x, x.sign()),
    "truncated_remainder": torch.fmod,
}


def of_floats(name: str, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """Returns what PyTorch computes of floats."""
    if name in OTHERS:
        return OTHERS[name](*operands)
    row = find_op(f"ttnn.{name}") or find_op(f"ttir.{name}")
    assert row is not None, f"{name} is no op; add its reference to OTHERS"
    attributes = ATTRIBUTES.get(name, {})
    result = row(*operands, **attributes, out=TensorSpec(tuple(operands[0].shape), operands[-1].dtype))
    assert isinstance(result, torch.Tensor)
    return result


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a: int, b: int) -> int:
    return a**b if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def shifted(a: int, n: int, width: int, left: bool) -> int:
    if not 0 <= n < width:
        return 0
    return a << n if left else a % 2**width >> n


# Of integers, and the width of their type. Results are wrapped to it.
INTEGERS: dict[str, Function] = {
    "abs": lambda a, width: abs(a),
    "add": lambda a, b, width: a + b,
    "assign": lambda a, width: a,
    "bitwise_and": lambda a, b, width: a & b,
    "bitwise_not": lambda a, width: ~a,
    "bitwise_or": lambda a, b, width: a | b,
    "bitwise_xor": lambda a, b, width: a ^ b,
    "ceil": lambda a, width: a,
    "clamp_scalar": lambda a, width: min(max(a, -1), 2),
    "clamp_tensor": lambda a, low, high, width: min(max(a, low), high),
    "count_leading_zeros": lambda a, width: width - (a % 2**width).bit_length(),
    "divide": lambda a, b, width: quotient(a, b),
    "eq": lambda a, b, width: a == b,
    "floor": lambda a, width: a,
    "ge": lambda a, b, width: a >= b,
    "gt": lambda a, b, width: a > b,
    "isfinite": lambda a, width: 1,
    "le": lambda a, b, width: a <= b,
    "logical_and": lambda a, b, width: a != 0 and b != 0,
    "logical_left_shift": lambda a, n, width: shifted(a, n, width, True),
    "logical_not": lambda a, width: a == 0,
    "logical_or": lambda a, b, width: a != 0 or b != 0,
    "logical_right_shift": lambda a, n, width: shifted(a, n, width, False),
    "logical_xor": lambda a, b, width: (a != 0) != (b != 0),
    "lt": lambda a, b, width: a < b,
    "maximum": lambda a, b, width: max(a, b),
    "minimum": lambda a, b, width: min(a, b),
    "multiply": lambda a, b, width: a * b,
    "ne": lambda a, b, width: a != b,
    "neg": lambda a, width: -a,
    "popcount": lambda a, width: (a % 2**width).bit_count(),
    "pow_scalar": lambda a, width: a**3,
    "pow_tensor": lambda a, b, width: pow(a, b, 2**width) if b > 64 else power(a, b),
    "relu": lambda a, width: max(a, 0),
    "relu6": lambda a, width: min(max(a, 0), 6),
    "remainder": lambda a, b, width: a % b if b else a,
    "right_shift": lambda a, n, width: wrapped(a, width, True) >> (n if 0 <= n < width else width - 1),
    "sign": lambda a, width: (a > 0) - (a < 0),
    "sign_or_self": lambda a, width: (a > 0) - (a < 0),
    "square": lambda a, width: a * a,
    "subtract": lambda a, b, width: a - b,
    "truncated_remainder": lambda a, b, width: a - b * quotient(a, b) if b else a,
    "typecast": lambda a, width: a,
    "where": lambda c, a, b, width: a if c else b,
}


@functools.cache
def floats(count: int, wide: bool = False) -> list[tuple[float, ...]]:
    values = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 6.5, 100.0, 0.49999997, 8388608.5, 16777217.0, 1.5e-38, 3e38, math.inf]
    values = torch.tensor(values, dtype=torch.float64 if wide else torch.float32).double().tolist()
    some = values if count < 3 else [0.0, 1.0, 2.5, math.inf]
    return list(itertools.product([*some, *(-x for x in some), math.nan], repeat=count))


def integers(count: int, width: int, signed: bool) -> list[tuple[int, ...]]:
    least, most = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    near = [0, 1, -1, 2, -2, 3, 7, -7, 8, 31, 32, 33, width - 1, width]
    values = sorted({x for x in [*near, least, least + 1, most - 1, most] if least <= x <= most})
    values = values if count < 3 else [x for x in values if x in (0, 1, -1, 7, least, most)]
    return list(itertools.product(values, repeat=count))


def wrapped(value: int, width: int, signed: bool) -> int:
    value = int(value) % 2**width
    return value - 2**width if signed and value >= 2 ** (width - 1) else value


def expected_floats(name: str, operands: Sequence[tuple[float, ...]], wide: bool = False) -> list[float]:
    """Returns the results that PyTorch computes in f64; in f32 rounded once, which is exact where one op rounds."""
    columns = [torch.tensor(column, dtype=torch.float64) for column in zip(*operands, strict=True)]
    # One by one: PyTorch's loops over vectors differ from those over what is left.
    rows = zip(*(column.split(1) for column in columns), strict=True)
    found = torch.cat([of_floats(name, row) for row in rows])
    return (found.double() if wide else found.float().double()).tolist()


def bits_of(value: float) -> bytes:
    return b"nan" if math.isnan(value) else struct.pack("<d", value)


def agrees(found: float, expected: float, exact: bool, ordered: bool = False) -> bool:
    if exact:
        return bits_of(found) == bits_of(expected) or (ordered and found == expected == 0)
    if math.isnan(expected) or math.isinf(expected):
        return bits_of(found) == bits_of(expected)
    return abs(found - expected) <= 1e-6 * abs(expected) + 1.2e-38 or (math.isinf(found) and abs(expected) > 3.4e38)


# PyTorch leaves open which of two zeros an extreme is; docs/numerics.md does not.
OF_ORDER = {"maximum", "minimum", "relu", "relu6", "clamp_tensor", "clamp_scalar"}


def check(name: str, operands: Sequence[Any], found: Sequence[Any], expected: Sequence[Any], exact: bool) -> None:
    assert len(found) == len(expected)
    bad = [
        f"{name}{x}: {y}, expected {z}"
        for x, y, z in zip(operands, found, expected, strict=True)
        if not agrees(float(y), float(z), exact, name in OF_ORDER)
    ]
    assert not bad, f"{len(bad)} of {len(expected)} differ: {'; '.join(bad[:5])}"


def test_every_row_has_a_reference() -> None:
    assert len(ROWS) == SOURCE.count("make(")
    assert set(INTEGERS) == HAVE_INTEGERS


# ---------------------------------------------------------------------- kernels


PUBLIC = {"clamp_scalar": "clamp", "clamp_tensor": "clamp", "pow_scalar": "pow", "pow_tensor": "pow"}


def has(name: str, is_float: bool) -> bool:
    return name in (HAVE_FLOATS if is_float else INTEGERS)


def runs(names: Iterable[str], dtypes: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, dtype) for name in sorted(names) for dtype in dtypes if has(name, dtype == "f32")]


@pytest.mark.parametrize(("name", "dtype"), runs(OPS - {"typecast"}, ("f32", "si32")))
def test_kernels(name: str, dtype: str) -> None:
    count, exact = ROWS[name][1], ROWS[name][0] != "approximated"
    function = getattr(ttnn, PUBLIC.get(name, name))
    operands: Sequence[Any] = floats(count) if dtype == "f32" else integers(count, 32, signed=True)
    # Quotients of integers are floats in ttnn unless the result is declared otherwise.
    kind = torch.float32 if dtype == "f32" else torch.int32
    tensors = [ttnn.from_torch(torch.tensor(x, dtype=kind)) for x in zip(*operands, strict=True)]
    own = {"dtype": ttnn.int32} if name == "divide" and dtype != "f32" else {}
    result = function(*tensors, *ATTRIBUTES.get(name, {}).values(), **own)
    (result,) = result if isinstance(result, list) else [result]  # of functions of gradients
    found = ttnn.to_torch(result).tolist()
    if dtype == "f32":
        return check(name, operands, found, expected_floats(name, operands), exact)
    check(name, operands, found, [wrapped(INTEGERS[name](*x, 32), 32, True) for x in operands], True)


# ---------------------------------------------------------------------- constants


def text_of(value: float, dtype: str) -> str:
    if dtype in ("f32", "f64"):
        code, size = ("<f", 4) if dtype == "f32" else ("<d", 8)
        return "0x" + struct.pack(code, value)[::-1].hex().upper().rjust(size * 2, "0")
    return str(value)


def folded(dtype: str, result: str, calls: Sequence[str], operands: Sequence[Any], passes: str) -> list[float | None]:
    """Returns the numbers that calls of constants become; None for calls that stay."""
    lines, names = [], []
    for i, (call, numbers) in enumerate(zip(calls, operands, strict=True)):
        for k, x in enumerate(numbers):
            constant = "ttir.constant" if "ttir" in call else "stablehlo.constant"
            lines.append(
                f'%c{i}_{k} = "{constant}"() <{{value = dense<{text_of(x, dtype)}> : tensor<1x{dtype}>}}> '
                f": () -> tensor<1x{dtype}>"
            )
        arguments = ", ".join(f"%c{i}_{k}" for k in range(len(numbers)))
        types = ", ".join([f"tensor<1x{dtype}>"] * len(numbers))
        lines.append(f"%r{i} = {call.replace('(...)', f'({arguments})')} : ({types}) -> tensor<1x{result}>")
        names.append(f"%r{i}")
    results = ", ".join([f"tensor<1x{result}>"] * len(names))
    body = "\n".join(lines)
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(f"func.func @f() -> ({results}) {{\n{body}\nreturn {', '.join(names)} : {results}\n}}")
        PassManager.parse(f"builtin.module(func.func({passes}))").run(module.operation)
        block = module.body.operations[0].regions[0].blocks[0]
        return [number_of(value.owner) for value in block.operations[len(block.operations) - 1].operands]


def number_of(op: Any) -> Any:
    attributes = op.attributes
    key = next((key for key in ("value", "fill_value") if key in attributes), None)
    if key is None or op.name.rpartition(".")[2] not in ("constant", "full"):
        return None
    attribute = attributes[key]
    if isinstance(attribute, ir.DenseElementsAttr):
        attribute = attribute.get_splat_value()
    return attribute.value


def batches(operands: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for i in range(0, len(operands), 200):
        yield operands[i : i + 200]


@pytest.mark.parametrize(("name", "dtype"), [*runs(FOLDED_FLOATS, ("f32",)), *runs(FOLDED_INTEGERS, ("i32",))])
def test_folds(name: str, dtype: str) -> None:
    count = ROWS[name][1]
    operands: Sequence[Any] = floats(count) if dtype == "f32" else integers(count, 32, signed=True)
    if dtype == "f32":
        expected = expected_floats(name, operands)
    else:
        expected = [wrapped(INTEGERS[name](*x, 32), 32, True) for x in operands]
    op = f'"ttir.{TTIR_NAMES.get(name, name)}"(...)'
    found = [x for some in batches(operands) for x in folded(dtype, dtype, [op] * len(some), some, "canonicalize")]
    # A NaN is left to the kernel, and a result that is an operand needs no function.
    known = [i for i, x in enumerate(found) if x is not None]
    assert all(found[i] is not None or math.isnan(expected[i]) for i in range(len(found)))
    pick: Callable[[Sequence[Any]], list[Any]] = lambda xs: [xs[i] for i in known]  # noqa: E731
    check(name, pick(operands), pick(found), pick(expected), True)


EVALUATE = (ROOT / "lib/Dialect/StableHLO/Transforms/Rewrite/Evaluate.cpp").read_text()
STABLEHLO = dict(re.findall(r'\{"stablehlo\.(\w+)", "(\w+)"', EVALUATE))
DIRECTIONS = dict(re.findall(r'ComparisonDirection::(\w+):\n\s+return "(\w+)"', EVALUATE))
TYPES = {"f32": (32, True), "f64": (64, True), "i8": (8, True), "i32": (32, True), "i64": (64, True),
         "ui8": (8, False), "ui32": (32, False), "ui64": (64, False)}  # fmt: skip


def function_of(op: str) -> str:
    """Returns the name of the function that an op or a comparison is."""
    op, _, direction = op.partition(" ")
    return DIRECTIONS[direction] if direction else STABLEHLO[op]


def is_evaluated(op: str, dtype: str) -> bool:
    """Returns whether the op takes elements of the type, and its function is computed in it."""
    name, is_float, signed = function_of(op), dtype.startswith("f"), TYPES[dtype][1]
    if op in ("floor", "ceil", "is_finite") and not is_float:
        return False
    if name in ("sign_or_self", "neg", "abs") and not signed:
        return False
    return has(name, is_float) and not (dtype == "f64" and ROWS[name][0] == "approximated")


# The predicates of a select are of another type.
EVALUATED = sorted([*(STABLEHLO.keys() - {"select"}), *(f"compare {x}" for x in DIRECTIONS)])


@pytest.mark.parametrize(
    ("op", "dtype"), [(op, dtype) for op in EVALUATED for dtype in TYPES if is_evaluated(op, dtype)]
)
def test_evaluated_constants(op: str, dtype: str) -> None:
    name = function_of(op)
    op, _, direction = op.partition(" ")
    width, signed = TYPES[dtype]
    is_float = dtype.startswith("f")
    kind, count = ROWS[name]
    exact = kind != "approximated"
    operands: Sequence[Any] = floats(count, wide=width == 64) if is_float else integers(count, width, signed)
    if is_float:
        expected = expected_floats(name, operands, wide=width == 64)
    else:
        least = -(2 ** (width - 1)) if signed else None
        if op in ("divide", "remainder"):  # the others are not defined
            operands = [(a, b) for a, b in operands if b != 0 and (a, b) != (least, -1)]
        # Shifts of StableHLO read their distance without a sign.
        expected = [wrapped(INTEGERS[name](*x, width), width, signed) for x in operands]
    result = "i1" if direction or op == "is_finite" else dtype
    if result == "i1":
        expected = [bool(x) for x in expected]
    attributes = f" <{{comparison_direction = #stablehlo<comparison_direction {direction}>}}>" if direction else ""
    call = f'"stablehlo.{op}"(...){attributes}'
    found = [
        x
        for some in batches(operands)
        for x in folded(dtype, result, [call] * len(some), some, "stablehlo-aggressive-folder")
    ]
    assert None not in found
    if not is_float and result != "i1":
        found = [wrapped(int(x or 0), width, signed) for x in found]
    if result == "i1":
        found = [bool(x) for x in found]
    check(name, operands, found, expected, exact)
