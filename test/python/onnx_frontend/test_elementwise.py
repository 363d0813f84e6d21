# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops, activations and casts, compared with onnxruntime and the evaluator."""

from __future__ import annotations

import zlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compared import computed
from onnx import helper
from onnx.reference import ReferenceEvaluator
from single import check
from ttmlir.onnx import OnnxError

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -1.5]
SHAPES: list[tuple[int, ...]] = [(), (0,), (5,), (2, 3, 11)]


def drawn(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0, special: bool = True) -> Any:
    generator = np.random.default_rng(seed + sum(shape))
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(generator.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(generator.integers(0 if dtype.kind == "u" else -90, 90, shape)).astype(dtype)
    x = np.asarray(3 * generator.standard_normal(shape))
    if special and x.size >= len(SPECIAL):
        x.reshape(-1)[: len(SPECIAL)] = SPECIAL
    return x.astype(dtype)


UNARY = (  # noqa: SIM905
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Round Sigmoid Sign Sin Sinh "
    "Sqrt Tan Tanh Relu LeakyRelu Elu Celu Selu ThresholdedRelu HardSigmoid Softplus Softsign Shrink IsNaN IsInf"
).split()


@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str) -> None:
    for shape in SHAPES:
        check(op, [drawn(shape)])


@pytest.mark.parametrize("op", ["Mish", "HardSwish", "Gelu", "Relu", "Sigmoid", "Tanh", "Erf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_unary_of_types(op: str, dtype: Any) -> None:
    check(op, [drawn((3, 33), dtype, special=False)], oracle="reference", opset=22)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32])
def test_integers(dtype: Any) -> None:
    x, y = drawn((3, 4), dtype), drawn((4,), dtype, 1)
    for op in ("Abs", "Neg", "Sign", "BitwiseNot"):
        if op != "Neg" or np.dtype(dtype).kind == "i":
            check(op, [x], oracle="reference")
    for op in ("Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Less", "GreaterOrEqual", "Max", "Min"):
        check(op, [x, y], oracle="reference")


ATTRIBUTES: list[tuple[str, dict[str, Any]]] = [
    ("LeakyRelu", {"alpha": -1.5}), ("Elu", {"alpha": -2.0}), ("Celu", {"alpha": 0.5}),
    ("Selu", {"alpha": 2.0, "gamma": -1.0}), ("ThresholdedRelu", {"alpha": -1.0}),
    ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}), ("HardSigmoid", {"alpha": -0.5, "beta": 0.1}),
    ("Shrink", {"lambd": 1.5, "bias": -0.7}), ("Shrink", {"lambd": -1.0, "bias": 0.3}),
    ("IsInf", {"detect_negative": 0}), ("IsInf", {"detect_positive": 0}),
    ("IsInf", {"detect_positive": 0, "detect_negative": 0}), ("Gelu", {"approximate": "tanh"}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "attributes"), ATTRIBUTES, ids=str)
def test_attributes(op: str, attributes: dict[str, Any]) -> None:
    check(op, [drawn((3, 9), special=op != "Gelu")], **attributes)


@pytest.mark.parametrize("alpha", [1.0, 2.0, 0.0, -1.0])
def test_swish(alpha: float) -> None:
    check("Swish", [drawn((3, 9), special=False)], oracle="reference", opset=24, alpha=alpha)


PAIRS = [((), ()), ((3,), ()), ((2, 1, 4), (3, 1)), ((4,), (2, 3, 4)), ((2, 0), (1,)), ((1, 1), (1,))]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Equal", "Greater", "LessOrEqual", "Pow", "Max", "Min"])
def test_binary(op: str) -> None:
    for left, right in PAIRS:
        check(op, [drawn(left), drawn(right, seed=1)])


@pytest.mark.parametrize("op", ["And", "Or", "Xor", "Equal"])
def test_bools(op: str) -> None:
    for left, right in PAIRS:
        check(op, [drawn(left, bool), drawn(right, bool, 1)])


@pytest.mark.parametrize("op", ["Max", "Min", "Sum", "Mean"])
@pytest.mark.parametrize("opset", [8, 13])
def test_many(op: str, opset: int) -> None:
    check(op, [drawn((3, 11))], opset=opset)
    check(op, [drawn((2, 1)), drawn((4,)), drawn((1, 1, 1)), drawn((3, 1, 1))], opset=opset)


def test_pow_of_types() -> None:
    whole = np.array([0, 1, 2, 3, 2, 5], np.int64)
    for base in (np.float32, np.int32, np.int64):
        for exponent in (np.float32, np.int32, np.int64, np.float64):
            x = np.array([2, -3, 4, 10, -7, 1], base)
            check("Pow", [x, whole.astype(exponent)], opset=15)
            for number in (0, 1, 2, 3, 4, 0.5):
                y = np.array(number).astype(exponent)
                check("Pow", [abs(x), y], opset=15, known=[1])
                check("Pow", [abs(x), y], opset=15)


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.float32])
def test_mod(fmod: int, dtype: Any) -> None:
    x = np.arange(-7, 8).astype(dtype)
    for divisor in (3, -3, 1):
        if divisor > 0 or np.dtype(dtype).kind != "u":
            y = np.array(divisor, dtype)
            if np.dtype(dtype).kind != "f":
                check("Mod", [x, y], opset=13, fmod=fmod)
            else:
                check("Mod", [x, y], oracle="reference", opset=13 if fmod else 28, fmod=fmod)


def test_mod_of_old_floats_is_refused() -> None:
    with pytest.raises(OnnxError, match="fmod is 0, of floats; expected 1"):
        check("Mod", [drawn((3,)), drawn((3,))], expected=[drawn((3,))], opset=13)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_bit_shift(direction: str, dtype: Any) -> None:
    x, y = np.array([0, 1, 5, 255, 128, 77], dtype), np.array([0, 1, 2, 3, 7, 4], dtype)
    check("BitShift", [x, y], oracle="reference", direction=direction)


BOUNDS = [(-1.0, 2.0), (0.0, 6.0), (3.0, 1.0), (None, 1.0), (-1.0, None), (None, None)]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_clip(bounds: tuple[float | None, float | None]) -> None:
    for dtype in (np.float32, np.int32, np.int64, np.uint8, np.int8):
        given = [None if n is None else np.array(max(n, 0) if dtype is np.uint8 else n, dtype) for n in bounds]
        for known in ([], [k + 1 for k, n in enumerate(given) if n is not None]):
            check("Clip", [drawn((3, 11), dtype), *given], known=known, opset=13)
    named = {name: n for name, n in zip(("min", "max"), bounds, strict=True) if n is not None}
    if bounds == (3.0, 1.0):  # onnxruntime refuses attributes in this order
        return
    check("Clip", [drawn((3, 11))], opset=7, **named)


def test_where() -> None:
    for condition, left, right in (((), (), ()), ((2, 1), (1, 3), (2, 3)), ((2, 3, 4), (4,), (3, 1)), ((0,), (1,), ())):
        for dtype in (np.float32, np.int64, np.uint8, np.bool_):
            operands = [drawn(condition, bool), drawn(left, dtype), drawn(right, dtype, 1)]
            check("Where", operands, oracle="reference")


@pytest.mark.parametrize("opset", [11, 13])
def test_hardmax(opset: int) -> None:
    for axis in (0, 1, -1):
        check("Hardmax", [np.round(drawn((2, 3, 4), special=False))], opset=opset, axis=axis)


def test_prelu() -> None:
    for shape in ((2, 3, 4), (4,), (3, 1), ()):
        check("PRelu", [drawn((2, 3, 4)), drawn(shape, seed=1, special=False)])


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 3), (2, 3, 4, 5)])
def test_prelu_of_channels(shape: tuple[int, ...]) -> None:
    x, slope = drawn(shape), np.array([0.5, -2, 3], np.float32)
    wide = slope.reshape(3, *(1,) * (len(shape) - 2))
    check("PRelu", [x, slope], expected=[np.where(x < 0, x * wide, x)], opset=6, inside=[1])


@pytest.mark.parametrize(
    ("op", "operands", "text"),
    [
        ("Add", [np.zeros(2, bool)] * 2, "expected numbers"),
        ("Add", [np.zeros(2, np.float32), np.zeros(2, np.int32)], "have different types"),
        ("Equal", [np.zeros(2, np.float32), np.zeros(2, np.int32)], "have different types"),
        ("Add", [np.zeros(2, np.float32), np.zeros(3, np.float32)], "do not broadcast"),
        ("Exp", [np.zeros(2, np.int32)], "expected floats"),
        ("And", [np.zeros(2, np.int32)] * 2, "expected bool"),
        ("PRelu", [np.zeros(2, np.float32), np.zeros((3, 2), np.float32)], "does not broadcast to"),
    ],
)
def test_refused(op: str, operands: list[Any], text: str) -> None:
    with pytest.raises(OnnxError, match=text):
        check(op, operands, expected=[operands[0]])


#
# Casts
#

TYPES = [np.dtype(t) for t in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float16", "float32", "float64",
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn,
)]  # fmt: skip


def is_float(dtype: Any) -> bool:
    return dtype.kind == "f" or "float" in dtype.name


def samples(source: Any, target: Any) -> Any:
    """Values of a type; floats become integers only where those hold them."""
    if source.kind == "b":
        return np.array([True, False])
    if not is_float(source):
        info = ml_dtypes.iinfo(source)
        ends = [max(int(info.min), -(2**31)), min(int(info.max), 2**31 - 1)]
        return np.array([0, 1, 3, 7, ends[0], ends[1], ends[1] // 2]).astype(source)
    found = np.array([*SPECIAL, 448, 464, 465, 57344, 61440, -500, 240, 248, 1e-9, 1e-3, 6, 5, 7.2, -7, 3e5, -2.7])
    with np.errstate(all="ignore"):
        found = found.astype(source)
    if is_float(target) or target.kind == "b":
        return found
    info = ml_dtypes.iinfo(target)
    wide = np.trunc(found.astype(np.float64))
    return found[np.isfinite(wide) & (wide >= int(info.min)) & (wide <= min(int(info.max), 2**31 - 1))]


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_casts(source: Any, saturate: int) -> None:
    targets = [t for t in TYPES if t is not source and (saturate or t.name.startswith("float8"))]
    given = {t.name: samples(source, t) for t in targets}
    code = helper.np_dtype_to_tensor_dtype
    nodes = [helper.make_node("Cast", [t.name], [f"{t.name}_"], to=code(t), saturate=saturate) for t in targets]
    graph = helper.make_graph(
        nodes, "casts",
        [helper.make_tensor_value_info(name, code(source), x.shape) for name, x in given.items()],
        [helper.make_tensor_value_info(f"{t.name}_", code(t), given[t.name].shape) for t in targets],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    if source.name in ("int4", "uint4"):  # of which the evaluator has none to narrow floats
        expected = [given[t.name].astype(np.float32 if is_float(t) else np.int32).astype(t) for t in targets]
    else:
        with np.errstate(all="ignore"):
            expected = ReferenceEvaluator(model).run(None, given)
    for target, x, y in zip(targets, computed(model, given), expected, strict=True):
        assert x.dtype == y.dtype
        close = 1e-7 if target == np.float64 else 0  # held in f32
        np.testing.assert_allclose(x.astype(np.float64), y.astype(np.float64), close, err_msg=str(target))


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_casts_to_exponents(mode: str) -> None:
    x = np.abs(np.random.default_rng(zlib.crc32(mode.encode())).standard_normal(50) * 1e3).astype(np.float32)
    for dtype in (np.float32, np.float16, ml_dtypes.float8_e4m3fn):
        check("Cast", [x.astype(dtype)], oracle="reference", opset=24, to=24, round_mode=mode)


def test_cast_like() -> None:
    check("CastLike", [drawn((3,)), np.zeros(2, np.int32)], opset=19)


def test_bit_casts() -> None:
    for source, target in (("float32", "int32"), ("uint8", "int8"), ("int16", "float16"), ("uint32", "float32")):
        x = np.array([0, 1, 5, 77]).astype(source)
        code = int(helper.np_dtype_to_tensor_dtype(np.dtype(target)))
        check("BitCast", [x], expected=[x.view(target)], opset=26, to=code)
    with pytest.raises(OnnxError, match="32 bits as int16; expected a type of as many bits"):
        check("BitCast", [np.zeros(2, np.float32)], expected=[np.zeros(2, np.int16)], opset=26, to=5)


def test_casts_of_strings_are_refused() -> None:
    with pytest.raises(OnnxError, match="elements of type string have no form on the chip"):
        check("Cast", [np.zeros(2, np.float32)], expected=[np.zeros(2, np.float32)], to=8)
