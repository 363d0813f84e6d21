# SPDX-License-Identifier: Apache-2.0
"""Quantization, and products of integers and of packed weights, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compared import computed
from onnx import helper
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

MICROSOFT = "com.microsoft"
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint4", "int4", "uint2", "int2"]
FLOATS = [
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn", "float6_e2m3fn",
    "float6_e3m2fn",
]  # fmt: skip


def named(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, name))


def integers(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    info: Any = ml_dtypes.iinfo(np.dtype(dtype))
    random = np.random.default_rng(seed + sum(shape))
    return random.integers(int(info.min), int(info.max) + 1, shape).astype(dtype)


def floats(*shape: int, by: float = 1.0, seed: int = 0, dtype: Any = np.float32) -> Any:
    return (by * np.random.default_rng(seed + sum(shape)).standard_normal(shape)).astype(dtype)


def scales(*shape: int, low: float = 0.01, high: float = 0.2, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(sum(shape)).uniform(low, high, shape).astype(dtype)


# Shape of the tensor, of the scales, and attributes.
GRAINS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, int]]] = [
    ((3, 5), (), {}), ((3, 5), (1, 1), {}), ((7,), (7,), {"axis": 0}), ((0, 3), (3,), {}),
    ((2, 6, 4), (6,), {"axis": 1}), ((2, 6, 4), (2,), {"axis": -3}),
    ((2, 6, 4), (2, 3, 4), {"axis": 1, "block_size": 2}), ((2, 7, 4), (2, 3, 4), {"axis": 1, "block_size": 3}),
    ((4, 5), (4, 2), {"axis": -1, "block_size": 4}),
]  # fmt: skip


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
@pytest.mark.parametrize(("shape", "grain", "attributes"), GRAINS)
def test_grains(shape: tuple[int, ...], grain: tuple[int, ...], attributes: dict[str, int], name: str) -> None:
    dtype, is_integer = named(name), name in INTEGERS
    zero = integers(grain, dtype) if is_integer else np.zeros(grain, dtype)
    x = floats(*shape, by=3 if is_integer else 50)
    options: dict[str, Any] = {"oracle": "reference", "opset": 28, **attributes}
    check("QuantizeLinear", [x, scales(*grain), zero], **options)
    if np.prod(grain, dtype=int):  # the evaluator asks for a zero point
        stored = integers(shape, dtype) if is_integer else floats(*shape, by=3, dtype=dtype)
        check("DequantizeLinear", [stored, scales(*grain), zero], **options)


@pytest.mark.parametrize("opset", [10, 13, 19, 21])
@pytest.mark.parametrize("name", ["uint8", "int8"])
def test_versions(name: str, opset: int) -> None:
    """Halves are rounded to even."""
    x = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 1000, -1000, 63.5], np.float32)
    check("QuantizeLinear", [x, np.float32(1), integers((), named(name))], opset=opset)
    check("DequantizeLinear", [integers((3, 4), named(name)), scales(), integers((), named(name))], opset=opset)


@pytest.mark.parametrize("name", FLOATS[:4])
@pytest.mark.parametrize("saturate", [0, 1])
def test_saturation(name: str, saturate: int) -> None:
    x = np.array([1e6, -1e6, np.inf, -np.inf, np.nan, 0.3, 449], np.float32)
    options: dict[str, Any] = {"oracle": "reference", "saturate": saturate}
    check("QuantizeLinear", [x, np.float32(1), np.zeros((), named(name))], opset=19, **options)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_scales(dtype: Any) -> None:
    x, scale = floats(3, 8, dtype=dtype), scales(8, dtype=dtype)
    check("QuantizeLinear", [x, scale, integers((8,), np.int8)], oracle="reference", opset=21, axis=1, off_by=1)
    check("DequantizeLinear", [integers((3, 8), np.int8), scale], oracle="reference", opset=21, axis=1)
    check("DequantizeLinear", [integers((3, 8), np.int8), scale], oracle="reference", opset=23, output_dtype=1)


def test_types_by_attributes() -> None:
    x, scale = floats(3, 8), np.float32(0.1)
    check(
        "QuantizeLinear",
        [x, scale],
        oracle="reference",
        output_dtype=helper.np_dtype_to_tensor_dtype(np.dtype("int16")),
    )
    check("QuantizeLinear", [x.astype(np.float16), scale], oracle="reference", opset=23, precision=1, off_by=1)
    check("DequantizeLinear", [integers((3, 4), np.int32) // 1000, scale], opset=13)


@pytest.mark.parametrize("x", [floats(3, 4), floats(5) + 3, floats(2, 3) - 3, np.zeros((2, 2), np.float32)])
def test_dynamic_quantize_linear(x: Any) -> None:
    check("DynamicQuantizeLinear", [x], 3)


PAIRS = [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]


@pytest.mark.parametrize(
    ("a", "b"), [((3, 5), (5, 4)), ((2, 3, 5), (5, 4)), ((2, 1, 3, 5), (1, 4, 5, 2)), ((9, 700), (700, 6))]
)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_integer_products(a: tuple[int, ...], b: tuple[int, ...], left: str, right: str) -> None:
    x, y = integers(a, left), integers(b, right)
    zeros: list[tuple[Any, Any]] = [(None, None), (integers((), left), integers((), right))]
    if len(b) == 2:
        zeros.append((integers((), left), integers((b[1],), right)))
    for x_zero, y_zero in zeros:
        expected = np.matmul(
            x.astype(np.int32) - (0 if x_zero is None else np.int32(x_zero)),
            y.astype(np.int32) - (0 if y_zero is None else y_zero.astype(np.int32)),
        )
        check("MatMulInteger", [x, y, x_zero, y_zero], expected=[expected])
        if x_zero is None:
            continue
        grain = scales(*y_zero.shape)
        operands = [x, scales(), x_zero, y, grain, y_zero, np.float32(9), integers((), left)]
        check("QLinearMatMul", operands, opset=10, off_by=1, weights=(3, 5) if left == "uint8" else None)
        bias = floats(b[-1])
        operands = [x, y, scales(), grain, x_zero, y_zero, bias]
        check("MatMulIntegerToFloat", operands, domain=MICROSOFT, weights=(1, 5) if left == "uint8" else None)


def test_rows_of_zero_points() -> None:
    x, y, zero = integers((3, 5), "uint8"), integers((5, 4), "int8"), integers((3,), "uint8")
    expected = (x.astype(np.int32) - zero.astype(np.int32)[:, None]) @ y.astype(np.int32)
    check("MatMulInteger", [x, y, zero], expected=[expected])


def test_dynamic_quantize_matmul() -> None:
    operands = [floats(2, 3, 16), integers((16, 4), "int8"), scales(), None, floats(4)]
    check("DynamicQuantizeMatMul", operands, domain=MICROSOFT, tolerance=2e-2, weights=(1, 3))


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 7, 7), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    ((1, 4, 8, 9), (6, 2, 3, 2), {"group": 2, "strides": [2, 1], "pads": [1, 0, 0, 1], "dilations": [1, 2]}),
    ((1, 4, 8, 9), (4, 1, 3, 3), {"group": 4, "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ((1, 2, 8, 9), (3, 2, 2, 2), {"auto_pad": "SAME_LOWER"}), ((2, 3, 9), (4, 3, 3), {"auto_pad": "VALID"}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 2, 2), {}),
]  # fmt: skip


@pytest.mark.parametrize(("x", "w", "attributes"), CONVOLUTIONS)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_convolutions(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any], left: str, right: str
) -> None:
    data, weights, zero = integers(x, left), integers(w, right), integers((), left)
    if left == "uint8":
        check("ConvInteger", [data, weights, zero, integers((), right)], opset=10, **attributes)
    middle = np.zeros((w[0],), right) if right == "int8" else np.full((w[0],), 120, right)
    bias = integers((w[0],), "int32") // 100000
    operands = [data, scales(), zero, weights, scales(w[0]), middle, np.float32(9), integers((), left), bias]
    shifted = (3, 5) if left == "uint8" else None
    check("QLinearConv", operands, opset=10, inside=[3, 4, 5, 8], off_by=1, weights=shifted, **attributes)


@pytest.mark.parametrize(
    ("bits", "zeros"), [(2, ""), (4, ""), (8, ""), (2, "packed"), (4, "packed"), (8, "packed"), (4, "float")]
)
def test_matmul_n_bits(bits: int, zeros: str) -> None:
    rows, columns, block = 6, 40, 16
    blocks = -(-columns // block)
    zero = None
    if zeros == "packed":
        zero = integers((rows, -(-blocks * bits // 8)), np.uint8)
    elif zeros == "float":
        zero = floats(rows, blocks, by=3)
    packed = integers((rows, blocks, block * bits // 8), np.uint8)
    operands = [floats(2, 3, columns), packed, scales(rows, blocks), zero, None, floats(rows)]
    inside = [1, 2] if zero is None else [1, 2, 3]
    options: dict[str, Any] = {"K": columns, "N": rows, "bits": bits, "block_size": block, "tolerance": 1e-3}
    check("MatMulNBits", operands, domain=MICROSOFT, inside=inside, **options)


def test_blocks_in_another_order() -> None:
    order = np.random.default_rng(0).permutation(np.arange(64, dtype=np.int32) // 16)
    operands = [floats(3, 64), integers((5, 4, 8), np.uint8), scales(5, 4), None, order]
    check("MatMulNBits", operands, domain=MICROSOFT, K=64, N=5, bits=4, block_size=16, tolerance=1e-3)


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "text"),
    [
        ("QuantizeLinear", [floats(2, 3), scales(4)], {}, "expected 3"),
        ("QuantizeLinear", [floats(2, 3), scales(2, 2)], {"block_size": 1}, "one for each block"),
        ("QuantizeLinear", [floats(2, 3), scales(3), integers((2,), "int8")], {}, "different shapes"),
        ("DequantizeLinear", [integers((2, 3), "int8"), scales(), np.uint8(3)], {}, "expected one type"),
        ("MatMulInteger", [integers((2, 3), "int8"), integers((4, 3), "int8")], {}, "3 columns and 4 rows"),
        (
            "ConvInteger",
            [integers((1, 3, 4, 4), "uint8"), integers((2, 2, 3, 3), "uint8")],
            {},
            "channels do not agree",
        ),
        ("ConvInteger", [integers((1, 2, 2, 2), "uint8"), integers((2, 2, 3, 3), "uint8")], {}, "do not fit into 2"),
    ],
)
def test_refused(op: str, operands: list[Any], attributes: dict[str, Any], text: str) -> None:
    model, given = node_model(op, operands, **attributes)
    with pytest.raises(OnnxError, match=text):
        computed(typed(model, [np.zeros(1, np.float32)]), given)
