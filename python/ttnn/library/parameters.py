# SPDX-License-Identifier: Apache-2.0
"""Parameters of the library's functions that the rows of the runtime do not have.

A function made of a row takes them in addition to its own. PARAMETERS says what each is and does; TAKEN says which
functions take which. A call that gives none of them costs one comparison for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import CoreGrid, CoreRangeSet, DataType, Layout, MemoryConfig

from ..configs import CONFIGS, Config
from ..constants import DRAM_MEMORY_CONFIG
from ..enums import ENUMS
from . import steps
from .activations import check_activations, with_activations
from .convolutions import with_weights
from .geometry import SubDeviceId, Tile
from .modes import DumpTensorMode, EmbeddingsType, GeluVariant, SigmoidMode, TileReshapeMapMode

Values = steps.Values
Then = steps.Then


@dataclass(frozen=True)
class Extra:
    """One parameter.

    hint: its annotation; kinds: the classes of its values, besides None where the default is None.
    default: what it is when a call leaves it out.
    step: takes its value and the call's arguments, which it may change, and returns what is done with the result, or
        None. Without a step, a value makes no difference here, or is refused.
    refused: what the simulator lacks; only the default is taken.
    alias: the parameter that it is another name of.
    by_place: it stands before the parameters that are given by name.
    fill: what finds the value of an own parameter of the row that the library lets be absent.
    meaning: for the documentation.
    """

    hint: str
    kinds: tuple[type, ...]
    default: Any = None
    step: Callable[[str, Any, Values], Then | None] | None = None
    refused: str = ""
    alias: str = ""
    by_place: bool = False
    fill: Callable[[str, Values], None] | None = None
    meaning: str = "of the hardware; makes no difference here."

    def check(self, function: str, name: str, value: Any) -> None:
        if value is None and self.default is None:
            return
        if (isinstance(value, bool) and bool not in self.kinds) or not isinstance(value, self.kinds):
            raise TypeError(
                f"ttnn.{function}: {name} is {value!r} of type {type(value).__name__}; expected {self.expected()}"
            )
        if self.refused and value != self.default:
            raise ValueError(f"ttnn.{function}: {name} is {value!r}; expected {self.default!r}: {self.refused}")

    def expected(self) -> str:
        names = {"bool": "True or False", "int": "an integer", "float": "a number", "Tensor": "a ttnn.Tensor"}
        if float in self.kinds:
            return "a number"
        return " or ".join(dict.fromkeys(names.get(kind.__name__, kind.__name__) for kind in self.kinds))


def _flag(default: bool = False, **more: Any) -> Extra:
    return Extra("bool", (bool,), default, **more)


def _maybe(hint: str, *kinds: type, **more: Any) -> Extra:
    return Extra(f"{hint} | None", kinds, **more)


_COMPUTE = CONFIGS["ttnn.device_compute_kernel_config"]
_FIDELITY = ENUMS["ttnn.math_fidelity"]


def _activations(operands: tuple[str, str] | None, meaning: str) -> Extra:
    step = None if operands is None else steps.activate(operands)
    return Extra("Sequence[Any]", (list, tuple), (), step=step, meaning=f"unary functions of {meaning}.")


_NUMBER_OF_HARDWARE = _maybe("int", int)

PARAMETERS: dict[str, Extra] = {
    # What is computed.
    "activations": _activations(None, "the result, one after another"),
    "input_tensor_a_activations": _activations(("input_tensor_a", "input_tensor"), "the first operand, before"),
    "input_tensor_b_activations": _activations(("input_tensor_b", "exponent"), "the second operand, before"),
    "cluster_axis": _maybe(
        "int", int, fill=steps.one_axis, meaning="axis of the mesh; may be left out where only one has several devices."
    ),
    "num_experts_per_tok": _maybe("int", int, fill=steps.experts_of_token, meaning="those of expert_metadata_tensor."),
    "optional_output_mapping_tensor": _maybe(
        "Tensor", Tensor, step=steps.written(0), meaning="takes the first result."
    ),
    "optional_output_reduced_tensor": _maybe(
        "Tensor", Tensor, step=steps.written(1), meaning="takes the second result."
    ),
    "input_a": _maybe("Tensor", Tensor, alias="input_tensor"),
    "assign.input_b": _maybe("Tensor", Tensor, alias="output_tensor", by_place=True),
    "chunk_start_idx": _maybe("Any", object, by_place=True, meaning="where the chunk begins."),
    "padded_shape": _maybe(
        "Sequence[int]",
        Sequence,
        step=steps.padded_as,
        by_place=True,
        meaning="checked; that of the tiles as they are may have other rows and columns in use.",
    ),
    "reverse_order": _flag(step=steps.from_the_end, meaning="begin at the last element."),
    "slice_dim": _maybe("int", int, meaning="of the result's size, which follows from starts and ends here."),
    "mirror_kernel": _flag(True, step=steps.not_mirrored, meaning="weights come as PyTorch has them, not mirrored."),
    "dim": _maybe("int", int, fill=steps.flat_roll, meaning="that of all elements in order when left out."),
    "dims": _maybe("Sequence[int]", list, tuple, step=steps.over_dims, meaning="dimensions, which are kept."),
    "deallocate_input": _flag(step=steps.release_input, meaning="frees input_tensor."),
    "divisor_override": _maybe("int", int, step=steps.divided_by, meaning="what sums are divided by, instead."),
    "groups": Extra("int", (int,), 1, step=steps.in_groups, meaning="first groups of all tensors come first."),
    "output_layout": _maybe("Layout", Layout, step=steps.in_layout, meaning="the same as layout."),
    "residual_input_tensor": _maybe("Tensor", Tensor, step=steps.add_residual, meaning="added to input_tensor before."),
    "return_output_dim": _flag(
        step=steps.with_sizes, meaning="also returns (height, width) of the result, or its length."
    ),
    "return_weights_and_bias": _flag(step=with_weights, meaning="also returns (weight_tensor, bias_tensor)."),
    "return_indices": _flag(step=steps.with_indices, meaning="also returns where in its image each element was found."),
    "rounding_mode": _maybe("str", str, step=steps.rounded, meaning="'floor' or 'trunc' of the quotient."),
    "scalar": Extra("float", (int, float), 1.0, step=steps.scaled, meaning="factor of the result."),
    "variant": Extra(
        "GeluVariant",
        (GeluVariant,),
        GeluVariant.Accurate,
        step=steps.approximated,
        meaning="Tanh is the approximation by tanh; the others are computed alike.",
    ),
    "fill": Extra("float | None", (int, float), by_place=True, meaning="the value, in the form of shapes."),
    "output_padded_shape": _maybe("Sequence[int]", list, tuple, meaning="sizes of the result, instead of padding."),
    "input_tensor_start": _maybe("Sequence[int]", list, tuple, meaning="where the tensor begins in the result."),
    "bias": _maybe("Tensor", Tensor, step=steps.with_bias, meaning="added to the result."),
    "batch_idx": Extra(
        "int", (int,), 0, step=steps.of_user, meaning="number of the user, instead of batch_idx_tensor."
    ),
    "cur_pos": _maybe("Sequence[int]", list, tuple, meaning="positions, instead of cur_pos_tensor."),
    "update_idxs": _maybe("Sequence[int]", list, tuple, meaning="positions, instead of update_idxs_tensor."),
    # Other names.
    "input_b": _maybe("Tensor | float", Tensor, int, float, alias="input_tensor_b"),
    "value": _maybe("float", int, float, alias="input_tensor_b"),
    "output_dtype": _maybe("DataType", DataType, by_place=True, meaning="the same as dtype."),
    "output_memory_config": _maybe("MemoryConfig", MemoryConfig, alias="memory_config"),
    "steps": _maybe("Sequence[int]", list, tuple, alias="slice_step"),
    "slice_start": _maybe("Sequence[int]", list, tuple, alias="starts"),
    "slice_end": _maybe("Sequence[int]", list, tuple, alias="ends"),
    "logical_shape": _maybe("Sequence[int]", Sequence, alias="shape"),
    # Of the hardware.
    "blocking": _flag(True, by_place=True),
    "chunks_per_sync": _NUMBER_OF_HARDWARE,
    "compute_kernel_config": _maybe("Any", _COMPUTE),
    "config_tensor_in_dram": _flag(),
    "core_grid": _maybe("CoreGrid", CoreGrid, CoreRangeSet),
    "correction": _maybe("bool", bool),
    "disable_compensated_sum": _flag(),
    "dram_slice_config": _maybe("Any", Config),
    "embeddings_type": Extra("EmbeddingsType", (EmbeddingsType,), EmbeddingsType.GENERIC),
    "enable_secondary_dm": _maybe("bool", bool),
    "fast_and_approximate_mode": Extra("bool | None", (bool, type(None)), False),
    "inplace": Extra("bool | None", (bool, type(None)), True, step=steps.apart, meaning="the result is a new tensor."),
    "input_dtype": _maybe("DataType", DataType, meaning="that of the tensor."),
    "intermediate_memory_config": _maybe("MemoryConfig", MemoryConfig),
    "intermediate_tensor": _maybe("Tensor", Tensor),
    "dump_tensor.mode": Extra("DumpTensorMode", (DumpTensorMode,), DumpTensorMode.DISTRIBUTED_GATHER),
    "mode": Extra("SigmoidMode", (SigmoidMode,), SigmoidMode.Accurate),
    "negative_mask": _maybe("Tensor", Tensor),
    "num_buffers_per_channel": _NUMBER_OF_HARDWARE,
    "num_out_blocks": _NUMBER_OF_HARDWARE,
    "num_workers_per_link": _NUMBER_OF_HARDWARE,
    "fp32_dest_acc_en": _flag(),
    "math_fidelity": Extra("MathFidelity", (_FIDELITY,), _FIDELITY.LoFi),
    "mux_core_range_set": _maybe("CoreRangeSet", CoreRangeSet, CoreGrid, fill=steps.one_core),
    "optional_cross_device_semaphore": _maybe("Any", object),
    "output_tile": _maybe("Tile", Tile),
    "pad_value": _maybe("float", int, float, meaning="fills the padding of tiles, which no function reads here."),
    "padding_idx": _maybe("int", int, meaning="makes no difference to the values."),
    "program_config": _maybe("Any", Config),
    "queue_id": _NUMBER_OF_HARDWARE,
    "recip_tensor": _maybe("Tensor", Tensor),
    "reshape_tile_mode": Extra("TileReshapeMapMode", (TileReshapeMapMode,), TileReshapeMapMode.CACHE),
    "skip_padding_fill": _flag(),
    "sparse_grad": _flag(),
    "stable": _flag(meaning="equal elements keep their order, which they do in any case."),
    "sub_core_grids": _maybe("CoreRangeSet", CoreRangeSet),
    "sub_device_id": _maybe("SubDeviceId", SubDeviceId),
    "topology": _maybe("Topology", ENUMS["ttcore.topology"]),
    "use_falcon7b_backend": _flag(),
    "use_l1_small_for_semaphores": _flag(),
    "use_welford": _flag(),
    "vector_mode": Extra("int", (int,), 4),
    # What the simulator lacks.
    "attention_sink": _maybe("Tensor", Tensor, refused="attention in chunks has no sinks here"),
    "batch_offset": Extra("int", (int,), 0, refused="caches begin at their first row here"),
    "block_size": _maybe("int", int, refused="blocks are as long as those of cache_tensor here"),
    "halo_buffer": _maybe("Tensor", Tensor, refused="convolutions read whole images here"),
    "pad_offset_tensor": _maybe("Tensor", Tensor, refused="convolutions read whole images here"),
    "weight_lo_tensor": _maybe("Tensor", Tensor, refused="weights have one part here"),
    "mesh_coords": _maybe("Any", object, refused="all devices of a mesh take part here"),
    "num_kv_heads": _maybe("int", int, refused="there are as many as cache_tensor has here"),
    "share_cache": _maybe("bool", bool, meaning="whether users share a cache; its shape says so here."),
    "sliding_window_size": _maybe("int", int, refused="this attention has no window here"),
    "valid_seq_len_tensor": _maybe("Tensor", Tensor, refused="all rows of input_tensor are valid here"),
    "cache_position_modulo": _maybe("int", int, refused="caches are not circular here"),
    "cu_window_seqlens": _maybe("Tensor", Tensor, refused="attention has no windows of sequences here"),
    "global_cb": _maybe("Any", object, refused="the simulator has no global circular buffers"),
    "in0_column_offset": _maybe("int", int, refused="products begin at the first column here"),
    "indices": _maybe("Tensor", Tensor, refused="products take all rows here"),
    "indices_tensor": _maybe("Tensor", Tensor, refused="indices are those of input_tensor here"),
    "mesh_mapper": _maybe("Any", object, refused="every device draws the same numbers here"),
    "activation_limit": _maybe("float", int, float, refused="activations have no limit here"),
    "compute_only": _flag(refused="results are brought back to the devices of their tokens here"),
    "num_shared_experts_per_device": _maybe("int", int, refused="every expert is of one device here"),
    "local_reduce": _flag(refused="the experts of a token stay apart here"),
    "output_concat_dim": Extra("int | None", (int,), 1, refused="tokens are joined along the batch here"),
    "output_concat_heads": _flag(refused="call transformer.concatenate_heads"),
    "paged_cache_geometry": _maybe("Any", object, refused="the geometry of caches is that of their tensors here"),
    "prefetcher_pipes": Extra("Sequence[Any]", (list, tuple), (), refused="the simulator has no prefetcher"),
    "spec_multi_pos_tiles": Extra("int", (int,), 0, refused="a token has one position here"),
    "update_idx": Extra("int", (int,), 0, refused="caches are filled from their first row on here"),
    "windowed_q_token_offset": Extra("int", (int,), 0, refused="attention has no windows of sequences here"),
}
for _name in ("attn_mask_block_map", "windowed_q_token_offset_tensor"):
    PARAMETERS[_name] = PARAMETERS["cu_window_seqlens"]
PARAMETERS["num_devices"] = PARAMETERS["slice_dim"]
for _name in ("logical_h_mask", "logical_w_mask", "output_pad_h", "output_pad_w"):
    PARAMETERS[_name] = Extra("int", (int,), 0, refused="convolutions read whole images here")
for _name in ("all_to_all_dispatch", "all_to_all_combine"):
    PARAMETERS[f"{_name}.num_devices"] = _maybe(
        "int", int, fill=steps.devices_of_axis, meaning="those along cluster_axis."
    )
PARAMETERS["num_links"] = _NUMBER_OF_HARDWARE
PARAMETERS["subdevice_id"] = PARAMETERS["sub_device_id"]

_CORES = "sub_core_grids"
_ACTIVATED = "activations input_tensor_a_activations input_tensor_b_activations"
_BINARY = f"{_ACTIVATED} sub_core_grids sub_device_id"
_ATTENTION = "program_config compute_kernel_config"
_REDUCTION = "scalar correction sub_core_grids fast_and_approximate_mode"
_COLLECTIVE = "chunks_per_sync num_workers_per_link num_buffers_per_channel use_l1_small_for_semaphores"
_POOL = "dram_slice_config deallocate_input output_layout config_tensor_in_dram"
_PRODUCT = "output_tile global_cb sub_device_id"

# The parameters, and the functions that take them; a function that stands in several lines takes all of them, and one
# of one tensor and nothing else that stands in none takes sub_core_grids.
TAKEN: dict[str, str] = {
    "": "experimental.nlp_concat_heads transformer.concatenate_heads",
    _CORES: """
        bitcast leaky_relu argmax gather scatter sampling where experimental.nlp_concat_heads_decode
    """,
    f"fast_and_approximate_mode {_CORES}": "erf exp log log1p log2 mish rsqrt sqrt tanh",
    f"variant fast_and_approximate_mode {_CORES}": "gelu",
    f"vector_mode mode {_CORES}": "sigmoid",
    f"input_dtype output_dtype {_CORES}": "typecast",
    f"fast_and_approximate_mode {_BINARY}": "add multiply subtract",
    f"fast_and_approximate_mode rounding_mode {_BINARY} value": "divide",
    _BINARY: "eq ne gt ge lt le logical_and logical_or logical_xor logical_right_shift remainder",
    f"{_BINARY} input_b": "bitwise_and bitwise_or bitwise_xor logical_left_shift",
    f"{_ACTIVATED} input_b": "maximum minimum",
    _ACTIVATED: "pow",
    f"{_REDUCTION} output_layout": "sum mean",
    _REDUCTION: "max min",
    "enable_secondary_dm": "argmax",
    "dims": "prod",
    "dim": "roll",
    "reverse_order": "cumsum cumprod",
    "disable_compensated_sum": "cumsum",
    f"groups {_CORES}": "concat",
    "sparse_grad": "gather",
    f"{_CORES} indices_tensor stable": "topk",
    f"pad_value steps slice_dim num_devices slice_start slice_end {_CORES}": "slice",
    "input_a input_b": "assign",
    "program_config": "experimental.dit_rms_norm_unary_fused",
    "cluster_axis mux_core_range_set output_memory_config optional_cross_device_semaphore compute_only "
    "num_shared_experts_per_device activation_limit math_fidelity fp32_dest_acc_en": "experimental.moe_compute",
    "cluster_axis num_devices num_links topology subdevice_id output_concat_dim": "all_to_all_dispatch",
    "cluster_axis num_devices num_experts_per_tok local_reduce num_links topology subdevice_id": "all_to_all_combine",
    "optional_output_mapping_tensor optional_output_reduced_tensor": "moe_expert_token_remap",
    "chunk_start_idx": "transformer.chunked_scaled_dot_product_attention",
    "halo_buffer logical_h_mask logical_w_mask pad_offset_tensor output_pad_h output_pad_w weight_lo_tensor": """
        experimental.conv3d
    """,
    f"pad_value reshape_tile_mode {_CORES} skip_padding_fill logical_shape padded_shape": "reshape",
    f"{_CORES} pad_value": "to_layout",
    "pad_value": "transpose",
    "blocking queue_id": "from_device",
    "queue_id": "to_device",
    "mode": "dump_tensor",
    "bias": "sparse_matmul",
    "batch_offset mesh_coords block_size num_kv_heads update_idxs": "experimental.paged_update_cache",
    "batch_idx mesh_coords block_size valid_seq_len_tensor": "experimental.paged_fill_cache",
    "cur_pos share_cache": "transformer.scaled_dot_product_attention_decode",
    "sliding_window_size": """
        transformer.chunked_scaled_dot_product_attention transformer.paged_flash_multi_latent_attention_decode
    """,
    "paged_cache_geometry attention_sink": "transformer.chunked_scaled_dot_product_attention",
    "padding_idx embeddings_type": "embedding",
    "compute_kernel_config": "update_cache upsample experimental.paged_fill_cache experimental.paged_update_cache",
    "update_idx": "fill_cache",
    "cache_position_modulo": "experimental.paged_fill_cache experimental.paged_update_cache",
    "mesh_mapper": "rand",
    # Weights are mirrored before they are prepared.
    "dram_slice_config mirror_kernel": "conv_transpose2d",
    "return_output_dim return_weights_and_bias": "conv1d conv2d conv_transpose2d",
    "topology": "point_to_point",
    "fill output_padded_shape input_tensor_start sub_core_grids": "pad",
    "intermediate_tensor": "point_to_point",
    "residual_input_tensor program_config compute_kernel_config recip_tensor": "layer_norm",
    "residual_input_tensor program_config": "rms_norm",
    "core_grid inplace output_layout num_out_blocks compute_kernel_config negative_mask use_welford": "group_norm",
    "fast_and_approximate_mode program_config": "layer_norm_pre_all_gather rms_norm_pre_all_gather",
    "core_grid": "matmul linear sparse_matmul",
    f"{_PRODUCT} prefetcher_pipes": "matmul linear",
    "in0_column_offset": "linear",
    f"{_PRODUCT} indices": "sparse_matmul",
    f"cluster_axis {_CORES} {_COLLECTIVE}": "all_gather",
    "cluster_axis": "all_reduce",
    f"cluster_axis intermediate_memory_config {_COLLECTIVE}": "reduce_scatter",
    f"{_POOL} return_indices": "max_pool2d",
    f"{_POOL} divisor_override compute_kernel_config": "avg_pool2d",
    f"{_ATTENTION} cu_window_seqlens windowed_q_token_offset windowed_q_token_offset_tensor output_concat_heads "
    "attn_mask_block_map": "transformer.scaled_dot_product_attention",
    _ATTENTION: """
        transformer.scaled_dot_product_attention_decode transformer.flash_mla_prefill
        transformer.chunked_scaled_dot_product_attention transformer.paged_flash_multi_latent_attention_decode
    """,
    "compute_kernel_config paged_cache_geometry cache_position_modulo spec_multi_pos_tiles": """
        transformer.paged_scaled_dot_product_attention_decode
    """,
    "use_falcon7b_backend": "transformer.split_query_key_value_and_split_heads",
}
# Defaults of the library that are not those of PARAMETERS or of the rows, by function. They mean the same.
DEFAULTS: dict[str, dict[str, Any]] = {
    "conv1d": {"padding": 0},
    "experimental.paged_update_cache": {"share_cache": None},
    "scatter": {"reduce": None},
    "add": {"fast_and_approximate_mode": True},
    "subtract": {"fast_and_approximate_mode": True},
    "copy_host_to_device_tensor": {"cq_id": None},
    "to_layout": {"pad_value": 0.0},
    "transpose": {"pad_value": 0.0},
    "experimental.moe_compute": {"activation_type": None},
    "arange": {"dtype": DataType.BFLOAT16, "layout": Layout.ROW_MAJOR},
    "avg_pool2d": {"dtype": DataType.BFLOAT16, "output_layout": Layout.ROW_MAJOR},
    "empty": {"dtype": DataType.BFLOAT16, "layout": Layout.ROW_MAJOR},
    "layer_norm_pre_all_gather": {"dtype": DataType.BFLOAT16},
    "max_pool2d": {"dtype": DataType.BFLOAT16, "output_layout": Layout.ROW_MAJOR},
    "rand": {"dtype": DataType.BFLOAT16, "layout": Layout.TILE, "memory_config": DRAM_MEMORY_CONFIG},
    "rms_norm_pre_all_gather": {"dtype": DataType.BFLOAT16},
}


# Parameters that stand before those that are given by name, in some functions.
BY_PLACE = {"avg_pool2d": ("divisor_override",), "to_layout": ("sub_core_grids", "pad_value")}
# The same of the row's own, behind one that may be absent.
OWN_BY_PLACE = {"transformer.paged_flash_multi_latent_attention_decode": ("head_dim_v", "page_table_tensor")}


# The keys of TAKEN by function.
_LINES: dict[str, list[str]] = {}
for _names, _functions in TAKEN.items():
    for _function in _functions.split():
        _LINES.setdefault(_function, []).append(_names)


@cache
def extras_of(function: str, own: tuple[str, ...]) -> Mapping[str, Extra]:
    """Returns the parameters that a function takes in addition to its own; one that replaces its own checks for it.

    A function of one tensor and nothing else that no line of TAKEN names takes `sub_core_grids`.
    """
    taken: dict[str, Extra] = {}
    lines = _LINES.get(function, [])
    if not lines and own == ("input_tensor", "dtype", "memory_config", "layout"):
        lines = [_CORES]
    for names in lines:
        found = {name: PARAMETERS.get(f"{function}.{name}") or PARAMETERS[name] for name in names.split()}
        taken.update({name: extra for name, extra in found.items() if name not in own or extra.fill})
    for name in BY_PLACE.get(function, ()):
        taken[name] = replace(taken[name], by_place=True)
    return taken


def extended(
    function: str, call: Callable[..., Any], into: str, extras: Mapping[str, Extra], values: Values, defaults: Values
) -> Any:
    """Calls a function with parameters of the library: checks them, does what they say before and after.

    Args:
        call: takes the arguments of the row, by their names, and `into`.
        into: the parameter that takes a tensor for the result; empty: none.
        values: the arguments of the call, of the row and of `extras`.
        defaults: those of `extras`.
    Raises:
        TypeError, ValueError: an argument is of another type, or asks for what the simulator lacks; names it.
    """
    own = {name: value for name, value in values.items() if name not in extras or extras[name].fill}
    after: list[Then] = []
    for name, extra in extras.items():
        value = values[name]
        if extra.fill is not None:
            if value is None:
                extra.fill(function, own)
            continue
        if "ctivations" in name:
            check_activations(function, name, value)
            if value and extra.step is None:
                after.append(partial(with_activations, function, activations=value))
        else:
            extra.check(function, name, value)
        if extra.alias and value is not None:
            if own.get(extra.alias) is not None:
                raise TypeError(f"ttnn.{function}: {name} and {extra.alias} are given; expected one of them")
            own[extra.alias] = value
        elif extra.step is not None and value is not defaults[name] and value != defaults[name]:
            then = extra.step(function, value, own)
            if then is not None:
                after.append(then)
    target = own.pop(into, None) if into and after else None
    result = own.pop(steps.INSTEAD, call)(**own)
    for then in after:
        result = then(result)
    return result if target is None else steps.ttnn("assign")(result, output_tensor=target)
