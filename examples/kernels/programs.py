# SPDX-License-Identifier: Apache-2.0
"""Runs kernels written by hand on simulated cores: the sources are in examples/kernels/device.

python examples/kernels/programs.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _ttmlir_runtime import metal
from _ttmlir_runtime.runtime import DataType
from _ttmlir_runtime.ttnn import BufferType

BF16 = DataType.BFloat16
TILE_BYTES = 2048  # 32 x 32 values of bf16
Core = tuple[int, int]  # x, y


def source(name: str) -> str:
    return (Path(__file__).parent / "device" / f"{name}.cpp").read_text(encoding="utf-8")


def to_device(machine: metal.Machine, matrix: np.ndarray) -> metal.Buffer:
    """Returns a buffer in DRAM with the tiles of a matrix in bf16."""
    buffer = machine.allocate(BufferType.DRAM, TILE_BYTES, matrix.size // 1024)
    machine.write(buffer, metal.to_tiles(np.ascontiguousarray(matrix, np.float32), BF16))
    return buffer


def from_device(machine: metal.Machine, buffer: metal.Buffer, rows: int, columns: int) -> np.ndarray:
    values = metal.from_tiles(machine.read(buffer), rows, columns, BF16)
    return np.frombuffer(values, np.float32).reshape(rows, columns)


def circular_buffers(ports: list[int], cores: list[Core]) -> list[metal.CircularBuffer]:
    """Two tiles each, so that one can be filled while the other is used."""
    return [metal.CircularBuffer(port, BF16, TILE_BYTES, 2, cores) for port in ports]


def shares(count: int, cores: list[Core]) -> dict[Core, list[int]]:
    """Splits tiles over cores: the first tile and the number of tiles of each."""
    ends = [count * (i + 1) // len(cores) for i in range(len(cores))]
    return {core: [first, end - first] for core, first, end in zip(cores, [0, *ends], ends, strict=False)}


def writer(out: metal.Buffer, work: dict[Core, list[int]]) -> metal.Kernel:
    return metal.Kernel(
        "write_tiles",
        source("write_tiles"),
        list(work),
        noc=1,
        compile_args=out.accessor_args(),
        common_args=[out.address],
        args=work,
    )


def elementwise(
    machine: metal.Machine,
    kernel: str,
    inputs: list[np.ndarray],
    cores: list[Core],
    defines: dict[str, str] | None = None,
) -> np.ndarray:
    """Runs an elementwise compute kernel on the tiles of matrices, split over cores."""
    buffers = [to_device(machine, matrix) for matrix in inputs]
    out = machine.allocate(BufferType.DRAM, TILE_BYTES, buffers[0].pages)
    work = shares(out.pages, cores)
    a, b = buffers[0], buffers[-1]
    kernels = [
        metal.Kernel(
            "read_tiles",
            source("read_tiles"),
            cores,
            compile_args=[len(buffers), *a.accessor_args(), *b.accessor_args()],
            common_args=[a.address, b.address],
            args=work,
        ),
        metal.Kernel(
            kernel,
            source(kernel),
            cores,
            compute=True,
            defines=defines or {},
            args={core: [count] for core, (_, count) in work.items()},
        ),
        writer(out, work),
    ]
    machine.run(kernels, circular_buffers([0, 1, 16], cores), name=kernel)
    return from_device(machine, out, *inputs[0].shape)


def matmul(
    machine: metal.Machine, a: np.ndarray, b: np.ndarray, cores: list[Core], fp32_dest_acc: bool = True
) -> tuple[np.ndarray, metal.KernelReport]:
    """Multiplies matrices; the tiles of the result are split over cores, and each core reads what it needs."""
    (m, k), n = a.shape, b.shape[1]
    in0, in1 = to_device(machine, a), to_device(machine, b)
    out = machine.allocate(BufferType.DRAM, TILE_BYTES, m * n // 1024)
    work = shares(out.pages, cores)
    kernels = [
        metal.Kernel(
            "read_matmul",
            source("read_matmul"),
            cores,
            compile_args=[k // 32, n // 32, *in0.accessor_args(), *in1.accessor_args()],
            common_args=[in0.address, in1.address],
            args=work,
        ),
        metal.Kernel(
            "matmul",
            source("matmul"),
            cores,
            compute=True,
            fp32_dest_acc=fp32_dest_acc,
            compile_args=[k // 32],
            args={core: [count] for core, (_, count) in work.items()},
        ),
        writer(out, work),
    ]
    report = machine.run(kernels, circular_buffers([0, 1, 16], cores), name="matmul")
    return from_device(machine, out, m, n), report


def matmul_multicast(
    machine: metal.Machine, a: np.ndarray, b: np.ndarray, fp32_dest_acc: bool = True
) -> tuple[np.ndarray, metal.KernelReport]:
    """Multiplies matrices on a grid with a core per tile of the result; rows and columns share what one core reads."""
    (m, k), n = a.shape, b.shape[1]
    in0, in1 = to_device(machine, a), to_device(machine, b)
    out = machine.allocate(BufferType.DRAM, TILE_BYTES, m * n // 1024)
    cores = metal.core_range((0, 0), (n // 32 - 1, m // 32 - 1))
    kernels = [
        metal.Kernel(
            "read_matmul_mcast",
            source("read_matmul_mcast"),
            cores,
            compile_args=[m // 32, k // 32, n // 32, *in0.accessor_args(), *in1.accessor_args()],
            common_args=[in0.address, in1.address],
            args={(x, y): [x, y] for x, y in cores},
        ),
        metal.Kernel(
            "matmul",
            source("matmul"),
            cores,
            compute=True,
            fp32_dest_acc=fp32_dest_acc,
            compile_args=[k // 32],
            args={core: [1] for core in cores},
        ),
        writer(out, {(x, y): [y * (n // 32) + x, 1] for x, y in cores}),
    ]
    semaphores = [metal.Semaphore(i, cores) for i in range(4)]
    report = machine.run(kernels, circular_buffers([0, 1, 16], cores), semaphores, "matmul_multicast")
    return from_device(machine, out, m, n), report


def row_sums(machine: metal.Machine, a: np.ndarray) -> np.ndarray:
    """Sums the rows of a matrix on one core."""
    rows, columns = a.shape[0] // 32, a.shape[1] // 32
    core = (0, 0)
    buffer = to_device(machine, a)
    out = machine.allocate(BufferType.DRAM, TILE_BYTES, rows)
    kernels = [
        metal.Kernel(
            "read_tiles",
            source("read_tiles"),
            [core],
            compile_args=[1, *buffer.accessor_args(), *buffer.accessor_args()],
            common_args=[buffer.address, buffer.address],
            args={core: [0, rows * columns]},
        ),
        metal.Kernel(
            "reduce",
            source("reduce"),
            [core],
            compute=True,
            fp32_dest_acc=True,
            compile_args=[columns],
            args={core: [rows]},
        ),
        metal.Kernel(
            "scale_and_write",
            source("scale_and_write"),
            [core],
            noc=1,
            compile_args=out.accessor_args(),
            common_args=[out.address],
            args={core: [rows]},
        ),
    ]
    machine.run(kernels, circular_buffers([0, 2, 16], [core]), name="reduce")
    return from_device(machine, out, rows * 32, 32)[:, 0]


def pass_on(machine: metal.Machine, value: int, count: int) -> tuple[int, str]:
    """Passes a tile along a row of cores, each of which adds its number; returns the sum and what was printed."""
    pages = [machine.allocate(BufferType.DRAM, 4096, 1) for _ in range(2)]
    matrix = np.full((32, 32), value, np.int32)
    machine.write(pages[0], metal.to_tiles(matrix, DataType.Int32))
    cores = metal.core_range((0, 0), (count - 1, 0))
    kernel = metal.Kernel(
        "pass_on",
        source("pass_on"),
        cores,
        compile_args=[*pages[0].accessor_args(), *pages[1].accessor_args()],
        common_args=[page.address for page in pages],
        args={core: [number, count] for number, core in enumerate(cores)},
    )
    buffers = [metal.CircularBuffer(0, DataType.Int32, 4096, 1, cores)]
    report = machine.run([kernel], buffers, [metal.Semaphore(0, cores)], "pass_on")
    tile = np.frombuffer(metal.from_tiles(machine.read(pages[1]), 32, 32, DataType.Int32), np.int32)
    return int(tile[0]), report.printed


def main() -> None:
    random = np.random.default_rng(0)
    machine = metal.Machine("wormhole_b0")
    x, y = random.uniform(-1, 1, (2, 128, 128)).astype(np.float32)
    one, grid = [(0, 0)], metal.core_range((0, 0), (3, 3))

    total = elementwise(machine, "add", [x, y], grid)
    print("add                     ", np.abs(total - (x + y)).max())
    result = elementwise(machine, "sfpu", [x], grid, {"SFPU_FUNCTION": "exp_tile"})
    print("exp on the vector unit  ", np.abs(result - np.exp(x)).max())
    for name, (product, report) in {
        "matmul, one core        ": matmul(machine, x, y, one),
        "matmul, 16 cores        ": matmul(machine, x, y, grid),
        "matmul with multicast   ": matmul_multicast(machine, x, y),
    }.items():
        print(name, np.abs(product - x @ y).max(), f"{report.cycles} cycles, {report.moved_bytes} bytes moved")
    print("row sums                ", np.abs(row_sums(machine, x) - x.sum(axis=1)).max())
    value, printed = pass_on(machine, 5, 8)
    print("passed along eight cores", value)
    print(printed.splitlines()[-1])


if __name__ == "__main__":
    main()
