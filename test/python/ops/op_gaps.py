# SPDX-License-Identifier: Apache-2.0
"""Ops of the dialects that the toolchain reads and checks but does not run yet, and columns that an op cannot have.

Each entry is tested: an op of GAPS must be refused by an error that names it; an entry whose op works by now, or is no
more, fails a test.
"""

from __future__ import annotations


def reason(text: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), text)


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
    **reason(
        "packed weights and records of tokens, whose layouts are published nowhere",
        "ttir.moe_compute ttir.moe_gpt ttir.selective_reduce_combine",
    ),
    **reason("a buffer of another compiler back end", "ttir.ttnn_metal_layout_cast"),
    "ttir.alloc": "addresses are the runtime's",
    "ttir.dealloc": "the compiler adds deallocations after lowering",
    "stablehlo.return": "lowered with the op whose region it ends",
}

# The simulated library has no such op.
NO_KERNEL: dict[str, str] = {
    **reason(
        "part of a trace, which the runtime records by itself",
        "ttnn.begin_trace_capture ttnn.end_trace_capture ttnn.execute_trace",
    ),
    **reason("kernel source, which is not simulated", "ttnn.generic ttnn.d2m_subgraph ttnn.tt_lang_op"),
    **reason(
        "packed weights and records of tokens, whose layouts are published nowhere",
        """ttnn.moe_compute ttnn.moe_gpt ttnn.selective_reduce_combine ttnn.prepare_moe_compute_w0_w1_weights
        ttnn.prepare_moe_compute_w2_weights ttnn.allocate_moe_compute_semaphore""",
    ),
    **reason("semaphores are not simulated", "ttnn.create_global_semaphore ttnn.reset_global_semaphore"),
    **reason("addresses are the runtime's", "ttnn.alloc ttnn.write_tensor"),
    "ttnn.get_device": "a program is submitted to a device; the flatbuffer does not record it",
}

NO_GOLDEN: dict[str, str] = {
    **reason(
        "memory or a device, no value",
        """ttir.alloc ttir.dealloc ttnn.alloc ttnn.deallocate ttnn.get_device ttnn.copy ttnn.write_tensor""",
    ),
    **reason("files", "ttnn.dump_tensor ttnn.load_tensor"),
    **reason(
        "traces",
        "ttnn.begin_trace_capture ttnn.capture_or_execute_trace ttnn.end_trace_capture ttnn.execute_trace",
    ),
    **reason("kernel source", "ttir.tt_lang_op ttnn.tt_lang_op ttnn.generic ttnn.d2m_subgraph"),
    **reason(
        "layouts that are published nowhere",
        """ttir.moe_compute ttir.moe_gpt ttir.selective_reduce_combine ttnn.moe_compute ttnn.moe_gpt
        ttnn.selective_reduce_combine ttnn.prepare_moe_compute_w0_w1_weights ttnn.prepare_moe_compute_w2_weights
        ttnn.allocate_moe_compute_semaphore""",
    ),
    **reason("semaphores", "ttnn.create_global_semaphore ttnn.reset_global_semaphore"),
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
    **reason(
        "no result", "ttir.dealloc ttir.fill_cache ttir.update_cache ttir.paged_fill_cache ttir.paged_update_cache"
    ),
    **reason("the result's type is its operand that it writes to", "ttir.to_layout ttir.tt_lang_op"),
    **reason("layouts that are published nowhere", "ttir.moe_compute ttir.moe_gpt ttir.selective_reduce_combine"),
    "ttir.ttnn_metal_layout_cast": "the result's type is all that it says",
}

# Op of the table -> what the error names when it is run.
GAPS: dict[str, str] = {name: name for name in NO_LOWERING}
