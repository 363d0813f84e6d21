# SPDX-License-Identifier: Apache-2.0
"""From what AOTAutograd has traced of a device's modules to the placed graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch.fx import Graph as FxGraph
from torch.fx import Node
from ttmlir.torch.importer import ON_HOST, is_call, is_supported
from ttmlir.torch.saved import MODEL_OUTPUTS

from ..capture.computing import gradients
from ..capture.formats import DataFormat, MathFidelity, data_format_of
from ..capture.functions import in_epoch, plain, source_of
from ..capture.trace import Formats
from ..config import CompilerConfig
from ..enums import BACKWARD, FORWARD, OPTIMIZER, BackendDevice
from ..tenstorrent.chip import SIMULATED, TILE, chip_of
from .derive import NO_CORES, Captured, Settings, Value
from .graph import Graph, Op, Queue
from .memory import allocate, edges_through_memory
from .moves import reshaped
from .names import check_forms
from .overrides import assign_chips, chip_order, loopbacks, warn_of_sizes
from .place import placed, policy_of
from .program import Executable
from .summary import Result
from .times import Clock


@dataclass
class Optimizing:
    """The steps of an optimizer, by parameter: compiled functions of weight, gradient, what is kept of it, and numbers;
    the names of these."""

    steps: Mapping[str, Any]
    kept: Sequence[str]
    numbers: Sequence[str]


@dataclass
class Traced:
    """The modules of a device as they were traced and compiled.

    states: shape and whether it is trained of each parameter and buffer. inputs, targets: names.
    results: how many the modules give. saved: names of the ops whose results are kept, behind the results.
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
    graphs: Sequence[tuple[str, FxGraph]] = ()
    executables: Sequence[Executable] = ()
    op_names: Mapping[str, str] = field(default_factory=dict)
    optimizing: Optimizing | None = None


def settings_of(traced: Traced, config: CompilerConfig, epoch_type: str) -> Settings:
    """Returns how ops of an epoch type compute."""
    formats = traced.formats
    defaults = {
        "math_fidelity": config.default_math_fidelity, "accumulate_df": config.default_accumulate_df,
        "intermediate_df": None,
    }  # fmt: skip
    if epoch_type == OPTIMIZER and config.amp_level:
        defaults |= {"accumulate_df": DataFormat.Float32, "math_fidelity": MathFidelity.HiFi4}
        formats = replace(formats, rules=[rule for rule in formats.rules if rule.epoch_type == OPTIMIZER])

    def setting(what: str, name: str, kind: str, gradient: bool) -> Any:
        found = formats.setting(what, name, kind or None, epoch_type, gradient)
        return defaults[what] if found is None else found

    chips = {in_epoch(name, epoch_type): ids for nodes, ids in config.fracture_groups for name, *_ in nodes}
    return Settings(setting, chips, SIMULATED[traced.arch])


def spills(result: Result) -> dict[str, dict[str, tuple[int, DataFormat]]]:
    """Returns products whose sums are in memory between parts of the inner dimension, in a format that a rule gives
    them: the elements of a part, and the format, by the function of PyTorch; for each epoch type."""
    found: dict[str, dict[str, tuple[int, DataFormat]]] = {}
    for each in (x for epoch in result.placement.epochs for x in epoch.placed):
        op, m = (each.op.parts or [each.op])[0], each.model
        if op.is_product and op.spill_df is not None and m.m_k > 1:
            found.setdefault(op.epoch_type, {})[op.node] = m.u_kt * TILE, op.spill_df
    return found


def take_rows(graph: Graph, other: Graph) -> None:
    """Replaces the ops of programs that compute ops by those of another compilation, which has more of them: by the
    names of the ops of the module."""
    rows: dict[str, list[tuple[int, int]]] = {}
    for op in other.ops:
        for x in op.parts or [op]:
            rows.setdefault(x.name.partition(".dc.")[0], []).extend(op.rows)
    for op in graph.ops:
        names = {x.name.partition(".dc.")[0] for x in op.parts or [op]}
        op.rows = tuple(sorted({row for name in names for row in rows.get(name, ())}))


def graph_of(traced: Traced, config: CompilerConfig) -> Graph:
    """Returns the graph of all epoch types.

    Raises:
        PlacementError: an entry of the configuration that has another form.
    """
    check_forms(config)
    graph = Graph(traced.name, microbatch=traced.microbatch)
    queues: dict[str, Queue] = {}
    for name, (shape, _) in traced.states.items():
        queues[name] = graph.queue(plain(name), compact(shape), traced.formats.of(name), "parameter")
    passes: list[Captured] = []
    for kind, fx in traced.graphs:
        epoch_type = FORWARD if kind == "forward" else BACKWARD
        found = gradients(fx, len(traced.states)) if epoch_type == BACKWARD else set()
        names = frozenset(node.name for node in found)
        passes.append(Captured(graph, fx, epoch_type, settings_of(traced, config, epoch_type), names))
    for number, captured in enumerate(passes):
        add = forward if captured.epoch_type == FORWARD else backward
        add(captured, traced, queues, passes[:number])
    if traced.optimizing is not None and traced.training:
        optimize(graph, traced, queues, settings_of(traced, config, OPTIMIZER))
    for name in traced.op_names:
        if graph.op(name) is None:
            graph.aliases.setdefault(name, NO_CORES)
    graph.ops.sort(key=lambda op: op.rows)
    for op in graph.ops:
        op.intermed_df = op.spill_df or op.df
    if config.enable_conv_prestride:
        prestride(graph)
    return graph


def compiled(captured: Captured, traced: Traced) -> None:
    """Adds the programs of a graph."""
    for number, executable in enumerate(traced.executables):
        if executable.epoch_type == captured.epoch_type:
            captured.add(executable, number)
    captured.finish()


def arguments_of(captured: Captured) -> list[Node]:
    return [node for node in captured.nodes.values() if node.op == "placeholder"]


def forward(captured: Captured, traced: Traced, queues: dict[str, Queue], _before: Sequence[Captured]) -> None:
    graph, formats = captured.graph, traced.formats
    names, given = [*traced.states, *traced.inputs, *traced.targets], arguments_of(captured)
    states = {}
    if len(names) == len(given):
        for name, node in zip(names, given, strict=True):
            fake = node.meta["val"]
            if name not in queues:
                df = formats.of(name) if fake.dtype.is_floating_point else data_format_of(fake.dtype)
                queues[name] = graph.queue(plain(name), tuple(fake.shape), df, "input")
            states[node.name] = queues[name]
            captured.values[node.name] = Value(queues[name], tuple(fake.shape))
    compiled(captured, traced)
    for name, value in captured.written.items():
        if name in states:
            states[name].producer = captured.computed(value)
    on_host(captured)
    start, end = model_outputs(captured, traced.results + len(traced.saved))
    for number, x in enumerate(captured.results()[start:end]):
        kept = number - traced.results
        if x is None:
            continue
        if kept >= 0:
            captured.output(x, f"{traced.saved[kept]}_intermediate", "intermediate")
        else:
            queue = captured.output(x, "", "output")
            source = queue.producer or x.node
            last = source.parts[-1] if isinstance(source, Op) and source.parts else source
            graph.rename(queue, f"{traced.name}.output_{last.name}")
            queues[f"output {number}"] = queue


def backward(captured: Captured, traced: Traced, queues: dict[str, Queue], before: Sequence[Captured]) -> None:
    graph = captured.graph
    for node in arguments_of(captured):
        name = str(node.target)
        for other in before:
            if name in other.values:
                captured.values[node.name] = other.values[name]
    tangents = [node for node in arguments_of(captured) if str(node.target).startswith("tangents")]
    for number, node in enumerate(tangents):
        fake = node.meta["val"]
        output = queues.get(f"output {number}")
        kind = "constant" if traced.has_loss else "input"
        df = traced.formats.default if fake.dtype.is_floating_point else data_format_of(fake.dtype)
        queue = graph.queue(f"loss_{output.name if output else f'output_{number}'}", tuple(fake.shape), df, kind)
        captured.values[node.name] = Value(queue, tuple(fake.shape))
    compiled(captured, traced)
    names = [*traced.states, *traced.inputs, *traced.targets]
    for name, x in zip(names, captured.results(), strict=False):
        if x is None:
            continue
        if name in traced.states:
            stored = compact(x.shape)
            queues[f"gradient of {name}"] = captured.output(
                x.moved(stored, reshaped(x.shape, stored)), f"grad_acc_{plain(name)}", "gradient"
            )
        else:
            captured.output(x, f"output_grad_{plain(name)}", "output")


def optimize(graph: Graph, traced: Traced, queues: dict[str, Queue], settings: Settings) -> None:
    """Adds the steps of the optimizer, one for each parameter that has a gradient."""
    step = traced.optimizing
    assert step is not None
    numbers = {name: graph.queue(f"opt_{name}", (1,), DataFormat.Float32, "parameter") for name in step.numbers}
    first = len(traced.executables)
    for name, found in step.steps.items():
        gradient = queues.get(f"gradient of {name}")
        if gradient is None:
            continue
        shape = compact(traced.states[name][0])
        states = [
            graph.queue(f"opt_{plain(name)}_{kind}", shape if kind != "t" else (1,), DataFormat.Float32, "state")
            for kind in step.kept
        ]
        ((_, fx),) = found.graphs
        captured = Captured(graph, fx, OPTIMIZER, settings, frozenset(), plain(name))
        reads = [queues[name], gradient, *states, *numbers.values()]
        for node, queue in zip(arguments_of(captured), reads, strict=True):
            captured.values[node.name] = Value(queue, queue.shape)
        df = queues[name].df
        for executable in found.executables:
            captured.add(executable, first)
            first += 1
        captured.finish()
        queues[name].df = df
        for x, queue in zip(captured.results(), [queues[name], *states], strict=False):
            if x is not None:
                queue.producer = captured.computed(x)


def on_host(captured: Captured) -> None:
    """Adds queues of values that PyTorch reads on the host, between programs."""
    for node in captured.nodes.values():
        if not is_call(node) or (not node.meta.get(ON_HOST) and is_supported(node)):
            continue
        if source := source_of(node)[0]:
            captured.graph.aliases[source] = "PyTorch runs it, on the host"
        for x in (captured.values.get(argument.name) for argument in node.all_input_nodes):
            if x is not None and isinstance(x.node, Op):
                captured.output(x, f"host_{node.name}_{x.node.type}", "output")


def model_outputs(captured: Captured, results: int) -> tuple[int, int]:
    """Returns where the results of the modules begin and end among what a forward graph returns."""
    (output,) = [node for node in captured.nodes.values() if node.op == "output"]
    end = output.meta.get(MODEL_OUTPUTS, len(captured.results()))
    return max(0, end - results), end


def prestride(graph: Graph) -> None:
    """Notes at convolutions that read inputs with a stride that the host may lay the pixels of a stride next to each
    other. The program's convolution reads the image in its own order."""
    for op in graph.ops:
        stride = max(op.attributes.get("stride", [1]))
        if stride > 1 and isinstance(op.operands[0].source, Queue) and op.operands[0].source.kind == "input":
            op.operands[0].tms = (*op.operands[0].tms, f"prestride: {stride}")


def compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns how a parameter is stored: the small dimensions of windows next to each other."""
    if len(shape) < 3 or shape[-1] >= TILE:
        return shape
    return (shape[0], math.prod(shape[1:]))


def place(traced: Traced, graph: Graph, config: CompilerConfig) -> Result:
    """Returns the placed graph of a device.

    Raises:
        PlacementError: what the configuration asks for does not fit.
    """
    chip = chip_of(traced.arch, config)
    assign_chips(graph, traced.chips, config)
    placement = placed(graph, chip, chip_order(traced.chips, config), config)
    warn_of_sizes(graph, traced.executables, config)
    edges_through_memory(graph, placement, config.insert_queues)
    read = {x.source for op in graph.ops for x in op.operands}
    read |= {x for pair in graph.same.items() for x in pair}
    graph.queues = [q for q in graph.queues if q in read or q.producer is not None]
    linked = loopbacks(graph, traced.inputs, config)
    layouts = allocate(graph, placement, chip, traced.chips, config)
    same = {a.name: b.name for a, b in graph.same.items()} | {output: source for _, _, output, source in linked}
    for output, source in same.items():
        share(layouts, output, source)
    clock = Clock(chip, placement.epochs, graph.written(), config)
    return Result(
        traced.name, graph, chip, list(traced.chips), policy_of(graph, config), placement, layouts, clock,
        [(a, b) for a, b, _, _ in linked], same,
    )  # fmt: skip


def share(layouts: dict[Queue, Any], output: str, source: str) -> None:
    """Gives an output that is an input of the next run the input's memory, on the device."""
    by_name = {q.name: layout for q, layout in layouts.items()}
    a, b = by_name[output], by_name[source]
    a.on_host, a.chip, a.places, a.grid, a.bytes = b.on_host, b.chip, b.places, b.grid, b.bytes
    a.t, a.mblock, a.ublock = b.t, b.mblock, b.ublock
