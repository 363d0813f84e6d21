# SPDX-License-Identifier: Apache-2.0
"""stablehlo.rng on the chip: the specification leaves the numbers open, so their distribution is looked at."""

from __future__ import annotations

import math
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, load_mlir_file
from op_cases import clone, execute, lowered
from test_expansions import NAMES, run
from ttmlir import passes

COUNT = 20000


def draw(a: torch.Tensor, b: torch.Tensor, kind: str, element: str, ops: int = 1) -> list[torch.Tensor]:
    result = f"tensor<{COUNT}x{element}>"
    scalar = f"tensor<{element}>"
    text = f"%s = stablehlo.constant dense<{COUNT}> : tensor<1xi64>\n" + "\n".join(
        f"%r{i} = stablehlo.rng %a, %b, %s, distribution = {kind} : ({scalar}, {scalar}, tensor<1xi64>) -> {result}"
        for i in range(ops)
    )
    return [torch.as_tensor(found) for found in run(text, {"a": a, "b": b}, [result] * ops)]


def test_uniform() -> None:
    first, second = draw(torch.tensor(-2.0), torch.tensor(6.0), "UNIFORM", "f32", ops=2)
    assert not torch.equal(first, second)
    assert not torch.equal(first, second[torch.arange(COUNT).roll(1)])
    for x in (first, second):
        assert x.min() >= -2
        assert x.max() < 6
        # The largest distance from the distribution is below 1.95 / sqrt(n) with probability 0.999.
        ranks = (torch.sort(x.double()).values + 2) / 8
        assert (ranks - torch.arange(COUNT) / COUNT).abs().max() < 1.95 / math.sqrt(COUNT)


def test_normal() -> None:
    (x,) = draw(torch.tensor(3.0), torch.tensor(0.5), "NORMAL", "f32")
    assert x.isfinite().all()
    ranks = torch.special.ndtr((torch.sort(x.double()).values - 3) / 0.5)
    assert (ranks - torch.arange(COUNT) / COUNT).abs().max() < 1.95 / math.sqrt(COUNT)


@pytest.mark.parametrize(("low", "high"), [(-3, 5), (0, 1), (-(2**31), 2**31 - 1)])
def test_integers(low: int, high: int) -> None:
    (x,) = draw(torch.tensor(low, dtype=torch.int32), torch.tensor(high, dtype=torch.int32), "UNIFORM", "i32")
    assert int(x.min()) >= low
    assert int(x.max()) < high
    if high - low == 8:
        counts = torch.bincount((x - low).long(), minlength=8).double()
        # Chi squared with 7 degrees of freedom is below 24.3 with probability 0.999.
        assert ((counts - COUNT / 8) ** 2 / (COUNT / 8)).sum() < 24.3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_upper_bound_is_not_reached(dtype: torch.dtype) -> None:
    """Between neighbours, and where half of the numbers would be rounded up to the bound."""
    step = torch.finfo(dtype).eps
    for low, high, least in ((1, 1 + step, 1), (1, 1 + 2 * step, 2), (-2, -2 + 2 * step, 2)):
        ends = [torch.tensor(end, dtype=dtype) for end in (low, high)]
        (x,) = draw(*ends, "UNIFORM", NAMES[dtype])
        assert x.min() >= ends[0]
        assert x.max() < ends[1]
        assert len(x.unique()) >= least


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREE_FRY", "DEFAULT"])
@pytest.mark.parametrize("result", ["5xui32", "3x4xui32", "3x5xui32", "ui32", "7xui64", "4xui8", "2x3xui16"])
def test_goldens_of_random_bits(algorithm: str, result: str) -> None:
    """The golden draws the bits of the chip, which has those of 64 bits as pairs of words."""
    state = torch.tensor([[0xDEADBEEF, 0x12345678], [2**32 - 2, 7]], dtype=torch.int64).to(torch.uint32)
    words = f"tensor<{result}>".replace("xui64", "x2xui32")
    bits, created = f"tensor<{result}>", "%b" if words != f"tensor<{result}>" else "%r1"
    of = f"(tensor<2xui64>) -> (tensor<2xui64>, {bits})"
    body = f"""%s = stablehlo.bitcast_convert %x : (tensor<2x2xui32>) -> tensor<2xui64>
      %n, {created} = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : {of}
      %r0 = stablehlo.bitcast_convert %n : (tensor<2xui64>) -> tensor<2x2xui32>"""
    if created == "%b":
        body += f"\n%r1 = stablehlo.bitcast_convert %b : ({bits}) -> {words}"
    found = run(body, {"x": state}, ["tensor<2x2xui32>", words])
    text = f"""func.func @main(%x: tensor<2x2xui32>) -> (tensor<2x2xui32>, {words}) {{
      {body}
      return %r0, %r1 : tensor<2x2xui32>, {words}
    }}"""
    _, builder = load_mlir_file(text, {"main": [state]}, target="stablehlo")
    goldens = builder.golden_map[0][0]
    for i, each in enumerate(found):
        golden = goldens[f"output_{i}"].shard_at(0)
        assert golden.to(torch.int64).tolist() == torch.as_tensor(each).to(torch.int64).tolist()


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREE_FRY", "DEFAULT"])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (), (0,)])
def test_a_state_of_numbers_has_the_bits_of_one_of_words(algorithm: str, shape: tuple[int, ...]) -> None:
    """Numbers of 64 bits that 32 bits hold."""
    to = "tensor<" + "".join(f"{size}x" for size in shape) + "ui32>"
    of = f"(tensor<2xui64>) -> (tensor<2xui64>, {to})"
    state = torch.tensor([0xDEADBEEF, 41], dtype=torch.int64).to(torch.uint32)
    after, bits = run(f"""%s = stablehlo.convert %x : (tensor<2xui32>) -> tensor<2xui64>
      %n, %r1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : {of}
      %r0 = stablehlo.convert %n : (tensor<2xui64>) -> tensor<2xui32>""",
        {"x": state}, ["tensor<2xui32>", to])  # fmt: skip
    words = torch.tensor([[0xDEADBEEF, 0], [41, 0]], dtype=torch.int64).to(torch.uint32)
    expected_after, expected = run(f"""%s = stablehlo.bitcast_convert %x : (tensor<2x2xui32>) -> tensor<2xui64>
      %n, %r1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : {of}
      %r0 = stablehlo.bitcast_convert %n : (tensor<2xui64>) -> tensor<2x2xui32>""",
        {"x": words}, ["tensor<2x2xui32>", to])  # fmt: skip
    assert torch.equal(bits.to(torch.int64), expected.to(torch.int64))
    assert bits.shape == shape
    assert after.to(torch.int64).tolist() == expected_after.to(torch.int64)[:, 0].tolist()


@pytest.mark.parametrize(("algorithm", "numbers"), [("PHILOX", 2), ("PHILOX", 3), ("THREE_FRY", 2)])
def test_a_state_of_shifted_words_has_the_bits_of_one_of_words(algorithm: str, numbers: int) -> None:
    """TensorFlow shifts and joins keys and counters of 64 bits."""
    of = f"(tensor<{numbers}xui64>) -> (tensor<{numbers}xui64>, tensor<7xui32>)"
    words = torch.tensor([[0xDEADBEEF, 0x12345678], [2**32 - 2, 7], [5, 0x80000001]], dtype=torch.int64)[:numbers]
    (expected,) = run(f"""%s = stablehlo.bitcast_convert %x : (tensor<{numbers}x2xui32>) -> tensor<{numbers}xui64>
      %n, %r0 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : {of}""",
        {"x": words.to(torch.uint32)}, ["tensor<7xui32>"])  # fmt: skip
    (found,) = run(f"""%c = stablehlo.constant dense<32> : tensor<{numbers}xui64>
      %l = stablehlo.convert %x : (tensor<{numbers}xui32>) -> tensor<{numbers}xui64>
      %w = stablehlo.convert %y : (tensor<{numbers}xui32>) -> tensor<{numbers}xui64>
      %h = stablehlo.shift_left %w, %c : tensor<{numbers}xui64>
      %s = stablehlo.or %l, %h : tensor<{numbers}xui64>
      %n, %r0 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : {of}""",
        {"x": words[:, 0].to(torch.uint32), "y": words[:, 1].to(torch.uint32)}, ["tensor<7xui32>"])  # fmt: skip
    assert torch.as_tensor(found).to(torch.int64).tolist() == torch.as_tensor(expected).to(torch.int64).tolist()


def on_cores_and_chip(module: Any, runs: int = 1) -> list[list[torch.Tensor]]:
    """The results of programs of kernels and of the library, which have no inputs; those of each run."""
    metal = clone(module)
    if "stablehlo." in str(metal):
        passes.stablehlo_to_ttir_pipeline(metal)
    passes.ttir_to_ttmetal_pipeline(metal)
    texts = [passes.ttmetal_to_flatbuffer_bin(metal), passes.ttnn_to_flatbuffer_bin(lowered(module, (1, 1)))]
    binaries = [rt.binary.load_binary_from_bytes(text, allow_native=True) for text in texts]
    return [[s[0] for s in execute(binary, 0, [], (1, 1))] for binary in binaries for _ in range(runs)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(4, 8), (1000,), (2, 3, 33, 65), (1, 1)], ids=str)
@pytest.mark.parametrize(("seed", "low", "high"), [(1, 0.0, 1.0), (2**32 - 1, -1.0, 2.3)], ids=str)
def test_cores_draw_the_same_numbers(
    shape: tuple[int, ...], dtype: torch.dtype, seed: int, low: float, high: float
) -> None:
    def module(b: Any) -> None:
        b.func([], [])(lambda own: own.rand(list(shape), dtype, low=low, high=high, seed=seed))

    built, builder = build_module(module, "ttir")
    golden = builder.golden_map[0][0].outputs[0].shard_at(0)
    (cores,), (chip,) = on_cores_and_chip(built)
    assert torch.equal(cores, golden)
    assert torch.equal(cores, chip)
    assert golden.numel() < 1000 or len(golden.float().unique()) > 200


def test_two_draws_differ_and_runs_agree() -> None:
    """Each op has its own numbers, which the seed of the module changes, and every run the same ones."""
    text = """module attributes {{stablehlo.rng_seed = {seed} : i64}} {{
      func.func @main() -> (tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>) {{
        %a = stablehlo.constant dense<-2.0> : tensor<f32>
        %b = stablehlo.constant dense<6.0> : tensor<f32>
        %s = stablehlo.constant dense<[40, 50]> : tensor<2xi64>
        %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : {type}
        %1 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : {type}
        %2 = stablehlo.rng %a, %b, %s, distribution = NORMAL : {type}
        return %0, %1, %2 : tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>
      }}
    }}"""
    of = "(tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<40x50xf32>"
    seen = []
    for seed in (0, 1, 7):
        module, _ = load_mlir_file(text.format(seed=seed, type=of), target="stablehlo")
        first, *others = on_cores_and_chip(module, runs=2)
        for results in others:
            assert torch.equal(first[0], results[0]) and torch.equal(first[1], results[1])
            torch.testing.assert_close(first[2], results[2], rtol=1e-5, atol=1e-5)
        seen += first[:2]
    for number, draw in enumerate(seen):
        assert draw.min() >= -2 and draw.max() < 6 and len(draw.unique()) > 1900
        assert all((draw == other).float().mean() < 0.01 for other in seen[:number])
