# SPDX-License-Identifier: Apache-2.0
"""A model of the table of nineteen, compiled for the simulated chip compared with PyTorch: agreement by layer, time by
op.

    .venv/bin/python examples/torch/compare.py                                  DeiT-base, as published
    .venv/bin/python examples/torch/compare.py --model BERT --small --dtype bf16

Prints how well the output of each layer agrees, and times; writes the report of op times to `compare/report.html`,
which a browser opens.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch
import torch_zoo
from golden.metrics import compare
from profiler import trace
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from ttmlir.torch.metrics import tensors
from ttmlir.torch.report import record

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


class WithLayers(nn.Module):
    """A model that returns what its layers return, too.

    Its layers are the entries of its longest list of modules, in order.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        lists = [(name, m) for name, m in model.named_modules() if isinstance(m, nn.ModuleList | nn.Sequential)]
        self.names = [
            f"{name}.{i}" for name, m in lists for i in range(len(m)) if len(m) == max(len(x) for _, x in lists)
        ]
        self.found: list[Tensor] = []
        self.hooks = [model.get_submodule(name).register_forward_hook(self.keep) for name in self.names]

    def keep(self, _module: nn.Module, _inputs: object, output: object) -> None:
        first = output[0] if isinstance(output, tuple) else output
        assert isinstance(first, Tensor)
        self.found.append(first)

    def forward(self, **inputs: Tensor) -> list[Tensor]:
        self.found = []
        outputs = self.model(**inputs)
        return [*self.found, tensors(outputs)[0]]


def milliseconds(work: object, repeats: int) -> float:
    assert callable(work)
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return 1e3 * (time.perf_counter() - started) / repeats


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="facebook/deit-base-patch16-224", help="of the table (default: %(default)s)")
    parser.add_argument("--dtype", choices=DTYPES, default="f32", help="default: f32")
    parser.add_argument("--small", action="store_true", help="with the small settings of tests")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each side (default: 3)")
    parser.add_argument("--output", type=Path, default=Path("compare"), metavar="DIR", help="default: compare")
    arguments = parser.parse_args(words)
    try:
        model, inputs = torch_zoo.make(arguments.model, arguments.small, DTYPES[arguments.dtype])
    except KeyError as error:
        parser.error(str(error.args[0]))
    model.eval()
    console = Console()
    with torch.no_grad(), record() as reports:
        layers = WithLayers(model)
        want = layers(**inputs)
        got = torch.compile(layers, backend="tt", fullgraph=True)(**inputs)
        table = Table(title=f"{arguments.model}, {arguments.dtype}: each layer's output compared with PyTorch's")
        for column in ("layer", "shape", "PCC", "max |error|"):
            table.add_column(column, justify="right" if column[0] in "Pm" else "left")
        for name, a, b in zip([*layers.names, "output"], want, got, strict=True):
            found = compare(a, b)
            table.add_row(name, "x".join(map(str, a.shape)), f"{found.pcc:.6f}", f"{found.max_abs:.3g}")
        console.print(table)
        for hook in layers.hooks:
            hook.remove()
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="tt", fullgraph=True)
        compiled(**inputs)
        with trace(str(arguments.output)):
            compiled(**inputs)
        ours, theirs = (milliseconds(lambda m=m: m(**inputs), arguments.repeats) for m in (compiled, model))
    console.print(
        f"PyTorch {theirs:.1f} ms, compiled {ours:.1f} ms; ops left to PyTorch: {sum(reports[-1].on_host.values())}"
    )
    console.print(f"times of the ops: {arguments.output / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
