# SPDX-License-Identifier: Apache-2.0
"""Generates with Llama: prompts fill caches of keys and values, then each step decodes one token of every user.

python examples/ttnn/llama.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

VOCABULARY, WIDTH, LAYERS, HEADS, KV_HEADS, HEAD, INNER = 256, 256, 2, 8, 4, 32, 512
USERS, PROMPT, ROWS, STEPS, EPSILON = 4, 32, 64, 3, 1e-5


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = torch.nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.key, self.value = (torch.nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False) for _ in range(2))
        self.out = torch.nn.Linear(HEADS * HEAD, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (f(x).unflatten(-1, (-1, HEAD)).transpose(1, 2) for f in (self.query, self.key, self.value))
        angles = positions_times_frequencies(x.shape[1])
        q, k = (torch.view_as_real(turn(heads, angles)).flatten(-2) for heads in (q, k))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = (torch.nn.RMSNorm(WIDTH, eps=EPSILON) for _ in range(2))
        self.attention = Attention()
        self.gate, self.up = (torch.nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        hidden = self.norm2(x)
        return x + self.down(torch.nn.functional.silu(self.gate(hidden)) * self.up(hidden))


class Llama(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = torch.nn.RMSNorm(WIDTH, eps=EPSILON)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def positions_times_frequencies(rows: int) -> torch.Tensor:
    return torch.outer(torch.arange(rows), 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD))


def turn(heads: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """Rotates neighbouring elements, taken as complex numbers."""
    return torch.view_as_complex(heads.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angles), angles)


class ChipLlama:
    def __init__(self, model: Llama, device: Any) -> None:
        self.device = device
        self.words = self.place(model.words.weight, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.norm = self.scale(model.norm)
        self.head = self.place(model.head.weight.T, ttnn.bfloat8_b)
        self.layers = [self.layer(layer) for layer in model.layers]
        angles = positions_times_frequencies(ROWS).repeat_interleave(2, -1)
        self.cos, self.sin = angles.cos(), angles.sin()
        self.prompt_cos, self.prompt_sin = (self.place(table[None, None, :PROMPT]) for table in (self.cos, self.sin))
        # Multiplies a row of elements by this to get (-x1, x0, -x3, x2, ...).
        self.swap = torch.zeros(1, 1, 32, 32)
        self.swap[..., torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
        self.swap[..., torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
        self.prompt_swap = self.place(self.swap)
        # One user on each core: the form in which heads are decoded.
        cores = ttnn.num_cores_to_corerangeset(USERS, device.compute_with_storage_grid_size(), row_wise=True)
        self.by_user = ttnn.create_sharded_memory_config(
            (32, HEAD), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
        )
        self.swap_by_user = ttnn.create_sharded_memory_config(
            (32, 32), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
        )
        self.decode_swap = self.place(self.swap.repeat(1, 1, USERS, 1), memory_config=self.swap_by_user)
        self.precise = ttnn.init_device_compute_kernel_config(
            device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
        )

    def place(
        self, values: torch.Tensor, dtype: Any = ttnn.bfloat16, layout: Any = ttnn.TILE_LAYOUT, **rest: Any
    ) -> Any:
        return ttnn.from_torch(values.detach(), dtype=dtype, layout=layout, device=self.device, **rest)

    def scale(self, norm: Any) -> Any:
        # A norm takes its weight as rows of 32.
        return self.place(norm.weight.reshape(1, 1, WIDTH // 32, 32), layout=ttnn.ROW_MAJOR_LAYOUT)

    def layer(self, layer: Any) -> dict[str, Any]:
        attention = layer.attention
        joined = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight])
        cache = torch.zeros(USERS, KV_HEADS, ROWS, HEAD)
        return {
            "norm1": self.scale(layer.norm1),
            "norm2": self.scale(layer.norm2),
            "qkv": self.place(joined.T, ttnn.bfloat8_b),
            "out": self.place(attention.out.weight.T, ttnn.bfloat8_b),
            "gate": self.place(layer.gate.weight.T, ttnn.bfloat8_b),
            "up": self.place(layer.up.weight.T, ttnn.bfloat8_b),
            "down": self.place(layer.down.weight.T, ttnn.bfloat8_b),
            "keys": self.place(cache),
            "values": self.place(cache),
        }

    def perceptron(self, x: Any, layer: dict[str, Any]) -> Any:
        hidden = ttnn.rms_norm(x, weight=layer["norm2"], epsilon=EPSILON)
        gate = ttnn.linear(hidden, layer["gate"])
        up = ttnn.linear(hidden, layer["up"])
        product = ttnn.mul(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])
        return ttnn.add(x, ttnn.linear(product, layer["down"], compute_kernel_config=self.precise))

    def logits(self, x: Any) -> torch.Tensor:
        x = ttnn.rms_norm(x, weight=self.norm, epsilon=EPSILON)
        return ttnn.to_torch(ttnn.linear(x, self.head, compute_kernel_config=self.precise)).float()

    def prefill(self, ids: torch.Tensor, user: int) -> torch.Tensor:
        """Returns the logits of a prompt; the caches keep its keys and values."""
        numbers = ttnn.from_torch(ids, dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=self.device)
        x = ttnn.embedding(numbers, self.words, layout=ttnn.TILE_LAYOUT)
        x = ttnn.reshape(x, (1, 1, PROMPT, WIDTH))
        for layer in self.layers:
            qkv = ttnn.linear(ttnn.rms_norm(x, weight=layer["norm1"], epsilon=EPSILON), layer["qkv"])
            query, key, value = ttnn.experimental.nlp_create_qkv_heads(
                qkv, num_heads=HEADS, num_kv_heads=KV_HEADS, transpose_k_heads=False
            )
            query, key = (
                ttnn.experimental.rotary_embedding_llama(
                    heads, self.prompt_cos, self.prompt_sin, self.prompt_swap, is_decode_mode=False
                )
                for heads in (query, key)
            )
            ttnn.fill_cache(layer["keys"], key, user)
            ttnn.fill_cache(layer["values"], value, user)
            attended = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
            attended = ttnn.experimental.nlp_concat_heads(attended)
            x = ttnn.add(x, ttnn.linear(attended, layer["out"]))
            x = self.perceptron(x, layer)
        return self.logits(x)[0, 0]

    def decode(self, ids: torch.Tensor, position: int) -> torch.Tensor:
        """Returns the logits of one token of every user, at a position that they share."""
        numbers = ttnn.from_torch(ids.reshape(1, USERS), dtype=ttnn.uint32, device=self.device)
        positions = ttnn.from_torch(torch.full((USERS,), position), dtype=ttnn.int32, device=self.device)
        cos, sin = (
            self.place(table[position].expand(1, USERS, 32, HEAD).contiguous(), memory_config=self.by_user)
            for table in (self.cos, self.sin)
        )
        x = ttnn.reshape(ttnn.embedding(numbers, self.words, layout=ttnn.TILE_LAYOUT), (1, 1, USERS, WIDTH))
        for layer in self.layers:
            qkv = ttnn.linear(ttnn.rms_norm(x, weight=layer["norm1"], epsilon=EPSILON), layer["qkv"])
            query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
                qkv, num_heads=HEADS, num_kv_heads=KV_HEADS, memory_config=self.by_user
            )
            query, key = (
                ttnn.experimental.rotary_embedding_llama(heads, cos, sin, self.decode_swap, is_decode_mode=True)
                for heads in (query, key)
            )
            ttnn.experimental.paged_update_cache(layer["keys"], key, update_idxs_tensor=positions)
            ttnn.experimental.paged_update_cache(layer["values"], value, update_idxs_tensor=positions)
            attended = ttnn.transformer.scaled_dot_product_attention_decode(
                query, layer["keys"], layer["values"], cur_pos_tensor=positions, scale=HEAD**-0.5
            )
            attended = ttnn.experimental.nlp_concat_heads_decode(
                ttnn.to_memory_config(attended, self.by_user), num_heads=HEADS
            )
            attended = ttnn.to_memory_config(attended, ttnn.L1_MEMORY_CONFIG)
            attended = attended[:, :, :USERS]
            x = ttnn.add(x, ttnn.linear(attended, layer["out"]))
            x = self.perceptron(x, layer)
        return self.logits(x)[0, 0, :USERS]


def agree(found: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    pcc = float(torch.corrcoef(torch.stack([expected.flatten(), found.flatten()]))[0, 1])
    print(f"{what}: PCC {pcc:.5f}, largest error {float((found - expected).abs().max()):.4f}")
    torch.testing.assert_close(found, expected, atol=0.06, rtol=0.05)


def main() -> None:
    torch.manual_seed(0)
    model = Llama().eval()
    ids = torch.randint(0, VOCABULARY, (USERS, PROMPT + STEPS))
    with torch.no_grad():
        expected = model(ids)

    device: Any = ttnn.open_device(device_id=0)
    on_chip = ChipLlama(model, device)
    for user in range(USERS):
        agree(on_chip.prefill(ids[user : user + 1, :PROMPT], user), expected[user, :PROMPT], f"prompt of user {user}")
    for position in range(PROMPT, PROMPT + STEPS):
        found = on_chip.decode(ids[:, position], position)
        agree(found, expected[:, position], f"position {position} of {USERS} users")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
