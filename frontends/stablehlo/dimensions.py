# SPDX-License-Identifier: Apache-2.0
"""Constraints of a StableHLO module on the dimensions of its arguments.

`jax.export` writes symbolic shapes as code: the main function reads dimensions of its arguments, computes dimension
variables and checks them by calls of `shape_assertion`. This code is read as expressions of dimensions.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ttmlir import ir
from ttmlir.bounds import LARGEST, is_size

ASSERTION, NAMED = "shape_assertion", "jax.global_constant"
# Integer arithmetic of StableHLO and JAX's symbolic expressions. Division of StableHLO rounds toward zero.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "remainder": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "maximum": max,
    "minimum": min,
    "max": max,
    "min": min,
    "negate": lambda a: -a,
    "sign": lambda a: (a > 0) - (a < 0),
    "abs": abs,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: not a,
    "select": lambda which, a, b: a if which else b,
    "clamp": lambda low, n, high: min(max(n, low), high),
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "GE": lambda a, b: a >= b,
    "GT": lambda a, b: a > b,
    "LE": lambda a, b: a <= b,
    "LT": lambda a, b: a < b,
}
IN_TEXT: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.USub: "negate",
}
SAME = ("stablehlo.convert", "stablehlo.reshape", "stablehlo.optimization_barrier")
MOST = 1 << 40  # of a dimension
DEEPEST = 16  # of functions that call each other
DYNAMIC = ir.ShapedType.get_dynamic_size()
# An argument and one of its dimensions, or the name of a size.
Leaf: TypeAlias = "tuple[int, int] | str"
Values: TypeAlias = Mapping[Any, int]
Known: TypeAlias = "dict[Any, Expression]"
Pair: TypeAlias = "tuple[Expression, Expression]"


class SizeError(ValueError):
    """Sizes that a program does not take; names the dimension and the expected sizes."""


@dataclass(frozen=True)
class Expression:
    """A number that depends on dimensions of arguments or on sizes: a leaf, a constant, or an operator of others."""

    operator: str = ""
    operands: tuple[Expression, ...] = ()
    leaf: Leaf | None = None
    value: int = 0

    def __call__(self, values: Values) -> int:
        """
        Raises:
            KeyError: a leaf that has no value. ZeroDivisionError.
        """
        if self.operator:
            return int(OPERATORS[self.operator](*[operand(values) for operand in self.operands]))
        return self.value if self.leaf is None else values[self.leaf]

    def leaves(self) -> set[Any]:
        found: set[Any] = set() if self.leaf is None else {self.leaf}
        return found.union(*(operand.leaves() for operand in self.operands))

    def solve(self, number: int, values: Values) -> tuple[Any, int] | None:
        """Returns the one leaf without a value, and the smallest value for which the expression is `number`.

        None where there is none, and where the expression neither grows nor falls with the leaf.
        """
        unknown = self.leaves() - set(values)
        if len(unknown) != 1:
            return None
        (leaf,) = unknown
        at = {**values, leaf: 0}

        def reached(n: int) -> bool:
            at[leaf] = n
            return (self(at) - number) * sign >= 0

        try:
            at[leaf] = MOST
            last = self(at)
            at[leaf] = 0
            sign = 1 if self(at) <= last else -1
            low, high = -1, MOST
            if not reached(high):
                return None
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if reached(middle) else (middle, high)
            at[leaf] = high
            return (leaf, high) if self(at) == number else None
        except ArithmeticError:
            return None


def parse(text: str) -> Expression:
    """Returns an expression as JAX writes it: `2*b + 1`, `floordiv(b, 2)`, `max(b, c)`.

    Raises:
        ValueError: anything else.
    """

    def read(node: Any) -> Expression:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return Expression(value=value)
            case ast.Name(id=name):
                return Expression(leaf=name)
            case ast.BinOp(left=left, right=right, op=op) if type(op) in IN_TEXT:
                return Expression(IN_TEXT[type(op)], (read(left), read(right)))
            case ast.BinOp(left=left, right=ast.Constant(value=int(power)), op=ast.Pow()) if 0 < power <= 8:
                base = read(left)
                product = base
                for _ in range(power - 1):
                    product = Expression("multiply", (product, base))
                return product
            case ast.UnaryOp(operand=operand, op=ast.USub()):
                return Expression("negate", (read(operand),))
            case ast.Call(func=ast.Name(id=("floordiv" | "mod" | "max" | "min") as name), args=[a, b], keywords=[]):
                return Expression(name, (read(a), read(b)))
        raise ValueError(f"dimension '{text}' is no expression of sizes")

    try:
        return read(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"dimension '{text}' is no expression of sizes") from None


@dataclass(frozen=True)
class Assertion:
    """A condition on the shapes of a module, and the message if it does not hold."""

    condition: Expression
    message: str
    shown: tuple[Expression, ...]

    def is_tight(self, values: Values) -> bool:
        """Returns whether an inequality of dimensions holds only just: one more or less, and it might not."""
        condition = self.condition
        if condition.operator not in ("GE", "LE", "GT", "LT") or len(condition.leaves()) < 2:
            return False
        one, other = (operand(values) for operand in condition.operands)
        return abs(one - other) <= (condition.operator in ("GT", "LT"))

    def text(self, values: Values) -> str:
        text = self.message.partition(" Please see ")[0] or "an assertion of the module about its shapes does not hold"
        for i, number in enumerate(self.shown):
            with contextlib.suppress(ArithmeticError):  # what has no value stays as it is
                text = text.replace(f"{{{i}}}", str(number(values)))
        return re.sub(r",?\s+\.?$", "", text)


@dataclass
class Dimensions:
    """The dimensions of the arguments of a module.

    shapes, elements: of the arguments: sizes, with -1 for what is open, and the element type as text.
    names: sizes, in the order in which the module has them. read: how each follows from dimensions of arguments.
    assertions: in dimensions of arguments. bounds: upper bounds of dimensions (`#stablehlo.bounds`).
    stated: dimensions as text, where the caller gave it. unnamed: sizes that neither the module nor the caller named.
    periods: numbers by which the module divides integers, of which sizes may be some.
    compared: pairs of numbers that the module compares, beyond its assertions.
    """

    shapes: list[list[int]]
    elements: list[str]
    names: list[str] = field(default_factory=list)
    read: dict[str, Expression] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    bounds: dict[tuple[int, int], int] = field(default_factory=dict)
    stated: dict[Any, str] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    periods: list[int] = field(default_factory=list)
    compared: list[Pair] = field(default_factory=list)

    def open(self) -> Iterator[tuple[int, int]]:
        for i, shape in enumerate(self.shapes):
            yield from ((i, d) for d, n in enumerate(shape) if n < 0)

    def text(self, argument: int) -> str:
        """Returns the shape of an argument, with expressions or `?` for open dimensions."""
        named = {read.leaf: name for name, read in self.read.items()} | self.stated
        return (
            "["
            + ", ".join(
                str(n) if n >= 0 else named.get((argument, d), "?") for d, n in enumerate(self.shapes[argument])
            )
            + "]"
        )

    def sizes(self, shapes: Sequence[Sequence[int]]) -> tuple[dict[str, int], dict[Any, int]]:
        """Returns the sizes, and all open dimensions, of arguments of these shapes.

        Raises:
            TypeError: shapes that are no lists of integers.
            SizeError: names the argument and the dimension, and what was expected.
        """
        self.check_kinds(shapes)
        if len(shapes) != len(self.shapes):
            raise SizeError(f"the program takes {len(self.shapes)} arguments and was given {len(shapes)}")
        for i, (given, known) in enumerate(zip(shapes, self.shapes, strict=True)):
            if len(given) != len(known) or any(n not in (-1, g) for g, n in zip(given, known, strict=True)):
                raise SizeError(f"argument {i} has shape {list(given)}; expected {self.text(i)}")
        values = {(i, d): shapes[i][d] for i, d in self.open()}
        for (i, d), most in self.bounds.items():
            if values[i, d] > most:
                raise SizeError(f"argument {i} has {values[i, d]} in dimension {d}; expected at most {most}")
        for assertion in self.assertions:
            if not holds(assertion.condition, values):
                raise SizeError(assertion.text(values))
        try:
            return {name: read(values) for name, read in self.read.items()}, values
        except ArithmeticError:
            raise SizeError(f"arguments of shapes {[list(shape) for shape in shapes]} do not determine sizes") from None

    def check_kinds(self, shapes: Sequence[Sequence[int]]) -> None:
        """
        Raises:
            TypeError: shapes that are no lists of integers; names the argument and the dimension.
            SizeError: a number that is no size.
        """
        if not is_list(shapes):
            raise TypeError(f"shapes is {shapes!r} of type {type(shapes).__name__}; expected a shape of each argument")
        for i, shape in enumerate(shapes):
            if not is_list(shape):
                expected = self.text(i) if i < len(self.shapes) else "a list of sizes"
                raise TypeError(f"argument {i} has {shape!r} as shape; expected {expected}")
            for d, n in enumerate(shape):
                if not is_size(n):
                    raise TypeError(f"argument {i} has {n!r} in dimension {d}; expected an integer")
                if not 0 <= n <= LARGEST:
                    raise SizeError(f"argument {i} has {n} in dimension {d}; expected 0 to {LARGEST}")

    def at(self, sizes: Mapping[str, int]) -> dict[Any, int] | None:
        """Returns the open dimensions for these sizes; None if the sizes have no such dimensions."""
        values: dict[Any, int] = {}
        pending = [(read, sizes[name]) for name, read in self.read.items()]
        ties = [a.condition.operands for a in self.assertions if a.condition.operator == "EQ"]
        while True:
            found = next(filter(None, (read.solve(number, values) for read, number in pending)), None)
            for one, other in ties if found is None else ():
                for known, unknown in ((one, other), (other, one)):
                    if not known.leaves() - set(values) and found is None:
                        found = unknown.solve(known(values), values)
            if found is None:
                break
            values[found[0]] = found[1]
        if any(place not in values or values[place] < 0 for place in self.open()):
            return None
        if any(values[place] > most for place, most in self.bounds.items()):
            return None
        if any(not holds(assertion.condition, values) for assertion in self.assertions):
            return None
        return values if all(read(values) == sizes[name] for name, read in self.read.items()) else None


def is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def holds(condition: Expression, values: Values) -> bool:
    try:
        return bool(condition(values))
    except ArithmeticError:
        return False


def main_function(module: ir.Module) -> Any:
    """Returns the function `main`, or the one public function.

    Raises:
        ValueError: there is none.
    """
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    named = [op for op in functions if ir.StringAttr(op.attributes["sym_name"]).value == "main"]
    public = [
        op
        for op in functions
        if "sym_visibility" not in op.attributes or ir.StringAttr(op.attributes["sym_visibility"]).value == "public"
    ]
    found = named or public
    if len(found) != 1 or not found[0].regions[0].blocks:
        raise ValueError("the module has no function @main with a body, nor a single public one")
    return found[0]


def constant(op: Any) -> Expression | None:
    type = ir.RankedTensorType(op.results[0].type)
    if not isinstance(type.element_type, ir.IntegerType) or any(n != 1 for n in type.shape):
        return None
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseIntElementsAttr) or len(value) != 1:
        return None
    return Expression(value=int(value[0]))


def expressions(
    module: ir.Module,
    block: Any,
    given: Sequence[Expression | None] = (),
    depth: int = 0,
    outer: Known | None = None,
    compared: dict[Pair, None] | None = None,
) -> Known:
    """Returns what ops of a block compute from dimensions of its arguments; other values are not in it.

    given: expressions of the arguments, where the block is that of a function which is called, or a region.
    outer: what is known around a region. compared: takes the numbers that ops compare.
    """
    places = {argument: i for i, argument in enumerate(block.arguments)}
    found: Known = dict(outer or {})
    found |= {argument: value for argument, value in zip(block.arguments, given, strict=False) if value is not None}
    for op in block.operations:
        name, operands = op.operation.name, list(op.operands)
        result: Expression | None = None
        if name == "stablehlo.constant":
            result = constant(op)
        elif name == "stablehlo.get_dimension_size" and operands[0] in places and not depth:
            dimension = ir.IntegerAttr(op.attributes["dimension"]).value
            size = ir.RankedTensorType(operands[0].type).shape[dimension]
            result = Expression(leaf=(places[operands[0]], dimension)) if size == DYNAMIC else Expression(value=size)
        elif name == "func.call" and depth < DEEPEST and any(operand in found for operand in operands):
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            is_known = all(operand in found for operand in operands)
            if (is_known or compared is not None) and (called := function_named(module, callee)) is not None:
                inner = called.regions[0].blocks[0]
                values = [found.get(operand) for operand in operands]
                known = expressions(module, inner, values, depth + 1, compared=compared)
                returned = inner.operations[len(inner.operations) - 1].operands
                found |= {r: known[v] for r, v in zip(op.results, returned, strict=True) if v in known}
        elif operands and all(operand in found for operand in operands):
            result = computed(op, tuple(found[operand] for operand in operands))
        if result is not None:
            found[op.results[0]] = result
            if compared is not None and not is_asserted(op.results[0]):
                compared.update(dict.fromkeys(pairs_of(result)))
        if compared is not None and depth < DEEPEST:
            for inner in (inner for region in op.regions for inner in region.blocks):
                expressions(module, inner, (), depth + 1, found, compared)
    return found


def pairs_of(result: Expression) -> list[Pair]:
    """Returns the operands of a comparison; constants of the module are omitted."""
    match result.operator:
        case "EQ" | "NE" | "GE" | "GT" | "LE" | "LT" | "maximum" | "minimum":
            pairs = [result.operands[:2]]
        case "clamp":
            pairs = [result.operands[:2], result.operands[1:]]
        case "sign" | "abs":
            pairs = [(result.operands[0], Expression())]
        case _:
            pairs = []
    return [(one, other) for one, other in pairs if one.leaves() or other.leaves()]


def is_asserted(value: Any) -> bool:
    """Returns whether a value is only the condition of an assertion."""
    users = [use.owner for use in value.uses]
    return bool(users) and all(
        user.name == "stablehlo.custom_call" and str(user.attributes["call_target_name"]) == f'"{ASSERTION}"'
        for user in users
    )


def computed(op: Any, operands: tuple[Expression, ...]) -> Expression | None:
    name = op.operation.name
    if name in SAME and len(operands) == 1:
        return operands[0]
    operator = name.partition(".")[2]
    if name == "stablehlo.compare":
        operator = re.findall(r"\b(?:EQ|NE|GE|GT|LE|LT)\b", str(op.attributes["comparison_direction"]))[0]
    if operator not in OPERATORS or len(op.results) != 1:
        return None
    result = Expression(operator, operands)
    if any(operand.operator or operand.leaf is not None for operand in operands):
        return result
    try:
        return Expression(value=result({}))
    except ArithmeticError:
        return None


def function_named(module: ir.Module, name: str) -> Any:
    """Returns a function with a body of one block, or None."""
    for op in module.body.operations:
        if op.operation.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value == name:
            return op if len(op.regions[0].blocks) == 1 else None
    return None


def parameters_named(module: ir.Module, callee: str) -> dict[int, str]:
    """Returns arguments of a function that JAX marks as dimension variables."""
    called = function_named(module, callee)
    if called is None or "arg_attrs" not in called.attributes:
        return {}
    attributes = [ir.DictAttr(each) for each in ir.ArrayAttr(called.attributes["arg_attrs"])]
    names = {i: ir.StringAttr(each[NAMED]).value for i, each in enumerate(attributes) if NAMED in each}
    return {i: name for i, name in names.items() if name}


def read_dimensions(module: ir.Module, shapes: Sequence[str] | None = None) -> Dimensions:
    """Returns the properties that the main function states for its dimensions.

    Args:
        shapes: for each argument its dimensions as text, as `jax.export.symbolic_shape` takes them: "batch, 2*length,
            64"; "..." or "_" for what the module says. None where the module has names itself, or each open dimension
            is a size of its own.
    Raises:
        ValueError: no main function, or text that does not fit it.
        SizeError: an open dimension that no size determines.
    """
    block = main_function(module).regions[0].blocks[0]
    result = Dimensions([], [])
    for i, argument in enumerate(block.arguments):
        type = argument.type
        if not isinstance(type, ir.RankedTensorType):
            raise ValueError(f"argument {i} is {type}; expected a ranked tensor")
        result.shapes.append([-1 if n == DYNAMIC else n for n in type.shape])
        result.elements.append(str(type.element_type))
        bounds = re.search(r"bounds<([^>]*)>", str(type.encoding)) if type.encoding is not None else None
        for d, bound in enumerate(bounds[1].split(",") if bounds else ()):
            if bound.strip() != "?":
                result.bounds[i, d] = int(bound)
    compared: dict[Pair, None] = {}
    found = expressions(module, block, compared=compared)
    for op in block.operations:
        operands = list(op.operands)
        if op.operation.name == "stablehlo.custom_call" and str(op.attributes["call_target_name"]) == f'"{ASSERTION}"':
            if all(operand in found for operand in operands):
                message = (
                    ir.StringAttr(op.attributes["error_message"]).value if "error_message" in op.attributes else ""
                )
                condition, *shown = (found[operand] for operand in operands)
                if condition.leaves():
                    result.assertions.append(Assertion(condition, message, tuple(shown)))
        elif op.operation.name == "func.call":
            for i, name in parameters_named(module, ir.FlatSymbolRefAttr(op.attributes["callee"]).value).items():
                if operands[i] in found and found[operands[i]].leaves():
                    result.read.setdefault(name, found[operands[i]])
    if shapes is not None:
        take_names(result, shapes)
    name_others(result)
    result.periods, result.compared = divisors(module), list(compared)
    result.names = list(result.read)
    return result


def divisors(module: ir.Module) -> list[int]:
    """Returns the constants by which the module divides integers, with or without a remainder."""
    found = set[int]()

    def visit(op: Any) -> ir.WalkResult:
        if op.name in ("stablehlo.divide", "stablehlo.remainder"):
            by = op.operands[1].owner
            if not isinstance(by, ir.Block) and by.name == "stablehlo.constant":
                known = constant(by)
                found.update([abs(known.value)] if known is not None else [])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return sorted(found - {0})


def take_names(result: Dimensions, shapes: Sequence[str]) -> None:
    """Adds sizes and ties of dimensions that a caller states."""
    if not is_list(shapes) or not all(isinstance(text, str) for text in shapes):
        raise TypeError(f"shapes is {shapes!r}; expected a list with a text for each argument, as ['batch, 64']")
    if len(shapes) != len(result.shapes):
        raise ValueError(f"shapes has {len(shapes)} texts; expected one for each of {len(result.shapes)} arguments")
    ties = []
    for i, text in enumerate(shapes):
        parts = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
        if parts == ["..."]:
            continue
        if len(parts) != len(result.shapes[i]):
            raise ValueError(f"shapes: '{text}' has {len(parts)} dimensions; expected {result.text(i)} of argument {i}")
        for d, part in enumerate(parts):
            if part == "_":
                continue
            expression = parse(part)
            if (n := result.shapes[i][d]) >= 0:
                if expression.leaves() or expression({}) != n:
                    raise ValueError(f"shapes: dimension {d} of argument {i} is {n} in the module, not '{part}'")
                continue
            if not expression.leaves():
                raise ValueError(
                    f"shapes: dimension {d} of argument {i} is open in the module; expected a size, not '{part}'"
                )
            ties.append(((i, d), part, expression))
            result.stated[i, d] = part
    # Plain names are read where they stand; others follow, or are solved for the name that they bring.
    for place, _, expression in ties:
        if isinstance(expression.leaf, str):
            result.read.setdefault(expression.leaf, Expression(leaf=place))
    for place, part, expression in ties:
        unknown, brings = expression.leaves() - set(result.read), ""
        if len(unknown) == 1:
            (name,) = unknown
            if (read := solved(expression, name, Expression(leaf=place), result.read)) is not None:
                result.read[name], brings = read, name
        if unknown := expression.leaves() - set(result.read):
            raise ValueError(
                f"shapes: no dimension determines {' and '.join(sorted(unknown))} of '{part}', dimension {place[1]} of "
                f"argument {place[0]}; expected a dimension that is the size, or has it once, as 2*n + 1"
            )
        message, known = (
            f"argument {place[0]} has {{0}} in dimension {place[1]}; expected ",
            sorted(expression.leaves()),
        )
        if brings:
            message += f"{part} for an integer {brings}, such as {{1}}"
        else:
            values = ", ".join(f"{name} = {{{number}}}" for number, name in enumerate(known, 2))
            message += f"{{1}}, which is {part}" + ("" if part in known else f" for {values}")
        actual, expected = Expression(leaf=place), replaced(expression, result.read)
        shown = (actual, expected, *(result.read[name] for name in known))
        result.assertions.append(Assertion(Expression("EQ", (actual, expected)), message, shown))


def replaced(expression: Expression, by: Mapping[Any, Expression]) -> Expression:
    if expression.leaf is not None:
        return by[expression.leaf]
    operands = tuple(replaced(operand, by) for operand in expression.operands)
    return Expression(expression.operator, operands, None, expression.value)


def solved(expression: Expression, name: str, number: Expression, by: Mapping[Any, Expression]) -> Expression | None:
    """Returns the size `name` as an expression, where the expression that has it is `number`."""
    if expression.leaf == name:
        return number
    places = [i for i, operand in enumerate(expression.operands) if name in operand.leaves()]
    if len(places) != 1:
        return None
    inner, others = expression.operands[places[0]], [o for i, o in enumerate(expression.operands) if i != places[0]]
    inverse = {"add": "subtract", "multiply": "floordiv", "negate": "negate"}.get(expression.operator)
    if (
        expression.operator == "multiply"
        and others[0].operator == ""
        and others[0].leaf is None
        and not others[0].value
    ):
        return None
    if expression.operator == "subtract":
        inverse = "add" if places[0] == 0 else None
    if inverse is None:
        return None
    return solved(inner, name, Expression(inverse, (number, *(replaced(other, by) for other in others))), by)


def name_others(result: Dimensions) -> None:
    """Makes each open dimension that nothing else determines a separate size."""
    for place in result.open():
        known = set[Any]().union(*(read.leaves() for read in result.read.values()))
        tied = {leaf for a in result.assertions if a.condition.operator == "EQ" for leaf in a.condition.leaves()}
        if place not in known and not (place in tied and result.read):
            result.unnamed.append(f"arg{place[0]}_{place[1]}")
            result.read[result.unnamed[-1]] = Expression(leaf=place)
