# SPDX-License-Identifier: Apache-2.0
"""A placed graph: what tools are told of it, as JSON next to the netlist, and the files of performance runs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

from ..config import CompilerConfig
from ..enums import PerfTraceLevel
from ..tenstorrent.chip import Chip, descriptor
from .graph import Graph, Queue
from .memory import Layout
from .netlist import netlist
from .place import Epoch, Placed, Placement
from .program import ProgramTime
from .times import Clock

VERSION = 1
PERF_RESULTS = "perf_results"


@dataclass
class Result:
    """A placed device.

    layouts: where queues lie. loops: numbers of inputs, and of the outputs that are these in the next run.
    loopback: queues of outputs, and those of the inputs whose memory they are.
    programs: what runs, as far as it is compiled: a backward pass is when it first runs.
    """

    name: str
    graph: Graph
    chip: Chip
    chips: list[int]
    policy: str
    placement: Placement
    layouts: dict[Queue, Layout]
    clock: Clock
    loops: list[tuple[int, int]]
    loopback: dict[str, str]
    programs: list[ProgramTime] = field(default_factory=list)
    _text: str = ""

    @property
    def epochs(self) -> list[Epoch]:
        return self.placement.epochs

    def placed(self, name: str) -> Placed:
        """Returns where an op is.

        Raises:
            KeyError: there is none of this name.
        """
        op = self.graph.op(name)
        if op is None:
            raise KeyError(f"no op {name!r}; ops: {', '.join(x.name for x in self.graph.ops)}")
        return self.placement.of[op]

    def output_names(self) -> list[str]:
        """Queues of the modules' outputs, in order."""
        return [q.name for q in self.graph.queues if q.kind == "output" and q.name.startswith(f"{self.name}.output_")]

    def netlist(self) -> str:
        if not self._text:
            self._text = netlist(self.name, self.chip, self.epochs, self.layouts, self.loopback)
        return self._text

    def summary(self) -> dict[str, Any]:
        """Returns plain data: epochs with their ops, queues, memory, times."""
        clock, ghz = self.clock, self.chip.costs.clock_ghz
        used: dict[str, list[int]] = {}
        for layout in self.layouts.values():
            key = "host" if layout.on_host else str(layout.chip)
            memory = self.chip.memory
            channels = used.setdefault(key, [0] * (memory.host_channels if layout.on_host else memory.channels))
            for channel, _ in layout.places:
                channels[channel] += layout.bytes
        types = list(dict.fromkeys(e.type for e in self.epochs))
        return {
            "version": VERSION,
            "name": self.name,
            "arch": self.chip.arch.name.lower(),
            "grid_size": [self.chip.rows, self.chip.columns],
            "chips": self.chips,
            "balancer_policy": self.policy,
            "microbatch": self.graph.microbatch,
            "clock_ghz": ghz,
            "l1_bytes": self.chip.l1_usable,
            "time": {
                kind: {
                    "cycles": clock.cycles([kind]),
                    "run_ns": clock.run_ns(1, [kind]),
                    "inputs_per_second": self.graph.microbatch * ghz * 1e9 / max(1, clock.cycles([kind])),
                }
                for kind in types
            },
            "launch_cycles": clock.launch,
            "programs": [program.as_dict() for program in self.programs],
            "epochs": [self._epoch(epoch) for epoch in self.epochs],
            "queues": [self._queue(layout) for layout in self.layouts.values()],
            "memory": used,
        }

    def _epoch(self, epoch: Epoch) -> dict[str, Any]:
        time = self.clock.of[epoch.number]
        slowest = max(epoch.placed, key=lambda x: self.clock.ops[x.op].cycles)
        estimated = max(x.model.cycles for x in epoch.placed)
        busy = sum(x.model.cycles * x.model.cores for x in epoch.placed)
        return {
            "name": epoch.name,
            "number": epoch.number,
            "temporal_epoch": epoch.temporal,
            "chip": epoch.chip,
            "type": epoch.type,
            "cycles": time.cycles,
            "latency_cycles": time.latency,
            "inputs_per_second": self.graph.microbatch * self.chip.costs.clock_ghz * 1e9 / time.cycles,
            "utilization": time.utilization,
            "balancer_utilization": busy / (estimated * self.chip.cores),
            "matmul_cores": time.matmul_cores,
            "slowest_op": slowest.op.name,
            "ops": [self._op(x) for x in epoch.placed],
        }

    def _op(self, placed: Placed) -> dict[str, Any]:
        op, m, time = placed.op, placed.model, self.clock.ops[placed.op]
        out = op.tiles
        return {
            "name": op.name,
            "type": op.type,
            "source": op.source,
            "grid_loc": [placed.row, placed.column],
            "grid_size": list(m.grid),
            "size": list(placed.size),
            "grid_transpose": placed.turned,
            "tiles": [out.z, out.r, out.c],
            "shape": list(op.shape),
            "t": m.t,
            "t_stream_shape": list(m.stream),
            "t_stream_dir": m.direction,
            "mblock": list(m.mblock),
            "ublock": list(m.ublock),
            "inner_tiles": op.inner,
            "u_kt": m.u_kt,
            "m_k": m.m_k,
            "inputs": [x.source.name for x in op.operands],
            "input_tms": [list(x.tms) for x in op.operands],
            "in_df": [x.source.df.name for x in op.operands],
            "out_df": op.df.name,
            "intermed_df": op.intermed_df.name,
            "acc_df": op.acc_df.name,
            "math_fidelity": op.fidelity,
            "fused_ops": [{"name": x.name, "type": x.type} for x in op.parts],
            "l1_bytes": m.l1_bytes,
            "buffers": dict(m.buffers),
            "estimated_cycles": m.cycles,
            "cycles": time.cycles,
            "dram_cycles": time.dram,
            "dram_read_bytes": time.reads,
            "dram_write_bytes": time.writes,
            "limiter": time.limiter,
        }

    @staticmethod
    def _queue(layout: Layout) -> dict[str, Any]:
        q = layout.queue
        return {
            "name": q.name,
            "kind": q.kind,
            "input": q.producer.name if q.producer is not None else "HOST",
            "type": "ram" if q.is_ram else "queue",
            "shape": list(q.shape),
            "df": q.df.name,
            "entries": q.entries,
            "grid_size": list(layout.grid),
            "chip": layout.chip,
            "loc": "host" if layout.on_host else "dram",
            "bytes": layout.bytes,
            "places": [list(x) for x in layout.places],
        }

    def op_perf(self) -> str:
        """Returns the table of `op_perf.csv`: the compiler's own estimates."""
        rows = ["name, type, epoch, grid, tiles, cycles, limiter_cycles"]
        for epoch in self.epochs:
            limit = self.clock.of[epoch.number].cycles
            for x in epoch.placed:
                r, c = x.model.grid
                rows.append(
                    f"{x.op.name}, {x.op.type}, {epoch.number}, {r}x{c}, {x.op.tiles.count}, {x.model.cycles}, {limit}"
                )
        return "\n".join(rows) + "\n"


def file_name(name: str) -> str:
    return "".join(x if x.isalnum() or x in "._-" else "_" for x in name)


def write(result: Result, config: CompilerConfig) -> Path:
    """Writes the netlist and the summary into the folder of the backend, and the files of performance runs where they
    were requested; returns the path of the netlist."""
    folder = Path(config.backend_output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    stem = file_name(result.name)
    path = folder / f"{stem}_netlist.yaml"
    write_whole(path, result.netlist().encode())
    summary = json.dumps(result.summary()) + "\n"
    write_whole(folder / f"{stem}_placement.json", summary.encode())
    if config.store_backend_db_to_yaml and config.backend_runtime_params_path:
        write_whole(Path(config.backend_runtime_params_path), descriptor(result.chip).encode())
    if os.environ.get("PYBUDA_OP_PERF") == "1":
        write_whole(Path("op_perf.csv"), result.op_perf().encode())
    if os.environ.get("TT_BACKEND_PERF_ANALYZER") == "1" or config.performance_trace is not PerfTraceLevel.NONE:
        results = folder / PERF_RESULTS
        results.mkdir(exist_ok=True)
        level = config.performance_trace.name.lower()
        rows = perf_rows(result, everything=config.performance_trace is not PerfTraceLevel.LIGHT)
        write_whole(results / f"{stem}.json", (json.dumps({"level": level, "ops": rows}, indent=1) + "\n").encode())
    return path


def perf_rows(result: Result, everything: bool) -> list[dict[str, Any]]:
    """Returns what a run takes, op by op, by the cost model. everything: with bandwidths, in bytes a cycle."""
    found = []
    for epoch in result.epochs:
        for x in epoch.placed:
            time = result.clock.ops[x.op]
            row: dict[str, Any] = {
                "name": x.op.name, "epoch": epoch.number, "temporal_epoch": epoch.temporal, "chip": epoch.chip,
                "est": x.model.cycles, "kernel": time.kernel, "bw_kernel": time.cycles, "bw_problem": time.limiter,
            }  # fmt: skip
            if everything:
                row["in"] = {"required": time.reads / time.kernel, "actual": time.reads / time.cycles}
                row["out"] = {"required": time.writes / time.kernel, "actual": time.writes / time.cycles}
            found.append(row)
    return found
