# SPDX-License-Identifier: Apache-2.0
"""Expressions of kernels: constants are computed while the kernel is compiled, integers in C++, blocks as trees."""

from __future__ import annotations

import ast
import math
from types import FunctionType, ModuleType
from typing import Any

import ttnn

from .. import building
from ..buffers import DataflowBuffer
from ..errors import BlockError, DefinitionError, ShapeError, TTLError
from ..pipes import PipeNet
from . import functions
from .core import Core, described
from .functions import BlockFunction
from .scope import of_python
from .tree import Leaf, Node, unary
from .values import Block, Carried, Function, Group, Number, PipeEnd, TensorSlice, Text, Transfer, Unknown

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
           ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul"}  # fmt: skip
_CODE = {ast.Add: "{} + {}", ast.Sub: "{} - {}", ast.Mult: "{} * {}", ast.FloorDiv: "ttl::floordiv({}, {})",
         ast.Mod: "ttl::mod({}, {})", ast.LShift: "{} << {}", ast.RShift: "{} >> {}", ast.BitAnd: "{} & {}",
         ast.BitOr: "{} | {}", ast.BitXor: "{} ^ {}"}  # fmt: skip
_COMPARED = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_COMPARE_CODE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b, ast.LShift: lambda a, b: a << b, ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b, ast.BitOr: lambda a, b: a | b, ast.BitXor: lambda a, b: a ^ b,
}  # fmt: skip
_RUN_TIME = (Number, Block, Node, Carried, TensorSlice, PipeEnd, Transfer, Group, Text, Unknown, Function)


def is_constant(value: Any) -> bool:
    """Tells whether a value is known when the kernel is compiled."""
    if isinstance(value, tuple | list):
        return all(is_constant(each) for each in value)
    if isinstance(value, slice):
        return is_constant((value.start, value.stop, value.step))
    return not isinstance(value, _RUN_TIME)


class Expressions(Core):
    """Compiles expressions."""

    def value(self, node: ast.expr) -> Any:
        """Returns what an expression stands for."""
        self.line = node.lineno
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            self.unsupported(f"{ast.unparse(node)} ({type(node).__name__})")
        return method(node)

    def integer(self, node: ast.expr, what: str) -> str:
        """Returns an integer expression as C++ text."""
        return self.code(self.value(node), what)

    def operand(self, value: Any, what: str) -> Any:
        """Returns a block as the leaf of a tree; other values as they are."""
        if isinstance(value, Carried):
            return value.leaf
        if not isinstance(value, Block):
            if isinstance(value, Unknown):
                self.unsupported(value.reason)
            return value
        if not self.kernel.computes:
            self.fail(
                BlockError,
                f"{what}: kernel {self.kernel.__name__} moves data; block expressions are for @ttl.compute()",
            )
        self.check_open(value, what)
        if value.reserved:
            self.fail(
                BlockError,
                f"{what} reads {value}, which is reserved from {value.buffer.name}; expected a block of "
                f"{value.buffer.name}.wait(), behind a push",
            )
        if not value.buffer.tiled:
            self.fail(
                ShapeError, f"{what}: {value} has elements in row-major order; compute kernels have blocks of tiles"
            )
        value.read = True
        return Leaf(value.shape, value.buffer.index, value)

    def check_open(self, block: Block, what: str) -> None:
        """Raises BlockError for a block that was given back."""
        if not block.open:
            done = "pushed" if block.reserved else "popped"
            self.fail(BlockError, f"{what}: {block} was {done} already")

    # Leaves.

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        try:
            found = self.scope.lookup(node.id)
        except KeyError:
            self.fail(DefinitionError, f"{node.id} has no value here")
        if isinstance(found, DataflowBuffer | PipeNet) and found.name.startswith(("dataflow buffer ", "pipe net")):
            found.name = node.id
        if isinstance(found, ttnn.Tensor):
            self.tensor_name = node.id
        return found

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(each) for each in node.elts)

    def _list(self, node: ast.List) -> Any:
        return [self.value(each) for each in node.elts]

    def _slice(self, node: ast.Slice) -> Any:
        return slice(*(None if each is None else self.value(each) for each in (node.lower, node.upper, node.step)))

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        parts = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                if each.format_spec is not None or each.conversion != -1:
                    self.unsupported("a format in a string", "strings with plain values")
                parts.append(self.value(each.value))
            else:
                parts.append(self.value(each))
        return Text(tuple(parts))

    # Operators.

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        self.line = node.lineno
        return self.binary(type(node.op), left, right, ast.unparse(node))

    def binary(self, kind: type[ast.operator], left: Any, right: Any, what: str) -> Any:
        """Returns an operator of two values."""
        left, right = self.operand(left, what), self.operand(right, what)
        if isinstance(left, Node) or isinstance(right, Node):
            if kind not in _BINARY:
                self.unsupported(what, "+ - * / // % ** @ of blocks")
            with self.located():
                return functions.binary(_BINARY[kind], self._number_of(left, what), self._number_of(right, what))
        if is_constant(left) and is_constant(right):
            if kind not in _OPERATORS:
                self.unsupported(what)
            try:
                return _OPERATORS[kind](left, right)
            except (TypeError, ValueError, ArithmeticError) as error:
                self.fail(DefinitionError, f"{what}: {error}")
        if kind is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
            return left + right
        if kind not in _CODE:
            self.unsupported(f"{what} of integers", "+ - * // % << >> & | ^ of integers")
        return Number(f"({_CODE[kind].format(self.code(left, what), self.code(right, what))})")

    def _number_of(self, value: Any, what: str) -> Any:
        if isinstance(value, Number):
            self.unsupported(
                f"{what} of a block and a number of the kernel's run time", "numbers that the compiler knows there"
            )
        return value

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        what = ast.unparse(node)
        if isinstance(node.op, ast.Not):
            if is_constant(value):
                return not value
            return Number(f"(!{self.code(value, what)})")
        value = self.operand(value, what)
        if isinstance(value, Node):
            if isinstance(node.op, ast.USub):
                return unary("negative_tile", value)
            if isinstance(node.op, ast.UAdd):
                return value
            self.unsupported(what, "- and abs of blocks")
        if is_constant(value):
            try:
                return {ast.USub: lambda x: -x, ast.UAdd: lambda x: +x, ast.Invert: lambda x: ~x}[type(node.op)](value)
            except TypeError as error:
                self.fail(DefinitionError, f"{what}: {error}")
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        return Number(f"({sign}{self.code(value, what)})")

    def _compare(self, node: ast.Compare) -> Any:
        result: Any = True
        left = self.value(node.left)
        for kind, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            result = self._both(result, self._compared(kind, left, right, ast.unparse(node)))
            left = right
        return result

    def _both(self, a: Any, b: Any) -> Any:
        if isinstance(a, Node) or isinstance(b, Node):
            return b if a is True else a
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(f"({a.code} && {b.code})")
        if is_constant(a):
            return b if a else a
        return a if b else b

    def _compared(self, kind: ast.cmpop, left: Any, right: Any, what: str) -> Any:
        left, right = self.operand(left, what), self.operand(right, what)
        if isinstance(kind, ast.In | ast.NotIn):
            if not isinstance(right, tuple | list | range | set | dict):
                self.unsupported(what)
            found: Any = False
            for each in right:
                same = self._compared(ast.Eq(), left, each, what)
                found = self._either(found, same)
            return found if isinstance(kind, ast.In) else self._negated(found)
        if isinstance(kind, ast.Is | ast.IsNot):
            if not (right is None or left is None):
                self.unsupported(what, "is None")
            return (left is right) == isinstance(kind, ast.Is)
        name = _COMPARED[type(kind)]
        if isinstance(left, Node) or isinstance(right, Node):
            with self.located():
                return functions.binary(name, self._number_of(left, what), self._number_of(right, what))
        if is_constant(left) and is_constant(right):
            try:
                return functions.PYTHON[name](left, right)
            except TypeError as error:
                self.fail(DefinitionError, f"{what}: {error}")
        if isinstance(left, tuple) and isinstance(right, tuple) and name in ("eq", "ne"):
            equal: Any = len(left) == len(right)
            for a, b in zip(left, right, strict=False):
                equal = self._both(equal, self._compared(ast.Eq(), a, b, what))
            return equal if name == "eq" else self._negated(equal)
        return Number(f"({self.code(left, what)} {_COMPARE_CODE[name]} {self.code(right, what)})")

    def _negated(self, value: Any) -> Any:
        return Number(f"(!{value.code})") if isinstance(value, Number) else not value

    def _either(self, a: Any, b: Any) -> Any:
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(f"({a.code} || {b.code})")
        if isinstance(a, Number):
            return True if b else a
        return a or b

    def _boolop(self, node: ast.BoolOp) -> Any:
        stops = isinstance(node.op, ast.Or)
        parts: list[Any] = []
        for each in node.values:
            value = self.value(each)
            if is_constant(value):
                if bool(value) == stops:
                    parts.append(value)
                    break
                if each is not node.values[-1]:
                    continue
            parts.append(value)
        if len(parts) == 1:
            return parts[0]
        what = ast.unparse(node)
        text = self.code(parts[-1], what)
        for value in reversed(parts[:-1]):
            own = self.code(value, what)
            text = f"({own} ? {own} : {text})" if stops else f"({own} ? {text} : {own})"
        return Number(text)

    def _ifexp(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        if is_constant(test):
            return self.value(node.body if test else node.orelse)
        what = ast.unparse(node)
        yes, no = self.value(node.body), self.value(node.orelse)
        return Number(f"({self.code(test, what)} ? {self.code(yes, what)} : {self.code(no, what)})")

    # Parts.

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.value(node.value), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """Returns an attribute of a value."""
        if isinstance(owner, Block | Node | Carried) and name == "shape":
            return owner.leaf.shape if isinstance(owner, Carried) else owner.shape
        if isinstance(owner, PipeEnd):
            if name in ("src", "dst") and (name == "dst") == owner.sends:
                return self.pipe_coordinates(owner)
            self.fail(
                DefinitionError,
                f"a pipe of {'if_src' if owner.sends else 'if_dst'} has no {name}; it has "
                f"{'dst' if owner.sends else 'src'}",
            )
        if not is_constant(owner):
            self.unsupported(f"attribute {name} of {described(owner)}")
        try:
            return getattr(owner, name)
        except AttributeError:
            self.fail(DefinitionError, f"{described(owner)} has no {name}")

    def pipe_coordinates(self, end: PipeEnd) -> Any:
        """Returns the other end of a pipe."""
        raise NotImplementedError

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        name = node.value.id if isinstance(node.value, ast.Name) else "a tensor"
        index = self.value(node.slice)
        self.line = node.lineno
        if isinstance(owner, ttnn.Tensor):
            return self._tensor_slice(owner, name, index)
        if isinstance(owner, Block):
            self.unsupported(f"{ast.unparse(node)}: a part of a block", "whole blocks")
        if not is_constant(index):
            self.unsupported(f"{ast.unparse(node)} with an index of the kernel's run time")
        try:
            return owner[index]
        except (TypeError, LookupError) as error:
            self.fail(DefinitionError, f"{ast.unparse(node)}: {error}")

    def _tensor_slice(self, tensor: ttnn.Tensor, name: str, index: Any) -> TensorSlice:
        """Returns a part of a tensor; indices are tiles in the last two dimensions of a tiled tensor."""
        tiled = tensor.layout == ttnn.TILE_LAYOUT
        sizes = list(tensor.padded_shape) if tiled else list(tensor.shape)
        if tiled:
            sizes = [*sizes[:-2], sizes[-2] // 32, sizes[-1] // 32]
        given = index if isinstance(index, tuple) else (index,)
        if len(given) != len(sizes):
            self.fail(ShapeError, f"{name} has {len(sizes)} dimensions, and {len(given)} indices are given")
        unit = "tile" if tiled else "element"
        ranges = []
        for at, (each, size) in enumerate(zip(given, sizes, strict=True)):
            if not isinstance(each, slice):
                begin, end = each, self.binary(ast.Add, each, 1, name)
            else:
                if each.step not in (None, 1):
                    self.unsupported(f"a slice of {name} with a step", "slices without a step")
                begin = 0 if each.start is None else each.start
                end = size if each.stop is None else each.stop
            if is_constant(begin) and is_constant(end):
                if type(begin) is not int or type(end) is not int or not 0 <= begin <= end <= size:
                    self.fail(
                        ShapeError, f"{name}: {unit}s {begin!r} to {end!r} of dimension {at}, which has {size} {unit}s"
                    )
            else:
                first, last = self.code(begin, name), self.code(end, name)
                self.emit(f'ttl::extent("{name}: {unit}s", {at}, {first}, {last}, {size});')
            ranges.append((begin, end))
        return TensorSlice(tensor, name, ranges)

    # Calls.

    def _call(self, node: ast.Call) -> Any:
        raise NotImplementedError

    def call_constant(self, callee: Any, args: list[Any], kwargs: dict[str, Any], what: str) -> Any:
        """Calls a function of Python whose arguments are known."""
        try:
            return callee(*args, **kwargs)
        except TTLError as error:
            self.fail(type(error), str(error))
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            self.fail(DefinitionError, f"{what}: {error}")

    def builtin(self, callee: Any, args: list[Any], what: str) -> Any:
        """Calls a function of Python on integers of the kernel's run time."""
        if callee in (min, max):
            values = list(args[0]) if len(args) == 1 and isinstance(args[0], tuple | list) else args
            result = self.code(values[0], what)
            for each in values[1:]:
                result = f"ttl::{callee.__name__}imum({result}, {self.code(each, what)})"
            return Number(result)
        if callee is abs and len(args) == 1:
            return Number(f"ttl::absolute({self.code(args[0], what)})")
        if callee in (int, bool) and len(args) == 1:
            return Number(self.code(args[0], what) if callee is int else f"({self.code(args[0], what)} != 0)")
        if callee is divmod and len(args) == 2:
            return tuple(self.binary(kind, args[0], args[1], what) for kind in (ast.FloorDiv, ast.Mod))
        if callee is slice:
            return slice(*args)
        if callee is tuple and len(args) == 1 and isinstance(args[0], tuple | list):
            return tuple(args[0])
        if callee is len and len(args) == 1 and isinstance(args[0], tuple | list):
            return len(args[0])
        if callee in (math.ceil, math.floor) and len(args) == 1:
            return Number(self.code(args[0], what))
        self.unsupported(what)

    def block_function(self, callee: BlockFunction, args: list[Any], kwargs: dict[str, Any]) -> Node:
        """Calls a function of ttl.math or ttl.block."""
        args = [self.operand(each, callee.name) for each in args]
        kwargs = {name: self.operand(each, callee.name) for name, each in kwargs.items()}
        for each in (*args, *kwargs.values()):
            if isinstance(each, Number):
                self.unsupported(
                    f"{callee.name} with a number of the kernel's run time", "numbers that the compiler knows there"
                )
        with self.located():
            try:
                return callee.build(*args, **kwargs)
            except TypeError as error:
                self.fail(DefinitionError, f"{callee.name}: {error}")

    def as_function(self, callee: Any) -> Function | None:
        """Returns a function whose calls can be expanded; None for other values."""
        if isinstance(callee, Function):
            return callee
        if isinstance(callee, FunctionType) and not isinstance(callee, ModuleType):
            with self.located():
                return of_python(callee)
        return None

    def grid_call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Calls ttl.node or ttl.grid_size."""
        name = f"ttl.{callee.__name__}"
        if len(args) + len(kwargs) > 1 or set(kwargs) - {"dims"}:
            self.fail(DefinitionError, f"{name}: takes dims alone")
        with self.located():
            dims = building.check_dims(name, kwargs.get("dims", args[0] if args else 2))
        if callee is building.grid_size:
            return building.size_of(self.around.grid, dims)
        x, y = Number("int64_t(get_absolute_logical_x())"), Number("int64_t(get_absolute_logical_y())")
        if dims == 1:
            return Number(f"({x.code} * {self.around.grid[1]} + {y.code})")
        return (x, y, *(0,) * (dims - 2))
