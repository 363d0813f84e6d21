# SPDX-License-Identifier: Apache-2.0
"""Describes programs of kernels: sources, arguments, circular buffers, semaphores, and their cores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from os import PathLike
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import BufferType, CoreCoord, CoreRangeSet, DataType, Layout

from ..enums import ENUMS
from .geometry import MeshCoordinate, MeshCoordinateRange, Tile
from .modes import NOC, NOC_MODE, CoreType, DataMovementProcessor, UnpackToDestMode
from .records import Record, field

__all__ = [
    "CBDescriptor",
    "CBFormatDescriptor",
    "ComputeConfigDescriptor",
    "DataMovementConfigDescriptor",
    "FaceGeometry",
    "KernelDescriptor",
    "MeshProgramDescriptor",
    "ProgramDescriptor",
    "ReaderConfigDescriptor",
    "RuntimeArgs",
    "RuntimeArgsColProxy",
    "SemaphoreDescriptor",
    "TensorAccessorArgs",
    "TileDescriptor",
    "WriterConfigDescriptor",
    "cb_descriptor_from_sharded_tensor",
    "compute_program_descriptor_hash",
    "get_cb_address",
    "merge_program_descriptors",
]

_MATH_FIDELITY = ENUMS["ttnn.math_fidelity"]
# The chip's numbers of element types.
_FORMATS = {
    "FLOAT32": 0, "FLOAT16": 1, "BFLOAT16": 5, "BFLOAT8_B": 6, "BFLOAT4_B": 7, "INT32": 8, "UINT16": 9, "FLOAT8_B": 10,
    "BFLOAT2_B": 15, "UINT32": 24, "UINT8": 30, "BOOL": 30,
}  # fmt: skip


def _no_cores() -> CoreRangeSet:
    return CoreRangeSet([])


class FaceGeometry(Record):
    """Holds the rows of a face and the number of faces of a tile."""

    face_r_dim = field(int, 16, least=1)
    num_faces = field(int, 4, least=1)


class TileDescriptor(Record):
    """Holds the shape of a tile: `TileDescriptor(height, width, transpose=False)`, or of a Tile or another one."""

    height = field(int, 32, least=1)
    width = field(int, 32, least=1)
    transpose = field(bool, False)

    def __init__(self, *args: Any, tile: Any = None, other: Any = None, **kwargs: Any) -> None:
        given = [each for each in (tile, other, *args[:1]) if isinstance(each, Tile | TileDescriptor)]
        if not given:
            super().__init__(*args, **kwargs)
        elif isinstance(given[0], Tile):
            super().__init__(*given[0].tile_shape)
        else:
            super().__init__(**given[0]._values())


class CBFormatDescriptor(Record):
    """Holds the index of a circular buffer, the format of its elements, and the bytes of a page."""

    buffer_index = field(int, 0, least=0)
    data_format = field(DataType, DataType.BFLOAT16)
    page_size = field(int, 0, least=0)
    tile = field(TileDescriptor, None)
    face_geometry = field(FaceGeometry, None, by_name=True)

    @property
    def data_format_as_uint8(self) -> int:
        """Returns the chip's number of the format."""
        if self.data_format.name not in _FORMATS:
            raise ValueError(f"ttnn.CBFormatDescriptor: data_format {self.data_format!r} has no number on the chip")
        return _FORMATS[self.data_format.name]


class CBDescriptor(Record):
    """Holds the bytes of a circular buffer, its cores, and the formats of the indices that share it.

    A buffer of `cb_descriptor_from_sharded_tensor` lies in the tensor's shards.
    """

    total_size = field(int, 0, least=0)
    core_ranges = field(CoreRangeSet, _no_cores())
    format_descriptors = field([CBFormatDescriptor], [])
    address_offset = field(int, 0, by_name=True, least=0)
    remote_format_descriptors = field([CBFormatDescriptor], [], by_name=True)
    _tensor: Tensor | None = None

    def has_buffer(self) -> bool:
        """Tells whether the buffer lies in a tensor."""
        return self._tensor is not None

    def buffer_address(self) -> int | None:
        """Returns the address of the tensor that the buffer lies in, in bytes; None without one."""
        return None if self._tensor is None else int(self._tensor.buffer_address())

    def set_buffer_from_cb(self, other: CBDescriptor) -> None:
        """Places the buffer in the tensor of another one."""
        self._tensor = _of("CBDescriptor.set_buffer_from_cb", other, CBDescriptor)._tensor

    def has_global_circular_buffer(self) -> bool:
        """Tells whether cores of another program fill the buffer, which the simulator does not have."""
        return False


class SemaphoreDescriptor(Record):
    """Holds the number of a semaphore, its cores and its first value."""

    id = field(int, 0, read_only=True, least=0)
    core_type = field(CoreType, CoreType.WORKER)
    core_ranges = field(CoreRangeSet, _no_cores())
    initial_value = field(int, 0, least=0)


class ReaderConfigDescriptor(Record):
    """Says that a kernel reads: RISCV_1 and NOC_0."""


class WriterConfigDescriptor(Record):
    """Says that a kernel writes: RISCV_0 and NOC_1."""


class DataMovementConfigDescriptor(Record):
    """Says on which processor and network a kernel moves data."""

    processor = field(DataMovementProcessor, DataMovementProcessor.RISCV_0)
    noc = field(NOC, NOC.RISCV_0_default)
    noc_mode = field(NOC_MODE, NOC_MODE.DM_DEDICATED_NOC)


class ComputeConfigDescriptor(Record):
    """Says how a kernel computes."""

    math_fidelity = field(_MATH_FIDELITY, _MATH_FIDELITY.HiFi4)
    math_approx_mode = field(bool, False)
    fp32_dest_acc_en = field(bool, False)
    dst_full_sync_en = field(bool, False)
    bfp8_pack_precise = field(bool, False)
    enable_trisc2_rvv = field(bool, False, by_name=True)
    unpack_to_dest_mode = field([UnpackToDestMode], [], by_name=True)


def _words(name: str, values: Any) -> list[int]:
    """Returns arguments of a kernel: numbers of 32 bits."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"ttnn.{name}: {values!r}; expected a list of numbers")
    result = list(values)
    for at, each in enumerate(result):
        if type(each) is not int or not 0 <= each < 2**32:
            raise TypeError(f"ttnn.{name}: element {at} is {each!r}; expected a number of 32 bits from 0 on")
    return result


class RuntimeArgsColProxy:
    """Holds the arguments of the cores of a column: `column[y]`."""

    def __init__(self, arguments: RuntimeArgs, x: int) -> None:
        self._arguments, self._x = arguments, x

    def __getitem__(self, y: int) -> list[int]:
        return self._arguments._of_core(self._x, y)

    def __setitem__(self, y: int, values: Sequence[int]) -> None:
        self._arguments._of_core(self._x, y)[:] = _words("RuntimeArgs", values)

    def append(self, y: int, value: int) -> None:
        """Adds an argument to those of a core."""
        self.extend(y, [value])

    def extend(self, y: int, values: Sequence[int]) -> None:
        """Adds arguments to those of a core."""
        self._arguments._of_core(self._x, y).extend(_words("RuntimeArgs", values))


class RuntimeArgs:
    """Holds the arguments that a kernel gets on each core: `arguments[x][y] = [...]`."""

    def __init__(self) -> None:
        self._cores: dict[tuple[int, int], list[int]] = {}

    def _of_core(self, x: int, y: int) -> list[int]:
        if type(x) is not int or type(y) is not int or x < 0 or y < 0:
            raise TypeError(f"ttnn.RuntimeArgs: core {x!r}, {y!r}; expected two numbers from 0 on")
        return self._cores.setdefault((x, y), [])

    def __getitem__(self, x: int) -> RuntimeArgsColProxy:
        return RuntimeArgsColProxy(self, x)

    def append(self, coord: CoreCoord, values: Sequence[int]) -> None:
        """Adds arguments to those of a core."""
        _of("RuntimeArgs.append", coord, CoreCoord)
        self._of_core(coord.x, coord.y).extend(_words("RuntimeArgs", values))

    def clear(self) -> None:
        """Drops the arguments of all cores."""
        self._cores.clear()

    def get(self, idx: int) -> tuple[CoreCoord, list[int]]:
        """Returns a core that has arguments, by its number, and these."""
        return self.to_list()[idx]

    def to_list(self) -> list[tuple[CoreCoord, list[int]]]:
        """Returns the cores that have arguments, in the order in which they got them, and these."""
        return [(CoreCoord(x, y), list(values)) for (x, y), values in self._cores.items()]

    def __len__(self) -> int:
        return len(self._cores)

    def __iter__(self) -> Iterator[tuple[CoreCoord, list[int]]]:
        return iter(self.to_list())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuntimeArgs) and self._cores == other._cores

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"RuntimeArgs({self._cores})"


def _runtime_args(given: Any) -> RuntimeArgs:
    """Returns arguments of cores: of (core, arguments), or of columns of rows of arguments."""
    if isinstance(given, RuntimeArgs):
        return given
    result = RuntimeArgs()
    for x, each in enumerate(_of("KernelDescriptor: runtime_args", given, list | tuple)):
        if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], CoreCoord):
            result.append(*each)
        else:
            for y, values in enumerate(each):
                result[x][y] = values
    return result


class SourceType(Enum):
    """Says whether a kernel is given as a file or as text."""

    FILE_PATH = 0
    SOURCE_CODE = 1


def _pair(kind: type) -> Callable[[str, Any], list[tuple[str, Any]]]:
    def checked(name: str, values: Any) -> list[tuple[str, Any]]:
        pairs = [tuple(each) if isinstance(each, list | tuple) else each for each in values]
        for each in pairs:
            right = isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) and type(each[1]) is kind
            if not right:
                raise TypeError(
                    f"ttnn.KernelDescriptor: {name} has {each!r}; expected pairs of a name and a {kind.__name__}"
                )
        return pairs

    return checked


_CHECKED: dict[str, Callable[[str, Any], Any]] = {
    "compile_time_args": lambda name, values: _words(f"KernelDescriptor: {name}", values),
    "common_runtime_args": lambda name, values: _words(f"KernelDescriptor: {name}", values),
    "named_compile_time_args": _pair(int),
    "blaze_named_compile_time_args": _pair(int),
    "defines": _pair(str),
    "runtime_args": lambda name, values: _runtime_args(values),
}


class KernelDescriptor(Record):
    """Holds the source of a kernel, its cores, arguments and processor.

    Args:
        kernel_source: a path, or the text, as `source_type` says.
        compile_time_args, common_runtime_args: numbers of 32 bits.
        named_compile_time_args, defines: pairs of a name and a value.
        runtime_args: RuntimeArgs, pairs of a core and its arguments, or columns of rows of arguments.
        opt_level: of the compiler; kept.
        config: a Reader-, Writer-, DataMovement- or ComputeConfigDescriptor.
    """

    SourceType = SourceType

    kernel_source = field((str, PathLike), "")
    source_type = field(SourceType, SourceType.FILE_PATH)
    core_ranges = field(CoreRangeSet, _no_cores())
    compile_time_args = field([int], [])
    named_compile_time_args = field([tuple, list], [])
    defines = field([tuple, list], [])
    runtime_args = field((RuntimeArgs, list, tuple), ())
    common_runtime_args = field([int], [])
    opt_level = field(object, None)
    config = field(
        (ReaderConfigDescriptor, WriterConfigDescriptor, DataMovementConfigDescriptor, ComputeConfigDescriptor),
        ReaderConfigDescriptor(),
    )
    compiler_include_paths = field([str, PathLike], [])
    blaze_named_compile_time_args = field([tuple, list], [], by_name=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _CHECKED:
            setattr(self, name, getattr(self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _CHECKED[name](name, value) if name in _CHECKED else value)

    def clear_runtime_args(self) -> None:
        """Drops the arguments of all cores."""
        self.runtime_args.clear()

    def extend_runtime_args_uniform(self, values: Sequence[int]) -> None:
        """Adds the same arguments on every core of the kernel."""
        for each in self.core_ranges.ranges():
            for x in range(each.start.x, each.end.x + 1):
                for y in range(each.start.y, each.end.y + 1):
                    self.runtime_args.append(CoreCoord(x, y), values)

    def append_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Adds the arguments of another kernel, core by core."""
        for core, values in _of("KernelDescriptor", other, KernelDescriptor).runtime_args:
            self.runtime_args.append(core, values)

    def append_common_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Adds the common arguments of another kernel."""
        self.common_runtime_args.extend(_of("KernelDescriptor", other, KernelDescriptor).common_runtime_args)


class ProgramDescriptor(Record):
    """Holds the kernels, semaphores and circular buffers of a program."""

    kernels = field([KernelDescriptor], [])
    semaphores = field([SemaphoreDescriptor], [])
    cbs = field([CBDescriptor], [])
    custom_program_hash = field(int, None, by_name=True)
    reload_core_ranges = field(CoreRangeSet, None, by_name=True)
    reload_table_addr = field(int, None, by_name=True)


class MeshProgramDescriptor:
    """Holds the programs of ranges of a mesh: `descriptor[MeshCoordinateRange(...)] = program`."""

    def __init__(self, mesh_programs: Mapping[Any, ProgramDescriptor] | None = None) -> None:
        self._programs: dict[MeshCoordinateRange, ProgramDescriptor] = {}
        for key, program in (mesh_programs or {}).items():
            self[key] = program

    def __getitem__(self, key: Any) -> ProgramDescriptor:
        return self._programs[_range(key)]

    def __setitem__(self, key: Any, program: ProgramDescriptor) -> None:
        self._programs[_range(key)] = _of("MeshProgramDescriptor", program, ProgramDescriptor)

    def __len__(self) -> int:
        return len(self._programs)

    def items(self) -> Iterable[tuple[MeshCoordinateRange, ProgramDescriptor]]:
        """Returns ranges and their programs."""
        return self._programs.items()

    def __repr__(self) -> str:
        return f"MeshProgramDescriptor({self._programs})"


def _range(key: Any) -> MeshCoordinateRange:
    if isinstance(key, MeshCoordinate):
        return MeshCoordinateRange(key, key)
    return _of("MeshProgramDescriptor", key, MeshCoordinateRange)


def _of(name: str, value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        expected = getattr(kind, "__name__", "a list")
        raise TypeError(f"ttnn.{name}: {value!r} of type {type(value).__name__}; expected {expected}")
    return value


def cb_descriptor_from_sharded_tensor(
    cb_index: int,
    tensor: Tensor,
    address_offset: int = 0,
    total_size: int = 0,
    core_ranges: CoreRangeSet | None = None,
) -> CBDescriptor:
    """Describes a circular buffer that lies in the shards of a tensor.

    Args:
        cb_index: the index of the buffer.
        address_offset: bytes of a shard before the buffer.
        total_size: bytes of the buffer; 0 means the rest of the shard.
        core_ranges: its cores; by default those of the tensor.
    Raises:
        TypeError, ValueError: the tensor is not sharded in L1, or a shard has no room for the buffer.
    """
    name = "cb_descriptor_from_sharded_tensor"
    memory = _of(name, tensor, Tensor).memory_config()
    if memory is None or memory.shard_spec is None or memory.buffer_type != BufferType.L1:
        raise ValueError(f"ttnn.{name}: tensor lies in {memory}; expected one that is sharded in L1")
    tile = Tile().get_tile_size(tensor.dtype)
    height, width = memory.shard_spec.shape
    tiled = tensor.layout == Layout.TILE
    page = tile if tiled else width * (tile // 1024)
    shard = -(-height // 32) * -(-width // 32) * tile if tiled else height * page
    size = total_size or shard - address_offset
    if address_offset < 0 or address_offset + size > shard:
        raise ValueError(f"ttnn.{name}: {size} bytes from {address_offset} on; a shard of the tensor has {shard} bytes")
    form = CBFormatDescriptor(cb_index, tensor.dtype, page, TileDescriptor() if tiled else None)
    result = CBDescriptor(
        size, memory.shard_spec.grid if core_ranges is None else core_ranges, [form], address_offset=address_offset
    )
    result._tensor = tensor
    return result


def get_cb_address(descriptor: CBDescriptor) -> int:
    """Returns where a circular buffer lies, in bytes.

    Raises:
        ValueError: the buffer lies in no tensor, so its address follows only when the program runs.
    """
    address = _of("get_cb_address", descriptor, CBDescriptor).buffer_address()
    if address is None:
        raise ValueError("ttnn.get_cb_address: descriptor has no buffer; expected one of a sharded tensor")
    return int(address + descriptor.address_offset)


def compute_program_descriptor_hash(program_descriptor: ProgramDescriptor) -> int:
    """Returns a number of 64 bits that two programs share when they differ in runtime arguments alone."""
    program = _of("compute_program_descriptor_hash", program_descriptor, ProgramDescriptor)
    if program.custom_program_hash is not None:
        return int(program.custom_program_hash)
    kernels = [
        {name: value for name, value in each._values().items() if not name.endswith("runtime_args")}
        for each in program.kernels
    ]
    text = repr((kernels, program.semaphores, program.cbs))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def merge_program_descriptors(descriptors: Sequence[ProgramDescriptor]) -> ProgramDescriptor:
    """Returns one program of several whose cores differ.

    Raises:
        ValueError: there is none, or two have kernels on the same core; names it.
    """
    if not descriptors:
        raise ValueError("ttnn.merge_program_descriptors: descriptors is empty; expected at least one program")
    owners: dict[tuple[int, int], int] = {}
    for number, program in enumerate(descriptors):
        for kernel in _of("merge_program_descriptors", program, ProgramDescriptor).kernels:
            for each in kernel.core_ranges.ranges():
                for x in range(each.start.x, each.end.x + 1):
                    for y in range(each.start.y, each.end.y + 1):
                        if owners.setdefault((x, y), number) != number:
                            raise ValueError(
                                f"ttnn.merge_program_descriptors: programs {owners[x, y]} and {number} have kernels on "
                                f"core ({x}, {y}); expected different cores"
                            )
    parts = {name: [each for program in descriptors for each in getattr(program, name)] for name in _PARTS}
    return ProgramDescriptor(**parts)


_PARTS = ("kernels", "semaphores", "cbs")


class TensorAccessorArgs:
    """Holds the compile-time arguments by which a kernel finds the pages of a tensor.

    Interleaved: flags (2: the tensor lies in DRAM) and the bytes of a page. Sharded: flags (1 more), bytes of a page,
    the number of dimensions, the number of banks, the sizes of the tensor and of a shard in pages, and the cores, two
    to a number.
    """

    def __init__(self, tensor: Tensor) -> None:
        memory = _of("TensorAccessorArgs", tensor, Tensor).memory_config()
        if memory is None or tensor.device() is None:
            raise ValueError("ttnn.TensorAccessorArgs: tensor lies on the host; expected one on a device")
        tile = Tile().get_tile_size(tensor.dtype)
        tiled = tensor.layout == Layout.TILE
        shape = list(tensor.padded_shape) or [1]
        width = shape[-1] if memory.shard_spec is None else memory.shard_spec.shape[1]
        page = tile if tiled else width * (tile // 1024)
        flags = 2 * (memory.buffer_type == BufferType.DRAM)
        self._arguments = [int(flags), page]
        if memory.shard_spec is not None:
            down, across = (32, 32) if tiled else (1, width)
            rows = 1
            for size in shape[:-1]:
                rows *= size
            cores = [(x, y) for each in memory.shard_spec.grid.ranges() for x, y in _cores(each)]
            height = memory.shard_spec.shape[0]
            sizes = [-(-rows // down), -(-shape[-1] // across), -(-height // down), -(-width // across)]
            packed = [
                cores[at][0] << 8 | cores[at][1] | (cores[at + 1][0] << 24 | cores[at + 1][1] << 16 if more else 0)
                for at in range(0, len(cores), 2)
                for more in [at + 1 < len(cores)]
            ]
            self._arguments = [int(flags) | 1, page, 2, len(cores), *sizes, *packed]

    def get_compile_time_args(self) -> list[int]:
        """Returns the arguments."""
        return list(self._arguments)

    def get_common_runtime_args(self) -> list[int]:
        """Returns arguments that are known at run time alone: none."""
        return []


def _cores(each: Any) -> Iterator[tuple[int, int]]:
    return ((x, y) for y in range(each.start.y, each.end.y + 1) for x in range(each.start.x, each.end.x + 1))
