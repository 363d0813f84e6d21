# SPDX-License-Identifier: Apache-2.0
"""Names that programs of the ecosystem call in the runtime, in addition to its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_to_flatbuffer
from builder.execution.cpp_library import compiled
from ttmlir import passes

runtime, FACTS = rt.runtime, Path(__file__).resolve().parents[4] / "shared" / "facts" / "runtime_api.json"


def network(b):
    @b.func([(4, 8)], [torch.float32])
    def f(x, b):
        return b.exp(x)


@pytest.mark.parametrize(
    ("value", "dtype", "kept"),
    [(True, "Bool", 1), (False, "Bool", 0), (3, "Int32", 3), (-(2**31), "Int32", -(2**31)), (2.5, "Float32", 2.5)],
)
def test_scalars(value, dtype, kept):
    tensor = runtime.create_scalar_tensor(value)
    assert tensor.get_shape() == [] and tensor.get_dtype() == getattr(runtime.DataType, dtype)
    assert torch.from_dlpack(tensor).item() == kept


@pytest.mark.parametrize(("value", "error"), [(2**31, rt.Error), (2**70, TypeError), ("a", TypeError)])
def test_non_scalar(value, error):
    with pytest.raises(error):
        runtime.create_scalar_tensor(value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.uint8])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (33, 1, 65)])
def test_tensors_in_files(device, dtype, shape):
    values = torch.arange(int(np.prod(shape))).reshape(shape).to(dtype)
    given = runtime.create_host_tensor(values)
    runtime.dump_tensor(given, "t.tensorbin")
    host, placed = runtime.load_tensor("t.tensorbin"), runtime.load_tensor("t.tensorbin", device)
    for found in (host, *runtime.to_host(placed)):
        assert torch.equal(torch.from_dlpack(found), values)
    assert runtime.test.compare_outs([given, given], [host, placed])
    runtime.dump_tensor(placed, "u.tensorbin")
    assert Path("u.tensorbin").read_bytes() == Path("t.tensorbin").read_bytes()


def test_files_that_hold_no_tensor(device):
    Path("t").write_bytes(b"none")
    for path in ("t", "nowhere"):
        with pytest.raises(rt.Error, match=path):
            runtime.load_tensor(path, device)
    tensor = runtime.create_host_tensor(torch.ones(2))
    with pytest.raises(rt.Error, match="no/such"):
        runtime.dump_tensor(tensor, "no/such/folder")


def test_outputs_that_differ():
    of = runtime.create_host_tensor
    zero = of(torch.zeros(2))
    assert runtime.test.compare_outs([zero], [of(torch.zeros(2))])
    for other in ([], [zero, zero], [of(-torch.zeros(2))], [of(torch.zeros(1, 2))], [of(torch.zeros(2).int())]):
        assert not runtime.test.compare_outs([zero], other)


@pytest.mark.long
def test_a_library_of_programs(device):
    _, path, _, _ = compile_ttir_to_flatbuffer(network, target="emitc")
    library, test = str(compiled([path])), runtime.test
    so = test.open_so(library)
    (name,) = test.get_so_programs(so, library)
    inputs = test.create_inputs(so, name, device, library)
    outputs = test.run_so_program(so, name, inputs, device)
    want = torch.exp(torch.from_dlpack(runtime.to_host(inputs[0], untilize=True)[0]))
    assert torch.allclose(torch.from_dlpack(runtime.to_host(outputs[0], untilize=True)[0]), want)
    with pytest.raises(rt.Error, match=f'no program "other"; it has {name}'):
        test.create_inputs(so, "other", device, library)
    test.close_so(so)
    with pytest.raises(rt.Error, match=r"nowhere\.so"):
        test.open_so("./nowhere.so")


def test_kinds_of_programs(binary):
    kinds = runtime.DeviceRuntime
    before = runtime.get_current_device_runtime()
    try:
        runtime.set_current_device_runtime(kinds.TTMetal)
        assert runtime.get_current_device_runtime() == kinds.TTMetal
        runtime.set_compatible_device_runtime(binary)
        assert runtime.get_current_device_runtime() == kinds.TTNN
        assert runtime.get_available_device_runtimes() == [kinds.TTNN, kinds.TTMetal]
    finally:
        runtime.set_current_device_runtime(before)


def test_settings_of_the_fabric():
    before = runtime.get_fabric_config()
    runtime.set_fabric_config(runtime.FabricConfig.FABRIC_1D)
    assert runtime.get_fabric_config() == runtime.FabricConfig.FABRIC_1D
    runtime.set_fabric_config(before)
    assert runtime.get_arch() == runtime.Arch.WORMHOLE_B0


def test_a_flatbuffer_in_memory():
    module = build_module(network, "ttir")[0]
    passes.ttir_to_ttnn_backend_pipeline(module)
    data = passes.ttnn_to_flatbuffer_bin(module)
    assert rt.binary.load_binary_from_capsule(data).as_bytes() == data
    with pytest.raises(rt.BinaryError):
        rt.binary.load_binary_from_capsule(b"")


def test_the_librarys_tensors_are_the_runtimes(device):
    tensor = runtime.create_host_tensor(torch.ones(2))
    kept = rt.utils.create_runtime_tensor_from_ttnn(tensor, retain=True)
    assert kept.get_retain() and rt.utils.get_ttnn_tensor_from_runtime_tensor(kept).get_shape() == [2]
    assert rt.utils.create_runtime_device_from_ttnn(device) is device


# What a simulated chip has no meaning for.
ABSENT = {
    r"runtime\.(set_mlir_home|set_metal_home)": "nothing is compiled for a chip at run time that lies in a folder",
    r"runtime\.(DebugEnv|PerfEnv|WorkaroundEnv|DebugStats)": "switches of the driver and its profiler",
    r"runtime\.(\w*[Dd]istributed\w*|MultiProcessArgs|\w*[Ww]orker\w*)": "mpirun starts several processes",
    r"runtime\.(Event|set_memory_log_level|MemoryLogLevel)": "runs are finished when they return; hooks log memory",
    r"runtime\.invoke_cpu_op": "no op runs on the host",
    r"runtime\.Device\.(release_trace|read_device_profiler_results)": "reports come from get_last_run_report",
    r"binary\.SystemDesc\.\w*(version|hash|identifier)": "a description is text without a version",
    r"binary\.(GoldenTensor|GlobalTensorCache|Binary\.get_debug_info_golden)": "goldens are computed from the module",
}


@pytest.mark.skipif(not FACTS.exists(), reason=f"{FACTS} is not there")
def test_every_name_of_the_ecosystem_is_there_or_has_a_reason():
    missing = []
    for module in json.loads(FACTS.read_text())["modules"]:
        top, *rest = module["module"].split(".")
        if top != "_ttmlir_runtime":
            continue
        place = rt
        for part in rest:
            place = getattr(place, part)
        path = ".".join(rest)
        for row in [*module.get("functions", []), *module.get("enums", []), *module.get("classes", [])]:
            found = getattr(place, row["name"], None)
            if found is None:
                missing.append(f"{path}.{row['name']}")
                continue
            parts = [*row.get("methods", []), *row.get("properties", []), *row.get("values", [])]
            missing += [f"{path}.{row['name']}.{p['name']}" for p in parts if not hasattr(found, p["name"])]
    stated = {name for name in missing for pattern in ABSENT if re.fullmatch(pattern, name)}
    assert sorted(set(missing) - stated) == []
    assert all(any(re.fullmatch(pattern, name) for name in missing) for pattern in ABSENT), "a reason for nothing"


def test_names_that_are_no_text(device):
    """Reads names of a damaged file: errors contain them, and are those of the runtime."""
    data = Path(compile_ttir_to_flatbuffer(network)[1]).read_bytes()
    assert b"ttnn.exp\0" in data
    with pytest.raises(rt.BinaryError, match=r"ttnn\.\\xffxp"):
        binary = rt.binary.load_binary_from_bytes(data.replace(b"ttnn.exp\0", b"ttnn.\xffxp\0"))
        runtime.submit(device, binary, 0, [runtime.create_host_tensor(torch.zeros(4, 8))])
