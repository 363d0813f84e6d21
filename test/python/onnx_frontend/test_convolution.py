# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools, compared with onnxruntime and the evaluator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from compared import computed
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

SIZES = {1: (9,), 2: (7, 8), 3: (5, 6, 7)}


def drawn(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed + sum(shape))
    if np.dtype(dtype).kind in "iu":
        return generator.integers(0 if np.dtype(dtype).kind == "u" else -90, 90, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


WINDOWS: list[dict[str, Any]] = [
    {},
    {"strides": 2, "pads": (1, 1)},
    {"pads": (0, 2), "dilations": 2},
    {"strides": 3, "auto_pad": "SAME_UPPER"},
    {"strides": 2, "auto_pad": "SAME_LOWER"},
    {"auto_pad": "VALID", "strides": 2},
]


def of_rank(window: dict[str, Any], rank: int) -> dict[str, Any]:
    """Attributes with one number for each dimension."""
    spread = {"pads": lambda v: [v[0]] * rank + [v[1]] * rank, "auto_pad": lambda v: v}
    return {name: spread.get(name, lambda v: [v] * rank)(value) for name, value in window.items()}


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions(rank: int, window: dict[str, Any]) -> None:
    x, w, b = drawn(2, 4, *SIZES[rank]), drawn(6, 2, *(3,) * rank), drawn(6)
    for opset, inside in ((11, ()), (22, (1, 2))):
        check("Conv", [x, w, b], group=2, opset=opset, inside=inside, **of_rank(window, rank))


def test_other_convolutions() -> None:
    check("Conv", [drawn(1, 6, 5, 9), drawn(12, 1, 2, 3)], group=6, kernel_shape=[2, 3], inside=(1,))
    for x, w in ((drawn(0, 2, 5, 5), drawn(4, 2, 3, 3)), (drawn(1, 2, 0, 6), drawn(4, 2, 3, 3))):
        zeros = np.zeros((x.shape[0], 4, x.shape[2] + 2, x.shape[3] + 2), np.float32)
        check("Conv", [x, w], pads=[2, 2, 2, 2], expected=[zeros])
    half = [drawn(*s, dtype=np.float16) for s in ((1, 3, 6, 6), (4, 3, 3, 3), (4,))]
    check("Conv", half, pads=[1, 1, 1, 1], oracle="reference")
    double = [drawn(*s, dtype=np.float64) for s in ((1, 3, 6, 6), (4, 3, 3, 3))]
    check("Conv", double, oracle="reference")
    # A kernel that no core holds in a row, of a sequence.
    check("Conv", [drawn(1, 1, 576), drawn(258, 1, 256)], strides=[64], inside=(1,))
    contributed = {"domain": "com.microsoft", "opset": 17}
    operands = [drawn(1, 4, 6, 7), drawn(3, 4, 3, 3), drawn(3), drawn(1, 3, 4, 5)]
    activations: list[tuple[str, list[float]]] = [("Relu", []), ("Tanh", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1])]
    for name, numbers in activations:
        parameters = {"activation_params": numbers} if numbers else {}
        check("FusedConv", operands, activation=name, **contributed, **parameters)
    x, w = drawn(1, 4, 6, 7), drawn(3, 4, 3, 3)
    model, given = node_model("NhwcConv", [np.moveaxis(x, 1, 3), np.moveaxis(w, 1, 3)], **contributed)
    (found,) = computed(typed(model, [x]), given)
    (expected,) = check("Conv", [x, w])
    np.testing.assert_allclose(np.moveaxis(found, 3, 1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed(rank: int) -> None:
    x, w, b = drawn(2, 4, *SIZES[rank]), drawn(4, 3, *(3,) * rank), drawn(6)
    cases: list[dict[str, Any]] = [
        {}, {"strides": 2, "pads": (1, 1), "output_padding": 1}, {"strides": 2, "pads": (0, 2)}, {"dilations": 2},
        {"strides": 2, "auto_pad": "SAME_UPPER"}, {"strides": 3, "auto_pad": "SAME_LOWER"}, {"strides": 4},
    ]  # fmt: skip
    for case in cases:
        check("ConvTranspose", [x, w, b], group=2, **of_rank(case, rank))
    for auto in ("SAME_UPPER", "NOTSET"):
        shape = [2 * n for n in SIZES[rank]]
        check("ConvTranspose", [x, w], group=2, strides=[2] * rank, output_shape=shape, auto_pad=auto)


def test_deformed() -> None:
    for groups, parts, masked in ((1, 1, False), (2, 1, True), (1, 2, True)):
        offset = drawn(2, parts * 2 * 6, 6, 6)
        operands = [drawn(2, 4, 7, 8), drawn(6, 4 // groups, 2, 3), offset, drawn(6)]
        operands += [drawn(2, parts * 6, 6, 6)] if masked else []
        check("DeformConv", operands, opset=22, group=groups, offset_group=parts, kernel_shape=[2, 3])


def test_columns_to_images() -> None:
    for image, block, options in (
        ([5, 6], [2, 3], {"strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 2]}),
        ([4, 5, 6], [1, 2, 3], {"strides": [1, 2, 2], "pads": [0, 0, 0, 0, 1, 0]}),
    ):
        rank = len(image)
        parts = zip(image, block, *(options.get(n, [1] * rank) for n in ("strides", "dilations")), strict=True)
        pads = options["pads"]
        counts = [(n + pads[d] + pads[d + rank] - g * (k - 1) - 1) // s + 1 for d, (n, k, s, g) in enumerate(parts)]
        x = drawn(2, 3 * math.prod(block), math.prod(counts))
        check("Col2Im", [x, np.array(image), np.array(block)], inside=(1, 2), oracle="reference", **options)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pools(rank: int, window: dict[str, Any]) -> None:
    x, kernel = drawn(2, 3, *SIZES[rank]), [3] * rank
    options = of_rank(window, rank)
    oracle = "reference" if "dilations" in window else "runtime"
    for order in (0, 1):
        check("MaxPool", [x], 2, kernel_shape=kernel, storage_order=order, opset=12, **options)
    check("LpPool", [x], kernel_shape=kernel, p=3, oracle=oracle, opset=18, **options)
    for counted in (0, 1):
        check("AveragePool", [x], kernel_shape=kernel, count_include_pad=counted, opset=22, **options)
    if "auto_pad" not in window:
        check("MaxPool", [x], kernel_shape=kernel, ceil_mode=1, opset=22, **options)
        check("AveragePool", [x], kernel_shape=kernel, ceil_mode=1, count_include_pad=1, opset=22, **options)


@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("size", [(3,), (2, 3), (2, 2, 3)])
def test_windows_beyond_the_end(size: tuple[int, ...], pad: int) -> None:
    """As EfficientNet's last pool has, whose window is as large as its number of channels."""
    rank, x = len(size), drawn(2, 3, *size)
    window = {"kernel_shape": [9] * rank, "strides": [9] * rank, "pads": [pad] * 2 * rank, "ceil_mode": 1}
    for op, options in (
        ("AveragePool", {}),
        ("AveragePool", {"count_include_pad": 1}),
        ("MaxPool", {}),
        ("LpPool", {}),
    ):
        check(op, [x], opset=22, **window, **options)


def test_pools_of_types() -> None:
    for dtype in (np.int8, np.uint8, np.float16, np.float64):
        x = drawn(1, 2, 6, 7, dtype=dtype)
        check("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 1], oracle="reference", opset=22)
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        for shape in ((2, 3, 4, 5), (2, 3, 4), (1, 2, 3, 4, 2)):
            check(op, [drawn(*shape)])


def test_unpool() -> None:
    x = drawn(1, 2, 4, 6)
    y, places = check("MaxPool", [x], 2, kernel_shape=[2, 2], strides=[2, 2])
    check("MaxUnpool", [y, places], kernel_shape=[2, 2], strides=[2, 2])
    check("MaxUnpool", [y, places, np.array([1, 2, 5, 6])], kernel_shape=[2, 2], strides=[2, 2], inside=(2,),
          oracle="reference")  # fmt: skip


def test_errors() -> None:
    cases: list[tuple[str, list[Any], dict[str, Any], str]] = [
        ("Conv", [drawn(1, 3, 6, 6), drawn(4, 2, 3, 3)], {}, "expected 2 channels"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"strides": [1]}, "strides has 1 numbers; expected 2"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"strides": [2**40, 1]}, "numbers of at most 2147483647"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"pads": [2**40] * 4}, "numbers of at most 2147483647"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"group": 0}, "in 0 groups; expected at least 1 of each"),
        ("LpPool", [drawn(1, 2, 6, 6)], {"kernel_shape": [2, 2], "p": 0}, "p is 0; expected at least 1"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"strides": [0, 1]}, "numbers of at least 1"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"auto_pad": "ALL"}, "auto_pad is 'ALL'; expected NOTSET"),
        ("Conv", [drawn(1, 2, 2, 2), drawn(4, 2, 3, 3)], {}, "the kernel takes 3 places and X has 2"),
        ("Conv", [drawn(1, 2, 6, 6), drawn(4, 2, 3, 3)], {"kernel_shape": [2, 2]}, "W has a kernel of"),
        ("MaxPool", [drawn(1, 2, 6, 6)], {"kernel_shape": [2]}, "kernel_shape has 1 numbers; expected 2"),
        ("MaxPool", [drawn(1, 2, 6, 6)], {"kernel_shape": [2, 2], "pads": [2, 0, 0, 0]}, "less than the window"),
        ("ConvTranspose", [drawn(1, 3, 6, 6), drawn(2, 2, 3, 3)], {}, "expected 2 channels in X"),
    ]
    for op, operands, options, text in cases:
        model, given = node_model(op, operands, **options)
        with pytest.raises(OnnxError, match=text):
            computed(typed(model, operands[:1]), given)
