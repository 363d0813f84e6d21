# SPDX-License-Identifier: Apache-2.0
"""Data of a run for the performance analyzer: the netlist, and the estimated cycles of each op.

They are the files NAME_netlist.yaml, NAME_placement.json and perf_results/NAME.json of an output folder (tt_build), and
op_perf.csv where the run was started. There is no placer: this compiler writes none of them yet.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

BUILD, RESULTS, OP_PERF = "tt_build", "perf_results", "op_perf.csv"
FORMAT = "pybuda performance 1"
NOT_OPS = ("target_device", "input_count")  # keys of a graph that are no ops


class PerformanceError(Exception):
    """Data that are not there, or cannot be read."""


@dataclass(frozen=True)
class OpTime:
    """An op of the netlist. Times are cycles for one input: est is the compiler's own estimate, kernel excludes and
    bw_kernel includes waits for data. problem: what it waits for. in_*, out_*: bytes per cycle, required by the kernel
    and available. None: not recorded.
    """

    name: str
    type: str
    grid_loc: tuple[int, int]
    grid: tuple[int, int]
    kernel: int
    bw_kernel: int
    est: int | None = None
    problem: str = ""
    in_required: float | None = None
    in_actual: float | None = None
    out_required: float | None = None
    out_actual: float | None = None
    fidelity: str = ""
    mblock: tuple[int, ...] = ()
    ublock: tuple[int, ...] = ()
    t: int = 1
    u_kt: int | None = None
    m_k: int | None = None

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def is_matmul(self) -> bool:
        return "matmul" in self.type

    @property
    def has_small_u_kt(self) -> bool:
        """Returns whether partial sums are spilled although a larger part of the inner dimension could be taken at a
        time."""
        return self.u_kt == 1 and (self.m_k or 1) > 1


@dataclass(frozen=True)
class Epoch:
    """Ops that run at the same time, as a pipeline. chips: more than one for epochs of several chips taken together."""

    name: str
    number: int
    temporal: int
    chips: tuple[int, ...]
    ops: tuple[OpTime, ...]
    cores: int  # of each chip

    @property
    def cycles(self) -> int:
        """Returns cycles of the pipeline, for one input: those of the slowest op."""
        return max((op.bw_kernel for op in self.ops), default=0)

    @property
    def matmul_cores(self) -> int:
        return sum(op.cores for op in self.ops if op.is_matmul)

    @property
    def utilization(self) -> float:
        return self._busy(sum(op.kernel * op.cores for op in self.ops), self.cycles)

    @property
    def balancer_utilization(self) -> float | None:
        """Returns the utilization by the estimates that the balancer had."""
        known = [op for op in self.ops if op.est is not None]
        if len(known) < len(self.ops):
            return None
        estimates = [op.est or 0 for op in known]
        return self._busy(sum(e * op.cores for e, op in zip(estimates, known, strict=True)), max(estimates, default=0))

    def _busy(self, cycles: int, most: int) -> float:
        all_cores = self.cores * len(self.chips)
        return cycles / (most * all_cores) if most and all_cores else 0.0


@dataclass(frozen=True)
class Performance:
    """clock: GHz. batch: inputs that a pass through the epochs takes."""

    netlist: str
    arch: str
    clock: float
    batch: int
    epochs: tuple[Epoch, ...]

    def temporal(self) -> Performance:
        """Returns epochs of several chips that run at the same time as one."""
        groups: dict[int, list[Epoch]] = {}
        for epoch in self.epochs:
            groups.setdefault(epoch.temporal, []).append(epoch)
        merged = [
            Epoch(
                group[0].name if len(group) == 1 else f"temporal epoch {number}", number, number,
                tuple(dict.fromkeys(chip for e in group for chip in e.chips)),
                tuple(op for e in group for op in e.ops), group[0].cores,
            )
            for number, group in groups.items()
        ]  # fmt: skip
        return replace(self, epochs=tuple(merged))

    def speed(self, epoch: Epoch) -> float:
        """Returns inputs a second that an epoch could take."""
        return self.batch * self.clock * 1e9 / epoch.cycles if epoch.cycles else math.inf

    @property
    def cycles(self) -> int:
        """Returns cycles for one input, one epoch after the other."""
        return sum(epoch.cycles for epoch in self.epochs)

    @property
    def inputs_per_second(self) -> float:
        return self.batch * self.clock * 1e9 / self.cycles if self.cycles else 0.0

    @property
    def utilization(self) -> float:
        return sum(e.utilization * e.cycles for e in self.epochs) / self.cycles if self.cycles else 0.0


#
# Reading
#


def read_netlist(path: Path) -> dict[str, Any]:
    """Returns the netlist as Python's values.

    Raises:
        PerformanceError: no file, no YAML, no netlist.
    """
    try:
        import yaml
    except ModuleNotFoundError:
        raise PerformanceError("a netlist is read with the package PyYAML: pip install 'ttmlir[tools]'") from None
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PerformanceError(f"netlist {path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PerformanceError(f"netlist {path}: no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(found, Mapping) or not isinstance(found.get("graphs"), Mapping):
        raise PerformanceError(f"netlist {path}: no netlist; expected sections devices, queues and graphs")
    for name, graph in found["graphs"].items():
        if not isinstance(graph, Mapping) or not all(isinstance(graph[op], Mapping) for op in ops_in(graph)):
            raise PerformanceError(f"netlist {path}: graph {name}: expected ops with their attributes")
    return dict(found)


def ops_in(graph: Mapping[str, Any]) -> list[str]:
    return [name for name in graph if name not in NOT_OPS]


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PerformanceError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise PerformanceError(f"{path}: damaged: {error}") from None


def measured(folder: Path, names: set[str]) -> tuple[str, dict[str, Mapping[str, Any]]]:
    """Returns the name of the compilation to which the ops belong, and the records of each.

    Raises:
        PerformanceError: there are no such data.
    """
    tried = []
    for path in sorted((folder / RESULTS).glob("*.json"), key=lambda p: p.stat().st_mtime, reverse=True):
        data = read_json(path)
        try:
            rows = {row["name"]: row for row in data["ops"]}
            for row in rows.values():
                int(row["kernel"]), int(row["bw_kernel"]), int(row["temporal_epoch"])
        except (KeyError, TypeError, ValueError) as error:
            raise PerformanceError(f"{path}: damaged: {type(error).__name__} {error}") from None
        if names <= set(rows):
            return path.stem, rows
        tried.append(f"{path.name} lacks {', '.join(sorted(names - set(rows))[:3])}")
    why = "; ".join(tried) or f"there is no {folder / RESULTS}"
    raise PerformanceError(
        f"no performance data of the ops of the netlist ({why}); run with performance_trace or "
        "TT_BACKEND_PERF_ANALYZER=1"
    )


def estimates(path: Path) -> dict[str, int]:
    """Returns cycles by op in op_perf.csv; nothing where there is none.

    Raises:
        PerformanceError: a file that is another.
    """
    if not path.exists():
        return {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return {
                row["name"]: int(row["cycles"])
                for row in csv.DictReader(file, skipinitialspace=True)
                if row["name"] is not None
            }
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise PerformanceError(f"{path}: not as a run with PYBUDA_OP_PERF=1 writes it: {error}") from None


def collect(netlist: Path | None = None, folder: Path = Path(".")) -> Performance:
    """Returns what the workspace in a folder has. Without a netlist the newest of the compiler's output is taken.

    Raises:
        PerformanceError: something is missing or damaged.
    """
    build = folder / BUILD
    if netlist is None:
        found = sorted(build.glob("*_netlist.yaml"), key=lambda p: p.stat().st_mtime)
        if not found:
            raise PerformanceError(
                f"there is no *_netlist.yaml in {build}, and no placer here that writes one; name one with -n"
            )
        netlist = found[-1]
    text = read_netlist(netlist)
    graphs: Mapping[str, Any] = text["graphs"]
    names = {op for graph in graphs.values() for op in ops_in(graph)}
    stem, rows = measured(build, names)
    summary = read_json(build / f"{stem}_placement.json")
    own = estimates(folder / OP_PERF)
    epochs = []
    try:
        for number, (name, graph) in enumerate(graphs.items()):
            ops = tuple(op_time(op, graph[op], rows[op], own) for op in ops_in(graph))
            temporal = int(rows[ops[0].name]["temporal_epoch"]) if ops else number
            chip = int(graph.get("target_device", 0))
            epochs.append(Epoch(str(name), number, temporal, (chip,), ops, math.prod(summary["grid_size"])))
        return Performance(
            netlist.stem, summary["arch"], float(summary["clock_ghz"]), int(summary["microbatch"] or 1), tuple(epochs)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PerformanceError(f"{netlist} and {stem}_placement.json: {type(error).__name__} {error}") from None


def op_time(name: str, op: Mapping[str, Any], row: Mapping[str, Any], own: Mapping[str, int]) -> OpTime:
    attributes = op.get("attributes") or {}
    read, written = row.get("in") or {}, row.get("out") or {}
    est = own.get(name, row.get("est"))
    return OpTime(
        name, str(op["type"]), pair(op["grid_loc"]), pair(op["grid_size"]), int(row["kernel"]), int(row["bw_kernel"]),
        None if est is None else int(est), str(row.get("bw_problem") or ""),
        read.get("required"), read.get("actual"), written.get("required"), written.get("actual"),
        str(op.get("math_fidelity", "")), tuple(op.get("mblock", ())), tuple(op.get("ublock", ())), int(op.get("t", 1)),
        attributes.get("u_kt"), attributes.get("m_k"),
    )  # fmt: skip


def as_tuple(value: Any) -> Any:
    """Returns JSON has lists alone."""
    return tuple(value) if isinstance(value, list) else value


def pair(value: Sequence[int]) -> tuple[int, int]:
    first, second = value
    return int(first), int(second)


#
# Keeping
#


def save(performance: Performance, path: Path) -> None:
    """
    Raises:
        PerformanceError: it cannot be written.
    """
    from ttmlir.files import write_whole

    data = {"format": FORMAT, **asdict(performance)}
    try:
        write_whole(path, gzip.compress(json.dumps(data).encode(), mtime=0))
    except OSError as error:
        raise PerformanceError(f"{path}: {error.strerror or error}") from None


def load(path: Path) -> Performance:
    """
    Raises:
        PerformanceError: another file, or a damaged one.
    """
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        if data.pop("format") != FORMAT:
            raise ValueError("another format")
        for epoch in data["epochs"]:
            ops: list[dict[str, Any]] = epoch["ops"]
            epoch["ops"] = tuple(OpTime(**{k: as_tuple(v) for k, v in op.items()}) for op in ops)
            epoch["chips"] = tuple(epoch["chips"])
        data["epochs"] = tuple(Epoch(**epoch) for epoch in data["epochs"])
        return Performance(**data)
    except OSError as error:
        # A file that is not gzip's has no number.
        reason = error.strerror or "not written by --save"
        raise PerformanceError(f"{path}: {reason}") from None
    except (EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PerformanceError(f"{path}: not written by --save: {type(error).__name__} {error}") from None
    except Exception as error:  # zlib's own
        raise PerformanceError(f"{path}: damaged: {error}") from None
