# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors as programs of the chip: captured by `ttmlir.torch` or, for gradients, by AOTAutograd."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.traceback import preserve_node_meta
from ttmlir.torch.compilation import called, compile_whole
from ttmlir.torch.decompositions import decompositions
from ttmlir.torch.importer import ON_HOST, is_call, op_name
from ttmlir.torch.options import Options
from ttmlir.torch.report import BACKWARD, FORWARD, left_on_host, record
from ttmlir.torch.saved import partition

from ..enums import BACKWARD as BACKWARD_EPOCH
from ..enums import FORWARD as FORWARD_EPOCH
from ..errors import PyBudaError
from ..placement.program import Executable, record_merged
from ..tools.reportify import compiling, requested_log
from .computing import AS_BY_DEFAULT, Computing
from .formats import DataFormat, split_products
from .functions import MOVES
from .requests import NO_REQUESTS, Requests, check_parts

# PyTorch's tracing keeps state for the process.
_tracing = threading.RLock()


# Functions that may be among those that only move elements.
LIGHT = frozenset({"add", "sub", "mul", "neg"})
EPOCHS = {FORWARD: FORWARD_EPOCH, BACKWARD: BACKWARD_EPOCH}


def moves_on_host(graph: Graph, statics: Sequence[int], depth: int) -> set[str]:
    """Marks what PyTorch runs of `enable_tm_cpu_fallback`: moves of inputs and of results that are `depth` ops from
    them at most, and light ops that are followed by more of them. Returns the names of the functions."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    given = {node: 0 for i, node in enumerate(placeholders) if i not in set(statics)}

    def name_of(node: Node) -> str:
        return op_name(node.target).split(".")[0] if is_call(node) else ""

    reached: dict[Node, int] = dict(given)
    for node in graph.nodes:
        is_part = node.op == "call_function" and not is_call(node)
        if (is_part or name_of(node) in MOVES | LIGHT) and node.all_input_nodes:
            far = max(reached.get(x, depth + 1) for x in node.all_input_nodes) + (not is_part)
            if far <= depth:
                reached[node] = far
    requested = {node for node in reached if name_of(node) in MOVES}
    for node in reversed(graph.nodes):
        if name_of(node) in LIGHT and node in reached and any(user in requested for user in node.users):
            requested.add(node)
    below: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        if name_of(node) in MOVES and node.users:
            far = max(0 if user.op == "output" else below.get(user, depth + 1) for user in node.users) + 1
            if far <= depth:
                below[node] = far
    for node in requested | set(below):
        node.meta[ON_HOST] = "enable_tm_cpu_fallback"
    return {str(node.target) for node in requested | set(below)}


# For forward and backward graph: products that are added up in parts (`split_products`).
Parts: TypeAlias = Mapping[str, Mapping[str, tuple[int, DataFormat]]]


class Compiled:
    """A function of a flat list of tensors, whose first `statics` are weights.

    log: its programs after each pass, where reports are requested.
    host_ops: names of ops that PyTorch runs. allow_host: whether it may run those that the chip lacks.
    moves_depth: how far from inputs and outputs it runs what only moves elements; 0: nowhere.
    recompute: the backward pass computes again what it can, and the forward pass keeps less.
    parts: products that are added up in parts.
    computing: how ops compute. requests: where epochs begin and what is not fused, by names of ops.
    epoch_type: of all ops; None: of forward and backward passes.
    programs: (FORWARD or BACKWARD, program), in the order in which they were made.
    executables: their flatbuffers. graphs: their graphs, after the first call of the function.
    copies: numbers of the requested copies that were inserted into these.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[torch.Tensor]],
        statics: int,
        options: Options,
        *,
        training: bool = False,
        host_ops: Sequence[str] = (),
        allow_host: bool = True,
        moves_depth: int = 0,
        recompute: bool = False,
        parts: Parts | None = None,
        computing: Computing = AS_BY_DEFAULT,
        requests: Requests = NO_REQUESTS,
        epoch_type: str | None = None,
    ) -> None:
        self.moves_depth, self.recompute, self.parts = moves_depth, recompute, parts or {}
        self.computing, self.requests, self.epoch_type = computing, requests, epoch_type
        self.statics, self.options, self.training = statics, options, training
        self.host_ops, self.allow_host = frozenset(host_ops), allow_host
        self.programs: list[tuple[str, Any]] = []
        self.executables: list[Executable] = []
        self.graphs: list[tuple[str, Graph]] = []
        self.on_host: list[str] = []
        self.copies: set[int] = set()
        self.log = requested_log()
        self._function = function
        self._backward: GraphModule | None = None
        self._of_backward: Any = None  # its program
        self._run: Callable[..., Sequence[torch.Tensor]] | None = None

    def _captured(self, flat: Sequence[torch.Tensor]) -> Callable[..., Sequence[torch.Tensor]]:
        """Compiles the function for arguments like these: in one pass if nothing is differentiated."""
        unsuited = "gradients"
        if not self.training:
            from ttmlir.torch.capture import UnsuitedError, capture_function

            try:
                graph = capture_function(self._function, flat)
            except UnsuitedError as error:
                unsuited = str(error)
            else:
                return called(self._compile(FORWARD, graph))
        return self._through_autograd(unsuited)

    def _through_autograd(self, unsuited: str) -> Callable[..., Sequence[torch.Tensor]]:
        """Returns the function as AOTAutograd captures it at its first call."""
        from functorch.compile import aot_function, make_boxed_func  # loads Dynamo, which importing pybuda does not

        function = self._function

        def compiler(kind: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
            def compile_one(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
                if kind == FORWARD:
                    program = self._compile(kind, graph, unsuited)
                    if self._backward is not None:  # AOTAutograd compiles it at its first run
                        self._of_backward = self._compile(BACKWARD, self._backward, unsuited)
                else:
                    program = self._of_backward
                return make_boxed_func(lambda *arguments: program(arguments))

            return compile_one

        return aot_function(
            lambda *flat: tuple(function(*flat)),
            fw_compiler=compiler(FORWARD),
            bw_compiler=compiler(BACKWARD),
            inference_compiler=compiler(FORWARD),
            partition_fn=self._partition,
            decompositions=decompositions(),
            num_params_buffers=self.statics,
            keep_inference_input_mutations=True,
            enable_log=False,
        )

    def _partition(self, joint: GraphModule, inputs: Any, **keywords: Any) -> tuple[GraphModule, GraphModule]:
        """Splits into the forward and the backward graph."""
        forward, self._backward = partition(joint, inputs, recompute=self.recompute, **keywords)
        return forward, self._backward

    def _compile(self, kind: str, graph: GraphModule, unsuited: str = "") -> Callable[[Sequence[Any]], Any]:
        """Compiles a captured graph to a program, and records the result."""
        split_products(graph.graph, self.parts.get(kind, {}))
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        if kind == FORWARD:
            parameters = list(range(self.statics))
        else:
            weights = {f"primals_{i + 1}" for i in range(self.statics)}
            parameters = [i for i, node in enumerate(placeholders) if str(node.target) in weights]
        for node in graph.graph.nodes:
            if is_call(node) and op_name(node.target).split(".")[0] in self.host_ops:
                node.meta[ON_HOST] = "cpu_fallback_ops"
        self.computing.apply(graph.graph, self.epoch_type or EPOCHS[kind], self.statics)
        self.copies |= self.requests.apply(graph.graph, self.epoch_type or EPOCHS[kind])
        moved = moves_on_host(graph.graph, parameters, self.moves_depth) if self.moves_depth else set()
        record_merged(graph.graph)
        with warnings.catch_warnings(), preserve_node_meta(False), compiling(self.log, kind), record() as reports:
            # `on_host` states that ops run in PyTorch, which is refused if the user does not allow it.
            warnings.filterwarnings("ignore", message="PyTorch runs what")
            program = compile_whole(graph, parameters, self.options, kind, self.training, unsuited)
        check_parts(graph.graph)
        found, _ = left_on_host(graph.graph)
        self.on_host += list(found)
        lacking = [name for name in found if name not in moved]
        if lacking and not self.allow_host:
            raise PyBudaError(
                f"the chip has no op for {', '.join(lacking)}, and enable_tvm_cpu_fallback is False; expected it "
                "to be True, or a module without these ops"
            )
        self.programs.append((kind, program))
        result = [program for report in reports for program in report.programs]
        self.executables += [Executable.of(program, self.epoch_type or EPOCHS[kind]) for program in result]
        self.graphs.append((kind, graph.graph))
        return program

    def prepare(self, *flat: torch.Tensor) -> None:
        """Captures the function for arguments like these; also compiles it, but for what AOTAutograd captures."""
        with torch.set_grad_enabled(self.training), _tracing, preserve_node_meta():
            # Ops of modules mark the nodes that they make.
            self._run = self._run or self._captured(flat)

    def __call__(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Runs the function. With gradients enabled, in training, its results have a backward pass."""
        with torch.set_grad_enabled(self.training):
            if self._run is not None:
                return tuple(self._run(*flat))
            with _tracing, preserve_node_meta():
                self.prepare(*flat)
                assert self._run is not None
                return tuple(self._run(*flat))


class OnChip:
    """A function of tensors alone, such as an optimizer's step: a program for each set of shapes."""

    def __init__(self, function: Callable[..., Sequence[torch.Tensor]], epoch_type: str) -> None:
        self.function, self.epoch_type = function, epoch_type
        self._compiled: dict[Any, Compiled] = {}

    def compiled(self, options: Options, computing: Computing, *tensors: torch.Tensor) -> Compiled:
        """Returns the program for tensors of these shapes, which is compiled at its first call."""
        shapes = [(tuple(x.shape), x.dtype) for x in tensors]
        key = (id(options.device), options.target_format, options.pipeline, computing, *shapes)
        if key not in self._compiled:
            self._compiled[key] = Compiled(self.function, 0, options, computing=computing, epoch_type=self.epoch_type)
        return self._compiled[key]

    def __call__(self, options: Options, computing: Computing, *tensors: torch.Tensor) -> list[torch.Tensor]:
        return [x.detach() for x in self.compiled(options, computing, *tensors)(*(x.detach() for x in tensors))]


accumulate = OnChip(lambda total, more: (total + more,), BACKWARD_EPOCH)
