# SPDX-License-Identifier: Apache-2.0
"""Device images (.tti): a compiled pipeline stage in one archive, which runs without its module.

The archive is a ZIP file. What is loaded is checked: names of its members, the description, shapes of tensors; the
program is checked by the runtime as any flatbuffer is.
"""

from __future__ import annotations

import inspect
import io
import json
import lzma
import math
import os
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt
import torch
from ttmlir.files import write_whole
from ttmlir.torch.importer import Argument
from ttmlir.torch.program import form_of, host_tensor, to_torch

from ..capture.trace import Trace
from ..config import HARVESTABLE, _get_global_compiler_config
from ..enums import BackendDevice, BackendType
from ..errors import PyBudaError
from ..module import Module
from .chip import descriptor, grid_of
from .reports import Reports

VERSION = 3  # runtime/backend/image.cpp reads it, too
PYBUDA_VERSION = "0.1.0"
DESCRIPTION, CONFIG = "device.json", "compile_and_runtime_config.json"
MODELS = "models.json"  # of several images in one file
BINARIES = "backend_build_binaries"
# Limits of an archive's unpacked size, in bytes: of one text in it, and of the whole, which may also be MOST_RATIO
# times the archive. Trained weights hardly compress.
MOST_TEXT, MOST_UNPACKED, MOST_RATIO = 64 << 20, 256 << 20, 100
PROGRAM = f"{BINARIES}/epoch_programs/program.ttnn"
# Folders of programs for the cores' processors. The simulated chip runs the flatbuffer: they are empty.
FOLDERS = [f"{BINARIES}/{name}/" for name in ("brisc", "erisc", "nrisc", "hlks")]
# The storage format of tensors, by the option tti_dump_format or the environment variable that requests it. C++ reads
# all but the first.
TENSOR_FORMATS = {"default": "pt", "backend": "bin", "backend_tilized": "tiles.bin"}
VARIABLES = {"PYBUDA_TTI_BACKEND_FORMAT": "backend", "PYBUDA_TTI_BACKEND_TILIZED_FORMAT": "backend_tilized"}


class ImageError(PyBudaError):
    """A file that is not an image, or an image for another device."""


@dataclass
class Description:
    """The content of `device.json`.

    inputs, outputs: shape and type of each. parameters: name, shape, type and file of each.
    arguments: for each input of the program, the number of the parameter, or behind these of the input.
    results: for each output, the number of the program's result.
    exact: the program computes as a card does; its ops say with which fidelity and sums.
    program, input_names, output_names: as in the netlist; inputs have the names of forward's parameters.
    """

    version: int
    name: str
    arch: str
    chip_ids: list[int]
    devtype: str
    grid: list[int]
    harvested_rows: list[int]
    training: bool
    inputs: list[list[Any]]
    targets: list[list[Any]]
    outputs: list[list[Any]]
    parameters: list[list[Any]]
    arguments: list[int]
    results: list[int]
    input_names: list[str]
    output_names: list[str]
    program: str
    exact: bool


def dtype_of(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ImageError(f"an image names the type {name!r}, which PyTorch does not have")
    return found


def typed(x: torch.Tensor) -> list[Any]:
    return [list(x.shape), str(x.dtype).removeprefix("torch.")]


def tiles(x: torch.Tensor) -> torch.Tensor:
    """Returns elements in the order of tiles of 32 x 32, padded with zeros."""
    matrix = x.reshape(-1, x.shape[-1] if x.dim() else 1)
    rows, columns = (-(-n // 32) for n in matrix.shape)
    padded = torch.zeros(rows * 32, columns * 32, dtype=x.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows, 32, columns, 32).transpose(1, 2).contiguous()


def from_tiles(flat: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    last = shape[-1] if shape else 1
    count = 1
    for n in shape[:-1]:
        count *= n
    rows, columns = -(-count // 32), -(-last // 32)
    matrix = flat.reshape(rows, columns, 32, 32).transpose(1, 2).reshape(rows * 32, columns * 32)
    return matrix[:count, :last].reshape(tuple(shape)).clone()


def encoded(x: torch.Tensor, kind: str) -> bytes:
    x = x.detach().contiguous()
    if kind == "pt":
        stream = io.BytesIO()
        torch.save(x.clone(), stream)
        return stream.getvalue()
    x = tiles(x) if kind == "tiles.bin" else x
    return x.reshape(-1).view(torch.uint8).numpy().tobytes()


def decoded(data: bytes, entry: Sequence[Any]) -> torch.Tensor:
    """Returns a parameter from its file.

    Raises:
        ImageError: the file does not hold a tensor of the shape and type that the description says.
    """
    name, shape, dtype, file = entry
    expected = dtype_of(dtype)
    try:
        if file.endswith(".pt"):
            found = torch.load(io.BytesIO(data), weights_only=True)
        else:
            found = torch.frombuffer(bytearray(data), dtype=expected)
            found = from_tiles(found, shape) if file.endswith(".tiles.bin") else found.reshape(tuple(shape))
    except Exception as error:
        raise ImageError(f"image: the values of parameter {name!r} are damaged: {error}") from None
    if not isinstance(found, torch.Tensor) or list(found.shape) != shape or found.dtype is not expected:
        raise ImageError(f"image: parameter {name!r} has other values than {dtype}{shape}")
    return found


class TTDeviceImage:
    """An image: description, parameters, program."""

    def __init__(
        self, description: Description, parameters: Mapping[str, torch.Tensor], members: Mapping[str, bytes]
    ) -> None:
        self.description, self.parameters, self.members = description, dict(parameters), dict(members)

    @property
    def flatbuffer(self) -> bytes:
        return self.members[PROGRAM]

    def get_input_shapes(self) -> list[list[int]]:
        """Returns the shapes of inputs, in order."""
        return [list(shape) for shape, _ in self.description.inputs]

    def info(self) -> None:
        """Prints the image's target."""
        d = self.description
        rows = sum(1 << row for row in d.harvested_rows) if d.harvested_rows else [0]
        text = f"""\
Image Info...
- Version Info:
      - pybuda_version: {PYBUDA_VERSION}
      - pybuda_commit: unknown
      - buda_backend_commit: unknown
- Device Name: {d.name}

Device Info...
- arch: {BackendDevice[d.arch]}
- chip_ids: {d.chip_ids}
- backend device type: {BackendType[d.devtype]}
- grid size: {d.grid}
- harvested rows: {rows}

Compilation Graph State...
- training: {d.training}
- ordered input shapes: {self.get_input_shapes()}
- ordered targets shapes: {[shape for shape, _ in d.targets]}"""
        print(text)

    def save_to_disk(self, img_path: str | os.PathLike[str]) -> None:
        """Writes the archive; a file that cannot be written whole is not written."""
        d = self.description
        requested = [name for variable, name in VARIABLES.items() if os.environ.get(variable) == "1"]
        kind = TENSOR_FORMATS[requested[0] if requested else _get_global_compiler_config().tti_dump_format]
        members = dict(self.members)
        for entry, (name, value) in zip(d.parameters, self.parameters.items(), strict=True):
            entry[3] = f"tensors/{name}.{kind}"
            members[entry[3]] = encoded(value, kind)
        members[DESCRIPTION] = json.dumps(asdict(d), indent=1).encode()
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder in [*FOLDERS, "tensors/"]:
                archive.writestr(folder, b"")
            for name, data in members.items():
                archive.writestr(name, data)
        Path(img_path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(Path(img_path), stream.getvalue())

    @staticmethod
    def load_from_disk(img_path: str | os.PathLike[str], model: str | None = None) -> TTDeviceImage:
        """Returns the image in a file, or the one of a model of a merged file.

        Raises:
            ImageError: no archive, one that is damaged, or of another version; no such model.
        """
        try:
            with zipfile.ZipFile(img_path) as archive:
                files = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
                prefix = ""
                if MODELS in files or model is not None:
                    names = sorted({name.split("/")[0] for name in files if name.endswith(f"/{DESCRIPTION}")})
                    if model not in names:
                        known = f"model= is one of {', '.join(names)}" if names else "it has one image and no names"
                        raise ImageError(f"{img_path}: no model {model!r}; {known}")
                    prefix = f"{model}/"
                expected = {name.removeprefix(prefix): e for name, e in files.items() if name.startswith(prefix)}
                check_sizes(str(img_path), expected, os.path.getsize(img_path))
                if DESCRIPTION in expected:
                    check_parameters(str(img_path), expected, archive.read(expected[DESCRIPTION]))
                members = {name: archive.read(entry) for name, entry in expected.items()}
        except ImageError:
            raise
        except (OSError, zipfile.BadZipFile, RuntimeError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise ImageError(f"{img_path}: not loadable as a device image: {error}") from None
        return of_members(members, str(img_path))


def check_sizes(where: str, members: Mapping[str, zipfile.ZipInfo], size: int) -> None:
    """Checks the unpacked size that an archive of `size` bytes states for its members, before any of them is read.

    Raises:
        ImageError: a text of more than MOST_TEXT bytes, or more in all than weights are compressed to.
    """
    for name in (DESCRIPTION, CONFIG):
        if name in members and members[name].file_size > MOST_TEXT:
            raise ImageError(f"{where}: {name} has {members[name].file_size} bytes; expected {MOST_TEXT} at most")
    unpacked, most = sum(entry.file_size for entry in members.values()), max(MOST_UNPACKED, MOST_RATIO * size)
    if unpacked > most:
        raise ImageError(f"{where}: its members unpack to {unpacked} bytes; expected {most} at most for {size} bytes")


def check_parameters(where: str, members: Mapping[str, zipfile.ZipInfo], text: bytes) -> None:
    """Checks that each parameter has a separate file, of the size that follows from its shape and type. `of_members`
    reports other errors of a description.

    Raises:
        ImageError: a file of another size, or one of two parameters.
    """
    try:
        entries = [(name, list(shape), dtype, file) for name, shape, dtype, file in json.loads(text)["parameters"]]
    except (ValueError, TypeError, KeyError):
        return
    seen: dict[str, str] = {}
    for name, shape, dtype, file in entries:
        if file not in members or not all(type(n) is int and n >= 0 for n in shape):
            continue
        if file in seen:
            raise ImageError(f"{where}: {DESCRIPTION}: parameters {seen[file]!r} and {name!r} are both in {file}")
        seen[file] = name
        width, found = dtype_of(dtype).itemsize, members[file].file_size
        if file.endswith(".tiles.bin"):
            last = shape[-1] if shape else 1
            least = most = -(-math.prod(shape[:-1]) // 32) * -(-last // 32) * 1024 * width
        else:
            least = most = math.prod(shape) * width
        if file.endswith(".pt"):  # with what torch.save writes in addition to the values
            least, most = 0, most + (64 << 10)
        if not least <= found <= most:
            raise ImageError(
                f"{where}: the values of parameter {name!r} are damaged: {file} has {found} bytes; expected "
                f"{'at most ' * (least < most)}{most} for {dtype}{shape}"
            )


def check_numbers(
    where: str, name: str, found: Any, known: Collection[int], expected: str, count: int | None = None
) -> None:
    """
    Raises:
        ImageError: a field that is no list of known numbers, or not of as many.
    """
    right = isinstance(found, list) and all(type(number) is int and number in known for number in found)
    if not right or (count is not None and len(found) != count):
        raise ImageError(f"{where}: {DESCRIPTION}: {name} has {found!r}; expected {expected}")


def of_members(members: Mapping[str, bytes], where: str) -> TTDeviceImage:
    """Returns the image of an archive's members.

    Raises:
        ImageError: what is missing, or has another form; `where` is the file.
    """
    for name in (DESCRIPTION, PROGRAM):
        if name not in members:
            raise ImageError(f"{where}: no device image: it has no {name}")
    try:
        values = json.loads(members[DESCRIPTION])
        if values.get("version") != VERSION:
            raise ImageError(f"{where}: version {values.get('version')!r}; this PyBuda reads {VERSION}")
        description = Description(**values)
        BackendDevice[description.arch], BackendType[description.devtype]
        parameters = {}
        for entry in description.parameters:
            if entry[3] not in members:
                raise ImageError(f"{where}: no values of parameter {entry[0]!r}: it has no {entry[3]}")
            parameters[entry[0]] = decoded(members[entry[3]], entry)
        known, outputs = range(len(parameters) + len(description.inputs)), len(description.outputs)
        check_numbers(where, "arguments", description.arguments, known, f"{known}")
        expected = f"a number, 0 or more, for each of {outputs} outputs"
        check_numbers(where, "results", description.results, range(1 << 31), expected, outputs)
        expected = "rows 1 to 5 and 7 to 11"
        check_numbers(where, "harvested_rows", description.harvested_rows, HARVESTABLE, expected)
        if not isinstance(description.exact, bool):
            raise ImageError(f"{where}: {DESCRIPTION}: exact has {description.exact!r}; expected true or false")
        for shape, dtype in [*description.inputs, *description.outputs]:
            torch.empty(tuple(shape), dtype=dtype_of(dtype), device="meta")
    except ImageError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RuntimeError) as error:
        raise ImageError(f"{where}: {DESCRIPTION} is damaged: {type(error).__name__}: {error}") from None
    rest = {name: data for name, data in members.items() if not name.startswith("tensors/") and name != DESCRIPTION}
    return TTDeviceImage(description, parameters, rest)


class ImageModule(Module):
    """An image in the place of the modules that it was compiled from; its device calls `run_program`."""

    def __init__(self, image: TTDeviceImage) -> None:
        super().__init__(image.description.name)
        self.image = image
        try:
            self.binary = tt.binary.load_binary_from_bytes(image.flatbuffer)
        except tt.Error as error:
            raise ImageError(f"image {self.name!r}: its program is not loadable: {error}") from None
        if self.binary.file_identifier != "TTNN":
            raise ImageError(f"image {self.name!r}: its program has kernels in C++; an image holds a TTNN program")
        count = len(json.loads(self.binary.get_program_outputs_as_json(0)))
        if image.description.results and max(image.description.results) >= count:
            raise ImageError(
                f"image {self.name!r}: {DESCRIPTION}: results has {image.description.results}; the program has {count} "
                "outputs"
            )

    def state(self) -> dict[str, torch.Tensor]:
        return self.image.parameters

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        raise PyBudaError(f"image {self.name!r} is compiled already; load_image makes the device that runs it")

    def input_names(self, count: int) -> list[str]:
        return self.image.description.input_names[:count]

    def ordered(self, inputs: Mapping[str, Any]) -> list[Any]:
        known = self.image.description.input_names
        if set(inputs) != set(known):
            raise PyBudaError(f"image {self.name!r} gets inputs {', '.join(inputs)}; it has {', '.join(known)}")
        return [inputs[name] for name in known]

    def run_program(self, inputs: Sequence[torch.Tensor], device: Any) -> list[torch.Tensor]:
        """Returns one run of the program."""
        description = self.image.description
        values = [*self.image.parameters.values()]
        values += [x.to(dtype_of(dtype)) for x, (_, dtype) in zip(inputs, description.inputs, strict=True)]
        given = [values[number].detach() for number in description.arguments]
        results = tt.runtime.submit(device, self.binary, 0, [host_tensor(x) for x in given])
        forms = [form_of(torch.empty(tuple(shape), dtype=dtype_of(dtype))) for shape, dtype in description.outputs]
        return [to_torch(results[n], form).clone() for n, form in zip(description.results, forms, strict=True)]


def image_of(device: Reports, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> TTDeviceImage:
    """Returns the image of a device that is compiled for inference.

    Raises:
        ImageError: ops of its modules run in PyTorch: they are in no program.
    """
    config = _get_global_compiler_config()
    compiled = device.compiled
    programs = [program for _, program in compiled.programs]
    if len(programs) != 1 or compiled.on_host or not hasattr(programs[0], "flatbuffer"):
        raise ImageError(
            f"device {device.name!r} cannot be an image: PyTorch runs {', '.join(compiled.on_host) or 'a part'}; "
            "place these ops on a CPUDevice"
        )
    (program,) = programs
    if (
        program.imported.draws
        or program.imported.writes
        or any(isinstance(x, Argument) for x in program.imported.known)
    ):
        raise ImageError(
            f"device {device.name!r} cannot be an image: its program draws random numbers or writes buffers"
        )
    placement = device.placement
    assert placement is not None
    state = {name: value.detach().clone() for name, value in device.parameters().items()}
    description = Description(
        VERSION, device.name, device.arch.name, device.chip_ids, device.devtype.name,
        list(grid_of(device.arch, config)), sorted(config.harvested_rows), False,
        [typed(x) for x in inputs], [], [typed(x) for x in outputs],
        [[name, *typed(value), ""] for name, value in state.items()],
        list(program.tensors), [n for n in program.imported.results if n is not None],
        device.modules[0].input_names(len(inputs)),
        placement.output_names(), "run_fwd_0", compiled.computing.is_exact,
    )  # fmt: skip
    path = config.backend_device_descriptor_path
    described = Path(path).read_text(encoding="utf-8") if path else descriptor(placement.chip)
    members = {
        PROGRAM: program.flatbuffer,
        CONFIG: json.dumps({k: plain(v) for k, v in config.values().items()}, indent=1).encode(),
        f"{BINARIES}/device_desc.yaml": described.encode(),
        f"{BINARIES}/cluster_desc.yaml": f"chips: {device.chip_ids}\n".encode(),
    }
    members[f"{device.modules[0].name}.yaml"] = placement.netlist().encode()
    for module in device.modules:
        members[f"module_files/{module.name}.py"] = source_of(module).encode()
    return TTDeviceImage(description, state, members)


def plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def source_of(module: Module) -> str:
    inner = getattr(module, "module", module)
    try:
        return inspect.getsource(type(inner))
    except (OSError, TypeError):
        return f"# {type(inner).__name__}: its source is not in a file\n"
