# SPDX-License-Identifier: Apache-2.0
"""Wrong calls of everything public, made up from a seed. `python wrong_calls.py SEED FIRST COUNT LOG` makes some of
them in a process of its own (test_wrong_calls.py starts and watches it); with COUNT 1 it makes call FIRST again. SEED
"sweep" puts every odd value into every place that takes anything.

The log gets a line before each call, so its last line is the call that a crash was in.
"""

from __future__ import annotations

import collections
import enum
import faulthandler
import functools
import inspect
import itertools
import math
import random
import re
import resource
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

SWEEP = "sweep"  # in place of a seed: every odd value in every place that takes anything
SECONDS = 60  # of one call, before it counts as a hang
MEMORY = 4 << 30  # bytes that calls may have in all


class EvilIndex:
    """Raises where an integer is needed."""

    def __index__(self) -> int:
        raise ZeroDivisionError("evil __index__")

    __float__ = __len__ = __iter__ = __bool__ = __index__


class Shrinking(list[Any]):
    """A list whose first item empties it when it is looked at."""

    class Item:
        def __init__(self, owner: list[Any]) -> None:
            self.owner = owner

        def __index__(self) -> int:
            self.owner.clear()
            return 1

    def __init__(self) -> None:
        super().__init__([Shrinking.Item(self), *[1] * 50])


class Long:
    """Says that it is longer than it is."""

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, index: int) -> int:
        if index > 3:
            raise IndexError
        return 1


class Config:
    """Looks like an enum or config of ttnn."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def _attribute(self) -> Any:
        return self.answer


def nested() -> list[Any]:
    itself: list[Any] = []
    itself.append(itself)
    return itself


class Pool:
    """Values to call with."""

    def __init__(self) -> None:
        import torch
        import ttnn
        from _ttmlir_runtime import runtime

        self.torch, self.ttnn, self.runtime = torch, ttnn, runtime
        self._device: Any = None
        self.renew()

    def renew(self) -> None:
        """Calls close devices, deallocate tensors and empty lists."""
        import ml_dtypes
        import numpy
        from _ttmlir_runtime import utils

        torch, ttnn, runtime = self.torch, self.ttnn, self.runtime
        runtime.set_threads(2)  # more than there are processors would wait for each other
        runtime.unregister_hooks()
        options = runtime.MeshDeviceOptions()
        closed = runtime.open_mesh_device(options)
        on_closed = ttnn.ones([4, 4], device=closed)
        buffer = utils.allocate_l1_buffer(closed, 32, 32)
        runtime.close_mesh_device(closed)
        gone = ttnn.ones([2, 2])
        gone.deallocate()
        mesh = runtime.MeshDeviceOptions()
        mesh.mesh_shape = (2, 2)
        self.mesh = runtime.open_mesh_device(mesh)
        spread = runtime.create_multi_device_host_tensor_from_shards(
            [ttnn.ones([4, 4])] * 4, {"strategy": "replicate"}, (2, 2)
        )
        self.integers = [
            *(0, 1, -1, 2, 3, 7, 32, 1 << 15, 1 << 16, *((1 << n) + d for n in (31, 32, 63, 64) for d in (-1, 0, 1))),
            *(1 << 40, 1 << 62, -(1 << 31), -(1 << 31) - 1, -(1 << 63), -(1 << 63) - 1, -(1 << 64), 10**30, 10**400),
        ]
        self.odd = [
            None, True, False, math.nan, math.inf, -math.inf, -0.0, 0.5, 1e300, 5e-324, 3j, "", "x", "Float32", "\0",
            "a\0b", "\ud800", "ttnn.add", b"", b"bytes", bytearray(b"x"), memoryview(b"abcd"), (), [], {}, set(),
            object(), object, Ellipsis, NotImplemented, slice(None), slice(1 << 70, None, -1), slice(0, 4, 0),
            range(3), lambda *_: None, EvilIndex(), EvilIndex, Shrinking(), Long(), Config(None), Config((1, 2, 3)),
            Config(("ttnn.layout", "tile", 9)), Config(("x", {1: 2})), Config(("ttnn.conv2d_config",
            {"x": nested()})), Config, nested(), [nested()], [None], [[1, 2], [3]], [[]], [1, "x"], [1 << 64], [-1],
            [0, 0], (1, 2), [1] * 17, [1] * 5000, [1 << 31, 1 << 31], [1 << 40], [1 << 62, 4], ["x"],
            {"strategy": "x"}, {"strategy": "replicate"}, {1: 2}, torch.ones(()), torch.ones(2), torch.ones(2, 2),
            torch.ones(2, dtype=torch.int64), torch.ones(2, 2).T, torch.ones(0, 3), torch.ones(2,
            dtype=torch.complex64), torch.ones(2, requires_grad=True), torch.full((2,), 1 << 40), torch.empty(2,
            device="meta"), torch.ones([1] * 20), torch.float32, torch.ones(3).to_sparse(), numpy.ones(3),
            numpy.float32(1), numpy.int64(-1), numpy.ones((2, 2))[::-1], numpy.ones(2, ">f4"), numpy.array(["a"]),
            numpy.array([object()]), numpy.array(3), numpy.ones(2, ml_dtypes.bfloat16), numpy,
        ]  # fmt: skip
        self.ours = [
            self.mesh, closed, on_closed, buffer, gone, spread, options, runtime.Device, runtime.Tensor,
            runtime.Tensor.__new__(runtime.Tensor), runtime.MeshDeviceOptions.__new__(runtime.MeshDeviceOptions),
            ttnn.ones([]), ttnn.ones([0]), ttnn.ones([3, 0, 2]), ttnn.ones([5, 7]), ttnn.ones([1] * 9),
            *(ttnn.ones([32, 32], dtype=d) for d in (ttnn.uint8, ttnn.uint16, ttnn.int32, ttnn.float32)),
            ttnn.ones([32, 32], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT), ttnn.TILE_LAYOUT, ttnn.bfloat16,
            ttnn.bfloat8_b, ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, ttnn.CoreCoord(-1, 1),
            ttnn.CoreGrid(y=2, x=2), ttnn.Shape([2, 2]), ttnn.ReduceType.Sum, ttnn.ReduceType, ttnn.DataType,
            runtime.DataType.BFP_BFloat8, runtime.DataType.Int64,
            ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1,
                              ttnn.ShardSpec(ttnn.CoreRangeSet(ttnn.CoreGrid(y=2, x=2)), [1 << 40, 1 << 40],
                                             ttnn.ShardOrientation.ROW_MAJOR)),
        ]  # fmt: skip

    @property
    def tensors(self) -> list[Any]:
        return [value for value in self.ours if isinstance(value, self.runtime.Tensor)]

    @property
    def device(self) -> Any:
        """Calls may close it."""
        if self._device is None or not self._device.is_open:
            self._device = self.ttnn.open_device(device_id=0)
        return self._device

    def is_plain(self, kind: str) -> bool:
        """Whether a parameter of a type takes tensors, numbers or other things that good() knows."""
        return self.good(kind, random.Random(0)) is not None

    def wrong(self, kind: str, choose: random.Random) -> Any:
        """For a parameter of a type: mostly of that type, as what is not is soon refused."""
        if choose.random() < 0.25:
            return self.bad(choose)
        if "Tensor" in kind:
            tensors = self.tensors
            if "Sequence" in kind or "list" in kind:
                return [
                    choose.choice([choose.choice(tensors), self.tensor(choose)]) for _ in range(choose.randint(0, 3))
                ]
            return choose.choice([*tensors, choose.choice(self.integers)])
        if "Sequence" in kind or "list" in kind:
            return [choose.choice([1, 2, 4, choose.choice(self.integers)]) for _ in range(choose.randint(0, 5))]
        if "Any" in kind or "object" in kind:
            return choose.choice(self.odd)
        if "int" in kind:
            return choose.choice(self.integers)
        if "float" in kind:
            return choose.choice([*self.integers, math.nan, math.inf, -math.inf, 1e300, 5e-324])
        return self.bad(choose)

    def bad(self, choose: random.Random) -> Any:
        kind = choose.random()
        if kind < 0.25:
            return choose.choice(self.integers)
        if kind < 0.45:
            return choose.choice(self.ours)
        if kind < 0.55:
            return [self.bad(choose) for _ in range(choose.randint(0, 4))]
        return choose.choice(self.odd)

    def good(self, kind: str, choose: random.Random) -> Any:
        """Returns values that a parameter of a type accepts."""
        ttnn = self.ttnn
        fitting: list[tuple[str, Callable[[], Any]]] = [
            ("Sequence[Tensor]|list[.*Tensor|Tensors", lambda: [self.tensor(choose) for _ in range(2)]),
            ("Tensor", lambda: self.tensor(choose)),
            ("MeshDeviceOptions", self.runtime.MeshDeviceOptions),
            ("Device", lambda: choose.choice([self.device, self.device, self.mesh])),
            ("DataType", lambda: choose.choice([ttnn.bfloat16, ttnn.int32, ttnn.float32, ttnn.bfloat8_b])),
            ("MemoryConfig", lambda: choose.choice([ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG])),
            ("Layout", lambda: choose.choice([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])),
            ("Sequence[float]", lambda: [0.5, 2.0]),
            ("Sequence|list|Shape", lambda: [choose.choice([1, 2, 4, 32]) for _ in range(choose.randint(1, 4))]),
            ("bool", lambda: choose.random() < 0.5),
            ("int", lambda: choose.choice([-1, 0, 1, 2, 4])),
            ("float", lambda: choose.choice([0.5, -1.0, 2])),
            ("str|Path", lambda: "name"),
        ]
        for pattern, make in fitting:
            if re.search(pattern.replace("[", r"\["), kind):
                return make()
        named = getattr(ttnn, re.sub(r"\W.*", "", kind), None)
        return choose.choice(list(named)) if isinstance(named, enum.EnumMeta) else None

    def tensor(self, choose: random.Random) -> Any:
        shape = choose.choice([[4, 4], [32, 32], [1, 32, 32, 32], [1, 2, 8, 4]])
        dtype = choose.choice([self.ttnn.bfloat16, self.ttnn.float32, self.ttnn.int32])
        return self.ttnn.ones(shape, dtype=dtype, device=choose.choice([None, self.device]))


# Addresses are what they are: nobody can check them. These get none but 0.
ADDRESSES = {
    "memcpy", "create_owned_host_tensor", "create_borrowed_host_tensor", "create_multi_device_host_tensor",
    "create_multi_device_borrowed_host_tensor", "copy_to_host",
}  # fmt: skip
ADDRESS = (0, -1, 1 << 64, None, "x")
# What would stop the others from being called, or stands for Python itself.
LEFT_OUT = {"set_shape_type", "__new__", "__class__", "__getattribute__", "__setattr__", "__delattr__",
"__subclasshook__",
            "__init_subclass__", "__dir__", "__sizeof__", "__format__", "__reduce__", "__reduce_ex__"}  # fmt: skip


@functools.cache
def parameters(function: Any) -> list[tuple[str, str, bool]]:
    """Names, types, and whether they may be left out, as far as the function tells them."""
    native = getattr(function, "__nb_signature__", None)
    if native:
        text = re.sub(r"\s*->.*", "", native[0][0]).partition("(")[2].rpartition(")")[0]
        parts = re.split(r",\s*(?=\w+\s*[:=]|\*)", text)
        pairs = [part.partition(":") for part in parts if part and not part.startswith(("/", "*"))]
        return [(name.strip(), kind, "=" in kind) for name, _, kind in pairs if name.strip() != "self"]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        (name, str(parameter.annotation), parameter.default is not inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if parameter.kind not in kinds and name != "self"
    ]


def callables() -> list[tuple[str, Any, str]]:
    """Name, function, and, for a method, the class that it is of."""
    import _ttmlir_runtime
    import ttnn

    found: dict[str, tuple[str, Any, str]] = {}

    def add(name: str, value: Any, owner: str = "") -> None:
        if callable(value) and name.rpartition(".")[2] not in LEFT_OUT:
            found[name] = (name, value, owner)

    def walk(module: types.ModuleType, prefix: str, names: list[str]) -> None:
        for name in names:
            value = getattr(module, name)
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith(module.__name__ + "."):
                    walk(value, f"{prefix}.{name}", getattr(value, "__all__", None) or public(value))
                continue
            add(f"{prefix}.{name}", value)
            if (
                isinstance(value, type)
                and value.__module__.startswith("_ttmlir_runtime")
                and not isinstance(value, enum.EnumMeta)
            ):
                for method in vars(value):
                    if isinstance(vars(value)[method], property):
                        setter = vars(value)[method].fset
                        add(f"{prefix}.{name}.{method}=", setter, name) if setter else None
                    elif not method.startswith("_") or method.startswith("__"):
                        add(f"{prefix}.{name}.{method}", getattr(value, method), name)

    def public(module: types.ModuleType) -> list[str]:
        return [name for name in dir(module) if not name.startswith("_")]

    walk(ttnn, "ttnn", [name for name in ttnn.__all__ if name != "config"])
    for name in ("runtime", "binary", "utils", "ttnn"):
        module = getattr(_ttmlir_runtime, name)
        walk(module, f"_ttmlir_runtime.{name}", public(module))
    rows = sorted(found.values(), key=lambda row: row[0])
    # Operators take anything.
    return rows + [row for row in rows if row[0].startswith("ttnn.Tensor.__")]


def call_of(pool: Pool, functions: list[tuple[str, Any, str]], choose: random.Random) -> tuple[str, Callable[[], Any]]:
    """One call: mostly a right one with one or two wrong values in it."""
    name, function, owner = choose.choice(functions)
    # What takes nothing has little to be called with.
    while not (known := parameters(function)) and choose.random() < 0.9:
        name, function, owner = choose.choice(functions)
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    if choose.random() < 0.93:
        given = [row for row in known if choose.random() < (0.3 if row[2] else 0.97)]
        wrong = {choose.randrange(len(given)) for _ in range(choose.randint(1, 2))} if given else set()
        for place, (parameter, kind, _) in enumerate(given):
            value = pool.wrong(kind, choose) if place in wrong else pool.good(kind, choose)
            if parameter.isidentifier() and not parameter.startswith("arg"):
                named[parameter] = value
            else:
                arguments.append(value)
    else:
        arguments = [pool.bad(choose) for _ in range(choose.randint(0, 5))]
    if owner:
        arguments.insert(0, instance(pool, owner, choose))
    if name.rpartition(".")[2] in ADDRESSES:
        first = {"memcpy": "dst", "copy_to_host": "address"}.get(name.rpartition(".")[2], "ptr")
        address = choose.choice(ADDRESS)
        if name.rpartition(".")[2] == "copy_to_host":
            arguments, named = arguments[:2], {**named, first: address}
        elif arguments:
            arguments[0] = address
        for parameter in (first, "ptrs"):
            if parameter in named:
                named[parameter] = [address] if parameter == "ptrs" else address
    return shown(name, arguments, named), lambda: function(*arguments, **named)


def sweep(pool: Pool, functions: list[tuple[str, Any, str]]) -> list[tuple[Any, str, str, int]]:
    """Every place that takes anything, with the number of every odd value; of functions, one place of each type."""
    places: list[tuple[Any, str, str, int]] = []
    seen: set[str] = set()
    for row in dict.fromkeys(functions):
        for parameter, kind, _ in parameters(row[1]):
            if not row[2] and kind in seen:
                continue
            if "Any" in kind or "object" in kind or not pool.is_plain(kind):
                seen.add(kind)
                every = len(pool.odd) + (len(pool.ours) + len(pool.integers) if row[2] else 0)
                places += [(row, parameter, kind, place) for place in range(every)]
    return places


def swept(pool: Pool, place: tuple[Any, str, str, int], choose: random.Random) -> tuple[str, Callable[[], Any]]:
    (name, function, owner), wrong, _, number = place
    values = [*pool.odd, *pool.ours, *pool.integers]
    named = {n: values[number] if n == wrong else pool.good(kind, choose)
             for n, kind, omissible in parameters(function) if n == wrong or not omissible}  # fmt: skip
    arguments = [instance(pool, owner, choose)] if owner else []
    # Names in signatures of operators are only names.
    if not all(each.isidentifier() for each in named) or name.startswith("ttnn.Tensor.__"):
        arguments, named = [*arguments, *named.values()], {}
    return shown(name, arguments, named), lambda: function(*arguments, **named)


def shown(name: str, arguments: list[Any], named: dict[str, Any]) -> str:
    texts = [*map(text_of, arguments), *(f"{key}={text_of(value)}" for key, value in named.items())]
    return f"{name}({', '.join(texts)})"


def instance(pool: Pool, owner: str, choose: random.Random) -> Any:
    ttnn, runtime = pool.ttnn, pool.runtime
    if choose.random() < 0.1:
        return pool.bad(choose)
    result: dict[str, Callable[[], Any]] = {
        "Tensor": lambda: choose.choice([pool.tensor(choose), *pool.tensors]),
        "Device": lambda: choose.choice([pool.device, pool.mesh, pool.ours[1]]),
        "MeshDeviceOptions": runtime.MeshDeviceOptions,
        "Layout": lambda: runtime.test.get_host_row_major_layout(runtime.DataType.Float32),
        "CoreCoord": lambda: ttnn.CoreCoord(1, 2),
        "CoreGrid": lambda: ttnn.CoreGrid(y=1, x=2),
        "CoreRangeSet": lambda: ttnn.CoreRangeSet(ttnn.CoreGrid(y=1, x=2)),
        "MemoryConfig": lambda: ttnn.DRAM_MEMORY_CONFIG,
        "MeshBuffer": lambda: pool.ours[3],
    }  # fmt: skip
    return result.get(owner, lambda: pool.bad(choose))()


def text_of(value: Any) -> str:
    """Short, and never by code that a call is to find."""
    if isinstance(value, (list, tuple)) and len(value) < 6 and not any(isinstance(v, (list, tuple)) for v in value):
        return f"[{', '.join(map(text_of, value))}]"
    if value is None or type(value) in (int, float, bool, str, bytes):
        return ascii(value) if type(value) is not int or abs(value) < 1 << 70 else "10**30 or more"
    return f"<{type(value).__name__}>"


def judged(error: BaseException) -> str | None:
    """Returns what is wrong with an exception, if anything is."""
    if isinstance(error, SystemError):
        return f"SystemError: {error}"
    # Memory configs are printed as in the library.
    if re.search(r"std::|(vector|string)::_", str(error).replace("std::nullopt", "None")):
        return f"{type(error).__name__} does not say what is wrong: {error}"
    return None


def main(seed: str, first: int, count: int, log: str) -> int:
    pool = Pool()
    functions = callables()
    places = sweep(pool, functions) if seed == SWEEP else None
    if places is not None:
        count = min(count, len(places) - first)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    found: collections.Counter[str] = collections.Counter()
    with open(log, "a", encoding="utf-8") as out:
        for number in itertools.islice(itertools.count(first), count):
            choose = random.Random(f"{seed}/{number}")
            if number % 20 == 0:
                pool.renew()
            what, call = call_of(pool, functions, choose) if places is None else swept(pool, places[number], choose)
            print(f"call {number} {what}", file=out, flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                call()
                found["no error"] += 1
            except (Exception, RecursionError) as error:
                found[type(error).__name__] += 1
                if reason := judged(error):
                    print(f"wrong {number} {reason}", file=out, flush=True)
                if count == 1:
                    print(what, type(error).__name__, error)
            finally:
                faulthandler.cancel_dump_traceback_later()
        print(f"end {dict(found)}", file=out, flush=True)
    return 0


def wrong_calls(count: int, run: Callable[[int, int, str], int], log: str) -> Iterator[str]:
    """Findings of `count` calls; run(first, count, log) makes them in a process and returns its exit code."""
    first = 0
    while first < count:
        with open(log, "w"):
            pass
        code = run(first, count - first, log)
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        calls = {int(line.split()[1]): line for line in lines if line.startswith("call ")}
        for line in lines:
            if line.startswith("wrong "):
                yield f"{calls[int(line.split()[1])]}: {line.split(maxsplit=2)[2]}"
        if lines and lines[-1].startswith("end "):
            return
        if not calls:
            yield f"no call was made; the process ended with {code}"
            return
        first = max(calls)
        yield f"{calls[first]}: " + (f"signal {-code}" if code < 0 else f"hang, or exit with {code}")
        first += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
