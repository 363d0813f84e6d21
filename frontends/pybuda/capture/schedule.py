# SPDX-License-Identifier: Apache-2.0
"""The order of `add_schedule_constraint`: nodes of the graphs that are compiled run in it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from torch.fx import Graph, Node

from ..errors import PlacementError


def reorder(graph: Graph, names: Mapping[Node, str], constraints: Sequence[Sequence[str]]) -> None:
    """Moves nodes behind those that constraints want before them; others stay in their order.

    Raises:
        PlacementError: a constraint contradicts the data, or another one.
    """
    *nodes, output = graph.nodes
    number = {node: i for i, node in enumerate(nodes)}
    before: dict[Node, set[Node]] = {node: set(node.all_input_nodes) for node in nodes}
    of_name: dict[str, list[Node]] = {}
    for node, name in names.items():
        of_name.setdefault(name, []).append(node)
    for order in constraints:
        for first, second in pairwise(name for name in order if name in of_name):
            for node in of_name[second]:
                before[node].update(of_name[first])
    after: dict[Node, list[Node]] = {}
    for node, found in before.items():
        for x in found:
            after.setdefault(x, []).append(node)
    waiting = {node: len(found) for node, found in before.items()}
    ready = [number[node] for node in nodes if not waiting[node]]
    done: list[Node] = []
    while ready:
        done.append(nodes[heapq.heappop(ready)])
        for node in after.get(done[-1], []):
            waiting[node] -= 1
            if not waiting[node]:
                heapq.heappush(ready, number[node])
    if len(done) < len(nodes):
        left = list(dict.fromkeys(names[node] for node in nodes if waiting[node] and node in names))
        orders = ", ".join(str([*order]) for order in constraints)
        raise PlacementError(
            f"add_schedule_constraint({orders}): ops {', '.join(left[:4])} would each be before the others"
        )
    for node in done:
        output.prepend(node)
