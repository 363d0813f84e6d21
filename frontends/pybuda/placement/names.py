# SPDX-License-Identifier: Apache-2.0
"""Whether the names that the configuration has are there, and what is requested for them can be."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..config import CompilerConfig, is_type_of_ops
from ..errors import PlacementError
from .blocks import Model
from .graph import Op
from .summary import Result

FUNCTIONS = {
    "grid_shape": "override_op_size", "placement": "override_op_placement",
    "t_stream_shape": "override_t_stream_shape", "t_stream_dir": "override_t_stream_dir", "u_kt": "override_u_kt",
    "fracture_factor": "override_multi_op_fracture_factor", "force_dram_parameters": "override_dram_parameters",
    "dram_channel": "override_dram_queue_placement", "dram_chip": "override_dram_queue_placement",
}  # fmt: skip
# Names that a compiler gives to ops of PyTorch's functions: programs that were written for another compiler have them.
NUMBERED = re.compile(r"(?:.*\.output_)?([a-z][a-z0-9_]*)_\d+(?:\.dc\..*|\.lc\d+|_stack)*")
BUFFER = "input_buffer_"  # behind it the number of the operand


def check_forms(config: CompilerConfig) -> None:
    """Refuses entries of lists and dictionaries, which programs fill as they like, that are none.

    Raises:
        PlacementError: names the option, what it has, and what was expected.
    """
    for entry in config.insert_queues:
        kinds = [type(x) for x in entry] if isinstance(entry, list | tuple) else []
        if kinds != [str, str, int]:
            raise PlacementError(f"insert_queues has {entry!r}; expected (op, op that reads it, number of its operand)")
    for name, number in config.loopback_outputs.items():
        if type(number) is not int:
            raise PlacementError(f"loopback_outputs[{name!r}] is {number!r}; expected the number of an output")


def overridden_names(config: CompilerConfig) -> Iterator[tuple[str, str]]:
    """Yields which function names which op, or queue."""
    for name, overrides in config.op_overrides.items():
        yield from ((FUNCTIONS.get(key, "override_input_buffer_multiplier"), name) for key in overrides)
    for what, groups in (
        ("set_epoch_break", config.op_names_to_epoch_break), ("set_chip_break", config.op_names_to_chip_break),
        ("add_schedule_constraint", config.scheduler_constraints), ("dont_fuse", [config.op_names_dont_fuse]),
        (FUSE, [config.op_names_manual_fuse]),
    ):  # fmt: skip
        yield from ((what, name) for group in groups for name in group)
    for source, reader, *_ in config.insert_queues:
        yield from (("insert_queues", name) for name in (source, reader))
    for nodes, _ in config.fracture_groups:
        yield from (("insert_fracture_group", node[0]) for node in nodes)
    yield from (("place_queue_to_chip_dram", name) for name in config.place_queue_to_chip_dram)
    yield from (("loopback_outputs", name) for name in config.loopback_outputs)


QUEUES = ("override_dram_queue_placement", "place_queue_to_chip_dram", "loopback_outputs")
# Functions whose ops are other ops afterwards.
REPLACE = ("insert_fracture_group", "override_multi_op_fracture_factor")
FUSE = "op_names_manual_fuse"
BREAKS = ("set_epoch_break", "set_chip_break", "dont_fuse")


def check_names(results: Sequence[Result], config: CompilerConfig) -> None:
    """Refuses names that no device of the pipeline has, and overrides that mean nothing for their ops.

    Raises:
        PlacementError: names the function, and what there is.
    """
    ops = {op.name for result in results for op in result.graph.ops}
    queues = {q.name for result in results for q in result.graph.queues}
    parts = {part.name for result in results for op in result.graph.ops for part in op.parts}
    sources = {op.source for result in results for op in result.graph.ops}
    aliases = {name: why for result in results for name, why in result.graph.aliases.items()}
    for function, name in overridden_names(config):
        known = queues if function in QUEUES else ops
        if name in known or (name in aliases and function in REPLACE) or (name in sources and function in BREAKS):
            continue
        if name in parts and function == FUSE:
            continue
        if name in aliases and function not in QUEUES:
            raise PlacementError(f"{function}: {name!r} is no op of the netlist: {aliases[name]}")
        if function not in QUEUES and (number := NUMBERED.fullmatch(name)) and is_type_of_ops(number[1]):
            warnings.warn(
                f"{function}: there is no op {name!r}, and the request is ignored: a compiler numbers ops of modules "
                "of other frameworks, and this one has other numbers",
                stacklevel=2,
            )
            continue
        kind = "queue" if function in QUEUES else "op"
        shown = sorted(known)
        more = f" and {len(shown) - 20} more" if len(shown) > 20 else ""
        raise PlacementError(
            f"{function}: there is no {kind} {name!r}; {kind}s: {', '.join(shown[:20]) or 'none'}{more}"
        )
    for placed in (x for result in results for epoch in result.placement.epochs for x in epoch.placed):
        check_overrides(placed.op, placed.model, config.op_overrides.get(placed.op.name, {}))


def check_overrides(op: Op, model: Model, overrides: Mapping[str, Any]) -> None:
    """
    Raises:
        PlacementError: an override of something that the op does not have.
    """
    if "u_kt" in overrides and not op.inner:
        raise PlacementError(
            f"override_u_kt({op.name!r}, {overrides['u_kt']}): the op is {op.type}, which has no inner dimension; "
            "expected a product of matrices"
        )
    for number, multiplier in ((int(k.removeprefix(BUFFER)), v) for k, v in overrides.items() if k.startswith(BUFFER)):
        if number >= len(op.operands):
            raise PlacementError(
                f"override_input_buffer_multiplier({op.name!r}, {number}, {multiplier}): there is no operand {number}; "
                f"the op has {len(op.operands)}"
            )
        if number in model.in_l1:
            raise PlacementError(
                f"override_input_buffer_multiplier({op.name!r}, {number}, {multiplier}): operand {number}, "
                f"{op.operands[number].source.name!r}, is in L1 as a whole and has no blocks; "
                f"override_dram_parameters({op.name!r}, True) leaves it in DRAM"
            )
