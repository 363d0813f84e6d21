# SPDX-License-Identifier: Apache-2.0
"""Modules of other frameworks. Those of ONNX are compiled by `ttmlir.onnx`; modules of TensorFlow and JAX run on CPU
devices, where their framework is installed.
"""

from __future__ import annotations

import importlib
import inspect
import keyword
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..errors import PyBudaError
from ..module import Module
from ..tensor import to_torch
from .trace import Trace

# Models by number, for `run_onnx`: PyTorch's graphs have numbers and tensors.
_models: dict[int, Any] = {}


@torch.library.custom_op("pybuda::run_onnx", mutates_args=())
def run_onnx(inputs: list[torch.Tensor], model: int) -> list[torch.Tensor]:
    """Runs a model of ONNX on the chip; in graphs of PyTorch it is one op."""
    return [x.clone() for x in results_of(_models[model], inputs)]


@run_onnx.register_fake
def _(inputs: list[torch.Tensor], model: int) -> list[torch.Tensor]:
    found = _models[model].result_types([tuple(x.shape) for x in inputs])
    return [torch.empty(shape, dtype=getattr(torch, dtype.name)) for shape, dtype in found]


def results_of(model: Any, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    results = model(*inputs)
    return list(results) if isinstance(results, tuple) else [results]


class OnnxModule(Module):
    """A model of ONNX, compiled for the chip by `ttmlir.onnx`. It computes and is not trained.

    module: an onnx.ModelProto; None: the file is read.
    """

    def __init__(self, name: str, module: Any, onnx_path: str) -> None:
        super().__init__(name)
        try:
            from ttmlir.onnx import OnnxError, load
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"OnnxModule {name!r}: {error}", name=error.name) from None
        self.onnx_path, self.module = onnx_path, module
        try:
            self.model = load(onnx_path if module is None else module)
        except OnnxError as error:
            raise type(error)(f"OnnxModule {name!r}: {error}") from None
        self._number = len(_models)
        _models[self._number] = self.model

    def _parameters_of_forward(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(part(x.name), kind) for x in self.model.inputs])

    def state(self) -> dict[str, torch.Tensor]:
        """Returns None: weights are those of the file."""
        return {}

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        if any(x.requires_grad for x in inputs):
            raise PyBudaError(f"OnnxModule {self.name!r} has no backward pass; train its PyTorch version")
        given = [x.to(getattr(torch, d.dtype.name)) for x, d in zip(inputs, self.model.inputs, strict=True)]
        return list(torch.ops.pybuda.run_onnx(given, self._number))

    def forward(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """Computes the model's results."""
        given = {k: to_torch(x, f"input {k!r}") for k, x in kwargs.items()}
        results = self.model(*(to_torch(x, f"an input of module {self.name!r}") for x in args), **given)
        return results if isinstance(results, tuple) else (results,)

    def call(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """Computes as forward does."""
        return self.forward(*args, **kwargs)

    def backward(self, *args: tuple[Any, Any]) -> None:
        """Refuses, because gradients of ONNX models are not computed."""
        raise PyBudaError(f"OnnxModule {self.name!r} has no backward pass; train its PyTorch version")


def part(name: str) -> str:
    """Returns a name that a parameter of Python can have."""
    result = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return result if result.isidentifier() and not keyword.iskeyword(result) else f"input_{result}"


class FrameworkModule(Module):
    """A callable of a framework whose tensors are NumPy's on the way in and out. A TTDevice does not compile it."""

    framework = ""

    def __init__(self, name: str, module: Any) -> None:
        super().__init__(name)
        try:
            importlib.import_module(self.framework)
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"{type(self).__name__} {name!r} needs {self.framework}, which is not installed; export the model to "
                "ONNX and use an OnnxModule, or give its PyTorch version to a PyTorchModule",
                name=self.framework,
            ) from None
        self.module = module

    def _parameters_of_forward(self) -> inspect.Signature:
        return inspect.signature(self.module)

    def state(self) -> dict[str, torch.Tensor]:
        return {}

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        raise PyBudaError(f"{type(self).__name__} {self.name!r} cannot be compiled for a TTDevice; use an OnnxModule")

    def forward(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """Calls the module, with tensors of PyTorch as NumPy's."""
        given = [x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in args]
        result = self.module(*given, **kwargs)
        results = result if isinstance(result, tuple | list) else [result]
        return tuple(torch.from_numpy(np.array(x)) for x in results)

    def call(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """Runs as forward does."""
        return self.forward(*args, **kwargs)

    def backward(self, *args: tuple[Any, Any]) -> None:
        """Refuses, because gradients of other frameworks are not computed."""
        raise PyBudaError(f"{type(self).__name__} {self.name!r} has no backward pass; train its PyTorch version")


class TFModule(FrameworkModule):
    """A model of TensorFlow."""

    framework = "tensorflow"


class TFGraphDefModule(TFModule):
    """A graph of TensorFlow."""

    def __init__(self, name: str, module: Any, path: str = "", output_names: Sequence[str] = ()) -> None:
        super().__init__(name, module)
        self.path, self.output_names = path, list(output_names)


class TFLiteModule(TFModule):
    """A model of TensorFlow Lite."""

    def __init__(self, name: str, module: Any, tflite_path: str = "") -> None:
        super().__init__(name, module)
        self.tflite_path = tflite_path


class JaxModule(FrameworkModule):
    """A function or model of JAX."""

    framework = "jax"
