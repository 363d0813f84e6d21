# SPDX-License-Identifier: Apache-2.0
"""The networks of this folder, by name: in torch, for the chip, and what goes into them.

    python examples/models/zoo.py resnet-50 --dtype bf16

compiles and runs one; in Python:

    network, inputs = ZOO["resnet-18"].make(reduced=True)
    module, builder = build_module(ZOO["resnet-18"].on_chip(network, inputs, torch.bfloat16), "ttir")

Weights are random, the same for the same seed.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":  # before PyTorch is loaded, so that there is something to see meanwhile
    from command import main

    sys.exit(main())

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bert
import gpt2
import llama
import mobilenet
import resnet
import vit
from layers import Layers


def image(size: int, batch: int = 1) -> list[Tensor]:
    return [torch.rand(batch, 3, size, size) - 0.5]


@dataclass(frozen=True)
class Model:
    """One network.

    about: one line for people.
    network: the torch module, of the sizes given; build: the same with a builder, from Layers, module and operands.
    inputs: tensors as the torch module takes them, of the sizes given; with a parameter `batch` where any will do.
    full, reduced: sizes of the network as published, and of a small one of the same kind: those of `network` and those
        of `inputs`.
    images: the first input is [n, channels, height, width], which the chip takes as [n, height, width, channels].
    """

    about: str
    network: Callable[..., nn.Module]
    build: Callable[..., Any]
    inputs: Callable[..., list[Tensor]]
    full: tuple[Mapping[str, Any], Mapping[str, Any]]
    reduced: tuple[Mapping[str, Any], Mapping[str, Any]]
    images: bool = False

    def make(self, reduced: bool = False, seed: int = 0, batch: int = 1) -> tuple[nn.Module, list[Tensor]]:
        """The torch network, ready for inference, and inputs for it.

        Raises:
            ValueError: the network takes no such batch.
        """
        sizes, input_sizes = self.reduced if reduced else self.full
        if batch != 1:
            if "batch" not in inspect.signature(self.inputs).parameters:
                raise ValueError(f"batch {batch}: this network runs with batch 1 only")
            input_sizes = {**input_sizes, "batch": batch}
        torch.manual_seed(seed)
        network, inputs = self.network(**sizes), self.inputs(**input_sizes)
        settle(network, inputs)
        return network.eval().requires_grad_(False), inputs

    def chip_inputs(self, inputs: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """The inputs as the chip takes them: floats in `dtype`."""
        given = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
        if self.images:
            given[0] = given[0].permute(0, 2, 3, 1).contiguous()
        return given

    def on_chip(self, network: nn.Module, inputs: Sequence[Tensor], dtype: torch.dtype) -> Callable[[Any], None]:
        """The network with its weights as constants, as `build_module` takes it."""
        given = self.chip_inputs(inputs, dtype)

        def module(builder: Any) -> None:
            @builder.func([tuple(x.shape) for x in given], [x.dtype for x in given])
            def main(*arguments: Any) -> Any:
                *operands, builder = arguments
                builder.set_goldens(dict(zip(operands, given, strict=True)))
                return self.build(Layers(builder, dtype), network, *operands)

        return module


def settle(network: nn.Module, inputs: Sequence[Tensor]) -> None:
    """Running statistics as after training: those of the inputs, so that values neither grow nor vanish with depth.

    Batch norm's shift lets relu pass most values. Around 0, a deep network of random weights makes every rounding
    larger from layer to layer, which trained ones do not: ResNet-50 in bf16, also PyTorch's, would correlate 0.99 with
    itself in f32.
    """
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 1.0
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, mean=1.0, std=0.1)
    with torch.no_grad():
        network.train()(*inputs)


LLAMA = {"width": 4096, "heads": 32, "key_heads": 8}
SMALL_LLAMA = {"width": 128, "heads": 8, "key_heads": 2}
SMALL = {"depth": 2, "width": 64, "heads": 4}
SMALL_STAGES = ((1, 8, 1, 1), (6, 16, 2, 2), (6, 24, 1, 2))

ZOO: dict[str, Model] = {
    "resnet-18": Model(
        "ResNet-18, 224x224 images",
        resnet.ResNet,
        resnet.build,
        image,
        ({"blocks": (2, 2, 2, 2), "bottleneck": False}, {"size": 224}),
        ({"blocks": (1, 1, 1), "bottleneck": False, "width": 16, "classes": 10}, {"size": 64}),
        images=True,
    ),
    "resnet-50": Model(
        "ResNet-50, 224x224 images",
        resnet.ResNet,
        resnet.build,
        image,
        ({"blocks": (3, 4, 6, 3), "bottleneck": True}, {"size": 224}),
        ({"blocks": (1, 2), "bottleneck": True, "width": 16, "classes": 10}, {"size": 64}),
        images=True,
    ),
    "mobilenet-v2": Model(
        "MobileNet V2, 224x224 images",
        mobilenet.MobileNetV2,
        mobilenet.build,
        image,
        ({}, {"size": 224}),
        ({"stages": SMALL_STAGES, "first": 8, "last": 64, "classes": 10}, {"size": 64}),
        images=True,
    ),
    "bert-base": Model(
        "BERT base, 12 layers, 128 tokens",
        bert.Bert,
        bert.build,
        bert.inputs,
        ({}, {"rows": 128, "words": 30522}),
        ({**SMALL, "words": 100, "rows": 48}, {"rows": 33, "words": 100}),
    ),
    "gpt-2": Model(
        "GPT-2, 12 layers, 128 tokens, with scores of all words",
        gpt2.Gpt2,
        gpt2.build,
        gpt2.inputs,
        ({}, {"rows": 128, "words": 50257}),
        ({**SMALL, "words": 100, "rows": 48}, {"rows": 33, "words": 100}),
    ),
    "vit-base": Model(
        "Vision Transformer B/16, 224x224 images",
        vit.Vit,
        vit.build,
        image,
        ({}, {"size": 224}),
        ({**SMALL, "image": 32, "patch": 8, "classes": 10}, {"size": 32}),
        images=True,
    ),
    "llama-block-prefill": Model(
        "one block of Llama 3 8B, 128 tokens into its cache",
        llama.Prefill,
        llama.prefill,
        llama.prefill_inputs,
        (LLAMA, {**LLAMA, "rows": 128, "positions": 256}),
        ({**SMALL_LLAMA, "inner": 256}, {**SMALL_LLAMA, "rows": 33, "positions": 64}),
    ),
    "llama-block-decode": Model(
        "one block of Llama 3 8B, a token after 128 others",
        llama.Decode,
        llama.decode,
        llama.decode_inputs,
        (LLAMA, {**LLAMA, "row": 128, "positions": 256}),
        ({**SMALL_LLAMA, "inner": 256}, {**SMALL_LLAMA, "row": 33, "positions": 64}),
    ),
}
