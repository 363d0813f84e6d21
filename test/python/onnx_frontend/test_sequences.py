# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals, random numbers, and functions of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from compared import compare, compiled, computed, expected, require_same
from ttmlir.onnx import OnnxError

HEAD = '<ir_version: 10, opset_import: ["" : {opset}, "own" : 1]>\n'


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD.format(opset=opset) + text)


def f32(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


X = {"x": f32(4, 6)}


@pytest.mark.parametrize(
    "nodes",
    [
        "s = SequenceConstruct(x, x2)  y = ConcatFromSequence<axis=1>(s)",
        "s = SequenceConstruct(x, x2)  y = ConcatFromSequence<axis=-1, new_axis=1>(s)",
        "s = SplitToSequence<axis=1>(x)  y = ConcatFromSequence<axis=0>(s)",
        "s = SplitToSequence<axis=-2, keepdims=0>(x)  y = ConcatFromSequence<axis=1, new_axis=1>(s)",
        "n = Constant<value_int=4>()  s = SplitToSequence<axis=1>(x, n)  y = ConcatFromSequence<axis=1>(s)",
        "n = Constant<value_ints=[1, 3, 2]>()  s = SplitToSequence<axis=1>(x, n)  i = Constant<value_int=-2>()"
        "  y = SequenceAt(s, i)",
        "s = SequenceEmpty()  i = Constant<value_int=0>()  a = SequenceInsert(s, x)  b = SequenceInsert(a, x2, i)"
        "  y = ConcatFromSequence<axis=0>(b)",
        "s = SequenceConstruct(x, x2, x)  i = Constant<value_int=-1>()  a = SequenceErase(s, i)  b = SequenceErase(a)"
        "  y = ConcatFromSequence<axis=0>(b)",
        "s = SequenceConstruct(x, x2)  n = SequenceLength(s)  f = Cast<to=1>(n)  y = Mul(x, f)",
        "o = Optional(x)  h = OptionalHasElement(o)  f = Cast<to=1>(h)  v = OptionalGetElement(o)  y = Add(v, f)",
    ],
)
def test_sequences(nodes: str) -> None:
    compare(model(f"g (float[4,6] x) => (float y) {{ x2 = Neg(x)  {nodes} }}".replace("float y", "float[A,B] y")
                  if "new_axis" not in nodes else f"g (float[4,6] x) => (float[A,B,C] y) {{ x2 = Neg(x)  {nodes} }}"
                  if "keepdims" not in nodes else f"g (float[4,6] x) => (float[A,B] y) {{ {nodes} }}"), X)  # fmt: skip


def test_a_sequence_that_a_loop_carries() -> None:
    text = """
    g (float[4,6] x) => (float[A,B,C] y) {
      n = Constant<value_int=3>()  e = SequenceEmpty()
      s = Loop (n, , e) <body = b (int64 i, bool c, seq(float[4,6]) a) => (bool c2, seq(float[4,6]) b2) {
        f = Cast<to=1>(i)  r = Mul(x, f)  b2 = SequenceInsert(a, r)  c2 = Identity(c)
      }>
      y = ConcatFromSequence<axis=0, new_axis=1>(s)
    }"""
    found = computed(model(text), X)[0]
    np.testing.assert_allclose(found, np.stack([X["x"] * i for i in range(3)]), rtol=1e-6)


def test_computed_positions() -> None:
    """Items of one type are chosen by the program; others, and lengths, need a known position."""
    text = (
        "g (float[4,6] x, int64 i) => (float[A,B] y) { z = Exp(x)  s = SequenceConstruct(x, z)  y = SequenceAt(s, i) }"
    )
    for i in (0, 1, -1, -2):
        compare(model(text), X | {"i": np.array(i)})
    other = text.replace("Exp", "Transpose")
    with pytest.raises(
        OnnxError, match=r"\(SequenceAt\): the position is computed .* expected one type, or a position"
    ):
        compiled(model(other), X | {"i": np.array(1)})
    compare(model(other), X | {"i": np.array(1)}, ["i"])
    with pytest.raises(OnnxError, match="position 2 of a sequence of 2; expected -2 to 1"):
        compiled(model(other), X | {"i": np.array(2)}, ["i"])


def test_sequences_as_inputs_and_outputs() -> None:
    text = """
    g (seq(float[N]) s, float[3] x) => (seq(float[N]) t) {
      t = SequenceMap (s, x) <body = b (float[N] p, float[3] q) => (float[N] r) {
        m = ReduceSum<keepdims=0>(q)  r = Mul(p, m)
      }>
    }"""
    given = {"s": [f32(2), f32(5)], "x": f32(3)}
    (found,) = computed(model(text), given)
    require_same(found, [x * given["x"].sum() for x in given["s"]])


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ("s = SequenceEmpty()  y = ConcatFromSequence<axis=0>(s)", "the sequence is empty; expected at least one item"),
        ("s = SequenceEmpty()  t = SequenceErase(s)  y = ConcatFromSequence<axis=0>(t)", "expected an item to erase"),
        ("o = Optional<type=float[4,6]>()  y = OptionalGetElement(o)", "the optional has no value"),
        ("n = Constant<value_ints=[1, 2]>()  s = SplitToSequence(x, n)  y = ConcatFromSequence<axis=0>(s)",
         r"sizes \[1, 2\]; expected their sum to be 4, of dimension 0 of float32\[4, 6\]"),
    ],
)  # fmt: skip
def test_refusals(nodes: str, text: str) -> None:
    with pytest.raises(OnnxError, match=text):
        compiled(model(f"g (float[4,6] x) => (float[A,B] y) {{ {nodes} }}"), X)


#
# Random numbers
#


def drawn(nodes: str, of: str = "float[200,300]", given: Any = None, opset: int = 22) -> Any:
    inputs = "" if given is None else "float[" + ",".join(map(str, np.shape(given))) + "] x"
    program = compiled(
        model(f"g ({inputs}) => ({of} y) {{ y = {nodes} }}", opset), {} if given is None else {"x": given}
    )
    return program(*([] if given is None else [given]))[0]


@pytest.mark.parametrize("seed", ["", ", seed=3.5"])
@pytest.mark.parametrize(("kind", "of"), [(1, "float"), (10, "float16"), (11, "double"), (16, "bfloat16")])
def test_random_numbers(kind: int, of: str, seed: str) -> None:
    """Shape, type, bounds and moments of the distributions."""
    shape = f"shape=[200,300], dtype={kind}{seed}"
    x = drawn(f"RandomUniform<low=-1.0, high=3.0, {shape}>()", f"{of}[200,300]").astype(np.float64)
    assert x.shape == (200, 300) and x.min() >= -1 and x.max() < 3
    assert abs(x.mean() - 1) < 0.02 and abs(x.var() - 16 / 12) < 0.02
    x = drawn(f"RandomNormal<mean=2.0, scale=3.0, {shape}>()", f"{of}[200,300]").astype(np.float64)
    assert abs(x.mean() - 2) < 0.05 and abs(x.std() - 3) < 0.05
    assert abs(((x - 2) ** 3).mean() / 27) < 0.05 and abs(((x - 2) ** 4).mean() / 81 - 3) < 0.15


def test_a_seed_gives_the_same_numbers() -> None:
    first, again, other = (drawn(f"RandomUniform<shape=[200,300], seed={seed}>()") for seed in ("1.0", "1.0", "2.0"))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.99


def test_without_a_seed_each_node_and_run_has_other_numbers() -> None:
    text = "g () => (float[200] a, float[200] b) { a = RandomNormal<shape=[200]>()  b = RandomNormal<shape=[200]>() }"
    program = compiled(model(text), {})
    found = np.stack([*program(), *program()])
    assert np.abs(np.corrcoef(found) - np.eye(4)).max() < 0.3


def test_random_numbers_like_others() -> None:
    given = f32(200, 300)
    assert drawn("RandomUniformLike(x)", given=given).std() > 0.25
    assert drawn("RandomNormalLike<dtype=10>(x)", "float16[200,300]", given).dtype == np.float16
    chances = np.linspace(0, 1, 300, dtype=np.float32) * np.ones((200, 1), np.float32)
    x = drawn("Bernoulli<dtype=7>(x)", "int64[200,300]", chances)
    assert x.dtype == np.int64 and set(np.unique(x)) == {0, 1} and not x[:, 0].any() and x[:, -1].all()
    assert np.abs(x.mean(0) - chances[0]).max() < 0.2
    with pytest.raises(OnnxError, match="random numbers of type int32; expected a type of floats"):
        drawn("RandomUniform<shape=[2], dtype=6>()", "int32[2]")


def test_multinomial() -> None:
    chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-12]], np.float32)
    x = drawn("Multinomial<sample_size=20000, dtype=7>(x)", "int64[2,20000]", np.log(chances))
    assert x.dtype == np.int64
    found = np.stack([np.bincount(row, minlength=3) / 20000 for row in x])
    np.testing.assert_allclose(found, chances, atol=0.02)


#
# Functions
#

FUNCTIONS = """
g (float[4,6] x, bool c) => (float[4,6] y) {
  a = own.scaled<factor = 3.0>(x)
  b = own.scaled(a)
  y = own.chosen<plus = 1.0>(b, c)
}
<domain: "own", opset_import: ["" : 17]>
scaled <factor: float = 2.0> (x) => (y) {
  f = Constant<value_float: float = @factor>()
  a = Mul(x, f)
  y = own.shifted(a)
}
<domain: "own", opset_import: ["" : 15, "own" : 1]>
shifted (x) => (y) { a = Constant<value_float = 0.5>()  y = Add(x, a) }
<domain: "own", opset_import: ["" : 17, "own" : 1]>
chosen <plus, axis: int = 1> (x, c) => (y) {
  a = Softmax<axis: int = @axis>(x)
  y = If (c) <
    then_branch = t () => (p) { f = Constant<value_float: float = @plus>()  p = Add(a, f) },
    else_branch = e () => (p) { q = own.shifted(x)  p = Sub(q, a) }
  >
}"""


@pytest.mark.parametrize("known", [["c"], []], ids=["known", "computed"])
def test_functions(known: list[str]) -> None:
    """Functions that call others, with defaults, attributes by reference also in branches, and opsets of their own."""
    text = FUNCTIONS.replace('opset_import: ["" : 17]>\nscaled', 'opset_import: ["" : 17, "own" : 1]>\nscaled')
    for c in (np.array(True), np.array(False)):
        compare(model(text), X | {"c": c}, known)


def test_functions_of_one_name() -> None:
    """`overload` tells them apart."""
    result = model("g (float[4,6] x) => (float[4,6] y) { a = own.f(x)  y = own.f(a) }")
    result.graph.node[1].overload = "second"
    for overload, op in (("", "Exp"), ("second", "Neg")):
        function = onnx.parser.parse_function(
            f'<domain: "own", opset_import: ["" : 17]> f (x) => (y) {{ y = {op}(x) }}'
        )
        function.overload = overload
        result.functions.append(function)
    require_same(computed(result, X), [-np.exp(X["x"])])


def test_inputs_that_a_call_leaves_out() -> None:
    text = """
    g (float[4,6] x) => (float[4,6] y) { y = own.clipped(x) }
    <domain: "own", opset_import: ["" : 17]>
    clipped (x, low, high) => (y) { y = Clip(x, low, high) }"""
    require_same(computed(model(text), X), [X["x"]])


def test_errors_name_the_node_of_a_function() -> None:
    text = """
    g (float[4,6] x) => (float[A,B] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (x) => (y) { z = Exp(x)  y = MatMul(z, x) }"""
    with pytest.raises(OnnxError, match=r"y/node 1 'y' \(MatMul\): "):
        compiled(model(text), X)


def test_the_body_of_an_op_with_a_graph() -> None:
    """ONNX defines SequenceMap by a loop; its row does the same."""
    text = """
    g (float[4,6] x) => (float[4,6] y) {
      s = SplitToSequence<axis=0>(x)
      t = SequenceMap (s) <body = b (float[1,6] p) => (float[1,6] q) { q = Softmax<axis=1>(p) }>
      y = ConcatFromSequence<axis=0>(t)
    }"""
    require_same(computed(model(text), X), expected(model("g (float[4,6] x) => (float[4,6] y) { y = Softmax(x) }"), X))
