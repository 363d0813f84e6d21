# SPDX-License-Identifier: Apache-2.0
"""Graphs as lists of calls, one JSON file a graph: `<folder>/raw/<model>/fw_0.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves
from ttmlir.files import write_whole
from ttmlir.torch.importer import is_call

FORWARD, BACKWARD = "fw", "bw"
RAW, PROFILE = "raw", "profile"


@dataclass(frozen=True)
class TensorInfo:
    """shape of a tensor, and its dtype as PyTorch prints it ("float32")."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count * torch.empty(0, dtype=getattr(torch, self.dtype)).element_size()


@dataclass(frozen=True)
class Call:
    """One op of a graph: its name ("aten.add.Tensor"), the tensors that it takes and those that it gives."""

    op_type: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


def tensors_of(value: Any) -> tuple[TensorInfo, ...]:
    leaves = [x for x in tree_leaves(value) if isinstance(x, torch.Tensor)]
    return tuple(TensorInfo(tuple(int(n) for n in x.shape), str(x.dtype).removeprefix("torch.")) for x in leaves)


def calls_of(graph_module: GraphModule) -> list[Call]:
    """Returns the ops of a graph of aten ops with fake tensors in `meta["val"]`."""

    def values(node: Node) -> Any:
        return node.meta.get("val")

    return [
        Call(str(node.target), tensors_of([values(n) for n in node.all_input_nodes]), tensors_of(values(node)))
        for node in graph_module.graph.nodes
        if is_call(node)
    ]


def folder_name(model: str) -> str:
    return re.sub(r"[^\w.-]+", "_", model).strip("_")


class Tracer:
    """A backend of `torch.compile` that runs graphs as they are and writes down what they hold.

    Args:
        model: name of the model, and so of the folder.
        folder: where `raw/` and `profile/` go.
        decompositions: what AOTAutograd takes apart; None for the graph as PyTorch has it.
        profile: write a trace of PyTorch's profiler, too: `profile/<model>.json`, for chrome://tracing.
    """

    def __init__(
        self,
        model: str,
        folder: Path,
        decompositions: dict[Any, Callable[..., Any]] | None = None,
        profile: bool = False,
    ) -> None:
        from torch._dynamo.backends.common import aot_autograd  # loads Dynamo, for which reports need not wait

        self.name = folder_name(model)
        self.raw = folder / RAW / self.name
        self.trace = folder / PROFILE / f"{self.name}.json"
        self.counts = {FORWARD: 0, BACKWARD: 0}
        self.files: list[Path] = []
        activities = [torch.profiler.ProfilerActivity.CPU]
        self.profiler = torch.profiler.profile(activities=activities, record_shapes=True) if profile else None
        self.backend = aot_autograd(
            fw_compiler=self.compiler(FORWARD), bw_compiler=self.compiler(BACKWARD), decompositions=decompositions or {}
        )

    def __enter__(self) -> Tracer:
        for kind in (FORWARD, BACKWARD):  # else the report has graphs of an earlier run among these
            for path in self.raw.glob(f"{kind}_*.json"):
                path.unlink()
        if self.profiler is not None:
            self.profiler.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.profiler is not None:
            self.profiler.stop()
            self.trace.parent.mkdir(parents=True, exist_ok=True)
            self.profiler.export_chrome_trace(str(self.trace))
            self.files.append(self.trace)

    def compiler(self, kind: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
        from functorch.compile import make_boxed_func

        def write(graph_module: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
            path = self.raw / f"{kind}_{self.counts[kind]}.json"
            self.counts[kind] += 1
            self.raw.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps([asdict(call) for call in calls_of(graph_module)]) + "\n")
            self.files.append(path)
            return make_boxed_func(graph_module.forward)

        return write


def read_calls(folder: Path, kind: str) -> Iterator[Call]:
    """Yields the calls of all graphs of a kind ("fw", "bw") under `<folder>/raw`.

    Raises:
        ValueError: a file that no tracer wrote; names it.
    """
    for path in sorted((folder / RAW).glob(f"*/{kind}_*.json")):
        try:
            for call in json.loads(path.read_text(encoding="utf-8")):
                inputs, outputs = (
                    tuple(TensorInfo(tuple(t["shape"]), t["dtype"]) for t in call[side])
                    for side in ("inputs", "outputs")
                )
                yield Call(call["op_type"], inputs, outputs)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: no graph of the tracer: {type(error).__name__}: {error}") from None
