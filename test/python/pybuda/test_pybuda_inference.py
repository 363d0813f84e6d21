# SPDX-License-Identifier: Apache-2.0
"""Inference: modules of PyBuda and PyTorch, on one device and on several, and the queues of their results."""

from __future__ import annotations

import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pybuda
import pytest
import torch
from modules import Function, Product, read
from pybuda.pybudaglobal import pybuda_reset
from ttmlir.torch.report import record

W = torch.linspace(-1, 1, 12).reshape(4, 3)
B = torch.tensor([0.5, -1.0, 2.0])
X = torch.linspace(-2, 2, 8).reshape(2, 4)


def expected(x: torch.Tensor) -> np.ndarray:
    return x.numpy() @ W.numpy() + B.numpy()


@pytest.mark.usefixtures("float32")
def test_a_module_runs_by_itself_and_again() -> None:
    module = Product("product", W, B)
    for x in (X, X + 1):
        (got,) = module.run(x)
        np.testing.assert_allclose(got.value().numpy(), expected(x), rtol=1e-5, atol=1e-6)
    assert Product("other", W, B).run(X)[0].shape == (2, 3)


@pytest.mark.usefixtures("float32")
def test_weights_that_change_are_used() -> None:
    module = Product("product", W, B)
    module.run(X)
    module.set_parameter("bias", B + 1)
    np.testing.assert_allclose(module.run(X)[0].value().numpy(), expected(X) + 1, rtol=1e-5, atol=1e-6)


def test_the_default_format_is_bfloat16() -> None:
    (got,) = Product("product", W, B).run(X)
    error = np.abs(got.value().numpy() - expected(X)).max()
    assert 0 < error < 0.03
    assert torch.equal(got.value(), got.value().bfloat16().float())


@pytest.mark.usefixtures("float32")
def test_a_model_of_pytorch() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    device = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("mlp", model))
    device.push_to_inputs(X)
    (got,) = read(pybuda.run_inference())
    first, second = ([p.detach().numpy() for p in (layer.weight, layer.bias)] for layer in (model[0], model[2]))
    hidden = np.maximum(X.numpy() @ first[0].T + first[1], 0)
    np.testing.assert_allclose(got.numpy(), hidden @ second[0].T + second[1], rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("float32")
def test_inference_is_captured_in_one_pass() -> None:
    """Also writes to buffers; what gives a view of its input goes through AOTAutograd."""
    norm = torch.nn.BatchNorm1d(4).train()
    want = torch.nn.BatchNorm1d(4).train()
    modules = {
        "": [Product("product", W, B), pybuda.PyTorchModule("norm", norm)],
        "shares memory": [pybuda.PyTorchModule("view", torch.nn.Flatten(0))],
    }
    for reason, chosen in modules.items():
        for module in chosen:
            with record() as reports:
                module.run(X)
            assert reports and all(reason in r.unsuited and bool(reason) == bool(r.unsuited) for r in reports)
    want(X)
    for mine, theirs in zip(norm.buffers(), want.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


@pytest.mark.usefixtures("float32")
def test_devices_are_a_pipeline() -> None:
    pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("twice", torch.nn.Upsample(scale_factor=2)))
    pybuda.TTDevice("tt1", module=Function("minus", lambda x: x - 1.0))
    pybuda.CPUDevice("cpu2", module=pybuda.PyTorchModule("relu", torch.nn.ReLU()))
    between = [queue.Queue(), queue.Queue()]
    x = torch.tensor([[[-1.0, 3.0]]])
    results = pybuda.initialize_pipeline(False, sample_inputs=(x,), d2d_fwd_queues=between)
    pybuda.device.devices()[0].push_to_inputs(x)
    pybuda.run_forward()
    assert [read(q)[0].flatten().tolist() for q in (*between, results)] == [
        [-1, -1, 3, 3], [-2, -2, 2, 2], [0, 0, 2, 2],
    ]  # fmt: skip


@pytest.mark.usefixtures("float32")
def test_inputs_may_come_later_and_keep_their_order() -> None:
    device = pybuda.TTDevice("tt0", module=Function("plus", lambda x: x + 1.0))
    device.push_to_inputs(torch.zeros(1, 2))
    results = pybuda.run_inference(input_count=3)
    assert read(results)[0].tolist() == [[1, 1]]
    for value in (1.0, 2.0):
        device.push_to_inputs(torch.full((1, 2), value))
    assert [read(results)[0].tolist() for _ in range(2)] == [[[2, 2]], [[3, 3]]]


def test_a_run_that_waits_for_inputs_ends_by_shutdown() -> None:
    device = pybuda.TTDevice("tt0", module=Function("plus", lambda x: x + 1.0))
    device.push_to_inputs(torch.zeros(1, 2))
    results = pybuda.run_inference(input_count=0)
    read(results)
    pybuda.shutdown()
    with pytest.raises(queue.Empty):
        results.get(timeout=0.01)


@pytest.mark.usefixtures("float32")
def test_a_run_without_end_is_replaced_by_the_next() -> None:
    device = pybuda.TTDevice("tt0", module=Function("plus", lambda x: x + 1.0))
    device.push_to_inputs(torch.zeros(1, 2))
    read(pybuda.run_inference(input_count=0))
    device.push_to_inputs(torch.ones(1, 2))
    assert read(pybuda.run_inference())[0].tolist() == [[2, 2]]


@pytest.mark.usefixtures("float32")
def test_inputs_by_name_and_the_users_queue() -> None:
    class Difference(pybuda.PyBudaModule):
        def forward(self, left: pybuda.Tensor, right: pybuda.Tensor) -> pybuda.Tensor:
            return left - right

    mine: queue.Queue = queue.Queue()
    inputs = [{"right": torch.ones(2), "left": torch.full((2,), 5.0)}, (torch.ones(2), torch.ones(2))]
    assert pybuda.run_inference(Difference("difference"), inputs=inputs, output_queue=mine) is mine
    assert [read(mine)[0].tolist() for _ in inputs] == [[4, 4], [0, 0]]


@pytest.mark.usefixtures("float32")
def test_sequential_mode_runs_over_what_is_there() -> None:
    device = pybuda.TTDevice("tt0", module=Function("plus", lambda x: x + 1.0))
    for value in (1.0, 2.0):
        device.push_to_inputs(torch.full((2,), value))
    results = pybuda.run_inference(input_count=5, _sequential=True)
    assert results.qsize() == 2


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3, 33), (1, 2, 1, 5)])
def test_shapes(shape: tuple[int, ...]) -> None:
    x = torch.rand(shape)
    (got,) = Function("square", lambda x: x * x).run(x)
    np.testing.assert_allclose(got.value().numpy(), x.numpy() ** 2, rtol=1e-6)


@pytest.mark.usefixtures("float32")
def test_values_that_are_not_finite() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
    (got,) = Function("double", lambda x: x + x).run(x)
    np.testing.assert_array_equal(got.value().numpy(), (x + x).numpy())


@pytest.mark.usefixtures("float32")
def test_intermediates_of_the_ops_that_were_named() -> None:
    pybuda.set_configuration_options(op_intermediates_to_save=["matmul"])
    results = pybuda.run_inference(Product("product", W, B), inputs=[X])
    (got,) = read(pybuda.get_intermediates_queue())
    np.testing.assert_allclose(got.numpy(), X.numpy() @ W.numpy(), rtol=1e-5, atol=1e-6)
    read(results)


@pytest.mark.usefixtures("float32")
def test_nops_are_between_the_ops_that_were_named() -> None:
    def three(x: pybuda.Tensor) -> pybuda.Tensor:
        return pybuda.op.Add("sum", pybuda.op.Exp("a", x), pybuda.op.Add("c", pybuda.op.Abs("b", x), x))

    pybuda.insert_nop("inputs_0", ["a", "b", "c"])
    pybuda.insert_nop("buffer_0_inputs_0_a", ["c"])
    last = "buffer_0_buffer_0_inputs_0_a_c"
    pybuda.set_configuration_options(op_intermediates_to_save=[last])
    module = Function("three", three)
    np.testing.assert_allclose(
        module.run(X)[0].value().numpy(), np.exp(X.numpy()) + np.abs(X.numpy()) + X.numpy(), rtol=1e-5, atol=1e-6
    )
    assert torch.equal(read(pybuda.get_intermediates_queue())[0], X)
    assert module.get_device().op_names == {
        "buffer_0_inputs_0_a": "Nop", "a": "Exp", "b": "Abs", last: "Nop", "c": "Add", "sum": "Add",
    }  # fmt: skip


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("hoist_tms", [True, False])
def test_nops_see_through_ops_that_move_elements(hoist_tms: bool) -> None:
    def square(x: pybuda.Tensor) -> pybuda.Tensor:
        root = pybuda.op.Abs("root", x)
        turned = pybuda.op.Transpose("turned", pybuda.op.Reshape("reshaped", root, (2, 4)), 0, 1)
        return pybuda.op.Matmul("product", root, turned)

    pybuda.insert_nop("root", "product", hoist_tms=hoist_tms)
    module = Function("square", square)
    x = np.abs(X.numpy())
    np.testing.assert_allclose(module.run(X)[0].value().numpy(), x @ x.T, rtol=1e-5)
    assert module.get_device().op_names["buffer_0_root_product"] == "Nop"


@pytest.mark.usefixtures("float32")
def test_submodules_have_parameters_of_their_own() -> None:
    class Two(pybuda.PyBudaModule):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.first, self.second = Product("first", W, B), Function("second", lambda x: pybuda.op.Relu("relu", x))

        def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
            return self.second(self.first(x))

    module = Two("two")
    assert [p for p in module._named()] == ["first.weights", "first.bias"]
    np.testing.assert_allclose(module.run(X)[0].value().numpy(), np.maximum(expected(X), 0), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("float32")
def test_parameters_may_be_results() -> None:
    class Weights(Product):
        def forward(self, x: pybuda.Tensor) -> Any:
            return self.weights, pybuda.op.Matmul("matmul", x, self.weights), self.bias

    device = pybuda.TTDevice("tt0", module=Weights("module", W, B))
    device.push_to_inputs(X)
    weights, product, bias = read(pybuda.run_inference())
    assert torch.equal(weights, W) and torch.equal(bias, B)
    np.testing.assert_allclose(product.numpy(), (X @ W).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("float32")
def test_ops_that_fall_back_to_the_cpu_give_the_same() -> None:
    table = torch.nn.Embedding(8, 4)
    tokens = torch.tensor([[1, 7, 0]], dtype=torch.int32)
    for falls_back in (True, False):
        pybuda.config._get_global_compiler_config().enable_tvm_cpu_fallback = falls_back
        device = pybuda.TTDevice(f"tt{int(falls_back)}", module=pybuda.PyTorchModule("embedding", table))
        device.push_to_inputs(tokens)
        (got,) = read(pybuda.run_inference())
        np.testing.assert_allclose(got.numpy(), table.weight.detach().numpy()[tokens.numpy()])
        assert ("aten.embedding.default" in device.compiled.on_host) is falls_back
        pybuda.shutdown()
        pybuda.run.reset()


@pytest.mark.usefixtures("float32")
def test_a_function_of_jax_runs_on_a_cpu_device() -> None:
    jax = pytest.importorskip("jax")
    pybuda.CPUDevice("cpu0", module=pybuda.JaxModule("sine", jax.numpy.sin)).push_to_inputs(X)
    np.testing.assert_allclose(read(pybuda.run_inference())[0].numpy(), np.sin(X.numpy()), rtol=1e-5)


ON_A_CHIP = """
import sys

import pybuda
import torch

chip = int(sys.argv[1])
pybuda.set_configuration_options(backend_output_dir=f"tt_build/chip_{chip}")
tt0 = pybuda.TTDevice("tt0", chip_ids=[chip], module=pybuda.PyTorchModule(f"chip_{chip}", torch.nn.ReLU()))
for i in range(3):
    tt0.push_to_inputs(torch.full((2, 4), float(i + chip)))
results = pybuda.run_inference(input_count=3)
assert [results.get(timeout=1200)[0].value().sum().item() for _ in range(3)] == [8.0 * (i + chip) for i in range(3)]
pybuda.shutdown()
"""


@pytest.mark.long
def test_processes_for_several_chips(tmp_path: Path) -> None:
    """Three at the same time. It is what `test_parallel_chips` of the documents does, which skips itself."""
    count = len(pybuda.detect_available_devices())
    assert count > 2
    chips = (0, count // 2, count - 1)
    running = [
        subprocess.Popen([sys.executable, "-c", ON_A_CHIP, str(chip)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for chip in chips
    ]
    for process in running:
        _, errors = process.communicate(timeout=1200)
        assert process.returncode == 0, errors
    for chip in chips:
        netlist = (tmp_path / f"tt_build/chip_{chip}/chip_{chip}_netlist.yaml").read_text()
        assert f"target_device: {chip}" in netlist


class Optional(torch.nn.Module):
    """Takes an argument between the inputs, as models of transformers do."""

    def forward(
        self, ids: torch.Tensor, cache: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        found = ids * 2 if cache is None else ids * cache
        return found if mask is None else found + mask


@pytest.mark.parametrize("device", [pybuda.TTDevice, pybuda.CPUDevice])
def test_inputs_by_name_without_one_between(device: type) -> None:
    x, mask = torch.rand(2, 32), torch.rand(2, 32)
    placed = device("placed", module=pybuda.PyTorchModule("optional", Optional()))
    for values in ({"mask": mask, "ids": x}, {"ids": x + 1, "mask": mask}):
        placed.push_to_inputs(values)
        (got,) = pybuda.run_inference().get()
        torch.testing.assert_close(got.value().float(), values["ids"] * 2 + mask, rtol=0.01, atol=0.02)


def test_a_required_input_is_missing() -> None:
    placed = pybuda.TTDevice("placed", module=pybuda.PyTorchModule("optional", Optional()))
    with pytest.raises(pybuda.PyBudaError, match="module 'optional' gets no input 'ids'"):
        placed.push_to_inputs({"mask": torch.rand(2, 32)})


@pytest.mark.parametrize("device", [pybuda.TTDevice, pybuda.CPUDevice])
def test_sets_of_inputs_with_other_names(device: type) -> None:
    x, other = torch.rand(2, 32), torch.rand(2, 32)
    sets: list[Any] = [{"ids": x, "mask": other}, {"ids": x, "cache": other}, (x, other)]
    for first, second in ((0, 1), (0, 2), (2, 0)):
        pybuda_reset()
        placed = device("placed", module=pybuda.PyTorchModule("optional", Optional()))
        placed.push_to_inputs(sets[first])
        with pytest.raises(pybuda.PyBudaError, match=r"was given inputs .* the same arguments"):
            placed.push_to_inputs(sets[second])
