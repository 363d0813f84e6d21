# SPDX-License-Identifier: Apache-2.0
"""A model of the shape of Llama 3 8B that writes tokens: our weights in bfp_bf8 compared with PyTorch's in bf16.

    python -m bench --module bench.frontends.text --only 'Llama 3 8B, 8 layers'

Both sides map the same file of random weights in bf16 (16 GB for all 32 layers). Each has a process of its own, one
after the other. The programs of the prompt and of a token share the weights in bfp_bf8, on the chip and on the host.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..harness import Measure, Outcome, Result, Settings
from ..isolated import output_of
from ..names import EAGER

ROOT = Path(__file__).resolve().parents[2]
TOKENS = 16
SHAPE: dict[str, Any] = {
    "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
    "num_key_value_heads": 8, "max_position_embeddings": 8192, "rope_theta": 500000.0,
}  # fmt: skip
LAYERS = (2, 8, 16, 32)


def in_process(*words: str) -> dict[str, Any]:
    """Returns the results of `python -m bench.frontends.text_child`."""
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command = [sys.executable, "-m", "bench.frontends.text_child", *words]
    return json.loads(output_of(command, {**os.environ, "PYTHONPATH": paths}).splitlines()[-1])


def benchmark(name: str, shape: Mapping[str, Any], settings: Settings) -> Iterator[Outcome]:
    text = json.dumps(dict(shape))
    with tempfile.TemporaryDirectory() as folder:
        weights = str(Path(folder) / "weights")
        in_process("make", text, weights)
        with settings.quiet():
            ours = in_process("ours", text, weights, str(TOKENS))
            theirs = in_process("eager", text, weights, str(TOKENS)) if EAGER in settings.peers else None
    if theirs is None:
        yield Result(name, "bf16", ours["token_ms"])
    else:
        yield Result(name, "bf16", ours["token_ms"], EAGER, theirs["token_ms"])
    for side, found in (("", ours), (f", {EAGER}", theirs)):
        if found is not None:
            note = f"{found['mapped'] / 1e9:.2f} GB of the file's pages in addition; first token {found['first']:.1f} s"
            yield Measure(f"{name}{side}, peak memory", "bf16", found["anonymous"] / 1e9, "GB", "", note)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    name: functools.partial(benchmark, name, {**SHAPE, "num_hidden_layers": layers})
    for layers in LAYERS
    for name in [f"Llama 3 8B, {layers} layers"]
}
