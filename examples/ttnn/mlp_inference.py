# SPDX-License-Identifier: Apache-2.0
"""Classifies digits of 28 x 28 pixels with a perceptron whose parameters are preprocessed from PyTorch's module.

python examples/ttnn/mlp_inference.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_model_parameters


class Perceptron(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = torch.nn.Linear(784, 128)
        self.fc2 = torch.nn.Linear(128, 64)
        self.fc3 = torch.nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.fc1(x.flatten(1)))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def perceptron(images: ttnn.Tensor, *, parameters: Any) -> ttnn.Tensor:
    x = ttnn.linear(images, parameters.fc1.weight, bias=parameters.fc1.bias, activation="relu")
    x = ttnn.linear(x, parameters.fc2.weight, bias=parameters.fc2.bias, activation="relu")
    return ttnn.linear(x, parameters.fc3.weight, bias=parameters.fc3.bias, memory_config=ttnn.L1_MEMORY_CONFIG)


def pcc(expected: torch.Tensor, found: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])


def main() -> None:
    torch.manual_seed(0)
    model = Perceptron().eval()
    images = torch.rand(64, 1, 28, 28)
    with torch.no_grad():
        expected = model(images)

    device = ttnn.open_device(device_id=0)
    parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)
    print(parameters)
    flat = ttnn.from_torch(images.flatten(1), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    logits = perceptron(flat, parameters=parameters)
    found = ttnn.to_torch(logits).float()
    print(f"PCC {pcc(expected, found):.6f}")
    torch.testing.assert_close(found, expected, atol=0.01, rtol=0.02)

    classes = ttnn.argmax(logits, dim=-1)
    scores = ttnn.softmax(logits, dim=-1)
    best, _ = ttnn.topk(scores, k=3, dim=-1)
    chosen = ttnn.to_torch(classes).long()
    assert bool((found.gather(1, chosen[:, None])[:, 0] == found.max(1).values).all())
    torch.testing.assert_close(ttnn.to_torch(best).float(), expected.softmax(-1).topk(3).values, atol=0.01, rtol=0.02)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
