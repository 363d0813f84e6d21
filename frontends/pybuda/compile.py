# SPDX-License-Identifier: Apache-2.0
"""Compiling the modules of one device by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from ttmlir.torch import Options, backend

from .capture.formats import FLOATS, DataFormat
from .config import CompilerConfig, _get_global_compiler_config
from .enums import CompileDepth
from .errors import VerificationError
from .op.eval import compare_tensor_to_golden
from .tensor import Tensor, to_torch
from .ttdevice import TTDevice

__all__ = ["CompileDepth", "CompileResults", "compile_torch", "pybuda_compile"]


def compile_torch(module: torch.fx.GraphModule, sample_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """Returns a graph of Dynamo as a function that runs on a chip: `torch.compile(model, backend=compile_torch)`.

    It is the backend "tt" with the configuration's format and options of the compiler.
    """
    config = _get_global_compiler_config()
    chosen = config.default_df_override
    requested = None if chosen in (None, DataFormat.Float32) else FLOATS[chosen]
    return backend(
        module, sample_inputs, Options(target_format=requested, pipeline=config.compile_options()), **options
    )


@dataclass
class CompileResults:
    """The results of the compiler.

    outputs: of the modules, for the inputs that they were compiled for; golden_outputs: PyTorch's.
    golden_intermediates: values of the ops in `op_intermediates_to_save`.
    initial_graph: the ops of PyBuda modules and their kinds. lowered_graph: what was placed.
    """

    outputs: list[Tensor]
    golden_outputs: list[torch.Tensor]
    golden_intermediates: dict[str, torch.Tensor]
    initial_graph: dict[str, str]
    lowered_graph: Any
    netlist_filename: str
    perf_model_results: dict[str, float] = field(default_factory=dict)
    pass_specific_output_kwargs: dict[str, Any] = field(default_factory=dict)


@contextmanager
def options_of(config: CompilerConfig | None) -> Iterator[CompilerConfig]:
    """Has the process's configuration have the options of another one."""
    own = _get_global_compiler_config()
    if config is None or config is own:
        yield own
        return
    before = own.values()
    try:
        for name, value in config.values().items():
            setattr(own, name, value)
        yield own
    finally:
        for name, value in before.items():
            setattr(own, name, value)


def pybuda_compile(
    dev: TTDevice,
    graph_name: str,
    *inputs: Any,
    targets: Sequence[Any] = [],
    compiler_cfg: CompilerConfig | None = None,
    verify_cfg: Any = None,
    losses: Sequence[Any] | None = None,
    microbatch_size: int = 1,
    microbatch_count: int = 1,
) -> CompileResults:
    """Compiles the modules on a device for inputs like these.

    Args:
        graph_name: has no effect; the netlist's is that of the first module.
        targets: tensors like those of the loss, where the device has one.
        compiler_cfg: options instead of the process's; `enable_training` compiles for training.
        verify_cfg: compare the outputs with PyTorch's.
        losses, microbatch_size, microbatch_count: have no effect: a program takes what it is given.
    Raises:
        PyBudaError: modules that do not compile. VerificationError: outputs that differ from PyTorch's.
    """
    if not isinstance(dev, TTDevice):
        raise TypeError(f"pybuda_compile gets {type(dev).__name__}; expected a TTDevice with the modules")
    with options_of(compiler_cfg) as config:
        given = [to_torch(x, "an input") for x in inputs]
        expected = [to_torch(x, "a target") for x in targets]
        outputs = dev.compile(given, expected, config.enable_training)
    golden = dev.evaluate(given, {}, False, expected)
    if verify_cfg is not None and verify_cfg.enabled:
        for number, (reference, result) in enumerate(zip(golden, outputs, strict=True)):
            if not compare_tensor_to_golden(f"output {number}", reference, result, verify_cfg=verify_cfg):
                raise VerificationError(f"output {number} of device {dev.name!r} differs from PyTorch's")
    placement, saved = dev.placement, dict(zip(dev._saved, dev.intermediates, strict=False))
    return CompileResults(
        [Tensor(x) for x in outputs], golden, saved, dict(dev.op_names),
        placement.graph if placement is not None else None, dev.netlist_filename,
    )  # fmt: skip
