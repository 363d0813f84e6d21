# SPDX-License-Identifier: Apache-2.0
"""Makes classes that hold fields: they check what they get, compare, and print.

    class FaceGeometry(Record):
        \"\"\"Holds the shape of a face of a tile.\"\"\"

        face_r_dim = field(int, 16, least=1)
        num_faces = field(int, 4, least=1)

gives `FaceGeometry(face_r_dim=16, num_faces=4)`. Fields stay writable, and a value that is written is checked, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from _ttmlir_runtime.ttnn import CoreCoord

_REQUIRED = inspect.Parameter.empty


class Field:
    """Describes one field: the class of its values, the default, and how it is given."""

    __slots__ = ("by_name", "default", "elements", "kinds", "least", "name", "optional", "read_only")

    def __init__(self, kinds: Any, default: Any, by_name: bool, read_only: bool, least: int | None) -> None:
        self.elements = isinstance(kinds, list)  # [kind]: a sequence of them
        self.kinds: tuple[Any, ...] = tuple(kinds) if isinstance(kinds, list | tuple) else (kinds,)
        self.default, self.by_name, self.read_only, self.least = default, by_name, read_only, least
        self.optional = default is None
        self.name = ""

    def checked(self, owner: str, value: Any) -> Any:
        """Returns a value as it is kept; a sequence becomes a list, a pair a core.

        Raises:
            TypeError: the value, or an element, is of another type.
            ValueError: a number is too small.
        """
        if value is None and self.optional:
            return None
        if not self.elements:
            if CoreCoord in self.kinds and isinstance(value, tuple) and len(value) == 2:
                value = CoreCoord(*value)
            self._check(owner, self.name, value)
            return value
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise TypeError(f"ttnn.{owner}: {self.name} is {value!r}; expected a list of {self.text()}")
        result = list(value)
        for at, each in enumerate(result):
            self._check(owner, f"{self.name}[{at}]", each)
        return result

    def _check(self, owner: str, name: str, value: Any) -> None:
        if not any(_fits(value, kind) for kind in self.kinds):
            raise TypeError(f"ttnn.{owner}: {name} is {value!r} of type {type(value).__name__}; expected {self.text()}")
        if self.least is not None and value < self.least:
            raise ValueError(f"ttnn.{owner}: {name} is {value!r}; expected at least {self.least}")

    def text(self) -> str:
        """Returns the names of the classes."""
        return " or ".join(getattr(kind, "__name__", str(kind)) for kind in self.kinds)


def _fits(value: Any, kind: Any) -> bool:
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    return isinstance(value, kind)


def field(
    kinds: Any, default: Any = _REQUIRED, *, by_name: bool = False, read_only: bool = False, least: int | None = None
) -> Any:
    """Declares a field of a Record.

    Args:
        kinds: a class, or several in a tuple; a list of them for a sequence.
        default: None lets the value be absent. Lists and records are copied for each object.
        by_name: the field is given by keyword alone.
        read_only: the field keeps the value that the object was made with.
        least: the smallest number.
    """
    return Field(kinds, default, by_name, read_only, least)


class _LazySignature:
    """Makes the signature of a class when it is requested."""

    def __get__(self, instance: Any, owner: type[Record]) -> inspect.Signature:
        places = [each for each in owner._fields.values() if not each.by_name]
        named = [each for each in owner._fields.values() if each.by_name]
        return inspect.Signature([_parameter(each) for each in (*places, *named)])


def _parameter(each: Field) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if each.by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(each.name, kind, default=each.default)


class Record:
    """Base of classes that hold fields."""

    _fields: ClassVar[dict[str, Field]] = {}
    __signature__: ClassVar[Any] = _LazySignature()

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name, each in own.items():
            each.name = name
            delattr(cls, name)
        cls._fields = {**cls._fields, **own}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        owner, fields = type(self).__name__, self._fields
        places = [each for each in fields.values() if not each.by_name]
        if len(args) > len(places):
            raise TypeError(f"ttnn.{owner}: {len(args)} values are given by place; expected at most {len(places)}")
        given = {each.name: value for each, value in zip(places, args, strict=False)}
        for name, value in kwargs.items():
            if name not in fields:
                raise TypeError(f"ttnn.{owner}: there is no field {name}; expected {', '.join(fields) or 'none'}")
            if name in given:
                raise TypeError(f"ttnn.{owner}: {name} is given by place and by name")
            given[name] = value
        for name, each in fields.items():
            if name not in given and each.default is _REQUIRED:
                raise TypeError(f"ttnn.{owner}: {name} is missing")
            value = each.checked(owner, given[name]) if name in given else _fresh(each.default)
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        each = self._fields.get(name)
        if each is None and not name.startswith("_"):
            raise AttributeError(f"ttnn.{type(self).__name__}: there is no field {name}")
        if each is not None and each.read_only:
            raise AttributeError(f"ttnn.{type(self).__name__}: {name} cannot be changed")
        object.__setattr__(self, name, value if each is None else each.checked(type(self).__name__, value))

    def _values(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, Record):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values().items())})"


def _fresh(default: Any) -> Any:
    """Returns a default that no two objects share."""
    if isinstance(default, list):
        return list(default)
    return type(default)(**default._values()) if isinstance(default, Record) else default
