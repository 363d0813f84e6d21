# SPDX-License-Identifier: Apache-2.0
"""Functions of `ttmlir.passes` and `ttmlir.util` by the names of the ecosystem."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from builder.base.builder_apis import build_module
from ttmlir import passes, util
from ttmlir.ir import Context, Location, MLIRError, Module

TEXT = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_the_log_of_a_module():
    context = Context()
    module = Module.parse(TEXT, context)
    log = passes.MLIRModuleLogger()
    log.attach_context(context, ["canonicalize", "ttnn-layout"])
    passes.ttir_to_ttnn_backend_pipeline(module)
    names = [name for name, _ in log.module_log]
    assert set(names) == {"canonicalize", "ttnn-layout"} or names == ["ttnn-layout"]
    layouts = dict(log.module_log)["ttnn-layout"]
    assert "#ttnn.ttnn_layout" in layouts and "ttir.exp" in layouts and "loc(" in layouts
    Module.parse(layouts, Context())
    whole = passes.MLIRModuleLogger()
    whole.attach_context(context)  # takes the place of the other
    passes.run_pass(module, "cse")
    assert [name for name, _ in whole.module_log] == ["cse"] and len(log.module_log) == len(names)
    del whole
    passes.run_pass(module, "cse")


def test_a_log_outlives_its_context():
    log = passes.MLIRModuleLogger()
    context = Context()
    log.attach_context(context)
    passes.run_pass(Module.parse(TEXT, context), "cse")
    del context
    assert "ttir.exp" in log.module_log[0][1]


def test_types_of_arguments():
    module = Module.parse(TEXT, Context())
    passes.tt_populate_argument_types(module, "f=parameter")
    assert "argument_type<parameter>" in str(module)
    with pytest.raises(MLIRError, match="nosuch"):
        passes.tt_populate_argument_types(module, "nosuch=input")


def network(b):
    @b.func([(32, 32)], [torch.float32])
    def f(x, b):
        return b.exp(x)


@pytest.mark.parametrize(("pipeline", "translate", "found"), [
    (passes.ttir_to_emitc_pipeline, passes.translate_to_cpp, "ttnn::exp"),
    (passes.ttir_to_emitpy_pipeline, passes.translate_to_python, "ttnn.exp"),
    (passes.ttir_to_ttmetal_backend_pipeline, passes.ttkernel_to_cpp, "exp_tile"),
])  # fmt: skip
def test_code(pipeline, translate, found, tmp_path):
    module = build_module(network, "ttir")[0]
    pipeline(module)
    assert found in translate(module)
    if translate is passes.ttkernel_to_cpp:
        passes.ttkernel_to_cpp_file(module, tmp_path / "kernels.cpp")
        assert (tmp_path / "kernels.cpp").read_text() == translate(module)


def test_golden_tensors():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    golden = passes.GoldenTensor("g", [2, 3], [3, 1], passes.lookup_dtype("Float32"), values.ctypes.data, 24)
    assert golden.data == values.tobytes() and golden.dtype == passes.DataType.Float32 == 0
    module = build_module(network, "ttir")[0]
    passes.ttir_to_ttnn_backend_pipeline(module)
    passes.ttnn_to_flatbuffer_file(module, "a.ttnn", {"loc": {0: golden}}, [("pass", str(module))])
    passes.ttnn_to_flatbuffer_file(module, "b.ttnn")
    with open("a.ttnn", "rb") as a, open("b.ttnn", "rb") as b:
        assert a.read() == b.read()
    with pytest.raises(ValueError, match="'Float3'; expected one of Float32, "):
        passes.lookup_dtype("Float3")
    with pytest.raises(ValueError, match="g: 4 bytes at address 0"):
        passes.GoldenTensor("g", [1], [1], passes.DataType.Float32, 0, 4)


def test_locations(capsys):
    with Context(), Location.unknown():
        module = Module.parse(TEXT)
        file = Location.file("a.py", 3, 4)
        fused = Location.fused([file, Location.name("x")])
        assert util.get_loc_full(file) == 'loc("a.py":3:4)'
        assert [str(part) for part in util.get_fused_locations(fused)] == ['loc("a.py":3:4)', 'loc("x")']
        assert util.get_fused_locations(file) == []
        util.debug_print_module(module)
        assert "loc(" in capsys.readouterr().out


def test_ops_return_their_results():
    with Context():
        module = Module.parse(TEXT)
        ops = module.body.operations[0].regions[0].blocks[0].operations
        assert [util.is_dps(op.operation) for op in ops] == [False, False]
