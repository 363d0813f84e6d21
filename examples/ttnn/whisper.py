# SPDX-License-Identifier: Apache-2.0
"""Transcribes with Whisper: convolutions and an encoder over sound, a decoder with a cache and cross attention.

python examples/ttnn/whisper.py
"""

from __future__ import annotations

from typing import Any

import torch
import ttnn

MELS, FRAMES, ROWS, WIDTH, HEADS, INNER, LAYERS = 80, 128, 64, 128, 4, 256, 2
HEAD = WIDTH // HEADS
VOCABULARY, LONGEST, STEPS = 256, 32, 6


def heads_of(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(-1, (HEADS, HEAD)).transpose(1, 2)


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.value, self.out = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.key = torch.nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, source: torch.Tensor, causal: bool = False) -> torch.Tensor:
        q, k, v = heads_of(self.query(x)), heads_of(self.key(source)), heads_of(self.value(source))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Layer(torch.nn.Module):
    """A layer of the encoder, or of the decoder, which attends over the encoder's result as well."""

    def __init__(self, decodes: bool) -> None:
        super().__init__()
        self.norm1, self.attention = torch.nn.LayerNorm(WIDTH), Attention()
        self.norm2 = torch.nn.LayerNorm(WIDTH) if decodes else None
        self.cross = Attention() if decodes else None
        self.norm3 = torch.nn.LayerNorm(WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, INNER), torch.nn.Linear(INNER, WIDTH)

    def forward(self, x: torch.Tensor, sound: torch.Tensor | None = None) -> torch.Tensor:
        hidden = self.norm1(x)
        x = x + self.attention(hidden, hidden, causal=sound is not None)
        if self.norm2 is not None and self.cross is not None and sound is not None:
            x = x + self.cross(self.norm2(x), sound)
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm3(x))))


class Whisper(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv1d(MELS, WIDTH, 3, padding=1)
        self.conv2 = torch.nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.sound_positions = torch.nn.Embedding(ROWS, WIDTH)
        self.encoder = torch.nn.ModuleList(Layer(False) for _ in range(LAYERS))
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.words, self.positions = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(LONGEST, WIDTH)
        self.decoder = torch.nn.ModuleList(Layer(True) for _ in range(LAYERS))
        self.last_norm = torch.nn.LayerNorm(WIDTH)

    def encode(self, mels: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.gelu(self.conv1(mels))
        x = torch.nn.functional.gelu(self.conv2(x)).transpose(1, 2) + self.sound_positions.weight
        for layer in self.encoder:
            x = layer(x)
        return self.norm(x)

    def forward(self, mels: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        sound = self.encode(mels)
        x = self.words(ids) + self.positions.weight[: ids.shape[1]]
        for layer in self.decoder:
            x = layer(x, sound)
        return self.last_norm(x) @ self.words.weight.T


class ChipWhisper:
    def __init__(self, model: Whisper, device: Any) -> None:
        self.model, self.device = model, device
        self.sound_positions = self.place(model.sound_positions.weight[None])
        self.encoder = [self.layer(layer) for layer in model.encoder]
        self.decoder = [self.layer(layer) for layer in model.decoder]
        self.norm, self.last_norm = self.scale(model.norm), self.scale(model.last_norm)
        self.words, self.positions = (
            self.place(table.weight, layout=ttnn.ROW_MAJOR_LAYOUT) for table in (model.words, model.positions)
        )
        self.head = self.place(model.words.weight.T)

    def place(self, values: torch.Tensor, dtype: Any = ttnn.bfloat16, layout: Any = ttnn.TILE_LAYOUT) -> Any:
        return ttnn.from_torch(values.detach(), dtype=dtype, layout=layout, device=self.device)

    def linear(self, *layers: Any) -> dict[str, Any]:
        """Joins layers side by side; one without bias adds zeros."""
        bias = torch.cat([torch.zeros(len(each.weight)) if each.bias is None else each.bias for each in layers])
        weight = torch.cat([each.weight for each in layers])
        return {"input_tensor_b": self.place(weight.T), "bias": self.place(bias.reshape(1, -1))}

    def scale(self, norm: Any) -> dict[str, Any]:
        return {"weight": self.place(norm.weight[None]), "bias": self.place(norm.bias[None]), "epsilon": norm.eps}

    def layer(self, layer: Any) -> dict[str, Any]:
        at = layer.attention
        parts = {
            "norm1": self.scale(layer.norm1),
            "qkv": self.linear(at.query, at.key, at.value),
            "out": self.linear(at.out),
            "norm3": self.scale(layer.norm3),
            "up": self.linear(layer.up),
            "down": self.linear(layer.down),
        }
        if layer.cross is not None:
            parts["norm2"] = self.scale(layer.norm2)
            parts["cross_query"] = self.linear(layer.cross.query)
            parts["cross_key_value"] = self.linear(layer.cross.key, layer.cross.value)
            parts["cross_out"] = self.linear(layer.cross.out)
        return parts

    def convolution(self, x: Any, layer: torch.nn.Conv1d, length: int) -> Any:
        y, rows = ttnn.conv1d(
            input_tensor=x,
            weight_tensor=ttnn.from_torch(layer.weight.detach(), dtype=ttnn.bfloat16),
            bias_tensor=ttnn.from_torch(layer.bias.detach().reshape(1, 1, 1, -1), dtype=ttnn.bfloat16),  # type: ignore[union-attr]
            device=self.device,
            in_channels=layer.in_channels,
            out_channels=layer.out_channels,
            batch_size=1,
            input_length=length,
            kernel_size=3,
            stride=layer.stride[0],
            padding=1,
            return_output_dim=True,
        )
        y = ttnn.reshape(
            ttnn.to_layout(ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG), ttnn.ROW_MAJOR_LAYOUT), (1, rows, WIDTH)
        )
        return ttnn.gelu(ttnn.to_layout(y, ttnn.TILE_LAYOUT))

    def perceptron(self, x: Any, layer: dict[str, Any]) -> Any:
        hidden = ttnn.layer_norm(x, **layer["norm3"])
        return ttnn.add(x, ttnn.linear(ttnn.linear(hidden, **layer["up"], activation="gelu"), **layer["down"]))

    def encode(self, mels: torch.Tensor) -> None:
        """Encodes sound [1, mels, frames]; layers of the decoder keep keys and values of the result."""
        x = self.place(mels.transpose(1, 2), layout=ttnn.ROW_MAJOR_LAYOUT)
        x = self.convolution(x, self.model.conv1, FRAMES)
        x = self.convolution(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), self.model.conv2, FRAMES)
        x = ttnn.add(x, self.sound_positions)
        for layer in self.encoder:
            qkv = ttnn.linear(ttnn.layer_norm(x, **layer["norm1"]), **layer["qkv"])
            query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
                qkv, num_heads=HEADS, transpose_key=False
            )
            attended = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=False)
            attended = ttnn.transformer.concatenate_heads(attended)
            x = self.perceptron(ttnn.add(x, ttnn.linear(attended, **layer["out"])), layer)
        sound = ttnn.layer_norm(x, **self.norm)
        for layer in self.decoder:
            key_value = ttnn.linear(sound, **layer["cross_key_value"])
            key, value = ttnn.split(ttnn.reshape(key_value, (1, ROWS, 2 * HEADS, HEAD)), HEADS, dim=2)
            layer["sound_key"], layer["sound_value"] = (
                ttnn.permute(key, (0, 2, 3, 1)),
                ttnn.permute(value, (0, 2, 1, 3)),
            )
            layer["keys"], layer["values"] = (
                ttnn.zeros((1, HEADS, LONGEST, HEAD), ttnn.bfloat16, ttnn.TILE_LAYOUT, self.device) for _ in range(2)
            )

    def decode(self, token: int, position: int) -> torch.Tensor:
        """Returns the logits that follow a token."""
        number, place = (
            self.place(torch.tensor([[value]]), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT) for value in (token, position)
        )
        x = ttnn.add(
            ttnn.embedding(number, self.words, layout=ttnn.TILE_LAYOUT),
            ttnn.embedding(place, self.positions, layout=ttnn.TILE_LAYOUT),
        )
        x = ttnn.reshape(x, (1, 1, 1, WIDTH))
        for layer in self.decoder:
            qkv = ttnn.linear(ttnn.layer_norm(x, **layer["norm1"]), **layer["qkv"])
            query, key, value = ttnn.experimental.nlp_create_qkv_heads(
                qkv, num_heads=HEADS, num_kv_heads=HEADS, transpose_k_heads=False
            )
            ttnn.kv_cache.update_cache_for_token_(layer["keys"], key, position)
            ttnn.kv_cache.update_cache_for_token_(layer["values"], value, position)
            attended = ttnn.transformer.scaled_dot_product_attention_decode(
                ttnn.permute(query, (0, 2, 1, 3)), layer["keys"], layer["values"], cur_pos=[position]
            )
            attended = ttnn.reshape(attended[:, :, :HEADS], (1, 1, 1, WIDTH))
            x = ttnn.add(x, ttnn.linear(attended, **layer["out"]))

            query = ttnn.linear(ttnn.layer_norm(x, **layer["norm2"]), **layer["cross_query"])
            query = ttnn.permute(ttnn.reshape(query, (1, 1, HEADS, HEAD)), (0, 2, 1, 3))
            scores = ttnn.mul(ttnn.matmul(query, layer["sound_key"]), HEAD**-0.5)
            attended = ttnn.matmul(ttnn.softmax(scores, dim=-1), layer["sound_value"])
            attended = ttnn.experimental.nlp_concat_heads(attended)
            x = ttnn.add(x, ttnn.linear(attended, **layer["cross_out"]))
            x = self.perceptron(x, layer)
        return ttnn.to_torch(ttnn.linear(ttnn.layer_norm(x, **self.last_norm), self.head)).float()[0, 0, 0]


def main() -> None:
    torch.manual_seed(0)
    model = Whisper().eval()
    mels, ids = torch.randn(1, MELS, FRAMES), torch.randint(0, VOCABULARY, (1, STEPS))
    with torch.no_grad():
        expected = model(mels, ids)[0]

    device: Any = ttnn.open_device(device_id=0, l1_small_size=16384)
    on_chip = ChipWhisper(model, device)
    on_chip.encode(mels)
    for position, token in enumerate(ids[0].tolist()):
        found = on_chip.decode(token, position)
        pcc = float(torch.corrcoef(torch.stack([expected[position], found]))[0, 1])
        print(f"position {position}: PCC {pcc:.5f}, most probable {int(found.argmax())}")
        assert pcc > 0.999
        torch.testing.assert_close(found, expected[position], atol=0.3, rtol=0.05)
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
