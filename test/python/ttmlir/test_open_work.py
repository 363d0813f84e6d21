# SPDX-License-Identifier: Apache-2.0
"""How much is compiled and looked for until a program is open: counted, so that no clock decides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ttmlir import ir, sizes
from ttmlir.chips import lower
from ttmlir.sizes import Point, Size, open_flatbuffer


class Counted:
    """Opens programs, and counts.

    points: that programs were lowered at. searches: for how many numbers each comparison looked for an expression.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.points: list[Point] = []
        self.searches: list[int] = []
        translate = sizes._translate

        def open_sizes(*arguments: Any) -> Any:
            result = translate.open_sizes(*arguments)
            self.searches.append(result[2])
            return result

        monkeypatch.setattr(sizes, "_translate", SimpleNamespace(open_sizes=open_sizes))

    def open(self, text: Any, declared: list[Size]) -> bytes:
        def lower_at(point: Point) -> ir.Module:
            self.points.append(point)
            module = ir.Module.parse(text(*point), ir.Context())
            lower(module, "open-sizes=true")
            return module

        return open_flatbuffer(lower_at, declared)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def layers(count: int) -> Any:
    """Returns the text of a program with layers, each of which has a reshape to a multiple of the rows."""

    def text(rows: int) -> str:
        wide, flat = f"tensor<{rows}x8xf32>", f"tensor<{8 * rows}xf32>"
        ops = []
        for i in range(count):
            ops += [
                f'%f{i} = "ttir.reshape"(%x{i}) <{{shape = [{8 * rows} : i32]}}> : ({wide}) -> {flat}',
                f'%n{i} = "ttir.neg"(%f{i}) : ({flat}) -> {flat}',
                f'%x{i + 1} = "ttir.reshape"(%n{i}) <{{shape = [{rows} : i32, 8 : i32]}}> : ({flat}) -> {wide}',
            ]
        body = "\n  ".join(ops)
        return f"func.func @main(%x0: {wide}) -> {wide} {{\n  {body}\n  return %x{count} : {wide}\n}}"

    return text


def test_layers_have_expressions_once(counted: Counted) -> None:
    counted.open(layers(2), [Size("rows")])
    few = list(counted.searches)
    counted.searches.clear()
    counted.open(layers(30), [Size("rows")])
    assert counted.searches == few and max(few) <= 4


def test_plain_programs_are_lowered_at_few_points(counted: Counted) -> None:
    counted.open(layers(3), [Size("rows")])
    assert counted.points == [(37,), (92,), (335,), (1046,), (131103,), (2,)]
    assert len(counted.searches) == 2  # the second with the lower bound


def strided(rows: int, columns: int) -> str:
    """Returns the text of a program that takes every fourth row."""
    wide, kept = f"tensor<{rows}x{columns}xf32>", f"tensor<{-(-rows // 4)}x{columns}xf32>"
    return f"""
func.func @main(%x: {wide}) -> {kept} {{
  %0 = "ttir.slice_static"(%x) <{{begins = [0 : i32, 0 : i32], ends = [{rows} : i32, {columns} : i32],
    step = [4 : i32, 1 : i32]}}> : ({wide}) -> {kept}
  %1 = "ttir.reshape"(%0) <{{shape = [{-(-rows // 4) * columns} : i32]}}> : ({kept})
    -> tensor<{-(-rows // 4) * columns}xf32>
  %2 = "ttir.reshape"(%1) <{{shape = [{-(-rows // 4)} : i32, {columns} : i32]}}>
    : (tensor<{-(-rows // 4) * columns}xf32>) -> {kept}
  return %2 : {kept}
}}"""


def test_quotients_are_lowered_at_a_point_once(counted: Counted) -> None:
    counted.open(strided, [Size("rows"), Size("columns")])
    assert len(counted.points) == len(set(counted.points))
    # 5 sample points, 16 that tell quotients apart, 16 with the remainders, 16 that confirm, and those of the bounds.
    assert len(counted.points) <= 70
    assert len(counted.searches) <= 8


def tiled(batch: int, columns: int) -> str:
    """Returns the text of a program with a row for every 16 columns."""
    rows = (columns + 15) // 16
    x, y, flat = f"tensor<{batch}x{columns}xf32>", f"tensor<{rows}x4xf32>", f"tensor<{4 * rows}xf32>"
    return f"""
func.func @main(%x: {x}, %y: {y}) -> ({x}, {flat}) {{
  %0 = "ttir.neg"(%x) : ({x}) -> {x}
  %1 = "ttir.reshape"(%y) <{{shape = [{4 * rows} : i32]}}> : ({y}) -> {flat}
  return %0, %1 : {x}, {flat}
}}"""


def test_sizes_of_few_values_have_each_value(counted: Counted) -> None:
    """Another quotient, (n + 3) // 17 + 1, has the same values but at 48."""
    assert [n for n in range(33, 80) if (n + 15) // 16 != (n + 3) // 17 + 1] == [48]
    counted.open(tiled, [Size("batch"), Size("columns", 33, 79)])
    assert 48 in {columns for _, columns in counted.points}
