# SPDX-License-Identifier: Apache-2.0
"""Estimated times of whole networks compared with published ones: `python -m bench.network_times [NAME...]`.

Networks of examples/models, of the published sizes and with random weights, are compiled at each level of the optimizer
and estimated; nothing is run. Published times are of an n150, in milliseconds (docs/cost-model.md names the sources).
None of them was used to choose a constant. Where the published program was not traced, its time is that without one;
where it used fewer cores, it is compiled for a chip with so many.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.builder_apis import build_module
from ttmlir.options import CompileOptions
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin
from ttrt import machine

from .models import ZOO, example

LEVELS = (0, 1, 2)
BFP8 = "target-format=bfp_bf8 compute-cfg-math-fidelity="
LLAMA_LAYERS, LLAMA_WORDS, LLAMA_USERS, LLAMA_POSITIONS = 32, 128256, 32, 256


def from_zoo(name: str, batch: int, **sizes: Any) -> Callable[[], Any]:
    def make() -> Any:
        model = ZOO[name]
        torch.manual_seed(0)
        width = {key: value for key, value in sizes.items() if key != "rows"}
        network = model.network(**{**model.full[0], **width}).eval().requires_grad_(False)
        rows = {"rows": sizes["rows"]} if "rows" in sizes else {}
        inputs = model.inputs(**{**model.full[1], **rows, "batch": batch})
        return build_module(model.on_chip(network, inputs, torch.bfloat16), "ttir")[0]

    return make


def llama_block() -> Any:
    """A block of Llama 3.1 8B that takes a token of each user."""
    llama, layers = example("models", "llama"), example("models", "layers")
    torch.manual_seed(0)
    block = llama.Decode().eval().requires_grad_(False)
    caches = [(LLAMA_USERS, block.key_heads, LLAMA_POSITIONS, block.size)] * 2
    shapes = [(1, LLAMA_USERS, 4096), *[(1, 1, LLAMA_USERS, block.size)] * 2, *caches, (LLAMA_USERS,)]

    def module(builder: Any) -> None:
        @builder.func(shapes, [torch.bfloat16] * 5 + [torch.int32])
        def main(x: Any, cos: Any, sin: Any, keys: Any, values: Any, positions: Any, builder: Any) -> Any:
            build = llama.Build(layers.Layers(builder, torch.bfloat16), block)
            query, key, value = build.project(x, cos, sin)
            keys = builder.update_cache(keys, key, positions)
            values = builder.update_cache(values, value, positions)
            by_user = builder.permute(query, permutation=[0, 2, 1, 3])
            attended = builder.scaled_dot_product_attention_decode(by_user, keys, values, positions, is_causal=True)
            return build.finish(x, builder.reshape(attended, shape=[1, LLAMA_USERS, 4096])), keys, values

    return build_module(module, "ttir")[0]


def llama_head() -> Any:
    """Scores of all words of Llama 3.1 8B."""
    weight = torch.zeros(LLAMA_WORDS, 4096, dtype=torch.bfloat16)

    def module(builder: Any) -> None:
        @builder.func([(1, LLAMA_USERS, 4096)], [torch.bfloat16])
        def main(x: Any, builder: Any) -> Any:
            return builder.matmul(x, builder.constant(weight), transpose_b=True)

    return build_module(module, "ttir")[0]


@dataclass(frozen=True)
class Network:
    """parts: modules, and how often each runs. options: of the pipeline. published: milliseconds.

    traced: whether the published program's kernels were. grid: rows and columns of the cores that it used, if not all.
    """

    name: str
    options: str
    parts: Sequence[tuple[Callable[[], Any], int]]
    published: float
    traced: bool = True
    grid: tuple[int, int] | None = None


def once(name: str, options: str, published: float, make: Callable[[], Any], **how: Any) -> Network:
    return Network(name, options, [(make, 1)], published, **how)


LARGE = {"depth": 24, "width": 1024, "heads": 16, "rows": 384}
NETWORKS = {
    "resnet-50-b16": once("ResNet-50, batch 16", BFP8 + "lofi", 3.40, from_zoo("resnet-50", 16)),
    "resnet-50-b16-bf16": once("ResNet-50, batch 16", "", 3.40, from_zoo("resnet-50", 16)),
    "resnet-50-b8-bf16": once("ResNet-50, batch 8, compiled", "", 6.10, from_zoo("resnet-50", 8), traced=False),
    "vit-base-b8": once("ViT-base, batch 8", BFP8 + "hifi2", 5.84, from_zoo("vit-base", 8)),
    "bert-large-b8": once("BERT-large, batch 8, 384 tokens", BFP8 + "hifi2", 29.6, from_zoo("bert-base", 8, **LARGE)),
    "sentence-bert-b8": once(
        "Sentence-BERT, batch 8", BFP8 + "hifi2", 18.5, from_zoo("bert-base", 8, rows=384), grid=(6, 8)
    ),
    "llama-8b-b32": Network(
        "Llama-3.1-8B, decode, batch 32",
        "experimental-weight-dtype=bfp_bf8 experimental-kv-cache-dtype=bfp_bf8 compute-cfg-math-fidelity=hifi2",
        [(llama_block, LLAMA_LAYERS), (llama_head, 1)],
        38.5,
    ),
}  # fmt: skip


def description(grid: tuple[int, int]) -> str:
    """Describes a machine with a chip of fewer cores, in JSON."""
    system = json.loads(rt.runtime.get_current_system_desc().as_json())
    system["chips"][0]["grid"] = grid
    return json.dumps(system)


def estimate(module: Any, options: CompileOptions, level: int) -> Any:
    """Per op what the clock says; once evaluated parts are not in it."""
    with module.context:
        compiled = type(module).parse(module.operation.get_asm(binary=False, enable_debug_info=True))
    ttir_to_ttnn_backend_pipeline(compiled, options.with_(optimization_level=level))
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(compiled))
    return rt.runtime.estimate(binary, 0, "wormhole_b0", (1, 1))


@dataclass
class Time:
    """Milliseconds of the chip, of the host where it is the host that they wait for, and one standard deviation."""

    device: float = 0.0
    host: float = 0.0
    deviation: float = 0.0

    @property
    def total(self) -> float:
        return max(self.device, self.host)


def times(network: Network) -> list[Time]:
    """At each level."""
    found = [Time() for _ in LEVELS]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as system:
        options = CompileOptions(network.options)
        if network.grid:
            Path(system.name).write_text(description(network.grid), encoding="utf-8")
            options = options.with_(system_desc_path=system.name)
        for make, count in network.parts:
            module = make()
            for time, level in zip(found, LEVELS, strict=True):
                figures = machine.run_figures(estimate(module, options, level))
                time.device += count * figures["device_ns"] / 1e6
                time.deviation += count * figures["uncertainty_ns"] / 1e6
                if not network.traced:
                    time.host += count * machine.without_trace("wormhole_b0", figures)["untraced_host_ns"] / 1e6
    return found


HEAD = "| network | weights | fidelity | cores | trace | published | level 0 | level 1 | level 2 | device | ± | ratio |"


def row(network: Network, found: Sequence[Time]) -> str:
    """Ratio: of level 2 to the published time. Device and its deviation: of level 2."""
    options = "bfp8" if "bfp_bf8" in network.options else "bf16"
    fidelity = network.options.rpartition("fidelity=")[2] or "hifi4"
    rows, columns = network.grid or (8, 8)
    last = found[-1]
    cells = [
        network.name, options, fidelity, str(rows * columns), "yes" if network.traced else "no",
        f"{network.published:.2f} ms", *(f"{time.total:.2f}" for time in found), f"{last.device:.2f}",
        f"{last.deviation:.2f}", f"{last.total / network.published:.2f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.network_times", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NETWORKS)}; all by default")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NETWORKS]
    if unknown:
        parser.error(f"no network {unknown[0]!r}; there are {', '.join(NETWORKS)}")
    print(HEAD + "\n" + "|---" * HEAD.count(" | ") + "|---|")
    for name in arguments.names or NETWORKS:
        print(row(NETWORKS[name], times(NETWORKS[name])), flush=True)


if __name__ == "__main__":
    main()
