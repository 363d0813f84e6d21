# SPDX-License-Identifier: Apache-2.0
"""CHLO, and functions of StableHLO computed from others, through the pipelines to the chip, compared with PyTorch in
f64."""

from __future__ import annotations

import math
from collections.abc import Callable

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden import compare
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.passmanager import PassManager

INF, NAN = math.inf, math.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e-30, -1e-30, 1e-4, -1e-4, 0.5, 2.0, -2.0]
INSIDE_ONE = torch.linspace(-0.9999, 0.9999, 200).tolist()
WIDE = torch.linspace(-80, 80, 331).tolist()
HUGE = [3e38, -3e38, 1e20, -1e20, 2e19, 1e10, -1e10, 88.0, 89.4, -89.4, 90.0]
# Function in f64, and its operands in addition to the special values.
FUNCTIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], list[float]]] = {
    "acos": (torch.acos, INSIDE_ONE),
    "acosh": (torch.acosh, [1.0001, 1.5, *HUGE]),
    "asin": (torch.asin, INSIDE_ONE),
    "asinh": (torch.asinh, WIDE + HUGE),
    "atan": (torch.atan, WIDE + HUGE),
    "atanh": (torch.atanh, INSIDE_ONE),
    "conj": (torch.clone, WIDE),
    "cosh": (torch.cosh, WIDE + HUGE),
    "erf": (torch.erf, WIDE),
    "erf_inv": (torch.erfinv, INSIDE_ONE),
    "erfc": (torch.erfc, torch.linspace(-9, 9, 99).tolist()),
    "sinh": (torch.sinh, WIDE + HUGE + INSIDE_ONE),
    "square": (torch.square, WIDE + HUGE),
    "tan": (torch.tan, INSIDE_ONE),
    "is_inf": (torch.isinf, HUGE),
    "is_neg_inf": (torch.isneginf, HUGE),
    "is_pos_inf": (torch.isposinf, HUGE),
}
HALVES = [0.49999997, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 8388607.5, 4194304.5, 8388608.0, 16777217.0, -3.7, 1e9]


def away(x: torch.Tensor) -> torch.Tensor:
    """The nearest integer, halves away from zero."""
    return torch.sign(x) * torch.floor(torch.abs(x) + 0.5)  # exact in f64 for values of f32


ROUNDING: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], list[float]]] = {
    "round_nearest_afz": (away, WIDE + HALVES),
    "round_nearest_even": (torch.round, WIDE + HALVES),
}
FUNCTIONS |= ROUNDING
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def applied(name: str, operand: str, result: str) -> str:
    return f"stablehlo.{name} %x : {operand}" if name in ROUNDING else f"chlo.{name} %x : {operand} -> {result}"


def run(text: str, x: torch.Tensor, passes: str | None = None) -> list[torch.Tensor]:
    module, _ = load_mlir_file(text, target="stablehlo")
    if passes is not None:
        PassManager.parse(passes, module.context).run(module.operation)
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    return [shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: x})], (1, 1))]


# As the lowering has it, and by ops of StableHLO first.
PASSES = {"lowered": None, "legalized": "builtin.module(func.func(chlo-legalize-to-stablehlo))"}


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str, element: str, passes: str) -> None:
    function, values = FUNCTIONS[name]
    x = torch.tensor([*SPECIAL, *values]).to(TYPES[element])
    result = "i1" if name.startswith("is_") else element
    of, to = f"tensor<{len(x)}x{element}>", f"tensor<{len(x)}x{result}>"
    text = f"""func.func @main(%x: {of}) -> {to} {{
      %0 = {applied(name, of, to)}
      return %0 : {to}
    }}"""
    (found,) = run(text, x, PASSES[passes])
    expected = function(x.double())
    if result == "i1":
        assert torch.equal(found.bool(), expected)
        return
    # 1e-5 of the value, or one of the result's last place; the smallest numbers may be taken for 0.
    rtol = 1e-5 if element == "f32" else 2**-7
    expected = expected.to(TYPES[element]).double()  # what overflows there is infinite
    torch.testing.assert_close(found.double(), expected, rtol=rtol, atol=2e-7, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rank_zero(name: str) -> None:
    result = "i1" if name.startswith("is_") else "f32"
    text = f"""func.func @main(%x: tensor<f32>) -> tensor<{result}> {{
      %0 = {applied(name, "tensor<f32>", f"tensor<{result}>")}
      return %0 : tensor<{result}>
    }}"""
    (found,) = run(text, torch.tensor(0.25))
    expected = FUNCTIONS[name][0](torch.tensor(0.25, dtype=torch.float64))
    torch.testing.assert_close(found.double(), expected.double(), rtol=1e-5, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize(("shape", "k"), [((7,), 3), ((4, 5), 5), ((2, 3, 8), 1), ((1, 1), 1)])
def test_top_k(shape: tuple[int, ...], k: int) -> None:
    """Returns the first of equal elements first."""
    x = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(0)).float()
    of, to = "x".join(map(str, shape)), "x".join(map(str, (*shape[:-1], k)))
    text = f"""func.func @main(%x: tensor<{of}xf32>) -> (tensor<{to}xf32>, tensor<{to}xi32>) {{
      %0, %1 = chlo.top_k(%x, k = {k}) : tensor<{of}xf32> -> (tensor<{to}xf32>, tensor<{to}xi32>)
      return %0, %1 : tensor<{to}xf32>, tensor<{to}xi32>
    }}"""
    values, indices = run(text, x)
    expected, places = torch.sort(x, dim=-1, descending=True, stable=True)
    assert torch.equal(values, expected[..., :k])
    assert torch.equal(indices.long(), places[..., :k])


def test_goldens_agree() -> None:
    """The goldens that `ttrt run --golden` takes."""
    ops = "\n".join(
        f"%{i} = chlo.{name} %x : tensor<8xf32> -> tensor<8xf32>" for i, name in enumerate(["asinh", "cosh"])
    )
    module, builder = load_mlir_file(
        f"func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {{ {ops}\n"
        "return %0, %1 : tensor<8xf32>, tensor<8xf32> }",
        target="stablehlo",
    )
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    goldens = builder.golden_map[0][0]
    for (found,), expected in zip(execute(binary, 0, goldens.inputs, (1, 1)), goldens.outputs, strict=True):
        assert compare(expected.shard_at(0), found).within
