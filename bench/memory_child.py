"""The process that memory.py measures. Prints what it found as JSON: bytes of peak, weights and activations.

usage: python -m bench.memory_child run FLATBUFFER | torch NETWORK FLATBUFFER MODEL DTYPE | compile MODEL DTYPE
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def status(field: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def peak_of(work: Callable[[], object]) -> int:
    """Bytes that the process had more, at its most, than before `work`."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = status("VmRSS")
    work()
    return status("VmHWM") - before


def zeros_for(binary: Any) -> list[Any]:
    """Inputs as the program takes them: no time is measured, and a zero is in every table of words."""
    import _ttmlir_runtime as rt
    import numpy

    made = []
    for value in json.loads(binary.get_program_inputs_as_json(0)):
        shape, name = value["desc"]["shape"], value["desc"]["data_type"]
        kind = {"f32": "Float32", "bf16": "BFloat16", "si32": "Int32", "u32": "UInt32"}.get(name, name)
        width = 2 if kind == "BFloat16" else 4
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        values = numpy.zeros(math.prod(shape) * width, numpy.uint8)
        made.append(
            rt.runtime.create_owned_host_tensor(
                values.ctypes.data, shape, strides, width, getattr(rt.runtime.DataType, kind)
            )
        )
    return made


def run(path: str) -> dict[str, int]:
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

    peak = peak_of(work)
    return {"peak": peak, **needed(path)}


def needed(path: str) -> dict[str, int]:
    """The weights in a flatbuffer, which is little else; and what our plan holds of intermediate values at once."""
    import _ttmlir_runtime as rt

    binary = rt.binary.load_from_path(path)
    device = rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions())
    rt.runtime.submit(device, binary, 0, zeros_for(binary))
    report = rt.runtime.last_run(device)
    return {"weights": os.path.getsize(path), "activations": report.arena_bytes}


def torch_eager(network: str, path: str, model: str, dtype: str) -> dict[str, int]:
    import torch

    from .comparing import DTYPES
    from .models import ZOO

    kind = DTYPES[dtype]
    inputs = [x.to(kind) if x.is_floating_point() else x for x in ZOO[model].inputs(**ZOO[model].full[1])]

    def work() -> None:
        with torch.inference_mode():
            loaded = torch.load(network, weights_only=False)
            for _ in range(2):
                loaded(*inputs)

    return {"peak": peak_of(work), **needed(path)}


def compile_model(model: str, dtype: str) -> dict[str, int]:
    """From the network in torch, which was there before, to a file."""
    import tempfile

    from builder.base.builder_apis import build_module
    from ttmlir import passes

    from .comparing import DTYPES
    from .models import ZOO

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


if __name__ == "__main__":
    kinds = {"run": run, "torch": torch_eager, "compile": compile_model}
    print(json.dumps(kinds[sys.argv[1]](*sys.argv[2:])))
