# SPDX-License-Identifier: Apache-2.0
"""Softmax, normalizations and Fourier transforms, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compared import computed
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

MICROSOFT: dict[str, Any] = {"domain": "com.microsoft", "opset": 17}


def drawn(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def positive(*shape: int) -> Any:
    return np.abs(drawn(*shape)) + np.float32(0.5)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("opset", [7, 11, 13])
def test_softmax(op: str, opset: int) -> None:
    for axis in (0, 1, 2, -1, None):
        options = {} if axis is None or (opset < 11 and axis < 0) else {"axis": axis}
        check(op, [10 * drawn(2, 3, 5)], opset=opset, **options)
    check(op, [100 * drawn(4, 6)], opset=opset)
    if opset >= 13:
        check(op, [np.array(3, np.float32)], expected=[np.array(op == "Softmax", np.float32)], opset=opset)
        check(op, [drawn(3, 40, dtype=np.float16)], oracle="reference", opset=opset)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 4, 5)])
def test_batches(shape: tuple[int, ...]) -> None:
    n = shape[1]
    operands = [drawn(*shape), drawn(n), drawn(n, seed=1), drawn(n, seed=2), positive(n)]
    for opset in (7, 9, 14, 15):
        check("BatchNormalization", operands, opset=opset, inside=(1, 2, 3, 4), epsilon=1e-3)
    check("BatchNormalization", operands, opset=15)
    check("BatchNormalization", operands, 3, opset=15, training_mode=1, momentum=0.8)
    check("BatchNormalization", [operands[0].astype(np.float16), *operands[1:]], opset=15)
    whole = [drawn(*shape[1:], seed=i) for i in range(3)]
    check("BatchNormalization", [operands[0], *whole, positive(*shape[1:])], opset=7, spatial=0)


@pytest.mark.parametrize("shape", [(2, 4, 5), (2, 4, 3, 5), (1, 4, 2, 3, 4)])
def test_groups(shape: tuple[int, ...]) -> None:
    x, scale, b = drawn(*shape), drawn(4), drawn(4, seed=1)
    for opset in (7, 22):
        check("InstanceNormalization", [x, scale, b], opset=opset)
    check("GroupNormalization", [x, scale, b], num_groups=2, opset=21)
    check("GroupNormalization", [x, scale[:2], b[:2]], num_groups=2, opset=18)
    if len(shape) == 4:
        check("LRN", [x], size=3, alpha=0.1, beta=0.6, bias=1.5)


def test_layers() -> None:
    x = drawn(2, 3, 4, 5)
    for axis in (0, 1, -2, -1):
        part = x.shape[axis:]
        for outputs in (1, 3):
            check("LayerNormalization", [x, drawn(*part), drawn(*part, seed=1)], outputs, axis=axis, opset=17)
        check("LayerNormalization", [x, drawn(*part)], axis=axis, epsilon=1e-3, opset=17)
        check("RMSNormalization", [x, drawn(*part)], axis=axis, opset=23)
        # As onnxruntime writes it, in the default domain.
        check("SimplifiedLayerNormalization", [x, drawn(*part)], 2, axis=axis, stash_type=1, opset=17)
    # What broadcasts to the layer, and is not of its size.
    check("LayerNormalization", [x, drawn(5), drawn(4, 1)], axis=2, opset=17, oracle="reference")
    check("LayerNormalization", [drawn(3, 64, dtype=np.float16), drawn(64, dtype=np.float16)], opset=17)


def test_skips() -> None:
    x, gamma, beta, bias = drawn(2, 3, 8), drawn(8), drawn(8, seed=1), drawn(8, seed=2)
    for skip in (drawn(2, 3, 8, seed=3), drawn(1, 3, 8), drawn(3, 8)):
        for rest in ((), (beta,), (beta, bias), (None, bias)):
            check("SkipLayerNormalization", [x, skip, gamma, *rest], epsilon=1e-5, **MICROSOFT)
        check("SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], epsilon=1e-5, **MICROSOFT)
    ids, segments, mask = (
        np.array([[1, 0, 2]], np.int32),
        np.array([[0, 1, 1]], np.int32),
        np.array([[1, 1, 0]], np.int32),
    )
    tables = [drawn(5, 8), drawn(7, 8), drawn(2, 8)]
    check("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta], 2, **MICROSOFT)
    check("EmbedLayerNormalization", [ids, segments, *tables, gamma, beta, mask, ids], 3, **MICROSOFT)


def test_others() -> None:
    x = drawn(2, 3, 4, 5)
    for axis, p in ((-1, 2), (1, 1), (0, 2)):
        check("LpNormalization", [x], axis=axis, p=p)
    check("LpNormalization", [np.zeros((2, 3), np.float32)], oracle="reference", opset=22)
    for options in ({}, {"axes": [1, -1]}):
        check("MeanVarianceNormalization", [x], opset=13, oracle="reference", **options)


def test_transforms() -> None:
    real, both = drawn(2, 10, 1), drawn(2, 10, 2)
    for length in (None, 7, 10, 13):
        size = None if length is None else np.array(length)
        inside = () if length is None else (1,)
        for x, options in ((real, {}), (real, {"onesided": 1}), (both, {}), (both, {"inverse": 1})):
            check("DFT", [x, size], opset=17, inside=inside, oracle="reference", axis=1, **options)
            check("DFT", [x, size], opset=20, inside=inside, oracle="reference", **options)
        check("DFT", [both, size], opset=20, inside=inside, oracle="reference", inverse=1, onesided=1)
    moved = [drawn(2, 6, 3, 1), None, np.array(1)]
    check("DFT", moved, opset=20, inside=(2,), oracle="reference")
    for window in (None, drawn(8)):
        for onesided in (0, 1):
            operands = [drawn(2, 30, 1), np.array(3), window, np.array(8)]
            check("STFT", operands, opset=17, inside=(1, 3), onesided=onesided)
    numbers = [np.array(n) for n in (40, 512, 16000)] + [np.array(x, np.float32) for x in (0, 8000)]
    check("MelWeightMatrix", numbers, opset=17, inside=tuple(range(5)), oracle="reference")
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for size in (10, 5000):
            check(op, [np.array(size)], opset=17, inside=(0,), oracle="reference", tolerance=1e-3)


def test_errors() -> None:
    x = drawn(2, 3, 4)
    cases: list[tuple[str, list[Any], dict[str, Any], str]] = [
        ("Softmax", [x], {"axis": 3}, "axis is 3"),
        ("BatchNormalization", [x, drawn(2), *[drawn(3)] * 3], {}, "expected 3 numbers, one for each channel"),
        ("GroupNormalization", [x, drawn(3), drawn(3)], {"num_groups": 2}, "channels that num_groups, 2, divides"),
        ("LayerNormalization", [x, drawn(5)], {}, "shape"),
        ("DFT", [x], {"opset": 20}, "real or real and imaginary parts"),
        ("STFT", [drawn(1, 8, 1), np.array(0), None, np.array(4)], {"inside": (1, 3)}, "frame_step is 0"),
    ]
    for op, operands, options, text in cases:
        model, given = node_model(op, operands, **options)
        with pytest.raises(OnnxError, match=text):
            computed(typed(model, operands[:1]), given)
