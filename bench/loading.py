# SPDX-License-Identifier: Apache-2.0
"""How long it takes until a compiled network is there, from a file of bert-base that the system has in its cache."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch

from .comparing import DTYPES
from .device import compiled, runner
from .harness import Outcome, Result, Settings, median_of
from .models import ZOO
from .names import EAGER, OPENVINO
from .peers import PEERS, openvino_core, openvino_model, openvino_request

MODEL = "bert-base"
REPEATS = 5


def torch_loads(folder: Path, network: Any, inputs: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Returns, by name, loading alone and loading with a first result."""
    path = folder / "weights.pt"
    torch.save(network.state_dict(), path)
    sizes, _ = ZOO[MODEL].full
    with torch.device("meta"):
        empty = ZOO[MODEL].network(**sizes).eval().requires_grad_(False)

    def load(mmap: bool) -> Any:
        return torch.load(path, mmap=mmap)

    def run(mmap: bool) -> Any:
        empty.load_state_dict(load(mmap), assign=True)
        return empty(*inputs)

    return {
        f"torch.load{', mmap' if mmap else ''}": (functools.partial(load, mmap), functools.partial(run, mmap))
        for mmap in (False, True)
    }


def openvino_loads(
    folder: Path, network: Any, inputs: Any, dtype: torch.dtype, threads: int
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    library, core = openvino_core()
    path = folder / "model.xml"
    library.save_model(openvino_model(network, inputs), path, compress_to_fp16=False)

    def run() -> Any:
        request = openvino_request(core.read_model(path), dtype, threads)
        return request.infer([x.numpy() for x in inputs])

    return lambda: core.read_model(path), run


def load(settings: Settings) -> Iterator[Outcome]:
    model = ZOO[MODEL]
    network, inputs = model.make()
    for dtype, kind in DTYPES.items():
        with tempfile.TemporaryDirectory() as name, torch.inference_mode():
            folder = Path(name)
            path = folder / "model.ttnn"
            compiled(model.on_chip(network, inputs, kind)).store(path)
            given = model.chip_inputs(inputs, kind)

            def first(path: Path = path, given: Any = given) -> Any:
                return runner(rt.binary.load_from_path(path), given)()

            ours = (lambda path=path: rt.binary.load_from_path(path), first)
            theirs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
            if EAGER in settings.peers:
                cast = ZOO[MODEL].make()[0].to(kind)
                theirs |= torch_loads(folder, cast, [x.to(kind) if x.is_floating_point() else x for x in inputs])
            if OPENVINO in settings.peers and PEERS[OPENVINO].missing() is None:
                theirs["OpenVINO read_model"] = openvino_loads(folder, network, inputs, kind, settings.threads)
            for i, what in enumerate(("load bert-base", "load bert-base to first result")):
                with settings.quiet():
                    ours_ms = median_of(ours[i], REPEATS)
                    times = {peer: median_of(work[i], REPEATS) for peer, work in theirs.items()}
                if not times:
                    yield Result(what, dtype, ours_ms)
                for peer, ms in times.items():
                    yield Result(what, dtype, ours_ms, peer, ms)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {"load bert-base": load}
