# SPDX-License-Identifier: Apache-2.0
"""Circular buffers of convolutions in groups and of sequences, as ttnn 0.81.1 has them without a card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn
from test_library_plans import Plan, planned

# Batch, height (0: a sequence), width, channels, channels out, kernel, stride, padding, groups; then bytes of the
# buffers of a core (negative: a tensor has them) of the halo's program and of the convolution's.
RECORDED: dict[str, tuple[tuple[int, ...], list[int], list[int]]] = {
    "groups": ((1, 16, 16, 64, 64, 3, 1, 1, 2), [-512, -1152, 16, 16, -12, -16, -28, -28],
               [2048, -2048, 2048, 2048, -2048, -12, 64, -1152]),
    "channels of their own": ((1, 14, 14, 96, 96, 3, 1, 1, 96), [-1024, -2304, 32, 32, -12, -16, -44, -44],
                              [4096, -2048, 4096, 4096, -2048, -20, 64, -2304]),
    "groups of several images": ((2, 33, 17, 48, 96, 5, 2, 2, 2), [-4096, -7136, 16, 16, -40, -40, -92, -88],
                                 [4096, -4096, 8192, 8192, -4096, -44, 64, -7136]),
    "sequence": ((1, 0, 256, 64, 64, 3, 1, 1, 1), [-512, -544, 16, 16, -4, -8, -28, -16],
                 [2048, -2048, 2048, 2048, -2048, -8, 64, -544]),
    "sequence, long windows": ((1, 0, 256, 64, 64, 8, 1, 0, 1), [-512, -624, 16, 16, -4, -4, -16, -16],
                               [4096, -2048, 4096, 4096, -2048, -8, 64, -624]),
    "sequence, few channels": ((1, 0, 2048, 8, 16, 16, 2, 3, 1), [-1024, -1248, 16, 16, -4, -8, -28, -16],
                               [8192, -2048, 8192, 8192, -2048, -8, 64, -1248]),
    "sequence, groups": ((1, 0, 256, 64, 64, 3, 1, 1, 2), [-512, -544, 16, 16, -4, -8, -28, -16],
                         [2048, -2048, 2048, 2048, -2048, -8, 64, -544]),
}  # fmt: skip


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0, l1_small_size=32768)
    yield opened
    ttnn.close_device(opened)


def call(device: ttnn.Device, numbers: tuple[int, ...]) -> None:
    n, height, width, channels, out, kernel, stride, padding, groups = numbers
    image = ttnn.from_torch(torch.zeros(1, 1, n * max(1, height) * width, channels).bfloat16(), device=device)
    common: dict[str, Any] = {
        "input_tensor": image, "device": device, "in_channels": channels, "out_channels": out, "batch_size": n,
        "groups": groups}  # fmt: skip
    if not height:
        weight = ttnn.from_torch(torch.zeros(out, channels // groups, kernel).bfloat16())
        ttnn.conv1d(**common, weight_tensor=weight, input_length=width, kernel_size=kernel, stride=stride,
                    padding=padding)  # fmt: skip
        return
    weight = ttnn.from_torch(torch.zeros(out, channels // groups, kernel, kernel).bfloat16())
    ttnn.conv2d(**common, weight_tensor=weight, input_height=height, input_width=width, kernel_size=[kernel] * 2,
                stride=[stride] * 2, padding=[padding] * 2)  # fmt: skip


def sizes(plan: Plan, name: str) -> list[int]:
    [step] = [step for step in plan if step["operation"] == name]
    own = [buffer for buffer in step["buffers"] if not buffer["shared"]]
    return [-buffer["bytes"] if buffer["globally_allocated"] else buffer["bytes"] for buffer in own]


@pytest.mark.parametrize("name", RECORDED)
def test_buffers_are_those_of_the_library(name: str, device: ttnn.Device) -> None:
    numbers, halo, convolution = RECORDED[name]
    plan = planned(lambda: call(device, numbers))
    assert sizes(plan, "HaloDeviceOperation") == halo
    assert sizes(plan, "Conv2dDeviceOperation") == convolution


def test_sequences_whose_channels_are_groups_have_another_kernel(device: ttnn.Device) -> None:
    """Without a bias; what it has for buffers is not planned."""
    assert not planned(lambda: call(device, (1, 0, 256, 64, 64, 4, 1, 3, 64)))
