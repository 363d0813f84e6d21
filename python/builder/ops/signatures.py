# SPDX-License-Identifier: Apache-2.0
"""Parameters of builder methods, where they are not the op's operands and attributes in ODS order.

By rule, the parameters of a method are the operands of its op, of which plain ones (input, lhs, ...) are called in0,
in1 and so on, then its attributes; ODS names are accepted as keywords, too. A row here gives the order, names and
defaults that programs use instead. It is written as Python parameters; an annotation names the operand or attribute
that the parameter stands for when the names differ. Operands and attributes that a row leaves out can be given by
keyword.

Names that are neither describe the result: `shape` or `output_shape`, `dtype`, and for ops with several results
`<result>_shape` and `<result>_type`.
"""

# Op -> method, where existing programs use another name than the op's. The op's own name works as well.
METHOD_NAMES: dict[str, str] = {
    "ttir.isfinite": "is_finite",
    "ttir.slice_static": "slice",
    "ttir.index_select": "select",
    "ttir.gelu_bw": "gelu_backward",
    "stablehlo.or": "or_",
    "ttnn.embedding_bw": "embedding_backward",
    "stablehlo.and": "logical_and",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.multiply": "mul",
    "stablehlo.negate": "neg",
    "stablehlo.not": "not_",
    "stablehlo.power": "pow",
}

# Attributes that ODS wants and programs leave out: op -> (attribute, the one that has as many numbers, each of them).
EACH: dict[str, tuple[str, str, int]] = {
    "ttir.slice_static": ("step", "begins", 1),
    "ttnn.slice_static": ("step", "begins", 1),
    "stablehlo.slice": ("strides", "start_indices", 1),
}

SIGNATURES: dict[str, str] = {
    "debug.annotate": "operand, annotation",
    "debug.breakpoint": "operand",
    "debug.dump": "operand, file_path",
    "debug.memory_snapshot": "operand, file_path",
    "debug.print": "operand, message",
    "debug.region_end": "operand, region_id",
    "debug.region_start": "operand, region_id",
    "ttir.adamw": (
        "param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq=None, lr=0.001, beta1=0.9, beta2=0.999, beta1_pow=0.9, "
        "beta2_pow=0.999, epsilon=1e-08, weight_decay=0.0, stochastic_rounding=False"
    ),
    "ttir.all_gather": "input, all_gather_dim, cluster_axis",
    "ttir.all_reduce": "input, cluster_axis, reduce_type",
    "ttir.all_reduce_async": "input, cluster_axis, reduce_type",
    "ttir.all_to_all": "input, split_dim, concat_dim, split_count, replica_groups",
    "ttir.all_to_all_combine": (
        "input_tensor, expert_metadata, expert_mapping, num_devices=2, cluster_axis=0, num_experts_per_tok=4, "
        "output_shard_dim=2, output_shape=None"
    ),
    "ttir.all_to_all_dispatch": (
        "input_tensor, expert_indices, expert_mapping, num_devices=2, cluster_axis=0, dispatched_shape=None, "
        "dispatched_type=None, metadata_shape=None, metadata_type=None"
    ),
    "ttir.all_to_all_dispatch_metadata": (
        "input_tensor, expert_indices, expert_scores, expert_mapping, num_devices=2, cluster_axis=0, "
        "dispatched_shape=None, dispatched_type=None, indices_shape=None, indices_type=None, scores_shape=None, "
        "scores_type=None"
    ),
    "ttir.arange": "shape, dtype, start, end, step, arange_dimension",
    "ttir.argmax": "in0, dim_arg=None, keep_dim=False",
    "ttir.avg_pool2d": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False, count_include_pad=True",
    "ttir.avg_pool3d": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False, count_include_pad=True",
    "ttir.batch_norm_inference": "in0, scale, offset, mean, variance, epsilon=1e-05, dimension=1",
    "ttir.batch_norm_training": (
        "in0, scale, offset, running_mean, running_variance, epsilon=1e-05, dimension=1, momentum=0.1"
    ),
    "ttir.clamp_scalar": "in0, min_arg: min, max_arg: max",
    "ttir.clamp_tensor": "in0, min_tensor: min, max_tensor: max",
    "ttir.collective_broadcast": "input, replica_groups",
    "ttir.collective_permute": "input, source_target_pairs",
    "ttir.concat": "ins: inputs, dim=0",
    "ttir.constant": "tensor: value",
    "ttir.conv1d": "in0, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
    "ttir.conv2d": "in0, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
    "ttir.conv3d": "in0, weight, bias=None, stride=1, padding=0, groups=1, padding_mode='zeros', dilation=1",
    "ttir.conv_transpose2d": "in0, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1",
    "ttir.conv_transpose3d": "in0, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1",
    "ttir.distributed_layer_norm": "input, cluster_axis, weight=None, bias=None, residual=None, epsilon=1e-05",
    "ttir.distributed_rms_norm": "input, cluster_axis, weight=None, residual=None, epsilon=1e-05",
    "ttir.dropout": "input, prob=0.0, scale=1.0, seed=0, use_per_device_seed=True",
    "ttir.embedding": "in0, in1",
    "ttir.embedding_backward": "input, weight, in_gradient",
    "ttir.empty": "shape, dtype",
    "ttir.fill_cache": "in0, in1, batch_offset=0",
    "ttir.full": "output_shape: shape, fill_value",
    "ttir.get_dimension_size": "in0, dimension=0",
    "ttir.gelu_bw": "grad: lhs, input: rhs, approximate='none'",
    "ttir.group_norm": "in0, input_mask=None, weight=None, bias=None, num_groups=1, epsilon=1e-05",
    "ttir.index_select": "in0, dim=0, begin=0, length=2, stride=2",
    "ttir.linear": "in0, in1, bias=None, transpose_a=False, transpose_b=False",
    "ttir.matmul": "in0, in1, transpose_a=False, transpose_b=False",
    "ttir.layer_norm": "in0, normalized_shape, weight=None, bias=None, epsilon=1e-05",
    "ttir.leaky_relu": "in0, parameter=0.01",
    "ttir.max": "in0, dim_arg=None, keep_dim=True",
    "ttir.max_pool2d": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False",
    "ttir.max_pool2d_with_indices": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False",
    "ttir.max_pool3d": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False",
    "ttir.max_pool3d_with_indices": "in0, kernel, stride, dilation=1, padding=0, ceil_mode=False",
    "ttir.mean": "in0, dim_arg=None, keep_dim=True",
    "ttir.mesh_partition": "input, dim, cluster_axis=None",
    "ttir.mesh_shard": "input, shard_type, shard_direction, shard_shape, shard_dims",
    "ttir.min": "in0, dim_arg=None, keep_dim=True",
    "ttir.moe_compute": (
        "tilize_input_tensor, tilize_expert_indices_tensor, tilize_expert_scores_tensor, "
        "tilize_expert_mapping_tensor, w0, w1, w2, layer_id, output_height_shard_dim, intermediate_size, "
        "cluster_axis, output_shape, bias_0=None, bias_1=None, bias_2=None, activation_function='silu'"
    ),
    "ttir.moe_expert_token_remap": (
        "topk_tensor, expert_mapping, expert_metadata, reduction_size=32, mapping_shape=None, mapping_type=None, "
        "reduced_shape=None, reduced_type=None"
    ),
    "ttir.moe_gpt": (
        "input_tensor, expert_indices, expert_scores, expert_mapping, w0_w1_tensor, w2_tensor, "
        "output_height_shard_dim=4, output_width_shard_dim=3, hidden_size=2880, cluster_axis=None, "
        "token_counts_shape=None, token_counts_type=None, activation_records_shape=None, "
        "activation_records_type=None, token_indices_shape=None, token_indices_type=None, tilize_out_shape=None, "
        "tilize_out_type=None, tilize_out_rm_shape=None, tilize_out_rm_type=None"
    ),
    "ttir.ones": "shape, dtype",
    "ttir.pad": "in0, padding, value=0.0",
    "ttir.paged_fill_cache": "cache, input, page_table, batch_idx_tensor=None",
    "ttir.paged_flash_multi_latent_attention_decode": (
        "query, key, value, head_dim_v, page_table, is_causal=True, attention_mask=None, cur_pos_tensor=None, "
        "attention_sink=None, scale=None"
    ),
    "ttir.paged_scaled_dot_product_attention_decode": (
        "query, key, value, page_table, output, is_causal=True, attention_mask=None, cur_pos_tensor=None, "
        "attention_sink=None, scale=None, sliding_window_size=None"
    ),
    "ttir.paged_update_cache": "cache, input, update_index, share_cache=False, page_table=None",
    "ttir.prod": "in0, dim_arg=None, keep_dim=False",
    "ttir.rand": "size, dtype, low=0.0, high=1.0, seed=0",
    "ttir.reduce_and": "in0, keep_dim=True, dim_arg=None",
    "ttir.reduce_or": "in0, dim_arg=None, keep_dim=True",
    "ttir.reduce_scatter": "input, reduce_type, scatter_dim, cluster_axis",
    "ttir.rms_norm": "in0, normalized_shape, weight=None, bias=None, epsilon=1e-05",
    "ttir.scaled_dot_product_attention": (
        "query, key, value, attention_mask=None, is_causal=True, scale=None, sliding_window_size=None, "
        "attention_sink=None"
    ),
    "ttir.scaled_dot_product_attention_decode": (
        "query, key, value, cur_pos_tensor=None, attention_mask=None, is_causal=True, scale=None"
    ),
    "ttir.scatter": "in0, index, source, dim, scatter_reduce_type='invalid'",
    "ttir.sdpa_bw": (
        "grad_output, attn_output, query, key, value, intermediates, attention_mask=None, mask_type='arbitrary', "
        "dropout_probability=0.0"
    ),
    "ttir.sdpa_fw": (
        "query, key, value, attention_mask=None, mask_type='causal', dropout_probability=0.0, "
        "return_intermediates=False"
    ),
    "ttir.selu": "in0, scale=1.0507009873390196, alpha=1.6732635498046875",
    "ttir.slice_dynamic": "in0, begins, ends, step=None, output_shape=None",
    "ttir.slice_static": "in0, begins, ends, step=None",
    "ttir.sort": "in0, dim=-1, descending=False, stable=False",
    "ttir.softmax": "in0, dimension=1, numeric_stable: numericStable = False",
    "ttir.sparse_matmul": "a, b, sparsity, is_input_a_sparse=False, is_input_b_sparse=True, nnz=0",
    "ttir.split_query_key_value_and_split_heads": (
        "input_tensor, num_heads, transpose_key=False, kv_input_tensor=None, num_kv_heads=None"
    ),
    "ttir.squeeze": "in0, dim=0",
    "ttir.sum": "in0, dim_arg=None, keep_dim=True",
    "ttir.to_layout": "in0, output=None",
    "ttir.topk": "in0, k, dim=-1, largest=True, sorted=True",
    "ttir.sampling": "input_values, input_indices, k, p, temp, seed=None",
    "ttir.topk_router_gpt": "in0, in1, in2, k, num_experts=128",
    "ttir.transpose": "in0, dim0=0, dim1=1",
    "ttir.upsample2d": "in0, scale_factor, mode='nearest'",
    "ttir.unsqueeze": "in0, dim=0",
    "ttir.update_cache": "in0, in1, in2, batch_offset=0",
    "ttir.zeros": "shape, dtype",
    "ttnn.all_gather": "input, all_gather_dim, cluster_axis",
    "ttnn.clamp_scalar": "in0, min_arg: min, max_arg: max",
    "ttnn.clamp_tensor": "in0, min_tensor: min, max_tensor: max",
    "ttnn.concat": "ins: inputs, dim",
    "ttnn.constant": "value, device=None, layout=None, buffer_type=None",
    "ttnn.deallocate": "input, force=False",
    "ttnn.embedding": "in0, in1",
    "ttnn.embedding_bw": "input, weight, in_gradient",
    "ttnn.from_device": "input",
    "ttnn.full": "shape, fill_value, device=None, layout=None, buffer_type=None",
    "ttnn.linear": "in0, in1, bias=None, transpose_a=False, transpose_b=False",
    "ttnn.matmul": "in0, in1, transpose_a=False, transpose_b=False",
    "ttnn.layer_norm_post_all_gather": "input, stats, weight=None, bias=None, epsilon=1e-12",
    "ttnn.layer_norm_pre_all_gather": "input, residual_input=None, recip=None",
    "ttnn.max": "in0, dim_arg=None, keep_dim=True",
    "ttnn.mean": "in0, dim_arg=None, keep_dim=True",
    "ttnn.min": "in0, dim_arg=None, keep_dim=True",
    "ttnn.moe_expert_token_remap": (
        "topk_tensor, expert_mapping, expert_metadata, reduction_size=32, mapping_shape=None, mapping_type=None, "
        "reduced_shape=None, reduced_type=None"
    ),
    "ttnn.prod": "in0, dim_arg=None, keep_dim=False",
    "ttnn.reduce_scatter": "input, reduce_type, scatter_dim, cluster_axis",
    "ttnn.rms_norm": "input_tensor: input, weight=None, bias=None, epsilon=1e-05",
    "ttnn.rms_norm_pre_all_gather": "input, residual=None",
    "ttnn.slice_static": "in0, begins, ends, step=None",
    "ttnn.softmax": "in0, dimension=1, numeric_stable: numericStable = False",
    "ttnn.sum": "in0, dim_arg=None, keep_dim=True",
    "ttnn.to_device": "input, device",
    "ttnn.to_layout": "input, layout=None",
    "ttnn.to_tensor_spec": (
        "input, layout=None, buffer_type=None, tensor_memory_layout=None, grid_shape=None, core_range_set=None"
    ),
    "ttnn.transpose": "in0, dim0=0, dim1=1",
    "stablehlo.all_gather": "input: operands, all_gather_dim, replica_groups",
    "stablehlo.all_to_all": (
        "input: operands, split_dim: split_dimension, concat_dim: concat_dimension, split_count, replica_groups"
    ),
    "stablehlo.batch_norm_grad": "operand, scale, mean, variance, grad_output, epsilon, feature_index",
    "stablehlo.batch_norm_inference": "operand, scale, offset, mean, variance, epsilon, feature_index",
    "stablehlo.batch_norm_training": "operand, scale, offset, epsilon, feature_index",
    "stablehlo.broadcast_in_dim": "in0, broadcast_dimensions, output_shape",
    "stablehlo.clamp": "min, operand, max",
    "stablehlo.collective_broadcast": "input: operands, replica_groups",
    "stablehlo.collective_permute": "input: operand, source_target_pairs",
    "stablehlo.concatenate": "inputs, dim: dimension",
    "stablehlo.dynamic_iota": "output, output_shape, iota_dimension",
    "stablehlo.dynamic_slice": "operand, start_indices, slice_sizes",
    "stablehlo.dynamic_update_slice": "input: operand, update, start_indices",
    "stablehlo.get_dimension_size": "in0, dimension=0",
    "stablehlo.iota": "output, iota_dimension",
    "stablehlo.reshape": "in0, shape",
    "stablehlo.slice": "in0, start_indices, limit_indices, strides=None",
}
