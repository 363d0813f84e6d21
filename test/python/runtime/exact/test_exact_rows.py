# SPDX-License-Identifier: Apache-2.0
"""Reductions, softmax, norms and convolutions with the chip's arithmetic, bit for bit compared with a slow
reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import ttnn
from chip_ops import (
    ONE,
    SIGN,
    Cut,
    added,
    bf16,
    in_blocks,
    largest,
    norm,
    packed,
    product,
    softmax,
    source,
    sums,
    tile_sum,
    windows,
    with_bias,
)
from exact_values import KINDS, Chip, same, values

TYPES = ("bfloat16", "float32")
# What the library takes for reductions: HiFi3, and a destination of 32 bits.
WIDE, PHASES = True, 3


def wide(dtype: str) -> bool:
    return dtype == "float32"


def config(fidelity: str, wide: bool, approximate: bool = False, **more: bool) -> ttnn.WormholeComputeKernelConfig:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity), fp32_dest_acc_en=wide, math_approx_mode=approximate, **more
    )


def factor(value: float, dtype: str, wide: bool = WIDE) -> int:
    """A factor as the matrix unit gets it."""
    if dtype != "float32":
        return bf16(value)
    return int(source(np.float32([value]).view(np.uint32), dtype, wide)[0])


def reduced(chip: Chip, name: str, bits: np.ndarray, x: object, dtype: str, row: bool) -> None:
    found = Chip.bits(getattr(ttnn, name)(x, -1 if row else -2, True))
    lines = source(bits if row else bits.T, dtype, WIDE)
    if name in ("sum", "mean"):
        scale = factor(1 / lines.shape[1], dtype) if name == "mean" else ONE
        dst = sums(lines, scale, dtype, WIDE, PHASES, along_row=row)
    else:
        sign = SIGN if name == "min" else np.uint32(0)
        dst = largest(lines ^ sign, dtype, WIDE, row) ^ sign
    same(found.reshape(-1), packed(dst.reshape(-1, 1), dtype, WIDE).reshape(-1))


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
    for how, width, phases in ((config("HiFi3", True), True, 3), (config("HiFi4", False), False, 4)):
        found = Chip.bits(ttnn.softmax(x, dim=-1, numeric_stable=stable, compute_kernel_config=how))
        same(found, packed(softmax(bits, dtype, width, stable, phases), dtype, width))


def test_configs_of_the_library(chip: Chip, seed: int) -> None:
    """Without a config, calls are as with the one that the library takes."""
    for dtype in TYPES:
        x, _ = chip.put(values(seed, "normal", (9, 75), dtype), dtype)
        for op, how in (
            (ttnn.softmax, config("HiFi3", True, approximate=not wide(dtype))),
            (ttnn.rms_norm, config("HiFi4", False, approximate=True)),
        ):
            same(Chip.bits(op(x)), Chip.bits(op(x, compute_kernel_config=how)))


def test_softmax_along_another_dimension(chip: Chip, seed: int) -> None:
    x, bits = chip.put(values(seed, "normal", (9, 20), "bfloat16"), "bfloat16")
    dst = softmax(np.ascontiguousarray(bits.T), "bfloat16", True, True, 3)
    found = ttnn.softmax(x, dim=0, numeric_stable=True, compute_kernel_config=config("HiFi3", True))
    same(Chip.bits(found), packed(dst, "bfloat16", True).T)


@pytest.mark.parametrize("parameters", [0, 1, 2])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms(chip: Chip, name: str, dtype: str, parameters: int, seed: int) -> None:
    for kind in ("normal", "near", "edge"):
        x, bits = chip.put(values(seed, kind, (5, 75), dtype), dtype)
        given = [chip.put(values(seed + 1 + i, "normal", (75,), dtype), dtype) for i in range(parameters)]
        named = {n: t for n, (t, _) in zip(("weight", "bias"), given, strict=False)}
        centred = name == "layer_norm"
        for width in (True,) if centred else (True, False):  # the op of the dialect has no config for the first
            how = config("HiFi4", width)
            found = Chip.bits(getattr(ttnn, name)(x, epsilon=1e-3, compute_kernel_config=how, **named))
            dst = norm(bits, dtype, width, 1e-3, [b for _, b in given], centred)
            same(found, packed(dst, dtype, width))


# Images [n, h, w, c], channels out, kernel, stride, padding; the plan's blocks of K, and channels in each.
CONVOLUTIONS = {
    "windows of two columns": ((2, 7, 7, 12), 10, (3, 2), (2, 1), (1, 0), (6, 8)),
    "rows": ((1, 32, 32, 16), 9, (3, 3), (1, 1), (1, 1), (3, 16)),
    "blocks of two tiles": ((1, 48, 16, 8), 9, (3, 5), (1, 1), (1, 1), (3, 8)),
    "channels among cores": ((1, 6, 6, 256), 40, (3, 3), (1, 1), (1, 1), (24, 32)),
    "channels that do not divide": ((1, 5, 5, 200), 40, (2, 3), (1, 2), (0, 1), (14, 32)),
    "one row": ((1, 9, 9, 64), 33, (1, 3), (1, 1), (0, 1), (8, 8)),
}


@pytest.mark.parametrize("in_l1", [False, True], ids=["spilled", "packer_l1_acc"])
@pytest.mark.parametrize("biased", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b", "float32"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(chip: Chip, name: str, dtype: str, biased: bool, in_l1: bool, seed: int) -> None:
    """K in blocks of a row of the window, or of some channels of it, as the plan says."""
    (n, height, width, channels), out, kernel, stride, padding, expected = CONVOLUTIONS[name]
    x, bits = chip.put(values(seed, "normal", (1, 1, n * height * width, channels), dtype), dtype)
    weights = values(seed + 1, "normal", (out, channels, *kernel), "bfloat16")
    w, _ = chip.put(weights, "bfloat16")
    b, bias = chip.put(values(seed + 2, "normal", (1, 1, 1, out), "bfloat16"), "bfloat16")
    found, plan = chip.planned(
        lambda: ttnn.conv2d(
            input_tensor=x, weight_tensor=w, bias_tensor=b if biased else None, device=chip.device, batch_size=n,
            in_channels=channels, out_channels=out, input_height=height, input_width=width, kernel_size=kernel,
            stride=stride, padding=padding, compute_config=config("HiFi3", wide(dtype), packer_l1_acc=in_l1),
        ),
        "Conv2d",
    )  # fmt: skip
    cut, blocks = Cut.of(plan), plan["blocks"]
    assert dtype != "bfloat16" or (blocks["num_blocks"], blocks["channels"]) == expected
    rows = in_blocks(windows(bits.reshape(n, height, width, channels), kernel, stride, padding), kernel, blocks)
    filters = in_blocks(weights.transpose(0, 2, 3, 1).reshape(out, -1), kernel, blocks)
    dst = product(source(rows, dtype, wide(dtype)), np.ascontiguousarray(filters.T), 3, wide(dtype), cut, biased)
    if biased:
        dst = with_bias(dst, bias.reshape(1, out), "bfloat16", wide(dtype))
    found = found[0] if isinstance(found, (tuple, list)) else found
    same(Chip.bits(found).reshape(dst.shape), packed(dst, found.dtype.name.lower(), wide(dtype)))


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b", "float32"])
def test_convolutions_of_pixels_are_products(chip: Chip, dtype: str, seed: int) -> None:
    """K in blocks, whose partial sums leave the destination."""
    size, channels, out = 7, 512, 40
    x, image = chip.put(values(seed, "normal", (1, 1, size * size, channels), dtype), dtype)
    weights = values(seed + 1, "normal", (out, channels, 1, 1), "bfloat16")
    w, _ = chip.put(weights, "bfloat16")
    found, plan = chip.planned(
        lambda: ttnn.conv2d(
            input_tensor=x, weight_tensor=w, device=chip.device, in_channels=channels, out_channels=out,
            batch_size=1, input_height=size, input_width=size, kernel_size=(1, 1), stride=(1, 1), padding=(0, 0),
        )
    )  # fmt: skip
    cut = Cut.of(plan)
    assert (cut.tiles, cut.in_l1, plan["compute"]["math_fidelity"]) == (2, False, "HiFi4")
    found = found[0] if isinstance(found, (tuple, list)) else found
    filters = np.ascontiguousarray(weights.reshape(out, channels).T)
    read = source(image.reshape(-1, channels), dtype, wide(dtype))
    dst = product(read, filters, 4, wide(dtype), cut)
    same(Chip.bits(found).reshape(dst.shape), packed(dst, found.dtype.name.lower(), wide(dtype)))


def test_what_is_not_published_is_rounded_by_the_packer(chip: Chip) -> None:
    """A sum over more than the last two dimensions: computed as by default, and packed with ties away from zero."""
    x = torch.tensor([[[1.0, 2**-8]]]).bfloat16()
    given = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=chip.device)
    with ttnn.manage_device(0) as other:
        plain = ttnn.to_torch(ttnn.sum(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=other), (0, 1, 2), True))
    assert plain.item() == 1.0
    assert ttnn.to_torch(ttnn.sum(given, (0, 1, 2), True)).item() == 1 + 2**-7


def line(x: np.ndarray, dim: int) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(x, dim, -1)).reshape(-1, x.shape[dim])


def stage(name: str, x: np.ndarray, dim: int, dtype: str, scale: int, exact: bool) -> np.ndarray:
    """One dimension of x [...], which becomes 1."""
    lines = source(line(x, dim), dtype, exact)
    row = dim == x.ndim - 1
    sign = SIGN if name == "min" else np.uint32(0)
    dst = (
        largest(lines ^ sign, dtype, exact, row) ^ sign
        if name in ("max", "min")
        else sums(lines, scale, dtype, exact, PHASES, along_row=row)
    )
    shape = [size for d, size in enumerate(x.shape) if d != dim]
    return np.expand_dims(dst.reshape(shape), dim)


DIMS = [(0,), (1,), (0, 1), (0, 3), (1, 2)]


@pytest.mark.parametrize("dims", DIMS, ids=str)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions_over_other_dimensions(chip: Chip, name: str, dtype: str, dims: tuple[int, ...], seed: int) -> None:
    for kind in ("normal", "edge"):
        x, bits = chip.put(values(seed, kind, (3, 5, 4, 37), dtype), dtype)
        found = Chip.bits(getattr(ttnn, name)(x, list(dims), True))
        count = int(np.prod([bits.shape[d] for d in dims]))
        scale = factor(1 / count, dtype) if name == "mean" else ONE
        adds = name == "sum" and dtype == "bfloat16"
        order = sorted(dims, reverse=True)
        if adds:
            order.sort(key=lambda d: d >= 2)
        for i, dim in enumerate(order):
            final = i + 1 == len(order)
            if adds:
                if dim < 2:
                    result = added(source(line(bits, dim), dtype, True))
                    bits = np.expand_dims(result.reshape([s for d, s in enumerate(bits.shape) if d != dim]), dim)
                else:
                    bits = stage(name, bits, dim, "float32", ONE, True)
            else:
                bits = stage(name, bits, dim, dtype, scale if i == 0 else ONE, WIDE)
            if not final:
                bits = packed(bits, "float32" if adds else dtype, WIDE)
        same(found, packed(bits, dtype, WIDE))


TILES = [(1, 32, 32), (1, 9, 21), (17, 18), (1, 1)]


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [(d, s) for d in TYPES for s in [(3, 40, 70), (2, 5, 7), (40, 20), *TILES]] + [("bfloat8_b", s) for s in TILES],
    ids=str,
)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums_over_the_last_two_dimensions(
    chip: Chip, name: str, dtype: str, shape: tuple[int, ...], seed: int
) -> None:
    """Along rows and then down columns, or of a single tile in one kernel."""
    count = shape[-1] * shape[-2]

    def scale(value: float) -> int:
        return ONE if name == "sum" else factor(value, dtype)

    for kind in KINDS:
        x, bits = chip.put(values(seed, kind, shape, dtype), dtype)
        found = Chip.bits(getattr(ttnn, name)(x, [-2, -1], True)).reshape(-1)
        planes = source(bits, dtype, WIDE).reshape(-1, *shape[-2:])
        if len(planes) == 1 and max(shape[-2:]) <= 32:
            dst = tile_sum(planes[0], scale(float(np.sqrt(np.float32(1 / count)))), dtype, WIDE, PHASES)
        else:
            middle = "float32" if name == "sum" else dtype
            rows = packed(sums(planes.reshape(-1, shape[-1]), ONE, dtype, WIDE, PHASES), middle, WIDE)
            rows = source(rows, middle, WIDE).reshape(-1, shape[-2])
            dst = sums(rows, scale(1 / count), middle, WIDE, PHASES, along_row=False)
        same(found, packed(dst.reshape(-1, 1), dtype, WIDE).reshape(-1))


def test_sums_of_rows_stay_f32_where_they_are_summed_as_f32(chip: Chip, seed: int) -> None:
    """Averages bf16 over the last two dimensions; the intermediate means are bf16."""
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    x, bits = chip.put(values(seed, "normal", (3, 40, 70), "bfloat16"), "bfloat16")
    for name, middle, scale in (("sum", "float32", ONE), ("mean", "bfloat16", bf16(1 / 2800))):
        found = Chip.bits(getattr(ttnn, name)(x, [-2, -1], True, compute_kernel_config=config)).reshape(-1)
        rows = packed(sums(bits.reshape(-1, 70), ONE, "bfloat16", True), middle, True)
        dst = sums(source(rows, middle, True).reshape(-1, 40), scale, middle, True, along_row=False)
        same(found, packed(dst.reshape(-1, 1), "bfloat16", True).reshape(-1))


@pytest.mark.parametrize(
    "case", [((2, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)), ((6, 6), (3, 3), (2, 2))], ids=str
)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "bfloat8_b"])
@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pools(chip: Chip, name: str, dtype: str, case: tuple[tuple[int, int], ...], seed: int) -> None:
    n, h, w, c = 2, 9, 8, 20
    kernel, stride, padding = case
    average = name == "avg_pool2d"
    for kind in ("normal", "edge"):
        x, bits = chip.put(values(seed, kind, (1, 1, n * h * w, c), dtype), dtype)
        result = getattr(ttnn, name)(x, batch_size=n, input_h=h, input_w=w, channels=c, kernel_size=list(kernel),
                                     stride=list(stride), padding=list(padding), dilation=[1, 1], layout=x.layout,
                                     dtype=x.dtype)  # fmt: skip
        found, out = Chip.bits(result), result.dtype.name.lower()
        read = source(bits, dtype, wide(dtype)).reshape(n, h, w, c)
        rows = windows(read, kernel, stride, padding, 0 if average else 0xFF800000)
        area = kernel[0] * kernel[1]
        lines = np.ascontiguousarray(rows.reshape(len(rows), area, c).swapaxes(1, 2)).reshape(-1, area)
        factor = int(np.float32(1 / area).view(np.uint32)) & 0xFFFF0000
        dst = (
            sums(lines, factor, dtype, wide(dtype), along_row=False)
            if average
            else largest(lines, dtype, wide(dtype), along_row=False)
        )
        same(found.reshape(-1, c), packed(dst.reshape(-1, c), out, wide(dtype)))


def test_means_that_do_not_count_padding(chip: Chip, seed: int) -> None:
    h, w, c = 5, 7, 3
    x, bits = chip.put(values(seed, "normal", (1, 1, h * w, c), "bfloat16"), "bfloat16")
    found = Chip.bits(
        ttnn.avg_pool2d(x, batch_size=1, input_h=h, input_w=w, channels=c, kernel_size=[3, 3], stride=[2, 2],
                        padding=[1, 1], count_include_pad=False)
    ).reshape(-1, c)  # fmt: skip
    image, places = bits.reshape(h, w, c), []
    for y in range(-1, h - 1, 2):
        for z in range(-1, w - 1, 2):
            inside = [(a, b) for a in range(y, y + 3) for b in range(z, z + 3)]
            counted = sum(0 <= a < h and 0 <= b < w for a, b in inside)
            values_ = [image[a, b] if 0 <= a < h and 0 <= b < w else np.zeros(c, np.uint32) for a, b in inside]
            factor = int(np.float32(1 / counted).view(np.uint32)) & 0xFFFF0000
            places.append(sums(np.stack(values_, axis=1), factor, "bfloat16", False, along_row=False))
    same(found, packed(np.stack(places), "bfloat16", False))
