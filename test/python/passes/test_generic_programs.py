# SPDX-License-Identifier: Apache-2.0
"""ttnn.generic with kernels written by hand, from TTNN text to the executor; and what is wrong with such programs."""

from __future__ import annotations

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


def buffer(port: int) -> str:
    return f"<total_size = 4096, {CORES}, formats = [<buffer_index = {port}, dtype = f32, page_size = 4096>]>"


def program(**changes: Any) -> str:
    """Returns a function that doubles a tile in L1."""
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
#l1 = #ttnn.buffer_type<l1>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>,
                       core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
func.func @main(%x: tensor<32x32xf32, #s>) -> tensor<32x32xf32, #s> {{
  %d = "ttnn.get_device"() <{{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}}>
    : () -> !ttnn.device
  %y = "ttnn.empty"(%d) <{{shape = #ttnn.shape<32x32>}}> : (!ttnn.device) -> tensor<32x32xf32, #s>
  "ttnn.generic"(%x, %y) <{{operandSegmentSizes = array<i32: 2, 0>, program = #ttnn.program<
    kernels = [{", ".join(kernels)}], cbs = [{buffers}], semaphores = []>}}>
    : (tensor<32x32xf32, #s>, tensor<32x32xf32, #s>) -> ()
  return %y : tensor<32x32xf32, #s>
}}"""


def run(text: str, x: torch.Tensor) -> torch.Tensor:
    module = ir.Module.parse(text, ir.Context())
    passes.run_pass(module, "ttnn-common-to-runtime-pipeline", "")
    binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module), allow_native=True)
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


def test_needs_a_system() -> None:
    module = ir.Module.parse(program(), ir.Context())
    with pytest.raises(ir.MLIRError, match="module has no"):
        passes.ttnn_to_flatbuffer_bin(module)
