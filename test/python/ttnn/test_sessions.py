# SPDX-License-Identifier: Apache-2.0
"""Older names of devices, a default device, events, command queues, compute configs."""

from __future__ import annotations

from typing import Any

import pytest
import ttnn


def test_devices_by_older_names(capsys: pytest.CaptureFixture[str]) -> None:
    device = ttnn.CreateDevice(0, l1_small_size=1024)
    assert device.get_l1_small_size() == 1024
    assert ttnn.GetDefaultDevice() is None
    ttnn.SetDefaultDevice(device)
    assert ttnn.GetDefaultDevice() is device
    ttnn.SetDefaultDevice()
    assert ttnn.GetDefaultDevice() is None
    x = ttnn.ones([32, 32], device=device)
    ttnn.dump_device_memory_state(device, "state: ")
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("state: ") for line in lines)
    assert any("ones" in line for line in lines)
    del x
    ttnn.CloseDevice(device)
    with pytest.raises(ttnn.DeviceError, match=r"record_event: device .* is closed"):
        ttnn.record_event(device)
    several = ttnn.CreateDevices([0, 1])
    assert list(several) == [0, 1]
    ttnn.CloseDevices(several)
    assert not several[0].is_open
    count = ttnn.GetNumAvailableDevices()
    assert count == ttnn.GetNumPCIeDevices() == ttnn.get_num_pcie_devices() == len(ttnn.get_pcie_device_ids())
    assert ttnn.GetPCIeDeviceID(count - 1) == count - 1
    with pytest.raises(ttnn.DeviceError, match=f"device_id is {count}; expected 0 to {count - 1}"):
        ttnn.GetPCIeDeviceID(count)
    with pytest.raises(TypeError, match="SetDefaultDevice: device is 3; expected an open device"):
        ttnn.SetDefaultDevice(3)


def test_events_and_queues() -> None:
    with ttnn.manage_device(0) as device:
        event = ttnn.record_event(device, 1)
        assert (event.device, event.cq_id) == (device, 1)
        ttnn.wait_for_event(0, event)
        ttnn.event_synchronize(event)
        with ttnn.command_queue(1):
            assert ttnn.get_current_command_queue_id_for_thread() == 1
            assert ttnn.record_event(device).cq_id == 1
        assert ttnn.get_current_command_queue_id_for_thread() == 0
        ttnn.synchronize_device(device, ttnn.QueueId(1), [ttnn.SubDeviceId(0)])
        with pytest.raises(TypeError, match="wait_for_event: mesh_event is None; expected what record_event returns"):
            ttnn.wait_for_event(0)
    with pytest.raises(ttnn.DeviceError, match=r"event_synchronize: device .* is closed"):
        ttnn.event_synchronize(event)
    with pytest.raises(TypeError, match="QueueId: -1; expected a number from 0 to 255"):
        ttnn.QueueId(-1)


def test_compute_configs() -> None:
    config: Any = ttnn.init_device_compute_kernel_config(ttnn.Arch.WORMHOLE_B0)
    assert config == ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.LoFi, math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=False,
        dst_full_sync_en=False,
    )  # fmt: skip
    assert ttnn.init_device_compute_kernel_config(ttnn.Arch.BLACKHOLE, config, fp32_dest_acc_en=True) is config
    with pytest.raises(TypeError, match="arch is 'wormhole_b0'; expected a ttnn"):
        ttnn.init_device_compute_kernel_config("wormhole_b0")
    with pytest.raises(TypeError, match="device_kernel_config is 3; expected a compute config"):
        ttnn.init_device_compute_kernel_config(ttnn.Arch.BLACKHOLE, 3)
