# SPDX-License-Identifier: Apache-2.0
"""Text generation with a key-value cache that stays on the device, and results that stay there in general."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_zoo
import transformers
from _ttmlir_runtime import Error, runtime
from compiled import assert_agree, on_chip
from torch import nn
from ttmlir.chips import default_device
from ttmlir.torch.metrics import measure
from ttmlir.torch.program import host_tensor
from ttmlir.torch.report import record
from ttmlir.torch.residence import Residence, is_sole_user, kept

GENERATING = [name for name, row in torch_zoo.MODELS.items() if row.generates]
TOKENS = 6


def prompt(name: str) -> tuple[Any, dict[str, Any]]:
    """A small model, and what its `generate` takes: two prompts, the second one padded."""
    model, inputs = torch_zoo.make(name, small=True)
    ids = inputs["input_ids"][:, :7]
    mask = torch.ones_like(ids)
    mask[1, :2] = 0
    greedy = {"max_new_tokens": TOKENS, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    return model, {"input_ids": ids, "attention_mask": mask, "disable_compile": True, **greedy}


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("cache", ["static", "dynamic"])
@pytest.mark.parametrize("name", GENERATING)
def test_the_tokens_are_those_of_pytorch(name: str, cache: str) -> None:
    model, arguments = prompt(name)
    arguments["cache_implementation"] = cache
    want = model.generate(**arguments)
    model.forward = torch.compile(model.forward, backend="tt")
    with record() as reports:
        got = model.generate(**arguments)
    assert torch.equal(got, want)
    assert not any(report.on_host for report in reports)


@pytest.mark.long
def test_a_cache_is_written_where_it_is() -> None:
    model, arguments = prompt("Llama")
    model.forward = torch.compile(model.forward, backend="tt")
    with record() as reports:
        model.generate(**arguments, cache_implementation="static")
    prefill, decode = (report.programs[0] for report in reports)
    assert (prefill.calls, decode.calls) == (1, TOKENS - 1)
    # Keys and values of each layer: the program returns none of them.
    layers = model.config.num_hidden_layers
    assert len(decode.imported.updated) == 2 * layers and len(decode.imported.writes) == layers
    # Inputs and results but for the caches, each of which would be sent and fetched.
    everything = len(decode.tensors) - len(decode.parameters) + len(decode.imported.writes) + 1
    assert decode.transfers == everything - 2 * layers


def write_row(cache: torch.Tensor, position: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    cache.index_copy_(2, position, rows)
    return (cache * 2).sum(-1)


@pytest.mark.parametrize("users", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_one_position_is_written_in_the_memory_of_pytorch(dtype: torch.dtype, users: int) -> None:
    compiled = on_chip(write_row)
    ours, theirs = (torch.zeros(users, 2, 5, 4, dtype=dtype) for _ in range(2))
    with record() as reports:
        for step in range(8):
            position, rows = torch.tensor([step % 5]), torch.randn(users, 2, 1, 4).to(dtype)
            address, version = ours.data_ptr(), ours._version
            assert_agree(compiled(ours, position, rows), write_row(theirs, position, rows), f"step {step}")
            assert_agree(ours, theirs, f"cache after step {step}")
            (program,) = reports[0].programs
            if dtype is not torch.float16:
                assert program.imported.updated == [0]
                assert ours.data_ptr() == address and ours._version == version + 1
                assert program.transfers == 3 + (step in (0, 4)), "position, rows and result; what is new is sent"
            if step == 3:  # beam search has other memory
                ours, theirs = ours.flip(0), theirs.flip(0)
            if step == 5:
                ours.mul_(2), theirs.mul_(2)
    with pytest.raises(Exception, match="5 as element 0"):
        compiled(ours, torch.tensor([5]), rows)


def several_rows(cache: torch.Tensor, position: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    cache.index_copy_(2, position, torch.cat([rows, rows + 1], dim=2))
    return cache * 2


def read_before(cache: torch.Tensor, position: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    old = cache.sum(-1)
    cache.index_copy_(2, position, rows)
    return old + cache.sum(-1)


def written_twice(cache: torch.Tensor, position: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    cache.index_copy_(2, position, rows)
    cache.mul_(2)
    return cache + 1


def along_another(cache: torch.Tensor, position: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    cache.index_copy_(1, position, rows[:, :1].expand(2, 1, 5, 4))
    return cache + 1


@pytest.mark.parametrize("function", [several_rows, read_before, written_twice, along_another])
def test_other_writes_are_copies(function: Any) -> None:
    compiled = on_chip(function)
    count = 2 if function is several_rows else 1
    ours, theirs = torch.zeros(2, 3, 5, 4), torch.zeros(2, 3, 5, 4)
    with record() as reports:
        for step in range(3):
            position, rows = torch.arange(count) + step % 2, torch.randn(2, 3, 1, 4)
            assert_agree(compiled(ours, position, rows), function(theirs, position, rows), f"step {step}")
            assert_agree(ours, theirs, f"cache after step {step}")
    assert reports[0].programs[0].imported.updated == []


@pytest.mark.long
def test_metrics_of_generate() -> None:
    model, arguments = prompt("GPT-2")
    found = measure("GPT-2", model.generate, {**arguments, "cache_implementation": "static"}, seconds=0.01)
    assert found.success and found.accuracy == 100.0 and found.graphs >= 2


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


def test_intermediate_write_is_seen() -> None:
    ours, theirs = Counter(), Counter()
    compiled = on_chip(ours)
    x = torch.rand(4, 32)

    def step(what: str) -> None:
        assert_agree(compiled(x), theirs(x), what)
        assert_agree(ours.total, theirs.total, what)

    with torch.no_grad():
        step("first")
        step("second")
        for model in (ours, theirs):
            model.total[1] = 7
        step("after a write of PyTorch's")
        for model in (ours, theirs):
            model.load_state_dict({"total": torch.ones(4, 32)})
        step("after load_state_dict")
        views = [model.total[2:] for model in (ours, theirs)]
        step("with a view")
        assert_agree(views[0], views[1], "a view sees what the program writes")
        for view in views:
            view.zero_()
        step("after a write to the view")
        for model in (ours, theirs):
            model.total = torch.full((4, 32), 3.0)
        step("with another tensor")


def test_results_are_memory_of_their_own() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y.copy_(x)
        return x + 0, y * 1, x.clone()

    compiled = on_chip(function)
    x, y = torch.rand(4, 4), torch.zeros(4, 4)
    for _ in range(3):
        results = [*compiled(x, y), x, y]
        assert len({r.data_ptr() for r in results}) == len(results)
        for i, result in enumerate(results):
            result.fill_(i)
        assert [float(r.mean()) for r in results] == [0, 1, 2, 3, 4]


def test_a_result_is_taken_again_where_it_is() -> None:
    compiled = on_chip(lambda x: x * 2 + 1)
    with record() as reports:
        y = compiled(torch.rand(8, 8))
    (program,) = reports[0].programs
    assert program.transfers == 2
    want = y * 2 + 1
    assert torch.equal(compiled(y), want) and program.transfers == 1
    y.add_(1)
    assert torch.equal(compiled(y), y * 2 + 1), "the memory is one"
    assert torch.equal(compiled(y.t()), y.t() * 2 + 1)
    address = y.data_ptr()
    assert address in kept.entries
    del y
    assert address not in kept.entries


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int64, torch.bool])
def test_arguments_of_all_types_are_written(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.copy_(~x if x.dtype is torch.bool else x + 1)
        return x.clone()

    compiled = on_chip(function)
    ours, theirs = torch.ones(shape, dtype=dtype), torch.ones(shape, dtype=dtype)
    for _ in range(3):
        assert_agree(compiled(ours), function(theirs))
        assert_agree(ours, theirs)


def test_the_oldest_results_are_given_up() -> None:
    class Value:
        def is_allocated(self) -> bool:
            return True

    residence, device = Residence(most_bytes=100), object()
    first, second = torch.zeros(16), torch.zeros(16)
    residence.keep(first, Value(), device)
    assert residence.find(first, device) is not None and residence.find(first, object()) is None
    assert residence.find(first[1:], device) is None and residence.find(first.view(4, 4), device) is None
    residence.keep(second, Value(), device)
    assert residence.find(first, device) is None and residence.find(second, device) is not None
    assert residence.nbytes == 64
    del second
    assert residence.nbytes == 0


def test_results_are_kept_together() -> None:
    class Value:
        def is_allocated(self) -> bool:
            return True

    residence, device = Residence(most_bytes=100), object()
    whole, other = torch.zeros(8), torch.zeros(4)
    older, values = Value(), [Value(), Value()]
    residence.keep(whole[:4], older, device)
    residence.keep_all([whole, other], values, device, False)
    assert residence.find(whole[:4], device) is None, "another tensor has its address"
    assert [residence.find(x, device) for x in (whole, other)] == values and residence.nbytes == 48
    more = [torch.zeros(8), torch.zeros(8)]
    residence.keep_all(more, values, device, False)
    assert residence.find(whole, device) is None and residence.find(other, device) is values[1]
    assert [residence.find(x, device) for x in more] == values and residence.nbytes == 80
    address = other.data_ptr()
    del other
    assert address not in residence.entries and residence.nbytes == 64


def test_sole_users() -> None:
    x = torch.zeros(4)
    assert is_sole_user(x)
    view = x[1:]
    assert not is_sole_user(x)
    del view
    assert is_sole_user(x)


def test_memory_of_borrowed_device_tensors() -> None:
    device, values = default_device(), torch.zeros(2, 3)
    compiled = on_chip(lambda x: x + 1)
    with record() as reports:
        compiled(values)
    layout = runtime.get_layout(reports[0].programs[0].binary, 0, 0)
    borrowed = runtime.create_borrowed_device_tensor(host_tensor(values), device, layout)
    values[1, 2] = 5
    assert borrowed.is_on_device() and torch.equal(torch.from_dlpack(borrowed), values), "the memory is one"
    on_host = host_tensor(values).get_layout()
    for tensor, chip, where, text in [
        (host_tensor(values), None, layout, "create_borrowed_device_tensor: no device"),
        (borrowed, device, layout, "the tensor is on a device or has several shards; expected one on the host"),
        (host_tensor(values.int()), device, layout, "the layout has type f32, the tensor si32"),
        (host_tensor(values), device, on_host, "the layout is of the host or of a mesh; expected one of a device"),
    ]:
        with pytest.raises(Error, match=text):
            runtime.create_borrowed_device_tensor(tensor, chip, where)


class Memory(transformers.StoppingCriteria):
    """Notes what the process has in memory, in bytes, after each token; it stops nothing."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        self.found.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        return torch.zeros(len(input_ids), dtype=torch.bool)


@pytest.mark.long
@pytest.mark.parametrize("cache", ["static", "dynamic"])
def test_memory_does_not_grow_with_tokens(cache: str) -> None:
    model, arguments = prompt("Llama")
    model.forward = torch.compile(model.forward, backend="tt")
    memory = Memory()
    arguments |= {"cache_implementation": cache, "max_new_tokens": 300, "stopping_criteria": [memory]}
    with record() as reports:
        found = model.generate(**arguments)
    assert found.shape[1] == arguments["input_ids"].shape[1] + 300 == 7 + len(memory.found)
    programs = [program for report in reports for program in report.programs]
    assert len(programs) <= (2 if cache == "static" else 3) and sum(program.calls for program in programs) == 300
    # The default cache grows to 0.3 MB; a program for each length took megabytes of code and weights.
    assert memory.found[-1] - memory.found[20] < 8 << 20
