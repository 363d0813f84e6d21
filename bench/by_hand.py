# SPDX-License-Identifier: Apache-2.0
"""Networks written by hand in ttnn (examples/ttnn), function by function, compared with PyTorch eager.

The data type of a row is PyTorch's. The network on the device is the same in both rows: bfloat16 activations, with
bfloat8_b weights (and some bfloat8_b activations in BERT), so only the row of bf16 compares nearly the same work.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_model_parameters

from .comparing import DTYPES
from .device import check
from .harness import Outcome, Result, Settings, alternate
from .models import EXAMPLES

# The network in PyTorch, its inputs, and the same on the device, as a function that runs it once.
ByHand = tuple[torch.nn.Module, list[torch.Tensor], Callable[[], ttnn.Tensor]]


def example(name: str) -> Any:
    """Loads a program of examples/ttnn. Those of other folders may have its name."""
    spec = importlib.util.spec_from_file_location(f"by_hand_{name}", EXAMPLES / "ttnn" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def resnet50(device: Any) -> ByHand:
    network_module = example("resnet50")
    model = network_module.ResNet50().eval()
    for module in model.modules():
        if isinstance(module, network_module.Bottleneck):
            torch.nn.init.constant_(module.bn3.weight, 0.25)
    image = torch.rand(1, 3, 224, 224)
    parameters: Any = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=network_module.custom_preprocessor, device=None
    )
    network = network_module.Network(parameters, device)
    parameters.fc.weight = ttnn.to_device(parameters.fc.weight, device)
    parameters.fc.bias = ttnn.to_device(parameters.fc.bias, device)
    rows = image.permute(0, 2, 3, 1).reshape(1, 1, 224 * 224, 3)
    x = ttnn.to_device(ttnn.from_torch(rows, dtype=ttnn.bfloat16), device)
    return model, [image], lambda: network(x, 1, 224, 224)


def bert(device: Any) -> ByHand:
    """BERT of 12 layers, batch 1, 128 tokens."""
    network_module = example("bert")
    network_module.LAYERS, network_module.BATCH = 12, 1
    model = network_module.Bert().eval()
    ids = torch.randint(1, network_module.VOCABULARY, (1, network_module.ROWS))
    kinds, mask = torch.zeros_like(ids), torch.zeros(1, 1, 1, network_module.ROWS)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=network_module.custom_preprocessor, device=device
    )
    numbers = [
        ttnn.from_torch(values, dtype=ttnn.uint32, device=device)
        for values in (ids, kinds, torch.arange(network_module.ROWS).expand(1, network_module.ROWS))
    ]
    chip_mask = ttnn.from_torch(mask, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    return model, [ids, kinds, mask], lambda: network_module.bert(*numbers, chip_mask, parameters=parameters)


NETWORKS: dict[str, Callable[[Any], ByHand]] = {"ResNet-50 by hand": resnet50, "BERT, 12 layers, by hand": bert}


def compared(name: str, make: Callable[[Any], ByHand]) -> Callable[[Settings], Iterator[Outcome]]:
    def run(settings: Settings) -> Iterator[Outcome]:
        torch.manual_seed(0)
        device: Any = ttnn.open_device(device_id=0, l1_small_size=24576)
        with torch.no_grad():
            model, inputs, on_chip = make(device)
            check(ttnn.to_torch(on_chip()), model(*inputs), 0.99, name)
            for kind in ("f32", "bf16"):
                dtype = DTYPES[kind]
                network = model.to(dtype)
                given = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
                with settings.quiet():
                    ours, peer = alternate([on_chip, lambda: network(*given)], settings.seconds)  # noqa: B023
                yield Result(name, kind, ours, "torch eager", peer)
        ttnn.close_device(device)

    return run


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    name: compared(name, make) for name, make in NETWORKS.items()
}
