# SPDX-License-Identifier: Apache-2.0
"""Lists exceptions of the functions of `ttnn` (C++ and Python); all else follows from the ops' ODS definitions.

By rule an op of the dialects ttnn and debug is a function of its own name. Its parameters are its tensors, then its
attributes, in ODS order, under the names that OPERANDS and ATTRIBUTES give them; optional ones may be absent, defaults
are those of ODS or of DEFAULTS. Its documentation is the op's summary.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Holds the exceptions of one op's function.

    parameters, in public order, with commas between them:
        name[=ods][?][!][:default]   ods: the operand or attribute, where no table says it; `?`: may be absent;
                                     `!`: must be given, although ODS has a default
        *                            by itself: those that follow are given by name in Python
        ...                          those of the op that the row does not name, in ODS order
        name!value                   no part of the op: a call that gives another value is of another row
    Tensors stand in ODS order. Defaults: numbers, true, false, bare words for strings and cases of enums, {1, 1}.

    Every function with tensor results also takes `dtype`, `memory_config` and `layout` of them, after its own
    parameters unless they are listed. One that is not given is as in the first tensor (memory: interleaved in its
    buffer type), or `dtype:x`: as in the tensor parameter x, or the data type x; with several results `dtype:{x, y}`.
    `dtype:float of x` is FLOAT32 where x has integers, `dtype:rows of x` BFLOAT16 where x has a block format,
    `dtype:index` UINT16, or UINT32 of a dimension `dim` with more than 65536 elements, and `dtype:config.field` what
    that field of a parameter says, where it is set. `layout:x` is row_major, tile,
    or as in the tensor parameter x, `memory_config:dram` interleaved DRAM.
    Functions without tensors lie on `device`, in DRAM, when it is given, and otherwise on the host.

    names: the public name and, behind '|', others of the same function; several ops may share one (a call takes the
    first row that its arguments fit). Dots are namespaces.
    rule: the shape rule of lib/shapes, of an op that names none in ODS; it is `same`, or `nothing` without results.
    doc: one line, where the op's summary would not do.
    """

    parameters: str = ""
    names: str = ""
    rule: str = ""
    doc: str = ""


# Ops that are only called as part of programs, or that this library does not compute.
NOT_CALLED = {
    "debug.host_call",
    "ttcore.case",
    "ttcore.load_cached",
    "ttcore.while",
    "ttnn.alloc",
    "ttnn.begin_trace_capture",
    "ttnn.capture_or_execute_trace",
    "ttnn.constant",
    "ttnn.create_global_semaphore",
    "ttnn.d2m_subgraph",
    "ttnn.end_trace_capture",
    "ttnn.execute_trace",
    "ttnn.generic",
    "ttnn.get_device",
    "ttnn.reset_global_semaphore",
    "ttnn.tt_lang_op",
}
# Ops that only the runtime knows, as others of the dialect: older names that programs have.
ALIASES = {"ttnn.to_dtype": "ttnn.typecast"}

# Public names of operands and of attributes.
OPERANDS = {
    "a": "input_tensor_a",
    "attention_mask": "attn_mask",
    "b": "input_tensor_b",
    "input": "input_tensor",
    "key": "input_tensor_k",
    "lhs": "input_tensor_a",
    "operand": "tensor",
    "query": "input_tensor_q",
    "residual": "residual_input_tensor",
    "residual_input": "residual_input_tensor",
    "rhs": "input_tensor_b",
    "value": "input_tensor_v",
}
ATTRIBUTES = {
    "all_gather_dim": "dim",
    "compute_config": "compute_kernel_config",
    "conv2d_config": "conv_config",
    "conv2d_slice_config": "slice_config",
    "conv3d_config": "config",
    "dim_arg": "dim",
    "input_tensor_layout": "input_layout",
    "keep_dim": "keepdim",
    "matmul_program_config": "program_config",
    "numericStable": "numeric_stable",
    "reduce_type": "math_op",
    "scatter_dim": "dim",
    "sub_device_id": "subdevice_id",
}
# Defaults of attributes that ODS wants given.
DEFAULTS = {"ceil_mode": "false", "keep_dim": "false", "reduce_type": "sum"}

# Functions that write their results to existing tensors, by the name of the parameter that takes these.
INTO = {
    "output_tensor": """
        all_gather all_to_all_combine argmax assign concat dequantize embedding embedding_bw
        experimental.nlp_concat_heads_decode prod quantize reduce_scatter requantize sampling slice
        to_memory_config topk
    """,
    "output_tensors": "all_to_all_dispatch experimental.nlp_create_qkv_heads_decode",
    "output": "batch_norm",
    "out": "cumprod cumsum gather sort",
    "optional_output_tensor": "linear matmul repeat sparse_matmul",
    "optional_tensor": "full",
}

# What a strict device demands of a call, because Tenstorrent's library does; runtime/lib/api/strict.cpp checks it.
# The integer types that functions take, by the functions. Of those that are not here elementwise functions of one
# tensor take none, and others take all.
INTEGERS = {
    "": "argmax atan2 experimental.gelu_bw linear matmul mean prod softmax",
    "si32": "divide neg",
    "si32 u32": "bitwise_not global_avg_pool2d logical_right_shift max maximum min minimum remainder sum",
    "si32 u32 u16": """
        add bitwise_and bitwise_or bitwise_xor logical_and logical_left_shift logical_not logical_or logical_xor
        multiply subtract
    """,
}
# Elementwise functions of one tensor that take all integer types.
ANY_INTEGERS = "abs bitcast clamp leaky_relu pow relu relu6 to_dtype typecast"
DEMANDS = {
    # All operands are on the device, where one is; so it is for elementwise functions of one tensor without integers.
    "on_device": " ".join(INTEGERS.values()) + " eq ge gt le lt ne",
    # Operands of one data type, where one of them has integers; or where several have.
    "one_type": """
        add bitwise_and bitwise_or bitwise_xor eq ge gt le logical_and logical_left_shift logical_or logical_right_shift
        logical_xor lt maximum minimum ne remainder subtract
    """,
    "one_integer_type": "divide multiply",
    "tiles": "linear matmul softmax",  # operands in tiles
    "batches": "linear matmul",  # the second operand has the batches of the first, or one
    "ids": "embedding",  # positions are UINT32 or BFLOAT16
    "no_blocks": "sort",  # the operand's elements have exponents of their own
    "host": "to_dtype",  # the operand is on the host
    "in_place": "group_norm",  # the first operand is sharded, or the result is a tensor of its own
    "first_tiled": "rms_norm",  # the first operand is in tiles
    "l1_small": "avg_pool2d conv1d conv2d conv_transpose2d max_pool2d max_pool2d_with_indices",  # a region of L1_SMALL
}

# Shape rules of ops that take an output_tensor, without being named above: those of elementwise ops.
INTO_OUTPUT_TENSOR = {"elementwise", "integerElementwise"}

# Names of enums in flatbuffers, where they are not the dialect's name and the enum's in snake case; by ODS record.
ENUM_TYPES = {"TTCore_MoEActivationFunction": "ttcore.moe_activation_function"}
# Cases of public enums are in capitals but for these, which are written as in C++.
CAMEL_CASE = {"ttcore.reduce_type", "ttcore.topology", "ttnn.math_fidelity"}
CASES = {
    "ttcore.data_type": {
        "f32": "FLOAT32",
        "f16": "FLOAT16",
        "bf16": "BFLOAT16",
        "bfp_f8": "FLOAT8_B",
        "bfp_bf8": "BFLOAT8_B",
        "bfp_f4": "FLOAT4_B",
        "bfp_bf4": "BFLOAT4_B",
        "bfp_f2": "FLOAT2_B",
        "bfp_bf2": "BFLOAT2_B",
        "u32": "UINT32",
        "u16": "UINT16",
        "u8": "UINT8",
        "si32": "INT32",
        "i1": "BOOL",
    },
}
NO_CASES = {"ttnn.layout": {"invalid"}}
# Structs that are classes of the library's own.
OWN_CLASSES = {"ttnn.memory_config", "ttnn.nd_shard_spec", "ttnn.shard_spec"}
# Lists that must be given, although they may be empty.
REQUIRED_FIELDS = {"ttnn.core_range_set.core_ranges"}
# Public names of fields in Python, where they are not the dialect's.
FIELDS = {
    "per_core_m": "per_core_M",
    "per_core_n": "per_core_N",
    **{f"{axis}_out_block": f"{axis.upper()}_out_block" for axis in "twhc"},
    "c_in_block": "C_in_block",
}
# Fields that a flatbuffer leaves out: a grid with affine maps, which only says where a convolution runs.
LEFT_OUT_FIELDS = {"ttnn.conv3d_config.compute_with_storage_grid_size"}

FUNCTIONS: dict[str, Row] = {
    # Elementwise
    "ttnn.leaky_relu": Row("input_tensor, negative_slope=parameter!"),
    "ttnn.divide": Row("..., *, dtype:float of input_tensor_a", names="divide|div"),
    "ttnn.logical_left_shift": Row(names="logical_left_shift|bitwise_left_shift"),
    "ttnn.multiply": Row(names="multiply|mul"),
    "ttnn.subtract": Row(names="subtract|sub"),
    "ttnn.pow_scalar": Row("input_tensor=lhs, exponent=rhs", names="pow"),
    "ttnn.pow_tensor": Row("input_tensor=lhs, exponent=rhs", names="pow"),
    "ttnn.clamp_scalar": Row("input_tensor, min:-inf, max:inf", names="clamp|clip"),
    "ttnn.clamp_tensor": Row(names="clamp|clip"),
    "ttnn.where": Row("predicate=first, true_value=second, false_value=third, *, dtype:true_value"),
    "ttnn.gelu_bw": Row("grad_tensor=lhs, input_tensor=rhs, *, approximate", names="experimental.gelu_bw"),
    "ttnn.quantize": Row("..., *, axis"),
    "ttnn.dequantize": Row("..., *, axis"),
    "ttnn.requantize": Row("..., *, axis"),
    # Types, layouts, memories
    "ttnn.typecast": Row("input_tensor, dtype", doc="The values in another data type."),
    "ttnn.to_dtype": Row("tensor=input, dtype", doc="The values of a host tensor in another data type."),
    "ttnn.bitcast_convert": Row(
        "input_tensor, dtype",
        names="bitcast",
        doc="The same bits seen as another data type of the same width.",
    ),
    "ttnn.to_layout": Row("tensor=input, layout, dtype?, memory_config?"),
    "ttnn.to_memory_config": Row("tensor=input, memory_config, dtype?"),
    "ttnn.to_tensor_spec": Row("tensor=input"),
    "ttnn.to_device": Row(
        "tensor=input, device, memory_config?",
        doc="The tensor on a device, in interleaved DRAM unless said otherwise.",
    ),
    "ttnn.copy": Row("input_a=src, input_b=dst"),
    "ttnn.write_tensor": Row("host_tensor, device_tensor, cq_id, *, blocking", names="copy_host_to_device_tensor"),
    "ttnn.from_device": Row("tensor=input"),
    "ttnn.deallocate": Row("tensor=input, force:true"),
    "ttnn.load_tensor": Row(
        "file_name=file_path, *, device?",
        rule="loadTensor",
        doc="A tensor from a file, on the host or on a device; its values are taken for constants.",
    ),
    "ttnn.dump_tensor": Row("file_name=file_path, tensor=input"),
    # Creation
    "ttnn.empty": Row(
        "shape, dtype:bf16, layout:row_major, device?, memory_config?",
        doc="A tensor of zeros that stands for one without values.",
    ),
    "ttnn.ones": Row("shape, dtype:bf16, layout:row_major, device?, memory_config?", doc="A tensor of ones."),
    "ttnn.zeros": Row("shape, dtype:bf16, layout:row_major, device?, memory_config?", doc="A tensor of zeros."),
    "ttnn.full": Row("..., dtype:bf16, layout:row_major, device?, memory_config?", doc="A tensor of one number."),
    "ttnn.arange": Row("..., step:1, *, dtype:bf16, device?, memory_config?, layout:row_major"),
    "ttnn.rand": Row("shape=size, device, *, dtype:bf16, layout:tile, memory_config?, ..."),
    # Data movement
    "ttnn.roll": Row("input_tensor, shifts, dim=dims"),
    "ttnn.permute": Row("input_tensor, dims=permutation, *, pad_value:0.0"),
    "ttnn.transpose": Row("input_tensor, dim1=dim0, dim2=dim1"),
    "ttnn.slice_static": Row("input_tensor, starts=begins, ends, slice_step=step?", names="slice"),
    "ttnn.slice_dynamic": Row("input_tensor, starts=begins, ends, slice_step=step", names="slice"),
    "ttnn.concat": Row("tensors=inputs, dim:0"),
    "ttnn.pad": Row("..., value!, *, use_multicore:true"),
    "ttnn.gather": Row("input=input, dim, index"),
    "ttnn.scatter": Row("input=input, dim, index, src=source, *, reduce=scatter_reduce_type:invalid"),
    "ttnn.embedding": Row("..., *, dtype:rows of weight, layout:weight"),
    "ttnn.embedding_bw": Row(
        "input_tensor, weight_tensor=weight, output_gradient_tensor=in_gradient, *, dtype:output_gradient_tensor"
    ),
    "ttnn.sort": Row("..., *, dtype:{input_tensor, index}"),
    "ttnn.topk": Row("input_tensor, k:32, dim, largest, sorted:true, *, dtype:{input_tensor, index}"),
    # Reductions and scans
    "ttnn.sum": Row(
        "..., keepdim, *, compute_kernel_config", doc="Sum of the elements along dimensions; of all without dim."
    ),
    "ttnn.mean": Row(
        "..., keepdim, *, compute_kernel_config", doc="Mean of the elements along dimensions; of all without dim."
    ),
    "ttnn.max": Row(
        "..., keepdim, *, compute_kernel_config, layout:tile",
        doc="Greatest element along dimensions; of all without dim.",
    ),
    "ttnn.min": Row(
        "..., keepdim, *, compute_kernel_config, layout:tile", doc="Least element along dimensions; of all without dim."
    ),
    "ttnn.argmax": Row("..., *, dtype:u32, layout:row_major"),
    "ttnn.cumsum": Row("input=input, dim", doc="Running sum along a dimension."),
    "ttnn.cumprod": Row("input_tensor, dim", doc="Running product along a dimension."),
    # Products and windows
    "ttnn.matmul": Row("input_tensor_a, input_tensor_b, *, ..., memory_config:dram"),
    "ttnn.linear": Row(
        "input_tensor_a, input_tensor_b, *, ..., memory_config:dram",
        doc="Matrix product, plus a bias, through an activation.",
    ),
    "ttnn.sparse_matmul": Row(
        "input_tensor_a, input_tensor_b, *, sparsity, program_config, nnz, is_input_a_sparse, is_input_b_sparse, ..."
    ),
    "ttnn.conv2d": Row(
        "*, input_tensor, weight_tensor=weight, device, ..., stride:{1, 1}, padding:{0, 0}, dilation:{1, "
        "1}, groups:1, bias_tensor=bias, conv_config, compute_config=compute_config, slice_config, layout:tile",
        doc="2-d convolution of images [1, 1, batch * height * width, channels].",
    ),
    "ttnn.conv_transpose2d": Row(
        "*, input_tensor, weight_tensor=weight, device, ..., stride:{1, 1}, padding:{0, 0}, "
        "output_padding:{0, 0}, dilation:{1, 1}, groups:1, bias_tensor=bias, conv_config, "
        "compute_config=compute_config, slice_config, layout:tile",
        doc="Transposed 2-d convolution of images [1, 1, batch * height * width, channels].",
    ),
    "ttnn.conv1d": Row(
        "*, input_tensor, weight_tensor=weight, device, ..., stride:1, padding:{0}, dilation:1, groups:1, "
        "bias_tensor=bias, conv_config, compute_config=compute_config, slice_config, layout:tile",
        doc="Convolution of sequences [1, 1, batch * length, channels].",
    ),
    "ttnn.conv3d": Row(
        "*, input_tensor, weight_tensor=weight, device?, bias_tensor=bias, config, dtype, "
        "output_channels=out_channels, kernel_size, stride:{1, 1, 1}, padding:{0, 0, 0}, dilation:{1, 1, 1}, "
        "padding_mode, groups:1, "
        "compute_kernel_config, ...",
        names="experimental.conv3d",
    ),
    "ttnn.conv_transpose3d": Row(
        "*, input_tensor, weight_tensor=weight, device?, ..., stride:{1, 1, 1}, padding:{0, 0, 0}, "
        "output_padding:{0, 0, 0}, dilation:{1, 1, 1}, groups:1, bias_tensor=bias, compute_kernel_config",
        doc="Transposed 3-d convolution of volumes [batch, depth, height, width, channels].",
    ),
    "ttnn.max_pool2d": Row(
        "input_tensor, batch_size, input_h=input_height, input_w=input_width, channels, kernel_size, "
        "stride!, padding!, dilation!, ceil_mode, *, ..., dtype:bf16, layout:row_major",
        doc="Greatest element of each window of images [1, 1, batch * height * width, channels].",
    ),
    "ttnn.max_pool2d_with_indices": Row(
        "input_tensor, batch_size, input_h=input_height, input_w=input_width, channels, kernel_size, "
        "stride:{1, 1}, padding:{0, 0}, dilation:{1, 1}, ceil_mode, *, ..., dtype:{input_tensor, u32}, "
        "layout:row_major",
        doc="max_pool2d, and where in its image each element was found.",
    ),
    "ttnn.avg_pool2d": Row(
        "input_tensor, batch_size, input_h=input_height, input_w=input_width, channels, kernel_size, "
        "stride!, padding!, ceil_mode, count_include_pad, *, dilation:{1, 1}, ..., dtype:bf16, layout:row_major",
        doc="Mean of each window of images [1, 1, batch * height * width, channels].",
    ),
    "ttnn.global_avg_pool2d": Row("..., *, layout:tile"),
    "ttnn.upsample": Row("..., *, mode"),
    "ttnn.prepare_conv2d_weights": Row(
        "*, ..., device?, input_dtype, output_dtype, conv_config, compute_config=compute_config, slice_config, "
        "dtype:conv_config.weights_dtype, layout:tile",
        names="prepare_conv_weights",
        rule="prepareWeights",
    ),
    "ttnn.prepare_conv2d_bias": Row(
        "*, ..., device?, input_dtype, output_dtype, conv_config, compute_config=compute_config, slice_config, "
        "dtype:conv_config.weights_dtype, layout:tile",
        names="prepare_conv_bias",
        rule="prepareBias",
    ),
    "ttnn.prepare_conv_transpose2d_weights": Row(
        "*, ..., output_padding!, dilation, has_bias, groups, device?, input_dtype, output_dtype, "
        "conv_config, compute_config=compute_config, slice_config, mirror_kernel, "
        "dtype:conv_config.weights_dtype, layout:tile",
        rule="prepareWeights",
    ),
    "ttnn.prepare_conv_transpose2d_bias": Row(
        "*, ..., device?, input_dtype, output_dtype, conv_config, compute_config=compute_config, slice_config, "
        "dtype:conv_config.weights_dtype, layout:tile",
        rule="prepareBias",
    ),
    "ttnn.prepare_conv3d_weights": Row(
        "*, weight_tensor, groups:1, C_in_block=c_in_block:0, alignment:32, device?",
        names="experimental.prepare_conv3d_weights",
    ),
    # Normalization
    "ttnn.softmax": Row("input_tensor, dim=dimension:-1, *, compute_kernel_config, numeric_stable:true"),
    "ttnn.batch_norm_inference": Row(
        "input=input, *, running_mean, running_var, training!false, eps=epsilon, ...", names="batch_norm"
    ),
    "ttnn.batch_norm_training": Row(
        "input=input, *, running_mean, running_var, training!true, eps=epsilon, momentum, ...", names="batch_norm"
    ),
    "ttnn.layer_norm": Row("input_tensor, *, epsilon, ..."),
    "ttnn.rms_norm": Row("input_tensor, *, epsilon, ..."),
    "ttnn.group_norm": Row("input_tensor, *, num_groups, epsilon, ..."),
    "ttnn.distributed_layer_norm": Row("input_tensor, *, ..., device?, cluster_axis, epsilon"),
    "ttnn.distributed_rms_norm": Row(
        "input_tensor, *, weight, residual_input_tensor, stats, device?, cluster_axis, epsilon, "
        "sub_device_id=sub_device_id, ..."
    ),
    "ttnn.dit_rms_norm_unary_fused": Row(
        "input_tensor, epsilon, weight, bias, residual_input_tensor, *, ...",
        names="experimental.dit_rms_norm_unary_fused",
    ),
    "ttnn.rms_norm_pre_all_gather": Row("input_tensor, *, dtype:bf16, ..."),
    "ttnn.layer_norm_pre_all_gather": Row(
        "input_tensor, *, dtype:bf16, residual_input_tensor, recip_tensor=recip, ..."
    ),
    "ttnn.layer_norm_post_all_gather": Row("input_tensor, stats, *, ..."),
    # Attention and caches
    "ttnn.scaled_dot_product_attention": Row(
        "input_tensor_q, input_tensor_k, input_tensor_v, *, ...", names="transformer.scaled_dot_product_attention"
    ),
    "ttnn.scaled_dot_product_attention_decode": Row(
        "input_tensor_q, input_tensor_k, input_tensor_v, *, ...",
        names="transformer.scaled_dot_product_attention_decode",
    ),
    "ttnn.paged_scaled_dot_product_attention_decode": Row(
        "input_tensor_q, input_tensor_k, input_tensor_v, page_table_tensor=page_table, *, ...",
        names="transformer.paged_scaled_dot_product_attention_decode",
    ),
    "ttnn.chunked_scaled_dot_product_attention": Row(
        "input_tensor_q, input_tensor_k, input_tensor_v, page_table_tensor=page_table, *, "
        "chunk_start_idx_tensor=chunk_start_idx, ...",
        names="transformer.chunked_scaled_dot_product_attention",
    ),
    "ttnn.flash_mla_prefill": Row(
        "..., *, head_dim_v, attn_mask, is_causal, scale", names="transformer.flash_mla_prefill"
    ),
    "ttnn.paged_flash_multi_latent_attention_decode": Row(
        "input_tensor_q, input_tensor_k, input_tensor_v, *, head_dim_v, page_table_tensor=page_table, ...",
        names="transformer.paged_flash_multi_latent_attention_decode",
    ),
    "ttnn.rotary_embedding": Row("..., *, compute_kernel_config", names="experimental.rotary_embedding"),
    "ttnn.rotary_embedding_llama": Row(
        "..., *, is_decode_mode, compute_kernel_config",
        names="experimental.rotary_embedding_llama",
        doc="Rotary position embedding of neighbouring elements, by a transformation matrix.",
    ),
    "ttnn.split_query_key_value_and_split_heads": Row(
        "..., *, num_heads, num_kv_heads, transpose_key:true", names="transformer.split_query_key_value_and_split_heads"
    ),
    "ttnn.concatenate_heads": Row(names="transformer.concatenate_heads"),
    "ttnn.nlp_concat_heads": Row(names="experimental.nlp_concat_heads"),
    "ttnn.nlp_concat_heads_decode": Row("input_tensor, *, num_heads", names="experimental.nlp_concat_heads_decode"),
    "ttnn.nlp_create_qkv_heads_decode": Row(
        "input_tensor, *, batch_offset, ...", names="experimental.nlp_create_qkv_heads_decode"
    ),
    "ttnn.fill_cache": Row("cache_tensor=cache, input_tensor, batch_idx=batch_offset"),
    "ttnn.update_cache": Row("cache, input=input, update_idx=update_index, *, batch_offset:0"),
    "ttnn.paged_fill_cache": Row("cache_tensor=cache, ..., *, batch_idx_tensor", names="experimental.paged_fill_cache"),
    "ttnn.paged_update_cache": Row(
        "cache_tensor=cache, input_tensor, *, update_idxs_tensor=update_index, ...",
        names="experimental.paged_update_cache",
    ),
    "ttnn.sampling": Row("input_values_tensor=input_values, input_indices_tensor=input_indices, k, p, temp, *, seed"),
    # Experts
    "ttnn.all_to_all_dispatch": Row(
        "input_tensor, expert_indices_tensor=expert_indices, expert_mapping_tensor=expert_mapping, *, ..."
    ),
    "ttnn.all_to_all_combine": Row(
        "input_tensor, expert_metadata_tensor=expert_metadata, expert_mapping_tensor=expert_mapping, *, "
        "output_shard_dim:1, ..."
    ),
    "ttnn.moe_expert_token_remap": Row(
        "topk_tensor, expert_mapping_tensor=expert_mapping, expert_metadata_tensor=expert_metadata, *, "
        "reduction_size:16"
    ),
    "ttnn.moe_compute": Row(
        "tilize_input_tensor, tilize_expert_indices_tensor, tilize_expert_scores_tensor, "
        "tilize_expert_mapping_tensor, matmul_w0_w1_tensor, matmul_w2_tensor, *, layer_id, "
        "output_height_shard_dim, intermediate_size, has_bias:false, cluster_axis, topology, num_links, "
        "mux_core_range_set, optional_output_tensor, activation_type=activation_function",
        names="experimental.moe_compute",
    ),
    # The mesh
    "ttnn.distribute_tensor": Row("tensor=input, mapper=mapper_config, mesh_device?, *, cq_id"),
    "ttnn.aggregate_tensor": Row("tensor=input, composer=composer_config, *, mesh_device?"),
    "ttnn.all_gather": Row("input_tensor, dim, *, ..."),
    "ttnn.all_reduce": Row("input_tensor, *, ..."),
    "ttnn.all_reduce_async": Row(
        "input_tensor, *, ...", names="experimental.all_reduce_async", doc="all_reduce that does not wait."
    ),
    "ttnn.reduce_scatter": Row("input_tensor, dim, *, ..."),
    "ttnn.all_to_all": Row("input_tensor, split_dim, concat_dim, *, ..."),
    "ttnn.point_to_point": Row("..., *, output_tensor=optional_output_tensor"),
    # Marks for those who look at a program
}
