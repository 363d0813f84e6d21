# SPDX-License-Identifier: Apache-2.0
"""Trains a perceptron with functions of gradients and an optimizer on the chip, step by step as PyTorch does.

python examples/ttnn/training.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

ROWS, WIDTH, HIDDEN, CLASSES, STEPS, RATE = 64, 64, 128, 32, 5, 0.02


class Perceptron(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, HIDDEN), torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.nn.functional.silu(self.up(self.norm(x))))


class ChipPerceptron:
    """Holds parameters with the two moments of AdamW, and computes their gradients."""

    def __init__(self, model: Perceptron, device: Any) -> None:
        self.device = device
        self.parameters = {
            name: self.place(values.detach().reshape(1, -1) if values.ndim == 1 else values.detach())
            for name, values in model.named_parameters()
        }
        self.moments = {
            name: [ttnn.zeros_like(values), ttnn.zeros_like(values)] for name, values in self.parameters.items()
        }

    def place(self, values: torch.Tensor) -> Any:
        return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device)

    def step(self, x: Any, target: Any, count: int) -> float:
        """Updates the parameters and returns the loss of before."""
        at = self.parameters
        mean: Any
        rstd: Any
        normed: Any
        hidden_slope: Any
        normed_slope: Any
        mean, rstd = (ttnn.empty((ROWS,), ttnn.bfloat16, ttnn.TILE_LAYOUT, self.device) for _ in range(2))
        normed, mean, rstd = ttnn.moreh_layer_norm(x, 1, 1e-5, at["norm.weight"], at["norm.bias"], mean=mean, rstd=rstd)
        before = ttnn.moreh_linear(normed, at["up.weight"], bias=at["up.bias"])
        hidden = ttnn.silu(before)
        found = ttnn.moreh_linear(hidden, at["down.weight"], bias=at["down.bias"])
        loss = ttnn.mean(ttnn.squared_difference(found, target))

        # The gradient of the mean of squared differences.
        slope = ttnn.mul(ttnn.sub(found, target), 2 / (ROWS * CLASSES))
        slopes: dict[str, Any] = {}
        hidden_slope, slopes["down.weight"], slopes["down.bias"] = ttnn.moreh_linear_backward(
            slope,
            hidden,
            at["down.weight"],
            are_required_outputs=(True, True, True),
            bias=at["down.bias"],
            input_grad=ttnn.empty_like(hidden),
            weight_grad=ttnn.empty_like(at["down.weight"]),
            bias_grad=ttnn.empty_like(at["down.bias"]),
        )
        (before_slope,) = ttnn.silu_bw(hidden_slope, before)
        normed_slope, slopes["up.weight"], slopes["up.bias"] = ttnn.moreh_linear_backward(
            before_slope,
            normed,
            at["up.weight"],
            are_required_outputs=(True, True, True),
            bias=at["up.bias"],
            input_grad=ttnn.empty_like(normed),
            weight_grad=ttnn.empty_like(at["up.weight"]),
            bias_grad=ttnn.empty_like(at["up.bias"]),
        )
        _, slopes["norm.weight"], slopes["norm.bias"] = ttnn.moreh_layer_norm_backward(
            normed_slope,
            x,
            mean,
            rstd,
            1,
            gamma=at["norm.weight"],
            gamma_grad=ttnn.empty_like(at["norm.weight"]),
            beta_grad=ttnn.empty_like(at["norm.bias"]),
        )
        for name, values in at.items():
            first, second = self.moments[name]
            ttnn.moreh_adamw(
                values,
                slopes[name],
                first,
                second,
                RATE,
                0.9,
                0.999,
                1e-8,
                0.01,
                count,
                False,
                param_out=values,
                exp_avg_out=first,
                exp_avg_sq_out=second,
            )
        return float(ttnn.to_torch(loss).float().flatten()[0])


def main() -> None:
    torch.manual_seed(0)
    model = Perceptron()
    x, target = torch.randn(ROWS, WIDTH), torch.randn(ROWS, CLASSES)
    device: Any = ttnn.open_device(device_id=0)
    on_chip = ChipPerceptron(model, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    losses = []
    for count in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(on_chip.step(on_chip.place(x), on_chip.place(target), count))
        print(f"step {count}: loss {losses[-1]:.4f}, PyTorch's {loss.item():.4f}")
        torch.testing.assert_close(losses[-1], loss.item(), atol=0.03, rtol=0.03)
    assert losses[-1] < losses[0] / 1.5
    for name, expected in model.named_parameters():
        found = ttnn.to_torch(on_chip.parameters[name]).float().reshape(expected.shape)
        pcc = float(torch.corrcoef(torch.stack([expected.detach().flatten(), found.flatten()]))[0, 1])
        print(f"{name}: PCC {pcc:.4f}")
        assert pcc > 0.99, name
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
