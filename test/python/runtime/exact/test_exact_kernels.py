# SPDX-License-Identifier: Apache-2.0
"""Kernels on simulated cores with the arithmetic of the chip, bit for bit compared with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chip_arithmetic as chip
import numpy as np
import pytest
from _ttmlir_runtime import DeviceError, Error, metal
from _ttmlir_runtime.runtime import DataType
from _ttmlir_runtime.ttnn import BufferType
from chip_ops import ONE, SIGN, TF32, accumulated, add_in_l1, packed, quotient, source, sums, tile_sum, transposed
from exact_values import same, values
from vector_unit import FUNCTIONS, V, mad, stored

TYPES = {"float32": DataType.Float32, "bfloat16": DataType.BFloat16, "bfloat8_b": DataType.BFP_BFloat8}
BYTES = {"float32": 4096, "bfloat16": 2048, "bfloat8_b": 1088}
CORE = [(0, 0)]
KINDS = ("normal", "near", "low", "high")

READER = """#include "dataflow_api.h"
void kernel_main() {
  for (uint32_t cb = 0; cb < 2; ++cb) {
    const uint32_t tiles = get_common_arg_val<uint32_t>(1 + 2 * cb);
    cb_reserve_back(cb, tiles);
    for (uint32_t tile = 0; tile < tiles; ++tile)
      noc_async_read(
          get_noc_addr_from_bank_id<true>(0, get_common_arg_val<uint32_t>(2 * cb) + tile * get_tile_size(cb)),
          get_write_ptr(cb) + tile * get_tile_size(cb), get_tile_size(cb));
    noc_async_read_barrier();
    cb_push_back(cb, tiles);
  }
}
"""
WRITER = """#include "dataflow_api.h"
void kernel_main() {
  const uint32_t tiles = get_common_arg_val<uint32_t>(1);
  cb_wait_front(16, tiles);
  for (uint32_t tile = 0; tile < tiles; ++tile)
    noc_async_write(get_read_ptr(16) + tile * get_tile_size(16),
                    get_noc_addr_from_bank_id<true>(0, get_common_arg_val<uint32_t>(0) + tile * get_tile_size(16)),
                    get_tile_size(16));
  noc_async_write_barrier();
  cb_pop_front(16, tiles);
}
"""


class Cores:
    """A machine, and one of its cores with tiles in circular buffers 0 and 1 and the result in 16."""

    def __init__(self) -> None:
        self.machine = metal.Machine("wormhole_b0")

    def bits(self, tiles: bytes, rows: int, columns: int, dtype: str) -> np.ndarray:
        found = metal.from_tiles(tiles, rows, columns, TYPES[dtype])
        return np.frombuffer(found, np.uint32).reshape(rows, columns)

    def stored(self, x: np.ndarray, dtype: str) -> np.ndarray:
        """Values as they are in tiles of a type: the host packs block formats in its own way."""
        return self.bits(metal.to_tiles(np.ascontiguousarray(x.view(np.float32)), TYPES[dtype]), *x.shape, dtype)

    def run(
        self,
        body: str,
        ins: Sequence[np.ndarray],
        types: Sequence[str],
        out: str,
        shape: tuple[int, int] = (32, 32),
        *,
        wide: bool = True,
        phases: int = 4,
        exact: bool = True,
        **config: Any,
    ) -> np.ndarray:
        """Runs the statements between tile_regs_acquire and tile_regs_commit; register i becomes tile i."""
        ins = [ins[0], ins[-1]]
        types = [types[0], types[-1]]
        buffers, args, buffer = [], [], []
        for port, (x, dtype) in enumerate(zip(ins, types, strict=True)):
            tiles = x.size // 1024
            # All of it lies in one channel.
            place = self.machine.allocate(BufferType.DRAM, BYTES[dtype] * tiles, 1)
            self.machine.write(place, metal.to_tiles(np.ascontiguousarray(x.view(np.float32)), TYPES[dtype]))
            buffer.append(place)
            args += [place.address, tiles]
            buffers.append(metal.CircularBuffer(port, TYPES[dtype], BYTES[dtype], tiles, CORE))
        tiles = shape[0] * shape[1] // 1024
        place = self.machine.allocate(BufferType.DRAM, BYTES[out] * tiles, 1)
        buffers.append(metal.CircularBuffer(16, TYPES[out], BYTES[out], tiles, CORE))
        pack = "".join(f"pack_tile({i}, 16);" for i in range(tiles))
        compute = f"""#include "compute_kernel_api.h"
        #include "compute_kernel_api/matmul.h"
        void kernel_main() {{
          cb_wait_front(0, {args[1]}); cb_wait_front(1, {args[3]}); cb_reserve_back(16, {tiles});
          tile_regs_acquire(); {body} tile_regs_commit(); tile_regs_wait(); {pack} tile_regs_release();
          cb_push_back(16, {tiles});
        }}"""
        kernels = [
            metal.Kernel("reader", READER, CORE, noc=0, common_args=args),
            metal.Kernel("writer", WRITER, CORE, noc=1, common_args=[place.address, tiles]),
            metal.Kernel("math", compute, CORE, compute=True, fp32_dest_acc=wide, fidelity_phases=phases, **config),
        ]
        try:
            self.report = self.machine.run(kernels, buffers, exact=exact)
            return self.bits(self.machine.read(place), *shape, out)
        finally:
            for each in (*buffer, place):
                self.machine.deallocate(each)


@pytest.fixture(scope="module")
def cores() -> Cores:
    return Cores()


def given(cores: Cores, seed: int, kind: str, shape: tuple[int, int], dtype: str) -> np.ndarray:
    return cores.stored(values(seed, kind, shape, dtype), dtype)


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("phases", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", TYPES)
def test_products(cores: Cores, dtype: str, phases: int, wide: bool, seed: int) -> None:
    """Three tiles of K, as calls of matmul_tiles, as one block, and with the right operand transposed."""
    kind = KINDS[phases % 2]
    a, b = given(cores, seed, kind, (32, 96), dtype), given(cores, seed + 1, kind, (96, 64), dtype)
    x, y = source(a, dtype, wide), source(b, dtype, wide)
    zero = np.zeros((32, 64), np.uint32)
    expected = packed(accumulated(x, y, range(phases), wide, zero), dtype, wide)
    calls = "".join(f"matmul_tiles(0, 1, {k}, {2 * k + c}, {c});" for k in range(3) for c in range(2))
    block = "experimental::matmul_block(0, 1, 0, 0, 0, 0, 2, 1, 3, 2);"
    for body in (calls, block):
        same(cores.run(body, [a, b], [dtype], dtype, (32, 64), wide=wide, phases=phases), expected)
    turned = accumulated(x[:, :32], y[:32, :32].T, range(phases), wide, zero[:, :32])
    found = cores.run("matmul_tiles(0, 1, 0, 0, 0, 1);", [a, b], [dtype], dtype, wide=wide, phases=phases)
    same(found, packed(turned, dtype, wide))


def test_products_near_the_ends_of_exponents(cores: Cores, seed: int) -> None:
    for kind in ("low", "high", "any", "edge"):
        a, b = given(cores, seed, kind, (32, 64), "float32"), given(cores, seed + 1, kind, (64, 32), "float32")
        for wide in (False, True):
            x, y = source(a, "float32", wide), source(b, "float32", wide)
            expected = accumulated(x, y, range(4), wide, np.zeros((32, 32), np.uint32))
            same(cores.run("experimental::matmul_block(0, 1, 0, 0, 0, 0, 1, 1, 2, 1);", [a, b], ["float32"], "float32",
                           wide=wide), expected)  # fmt: skip


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("dtype", TYPES)
def test_matrix_unit_on_tiles(cores: Cores, dtype: str, wide: bool, seed: int) -> None:
    for kind in KINDS:
        a, b = (given(cores, seed + i, kind, (32, 32), dtype) for i in range(2))
        x, y = (source(v, dtype, wide).reshape(-1) for v in (a, b))
        row = np.broadcast_to(y.reshape(32, 32)[:1], (32, 32)).reshape(-1)
        for call, dst in (
            ("add_tiles(0, 1, 0, 0, 0);", chip.add(x, y, wide)),
            ("sub_tiles(0, 1, 0, 0, 0);", chip.add(x, y ^ SIGN, wide)),
            ("mul_tiles(0, 1, 0, 0, 0);", chip.multiply(x, y, 3, wide)),
            ("mul_tiles_bcast_rows(0, 1, 0, 0, 0);", chip.multiply(x, row, 3, wide)),
        ):
            found = cores.run(call, [a, b], [dtype], dtype, wide=wide, phases=3)
            same(found, packed(dst.reshape(32, 32), dtype, wide))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_registers_as_operands(cores: Cores, dtype: str, seed: int) -> None:
    """A value from a register of 32 bits is truncated to the format of the other operand."""
    a, b = (given(cores, seed + i, "normal", (32, 32), dtype) for i in range(2))
    mode = {"unpack_to_dest_fp32": [0]}
    body = "copy_tile(0, 0, 0); binary_dest_reuse_tiles<ELWMUL, EltwiseBinaryReuseDestType::DEST_TO_SRCB>(1, 0, 0);"
    x, y = (source(v, dtype, True).reshape(-1) for v in (a, b))
    expected = chip.multiply(y, x, 4, True).reshape(32, 32)
    same(cores.run(body, [a, b], [dtype], dtype, **mode), packed(expected, dtype, True))


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(cores: Cores, dtype: str, wide: bool, seed: int) -> None:
    scale = np.full((32, 32), np.float32(0.3), np.float32).view(np.uint32)
    scale = cores.stored(source(scale, "bfloat16", wide) & np.uint32(0xFFFF0000), dtype)
    factor = int(source(scale, dtype, wide)[0, 0])
    for kind in KINDS:
        a = given(cores, seed, kind, (32, 64), dtype)
        x = source(a, dtype, wide)
        row = np.zeros((32, 32), np.uint32)
        column, whole = row.copy(), row.copy()
        row[:, 0] = sums(x, factor, dtype, wide)
        column[0] = sums(np.ascontiguousarray(x[:, :32].T), factor, dtype, wide, along_row=False)
        whole[0, 0] = tile_sum(x[:, :32], factor, dtype, wide)[0]
        for dim, tiles, expected in (("ROW", 2, row), ("COL", 1, column), ("SCALAR", 1, whole)):
            call = "".join(
                f"reduce_tile<PoolType::SUM, ReduceDim::REDUCE_{dim}>(0, 1, {i}, 0, 0);" for i in range(tiles)
            )
            same(cores.run(call, [a, scale], [dtype], "float32", wide=wide), expected)


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("dtype", TYPES)
def test_maxima(cores: Cores, dtype: str, wide: bool, seed: int) -> None:
    one = np.full((32, 32), ONE, np.uint32)
    for kind in KINDS:
        a = given(cores, seed, kind, (32, 64), dtype)
        x = source(a, dtype, wide)
        x = np.where(x & np.uint32(chip.INF), x, np.uint32(0))
        largest = np.where(x >> np.uint32(31), ~x.view(np.int32) | SIGN.view(np.int32), x.view(np.int32))
        pick = np.take_along_axis(x, largest.argmax(1)[:, None], 1)[:, 0]
        expected = np.zeros((32, 32), np.uint32)
        expected[:, 0] = transposed(pick, dtype, wide)
        call = "".join(f"reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 1, {i}, 0, 0);" for i in range(2))
        same(cores.run(call, [a, one], [dtype], "float32", wide=wide), expected)


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("name", ["exp", "gelu", "rsqrt", "tanh", "log", "reciprocal", "abs"])
def test_functions(cores: Cores, name: str, wide: bool, seed: int) -> None:
    function, rounds = FUNCTIONS[name]
    call = {"reciprocal": "recip"}.get(name, name)
    dtype = "float32" if wide else "bfloat16"
    for kind in ("normal", "near"):
        a = given(cores, seed, kind, (32, 32), dtype)
        made = function(V(a), wide)
        dst = stored(V(chip.pack_bf16(made.b)) if rounds and not wide else made, wide)
        found = cores.run(
            f"copy_tile(0, 0, 0); {call}_tile(0);", [a], [dtype], dtype, wide=wide, unpack_to_dest_fp32=[0]
        )
        same(found, packed(dst, dtype, wide))
        assert not cores.report.rounded_only


def test_vector_unit_on_two_registers(cores: Cores, seed: int) -> None:
    a, b = (given(cores, seed + i, "normal", (32, 32), "float32") for i in range(2))
    x, y = a.reshape(-1), b.reshape(-1)
    copies = "copy_tile(0, 0, 0); copy_tile(1, 0, 1);"
    for name, dst in (
        ("add", mad(ONE, x, y)),
        ("sub", mad(ONE, x, y ^ SIGN)),
        ("mul", mad(x, y, 0)),
        ("div", quotient(V(x), V(y), True)),
    ):
        body = f"{copies} {name}_binary_tile(0, 1, 0);"
        found = cores.run(body, [a, b], ["float32"], "float32", unpack_to_dest_fp32=[0, 1])
        same(found, dst.reshape(32, 32))


def test_f32_goes_through_a_source_register_by_default(cores: Cores, seed: int) -> None:
    a = given(cores, seed, "normal", (32, 32), "float32")
    same(cores.run("copy_tile(0, 0, 0);", [a], ["float32"], "float32"), a & TF32)
    same(cores.run("copy_tile(0, 0, 0);", [a], ["float32"], "float32", unpack_to_dest_fp32=[0]), a)
    same(cores.run("copy_tile(0, 0, 0);", [a], ["float32"], "float32", wide=False, unpack_to_dest_fp32=[0]),
         source(a, "float32", False))  # fmt: skip
    same(cores.run("copy_tile(0, 0, 0);", [a], ["float32"], "float32", exact=False), a)


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("out", ["bfloat16", "bfloat8_b"])
def test_packer(cores: Cores, out: str, precise: bool, seed: int) -> None:
    # Tiles of a block format hold no NaN: what has the largest exponent is left out.
    for kind in KINDS if out == "bfloat16" else KINDS[:3]:
        a = given(cores, seed, kind, (32, 32), "float32")
        found = cores.run(
            "copy_tile(0, 0, 0);", [a], ["float32"], out, unpack_to_dest_fp32=[0], bfp8_pack_precise=precise
        )
        same(found, packed(a, out, True, precise))


@pytest.mark.parametrize("out", ["float32", "bfloat16"])
def test_packer_adds_in_l1(cores: Cores, out: str, seed: int) -> None:
    a, b = (given(cores, seed + i, "normal", (32, 32), "float32") for i in range(2))
    body = """copy_tile(0, 0, 0); tile_regs_commit(); tile_regs_wait(); pack_tile<true>(0, 16, 0); tile_regs_release();
      pack_reconfig_l1_acc(1); tile_regs_acquire(); copy_tile(1, 0, 0);"""
    found = cores.run(body, [a, b], ["float32"], out, unpack_to_dest_fp32=[0, 1])
    kept = [packed(x, out, True) for x in (a, b)]
    same(found, add_in_l1(*kept, out == "float32"))


def test_what_has_no_exact_arithmetic_is_named(cores: Cores, seed: int) -> None:
    a = given(cores, seed, "normal", (32, 32), "bfloat16")
    found = cores.run("copy_tile(0, 0, 0); erfc_tile(0); log2_tile(0);", [a], ["bfloat16"], "bfloat16")
    assert cores.report.rounded_only == ["erfc_tile", "log2_tile"]
    assert found.any()
    cores.run("copy_tile(0, 0, 0); erfc_tile(0);", [a], ["bfloat16"], "bfloat16", exact=False)
    assert cores.report.rounded_only == []


def test_what_the_chip_cannot_do_is_refused(cores: Cores, seed: int) -> None:
    a = given(cores, seed, "normal", (32, 32), "bfloat16")
    half = np.full((32, 32), np.float32(0.5), np.float32).view(np.uint32)
    with pytest.raises(
        Error, match=r"reduce_tile: finds a maximum with the scaler 0\.5\d*; expected 1 on an exact device"
    ):
        cores.run(
            "reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 1, 0, 0, 0);", [a, half], ["bfloat16"], "bfloat16"
        )
    with pytest.raises(Error, match="expected f32 or bf16 in L1 on an exact device, and it has bfp_bf8"):
        cores.run("copy_tile(0, 0, 0); pack_reconfig_l1_acc(1);", [a], ["bfloat16"], "bfloat8_b")
    with pytest.raises(Error, match="unpack_to_dest_fp32 names circular buffer 32; expected a number below 32"):
        cores.run("copy_tile(0, 0, 0);", [a], ["bfloat16"], "bfloat16", unpack_to_dest_fp32=[32])
    with pytest.raises(DeviceError, match="exact: the arithmetic of blackhole is not published; expected wormhole_b0"):
        metal.Machine("blackhole").run([], exact=True)
