# SPDX-License-Identifier: Apache-2.0
"""Published networks with random weights, compared with PyTorch."""

from __future__ import annotations

import pybuda
import pytest
import torch
import transformers as hf
from modules import read


@pytest.fixture(scope="module")
def resnet18() -> torch.nn.Module:
    torch.manual_seed(0)
    config = hf.ResNetConfig(
        embedding_size=64, hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic", num_labels=1000
    )
    model = hf.ResNetForImageClassification(config).eval()
    assert sum(p.numel() for p in model.parameters()) == 11_689_512  # as published
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # as if it were trained: else they do nothing
            torch.nn.init.normal_(module.running_mean, std=0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model


# Logits differ by so much of their largest one: rounding, in so many layers. bf16 has 8 bits.
@pytest.mark.long
@pytest.mark.parametrize(("data_format", "distance"), [("Float32", 1e-5), ("Float16_b", 0.03)])
def test_resnet18(resnet18: torch.nn.Module, data_format: str, distance: float) -> None:
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat[data_format])
    images = torch.randn(2, 2, 3, 96, 96)
    module = pybuda.PyTorchModule("resnet18", resnet18)
    results = pybuda.run_inference(module, inputs=[(x,) for x in images])
    for x in images:
        with torch.no_grad():
            expected = resnet18(x).logits
        (got,) = read(results)
        assert got.shape == (2, 1000)
        torch.testing.assert_close(got.float(), expected, rtol=0, atol=distance * expected.abs().max().item())
        assert expected.std() > 0.1  # they tell images apart
