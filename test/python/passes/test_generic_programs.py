# SPDX-License-Identifier: Apache-2.0
"""ttnn.generic with kernels written by hand, from TTNN text to the executor; and what is wrong with such programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from op_cases import device
from ttmlir import ir, passes

CORES = "core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>"
READER = """#include \\22dataflow_api.h\\22
void kernel_main() {
  uint32_t address = get_common_arg_val<uint32_t>(0);
  cb_reserve_back(0, 1);
  noc_async_read(get_noc_addr(0, 0, address), get_write_ptr(0), 4096);
  noc_async_read_barrier();
  cb_push_back(0, 1);
}"""
COMPUTE = """#include \\22compute_kernel_api.h\\22
namespace NAMESPACE {
void MAIN {
  binary_op_init_common(0, 0, 1);
  cb_wait_front(0, 1);
  cb_reserve_back(1, 1);
  tile_regs_acquire();
  add_tiles_init(0, 0);
  add_tiles(0, 0, 0, 0, 0);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, 1);
  tile_regs_release();
  cb_push_back(1, 1);
  cb_pop_front(0, 1);
}
}"""
WRITER = """#include \\22dataflow_api.h\\22
void kernel_main() {
  uint32_t address = get_common_arg_val<uint32_t>(0);
  cb_wait_front(1, 1);
  noc_async_write(get_read_ptr(1), get_noc_addr(0, 0, address), 4096);
  noc_async_write_barrier();
  cb_pop_front(1, 1);
}"""


def kernel(kind: str, source: str, arguments: str, how: str = "") -> str:
    text = source.replace("\n", "\\0A")
    return (
        f'#ttnn.source_{kind}_kernel<source = "{text}", {CORES}{how}, ct_args = [], common_rt_args = [{arguments}], '
        "rt_args = []>"
    )


def address(tensor: int) -> str:
    return f"#ttnn.kernel_arg_address_of_tensor<{tensor}>"


def buffer(port: int, pages: int = 1) -> str:
    size = 4096 * pages
    return f"<total_size = {size}, {CORES}, formats = [<buffer_index = {port}, dtype = f32, page_size = 4096>]>"


def generic(x: str, y: str, **changes: Any) -> str:
    """Returns an op that doubles a tile."""
    how = (
        ", math_fidelity = hifi4, fp32_dest_acc_en = true, dst_full_sync_en = false, unpack_to_dest_modes = [], "
        "bfp8_pack_precise = false, math_approx_mode = false"
    )
    kernels = [
        kernel("read", changes.get("reader", READER), changes.get("read", address(0))),
        kernel("compute", changes.get("compute", COMPUTE), "", how),
        kernel("write", WRITER, changes.get("written", address(1))),
    ]
    buffers = ", ".join(changes.get("buffers", [buffer(0), buffer(1)]))
    return f"""
  "ttnn.generic"({x}, {y}) <{{operandSegmentSizes = array<i32: 2, 0>, program = #ttnn.program<
    kernels = [{", ".join(kernels)}], cbs = [{buffers}], semaphores = []>}}> : (!t, !t) -> ()"""


def program(tiles: int = 1, others: int = 0, second: dict[str, Any] | None = None, **changes: Any) -> str:
    """Returns a function that doubles the first tile of a tensor in L1 once, or twice.

    tiles: of the tensors, below each other on one core. others: tiles of a tensor that is there at the same time.
    second: changes of the second op.
    """
    shape, other = f"{32 * tiles}x32", f"{32 * max(1, others)}x32"
    empty = '"ttnn.empty"(%d) <{shape = #ttnn.shape<SHAPE>}> : (!ttnn.device) ->'
    kept = f"%o = {empty.replace('SHAPE', other)} !o" if others else ""
    ops, result = generic("%x", "%y", **changes), "%y"
    if second is not None:
        ops += f"\n  %z = {empty.replace('SHAPE', shape)} !t" + generic("%y", "%z", **second)
        result = "%z"
    return f"""
#l1 = #ttnn.buffer_type<l1>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<{tiles}x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>,
                       core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
#o = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<{max(1, others)}x1x!ttcore.tile<32x32, f32>, #l1>,
                       <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
!t = tensor<{shape}xf32, #s>
!o = tensor<{other}xf32, #o>
func.func @main(%x: !t) -> {"(!t, !o)" if others else "!t"} {{
  %d = "ttnn.get_device"() <{{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}}>
    : () -> !ttnn.device
  {kept}
  %y = {empty.replace("SHAPE", shape)} !t{ops}
  return {result}{", %o : !t, !o" if others else " : !t"}
}}"""


def compiled(text: str) -> Any:
    module = ir.Module.parse(text, ir.Context())
    passes.run_pass(module, "ttnn-common-to-runtime-pipeline", "")
    return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module), allow_native=True)


def run(text: str, x: torch.Tensor) -> torch.Tensor:
    binary = compiled(text)
    outputs = rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(x)])
    return torch.from_dlpack(rt.runtime.to_host(outputs[0])[0])


def test_kernels_by_hand() -> None:
    x = torch.arange(1024, dtype=torch.float32).reshape(32, 32)
    assert torch.equal(run(program(), x), 2 * x)


def test_an_argument_stays() -> None:
    """The result is the last operand; the caller's tensor is not written."""
    x = torch.ones(32, 32)
    run(program(), x)
    assert torch.equal(x, torch.ones(32, 32))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"read": address(2)}, r"program\.kernels\[0\]\.common_rt_args\[0\]\.tensor_index is 2; expected an operand"),
        ({"read": "#ttnn.kernel_arg_global_semaphore<0>"}, "holds #ttnn.kernel_arg_global_semaphore<0>, which a flat"),
        ({"written": address(0)}, "kernels wrote to tensor 0; expected writes to the last one alone"),
        ({"buffers": [buffer(0), buffer(0)]}, r"circular buffer 0 is there twice on core"),
        ({"buffers": [buffer(0)]}, "port 1 is no circular buffer of this core; there are 0"),
        ({"reader": READER.replace("get_write_ptr", "get_nothing")}, r"kernels\[0\] \(reader\).*get_nothing"),
        ({"reader": READER.replace("cb_push_back(0, 1);", "")}, "waits for"),
    ],
    ids=["operand", "argument", "input written", "port twice", "no port", "no C++", "deadlock"],
)
def test_errors(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=f"(?s){message}"):
        run(program(**changes), torch.ones(32, 32))


OTHER = COMPUTE.replace("  cb_pop_front(0, 1);\n", "  cb_pop_front(0, 1); // and nothing else\n")


def test_programs_are_compiled_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path))
    x = torch.rand(32, 32)
    assert torch.equal(run(program(second={"compute": OTHER}), x), 4 * x)
    assert len(list((tmp_path / "kernels").glob("*.so"))) == 1
    sources = compiled(program(second={"compute": OTHER})).get_kernel_sources()
    assert list(sources) == [
        "source_read_kernel", "source_compute_kernel", "source_write_kernel", "source_compute_kernel#2",
    ]  # fmt: skip


@pytest.mark.parametrize("of", ["first", "second"])
def test_a_program_of_two_that_does_not_compile(of: str) -> None:
    """The error names its kernel, which the joined program numbers otherwise."""
    wrong = {"compute": COMPUTE.replace("pack_tile(0, 1)", "pack_nothing()")}
    text = program(second=wrong) if of == "second" else program(second={}, **wrong)
    with pytest.raises(rt.Error, match=r"(?s)kernels\[1\] \(compute\).*pack_nothing"):
        run(text, torch.ones(32, 32))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            program(tiles=200),
            r"operand 1 needs 819200 bytes of L1 on each core, which has \d+ of \d+ left after the operands before "
            "it; put operands into DRAM, or spread them over more cores",
        ),
        (
            program(buffers=[buffer(0, 300), buffer(1, 50)]),
            r"circular buffers need 1433600 bytes of L1 on each core, which has \d+ of \d+ for them below tensor 1; "
            "use smaller ones, put tensors into DRAM, or spread them over more cores",
        ),
        (
            program(buffers=[buffer(0, 200), buffer(1)], others=200),
            r"the circular buffers of op \d \(ttnn.generic\) of .* take 823,296 bytes of each core, .* and clash with "
            r".* at .*; use smaller blocks, or put tensors into DRAM",
        ),
    ],
    ids=["operands", "circular buffers", "another tensor"],
)
def test_no_room(text: str, message: str) -> None:
    binary = compiled(text)
    rows = 200 * 32 if "6400x32xf32, #s" in text else 32
    for function in (
        lambda: rt.runtime.estimate(binary, 0, "wormhole_b0"),
        lambda: rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(torch.ones(rows, 32))]),
    ):
        with pytest.raises(rt.Error, match=f"(?s){message}"):
            function()


def test_cores_that_are_not_there() -> None:
    cores = CORES.replace("(0,0)>", "(8,0)>")
    with pytest.raises(rt.Error, match=r"cbs\[0\]\.core_ranges has column 8; expected one below 8"):
        run(program(buffers=[buffer(0).replace(CORES, cores), buffer(1)]), torch.ones(32, 32))


def test_needs_a_system() -> None:
    module = ir.Module.parse(program(), ir.Context())
    with pytest.raises(ir.MLIRError, match="module has no"):
        passes.ttnn_to_flatbuffer_bin(module)
