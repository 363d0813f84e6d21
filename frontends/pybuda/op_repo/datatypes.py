# SPDX-License-Identifier: Apache-2.0
"""An op as a generator of models sees it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..errors import PyBudaError

TensorShape = tuple[int, ...]


@dataclass
class OperatorParamNumber:
    """A number that an op takes. Without a limit, every number of the type is possible."""

    name: str
    type: type[int] | type[float]
    min_value: int | None = None
    max_value: int | None = None


OperatorParam = OperatorParamNumber


@dataclass
class ShapeCalculationContext:
    """The requested result, and the random numbers that choose between shapes of operands."""

    operator: OperatorDefinition
    input_num: int
    rng_shape: random.Random
    output_shape: TensorShape


@dataclass
class OperatorDefinition:
    """An op or a layer.

    full_name: "pybuda.op.Add", "torch.add", "torch.nn.Linear". input_num: number of operands. instantiate: a layer, an
    object with `constructor_params`. calc_input_shapes: returns shapes of operands for the shape of a result, from a
    ShapeCalculationContext.
    """

    name: str
    full_name: str
    input_num: int
    instantiate: bool = False
    constructor_params: list[OperatorParam] = field(default_factory=list)
    forward_code: Callable[[], str] | None = None
    forward_params: list[OperatorParam] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    calc_input_shapes: Callable[[ShapeCalculationContext], list[TensorShape]] | None = None

    def is_operator(self) -> bool:
        return not self.instantiate

    def is_layer(self) -> bool:
        return self.instantiate


class OperatorRepository:
    """Ops by name."""

    def __init__(self, operators: Iterable[OperatorDefinition]) -> None:
        self.operators = list(operators)

    def get_by_name(self, name: str) -> OperatorDefinition:
        """Returns the first op of a name.

        Raises:
            PyBudaError: there is none.
        """
        for operator in self.operators:
            if operator.name == name:
                return operator
        raise PyBudaError(f"no op is called {name!r}; known: {', '.join(sorted(x.name for x in self.operators))}")
