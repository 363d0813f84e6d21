# SPDX-License-Identifier: Apache-2.0
"""The shardings of a module that take least time, as `auto-sharding` estimates it."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ttmlir import ir
from ttmlir.ir import Context, Module
from ttmlir.passes import run_pass

from builder.base.errors import TTBuilderCompileException, diagnostics_of
from builder.execution.argument_checks import checked_arguments
from builder.ops.structure import walk


@dataclass(frozen=True)
class ShardingVariant:
    """The cost of one way to split the module. Times are of one chip; overlaps count in each part, and once in time_ns.

    name: "chosen", "data_parallel" (inputs split by their first dimension, weights whole), "tensor_parallel" (inputs
    whole, matrices split over all chips) or "no_sharding". is_optimal: no way of this kind takes less by the estimate.
    """

    name: str
    time_ns: float
    compute_ns: float
    memory_ns: float
    collectives_ns: float
    argument_bytes: int
    activation_bytes: int
    fits: bool
    is_optimal: bool


@dataclass(frozen=True)
class ShardingChoice:
    """module: with shardings. arguments: their shardings; None for what is no tensor. ops: name and shardings of the
    results of each op of the function. dram_bytes: what a chip has room for."""

    module: Module
    mesh_shape: tuple[int, ...]
    arguments: tuple[str | None, ...]
    ops: tuple[tuple[str, tuple[str, ...]], ...]
    variants: tuple[ShardingVariant, ...]
    dram_bytes: int

    @property
    def chosen(self) -> ShardingVariant:
        return self.variants[0]


@checked_arguments
def get_optimal_module_least_time(
    mlir_text: str, mesh_shape: tuple[int, int] | None = None, *, dram_bytes: int = 0
) -> ShardingChoice:
    """Splits a module of one public function over a mesh such that it takes least time.

    mesh_shape: rows and columns, axes "x" and "y", for a module without mesh. dram_bytes: what a chip has room for; 0
    for the DRAM of the chip. Shardings that the module has stay.

    Raises:
        TTBuilderCompileException: the text does not parse or verify, or the search refuses it; has the diagnostics.
        ValueError: no mesh or two, a size below 1, a negative number of bytes, or not one public function.
    """
    if mesh_shape is not None and min(mesh_shape) < 1:
        raise ValueError(f"mesh_shape is {mesh_shape}; expected sizes of 1 or more")
    if dram_bytes < 0:
        raise ValueError(f"dram_bytes is {dram_bytes}; expected 0 or more")
    context = Context()
    try:
        module = Module.parse(mlir_text, context)
    except ir.MLIRError as error:
        raise TTBuilderCompileException("the text is not a valid module", diagnostics_of(error)) from error
    has_mesh = any(op.name == "sdy.mesh" for op in walk(module.operation))
    if has_mesh and mesh_shape is not None:
        raise ValueError("the module has a mesh already; expected one without, or no mesh_shape")
    if not has_mesh:
        if mesh_shape is None:
            raise ValueError("the module has no mesh; expected mesh_shape")
        text = f'sdy.mesh @mesh = <["x"={mesh_shape[0]}, "y"={mesh_shape[1]}]>'
        declared = Module.parse(text, context)  # lives until its op has moved
        module.body.append(declared.body.operations[0].operation.detach_from_parent())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        try:
            run_pass(module, "auto-sharding", f"report-file={path} dram-bytes={dram_bytes}")
        except ir.MLIRError as error:
            raise TTBuilderCompileException("the search refused the module", diagnostics_of(error)) from error
        reports = json.loads(path.read_text()) if path.exists() else []
    if len(reports) != 1:
        raise ValueError(f"the module has {len(reports)} public functions to split; expected 1")
    [report] = reports
    return ShardingChoice(
        module,
        tuple(axis["size"] for axis in report["mesh"]),
        tuple(report["arguments"]),
        tuple((op["op"], tuple(op["results"])) for op in report["ops"]),
        tuple(ShardingVariant(**variant) for variant in report["variants"]),
        report["dram_bytes"],
    )
