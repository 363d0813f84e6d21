# SPDX-License-Identifier: Apache-2.0
"""Computes a layer of Mixtral's experts on eight chips: each holds one expert and weighs it for every token.

python examples/ttnn/mixtral.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

EXPERTS, CHOSEN, TOKENS, WIDTH, INNER, EPSILON = 8, 2, 32, 256, 512, 1e-5
GATES = 64  # columns of the gate on a chip: those of the experts and padding


class Experts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(WIDTH, eps=EPSILON)
        self.router = torch.nn.Linear(WIDTH, EXPERTS, bias=False)
        self.gates, self.ups = (
            torch.nn.ModuleList(torch.nn.Linear(WIDTH, INNER, bias=False) for _ in range(EXPERTS)) for _ in range(2)
        )
        self.downs = torch.nn.ModuleList(torch.nn.Linear(INNER, WIDTH, bias=False) for _ in range(EXPERTS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(x)
        scores, chosen = self.router(hidden).topk(CHOSEN)
        weights = torch.zeros(*x.shape[:-1], EXPERTS).scatter(-1, chosen, scores.softmax(-1))
        y = x
        for index, (gate, up, down) in enumerate(zip(self.gates, self.ups, self.downs, strict=True)):
            y = y + weights[..., index, None] * down(torch.nn.functional.silu(gate(hidden)) * up(hidden))
        return y


class ChipExperts:
    def __init__(self, model: Experts, mesh: Any) -> None:
        self.mesh = mesh
        self.norm = self.copy(model.norm.weight.reshape(1, 1, 1, WIDTH))
        self.gate, self.up, self.down = (
            self.one_each([layer.weight.T for layer in layers], ttnn.bfloat8_b)
            for layers in (model.gates, model.ups, model.downs)
        )
        # The gate of each chip begins with the column of its own expert: `moe` weighs the first one.
        self.router = self.one_each(
            [
                torch.nn.functional.pad(model.router.weight.roll(-index, 0).T, (0, GATES - EXPERTS))
                for index in range(EXPERTS)
            ]
        )
        padding = torch.full((1, 1, 1, GATES), -torch.inf)
        padding[..., :EXPERTS] = 0
        self.only_experts = self.copy(padding)
        rest = torch.full((1, 1, 1, 32), -torch.inf)
        rest[..., :CHOSEN] = 0
        self.only_chosen = self.copy(rest)
        self.precise = ttnn.init_device_compute_kernel_config(
            mesh.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
        )

    def copy(self, values: torch.Tensor) -> Any:
        return self.place(values, ttnn.ReplicateTensorToMesh(self.mesh))

    def one_each(self, weights: list[Any], dtype: Any = ttnn.bfloat16) -> Any:
        """Places one weight on each chip."""
        return self.place(torch.stack(weights)[:, None], ttnn.ShardTensorToMesh(self.mesh, dim=0), dtype)

    def place(self, values: torch.Tensor, mapper: Any, dtype: Any = ttnn.bfloat16) -> Any:
        return ttnn.from_torch(
            values.detach(), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.mesh, mesh_mapper=mapper
        )

    def __call__(self, x: Any) -> Any:
        hidden = ttnn.rms_norm(x, weight=self.norm, epsilon=EPSILON)
        scores = ttnn.linear(hidden, self.router, compute_kernel_config=self.precise)
        weight = ttnn.moe(scores, self.only_experts, self.only_chosen, 32)
        product = ttnn.mul(
            ttnn.linear(hidden, self.gate),
            ttnn.linear(hidden, self.up),
            input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
        )
        weighed = ttnn.mul(ttnn.linear(product, self.down), weight)
        return ttnn.add(x, ttnn.all_reduce(weighed, cluster_axis=1))


def main() -> None:
    torch.manual_seed(0)
    model = Experts().eval()
    torch.nn.init.normal_(model.router.weight, std=0.5)  # so that no two experts score nearly the same
    x = torch.randn(1, 1, TOKENS, WIDTH).bfloat16().float()
    with torch.no_grad():
        expected = model(x)
        scores = model.router(model.norm(x)).sort(-1, descending=True).values
    clear = (scores[..., CHOSEN - 1] - scores[..., CHOSEN] > 0.1)[0, 0]

    mesh: Any = ttnn.open_mesh_device(ttnn.MeshShape(1, EXPERTS))
    on_chips = ChipExperts(model, mesh)
    result = on_chips(on_chips.copy(x))
    found = ttnn.to_torch(result, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)).float()
    for chip in range(EXPERTS):
        added = torch.stack([(values - x[0, 0])[clear].flatten() for values in (found[chip, 0], expected[0, 0])])
        assert torch.corrcoef(added)[0, 1] > 0.995
        torch.testing.assert_close(found[chip, 0][clear], expected[0, 0][clear], atol=0.05, rtol=0.03)
    error = float((found[0, 0] - expected[0, 0])[clear].abs().max())
    print(f"{int(clear.sum())} of {TOKENS} tokens have a clear choice; largest error of them {error:.4f}")
    assert clear.sum() > TOKENS // 2
    ttnn.close_mesh_device(mesh)


if __name__ == "__main__":
    main()
