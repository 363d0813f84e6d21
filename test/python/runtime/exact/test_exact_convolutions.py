# SPDX-License-Identifier: Apache-2.0
"""Convolutions in groups and of sequences with the chip's arithmetic, bit for bit compared with a slow reference.

test_exact_rows.py has other convolutions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn
from chip_ops import Cut, in_blocks, packed, product, source, windows, with_bias
from exact_values import Chip, same, values

Bits = np.ndarray


def wide(dtype: str) -> bool:
    return dtype == "float32"


def whole(weights: Bits, groups: int) -> Bits:
    """Returns weights of all channels [out, channels, ...], which are zero for those of other groups."""
    out, part = weights.shape[:2]
    found = np.zeros((out, part * groups, *weights.shape[2:]), weights.dtype)
    for row in range(out):
        group = row // (out // groups)
        found[row, group * part : (group + 1) * part] = weights[row]
    return found


def result_bits(found: Any) -> Bits:
    return Chip.bits(found[0] if isinstance(found, tuple | list) else found)


# Images [n, h, w, c], channels out, kernel, stride, padding, groups; the plan's blocks of K, and channels in each.
GROUPS = {
    "two groups": ((2, 7, 7, 12), 10, (3, 2), (2, 1), (1, 0), 2, (6, 8)),
    "channels of their own": ((1, 6, 6, 40), 40, (3, 3), (1, 1), (1, 1), 40, None),
    "channels among cores": ((1, 6, 6, 256), 40, (3, 3), (1, 1), (1, 1), 4, (24, 32)),
}


@pytest.mark.parametrize("biased", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_products_of_all_channels(chip: Chip, name: str, dtype: str, biased: bool, seed: int) -> None:
    """The library prepares weights of groups as those of all channels, and plans these."""
    (n, height, width, channels), out, kernel, stride, padding, groups, expected = GROUPS[name]
    x, bits = chip.put(values(seed, "normal", (1, 1, n * height * width, channels), dtype), dtype)
    weights = values(seed + 1, "normal", (out, channels // groups, *kernel), "bfloat16")
    w, _ = chip.put(weights, "bfloat16")
    b, bias = chip.put(values(seed + 2, "normal", (1, 1, 1, out), "bfloat16"), "bfloat16")
    found, plan = chip.planned(
        lambda: ttnn.conv2d(
            input_tensor=x, weight_tensor=w, bias_tensor=b if biased else None, device=chip.device, batch_size=n,
            in_channels=channels, out_channels=out, input_height=height, input_width=width, kernel_size=kernel,
            stride=stride, padding=padding, groups=groups,
        ),
        "Conv2d",
    )  # fmt: skip
    cut, blocks = Cut.of(plan), plan["blocks"]
    assert not expected or (blocks["num_blocks"], blocks["channels"]) == expected
    rows = in_blocks(windows(bits.reshape(n, height, width, channels), kernel, stride, padding), kernel, blocks)
    filters = in_blocks(whole(weights, groups).transpose(0, 2, 3, 1).reshape(out, -1), kernel, blocks)
    dst = product(source(rows, dtype, wide(dtype)), np.ascontiguousarray(filters.T), 4, wide(dtype), cut, biased)
    if biased:
        dst = with_bias(dst, bias.reshape(1, out), "bfloat16", wide(dtype))
    same(result_bits(found).reshape(dst.shape), packed(dst, dtype, wide(dtype)))


# Sequences [n, length, c], channels out, kernel, stride, padding, groups; the plan's blocks of K, and channels in each.
SEQUENCES = {
    "channels among cores": ((1, 64, 64), 64, 8, 1, 0, 1, (8, 8)),
    "rows": ((1, 2048, 8), 16, 16, 2, 3, 1, (1, 8)),
    "groups": ((2, 40, 12), 10, 3, 1, 1, 2, None),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_are_images_of_one_row(chip: Chip, name: str, dtype: str, seed: int) -> None:
    (n, length, channels), out, size, stride, padding, groups, expected = SEQUENCES[name]
    kernel = (1, size)
    x, bits = chip.put(values(seed, "normal", (1, 1, n * length, channels), dtype), dtype)
    weights = values(seed + 1, "normal", (out, channels // groups, size), "bfloat16")
    w, _ = chip.put(weights, "bfloat16")
    found, plan = chip.planned(
        lambda: ttnn.conv1d(
            input_tensor=x, weight_tensor=w, device=chip.device, batch_size=n, in_channels=channels, out_channels=out,
            input_length=length, kernel_size=size, stride=stride, padding=padding, groups=groups,
        ),
        "Conv2d",
    )  # fmt: skip
    cut, blocks = Cut.of(plan), plan["blocks"]
    assert not expected or (blocks["num_blocks"], blocks["channels"]) == expected
    rows = in_blocks(windows(bits.reshape(n, 1, length, channels), kernel, (1, stride), (0, padding)), kernel, blocks)
    filters = in_blocks(whole(weights, groups).transpose(0, 2, 1).reshape(out, -1), kernel, blocks)
    dst = product(source(rows, dtype, wide(dtype)), np.ascontiguousarray(filters.T), 4, wide(dtype), cut)
    same(result_bits(found).reshape(dst.shape), packed(dst, dtype, wide(dtype)))
