# SPDX-License-Identifier: Apache-2.0
"""Ops of com.microsoft: quantized ones, activations, biases; compared with onnxruntime, NumPy and PyTorch."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from compared import computed
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

on_runtime = functools.partial(check, domain="com.microsoft")


def floats(*shape: int, by: float = 1.0, seed: int = 0) -> Any:
    return (by * np.random.default_rng(seed + sum(shape)).standard_normal(shape)).astype(np.float32)


def integers(shape: tuple[int, ...], dtype: Any = np.uint8, seed: int = 0) -> Any:
    info: Any = ml_dtypes.iinfo(np.dtype(dtype))
    return np.random.default_rng(seed + sum(shape)).integers(int(info.min), int(info.max) + 1, shape).astype(dtype)


TYPES = pytest.mark.parametrize("dtype", [np.uint8, np.int8])
SCALE, FINE = np.float32(0.0523), np.float32(1 / 256)


def pair(dtype: Any, seed: int = 0) -> list[Any]:
    """A scale and a zero point."""
    return [np.float32(0.0317 + 0.01193 * seed), integers((), dtype, seed)]


@TYPES
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_binary(op: str, dtype: Any) -> None:
    operands = [integers((2, 3, 4), dtype), *pair(dtype), integers((4,), dtype), *pair(dtype, 1), *pair(dtype, 5)]
    on_runtime(op, operands, off_by=1)


UNARY: list[tuple[str, dict[str, Any]]] = [
    ("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.2}), ("QLinearGlobalAveragePool", {}),
    ("QLinearGlobalAveragePool", {"channels_last": 1}),
    ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [1, 2], "pads": [1, 0, 1, 0]}),
    ("QLinearAveragePool", {"kernel_shape": [3, 2], "count_include_pad": 1, "pads": [1, 1, 1, 1], "ceil_mode": 1}),
]  # fmt: skip


@TYPES
@pytest.mark.parametrize(("op", "attributes"), UNARY)
def test_unary(op: str, attributes: dict[str, Any], dtype: Any) -> None:
    on_runtime(op, [integers((2, 3, 6, 5), dtype), *pair(dtype), SCALE, integers((), dtype)], off_by=1, **attributes)


@TYPES
def test_join_and_choice(dtype: Any) -> None:
    a, b = integers((3, 4), dtype), integers((3, 4), dtype, 1)
    on_runtime("QLinearConcat", [*pair(dtype, 2), a, *pair(dtype), b, *pair(dtype, 1)], off_by=1, axis=-1)
    choice = np.random.default_rng(0).random((3, 4)) < 0.5
    on_runtime("QLinearWhere", [choice, a, *pair(dtype), b, *pair(dtype, 1), *pair(dtype, 2)], off_by=1)


@TYPES
@pytest.mark.parametrize("axis", [0, -1])
def test_mean(axis: int, dtype: Any) -> None:
    x, (scale, zero), (to, middle) = integers((3, 4), dtype), pair(dtype), pair(dtype, 1)
    mean = ((x.astype(np.float32) - zero) * scale).mean(axis, keepdims=True)
    info = np.iinfo(dtype)
    expected = np.clip(np.rint(mean / to) + middle, info.min, info.max).astype(dtype)
    on_runtime(
        "QLinearReduceMean", [x, scale, zero, to, middle], expected=[expected], axes=[axis], keepdims=1, off_by=1
    )


@TYPES
@pytest.mark.parametrize(("left", "right"), [(0, 0), (1, 1)])
def test_gemm(left: int, right: int, dtype: Any) -> None:
    a, b = integers((5, 3) if left else (3, 5), dtype), integers((4, 5) if right else (5, 4), np.int8)
    operands = [a, *pair(dtype), b, SCALE, integers((), np.int8), np.arange(4, dtype=np.int32)]
    options: dict[str, Any] = {"transA": left, "transB": right, "weights": (3, 5) if dtype == np.uint8 else None}
    on_runtime("QGemm", operands, **options)
    on_runtime("QGemm", [*operands, np.float32(5), integers((), dtype)], off_by=1, **options)


def test_integer_products() -> None:
    a, b = integers((3, 4)), integers((4,), seed=1)
    expected = (a.astype(np.int32) - 7) * (b.astype(np.int32) - 9)
    on_runtime("MulInteger", [a, np.uint8(7), b, np.uint8(9)], expected=[expected])


def test_softmax() -> None:
    """The attribute is called like the option of `check`."""
    for version, axis in ((13, -1), (13, 0), (12, 1)):
        x = integers((2, 3, 4))
        logits = torch.from_numpy((x.astype(np.float32) - 100) * SCALE)
        rows = logits if version == 13 else logits.reshape(2, 12)
        shares = torch.softmax(rows, axis).reshape(x.shape).numpy()
        expected = np.clip(np.rint(shares * 256), 0, 255).astype(np.uint8)
        model, given = node_model("QLinearSoftmax", [x, SCALE, np.uint8(100), FINE, np.uint8(0)],
                                  domain="com.microsoft", axis=axis)  # fmt: skip
        model.graph.node[0].attribute.add(name="opset", i=version, type=2)
        (found,) = computed(typed(model, [expected]), given)
        assert np.abs(found.astype(int) - expected).max() <= 1


FUNCTIONS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("Gelu", [floats(3, 8)], {}), ("BiasGelu", [floats(3, 8), floats(8)], {}), ("FastGelu", [floats(3, 8)], {}),
    ("FastGelu", [floats(3, 8), floats(8)], {}), ("QuickGelu", [floats(3, 8)], {"alpha": 1.3}),
    ("ScaledSiLU", [floats(3, 8)], {"alpha": 0.5}), ("Trilu", [floats(3, 4)], {"upper": 0}),
    ("GatedAdd", [floats(2, 3, 8), floats(2, 3, 8, seed=1), floats(2, 3, 1)], {}),
    ("FusedGemm", [floats(3, 4), floats(4, 5), floats(5)], {"activation": "Relu", "alpha": 0.5}),
    ("FusedGemm", [floats(3, 4), floats(4, 5)], {"activation": "LeakyRelu", "activation_alpha": 0.2}),
    ("CDist", [floats(3, 4), floats(5, 4)], {}), ("CDist", [floats(3, 4), floats(5, 4)], {"metric": "euclidean"}),
    ("Inverse", [floats(5, 5)], {}), ("Inverse", [floats(2, 3, 4, 4)], {}), ("Inverse", [floats(1, 1)], {}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands", "attributes"), FUNCTIONS)
def test_functions(op: str, operands: list[Any], attributes: dict[str, Any]) -> None:
    on_runtime(op, operands, tolerance=1e-3 if op == "Inverse" else None, **attributes)


def test_inverse_needs_pivots() -> None:
    x = np.array([[0, 1, 0], [0, 0, 2], [4, 0, 0]], np.float32)
    on_runtime("Inverse", [x], expected=[np.linalg.inv(x)])


def test_expand_dims() -> None:
    on_runtime("ExpandDims", [floats(3, 4), np.array(-2, np.int32)], inside=[1])


def gelu(x: Any) -> Any:
    return torch.nn.functional.gelu(torch.from_numpy(x)).numpy()


def test_biases() -> None:
    """onnxruntime has none of these on the CPU."""
    x, bias, skip = floats(2, 3, 8), floats(8), floats(2, 3, 8, seed=1)
    on_runtime("BiasAdd", [x, bias, skip], expected=[x + bias + skip])
    on_runtime("BiasSplitGelu", [x, bias], expected=[(x + bias)[..., :4] * gelu((x + bias)[..., 4:])])
    mask = floats(2, 1, 8)
    expected = torch.softmax(torch.from_numpy(x + mask), 2).numpy()
    on_runtime("BiasSoftmax", [x, mask], expected=[expected], axis=2, is_inner_broadcast=1)


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_swiglu(limit: float) -> None:
    x = floats(2, 3, 8)
    gate, up = torch.from_numpy(x).split(4, -1)
    if limit:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    expected = (gate * torch.sigmoid(1.7 * gate) * (up + 0.5)).numpy()
    options: dict[str, Any] = {"activation_alpha": 1.7, "activation_beta": 0.5, "limit": limit, "expected": [expected]}
    on_runtime("SwiGLU", [x], **options)
    on_runtime("SwiGLU", [x[..., :4], x[..., 4:]], **options)


@pytest.mark.parametrize("both", [0, 1])
def test_relative_position_bias(both: int) -> None:
    """T5's buckets of distances: half of them exact, the rest logarithmic."""
    table, rows, columns, most = floats(3, 16), 9, 30, 20
    distance = torch.arange(columns)[None] - torch.arange(rows)[:, None]
    buckets = 16 // 2 if both else 16
    bucket = (distance > 0).long() * buckets if both else torch.zeros_like(distance)
    near = distance.abs() if both else (-distance).clamp(min=0)
    exact = buckets // 2
    steps = torch.log(near.float() / exact) / np.log(most / exact) * (buckets - exact)
    large = (exact + steps.clamp(min=0).long()).clamp(max=buckets - 1)
    bucket += torch.where(near < exact, near, large)
    expected = torch.from_numpy(table)[:, bucket][None].numpy()
    operands = [table.reshape(16, 3), np.array([rows]), np.array([columns])]
    on_runtime(
        "RelativePositionBias", operands, expected=[expected], known=[1, 2], is_bidirectional=both, max_distance=most
    )


def test_gated_relative_position_bias() -> None:
    query, bias, distance, weight, offset, scale = (
        torch.from_numpy(floats(*shape)) for shape in ((2, 3, 8), (8,), (1, 2, 3, 3), (4, 6), (6,), (1, 2, 1, 1))
    )
    x = (query + bias).view(2, 3, 2, 4).transpose(1, 2) @ weight + offset
    first, second = torch.sigmoid(x.view(2, 2, 3, 2, 3).sum(-1)).chunk(2, -1)
    expected = (first * (second * scale - 1) + 2) * distance
    operands = [y.numpy() for y in (query, bias, distance, weight, offset, scale)]
    on_runtime("GatedRelativePositionBias", operands, expected=[expected.numpy()], num_heads=2)


def test_gemma_rotary_embedding() -> None:
    angle = floats(2, 3, 8)
    q, q_turned, k, k_turned = (floats(2, 4, 3, 8, seed=i) for i in range(4))
    sin, cos = np.sin(angle)[:, None], np.cos(angle)[:, None]
    expected = [q * cos + q_turned * sin, k * cos + k_turned * sin]
    on_runtime("GemmaRotaryEmbedding", [angle, q, q_turned, k, k_turned], 2, expected=expected)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_gather_of_packed_rows(zeros: bool, bits: int) -> None:
    data, places = integers((7, 64 * bits // 8)), np.random.default_rng(0).integers(-7, 7, (2, 3))
    operands = [data, places, floats(7, 4), integers((7, -(-4 * bits // 8)), seed=1) if zeros else None]
    options: dict[str, Any] = {"bits": bits, "block_size": 16}
    on_runtime("GatherBlockQuantized", operands, inside=[0, 2, 3] if zeros else [0, 2], **options)


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_gather_of_small_integers(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    data, places = integers((4, 32, 3), dtype), np.array([3, 0], np.int32)
    operands = [data, places, floats(4, 2, 3), integers((4, 2, 3), dtype, 1)]
    on_runtime("GatherBlockQuantized", operands, inside=[0, 2, 3], block_size=16, quantize_axis=1)


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "text"),
    [
        (
            "QLinearAdd",
            [integers((3,)), floats(2), None, integers((3,)), SCALE, None, SCALE],
            {},
            "expected one element",
        ),
        ("QLinearConcat", [SCALE, np.uint8(0), integers((3,))], {"axis": 0}, "each with its scale and zero point"),
        ("CDist", [floats(3, 4), floats(5, 4)], {"metric": "cosine"}, "expected sqeuclidean or euclidean"),
        ("Inverse", [floats(3, 4)], {}, "expected square matrices"),
        ("Tokenizer", [floats(3)], {}, "it works on strings"),
    ],
)
def test_refused(op: str, operands: list[Any], attributes: dict[str, Any], text: str) -> None:
    model, given = node_model(op, operands, domain="com.microsoft", **attributes)
    with pytest.raises(OnnxError, match=text):
        computed(typed(model, [np.zeros(1, np.float32)]), given)


@pytest.mark.parametrize("op", ["Conv", "MaxPool", "ReorderInput"])
def test_layouts_of_a_processor(op: str) -> None:
    """Reads files of onnxruntime's highest level, with blocks of as many channels as the processor's vectors hold."""
    model, given = node_model(op, [floats(1, 8, 4, 4)], domain="com.microsoft.nchwc", kernel_shape=[1, 1])
    with pytest.raises(OnnxError, match=r"layout of the processor .* at the level ORT_ENABLE_EXTENDED or below"):
        computed(typed(model, [np.zeros(1, np.float32)]), given)
