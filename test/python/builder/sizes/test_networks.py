# SPDX-License-Identifier: Apache-2.0
"""One program of a CNN for 20 image sizes, and of an encoder for 50 lengths, with the bits of the fixed programs."""

from __future__ import annotations

import pytest
import torch
from builder.execution.device_tensors import load_binary
from networks import NETWORKS, opened, sizes_for
from op_cases import execute
from random_open import bits


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_one_program_has_the_bits_of_each_fixed_one(name: str) -> None:
    result = opened(name)
    held = 0
    for sizes in sizes_for(name):
        built = result.goldens.at(**sizes)
        inputs = built.programs[0].inputs
        held += all(least <= sizes[size] <= most for size, least, most in result.binary.open_sizes)
        ((expected,),) = execute(load_binary(built.compile()), 0, inputs, (1, 1))
        ((found,),) = execute(result.binary, 0, inputs, (1, 1))
        assert torch.equal(bits(expected), bits(found)), f"{name} at {sizes}"
    assert held == len(sizes_for(name))
