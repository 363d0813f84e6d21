#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trace the graphs of models: which ops they have, of which shapes, forward and backward.

    tools/stat_models.py --trace_orig --backward --profile
    tools/stat_models.py --trace_modify --models BERT Llama --small

Writes `stat/raw/<model>/{fw,bw}_<n>.json`, a graph each, and with --profile `stat/profile/<model>.json`, which
chrome://tracing and https://ui.perfetto.dev open. tools/generate_report.py makes tables and plots of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch_zoo
from torch.utils._pytree import tree_leaves
from torch_stat import Tracer
from ttmlir.torch.decompositions import decompositions

# One of each kind, none of which takes long: --models all has the others.
DEFAULT = ("Mnist (Train)", "ResNet18", "distilbert-base-uncased", "GPT-2")
ALL = "all"


def run(model: Callable[..., Any], inputs: torch_zoo.Inputs, backward: bool) -> None:
    if not backward:
        with torch.no_grad():
            model(**inputs)
        return
    outputs = model(**inputs)
    values = outputs.to_tuple() if hasattr(outputs, "to_tuple") else outputs
    loss = next(x for x in tree_leaves(values) if isinstance(x, torch.Tensor) and x.requires_grad)
    loss.float().square().mean().backward()


def trace(
    name: str, folder: Path, orig: bool = True, backward: bool = True, profile: bool = True, small: bool = False
) -> list[Path]:
    """Traces a model of the table; returns the files."""
    model, inputs = torch_zoo.make(name, small=small)
    if backward:
        model.train()
    torch._dynamo.reset()
    with Tracer(name, folder, None if orig else decompositions(), profile) as tracer:
        run(torch.compile(model, backend=tracer.backend, dynamic=False), inputs, backward)
    return tracer.files


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--trace_orig", action="store_true", help="graphs as PyTorch has them (the default)")
    which.add_argument("--trace_modify", action="store_true", help="graphs as the chip gets them: ops taken apart")
    parser.add_argument("--backward", action="store_true", help="train: the backward graphs, too")
    parser.add_argument("--profile", action="store_true", help="PyTorch's profile of the run, too")
    parser.add_argument(
        "--models", nargs="+", default=list(DEFAULT), metavar="NAME",
        help=f"of the table of nineteen, or '{ALL}' (default: {', '.join(DEFAULT)})",
    )  # fmt: skip
    parser.add_argument("--small", action="store_true", help="with the small settings of tests")
    parser.add_argument("--output", type=Path, default=Path("stat"), metavar="DIR", help="default: stat")
    arguments = parser.parse_args(words)
    try:
        names = torch_zoo.names([] if ALL in arguments.models else arguments.models)
    except KeyError as error:
        parser.error(str(error.args[0]))
    for name in names:
        orig = not arguments.trace_modify
        files = trace(name, arguments.output, orig, arguments.backward, arguments.profile, arguments.small)
        print(f"{name}: {', '.join(str(file) for file in files)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
