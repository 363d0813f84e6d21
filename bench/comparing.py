# SPDX-License-Identifier: Apache-2.0
"""A network on the simulated chip compared with the same in each peer: results checked, then timed in turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.execution.device_tensors import fetched
from torch import Tensor, nn

from .device import check, compiled, device, runner
from .harness import Absent, Outcome, Profile, Result, Settings, alternate
from .peers import PEERS, first

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
# Correlation with PyTorch's result in f32 that every side must reach, we and the peers: a benchmark of a wrong result
# is worth nothing. Deep networks of random weights lose up to 0.02 in bf16 with kernels that round between ops.
EXPECTED = {"f32": 0.9999, "bf16": 0.97}


@dataclass(frozen=True)
class Case:
    """The same work for us and for PyTorch, from which the other peers get it.

    network, inputs: in f32, as PyTorch has them. build: for a dtype, the module function of the builder.
    given: for a dtype, the inputs as the chip takes them. images: the first input is one; torch gets it channels-last.
    as_ours: a result of the network in the order of ours, without copying.
    """

    name: str
    network: nn.Module
    inputs: Sequence[Tensor]
    build: Callable[[torch.dtype], Callable[[Any], None]]
    given: Callable[[torch.dtype], list[Tensor]]
    images: bool = False
    as_ours: Callable[[Tensor], Tensor] = lambda result: result


def profile(run: Callable[[], object], top: int = 3, on: Any = None) -> str:
    """The ops of one run that take most of the time, and what no op accounts for. on: where not on `device()`."""
    rt.runtime.set_perf_recording(True)
    try:
        reports = []
        for _ in range(5):
            run()
            report = rt.runtime.last_run(on or device())
            assert report is not None  # of a recorded run
            reports.append(report)
    finally:
        rt.runtime.set_perf_recording(False)
    report = sorted(reports, key=lambda r: r.host_ns)[len(reports) // 2]
    spent: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for op in report.ops:
        spent[op.name] += op.host_ns
        count[op.name] += 1
    shares = [
        f"{name.removeprefix('ttnn.')} x{count[name]} {ns / 1e6:.3g} ms ({ns / report.host_ns:.0%})"
        for name, ns in spent.most_common(top)
        if ns
    ]
    return f"{', '.join(shares)} of {report.host_ns / 1e6:.3g} ms"


def compare(case: Case, dtype: str, settings: Settings) -> Iterator[Outcome]:
    kind, name = DTYPES[dtype], f"{case.name} {dtype}"
    sides: dict[str, Callable[[], Tensor]] = {}
    with torch.inference_mode():
        ours = runner(compiled(case.build(kind)), case.given(kind))
        expected = case.as_ours(first(case.network(*case.inputs)))
        check(fetched(ours()[0])[0], expected, EXPECTED[dtype], f"{name}, ours")
    with torch.no_grad():  # what inference_mode made, torch.compile does not take
        for peer_name in settings.peers:
            peer = PEERS.get(peer_name)
            if peer is None:
                continue
            reason = peer.missing()
            if reason is None:
                try:
                    run = peer.prepare(case.network, case.inputs, kind, case.images, settings.threads)
                    check(case.as_ours(run()), expected, EXPECTED[dtype], f"{name}, {peer_name}")
                    sides[peer_name] = run
                except Exception as error:
                    reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            if reason is not None:
                yield Absent(case.name, dtype, peer_name, reason)
        with settings.quiet():
            ours_ms, *others = alternate([ours, *sides.values()], settings.seconds)
            text = profile(ours)
    if not sides:
        yield Result(case.name, dtype, ours_ms)
    for peer_name, peer_ms in zip(sides, others, strict=True):
        yield Result(case.name, dtype, ours_ms, peer_name, peer_ms)
    yield Profile(case.name, dtype, text)


def both_dtypes(make: Callable[[], Case]) -> Callable[[Settings], Iterator[Outcome]]:
    def benchmark(settings: Settings) -> Iterator[Outcome]:
        case = make()
        for dtype in DTYPES:
            yield from compare(case, dtype, settings)

    return benchmark
