# SPDX-License-Identifier: Apache-2.0
"""Ops that read memory and not values: `as_strided` of a view reads the memory around it, in memory order."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Graph, Node

aten = torch.ops.aten
VIEWS = {aten.as_strided.default, aten.as_strided_copy.default}


def memory(tensor: torch.Tensor) -> int:
    """Returns which memory a tensor has: the same number for its views."""
    return tensor.untyped_storage()._cdata


def read_owners(graph: Graph) -> None:
    """Makes views by strides read the first value of the graph that has their operand's memory, from an offset that
    is written down: a sum and not its slice, the argument and not its transpose.
    """
    nodes = [node for target in VIEWS for node in graph.find_nodes(op="call_function", target=target)]
    if not nodes:
        return
    owners: dict[tuple[int, torch.dtype], Node] = {}
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            owners.setdefault((memory(value), value.dtype), node)
    for node in nodes:
        given = dict(zip(("self", "size", "stride", "storage_offset"), node.args, strict=False)) | node.kwargs
        viewed, first = given["self"], given.get("storage_offset")
        value = viewed.meta["val"]
        owner = owners.get((memory(value), value.dtype), viewed)
        node.args = (owner, given["size"], given["stride"], value.storage_offset() if first is None else first)
        node.kwargs = {}


def places(size: Sequence[int], stride: Sequence[int], offset: int) -> torch.Tensor:
    """Returns the offsets of a tensor's elements in its memory, int64[size]."""
    found = torch.tensor(offset)
    for count, step in zip(size, stride, strict=True):
        found = found.unsqueeze(-1) + torch.arange(count) * step
    return found


def elements_at(value: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None) -> torch.Tensor:
    """Returns the element of `value`, counted row by row, at the address of each element of a view of its memory; -1 if
    there is none. int64[size].
    """
    first = value.storage_offset()
    requested = places(size, stride, first if offset is None else offset)
    if value.is_contiguous():  # no table of what may be a large weight
        requested -= first
        return requested.masked_fill_((requested < 0) | (requested >= value.numel()), -1)
    placed = places(value.shape, value.stride(), first).flatten()
    last = max(int(x.max()) for x in (placed, requested) if x.numel())
    elements = torch.full((last + 1,), -1)
    elements[placed] = torch.arange(placed.numel())
    return elements[requested]
