# SPDX-License-Identifier: Apache-2.0
"""Functions with ops of upstream dialects: cases of arith and math, and all of them by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from fallback_case import Case, D, N, X, Y, elementwise, one
from fallback_structured import BETWEEN, EMPTY, LINALG, SCF, TENSOR
from torch import Tensor


def divided(rest: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """As C divides; x / 0 is -1, x rem 0 is x, and what leaves 32 bits wraps around."""

    def of(n: int, d: int) -> int:
        if d == 0:
            return n if rest else -1
        quotient = abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1)
        value = n - quotient * d if rest else quotient
        return (value + 2**31) % 2**32 - 2**31

    return lambda n, d: torch.tensor(
        [of(*each) for each in zip(n.tolist(), d.tolist(), strict=True)], dtype=torch.int32
    )


def in_f64(x: Tensor) -> Tensor:
    return (torch.sin(x.double()) * 1.0e-3 + 1.0).float()


ARITH = {
    "addf": Case(elementwise("arith.addf", operands=2), [X, Y], torch.add),
    "divf": Case(elementwise("arith.divf", operands=2), [X, Y], torch.div),
    "maximumf": Case(elementwise("arith.maximumf", operands=2), [X, Y], torch.maximum),
    "addf of bf16": Case(elementwise("arith.addf", "tensor<3x4xbf16>", 2), [X.bfloat16(), Y.bfloat16()], torch.add),
    "select": Case(
        one(
            "tensor<3x4xf32> | tensor<3x4xf32>",
            """  %c = arith.cmpf olt, %a, %b : tensor<3x4xf32>
  %r = arith.select %c, %a, %b : tensor<3x4xi1>, tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X * 2, Y],
        torch.minimum,
    ),
    "cmpf": Case(
        one("tensor<3x4xf32> | tensor<3x4xf32>", "  %r = arith.cmpf olt, %a, %b : tensor<3x4xf32>", "tensor<3x4xi1>"),
        [X * 2, Y],
        torch.lt,
    ),
    "divsi": Case(elementwise("arith.divsi", "tensor<6xi32>", 2), [N, D], divided(rest=False)),
    "remsi": Case(elementwise("arith.remsi", "tensor<6xi32>", 2), [N, D], divided(rest=True)),
    "divui by 0": Case(
        one(
            "tensor<6xi32>",
            """  %z = arith.constant dense<0> : tensor<6xi32>
  %r = arith.divui %a, %z : tensor<6xi32>""",
            "tensor<6xi32>",
        ),
        [N],
        lambda n: torch.full_like(n, -1),
    ),
    "i8 wraps": Case(
        elementwise("arith.muli", "tensor<4xi8>", 2),
        [torch.tensor([100, -128, 3, -1], dtype=torch.int8)] * 2,
        lambda a, b: (a * b).int(),
    ),
    "i64": Case(
        one(
            "tensor<6xi64>",
            """  %c = arith.constant dense<4294967296> : tensor<6xi64>
  %p = arith.muli %a, %c : tensor<6xi64>
  %o = arith.constant dense<34359738368> : tensor<6xi64>
  %r = arith.divsi %p, %o : tensor<6xi64>""",
            "tensor<6xi64>",
        ),
        [N.long()],
        lambda n: torch.div(n, 8, rounding_mode="trunc").int(),
    ),
    "conversions": Case(
        one(
            "tensor<3x4xf32>",
            """  %i = arith.fptosi %a : tensor<3x4xf32> to tensor<3x4xi32>
  %s = arith.constant dense<3> : tensor<3x4xi32>
  %t = arith.shli %i, %s : tensor<3x4xi32>
  %r = arith.sitofp %t : tensor<3x4xi32> to tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X * 5],
        lambda x: (x.int() * 8).float(),
    ),
    "constant for the chip": Case(
        one(
            "tensor<3x4xf32>",
            """  %c = arith.constant dense<0.5> : tensor<3x4xf32>
  %r = "ttir.multiply"(%a, %c) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        lambda x: x * 0.5,
        calls=0,
    ),
}

MATH = {
    name: Case(elementwise(f"math.{name}"), [Y], function, exact=False)
    for name, function in {
        "exp": torch.exp,
        "tanh": torch.tanh,
        "sqrt": torch.sqrt,
        "erf": torch.erf,
        "log1p": torch.log1p,
        "rsqrt": torch.rsqrt,
        "atan": torch.atan,
        "cosh": torch.cosh,
        "floor": torch.floor,
        "round": torch.round,
    }.items()
} | {
    "absf": Case(elementwise("math.absf"), [X], torch.abs),
    "absi": Case(elementwise("math.absi", "tensor<6xi32>"), [N], torch.abs),
    "ctpop": Case(
        elementwise("math.ctpop", "tensor<6xi32>"),
        [N],
        lambda n: torch.tensor([(v % 2**32).bit_count() for v in n.tolist()], dtype=torch.int32),
    ),
    "ctlz": Case(
        elementwise("math.ctlz", "tensor<6xi32>"),
        [N],
        lambda n: torch.tensor([32 - (v % 2**32).bit_length() for v in n.tolist()], dtype=torch.int32),
    ),
    "copysign": Case(elementwise("math.copysign", operands=2), [Y, X], torch.copysign),
    "isfinite": Case(
        one("tensor<4xf32>", "  %r = math.isfinite %a : tensor<4xf32>", "tensor<4xi1>"),
        [torch.tensor([1.0, float("inf"), -float("inf"), float("nan")])],
        torch.isfinite,
    ),
    "powf": Case(elementwise("math.powf", operands=2), [Y, X], torch.pow, exact=False),
    "fma": Case(elementwise("math.fma", operands=3), [X, Y, X], lambda a, b, c: a * b + c, exact=False),
    "exp of bf16": Case(
        elementwise("math.exp", "tensor<3x4xbf16>"),
        [X.bfloat16()],
        lambda x: torch.exp(x.float()).bfloat16(),
        exact=False,
    ),
    "sin in f64": Case(
        one(
            "tensor<3x4xf32>",
            """  %w = arith.extf %a : tensor<3x4xf32> to tensor<3x4xf64>
  %s = math.sin %w : tensor<3x4xf64>
  %c = arith.constant dense<1.0e-3> : tensor<3x4xf64>
  %p = arith.mulf %s, %c : tensor<3x4xf64>
  %o = arith.constant dense<1.0> : tensor<3x4xf64>
  %q = arith.addf %p, %o : tensor<3x4xf64>
  %r = arith.truncf %q : tensor<3x4xf64> to tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        in_f64,
    ),
    "f64 of the program": Case(
        elementwise("math.sin", "tensor<3x4xf64>"), [X.double()], lambda x: torch.sin(x).float(), exact=False
    ),
}

CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "arith": ARITH,
        "math": MATH,
        "linalg": LINALG,
        "tensor": TENSOR,
        "scf": SCF,
        "between": BETWEEN,
        "empty": EMPTY,
    }.items()
    for name, case in cases.items()
}
