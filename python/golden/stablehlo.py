# SPDX-License-Identifier: Apache-2.0
"""Goldens of StableHLO ops without a counterpart of the same meaning, many with regions or structures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .data_movement import interior_pad
from .elementwise import shift_right_arithmetic as shift_signed
from .matmul import dot_general as dot
from .normalization import along, batch_norm, batch_statistics
from .op import Op, TensorSpec
from .window import CONV, dense, padded

COMPARISONS = {"EQ": torch.eq, "NE": torch.ne, "GE": torch.ge, "GT": torch.gt, "LE": torch.le, "LT": torch.lt}

# What a region of one commutative op folds to, and the torch reduction that does it at once.
FOLDS: dict[str, Callable[..., Tensor]] = {
    "add": lambda x, dims: x.sum(dim=dims, dtype=x.dtype),
    "maximum": lambda x, dims: x.amax(dim=dims),
    "minimum": lambda x, dims: x.amin(dim=dims),
    "and": lambda x, dims: x.to(torch.bool).all(dim=dims),
    "or": lambda x, dims: x.to(torch.bool).any(dim=dims),
}


def numbers(text: Any, name: str) -> list[int]:
    """Returns the list called `name` in the text of a structured attribute; absent means empty."""
    found = re.search(rf"\b{name}\s*=\s*\[([^\]]*)\]", str(text))
    return [int(n) for n in found[1].split(",") if n.strip()] if found else []


def number(text: Any, name: str, default: int = 0) -> int:
    found = re.search(rf"\b{name}\s*=\s*(-?\d+)", str(text))
    return int(found[1]) if found else default


def dot_general(a: Tensor, b: Tensor, dot_dimension_numbers: Any) -> Tensor:
    names = (
        "lhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_batching_dimensions",
        "rhs_contracting_dimensions",
    )
    return dot(a, b, *(numbers(dot_dimension_numbers, name) for name in names))


def compare(a: Tensor, b: Tensor, comparison_direction: str) -> Tensor:
    return COMPARISONS[str(comparison_direction)](a, b)


def sign(x: Tensor) -> Tensor:
    """Returns torch's sign of NaN, and of -0, is 0."""
    return torch.where(torch.abs(x) > 0, torch.sign(x), x) if x.dtype.is_floating_point else torch.sign(x)


def remainder(a: Tensor, b: Tensor) -> Tensor:
    """Returns the remainder with the sign of the dividend; the remainder by the integer 0 is the dividend."""
    if a.dtype.is_floating_point:
        return torch.fmod(a, b)
    minus_one = (b == -1) if torch.iinfo(a.dtype).min < 0 else torch.zeros_like(b, dtype=torch.bool)
    plain = torch.fmod(a, torch.where((b == 0) | minus_one, 1, b).to(b.dtype))
    return torch.where(b == 0, a, plain)


def shift_right_arithmetic(a: Tensor, b: Tensor) -> Tensor:
    """Copies of the highest bit come in, also where it is no sign."""
    if a.dtype != torch.uint8:
        return shift_signed(a, b)
    return shift_signed(a.view(torch.int8).to(torch.int16), b.to(torch.int16).clamp(0, 15)).to(torch.int8).view(a.dtype)


def layout_of(text: str) -> list[list[str]]:
    """Returns [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] as three lists of names."""
    return [[n.strip() for n in part.split(",")] for part in re.findall(r"\[([^\]]*)\]", str(text))]


def convolve_places(x: Tensor, w: Tensor, strides: list[int], dilation: list[int], groups: int) -> Tensor:
    """Convolves over any number of dimensions, also of size 0; torch has one to three, of elements."""
    rank = w.dim() - 2
    counts = [
        max(0, (n - d * (k - 1) - 1) // s + 1)
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], strides, dilation, strict=True)
    ]
    if not (x.numel() and w.numel()) or 0 in counts:
        return x.new_zeros(x.shape[0], w.shape[0], *counts)
    if rank == 0:
        return CONV[1](x.unsqueeze(2), w.unsqueeze(2), groups=groups).squeeze(2)
    if rank in CONV:
        return CONV[rank](dense(x), dense(w), stride=strides, dilation=dilation, groups=groups)
    total: Tensor | None = None
    for tap in range(w.shape[2]):
        begin = tap * dilation[0]
        seen = x[:, :, begin : begin + (counts[0] - 1) * strides[0] + 1 : strides[0]].transpose(1, 2)
        y = convolve_places(seen.flatten(0, 1), w[:, :, tap], strides[1:], dilation[1:], groups)
        total = y if total is None else total + y
    assert total is not None
    return total.unflatten(0, (x.shape[0], counts[0])).transpose(1, 2)


def convolution(
    x: Tensor,
    kernel: Tensor,
    dimension_numbers: Any,
    window_strides: Sequence[int] | None = None,
    padding: Any = None,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    window_reversal: Sequence[bool] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> Tensor:
    lhs, rhs, result = layout_of(dimension_numbers)[:3]
    rank = len(lhs) - 2
    if not x.is_floating_point():  # sums of 64 bits, which the result's type cuts
        x, kernel = x.long(), kernel.long()
    spatial = [str(d) for d in range(rank)]
    x = x.permute([lhs.index(n) for n in ["b", "f", *spatial]])
    w = kernel.permute([rhs.index(n) for n in ["o", "i", *spatial]])
    if window_reversal is not None and any(window_reversal):
        w = torch.flip(w, [2 + d for d, turned in enumerate(window_reversal) if turned])
    if lhs_dilation is not None and any(d != 1 for d in lhs_dilation):
        spread = x.new_zeros(*x.shape[:2], *((n - 1) * d + 1 for n, d in zip(x.shape[2:], lhs_dilation, strict=True)))
        spread[(slice(None), slice(None), *(slice(None, None, d) for d in lhs_dilation))] = x
        x = spread
    if padding is not None:
        x = padded(x, [tuple(p) for p in torch.as_tensor(padding).reshape(rank, 2).tolist()])
    if batch_group_count > 1:  # the batch's groups meet the groups of output features
        x = torch.cat(x.chunk(batch_group_count, dim=0), dim=1)
        feature_group_count = batch_group_count
    strides, dilation = list(window_strides or [1] * rank), list(rhs_dilation or [1] * rank)
    y = convolve_places(x, w, strides, dilation, feature_group_count)
    return y.permute([["b", "f", *spatial].index(n) for n in result])


def fold(values: list[Tensor], inits: list[Tensor], dims: Sequence[int], body: Callable[..., Any]) -> list[Tensor]:
    """Reduces with an arbitrary body: element after element along the reduced dimensions."""
    done = [init.expand([n for d, n in enumerate(values[0].shape) if d not in dims]) for init in inits]
    for position in itertools.product(*(range(values[0].shape[d]) for d in dims)):
        place = dict(zip(dims, position, strict=True))
        index = tuple(place.get(d, slice(None)) for d in range(values[0].dim()))
        done = body(*done, *(v[index] for v in values))
    return done


def reduce(values: list[Tensor], inits: list[Tensor], dimensions: Sequence[int], regions: Sequence[Any]) -> Any:
    body, dims = regions[0], list(dimensions)
    if body.kind in FOLDS and len(values) == 1 and dims and all(values[0].shape[d] for d in dims):
        return [body(FOLDS[body.kind](values[0], dims).to(values[0].dtype), inits[0])[0]]
    return fold(values, inits, dims, body)


def windows(
    x: Tensor, size: Sequence[int], stride: Sequence[int], dilation: Sequence[int], pads: list[list[int]], fill: Tensor
) -> Tensor:
    """Returns [..., *size]: the windows of `x`, whose edges are extended with `fill`."""
    flat = [p for low_high in reversed(pads) for p in low_high]
    x = F.pad(x, flat, value=fill.item()) if any(flat) else x
    for dim, (n, step, gap) in enumerate(zip(size, stride, dilation, strict=True)):
        x = x.unfold(dim, (n - 1) * gap + 1, step)[..., ::gap]
    return x


def reduce_window(
    values: list[Tensor],
    inits: list[Tensor],
    window_dimensions: Sequence[int],
    regions: Sequence[Any],
    window_strides: Sequence[int] | None = None,
    base_dilations: Sequence[int] | None = None,
    window_dilations: Sequence[int] | None = None,
    padding: Any = None,
) -> list[Tensor]:
    rank = values[0].dim()
    ones = [1] * rank
    if base_dilations is not None and any(d != 1 for d in base_dilations):
        raise ValueError(f"reduce_window with base dilations {list(base_dilations)} has no golden")
    pads = torch.as_tensor(padding).reshape(rank, 2).tolist() if padding is not None else [[0, 0]] * rank
    views = [
        windows(v, window_dimensions, window_strides or ones, window_dilations or ones, pads, init)
        for v, init in zip(values, inits, strict=True)
    ]
    return reduce(views, inits, list(range(rank, 2 * rank)), regions)


def sort(values: list[Tensor], regions: Sequence[Any], dimension: int = -1, is_stable: bool = False) -> list[Tensor]:
    """Returns the comparator orders by the first operand, which is how it is written in practice (LT, or GT to
    descend)."""
    first = values[0]
    low, high = first.new_zeros(()), first.new_ones(())
    pairs = [v for other in values[1:] for v in (other.new_zeros(()), other.new_zeros(()))]
    descending = not bool(regions[0](low, high, *pairs)[0])
    order = torch.argsort(first, dim=dimension, descending=descending, stable=True)
    return [torch.gather(v, dimension, order) for v in values]


def gather(x: Tensor, indices: Tensor, dimension_numbers: Any, slice_sizes: Sequence[int]) -> Tensor:
    """Runs the specification's loop over batch positions; starts are moved so that the slices lie inside."""
    text = str(dimension_numbers)
    offset, collapsed = numbers(text, "offset_dims"), numbers(text, "collapsed_slice_dims")
    batching, index_batching = numbers(text, "operand_batching_dims"), numbers(text, "start_indices_batching_dims")
    start_map, vector_dim = numbers(text, "start_index_map"), number(text, "index_vector_dim")
    starts = indices.long().unsqueeze(-1) if vector_dim == indices.dim() else indices.long().movedim(vector_dim, -1)
    batch_shape = starts.shape[:-1]
    dropped = set(collapsed) | set(batching)
    slices = []
    for position in itertools.product(*map(range, batch_shape)):
        begin = [0] * x.dim()
        for dim, value in zip(start_map, starts[position].tolist(), strict=True):
            begin[dim] = min(max(value, 0), x.shape[dim] - slice_sizes[dim])
        for dim, index_dim in zip(batching, index_batching, strict=True):
            begin[dim] = position[index_dim if index_dim < vector_dim else index_dim - 1]
        piece = x[tuple(slice(b, b + s) for b, s in zip(begin, slice_sizes, strict=True))]
        slices.append(piece.reshape([s for d, s in enumerate(slice_sizes) if d not in dropped]))
    stacked = torch.stack(slices) if slices else x.new_zeros(0)
    rank = len(batch_shape) + len(offset)
    batch_dims = [d for d in range(rank) if d not in offset]
    y = stacked.reshape([*batch_shape, *stacked.shape[1:]])
    order = [0] * rank
    for i, d in enumerate([*batch_dims, *offset]):
        order[d] = i
    return y.permute(order)


def scatter(
    values: list[Tensor],
    indices: Tensor,
    updates: list[Tensor],
    scatter_dimension_numbers: Any,
    regions: Sequence[Any],
) -> list[Tensor]:
    """Returns loops over updates, window by window. As in XLA, a window that lies partly outside is left out as a
    whole."""
    text = str(scatter_dimension_numbers)
    window, inserted = numbers(text, "update_window_dims"), numbers(text, "inserted_window_dims")
    batching, index_batching = numbers(text, "input_batching_dims"), numbers(text, "scatter_indices_batching_dims")
    start_map, vector_dim = numbers(text, "scatter_dims_to_operand_dims"), number(text, "index_vector_dim")
    starts = indices.long().unsqueeze(-1) if vector_dim == indices.dim() else indices.long().movedim(vector_dim, -1)
    rank, done = values[0].dim(), [value.clone() for value in values]
    kept = [d for d in range(rank) if d not in inserted and d not in batching]
    batch_dims = [d for d in range(updates[0].dim()) if d not in window]
    for position in itertools.product(*map(range, starts.shape[:-1])):
        begin = [0] * rank
        for dim, value in zip(start_map, starts[position].tolist(), strict=True):
            begin[dim] = value
        for dim, index_dim in zip(batching, index_batching, strict=True):
            begin[dim] = position[index_dim if index_dim < vector_dim else index_dim - 1]
        at = dict(zip(batch_dims, position, strict=True))
        pieces = [u[tuple(at.get(d, slice(None)) for d in range(u.dim()))] for u in updates]
        size = dict(zip(kept, pieces[0].shape, strict=True))
        shape = [size.get(d, 1) for d in range(rank)]
        ends = [b + s for b, s in zip(begin, shape, strict=True)]
        if min(begin, default=0) < 0 or any(e > limit for e, limit in zip(ends, values[0].shape, strict=True)):
            continue
        inside = tuple(slice(b, e) for b, e in zip(begin, ends, strict=True))
        new = regions[0](*(v[inside] for v in done), *(p.reshape(shape) for p in pieces))
        for value, changed in zip(done, new, strict=True):
            value[inside] = changed
    return done


def batch_norm_inference(
    x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor, epsilon: float, feature_index: int
) -> Tensor:
    return batch_norm(x, scale, offset, mean, variance, epsilon, feature_index)


def batch_norm_training(x: Tensor, scale: Tensor, offset: Tensor, epsilon: float, feature_index: int) -> list[Tensor]:
    mean, variance = batch_statistics(x, feature_index)
    return [batch_norm(x, scale, offset, mean, variance, epsilon, feature_index), mean, variance]


def batch_norm_grad(
    x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor, grad_output: Tensor, epsilon: float, feature_index: int
) -> list[Tensor]:
    dims = [d for d in range(x.dim()) if d != feature_index]
    count = x.numel() // x.shape[feature_index]
    mean, variance, scale = (along(x, p, feature_index) for p in (mean, variance, scale))
    centred, inverse = x - mean, torch.rsqrt(variance + epsilon)
    grad_offset = grad_output.sum(dim=dims)
    grad_scale = (grad_output * centred * inverse).sum(dim=dims)
    total, slope = along(x, grad_offset, feature_index), (grad_output * centred).sum(dim=dims, keepdim=True)
    grad_x = scale * inverse / count * (count * grad_output - total - centred * slope / (variance + epsilon))
    return [grad_x, grad_scale, grad_offset]


def triangular_solve(
    a: Tensor, b: Tensor, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: str = "NO_TRANSPOSE"
) -> Tensor:
    if transpose_a != "NO_TRANSPOSE":
        a, lower = a.transpose(-1, -2), not lower
        a = a.conj() if transpose_a == "ADJOINT" else a
    return torch.linalg.solve_triangular(a, b, upper=not lower, left=left_side, unitriangular=unit_diagonal)


def cholesky(a: Tensor, lower: bool = False) -> Tensor:
    return torch.linalg.cholesky(a) if lower else torch.linalg.cholesky(a).mH


def fft(x: Tensor, fft_type: str, fft_length: Sequence[int]) -> Tensor:
    dims = list(range(-len(fft_length), 0))
    functions = {"FFT": torch.fft.fftn, "IFFT": torch.fft.ifftn, "RFFT": torch.fft.rfftn, "IRFFT": torch.fft.irfftn}
    return functions[str(fft_type)](x, s=list(fft_length), dim=dims)


def mapped(values: list[Tensor], regions: Sequence[Any]) -> Tensor:
    return regions[0](*values)[0]


def torch_index_select(x: Tensor, positions: Tensor, dim: int, batch_dims: int, out: TensorSpec) -> Tensor:
    if batch_dims:
        raise ValueError(f"torch_index_select with {batch_dims} batch dimensions has no golden")
    return x.index_select(dim, positions.flatten().long()).reshape(out.shape)


def select_and_scatter(
    x: Tensor,
    source: Tensor,
    init: Tensor,
    regions: Sequence[Any],
    window_dimensions: Sequence[int] | None = None,
    window_strides: Sequence[int] | None = None,
    padding: Any = None,
) -> Tensor:
    """Returns the specification's loop: in each window the element that no later one takes the place of gets the
    source."""
    rank, ones = x.dim(), [1] * x.dim()
    size, stride = list(window_dimensions or ones), list(window_strides or ones)
    low = torch.as_tensor(padding).reshape(rank, 2)[:, 0].tolist() if padding is not None else [0] * rank
    result = init.expand(x.shape).clone()
    for position in itertools.product(*map(range, source.shape)):
        chosen: tuple[int, ...] | None = None
        for offset in itertools.product(*map(range, size)):
            at = tuple(p * s + o - b for p, s, o, b in zip(position, stride, offset, low, strict=True))
            if any(i < 0 or i >= n for i, n in zip(at, x.shape, strict=True)):
                continue
            if chosen is None or not bool(regions[0](x[chosen], x[at])[0]):
                chosen = at
        if chosen is not None:
            result[chosen] = regions[1](result[chosen], source[position])[0]
    return result


def dynamic_gather(x: Tensor, indices: Tensor, slice_sizes: Tensor, dimension_numbers: Any) -> Tensor:
    return gather(x, indices, dimension_numbers, slice_sizes.tolist())


def dynamic_pad(x: Tensor, value: Tensor, low: Tensor, high: Tensor, interior: Tensor) -> Tensor:
    return interior_pad(x, value, low.tolist(), high.tolist(), interior.tolist())


def dynamic_conv(x: Tensor, kernel: Tensor, padding: Tensor, **attributes: Any) -> Tensor:
    return convolution(x, kernel, padding=padding, **{k: v for k, v in attributes.items() if k != "padding"})


def real_dynamic_slice(x: Tensor, starts: Tensor, limits: Tensor, strides: Tensor) -> Tensor:
    return x[tuple(slice(*each) for each in zip(starts.tolist(), limits.tolist(), strides.tolist(), strict=True))]


STABLEHLO = {
    "stablehlo.select_and_scatter": Op(select_and_scatter),
    "stablehlo.dynamic_conv": Op(dynamic_conv),
    "stablehlo.dynamic_gather": Op(dynamic_gather),
    "stablehlo.dynamic_pad": Op(dynamic_pad),
    "stablehlo.real_dynamic_slice": Op(real_dynamic_slice),
    "stablehlo.dot_general": Op(dot_general),
    "stablehlo.compare": Op(compare),
    "stablehlo.convolution": Op(convolution),
    "stablehlo.reduce": Op(reduce),
    "stablehlo.reduce_window": Op(reduce_window),
    "stablehlo.shift_right_arithmetic": Op(shift_right_arithmetic),
    "stablehlo.sign": Op(sign),
    "stablehlo.sort": Op(sort),
    "stablehlo.gather": Op(gather),
    "stablehlo.scatter": Op(scatter),
    "stablehlo.map": Op(mapped),
    "stablehlo.clamp": Op(lambda low, x, high: torch.minimum(torch.maximum(x, low), high)),
    "stablehlo.batch_norm_inference": Op(batch_norm_inference),
    "stablehlo.batch_norm_training": Op(batch_norm_training),
    "stablehlo.batch_norm_grad": Op(batch_norm_grad),
    "stablehlo.remainder": Op(remainder),
    "stablehlo.triangular_solve": Op(triangular_solve),
    "stablehlo.cholesky": Op(cholesky),
    "stablehlo.fft": Op(fft),
    "stablehlo.complex": Op(torch.complex),
    "stablehlo.real": Op(torch.real),
    "stablehlo.imag": Op(torch.imag),
    "stablehlo.torch_index_select": Op(torch_index_select),
    "stablehlo.unary_einsum": Op(lambda x, einsum_config: torch.einsum(einsum_config, x)),
}
