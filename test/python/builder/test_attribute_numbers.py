# SPDX-License-Identifier: Apache-2.0
"""Python numbers in attributes: what a type holds arrives as it is, what it does not hold is an error that says so."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from builder.api.modules import build_module, builder_classes
from builder.ops.attributes import FLOAT_MAX, NUMBERED, convert, limits_of
from builder.ops.methods import Method
from builder.ops.op_infos import cases_of, kind_of
from ttmlir import ir

METHODS = [
    method
    for cls in builder_classes().values()
    for function in vars(cls).values()
    if isinstance(method := getattr(function, "implementation", None), Method)
]
# (op, attribute, kind) of all ops of the builders.
ATTRIBUTES = sorted({(m.info.name, a.name, a.kind) for m in METHODS for a in m.info.attributes})
# Kinds that ODS composes of others, by an integer that they take.
COMPOSED = {"TT_IntOrInts": "I32Attr", "TT_Number": "I32Attr", "TT_ScaleFactor": "SI32Attr"}
INTEGERS = [(op, name, kind, COMPOSED.get(kind, kind)) for op, name, kind in ATTRIBUTES
            if limits_of(COMPOSED.get(kind, kind))]  # fmt: skip
FLOATS = [entry for entry in ATTRIBUTES if entry[2] in FLOAT_MAX]
BOOLS = [entry for entry in ATTRIBUTES if entry[2] == "BoolAttr"]
context = ir.Context()  # making one takes longer than a test


def numbers_in(attribute: ir.Attribute) -> list[int]:
    """As MLIR prints them."""
    text = str(attribute).partition("tensor<")[0]
    return [int(n) for n in re.findall(r"-?\d+\b(?!:)", re.sub(r"\b[us]?i\d+\b", "", text))]


def test_there_are_attributes_of_every_width() -> None:
    assert len(INTEGERS) > 200
    assert {"SI8Attr", "I32Attr", "SI32Attr", "UI32Attr", "I64Attr", "SI64Attr", "DenseI32ArrayAttr",
            "DenseI64ArrayAttr", "I32ArrayAttr", "I64ElementsAttr"} <= {kind for *_, kind in INTEGERS}  # fmt: skip


@pytest.mark.parametrize("kind", ["I8Attr", "I16Attr", "UI8Attr", "UI16Attr", "SI16Attr", "UI64Attr"])
def test_widths_that_no_op_has(kind: str) -> None:
    low, high = limits_of(kind)
    for wrong in (low - 1, high + 1, 2**70):
        with pytest.raises(ValueError, match=f"a.b: c = {wrong} .*expected an integer from {low} to {high}"):
            convert("a.b", "c", kind, wrong, context)


@pytest.mark.parametrize(("op", "name", "kind", "held"), INTEGERS, ids=lambda v: str(v))
def test_integers(op: str, name: str, kind: str, held: str) -> None:
    low, high = limits_of(held)
    wrap: Callable[[Any], Any] = (lambda v: [[v, 0]]) if "Elements" in held else (lambda v: [0, v])
    wraps = [wrap] if "Array" in held or "Elements" in held else [lambda v: v]
    wraps += [wrap] if kind in ("TT_IntOrInts", "TT_ScaleFactor") else []
    with context, ir.Location.unknown():
        for given in wraps:
            for value in (low, high, np.int64(high), torch.tensor(3)):
                assert int(value) in numbers_in(convert(op, name, kind, given(value), context)), (value, given(value))
            for value in (low - 1, high + 1, high + 2**32, 2**40 + 2**64, -(2**70)):
                with pytest.raises(ValueError) as raised:
                    convert(op, name, kind, given(value), context)
                text = str(raised.value)
                assert text.startswith(f"{op}: {name} = ") and str(value) in text, text
                assert f"expected an integer from {low} to {high}" in text, text
            if kind == "TT_Number":
                continue  # takes floats and truth values as well
            for value in (1.5, np.float32(2.0), True, np.bool_(True), math.nan):
                with pytest.raises(TypeError, match=rf"{re.escape(op)}: {name} = .*expected an integer"):
                    convert(op, name, kind, given(value), context)


@pytest.mark.parametrize(("op", "name", "kind"), FLOATS, ids=lambda v: str(v))
def test_floats(op: str, name: str, kind: str) -> None:
    largest = FLOAT_MAX[kind]
    for value in (largest, -largest, math.inf, 0, 1, np.float32(2.5)):
        assert ir.FloatAttr(convert(op, name, kind, value, context)).value == pytest.approx(float(value))
    assert math.isnan(ir.FloatAttr(convert(op, name, kind, math.nan, context)).value)
    for value in (10**400, *([1e300, -1e39] if kind == "F32Attr" else [])):
        with pytest.raises(ValueError, match=rf"{re.escape(op)}: {name} = "):
            convert(op, name, kind, value, context)
    with pytest.raises(TypeError, match=rf"{re.escape(op)}: {name} = "):
        convert(op, name, kind, [1.0], context)


@pytest.mark.parametrize(("op", "name", "kind"), BOOLS, ids=lambda v: str(v))
def test_bools(op: str, name: str, kind: str) -> None:
    for value in (True, False, np.bool_(True), 1, 0):
        assert ir.BoolAttr(convert(op, name, kind, value, context)).value is bool(value)
    with pytest.raises(ValueError, match=rf"{re.escape(op)}: {name} = 2 .*from 0 to 1"):
        convert(op, name, kind, 2, context)
    for value in ("False", 0.5, [True]):
        with pytest.raises(TypeError, match=rf"{re.escape(op)}: {name} = .*expected True or False"):
            convert(op, name, kind, value, context)


@pytest.mark.parametrize("kind", sorted(NUMBERED))
def test_enums(kind: str) -> None:
    names = list(cases_of(kind_of(kind).types[0]))
    for wrong in (-1, len(names), 2**32, 1.0, True, "nosuch"):
        with pytest.raises(ValueError, match=rf"a.b: c = {wrong!r} does not make a {kind}: expected one of {names[0]}"):
            convert("a.b", "c", kind, wrong, context)


@pytest.mark.parametrize(
    ("dialect", "call", "message"),
    [
        (
            "ttir",
            lambda x, b: b.softmax(x, dimension=2**32),
            r"ttir.softmax: dimension = 4294967296 .*from -2147483648 to",
        ),
        ("ttir", lambda x, b: b.reshape(x, [2**32 + 8, 4]), "ttir.reshape: shape = .*element 0 is 4294967304"),
        ("ttir", lambda x, b: b.full([2], 2**40, output_type=torch.int32), "fill_value = 1099511627776"),
        ("ttir", lambda x, b: b.full([2], 300, output_type=torch.uint8), "fill_value = 300 is no ui8: .*from 0 to 255"),
        ("ttir", lambda x, b: b.full([2], -1, output_type=torch.uint32), "fill_value = -1 is no ui32: .*from 0 to"),
        ("ttir", lambda x, b: b.full([2], 2.5, output_type=torch.int32), r"fill_value = 2.5 is no i32"),
        ("ttir", lambda x, b: b.full([2], math.nan, output_type=torch.int32), "fill_value = nan is no i32"),
        ("ttir", lambda x, b: b.full([2], math.inf, output_type=torch.int32), "fill_value = inf is no i32"),
        ("ttir", lambda x, b: b.full([2], 1e6, output_type=torch.float16), "fill_value = 1000000.0 is no f16: .*65504"),
        (
            "ttir",
            lambda x, b: b.pad(b.typecast(x, output_type=torch.int32), [0, 1, 0, 1], 1.5),
            "value = 1.5 is no i32",
        ),
        ("ttir", lambda x, b: b.arange([4], torch.uint8, -1, 3, 1, 0), "start = -1 is no ui8"),
        ("ttnn", lambda x, b: b.softmax(x, dimension=-(2**31) - 1), "ttnn.softmax: dimension = -2147483649"),
        ("ttnn", lambda x, b: b.full([2**64, 1], 1.0), "ttnn.full: shape = .*element 0 is 18446744073709551616"),
        ("ttnn", lambda x, b: b.sort(x, dim=200), "ttnn.sort: dim = 200 .*from -128 to 127"),
        ("stablehlo", lambda x, b: b.iota(x, 2**64), "stablehlo.iota: iota_dimension = 18446744073709551616"),
        (
            "stablehlo",
            lambda x, b: b.pad(x, b.constant(torch.tensor(0.0)), [0, 2**65, 0, 0]),
            "stablehlo.pad: edge_padding",
        ),
        ("ttir", lambda x, b: b.all_gather(x, 0, -1), "ttir.all_gather: cluster_axis = -1 .*from 0 to 4294967295"),
        ("ttir", lambda x, b: b.all_to_all(x, 0, 1, 2, [[0, 2**64]]), "replica_groups = "),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_calls(dialect: str, call: Callable[..., Any], message: str) -> None:
    def module(builder: Any) -> None:
        @builder.func([(4, 8)], [torch.float32])
        def f(x: Any, b: Any) -> Any:
            return call(x, b)

    with pytest.raises(ValueError, match=message):
        build_module(module, dialect)


def test_numbers_that_fit_arrive() -> None:
    def module(builder: Any) -> None:
        @builder.func([], [])
        def f(b: Any) -> Any:
            return (
                b.full([2], 255, output_type=torch.uint8),
                b.full([2], 2.0, output_type=torch.int32),
                b.full([2], math.inf),
                b.constant(torch.tensor([2**63 + 5] * 3, dtype=torch.uint64)),
                b.constant(torch.tensor([2**64 - 1, 1], dtype=torch.uint64)),
                b.constant(torch.tensor(-(2**63))),
            )

    _, builder = build_module(module, "ttir")
    values = [golden.shard_at(0).tolist() for golden in builder.golden_map[0][0].outputs]
    assert values == [[255] * 2, [2] * 2, [math.inf] * 2, [2**63 + 5] * 3, [2**64 - 1, 1], -(2**63)]


@pytest.mark.parametrize("mesh", [{"x": 2.5}, {"x": True}, {"x": 0}, {"x": 2**40}, {"x": 1, "y": 1, "z": 1}], ids=str)
def test_meshes(mesh: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected one or two axes with positive sizes"):
        build_module(lambda builder: None, "ttir", mesh_dict=mesh)
