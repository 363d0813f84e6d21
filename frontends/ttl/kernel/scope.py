# SPDX-License-Identifier: Apache-2.0
"""Names of a function that is compiled: its variables, and what is around it."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..errors import UnsupportedError
from .values import Function, Unknown

_MISSING = object()


@lru_cache(maxsize=1024)
def parsed(function: FunctionType) -> tuple[ast.FunctionDef, str]:
    """Returns the syntax tree of a function, with the line numbers of its file, and the file."""
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise UnsupportedError(
            f"{file}:{function.__code__.co_firstlineno}: the source of {function.__name__} cannot be read; "
            "kernels are compiled from a file"
        ) from None
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError as error:
        raise UnsupportedError(f"{file}:{first}: {function.__name__} cannot be read as a function: {error}") from None
    ast.increment_lineno(tree, first - 1)
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise UnsupportedError(f"{file}:{first}: {function.__name__} is no function of its own; expected def")
    return found, file


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Returns the nodes of a function, without those of functions in it."""
    found: list[ast.AST] = []
    stack = list(ast.iter_child_nodes(node))
    while stack:
        each = stack.pop()
        found.append(each)
        if not isinstance(each, ast.FunctionDef | ast.Lambda):
            stack += ast.iter_child_nodes(each)
    return found


def names_stored(nodes: list[ast.stmt]) -> set[str]:
    """Returns the names that statements assign."""
    return {
        each.id
        for statement in nodes
        for each in [statement, *own_nodes(statement)]
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


class Scope:
    """Holds what the names of one call of a function stand for."""

    def __init__(self, node: ast.FunctionDef, file: str, around: Scope | None, function: FunctionType | None) -> None:
        self.node, self.file, self.around, self.function = node, file, around, function
        self.names: dict[str, Any] = {}
        self.uses = sorted(
            ((each.lineno, each.col_offset, each.id, isinstance(each.ctx, ast.Load))
             for each in ast.walk(node) if isinstance(each, ast.Name)),
        )  # fmt: skip
        stored = [each.id for each in own_nodes(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        changed = {each.target.id for each in own_nodes(node)
                   if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)}  # fmt: skip
        self.variables = {name for name in stored if stored.count(name) > 1} | changed
        self.locals = set(stored) | {each.name for each in own_nodes(node) if isinstance(each, ast.FunctionDef)}
        self.prefix = "v"

    def lookup(self, name: str) -> Any:
        """Returns what a name stands for; a KeyError where it has no value."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            if name in scope.locals:
                raise KeyError(name)
            if scope.function is not None:
                found = outside(scope.function, name)
                if found is not _MISSING:
                    return found
            scope = scope.around
        raise KeyError(name)

    def is_read_later(self, name: str, line: int, loops: list[ast.stmt]) -> bool:
        """Tells whether a name may be read after a line, perhaps in the next round of a loop."""
        reads = [(at, loads) for at, _, each, loads in self.uses if each == name]
        if any(loads and at > line for at, loads in reads):
            return True
        for loop in loops:
            inside = [loads for at, loads in reads if loop.lineno <= at <= (loop.end_lineno or at)]
            if inside and inside[0]:
                return True
        return False


def outside(function: FunctionType, name: str) -> Any:
    """Returns what a free name of a Python function stands for; a mark where nothing has it."""
    code, closure = function.__code__, function.__closure__ or ()
    if name in code.co_freevars:
        try:
            return closure[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return Unknown(f"{name} has no value yet where the kernel is compiled")
    # A function in the function may use what this one does not.
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, _MISSING)


def of_python(function: FunctionType) -> Function:
    """Returns a function of Python as one whose calls are expanded."""
    node, file = parsed(function)
    return Function(node, Scope(node, file, None, function), file)
