# SPDX-License-Identifier: Apache-2.0
"""Goldens of reductions, scans, sorting and selection by value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .op import Op, TensorSpec


def dims_of(x: Tensor, dim_arg: Sequence[int] | int | None) -> list[int]:
    """Returns no dimension named means all of them."""
    if dim_arg is None or (not isinstance(dim_arg, int) and not len(dim_arg)):
        return list(range(x.dim()))
    return [d % max(x.dim(), 1) for d in ([dim_arg] if isinstance(dim_arg, int) else dim_arg)]


def reduction(function: Callable[[Tensor, list[int]], Tensor]) -> Callable[..., Tensor]:
    """Returns `function` reduces the given dimensions and keeps them with size 1."""

    def golden(x: Tensor, keep_dim: bool = False, dim_arg: Any = None) -> Tensor:
        dims = dims_of(x, dim_arg)
        y = function(x, dims) if dims else x
        return y if keep_dim else y.reshape([n for i, n in enumerate(x.shape) if i not in dims])

    return golden


def one_by_one(function: Callable[..., Tensor]) -> Callable[[Tensor, list[int]], Tensor]:
    """Extends a torch function that reduces a single dimension to several."""

    def reduce(x: Tensor, dims: list[int]) -> Tensor:
        for dim in dims:
            x = function(x, dim=dim, keepdim=True)
        return x

    return reduce


def extreme(function: Callable[..., Tensor]) -> Callable[[Tensor, list[int]], Tensor]:
    """Returns torch.amax or torch.amin; no elements have neither a largest nor a smallest."""

    def reduce(x: Tensor, dims: list[int]) -> Tensor:
        for dim in dims:
            if x.shape[dim] == 0:
                raise ValueError(f"dimension {dim} of {list(x.shape)} is reduced and has size 0; expected 1 or more")
        return function(x, dim=dims, keepdim=True)

    return reduce


def summed(x: Tensor, dims: list[int]) -> Tensor:
    return torch.sum(x, dim=dims, keepdim=True, dtype=x.dtype if x.dtype != torch.bool else torch.int32)


def mean(x: Tensor, dims: list[int]) -> Tensor:
    return torch.mean(x if x.dtype.is_floating_point else x.float(), dim=dims, keepdim=True)


def argmax(x: Tensor, keep_dim: bool = False, dim_arg: Any = None, dim: int | None = None) -> Tensor:
    """Returns index of the first largest element, along one dimension or of the flattened tensor."""
    dims = dims_of(x, dim_arg if dim is None else dim)
    x = x.byte() if x.dtype == torch.bool else x
    if len(dims) == x.dim() and x.dim() != 1:
        y = torch.argmax(x)
        return y.reshape([1] * x.dim()) if keep_dim else y
    if len(dims) != 1:
        y = torch.argmax(joined(x, dims), dim=-1)
        return y.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keep_dim else y
    return torch.argmax(x, dim=dims[0], keepdim=keep_dim)


def joined(x: Tensor, dims: list[int]) -> Tensor:
    """Returns the dimensions as one, the last, in row-major order."""
    kept = [d for d in range(x.dim()) if d not in dims]
    return x.permute(*kept, *sorted(dims)).flatten(len(kept))


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = False) -> list[Tensor]:
    """Returns the k largest elements. Of equal elements the first come first, which torch.topk leaves open."""
    return [ordered.narrow(dim, 0, k) for ordered in sort(x, dim, descending=largest)]


def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> list[Tensor]:
    return list(torch.sort(x, dim=dim, descending=descending, stable=True))


def inside(places: Tensor, size: int) -> None:
    wrong = (places < 0) | (places >= size)
    if bool(wrong.any()):
        at = wrong.nonzero()[0].tolist()
        raise ValueError(f"index {int(places[tuple(at)])} at {at}, expected 0 to {size - 1}")


def at_places(positions: Tensor, x: Tensor, dim: int = -1) -> Tensor:
    """Returns the elements of `x` in the order of positions along `dim`, of which none occurs twice in a line."""
    places = positions.long()
    if not x.dim():
        inside(places, 1)
        return x.reshape(places.shape)
    inside(places, x.shape[dim])
    in_order = places.sort(dim=dim).values
    twice = in_order.diff(dim=dim) == 0
    if bool(twice.any()):
        at = twice.nonzero()[0].tolist()
        raise ValueError(f"index {int(in_order[tuple(at)])} occurs twice along dimension {dim}")
    return x.gather(dim, places)


def at_largest(
    positions: Tensor, x: Tensor, keep_dim: bool = False, dim_arg: Any = None, dim: int | None = None
) -> Tensor:
    """Returns the element that each position of `argmax` stands for."""
    dims, places = dims_of(x, dim_arg if dim is None else dim), positions.long()
    if len(dims) == x.dim() and x.dim() != 1:
        inside(places, x.numel())
        return x.flatten()[places]
    if len(dims) != 1:
        x = joined(x, dims)
        inside(places, x.shape[-1])
        return x.gather(-1, places.reshape(*x.shape[:-1], 1)).reshape(places.shape)
    inside(places, x.shape[dims[0]])
    return x.gather(dims[0], places if keep_dim else places.unsqueeze(dims[0]))


def cumulative(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, dim: function(x, dim, dtype=x.dtype)


def topk_router(x: Tensor, weight: Tensor, bias: Tensor, k: int, out: list[TensorSpec]) -> list[Tensor]:
    scores, experts = torch.topk(x @ weight + bias, k, dim=-1)
    return [experts.reshape(out[0].shape), torch.softmax(scores, dim=-1).reshape(out[1].shape)]


def at_experts(positions: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.gather(x @ weight + bias, -1, positions.long())


def indexer_scores(query: Tensor, key: Tensor, weights: Tensor, chunk_start_idx: int = 0) -> Tensor:
    scores = (torch.relu(query @ key.transpose(-1, -2)) * weights).sum(1, keepdim=True)
    positions = torch.arange(query.shape[2])[:, None] + chunk_start_idx
    return scores.masked_fill(torch.arange(key.shape[2]) > positions, -torch.inf)


REDUCTION = {
    "sum": Op(reduction(summed), aten="sum.dim_IntList"),
    "mean": Op(reduction(mean), aten="mean.dim"),
    "max": Op(reduction(extreme(torch.amax)), aten="amax"),
    "min": Op(reduction(extreme(torch.amin)), aten="amin"),
    "prod": Op(reduction(one_by_one(lambda x, **k: torch.prod(x, dtype=x.dtype, **k))), aten="prod.dim_int"),
    "reduce_and": Op(reduction(one_by_one(lambda x, **k: torch.all(x != 0, **k)))),
    "reduce_or": Op(reduction(one_by_one(lambda x, **k: torch.any(x != 0, **k)))),
    "argmax": Op(argmax, aten="argmax", points_to={0: at_largest}),
    "cumsum": Op(cumulative(torch.cumsum), aten="cumsum"),
    "cumprod": Op(cumulative(torch.cumprod), aten="cumprod"),
    "topk": Op(topk, aten="topk", points_to={1: at_places}),
    "sort": Op(sort, aten="sort", points_to={1: at_places}),
    "indexer_score_dsa": Op(indexer_scores),
    "topk_router_gpt": Op(topk_router, points_to={0: at_experts}),
}
