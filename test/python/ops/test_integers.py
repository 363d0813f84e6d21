# SPDX-License-Identifier: Apache-2.0
"""StableHLO's integers of every width on the chip, which has si32, ui32, ui16 and ui8, and their goldens, compared with
numpy.

References compute in 64 bits and wrap to the type at the end. Values are all of 8 bits, and the edges of the others.
"""

from __future__ import annotations

import functools
import itertools
import re
import warnings
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden import GoldenMapTensor
from golden.mapping import find_op
from op_cases import execute, lowered
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

TYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
}
SIGNED = ("i8", "i16", "i32")


def bits(dtype: str) -> int:
    return np.iinfo(TYPES[dtype]).bits


@functools.cache
def values(dtype: str) -> np.ndarray:
    info = np.iinfo(TYPES[dtype])
    if info.bits == 8:
        return np.arange(info.min, info.max + 1).astype(np.int64)
    near = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 127, 128, 129, 255, 256, 257, 4095]
    edges = [info.min, info.min + 1, info.min // 2, info.max // 2, info.max - 1, info.max]
    return np.unique([v for v in [*near, *(-n for n in near), *edges] if info.min <= v <= info.max]).astype(np.int64)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.meshgrid(values(dtype), values(dtype), indexing="ij")
    return left.ravel(), right.ravel()


def wrapped(x: np.ndarray, dtype: str) -> np.ndarray:
    return np.asarray(x).astype(np.int64).astype(TYPES[dtype])


# References: 64-bit integers, and the type.


def divide(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    quotient = np.abs(a) // np.where(b == 0, 1, np.abs(b)) * np.sign(a) * np.sign(b)
    return np.where(b == 0, -1, quotient)


def remainder(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    return np.where(b == 0, a, np.sign(a) * (np.abs(a) % np.where(b == 0, 1, np.abs(b))))


def shift_left(a: np.ndarray, n: np.ndarray, dtype: str) -> np.ndarray:
    inside = (n >= 0) & (n < bits(dtype))
    return np.where(inside, a << np.where(inside, n, 0), 0)


def shift_logical(a: np.ndarray, n: np.ndarray, dtype: str) -> np.ndarray:
    inside = (n >= 0) & (n < bits(dtype))
    return np.where(inside, (a & (2 ** bits(dtype) - 1)) >> np.where(inside, n, 0), 0)


def shift_arithmetic(a: np.ndarray, n: np.ndarray, dtype: str) -> np.ndarray:
    width = bits(dtype)
    signed = np.where(a >= 2 ** (width - 1), a - 2**width, a)
    return signed >> np.where((n >= 0) & (n < width), n, width - 1)


UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "abs": (lambda x, dtype: np.abs(x), SIGNED),
    "negate": (lambda x, dtype: -x, tuple(TYPES)),
    "not": (lambda x, dtype: ~x, tuple(TYPES)),
    "sign": (lambda x, dtype: np.sign(x), SIGNED),
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, dtype: a + b,
    "subtract": lambda a, b, dtype: a - b,
    "multiply": lambda a, b, dtype: a.astype(object) * b % 2**64,
    "divide": divide,
    "remainder": remainder,
    "maximum": lambda a, b, dtype: np.maximum(a, b),
    "minimum": lambda a, b, dtype: np.minimum(a, b),
    "and": lambda a, b, dtype: a & b,
    "or": lambda a, b, dtype: a | b,
    "xor": lambda a, b, dtype: a ^ b,
    "shift_left": shift_left,
    "shift_right_logical": shift_logical,
    "shift_right_arithmetic": shift_arithmetic,
}
COMPARE: dict[str, Callable[..., Any]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
REDUCE: dict[str, tuple[Callable[..., Any], Callable[[str], int]]] = {
    "add": (lambda x: x.sum(axis=1), lambda dtype: 0),
    "multiply": (lambda x: functools.reduce(lambda p, q: p * q % 2**64, x.astype(object).T), lambda dtype: 1),
    "maximum": (lambda x: x.max(axis=1), lambda dtype: int(np.iinfo(TYPES[dtype]).min)),
    "minimum": (lambda x: x.min(axis=1), lambda dtype: int(np.iinfo(TYPES[dtype]).max)),
}


def as_int64(x: np.ndarray) -> np.ndarray:
    """Returns Python integers modulo 2^64."""
    return np.asarray([int(v) - 2**64 if int(v) >= 2**63 else int(v) for v in x], dtype=np.int64)


class Program:
    """A program of one function, its inputs, and what numpy says that comes out."""

    def __init__(self, text: str, inputs: list[np.ndarray], expected: np.ndarray):
        self.text, self.inputs, self.expected = text, inputs, expected


def unary(op: str, dtype: str) -> Program:
    x = values(dtype)
    t = f"tensor<{len(x)}x{dtype}>"
    text = f"%0 = stablehlo.{op} %a : {t}\nreturn %0 : {t}"
    return program([t], t, text, [wrapped(x, dtype)], wrapped(UNARY[op][0](x, dtype), dtype))


def program(types: list[str], result: str, body: str, inputs: list[np.ndarray], expected: np.ndarray) -> Program:
    arguments = ", ".join(f"%{name}: {t}" for name, t in zip("abc", types, strict=False))
    return Program(f"func.func @main({arguments}) -> {result} {{\n{body}\n}}", inputs, expected)


def binary(op: str, dtype: str) -> Program:
    a, b = pairs(dtype)
    t = f"tensor<{len(a)}x{dtype}>"
    expected = BINARY[op](a, b, dtype)
    expected = wrapped(as_int64(expected) if expected.dtype == object else expected, dtype)
    return program([t, t], t, f"%0 = stablehlo.{op} %a, %b : {t}\nreturn %0 : {t}",
                   [wrapped(a, dtype), wrapped(b, dtype)], expected)  # fmt: skip


def compare(direction: str, dtype: str) -> Program:
    a, b = pairs(dtype)
    t, r = f"tensor<{len(a)}x{dtype}>", f"tensor<{len(a)}xi1>"
    body = f"%0 = stablehlo.compare {direction}, %a, %b : ({t}, {t}) -> {r}\nreturn %0 : {r}"
    return program([t, t], r, body, [wrapped(a, dtype), wrapped(b, dtype)], COMPARE[direction](a, b))


def convert(source: str, target: str) -> Program:
    """Wraps between integers; from floats truncates and saturates, NaN is 0."""
    if source == "f32":
        info = np.iinfo(TYPES[target])
        x = np.array([0, -0.0, 0.9, -0.9, 1.5, -1.5, 127, 128, -128, -129, 255, 256, 32767.5, -32769, 65535, 65536,
                      1e9, -1e9, 3e9, 1e30, -1e30, np.inf, -np.inf, np.nan], np.float32)  # fmt: skip
        exact = [0 if np.isnan(v) else int(max(info.min, min(info.max, v))) for v in x.astype(np.float64)]
        expected = np.array(exact, np.int64).astype(TYPES[target])
    else:
        x = wrapped(values(source), source)
        expected = values(source).astype(np.float32) if target == "f32" else wrapped(values(source), target)
    a, b = f"tensor<{len(x)}x{source}>", f"tensor<{len(x)}x{target}>"
    return program([a], b, f"%0 = stablehlo.convert %a : ({a}) -> {b}\nreturn %0 : {b}", [x], expected)


def bitcast(source: str, target: str) -> Program:
    x = wrapped(values(source), source) if source in TYPES else np.linspace(-3, 3, 64).astype(FLOATS[source])
    expected = x.view(TYPES.get(target) or FLOATS[target])
    a, b = f"tensor<{len(x)}x{source}>", f"tensor<{len(x)}x{target}>"
    return program([a], b, f"%0 = stablehlo.bitcast_convert %a : ({a}) -> {b}\nreturn %0 : {b}", [x], expected)


def reduce(op: str, dtype: str) -> Program:
    rng = np.random.default_rng(7)
    x = rng.choice(values(dtype), (9, 37))
    fold, init = REDUCE[op]
    t, s, r = f"tensor<9x37x{dtype}>", f"tensor<{dtype}>", f"tensor<9x{dtype}>"
    body = (
        f"%i = stablehlo.constant dense<{init(dtype)}> : {s}\n"
        f"%0 = stablehlo.reduce(%a init: %i) applies stablehlo.{op} across dimensions = [1] : ({t}, {s}) -> {r}\n"
        f"return %0 : {r}"
    )
    expected = fold(x)
    expected = wrapped(as_int64(expected) if expected.dtype == object else expected, dtype)
    return program([t], r, body, [wrapped(x, dtype)], expected)


def clamp(dtype: str) -> Program:
    x = values(dtype)
    low, high = np.roll(x, 3), np.roll(x, 11)
    t = f"tensor<{len(x)}x{dtype}>"
    body = f"%0 = stablehlo.clamp %a, %b, %c : {t}\nreturn %0 : {t}"
    return program([t] * 3, t, body, [wrapped(v, dtype) for v in (low, x, high)],
                   wrapped(np.minimum(np.maximum(x, low), high), dtype))  # fmt: skip


def select(dtype: str) -> Program:
    x = values(dtype)
    other = x[::-1].copy()
    t, p = f"tensor<{len(x)}x{dtype}>", f"tensor<{len(x)}xi1>"
    body = f"%p = stablehlo.compare LT, %a, %b : ({t}, {t}) -> {p}\n%0 = stablehlo.select %p, %b, %a : {p}, {t}\n"
    expected = wrapped(np.where(x < other, other, x), dtype)
    return program([t, t], t, f"{body}return %0 : {t}", [wrapped(x, dtype), wrapped(other, dtype)], expected)


def product(dtype: str, result: str) -> Program:
    rng = np.random.default_rng(3)
    a, b = rng.choice(values(dtype), (5, 40)), rng.choice(values(dtype), (40, 6))
    x, y, z = f"tensor<5x40x{dtype}>", f"tensor<40x6x{dtype}>", f"tensor<5x6x{result}>"
    body = f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({x}, {y}) -> {z}\nreturn %0 : {z}"
    exact = (a.astype(object) @ b.astype(object)) % 2**64
    return program([x, y], z, body, [wrapped(a, dtype), wrapped(b, dtype)],
                   wrapped(as_int64(exact.ravel()).reshape(5, 6), result))  # fmt: skip


def constant(dtype: str) -> Program:
    """Creates integers without computing them: a constant, one value for all, and iota."""
    x = values(dtype)[-20:] if dtype.startswith("u") else np.concatenate([values(dtype)[:10], values(dtype)[-10:]])
    t, lowest = f"tensor<{len(x)}x{dtype}>", int(np.iinfo(TYPES[dtype]).min)
    body = (
        f"%0 = stablehlo.constant dense<{x.tolist()}> : {t}\n%1 = stablehlo.constant dense<{lowest}> : {t}\n"
        f"%2 = stablehlo.iota dim = 0 : {t}\n%3 = stablehlo.xor %0, %1 : {t}\n%4 = stablehlo.add %3, %2 : {t}\n"
        f"%5 = stablehlo.add %4, %a : {t}\nreturn %5 : {t}"
    )
    expected = wrapped((x ^ lowest) + np.arange(len(x)), dtype)
    return program([t], t, body, [np.zeros(len(x), TYPES[dtype])], expected)


FLOATS = {"f32": np.float32, "f16": np.float16}
BITCASTS = [("i8", "ui8"), ("ui8", "i8"), ("i16", "ui16"), ("ui16", "i16"), ("i32", "ui32"), ("ui32", "i32"),
            ("f32", "i32"), ("i32", "f32"), ("f16", "i16"), ("i16", "f16"), ("f16", "ui16"), ("i8", "i8")]  # fmt: skip

CASES: dict[str, Callable[[], Program]] = {
    **{f"{op} {t}": functools.partial(unary, op, t) for op, (_, types) in UNARY.items() for t in types},
    **{f"{op} {t}": functools.partial(binary, op, t) for op in BINARY for t in TYPES},
    **{f"compare {d} {t}": functools.partial(compare, d, t) for d in COMPARE for t in TYPES},
    **{f"convert {a} to {b}": functools.partial(convert, a, b) for a in (*TYPES, "f32") for b in (*TYPES, "f32")
       if a != b},
    **{f"bitcast {a} to {b}": functools.partial(bitcast, a, b) for a, b in BITCASTS},
    **{f"reduce {op} {t}": functools.partial(reduce, op, t) for op in REDUCE for t in TYPES},
    **{f"clamp {t}": functools.partial(clamp, t) for t in TYPES},
    **{f"select {t}": functools.partial(select, t) for t in TYPES},
    **{f"constants {t}": functools.partial(constant, t) for t in TYPES},
    **{f"product {a} {b}": functools.partial(product, a, b) for a, b in
       [("i8", "i8"), ("i8", "i32"), ("i16", "i16"), ("i32", "i32"), ("ui8", "ui8"), ("ui8", "i32")]},
}  # fmt: skip


def chip(text: str, inputs: list[np.ndarray]) -> np.ndarray:
    with ir.Context():
        flatbuffer = ttnn_to_flatbuffer_bin(lowered(ir.Module.parse(text), (1, 1)))
    binary_ = rt.binary.load_binary_from_bytes(flatbuffer)
    goldens = [GoldenMapTensor.of(torch.from_numpy(x)) for x in inputs]
    ((found,),) = execute(binary_, 0, goldens, (1, 1))
    return found.numpy()


def check(found: np.ndarray, expected: np.ndarray, inputs: list[np.ndarray]) -> None:
    if expected.dtype.kind == "f" or found.dtype.kind == "f":
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    else:
        same = found.astype(np.int64) == expected.astype(np.int64)
    wrong = np.flatnonzero(~same.ravel())
    shown = [
        f"{[x.ravel()[i] for x in inputs if x.size == expected.size]} -> {found.ravel()[i]}, "
        f"expected {expected.ravel()[i]}"
        for i in wrong[:5]
    ]
    assert not len(wrong), f"{len(wrong)} of {expected.size} wrong: {'; '.join(shown)}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_chip(case: str) -> None:
    result = CASES[case]()
    found = chip(result.text, result.inputs)
    assert found.shape == result.expected.shape
    check(found, result.expected, result.inputs)


# torch has few ops on unsigned integers other than uint8.
GOLDENS = [(op, t) for op in [*UNARY, *BINARY] for t in (*SIGNED, "ui8") if op not in UNARY or t in UNARY[op][1]]


@pytest.mark.parametrize(("op", "dtype"), GOLDENS, ids=lambda v: v)
def test_golden(op: str, dtype: str) -> None:
    result = unary(op, dtype) if op in UNARY else binary(op, dtype)
    found = find_op(f"stablehlo.{op}")(*(torch.from_numpy(x) for x in result.inputs))
    assert found.dtype == torch.from_numpy(result.expected).dtype
    check(found.numpy(), result.expected, result.inputs)


@pytest.mark.parametrize("case", ["add i8", "abs i8", "shift_right_logical i16", "remainder i16", "convert i32 to i8"])
def test_ops_and_their_goldens_agree(case: str) -> None:
    """Op by op in a run: an op is compared behind its wrap."""
    module, builder = load_mlir_file(CASES[case]().text, target="stablehlo")
    from builder.base.builder_runtime import execute_fb

    binary_ = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    execute_fb(binary_, builder.golden_map[0], builder.golden_map[1], enable_intermediate_verification=True,
               check_atol=True, check_rtol=True)  # fmt: skip


def test_a_chain_stays_in_its_type() -> None:
    """100 + 100 - 100 is 100 again, and what is compared between is -56."""
    t = "tensor<2xi8>"
    text = f"""func.func @main(%a: {t}, %b: {t}) -> tensor<2xi1> {{
      %0 = stablehlo.add %a, %b : {t}
      %z = stablehlo.constant dense<0> : {t}
      %1 = stablehlo.compare LT, %0, %z : ({t}, {t}) -> tensor<2xi1>
      return %1 : tensor<2xi1>
    }}"""
    found = chip(text, [np.array([100, 1], np.int8), np.array([100, 1], np.int8)])
    assert found.astype(bool).tolist() == [True, False]


def test_sign_of_nan_is_nan() -> None:
    x = np.array([np.nan, -2.0, -0.0, 0.0, np.inf, -np.inf], np.float32)
    t = "tensor<6xf32>"
    found = chip(f"func.func @main(%a: {t}) -> {t} {{\n%0 = stablehlo.sign %a : {t}\nreturn %0 : {t}\n}}", [x])
    np.testing.assert_array_equal(found, np.sign(x))
    np.testing.assert_array_equal(find_op("stablehlo.sign")(torch.from_numpy(x)).numpy(), np.sign(x))


# 64 bits


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("stablehlo.constant dense<[1, 4294967296]> : tensor<2xi64>", "value 4294967296 at position 1"),
        ("stablehlo.constant dense<-2147483649> : tensor<2xi64>", "value -2147483649 at position 0"),
        ("stablehlo.constant dense<4294967296> : tensor<2xui64>", "value 4294967296 at position 0"),
        ("stablehlo.constant dense<18446744073709551615> : tensor<2xui64>", "value 18446744073709551615"),
        ("stablehlo.iota dim = 0 : tensor<200xi8>", "value 199 at its end"),
        ("stablehlo.iota dim = 0 : tensor<257xui8>", "value 256 at its end"),
    ],
)
def test_values_that_do_not_fit_are_named(body: str, message: str) -> None:
    t = body.rpartition(" : ")[2]
    text = f"func.func @main() -> {t} {{\n%0 = {body}\nreturn %0 : {t}\n}}"
    with ir.Context(), pytest.raises(ir.MLIRError, match=re.escape(message)) as error:
        lowered(ir.Module.parse(text), (1, 1))
    assert '"-":2:' in str(error.value) and "does not fit into" in str(error.value)


def test_unknown_64_bit_integers_are_warned_of_once() -> None:
    t = "tensor<4xi64>"
    text = f"""func.func @main(%a: {t}, %b: {t}) -> {t} {{
      %0 = stablehlo.add %a, %b : {t}
      %1 = stablehlo.multiply %0, %b : {t}
      return %1 : {t}
    }}"""
    with ir.Context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lowered(ir.Module.parse(text), (1, 1))
    assert [str(w.message).partition("op has ")[2] for w in caught] == [
        "64-bit integers, which the chip holds in 32 bits; inputs that do not fit are refused when the program runs, "
        "and results wrap around"
    ]


def test_constants_and_fitting_integers_are_not_warned_of() -> None:
    text = """func.func @main(%a: tensor<4xi8>) -> tensor<4xi32> {
      %0 = stablehlo.constant dense<[1, 2, 3, 2147483647]> : tensor<4xi64>
      %1 = stablehlo.convert %a : (tensor<4xi8>) -> tensor<4xi32>
      return %1 : tensor<4xi32>
    }"""
    with ir.Context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        lowered(ir.Module.parse(text), (1, 1))


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(("f64", "i64", "ui64"), 2)))
def test_bitcasts_of_64_bits_are_refused(source: str, target: str) -> None:
    a, b = f"tensor<4x{source}>", f"tensor<4x{target}>"
    text = f"func.func @main(%a: {a}) -> {b} {{\n%0 = stablehlo.bitcast_convert %a : ({a}) -> {b}\nreturn %0 : {b}\n}}"
    with ir.Context(), pytest.raises(ir.MLIRError, match=f"reads the bits of '{source}' as '{target}'"):
        lowered(ir.Module.parse(text), (1, 1))


def test_arith_constants_are_constants() -> None:
    t = "tensor<3xi32>"
    text = f"""func.func @main(%a: {t}) -> {t} {{
      %c = arith.constant dense<[1, -2, 3]> : {t}
      %0 = stablehlo.add %a, %c : {t}
      return %0 : {t}
    }}"""
    assert chip(text, [np.array([10, 20, 30], np.int32)]).tolist() == [11, 18, 33]
