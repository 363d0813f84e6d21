#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a model of `transformers` compiled, compared with PyTorch.

    tools/run_transformers.py --model ./my-model --backend torch_ttnn
    tools/run_transformers.py --model "phiyodr/bert-large-finetuned-squad2" --backend torch_stat

--model: a folder that `save_pretrained` wrote, a name of the hub that is in transformers' cache, or a model of the
table of nineteen, which has random weights. torch_ttnn runs it on the simulated chip and prints times and accuracy;
torch_stat runs it in PyTorch and traces its graphs to `stat/raw`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch_zoo
import transformers
from torch import nn
from torch_stat import Tracer
from ttmlir.torch.metrics import called, measure

BACKENDS = ("torch_ttnn", "torch_stat")
QUESTION = "What does the compiler make?"
CONTEXT = "The compiler makes a program for the chip out of the graphs of PyTorch."


class ModelError(Exception):
    """The model cannot be loaded; the text says why."""


def load(name: str) -> tuple[nn.Module, Any, Any]:
    """Returns (model, tokenizer or None, inputs)."""
    try:
        (known,) = torch_zoo.names([name])
    except KeyError:
        known = ""
    if known and not Path(name).is_dir():
        model, inputs = torch_zoo.make(known)
        print(f"{known}: random weights, the configuration of {torch_zoo.MODELS[known].card}", file=sys.stderr)
        return model, None, inputs
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        architecture = next(iter(config.architectures or []), "")
        kind = getattr(transformers, architecture, transformers.AutoModel)
        model = kind.from_pretrained(name).eval()
    except (OSError, ValueError) as error:
        raise ModelError(f"{name}: {str(error).strip().partition(chr(10))[0]}") from None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, KeyError):  # of images, or without a vocabulary
        tokenizer = None
    return model, tokenizer, example_inputs(model, tokenizer, architecture)


def example_inputs(model: Any, tokenizer: Any, architecture: str) -> Any:
    if tokenizer is not None:
        text = (QUESTION, CONTEXT) if architecture.endswith("QuestionAnswering") else (CONTEXT,)
        return dict(tokenizer(*text, return_tensors="pt"))
    torch.manual_seed(0)
    if model.main_input_name == "pixel_values":
        size = model.config.image_size
        height, width = size if isinstance(size, list | tuple) else (size, size)
        return {"pixel_values": torch.rand(1, model.config.num_channels, height, width)}
    return {"input_ids": torch.randint(0, model.config.vocab_size, (1, 64))}


def answer(tokenizer: Any, inputs: Any, output: Any) -> str:
    """Returns the words that a model for questions points at."""
    start, end = int(output.start_logits[0].argmax()), int(output.end_logits[0].argmax())
    return tokenizer.decode(inputs["input_ids"][0, start : max(start, end) + 1])


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder, a name of the hub, or of the table of nineteen")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="default: %(default)s")
    parser.add_argument(
        "--metrics", type=Path, metavar="DIR", help="write the metrics there (tools/collect_metrics.py)"
    )
    parser.add_argument("--stat", type=Path, default=Path("stat"), metavar="DIR", help="of torch_stat (default: stat)")
    arguments = parser.parse_args(words)
    try:
        model, tokenizer, inputs = load(arguments.model)
    except ModelError as error:
        print(f"run_transformers: {error}", file=sys.stderr)
        return 1
    name = Path(arguments.model).name if Path(arguments.model).is_dir() else arguments.model
    with torch.no_grad():
        output = called(model, inputs)
        if tokenizer is not None and hasattr(output, "start_logits"):
            print(f"question: {QUESTION}\nanswer:   {answer(tokenizer, inputs, output)}")
        if arguments.backend == "torch_stat":
            with Tracer(name, arguments.stat) as tracer:
                called(torch.compile(model, backend=tracer.backend, dynamic=False), inputs)
            print("\n".join(str(file) for file in tracer.files))
            return 0
        metrics = measure(name, model, inputs)
    if arguments.metrics is not None:
        metrics.save(arguments.metrics)
    if metrics.error:
        print(f"run_transformers: {name}: {metrics.error}", file=sys.stderr)
        return 1
    left = ", ".join(f"{op} ({count})" for op, count in metrics.on_host.items()) or "none"
    print(
        f"{name}: {sum(metrics.ops.values())} ops in {metrics.graphs} graphs; left to PyTorch: {left}\n"
        f"PyTorch {metrics.original_ms:.2f} ms, compiled {metrics.compiled_ms:.2f} ms, "
        f"first run {metrics.first_ms:.0f} ms; accuracy {metrics.accuracy:.4f} %"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
