# SPDX-License-Identifier: Apache-2.0
"""Layers of torch networks as TTIR ops: what all networks of this folder are made of."""

from __future__ import annotations

from typing import Any

import torch
from builder.ttir.ttir_builder import TTIRBuilder
from torch import Tensor, nn


class Layers:
    """Adds layers to the function that `builder` is in, with the weights of torch modules as constants of `dtype`.

    Images are [n, height, width, channels]; everything else has torch's shapes.
    """

    def __init__(self, builder: TTIRBuilder, dtype: torch.dtype) -> None:
        self.builder = builder
        self.dtype = dtype

    def constant(self, value: Tensor) -> Any:
        value = value.detach()
        return self.builder.constant(value.to(self.dtype) if value.is_floating_point() else value)

    def linear(self, x: Any, layer: nn.Linear) -> Any:
        return self.projection(x, layer)

    def projection(self, x: Any, *layers: nn.Linear) -> Any:
        """Several linear layers of the same input as one, their outputs side by side."""
        if len(layers) == 1:  # as it is: cat copies even then
            weight: Tensor = layers[0].weight
            bias: Tensor | None = layers[0].bias
        else:
            weight = torch.cat([layer.weight for layer in layers])
            bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
        if bias is None:
            return self.builder.matmul(x, self.constant(weight), transpose_b=True)
        return self.builder.linear(x, self.constant(weight), self.constant(bias), transpose_b=True)

    def conv(self, x: Any, layer: nn.Conv2d) -> Any:
        bias = None if layer.bias is None else self.constant(layer.bias.reshape(1, 1, 1, -1))
        stride, padding, dilation = (list(v) for v in (layer.stride, layer.padding, layer.dilation))
        weight = self.constant(layer.weight)
        return self.builder.conv2d(
            x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=layer.groups
        )

    def batch_norm(self, x: Any, layer: nn.BatchNorm2d) -> Any:
        parts = (layer.weight, layer.bias, layer.running_mean, layer.running_var)
        return self.builder.batch_norm_inference(
            x, *(self.constant(part) for part in parts if part is not None), epsilon=layer.eps, dimension=3
        )

    def max_pool(self, x: Any, layer: nn.MaxPool2d) -> Any:
        return self.builder.max_pool2d(x, kernel=layer.kernel_size, stride=layer.stride, padding=layer.padding)

    def global_pool(self, x: Any) -> Any:
        """The mean of each channel: [n, channels]."""
        shape = self.shape(x)
        return self.builder.reshape(self.builder.global_avg_pool2d(x), shape=[shape[0], shape[3]])

    def layer_norm(self, x: Any, layer: nn.LayerNorm) -> Any:
        return self.builder.layer_norm(
            x,
            weight=self.constant(layer.weight),
            bias=self.constant(layer.bias),
            normalized_shape=list(layer.normalized_shape),
            epsilon=layer.eps,
        )

    def rms_norm(self, x: Any, layer: nn.RMSNorm) -> Any:
        weight, shape = self.constant(layer.weight), list(layer.normalized_shape)
        return self.builder.rms_norm(x, weight=weight, normalized_shape=shape, epsilon=layer.eps)

    def embedding(self, positions: Any, layer: nn.Embedding) -> Any:
        return self.builder.embedding(positions, self.constant(layer.weight))

    def gelu_tanh(self, x: Any) -> Any:
        """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), the form of gelu that GPT-2 was trained with."""
        b = self.builder
        cube = b.multiply(b.multiply(x, x), b.multiply(x, self.scalar(0.044715, x)))
        inner = b.multiply(b.add(x, cube), self.scalar((2 / torch.pi) ** 0.5, x))
        return b.multiply(b.multiply(x, self.scalar(0.5, x)), b.add(b.tanh(inner), self.scalar(1.0, x)))

    def scalar(self, value: float, like: Any) -> Any:
        return self.constant(torch.full([1] * len(self.shape(like)), value))

    def heads(self, x: Any, count: int, key_count: int | None = None) -> tuple[Any, Any, Any]:
        """[batch, rows, (heads + 2 * key heads) * size] as query, key and value [batch, heads, rows, size]."""
        return self.builder.split_query_key_value_and_split_heads(
            x, num_heads=count, num_kv_heads=key_count or count, transpose_key=False
        )

    def attend(self, query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False) -> Any:
        """Attention by heads, put side by side again: [batch, rows, heads * size]."""
        attended = self.builder.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
        return self.builder.concatenate_heads(attended)

    @staticmethod
    def shape(x: Any) -> list[int]:
        return list(x.type.shape)
