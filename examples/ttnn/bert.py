# SPDX-License-Identifier: Apache-2.0
"""Answers questions with BERT: preprocessed parameters, fused attention, a padded batch and the head for spans.

python examples/ttnn/bert.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters

VOCABULARY, WIDTH, LAYERS, HEADS, INNER, ROWS, BATCH = 1000, 768, 2, 12, 3072, 128, 2


class SelfAttention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = (f(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return y.transpose(1, 2).flatten(2)


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = SelfAttention()
        self.output = torch.nn.Linear(WIDTH, WIDTH)
        self.norm1 = torch.nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = torch.nn.Linear(WIDTH, INNER), torch.nn.Linear(INNER, WIDTH)
        self.norm2 = torch.nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.output(self.attention(x, mask)))
        return self.norm2(x + self.down(torch.nn.functional.gelu(self.up(x))))


class Bert(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = torch.nn.Embedding(512, WIDTH)
        self.types = torch.nn.Embedding(2, WIDTH)
        self.norm = torch.nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.spans = torch.nn.Linear(WIDTH, 2)

    def forward(self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1])) + self.types(kinds)
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        return self.spans(x)


def custom_preprocessor(model: torch.nn.Module, name: str) -> dict[str, Any]:
    """Joins query, key and value into one matrix."""
    if not isinstance(model, SelfAttention):
        return {}
    parts = (model.query, model.key, model.value)
    weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
    return {
        "query_key_value": {
            "weight": preprocess_linear_weight(weight, dtype=ttnn.bfloat8_b),
            "bias": preprocess_linear_bias(bias, dtype=ttnn.bfloat8_b),
        }
    }


def attention(x: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any, grid: ttnn.CoreGrid) -> ttnn.Tensor:
    qkv = ttnn.linear(
        x,
        parameters.query_key_value.weight,
        bias=parameters.query_key_value.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        core_grid=grid,
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        qkv, num_heads=HEADS, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(query, key, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16, core_grid=grid)
    ttnn.deallocate(query)
    ttnn.deallocate(key)
    weights = ttnn.transformer.attention_softmax_(
        scores,
        attention_mask=mask,
        head_size=WIDTH // HEADS,
        program_config=ttnn.SoftmaxDefaultProgramConfig(),
    )
    context = ttnn.matmul(weights, value, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b, core_grid=grid)
    ttnn.deallocate(weights)
    ttnn.deallocate(value)
    return ttnn.transformer.concatenate_heads(context, memory_config=ttnn.L1_MEMORY_CONFIG)


def encoder(x: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any, grid: ttnn.CoreGrid) -> ttnn.Tensor:
    context = attention(x, mask, parameters=parameters.attention, grid=grid)
    output = ttnn.linear(
        context,
        parameters.output.weight,
        bias=parameters.output.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=grid,
    )
    x = ttnn.layer_norm(
        x,
        residual_input_tensor=output,
        weight=parameters.norm1.weight,
        bias=parameters.norm1.bias,
        epsilon=1e-12,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    ttnn.deallocate(output)
    hidden = ttnn.linear(
        x,
        parameters.up.weight,
        bias=parameters.up.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        activation="gelu",
        core_grid=grid,
    )
    output = ttnn.linear(
        hidden,
        parameters.down.weight,
        bias=parameters.down.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=grid,
    )
    ttnn.deallocate(hidden)
    return ttnn.layer_norm(
        x,
        residual_input_tensor=output,
        weight=parameters.norm2.weight,
        bias=parameters.norm2.bias,
        epsilon=1e-12,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )


def bert(ids: ttnn.Tensor, kinds: ttnn.Tensor, positions: ttnn.Tensor, mask: ttnn.Tensor, *, parameters: Any) -> Any:
    words = ttnn.embedding(ids, parameters.words.weight, layout=ttnn.TILE_LAYOUT, padding_idx=0)
    types = ttnn.embedding(kinds, parameters.types.weight, layout=ttnn.TILE_LAYOUT)
    places = ttnn.embedding(positions, parameters.positions.weight, layout=ttnn.TILE_LAYOUT)
    x = ttnn.layer_norm(
        words + types + places,
        weight=parameters.norm.weight,
        bias=parameters.norm.bias,
        epsilon=1e-12,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    grid = ttnn.CoreGrid(y=BATCH, x=8)
    for layer in parameters.layers:
        x = encoder(x, mask, parameters=layer, grid=grid)
    return ttnn.linear(x, parameters.spans.weight, bias=parameters.spans.bias, memory_config=ttnn.L1_MEMORY_CONFIG)


def main() -> None:
    torch.manual_seed(0)
    model = Bert().eval()
    ids = torch.randint(1, VOCABULARY, (BATCH, ROWS))
    lengths = torch.tensor([ROWS, 77])
    padded = torch.arange(ROWS) >= lengths[:, None]
    ids = ids.masked_fill(padded, 0)
    kinds = (torch.arange(ROWS) > 40).long().expand(BATCH, ROWS)
    additive = torch.zeros(BATCH, 1, 1, ROWS).masked_fill(padded[:, None, None], -100000.0)
    with torch.no_grad():
        expected = model(ids, kinds, additive)

    device: Any = ttnn.open_device(device_id=0)
    parameters = preprocess_model_parameters(
        model_name="bert", initialize_model=lambda: model, custom_preprocessor=custom_preprocessor, device=device
    )

    def numbers(values: torch.Tensor) -> ttnn.Tensor:
        return ttnn.from_torch(values, dtype=ttnn.uint32, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)

    mask = ttnn.from_torch(
        additive, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    positions = numbers(torch.arange(ROWS).expand(BATCH, ROWS))
    spans = bert(numbers(ids), numbers(kinds), positions, mask, parameters=parameters)
    found = ttnn.to_torch(spans).float()
    kept = ~padded
    pcc = float(torch.corrcoef(torch.stack([expected[kept].flatten(), found[kept].flatten()]))[0, 1])
    print(f"PCC {pcc:.5f}")
    torch.testing.assert_close(found[kept], expected[kept], atol=0.06, rtol=0.05)
    for index, name in enumerate(("begin", "end")):
        best = found[..., index].masked_fill(padded, -torch.inf).argmax(-1).tolist()
        print(f"{name} of the answers: {best}")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
