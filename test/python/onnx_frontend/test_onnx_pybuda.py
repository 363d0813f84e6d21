# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX as modules of PyBuda."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pybuda
import pytest
import torch
import ttmlir.onnx as tt
from onnx import TensorProto, helper, numpy_helper
from pybuda.pybudaglobal import pybuda_reset

MATRIX = np.random.default_rng(0).standard_normal((16, 32), np.float32)


@pytest.fixture(autouse=True)
def file() -> Iterator[None]:
    """A product with a matrix, and relu; without devices before and after it."""
    pybuda_reset()
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 32])
    graph = helper.make_graph(nodes, "net", [x], [y], [numpy_helper.from_array(MATRIX, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    yield
    pybuda.shutdown()
    pybuda_reset()


def test_a_module_of_onnx() -> None:
    x = torch.rand(4, 16)
    expected = torch.relu(x @ torch.from_numpy(MATRIX))
    for module in (None, onnx.load("net.onnx")):
        created = pybuda.OnnxModule("net", module, "net.onnx")
        (result,) = pybuda.run_inference(created, inputs=[(x,)]).get()
        pybuda_reset()
        torch.testing.assert_close(result.value(), expected, rtol=2e-2, atol=2e-2)
        torch.testing.assert_close(created.forward(x)[0], expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(pybuda.PyBudaError, match="OnnxModule 'net' has no backward pass; train its PyTorch version"):
        created.backward()
    Path("text.onnx").write_text("no model")
    with pytest.raises(tt.OnnxError, match=r"OnnxModule 'net': text\.onnx: no valid ONNX model"):
        pybuda.OnnxModule("net", None, "text.onnx")


def test_training_is_refused() -> None:
    device = pybuda.TTDevice("tt0", module=pybuda.OnnxModule("net", None, "net.onnx"))
    device.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.MSELoss()))
    device.push_to_inputs(torch.rand(4, 16))
    device.push_to_target_inputs(torch.rand(4, 32))
    with pytest.raises(pybuda.PyBudaError, match="OnnxModule 'net' has no backward pass; train its PyTorch version"):
        pybuda.run_training(checkpoint_interval=0)


def test_one_after_a_module_of_pytorch() -> None:
    layer = torch.nn.Linear(16, 16)
    device = pybuda.TTDevice(
        "tt0", module=[pybuda.PyTorchModule("layer", layer), pybuda.OnnxModule("net", None, "net.onnx")]
    )
    x = torch.rand(4, 16)
    device.push_to_inputs(x)
    (result,) = pybuda.run_inference().get()
    expected = torch.relu(layer(x).detach() @ torch.from_numpy(MATRIX))
    torch.testing.assert_close(result.value(), expected, rtol=5e-2, atol=5e-2)
