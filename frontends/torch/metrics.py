# SPDX-License-Identifier: Apache-2.0
"""A model compared with its compiled form: the compiled graphs, the time of both, and their agreement."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from golden.metrics import compare
from ttmlir.files import write_whole

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from .entry import backend
from .options import Options
from .report import BACKWARD, FORWARD, Report, record, total

SUFFIX = ".json"


@dataclass
class Metrics:
    """The metrics of one model.

    ops, on_host: aten ops of its graphs, and those of them that PyTorch runs; how many of each.
    graphs: how many graphs were compiled for the forward pass, of as many sets of sizes as it was called with.
    transfers: tensors that one run of each graph sends to the device and fetches from it.
    original_ms, compiled_ms: of one run, the median of some; first_ms: of the first compiled one, which compiles.
    accuracy: percent, see `accuracy`. error: why there is no compiled result, or "".
    """

    model: str
    ops: dict[str, int] = field(default_factory=dict)
    on_host: dict[str, int] = field(default_factory=dict)
    graphs: int = 0
    backward_graphs: int = 0
    transfers: int | None = None
    original_ms: float | None = None
    compiled_ms: float | None = None
    first_ms: float | None = None
    accuracy: float | None = None
    error: str = ""

    @property
    def success(self) -> bool:
        return not self.error

    def add(self, reports: Sequence[Report]) -> None:
        """Returns the compiled graphs."""
        self.ops = dict(sorted(total(r.ops for r in reports).items()))
        self.on_host = dict(sorted(total(r.on_host for r in reports).items()))
        kinds = Counter(report.kind for report in reports)
        self.graphs, self.backward_graphs = kinds[FORWARD], kinds[BACKWARD]
        self.transfers = sum(report.transfers for report in reports)

    def save(self, folder: Path) -> Path:
        """Writes a file of the model's name; "/" in it is a folder."""
        path = folder / (self.model + SUFFIX)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(asdict(self), indent=1) + "\n")
        return path

    @classmethod
    def load(cls, path: Path) -> Metrics:
        """Returns what `save` wrote.

        Raises:
            ValueError: the file does not hold metrics; names the file and the field.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
        known = {f.name for f in fields(cls)}
        if not isinstance(found, dict) or not isinstance(found.get("model"), str):
            raise ValueError(f"{path}: has no field 'model'")
        if strange := sorted(found.keys() - known):
            raise ValueError(f"{path}: field {strange[0]!r} is not known; known: {', '.join(sorted(known))}")
        return cls(**found)


def tensors(value: Any) -> list[Tensor]:
    """Returns all tensors of a model's result, those of key-value caches included, in order."""
    if hasattr(value, "to_tuple"):  # an output of transformers
        value = value.to_tuple()
    found: list[Tensor] = []
    for leaf in tree_leaves(value):
        if isinstance(leaf, Tensor):
            found.append(leaf.detach())
        elif hasattr(leaf, "layers"):  # a cache of transformers
            kept = [x for layer in leaf.layers for x in (layer.keys, layer.values)]
            found += [x.detach() for x in kept if isinstance(x, Tensor)]
    return found


def accuracy(expected: Sequence[Tensor], found: Sequence[Tensor]) -> float:
    """Returns how well two results agree, in percent: the least over their tensors.

    Of floats the correlation (Pearson), or, where all values are alike up to rounding, 100 when they are within the
    tolerance of their type and 0 when not; of integers and booleans the share that is equal. 0 where numbers, shapes or
    places of NaN and Inf differ.
    """
    if len(expected) != len(found):
        return 0.0
    least = 1.0
    for a, b in zip(expected, found, strict=True):
        if a.shape != b.shape:
            return 0.0
        if not a.numel():
            continue
        if not a.dtype.is_floating_point:
            least = min(least, float((a == b).double().mean()))
            continue
        result = compare(a, b)
        agreement = float(result.near) if result.note else max(result.pcc, 0.0)
        least = min(least, 0.0 if result.problem else agreement)
    return 100.0 * least


def called(model: Callable[..., Any], inputs: Any) -> Any:
    """Returns the model of its inputs: keyword arguments of a mapping, positional ones of a tuple or list, or the only
    one."""
    if isinstance(inputs, Mapping):  # a BatchEncoding of transformers is none of dict
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple | list) else model(inputs)


class Compiled:
    """`model` on the chip: a module, a function, or the method `generate` of a module, whose `forward` is compiled."""

    def __init__(self, model: Callable[..., Any], options: Options | None = None) -> None:
        self.owner: Any = getattr(model, "__self__", None)
        self.model = model
        owner: Any = self.owner
        forward = owner.forward if self.is_method else model
        chosen: Any = options  # the backend takes its own class, too
        self.compiled = torch.compile(forward, backend=backend, options=chosen)

    @property
    def is_method(self) -> bool:
        return isinstance(self.owner, torch.nn.Module) and getattr(self.model, "__name__", "") != "forward"

    def __call__(self, inputs: Any) -> Any:
        if not self.is_method:
            return called(self.compiled, inputs)
        self.owner.forward = self.compiled
        try:
            return called(self.model, inputs)
        finally:
            del self.owner.forward


def differentiate(result: Any, model: Callable[..., Any]) -> None:
    """Runs the backward graph, if there is one, without leaving gradients behind."""
    results = [t for t in tree_leaves(result) if isinstance(t, Tensor) and t.requires_grad]
    weights = [p for p in model.parameters() if p.requires_grad] if isinstance(model, torch.nn.Module) else []
    if results and weights:
        torch.autograd.grad(results[0].sum(), weights, allow_unused=True)


def median_ms(work: Callable[[], object], seconds: float, most: int = 50) -> float:
    """Returns the time of calls for about `seconds`, at least one."""
    times: list[float] = []
    while not times or (sum(times) < 1e3 * seconds and len(times) < most):
        started = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times)


def measure(
    name: str,
    model: Callable[..., Any],
    inputs: Any,
    options: Options | None = None,
    seconds: float = 1.0,
    seed: int = 0,
) -> Metrics:
    """Runs a model uncompiled and compiled, with the same random numbers.

    Args:
        name: of the model in tables.
        model: a module, a function, or the method `generate` of a module.
        inputs: a tensor, a tuple or list of arguments, or a mapping of keyword arguments.
        seconds: to spend on each side's timing.
    Returns:
        Metrics; where the compiled model fails, with the error.
    Raises:
        Exception: what the model itself raises.
    """
    metrics = Metrics(name)

    def seeded(run: Callable[[], Any]) -> Any:
        torch.manual_seed(seed)
        return run()

    with torch.random.fork_rng(devices=[]):
        expected = tensors(seeded(lambda: called(model, inputs)))
        metrics.original_ms = median_ms(lambda: called(model, inputs), seconds)
        compiled = Compiled(model, options)
        with record() as reports:
            try:
                started = time.perf_counter()
                result = seeded(lambda: compiled(inputs))
                metrics.first_ms = 1e3 * (time.perf_counter() - started)
                differentiate(result, model)
                found = tensors(result)
                metrics.compiled_ms = median_ms(lambda: compiled(inputs), seconds)
                metrics.accuracy = accuracy(expected, found)
            except Exception as error:
                metrics.error = f"{type(error).__name__}: {error}".strip()
        metrics.add(reports)
    if metrics.accuracy is not None and not math.isfinite(metrics.accuracy):
        raise AssertionError(f"{name}: accuracy is {metrics.accuracy}")
    return metrics
