# SPDX-License-Identifier: Apache-2.0
"""Run emitted programs on the simulated device and compare their results with the goldens."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import linecache
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import _ttmlir_runtime as tt_runtime
from golden import GoldenMapTensor
from ttmlir.files import write_whole

from builder.base.builder_utils import get_sanitized_filename
from builder.base.errors import TTBuilderRuntimeException
from builder.goldens.module_goldens import ProgramGoldens, Programs

from .argument_checks import check_device, check_goldens, check_path, checked_arguments
from .cpp_library import compiled
from .device_tensors import create_tensor, device_for, fetched, runtime
from .program_outputs import (
    goldens_of,
    numbered,
    output_records,
    raise_failures,
    raise_uncompared,
    save_goldens,
    save_torch_tensor,
)
from .report import GoldenReport, ProgramReport
from .verdicts import Verdict, shards_of

INPUTS = "create_inputs_for_"  # what the function that makes the inputs of a program is called, before its name


@dataclass(frozen=True)
class EmittedProgram:
    """A program in one of the languages. Both functions raise TTBuilderRuntimeException."""

    name: str
    create_inputs: Callable[[Any], Sequence[Any]]
    run: Callable[[Sequence[Any], Any], Sequence[Any]]
    mesh: tuple[int, int] = (1, 1)  # that the program is for


# ---------------------------------------------------------------------- C++


def cpp_programs(path: str | os.PathLike[str]) -> list[EmittedProgram]:
    """Returns the programs of emitted C++, compiled and loaded.

    Raises:
        TTBuilderRuntimeException: see `cpp_library.compiled`; or the library offers no programs.
    """
    library = compiled([path])
    try:
        loaded = tt_runtime.runtime.ProgramLibrary(str(library))
    except RuntimeError as error:
        raise TTBuilderRuntimeException(f"{path}: {error}") from error
    if not loaded.programs:
        raise TTBuilderRuntimeException(f"{path} offers no programs: it has no TTNN_PROGRAM")

    def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except (RuntimeError, ValueError, TypeError) as error:
                raise TTBuilderRuntimeException(f"{path}: program {name!r}: {error}") from error

        return call

    mesh = (loaded.mesh_shape[0], loaded.mesh_shape[1])
    return [
        EmittedProgram(p.name, checked(p.name, p.create_inputs), checked(p.name, p.run), mesh) for p in loaded.programs
    ]


# ---------------------------------------------------------------------- Python


def user_error(path: str, what: str, error: BaseException) -> TTBuilderRuntimeException:
    """Returns an error of a program, with the lines of the program that led there and no others."""
    folder = os.path.dirname(path)

    def is_of_program(file: str | None) -> bool:
        return file == path or (os.path.dirname(file or "") == folder and Path(file or "").suffix == ".py")

    if isinstance(error, SyntaxError) and is_of_program(error.filename):
        where = f"{error.filename}:{error.lineno}"
        line = (error.text or "").strip()
        return TTBuilderRuntimeException(f"{where}: SyntaxError: {error.msg}" + (f"\n    {line}" if line else ""))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_of_program(f.filename)]
    text = "".join(traceback.format_exception_only(error)).strip()
    lines = [f"{f.filename}:{f.lineno}: in {f.name}\n    {f.line}" for f in frames]
    return TTBuilderRuntimeException("\n".join([f"{what}: {text.splitlines()[0]}", *lines]))


def python_module(path: str) -> ModuleType:
    """Runs a Python file in a separate namespace, which is returned; its code for scripts does not run.

    It finds modules in its folder, as a script does; they are read again for each file.
    """
    try:
        source = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TTBuilderRuntimeException(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    module = ModuleType(get_sanitized_filename(Path(path).stem))
    module.__file__ = path
    linecache.checkcache(path)  # it may have been edited since its last error
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    known = set(sys.modules)
    # Of a file that is edited twice within a second, bytecode would be that of the first time.
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        importlib.invalidate_caches()
        exec(compile(source, path, "exec"), module.__dict__)
    except Exception as error:
        raise user_error(path, path, error) from None
    finally:
        sys.dont_write_bytecode = writes_bytecode
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == folder:
                del sys.modules[name]
    return module


def takes_list(function: Callable[..., Any]) -> bool:
    """Returns whether a program takes its tensors as one list, as its annotation says."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    annotation = None if first is None else first.annotation
    return str(annotation).startswith("list[")


def python_programs(path: str | os.PathLike[str]) -> list[EmittedProgram]:
    """Returns the programs of an emitted Python file: functions with one next to them that makes their inputs."""
    path = os.path.abspath(path)
    module = python_module(path)
    functions = {k: f for k, f in vars(module).items() if callable(f)}
    rows, columns = getattr(module, "MESH_SHAPE", (1, 1))

    lists: dict[str, list[int]] = {}  # how many tensors are in each list of a program that takes several

    def call(name: str, function: Callable[..., Any], arguments: Sequence[Any], device: Any) -> Sequence[Any]:
        if takes_list(function):
            rest = iter(arguments)
            arguments = [list(itertools.islice(rest, size)) for size in lists.get(name, [len(arguments)])]
        # The device is the last parameter of those that need it.
        takes_device = len(inspect.signature(function).parameters) > len(arguments)
        try:
            result = function(*arguments, *([device] if takes_device else []))
        except Exception as error:
            raise user_error(path, f"program {name!r} failed", error) from None
        if result is None:
            return []
        return result if isinstance(result, (tuple, list)) else [result]

    def inputs(name: str, producer: Callable[..., Any], device: Any) -> Sequence[Any]:
        created = call(INPUTS + name, producer, [], device)
        if created and all(isinstance(each, list) for each in created):
            lists[name] = [len(each) for each in created]
            return [tensor for each in created for tensor in each]
        return created

    programs = []
    for name, function in functions.items():
        producer = functions.get(INPUTS + name)
        if producer is not None:
            programs.append(
                EmittedProgram(
                    name,
                    functools.partial(inputs, name, producer),
                    functools.partial(call, name, function),
                    (rows, columns),
                )
            )
    if not programs:
        raise TTBuilderRuntimeException(f"{path} has no programs: functions with a {INPUTS}<name> next to them")
    return programs


# ---------------------------------------------------------------------- running


def source_name(goldens: Mapping[int, Any] | None, name: str) -> str:
    """Returns a program's name in the module. The emitted name must be valid in the language: "main" becomes
    "main_"."""
    known = [p.name for p in goldens.values()] if isinstance(goldens, Programs) else []
    bare = name.rstrip("_")
    return next((k for k in known if k == name or re.sub(r"\W+|_+", "_", k).strip("_") == bare), name)


def mesh_of(goldens: Mapping[int, Any] | None) -> tuple[int, int]:
    """Returns the mesh that goldens are of."""
    values = [v for p in (goldens or {}).values() for v in (p.inputs if isinstance(p, ProgramGoldens) else p.values())]
    return max((v.mesh_shape for v in values if isinstance(v, GoldenMapTensor)), default=(1, 1))


def placed_inputs(program: EmittedProgram, goldens: Mapping[str, Any], device: Any) -> list[Any]:
    """Returns the goldens' inputs in the program's form, or those that it creates for itself if there are none."""
    templates = list(program.create_inputs(device))
    if not goldens:
        return templates
    mesh_shape = tuple(device.get_mesh_shape())
    if isinstance(goldens, ProgramGoldens):
        values = goldens.inputs
    else:
        values = [shards_of(goldens[name], mesh_shape) for name in numbered(goldens, "input_")]
    if len(values) != len(templates):
        raise TTBuilderRuntimeException(
            f"program {program.name!r} takes {len(templates)} inputs, {len(values)} were given"
        )
    placed = []
    for index, (value, template) in enumerate(zip(values, templates, strict=True)):
        expected, given = list(template.get_shape()), list(value.shard_at(0).shape)
        if expected != given:
            raise TTBuilderRuntimeException(
                f"program {program.name!r}: input {index} has shape {given}, the program takes {expected}"
            )
        host = create_tensor(value.golden_map_tensor_as_torch_tensors(), value.mesh_shape)
        placed.append(runtime.to_layout(host, device, template.get_layout(), True))
    return placed


def execute(
    programs: Sequence[EmittedProgram],
    goldens: Mapping[int, Mapping[str, Any]] | None,
    verdict: Verdict,
    disable_golden: bool,
    device: Any,
    artifacts: Path | None,
    exact: bool,
) -> GoldenReport:
    report = GoldenReport(pcc=verdict.pcc)
    # Goldens without shards are of any mesh.
    mesh = max([mesh_of(goldens), *(program.mesh for program in programs)])
    with device_for(device, mesh, exact) as used:
        for place, program in enumerate(programs):
            expected = goldens_of(goldens, place, source_name(goldens, program.name))
            entry = ProgramReport(program.name, place)
            report.programs.append(entry)
            try:
                inputs = placed_inputs(program, expected, used)
                started = time.perf_counter()
                found = [fetched(tensor) for tensor in program.run(inputs, used)]
                entry.seconds = time.perf_counter() - started
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:
                raise TTBuilderRuntimeException(f"program {program.name!r}: {error}") from error
            if artifacts is not None:
                save(artifacts / get_sanitized_filename(program.name), expected, found)
            if not disable_golden:
                entry.records += output_records(program.name, expected, found, tuple(used.get_mesh_shape()), verdict)
    if artifacts is not None:
        artifacts.mkdir(parents=True, exist_ok=True)
        write_whole(artifacts / "golden_report.json", report.to_json())
    raise_failures(report)
    if goldens is not None and not disable_golden:
        raise_uncompared(report)
    return report


def save(folder: Path, goldens: Mapping[str, Any], found: Sequence[Sequence[Any]]) -> None:
    """Saves goldens and outputs as .pt files, one per device."""
    save_goldens(folder, goldens)
    for place, shards in enumerate(found):
        for device, shard in enumerate(shards):
            save_torch_tensor(shard, folder, f"output_{place}_{device}")


@checked_arguments
def execute_cpp(
    cpp_path: str | os.PathLike[str],
    input_output_goldens: Mapping[int, Mapping[str, Any]] | None = None,
    pcc: float = 0.99,
    atol: float | None = None,
    rtol: float | None = None,
    disable_golden: bool = False,
    device: Any = None,
    check_pcc: bool = True,
    check_atol: bool = False,
    check_rtol: bool = False,
    save_artifacts: bool = False,
    artifact_dir: str | os.PathLike[str] = ".",
    exact: bool = False,
) -> GoldenReport:
    """Compiles emitted C++, run every program in it and compare its outputs with their goldens.

    The compiler is $CXX, or c++, g++ or clang++; what it makes is kept, so that the same code is compiled once (see
    `cpp_library.compiled`).

    Args:
        cpp_path: the file, as a target "emitc" wrote it or as a user changed it.
        input_output_goldens: as for `execute_fb`; without it programs run with inputs that they make for themselves.
        device: an open mesh device; one is opened and closed when there is none.
        exact: see `execute_fb`.
        save_artifacts, artifact_dir: write outputs and goldens as .pt files, the report as JSON.
        Others: see `execute_fb`.
    Raises:
        TTBuilderGoldenException: values differ; names the output, PCC and the largest errors.
        TTBuilderRuntimeException: no compiler, code that does not compile or run, inputs that are not the program's.
        TypeError, ValueError: an argument is of another kind; names it.
    """
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    check_path("cpp_path", cpp_path, ".cpp")
    check_device("execute_cpp", device)
    check_goldens("execute_cpp", input_output_goldens)
    artifacts = Path(artifact_dir) if save_artifacts else None
    return execute(cpp_programs(cpp_path), input_output_goldens, verdict, disable_golden, device, artifacts, exact)


@checked_arguments
def execute_py(
    compiled_bin: str | os.PathLike[str],
    input_output_goldens: Mapping[int, Mapping[str, Any]] | None = None,
    pcc: float = 0.99,
    atol: float | None = None,
    rtol: float | None = None,
    disable_golden: bool = False,
    check_pcc: bool = True,
    check_atol: bool = False,
    check_rtol: bool = False,
    save_artifacts: bool = False,
    artifact_dir: str | os.PathLike[str] = ".",
    device: Any = None,
    exact: bool = False,
) -> GoldenReport:
    """Runs every program of an emitted Python file and compare its outputs with their goldens.

    Args:
        compiled_bin: the file, as a target "emitpy" wrote it or as a user changed it.
        Others: see `execute_cpp`.
    Raises:
        TTBuilderGoldenException: values differ; names the output, PCC and the largest errors.
        TTBuilderRuntimeException: the file cannot be read or run, with the lines of it that led to the error; or inputs
            that are not the program's.
        TypeError, ValueError: an argument is of another kind; names it.
    """
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    check_path("compiled_bin", compiled_bin, ".py")
    check_device("execute_py", device)
    check_goldens("execute_py", input_output_goldens)
    artifacts = Path(artifact_dir) if save_artifacts else None
    return execute(
        python_programs(compiled_bin), input_output_goldens, verdict, disable_golden, device, artifacts, exact
    )
