# SPDX-License-Identifier: Apache-2.0
"""Estimated times of the chip beside published ones: `python -m bench.cost_model [--plot FILE.svg]`.

Published times are of an n150, in microseconds (docs/cost-model.md names the sources). Nothing is run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import _ttmlir_runtime as rt
from ttmlir import ir, passes
from ttmlir.passmanager import PassManager

TILE = "!ttcore.tile<32x32, {}>"
PROGRAM = """#m = #ttnn.matmul_multi_core_reuse_multi_cast_program_config<
  compute_with_storage_grid_size = #ttnn.core_coord<8, 8>, in0_block_w = 1, out_subblock_h = 1, out_subblock_w = 1,
  out_block_h = {block}, out_block_w = {block}, per_core_m = {part}, per_core_n = {part}, transpose_mcast = false,
  fuse_batch = true>
"""


@dataclass(frozen=True)
class Row:
    """A figure: `work` and its size, format and fidelity; published and, by `fitted`, used to choose constants."""

    work: str
    dtype: str
    sizes: tuple[int, int]
    fidelity: str
    published: float
    fitted: bool = False


def products(work: str, dtype: str, fidelity: str, times: dict[int, float], fitted: int = 0) -> list[Row]:
    return [Row(work, dtype, (size, size), fidelity, time, size == fitted) for size, time in times.items()]


ROWS = [
    *products("matmul, tuned", "bf16", "hifi4", {1024: 47.0, 2048: 332, 4096: 2711, 8192: 20850}, fitted=8192),
    *products("matmul, tuned", "bfp_bf8", "hifi2", {1024: 27.5, 2048: 178, 4096: 1451, 8192: 10990}),
    *products("matmul, tuned", "bfp_bf4", "lofi", {2048: 93.8, 4096: 698}),
    *products("matmul by default", "bf16", "hifi2", {1024: 69.0, 2048: 299, 4096: 2009}, fitted=2048),
    *products("matmul by default", "bfp_bf8", "lofi", {1024: 46.3, 2048: 156, 4096: 927}),
    Row("interleaved to sharded", "bf16", (2048, 4608), "", 74, fitted=True),
    Row("interleaved to sharded", "bfp_bf8", (2048, 4608), "", 52),
    Row("interleaved to sharded", "bfp_bf4", (2048, 4608), "", 43, fitted=True),
]


def module(row: Row) -> str:
    """TTNN IR of the work, from DRAM to DRAM or to shards in L1."""
    rows, columns = row.sizes
    element = "bf16" if row.dtype == "bf16" else TILE.format(row.dtype)
    tile = TILE.format(row.dtype)
    dram = (
        f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<{rows // 32}x{columns // 32}x{tile}, "
        "#ttnn.buffer_type<dram>>, <interleaved>>"
    )
    l1 = (
        f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<{rows // 256}x{columns // 256}x{tile}, "
        "#ttnn.buffer_type<l1>>, <block_sharded>>"
    )
    given, made = f"tensor<{rows}x{columns}x{element}, #d>", f"tensor<{rows}x{columns}x{element}, #s>"
    if row.work.startswith("matmul"):
        part = max(1, rows // 256)
        tuned = PROGRAM.format(part=part, block=min(part, 16)) if "tuned" in row.work else ""
        program = "matmul_program_config = #m, " if tuned else ""
        config = f"compute_config = #ttnn.device_compute_kernel_config<math_fidelity = {row.fidelity}>, "
        return (
            f"#d = {dram}\n{tuned}"
            f"func.func @main(%a: {given}, %b: {given}) -> {given} {{\n"
            f'  %0 = "ttnn.matmul"(%a, %b) <{{{config}{program}transpose_a = false, transpose_b = false}}> : '
            f"({given}, {given}) -> {given}\n  return %0 : {given}\n}}\n"
        )
    return (
        f"#d = {dram}\n#s = {l1}\nfunc.func @main(%a: {given}) -> {made} {{\n"
        f'  %0 = "ttnn.to_memory_config"(%a) : ({given}) -> {made}\n  return %0 : {made}\n}}\n'
    )


def estimate(row: Row) -> tuple[float, str]:
    """Microseconds, and what they are mostly due to."""
    with tempfile.TemporaryDirectory() as folder, ir.Context(), ir.Location.unknown():
        path = Path(folder, "row.ttnn")
        parsed = ir.Module.parse(module(row))
        PassManager.parse("builtin.module(ttcore-register-device)").run(parsed.operation)
        passes.ttnn_to_flatbuffer_file(parsed, str(path))
        report = rt.runtime.estimate(rt.binary.load_binary_from_path(str(path)))
    (op,) = (each for each in report.ops if each.name in ("ttnn.matmul", "ttnn.to_memory_config"))
    return op.device_ns / 1e3, op.bound


def shown(time: float) -> str:
    return f"{time:.1f} us" if time < 1000 else f"{time / 1000:.2f} ms"


def plot(rows: Sequence[tuple[Row, float, str]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 6), layout="constrained")
    ends = [min(row.published for row, *_ in rows) / 2, max(row.published for row, *_ in rows) * 2]
    axes.fill_between(ends, [end * 0.75 for end in ends], [end * 1.25 for end in ends], alpha=0.15, label="25 %")
    axes.plot(ends, ends, color="gray", linewidth=0.8)
    for work in dict.fromkeys(row.work for row, *_ in rows):
        mine = [(row.published, time) for row, time, _ in rows if row.work == work]
        axes.scatter([published for published, _ in mine], [time for _, time in mine], label=work, s=24)
    axes.set(xscale="log", yscale="log", xlabel="published, us", ylabel="estimated, us", xlim=ends, ylim=ends)
    axes.legend()
    figure.savefig(path)


def markdown(rows: Sequence[tuple[Row, float, str]]) -> str:
    head = "| work | format | size | fidelity | published | estimated | ratio | bound by | fitted |"
    lines = [head, "|---" * 9 + "|"]
    for row, time, bound in rows:
        cells = (
            row.work, row.dtype, "x".join(map(str, row.sizes)), row.fidelity, shown(row.published), shown(time),
            f"{time / row.published:.2f}", bound, "yes" if row.fitted else "",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |".replace("  ", " "))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cost_model", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="also write a picture")
    arguments = parser.parse_args()
    found = [(row, *estimate(row)) for row in ROWS]
    print(markdown(found))
    if arguments.plot:
        plot(found, arguments.plot)


if __name__ == "__main__":
    main()
