# SPDX-License-Identifier: Apache-2.0
"""The values of a kernel's names while it is compiled. Other Python objects are constants."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import ttnn

from ..buffers import DataflowBuffer
from ..pipes import Net
from .tree import Leaf


@dataclass(frozen=True)
class Number:
    """Is an integer of the kernel's run time: a C++ expression of type int64_t, or bool."""

    code: str


@dataclass(eq=False)
class Block:
    """Is a block that `wait()` or `reserve()` of a buffer gave. Flags say what may have happened to it so far."""

    buffer: DataflowBuffer
    reserved: bool
    line: int
    depth: int  # of loops
    open: bool = True
    written: bool = False
    stored: bool = False
    read: bool = False
    pending: list[Transfer] = field(default_factory=list)
    nets: list[Net] = field(default_factory=list)  # that read from it until they are drained
    name: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the shape of the buffer's blocks."""
        return self.buffer.shape

    def __str__(self) -> str:
        return self.name or f"a block of {self.buffer.name}"


@dataclass(eq=False)
class TensorSlice:
    """Is a part of a tensor: for each dimension begin and end, in tiles or elements, as numbers or Numbers."""

    tensor: ttnn.Tensor
    name: str
    ranges: list[tuple[Any, Any]]


@dataclass(eq=False)
class PipeEnd:
    """Is the pipe that a function of `if_src` (`sends`) or `if_dst` gets. `index` is its number, in C++."""

    net: Net
    sends: bool
    index: str


@dataclass(eq=False)
class Transfer:
    """Is what `ttl.copy` returns: the C++ that waits for it, and the blocks that it fills or reads."""

    barrier: str
    blocks: list[Block]
    waited: bool = False


@dataclass(eq=False)
class Group:
    """Is a group of transfers."""

    transfers: list[Transfer] = field(default_factory=list)
    waited: bool = False


@dataclass(eq=False)
class Carried:
    """Is a block expression that a loop or a branch changes: a block at the front of an intermediate buffer."""

    leaf: Leaf
    tiles: int


@dataclass(frozen=True)
class Function:
    """Is a function that is defined in a kernel, or in Python; calls are expanded."""

    node: ast.FunctionDef
    scope: Any  # the Scope in which its free names are looked up
    file: str


@dataclass(frozen=True)
class Text:
    """Is a formatted string, for print."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Signpost:
    """Is a name for a part of a kernel."""

    name: str


@dataclass(frozen=True)
class Unknown:
    """Is a name with another meaning in each branch, or of a loop that may not have run."""

    reason: str
