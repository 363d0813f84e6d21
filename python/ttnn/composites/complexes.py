# SPDX-License-Identifier: Apache-2.0
"""Complex numbers: pairs of tensors, and functions of them with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import MemoryConfig

from .frame import COMPOSITES, composite, ops


@dataclass(frozen=True)
class ComplexTensor:
    """Holds the real and the imaginary part, of one shape."""

    real: Tensor
    imag: Tensor

    def deallocate(self, force: bool = True) -> None:
        """Frees the memory of both parts."""
        self.real.deallocate(force)
        self.imag.deallocate(force)


def _over_square(a: Tensor, z: ComplexTensor) -> Tensor:
    return a / (z.real * z.real + z.imag * z.imag)


def _polar_gradient(g: ComplexTensor, z: ComplexTensor) -> ComplexTensor:
    cos, sin = ops.cos(z.imag), ops.sin(z.imag)
    return ComplexTensor(g.real * cos + g.imag * sin, z.real * (g.imag * cos - g.real * sin))


# By name: what is computed of a complex tensor, the gradient of a result's gradient and the tensor, and the text.
_FUNCTIONS: dict[str, tuple[Callable[[ComplexTensor], Any], Callable[[Any, ComplexTensor], ComplexTensor] | None, str]]
_FUNCTIONS = {
    "real": (
        lambda z: z.real + 0.0,
        lambda g, z: ComplexTensor(g + 0.0, z.imag * 0.0),
        "the real part",
    ),
    "imag": (
        lambda z: z.imag + 0.0,
        lambda g, z: ComplexTensor(z.real * 0.0, g + 0.0),
        "the imaginary part",
    ),
    "angle": (
        lambda z: ops.atan2(z.imag, z.real),
        lambda g, z: ComplexTensor(ops.neg(g) * _over_square(z.imag, z), g * _over_square(z.real, z)),
        "the angle, from -pi to pi",
    ),
    "conj": (
        lambda z: ComplexTensor(z.real + 0.0, ops.neg(z.imag)),
        lambda g, z: ComplexTensor(g.real + 0.0, ops.neg(g.imag)),
        "the conjugate",
    ),
    "polar": (
        lambda z: ComplexTensor(z.real * ops.cos(z.imag), z.real * ops.sin(z.imag)),
        _polar_gradient,
        "the number whose magnitude and angle are the two parts",
    ),
    "is_real": (lambda z: ops.eq(z.imag, 0.0), None, "1 where the imaginary part is 0, and 0 elsewhere"),
    "is_imag": (lambda z: ops.eq(z.real, 0.0), None, "1 where the real part is 0, and 0 elsewhere"),
}


@composite(wide=False)
def complex_tensor(real: Tensor, imag: Tensor) -> Any:
    """Makes a complex tensor of its two parts.

    Raises:
        ValueError: their shapes differ.
    """
    if list(real.shape) != list(imag.shape):
        raise ValueError(f"real has shape {list(real.shape)} and imag {list(imag.shape)}; expected one shape")
    return ComplexTensor(real, imag)


def _check(name: str, parameter: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"ttnn.{name}: {parameter} is of type {type(value).__name__}; expected a ttnn.{kind.__name__}")


def _placed(result: Any, memory: MemoryConfig | None) -> Any:
    if isinstance(result, ComplexTensor):
        return ComplexTensor(_placed(result.real, memory), _placed(result.imag, memory))
    return result if memory is None else ops.to_memory_config(result, memory)


def _add(name: str) -> None:
    forward, backward, text = _FUNCTIONS[name]

    def compute(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Any:
        _check(name, "input_tensor", input_tensor, ComplexTensor)
        return _placed(forward(input_tensor), memory_config)

    compute.__name__ = compute.__qualname__ = name
    compute.__module__ = "ttnn"
    compute.__doc__ = f"Computes {text} of complex numbers."
    COMPOSITES[name] = compute
    if backward is None:
        return
    of_complex = ComplexTensor if name in ("conj", "polar") else Tensor

    def gradient(
        grad_tensor: Any, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None
    ) -> list[ComplexTensor]:
        _check(f"{name}_bw", "grad_tensor", grad_tensor, of_complex)
        _check(f"{name}_bw", "input_tensor", input_tensor, ComplexTensor)
        return [_placed(backward(grad_tensor, input_tensor), memory_config)]

    gradient.__name__ = gradient.__qualname__ = f"{name}_bw"
    gradient.__module__ = "ttnn"
    gradient.__doc__ = f"Computes the gradient of `{name}`, in the real and in the imaginary part."
    COMPOSITES[f"{name}_bw"] = gradient


for _name in _FUNCTIONS:
    _add(_name)
