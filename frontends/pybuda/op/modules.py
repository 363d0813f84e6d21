# SPDX-License-Identifier: Apache-2.0
"""Modules of one op, with the parameters that it has. Weights are drawn as PyTorch's layers draw theirs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from ..errors import PyBudaError
from ..module import PyBudaModule
from ..tensor import OPS, Parameter, Tensor
from .window import pair


class _OfOneOp(PyBudaModule):
    """A module that passes its input to one op, named like the module. Its arguments are the op's, after the input."""

    op: ClassVar[str]

    def __init__(self, name: str, *args: Any, **attributes: Any) -> None:
        super().__init__(name)
        taken = [*inspect.signature(OPS[self.op]).parameters][2:]
        if len(args) > len(taken):
            raise TypeError(f"{type(self).__name__} {name!r} gets {len(args)} arguments; expected {', '.join(taken)}")
        self.kwargs = {**dict(zip(taken, args, strict=False)), **attributes}

    def forward(self, activations: Tensor) -> Tensor:
        return OPS[self.op](self.name, activations, **self.kwargs)


class MaxPool1dModule(_OfOneOp):
    """`MaxPool1d` as a module."""

    op = "MaxPool1d"


class MaxPool2dModule(_OfOneOp):
    """`MaxPool2d` as a module."""

    op = "MaxPool2d"


class AvgPool2dModule(_OfOneOp):
    """`AvgPool2d` as a module."""

    op = "AvgPool2d"


class _Weighted(PyBudaModule):
    """A module with `weights` and, unless it has none, `bias`."""

    def draw(self, shape: Sequence[int], bias: int | None) -> None:
        """Makes the parameters. shape: of the weights. bias: its elements."""
        weights = torch.nn.init.kaiming_uniform_(torch.empty(*shape), a=math.sqrt(5))
        self.weights = Parameter(weights)
        self.bias = None
        if bias is not None:
            fan_in, _ = torch.nn.init._calculate_fan_in_and_fan_out(weights)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            self.bias = Parameter(torch.empty(bias).uniform_(-bound, bound))


class _Convolution(_Weighted):
    op: ClassVar[str]

    def __init__(
        self, name: str, shape: Sequence[int], out_channels: int, kernel_size: Any, bias: bool,
        attributes: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__(name)
        self.kwargs = attributes
        kernel = pair(kernel_size, f"module {name!r}: kernel_size")
        self.draw((*shape, *kernel), out_channels if bias else None)

    def forward(self, activations: Tensor) -> Tensor:
        return OPS[self.op](self.name, activations, self.weights, self.bias, **self.kwargs)


def check_groups(name: str, what: str, channels: int, groups: int) -> None:
    """Refuses groups of different sizes.

    Raises:
        PyBudaError: names the module and the channels.
    """
    if groups < 1 or channels % groups:
        raise PyBudaError(f"module {name!r}: groups is {groups}; expected a divisor of {what}, {channels}")


class Conv2dModule(_Convolution):
    """`Conv2d` as a module. t_stream_workaround: returns [1, 1, H W, C] instead of [N, C, H, W]."""

    op = "Conv2d"

    def __init__(
        self, name: str, in_channels: int, out_channels: int, kernel_size: Any, stride: int = 1,
        padding: Any = "same", dilation: int = 1, groups: int = 1, bias: bool = True,
        t_stream_workaround: bool = False,
    ) -> None:  # fmt: skip
        check_groups(name, "in_channels", in_channels, groups)
        super().__init__(
            name, (out_channels, in_channels // groups), out_channels, kernel_size, bias,
            {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups},
        )  # fmt: skip
        self.t_stream_workaround = t_stream_workaround

    def forward(self, activations: Tensor) -> Tensor:
        result = super().forward(activations)
        if not self.t_stream_workaround:
            return result
        _, channels, rows, columns = result.shape
        return OPS["Transpose"]("", OPS["Reshape"]("", result, (1, 1, channels, rows * columns)), -2, -1)


class ConvTranspose2dModule(_Convolution):
    """`Conv2dTranspose` as a module."""

    op = "Conv2dTranspose"

    def __init__(
        self, name: str, in_channels: int, out_channels: int, kernel_size: Any, stride: int = 1,
        padding: Any = "same", output_padding: int = 0, groups: int = 1, bias: bool = True, dilation: int = 1,
        padding_mode: str = "zeros",
    ) -> None:  # fmt: skip
        check_groups(name, "out_channels", out_channels, groups)
        for what, value, expected in (("output_padding", output_padding, 0), ("padding_mode", padding_mode, "zeros")):
            if value != expected:
                raise PyBudaError(f"module {name!r}: {what} is {value!r}; expected {expected!r}")
        super().__init__(
            name, (in_channels, out_channels // groups), out_channels, kernel_size, bias,
            {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups},
        )  # fmt: skip


class SparseMatmulModule(PyBudaModule):
    """A constant sparse matrix times the input."""

    def __init__(self, name: str, sparseA: Tensor) -> None:
        super().__init__(name)
        value = sparseA.value()
        dense = value.to_dense() if value.layout is not torch.strided else value
        self.sparseA = Parameter(dense, requires_grad=False, name="sparseA")

    def forward(self, denseB: Tensor) -> Tensor:
        return OPS["SparseMatmul"](self.name, self.sparseA, denseB)
