# SPDX-License-Identifier: Apache-2.0
"""Compares the product of two tiles on one core with wolfpine's, which runs the instructions of the matrix unit.

`compare_with_wolfpine.py FOLDER`, with a folder that has wolfpine 2.2 (`pip install --target FOLDER wolfpine`),
prints how many elements have the same bits, and both times. Of wolfpine, only the 64 MVMUL instructions of the four
fidelity phases count, and their operands are in the source registers. Here, a kernel unpacks both tiles and multiplies
them. The whole program also reads them from DRAM, packs the result and writes it back.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _ttmlir_runtime import metal
from _ttmlir_runtime.runtime import DataType
from _ttmlir_runtime.ttnn import BufferType

READER = """
#include "dataflow_api.h"
void kernel_main() {
  for (uint32_t port = 0; port < 2; ++port) {
    cb_reserve_back(port, 1);
    noc_async_read(get_noc_addr_from_bank_id<true>(0, get_common_arg_val<uint32_t>(port)), get_write_ptr(port), 2048);
    noc_async_read_barrier();
    cb_push_back(port, 1);
  }
}
"""
COMPUTE = """
#include "compute_kernel_api/matmul.h"
void kernel_main() {
  mm_init(0, 1, 16);
  cb_wait_front(0, 1);
  cb_wait_front(1, 1);
  cb_reserve_back(16, 1);
  tile_regs_acquire();
  for (uint32_t i = 0; i < get_common_arg_val<uint32_t>(0); ++i)
    matmul_tiles(0, 1, 0, 0, 0);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, 16);
  tile_regs_release();
  cb_push_back(16, 1);
}
"""
WRITER = """
#include "dataflow_api.h"
void kernel_main() {
  cb_wait_front(16, 1);
  noc_async_write(get_read_ptr(16), get_noc_addr_from_bank_id<true>(0, get_common_arg_val<uint32_t>(0)), 4096);
  noc_async_write_barrier();
  cb_pop_front(16, 1);
}
"""
CORE = [(0, 0)]


def seconds(run: Callable[[], Any], times: int) -> float:
    """The least time of several runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def theirs(folder: str, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Callable[[], None]]:
    """The product of two tiles of bf16 values in 32-bit registers, and a function that computes it again."""
    sys.path.append(folder)
    from framework.arch import WORMHOLE_PROFILE as PROFILE
    from framework.pe.tensix.backends.backend_base import DataFormat
    from framework.pe.tensix.tensix import TensixCoProcessor
    from framework.pe.tensix.util import DataFormatConversions

    backend = TensixCoProcessor(None, PROFILE.tensix_cfg_state_size, PROFILE.tensix_thd_state_size).getBackend()
    unit = backend.getMatrixUnit()
    # The words of the source registers, by the value that they hold.
    values = DataFormatConversions.blockBF16InSrcToFP32(np.arange(1 << 19, dtype=np.int64))
    words = {int(value) & 0xFFFFFFFF: word for word, value in reversed(list(enumerate(values)))}

    def registers(tile: np.ndarray) -> np.ndarray:
        faces = tile.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(64, 16)
        return np.vectorize(words.__getitem__)(faces.view(np.uint32))

    backend.getSrcA(unit.srcABank).data[:] = registers(b)
    backend.getSrcB(unit.srcBBank).data[:] = registers(a)
    places = [
        (16 * (2 * k + j), 16 * (2 * i + k) + half, 16 * (2 * i + j) + half)
        for i in (0, 1)
        for j in (0, 1)
        for k in (0, 1)
        for half in (0, 8)
    ]

    def product() -> None:
        for phase in range(4):
            for right, left, result in places:
                unit.perform_mvmul_exact(right, left, result, 8, False, DataFormat.BF16, True, phase)

    product()
    rows = DataFormatConversions.blockFP32InDstToFP32(backend.getDst().getDst32bRows(np.arange(64)))
    faces = np.asarray(rows).astype(np.uint32).view(np.float32).reshape(2, 2, 16, 16)
    return faces.transpose(0, 2, 1, 3).reshape(32, 32), product


class Ours:
    """Runs n products of two tiles on one core, each added to the ones before."""

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.machine = metal.Machine("wormhole_b0")
        self.inputs = [self.machine.allocate(BufferType.DRAM, page_bytes=2048, pages=1) for _ in range(2)]
        self.output = self.machine.allocate(BufferType.DRAM, page_bytes=4096, pages=1)
        for buffer, tile in zip(self.inputs, (a, b), strict=True):
            self.machine.write(buffer, metal.to_tiles(tile, DataType.BFloat16))
        kinds = {0: DataType.BFloat16, 1: DataType.BFloat16, 16: DataType.Float32}
        self.buffers = [
            metal.CircularBuffer(port, kind, 4096 if kind == DataType.Float32 else 2048, 1, CORE)
            for port, kind in kinds.items()
        ]

    def run(self, count: int, exact: bool) -> None:
        addresses = [each.address for each in self.inputs]
        kernels = [
            metal.Kernel("reader", READER, CORE, noc=0, common_args=addresses),
            metal.Kernel("compute", COMPUTE, CORE, compute=True, fp32_dest_acc=True, common_args=[count]),
            metal.Kernel("writer", WRITER, CORE, noc=1, common_args=[self.output.address]),
        ]
        self.machine.run(kernels, self.buffers, exact=exact)

    def result(self) -> np.ndarray:
        rows = metal.from_tiles(self.machine.read(self.output), 32, 32, DataType.Float32)
        return np.frombuffer(rows, np.float32).reshape(32, 32)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares products of tiles on one core with wolfpine's.")
    parser.add_argument("folder", help="the folder that holds wolfpine's package, framework")
    parser.add_argument("--products", type=int, default=2000, help="of a run that is timed (default: %(default)s)")
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    a, b = (
        (random.standard_normal((32, 32), np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        for _ in range(2)
    )
    expected, product = theirs(arguments.folder, a, b)
    slow = seconds(product, 10)
    ours = Ours(a, b)
    print(f"wolfpine: {slow * 1e3:.2f} ms")
    same = True
    for exact in (False, True):
        ours.run(1, exact)
        equal = int((ours.result().view(np.uint32) == expected.view(np.uint32)).sum())
        same = same and (equal == expected.size or not exact)
        one = seconds(lambda exact=exact: ours.run(1, exact), 20)
        many = seconds(lambda exact=exact: ours.run(arguments.products, exact), 3)
        each = (many - one) / (arguments.products - 1)
        print(
            f"{'exact' if exact else 'default'}: {equal} of {expected.size} elements have the same bits; a product "
            f"{each * 1e6:.2f} us, {slow / each:.0f} times faster; a program with one {one * 1e6:.1f} us, "
            f"{slow / one:.0f} times faster"
        )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
