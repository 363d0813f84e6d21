# SPDX-License-Identifier: Apache-2.0
"""The common state of a kernel's compiler: the text so far, variables, scopes, errors with file and line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import ttnn

from ..buffers import DataflowBuffer
from ..building import KernelFunction
from ..errors import TTLError, UnsupportedError
from ..pipes import Net, PipeNet
from .registers import Evaluator, Intermediates
from .scope import Scope, parsed
from .values import Block, Carried, Group, Number, Unknown

SUPPORTED = (
    "integers, tuples, for over range, while, if, with blocks, assert, print, nested functions and calls of functions"
)
_TYPES = {"BFLOAT16": "BFloat16", "FLOAT32": "Float32", "INT32": "Int32", "UINT32": "UInt32", "UINT16": "UInt16",
          "UINT8": "UInt8", "BFLOAT8_B": "BFP_BFloat8", "BFLOAT4_B": "BFP_BFloat4"}  # fmt: skip


def dtype_name(dtype: Any, what: str) -> str:
    """Returns the runtime's name of an element type. Raises UnsupportedError for those that cores do not compute."""
    if dtype.name not in _TYPES:
        raise UnsupportedError(f"{what} has elements of type {dtype.name}; cores compute {', '.join(_TYPES)}")
    return _TYPES[dtype.name]


@dataclass
class Frame:
    """Holds what a function, a loop or a branch has made, and ends with it."""

    kind: str
    node: ast.AST
    blocks: list[Block] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    releases: list[Block] = field(default_factory=list)  # of with statements that are open


@dataclass
class Surroundings:
    """Holds what the kernels of an operation share while they are compiled."""

    grid: tuple[int, int]
    wide: bool  # destination registers of 32 bits
    registers: int
    buffers: list[DataflowBuffer]
    nets: dict[int, Net] = field(default_factory=dict)  # by the identity of their PipeNet
    net_users: dict[tuple[int, bool], str] = field(default_factory=dict)  # kernels that send and receive
    tensors: list[ttnn.Tensor] = field(default_factory=list)
    tensor_names: list[str] = field(default_factory=list)
    intermediates: Intermediates = field(default_factory=lambda: Intermediates(0, "BFloat16"))

    def net(self, net: PipeNet) -> Net:
        """Returns a pipe net on the grid, with semaphores of its own."""
        if id(net) not in self.nets:
            first = sum(each.semaphores for each in self.nets.values())
            self.nets[id(net)] = Net(net, self.grid, first)
        return self.nets[id(net)]

    def tensor(self, tensor: ttnn.Tensor, name: str) -> int:
        """Returns the number of a tensor that kernels read or write."""
        for at, each in enumerate(self.tensors):
            if each is tensor:
                return at
        self.tensors.append(tensor)
        self.tensor_names.append(name)
        return len(self.tensors) - 1


class Core:
    """Holds the state of the compilation of one kernel."""

    def __init__(self, kernel: KernelFunction, around: Surroundings) -> None:
        self.kernel, self.around = kernel, around
        self.node, self.file = parsed(kernel.function)
        self.scope = Scope(self.node, self.file, None, kernel.function)
        self.line = self.node.lineno
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}  # variables of the kernel and their declarations
        self.frames: list[Frame] = [Frame("function", self.node)]
        self.handles: dict[tuple[int, bool], Block] = {}
        self.tables: dict[str, str] = {}  # constants and functions in front of the kernel
        self.used_tensors: list[int] = []
        self.calls = 0
        self.scaler_port: int | None = None
        self.evaluator = Evaluator(around.registers, self._dtype_of_port, around.intermediates, self.emit, self._scaler)

    # Text.

    def emit(self, text: str) -> None:
        """Adds C++ that belongs to the current line of Python."""
        self.lines.append(f"#line {self.line}\n{text}\n")

    def fail(self, kind: type[TTLError], text: str) -> NoReturn:
        """Raises an error with file and line."""
        raise kind(f"{self.scope.file}:{self.line}: {text}")

    def unsupported(self, what: str, expected: str = SUPPORTED) -> NoReturn:
        """Raises an error for a construct that kernels do not have."""
        self.fail(
            UnsupportedError, f"kernel {self.kernel.__name__}: {what} cannot be compiled; kernels have {expected}"
        )

    @contextmanager
    def located(self) -> Iterator[None]:
        """Gives errors of what is called the current file and line."""
        try:
            yield
        except TTLError as error:
            text = str(error)
            if text.startswith(f"{self.scope.file}:"):
                raise
            raise type(error)(f"{self.scope.file}:{self.line}: {text}") from None

    def variable(self, name: str, kind: str = "int64_t") -> str:
        """Declares a variable of the kernel."""
        self.declared.setdefault(name, f"[[maybe_unused]] {kind} {name} = 0;")
        return name

    def fresh(self, name: str = "t") -> str:
        """Declares a variable of its own."""
        self.calls += 1
        return self.variable(f"{name}{self.calls}_")

    # Values.

    def code(self, value: Any, what: str) -> str:
        """Returns an integer as C++ text. Raises UnsupportedError for other values."""
        if isinstance(value, Number):
            return value.code
        if isinstance(value, bool | int):
            if not -(2**63) <= value < 2**63:
                self.unsupported(f"{what} {value}", "integers of 64 bits")
            if value == -(2**63):
                return "INT64_MIN"
            return f"INT64_C({int(value)})" if value >= 0 else f"(INT64_C({int(value)}))"
        if isinstance(value, Unknown):
            self.unsupported(value.reason)
        self.unsupported(f"{what} {described(value)}", "integers there")

    # Tiles.

    def _dtype_of_port(self, port: int) -> str:
        if port < len(self.around.buffers):
            buffer = self.around.buffers[port]
            return dtype_name(buffer.dtype, buffer.name)
        return self.around.intermediates.made[port - self.around.intermediates.first][1]

    def _scaler(self) -> int:
        """Returns the port of a tile of ones, which the kernel fills when it begins."""
        if self.scaler_port is None:
            self.scaler_port = self.around.intermediates.make(1, self.around.intermediates.dtype)
        return self.scaler_port

    def text(self) -> str:
        """Returns the body of the kernel."""
        start = ""
        if self.scaler_port is not None:
            port = self.scaler_port
            start = (
                f"cb_reserve_back({port}, 1); tile_regs_acquire(); fill_tile_init(); fill_tile(0, 1.0f); "
                f"tile_regs_commit(); tile_regs_wait(); pack_tile(0, {port}); tile_regs_release(); "
                f"cb_push_back({port}, 1); cb_wait_front({port}, 1);\n"
            )
        return "".join(
            [*(f"{each}\n" for each in self.tables.values()), "void kernel_main() {\n",
             *(f"{each}\n" for each in self.declared.values()), start, *self.lines, "}\n"]
        )  # fmt: skip


def described(value: Any) -> str:
    """Returns a value for a message."""
    if isinstance(value, Block):
        return f"the block {value}"
    if isinstance(value, Number):
        return "a number of the kernel's run time"
    if isinstance(value, Group):
        return "a GroupTransfer"
    text = repr(value)
    return text if len(text) < 80 else f"{type(value).__name__}"
