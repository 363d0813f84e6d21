# SPDX-License-Identifier: Apache-2.0
"""Weights of PyTorch's modules in the form that the functions of TTNN take.

`preprocess_model_parameters` converts all parameters of a module to a tree of tensors that has the names of its
children.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from .arguments import described
from .constants import ROW_MAJOR_LAYOUT, TILE_LAYOUT
from .functions import ops
from .tensor import from_torch

if TYPE_CHECKING:
    import torch

__all__ = [
    "Conv2dArgs",
    "ConvTranspose2dArgs",
    "MaxPool2dArgs",
    "ModuleArgs",
    "ParameterDict",
    "ParameterList",
    "convert_torch_model_to_ttnn_model",
    "default_preprocessor",
    "fold_batch_norm2d_into_conv2d",
    "infer_ttnn_module_args",
    "make_parameter_dict",
    "move_to_device",
    "preprocess_embedding_weight",
    "preprocess_layernorm_parameter",
    "preprocess_linear_bias",
    "preprocess_linear_weight",
    "preprocess_model",
    "preprocess_model_parameters",
    "preprocess_remaining_children_and_parameters",
]


class ParameterDict(dict[Any, Any]):
    """Holds parameters by the names of a module's children; a name is a key and an attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(map(str, self)) or "nothing"
            raise AttributeError(f"no parameter {name!r}; there is {known}") from None

    def __repr__(self) -> str:
        lines = [f"{key}: {_shown(value)}".replace("\n", "\n  ") for key, value in self.items()]
        return "{\n  " + ",\n  ".join(lines) + "\n}" if lines else "{}"


class ParameterList(list[Any]):
    """Holds the parameters of the modules of a torch.nn.ModuleList."""

    def __repr__(self) -> str:
        lines = [_shown(value).replace("\n", "\n  ") for value in self]
        return "[\n  " + ",\n  ".join(lines) + "\n]" if lines else "[]"


class ModuleArgs(dict[str, Any]):
    """Holds the arguments of a module's call; a name is a key and an attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no argument {name!r}; there is {', '.join(self)}") from None


class Conv2dArgs(ModuleArgs):
    """Holds what ttnn.conv2d needs to know of a torch.nn.Conv2d and its input."""


class ConvTranspose2dArgs(ModuleArgs):
    """Holds what ttnn.conv_transpose2d needs to know of a torch.nn.ConvTranspose2d and its input."""


class MaxPool2dArgs(ModuleArgs):
    """Holds what ttnn.max_pool2d needs to know of a torch.nn.MaxPool2d and its input."""


def preprocess_linear_weight(
    weight: torch.Tensor, *, dtype: DataType, layout: Layout = TILE_LAYOUT, mesh_mapper: Any = None
) -> Tensor:
    """Returns the weight [out, in] of a torch.nn.Linear as ttnn.linear takes it: [in, out], on the host.

    Raises:
        ValueError: the weight is no matrix.
    """
    _check("preprocess_linear_weight", "weight", weight, 2, "[out, in]")
    return from_torch(weight.T.contiguous(), dtype=dtype, layout=layout, mesh_mapper=mesh_mapper)


def preprocess_linear_bias(
    bias: torch.Tensor, *, dtype: DataType, layout: Layout = TILE_LAYOUT, mesh_mapper: Any = None
) -> Tensor:
    """Returns the bias [out] of a torch.nn.Linear as ttnn.linear takes it: [1, out], on the host.

    Raises:
        ValueError: the bias is no vector.
    """
    _check("preprocess_linear_bias", "bias", bias, 1, "[out]")
    return from_torch(bias.reshape(1, -1), dtype=dtype, layout=layout, mesh_mapper=mesh_mapper)


def preprocess_layernorm_parameter(parameter: torch.Tensor, *, dtype: DataType, layout: Layout = TILE_LAYOUT) -> Tensor:
    """Returns the weight or the bias [n] of a torch.nn.LayerNorm as ttnn.layer_norm takes it: [1, n], on the host.

    Raises:
        ValueError: the parameter is no vector.
    """
    _check("preprocess_layernorm_parameter", "parameter", parameter, 1, "[n]")
    return from_torch(parameter.reshape(1, -1), dtype=dtype, layout=layout)


def preprocess_embedding_weight(weight: torch.Tensor, *, dtype: DataType) -> Tensor:
    """Returns the table [rows, width] of a torch.nn.Embedding as ttnn.embedding takes it: row-major, on the host.

    Raises:
        ValueError: the table is no matrix.
    """
    _check("preprocess_embedding_weight", "weight", weight, 2, "[rows, width]")
    return from_torch(weight, dtype=dtype, layout=ROW_MAJOR_LAYOUT)


def fold_batch_norm2d_into_conv2d(conv: torch.nn.Conv2d, bn: torch.nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns weight and bias of the convolution that computes `conv` and then `bn` in inference.

    Raises:
        RuntimeError: the norm has no running statistics.
    """
    import torch

    if bn.running_mean is None or bn.running_var is None:
        raise RuntimeError("fold_batch_norm2d_into_conv2d: bn has no running statistics; set track_running_stats")
    fused: tuple[torch.Tensor, torch.Tensor] = torch.nn.utils.fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def make_parameter_dict(dictionary: Mapping[Any, Any]) -> ParameterDict:
    """Returns a dictionary of dictionaries as a tree whose names are attributes, too."""
    if isinstance(dictionary, ParameterDict):
        return dictionary
    return ParameterDict(
        (key, make_parameter_dict(value) if isinstance(value, dict) and not isinstance(value, ModuleArgs) else value)
        for key, value in dictionary.items()
    )


def default_preprocessor(model: torch.nn.Module, name: str, ttnn_module_args: Any) -> ParameterDict:
    """Returns the parameters of a linear layer, a layer norm or an embedding, bfloat16; of other modules nothing."""
    import torch

    converters: dict[type[torch.nn.Module], tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
        torch.nn.Linear: (preprocess_linear_weight, preprocess_linear_bias),
        torch.nn.LayerNorm: (preprocess_layernorm_parameter, preprocess_layernorm_parameter),
        torch.nn.Embedding: (preprocess_embedding_weight, preprocess_embedding_weight),
    }
    for kind, functions in converters.items():
        if isinstance(model, kind):
            found = dict(model.named_parameters(recurse=False))
            return ParameterDict(
                (each, function(found[each], dtype=DataType.BFLOAT16))
                for each, function in zip(("weight", "bias"), functions, strict=True)
                if each in found
            )
    return ParameterDict()


def convert_torch_model_to_ttnn_model(
    model: torch.nn.Module,
    *,
    name: str,
    convert_to_ttnn: Callable[[torch.nn.Module, str], bool],
    custom_preprocessor: Callable[..., Any] | None = None,
    ttnn_module_args: Any = None,
) -> Any:
    """Returns the parameters of a module and of its children, by name.

    A custom preprocessor is called first, with the module, its full name and, where it has parameters of these names,
    `ttnn_module_args` and `convert_to_ttnn`; what it returns stands for the module and its children. Parameters of
    modules that `convert_to_ttnn` refuses stay tensors of PyTorch; the weight of a linear layer is transposed all the
    same. Floats become bfloat16.

    Raises:
        RuntimeError: the custom preprocessor has parameters that are not known.
    """
    import torch

    def child(key: Any, module: torch.nn.Module) -> Any:
        known = ttnn_module_args
        if known is not None:
            known = known.get(key, known.get(str(key))) if isinstance(known, Mapping) else None
        return convert_torch_model_to_ttnn_model(
            module,
            name=f"{name}.{key}" if name else f"{key}",
            convert_to_ttnn=convert_to_ttnn,
            custom_preprocessor=custom_preprocessor,
            ttnn_module_args=known,
        )

    if isinstance(model, torch.nn.ModuleList):
        return ParameterList(child(index, module) for index, module in enumerate(model))
    if custom_preprocessor is not None:
        extra = _extra_parameters(custom_preprocessor)
        given = {"ttnn_module_args": ttnn_module_args, "convert_to_ttnn": convert_to_ttnn}
        if custom := custom_preprocessor(model, name, **{each: given[each] for each in extra}):
            return make_parameter_dict(custom)
    own = dict(model.named_parameters(recurse=False))
    result: dict[Any, Any] = {}
    if not convert_to_ttnn(model, name):
        result |= own
        if isinstance(model, torch.nn.Linear):
            result["weight"] = model.weight.T.contiguous()
    elif not (default := default_preprocessor(model, name, ttnn_module_args)):
        result |= {each: from_torch(value, dtype=_converted(value.dtype)) for each, value in own.items()}
    else:
        return default
    for key, module in model.named_children():
        if converted := child(int(key) if key.isdigit() else key, module):
            result[int(key) if key.isdigit() else key] = converted
    return make_parameter_dict(result)


def preprocess_remaining_children_and_parameters(
    model: torch.nn.Module,
    name: str,
    convert_to_ttnn: Callable[[torch.nn.Module, str], bool],
    custom_preprocessor: Callable[..., Any] | None,
    parameters: dict[Any, Any],
    ttnn_module_args: Any,
    *,
    already_preprocessed_children: Any,
) -> dict[Any, Any]:
    """Adds the children and parameters of a module that are not `already_preprocessed_children` to `parameters`."""
    for key, module in model.named_children():
        if key not in already_preprocessed_children:
            parameters[key] = convert_torch_model_to_ttnn_model(
                module,
                name=f"{name}.{key}" if name else key,
                convert_to_ttnn=convert_to_ttnn,
                custom_preprocessor=custom_preprocessor,
                ttnn_module_args=(ttnn_module_args or {}).get(key),
            )
    for key, value in model.named_parameters(recurse=False):
        if key not in already_preprocessed_children:
            converts = convert_to_ttnn(model, name)
            parameters[key] = from_torch(value, dtype=_converted(value.dtype)) if converts else value
    return parameters


def move_to_device(object: Any, device: Device) -> Any:
    """Returns a tree of parameters with its tensors of TTNN moved to a device."""
    if isinstance(object, ParameterDict):
        return ParameterDict((key, move_to_device(value, device)) for key, value in object.items())
    if isinstance(object, ParameterList):
        return ParameterList(move_to_device(value, device) for value in object)
    return ops.to_device(object, device) if isinstance(object, Tensor) else object


def infer_ttnn_module_args(*, model: torch.nn.Module, run_model: Callable[..., Any] | None, device: Any) -> Any:
    """Returns the arguments of the convolutions and maximum pools of a module, by name, from a run of it.

    Args:
        model: a module of PyTorch.
        run_model: a function of the module that calls it; without one there are no arguments.
        device: the value of each module's `device`.
    """
    if run_model is None:
        return None
    found: dict[str, ModuleArgs] = {}
    handles = []
    for name, module in model.named_modules():
        if (args := _module_args(module, device)) is not None:

            def hook(_: Any, inputs: Any, __: Any, name: str = name, args: ModuleArgs = args) -> None:
                batch, _, height, width = inputs[0].shape
                found.setdefault(name, args).update(batch_size=batch, input_height=height, input_width=width)

            handles.append(module.register_forward_hook(hook))
    try:
        run_model(model)
    finally:
        for handle in handles:
            handle.remove()
    tree = ParameterDict()
    for name, args in found.items():
        *path, last = name.split(".")
        place = tree
        for each in path:
            place = place.setdefault(each, ParameterDict())
        place[last] = args
    return tree


def preprocess_model_parameters(
    *,
    model_name: str | None = None,
    version: str | None = None,
    initialize_model: Callable[[], torch.nn.Module] | None = None,
    convert_to_ttnn: Callable[[torch.nn.Module, str], bool] | None = None,
    custom_preprocessor: Callable[..., Any] | None = None,
    device: Device | None = None,
    prefix: str = "",
) -> Any:
    """Returns the parameters of a module of PyTorch as tensors of TTNN, in a tree with the names of its children.

    Linear weights are transposed to [in, out]; vectors of linear layers and norms become [1, n] in tiles, tables of
    embeddings stay row-major.

    Args:
        model_name, version: accepted without effect. They name a cache, which the library does not use by default.
        initialize_model: a function that returns the module.
        convert_to_ttnn: which modules are converted, by module and name; all where it is absent.
        custom_preprocessor: see `convert_torch_model_to_ttnn_model`.
        device: where the tensors are put; they stay on the host where it is absent.
        prefix: what stands before the names that the functions are given.

    Raises:
        RuntimeError: there is no initialize_model.
    """
    return preprocess_model(
        model_name=model_name,
        version=version,
        initialize_model=initialize_model,
        convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor,
        device=device,
        prefix=prefix,
    )


def preprocess_model(
    *,
    model_name: str | None = None,
    version: str | None = None,
    initialize_model: Callable[[], torch.nn.Module] | None = None,
    convert_to_ttnn: Callable[[torch.nn.Module, str], bool] | None = None,
    custom_preprocessor: Callable[..., Any] | None = None,
    device: Device | None = None,
    prefix: str = "",
    run_model: Callable[..., Any] | None = None,
    reader_patterns_cache: dict[Any, Any] | None = None,
) -> Any:
    """Returns what `preprocess_model_parameters` does; the custom preprocessor may take `ttnn_module_args`.

    Args:
        run_model: a function that runs the module, for `infer_ttnn_module_args`.
        reader_patterns_cache: accepted without effect.

    Raises:
        RuntimeError: there is no initialize_model.
    """
    import torch

    if initialize_model is None:
        raise RuntimeError("preprocess_model: initialize_model is None; expected a function that returns a module")
    model = initialize_model()
    training = model.training
    with torch.no_grad():
        parameters = convert_torch_model_to_ttnn_model(
            model.eval(),
            name=prefix,
            convert_to_ttnn=convert_to_ttnn or (lambda module, name: True),
            custom_preprocessor=custom_preprocessor,
            ttnn_module_args=infer_ttnn_module_args(model=model, run_model=run_model, device=device),
        )
    model.train(training)
    return parameters if device is None else move_to_device(parameters, device)


def _module_args(module: torch.nn.Module, device: Any) -> ModuleArgs | None:
    """Returns what a window function needs to know of a module besides its input; None of other modules."""
    import torch

    def of(kind: type[ModuleArgs], *names: str, **more: Any) -> ModuleArgs:
        return kind({name: getattr(module, name) for name in names}, device=device, **more)

    window = ("kernel_size", "stride", "padding", "dilation")
    convolution = ("in_channels", "out_channels", *window, "groups", "padding_mode")
    formats = {"dtype": DataType.BFLOAT16, "weights_dtype": DataType.BFLOAT16}
    if isinstance(module, torch.nn.Conv2d):
        return of(Conv2dArgs, *convolution, **formats)
    if isinstance(module, torch.nn.ConvTranspose2d):
        return of(ConvTranspose2dArgs, *convolution, "output_padding", **formats)
    return of(MaxPool2dArgs, *window) if isinstance(module, torch.nn.MaxPool2d) else None


def _extra_parameters(preprocessor: Callable[..., Any]) -> list[str]:
    """Returns the parameters of a custom preprocessor that follow the module and its name."""
    extra = list(inspect.signature(preprocessor).parameters)
    known = {"ttnn_module_args", "convert_to_ttnn"}
    if len(extra) < 2 or not known.issuperset(extra[2:]):
        raise RuntimeError(
            f"custom_preprocessor has the parameters ({', '.join(extra)}); expected the module, its name, and at most "
            "ttnn_module_args and convert_to_ttnn"
        )
    return extra[2:]


def _converted(dtype: torch.dtype) -> DataType:
    """Returns the data type that a parameter is stored in."""
    integers = {"int32": DataType.INT32, "int64": DataType.UINT32, "int16": DataType.UINT16, "uint8": DataType.UINT8}
    return integers.get(str(dtype).removeprefix("torch."), DataType.BFLOAT16)


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"ttnn.Tensor(shape={value.shape}, layout={value.layout}, dtype={value.dtype})"
    if type(value).__module__.partition(".")[0] == "torch":
        return f"torch.Tensor(shape={tuple(value.shape)}, dtype={value.dtype})"
    return repr(value)


def _check(function: str, name: str, value: torch.Tensor, rank: int, expected: str) -> None:
    if not hasattr(value, "dim"):
        raise TypeError(f"{function}: {name} is {described(value)}; expected a torch tensor")
    if value.dim() != rank:
        raise ValueError(f"{function}: {name} has shape {list(value.shape)}; expected {expected}")
