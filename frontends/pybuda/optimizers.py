# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose steps the chip computes: each is a function of weight, gradient, state and hyperparameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from ttmlir.torch.options import Options

from .capture.computing import Computing
from .capture.formats import FLOATS, DataFormat
from .capture.graph import Compiled, OnChip
from .enums import OPTIMIZER
from .errors import PyBudaError
from .tensor import Parameter, Tensor


class Optimizer:
    """A subclass has `numbers` (hyperparameters by name, inputs of the step) and `kept` (names of its state for each
    weight).

    device_params: the parameters are those of the device that the optimizer is given to; else `parameters`.
    """

    kept: tuple[str, ...] = ()

    def __init__(
        self,
        learning_rate: float,
        parameters: list[Parameter] | None = None,
        device_params: bool = False,
        **numbers: float,
    ) -> None:
        if not isinstance(learning_rate, int | float) or isinstance(learning_rate, bool) or learning_rate < 0:
            raise PyBudaError(f"{type(self).__name__}: learning_rate is {learning_rate!r}; expected 0 or more")
        self.learning_rate = learning_rate
        self.device_params = device_params
        self.parameters = None if parameters is None else {p.get_name() for p in parameters}
        self.numbers = numbers
        self.state: dict[str, list[torch.Tensor]] = {}
        self._steps: dict[DataFormat, OnChip] = {}

    def update(
        self, w: torch.Tensor, g: torch.Tensor, kept: Mapping[str, torch.Tensor], n: Mapping[str, torch.Tensor]
    ) -> tuple[torch.Tensor, ...]:
        """Returns the new weight, and its state."""
        raise NotImplementedError

    def _step(self, data_format: DataFormat) -> OnChip:
        """Returns the step as a function of tensors; its weight has the format."""

        def step(w: torch.Tensor, g: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
            kept = dict(zip(self.kept, rest, strict=False))
            numbers = dict(zip(["lr", *self.numbers], rest[len(self.kept) :], strict=True))
            new, *others = self.update(w, g, kept, numbers)
            if data_format is not DataFormat.Float32:
                new = torch.ops.pybuda.round_to(new, FLOATS[data_format])
            return new, *others

        return self._steps.setdefault(data_format, OnChip(step, OPTIMIZER))

    def compiled_step(
        self, shape: Sequence[int], options: Options, computing: Computing, data_format: DataFormat
    ) -> Compiled:
        """Returns the compiled step of a parameter: a program of weight, gradient, state and hyperparameters."""
        shapes = [
            shape,
            shape,
            *(shape if kind != "t" else (1,) for kind in self.kept),
            *[(1,)] * (1 + len(self.numbers)),
        ]
        given = [torch.zeros(tuple(each)) for each in shapes]
        compiled = self._step(data_format).compiled(options, computing, *given)
        compiled.prepare(*given)
        return compiled

    def step_parameter(
        self, name: str, value: torch.Tensor, gradient: torch.Tensor, options: Options, computing: Computing,
        data_format: DataFormat,
    ) -> None:  # fmt: skip
        """Gives one parameter its new value."""
        if self.parameters is not None and name not in self.parameters:
            return
        kept = self.state.get(name) or [torch.zeros(value.shape if kind != "t" else (1,)) for kind in self.kept]
        numbers = [torch.tensor([float(x)]) for x in (self.learning_rate, *self.numbers.values())]
        given = (value.float(), gradient.float(), *kept, *numbers)
        new, *self.state[name] = self._step(data_format)(options, computing, *given)
        with torch.no_grad():
            value.copy_(new)

    def get_optimizer_params(self, name: str = "", is_buda: bool = False) -> dict[str, Tensor]:
        """Returns the learning rate and the other hyperparameters, and a parameter's state."""
        found = {"lr": Tensor(torch.tensor([float(self.learning_rate)]), "lr")}
        found |= {key: Tensor(torch.tensor([float(x)]), key) for key, x in self.numbers.items()}
        return found | {key: Tensor(x, key) for key, x in zip(self.kept, self.state.get(name, []), strict=False)}

    def set_optimizer_parameters(self, learning_rate: float | None = None) -> None:
        """Sets the learning rate of the next steps; None keeps it."""
        if learning_rate is not None:
            self.learning_rate = learning_rate


class SGD(Optimizer):
    """w - lr g."""

    def __init__(
        self, learning_rate: float, parameters: list[Parameter] | None = None, device_params: bool = False
    ) -> None:
        super().__init__(learning_rate, parameters, device_params)

    def update(self, w: Any, g: Any, kept: Any, n: Any) -> tuple[torch.Tensor, ...]:
        return (w - n["lr"] * g,)


class Adam(Optimizer):
    """Means of gradients and of their squares; weight_decay is added to the gradient."""

    kept = ("m", "v", "t")
    decoupled = False

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        weight_decay: float = 0.0, bias_correction: bool = True, parameters: list[Parameter] | None = None,
        device_params: bool = False,
    ) -> None:  # fmt: skip
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise PyBudaError(f"{type(self).__name__}: {name} is {value!r}; expected 0 or more, below 1")
        self.bias_correction = bias_correction
        super().__init__(
            learning_rate,
            parameters,
            device_params,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            weight_decay=weight_decay,
        )

    def direction(self, w: Any, g: Any, kept: Any, n: Any) -> tuple[torch.Tensor, ...]:
        """Returns the direction of the step, and the state."""
        m = n["beta1"] * kept["m"] + (1 - n["beta1"]) * g
        v = n["beta2"] * kept["v"] + (1 - n["beta2"]) * g * g
        t = kept["t"] + 1
        mean, square = m, v
        if self.bias_correction:
            mean, square = m / (1 - n["beta1"] ** t), v / (1 - n["beta2"] ** t)
        return mean / (square.sqrt() + n["epsilon"]), m, v, t

    def update(self, w: Any, g: Any, kept: Any, n: Any) -> tuple[torch.Tensor, ...]:
        if self.decoupled:
            direction, *rest = self.direction(w, g, kept, n)
            return w - n["lr"] * n["weight_decay"] * w - n["lr"] * direction, *rest
        direction, *rest = self.direction(w, g + n["weight_decay"] * w, kept, n)
        return w - n["lr"] * direction, *rest


class AdamW(Adam):
    """Adam whose weight_decay is taken from the weight, not added to the gradient."""

    decoupled = True

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        weight_decay: float = 0.01, bias_correction: bool = True, parameters: list[Parameter] | None = None,
        device_params: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, weight_decay, bias_correction, parameters, device_params)


def trust_ratio(w: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """Returns |w| / ||direction|; 1 where one of them is 0."""
    weight, step = (w * w).sum().sqrt(), (direction * direction).sum().sqrt()
    ratio = weight / torch.where(step > 0, step, torch.ones_like(step))
    return torch.where((weight > 0) & (step > 0), ratio, torch.ones_like(ratio))


class LAMB(Adam):
    """Adam whose steps are as long, for each weight, as the weight (You et al., 2019)."""

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
        weight_decay: float = 0.0, bias_correction: bool = True, parameters: list[Parameter] | None = None,
        device_params: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, weight_decay, bias_correction, parameters, device_params)

    def update(self, w: Any, g: Any, kept: Any, n: Any) -> tuple[torch.Tensor, ...]:
        direction, *rest = self.direction(w, g, kept, n)
        direction = direction + n["weight_decay"] * w
        return w - n["lr"] * trust_ratio(w, direction) * direction, *rest


class LARS(Optimizer):
    """SGD with momentum whose rate is in proportion to |w| / |g|, for each weight (You et al., 2017)."""

    kept = ("momentum_buffer",)

    def __init__(
        self, learning_rate: float, momentum: float = 0.9, weight_decay: float = 0.0, lars_coeff: float = 0.001,
        parameters: list[Parameter] | None = None, device_params: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate,
            parameters,
            device_params,
            momentum=momentum,
            weight_decay=weight_decay,
            lars_coeff=lars_coeff,
        )

    def update(self, w: Any, g: Any, kept: Any, n: Any) -> tuple[torch.Tensor, ...]:
        direction = g + n["weight_decay"] * w
        local = n["lars_coeff"] * trust_ratio(w, direction)
        buffer = n["momentum"] * kept["momentum_buffer"] + n["lr"] * local * direction
        return w - buffer, buffer


TYPES: dict[str, type[Optimizer]] = {"sgd": SGD, "adam": Adam, "adamw": AdamW, "lamb": LAMB, "lars": LARS}


def get_optimizer_type_from_string(type_string: str) -> type[Optimizer]:
    """Returns the class of an optimizer.

    Raises:
        PyBudaError: there is none of this name.
    """
    if type_string not in TYPES:
        raise PyBudaError(f"an optimizer's type is {type_string!r}; expected one of {', '.join(TYPES)}")
    return TYPES[type_string]
