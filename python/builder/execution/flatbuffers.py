# SPDX-License-Identifier: Apache-2.0
"""Run compiled programs on the simulated device and compare their results with the goldens."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from golden import GoldenMapTensor
from golden.optional import torch
from ttmlir.files import write_whole

from builder.base.builder_utils import get_sanitized_filename
from builder.base.errors import TTBuilderCompileException, TTBuilderGoldenException, TTBuilderRuntimeException
from builder.goldens.module_goldens import IntermediateGoldens, ProgramGoldens

from .argument_checks import check_device, check_goldens, checked_arguments
from .debugging import Breakpoint, BreakpointCallback, Debugger, set_breakpoint_callback
from .device_tensors import (
    convert_input_layouts,
    create_tensor,
    fetched,
    json_string_as_dict,
    load_binary,
    opened,
    program_inputs_as_dict,
    program_outputs_as_dict,
    runtime,
    runtime_dtype_to_torch_dtype,
    runtime_str_dtype_to_torch_dtype,
    torch_dtype_to_runtime_dtype,
)
from .emitted_programs import execute_cpp, execute_py
from .memory_log import MemoryLog
from .op_watcher import OpWatcher, hooks
from .open_programs import for_run
from .program_outputs import (
    goldens_of,
    numbered,
    output_records,
    raise_failures,
    raise_uncompared,
    save_goldens,
    save_torch_tensor,
)
from .report import GoldenReport, ProgramReport, Record
from .verdicts import Verdict, check_outputs, compare_shards, dtype_name, shards_of


@checked_arguments
def execute_fb(
    compiled_bin: Any,
    input_output_goldens: Mapping[int, Mapping[str, Any]] | None = None,
    intermediate_goldens: Mapping[str, Any] | None = None,
    pcc: float = 0.99,
    atol: float | None = None,
    rtol: float | None = None,
    disable_golden: bool = False,
    device: Any = None,
    check_pcc: bool = True,
    check_atol: bool = False,
    check_rtol: bool = False,
    enable_intermediate_verification: bool = False,
    bypass_ops: Sequence[str] | frozenset[str] | None = None,
    save_artifacts: bool = False,
    artifact_dir: str | os.PathLike[str] = ".",
    dump_memory: bool = False,
    breakpoint_callback: BreakpointCallback | None = None,
    exact: bool = False,
    max_loop_iterations: int | None = None,
    inputs: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    at: Mapping[str, int] | None = None,
) -> GoldenReport:
    """Runs every public program of a binary and compare its outputs with their goldens.

    Args:
        compiled_bin: binary, its bytes, or the path of its file.
        input_output_goldens: by program index, {"input_0": ..., "output_0": ...}; tensors, tensors by device, or
            GoldenMapTensors. Without it inputs are zeros and nothing is compared.
        intermediate_goldens: what compiling returned; values of ops by source number.
        pcc, atol, rtol, check_*: what decides. Tolerances default to those of the golden's dtype. Another shape, dtype,
            or NaN and Inf at other places always fail.
        disable_golden: run, and compute no golden but the inputs.
        device: an open mesh device; one is opened and closed when there is none.
        enable_intermediate_verification: compare every op's value, too.
        bypass_ops: numbers of ops whose values are replaced by their goldens, besides those of `builder.bypass`.
        save_artifacts, artifact_dir: write values and goldens as .pt files, the report as JSON.
        dump_memory: write memory.json to artifact_dir: bytes in use after each op of each program, what it allocated,
            and what was freed.
        breakpoint_callback: called with a `Breakpoint` at each of `builder.breakpoint`; without one, and without one
            of `set_breakpoint_callback`, a prompt opens on a terminal, and elsewhere the log gets a line. What it
            raises ends the run.
        exact: compute with the chip's arithmetic, bit for bit where it is published (docs/numerics.md); slow. A
            `device` that is given must have been opened so.
        max_loop_iterations: the limit of iterations of all loops of a program; exceeding it is an error.
        inputs: of the function, or by function, of any sizes that the program leaves open; goldens are computed for
            them. Without goldens, nothing is compared.
        at: sizes by name, to run with random inputs. Sizes that the program does not take have a program of their own.
    Returns:
        The report; `print(report)` shows it as a table.
    Raises:
        TTBuilderGoldenException: values differ; names op, location, PCC and the largest errors.
        TTBuilderRuntimeException: the device refused the run, or values of ops are requested of a TTMetal program.
        TypeError, ValueError: an argument is of another kind; names it.
    """
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    check_device("execute_fb", device)
    check_goldens("execute_fb", input_output_goldens)
    executable = load_binary(compiled_bin)
    known = for_run(executable, input_output_goldens, intermediate_goldens, inputs, at)
    executable, input_output_goldens, intermediate_goldens = known
    compares = input_output_goldens is not None and not (inputs is not None and intermediate_goldens is None)
    folder = Path(artifact_dir)
    report = GoldenReport(pcc=pcc)
    intermediates = intermediate_goldens if isinstance(intermediate_goldens, IntermediateGoldens) else None
    bypass = frozenset(bypass_ops or ()) | (intermediates.bypassed if intermediates is not None else frozenset())
    verify = enable_intermediate_verification and not disable_golden
    memory: list[dict[str, Any]] = []
    check_observable(executable, enable_intermediate_verification=verify, bypass=bool(bypass), dump_memory=dump_memory)
    if exact and executable.file_identifier == "TTM0":
        raise TTBuilderRuntimeException("exact: the kernels of a TTMetal program have no exact arithmetic")
    check_sources(executable, bypass, intermediates)
    with opened(device, executable, exact) as used:
        programs = [i for i in range(executable.get_num_programs()) if not executable.is_program_private(i)]
        for place, index in enumerate(programs):
            watcher = None
            name = executable.get_program_name(index)
            sources = None if disable_golden else intermediates
            debugger = Debugger.of(executable, index, used, sources, breakpoint_callback)
            if verify or bypass or dump_memory or debugger is not None:
                watcher = OpWatcher(intermediates, verify, bypass, MemoryLog(used) if dump_memory else None, debugger)
            goldens = goldens_of(input_output_goldens, place, name)
            program = run_program(
                executable, index, goldens, used, watcher, verdict, disable_golden, max_loop_iterations
            )
            report.programs.append(program)
            if save_artifacts:
                save_program(folder / get_sanitized_filename(program.name), goldens, watcher)
            if watcher is not None and watcher.memory is not None:
                memory += [{"program": name, **entry} for entry in watcher.memory.operations]
    if dump_memory:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "memory.json", json.dumps(memory, indent=1))
    if save_artifacts:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "golden_report.json", report.to_json())
    raise_failures(report)
    if compares and not disable_golden:
        raise_uncompared(report)
    return report


def check_observable(executable: Any, **request: bool) -> None:
    """Checks that values of ops can be looked at, where a program has ops: those of TTMetal are commands and
    kernels."""
    refused = [name for name, requested in request.items() if requested]
    if refused and executable.file_identifier == "TTM0":
        raise TTBuilderRuntimeException(
            f"{', '.join(refused)}: the kernels of a TTMetal program have no values of ops to look at; its outputs are "
            'compared with their goldens. target="ttnn" has the value of every op'
        )


def check_sources(executable: Any, bypass: Iterable[str], goldens: Mapping[str, Any] | None) -> None:
    """Checks that a value can be replaced: an op still computes it."""
    if not bypass:
        return
    there: set[str] = set()
    for index in range(executable.get_num_programs()):
        runtime.walk_program(executable, index, lambda op: there.add(runtime.get_op_source(op)))
    for source in sorted(set(bypass) - there):
        golden = goldens.get(source) if goldens is not None else None
        what = f"{golden.op} at {golden.location}" if golden is not None else f"op {source}"
        raise TTBuilderRuntimeException(
            f"bypass: no op of the binary computes the value of {what}; the compiler made it a part of another op. "
            "Values that builder.bypass names are kept"
        )


def program_inputs(executable: Any, index: int, goldens: Mapping[str, Any], mesh_shape: Sequence[int]) -> list[Any]:
    """Returns host tensors for the program; zeros if there are no goldens."""
    declared = program_inputs_as_dict(executable, index)
    if isinstance(goldens, ProgramGoldens):
        values = goldens.inputs
    elif goldens:
        values = [shards_of(goldens[n], mesh_shape) for n in numbered(goldens, "input_")]
    else:
        values = [GoldenMapTensor({0: torch.zeros(tuple(d["desc"]["shape"]))}) for d in declared]
    if len(values) != len(declared):
        name = executable.get_program_name(index)
        raise TTBuilderRuntimeException(f"program {name!r} takes {len(declared)} inputs, {len(values)} were given")
    tensors = []
    for number, value in enumerate(values):
        try:
            tensors.append(create_tensor(value.golden_map_tensor_as_torch_tensors(), value.mesh_shape))
        except TTBuilderRuntimeException as error:
            raise TTBuilderRuntimeException(f"input {number}: {error}") from None
    return tensors


def micro_batches(executable: Any, index: int) -> int:
    """Returns how many micro-batches go through the stages of a program; 1 without stages."""
    return json.loads(executable.as_json())["programs"][index].get("pipeline", {}).get("micro_batches", 1)


def run_program(
    executable: Any,
    index: int,
    goldens: Mapping[str, Any],
    device: Any,
    watcher: OpWatcher | None,
    verdict: Verdict,
    disable_golden: bool,
    max_loop_iterations: int | None = None,
) -> ProgramReport:
    name = executable.get_program_name(index)
    program = ProgramReport(name, index)
    if watcher is not None:
        watcher.micro_batches = micro_batches(executable, index)
    mesh_shape = tuple(executable.get_program_mesh_shape(index))
    try:
        inputs = program_inputs(executable, index, goldens, mesh_shape)
        placed = convert_input_layouts(device, inputs, fbb=executable, program_index=index)
        started = time.perf_counter()
        with hooks(watcher):
            outputs = runtime.submit(device, executable, index, placed, max_loop_iterations)
        found = [fetched(t) for t in outputs]
        program.seconds = time.perf_counter() - started
        for tensor in outputs:
            runtime.deallocate_tensor(tensor, force=True)
    except (RuntimeError, ValueError, TypeError) as error:
        raise TTBuilderRuntimeException(f"program {name!r}: {error}") from error
    if disable_golden or not goldens:
        return program
    if watcher is not None and watcher.goldens is not None:
        program.records += intermediate_records(watcher, verdict)
    program.records += output_records(name, goldens, found, mesh_shape, verdict)
    return program


def intermediate_records(watcher: OpWatcher, verdict: Verdict) -> list[Record]:
    records = []
    for source, results in watcher.values.items():
        golden = watcher.goldens.get(source) if watcher.goldens is not None else None
        if golden is None:
            continue
        for i, (expected, found) in enumerate(zip(golden.results, results, strict=False)):
            producer = watcher.goldens.producer(source, i) if watcher.goldens is not None else None
            for device, value, comparison in compare_shards(expected, found, verdict, False, producer):
                name = source if len(golden.results) == 1 else f"{source}#{i}"
                records.append(Record("intermediate", name, golden.op, golden.location, device, tuple(value.shape),
                                      dtype_name(value), comparison, verdict.accepts(comparison),
                                      source in watcher.bypass, watcher.seconds.get(source, 0.0)))  # fmt: skip
    return records


def save_program(folder: Path, goldens: Mapping[str, Any], watcher: OpWatcher | None) -> None:
    save_goldens(folder, goldens)
    for source, results in (watcher.values if watcher is not None else {}).items():
        for i, shards in enumerate(results):
            for device, shard in enumerate(shards):
                save_torch_tensor(shard, folder, f"op_{source}_{i}_{device}")


@checked_arguments
def convert_golden_intermediates_to_torch(goldens: Mapping[str, Any]) -> dict[str, dict[int, torch.Tensor]]:
    """Returns op number -> device -> tensor of the op's first result."""
    return {k: v.results[0].golden_map_tensor_as_torch_tensors() for k, v in goldens.items()}


@checked_arguments
def convert_golden_input_output_to_torch(
    goldens: Mapping[int, Mapping[str, Any]],
) -> dict[int, dict[str, dict[int, torch.Tensor]]]:
    """Returns program -> input or output -> device -> tensor."""
    return {
        index: {n: GoldenMapTensor.of(v).golden_map_tensor_as_torch_tensors() for n, v in program.items()}
        for index, program in goldens.items()
    }


__all__ = [
    "Breakpoint",
    "GoldenReport",
    "TTBuilderCompileException",
    "TTBuilderGoldenException",
    "TTBuilderRuntimeException",
    "check_outputs",
    "convert_golden_input_output_to_torch",
    "convert_golden_intermediates_to_torch",
    "convert_input_layouts",
    "create_tensor",
    "execute_cpp",
    "execute_fb",
    "execute_py",
    "get_sanitized_filename",
    "json_string_as_dict",
    "program_inputs_as_dict",
    "program_outputs_as_dict",
    "runtime_dtype_to_torch_dtype",
    "runtime_str_dtype_to_torch_dtype",
    "save_torch_tensor",
    "set_breakpoint_callback",
    "torch_dtype_to_runtime_dtype",
]
