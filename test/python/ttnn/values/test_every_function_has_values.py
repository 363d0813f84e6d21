# SPDX-License-Identifier: Apache-2.0
"""Every function of ttnn that computes is compared with PyTorch: by a row of a table, by a test of its own, or it says
why not."""

from __future__ import annotations

import re
from pathlib import Path

import test_mesh_values
import test_value_rows
import test_values_by_type
from composite_cases import CASES
from ttnn.composites import COMPOSITES, GOLDENS
from ttnn.functions import FUNCTIONS

TESTS = Path(__file__).parents[2]
# By test file: the functions that it alone compares.
OWN_TESTS = {
    "ttnn/test_functions.py": "empty",
    "ttnn/test_meshes.py": "aggregate_tensor distribute_tensor",
    "ttnn/test_tensors.py": "to_layout to_memory_config from_device load_tensor dump_tensor",
    "ttnn/transformer/test_chosen_keys.py": "transformer.chunked_flash_mla_prefill transformer.sparse_sdpa "
    "transformer.sparse_sdpa_msa",
    "ttnn/transformer/test_delta_rule.py": "transformer.chunk_gated_delta_rule "
    "transformer.fused_recurrent_gated_delta_rule transformer.gated_delta_attn_seq",
    "ttnn/transformer/test_experimental_functions.py": "experimental.all_gather_async_reversed "
    "experimental.all_gather_matmul_async experimental.all_to_all_async experimental.attn_matmul_from_cache "
    "experimental.deepseek_grouped_gate experimental.fft experimental.ifft experimental.indexed_fused_update_cache "
    "experimental.llama_all_gather_matmul_async experimental.llama_reduce_scatter "
    "experimental.matmul_reduce_scatter_async experimental.nlp_create_q_heads_split experimental.prefix_scan "
    "experimental.reduce_scatter_minimal_direct experimental.ring_attention_all_gather_async "
    "experimental.rotary_embedding_llama_fused_qk experimental.slice_reshard_async "
    "experimental.strided_all_gather_async experimental.topk_large_indices",
    "ttnn/transformer/test_mesh_functions.py": "all_broadcast broadcast fused_rms_minimal moe_routing_remap nonzero "
    "reduce_to_root",
    "ttnn/transformer/test_ring_attention.py": "transformer.ring_distributed_scaled_dot_product_attention "
    "transformer.ring_joint_scaled_dot_product_attention transformer.ring_mla",
    "ttnn/values/test_image_functions.py": "prepare_grid_sample_grid rgb_to_yuv experimental.rgb_to_yuv",
    "ttnn/values/test_mesh_values.py": "distributed_layer_norm distributed_rms_norm moe_expert_token_remap "
    "point_to_point",
    "ttnn/values/test_random_values.py": "dropout rand sampling",
    "ttnn/values/test_ttnn_whole_tensors.py": "angle conj imag is_imag is_real polar real bernoulli complex_tensor "
    "experimental.dropout manual_seed pearson_correlation_coefficient randn uniform "
    "transformer.joint_scaled_dot_product_attention transformer.flash_multi_latent_attention_decode "
    "experimental.paged_fused_update_cache experimental.slice_write experimental.split_query_key_value_and_split_heads "
    "kv_cache.fill_cache_for_user_ kv_cache.update_cache_for_token_",
}
REASONS = {
    "ttnn/transformer/test_ring_attention.py makes its name of parts": "transformer."
    "exp_ring_joint_scaled_dot_product_attention",
    "values are copied from or to a file or a host tensor: tests of the op compare bytes": "assign to_dtype "
    "to_device deallocate copy_host_to_device_tensor to_tensor_spec",
    "models/test_experts.py compares experts on chips with their definition": "all_to_all_combine "
    "all_to_all_dispatch all_to_all_dispatch_metadata experimental.moe_compute prepare_moe_compute_w0_w1_weights "
    "prepare_moe_compute_w2_weights",
}


def compared() -> set[str]:
    """Returns the functions with rows."""
    tables = {name for module in test_value_rows.TABLES for name in module.TABLE}
    meshes = {name.partition("-")[0] for name in test_mesh_values.ROWS}
    goldens = {name for name, golden in GOLDENS.items() if golden}
    return {*tables, *meshes, *goldens, *CASES, *test_values_by_type.UNARY, *test_values_by_type.BINARY}


def own() -> set[str]:
    return {name for names in OWN_TESTS.values() for name in names.split()}


def excused() -> set[str]:
    return {name for names in REASONS.values() for name in names.split()}


def made_of(name: str, known: set[str]) -> bool:
    """Tells whether it is another name, a gradient or the asynchronous form of a function that is compared."""
    short = name.removeprefix("experimental.").removesuffix("_async").removesuffix("_bw")
    function = FUNCTIONS.get(name) or COMPOSITES.get(name)
    return short in known or any((FUNCTIONS.get(each) or COMPOSITES.get(each)) is function for each in known)


def test_every_function_has_rows_or_a_test() -> None:
    known = compared() | own() | excused()
    functions = {*FUNCTIONS, *COMPOSITES}
    missing = [name for name in sorted(functions - known) if not name.startswith("debug.") and not made_of(name, known)]
    assert not missing, f"without rows of values: {missing}; add rows to test/python/ttnn/values, or a reason here"
    assert not excused() & (compared() | own()), "an excuse of a function that is compared"


def test_tests_named_here_compare_these_functions() -> None:
    for path, names in OWN_TESTS.items():
        text = (TESTS / path).read_text()
        for name in names.split():
            assert re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", text), f"{path} does not name {name}"
