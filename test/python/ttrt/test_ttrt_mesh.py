# SPDX-License-Identifier: Apache-2.0
"""ttrt read --mesh: as text, JSON and a page, and what it says of wrong use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ttmlir import ir
from ttmlir.passes import (
    stablehlo_pipeline,
    stablehlo_to_ttir_pipeline,
    ttir_to_ttnn_backend_pipeline,
    ttnn_to_flatbuffer_file,
)

MLP = (Path(__file__).resolve().parents[3] / "examples" / "meshes" / "mlp.mlir").read_text(encoding="utf-8")


def sharded(folder: Path, rows: int, columns: int, program: str = MLP) -> str:
    """The example of docs/meshes.md, or another program, on a mesh."""
    text = program.replace('["x"=2, "y"=4]', f'["x"={rows}, "y"={columns}]')
    module = ir.Module.parse(text, ir.Context())
    stablehlo_pipeline(module)
    stablehlo_to_ttir_pipeline(module)
    ttir_to_ttnn_backend_pipeline(module, f"mesh-shape={rows},{columns}")
    path = folder / f"mlp{rows}x{columns}.ttnn"
    ttnn_to_flatbuffer_file(module, path)
    return str(path)


@pytest.fixture(scope="module")
def mlp(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sharded(tmp_path_factory.mktemp("mesh"), 2, 4)


def test_text(ttrt, mlp):
    found = ttrt("read", mlp, "--mesh")
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0] == "main on 2x4 chips (wormhole_b0), numbered row by row"
    assert max(map(len, lines)) <= 120
    for part in (
        r"arg0  4x64 f32 +rows +8x64, dimension 0 over rows",
        r"arg1  64x64 f32 +columns +64x256, dimension 1 over columns",
        r"matmul +4x64 f32 +rows and columns ",
        r"all_reduce +4x64 f32 +rows .* 2 groups of 4 chips, 98,304 B",
        r"\d all_reduce  0 -> 1  12,288     1  10\.591 us",
        r" 7 -> 4  12,288",
        r"sent       96\.0 KiB over 8 links",
    ):
        assert re.search(part, found.out), part


def test_many_links_are_summed_up(ttrt, tmp_path):
    found = ttrt("read", sharded(tmp_path, 8, 4), "--mesh")
    assert found.code == 0 and "most, of 32 links: 0 -> 1" in found.out
    assert " -> " in found.out and " 30 -> 31" not in found.out
    assert max(map(len, found.out.splitlines())) <= 120


def test_json(ttrt, mlp, tmp_path):
    found = ttrt("read", mlp, "--mesh", "--json", "--result-file", "mesh.json")
    data = json.loads(found.out)
    assert data == json.loads(Path("mesh.json").read_text())
    (program,) = data["programs"]
    assert program["mesh"] == [2, 4] and program["arch"] == "wormhole_b0"
    (op,) = [op for op in program["ops"] if op["sends"]]
    assert op["name"] == "ttnn.all_reduce" and op["hops"] == 1 and op["groups"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert op["sends"][3] == {"route": [3, 0], "bytes": 12288}
    assert op["links"] == program["links"] and {"from": 7, "to": 4, "bytes": 12288} in op["links"]
    given = program["values"][program["inputs"][2]]
    assert (given["dims"], given["whole"], given["differs"]) == ([-1, 0], [256, 64], [1])
    # What the clock says of the same program.
    clock = ttrt("perf", mlp, "--estimate", "--json", "-")
    (estimated,) = json.loads(clock.out)["programs"]
    assert [op["device_ns"] for op in program["ops"]] == [op["device_ns"] for op in estimated["ops"]]
    assert sum(op["device_ns"] for op in program["ops"]) == pytest.approx(program["device_ns"])


def test_page(ttrt, mlp):
    found = ttrt("read", mlp, "--mesh", "--html", "mesh.html")
    assert found.code == 0 and found.out.splitlines()[-1] == "page: mesh.html"
    page = Path("mesh.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and '"route":[7,4],"bytes":12288' in page
    assert "/*helpers*/" not in page and "/*style*/" not in page
    assert not re.search(r"""(src|href)=|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", page), "no network"


def test_perf_says_how_well_chips_are_used(ttrt, mlp, files):
    found = ttrt("perf", mlp, "--estimate").out.splitlines()[-1]
    assert re.fullmatch(
        r"each of 8 chips 36\.094 us, 46\.0% of it in ops that send: 19\.503 us of other work on each, 156\.02\d us on "
        r"all; efficiency 0\.54",
        found,
    )
    assert "chips" not in ttrt("perf", files.one, "--estimate").out


RESIDUAL = MLP.replace(
    "return %2 : tensor<8x64xf32>",
    "%3 = stablehlo.add %2, %x : tensor<8x64xf32>\n  return %3 : tensor<8x64xf32>",
)


@pytest.mark.parametrize("command", [("run", "--golden"), ("perf", "--loops", "1")], ids=lambda c: c[0])
@pytest.mark.parametrize("fill", ["domain", "normal", "0:1"])
def test_chips_get_the_same_values_of_one_part(ttrt, tmp_path, command, fill):
    """The rows of x lie on the chips of a row of the mesh, whose results are compared when they are gathered."""
    found = ttrt(command[0], sharded(tmp_path, 2, 4, RESIDUAL), *command[1:], "--init", fill)
    assert (found.code, found.err) == (0, "")


def test_parts_differ(tmp_path):
    from ttrt.file import load
    from ttrt.inputs import random_inputs

    file = load(sharded(tmp_path, 2, 4, RESIDUAL))
    x, up, down = (list(value.arrays.values()) for value in random_inputs(file, file.programs[0], 3))

    def same(shards) -> list[int]:
        return [next(i for i, other in enumerate(shards) if (other == shard).all()) for shard in shards]

    assert same(x) == [0, 0, 0, 0, 4, 4, 4, 4]
    assert same(up) == same(down) == [0, 1, 2, 3, 0, 1, 2, 3]


LOOP = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x64xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8x64xf32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    stablehlo.return %j, %p : tensor<i32>, tensor<8x64xf32>
  }
  return %r#1 : tensor<8x64xf32>
}
"""  # noqa: E501


def test_transfers_of_a_loop(ttrt, tmp_path):
    """It is the body's, which is shown as well."""
    loop = sharded(tmp_path, 2, 4, LOOP)
    found = ttrt("read", loop, "--mesh").out
    main, body = found.split("main_while_body on 2x4 chips")
    assert re.search(r"ttcore\.while .* runs main_while_cond and main_while_body", main)
    assert main.splitlines()[-1] == "nothing is sent between chips, but by what is run in between"
    assert re.search(r"reduce_scatter +4x16 f32 .* 2 groups of 4 chips, 49,152 B", body)
    assert max(map(len, found.splitlines())) <= 120
    assert ttrt("perf", loop, "--estimate").out.endswith("; what loops and branches send counts as work\n")


PERMUTED = """module { func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>,
    shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}>
    : (tensor<64x128xf32>) -> tensor<32x32xf32>
  %1 = "ttir.collective_permute"(%0) <{source_target_pairs = dense<[[0, 7], [2, 1]]> : tensor<2x2xi64>}>
    : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = "ttir.collective_broadcast"(%1) <{replica_groups = dense<[[7, 0]]> : tensor<1x2xi64>}>
    : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.mesh_shard"(%b) <{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<shard_to_full>,
    shard_shape = array<i64: 2, 4>, shard_type = #ttcore.shard_type<devices>}>
    : (tensor<32x32xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
} }"""


def test_single_messages(ttrt):
    module = ir.Module.parse(PERMUTED, ir.Context())
    ttir_to_ttnn_backend_pipeline(module, "mesh-shape=2,4")
    ttnn_to_flatbuffer_file(module, "permuted.ttnn")
    found = ttrt("read", "permuted.ttnn", "--mesh").out
    assert re.search(r"collective_permute .* 2 groups of 2 chips, 8,192 B\n", found)
    assert re.search(r"point_to_point .* chip 7 to 0, 4,096 B, 4 hops\n", found)
    assert re.search(
        r"\d collective_permute  0 -> 1  4,096     4  4\.209 us\n +1 -> 2  4,096\n +2 -> 1  4,096\n", found
    )
    assert re.search(
        r"\d point_to_point      4 -> 0  4,096     4  4\.209 us\n +5 -> 4  4,096\n +6 -> 5  4,096\n +7 -> 6", found
    )


def test_a_program_that_sends_nothing(ttrt, files):
    found = ttrt("read", files.mesh, "--mesh")
    assert found.code == 0 and found.out.splitlines()[-1] == "nothing is sent between chips"
    assert "sent       0 B over 0 links" in found.out


def test_a_file_without_a_mesh(ttrt, files):
    found = ttrt("read", files.one, "--mesh")
    assert found.code == 1
    assert found.err == f"ttrt read: {files.one}: its programs run on one chip; --mesh shows those of several\n"


def test_a_page_without_mesh(ttrt, mlp):
    found = ttrt("read", mlp, "--html", "mesh.html")
    assert (found.code, found.err) == (1, "ttrt read: --html is the page of --mesh; give both\n")
    assert not Path("mesh.html").exists()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere/mesh.html", "--html nowhere/mesh.html: there is no folder nowhere"),
        (".", "--html .: expected a file, not a folder"),
        ("", "--html '': "),
    ],
)
def test_a_page_that_cannot_be_written(ttrt, mlp, path, why):
    found = ttrt("read", mlp, "--mesh", "--html", path)
    assert found.code == 1 and found.err.startswith(f"ttrt read: {why}")


def test_a_section_of_a_mesh(ttrt, mlp):
    found = ttrt("read", mlp, "--mesh", "--section", "inputs")
    assert found.code == 2 and "argument --section: not allowed with argument --mesh" in found.err


def test_artefacts_of_a_mesh(ttrt, mlp):
    found = ttrt("read", mlp, "--mesh", "--save-artifacts")
    assert found.code == 1 and "--mesh has --json, --result-file and --html" in found.err


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file(ttrt, mlp, share):
    whole = Path(mlp).read_bytes()
    Path("cut.ttnn").write_bytes(whole[: int(len(whole) * share)])
    found = ttrt("read", "cut.ttnn", "--mesh", "--html", "mesh.html")
    assert found.code == 1 and found.out == "" and "cut.ttnn" in found.err
    assert "not foreseen" not in found.err and not Path("mesh.html").exists()
