# SPDX-License-Identifier: Apache-2.0
"""Functions of images, experts and single rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from ..library.activations import with_activations
from .frame import UNARY, composite, ops
from .parts import axis_of, part_of


def _ranges(size: int, count: int) -> list[tuple[int, int]]:
    """Returns where the parts of an adaptive pooling begin and end; they may overlap."""
    return [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]


def _adaptive(name: str, reduce: Callable[[Tensor, int], Tensor], doc: str) -> None:
    golden = (
        f"torch.nn.functional.{name}(input_tensor.reshape(batch_size, input_h, input_w, channels).permute(0, 3, 1, 2), "
        "tuple(output_size)).permute(0, 2, 3, 1).reshape(1, 1, -1, channels)"
    )

    def compute(
        input_tensor: Tensor,
        batch_size: int,
        input_h: int,
        input_w: int,
        channels: int,
        output_size: Sequence[int],
        *,
        dram_slice_config: Any = None,
        applied_shard_scheme: Any = None,
        deallocate_input: bool = False,
        reallocate_output: bool = True,
    ) -> Tensor:
        del dram_slice_config, applied_shard_scheme, reallocate_output
        if len(output_size) != 2 or min(output_size) < 1:
            raise ValueError(f"output_size is {list(output_size)}; expected two positive numbers")
        if math.prod(input_tensor.shape) != batch_size * input_h * input_w * channels:
            sizes = [batch_size, input_h, input_w, channels]
            raise ValueError(f"input_tensor has shape {list(input_tensor.shape)}; expected the elements of {sizes}")
        result = ops.reshape(input_tensor, [batch_size, input_h, input_w, channels])
        for axis, (size, count) in enumerate(zip((input_h, input_w), output_size, strict=True), 1):
            parts = [reduce(part_of(result, axis, *each), axis) for each in _ranges(size, count)]
            result = parts[0] if count == 1 else ops.concat(parts, dim=axis)
        if deallocate_input:
            ops.deallocate(input_tensor)
        return ops.reshape(result, [1, 1, batch_size * math.prod(output_size), channels])

    compute.__doc__ = doc
    composite("memory_config compute_kernel_config", golden=golden, name=name)(compute)


for _name, _reduce, _what in (
    ("adaptive_avg_pool2d", lambda x, axis: ops.mean(x, axis, True), "means"),
    ("adaptive_max_pool2d", lambda x, axis: ops.max(x, axis, True), "largest elements"),
):
    _adaptive(
        _name,
        _reduce,
        f"""Computes {_what} of parts of images, output_size of them: [1, 1, batch * height * width, channels].

    Raises:
        ValueError: output_size is not two positive numbers, or the tensor has another number of elements.
    """,
    )


@composite(
    golden="input.reshape(input.shape[0], input.shape[1] // stride_h, stride_h, input.shape[2] // stride_w, "
    "stride_w, -1).transpose(2, 3).reshape(input.shape[0], input.shape[1] // stride_h, input.shape[2] // stride_w, -1)",
    wide=False,
)
def fold(
    input: Tensor,
    stride_h: int,
    stride_w: int,
    use_transpose_as_fold: bool = False,
    output_shape: Sequence[int] | None = None,
    padding: Sequence[int] = (0, 0),
    grid_size: Any = None,
    override_memory_config: Any = None,
    collapse_output: bool = False,
) -> Tensor:
    """Puts the pixels of each stride of [batch, height, width, channels] into channels.

    Returns:
        [batch, height / stride_h, width / stride_w, channels * stride_h * stride_w]; the first three as one with
        collapse_output.
    Raises:
        ValueError: a size is no multiple of its stride, or padding or another shape is given.
    """
    del use_transpose_as_fold, grid_size, override_memory_config
    shape = list(input.shape)
    if len(shape) != 4 or min(stride_h, stride_w) < 1 or shape[1] % stride_h or shape[2] % stride_w:
        raise ValueError(f"input has shape {shape}; expected [batch, n * {stride_h}, n * {stride_w}, channels]")
    if any(padding) or output_shape is not None:
        raise ValueError("padding and output_shape are not simulated; pad and reshape the tensor instead")
    batch, rows, columns, channels = shape[0], shape[1] // stride_h, shape[2] // stride_w, shape[3]
    apart = ops.reshape(input, [batch * rows, stride_h, columns, stride_w * channels])
    result = ops.permute(apart, [0, 2, 1, 3])
    width = stride_h * stride_w * channels
    return ops.reshape(
        result, [1, 1, batch * rows * columns, width] if collapse_output else [batch, rows, columns, width]
    )


@composite("memory_config", golden="indexed_fill(batch_id, input_tensor_a, input_tensor_b, dim)", wide=False)
def indexed_fill(batch_id: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dim: int = 0) -> Tensor:
    """Returns a, with row i of b in place of row batch_id[i] along a dimension."""
    a, b, rank = input_tensor_a, input_tensor_b, len(input_tensor_a.shape)
    count = math.prod(batch_id.shape)
    axis_of(dim, rank)
    if b.shape[dim] != count:
        raise ValueError(f"batch_id has {count} elements and input_tensor_b {b.shape[dim]} rows; expected as many")
    place = ops.reshape(batch_id, [count if each == dim % rank else 1 for each in range(rank)])
    times = [1 if each == dim % rank else a.shape[each] for each in range(rank)]
    return ops.scatter(a, dim % rank, ops.repeat(place, times), b)


@composite(wide=False, golden="torch.where(input_tensor < 0, input_tensor, input_tensor + 1) if skip_negative_entries "
           "else input_tensor + 1", in_place=True)  # fmt: skip
def plus_one(input_tensor: Tensor, sub_core_grids: Any = None, skip_negative_entries: bool = False) -> Tensor:
    """Adds 1 to every integer, in place; with skip_negative_entries those below 0 stay."""
    del sub_core_grids
    more = input_tensor + 1
    return ops.where(ops.lt(input_tensor, 0), input_tensor, more) if skip_negative_entries else more


def _corner(name: str, own: bool) -> None:
    low, high = ("val_lo", "val_hi") if own else ("0.0", "1.0")
    golden = (
        f"torch.nn.functional.pad(torch.full((N, C, hOnes, wOnes), {high}), (0, W - wOnes, 0, H - hOnes), value={low})"
    )

    def compute(
        N: int, C: int, H: int, W: int, hOnes: int, wOnes: int, any: Tensor, val_hi: float, val_lo: float
    ) -> Tensor:
        if not (0 <= hOnes <= H and 0 <= wOnes <= W):
            raise ValueError(f"hOnes is {hOnes} and wOnes {wOnes}; expected at most {H} and {W}")
        inner = ops.full([N, C, hOnes, wOnes], val_hi, dtype=any.dtype, layout=Layout.ROW_MAJOR, device=any.device())
        return ops.pad(inner, [0, 0, 0, 0, 0, H - hOnes, 0, W - wOnes], val_lo)

    def of_ones(N: int, C: int, H: int, W: int, hOnes: int, wOnes: int, any: Tensor) -> Tensor:
        return compute(N, C, H, W, hOnes, wOnes, any, 1.0, 0.0)

    function = compute if own else of_ones
    text = "val_hi" if own else "1"
    rest = "val_lo" if own else "0"
    function.__doc__ = (
        f"Makes planes [N, C, H, W] of {text} in the first hOnes rows and wOnes columns, and {rest} elsewhere."
    )
    composite("memory_config", golden=golden, wide=False, name=name)(function)


_corner("fill_rm", True)
_corner("fill_ones_rm", False)


@composite(
    "memory_config output_tensor",
    golden="(lambda top: torch.sum(torch.softmax(top[0] + topk_mask_tensor, -1) * (top[1] == 0), -1, keepdim=True))"
    "(torch.topk(input_tensor + expert_mask_tensor, k, -1))",
)
def moe(input_tensor: Tensor, expert_mask_tensor: Tensor, topk_mask_tensor: Tensor, k: int = 32) -> Tensor:
    """Computes the weight [..., 1] of expert 0 among the k best of scores [..., experts]; 0 if it is none of them."""
    values, places = ops.topk(input_tensor + expert_mask_tensor, k, -1)
    weights = ops.softmax(values + topk_mask_tensor, dim=-1)
    chosen = ops.eq(ops.typecast(places, DataType.FLOAT32), 0.0)
    return ops.sum(weights * chosen, -1, True)


@composite(UNARY, golden="torch.relu(torch.exp(input_tensor))")
def unary_chain(input_tensor: Tensor, ops_chain: Sequence[Any]) -> Tensor:
    """Computes functions of one tensor after each other: UnaryWithParam, UnaryOpType or names."""
    return with_activations("unary_chain", input_tensor, ops_chain)


@composite(wide=False)
def pearson_correlation_coefficient(expected: Tensor, actual: Tensor) -> float:
    """Computes Pearson's correlation of two tensors as a number; 1 for equal ones, NaN where one is constant.

    Raises:
        ValueError: shapes differ.
    """
    if list(expected.shape) != list(actual.shape):
        raise ValueError(f"expected has shape {list(expected.shape)} and actual {list(actual.shape)}")
    x, y = (ops.typecast(each, DataType.FLOAT32) for each in (expected, actual))
    x, y = x - ops.mean(x), y - ops.mean(y)
    spread = ops.sqrt(ops.sum(x * x)) * ops.sqrt(ops.sum(y * y))
    found: float = (ops.sum(x * y) / spread).item()
    return found
