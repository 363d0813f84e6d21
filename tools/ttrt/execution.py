# SPDX-License-Identifier: Apache-2.0
"""Execution of one program on a device, and what was recorded of it."""

from __future__ import annotations

import contextlib
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import _ttmlir_runtime as rt
import numpy as np
from builder.execution.memory_log import MemoryLog, memory_views

from . import machine
from .arrays import Shards, fetched, placed
from .file import File, Program

if TYPE_CHECKING:
    from builder.goldens.records import OpGoldens


@dataclass
class Execution:
    """The results of a program. found: outputs by device; values: of ops by source (in torch); memory: after each op.

    leaked: bytes per bank that the run left allocated, by memory. ranks: of the processes that share the mesh.
    """

    program: Program
    inputs: Sequence[Shards]
    found: list[list[np.ndarray]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    values: Mapping[str, list[list[Any]]] = field(default_factory=dict)
    memory: list[dict[str, Any]] = field(default_factory=list)
    leaked: dict[str, int] = field(default_factory=dict)
    ranks: list[dict[str, Any]] = field(default_factory=list)


def allocated(device: Any) -> dict[str, int]:
    return {name: view.total_bytes_allocated_per_bank for name, view in memory_views(device).items()}


def execute(
    file: File,
    program: Program,
    device: Any,
    inputs: Sequence[Shards],
    goldens: Mapping[str, OpGoldens] | None,
    loops: int = 1,
    act: bool = True,
    keep_values: bool = False,
    keep_memory: bool = False,
    max_loop_iterations: int | None = None,
) -> Execution:
    """Runs a program `loops` times on the same inputs.

    Args:
        goldens: of ops by source, for breakpoints; None when they are not known.
        act: do what ops of the debug dialect say, in the first run.
        keep_values, keep_memory: keep every op's value, or what is allocated after it, of the first run.
        max_loop_iterations: the limit of iterations of all loops of a run.
    """
    result = Execution(program, inputs)
    before = allocated(device)
    given = placed(device, file.binary, program.index, inputs)
    memory = MemoryLog(device) if keep_memory else None
    following, values = followed(file, program, device, goldens, act, keep_values, memory)
    result.values = values
    outputs: list[Any] = []
    for loop in range(loops):
        with following if loop == 0 else contextlib.nullcontext():
            started = time.perf_counter_ns()
            outputs = rt.runtime.submit(device, file.binary, program.index, given, max_loop_iterations)
            result.times.append(time.perf_counter_ns() - started)
    result.found = [fetched(tensor) for tensor in outputs]
    result.figures = machine.last_run(device)
    own = {
        "rank": rt.runtime.get_rank(),
        "chips": device.get_local_device_ids(),
        "first_ns": result.times[0],
        "median_ns": statistics.median(result.times),
    }
    result.ranks = [json.loads(text) for text in rt.runtime.gather_from_ranks(json.dumps(own))]
    if memory is not None:
        result.memory = memory.operations
    for tensor in [*outputs, *given]:
        rt.runtime.deallocate_tensor(tensor, force=True)
    after = allocated(device)
    result.leaked = {name: size - before.get(name, 0) for name, size in after.items() if size > before.get(name, 0)}
    return result


def followed(
    file: File,
    program: Program,
    device: Any,
    goldens: Mapping[str, OpGoldens] | None,
    act: bool,
    keep_values: bool,
    memory: MemoryLog | None,
) -> tuple[Any, Mapping[str, list[list[Any]]]]:
    """Returns hooks of a run, and where it leaves values. Values of ops are torch's, which is not loaded for anything
    else."""
    marks = not file.is_metal and any(op["name"].startswith("debug.") for op in program.operations)
    if keep_values or (act and marks):
        from builder.execution.debugging import Debugger
        from builder.execution.op_watcher import OpWatcher, hooks

        debugger = Debugger.of(file.binary, program.index, device, goldens) if act else None
        if keep_values or debugger is not None:
            watcher = OpWatcher(None, keep_values, frozenset(), memory, debugger, program.micro_batches, goldens)
            return hooks(watcher), watcher.values
    return (memory_hooks(memory) if memory is not None else contextlib.nullcontext()), {}


@contextlib.contextmanager
def memory_hooks(memory: MemoryLog) -> Any:
    kept = rt.runtime.DebugHooks.get(post_op=lambda executable, context, op: memory.add(context, op))
    try:
        yield kept
    finally:
        rt.runtime.unregister_hooks()
