# SPDX-License-Identifier: Apache-2.0
"""Kernels written by hand: the examples, functions of the kernel API, what goes wrong, what is printed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from _ttmlir_runtime import Error, OutOfMemoryError, metal
from _ttmlir_runtime.runtime import DataType
from _ttmlir_runtime.ttnn import BufferType

ROOT = Path(__file__).resolve().parents[3]
# By its path: the tests of JAX have a module of the same name.
_spec = importlib.util.spec_from_file_location("kernel_programs", ROOT / "examples" / "kernels" / "programs.py")
assert _spec is not None and _spec.loader is not None
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)

GDB = shutil.which("gdb")
F32, BF16, INT32 = DataType.Float32, DataType.BFloat16, DataType.Int32


def rounded(values: np.ndarray) -> np.ndarray:
    """Rounds to bf16."""
    return torch.from_numpy(np.ascontiguousarray(values)).bfloat16().float().numpy()


@pytest.fixture(name="machine", scope="module")
def machine_fixture() -> metal.Machine:
    return metal.Machine("wormhole_b0")


def matrix(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return rounded(np.random.default_rng(seed).uniform(-1, 1, (rows, columns)).astype(np.float32))


GRIDS = {"1x1": ((0, 0), (0, 0)), "2x3": ((1, 2), (3, 3)), "8x8": ((0, 0), (7, 7))}


@pytest.mark.parametrize("grid", GRIDS)
def test_add(machine: metal.Machine, grid: str) -> None:
    x, y = matrix(96, 160), matrix(96, 160, 1)  # 15 tiles: some cores of a large grid have none
    found = programs.elementwise(machine, "add", [x, y], metal.core_range(*GRIDS[grid]))
    np.testing.assert_array_equal(found, rounded(x + y))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("exp_tile", torch.exp),
        ("exp2_tile", torch.exp2),
        ("square_tile", torch.square),
        ("tanh_tile", torch.tanh),
        ("frac_tile", lambda x: x - x.trunc()),
        ("gtz_tile", lambda x: (x > 0).float()),
        ("identity_tile", lambda x: x),
        ("isinf_tile", lambda x: x.isinf().float()),
        ("isnan_tile", lambda x: x.isnan().float()),
        ("isneginf_tile", lambda x: x.isneginf().float()),
        ("isposinf_tile", lambda x: x.isposinf().float()),
        ("signbit_tile", lambda x: x.signbit().float()),
        ("softsign_tile", torch.nn.functional.softsign),
        ("trunc_tile", torch.trunc),
        ("lez_tile", lambda x: (x <= 0).float()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_vector_unit(machine: metal.Machine, function: str, expected: object) -> None:
    x = matrix(64, 64)
    x[0, :5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    found = programs.elementwise(machine, "sfpu", [x], [(0, 0), (5, 6)], {"SFPU_FUNCTION": function})
    golden = expected(torch.from_numpy(x))  # type: ignore[operator]
    torch.testing.assert_close(torch.from_numpy(found.copy()), golden, rtol=2**-7, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("add_unary_tile(dst, 0x40000000)", lambda x: x + 2),
        ("rsub_unary_tile(dst, 0x40000000)", lambda x: 2 - x),
        ("div_unary_tile(dst, 0x40000000)", lambda x: x / 2),
        ("unary_max_tile(dst, 0x3e800000)", lambda x: np.maximum(x, 0.25)),
        ("power_tile(dst, 3)", lambda x: x**3),
        ("power_tile(dst, 0x40000000)", lambda x: x**2),
        ("power_iterative_tile(dst, 2)", lambda x: x**2),
        ("binary_dest_reuse_tiles<ELWSUB, EltwiseBinaryReuseDestType::DEST_TO_SRCB>(0, 0, dst)", lambda x: x - x),
        ("mul_tiles_bcast_rows(0, 0, 0, 0, dst)", lambda x: x * x[:1]),
        ("sub_tiles_bcast_cols(0, 0, 0, 0, dst)", lambda x: x - x[:, :1]),
        ("add_tiles_bcast_scalar(0, 0, 0, 0, dst)", lambda x: x + x[:1, :1]),
        ("copy_dest_values(dst, 1)", lambda x: x),
    ],
    ids=lambda value: value.split("(")[0].split("<")[0] if isinstance(value, str) else "",
)
def test_functions_of_tiles(machine: metal.Machine, call: str, expected: object) -> None:
    x = matrix(32, 32)
    defines = {"APPLY(dst)": call, "SFPU_FUNCTION(dst)": "APPLY(dst)"}
    found = programs.elementwise(machine, "sfpu", [x], [(0, 0)], defines)
    golden = expected(x)  # type: ignore[operator]
    np.testing.assert_allclose(found, golden, rtol=2**-7, atol=2**-8)


def bits(value: float) -> str:
    return f"{np.float32(value).view(np.uint32):#x}"


@pytest.mark.parametrize(
    ("function", "parameters", "expected"),
    [
        ("celu_tile", [1.5, 1 / 1.5], lambda x: F.celu(x, 1.5)),
        ("elu_tile", [0.75], lambda x: F.elu(x, 0.75)),
        ("fmod_tile", [0.375, 1 / 0.375], lambda x: torch.fmod(x, 0.375)),
        ("hardshrink_tile", [0.25], lambda x: F.hardshrink(x, 0.25)),
        ("heaviside_tile", [0.5], lambda x: torch.where(x.isnan(), x, torch.heaviside(x, torch.tensor(0.5)))),
        ("leaky_relu_tile", [0.125], lambda x: F.leaky_relu(x, 0.125)),
        ("log_with_base_tile", [1 / np.log(3)], lambda x: x.log() / np.log(3)),
        ("prelu_tile", [-0.5], lambda x: F.prelu(x, torch.tensor(-0.5))),
        ("relu_min_tile", [0.25], lambda x: x.clamp(min=0.25)),
        ("remainder_tile", [0.375, 1 / 0.375], lambda x: torch.remainder(x, 0.375)),
        ("rpow_tile", [3.0], lambda x: 3.0**x),
        ("selu_tile", [1.0507009873554805, 1.6732632423543772], F.selu),
        ("softplus_tile", [4.0, 0.25, 2.0], lambda x: F.softplus(x, 4.0, 2.0)),
        ("softshrink_tile", [0.25], lambda x: F.softshrink(x, 0.25)),
        ("threshold_tile", [0.25, -3.0], lambda x: F.threshold(x, 0.25, -3.0)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_functions_with_parameters(
    machine: metal.Machine, function: str, parameters: list[float], expected: object
) -> None:
    x = matrix(32, 32)
    x[0, :8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.25, -0.25, 0.5]
    call = f"{function}({', '.join(['dst', *map(bits, parameters)])})"
    found = programs.elementwise(
        machine, "sfpu", [x], [(0, 0)], {"APPLY(dst)": call, "SFPU_FUNCTION(dst)": "APPLY(dst)"}
    )
    golden = expected(torch.from_numpy(x))  # type: ignore[operator]
    torch.testing.assert_close(torch.from_numpy(found.copy()), golden, rtol=2**-7, atol=2**-8, equal_nan=True)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("bitwise_and_tile<DataFormat::Int32>(0, 0xffff0003)", lambda x: x & ~0xFFFC),
        ("bitwise_or_tile<DataFormat::Int32>(0, 0x1000001)", lambda x: x | 0x1000001),
        ("bitwise_xor_tile<DataFormat::Int32>(0, 0xffffffff)", lambda x: ~x),
        ("left_shift_tile<DataFormat::Int32>(0, 4)", lambda x: x << 4),
        ("left_shift_tile<DataFormat::Int32>(0, 32)", lambda x: x & 0),
        ("right_shift_tile<DataFormat::Int32>(0, 2)", lambda x: x >> 2),
        ("right_shift_tile<DataFormat::Int32>(0, 40)", lambda x: x >> 31),
        ("add_int_tile<DataFormat::Int32>(0, 0, 0)", lambda x: x + x),
        ("rsub_int_tile(0, 0, 0)", lambda x: x - x),
        ("binary_max_int32_tile(0, 0, 0)", lambda x: x),
        ("trunc_tile(0)", lambda x: x),
        ("signbit_tile(0)", lambda x: x < 0),
    ],
    ids=lambda value: value.split("<")[0] if isinstance(value, str) else "",
)
def test_functions_of_integers(machine: metal.Machine, call: str, expected: object) -> None:
    fill = "cb_reserve_back(0, 1); auto at = reinterpret_cast<int32_t *>(get_write_ptr(0));"
    fill += " for (int i = 0; i < 1024; ++i) at[i] = (i - 512) * 1000003; cb_push_back(0, 1);"
    apply = "cb_wait_front(0, 1); tile_regs_acquire(); copy_tile(0, 0, 0); " + call + "; tile_regs_commit();"
    apply += " cb_reserve_back(16, 1); tile_regs_wait(); pack_tile(0, 16); tile_regs_release(); cb_push_back(16, 1);"
    show = "cb_wait_front(16, 1); auto at = reinterpret_cast<int32_t *>(get_read_ptr(16));"
    show += " for (int i = 0; i < 1024; ++i) DPRINT << at[i] << ' ';"
    kernels = [
        metal.Kernel("fill", f'#include "dataflow_api.h"\nvoid kernel_main() {{ {fill} }}\n', [(0, 0)], noc=0),
        metal.Kernel(
            "apply", f'#include "compute_kernel_api.h"\nvoid kernel_main() {{ {apply} }}\n', [(0, 0)], compute=True
        ),
        metal.Kernel("show", f'#include "dataflow_api.h"\nvoid kernel_main() {{ {show} }}\n', [(0, 0)], noc=1),
    ]
    report = machine.run(kernels, [metal.CircularBuffer(cb, INT32, 4096, 1, [(0, 0)]) for cb in (0, 16)])
    numbers = re.sub(r"\(y=0, x=0\) show: ", "", report.printed).split()
    x = ((np.arange(1024) - 512) * 1000003).astype(np.int32)
    np.testing.assert_array_equal(np.array(numbers, np.int64), expected(x).astype(np.int32))  # type: ignore[operator]


def test_functions_of_integers_refuse_floats(machine: metal.Machine) -> None:
    with pytest.raises(Error, match=r"left_shift_tile: takes integers, and register tile 0 holds floats"):
        programs.elementwise(
            machine, "sfpu", [matrix(32, 32)], [(0, 0)], {"SFPU_FUNCTION(dst)": "left_shift_tile(dst, 1)"}
        )


@pytest.mark.parametrize("decimals", [-1, 0, 1, 2])
def test_decimal_places(machine: metal.Machine, decimals: int) -> None:
    x = rounded(matrix(32, 32) * 64)
    defines = {"APPLY(dst)": f"round_tile(dst, {decimals})", "SFPU_FUNCTION(dst)": "APPLY(dst)"}
    found = programs.elementwise(machine, "sfpu", [x], [(0, 0)], defines)
    golden = torch.round(torch.from_numpy(x).double(), decimals=decimals).numpy()
    np.testing.assert_allclose(found, golden, rtol=2**-7)


@pytest.mark.parametrize("fp32", [True, False], ids=["f32", "bf16"])
@pytest.mark.parametrize("grid", GRIDS)
def test_matmul(machine: metal.Machine, grid: str, fp32: bool) -> None:
    a, b = matrix(96, 64), matrix(64, 128, 1)
    found, report = programs.matmul(machine, a, b, metal.core_range(*GRIDS[grid]), fp32)
    np.testing.assert_allclose(found, a.astype(np.float64) @ b, rtol=2**-7, atol=2**-8 if fp32 else 0.1)
    assert report.matmul_tiles == 3 * 2 * 4 * 4  # tiles of the result, steps, fidelity phases


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 2, 8), (8, 2, 1), (3, 5, 4), (8, 3, 8)], ids=str)
def test_multicast_is_what_one_core_computes(machine: metal.Machine, shape: tuple[int, int, int]) -> None:
    m, k, n = (32 * size for size in shape)
    a, b = matrix(m, k), matrix(k, n, 1)
    one, alone = programs.matmul(machine, a, b, [(0, 0)])
    found, report = programs.matmul_multicast(machine, a, b)
    np.testing.assert_array_equal(found, one)
    assert report.matmul_tiles == alone.matmul_tiles and report.moved_bytes <= alone.moved_bytes


def test_reduce(machine: metal.Machine) -> None:
    x = matrix(64, 96)
    np.testing.assert_allclose(programs.row_sums(machine, x), x.sum(axis=1, dtype=np.float64), rtol=2**-8, atol=2**-6)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_dataflow_between_cores(machine: metal.Machine, count: int) -> None:
    value, printed = programs.pass_on(machine, -7, count)
    assert value == -7 + sum(range(count))
    sums = [-7 + sum(range(i)) for i in range(count)]
    assert printed == "".join(f"(y=0, x={i}) pass_on: got {total}\n" for i, total in enumerate(sums))


def test_blackhole() -> None:
    machine = metal.Machine("blackhole")
    x, y = matrix(64, 64), matrix(64, 64, 1)
    columns, rows = machine.grid
    assert (columns, rows) != (8, 8)
    found = programs.elementwise(machine, "add", [x, y], [(columns - 1, rows - 1), (0, 0)])
    np.testing.assert_array_equal(found, rounded(x + y))


# What goes wrong.


def data(machine: metal.Machine, body: str, *, pages: int = 2, compute: bool = False) -> str:
    """Runs a kernel with circular buffer 0 on core (x=1, y=2); returns what it prints, or raises."""
    header = "compute_kernel_api/eltwise_binary.h" if compute else "dataflow_api.h"
    text = f'#include "{header}"\nvoid kernel_main() {{\n{body}\n}}\n'
    buffers = [metal.CircularBuffer(0, F32, 4096, pages, [(1, 2)])]
    return machine.run([metal.Kernel("k", text, [(1, 2)], compute=compute)], buffers, name="p").printed


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("cb_wait_front(0, 1);", "k on core (y=2, x=1), line 3: cb_wait_front of port 0 waits for 1 page, 0 of 2"),
        ("\ncb_reserve_back(0, 2); cb_push_back(0, 2);\ncb_reserve_back(0, 1);", "line 5: cb_reserve_back of port 0"),
        ("noc_semaphore_wait(get_semaphore(3), 2);", "line 3: noc_semaphore_wait waits until semaphore 3 is 2; it is"),
        ("cb_push_back(0, 1);", "pushes 1 page to port 0, of which cb_reserve_back has reserved 0 (line 3)"),
        ("cb_pop_front(0, 1);", "cb_wait_front has waited for 0 (line 3)"),
        ("cb_wait_front(0, 3);", "waits for 3 pages of port 0, which has 2 (line 3)"),
        ("cb_wait_front(7, 1);", "port 7 is no circular buffer of this core; there are 0 (line 3)"),
        ("noc_async_read(get_noc_addr(0, 0, 0x7fffff00), get_write_ptr(0), 64);", "are not in its L1"),
        ("noc_async_read(get_noc_addr(8, 0, 200000), get_write_ptr(0), 64);", "(y=0, x=8); the grid has 8x8 cores"),
        ("noc_async_read(get_noc_addr_from_bank_id<true>(12, 0), get_write_ptr(0), 4);", "there is no bank 12 of DRAM"),
        (
            "noc_async_write(get_write_ptr(0), get_noc_addr_from_bank_id<true>(0, 0x3fffffff), 64);",
            "64 bytes at address 1073741823 are not in bank 0 of DRAM, which has 1073741824 (line 3)",
        ),
        ("cb_reserve_back(0, 1); cb_push_back(0, 1);\n"
         "noc_async_read(get_noc_addr(get_read_ptr(0)), get_read_ptr(0), 4);",
         "a race: it writes page 0 of port 0"),
        ("cb_reserve_back(0, 1); cb_push_back(0, 1);\nnoc_inline_dw_write(get_noc_addr(get_read_ptr(0)), 1);",
         "noc_inline_dw_write: a race: it writes page 0 of port 0"),
        ("volatile uint32_t *word = reinterpret_cast<volatile uint32_t *>(get_write_ptr(0));\nwhile (*word != 1);",
         "kernel k on core (y=2, x=1): runs a loop that neither waits nor changes what other kernels see"),
        ("get_arg_val<uint32_t>(0);", "get_arg_val: there is no argument 0; the kernel has 0 (line 3)"),
        ("noc_inline_dw_write(get_noc_addr(0, 0, 200001), 1);", "address 200001 is no multiple of 4"),
        ("tile_regs_acquire();", "is for compute kernels; this one moves data"),
        ("load_from_l1(get_write_ptr(0) + 2, 0);", "load_from_l1: address"),
        ("load_from_l1(16, 0);", "4 bytes at address 16 of core (y=2, x=1) are not in its L1"),
        ("experimental::fabric_fast_write_any_len(1, get_noc_addr(0, 0, 200000), get_write_ptr(0), 4);",
         "fabric_fast_write_any_len: there is no chip 1; the mesh has 1 (line 3)"),
        ("TensorAccessorArgs<0> args;", "the kernel has fewer compile-time arguments"),
        ("noc_semaphore_inc(get_noc_addr_from_bank_id<true>(0, 0), 1);", "expected one core"),
        ("undeclared();", 'kernel "k" does not compile'),
        ("DPRINT << TSLICE(0, 0, SliceRange::hw041());", "cb_reserve_back has reserved 0 pages"),
        ("while (true) DPRINT << \"more and more\";", "has printed more than 1048576 bytes"),
    ],
    ids=[
        "wait", "reserve", "semaphore", "push", "pop", "too many", "port", "outside L1", "no core", "no bank",
        "outside DRAM", "race", "race of a word", "polls", "argument",
        "alignment", "unaligned word", "word outside L1", "no chip", "registers", "accessor", "atomic", "text", "slice",
        "endless",
    ],
)  # fmt: skip
def test_errors_name_place_and_line(machine: metal.Machine, body: str, text: str) -> None:
    with pytest.raises(Error, match=re.escape(text)):
        data(machine, body)
    assert data(machine, 'DPRINT << "fine" << ENDL();') == "(y=2, x=1) k: fine\n"  # the machine is as it was


POLLS = """
#include "dataflow_api.h"
void kernel_main() {
  auto *word = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(get_write_ptr(0));
  while (*word != 7)
    invalidate_l1_cache();
  DPRINT << "seen" << ENDL();
}
"""
WRITES = """
#include "dataflow_api.h"
void kernel_main() { noc_inline_dw_write(get_noc_addr(0, 0, get_write_ptr(0)), 7); }
"""


def test_a_kernel_that_polls_lets_others_run(machine: metal.Machine) -> None:
    """The kernel that polls is on the first core, and sees what the last one writes."""
    buffers = [metal.CircularBuffer(0, F32, 4096, 2, [(0, 0), (7, 7)])]
    kernels = [metal.Kernel("polls", POLLS, [(0, 0)]), metal.Kernel("writes", WRITES, [(7, 7)])]
    assert machine.run(kernels, buffers).printed == "(y=0, x=0) polls: seen\n"


def test_one_kernel_fills_a_circular_buffer(machine: metal.Machine) -> None:
    body = '#include "dataflow_api.h"\nvoid kernel_main() { cb_reserve_back(0, 1); cb_push_back(0, 1); }\n'
    buffers = [metal.CircularBuffer(0, F32, 4096, 2, [(0, 0)])]
    kernels = [metal.Kernel(name, body, [(0, 0)], noc=noc) for noc, name in enumerate(("first", "second"))]
    text = r"kernel second .*cb_push_back: pushes to port 0, to which kernel first has pushed"
    with pytest.raises(Error, match=text):
        machine.run(kernels, buffers)


def test_numbers_for_integers_only(machine: metal.Machine) -> None:
    body = "cb_reserve_back(0, 1); cb_push_back(0, 1); cb_wait_front(0, 1); tile_regs_acquire(); copy_tile(0, 0, 0);"
    text = f'#include "compute_kernel_api.h"\nvoid kernel_main() {{ {body} add_unary_tile(0, 0x3f000000); }}\n'
    buffers = [metal.CircularBuffer(0, INT32, 4096, 1, [(0, 0)])]
    with pytest.raises(Error, match=r"add_unary_tile: takes 0.5.*holds integers"):
        machine.run([metal.Kernel("k", text, [(0, 0)], compute=True)], buffers)


def test_what_was_printed_comes_with_the_error(machine: metal.Machine) -> None:
    with pytest.raises(Error, match=r"deadlock(.|\n)*printed before:\n\(y=2, x=1\) k: here"):
        data(machine, 'DPRINT << "here" << ENDL();\ncb_wait_front(0, 1);')


def test_prints_values_and_tiles(machine: metal.Machine) -> None:
    body = """
  cb_reserve_back(0, 1);
  float *values = reinterpret_cast<float *>(get_write_ptr(0));
  for (int i = 0; i < 1024; ++i) values[i] = i * 0.5f;
  cb_push_back(0, 1);
  cb_wait_front(0, 1);
  DPRINT << -3 << ' ' << 7u << ' ' << 0.25f << ' ' << true << ENDL();
  DPRINT << TSLICE(0, 0, SliceRange::hw0_32_16());"""
    lines = [line.removeprefix("(y=2, x=1) k: ") for line in data(machine, body).splitlines()]
    assert lines == ["-3 7 0.25 1", "0 128", "256 384"]  # elements 0, 256, 512, 768: the faces' first


def test_programs_are_checked(machine: metal.Machine) -> None:
    text = "void kernel_main() {}\n"
    kernel = metal.Kernel("k", text, [(0, 0)])
    ring = metal.CircularBuffer(0, F32, 4096, 1, [(0, 0)])
    for kernels, buffers, semaphores, message in (
        ([metal.Kernel("k", text, [(8, 0)])], [], [], "kernel k: there is no core (y=0, x=8)"),
        ([metal.Kernel("k", text, [])], [], [], "kernel k has no cores"),
        ([metal.Kernel("k", text, [(0, 0), (0, 0)])], [], [], "has core (y=0, x=0) twice"),
        ([metal.Kernel("k", text, [(0, 0)], noc=2)], [], [], "expected NOC 0 or 1, found 2"),
        ([kernel, metal.Kernel("l", text, [(0, 0)])], [], [], "has a data movement kernel on NOC 0 already: k"),
        ([metal.Kernel("k", text, [(0, 0)], args={(1, 0): [1]})], [], [], "has arguments for core (y=0, x=1), where"),
        ([metal.Kernel("k", text, [(0, 0)], compute=True, fidelity_phases=5)], [], [], "expected 1 to 4"),
        ([kernel], [ring, ring], [], "circular buffer 0 is there twice on core (y=0, x=0)"),
        ([kernel], [metal.CircularBuffer(32, F32, 64, 1, [(0, 0)])], [], "expected a number below 32"),
        ([kernel], [metal.CircularBuffer(0, F32, 0, 1, [(0, 0)])], [], "expected at least 1 of each"),
        ([kernel], [metal.CircularBuffer(0, F32, 1 << 20, 2, [(0, 0)])], [], "are not in L1"),
        ([kernel], [metal.CircularBuffer(0, F32, 64, 1, [(0, 0)], address=0)], [], "are not in L1"),
        ([kernel], [], [metal.Semaphore(16, [(0, 0)])], "semaphore 16: expected a number below 16"),
    ):
        with pytest.raises(Error, match=re.escape(message)):
            machine.run(kernels, buffers, semaphores)


def test_ranges_of_cores() -> None:
    assert metal.core_range((1, 0), (2, 1)) == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert metal.core_range((1, 0), (0, 0)) == []
    with pytest.raises(Error, match=r"from \(y=0, x=0\) to \(y=4294967295, x=0\): expected numbers below 1024"):
        metal.core_range((0, 0), (0, 2**32 - 1))


def test_memories_have_sizes() -> None:
    machine = metal.Machine("wormhole_b0")
    with pytest.raises(OutOfMemoryError, match="no room for 64 pages of 2000000 bytes"):
        machine.allocate(BufferType.L1, 2_000_000, 64)
    buffer = machine.allocate(BufferType.L1, 1_300_000, 64)
    ring = metal.CircularBuffer(0, F32, 4096, 64, [(0, 0)])
    kernel = metal.Kernel("k", "void kernel_main() {}\n", [(0, 0)])
    with pytest.raises(Error, match=r"circular buffers reach address .*, and a buffer in L1 begins at"):
        machine.run([kernel], [ring])
    machine.deallocate(buffer)
    machine.run([kernel], [ring])
    with pytest.raises(Error, match="expected 128 bytes, found 3"):
        machine.write(machine.allocate(BufferType.DRAM, 64, 2), b"abc")
    with pytest.raises(Error, match="are not inside of"):
        machine.read(metal.Buffer(BufferType.DRAM, 1 << 30, 64, 1))


@pytest.mark.parametrize("exact", [False, True])
def test_a_product_of_tiles_that_are_not_there(machine: metal.Machine, exact: bool) -> None:
    """The number of steps does not decide how much memory of the host is taken."""
    text = """#include "compute_kernel_api/matmul.h"
void kernel_main() {
  cb_reserve_back(0, 1);
  cb_push_back(0, 1);
  cb_wait_front(0, 1);
  tile_regs_acquire();
  experimental::matmul_block(0, 0, 0, 0, 0, 0, 1, 1, get_common_arg_val<uint32_t>(0), 1);
}
"""
    ring = metal.CircularBuffer(0, F32, 4096, 2, [(0, 0)])
    for steps, tile in ((2, 1), (1 << 31, 2147483647), (2**32 - 1, 4294967294)):
        kernel = metal.Kernel("k", text, [(0, 0)], compute=True, fp32_dest_acc=True, common_args=[steps])
        with pytest.raises(Error, match=f"matmul_block: tile {tile} of port 0 is not there: cb_wait_front has waited"):
            machine.run([kernel], [ring], exact=exact)


@pytest.mark.parametrize("memory", [BufferType.DRAM, BufferType.L1], ids=["DRAM", "L1"])
def test_interleaved_pages(machine: metal.Machine, memory: BufferType) -> None:
    buffer = machine.allocate(memory, 96, 200)
    content = np.random.default_rng(0).integers(0, 256, 96 * 200, np.uint8).tobytes()
    machine.write(buffer, content)
    assert machine.read(buffer) == content
    out = machine.allocate(memory, 96, 200)
    text = """#include "dataflow_api.h"
void kernel_main() {
  const InterleavedAddrGen<DRAM> from = {get_common_arg_val<uint32_t>(0), 96};
  const InterleavedAddrGen<DRAM> to = {get_common_arg_val<uint32_t>(1), 96};
  const uint32_t at = get_write_ptr(0);
  for (uint32_t page = 0; page < 200; ++page) {
    noc_async_read(get_noc_addr(page, from), at, 96);
    noc_async_read_barrier();
    noc_async_write_page(199 - page, to, at);
  }
}
"""
    dram = "true" if memory == BufferType.DRAM else "false"
    kernel = metal.Kernel("k", text, [(3, 3)], defines={"DRAM": dram}, common_args=[buffer.address, out.address])
    machine.run([kernel], [metal.CircularBuffer(0, F32, 96, 1, [(3, 3)])])
    pages = [content[i * 96 : (i + 1) * 96] for i in range(200)]
    assert machine.read(out) == b"".join(reversed(pages))


# A debugger.

DEBUGGED = """
from _ttmlir_runtime import metal

SOURCE = '''#include "dataflow_api.h"

void kernel_main() {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 5; ++i)
    sum += i * STEP;
  noc_semaphore_set(get_semaphore(0), sum);
}
'''
machine = metal.Machine("wormhole_b0")
machine.run([metal.Kernel("adds", SOURCE, [(3, 2)], defines={"STEP": "5"})])
"""


@pytest.mark.skipif(GDB is None, reason="no gdb")
def test_a_debugger_stops_in_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(DEBUGGED)
    commands = [
        "set breakpoint pending on", "break adds:6 if sum > 10", "run", "print sum", "print i", "list 6,6",
    ]  # fmt: skip
    words = [word for command in commands for word in ("-ex", command)]
    environment = os.environ | {"TTRT_KERNEL_DEBUG": str(tmp_path / "kernels"), "XDG_CACHE_HOME": str(tmp_path)}
    found = subprocess.run(
        [GDB, "-q", "-batch", "-nx", *words, "--args", sys.executable, str(tmp_path / "add.py")],
        capture_output=True, text=True, env=environment, check=False,
    ).stdout  # fmt: skip
    assert "kernel_main ()" in found, found
    assert "$1 = 15" in found and "$2 = 3" in found, found  # 0 + 5 + 10
    assert "sum += i * STEP;" in found
    assert (tmp_path / "kernels" / "adds").read_text().startswith('#include "dataflow_api.h"')


# The table of functions.


def test_the_page_lists_the_functions_of_the_headers() -> None:
    headers = ROOT / "runtime" / "include" / "tt" / "metal"
    declared: set[str] = set()
    for path in headers.glob("kernel_*.h"):
        text = path.read_text(encoding="utf-8")
        text = text[text.find("inline namespace ckernel") :] if "inline namespace ckernel" in text else ""
        declared |= set(re.findall(r"^\s*(?:template <.*> )?inline (?!constexpr)[\w:]+ (\w+)\(", text, re.MULTILINE))
        declared |= set(re.findall(r"^TT_KERNEL_(?:\w*OP(?:_INIT)?|BROADCAST_INIT)\((\w+)", text, re.M))
    for name in ("page", "tile"):  # a macro makes two of each
        declared |= {f"noc_async_{way}_{name}" for way in ("read", "write")}
    for name in ("add_tiles", "sub_tiles", "mul_tiles"):  # a macro makes four of each
        declared |= {f"{name}_bcast{way}" for way in ("", "_rows", "_cols", "_scalar")}
    declared -= {"name", "kernel", "failAssert"}  # what macros name
    rows = (ROOT / "include/ttmlir/Target/TTMetal/TileOps.def").read_text(encoding="utf-8")
    declared |= set(re.findall(r"^TT_TILE_OP\(\w+, \w+, (\w+),", rows, re.MULTILINE))
    declared = {name for name in declared if not name.endswith(("_init", "_init_short", "_uninit", "_with_dt"))}
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    table = page[page.index("## Functions") :]
    listed = set(re.findall(r"`(\w+)`", "\n".join(line for line in table.splitlines() if line.startswith("| `"))))
    listed -= {"DPRINT", "ASSERT", "DeviceZoneScopedN"}  # an object, macros
    assert declared - listed == set(), "functions of the headers that the page does not list"
    assert listed - declared == set(), "functions of the page that no header declares"
