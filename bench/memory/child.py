# SPDX-License-Identifier: Apache-2.0
"""The process that memory.py measures. Prints what it found as JSON: bytes of peak, weights and activations.

usage: python -m bench.memory.child run FLATBUFFER | code FLATBUFFER | torch NETWORK FLATBUFFER MODEL DTYPE
                                    | compile MODEL DTYPE | torch-compile MODEL DTYPE

A peak is what the process had at its most, over what it had before it touched the network: values (weights in every
form, inputs, outputs, intermediate values, scratch memory), pages of the network's file, machine code made for it, the
objects that describe it, and whatever else is in its memory. Not counted are the pages of code and constants of the
shared libraries: all are mapped before, on both sides of a comparison. They belong to the file of the library, are the
same pages in every process that uses it, and do not grow with the network; how many of them a run touches is what
`code` finds.
"""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def status(field: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def library_mappings() -> Iterator[tuple[int, int, dict[str, int]]]:
    """Where files of shared libraries are mapped that nobody writes: begin, end, and the kernel's figures in bytes."""
    counted = False
    begin = end = 0
    figures: dict[str, int] = {}
    for line in [*Path("/proc/self/smaps").read_text().splitlines(), "0-0 end"]:
        first, *rest = line.split()
        if not first.endswith(":"):
            if counted:
                yield begin, end, figures
            begin, end = (int(address, 16) for address in first.split("-"))
            counted = len(rest) == 5 and rest[0].startswith("r-") and ".so" in Path(rest[4]).name
            figures = {}
        elif rest[-1] == "kB":
            figures[first[:-1]] = int(rest[0]) * 1024


def map_libraries() -> None:
    """Reads a byte of every page of the libraries' files."""
    for begin, end, _ in list(library_mappings()):
        for address in range(begin, end, mmap.PAGESIZE):
            ctypes.string_at(address, 1)


def code_bytes() -> int:
    return sum(figures["Rss"] - figures["Anonymous"] for *_, figures in library_mappings())


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_of(work: Callable[[], object]) -> int:
    """Bytes that the process had more, at its most, than before `work`."""
    map_libraries()
    forget_peak()
    before = status("VmRSS")
    work()
    return status("VmHWM") - before


KINDS = {"f32": "Float32", "bf16": "BFloat16", "si32": "Int32", "u32": "UInt32"}


def width_of(description: dict[str, Any]) -> int:
    """Bytes of an element."""
    return 2 if description["data_type"] in ("bf16", "BFloat16") else 4


def zeros_for(binary: Any) -> list[Any]:
    """Inputs as the program takes them: no time is measured, and a zero is in every table of words."""
    import _ttmlir_runtime as rt
    import numpy

    result = []
    for value in json.loads(binary.get_program_inputs_as_json(0)):
        shape, name = value["desc"]["shape"], value["desc"]["data_type"]
        kind, width = KINDS.get(name, name), width_of(value["desc"])
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        values = numpy.zeros(math.prod(shape) * width, numpy.uint8)
        result.append(
            rt.runtime.create_owned_host_tensor(
                values.ctypes.data, shape, strides, width, getattr(rt.runtime.DataType, kind)
            )
        )
    return result


def run_of(path: str) -> Callable[[], None]:
    """Loads a network and runs it twice. The device is open before."""
    import _ttmlir_runtime as rt
    import numpy  # noqa: F401 - so that it is there before, as in every program

    rt.runtime.set_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = (1, 1)
    device = rt.runtime.open_mesh_device(options)
    found: dict[str, Any] = {}

    def work() -> None:
        binary = rt.binary.load_from_path(path)
        for _ in range(2):
            rt.runtime.submit(device, binary, 0, zeros_for(binary))
        found["binary"] = binary

    return work


def run(path: str) -> dict[str, int]:
    peak = peak_of(run_of(path))
    return {"peak": peak, **needed(path)}


def code(path: str) -> dict[str, int]:
    """Pages of shared libraries that a run touches first."""
    work = run_of(path)
    before = code_bytes()
    work()
    return {"code": code_bytes() - before}


def needed(path: str) -> dict[str, int]:
    """The weights in a flatbuffer, which is little else; and the activations: inputs, outputs, and what our plan holds
    of intermediate values at once."""
    import _ttmlir_runtime as rt

    binary = rt.binary.load_from_path(path)
    device = rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions())
    rt.runtime.submit(device, binary, 0, zeros_for(binary))
    report = rt.runtime.last_run(device)
    assert report is not None
    ends = [*json.loads(binary.get_program_inputs_as_json(0)), *json.loads(binary.get_program_outputs_as_json(0))]
    values = sum(math.prod(value["desc"]["shape"]) * width_of(value["desc"]) for value in ends)
    return {"weights": os.path.getsize(path), "activations": report.arena_bytes + values}


def torch_eager(network: str, path: str, model: str, dtype: str) -> dict[str, int]:
    import torch

    from ..comparing import DTYPES
    from ..models import ZOO

    kind = DTYPES[dtype]
    inputs = [x.to(kind) if x.is_floating_point() else x for x in ZOO[model].inputs(**ZOO[model].full[1])]

    def work() -> None:
        with torch.inference_mode():
            loaded = torch.load(network, weights_only=False)
            for _ in range(2):
                loaded(*inputs)

    return {"peak": peak_of(work), **needed(path)}


def compile_model(model: str, dtype: str) -> dict[str, int]:
    """Compiles the network in torch, which was loaded before, to a file."""
    import tempfile

    from builder.base.builder_apis import build_module
    from ttmlir import passes

    from ..comparing import DTYPES
    from ..models import ZOO

    kind = DTYPES[dtype]
    network, inputs = ZOO[model].make()
    network = network.to(kind)
    build = ZOO[model].on_chip(network, inputs, kind)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.ttnn")

        def work() -> None:
            module, _ = build_module(build, "ttir")
            passes.ttir_to_ttnn_backend_pipeline(module)
            passes.ttnn_to_flatbuffer_file(module, path)

        return {"peak": peak_of(work), **needed(path)}


def torch_compile(model: str, dtype: str) -> dict[str, int]:
    """torch.compile of a model of tools/torch_zoo and two calls. PyTorch's weights count, which stay; what the first
    program of a process takes was there before."""
    import _ttmlir_runtime as rt
    import torch
    import torch_zoo
    from ttmlir.chips import default_device

    from ..comparing import DTYPES

    with torch.no_grad():
        small, inputs = torch_zoo.make(model, small=True, dtype=DTYPES[dtype])
        torch.compile(small, backend="tt")(**inputs)
        torch._dynamo.reset()
        map_libraries()
        before = status("VmRSS")
        network, inputs = torch_zoo.make(model, dtype=DTYPES[dtype])
        forget_peak()  # of making the weights
        compiled = torch.compile(network, backend="tt", fullgraph=True)
        for _ in range(2):
            compiled(**inputs)
        peak = status("VmHWM") - before
    values = {x.data_ptr(): x.nbytes for x in [*network.parameters(), *network.buffers()]}
    report = rt.runtime.last_run(default_device())
    assert report is not None
    return {"peak": peak, "weights": sum(values.values()), "activations": report.arena_bytes}


if __name__ == "__main__":
    kinds: dict[str, Callable[..., dict[str, int]]]
    kinds = {"run": run, "code": code, "torch": torch_eager, "compile": compile_model}
    kinds["torch-compile"] = torch_compile
    print(json.dumps(kinds[sys.argv[1]](*sys.argv[2:])))
