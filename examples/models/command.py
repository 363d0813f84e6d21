# SPDX-License-Identifier: Apache-2.0
"""The command line of zoo.py: one network on the simulated chip, compared with PyTorch.

Nothing here loads PyTorch or the compiler before the progress display is on the screen.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from ttrt.errors import known_errors, one_line
from ttrt.run import positive
from ttrt.usage import Parser, add_common, did_you_mean

if TYPE_CHECKING:
    from torch import Tensor

# --dtype -> torch dtype of weights, inputs and of PyTorch's own run, and options of the pipeline.
DTYPES = {"f32": ("float32", []), "bf16": ("bfloat16", []), "bfp8": ("bfloat16", ["target-format=bfp_bf8"])}
EXAMPLES = """examples:
  python examples/models/zoo.py --list
  python examples/models/zoo.py resnet-50 --dtype bf16
  python examples/models/zoo.py bert-base --dtype bfp8 --batch 4 --runs 20

Weights are random, the same for the same seed, so that nothing is downloaded. Outputs are compared with PyTorch's in
float32; times are those of PyTorch eager in the same dtype (bf16 for bfp8, which PyTorch does not have).
"""


def parser() -> Parser:
    result = Parser(
        prog="zoo.py",
        description="Compile a network and run it on a simulated chip, compared with PyTorch.",
        epilog=EXAMPLES,
    )
    result.add_argument("model", nargs="?", metavar="MODEL", help="its name; --list shows them")
    result.add_argument("--list", action="store_true", help="list the networks and end")
    result.add_argument("--dtype", choices=DTYPES, default="bf16", help="number format (default: %(default)s)")
    result.add_argument("--batch", type=positive, default=1, metavar="N", help="images or sentences (default: 1)")
    result.add_argument("--runs", type=positive, default=10, metavar="N", help="timed runs (default: %(default)s)")
    result.add_argument("--seed", type=int, default=0, metavar="N", help="of weights and inputs (default: 0)")
    result.add_argument("--small", action="store_true", help="a small network of the same kind, for a quick look")
    result.add_argument("--save", metavar="FILE.ttnn", help="also keep the flatbuffer")
    result.add_argument("--arch", default="wormhole_b0", choices=("wormhole_b0", "blackhole"), help="of the chip")
    add_common(result)
    return result


class Steps:
    """Reports the current step and its time: spinners on a terminal, a line for each step elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = (SpinnerColumn(finished_text="[green]✓"), TextColumn("{task.description}"), TimeElapsedColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        task = self.progress.add_task(what, total=1)
        started = time.perf_counter()
        if not self.console.is_terminal:
            print(f"{what} … ", end="", flush=True)
        done = "failed"
        try:
            yield
            done = f"{time.perf_counter() - started:.1f} s"
            self.progress.advance(task)
        finally:
            if not self.console.is_terminal:
                print(done, flush=True)


@dataclass
class Outcome:
    """Times in seconds. errors: of each output, (largest |difference|, PCC) with PyTorch in float32."""

    errors: list[tuple[float, float]] = field(default_factory=list)
    compile: float = 0.0
    first: float = 0.0
    median: float = 0.0
    chip: float = 0.0
    torch_first: float = 0.0
    torch_median: float = 0.0


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = function()
    return result, time.perf_counter() - started


def eager_times(network: Any, inputs: Sequence[Any], runs: int) -> tuple[float, float]:
    """Returns the time of the first run, and the median of others."""
    _, first = timed(lambda: network(*inputs))
    return first, statistics.median(timed(lambda: network(*inputs))[1] for _ in range(runs))


def run(args: argparse.Namespace, steps: Steps) -> Outcome:
    if args.save and not Path(args.save).parent.is_dir():
        raise ValueError(f"{args.save}: no folder {Path(args.save).parent}")
    with steps.step("loading PyTorch and the compiler"):
        import _ttmlir_runtime as rt
        import torch
        from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
        from builder.execution.device_tensors import convert_input_layouts, fetched, host_tensor
        from golden import compare
        from zoo import ZOO

    if args.model not in ZOO:
        hint = did_you_mean(args.model, ZOO) or f"; there are {', '.join(ZOO)}"
        raise ValueError(f"no network {args.model!r}{hint}")
    model, outcome = ZOO[args.model], Outcome()
    name, options = DTYPES[args.dtype]
    dtype = getattr(torch, name)
    with steps.step(f"making {args.model} in PyTorch"):
        network, inputs = model.make(args.small, args.seed, args.batch)
    with steps.step("running it in PyTorch"), torch.inference_mode():
        expected = listed(network(*inputs))
        in_dtype = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
        outcome.torch_first, outcome.torch_median = eager_times(copy.deepcopy(network).to(dtype), in_dtype, args.runs)
    with steps.step("building the module"):
        module, builder = build_module(model.on_chip(network, inputs, dtype), "ttir")
    with steps.step("compiling"):
        (binary, *_), outcome.compile = timed(
            lambda: compile_ttir_module_to_flatbuffer(module, builder, pipeline_options=options)
        )
    if args.save:
        binary.store(args.save)
    mesh = rt.runtime.MeshDeviceOptions()
    mesh.arch = args.arch
    with rt.runtime.open_mesh_device(mesh) as device:

        def placed() -> list[Any]:
            host = [host_tensor(x) for x in model.chip_inputs(inputs, dtype)]
            return convert_input_layouts(device, host, fbb=binary, program_index=0)

        with steps.step("first run, which prepares the weights"):
            given = placed()
            outputs, outcome.first = timed(lambda: rt.runtime.submit(device, binary, 0, given))
        found: list[Tensor] = [fetched(output)[0].float() for output in outputs]
        with steps.step(f"{args.runs} more runs"):
            runs = [timed(lambda: rt.runtime.submit(device, binary, 0, given))[1] for _ in range(args.runs)]
            outcome.median = statistics.median(runs)
        last = rt.runtime.last_run(device)
        assert last is not None
        outcome.chip = last.device_ns * 1e-9
    for theirs, ours in zip(expected, found, strict=True):
        compared = compare(theirs.float(), ours.reshape(theirs.shape))
        outcome.errors.append((compared.max_abs, compared.pcc))
    return outcome


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def show(args: argparse.Namespace, outcome: Outcome, console: Console) -> None:
    size = "small, " if args.small else ""
    table = Table(title=f"{args.model} ({size}batch {args.batch}, {args.dtype}) on a simulated {args.arch}")
    peer = f"PyTorch eager, {'bf16' if args.dtype == 'bfp8' else args.dtype}"
    for column in ("", "simulated chip", peer, "PyTorch / ours"):
        table.add_column(column, justify="left" if not column else "right")
    milliseconds = "{:,.2f} ms".format
    table.add_row("compile", milliseconds(1e3 * outcome.compile), "", "")
    for what, ours, theirs in (
        ("first run", outcome.first, outcome.torch_first),
        (f"median of {args.runs} runs", outcome.median, outcome.torch_median),
    ):
        table.add_row(what, milliseconds(1e3 * ours), milliseconds(1e3 * theirs), f"{theirs / ours:.2f}x")
    table.add_row("chip, estimated", milliseconds(1e3 * outcome.chip), "", "")
    console.print(table)
    for i, (error, pcc) in enumerate(outcome.errors):
        which = f"output {i}: " if len(outcome.errors) > 1 else ""
        print(f"{which}largest error {error:.3g}, PCC {pcc:.6f} compared with PyTorch in float32")


def show_list() -> None:
    from zoo import ZOO

    width = max(map(len, ZOO))
    for name, model in ZOO.items():
        print(f"{name:<{width}}  {model.about}")


def main(argv: Sequence[str] | None = None) -> int:
    result = parser()
    args = result.parse_args(argv)
    if args.list:
        show_list()
        return 0
    if args.model is None:
        result.error("say which network; --list shows them")
    console = Console()
    steps = Steps(console)
    expected: tuple[type[BaseException], ...] = (ValueError, *known_errors())
    try:
        with steps.progress:
            outcome = run(args, steps)
    except expected as error:
        print(f"zoo.py: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("zoo.py: interrupted", file=sys.stderr)
        return 130
    show(args, outcome, console)
    return 0
