# SPDX-License-Identifier: Apache-2.0
"""Hooks that record values, times and memory of each op of a run, and replace values."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from golden.optional import torch

from builder.base.errors import TTBuilderRuntimeException
from builder.goldens.module_goldens import IntermediateGoldens

from .debugging import Debugger
from .device_tensors import create_tensor, fetched, runtime, runtime_dtype_to_torch_dtype
from .memory_log import MemoryLog, location_of


@dataclass
class OpWatcher:
    """Follows the ops of a program: replaces bypassed values, keeps what each source op gave, measures memory.

    Several ops can come from one source op; the last of them has its value. Programs that the program calls are
    followed, too. Without goldens, `verify` keeps the values of all ops. ops: name and location by source. Of several
    micro-batches, which go through the ops one after the other, the values are put together to those of `unsplit`,
    which are the goldens where there are some.
    """

    goldens: IntermediateGoldens | None
    verify: bool
    bypass: frozenset[str]
    memory: MemoryLog | None = None
    debugger: Debugger | None = None
    micro_batches: int = 1
    unsplit: Mapping[str, Any] | None = None
    values: dict[str, list[list[torch.Tensor]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    ops: dict[str, tuple[str, str]] = field(default_factory=dict)
    _last: dict[int, dict[int, str]] = field(default_factory=dict)  # program -> place of an op -> source
    _turns: dict[str, int] = field(default_factory=dict)  # how often the op of a source ran
    _started: float = 0.0

    def study(self, executable: Any, index: int) -> None:
        """Learns which op of a program is the last one of its source."""
        places: dict[str, int] = {}
        runtime.walk_program(executable, index, lambda op: places.update({runtime.get_op_source(op): op.index}))
        places.pop("", None)
        self._last[index] = {place: source for source, place in places.items()}

    def is_last(self, executable: Any, program: Any, op: Any) -> bool:
        index = runtime.get_program_index(program)
        if index not in self._last:
            self.study(executable, index)
        return op.index in self._last[index]

    def expected(self, source: str) -> bool:
        if not self.verify or self.goldens is None or self.goldens.to_check is None:
            return self.verify
        return source in self.goldens.to_check

    def before(self, executable: Any, program: Any, op: Any) -> None:
        self._started = time.perf_counter()

    def after(self, executable: Any, program: Any, op: Any) -> None:
        source = runtime.get_op_source(op)
        self.seconds[source] = self.seconds.get(source, 0.0) + time.perf_counter() - self._started
        if self.memory is not None:
            self.memory.add(program, op)
        if self.debugger is not None:
            self.debugger.after(executable, program, op)
        if not self.is_last(executable, program, op):
            return
        self._turns[source] = self._turns.get(source, -1) + 1
        if self.expected(source):
            self.keep(source, self.results(program, op))
            self.ops[source] = (op.name, location_of(op))
        if source in self.bypass and self.goldens is not None and source in self.goldens:
            self.replace(program, op, source)

    def keep(self, source: str, results: list[list[torch.Tensor]]) -> None:
        unsplit = self.goldens if self.unsplit is None else self.unsplit
        golden = unsplit.get(source) if unsplit is not None else None
        before = self.values.get(source, [])
        if self.micro_batches > 1 and golden is not None and len(before) == len(results):
            sizes = [value.shard_at(0).numel() for value in golden.results]
            results = [joined(*values) for values in zip(before, results, sizes, strict=False)]
        self.values[source] = results

    def results(self, program: Any, op: Any) -> list[list[torch.Tensor]]:
        """Returns values of the op's results, each by device."""
        found = []
        for ref in runtime.get_op_output_refs(op):
            tensor = runtime.retrieve_tensor_from_pool(program, ref, True)
            if tensor is not None:
                found.append(fetched(tensor))
        return found

    def replace(self, program: Any, op: Any, source: str) -> None:
        """Puts the goldens where the op's results are."""
        assert self.goldens is not None  # see `after`
        for ref, golden in zip(runtime.get_op_output_refs(op), self.goldens[source].results, strict=False):
            dtype, shape = runtime_dtype_to_torch_dtype(ref.get_dtype()), tuple(ref.get_shape())
            size, whole = volume(shape), golden.shard_at(0).numel()
            parts = self.micro_batches if whole == self.micro_batches * size else 1
            if whole != parts * size:
                raise TTBuilderRuntimeException(
                    f"bypass: the golden of op {source} has shape {list(golden.shape)}, its value {list(shape)}"
                )
            turn = self._turns.get(source, 0) % parts  # callbacks of programs count none
            shards = {device: t.reshape(parts, *shape)[turn].to(dtype) for device, t in golden.shard_map.items()}
            runtime.update_tensor_in_pool(program, ref, create_tensor(shards, golden.mesh_shape))


def volume(shape: Sequence[int]) -> int:
    return math.prod(shape)


def joined(before: list[torch.Tensor], now: list[torch.Tensor], size: int) -> list[torch.Tensor]:
    """Returns rows of a value with this many elements, by device, including earlier ones; a value without a batch is
    unchanged.
    """
    if before[0].numel() + now[0].numel() > size or now[0].dim() == 0:
        return now
    return [torch.cat(parts) for parts in zip(before, now, strict=True)]


@contextmanager
def hooks(watcher: OpWatcher | None) -> Any:
    if watcher is None:
        yield
        return
    kept = runtime.DebugHooks.get(pre_op=watcher.before, post_op=watcher.after)
    try:
        yield kept
    finally:
        runtime.unregister_hooks()
