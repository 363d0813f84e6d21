# SPDX-License-Identifier: Apache-2.0
"""Tensors and parameters."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .capture.formats import INTEGERS, DataFormat, check_format, data_format_of
from .errors import FormatError, PyBudaError, ShapeError

# Op name -> the function that takes the op's name and operands; pybuda.op fills it.
OPS: dict[str, Callable[..., Tensor]] = {}
# The tensor class of each framework by name; a row is the module and its function from numpy.
FRAMEWORKS = {
    "tensorflow": ("tensorflow", "convert_to_tensor"),
    "jax": ("jax.numpy", "asarray"),
    "numpy": ("numpy", "asarray"),
}


def to_torch(data: Any, what: str) -> torch.Tensor:
    """Returns the values of a tensor of any kind.

    Raises:
        TypeError: it is none; `what` says where it was given.
    """
    if isinstance(data, Tensor):
        return data.value()
    if isinstance(data, torch.Tensor):
        return data
    if isinstance(data, np.ndarray):
        return torch.from_numpy(data)
    if type(data).__module__.split(".")[0] in ("tensorflow", "jax", "jaxlib"):
        return torch.from_numpy(np.array(data))
    raise TypeError(f"{what} is {type(data).__name__}; expected a tensor of PyBuda, PyTorch or NumPy")


def _received(
    values: bytes, dtype: torch.dtype, shape: torch.Size, name: str, data_format: DataFormat | None
) -> Tensor:
    flat = torch.frombuffer(bytearray(values), dtype=dtype) if values else torch.empty(0, dtype=dtype)
    return Tensor(flat.reshape(shape), name, data_format)


class Tensor:
    """A tensor of a PyBuda program: a value, or in a module's `forward` the result of an op.

    Operators (+, -, *, @) are ops with generated names.
    """

    def __init__(self, value: torch.Tensor, name: str = "", data_format: DataFormat | None = None) -> None:
        self._value, self.name = value, name
        self._data_format = data_format

    @classmethod
    def create_from_torch(
        cls, torch_tensor: torch.Tensor, dev_data_format: DataFormat | None = None, constant: bool = False
    ) -> Tensor:
        """Returns a tensor with the values of PyTorch's, and its memory.

        Args:
            dev_data_format: on the device; by default that of the values.
            constant: a value that stays as it is: no gradient of it is computed.
        Raises:
            FormatError: no format of the chip.
        """
        if dev_data_format is not None:
            check_format(dev_data_format, "dev_data_format")
        return Tensor(torch_tensor.detach() if constant else torch_tensor, "", dev_data_format)

    def value(self) -> torch.Tensor:
        """Returns the tensor as PyTorch has it: the same object at each call."""
        return self._value

    to_pytorch = value

    def has_value(self) -> bool:
        return not isinstance(self._value, torch._subclasses.FakeTensor)

    @property
    def shape(self) -> torch.Size:
        return self._value.shape

    @property
    def data_format(self) -> DataFormat:
        return self._data_format or data_format_of(self._value.dtype)

    def ndim(self) -> int:
        return self._value.dim()

    def to_framework(self, framework: str) -> Any:
        """Returns the values as a tensor of "pytorch", "numpy", "tensorflow" or "jax".

        Raises:
            ValueError: another name.
            ModuleNotFoundError: the framework is not installed.
        """
        if framework in ("pytorch", "torch", "pybuda"):
            return self if framework == "pybuda" else self._value
        if framework not in FRAMEWORKS:
            raise ValueError(f"to_framework({framework!r}); known: pybuda, pytorch, {', '.join(FRAMEWORKS)}")
        module, function = FRAMEWORKS[framework]
        value = self._value.detach()
        value = value.float() if value.dtype is torch.bfloat16 else value
        return getattr(importlib.import_module(module), function)(value.numpy())

    def __reduce__(self) -> Any:
        """Copies the values. PyTorch would keep a file open for each tensor, and need the process that sent it."""
        if type(self) is not Tensor or self._value.layout is not torch.strided:
            return super().__reduce__()
        value = self._value.detach().contiguous()
        values = value.reshape(-1).view(torch.uint8).numpy().tobytes()
        return _received, (values, value.dtype, value.shape, self.name, self._data_format)

    def __repr__(self) -> str:
        return f"Buda Tensor {self.name + ' ' if self.name else ''}({self.data_format.name}): {self._value!r}"

    def _operator(self, op: str, other: Any, swapped: bool = False) -> Tensor:
        if isinstance(other, int | float):
            other = OPS["Constant"]("", constant=other)
        return OPS[op]("", *((other, self) if swapped else (self, other)))

    def __add__(self, other: Any) -> Tensor:
        return self._operator("Add", other)

    def __sub__(self, other: Any) -> Tensor:
        return self._operator("Subtract", other)

    def __mul__(self, other: Any) -> Tensor:
        return self._operator("Multiply", other)

    def __matmul__(self, other: Any) -> Tensor:
        return self._operator("Matmul", other)

    def __radd__(self, other: Any) -> Tensor:
        return self._operator("Add", other, swapped=True)

    def __rsub__(self, other: Any) -> Tensor:
        return self._operator("Subtract", other, swapped=True)

    def __rmul__(self, other: Any) -> Tensor:
        return self._operator("Multiply", other, swapped=True)


class Parameter(Tensor):
    """A tensor that a module keeps: weights (with `requires_grad`, trained) or constants.

    Parameter(values, ...) has these values, Parameter(size, size, ...) random ones.
    """

    def __init__(
        self,
        *args: Any,
        requires_grad: bool = True,
        name: str = "",
        dev_data_format: DataFormat | None = None,
    ) -> None:
        if len(args) == 1 and not isinstance(args[0], int):
            value = args[0] if isinstance(args[0], list | tuple) else to_torch(args[0], "the value of a Parameter")
            value = torch.rand(*value) if isinstance(value, list | tuple) else value
        elif args and all(isinstance(size, int) for size in args):
            value = torch.rand(*args)
        else:
            raise TypeError(f"Parameter{args!r}: expected a tensor, or sizes")
        # Values that a program may draw again: no one gave them.
        self.is_random = len(args) > 1 or isinstance(args[0], int | list | tuple)
        if requires_grad and not value.dtype.is_floating_point:
            raise FormatError(f"parameter {name!r} has integers ({value.dtype}); expected requires_grad=False")
        super().__init__(value.detach().clone().requires_grad_(requires_grad), name)
        if dev_data_format is not None:
            self.set_data_format(dev_data_format)

    @property
    def requires_grad(self) -> bool:
        return self._value.requires_grad

    @property
    def explicit_format(self) -> DataFormat | None:
        """Returns the format that `set_data_format` gave."""
        return self._data_format

    def set_data_format(self, df: DataFormat) -> None:
        """Sets the format that the parameter has on the device.

        Raises:
            FormatError: no format of the chip; one of integers for floats, or of floats for integers.
        """
        what = f"the data format of parameter {self.name!r}"
        if (check_format(df, what) in INTEGERS) is self._value.dtype.is_floating_point:
            expected = "a float format" if self._value.dtype.is_floating_point else "a format of integers"
            raise FormatError(f"{what} is {df}, and its values are {self._value.dtype}; expected {expected}")
        self._data_format = df

    def get_name(self) -> str:
        return self.name

    def get_parameter(self) -> torch.Tensor:
        return self._value

    def set_value(self, data: Any) -> None:
        """Writes new values in place.

        Raises:
            ShapeError: another shape.
        """
        write(self._value, to_torch(data, f"the value of parameter {self.name!r}"), self.name)

    def load_parameter_dict(self, data: dict[str, Any]) -> None:
        if self.name not in data:
            raise PyBudaError(f"no value for parameter {self.name!r}; given: {', '.join(data) or 'none'}")
        self.set_value(data[self.name])


def write(target: torch.Tensor, value: torch.Tensor, name: str) -> None:
    """Gives a parameter new values.

    Raises:
        ShapeError: another shape.
    """
    if target.shape != value.shape:
        raise ShapeError(f"parameter {name!r} has shape {list(target.shape)}; given: {list(value.shape)}")
    with torch.no_grad():
        target.copy_(value)


def to_pt_tensors(tensors: Any) -> tuple[torch.Tensor, ...]:
    """Returns tensors of any kind, one or several, as PyTorch's."""
    given = tensors if isinstance(tensors, list | tuple) else (tensors,)
    return tuple(to_torch(x, "a tensor") for x in given)


def to_buda_tensors(tensors: Any) -> tuple[Tensor, ...]:
    """Returns tensors of any kind, one or several, as PyBuda's."""
    given = tensors if isinstance(tensors, list | tuple) else (tensors,)
    return tuple(x if isinstance(x, Tensor) else Tensor(to_torch(x, "a tensor")) for x in given)


def remove_microbatch(tensors: Any) -> tuple[Tensor, ...]:
    """Returns tensors with the first element of their first dimension only: inputs of one sample."""
    return tuple(Tensor(x.value()[:1], x.name, x._data_format) for x in to_buda_tensors(tensors))
