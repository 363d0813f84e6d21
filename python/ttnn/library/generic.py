# SPDX-License-Identifier: Apache-2.0
"""Runs programs of kernels written by hand on the simulated cores, on tensors of a device: `generic_op`.

The kernels are C++ over the kernel API of docs/kernels.md. They are code of the caller's own process, which compiles
them, and run as native code. Records say how kernels send data to groups of cores, and how gates between programs lie
in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from _ttmlir_runtime import metal, runtime
from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import CoreCoord, CoreRangeSet

from .kernels import (
    CBDescriptor,
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    KernelDescriptor,
    MeshProgramDescriptor,
    ProgramDescriptor,
    SourceType,
    WriterConfigDescriptor,
)
from .modes import NOC, McastCoreOrder, McastDataReady, McastSenderPlacement, TransferMode, UnpackToDestMode
from .prepared import demands
from .records import Record, field

__all__ = [
    "D2DStageGateConfig",
    "McastConfig",
    "McastExplicitFixedSenderConfig",
    "McastFixedSenderConfig",
    "McastRotatingSenderConfig",
    "generic_op",
]

_TYPES = {
    "BFLOAT16": "BFloat16", "BFLOAT2_B": "BFP_BFloat2", "BFLOAT4_B": "BFP_BFloat4", "BFLOAT8_B": "BFP_BFloat8",
    "BOOL": "Bool", "FLOAT32": "Float32", "INT32": "Int32", "UINT16": "UInt16", "UINT32": "UInt32", "UINT8": "UInt8",
}  # fmt: skip
_PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def _cores(ranges: CoreRangeSet) -> list[tuple[int, int]]:
    return [
        (x, y)
        for each in ranges.ranges()
        for y in range(each.start.y, each.end.y + 1)
        for x in range(each.start.x, each.end.x + 1)
    ]


def _circular(at: int, given: CBDescriptor) -> list[metal.CircularBuffer]:
    """Returns the circular buffers of the indices that share a descriptor's bytes."""
    found = []
    address = None if given._tensor is None else int(given._tensor.buffer_address()) + given.address_offset
    for form in given.format_descriptors:
        if form.data_format.name not in _TYPES:
            raise ValueError(f"ttnn.generic_op: cbs[{at}] has {form.data_format!r}, which the cores do not compute")
        if form.page_size < 1 or given.total_size % form.page_size:
            raise ValueError(
                f"ttnn.generic_op: cbs[{at}] has {given.total_size} bytes; expected a multiple of page_size "
                f"{form.page_size}"
            )
        kind = getattr(runtime.DataType, _TYPES[form.data_format.name])
        pages = given.total_size // form.page_size
        cores = _cores(given.core_ranges)
        found.append(metal.CircularBuffer(form.buffer_index, kind, form.page_size, pages, cores, address))
    if given.remote_format_descriptors or not found:
        raise ValueError(f"ttnn.generic_op: cbs[{at}] has remote formats or none; expected format_descriptors alone")
    return found


def _source(kernel: KernelDescriptor, name: str) -> str:
    """Returns the text of a kernel, behind the values that it finds by name."""
    text = str(kernel.kernel_source)
    if kernel.source_type == SourceType.FILE_PATH:
        try:
            text = Path(text).read_text()
        except OSError as error:
            raise ValueError(f"ttnn.generic_op: {name}: kernel_source cannot be read: {error}") from None
    if kernel.compiler_include_paths:
        raise ValueError(f"ttnn.generic_op: {name}: compiler_include_paths is not supported; expected none")
    names = [*kernel.named_compile_time_args, *kernel.blaze_named_compile_time_args]
    if not names:
        return text
    chosen = "".join(f'name == "{each}" ? {value}u : ' for each, value in names)
    return (
        "#include <string_view>\n"
        "consteval uint32_t get_named_compile_time_arg_val(std::string_view name) {\n"
        f'  return {chosen}throw "get_named_compile_time_arg_val: there is no argument of this name";\n}}\n'
        f"#line 1\n{text}"
    )


def _kernel(at: int, given: KernelDescriptor) -> metal.Kernel:
    name = f"kernels[{at}]"
    if given.source_type == SourceType.FILE_PATH:
        name += f" ({Path(str(given.kernel_source)).name})"
    how: dict[str, Any] = {}
    config = given.config
    if isinstance(config, ComputeConfigDescriptor):
        fidelity = config.math_fidelity.name
        if fidelity not in _PHASES:
            raise ValueError(f"ttnn.generic_op: {name}: math_fidelity is {fidelity}; expected {', '.join(_PHASES)}")
        how = {"compute": True, "fp32_dest_acc": config.fp32_dest_acc_en, "dst_full": config.dst_full_sync_en,
               "fidelity_phases": _PHASES[fidelity], "math_approx": config.math_approx_mode,
               "bfp8_pack_precise": config.bfp8_pack_precise,
               "unpack_to_dest_fp32": [port for port, mode in enumerate(config.unpack_to_dest_mode)
                                       if mode == UnpackToDestMode.UnpackToDestFp32]}  # fmt: skip
    elif isinstance(config, DataMovementConfigDescriptor):
        how = {"noc": int(config.noc.value)}
    elif isinstance(config, WriterConfigDescriptor):
        how = {"noc": 1}
    cores = _cores(given.core_ranges)
    arguments = {(core.x, core.y): values for core, values in given.runtime_args}
    return metal.Kernel(
        name,
        _source(given, name),
        cores,
        compile_args=given.compile_time_args,
        defines=dict(given.defines),
        common_args=given.common_runtime_args,
        args=arguments,
        **how,
    )


def _parts(program: Any, rows: int, columns: int) -> Iterator[tuple[ProgramDescriptor, list[int]]]:
    """Yields programs and the chips of a mesh that run each."""
    if isinstance(program, ProgramDescriptor):
        yield program, list(range(rows * columns))
        return
    for places, each in program.items():
        (first, last) = (list(places.start), list(places.end))
        chips = [y * columns + x for y in range(first[0], last[0] + 1) for x in range(first[1], last[1] + 1)]
        if last[0] >= rows or last[1] >= columns:
            raise ValueError(f"ttnn.generic_op: {places!r} is not inside of the mesh of {rows}x{columns}")
        yield each, chips


@demands("program_descriptor")
def generic_op(
    io_tensors: Sequence[Tensor],
    program_descriptor: ProgramDescriptor | MeshProgramDescriptor | None = None,
    *,
    mesh_program_descriptor: MeshProgramDescriptor | None = None,
) -> Tensor:
    """Runs the kernels of a program on tensors of a device, and returns the last one, which has the result.

    Kernels find every tensor at its address. What they write to any of them stays there. On a mesh, every chip runs the
    program; a tensor without a mapper gets a value for each chip where these may differ. A trace records the run.

    Args:
        io_tensors: the tensors that kernels read and write, on one device; the last one has the result.
        program_descriptor: kernels, circular buffers and semaphores; or programs of parts of a mesh.
        mesh_program_descriptor: another name of program_descriptor.
    Raises:
        TypeError, ValueError: an argument is of another type, or says what the cores do not have.
        RuntimeError: a kernel does not compile, does something wrong, or waits for what never comes; names it.
    """
    if mesh_program_descriptor is not None:
        if program_descriptor is not None:
            raise TypeError(
                "ttnn.generic_op: program_descriptor and mesh_program_descriptor are given; expected one of them"
            )
        program_descriptor = mesh_program_descriptor
    tensors = list(io_tensors) if isinstance(io_tensors, Sequence) else [io_tensors]
    for at, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise TypeError(f"ttnn.generic_op: io_tensors[{at}] is {each!r}; expected a ttnn.Tensor")
    if not tensors:
        raise ValueError("ttnn.generic_op: io_tensors is empty; expected at least the result")
    if not isinstance(program_descriptor, ProgramDescriptor | MeshProgramDescriptor):
        raise TypeError(f"ttnn.generic_op: program_descriptor is {program_descriptor!r}; expected a ProgramDescriptor")
    device = tensors[-1].device()
    if device is None:
        raise ValueError(f"ttnn.generic_op: io_tensors[{len(tensors) - 1}] lies on the host; expected one on a device")
    for program, chips in _parts(program_descriptor, *device.get_mesh_shape()):
        metal.run_on_tensors(
            [metal.PagedTensor(each) for each in tensors],
            [_kernel(at, each) for at, each in enumerate(program.kernels)],
            [_circular(at, each) for at, each in enumerate(program.cbs)],
            [metal.Semaphore(each.id, _cores(each.core_ranges), each.initial_value) for each in program.semaphores],
            chips,
            "generic_op",
        )
    return tensors[-1]


class McastConfig(Record):
    """Says by which network data goes to a group, and how sender and receivers agree."""

    noc = field(NOC, NOC.RISCV_0_default, by_name=True)
    handshake = field(bool, True, by_name=True)
    handshake_cores = field(CoreRangeSet, None, by_name=True)
    data_ready = field(McastDataReady, McastDataReady.Flag, by_name=True)
    irregular_receiver_set_mode = field(TransferMode, TransferMode.Multicast, by_name=True)


class McastFixedSenderConfig(Record):
    """Says that one core of each group sends, by its place in the group."""

    sender_index = field(int, 0, by_name=True, least=0)
    placement = field(McastSenderPlacement, McastSenderPlacement.Uniform, by_name=True)


class McastExplicitFixedSenderConfig(Record):
    """Holds the core that sends, for each group."""

    senders_per_group = field([CoreCoord])


class McastRotatingSenderConfig(Record):
    """Says that the cores of a group send in turn."""

    sender_cores = field(CoreRangeSet, None)
    sender_order = field(McastCoreOrder, None, by_name=True)


class D2DStageGateConfig(Record):
    """Holds the number of gates between two stages, and where their words lie, in bytes."""

    num_gates = field(int, least=1)
    slot_id_offset_bytes = field(int, least=0)
    gate_mode_offset_bytes = field(int, least=0)
