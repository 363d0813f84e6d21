//===- api.cpp - table of the kernel API ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "metal/library.h"
#include "tt/sim/formats.h"

namespace tt::metal {

const KernelApi &kernelApi() {
  static const KernelApi table = {
      .argument = [](uint32_t index) { return currentKernel().argument(index); },
      .badCompileTimeArgument =
          [](uint32_t index, uint32_t count) {
            currentKernel().fail("get_compile_time_arg_val", "there is no argument " + std::to_string(index) +
                                                                 "; the kernel has " + std::to_string(count));
          },
      .cbWaitFront = [](uint32_t cb, uint32_t pages) { currentKernel().waitFront(cb, pages); },
      .cbPopFront = [](uint32_t cb, uint32_t pages) { currentKernel().popFront(cb, pages); },
      .cbReserveBack = [](uint32_t cb, uint32_t pages) { currentKernel().reserveBack(cb, pages); },
      .cbPushBack = [](uint32_t cb, uint32_t pages) { currentKernel().pushBack(cb, pages); },
      .cbAvailable =
          [](uint32_t cb, bool front, const char *function) {
            const Ring &ring = currentKernel().ring(cb, function);
            return front ? ring.front() : ring.back();
          },
      .cbReadAddress =
          [](uint32_t cb) {
            const Ring &ring = currentKernel().ring(cb, "get_read_ptr");
            return ring.address + static_cast<uint32_t>(ring.popped % ring.pages) * ring.pageBytes;
          },
      .cbWriteAddress =
          [](uint32_t cb) {
            const Ring &ring = currentKernel().ring(cb, "get_write_ptr");
            return ring.address + static_cast<uint32_t>(ring.pushed % ring.pages) * ring.pageBytes;
          },
      .cbTileBytes =
          [](uint32_t cb) {
            return static_cast<uint32_t>(sim::tileBytes(currentKernel().ring(cb, "get_tile_size").dtype));
          },
      .cbDataType = [](uint32_t cb) { return static_cast<uint32_t>(currentKernel().ring(cb, "get_dataformat").dtype); },
      .cbCheck = [](uint32_t cb, const char *function) { currentKernel().checkRing(cb, function); },
      .coreX =
          [] {
            const Core &core = currentKernel().core;
            return core.index % static_cast<uint32_t>(core.l1.chip.gridColumns);
          },
      .coreY =
          [] {
            const Core &core = currentKernel().core;
            return core.index / static_cast<uint32_t>(core.l1.chip.gridColumns);
          },
      .nocRead = [](uint64_t from, uint32_t to, uint32_t bytes) { currentKernel().nocRead(from, to, bytes); },
      .nocWrite = [](uint32_t from, uint64_t to, uint32_t bytes) { currentKernel().nocWrite(from, to, bytes); },
      .nocMulticast = [](uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers,
                         bool own) { currentKernel().nocMulticast(from, to, bytes, receivers, own); },
      .semaphoreAddress = [](uint32_t id) { return currentKernel().semaphoreAddress(id); },
      .semaphoreIncrease = [](uint64_t to, uint32_t value) { currentKernel().semaphoreIncrease(to, value); },
      .semaphoreSet = [](uint32_t address, uint32_t value) { currentKernel().semaphoreSet(address, value); },
      .semaphoreMulticast = [](uint32_t from, uint64_t to, uint32_t receivers,
                               bool own) { currentKernel().semaphoreMulticast(from, to, receivers, own); },
      .semaphoreWait = [](uint32_t address, uint32_t value,
                          bool orMore) { currentKernel().semaphoreWait(address, value, orMore); },
      .dstAcquire = [] { currentKernel().acquire(); },
      .dstCommit = [] { currentKernel().commit(); },
      .dstWait = [] { currentKernel().wait(); },
      .dstRelease = [] { currentKernel().release(); },
      .computeCheck = [](const char *function) { currentKernel().requireCompute(function); },
      .copyTile = [](uint32_t cb, uint32_t tile, uint32_t dst) { currentKernel().copyTile(cb, tile, dst); },
      .packTile = [](uint32_t dst, uint32_t cb, bool outOfOrder,
                     uint32_t tile) { currentKernel().packTile(dst, cb, outOfOrder, tile); },
      .tileOp = [](TileOp op, const uint32_t *dsts) { currentKernel().tileOp(op, dsts); },
      .clampTile = [](uint32_t dst, uint32_t min, uint32_t max) { currentKernel().clampTile(dst, min, max); },
      .typecastTile = [](uint32_t dst, uint32_t dataType) { currentKernel().typecastTile(dst, dataType); },
      .fillTile = [](uint32_t dst, float value) { currentKernel().fillTile(dst, value); },
      .fpuTiles = [](FpuOp op, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1,
                     uint32_t dst) { currentKernel().fpuTiles(op, cb0, cb1, tile0, tile1, dst); },
      .tilizeBlock = [](uint32_t in, uint32_t tiles, uint32_t out) { currentKernel().tilizeBlock(in, tiles, out); },
      .untilizeBlock = [](uint32_t in, uint32_t tiles, uint32_t out) { currentKernel().untilizeBlock(in, tiles, out); },
      .matmulTiles = [](uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst,
                        bool transpose) { currentKernel().matmulTiles(cb0, cb1, tile0, tile1, dst, transpose); },
      .matmulBlock =
          [](uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose, uint32_t ct,
             uint32_t rt, uint32_t rowStride, uint32_t stepStride, uint32_t steps) {
            currentKernel().matmulBlock({cb0, cb1, tile0, tile1, dst, transpose, ct, rt, rowStride, stepStride, steps});
          },
      .packAccumulate = [](bool enable) { currentKernel().packAccumulate(enable); },
      .reduceTile = [](ReducePool pool, Along along, uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t scalerTile,
                       uint32_t dst) { currentKernel().reduceTile(pool, along, cb, scaler, tile, scalerTile, dst); },
      .transposeTile = [](uint32_t cb, uint32_t tile, uint32_t dst) { currentKernel().transposeTile(cb, tile, dst); },
      .broadcastTile = [](Along along, uint32_t cb, uint32_t tile,
                          uint32_t dst) { currentKernel().broadcastTile(along, cb, tile, dst); },
  };
  return table;
}

} // namespace tt::metal
