# SPDX-License-Identifier: Apache-2.0
"""Training: gradients, optimizers, schedulers, checkpoints and losses, compared with NumPy and PyTorch."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pybuda
import pytest
import torch
from modules import Product, read
from pybuda import optimizers

pytestmark = pytest.mark.usefixtures("float32")
W = torch.linspace(-1, 1, 12).reshape(4, 3)
B = torch.tensor([0.5, -1.0, 2.0])
X = torch.linspace(-2, 2, 8).reshape(2, 4)
TARGET = torch.tensor([[0.0, 1.0, -1.0], [3.0, -2.0, 0.5]])


def mse_gradients(w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Computes gradients of the mean of squared distances by hand."""
    difference = 2 * (X.numpy() @ w + b - TARGET.numpy()) / TARGET.numel()
    return X.numpy().T @ difference, difference.sum(0)


def device(**options: Any) -> pybuda.TTDevice:
    found = pybuda.TTDevice("tt0", module=Product("product", W, B), **options)
    found.place_loss_module(pybuda.op.loss.MSELoss("mse"))
    return found


def step(found: pybuda.TTDevice, **backward: Any) -> None:
    found.push_to_inputs(X)
    found.push_to_target_inputs(TARGET)
    pybuda.run_forward()
    pybuda.run_backward(**backward)


def started(**options: Any) -> pybuda.TTDevice:
    found = device(**options)
    pybuda.initialize_pipeline(True, sample_inputs=(X,), sample_targets=(TARGET,))
    return found


def test_gradients_add_up_until_they_are_zeroed() -> None:
    found = started()
    weights, bias = mse_gradients(W.numpy(), B.numpy())
    for count, zero in ((1, True), (2, False), (1, True)):
        step(found, zero_grad=zero)
        (got,) = pybuda.get_parameter_gradients(found)
        np.testing.assert_allclose(got["weights"].value().numpy(), count * weights, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(got["bias"].value().numpy(), count * bias, rtol=1e-5, atol=1e-6)


def adam(decoupled: bool, decay: float, lamb: bool = False) -> Any:
    def run(w: np.ndarray, gradient: Any, steps: int) -> np.ndarray:
        m, v = np.zeros_like(w), np.zeros_like(w)
        for t in range(1, steps + 1):
            g = gradient(w) + (0 if decoupled or lamb else decay * w)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            direction = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            if lamb:
                direction = direction + decay * w
                direction *= np.linalg.norm(w) / np.linalg.norm(direction)
            w = w - 0.1 * direction - (0.1 * decay * w if decoupled else 0)
        return w

    return run


def lars(w: np.ndarray, gradient: Any, steps: int) -> np.ndarray:
    buffer = np.zeros_like(w)
    for _ in range(steps):
        g = gradient(w)
        buffer = 0.9 * buffer + 0.1 * 0.5 * np.linalg.norm(w) / np.linalg.norm(g) * g
        w = w - buffer
    return w


def sgd(w: np.ndarray, gradient: Any, steps: int) -> np.ndarray:
    for _ in range(steps):
        w = w - 0.1 * gradient(w)
    return w


OPTIMIZERS = {
    "SGD": ({}, sgd),
    "Adam": ({"weight_decay": 0.2}, adam(False, 0.2)),
    "AdamW": ({"weight_decay": 0.2}, adam(True, 0.2)),
    "LAMB": ({"weight_decay": 0.2, "epsilon": 1e-8}, adam(False, 0.2, lamb=True)),
    "LARS": ({"lars_coeff": 0.5}, lars),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    options, reference = OPTIMIZERS[name]
    bias = B.numpy().copy()
    module = Product("product", W, B)
    module.bias = pybuda.Parameter(B, requires_grad=False, name="bias")
    found = pybuda.TTDevice(
        "tt0", module=module, optimizer=getattr(optimizers, name)(learning_rate=0.1, device_params=True, **options)
    )
    found.place_loss_module(pybuda.op.loss.MSELoss("mse"))
    checkpoints = pybuda.initialize_pipeline(True, sample_inputs=(X,), sample_targets=(TARGET,))
    for _ in range(3):
        step(found, zero_grad=True)
        pybuda.run_optimizer()
    step(found, zero_grad=True)
    pybuda.run_optimizer(checkpoint=True)
    (got,) = checkpoints.get(timeout=1200)
    want = reference(W.numpy().astype(np.float64), lambda w: mse_gradients(w, bias)[0], 4)
    np.testing.assert_allclose(got["weights"].value().numpy(), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(got["bias"].value().numpy(), bias)


class Transformer(torch.nn.Module):
    """Classes of short sequences."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Linear(8, 32)
        self.encoder = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.head = torch.nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for layer in self.encoder:
            x = layer(x)
        return self.head(x.mean(1))


def perceptron() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))


@pytest.mark.long
@pytest.mark.parametrize(
    ("factory", "shape", "rate"),
    [(perceptron, (16, 8), 0.2), (Transformer, (8, 6, 8), 0.05)],
    ids=["mlp", "transformer"],
)
def test_losses_are_those_of_pytorch_over_a_hundred_steps(
    factory: Callable[[], torch.nn.Module], shape: tuple[int, ...], rate: float
) -> None:
    torch.manual_seed(0)
    model, twin = factory(), factory()
    twin.load_state_dict(model.state_dict())
    data = [(torch.randn(shape), torch.randint(4, shape[:1])) for _ in range(100)]
    found = pybuda.TTDevice(
        "tt0",
        module=pybuda.PyTorchModule("model", model),
        optimizer=optimizers.SGD(learning_rate=rate, device_params=True),
    )
    found.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.CrossEntropyLoss()))
    for x, y in data:
        found.push_to_inputs(x)
        found.push_to_target_inputs(y)
    losses: queue.Queue = queue.Queue()
    pybuda.run_training(steps=100, loss_queue=losses).get(timeout=1200)
    optimizer = torch.optim.SGD(twin.parameters(), lr=rate)
    for x, y in data:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(twin(x), y)
        loss.backward()
        optimizer.step()
        assert read(losses)[0].item() == pytest.approx(loss.item(), abs=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("data_format", ["Float32", "Float16_b", "Bfp8_b"])
def test_digits_are_learned_as_by_pytorch(data_format: str) -> None:
    """Within a point of PyTorch's accuracy in f32."""
    from sklearn.datasets import load_digits  # 1 s, in each process that lists the tests

    digits = load_digits()
    images, classes = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    batches = [(images[i : i + 64], classes[i : i + 64]) for i in range(0, 1280, 64)] * 15

    def model() -> torch.nn.Module:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def accuracy(of: torch.nn.Module) -> float:
        with torch.no_grad():
            return (of(images[1280:]).argmax(-1) == classes[1280:]).float().mean().item()

    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat[data_format])
    mine, theirs = model(), model()
    sgd = optimizers.SGD(learning_rate=0.3, device_params=True)
    found = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("digits", mine), optimizer=sgd)
    found.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.CrossEntropyLoss()))
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.3)
    for x, y in batches:
        found.push_to_inputs(x)
        found.push_to_target_inputs(y)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(theirs(x), y).backward()
        optimizer.step()
    pybuda.run_training(steps=len(batches)).get(timeout=1200)
    assert accuracy(mine) == pytest.approx(accuracy(theirs), abs=0.01)


def test_checkpoints_and_schedulers_of_a_training() -> None:
    class Halving(pybuda.schedulers.LearningRateScheduler):
        def get_lr(self) -> float:
            return self.optimizer.learning_rate / 2

    optimizer = optimizers.SGD(learning_rate=0.4, device_params=True)
    found = device(optimizer=optimizer, scheduler=Halving(optimizer))
    for _ in range(8):
        found.push_to_inputs(X)
        found.push_to_target_inputs(TARGET)
    checkpoints = pybuda.run_training(epochs=2, steps=2, accumulation_steps=2, checkpoint_interval=2)
    pybuda.sync()
    assert checkpoints.qsize() == 3  # after steps 2 and 4, and at the end
    assert optimizer.learning_rate == pytest.approx(0.1)
    want, bias = W.numpy(), B.numpy()
    for rate in (0.4, 0.4, 0.2, 0.2):
        gradients = mse_gradients(want, bias)
        want, bias = want - 2 * rate * gradients[0], bias - 2 * rate * gradients[1]
    last = [checkpoints.get() for _ in range(3)][-1]
    np.testing.assert_allclose(last[0]["weights"].value().numpy(), want, rtol=1e-4, atol=1e-5)


def test_gradients_go_from_the_cpu_to_the_chip() -> None:
    first = pybuda.TTDevice("tt0", module=Product("product", W, B))
    last = pybuda.CPUDevice(
        "cpu1", module=pybuda.PyTorchModule("double", torch.nn.Linear(3, 3, bias=False)),
        optimizer_f=lambda m: torch.optim.SGD(m.parameters(), lr=0.5),
    )  # fmt: skip
    with torch.no_grad():
        last.modules[0].module.weight.copy_(2 * torch.eye(3))
    last.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.L1Loss(reduction="sum")))
    backward: queue.Queue = queue.Queue()
    pybuda.initialize_pipeline(True, sample_inputs=(X,), sample_targets=(TARGET,), d2d_bwd_queues=[backward])
    first.push_to_inputs(X)
    last.push_to_target_inputs(TARGET)
    pybuda.run_forward()
    pybuda.run_backward(zero_grad=True)
    sign = np.sign(2 * (X.numpy() @ W.numpy() + B.numpy()) - TARGET.numpy())
    (gradient,) = read(backward)
    np.testing.assert_allclose(gradient.numpy(), 2 * sign, rtol=1e-6)
    (got,) = pybuda.get_parameter_gradients(first)
    np.testing.assert_allclose(got["weights"].value().numpy(), X.numpy().T @ (2 * sign), rtol=1e-5, atol=1e-6)
    pybuda.run_optimizer()
    moved = pybuda.get_parameter_checkpoint(last)[0]["weight"].value().numpy()
    hidden = X.numpy() @ W.numpy() + B.numpy()
    np.testing.assert_allclose(moved, 2 * np.eye(3) - 0.5 * sign.T @ hidden, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", ["L1Loss", "MSELoss", "CrossEntropyLoss"])
def test_losses_of_pybuda(loss: str) -> None:
    target = torch.tensor([2, 0]) if loss == "CrossEntropyLoss" else TARGET
    found = pybuda.TTDevice("tt0", module=Product("product", W, B))
    found.place_loss_module(getattr(pybuda.op.loss, loss)("loss"))
    found.push_to_inputs(X)
    found.push_to_target_inputs(target)
    losses: queue.Queue = queue.Queue()
    pybuda.run_training(loss_queue=losses)
    y = X.numpy() @ W.numpy() + B.numpy()
    want = {
        "L1Loss": lambda: np.abs(y - TARGET.numpy()).mean(),
        "MSELoss": lambda: ((y - TARGET.numpy()) ** 2).mean(),
        "CrossEntropyLoss": lambda: (np.log(np.exp(y).sum(1)) - y[[0, 1], [2, 0]]).mean(),
    }[loss]()
    assert read(losses)[0].item() == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("amp_level, is_rounded", [(0, True), (1, False)])
def test_weights_have_the_format_of_the_device_with_amp_level_0(amp_level: int, is_rounded: bool) -> None:
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float16_b, amp_level=amp_level)
    found = started(optimizer=optimizers.SGD(learning_rate=0.3, device_params=True))
    step(found, zero_grad=True)
    pybuda.run_optimizer()
    weights = pybuda.get_parameter_checkpoint(found)[0]["weights"].value()
    assert torch.equal(weights, weights.bfloat16().float()) is is_rounded


def test_weights_from_the_host() -> None:
    found = started()
    (parameters,) = pybuda.get_parameter_checkpoint(found)
    parameters["weights"].value().zero_()
    pybuda.update_device_parameters(found, [parameters])
    step(found, zero_grad=True)
    (got,) = pybuda.get_parameter_gradients(found)
    np.testing.assert_allclose(
        got["weights"].value().numpy(), mse_gradients(np.zeros((4, 3)), B.numpy())[0], rtol=1e-5, atol=1e-6
    )


def test_a_buffer_that_the_model_writes_is_written_once_a_step() -> None:
    model = torch.nn.BatchNorm1d(4)
    found = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("norm", model))
    found.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.MSELoss()))
    pybuda.initialize_pipeline(True, sample_inputs=(X,), sample_targets=(X,))
    assert model.num_batches_tracked.item() == 0
    found.push_to_inputs(X)
    found.push_to_target_inputs(X)
    pybuda.run_forward()
    pybuda.sync()
    assert model.num_batches_tracked.item() == 1
    np.testing.assert_allclose(model.running_mean.numpy(), 0.1 * X.numpy().mean(0), rtol=1e-5)


@pytest.mark.parametrize("kind", [pybuda.TTDevice, pybuda.CPUDevice])
def test_a_layer_that_is_used_twice(kind: type[pybuda.TTDevice], float32: None) -> None:
    layer = torch.nn.Linear(8, 8)
    model = torch.nn.Sequential(layer, torch.nn.Tanh(), layer)
    x, y = torch.rand(4, 8), torch.rand(4, 8)
    device = kind("one", module=pybuda.PyTorchModule("model", model))
    device.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.MSELoss()))
    device.push_to_inputs(x)
    device.push_to_target_inputs(y)
    pybuda.initialize_pipeline(True)
    pybuda.run_forward()
    pybuda.run_backward(zero_grad=True)
    (found,) = pybuda.get_parameter_gradients()
    assert layer.weight.shape == (8, 8) and type(layer.weight) is torch.nn.Parameter
    expected = torch.autograd.grad(torch.nn.functional.mse_loss(model(x), y), [layer.weight])[0]
    torch.testing.assert_close(found["0.weight"].value(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("float32")
def test_a_tensor_of_a_closure_is_a_constant() -> None:
    scale = pybuda.Tensor.create_from_torch(torch.tensor([1.0, -2.0, 3.0, 0.5]))

    class Scaled(pybuda.PyBudaModule):
        def __init__(self) -> None:
            super().__init__("scaled")
            self.w = pybuda.Parameter(torch.ones(3, 4))

        def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
            return pybuda.op.Multiply("scale", pybuda.op.Matmul("product", x, self.w), scale)

    module = Scaled()
    sgd = pybuda.optimizers.SGD(learning_rate=1.0, device_params=True)
    tt0 = pybuda.TTDevice("tt0", module=module, optimizer=sgd)
    tt0.place_loss_module(pybuda.op.loss.MSELoss("loss"))
    x, target = torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(1, 4)
    w = torch.ones(3, 4, requires_grad=True)
    torch.nn.functional.mse_loss(x @ w * scale.value(), target).backward()
    tt0.push_to_inputs(x)
    tt0.push_to_target_inputs(target)
    checkpoint = pybuda.run_training(_sequential=True).get()[0]
    assert w.grad is not None
    torch.testing.assert_close(checkpoint["w"].value(), (w - w.grad).detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("float32")
def test_modules_of_one_name_keep_their_parameters() -> None:
    class Times(pybuda.PyBudaModule):
        def __init__(self, factor: float) -> None:
            super().__init__("times")
            self.w = pybuda.Parameter(torch.eye(4) * factor)

        def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
            return pybuda.op.Matmul("product", x, self.w)

    tt0 = pybuda.TTDevice("tt0", module=[Times(2), Times(3), Times(5)])
    tt0.push_to_inputs(torch.ones(1, 4))
    (result,) = pybuda.run_inference(_sequential=True).get()
    assert result.value().tolist() == [[30.0] * 4]
    assert list(tt0.get_parameter_checkpoint()) == ["times.w", "times_1.w", "times_2.w"]
