# SPDX-License-Identifier: Apache-2.0
"""A compiled graph: the flatbuffer, its weights on the device, and calls with PyTorch's tensors."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple, cast

import _ttmlir_runtime as tt
from ttmlir.chips import default_device, lower
from ttmlir.options import CompileOptions
from ttmlir.passes import run_pass, ttnn_to_flatbuffer_bin

import torch

from .errors import OutOfRangeError, OverflowedError, ResultError
from .importer import Argument, Imported
from .integers import LIMIT
from .lowering import Draw
from .memory.weights import Resident, Together, samples_of, version_of
from .options import Options
from .residence import is_sole_user, kept

runtime = tt.runtime
DATA_TYPES = {
    torch.float32: runtime.DataType.Float32,
    torch.float64: runtime.DataType.Float64,
    torch.float16: runtime.DataType.Float16,
    torch.bfloat16: runtime.DataType.BFloat16,
    torch.int64: runtime.DataType.Int64,
    torch.int32: runtime.DataType.Int32,
    torch.int16: runtime.DataType.Int16,
    torch.int8: runtime.DataType.Int8,
    torch.uint8: runtime.DataType.UInt8,
    torch.uint16: runtime.DataType.UInt16,
    torch.uint32: runtime.DataType.UInt32,
    torch.bool: runtime.DataType.Bool,
}
STRIDE = torch.Tensor.stride
# Types of the device whose memory PyTorch's tensors share.
SHARED = {torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.uint8, torch.uint16, torch.uint32}


def host_tensor(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> Any:
    """Returns a host tensor of the runtime. It borrows PyTorch's memory if the device has the type and elements are
    row-major; the caller keeps `tensor` alive.

    dtype: what the program was made for. An op that PyTorch runs can return another than its graph says.
    """
    shared = is_shared(tensor) and dtype in (None, tensor.dtype)
    tensor = (tensor if dtype is None else tensor.to(dtype)).contiguous()
    make = runtime.create_borrowed_host_tensor if shared else runtime.create_owned_host_tensor
    shape = list(tensor.shape)
    return make(tensor.data_ptr(), shape, list(tensor.stride()), tensor.element_size(), DATA_TYPES[tensor.dtype])


def is_shared(tensor: torch.Tensor) -> bool:
    """Returns whether the runtime can use PyTorch's memory."""
    return tensor.dtype in SHARED and tensor.is_contiguous() and tensor.numel() > 0


def lower_once(module: Any, pipeline: CompileOptions) -> None:
    """Runs the pipeline with equal ops as one: each layer of a model computes the same mask and angles again."""
    run_pass(module, "ttcore-merge-equal-ops", verify=False)
    lower(module, pipeline)


@dataclass
class Times:
    """The times of compiling and of the first run, in seconds.

    preparation: of the first run, all but its ops: weights are brought into the forms that kernels read, and the run is
        planned. first_run: its ops.
    """

    import_graph: float = 0.0
    passes: float = 0.0
    flatbuffer: float = 0.0
    preparation: float = 0.0
    first_run: float = 0.0

    def count_first_run(self, seconds: float, device: Any) -> None:
        report = runtime.last_run(device)
        self.first_run = report.host_ns / 1e9 if report is not None else 0.0
        self.preparation = max(seconds - self.first_run, 0.0)


class Form(NamedTuple):
    """The properties that PyTorch expects of a tensor."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]


def form_of(value: Any) -> Any:
    """Returns the form of a tensor; any other value unchanged."""
    return Form(value.dtype, tuple(value.shape), value.stride()) if isinstance(value, torch.Tensor) else value


@dataclass
class Call:
    """The state that a call depends on in addition to its arguments.

    outputs: forms of the graph's outputs and then of the arguments that it writes.
    known: of each output, where the program does not compute it (`Imported.known`).
    draws: numbers that the host draws. inputs: of the program behind those.
    is_checked: results had the shapes of `outputs`.
    computed: outputs that the program computes, by number.
    """

    outputs: Sequence[Any]
    known: Sequence[Any]
    draws: Sequence[Callable[[], torch.Tensor]] = ()
    inputs: Sequence[Any] = ()
    is_checked: bool = False
    computed: Sequence[int] | None = None


@dataclass
class Program:
    """A graph that was compiled, to be called with the graph's arguments.

    tensors: numbers of the arguments that are tensors, in the order of the program's inputs, and their dtypes.
    parameters: numbers of the arguments that are weights.
    outputs: as `Call` has them.
    watch: compare the values of weights with those that were sent, at each call.
    calls: how many there were. transfers: tensors that the last one sent to the device, and fetched from it.
    """

    imported: Imported
    tensors: Mapping[int, torch.dtype]
    parameters: frozenset[int]
    outputs: Sequence[Any]
    options: Options
    watch: bool = False
    keep_text: bool = False
    times: Times = field(default_factory=Times)
    calls: int = 0
    transfers: int = 0

    def __post_init__(self) -> None:
        self.ttir = str(self.imported.module) if self.keep_text else ""
        self.resident: dict[int, Resident] = {}
        self.together: Together | None = None
        # Arguments by place among the program's inputs: those written where they are, weights, and all others.
        places = list(enumerate(self.tensors.items()))
        updated, written = frozenset(self.imported.updated), {number for number, _ in self.imported.writes}
        self.updates = [(place, number) for place, (number, _) in places if number in updated]
        weights = [(place, number) for place, (number, _) in places if number in self.parameters - updated]
        self.weights = [pair for pair in weights if pair[1] not in written]
        self.written_weights = [pair for pair in weights if pair[1] in written]
        stay = {place for place, _ in (*self.updates, *weights)}
        self.activations = [(place, number, dtype) for place, (number, dtype) in places if place not in stay]
        together = {number for _, number in self.weights}
        self.others = [number for number in self.tensors if number not in together]
        self.make()
        self.ttnn = str(self.imported.module) if self.keep_text else ""

    def make(self) -> None:
        """Gets the flatbuffer: a kept one, or a new one."""
        cache, pipeline = self.options.cache, self.options.compile_options()
        name = cache.name(self.imported.module, str(pipeline)) if cache else ""
        # The texts are those of passes that have run.
        if cache and not self.keep_text and (found := cache.find(name)):
            self.flatbuffer, self.binary = found
        else:
            self.compile(pipeline)
            if cache:
                cache.keep(name, self.flatbuffer)

    def compile(self, pipeline: CompileOptions) -> None:
        started = time.perf_counter()
        lower_once(self.imported.module, pipeline)
        self.times.passes = time.perf_counter() - started
        started = time.perf_counter()
        self.flatbuffer = ttnn_to_flatbuffer_bin(self.imported.module)
        # Machine code that it has was compiled here.
        self.binary = tt.binary.load_binary_from_bytes(self.flatbuffer, allow_native=True)
        self.times.flatbuffer = time.perf_counter() - started

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the program.

        Args:
            arguments: of the graph, tensors on the CPU.
        Returns:
            The graph's outputs, tensors of their own. Arguments that the graph writes are written.
        """
        device = self.options.device if self.options.device is not None else default_device()
        self.calls += 1
        self.transfers = 0
        started = time.perf_counter()
        now = self.at(arguments)
        drawn = [draw() for draw in now.draws]  # alive until the run ends
        try:
            inputs, weights = self.with_weights(arguments, device)
            for place, argument in self.written_weights:
                inputs[place] = self.weight(place, argument, arguments[argument], device)
            for place, argument in self.updates:
                inputs[place] = self.updated(place, arguments[argument], device)
            for place, argument, dtype in self.activations:
                inputs[place] = self.activation(arguments[argument], dtype, device)
            inputs += [self.send(tensor) for tensor in drawn]
            inputs += now.inputs
            results = runtime.submit(device, self.binary, 0, inputs)
        except tt.Error:
            self.check_range(arguments)
            raise
        if self.calls == 1:
            self.times.count_first_run(time.perf_counter() - started, device)
        count_writes(arguments[number] for _, number in self.updates)
        self.check_limits(results)
        numbers, count = self.imported.results, len(self.imported.results)
        if now.computed is None:
            pairs = enumerate(zip(numbers, now.known, strict=True))
            now.computed = [i for i, (n, known) in pairs if n is not None and not isinstance(known, Argument)]
        computed = [results[cast(int, numbers[i])] for i in now.computed]
        forms = [now.outputs[i] for i in now.computed]
        given = borrowed(computed)
        if not now.is_checked:
            # What has its form has its shape.
            if self.imported.writes or not are_in(given, forms):
                self.check_results(results, now.outputs)
            now.is_checked = True
        self.transfers += len(numbers) - numbers.count(None)
        # A program may return an argument: that is not separate memory.
        taken = {*weights, *map(torch.Tensor.data_ptr, [arguments[number] for number in self.others])}
        returned = [arguments[known.number] if isinstance(known, Argument) else known for known in now.known]
        for i, tensor in zip(now.computed, own(computed, given, forms, taken, device), strict=True):
            returned[i] = tensor
        with torch.no_grad():
            for (number, result), form in zip(self.imported.writes, now.outputs[count:], strict=True):
                self.write(arguments[number], results[result], form, taken, device)
        return returned

    def at(self, _arguments: Sequence[Any]) -> Call:
        """Returns what this call depends on."""
        return self.same_for_all

    @cached_property
    def same_for_all(self) -> Call:
        # Numbers that are values of open sizes are inputs of open programs only.
        draws = [draw for draw in self.imported.draws if isinstance(draw, Draw)]
        return Call([form_of(output) for output in self.outputs], self.imported.known, draws)

    def check_limits(self, results: Sequence[Any]) -> None:
        """Refuses results of integers beyond 32 bits.

        Raises:
            OverflowedError: names the first.
        """
        for number, text in self.imported.limits:
            (magnitude,) = borrowed([results[number]])
            if not float(magnitude[0]) < LIMIT:
                raise OverflowedError(f"{text}, may exceed the 32 bits in which the chip holds it")

    def check_results(self, results: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Refuses results of another shape than the graph has; dimensions of 1 do not count.

        Raises:
            ResultError: names the op of the first, and both shapes.
        """
        numbers = [*self.imported.results, *(result for _, result in self.imported.writes)]
        for i, (number, form) in enumerate(zip(numbers, outputs, strict=True)):
            if number is None:
                continue
            found, expected = list(results[number].shape), list(form.shape)
            if found != expected and [n for n in found if n != 1] != [n for n in expected if n != 1]:
                name = self.imported.names[i]
                raise ResultError(f"{name}: the program gives {found}; expected {expected}, as PyTorch's graph has it")

    def check_range(self, arguments: Sequence[Any]) -> None:
        """Names the argument that the runtime refused because 32 bits do not hold it.

        Raises:
            OutOfRangeError: says which, its value and the range.
        """
        for number in self.tensors:
            tensor = arguments[number]
            if tensor.dtype is not torch.int64 or not tensor.numel():
                continue
            for value in (int(tensor.min()), int(tensor.max())):
                if not -(2**31) <= value < 2**31:
                    raise OutOfRangeError(
                        f"argument {number} of the graph, int64{list(tensor.shape)}, has the value {value}; the chip "
                        f"holds 64-bit integers in 32 bits, {-(2**31)} to {2**31 - 1}"
                    )

    def send(self, tensor: torch.Tensor, dtype: torch.dtype | None = None) -> Any:
        self.transfers += 1
        return host_tensor(tensor.detach(), dtype)

    def activation(self, tensor: torch.Tensor, dtype: torch.dtype, device: Any) -> Any:
        known = kept.find(tensor, device) if tensor.dtype is dtype else None
        return known if known is not None else self.send(tensor, dtype)

    def updated(self, place: int, tensor: torch.Tensor, device: Any) -> Any:
        """Returns an argument that the program writes where it is: a tensor of the device that has PyTorch's memory."""
        known = kept.find(tensor, device, shared=True)
        if known is None:
            self.transfers += kept.find(tensor, device) is None
            layout = runtime.get_layout(self.binary, 0, place)
            known = runtime.create_borrowed_device_tensor(host_tensor(tensor.detach()), device, layout)
            kept.keep(tensor, known, device, shared=True)
        return known

    def write(self, tensor: torch.Tensor, result: Any, form: Form, taken: set[int], device: Any) -> None:
        """Gives an argument its new values, where gradients are off.

        It takes the result's memory, which is the device's, where it alone uses its own; else values are copied.
        """
        if tensor.dtype not in SHARED:
            (value,) = borrowed([result])
            self.transfers += 1
            tensor.copy_(value if value.shape == tensor.shape else value.reshape(tensor.shape))
            return
        (value,) = own([result], borrowed([result]), [form], taken, device)
        if not tensor.requires_grad and kept.find(value, device) is not None and is_sole_user(tensor):
            tensor.set_(value)  # type: ignore[call-overload]
        else:
            self.transfers += 1
            tensor.copy_(value)

    def with_weights(self, arguments: Sequence[Any], device: Any) -> tuple[list[Any], frozenset[int]]:
        """Returns a list for the program's inputs, with its weights in their places, and the addresses of these."""
        given = [arguments[number] for _, number in self.weights]
        if self.together is None or not self.together.are(given):
            self.together = None
            places = {
                place: self.weight(place, number, tensor, device)
                for (place, number), tensor in zip(self.weights, given, strict=True)
            }
            inputs = [places.get(place) for place in range(len(self.tensors))]
            if self.watch:
                return inputs, frozenset(tensor.data_ptr() for tensor in given)
            self.together = Together([self.resident[number] for _, number in self.weights], given, inputs)
        return [*self.together.inputs], self.together.all_addresses

    def weight(self, place: int, number: int, tensor: torch.Tensor, device: Any) -> Any:
        """Returns a weight in the memory that the program requires; it is sent again if it is another tensor or was
        written.

        PyTorch's memory is used as it is where the types agree: there is no second copy of the values but the form that
        a kernel likes. PyTorch counts writes, but not those through `.data` or another library's view of the memory;
        with `watch` the values decide: the runtime compares those that it keeps in a form of its own. Without it a few
        values are looked at, which finds what writes all of a weight.
        """
        known = self.resident.get(number)
        if known is not None and known.is_of(tensor):
            return known.value
        values, layout, copy = tensor.detach(), runtime.get_layout(self.binary, 0, place), None
        if (value := kept.find(tensor, device)) is None:
            value = host_tensor(values)
            if not is_shared(values) or layout.dtype != DATA_TYPES[values.dtype]:
                self.resident.pop(number, None)  # the old copy goes before there is a new one
                value = runtime.to_layout(value, device, layout, True)
                copy = values.clone() if self.watch else None
            if not self.watch:
                value.set_parameter()
        samples = samples_of(tensor) if self.options.watch_weights is None and not self.watch else None
        self.resident[number] = Resident(
            weakref.ref(tensor), weakref.ref(tensor.untyped_storage()), tensor.data_ptr(), version_of(tensor), value,
            copy, samples,
            samples.tobytes() if samples is not None else b"",
        )  # fmt: skip
        return value


def count_writes(tensors: Iterable[torch.Tensor]) -> None:
    """Counts a write of each tensor, as PyTorch does for its own; it does not count for inference tensors."""
    counted = [tensor for tensor in tensors if not tensor.is_inference()]
    if counted:
        torch.autograd.graph.increment_version(counted)


def borrowed(results: Sequence[Any]) -> list[torch.Tensor]:
    """Returns tensors of PyTorch with the memory of results."""
    return [*map(torch._C._from_dlpack, map(methodcaller("__dlpack__"), results))]


def are_in(tensors: Sequence[torch.Tensor], forms: Sequence[Form]) -> bool:
    """Returns whether all tensors have their forms."""
    found = zip(map(attrgetter("dtype"), tensors), map(attrgetter("shape"), tensors), map(STRIDE, tensors), strict=True)
    return [*found] == forms


def own(
    results: Sequence[Any], given: list[torch.Tensor], forms: Sequence[Form], taken: set[int], device: Any
) -> list[torch.Tensor]:
    """Returns results with memory that nothing else has, which is added to `taken`; where it is the device's, that is
    kept.

    given: the results as tensors of PyTorch.
    """
    tensors = [*given] if are_in(given, forms) else [*map(in_form, given, forms)]
    stay = []
    for i, (tensor, before) in enumerate(zip(tensors, given, strict=True)):
        address, has_elements = tensor.data_ptr(), tensor.numel() > 0
        if has_elements and address in taken:
            tensors[i] = tensor.clone()
            continue
        taken.add(address)
        # The same element type and no other strides: the memory is that of the result.
        is_same = tensor is before or address == before.data_ptr()
        if has_elements and is_same and tensor.dtype in SHARED and tensor.is_contiguous() and results[i].is_on_device():
            stay.append(i)
    if stay:
        kept.keep_all([tensors[i] for i in stay], [results[i] for i in stay], device, False)
    return tensors


def to_torch(result: Any, form: Form) -> torch.Tensor:
    """Returns a result with the device's memory, where its form is that of the device."""
    (tensor,) = borrowed([result])
    return in_form(tensor, form)


def in_form(tensor: torch.Tensor, form: Form) -> torch.Tensor:
    """Returns a result in the dtype and with the strides that the graph promises."""
    dtype, shape, stride = form
    if tensor.dtype is dtype and tensor.shape == shape and tensor.stride() == stride:
        return tensor
    if tensor.dtype is not dtype:
        tensor = tensor.to(dtype)
    if tensor.shape != shape:
        tensor = tensor.reshape(shape)
    if tensor.stride() != stride and tensor.numel() > 1:
        # Dimensions of stride 0 are expanded again from their first element.
        first = tuple(slice(0, 1) if not step else slice(None) for step in stride)
        tensor = tensor[first]
        strided = torch.empty_strided(tensor.shape, stride, dtype=dtype)
        tensor = strided.copy_(tensor).expand(shape)
    return tensor
