# SPDX-License-Identifier: Apache-2.0
"""Arguments that get memory which something else has, too (`x.data = x.t()`), and writes to memory around arguments.

AOTAutograd gives an argument other memory (`x.data = x * 2`) after the graph has run. It does not see that an argument
becomes another view of what it was, and values that are written to the memory of several tensors reach one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ..capture import Replay
from ..importer import source_line
from ..strided import elements_at, memory


def is_set(node: Node) -> bool:
    """Returns whether a node of Dynamo's graph gives an argument other memory. (Dynamo makes no graph of `set_`
    itself.)
    """
    return node.op == "call_function" and node.target is torch.Tensor.set_


def is_strided(node: Node) -> bool:
    """Returns whether a node of Dynamo's graph is a strided view, which may read memory around its operand."""
    return "as_strided" in str(getattr(node.target, "__name__", node.target))


def geometry(tensor: torch.Tensor) -> tuple[Any, ...]:
    return memory(tensor), tensor.shape, tensor.stride(), tensor.storage_offset()


class Writes(TorchDispatchMode):
    """Notes the memory that ops write while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(func, OpOverload) and func._schema.is_mutable and func.overloadpacket is not torch.ops.aten.set_:
            given = dict(zip((a.name for a in func._schema.arguments), args, strict=False)) | (kwargs or {})
            written = [given.get(a.name) for a in func._schema.arguments if a.is_write]
            self.memory.update(memory(x) for x in tree_leaves(written) if isinstance(x, torch.Tensor))
        return result


class Watch(Replay):
    """Runs a graph on fake tensors.

    sharers: how many arguments have a memory, as they were given. written: memory that was written so far.
    taken: memory that arguments got. views: by strides.
    reason: why a graph of values alone does not say what happens, or "".
    """

    def __init__(self, graph_module: GraphModule, arguments: Sequence[Any], written: Set[int]) -> None:
        super().__init__(graph_module)
        self.written = written
        tensors = [x for x in arguments if isinstance(x, torch.Tensor)]
        self.arguments = {id(x): x for x in tensors}
        self.storages = [x.untyped_storage() for x in tensors]  # what is named by its address stays
        self.sharers = Counter(map(memory, tensors))
        self.taken: set[int] = set()
        self.views: list[tuple[Node, torch.Tensor]] = []
        self.reason = ""

    def run_node(self, n: Node) -> Any:
        if is_set(n):
            target, source = self.fetch_args_kwargs_from_env(n)[0]
            if id(target) in self.arguments and geometry(target) != geometry(source):
                self.note(n, target, source)
        result = super().run_node(n)
        if is_strided(n):
            self.views.append((n, result))
        return result

    def note(self, node: Node, target: torch.Tensor, source: torch.Tensor) -> None:
        place = source_line(node)
        where = f" ({place[0]}:{place[1]})" if place else ""
        if memory(source) in self.sharers or memory(source) in self.taken:
            self.reason = self.reason or f"an argument gets the memory of an argument{where}"
        elif self.sharers[memory(target)] > 1 or memory(target) in self.written:
            self.reason = self.reason or f"an argument gets other memory, and others see what it had{where}"
        self.taken.add(memory(source))
        self.storages.append(source.untyped_storage())

    def results(self, values: Sequence[Any]) -> None:
        if any(isinstance(x, torch.Tensor) and memory(x) in self.taken for x in values):
            self.reason = self.reason or "an argument gets the memory of a result"
        for node, view in self.views:
            if memory(view) in self.written and not self.is_held(view):
                place = source_line(node)
                where = f" ({place[0]}:{place[1]})" if place else ""
                self.reason = self.reason or f"a write to memory around an argument{where}"

    def is_held(self, view: torch.Tensor) -> bool:
        """Returns whether each argument of a view's memory has all of the view's elements."""
        size, stride, first = view.shape, view.stride(), view.storage_offset()
        return not any(
            memory(x) == memory(view) and bool((elements_at(x, size, stride, first) < 0).any())
            for x in self.arguments.values()
        )


def kept_memory(graph_module: GraphModule, inputs: Sequence[Any]) -> str:
    """Returns why functionalization would lose which tensors share memory when the graph has run, or a write; or "".

    inputs: the arguments of the first call.
    """
    nodes = graph_module.graph.nodes
    if not any(is_set(node) or is_strided(node) for node in nodes):
        return ""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        fakes = [mode.from_tensor(x, static_shapes=True) if isinstance(x, torch.Tensor) else x for x in inputs]
        writes = Writes()
        watch = Watch(graph_module, fakes, writes.memory)
        with mode, writes, torch.set_grad_enabled(torch.is_grad_enabled()):
            values = watch.replay(fakes)
        watch.results(values)
    except Exception as error:
        if not any(map(is_set, nodes)):
            return ""
        return f"an argument gets other memory, and which is not known: {type(error).__name__}: {error}"
    return watch.reason
