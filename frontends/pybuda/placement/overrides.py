# SPDX-License-Identifier: Apache-2.0
"""Requests of the configuration for ops and queues of the netlist: cores, chips, and results that are inputs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _ttmlir_runtime import runtime

from ..capture.functions import plain
from ..config import CompilerConfig
from ..enums import OPTIMIZER
from ..errors import PlacementError
from ..tenstorrent.chip import Chip, host_chips
from .graph import Graph, Op, divisors
from .program import Executable


def grids_of(op: Op, chip: Chip, config: CompilerConfig) -> list[tuple[int, int]]:
    """Returns the grids of a chip that an op may have: rows and columns divide those of its result in tiles."""
    rows = 1 if config.place_on_one_row else chip.rows
    return [
        (r, c) for r in divisors(op.tiles.r) for c in divisors(op.tiles.c) if r <= rows and c <= chip.columns
    ]  # fmt: skip


def fits(grid: tuple[int, int], overrides: Mapping[str, Any], chip: Chip) -> bool:
    """Returns whether a grid is within the chip where the configuration requests an op to begin."""
    start, _, turned = overrides.get("placement", (None, None, False))
    rows, columns = grid[:: -1 if turned else 1]
    row, column = start or (0, 0)
    return row + rows <= chip.rows and column + columns <= chip.columns


def fitting_grid(op: Op, chip: Chip, config: CompilerConfig) -> tuple[()] | tuple[int, int]:
    """Returns the largest grid that fits what the configuration requests for an op apart from a grid: its first core,
    and pieces of its result. Returns () if the grid that the op has fits, or none does."""
    overrides = config.op_overrides.get(op.name, {})
    r, c = overrides.get("t_stream_shape", (1, 1))

    def suits(grid: tuple[int, int]) -> bool:
        divides = (r, c) == (1, 1) or op.tiles.r % (r * grid[0]) == op.tiles.c % (c * grid[1]) == 0
        return divides and fits(grid, overrides, chip)

    if not {"placement", "t_stream_shape"} & set(overrides) or suits(op.placed.grid):
        return ()
    return max(filter(suits, grids_of(op, chip, config)), key=lambda x: (x[0] * x[1], -abs(x[0] - x[1])), default=())


def overridden_places(graph: Graph, chip: Chip, config: CompilerConfig) -> tuple[str, dict[str, tuple[int, int]]]:
    """Returns the places that the configuration requests for ops of the netlist that the compiler has placed elsewhere:
    as the option `epoch-overrides`, and grids by names of nodes, on which the program can compute.

    Raises:
        PlacementError: cores that the chip does not have, or an op of an optimizer's step.
    """
    simulated = runtime.chip_figures(chip.costs.arch)["grid"]
    nodes = Counter(op.node for op in graph.ops)
    text: dict[str, str] = {}
    grids: dict[str, tuple[int, int]] = {}
    for op in graph.ops:
        overrides = config.op_overrides.get(op.name, {})
        start, _, turned = overrides.get("placement", (None, None, False))
        if "grid_shape" in overrides:
            size = tuple(overrides["grid_shape"])
            grid = size if size != op.placed.grid and size in grids_of(op, chip, config) else ()
        else:
            grid = fitting_grid(op, chip, config)
        if not (grid or start is not None or turned):
            continue
        if not fits(grid or op.placed.grid, overrides, chip):
            at = f" at {tuple(start)}" if start is not None else ""
            what = "its grids"
            if "grid_shape" in overrides:
                what = "{}x{}".format(*(grid or op.placed.grid)[:: -1 if turned else 1])
            elif "t_stream_shape" in overrides:
                what += f" with t_stream_shape {tuple(overrides['t_stream_shape'])}"
            raise PlacementError(
                f"No valid grids for op {op.name!r}{at}: none of {what} fits the {chip.rows}x{chip.columns} cores of "
                "the device"
            )
        if op.epoch_type == OPTIMIZER:
            raise PlacementError(f"op {op.name!r} is of an optimizer's step, whose cores the compiler chooses alone")
        if grid and nodes[op.node] == 1 and grid[0] <= simulated[0] and grid[1] <= simulated[1]:
            grids |= dict.fromkeys((x.node for x in op.parts or [op]), grid)
            grid = ()
        if grid or start is not None or turned:
            core = "{}x{}".format(*start) if start is not None else ""
            place = f"{'x'.join(map(str, grid))}:{core}{':transposed' if turned else ''}"
            if text.setdefault(op.location, place) != place:
                raise PlacementError(
                    f"op {op.name!r} is requested at {place}, and the program computes it together with ops that are "
                    f"requested at {text[op.location]}; expected one place"
                )
    return ",".join(f"{location}={place}" for location, place in text.items()), grids


def warn_of_sizes(graph: Graph, executables: Sequence[Executable], config: CompilerConfig) -> None:
    """Warns of requested grids on which the programs do not compute."""
    places = [runtime.result_places(executable.binary, 0) for executable in executables]
    for op in graph.ops:
        size = config.op_overrides.get(op.name, {}).get("grid_shape")
        rows = [(program, index) for program, index in op.rows if program < len(executables)]
        found = [places[program][index] for program, index in rows]
        if size is None or not rows or any(place and tuple(place[2]) == tuple(size) for place in found):
            continue
        program, index = rows[0]
        kernel = executables[program].functions[0].ops[index]["name"]
        warnings.warn(
            f"override_op_size({op.name!r}, {tuple(size)}) is for the netlist alone: the program computes the op by "
            f"{kernel}, on the cores that its kernel takes",
            stacklevel=2,
        )


def chip_order(chips: Sequence[int], config: CompilerConfig) -> list[int]:
    """Returns chips in the order in which they are filled: those at the host last. Without a descriptor it is at the
    first."""
    at_host = [chips[0]]
    if config.backend_cluster_descriptor_path:
        at_host = host_chips(Path(config.backend_cluster_descriptor_path), chips)
    return sorted(chips, key=lambda x: x in at_host) if config.chip_placement_policy == "MMIO_LAST" else list(chips)


def loopbacks(graph: Graph, inputs_given: Sequence[str], config: CompilerConfig) -> list[tuple[int, int, str, str]]:
    """Returns outputs that stay on the device as inputs of the next run: numbers of input and output, names of their
    queues.

    Raises:
        PlacementError: an output that there is not, or of another shape than the input.
    """
    inputs = {q.name: q for q in graph.queues if q.kind == "input"}
    outputs = [q for q in graph.queues if q.kind == "output" and q.name.startswith(f"{graph.name}.output_")]
    loopbacks = {name: number for name, number in config.loopback_outputs.items() if name in inputs}
    if config.enable_link_past_cache_ios:
        # An output of the shape of an input whose name says that it is a cache.
        free = [i for i in range(len(outputs)) if i not in loopbacks.values()]
        for name, queue in inputs.items():
            at = next((i for i in free if outputs[i].shape == queue.shape), None)
            if name not in loopbacks and "past" in name and at is not None:
                loopbacks[name] = at
                free.remove(at)
    numbers = {plain(name): number for number, name in enumerate(inputs_given)}
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


def assign_chips(graph: Graph, chips: Sequence[int], config: CompilerConfig) -> None:
    """Assigns ops to the chips that `override_op_placement` names."""
    for op in graph.ops:
        overrides = config.op_overrides.get(op.name, {}).get("placement")
        if overrides and overrides[1] is not None:
            if overrides[1] not in chips:
                raise PlacementError(
                    f"override_op_placement({op.name!r}, chip_id={overrides[1]}): the device has chips {list(chips)}"
                )
            op.chip = overrides[1]
