# SPDX-License-Identifier: Apache-2.0
"""The backend of `torch.compile`: graphs of Dynamo, captured in one pass or through AOTAutograd, to programs.

It loads Dynamo, which takes PyTorch more than a second: nothing else here imports it before PyTorch compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from functorch.compile import make_boxed_func

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import ShortenTraceback
from torch._functorch._aot_autograd.schemas import OutputType
from torch._higher_order_ops.passes.inline_invoke_subgraph import inline_invoke_subgraph
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule

from .capture import Captured, UnsuitedError, View, capture
from .compilation import called, compile_whole, left_to_pytorch, warn_of_doubles, without_collection
from .decompositions import decompositions
from .importer import is_write
from .memory.aliases import is_strided, kept_memory
from .memory.sharing import Sharing, of_one_storage, pattern_of, places_of
from .options import Options
from .report import BACKWARD, FORWARD
from .saved import partition
from .sizes.expressions import Sizes
from .sizes.specialising import Specialising, is_dynamic, sized_by_values


class OptionValueError(ShortenTraceback, ValueError):
    """A `ValueError` of the user's options, which Dynamo passes on: others it wraps as the failure of a compiler."""


class OptionTypeError(ShortenTraceback, TypeError):
    """A `TypeError` of the user's options, likewise."""


def options_of(given: Options | Mapping[str, Any] | None) -> Options:
    """Returns the options, checked.

    Raises:
        OptionTypeError, OptionValueError: as `Options` does.
    """
    try:
        options = Options.of(given)
    except TypeError as error:
        raise OptionTypeError(str(error), first_useful_frame=None) from None
    except ValueError as error:
        raise OptionValueError(str(error), first_useful_frame=None) from None
    return options


# Modes of `torch.compile`. In each, programs are planned as a whole and keep what they can, and kernels are chosen by
# shape.
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")


def static_inputs(graph: torch.fx.Graph, kind: str) -> list[int]:
    """Returns arguments of the graph that is being compiled whose memory stays: parameters and buffers.

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
    """Returns what AOTAutograd calls with each of its graphs: one for inference, or a forward and a backward one."""

    def compile_one(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        parameters = static_inputs(graph.graph, kind)
        if kind == FORWARD:
            warn_of_doubles(graph.graph)
        program = compile_sized(graph, parameters, options, kind, training, unsuited)
        return make_boxed_func(lambda *arguments: program(arguments))

    return compile_one


def compile_captured(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    given: Options | Mapping[str, Any] | None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Returns what `backend` does."""
    with without_collection():
        return _compiled(graph_module, example_inputs, given, mode)


def _compiled(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    given: Options | Mapping[str, Any] | None,
    mode: str | None,
) -> Callable[..., Any]:
    chosen = options_of(given)
    if mode is not None and mode not in MODES:
        raise OptionValueError(f"mode {mode!r} is not known; known: {', '.join(MODES)}", first_useful_frame=None)
    if graph_module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph):
        # Regions that the user marked as repeated, which spares Dynamo's time.
        graph_module = inline_invoke_subgraph(graph_module)
        graph_module.recompile()
    if reason := sized_by_values(graph_module) or kept_memory(graph_module, example_inputs):
        return left_to_pytorch(graph_module, reason)

    def for_this_memory(program: Callable[..., Any], writes: bool) -> Callable[..., Any]:
        patterns = ([pattern_of] if writes else []) + (
            [places_of] if any(map(is_strided, graph_module.graph.nodes)) else []
        )
        if not patterns:
            return program
        return Sharing(patterns, example_inputs, program, lambda given: recompiled(graph_module, given, chosen))

    try:
        captured = capture(graph_module, example_inputs)
    except UnsuitedError as error:
        program = differentiated(graph_module, example_inputs, chosen, str(error))
        return for_this_memory(program, writes_arguments())
    graph = captured.graph_module
    warn_of_doubles(graph.graph)
    program = with_views(called(compile_sized(graph, captured.parameters, chosen)), captured)
    return for_this_memory(program, any(map(is_write, graph.graph.nodes)))


def compile_sized(
    graph_module: GraphModule,
    parameters: Sequence[int],
    options: Options,
    kind: str = FORWARD,
    training: bool = False,
    unsuited: str = "",
) -> Callable[[Sequence[Any]], Any]:
    """Returns a program of a graph of aten ops, whose sizes may change. See `compile_whole`."""
    if is_dynamic(graph_module):
        return Specialising(graph_module, parameters, options, kind, training, unsuited)
    return compile_whole(graph_module, parameters, options, kind, training, unsuited)


def with_views(program: Callable[..., Any], captured: Captured) -> Callable[..., Any]:
    """Returns a program with the results that are views of arguments, which are taken when it has run."""
    views = captured.views
    if not any(views):
        return program
    numbers = known_numbers(captured.graph_module, views)

    def run(*arguments: Any) -> Any:
        computed = iter(program(*arguments))
        known = numbers(arguments)
        return [next(computed) if view is None else view.of(arguments, known) for view in views]

    return run


def known_numbers(
    graph_module: GraphModule, views: Sequence[View | None]
) -> Callable[[Sequence[Any]], Callable[[Any], int]]:
    """Gives for arguments of a graph what symbolic numbers of these views are."""
    given = [n for view in views if view is not None for n in (*(view.shape or ()), *view.stride, view.offset)]
    if not any(isinstance(n, torch.SymInt) for n in given):
        return lambda arguments: lambda number: number
    sizes = Sizes(graph_module)
    places = {id(n): sizes.table.place(n) for n in given}

    def of(arguments: Sequence[Any]) -> Callable[[Any], int]:
        numbers = sizes.numbers(sizes.of(arguments))
        return lambda number: numbers[places[id(number)]]

    return of


def metadata() -> Any:
    """Returns what AOTAutograd has found about the graph that is being compiled, or None."""
    tracing = torch._guards.TracingContext.try_get()
    return tracing.fw_metadata if tracing is not None else None


def writes_arguments() -> bool:
    known = metadata()
    return known is None or any(info.mutates_data for info in known.input_info)


def returns_merged(arguments: Sequence[Any]) -> bool:
    """Returns whether AOTAutograd merges arguments that share memory into one, and results are views of arguments."""
    known = metadata()
    views = (OutputType.alias_of_input, OutputType.is_input)
    merged = known is None or len(known.input_info) < len(arguments)
    return merged and (known is None or any(info.output_type in views for info in known.output_info))


def recompiled(graph_module: GraphModule, arguments: Sequence[Any], options: Options) -> Callable[..., Any]:
    """Returns a program of a graph for arguments that have memory in another way than those that it was captured
    for."""
    if reason := kept_memory(graph_module, arguments):
        return left_to_pytorch(graph_module, reason)
    with torch._guards.tracing(torch._guards.TracingContext(FakeTensorMode())):
        return differentiated(graph_module, arguments, options, "arguments that have memory in another way")


def differentiated(
    graph_module: GraphModule, arguments: Sequence[Any], options: Options, unsuited: str
) -> Callable[..., Any]:
    """Returns the graphs that AOTAutograd derives from a graph.

    PyTorch runs it where values do not say what becomes of memory that arguments share: several storages have it,
    or results are views of it, which AOTAutograd makes of another tensor than theirs.
    """
    shared = pattern_of(arguments)
    reason = ""
    if not of_one_storage(arguments):
        reason = "by several storages"
    else:
        try:
            program = through_autograd(options, unsuited)(graph_module, arguments)
        except (AssertionError, RuntimeError) as error:
            if not shared:
                raise
            reason = str(error)
        else:
            if not (shared and returns_merged(arguments)):
                return program
            reason = "and returns views of them"
    return left_to_pytorch(graph_module, f"it writes to arguments that share memory: {reason}")


def through_autograd(options: Options, unsuited: str) -> Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]:
    """Compiles a graph of Dynamo through AOTAutograd: with gradients, writes to arguments, and sizes that change."""
    return aot_autograd(
        fw_compiler=compiler(options, FORWARD, True, unsuited),
        bw_compiler=compiler(options, BACKWARD, True, unsuited),
        inference_compiler=compiler(options, FORWARD, False, unsuited),
        decompositions=decompositions(),
        partition_fn=partition,
        keep_inference_input_mutations=True,
    )
