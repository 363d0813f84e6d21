# SPDX-License-Identifier: Apache-2.0
"""Ops of the dialects that the toolchain reads and checks but does not run yet, and columns that an op cannot have.

Each entry is tested: an op of GAPS must be refused by an error that names it; an entry whose op works by now, or is no
more, fails a test.
"""

from __future__ import annotations


def reason(text: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), text)


CONTRADICTED = "records of tokens, of which public descriptions contradict each other (docs/differences.md)"

# No TTNN op, or no decomposition into TTNN ops, is known to the lowering.
NO_LOWERING: dict[str, str] = {
    "stablehlo.collective_reduce": "no program has it: its result is on one device of a group",
    **reason(
        "programs exchange nothing with others while they run",
        """stablehlo.async_done stablehlo.async_start stablehlo.infeed stablehlo.outfeed stablehlo.recv
        stablehlo.send""",
    ),
    **reason("a size that is only known when the program runs", "stablehlo.set_dimension_size"),
    **reason("kernel source, which is not simulated", "ttir.tt_lang_op"),
    **reason(CONTRADICTED, "ttir.moe_gpt ttir.selective_reduce_combine"),
    **reason("a buffer of another compiler back end", "ttir.ttnn_metal_layout_cast"),
    "ttir.alloc": "addresses are the runtime's",
    "ttir.dealloc": "the compiler adds deallocations after lowering",
    "stablehlo.return": "lowered with the op whose region it ends",
}

# The simulated library has no such op.
NO_KERNEL: dict[str, str] = {
    **reason(
        "the compiler writes what is recorded where it is executed; lit test Target/TTNN/traces.mlir",
        "ttnn.begin_trace_capture ttnn.end_trace_capture ttnn.execute_trace",
    ),
    **reason("kernel source, which is not simulated", "ttnn.tt_lang_op"),
    "ttnn.d2m_subgraph": "ttnn-through-d2m-pipeline and ttnn-collaspe-d2m replace it",
    **reason(CONTRADICTED, "ttnn.moe_gpt ttnn.selective_reduce_combine"),
    **reason(
        "semaphores are not simulated",
        "ttnn.create_global_semaphore ttnn.reset_global_semaphore ttnn.allocate_moe_compute_semaphore",
    ),
    "ttnn.alloc": "addresses are the runtime's",
    "ttnn.get_device": "a program is submitted to a device; the flatbuffer does not record it",
}

NO_GOLDEN: dict[str, str] = {
    **reason(
        "memory or a device, no value",
        """ttir.alloc ttir.dealloc ttnn.alloc ttnn.deallocate ttnn.get_device ttnn.copy ttnn.write_tensor""",
    ),
    "ttnn.dump_tensor": "a file, no value",
    **reason(
        "a number that stands for a recording", "ttnn.begin_trace_capture ttnn.end_trace_capture ttnn.execute_trace"
    ),
    "ttnn.capture_or_execute_trace": "that of the function that it records; golden.evaluation calls it",
    **reason("kernel source", "ttir.tt_lang_op ttnn.tt_lang_op ttnn.generic ttnn.d2m_subgraph"),
    **reason(CONTRADICTED, "ttir.moe_gpt ttir.selective_reduce_combine ttnn.moe_gpt ttnn.selective_reduce_combine"),
    **reason(
        "semaphores",
        "ttnn.create_global_semaphore ttnn.reset_global_semaphore ttnn.allocate_moe_compute_semaphore",
    ),
    "stablehlo.return": "ends a region",
    **reason(
        "regions, calls, tokens and tuples, which no one tensor stands for",
        """stablehlo.after_all stablehlo.async_done stablehlo.async_start stablehlo.case stablehlo.composite
        stablehlo.create_token stablehlo.custom_call stablehlo.get_tuple_element stablehlo.if stablehlo.infeed
        stablehlo.outfeed stablehlo.recv stablehlo.send stablehlo.tuple stablehlo.while""",
    ),
    **reason(
        "a device of several, or a size that is computed",
        "stablehlo.collective_reduce stablehlo.partition_id stablehlo.replica_id stablehlo.set_dimension_size",
    ),
    "stablehlo.rng": "its numbers are for the implementation to choose; test_random.py looks at their distribution",
}

NO_INFERENCE: dict[str, str] = {
    **reason("the result's type is all that it says", "ttir.empty ttir.alloc"),
    **reason(CONTRADICTED, "ttir.moe_gpt ttir.selective_reduce_combine"),
    "ttir.ttnn_metal_layout_cast": "the result's type is all that it says",
}

# The host has no code for these rows of the table; it computes all others.
NO_HOST: dict[str, str] = {
    **reason(
        "values of several chips",
        """ttir.all_gather ttir.all_reduce ttir.all_reduce_async ttir.all_to_all ttir.all_to_all_combine
        ttir.all_to_all_dispatch ttir.all_to_all_dispatch_metadata ttir.collective_broadcast ttir.collective_permute
        ttir.distributed_layer_norm ttir.distributed_rms_norm ttir.mesh_partition ttir.mesh_shard ttir.moe_compute
        ttir.moe_expert_token_remap ttir.reduce_scatter""",
    ),
    **reason("draws the random numbers of the chip", "ttir.sampling"),
    **reason(
        "writes to a cache of the chip in place",
        "ttir.fill_cache ttir.paged_fill_cache ttir.paged_update_cache ttir.update_cache",
    ),
}

# Op of the table -> what the error names when it is run.
GAPS: dict[str, str] = {name: name for name in NO_LOWERING}
