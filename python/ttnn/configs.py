# SPDX-License-Identifier: Apache-2.0
"""How ops run on the chip: block sizes, precision, slicing, and placement on a mesh.

One class for each struct of the dialect, made from the rows of the runtime. Fields that are not given are left to the
op. The simulator takes all of them; docs/ttnn.md says which of them change what is computed here.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.ttnn import CoreGrid, CoreRangeSet

from .enums import ENUMS

_PLAIN: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "string": str,
    "ints": list[int],
    "floats": list[float],
}
_UNARY = "ttnn.unary_with_param"


@dataclasses.dataclass(frozen=True)
class Config:
    """A struct of the dialect."""

    _type: ClassVar[str]

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, kind = getattr(self, field.name), field.metadata["kind"]
            if value is None:
                if not field.metadata["optional"]:
                    raise TypeError(f"{type(self).__name__}: {field.name} is None; expected {_text(field)}")
                continue
            value = _converted(value, kind)
            values = value if field.metadata["list"] and isinstance(value, (list, tuple)) else [value]
            if not all(_fits(each, kind) for each in values):
                raise TypeError(f"{type(self).__name__}: {field.name} is {value!r}; expected {_text(field)}")
            object.__setattr__(self, field.name, value)

    def _attribute(self) -> tuple[str, dict[str, Any]]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return self._type, {name: value for name, value in values.items() if value is not None}


def _converted(value: Any, kind: str) -> Any:
    """Short forms: an activation as its name, a range of cores as a grid."""
    if kind == _UNARY:
        ops = ENUMS["ttnn.unary_op_type"]
        if isinstance(value, str) and value.upper() in ops.__members__:
            value = ops[value.upper()]
        return CONFIGS[_UNARY](op_type=value) if isinstance(value, ops) else value
    return CoreRangeSet(value) if kind == "ttnn.core_range_set" and isinstance(value, CoreGrid) else value


def _fits(value: Any, kind: str) -> bool:
    if kind in ("ints", "floats"):
        return isinstance(value, (list, tuple)) and all(_fits(each, kind[:-1]) for each in value)
    expected = _class(kind)
    if expected is int or expected is float:
        return isinstance(value, (int, expected)) and not isinstance(value, bool)
    return isinstance(value, expected)


def _class(kind: str) -> Any:
    """The Python class of a field's kind: a name of the dialect has a dot."""
    return _PLAIN.get(kind) or ENUMS.get(kind) or CONFIGS.get(kind) or getattr(_native, _NAMES[kind])


def _text(field: dataclasses.Field[Any]) -> str:
    name = getattr(_class(field.metadata["kind"]), "__name__", "list")
    return f"a list of {name}" if field.metadata["list"] or name == "list" else name


def _made(row: tuple[str, str, list[tuple[str, str, bool, bool]]]) -> Any:
    kind, name, members = row
    fields = []
    for field, field_kind, is_list, optional in members:
        metadata = {"kind": field_kind, "list": is_list, "optional": optional}
        default: Any = None if optional else dataclasses.MISSING
        fields.append((field, Any, dataclasses.field(metadata=metadata, default=default)))
    made: Any = dataclasses.make_dataclass(name, fields, bases=(Config,), frozen=True, kw_only=True)
    made._type = kind
    made.__module__ = __name__
    made.__doc__ = f"{name}({', '.join(f[0] for f in fields)}): {kind.partition('.')[2].replace('_', ' ')}."
    return made


_STRUCTS = _native.structs()
_NAMES = {row[0]: row[1] for row in [*_STRUCTS, *_native.enums()]}
# By the dialect's name, those that the extension has classes of its own for left out.
CONFIGS: dict[str, Any] = {}
CONFIGS.update({row[0]: _made(row) for row in _STRUCTS if not hasattr(_native, row[1])})
globals().update({made.__name__: made for made in CONFIGS.values()})

Placement = CONFIGS["ttnn.placement"]
PlacementType = ENUMS["ttnn.placement_type"]
# Of one chip or the other, to the hardware.
WormholeComputeKernelConfig = BlackholeComputeKernelConfig = CONFIGS["ttnn.device_compute_kernel_config"]


def PlacementShard(dim: int) -> Any:
    """An axis of a mesh that cuts a dimension."""
    return Placement(type=PlacementType.SHARD, dim=dim)


def PlacementReplicate() -> Any:
    """An axis of a mesh that copies."""
    return Placement(type=PlacementType.REPLICATE)
