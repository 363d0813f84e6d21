# SPDX-License-Identifier: Apache-2.0
"""Compiles graphs of aten ops to programs, for every way of capturing them."""

from __future__ import annotations

import gc
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ttmlir.ir import MLIRError

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule

from .errors import OverflowedError, UnsupportedError
from .importer import ON_HOST, import_graph, source_line
from .lowering import HostNumber
from .options import Options
from .partition import split
from .program import Program, Times
from .report import FORWARD, Report, add, counted, left_on_host
from .strided import read_owners


@contextmanager
def without_collection() -> Iterator[None]:
    """Leaves Python's cyclic garbage for later: a graph makes many objects that stay, and each search through all that
    Dynamo holds takes half a second.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compile_graph(
    graph_module: GraphModule,
    parameters: Sequence[int] = (),
    options: Options | None = None,
    keep_text: bool = False,
    training: bool = False,
) -> Program:
    """Returns a graph of aten ops, functional and with fake tensors, as a program.

    training: the graph has a backward pass, or is one.
    """
    started = time.perf_counter()
    graph = graph_module.graph
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    values = [n.meta.get("val") for n in placeholders]
    tensors = {i: value.dtype for i, value in enumerate(values) if isinstance(value, torch.Tensor)}
    with unset_fake_temporarily():  # constants are computed while importing
        imported = import_graph(graph_module, parameters, checks=not keep_text)
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
    closed: str = "",
) -> Callable[[Sequence[Any]], Any]:
    """Returns a program of the graph, or several where PyTorch has to run ops in between.

    kind: FORWARD or BACKWARD, for the report. training: the graph has a backward pass, or is one.
    unsuited, closed: why AOTAutograd captured the graph, and why the program is for its sizes alone; for the report.

    Warns:
        UserWarning: names the ops that PyTorch runs, with the reason where the chip has the op and refuses this one.
    """
    read_owners(graph_module.graph)
    text = str(options.compile_options())
    report = Report(kind, counted(graph_module.graph), unsuited=unsuited, closed=closed, options=text)
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
                return with_wide_integers(part(graph_module, parameters), lambda _: graph_module)
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


def with_wide_integers(
    program: Program, graph_for: Callable[[Sequence[Any]], GraphModule]
) -> Callable[[Sequence[Any]], Any]:
    """Returns a program, and PyTorch in its place where 64-bit results may not fit into the chip's 32 bits.

    graph_for: the program's graph for these arguments.

    Warns (when called):
        UserWarning: names the op.
    """
    passed = any(isinstance(draw, HostNumber) and draw.dtype is torch.int64 for draw in program.imported.draws)
    if not program.imported.limits and not passed:
        return program

    def run(arguments: Sequence[Any]) -> Any:
        state = torch.get_rng_state() if program.imported.draws else None
        try:
            return program(arguments)
        except OverflowedError as error:
            warnings.warn(f"PyTorch runs a graph: {error}", stacklevel=2)
            if state is not None:  # the program has drawn its numbers
                torch.set_rng_state(state)
            results = torch.fx.Interpreter(graph_for(arguments)).run(*arguments, enable_io_processing=False)
            return list(results) if isinstance(results, tuple | list) else [results]

    return run


def called(program: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    """Returns a program, called with its arguments. Ops that PyTorch runs keep the types that autocast gave them."""

    def run(*arguments: Any) -> Any:
        with torch.no_grad(), torch._C._DisableAutocast():
            return program(arguments)

    return run


def left_to_pytorch(graph_module: GraphModule, reason: str) -> Callable[..., Any]:
    """Returns a graph of Dynamo that PyTorch runs unchanged, with gradients if they are requested.

    Warns:
        UserWarning: says why.
    """
    calls = [node for node in graph_module.graph.nodes if node.op in ("call_function", "call_method")]
    ops = Counter(getattr(node.target, "__name__", str(node.target)) for node in calls)
    add(Report(FORWARD, ops, Counter(ops), dict.fromkeys(ops, reason)))
    warnings.warn(f"PyTorch runs a graph of {len(calls)} ops: {reason}", stacklevel=2)
    return graph_module.forward


def blamed(graph: torch.fx.Graph, error: UnsupportedError | MLIRError) -> list[torch.fx.Node]:
    """Returns the nodes that an error is about and that are not on the host yet: a rule's, or where a pass points."""
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
