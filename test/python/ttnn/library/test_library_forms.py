# SPDX-License-Identifier: Apache-2.0
"""Calls in each form that the library has, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import ttnn
from torch.nn import functional

A = torch.arange(-6.0, 6.0).reshape(3, 4) / 2
B = torch.tensor([[0.5, -1.0, 2.0, 3.0]] * 3)
NUMBERS = torch.tensor([[12, 10, 7, 0]], dtype=torch.int32)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])


def put(device: ttnn.Device, values: torch.Tensor, **options: Any) -> ttnn.Tensor:
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, **options)


def gradient(forward: Callable[..., torch.Tensor], grad: torch.Tensor, *inputs: torch.Tensor) -> list[torch.Tensor]:
    leaves = [each.clone().requires_grad_() for each in inputs]
    return list(torch.autograd.grad(forward(*leaves), leaves, grad))


# By name: the call of two tensors of floats and one of integers, and PyTorch's result.
CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[], torch.Tensor]]] = {
    "typecast by place": (lambda a, b, n: ttnn.typecast(a, ttnn.float32, ttnn.bfloat16), lambda: A.bfloat16()),
    "typecast by name": (lambda a, b, n: ttnn.typecast(a, output_dtype=ttnn.bfloat16), lambda: A.bfloat16()),
    "bitwise_and": (lambda a, b, n: ttnn.bitwise_and(n, input_b=6), lambda: NUMBERS & 6),
    "bitwise_left_shift": (lambda a, b, n: ttnn.bitwise_left_shift(n, input_b=2), lambda: NUMBERS << 2),
    "maximum": (lambda a, b, n: ttnn.maximum(a, input_b=b), lambda: torch.maximum(A, B)),
    "div": (lambda a, b, n: ttnn.div(a, value=4.0), lambda: A / 4),
    "rsub": (lambda a, b, n: ttnn.rsub(a, input_b=2.0), lambda: 2 - A),
    "mac of two numbers": (lambda a, b, n: ttnn.mac(a, value1=2.0, value2=1.0), lambda: A * 2 + 1),
    "mac of a last number": (lambda a, b, n: ttnn.mac(a, b, value=1.0), lambda: A * B + 1),
    "mac of a middle number": (
        lambda a, b, n: ttnn.mac(a, value=2.0, input_tensor_c=b),
        lambda: A * 2 + B,
    ),
    "slice by slice_step": (
        lambda a, b, n: ttnn.slice(a, [0, 0], [3, 4], slice_step=[2, 3]),
        lambda: A[::2, ::3],
    ),
    "slice by steps": (lambda a, b, n: ttnn.slice(a, starts=[0, 0], ends=[3, 4], steps=[2, 3]), lambda: A[::2, ::3]),
    "slice by slice_start": (lambda a, b, n: ttnn.slice(a, slice_start=[1, 0], slice_end=[3, 4]), lambda: A[1:]),
    "reshape with padding": (lambda a, b, n: ttnn.reshape(a, [4, 3], [32, 32]), lambda: A.reshape(4, 3)),
    "view": (lambda a, b, n: ttnn.experimental.view(a, 1, 1, 4, 3), lambda: A.reshape(1, 1, 4, 3)),
    "view of a shape": (lambda a, b, n: ttnn.experimental.view(a, [6, 2]), lambda: A.reshape(6, 2)),
    "view by name": (lambda a, b, n: ttnn.experimental.view(a, shape=[6, 2]), lambda: A.reshape(6, 2)),
    "roll of all elements": (lambda a, b, n: ttnn.roll(a, 5), lambda: torch.roll(A, 5)),
    "roll of a dimension": (lambda a, b, n: ttnn.roll(a, [1, -1], dim=[0, 1]), lambda: torch.roll(A, (1, -1), (0, 1))),
    "prod of dimensions": (lambda a, b, n: ttnn.prod(b, dims=[0, 1]), lambda: B.prod().reshape(1, 1)),
    "addmm": (
        lambda a, b, n: ttnn.addmm(b[:, :3], a, ttnn.transpose(b, 0, 1), core_grid=ttnn.CoreGrid(y=1, x=1)),
        lambda: torch.addmm(B[:, :3], A, B.T),
    ),
    "matmul_batched_weights": (
        lambda a, b, n: ttnn.matmul_batched_weights(a, [b], transpose_b=True, activation="relu")[0],
        lambda: torch.relu(A @ B.T),
    ),
    "geglu by tanh": (
        lambda a, b, n: ttnn.geglu(a, variant=ttnn.GeluVariant.Tanh),
        lambda: A[:, :2] * functional.gelu(A[:, 2:], approximate="tanh"),
    ),
    "gelu_bw": (lambda a, b, n: ttnn.gelu_bw(b, a)[0], lambda: gradient(functional.gelu, B, A)[0]),
    "gelu_bw by tanh": (
        lambda a, b, n: ttnn.gelu_bw(b, a, variant=ttnn.GeluVariant.Tanh)[0],
        lambda: gradient(lambda x: functional.gelu(x, approximate="tanh"), B, A)[0],
    ),
    "gelu_bw by text": (
        lambda a, b, n: ttnn.gelu_bw(b, a, approximate="tanh")[0],
        lambda: gradient(lambda x: functional.gelu(x, approximate="tanh"), B, A)[0],
    ),
    "bias_gelu_bw": (
        lambda a, b, n: ttnn.bias_gelu_bw(b, a, b)[1],
        lambda: gradient(lambda x, y: functional.gelu(x + y), B, A, B)[1],
    ),
    "bias_gelu_bw of a number": (
        lambda a, b, n: ttnn.bias_gelu_bw(b, input_tensor=a, bias=0.5, approximate="none")[0],
        lambda: gradient(lambda x: functional.gelu(x + 0.5), B, A)[0],
    ),
    "add_bw with alpha": (lambda a, b, n: ttnn.add_bw(b, a, a, 3.0)[1], lambda: B * 3),
    "sub_bw with alpha": (lambda a, b, n: ttnn.sub_bw(b, input_tensor_a=a, scalar=2.0, alpha=3.0)[0], lambda: B),
    "fmod_bw of a number": (lambda a, b, n: ttnn.fmod_bw(b, a, scalar=2.0)[0], lambda: B),
    "remainder_bw of a number": (lambda a, b, n: ttnn.remainder_bw(b, a, scalar=2.0)[0], lambda: B),
    "exp2 of integers": (
        lambda a, b, n: ttnn.exp2(put(a.device(), torch.tensor([[40, 3, -1, 0]], dtype=torch.int32))),
        lambda: torch.tensor([[2**31 - 1, 8, 0, 1]], dtype=torch.int32),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_computes(name: str, device: ttnn.Device) -> None:
    call, expected = CALLS[name]
    result = ttnn.to_torch(call(put(device, A), put(device, B), put(device, NUMBERS)))
    torch.testing.assert_close(result, expected(), rtol=2e-5, atol=2e-5)


WRONG: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "typecast of another type": (
        lambda a, n: ttnn.typecast(a, ttnn.int32, ttnn.bfloat16),
        ValueError,
        "ttnn.typecast: input_dtype is DataType.INT32; input_tensor is of DataType.FLOAT32",
    ),
    "typecast without a type": (lambda a, n: ttnn.typecast(a), TypeError, "ttnn.typecast: dtype is None"),
    "bitwise_and of one": (lambda a, n: ttnn.bitwise_and(n), TypeError, "ttnn.bitwise_and: input_tensor_b is"),
    "two names": (
        lambda a, n: ttnn.bitwise_and(n, 1, input_b=2),
        TypeError,
        "input_b and input_tensor_b are given; expected one of them",
    ),
    "reshape with other padding": (
        lambda a, n: ttnn.reshape(a, [4, 3], [64, 32]),
        ValueError,
        r"ttnn.reshape: padded_shape is \[64, 32\]; expected \[32, 32\], which follows from the shape and the layout",
    ),
    "mac of too many": (
        lambda a, n: ttnn.mac(a, a, a, value=1.0),
        TypeError,
        "ttnn.mac: value and input_tensor_b and input_tensor_c are given; expected one less",
    ),
    "view of nothing": (lambda a, n: ttnn.experimental.view(a), TypeError, "expected four sizes, or a shape"),
    "view of both": (
        lambda a, n: ttnn.experimental.view(a, 1, shape=[12]),
        TypeError,
        "expected four sizes, or a shape",
    ),
    "prod of no dimensions": (
        lambda a, n: ttnn.prod(a, dims=[]),
        TypeError,
        r"ttnn.prod: dims is \[\] and dim None; expected dimensions in one",
    ),
    "prod into two": (
        lambda a, n: ttnn.prod(a, a, output_tensor=a),
        TypeError,
        "ttnn.prod: output_tensor is given twice",
    ),
    "leaky_relu": (lambda a, n: ttnn.leaky_relu(a), TypeError, "negative_slope"),
    "gelu_bw of another formula": (
        lambda a, n: ttnn.gelu_bw(a, a, approximate="fast"),
        ValueError,
        "ttnn.gelu_bw: approximate is 'fast'; expected 'none' or 'tanh'",
    ),
    "minimal_matmul_split": (
        lambda a, n: ttnn.experimental.minimal_matmul_split(a, a, fuse_swiglu=True),
        ValueError,
        "fuse_swiglu is True; expected False: call ttnn.swiglu",
    ),
    "matmul_batched_weights": (
        lambda a, n: ttnn.matmul_batched_weights(a, [a, a], optional_output_tensor=a),
        ValueError,
        "ttnn.matmul_batched_weights: optional_output_tensor is given for 2 products; expected one",
    ),
    "update_cache of text": (
        lambda a, n: ttnn.update_cache(a, a, "3"),
        TypeError,
        "ttnn.update_cache: update_idx is '3'; expected an integer from 0 on, or a ttnn.Tensor",
    ),
    "rand on the host": (lambda a, n: ttnn.rand([2, 2], None), TypeError, "ttnn.rand: device is None"),
    "a placed shard without orientation": (lambda a, n: ttnn.ShardSpec(CORES, [32, 32]), TypeError, "ShardSpec"),
    "a mapper of nothing": (
        lambda a, n: ttnn.create_mesh_mapper(config=None),
        TypeError,
        "create_mesh_mapper: mesh_device is None and mesh_shape None; expected one of them",
    ),
    "large integers": (
        lambda a, n: ttnn.Tensor([2**70], [1], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT),
        ValueError,
        f"ttnn.Tensor: data holds {2**70}; expected integers of 64 bits",
    ),
    "integers beyond their type": (
        lambda a, n: ttnn.Tensor([2**32], [1], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT),
        ValueError,
        "ttnn.Tensor: .*4294967296",
    ),
    "large floats": (
        lambda a, n: ttnn.Tensor([1.0, 10**400], [2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
        ValueError,
        "ttnn.Tensor: data holds a number beyond those of float32",
    ),
    "text": (
        lambda a, n: ttnn.Tensor([1.0, "x"], [2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
        TypeError,
        "ttnn.Tensor: data holds 'x' of type str; expected numbers",
    ),
    "a shape that is a number": (
        lambda a, n: ttnn.Tensor([1.0], 1, ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
        TypeError,
        "ttnn.Tensor: shape is 1 of type int; expected a list of sizes",
    ),
    "a shape of floats": (
        lambda a, n: ttnn.Tensor([1.0], [1.0], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
        TypeError,
        r"ttnn.Tensor: shape is \(1.0,\); expected integers",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refuses(name: str, device: ttnn.Device) -> None:
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call(put(device, A), put(device, NUMBERS))


def test_tensors_of_lists() -> None:
    rows = ttnn.ROW_MAJOR_LAYOUT
    assert ttnn.Tensor([2**31, 2**32 - 1], [2], ttnn.uint32, rows).to_list() == [2**31, 2**32 - 1]
    assert ttnn.Tensor([5], [], ttnn.int32, rows).to_list() == 5
    assert ttnn.Tensor((1, 2.5), (2, 1), ttnn.float32, rows).to_list() == [[1.0], [2.5]]
    assert ttnn.Tensor([], [0, 3], ttnn.float32, rows).shape == (0, 3)


def test_results_that_are_written(device: ttnn.Device) -> None:
    a, b = put(device, A), put(device, B)
    assert ttnn.assign(a, b).buffer_address() == b.buffer_address()
    assert torch.equal(ttnn.to_torch(b), A)
    total = put(device, torch.zeros(1, 4))
    ttnn.prod(put(device, B), total, dims=[0])
    torch.testing.assert_close(ttnn.to_torch(total), B.prod(0, keepdim=True))
    into = put(device, torch.zeros(3, 4))
    assert ttnn.gelu_bw(a, a, input_grad=into)[0].buffer_address() == into.buffer_address()
    assert torch.equal(ttnn.to_torch(into), ttnn.to_torch(ttnn.gelu_bw(a, a)[0]))
    heads = put(device, torch.rand(1, 1, 32, 36 * 64), dtype=ttnn.bfloat16)
    queries = put(device, torch.zeros(1, 12, 32, 64), dtype=ttnn.bfloat16)
    q, *_ = ttnn.experimental.nlp_create_qkv_heads_vit(heads, output_tensors=[queries, None, None])
    assert q.buffer_address() == queries.buffer_address()
    assert torch.equal(ttnn.to_torch(queries), ttnn.to_torch(ttnn.experimental.nlp_create_qkv_heads_vit(heads)[0]))
    with pytest.raises(TypeError, match="output_tensors is 1 entries; expected 3 tensors, or None for a new one"):
        ttnn.experimental.nlp_create_qkv_heads_vit(heads, output_tensors=[queries])


def test_a_position_may_be_a_number(device: ttnn.Device) -> None:
    cache, other = (put(device, torch.zeros(1, 2, 64, 32)) for _ in range(2))
    token = torch.rand(1, 2, 1, 32)
    place = ttnn.from_torch(torch.tensor([5], dtype=torch.int32), device=device)
    ttnn.update_cache(cache, put(device, token), 5)
    ttnn.update_cache(other, put(device, token), place, batch_offset=0)
    assert torch.equal(ttnn.to_torch(cache), ttnn.to_torch(other))
    assert torch.equal(ttnn.to_torch(cache)[:, :, 5:6], token)


def test_values_of_latent_attention(device: ttnn.Device) -> None:
    q, k = (put(device, torch.rand(1, 2, 32, 64)) for _ in range(2))
    prefill = ttnn.transformer.flash_mla_prefill
    expected = ttnn.to_torch(prefill(q, k, head_dim_v=32))
    assert torch.equal(ttnn.to_torch(prefill(q, k, 32)), expected)
    values = put(device, torch.rand(1, 2, 32, 32))
    assert torch.equal(ttnn.to_torch(prefill(q, k, values)), ttnn.to_torch(prefill(q, k, values, head_dim_v=32)))
    with pytest.raises(TypeError, match="flash_mla_prefill: head_dim_v is given twice"):
        prefill(q, k, 32, head_dim_v=32)


def test_mappers_of_a_shape() -> None:
    config = ttnn.MeshMapperConfig(placements=[ttnn.PlacementReplicate(), ttnn.PlacementShard(0)])
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        values = torch.arange(8.0).reshape(2, 4)
        for mapper in (
            ttnn.create_mesh_mapper(mesh, config),
            ttnn.create_mesh_mapper(ttnn.MeshShape(1, 2), config),
            ttnn.create_mesh_mapper(mesh_shape=ttnn.MeshShape(1, 2), config=config),
        ):
            tensor = ttnn.from_torch(values, device=mesh, mesh_mapper=mapper)
            parts = ttnn.get_device_tensors(tensor)
            assert torch.equal(torch.cat([ttnn.to_torch(part) for part in parts]), values)


def test_golden_functions_take_what_prepares_their_arguments(device: ttnn.Device) -> None:
    def twice(x: ttnn.Tensor, *, output_tensor: ttnn.Tensor | None = None) -> ttnn.Tensor:
        return ttnn.multiply(x, 2.0, output_tensor=output_tensor)

    given: list[Any] = []

    def prepared(args: Any, kwargs: Any) -> tuple[Any, Any]:
        given.append((args, kwargs))
        return [ttnn.to_torch(each) for each in args], {}

    a = put(device, A)
    decorate = ttnn.register_python_operation(
        name="ttnn.twice", is_experimental=True, golden_function=lambda x: x * 2,
        preprocess_golden_function_inputs=prepared,
        postprocess_golden_function_outputs=lambda result, args, kwargs: (result, args, kwargs),
    )  # fmt: skip
    function: Any = decorate(twice)
    result, args, kwargs = ttnn.get_fallback_function(function)(a, output_tensor=a)
    assert torch.equal(result, A * 2)
    assert args == (a,)
    assert given == [((a,), {"output_tensor": a})] == [(args, kwargs)]
    assert (function.is_experimental, function.is_method) == (True, False)
    ttnn.attach_golden_function(function, lambda x: x * 2)  # which does not get output_tensor
    fallback = ttnn.get_fallback_function(function)(a, output_tensor=a)
    assert torch.equal(ttnn.to_torch(fallback), A * 2)
    with pytest.raises(TypeError, match="preprocess_golden_function_inputs is 3; expected a function"):
        ttnn.attach_golden_function(function, twice, preprocess_golden_function_inputs=3)
    with pytest.raises(TypeError, match="output_tensor_kwarg_names is 'out'; expected names"):
        ttnn.attach_golden_function(function, twice, output_tensor_kwarg_names="out")
