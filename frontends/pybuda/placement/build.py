# SPDX-License-Identifier: Apache-2.0
"""From what AOTAutograd has traced of a device's modules to the placed graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torch.fx import Graph as FxGraph

from ..capture.formats import DataFormat, MathFidelity
from ..capture.trace import Formats
from ..config import CompilerConfig
from ..enums import BACKWARD, FORWARD, OPTIMIZER, BackendDevice
from .chip import chip_of, host_chips
from .graph import TILE, Graph, Op, PlacementError, Queue
from .lower import Lowering, model_outputs
from .memory import allocate, edges_through_memory
from .names import check_forms
from .parts import in_parts
from .passes import as_in_program, evaluate_constants, prestride, tilize
from .place import Placer
from .program import Computed, of_step
from .summary import Result
from .times import Clock
from .values import NO_CORES, Precisions, Value, compact, plain


@dataclass
class Optimizing:
    """The steps of an optimizer, by parameter: graphs of weight, gradient, what is kept of it, and numbers; the names
    of these."""

    graphs: Mapping[str, FxGraph]
    kept: Sequence[str]
    numbers: Sequence[str]


@dataclass
class Traced:
    """The modules of a device as they were traced.

    states: shape and whether it is trained of each parameter and buffer. inputs, targets: names.
    results: how many the modules give. saved: names of the ops whose results are kept, behind the results.
    ran: what computes nodes in each run, by epoch type and name.
    """

    name: str
    arch: BackendDevice
    chips: Sequence[int]
    formats: Formats
    states: Mapping[str, tuple[tuple[int, ...], bool]]
    inputs: Sequence[str]
    targets: Sequence[str]
    results: int
    saved: Sequence[str]
    microbatch: int
    training: bool
    has_loss: bool
    graphs: list[tuple[str, FxGraph]] = field(default_factory=list)
    op_names: Mapping[str, str] = field(default_factory=dict)
    optimizing: Optimizing | None = None
    ran: Mapping[tuple[str, str], Computed] = field(default_factory=dict)


def precisions(formats: Formats, config: CompilerConfig, epoch_type: str) -> Precisions:
    """Returns how ops of an epoch type compute."""
    defaults = {
        "output_df": formats.default,
        "math_fidelity": config.default_math_fidelity,
        "accumulate_df": config.default_accumulate_df,
        "intermediate_df": None,
    }
    if epoch_type == OPTIMIZER and config.amp_level:
        float32 = DataFormat.Float32
        defaults |= {"output_df": float32, "math_fidelity": MathFidelity.HiFi4, "accumulate_df": float32}

        formats = replace(formats, rules=[rule for rule in formats.rules if rule.epoch_type == OPTIMIZER])

    def setting(what: str, name: str, kind: str, gradient: bool = False) -> Any:
        found = formats.setting(what, name, kind or None, epoch_type, gradient)
        return defaults[what] if found is None else found

    return Precisions(lambda name, kind: setting("output_df", name, kind), setting)


def regard_as_gradient(op: Op, how: Precisions, kind: str) -> None:
    """Marks an op whose result is the gradient of a parameter: rules with is_gradient_op are about it."""
    op.attributes["gradient_op"] = True
    op.df = how.setting("output_df", op.source, kind, True)
    op.fidelity = how.setting("math_fidelity", op.source, kind, True).name
    op.acc_df = how.setting("accumulate_df", op.source, kind, True)
    op.spill_df = how.setting("intermediate_df", op.source, kind, True)
    op.intermed_df = op.spill_df or op.df


def spills(result: Result) -> dict[str, dict[str, tuple[int, DataFormat]]]:
    """Returns products whose sums are in memory between parts of the inner dimension, in a format that a rule gives
    them: the elements of a part, and the format, by the function of PyTorch; for each epoch type."""
    found: dict[str, dict[str, tuple[int, DataFormat]]] = {}
    for placed in (x for epoch in result.placement.epochs for x in epoch.placed):
        op, m = (placed.op.parts or [placed.op])[0], placed.model
        if op.is_product and op.spill_df is not None and m.m_k > 1:
            found.setdefault(op.epoch_type, {})[op.node.partition("#")[0]] = m.u_kt * TILE, op.spill_df
    return found


def graph_of(traced: Traced, config: CompilerConfig) -> Graph:
    """Returns the graph of all epoch types."""
    graph = Graph(traced.name, microbatch=traced.microbatch)
    formats = traced.formats
    queues: dict[str, Queue] = {}
    for name, (shape, _) in traced.states.items():
        queues[name] = graph.queue(plain(name), compact(shape), formats.of(name), "parameter")
    lowering = Lowering(graph, precisions(formats, config, FORWARD))
    outputs: list[str] = []
    for kind, fx in traced.graphs:
        if kind == "forward":
            outputs = forward(graph, lowering, fx, traced, queues)
        else:
            lowering.precisions = precisions(formats, config, BACKWARD)
            backward(graph, lowering, fx, traced, queues, outputs)
    if traced.optimizing is not None and traced.training:
        optimize(graph, traced, queues, precisions(formats, config, OPTIMIZER))
    for name in traced.op_names:
        if graph.op(name) is None:
            graph.aliases.setdefault(name, NO_CORES)
    return graph


def forward(graph: Graph, lowering: Lowering, fx: FxGraph, traced: Traced, queues: dict[str, Queue]) -> list[str]:
    placeholders = [n for n in fx.nodes if n.op == "placeholder"]
    names = [*traced.states, *traced.inputs, *traced.targets]
    arguments: dict[str, Value] = {}
    if len(names) == len(placeholders):
        for name, node in zip(names, placeholders, strict=True):
            fake = node.meta["val"]
            if name not in queues:
                queues[name] = graph.queue(plain(name), tuple(fake.shape), lowering.format_of(fake), "input")
                queues[name].df = traced.formats.of(name) if fake.dtype.is_floating_point else queues[name].df
            arguments[str(node.target)] = Value(queues[name], tuple(fake.shape))
    returned = lowering.run(fx, FORWARD, arguments)
    start, end = model_outputs(fx, traced.results + len(traced.saved))
    builder = lowering.keep(FORWARD)
    found: list[str] = []
    for number, x in enumerate(returned[start:end]):
        if not isinstance(x, Value):
            found.append("")
            continue
        kept = number - traced.results
        if kept >= 0:
            lowering.output(builder, x, f"{traced.saved[kept]}_intermediate", "intermediate")
        else:
            queue = lowering.output(builder, x, "", "output")
            assert queue.producer is not None
            queue.name = graph.unique(f"{traced.name}.output_{queue.producer.name}")
            found.append(queue.name)
    return found


def backward(
    graph: Graph, lowering: Lowering, fx: FxGraph, traced: Traced, queues: dict[str, Queue], outputs: Sequence[str]
) -> None:
    arguments: dict[str, Value] = {}
    tangents = [n for n in fx.nodes if n.op == "placeholder" and str(n.target).startswith("tangents")]
    for number, node in enumerate(tangents):
        fake = node.meta["val"]
        name = outputs[number] if number < len(outputs) else f"output_{number}"
        kind = "constant" if traced.has_loss else "input"
        queue = graph.queue(f"loss_{name}", tuple(fake.shape), lowering.format_of(fake), kind)
        arguments[str(node.target)] = Value(queue, tuple(fake.shape))
    returned = lowering.run(fx, BACKWARD, arguments)
    names = [*traced.states, *traced.inputs, *traced.targets]
    builder = lowering.keep(BACKWARD)
    for name, x in zip(names, returned, strict=False):
        if not isinstance(x, Value):
            continue
        if name in traced.states:
            stored = x.reshaped(compact(x.shape))
            queue = lowering.output(builder, stored, f"grad_acc_{plain(name)}", "gradient")
            assert queue.producer is not None
            kind = traced.op_names.get(queue.producer.source, queue.producer.type).lower()
            regard_as_gradient(queue.producer, lowering.precisions, kind)
            queue.df = queue.producer.df
            queues[f"gradient of {name}"] = queue
        else:
            lowering.output(builder, x, f"output_grad_{plain(name)}", "output")


def optimize(graph: Graph, traced: Traced, queues: dict[str, Queue], how: Precisions) -> None:
    """Adds the steps of the optimizer, one for each parameter that has a gradient."""
    step = traced.optimizing
    assert step is not None
    numbers = {name: graph.queue(f"opt_{name}", (1,), DataFormat.Float32, "parameter") for name in step.numbers}
    for name, fx in step.graphs.items():
        gradient = queues.get(f"gradient of {name}")
        if gradient is None:
            continue
        shape = compact(traced.states[name][0])
        states = [
            graph.queue(f"opt_{plain(name)}_{kind}", shape if kind != "t" else (1,), DataFormat.Float32, "state")
            for kind in step.kept
        ]
        reads = [queues[name], gradient, *states, *numbers.values()]
        placeholders = [n for n in fx.nodes if n.op == "placeholder"]
        arguments = {str(n.target): Value(q, q.shape) for n, q in zip(placeholders, reads, strict=True)}
        lowering = Lowering(graph, how)
        lowering.scope = plain(name)
        df, first = queues[name].df, len(graph.ops)
        returned = lowering.run(fx, OPTIMIZER, arguments)
        for op in graph.ops[first:]:
            op.node = of_step(name, op.node) if op.node else ""
        queues[name].df = df
        for x, queue in zip(returned, [queues[name], *states], strict=False):
            if isinstance(x, Value):
                queue.producer = lowering.computed(lowering.keep(OPTIMIZER), x)


def chip_order(chips: Sequence[int], config: CompilerConfig) -> list[int]:
    """Returns chips in the order in which they are filled: those at the host last. Without a descriptor it is at the
    first."""
    at_host = [chips[0]]
    if config.backend_cluster_descriptor_path:
        at_host = host_chips(Path(config.backend_cluster_descriptor_path), chips)
    return sorted(chips, key=lambda x: x in at_host) if config.chip_placement_policy == "MMIO_LAST" else list(chips)


def loopbacks(graph: Graph, traced: Traced, config: CompilerConfig) -> list[tuple[int, int, str, str]]:
    """Returns outputs that stay on the device as inputs of the next run: numbers of input and output, names of their
    queues.

    Raises:
        PlacementError: an output that there is not, or of another shape than the input.
    """
    inputs = {q.name: q for q in graph.queues if q.kind == "input"}
    outputs = [q for q in graph.queues if q.kind == "output" and q.name.startswith(f"{traced.name}.output_")]
    loopbacks = {name: number for name, number in config.loopback_outputs.items() if name in inputs}
    if config.enable_link_past_cache_ios:
        # An output of the shape of an input whose name says that it is a cache.
        free = [i for i in range(len(outputs)) if i not in loopbacks.values()]
        for name, queue in inputs.items():
            at = next((i for i in free if outputs[i].shape == queue.shape), None)
            if name not in loopbacks and "past" in name and at is not None:
                loopbacks[name] = at
                free.remove(at)
    numbers = {plain(name): number for number, name in enumerate(traced.inputs)}
    for name, number in loopbacks.items():
        if not 0 <= number < len(outputs):
            raise PlacementError(f"loopback_outputs[{name!r}] is {number}; the modules have {len(outputs)} outputs")
        if outputs[number].shape != inputs[name].shape:
            raise PlacementError(
                f"loopback_outputs[{name!r}]: output {number} has shape {list(outputs[number].shape)}, the input "
                f"{list(inputs[name].shape)}"
            )
    return [
        (numbers[name], number, outputs[number].name, name) for name, number in loopbacks.items() if name in numbers
    ]


def place(traced: Traced, config: CompilerConfig) -> Result:
    """Returns the placed graph of a device.

    Raises:
        PlacementError: what the configuration asks for does not fit.
    """
    check_forms(config)
    chip = chip_of(traced.arch, config)
    graph = graph_of(traced, config)
    if config.enable_consteval:
        evaluate_constants(graph, traced.training, traced.ran)
    if config.enable_conv_prestride:
        prestride(graph)
    as_in_program(graph, traced.ran)
    if config.tti_dump_format == "backend" and config.enable_device_tilize:
        tilize(graph)
    in_parts(graph, traced.ran, config)
    assign_chips(graph, traced, config)
    order = chip_order(traced.chips, config)
    placer = Placer(graph, chip, order, config)
    placement = placer.run()
    graph.ops = [x.op for epoch in placement.epochs for x in epoch.placed]
    edges_through_memory(graph, placement, config.insert_queues)
    read = {x.source for op in graph.ops for x in op.operands}
    graph.queues = [q for q in graph.queues if q in read or q.producer is not None]
    linked = loopbacks(graph, traced, config)
    layouts = allocate(graph, placement, chip, traced.chips, config)
    for _, _, output, source in linked:
        share(layouts, output, source)
    clock = Clock(chip, placement.epochs, graph.written(), config)
    return Result(
        traced.name, graph, chip, list(traced.chips), placer.policy, placement, layouts, clock,
        [(a, b) for a, b, _, _ in linked], {output: source for _, _, output, source in linked},
    )  # fmt: skip


def share(layouts: dict[Queue, Any], output: str, source: str) -> None:
    """Gives an output that is an input of the next run the input's memory, on the device."""
    by_name = {q.name: layout for q, layout in layouts.items()}
    a, b = by_name[output], by_name[source]
    a.on_host, a.chip, a.places, a.grid, a.bytes = b.on_host, b.chip, b.places, b.grid, b.bytes
    a.t, a.mblock, a.ublock = b.t, b.mblock, b.ublock


def assign_chips(graph: Graph, traced: Traced, config: CompilerConfig) -> None:
    """Assigns ops to the chips that `override_op_placement` names."""
    for op in graph.ops:
        overrides = config.op_overrides.get(op.name, {}).get("placement")
        if overrides and overrides[1] is not None:
            if overrides[1] not in traced.chips:
                raise PlacementError(
                    f"override_op_placement({op.name!r}, chip_id={overrides[1]}): the device has chips "
                    f"{list(traced.chips)}"
                )
            op.chip = overrides[1]
