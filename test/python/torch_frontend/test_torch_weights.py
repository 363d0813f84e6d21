# SPDX-License-Identifier: Apache-2.0
"""Weights of compiled models: seen whenever they change, held once, given back when nobody uses them."""

from __future__ import annotations

import copy
import ctypes
import gc
import weakref
from collections.abc import Callable

import pytest
import torch
from compiled import assert_agree, on_chip
from torch import nn
from ttmlir.torch.program import Program
from ttmlir.torch.report import record


class Model(nn.Module):
    """A weight that is tied, one that is read through a view, a buffer that is read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
        self.head.weight = self.words.weight
        self.packed = nn.Parameter(torch.rand(3, 8, 8))
        self.norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.5)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        x = self.words(tokens)
        x = x @ self.packed[1] + x @ self.packed[2].t()
        return self.head(self.dropout(self.norm(x))) * self.calls


def copied(model: Model) -> Model:
    return copy.deepcopy(model)


TOKENS = torch.tensor([1, 5, 2, 9])


def reload(model: Model) -> None:
    model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})


def assign(model: Model) -> None:
    model.load_state_dict({k: v * 2 for k, v in model.state_dict().items()}, assign=True)


def untie(model: Model) -> None:
    model.head.weight = nn.Parameter(model.words.weight.detach() * 3)


def data(model: Model) -> None:
    model.packed.data = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(1))


def view(model: Model) -> None:
    with torch.no_grad():
        model.packed[1].mul_(2)
        model.words.weight[5, 3:].zero_()


def freeze(model: Model) -> None:
    model.packed.requires_grad_(not model.packed.requires_grad)


CHANGES: dict[str, Callable[[Model], object]] = {
    "load_state_dict": reload,
    "load_state_dict, assigned": assign,
    "untied": untie,
    "other memory": data,
    "through a view": view,
    "requires_grad": freeze,
    "train": lambda model: model.train(),
    "eval": lambda model: model.eval(),
    "bfloat16": lambda model: model.bfloat16(),
    "half and back": lambda model: model.half().float(),
    "double": lambda model: model.double(),
    "buffer": lambda model: model.calls.fill_(7),
}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:float64 is computed")
@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
def test_weights_are_seen_whenever_they_change(training: bool) -> None:
    torch.manual_seed(0)
    want = Model().train(training)
    got = copied(want)
    compiled = on_chip(got)

    def step(what: str) -> None:
        results = []
        for model, run in ((want, want), (got, compiled)):
            torch.manual_seed(1)
            model.zero_grad()
            with torch.set_grad_enabled(training):
                result = run(TOKENS)
            if training:
                result.float().square().mean().backward()
            results.append([result.detach(), [p.grad for p in model.parameters()], [*model.buffers()]])
        assert_agree(results[1], results[0], what)

    step("first")
    for name, change in CHANGES.items():
        change(want)
        change(got)
        step(name)
        step(f"{name}, again")


def test_writes_that_pytorch_does_not_count_are_seen_in_training() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    x = torch.rand(2, 8)
    compiled = on_chip(model)
    for _ in range(3):
        model.zero_grad()
        result = compiled(x)
        assert_agree(result, model(x))
        result.square().sum().backward()
        for parameter in model.parameters():
            version = parameter._version
            parameter.data -= 0.1 * parameter.grad
            assert parameter._version == version  # else this tests nothing


def test_writes_that_pytorch_does_not_count_are_seen_when_requested() -> None:
    torch.manual_seed(0)
    model = nn.Linear(8, 16)
    model.register_buffer("places", torch.arange(16))
    x = torch.rand(2, 8)

    class Places(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return model(x)[:, model.places] * model.places

    compiled = on_chip(Places(), options={"watch_weights": True})
    with torch.no_grad():
        for change in (lambda: model.weight.data.mul_(2), lambda: model.bias.detach().numpy().fill(3),
                       lambda: model.places.data.copy_(model.places.flip(0))):  # fmt: skip
            assert_agree(compiled(x), Places()(x))
            change()
        assert_agree(compiled(x), Places()(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.filterwarnings("ignore:float64 is computed")
def test_writes_of_whole_weights_that_pytorch_does_not_count_are_seen(dtype: torch.dtype) -> None:
    """In inference without options; rank 0, one element and none are weights, too. Of a part one sample is enough."""
    torch.manual_seed(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.matrix, self.scale = nn.Parameter(torch.rand(8, 33)), nn.Parameter(torch.rand(()))
            self.one, self.none = nn.Parameter(torch.rand(1)), nn.Parameter(torch.rand(0, 33))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([(x @ self.matrix) * self.scale + self.one, self.none])

    model, x = Model().to(dtype), torch.rand(2, 8, dtype=dtype)
    compiled = on_chip(model)
    with torch.no_grad():
        for change in (lambda: model.matrix.data.mul_(2), lambda: model.scale.data.fill_(3),
                       lambda: model.one.data.add_(1), lambda: model.matrix.data[0, 0].fill_(9)):  # fmt: skip
            assert_agree(compiled(x), model(x))
            versions = [p._version for p in model.parameters()]
            change()
            assert [p._version for p in model.parameters()] == versions  # else this tests nothing
        assert_agree(compiled(x), model(x))


def test_weights_are_not_looked_at_when_that_is_requested() -> None:
    # Large enough that the kernel has the weight in a form of its own, from the second run on.
    model, x = nn.Linear(64, 128), torch.rand(64, 64)
    compiled = on_chip(model, options={"watch_weights": False})
    with torch.no_grad():
        compiled(x)
        before = compiled(x)
        model.weight.data.mul_(2)
        assert_agree(compiled(x), before)
        model.weight.mul_(2)
        assert_agree(compiled(x), model(x))


def test_weights_are_sent_to_backward_graphs_when_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that backward reads as views; the forward program returns no copies of them."""
    sent: list[tuple[int, ...]] = []
    weight = Program.weight

    def noted(self: Program, place: int, number: int, tensor: torch.Tensor, device: object) -> object:
        known = self.resident.get(number)
        value = weight(self, place, number, tensor, device)
        if known is None or value is not known.value:
            sent.append(tuple(tensor.shape))
        return value

    monkeypatch.setattr(Program, "weight", noted)
    torch.manual_seed(0)
    packed = nn.Parameter(torch.rand(2, 6, 7))
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 6), nn.Tanh())
    want, want_packed = copy.deepcopy(model), copy.deepcopy(packed)

    def loss(model: nn.Module, packed: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (model(x) @ packed[1] + (model(x) @ packed[0]).detach()).square().sum()

    compiled, x = on_chip(loss), torch.rand(2, 1, 4, 4)
    shapes = sorted(tuple(w.shape) for w in [*model.parameters(), packed])
    for step in range(4):
        with record() as reports:
            compiled(model, packed, x).backward()
        loss(want, want_packed, x).backward()
        for mine, theirs in zip([*model.parameters(), packed], [*want.parameters(), want_packed], strict=True):
            assert_agree(mine.grad, theirs.grad, f"step {step}")
        if step == 0:
            forward, backward = (report.programs[0] for report in reports)
            # No result of the forward program is a weight's: its loss, and what backward reads of activations.
            weights = {w.untyped_storage().data_ptr() for w in [*model.parameters(), packed]}
            assert len(backward.parameters) == 3 and not backward.parameters - set(backward.resident)
            assert {backward.resident[n].address for n in backward.parameters} <= weights
            assert sum(n is not None for n in forward.imported.results) < len(forward.imported.results)
            assert sorted(set(sent)) == shapes
        elif step < 3:
            assert not sent
        else:
            assert sent == [(4, 1, 3, 3)] * 2
        sent.clear()
        if step == 2:
            with torch.no_grad():
                model[0].weight.mul_(0.5)
                want[0].weight.mul_(0.5)


def resident() -> int:
    """Bytes of this process in memory, without those that were freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.long
def test_a_weight_is_held_once_and_as_its_form_for_the_kernel() -> None:
    torch.manual_seed(0)
    model, x = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(16)]), torch.rand(4, 1024)
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    with torch.no_grad():
        on_chip(nn.Linear(64, 64))(torch.rand(4, 64))  # what the first program of a process takes
        before = resident()
        compiled = on_chip(model)
        compiled(x)
        taken = resident() - before
        model[0].weight.mul_(2)
        compiled(x)
        again = resident() - before
    assert taken <= 1.3 * weights
    assert again <= taken + 0.3 * weights


@pytest.mark.long
@pytest.mark.parametrize(
    ("dtype", "layers", "rows", "share"),
    [
        (torch.float32, 10, 64, 0.3),
        (torch.bfloat16, 20, 64, 0.3),
        (torch.float32, 10, 40, 0.1),
        (torch.bfloat16, 20, 1, 0.1),
    ],
    ids=str,
)
def test_large_models_are_not_held_twice(dtype: torch.dtype, layers: int, rows: int, share: float) -> None:
    """Keeps a second form of at most a fifth of 671 MB of weights, also where the processor multiplies bf16 as f32;
    none for few rows.
    """
    width = 4096
    model = nn.Sequential(*[nn.Linear(width, width, bias=False, device="meta") for _ in range(layers)])
    model = model.to(dtype).to_empty(device="cpu").requires_grad_(False)
    for weight in model.parameters():
        weight.fill_(1 / width)
    weights = sum(w.nbytes for w in model.parameters())
    x = torch.arange(float(rows)).to(dtype)[:, None].expand(rows, width).contiguous()
    with torch.no_grad():
        on_chip(nn.Linear(64, 64))(torch.rand(4, 64))  # what the first program of a process takes
        before = resident()
        got = on_chip(model)(x)
    assert_agree(got, x)
    assert resident() - before <= share * weights


@pytest.mark.long
def test_nothing_is_kept_of_calls() -> None:
    model, x = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)), torch.rand(64, 64)
    compiled = on_chip(model)

    def calls(count: int) -> None:
        for _ in range(count):
            compiled(x).sum().backward()

    calls(100)
    before = resident()
    calls(1000)
    # One result of 16 kB that was kept at each call would be 16 MB.
    assert resident() - before < 4 << 20


@pytest.mark.long
def test_nothing_is_kept_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[weakref.ref[Program]] = []
    whole = Program.__post_init__

    def noted(self: Program) -> None:
        whole(self)
        result.append(weakref.ref(self))

    monkeypatch.setattr(Program, "__post_init__", noted)

    def compile_one() -> None:
        with torch.no_grad():
            on_chip(nn.Linear(2048, 2048))(torch.rand(4, 2048))
        torch._dynamo.reset()

    for _ in range(10):
        compile_one()
    # The weights of one are 16 MB, so that those of programs that were kept would be 400 MB. Dynamo's own caches grow
    # by up to 0.5 MB for each.
    before = resident()
    for _ in range(25):
        compile_one()
    assert resident() - before < 60 << 20
    assert len(result) == 35 and not any(program() for program in result)


@torch.no_grad()
def test_programs_that_are_compiled_later_see_every_write() -> None:
    """Also one of a few values that PyTorch does not count: programs share what equal values become, and no others."""
    layer = nn.Linear(320, 320, bias=False)
    compiled = on_chip(layer)
    assert_agree(compiled(torch.ones(64, 320)), layer(torch.ones(64, 320)))
    layer.weight.data[100:103] += 5
    for function, rows in ((compiled, 70), (on_chip(lambda x: layer(x) * 1), 64)):
        assert_agree(function(torch.ones(rows, 320)), layer(torch.ones(rows, 320)))


@torch.no_grad()
def test_a_weight_gets_another_shape_in_its_own_memory() -> None:
    table = nn.Embedding(400, 320)
    compiled = on_chip(lambda words, x: (table(words), x @ table.weight.t()))
    for rows in (400, 300):
        table.weight.data = table.weight.data[:rows]
        words, x = torch.arange(0, 300, 7), torch.rand(64, 320)
        for found, expected in zip(compiled(words, x), (table(words), x @ table.weight.t()), strict=True):
            assert_agree(found, expected)


@torch.no_grad()
def test_another_tensor_may_come_to_have_the_address() -> None:
    layer = nn.Linear(1024, 1024, bias=False)
    compiled, x = on_chip(layer), torch.ones(64, 1024)
    for _ in range(5):
        assert_agree(compiled(x), layer(x))
        changed = layer.weight.detach().clone()
        changed[100:103] += 5
        layer.weight.data = torch.zeros(1)  # gives the memory back
        other = torch.empty(1024, 1024)
        layer.weight.data = other.copy_(changed)


def test_modules_made_in_inference_mode() -> None:
    with torch.inference_mode():
        layer, x = nn.Linear(32, 8), torch.randn(4, 32)
        assert_agree(on_chip(layer)(x), layer(x))
    with torch.no_grad():
        assert_agree(on_chip(layer)(x), layer(x))
