# SPDX-License-Identifier: Apache-2.0
"""Fusions, erased data movement and constant evaluation as a builder sees them: values, goldens and what is
observed."""

from __future__ import annotations

import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir, compile_ttir_module_to_flatbuffer
from builder.base.builder_runtime import execute_fb

F32 = torch.float32
BF16 = torch.bfloat16
NCHW = {"batch_dim": 0, "channel_dim": 1, "height_dim": 2, "width_dim": 3}


def of(body, shapes, dtype=F32):
    def module(builder):
        @builder.func(list(shapes), [dtype] * len(shapes))
        def main(*arguments):
            return body(*arguments)

    return module


def linear_relu(x, w, bias, b):
    return b.relu(b.add(b.matmul(x, b.transpose(w, dim0=0, dim1=1)), bias))


def images(x, w, v, bias, b):
    """Two convolutions of NCHW images with everything between them that fuses or commutes, and a shortcut."""
    y = b.relu6(b.add(b.conv2d(x, w, padding=[1, 1], **NCHW), bias))
    z = b.conv2d(y, v, padding=[1, 1], **NCHW)
    return b.silu(b.add(z, y))


def normalized(x, w, b):
    def constant(*values):
        return b.constant(torch.tensor(values, dtype=F32))

    parts = [constant(1.0, 0.5, 2.0), constant(0.1, -0.2, 3.0), constant(0.2, 4.0, -1.0), constant(0.5, 1.0, 2.0)]
    y = b.batch_norm_inference(b.conv2d(x, w, padding=[1, 1]), *parts, epsilon=1e-5, dimension=3)
    return b.batch_norm_inference(b.multiply(y, y), *parts, epsilon=1e-5, dimension=3)


def reordered(x, y, b):
    def forth(value):
        return b.permute(value, permutation=[0, 2, 1])

    z = b.exp(b.subtract(forth(x), forth(y)))
    return b.add(b.reshape(b.gelu(b.reshape(forth(z), shape=[6, 35])), shape=[2, 3, 35]), y)


def gelu_tanh(x, w, bias, b):
    def scalar(value):
        return b.constant(torch.full((1, 1), value, dtype=F32))

    y = b.linear(x, w, bias)
    inner = b.multiply(b.add(y, b.multiply(b.multiply(y, y), b.multiply(y, scalar(0.044715)))), scalar(0.7978845608))
    return b.multiply(b.multiply(y, scalar(0.5)), b.add(b.tanh(inner), scalar(1.0)))


CASES = {
    "gelu by tanh": (gelu_tanh, [(33, 64), (64, 48), (48,)], "main=input,parameter,parameter"),
    "linear": (linear_relu, [(33, 64), (48, 64), (1, 48)], "main=input,parameter,parameter"),
    "images": (
        images,
        [(1, 3, 9, 8), (4, 3, 3, 3), (4, 4, 3, 3), (4, 1, 1)],
        "main=input,parameter,parameter,constant",
    ),
    "batch norm": (normalized, [(2, 7, 8, 5), (3, 5, 3, 3)], "main=input,parameter"),
    "data movement": (reordered, [(2, 3, 35), (2, 3, 35)], "main=input,input"),
    "weights alone": (lambda w, b: b.exp(b.transpose(w, dim0=0, dim1=1)), [(33, 64)], "main=parameter"),
}


@pytest.mark.parametrize("dtype", [F32, BF16], ids=["f32", "bf16"])
@pytest.mark.parametrize("options", [[], ["enable-fusing-pass=false"], ["enable-erase-inverse-ops-pass=false"],
                                     ["enable-const-eval=false"]], ids=lambda o: "".join(o) or "all")  # fmt: skip
@pytest.mark.parametrize("case", CASES)
def test_values_and_intermediates_agree_with_goldens(case, options, dtype):
    body, shapes, types = CASES[case]
    report = compile_and_execute_ttir(
        of(body, shapes, dtype),
        argument_types_string=types,
        pipeline_options=options,
        enable_intermediate_verification=True,
        pcc=0.999,
        check_atol=dtype is F32,
        check_rtol=dtype is F32,
    )
    assert report.passed
    # The output, and the value of at least the last op of each group.
    assert len(report.records) > 1


def test_a_fused_value_is_kept_where_it_is_bypassed():
    """The golden of the product replaces its value before the addition, which would be its bias else."""
    value = torch.rand(32, 48)

    def body(x, w, bias, b):
        product = b.matmul(x, w)
        b.set_operand_goldens({product: value})
        b.bypass(product)
        return b.relu(b.add(product, bias))

    assert compile_and_execute_ttir(of(body, [(32, 64), (64, 48), (48,)])).passed


def test_an_erased_movement_is_kept_where_it_is_bypassed():
    value = torch.rand(5, 7)

    def body(x, b):
        there = b.transpose(x, dim0=0, dim1=1)
        b.set_operand_goldens({there: value})
        b.bypass(there)
        return b.transpose(there, dim0=0, dim1=1)

    assert compile_and_execute_ttir(of(body, [(7, 5)])).passed


def test_a_hoisted_value_is_kept_where_it_is_bypassed():
    value = torch.rand(8, 8)

    def body(x, w, b):
        weight = b.exp(w)
        b.set_operand_goldens({weight: value})
        b.bypass(weight)
        return b.multiply(x, weight)

    types = "main=input,parameter"
    assert compile_and_execute_ttir(of(body, [(8, 8), (8, 8)]), argument_types_string=types).passed


def test_cached_values_follow_their_arguments():
    """Another weight is another value, in the same program on the same device."""
    module, builder = build_module(of(lambda x, w, b: b.add(x, b.exp(w)), [(8, 8), (8, 8)]), "ttir")
    binary, _, intermediates = compile_ttir_module_to_flatbuffer(
        module, builder, argument_types_string="main=input,parameter"
    )
    for seed in range(3):
        torch.manual_seed(seed)
        x, w = torch.rand(8, 8), torch.rand(8, 8)
        goldens = {"input_0": x, "input_1": w, "output_0": x + w.exp()}
        assert execute_fb(binary, {0: goldens}, intermediates, check_atol=True).passed
