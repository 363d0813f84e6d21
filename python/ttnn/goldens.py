# SPDX-License-Identifier: Apache-2.0
"""Golden functions: what a function of this package computes, by PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor

from .composites import COMPOSITES, GOLDENS
from .functions import FUNCTIONS
from .tensor import from_torch, to_torch

# Parameters that say where a result lies; calls of goldens may leave them out.
_PLACING = ("device", "memory_config")
# Functions of one tensor that PyTorch has under the same name.
_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfinv exp exp2 expm1 floor frac isfinite isinf isnan "
    "log log10 log1p log2 logical_not neg reciprocal relu rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
# Functions of two that it has.
_BINARY = (
    "add bitwise_and bitwise_or bitwise_xor div divide eq ge gt le logical_and logical_or logical_xor lt maximum "
    "minimum mul multiply ne pow remainder sub subtract"
)
# By function of one op: the expression of its parameters that computes it.
_PLAIN: dict[str, str] = {
    **{name: f"torch.{name}(first)" for name in _UNARY.split()},
    **{name: f"torch.{name}(first, second)" for name in _BINARY.split()},
    "argmax": "torch.argmax(input_tensor, dim, keepdim)",
    "concat": "torch.cat(list(tensors), dim)",
    "embedding": "torch.nn.functional.embedding(input_tensor.long(), weight)",
    "gelu": "torch.nn.functional.gelu(input_tensor)",
    "layer_norm": "torch.nn.functional.layer_norm(input_tensor, input_tensor.shape[-1:], "
    "*(None if each is None else each.reshape(-1) for each in (weight, bias)), eps=epsilon)",
    "leaky_relu": "torch.nn.functional.leaky_relu(input_tensor, negative_slope)",
    "linear": "product(input_tensor_a, input_tensor_b, bias, transpose_a, transpose_b, activation)",
    "matmul": "product(input_tensor_a, input_tensor_b, None, transpose_a, transpose_b, activation)",
    "max": "input_tensor.amax(axes(dim, input_tensor.dim()), keepdim)",
    "mean": "input_tensor.mean(axes(dim, input_tensor.dim()), keepdim)",
    "min": "input_tensor.amin(axes(dim, input_tensor.dim()), keepdim)",
    "permute": "torch.permute(first, list(second))",
    "repeat_interleave": "torch.repeat_interleave(first, second, dim)",
    "reshape": "torch.reshape(first, list(second))",
    "rms_norm": "torch.nn.functional.rms_norm(input_tensor, input_tensor.shape[-1:], "
    "None if weight is None else weight.reshape(-1), epsilon)",
    "silu": "torch.nn.functional.silu(input_tensor)",
    "softmax": "torch.softmax(input_tensor, dim)",
    "sum": "input_tensor.sum(axes(dim, input_tensor.dim()), keepdim)",
    "transpose": "torch.transpose(input_tensor, dim1, dim2)",
    "where": "torch.where(*(each != 0 if at == 0 else each for at, each in enumerate((first, second, third))))",
}


def get_golden_function(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of PyTorch tensors that computes what `operation` does, with the same parameters.

    Args:
        operation: a function of this package: one that is made of others, as `ttnn.celu`, or one of the common ones.

    Raises:
        RuntimeError: there is none.
    """
    operation = getattr(operation, "__wrapped__", operation)  # of a function whose calls are watched
    if attached := getattr(operation, "golden_function", None):
        found: Callable[..., Any] = attached
        return found
    name = getattr(operation, "__name__", str(operation))
    name = f"{getattr(operation, '__module__', '')}.{name}".removeprefix("ttnn.")
    expression = GOLDENS.get(name, "") if COMPOSITES.get(name) is operation else _PLAIN.get(name, "")
    if operation not in (COMPOSITES.get(name), FUNCTIONS.get(name)) or not expression:
        raise RuntimeError(f"ttnn.get_golden_function: {name} has no golden function")
    signature = inspect.signature(operation)
    placing = [p.replace(default=None) if p.name in _PLACING else p for p in signature.parameters.values()]
    signature = signature.replace(parameters=placing)
    code = compile(expression, f"<golden of ttnn.{name}>", "eval")

    def golden(*args: Any, **kwargs: Any) -> Any:
        import torch

        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        places = dict(zip(("first", "second", "third"), bound.arguments.values(), strict=False))
        return eval(code, {"torch": torch, **HELPERS, **places, **bound.arguments})

    golden.__name__ = golden.__qualname__ = name
    return golden


def get_fallback_function(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of ttnn tensors that computes what `operation` does with its golden function, on the host.

    Its result has the data type of PyTorch's, and the layout and the device of the first tensor.

    Raises:
        RuntimeError: there is no golden function.
    """
    golden = get_golden_function(operation)

    def fallback(*args: Any, **kwargs: Any) -> Any:
        result = call_golden(operation, golden, args, kwargs)
        if finish := _hooks(operation).get("postprocess_golden_function_outputs"):
            return finish(result, args, kwargs)
        given = [*args, *kwargs.values()]
        given += [each for value in given if isinstance(value, list | tuple) for each in value]
        tensors = [each for each in given if isinstance(each, Tensor)]
        return _placed(result, tensors[0]) if tensors else result

    fallback.__name__ = fallback.__qualname__ = golden.__name__
    return fallback


def _hooks(operation: Callable[..., Any]) -> dict[str, Any]:
    """Returns what attach_golden_function was given besides the golden function."""
    own: Any = getattr(operation, "__wrapped__", operation)  # of a function whose calls are watched
    found: dict[str, Any] = getattr(own, "golden_hooks", {})
    return found


def call_golden(operation: Callable[..., Any], golden: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns what a golden function gives for the arguments of a call of `operation`, with tensors of PyTorch.

    A function that was attached does not get tensors that results are written to.
    """
    hooks = _hooks(operation)
    if prepare := hooks.get("preprocess_golden_function_inputs"):
        args, kwargs = prepare(args, kwargs)
        return golden(*args, **kwargs)
    kwargs = {name: each for name, each in kwargs.items() if name not in hooks.get("output_tensor_kwarg_names", ())}
    return golden(*map(_on_host, args), **{name: _on_host(value) for name, value in kwargs.items()})


def _on_host(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_on_host, value))
    return to_torch(value) if isinstance(value, Tensor) else value


def _placed(value: Any, like: Tensor) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_placed(each, like) for each in value)
    return from_torch(value, layout=like.layout, device=like.device()) if hasattr(value, "dim") else value


def gradient(forward: Callable[..., Any], grad_tensor: Any, *inputs: Any) -> list[Any]:
    """Returns PyTorch's gradients of `forward` in those inputs that are tensors of floats."""
    import torch

    leaves = [each.detach().clone().requires_grad_() if isinstance(each, torch.Tensor) else each for each in inputs]
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    result = forward(*leaves)
    if not result.requires_grad:  # a function that is constant everywhere
        return [torch.zeros_like(each) for each in tensors]
    found = torch.autograd.grad(result, tensors, grad_tensor.reshape(result.shape), allow_unused=True)
    return [torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found, strict=True)]


def axes(dim: Any, rank: int) -> list[int]:
    """Returns the dimensions of a reduction; all where none is named."""
    return list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim)


def optimizer_step(name: str, parameter: Any, grad: Any, states: list[Any], step: int, **options: Any) -> list[Any]:
    """Returns the parameter and the states after a step of one of PyTorch's optimizers; None for absent states."""
    import torch

    leaf = parameter.detach().clone().requires_grad_()
    leaf.grad = grad.clone()
    optimizer = getattr(torch.optim, name)([leaf], **options)
    keys = ["momentum_buffer"] if name == "SGD" else ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    state = optimizer.state[leaf]
    state.update({key: value.clone() for key, value in zip(keys, states, strict=True) if value is not None})
    if name != "SGD":
        state["step"] = torch.tensor(float(step - 1))
    optimizer.step()
    return [leaf.detach(), *(optimizer.state[leaf].get(key) for key in keys)]


def clip_grad_norm(inputs: list[Any], max_norm: float, norm_type: float) -> Any:
    """Returns the norm that PyTorch clips gradients by."""
    import torch

    leaves = [each.detach().clone() for each in inputs]
    for leaf, each in zip(leaves, inputs, strict=True):
        leaf.grad = each.clone()
    return torch.nn.utils.clip_grad_norm_(leaves, max_norm, norm_type)


def layer_norm(x: Any, dims: int, eps: float, gamma: Any, beta: Any) -> list[Any]:
    """Returns PyTorch's layer normalization, and its means and inverse deviations."""
    import torch

    result, mean, rstd = torch.native_layer_norm(x, list(x.shape[-dims:]), gamma, beta, eps)
    return [result, mean.reshape(x.shape[:-dims]), rstd.reshape(x.shape[:-dims])]


def layer_norm_gradients(grad: Any, x: Any, dims: int, gamma: Any) -> list[Any]:
    """Returns PyTorch's gradients of layer normalization; None of the weights without them."""
    import torch

    inputs = [x] if gamma is None else [x, gamma, torch.zeros_like(gamma)]

    def forward(x: Any, weight: Any = None, bias: Any = None) -> Any:
        return torch.nn.functional.layer_norm(x, x.shape[-dims:], weight, bias)

    return [*gradient(forward, grad, *inputs), None, None][:3]


def group_norm(x: Any, groups: int, eps: float, gamma: Any, beta: Any) -> list[Any]:
    """Returns PyTorch's group normalization, and its means and inverse deviations."""
    import torch

    batch, channels = x.shape[:2]
    weights = [None if each is None else each.reshape(-1) for each in (gamma, beta)]
    area = x.shape[2] * x.shape[3]
    result, mean, rstd = torch.native_group_norm(x, weights[0], weights[1], batch, channels, area, groups, eps)
    return [result, mean.reshape(1, 1, batch, groups), rstd.reshape(1, 1, batch, groups)]


def group_norm_gradients(grad: Any, x: Any, groups: int, gamma: Any) -> list[Any]:
    """Returns PyTorch's gradients of group normalization in the input, the weight and the bias."""
    import torch

    weight = torch.ones_like(x[:1, :, :1, :1]) if gamma is None else gamma

    def forward(x: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.group_norm(x, groups, weight.reshape(-1), bias.reshape(-1))

    shape = [1, 1, 1, x.shape[1]]
    return gradient(forward, grad, x, weight.reshape(shape), torch.zeros_like(weight).reshape(shape))


def gelu_kind(variant: Any, approximate: str | None = None) -> str:
    """Returns PyTorch's name of a formula of gelu."""
    return approximate or ("tanh" if variant.name == "Tanh" else "none")


def indexed_fill(places: Any, a: Any, b: Any, dim: int) -> Any:
    """Returns PyTorch's copy of rows to places."""
    return a.index_copy(dim, places.long().flatten(), b)


def product(a: Any, b: Any, bias: Any, transpose_a: bool, transpose_b: bool, activation: Any) -> Any:
    """Returns PyTorch's product of matrices, with a bias and the activation of this name."""
    import torch

    result = torch.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)
    result = result if bias is None else result + bias
    return result if not activation else getattr(torch.nn.functional, activation)(result)


def required(flags: list[bool], results: list[Any]) -> list[Any]:
    """Returns results, and None for those that are not required."""
    return [each if flag else None for flag, each in zip(flags, results, strict=True)]


# Functions that the expressions of GOLDENS call in addition to those of torch.
HELPERS = {
    each.__name__: each
    for each in (
        axes, clip_grad_norm, gelu_kind, gradient, group_norm, group_norm_gradients, indexed_fill, layer_norm,
        layer_norm_gradients, optimizer_step, product, required,
    )
}  # fmt: skip
