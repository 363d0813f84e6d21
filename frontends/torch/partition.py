# SPDX-License-Identifier: Apache-2.0
"""Graphs with ops that have no rule: the parts between them are programs, and PyTorch runs those ops.

A program has its numbers drawn before it runs, in the order of its graph. Several programs, and ops between them that
draw for themselves, run in the order in which values are ready: draws of a divided graph are taken out of the programs,
and each waits for the one before it.
"""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .errors import OutOfRangeError
from .importer import is_draw, is_supported, is_write

aten = torch.ops.aten


def in_order(_previous: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the random values of an op, after those of the previous one."""
    return op(*args, **kwargs)


def mask_in_order(_previous: Any, size: Sequence[int], stride: Sequence[int], chance: float) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=torch.bool).bernoulli_(chance)


def put_in_order(graph: Graph) -> None:
    """Makes each draw of a graph one that PyTorch runs when the one before it has run.

    Of a dropout only the mask is; the products stay with the chip.
    """
    draws = [node for node in graph.nodes if node.op == "call_function" and is_draw(node)]
    if len(draws) < 2:
        return
    previous: Node | None = None
    for node in draws:
        with graph.inserting_before(node):
            if node.target is aten.native_dropout.default:
                previous = _masked(graph, node, previous)
            else:
                ordered = graph.call_function(in_order, (previous, node.target, *node.args), node.kwargs)
                ordered.meta = dict(node.meta)
                node.replace_all_uses_with(ordered)
                previous = ordered
        graph.erase_node(node)


def _masked(graph: Graph, dropout: Node, previous: Node | None) -> Node:
    """Replaces a dropout by a mask and products; returns the mask's node."""
    x, p, _ = dropout.args
    result, mask_value = dropout.meta["val"]

    def add(target: Any, args: tuple[Any, ...], value: torch.Tensor) -> Node:
        node = graph.call_function(target, args)
        node.meta = dict(dropout.meta) | {"val": value}
        return node

    chance = 1 - float(p)  # type: ignore[arg-type]
    size, stride = [int(n) for n in mask_value.shape], [int(n) for n in mask_value.stride()]
    mask = add(mask_in_order, (previous, size, stride, chance), mask_value)
    kept = add(aten.mul.Tensor, (x, mask), result)
    scaled = add(aten.mul.Tensor, (kept, 1 / chance), result)
    for user in list(dropout.users):
        if user.target is not operator.getitem:
            raise AssertionError(f"{user.target} takes all results of a dropout")
        user.replace_all_uses_with(mask if user.args[1] == 1 else scaled)
        graph.erase_node(user)
    return mask


class _Supported(OperatorSupportBase):
    def is_node_supported(self, _submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and is_supported(node) and not is_write(node)


class _Part(torch.nn.Module):
    """A program where the graph has a part, or the part itself for integers that the program does not hold."""

    def __init__(self, program: Callable[[Sequence[Any]], list[Any]], part: GraphModule, single: bool) -> None:
        super().__init__()
        self.program, self.part, self.single = program, part, single
        self.draws = any(map(is_draw, part.graph.nodes))

    def forward(self, *arguments: Any) -> Any:
        state = torch.get_rng_state() if self.draws else None
        try:
            results = self.program(arguments)
        except OutOfRangeError as error:
            warnings.warn(f"PyTorch runs a part of the graph: {error}", stacklevel=2)
            if state is not None:  # the program has drawn its numbers
                torch.set_rng_state(state)
            return self.part(*arguments)
        return results[0] if self.single else tuple(results)


def split(
    graph_module: GraphModule,
    parameters: Sequence[int],
    compile_part: Callable[[GraphModule, Sequence[int]], Callable[[Sequence[Any]], list[Any]]],
) -> Callable[[Sequence[Any]], Any]:
    """Returns the graph with a program for each part that can be one; PyTorch runs the rest."""
    whole = copy.copy(graph_module)
    whole.graph = copy.deepcopy(graph_module.graph)
    graph_module = whole
    put_in_order(graph_module.graph)
    static = {
        n for i, n in enumerate(n for n in graph_module.graph.nodes if n.op == "placeholder") if i in set(parameters)
    }
    partitioner = CapabilityBasedPartitioner(graph_module, _Supported(), allows_single_node_partition=True)
    fused = partitioner.fuse_partitions(partitioner.propose_partitions())
    for node in fused.graph.nodes:
        if node.op != "call_module":
            continue
        part = fused.get_submodule(str(node.target))
        assert isinstance(part, GraphModule)
        weights = [i for i, argument in enumerate(node.args) if argument in static]
        (output,) = [n for n in part.graph.nodes if n.op == "output"]
        single = isinstance(output.args[0], Node)
        fused.add_submodule(str(node.target), _Part(compile_part(part, weights), part, single))
    return lambda arguments: fused(*arguments)
