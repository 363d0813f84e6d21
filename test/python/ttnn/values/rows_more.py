# SPDX-License-Identifier: Apache-2.0
"""Calls that bound, copy or reinterpret values, and convolutions of prepared weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import of
from rows_attention import INF
from rows_updates import changed
from rows_windows import conv2d, conv2d_row, conv3d, conv3d_row, conv_transpose2d, transpose_row
from value_rows import ALL, FLOATS, NUMBERS, WIDE, Rows

Tensor = torch.Tensor
NAN = float("nan")
SPECIAL = torch.tensor([[NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 2.0, -2.0]])


def clamp(input_tensor: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return torch.clamp(input_tensor, min, max)


CLAMPS: list[dict[str, Any]] = [
    {"input_tensor": x, **bounds} for x in (of(3, 37), SPECIAL, of(1), of(0, 3))
    for bounds in ({"min": -1.0, "max": 1.0}, {"min": 0.0}, {"max": 0.0}, {"min": 1.0, "max": -1.0})
] + [{"input_tensor": of(3, 37), "min": of(3, 37), "max": of(3, 37)}]  # fmt: skip


def plan(weight_tensor: Any, device: Any, **own: Any) -> dict[str, Any]:
    """Returns arguments of functions that prepare weights, from those of a convolution."""
    names = ("in_channels", "out_channels", "batch_size", "input_height", "input_width", "kernel_size", "stride",
             "padding", "dilation", "groups")  # fmt: skip
    kept = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, **own}
    return {name: kept[name] for name in names} | {
        "input_memory_config": ttnn.DRAM_MEMORY_CONFIG, "input_layout": ttnn.ROW_MAJOR_LAYOUT, "device": device,
        "input_dtype": weight_tensor.dtype}  # fmt: skip


def prepared(name: str, weights: Callable[..., Any], weights_format: str) -> Callable[..., Any]:
    """Returns a call of a convolution whose weights and bias were prepared on the host."""

    def call(input_tensor: Any, weight_tensor: Any, bias_tensor: Any = None, **own: Any) -> Any:
        device = input_tensor.device()
        how = plan(weight_tensor, device, **own)
        more = {"output_padding": (0, 0)} if name == "conv_transpose2d" else {}
        ready = weights(weight_tensor=ttnn.from_device(weight_tensor), weights_format=weights_format,
                        has_bias=bias_tensor is not None, **how, **more)  # fmt: skip
        bias = None
        if bias_tensor is not None and name == "conv2d":
            bias = ttnn.prepare_conv_bias(bias_tensor=ttnn.from_device(bias_tensor), **how)
        elif bias_tensor is not None:
            bias = ttnn.prepare_conv_transpose2d_bias(bias_tensor=ttnn.from_device(bias_tensor), **how)
        return getattr(ttnn, name)(
            input_tensor=input_tensor, weight_tensor=ready, bias_tensor=bias, device=device, **own
        )

    return call


def prepared_volume(input_tensor: Any, weight_tensor: Any, dtype: Any = None, **own: Any) -> Any:
    ready = ttnn.experimental.prepare_conv3d_weights(
        weight_tensor=ttnn.from_device(weight_tensor), device=input_tensor.device()
    )
    return ttnn.experimental.conv3d(
        input_tensor=input_tensor, weight_tensor=ready, dtype=input_tensor.dtype, device=input_tensor.device(), **own
    )


def scores(input_tensor_q: Tensor, input_tensor_k: Tensor, weights: Tensor, chunk_start_idx: int = 0) -> Tensor:
    """Returns weighted sums over heads of positive scores; -inf at keys after a query."""
    each = (input_tensor_q @ input_tensor_k.mT).clamp_min(0) * weights
    later = torch.arange(input_tensor_k.shape[2]) > chunk_start_idx + torch.arange(input_tensor_q.shape[2])[:, None]
    return each.sum(1, keepdim=True).masked_fill(later, -INF)


CONV2D = [conv2d_row(2, 7, 9, 5, 6, 3, True), conv2d_row(1, 8, 8, 16, 33, 3, stride=(2, 2), padding=(1, 1)),
          conv2d_row(1, 6, 7, 6, 9, 3, True, groups=3)]  # fmt: skip
TURNED = [transpose_row(1, 4, 4, 16, 8, 2, True, stride=(2, 2)), transpose_row(2, 5, 6, 5, 7, 3)]

TABLE: dict[str, Rows] = {
    "clamp": Rows(clamp, NUMBERS, CLAMPS),
    "clip": Rows(clamp, NUMBERS, CLAMPS),
    "leaky_relu": Rows(
        lambda input_tensor, negative_slope: F.leaky_relu(input_tensor, negative_slope), FLOATS, [
            {"input_tensor": x, "negative_slope": slope} for x in (of(3, 37), SPECIAL, of(1), of(0, 3))
            for slope in (0.01, 0.5, 0.0)]),
    "bitcast": Rows(lambda input_tensor, dtype: input_tensor.float().view(torch.int32), "f32", [
        {"input_tensor": x, "dtype": ttnn.int32} for x in (of(3, 37), SPECIAL, of(1), of(0, 3))]),
    "copy": Rows(lambda input_a, input_b: input_a, ALL, [
        {"input_a": x, "input_b": x} for x in (of(3, 37), of(1), of(0, 3))], call=changed("copy", "input_b")),
    "prepare_conv_weights": Rows(conv2d, WIDE, CONV2D, call=prepared("conv2d", ttnn.prepare_conv_weights, "OIHW")),
    "prepare_conv_bias": Rows(conv2d, WIDE, CONV2D[:1], call=prepared("conv2d", ttnn.prepare_conv_weights, "OIHW")),
    **{name: Rows(conv_transpose2d, WIDE, TURNED,
                  call=prepared("conv_transpose2d", ttnn.prepare_conv_transpose2d_weights, "IOHW"))
       for name in ("prepare_conv_transpose2d_weights", "prepare_conv_transpose2d_bias")},
    "experimental.prepare_conv3d_weights": Rows(conv3d, WIDE, [conv3d_row(1, (4, 5, 6), 3, 5, 3)],
                                                call=prepared_volume),
    "indexer_score_dsa": Rows(scores, WIDE, [
        {"input_tensor_q": of(1, 4, 33, 32), "input_tensor_k": of(1, 1, 64, 32), "weights": of(1, 4, 33, 1),
         "chunk_start_idx": start} for start in (0, 31)], 2),
}  # fmt: skip
