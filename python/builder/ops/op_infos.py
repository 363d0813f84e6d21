# SPDX-License-Identifier: Apache-2.0
"""The ODS description of the ops: operands, attributes and results.

They are in the description that tools/opgen writes at build time. Needs no torch.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ttmlir import ir
from ttmlir.op_facts import description, has_fact

__all__ = ["description", "has_fact"]


def dialect_module(name: str) -> ModuleType | None:
    """Returns the Python module of a dialect, or None when this installation has none."""
    try:
        return importlib.import_module(f"ttmlir.dialects.{name}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ttmlir.dialects"):
            return None
        raise


@dataclass(frozen=True)
class Kind:
    """A constraint on attributes.

    shape: bool, int, float, number, integers, string, ints, floats, list, constant, symbol, enum, struct or "".
    types: of an enum or struct those that it may be; choices: the kinds of one that accepts several.
    text: of an enum the attribute with "{}" for the case.
    """

    shape: str = ""
    types: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    text: str = ""


@functools.cache
def kind_of(name: str) -> Kind:
    """Returns the kind by the name of its ODS record ("I32Attr")."""
    row: dict[str, Any] = description()["kinds"].get(name, {})
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Kind(**fields)


def cases_of(type_: str) -> dict[str, int]:
    """Returns the cases of an enum ("ttcore.reduce_type"), as the IR prints them, and their values."""
    return dict(description()["enums"].get(type_, ()))


@dataclass(frozen=True)
class Operand:
    name: str
    optional: bool = False
    variadic: bool = False
    what: str = "tensor"


@dataclass(frozen=True)
class Attribute:
    """`kind` is the ODS record of the constraint ("I32Attr")."""

    name: str
    kind: str
    optional: bool  # it may be left out


@dataclass(frozen=True)
class OpInfo:
    """The ODS description of an op."""

    cls: Any
    name: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    results: tuple[str, ...]
    infers: bool  # result types need not be given
    like_operand: bool  # results have the type of the first operand
    segmented: bool  # operands are passed group by group

    @property
    def dialect(self) -> str:
        return self.name.partition(".")[0]

    def attribute(self, name: str) -> Attribute | None:
        return next((a for a in self.attributes if a.name == name), None)


def op_infos(module: ModuleType) -> Iterator[OpInfo]:
    """Yields the ops of a dialect module ("ttmlir.dialects.ttir")."""
    rows = description()["ops"]
    for cls in vars(module).values():
        if (
            isinstance(cls, type)
            and issubclass(cls, ir.OpView)
            and (row := rows.get(getattr(cls, "OPERATION_NAME", "")))
        ):
            yield _op_info(cls, row)


def _op_info(cls: Any, row: dict[str, Any]) -> OpInfo:
    return OpInfo(
        cls,
        cls.OPERATION_NAME,
        tuple(Operand(**operand) for operand in row.get("operands", ())),
        tuple(
            Attribute(a["name"], a["kind"], a.get("optional", False) or "default" in a)
            for a in row.get("attributes", ())
        ),
        tuple(result["name"] for result in row.get("results", ())),
        "results"
        in (
            inspect.unwrap(cls.__init__).__kwdefaults__ or {}
        ),  # mlir-tblgen makes result types optional when it infers them
        row.get("like_operand", False),
        row.get("segmented", False),
    )
