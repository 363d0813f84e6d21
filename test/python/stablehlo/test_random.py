# SPDX-License-Identifier: Apache-2.0
"""stablehlo.rng on the chip: the specification leaves the numbers open, so their distribution is looked at."""

from __future__ import annotations

import math

import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from test_expansions import NAMES, run

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
