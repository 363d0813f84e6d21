# SPDX-License-Identifier: Apache-2.0
"""Writes the table of ops that Tenstorrent's profiler writes (`ops_perf_results.csv`) and tt-perf-report reads.

Times on the chip are estimates of the cost model, times of the host are measured. Columns are those of ttnn 0.81 as far
as the simulation knows their values; names of ops are those of the library's device operations.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import _ttmlir_runtime as tt_runtime

from .records import OpRecord, ProgramInfo, Run, TensorRecord

TILE = 32
# The library's device operations, by family or by op. Other ops have their own, named after them.
FAMILIES = {"product": "Matmul", "reduction": "Reduce", "reshape": "ReshapeView", "convolution": "Conv2d"}
ELEMENTWISE = {1: "Unary", 2: "BinaryNg", 3: "Ternary"}  # by number of tensors
OPERATIONS = {
    "argmax": "ArgMax",
    "avg_pool2d": "Pool2D",
    "batch_norm": "BatchNormOperation",
    "cumsum": "Accumulation",
    "cumprod": "Accumulation",
    "embedding": "Embeddings",
    "global_avg_pool2d": "Reduce",
    "max_pool2d": "Pool2D",
    "max_pool2d_with_indices": "Pool2D",
    "nlp_concat_heads": "NLPConcatHeads",
    "nlp_concat_heads_decode": "NLPConcatHeadsDecode",
    "nlp_create_qkv_heads_decode": "NLPCreateQKVHeadsDecode",
    "paged_scaled_dot_product_attention_decode": "SdpaDecode",
    "paged_update_cache": "PagedUpdateCache",
    "repeat_interleave": "Repeat",
    "rms_norm": "LayerNorm",
    "rotary_embedding_llama": "RotaryEmbeddingLlama",
    "scaled_dot_product_attention": "SDPAOperation",
    "scaled_dot_product_attention_decode": "SdpaDecode",
    "slice_dynamic": "Slice",
    "slice_static": "Slice",
    "sort": "Sort",
    "topk": "TopK",
    "typecast": "Typecast",
    "upsample": "Upsample",
    "where": "Ternary",
}
LAYOUT_CHANGES = ("to_layout", "to_memory_config", "to_tensor_spec", "to_dtype")
# Names that end so have no suffix.
WHOLE = ("Pool2D", "Operation")
FIDELITY = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
DATA_TYPES = {
    "f32": "FLOAT32", "f16": "FLOAT16", "bf16": "BFLOAT16", "bfp_bf8": "BFLOAT8_B", "bfp_bf4": "BFLOAT4_B",
    "u32": "UINT32", "u16": "UINT16", "u8": "UINT8", "si32": "INT32",
}  # fmt: skip
LAYOUTS = {"tile": "TILE", "row_major": "ROW_MAJOR"}
DIMENSIONS = "WZYX"
FIRST_COLUMNS = (
    "OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "DEVICE ARCH", "ATTRIBUTES", "MATH FIDELITY", "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT", "PARALLELIZATION STRATEGY", "HOST START TS", "HOST END TS", "HOST DURATION [ns]",
    "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]", "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
)  # fmt: skip


def layout_change(before: TensorRecord, after: TensorRecord) -> str:
    """Returns the device operation that brings a tensor into another layout, type or place."""
    if before.layout != after.layout:
        return "Tilize" if after.layout == "tile" else "Untilize"
    if before.data_type != after.data_type:
        return "Typecast"
    sharded = bool(before.grid), bool(after.grid)
    names = {(True, True): "Reshard", (True, False): "ShardedToInterleaved", (False, True): "InterleavedToSharded"}
    return names.get(sharded, "Copy")


def device_operation(op: OpRecord) -> str:
    """Returns the name that the library's profiler gives an op: "MatmulDeviceOperation"."""
    name = op.name.removeprefix("ttnn.")
    code = OPERATIONS.get(name) or FAMILIES.get(op.family)
    if name in LAYOUT_CHANGES and op.inputs and op.outputs:
        code = layout_change(op.inputs[0], op.outputs[0])
    if code is None and op.family == "elementwise" and op.name != name:
        code = ELEMENTWISE.get(len(op.inputs))
    if code is None:
        code = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    return code if code.endswith(WHOLE) else f"{code}DeviceOperation"


def attribute_items(op: OpRecord) -> list[tuple[str, str]]:
    """Returns the attributes of an op as text: ("program_config", "{in0_block_w=4; ...}")."""

    def text(value: object) -> str:
        if isinstance(value, dict):
            return f"{{{'; '.join(f'{k}={text(v)}' for k, v in value.items())}}}"
        if isinstance(value, list):
            return f"[{' '.join(map(text, value))}]"
        return str(value).lower() if isinstance(value, bool) else str(value)

    given = json.loads(op.attributes)
    windows = [("sliding_window_config", sliding_window(given))] if op.family == "convolution" else []
    return windows + [
        ("program_config" if name.endswith("program_config") else name, text(value)) for name, value in given.items()
    ]


def sliding_window(given: dict[str, Any]) -> str:
    """Returns the window of a convolution in the library's form, where tt-perf-report looks for it."""
    names = {"window_hw": "kernel_size", "stride_hw": "stride", "pad_hw": "padding", "dilation_hw": "dilation"}
    found = [f"{name}=({';'.join(map(str, given[own]))})" for name, own in names.items() if own in given]
    return f"SlidingWindowConfig({'; '.join(found)}; groups={given.get('groups', 1)})"


def attributes_text(op: OpRecord) -> str:
    return "{" + "; ".join(f"'{name}': {value}" for name, value in attribute_items(op)) + "}"


def sizes(tensor: TensorRecord) -> list[str]:
    """Returns the last four dimensions, "padded[logical]" each; those before them are folded into the first."""
    logical = [1] * (4 - len(tensor.shape)) + list(tensor.shape)
    folded = 1
    for size in logical[:-3]:
        folded *= size
    logical = [folded, *logical[-3:]]
    tiled = tensor.layout == "tile"
    padded = [-(-size // TILE) * TILE if tiled and place >= 2 else size for place, size in enumerate(logical)]
    return [f"{most}[{size}]" for most, size in zip(padded, logical, strict=True)]


def data_type(tensor: TensorRecord) -> str:
    return DATA_TYPES.get(tensor.data_type, tensor.data_type.upper())


def layout(tensor: TensorRecord) -> str:
    return LAYOUTS.get(tensor.layout, tensor.layout.upper())


def as_read(op: OpRecord) -> list[TensorRecord]:
    """Returns the operands as the device operation has them. The library transposes those of a product before it, and
    makes a matrix of the weight of a convolution: a row for each value of a window, a column for each channel."""
    flags = json.loads(op.attributes) if op.family in ("product", "convolution") else {}
    if op.family == "convolution":
        return [weight_matrix(op, flags) if index == 1 else tensor for index, tensor in enumerate(op.inputs)]
    return [
        replace(tensor, shape=(*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2]))
        if flags.get(flag) and len(tensor.shape) > 1
        else tensor
        for tensor, flag in itertools.zip_longest(op.inputs, ("transpose_a", "transpose_b"))
        if tensor is not None
    ]


def weight_matrix(op: OpRecord, flags: dict[str, Any]) -> TensorRecord:
    """Returns the weight of a convolution as the chip reads it: a matrix of tiles in DRAM."""
    weight = op.inputs[1]
    channels = flags.get("out_channels", weight.shape[0])
    fields = (flags.get("conv2d_config") or {}).get("fields", {})
    kind = (fields.get("weights_dtype") or {}).get("symbol", op.outputs[0].data_type)
    return replace(
        weight, shape=(1, 1, math.prod(weight.shape) // max(1, channels), channels), data_type=kind, layout="tile",
        buffer_type="dram", memory_layout="interleaved",
    )  # fmt: skip


def tensor_columns(kind: str, index: int) -> list[str]:
    names = [f"{dimension}_PAD[LOGICAL]" for dimension in DIMENSIONS] + ["LAYOUT", "DATATYPE", "MEMORY"]
    return [f"{kind}_{index}_{name}" for name in names]


def tensor_cells(tensor: TensorRecord, chip: int) -> list[str]:
    memory = (
        "HOST"
        if tensor.buffer_type == "system_memory"
        else f"DEV_{chip}_{tensor.buffer_type}_{tensor.memory_layout}".upper()
    )
    return [
        *sizes(tensor),
        layout(tensor),
        data_type(tensor),
        memory,
    ]


def ops_perf_results(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> str:
    """Returns CSV with a line for each op of each run that takes time, on each chip of its mesh, in order of time."""
    used = [programs[run.program] for run in runs if not run.error]
    timed = [op for program in used for op in program.ops if op.device_ns]
    most_in = max((len(op.inputs) for op in timed), default=0)
    most_out = max((len(op.outputs) for op in timed), default=0)
    columns = list(FIRST_COLUMNS)
    for kind, most in (("INPUT", max(2, most_in)), ("OUTPUT", max(1, most_out))):
        for index in range(most):
            columns += tensor_columns(kind, index)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(programs, runs))
    return out.getvalue()


LOG_COLUMNS = (
    "PCIe slot", "core_x", "core_y", "RISC processor type", "timer_id", "time[cycles since reset]", "data",
    "run host ID", "trace id", "trace id counter", "zone name", "type", "source line", "source file", "meta data",
)  # fmt: skip


def device_log(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> str:
    """Returns the log of the chips' processors, as CSV behind a line that names the chip: of each op the time of its
    kernels, on one core. `run host ID` is the global call count."""
    arch = next((programs[run.program].arch for run in runs if not run.error), "wormhole_b0")
    figures = tt_runtime.runtime.chip_figures(arch)
    cores, clock = math.prod(figures["grid"]), figures["clock_ghz"]
    out = io.StringIO()
    out.write(f"ARCH: {arch}, CHIP_FREQ[MHz]: {round(clock * 1000)}, Max Compute Cores: {cores}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name if i == 0 else f" {name}" for i, name in enumerate(LOG_COLUMNS)])
    for row in rows(programs, runs):
        end = int(str(row["DEVICE FW END CYCLE"]))
        start = end - math.ceil(int(str(row["DEVICE KERNEL DURATION [ns]"])) * clock)
        for time, kind in ((start, "ZONE_START"), (end, "ZONE_END")):
            count = row["GLOBAL CALL COUNT"]
            zone = ("BRISC-KERNEL", kind, "", "", "")
            writer.writerow((row["DEVICE ID"], 1, 1, "BRISC", 0, time, 0, count, "", "", *zone))
    return out.getvalue()


def rows(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> Iterator[dict[str, object]]:
    count = 0
    free: dict[int, int] = {}  # the cycle at which a device is done, by device
    for run in runs:
        if run.error:
            continue
        program = programs[run.program]
        worker_cores = math.prod(tt_runtime.runtime.chip_figures(program.arch)["grid"])
        host = run.start_ns + run.prepare_ns
        for op, host_ns in zip(program.ops, run.host_ns, strict=True):
            begin = host
            host += host_ns
            if not op.device_ns:
                continue
            count += 1
            start = free.get(program.device, 0)
            free[program.device] = start + op.cycles
            kernel_ns = max(0.0, op.device_ns - op.launch_ns)
            for chip in range(program.chips):
                row: dict[str, object] = {
                    "OP CODE": device_operation(op),
                    "OP TYPE": "tt_dnn_device",
                    "GLOBAL CALL COUNT": count * 1024,
                    "DEVICE ID": chip,
                    "DEVICE ARCH": program.arch,
                    "ATTRIBUTES": attributes_text(op),
                    "MATH FIDELITY": FIDELITY[op.phases],
                    "CORE COUNT": op.cores,
                    "AVAILABLE WORKER CORE COUNT": worker_cores,
                    "HOST START TS": begin,
                    "HOST END TS": host,
                    "HOST DURATION [ns]": host_ns,
                    "DEVICE FW START CYCLE": start,
                    "DEVICE FW END CYCLE": start + op.cycles,
                    "OP TO OP LATENCY [ns]": round(op.launch_ns),
                    "DEVICE FW DURATION [ns]": round(kernel_ns),
                    "DEVICE KERNEL DURATION [ns]": round(kernel_ns),
                }
                for kind, tensors in (("INPUT", as_read(op)), ("OUTPUT", op.outputs)):
                    for index, tensor in enumerate(tensors):
                        row.update(zip(tensor_columns(kind, index), tensor_cells(tensor, chip), strict=True))
                yield row
