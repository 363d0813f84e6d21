# SPDX-License-Identifier: Apache-2.0
"""Simulated machines: what the command line says of them, opening them, and what runs on them took."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError

Mesh = tuple[int, int]
DEFAULT_ARCH = "wormhole_b0"


@dataclass(frozen=True)
class MeshChoice:
    """The value of --mesh. arch: of the board or box that was named; None for ROWSxCOLUMNS."""

    text: str
    shape: Mesh
    arch: str | None = None


def mesh(text: str) -> MeshChoice:
    """Parses ROWSxCOLUMNS, or the name of a board or box."""
    if found := re.fullmatch(r"(\d+)x(\d+)", text):
        rows, columns = int(found[1]), int(found[2])
        if rows > 0 and columns > 0:
            return MeshChoice(text, (rows, columns))
    import _ttmlir_runtime as rt

    presets = rt.runtime.get_mesh_presets()
    if text not in presets:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no mesh; expected ROWSxCOLUMNS like 2x4, or one of {', '.join(presets)}"
        )
    arch, rows, columns = presets[text]
    return MeshChoice(text, (rows, columns), arch)


def arch(text: str) -> str:
    import _ttmlir_runtime as rt

    known = rt.runtime.get_available_archs()
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is not simulated; expected one of {', '.join(known)}")
    return text


def arguments(parser: argparse.ArgumentParser, default: str) -> None:
    group = parser.add_argument_group("machine")
    group.add_argument("--arch", type=arch, help=f"architecture of its chips, like blackhole (default: {default})")
    group.add_argument(
        "--mesh",
        type=mesh,
        help=f"rows and columns of chips like 2x4, or a board or box like n300 or galaxy (default: {default})",
    )


def exact_argument(parser: Any, text: str) -> None:
    parser.add_argument("--exact", action="store_true", help=f"{text} (slow; see docs/numerics.md)")


def chosen(args: argparse.Namespace, arch: str | None, shape: Mesh) -> tuple[str, Mesh]:
    """Returns architecture and mesh that the command line asks for; `arch` and `shape` where it does not say."""
    choice: MeshChoice | None = args.mesh
    if choice and choice.arch and args.arch and args.arch != choice.arch:
        raise InputError(f"--mesh {choice.text} consists of {choice.arch} chips; --arch says {args.arch}")
    found = args.arch or (choice.arch if choice else None) or arch or DEFAULT_ARCH
    return found, choice.shape if choice else shape


# How launchers tell a process its number: OpenMPI, and PMI of MPICH and Slurm.
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")


def rank() -> int:
    """Returns the rank of this process among those that mpirun started, which share a mesh; 0 when it is alone."""
    return next((int(os.environ[name]) for name in RANK_VARIABLES if os.environ.get(name, "").isdigit()), 0)


@contextlib.contextmanager
def opened(arch: str, shape: Mesh, exact: bool = False) -> Iterator[Any]:
    import _ttmlir_runtime as rt

    options = rt.runtime.MeshDeviceOptions(exact=exact)
    options.arch = arch
    options.mesh_shape = shape
    with rt.runtime.open_mesh_device(options) as device:
        yield device


def mesh_text(shape: Sequence[int]) -> str:
    return f"{shape[0]}x{shape[1]}"


def devices(shape: Sequence[int]) -> int:
    """Returns chips of a mesh."""
    return math.prod(shape)


def run_figures(report: Any) -> dict[str, Any]:
    """Returns what the runtime says a run took (or would take), by name. Bytes are per bank of a memory."""
    return {
        "host_ns": report.host_ns,
        "device_cycles": report.cycles,
        "device_ns": report.device_ns,
        "uncertainty_ns": uncertainty(report.ops),
        "kernel_programs": sum(op.programs for op in report.ops),
        "memory_peak_bytes_per_bank": {
            "DRAM": report.dram_peak_bytes_per_bank,
            "L1": report.l1_peak_bytes_per_bank,
        },
        "host_arena_bytes": report.arena_bytes,
        **stage_figures(report),
        "ops": [op_figures(op) for op in report.ops],
    }


def uncertainty(ops: Iterable[Any]) -> float:
    """Returns the uncertainty of the time of ops together, one standard deviation in ns: errors of a kind add up, those
    of kinds as squares."""
    by_kind: dict[str, float] = {}
    for op in ops:
        by_kind[op.kind] = by_kind.get(op.kind, 0.0) + op.uncertainty_ns
    return math.hypot(*by_kind.values())


def without_trace(arch: str, report: Mapping[str, Any]) -> dict[str, float]:
    """Returns a run that no trace was captured of: what the host takes to send its programs, and the longer of that and
    what the chip takes."""
    import _ttmlir_runtime as rt

    host = report["kernel_programs"] * rt.runtime.chip_figures(arch)["host_ns_per_program"]
    return {"untraced_host_ns": host, "untraced_ns": max(report["device_ns"], host)}


def op_figures(op: Any) -> dict[str, Any]:
    return {
        "name": op.name,
        "loc": op.loc,
        "host_ns": op.host_ns,
        "device_cycles": op.cycles,
        "device_ns": op.device_ns,
        "uncertainty_ns": op.uncertainty_ns,
        "kind": op.kind,
        "kernel_programs": op.programs,
        "bound": op.bound,
        "dram_bytes": op.dram_bytes,
        "l1_bytes": op.l1_bytes,
        "fabric_bytes": op.fabric_bytes,
        "circular_buffer_bytes": op.circular_buffer_bytes,
    }


def stage_figures(report: Any) -> dict[str, Any]:
    """Returns what is said of a program that has stages, and of no other."""
    if not report.stages:
        return {}
    stages = [
        {
            "name": stage.name,
            "program_index": stage.program_index,
            "mesh_shape": list(stage.mesh_shape),
            "mesh_offset": list(stage.mesh_offset),
            "host_ns": stage.host_ns,
            "compute_ns": stage.compute_ns,
            "send_ns": stage.send_ns,
            "first_ns": stage.first_ns,
            "last_ns": stage.last_ns,
            "sent_bytes": stage.sent_bytes,
            "memory_peak_bytes_per_bank": {
                "DRAM": stage.dram_peak_bytes_per_bank,
                "L1": stage.l1_peak_bytes_per_bank,
            },
            "ops": [op_figures(op) for op in stage.ops],
        }
        for stage in report.stages
    ]
    return {"micro_batches": report.micro_batches, "bubble": report.bubble, "stages": stages}


def show_stages(report: dict[str, Any]) -> None:
    """Prints the stages of a program that has some: where each runs, and what its chips do when."""
    if "stages" not in report:
        return
    from .output import duration, grouped, table

    rows = [
        (
            stage["name"],
            f"{mesh_text(stage['mesh_shape'])} at {stage['mesh_offset']}",
            *(duration(stage[name]) for name in ("compute_ns", "send_ns", "first_ns", "last_ns")),
            grouped(stage["sent_bytes"]),
            *(grouped(size) for size in stage["memory_peak_bytes_per_bank"].values()),
        )
        for stage in report["stages"]
    ]
    columns = ("stage", "chips", "computes>", "sends>", "from>", "to>", "sent bytes>", "DRAM peak>", "L1 peak>")
    table(f"stages of {report['name']}", columns, rows)
    count = report["micro_batches"]
    print(f"{count} micro-batch{'' if count == 1 else 'es'}, bubble {report['bubble']:.1%} of the chips' time")


def last_run(device: Any) -> dict[str, Any]:
    """Returns figures of the last run on a device, without those of its ops."""
    import _ttmlir_runtime as rt

    figures = run_figures(rt.runtime.last_run(device))
    for part in (figures, *figures.get("stages", ())):
        del part["ops"]
    return figures
