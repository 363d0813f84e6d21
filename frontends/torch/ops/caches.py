# SPDX-License-Identifier: Apache-2.0
"""Key-value caches that a graph writes: rows of an argument at one position, which the chip writes where they are."""

from __future__ import annotations

from typing import Any

from ttmlir.dialects import ttir

import torch
from torch.fx import Graph, Node

from ..lowering import Lowering, Value

aten = torch.ops.aten
# Element types of caches on the chip that PyTorch's memory has, too.
CACHED = {torch.float32, torch.bfloat16}


def cache_updates(graph: Graph) -> dict[Node, Node]:
    """Returns ops that write one position of an argument [users, heads, positions, size], with the argument.

    The argument is read by nothing else, so that all who read the cache read what was written.
    """
    found = {}
    for node in graph.find_nodes(op="call_function", target=aten.index_copy.default):
        cache, dim, index, source = node.args
        writes = [user for user in node.users if user.target is aten.copy_.default and user.args == (cache, node)]
        returned = any(user.op == "output" for user in node.users)
        alone = cache.op == "placeholder" and len(writes) == 1 and set(cache.users) == {node, *writes}
        if alone and not returned and is_cache(cache.meta["val"], dim, index.meta["val"], source.meta["val"]):
            found[node] = cache
    return found


def is_cache(cache: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor) -> bool:
    """Returns whether all sizes are known and the chip has this write."""
    known = all(isinstance(size, int) for value in (cache, index, source) for size in value.shape)
    return (
        known
        and index.dtype is torch.int64
        and cache.ndim == 4
        and dim % 4 == 2
        and index.numel() == 1
        and cache.numel() > 0
        and cache.dtype in CACHED
        and source.dtype is cache.dtype
        and cache.is_contiguous()
    )


def update_cache(g: Lowering, cache: Value, index: Value, source: Value) -> Value:
    """Writes the rows [users, heads, 1, size] at the position; returns the cache with them."""
    rows = g.permute(source, (2, 1, 0, 3))
    position: Any = g.cast(g.reshape(index, (1,)), torch.int32)
    ttir.update_cache(cache.ir, rows.ir, position.ir, 0)
    return cache
