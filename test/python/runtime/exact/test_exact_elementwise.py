# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops and conversions with the chip's arithmetic, bit for bit compared with a slow reference."""

from __future__ import annotations

import _ttmlir_runtime as rt
import chip_arithmetic
import numpy as np
import pytest
import torch
import ttnn
from builder.ops.structure import walk
from chip_ops import binary, packed, typecast, unary
from exact_values import FORMATS, INTEGERS, KINDS, Chip, same, values
from ttmlir import ir, passes
from vector_unit import APPROXIMATE, FUNCTIONS, NARROW_ONLY, V, mad, stored

BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
SHAPE = (40, 37)  # no multiples of a tile, and of a group


@pytest.mark.parametrize("types", [("float32",) * 2, ("bfloat16",) * 2, ("float32", "bfloat16"),
                                   ("bfloat16", "bfloat8_b"), ("bfloat4_b", "bfloat2_b")], ids="-".join)  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
def test_binary(chip: Chip, name: str, kind: str, types: tuple[str, str], seed: int) -> None:
    a_bits, b_bits = values(seed, kind, SHAPE, types[0]), values(seed + 1, kind, SHAPE, types[1])
    b_bits[::3] = a_bits[::3] ^ np.uint32(1 << 31)  # that cancel
    b_bits[1::7] = a_bits[1::7]
    b_bits[2::7, ::5] = 0
    if types[1] != "float32":
        b_bits &= np.uint32(0xFFFF0000)
    a, a_bits = chip.put(a_bits, types[0])
    b, b_bits = chip.put(b_bits, types[1])
    for out in ("float32", "bfloat16") if name in ("add", "multiply") else (types[0],):
        found = getattr(ttnn, name)(a, b, dtype=getattr(ttnn, out))
        wide = types == ("float32", "float32") or out == "float32"
        same(Chip.bits(found), packed(binary(name, a_bits, b_bits, types, out), out, wide))


def test_broadcasting(chip: Chip, seed: int) -> None:
    a, a_bits = chip.put(values(seed, "normal", (3, 40, 37), "bfloat16"), "bfloat16")
    for shape in ((37,), (40, 1), (3, 1, 37), (1, 1)):
        b, b_bits = chip.put(values(seed + 1, "normal", shape, "bfloat16"), "bfloat16")
        other = np.ascontiguousarray(np.broadcast_to(b_bits, a_bits.shape))
        dst = binary("multiply", a_bits, other, ("bfloat16", "bfloat16"), "bfloat16")
        same(Chip.bits(ttnn.multiply(a, b)), packed(dst, "bfloat16", False))


@pytest.mark.parametrize("out", FORMATS)
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
def test_packing(chip: Chip, wide: bool, out: str, seed: int) -> None:
    """Packs sums in either width, in rows that end within a group."""
    dtype = "float32" if wide else "bfloat16"
    for kind in KINDS:
        a, a_bits = chip.put(values(seed, kind, SHAPE, dtype), dtype)
        b, b_bits = chip.put(values(seed + 1, kind, SHAPE, dtype), dtype)
        found = ttnn.add(a, b, dtype=getattr(ttnn, out))
        dst = binary("add", a_bits, b_bits, (dtype, dtype), out)
        same(Chip.bits(found), packed(dst, out, wide or out == "float32"))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions(chip: Chip, name: str, kind: str, dtype: str, seed: int) -> None:
    x, bits = chip.put(values(seed, kind, SHAPE, dtype), dtype)
    found = Chip.bits(getattr(ttnn, name)(x))
    if dtype == "float32" and name in NARROW_ONLY:
        # Not published, and so as by default.
        with ttnn.manage_device(0) as other:
            plain = getattr(ttnn, name)(ttnn.to_device(ttnn.from_device(x), other))
            same(found, Chip.bits(plain))
        return
    dst, wide = unary(name, bits, dtype, dtype)
    same(found, packed(dst, dtype, wide))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - NARROW_ONLY))
def test_functions_of_every_bfloat16(chip: Chip, name: str) -> None:
    bits = (np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)).reshape(256, 256)
    x, _ = chip.put(bits, "bfloat16")
    dst, wide = unary(name, bits, "bfloat16", "bfloat16")
    same(Chip.bits(getattr(ttnn, name)(x)), packed(dst, "bfloat16", wide))


# From isa.md: relative to correctly rounded results, of all bf16 inputs where the function is not flat.
LARGEST_ERRORS = {"exp": 2**-7, "reciprocal": 2**-7, "sqrt": 2**-7, "rsqrt": 2**-7, "sigmoid": 2**-6, "tanh": 2**-6}


@pytest.mark.parametrize("name", LARGEST_ERRORS)
def test_functions_are_near_what_they_are_called(chip: Chip, name: str) -> None:
    grid = np.linspace(0.25, 6, 512, dtype=np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    x = grid.view(np.float32).astype(np.float64)
    true = {"exp": np.exp, "reciprocal": lambda v: 1 / v, "sqrt": np.sqrt, "rsqrt": lambda v: v**-0.5,
            "sigmoid": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh}[name](x)  # fmt: skip
    found = Chip.bits(getattr(ttnn, name)(chip.put(grid.reshape(1, -1), "bfloat16")[0])).view(np.float32)[0]
    assert np.abs(found / true - 1).max() < LARGEST_ERRORS[name]


@pytest.mark.parametrize("name", sorted(APPROXIMATE))
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_approximations_in_programs(name: str, dtype: str, seed: int) -> None:
    """math_approx_mode of an op's compute_config."""
    element = {"bfloat16": "bf16", "float32": "f32"}[dtype]
    text = f"""func.func @main(%x: tensor<4x64x{element}>) -> tensor<4x64x{element}> {{
      %0 = "ttir.{name}"(%x) : (tensor<4x64x{element}>) -> tensor<4x64x{element}>
      return %0 : tensor<4x64x{element}>
    }}"""
    with ir.Context() as context:
        module = ir.Module.parse(text)
        passes.ttir_to_ttnn_backend_pipeline(module)
        config = "#ttnn.device_compute_kernel_config<math_approx_mode = true>"
        (op,) = [op for op in walk(module.operation) if op.name == f"ttnn.{name}"]
        op.attributes["compute_config"] = ir.Attribute.parse(config, context)
        binary_ = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))
    options = rt.runtime.MeshDeviceOptions(exact=True)
    with rt.runtime.open_mesh_device(options) as device:
        chip = Chip(device)
        x, bits = chip.put(values(seed, "near", (4, 64), dtype), dtype)
        (found,) = rt.runtime.submit(device, binary_, 0, [x])
        found = Chip.bits(found)
    wide = dtype == "float32"
    result = APPROXIMATE[name](V(bits))
    if name in ("sqrt", "rsqrt"):
        dst = stored(V(packed(result.b, "bfloat16", False)) if not wide else result, wide)
        special = (bits >= np.uint32(1 << 31)) | (bits & np.uint32(0x7F800000) == 0)
        kept = ~special
        same(found[kept], packed(dst, dtype, wide)[kept])
        return
    same(found, packed(stored(result, wide), dtype, wide))


TYPECASTS = [(a, b) for a in FORMATS for b in (*FORMATS, "int32", "uint32", "uint16") if a != b]


@pytest.mark.parametrize(("given", "out"), TYPECASTS, ids=str)
def test_typecasts(chip: Chip, given: str, out: str, seed: int) -> None:
    for kind in (*KINDS, INTEGERS):
        tensor, bits = chip.put(values(seed, kind, SHAPE, given), given)
        found = ttnn.typecast(tensor, getattr(ttnn, out))
        same(Chip.bits(found) if out in FORMATS else Chip.integers(found), typecast(bits, given, out))


def test_integers_become_floats_in_two_steps(chip: Chip) -> None:
    """To f32 with ties to even, from there to bf16 with ties away from zero."""
    given = np.array([[0, 1, -1, 257, 258, 259, 33_587_201, 16_777_217, -16_777_219, 2**31 - 1, -(2**31)]], np.int32)
    x = ttnn.from_torch(torch.from_numpy(given), layout=ttnn.TILE_LAYOUT, device=chip.device)
    f32 = given.astype(np.float32).view(np.uint32)
    same(Chip.bits(ttnn.typecast(x, ttnn.float32)), f32)
    same(Chip.bits(ttnn.typecast(x, ttnn.bfloat16)), packed(f32, "bfloat16", True))


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_of_the_vector_unit_itself(kind: str, seed: int) -> None:
    """On arrays as lane by lane on Python's integers."""
    x, y, z = (values(seed + i, kind, 1000, "float32") for i in range(3))
    if kind == "near":
        z[::2] = (-(x[::2].copy().view(np.float32) * y[::2].copy().view(np.float32))).view(np.uint32)
    lanes = [chip_arithmetic.multiply_add(int(a), int(b), int(c)) for a, b, c in zip(x, y, z, strict=True)]
    same(mad(x, y, z), np.array(lanes, np.uint32))
