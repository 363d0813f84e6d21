# SPDX-License-Identifier: Apache-2.0
"""Reductions, softmax, norms and convolutions with the chip's arithmetic, bit for bit beside a slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import ttnn
from chip_ops import ONE, SIGN, bf16, largest, norm, packed, product, softmax, source, sums, windows, with_bias
from exact_values import KINDS, Chip, same, values

TYPES = ("bfloat16", "float32")


def wide(dtype: str) -> bool:
    return dtype == "float32"


def reduced(chip: Chip, name: str, bits: np.ndarray, x: object, dtype: str, row: bool) -> None:
    found = Chip.bits(getattr(ttnn, name)(x, -1 if row else -2, True))
    lines = source(bits if row else bits.T, dtype, wide(dtype))
    if name in ("sum", "mean"):
        scale = ONE
        if name == "mean":
            share = 1 / lines.shape[1]
            scale = int(np.float32(share).view(np.uint32)) & 0xFFFFE000 if wide(dtype) else bf16(share)
        dst = sums(lines, scale, dtype, wide(dtype), along_row=row)
    else:
        sign = SIGN if name == "min" else np.uint32(0)
        dst = largest(lines ^ sign, dtype, wide(dtype), row) ^ sign
    same(found.reshape(-1), packed(dst.reshape(-1, 1), dtype, wide(dtype)).reshape(-1))


@pytest.mark.parametrize("row", [True, False], ids=["row", "column"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions(chip: Chip, name: str, kind: str, dtype: str, row: bool, seed: int) -> None:
    x, bits = chip.put(values(seed, kind, (45, 70), dtype), dtype)
    reduced(chip, name, bits, x, dtype, row)


@pytest.mark.parametrize("stable", [False, True], ids=["", "stable"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_softmax(chip: Chip, kind: str, dtype: str, stable: bool, seed: int) -> None:
    x, bits = chip.put(values(seed, kind, (9, 75), dtype), dtype)
    found = Chip.bits(ttnn.softmax(x, dim=-1, numeric_stable=stable))
    same(found, packed(softmax(bits, dtype, wide(dtype), stable), dtype, wide(dtype)))


def test_softmax_along_another_dimension(chip: Chip, seed: int) -> None:
    x, bits = chip.put(values(seed, "normal", (9, 20), "bfloat16"), "bfloat16")
    dst = softmax(np.ascontiguousarray(bits.T), "bfloat16", False, True)
    same(Chip.bits(ttnn.softmax(x, dim=0, numeric_stable=True)), packed(dst, "bfloat16", False).T)


@pytest.mark.parametrize("parameters", [0, 1, 2])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms(chip: Chip, name: str, dtype: str, parameters: int, seed: int) -> None:
    for kind in ("normal", "near", "edge"):
        x, bits = chip.put(values(seed, kind, (5, 75), dtype), dtype)
        given = [chip.put(values(seed + 1 + i, "normal", (75,), dtype), dtype) for i in range(parameters)]
        named = {n: t for n, (t, _) in zip(("weight", "bias"), given, strict=False)}
        found = Chip.bits(getattr(ttnn, name)(x, epsilon=1e-3, **named))
        dst = norm(bits, dtype, wide(dtype), 1e-3, [b for _, b in given], name == "layer_norm")
        same(found, packed(dst, dtype, wide(dtype)))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dtype", TYPES)
def test_convolutions(chip: Chip, dtype: str, groups: int, seed: int) -> None:
    n, size, channels, out, kernel, stride, padding = 2, 7, 12, 10, (3, 2), (2, 1), (1, 0)
    image = values(seed, "normal", (n, size, size, channels), dtype)
    weights = values(seed + 1, "normal", (out, channels // groups, *kernel), dtype)
    bias = values(seed + 2, "normal", (1, 1, 1, out), dtype)
    x, _ = chip.put(image.reshape(1, 1, -1, channels), dtype)
    w, _ = chip.put(weights, dtype)
    b, _ = chip.put(bias, dtype)
    found = ttnn.conv2d(
        input_tensor=x, weight_tensor=w, bias_tensor=b, device=chip.device, in_channels=channels, out_channels=out,
        batch_size=n, input_height=size, input_width=size, kernel_size=kernel, stride=stride, padding=padding,
        dilation=(1, 1), groups=groups,
    )  # fmt: skip
    found = Chip.bits(found[0] if isinstance(found, (tuple, list)) else found)
    part, share = channels // groups, out // groups
    made = []
    for g in range(groups):
        rows = windows(np.ascontiguousarray(image[..., g * part : (g + 1) * part]), kernel, stride, padding)
        filters = weights[g * share : (g + 1) * share].transpose(2, 3, 1, 0).reshape(-1, share)
        made.append(product(source(rows, dtype, wide(dtype)), source(filters, dtype, wide(dtype)), 4, wide(dtype)))
    dst = with_bias(np.concatenate(made, axis=1), bias.reshape(1, out), dtype, wide(dtype))
    same(found.reshape(dst.shape), packed(dst, dtype, wide(dtype)))


def test_what_is_not_published_is_rounded_by_the_packer(chip: Chip) -> None:
    """A mean over two dimensions: computed as by default, and packed with ties away from zero."""
    x = torch.tensor([[[1.0, 1.0 + 2**-7]]]).bfloat16()
    given = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=chip.device)
    with ttnn.manage_device() as other:
        plain = ttnn.to_torch(ttnn.mean(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=other), (-1, -2), True))
    assert plain.item() == 1.0
    assert ttnn.to_torch(ttnn.mean(given, (-1, -2), True)).item() == 1 + 2**-7
