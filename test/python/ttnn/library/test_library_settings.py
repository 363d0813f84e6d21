# SPDX-License-Identifier: Apache-2.0
"""Settings, hooks and printing of ttnn, and its classes of data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import ttnn


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def test_hooks_see_public_calls(device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    own, seen = ttnn.add, []

    def before(operation: Any, args: Any, kwargs: Any) -> None:
        seen.append((operation.__name__, len(args)))

    def after(operation: Any, args: Any, kwargs: Any, result: Any) -> None:
        seen.append(ttnn.to_torch(result).sum().item())

    with ttnn.register_pre_operation_hook(before), ttnn.register_post_operation_hook(after):
        ttnn.add(x, x)
    assert seen == [("add", 2), 2048.0]
    assert ttnn.add is own
    with ttnn.register_pre_operation_hook(lambda *call: 3), pytest.raises(RuntimeError, match="expected None"):
        ttnn.add(x, x)


def test_comparison_mode_finds_a_wrong_golden(device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    strict = ttnn.manage_config("comparison_mode_should_raise_exception", True)
    with strict, ttnn.manage_config("enable_comparison_mode", True):
        ttnn.celu(x)
        ttnn.attach_golden_function(ttnn.celu, lambda t, **options: -t)
        with pytest.raises(RuntimeError, match=r"ttnn.celu: result 0 has a correlation of -"):
            ttnn.celu(x)
    del ttnn.celu.golden_function
    assert ttnn.CONFIG.enable_comparison_mode is False


def test_settings_are_files(tmp_path: Path) -> None:
    produced = ttnn.Config()
    produced.comparison_mode_pcc, produced.report_name = 0.5, "run"
    produced.save_to_file(tmp_path / "config.json")
    read = ttnn.Config()
    read.load_from_file(tmp_path / "config.json")
    assert (read.comparison_mode_pcc, read.report_name) == (0.5, "run")
    with pytest.raises(ValueError, match="there is no setting pcc"):
        produced.apply_json_overrides('{"pcc": 1}')
    with pytest.raises(TypeError, match="enable_logging is 3 of type int; expected bool"):
        produced.enable_logging = 3
    with pytest.raises(AttributeError, match="there is no setting pcc"), ttnn.manage_config("pcc", 1):
        pass


def test_print_options() -> None:
    x = ttnn.from_torch(torch.tensor([[0.5, -1.25], [2.0, 1000.0]]))
    plain = repr(x)
    ttnn.set_printoptions(precision=1, sci_mode=False)
    assert "[[   0.5,   -1.2],\n" in repr(x)
    ttnn.set_printoptions(profile="empty")
    assert repr(x).startswith("ttnn.Tensor(..., shape=")
    ttnn.set_printoptions()
    assert repr(x) == plain
    with pytest.raises(ValueError, match="profile is 'long'"):
        ttnn.set_printoptions(profile="long")


def test_records_check_and_compare() -> None:
    form = ttnn.CBFormatDescriptor(3, ttnn.bfloat8_b, 1088)
    assert form == ttnn.CBFormatDescriptor(buffer_index=3, data_format=ttnn.bfloat8_b, page_size=1088)
    assert form.data_format_as_uint8 == 6
    with pytest.raises(TypeError, match="page_size is 'x' of type str; expected int"):
        form.page_size = "x"
    with pytest.raises(TypeError, match="there is no field pages"):
        ttnn.CBFormatDescriptor(pages=1)
    core = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))])
    kernel = ttnn.KernelDescriptor("a.cpp", core_ranges=core, compile_time_args=[1, 2])
    kernel.runtime_args[0][0] = [7]
    program = ttnn.ProgramDescriptor([kernel], cbs=[ttnn.CBDescriptor(1088, core, [form])])
    number = ttnn.compute_program_descriptor_hash(program)
    kernel.runtime_args[0].append(0, 8)
    assert kernel.runtime_args.to_list() == [(ttnn.CoreCoord(0, 0), [7, 8])]
    assert ttnn.compute_program_descriptor_hash(program) == number
    kernel.compile_time_args = [1, 3]
    assert ttnn.compute_program_descriptor_hash(program) != number
    with pytest.raises(ValueError, match=r"programs 0 and 1 have kernels on core \(0, 0\)"):
        ttnn.merge_program_descriptors([program, program])


def test_a_socket_sends_tensors(device: ttnn.Device) -> None:
    core = ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(0, 0))
    memory = ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096)
    config = ttnn.SocketConfig([ttnn.SocketConnection(core, core)], memory)
    sender, receiver = ttnn.create_socket_pair(device, device, config)
    x = ttnn.from_torch(torch.arange(1024.0).reshape(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    into = ttnn.zeros_like(x)
    with pytest.raises(RuntimeError, match="nothing was sent"):
        ttnn.experimental.recv_async(into, receiver)
    ttnn.experimental.send_async(x, sender)
    ttnn.experimental.recv_async(into, receiver)
    assert torch.equal(ttnn.to_torch(into), ttnn.to_torch(x))
    with pytest.raises(ValueError, match="mesh_socket is the RECEIVER; expected the SENDER"):
        ttnn.experimental.send_async(x, receiver)


def test_host_shards_are_one_tensor() -> None:
    parts = [ttnn.from_torch(torch.full((2, 3), float(at))) for at in range(2)]
    whole = ttnn.from_host_shards(parts, ttnn.MeshShape(1, 2))
    assert [ttnn.to_torch(each)[0, 0].item() for each in ttnn.get_device_tensors(whole)] == [0.0, 1.0]
    with pytest.raises(ValueError, match="2 tensors; MeshShape\\(2, 2\\) has 4 devices"):
        ttnn.from_host_shards(parts, ttnn.MeshShape(2, 2))
