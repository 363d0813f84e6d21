# SPDX-License-Identifier: Apache-2.0
"""Programs whose ops say in TTIR how they compute, bit for bit compared with the reference."""

from __future__ import annotations

import json

import _ttmlir_runtime as rt
import numpy as np
import pytest
from chip_ops import Cut, binary, packed, product, source
from exact_values import Chip, same, values
from ttmlir import ir, passes

FIDELITIES = {"lofi": 1, "hifi2": 2, "hifi3": 3, "hifi4": 4}


def compiled(text: str, options: str = "") -> rt.binary.Binary:
    with ir.Context():
        module = ir.Module.parse(text)
        passes.ttir_to_ttnn_backend_pipeline(module, options)
        return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))


def config(fidelity: str, wide: bool) -> str:
    fields = f"math_fidelity = {fidelity}, fp32_dest_acc_en = {str(wide).lower()}"
    return f"{{ttcore.compute_config = #ttnn.device_compute_kernel_config<{fields}>}}"


def outputs(chip: Chip, text: str, *given: object, options: str = "") -> list[np.ndarray]:
    return [Chip.bits(x) for x in rt.runtime.submit(chip.device, compiled(text, options), 0, list(given))]


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_products(chip: Chip, fidelity: str, wide: bool, seed: int) -> None:
    """Two products of one program, each in its own way; the second is told by the pipeline's options."""
    text = f"""func.func @main(%x: tensor<5x70xf32>, %y: tensor<70x37xf32>) -> (tensor<5x37xf32>, tensor<5x37xf32>) {{
      %0 = "ttir.matmul"(%x, %y) {config(fidelity, wide)} : (tensor<5x70xf32>, tensor<70x37xf32>) -> tensor<5x37xf32>
      %1 = "ttir.matmul"(%x, %y) : (tensor<5x70xf32>, tensor<70x37xf32>) -> tensor<5x37xf32>
      return %0, %1 : tensor<5x37xf32>, tensor<5x37xf32>
    }}"""
    x, a = chip.put(values(seed, "normal", (5, 70), "float32"), "float32")
    y, b = chip.put(values(seed + 1, "normal", (70, 37), "float32"), "float32")
    found = outputs(chip, text, x, y, options="compute-cfg-math-fidelity=hifi2 compute-cfg-fp32-dest-acc-en=true")
    for bits, (phases, dst) in zip(found, [(FIDELITIES[fidelity], wide), (2, True)], strict=True):
        expected = product(source(a, "float32", dst), source(b, "float32", dst), phases, dst)
        same(bits, packed(expected, "float32", dst))


@pytest.mark.parametrize("in_l1", [False, True], ids=["", "packer_l1_acc"])
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize(("m", "tiles"), [(40, 3), (5, 2)])
def test_blocks_of_products(chip: Chip, m: int, tiles: int, wide: bool, in_l1: bool, seed: int) -> None:
    """K in the blocks of the library: an eighth of it, or pairs of tiles of a single row of tiles."""
    fields = f"math_fidelity = hifi2, fp32_dest_acc_en = {str(wide).lower()}, packer_l1_acc = {str(in_l1).lower()}"
    how = f"{{ttcore.compute_config = #ttnn.device_compute_kernel_config<{fields}>}}"
    types = f"(tensor<{m}x768xbf16>, tensor<768x48xbf16>) -> tensor<{m}x48xbf16>"
    text = f"""func.func @main(%x: tensor<{m}x768xbf16>, %y: tensor<768x48xbf16>) -> tensor<{m}x48xbf16> {{
      %0 = "ttir.matmul"(%x, %y) {how} : {types}
      return %0 : tensor<{m}x48xbf16>
    }}"""
    program = compiled(text)
    [plan] = [json.loads(each)[0] for each in rt.runtime.plans(program) if "MatmulDeviceOperation" in each]
    cut = Cut.of(plan)
    assert (cut.tiles, cut.in_l1) == (tiles, in_l1)
    given = [
        chip.put(values(seed + i, "normal", shape, "bfloat16"), "bfloat16")
        for i, shape in enumerate([(m, 768), (768, 48)])
    ]
    [found] = rt.runtime.submit(chip.device, program, 0, [tensor for tensor, _ in given])
    dst = product(given[0][1], given[1][1], 2, wide, cut)
    same(Chip.bits(found), packed(dst, "bfloat16", wide))


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_elementwise_products(chip: Chip, fidelity: str, seed: int) -> None:
    """The dialect gives them no compute_config; files do."""
    kind = "tensor<4x64xbf16>"
    text = f"""func.func @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}) {{
      %0 = "ttir.multiply"(%x, %y) {config(fidelity, False)} : ({kind}, {kind}) -> {kind}
      %1 = "ttir.multiply"(%x, %y) : ({kind}, {kind}) -> {kind}
      return %0, %1 : {kind}, {kind}
    }}"""
    given = [chip.put(values(seed + i, "normal", (4, 64), "bfloat16"), "bfloat16") for i in range(2)]
    types = ("bfloat16", "bfloat16")
    found = outputs(chip, text, *(tensor for tensor, _ in given))
    for bits, phases in zip(found, (FIDELITIES[fidelity], 4), strict=True):
        dst = binary("multiply", given[0][1], given[1][1], types, "bfloat16", phases)
        same(bits, packed(dst, "bfloat16", False))


def test_without_an_exact_device_they_say_nothing(seed: int) -> None:
    kind = "tensor<32x32xf32>"
    text = f"""func.func @main(%x: {kind}) -> ({kind}, {kind}) {{
      %0 = "ttir.matmul"(%x, %x) {config("lofi", False)} : ({kind}, {kind}) -> {kind}
      %1 = "ttir.matmul"(%x, %x) : ({kind}, {kind}) -> {kind}
      return %0, %1 : {kind}, {kind}
    }}"""
    with rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions()) as device:
        chip = Chip(device)
        x, _ = chip.put(values(seed, "normal", (32, 32), "float32"), "float32")
        same(*outputs(chip, text, x))
