# SPDX-License-Identifier: Apache-2.0
"""The option: where it is given, what it refuses, and that nothing changes without it."""

from __future__ import annotations

from pathlib import Path

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
import ttnn
from builder.base.builder_apis import compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from ttrt.__main__ import main


def product(builder) -> None:
    @builder.func([(32, 64), (64, 32)], [torch.bfloat16, torch.bfloat16])
    def main(x, y, builder):
        return builder.matmul(x, y)


@pytest.fixture
def compiled(tmp_path: Path):
    _, path, goldens, intermediates = compile_ttir_to_flatbuffer(product, output_root=str(tmp_path))
    return path, goldens, intermediates


def outputs(path: str, exact: bool) -> np.ndarray:
    binary = rt.binary.load_binary_from_path(path)
    rng = np.random.default_rng(0)
    with rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions(exact=exact)) as device:
        given = [
            ttnn.from_torch(torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).bfloat16(),
                            layout=ttnn.TILE_LAYOUT, device=device)
            for shape in ((32, 64), (64, 32))
        ]  # fmt: skip
        (found,) = rt.runtime.submit(device, binary, 0, given)
        return ttnn.to_torch(found).float().numpy()


def test_programs(compiled) -> None:
    path, _, _ = compiled
    default, exact = outputs(path, False), outputs(path, True)
    assert (default != exact).any()
    assert np.allclose(default, exact, rtol=2**-6, atol=1e-2)
    assert (default == outputs(path, False)).all() and (exact == outputs(path, True)).all()


def test_options() -> None:
    options = rt.runtime.MeshDeviceOptions()
    assert options.exact is False
    options.exact = True
    with rt.runtime.open_mesh_device(options) as device:
        assert device.exact
    with ttnn.open_device(device_id=0) as device:
        assert not device.exact
    with ttnn.open_mesh_device((1, 2), exact=True) as mesh:
        assert mesh.exact
    with pytest.raises(TypeError):
        rt.runtime.MeshDeviceOptions(exact="yes")


def test_other_chips_are_refused() -> None:
    with pytest.raises(
        rt.DeviceError, match="exact: the arithmetic of blackhole is not published; expected wormhole_b0"
    ):
        ttnn.open_device(device_id=0, arch="blackhole", exact=True)


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_it_is_true_or_false(wrong: object) -> None:
    with pytest.raises(TypeError, match=f"exact is {wrong!r}; expected True or False"):
        ttnn.open_device(device_id=0, exact=wrong)  # type: ignore[arg-type]


def test_builder(compiled) -> None:
    path, goldens, intermediates = compiled
    report = execute_fb(path, goldens, intermediates, exact=True, enable_intermediate_verification=True)
    assert report.programs[0].records
    with (
        ttnn.open_device(device_id=0) as device,
        pytest.raises(ValueError, match=r"exact: the device was opened without it; open"),
    ):
        execute_fb(path, goldens, exact=True, device=device)
    with ttnn.open_device(device_id=0, exact=True) as device:
        execute_fb(path, goldens, exact=True, device=device)


@pytest.mark.parametrize("target", ["ttnn", "emitpy"])
def test_build_compile_and_execute(target: str, tmp_path: Path) -> None:
    from builder.base.builder_apis import compile_and_execute_ttir

    compile_and_execute_ttir(product, output_root=str(tmp_path), target=target, exact=True)


def test_ttrt_run(compiled, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, _, _ = compiled
    for exact in ([], ["--exact"]):
        out = str(tmp_path / f"{len(exact)}.npz")
        assert main(["run", path, "--golden", "--save-outputs", out, *exact]) == 0
    capsys.readouterr()
    default, exact = (np.load(tmp_path / f"{i}.npz") for i in (0, 1))
    assert any((default[name] != exact[name]).any() for name in default)


def test_kernels_are_not_shared_between_devices() -> None:
    x = torch.tensor([[1.0, 2.0]]).bfloat16()
    y = torch.tensor([[2**-8, 2**-7]]).bfloat16()  # ties of bf16
    found = []
    for exact in (False, True, False):
        with ttnn.open_device(device_id=0, exact=exact) as device:
            a, b = (ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in (x, y))
            found.append(ttnn.to_torch(ttnn.add(a, b)).tolist())
    assert found == [[[1.0, 2.0]], [[1.0078125, 2.015625]], [[1.0, 2.0]]]


@pytest.mark.parametrize("exact", [False, True])
def test_chains_round_after_every_op(exact: bool) -> None:
    """1 + 2^-8 is a tie, and so is what is made of it; a chain that is computed at once must round as its ops do."""

    def chain(builder) -> None:
        @builder.func([(1, 32), (1, 32)], [torch.bfloat16, torch.bfloat16])
        def main(x, y, builder):
            return builder.add(builder.add(builder.add(x, y), y), y)

    _, data, _, _ = compile_ttir_to_flatbuffer(chain, artifact_dir=None)
    binary = rt.binary.load_binary_from_bytes(bytes(data))
    with ttnn.open_device(device_id=0, exact=exact) as device:
        x = ttnn.from_torch(torch.ones(1, 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
        y = ttnn.from_torch(torch.full((1, 32), 2**-8).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
        (found,) = rt.runtime.submit(device, binary, 0, [x, y])
        assert ttnn.to_torch(found).unique().tolist() == [1 + 3 * 2**-7 if exact else 1.0]
