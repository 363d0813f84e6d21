# SPDX-License-Identifier: Apache-2.0
"""Products with the chip's arithmetic, bit for bit compared with a slow reference that shares no code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import ttnn
from chip_ops import Cut, packed, product, source, unary, with_bias
from exact_values import FORMATS, KINDS, Chip, same, values

FIDELITIES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def config(fidelity: str, wide: bool, **more: Any) -> Any:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity), fp32_dest_acc_en=wide, math_approx_mode=False, **more
    )


def check(chip: Chip, kind: str, types: tuple[str, str], out: str, fidelity: str, wide: bool, seed: int,
          shape: tuple[int, int, int] = (5, 70, 37)) -> None:  # fmt: skip
    m, k, n = shape
    a, a_bits = chip.put(values(seed, kind, (m, k), types[0]), types[0])
    b, b_bits = chip.put(values(seed + 1, kind, (k, n), types[1]), types[1])
    how = {"dtype": getattr(ttnn, out), "compute_kernel_config": config(fidelity, wide)}
    found, plan = chip.planned(lambda: ttnn.matmul(a, b, **how))
    cut = Cut.of(plan)
    dst = product(source(a_bits, types[0], wide), source(b_bits, types[1], wide), FIDELITIES[fidelity], wide, cut)
    same(Chip.bits(found), packed(dst, out, wide))


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("kind", KINDS)
def test_fidelities(chip: Chip, kind: str, fidelity: str, wide: bool, seed: int) -> None:
    check(chip, kind, ("float32", "float32"), "float32", fidelity, wide, seed)
    check(chip, kind, ("bfloat16", "bfloat16"), "bfloat16", fidelity, wide, seed)


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("out", FORMATS)
@pytest.mark.parametrize("given", FORMATS)
def test_formats(chip: Chip, given: str, out: str, wide: bool, seed: int) -> None:
    for kind in ("normal", "edge"):
        check(chip, kind, (given, "bfloat16"), out, "HiFi2", wide, seed)
        check(chip, kind, ("bfloat16", given), out, "HiFi4", wide, seed)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 32, 1), (33, 33, 17), (2, 512, 16), (64, 31, 48)], ids=str)
def test_shapes(chip: Chip, shape: tuple[int, int, int], seed: int) -> None:
    check(chip, "normal", ("bfloat16", "bfloat16"), "bfloat16", "HiFi4", True, seed, shape)


def test_sums_that_cancel(chip: Chip, seed: int) -> None:
    """To nothing, and to a negative unit, which a defect of the chip makes 2^27 times as large (tt-metal #38306)."""
    a = values(seed, "near", (8, 64), "float32")
    b = values(seed + 1, "near", (64, 8), "float32")
    a[:, 32:], b[32:] = a[:, :32] ^ np.uint32(1 << 31), b[:32]
    b[32:] += (np.arange(8, dtype=np.uint32) % 3) << np.uint32(13)
    (left, _), (right, _) = chip.put(a, "float32"), chip.put(b, "float32")
    for fidelity, phases in FIDELITIES.items():
        for wide in (False, True):
            found, plan = chip.planned(
                lambda: ttnn.matmul(left, right, compute_kernel_config=config(fidelity, wide))  # noqa: B023
            )
            dst = product(source(a, "float32", wide), source(b, "float32", wide), phases, wide, Cut.of(plan))
            same(Chip.bits(found), dst)


def blocks_of(tiles: int) -> Any:
    return ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(1, 1), in0_block_w=tiles, out_subblock_h=1, out_subblock_w=1,
        per_core_M=1, per_core_N=1,
    )  # fmt: skip


@pytest.mark.parametrize("biased", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("in_l1", [False, True], ids=["spilled", "packer_l1_acc"])
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("tiles", [1, 2, 4])
def test_blocks_of_k(chip: Chip, tiles: int, wide: bool, in_l1: bool, biased: bool, seed: int) -> None:
    out = "float32" if wide else "bfloat16"
    a, a_bits = chip.put(values(seed, "normal", (7, 128), "bfloat16"), "bfloat16")
    b, b_bits = chip.put(values(seed + 1, "normal", (128, 20), "bfloat16"), "bfloat16")
    bias, bias_bits = chip.put(values(seed + 2, "normal", (1, 20), "bfloat16"), "bfloat16")
    how = {"program_config": blocks_of(tiles), "dtype": getattr(ttnn, out),
           "compute_kernel_config": config("HiFi2", wide, packer_l1_acc=in_l1)}  # fmt: skip
    found = ttnn.linear(a, b, bias=bias, **how) if biased else ttnn.matmul(a, b, **how)
    dst = product(a_bits, b_bits, 2, wide, Cut(tiles, in_l1), biased)
    if biased:
        dst = with_bias(dst, bias_bits, "bfloat16", wide)
    same(Chip.bits(found), packed(dst, out, wide))


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
def test_linear(chip: Chip, wide: bool, activation: str, seed: int) -> None:
    out = "float32" if wide else "bfloat16"
    a, a_bits = chip.put(values(seed, "normal", (3, 40), "bfloat16"), "bfloat16")
    b, b_bits = chip.put(values(seed + 1, "normal", (40, 24), "bfloat16"), "bfloat16")
    bias, bias_bits = chip.put(values(seed + 2, "normal", (1, 24), "bfloat16"), "bfloat16")
    how = {"activation": activation, "dtype": getattr(ttnn, out), "compute_kernel_config": config("HiFi4", wide)}
    found, plan = chip.planned(lambda: ttnn.linear(a, b, bias=bias, **how))
    dst = with_bias(product(a_bits, b_bits, 4, wide, Cut.of(plan), True), bias_bits, "bfloat16", wide)
    if activation == "relu":
        dst = np.where(dst >= np.uint32(1 << 31), np.uint32(0), dst)
    else:
        dst, _ = unary(activation, dst, out, out)
    same(Chip.bits(found), packed(dst, out, wide))


def test_batches_and_transposed_operands(chip: Chip, seed: int) -> None:
    a, a_bits = chip.put(values(seed, "normal", (2, 3, 40, 9), "bfloat16"), "bfloat16")
    b, b_bits = chip.put(values(seed + 1, "normal", (2, 1, 18, 40), "bfloat16"), "bfloat16")
    how = {"transpose_a": True, "transpose_b": True, "compute_kernel_config": config("HiFi4", True)}
    result, plan = chip.planned(lambda: ttnn.matmul(a, b, **how))
    found, cut = Chip.bits(result), Cut.of(plan)
    for i in range(2):
        for j in range(3):
            same(found[i, j], packed(product(a_bits[i, j].T, b_bits[i, 0].T, 4, True, cut), "bfloat16", True))


@pytest.mark.parametrize(
    ("types", "out", "phases", "wide"),
    [
        (("bfloat16", "bfloat16"), "bfloat16", 2, False),
        (("bfloat8_b", "bfloat8_b"), "bfloat8_b", 1, False),
        (("bfloat16", "bfloat8_b"), "bfloat16", 2, False),
        (("float32", "float32"), "float32", 3, True),
    ],
)
def test_defaults_of_the_library(
    chip: Chip, types: tuple[str, str], out: str, phases: int, wide: bool, seed: int
) -> None:
    a, a_bits = chip.put(values(seed, "normal", (4, 192), types[0]), types[0])
    b, b_bits = chip.put(values(seed + 1, "normal", (192, 32), types[1]), types[1])
    found, plan = chip.planned(lambda: ttnn.matmul(a, b))
    cut = Cut.of(plan)
    assert cut == Cut(2, not wide, "float32" if wide else "bfloat16"), "one row of tiles: pairs of tiles of K"
    dst = product(source(a_bits, types[0], wide), source(b_bits, types[1], wide), phases, wide, cut)
    same(Chip.bits(found), packed(dst, out, wide))


@pytest.mark.parametrize("biased", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("in_l1", [False, True], ids=["spilled", "packer_l1_acc"])
@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b", "float32"])
@pytest.mark.parametrize("shape", [(40, 768, 48), (40, 320, 48), (3, 160, 20), (3, 192, 20)], ids=str)
def test_blocks_of_the_library(
    chip: Chip, shape: tuple[int, int, int], dtype: str, in_l1: bool, biased: bool, seed: int
) -> None:
    """K in blocks of an eighth, or of a tile or two; partial sums as the packer config says."""
    m, k, n = shape
    wide = dtype == "float32"
    a, a_bits = chip.put(values(seed, "normal", (m, k), dtype), dtype)
    b, b_bits = chip.put(values(seed + 1, "normal", (k, n), dtype), dtype)
    bias, bias_bits = chip.put(values(seed + 2, "normal", (1, n), "bfloat16"), "bfloat16")
    how = {"compute_kernel_config": config("HiFi2", wide, packer_l1_acc=in_l1)}
    found, plan = chip.planned(lambda: ttnn.linear(a, b, bias=bias, **how) if biased else ttnn.matmul(a, b, **how))
    cut = Cut.of(plan)
    assert cut.tiles == {(40, 768, 48): 3, (40, 320, 48): 1, (3, 160, 20): 1, (3, 192, 20): 2}[shape]
    dst = product(source(a_bits, dtype, wide), source(b_bits, dtype, wide), 2, wide, cut, biased)
    if biased:
        dst = with_bias(dst, bias_bits, "bfloat16", wide)
    same(Chip.bits(found), packed(dst, dtype, wide))


# Of a 1024^3 product of bf16: relative root mean square and PCC of normal inputs, PCC of uniform ones.
PUBLISHED = {
    ("HiFi4", True): (1.7e-3, 0.999999, 0.9978),
    ("HiFi2", True): (4.4e-3, 0.999994, 0.9979),
    ("LoFi", True): (2.6e-2, 0.99990, 0.9983),
    ("HiFi4", False): (2.4e-2, 0.99984, 0.967),
    ("LoFi", False): (2.1e-2, 0.99984, 0.967),
}


def errors(chip: Chip, a: torch.Tensor, b: torch.Tensor, fidelity: str, wide: bool) -> tuple[float, float]:
    left, right = (ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=chip.device) for x in (a, b))
    found = ttnn.to_torch(ttnn.matmul(left, right, compute_kernel_config=config(fidelity, wide))).double()
    exact = a.bfloat16().double() @ b.bfloat16().double()
    rms = float(((found - exact).square().mean() / exact.square().mean()).sqrt())
    return rms, float(torch.corrcoef(torch.stack([found.flatten(), exact.flatten()]))[0, 1])


@pytest.mark.parametrize(("fidelity", "wide"), PUBLISHED, ids=lambda v: {True: "f32", False: "bf16"}.get(v, v))
def test_errors_as_published(chip: Chip, fidelity: str, wide: bool, seed: int) -> None:
    """Within 10 % of the table of a numpy model after the ISA documentation, which keeps all of K in the destination.

    Partial sums of blocks leave it here, in its own width, which rounds nothing that it has not rounded.
    """
    torch.manual_seed(seed)
    rms, pcc, uniform = PUBLISHED[fidelity, wide]
    found, correlation = errors(chip, torch.randn(1024, 1024), torch.randn(1024, 1024), fidelity, wide)
    _, of_uniform = errors(chip, torch.rand(1024, 1024), torch.rand(1024, 1024), fidelity, wide)
    print(f"{fidelity} {'f32' if wide else 'bf16'}: {found:.2e} {1 - correlation:.2e} {of_uniform:.4f}")
    assert found == pytest.approx(rms, rel=0.1)
    assert 1 - of_uniform == pytest.approx(1 - uniform, rel=0.1)
    # The figure has one digit.
    assert round(1 - correlation, 6 if pcc > 0.9999 else 5) == pytest.approx(1 - pcc, rel=0.1, abs=1e-6)
