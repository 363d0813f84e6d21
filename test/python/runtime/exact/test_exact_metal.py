# SPDX-License-Identifier: Apache-2.0
"""Target ttmetal compared with target ttnn, both exact: the same bits where both run the published kernels.

`pytest test/python/runtime/exact/test_exact_metal.py -s -k table` prints the table, and why other ops differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from _ttmlir_runtime import binary, runtime
from chip_ops import add_in_l1, packed
from exact_values import Chip, values
from ttmlir import ir, passes
from ttrt.__main__ import main as ttrt

TYPES = {"f32": "f32", "bf16": "bf16", "bfp8": "!ttcore.tile<32x32, bfp_bf8>"}
NAMES = {"f32": "float32", "bf16": "bfloat16", "bfp8": "bfloat8_b"}


@dataclass(frozen=True)
class Row:
    """An op on operands of these shapes: its operands and attributes in TTIR, where S0 is the first operand's type."""

    op: str
    shapes: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
    attributes: str = ""
    types: tuple[str, ...] = ("f32", "bf16", "bfp8")


@pytest.fixture(scope="module", name="chip")
def chip_fixture() -> Iterator[Chip]:
    """A device as programs are compiled for; that of the library keeps some of L1 for itself."""
    with runtime.open_mesh_device(runtime.MeshDeviceOptions(exact=True)) as device:
        yield Chip(device)


def unary(op: str, *types: str) -> Row:
    return Row(op, ((40, 70),), (40, 70), types=types or ("f32", "bf16", "bfp8"))


def binary_row(op: str) -> Row:
    return Row(op, ((40, 70), (40, 70)), (40, 70))


def reduced(op: str, shape: tuple[int, ...], dims: tuple[int, ...], types: tuple[str, ...] = ("f32", "bf16")) -> Row:
    result = tuple(1 if d - len(shape) in dims else size for d, size in enumerate(shape))
    listed = ", ".join(f"{d} : i32" for d in dims)
    return Row(op, (shape,), result, f"<{{dim_arg = [{listed}], keep_dim = true}}>", types)


SAME = [
    Row("matmul", ((40, 96), (96, 70)), (40, 70)),
    Row("matmul", ((64, 512), (512, 32)), (64, 32)),
    Row("matmul", ((2, 40, 64), (2, 64, 40)), (2, 40, 40)),
    Row("matmul", ((40, 96), (70, 96)), (40, 70), "<{transpose_a = false, transpose_b = true}>", ("f32", "bf16")),
    reduced("sum", (40, 96), (-1,), ("f32", "bf16", "bfp8")),
    reduced("sum", (96, 40), (-2,), ("f32", "bf16", "bfp8")),
    reduced("sum", (32, 20), (-2, -1), ("f32", "bf16", "bfp8")),
    reduced("max", (40, 70), (-1,), ("f32", "bf16", "bfp8")),
    reduced("max", (70, 40), (-2,), ("f32", "bf16", "bfp8")),
    reduced("min", (40, 70), (-1,), ("f32", "bf16", "bfp8")),
    Row("exp", ((64, 96),), (64, 96), types=("bfp8",)),
    Row("multiply", ((64, 96), (64, 96)), (64, 96), types=("bfp8",)),
    *(unary(op) for op in ("abs", "cos", "erf", "exp", "gelu", "log", "reciprocal", "rsqrt", "sigmoid", "silu", "sin",
                           "sqrt", "tanh")),
    unary("atan", "bf16", "bfp8"),
    unary("tan", "bf16", "bfp8"),
    *(binary_row(op) for op in ("add", "subtract", "multiply", "div", "maximum", "minimum")),
]  # fmt: skip

# Ops with other kernels, and the reason.
DIFFERENT = [
    (reduced("mean", (40, 96), (-1,)),
     "cores sum in f32 and multiply by 1 / n on the vector unit; the library gives 1 / n to the matrix unit"),
    (reduced("sum", (40, 96), (-2, -1)),
     "cores add whole tiles, one after the other; the library sums rows, packs them, and sums them again"),
    (reduced("sum", (5, 32, 40), (-3,)),
     "cores add tiles on the vector unit in f32; the library adds bf16 and bfp8 on the matrix unit"),
    (Row("add", ((40, 70), (1, 70)), (40, 70), types=("bf16", "bfp8")),
     "cores repeat the row in a register and add on the vector unit; the library adds on the matrix unit"),
    (Row("softmax", ((40, 70),), (40, 70), "<{dimension = 1 : si32}>", ("f32", "bf16")),
     "cores run the ops that it is decomposed to, in f32; the library has one kernel"),
]  # fmt: skip


def text(row: Row, dtype: str) -> str:
    """A program of f32 or bf16 tensors; block formats are made, and left, by typecasts."""

    def tensor(shape: tuple[int, ...], element: str) -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{element}>"

    host, element = ("f32" if dtype == "bfp8" else dtype), TYPES[dtype]
    given = [tensor(shape, host) for shape in row.shapes]
    inner = [tensor(shape, element) for shape in row.shapes]
    lines, names = [], [f"%x{i}" for i in range(len(given))]
    if dtype == "bfp8":
        for i, name in enumerate(names):
            lines.append(f'%b{i} = "ttir.typecast"({name}) : ({given[i]}) -> {inner[i]}')
        names = [f"%b{i}" for i in range(len(given))]
    result = tensor(row.result, element)
    lines.append(f'%r = "ttir.{row.op}"({", ".join(names)}) {row.attributes} : ({", ".join(inner)}) -> {result}')
    out = "%r"
    if dtype == "bfp8":
        lines.append(f'%o = "ttir.typecast"(%r) : ({result}) -> {tensor(row.result, host)}')
        out, result = "%o", tensor(row.result, host)
    arguments = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(given))
    body = "\n  ".join(lines)
    return f"func.func @main({arguments}) -> {result} {{\n  {body}\n  return {out} : {result}\n}}"


def compiled(program: str, target: str, options: str = "") -> binary.Binary:
    with ir.Context():
        module = ir.Module.parse(program)
        if target == "ttmetal":
            # What a fused kernel keeps in a register is not rounded to a block format.
            passes.ttir_to_ttmetal_pipeline(module, f"enable-elementwise-fusion=false {options}")
            data = passes.ttmetal_to_flatbuffer_bin(module)
        else:
            passes.ttir_to_ttnn_backend_pipeline(module, options)
            data = passes.ttnn_to_flatbuffer_bin(module)
    return binary.load_binary_from_bytes(data, allow_native=True)


def host(bits: np.ndarray, dtype: str) -> object:
    if dtype == "bf16":
        halves = (bits >> np.uint32(16)).astype(np.uint16).view(np.int16)
        return runtime.create_host_tensor(torch.from_numpy(halves).view(torch.bfloat16))
    return runtime.create_host_tensor(torch.from_numpy(bits.view(np.float32).copy()))


def run(chip: Chip, program: binary.Binary, inputs: list[np.ndarray], dtype: str) -> np.ndarray:
    (output,) = runtime.submit(chip.device, program, 0, [host(bits, dtype) for bits in inputs])
    found = torch.from_dlpack(runtime.to_host(output)[0]).contiguous()
    if found.dtype == torch.bfloat16:
        return found.view(torch.int16).numpy().view(np.uint16).astype(np.uint32) << np.uint32(16)
    return found.view(torch.int32).numpy().view(np.uint32)


def inputs_of(row: Row, dtype: str, kind: str, seed: int) -> list[np.ndarray]:
    found = []
    for i, shape in enumerate(row.shapes):
        bits = values(seed + i, kind, shape, "bfloat16" if dtype == "bf16" else "float32")
        # Casts to block formats then lose nothing: the library's rounds once, and the packer of a kernel twice.
        found.append(packed(bits, "bfloat8_b", True) if dtype == "bfp8" else bits)
    return found


def cases() -> Iterator[tuple[Row, str]]:
    for row in SAME:
        for dtype in row.types:
            yield row, dtype


def differing(
    chip: Chip, row: Row, dtype: str, seed: int, kinds: tuple[str, ...], options: str = ""
) -> tuple[int, int, str]:
    """The number of elements that differ, of how many, and the first of them."""
    metal, ttnn = compiled(text(row, dtype), "ttmetal", options), compiled(text(row, dtype), "ttnn")
    wrong, count, first = 0, 0, ""
    for kind in kinds:
        inputs = inputs_of(row, dtype, kind, seed)
        found, expected = (run(chip, program, inputs, dtype) for program in (metal, ttnn))
        assert found.shape == expected.shape
        places = np.argwhere(found != expected)
        if len(places) and not first:
            at = tuple(places[0])
            first = f"{kind} {list(map(int, at))}: {found[at]:#x}, expected {expected[at]:#x}"
        wrong, count = wrong + len(places), count + found.size
    return wrong, count, first


@pytest.mark.parametrize("dtype", TYPES)
def test_table(chip: Chip, dtype: str, seed: int) -> None:
    """All ops whose kernels are the same, on values of several classes."""
    problems = []
    for row, each in cases():
        if each != dtype:
            continue
        # A product of infinities, and of large values in 16 bits, is no more than a number.
        kinds = ("normal", "near") if dtype == "bfp8" else ("normal", "near", "low", "edge")
        wrong, count, first = differing(chip, row, dtype, seed, kinds)
        print(f"{row.op} {'x'.join(map(str, row.shapes[0]))} {dtype}: {count - wrong} of {count} equal")
        if wrong:
            problems.append(f"{row.op} of {row.shapes} {row.attributes} in {dtype}: {wrong} of {count} differ, {first}")
    assert not problems, "\n".join(problems)


def test_table_of_others(chip: Chip, seed: int) -> None:
    """Every listed op differs somewhere, but by no more than roundings; an op that does not belongs to the table."""
    for row, reason in DIFFERENT:
        total = 0
        for dtype in row.types:
            inputs = inputs_of(row, dtype, "normal", seed)
            programs = [compiled(text(row, dtype), target) for target in ("ttmetal", "ttnn")]
            found, expected = (run(chip, program, inputs, dtype).view(np.float32) for program in programs)
            last = 2**-6 if dtype == "bfp8" else 2**-7  # one unit of the last place of a block
            np.testing.assert_allclose(found, expected, rtol=2**-5, atol=np.abs(expected).max() * last)
            total += int((found != expected).sum())
            print(f"{row.op} {row.shapes[0]} {dtype}: {int((found == expected).sum())} of {found.size} equal; {reason}")
        assert total, f"{row.op} of {row.shapes} has the same bits: it belongs to SAME"


@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi3", "HiFi4"])
def test_fidelity_of_products(chip: Chip, fidelity: str, seed: int) -> None:
    """The option of the pipeline means what ttcore.compute_config means to the library."""
    row = Row("matmul", ((40, 96), (96, 70)), (40, 70))
    config = f"#ttnn.device_compute_kernel_config<math_fidelity = {fidelity.lower()}, fp32_dest_acc_en = true>"
    for dtype in ("f32", "bf16"):
        told = Row(row.op, row.shapes, row.result, f"{{ttcore.compute_config = {config}}}")
        inputs = inputs_of(row, dtype, "normal", seed)
        found = run(chip, compiled(text(row, dtype), "ttmetal", f"set-math-fidelity={fidelity}"), inputs, dtype)
        expected = run(chip, compiled(text(told, dtype), "ttnn"), inputs, dtype)
        assert (found == expected).all()


@pytest.mark.parametrize(("dtype", "k", "block"), [("f32", 2112, 704), ("bf16", 4224, 1408)])
def test_blocks_of_products(chip: Chip, dtype: str, k: int, block: int, seed: int) -> None:
    """K in three blocks, whose sums the packer adds in L1: those of the library's products of the blocks."""
    row = Row("matmul", ((32, k), (k, 32)), (32, 32))
    a, b = inputs_of(row, dtype, "normal", seed)
    found = run(chip, compiled(text(row, dtype), "ttmetal", "override-device-shape=1,1"), [a, b], dtype)
    name = NAMES[dtype]
    part = f"""func.func @main(%x: tensor<32x{block}x{dtype}>, %y: tensor<{block}x32x{dtype}>) -> tensor<32x32xf32> {{
      %0 = "ttir.typecast"(%x) : (tensor<32x{block}x{dtype}>) -> tensor<32x{block}xf32>
      %1 = "ttir.typecast"(%y) : (tensor<{block}x32x{dtype}>) -> tensor<{block}x32xf32>
      %2 = "ttir.matmul"(%0, %1) : (tensor<32x{block}xf32>, tensor<{block}x32xf32>) -> tensor<32x32xf32>
      return %2 : tensor<32x32xf32>
    }}"""
    library = compiled(part, "ttnn")
    total = None
    for at in range(0, k, block):
        product = run(chip, library, [a[:, at : at + block], b[at : at + block]], dtype)
        total = product if total is None else add_in_l1(total, product, True)
    expected = packed(total, name, True)
    assert (found == expected).all()


@pytest.mark.parametrize("op", ["matmul", "sum", "exp", "add"])
def test_threads_and_grids_change_nothing(chip: Chip, op: str, seed: int) -> None:
    row = {
        "matmul": Row("matmul", ((96, 256), (256, 160)), (96, 160)),
        "sum": reduced("sum", (96, 160), (-1,)),
        "exp": Row("exp", ((96, 160),), (96, 160)),
        "add": Row("add", ((96, 160), (96, 160)), (96, 160)),
    }[op]
    inputs = inputs_of(row, "bf16", "normal", seed)
    found = []
    try:
        for threads in (1, 2, 4):
            runtime.set_threads(threads)
            for grid in ("1,1", "1,8", "7,8"):
                program = compiled(text(row, "bf16"), "ttmetal", f"override-device-shape={grid}")
                found.append(run(chip, program, inputs, "bf16"))
    finally:
        runtime.set_threads(0)
    assert all((each == found[0]).all() for each in found)


INTEGERS = {"si32": np.int32, "ui32": np.uint32, "ui16": np.uint16, "ui8": np.uint8}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("m", "k", "n"), [(33, 70, 65), (64, 4500, 32), (1, 1, 1), (2, 0, 3)])
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi4"])
def test_products_of_integers_are_exact(
    chip: Chip, fidelity: str, dtype: str, m: int, k: int, n: int, seed: int
) -> None:
    """All bits, modulo those of the type, with the matrix unit of the chip in any fidelity; as the library has them."""
    types = [f"tensor<{a}x{b}x{dtype}>" for a, b in ((m, k), (k, n), (m, n))]
    config = f"#ttnn.device_compute_kernel_config<math_fidelity = {fidelity.lower()}>"
    program = f"""func.func @main(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
      %0 = "ttir.matmul"(%x, %y) {{ttcore.compute_config = {config}}} : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""
    kind = INTEGERS[dtype]
    edges = np.iinfo(kind)
    random = np.random.default_rng(seed)
    x, y = (random.integers(edges.min, edges.max, shape, kind, endpoint=True) for shape in ((m, k), (k, n)))
    x[:1], y[:, :1] = edges.max, edges.max
    expected = (x.astype(np.uint64) @ y.astype(np.uint64)).astype(kind)  # wraps
    for target, options in (("ttmetal", f"set-math-fidelity={fidelity}"), ("ttnn", "")):
        given = [runtime.create_host_tensor(each) for each in (x, y)]
        (output,) = runtime.submit(chip.device, compiled(program, target, options), 0, given)
        np.testing.assert_array_equal(np.from_dlpack(runtime.to_host(output)[0]), expected, err_msg=target)


def test_ttrt_says_what_is_only_rounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also that the flag is taken for these programs."""
    chain = """func.func @main(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
      %0 = "ttir.exp"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
      %1 = "ttir.erfc"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
      return %1 : tensor<32x32xbf16>
    }"""
    with ir.Context():
        module = ir.Module.parse(chain)
        passes.ttir_to_ttmetal_pipeline(module)
        (tmp_path / "chain.ttm").write_bytes(bytes(passes.ttmetal_to_flatbuffer_bin(module)))
    assert ttrt(["run", str(tmp_path / "chain.ttm"), "--allow-native", "--exact"]) == 0
    assert "arithmetic not published, computed as by default and rounded: erfc_tile" in capsys.readouterr().out
    assert ttrt(["run", str(tmp_path / "chain.ttm"), "--allow-native"]) == 0
    assert "not published" not in capsys.readouterr().out
