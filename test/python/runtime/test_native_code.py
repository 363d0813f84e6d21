# SPDX-License-Identifier: Apache-2.0
"""Machine code in flatbuffers runs only where whoever runs the program allows it, undamaged, on its kind of machine.

What ops compute there: test/python/ops/test_host_path.py.
"""

from __future__ import annotations

import json
import re

import _ttmlir_runtime as rt
import pytest
import torch
from ttmlir import ir, passes
from ttrt.__main__ import main

SIZES = iter(range(3, 1000))  # of each test's own: code that one test allows is allowed for the process


def hoisted() -> bytes:
    """exp(x) + x where the host computes exp, for a size that no other program has."""
    n = next(SIZES)
    text = f"""
    func.func @main(%x: tensor<{n}x7xf32>) -> tensor<{n}x7xf32> {{
      %0 = "ttir.exp"(%x) {{ttir.should_hoist}} : (tensor<{n}x7xf32>) -> tensor<{n}x7xf32>
      %1 = "ttir.add"(%0, %x) : (tensor<{n}x7xf32>, tensor<{n}x7xf32>) -> tensor<{n}x7xf32>
      return %1 : tensor<{n}x7xf32>
    }}"""
    with ir.Context():
        module = ir.Module.parse(text)
        passes.ttir_to_ttnn_backend_pipeline(module)
        return passes.ttnn_to_flatbuffer_bin(module)


def run(program, device) -> None:
    (shape,) = (each["desc"]["shape"] for each in json.loads(program.get_program_inputs_as_json(0)))
    given = torch.linspace(-2, 2, shape[0] * shape[1]).reshape(shape)
    placed = rt.runtime.to_layout(rt.runtime.create_host_tensor(given), device, rt.runtime.get_layout(program, 0, 0))
    (output,) = rt.runtime.submit(device, program, 0, [placed])
    found = torch.from_dlpack(rt.runtime.to_host(output)[0])
    torch.testing.assert_close(found, torch.exp(given) + given)


def test_it_runs_once_it_is_allowed(device):
    program = rt.binary.load_binary_from_bytes(hoisted())
    assert program.has_native
    with pytest.raises(rt.OpError, match=r'"cpu_hoisted_exp_0" is native code .* load the file with\s+allow_native'):
        run(program, device)
    program.allow_native()
    run(program, device)


def test_permission_is_for_one_code_only(device):
    rt.binary.load_binary_from_bytes(hoisted(), allow_native=True)
    with pytest.raises(rt.OpError, match="allow_native"):
        run(rt.binary.load_binary_from_bytes(hoisted()), device)


def test_programs_without_it_need_no_permission():
    with ir.Context():
        module = ir.Module.parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
        passes.ttir_to_ttnn_backend_pipeline(module)
        program = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module), allow_native=True)
    assert not program.has_native
    program.allow_native()


def test_damaged_code_is_refused():
    data = bytearray(hoisted())
    data[data.index(b"\x7fELF") + 100] ^= 1
    with pytest.raises(rt.BinaryError, match=r"native\.hash.* is not that of its code"):
        rt.binary.load_binary_from_bytes(bytes(data), allow_native=True)


def test_code_of_another_machine_is_refused(device):
    data = hoisted()
    at = data.rindex(b"x86_64")
    other = data[:at] + b"riscv6" + data[at + 6 :]
    program = rt.binary.load_binary_from_bytes(other, allow_native=True)
    with pytest.raises(rt.OpError, match=r"for riscv6-.*, and this machine is x86_64"):
        run(program, device)


def test_a_function_that_the_code_lacks(device):
    data = hoisted().replace(b":cpu_hoisted_exp_0", b":cpu_hoisted_exp_9")
    program = rt.binary.load_binary_from_bytes(data, allow_native=True)
    with pytest.raises(rt.OpError, match='has no function "cpu_hoisted_exp_9"'):
        run(program, device)


def test_tensors_of_other_sizes_are_refused(device):
    allowed = rt.binary.load_binary_from_bytes(hoisted(), allow_native=True)
    called = re.search(r"native:[0-9a-f]+:\w+", allowed.get_program_ops_as_json(0))
    assert called
    with ir.Context():
        module = ir.Module.parse(
            f"""func.func @main(%x: tensor<1x7xf32>) -> tensor<1x7xf32> {{
              %0 = "debug.host_call"(%x) <{{function = "{called[0]}"}}> : (tensor<1x7xf32>) -> tensor<1x7xf32>
              return %0 : tensor<1x7xf32>
            }}"""
        )
        passes.ttir_to_ttnn_backend_pipeline(module)
        program = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))
    with pytest.raises(rt.OpError, match=r"is for (\d+), \1 bytes of operands and results, and is given 28, 28"):
        run(program, device)


def with_a_call(name: str, element: str) -> ir.Module:
    """A lowered program with native code for exp, and another that calls a function."""
    n = next(SIZES)
    module = ir.Module.parse(f"""
    func.func @main(%x: tensor<{n}x7xf32>) -> tensor<{n}x7xf32> {{
      %0 = "ttir.exp"(%x) {{ttir.should_hoist}} : (tensor<{n}x7xf32>) -> tensor<{n}x7xf32>
      return %0 : tensor<{n}x7xf32>
    }}
    func.func @other(%x: tensor<3xi32>) -> tensor<3xi32> {{
      %0 = "debug.host_call"(%x) <{{function = "{name}"}}> : (tensor<3xi32>) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    }}""")
    passes.ttir_to_ttnn_backend_pipeline(module)
    text = str(module)
    assert "tensor<3xsi32" in text
    return ir.Module.parse(text.replace("tensor<3xsi32", f"tensor<3x{element}"))


def test_the_code_has_the_sizes_of_its_own_functions_only():
    with ir.Context():
        file = passes.ttnn_to_flatbuffer_bin(with_a_call("of_the_process", "si32"))
    assert b"cpu_hoisted_exp_0_sizes" in file
    assert b"of_the_process" in file and b"of_the_process_sizes" not in file


@pytest.mark.parametrize("element", ["index", "complex<f32>"])
def test_native_code_takes_integers_and_floats_only(element):
    with ir.Context():
        module = with_a_call("cpu_hoisted_exp_0", element)
        with pytest.raises(ir.MLIRError, match=r"calls native code 'cpu_hoisted_exp_0' with .*; expected tensors of"):
            passes.ttnn_to_flatbuffer_bin(module)


def test_ttrt_asks_for_permission(capsys, tmp_path):
    file = tmp_path / "native.ttnn"
    file.write_bytes(hoisted())
    assert main(["run", str(file)]) != 0
    assert "--allow-native" in capsys.readouterr().err
    assert main(["run", str(file), "--allow-native"]) == 0
    capsys.readouterr()
    assert main(["read", str(file), "--section", "version"]) == 0
    assert "native code" in capsys.readouterr().out
