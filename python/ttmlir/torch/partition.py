# SPDX-License-Identifier: Apache-2.0
"""Graphs with ops that have no rule: the parts between them are programs, and PyTorch runs those ops."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .errors import OutOfRangeError
from .importer import is_supported, is_write


class _Supported(OperatorSupportBase):
    def is_node_supported(self, _submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and is_supported(node) and not is_write(node)


class _Part(torch.nn.Module):
    """A program where the graph has a part, or the part itself for integers that the program does not hold."""

    def __init__(self, program: Callable[[Sequence[Any]], list[Any]], part: GraphModule, single: bool) -> None:
        super().__init__()
        self.program, self.part, self.single = program, part, single

    def forward(self, *arguments: Any) -> Any:
        try:
            results = self.program(arguments)
        except OutOfRangeError as error:
            warnings.warn(f"PyTorch runs a part of the graph: {error}", stacklevel=2)
            return self.part(*arguments)
        return results[0] if self.single else tuple(results)


def split(
    graph_module: GraphModule,
    parameters: Sequence[int],
    compile_part: Callable[[GraphModule, Sequence[int]], Callable[[Sequence[Any]], list[Any]]],
) -> Callable[[Sequence[Any]], Any]:
    """The graph with a program for each part that can be one; PyTorch runs the rest."""
    whole = copy.copy(graph_module)
    whole.graph = copy.deepcopy(graph_module.graph)
    graph_module = whole
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
