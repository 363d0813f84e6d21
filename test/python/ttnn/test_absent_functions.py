# SPDX-License-Identifier: Apache-2.0
"""Functions of the library that are absent here: docs/differences.md lists them, with a reason for each.

`python test/python/ttnn/test_absent_functions.py` writes the list.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ttnn

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "differences.md"
TITLE = "## Functions of ttnn that are absent"
OPEN = "not built yet"
# By reason: expressions that whole names match, with their namespace. The first reason that matches is taken.
REASONS: dict[str, tuple[str, ...]] = {
    "launches of several processes (MPI) are not simulated": (
        r"ttnn\.distributed_context_\w+", r"ttnn\.init_distributed_context", r"ttnn\.using_distributed_env",
    ),
    "routes of the fabric's own kernels are not simulated": (
        r"ttnn\.\w*fabric\w*", r"ttnn\.get_(eth_forwarding_direction|forwarding_link_indices|num_links)",
        r"ttnn\.setup_routing_plane_connection", r"ttnn\.get_usable_topology",
    ),
    "programs of kernels are compiled when `generic_op` runs them": (
        r"ttnn(\.experimental)?\.(prepare_generic_op|attach_absent_mcast)",
    ),
    "the instrumentation is that of the library's own build": (
        r"ttnn\.\w*tracy\w*", r"ttnn\.ReadDeviceProfiler", r"ttnn\.get_\w+_programs_perf_data",
        r"ttnn\.light_metal_\w+", r"ttnn\.dump_stack_trace_on_segfault", r"ttnn\.test_hang_device_operation",
        r"ttnn\.composite_example\w*", r"ttnn\.apply_device_delay", r"ttnn\.\w+_asynchronous_slow_dispatch",
    ),
    "prefetching into other cores is not simulated": (
        r"ttnn(\.experimental)?\.\w*prefetch\w*", r"ttnn(\.experimental)?\.create_global_circular_buffer\w*",
    ),
    "sockets between programs are not simulated": (
        r"ttnn(\.experimental)?\.(send|recv)_\w+", r"ttnn\.create_socket_pair",
    ),
    "a fused kernel of one model, without a published definition": (
        r"ttnn\.experimental\.\w*(deepseek|moe|dit_|wan_|llama|msda|deformable|indexer|halo|neighbor|hc_sum|prefix_scan"
        r"|repeat_and_interleave|twiddles|fft|w0_w1|w2_tensor|weight_core|weight_mem|shared_expert)\w*",
    ),
    "the library builds its functions at import by it; here they are rows of a table": (
        r"ttnn\.(auto_register_ttnn_cpp_operations|register_cpp_operation|create_module_if_not_exists)",
        r"ttnn\.(matmul_select_program_factory|create_matmul_attributes)",
    ),
    "the profiler writes databases": (r"ttnn\.graph\.(flush_comparison_records_to_db|import_report)",),
}  # fmt: skip


# Functions of which library_signatures.jsonl has no call.
OTHERS = {
    "ttnn": """
        divide divide_ multiply multiply_ set_printoptions subtract subtract_
    """,
    "ttnn.experimental": """
        rgb_to_yuv yuv_bt601_coefficients yuv_bt709_coefficients
    """,
    "ttnn.distributed": """
        ConcatMesh2dToTensor ConcatMeshToTensor ReplicateTensorToMesh ShardTensor2dMesh ShardTensorToMesh
        close_mesh_device create_mesh_device create_system_mesh_table distribute get_device_ids
        get_num_devices get_num_pcie_devices get_pcie_device_ids open_mesh_device visualize_mesh_device
        visualize_system_mesh visualize_tensor
    """,
    "ttnn.graph": """
        append_python_io_record begin_graph_capture count_intermediate_and_output_tensors
        disable_detailed_buffer_tracing disable_python_io_recording disable_python_stack_traces
        enable_detailed_buffer_tracing enable_python_io_recording enable_python_stack_traces
        end_graph_capture end_graph_capture_to_file extract_calltrace extract_levelized_graph
        extract_operation_durations extract_output_info extract_output_tensors extract_peak_L1_memory_usage
        extract_resource_usage_per_core extract_total_duration_from_graph flush_comparison_records_to_db
        full_graph_capture has_comparison_records import_report is_detailed_buffer_tracing_enabled
        is_graph_capture_active is_python_io_recording_enabled is_python_stack_trace_enabled pretty_format
        pretty_print record_python_operation record_python_operation_error record_tensor_comparison_data
        reset_comparison_records_data store_captured_graph store_output_tensor_ids track_function_end
        track_function_start visualize visualize_edge visualize_node
    """,
    "ttnn.kv_cache": """
        fill_cache_for_user_ update_cache_for_token_
    """,
}


def library() -> list[str]:
    """Returns the names of the library's functions, with their namespace; those of a namespace together."""
    lines = (Path(__file__).parent / "library_signatures.jsonl").read_text().splitlines()
    names = {json.loads(line)[0] for line in lines}
    names |= {f"{namespace}.{name}" for namespace, text in OTHERS.items() for name in text.split()}
    return sorted(names, key=lambda name: (name.rpartition(".")[0], name))


def present(name: str) -> bool:
    value: Any = ttnn
    for part in name.split(".")[1:]:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def reason(name: str) -> str:
    return next((why for why, rows in REASONS.items() if any(re.fullmatch(row, name) for row in rows)), OPEN)


def section() -> str:
    """Returns the section of the page."""
    names = library()
    absent = [name for name in names if not present(name)]
    by_reason: dict[str, list[str]] = {}
    for name in absent:
        by_reason.setdefault(reason(name), []).append(name.removeprefix("ttnn."))
    lines = [TITLE, "", "| namespace | functions of ttnn 0.81.1 | here |", "| --- | ---: | ---: |"]
    for namespace in dict.fromkeys(name.rpartition(".")[0] for name in names):
        own = [name for name in names if name.rpartition(".")[0] == namespace]
        lines.append(f"| `{namespace}` | {len(own)} | {sum(map(present, own))} |")
    lines += ["", "The others, by the reason why they are absent:", ""]
    lines += [f"- {why}: {', '.join(f'`{name}`' for name in by_reason[why])}." for why in sorted(by_reason)]
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Returns the page with the section as it is now, at its end or in its place."""
    before, _, after = page.partition(TITLE)
    rest = after.partition("\n## ")
    return before.rstrip("\n") + "\n\n" + section() + ("\n## " + rest[2] if rest[1] else "")


def test_the_list_of_absent_functions_is_right() -> None:
    assert rewritten(PAGE.read_text()) == PAGE.read_text()


def test_every_reason_is_of_a_function() -> None:
    names = library()
    unused = [row for rows in REASONS.values() for row in rows if not any(re.fullmatch(row, n) for n in names)]
    assert unused == []


def test_most_functions_are_there() -> None:
    own = [name for name in library() if name.count(".") == 1]
    assert sum(map(present, own)) >= 0.95 * len(own)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
