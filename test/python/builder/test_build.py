# SPDX-License-Identifier: Apache-2.0
"""Building: methods, types, attributes, locations, functions, and what wrong calls are told."""

from __future__ import annotations

import inspect
from collections import OrderedDict

import pytest
import torch
from builder.api.modules import build_module, builder_classes
from builder.base.builder_enums import MeshShardDirection, MeshShardType, ReduceType
from builder.base.errors import TTBuilderCompileException
from builder.ops.methods import Method
from builder.ops.signatures import SIGNATURES

METHODS = [
    (dialect, name, function.implementation)
    for dialect, cls in builder_classes().items()
    for name, function in sorted(vars(cls).items())
    if isinstance(getattr(function, "implementation", None), Method)
]
F32, BF16 = torch.float32, torch.bfloat16


def build(body, shapes=((4, 8),), dtypes=None, dialect="ttir", **options):
    def module(builder):
        @builder.func(list(shapes), list(dtypes or [F32] * len(shapes)))
        def f(*arguments):
            return body(*arguments)

    return build_module(module, dialect, **options)


def text(body, *args, **options) -> str:
    return str(build(body, *args, **options)[0])


@pytest.mark.parametrize(("dialect", "name", "method"), METHODS, ids=[f"{d}.{n}" for d, n, _ in METHODS])
def test_signatures_say_what_methods_take(dialect, name, method):
    parameters = inspect.signature(getattr(builder_classes()[dialect], name)).parameters
    assert not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
    fields = {p.field for p in method.parameters}
    assert fields >= {o.name for o in method.info.operands} | {a.name for a in method.info.attributes}
    assert "loc" in parameters and "unit_attrs" in parameters
    assert getattr(builder_classes()[dialect], name).__doc__


def test_every_signature_row_is_of_an_op_that_parses():
    names = {method.info.name for _, _, method in METHODS}
    known = [row for row in SIGNATURES if row in names]
    assert len(known) > 60  # the others belong to ops that are still to come


CALLS = [
    # body, input shapes, op text that must appear
    (lambda x, b: b.sum(x, dim_arg=[1]), [(4, 8)], "<{dim_arg = [1 : i32], keep_dim = true}>"),
    (lambda x, b: b.softmax(x, dimension=-1), [(4, 8)], "dimension = -1 : si32"),
    (lambda x, b: b.reshape(x, [2, 16]), [(4, 8)], "-> tensor<2x16xf32>"),
    (lambda x, b: b.transpose(x, 0, 1), [(4, 8)], "-> tensor<8x4xf32>"),
    (lambda x, b: b.permute(x, permutation=(1, 0)), [(4, 8)], "permutation = array<i64: 1, 0>"),
    (lambda x, b: b.slice(x, [0, 2], [4, 8], [1, 2]), [(4, 8)], "-> tensor<4x3xf32>"),
    (lambda x, b: b.concat([x, x, x], dim=0), [(4, 8)], "-> tensor<12x8xf32>"),
    (lambda x, b: b.typecast(x, output_type=BF16), [(4, 8)], "-> tensor<4x8xbf16>"),
    (lambda x, b: b.clamp_scalar(x, min_arg=-1.0, max_arg=1.0), [(4, 8)], "max = 1.000000e+00 : f32"),
    (lambda x, b: b.clamp_scalar(x, min=0, max=1), [(4, 8)], "max = 1 : i32"),
    (lambda x, y, b: b.matmul(x, y, transpose_b=True), [(4, 8), (3, 8)], "-> tensor<4x3xf32>"),
    (lambda x, y, b: b.add(lhs=x, rhs=y), [(4, 1), (8,)], "-> tensor<4x8xf32>"),
    (lambda x, w, b: b.conv2d(x, w, None, stride=2, padding=[1, 1], dilation=1, groups=1), [(1, 8, 8, 4), (6, 4, 3, 3)],
     "-> tensor<1x4x4x6xf32>"),
    (lambda x, b: b.max_pool2d(x, kernel=2, stride=2), [(1, 8, 8, 4)], "kernel = 2 : i32"),
    (lambda x, b: b.add(x, b.zeros([4, 8], BF16)), [(4, 8)], "tensor<4x8xbf16>"),
    (lambda x, b: b.add(x, b.full([4, 8], 2.5)), [(4, 8)], "fill_value = 2.500000e+00 : f32"),
    (lambda x, b: b.gt(x, x, output_type=torch.bool), [(4, 8)], "-> tensor<4x8xi1>"),
    (lambda x, b: b.sigmoid(x, unit_attrs=["ttir.should_hoist"]), [(4, 8)], "{ttir.should_hoist}"),
    (lambda x, b: b.all_reduce(x, 1, ReduceType.Max), [(4, 8)], "reduce_type = #ttcore.reduce_type<max>"),
    (lambda x, b: b.all_reduce(x, cluster_axis=1, reduce_type=2), [(4, 8)], "reduce_type = #ttcore.reduce_type<max>"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "shapes", "expected"), CALLS)
def test_calls_become_ops(body, shapes, expected):
    assert expected in text(body, shapes)


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.zeros(3, 3), "dense<0.000000e+00> : tensor<3x3xf32>"),
        (torch.tensor([1, 2, 3], dtype=torch.int32), "dense<[1, 2, 3]> : tensor<3xi32>"),
        (torch.tensor([True, False]), "dense<[true, false]> : tensor<2xi1>"),
        (torch.tensor([1.0, 2.0], dtype=BF16), "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>"),
        (torch.tensor(5.0), "dense<5.000000e+00> : tensor<f32>"),
        (torch.arange(100.0), "dense_resource<constant_"),
        (torch.arange(12).reshape(3, 4).t(), ": tensor<4x3xi64>"),
    ],
)
def test_constants(tensor, expected):
    module, builder = build(lambda x, b: (x, b.constant(tensor)))
    assert expected in str(module)
    assert torch.equal(builder.golden_map[0][0]["output_1"].shard_at(0), tensor)


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (lambda x, b: b.add(x), TypeError, r"ttir.add: no value for in1; takes \(in0, in1\)"),
        (lambda x, b: b.add(x, x, x), TypeError, r"ttir.add: takes at most 2 arguments \(in0, in1\), 3 were given"),
        (
            lambda x, b: b.softmax(x, dimention=1),
            TypeError,
            "no operand or attribute 'dimention'; did you mean 'dimension'",
        ),
        (lambda x, b: b.add(x, torch.zeros(4, 8)), TypeError, "in1 is a torch.Tensor, expected an operand"),
        (lambda x, b: b.add(x, x, in0=x), TypeError, "'in0' is given twice"),
        (
            lambda x, b: b.permute(x, permutation="ab"),
            TypeError,
            "permutation = 'ab' does not make a DenseI64ArrayAttr",
        ),
        (
            lambda x, b: b.full(shape=[2**40, 1], fill_value=1.0),
            ValueError,
            "element 0 is 1099511627776, expected an integer from -2147483648 to 2147483647",
        ),
        (lambda x, b: b.full(shape=[4, 2.5], fill_value=1.0), TypeError, "element 1 is 2.5, expected an integer"),
        (lambda x, b: b.full(shape=[-1], fill_value=1.0), TTBuilderCompileException, "sizes cannot be negative"),
        (lambda x, b: b.typecast(x, output_type=torch.qint8), TypeError, "torch.qint8 is no element type"),
        (
            lambda x, b: b.matmul(x, x),
            TTBuilderCompileException,
            r"test_build.py:\d+\": cannot build ttir.matmul\n.*8 and 4",
        ),
        (lambda x, b: b.reshape(x, [5, 5]), TTBuilderCompileException, "cannot build ttir.reshape"),
        (lambda x, b: torch.zeros(4), TypeError, "f returned a Tensor as result 0, expected an operand"),
        (
            lambda x, b: b.set_goldens({x: torch.zeros(2, 2)}),
            ValueError,
            r"golden of shape \[2, 2\] .* expected \[4, 8\]",
        ),
        (lambda x, b: b.set_goldens({x: "zeros"}), TypeError, "a golden is a str"),
        (lambda x, b: b.preshard_arg(x, shard_dims=(-1, 2)), ValueError, "a tensor of rank 2 has no dimension 2"),
    ],
)
def test_wrong_calls_are_told_what_is_wrong(body, error, message):
    with pytest.raises(error, match=message):
        build(body)


def test_other_wrong_input():
    with pytest.raises(ValueError, match="no builder for 'tir'; did you mean 'ttir'"):
        build_module(lambda b: None, "tir")
    with pytest.raises(ValueError, match="2 input shapes but 1 input types"):
        build(lambda x, y, b: x, [(2, 2), (2, 2)], [F32])
    with pytest.raises(RuntimeError, match=r"inside of a function"):
        build_module(lambda b: b.zeros([2], F32), "ttir")


def test_a_failed_function_leaves_nothing():
    def module(builder):
        with pytest.raises(TypeError):
            builder.func([(2, 2)], [F32])(lambda x, b: b.add(x))

        @builder.func([(2, 2)], [F32])
        def f(x, b):
            return b.exp(x)

    assert str(build_module(module, "ttir")[0]).count("func.func") == 1


def test_locations():
    module, _ = build(lambda x, b: b.exp(b.neg(x), loc="custom://here"))
    asm = module.operation.get_asm(enable_debug_info=True)
    here = inspect.currentframe().f_lineno - 2
    assert 'loc("custom://here")' in asm and f'test_build.py:{here}")' in asm
    start = build.__code__.co_firstlineno + 1
    assert f'test_build.py":{start}:0)' in asm


def test_functions_called_twice_have_names_of_their_own():
    def body(x, b):
        def inner(y, b):
            return b.exp(y)

        return b.call(inner, [b.call(inner, [x])])

    asm = text(body)
    assert "func.func private @inner(" in asm and "func.func private @inner_0(" in asm


def test_mesh_enums_and_collectives_know_the_mesh():
    def body(x, b):
        shard = b.mesh_shard(
            x, shard_direction=MeshShardDirection.FullToShard.value, shard_type=MeshShardType.Devices.value,
            shard_shape=(2, 4), shard_dims=(0, 1),
        )  # fmt: skip
        return b.all_gather(shard, all_gather_dim=1, cluster_axis=1)

    module, _ = build(body, mesh_dict=OrderedDict([("x", 2), ("y", 4)]))
    assert "-> tensor<2x8xf32>" in str(module) and "ttcore.meshes" not in str(module)


def test_ttnn_types_have_layouts():
    asm = text(lambda x, b: b.exp(x, output_type=BF16), [(2, 33, 65)], dialect="ttnn")
    assert "<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<4x3x!ttcore.tile<32x32, f32>" in asm
    assert "dtype = #ttcore.supportedDataTypes<bf16>" in asm and "!ttcore.tile<32x32, bf16>" in asm


def test_stablehlo_bodies():
    def body(x, b):
        zero = b.constant(torch.tensor(0.0))
        return b.reduce([x], [zero], [1], lambda a, c, b: b.maximum(a, c))

    _, builder = build(body, dialect="stablehlo")
    goldens = builder.golden_map[0][0]
    torch.testing.assert_close(goldens["output_0"].shard_at(0), goldens["input_0"].shard_at(0).amax(1).clamp_min(0))


def test_stubs_are_python(tmp_path, monkeypatch):
    import ast

    from builder import stubs

    monkeypatch.setattr("sys.argv", ["stubs", str(tmp_path)])
    assert stubs.main() == 0
    tree = ast.parse((tmp_path / "ttir" / "ttir_builder.pyi").read_text())
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    assert {"add", "conv2d", "softmax"} <= {node.name for node in cls.body}
