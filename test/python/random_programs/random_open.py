# SPDX-License-Identifier: Apache-2.0
"""Random modules of one chip with one or two sizes that stay open, as functions of these sizes.

A module is drawn as in random_modules.py, at sizes that no other dimension has. Each call is built at other sizes at
the same time. Numbers in it that are dimensions of the values so far become expressions of the sizes, and calls that
some size does not take are refused. An open program is compared with those that are compiled for its sizes.

    python random_open.py --print 17            the module of seed 17
    python random_open.py -n 300                compare seeds 0 to 299, and count what cannot stay open
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from random_values import ANY, FLOATS, NAMES, Draw, Generator, Refused, Value
from torch import Tensor

NAMED = ("n", "m")
# The sizes at which calls are built. Values are computed at the first ones, which no other dimension is like.
POINTS = ((37, 59), (53, 101), (2, 3), (101, 2), (14, 29))
DRAWN = POINTS[0]
NO_POSITION = "expected a position from 0 to"
NOT_OF_0_OR_1 = f"is 0; expected a positive size|{NO_POSITION}"
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def linear(series: tuple[int, ...], sizes: Sequence[tuple[int, ...]]) -> str | None:
    """The series as an expression of the sizes at all points, or None."""
    if len(set(series)) == 1:
        return str(series[0])
    n, m = zip(*sizes, strict=True)
    forms = {"n": n, "m": m, "n * m": tuple(a * b for a, b in sizes)}
    for text, values in forms.items():
        rise, run = series[1] - series[0], values[1] - values[0]
        if run == 0 or rise % run:
            continue
        factor = rise // run
        addend = series[0] - factor * values[0]
        if all(factor * v + addend == s for v, s in zip(values, series, strict=True)):
            return f"({factor} * {text} + {addend})"
    for factor in range(1, 9):
        for other in range(1, 9):
            addend = series[0] - factor * n[0] - other * m[0]
            if all(factor * a + other * b + addend == s for a, b, s in zip(n, m, series, strict=True)):
                return f"({factor} * n + {other} * m + {addend})"
    for text, values in forms.items():
        for divisor in range(2, 9):
            for addend in range(-8, 9):
                if all((v + addend) // divisor == s for v, s in zip(values, series, strict=True)):
                    return f"(({text} + {addend}) // {divisor})"
    return None


@dataclass
class Input:
    """An argument: shape in expressions, and how values of it are drawn."""

    shape: list[str]
    dtype: torch.dtype
    draw: Callable[[tuple[int, ...], torch.Generator, dict[str, int]], Tensor]


@dataclass
class OpenModule:
    """A drawn module, as a function of its sizes."""

    seed: int
    names: tuple[str, ...]
    inputs: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        shapes = ", ".join("(" + "".join(f"{d}, " for d in x.shape) + ")" for x in self.inputs)
        dtypes = ", ".join(NAMES[x.dtype] for x in self.inputs)
        arguments = ", ".join([*(f"x{i}" for i in range(len(self.inputs))), "builder"])
        body = "".join(f"        {line}\n" for line in self.lines)
        return (
            f"def module(builder, n, m):\n    @builder.func([{shapes}], [{dtypes}])\n    def main({arguments}):\n"
            f"{body}        return {', '.join(self.outputs)}\n"
        )

    def built(self, sizes: Sequence[int]) -> Any:
        """The TTIR module for some sizes."""
        from builder.base.builder_apis import build_module

        names: dict[str, Any] = {"torch": torch}
        exec(compile(self.source, f"<seed {self.seed}>", "exec"), names)
        n, m = (*sizes, 0)[:2]
        return build_module(lambda builder: names["module"](builder, n, m), "ttir")[0]

    def drawn_inputs(self, sizes: Sequence[int]) -> list[Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        at = dict(zip(NAMED, (*sizes, 0), strict=False))
        return [x.draw(tuple(eval(d, {}, at) for d in x.shape), generator, at) for x in self.inputs]


class World:
    """A function that is being built for one point."""

    def __init__(self, sizes: tuple[int, int]):
        from builder.api.lowering import built
        from builder.base.builder_utils import element_type, tensor_type
        from ttmlir import ir

        self.values: dict[str, Any] = {"torch": torch, "n": sizes[0], "m": sizes[1]}
        self._built, self._element, self._tensor, self._ir = built, element_type, tensor_type, ir

        def module(builder: Any) -> None:
            self.builder = builder

        self.module = built(module, "ttir", "mesh", {"x": 1, "y": 1})[0]
        self.values["builder"] = self.builder
        self.frame = self.builder._function(module, [], self.builder.location)
        with self.builder.context:
            self.function = self.frame.__enter__()

    def add_input(self, name: str, shape: Sequence[str], dtype: torch.dtype) -> None:
        numbers = [eval(d, {}, self.values) for d in shape]
        type_ = self._tensor(numbers, self._element(dtype, self.builder.context))
        self.values[name] = self.function.block.add_argument(type_, self.builder.location)

    def run(self, name: str, call: str) -> tuple[int, ...]:
        with self.builder.context:
            self.values[name] = eval(call, self.values)
        return tuple(self.builder.get_shape(self.values[name]))


class OpenGenerator(Generator):
    """Draws a module whose first inputs have one or two open sizes."""

    def __init__(self, seed: int):
        super().__init__(seed, kind=ANY)
        self.choice.seed(f"open {seed}")
        self.names = NAMED[: self.choice.choice([1, 2])]
        self.open = OpenModule(seed, self.names)
        # Of those with one size, the other does not change.
        self.worlds = [World(point) for point in POINTS]
        self.known: dict[int, str] = {DRAWN[i]: name for i, name in enumerate(self.names)}

    def random_shape(self) -> tuple[int, ...]:
        shape = list(super().random_shape())
        for d in range(len(shape)):
            if self.choice.random() < 0.4:
                shape[d] = DRAWN[self.choice.randrange(len(self.names))]
        whole = 1
        for size in shape:
            whole *= size
        return tuple(shape) if whole <= 1 << 14 else self.random_shape()

    def expression(self, number: int) -> str:
        if number in self.known:
            return self.known[number]
        for size, text in sorted(self.known.items(), reverse=True):
            if number and number % size == 0:
                return f"({number // size} * {text})"
        return str(number)

    def given(self, tensor: Tensor) -> Value:
        if tensor.is_floating_point():
            return self.argument(tensor, lambda s, g, at: (torch.rand(s, generator=g) + 0.5).to(tensor.dtype))
        return self.argument(tensor, lambda s, g, at: torch.randint(0, 2, s, generator=g).to(tensor.dtype))

    def indices(self, shape: Sequence[int], below: int) -> Value:
        end = self.expression(below)

        def draw(s: tuple[int, ...], g: torch.Generator, at: dict[str, int]) -> Tensor:
            return torch.randint(0, max(1, eval(end, {}, at)), s, generator=g, dtype=torch.int32)

        return self.argument(torch.randint(0, below, tuple(shape), generator=self.torch, dtype=torch.int32), draw)

    def new_input(self, shape: tuple[int, ...] | None = None, dtype: torch.dtype | None = None) -> Value:
        shape = self.random_shape() if shape is None else shape
        dtype = dtype or self.random_dtype()
        values = self.random_tensor(shape, dtype)
        low = -8 if values.numel() and int(values.double().min()) < 0 else 0
        if dtype in FLOATS:
            return self.argument(values, lambda s, g, at: (torch.rand(s, generator=g) * 4 - 2).to(dtype))
        high = 2 if dtype is torch.bool else 9
        return self.argument(values, lambda s, g, at: torch.randint(low, high, s, generator=g).to(dtype))

    def argument(self, tensor: Tensor, draw: Any) -> Value:
        shape = [self.expression(d) for d in tensor.shape]
        value = super().given(tensor)
        for world in self.worlds:
            world.add_input(value.name, shape, tensor.dtype)
        self.open.inputs.append(Input(shape, tensor.dtype, draw))
        return value

    def emit(self, call: str, compute: Callable[[], Sequence[Tensor]], exact: bool) -> Value:
        text = NUMBER.sub(lambda found: self.expression(int(found[0])) if int(found[0]) > 33 else found[0], call)
        name = f"v{len(self.module.lines)}"
        try:
            found = [world.run(name, text) for world in self.worlds]
        except Exception as error:
            raise Refused from error
        if len({len(shape) for shape in found}) > 1:
            raise Refused
        shapes = [linear(tuple(shape[d] for shape in found), POINTS) for d in range(len(found[0]))]
        if None in shapes or any(0 in shape for shape in found):
            raise Refused
        value = super().emit(call, compute, exact)
        if tuple(found[0]) != value.shape:
            raise AssertionError(f"{call} has shape {found[0]}, expected {value.shape}")
        for size, text_of in zip(found[0], shapes, strict=True):
            if size > 33 and text_of is not None and not text_of.isdigit():
                self.known.setdefault(size, text_of)
        self.open.lines.append(f"{name} = {text}")
        return value

    def finished(self, catalog: Sequence[Draw], ops: int | None) -> OpenModule:
        for size in DRAWN[: len(self.names)]:  # a size that no input has is not known
            shape = [self.choice.choice((1, 2, 3, 5, 8)) for _ in range(self.choice.choice((1, 2, 2, 3, 4)))]
            shape[self.choice.randrange(len(shape))] = size
            self.new_input(tuple(shape), self.dtype)
        self.draw(catalog, ops)
        computed = [v.name for v in self.values if not v.name.startswith("x")]
        if not computed:
            raise Refused
        self.open.outputs = sorted(set(self.choice.sample(computed, min(len(computed), 5))) | {computed[-1]})
        return self.open


# ---------------------------------------------------------------------- ops of open sizes


def cut(g: Generator) -> None:
    """Parts of a dimension by its ends, its middle, or what is left of it."""
    assert isinstance(g, OpenGenerator)
    x = g.pick(lambda v: v.rank > 0)
    begins, ends, steps = [0] * x.rank, [*x.shape], [1] * x.rank
    begin_text, end_text = [str(b) for b in begins], [g.expression(e) for e in ends]
    dim = g.choice.randrange(x.rank)
    size, text = x.shape[dim], g.expression(x.shape[dim])
    parts = [
        (1, size, "1", text),
        (0, size - 1, "0", f"{text} - 1"),
        (0, size // 2, "0", f"{text} // 2"),
        (size // 2, size, f"{text} // 2", text),
        (size - 1, size, f"{text} - 1", text),
        (0, 2, "0", "2"),
        (0, 1, "0", "1"),
    ]
    begins[dim], ends[dim], begin_text[dim], end_text[dim] = g.choice.choice(parts)
    steps[dim] = g.choice.choice([1, 1, 2, 3])
    if not 0 <= begins[dim] < ends[dim] <= size:
        raise Refused
    where = tuple(slice(*at) for at in zip(begins, ends, steps, strict=True))
    g.emit(
        f"builder.slice_static({x.name}, begins=[{', '.join(begin_text)}], ends=[{', '.join(end_text)}], step={steps})",
        lambda: [s[where].contiguous() for s in x.shards],
        x.exact,
    )


def positions(g: Generator) -> None:
    assert isinstance(g, OpenGenerator)
    x = g.pick(lambda v: v.rank > 0)
    dim, start, step = g.choice.randrange(x.rank), g.choice.randint(-3, 3), g.choice.choice([1, 2])
    size, dtype = x.shape[dim], g.choice.choice([torch.float32, torch.int32])
    row = (start + step * torch.arange(size, dtype=torch.int64)).to(dtype)
    text = g.expression(size)
    g.emit(
        f"builder.arange(shape=[{text}], dtype={NAMES[dtype]}, start={start}, end={start} + {step} * {text}, "
        f"step={step}, arange_dimension=0)",
        lambda: [row],
        True,
    )


def ordered(g: Generator) -> None:
    """Positions of topk and argmax, whose values are compared with themselves only."""
    x = g.pick(lambda v: v.rank > 0 and v.dtype in (torch.float32, torch.bfloat16))
    dim = g.choice.randrange(x.rank)
    if g.choice.random() < 0.5:
        text = f"builder.argmax({x.name}, dim_arg=[{dim}], keep_dim=False)"
        g.emit(text, lambda: g.each(lambda v: v.argmax(dim), x, dtype=torch.int32), False)
        return
    k = g.choice.choice([1, 2])
    if x.shape[dim] < k:
        raise Refused
    text = f"builder.topk({x.name}, k={k}, dim={dim}, largest=True, sorted=True)[1]"
    g.emit(text, lambda: g.each(lambda v: v.topk(k, dim).indices, x, dtype=torch.int32), False)


def catalog() -> list[Draw]:
    from random_indexing import scatter, slice_dynamic
    from random_ops import OPS, counted

    left_out = (scatter, slice_dynamic, counted)  # which have positions that are good for one size
    return [op for op in OPS if op not in left_out] + [cut] * 6 + [positions] * 2 + [ordered]


def drawn(seed: int, ops: int | None = None) -> OpenModule:
    generator = OpenGenerator(seed)
    return generator.finished(catalog(), ops if ops is not None else generator.choice.randint(4, 24))


# ---------------------------------------------------------------------- comparison


def sizes_of(module: OpenModule, bounds: Sequence[tuple[str, int, int]]) -> list[tuple[int, ...]]:
    """Returns sizes of the runs, as many as the program is open for: small ones, some between, and a large odd one."""
    choice = random.Random(module.seed)
    some: list[tuple[int, ...]]
    if len(module.names) == 1:
        some = [(2,), (choice.randint(3, 36),), (choice.randint(3, 150),), (509,)]
    else:
        some = [(2, 3), (choice.randint(3, 36), choice.randint(3, 36)), (7, 7), (97, choice.randint(3, 60))]
    held = [
        sizes for sizes in some if all(least <= s <= most for s, (_, least, most) in zip(sizes, bounds, strict=True))
    ]
    return [*held, tuple(max(least, 45 + 16 * i) for i, (_, least, _most) in enumerate(bounds))]


def bits(tensor: Tensor) -> Tensor:
    whole = tensor.contiguous()
    return whole if not whole.is_floating_point() else whole.view(torch.int32 if whole.itemsize == 4 else torch.int16)


def check(module: OpenModule) -> str | None:
    """Compares the open program with those compiled for sizes. Returns why the sizes cannot stay open.

    Raises:
        AssertionError: a result differs; has the module.
    """
    import _ttmlir_runtime as tt
    import pytest
    from builder.base.errors import TTBuilderCompileException
    from golden import GoldenMapTensor
    from op_cases import execute, lowered
    from ttmlir.passes import ttnn_to_flatbuffer_bin
    from ttmlir.sizes import OpenSizeError, Size, open_flatbuffer

    load = tt.binary.load_binary_from_bytes

    def lower_at(sizes: Sequence[int]) -> Any:
        try:
            return lowered(module.built(sizes), (1, 1), "open-sizes=true")
        except TTBuilderCompileException as error:
            raise OpenSizeError(str(error)) from error

    try:
        data = open_flatbuffer(lower_at, [Size(name) for name in module.names])
    except OpenSizeError as error:
        return str(error)
    binary = load(data)
    for sizes in sizes_of(module, binary.open_sizes):
        inputs = [GoldenMapTensor({0: x}) for x in module.drawn_inputs(sizes)]
        own = load(ttnn_to_flatbuffer_bin(lowered(module.built(sizes), (1, 1))))
        try:
            expected = execute(own, 0, inputs, (1, 1))
        except tt.Error as error:  # a table is too small for positions that a module computes
            assert re.search(NO_POSITION, str(error)), f"seed {module.seed}, sizes {sizes}: {error}\n{module.source}"
            with pytest.raises(tt.Error, match=re.escape(str(error))):
                execute(binary, 0, inputs, (1, 1))
            continue
        found = execute(binary, 0, inputs, (1, 1))
        for output, (a, b) in enumerate(zip(expected, found, strict=True)):
            same = a[0].shape == b[0].shape and a[0].dtype == b[0].dtype and torch.equal(bits(a[0]), bits(b[0]))
            assert same, f"seed {module.seed}, sizes {sizes}: output {output} differs\n{module.source}"
    for size in (0, 1):
        check_own_program(module, binary, (size,) * len(module.names))
    return None


def check_own_program(module: OpenModule, binary: Any, sizes: tuple[int, ...]) -> None:
    """Sizes that the open program does not take: it says so, and a program of their own runs, where they make sense."""
    import _ttmlir_runtime as tt
    import pytest
    from builder.base.errors import TTBuilderCompileException
    from golden import GoldenMapTensor
    from op_cases import execute, lowered
    from ttmlir.passes import ttnn_to_flatbuffer_bin

    try:
        built = module.built(sizes)
    except TTBuilderCompileException:
        return  # no module for these sizes
    except ValueError as error:  # an input of n - 1 rows
        assert "expected integers of at least 0" in str(error), f"seed {module.seed}, sizes {sizes}: {error}"
        return
    inputs = [GoldenMapTensor({0: x}) for x in module.drawn_inputs(sizes)]
    with pytest.raises(tt.Error, match="expected it for"):
        execute(binary, 0, inputs, (1, 1))
    own = tt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(built, (1, 1))))
    try:
        found = execute(own, 0, inputs, (1, 1))
    except tt.Error as error:  # images without pixels, places in an empty table
        assert re.search(NOT_OF_0_OR_1, str(error)), f"seed {module.seed}, sizes {sizes}: {error}"
        return
    assert len(found) == len(module.outputs), f"seed {module.seed}, sizes {sizes}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", type=int, metavar="SEED", help="print the module of a seed")
    parser.add_argument("-n", "--count", type=int, default=60, help="of modules (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first module (default: %(default)s)")
    args = parser.parse_args()
    if args.print is not None:
        print(drawn(args.print).source)
        return
    reasons: collections.Counter[str] = collections.Counter()
    for seed in range(args.seed, args.seed + args.count):
        started = time.process_time()
        try:
            reason = check(drawn(seed))
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            reasons["failed"] += 1
            continue
        if reason:
            print(f"seed {seed}: {time.process_time() - started:.1f} s: {reason}", flush=True)
        reasons["open" if reason is None else "not open"] += 1
    print(dict(reasons))


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    sys.path[:0] = [str(root / "tools"), str(root / "build" / "python_packages"), str(root / "test/python/ops")]
    main()
