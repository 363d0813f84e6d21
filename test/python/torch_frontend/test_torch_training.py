# SPDX-License-Identifier: Apache-2.0
"""Gradients and training runs of a CNN, an encoder, GPT-2 and ResNet-18, compared with PyTorch's, in f32."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers as hf
from compiled import assert_agree, check, error_of, on_chip
from torch import nn
from torch.utils.checkpoint import checkpoint
from ttmlir.torch.report import record

LABELS = 10


class Digits(nn.Module):
    """The CNN of PyTorch's MNIST example in small, with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Dropout(0.25), nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, LABELS),
        )  # fmt: skip

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return nn.functional.log_softmax(self.layers(images), -1)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True, activation="gelu")
        self.words = nn.Embedding(50, 32)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, LABELS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return nn.functional.log_softmax(self.head(self.layers(self.words(tokens)).mean(1)), -1)


def of_labels(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return nn.functional.nll_loss(model(inputs), labels)


def of_words(model: nn.Module, inputs: torch.Tensor, _labels: torch.Tensor) -> torch.Tensor:
    logits = model(input_ids=inputs).logits[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), inputs[:, 1:].flatten())


def of_images(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(pixel_values=inputs).logits, labels)


@dataclass(frozen=True)
class Run:
    """A model, a batch, and how its loss is computed. `rate`: of the steps of training."""

    make: Callable[[], nn.Module]
    inputs: Callable[[], torch.Tensor]
    loss: Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
    rate: float = 0.05


def gpt2() -> nn.Module:
    sizes: dict[str, Any] = {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 128, "n_positions": 32}
    return hf.GPT2LMHeadModel(hf.GPT2Config(**sizes, bos_token_id=1, eos_token_id=2, use_cache=False))


def resnet18(size: int = 64, label_count: int = LABELS) -> nn.Module:
    sizes = [size, 2 * size, 4 * size, 8 * size]
    return hf.ResNetForImageClassification(
        hf.ResNetConfig(
            embedding_size=size, hidden_sizes=sizes, depths=[2, 2, 2, 2], layer_type="basic", num_labels=label_count
        )
    )


RUNS = {
    "CNN": Run(Digits, lambda: torch.rand(16, 1, 12, 12), of_labels),
    "encoder": Run(Encoder, lambda: torch.randint(0, 50, (8, 12)), of_labels),
    "GPT-2": Run(gpt2, lambda: torch.randint(0, 128, (4, 24)), of_words),
    "ResNet-18": Run(resnet18, lambda: torch.rand(4, 3, 64, 64), of_images, 0.01),
}


def gradients(run: Run, model: nn.Module, call: Callable[..., Any], batch: Any) -> dict[str, torch.Tensor]:
    model.zero_grad()
    torch.manual_seed(3)  # of dropout
    run.loss(call, *batch).backward()
    return {name: p.grad.double() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RUNS)
def test_gradients_are_those_of_pytorch(name: str) -> None:
    """Within 1e-4 of each gradient's range, or of the rounding that PyTorch's own f32 has compared with f64 where the
    range is rounding noise: the gradient of a bias in front of a batch norm is 0."""
    run = RUNS[name]
    torch.manual_seed(0)
    model = run.make().train()
    inputs = run.inputs()
    batch = (inputs, torch.randint(0, LABELS, (len(inputs),)))
    state = copy.deepcopy(model.state_dict())
    want = gradients(run, model, model, batch)
    model.load_state_dict(state)
    got = gradients(run, model, on_chip(model), batch)
    assert got.keys() == want.keys() and len(want) > 5
    largest = max(float(g.abs().max()) for g in want.values())
    for parameter, gradient in want.items():
        error = float((got[parameter] - gradient).abs().max())
        scale = max(float(gradient.abs().max()), 1e-3 * largest)
        assert error <= 1e-4 * scale, f"{parameter}: off by {error / scale:.1e} of its range"


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_200_steps_end_at_the_loss_of_pytorch(name: str) -> None:
    run = RUNS[name]

    def trained(wrap: Callable[[nn.Module], Any]) -> list[float]:
        torch.manual_seed(0)
        model = (resnet18(8) if name == "ResNet-18" else run.make()).train()
        inputs = run.inputs()
        batch = (inputs, torch.randint(0, LABELS, (len(inputs),)))
        call, optimizer = wrap(model), torch.optim.SGD(model.parameters(), lr=run.rate, momentum=0.9)
        losses = []
        for _ in range(200):
            optimizer.zero_grad()
            loss = run.loss(call, *batch)
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        return losses

    want, got = trained(lambda model: model), trained(on_chip)
    # The mean of the last ten: with dropout, losses of single steps differ.
    ends = [sum(losses[-10:]) / 10 for losses in (want, got)]
    assert ends[0] < 0.7 * want[0]
    assert ends[1] == pytest.approx(ends[0], rel=0.01, abs=1e-4)


class Kept(nn.Module):
    """Keeps for backward: weights, their views and parts, a written buffer; the rest is computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.register_buffer("mean", torch.eye(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def again(x: torch.Tensor) -> torch.Tensor:
            return self.second(torch.tanh(self.first(x)))

        y = checkpoint(again, x, use_reentrant=False)
        z, _ = self.attention(y, y, y)
        loss = (z @ self.mean.clone().t() + z @ self.first.weight[:8].t()).square().sum()
        with torch.no_grad():
            self.mean.mul_(0.9).add_(self.second.weight[:, :8] * 0.1)
        return loss


@pytest.mark.long
@pytest.mark.parametrize("dynamic", [False, True])
def test_values_kept_for_backward(dynamic: bool) -> None:
    torch.manual_seed(0)
    model = Kept()
    mine = copy.deepcopy(model)
    compiled = on_chip(mine, dynamic=dynamic)
    optimizers = [torch.optim.Adam(m.parameters(), 1e-2) for m in (model, mine)]
    for size in (3, 3, 5):
        x = torch.rand(2, size, 8)
        for run, optimizer in zip((model, compiled), optimizers, strict=True):
            optimizer.zero_grad()
            run(x).backward()
            optimizer.step()
        for want, got in zip(model.parameters(), mine.parameters(), strict=True):
            assert error_of(got.grad, want.grad) <= 1e-4
        assert error_of(mine.mean, model.mean) <= 1e-4


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:PyTorch runs what")
def test_gradients_between_ops_that_pytorch_runs() -> None:
    """Passes values to the backward graph by place, whatever names its ops have."""
    config = hf.FNetConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, intermediate_size=64, max_position_embeddings=16
    )
    model, ids = hf.FNetModel(config).eval(), torch.randint(0, 50, (2, 9))
    gradients = []
    for run in (model, on_chip(model)):
        model.zero_grad()
        results = run(input_ids=ids)
        loss = results.last_hidden_state.square().mul(torch.arange(32.0)).mean() + results.pooler_output.sum()
        loss.backward()
        gradients.append([p.grad for p in model.parameters()])
    assert_agree(gradients[1], gradients[0])


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad], ids=lambda k: k.__name__)
def test_steps_of_optimizers_run_on_the_chip(kind: type[torch.optim.Optimizer], foreach: bool) -> None:
    """Their products and sums are `prims.fma` in PyTorch's decompositions, or ops on lists."""
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(3, 5, generator=generator) for _ in range(4)]

    def trained(wrap: Callable[..., Any]) -> torch.Tensor:
        weight = nn.Parameter(given[0].clone())
        optimizer = kind([weight], lr=0.1, foreach=foreach)  # type: ignore[call-arg]
        step = wrap(optimizer.step)
        for gradient in given[1:]:
            weight.grad = gradient.clone()
            step()
        return weight.detach()

    with record() as reports:
        found = trained(lambda step: torch.compile(step, backend="tt"))
    assert_agree(found, trained(lambda step: step))
    assert reports and not any(report.on_host for report in reports)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products_and_sums_are_rounded_once(dtype: torch.dtype) -> None:
    x, y, z = torch.randn(3, 64, generator=torch.Generator().manual_seed(1)).to(dtype)
    found = on_chip(torch.ops.prims.fma)(x, y, z)
    assert_agree(found, (x.double() * y.double() + z.double()).to(dtype))
    if dtype is torch.bfloat16:
        assert torch.equal(found, (x.float() * y.float() + z.float()).to(dtype))


def test_writes_to_lists() -> None:
    def function(x: list[torch.Tensor], y: list[torch.Tensor], z: list[torch.Tensor]) -> torch.Tensor:
        torch._foreach_copy_(x, [v.to(torch.bfloat16) * 2 for v in y])
        torch._foreach_zero_(z)
        return x[0].sum() + z[1]

    with record() as reports:
        check(function, *([torch.rand(n, 3) + low for n in (2, 5)] for low in range(3)))
    assert [report.on_host for report in reports] == [{}]


def test_ops_on_lists() -> None:
    def function(x: list[torch.Tensor], y: list[torch.Tensor]) -> list[list[torch.Tensor] | tuple[torch.Tensor, ...]]:
        return [
            torch._foreach_add(x, y, alpha=2), torch._foreach_mul(x, [2.0, 3.0]), torch._foreach_sqrt(y),
            torch._foreach_addcmul(x, x, y, value=0.5), torch._foreach_addcdiv(x, x, y, [0.5, 0.25]),
            torch._foreach_lerp(x, y, 0.3), torch._foreach_pow(y, 2), torch._foreach_maximum(x, y),
            torch._foreach_div(x, torch.tensor(2.0)), torch._foreach_clamp_min(x, 0.1),
            torch._foreach_maximum(x, 0.25), torch._foreach_minimum(y, [0.25, -0.5]),
            torch._foreach_norm(x), torch._foreach_norm(y, 1), torch._foreach_norm(x, float("inf"), torch.float64),
        ]  # fmt: skip

    x, y = ([torch.rand(n, 3) - low for n in (2, 5)] for low in (0.5, -0.5))
    with record() as reports:
        found = on_chip(function)(x, y)
    assert_agree(found, function(x, y))
    assert [report.on_host for report in reports] == [{}]
