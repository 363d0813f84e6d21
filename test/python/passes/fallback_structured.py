# SPDX-License-Identifier: Apache-2.0
"""Cases of linalg, tensor and scf, of several dialects between ops of the chip, and of tensors without elements."""

from __future__ import annotations

import torch
from fallback_case import IMAGE, KERNEL, NONE, Case, M, X, Y, elementwise, one


def product(body: str, result: str = "tensor<3x5xf32>") -> str:
    return one(
        "tensor<3x4xf32> | tensor<4x5xf32>",
        f"""  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%z : f32) outs(%e : {result}) -> {result}
{body}""",
        result,
    )


LINALG = {
    "matmul": Case(
        product(
            "  %r = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) "
            "outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>"
        ),
        [X, M],
        torch.matmul,
        exact=False,
    ),
    "generic": Case(
        product(
            """  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
    affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %k = linalg.index 2 : index
    %i = arith.index_cast %k : index to i32
    %w = arith.sitofp %i : i32 to f32
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %w : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>"""
        ),
        [X, M],
        lambda x, m: (x * torch.arange(4.0)) @ m,
        exact=False,
    ),
    "transpose": Case(
        one(
            "tensor<3x4xf32>",
            """  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.transpose ins(%a : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]""",
            "tensor<4x3xf32>",
        ),
        [X],
        lambda x: x.T,
    ),
    "broadcast": Case(
        one(
            "tensor<3x4xf32>",
            """  %e = tensor.empty() : tensor<3x2x4xf32>
  %r = linalg.broadcast ins(%a : tensor<3x4xf32>) outs(%e : tensor<3x2x4xf32>) dimensions = [1]""",
            "tensor<3x2x4xf32>",
        ),
        [X],
        lambda x: x[:, None].expand(3, 2, 4),
    ),
    "reduce": Case(
        one(
            "tensor<3x4xf32>",
            """  %z = arith.constant dense<-100.0> : tensor<3xf32>
  %r = linalg.reduce ins(%a : tensor<3x4xf32>) outs(%z : tensor<3xf32>) dimensions = [1]
    (%x: f32, %m: f32) { %n = arith.maximumf %x, %m : f32  linalg.yield %n : f32 }""",
            "tensor<3xf32>",
        ),
        [X],
        lambda x: x.amax(1),
    ),
    "map": Case(
        one(
            "tensor<3x4xf32> | tensor<3x4xf32>",
            """  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.map { arith.subf } ins(%a, %b : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>)""",
            "tensor<3x4xf32>",
        ),
        [X, Y],
        torch.sub,
    ),
    "conv_2d": Case(
        one(
            "tensor<2x5x6x3xf32> | tensor<2x3x3x4xf32>",
            """  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<2x5x6x3xf32>, tensor<2x3x3x4xf32>)
    outs(%f : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>""",
            "tensor<2x4x4x4xf32>",
        ),
        [IMAGE, KERNEL],
        lambda x, k: torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1)).permute(0, 2, 3, 1),
        exact=False,
    ),
}

TENSOR = {
    "extract_slice": Case(
        one(
            "tensor<3x4xf32>",
            "  %r = tensor.extract_slice %a[1, 0] [2, 2] [1, 2] : tensor<3x4xf32> to tensor<2x2xf32>",
            "tensor<2x2xf32>",
        ),
        [X],
        lambda x: x[1:, ::2],
    ),
    "insert_slice": Case(
        one(
            "tensor<3x4xf32> | tensor<4x5xf32>",
            "  %r = tensor.insert_slice %a into %b[1, 0] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<4x5xf32>",
            "tensor<4x5xf32>",
        ),
        [X, M],
        lambda x, m: torch.cat([m[:1], torch.cat([x, m[1:, 4:]], 1)]),
    ),
    "pad": Case(
        one(
            "tensor<3x4xf32>",
            """  %v = arith.constant 2.5 : f32
  %r = tensor.pad %a low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<3x4xf32> to tensor<4x6xf32>""",
            "tensor<4x6xf32>",
        ),
        [X],
        lambda x: torch.nn.functional.pad(x, (0, 2, 1, 0), value=2.5),
    ),
    "shapes": Case(
        one(
            "tensor<3x4xf32>",
            """  %c = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %r = tensor.expand_shape %c [[0, 1, 2]] output_shape [2, 3, 2] : tensor<12xf32> into tensor<2x3x2xf32>""",
            "tensor<2x3x2xf32>",
        ),
        [X],
        lambda x: x.reshape(2, 3, 2),
    ),
    "elements": Case(
        one(
            "tensor<3x4xf32>",
            """  %i = arith.constant 2 : index
  %x = tensor.extract %a[%i, %i] : tensor<3x4xf32>
  %y = math.absf %x : f32
  %s = arith.negf %x : f32
  %r = tensor.from_elements %x, %y, %s : tensor<3xf32>""",
            "tensor<3xf32>",
        ),
        [X],
        lambda x: torch.stack([x[2, 2], x[2, 2].abs(), -x[2, 2]]),
    ),
    "generate": Case(
        one(
            "tensor<4xi32>",
            """  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %n = tensor.extract %a[%j] : tensor<4xi32>
    %k = arith.index_cast %i : index to i32
    %s = arith.addi %n, %k : i32
    tensor.yield %s : i32
  } : tensor<3x4xi32>""",
            "tensor<3x4xi32>",
        ),
        [torch.tensor([5, -1, 0, 9], dtype=torch.int32)],
        lambda n: n + torch.arange(3, dtype=torch.int32)[:, None],
    ),
    "gathered, the nearest where there is none": Case(
        one(
            "tensor<4xi32> | tensor<6xi32>",
            """  %r = tensor.generate {
  ^bb0(%i: index):
    %n = tensor.extract %b[%i] : tensor<6xi32>
    %k = arith.index_cast %n : i32 to index
    %v = tensor.extract %a[%k] : tensor<4xi32>
    tensor.yield %v : i32
  } : tensor<6xi32>""",
            "tensor<6xi32>",
        ),
        [torch.tensor([5, -1, 0, 9], dtype=torch.int32), torch.tensor([0, 3, -5, 4, 2**31 - 1, 1], dtype=torch.int32)],
        lambda table, at: table[at.long().clamp(0, 3)],
    ),
    "splat": Case(
        one(
            "tensor<f32>",
            "  %x = tensor.extract %a[] : tensor<f32>\n  %r = tensor.splat %x : tensor<2x3xf32>",
            "tensor<2x3xf32>",
        ),
        [torch.tensor(1.5)],
        lambda x: x.expand(2, 3),
    ),
}


def normalized(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(torch.softmax(x, 1), [4], w[2, :4])


SCF = {
    "ops of the chip in a branch": Case(
        one(
            "tensor<3x4xf32> | tensor<4x5xf32>",
            """  %c = arith.constant 0 : index
  %e = tensor.extract %a[%c, %c] : tensor<3x4xf32>
  %z = arith.constant 0.0 : f32
  %is = arith.cmpf olt, %e, %z : f32
  %r = scf.if %is -> tensor<3x4xf32> {
    %n = "ttir.constant"() <{value = dense<[2, 0, 2]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %w = "ttir.embedding"(%n, %b) : (tensor<3xi32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %p = tensor.extract_slice %w[0, 0] [1, 4] [1, 1] : tensor<3x5xf32> to tensor<4xf32>
    %s = "ttir.softmax"(%a) <{dimension = 1 : si32, numericStable = true}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %l = "ttir.layer_norm"(%s, %p) <{normalized_shape = array<i64: 4>, epsilon = 1.0e-5 : f32,
      operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    scf.yield %l : tensor<3x4xf32>
  } else {
    scf.yield %a : tensor<3x4xf32>
  }""",
            "tensor<3x4xf32>",
        ),
        [X, M],
        normalized,
        exact=False,
    ),
    "for": Case(
        one(
            "tensor<4xf32>",
            """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c1 to %c4 step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %j = arith.subi %i, %c1 : index
    %x = tensor.extract %t[%j] : tensor<4xf32>
    %y = tensor.extract %t[%i] : tensor<4xf32>
    %s = arith.addf %x, %y : f32
    %n = tensor.insert %s into %t[%i] : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }""",
            "tensor<4xf32>",
        ),
        [torch.tensor([0.5, 1.5, -2.0, 4.0])],
        lambda x: x.cumsum(0),
    ),
    "if": Case(
        one(
            "tensor<3x4xf32> | tensor<i32>",
            """  %n = tensor.extract %b[] : tensor<i32>
  %z = arith.constant 0 : i32
  %c = arith.cmpi sgt, %n, %z : i32
  %r = scf.if %c -> (tensor<3x4xf32>) {
    %m = math.absf %a : tensor<3x4xf32>
    scf.yield %m : tensor<3x4xf32>
  } else {
    scf.yield %a : tensor<3x4xf32>
  }""",
            "tensor<3x4xf32>",
        ),
        [X, torch.tensor(3, dtype=torch.int32)],
        lambda x, n: x.abs(),
    ),
    "while": Case(
        one(
            "tensor<i32>",
            """  %n = tensor.extract %a[] : tensor<i32>
  %one = arith.constant 1 : i32
  %hundred = arith.constant 100 : i32
  %v = scf.while (%x = %n) : (i32) -> i32 {
    %c = arith.cmpi slt, %x, %hundred : i32
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    %d = arith.shli %y, %one : i32
    scf.yield %d : i32
  }
  %r = tensor.from_elements %v : tensor<i32>""",
            "tensor<i32>",
        ),
        [torch.tensor(3, dtype=torch.int32)],
        lambda n: torch.tensor(192, dtype=torch.int32),
    ),
}

BETWEEN = {
    "two calls around an op of the chip": Case(
        one(
            "tensor<3x4xf32>",
            """  %x = math.absf %a : tensor<3x4xf32>
  %y = "ttir.relu"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = arith.subf %y, %x : tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        lambda x: x.abs().relu() - x.abs(),
        calls=2,
    ),
    "scalars from call to call": Case(
        one(
            "tensor<3x4xf32>",
            """  %c1 = arith.constant 1 : index
  %s = tensor.extract %a[%c1, %c1] : tensor<3x4xf32>
  %q = arith.mulf %s, %s : f32
  %n = tensor.from_elements %q : tensor<1xf32>
  %y = "ttir.add"(%a, %n) : (tensor<3x4xf32>, tensor<1xf32>) -> tensor<3x4xf32>
  %f = tensor.splat %q : tensor<3x4xf32>
  %r = arith.addf %y, %f : tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        lambda x: x + x[1, 1] ** 2 + x[1, 1] ** 2,
        calls=2,
    ),
    "arguments stay": Case(
        one(
            "tensor<3x4xf32>",
            """  %c1 = arith.constant 1 : index
  %z = arith.constant 7.5 : f32
  %n = tensor.insert %z into %a[%c1, %c1] : tensor<3x4xf32>
  %r = "ttir.subtract"(%n, %a) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        lambda x: torch.where(torch.arange(12).reshape(3, 4) == 5, 7.5 - x, torch.zeros(3, 4)),
    ),
    "equal ops are one function": Case(
        """func.func @main(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %x = arith.negf %a : tensor<3x4xf32>
  %y = arith.negf %b : tensor<3x4xf32>
  return %x, %y : tensor<3x4xf32>, tensor<3x4xf32>
}""",
        [X, Y],
        lambda x, y: (-x, -y),
        calls=2,
    ),
    "several results": Case(
        """func.func @main(%a: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %x = math.absf %a : tensor<3x4xf32>
  %y = arith.fptosi %x : tensor<3x4xf32> to tensor<3x4xi32>
  return %x, %y : tensor<3x4xf32>, tensor<3x4xi32>
}""",
        [X],
        lambda x: (x.abs(), x.abs().int()),
    ),
    "without operands": Case(
        one(
            "tensor<3x4xf32>",
            """  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.5 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = "ttir.add"(%a, %f) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>""",
            "tensor<3x4xf32>",
        ),
        [X],
        lambda x: x + 0.5,
    ),
}

EMPTY = {
    "addf": Case(elementwise("arith.addf", "tensor<0x4xf32>", 2), [NONE, NONE], torch.add),
    "exp of bf16": Case(elementwise("math.exp", "tensor<0x4xbf16>"), [NONE.bfloat16()], torch.exp),
    "sum": Case(
        one(
            "tensor<0x4xf32>",
            """  %z = arith.constant dense<1.5> : tensor<4xf32>
  %r = linalg.reduce ins(%a : tensor<0x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
    (%x: f32, %m: f32) { %n = arith.addf %x, %m : f32  linalg.yield %n : f32 }""",
            "tensor<4xf32>",
        ),
        [NONE],
        lambda x: torch.full((4,), 1.5),
    ),
    "collapse_shape": Case(
        one(
            "tensor<0x4xf32>",
            "  %r = tensor.collapse_shape %a [[0, 1]] : tensor<0x4xf32> into tensor<0xf32>",
            "tensor<0xf32>",
        ),
        [NONE],
        lambda x: x.reshape(0),
    ),
    "insert_slice": Case(
        one(
            "tensor<0x4xf32> | tensor<3x4xf32>",
            "  %r = tensor.insert_slice %a into %b[1, 0] [0, 4] [1, 1] : tensor<0x4xf32> into tensor<3x4xf32>",
            "tensor<3x4xf32>",
        ),
        [NONE, X],
        lambda x, y: y,
    ),
    "matmul over none": Case(
        one(
            "tensor<3x0xf32> | tensor<0x5xf32>",
            """  %z = arith.constant dense<0.25> : tensor<3x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x0xf32>, tensor<0x5xf32>) outs(%z : tensor<3x5xf32>) -> tensor<3x5xf32>""",
            "tensor<3x5xf32>",
        ),
        [torch.zeros(3, 0), torch.zeros(0, 5)],
        lambda x, y: torch.full((3, 5), 0.25),
    ),
    "extract": Case(
        one(
            "tensor<0x4xf32>",
            """  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0, %c0] : tensor<0x4xf32>
  %r = tensor.from_elements %x : tensor<1xf32>""",
            "tensor<1xf32>",
        ),
        [NONE],
        lambda x: torch.zeros(1),
    ),
}
