# SPDX-License-Identifier: Apache-2.0
"""ONNX files as modules of PyTorch, by onnx2torch, and compiled."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from ..torch import CompiledModel, Options

# onnx2torch asks for torchvision, whose builds for other machines replace PyTorch: two ops alone use it.
INSTALL = "pip install 'ttmlir[onnx]' && pip install --no-deps onnx2torch"
NEEDS_TORCHVISION = ("NonMaxSuppression", "RoiAlign")
TO_ONNX = "python -m tf2onnx.convert --{kind} {path} --output model.onnx"
TENSORFLOW = (
    "is TensorFlow's; export it as StableHLO, "
    "jax.jit(jax.experimental.jax2tf.call_tf(function)).lower(*inputs).as_text(), "
    "for ttmlir-opt --stablehlo-to-ttir-pipeline, or as ONNX: {to_onnx}"
)
# Suffixes of TensorFlow's files, and tf2onnx's option for them.
OTHERS = {".tflite": "tflite", ".pb": "graphdef", ".keras": "keras", ".h5": "keras"}


class OnnxError(RuntimeError):
    """A model that cannot be compiled; the text names the file, the op or input, and what to do."""


@contextmanager
def _stand_in() -> Iterator[None]:
    """A torchvision with nothing in it, as long as onnx2torch is imported."""

    def missing(*_: Any, **__: Any) -> Any:
        raise OnnxError(f"the ops {' and '.join(NEEDS_TORCHVISION)} need torchvision")

    modules = {name: ModuleType(name) for name in ("torchvision", "torchvision.ops")}
    for name in ("roi_align", "nms", "box_convert"):
        setattr(modules["torchvision.ops"], name, missing)
    modules["torchvision"].ops = modules["torchvision.ops"]  # type: ignore[attr-defined]
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            sys.modules.pop(name, None)


def onnx2torch() -> ModuleType:
    """The importer.

    Raises:
        OnnxError: it or what it needs is not installed; says how to install it.
    """
    for package in ("onnx", "torch", "onnx2torch"):
        if importlib.util.find_spec(package) is None:
            raise OnnxError(f"ONNX models need the package {package}: {INSTALL}")
    try:
        return importlib.import_module("onnx2torch")
    except (ImportError, RuntimeError):  # no torchvision, or one of another PyTorch
        for name in [name for name in sys.modules if name.partition(".")[0] in ("onnx2torch", "torchvision")]:
            del sys.modules[name]
    with _stand_in():
        return importlib.import_module("onnx2torch")


def operators() -> dict[str, list[int]]:
    """The ops of ONNX that there are converters for, with the opset versions that they were defined in."""
    onnx2torch()
    registry: Any = importlib.import_module("onnx2torch.node_converters.registry")
    found: dict[str, list[int]] = {}
    for key in registry._CONVERTER_REGISTRY:
        if key.domain in ("", "ai.onnx"):
            found.setdefault(key.operation_type, []).append(key.version)
    return {name: sorted(versions) for name, versions in sorted(found.items())}


def _read(path: Path) -> Any:
    if path.suffix in OTHERS or (path / "saved_model.pb").is_file():
        kind = OTHERS.get(path.suffix, "saved-model")
        raise OnnxError(f"{path}: {TENSORFLOW.format(to_onnx=TO_ONNX.format(kind=kind, path=path))}")
    onnx2torch()
    import onnx

    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        model = onnx.load(os.fspath(path))
        onnx.checker.check_model(model)
    except Exception as error:  # protobuf's and onnx's have no common type
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OnnxError(f"{path}: no valid ONNX model: {reason}") from None
    return model


def _examples(path: Path, model: Any, sizes: Mapping[str, int]) -> list[torch.Tensor]:
    """A tensor of ones for each input of the model."""
    import onnx
    import torch

    weights = {initializer.name for initializer in model.graph.initializer}
    examples, unknown = [], set(sizes)
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        shape = []
        for i, dim in enumerate(kind.shape.dim):
            if dim.HasField("dim_value"):
                shape.append(dim.dim_value)
            elif dim.dim_param in sizes:
                unknown.discard(dim.dim_param)
                shape.append(sizes[dim.dim_param])
            else:
                raise OnnxError(
                    f"{path}: input {value.name}: dimension {i} ({dim.dim_param or 'without a name'}) has no size; "
                    "programs have fixed sizes: give it by sizes={name: size}, or give inputs"
                )
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        examples.append(torch.ones(shape, dtype=getattr(torch, str(dtype))))
    if unknown:
        raise OnnxError(f"{path}: sizes has {min(unknown)!r}, which no dimension is called")
    return examples


def _converted(path: Path, model: Any) -> torch.nn.Module:
    try:
        return onnx2torch().convert(model).eval()
    except NotImplementedError as error:
        found = re.search(r"operation_type='(\w+)', version=(\d+)", str(error))
        op = f"op {found[1]} of opset {found[2]}" if found else str(error)
        known = operators().get(found[1], []) if found else []
        hint = f"; there is one of opset {', '.join(map(str, known))}" if known else ""
        raise OnnxError(f"{path}: {op} has no converter in onnx2torch{hint}") from None


def load(path: str | os.PathLike[str]) -> torch.nn.Module:
    """An ONNX model as a module of PyTorch, for `torch.compile(backend="tt")` or training.

    Raises:
        OnnxError: a package is missing, or the file is not valid, TensorFlow's, or has an op without a converter.
    """
    return _converted(Path(path), _read(Path(path)))


def compile(
    path: str | os.PathLike[str],
    inputs: Sequence[torch.Tensor] | None = None,
    sizes: Mapping[str, int] | None = None,
    options: Options | Mapping[str, Any] | None = None,
) -> CompiledModel:
    """An ONNX model compiled, to be called with tensors in the order of the model's inputs.

    Args:
        inputs: examples; None for tensors of the shapes and types that the file states.
        sizes: of named dimensions, for shapes that have some ({"batch": 1}).
    Raises:
        OnnxError: see `load`; or a dimension without a size.
        ttmlir.torch.UnsupportedError: an op that has no form on the chip.
    """
    path = Path(path)
    model = _read(path)
    examples = list(inputs) if inputs is not None else _examples(path, model, sizes or {})
    from ..torch import compile as compile_module

    return compile_module(_converted(path, model), examples, options=options)
