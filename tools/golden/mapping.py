"""The op table: op name -> golden, sample domain and aten name, collected from the families.

A key is the bare name that the dialects share ("sigmoid") or, where a dialect's op of that name is another one, the
full name ("ttnn.conv2d"). RENAMES says which row a differently named op uses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .attention import ATTENTION
from .attributes import unpack_mlir_attr
from .collective import COLLECTIVE
from .convolution import CONVOLUTION
from .creation import CREATION
from .data_movement import DATA_MOVEMENT
from .debug import DEBUG
from .elementwise import ELEMENTWISE
from .matmul import MATMUL
from .normalization import NORMALIZATION
from .op import Op
from .quantization import QUANTIZATION
from .reduction import REDUCTION
from .stablehlo import STABLEHLO

FAMILIES: dict[str, dict[str, Op]] = {
    "elementwise": ELEMENTWISE,
    "reduction": REDUCTION,
    "matmul": MATMUL,
    "convolution": CONVOLUTION,
    "normalization": NORMALIZATION,
    "data_movement": DATA_MOVEMENT,
    "creation": CREATION,
    "collective": COLLECTIVE,
    "attention": ATTENTION,
    "quantization": QUANTIZATION,
    "stablehlo": STABLEHLO,
    "debug": DEBUG,
}

RENAMES = {
    "ttnn.divide": "div",
    "ttnn.pow_tensor": "pow",
    "ttnn.embedding_bw": "embedding_backward",
    "ttnn.upsample": "upsample2d",
    "stablehlo.and": "bitwise_and",
    "stablehlo.or": "bitwise_or",
    "stablehlo.xor": "bitwise_xor",
    "stablehlo.not": "bitwise_not",
    "stablehlo.cosine": "cos",
    "stablehlo.sine": "sin",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.logistic": "sigmoid",
    "stablehlo.negate": "neg",
    "stablehlo.power": "pow",
    "stablehlo.divide": "div",
    "stablehlo.convert": "typecast",
    "stablehlo.is_finite": "isfinite",
    "stablehlo.popcnt": "population_count",
    "stablehlo.round_nearest_afz": "round",
    "stablehlo.round_nearest_even": "round_even",
    "stablehlo.select": "where",
    "stablehlo.shift_left": "logical_left_shift",
    "stablehlo.shift_right_logical": "logical_right_shift",
    "stablehlo.transpose": "permute",
    "stablehlo.dynamic_broadcast_in_dim": "broadcast_in_dim",
    "stablehlo.dynamic_reshape": "reshape",
}


def _collect() -> dict[str, Op]:
    table: dict[str, Op] = {}
    for family, rows in FAMILIES.items():
        if twice := table.keys() & rows.keys():
            raise ValueError(f"golden rows of the family {family} that another one has: {', '.join(sorted(twice))}")
        table |= rows
    return table


TABLE = _collect()


def op_name(op: Any) -> str:
    """ "ttir.add" from an op class, an operation, or the name itself."""
    if isinstance(op, str):
        return op
    return getattr(op, "OPERATION_NAME", None) or str(getattr(op, "name", op))


@functools.cache
def _find(name: str) -> Op | None:
    if name in TABLE:
        return TABLE[name]
    if name in RENAMES:
        return TABLE.get(RENAMES[name])
    return TABLE.get(name.partition(".")[2])


def find_op(op: Any) -> Op | None:
    """The row of an op class, an operation or a name ("ttir.add"), or None."""
    return _find(op_name(op))


def get_golden_function(ttir_op_class: Any, **kwargs: Any) -> Callable[..., Any] | None:
    """The golden of an op class (of any dialect), or None when the op has none.

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
