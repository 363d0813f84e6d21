# SPDX-License-Identifier: Apache-2.0
"""Keys of goldens: values of a module, a user's settings for them, and computed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from golden import GoldenMapTensor
from ttmlir import ir

from builder.ops.structure import symbol

# Sources of ops, or None for all ops.
Kept = frozenset[str] | None


@dataclass(frozen=True)
class Key:
    """A value of the module that outlives its Python object: argument `index` of a function or result of an op."""

    owner: str  # function name, or the number of an op
    index: int
    argument: bool
    op: str = ""  # name of the op, by which a module that was changed meanwhile is noticed


def key_of(value: ir.Value, numbers: Mapping[Any, int]) -> Key:
    if isinstance(value, ir.BlockArgument):
        owner = value.owner.owner
        return Key(symbol(owner.operation), value.arg_number, True)
    op = value.owner.operation
    return Key(str(numbers[op]), ir.OpResult(value).result_number, False, op.name)


@dataclass(frozen=True)
class Override:
    key: Key
    golden: GoldenMapTensor
    after: str | None  # number of the op after which it holds; None: from the start


@dataclass(frozen=True)
class OpGoldens:
    """Goldens of the results of one op, and of its operands (None if it is not a tensor).

    source: its number, behind those of the calls that lead to it; operation: where it was read from; program: the
    public function that runs it.
    """

    source: str
    op: str
    location: str
    results: tuple[GoldenMapTensor, ...]
    operands: tuple[GoldenMapTensor | None, ...] = field(repr=False, default=())
    operation: Any = field(repr=False, compare=False, default=None)
    program: Any = field(repr=False, compare=False, default=None)


def covers(kept: Kept, requested: Kept) -> bool:
    return kept is None or (requested is not None and requested <= kept)
