# SPDX-License-Identifier: Apache-2.0
"""Configuration of compiler and devices: one for the process, until `pybuda_reset`."""

from __future__ import annotations

import copy
import inspect
import os
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from ttmlir.options import CompileOptions
from ttmlir.torch.cache import Cache

from .capture.formats import DataFormat, MathFidelity, check_fidelity, check_float, check_format
from .capture.trace import NETLIST_TYPES, InputFormat, Precision
from .enums import EPOCH_TYPES, CompileDepth, DeviceMode, DRAMPlacementAlgorithm, Named, PerfTraceLevel
from .errors import OptionError, PyBudaError
from .options.environment import AMP_SWITCHES, VARIABLES
from .options.overrides import ATTRIBUTES, FractureFactors, OpOverride, OpOverrides, is_number, number
from .tensor import OPS


@dataclass
class CompilerConfig:
    """The options of the compiler; docs/pybuda.md describes the effect of each."""

    enable_training: bool = False
    enable_recompute: bool = False
    match_subgraph_patterns: int | None = None
    balancer_policy: str = "default"
    scheduler_policy: str = "ModuleInputsBFS"
    place_on_one_row: bool = False
    enable_t_streaming: bool = True
    manual_t_streaming: bool = False
    enable_consteval: bool = True
    enable_auto_fusing: bool = True
    compile_subgraphs: bool = False
    compile_depth: CompileDepth = CompileDepth.FULL
    compile_tvm_to_python: bool = True
    retain_tvm_python_files: bool = False
    convert_framework_params_to_tvm: bool = True
    enable_tvm_constant_prop: bool = False
    tvm_constnat_prop_mask: set[str] = field(default_factory=set)
    enable_tvm_dropout: bool = False
    enable_tvm_unsupported_ops: bool = False
    enable_tvm_jax_freeze_large_model: bool = True
    enable_xla_jax_convert: bool = False
    framework_model_output_names: list[str] = field(default_factory=list)
    tvm_module_to_num_patterns: dict[str, int] = field(default_factory=dict)
    enable_broadcast_splitting: bool = False
    enable_single_buffer_fallback: bool = False
    paddings: dict[str, bool] = field(default_factory=dict)
    enable_tvm_cpu_fallback: bool = True
    cpu_fallback_ops: set[str] = field(default_factory=lambda: {"embedding"})
    enable_tm_cpu_fallback: bool = False
    tm_cpu_fallback_max_depth: int = 10
    enable_conv_prestride: bool = True
    enable_device_tilize: bool = True
    default_dram_parameters: bool | None = None
    amp_level: int = 0
    default_df_override: DataFormat | None = None
    default_accumulate_df: DataFormat = DataFormat.Float16_b
    default_math_fidelity: MathFidelity = MathFidelity.HiFi3
    performance_trace: PerfTraceLevel = PerfTraceLevel.NONE
    enable_stable_softmax: bool = True
    device_mode: DeviceMode = DeviceMode.CompileAndRun
    input_queues_on_host: bool = True
    output_queues_on_host: bool = True
    tvm_graph_store_path: str = ""
    tvm_graph_load_path: str = ""
    max_pool_add_sub_surround: bool = False
    max_pool_add_sub_surround_value: float = 1.0
    loopback_outputs: dict[str, int] = field(default_factory=dict)
    op_names_to_epoch_break: list[list[str]] = field(default_factory=list)
    op_names_to_chip_break: list[list[str]] = field(default_factory=list)
    op_names_dont_fuse: list[str] = field(default_factory=list)
    op_names_manual_fuse: list[str] = field(default_factory=list)
    amp_properties: list[Precision] = field(default_factory=list)
    scheduler_constraints: list[list[str]] = field(default_factory=list)
    tti_dump_format: str = "default"
    dram_placement_algorithm: DRAMPlacementAlgorithm = DRAMPlacementAlgorithm.ROUND_ROBIN
    graph_solver_self_cut_type: str = "FastCut"
    enable_link_past_cache_ios: bool = False
    fracture_groups: list[Any] = field(default_factory=list)
    backend_opt_level: int = 4
    backend_output_dir: str = "tt_build"
    backend_device_descriptor_path: str = ""
    backend_cluster_descriptor_path: str = ""
    backend_runtime_params_path: str = ""
    backend_runtime_args: str = ""
    harvested_rows: list[int] = field(default_factory=list)
    store_backend_db_to_yaml: bool = False
    enable_auto_transposing_placement: bool = False
    use_interactive_placer: bool = True
    op_intermediates_to_save: list[str] = field(default_factory=list)
    enable_enumerate_u_kt: bool = True
    chip_placement_policy: str = "MMIO_LAST"
    enable_forked_dram_inputs: bool = False
    device_config: str = ""
    place_queue_to_chip_dram: dict[str, list[int]] = field(default_factory=dict)
    insert_queues: list[tuple[Any, ...]] = field(default_factory=list)
    buffering_nops: list[tuple[Any, ...]] = field(default_factory=list)
    op_overrides: dict[str, dict[str, Any]] = field(default_factory=dict)

    def place_on_new_epoch(self, op_names: str | Sequence[str]) -> None:
        """Begins a new epoch with the op, or with ops together."""
        self.op_names_to_epoch_break.append(names(op_names, "place_on_new_epoch"))

    def place_on_new_chip(self, op_names: str | Sequence[str]) -> None:
        """Begins a new chip with the op, or with ops together."""
        self.op_names_to_chip_break.append(names(op_names, "place_on_new_chip"))

    def dont_fuse(self, op_names: str | Sequence[str]) -> None:
        """Keeps ops from being fused with others."""
        self.op_names_dont_fuse += names(op_names, "dont_fuse")

    def manual_fuse(self, op_names: str | Sequence[str]) -> None:
        """Fuses these ops only."""
        self.op_names_manual_fuse += names(op_names, "manual_fuse")

    def enable_amp_light(self, level: int = 1) -> None:
        """Keeps weights of products in fewer bits, as PYBUDA_AMP_LIGHT does: level 0, 1 or 2.

        Raises:
            OptionError: another level.
        """
        levels = AMP_SWITCHES["PYBUDA_AMP_LIGHT"]
        if str(level) not in levels:
            raise OptionError(f"enable_amp_light: level is {level!r}; expected one of {', '.join(levels)}")
        self.amp_properties += levels[str(level)]

    def balancer_op_override(self, op_name: str, attribute: str, value: Any) -> None:
        """Sets what the functions `override_...` set: the attribute of an op.

        Raises:
            OptionError: another attribute, or a value that its function refuses.
        """
        if not isinstance(op_name, str):
            raise OptionError(f"an override's op name is {op_name!r}; expected text")
        if attribute not in ATTRIBUTES:
            raise OptionError(f"an override of op {op_name!r} sets {attribute!r}; known: {', '.join(ATTRIBUTES)}")
        self.op_overrides.setdefault(op_name, {}).update(ATTRIBUTES[attribute](op_name, value))

    @property
    def conv_multi_op_fracture_factor_override(self) -> MutableMapping[str, int]:
        """Returns into how many ops an op of several is cut, by its name."""
        return FractureFactors(self.op_overrides)

    @conv_multi_op_fracture_factor_override.setter
    def conv_multi_op_fracture_factor_override(self, factors: Mapping[str, int]) -> None:
        found = FractureFactors(self.op_overrides)
        for op_name in [*found]:
            del found[op_name]
        found.update(factors)

    @property
    def balancer_op_overrides(self) -> OpOverrides:
        """Returns the settings of ops, as objects by op name."""
        return OpOverrides(self.op_overrides)

    @balancer_op_overrides.setter
    def balancer_op_overrides(self, overrides: Mapping[str, OpOverride]) -> None:
        given = dict(overrides)
        self.op_overrides.clear()
        OpOverrides(self.op_overrides).update(given)

    @property
    def harvesting_mask(self) -> int:
        """Returns the harvested rows, a bit each."""
        return sum(1 << row for row in self.harvested_rows)

    @harvesting_mask.setter
    def harvesting_mask(self, mask: int) -> None:
        if not is_number(mask, 0):
            raise OptionError(f"harvesting_mask is {mask!r}; expected 0 or more")
        self.harvested_rows = [row for row in range(mask.bit_length()) if mask >> row & 1]

    def apply_env_config_overrides(self) -> None:
        """Sets the options whose variables of the environment are set (`VARIABLES`).

        Raises:
            OptionError: a variable has a value that it does not have.
        """
        for variable, (option, values) in VARIABLES.items():
            text = os.environ.get(variable)
            if text is None:
                continue
            known = values() if callable(values) else values
            if text.lower() not in known:
                raise OptionError(f"{variable}={text}; expected one of {', '.join(known)}")
            setattr(self, option, known[text.lower()])

    def __post_init__(self) -> None:
        self.__dict__["_set"] = {name for name, value in DEFAULTS.items() if getattr(self, name) != value}

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            super().__setattr__(name, value)
            return
        if name not in DEFAULTS:
            raise AttributeError(f"the compiler's configuration has no option {name!r}")
        check_value(name, value)
        super().__setattr__(name, value)
        self.__dict__.setdefault("_set", set()).add(name)

    def given(self, name: str) -> Any:
        """Returns the value of an option that was set, also to its default; None otherwise."""
        return getattr(self, name) if name in self.__dict__["_set"] else None

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in DEFAULTS}

    def compile_options(self) -> CompileOptions:
        """Returns the options of the compiler's pipeline that this configuration sets: those of `PIPELINE` whose value
        is not the default."""
        changed = [name for name in PIPELINE if getattr(self, name) != DEFAULTS[name]]
        return CompileOptions({PIPELINE[name]: getattr(self, name) for name in changed})


DEFAULTS = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields(CompilerConfig)}
# Options that are options of the compiler's pipeline, too.
PIPELINE = {"enable_auto_fusing": "enable-fusing-pass", "enable_consteval": "enable-const-eval"}
# Options of which only some values exist.
CHOICES: dict[str, tuple[Any, ...]] = {
    "amp_level": (0, 1, 2),
    "balancer_policy": ("default", "NLP", "Ribbon", "CNN", "MaximizeTMinimizeGrid", "MinimizeGrid", "Random"),
    "tti_dump_format": ("default", "backend", "backend_tilized"),
    "graph_solver_self_cut_type": (
        "None", "ConsumerOperandDataEdgesFirst", "ProducerUserDataEdgesFirst", "FastCut",
    ),
    "chip_placement_policy": ("MMIO_LAST", "SNAKE"),
    "scheduler_policy": ("ModuleInputsBFS", "LongestPath", "Topological"),
    "device_config": ("", "gs_e150", "gs_e300", "wh_n150", "wh_n300"),
    "backend_opt_level": (0, 1, 2, 3, 4),
}  # fmt: skip
HARVESTABLE = (*range(1, 6), *range(7, 12))
# What an option takes whose default is of a type.
KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    str: ((str, os.PathLike), "text"), int: ((int,), "a whole number"), float: ((int, float), "a number"),
    list: ((list, tuple), "a list"), set: ((set, frozenset, list, tuple), "a set"), dict: ((Mapping,), "a dictionary"),
}  # fmt: skip
NAMES = ("cpu_fallback_ops", "op_names_dont_fuse", "op_names_manual_fuse", "op_intermediates_to_save")


def check_value(name: str, value: Any) -> None:
    """Refuses values of another type than the default's, or that an option does not have.

    Raises:
        OptionError: names the option and what it takes.
    """
    default = DEFAULTS[name]
    kinds, kind = KINDS.get(type(default), ((), ""))
    if name.endswith("_df") or name == "default_df_override":
        if value is not None:
            check_float(value, f"option {name}")
    elif isinstance(default, MathFidelity):
        check_fidelity(value, f"option {name}")
    elif isinstance(default, Named | bool) and not isinstance(value, type(default)):
        known = f"one of {type(default).__name__}" if isinstance(default, Named) else "True or False"
        raise OptionError(f"option {name} is {value!r}; expected {known}")
    elif name in CHOICES:
        if value not in CHOICES[name] or isinstance(value, bool):
            raise OptionError(f"option {name} is {value!r}; expected one of {', '.join(map(repr, CHOICES[name]))}")
    elif kinds and (not isinstance(value, kinds) or isinstance(value, bool)):
        raise OptionError(f"option {name} is {value!r}; expected {kind}")
    elif name == "match_subgraph_patterns" and value is not None and not is_number(value, 1):
        raise OptionError(f"option {name} is {value!r}; expected 1 or more, or None")
    elif name == "default_dram_parameters" and value is not None and not isinstance(value, bool):
        raise OptionError(f"option {name} is {value!r}; expected True, False or None")
    if name in NAMES and (bad := [op for op in value if not isinstance(op, str)]):
        raise OptionError(f"option {name} has {bad[0]!r}; expected names of ops")
    if name == "harvested_rows" and (bad := [row for row in value if row not in HARVESTABLE]):
        raise OptionError(f"option harvested_rows has {bad[0]!r}; only rows 1 to 5 and 7 to 11 are harvestable")


_config = CompilerConfig()


def _get_global_compiler_config() -> CompilerConfig:
    """Returns the configuration of the process."""
    return _config


def _clear_global_compiler_config() -> None:
    """Resets every option to its default; the object stays the same."""
    for name, value in DEFAULTS.items():
        setattr(_config, name, copy.copy(value))
    _config.__post_init__()


# Keywords of set_configuration_options that are the option's name in an older form.
ALIASES = {"accumulate_df": "default_accumulate_df", "math_fidelity": "default_math_fidelity"}
# In the documented order.
KEYWORDS = (
    "enable_recompute", "balancer_policy", "place_on_one_row", "enable_t_streaming", "manual_t_streaming",
    "enable_consteval", "default_df_override", "accumulate_df", "math_fidelity", "performance_trace",
    "backend_opt_level", "backend_output_dir", "backend_device_descriptor_path", "backend_cluster_descriptor_path",
    "backend_runtime_params_path", "backend_runtime_args", "enable_auto_fusing", "enable_conv_prestride",
    "enable_stable_softmax", "amp_level", "harvested_rows", "store_backend_db_to_yaml", "input_queues_on_host",
    "output_queues_on_host", "enable_auto_transposing_placement", "use_interactive_placer", "op_intermediates_to_save",
    "enable_enumerate_u_kt", "enable_device_tilize", "dram_placement_algorithm", "chip_placement_policy",
    "enable_forked_dram_inputs", "device_config", "default_accumulate_df", "default_math_fidelity",
)  # fmt: skip


def set_configuration_options(**options: Any) -> None:
    """Sets options of the configuration; those that are None do not change.

    Raises:
        TypeError: a keyword that is no option.
        OptionError: a value of another type, or that the option does not have.
    """
    if unknown := [name for name in options if name not in KEYWORDS]:
        raise TypeError(f"set_configuration_options has no option {unknown[0]!r}; known: {', '.join(KEYWORDS)}")
    given = {ALIASES.get(name, name): value for name, value in options.items() if value is not None}
    for name, value in given.items():
        check_value(name, value)
    for name, value in given.items():
        setattr(_config, name, value)


set_configuration_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in KEYWORDS]
)


def names(op_names: str | Sequence[str], where: str) -> list[str]:
    """Returns names of ops as a list.

    Raises:
        OptionError: something else.
    """
    found = [op_names] if isinstance(op_names, str) else op_names
    if not isinstance(found, list | tuple | set) or not found or not all(isinstance(name, str) for name in found):
        raise OptionError(f"{where}: op names are {op_names!r}; expected text, or a list of it")
    return list(found)


def set_epoch_break(op_names: str | Sequence[str]) -> None:
    """Begins a new epoch with the op, or with each of the ops."""
    _config.place_on_new_epoch(names(op_names, "set_epoch_break"))


def set_chip_break(op_names: str | Sequence[str]) -> None:
    """Begins a new chip with the op, or with each of the ops."""
    _config.place_on_new_chip(names(op_names, "set_chip_break"))


def configure_mixed_precision(
    *,
    op_type: str | None = None,
    epoch_type: str | None = None,
    output_df: DataFormat | None = None,
    intermediate_df: DataFormat | None = None,
    accumulate_df: DataFormat | None = None,
    math_fidelity: MathFidelity | None = None,
    name_regex: str | None = None,
    input_df: dict[int, Any] | DataFormat | None = None,
    is_gradient_op: bool | None = None,
) -> None:
    """Sets how ops compute, and formats of ops, parameters and inputs that fit: of the type and with a name in which
    the pattern is found.

    Args:
        epoch_type: "fwd", "bwd" or "opt"; without it ops of all three.
        output_df: of results, parameters and inputs. intermediate_df: of sums of products between parts of the inner
            dimension.
        input_df: as the ops read their operands: by their numbers a format, or a pair of a format and whether it also
            holds for results of ops (True without it); or one format for all operands.
        is_gradient_op: of the backward pass only ops that give gradients of parameters, or only the others.
    Raises:
        OptionError: neither a type nor a name, a type that no op has, a pattern or an epoch type that is none.
        FormatError: a format that the chip does not have, or not there.
    """
    if op_type is None and name_regex is None and epoch_type is None and is_gradient_op is None:
        raise OptionError(
            "configure_mixed_precision names no ops: give op_type, name_regex, epoch_type or is_gradient_op"
        )
    if op_type is not None and not is_type_of_ops(op_type):
        raise OptionError(
            f"op_type is {op_type!r}; expected the name of an op of pybuda.op, of a function of PyTorch, or the type "
            "of an op in the netlist"
        )
    if epoch_type not in (None, *EPOCH_TYPES):
        raise OptionError(f"epoch_type is {epoch_type!r}; expected one of {', '.join(EPOCH_TYPES)}")
    if is_gradient_op is not None and not isinstance(is_gradient_op, bool):
        raise OptionError(f"is_gradient_op is {is_gradient_op!r}; expected True or False")
    if name_regex is not None:
        try:
            re.compile(name_regex)
        except (re.error, TypeError) as error:
            raise OptionError(f"name_regex {name_regex!r} is no pattern: {error}") from None
    if output_df is not None:
        check_format(output_df, "output_df")
    for name, value in (("intermediate_df", intermediate_df), ("accumulate_df", accumulate_df)):
        if value is not None:
            check_float(value, name)
    if math_fidelity is not None:
        check_fidelity(math_fidelity, "math_fidelity")
    _config.amp_properties.append(
        Precision(
            op_type, name_regex, output_df, math_fidelity, accumulate_df, intermediate_df, epoch_type,
            input_formats(input_df), is_gradient_op,
        )
    )  # fmt: skip


def input_formats(given: Any) -> tuple[InputFormat, ...]:
    """Returns what `input_df` says.

    Raises:
        OptionError: it is neither a format nor a dictionary of them. FormatError: a format that the chip does not have.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        return (InputFormat(None, check_format(given, "input_df"), True),)
    found = []
    for operand, value in given.items():
        pair = value if isinstance(value, tuple | list) else (value, True)
        if not is_number(operand, 0) or len(pair) != 2 or not isinstance(pair[1], bool):
            raise OptionError(
                f"input_df has {operand!r}: {value!r}; expected the number of an operand, and its format or (format, "
                "whether also for results of ops)"
            )
        found.append(InputFormat(operand, check_format(pair[0], f"input_df of operand {operand}"), pair[1]))
    return tuple(found)


def is_type_of_ops(name: Any) -> bool:
    """Returns whether ops can be of this type: of PyBuda, of PyTorch, or of the netlist."""
    if not isinstance(name, str) or not name:
        return False
    from .capture.functions import LABELS  # imports this module

    low = name.lower()
    own = {*LABELS.values(), *NETLIST_TYPES, *(op.lower() for op in OPS)}
    return low in own or any(callable(getattr(x, low, None)) for x in (torch, torch.nn.functional, torch.Tensor))


def precisions() -> list[Precision]:
    """Returns rules of the calls of `configure_mixed_precision`, and before them those of the environment's switches.

    Raises:
        OptionError: a switch has a value that it does not have.
    """
    rules = []
    for variable, formats in AMP_SWITCHES.items():
        value = os.environ.get(variable, "0")
        if value not in formats:
            raise OptionError(f"{variable}={value}; expected one of {', '.join(formats)}")
        rules += formats[value]
    return rules + _config.amp_properties


CACHE = "PYBUDA_ENABLE_TVM_CACHE"


def cache_of_programs() -> Cache | None:
    """Returns the folder of compiled programs, if the environment requests one.

    Raises:
        OptionError: it asks for something else.
    """
    value = os.environ.get(CACHE, "0")
    if value not in ("0", "1", "-1"):
        raise OptionError(f"{CACHE}={value}; expected 1 (keep programs), 0 (do not) or -1 (remove those of this run)")
    folder = "generated_modules/tvm_cache"
    store, load = (Path(x or folder) for x in (_config.tvm_graph_store_path, _config.tvm_graph_load_path))
    return None if value == "0" else Cache(store, load, clear=value == "-1")


def override_op_size(op_name: str, grid_size: tuple[int, int]) -> None:
    """Sets rows and columns of cores of an op."""
    _config.balancer_op_override(op_name, "grid_shape", grid_size)


def override_op_placement(
    op_name: str,
    start: tuple[int, int] | None = None,
    *,
    chip_id: int | None = None,
    transpose_op: bool = False,
    temporal_epoch_break: bool = False,
) -> None:
    """Sets the place of an op: its first core (row, column), its chip, whether its grid is transposed."""
    two = isinstance(start, tuple | list) and len(start) == 2
    if start is not None and not (two and all(is_number(x, 0) for x in start)):
        raise OptionError(f"the start of op {op_name!r} is {start!r}; expected (row, column)")
    if chip_id is not None:
        number(chip_id, "the chip", op_name, 0)
    if not isinstance(op_name, str):
        raise OptionError(f"an override's op name is {op_name!r}; expected text")
    _config.op_overrides.setdefault(op_name, {})["placement"] = (start, chip_id, transpose_op)
    if temporal_epoch_break:
        set_epoch_break(op_name)


def override_t_stream_shape(op_name: str, factors: tuple[int, int]) -> None:
    """Sets vertical and horizontal streaming factors of an op."""
    _config.balancer_op_override(op_name, "t_stream_shape", factors)


def override_t_stream_dir(op_name: str, direction: str) -> None:
    """Sets the direction of streaming of an op: by rows ("R"), columns ("C"), or both orders."""
    _config.balancer_op_override(op_name, "t_stream_dir", direction)


def override_u_kt(op_name: str, u_kt: int) -> None:
    """Sets how many tiles of the inner dimension a product takes at a time."""
    _config.balancer_op_override(op_name, "u_kt", u_kt)


def override_input_buffer_multiplier(op_name: str, operand_index: int, multiplier: int) -> None:
    """Sets how many buffers an operand of an op has."""
    _config.balancer_op_override(op_name, "input_buffer_multiplier", {operand_index: multiplier})


def override_multi_op_fracture_factor(op_name: str, fracture_factor: int) -> None:
    """Sets into how many ops an op of several is cut."""
    _config.balancer_op_override(op_name, "fracture_factor", fracture_factor)


def override_dram_parameters(op_name: str, force_dram_parameters: bool) -> None:
    """Sets whether the parameters of an op stay in DRAM."""
    _config.balancer_op_override(op_name, "force_dram_parameters", force_dram_parameters)


def override_dram_queue_placement(queue_name: str, *, channel: int | None = None, chip_id: int | None = None) -> None:
    """Sets the DRAM channel, or chip, of a queue."""
    for what, value in (("channel", channel), ("chip", chip_id)):
        if value is not None and not is_number(value, 0):
            raise OptionError(f"the {what} of queue {queue_name!r} is {value!r}; expected 0 or more")
    if not isinstance(queue_name, str):
        raise OptionError(f"override_dram_queue_placement: the queue's name is {queue_name!r}; expected text")
    _config.op_overrides.setdefault(queue_name, {}).update(dram_channel=channel, dram_chip=chip_id)


def add_schedule_constraint(partial_order: Sequence[str]) -> None:
    """Orders ops in the schedule."""
    _config.scheduler_constraints.append(names(partial_order, "add_schedule_constraint"))


def insert_fracture_group(nodes: Sequence[Any], chip_ids: Sequence[int] = ()) -> None:
    """Cuts ops into parts along dimensions, by factors."""
    if not isinstance(nodes, list | tuple) or not all(isinstance(node, list | tuple) for node in nodes):
        raise OptionError(f"insert_fracture_group gets {nodes!r}; expected a list of (op, dimension, factor)")
    if not isinstance(chip_ids, list | tuple):
        raise OptionError(f"insert_fracture_group: chip_ids is {chip_ids!r}; expected a list of chips")
    _config.fracture_groups.append((list(nodes), list(chip_ids)))


def insert_nop(src_op: str, dest_ops: str | Sequence[str], *, hoist_tms: bool = True, **_: Any) -> None:
    """Inserts a copy between an op, or an input, and some of its users; its name is `buffer_0_<src>_<first dest>`.

    The names are checked when the pipeline is compiled.
    """
    _config.buffering_nops.append((*names(src_op, "insert_nop"), names(dest_ops, "insert_nop"), hoist_tms))


def insert_buffering_nop(src_op: str, dest_ops: str | Sequence[str], *, hoist_tms: bool = True) -> None:
    """Inserts a copy between an op and some of its users, to buffer values."""
    insert_nop(src_op, dest_ops, hoist_tms=hoist_tms)


def check_device_mode(requested: DeviceMode | None) -> DeviceMode:
    """Returns the device's own mode, or the configuration's.

    Raises:
        PyBudaError: there is none of this name.
    """
    mode = requested or _config.device_mode
    if not isinstance(mode, DeviceMode):
        raise PyBudaError(f"device_mode is {mode!r}; expected one of DeviceMode")
    return mode
