# SPDX-License-Identifier: Apache-2.0
"""How fast compiling is: BERT from TTIR text to a flatbuffer, by depth, with and without its weights; long chains."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from builder.base.builder_apis import build_module, compile_ttir_module_to_flatbuffer
from torch import Tensor
from ttmlir import ir, passes
from ttmlir.passmanager import PassManager

from .device import compiled
from .harness import Absent, Measure, Outcome, Result, Settings, median_of, once
from .models import ZOO, example

DEPTHS = (12, 24, 48)
PIPELINE = "builtin.module(ttir-to-ttnn-backend-pipeline)"
EXPORT = "torch.export"

layers: Any = example("models", "layers")
bert = example("models", "bert")


class Placeholders(layers.Layers):
    """Layers whose weights have a shape and no values yet."""

    def constant(self, value: Tensor) -> Any:
        return self.builder.zeros(list(value.shape), self.dtype)


def arguments_for_zeros(module: Any) -> None:
    """Every ttir.zeros of the only function becomes an argument that is a parameter, as a front end brings weights."""
    function = module.body.operations[0]
    block = function.regions[0].blocks[0]
    inputs = len(block.arguments)
    for op in [op for op in block.operations if op.operation.name == "ttir.zeros"]:
        result = op.operation.results[0]
        result.replace_all_uses_with(block.add_argument(result.type, op.operation.location))
        op.operation.erase()
    types = [argument.type for argument in block.arguments]
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, list(results)))
    kind = "#ttcore.argument_type<{}>"
    kinds = [ir.Attribute.parse(kind.format("input" if i < inputs else "parameter")) for i in range(len(types))]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"ttcore.argument_type": k}) for k in kinds])


def bert_text(depth: int) -> tuple[str, int]:
    """The encoder in TTIR, with its weights as arguments, and its number of ops."""
    sizes, input_sizes = ZOO["bert-base"].full
    with torch.device("meta"):  # no value is needed
        network = bert.Bert(**sizes, depth=depth)
    given = bert.inputs(**input_sizes)

    def build(builder: Any) -> None:
        @builder.func([tuple(x.shape) for x in given], [x.dtype for x in given])
        def main(*operands: Any) -> Any:
            *values, builder = operands
            return bert.build(Placeholders(builder, torch.float32), network, *values)

    module, _ = build_module(build, "ttir")
    with module.context, ir.Location.unknown():
        arguments_for_zeros(module)
        ops = sum(op.operation.name != "func.return" for op in module.body.operations[0].regions[0].blocks[0])
        return str(module), ops


def new_context() -> Any:
    """A context of its own for each run: what one compilation made unique does not help the next."""
    context = ir.Context()
    with context:
        ir.Module.parse("module {}")
    return context


def compile_text(text: str, passes_listed: bool = False) -> float:
    """Milliseconds from text to the flatbuffer's bytes."""
    context = new_context()

    def work() -> None:
        with context:
            module = ir.Module.parse(text)
            manager = PassManager.parse(PIPELINE)
            if passes_listed:
                manager.enable_timing()
            manager.run(module.operation)
            passes.ttnn_to_flatbuffer_bin(module)

    return once(work)


def from_text(settings: Settings) -> Iterator[Outcome]:
    """Ops per second over all, and by depth: what a further op costs must not grow with their number."""
    times: dict[int, tuple[float, int]] = {}
    for depth in DEPTHS:
        text, ops = bert_text(depth)
        with settings.quiet():
            compile_text(text)
            best = sorted(compile_text(text) for _ in range(9))
        times[ops] = (best[len(best) // 2], depth)
        if settings.passes and depth == DEPTHS[0]:
            print(f"passes of {ops} ops:", file=sys.stderr, flush=True)
            compile_text(text, passes_listed=True)
    first = next(iter(times))
    for ops, (ms, depth) in times.items():
        further = ""
        if ops != first:
            rate = (ms - times[first][0]) / (ops - first) * 1e3
            further = f"; each op after the first {first}: {rate:.1f} us"
        yield Measure(
            f"compile bert of {depth} layers",
            "f32",
            ops / ms * 1e3,
            "ops/s",
            ">= 20000",
            f"{ops} ops in {ms:.2f} ms{further}",
        )


def with_weights(settings: Settings) -> Iterator[Outcome]:
    """Compiles builder calls to the flatbuffer with weights; the peer compiles the same network to its own form."""
    model = ZOO["bert-base"]
    network, inputs = model.make()
    name = "build + compile bert-base"
    with settings.quiet():
        ours = median_of(lambda: compiled(model.on_chip(network, inputs, torch.float32)), 3)
    try:
        with settings.quiet():
            peer = median_of(lambda: torch.export.export(network, tuple(inputs)), 2)
    except Exception as error:
        yield Absent(name, "f32", EXPORT, f"{type(error).__name__}: {error}")
        yield Result(name, "f32", ours)
        return
    yield Result(name, "f32", ours, EXPORT, peer)


# Ops that no pattern folds or fuses into each other.
CYCLE = ("sigmoid", "exp", "tanh", "cos")
SHAPE = (32, 32)
SIZES = (100, 1000, 4000)


def chain(length: int) -> Callable[[Any], None]:
    def build(builder: Any) -> None:
        @builder.func([SHAPE], [torch.float32])
        def main(x: Any, builder: Any) -> Any:
            for i in range(length):
                x = getattr(builder, CYCLE[i % len(CYCLE)])(x)
            return x

    return build


def chains(settings: Settings) -> Iterator[Outcome]:
    """Builder calls, pipeline and flatbuffer of chains of ops, by length."""
    for length in SIZES:
        with settings.quiet():
            build_module(chain(length), "ttir")
            parts = []
            for _ in range(3):
                start = time.perf_counter()
                module, builder = build_module(chain(length), "ttir")
                middle = time.perf_counter()
                with contextlib.suppress(AttributeError):
                    builder.goldens.graph_level = True
                compile_ttir_module_to_flatbuffer(module, builder)
                parts.append((middle - start, time.perf_counter() - middle))
        build, lower = sorted(parts, key=sum)[1]
        yield Measure(
            f"build + compile a chain of {length}",
            "f32",
            length / (build + lower),
            "ops/s",
            "",
            f"{build / length * 1e6:.1f} us for a builder call, {lower / length * 1e6:.1f} us to compile an op",
        )


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    "compile bert": from_text,
    "build + compile bert-base": with_weights,
    "build + compile chains": chains,
}
