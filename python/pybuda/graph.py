# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors as programs of the chip: traced by PyTorch's AOTAutograd, compiled by `ttmlir.torch`."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from functorch.compile import aot_function, make_boxed_func
from torch.fx import GraphModule
from ttmlir.torch.decompositions import decompositions
from ttmlir.torch.dynamo import compile_whole
from ttmlir.torch.importer import ON_HOST, is_call, op_name
from ttmlir.torch.options import Options
from ttmlir.torch.report import BACKWARD, FORWARD, left_on_host
from ttmlir.torch.saved import partition

from .errors import PyBudaError
from .tools.reportify import compiling, log_if_asked

# PyTorch's tracing keeps state for the process.
_tracing = threading.RLock()


class Compiled:
    """A function of a flat list of tensors, whose first `statics` are weights.

    log: what passes made of its programs, where reports are asked for.
    host_ops: names of ops that PyTorch runs. allow_host: whether it may run those that the chip lacks.
    programs: (FORWARD or BACKWARD, program), in the order in which they were made.
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
    ) -> None:
        self.statics, self.options, self.training = statics, options, training
        self.host_ops, self.allow_host = frozenset(host_ops), allow_host
        self.programs: list[tuple[str, Any]] = []
        self.on_host: list[str] = []
        self.log = log_if_asked()
        self._called = False
        self._function = aot_function(
            lambda *flat: tuple(function(*flat)),
            fw_compiler=self._compiler(FORWARD),
            bw_compiler=self._compiler(BACKWARD),
            inference_compiler=self._compiler(FORWARD),
            partition_fn=partition,
            decompositions=decompositions(),
            num_params_buffers=statics,
            keep_inference_input_mutations=True,
            enable_log=False,
        )

    def _compiler(self, kind: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
        weights = {f"primals_{i + 1}" for i in range(self.statics)}

        def compile_one(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
            placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
            if kind == FORWARD:
                parameters = list(range(self.statics))
            else:
                parameters = [i for i, node in enumerate(placeholders) if str(node.target) in weights]
            for node in graph.graph.nodes:
                if is_call(node) and op_name(node.target).split(".")[0] in self.host_ops:
                    node.meta[ON_HOST] = "cpu_fallback_ops"
            with warnings.catch_warnings(), compiling(self.log, kind):
                # That ops run in PyTorch is said by `on_host`, and refused where the user does not want it.
                warnings.filterwarnings("ignore", message="PyTorch runs what")
                program = compile_whole(graph, parameters, self.options, kind, self.training)
            found, _ = left_on_host(graph.graph)
            self.on_host += list(found)
            if found and not self.allow_host:
                raise PyBudaError(
                    f"the chip has no op for {', '.join(found)}, and enable_tvm_cpu_fallback is False; expected it to "
                    "be True, or a module without these ops"
                )
            self.programs.append((kind, program))
            return make_boxed_func(lambda *arguments: program(arguments))

        return compile_one

    def __call__(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Runs the function. With gradients enabled, in training, its results have a backward pass."""
        with torch.set_grad_enabled(self.training):
            if self._called:
                return self._function(*flat)
            with _tracing:
                self._called = True
                return self._function(*flat)


class OnChip:
    """A function of tensors alone, such as an optimizer's step: a program for each set of shapes."""

    def __init__(self, function: Callable[..., Sequence[torch.Tensor]]) -> None:
        self.function = function
        self._compiled: dict[Any, Compiled] = {}

    def __call__(self, options: Options, *tensors: torch.Tensor) -> list[torch.Tensor]:
        key = (id(options.device), options.target_format, *((tuple(x.shape), x.dtype) for x in tensors))
        if key not in self._compiled:
            self._compiled[key] = Compiled(self.function, 0, options)
        return [x.detach() for x in self._compiled[key](*(x.detach() for x in tensors))]


accumulate = OnChip(lambda total, more: (total + more,))
