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
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import torch

    from ..torch import CompiledModel, Options
    from .sizes import Input, OpenModel

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


Bounds: TypeAlias = "tuple[int, int | None]"


def _inputs(path: Path, model: Any, sizes: Mapping[str, int | Bounds]) -> tuple[list[Input], dict[str, Bounds]]:
    """The inputs of the model, and the bounds of their named dimensions that have no size."""
    import onnx
    import torch

    from .sizes import Input

    weights = {initializer.name for initializer in model.graph.initializer}
    inputs, unknown, bounds = [], set(sizes), dict[str, Any]()
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        shape: list[int | str] = []
        for i, dim in enumerate(kind.shape.dim):
            if dim.HasField("dim_value"):
                shape.append(dim.dim_value)
                continue
            if not dim.dim_param:
                raise OnnxError(
                    f"{path}: input {value.name}: dimension {i} has neither a size nor a name; give example inputs"
                )
            unknown.discard(dim.dim_param)
            given = sizes.get(dim.dim_param, (0, None))
            shape.append(given if isinstance(given, int) else dim.dim_param)
            if not isinstance(given, int):
                bounds[dim.dim_param] = given
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        inputs.append(Input(value.name, tuple(shape), getattr(torch, str(dtype))))
    if unknown:
        raise OnnxError(f"{path}: sizes has {min(unknown)!r}, which no dimension is called")
    for name, (least, most) in bounds.items():
        if least < 0 or (most is not None and most < least):
            raise OnnxError(f"{path}: size {name} goes from {least} to {most}; expected the larger one last")
    return inputs, bounds


def _converted(path: Path, model: Any) -> torch.nn.Module:
    convert = onnx2torch().convert
    from .reshapes import with_constant_reshapes, with_known_shapes

    try:
        return with_constant_reshapes(convert(with_known_shapes(model))).eval()
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
    sizes: Mapping[str, int | Bounds] | None = None,
    options: Options | Mapping[str, Any] | None = None,
) -> CompiledModel | OpenModel:
    """An ONNX model compiled, to be called with tensors in the order of the model's inputs.

    Args:
        inputs: examples, whose sizes the program has; None for the shapes and types that the file states.
        sizes: of named dimensions: one size ({"batch": 1}), or the least and the most ({"batch": (1, 64)}). Named
            dimensions without a size may have any.
    Returns:
        A program for fixed sizes, or a model that takes all of them.
    Raises:
        OnnxError: see `load`; or a dimension that has neither a size nor a name.
        ttmlir.torch.UnsupportedError: an op that has no form on the chip.
    """
    path = Path(path)
    model = _read(path)
    from ..torch import compile as compile_module

    if inputs is not None:
        return compile_module(_converted(path, model), list(inputs), options=options)
    declared, bounds = _inputs(path, model, sizes or {})
    module = _converted(path, model)
    if bounds:
        from .sizes import OpenModel

        return OpenModel(module, declared, bounds, options)
    return compile_module(module, [each.example({}) for each in declared], options=options)
