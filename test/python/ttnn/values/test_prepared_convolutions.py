# SPDX-License-Identifier: Apache-2.0
"""Weights of convolutions in the type that weights_dtype says, prepared by the first call and used by later ones."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
import torch
import ttnn

TYPES = {"float32": ttnn.float32, "bfloat16": ttnn.bfloat16, "bfloat8_b": ttnn.bfloat8_b, "bfloat4_b": ttnn.bfloat4_b}
# By name: input channels, output channels, groups, size of the window.
CASES = {
    "pixels": (8, 48, 1, 1),
    "windows": (3, 20, 1, 3),
    "groups": (12, 24, 3, 3),
    "depthwise": (40, 40, 40, 3),
    "one": (1, 1, 1, 1),
}


def rounded(values: torch.Tensor, kind: str) -> torch.Tensor:
    """Returns what a tensor of that type has of a matrix, by way of the host."""
    tiles = ttnn.TILE_LAYOUT
    return ttnn.to_torch(ttnn.from_torch(values, dtype=TYPES[kind], layout=tiles)).float()


def in_library_order(weight: torch.Tensor, groups: int, kind: str) -> torch.Tensor:
    """Returns weights [O, I / groups, H, W] after rounding as a matrix [I * H * W, O], with zeros for other groups."""
    outs, channels = weight.shape[0] // groups, weight.shape[1]
    whole = torch.zeros(weight.shape[0], groups * channels, *weight.shape[2:])
    for group in range(groups):
        part = slice(group * outs, (group + 1) * outs)
        whole[part, group * channels : (group + 1) * channels] = weight[part]
    matrix = rounded(whole.permute(1, 2, 3, 0).reshape(-1, weight.shape[0]), kind)
    whole = matrix.reshape(*whole.shape[1:], -1).permute(3, 0, 1, 2)
    parts = [
        whole[group * outs : (group + 1) * outs, group * channels : (group + 1) * channels] for group in range(groups)
    ]
    return torch.cat(parts)


@pytest.mark.parametrize("transposed", [False, True], ids=["forward", "transposed"])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("case", CASES)
def test_weights_are_rounded_as_the_library_does(case: str, kind: str, transposed: bool, device: ttnn.Device) -> None:
    ins, outs, groups, window = CASES[case]
    torch.manual_seed(3)
    image = torch.randn(2, ins, 5, 4).bfloat16()
    weight = torch.randn(outs, ins // groups, window, window) * torch.logspace(-3, 3, outs)[:, None, None, None]
    bias = torch.randn(1, 1, 1, outs)
    kept = in_library_order(weight, groups, kind)
    given, used = weight, kept
    function: Any = torch.nn.functional.conv2d
    name: Any = ttnn.conv2d
    if transposed:  # [I, O / groups, H, W]
        function, name = torch.nn.functional.conv_transpose2d, ttnn.conv_transpose2d

        def exchanged(values: torch.Tensor) -> torch.Tensor:
            parts = values.unflatten(0, (groups, -1)).transpose(1, 2)
            return parts.flatten(0, 1).contiguous()

        given, used = exchanged(weight), exchanged(kept)
    expected = function(
        image.double(), used.double(), rounded(bias, kind).flatten().double(), padding=window // 2, groups=groups
    )
    options: dict[str, Any] = {
        "input_tensor": ttnn.from_torch(image.permute(0, 2, 3, 1).reshape(1, 1, 40, ins), device=device),
        "in_channels": ins, "out_channels": outs, "batch_size": 2, "input_height": 5, "input_width": 4,
        "kernel_size": (window, window), "padding": (window // 2, window // 2), "groups": groups, "device": device,
        "conv_config": ttnn.Conv2dConfig(weights_dtype=TYPES[kind]), "dtype": ttnn.float32,
    }  # fmt: skip
    plain: dict[str, Any] = {"weight_tensor": ttnn.from_torch(given), "bias_tensor": ttnn.from_torch(bias)}
    first, (filters, offsets) = name(**options, **plain, return_weights_and_bias=True)
    assert filters.dtype == offsets.dtype == TYPES[kind] and filters.is_on_device() and offsets.is_on_device()
    again, kept_both = name(**options, weight_tensor=filters, bias_tensor=offsets, return_weights_and_bias=True)
    assert kept_both[0] is filters and kept_both[1] is offsets
    for found in (first, again, name(**options, **plain)):
        values = ttnn.to_torch(found).double().reshape(2, *expected.shape[2:], outs).permute(0, 3, 1, 2)
        torch.testing.assert_close(values, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))


def test_prepared_weights_are_their_own(device: ttnn.Device) -> None:
    """Keeps the prepared weights of the first call when their source changes; a config may omit the type."""
    weight = ttnn.from_torch(torch.ones(4, 2, 1, 1), dtype=ttnn.float32)
    options: dict[str, Any] = {
        "input_tensor": ttnn.from_torch(torch.ones(1, 1, 4, 2), device=device), "in_channels": 2, "out_channels": 4,
        "batch_size": 1, "input_height": 2, "input_width": 2, "kernel_size": (1, 1), "device": device,
    }  # fmt: skip
    first, (prepared, nothing) = ttnn.conv2d(**options, weight_tensor=weight, return_weights_and_bias=True)
    assert nothing is None and prepared.dtype == ttnn.float32
    ttnn.fill(weight, 2.0, output_tensor=weight)
    for tensor, factor in ((prepared, 2.0), (weight, 4.0)):
        found = ttnn.to_torch(ttnn.conv2d(**options, weight_tensor=tensor))
        assert torch.equal(found, torch.full((1, 1, 4, 4), factor))
    assert torch.equal(ttnn.to_torch(first), torch.full((1, 1, 4, 4), 2.0))


def test_a_sequence_prepares_its_weights(device: ttnn.Device) -> None:
    torch.manual_seed(4)
    image, weight = torch.randn(1, 6, 9), torch.randn(16, 6, 3)
    rows = ttnn.from_torch(image.transpose(1, 2).reshape(1, 1, 9, 6), device=device)
    config = ttnn.Conv1dConfig(weights_dtype=ttnn.bfloat8_b)
    sizes: dict[str, Any] = {
        "in_channels": 6,
        "out_channels": 16,
        "batch_size": 1,
        "input_length": 9,
        "kernel_size": 3,
        "padding": 1,
    }
    found, length, (prepared, _) = ttnn.conv1d(
        input_tensor=rows, weight_tensor=ttnn.from_torch(weight), device=device, conv_config=config, **sizes,
        return_output_dim=True, return_weights_and_bias=True,
    )  # fmt: skip
    assert length == 9 and prepared.dtype == ttnn.bfloat8_b
    kept = in_library_order(weight[..., None], 1, "bfloat8_b")[..., 0]
    expected = torch.nn.functional.conv1d(image, kept, padding=1)
    values = ttnn.to_torch(found).reshape(9, 16).T[None]
    torch.testing.assert_close(values, expected, rtol=1e-4, atol=1e-4)


def test_exact_convolutions_round_their_weights() -> None:
    device = ttnn.open_device(device_id=0, exact=True, l1_small_size=24576)
    image, weight = torch.ones(1, 1, 16, 32), torch.full((32, 32, 1, 1), 1.0)
    weight[1] = 2**-9  # below the last bit next to 1
    found = ttnn.conv2d(
        input_tensor=ttnn.from_torch(image, dtype=ttnn.bfloat16, device=device),
        weight_tensor=ttnn.from_torch(weight), device=device, in_channels=32, out_channels=32, batch_size=1,
        input_height=4, input_width=4, kernel_size=(1, 1), conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b),
    )  # fmt: skip
    expected = torch.full((1, 1, 16, 32), 32.0)
    expected[..., 1] = 0.0
    assert torch.equal(ttnn.to_torch(found).float(), expected)
    ttnn.close_device(device)


def test_weights_that_fit_no_channels(device: ttnn.Device) -> None:
    sizes: dict[str, Any] = {"in_channels": 4, "out_channels": 6, "batch_size": 1, "input_height": 2, "input_width": 2}
    with pytest.raises(ttnn.OpError, match=r"weight has shape \[6, 4, 1, 1\], which are not kernels of 6 output"):
        ttnn.prepare_conv_weights(
            weight_tensor=ttnn.from_torch(torch.ones(6, 4, 1, 1)), input_memory_config=ttnn.DRAM_MEMORY_CONFIG,
            input_layout=ttnn.TILE_LAYOUT, weights_format="OIHW", **sizes, kernel_size=(1, 1), stride=(1, 1),
            padding=(0, 0), dilation=(1, 1), has_bias=False, groups=5, input_dtype=ttnn.float32, device=device,
            conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b),
        )  # fmt: skip


SIZES: dict[str, Any] = {"in_channels": 16, "out_channels": 24, "batch_size": 1, "input_height": 5, "input_width": 4}


@pytest.mark.parametrize("transposed", [False, True], ids=["forward", "transposed"])
def test_the_shape_of_prepared_weights(transposed: bool, device: ttnn.Device) -> None:
    """A matrix with another shape has its values elsewhere."""
    function: Any = ttnn.conv_transpose2d if transposed else ttnn.conv2d
    image = ttnn.from_torch(torch.randn(1, 1, 20, 16), device=device)
    filters = [16, 24, 3, 3] if transposed else [24, 16, 3, 3]
    for shape in ([1, 1, 144, 24], [1, 1, 24, 144], [1, 1, 72, 48], [1, 1, 3456, 1], [1, 1, 144, 23], filters):
        weight = ttnn.from_torch(torch.randn(shape), device=device)
        call = functools.partial(
            function, input_tensor=image, weight_tensor=weight, device=device, kernel_size=(3, 3), **SIZES
        )
        if shape in ([1, 1, 144, 24], filters):
            call()
            continue
        prefix = rf"ttnn\.{function.__name__}: weight_tensor has shape {re.escape(str(shape))}; expected "
        with pytest.raises(ttnn.OpError, match=prefix + re.escape(f"{filters}, or prepared [1, 1, 144, 24]")):
            call()


def test_the_shape_of_prepared_weights_of_groups_and_sequences(device: ttnn.Device) -> None:
    image = ttnn.from_torch(torch.randn(1, 1, 20, 16), device=device)
    for shape, expected in (([1, 1, 72, 24], None), ([1, 1, 24, 72], r"\[24, 8, 3, 3\], or prepared \[1, 1, 72, 24\]")):
        weight = ttnn.from_torch(torch.randn(shape), device=device)
        options: dict[str, Any] = {"input_tensor": image, "weight_tensor": weight, "device": device, "groups": 2}
        if expected is None:
            ttnn.conv2d(**options, kernel_size=(3, 3), **SIZES)
            continue
        with pytest.raises(ttnn.OpError, match=expected):
            ttnn.conv2d(**options, kernel_size=(3, 3), **SIZES)
    rows: dict[str, Any] = {"in_channels": 16, "out_channels": 24, "batch_size": 1, "input_length": 20}
    for shape, accepted in (([1, 1, 48, 24], True), ([1, 1, 24, 48], False), ([24, 16, 3, 1], True)):
        call = functools.partial(
            ttnn.conv1d, input_tensor=image, weight_tensor=ttnn.from_torch(torch.randn(shape), device=device),
            device=device, kernel_size=3, **rows,
        )  # fmt: skip
        if accepted:
            call()
            continue
        with pytest.raises(ttnn.OpError, match=r"\[24, 16, 3, 1\], or prepared \[1, 1, 48, 24\]"):
            call()


@pytest.mark.parametrize("name", ["in_channels", "out_channels", "input_height", "input_width"])
def test_empty_images_are_refused(name: str, device: ttnn.Device) -> None:
    """Though a program may have them; an empty batch is computed."""
    sizes = SIZES | {name: 0}
    image = ttnn.from_torch(torch.zeros(1, 1, sizes["input_height"] * sizes["input_width"], sizes["in_channels"]))
    weight = ttnn.from_torch(torch.zeros(sizes["out_channels"], sizes["in_channels"], 1, 1))
    options: dict[str, Any] = {"weight_tensor": weight, "device": device, "kernel_size": (1, 1), "padding": (1, 1)}
    with pytest.raises(ttnn.OpError, match=rf"ttnn\.conv2d: attribute '{name}' is 0; expected a positive size"):
        ttnn.conv2d(input_tensor=image, **options, **sizes)
    nothing = ttnn.from_torch(torch.zeros(1, 1, 0, 16))
    options["weight_tensor"] = ttnn.from_torch(torch.zeros(24, 16, 1, 1))
    found = ttnn.conv2d(input_tensor=nothing, **options, **SIZES | {"batch_size": 0})
    assert found.shape == (1, 1, 0, 24)


@pytest.mark.parametrize("name", ["kernel_size", "stride", "padding", "dilation"])
def test_numbers_beyond_32_bits(name: str, device: ttnn.Device) -> None:
    image = ttnn.from_torch(torch.randn(1, 1, 20, 16), device=device)
    weight = ttnn.from_torch(torch.randn(24, 16, 3, 3), device=device)
    options: dict[str, Any] = {"kernel_size": (3, 3)} | SIZES | {name: (2**31, 1)}
    least = 0 if name == "padding" else 1
    with pytest.raises(
        ttnn.OpError, match=rf"ttnn.conv2d: {name} is \[2147483648, 1\]; expected numbers from {least} to 2147483647"
    ):
        ttnn.conv2d(input_tensor=image, weight_tensor=weight, device=device, **options)
