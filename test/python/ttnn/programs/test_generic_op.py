# SPDX-License-Identifier: Apache-2.0
"""ttnn.generic_op: programs of kernels written by hand, on tensors; results compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn

READER = """
#include "dataflow_api.h"

// Tiles [first, first + count) of two tensors.
void kernel_main() {
  const uint32_t a_address = get_arg_val<uint32_t>(0), b_address = get_arg_val<uint32_t>(1);
  const uint32_t first = get_arg_val<uint32_t>(2), count = get_arg_val<uint32_t>(3);
  constexpr uint32_t a_cb = get_compile_time_arg_val(0), b_cb = get_compile_time_arg_val(1);
  constexpr auto a_args = TensorAccessorArgs<2>();
  constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
  const auto a = TensorAccessor(a_args, a_address, get_tile_size(a_cb));
  const auto b = TensorAccessor(b_args, b_address, get_tile_size(b_cb));
  for (uint32_t tile = first; tile < first + count; ++tile) {
    cb_reserve_back(a_cb, 1);
    cb_reserve_back(b_cb, 1);
    noc_async_read_tile(tile, a, get_write_ptr(a_cb));
    noc_async_read_tile(tile, b, get_write_ptr(b_cb));
    noc_async_read_barrier();
    cb_push_back(a_cb, 1);
    cb_push_back(b_cb, 1);
  }
}
"""
COMPUTE = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
  const uint32_t count = get_arg_val<uint32_t>(0);
  constexpr uint32_t a = get_compile_time_arg_val(0), b = get_compile_time_arg_val(1);
  constexpr uint32_t out = get_compile_time_arg_val(2);
  binary_op_init_common(a, b, out);
  add_tiles_init(a, b);
  for (uint32_t i = 0; i < count; ++i) {
    cb_wait_front(a, 1);
    cb_wait_front(b, 1);
    cb_reserve_back(out, 1);
    tile_regs_acquire();
    OPERATION(a, b, 0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
    cb_pop_front(a, 1);
    cb_pop_front(b, 1);
    cb_push_back(out, 1);
  }
}
}
"""
WRITER = """
#include "dataflow_api.h"

void kernel_main() {
  const uint32_t address = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1), count = get_arg_val<uint32_t>(2);
  constexpr uint32_t out = get_named_compile_time_arg_val("out");
  constexpr auto args = TensorAccessorArgs<0>();
  const auto to = TensorAccessor(args, address, get_tile_size(out));
  for (uint32_t tile = first; tile < first + count; ++tile) {
    cb_wait_front(out, 1);
    noc_async_write_tile(tile, to, get_read_ptr(out));
    noc_async_write_barrier();
    cb_pop_front(out, 1);
  }
}
"""
CODE = ttnn.KernelDescriptor.SourceType.SOURCE_CODE


def grid(x: int, y: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x - 1, y - 1))])


def tile_bytes(tensor: ttnn.Tensor) -> int:
    return int(ttnn.Tile().get_tile_size(tensor.dtype))


def circular(index: int, tensor: ttnn.Tensor, cores: Any) -> ttnn.CBDescriptor:
    page = tile_bytes(tensor)
    return ttnn.CBDescriptor(2 * page, cores, [ttnn.CBFormatDescriptor(index, tensor.dtype, page)])


def eltwise(a: ttnn.Tensor, b: ttnn.Tensor, out: ttnn.Tensor, x: int, y: int, operation: str) -> ttnn.ProgramDescriptor:
    """Returns a program that divides the tiles of a result among x * y cores; the last ones may have fewer or none."""
    cores, count = grid(x, y), x * y
    tiles = out.padded_shape[-1] * out.padded_shape[-2] // 1024
    share = -(-tiles // count)
    reads, writes, computes = ttnn.RuntimeArgs(), ttnn.RuntimeArgs(), ttnn.RuntimeArgs()
    for i in range(count):
        column, row = i % x, i // x
        first = min(i * share, tiles)
        own = min(share, tiles - first)
        reads[column][row] = [a.buffer_address(), b.buffer_address(), first, own]
        writes[column][row] = [out.buffer_address(), first, own]
        computes[column][row] = [own]
    accessors = [args for t in (a, b) for args in ttnn.TensorAccessorArgs(t).get_compile_time_args()]
    kernels = [
        ttnn.KernelDescriptor(READER, CODE, cores, [0, 1, *accessors], runtime_args=reads,
                              config=ttnn.ReaderConfigDescriptor()),
        ttnn.KernelDescriptor(WRITER, CODE, cores, ttnn.TensorAccessorArgs(out).get_compile_time_args(),
                              named_compile_time_args=[("out", 16)], runtime_args=writes,
                              config=ttnn.WriterConfigDescriptor()),
        ttnn.KernelDescriptor(COMPUTE, CODE, cores, [0, 1, 16], defines=[("OPERATION", operation)],
                              runtime_args=computes,
                              config=ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=out.dtype == ttnn.float32)),
    ]  # fmt: skip
    buffers = [circular(index, tensor, cores) for index, tensor in ((0, a), (1, b), (16, out))]
    return ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=buffers)


def tensors(device: ttnn.Device, shape: tuple[int, int], dtype: Any, memory: Any) -> tuple[Any, ...]:
    generator = torch.Generator().manual_seed(3)
    values = [torch.randn(shape, generator=generator).bfloat16().float() for _ in range(2)]
    a, b = (ttnn.from_torch(v, dtype, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory) for v in values)
    out = ttnn.full(shape, 7.0, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
    return values, a, b, out


@pytest.mark.parametrize("memory", ["DRAM", "L1"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("cores", [(1, 1), (3, 2), (8, 8)], ids=["1", "3x2", "8x8"])
def test_sums_on_cores(device: ttnn.Device, cores: tuple[int, int], dtype: str, memory: str) -> None:
    (x, y), a, b, out = tensors(device, (100, 160), getattr(ttnn, dtype), getattr(ttnn, f"{memory}_MEMORY_CONFIG"))
    result = ttnn.generic_op([a, b, out], eltwise(a, b, out, *cores, "add_tiles"))
    kind = getattr(torch, dtype)
    torch.testing.assert_close(ttnn.to_torch(result), (x + y).to(kind), rtol=0, atol=0)
    torch.testing.assert_close(ttnn.to_torch(out), (x + y).to(kind), rtol=0, atol=0)
    assert torch.equal(ttnn.to_torch(a), x.to(kind)), "operands stay"


def test_a_result_is_an_operand_of_the_next(device: ttnn.Device) -> None:
    """Other functions see what kernels wrote, and kernels what functions computed."""
    (x, y), a, b, out = tensors(device, (64, 64), ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG)
    ttnn.generic_op([a, b, out], eltwise(a, b, out, 2, 1, "mul_tiles"))
    doubled = ttnn.multiply(out, 2.0)
    found = ttnn.generic_op([doubled, b, a], eltwise(doubled, b, a, 1, 2, "sub_tiles"))
    expected = (x * y).bfloat16() * 2 - y.bfloat16()
    torch.testing.assert_close(ttnn.to_torch(found), expected, rtol=2**-8, atol=0)


def test_block_formats(device: ttnn.Device) -> None:
    _, a, b, out = tensors(device, (64, 96), ttnn.bfloat8_b, ttnn.DRAM_MEMORY_CONFIG)
    found = ttnn.generic_op([a, b, out], eltwise(a, b, out, 2, 1, "add_tiles"))
    torch.testing.assert_close(ttnn.to_torch(found), ttnn.to_torch(ttnn.add(a, b)), rtol=0, atol=2**-5)


def test_shards_are_circular_buffers(device: ttnn.Device) -> None:
    """Circular buffers that lie in the shards of tensors: no kernel moves data."""
    memory = ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=1, x=4), ttnn.ShardStrategy.HEIGHT)
    (x, y), a, b, out = tensors(device, (128, 64), ttnn.bfloat16, memory)
    cores = grid(4, 1)
    signal = """
#include "dataflow_api.h"
void kernel_main() {
  for (uint32_t cb = 0; cb < 2; ++cb) {
    cb_reserve_back(cb, 2);
    cb_push_back(cb, 2);
  }
}
"""
    computes = ttnn.RuntimeArgs()
    for column in range(4):
        computes[column][0] = [2]
    program = ttnn.ProgramDescriptor(
        kernels=[
            ttnn.KernelDescriptor(signal, CODE, cores),
            ttnn.KernelDescriptor(COMPUTE, CODE, cores, [0, 1, 16], defines=[("OPERATION", "add_tiles")],
                                  runtime_args=computes, config=ttnn.ComputeConfigDescriptor()),
        ],
        cbs=[ttnn.cb_descriptor_from_sharded_tensor(index, each) for index, each in ((0, a), (1, b), (16, out))],
    )  # fmt: skip
    found = ttnn.generic_op([a, b, out], program)
    assert torch.equal(ttnn.to_torch(found), (x + y).bfloat16())


def test_semaphores_and_common_arguments(device: ttnn.Device) -> None:
    """Each core waits for the one before it, and adds a common number to what a tensor of integers has."""
    source = """
#include "dataflow_api.h"
void kernel_main() {
  const uint32_t address = get_common_arg_val<uint32_t>(0), step = get_common_arg_val<uint32_t>(1);
  const uint32_t place = get_arg_val<uint32_t>(0), last = get_arg_val<uint32_t>(1);
  constexpr auto args = TensorAccessorArgs<0>();
  const auto tensor = TensorAccessor(args, address, 128);
  const uint32_t turn = get_semaphore(0);
  noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t *>(turn), place ? 2 : 1);
  cb_reserve_back(0, 1);
  const uint32_t at = get_write_ptr(0);
  noc_async_read_page(0, tensor, at);
  noc_async_read_barrier();
  auto *values = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(at);
  values[place + 1] = values[place] + step;
  noc_async_write_page(0, tensor, at);
  noc_async_write_barrier();
  if (place < last)
    noc_semaphore_inc(get_noc_addr(place + 1, 0, turn), 1);
}
"""
    values = ttnn.from_torch(torch.zeros(1, 32, dtype=torch.int32), ttnn.int32, device=device)
    cores = grid(6, 1)
    arguments = ttnn.RuntimeArgs()
    for column in range(6):
        arguments[column][0] = [column, 5]
    kernel = ttnn.KernelDescriptor(
        source, CODE, cores, ttnn.TensorAccessorArgs(values).get_compile_time_args(), runtime_args=arguments,
        common_runtime_args=[values.buffer_address(), 7],
    )  # fmt: skip
    program = ttnn.ProgramDescriptor(
        kernels=[kernel],
        semaphores=[ttnn.SemaphoreDescriptor(0, core_ranges=cores, initial_value=1)],
        cbs=[ttnn.CBDescriptor(128, cores, [ttnn.CBFormatDescriptor(0, ttnn.int32, 128)])],
    )
    found = ttnn.to_torch(ttnn.generic_op([values], program))
    assert found[0, :8].tolist() == [0, 7, 14, 21, 28, 35, 42, 0]


def test_a_core_multicasts_to_places_on_the_network(device: ttnn.Device) -> None:
    """Coordinates of worker_core_from_logical_core, with the headers and names of kernels of 2026."""
    source = """
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "debug/dprint.h"
void kernel_main() {
  const uint32_t x0 = get_arg_val<uint32_t>(0), x1 = get_arg_val<uint32_t>(1), y = get_arg_val<uint32_t>(2);
  const uint32_t place = get_arg_val<uint32_t>(3);
  constexpr auto from_args = TensorAccessorArgs<0>();
  constexpr auto to_args = TensorAccessorArgs<from_args.next_compile_time_args_offset()>();
  constexpr auto cb = tt::CBIndex::c_3;
  const uint32_t ready = get_semaphore(0), sent = get_semaphore(1);
  auto *waits = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(ready);
  auto *flag = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(sent);
  cb_reserve_back(cb, 1);
  const uint32_t at = get_write_ptr(cb);
  if (place == 0) {
    const InterleavedAddrGenFast<true> from = {.bank_base_address = get_arg_val<uint32_t>(4),
                                               .page_size = get_tile_size(cb), .data_format = get_dataformat(cb)};
    noc_async_read_tile(0, from, at);
    noc_async_read_barrier();
    noc_semaphore_wait(waits, 3);
    if (get_dataformat(cb) != DataFormat::Float16_b || get_dataformat(cb) != get_dataformat(cb))
      return;
    noc_async_write_multicast(at, get_noc_multicast_addr(x0 + 1, y, x1, y, at), get_tile_size(cb), 3);
    noc_async_writes_flushed();
    *flag = 1;
    noc_semaphore_set_multicast(sent, get_noc_multicast_addr(x0 + 1, y, x1, y, sent), 3);
    noc_async_write_barrier();
  } else {
    noc_semaphore_inc(get_noc_addr(x0, y, ready), 1);
    noc_semaphore_wait(flag, 1);
  }
  cb_push_back(cb, 1);
  noc_async_write_tile(place, TensorAccessor(to_args, get_arg_val<uint32_t>(5), get_tile_size(cb)), at);
  noc_async_write_barrier();
}
"""
    values = torch.arange(1024.0).reshape(32, 32).bfloat16()
    tile = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    out = ttnn.zeros([128, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    places = [device.worker_core_from_logical_core(ttnn.CoreCoord(x, 2)) for x in range(4)]
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 2), ttnn.CoreCoord(3, 2))])
    arguments = ttnn.RuntimeArgs()
    for x in range(4):
        ends = [places[0].x, places[3].x, places[0].y]
        arguments[x][2] = [*ends, x, tile.buffer_address(), out.buffer_address()]
    kernel = ttnn.KernelDescriptor(
        source, CODE, cores,
        [args for t in (tile, out) for args in ttnn.TensorAccessorArgs(t).get_compile_time_args()],
        runtime_args=arguments,
    )  # fmt: skip
    semaphores = [ttnn.SemaphoreDescriptor(number, core_ranges=cores, initial_value=0) for number in (0, 1)]
    program = ttnn.ProgramDescriptor(kernels=[kernel], semaphores=semaphores, cbs=[circular(3, tile, cores)])
    assert torch.equal(ttnn.to_torch(ttnn.generic_op([tile, out], program)), values.repeat(4, 1))


# Of a in register 0 and b in register 1, and of the numbers that the bits are of.
TILE_FUNCTIONS: dict[str, Any] = {
    "unary_max_tile_init(); unary_max_tile(0, 0x3f000000u);": lambda a, b: a.clamp(min=0.5),
    "unary_gt_tile_init(); unary_gt_tile(0, 0x3f000000u);": lambda a, b: (a > 0.5).float(),
    "hardtanh_tile_init(); hardtanh_tile(0, 0xbf000000u, 0x3f800000u);": lambda a, b: a.clamp(-0.5, 1),
    "relu_max_tile_init(); relu_max_tile(0, 0x3f800000u);": lambda a, b: a.clamp(0, 1),
    "rdiv_tile_init(); rdiv_tile(0, 0x40000000u);": lambda a, b: 2 / a,
    "rounding_op_tile_init(); floor_tile(0);": lambda a, b: a.floor(),
    "rsub_binary_tile_init(); rsub_binary_tile(0, 1, 0);": lambda a, b: b - a,
}


@pytest.mark.parametrize("text", TILE_FUNCTIONS)
def test_functions_of_tiles(device: ttnn.Device, text: str) -> None:
    (x, y), a, b, out = tensors(device, (32, 32), ttnn.float32, ttnn.DRAM_MEMORY_CONFIG)
    program = eltwise(a, b, out, 1, 1, "OPERATION")
    loads = "copy_tile_init(a); copy_tile(a, 0, 0); copy_tile_init(b); copy_tile(b, 0, 1);"
    program.kernels[2].kernel_source = COMPUTE.replace("OPERATION(a, b, 0, 0, 0);", loads + text).replace(
        '#include "compute_kernel_api/common.h"', '#include "api/compute/eltwise_unary/rounding.h"'
    )
    found = ttnn.to_torch(ttnn.generic_op([a, b, out], program))
    torch.testing.assert_close(found, TILE_FUNCTIONS[text](x, y), rtol=2**-20, atol=1e-6)


def test_files(device: ttnn.Device, tmp_path: Any) -> None:
    _, a, b, out = tensors(device, (32, 32), ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG)
    program = eltwise(a, b, out, 1, 1, "add_tiles")
    for number, kernel in enumerate(program.kernels):
        (tmp_path / f"kernel{number}.cpp").write_text(kernel.kernel_source)
        kernel.kernel_source = str(tmp_path / f"kernel{number}.cpp")
        kernel.source_type = ttnn.KernelDescriptor.SourceType.FILE_PATH
    found = ttnn.to_torch(ttnn.generic_op([a, b, out], program))
    assert torch.equal(found, ttnn.to_torch(ttnn.add(a, b)))


def test_errors(device: ttnn.Device) -> None:
    _, a, b, out = tensors(device, (32, 64), ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG)

    def refused(kind: type[Exception], text: str, io: Any = None, **changed: Any) -> None:
        program = eltwise(a, b, out, 1, 1, "add_tiles")
        for name, value in changed.items():
            setattr(program.kernels[0], name, value)
        with pytest.raises(kind, match=text):
            ttnn.generic_op([a, b, out] if io is None else io, program)

    refused(RuntimeError, r"kernels\[0\].*nowhere", kernel_source="void kernel_main() { nowhere(); }")
    refused(ValueError, r"kernels\[0\].*kernel_source cannot be read",
            source_type=ttnn.KernelDescriptor.SourceType.FILE_PATH, kernel_source="/nowhere/kernel.cpp")  # fmt: skip
    refused(RuntimeError, r"cb_wait_front of port 0 waits", kernel_source="void kernel_main() {}")
    refused(RuntimeError, r"get_arg_val: there is no argument 0", runtime_args=[])
    refused(ValueError, r"compiler_include_paths is not supported", compiler_include_paths=["/x"])
    refused(ValueError, r"io_tensors is empty", [])
    refused(TypeError, r"io_tensors\[1\] is 3; expected a ttnn.Tensor", [a, 3])
    refused(ValueError, r"io_tensors\[0\] lies on the host", [ttnn.ones([2])])
    refused(RuntimeError, r"tensor 0 lies on the host; expected one on a device", [ttnn.ones([2]), out])
    with pytest.raises(TypeError, match=r"program_descriptor is 1; expected a ProgramDescriptor"):
        ttnn.generic_op([a], 1)  # type: ignore[arg-type]
    program = eltwise(a, b, out, 1, 1, "add_tiles")
    program.cbs[0].total_size = 100
    with pytest.raises(ValueError, match=r"cbs\[0\] has 100 bytes; expected a multiple of page_size 2048"):
        ttnn.generic_op([a, b, out], program)


def test_a_trace_runs_kernels_again(device: ttnn.Device) -> None:
    """With the same tensors, between calls; a trace that is released lets go of them."""
    (x, y), a, b, out = tensors(device, (64, 96), ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG)
    program = eltwise(a, b, out, 2, 1, "add_tiles")
    trace = ttnn.begin_trace_capture(device)
    ttnn.multiply_(b, 2.0)
    ttnn.generic_op([a, b, out], program)
    negative = ttnn.neg(out)
    ttnn.end_trace_capture(device, trace)
    assert len(trace) == 3
    address = out.buffer_address()
    program.kernels.clear()  # what was recorded stays
    for factor in (4, 8):
        x = x.flip(0)
        ttnn.copy_host_to_device_tensor(ttnn.from_torch(x.bfloat16(), layout=ttnn.TILE_LAYOUT), a)
        ttnn.execute_trace(device, trace)
        expected = (x + factor * y).bfloat16()
        assert torch.equal(ttnn.to_torch(out), expected) and torch.equal(ttnn.to_torch(negative), -expected)
    assert out.buffer_address() == address
    ttnn.deallocate(a)
    with pytest.raises(ttnn.Error, match=r"run kernels on: the tensor of shape .* was deallocated"):
        ttnn.execute_trace(device, trace)
    ttnn.release_trace(device, trace)


def test_a_program_that_fails_is_not_recorded(device: ttnn.Device) -> None:
    _, a, b, out = tensors(device, (32, 32), ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG)
    program = eltwise(a, b, out, 1, 1, "add_tiles")
    program.kernels[0].runtime_args = []
    trace = ttnn.begin_trace_capture(device)
    with pytest.raises(RuntimeError, match="there is no argument 0"):
        ttnn.generic_op([a, b, out], program)
    ttnn.end_trace_capture(device, trace)
    assert len(trace) == 0
    ttnn.execute_trace(device, trace)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 2)], ids=["1", "1x2", "2x2"])
def test_tensors_without_mapper(shape: tuple[int, int]) -> None:
    """Kernels that read parts of chips write a value for each chip, and so do programs of some chips."""
    chips = shape[0] * shape[1]
    with ttnn.create_mesh_device(ttnn.MeshShape(*shape)) as mesh:
        parts = torch.arange(chips * 32.0 * 32).reshape(chips * 32, 32) % 97
        composer = ttnn.ConcatMeshToTensor(mesh, dim=0)

        def put(values: torch.Tensor, mapper: Any = None) -> ttnn.Tensor:
            return ttnn.from_torch(values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)

        def found(tensor: ttnn.Tensor) -> torch.Tensor:
            joined: torch.Tensor = ttnn.to_torch(tensor, mesh_composer=composer).float()
            return joined

        a, b, out = put(parts, ttnn.ShardTensorToMesh(mesh, dim=0)), put(torch.ones(32, 32)), put(torch.zeros(32, 32))
        alias, copy, address = ttnn.to_device(out, mesh), ttnn.from_device(out), out.buffer_address()
        for _ in range(2):
            assert ttnn.generic_op([a, b, out], eltwise(a, b, out, 1, 1, "add_tiles")) is out
            assert torch.equal(found(out), parts + 1) and torch.equal(found(alias), parts + 1)
        assert out.buffer_address() == address and not ttnn.to_torch(copy).any()
        assert torch.equal(found(b), torch.ones(chips * 32, 32)), "what kernels only read stays"

        whole = put(torch.full((32, 32), 5.0))
        equal = put(torch.zeros(32, 32))
        ttnn.generic_op([whole, b, equal], eltwise(whole, b, equal, 1, 1, "add_tiles"))
        assert torch.equal(found(equal), torch.full((chips * 32, 32), 6.0)) and equal.get_num_shards() == 1
        last = ttnn.MeshProgramDescriptor()
        last[ttnn.MeshCoordinate([shape[0] - 1, shape[1] - 1])] = eltwise(whole, b, equal, 1, 1, "sub_tiles")
        ttnn.generic_op([whole, b, equal], last)
        expected = torch.full((chips * 32, 32), 6.0)
        expected[-32:] = 4.0
        assert torch.equal(found(equal), expected)


def test_chips_of_a_mesh() -> None:
    """A program runs on every chip; of a mesh's programs, each on the chips of its range."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    x = torch.arange(64.0 * 32).reshape(64, 32) % 100
    mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
    how: dict[str, Any] = {"layout": ttnn.TILE_LAYOUT, "device": mesh, "mesh_mapper": mapper}
    a, b, out = (ttnn.from_torch(each, ttnn.bfloat16, **how) for each in (x, x % 7, torch.zeros(64, 32)))
    composer = ttnn.ConcatMeshToTensor(mesh, dim=0)
    ttnn.generic_op([a, b, out], eltwise(a, b, out, 1, 1, "add_tiles"))
    assert torch.equal(ttnn.to_torch(out, mesh_composer=composer).float(), x + x % 7)
    programs = ttnn.MeshProgramDescriptor()
    programs[ttnn.MeshCoordinate([0, 1])] = eltwise(a, b, out, 1, 1, "sub_tiles")
    ttnn.generic_op([a, b, out], programs)
    expected = torch.cat([(x + x % 7)[:32], (x - x % 7)[32:]])
    assert torch.equal(ttnn.to_torch(out, mesh_composer=composer).float(), expected)
    programs[ttnn.MeshCoordinate([0, 2])] = eltwise(a, b, out, 1, 1, "sub_tiles")
    with pytest.raises(ValueError, match="is not inside of the mesh of 1x2"):
        ttnn.generic_op([a, b, out], programs)
    ttnn.close_mesh_device(mesh)
