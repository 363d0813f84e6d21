# SPDX-License-Identifier: Apache-2.0
"""Modules of one op of TTIR, TTNN, StableHLO and sdy: what breaks a constraint is refused with a message that names the
op, what is at the edge of valid is accepted, and printed text is parsed to the same module."""

from __future__ import annotations

import random
from collections.abc import Iterator

import broken_modules
import pytest
from broken_modules import DIALECTS, INSIDE, Checker, Instance
from ttmlir.op_facts import description

pytestmark = pytest.mark.long
QUICK = 600  # modules of each kind; with --slow all of them, more than 5,000
# Ops that no module of the tests and tables has by itself.
WITHOUT_INSTANCE = {
    "stablehlo.case": "uses values around it", "stablehlo.if": "uses values around it",
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(request: pytest.FixtureRequest) -> dict[str, list[Instance]]:
    found: dict[str, list[Instance]] = {}
    broken_modules.add_instances(found, OWN)
    broken_modules.add_instances(found, broken_modules.texts_of_tests())
    known = {} if request.config.getoption("--slow") else found
    broken_modules.add_instances(found, broken_modules.texts_of_tables(known))
    return found


# Ops that neither tests of dialects nor op tables have with all attributes.
CONFIG = "input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<row_major>"  # noqa: E501
WINDOW = "in_channels = 4 : i32, out_channels = 6 : i32, batch_size = 1 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 1, 1>, dilation = array<i32: 1, 1>"  # noqa: E501
REST = "groups = 1 : i32, input_dtype = #ttcore.supportedDataTypes<f32>"
OWN = [
    f"""
func.func @f(%w: tensor<6x4x3x3xf32>, %t: tensor<4x6x3x3xf32>, %b: tensor<1x1x1x6xf32>, %d: !ttnn.device) {{
  %0 = "ttnn.prepare_conv2d_weights"(%w, %d) <{{{CONFIG}, weights_format = "OIHW", {WINDOW}, has_bias = true, {REST}}}>
      : (tensor<6x4x3x3xf32>, !ttnn.device) -> tensor<1x1x36x6xf32>
  %1 = "ttnn.prepare_conv2d_bias"(%b, %d) <{{{CONFIG}, {WINDOW}, {REST}}}>
      : (tensor<1x1x1x6xf32>, !ttnn.device) -> tensor<1x1x1x6xf32>
  %2 = "ttnn.prepare_conv_transpose2d_weights"(%t, %d) <{{{CONFIG}, weights_format = "IOHW", {WINDOW}, has_bias = true, {REST}}}>
      : (tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x36x6xf32>
  %3 = "ttnn.prepare_conv_transpose2d_bias"(%b, %d) <{{{CONFIG}, {WINDOW}, {REST}}}>
      : (tensor<1x1x1x6xf32>, !ttnn.device) -> tensor<1x1x1x6xf32>
  return
}}""",  # noqa: E501
    """
func.func @f(%x: tensor<2x3xf32>) {
  %0 = "ttir.alloc"() <{address = 64 : i64, size = 4096 : i64, memory_space = #ttcore.memory_space<l1>}> : () -> tensor<2x3xf32>
  "ttir.dealloc"(%x) : (tensor<2x3xf32>) -> ()
  return
}""",  # noqa: E501
]


def chosen(
    modules: Iterator[tuple[str, str, Instance]], seed: int | str, slow: bool
) -> list[tuple[str, str, Instance]]:
    """Returns all modules, or a sample in which every op and every kind of change may be."""
    found = list(modules)
    assert len(found) >= 5000
    return found if slow else random.Random(f"{seed}").sample(found, min(QUICK, len(found)))


def all_instances(corpus: dict[str, list[Instance]]) -> list[Instance]:
    return [instance for _, instances in sorted(corpus.items()) for instance in instances]


def test_almost_every_op_is_there(corpus: dict[str, list[Instance]]) -> None:
    names = [name for name in description()["ops"] if name.partition(".")[0] in DIALECTS]
    missing = {name for name in names if name not in corpus}
    assert set(WITHOUT_INSTANCE) | set(INSIDE) <= missing
    # Semaphores, programs that record, casts between dialects: their tests verify whole modules.
    assert len(missing) <= 13 and len(names) > 500, sorted(missing)


def test_broken_modules_are_refused(
    corpus: dict[str, list[Instance]], seed: int, request: pytest.FixtureRequest
) -> None:
    checker = Checker()
    accepted: list[str] = []
    silent: list[str] = []
    modules = chosen(broken_modules.broken(all_instances(corpus), seed), seed, request.config.getoption("--slow"))
    for breaker, what, instance in modules:
        error = checker.error_of(instance.text())
        if error is None and not broken_modules.stays_valid(breaker, instance, what):
            accepted.append(f"{instance.name} {breaker}: {what}")
        # A parser that stops at an attribute or type says where; everything else names the op.
        elif error is not None and "error: " not in error:
            silent.append(f"{instance.name} {breaker}: {what}: {error}")
    assert not accepted, f"{len(accepted)} of {len(modules)} are accepted:\n" + "\n".join(accepted[:40])
    assert not silent, "\n".join(silent[:20])


def test_modules_at_the_edge_are_accepted(
    corpus: dict[str, list[Instance]], seed: int, request: pytest.FixtureRequest
) -> None:
    """Printed in both forms and parsed, they are the same."""
    checker = Checker()
    wrong: list[str] = []
    modules = chosen(broken_modules.valid(all_instances(corpus), seed), seed, request.config.getoption("--slow"))
    for edge, what, instance in modules:
        if "dense_resource" in str(instance.properties):
            continue  # each parse gives the resource a name of its own
        difference = checker.round_trip(instance.text())
        if difference:
            wrong.append(f"{instance.name} {edge} {what}: {difference}")
    assert not wrong, f"{len(wrong)} of {len(modules)}:\n" + "\n".join(wrong[:20])


def test_a_change_that_breaks_nothing_is_seen() -> None:
    """The tests above would fail for a verifier that accepts too much, or too little."""
    text = (
        'func.func @f(%x: tensor<2x3xf32>) {\n  %0 = "ttir.abs"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return\n}'
    )
    found: dict[str, list[Instance]] = {}
    broken_modules.add_instances(found, [text])
    (instance,) = found["ttir.abs"]
    checker = Checker()
    assert checker.round_trip(instance.text()) is None
    wider = instance.replaced(results=("tensor<2x4xf32>",))
    assert "expected shape 2x3" in str(checker.error_of(wider.text()))
    assert checker.round_trip(wider.text()) is not None
    assert not broken_modules.stays_valid("shape_of_result", instance, "result 0 is larger in 1")


def test_every_exception_is_one(corpus: dict[str, list[Instance]], request: pytest.FixtureRequest) -> None:
    """Exceptions match changes that are accepted."""
    checker = Checker()
    used: set[tuple[str, str]] = set()
    for breaker, what, instance in broken_modules.broken(all_instances(corpus), 0):
        if broken_modules.stays_valid(breaker, instance, what) and checker.error_of(instance.text()) is None:
            used.update(
                (breaker, pattern)
                for pattern in broken_modules.VALID[breaker]
                if broken_modules.re.fullmatch(pattern, f"{instance.name} {what}")
            )
    assert used == {(breaker, pattern) for breaker, patterns in broken_modules.VALID.items() for pattern in patterns}
