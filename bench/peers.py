# SPDX-License-Identifier: Apache-2.0
"""The libraries that do the same work as we do. Each makes a function without arguments that runs a network once."""

from __future__ import annotations

import copy
import functools
import importlib.util
import logging
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .names import EAGER, INDUCTOR, OPENVINO

Run = Callable[[], Tensor]


def first(outputs: Any) -> Tensor:
    """Returns the compared output: the other outputs are caches."""
    return outputs[0] if isinstance(outputs, tuple | list) else outputs


def as_torch_likes_it(
    network: nn.Module, inputs: Sequence[Tensor], dtype: torch.dtype, images: bool
) -> tuple[nn.Module, list[Tensor]]:
    """The network and its inputs in `dtype`, with images and filters channels-last; a copy where that changes it."""
    if dtype == torch.float32 and not images:
        return network, list(inputs)
    copied: Any = copy.deepcopy(network).to(dtype)
    given = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    if images:
        copied = copied.to(memory_format=torch.channels_last)
        given[0] = given[0].contiguous(memory_format=torch.channels_last)
    return copied, given


def eager(network: nn.Module, inputs: Sequence[Tensor], dtype: torch.dtype, images: bool, threads: int) -> Run:
    network, given = as_torch_likes_it(network, inputs, dtype, images)
    return lambda: first(network(*given))


def inductor(network: nn.Module, inputs: Sequence[Tensor], dtype: torch.dtype, images: bool, threads: int) -> Run:
    """torch.compile with the weights as constants, which it packs once, as we do."""
    import torch._inductor.config as config
    import torch._logging

    torch._logging.set_logs(dynamo=logging.ERROR)  # it explains at length where it had to cut a graph
    torch._dynamo.reset()
    network, given = as_torch_likes_it(network, inputs, dtype, images)
    config.freezing = True
    compiled = torch.compile(network, dynamic=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(*given)
    return lambda: first(compiled(*given))


@functools.cache
def openvino_core() -> Any:
    # Its converter reports every use to its authors, unless this package cannot be found.
    modules: dict[str, Any] = sys.modules  # None stands for a package that is not to be found
    modules.setdefault("openvino_telemetry", None)
    import openvino

    return openvino, openvino.Core()


def openvino_model(network: nn.Module, inputs: Sequence[Tensor]) -> Any:
    """The network in OpenVINO's form, of fixed shapes."""
    library, _ = openvino_core()
    network = copy.deepcopy(network)  # tracing leaves its mark on a module
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = library.convert_model(network, example_input=tuple(inputs))
    finally:
        logging.disable(level)
    model.reshape({port: list(x.shape) for port, x in zip(model.inputs, used(model, inputs), strict=True)})
    return model


def used(model: Any, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs that are left: tracing makes a constant of one that is read as a number."""
    return list(inputs[: len(model.inputs)])


def openvino_request(model: Any, dtype: torch.dtype, threads: int) -> Any:
    _, core = openvino_core()
    kind = {torch.float32: "f32", torch.bfloat16: "bf16"}[dtype]
    compiled = core.compile_model(
        model,
        "CPU",
        {"INFERENCE_PRECISION_HINT": kind, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"},
    )
    return compiled.create_infer_request()


def openvino(network: nn.Module, inputs: Sequence[Tensor], dtype: torch.dtype, images: bool, threads: int) -> Run:
    """In f32 from outside; INFERENCE_PRECISION_HINT says what it computes in."""
    library, _ = openvino_core()
    model = openvino_model(network, inputs)
    request = openvino_request(model, dtype, threads)
    held = [x.contiguous().numpy() for x in used(model, inputs)]
    for i, values in enumerate(held):
        request.set_input_tensor(i, library.Tensor(values, shared_memory=True))
    result = request.get_output_tensor(0)

    def run() -> Tensor:
        request.infer()
        return torch.from_numpy(result.data)

    vars(run)["held"] = held  # the request reads their memory
    return run


def no_compiler() -> str | None:
    return None if any(map(shutil.which, ("g++", "clang++", "c++"))) else "needs a C++ compiler (apt install g++)"


def no_openvino() -> str | None:
    return None if importlib.util.find_spec("openvino") else "is not installed (scripts/setup.sh --bench)"


@dataclass(frozen=True)
class Peer:
    """missing: why it cannot run here, or None. prepare: a function of network, inputs, dtype, images and threads."""

    prepare: Callable[[nn.Module, Sequence[Tensor], torch.dtype, bool, int], Run]
    missing: Callable[[], str | None] = lambda: None


PEERS: dict[str, Peer] = {
    EAGER: Peer(eager),
    INDUCTOR: Peer(inductor, no_compiler),
    OPENVINO: Peer(openvino, no_openvino),
}
