# SPDX-License-Identifier: Apache-2.0
"""Each op of pybuda.op against NumPy, and at the limits of its attributes: sizes of 0, operands of rank 0, NaN."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pybuda
import pytest
import torch
from modules import Function, read
from pybuda import op, op_repo
from pybuda.op_repo import (
    OperatorDefinition,
    OperatorRepository,
    ShapeCalculationContext,
    pybuda_operator_repository,
    pytorch_operator_repository,
)
from scipy.special import erf

A = np.linspace(-2, 2, 48, dtype=np.float32).reshape(1, 2, 4, 6)
C = np.sin(np.arange(48, dtype=np.float32)).reshape(1, 2, 4, 6)
POSITIVE = np.abs(A) + 0.5
ZEROS = np.array([[-1.0, 0.0, 2.0]], np.float32)
IMAGE = np.cos(np.arange(2 * 3 * 5 * 6, dtype=np.float32)).reshape(2, 3, 5, 6)
KERNEL = np.sin(np.arange(4 * 3 * 3 * 2, dtype=np.float32) / 5).reshape(4, 3, 3, 2)
BIAS = np.array([1.0, -2.0, 0.5, 3.0], np.float32)


def window(
    x: np.ndarray, size: tuple[int, int], stride: tuple[int, int], sides: Sequence[int], reduce: Callable[..., Any],
    fill: float = 0.0, dilation: int = 1,
) -> np.ndarray:  # fmt: skip
    """reduce(part, i, j) of each window; sides: left, right, top, bottom."""
    left, right, top, bottom = sides
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    reach = [(n - 1) * dilation + 1 for n in size]
    rows = range(0, x.shape[2] - reach[0] + 1, stride[0])
    columns = range(0, x.shape[3] - reach[1] + 1, stride[1])
    parts = [[reduce(x[:, :, i : i + reach[0] : dilation, j : j + reach[1] : dilation]) for j in columns] for i in rows]
    return np.moveaxis(np.array(parts), (0, 1), (2, 3))


def convolution(x: np.ndarray, sides: Sequence[int], stride: int = 1, dilation: int = 1) -> np.ndarray:
    size = KERNEL.shape[2], KERNEL.shape[3]
    product = lambda part: np.einsum("nchw,ochw->no", part, KERNEL) + BIAS  # noqa: E731
    return window(x, size, (stride, stride), sides, product, dilation=dilation)


def transposed(x: np.ndarray, kernel: np.ndarray, stride: int) -> np.ndarray:
    n, _, h, w = x.shape
    whole = np.zeros((n, kernel.shape[1], (h - 1) * stride + kernel.shape[2], (w - 1) * stride + kernel.shape[3]))
    for i in range(h):
        for j in range(w):
            part = np.einsum("nc,cohw->nohw", x[:, :, i, j], kernel)
            whole[:, :, i * stride : i * stride + kernel.shape[2], j * stride : j * stride + kernel.shape[3]] += part
    return whole


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normalized(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def volume(
    x: np.ndarray, size: tuple[int, int, int], sides: Sequence[int], reduce: Callable[..., Any], fill: float = 0.0
) -> np.ndarray:
    """reduce(part) of each window of three dimensions. sides: before and after, for all three."""
    x = np.pad(x, ((0, 0), (0, 0), *(((sides[0], sides[1]),) * 3)), constant_values=fill)
    parts = np.lib.stride_tricks.sliding_window_view(x, size, (2, 3, 4))
    return reduce(parts)


def quantized(x: np.ndarray, scale: np.ndarray | float, zero: int, low: int, high: int) -> np.ndarray:
    return np.clip(np.rint(x / scale) + zero, low, high)


def dropped(x: np.ndarray, p: float, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(x.shape, np.float32) >= p, x / (1 - p), 0)


CUBE = np.cos(np.arange(1 * 2 * 3 * 4 * 5, dtype=np.float32)).reshape(1, 2, 3, 4, 5)
CUBE_KERNEL = np.sin(np.arange(3 * 2 * 27, dtype=np.float32)).reshape(3, 2, 3, 3, 3)
CODES = np.arange(-12, 12, dtype=np.int8).reshape(1, 2, 3, 4)

# (the op, the result, the operands)
Case = tuple[Callable[..., Any], Any, Sequence[np.ndarray]]
CASES: dict[str, Case] = {
    "Add": (lambda x, y: op.Add("", x, y), A + C, [A, C]),
    "Subtract": (lambda x, y: op.Subtract("", x, y), A - C, [A, C]),
    "Multiply": (lambda x, y: op.Multiply("", x, y), A * C[:, :1], [A, C[:, :1]]),
    "Divide": (lambda x, y: op.Divide("", x, y), C / POSITIVE, [C, POSITIVE]),
    "Max": (lambda x, y: op.Max("", x, y), np.maximum(A, C), [A, C]),
    "Min": (lambda x, y: op.Min("", x, y), np.minimum(A, C), [A, C]),
    "Power": (lambda x, y: op.Power("", x, y), POSITIVE**C, [POSITIVE, C]),
    "Heaviside": (lambda x, y: op.Heaviside("", x, y), [[0, 7, 1]], [ZEROS, np.full((1, 3), 7, np.float32)]),
    "Greater": (lambda x, y: op.Greater("", x, y), A > C, [A, C]),
    "GreaterEqual": (lambda x, y: op.GreaterEqual("", x, y), [[0, 1, 1]], [ZEROS, ZEROS * 0]),
    "Less": (lambda x, y: op.Less("", x, y), A < C, [A, C]),
    "LessEqual": (lambda x, y: op.LessEqual("", x, y), [[1, 1, 0]], [ZEROS, ZEROS * 0]),
    "Equal": (lambda x, y: op.Equal("", x, y), [[0, 1, 0]], [ZEROS, ZEROS * 0]),
    "NotEqual": (lambda x, y: op.NotEqual("", x, y), [[1, 0, 1]], [ZEROS, ZEROS * 0]),
    "LogicalNot": (lambda x: op.LogicalNot("", x), [[0, 1, 0]], [ZEROS]),
    "Exp": (lambda x: op.Exp("", x), np.exp(A), [A]),
    "Log": (lambda x: op.Log("", x), np.log(POSITIVE), [POSITIVE]),
    "Sqrt": (lambda x: op.Sqrt("", x), np.sqrt(POSITIVE), [POSITIVE]),
    "Abs": (lambda x: op.Abs("", x), np.abs(A), [A]),
    "Reciprocal": (lambda x: op.Reciprocal("", x), 1 / POSITIVE, [POSITIVE]),
    "Sigmoid": (lambda x: op.Sigmoid("", x), 1 / (1 + np.exp(-A)), [A]),
    "Tanh": (lambda x: op.Tanh("", x), np.tanh(A), [A]),
    "Sine": (lambda x: op.Sine("", x), np.sin(A), [A]),
    "Cosine": (lambda x: op.Cosine("", x), np.cos(A), [A]),
    "Buffer": (lambda x: op.Buffer("", x), A, [A]),
    "Identity": (lambda x: op.Identity("", x), A, [A]),
    "Identity unsqueeze": (lambda x: op.Identity("", x, "unsqueeze", 1), A[:, None], [A]),
    "Matmul": (lambda x, y: op.Matmul("", x, y), A @ C.transpose(0, 1, 3, 2), [A, C.transpose(0, 1, 3, 2)]),
    "Matmul bias": (
        lambda x, y, b: op.Matmul("", x, y, b), A @ C[0, 0].T + BIAS, [A, C[0, 0].T, BIAS],
    ),
    "Constant": (lambda x: op.Subtract("", op.Constant("c", constant=2.5), x), 2.5 - A, [A]),
    "numbers": (lambda x: 2 - x * 3 + 1.5, 3.5 - A * 3, [A]),
    "ReduceSum": (lambda x: op.ReduceSum("", x, -1), A.sum(-1, keepdims=True), [A]),
    "ReduceAvg": (lambda x: op.ReduceAvg("", x, 1), A.mean(1, keepdims=True), [A]),
    "ReduceMax": (lambda x: op.ReduceMax("", x, -2), C.max(-2, keepdims=True), [C]),
    "Argmax": (lambda x: op.Argmax("", x, -1), C.argmax(-1)[..., None], [C]),
    "Argmax all": (lambda x: op.Argmax("", x), [C.argmax()], [C]),
    "Clip": (lambda x: op.Clip("", x, -0.5, 1.0), np.clip(A, -0.5, 1.0), [A]),
    "Relu": (lambda x: op.Relu("", x), np.maximum(A, 0), [A]),
    "Relu threshold": (lambda x: op.Relu("", x, 0.7), np.where(A > 0.7, A, 0), [A]),
    "Relu max": (lambda x: op.Relu("", x, 0.7, "max"), np.minimum(A, 0.7), [A]),
    "LeakyRelu": (lambda x: op.LeakyRelu("", x, 0.1), np.where(A > 0, A, 0.1 * A), [A]),
    "Gelu": (lambda x: op.Gelu("", x), A * (1 + erf(A / np.sqrt(2))) / 2, [A]),
    "Gelu tanh": (lambda x: op.Gelu("", x, "tanh"), gelu_tanh(A), [A]),
    "HSlice": (lambda x: op.HSlice("", x, 3), np.concatenate(np.split(A, 3, -1), -3), [A]),
    "HSlice rank 2": (lambda x: op.HSlice("", x, 2), np.stack(np.split(A[0, 0], 2, -1)), [A[0, 0]]),
    "VSlice": (lambda x: op.VSlice("", x, 2), np.concatenate(np.split(A, 2, -2), -3), [A]),
    "HStack": (lambda x: op.HStack("", x), np.concatenate([A[:, :1], A[:, 1:]], -1), [A]),
    "VStack": (lambda x: op.VStack("", x, 2), np.concatenate([A[:, :1], A[:, 1:]], -2), [A]),
    "Transpose": (lambda x: op.Transpose("", x, 1, 3), A.swapaxes(1, 3), [A]),
    "Reshape": (lambda x: op.Reshape("", x, (4, 12)), A.reshape(4, 12), [A]),
    "Index": (lambda x: op.Index("", x, -1, 1, 6, 2), A[..., 1:6:2], [A]),
    "Index one": (lambda x: op.Index("", x, 2, -1), A[:, :, 3:], [A]),
    "Select": (lambda x: op.Select("", x, 3, (1, 4)), A[..., 1:5], [A]),
    "Select stride": (lambda x: op.Select("", x, 3, (0, 2), 3), A[..., [0, 1, 3, 4]], [A]),
    "Pad": (lambda x: op.Pad("", x, (1, 2)), np.pad(A, [(0, 0)] * 3 + [(1, 2)]), [A]),
    "Pad reflect": (
        lambda x: op.Pad("", x, (1, 2, 3, 0), "reflect"),
        np.pad(A, [(0, 0), (0, 0), (3, 0), (1, 2)], mode="reflect"), [A],
    ),
    "Pad channel last": (
        lambda x: op.Pad("", x, (1, 2), channel_last=True), np.pad(A, [(0, 0), (0, 0), (1, 2), (0, 0)]), [A],
    ),
    "PadTile": (lambda x: op.PadTile("", x, -1, 6), np.pad(A, [(0, 0)] * 3 + [(0, 26)]), [A]),
    "Concatenate": (lambda x, y, z: op.Concatenate("", x, y, z, axis=1), np.concatenate([A, C, A], 1), [A, C, A]),
    "BinaryStack": (
        lambda x, y: op.BinaryStack("", x, y, -1), np.stack([A, C], -1).reshape(1, 2, 4, 12), [A, C],
    ),
    "BinaryStack 1": (
        lambda x, y: op.BinaryStack("", x, y, 1), np.stack([A, C], 2).reshape(1, 4, 4, 6), [A, C],
    ),
    "Repeat": (lambda x: op.Repeat("", x, (1, 2, 1, 3)), np.tile(A, (1, 2, 1, 3)), [A]),
    "Broadcast": (lambda x: op.Broadcast("", x, 0, 3), np.broadcast_to(A, (3, 2, 4, 6)), [A]),
    "Unsqueeze": (lambda x: op.Unsqueeze("", x, 2), A[:, :, None], [A]),
    "Squeeze": (lambda x: op.Squeeze("", x, 0), A[0], [A]),
    "AdvIndex": (lambda x, i: op.AdvIndex("", x, i), A[0, 0][[2, 0]], [A[0, 0], np.array([2, 0], np.int32)]),
    "Embedding": (lambda i, x: op.Embedding("", i, x), A[0, 0][[[3, 1]]], [np.array([[3, 1]], np.int32), A[0, 0]]),
    "Softmax": (lambda x: op.Softmax("", x, dim=-1), softmax(A), [A]),
    "Softmax unstable": (lambda x: op.Softmax("", x, dim=-1, stable=False), softmax(A), [A]),
    "LogSoftmax": (lambda x: op.LogSoftmax("", x, dim=-1), np.log(softmax(A)), [A]),
    "Layernorm": (
        lambda x, w, b: op.Layernorm("", x, w, b), normalized(C) * A[0, 0, 0] + A[0, 0, 1], [C, A[0, 0, 0], A[0, 0, 1]],
    ),
    "Linear": (lambda x, w, b: op.Linear("", x, w, b), A @ C[0, 0].T + BIAS, [A, C[0, 0].T, BIAS]),
    "Conv2d same": (
        lambda x, w, b: op.Conv2d("", x, w, b), convolution(IMAGE, (0, 1, 1, 1)), [IMAGE, KERNEL, BIAS],
    ),
    "Conv2d": (
        lambda x, w, b: op.Conv2d("", x, w, b, stride=2, padding=1, dilation=2),
        convolution(IMAGE, (1, 1, 1, 1), 2, 2), [IMAGE, KERNEL, BIAS],
    ),
    "Conv2d channel last": (
        lambda x, w, b: op.Conv2d("", x, w, b, padding=[1, 0, 2, 1], channel_last=True),
        convolution(IMAGE, (1, 0, 2, 1)).transpose(0, 2, 3, 1), [IMAGE.transpose(0, 2, 3, 1), KERNEL, BIAS],
    ),
    "Conv2dTranspose": (
        lambda x, w: op.Conv2dTranspose("", x, w, stride=2, padding=0),
        transposed(IMAGE, KERNEL[:3, :2], 2), [IMAGE, KERNEL[:3, :2]],
    ),
    "Conv2dTranspose same": (
        lambda x, w: op.Conv2dTranspose("", x, w, stride=2),
        transposed(IMAGE, KERNEL[:3, :2], 2)[:, :, :10], [IMAGE, KERNEL[:3, :2]],
    ),
    "MaxPool2d": (
        lambda x: op.MaxPool2d("", x, 2, stride=2, padding=0),
        window(IMAGE, (2, 2), (2, 2), (0, 0, 0, 0), lambda p: p.max((2, 3))), [IMAGE],
    ),
    "MaxPool2d same": (
        lambda x: op.MaxPool2d("", x, (3, 2), max_pool_add_sub_surround=True),
        window(IMAGE, (3, 2), (1, 1), (0, 1, 1, 1), lambda p: p.max((2, 3)), -np.inf), [IMAGE],
    ),
    "AvgPool2d": (
        lambda x: op.AvgPool2d("", x, 2, stride=2, padding=0),
        window(IMAGE, (2, 2), (2, 2), (0, 0, 0, 0), lambda p: p.mean((2, 3))), [IMAGE],
    ),
    "AvgPool2d divisor": (
        lambda x: op.AvgPool2d("", x, 2, divisor_override=3.0),
        window(IMAGE, (2, 2), (1, 1), (0, 1, 0, 1), lambda p: p.sum((2, 3)) / 3), [IMAGE],
    ),
    "AvgPool2d divisor at edges": (
        lambda x: op.AvgPool2d("", x, 2, stride=2, padding=0, ceil_mode=True, divisor_override=2),
        window(IMAGE, (2, 2), (2, 2), (0, 0, 0, 1), lambda p: p.sum((2, 3)) / 2), [IMAGE],
    ),
    "AvgPool2d without borders": (
        lambda x: op.AvgPool2d("", x, 2, count_include_pad=False),
        window(IMAGE, (2, 2), (1, 1), (0, 1, 0, 1), lambda p: np.nanmean(p, (2, 3)), np.nan), [IMAGE],
    ),
    "LogicalAnd": (lambda x, y: op.LogicalAnd("", x, y), [[0, 0, 1]], [ZEROS, np.array([[0, 1, -3]], np.float32)]),
    "Tilize": (lambda x: op.Tilize("", x), A, [A]),
    "Pow": (lambda x: op.Pow("", x, -1.5), POSITIVE**-1.5, [POSITIVE]),
    "CumSum": (lambda x: op.CumSum("", x, -2), A.cumsum(-2), [A]),
    "CumSum exclusive": (lambda x: op.CumSum("", x, 3, True), A.cumsum(3) - A, [A]),
    "Where": (lambda c, x, y: op.Where("", c, x, y), np.where(A > 0, C, 7 * C), [np.float32(A > 0), C, 7 * C]),
    "Dropout": (lambda x: op.Dropout("", x, 0.25, seed=7), dropped(A, 0.25, 7), [A]),
    "Dropout inference": (lambda x: op.Dropout("", x, 0.25, training=False), A, [A]),
    "Dropout all": (lambda x: op.Dropout("", x, 1.0), A * 0, [A]),
    "GroupedReduceAvg": (lambda x: op.GroupedReduceAvg("", x, -1, 2), A.reshape(1, 2, 4, 2, 3).mean(-1), [A]),
    "GroupedReduceAvg keep": (
        lambda x: op.GroupedReduceAvg("", x, 2, 2, True), A.reshape(1, 2, 2, 2, 6).mean(3).repeat(2, 2), [A],
    ),
    "ReduceMax stride": (lambda x: op.ReduceMax("", x, -1, 3), C.reshape(1, 2, 4, 2, 3).max(-1), [C]),
    "SparseMatmul": (
        lambda x, y: op.SparseMatmul("", x, y), np.eye(4)[[2, 0, 3]] @ A, [np.eye(4, dtype=np.float32)[[2, 0, 3]], A],
    ),
    "Stack": (lambda x, y: op.Stack("", x, y, axis=1), np.stack([A, C], 1), [A, C]),
    "Interleave": (
        lambda x, y: op.Interleave("", x, y, axis=-3, stride=1),
        np.stack([A[:, 0], C[:, 0], A[:, 1], C[:, 1]], 1), [A, C],
    ),
    "Narrow": (lambda x: op.Narrow("", x, 3, 2, 3, 6), A[..., 2:5], [A]),
    "IndexCopy": (
        lambda x, i, v: op.IndexCopy("", x, i, v, 2),
        np.concatenate([A[:, :, :1], C[:, :, 1:2], A[:, :, 2:3], C[:, :, :1]], 2),
        [A, np.array([3, 1], np.int32), C[:, :, :2]],
    ),
    "PixelShuffle": (
        lambda x: op.PixelShuffle("", x, 2),
        np.arange(24).reshape(1, 4, 2, 3).reshape(1, 1, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 1, 4, 6),
        [np.arange(24, dtype=np.float32).reshape(1, 4, 2, 3)],
    ),
    "BudaPad": (
        lambda x: op.BudaPad("", x, (1, 0), 2.0),
        np.pad(np.pad(A, [(0, 0), (0, 0), (0, 28), (0, 0)]), [(0, 0), (0, 0), (0, 32), (0, 0)], constant_values=2), [A],
    ),
    "BudaUnpad": (
        lambda x: op.BudaUnpad("", x, (4, 6), (1, 0)), A, [np.pad(A, [(0, 0), (0, 0), (0, 60), (0, 0)])],
    ),
    "DRAMQueue": (lambda x: op.DRAMQueue("", x, num_entries=2), A, [A]),
    "Batchnorm": (
        lambda x, w, b, m, v: op.Batchnorm("", x, w, b, m, v),
        (A - BIAS[:2, None, None]) / np.sqrt(POSITIVE[0, 0, 0, :2, None, None] + 1e-5) * 2 + 3,
        [A, np.full(2, 2, np.float32), np.full(2, 3, np.float32), BIAS[:2], POSITIVE[0, 0, 0, :2]],
    ),
    "Quantize": (
        lambda x, s: op.Quantize("", x, s, 3, -1, torch.int8), quantized(A, 0.0078125, 3, -128, 127),
        [A, np.array([0.0078125], np.float32)],
    ),
    "Quantize channels": (
        lambda x, s: op.Quantize("", x, s, 0, 1, torch.int32),
        quantized(A, np.array([0.25, 0.5])[:, None, None], 0, -(2**31), 2**31 - 1),
        [A, np.array([0.25, 0.5], np.float32)],
    ),
    "Dequantize": (
        lambda x, s: op.Dequantize("", x, s, 5), (CODES.astype(np.float32) - 5) * 0.25,
        [CODES, np.array([0.25], np.float32)],
    ),
    "Requantize": (
        lambda x, s, t: op.Requantize("", x, s, t, 1, -100, torch.int8),
        quantized((CODES.astype(np.float32) - 1) * 4, 1, -100, -128, 127),
        [CODES, np.array([2], np.float32), np.array([0.5], np.float32)],
    ),
    "BudaRequantize": (
        lambda x, s: op.BudaRequantize("", x, s, 2, torch.int8, rounding="UPWARD"),
        np.floor(CODES.astype(np.float32) * 0.5 + 0.5) + 2, [CODES, np.array([0.5], np.float32)],
    ),
    "Conv3d": (
        lambda x, w: op.Conv3d("", x, w),
        volume(CUBE, (3, 3, 3), (1, 1), lambda p: np.einsum("ncdhwijk,ocijk->nodhw", p, CUBE_KERNEL)),
        [CUBE, CUBE_KERNEL],
    ),
    "MaxPool3d": (
        lambda x: op.MaxPool3d("", x, 3, padding=[1, 1, 1, 1, 1, 1]),
        volume(CUBE, (3, 3, 3), (1, 1), lambda p: p.max((-1, -2, -3)), -np.inf), [CUBE],
    ),
    "MaxPool1d": (lambda x: op.MaxPool1d("", x, 2, 2), C[0].reshape(2, 4, 3, 2).max(-1), [C[0]]),
    "AvgPool1d": (lambda x: op.AvgPool1d("", x, 3, 3, 0), C[0].reshape(2, 4, 2, 3).mean(-1), [C[0]]),
    "AvgPool1d same": (
        lambda x: op.AvgPool1d("", x, 2, count_include_pad=False),
        np.concatenate([(C[0][..., :-1] + C[0][..., 1:]) / 2, C[0][..., -1:]], -1), [C[0]],
    ),
    "Resize2d": (lambda x: op.Resize2d("", x, [8, 6]), A.repeat(2, 2), [A]),
    "Resize2d corners": (
        lambda x: op.Resize2d("", x, [4, 11], "linear", align_corners=True),
        np.apply_along_axis(lambda row: np.interp(np.linspace(0, 5, 11), np.arange(6), row), 3, A), [A],
    ),
    "Resize3d": (lambda x: op.Resize3d("", x, [6, 4, 10]), CUBE.repeat(2, 2).repeat(2, 4), [CUBE]),
}  # fmt: skip


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, want, operands = CASES[name]
    (got,) = Function("op", function).run(*(torch.from_numpy(np.ascontiguousarray(x)) for x in operands))
    want = np.asarray(want)
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.value().numpy(), want, rtol=2e-4, atol=2e-5)


def test_every_op_has_a_case() -> None:
    known = {name for name in pybuda.op.OPS if not name.startswith("_")}
    assert known == {name.split()[0] for name in CASES} - {"numbers"}


# (a call, what the error says)
WRONG = {
    "operand": (lambda x: op.Exp("e", 3.0), "pybuda.op.Exp 'e': operandA is float; expected a pybuda.Tensor"),
    "missing": (lambda x: op.Add("a", x), "pybuda.op.Add: missing a required argument: 'operandB'"),
    "name": (lambda x: op.Exp(x, x), "pybuda.op.Exp: name is Tensor; expected text"),
    "shapes": (lambda x: op.Matmul("m", x, x), r"pybuda.op.Matmul 'm': .*\(operands \[2, 6\], \[2, 6\]\)"),
    "slices": (lambda x: op.HSlice("h", x, 4), "slices is 4; expected a divisor of the size of dimension -1, 6"),
    "range": (lambda x: op.Index("i", x, 1, 4, 9), r"positions 4 to 9 \(exclusive\) of dimension 1; it has 6"),
    "dimension": (
        lambda x: op.Softmax("s", x, dim=5),
        "pybuda.op.Softmax 's': dim is 5; expected -2 to 1",
    ),
    "clip": (lambda x: op.Clip("c", x, 2.0, 1.0), "min is 2.0 and max is 1.0; expected"),
    "pad": (lambda x: op.Pad("p", x, (1, 2, 3)), "expected \\(left, right\\)"),
    "mode": (lambda x: op.Relu("r", x, mode="top"), "mode is 'top'; expected 'min' or 'max'"),
    "indices": (lambda x: op.MaxPool2d("m", x, 2, return_indices=True), "return_indices is True"),
    "rank": (lambda x: op.MaxPool2d("m", x, 2), "activations have rank 2; expected 4"),
    "twice": (lambda x: op.Exp("e", op.Exp("e", x)), "module 'wrong' has two ops named 'e'"),
    "squeeze": (lambda x: op.Squeeze("s", x, 0), "dimension 0 has size 2; expected 1"),
    "result": (lambda x: 3, "forward of module 'wrong' returns int as result 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name: str) -> None:
    call, text = WRONG[name]
    with pytest.raises((pybuda.PyBudaError, TypeError), match=text):
        Function("wrong", call).run(torch.ones(2, 6))


def test_an_op_outside_of_a_module() -> None:
    with pytest.raises(pybuda.PyBudaError, match=r"pybuda.op.Exp 'e' is called outside of a module's forward"):
        op.Exp("e", pybuda.Tensor(torch.ones(2)))


#
# Limits
#

PIXELS = torch.ones(1, 1, 5, 5)
TAPS = torch.ones(1, 1, 2, 2)
SCALAR = torch.tensor(1.0)

# (op, operands, what the error says)
REFUSED: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], str]] = {
    "stride of Conv2d": (lambda x, w: op.Conv2d("op", x, w, stride=0), (PIXELS, TAPS), "stride is 0; expected 1"),
    "stride of MaxPool2d": (lambda x: op.MaxPool2d("op", x, 2, stride=0), (PIXELS,), "stride is 0; expected 1"),
    "divisor": (
        lambda x: op.AvgPool2d("op", x, 2, divisor_override=0), (PIXELS,), "divisor_override is 0; expected another",
    ),
    "Clip without a number": (
        lambda x: op.Clip("op", x, math.nan, 1.0), (PIXELS,), "min is nan and max is 1.0; expected",
    ),
    "PadTile of rank 0": (lambda x: op.PadTile("op", x, 0, 1), (SCALAR,), "the operand has rank 0; expected 1"),
    "PadTile of another size": (
        lambda x: op.PadTile("op", x, 1, 40), (torch.ones(2, 6),), "original_length is 40; dimension 1 has size 6",
    ),
    "groups": (
        lambda x: op.GroupedReduceAvg("op", x, -1, 3), (PIXELS,), "groups is 3; expected a divisor of the size of",
    ),
    "stride of ReduceMax": (lambda x: op.ReduceMax("op", x, -1, 2), (PIXELS,), "stride is 2; expected a divisor of"),
    "stride of Interleave": (
        lambda x: op.Interleave("op", x, x, axis=-1, stride=0), (PIXELS,), "stride is 0; expected a divisor of",
    ),
    "p": (lambda x: op.Dropout("op", x, 1.5), (PIXELS,), "p is 1.5; expected 0 to 1"),
    "tiles": (lambda x: op.BudaPad("op", x, (1,), 0.0), (PIXELS,), "paddings is (1,); expected numbers of tiles"),
    "unpad": (
        lambda x: op.BudaUnpad("op", x, (5, 5), (1, 0)), (PIXELS,),
        "dimension -2 has size 5; expected 64 of 5 and 1 ti",
    ),
    "entries": (lambda x: op.DRAMQueue("op", x, num_entries=0), (PIXELS,), "num_entries is 0; expected 1 or more"),
    "scale": (
        lambda x, s: op.Quantize("op", x, s, 0, 1, torch.int8), (PIXELS, torch.ones(3)),
        "the scale has 3 elements; expected 1, or 1 of dimension 1",
    ),
    "type of integers": (
        lambda x, s: op.Quantize("op", x, s, 0, 1, torch.int16), (PIXELS, torch.ones(1)), "out_dtype is torch.int16",
    ),
    "rounding": (
        lambda x, s: op.BudaRequantize("op", x, s, 0, torch.int8, rounding="up"), (PIXELS, torch.ones(1)),
        "rounding is 'up'; expected one of",
    ),
    "method": (lambda x: op.Resize2d("op", x, [2, 2], "cubic"), (PIXELS,), "method is 'cubic'; expected"),
    "method of Resize3d": (
        lambda x: op.Resize3d("op", x, [2, 2, 2], "linear"), (PIXELS[None],), "method is 'linear'; expected 'nearest",
    ),
    "BinaryStack of rank 0": (
        lambda a, b: op.BinaryStack("op", a, b, 0), (SCALAR, SCALAR), "the operand has rank 0; expected 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, operands, message = REFUSED[name]
    with pytest.raises(pybuda.PyBudaError, match=rf"pybuda\.op\.\w+ 'op': {re.escape(message)}"):
        read(pybuda.run_inference(Function("limits", function), inputs=[operands]))


# (a module of one op, its input, the function of PyTorch of input, weights and bias that it is)
MODULES: dict[str, tuple[Callable[[], Any], torch.Tensor, Callable[..., torch.Tensor]]] = {
    "Conv2dModule": (
        lambda: op.nn.Conv2dModule("op", 4, 6, (3, 3), 2, [1, 1, 1, 1], groups=2), torch.rand(1, 4, 7, 6),
        lambda x, w, b: torch.nn.functional.conv2d(x, w, b, 2, 1, groups=2),
    ),
    "Conv2dModule t_stream_workaround": (
        lambda: op.nn.Conv2dModule("op", 4, 6, (1, 1), bias=False, t_stream_workaround=True), torch.rand(1, 4, 5, 6),
        lambda x, w, b: torch.nn.functional.conv2d(x, w).flatten(2).mT[None],
    ),
    "ConvTranspose2dModule": (
        lambda: op.nn.ConvTranspose2dModule("op", 4, 6, (2, 2), 2, 0), torch.rand(1, 4, 5, 6),
        lambda x, w, b: torch.nn.functional.conv_transpose2d(x, w, b, 2),
    ),
    "MaxPool1dModule": (
        lambda: op.nn.MaxPool1dModule("op", 2, 2), torch.rand(1, 4, 6), lambda x: torch.nn.functional.max_pool1d(x, 2),
    ),
    "MaxPool2dModule": (
        lambda: op.nn.MaxPool2dModule("op", 2, 2, 0), torch.rand(1, 4, 6, 6),
        lambda x: torch.nn.functional.max_pool2d(x, 2),
    ),
    "AvgPool2dModule": (
        lambda: op.nn.AvgPool2dModule("op", 2, 2, 0), torch.rand(1, 4, 6, 6),
        lambda x: torch.nn.functional.avg_pool2d(x, 2),
    ),
    "SparseMatmulModule": (
        lambda: op.nn.SparseMatmulModule("op", pybuda.Tensor(torch.eye(5).to_sparse())), torch.rand(1, 5, 6),
        lambda x, w: x,
    ),
}  # fmt: skip


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("name", MODULES)
def test_modules_of_one_op(name: str) -> None:
    make, x, function = MODULES[name]
    module = make()
    weights = [getattr(module, key, None) for key in ("weights", "bias") if hasattr(module, key)]
    weights = [module.sparseA] if name == "SparseMatmulModule" else weights
    expected = function(x, *(None if w is None else w.value().detach() for w in weights))
    (result,) = module.run(x)
    assert result.shape == expected.shape
    torch.testing.assert_close(result.value(), expected, rtol=2e-4, atol=2e-5)


def test_wrong_arguments_of_modules() -> None:
    with pytest.raises(pybuda.PyBudaError, match=r"module 'c': kernel_size is \(1, 2, 3\); expected a number, or two"):
        op.nn.Conv2dModule("c", 2, 4, (1, 2, 3))
    assert op.nn.Conv2dModule("c", 2, 4, 3).weights.shape == (4, 2, 3, 3)
    with pytest.raises(pybuda.PyBudaError, match="module 'c': groups is 3; expected a divisor of in_channels, 4"):
        op.nn.Conv2dModule("c", 4, 4, 3, groups=3)
    with pytest.raises(TypeError, match="MaxPool1dModule 'm' gets 7 arguments; expected kernel_size, stride"):
        op.nn.MaxPool1dModule("m", 2, 1, 0, 1, False, False, 7)


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_relu_keeps_nan(threshold: float) -> None:
    x = torch.tensor([[math.nan, math.inf, -math.inf, 0.25, 0.5, 2.0]])
    module = Function("limits", lambda x: op.Relu("relu", x, threshold=threshold))
    (result,) = read(pybuda.run_inference(module, inputs=[(x,)]))
    expected = [0.25, 0.5] if threshold == 0 else [0.0, 0.0]
    assert math.isnan(result[0, 0])
    assert result[0, 1:].tolist() == [math.inf, 0.0, *expected, 2.0]


@pytest.mark.parametrize(
    "repository", [pybuda_operator_repository, pytorch_operator_repository], ids=["pybuda", "torch"]
)
def test_ops_of_repositories_exist(repository: OperatorRepository) -> None:
    for operator in repository.operators:
        found = pybuda if operator.full_name.startswith("pybuda.") else torch
        for part in operator.full_name.split(".")[1:]:
            found = getattr(found, part)
        assert callable(found) and operator.input_num >= 1 and operator.is_operator() != operator.is_layer()
    with pytest.raises(pybuda.PyBudaError, match="no op is called 'nothing'; known: "):
        repository.get_by_name("nothing")


def test_repositories_have_what_generators_ask_for() -> None:
    names = {x.name for x in pybuda_operator_repository.operators}
    assert {"relu", "sqrt", "tanh", "exp", "pow", "add", "matmul", "leaky_relu", "sigmoid", "multiply", "gelu"} <= names
    (exponent,) = pybuda_operator_repository.get_by_name("pow").forward_params
    assert (exponent.name, exponent.min_value, exponent.max_value) == ("exponent", 0, 100)
    assert {"add", "relu", "sqrt", "tanh", "linear", "matmul"} <= {
        x.name for x in pytorch_operator_repository.operators
    }
    assert pytorch_operator_repository.get_by_name("linear").is_layer()
    assert op_repo.TensorShape == tuple[int, ...]


@pytest.mark.parametrize("seed", range(6))
def test_shapes_of_operands_give_the_shape_of_the_result(seed: int) -> None:
    """A model of one op, with operands of the shapes that its description gives."""
    generator = random.Random(seed)
    known = [
        x for x in pybuda_operator_repository.operators
        if x.calc_input_shapes and not x.forward_params and x.name not in ("logical_and",)
    ]  # fmt: skip
    operator: OperatorDefinition = generator.choice(known)
    output = (1, 1, generator.randint(1, 40), generator.randint(1, 40))
    shapes = operator.calc_input_shapes(ShapeCalculationContext(operator, operator.input_num, generator, output))
    assert len(shapes) == operator.input_num

    class Model(pybuda.PyBudaModule):
        def forward(self, *operands: pybuda.Tensor) -> pybuda.Tensor:
            return getattr(pybuda.op, operator.full_name.rpartition(".")[2])("op", *operands)

    torch.manual_seed(seed)
    inputs = [torch.rand(shape) + 0.5 for shape in shapes]
    pybuda.TTDevice("tt0", module=Model("model"))
    (found,) = pybuda.run_inference(inputs=[tuple(inputs)]).get()
    assert tuple(found.value().shape) == output, operator
    pybuda.shutdown()
