# SPDX-License-Identifier: Apache-2.0
"""Estimated times of the chip compared with published ones: `python -m bench.cost_model [--plot FILE.svg]`.

Published times are of an n150, in microseconds (docs/cost-model.md names the sources). Nothing is run.
"""

from __future__ import annotations

import argparse
import math
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
    """A figure: `work` and its size, format and fidelity; published and, by `fitted`, used to choose constants.

    kind: of the ops whose estimates its residual is a measure of.
    """

    kind: str
    work: str
    dtype: str
    sizes: tuple[int, ...]
    fidelity: str
    published: float
    fitted: bool = False


def products(work: str, dtype: str, fidelity: str, times: dict[int, float], fitted: tuple[int, ...] = ()) -> list[Row]:
    return [Row("matmul", work, dtype, (size, size), fidelity, time, size in fitted) for size, time in times.items()]


# Rows and columns of a bf16 tensor, its tile rows among 64 cores; tt-metal #48521.
TILINGS = {(512, 768): 24, (1024, 768): 29, (4096, 768): 74, (4608, 768): 83, (512, 2560): 93, (1024, 2560): 114}
FITTED_TILINGS = {(512, 768), (512, 2560)}
SHARDED, TILED, CONVOLUTION = "interleaved to sharded", "rows to tiles", "convolution 3x3"

ROWS = [
    *products("matmul, tuned", "bf16", "hifi4", {1024: 47.0, 2048: 332, 4096: 2711, 8192: 20850}, (8192,)),
    *products("matmul, tuned", "bfp_bf8", "hifi2", {1024: 27.5, 2048: 178, 4096: 1451, 8192: 10990}),
    *products("matmul, tuned", "bfp_bf4", "lofi", {2048: 93.8, 4096: 698}),
    *products("matmul by default", "bf16", "hifi2", {1024: 69.0, 2048: 299, 3072: 886.2, 4096: 2009}),
    *products("matmul by default", "bfp_bf8", "lofi", {1024: 46.3, 2048: 156, 4096: 927}, (1024, 2048)),
    # The first convolutions of the last two blocks of a U-Net: height, width and channels in and out; tt-metal #26331.
    Row("convolution", CONVOLUTION, "bf16", (528, 80, 192, 64), "lofi", 120.8),
    Row("convolution", CONVOLUTION, "bf16", (1056, 160, 128, 64), "lofi", 314.6),
    Row("layout", SHARDED, "bf16", (2048, 4608), "", 74, fitted=True),
    Row("layout", SHARDED, "bfp_bf8", (2048, 4608), "", 52),
    Row("layout", SHARDED, "bfp_bf4", (2048, 4608), "", 43, fitted=True),
    *(Row("layout", TILED, "bf16", sizes, "", time, sizes in FITTED_TILINGS) for sizes, time in TILINGS.items()),
]


def layout(rows: int, columns: int, element: str, memory: str, grid: str = "1x1", placed: str = "interleaved") -> str:
    """Returns a case of a matrix. rows, columns: of a core's part, in elements or in tiles."""
    return (
        f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <{grid}>, memref<{rows}x{columns}x{element}, "
        f"#ttnn.buffer_type<{memory}>>, <{placed}>>"
    )


def product_module(row: Row) -> str:
    rows, columns = row.sizes
    element = "bf16" if row.dtype == "bf16" else TILE.format(row.dtype)
    matrix = f"tensor<{rows}x{columns}x{element}, #d>"
    part = max(1, rows // 256)
    tuned = PROGRAM.format(part=part, block=min(part, 16)) if "tuned" in row.work else ""
    program = "matmul_program_config = #m, " if tuned else ""
    return (
        f"#d = {layout(rows // 32, columns // 32, TILE.format(row.dtype), 'dram')}\n{tuned}"
        f"func.func @main(%a: {matrix}, %b: {matrix}) -> {matrix} {{\n"
        f'  %0 = "ttnn.matmul"(%a, %b) <{{{fidelity(row)}{program}transpose_a = false, transpose_b = false}}> : '
        f"({matrix}, {matrix}) -> {matrix}\n  return %0 : {matrix}\n}}\n"
    )


def fidelity(row: Row) -> str:
    return f"compute_config = #ttnn.device_compute_kernel_config<math_fidelity = {row.fidelity}>, "


def change_module(row: Row) -> str:
    rows, columns = row.sizes
    element = "bf16" if row.dtype == "bf16" else TILE.format(row.dtype)
    tiles = (rows // 32, columns // 32, TILE.format(row.dtype))
    if row.work == SHARDED:
        op, given = "to_memory_config", layout(*tiles, "dram")
        result = layout(rows // 256, columns // 256, TILE.format(row.dtype), "l1", "8x8", "block_sharded")
    else:
        op, given, result = "to_layout", layout(rows, columns, "bf16", "dram"), layout(*tiles, "dram")
    types = [f"tensor<{rows}x{columns}x{element}, #{name}>" for name in "ds"]
    return (
        f"#d = {given}\n#s = {result}\nfunc.func @main(%a: {types[0]}) -> {types[1]} {{\n"
        f'  %0 = "ttnn.{op}"(%a) : ({types[0]}) -> {types[1]}\n  return %0 : {types[1]}\n}}\n'
    )


def flat(rows: int, columns: int, element: str, memory: str, grid: str, placed: str) -> str:
    """Returns a case of [1, 1, rows, columns]."""
    placement = f", <{placed}>" if placed else ""
    return (
        f"#ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * {rows} + d1 * {rows} + d2, d3), <{grid}>, "
        f"memref<{element}, #ttnn.buffer_type<{memory}>>{placement}>"
    )


def convolution_module(row: Row) -> str:
    """The image is in rows and the result in tiles, both in the L1 of the cores that have them."""
    height, width, channels, results = row.sizes
    pixels = height * width
    each = -(-pixels // 32 // 64) * 32
    cores = -(-pixels // each)
    image = flat(pixels, channels, f"{each}x{channels}xbf16", "l1", f"{cores}x1", "height_sharded")
    result = flat(pixels, results, f"{each // 32}x{results // 32}x{TILE.format('bf16')}", "l1", f"{cores}x1",
                "height_sharded")  # fmt: skip
    weights = (
        f"#ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * {channels * 3} + d1 * 3 + d2, d3), <1x1>, "
        f"memref<{results * channels * 3}x3xbf16, #ttnn.buffer_type<system_memory>>>"
    )
    types = (
        f"tensor<1x1x{pixels}x{channels}xbf16, #i>", f"tensor<{results}x{channels}x3x3xbf16, #w>",
        f"tensor<1x1x{pixels}x{results}xbf16, #r>",
    )  # fmt: skip
    return (
        f"#i = {image}\n#w = {weights}\n#r = {result}\n"
        f"func.func @main(%x: {types[0]}, %w: {types[1]}) -> {types[2]} {{\n"
        '  %d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device\n'
        f'  %0 = "ttnn.conv2d"(%x, %w, %d) <{{batch_size = 1 : i32, {fidelity(row)}'
        "conv2d_config = #ttnn.conv2d_config<act_block_h_override = 32>, dilation = array<i32: 1, 1>, "
        f"groups = 1 : i32, in_channels = {channels} : i32, input_height = {height} : i32, "
        f"input_width = {width} : i32, kernel_size = array<i32: 3, 3>, out_channels = {results} : i32, "
        "padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : "
        f"({types[0]}, {types[1]}, !ttnn.device) -> {types[2]}\n  return %0 : {types[2]}\n}}\n"
    )


def module(row: Row) -> str:
    """TTNN IR of the work."""
    modules = {"matmul": product_module, "layout": change_module, "convolution": convolution_module}
    return modules[row.kind](row)


def estimate(row: Row) -> tuple[float, str]:
    """Microseconds, and what they are mostly due to."""
    with tempfile.TemporaryDirectory() as folder, ir.Context(), ir.Location.unknown():
        path = Path(folder, "row.ttnn")
        parsed = ir.Module.parse(module(row))
        PassManager.parse("builtin.module(ttcore-register-device)").run(parsed.operation)
        passes.ttnn_to_flatbuffer_file(parsed, str(path))
        report = rt.runtime.estimate(rt.binary.load_binary_from_path(str(path)))
    (op,) = (each for each in report.ops if each.kind == row.kind)
    return op.device_ns / 1e3, op.bound


def uncertainties(rows: Sequence[tuple[Row, float, str]]) -> dict[str, float]:
    """Root mean square of the differences of each kind, as a share of the published time."""
    found: dict[str, float] = {}
    for kind in dict.fromkeys(row.kind for row, *_ in rows):
        squares = [(time / row.published - 1) ** 2 for row, time, _ in rows if row.kind == kind]
        found[kind] = math.sqrt(sum(squares) / len(squares))
    return found


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
    print()
    for kind, share in uncertainties(found).items():
        print(f"{kind}: {share:.1%} root mean square")
    if arguments.plot:
        plot(found, arguments.plot)


if __name__ == "__main__":
    main()
