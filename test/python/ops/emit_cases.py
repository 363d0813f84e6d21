# SPDX-License-Identifier: Apache-2.0
"""Emitted Python and C++ of modules compared with their flatbuffers, bit for bit."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.api.artifacts import emitted
from builder.base.builder_apis import build_module
from builder.execution.cpp_library import compiled
from builder.execution.device_tensors import create_tensor, fetched
from builder.execution.emitted_programs import EmittedProgram, python_programs
from golden import GoldenMapTensor
from op_cases import device, execute
from ttmlir.passes import ttnn_to_flatbuffer_bin


@dataclass(frozen=True)
class Subject:
    """A lowered module with inputs for each of its programs."""

    name: str
    module: Any
    inputs: Sequence[Sequence[GoldenMapTensor]]
    mesh: tuple[int, int] = (1, 1)


def made(
    build: Callable[..., Any], shapes: Sequence[tuple[int, ...]], dtypes: Sequence[torch.dtype]
) -> tuple[Any, Any]:
    """Returns (a module of one function, its goldens). build: takes the builder, then the arguments."""

    def module(builder: Any) -> None:
        def f(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

        builder.func(shapes, dtypes)(f)

    built, builder = build_module(module, "ttir")
    return built, builder.golden_map[0][0]


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The values as integers, so that NaN equals NaN and -0.0 is not 0.0."""
    views = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(views[tensor.element_size()]) if tensor.dim() else bits(tensor.reshape(1))


def assert_same(where: str, expected: list[list[torch.Tensor]], found: list[list[torch.Tensor]]) -> None:
    assert len(expected) == len(found), f"{where}: {len(found)} outputs, the flatbuffer has {len(expected)}"
    for output, (reference, given) in enumerate(zip(expected, found, strict=True)):
        for shard, (a, b) in enumerate(zip(reference, given, strict=True)):
            place = f"{where}, output {output}, device {shard}"
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (
                f"{place}: {b.dtype} {b.shape}, expected {a.dtype} {a.shape}"
            )
            different = int((bits(a) != bits(b)).sum())
            assert different == 0, f"{place}: {different} of {a.numel()} values differ"


def of_flatbuffer(subject: Subject) -> list[list[list[torch.Tensor]]]:
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(subject.module), allow_native=True)
    public = [i for i in range(binary.get_num_programs()) if not binary.is_program_private(i)]
    return [execute(binary, i, inputs, subject.mesh) for i, inputs in zip(public, subject.inputs, strict=True)]


def of_programs(subject: Subject, programs: Sequence[EmittedProgram]) -> list[list[list[torch.Tensor]]]:
    assert len(programs) == len(subject.inputs), f"{subject.name}: {len(programs)} programs"
    found = []
    mesh = device(subject.mesh)
    for program, inputs in zip(programs, subject.inputs, strict=True):
        templates = program.create_inputs(mesh)
        host = [create_tensor(value.golden_map_tensor_as_torch_tensors(), subject.mesh) for value in inputs]
        placed = [
            rt.runtime.to_layout(tensor, mesh, template.get_layout(), True)
            for tensor, template in zip(host, templates, strict=True)
        ]
        found.append([fetched(tensor) for tensor in program.run(placed, mesh)])
    return found


def compare_python(subject: Subject, expected: list[list[list[torch.Tensor]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = emitted(subject.module, "emitpy").write(folder)
        check_text(Path(path).read_text())
        for index, (reference, found) in enumerate(
            zip(expected, of_programs(subject, python_programs(path)), strict=True)
        ):
            assert_same(f"{subject.name} program {index} in Python", reference, found)


@contextmanager
def cpp_batch(subjects: Sequence[Subject]) -> Iterator[list[list[EmittedProgram]]]:
    """The programs of many modules, compiled at once: each in a namespace of one file."""
    includes: dict[str, None] = {}
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for number, subject in enumerate(subjects):
            artifact = emitted(subject.module, "emitc")
            check_text(artifact.data)
            artifact.write(Path(folder) / str(number))
            kernels_and_rest = re.split(r'(R"kernel\(.*?\)kernel")', artifact.data, flags=re.DOTALL)
            for place in range(0, len(kernels_and_rest), 2):
                includes |= dict.fromkeys(re.findall(r"^#include .*$", kernels_and_rest[place], re.MULTILINE))
                kernels_and_rest[place] = re.sub(r"^#include .*\n", "", kernels_and_rest[place], flags=re.MULTILINE)
            text = "".join(kernels_and_rest)
            text = text.replace('"test_ttnn.mlir.tensors', f'"{number}/test_ttnn.mlir.tensors')
            parts.append(f"namespace subject{number} {{\n{text}}}\n")
        source = Path(folder) / "batch.cpp"
        source.write_text("\n".join([*includes, *parts]))
        # Names of temporary folders are part of what a library is kept by: keep these to the test.
        before = os.environ.get("TTMLIR_CACHE_DIR")
        os.environ["TTMLIR_CACHE_DIR"] = folder
        try:
            library = rt.runtime.ProgramLibrary(str(compiled([source])))
        finally:
            os.environ.pop("TTMLIR_CACHE_DIR")
            if before is not None:
                os.environ["TTMLIR_CACHE_DIR"] = before
        programs = [EmittedProgram(p.name, p.create_inputs, p.run) for p in library.programs]
        result, start = [], 0
        for subject in subjects:
            result.append(programs[start : start + len(subject.inputs)])
            start += len(subject.inputs)
        assert start == len(programs)
        yield result


def check_text(text: str) -> None:
    """Looks at what the emitter writes, not at the kernels in it."""
    text = re.sub(r'(""").*?"""|R"kernel\(.*?\)kernel"', "", text, flags=re.DOTALL)
    long = [line for line in text.splitlines() if len(line) > 120]
    assert not long, f"longer than 120 columns: {long[0]}"


def compare_cpp(subjects: Sequence[Subject]) -> None:
    """Compares programs in C++ with flatbuffers. One compiler reads the headers, which take most of its time."""
    with cpp_batch(subjects) as batch:
        for subject, programs in zip(subjects, batch, strict=True):
            pairs = zip(of_flatbuffer(subject), of_programs(subject, programs), strict=True)
            for index, (expected, found) in enumerate(pairs):
                assert_same(f"{subject.name} program {index} in C++", expected, found)


def compare_all(subjects: Sequence[Subject]) -> list[str]:
    """Returns the differences for all subjects; one that cannot be emitted is an error of its own."""
    problems = []
    expected = {}
    for subject in subjects:
        try:
            expected[subject.name] = of_flatbuffer(subject)
            compare_python(subject, expected[subject.name])
        except Exception as error:
            problems.append(f"{subject.name}: {type(error).__name__}: {error}")
    usable = [subject for subject in subjects if subject.name in expected]
    with cpp_batch(usable) as batch:
        for subject, programs in zip(usable, batch, strict=True):
            try:
                for index, (reference, found) in enumerate(
                    zip(expected[subject.name], of_programs(subject, programs), strict=True)
                ):
                    assert_same(f"{subject.name} program {index} in C++", reference, found)
            except Exception as error:
                problems.append(f"{subject.name}: {type(error).__name__}: {error}")
    return problems
