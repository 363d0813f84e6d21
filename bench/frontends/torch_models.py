# SPDX-License-Identifier: Apache-2.0
"""torch.compile(backend="tt") of the nineteen models compared with PyTorch eager and inductor, f32 and bf16.

python -m bench --module bench.frontends.torch_models [--only 'torch BERT'] [--peers 'torch eager']
"""

from __future__ import annotations

import functools
import importlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch_zoo
from golden.metrics import compare
from torch import Tensor, nn
from ttmlir.torch.metrics import tensors
from ttmlir.torch.report import record

from ..comparing import DTYPES
from ..harness import Absent, Measure, Outcome, Result, Settings, alternate
from ..isolated import own_peak
from ..memory import EXPECTED, measured
from ..names import EAGER, INDUCTOR
from ..peers import no_compiler

F32_ERROR, BF16_PCC = 1e-4, 0.999
LARGE = ["BERT"]  # whose weights are most of what compiling and running takes


def seeded(run: Callable[..., Any], inputs: torch_zoo.Inputs) -> list[Tensor]:
    torch.manual_seed(0)
    return tensors(run(**inputs))


def load_compilers(peers: Sequence[str]) -> None:
    """Loads and creates what PyTorch needs once per process, so that it counts for no side."""
    torch.compile(lambda x: x + 1, backend="eager")(torch.zeros(1))
    if INDUCTOR in peers:
        importlib.import_module("torch._inductor.compile_fx")


def first_call(
    model: nn.Module, inputs: torch_zoo.Inputs, **options: Any
) -> tuple[Callable[..., Any], list[Tensor], float]:
    """(the compiled model, its result, milliseconds from torch.compile to the result)."""
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        compiled = torch.compile(model, fullgraph=True, dynamic=False, **options)
        result = seeded(compiled, inputs)
    return compiled, result, 1e3 * (time.perf_counter() - started)


def largest_error(expected: Sequence[Tensor], found: Sequence[Tensor]) -> float:
    """Over all outputs, as a part of each one's range."""
    pairs = [(a.double(), b.double()) for a, b in zip(expected, found, strict=True) if a.numel()]
    return max(float((a - b).abs().max()) / max(float(a.abs().max()), 1e-30) for a, b in pairs)


def least_pcc(expected: Sequence[Tensor], found: Sequence[Tensor]) -> float:
    return min(compare(a.float(), b.float()).pcc for a, b in zip(expected, found, strict=True) if a.numel() > 1)


def agreement(name: str, dtype: str, want: list[Tensor], got: list[Tensor], exact: list[Tensor]) -> Measure:
    """exact: PyTorch's result in f32."""
    if dtype == "f32":
        return Measure(f"{name}, error", dtype, largest_error(want, got), "of the range", f"<= {F32_ERROR}")
    note = f"compared with f32: ours {least_pcc(exact, got):.6f}, PyTorch {least_pcc(exact, want):.6f}"
    return Measure(f"{name}, agreement", dtype, least_pcc(want, got), "PCC", f">= {BF16_PCC}", note)


def benchmark(model_name: str, settings: Settings) -> Iterator[Outcome]:
    name, note = f"torch {model_name}", torch_zoo.MODELS[model_name].note
    exact: list[Tensor] = []
    load_compilers(settings.peers)
    for dtype, kind in DTYPES.items():
        model, inputs = torch_zoo.make(model_name, dtype=kind)
        with torch.no_grad():
            want = seeded(model, inputs)
            exact = exact or want
            with record() as reports:
                ours, got, ours_ms = first_call(model, inputs, backend="tt")
            left = sum(sum(report.on_host.values()) for report in reports)
            yield Measure(f"{name}, ops left to PyTorch", dtype, left, "ops", "<= 0", note)
            yield agreement(name, dtype, want, got, exact)
            sides: dict[str, Callable[[], object]] = {"ours": functools.partial(ours, **inputs)}
            if EAGER in settings.peers:
                sides[EAGER] = functools.partial(model, **inputs)
            if INDUCTOR in settings.peers:
                if reason := no_compiler():
                    yield Absent(name, dtype, INDUCTOR, reason)
                else:
                    import torch._inductor.config as inductor_config

                    inductor_config.force_disable_caches = True  # what earlier runs compiled is not its compile time
                    theirs, _, theirs_ms = first_call(model, inputs)
                    yield Result(f"{name}, compile and first run", dtype, ours_ms, INDUCTOR, theirs_ms)
                    sides[INDUCTOR] = functools.partial(theirs, **inputs)
                    ours, _, _ = first_call(model, inputs, backend="tt")  # Dynamo was reset
                    sides["ours"] = functools.partial(ours, **inputs)
            else:
                yield Result(f"{name}, compile and first run", dtype, ours_ms)
            with settings.quiet():
                mine, *others = alternate(list(sides.values()), settings.seconds)
            peers = [side for side in sides if side != "ours"]
            if not peers:
                yield Result(name, dtype, mine)
            for peer, peer_ms in zip(peers, others, strict=True):
                yield Result(name, dtype, mine, peer, peer_ms)
    yield Measure(f"{name}, peak memory", "", own_peak() / 1e9, "GB", "", note)
    if model_name in LARGE:
        for dtype in DTYPES:
            yield measured(f"memory, {name}", dtype, ["torch-compile", model_name, dtype], "torch.compile", EXPECTED)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"torch {name}": functools.partial(benchmark, name) for name in torch_zoo.MODELS
}
