# SPDX-License-Identifier: Apache-2.0
"""Operations: a function whose body defines kernels and buffers; a call compiles the kernels and runs them."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import ttnn
from _ttmlir_runtime import metal, runtime

from . import building
from .buffers import MOST_BUFFERS
from .building import Building, KernelFunction
from .errors import DefinitionError, KernelError, ShapeError
from .kernel.compiler import compiled
from .kernel.core import Surroundings, dtype_name
from .kernel.prelude import COMPUTE, MOVEMENT
from .kernel.registers import Intermediates
from .signature import signature

MOST_SEMAPHORES = 16
_ROUND = 16  # bytes: what circular buffers are aligned to


@dataclass(frozen=True)
class CompiledKernel:
    """Holds the C++ of a kernel, and where Python has its lines."""

    name: str
    file: str
    source: str
    computes: bool


@dataclass(frozen=True)
class CompiledOperation:
    """Holds what a call runs: kernels, buffers (name, element type, bytes of a page, pages), cores."""

    kernels: tuple[CompiledKernel, ...]
    buffers: tuple[tuple[str, str, int, int], ...]
    cores: tuple[tuple[int, int], ...]
    semaphores: tuple[str, ...]  # what each is for
    tensors: tuple[int, ...]  # the places of the tensors among those of the signature
    wide: bool
    full: bool


def _register_kernel(function: Any, computes: bool) -> KernelFunction:
    name = f"ttl.{'compute' if computes else 'datamovement'}"
    if not isinstance(function, FunctionType):
        raise DefinitionError(f"{name}: {function!r}; expected a function")
    kernel = KernelFunction(function, computes)
    current = building.CURRENT.get()
    if current is not None:
        current.kernels.append(kernel)
    return kernel


def compute() -> Callable[[Callable[[], None]], KernelFunction]:
    """Marks the kernel of an operation that computes: `@ttl.compute()`."""
    return lambda function: _register_kernel(function, True)


def datamovement() -> Callable[[Callable[[], None]], KernelFunction]:
    """Marks a kernel of an operation that moves data: `@ttl.datamovement()`; an operation has two."""
    return lambda function: _register_kernel(function, False)


class Operation:
    """Is a function of tensors that runs on the cores of a device. `report` tells what the last call did."""

    def __init__(self, body: Any, grid: Any, fp32_dest_acc_en: bool | None, dst_full_sync_en: bool | None) -> None:
        self.body, self.grid = body, grid
        self.fp32_dest_acc_en, self.dst_full_sync_en = fp32_dest_acc_en, dst_full_sync_en
        self.report: metal.KernelReport | None = None
        self._compiled: dict[Any, CompiledOperation] = {}
        functools.update_wrapper(self, body)

    def _grid_on(self, device: Any) -> tuple[int, int]:
        there = device.compute_with_storage_grid_size()
        name = f"operation {self.body.__name__}"
        if self.grid in ("auto", "full"):
            return int(there.x), int(there.y)
        if not isinstance(self.grid, tuple | list) or any(type(each) is not int or each < 1 for each in self.grid):
            raise ShapeError(f"{name}: grid is {self.grid!r}; expected 'auto', 'full' or (columns, rows)")
        if len(self.grid) > 2:
            raise ShapeError(
                f"{name}: grid is {self.grid!r}; expected 2 dimensions: several chips each run the operation"
            )
        x, y = (*self.grid, 1)[:2]
        if x > there.x or y > there.y:
            raise ShapeError(
                f"{name}: grid is {self.grid!r}; the device has {there.x} columns and {there.y} rows of nodes"
            )
        return x, y

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Runs the operation on tensors of a device, which hold the results afterwards.

        Raises:
            TTLError: the program is wrong; the message has file and line.
        """
        devices = (each.device() for each in tensors_in((args, kwargs)))
        device = next((each for each in devices if each is not None), None)
        if device is None:
            raise DefinitionError(f"operation {self.body.__name__}: no argument is a tensor on a device")
        grid = self._grid_on(device)
        state = Building(grid)
        token = building.CURRENT.set(state)
        try:
            self.body(*args, **kwargs)
        finally:
            building.CURRENT.reset(token)
        self._execute(state, device)

    def _execute(self, state: Building, device: Any) -> None:
        name = f"operation {self.body.__name__}"
        computing = [each for each in state.kernels if each.computes]
        moving = [each for each in state.kernels if not each.computes]
        if len(computing) != 1 or len(moving) != 2:
            raise DefinitionError(
                f"{name}: defines {len(computing)} kernels that compute and {len(moving)} that move data; "
                "expected 1 (@ttl.compute) and 2 (@ttl.datamovement)"
            )
        kernels = [*computing, *moving]
        if len({each.__name__ for each in kernels}) < len(kernels):
            raise DefinitionError(f"{name}: two of its kernels have the same name; expected three names")
        key, found = signature(kernels, state)
        if key not in self._compiled:
            around, program = self._compile(name, kernels, state)
            places = tuple(next(at for at, each in enumerate(found) if each is tensor) for tensor in around.tensors)
            self._compiled[key] = CompiledOperation(**{**program.__dict__, "tensors": places})
        ready = self._compiled[key]
        self._run(ready, [found[at] for at in ready.tensors], device)

    def _compile(
        self, name: str, kernels: list[KernelFunction], state: Building
    ) -> tuple[Surroundings, CompiledOperation]:
        wide = self.fp32_dest_acc_en
        if wide is None:
            wide = any(each.dtype in (ttnn.float32, ttnn.int32, ttnn.uint32) for each in state.buffers)
        full = bool(self.dst_full_sync_en)
        around = Surroundings(state.grid, wide, (4 if wide else 8) * (2 if full else 1), state.buffers)
        around.intermediates = Intermediates(len(state.buffers), "Float32" if wide else "BFloat16")
        done = [compiled(each, around) for each in kernels]
        sources = tuple(
            CompiledKernel(
                each.kernel.__name__,
                each.file,
                (COMPUTE if each.kernel.computes else MOVEMENT) + each.text(),
                each.kernel.computes,
            )
            for each in done
        )
        buffers = [
            (each.name, dtype_name(each.dtype, each.name), each.page_bytes, each.pages * each.block_count)
            for each in state.buffers
        ]
        tile = {"Float32": 4096, "Int32": 4096, "UInt32": 4096, "UInt16": 2048, "UInt8": 1024, "BFloat16": 2048}
        buffers += [("an intermediate buffer", kind, tile[kind], tiles) for tiles, kind in around.intermediates.made]
        if len(buffers) > MOST_BUFFERS:
            raise ShapeError(
                f"{name}: needs {len(buffers)} buffers, {len(around.intermediates.made)} of them for intermediate "
                "values; "
                f"a node has {MOST_BUFFERS}"
            )
        semaphores = []
        for net in around.nets.values():
            kinds = ("valid", "ready", "where") if net.pushes else ("valid", "taken")
            for kind in kinds:
                semaphores += [f"{kind} of pipe net {net.net.name}"] * (max(net.slots) + 1)
        if len(semaphores) > MOST_SEMAPHORES:
            raise ShapeError(
                f"{name}: its pipe nets need {len(semaphores)} semaphores; a node has {MOST_SEMAPHORES}. Let fewer "
                "pipes of "
                "a net begin or end at one node"
            )
        cores = [(x, y) for y in range(state.grid[1]) for x in range(state.grid[0])]
        if around.nets:
            active = set().union(*(net.active for net in around.nets.values()))
            cores = [each for each in cores if each in active]
        return around, CompiledOperation(sources, tuple(buffers), tuple(cores), tuple(semaphores), (), wide, full)

    def _run(self, ready: CompiledOperation, tensors: list[ttnn.Tensor], device: Any) -> None:
        name = f"operation {self.body.__name__}"
        if not tensors:
            raise DefinitionError(f"{name}: its kernels read and write no tensor")
        for each in tensors:
            if each.device() is None:
                raise DefinitionError(
                    f"{name}: a tensor of shape {list(each.shape)} lies on the host; expected one on a device"
                )
        size = int(device.get_l1_size_per_core())
        needed = sum(-(-page * pages // _ROUND) * _ROUND for _, _, page, pages in ready.buffers)
        if needed > size:
            largest = sorted(ready.buffers, key=lambda each: -each[2] * each[3])[:4]
            shown = ", ".join(f"{label} {page * pages}" for label, _, page, pages in largest)
            raise ShapeError(
                f"{name}: its buffers have {needed} bytes; the L1 of a node has {size}. The largest: {shown}"
            )
        addresses = [int(each.buffer_address()) for each in tensors]
        cores = list(ready.cores)
        kernels = []
        for at, kernel in enumerate(ready.kernels):
            how: dict[str, Any] = {"noc": at - 1}
            if kernel.computes:
                how = {"compute": True, "fp32_dest_acc": ready.wide, "dst_full": ready.full}
            kernels.append(metal.Kernel(kernel.name, kernel.source, cores, common_args=addresses, **how))
        circular = [
            [metal.CircularBuffer(at, getattr(runtime.DataType, kind), page, pages, cores)]
            for at, (_, kind, page, pages) in enumerate(ready.buffers)
        ]
        chips = device.get_num_devices()  # each runs the operation on its own part of the tensors
        try:
            self.report = metal.run_on_tensors(
                [metal.PagedTensor(each) for each in tensors],
                kernels,
                circular,
                [],
                list(range(chips)),
                self.body.__name__,
            )
        except RuntimeError as error:
            raise KernelError(explained(str(error), ready)) from None
        if self.report.printed:
            sys.stdout.write(self.report.printed)


def tensors_in(value: Any) -> Iterator[ttnn.Tensor]:
    """Yields the tensors of arguments, also those in lists, tuples and dicts."""
    if isinstance(value, ttnn.Tensor):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(each)


def explained(text: str, ready: CompiledOperation) -> str:
    """Returns a message of the cores with the names and lines of Python."""
    files = {each.name: each.file for each in ready.kernels}
    lines = []
    for line in text.splitlines():
        kernel = re.search(r"kernel (\w+) on core", line)
        if kernel and kernel[1] in files:
            line = re.sub(r"\(line (\d+)\)$", rf"({files[kernel[1]]}:\1)", line)
            line = re.sub(r", line (\d+): ", rf", {files[kernel[1]]}:\1: ", line)
        line = re.sub(r"port (\d+)\b", lambda m: f"port {m[1]} ({ready.buffers[int(m[1])][0]})"
                      if int(m[1]) < len(ready.buffers) else m[0], line)  # fmt: skip
        line = re.sub(r"circular buffer (\d+)\b", lambda m: f"circular buffer {m[1]} ({ready.buffers[int(m[1])][0]})"
                      if int(m[1]) < len(ready.buffers) else m[0], line)  # fmt: skip
        line = re.sub(r"semaphore (\d+)\b", lambda m: f"semaphore {m[1]} ({ready.semaphores[int(m[1])]})"
                      if int(m[1]) < len(ready.semaphores) else m[0], line)  # fmt: skip
        lines.append(line)
    return "\n".join(lines)


def operation(
    grid: Any = "full", fp32_dest_acc_en: bool | None = None, dst_full_sync_en: bool | None = None
) -> Callable[[Callable[..., None]], Operation]:
    """Makes an operation of a function whose body defines buffers and kernels.

    Args:
        grid: (columns, rows) of nodes; "full" and "auto" take all of the device.
        fp32_dest_acc_en: whether destination registers hold 4 tiles of 32 bits rather than 8 of 16; by default where a
            buffer has elements of 32 bits.
        dst_full_sync_en: whether there are twice as many.
    """

    def decorate(body: Callable[..., None]) -> Operation:
        if not isinstance(body, FunctionType):
            raise DefinitionError(f"ttl.operation: {body!r}; expected a function")
        return Operation(body, grid, fp32_dest_acc_en, dst_full_sync_en)

    return decorate


class Program:
    """Runs kernels that are defined outside of an operation: `Program(compute, read, write, grid=(1, 1))(*tensors)`."""

    def __init__(self, *funcs: KernelFunction, grid: Any = "full") -> None:
        for each in funcs:
            if not isinstance(each, KernelFunction):
                raise DefinitionError(f"ttl.Program: {each!r}; expected kernels (@ttl.compute, @ttl.datamovement)")
        self.kernels = funcs

        def program(*tensors: ttnn.Tensor) -> None:
            building.current("ttl.Program").kernels.extend(self.kernels)

        self.operation = Operation(program, grid, None, None)

    def __call__(self, *tensors: ttnn.Tensor) -> None:
        """Runs the kernels on the device of the tensors."""
        self.operation(*tensors)
