# SPDX-License-Identifier: Apache-2.0
"""Compiling and running: verdicts, reports, artefacts, meshes."""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from typing import ClassVar

import _ttmlir_runtime as tt_runtime
import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_shlo,
    compile_and_execute_ttir,
    compile_and_execute_ttnn,
    compile_ttir_module_to_flatbuffer,
    compile_ttir_to_flatbuffer,
    load_mlir_file,
    split_mlir_file,
)
from builder.base.builder_runtime import check_outputs, execute_fb
from builder.base.builder_utils import DeferredDevice
from builder.base.errors import TTBuilderCompileException, TTBuilderGoldenException, TTBuilderRuntimeException
from builder.execution.verdicts import Verdict
from golden import compare

F32 = torch.float32


def of(body, shapes=((32, 32),), dtypes=None):
    def module(builder):
        @builder.func(list(shapes), list(dtypes or [F32] * len(shapes)))
        def f(*arguments):
            return body(*arguments)

    return module


@pytest.fixture
def device():
    options = tt_runtime.runtime.MeshDeviceOptions()
    options.mesh_shape = (1, 1)
    opened = tt_runtime.runtime.open_mesh_device(options)
    yield opened
    tt_runtime.runtime.close_mesh_device(opened)


@pytest.mark.parametrize("run", [compile_and_execute_ttir, compile_and_execute_ttnn, compile_and_execute_shlo])
@pytest.mark.parametrize("dtype", [F32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(32, 32), (3, 33), (1,), (2, 3, 5, 7)], ids=str)
def test_every_dialect_runs(run, dtype, shape):
    report = run(of(lambda x, y, b: b.tanh(b.add(x, y)), [shape, shape], [dtype] * 2), check_atol=True, check_rtol=True,
                 enable_intermediate_verification=True)  # fmt: skip
    assert report.passed and len(report.programs[0].intermediates) == 2


def test_programs_run_one_after_another(device):
    def module(builder):
        for name in ("first", "second"):

            def f(x, b):
                return b.sigmoid(x)

            f.__name__ = name
            builder.func([(32, 32)], [F32])(f)

    report = compile_and_execute_ttir(module, device=device)
    assert [p.name for p in report] == ["first", "second"]


def test_nested_functions_are_compared_through_their_calls():
    def body(x, b):
        def inner(y, b):
            return b.exp(y)

        return b.call(inner, [b.call(inner, [b.sigmoid(x)])])

    report = compile_and_execute_ttir(of(body), enable_intermediate_verification=True)
    assert {r.op for r in report.programs[0].intermediates} == {"ttir.sigmoid", "ttir.exp"}
    assert len(report.programs[0].intermediates) == 3


def test_a_wrong_golden_names_op_location_and_errors():
    def body(x, b):
        y = b.sigmoid(x)
        b.set_operand_goldens({y: torch.randn(32, 32, generator=torch.Generator().manual_seed(0))})
        return b.exp(y)

    with pytest.raises(TTBuilderGoldenException, match=r"ttir.sigmoid at .*test_execute.py:\d+: PCC .*largest error"):
        compile_and_execute_ttir(of(body), enable_intermediate_verification=True)


@pytest.mark.parametrize(
    ("found", "options", "accepted"),
    [
        ([2.0, 4.0, 6.0], {}, True),  # a factor: PCC is 1
        ([2.0, 4.0, 6.0], {"check_atol": True, "check_rtol": True}, False),
        ([2.0, 4.0, 6.0], {"check_rtol": True, "rtol": 1.1}, True),
        ([1.0, 2.0, 3.0 + 1e-6], {"check_atol": True}, True),
        ([3.0, 2.0, 1.0], {}, False),
        ([3.0, 2.0, 1.0], {"check_pcc": False}, True),
        ([1.0, 2.0, float("nan")], {"check_pcc": False}, False),
    ],
)
def test_verdicts(found, options, accepted):
    verdict = Verdict(**options)
    golden = torch.tensor([1.0, 2.0, 3.0])
    assert verdict.accepts(verdict.compare(golden, torch.tensor(found))) is accepted


def test_check_outputs_requires_the_dtype():
    with pytest.raises(TTBuilderGoldenException, match=r"dtype torch\.int32, expected torch\.float32"):
        check_outputs(torch.ones(2), torch.ones(2, dtype=torch.int32), "out", 0.99, None, None, True, False, False)
    assert check_outputs(torch.tensor([1, 2]), torch.tensor([1, 2], dtype=torch.int32), "out", 0.99, None, None, True,
                         True, True).pcc == compare(torch.ones(1), torch.ones(1)).pcc  # fmt: skip


def test_bypass_gives_later_ops_the_golden():
    value = torch.rand(32, 32)

    def body(x, b):
        y = b.sigmoid(x)
        b.set_operand_goldens({y: value})
        b.bypass(y)
        return b.exp(y)

    assert compile_and_execute_ttir(of(body)).passed


def test_a_value_that_no_op_computes_cannot_be_replaced():
    module, builder = build_module(of(lambda x, b: b.exp(x)), "ttir")
    binary, programs, intermediates = compile_ttir_module_to_flatbuffer(module, builder)
    with pytest.raises(TTBuilderRuntimeException, match="bypass: no op of the binary computes the value of op 99; "):
        execute_fb(binary, programs, intermediates, bypass_ops=["99"])
    assert execute_fb(binary, programs, intermediates, bypass_ops=["0"]).passed


def test_error_of_a_misfit_names_missing_memory():
    for size, message in ((2**16, r"out of DRAM .* result of op 0 \(ttnn\.full\) .* free per bank are"),
                          (2**20, "has 4398046511104 bytes; the limit of host memory is")):  # fmt: skip
        with pytest.raises(TTBuilderRuntimeException, match=message):
            compile_and_execute_ttir(of(lambda x, b, size=size: b.full(shape=[size, size], fill_value=1.0)))


def test_a_failed_output_names_the_op_that_makes_it():
    def body(x, b):
        y = b.exp(x)
        b.set_operand_goldens({y: torch.zeros(32, 32)})
        return y

    with pytest.raises(TTBuilderGoldenException, match=r"output_0 \(ttir\.exp at .*test_execute\.py:\d+\): PCC 0\."):
        compile_and_execute_ttir(of(body))


def test_memory_of_every_op_of_every_program():
    def module(builder):
        for name in ("first", "second"):

            def function(x, builder):
                return builder.exp(x)

            function.__name__ = name
            builder.func([(32, 32)], [torch.float32])(function)

    compile_and_execute_ttir(module, dump_memory=True, output_root="out")
    entries = json.loads(Path("out/TTIRBuilder-builder-artifacts/test/memory.json").read_text())
    assert [(e["program"], e["op"]) for e in entries] == [("first", "ttnn.exp"), ("second", "ttnn.exp")]
    assert entries[0]["memories"]["DRAM"]["new"]


def test_reports_are_tables_and_json():
    report = compile_and_execute_ttir(of(lambda x, b: b.exp(x)), enable_intermediate_verification=True)
    assert "ttir.exp" in str(report) and "output_0" in str(report)
    data = json.loads(report.to_json())
    assert data["passed"] and data["programs"][0]["records"][0]["comparison"]["pcc"] == pytest.approx(1.0)


def test_artefacts_and_the_path_as_input(tmp_path):
    _, path, goldens, intermediates = compile_ttir_to_flatbuffer(of(lambda x, b: b.exp(x)))
    assert Path(path) == Path("ttir-builder-artifacts/ttnn/test_ttnn.mlir.ttnn") and Path(path).stat().st_size
    assert [str(p) for p in Path().iterdir()] == ["ttir-builder-artifacts"]
    assert execute_fb(path, goldens, intermediates).passed
    assert execute_fb(Path(path).read_bytes(), {0: dict(goldens[0])}).passed
    _, other, _, _ = compile_ttir_to_flatbuffer(of(lambda x, b: b.exp(x)), output_root=str(tmp_path / "there"))
    assert Path(other).is_file() and "there" in other


def test_save_artifacts_and_memory():
    compile_and_execute_ttir(of(lambda x, b: b.exp(x)), save_artifacts=True, dump_memory=True, test_base="case")
    folder = Path("TTIRBuilder-builder-artifacts/case")
    names = {p.name for p in folder.iterdir()}
    assert {"test_ttir.mlir", "ttnn_compiled.mlir", "test_ttnn.mlir.ttnn", "golden_report.json", "memory.json"} <= names
    assert json.loads((folder / "memory.json").read_text())[0]["memories"]["DRAM"]["allocated_bytes_per_bank"] > 0


def test_disable_golden_and_skip_exec():
    assert compile_and_execute_ttir(of(lambda x, b: b.exp(x)), disable_golden=True).records == []
    assert compile_and_execute_ttir(of(lambda x, b: b.exp(x)), skip_exec=True).programs == []


@pytest.mark.parametrize(
    ("options", "message"),
    [({"target": "emitd"}, "no target 'emitd'; did you mean 'emit"),
     ({"pipeline_options": ["no-such-option=1"]}, "no-such-option")],
)  # fmt: skip
def test_compile_errors(options, message):
    with pytest.raises(TTBuilderCompileException, match=message):
        compile_and_execute_ttir(of(lambda x, b: b.exp(x)), **options)


def test_runtime_errors():
    with pytest.raises(TTBuilderRuntimeException, match=r"nothere\.ttnn"):
        execute_fb("nothere.ttnn")
    module, builder = build_module(of(lambda x, b: b.exp(x)), "ttir")
    compiled, _, _ = compile_ttir_module_to_flatbuffer(module, builder)
    with pytest.raises(TTBuilderRuntimeException, match="takes 1 inputs, 2 were given"):
        execute_fb(compiled, {0: {"input_0": torch.ones(32, 32), "input_1": torch.ones(32, 32)}})


def test_compiling_leaves_the_module_alone():
    module, builder = build_module(of(lambda x, b: b.exp(x)), "ttir")
    before = module.operation.get_asm(enable_debug_info=True)
    compile_ttir_module_to_flatbuffer(module, builder)
    assert module.operation.get_asm(enable_debug_info=True) == before


def test_split_parts_run():
    text = str(build_module(of(lambda x, b: b.softmax(b.matmul(x, x), dimension=1)), "ttir")[0])
    module, builder = load_mlir_file(text)
    for part, part_builder in split_mlir_file(module, builder):
        assert execute_fb(*compile_ttir_module_to_flatbuffer(part, part_builder)).passed


def test_meshes():
    def body(x, b):
        shard = b.mesh_shard(x, "devices", "full_to_shard", (2, 4), (0, 1))
        gathered = b.all_gather(b.exp(shard), all_gather_dim=1, cluster_axis=1)
        return b.mesh_shard(gathered, "devices", "shard_to_full", (2, 1), (0, -1))

    mesh = OrderedDict([("x", 2), ("y", 4)])
    report = compile_and_execute_ttir(of(body, [(64, 128)]), mesh_dict=mesh, enable_intermediate_verification=True)
    assert report.passed and {r.device for r in report.records} == set(range(8))


def test_presharded_arguments():
    def body(x, b):
        b.preshard_arg(x, shard_dims=(-1, 1))
        shard = b.mesh_shard(x, "identity", "full_to_shard", (1, 2), (-1, 1))
        return b.mesh_shard(b.exp(shard), "devices", "shard_to_full", (1, 2), (-1, 1))

    assert compile_and_execute_ttir(of(body, [(32, 128)]), mesh_dict=OrderedDict([("x", 1), ("y", 2)])).passed


@pytest.mark.parametrize("target", ["ttnn", "ttmetal"])
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**32, 2**63 - 1])
def test_64_bit_inputs_that_do_not_fit_are_refused(target, value):
    def module(builder):
        @builder.func([(4,)], [torch.int64])
        def f(x, builder):
            builder.set_goldens(inputs={x: torch.tensor([0, 1, value, 3])})
            return builder.add(x, x)

    with (
        pytest.warns(UserWarning, match="64-bit integers"),
        pytest.raises(
            TTBuilderRuntimeException,
            match=rf"input 0: int64\[4\] has the value {value}; the chip holds 64-bit integers in 32",
        ),
    ):
        compile_and_execute_ttir(module, target=target)


def test_a_deferred_device_is_opened_for_the_run():
    class Counted(DeferredDevice):
        calls: ClassVar[list[str]] = []

        def prepare(self):
            self.calls.append("prepare")

        def open(self):
            self.calls.append("open")
            return tt_runtime.runtime.open_mesh_device(tt_runtime.runtime.MeshDeviceOptions())

        def close(self, device):
            self.calls.append(f"close {device.is_open}")
            tt_runtime.runtime.close_mesh_device(device)

    compile_and_execute_ttir(of(lambda x, b: b.exp(x)), device=DeferredDevice())
    compile_and_execute_ttir(of(lambda x, b: b.exp(x)), device=Counted("request"))
    assert Counted.calls == ["prepare", "open", "close True"]

    class Wrong(DeferredDevice):
        def open(self):
            return 3

    with pytest.raises(TypeError, match=r"DeferredDevice.open: device is 3 of type int; expected an open mesh device"):
        compile_and_execute_ttir(of(lambda x, b: b.exp(x)), device=Wrong())


def test_the_golden_of_an_argument_is_set_by_the_name_of_other_programs():
    def body(x, b):
        b._set_golden_tensor(x, torch.full((32, 32), 2.0))
        return b.exp(x)

    _, builder = build_module(of(body), "ttir")
    goldens = builder.golden_map[0]
    assert torch.equal(goldens[0]["input_0"].shard_at(0), torch.full((32, 32), 2.0))
    assert torch.allclose(goldens[0]["output_0"].shard_at(0), torch.full((32, 32), 2.0).exp())
    assert compile_and_execute_ttir(of(body)).passed
