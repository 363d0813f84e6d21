# SPDX-License-Identifier: Apache-2.0
"""Numbers of open programs that are quotients, remainders and sums of these: all sizes compared with Python's
arithmetic."""

from __future__ import annotations

import random
from collections.abc import Sequence

import _ttmlir_runtime as tt
import pytest
import torch
from ttmlir import ir
from ttmlir.chips import default_device, lower
from ttmlir.sizes import OpenSizeError, Point, Size, open_flatbuffer

# An input has as many rows as the first expression says and as many columns as the second; the third is the number of
# rows that are added.
TEXT = """
func.func @main({inputs}, %x: tensor<{a}x{b}xf32>) -> ({types}, tensor<{c}x{b}xf32>) {{
  {ops}
  %0 = "ttir.pad"(%x) <{{padding = array<i32: 0, {added}, 0, 0>, value = 7.0 : f32}}>
      : (tensor<{a}x{b}xf32>) -> tensor<{c}x{b}xf32>
  return {results}, %0 : {types}, tensor<{c}x{b}xf32>
}}
"""


def text_of(sizes: Sequence[int], rows: int, columns: int, added: int) -> str:
    types = [f"tensor<{n}xf32>" for n in sizes]
    return TEXT.format(
        inputs=", ".join(f"%arg{i}: {type}" for i, type in enumerate(types)),
        ops="\n  ".join(f'%r{i} = "ttir.neg"(%arg{i}) : ({t}) -> {t}' for i, t in enumerate(types)),
        results=", ".join(f"%r{i}" for i in range(len(sizes))),
        types=", ".join(types),
        a=rows,
        b=columns,
        c=rows + added,
        added=added,
    )


class Program:
    """A program whose shapes are expressions of sizes n, m and k."""

    def __init__(self, count: int, expressions: Sequence[str]) -> None:
        self.names = "nmk"[:count]
        self.expressions = [compile(text, text, "eval") for text in expressions]
        self.context = ir.Context()

    def numbers(self, point: Point) -> list[int]:
        return [
            eval(code, {"min": min, "max": max}, dict(zip(self.names, point, strict=True))) for code in self.expressions
        ]

    def lower_at(self, point: Point) -> ir.Module:
        rows, columns, added = self.numbers(point)
        if min(rows, columns, added) < 1 or (rows + added) * columns > 1 << 42:
            raise OpenSizeError("no such tensor")
        module = ir.Module.parse(text_of(point, rows, columns, added), self.context)
        lower(module, "open-sizes=true")
        return module

    def opened(self) -> bytes | None:
        try:
            return open_flatbuffer(self.lower_at, [Size(name) for name in self.names])
        except (OpenSizeError, ir.MLIRError):
            return None

    def check(self, flatbuffer: bytes, generator: random.Random, count: int) -> int:
        """Runs the program at random sizes; returns at how many."""
        binary = tt.binary.load_binary_from_bytes(flatbuffer)
        ran = 0
        for _ in range(count):
            point = tuple(generator.randint(least, min(most, 150)) for _, least, most in binary.open_sizes)
            rows, columns, added = self.numbers(point)
            if min(rows, columns) < 1 or added < 0 or (rows + added) * columns > 1 << 18:
                continue
            inputs = [*(torch.zeros(n) for n in point), torch.rand(rows, columns)]
            given = [
                tt.runtime.create_borrowed_host_tensor(
                    x.data_ptr(), list(x.shape), list(x.stride()), 4, tt.runtime.DataType.Float32
                )
                for x in inputs
            ]
            result = tt.runtime.submit(default_device(), binary, 0, given)[-1]
            expected = torch.nn.functional.pad(inputs[-1], (0, 0, 0, added), value=7.0)
            actual = torch.from_dlpack(tt.runtime.to_host(result, untilize=True)[0])
            assert actual.shape == expected.shape, (point, binary.open_sizes)
            assert torch.equal(actual, expected), (point, binary.open_sizes)
            ran += 1
        return ran


def expression(generator: random.Random, names: str, depth: int = 0) -> str:
    """A random expression with quotients."""
    size = generator.choice(names)
    divisor = generator.choice([2, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 100])
    shift, small = generator.randint(0, 3), generator.randint(2, 4)
    other = generator.choice(names)
    inner = expression(generator, names, depth + 1) if depth < 2 and generator.random() < 0.3 else size
    return generator.choice(
        [
            size,
            f"{small}*{size}+{shift}",
            f"({inner})//{divisor}",
            f"(({inner})+{shift})//{divisor}",
            f"{size}-{size}//{divisor}",
            f"{size}-({inner})//{small}",
            f"({size}-1)//{divisor}+1",
            f"{size}%{divisor}",
            f"{size}//{divisor}*{divisor}",
            f"-({inner})%{divisor}+{size}",
            f"{small}*{size}//{small + 1}",
            f"{size}//{small}+{other}//{divisor}",
            f"{size}//{small}+{other}//{small}",
            f"({size}+{other}+{shift})//{small}",
            f"{size}*{other}//{small}",
            f"min({size},{other}+{shift})",
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions(seed: int) -> None:
    generator = random.Random(seed)
    opened = ran = 0
    for _ in range(30):
        count = generator.choice([1, 1, 2, 2, 3])
        names = "nmk"[:count]
        # Sizes are those of inputs; rows, columns and what is added follow.
        texts = [expression(generator, names) for _ in range(3)]
        program = Program(count, texts)
        if (flatbuffer := program.opened()) is not None:
            opened += 1
            try:
                ran += program.check(flatbuffer, generator, 24)
            except Exception as error:
                raise AssertionError(f"rows, columns and added {texts}") from error
    assert opened >= 3 and ran >= 30, (opened, ran)


# The expressions agree with those of other leaves, or with one quotient, at many sizes.
KNOWN = {
    "another leaf": (1, ["n//2", "n", "n-n//3"]),
    "halves": (2, ["n+m", "3", "n//2+m//2"]),
    "half and third": (1, ["2*n//3", "3", "n//2+n//3"]),
    "rare": (1, ["n", "3", "(n+1)//64+n"]),
    "nested": (1, ["n//2", "3", "n//2//3"]),
    "third and half": (1, ["(n+1)//2", "3", "n//3+1"]),
    "fifths": (1, ["n//5", "4", "(n+1)//5"]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_expressions_that_agree_at_many_sizes(name: str) -> None:
    program = Program(*KNOWN[name])
    if (flatbuffer := program.opened()) is not None:
        assert program.check(flatbuffer, random.Random(1), 150) > 20


def test_quotients_stay_open() -> None:
    for texts in (["n//2", "n", "n-n//3"], ["n", "3", "n//2//3"], ["n", "3", "(n+1)//64+n"], ["n//5", "4", "(n+1)//5"]):
        assert Program(1, texts).opened() is not None, texts


def test_known_periods_are_looked_at() -> None:
    """Points have all remainders modulo the periods that a front end knows, whatever else the numbers can be."""
    program, points = Program(1, ["n", "3", "n//3+n"]), set[Point]()

    def lower_at(point: Point) -> ir.Module:
        points.add(point)
        return program.lower_at(point)

    open_flatbuffer(lower_at, [Size("n")], periods=[7])
    assert {n % 21 for (n,) in points} == set(range(21))


def test_a_program_without_quotients_has_few_points() -> None:
    program, points = Program(2, ["n+m", "n", "2*n+m"]), set[Point]()

    def lower_at(point: Point) -> ir.Module:
        points.add(point)
        return program.lower_at(point)

    open_flatbuffer(lower_at, [Size("n"), Size("m")])
    assert len(points) <= 14
