# SPDX-License-Identifier: Apache-2.0
"""The op table: op name -> golden and aten name, collected from the families (domains are in golden/domains.py).

A key is the bare name that the dialects share ("sigmoid") or, where a dialect's op of that name is another one, the
full name ("ttnn.conv2d"). RENAMES says which row a differently named op uses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .attention import ATTENTION
from .attributes import unpack_mlir_attr
from .chlo import CHLO
from .collective import COLLECTIVE
from .creation import CREATION
from .data_movement import DATA_MOVEMENT
from .debug import DEBUG
from .elementwise import ELEMENTWISE
from .matmul import MATMUL
from .names import RENAMES, op_name, row_of
from .normalization import NORMALIZATION
from .op import Op
from .quantization import QUANTIZATION
from .reduction import REDUCTION
from .stablehlo import STABLEHLO
from .tensor import GoldenMapTensor as GoldenMapTensor  # programs take it from here, too
from .window import WINDOW

FAMILIES: dict[str, dict[str, Op]] = {
    "elementwise": ELEMENTWISE,
    "reduction": REDUCTION,
    "matmul": MATMUL,
    "window": WINDOW,
    "normalization": NORMALIZATION,
    "data_movement": DATA_MOVEMENT,
    "creation": CREATION,
    "collective": COLLECTIVE,
    "attention": ATTENTION,
    "quantization": QUANTIZATION,
    "stablehlo": STABLEHLO,
    "chlo": CHLO,
    "debug": DEBUG,
}


def _collect() -> dict[str, Op]:
    table: dict[str, Op] = {}
    for family, rows in FAMILIES.items():
        if twice := table.keys() & rows.keys():
            raise ValueError(f"golden rows of the family {family} that another one has: {', '.join(sorted(twice))}")
        table |= rows
    return table


TABLE = _collect()


@functools.cache
def _find(name: str) -> Op | None:
    return row_of(TABLE, name)


def find_op(op: Any) -> Op | None:
    """Returns the row of an op class, an operation or a name ("ttir.add"), or None."""
    return _find(op_name(op))


def get_golden_function(ttir_op_class: Any, **kwargs: Any) -> Callable[..., Any] | None:
    """Returns the golden of an op class (of any dialect), or None when the op has none.

    It takes the operands, then the op's attributes by name. With keyword arguments, these attributes are bound to it.
    """
    row = find_op(ttir_op_class)
    return functools.partial(row, **kwargs) if row is not None and kwargs else row


class _GoldenMappings(Mapping[Any, Op]):
    """The table as a mapping from op classes (or names) to goldens."""

    def __getitem__(self, op: Any) -> Op:
        row = find_op(op)
        if row is None:
            raise KeyError(f"no golden for {op_name(op)}")
        return row

    def __iter__(self) -> Iterator[str]:
        return iter([*TABLE, *RENAMES])

    def __len__(self) -> int:
        return len(TABLE) + len(RENAMES)


GOLDEN_MAPPINGS: Mapping[Any, Op] = _GoldenMappings()

__all__ = [
    "FAMILIES",
    "GOLDEN_MAPPINGS",
    "RENAMES",
    "TABLE",
    "find_op",
    "get_golden_function",
    "op_name",
    "unpack_mlir_attr",
]
