# SPDX-License-Identifier: Apache-2.0
"""Epochs of the netlist: those of the programs, on the chips of the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..config import CompilerConfig
from ..enums import FORWARD
from ..errors import PlacementError
from ..tenstorrent.chip import Chip
from .blocks import Model, models_of
from .graph import JOINS, Graph, Op


@dataclass(slots=True)
class Placed:
    """An op with its blocks, in an epoch of the netlist. Its cores are those of the program's op."""

    op: Op
    model: Model
    epoch: int

    @property
    def row(self) -> int:
        return self.op.placed.core[0]

    @property
    def column(self) -> int:
        return self.op.placed.core[1]

    @property
    def turned(self) -> bool:
        """Returns whether rows and columns of its grid are swapped."""
        return self.op.placed.turned

    @property
    def size(self) -> tuple[int, int]:
        """Returns rows and columns of cores that it takes."""
        return self.op.placed.size


@dataclass(slots=True)
class Epoch:
    """Ops that run at one time on one chip. temporal: chips run epochs of the same number together."""

    number: int
    temporal: int
    chip: int
    type: str
    placed: list[Placed] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.type}_0_{self.number}_temporal_epoch_{self.temporal}"


@dataclass
class Placement:
    """Epochs in order, the place of each op, and edges that have to go through memory within an epoch."""

    epochs: list[Epoch]
    of: dict[Op, Placed]
    cuts: list[tuple[Op, Op, int]]


def streams_into(producer: Model, op: Op, number: int, model: Model) -> bool:
    """Returns whether an op can take what another one streams in the order in which it comes."""
    direction = producer.direction
    if not direction:
        return True
    tms = [text for text in op.operands[number].tms if not text.startswith("broadcast")]
    for text in tms:
        if text != "transpose":
            return False
        direction = {"r": "c", "c": "r"}.get(direction, direction)
    dim = op.attributes.get("dim")
    if dim:
        return direction not in dim
    if op.type in JOINS:
        return direction == "z"
    if op.is_matmul:
        return direction == "z" or (number, direction) in ((0, "r"), (1, "c"))
    return direction == "z" or model.direction in ("", direction)


def policy_of(graph: Graph, config: CompilerConfig) -> str:
    """Returns the policy that the configuration chooses: `default` and `CNN` stand for others."""
    policy = config.balancer_policy
    if policy == "default":
        kinds = (x.type for op in graph.ops for x in op.parts or [op])
        return "Ribbon" if "conv2d" in kinds else "NLP"
    return "Ribbon" if policy == "CNN" else policy


def placed(graph: Graph, chip: Chip, chips: Sequence[int], config: CompilerConfig) -> Placement:
    """Returns the epochs of a graph. Each is an epoch of a program, or a part of one where a chip begins.

    chips: their numbers, in the order in which they are filled.

    Raises:
        PlacementError: a chip break on one chip, or an op that has no blocks.
    """
    ops = graph.ops
    epoch_breaks, chip_breaks = breaks(ops, config.op_names_to_epoch_break), breaks(ops, config.op_names_to_chip_break)
    if chip_breaks and len(chips) < 2:
        names = ", ".join(op.name for op in ops if op in chip_breaks)
        raise PlacementError(
            f"set_chip_break({names}): the device has one chip; expected several (num_chips, chip_ids)"
        )
    epochs: list[Epoch] = []
    of: dict[Op, Placed] = {}
    cuts: list[tuple[Op, Op, int]] = []
    last: tuple[int, int] | None = None
    temporal = at = 0
    for op in ops:
        program = op.rows[0][0], op.placed.epoch
        moves = op.chip is not None and op.chip != chips[at]
        if program != last or moves or op in chip_breaks or not epochs:
            if epochs and (op in epoch_breaks or op.epoch_type != epochs[-1].type):
                temporal, at = temporal + 1, 0
            elif epochs:
                temporal, at = (temporal, at + 1) if at + 1 < len(chips) else (temporal + 1, 0)
            if op.chip is not None and op.chip != chips[at]:
                temporal, at = temporal + (chips.index(op.chip) < at), chips.index(op.chip)
            epochs.append(Epoch(len(epochs), temporal, chips[at], op.epoch_type))
            last = program
        model, unfit = chosen(op, models_of(op, chip, config, graph.microbatch), of, epochs[-1], config)
        if config.graph_solver_self_cut_type == "ProducerUserDataEdgesFirst":
            for producer, number in unfit:
                rearrange(producer, models_of(producer.op, chip, config, graph.microbatch), op, number, model, of)
            unfit = [(p, number) for p, number in unfit if not streams_into(p.model, op, number, model)]
        cuts += [(producer.op, op, number) for producer, number in unfit]
        of[op] = Placed(op, model, epochs[-1].number)
        epochs[-1].placed.append(of[op])
    return Placement(epochs, of, cuts)


def breaks(ops: Sequence[Op], groups: Sequence[Sequence[str]]) -> set[Op]:
    """Returns the op that is scheduled first of each group of names: an op of the module begins with its first part."""

    def first(group: Sequence[str]) -> Op | None:
        return next((x for x in ops if x.name in group or (x.source in group and x.epoch_type == FORWARD)), None)

    return {op for group in groups if (op := first(group)) is not None}


def chosen(
    op: Op, models: Sequence[Model], of: Mapping[Op, Placed], epoch: Epoch, config: CompilerConfig
) -> tuple[Model, list[tuple[Placed, int]]]:
    """Returns the blocks of an op, and the producers and numbers of operands that it cannot take in the order in which
    they are streamed.

    Raises:
        PlacementError: there are such operands, and `graph_solver_self_cut_type` is None.
    """
    requested = {(source, number) for source, reader, number in config.insert_queues if reader == op.name}
    streamed = [
        (of[x.source], i) for i, x in enumerate(op.operands)
        if isinstance(x.source, Op) and x.source in of and of[x.source].epoch == epoch.number
        and of[x.source].model.direction and (x.source.name, i) not in requested
    ]  # fmt: skip
    kind = config.graph_solver_self_cut_type

    def unfit(model: Model) -> list[tuple[Placed, int]]:
        return [(p, i) for p, i in streamed if not streams_into(p.model, op, i, model)]

    model = models[0]
    if kind not in ("FastCut", "None"):
        model = next((m for m in models if not unfit(m)), model)
    bad = unfit(model)
    if bad and kind == "None":
        source = bad[0][0]
        raise PlacementError(
            f"op {op.name!r} cannot take what {source.op.name!r} streams by {source.model.direction!r} in that order, "
            "and graph_solver_self_cut_type is 'None'; expected another type, or a queue between them (insert_queues)"
        )
    return model, bad


def rearrange(
    producer: Placed, models: Sequence[Model], op: Op, number: int, model: Model, of: Mapping[Op, Placed]
) -> None:
    """Changes the order in which an op streams its result to one that fits all that read it so far, if there is one."""
    readers = [(x.op, i, x.model) for x in of.values() for i, y in enumerate(x.op.operands) if y.source is producer.op]
    for other in models:
        if all(streams_into(other, *reader) for reader in [*readers, (op, number, model)]):
            producer.model = other
            return
