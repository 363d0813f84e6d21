# SPDX-License-Identifier: Apache-2.0
"""Modules of other frameworks. ONNX comes through PyTorch; modules of TensorFlow and JAX run on CPU devices,
where their framework is installed.
"""

from __future__ import annotations

import importlib
import inspect
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .errors import PyBudaError
from .module import Module, PyTorchModule
from .trace import Trace


class OnnxModule(PyTorchModule):
    """A model of ONNX, which becomes a module of PyTorch.

    module: an onnx.ModelProto; None: the file is read.
    """

    def __init__(self, name: str, module: Any, onnx_path: str) -> None:
        try:
            from ttmlir.onnx import load
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"OnnxModule {name!r}: {error}", name=error.name) from None
        if module is None:
            converted = load(onnx_path)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.onnx"
                path.write_bytes(module.SerializeToString())
                converted = load(path)
        super().__init__(name, converted)
        self.onnx_path = onnx_path


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
        """As forward."""
        return self.forward(*args, **kwargs)

    def backward(self, *args: tuple[Any, Any]) -> None:
        """There is none: gradients of other frameworks are not computed."""
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
