# SPDX-License-Identifier: Apache-2.0
"""Each op of StableHLO in a program whose arguments are split in all ways; and why some have none."""

from __future__ import annotations

from op_gaps import reason
from sharded_programs import Program

# Windows and orders have cases of their own: where devices exchange edges, sizes decide.
X, ROW = "t<8x16>", "t<8>"
I32, PRED, COMPLEX = "tensor<8x16xi32>", "tensor<8x16xi1>", "tensor<8x16xcomplex<f32>>"
INTEGER = f"""%scale = stablehlo.constant dense<1.0e3> : {X}
    %large = stablehlo.multiply %a0, %scale : {X}
    %i = stablehlo.convert %large : ({X}) -> {I32}"""
SCALARS = """%zero = stablehlo.constant dense<0.0> : t<>
    %one = stablehlo.constant dense<1.0> : t<>"""


def program(body: str, *shapes: tuple[int, ...], result: str = X, exact: bool = True, functions: str = "") -> Program:
    """%r of %a0, %a1, ...; `functions` that it calls follow it."""
    more = f"\n}}\n{functions.rstrip().removesuffix('}')}" if functions else ""
    return Program(f"{body}\nreturn %r : {result}{more}", shapes or ((8, 16),), (result,), exact)


def unary(name: str, of: str = X, to: str | None = None) -> str:
    return f"stablehlo.{name} %a0 : {of}" if to is None else f"stablehlo.{name} %a0 : ({of}) -> {to}"


def positive(name: str) -> Program:
    return program(f"%p = stablehlo.abs %a0 : {X}\n%r = stablehlo.{name} %p : {X}")


def integers(line: str) -> Program:
    """%j of the integers %i."""
    return program(f"{INTEGER}\n{line}\n%r = stablehlo.convert %j : ({I32}) -> {X}")


def shifted(name: str) -> Program:
    return integers(f"%three = stablehlo.constant dense<3> : {I32}\n%j = stablehlo.{name} %i, %three : {I32}")


def region(line: str, result: str = "f32", count: int = 2) -> str:
    names = ", ".join(f"%{name}: t<>" for name in "lmno"[:count])
    return f"({{\n^bb0({names}):\n%c = {line}\nstablehlo.return %c : tensor<{result}>\n}})"


def logical(name: str) -> Program:
    """Draws booleans and integers."""
    return program(
        f"""{INTEGER}
        %p = stablehlo.compare LT, %a0, %a1 : ({X}, {X}) -> {PRED}
        %q = stablehlo.compare GT, %a0, %large : ({X}, {X}) -> {PRED}
        %b = stablehlo.{name} %p, %q : {PRED}
        %seven = stablehlo.constant dense<7> : {I32}
        %j = stablehlo.{name} %i, %seven : {I32}
        %f = stablehlo.convert %j : ({I32}) -> {X}
        %r = stablehlo.select %b, %f, %a1 : {PRED}, {X}""",
        (8, 16),
        (8, 16),
    )


def binary(name: str) -> Program:
    return program(f"%r = stablehlo.{name} %a0, %a1 : {X}", (8, 16), (8, 16))


def window(
    shape: tuple[int, ...],
    result: tuple[int, ...],
    windows: str,
    strides: str,
    padding: str,
    function: str = "add",
    dilations: str = "",
) -> Program:
    """A reduction of windows; where the start is not 0, so is not what lies outside."""
    start = {"add": "0.0", "maximum": "0xFF800000", "multiply": "1.0"}[function]
    operand, of = (f"t<{'x'.join(map(str, sizes))}>" for sizes in (shape, result))
    dilated = f", window_dilations = array<i64: {dilations}>" if dilations else ""
    return program(
        f"""%start = stablehlo.constant dense<{start}> : t<>
        %r = "stablehlo.reduce_window"(%a0, %start) <{{window_dimensions = array<i64: {windows}>,
          window_strides = array<i64: {strides}>, padding = dense<{padding}> : tensor<{len(shape)}x2xi64>{dilated}}}>
          {region(f"stablehlo.{function} %l, %m : t<>")} : ({operand}, t<>) -> {of}""",
        shape,
        result=of,
        exact=function == "maximum",
    )


def select_and_scatter(
    shape: tuple[int, ...], source: tuple[int, ...], windows: str, strides: str, padding: str
) -> Program:
    """The gradient of a pool that takes the greatest of each window."""
    operand, given = (f"t<{'x'.join(map(str, sizes))}>" for sizes in (shape, source))
    return program(
        f"""{SCALARS}
        %r = "stablehlo.select_and_scatter"(%a0, %a1, %zero) <{{window_dimensions = array<i64: {windows}>,
          window_strides = array<i64: {strides}>, padding = dense<{padding}> : tensor<2x2xi64>}}>
          ({region("stablehlo.compare GE, %l, %m : (t<>, t<>) -> tensor<i1>", "i1")[1:-1]},
          {region("stablehlo.add %l, %m : t<>")[1:-1]}) : ({operand}, {given}, t<>) -> {operand}""",
        shape,
        source,
        result=operand,
    )


def convolution(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    result: tuple[int, ...],
    window: str,
    groups: int = 1,
    batches: int = 1,
    dims: str = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
) -> Program:
    types = [f"t<{'x'.join(map(str, sizes))}>" for sizes in (shape, kernel, result)]
    return program(
        f"""%r = stablehlo.convolution(%a0, %a1) dim_numbers = {dims}, window = {{{window}}}
          {{batch_group_count = {batches} : i64, feature_group_count = {groups} : i64}}
          : ({types[0]}, {types[1]}) -> {types[2]}""",
        shape,
        kernel,
        result=types[2],
        exact=False,
    )


def indexed(name: str, call: str, of: str = X, result: str = X) -> str:
    return f'%r = "stablehlo.{name}"{call} : {of} -> {result}'


POOL = "{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}"
MAXIMUM = region("stablehlo.maximum %l, %m : t<>")
POSITIVE_DEFINITE = """%t = stablehlo.transpose %a0, dims = [0, 2, 1] : (t<8x4x4>) -> t<8x4x4>
    %s = stablehlo.dot_general %a0, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (t<8x4x4>, t<8x4x4>) -> t<8x4x4>
    %d = stablehlo.constant dense<[[4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0],
      [0.0, 0.0, 0.0, 4.0]]> : t<4x4>
    %e = stablehlo.broadcast_in_dim %d, dims = [1, 2] : (t<4x4>) -> t<8x4x4>
    %m = stablehlo.add %s, %e : t<8x4x4>"""
BATCH_NORM = "epsilon = 1.0e-3 : f32, feature_index = 1 : i64"
BRANCHES = f"""({{
      %n = stablehlo.negate %a0 : {X}
      stablehlo.return %n : {X}
    }}, {{
      %n = stablehlo.add %a0, %a1 : {X}
      stablehlo.return %n : {X}
    }})"""
UNARY = """abs cbrt ceil cosine exponential exponential_minus_one floor logistic negate round_nearest_afz
    round_nearest_even sign sine tan tanh"""
BINARY = "add atan2 divide maximum minimum multiply remainder subtract"
QUANTIZED = "tensor<8x16x!quant.uniform<i8:f32, 0.02:3>>"

OPS: dict[str, Program] = {
    **{name: program(f"%r = {unary(name)}") for name in UNARY.split()},
    **{name: positive(name) for name in ("log", "log_plus_one", "rsqrt", "sqrt")},
    **{name: binary(name) for name in BINARY.split()},
    "power": program(f"%p = stablehlo.abs %a0 : {X}\n%r = stablehlo.power %p, %a1 : {X}", (8, 16), (8, 16)),
    **{name: logical(name) for name in ("and", "or", "xor")},
    "not": integers(f"%j = stablehlo.not %i : {I32}"),
    **{name: integers(f"%j = stablehlo.{name} %i : {I32}") for name in ("count_leading_zeros", "popcnt")},
    **{name: shifted(name) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
    "convert": program(f"{INTEGER}\n%r = stablehlo.convert %i : ({I32}) -> {X}"),
    "bitcast_convert": program(
        f"""%i = stablehlo.bitcast_convert %a0 : ({X}) -> {I32}
        %m = stablehlo.constant dense<0x7FFF0000> : {I32}
        %j = stablehlo.and %i, %m : {I32}
        %r = stablehlo.bitcast_convert %j : ({I32}) -> {X}"""
    ),
    "is_finite": program(
        f"%p = stablehlo.is_finite %a0 : ({X}) -> {PRED}\n%r = stablehlo.convert %p : ({PRED}) -> {X}"
    ),
    "reduce_precision": program(f"%r = stablehlo.reduce_precision %a0, format = e5m10 : {X}"),
    "compare": program(
        f"""%p = stablehlo.compare LE, %a0, %a1 : ({X}, {X}) -> {PRED}
        %r = stablehlo.convert %p : ({PRED}) -> {X}""",
        (8, 16),
        (8, 16),
    ),
    "select": program(
        f"""%p = stablehlo.compare LE, %a0, %a1 : ({X}, {X}) -> {PRED}
        %r = stablehlo.select %p, %a2, %a1 : {PRED}, {X}""",
        (8, 16),
        (8, 16),
        (8, 16),
    ),
    "clamp": program(f"{SCALARS}\n%r = stablehlo.clamp %zero, %a0, %a1 : (t<>, {X}, {X}) -> {X}", (8, 16), (8, 16)),
    "complex": program(
        f"""%c = stablehlo.complex %a0, %a1 : {COMPLEX}
        %d = stablehlo.multiply %c, %c : {COMPLEX}
        %p = stablehlo.real %d : ({COMPLEX}) -> {X}
        %q = stablehlo.imag %d : ({COMPLEX}) -> {X}
        %r = stablehlo.subtract %p, %q : {X}""",
        (8, 16),
        (8, 16),
    ),
    "broadcast": program(f"%r = stablehlo.broadcast %a0, sizes = [4] : ({X}) -> t<4x8x16>", result="t<4x8x16>"),
    "broadcast_in_dim": program(
        "%r = stablehlo.broadcast_in_dim %a0, dims = [0, 2] : (t<8x1>) -> t<8x4x16>", (8, 1), result="t<8x4x16>"
    ),
    "concatenate": program(
        f"%r = stablehlo.concatenate %a0, %a1, dim = 0 : ({X}, t<4x16>) -> t<12x16>",
        (8, 16),
        (4, 16),
        result="t<12x16>",
    ),
    "reverse": program(f"%r = stablehlo.reverse %a0, dims = [0] : {X}"),
    "reverse of both": program(f"%r = stablehlo.reverse %a0, dims = [1, 0] : {X}"),
    "reshape": program(f"%r = stablehlo.reshape %a0 : ({X}) -> t<2x4x16>", result="t<2x4x16>"),
    "transpose": program(f"%r = stablehlo.transpose %a0, dims = [1, 0] : ({X}) -> t<16x8>", result="t<16x8>"),
    "iota": program(f"%i = stablehlo.iota dim = 1 : {X}\n%r = stablehlo.add %a0, %i : {X}"),
    "constant": program(
        f"""%c = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]> : t<8x1>
        %d = stablehlo.reshape %c : (t<8x1>) -> {ROW}
        %e = stablehlo.broadcast_in_dim %d, dims = [0] : ({ROW}) -> {X}
        %r = stablehlo.multiply %a0, %e : {X}"""
    ),
    "gather": program(
        f"""%i = stablehlo.constant dense<[[1], [7], [0], [3]]> : tensor<4x1xi32>
        %r = "stablehlo.gather"(%a0, %i) <{{slice_sizes = array<i64: 1, 16>, dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}}>
          : ({X}, tensor<4x1xi32>) -> t<4x16>""",
        result="t<4x16>",
    ),
    "scatter": program(
        f"""%i = stablehlo.constant dense<[[1], [7], [0], [3]]> : tensor<4x1xi32>
        %r = "stablehlo.scatter"(%a0, %i, %a1) <{{scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}}> {region("stablehlo.add %l, %m : t<>")}
          : ({X}, tensor<4x1xi32>, t<4x16>) -> {X}""",
        (8, 16),
        (4, 16),
    ),
    "torch_index_select": program(
        f"""%i = stablehlo.constant dense<[1, 7, 0, 3]> : tensor<4xi32>
        %r = "stablehlo.torch_index_select"(%a0, %i) <{{dim = 0 : i64, batch_dims = 0 : i64}}>
          : ({X}, tensor<4xi32>) -> t<4x16>""",
        result="t<4x16>",
    ),
    "dynamic_slice": program(
        f"""%two = stablehlo.constant dense<2> : tensor<i32>
        %r = stablehlo.dynamic_slice %a0, %two, %two, sizes = [4, 16] : ({X}, tensor<i32>, tensor<i32>) -> t<4x16>""",
        result="t<4x16>",
    ),
    "dynamic_update_slice": program(
        f"""%two = stablehlo.constant dense<2> : tensor<i32>
        %r = stablehlo.dynamic_update_slice %a0, %a1, %two, %two : ({X}, t<4x16>, tensor<i32>, tensor<i32>) -> {X}""",
        (8, 16),
        (4, 16),
    ),
    # Slices and pads: of few elements at the ends, of many, in strides, over more than a neighbour holds, on both
    # dimensions, by less than nothing.
    "slice": program(f"%r = stablehlo.slice %a0 [1:7, 0:16] : ({X}) -> t<6x16>", result="t<6x16>"),
    "slice the front": program(f"%r = stablehlo.slice %a0 [0:4, 0:16] : ({X}) -> t<4x16>", result="t<4x16>"),
    "slice the end": program(f"%r = stablehlo.slice %a0 [0:8, 4:16] : ({X}) -> t<8x12>", result="t<8x12>"),
    "slice in strides": program(f"%r = stablehlo.slice %a0 [1:8:2, 0:16:2] : ({X}) -> t<4x8>", result="t<4x8>"),
    "slice of all": program(f"%r = stablehlo.slice %a0 [0:8, 0:16] : ({X}) -> {X}"),
    "pad": program(
        f"{SCALARS}\n%r = stablehlo.pad %a0, %one, low = [1, 2], high = [3, 2], interior = [0, 0]"
        f" : ({X}, t<>) -> t<12x20>",
        result="t<12x20>",
    ),
    "pad between": program(
        f"{SCALARS}\n%r = stablehlo.pad %a0, %one, low = [0, 1], high = [1, 0], interior = [1, 0]"
        f" : ({X}, t<>) -> t<16x17>",
        result="t<16x17>",
    ),
    "pad as a shift": program(
        f"{SCALARS}\n%r = stablehlo.pad %a0, %one, low = [1, -2], high = [-1, 2], interior = [0, 0] : ({X}, t<>) -> {X}"
    ),
    "pad at one end": program(
        f"{SCALARS}\n%r = stablehlo.pad %a0, %one, low = [0, 0], high = [8, 16], interior = [0, 0]"
        f" : ({X}, t<>) -> t<16x32>",
        result="t<16x32>",
    ),
    "dot": program(f"%r = stablehlo.dot %a0, %a1 : ({X}, t<16>) -> {ROW}", (8, 16), (16,), result=ROW, exact=False),
    "dot_general": program(
        """%r = stablehlo.dot_general %a0, %a1, batching_dims = [1] x [0], contracting_dims = [0, 2] x [2, 1]
          : (t<4x8x16>, t<8x16x4>) -> t<8>""",
        (4, 8, 16),
        (8, 16, 4),
        result="t<8>",
        exact=False,
    ),
    "einsum": program(
        f'%r = stablehlo.einsum %a0, %a1, config = "ij,jk->ki" : ({X}, t<16x4>) -> t<4x8>',
        (8, 16),
        (16, 4),
        result="t<4x8>",
        exact=False,
    ),
    "unary_einsum": program(
        f'%r = "stablehlo.unary_einsum"(%a0) <{{einsum_config = "ij->j"}}> : ({X}) -> t<16>',
        result="t<16>",
        exact=False,
    ),
    "map": program(
        f"""%r = "stablehlo.map"(%a0, %a1) <{{dimensions = array<i64: 0, 1>}}>
          {region("stablehlo.maximum %l, %m : t<>")} : ({X}, {X}) -> {X}""",
        (8, 16),
        (8, 16),
    ),
    "reduce": program(
        f"""{SCALARS}
        %s = stablehlo.reduce(%a0 init: %one) applies stablehlo.add across dimensions = [0] : ({X}, t<>) -> t<16>
        %m = stablehlo.reduce(%a0 init: %one) applies stablehlo.minimum across dimensions = [0] : ({X}, t<>) -> t<16>
        %r = stablehlo.add %s, %m : t<16>""",
        result="t<16>",
        exact=False,
    ),
    "reduce of pairs": program(
        f"""%i = stablehlo.iota dim = 1 : {I32}
        %low = stablehlo.constant dense<0xFF800000> : t<>
        %none = stablehlo.constant dense<0> : tensor<i32>
        %v:2 = stablehlo.reduce(%a0 init: %low), (%i init: %none) across dimensions = [1]
          : ({X}, {I32}, t<>, tensor<i32>) -> ({ROW}, tensor<8xi32>)
         reducer(%l: t<>, %m: t<>) (%n: tensor<i32>, %o: tensor<i32>) {{
          %p = stablehlo.compare GE, %l, %m : (t<>, t<>) -> tensor<i1>
          %q = stablehlo.select %p, %l, %m : tensor<i1>, t<>
          %w = stablehlo.select %p, %n, %o : tensor<i1>, tensor<i32>
          stablehlo.return %q, %w : t<>, tensor<i32>
        }}
        %f = stablehlo.convert %v#1 : (tensor<8xi32>) -> {ROW}
        %r = stablehlo.add %v#0, %f : {ROW}""",
        result=ROW,
    ),
    "sort": program(f"""%r = "stablehlo.sort"(%a0) <{{dimension = 1 : i64}}>
          {region("stablehlo.compare LT, %l, %m : (t<>, t<>) -> tensor<i1>", "i1")} : ({X}) -> {X}"""),
    # Windows: as many results as elements, fewer, in strides, in gaps, over elements of one device only, over more than
    # one neighbour holds, with what is outside of the operand.
    "reduce_window": window((8, 16), (8, 16), "3, 1", "1, 1", "[[1, 1], [0, 0]]"),
    "reduce_window of both": window((8, 16), (8, 16), "3, 5", "1, 1", "[[1, 1], [2, 2]]", "maximum"),
    "reduce_window in strides": window((8, 16), (4, 8), "3, 2", "2, 2", "[[1, 0], [0, 0]]", "maximum"),
    "reduce_window apart": window((8, 16), (4, 8), "2, 2", "2, 2", "[[0, 0], [0, 0]]"),
    "reduce_window of what has other users": program(
        f"""{SCALARS}
        %n = stablehlo.negate %a0 : {X}
        %p = "stablehlo.reduce_window"(%n, %zero) <{POOL}> {MAXIMUM} : ({X}, t<>) -> t<4x8>
        %q = stablehlo.abs %n : {X}
        %s = "stablehlo.reduce_window"(%q, %zero) <{POOL}> {MAXIMUM} : ({X}, t<>) -> t<4x8>
        %r = stablehlo.subtract %s, %p : t<4x8>""",
        result="t<4x8>",
    ),
    "reduce_window of fewer": window((8, 16), (6, 12), "3, 5", "1, 1", "[[0, 0], [0, 0]]", "multiply"),
    "reduce_window in gaps": window((8, 16), (8, 16), "3, 1", "1, 1", "[[2, 2], [0, 0]]", "multiply", "2, 1"),
    "reduce_window far": window((8, 16), (8, 16), "8, 16", "1, 1", "[[7, 0], [15, 0]]"),
    "select_and_scatter": select_and_scatter((8, 16), (4, 16), "2, 1", "2, 1", "0"),
    "select_and_scatter that overlaps": select_and_scatter((8, 16), (4, 16), "3, 1", "2, 1", "[[1, 0], [0, 0]]"),
    "select_and_scatter in gaps": select_and_scatter((12, 16), (4, 8), "2, 2", "3, 2", "[[0, 0], [0, 0]]"),
    "convolution": convolution((4, 8, 8, 4), (3, 3, 4, 8), (4, 8, 8, 8), "pad = [[1, 1], [1, 1]]"),
    "convolution in strides": convolution(
        (2, 8, 16, 4), (3, 5, 4, 4), (2, 4, 8, 4), "stride = [2, 2], pad = [[1, 0], [2, 1]]"
    ),
    "convolution in gaps": convolution(
        (2, 8, 8, 4), (3, 2, 4, 4), (2, 8, 8, 4), "pad = [[2, 2], [0, 1]], rhs_dilate = [2, 1]"
    ),
    "convolution without padding": convolution((2, 10, 8, 4), (3, 1, 4, 4), (2, 8, 8, 4), ""),
    "convolution, transposed": convolution(
        (2, 4, 8, 4), (4, 3, 4, 4), (2, 8, 16, 4), "pad = [[2, 2], [1, 2]], lhs_dilate = [2, 2]"
    ),
    "convolution of groups": convolution((2, 8, 8, 4), (3, 3, 1, 8), (2, 8, 8, 8), "pad = [[1, 1], [1, 1]]", groups=4),
    "convolution of a line": convolution(
        (4, 4, 16), (8, 4, 3), (4, 8, 16), "pad = [[0, 2]]", dims="[b, f, 0]x[o, i, 0]->[b, f, 0]"
    ),
    "convolution that is the gradient of a kernel": convolution(
        (4, 8, 8, 2),
        (4, 8, 8, 4),
        (2, 3, 3, 4),
        "pad = [[1, 1], [1, 1]]",
        dims="[f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f]",
    ),
    "convolution that is the gradient of a kernel in strides": convolution(
        (4, 16, 8, 2),
        (4, 8, 8, 4),
        (2, 3, 3, 4),
        "pad = [[1, 0], [1, 1]], rhs_dilate = [2, 1]",
        dims="[f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f]",
    ),
    "batch_norm_inference": program(
        f'%r = "stablehlo.batch_norm_inference"(%a0, %a1, %a1, %a2, %p) <{{{BATCH_NORM}}}>'
        f" : ({X}, t<16>, t<16>, t<16>, t<16>) -> {X}".replace("%r =", "%p = stablehlo.abs %a1 : t<16>\n%r ="),
        (8, 16),
        (16,),
        (16,),
    ),
    "batch_norm_training": program(
        f"""%r, %mean, %variance = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{{{BATCH_NORM}}}>
          : ({X}, t<16>, t<16>) -> ({X}, t<16>, t<16>)""",
        (8, 16),
        (16,),
        (16,),
        exact=False,
    ),
    "batch_norm_grad": program(
        f"""%v = stablehlo.abs %a2 : t<16>
        %r, %scale, %offset = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %v, %a3) <{{{BATCH_NORM}}}>
          : ({X}, t<16>, t<16>, t<16>, {X}) -> ({X}, t<16>, t<16>)""",
        (8, 16),
        (16,),
        (16,),
        (8, 16),
        exact=False,
    ),
    "cholesky": program(
        f"{POSITIVE_DEFINITE}\n%r = stablehlo.cholesky %m, lower = true : t<8x4x4>",
        (8, 4, 4),
        result="t<8x4x4>",
        exact=False,
    ),
    "triangular_solve": program(
        f"""{POSITIVE_DEFINITE}
        %r = "stablehlo.triangular_solve"(%m, %a1) <{{left_side = true, lower = true, unit_diagonal = false,
          transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}> : (t<8x4x4>, t<8x4x2>) -> t<8x4x2>""",
        (8, 4, 4),
        (8, 4, 2),
        result="t<8x4x2>",
        exact=False,
    ),
    "fft": program(
        f"""%c = stablehlo.complex %a0, %a1 : {COMPLEX}
        %d = stablehlo.fft %c, type = FFT, length = [16] : ({COMPLEX}) -> {COMPLEX}
        %r = stablehlo.real %d : ({COMPLEX}) -> {X}""",
        (8, 16),
        (8, 16),
        exact=False,
    ),
    "case": program(
        f"""%i = stablehlo.constant dense<1> : tensor<i32>
        %r = "stablehlo.case"(%i) {BRANCHES} : (tensor<i32>) -> {X}""",
        (8, 16),
        (8, 16),
    ),
    "if": program(
        f"""{SCALARS}
        %s = stablehlo.reduce(%a0 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : ({X}, t<>) -> t<>
        %p = stablehlo.compare GT, %s, %zero : (t<>, t<>) -> tensor<i1>
        %r = "stablehlo.if"(%p) {BRANCHES} : (tensor<i1>) -> {X}""",
        (8, 16),
        (8, 16),
    ),
    "while": program(
        f"""%n = stablehlo.constant dense<0> : tensor<i32>
        %end = stablehlo.constant dense<3> : tensor<i32>
        %step = stablehlo.constant dense<1> : tensor<i32>
        %w:2 = stablehlo.while(%k = %n, %v = %a0) : tensor<i32>, {X}
         cond {{
          %p = stablehlo.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %m = stablehlo.add %k, %step : tensor<i32>
          %u = stablehlo.dot_general %v, %a1, contracting_dims = [1] x [0] : ({X}, t<16x16>) -> {X}
          stablehlo.return %m, %u : tensor<i32>, {X}
        }}
        %r = stablehlo.negate %w#1 : {X}""",
        (8, 16),
        (16, 16),
        exact=False,
    ),
    "composite": program(
        f"""%r = stablehlo.composite "my.square" %a0 {{composite_attributes = {{n = 1 : i64}}, decomposition = @square}}
          : ({X}) -> {X}""",
        functions=f"""func.func private @square(%x: {X}) -> {X} {{
          %0 = stablehlo.multiply %x, %x : {X}
          return %0 : {X}
        }}""",
    ),
    "custom_call": program(f"%r = stablehlo.custom_call @mhlo.erf(%a0) : ({X}) -> {X}"),
    "optimization_barrier": program(
        f"%b:2 = stablehlo.optimization_barrier %a0, %a1 : {X}, {X}\n%r = stablehlo.add %b#0, %b#1 : {X}",
        (8, 16),
        (8, 16),
    ),
    "tuple": program(
        f"""%t = stablehlo.tuple %a0, %a1 : tuple<{X}, {X}>
        %e = stablehlo.get_tuple_element %t[1] : (tuple<{X}, {X}>) -> {X}
        %r = stablehlo.subtract %a0, %e : {X}""",
        (8, 16),
        (8, 16),
    ),
    "rng_bit_generator": program(
        f"""%w = stablehlo.constant dense<[[3, 7], [1, 2]]> : tensor<2x2xui32>
        %s = stablehlo.bitcast_convert %w : (tensor<2x2xui32>) -> tensor<2xui64>
        %n, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>)
          -> (tensor<2xui64>, tensor<8x16xui32>)
        %k = stablehlo.constant dense<9> : tensor<8x16xui32>
        %h = stablehlo.shift_right_logical %b, %k : tensor<8x16xui32>
        %f = stablehlo.convert %h : (tensor<8x16xui32>) -> {X}
        %r = stablehlo.add %a0, %f : {X}"""
    ),
    "uniform_quantize": program(
        f"""%q = stablehlo.uniform_quantize %a0 : ({X}) -> {QUANTIZED}
        %r = stablehlo.uniform_dequantize %q : ({QUANTIZED}) -> {X}"""
    ),
    "get_dimension_size": program(
        f"""%n = stablehlo.get_dimension_size %a0, dim = 1 : ({X}) -> tensor<i32>
        %f = stablehlo.convert %n : (tensor<i32>) -> t<>
        %b = stablehlo.broadcast_in_dim %f, dims = [] : (t<>) -> {X}
        %r = stablehlo.multiply %a0, %b : {X}"""
    ),
}

INSIDE = {"get_tuple_element": "tuple", "imag": "complex", "real": "complex", "uniform_dequantize": "uniform_quantize"}
NO_PROGRAM: dict[str, str] = {
    **reason(
        "says what single devices do; test_collectives.py",
        """after_all all_gather all_reduce all_to_all async_done async_start collective_broadcast collective_permute
        collective_reduce create_token cross-replica-sum infeed outfeed partition_id recv reduce_scatter replica_id
        send""",
    ),
    **reason(
        "sizes are known before programs are split, and the op is another one then; test_expansions.py",
        """dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape
        real_dynamic_slice set_dimension_size""",
    ),
    "return": "ends a region",
    "rng": "gives other numbers each time; test_random.py",
}
