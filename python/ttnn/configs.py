# SPDX-License-Identifier: Apache-2.0
"""How ops run on the chip: block sizes, precision, slicing, and placement on a mesh.

One class for each struct of the dialect, made from the rows of the runtime. Fields that are not given are left to the
op. The simulator takes all of them; docs/ttnn.md says which of them change what is computed here.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.ttnn import CoreCoord, CoreGrid, CoreRangeSet, DataType, Layout

from .enums import ENUMS
from .library.modes import PaddingMode, ThrottleLevel

_PLAIN: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "string": str,
    "ints": list[int],
    "floats": list[float],
}
_UNARY = "ttnn.unary_with_param"
_BLOCKS = {"out_block_h": "per_core_M", "out_block_w": "per_core_N"}
# By class: the library's defaults of fields that the dialect demands. A name is that of a field with the same value.
_CONV = {
    "deallocate_activation": False, "reallocate_halo_output": True, "config_tensors_in_dram": False,
    "act_block_h_override": 0, "act_block_w_div": 1, "reshard_if_not_optimal": False, "override_sharding_config": False,
    "transpose_shards": False, "output_layout": Layout.TILE, "enable_act_double_buffer": False,
    "enable_weights_double_buffer": False,
}  # fmt: skip
_INVALID = ENUMS["ttnn.math_fidelity"].Invalid
_DEFAULTS: dict[str, dict[str, Any]] = {
    "Conv2dConfig": _CONV,
    "Conv2dSliceConfig": {"num_slices": 0},
    "Conv3dConfig": {
        "weights_dtype": DataType.BFLOAT16,
        "T_out_block": 1,
        "W_out_block": 1,
        "H_out_block": 1,
        "C_out_block": 0,
        "C_in_block": 0,
    },
    "DeviceComputeKernelConfig": {
        "math_fidelity": _INVALID,
        "math_approx_mode": True,
        "fp32_dest_acc_en": False,
        "packer_l1_acc": False,
        "dst_full_sync_en": False,
    },
    "SDPAProgramConfig": {"max_cores_per_head_batch": 16},
    "MatmulMultiCoreReuseMultiCastProgramConfig": {**_BLOCKS, "fuse_batch": True},
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": {
        **_BLOCKS,
        "gather_in0": False,
        "hop_cores": CoreRangeSet([]),
        "num_global_cb_receivers": 1,
        "untilize_out": False,
    },
}
# By class: fields of the library that the dialect does not have. They are kept, and change nothing here.
_EXTRA: dict[str, dict[str, Any]] = {
    "SDPAProgramConfig": {"max_k_splits": 1, "matmul_math_fidelity": None, "segmented_accumulation": False},
    "Conv2dConfig": {
        "full_inner_dim": False,
        "enable_activation_reuse": False,
        "force_split_reader": None,
        "override_output_sharding_config": False,
        "padding_mode": PaddingMode.Zeros,
    },
    "Conv3dConfig": {
        "output_layout": Layout.ROW_MAJOR,
        "dilation": (1, 1, 1),
        "alignment": 32,
        "compute_with_storage_grid_size": CoreCoord(1, 1),
        "enable_fp32_operand_split": False,
    },
    "DeviceComputeKernelConfig": {"throttle_level": ThrottleLevel.NO_THROTTLE},
    "LayerNormShardedMultiCoreProgramConfig": {"legacy_reduction": False, "legacy_rsqrt": False, "use_welford": False},
    "MatmulMultiCoreReuseProgramConfig": {"allowed_worker_cores": None},
    "MatmulMultiCoreReuseMultiCastProgramConfig": {"allowed_worker_cores": None},
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": {"allowed_worker_cores": None, "stream_in1": False},
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig": {"num_workers_per_dram_bank": 1},
}
# By class and field: the only value of those that the simulator computes with.
_REFUSED = {("Conv2dConfig", "padding_mode"): PaddingMode.Zeros, ("Conv3dConfig", "dilation"): (1, 1, 1)}


# Where an object keeps what `_attribute` gives, until a field is written.
_DESCRIBED = " described"


@dataclasses.dataclass
class Config:
    """A struct of the dialect. A field that is written is checked."""

    _type: ClassVar[str]
    # By field: the classes whose values are kept as they are.
    _simple: ClassVar[dict[str, tuple[type, ...]]] = {}

    def __post_init__(self) -> None:
        own = self.__dict__
        for name, default in _DEFAULTS.get(type(self).__name__, {}).items():
            if own[name] is None:
                setattr(self, name, getattr(self, default) if isinstance(default, str) else default)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        own.pop(_DESCRIBED, None)
        # A program may make a config for each call: values of the very class are not looked at twice.
        if type(value) in self._simple.get(name, ()):
            own[name] = value
            return
        kind = type(self).__name__
        field = type(self).__dataclass_fields__.get(name)
        if field is None:
            known = ", ".join(field.name for field in dataclasses.fields(self))
            raise AttributeError(f"{kind} has no field {name!r}; there is {known}")
        if field_kind := field.metadata.get("kind"):
            value = self._checked(field, field_kind, value)
        object.__setattr__(self, name, value)

    def _checked(self, field: dataclasses.Field[Any], field_kind: str, value: Any) -> Any:
        """Returns a field's value in the form that it is kept in."""
        kind = type(self).__name__
        if value is None:
            if field.metadata["optional"] or field.name in _DEFAULTS.get(kind, ()):
                return None
            raise TypeError(f"{kind}: {field.name} is None; expected {_text(field)}")
        value = _converted(value, field_kind)
        values = value if field.metadata["list"] and isinstance(value, (list, tuple)) else [value]
        if not all(_fits(each, field_kind) for each in values):
            raise TypeError(f"{kind}: {field.name} is {value!r}; expected {_text(field)}")
        return value

    def _attribute(self) -> tuple[str, dict[str, Any]]:
        described: tuple[str, dict[str, Any]] | None = self.__dict__.get(_DESCRIBED)
        if described is None:
            described = self.__dict__[_DESCRIBED] = self._described()
        return described

    def _described(self) -> tuple[str, dict[str, Any]]:
        for (kind, name), only in _REFUSED.items():
            value: Any = getattr(self, name) if kind == type(self).__name__ else only
            if value != only and not (isinstance(only, tuple) and tuple(value) == only):
                raise ValueError(f"{kind}: {name} is {value!r}; expected {only!r}, as the simulator has no other")
        own = [field for field in dataclasses.fields(self) if "own" in field.metadata]
        values = {field.metadata["own"]: getattr(self, field.name) for field in own}
        # Invalid leaves the fidelity to the op.
        return self._type, {name: value for name, value in values.items() if value not in (None, _INVALID)}


def _converted(value: Any, kind: str) -> Any:
    """Short forms: an activation as its name or with its parameter, cores as a grid, a core as a pair,
    a list of one number as the number.
    """
    if kind == "ttnn.core_coord" and isinstance(value, (list, tuple)) and len(value) == 2:
        return CoreCoord(*value) if all(_fits(each, "int") for each in value) else value
    if kind == "floats" and isinstance(value, (int, float)):
        return [float(value)]
    if kind == _UNARY:
        if isinstance(value, tuple) and value and not isinstance(value[0], tuple):
            return CONFIGS[_UNARY](value)
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


def _unary(self: Any, op_type: Any, *numbers: float, params: Any = None) -> None:
    """Makes an op with parameters from the op and its numbers, or from a pair of both."""
    if isinstance(op_type, tuple) and not numbers and params is None:
        op_type, *rest = op_type
        numbers = tuple(rest)
    self.op_type = op_type
    self.params = [number for each in numbers for number in _converted(each, "floats")] if numbers else params


def _of_axes(name: str, given: Any, mesh_shape_override: Any, offset: Any, row_dim: Any, col_dim: Any) -> Any:
    """Returns dimensions of the axes of a mesh, as one list or as one for the rows and one for the columns."""
    if offset is not None and any(offset):
        raise ValueError(f"{name}: mesh_offset_override is {offset!r}; expected none, as parts begin at device 0")
    if given is not None and (row_dim, col_dim) != (None, None):
        raise TypeError(f"{name}: a list, and row_dim or col_dim are given; expected one form")
    return [row_dim, col_dim] if given is None else given


def _composer(
    self: Any, dims: Any = None, mesh_shape_override: Any = None, mesh_offset_override: Any = None, *,
    row_dim: int | None = None, col_dim: int | None = None,
) -> None:  # fmt: skip
    """Makes a config of dims, or of row_dim and col_dim."""
    if isinstance(dims, int):  # the second form, by place
        dims, mesh_shape_override, mesh_offset_override = [dims, mesh_shape_override], mesh_offset_override, None
    name = type(self).__name__
    self.dims = _of_axes(name, dims, mesh_shape_override, mesh_offset_override, row_dim, col_dim)
    self.mesh_shape_override = None if mesh_shape_override is None else list(mesh_shape_override)


def _mapper(
    self: Any, placements: Any = None, mesh_shape_override: Any = None, mesh_offset_override: Any = None, *,
    row_dim: int | None = None, col_dim: int | None = None,
) -> None:  # fmt: skip
    """Makes a config of placements, or of row_dim and col_dim, of which None copies."""
    name = type(self).__name__
    given = _of_axes(name, placements, mesh_shape_override, mesh_offset_override, row_dim, col_dim)
    placed = [PlacementReplicate() if dim is None else PlacementShard(dim) for dim in given if placements is None]
    self.placements = given if placements is not None else placed
    self.mesh_shape_override = None if mesh_shape_override is None else list(mesh_shape_override)


_INITS: dict[str, Any] = {_UNARY: _unary, "ttnn.mesh_composer_config": _composer, "ttnn.mesh_mapper_config": _mapper}


def _config_class(row: tuple[str, str, list[tuple[str, str, bool, bool, str]]]) -> Any:
    kind, name, members = row
    fields = []
    for own, field_kind, is_list, optional, field in members:
        metadata = {"kind": field_kind, "list": is_list, "optional": optional, "own": own}
        default: Any = _DEFAULTS.get(name, {}).get(field, None if optional else dataclasses.MISSING)
        default = None if isinstance(default, str) else default  # the name of another field
        fields.append((field, Any, dataclasses.field(metadata=metadata, default=default)))
    for field, default in _EXTRA.get(name, {}).items():
        fields.append((field, Any, dataclasses.field(default=default)))
    result: Any = dataclasses.make_dataclass(name, fields, bases=(Config,), kw_only=kind != _UNARY)
    if kind in _INITS:
        result.__init__ = _INITS[kind]
    result._type = kind
    result.__module__ = __name__
    result.__doc__ = f"{name}({', '.join(f[0] for f in fields)}): {kind.partition('.')[2].replace('_', ' ')}."
    return result


_STRUCTS = _native.structs()
_NAMES = {row[0]: row[1] for row in [*_STRUCTS, *_native.enums()]}
# By the dialect's name, those that the extension has classes of its own for left out.
CONFIGS: dict[str, Any] = {}
CONFIGS.update({row[0]: _config_class(row) for row in _STRUCTS if not hasattr(_native, row[1])})
globals().update({result.__name__: result for result in CONFIGS.values()})
for _made_class in CONFIGS.values():
    _made_class._simple = {
        field.name: (_class(field.metadata["kind"]), *([type(None)] if field.metadata["optional"] else []))
        for field in dataclasses.fields(_made_class)
        if "kind" in field.metadata and not field.metadata["list"]
    }

Placement = CONFIGS["ttnn.placement"]
PlacementType = ENUMS["ttnn.placement_type"]
# Of one chip or the other, to the hardware.
WormholeComputeKernelConfig = BlackholeComputeKernelConfig = CONFIGS["ttnn.device_compute_kernel_config"]


class PlacementShard(Placement):  # type: ignore[misc, valid-type]
    """Says that an axis of a mesh cuts a dimension."""

    def __init__(self, dim: int) -> None:
        super().__init__(type=PlacementType.SHARD, dim=dim)


class PlacementReplicate(Placement):  # type: ignore[misc, valid-type]
    """Says that an axis of a mesh copies."""

    def __init__(self) -> None:
        super().__init__(type=PlacementType.REPLICATE)
