# SPDX-License-Identifier: Apache-2.0
"""The table of ops: rules by domain and name, and the arguments of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import Refused

if TYPE_CHECKING:
    import onnx

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"


@dataclass
class Node:
    """A node of a graph.

    version: of the op's definition, the newest that is not newer than the model's opset. attributes: with texts as str.
    outputs: names, "" for unused ones. place: where it is in the file.
    """

    proto: onnx.NodeProto
    domain: str
    op: str
    version: int
    opset: int
    attributes: Mapping[str, Any]
    outputs: list[str]
    place: str = ""

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an attribute, or `default`."""
        return self.attributes.get(name, default)

    def need(self, name: str) -> Any:
        """Returns an attribute that the op must have.

        Raises:
            Refused: it is missing.
        """
        if name not in self.attributes:
            raise Refused(f"attribute {name} is missing")
        return self.attributes[name]

    def wants(self, output: int) -> bool:
        """Returns whether an output, by number, has a name."""
        return output < len(self.outputs) and bool(self.outputs[output])


# Gets the graph (`emitter.Graph`), the node and its inputs, None for those that are left out; returns the output, or
# a tuple of outputs.
Rule: TypeAlias = Callable[..., Any]


class Decides(Enum):
    """Describes how the result of an op on sizes can be the same for many sizes and another one for others."""

    COMPARED = "1 where a comparison of two operands holds"
    SELECTED = "elements of operands, by their order"
    SIGN = "what depends on the sign of an operand"
    ORDER = "what depends on the order of an operand's elements"
    ROUNDED = "a number that is the same for several sizes"
    LOGICAL = "a truth value, of truth values"
    LOOKED_UP = "elements of the first operand, at positions that sizes change"


@dataclass
class Op:
    """A row of the table.

    moves: elements of the output are elements of the first inputs, unchanged.
    decides: how it decides by sizes, if it does (decisions.py).
    keep: constants are not folded, because the rule does it or has more to do; or whether inputs are not.
    """

    domain: str
    name: str
    rule: Rule
    moves: bool = False
    keep: bool | Callable[[Sequence[Any]], bool] = False
    decides: Decides | None = None

    def keeps(self, inputs: Sequence[Any]) -> bool:
        return self.keep(inputs) if callable(self.keep) else self.keep


OPS: dict[tuple[str, str], Op] = {}


def op(
    *names: str,
    domain: str = "",
    moves: bool = False,
    keep: bool | Callable[[Sequence[Any]], bool] = False,
    decides: Decides | Mapping[str, Decides] | None = None,
) -> Callable[[Rule], Rule]:
    """Registers the rule of ops; one rule has all versions, `node.version` tells them apart.

    decides: of all names, or of some.
    """

    def register(rule: Rule) -> Rule:
        for name in names:
            if (domain, name) in OPS:
                raise ValueError(f"op {domain or 'ai.onnx'}.{name} has two rules")
            by_sizes = decides.get(name) if isinstance(decides, Mapping) else decides
            OPS[domain, name] = Op(domain, name, rule, moves, keep, by_sizes)
        return rule

    return register


def calling(g: Any, node: Node, name: str, *operands: Any, version: int | None = None, **attributes: Any) -> Any:
    """Returns the first output of an op of the default domain, for rules of ops that are expressed by it.

    version: of the op's definition, the newest one without it.
    """
    import onnx.defs

    schema = onnx.defs.get_schema(name, version or onnx.defs.onnx_opset_version(), "")
    result = OPS["", name].rule(
        g,
        replace(node, domain="", op=name, version=schema.since_version, attributes=attributes),
        *operands,
    )
    return result[0] if isinstance(result, tuple | list) else result


# Ops of the default domain that cannot be, and why.
REFUSED: dict[tuple[str, str], str] = {}


def refuse(reason: str, *names: str, domain: str = "") -> None:
    """Registers ops that have no form on the chip."""
    for name in names:
        REFUSED[domain, name] = reason
