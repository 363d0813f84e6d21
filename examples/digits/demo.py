# SPDX-License-Identifier: Apache-2.0
"""Train a small network on handwritten digits, compile it, and run it on a simulated chip in three number formats.

    make demo          or, in a built tree:  .venv/bin/python examples/digits/demo.py [--arch blackhole]

Leaves `digits.ttnn` in the working directory; `ttrt read digits.ttnn` and `ttrt run digits.ttnn` take it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import _ttmlir_runtime as tt_runtime
import chip
import network
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from ttrt.usage import version

LAYER = "output"  # the layer whose IR is shown: one that no activation is fused into


def time_torch(model: network.Network, images: torch.Tensor, dtype: torch.dtype, repeats: int = 15) -> float:
    """Median wall time of PyTorch eager on the same images, in seconds."""
    model, images = network.Network().eval(), images.to(dtype)
    model.to(dtype)
    times = []
    with torch.inference_mode():
        for _ in range(3 + repeats):
            started = time.perf_counter()
            model(images)
            times.append(time.perf_counter() - started)
    return statistics.median(times[3:])


def ttir_of(text: str, location: str) -> list[str]:
    """The lines of a printed module that carry a location, without it."""
    aliases = [line.split(" = ")[0] for line in text.splitlines() if line.endswith(f'= loc("{location}")')]
    suffixes = tuple(f" loc({alias})" for alias in aliases)
    return [line.strip().removesuffix(s) for line in text.splitlines() for s in suffixes if line.endswith(s)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="wormhole_b0", choices=["wormhole_b0", "blackhole"], help="chip to simulate")
    parser.add_argument("--epochs", type=int, default=network.EPOCHS, help="epochs of training")
    parser.add_argument("--output", type=Path, default=Path("digits.ttnn"), help="where the f32 flatbuffer goes")
    parser.add_argument("--progress-lines", action="store_true", help="progress as lines [done/total], not as a bar")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version()}")
    arguments = parser.parse_args()
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())

    digits = network.load()
    with Progress(*columns, console=console, disable=arguments.progress_lines) as progress:

        def advance(task: TaskID) -> None:
            progress.advance(task)
            if arguments.progress_lines:
                done, total = (sum(getattr(t, field) for t in progress.tasks) for field in ("completed", "total"))
                print(f"[{done:.0f}/{total:.0f}] {progress.tasks[task].description}", flush=True)

        epochs = progress.add_task("training in PyTorch", total=arguments.epochs)
        formats = progress.add_task(f"running on {arguments.arch}", total=len(chip.FORMATS))
        model = network.train(digits, lambda *_: advance(epochs), arguments.epochs)
        with torch.inference_mode():
            expected = network.accuracy(model(digits.test_images), digits.test_labels)

        options = tt_runtime.runtime.MeshDeviceOptions()
        options.arch = arguments.arch
        device = tt_runtime.runtime.open_mesh_device(options)
        compiled, runs, torch_seconds = {}, {}, {}
        for name, form in chip.FORMATS.items():
            compiled[name] = chip.compile_network(model, digits.test_images, name)
            runs[name] = chip.run(compiled[name], digits.test_images, device)
            torch_seconds[name] = time_torch(model, digits.test_images, form.dtype)
            advance(formats)
        tt_runtime.runtime.close_mesh_device(device)
    compiled["f32"].binary.store(str(arguments.output))

    shown = compiled["f32"]
    for dialect, lines in (("TTIR", ttir_of(shown.ttir, LAYER)), ("TTNN", shown.ttnn_of(LAYER))):
        console.print(f"\n[bold]the layer {LAYER!r} in {dialect}[/bold]")
        console.print("\n".join(lines), markup=False, highlight=False)

    intermediates = Table(title="\nPCC of every intermediate against its golden")
    intermediates.add_column("layer")
    for name in runs:
        intermediates.add_column(name, justify="right")
    records = {
        name: {r.location: r for r in run.report.records if r.kind == "intermediate" and r.op != "ttir.constant"}
        for name, run in runs.items()
    }
    for location, record in records["f32"].items():
        figures = [f"{records[name][location].comparison.pcc:.6f}" for name in runs]
        intermediates.add_row(f"{location} ({record.op})", *figures)
    console.print(intermediates)

    table = Table(
        title=f"\n{len(digits.test_images)} held-back images on a simulated {arguments.arch}",
        caption="accuracy in torch (f32) and on the chip; most bytes in one core's L1 and in one DRAM channel; time on "
        "the chip as estimated; wall time of the simulation, and of torch in the same dtype; torch / ours",
        caption_justify="left",
    )
    for name in ("format", "torch %", "chip %", "L1 MiB", "DRAM MiB", "est. ms", "wall ms", "torch ms", "ratio"):
        table.add_column(name, justify="left" if name == "format" else "right")
    for name, run in runs.items():
        table.add_row(
            name,
            f"{expected:.2f}",
            f"{network.accuracy(run.probabilities, digits.test_labels):.2f}",
            f"{run.l1_peak / 2**20:.2f}",
            f"{run.dram_peak / 2**20:.2f}",
            f"{1e3 * run.chip_seconds:.3f}",
            f"{1e3 * run.seconds:.2f}",
            f"{1e3 * torch_seconds[name]:.2f}",
            f"{torch_seconds[name] / run.seconds:.3g}x",
        )
    console.print(table)
    console.print(f"wrote {arguments.output}: try [bold]ttrt read {arguments.output}[/bold]")


if __name__ == "__main__":
    main()
