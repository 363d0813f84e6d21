# SPDX-License-Identifier: Apache-2.0
"""Goldens of ops that look at the shards of all devices of a mesh."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .op import Op, TensorSpec
from .optional import torch
from .tensor import GoldenMapTensor

if TYPE_CHECKING:
    from torch import Tensor

REDUCE: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda shards: shards.sum(dim=0, dtype=shards.dtype),
    "mean": lambda shards: (
        shards.mean(dim=0)
        if shards.dtype.is_floating_point
        else shards.sum(dim=0, dtype=shards.dtype).div(len(shards), rounding_mode="trunc")
    ),
    "max": lambda shards: shards.amax(dim=0),
    "min": lambda shards: shards.amin(dim=0),
    "prod": lambda shards: shards.prod(dim=0, dtype=shards.dtype),
    "std": lambda shards: shards.std(dim=0, unbiased=False),
    "var": lambda shards: shards.var(dim=0, unbiased=False),
}


def reduced(shards: Sequence[Tensor], reduce_type: str) -> Tensor:
    if reduce_type not in REDUCE:
        raise ValueError(f"no golden for reduce type {reduce_type!r}; there are {', '.join(REDUCE)}")
    return REDUCE[reduce_type](torch.stack(list(shards)))


def of_last_axes(dims: Sequence[int]) -> list[int]:
    """Returns the dimension of each of the two mesh axes; a single one is the last axis'."""
    return [-1] * (2 - len(dims)) + list(dims)


def split_over_mesh(x: Tensor, mesh_shape: Sequence[int], dims: Sequence[int]) -> GoldenMapTensor:
    """Splits tensor dimension dims[i] over mesh axis i (-1: not at all); a device gets the piece of its coordinates."""
    dims = of_last_axes(dims)
    shards = {}
    for device, coordinates in enumerate(itertools.product(*map(range, mesh_shape))):
        piece = x
        for axis, dim in enumerate(dims):
            if dim >= 0 and mesh_shape[axis] > 1:
                size = x.shape[dim] // mesh_shape[axis]
                if size * mesh_shape[axis] != x.shape[dim]:
                    raise ValueError(
                        f"dimension {dim} of {tuple(x.shape)} does not split over {mesh_shape[axis]} devices"
                    )
                piece = piece.narrow(dim, coordinates[axis] * size, size)
        shards[device] = piece
    return GoldenMapTensor(shards, mesh_shape)


def gather_over_mesh(x: GoldenMapTensor, dims: Sequence[int]) -> GoldenMapTensor:
    """Joins pieces, the inverse of the split: pieces are joined along dims[i] over mesh axis i; along an axis with -1
    all devices have the same.

    Raises:
        ValueError: they have not; names the devices that differ.
    """
    rows, columns = x.mesh_shape
    down, across = of_last_axes(dims)
    for device in range(rows * columns):
        row, column = divmod(device, columns)
        x.agreed([(row if down >= 0 else 0) * columns + (column if across >= 0 else 0), device])
    pieces = [
        [x.shard_at(r * columns + c) for c in range(columns if across >= 0 else 1)]
        for r in range(rows if down >= 0 else 1)
    ]
    joined = [torch.cat(row, dim=across) if across >= 0 else row[0] for row in pieces]
    whole = torch.cat(joined, dim=down) if down >= 0 else joined[0]
    return GoldenMapTensor({0: whole}, x.mesh_shape)


def place_of(device: int, axes: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, int]:
    """Returns (which part, of how many) a device has of a dimension that `axes`, major first, split. `sizes`: of the
    mesh."""
    coordinates = {}
    for axis in reversed(list(sizes)):
        device, coordinates[axis] = divmod(device, sizes[axis])
    index, count = 0, 1
    for axis in axes:
        index, count = index * sizes[axis] + coordinates[axis], count * sizes[axis]
    return index, count


def split_by_axes(x: Tensor, shardings: Sequence[Sequence[str]], sizes: Mapping[str, int]) -> dict[int, Tensor]:
    """Returns the part of each device when dimension i is split over the mesh axes shardings[i]."""
    shards = {}
    for device in range(math.prod(sizes.values())):
        piece = x
        for dim, axes in enumerate(shardings):
            index, count = place_of(device, axes, sizes)
            piece = piece.chunk(count, dim=dim)[index] if count > 1 else piece
        shards[device] = piece
    return shards


def join_by_axes(
    shards: Callable[[int], Tensor], shardings: Sequence[Sequence[str]], sizes: Mapping[str, int]
) -> Tensor:
    """Returns the whole tensor from the parts of all devices; the inverse of split_by_axes."""
    first = shards(0)
    counts = [math.prod(sizes[a] for a in axes) for axes in shardings]
    whole = first.new_empty([n * c for n, c in zip(first.shape, counts, strict=True)])
    for device in range(math.prod(sizes.values())):
        target = whole
        for dim, axes in enumerate(shardings):
            index, _ = place_of(device, axes, sizes)
            target = target.narrow(dim, index * first.shape[dim], first.shape[dim])
        target.copy_(shards(device))
    return whole


def mesh_shard(
    x: GoldenMapTensor,
    shard_type: str,
    shard_direction: str,
    shard_shape: Sequence[int],
    shard_dims: Sequence[int],
    out: TensorSpec | None = None,
) -> GoldenMapTensor:
    """Returns `identity` says that the shards are on the devices already: the values are those of `devices`.

    A full side that every device has must be the same on all.
    """
    if shard_type in ("devices", "identity"):
        if shard_direction == "full_to_shard":
            is_split = x.is_distributed and (out is None or tuple(x.shape) == out.shape)
            return x if is_split else split_over_mesh(x.agreed(), x.mesh_shape, shard_dims)
        return gather_over_mesh(x, shard_dims)
    if shard_direction == "full_to_shard":
        rows, columns = x.mesh_shape
        return GoldenMapTensor(dict.fromkeys(range(rows * columns), x.agreed()), x.mesh_shape)
    return GoldenMapTensor({0: x.agreed()}, x.mesh_shape)


def in_groups(groups: Callable[..., Sequence[Sequence[int]]], combine: Callable[..., list[Tensor]]) -> Callable:
    """Returns a collective: `combine` maps the shards of one group of devices to their results, in the group's
    order."""

    def golden(x: Any, *rest: Any, **attributes: Any) -> Any:
        if isinstance(x, list):  # variadic: operand by operand
            return [golden(v, **attributes) for v in x]
        shards: dict[int, Tensor | None] = {d: None for d in range(x.mesh_shape[0] * x.mesh_shape[1])}
        for group in groups(x, attributes):
            for device, shard in zip(group, combine([x.shard_at(d) for d in group], attributes), strict=True):
                shards[device] = shard
        # A device in no group gets zeros, as StableHLO says of collective_broadcast and collective_permute.
        some = next(s for s in shards.values() if s is not None)
        filled = {d: torch.zeros_like(some) if s is None else s for d, s in shards.items()}
        return GoldenMapTensor(filled, x.mesh_shape)

    return golden


def by_axis(x: GoldenMapTensor, attributes: dict[str, Any]) -> list[list[int]]:
    return [list(group) for group in x.group_by_axis(attributes["cluster_axis"])]


def by_replicas(x: GoldenMapTensor, attributes: dict[str, Any]) -> list[list[int]]:
    """Returns the groups of the attribute, in which -1 fills up short ones; no group means all devices together."""
    listed = torch.as_tensor(attributes["replica_groups"])
    groups = (listed.reshape(-1, attributes["split_count"]) if listed.dim() == 1 else listed).tolist()
    return [[d for d in g if d >= 0] for g in groups] or [list(range(x.mesh_shape[0] * x.mesh_shape[1]))]


def all_gather(shards: list[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
    return [torch.cat(shards, dim=attributes["all_gather_dim"])] * len(shards)


def all_reduce(shards: list[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
    return [reduced(shards, attributes["reduce_type"])] * len(shards)


def reduce_scatter(shards: list[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
    return list(reduced(shards, attributes["reduce_type"]).chunk(len(shards), dim=attributes["scatter_dim"]))


def all_to_all(shards: list[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
    split, concat = attributes["split_dim"], attributes["concat_dim"]
    pieces = [s.chunk(attributes["split_count"], dim=split) for s in shards]
    return [torch.cat([p[i] for p in pieces], dim=concat) for i in range(len(shards))]


def broadcast_from_first(shards: list[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
    return [shards[0]] * len(shards)


def collective_permute(x: GoldenMapTensor, source_target_pairs: Any) -> GoldenMapTensor:
    pairs = torch.as_tensor(source_target_pairs).reshape(-1, 2).tolist()
    shards = {d: torch.zeros_like(x.shard_at(0)) for d in range(x.mesh_shape[0] * x.mesh_shape[1])}
    shards |= {target: x.shard_at(source) for source, target in pairs}
    return GoldenMapTensor(shards, x.mesh_shape)


def mesh_partition(x: GoldenMapTensor, dim: int, cluster_axis: int | None = None) -> GoldenMapTensor:
    """Returns each device keeps its piece of `dim`, counted along the mesh axis, or over all devices."""
    rows, columns = x.mesh_shape
    shards = {}
    for device in range(rows * columns):
        place, count = {None: (device, rows * columns), 0: (device // columns, rows), 1: (device % columns, columns)}[
            cluster_axis
        ]
        shards[device] = x.shard_at(device).chunk(count, dim=dim)[place]
    return GoldenMapTensor(shards, x.mesh_shape)


def point_to_point(
    x: GoldenMapTensor, target: GoldenMapTensor | None, sender_coord: Sequence[int], receiver_coord: Sequence[int]
) -> GoldenMapTensor:
    columns = x.mesh_shape[1]
    sender, receiver = (c[0] * columns + c[1] for c in (sender_coord, receiver_coord))
    base = x.map(torch.zeros_like) if target is None else target
    shards = {d: base.shard_at(d) for d in range(x.mesh_shape[0] * columns)}
    return GoldenMapTensor(shards | {receiver: x.shard_at(sender)}, x.mesh_shape)


def own_experts(mapping: Tensor, device: int) -> list[int]:
    """Returns the experts of a device, by expert_mapping [1, 1, experts, devices]; a place in the list is its number
    there."""
    return torch.nonzero(mapping[0, 0, :, device]).flatten().tolist()


def dispatch(
    x: GoldenMapTensor, indices: GoldenMapTensor, *rest: GoldenMapTensor, cluster_axis: int
) -> list[GoldenMapTensor]:
    """Returns tokens of a group where a device has one of their experts; rest: scores if any, mapping, and buffers.

    With scores, batch and sequence are one dimension of the results.
    """
    scored = len(rest) > 1
    mapping = rest[1] if scored else rest[0]
    gathered: list[dict[int, Tensor]] = [{}, {}, {}]
    for group in x.group_by_axis(cluster_axis):
        parts = [torch.cat([v.shard_at(d).flatten(1, 2) for d in group])[None] for v in (x, indices, *rest[:scored])]
        if scored:
            parts = [part.flatten(1, 2) for part in parts]
        for device in group:
            own = torch.tensor(own_experts(mapping.shard_at(device), device))
            chosen = torch.isin(parts[1].long(), own).any(-1, keepdim=True)
            gathered[0][device] = torch.where(chosen, parts[0], torch.zeros_like(parts[0]))
            for results, part in zip(gathered[1:], parts[1:], strict=False):
                results[device] = part
    return [GoldenMapTensor(shards, x.mesh_shape) for shards in gathered if shards]


def combine(
    x: GoldenMapTensor,
    metadata: GoldenMapTensor,
    mapping: GoldenMapTensor,
    cluster_axis: int,
    output_shard_dim: int = 2,
) -> GoldenMapTensor:
    shards = {}
    for group in x.group_by_axis(cluster_axis):
        for rank, device in enumerate(group):
            experts = metadata.shard_at(device)[0].long()  # [batch, sequence, k]
            whole = x.shard_at(device).new_zeros((experts.shape[2], *x.shard_at(device).shape[1:]))
            for other in reversed(list(group)):  # the first that has an expert is the last that is written
                for number, expert in enumerate(own_experts(mapping.shard_at(other), other)):
                    for b, s, k in torch.nonzero(experts == expert).tolist():
                        whole[k, b, s] = x.shard_at(other)[number, b, s]
            shards[device] = whole.chunk(len(group), dim=output_shard_dim)[rank]
    return GoldenMapTensor(shards, x.mesh_shape)


def remap(
    scores: GoldenMapTensor, mapping: GoldenMapTensor, metadata: GoldenMapTensor, reduction_size: int
) -> list[GoldenMapTensor]:
    rows, columns = scores.mesh_shape
    mapped, reduced = {}, {}
    for device in range(rows * columns):
        all_scores, chosen = scores.shard_at(device), metadata.shard_at(device).long()
        own = own_experts(mapping.shard_at(device), device)
        of_own = torch.zeros((*all_scores.shape[:3], mapping.shape[2] // mapping.shape[3]), dtype=all_scores.dtype)
        for number, expert in enumerate(own):
            here = (chosen == expert).any(-1)
            of_own[..., number] = torch.where(here, all_scores[..., expert], torch.zeros_like(all_scores[..., 0]))
        present = torch.zeros(of_own.shape, dtype=torch.bool)
        for number, expert in enumerate(own):
            present[..., number] = (chosen == expert).any(-1)
        chunks = present.flatten(0, 2).split(reduction_size)
        mapped[device] = of_own
        reduced[device] = torch.stack([chunk.any(0) for chunk in chunks])[None, None].to(torch.uint16)
    return [GoldenMapTensor(mapped, scores.mesh_shape), GoldenMapTensor(reduced, scores.mesh_shape)]


def expert_place(mapping: Tensor, expert: int, device: int) -> int | None:
    """Returns number of an expert on a device that has it: of a table of devices [rows, experts], or as own_experts."""
    table = mapping[0].long().tolist() if mapping.dim() == 2 else None
    own = own_experts(mapping, device) if table is None else [e for e, owner in enumerate(table) if owner == device]
    return own.index(expert) if expert in own else None


def gated(gate: Tensor, value: Tensor, activation: str) -> Tensor:
    if "swiglu" not in activation:
        return torch.nn.functional.silu(gate) * value
    gate, value = gate.clamp(max=7.0), value.clamp(-7.0, 7.0)
    return gate * torch.sigmoid(1.702 * gate) * (value + 1)


def compute_experts(
    tokens: GoldenMapTensor,
    indices: GoldenMapTensor,
    scores: GoldenMapTensor,
    mapping: GoldenMapTensor,
    w0: GoldenMapTensor,
    w1: GoldenMapTensor,
    w2: GoldenMapTensor,
    *biases: GoldenMapTensor | None,
    layer_id: int,
    cluster_axis: int,
    activation_function: Any = "silu",
) -> GoldenMapTensor:
    """Returns each row of a device's own tokens from one expert, in double precision; scores weigh nothing."""
    shards = {}

    def of(weight: GoldenMapTensor | None, device: int, expert: int) -> Tensor | float:
        return 0.0 if weight is None else weight.shard_at(device)[layer_id, expert].double()

    b0, b1, b2 = (*biases, None, None, None)[:3]
    for group in tokens.group_by_axis(cluster_axis):
        for rank, device in enumerate(group):
            chosen = indices.shard_at(device).flatten(0, -2).chunk(len(group))[rank].tolist()
            out = tokens.shard_at(device).new_zeros((indices.shape[-1], len(chosen), tokens.shape[-1])).double()
            for t, experts in enumerate(chosen):
                for k, expert in enumerate(experts):
                    places = ((d, expert_place(mapping.shard_at(d), int(expert), d)) for d in group)
                    found = next(((d, place) for d, place in places if place is not None), None)
                    if found is None:
                        continue
                    x = tokens.shard_at(found[0]).flatten(0, -2)[rank * len(chosen) + t].double()
                    gate, value = (x @ of(w, *found) + of(b, *found) for w, b in ((w0, b0), (w1, b1)))
                    out[k, t] = gated(gate, value, str(activation_function)) @ of(w2, *found) + of(b2, *found)
            shards[device] = out.to(tokens.dtype)
    return GoldenMapTensor(shards, tokens.mesh_shape)


def compute_packed_experts(
    tokens: GoldenMapTensor,
    indices: GoldenMapTensor,
    scores: GoldenMapTensor,
    mapping: GoldenMapTensor,
    first: GoldenMapTensor,
    last: GoldenMapTensor,
    *buffers: GoldenMapTensor,
    has_bias: bool,
    **attributes: Any,
) -> GoldenMapTensor:
    """Returns compute_experts on weights as pack_experts leaves them."""
    unsplit = [first.map(lambda w: w.chunk(2, dim=-1)[0]), first.map(lambda w: w.chunk(2, dim=-1)[1]), last]
    weights = [each.map(lambda w: w[..., : w.shape[-2] - has_bias, :]) for each in unsplit]
    biases = [each.map(lambda w: w[..., -1, :]) for each in unsplit] if has_bias else []
    names = ("layer_id", "cluster_axis", "activation_function")
    chosen = {name: attributes[name] for name in names if name in attributes}
    return compute_experts(tokens, indices, scores, mapping, *weights, *biases, **chosen)


def pack_experts(*operands: Tensor | None) -> Tensor:
    """Returns weights side by side, and their biases as a last row."""
    given = [each for each in operands if each is not None]
    weights, biases = ([each for each in given if each.dim() == rank] for rank in (4, 3))
    packed = torch.cat(weights, dim=-1)
    return torch.cat([packed, torch.cat(biases, dim=-1)[:, :, None]], dim=2) if biases else packed


def listed(name: str, config: str) -> list[int]:
    """Returns the numbers of "name = [1 : i32, 4 : i32]" in the text of a config; none when it is not there."""
    found = re.search(rf"\b{name}\s*=\s*\[([^\]]*)\]", config)
    return [int(d.partition(":")[0]) for d in found[1].split(",") if d.strip()] if found else []


def placements(config: str) -> list[int]:
    """Returns tensor dimension of each mesh axis in the text of a mapper or composer config; -1 where it is replicated,
    and where mesh_shape_override leaves one device of the axis."""
    dims = listed("dims", config) or [int(d) if d else -1 for d in re.findall(r"shard\s*,\s*(-?\d+)|replicate", config)]
    sizes = listed("mesh_shape_override", config) or [0] * len(dims)
    return [-1 if size == 1 else dim for dim, size in zip(dims, sizes, strict=True)]


def stablehlo_all_to_all(x: Any, **a: Any) -> Any:
    names = {"split_dim": a["split_dimension"], "concat_dim": a["concat_dimension"]}
    return COLLECTIVE["all_to_all"].golden(x, **a, **names)


def region_kind(regions: Sequence[Any]) -> str:
    """Returns the reduction that a region of a single op stands for."""
    kinds = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod", "or": "max", "and": "min"}
    kind = getattr(regions[0], "kind", None) if regions else "add"
    if kind not in kinds:
        raise ValueError(f"no golden for a collective whose region computes {kind or 'more than one op'}")
    return kinds[kind]


COLLECTIVE = {
    "mesh_shard": Op(mesh_shard, mesh=True),
    "mesh_partition": Op(mesh_partition, mesh=True),
    "all_gather": Op(in_groups(by_axis, all_gather), mesh=True),
    "all_reduce": Op(in_groups(by_axis, all_reduce), mesh=True),
    "all_reduce_async": Op(in_groups(by_axis, all_reduce), mesh=True),
    "reduce_scatter": Op(in_groups(by_axis, reduce_scatter), mesh=True),
    "all_to_all": Op(in_groups(by_replicas, all_to_all), mesh=True),
    "collective_broadcast": Op(in_groups(by_replicas, broadcast_from_first), mesh=True),
    "collective_permute": Op(collective_permute, mesh=True),
    "point_to_point": Op(point_to_point, mesh=True),
    "all_to_all_dispatch": Op(dispatch, mesh=True),
    "all_to_all_dispatch_metadata": Op(
        lambda x, indices, scores, mapping, *buffers, cluster_axis: dispatch(
            x, indices, scores, mapping, cluster_axis=cluster_axis
        ),
        mesh=True,
    ),
    "all_to_all_combine": Op(combine, mesh=True),
    "moe_expert_token_remap": Op(remap, mesh=True),
    "moe_compute": Op(compute_experts, mesh=True),
    "ttnn.moe_compute": Op(compute_packed_experts, mesh=True),
    "prepare_moe_compute_w0_w1_weights": Op(pack_experts),
    "prepare_moe_compute_w2_weights": Op(pack_experts),
    "distribute_tensor": Op(
        lambda x, *device, mapper_config: split_over_mesh(x.agreed(), x.mesh_shape, placements(str(mapper_config))),
        mesh=True,
    ),
    "aggregate_tensor": Op(
        lambda x, *device, composer_config: gather_over_mesh(x, placements(str(composer_config))), mesh=True
    ),
    "stablehlo.all_gather": Op(in_groups(by_replicas, all_gather), mesh=True),
    "stablehlo.all_reduce": Op(
        lambda x, regions=(), **a: in_groups(by_replicas, all_reduce)(x, reduce_type=region_kind(regions), **a),
        mesh=True,
    ),
    "stablehlo.cross-replica-sum": Op(
        lambda x, **a: in_groups(by_replicas, all_reduce)(x, reduce_type="sum", **a), mesh=True
    ),
    "stablehlo.reduce_scatter": Op(
        lambda x, regions=(), **a: in_groups(by_replicas, reduce_scatter)(
            x, reduce_type=region_kind(regions), scatter_dim=a["scatter_dimension"], **a
        ),
        mesh=True,
    ),
    "stablehlo.all_to_all": Op(stablehlo_all_to_all, mesh=True),
}
