# SPDX-License-Identifier: Apache-2.0
"""The operation whose body runs: its grid, and the kernels and buffers that the body has defined so far."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING

from .errors import DefinitionError, ShapeError

if TYPE_CHECKING:
    from .buffers import DataflowBuffer


@dataclass(frozen=True)
class KernelFunction:
    """Is a kernel of an operation: a function, and whether it computes or moves data."""

    function: FunctionType
    computes: bool

    @property
    def __name__(self) -> str:
        return self.function.__name__


@dataclass
class Building:
    """Collects what the body of an operation defines."""

    grid: tuple[int, int]
    buffers: list[DataflowBuffer] = field(default_factory=list)
    kernels: list[KernelFunction] = field(default_factory=list)


CURRENT: ContextVar[Building | None] = ContextVar("ttl operation", default=None)


def current(name: str) -> Building:
    """Returns the operation whose body runs. Raises DefinitionError where none does."""
    found = CURRENT.get()
    if found is None:
        raise DefinitionError(f"{name}: is for the body of an operation (@ttl.operation)")
    return found


def check_dims(name: str, dims: object) -> int:
    """Returns a number of dimensions. Raises ShapeError for what is none."""
    if type(dims) is not int or dims < 1:
        raise ShapeError(f"{name}: dims is {dims!r}; expected 1 or more")
    return dims


def size_of(grid: tuple[int, int], dims: int) -> int | tuple[int, ...]:
    """Returns the size of a grid in a number of dimensions."""
    return grid[0] * grid[1] if dims == 1 else (*grid, *(1,) * (dims - 2))


def grid_size(dims: int = 2) -> int | tuple[int, ...]:
    """Returns the size of the grid: columns and rows of nodes; all nodes for dims=1; further dimensions have size 1."""
    return size_of(current("ttl.grid_size").grid, check_dims("ttl.grid_size", dims))


def node(dims: int = 2) -> int | tuple[int, ...]:
    """Raises DefinitionError: only kernels run on a node."""
    raise DefinitionError("ttl.node: is for kernels; the body of an operation runs once, for all nodes")
