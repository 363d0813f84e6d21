# SPDX-License-Identifier: Apache-2.0
"""The process that makes the file of weights, or runs one side.

    python -m bench.frontends.text_child make SHAPE FILE
    python -m bench.frontends.text_child ours|eager SHAPE FILE TOKENS

SHAPE: JSON, settings of `transformers.LlamaConfig`. Prints, as JSON, what one of the runs after the first took: median
milliseconds of a token, seconds of the first; and peaks over both, in bytes: anonymous memory, and pages of files.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

from ..memory.child import status

PROMPT = 8


def empty_model(shape: str) -> Any:
    """A model in bf16 without memory for weights."""
    config = transformers.LlamaConfig(**json.loads(shape), tie_word_embeddings=False)
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config)
    return model.bfloat16().eval()


def make(shape: str, path: str) -> None:
    most = 1 << 26  # values at a time
    torch.manual_seed(0)
    left = sum(weight.numel() for weight in empty_model(shape).parameters())
    with Path(path).open("wb") as file:
        for count in [most] * (left // most) + [left % most]:
            file.write(torch.empty(count).normal_(0, 0.02).bfloat16().view(torch.uint8).numpy().data)


def mapped_model(shape: str, path: str) -> Any:
    model = empty_model(shape)
    names = {name: weight.shape for name, weight in model.named_parameters()}
    total = sum(size.numel() for size in names.values())
    pieces = torch.from_file(path, shared=False, size=total, dtype=torch.bfloat16).split(
        [size.numel() for size in names.values()]
    )
    weights = {name: piece.view(size) for (name, size), piece in zip(names.items(), pieces, strict=True)}
    for name, weight in weights.items():
        if "norm" in name:
            weights[name] = torch.ones_like(weight)
    model.load_state_dict(weights, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(model.config)  # computed, not loaded
    model.generation_config.pad_token_id, model.generation_config.eos_token_id = 0, None
    return model.requires_grad_(False)


class Peaks(threading.Thread):
    """Looks at the process's memory fifty times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.anonymous = self.mapped = 0

    def run(self) -> None:
        while True:
            self.anonymous = max(self.anonymous, status("RssAnon"))
            self.mapped = max(self.mapped, status("RssFile"))
            time.sleep(0.02)


class Times:
    """Takes tokens as `generate` finds them: first the prompt."""

    def __init__(self) -> None:
        self.at = [time.perf_counter()]

    def put(self, _: torch.Tensor) -> None:
        self.at.append(time.perf_counter())

    def end(self) -> None:
        pass


def run(side: str, shape: str, path: str, tokens: int) -> dict[str, float]:
    peaks = Peaks()
    peaks.start()
    model = mapped_model(shape, path)
    if side == "ours":
        model.forward = torch.compile(model.forward, backend="tt", options={"weight_format": "bfp_bf8"})
    torch.manual_seed(1)
    prompt = torch.randint(model.config.vocab_size, (1, PROMPT))
    first = 0.0
    for _ in range(2):  # the first call compiles
        times = Times()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.generate(
                prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, min_new_tokens=tokens,
                do_sample=False, cache_implementation="static", streamer=times,
            )  # fmt: skip
        first = first or times.at[2] - times.at[0]
    steps = [1e3 * (after - before) for before, after in zip(times.at[2:], times.at[3:], strict=False)]
    return {
        "token_ms": statistics.median(steps), "first": first, "anonymous": peaks.anonymous, "mapped": peaks.mapped
    }  # fmt: skip


def main() -> None:
    side, *words = sys.argv[1:]
    if side == "make":
        make(*words)
        print("{}")
    else:
        shape, path, tokens = words
        print(json.dumps(run(side, shape, path, int(tokens))))


if __name__ == "__main__":
    main()
