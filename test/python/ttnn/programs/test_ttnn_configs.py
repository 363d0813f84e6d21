# SPDX-License-Identifier: Apache-2.0
"""Program configs: short forms of fields, fields that are written, and activations that they fuse."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import ttnn

GELU = ttnn.UnaryOpType.GELU
BLOCKS = {"in0_block_w": 1, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 1, "per_core_N": 1}


def plan(**more: Any) -> Any:
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        **{"compute_with_storage_grid_size": (2, 1), "transpose_mcast": False, **BLOCKS, **more}
    )


def test_short_forms() -> None:
    config = plan(fused_activation=(GELU, True))
    assert config.compute_with_storage_grid_size == ttnn.CoreCoord(2, 1)
    assert config.fused_activation == ttnn.UnaryWithParam(GELU, 1.0)
    assert (config.out_block_h, config.out_block_w) == (1, 1)
    forms = [ttnn.UnaryWithParam(GELU, 0.5), ttnn.UnaryWithParam((GELU, 0.5)), ttnn.UnaryWithParam(GELU, params=[0.5])]
    assert all(form == forms[0] for form in forms) and ttnn.UnaryWithParam(GELU).params is None
    assert ttnn.UnaryWithParam(ttnn.UnaryOpType.CLAMP_TSS, -1.0, 1.0).params == [-1.0, 1.0]


def test_fields_are_written_and_checked() -> None:
    config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16)
    config.activation = "relu"
    config.act_block_h_override = 64
    assert config == ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, activation="relu", act_block_h_override=64)
    with pytest.raises(TypeError, match="Conv2dConfig: act_block_h_override is '64'; expected int"):
        config.act_block_h_override = "64"
    with pytest.raises(AttributeError, match="Conv2dConfig has no field 'act_block_height'; there is weights_dtype"):
        config.act_block_height = 64
    with pytest.raises(TypeError, match="transpose_mcast is None; expected bool"):
        plan(transpose_mcast=None)
    with pytest.raises(TypeError, match=r"compute_with_storage_grid_size is \(2, 1, 1\); expected CoreCoord"):
        plan(compute_with_storage_grid_size=(2, 1, 1))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(32, 64), (5, 3), (1100, 64)], ids=str)
def test_program_configs_fuse_activations(shape: tuple[int, int], bias: bool, device: ttnn.Device) -> None:
    torch.manual_seed(1)
    a, b, c = torch.randn(shape), torch.randn(shape[1], 32), torch.randn(1, 32)
    x, w, v = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (a, b, c))
    y = ttnn.linear(x, w, bias=v if bias else None, program_config=plan(fused_activation=ttnn.UnaryOpType.RELU))
    expected = torch.relu(a.double() @ b.double() + (c if bias else 0))
    torch.testing.assert_close(ttnn.to_torch(y).double(), expected, rtol=1e-5, atol=1e-4)
    with pytest.raises(ttnn.OpError, match="activation is 'relu' and fused_activation of the program config is 'gelu'"):
        ttnn.linear(x, w, activation="relu", program_config=plan(fused_activation=GELU))


def test_a_field_that_is_written_counts_in_the_next_call(device: ttnn.Device) -> None:
    image, weight = -torch.ones(1, 1, 4, 2), torch.ones(2, 2, 1, 1)
    options: dict[str, Any] = {
        "input_tensor": ttnn.from_torch(image, device=device), "weight_tensor": ttnn.from_torch(weight),
        "in_channels": 2, "out_channels": 2, "batch_size": 1, "input_height": 2, "input_width": 2,
        "kernel_size": (1, 1), "device": device, "conv_config": ttnn.Conv2dConfig(activation="relu"),
    }  # fmt: skip
    assert ttnn.to_torch(ttnn.conv2d(**options)).abs().max() == 0
    again = copy.copy(options["conv_config"])
    options["conv_config"].activation = None
    assert torch.equal(ttnn.to_torch(ttnn.conv2d(**options)), image * 2)
    assert ttnn.to_torch(ttnn.conv2d(**options | {"conv_config": again})).abs().max() == 0
    again.activation = ttnn.UnaryOpType.ABS
    assert torch.equal(ttnn.to_torch(ttnn.conv2d(**options | {"conv_config": again})), image * -2)
