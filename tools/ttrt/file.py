# SPDX-License-Identifier: Apache-2.0
"""A flatbuffer as the subcommands see it."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttmlir.op_facts import ops_with

from .errors import InputError
from .machine import Mesh
from .output import shape_text

CALL = "ttcore.load_cached"  # runs another program of the file
CALLS = ops_with("runs_functions")

# Names of data types as flatbuffers and MLIR print them -> numpy's. Block formats come to the host as bf16.
HOST_TYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "bfp_f8": "bfloat16",
    "bfp_bf8": "bfloat16",
    "bfp_f4": "bfloat16",
    "bfp_bf4": "bfloat16",
    "bfp_f2": "bfloat16",
    "bfp_bf2": "bfloat16",
    "i64": "int64",
    "si64": "int64",
    "i32": "int32",
    "si32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u32": "uint32",
    "ui32": "uint32",
    "u16": "uint16",
    "ui16": "uint16",
    "u8": "uint8",
    "ui8": "uint8",
    "bool": "bool",
    "i1": "bool",
}


@dataclass(frozen=True)
class Tensor:
    """An input or output: what it is on each device."""

    name: str
    desc: dict[str, Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.desc["shape"])

    @property
    def dtype(self) -> str:
        return self.desc["data_type"]

    @property
    def distributed(self) -> bool:
        return self.desc["distributed"]

    @property
    def type(self) -> str:
        return shape_text(self.shape, self.dtype)

    @property
    def place(self) -> str:
        """Returns layout and memory: "tile, dram interleaved"."""
        memory = self.desc["buffer_type"]
        arrangement = self.desc["memory_layout"] if memory != "system_memory" else ""
        return f"{self.desc['layout']}, {memory} {arrangement}".strip()

    def host_dtype(self) -> str:
        if self.dtype not in HOST_TYPES:
            raise InputError(f"no host type holds {self.dtype}")
        return HOST_TYPES[self.dtype]


@dataclass(frozen=True)
class Program:
    """stages: numbers of the programs that it runs in place of ops of its own, on parts of the mesh."""

    index: int
    name: str
    private: bool
    mesh: Mesh
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    operations: tuple[dict[str, Any], ...]
    stages: tuple[int, ...] = ()
    micro_batches: int = 1

    @property
    def op_counts(self) -> dict[str, int]:
        """Returns op name -> how often, the most frequent first."""
        return dict(Counter(op["name"] for op in self.operations).most_common())


@dataclass(frozen=True)
class File:
    """A loaded flatbuffer; its parts are read when they are requested."""

    path: str
    binary: Any

    @functools.cached_property
    def programs(self) -> tuple[Program, ...]:
        return tuple(self._program(i) for i in range(self.binary.get_num_programs()))

    def _program(self, index: int) -> Program:
        rows, columns = self.binary.get_program_mesh_shape(index)
        operations = tuple(json.loads(self.binary.get_program_ops_as_json(index)))
        pipeline = {} if operations else self.description["programs"][index].get("pipeline", {})
        return Program(
            index,
            self.binary.get_program_name(index),
            self.binary.is_program_private(index),
            (rows, columns),
            tensors(self.binary.get_program_inputs_as_json(index)),
            tensors(self.binary.get_program_outputs_as_json(index)),
            operations,
            tuple(stage["program"] for stage in pipeline.get("stages", ())),
            pipeline.get("micro_batches", 1),
        )

    @functools.cached_property
    def description(self) -> dict[str, Any]:
        return json.loads(self.binary.as_json())

    @functools.cached_property
    def system(self) -> dict[str, Any]:
        return json.loads(self.binary.get_system_desc_as_json())

    @property
    def arch(self) -> str | None:
        """Returns the architecture of the chips that it was compiled for, when it says so."""
        chips = self.system["chips"]
        return chips[0]["arch"] if chips else None

    @property
    def is_metal(self) -> bool:
        """Returns whether its programs are commands and kernels, which have no goldens."""
        return self.binary.file_identifier == "TTM0"

    @property
    def mlir(self) -> str:
        return json.loads(self.binary.get_mlir_as_json())["source"]

    def chosen(self, which: str | None) -> list[Program]:
        """Returns the program called `which` or at that index; all public ones when it is None or "all"."""
        if which is None or which == "all":
            return [p for p in self.programs if not p.private]
        for program in self.programs:
            if which in (program.name, str(program.index)):
                return [program]
        names = ", ".join(f"{p.index} {p.name}" for p in self.programs)
        raise InputError(f"{self.path}: no program {which!r}; there are: {names}")


def tensors(text: str) -> tuple[Tensor, ...]:
    return tuple(Tensor(value["name"], value["desc"]) for value in json.loads(text))


# What to do with files that are no flatbuffers.
INSTEAD = {
    ".mlir": "is a module, not a flatbuffer; `ttmlir-opt --ttir-to-ttnn-backend-pipeline --mlir-print-debuginfo` and "
    "`ttmlir-translate --ttnn-to-flatbuffer` make one of it",
    ".py": "is a Python program, not a flatbuffer; `python` runs it",
    ".cpp": "is a C++ program, not a flatbuffer; docs/emitted-code.md says how to compile it",
}


def is_onnx(path: str) -> bool:
    return path.endswith(".onnx")


def check_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"{path}: its name is not UTF-8, in which the compiler and the runtime take names") from None


def load(path: str, *, allow_native: bool = False, sizes: Mapping[str, int] | None = None) -> File:
    """Reads and check a flatbuffer, or compile an ONNX file.

    Args:
        allow_native: code of the file (kernels in C++, machine code) may run in this process.
        sizes: of dimensions of an ONNX file.
    Raises:
        OSError: it cannot be read.
        _ttmlir_runtime.Error: it is no flatbuffer of this version, or damaged; names file, op and field.
        InputError: its name is none that the runtime takes.
    """
    check_name(path)
    with Path(path).open("rb"):  # says why not, in the system's words
        pass
    import _ttmlir_runtime as rt

    if is_onnx(path):
        from ttmlir.onnx import compile

        # Machine code that it has was compiled here.
        data = compile(path, sizes=sizes).flatbuffer_with_weights()
        return File(path, rt.binary.load_binary_from_bytes(data, allow_native=True))
    try:
        return File(path, rt.binary.load_binary_from_path(path, allow_native=allow_native))
    except rt.Error as error:
        hint = INSTEAD.get(Path(path).suffix)
        if hint is None:
            raise
        raise type(error)(f"{path}: {hint}") from error
