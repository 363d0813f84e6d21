# SPDX-License-Identifier: Apache-2.0
"""The cost of a module on a mesh: compiled, and estimated by the clock of the simulated chips. Nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import _ttmlir_runtime as rt
from ttmlir.ir import Module
from ttmlir.passes import (
    stablehlo_pipeline,
    stablehlo_to_ttir_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttnn_to_flatbuffer_bin,
)

from builder.api.least_time import ShardingChoice, get_optimal_module_least_time


@dataclass(frozen=True)
class MeshEstimate:
    """time_ns: of one chip; all have as much to do. collectives_ns: of it, in ops that send to other chips.

    dram_bytes: what a chip holds at most. sent_bytes: what it sends, times the links that it passes.
    """

    mesh_shape: tuple[int, int]
    time_ns: float
    collectives_ns: float
    dram_bytes: int
    sent_bytes: int
    choice: ShardingChoice

    @property
    def collectives_share(self) -> float:
        return self.collectives_ns / self.time_ns if self.time_ns else 0.0


def estimate_on_mesh(mlir_text: str, mesh_shape: tuple[int, int], *, dram_bytes: int = 0) -> MeshEstimate:
    """Splits a module of StableHLO that has no mesh by least time, compile it, and add up what its ops take.

    Raises:
        as `get_optimal_module_least_time`; ttmlir.ir.MLIRError: the module cannot be compiled.
    """
    choice = get_optimal_module_least_time(mlir_text, mesh_shape, dram_bytes=dram_bytes)
    module = Module.parse(str(choice.module), choice.module.context)
    stablehlo_pipeline(module)
    stablehlo_to_ttir_pipeline(module)
    ttir_to_ttnn_backend_pipeline(module, {"mesh-shape": mesh_shape})
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))
    with rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions()) as chip:
        arch, banks = chip.arch, chip.get_num_dram_channels()
    report = rt.runtime.estimate(binary, 0, arch, mesh_shape)
    sending = [op for op in report.ops if op.fabric_bytes]
    return MeshEstimate(
        mesh_shape,
        report.device_ns,
        sum(op.device_ns for op in sending),
        report.dram_peak_bytes_per_bank * banks,
        sum(op.fabric_bytes for op in sending),
        choice,
    )


def plot_speed_up(estimates: Sequence[MeshEstimate], path: str) -> None:
    """Plots the time on the first mesh over that on each, for each number of chips, as a picture (.svg, .png).

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    chips = [e.mesh_shape[0] * e.mesh_shape[1] for e in estimates]
    speeds = [estimates[0].time_ns / e.time_ns for e in estimates]
    figure, axes = pyplot.subplots(figsize=(6, 4.2), layout="constrained")
    axes.plot(chips, [n / chips[0] for n in chips], "--", color="#999999", label="as many times faster as chips")
    axes.plot(chips, speeds, "o-", color="#0072b2", label="estimated")
    for estimate, count, speed in zip(estimates, chips, speeds, strict=True):
        axes.annotate(
            f"{speed:.1f}x, {estimate.collectives_share:.0%} collectives",
            (count, speed),
            textcoords="offset points",
            xytext=(8, -12),
            fontsize=8,
        )
    axes.margins(x=0.3, y=0.1)  # room for the words
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(chips, ["x".join(map(str, e.mesh_shape)) for e in estimates])
    axes.set_xlabel("mesh")
    axes.set_ylabel("speed-up over the first mesh")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(frameon=False)
    figure.savefig(path)
    pyplot.close(figure)
