# SPDX-License-Identifier: Apache-2.0
"""Resampling, grids and regions of images, compared with onnxruntime and the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttmlir.onnx as tt
from compared import computed
from onnx import TensorProto, helper, numpy_helper
from single import check, node_model, typed
from ttmlir.onnx import OnnxError

TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def drawn(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed + sum(shape))
    if np.dtype(dtype).kind in "iu":
        return generator.integers(0, 200, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_resize(transform: str) -> None:
    x = drawn(2, 3, 5, 6)
    for mode in ("nearest", "linear", "cubic"):
        options: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": transform, "opset": 19}
        for sizes in ([2, 3, 10, 12], [2, 3, 3, 9], [2, 3, 1, 4]):
            check("Resize", [x, None, None, np.array(sizes)], inside=(3,), **options)
        scales = np.array([1, 1, 2, 3], np.float32)
        check("Resize", [x, None, scales], inside=(2,), **options)
        if mode == "cubic":
            check("Resize", [x, None, scales], inside=(2,), cubic_coeff_a=-0.5, exclude_outside=1, **options)
        if mode != "nearest" and transform != "half_pixel_symmetric":
            smaller = np.array([2, 3, 3, 4])
            check("Resize", [x, None, None, smaller], inside=(3,), antialias=1, **options)
        if mode == "nearest":
            for rounding in ROUNDINGS:
                fractions = np.array([2, 3, 7, 4])
                check("Resize", [x, None, None, fractions], inside=(3,), nearest_mode=rounding, **options)


def test_resize_of_versions() -> None:
    x, scales = drawn(1, 2, 4, 5), np.array([1, 1, 1.5, 2], np.float32)
    for mode in ("nearest", "linear"):
        check("Resize", [x, scales], opset=10, inside=(1,), mode=mode)
        check("Resize", [x, np.array([1, 1, 0.6, 0.5], np.float32)], opset=10, inside=(1,), mode=mode)
        check("Upsample", [x, scales], opset=9, inside=(1,), mode=mode)
        check("Upsample", [x], opset=7, mode=mode, scales=scales.tolist())
    none = np.array([], np.float32)
    check("Resize", [x, none, scales], opset=11, inside=(1, 2))
    check("Resize", [x, none, none, np.array([1, 2, 6, 7])], opset=11, inside=(1, 2, 3), mode="linear")
    check("Resize", [x, none, scales], opset=11, inside=(1, 2), coordinate_transformation_mode="tf_half_pixel_for_nn")
    region = np.array([0, 0, 0.1, 0.2, 1, 1, 0.9, 1.2], np.float32)
    for mode in ("nearest", "linear"):
        options: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5}
        check("Resize", [x, region, None, np.array([1, 2, 3, 8])], opset=13, inside=(1, 3), mode=mode, **options)
    for policy in ("not_larger", "not_smaller"):
        options = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
        check("Resize", [x, None, None, np.array([7, 7])], opset=18, inside=(3,), mode="linear", **options)
    half = drawn(1, 2, 4, 5, dtype=np.float16)
    for mode in ("nearest", "linear", "cubic"):
        check("Resize", [half, None, np.array([1, 1, 2, 3], np.float32)], opset=19, inside=(2,), mode=mode,
              oracle="reference")  # fmt: skip
    for dtype in (np.uint8, np.int32):
        small = drawn(1, 2, 4, 5, dtype=dtype)
        check("Resize", [small, None, scales], opset=13, inside=(2,))
        check("Resize", [small, None, scales], opset=13, inside=(2,), mode="linear", off_by=1)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(padding: str) -> None:
    generator = np.random.default_rng(0)
    for aligned in (0, 1):
        for rank, modes in ((2, ("linear", "nearest", "cubic")), (3, ("linear", "nearest"))):
            x = drawn(2, 3, *(4, 5, 6)[:rank])
            grid = generator.uniform(-1.6, 1.6, (2, *(3, 4, 2)[:rank], rank)).astype(np.float32)
            for mode in modes:
                check("GridSample", [x, grid], mode=mode, padding_mode=padding, align_corners=aligned, opset=20)


def test_affine_grid() -> None:
    for size in ([2, 3, 4, 5], [2, 3, 2, 4, 5]):
        theta = drawn(2, len(size) - 2, len(size) - 1)
        for aligned in (0, 1):
            check("AffineGrid", [theta, np.array(size)], opset=20, inside=(1,), align_corners=aligned)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_regions(mode: str) -> None:
    generator = np.random.default_rng(0)
    corners = [generator.uniform(-1, 5, (3, 2)), generator.uniform(4, 12, (3, 2))]
    rois, index = np.concatenate(corners, 1).astype(np.float32), np.array([1, 0, 1])
    x = drawn(2, 3, 8, 9)
    for ratio in (0, 1, 2):
        options: dict[str, Any] = {"mode": mode, "output_height": 2, "output_width": 3, "sampling_ratio": ratio}
        check("RoiAlign", [x, rois, index], opset=10, spatial_scale=0.7, **options)
        for transform in ("half_pixel", "output_half_pixel"):
            check("RoiAlign", [x, rois, index], opset=16, coordinate_transformation_mode=transform, **options)


def test_greatest_of_regions() -> None:
    rois = np.array([[0, 1, 1, 6, 7], [1, 0, 2, 3, 3], [1, 4, 4, 4, 4]], np.float32)
    for scale in (1.0, 0.7):
        check("MaxRoiPool", [drawn(2, 3, 8, 9), rois], pooled_shape=[2, 3], spatial_scale=scale)


def test_errors() -> None:
    x = drawn(1, 2, 4, 5)
    cases: list[tuple[str, list[Any], dict[str, Any], str]] = [
        ("Resize", [x, None, np.array([1, 1, 2, 2], np.float32)], {}, "scales is computed; expected it to be known"),
        ("Resize", [x, None, np.array([2, 2], np.float32)], {"inside": (2,)}, "scales has 2 numbers; expected 4"),
        ("Resize", [x, None, np.array([1, 1, 0, 2], np.float32)], {"inside": (2,)}, "expected numbers above 0"),
        ("GridSample", [x, drawn(1, 2, 2, 3)], {"opset": 20}, "expected a grid"),
        ("RoiAlign", [x, drawn(3, 5), np.zeros(3, np.int64)], {}, r"expected \[n, c, h, w\] and \[r, 4\]"),
        ("NonMaxSuppression", [drawn(1, 2, 4), drawn(1, 1, 2)], {}, "how many boxes are selected depends on the data"),
    ]
    for op, operands, options, text in cases:
        model, given = node_model(op, operands, **options)
        with pytest.raises(OnnxError, match=text):
            computed(typed(model, operands[:1]), given)


def named(nodes: list[Any], dims: list[int | str], weights: dict[str, Any]) -> Any:
    """A model of one input x with named dimensions, and the output y."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


IMAGE: list[int | str] = ["n", 3, "h", "w"]
DOUBLE = np.array([1, 1, 2, 2], np.float32)
OPEN: dict[str, tuple[list[Any], list[int | str], dict[str, Any]]] = {
    mode: ([helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)], IMAGE, {"s": DOUBLE})
    for mode in ("nearest", "linear", "cubic")
} | {
    "fixed result": (
        [helper.make_node("Resize", ["x", "", "", "z"], ["y"], mode="linear", axes=[2, 3])],
        IMAGE,
        {"z": np.array([16, 20])},
    ),
    "as large as another": (
        [
            helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Resize", ["p", "", "", "shape"], ["y"], mode="linear"),
        ],
        IMAGE,
        {},
    ),
    "twice as large": (
        [
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Mul", ["shape", "two"], ["sizes"]),
            helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
        ],
        IMAGE,
        {"two": np.array([1, 1, 2, 2])},
    ),
    "grid": (
        [helper.make_node("GridSample", ["x", "grid"], ["y"])],
        [1, 3, "h", "w"],
        {"grid": np.random.default_rng(0).uniform(-1.2, 1.2, (1, 4, 5, 2)).astype(np.float32)},
    ),
    "convolution and pool": (
        [
            helper.make_node("Conv", ["x", "k"], ["c"], auto_pad="SAME_UPPER", strides=[2, 2]),
            helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
            helper.make_node("LRN", ["p"], ["l"], size=3),
            helper.make_node("InstanceNormalization", ["l", "g", "g"], ["y"]),
        ],
        IMAGE,
        {"k": drawn(4, 3, 3, 3), "g": drawn(4)},
    ),
    "frames": (
        [helper.make_node("STFT", ["x", "step", "window", "length"], ["y"])],
        ["n", "t", 1],
        {"step": np.array(4), "window": drawn(16), "length": np.array(16)},
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_open_sizes(name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    nodes, dims, weights = OPEN[name]
    model = named(nodes, dims, weights)
    program = tt.compile(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for sizes in ({"n": 2, "h": 17, "w": 20, "t": 50}, {"n": 3, "h": 30, "w": 23, "t": 81}):
        x = drawn(*(sizes.get(d, d) for d in dims))
        found = program(x)
        found = found[0] if isinstance(found, list | tuple) else found
        (expected,) = session.run(None, {"x": x})
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert {size.name for size in program.open_sizes} == {d for d in dims if isinstance(d, str)}
