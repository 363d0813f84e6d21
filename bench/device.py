# SPDX-License-Identifier: Apache-2.0
"""A built module on the simulated chip, as a function without arguments that runs it once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
from builder.execution.device_tensors import convert_input_layouts, host_tensor


@functools.cache
def device() -> Any:
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = (1, 1)
    return rt.runtime.open_mesh_device(options)


def compiled(build: Callable[..., Any], pipeline_options: Sequence[str] = (), target: str = "ttnn") -> Any:
    """The flatbuffer of what `build(builder)` makes."""
    module, builder = build_module(build, "ttir")
    binary, *_ = compile_ttir_module_to_flatbuffer(
        module, builder, target=target, pipeline_options=list(pipeline_options)
    )
    return binary


def runner(binary: Any, inputs: Sequence[torch.Tensor], on_host: bool = False) -> Callable[[], list[Any]]:
    """Runs program 0. The inputs are on the device before, in the layout that the program wants, so that a run copies
    nothing from or to the host that the program does not say. on_host: they stay on the host, as target ttmetal wants
    them."""
    placed = [host_tensor(tensor) for tensor in inputs]
    if not on_host:
        placed = convert_input_layouts(device(), placed, fbb=binary, program_index=0)
    return lambda: rt.runtime.submit(device(), binary, 0, placed)


def check(found: torch.Tensor, expected: torch.Tensor, least: float, name: str) -> None:
    from golden import get_pcc

    value = get_pcc(expected.float(), found.float().reshape(expected.shape))
    if not value >= least:
        raise ValueError(
            f"{name}: the result's correlation with PyTorch's in f32 is {value:.6f}, expected {least} or more"
        )
