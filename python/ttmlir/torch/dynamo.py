# SPDX-License-Identifier: Apache-2.0
"""The backend of `torch.compile`: graphs of Dynamo, captured in one pass or through AOTAutograd, to programs."""

from __future__ import annotations

import copy
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._higher_order_ops.passes.inline_invoke_subgraph import inline_invoke_subgraph
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx import GraphModule

from ..ir import MLIRError
from .capture import UnsuitedError, capture
from .decompositions import decompositions
from .errors import UnsupportedError
from .importer import ON_HOST, import_graph, source_line
from .options import Options
from .partition import split
from .program import Program, Times
from .report import BACKWARD, FORWARD, Report, add, counted, left_on_host
from .saved import partition


def compile_graph(
    graph_module: GraphModule,
    parameters: Sequence[int] = (),
    options: Options | None = None,
    keep_text: bool = False,
    training: bool = False,
) -> Program:
    """A graph of aten ops, functional and with fake tensors, as a program.

    training: the graph has a backward pass, or is one.
    """
    started = time.perf_counter()
    graph = graph_module.graph
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    values = [n.meta.get("val") for n in placeholders]
    tensors = {i: value.dtype for i, value in enumerate(values) if isinstance(value, torch.Tensor)}
    with unset_fake_temporarily():  # constants are computed while importing
        imported = import_graph(graph_module, parameters)
    (output,) = [n for n in graph.nodes if n.op == "output"]
    returned = output.args[0] if isinstance(output.args[0], Sequence) else [output.args[0]]
    outputs = [n.meta["val"] if isinstance(n, torch.fx.Node) else n for n in returned]
    outputs += [placeholders[number].meta["val"] for number, _ in imported.writes]
    times = Times(import_graph=time.perf_counter() - started)
    options = options or Options()
    watch = training if options.watch_weights is None else options.watch_weights
    weights = frozenset(parameters)
    return Program(imported, tensors, weights, outputs, options, watch, times=times, keep_text=keep_text)


def compile_whole(
    graph_module: GraphModule,
    parameters: Sequence[int],
    options: Options,
    kind: str = FORWARD,
    training: bool = False,
    unsuited: str = "",
) -> Callable[[Sequence[Any]], Any]:
    """A program of the graph, or several where PyTorch has to run ops in between.

    kind: FORWARD or BACKWARD, for the report. training: the graph has a backward pass, or is one.
    unsuited: why AOTAutograd captured the graph, for the report.

    Warns:
        UserWarning: names the ops that PyTorch runs, with the reason where the chip has the op and refuses this one.
    """
    report = Report(kind, counted(graph_module.graph), unsuited=unsuited)
    add(report)

    def part(graph: GraphModule, weights: Sequence[int]) -> Program:
        program = compile_graph(graph, weights, options, training=training)
        report.programs.append(program)
        return program

    while True:
        report.on_host, report.reasons = left_on_host(graph_module.graph)
        report.programs.clear()
        try:
            if not report.on_host:
                return part(graph_module, parameters)
            program = split(graph_module, parameters, part)
        except (UnsupportedError, MLIRError) as error:
            refused = blamed(graph_module.graph, error)
            if not refused:
                report.error = str(error)
                raise
            reason = str(error) if isinstance(error, UnsupportedError) else error.error_diagnostics[0].message
            for node in refused:
                node.meta[ON_HOST] = reason
        else:
            warnings.warn(f"PyTorch runs what the chip has no op for: {report.host_text()}", stacklevel=2)
            return program


def blamed(graph: torch.fx.Graph, error: UnsupportedError | MLIRError) -> list[torch.fx.Node]:
    """The nodes that an error is about and that are not on the host yet: a rule's, or where a pass points."""
    if isinstance(error, UnsupportedError):
        names = {getattr(error.node, "name", None)}
    else:
        names = {name for d in error.error_diagnostics for name in re.findall(r'"([^"]*)"', str(d.location))}
    named = [n for n in graph.nodes if n.name in names]
    # A constant that the chip does not hold is the host's with the ops that read it.
    found = [n for node in named for n in (node.users if node.op == "get_attr" else [node])]
    return [n for n in found if n.op == "call_function" and not n.meta.get(ON_HOST)]


def warn_of_doubles(graph: torch.fx.Graph) -> None:
    """Says where 64-bit floats come from, which the chip computes in 32 bits."""

    def is_double(node: torch.fx.Node) -> bool:
        value = node.meta.get("val")
        return isinstance(value, torch.Tensor) and value.dtype is torch.float64

    named = []
    for node in graph.nodes:
        if is_double(node) and not any(map(is_double, node.all_input_nodes)):
            place = next((p for n in (node, *node.users) if (p := source_line(n))), None)
            what = f"{node.name} float64{list(node.meta['val'].shape)}"
            named.append(what + (f" ({place[0]}:{place[1]})" if place else ""))
    if named:
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        warnings.warn(f"float64 is computed in float32 on the chip: {', '.join(named[:3])}{more}", stacklevel=2)


def is_dynamic(graph_module: GraphModule) -> bool:
    """Whether sizes of the graph's arguments are known only when it is called."""
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt) or (
                isinstance(value, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in value.shape)
            ):
                return True
    return False


def specialised(graph_module: GraphModule, arguments: Sequence[Any]) -> GraphModule:
    """A copy of the graph for the sizes of these arguments."""
    known = copy.copy(graph_module)
    known.graph = copy.deepcopy(graph_module.graph)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    given = [mode.from_tensor(a, static_shapes=True) if isinstance(a, torch.Tensor) else a for a in arguments]

    class Record(torch.fx.Interpreter):
        def run_node(self, node: torch.fx.Node) -> Any:
            result = super().run_node(node)
            node.meta["val"] = result
            return result

    with mode:
        Record(known).run(*given)
    return known


class Specialising:
    """A graph whose sizes change: a program for each set of sizes that it was called with."""

    def __init__(
        self,
        graph_module: GraphModule,
        parameters: Sequence[int],
        options: Options,
        kind: str,
        training: bool,
        unsuited: str,
    ) -> None:
        self.graph_module, self.parameters = graph_module, parameters
        self.rest = (options, kind, training, unsuited)
        self.programs: dict[tuple[Any, ...], Callable[[Sequence[Any]], Any]] = {}

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        key = tuple((tuple(a.shape), a.stride()) if isinstance(a, torch.Tensor) else a for a in arguments)
        program = self.programs.get(key)
        if program is None:
            known = specialised(self.graph_module, arguments)
            program = compile_whole(known, self.parameters, *self.rest)
            self.programs[key] = program
        return program(arguments)


def static_inputs(graph: torch.fx.Graph, kind: str) -> list[int]:
    """Arguments of the graph that is being compiled whose memory stays: parameters and buffers.

    AOTAutograd numbers those of the forward graph. A backward graph takes some of them over, by their name
    `primals_<number, from 1>`, among what was computed.
    """
    tracing = torch._guards.TracingContext.try_get()
    metadata = tracing.fw_metadata if tracing is not None else None
    if metadata is None:
        return []
    if kind == FORWARD:
        return list(metadata.static_input_indices)
    names = {f"primals_{i + 1}" for i in metadata.static_input_indices}
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    return [i for i, node in enumerate(placeholders) if str(node.target) in names]


def compiler(
    options: Options, kind: str, training: bool, unsuited: str = ""
) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
    """What AOTAutograd calls with each of its graphs: one for inference, or a forward and a backward one."""

    def compile_one(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        parameters = static_inputs(graph.graph, kind)
        if kind == FORWARD:
            warn_of_doubles(graph.graph)
        program: Callable[[Sequence[Any]], Any]
        if is_dynamic(graph):
            program = Specialising(graph, parameters, options, kind, training, unsuited)
        else:
            program = compile_whole(graph, parameters, options, kind, training, unsuited)
        return make_boxed_func(lambda *arguments: program(arguments))

    return compile_one


def called(program: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    """A program as Dynamo calls it. Ops that PyTorch runs have the types that autocast gave them, and no gradients."""

    def run(*arguments: Any) -> Any:
        with torch.no_grad(), torch._C._DisableAutocast():
            return program(arguments)

    return run


def backend(
    graph_module: GraphModule, example_inputs: Sequence[Any], options: Options | Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """`torch.compile(model, backend=backend)`, or `backend="tt"`: Dynamo's graph as a function that runs on the chip.

    Raises:
        TypeError, ValueError: an option that is not known, or of another type.
        UnsupportedError: an op that neither the chip nor PyTorch runs; names the line of Python.
    """
    chosen = Options.of(options)
    chosen.check()
    if graph_module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph):
        # Regions that the user marked as repeated, which spares Dynamo's time.
        graph_module = inline_invoke_subgraph(graph_module)
        graph_module.recompile()
    try:
        graph, parameters = capture(graph_module, example_inputs)
    except UnsuitedError as error:
        return through_autograd(chosen, str(error))(graph_module, example_inputs)
    warn_of_doubles(graph.graph)
    return called(compile_whole(graph, parameters, chosen))


def through_autograd(options: Options, unsuited: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
    """AOTAutograd's way to compile a graph of Dynamo: with gradients, writes to arguments, and sizes that change."""
    return aot_autograd(
        fw_compiler=compiler(options, FORWARD, True, unsuited),
        bw_compiler=compiler(options, BACKWARD, True, unsuited),
        inference_compiler=compiler(options, FORWARD, False, unsuited),
        decompositions=decompositions(),
        partition_fn=partition,
        keep_inference_input_mutations=True,
    )
