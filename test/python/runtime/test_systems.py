# SPDX-License-Identifier: Apache-2.0
"""Descriptions of machines are read as they were written, by the names of the ecosystem, and others are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
from ttrt.__main__ import main as ttrt

load = rt.binary.load_system_desc_from_path


@pytest.mark.parametrize(("arch", "shape"), [("wormhole_b0", (1, 1)), ("wormhole_b0", (2, 4)), ("blackhole", (1, 2))])
@pytest.mark.parametrize("writer", ["store", "query"])
def test_written_file_is_read(arch, shape, writer):
    if writer == "query":
        mesh = "x".join(map(str, shape))
        assert ttrt(["query", "--arch", arch, "--mesh", mesh, "--quiet", "--save", "system.ttsys"]) == 0
    else:
        options = rt.runtime.MeshDeviceOptions()
        options.arch, options.mesh_shape = arch, shape
        with rt.runtime.open_mesh_device(options) as device:
            rt.runtime.get_current_system_desc(mesh_device=device).store("system.ttsys")
    described = load("system.ttsys")
    desc = json.loads(described.as_json())
    chips = shape[0] * shape[1]
    assert desc["system_desc"]["chip_desc_indices"] == list(range(chips))
    names = {"wormhole_b0": "Wormhole_b0", "blackhole": "Blackhole"}
    grids = {"wormhole_b0": {"y": 8, "x": 8}, "blackhole": {"y": 10, "x": 13}}
    for chip, ours in zip(desc["system_desc"]["chip_descs"], desc["chips"], strict=True):
        assert chip["arch"] == names[arch] and chip["grid_size"] == grids[arch]
        assert ours["arch"] == arch and chip["l1_size"] == ours["l1_size"] > 2**20
    # An attribute does not hold the shape of the mesh.
    assert desc["mesh_shape"] == (list(shape) if writer == "store" else [1, chips])
    described.store("again.json")
    assert load("again.json").as_json() == described.as_json()


def test_the_figures_of_a_file_are_kept():
    rt.runtime.get_current_system_desc().store("system.json")
    desc = json.loads(Path("system.json").read_text())
    desc["chips"][0].update(l1_size=123456, grid=[3, 5])
    Path("system.json").write_text(json.dumps(desc))
    chip = json.loads(load("system.json").as_json())["system_desc"]["chip_descs"][0]
    assert chip["l1_size"] == 123456 and chip["grid_size"] == {"y": 3, "x": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not the description"), ("x", "is not the description"), ("{", "JSONDecodeError"),
        ("{}", "KeyError: 'mesh_shape'"), ('{"mesh_shape": [1], "chips": []}', "a mesh_shape of 1 numbers"),
        ('{"mesh_shape": "a"}', "another type"), ('{"mesh_shape": [1, 1], "chips": 3}', "not iterable"),
        ('{"mesh_shape": [1, 1], "chips": [{"arch": "quasar"}]}', '"quasar" is not simulated'),
        ('{"mesh_shape": [1, 1], "chips": [{"arch": "blackhole", "grid": [1]}]}', "another type"),
        ("#ttcore.system_desc<>", "has no chips"), ("#ttcore.system_desc<[{arch = <wormhole_b0>", "has no chips"),
        ("#ttcore.system_desc<[], [{arch = <wormhole_b0>, grid = 8x8}], [1]>", "names chip 1 of 1"),
    ],
)  # fmt: skip
def test_other_files_are_refused(text, message):
    Path("system").write_text(text)
    with pytest.raises(rt.BinaryError, match=message) as raised:
        load("system")
    assert str(raised.value).startswith("system: ") and "expected" in str(raised.value)


def test_a_file_that_is_not_there():
    with pytest.raises(rt.BinaryError, match="nowhere: cannot be read"):
        load("nowhere")


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_figures_of_chips(arch: str) -> None:
    """By name what a description of the machine has in JSON."""
    figures = rt.runtime.chip_figures(arch)
    assert figures["l1_size"] > 2**20 and figures["clock_ghz"] >= 1
    if arch == "wormhole_b0":
        chip = json.loads(rt.runtime.get_current_system_desc().as_json())["chips"][0]
        assert {k: v for k, v in chip.items() if k in figures and k != "grid"}.items() <= figures.items()
        assert tuple(chip["grid"]) == figures["grid"]


def test_times_of_work() -> None:
    """The largest term is the time; each is in proportion to its work, and computing to the cores."""
    compute, l1, dram, fabric, launch = rt.runtime.estimate_times(
        "wormhole_b0", 64, matmul_tiles=6400, dram_bytes=267000
    )
    # docs/cost-model.md: 16 cycles at 0.75 of the peak in 4 phases, 267 GB/s, 6 us from op to op.
    assert (compute, l1, dram, fabric, launch) == pytest.approx((100 * 16 / 0.75 * 4, 0, 1000, 0, 6000))
    half = rt.runtime.estimate_times("wormhole_b0", 32, matmul_tiles=6400, phases=2)
    assert half[0] == pytest.approx(compute)
    for wrong, message in (((0, 4), "cores is 0.0"), ((1, 5), "phases is 5; expected 1 to 4")):
        with pytest.raises(rt.Error, match=message):
            rt.runtime.estimate_times("wormhole_b0", wrong[0], phases=wrong[1])
    assert rt.runtime.estimate_times("wormhole_b0", 2, sfpu_tiles=3, sfpu_cycles=1920)[0] == pytest.approx(960)
    with pytest.raises(rt.Error, match="quasar"):
        rt.runtime.chip_figures("quasar")


def test_times_of_ops() -> None:
    """An op takes what its rule says: tiles of the result, of what it reads, or tile products (docs/cost-model.md)."""

    def computing(op: str, *operands: list[int], result: list[int], **options: Any) -> float:
        return rt.runtime.estimate_op("wormhole_b0", f"ttnn.{op}", operands, [result], **options)[0]

    assert computing("exp", [3, 40, 70], result=[3, 40, 70]) == pytest.approx(3 * 2 * 3 * 640)
    assert computing("add", [64, 64], [64, 64], result=[64, 64], cores=2) == pytest.approx(4 * 55 / 2)
    assert computing("sum", [96, 160], result=[96, 1]) == pytest.approx(3 * 5 * 55)
    product = computing("matmul", [3, 40, 64], [64, 70], result=[3, 40, 70], phases=2)
    assert product == pytest.approx(3 * 2 * 2 * 3 * 16 / 0.75 * 2)
    tanh = [
        computing("tanh", result=[32, 32], data_type=x)
        for x in (rt.runtime.DataType.BFloat16, rt.runtime.DataType.Float32)
    ]
    assert tanh == pytest.approx([530, 1601])
    assert computing("concat", [32, 32], [32, 32], result=[64, 32]) == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("wormhole_b0", "ttnn.nothing", [], [[1]]), {}, "there is no op ttnn.nothing; expected one of list_ops"),
        (("wormhole_b0", "ttnn.exp", [[1], [1], [1]], [[1]]), {}, "ttnn.exp has 3 operands; expected at most 1"),
        (("wormhole_b0", "ttnn.exp", [[1]], [[1], [1]]), {}, "ttnn.exp has 2 results; expected at most 1"),
        (("wormhole_b0", "ttnn.exp", [[1]], [[-1]]), {}, "results"),
        (("wormhole_b0", "ttnn.exp", [[1]], [[1 << 40, 1 << 40]]), {}, "has more than 2.63 elements"),
        (("quasar", "ttnn.exp", [[1]], [[1]]), {}, "quasar"),
        (("wormhole_b0", "ttnn.exp", [[1]], [[1]]), {"cores": 0}, "cores is 0"),
        (("wormhole_b0", "ttnn.exp", [[1]], [[1]]), {"phases": 5}, "phases is 5; expected 1 to 4"),
    ],
)
def test_wrong_ops_are_refused(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises((rt.Error, ValueError, TypeError), match=message):
        rt.runtime.estimate_op(*arguments, **options)
