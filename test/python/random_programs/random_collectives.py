# SPDX-License-Identifier: Apache-2.0
"""Ops across the mesh that random modules are made of, each compared with its reference; see random_modules.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from random_values import Draw, Generator, Refused, Value, is_float
from torch import Tensor


def groups_along(mesh: tuple[int, int], axis: int) -> list[list[int]]:
    """Chips of each row (axis 1) or column (axis 0) of the mesh."""
    rows, columns = mesh
    if axis == 1:
        return [[r * columns + c for c in range(columns)] for r in range(rows)]
    return [[r * columns + c for r in range(rows)] for c in range(columns)]


def grouped(
    g: Generator, x: Value, groups: Iterable[Sequence[int]], combine: Callable[[list[Tensor]], list[Tensor]]
) -> list[Tensor]:
    """`combine` maps the tensors of a group to what each of its chips gets; chips of no group get zeros."""
    results: dict[int, Tensor] = {}
    for group in groups:
        given = combine([g.wide(x.at(c)) if is_float(x) else x.at(c) for c in group])
        results |= {c: g.narrow(t, x.dtype) for c, t in zip(group, given, strict=True)}
    some = next(iter(results.values()))
    return [results.get(c, torch.zeros_like(some)) for c in range(g.chips)]


def cut_along(g: Generator, x: Value, parts: int) -> int:
    """A dimension that divides among chips."""
    dims = [d for d, n in enumerate(x.shape) if n % parts == 0]
    if not dims:
        raise Refused
    dim = g.choice.choice(dims)
    return dim if g.choice.random() < 0.5 else dim - x.rank


ACROSS: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda t: t.sum(0),
    "max": lambda t: t.amax(0),
    "min": lambda t: t.amin(0),
}


def all_reduce(g: Generator) -> None:
    x, axis, kind = g.pick(is_float), g.choice.randrange(2), g.choice.choice(list(ACROSS))
    g.emit(
        f'builder.all_reduce({x.name}, reduce_type="{kind}", cluster_axis={axis})',
        lambda: grouped(g, x, groups_along(g.mesh, axis), lambda t: [ACROSS[kind](torch.stack(t))] * len(t)),
        x.exact and kind != "sum",
    )


def all_gather(g: Generator) -> None:
    x, axis = g.pick(lambda v: v.rank > 0), g.choice.randrange(2)
    dim = g.dim(x)
    g.emit(
        f"builder.all_gather({x.name}, all_gather_dim={dim}, cluster_axis={axis})",
        lambda: grouped(g, x, groups_along(g.mesh, axis), lambda t: [torch.cat(t, dim)] * len(t)),
        x.exact,
    )


def reduce_scatter(g: Generator) -> None:
    x, axis, kind = g.pick(is_float), g.choice.randrange(2), g.choice.choice(list(ACROSS))
    dim = cut_along(g, x, g.mesh[axis])
    combine = lambda t: [p.contiguous() for p in ACROSS[kind](torch.stack(t)).chunk(len(t), dim)]  # noqa: E731
    text = f'builder.reduce_scatter({x.name}, reduce_type="{kind}", scatter_dim={dim}, cluster_axis={axis})'
    g.emit(text, lambda: grouped(g, x, groups_along(g.mesh, axis), combine), x.exact and kind != "sum")


def mesh_partition(g: Generator) -> None:
    x, axis = g.pick(lambda v: v.rank > 0), g.choice.choice([0, 1, None])
    count = g.chips if axis is None else g.mesh[axis]
    dim = cut_along(g, x, count)
    place = lambda c: c if axis is None else divmod(c, g.mesh[1])[axis]  # noqa: E731
    along = "" if axis is None else f", cluster_axis={axis}"
    g.emit(
        f"builder.mesh_partition({x.name}, dim={dim}{along})",
        lambda: [x.at(c).chunk(count, dim)[place(c)].contiguous() for c in range(g.chips)],
        x.exact,
    )


def all_to_all(g: Generator) -> None:
    x, axis = g.pick(lambda v: v.rank > 0), g.choice.randrange(2)
    groups = groups_along(g.mesh, axis)
    count = len(groups[0])
    split, joined = cut_along(g, x, count), g.dim(x)
    combine = lambda t: [  # noqa: E731
        torch.cat([p.chunk(count, split)[i] for p in t], joined) for i in range(count)
    ]
    g.emit(
        f"builder.all_to_all({x.name}, split_dim={split}, concat_dim={joined}, split_count={count}, "
        f"replica_groups={groups})",
        lambda: grouped(g, x, groups, combine),
        x.exact,
    )


def collective_broadcast(g: Generator) -> None:
    x, groups = g.pick(), groups_along(g.mesh, g.choice.randrange(2))
    text = f"builder.collective_broadcast({x.name}, replica_groups={groups})"
    g.emit(text, lambda: grouped(g, x, groups, lambda t: [t[0]] * len(t)), x.exact)


def collective_permute(g: Generator) -> None:
    x = g.pick()
    count = g.choice.randint(1, g.chips)
    pairs = [
        list(p)
        for p in zip(g.choice.sample(range(g.chips), count), g.choice.sample(range(g.chips), count), strict=True)
    ]
    sources = {target: source for source, target in pairs}
    g.emit(
        f"builder.collective_permute({x.name}, source_target_pairs={pairs})",
        lambda: [x.at(sources[c]) if c in sources else torch.zeros_like(x.at(0)) for c in range(g.chips)],
        x.exact,
    )


def joined(g: Generator) -> None:
    """To one tensor that all chips have."""
    x = g.pick(lambda v: v.rank > 0)
    dims = g.split_dims(x.rank)
    rows, columns = g.mesh
    for chip in range(g.chips):  # along an axis that joins nothing, all chips have the same
        row, column = divmod(chip, columns)
        first = (row if dims[0] >= 0 else 0) * columns + (column if dims[1] >= 0 else 0)
        if not torch.equal(x.at(chip), x.at(first)):
            raise Refused
    counts = [1] * x.rank
    for axis, dim in enumerate(dims):
        if dim >= 0:
            counts[dim] *= g.mesh[axis]
    across = lambda parts, dim: torch.cat(parts, dim) if dim >= 0 else parts[0]  # noqa: E731

    def whole() -> list[Tensor]:
        rows_joined = [across([x.at(r * columns + c) for c in range(columns)], dims[1]) for r in range(rows)]
        return [across(rows_joined, dims[0])]

    g.emit(
        f'builder.mesh_shard({x.name}, shard_type="devices", shard_direction="shard_to_full", '
        f"shard_shape={counts}, shard_dims={dims})",
        whole,
        x.exact,
    )


def split(g: Generator) -> None:
    """One tensor that all chips have, cut over them."""
    x = g.pick(lambda v: v.rank > 0 and all(torch.equal(s, v.shards[0]) for s in v.shards))
    dims = g.split_dims(x.rank)
    counts = [1] * x.rank
    for axis, dim in enumerate(dims):
        if dim >= 0:
            counts[dim] *= g.mesh[axis]
    if any(n % c for n, c in zip(x.shape, counts, strict=True)):
        raise Refused
    g.emit(
        f'builder.mesh_shard({x.name}, shard_type="devices", shard_direction="full_to_shard", '
        f"shard_shape={counts}, shard_dims={dims})",
        lambda: [g.part(x.shards[0], dims, chip).contiguous() for chip in range(g.chips)],
        x.exact,
    )


COLLECTIVES: list[Draw] = [
    all_reduce,
    all_gather,
    reduce_scatter,
    mesh_partition,
    all_to_all,
    collective_broadcast,
    collective_permute,
    joined,
    split,
]
