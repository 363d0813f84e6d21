# SPDX-License-Identifier: Apache-2.0
"""Decisions where PCC says nothing: values that vary by rounding only, and positions of equal elements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_ttir,
    compile_module_to_flatbuffer,
    compile_ttir_to_flatbuffer,
    execute_cpp,
    execute_py,
)
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderGoldenException
from builder.execution.verdicts import Verdict, checked
from ttrt.__main__ import main as ttrt

F32, BF16 = torch.float32, torch.bfloat16
RUN = {"ttnn": execute_fb, "emitpy": execute_py, "emitc": execute_cpp}


def of(body: Callable[..., Any], shape: tuple[int, ...], dtype: torch.dtype = F32) -> Callable[[Any], None]:
    def module(builder: Any) -> None:
        @builder.func([shape], [dtype])
        def f(x: Any, b: Any) -> Any:
            return body(x, b)

    return module


def sums(x: Any, b: Any) -> Any:
    return b.sum(b.softmax(x, dimension=0, numeric_stable=True), dim_arg=[0])


def normed(x: Any, b: Any) -> Any:
    """Groups of elements that are all equal: what is left is rounding, multiplied by 300."""
    wide = b.upsample2d(x, scale_factor=[3, 2], mode="nearest")
    return b.reshape(b.group_norm(b.multiply(wide, wide), num_groups=4, channel_dim=3), [128, 24])


# Correct, and all but constant: body, shape of the argument, dtype.
CONSTANT = {
    "sums": (sums, (32, 9), F32),
    "sums in bf16": (sums, (32, 9), BF16),
    "a number": (lambda x, b: b.sum(b.exp(x)), (33, 5), F32),
    "a number in bf16": (lambda x, b: b.sum(b.exp(x)), (33, 5), BF16),
    "groups of equals": (normed, (128, 1, 1, 4), F32),
    "zeros": (lambda x, b: b.subtract(x, x), (5, 7), F32),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", RUN)
@pytest.mark.parametrize("name", CONSTANT)
def test_nearly_constant_values(name: str, target: str) -> None:
    """They are accepted as they are, and refused with an offset or a factor."""
    body, shape, dtype = CONSTANT[name]
    module, builder = build_module(of(body, shape, dtype), "ttir")
    compiled, programs, _ = compile_module_to_flatbuffer(module, builder, target=target, save_artifacts=True)
    assert RUN[target](compiled, programs).passed
    golden, producer = programs[0]["output_0"].shard_at(0), programs[0].producers["output_0"]
    size = max(1.0, float(golden.abs().max()))
    other = golden.flip(0)  # rounding errors of its own
    for wrong in (other + 0.5 * size, other * 1.5 if float(golden.abs().max()) > 0.5 else other - 0.25):
        found = checked(golden, wrong.to(dtype), Verdict(), True, producer)
        assert not Verdict().accepts(found)
        with pytest.raises(TTBuilderGoldenException, match="largest error"):
            RUN[target](compiled, {0: {"input_0": programs[0]["input_0"], "output_0": wrong.to(dtype)}})
    assert "tolerances decide, not PCC" in found.note


def test_the_report_says_what_decided() -> None:
    report = compile_and_execute_ttir(of(sums, (32, 9)), enable_intermediate_verification=True)
    (record,) = report.programs[0].outputs
    assert record.comparison.note.startswith("the golden varies by rounding only (")
    assert record.comparison.note in report.to_json()
    if record.comparison.pcc < report.pcc:
        assert f"output_0: {record.comparison.note}"[:40] in str(report)
    assert not report.programs[0].intermediates[0].comparison.note


def test_small_values_are_no_constant() -> None:
    """Values of 1e-6 with a spread of their own are compared by PCC: near 0 is not good enough."""
    golden = torch.randn(1000) * 1e-6
    verdict = Verdict()
    assert verdict.accepts(checked(golden, golden * (1 + 1e-6), verdict, True))
    assert not verdict.accepts(checked(golden, torch.randn(1000) * 1e-6, verdict, True))
    assert not verdict.accepts(checked(torch.tensor(1e-6), torch.tensor(2e-6), verdict, True))


def ranked(x: Any, b: Any) -> Any:
    _, places = b.topk(x, k=9, dim=1)
    return places


POSITIONS = {
    "topk": (ranked, (4, 300), BF16),
    "topk of the least": (lambda x, b: b.topk(x, k=9, dim=0, largest=False)[1], (300, 4), BF16),
    "sort": (lambda x, b: b.sort(x, dim=0)[1], (300, 4), BF16),
    "sort of computed values": (lambda x, b: b.sort(b.exp(x), dim=-1, descending=True)[1], (4, 300), BF16),
    "argmax": (lambda x, b: b.argmax(x, dim_arg=[1], keep_dim=True), (3, 900), BF16),
    "argmax of all": (lambda x, b: b.argmax(x), (30, 90), BF16),
    "in a function": (lambda x, b: b.call(ranked, [x]), (4, 300), BF16),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions_of_equal_elements(name: str) -> None:
    """Any of equal elements will do, but none twice, none that is another, and none outside."""
    body, shape, dtype = POSITIONS[name]
    _, builder = build_module(of(body, shape, dtype), "ttir")
    source = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(0)).to(dtype)  # many equal ones
    builder.goldens.set_inputs("f", [builder.golden_map[0][0]["input_0"].map(lambda t: source)])
    program = builder.golden_map[0][0]
    golden, producer, verdict = program["output_0"].shard_at(0), program.producers["output_0"], Verdict()
    elements, *_ = producer.meaning(golden, golden, 0)
    flat = source.flatten() if name == "argmax of all" else source
    axis = {"argmax": 1, "argmax of all": 0}.get(name, builder_axis(body, shape))

    def judged(found: torch.Tensor) -> tuple[bool, str]:
        comparison = checked(golden, found, verdict, True, producer)
        return verdict.accepts(comparison), comparison.problem or comparison.note

    assert judged(golden) == (True, "")
    # The last of equal elements in the place of the first, and the first in that of the last.
    size = flat.shape[axis]
    mirrored = torch.flip(torch.arange(size), [0])
    other = mirror(name, body, source, mirrored, axis)
    assert not torch.equal(other, golden) and judged(other)[0], judged(other)
    assert "indices are other ones, of elements that are equal" in judged(other)[1]
    wrong = golden.clone()
    place = (0,) * wrong.dim()
    wrong[place] = int((flat.movedim(axis, 0).reshape(size, -1)[:, 0] != elements[place]).nonzero()[0])
    accepted, reason = judged(wrong)
    assert not accepted and ("stands for" in reason or "occurs twice" in reason), reason
    wrong[place] = size
    assert judged(wrong)[1].startswith(f"index {size} at ")
    if "argmax" not in name:
        twice = golden.clone()
        first, second = twice.movedim(axis, 0)[0], twice.movedim(axis, 0)[1]
        assert torch.equal(elements.movedim(axis, 0)[0], elements.movedim(axis, 0)[1])
        second.copy_(first)
        accepted, reason = judged(twice)
        assert not accepted and "occurs twice along dimension" in reason, reason


def builder_axis(body: Any, shape: tuple[int, ...]) -> int:
    return max(range(len(shape)), key=lambda d: shape[d])


def mirror(name: str, body: Any, source: torch.Tensor, mirrored: torch.Tensor, axis: int) -> torch.Tensor:
    """The golden of the same op on the reversed lines, as positions in the lines as they are."""
    _, builder = build_module(of(body, tuple(source.shape), source.dtype), "ttir")
    turned = torch.flip(source, [axis]) if name != "argmax of all" else torch.flip(source, [0, 1])
    builder.goldens.set_inputs("f", [builder.golden_map[0][0]["input_0"].map(lambda t: turned)])
    found = builder.golden_map[0][0]["output_0"].shard_at(0)
    return mirrored[found.long()].to(found.dtype)


def test_the_chip_and_the_golden_take_the_first() -> None:
    for body in (lambda x, b: b.topk(x, k=66, dim=0, largest=False), lambda x, b: b.sort(x, dim=0)):
        report = compile_and_execute_ttir(of(body, (100, 132), BF16), check_atol=True, check_rtol=True)
        assert all(r.comparison.max_abs == 0 for r in report.records)


def forgotten(builder: Any) -> None:
    @builder.func([(4, 5)], [torch.float32])
    def f(x: Any, builder: Any) -> None:
        builder.exp(x)


@pytest.mark.parametrize("target", ["ttnn", "ttmetal", "emitpy"])
def test_a_program_without_values_does_not_pass(target: str, tmp_path: Path) -> None:
    with pytest.raises(TTBuilderGoldenException, match="nothing was compared of program 'f': it gives no value"):
        compile_and_execute_ttir(forgotten, target=target, output_root=str(tmp_path))
    report = compile_and_execute_ttir(forgotten, target=target, output_root=str(tmp_path), disable_golden=True)
    assert not report.records


def test_commands_that_compare_nothing_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, path, *_ = compile_ttir_to_flatbuffer(forgotten, output_root=str(tmp_path))
    for arguments, reason in (
        (["run", path, "--golden"], '"f" gives no value: nothing was compared'),
        (["run", path, "--non-zero"], '"f" gives no value: nothing was compared'),
        (["compare", path, "--exact"], "nothing could be compared: its programs give no values"),
        (["compare", path, path], "nothing could be compared: the programs give no values"),
    ):
        assert ttrt(arguments) == 1, arguments
        assert reason in capsys.readouterr().err
    assert ttrt(["run", path]) == 0
