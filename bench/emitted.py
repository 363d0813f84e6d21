# SPDX-License-Identifier: Apache-2.0
"""Emitted C++ and Python compared with the flatbuffer executor: the same program, on the same device, with the same
bits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
from builder.base.builder_apis import compile_ttir_to_flatbuffer
from builder.execution.device_tensors import convert_input_layouts, fetched, host_tensor
from builder.execution.emitted_programs import cpp_programs, python_programs

from .comparing import DTYPES
from .device import compiled, device, runner
from .harness import Absent, Outcome, Result, Settings, alternate
from .models import ZOO
from .peers import no_compiler

MODEL = "bert-base"
# A difference of a few percent is looked for, so it takes longer than other comparisons.
LONGER = 8
# target -> what it is called here, and how its file becomes programs
TARGETS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "emitc": ("emitted C++", cpp_programs),
    "emitpy": ("emitted Python", python_programs),
}


def emitted(target: str, build: Callable[[Any], None], given: list[torch.Tensor], folder: str) -> Callable[[], Any]:
    """The emitted program as a function without arguments, its inputs on the device, where it wants them."""
    _, path, *_ = compile_ttir_to_flatbuffer(build, target=target, output_root=folder)
    assert isinstance(path, str)  # of a folder that was given
    program = TARGETS[target][1](path)[-1]
    templates = program.create_inputs(device())
    placed = convert_input_layouts(device(), [host_tensor(tensor) for tensor in given], templates)
    return lambda: program.run(placed, device())


def same_bits(ours: Any, other: Any, what: str) -> None:
    for index, (expected, found) in enumerate(zip(ours, other, strict=True)):
        if not torch.equal(fetched(expected)[0], fetched(found)[0]):
            raise ValueError(f"{what}: output {index} differs from the flatbuffer's")


def encoder(settings: Settings) -> Iterator[Outcome]:
    model = ZOO[MODEL]
    network, inputs = model.make()
    name = f"emitted, {MODEL}"
    for dtype, kind in DTYPES.items():
        build, given = model.on_chip(network, inputs, kind), model.chip_inputs(inputs, kind)
        ours = runner(compiled(build), given)
        with tempfile.TemporaryDirectory() as folder:
            sides = {}
            for target, (peer, _) in TARGETS.items():
                try:
                    if target == "emitc" and (reason := no_compiler()):
                        raise RuntimeError(reason)
                    run = emitted(target, build, given, folder)
                    same_bits(ours(), run(), f"{name} {dtype}, {peer}")
                    sides[peer] = run
                except Exception as error:
                    yield Absent(name, dtype, peer, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
            with settings.quiet():
                ours_ms, *others = alternate([ours, *sides.values()], LONGER * settings.seconds)
            for peer, ms in zip(sides, others, strict=True):
                yield Result(name, dtype, ours_ms, peer, ms)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {f"emitted, {MODEL}": encoder}
