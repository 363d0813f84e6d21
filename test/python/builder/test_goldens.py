# SPDX-License-Identifier: Apache-2.0
"""Goldens: when and from what they are computed, for built, loaded and split modules."""

from __future__ import annotations

import gc

import pytest
import torch
from builder.base.builder_apis import build_module, load_mlir_file, split_mlir_file
from builder.base.errors import TTBuilderCompileException, TTBuilderGoldenException

F32 = torch.float32
TEXT = """module {
  func.func @modela(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.add"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = call @twice(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = call @twice(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
  func.func private @twice(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.add"(%arg0, %arg0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}"""


def goldens(body, shapes=((4, 8),), dtypes=None):
    def module(builder):
        @builder.func(list(shapes), list(dtypes or [F32] * len(shapes)))
        def f(*arguments):
            return body(*arguments)

    _, builder = build_module(module, "ttir")
    return builder.golden_map


def output(*args) -> torch.Tensor:
    return goldens(*args)[0][0]["output_0"].shard_at(0)


def test_inputs_are_reproducible():
    first, second = (goldens(lambda x, b: b.exp(x))[0][0]["input_0"] for _ in range(2))
    assert first == second


def test_building_computes_nothing(monkeypatch):
    import builder.goldens.evaluation as module

    monkeypatch.setattr(module.Evaluation, "compute", lambda *args: pytest.fail("a golden was computed"))
    programs, _ = goldens(lambda x, b: b.exp(x))
    assert programs[0]["input_0"].shape == (4, 8)


@pytest.mark.parametrize(
    ("given", "value"), [(torch.zeros, 0.0), (torch.ones, 1.0), (lambda shape: torch.full(shape, 7), 7.0),
                         (torch.full((4, 8), 2, dtype=torch.int32), 2.0), ({0: torch.ones(4, 8)}, 1.0)],
)  # fmt: skip
def test_set_goldens(given, value):
    def body(x, b):
        b.set_goldens({x: given})
        return b.add(x, x)

    assert torch.equal(output(body), torch.full((4, 8), 2 * value))


def test_operand_goldens_hold_for_what_comes_after():
    def body(x, b):
        b.set_goldens({x: torch.ones})
        y = b.add(x, x)
        before = b.add(y, y)
        b.set_operand_goldens({y: torch.full((4, 8), 10.0)})
        return before, b.add(y, y), y

    program = goldens(body)[0][0]
    values = [program[f"output_{i}"].shard_at(0)[0, 0].item() for i in range(3)]
    assert values == [4.0, 20.0, 10.0]


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [(lambda x, b: b.log(x), 0.0, 4.1), (lambda x, b: b.acos(b.reshape(x, [8, 4])), -1, 1),
     (lambda x, b: b.sqrt(b.transpose(x, 0, 1)), 0, 4.1), (lambda x, b: b.exp(x), -2, 2)],
)  # fmt: skip
def test_inputs_suit_the_ops(body, low, high):
    value = goldens(body)[0][0]["input_0"].shard_at(0)
    assert value.min() >= low and value.max() <= high


def test_indices_stay_inside():
    def body(positions, weight, b):
        return b.embedding(positions, weight)

    program = goldens(body, [(2, 50), (7, 16)], [torch.int32, F32])[0][0]
    positions = program["input_0"].shard_at(0)
    assert positions.min() >= 0 and positions.max() == 6
    assert torch.equal(program["output_0"].shard_at(0), program["input_1"].shard_at(0)[positions.long()])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int32, torch.uint16], ids=str)
def test_results_have_the_declared_dtype(dtype):
    program = goldens(lambda x, b: b.add(x, x), [(4, 8)], [dtype])[0][0]
    assert program["output_0"].dtype == dtype
    x = program["input_0"].shard_at(0)
    wide = x.float() if dtype.is_floating_point else x.long()
    assert torch.equal(program["output_0"].shard_at(0), (wide + wide).to(dtype))


def test_numbers_follow_the_walk_and_calls():
    _, builder = load_mlir_file(TEXT)
    intermediates = builder.golden_map[1]
    assert {s: g.op for s, g in intermediates.items()} == {"0": "ttir.add", "1/3": "ttir.add", "2/3": "ttir.add"}


def test_custom_inputs_reach_every_golden():
    ones = torch.ones(4, 8)
    _, builder = load_mlir_file(TEXT, golden_inputs={"modela": [ones, ones]})
    assert torch.equal(builder.golden_map[0][0]["output_0"].shard_at(0), torch.full((4, 8), 8.0))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [({"model": []}, "no public function 'model'; did you mean 'modela'"),
     ({"modela": [torch.ones(4, 8)]}, "'modela' takes 2 tensors, 1 were given"),
     ({"modela": [torch.ones(4, 8), torch.ones(8)]}, "argument 1 of 'modela': golden of shape")],
)  # fmt: skip
def test_wrong_inputs(inputs, message):
    with pytest.raises(ValueError, match=message):
        load_mlir_file(TEXT, golden_inputs=inputs)


def test_text_that_does_not_parse_has_diagnostics():
    with pytest.raises(TTBuilderCompileException, match="error") as caught:
        load_mlir_file("module { func.func @broken(", target="ttir")
    assert caught.value.diagnostics


def test_split_keeps_values_and_the_module():
    module, builder = load_mlir_file(TEXT)
    before = str(module)
    parts = split_mlir_file(module, builder)
    assert str(module) == before and [str(m).count('"ttir.add"') for m, _ in parts] == [1, 1, 1]
    whole = builder.golden_map[0][0]["output_0"]
    assert parts[-1][1].golden_map[0][0]["output_0"] == whole
    # An operand that is used twice is one argument.
    assert "(%arg0: tensor<4x8xf32>) ->" in str(parts[1][0])


def test_split_has_several_results_and_constants():
    def module(builder):
        @builder.func([(4, 8)], [F32])
        def f(x, b):
            values, indices = b.sort(x, dim=1)
            return b.add(values, b.constant(torch.ones(8))), indices

    parts = split_mlir_file(*build_module(module, "ttir"))
    assert [len(b.golden_map[0][0]) for _, b in parts] == [3, 1, 3]


def test_a_missing_golden_is_named(monkeypatch):
    import builder.goldens.evaluation as module

    find = module.find_op
    monkeypatch.setattr(module, "find_op", lambda name: None if name == "ttir.exp" else find(name))
    with pytest.raises(TTBuilderGoldenException, match=r"ttir\.exp at .*test_goldens.py:\d+ has no golden"):
        output(lambda x, b: b.neg(b.exp(x)))

    def given(x, b):
        y = b.exp(x)
        b.set_operand_goldens({y: torch.ones})
        return b.neg(y)

    assert torch.equal(output(given), torch.full((4, 8), -1.0))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dims", [[1], [0, 1], None])
def test_the_largest_of_nothing_is_named(name, dims):
    pattern = rf"golden of ttir\.{name} at .*: dimension 1 of \[4, 0\] is reduced and has size 0; expected 1 or more"
    with pytest.raises(TTBuilderGoldenException, match=pattern):
        output(lambda x, b: getattr(b, name)(b.slice_static(x, [0, 8], [4, 8], [1, 1]), dim_arg=dims))


def chain(length: int, body=lambda x, b: b.sin(x)):
    """A function of `length` steps, each of which needs the value of the one before only."""

    def f(x, b):
        for _ in range(length):
            x = body(x, b)
        return x

    return f


def twice(x, b):
    def inner(y, b):
        return b.cos(b.sin(y))

    return b.call(inner, [b.exp(x)])


@pytest.mark.long
@pytest.mark.parametrize("body", [lambda x, b: b.sin(x), twice], ids=["ops", "calls"])
def test_goldens_are_freed_when_no_op_needs_them(monkeypatch, live_goldens, body):
    import builder.goldens.evaluation as module

    counts = []
    compute = module.Evaluation.compute

    def counted(*arguments):
        counts.append(live_goldens())
        return compute(*arguments)

    monkeypatch.setattr(module.Evaluation, "compute", counted)
    programs, intermediates = goldens(chain(60, body))
    gc.collect()
    before = live_goldens()
    output = programs[0]["output_0"]
    assert len(counts) >= 60 and max(counts) - before <= 6
    # All of them are kept when they are requested, and are what they were.
    assert intermediates[max(intermediates, key=lambda s: list(map(int, s.split("/"))))].results[0] == output
    assert live_goldens() - before >= 60


def test_values_that_are_checked_or_bypassed_are_the_only_ones_kept(live_goldens):
    def body(x, b):
        values = [x]
        for _ in range(40):
            values.append(b.sin(values[-1]))
        b.set_goldens_to_check([values[7]])
        b.bypass(values[9])
        return values[-1]

    programs, intermediates = goldens(body)
    gc.collect()
    before = live_goldens()
    assert intermediates["6"].results and intermediates["8"].results and programs[0]["output_0"].shape == (4, 8)
    gc.collect()
    assert live_goldens() - before <= 8
