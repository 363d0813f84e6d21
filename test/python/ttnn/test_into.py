# SPDX-License-Identifier: Apache-2.0
"""Results in tensors that are there: every function that takes them, in place, with wrong tensors, and in traces."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn
from _ttmlir_runtime import ttnn as native
from builder.base.builder_apis import build_module
from ttmlir import passes
from ttnn.functions import FUNCTIONS
from ttnn.in_place import IN_PLACE

A, B = torch.linspace(0.1, 0.9, 40 * 70).reshape(40, 70).bfloat16(), torch.linspace(2, 1, 40 * 70).reshape(40, 70)
INTEGERS = torch.arange(40 * 70, dtype=torch.int32).reshape(40, 70)


@pytest.fixture
def device():
    with ttnn.manage_device(device_id=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def compiled() -> Any:
    """A program that adds two tensors of float32, 40x70."""

    def network(builder: Any) -> None:
        @builder.func([(40, 70)] * 2, [torch.float32] * 2)
        def main(x: Any, y: Any, builder: Any) -> Any:
            return builder.add(x, y)

    module = build_module(network, "ttir")[0]
    passes.ttir_to_ttnn_backend_pipeline(module)
    return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))


def put(device: Any, values: torch.Tensor, dtype: Any = None) -> Any:
    dtype = dtype or (ttnn.int32 if values.dtype == torch.int32 else ttnn.bfloat16)
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


# Functions that need more than one or two tensors of one shape.
ARGUMENTS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "concat": lambda d: ([put(d, A), put(d, B)], 0),
    "embedding": lambda d: (ttnn.from_torch(torch.tensor([[1, 3]]), dtype=ttnn.uint32, device=d), put(d, A)),
    "leaky_relu": lambda d: (put(d, A), 0.1),
    "clamp": lambda d: (put(d, A), 0.2, 0.6),
    "linear": lambda d: (put(d, A), put(d, B.T)),
    "matmul": lambda d: (put(d, A), put(d, B.T)),
    "repeat": lambda d: (put(d, A), [2, 1]),
    "slice": lambda d: (put(d, A), [0, 0], [40, 35], [1, 1]),
    "topk": lambda d: (put(d, A), 4),
    "typecast": lambda d: (put(d, A), ttnn.float32),
    "where": lambda d: (put(d, (A > 0.5).float()), put(d, A), put(d, B)),
    "cumsum": lambda d: (put(d, A), 1),
    "cumprod": lambda d: (put(d, A), 1),
    "sort": lambda d: (put(d, A),),
    "full": lambda d: ([40, 70], 3.0),
    "to_memory_config": lambda d: (put(d, A), ttnn.L1_MEMORY_CONFIG),
    "prod": lambda d: (put(d, A), 1),
    "argmax": lambda d: (put(d, A), 1),
}
# Covered by tests of meshes, of quantized values, and of models: their operands are of other kinds.
OTHERS = {
    "all_gather", "all_to_all_combine", "all_to_all_dispatch", "batch_norm", "bitcast", "dequantize", "embedding_bw",
    "experimental.nlp_concat_heads_decode", "experimental.nlp_create_qkv_heads_decode", "gather", "quantize",
    "reduce_scatter", "requantize", "sampling", "sparse_matmul",
}  # fmt: skip
INTO = {function.name: function.into for function in native.functions() if function.into}
NAMES = sorted(INTO.keys() - OTHERS)


def arguments(name: str, device: Any) -> tuple[Any, ...]:
    if name in ARGUMENTS:
        return ARGUMENTS[name](device)
    values = (INTEGERS, INTEGERS % 7) if name.startswith("bitwise") or "shift" in name else (A, B)
    count = sum(
        (p.default is p.empty or p.name == "input_tensor_b") and p.kind is p.POSITIONAL_OR_KEYWORD
        for p in inspect.signature(FUNCTIONS[name]).parameters.values()
    )
    return tuple(put(device, v) for v in values[:count])


def results(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("name", NAMES)
def test_every_function_writes_to_the_tensor_that_it_is_given(name: str, device: Any) -> None:
    keyword = INTO[name]
    given = arguments(name, device)
    extra = {"device": device, "layout": ttnn.TILE_LAYOUT} if name == "full" else {}
    expected = results(FUNCTIONS[name](*given, **extra))
    targets = [ttnn.full(e.shape, 7, dtype=e.dtype, layout=e.layout, device=device,
                         memory_config=e.memory_config()) for e in expected]  # fmt: skip
    copies = [ttnn.from_device(t) for t in targets]  # the values before, which nobody may change
    addresses = [t.buffer_address() for t in targets]
    result = results(FUNCTIONS[name](*given, **{keyword: targets[0] if len(targets) == 1 else tuple(targets)}))
    for target, want, address, found, copy in zip(targets, expected, addresses, result, copies, strict=True):
        assert torch.equal(ttnn.to_torch(target), ttnn.to_torch(want))
        assert target.buffer_address() == found.buffer_address() == address
        assert (ttnn.to_torch(copy).float() == 7).all()


def test_the_table_names_them_all() -> None:
    assert len(INTO) > 80
    assert INTO.keys() >= OTHERS
    for name, keyword in INTO.items():
        assert keyword in inspect.signature(FUNCTIONS[name]).parameters


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str, device: Any) -> None:
    given = arguments(name[:-1], device)
    expected = FUNCTIONS[name[:-1]](*given)
    address = given[0].buffer_address()
    found = getattr(ttnn, name)(*given)
    assert torch.equal(ttnn.to_torch(given[0]), ttnn.to_torch(expected).to(ttnn.to_torch(given[0]).dtype))
    assert found.buffer_address() == given[0].buffer_address() == address


def test_a_result_may_go_into_an_operand(device: Any) -> None:
    """Also of kernels that read an operand after they have written results."""
    left, square = put(device, A[:, :40]), put(device, B[:40, :40])
    expected = ttnn.to_torch(ttnn.matmul(left, square))
    ttnn.matmul(left, square, optional_output_tensor=left)
    assert torch.equal(ttnn.to_torch(left), expected)
    expected = ttnn.to_torch(ttnn.cumsum(square, 0))
    ttnn.cumsum(square, 0, out=square)
    assert torch.equal(ttnn.to_torch(square), expected)


WRONG = {
    "shape": (torch.zeros(40, 71), ttnn.bfloat16, r"ttnn.add: output_tensor has shape \[40, 71\]; expected \[40, 70\]"),
    "rank": (torch.zeros(1, 40, 70), ttnn.bfloat16, r"output_tensor has shape \[1, 40, 70\]; expected \[40, 70\]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tensors(name: str, device: Any) -> None:
    values, dtype, reason = WRONG[name]
    target = put(device, values, dtype)
    with pytest.raises(ttnn.OpError, match=reason):
        ttnn.add(put(device, A), put(device, B), output_tensor=target)
    assert not ttnn.to_torch(target).any()


def test_duplicates_must_agree(device: Any) -> None:
    a, b, target = put(device, A), put(device, B), put(device, A)
    with pytest.raises(ttnn.OpError, match="output_tensor has data type bf16; expected f32"):
        ttnn.add(a, b, dtype=ttnn.float32, output_tensor=target)
    with pytest.raises(ttnn.OpError, match="output_tensor has another memory configuration"):
        ttnn.add(a, b, memory_config=ttnn.L1_MEMORY_CONFIG, output_tensor=target)
    with pytest.raises(ttnn.OpError, match="1 tensors; expected 2"):
        ttnn.topk(a, 4, output_tensor=target)
    for wrong in (3, [target], torch.zeros(40, 70)):
        with pytest.raises(TypeError, match=r"ttnn\.add: output_tensor is of type \w+; expected a ttnn\.Tensor"):
            ttnn.add(a, b, output_tensor=wrong)
    with pytest.raises(TypeError, match=r"ttnn\.topk: output_tensor is of type int; expected ttnn tensors, one for"):
        ttnn.topk(a, 4, output_tensor=(target, 3))
    ttnn.deallocate(target)
    with pytest.raises(ttnn.Error, match="deallocated"):
        ttnn.add(a, b, output_tensor=target)


def test_a_data_type_is_that_of_the_tensor(device: Any) -> None:
    target = put(device, A, ttnn.float32)
    ttnn.add(put(device, A), put(device, B), output_tensor=target)
    torch.testing.assert_close(ttnn.to_torch(target), A.float() + B, atol=0.02, rtol=0.01)


# ---------------------------------------------------------------------- traces


def step(x: Any, weight: Any) -> Any:
    rows = ttnn.reshape(ttnn.gelu(x @ weight), [20, 2, 40])
    total = ttnn.softmax(ttnn.reshape(rows, [40, 40]), dim=-1)
    ttnn.deallocate(rows)
    return total + ttnn.full([40, 40], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=x.device())


def test_a_trace_runs_again_where_it_ran(device: Any) -> None:
    weight, slot = put(device, B[:, :40].T @ B[:, :40]), put(device, A[:, :40])
    runs = []

    def counted(x: Any) -> Any:
        runs.append(1)
        return step(x, weight)

    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = counted(slot)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert len(trace) == 7  # with the reshape of the other half, and the sum
    address, kept = result.buffer_address(), ttnn.from_device(result)
    before = ttnn.to_torch(kept).clone()
    for turn in range(3):
        x = torch.randn(40, 40, generator=torch.Generator().manual_seed(turn)).bfloat16()
        ttnn.copy_host_to_device_tensor(put(None, x), slot)
        if turn == 2:  # a weight counts as well, though it was constant
            ttnn.copy_host_to_device_tensor(put(None, x), weight)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
        assert torch.equal(ttnn.to_torch(result), ttnn.to_torch(step(slot, weight)))
        assert result.buffer_address() == address
    assert len(runs) == 1 and torch.equal(ttnn.to_torch(kept), before)
    ttnn.release_trace(device, trace)
    with pytest.raises(ttnn.DeviceError, match="execute_trace: the trace was released"):
        ttnn.execute_trace(device, trace)


def test_results_in_place_and_given_tensors_are_recorded(device: Any) -> None:
    slot, total, given = put(device, A), put(device, torch.zeros(40, 70)), put(device, A)
    trace = ttnn.begin_trace_capture(device)
    ttnn.multiply(slot, 2.0, output_tensor=given)
    ttnn.add_(total, given)
    ttnn.end_trace_capture(device, trace)
    for _ in range(2):
        ttnn.execute_trace(device, trace)
    torch.testing.assert_close(ttnn.to_torch(total).float(), 6 * A.float(), atol=0.05, rtol=0.02)


def test_programs_are_recorded(device: Any, compiled: Any) -> None:
    """A compiled program between calls: a trace runs it again with what its inputs have then."""
    slot, other = put(device, A, ttnn.float32), put(device, B, ttnn.float32)
    trace = ttnn.begin_trace_capture(device)
    doubled = ttnn.multiply(slot, 2.0)
    (total,) = rt.runtime.submit(device, compiled, 0, [doubled, other])
    negative = ttnn.neg(total)
    ttnn.end_trace_capture(device, trace)
    assert len(trace) == 3
    for turn in range(2):
        x = torch.full((40, 70), 3.0 + turn)
        ttnn.copy_host_to_device_tensor(put(None, x, ttnn.float32), slot)
        ttnn.execute_trace(device, trace)
        assert torch.equal(ttnn.to_torch(total), 2 * x + B) and torch.equal(ttnn.to_torch(negative), -2 * x - B)
    ttnn.release_trace(device, trace)


def test_a_trace_keeps_no_memory_of_the_caller(device: Any, compiled: Any) -> None:
    values = torch.zeros(40, 70)
    float32 = rt.runtime.DataType.Float32
    shown = rt.runtime.create_borrowed_host_tensor(values.data_ptr(), [40, 70], [70, 1], 4, float32)
    assert rt.runtime.submit(device, compiled, 0, [shown, put(device, B, ttnn.float32)])
    trace = ttnn.begin_trace_capture(device)
    with pytest.raises(ttnn.DeviceError, match=r"submit: input 0 shows memory of the caller, and device \d+ records a"):
        rt.runtime.submit(device, compiled, 0, [shown, put(device, B, ttnn.float32)])
    ttnn.end_trace_capture(device, trace)
    assert len(trace) == 0


def test_traces_that_are_none(device: Any) -> None:
    trace = ttnn.begin_trace_capture(device)
    with pytest.raises(ttnn.DeviceError, match="records a trace already"):
        ttnn.begin_trace_capture(device)
    with pytest.raises(ttnn.DeviceError, match="is still recorded"):
        ttnn.execute_trace(device, trace)
    ttnn.end_trace_capture(device, trace)
    with pytest.raises(ttnn.DeviceError, match="has ended already"):
        ttnn.end_trace_capture(device, trace)
    with ttnn.manage_device(device_id=0) as other, pytest.raises(ttnn.DeviceError, match="the trace is of device"):
        ttnn.execute_trace(other, trace)
    with pytest.raises(TypeError, match="trace_id is 0 of type int; expected what begin_trace_capture returns"):
        ttnn.execute_trace(device, 0)


def test_values_are_copied_to_the_host(device: Any) -> None:
    a, host = put(device, A), put(None, B)
    ttnn.copy_device_to_host_tensor(a, host)
    assert torch.equal(ttnn.to_torch(host), A)
    with pytest.raises(ttnn.OpError, match=r"is written has shape \[40, 71\]; the values have \[40, 70\]"):
        ttnn.copy_device_to_host_tensor(a, put(None, torch.zeros(40, 71)))
    with pytest.raises(ttnn.OpError, match="is written is f32 in tile; the values are bf16 in tile"):
        ttnn.copy_device_to_host_tensor(a, put(None, A, ttnn.float32))
    with pytest.raises(ValueError, match="host_tensor lies on a device; expected a tensor on the host"):
        ttnn.copy_device_to_host_tensor(a, a)


def allocated(device: Any) -> int:
    return sum(view.total_bytes_allocated_per_bank for view in device.get_memory_view().values())


def test_a_trace_goes_with_its_id(device: Any) -> None:
    slot = put(device, A)
    used = allocated(device)
    trace = ttnn.begin_trace_capture(device)
    ttnn.exp(slot)
    ttnn.end_trace_capture(device, trace)
    del trace
    gc.collect()
    assert allocated(device) == used


def test_attention_softmax(device: Any) -> None:
    from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight

    scores, mask = torch.randn(2, 3, 40, 40).bfloat16(), torch.where(torch.rand(2, 1, 1, 40) < 0.3, -1e4, 0.0)
    want = torch.softmax(scores.float() / 8 + mask, -1)
    x, m = put(device, scores), put(device, mask)
    found = ttnn.transformer.attention_softmax(x, head_size=64, attention_mask=m)
    torch.testing.assert_close(ttnn.to_torch(found).float(), want, atol=0.01, rtol=0.02)
    address = x.buffer_address()
    assert ttnn.transformer.attention_softmax_(x, head_size=64, attention_mask=m).buffer_address() == address
    torch.testing.assert_close(ttnn.to_torch(x).float(), want, atol=0.01, rtol=0.02)
    with pytest.raises(ValueError, match="head_size is 0; expected a positive integer"):
        ttnn.transformer.attention_softmax(x, head_size=0)
    layer = torch.nn.Linear(40, 24)
    weight = preprocess_linear_weight(layer.weight, dtype=ttnn.float32)
    bias = preprocess_linear_bias(layer.bias, dtype=ttnn.float32)
    y = torch.randn(8, 40)
    result = ttnn.linear(
        put(device, y, ttnn.float32), ttnn.to_device(weight, device), bias=ttnn.to_device(bias, device)
    )
    torch.testing.assert_close(ttnn.to_torch(result), layer(y).detach(), atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match=r"weight has shape \[24\]; expected \[out, in\]"):
        preprocess_linear_weight(layer.bias, dtype=ttnn.float32)
