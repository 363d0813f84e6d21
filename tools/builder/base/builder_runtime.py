"""Run compiled programs on the simulated device and compare what they compute with the goldens."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt_runtime
import torch
from golden import Comparison, GoldenMapTensor, compare

from .builder_utils import get_sanitized_filename
from .debugging import Breakpoint, BreakpointCallback, Debugger, looks, set_breakpoint_callback
from .errors import TTBuilderCompileException, TTBuilderGoldenException, TTBuilderRuntimeException
from .goldens import IntermediateGoldens, ProgramGoldens, Programs
from .report import GoldenReport, ProgramReport, Record

runtime, binary = tt_runtime.runtime, tt_runtime.binary

# torch dtype -> name of the runtime's data type. The device has no 64-bit types: the compiler narrows them.
DATA_TYPES: dict[torch.dtype, str] = {
    torch.float32: "Float32",
    torch.float64: "Float32",
    torch.float16: "Float16",
    torch.bfloat16: "BFloat16",
    torch.int32: "Int32",
    torch.int64: "Int32",
    torch.uint32: "UInt32",
    torch.uint16: "UInt16",
    torch.uint8: "UInt8",
    torch.int8: "Int8",
    torch.int16: "Int16",
    torch.bool: "Bool",
}
TORCH_DTYPES: dict[str, torch.dtype] = {
    "Float32": torch.float32,
    "Float16": torch.float16,
    "BFloat16": torch.bfloat16,
    "BFP_BFloat8": torch.bfloat16,
    "BFP_BFloat4": torch.bfloat16,
    "BFP_BFloat2": torch.bfloat16,
    "Int32": torch.int32,
    "UInt32": torch.uint32,
    "UInt16": torch.uint16,
    "UInt8": torch.uint8,
    "Int8": torch.int8,
    "Int16": torch.int16,
    "Int64": torch.int64,
    "Float64": torch.float64,
    "Bool": torch.bool,
}

# dtype of a golden -> dtypes that the device may answer with; a bool travels as whatever holds 0 and 1.
ANSWERS: dict[torch.dtype, tuple[torch.dtype, ...]] = {
    torch.float64: (torch.float32,),
    torch.int64: (torch.int32,),
    torch.int16: (torch.int32,),
    torch.int8: (torch.int32, torch.uint8),
    torch.uint64: (torch.uint32,),
    torch.bool: (torch.bool, torch.uint8, torch.bfloat16, torch.float32, torch.int32, torch.uint32, torch.uint16),
}


def runtime_dtype_to_torch_dtype(dtype: Any) -> torch.dtype:
    name = str(dtype).rpartition(".")[2]
    if name not in TORCH_DTYPES:
        raise TTBuilderRuntimeException(f"no torch dtype holds the runtime's {name}")
    return TORCH_DTYPES[name]


def runtime_str_dtype_to_torch_dtype(dtype: str) -> torch.dtype:
    return runtime_dtype_to_torch_dtype(dtype)


def torch_dtype_to_runtime_dtype(dtype: torch.dtype) -> Any:
    if dtype not in DATA_TYPES:
        raise TTBuilderRuntimeException(f"the runtime has no data type for {dtype}")
    return getattr(runtime.DataType, DATA_TYPES[dtype])


def json_string_as_dict(json_string: str) -> Any:
    return json.loads(json_string) if json_string else {}


def program_inputs_as_dict(bin: Any, index: int) -> Any:
    return json_string_as_dict(bin.get_program_inputs_as_json(index))


def program_outputs_as_dict(bin: Any, index: int) -> Any:
    return json_string_as_dict(bin.get_program_outputs_as_json(index))


# ---------------------------------------------------------------------- tensors


def device_values(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in a dtype that the runtime has."""
    tensor = tensor.detach().contiguous()
    return tensor.to(TORCH_DTYPES[DATA_TYPES[tensor.dtype]]) if tensor.dtype in DATA_TYPES else tensor


def host_tensor(tensor: torch.Tensor) -> Any:
    values = device_values(tensor)
    dtype = torch_dtype_to_runtime_dtype(values.dtype)
    return runtime.create_owned_host_tensor(
        values.data_ptr(), list(values.shape), list(values.stride()), values.element_size(), dtype
    )


def create_tensor(tensor_shards: Mapping[int, torch.Tensor], mesh_shape: Sequence[int]) -> Any:
    """A runtime tensor on the host: of one shard, or of one for each device of the mesh."""
    if len(tensor_shards) == 1:
        return host_tensor(next(iter(tensor_shards.values())))
    shards = [host_tensor(tensor_shards[device]) for device in sorted(tensor_shards)]
    return runtime.create_multi_device_host_tensor_from_shards(shards, {}, list(mesh_shape))


def torch_tensor(tensor: Any) -> torch.Tensor:
    """A copy of a host tensor of the runtime."""
    result = torch.empty(tuple(tensor.get_shape()), dtype=runtime_dtype_to_torch_dtype(tensor.get_dtype()))
    if result.numel():
        runtime.memcpy(result.data_ptr(), tensor)
    return result


def fetched(tensor: Any) -> list[torch.Tensor]:
    """The tensor's value on each device that has its own, or the one of all."""
    return [torch_tensor(t) for t in runtime.to_host(tensor, untilize=True)]


def convert_input_layouts(
    device: Any, inputs: Sequence[Any], template_inputs: Any = None, fbb: Any = None, program_index: int | None = None
) -> list[Any]:
    """The inputs on the device, in the layouts that the program declares."""
    layouts = (
        [t.get_layout() for t in template_inputs]
        if template_inputs is not None
        else [runtime.get_layout(fbb, program_index, i) for i in range(len(inputs))]
    )
    return [runtime.to_layout(t, device, layout, True) for t, layout in zip(inputs, layouts, strict=True)]


# ---------------------------------------------------------------------- comparing


@dataclass(frozen=True)
class Verdict:
    """How values are judged; atol and rtol default to those of the golden's dtype (see golden.metrics)."""

    pcc: float = 0.99
    atol: float | None = None
    rtol: float | None = None
    check_pcc: bool = True
    check_atol: bool = False
    check_rtol: bool = False

    def compare(self, golden: torch.Tensor, found: torch.Tensor) -> Comparison:
        """With the tolerances that are to be checked; another counts as 0 beside it."""
        if self.check_atol == self.check_rtol:
            return compare(golden, found, self.atol, self.rtol)
        return compare(golden, found, self.atol if self.check_atol else 0.0, self.rtol if self.check_rtol else 0.0)

    def accepts(self, comparison: Comparison) -> bool:
        """Shape, dtype and the places of NaN and Inf always count."""
        if comparison.problem or (self.check_pcc and not comparison.pcc >= self.pcc):
            return False
        return comparison.within or not (self.check_atol or self.check_rtol)


def checked(golden: torch.Tensor, found: torch.Tensor, verdict: Verdict, dtype_matters: bool) -> Comparison:
    allowed = ANSWERS.get(golden.dtype, (golden.dtype,))
    if dtype_matters and found.dtype not in allowed:
        problem = f"dtype {found.dtype}, expected {' or '.join(map(str, allowed))}"
        return Comparison(0.0, float("inf"), float("inf"), (), False, problem)
    if found.numel() == golden.numel() and not dtype_matters:
        found = found.reshape(golden.shape)  # the device may keep an intermediate value in another rank
    if golden.dtype == torch.bool:
        golden, found = golden.to(torch.int32), (found != 0).to(torch.int32)
    return verdict.compare(golden, found)


def check_outputs(
    golden_tensor: torch.Tensor,
    output_tensor: torch.Tensor,
    tensor_name: str,
    pcc: float,
    atol: float | None,
    rtol: float | None,
    check_pcc: bool,
    check_atol: bool,
    check_rtol: bool,
    raise_exception: bool = True,
) -> Comparison:
    """Compare one tensor; TTBuilderGoldenException when it is not accepted, unless told otherwise."""
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    comparison = checked(golden_tensor, output_tensor, verdict, True)
    record = Record("output", tensor_name, "", tensor_name, 0, tuple(output_tensor.shape),
                    dtype_name(output_tensor), comparison, verdict.accepts(comparison))  # fmt: skip
    if raise_exception and not record.passed:
        raise TTBuilderGoldenException(record.describe(), [record])
    return comparison


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def shards_of(golden: Any, mesh_shape: Sequence[int]) -> GoldenMapTensor:
    return GoldenMapTensor.of(golden, mesh_shape)


def compare_shards(
    golden: GoldenMapTensor, found: Sequence[torch.Tensor], verdict: Verdict, dtype_matters: bool
) -> list[tuple[int, torch.Tensor, Comparison]]:
    """(device, value, comparison) of each device; a value that is the same on all is compared once."""
    if not golden.is_distributed:
        found = list(found)[:1]
    results = []
    for device, value in enumerate(found):
        results.append((device, value, checked(golden.shard_at(device), value, verdict, dtype_matters)))
    if golden.is_distributed and len(found) < len(golden.shard_map):
        problem = f"{len(found)} shards, expected {len(golden.shard_map)}"
        results.append((0, found[0], Comparison(0.0, float("inf"), float("inf"), (), False, problem)))
    return results


# ---------------------------------------------------------------------- hooks


@dataclass
class OpWatcher:
    """Follows the ops of a program: replaces bypassed values, keeps what each source op gave, measures memory.

    Several ops can come from one source op; the last of them has its value.
    """

    goldens: IntermediateGoldens | None
    verify: bool
    bypass: frozenset[str]
    device: Any = None
    memory: list[dict[str, Any]] | None = None
    debugger: Debugger | None = None
    values: dict[str, list[list[torch.Tensor]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    last: dict[int, str] = field(default_factory=dict)
    _started: float = 0.0

    def study(self, executable: Any, index: int) -> None:
        """Learn which op of a program is the last one of its source."""
        places: dict[str, int] = {}
        runtime.walk_program(executable, index, lambda op: places.update({runtime.get_op_source(op): op.index}))
        places.pop("", None)
        self.last = {place: source for source, place in places.items()}
        if self.debugger is not None:
            self.debugger.study(executable, index)

    def wanted(self, source: str) -> bool:
        if self.goldens is None or not self.verify:
            return False
        return self.goldens.to_check is None or source in self.goldens.to_check

    def before(self, executable: Any, program: Any, op: Any) -> None:
        self._started = time.perf_counter()

    def after(self, executable: Any, program: Any, op: Any) -> None:
        source = runtime.get_op_source(op)
        self.seconds[source] = self.seconds.get(source, 0.0) + time.perf_counter() - self._started
        if self.memory is not None:
            self.memory.append(memory_of(self.device, runtime.get_op_loc_info(op)))
        if self.debugger is not None:
            self.debugger.after(executable, program, op)
        if op.index not in self.last:
            return
        if self.wanted(source):
            self.values[source] = self.results(program, op)
        if source in self.bypass and self.goldens is not None and source in self.goldens:
            self.replace(program, op, source)

    def results(self, program: Any, op: Any) -> list[list[torch.Tensor]]:
        """Values of the op's results, each by device."""
        found = []
        for ref in runtime.get_op_output_refs(op):
            tensor = runtime.retrieve_tensor_from_pool(program, ref, True)
            if tensor is not None:
                found.append(fetched(tensor))
        return found

    def replace(self, program: Any, op: Any, source: str) -> None:
        """Put the goldens where the op's results are."""
        for ref, golden in zip(runtime.get_op_output_refs(op), self.goldens[source].results, strict=False):
            dtype, shape = runtime_dtype_to_torch_dtype(ref.get_dtype()), tuple(ref.get_shape())
            if volume(shape) != golden.shard_at(0).numel():
                raise TTBuilderRuntimeException(
                    f"bypass: the golden of op {source} has shape {list(golden.shape)}, on the device it is {list(shape)}"
                )
            shards = {device: t.reshape(shape).to(dtype) for device, t in golden.shard_map.items()}
            runtime.update_tensor_in_pool(program, ref, create_tensor(shards, golden.mesh_shape))


def volume(shape: Sequence[int]) -> int:
    return int(torch.Size(shape).numel())


def memory_of(device: Any, location: str) -> dict[str, Any]:
    """Bytes in use after an op, by kind of memory."""
    view = device.get_memory_view()
    return {"op": location} | {
        str(kind).rpartition(".")[2]: {
            "allocated_per_bank": v.total_bytes_allocated_per_bank,
            "free_per_bank": v.total_bytes_free_per_bank,
            "banks": v.num_banks,
        }
        for kind, v in view.items()
    }


@contextmanager
def hooks(watcher: OpWatcher | None) -> Any:
    if watcher is None:
        yield
        return
    kept = runtime.DebugHooks.get(pre_op=watcher.before, post_op=watcher.after)
    try:
        yield kept
    finally:
        runtime.unregister_hooks()


# ---------------------------------------------------------------------- execution


def load_binary(compiled_bin: Any) -> Any:
    """A binary from itself, its bytes, or the path of a .ttnn file."""
    try:
        if isinstance(compiled_bin, (str, os.PathLike)):
            return binary.load_binary_from_path(str(compiled_bin))
        if isinstance(compiled_bin, (bytes, bytearray, memoryview)):
            return binary.load_binary_from_bytes(bytes(compiled_bin))
    except (RuntimeError, OSError, ValueError) as error:
        raise TTBuilderRuntimeException(str(error)) from error
    return compiled_bin


@contextmanager
def opened(device: Any, executable: Any) -> Any:
    """The device, or one of the mesh that the binary asks for while the block runs."""
    if device is not None:
        yield device
        return
    options = runtime.MeshDeviceOptions()
    shape = executable.get_program_mesh_shape(0) if executable.get_num_programs() else (1, 1)
    options.mesh_shape = tuple(shape)
    own = runtime.open_mesh_device(options)
    try:
        yield own
    finally:
        runtime.close_mesh_device(own)


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
    bypass_ops: Sequence[str] | None = None,
    save_artifacts: bool = False,
    artifact_dir: str = ".",
    dump_memory: bool = False,
    breakpoint_callback: BreakpointCallback | None = None,
) -> GoldenReport:
    """Run every public program of a binary and compare its outputs with their goldens.

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
        dump_memory: write memory.json: bytes in use after each op.
        breakpoint_callback: called with a `Breakpoint` at each of `builder.breakpoint`; without one, and without one
            of `set_breakpoint_callback`, a prompt opens on a terminal, and elsewhere the log gets a line. What it raises
            ends the run.
    Returns:
        The report; `print(report)` shows it as a table.
    Raises:
        TTBuilderGoldenException: values differ; names op, location, PCC and the largest errors.
        TTBuilderRuntimeException: the device refused the run.
    """
    executable = load_binary(compiled_bin)
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    folder = Path(artifact_dir)
    report = GoldenReport(pcc=pcc)
    intermediates = intermediate_goldens if isinstance(intermediate_goldens, IntermediateGoldens) else None
    bypass = frozenset(bypass_ops or ()) | (intermediates.bypassed if intermediates is not None else frozenset())
    verify = enable_intermediate_verification and not disable_golden
    with opened(device, executable) as used:
        programs = [i for i in range(executable.get_num_programs()) if not executable.is_program_private(i)]
        for place, index in enumerate(programs):
            watcher = None
            debugger = None
            if looks(executable, index):
                known = None if disable_golden else intermediates
                debugger = Debugger(used, known, fetched, breakpoint_callback)
            if verify or bypass or dump_memory or debugger is not None:
                watcher = OpWatcher(intermediates, verify, bypass, used, [] if dump_memory else None, debugger)
            goldens = goldens_of(input_output_goldens, place, executable.get_program_name(index))
            program = run_program(executable, index, goldens, used, watcher, verdict, disable_golden)
            report.programs.append(program)
            if save_artifacts:
                save_program(folder / get_sanitized_filename(program.name), goldens, watcher)
            if watcher is not None and watcher.memory is not None:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "memory.json").write_text(json.dumps(watcher.memory, indent=1))
    if save_artifacts:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "golden_report.json").write_text(report.to_json())
    raise_failures(report)
    return report


def goldens_of(goldens: Mapping[int, Any] | None, place: int, name: str) -> Mapping[str, Any]:
    """Of the program called `name`: found by name where possible, else by its place among the public ones."""
    if goldens is None:
        return {}
    if isinstance(goldens, Programs):
        found = goldens.named(name)
        if found is None:
            raise TTBuilderRuntimeException(
                f"the goldens are of {', '.join(p.name for p in goldens.values())}; there are none for program {name!r}"
            )
        return found
    if place not in goldens:
        raise TTBuilderRuntimeException(f"no goldens for program {place} ({name!r}); there are {sorted(goldens)}")
    return goldens[place]


def numbered(goldens: Mapping[str, Any], prefix: str) -> list[str]:
    names = [n for n in goldens if n.startswith(prefix)]
    return sorted(names, key=lambda n: int(n.removeprefix(prefix)))


def program_inputs(executable: Any, index: int, goldens: Mapping[str, Any], mesh_shape: Sequence[int]) -> list[Any]:
    """Host tensors for the program; zeros where there is no golden at all."""
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
    return [create_tensor(v.golden_map_tensor_as_torch_tensors(), v.mesh_shape) for v in values]


def run_program(
    executable: Any,
    index: int,
    goldens: Mapping[str, Any],
    device: Any,
    watcher: OpWatcher | None,
    verdict: Verdict,
    disable_golden: bool,
) -> ProgramReport:
    name = executable.get_program_name(index)
    program = ProgramReport(name, index)
    mesh_shape = tuple(executable.get_program_mesh_shape(index))
    try:
        inputs = program_inputs(executable, index, goldens, mesh_shape)
        placed = convert_input_layouts(device, inputs, fbb=executable, program_index=index)
        started = time.perf_counter()
        if watcher is not None:
            watcher.study(executable, index)
        with hooks(watcher):
            outputs = runtime.submit(device, executable, index, placed)
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
    for place, output in enumerate(numbered(goldens, "output_")):
        if place >= len(found):
            raise TTBuilderRuntimeException(f"program {name!r} gave {len(found)} outputs, there is a golden {output}")
        golden = shards_of(goldens[output], mesh_shape)
        for shard, value, comparison in compare_shards(golden, found[place], verdict, True):
            program.records.append(Record("output", output, "", name, shard, tuple(value.shape), dtype_name(value),
                                          comparison, verdict.accepts(comparison)))  # fmt: skip
    return program


def intermediate_records(watcher: OpWatcher, verdict: Verdict) -> list[Record]:
    records = []
    for source, results in watcher.values.items():
        golden = watcher.goldens.get(source) if watcher.goldens is not None else None
        if golden is None:
            continue
        for i, (expected, found) in enumerate(zip(golden.results, results, strict=False)):
            for device, value, comparison in compare_shards(expected, found, verdict, False):
                name = source if len(golden.results) == 1 else f"{source}#{i}"
                records.append(Record("intermediate", name, golden.op, golden.location, device, tuple(value.shape),
                                      dtype_name(value), comparison, verdict.accepts(comparison),
                                      source in watcher.bypass, watcher.seconds.get(source, 0.0)))  # fmt: skip
    return records


def raise_failures(report: GoldenReport) -> None:
    failures = report.failures
    if not failures:
        return
    lines = [f"{len(failures)} of {len(report.records)} values differ from their goldens (PCC of at least {report.pcc:g})"]
    lines += [f"  {record.describe()}" for record in failures[:10]]
    if len(failures) > 10:
        lines.append(f"  and {len(failures) - 10} more")
    error = TTBuilderGoldenException("\n".join(lines), failures)
    error.report = report  # type: ignore[attr-defined]
    raise error


def save_torch_tensor(torch_tensor: torch.Tensor, folder_path: str | os.PathLike[str], torch_tensor_name: str) -> None:
    """Write <folder>/<name>.pt; characters that file names cannot have are replaced."""
    folder = Path(folder_path)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(torch_tensor, folder / f"{get_sanitized_filename(torch_tensor_name)}.pt")


def save_program(folder: Path, goldens: Mapping[str, Any], watcher: OpWatcher | None) -> None:
    for name, golden in goldens.items():
        for device, shard in GoldenMapTensor.of(golden).shard_map.items():
            save_torch_tensor(shard, folder, f"{name}_golden_{device}")
    for source, results in (watcher.values if watcher is not None else {}).items():
        for i, shards in enumerate(results):
            for device, shard in enumerate(shards):
                save_torch_tensor(shard, folder, f"op_{source}_{i}_{device}")


def convert_golden_intermediates_to_torch(goldens: Mapping[str, Any]) -> dict[str, dict[int, torch.Tensor]]:
    """Op number -> device -> tensor of the op's first result."""
    return {k: v.results[0].golden_map_tensor_as_torch_tensors() for k, v in goldens.items()}


def convert_golden_input_output_to_torch(
    goldens: Mapping[int, Mapping[str, Any]],
) -> dict[int, dict[str, dict[int, torch.Tensor]]]:
    """Program -> input or output -> device -> tensor."""
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
    "execute_fb",
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
