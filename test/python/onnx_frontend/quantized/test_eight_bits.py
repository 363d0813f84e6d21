# SPDX-License-Identifier: Apache-2.0
"""Products of 8-bit integers that are large enough for kernels of their own, as quantization tools write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compared import compiled, expected, require_same, session_options
from onnx import TensorProto, helper, numpy_helper
from single import check, node_model
from ttmlir import ir, passes

MICROSOFT = "com.microsoft"
U8, I8 = np.uint8, np.int8


def floats(*shape: int, by: float = 1.0, seed: int = 0) -> Any:
    return (by * np.random.default_rng(seed + sum(shape)).standard_normal(shape)).astype(np.float32)


def integers(*shape: int, dtype: Any = U8, seed: int = 0) -> Any:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed + sum(shape)).integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("weights", ["inside", "given"])
@pytest.mark.parametrize("right", [U8, I8])
@pytest.mark.parametrize("left", [U8, I8])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 130, 300), (9, 67, 70), (50, 300, 24)])
def test_matmul_integer(m: int, k: int, n: int, left: Any, right: Any, weights: str) -> None:
    a, b = integers(m, k, dtype=left), integers(k, n, dtype=right, seed=1)
    a_zero, b_zero = (integers(1, dtype=dtype, seed=2).reshape(()) for dtype in (left, right))
    inside = [1, 2, 3] if weights == "inside" else []
    check("MatMulInteger", [a, b, a_zero, b_zero], oracle="reference", inside=inside)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_conv_integer(stride: int, group: int) -> None:
    x, w = integers(2, 12, 9, 11), integers(20, 12 // group, 3, 3, dtype=U8, seed=1)
    zeros = [np.uint8(113), np.uint8(130)]
    check(
        "ConvInteger", [x, w, *zeros], inside=[1, 3], pads=[1, 0, 2, 1], strides=[stride] * 2, dilations=[1, 2],
        group=group, oracle="reference",
    )  # fmt: skip


def lstm(direction: str, batch: int, dtype: Any, columns: bool, **attributes: Any) -> None:
    hidden, size, steps = 9, 7, 5
    many = 2 if direction == "bidirectional" else 1
    zero = 0 if dtype == I8 else 128
    grain = (many, 4 * hidden) if columns else (many,)
    scales = [np.random.default_rng(i).uniform(0.002, 0.012, grain).astype(np.float32) for i in (0, 1)]
    zeros = np.full(grain, zero, dtype)
    operands = [
        floats(steps, batch, size), integers(many, size, 4 * hidden, dtype=dtype),
        integers(many, hidden, 4 * hidden, dtype=dtype, seed=1), floats(many, 8 * hidden, by=0.1),
        attributes.pop("lengths", None),
        floats(many, batch, hidden, by=0.1), floats(many, batch, hidden, by=0.1, seed=1),
        floats(many, 3 * hidden, by=0.1) if attributes.pop("peepholes", False) else None,
        scales[0], zeros, scales[1], zeros,
    ]  # fmt: skip
    options: dict[str, Any] = dict(
        outputs=3, domain=MICROSOFT, inside=[1, 2, 8, 9, 10, 11], direction=direction, hidden_size=hidden, **attributes
    )
    onnxruntime = pytest.importorskip("onnxruntime")
    session = session_options()
    session.intra_op_num_threads = 1  # threads that share a batch quantize their sequences each for itself
    model, given = node_model("DynamicQuantizeLSTM", operands, **options)
    expected = onnxruntime.InferenceSession(model.SerializeToString(), session).run(None, given)
    check("DynamicQuantizeLSTM", operands, expected=expected, **options)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", [U8, I8])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_dynamic_quantize_lstm(direction: str, dtype: Any, columns: bool) -> None:
    lstm(direction, 1, dtype, columns)


@pytest.mark.parametrize("attributes", [{"clip": 0.3}, {"input_forget": 1}, {"peepholes": True}])
def test_attributes_of_dynamic_quantize_lstm(attributes: dict[str, Any]) -> None:
    lstm("forward", 1, I8, False, **attributes)


def test_sequences_that_end_do_not_widen_the_range_of_dynamic_quantize_lstm() -> None:
    lstm("forward", 3, I8, False, lengths=np.array([3, 5, 2], np.int32))


class Graph:
    """Nodes between quantized tensors, as `quantize_static` writes them."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}

    def node(self, op: str, *names: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [*names], [name], **attributes))
        return name

    def weight(self, value: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def restored(self, value: Any, scale: Any, zero: Any, **attributes: Any) -> str:
        return self.node("DequantizeLinear", *map(self.weight, (value, scale, zero)), **attributes)

    def rounded(self, x: str, scale: float, zero: Any) -> str:
        parameters = [self.weight(np.float32(scale)), self.weight(zero)]
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *parameters), *parameters)

    def model(self, x: Any, result: str) -> Any:
        weights = [numpy_helper.from_array(value, name) for name, value in self.weights.items()]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
        created = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [given], [created], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def quantized_matmuls() -> tuple[Any, Any]:
    g, x = Graph(), floats(40, 96)
    name = g.rounded("x", 0.03, np.uint8(120))
    for i, n in enumerate((80, 64)):
        k = x.shape[1] if i == 0 else 80
        scale = np.random.default_rng(i).uniform(0.001, 0.004, n).astype(np.float32)
        w = g.restored(integers(k, n, dtype=I8, seed=i), scale, np.zeros(n, I8), axis=1)
        name = g.node("Relu", g.node("Add", g.node("MatMul", name, w), g.weight(floats(n))))
        name = g.rounded(name, 0.05, np.uint8(3))
    return g.model(x, name), x


def quantized_convolutions() -> tuple[Any, Any]:
    g, x = Graph(), floats(1, 16, 14, 14)
    name = g.rounded("x", 0.03, np.uint8(120))
    for i, group in enumerate((1, 2)):
        scale = np.random.default_rng(i).uniform(0.001, 0.003, 16).astype(np.float32)
        w = g.restored(integers(16, 16 // group, 3, 3, dtype=I8, seed=i), scale, np.zeros(16, I8), axis=0)
        bias = integers(16, dtype=I8, seed=9).astype(np.int32)
        b = g.restored(bias, np.float32(0.01) * scale, np.zeros(16, np.int32), axis=0)
        name = g.node("Relu", g.node("Conv", name, w, b, pads=[1] * 4, group=group))
        name = g.rounded(name, 0.05, np.uint8(0))
    return g.model(x, name), x


@pytest.mark.parametrize(("make", "product"), [(quantized_matmuls, "matmul"), (quantized_convolutions, "conv2d")])
def test_quantized_tensors_are_multiplied_as_integers(make: Any, product: str) -> None:
    """At most one step of the last scale from onnxruntime, where halves are rounded."""
    model, x = make()
    program = compiled(model, {"x": x})
    reference = expected(model, {"x": x})
    require_same(program(x), reference, rtol=0, atol=0.0501)
    differ = np.abs(program(x)[0] - reference[0]) > 1e-5
    assert differ.mean() < 0.01
    with ir.Context():
        module = program.at()
        passes.stablehlo_to_ttir_pipeline(module)
        passes.ttir_to_ttnn_backend_pipeline(module, "")
        lines = [line for line in str(module).splitlines() if f'"ttnn.{product}"' in line]
    assert len(lines) == 2 and all("si32" in line for line in lines), lines
