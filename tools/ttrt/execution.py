"""One program on a device: its run, and what was seen while it ran."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.debugging import Debugger, MemoryLog, memory_views
from builder.base.device_tensors import convert_input_layouts, create_tensor, fetched
from builder.base.goldens import OpGoldens
from builder.base.watching import OpWatcher, hooks
from golden import GoldenMapTensor

from . import machine
from .file import File, Program


@dataclass
class Execution:
    """What a program gave. found: outputs by device; values: of ops by source; memory: bytes in use after each op.

    leaked: bytes per bank that the run left allocated, by memory.
    """

    program: Program
    inputs: Sequence[GoldenMapTensor]
    found: list[list[torch.Tensor]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    values: Mapping[str, list[list[torch.Tensor]]] = field(default_factory=dict)
    memory: list[dict[str, Any]] = field(default_factory=list)
    leaked: dict[str, int] = field(default_factory=dict)


def allocated(device: Any) -> dict[str, int]:
    return {name: view.total_bytes_allocated_per_bank for name, view in memory_views(device).items()}


def execute(
    file: File,
    program: Program,
    device: Any,
    inputs: Sequence[GoldenMapTensor],
    goldens: Mapping[str, OpGoldens] | None,
    loops: int = 1,
    act: bool = True,
    keep_values: bool = False,
    keep_memory: bool = False,
) -> Execution:
    """Run a program `loops` times on the same inputs.

    Args:
        goldens: of ops by source, for breakpoints; None when they are not known.
        act: do what ops of the debug dialect say, in the first run.
        keep_values, keep_memory: keep every op's value, or what is allocated after it, of the first run.
    """
    result = Execution(program, inputs)
    before = allocated(device)
    host = [create_tensor(value.golden_map_tensor_as_torch_tensors(), value.mesh_shape) for value in inputs]
    placed = convert_input_layouts(device, host, fbb=file.binary, program_index=program.index)
    debugger = Debugger.of(file.binary, program.index, device, goldens) if act else None
    watcher = None
    if debugger is not None or keep_values or keep_memory:
        watcher = OpWatcher(None, keep_values, frozenset(), MemoryLog(device) if keep_memory else None, debugger)
        result.values = watcher.values
    outputs: list[Any] = []
    for loop in range(loops):
        with hooks(watcher if loop == 0 else None):
            started = time.perf_counter_ns()
            outputs = rt.runtime.submit(device, file.binary, program.index, placed)
            result.times.append(time.perf_counter_ns() - started)
    result.found = [fetched(tensor) for tensor in outputs]
    result.figures = machine.last_run(device)
    if watcher is not None and watcher.memory is not None:
        result.memory = watcher.memory.operations
    for tensor in [*outputs, *placed]:
        rt.runtime.deallocate_tensor(tensor, force=True)
    after = allocated(device)
    result.leaked = {name: size - before.get(name, 0) for name, size in after.items() if size > before.get(name, 0)}
    return result
