# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan: known and computed conditions, values of outer graphs, rows that turns make."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
import ttmlir.onnx as tt
from compared import compare, compiled, computed, expected, require_same
from ttmlir.onnx import OnnxError

HEAD = '<ir_version: 10, opset_import: ["" : {opset}]>\n'


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD.format(opset=opset) + text)


def f32(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


TRUE, FALSE = np.array(True), np.array(False)
IF = """
g (float[2,3] x, bool c) => (float[2,3] y, float[3] z)
<float[3] w = {1.0, -2.0, 3.0}> {
  a = Mul(x, w)
  y, z = If (c) <
    then_branch = t () => (float[2,3] p, float[3] q) { p = Add(a, x)  q = ReduceMax<keepdims=0, axes=[0]>(a) },
    else_branch = e () => (float[2,3] p, float[3] q)
      <float[2,3] w2 = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}> { p = Sub(a, w2)  q = Identity(w) }
  >
}"""


@pytest.mark.parametrize("condition", [TRUE, FALSE], ids=str)
@pytest.mark.parametrize("known", [["c"], []], ids=["known", "computed"])
def test_branches(condition: Any, known: list[str]) -> None:
    """A branch uses values and weights of the graph around, has its own, and gives what it did not compute."""
    compare(model(IF), {"x": f32(2, 3), "c": condition}, known)


def test_a_known_condition_chooses_when_the_graph_is_imported() -> None:
    """The other branch is not looked at: it need not even be possible."""
    text = """
    g (float[2,3] x) => (float[3,2] y) <bool c = {1}> {
      y = If (c) <then_branch = t () => (float[3,2] p) { p = Transpose(x) },
                  else_branch = e () => (float[3,2] p) { p = MatMul(x, x) }>
    }"""
    x = f32(2, 3)
    np.testing.assert_array_equal(computed(model(text), {"x": x})[0], x.T)


def test_branches_of_different_shapes_are_refused() -> None:
    text = """
    g (float[2,3] x, bool c) => (float[N,M] y) {
      y = If (c) <then_branch = t () => (float[3,2] p) { p = Transpose(x) },
                  else_branch = e () => (float[2,3] p) { p = Neg(x) }>
    }"""
    with pytest.raises(
        OnnxError, match=r"\(If\): .* different results: float32\[3, 2\] and float32\[2, 3\]; expected the same types"
    ):
        compiled(model(text), {"x": f32(2, 3), "c": TRUE})
    for condition in (TRUE, FALSE):
        compare(model(text), {"x": f32(2, 3), "c": condition}, ["c"])


def test_nested_branches() -> None:
    text = """
    g (float[4] x, bool c) => (float[4] y) {
      zero = Constant<value_float=0.0>()
      s = ReduceSum<keepdims=0>(x)
      d = Greater(s, zero)
      y = If (c) <
        then_branch = t () => (float[4] p) {
          u = Exp(x)
          p = If (d) <then_branch = tt () => (float[4] q) { q = Add(u, x) },
                      else_branch = te () => (float[4] q) { q = Sub(u, x) }>
        },
        else_branch = e () => (float[4] p) { p = Identity(x) }>
    }"""
    for x in (f32(4), -f32(4)):
        for c in (TRUE, FALSE):
            compare(model(text), {"x": x, "c": c})


def test_a_convolution_in_a_branch() -> None:
    text = """
    g (float[1,2,5,5] x, float[3,2,3,3] w, bool c) => (float[1,3,3,3] y) {
      y = If (c) <then_branch = t () => (float[1,3,3,3] p) { p = Conv(x, w) },
                  else_branch = e () => (float[1,3,3,3] p) { n = Neg(x) p = Conv(n, w) }>
    }"""
    for c in (TRUE, FALSE):
        compare(model(text), {"x": f32(1, 2, 5, 5), "w": f32(3, 2, 3, 3), "c": c}, atol=1e-4)


# Sums x so often, and gives all sums: count, condition, x.
SUMS = """
g (int64 n, bool c, float[3] x) => (float[3] last, float[N,3] all) {
  zero = Constant<value_floats=[0.0, 0.0, 0.0]>()
  last, all = Loop (n, c, zero) <body = b (int64 i, bool go, float[3] s) => (bool g2, float[3] t, float[3] row) {
    f = Cast<to=1>(i)  r = Mul(x, f)  t = Add(s, r)  row = Identity(t)  g2 = Identity(go)
  }>
}"""


@pytest.mark.parametrize("count", [0, 1, 3, 8, 9, 40, 100])
def test_rows_of_known_trip_counts(count: int) -> None:
    compare(model(SUMS), {"n": np.array(count), "c": TRUE, "x": f32(3)}, ["n", "c"])


def test_a_condition_that_does_not_hold() -> None:
    compare(model(SUMS), {"n": np.array(5), "c": FALSE, "x": f32(3)}, ["n", "c"])


def test_rows_of_computed_trip_counts_are_refused() -> None:
    with pytest.raises(OnnxError, match=r"\(Loop\): the number of turns is computed .* expected one that is known"):
        compiled(model(SUMS), {"n": np.array(5), "c": TRUE, "x": f32(3)}, ["c"])


# Doubles x until its sum is large or n turns are made.
DOUBLED = """
g (int64 n, float[3] x) => (float[3] y, int64 count) {
  yes = Constant<value_int=1>()
  go = Cast<to=9>(yes)
  zero = Constant<value_int=0>()
  y, count = Loop (n, go, x, zero) <body = b (int64 i, bool c, float[3] s, int64 k) => (bool g2, float[3] t, int64 k2) {
    t = Add(s, s)  k2 = Add(k, yes)
    sum = ReduceSum<keepdims=0>(t)  most = Constant<value_float=100.0>()  g2 = Less(sum, most)
  }>
}"""


@pytest.mark.parametrize("known", [["n"], []], ids=["known", "computed"])
@pytest.mark.parametrize("count", [0, 2, 50])
def test_the_body_ends_the_loop(count: int, known: list[str]) -> None:
    compare(model(DOUBLED), {"n": np.array(count), "x": np.array([1.0, 2.0, 0.5], np.float32)}, known)


def test_iterations_that_change_shapes() -> None:
    """Each turn appends to what the loop carries: they are made one after another."""
    text = """
    g (float[2] x) => (float[N] y) {
      n = Constant<value_int=12>()
      y = Loop (n, , x) <body = b (int64 i, bool c, float[K] s) => (bool c2, float[L] t) {
        t = Concat<axis=0>(s, x)  c2 = Identity(c)
      }>
    }"""
    compare(model(text), {"x": f32(2)})


def test_constants_inside_a_body() -> None:
    """The number of the turn decides a shape, and known numbers the end: no input is needed for that."""
    text = """
    g (float[6] x) => (float[N,6] all, int64 k) {
      zero = Constant<value_int=0>()  one = Constant<value_int=1>()  four = Constant<value_int=4>()
      yes = Less(zero, one)
      k, all = Loop ( , yes, zero) <body = b (int64 i, bool c, int64 j) => (bool c2, int64 j2, float[6] row) {
        j2 = Add(j, one)  c2 = Less(j2, four)
        axes = Constant<value_ints=[0]>()  from = Unsqueeze(i, axes)  end = Constant<value_ints=[6]>()
        head = Slice(x, zero_, from, axes)  tail = Slice(x, from, end, axes)
        row = Concat<axis=0>(tail, head)
      }>
    }"""
    text = text.replace("zero_", "start").replace("axes = Const", "start = Constant<value_ints=[0]>() axes = Const")
    compare(model(text), {"x": f32(6)})


def test_loops_in_loops() -> None:
    """Names of the inner body hide those of the outer one; its weights are its own."""
    text = """
    g (float[4,4] x) => (float[4,4] y) {
      n = Constant<value_int=10>()  m = Constant<value_int=3>()
      y = Loop (n, , x) <body = b (int64 i, bool c, float[4,4] s) => (bool c2, float[4,4] t)
        <float[4] w = {0.5, 0.25, -0.5, 1.0}> {
        c2 = Identity(c)
        u = Mul(s, w)
        v = Loop (m, , u) <body = b2 (int64 i2, bool d, float[4,4] s2) => (bool d2, float[4,4] t2)
          <float[4] w3 = {0.1, 0.2, 0.3, 0.4}> {
          p = MatMul(s2, x)  q = Tanh(p)  r = Add(q, s)  t2 = Mul(r, w3)  d2 = Identity(d)
        }>
        t = Add(v, w)
      }>
    }"""
    compare(model(text), {"x": f32(4, 4)})


@pytest.mark.parametrize("most", [2, 2**31, 2**63 - 1, -1, 1 - 2**32, 2 - 2**63])
def test_limits_beyond_32_bits(most: int) -> None:
    """PyTorch exports `while` with the largest limit of 64 bits."""
    text = f"""
    g (float[2] x) => (float[2] y) <int64 n = {{{most}}}, float one = {{1.0}}, float half = {{0.5}}> {{
      first = ReduceMax<keepdims = 0>(x)  go = Greater(first, one)
      y = Loop (n, go, x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) {{
        t = Mul(s, half)  largest = ReduceMax<keepdims = 0>(t)  c2 = Greater(largest, one)
      }}>
    }}"""
    for values in ([9.0, -3.0], [0.5, 0.25]):
        compare(model(text), {"x": np.array(values, np.float32)})


def test_a_loop_that_never_ends_is_refused() -> None:
    text = """
    g (float[2] x) => (float[2] y) {
      y = Loop ( , , x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) {
        t = Add(s, x)  c2 = Identity(c)
      }>
    }"""
    with pytest.raises(OnnxError, match="the loop has no limit, and its body never ends it"):
        compiled(model(text), {"x": f32(2)})


def test_computed_iterations_that_change_shapes_are_refused() -> None:
    text = """
    g (float[2] x, int64 n) => (float[K] y) {
      y = Loop (n, , x) <body = b (int64 i, bool c, float[K] s) => (bool c2, float[L] t) {
        t = Concat<axis=0>(s, x)  c2 = Identity(c)
      }>
    }"""
    with pytest.raises(
        OnnxError, match=r"value 0 that the loop carries is float32\[2\] before and float32\[4\] after a turn"
    ):
        compiled(model(text), {"x": f32(2), "n": np.array(3)})
    compare(model(text), {"x": f32(2), "n": np.array(3)}, ["n"])


# Running sums, and rows that are scaled.
SCAN = """
g (float[3] s, float[{shape}] x, float[{other}] z) => (float[3] last, float[A,B] sums, float[C,D] rows) {{
  last, sums, rows = Scan <num_scan_inputs = 2, {attributes} body = b (float[3] a, float[3] p, float[2] q)
    => (float[3] a2, float[3] o, float[2] r) {{ a2 = Add(a, p)  o = Identity(a2)  r = Mul(q, q) }}> (s, x, z)
}}"""


@pytest.mark.parametrize("count", [1, 5, 30, 100])
@pytest.mark.parametrize(
    ("attributes", "axes"),
    [
        ("", (0, 0)),
        ("scan_input_directions = [1, 0], scan_output_directions = [0, 1],", (0, 0)),
        ("scan_input_axes = [1, -1], scan_output_axes = [1, -1], scan_input_directions = [0, 1],", (1, 1)),
    ],
    ids=["plain", "backward", "axes"],
)
def test_scan(attributes: str, axes: tuple[int, int], count: int) -> None:
    x, z = (f32(*np.insert([n], axis, count)) for n, axis in zip((3, 2), axes, strict=True))
    text = SCAN.format(shape=",".join(map(str, x.shape)), other=",".join(map(str, z.shape)), attributes=attributes)
    compare(model(text), {"s": f32(3), "x": x, "z": z})


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ("num_scan_inputs=1, scan_input_axes=[5]", r"axis 5 of float32\[3, 2\]"),
        ("num_scan_inputs=1, scan_output_axes=[7]", "scan_output_axes has 7; the result has rank 2"),
        ("num_scan_inputs=9", "num_scan_inputs 9 of 1 inputs"),
    ],
)
def test_scans_that_are_wrong(attributes: str, text: str) -> None:
    body = "body = b (float[2] p) => (float[2] r) { r = Neg(p) }"
    with pytest.raises(OnnxError, match=rf"\(Scan\): {text}"):
        compiled(model(f"g (float[3,2] x) => (float[A,B] y) {{ y = Scan<{attributes}, {body}>(x) }}"), {"x": f32(3, 2)})


def test_scan_of_batches() -> None:
    """As opset 8 has it: a batch in front, and lengths of sequences."""
    text = """
    g (int64[2] n, float[2,3] s, float[2,4,3] x) => (float[2,3] last, float[2,4,3] sums) {
      last, sums = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] p) => (float[3] a2, float[3] o) {
        a2 = Add(a, p)  o = Identity(a2)
      }> (n, s, x)
    }"""
    x, s = f32(2, 4, 3), f32(2, 3)
    sums = s[:, None] + x.cumsum(1)
    last, found = computed(model(text, 8), {"n": np.array([4, 2]), "s": s, "x": x})
    np.testing.assert_allclose(last, np.stack([sums[0, 3], sums[1, 1]]), atol=1e-5)
    np.testing.assert_allclose(found, np.stack([sums[0], np.pad(sums[1, :2], ((0, 2), (0, 0)))]), atol=1e-5)


@pytest.mark.parametrize("opset", [12, 13, 16, 19, 21, 23])
def test_opsets(opset: int) -> None:
    compare(model(SUMS, opset), {"n": np.array(4), "c": TRUE, "x": f32(3)}, ["n", "c"])


# Graphs with a size t.
OPEN = {
    "a turn for each row": """
    g (float[t,3] x) => (float[t,3] y, float[3] last) {
      shape = Shape<start=0, end=1>(x)  n = Squeeze(shape)  zero = Constant<value_floats=[0.0, 0.0, 0.0]>()
      last, y = Loop (n, , zero) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] u, float[3] row) {
        r = Gather<axis=0>(x, i)  u = Add(s, r)  row = Identity(u)  c2 = Identity(c)
      }>
    }""",
    "turns of a fixed number": """
    g (float[t,3] x) => (float[t,3] y) {
      n = Constant<value_int=20>()
      y = Loop (n, , x) <body = b (int64 i, bool c, float[t,3] s) => (bool c2, float[t,3] u) {
        r = Tanh(s)  u = Add(x, r)  c2 = Identity(c)
      }>
    }""",
    "scan": """
    g (float[t,3] x, float[3] s) => (float[3] last, float[t,3] y) {
      last, y = Scan <num_scan_inputs=1, scan_input_directions=[1], body = b (float[3] a, float[3] p)
        => (float[3] a2, float[3] o) { a2 = Add(a, p)  o = Tanh(a2) }>(s, x)
    }""",
    "branches by size": """
    g (float[t,3] x) => (float[t,3] y) {
      shape = Shape<start=0, end=1>(x)  four = Constant<value_ints=[4]>()  more = Greater(shape, four)
      y = If (more) <then_branch = a () => (float[t,3] p) { p = Exp(x) },
                     else_branch = b () => (float[t,3] p) { p = Neg(x) }>
    }""",
    "branches by value": """
    g (float[t,3] x, bool c) => (float[t,3] y) {
      y = If (c) <then_branch = a () => (float[t,3] p) { p = Exp(x) },
                  else_branch = b () => (float[t,3] p) { m = ReduceMax<axes=[0]>(x)  p = Add(x, m) }>
    }""",
}


@pytest.mark.long
@pytest.mark.parametrize("name", OPEN)
def test_open_sizes(name: str) -> None:
    """One program for all sizes, or for those that a branch is taken for."""
    result = model(OPEN[name])
    program = tt.compile(result)
    for n in (2, 5, 1, 9, 17, 40):
        given: dict[str, Any] = {"x": f32(n, 3), "s": f32(3), "c": np.array(n % 2 == 0)}
        given = {x.name: given[x.name] for x in result.graph.input}
        found = program(**given)
        require_same(found if isinstance(found, tuple) else [found], expected(result, given))
    assert [size.name for size in program.open_sizes] == ["t"], program.closed
